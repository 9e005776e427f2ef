/* SPDX-License-Identifier: MIT */
/* Functions compiled: for many points the text of native.c, plugged into the program of a copy
 * of the function; for one point that of emit_point.c, which the copy keeps for who calls
 * it. */
#include "tape/function/graph/dense_node.h"
#include "tape/function/native/native.h"
#include "tape/function/graph/repeat.h"
#include "tape/function/text/emit.h"

#include "compiler.h"
#include "finish.h"

#include <stdio.h>
#include <string.h>

enum { UNIT = 400, SLOT_ROOM = 192 << 10 };

/* ---- for many points ---- */

static size_t operations_of(const wg_function *f) {
    size_t n = 0;
    for (size_t i = 0; i < f->nodes; i++)
        if (f->node[i].when == WGI_EACH) n += wgi_native_weight(&f->node[i]);
    return n;
}

/* What writes native code. */
typedef struct native_text {
    wgi_writer w;
    wgi_native_form form;
} native_text;

static wg_status write_native(void *ctx, const char *key, wg_write *to, void *to_ctx) {
    native_text *const n = ctx;
    wgi_text_open(&n->w.o, NULL, to, to_ctx);
    wgi_native_write(&n->w, &n->form, key);
    return wgi_text_close(&n->w.o);
}

static void close_native(wg_function *f) {
    wgi_compiler_unload(&(wgi_loaded){f->native->library, NULL});
    wgi_home_release(&f->native->home, f->native);
    f->native = NULL;
}

/* What was loaded becomes a part of the function. */
static int keep_loaded(wgi_core *c, wg_function *f, const wgi_loaded *loaded,
                       wg_compiled *compiled) {
    wgi_home home;
    void *base;
    const wg_status s = wgi_home_obtain(c, sizeof(wgi_native), &home, &base);
    if (s != WG_OK) {
        wgi_compiler_unload(loaded);
        (void)wgi_fail(c, s, "wg_function_compile: no memory for what is loaded");
        return wgi_compiler_refuses(compiled->why, "no memory");
    }
    f->native = base;
    *f->native = (wgi_native){home, close_native, loaded->library, NULL};
    return 1;
}

/* Native code for this function alone. Gives 0, with a reason, where there is none; a lack of
 * memory is a failure of the tape. */
static int of_its_own(wgi_core *c, wg_function *f, const wg_compile_options *o,
                      wg_compiled *compiled) {
    native_text n;
    const wgi_compiled_text text = {write_native, &n, WGI_NATIVE_EACH,
                                    wgi_native_width(f->bytecode), operations_of(f)};
    wgi_loaded loaded;
    n.form = (wgi_native_form){text.width, UNIT, SLOT_ROOM};
    if (f->each == 0)
        return wgi_compiler_refuses(compiled->why, "nothing is done at each point");
    if (wgi_dense_elements(f) != 0)
        return wgi_compiler_refuses(compiled->why,
                                    "BLAS and LAPACK do whole matrices at each point");
    if (wgi_writer_open(&n.w, c, "wg_function_compile", f, "wgi") != WG_OK ||
        wgi_native_plan(&n.w, &n.form) != WG_OK)
        return wgi_compiler_refuses(compiled->why, c->message);
    if (!wgi_compiler_run(c, &text, o, &loaded, compiled)) return 0;
    if (!keep_loaded(c, f, &loaded, compiled)) return 0;
    memcpy(&f->bytecode->native, &loaded.entry, sizeof loaded.entry);
    return 1;
}

/* ---- for one point ---- */

#define POINT "wengert_point" /* the name of all of them */
typedef struct point_text {
    wgi_core *c;
    const wg_function *f;
} point_text;

static wg_status write_point(void *ctx, const char *key, wg_write *to, void *to_ctx) {
    const point_text *const p = ctx;
    const wg_emit_options as = {.name = POINT, .entries = WG_EMIT_POINT};
    char line[80];
    const wg_status s = wgi_emit(p->c, "wg_function_compile_point", p->f, &as, to, to_ctx);
    if (s != WG_OK) return s;
    const int n =
        snprintf(line, sizeof line, "const char %s[] = \"%s\";\n", WGI_NATIVE_KEY, key);
    return to(to_ctx, line, (size_t)n) == 0 ? WG_OK : WG_EWRITE;
}

static int make_point(wgi_core *c, wg_function *f, const wg_compile_options *o,
                      wg_compiled *compiled) {
    point_text p = {c, f};
    const wgi_compiled_text text = {write_point, &p, POINT, 0, f->once + f->each + f->after};
    wgi_loaded loaded;
    if (!wgi_compiler_run(c, &text, o, &loaded, compiled) ||
        !keep_loaded(c, f, &loaded, compiled))
        return 0;
    memcpy(&f->native->point, &loaded.entry, sizeof loaded.entry);
    return 1;
}

/* ---- a function ---- */

/* Native code for the bodies of repeats; and for the function itself, unless it has repeats at
 * each point, which are left to the interpreter. */
static int make_native(wgi_core *c, wg_function *f, const wg_compile_options *o,
                       wg_compiled *compiled) {
    int all = 1, cached = 1, interpreted = 0, bodies = 0;
    for (size_t i = 0; i < f->nodes; i++)
        interpreted |= f->node[i].kind == WGI_NODE_REPEAT && f->node[i].when == WGI_EACH;
    for (size_t k = 0; k < f->repeats && c->status == WG_OK; k++) {
        if (f->repeat[k].body->each == 0) continue;
        bodies = 1;
        all &= make_native(c, f->repeat[k].body, o, compiled);
        cached &= compiled->cached;
    }
    if (!interpreted && (f->each != 0 || !bodies) && c->status == WG_OK) {
        all &= of_its_own(c, f, o, compiled);
        cached &= compiled->cached;
    }
    compiled->cached = cached;
    return all;
}

/* A copy of f, with what `make` compiles for it. */
typedef int wgi_make(wgi_core *c, wg_function *f, const wg_compile_options *o,
                     wg_compiled *compiled);
static wg_status compile(wg_tape *t, const char *call, wgi_make *make, const wg_function *f,
                         const wg_compile_options *options, wg_function **out,
                         wg_compiled *compiled) {
    wg_compiled here;
    wgi_builder b;
    wg_function *none = NULL;
    if (compiled == NULL) compiled = &here;
    memset(compiled, 0, sizeof *compiled);
    wg_status s = wgi_function_copy(t, call, f, out);
    if (s != WG_OK) return s;
    s = wgi_builder_begin(&b, t, call, 1, &none);
    if (s == WG_OK) {
        compiled->native = make(b.c, *out, options, compiled);
        if (compiled->native) compiled->why[0] = 0;
        s = b.c->status == WG_ENOMEM || b.c->status == WG_EBUDGET || b.c->status == WG_ESTOPPED
                ? b.c->status
                : WG_OK;
    }
    s = wgi_drive_close(&b.d, s);
    if (s != WG_OK) {
        wg_function_free(*out);
        *out = NULL;
    }
    return s;
}

wg_status wg_function_compile(wg_tape *t, const wg_function *f,
                              const wg_compile_options *options, wg_function **out,
                              wg_compiled *compiled) {
    return compile(t, "wg_function_compile", make_native, f, options, out, compiled);
}

wg_status wg_function_compile_point(wg_tape *t, const wg_function *f,
                                    const wg_compile_options *options, wg_function **out,
                                    wg_compiled *compiled) {
    return compile(t, "wg_function_compile_point", make_point, f, options, out, compiled);
}

wg_point_call *wg_function_point(const wg_function *f) {
    return f == NULL || f->native == NULL ? NULL : f->native->point;
}

/* SPDX-License-Identifier: MIT */
/* Functions as C text: what all entry points need, and the order of it all. */
#include "tape/engine/drive.h"
#include "emit.h"
#include "tape/function/graph/words.h"

#include <stdio.h>
#include <string.h>

/* MANY_UNITS: from so many on it counts what a text costs the compiler. */
enum { UNIT = 500, MANY_UNITS = 4 };

/* ---- the head ---- */

static void arguments(wgi_writer *w, const char *what, size_t count, const wg_argument *a,
                      const char *const *name) {
    for (size_t k = 0; k < count; k++)
        wgi_put(w, " *   %s %zu: %s, %zu by %zu%s\n", what, k, name[k], a[k].rows, a[k].cols,
                a[k].flags & WG_SHARED   ? ", shared by all points"
                : a[k].flags & WG_SUMMED ? ", the sum over the points"
                                         : "");
}

static void head(wgi_writer *w, unsigned entries, int beyond) {
    const wg_function *const f = w->f;
    wgi_put(w, "/* %s - written by Wengert " WG_VERSION ".\n", w->name);
    arguments(w, "input", f->inputs, f->input, w->in);
    arguments(w, "output", f->outputs, f->output, w->out);
    wgi_put(
        w,
        " * Compile it without contraction of a * b + c into one operation: gcc and clang do so\n"
        " * with -ffp-contract=off (gcc does not look at the pragma below). */\n");
    if (beyond || wgi_needs_beyond_c99(w))
        wgi_put(w, "#ifndef _DEFAULT_SOURCE\n#define _DEFAULT_SOURCE /* more of <math.h> */\n"
                   "#endif\n");
    wgi_put(w, "#include <math.h>\n#include <stddef.h>\n#include <string.h>\n");
    if (w->blas) wgi_emit_dense_headers(w);
    if (w->blas) wgi_emit_whole_prototype(w);
    wgi_put(w, "\n#if !defined(__GNUC__) || defined(__clang__)\n"
               "#pragma STDC FP_CONTRACT OFF\n#endif\n\n");
    if (entries & WG_EMIT_POINT)
        wgi_put(w, "int %s%s(const double *const *arg, double *const *res);\n", w->name,
                entries & WG_EMIT_CASADI ? "_point" : "");
    if (entries & WG_EMIT_BATCH)
        wgi_put(w, "int wgi_batch(size_t points, const double *const *arg, "
                   "const ptrdiff_t *arg_step,\n    double *const *res, "
                   "const ptrdiff_t *res_step, size_t *where);\n");
    if (entries & WG_EMIT_CASADI) wgi_emit_casadi_prototypes(w);
    wgi_put(w, "\n");
}

/* ---- what all entries need: definitions ---- */

/* Inlined, its branch costs compilers of a long text more time than all else; loops over points
 * need it so. */
static void times(wgi_writer *w, int apart) {
    wgi_put(w, "/* The zero rule. */\n");
    if (apart) wgi_put(w, "#ifdef __GNUC__\n__attribute__((noinline))\n#endif\nstatic ");
    else wgi_put(w, "static inline ");
    wgi_put_named(w, "double wgi_times(double w, double d) {\n"
                     "    const double p = w * d;\n"
                     "    return p != p && (w == 0 || d == 0) ? 0 : p;\n"
                     "}\n\n");
}

/* Is the zero rule called for it? */
static int has_rule(const wg_function *f, const wgi_node *n, unsigned entries) {
    return n->kind == WGI_NODE_TIMES ||
           (n->kind == WGI_NODE_SUM && (entries & WG_EMIT_BATCH) != 0 &&
            f->node[f->operand[n->first]].when != WGI_EACH);
}

static void support(wgi_writer *w, unsigned entries, size_t unit) {
    const int is_long = w->f->once + w->f->each + w->f->after > MANY_UNITS * unit;
    if (entries & (WG_EMIT_POINT | WG_EMIT_CASADI)) wgi_emit_point_support(w);
    wgi_write_definitions(w);
    wgi_emit_dense_support(w);
    for (size_t i = 0; i < w->f->nodes; i++)
        if (has_rule(w->f, &w->f->node[i], entries)) {
            times(w, is_long && (entries & WG_EMIT_BATCH) == 0);
            break;
        }
}

/* Of repeats, before what calls them. */
static void bodies(wgi_writer *w, size_t unit) {
    for (uint32_t k = 0; k < w->f->repeats && w->c->status == WG_OK; k++) {
        const wgi_repeat *const r = &w->f->repeat[k];
        const int many = wgi_body_carried(r->body) == 0;
        const size_t room = strlen(w->name) + 24;
        char *const name = wg_tape_keep(&w->c->head, room, NULL);
        wgi_writer b;
        if (name == NULL) return;
        (void)snprintf(name, room, "%s_body%u", w->name, k);
        if (wgi_writer_open(&b, w->c, w->call, r->body, name) != WG_OK) return;
        b.blas = w->blas;
        if (b.blas && wgi_name_arguments(&b) != WG_OK) return;
        b.scope = "static ";
        b.o = w->o;
        wgi_need_all(&b, 0);
        support(&b, many ? WG_EMIT_BATCH : WG_EMIT_POINT, unit);
        bodies(&b, unit);
        if (many) wgi_emit_batch(&b, unit);
        else {
            wgi_emit_point_plan(&b, unit);
            wgi_emit_point(&b, "", 0, 0);
        }
        w->o = b.o;
    }
}

/* ---- the text ---- */

static void all(wgi_writer *w, unsigned entries, size_t unit, int beyond) {
    wgi_need_all(w, 0);
    head(w, entries, beyond);
    support(w, entries, unit);
    bodies(w, unit);
    wgi_emit_point_plan(w, unit);
    if (entries & WG_EMIT_POINT)
        wgi_emit_point(w, entries & WG_EMIT_CASADI ? "_point" : "", 0, 0);
    if (entries & WG_EMIT_CASADI) wgi_emit_casadi(w);
    if (entries & WG_EMIT_BATCH) wgi_emit_batch(w, unit);
}

static int is_identifier(const char *name) {
    const size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!wgi_in_word(name[i])) return 0;
    return length != 0 && length <= 64 && !wgi_is_digit(*name);
}

wg_status wgi_emit(wgi_core *c, const char *call, const wg_function *f,
                   const wg_emit_options *options, wg_write *write, void *ctx) {
    const char *const name = options != NULL && options->name != NULL ? options->name : "wg_f";
    const size_t unit = options != NULL && options->unit != 0 ? options->unit : UNIT;
    const int blas = options != NULL ? options->blas : 0;
    unsigned entries = options != NULL ? options->entries : 0;
    if (entries == 0) entries = WG_EMIT_POINT;
    if (!is_identifier(name))
        return wgi_fail(c, WG_EARG, "%s: '%s' is no name in C", call, name);
    if (wgi_name_is_known(name))
        return wgi_fail(c, WG_EARG, "%s: '%s' is a name that C has already", call, name);
    if (entries & ~(unsigned)(WG_EMIT_POINT | WG_EMIT_BATCH | WG_EMIT_CASADI))
        return wgi_fail(c, WG_EARG, "%s: entries %u", call, entries);
    if (blas != 0 && blas != 1) return wgi_fail(c, WG_EARG, "%s: blas %d", call, blas);
    if (blas && wgi_name_is_of_blas(name))
        return wgi_fail(c, WG_EARG, "%s: '%s' is a name that BLAS or LAPACK has", call, name);
    wgi_writer w;
    int beyond = 0;
    wg_status status = wgi_writer_open(&w, c, call, f, name);
    if (status != WG_OK || !wgi_emit_bodies_check(c, call, f, &beyond)) return c->status;
    if (!wgi_emit_wholes_check(c, call, f, blas)) return c->status;
    w.blas = blas;
    if (blas && wgi_name_arguments(&w) != WG_OK) return c->status;
    wgi_text_open(&w.o, c, write, ctx);
    all(&w, entries, unit, beyond);
    status = wgi_text_close(&w.o);
    return c->status != WG_OK ? c->status : status;
}

static wg_status drive(wg_tape *t, const char *call, const wg_function *f,
                       const wg_emit_options *options, wg_write *write, void *ctx) {
    wgi_drive d;
    wg_status s = wgi_drive_open_alone(&d, t, call);
    if (s == WG_OK && (f == NULL || write == NULL))
        s = wgi_fail(d.c, WG_ENULL, "%s: the function or write is NULL", call);
    if (s == WG_OK) s = wgi_emit(d.c, call, f, options, write, ctx);
    return wgi_drive_close(&d, s);
}

wg_status wg_function_emit(wg_tape *t, const wg_function *f, const wg_emit_options *options,
                           wg_write *write, void *ctx) {
    return drive(t, "wg_function_emit", f, options, write, ctx);
}

wg_status wg_function_text(wg_tape *t, const wg_function *f, const wg_emit_options *options,
                           char *buffer, size_t bytes, size_t *needed) {
    wgi_buffer_text b = {buffer, bytes, 0};
    if (needed == NULL || (buffer == NULL && bytes != 0)) return WG_ENULL;
    if (bytes != 0) *buffer = 0;
    const wg_status s = drive(t, "wg_function_text", f, options, wgi_text_to_buffer, &b);
    *needed = b.at;
    return s;
}

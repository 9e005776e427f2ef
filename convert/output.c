/* SPDX-License-Identifier: MIT */
/* output.c - the converted file: the source, in which converted functions, types and variables
 * stand behind the originals. The originals are weak: the file is linked in the place of its
 * source, or together with it. */
#include <string.h>
#include "convert/forward.h"
#include "convert/generic.h"
#include "convert/output.h"

static bool is_written(const version *v) { return v->touched && v->like == v; }

static bool has_versions(const writer *w, const decl *d) {
    for (size_t i = 0; i < w->a->versions.n; i++) {
        const version *const v = w->a->versions.at[i];
        if (is_written(v) && same(v->function->usr, d->usr)) return true;
    }
    return false;
}

static bool global_holds(const writer *w, const decl *d) {
    cell *const c = w->a->of_decl[d->number];
    return c != NULL && holds_variables(c);
}

/* ---- the parts of a file ----------------------------------------------------------------- */

/* Declarations that one text gives: those of a group overlap. */
typedef struct group {
    size_t begin, end;
    list decls;
} group;

static const char *slice(const file *f, size_t begin, size_t end) {
    return copy_text(f->text + begin, end - begin);
}

static size_t semicolon_behind(const file *f, size_t end) {
    const size_t i = token_from(&f->tokens, end);
    return i < f->tokens.n && token_is(f->text, &f->tokens.at[i], ";") ? f->tokens.at[i].end
                                                                       : end;
}

static list groups_of(const file *f) {
    list all = {NULL, 0, 0};
    list sorted = {NULL, 0, 0};
    for (size_t i = 0; i < f->declarations.n; i++) {
        push(&sorted, f->declarations.at[i]);
        for (size_t k = sorted.n - 1;
             k > 0 && ((decl *)sorted.at[k - 1])->begin > ((decl *)sorted.at[k])->begin; k--) {
            void *const x = sorted.at[k];
            sorted.at[k] = sorted.at[k - 1], sorted.at[k - 1] = x;
        }
    }
    group *last = NULL;
    for (size_t i = 0; i < sorted.n; i++) {
        decl *const d = sorted.at[i];
        if (last == NULL || d->begin >= last->end) {
            last = arena_get(sizeof *last);
            last->begin = d->begin;
            push(&all, last);
        }
        if (d->end > last->end) last->end = d->end;
        push(&last->decls, d);
        if (d->kind != DECL_FUNCTION || d->body == NULL || d->redeclared)
            last->end = semicolon_behind(f, last->end);
    }
    return all;
}

/* Text behind `static`, if it begins with that. */
static const char *behind_static(const char *s) {
    const size_t n = strlen("static");
    if (!starts_with(s, "static") || (s[n] != ' ' && s[n] != '\n' && s[n] != '\t')) return NULL;
    return s + n + strspn(s + n, " \t\n");
}

/* Does a signature say `static` before the name? */
static bool says_static(const char *s, const char *name) {
    const tokens t = lex(s, strlen(s));
    for (size_t i = 0; i < t.n && !token_is(s, &t.at[i], name); i++)
        if (token_is(s, &t.at[i], "static")) return true;
    return false;
}

static const char *prototype(writer *w, const version *v, bool is_static) {
    const char *s = write_signature(w, v, true);
    size_t n = strlen(s);
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\n')) n--;
    return format("%s%s;\n", is_static && !says_static(s, v->name) ? "static " : "",
                  copy_text(s, n));
}

static bool is_private(const writer *w, const version *v, const output *o) {
    return v != w->a->root && !list_has(&w->a->callees, v->function) &&
           (o->alone || v->function->is_static);
}

static const char warnings_off[] =
    "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n";
static const char warnings_on[] = "\n#pragma GCC diagnostic pop";

static void write_versions(writer *w, const decl *d, const output *o, text *to) {
    size_t n = 0;
    for (size_t i = 0; i < w->a->versions.n; i++) {
        version *const v = w->a->versions.at[i];
        if (!is_written(v) || v->function != d) continue;
        const char *s = write_function(w, v);
        if (n++ != 0) put(to, "\n\n");
        else if (w->blocks) put(to, warnings_off); /* variables that only regions use */
        put(to, turn_functions(w));
        if ((v == w->a->root || list_has(&w->a->callees, d)) && behind_static(s) != NULL)
            s = behind_static(s);
        if (is_private(w, v, o) && !says_static(s, v->name)) put(to, "static ");
        if ((w->blocks || w->a->loops) && v != w->a->root)
            put(to, "__attribute__((unused)) "); /* where it is run in regions, or turns */
        put(to, s);
    }
    if (n != 0 && w->blocks) put(to, warnings_on);
}

static bool is_weak(const decl *d) {
    return d->defined && !d->redeclared && !d->is_static && !(d->is_inline && !d->is_extern) &&
           !(d->kind == DECL_VARIABLE && d->is_extern);
}

/* Functions, variables and types as they were. */
static const char *write_original(const file *f, const group *g) {
    bool weak = false;
    for (size_t i = 0; i < g->decls.n; i++) {
        const decl *const d = g->decls.at[i];
        weak |= (d->kind == DECL_FUNCTION ? d->body != NULL : d->kind == DECL_VARIABLE) &&
                is_weak(d);
    }
    return format("%s%s", weak ? "__attribute__((weak)) " : "", slice(f, g->begin, g->end));
}

bool has_name(const list *l, const char *name) {
    for (size_t i = 0; i < l->n; i++)
        if (same(l->at[i], name)) return true;
    return false;
}

/* The definition of a global among the files given; NULL: it is elsewhere. */
static const decl *definition_of(const writer *w, const decl *d) {
    for (size_t i = 0; i < w->a->program->globals.n; i++) {
        const decl *const g = w->a->program->globals.at[i];
        if (g->number == d->number) return g->defined ? g : NULL;
    }
    return NULL;
}

/* The variables of a group, in the text of file `by`, that hold variables, besides. What is
 * defined elsewhere is defined where the root is. */
static void write_variables(writer *w, const file *by, const group *g, const output *o,
                            list *written, text *to) {
    for (size_t i = 0; i < g->decls.n; i++) {
        const decl *const d = g->decls.at[i];
        if (d->kind != DECL_VARIABLE || !global_holds(w, d) || has_name(written, d->name))
            continue;
        const decl *const definition = definition_of(w, d);
        const bool in_header = definition == NULL || !definition->file->given;
        const bool here = in_header ? by == w->a->root->function->file : definition->file == by;
        const char *with = "";
        if (d->is_static || (o->alone && here)) with = "static ";
        else if (!here) with = "extern ";
        const bool first = definition == NULL || in_header || !here || d == definition;
        if (!first) continue;
        push(written, (void *)d->name);
        version *const before = w->v;
        w->v = w->a->outside;
        putf(to, "\n%s", write_global(w, d, with));
        w->v = before;
    }
}

/* Of a group of types: are some of them to be had with variables, too? */
static bool types_hold(writer *w, const file *f, const group *g) {
    for (size_t i = 0; i < w->a->program->records.n; i++) {
        const record *const r = w->a->program->records.at[i];
        const decl *const d = r->definition;
        if (d != NULL && d->file == f && d->begin >= g->begin && d->end <= g->end &&
            record_holds(w->a, r))
            return true;
    }
    for (size_t i = 0; i < g->decls.n; i++) {
        const decl *const d = g->decls.at[i];
        if (d->kind != DECL_TYPEDEF) continue;
        const type *const t = leaf_type(d->type);
        if (t->kind == TYPE_RECORD && record_holds(w->a, t->record)) return true;
        for (size_t k = 0; k < w->typedefs.n; k++)
            if (same(((decl *)w->typedefs.at[k])->usr, d->usr)) return true;
    }
    return false;
}

static const char *write_group_types(writer *w, const file *f, const group *g) {
    return types_hold(w, f, g) ? write_types(w, f, &g->decls, g->begin, g->end) : NULL;
}

/* A group of a header, where it comes in the whole. */
typedef struct placed {
    const file *f;
    const group *g;
    unsigned order;
} placed;

static list groups_of_headers(const writer *w, const file *by) {
    list all = {NULL, 0, 0};
    for (size_t i = 0; i < w->a->program->files.n; i++) {
        const file *const f = w->a->program->files.at[i];
        if (f->given || f->of_system || !list_has(&f->readers, by)) continue;
        const list groups = groups_of(f);
        for (size_t k = 0; k < groups.n; k++) {
            placed *const p = arena_get(sizeof *p);
            const group *const g = groups.at[k];
            *p = (placed){f, g, ((decl *)g->decls.at[0])->order};
            push(&all, p);
            for (size_t m = all.n - 1;
                 m > 0 && ((placed *)all.at[m - 1])->order > ((placed *)all.at[m])->order;
                 m--) {
                void *const x = all.at[m];
                all.at[m] = all.at[m - 1], all.at[m - 1] = x;
            }
        }
    }
    return all;
}

/* Prototypes of the versions that version u calls or names, and that are not declared yet. */
static void declare_called(writer *w, const version *u, const output *o, list *declared,
                           text *to) {
    for (size_t k = 0; k < u->function->nodes; k++) {
        list found = {NULL, 0, 0};
        if (u->called[k] != NULL && u->called[k]->touched) push(&found, u->called[k]->like);
        cell *const c = u->of_node[k] != NULL ? real_cell(u->of_node[k]) : NULL;
        if (c != NULL && c->type != NULL && c->type->kind == TYPE_FUNCTION &&
            holds_variables(c))
            for (size_t m = 0; m < c->versions.n; m++)
                if (((version *)c->versions.at[m])->touched)
                    push(&found, ((version *)c->versions.at[m])->like);
        for (size_t m = 0; m < found.n; m++) {
            version *const v = found.at[m];
            if (list_has(declared, v)) continue;
            push(declared, v);
            put(to, prototype(w, v, is_private(w, v, o)));
        }
    }
}

/* The versions of a function are declared by their definitions, too. */
static void note_defined(const writer *w, const decl *d, list *declared) {
    for (size_t i = 0; i < w->a->versions.n; i++) {
        version *const v = w->a->versions.at[i];
        if (is_written(v) && v->function == d && !list_has(declared, v)) push(declared, v);
    }
}

static void declare_for(writer *w, const decl *d, const output *o, list *declared, text *to) {
    const size_t before = to->n;
    for (size_t i = 0; i < w->a->versions.n; i++) {
        version *const v = w->a->versions.at[i];
        if (is_written(v) && v->function == d) declare_called(w, v, o, declared, to);
    }
    if (to->n != before) put(to, "\n");
}

/* What headers that were not given define, and has to be had with variables. */
static void write_from_headers(writer *w, const file *by, const output *o, list *declared,
                               list *written, text *to) {
    const list all = groups_of_headers(w, by);
    for (size_t i = 0; i < all.n; i++) {
        const file *const f = ((placed *)all.at[i])->f;
        const group *const g = ((placed *)all.at[i])->g;
        const decl *const d = g->decls.at[0];
        const char *const types = write_group_types(w, f, g);
        if (types != NULL) putf(to, "\n%s\n", types);
        if (d->kind == DECL_FUNCTION && d->body != NULL && !d->redeclared &&
            has_versions(w, d)) {
            put(to, "\n");
            declare_for(w, d, o, declared, to);
            if (!w->blocks) put(to, "__attribute__((unused)) ");
            write_versions(w, d, o, to);
            note_defined(w, d, declared);
            put(to, "\n");
        }
        const size_t length = to->n;
        write_variables(w, by, g, o, written, to);
        if (to->n != length) put(to, "\n");
    }
}

/* The end of the last #include that stands before the first function. */
static size_t includes_end(const file *f, const list *groups) {
    size_t before = f->n, end = 0;
    for (size_t i = 0; i < groups->n; i++) {
        const group *const g = groups->at[i];
        const decl *const d = g->decls.at[0];
        if (d->kind == DECL_FUNCTION && d->body != NULL && !d->redeclared) {
            before = g->begin;
            break;
        }
    }
    size_t depth = 0;
    bool inside = false;
    for (size_t i = 0; i < f->tokens.n && f->tokens.at[i].begin < before; i++) {
        if (f->tokens.at[i].kind != TOKEN_DIRECTIVE) continue;
        const char *s = slice(f, f->tokens.at[i].begin, f->tokens.at[i].end) + 1;
        while (*s == ' ' || *s == '\t') s++;
        if (starts_with(s, "if")) depth++;
        if (starts_with(s, "include")) {
            inside |= depth != 0;
            if (depth == 0) end = f->tokens.at[i].end;
        }
        if (starts_with(s, "endif") && depth != 0 && --depth == 0) {
            if (inside) end = f->tokens.at[i].end;
            inside = false;
        }
    }
    return end;
}

const char *guard_of(const char *name) {
    text to = {NULL, 0, 0};
    for (const char *p = name; *p; p++) {
        const char c = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
        put_n(&to, (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? &c : "_", 1);
    }
    return text_of(&to);
}

/* Where the first #include begins; headers of the system that stand behind a user's may meet
 * its macros. */
static size_t includes_begin(const file *f) {
    for (size_t i = 0; i < f->tokens.n; i++) {
        if (f->tokens.at[i].kind != TOKEN_DIRECTIVE) continue;
        const char *s = slice(f, f->tokens.at[i].begin, f->tokens.at[i].end) + 1;
        while (*s == ' ' || *s == '\t') s++;
        if (starts_with(s, "include")) return f->tokens.at[i].begin;
        if (starts_with(s, "if")) return f->tokens.at[i].begin;
    }
    return 0;
}

/* Is anything in this file to be written otherwise? */
bool is_converted(const writer *w, const file *f) {
    for (size_t i = 0; i < f->declarations.n; i++) {
        const decl *const d = f->declarations.at[i];
        if (d->kind == DECL_FUNCTION && d->body != NULL && !d->redeclared && has_versions(w, d))
            return true;
        if (d->kind == DECL_VARIABLE && global_holds(w, d)) return true;
    }
    return false;
}

/* As qsort, by halves that are merged: equal elements keep their order. Without memory, one
 * after the other. */
static const char sort_text[] =
    "\n#ifndef WGC_SORT\n#define WGC_SORT\n/* qsort of variables; equal ones keep their order. */\n"
    "typedef int wgc_order(wg_tape *tape, const void *a, const void *b);\n\n"
    "static void wgc_insert(wg_tape *tape, char *at, size_t n, size_t size, wgc_order *order) {\n"
    "    for (size_t i = 1; i < n; i++)\n"
    "        for (size_t k = i; k != 0 && order(tape, at + (k - 1) * size, at + k * size) > 0; k--)\n"
    "            for (size_t b = 0; b < size; b++) {\n"
    "                const char c = at[k * size + b];\n"
    "                at[k * size + b] = at[(k - 1) * size + b];\n"
    "                at[(k - 1) * size + b] = c;\n            }\n}\n\n"
    "static void wgc_merge(wg_tape *tape, char *at, size_t n, size_t size, wgc_order *order, char *room) {\n"
    "    if (n < 2) return;\n"
    "    const size_t half = n / 2;\n"
    "    size_t i = 0, k = half, out = 0;\n"
    "    wgc_merge(tape, at, half, size, order, room);\n"
    "    wgc_merge(tape, at + half * size, n - half, size, order, room);\n"
    "    while (i < half && k < n) {\n"
    "        const int first = order(tape, at + i * size, at + k * size) <= 0;\n"
    "        memcpy(room + out++ * size, at + (first ? i++ : k++) * size, size);\n    }\n"
    "    memcpy(room + out * size, at + i * size, (half - i) * size);\n"
    "    memcpy(at, room, (out + half - i) * size);\n}\n\n"
    "__attribute__((unused)) static void wgc_sort(wg_tape *tape, void *at, size_t n, size_t size, wgc_order *order) {\n"
    "    char *const room = n > 1 ? calloc(n, size) : NULL;\n"
    "    if (room == NULL) wgc_insert(tape, at, n, size, order);\n"
    "    else wgc_merge(tape, at, n, size, order, room);\n    free(room);\n}\n#endif\n";

size_t headers_place(const file *f) {
    const list groups = groups_of(f);
    const size_t begin = includes_begin(f), end = includes_end(f, &groups);
    return begin <= end ? begin : end;
}

const char *write_file(writer *w, const file *f, const char *in, const output *o) {
    const list groups = groups_of(f);
    text body = {NULL, 0, 0}, headers = {NULL, 0, 0};
    list declared = {NULL, 0, 0}, written = {NULL, 0, 0};
    /* functions first, so that it is known which types they use */
    text *const versions = arena_get((groups.n + 1) * sizeof *versions);
    for (size_t i = 0; i < groups.n; i++) {
        const group *const g = groups.at[i];
        const decl *const d = g->decls.at[0];
        if (d->kind == DECL_FUNCTION && !d->redeclared && d->body != NULL)
            write_versions(w, d, o, &versions[i]);
        else write_variables(w, f, g, o, &written, &versions[i]);
    }
    const size_t own = written.n;
    for (size_t before = w->typedefs.n + 1;
         before != w->typedefs.n;) { /* types that types need */
        before = w->typedefs.n;
        headers = (text){NULL, 0, 0};
        declared.n = 0;
        written.n = own;
        write_from_headers(w, f, o, &declared, &written, &headers);
    }

    const size_t after = includes_end(f, &groups);
    size_t at = includes_begin(f) <= after ? includes_begin(f) : after;
    bool opened = false;
    put(&body, between(w, f, in, 0, at));
    if (w->duals != 0)
        putf(&body, "#undef WG_DUAL_WIDTH\n#define WG_DUAL_WIDTH %u\n", w->duals);
    put_headers(
        w->a->program, f,
        format("#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include "
               "<string.h>\n#include <%s.h>\n",
               w->generic || w->duals != 0 ? "wengert/generic" : "wengert"),
        &body);
    for (size_t n = (size_t)-1;
         n != w->typedefs.n;) { /* those that structures need stand first */
        n = w->typedefs.n;
        for (size_t i = 0; i < groups.n; i++) (void)write_group_types(w, f, groups.at[i]);
    }
    put(&body, names_of_duals(w));
    putf(&body, "extern unsigned long %s_run; /* counts recordings */\n", w->a->root->name);
    for (size_t i = 0; i <= groups.n; i++) {
        const group *const g = i < groups.n ? groups.at[i] : NULL;
        const size_t begin = g != NULL ? g->begin : f->n;
        if (!opened && begin >= after) {
            if (after > at) put(&body, between(w, f, in, at, after));
            if (at < after) at = after;
            putf(&body, "\n#define %s_SOURCE\n%s#include \"%s\"\n%s%s%s", guard_of(o->header),
                 names_of_variables(w), o->header, names_of_duals(w), w->sorts ? sort_text : "",
                 text_of(&headers));
            opened = true;
        }
        if (begin > at) put(&body, between(w, f, in, at, begin));
        if (g == NULL) break;
        at = g->end;
        const decl *const d = g->decls.at[0];
        const bool definition = d->kind == DECL_FUNCTION && !d->redeclared && d->body != NULL;
        if (definition && versions[i].n != 0) declare_for(w, d, o, &declared, &body);
        else if (versions[i].n != 0) declare_called(w, w->a->outside, o, &declared, &body);
        put_once(&body, w, in, write_original(f, g), f->text[g->end] == '\n');
        const char *const types = write_group_types(w, f, g);
        if (types != NULL) putf(&body, "\n%s", types);
        if (versions[i].n != 0)
            putf(&body, "%s%s", definition ? "\n\n" : "", text_of(&versions[i]));
        if (definition) note_defined(w, d, &declared);
    }
    return text_of(&body);
}

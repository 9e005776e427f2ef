/* SPDX-License-Identifier: MIT */
/* reading.c - the files are read, and again with macros expanded, until there is nothing to
 * expand. */
#include <string.h>
#include "convert/reading.h"

/* All functions that may be called from this one, also through tables. */
static void reach(decl *d, list *to) {
    if (d->reached) return;
    d->reached = true;
    if (d->kind == DECL_FUNCTION && d->body != NULL) push(to, d);
    for (size_t i = 0; i < d->names.n; i++) reach(d->names.at[i], to);
}

enum { MOST_ROUNDS = 8 };

static program *read_with(const options *o, size_t n, const changed *texts, table **macros) {
    list flags = {NULL, 0, 0};
    for (size_t i = 0; i < o->flags.n; i++) push(&flags, o->flags.at[i]);
    push(&flags, (void *)"-include");
    push(&flags, (void *)plain_name);
    push(&flags, (void *)"-w");
    push(&flags, (void *)"-Wno-error=implicit-function-declaration");
    return read_program(o->files.n, (const char *const *)o->files.at, (int)flags.n,
                        (const char *const *)flags.at, n, texts, macros);
}

/* The functions of `only` (NULL: all) that are reached from the one that is converted;
 * false: it is not there. */
static bool reached_functions(const options *o, const program *p, const list *only, list *to) {
    for (size_t i = 0; i < p->functions.n; i++) ((decl *)p->functions.at[i])->reached = false;
    for (size_t i = 0; i < p->globals.n; i++) ((decl *)p->globals.at[i])->reached = false;
    decl *const f = function_named(p, o->function);
    if (f == NULL) {
        error_at(o->files.at[0], "no function '%s' is defined in the files given", o->function);
        return false;
    }
    list functions = {NULL, 0, 0};
    reach(f, &functions);
    for (size_t i = 0; i < o->calls.n; i++) {
        decl *const d = function_named(p, strchr(o->calls.at[i], '=') + 1);
        if (d != NULL) reach(d, &functions);
    }
    for (size_t i = 0; i < functions.n; i++) {
        bool wanted = only == NULL;
        for (size_t k = 0; only != NULL && k < only->n; k++)
            wanted |= same(only->at[k], ((const decl *)functions.at[i])->usr);
        if (wanted) push(to, functions.at[i]);
    }
    return true;
}

table *defined_names(const program *p, table *undone) {
    table *const names = table_new();
    for (size_t i = 0; i < p->files.n; i++) {
        const file *const f = p->files.at[i];
        for (size_t k = 0; !f->of_system && k < f->tokens.n; k++) {
            const token *const t = &f->tokens.at[k];
            if (t->kind != TOKEN_DIRECTIVE) continue;
            const char *const line = f->text + t->begin + 1;
            const tokens words = lex(line, t->end - t->begin - 1);
            if (words.n < 2) continue;
            const bool undefined = token_is(line, &words.at[0], "undef");
            if (!undefined && !token_is(line, &words.at[0], "define")) continue;
            const char *const name =
                copy_text(line + words.at[1].begin, words.at[1].end - words.at[1].begin);
            if (undefined || table_get(names, name) != NULL) table_set(undone, name, names);
            if (!undefined) table_set(names, name, names);
        }
    }
    return names;
}

/* Expands macros in these functions (`at_end`: what is written stands behind all of the
 * source): texts are replaced or added. 0: there was nothing to expand; -1: too many. */
static int expand_all(const program *p, const list *functions, const table *macros, bool at_end,
                      changed *texts, size_t *n) {
    int changes = 0;
    table *const undone = table_new();
    if (at_end) (void)defined_names(p, undone);
    const table *const last = at_end ? undone : NULL;
    for (size_t i = 0; i < p->files.n;
         i++) /* what has to go from all files is known behind the last one */
        if (!((file *)p->files.at[i])->of_system)
            (void)expanded_file(p->files.at[i], functions, macros, last);
    for (size_t i = 0; i < p->files.n; i++) {
        const file *const g = p->files.at[i];
        const char *const s = g->of_system ? NULL : expanded_file(g, functions, macros, last);
        if (s == NULL) continue;
        size_t k = 0;
        while (k < *n && !same(texts[k].name, g->name)) k++;
        if (k == MOST_TEXTS) return -1;
        texts[k] = (changed){g->name, s};
        if (k == *n) ++*n;
        changes = 1;
    }
    return changes;
}

static bool are_same(size_t n, const changed *a, const changed *b) {
    for (size_t i = 0; i < n; i++)
        if (!same(a[i].name, b[i].name) || !same(a[i].text, b[i].text)) return false;
    return true;
}

program *read_plain(const options *o, reading *r) {
    const changed plain = {plain_name, plain_header};
    if (r->raw == NULL) r->raw = read_with(o, 1, &plain, &r->macros);
    return r->raw;
}

program *read_expanded(const options *o, reading *r, const list *only, bool *expanded) {
    changed *const texts = arena_get(MOST_TEXTS * sizeof *texts);
    size_t n = 1;
    texts[0] = (changed){plain_name, plain_header};
    program *p = read_plain(o, r);
    table *macros = r->macros;
    for (int round = 0; p != NULL && round < MOST_ROUNDS; round++) {
        list functions = {NULL, 0, 0};
        if (!reached_functions(o, p, only, &functions)) return NULL;
        const int changes =
            expand_all(p, &functions, macros, same(o->to, "adjoint"), texts, &n);
        *expanded |= changes != 0;
        if (changes <= 0) return r->last = p;
        if (round == 0) {
            if (r->last != NULL && n == r->n && are_same(n, texts, r->texts)) return r->last;
            memcpy(r->texts, texts, n * sizeof *texts);
            r->n = n;
        }
        p = read_with(o, n, texts, &macros);
    }
    if (p != NULL) error_at(o->files.at[0], "macros that expand without end");
    return NULL;
}

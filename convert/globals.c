/* SPDX-License-Identifier: MIT */
/* globals.c - what is outside of functions in adjoints without a tape: globals and static variables that change have
 * copies, with shadows where they hold variables, and every run begins with what the original has; what is
 * used as it stands is put back. */
#include <string.h>
#include "convert/sweeps.h"

/* Static variables stand at the top, for both ways; those that change in each thread, which begins a run with what
 * they are initialised with, as globals that hold variables begin with the originals. */
static void put_own(text *to, text *begin, const char *storage, const char *declaration,
                    const char *shadow, const char *name, const char *from) {
    putf(to, "%s__thread %s;\n", storage, declaration);
    putf(begin, "    memcpy(&%s, &%s, sizeof %s);\n", name, from, name);
    if (shadow == NULL) return;
    putf(to, "%s__thread %s;\n", storage, shadow);
    putf(begin, "    memset(&%s_b, 0, sizeof %s_b);\n", name, name);
}
void put_statics(const emitter *m, text *begin) {
    const routine *const r = m->r;
    for (size_t i = 0; i < r->variables.n; i++) {
        const variable *const x = r->variables.at[i];
        if (x->d == NULL || !x->d->is_static) continue;
        const bool own = keeps_state(x->d) || x->holds;
        const char *const name = own ? format("%s_0", x->name) : x->name;
        putf(m->to, "__attribute__((unused)) %s;\n", one_declaration(x->d, name));
        if (own)
            put_own(m->to, begin, "static ", without_const(declared_as(x->type, x->name)),
                    x->holds ? shadow_type(x->type, format("%s_b", x->name)) : NULL, x->name,
                    name);
    }
}
static const file *home_of(const routine *r, const decl *g) {
    return g->file->given ? g->file : r->a->root->function->file;
}
static bool is_named(const node *n, const decl *g) {
    if (n == NULL || n->decl == g) return n != NULL;
    for (size_t i = 0; i < n->children; i++)
        if (is_named(n->child[i], g)) return true;
    for (size_t i = 0; i < n->decls.n; i++)
        if (is_named(((decl *)n->decls.at[i])->init, g)) return true;
    return false;
}
static bool is_named_in(const list *routines, const file *f, const decl *g) {
    for (size_t i = 0; i < routines->n; i++) {
        const routine *const r = routines->at[i];
        if (r->home == f && is_named(r->v->function->body, g)) return true;
    }
    return f == ((routine *)routines->at[0])->a->root->function->file; /* it may be an input */
}
/* A global that is no variable is used as it stands, and has its value again behind a run. */
static void put_restored(const routine *r, const decl *g, text *to, text *begin, text *end) {
    cell *const c = r->a->of_decl[g->number];
    const version *const root = r->a->root;
    if (g->kind != DECL_VARIABLE || g->of_system || c == NULL || is_constant(g->type) ||
        !version_changes(root, real_cell(c)) ||
        (g->type->kind == TYPE_ARRAY && g->type->count < 0))
        return;
    const char *const name = format("%s_before", own_global(g));
    putf(to, "static __thread %s;\n", without_const(declared_as(g->type, name)));
    putf(begin, "    memcpy(&%s, &%s, sizeof %s);\n", name, g->name, name);
    putf(end, "    memcpy(&%s, &%s, sizeof %s);\n", g->name, name, name);
}

void put_globals(const list *routines, const file *f, bool alone, text *to, text *begin,
                 text *end) {
    const routine *const r = routines->at[0];
    for (size_t i = 0; i < r->a->program->globals.n; i++) {
        const decl *const g = r->a->program->globals.at[i];
        if (!is_own_global(r->a, g)) {
            if (home_of(r, g) == f) put_restored(r, g, to, begin, end);
            continue;
        }
        if (leads_to_variables(r, g->type) ||
            (g->type->kind == TYPE_ARRAY && g->type->count < 0))
            error_at(
                place_in(g->file, g->at),
                "'%s' is global and leads to variables, which no adjoint without a tape has: pass it as an argument",
                g->name);
        const char *const name = own_global(g);
        const char *const x = without_const(declared_as(g->type, name));
        const char *const b = shadow_type(g->type, format("%s_b", name));
        if (home_of(r, g) == f) put_own(to, begin, alone ? "static " : "", x, b, name, g->name);
        else if (is_named_in(routines, f, g) && !(g->is_static && g->file->given))
            putf(to, "extern __thread %s;\nextern __thread %s;\n", x, b);
    }
}

bool has_adjoint(const list *routines, const file *f) {
    const routine *const any = routines->at[0];
    bool has = f == any->a->root->function->file;
    for (size_t i = 0; i < routines->n; i++) has |= ((routine *)routines->at[i])->home == f;
    for (size_t i = 0; i < any->a->program->globals.n; i++) {
        const decl *const g = any->a->program->globals.at[i];
        cell *const c = any->a->of_decl[g->number];
        has |= home_of(any, g) == f && g->kind == DECL_VARIABLE && c != NULL &&
               (is_own_global(any->a, g) || version_changes(any->a->root, real_cell(c)));
    }
    return has;
}

static unsigned file_number(const analysis *a, const file *f) {
    unsigned k = 0;
    while (a->program->files.at[k] != f) k++;
    return k;
}

/* What every run begins or ends with: that of the root's file does so for the others. */
void put_around(const list *routines, const file *f, const char *when, const char *own,
                text *to) {
    const analysis *const a = ((routine *)routines->at[0])->a;
    const char *const name = format("%s_%s", a->root->name, when);
    if (f != a->root->function->file) {
        putf(to, "void %s_%u(void);\nvoid %s_%u(void) {\n%s}\n", name, file_number(a, f), name,
             file_number(a, f), own);
        return;
    }
    text others = {NULL, 0, 0};
    for (size_t i = 0; i < a->program->files.n; i++) {
        const file *const g = a->program->files.at[i];
        if (g == f || !g->given || !has_adjoint(routines, g)) continue;
        putf(to, "void %s_%u(void);\n", name, file_number(a, g));
        putf(&others, "    %s_%u();\n", name, file_number(a, g));
    }
    putf(to, "__attribute__((unused)) static void %s(void) {\n%s%s}\n", name, text_of(&others),
         own);
}

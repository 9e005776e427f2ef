/* SPDX-License-Identifier: MIT */
/* globals.c - what is outside of functions in adjoints without a tape: globals and static
 * variables that change have copies, with shadows where they hold variables, and every run
 * begins with what the original has; what is used as it stands is put back. */
#include <string.h>
#include "convert/sweeps.h"

/* ---- types that functions declare -------------------------------------------------------- */

static void add_name(list *to, const char *s, const token *t) {
    if (t->kind == TOKEN_WORD) push(to, (void *)copy_text(s + t->begin, t->end - t->begin));
}

/* The names that a declaration of types gives: tags, enumerators, what typedef is for. */
static list names_given(const char *s) {
    const tokens t = lex(s, strlen(s));
    list to = {NULL, 0, 0};
    size_t depth = 0, in_enum = 0, last = 0, parentheses = 0;
    for (size_t i = 0; i + 1 < t.n; i++) {
        const bool tagged = token_is(s, &t.at[i], "struct") || token_is(s, &t.at[i], "union") ||
                            token_is(s, &t.at[i], "enum");
        if (tagged && i + 2 < t.n && token_is(s, &t.at[i + 2], "{"))
            add_name(&to, s, &t.at[i + 1]);
        if (token_is(s, &t.at[i], "enum")) in_enum = depth + 1;
        if (token_is(s, &t.at[i], "{")) depth++;
        const bool first = token_is(s, &t.at[i], "{") || token_is(s, &t.at[i], ",");
        if (first && depth != 0 && in_enum == depth) add_name(&to, s, &t.at[i + 1]);
        if (token_is(s, &t.at[i], "}") && depth-- == in_enum) in_enum = 0;
        if (token_is(s, &t.at[i], "(")) {
            if (depth == 0 && i + 3 < t.n && token_is(s, &t.at[i + 1], "*"))
                last = i + 2; /* a pointer to functions */
            parentheses++;
        }
        if (token_is(s, &t.at[i], ")")) parentheses--;
        if (depth == 0 && parentheses == 0 && t.at[i].kind == TOKEN_WORD) last = i;
    }
    if (t.n > 1 && token_is(s, &t.at[0], "typedef")) add_name(&to, s, &t.at[last]);
    return to;
}

static bool is_at_top(const routine *r, const char *name) {
    const program *const p = r->a->program;
    for (size_t i = 0; i < p->files.n; i++) {
        const file *const f = p->files.at[i];
        for (size_t k = 0; k < f->declarations.n; k++)
            if (same(((decl *)f->declarations.at[k])->name, name)) return true;
    }
    return false;
}

static void put_types_of(const routine *r, const node *n, table *given, text *to) {
    if (n == NULL || is_expression(n)) return;
    for (size_t i = 0; i < n->children; i++) put_types_of(r, n->child[i], given, to);
    if (n->kind != NODE_DECLARE) return;
    const char *s = n->decls.n == 0 ? source(n) : NULL;
    for (size_t i = 0; i < n->decls.n && s == NULL; i++) {
        const type *const t = leaf_type(((decl *)n->decls.at[i])->type);
        const decl *const d = t->kind == TYPE_RECORD ? t->record->definition : NULL;
        if (d != NULL && t->record->tagged && d->file == n->file && n->begin <= d->begin &&
            d->end <= n->end)
            s = format("%s;", copy_text(d->file->text + d->begin, d->end - d->begin));
    }
    if (s == NULL) return;
    const list names = names_given(s);
    for (size_t i = 0; i < names.n; i++) {
        const char *const name = names.at[i];
        if (table_get(given, name) != NULL || is_at_top(r, name))
            error_at(
                place_of(n),
                "'%s' is declared in a function, and elsewhere, which cannot be turned round: give it a name of its own",
                name);
        table_set(given, name, given);
    }
    putf(to, "%s\n", s);
}

void put_local_types(const list *routines, const file *f, text *to) {
    list done = {NULL, 0, 0};
    table *const given = table_new();
    for (size_t i = 0; i < routines->n; i++) {
        const routine *const r = routines->at[i];
        if (r->home != f || list_has(&done, r->v->function)) continue;
        push(&done, r->v->function);
        put_types_of(r, r->v->function->body, given, to);
    }
}

/* ---- statics and globals ----------------------------------------------------------------- */

/* Static variables stand at the top, for both ways; those that change in each thread, which
 * begins a run with what they are initialised with, as globals that hold variables begin
 * with the originals. */
static void put_own(text *to, text *begin, const char *storage, const char *declaration,
                    const char *shadow, const char *name, const char *from) {
    putf(to, "%s__thread %s;\n", storage, declaration);
    putf(begin, "    memcpy(&%s, &%s, sizeof %s);\n", name, from, name);
    if (shadow == NULL) return;
    putf(to, "%s__thread %s;\n", storage, shadow);
    putf(begin, "    memset(&%s_b, 0, sizeof %s_b);\n", name, name);
}
static bool is_own_static(const routine *r, const decl *d) {
    cell *const c = d->owner == r->v->function && d->is_static ? cell_of(r->a, r->v, d) : NULL;
    return c != NULL && (keeps_state(d) || holds_variables(c));
}
/* Does an initialiser ask for the address of one that each thread has for itself? */
static bool names_own(const routine *r, const node *n) {
    if (n == NULL || n->kind == NODE_SIZEOF) return false;
    if (n->kind == NODE_NAME && is_own_static(r, n->decl)) return true;
    for (size_t i = 0; i < n->children; i++)
        if (names_own(r, n->child[i])) return true;
    return false;
}
void put_statics(const emitter *m, text *begin) {
    const routine *const r = m->r;
    for (size_t i = 0; i < r->variables.n; i++) {
        const variable *const x = r->variables.at[i];
        if (x->d == NULL || !x->d->is_static) continue;
        const bool own = keeps_state(x->d) || x->holds;
        if (names_own(r, x->d->init)) {
            error_at(
                place_in(x->d->file, x->d->at),
                "'%s' is static and leads to another that changes, which cannot be turned round: assign to it",
                x->d->name);
            continue;
        }
        const char *const name = own ? format("%s_0", x->name) : x->name;
        putf(m->to, "__attribute__((unused)) %s;\n", one_declaration(r, x->d, name));
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
static bool is_asked_for(const list *routines, const decl *g) {
    const analysis *const a = ((routine *)routines->at[0])->a;
    bool asked = false;
    for (size_t i = 0; i < routines->n; i++)
        asked |= is_named(((routine *)routines->at[i])->v->function->body, g);
    for (size_t i = 0; i < a->inputs.n; i++) asked |= ((selection *)a->inputs.at[i])->root == g;
    for (size_t i = 0; i < a->outputs.n; i++)
        asked |= ((selection *)a->outputs.at[i])->root == g;
    return asked;
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
            (g->type->kind == TYPE_ARRAY && g->type->count < 0)) {
            if (!is_asked_for(routines, g)) continue;
            error_at(
                place_in(g->file, g->at),
                "'%s' is global and leads to variables, which no adjoint without a tape has: pass it as an argument",
                g->name);
        }
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

/* SPDX-License-Identifier: MIT */
/* versions.c - functions as they are for some calls: made, shared where they turn out alike,
 * named. */
#include <string.h>
#include "convert/cells.h"

enum { MOST_VERSIONS = 4000 };

/* The variable that a place is in, without following pointers. */
static decl *base_of(const node *n) {
    n = bare(n);
    if (n->kind == NODE_NAME) return n->decl;
    if (n->kind == NODE_MEMBER && !n->arrow && n->children != 0) return base_of(n->child[0]);
    if (n->kind == NODE_INDEX && n->child[0]->type != NULL &&
        n->child[0]->type->kind == TYPE_ARRAY)
        return base_of(n->child[0]);
    return NULL;
}

/* Marks local variables that are static and may be written to. */
static void mark_changed(const node *n) {
    if (n == NULL) return;
    const bool step =
        n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--") || same(n->op, "&"));
    if ((n->kind == NODE_ASSIGN || step) && n->children != 0) {
        decl *const d = base_of(n->child[0]);
        if (d != NULL) d->changed = true;
    }
    if (n->kind == NODE_NAME && n->decl->is_static && n->decl->type != NULL) {
        const node *p = n->parent;
        while (p != NULL && p->kind == NODE_PAREN) p = p->parent;
        const bool read = p != NULL && (p->kind == NODE_INDEX || p->kind == NODE_SIZEOF);
        if (n->by_macro || (n->decl->type->kind == TYPE_ARRAY && !read))
            n->decl->changed = true;
    }
    for (size_t i = 0; i < n->children; i++) mark_changed(n->child[i]);
    for (size_t i = 0; i < n->decls.n; i++) mark_changed(((decl *)n->decls.at[i])->init);
}

bool keeps_state(const decl *d) {
    return d->is_static && d->changed && !d->is_global && !is_constant(d->type);
}

/* Does a function remember something from one call to the next? Then it has one version only:
 * what it remembers is in one place. */
bool remembers(decl *f) {
    if (!f->looked_at) mark_changed(f->body);
    f->looked_at = true;
    for (size_t i = 0; i < f->locals.n; i++)
        if (keeps_state(f->locals.at[i])) return true;
    return false;
}

version *version_for(analysis *a, version *caller, decl *f) {
    for (version *v = caller; v != NULL; v = v->caller)
        if (v->function == f) return v; /* a recursion: one and the same */
    if (a->versions.n >= MOST_VERSIONS || remembers(f))
        for (size_t i = 0; i < a->versions.n; i++) {
            version *const v = a->versions.at[i];
            if (v->function == f) return v;
        }
    return new_version(a, caller, f);
}

cell *function_cell(analysis *a, version *caller, decl *f) {
    cell *const c = new_cell(a, f->type);
    c->declared = f;
    if (f->body == NULL) {
        make_signature(a, c);
        for (size_t i = 0; i < c->parameters.n; i++) flow(c->parameters.at[i], c->result);
        return c;
    }
    version *const v = version_for(a, caller, f);
    for (size_t i = 0; i < f->parameters.n; i++)
        push(&c->parameters, decl_cell(a, v, f->parameters.at[i]));
    c->result = v->result != NULL ? v->result
                                  : new_cell(a, f->type->of); /* of what gives nothing, too */
    push(&c->versions, v);
    push(&a->signatures, c);
    return c;
}

static void number_locals(decl *f) {
    size_t k = 0;
    for (size_t i = 0; i < f->parameters.n; i++) ((decl *)f->parameters.at[i])->index = k++;
    for (size_t i = 0; i < f->locals.n; i++) ((decl *)f->locals.at[i])->index = k++;
}

version *new_version(analysis *a, version *caller, decl *f) {
    version *const v = arena_get(sizeof *v);
    number_locals(f);
    v->function = f;
    v->caller = caller;
    v->number = (unsigned)a->versions.n;
    v->of_node =
        arena_get(2 * (f->nodes + 1) * sizeof *v->of_node); /* also for nodes that are made */
    v->called = arena_get(2 * (f->nodes + 1) * sizeof *v->called);
    v->of_decl = arena_get((f->parameters.n + f->locals.n + 1) * sizeof *v->of_decl);
    if (f->type->of->kind != TYPE_VOID) {
        v->result = new_cell(a, f->type->of);
        v->result->declared = f;
    }
    push(&a->versions, v);
    for (size_t i = 0; i < f->parameters.n; i++) (void)decl_cell(a, v, f->parameters.at[i]);
    run(a, v, f->body);
    return v;
}

/* Locals that keep their values, and functions that are seen twice, share them. */
void join_statics(analysis *a) {
    table *const seen = table_new();
    for (size_t i = 0; i < a->versions.n; i++) {
        version *const v = a->versions.at[i];
        for (size_t k = 0; k < v->function->locals.n; k++) {
            const decl *const d = v->function->locals.at[k];
            if (!d->is_static || v->of_decl[d->index] == NULL) continue;
            const char *const key = format("%u", d->number);
            cell *const before = table_get(seen, key);
            if (before != NULL) join(a, before, v->of_decl[d->index]);
            else table_set(seen, key, v->of_decl[d->index]);
        }
    }
}

/* The function that a cell is or leads to; NULL: it is none. */
static cell *function_at(cell *c) {
    if (c != NULL) c = real_cell(c);
    if (c != NULL && c->type != NULL && c->type->kind == TYPE_POINTER)
        c = c->target != NULL ? real_cell(c->target) : NULL;
    return c != NULL && c->type != NULL && c->type->kind == TYPE_FUNCTION ? c : NULL;
}

cell *function_of_node(const version *v, size_t i) { return function_at(v->of_node[i]); }

cell *called_through(const version *v, const node *n) {
    const node *const f = bare(n->child[0]);
    if (f->kind == NODE_NAME && f->decl->kind == DECL_FUNCTION) return NULL;
    return function_at(v->of_node[f->number]);
}

void find_reached(const version *v, const node *n, list *to) {
    if (n == NULL) return;
    if (n->kind == NODE_CALL) {
        const cell *const f = called_through(v, n);
        const size_t several = f != NULL ? f->versions.n : 0;
        for (size_t i = 0; i <= several; i++) {
            const version *const w = i < several ? f->versions.at[i] : v->called[n->number];
            if (w == NULL || list_has(to, w)) continue;
            push(to, (void *)w);
            find_reached(w, w->function->body, to);
        }
    }
    for (size_t i = 0; i < n->children; i++) find_reached(v, n->child[i], to);
    for (size_t i = 0; i < n->decls.n; i++) find_reached(v, ((decl *)n->decls.at[i])->init, to);
}

/* Versions of one function with the same variables in the same places, which call the same
 * ones, have one text. */
void share_versions(analysis *a) {
    const size_t n = a->versions.n;
    size_t classes = 0;
    unsigned *const class = arena_get((n + 1) * sizeof *class);
    for (size_t round = 0; round < n + 2; round++) {
        table *const seen = table_new();
        unsigned *const next = arena_get((n + 1) * sizeof *next);
        size_t found = 0;
        for (size_t i = 0; i < n; i++) {
            version *const v = a->versions.at[i];
            text key = {NULL, 0, 0};
            putf(&key, "%p %d ", (void *)v->function, v->touched);
            for (size_t k = 0; k < v->function->parameters.n + v->function->locals.n; k++)
                put(&key, v->of_decl[k] != NULL && holds_variables(v->of_decl[k]) ? "1" : "0");
            for (size_t k = 0; k < v->function->nodes; k++)
                put(&key, v->of_node[k] != NULL && holds_variables(v->of_node[k]) ? "1" : "0");
            if (v->result != NULL) put(&key, holds_variables(v->result) ? "r" : "n");
            for (size_t k = 0; k < v->function->nodes; k++)
                if (v->called[k] != NULL) putf(&key, " %u", class[v->called[k]->number]);
            for (size_t k = 0; a->without_tape && k < v->function->nodes; k++) {
                const cell *const f = function_of_node(v, k);
                for (size_t j = 0; f != NULL && j < f->versions.n; j++)
                    putf(&key, " %u", class[((version *)f->versions.at[j])->number]);
                if (f != NULL) put(&key, ";");
            }
            version *const first = table_get(seen, text_of(&key));
            if (first == NULL) {
                next[i] = (unsigned)++found;
                table_set(seen, text_of(&key), v);
                v->like = v;
            } else next[i] = next[first->number], v->like = first;
        }
        memcpy(class, next, n * sizeof *class);
        if (found == classes) break;
        classes = found;
    }
}

void name_versions(analysis *a) {
    table *const used = table_new();
    for (size_t i = 0; i < a->versions.n; i++) {
        version *const v = a->versions.at[i];
        if (!v->touched || v->like != v) continue;
        size_t k = 1;
        const char *name = format("%s_wg", v->function->name);
        while (table_get(used, name) != NULL) name = format("%s_wg%zu", v->function->name, ++k);
        table_set(used, name, v);
        v->name = name;
    }
}

version *called_by(const version *v, const node *n) {
    version *const w = v->called[n->number];
    return w != NULL ? w->like : NULL;
}

/* SPDX-License-Identifier: MIT */
/* steps.c - from the tree of a function to steps. */
#include "convert/builder.h"

void refuse_node(routine *r, const node *n, const char *why) {
    error_at(place_of(n), "'%s' cannot be turned round: %s", source(n), why);
    r->refused = true;
}
step *add_step(builder *b, step_kind kind) {
    step *const s = arena_get(sizeof *s);
    s->kind = kind;
    push(b->to, s);
    return s;
}
static bool has_goto(const node *n) {
    if (n == NULL || n->kind == NODE_GOTO) return n != NULL;
    for (size_t i = 0; i < n->children; i++)
        if (has_goto(n->child[i])) return true;
    return false;
}

routine *steps_of(analysis *a, version *v) {
    routine *const r = arena_get(sizeof *r);
    const decl *const f = v->function;
    r->a = a, r->v = v;
    r->names = table_new();
    r->place = arena_get(2 * (f->nodes + 1) * sizeof *r->place);
    r->results = arena_get(2 * (f->nodes + 1) * sizeof *r->results);
    r->instead = arena_get(2 * (f->nodes + 1) * sizeof *r->instead);
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        add_parameter(r, p);
    }
    for (size_t i = 0; i < f->locals.n; i++) add_local(r, f->locals.at[i]);
    /* a return at the very end is no jump */
    const node *const body = f->body;
    const size_t n = body->children;
    const bool last = n != 0 && body->child[n - 1]->kind == NODE_RETURN;
    if (v->result != NULL && holds_variables(v->result) && f->type->of->kind != TYPE_REAL &&
        f->type->of->kind != TYPE_POINTER &&
        (f->type->of->kind != TYPE_RECORD || has_held_pointers(r, f->type->of))) {
        error_at(
            place_in(f->file, f->at),
            "'%s' returns a structure with pointers to variables, which cannot be turned round: give it as an argument",
            f->name);
        r->refused = true;
    }
    r->home = f->file->given ? f->file : a->root->function->file;
    for (size_t i = 0; i < n - last; i++) r->jumps |= jumps(body->child[i]);
    if (has_goto(body)) open_loop(r);
    for (size_t i = 0; i < n - last; i++) make_jumps(r, body->child[i], NULL);
    if (last) flow_return(r, body->child[n - 1]);
    unsigned k = 0;
    for (size_t i = 0; i < r->stretches.n; i++) {
        stretch *const s = r->stretches.at[i];
        if (s->text == NULL) s->number = ++k;
    }
    return r;
}

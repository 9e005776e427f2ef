/* SPDX-License-Identifier: MIT */
/* calls.c - calls of functions with variables: their arguments, their results, and which
 * function it is, where a pointer leads to it. */
#include <string.h>
#include "convert/builder.h"

/* May a call change what an argument, or the address of a place, is computed of? Backwards
 * that is not yet as it was. */
static bool changed_by(const routine *r, const version *v, const node *n, bool address) {
    if (n == NULL || v == NULL || n->kind == NODE_SIZEOF || r->instead[n->number] != NULL ||
        is_plain_local(r, n))
        return false;
    const bool place = n->kind == NODE_NAME || n->kind == NODE_MEMBER ||
                       n->kind == NODE_INDEX || (n->kind == NODE_UNARY && same(n->op, "*"));
    if (place && !address && n->type != NULL && n->type->kind != TYPE_ARRAY &&
        n->type->kind != TYPE_RECORD && cell_at(r, n) != NULL &&
        version_changes(v, cell_at(r, n)))
        return true;
    const bool of_address = (n->kind == NODE_UNARY && same(n->op, "&")) ||
                            (n->kind == NODE_MEMBER && !n->arrow) ||
                            (n->kind == NODE_PAREN && address);
    for (size_t i = n->kind == NODE_CALL; i < n->children; i++)
        if (changed_by(r, v, n->child[i], of_address)) return true;
    return false;
}

/* A structure whose shadow is one: which no call changes where it stands. */
static bool is_steady_place(const routine *r, const node *e, const list *called) {
    e = bare(e);
    if (r->instead[e->number] != NULL) return true;
    if (e->kind != NODE_NAME && e->kind != NODE_MEMBER && e->kind != NODE_INDEX &&
        !(e->kind == NODE_UNARY && same(e->op, "*")))
        return false;
    for (size_t k = 0; k < called->n; k++) {
        if (changed_by(r, called->at[k], e, true)) return false;
        for (size_t i = 0; i < e->type->record->fields.n; i++) {
            const decl *const f = e->type->record->fields.at[i];
            cell *const c = r->a->of_decl[f->number];
            if (f->type->kind == TYPE_POINTER && c != NULL && version_changes(called->at[k], c))
                return false;
        }
    }
    return true;
}

/* The arguments of a call of v; `called`: versions that may be meant. False, when that
 * cannot be. */
static bool arguments_of(builder *b, const node *n, const version *v, const list *called,
                         list *args) {
    routine *const r = b->r;
    for (size_t i = 1; i < n->children; i++) {
        const node *const e = n->child[i];
        pure(b, e);
        name_literal(b, e);
        argument *const g = arena_get(sizeof *g);
        const decl *const p =
            i - 1 < v->function->parameters.n ? v->function->parameters.at[i - 1] : NULL;
        if (p == NULL) {
            refuse_node(r, n, "it has any number of arguments");
            return false;
        }
        cell *const c = v->of_decl[p->index] != NULL ? real_cell(v->of_decl[p->index]) : NULL;
        *g = (argument){.n = e, .type = p->type, .holds = c != NULL && holds_variables(c)};
        /* a number is as it was when it went in: so it is a variable that nothing changes
         * meanwhile */
        const bool has_shadow = !g->holds || step_is_active(r, e);
        const bool alike =
            e->type != NULL && e->type->kind == TYPE_REAL && e->type->bits == p->type->bits;
        bool changed = false;
        if (p->type->kind == TYPE_WHOLE || p->type->kind == TYPE_POINTER)
            for (size_t k = 0; k < called->n; k++)
                changed |= changed_by(r, called->at[k], e, false);
        if (p->type->kind == TYPE_REAL && (!is_plain_local(r, e) || !has_shadow || !alike) &&
            (g->holds || e->kind != NODE_NUMBER)) {
            const target t = new_name(r, p->type, g->holds ? c : NULL);
            step *const s = add_step(b, STEP_ASSIGN);
            s->to = t, s->e = e;
            g->name = t.name;
        } else if (changed) {
            step *const s = add_step(b, STEP_ASSIGN);
            s->to = new_name(r, p->type, p->type->kind == TYPE_POINTER ? c : NULL);
            s->e = e;
            g->name = s->to.name;
        }
        if (!g->holds || !is_handle(r->a, p->type) || !is_steady_place(r, e, called))
            check_record(r, p->type, e);
        push(args, g);
    }
    return true;
}

/* What a call gives, under a name. */
static target result_of(builder *b, const node *n, const version *v) {
    if (n->type == NULL || n->type->kind == TYPE_VOID) return (target){.n = NULL};
    const target to = new_name(b->r, n->type, v->result != NULL ? real_cell(v->result) : NULL);
    b->r->instead[n->number] = to.name;
    return to;
}

void call_step(builder *b, const node *n, version *v) {
    const version *called = b->r->v->called[n->number];
    const list one = {&(void *){(void *)called}, 1, 1};
    list args = {NULL, 0, 0};
    if (!arguments_of(b, n, v, &one, &args)) return;
    step *const s = add_step(b, STEP_CALL);
    s->callee = v, s->called = called, s->call = n, s->args = args;
    s->to = result_of(b, n, v);
}

/* Its name, in the file of the routine; false: it is none there. */
static bool make_seen(routine *r, const decl *d) {
    for (size_t i = 0; i < r->a->program->files.n; i++) {
        const file *const f = r->a->program->files.at[i];
        if (f != r->home && f->given) continue;
        for (size_t k = 0; k < f->declarations.n; k++)
            if (same(((decl *)f->declarations.at[k])->usr, d->usr)) return true;
    }
    const size_t begin = d->begin, end = d->body->begin;
    const char *const s = copy_text(d->file->text + begin, end - begin);
    if (d->is_static || strchr(s, ';') != NULL) return false; /* as before 1989 */
    if (r->types.n == 0 || strstr(text_of(&r->types), s) == NULL) putf(&r->types, "%s;\n", s);
    return true;
}

/* A call through a pointer: of each function that it may be, where it is that. */
void through_step(builder *b, const node *n, const cell *function) {
    routine *const r = b->r;
    list different = {NULL, 0, 0};
    for (size_t i = 0; i < function->versions.n; i++) {
        const version *const v = function->versions.at[i];
        bool has = false;
        for (size_t k = 0; k < different.n; k++) {
            const version *const w = different.at[k];
            has |= w->like == v->like;
            if (w->function == v->function && w->like != v->like) {
                refuse_node(r, n, "a function that is another by each of its names");
                return;
            }
        }
        if (v->function->parameters.n + 1 != n->children || !make_seen(r, v->function)) {
            refuse_node(
                r, n,
                "it may be a function with other parameters, or one that is not declared here");
            return;
        }
        if (!has) push(&different, (void *)v);
    }
    if (different.n == 0) {
        refuse_node(r, n, "a function with variables that is called through a pointer");
        return;
    }
    const version *const first = ((version *)different.at[0])->like;
    list args = {NULL, 0, 0};
    pure(b, n->child[0]);
    if (!arguments_of(b, n, first, &function->versions, &args)) return;
    const char *const pointer = print(r, n->child[0]);
    const target to = result_of(b, n, first);
    builder at = *b;
    for (size_t i = 0; i < different.n; i++) {
        const version *const v = different.at[i];
        step *const s = add_step(&at, STEP_IF);
        s->e = n->child[0], s->text = format("%s == %s", pointer, v->function->name);
        step *const call = add_step(&(builder){r, &s->body, b->next}, STEP_CALL);
        call->callee = v->like, call->called = v, call->call = n, call->args = args;
        call->to = to;
        at.to = &s->other;
    }
    add_step(&at, STEP_PLAIN)->text = "longjmp(wgc_s->out, 2)";
}

/* SPDX-License-Identifier: MIT */
/* again.c - what is computed again instead of being kept: what a loop's body computes, cheaply,
 * of values that the body does not change; and with it the question what a call or a
 * function may change. */
#include <string.h>
#include "convert/planner.h"

/* Is c a field, which is overwritten with a structure as a whole? */
static bool is_part(const type *t, const cell *c) {
    while (t != NULL && t->kind == TYPE_ARRAY) t = t->of;
    return t != NULL && t->kind == TYPE_RECORD && c->declared != NULL &&
           c->declared->kind == DECL_FIELD;
}

static size_t assignments(const list *steps, const cell *c) {
    size_t n = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if ((s->to.cell != NULL && real_cell(s->to.cell) == c) || is_part(s->to.type, c)) n++;
        n += assignments(&s->body, c) + assignments(&s->other, c);
    }
    return n;
}

static size_t mentions_in(planner *p, const node *n, const cell *c) {
    if (n == NULL) return 0;
    const char *const instead = p->r->instead[n->number];
    cell *const own = instead != NULL ? variable_cell(p, instead) : NULL;
    if (own != NULL) return real_cell(own) == c;
    size_t k = n->kind == NODE_NAME && cell_at(p->r, n) == c;
    for (size_t i = 0; i < n->children; i++) k += mentions_in(p, n->child[i], c);
    return k;
}
static size_t mentions(planner *p, const list *steps, const cell *c) {
    size_t n = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        n += mentions_in(p, s->e, c) + mentions_in(p, s->from, c) +
             mentions_in(p, s->bound, c) + mentions_in(p, s->to.n, c);
        if (s->kind == STEP_COPY) n += mentions_in(p, s->call->child[3], c);
        for (size_t k = 2; s->kind == STEP_SORT && k < 5; k++)
            n += mentions_in(p, s->call->child[k], c);
        for (size_t k = 0; k < s->operands.n; k++)
            n += mentions_in(p, ((routine_operand *)s->operands.at[k])->n, c);
        for (size_t k = 0; k < s->args.n; k++) {
            const argument *const g = s->args.at[k];
            if (g->name != NULL)
                n += variable_cell(p, g->name) != NULL &&
                     real_cell(variable_cell(p, g->name)) == c;
            else n += mentions_in(p, g->n, c);
        }
        n += mentions(p, &s->body, c) + mentions(p, &s->other, c);
    }
    return n;
}

static bool is_cheap(const node *n) {
    if (n == NULL) return true;
    if (n->kind == NODE_CALL) {
        const node *const f = bare(n->child[0]);
        return f->kind == NODE_NAME &&
               (same(f->decl->name, "fabs") || same(f->decl->name, "sqrt"));
    }
    for (size_t i = 0; i < n->children; i++)
        if (!is_cheap(n->child[i])) return false;
    return true;
}

static bool changes_in(const version *v, const node *n, cell *c, list *seen);
/* May a call of this version change c? */
static bool changes(const version *v, cell *c, list *seen) {
    if (list_has(seen, v)) return false;
    push(seen, (void *)v);
    return changes_in(v, v->function->body, c, seen);
}
static const node *uncast(const node *n) {
    while (n->kind == NODE_CAST || n->kind == NODE_PAREN) n = n->child[0];
    return n;
}
static bool is_plain_number(const node *n) {
    const type *const t = uncast(n)->type;
    return t == NULL || t->kind == TYPE_REAL || t->kind == TYPE_WHOLE;
}
/* A function that is not among the files leaves alone what it is led to as const. */
static bool is_read_only(const node *f, size_t i) {
    const type *const t = f->kind == NODE_NAME ? f->decl->type : NULL;
    return t != NULL && t->kind == TYPE_FUNCTION && i < t->parameters &&
           t->parameter[i]->kind == TYPE_POINTER && is_constant(t->parameter[i]->of);
}
/* May this call change c: memcpy and the like what their pointers lead to? */
static bool call_changes(const version *v, const node *n, cell *c, list *seen) {
    const version *const w = v->called[n->number];
    if (w != NULL) return changes(w, c, seen);
    const cell *const g = called_through(v, n);
    for (size_t i = 0; g != NULL && i < g->versions.n; i++)
        if (changes(g->versions.at[i], c, seen)) return true;
    if (g != NULL && g->versions.n != 0) return false;
    size_t first = 1; /* that is no number by value */
    while (first < n->children && is_plain_number(n->child[first])) first++;
    if (first == n->children) return false;
    const node *const f = bare(n->child[0]);
    const known_kind k = f->kind == NODE_NAME && f->decl->kind == DECL_FUNCTION
                             ? known_function(f->decl->name, NULL)->kind
                             : KNOWN_NOTHING;
    if (k == KNOWN_PRINT && f->decl->name[0] != 's') return false;
    const size_t end = k == KNOWN_COPY || k == KNOWN_FILL ? 2 : n->children;
    for (size_t i = first; i < end; i++) {
        if (is_plain_number(n->child[i]) || is_read_only(f, i - 1)) continue;
        const node *const x = uncast(n->child[i]);
        cell *const a = node_cell(v, x);
        if (is_part(leaf_type(x->type), c)) return true;
        if (a != NULL && ((a->target != NULL && real_cell(a->target) == c) || a == c))
            return true;
    }
    return false;
}
static bool changes_in(const version *v, const node *n, cell *c, list *seen) {
    if (n == NULL) return false;
    const bool counts = n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"));
    if ((n->kind == NODE_ASSIGN || counts) &&
        (node_cell(v, n->child[0]) == c || is_part(n->child[0]->type, c)))
        return true;
    if (n->kind == NODE_CALL && call_changes(v, n, c, seen)) return true;
    for (size_t i = 0; i < n->children; i++)
        if (changes_in(v, n->child[i], c, seen)) return true;
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const d = n->decls.at[i];
        if (d->init != NULL && changes_in(v, d->init, c, seen)) return true;
    }
    return false;
}
bool version_changes(const version *v, cell *c) {
    list seen = {NULL, 0, 0};
    return changes(v, real_cell(c), &seen);
}

/* The call in n, which is run as it stands, that may change c. What has a name here is run by
 * steps of its own. */
static const node *plain_changes(const planner *p, const node *n, const node *top, cell *c) {
    if (n == NULL || (n != top && p->r->instead[n->number] != NULL)) return NULL;
    list seen = {NULL, 0, 0};
    if (n->kind == NODE_CALL && !is_free(n) && call_changes(p->r->v, n, c, &seen)) return n;
    for (size_t i = 0; i < n->children; i++) {
        const node *const call = plain_changes(p, n->child[i], top, c);
        if (call != NULL) return call;
    }
    return NULL;
}

const node *step_changes(const planner *p, const step *s, cell *c) {
    if (s->e == NULL || s->text != NULL) return NULL;
    const char *const name = p->r->instead[s->e->number];
    const bool own =
        s->kind == STEP_PLAIN || (name != NULL && s->to.name != NULL && same(name, s->to.name));
    return plain_changes(p, s->e, own ? s->e : NULL, c);
}

static bool changed_by_calls(const planner *p, const list *steps, cell *c) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        list seen = {NULL, 0, 0};
        if (s->kind == STEP_CALL && call_changes(p->r->v, s->call, c, &seen)) return true;
        if ((s->kind == STEP_COPY || s->kind == STEP_SORT) && s->to.cell != NULL &&
            real_cell(s->to.cell) == c)
            return true;
        if (s->kind == STEP_ROUTINE && routine_changes(s, c)) return true;
        if ((s->kind == STEP_PLAIN || s->kind == STEP_ASSIGN) && step_changes(p, s, c) != NULL)
            return true;
        if (changed_by_calls(p, &s->body, c) || changed_by_calls(p, &s->other, c)) return true;
    }
    return false;
}

static bool is_unchanged(planner *p, const node *n, const list *body, const list *again);

/* The address of a place, as above. */
static bool has_unchanged_address(planner *p, const node *n, const list *body,
                                  const list *again) {
    if (p->r->instead[n->number] != NULL) return is_unchanged(p, n, body, again);
    switch (n->kind) {
    case NODE_NAME:
        return true;
    case NODE_PAREN:
        return has_unchanged_address(p, n->child[0], body, again);
    case NODE_MEMBER:
        if (n->arrow) return is_unchanged(p, n->child[0], body, again);
        return n->children == 0 || has_unchanged_address(p, n->child[0], body, again);
    case NODE_INDEX:
        for (size_t i = 0; i < 2; i++)
            if (!is_unchanged(p, n->child[i], body, again)) return false;
        return true;
    case NODE_UNARY:
        return is_unchanged(p, n->child[0], body, again);
    default:
        return false;
    }
}

/* Is all that n is computed of left alone by the body, or computed again in it? */
static bool is_unchanged(planner *p, const node *n, const list *body, const list *again) {
    if (n == NULL || (n->kind == NODE_SIZEOF && n->type_end == 0)) return true;
    const char *const instead = p->r->instead[n->number];
    const bool place = n->kind == NODE_NAME || n->kind == NODE_MEMBER ||
                       n->kind == NODE_INDEX || (n->kind == NODE_UNARY && same(n->op, "*"));
    if (instead == NULL && n->kind == NODE_UNARY && same(n->op, "&"))
        return has_unchanged_address(p, n->child[0], body, again);
    if (instead == NULL && place && n->type != NULL && n->type->kind == TYPE_ARRAY)
        return has_unchanged_address(p, n, body, again);
    cell *c = instead != NULL ? variable_cell(p, instead) : NULL;
    if (c == NULL && place) c = cell_at(p->r, n);
    if (c != NULL) {
        c = real_cell(c);
        if (!list_has(again, c) && (assignments(body, c) != 0 || changed_by_calls(p, body, c)))
            return false;
        if (instead != NULL) return true;
    }
    for (size_t i = n->kind == NODE_CALL; i < n->children; i++)
        if (!is_unchanged(p, n->child[i], body, again)) return false;
    return true;
}

/* Outside of loops only addresses and whole numbers: to keep a number once costs as much. */
void all_again(planner *p, list *body, const list *whole, bool in_loop) {
    list again = {NULL, 0, 0};
    for (size_t i = 0; i < body->n; i++) {
        step *const s = body->at[i];
        const bool loops = in_loop || s->kind == STEP_COUNTED || s->kind == STEP_LOOP;
        all_again(p, &s->body, whole, loops);
        all_again(p, &s->other, whole, loops);
        if (s->kind != STEP_ASSIGN || s->text != NULL || s->add != 0 || s->e == NULL ||
            !is_local(p, &s->to))
            continue;
        cell *const c = real_cell(s->to.cell);
        const type_kind k = s->to.type->kind;
        if (k != TYPE_WHOLE && k != TYPE_POINTER && !(k == TYPE_REAL && in_loop)) continue;
        if (!c->needed || !is_cheap(s->e) || assignments(whole, c) != 1) continue;
        if (mentions(p, whole, c) != mentions(p, body, c)) continue;
        /* the value of the turn before is asked for there */
        const list earlier = {body->at, i, i};
        if (mentions(p, &earlier, c) != 0) continue;
        if (!is_unchanged(p, s->e, body, &again)) continue;
        s->again = true;
        push(&again, c);
    }
}

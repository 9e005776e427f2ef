/* SPDX-License-Identifier: MIT */
/* cells.c - memory as cells: made, joined where it may be the same, computed of each other. */
#include "convert/cells.h"

cell *real_cell(cell *c) {
    while (c->joined != NULL) {
        if (c->joined->joined != NULL) c->joined = c->joined->joined;
        c = c->joined;
    }
    return c;
}

const type *element(const type *t) {
    while (t != NULL && t->kind == TYPE_ARRAY) t = t->of;
    return t;
}

cell *new_cell(analysis *a, const type *t) {
    cell *const c = arena_get(sizeof *c);
    c->type = element(t);
    a->cells++;
    return c;
}

/* What is called through a pointer has parameters and a result, whatever function it is. */
void make_signature(analysis *a, cell *c) {
    if (c->result != NULL || c->type == NULL || c->type->kind != TYPE_FUNCTION) return;
    for (size_t i = 0; i < c->type->parameters; i++)
        push(&c->parameters, new_cell(a, c->type->parameter[i]));
    c->result = new_cell(a, c->type->of);
    push(&a->signatures, c);
}

cell *target(analysis *a, cell *c) {
    c = real_cell(c);
    if (c->target == NULL) {
        const type *const t =
            c->type != NULL && c->type->kind == TYPE_POINTER ? c->type->of : NULL;
        c->target = new_cell(a, t != NULL && t->kind == TYPE_VOID ? NULL : t);
        make_signature(a, c->target);
    }
    return real_cell(c->target);
}

static void append(list *to, const list *from) {
    for (size_t i = 0; i < from->n; i++) push(to, from->at[i]);
}

static bool differ(const type *a, const type *b) {
    if (a->kind != b->kind) return true;
    if (a->kind == TYPE_REAL) return a->bits != b->bits;
    return a->kind == TYPE_RECORD && a->record != b->record;
}

/* Is a structure of numbers only looked at as an array of them? Then all of its fields are
 * these. */
static bool is_walked(const type *record_type, const type *number) {
    if (record_type->kind != TYPE_RECORD || number->kind != TYPE_REAL) return false;
    const list *const fields = &record_type->record->fields;
    for (size_t i = 0; i < fields->n; i++) {
        const type *const t = element(((decl *)fields->at[i])->type);
        if (t->kind == TYPE_RECORD ? !is_walked(t, number)
                                   : t->kind != TYPE_REAL || t->bits != number->bits)
            return false;
    }
    return fields->n != 0;
}

static const type *first_part(const type *t) {
    return t->kind == TYPE_RECORD && t->record->fields.n != 0
               ? element(((const decl *)t->record->fields.at[0])->type)
               : NULL;
}
/* Does a structure begin with one of the other's type, or both with one of a third? */
static bool begin_alike(const type *t, const type *u) {
    for (; t != NULL && t->kind == TYPE_RECORD; t = first_part(t))
        for (const type *w = u; w != NULL && w->kind == TYPE_RECORD; w = first_part(w))
            if (t->record == w->record) return true;
    return false;
}

void join_numbers(analysis *a, const type *t, cell *number) {
    for (size_t i = 0; i < t->record->fields.n; i++) {
        const decl *const f = t->record->fields.at[i];
        const type *const e = element(f->type);
        if (e->kind == TYPE_RECORD) join_numbers(a, e, number);
        else if (e->kind == TYPE_REAL) join(a, decl_cell(a, NULL, f), number);
    }
}

/* A cell has two types. Structures that begin alike are told apart by who uses them; otherwise
 * numbers may be written as the one and read as the other. */
static void mix(analysis *a, cell *x, const type *t, const type *u) {
    if (begin_alike(t, u)) return;
    mixture *const m = arena_get(sizeof *m);
    *m = (mixture){a->at, x, {t, u}};
    push(&a->mixtures, m);
    if (t->kind == TYPE_RECORD && (u->kind == TYPE_RECORD || u->kind == TYPE_REAL)) {
        cell *const number = u->kind == TYPE_REAL ? x : new_cell(a, NULL);
        join_numbers(a, t, number);
        if (u->kind == TYPE_RECORD) join_numbers(a, u, number);
    } else if (t->kind == TYPE_REAL && u->kind == TYPE_RECORD) join_numbers(a, u, x);
}

static void join_fields(analysis *a, const type *t, cell *number) {
    for (size_t i = 0; i < t->record->fields.n; i++) {
        const decl *const f = t->record->fields.at[i];
        const type *const e = element(f->type);
        if (e->kind == TYPE_RECORD) join_fields(a, e, number);
        else join(a, decl_cell(a, NULL, f), number);
    }
}

void join(analysis *a, cell *x, cell *y) {
    x = real_cell(x), y = real_cell(y);
    if (x == y) return;
    if (x->type != NULL && y->type != NULL &&
        (is_walked(x->type, y->type) || is_walked(y->type, x->type))) {
        join_fields(a, x->type->kind == TYPE_RECORD ? x->type : y->type,
                    x->type->kind == TYPE_RECORD ? y : x);
        return;
    }
    if (x->type == NULL) {
        cell *const z = x;
        x = y, y = z;
    }
    y->joined = x;
    append(&x->to, &y->to), append(&x->from, &y->from);
    if (x->passive == NULL) x->passive = y->passive;
    if (x->open == NULL) x->open = y->open;
    x->forced |= y->forced;
    x->addressed |= y->addressed;
    if (x->declared == NULL) x->declared = y->declared;
    for (size_t i = 0; i < y->versions.n; i++)
        if (!list_has(&x->versions, y->versions.at[i])) push(&x->versions, y->versions.at[i]);
    cell *const tx = x->target, *const ty = y->target, *const rx = x->result,
                *const ry = y->result;
    const list px = x->parameters, py = y->parameters;
    if (tx == NULL) x->target = ty;
    if (rx == NULL) x->result = ry, x->parameters = py;
    if (tx != NULL && ty != NULL) join(a, tx, ty);
    if (rx != NULL && ry != NULL) join(a, rx, ry);
    if (rx != NULL && ry != NULL)
        for (size_t i = 0; i < px.n && i < py.n; i++) join(a, px.at[i], py.at[i]);
    if (x->type != NULL && y->type != NULL && differ(x->type, y->type))
        mix(a, x, x->type, y->type);
}

void flow(cell *from, cell *to) {
    from = real_cell(from), to = real_cell(to);
    if (from == to) return;
    push(&from->to, to);
    push(&to->from, from);
}

cell *cell_of(const analysis *a, const version *v, const decl *d) {
    if (d->kind == DECL_FIELD || d->is_global)
        return a->of_decl[d->number] != NULL ? real_cell(a->of_decl[d->number]) : NULL;
    if (v != NULL && d->owner == v->function && v->of_decl[d->index] != NULL)
        return real_cell(v->of_decl[d->index]);
    return NULL;
}
cell *node_cell(const version *v, const node *n) {
    cell *const c = v->of_node[n->number];
    return c != NULL ? real_cell(c) : NULL;
}

cell *decl_cell(analysis *a, version *v, const decl *d) {
    cell **to;
    if (d->kind == DECL_FIELD || d->is_global || d->owner == NULL) to = &a->of_decl[d->number];
    else if (v != NULL && d->owner == v->function) to = &v->of_decl[d->index];
    else to = &a->of_decl[d->number];
    if (*to == NULL) {
        *to = new_cell(a, d->type);
        (*to)->declared = d;
        cell *c = *to;
        if (d->passive) {
            while (c->type != NULL && c->type->kind == TYPE_POINTER) c = target(a, c);
            c->passive = d;
            push(&a->passive, c);
        } else if (c->type != NULL && c->type->kind == TYPE_REAL) c->open = d;
    }
    return real_cell(*to);
}

/* ---- what is said when all is known ----------------------------------------------------- */

void note(list *to, version *v, const node *n, const char *what) {
    remark *const r = arena_get(sizeof *r);
    *r = (remark){v, n, what};
    push(to, r);
}

/* n is an integer that becomes the pointer c. */
void note_pointer(analysis *a, const node *n, cell *c) {
    mixture *const m = arena_get(sizeof *m);
    *m = (mixture){n, target(a, c), {NULL, NULL}};
    push(&a->from_integers, m);
}

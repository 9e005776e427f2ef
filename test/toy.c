/* SPDX-License-Identifier: MIT */
/* toy.c - see toy.h, which explains all there is. */
#include <stdlib.h>
#include "scalar_rows.h"
#include "toy.h"

static struct toy_node *next(struct toy *t) {
    if (t->n == t->room) {
        t->room = t->room ? 2 * t->room : 64;
        t->node = realloc(t->node, t->room * sizeof *t->node);
        if (t->node == NULL) abort();
    }
    t->node[t->n] = (struct toy_node){0};
    return &t->node[t->n++];
}

size_t toy_leaf(struct toy *t, double value) {
    next(t)->v = value;
    return t->n - 1;
}

static void operands(const struct toy *t, const struct toy_node *i, double *a) {
    for (size_t k = 0; k < i->op->arity; k++) a[k] = t->node[i->from[k]].v;
}

size_t toy_apply(struct toy *t, const struct scalar_row *op, const size_t *from) {
    struct toy_node *i = next(t);
    double a[4] = {0};
    i->op = op;
    for (size_t k = 0; k < op->arity; k++) i->from[k] = from[k];
    operands(t, i, a);
    i->v = op->value(a, 0);
    for (size_t k = 0; k < op->arity; k++) i->p[k] = op->first[k](a, i->v);
    return t->n - 1;
}

double toy_product(double p, double q) { return p == 0 || q == 0 ? 0 : p * q; }

double toy_second(const struct toy *t, const struct toy_node *i, size_t k, size_t l) {
    double a[4] = {0};
    if (i->op->arity > 3) return 0; /* selects */
    scalar_fn *const second = i->op->second[k < l ? k : l][k < l ? l : k];
    operands(t, i, a);
    return second(a, i->v);
}

void toy_clear(struct toy *t) {
    for (size_t i = 0; i < t->n; i++) t->node[i].vt = t->node[i].w = t->node[i].wt = 0;
}

void toy_forward(struct toy *t) {
    for (struct toy_node *i = t->node; i < t->node + t->n; i++)
        for (size_t k = 0; i->op && k < i->op->arity; k++)
            i->vt += toy_product(i->p[k], t->node[i->from[k]].vt);
}

void toy_backward(struct toy *t) {
    for (struct toy_node *i = t->node + t->n; i-- > t->node;)
        for (size_t k = 0; i->op && k < i->op->arity; k++)
            t->node[i->from[k]].w += toy_product(i->p[k], i->w);
}

void toy_twice(struct toy *t) {
    for (struct toy_node *i = t->node + t->n; i-- > t->node;)
        for (size_t k = 0; i->op && k < i->op->arity; k++) {
            struct toy_node *const a = &t->node[i->from[k]];
            a->wt += toy_product(i->p[k], i->wt);
            for (size_t l = 0; l < i->op->arity; l++)
                a->wt += toy_product(
                    i->w, toy_product(toy_second(t, i, k, l), t->node[i->from[l]].vt));
        }
}

void toy_forget(struct toy *t) { t->n = 0; }

void toy_free(struct toy *t) {
    free(t->node);
    *t = (struct toy){0};
}

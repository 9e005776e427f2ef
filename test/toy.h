/* SPDX-License-Identifier: MIT */
/* toy.h - reverse mode differentiation, complete, in a hundred lines: for reading, and as an
 * oracle that shares nothing with the tape but the rows of ops/scalar/scalar.def.
 *
 * A computation is a list of nodes in the order they were computed. A node knows its value, the
 * nodes it came from, and its partial derivatives with respect to them. The chain rule is then
 * a walk along the list: forward   vt = sum_k p_k at_k                          tangents, from
 * the leaves on backward  aw_k += p_k w                                adjoints, from the
 * result on twice     awt_k += p_k wt + w sum_l s_kl at_l          the tangent of the adjoint:
 * H times vt with p_k the first and s_kl the second partials at the node.
 *
 *     struct toy t = {0};
 *     size_t x = toy_leaf(&t, 3), y = toy_leaf(&t, 4);
 *     size_t r = toy_apply(&t, scalar_row_find("hypot"), (size_t[]){x, y});
 *     t.node[r].w = 1;
 *     toy_backward(&t);                                    t.node[x].w is 0.6
 *     toy_free(&t); */
#ifndef WENGERT_TEST_TOY_H
#define WENGERT_TEST_TOY_H

#include <stddef.h>

struct scalar_row; /* scalar_rows.h */

struct toy_node {
    const struct scalar_row *op; /* NULL: a leaf, that is an input or a constant */
    size_t from[4];
    double v, p[4];   /* value, partials */
    double vt, w, wt; /* tangent, adjoint, tangent of the adjoint */
};

struct toy {
    size_t n, room;
    struct toy_node *node;
};

size_t toy_leaf(struct toy *t, double value);
size_t toy_apply(struct toy *t, const struct scalar_row *op, const size_t *from);

/* Sets vt, w and wt of every node to 0; the caller then seeds what it wants. */
void toy_clear(struct toy *t);
void toy_forward(struct toy *t);  /* vt, seeded at the leaves */
void toy_backward(struct toy *t); /* w, seeded at the results */
void toy_twice(struct toy *t);    /* wt, after both of the others */

/* The second partial of a node with respect to its operands k and l. */
double toy_second(const struct toy *t, const struct toy_node *i, size_t k, size_t l);
/* A product of derivatives: exactly 0 when either is, whatever the other. */
double toy_product(double p, double q);

void toy_forget(struct toy *t); /* all nodes; memory is kept */
void toy_free(struct toy *t);

#endif

/* SPDX-License-Identifier: MIT */
/* solution.h - y = f(x, p) of three vectors, which is computed elsewhere, as nodes of functions:
 * what a solution of a differential equation is there. Internal.
 *
 * A node has the address of an object among its numbers (whole.h), which lives as long as the
 * function. Letters: w an adjoint of y; u, v tangents of x and p. */
#ifndef WGI_OPS_MATRIX_SOLUTION_H
#define WGI_OPS_MATRIX_SOLUTION_H

#include <wengert/block.h>

/* The results of a node, from its operands:
 *     y from x, p                 w'J, of x and of p, from x, p, w
 *     J (u, v) from x, p, u, v    the gradients of w'J (u, v) by x and p, from x, p, w, u, v */
typedef enum wgi_ode_node_part {
    WGI_ODE_PART_VALUE,
    WGI_ODE_PART_BACK,
    WGI_ODE_PART_TANGENT,
    WGI_ODE_PART_SECOND
} wgi_ode_node_part;

typedef struct wgi_ode_object {
    size_t n, m, k; /* entries of x, p, y */
    /* vectors as above, in b->in and b->out; work as many bytes as `work` says */
    wg_status (*run)(const struct wgi_ode_object *o, wgi_ode_node_part part, wg_block *b);
    size_t (*work)(const struct wgi_ode_object *o, wgi_ode_node_part part);
    const char *lacks[WGI_ODE_PART_SECOND + 1]; /* why there is no such part; NULL: there is */
} wgi_ode_object;

#endif

/* SPDX-License-Identifier: MIT */
/* graph_walk.h - a function evaluated at one point, node by node, with libm's own functions. */
#ifndef WENGERT_TEST_GRAPH_WALK_H
#define WENGERT_TEST_GRAPH_WALK_H

#include <stddef.h>
#include <wengert/function.h>

/* All inputs one after the other, all outputs likewise; a sum is that of the one point.
 * 0, or -1: out of memory. */
int graph_walk(const wg_function *f, const double *x, double *y);
/* Entries of all inputs, of all outputs. */
size_t graph_entries_in(const wg_function *f);
size_t graph_entries_out(const wg_function *f);

#endif

/* SPDX-License-Identifier: MIT */
/* dense_walk.h - an operation on whole matrices at one point, in plain loops. */
#ifndef WENGERT_TEST_DENSE_WALK_H
#define WENGERT_TEST_DENSE_WALK_H

#include "tape/function/graph/repeat.h"

/* Is there one, also in what is repeated? */
static inline int dense_is_in(const wg_function *f) {
    for (size_t i = 0; i < f->nodes; i++)
        if (f->node[i].kind == WGI_NODE_DENSE) return 1;
    for (size_t k = 0; k < f->repeats; k++)
        if (dense_is_in(f->repeat[k].body)) return 1;
    return 0;
}

/* 0, or -1: out of memory. */
int dense_walk(const wgi_dense_op *op, const double *x, double *y);

#endif

/* SPDX-License-Identifier: MIT */
/* dense_walk.h - an operation on whole matrices at one point, in plain loops. */
#ifndef WENGERT_TEST_DENSE_WALK_H
#define WENGERT_TEST_DENSE_WALK_H

#include "ops/matrix/dense_values.h"

/* 0, or -1: out of memory. */
int dense_walk(const wgi_dense_op *op, const double *x, double *y);

#endif

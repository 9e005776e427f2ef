/* SPDX-License-Identifier: MIT */
/* second_order_batches.h - the batches of second_order.c. */
#ifndef WENGERT_BENCH_SECOND_ORDER_BATCHES_H
#define WENGERT_BENCH_SECOND_ORDER_BATCHES_H

#include <wengert.h>

/* A function of n inputs, and where it is taken. */
struct second_function {
    const char *name, *title;
    wg_real (*f)(wg_tape *t, size_t n, const wg_real *x);
    size_t n;
    double scale;  /* of a matrix: times numbers from -1 to 1; 0: a chain */
    double more;   /* on its diagonal */
    size_t stride; /* from one element of the diagonal to the next */
};

/* 1,000 matrices of 4 x 4 and 100 of 32 x 32, of everything in batch.h. */
enum { SECOND_BATCHES = 26 };
extern const struct second_function second_batches[SECOND_BATCHES];

#endif

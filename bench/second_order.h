/* SPDX-License-Identifier: MIT */
/* second_order.h - another library that computes the products of second_order.c. */
#ifndef WENGERT_BENCH_SECOND_ORDER_H
#define WENGERT_BENCH_SECOND_ORDER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A Gaussian process of so many points in so many dimensions; attention of tokens so wide. */
enum { SECOND_POINTS = 200, SECOND_DIM = 3, SECOND_TOKENS = 64, SECOND_WIDTH = 32 };

struct second_peer {
    const char *name, *version;
    /* Of the function with that name: n inputs x and a direction v, as second_order.c has them.
     * `data`: of the process: points, column after column, and then observations. 0, or
     * nonzero: not for this peer. */
    int (*open)(const char *function, size_t n, const double *x, const double *v,
                const double *data);
    /* All in one: forgets the last one, records, sweeps; hv is NULL: not wanted. 0, or nonzero:
     * failed. */
    int (*gradient)(double *g);
    int (*product)(double *hv);
    void (*close)(void);
};

#ifdef __cplusplus
}
#endif

#endif

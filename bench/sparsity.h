/* SPDX-License-Identifier: MIT */
/* sparsity.h - the problems of sparsity.c, for those who compute the same. */
#ifndef WENGERT_BENCH_SPARSITY_H
#define WENGERT_BENCH_SPARSITY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The Jacobian of the residuals of Bratu's problem on a grid of side^2 = n cells,
 * y = west + east + south + north + source exp(u) - 4 u; and the Hessian, its lower or upper
 * triangle, of Rosenbrock's chained function of n variables. */
enum sparsity_problem { SPARSITY_BRATU, SPARSITY_ROSENBROCK, SPARSITY_PROBLEMS };

struct sparsity_case {
    enum sparsity_problem problem;
    size_t n, side;
    double source;
    const double *x;
};

/* Entries in coordinates; they live until the next call. */
struct sparsity_entries {
    size_t count;
    const unsigned *row, *col;
    const double *value;
};

struct sparsity_peer {
    const char *name, *version;
    /* Records, finds pattern and colours, and gives the entries; 0, or -1. */
    int (*first)(const struct sparsity_case *c, struct sparsity_entries *e);
    /* The entries again, at c->x: recorded anew, or not. */
    int (*again)(const struct sparsity_case *c, int record, struct sparsity_entries *e);
    void (*close)(void);
    size_t largest; /* n beyond which it takes too long */
};

#ifdef __cplusplus
}
#endif

#endif

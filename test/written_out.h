/* SPDX-License-Identifier: MIT */
/* written_out.h - operations on matrices as parts of functions, where they are written out in
 * scalar statements or their elements are followed: against the same operations on a
 * written_out_tape, by their own value, vjp and jvp. Both are independent of each other.
 *
 * Each case is recorded once, and compared at that point and at another one: values; the
 * Jacobian function with wg_jacobian; the Hessian function, in a random direction, with
 * differences of wg_vjp. Functions are evaluated by graph_walk. */
#ifndef WENGERT_TEST_WRITTEN_OUT_H
#define WENGERT_TEST_WRITTEN_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <wengert.h>

/* A value or Jacobian against that of the block, in units of DBL_EPSILON times the largest
 * entry: sums of some ten terms in another order, systems of condition 10 or so. */
#define TOL_WRITTEN_OUT 1024.0

enum { INS = 5, OUTS = 4, WRITTEN_OUT_MOST = 512 };

/* How an operand is filled: numbers in [-1, 1]; in [0.5, 1.5]; a symmetric positive definite
 * matrix; [-1, 1] and 3 on the diagonal; members of a batch of two such. */
enum fill { PLAIN, POSITIVE, SPD, HEAVY, SPD2, HEAVY2 };

struct shape {
    size_t rows, cols;
    enum fill fill;
};

struct written_out_results {
    size_t count;
    wg_mat mat[OUTS];
};
static inline void written_out_put(struct written_out_results *r, wg_mat a) {
    r->mat[r->count++] = a;
}
static inline void written_out_put_number(struct written_out_results *r, wg_tape *t,
                                          wg_real x) {
    written_out_put(r, wg_mat_gather(t, 1, 1, &x));
}

typedef void record_fn(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                       const void *data);

struct written_out {
    const char *name;
    record_fn *record;
    const void *data;
    struct shape in[INS];
    int symmetrise; /* operands that are symmetric are made so of what is given */
};

extern wg_tape *written_out_tape; /* keeps code */
extern uint64_t written_out_seed;
/* Of a group of tests. */
int written_out_open(void **state);
int written_out_close(void **state);

/* The operation as a callback, of all its operands; how many entries these have. */
wg_status written_out_call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data);
size_t written_out_entries(const struct written_out *c);
/* How many numbers it gives. */
size_t written_out_results_of(const struct written_out *c, const double *x);
void written_out_fill(const struct written_out *c, double *x);
wg_function *written_out_recorded(const struct written_out *c, const double *x, size_t m);

/* The test fails, by that name, unless this is WG_OK. */
void written_out_must(const char *name, wg_status s);
double *written_out_room(size_t n);
/* Value and Jacobian at a point. */
void written_out_check_at(const struct written_out *c, size_t m, const wg_function *f,
                          const wg_function *jacobian, const double *x, const char *where);
/* The Hessian function of w y. */
void written_out_check_curvature(const struct written_out *plain, size_t m, const double *x);
/* All of it, recorded at x; at a point of the case's own. */
void written_out_check_near(const struct written_out *c, const double *x, int curvature);
void written_out_check(const struct written_out *c);

/* The table of cases: those of operations that the library was built with. NULL: no more. */
const struct written_out *written_out_case(size_t k);
const struct written_out *written_out_find(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* cases.h - a call on all ranks: values against MPI's own call on numbers, tangents against
 * that of linear ones, adjoints against tangents by <w, J v> = <J' w, v>, summed over all
 * ranks. */
#ifndef WENGERT_MPI_CASES_H
#define WENGERT_MPI_CASES_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "ranks.h"
#include "test/tolerance.h"

enum { N = 6, MOST = 64, LANES = 3 };

/* What a case does with N numbers of each rank: y, as many as it returns. */
typedef size_t on_variables(wg_tape *t, const wg_real *x, wg_real *y);
typedef void on_numbers(const double *x, double *y);

static inline int right(void) { return (rank + 1) % size; }
static inline int left(void) { return (rank + size - 1) % size; }

static inline size_t elements(wg_mat a, wg_real *y) {
    size_t n = 0;
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) y[n++] = wg_mat_at(a, i, j);
    return n;
}

static inline void fill(size_t n, double *x) {
    for (size_t i = 0; i < n; i++) x[i] = random_number();
}

static inline double dot(size_t n, const double *a, const double *b, double *scale) {
    double sum = 0, all[2], mine[2] = {0, 0};
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i], mine[1] += fabs(a[i] * b[i]);
    mine[0] = sum;
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    *scale = fmax(*scale, all[1]);
    return all[0];
}

static inline void all_same_product(size_t k, const double *w, const double *yt,
                                    const double *g, const double *v) {
    double scale = 0;
    const double a = dot(k, w, yt, &scale), b = dot(N, g, v, &scale);
    all(fabs(a - b) <= TOL_FORWARD_REVERSE_ULP * DBL_EPSILON * scale);
}

/* All of a case: in one lane, and in several at once. */
static inline void check(on_variables *f, on_numbers *plain, int linear) {
    double a[N], v[LANES][N], w[LANES * MOST], g[LANES * N], yt[LANES][MOST], numbers[MOST];
    wg_real x[N], y[MOST];
    wg_tape *const t = wg_tape_new(NULL);
    fill(N, a), fill(LANES * N, v[0]), fill(LANES * MOST, w);
    restart_shuffling();
    assert_ok(t, wg_tape_forward(t, LANES));
    assert_ok(t, wg_inputs(t, N, a, x));
    for (size_t i = 0; i < N; i++)
        for (size_t l = 0; l < LANES; l++) assert_ok(t, wg_tangent_seed(t, x[i], l, v[l][i]));
    const size_t n = f(t, x, y);
    assert_ok(t, wg_tape_status(t));
    for (size_t l = 0; l < LANES; l++)
        for (size_t i = 0; i < n; i++) yt[l][i] = wg_tangent(t, y[i], l);

    wg_tape_reset(t);
    assert_ok(t, wg_tape_forward(t, 0));
    restart_shuffling();
    assert_ok(t, wg_inputs(t, N, a, x));
    all(f(t, x, y) == n);
    assert_ok(t, wg_tape_status(t));
    int good = 1;
    if (plain != NULL) plain(a, numbers);
    for (size_t i = 0; plain != NULL && i < n; i++) good &= y[i].value == numbers[i];
    all(good);
    for (size_t l = 0; linear && plain != NULL && l < LANES; l++) {
        plain(v[l], numbers);
        for (size_t i = 0; i < n; i++)
            good &= fabs(yt[l][i] - numbers[i]) <= TOL_ORDER_ULP * size * DBL_EPSILON * size;
    }
    all(good);

    double one[MOST];
    for (size_t i = 0; i < n; i++) one[i] = w[i * LANES];
    for (int again = 0; again < 2; again++) {
        assert_ok(t, n != 0 ? wg_reverse_seeds(t, n, y, one)
                            : wg_reverse_seeds(t, 1, (wg_real[]){wg_constant(1)}, one));
        assert_ok(t, wg_adjoints(t, N, x, g));
        all_same_product(n, one, yt[0], g, v[0]);
    }
    assert_ok(t, wg_mpi_reverse_lanes(t, LANES, n, y, w, m));
    assert_ok(t, wg_adjoints_lanes(t, N, x, LANES, g, N));
    for (size_t l = 0; l < LANES; l++) {
        for (size_t i = 0; i < n; i++) one[i] = w[i * LANES + l];
        all_same_product(n, one, yt[l], g + l * N, v[l]);
    }
    wg_tape_free(t);
}

#define CASE(NAME, F, PLAIN, LINEAR)                                                           \
    static void NAME(void **state) {                                                           \
        (void)state;                                                                           \
        check(F, PLAIN, LINEAR);                                                               \
    }

#endif

/* SPDX-License-Identifier: MIT */
/* matrices.h - matrices on one tape and in parts on ranks, and what is computed of them in
 * either place. */
#ifndef WENGERT_SCALAPACK_MATRICES_H
#define WENGERT_SCALAPACK_MATRICES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <wengert/scalapack.h>
#include "ranks.h"
#include "test/tolerance.h"

enum { LANES = 2, OUTPUTS = 2, MOST = 13 * 13 };

static inline int close_ranks(int failed) {
    (void)wg_mpi_free(m);
    MPI_Finalize();
    return failed;
}

/* Numbers in [1/2, 1), the same on all ranks. */
static inline void fill(size_t n, double *x) {
    static uint64_t at;
    for (size_t i = 0; i < n; i++) x[i] = number_of(&at);
}

/* ---- a matrix, whole or in parts --------------------------------------------------------- */

typedef struct whole {
    size_t rows, cols;
    double x[MOST], tangent[LANES][MOST];
    int varies;
} whole;

/* Where it is: on a grid in blocks, or (NULL) on one tape. */
typedef struct place {
    wg_scalapack *g;
    size_t block;
} place;

static inline size_t rows_here(place p, size_t n) {
    return p.g == NULL ? n : wg_scalapack_rows(p.g, n, p.block);
}
static inline size_t cols_here(place p, size_t n) {
    return p.g == NULL ? n : wg_scalapack_cols(p.g, n, p.block);
}
static inline size_t number(place p, size_t rows, size_t i, size_t j) {
    if (p.g == NULL) return i + j * rows;
    return wg_scalapack_row(p.g, i, p.block) + wg_scalapack_col(p.g, j, p.block) * rows;
}

static inline void take(place p, const whole *a, const double *from, double *to) {
    const size_t rows = rows_here(p, a->rows), cols = cols_here(p, a->cols);
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) to[i + j * rows] = from[number(p, a->rows, i, j)];
}

/* With tangents on a forward tape. */
static inline wg_mat bring(wg_tape *t, place p, const whole *a, int forward) {
    double here[MOST];
    const size_t rows = rows_here(p, a->rows), cols = cols_here(p, a->cols);
    take(p, a, a->x, here);
    if (!a->varies) return wg_mat_constant(t, rows, cols, here, rows);
    const wg_mat x = wg_mat_input(t, rows, cols, here, rows);
    for (size_t l = 0; forward && l < LANES && rows * cols != 0; l++) {
        take(p, a, a->tangent[l], here);
        if (wg_mat_tangent_seed(t, x, l, here, rows) != WG_OK) return wg_mat_failed(rows, cols);
    }
    return x;
}

/* ---- a computation, in one place or the other -------------------------------------------- */

typedef struct operands {
    whole a, b, w; /* w: weights */
    char ta, tb;
    int solves;
} operands;

typedef struct results {
    double y[OUTPUTS], tangent[OUTPUTS][LANES], a_bar[LANES][MOST], b_bar[LANES][MOST], r[MOST];
} results;

static inline void compute(wg_tape *t, place p, const operands *o, wg_mat a, wg_mat b,
                           wg_real *y, double *r) {
    const size_t n = o->w.rows, k = o->w.cols;
    const wg_mat w = bring(t, p, &o->w, 0);
    wg_mat part;
    wg_real log = wg_constant(0);
    if (p.g == NULL) {
        if (o->solves) part = wg_solve_spd(t, a, b), log = wg_logdet_spd(t, a);
        else part = wg_gemm(t, o->ta, o->tb, 1.5, a, b, 0, w);
        y[0] = wg_mat_dot(t, part, w), y[1] = wg_mat_dot(t, part, part);
    } else {
        const wg_scalapack_mat d = wg_scalapack_local(t, p.g, o->a.rows, o->a.cols, p.block, a);
        const wg_scalapack_mat e = wg_scalapack_local(t, p.g, o->b.rows, o->b.cols, p.block, b);
        const wg_scalapack_mat weights = wg_scalapack_local(t, p.g, n, k, p.block, w);
        wg_scalapack_mat x;
        if (o->solves) wg_scalapack_solve_spd(t, d, e, &x, &log);
        else x = wg_scalapack_gemm(t, o->ta, o->tb, 1.5, d, e);
        part = x.local;
        y[0] = wg_scalapack_dot(t, x, weights), y[1] = wg_scalapack_dot(t, x, x);
    }
    y[1] = wg_let(t, wg_add(wg_mul(0.5, y[1]), wg_mul(2, log)));
    if (part.rows * part.cols != 0 && wg_mat_value(t, part, r, part.rows) != WG_OK) *r = NAN;
}

/* A number that all ranks have is seeded on the last one. */
static inline results run(place p, const operands *o) {
    static const double seeds[OUTPUTS * LANES] = {1, 0.3, -0.7, 2}, none[OUTPUTS * LANES] = {0};
    results r = {0};
    wg_real y[OUTPUTS];
    wg_tape *const t = wg_tape_new(NULL);
    assert_ok(t, wg_tape_forward(t, LANES));
    wg_mat a = bring(t, p, &o->a, 1), b = bring(t, p, &o->b, 1);
    compute(t, p, o, a, b, y, r.r);
    assert_ok(t, wg_tape_status(t));
    for (size_t k = 0; k < OUTPUTS; k++)
        for (size_t l = 0; l < LANES; l++) r.tangent[k][l] = wg_tangent(t, y[k], l);

    wg_tape_reset(t);
    assert_ok(t, wg_tape_forward(t, 0));
    a = bring(t, p, &o->a, 0), b = bring(t, p, &o->b, 0);
    compute(t, p, o, a, b, y, r.r);
    assert_ok(t, wg_tape_status(t));
    for (size_t k = 0; k < OUTPUTS; k++) r.y[k] = y[k].value;
    const double *const w = p.g == NULL || rank == size - 1 ? seeds : none;
    const wg_status swept = p.g == NULL ? wg_reverse_lanes(t, LANES, OUTPUTS, y, w)
                                        : wg_mpi_reverse_lanes(t, LANES, OUTPUTS, y, w, m);
    if (swept == WG_ESEED && p.g == NULL) { /* of empty matrices: nothing depends on anything */
        wg_tape_free(t);
        return r;
    }
    assert_ok(t, swept);
    for (size_t l = 0; l < LANES; l++) {
        const size_t lda = a.rows > 0 ? a.rows : 1, ldb = b.rows > 0 ? b.rows : 1;
        assert_ok(t, wg_mat_adjoint_lane(t, a, l, r.a_bar[l], lda));
        assert_ok(t, wg_mat_adjoint_lane(t, b, l, r.b_bar[l], ldb));
    }
    if (p.g != NULL) { /* one lane is a sweep of its own */
        double one[OUTPUTS] = {w[0], w[LANES]}, bar[MOST];
        assert_ok(t, wg_reverse_seeds(t, OUTPUTS, y, one));
        assert_ok(t, wg_mat_adjoint(t, b, bar, b.rows > 0 ? b.rows : 1));
        int good = 1;
        for (size_t i = 0; i < b.rows * b.cols; i++)
            good &= close_ulp(bar[i], r.b_bar[0][i], TOL_PROGRAM_ULP);
        all(good);
    }
    wg_tape_free(t);
    return r;
}

/* Sums of some thirty products; of systems times their condition, which is below 100. */
static inline int close(double got, double wanted, double scale) {
    return fabs(got - wanted) <= 30 * 100 * TOL_ORDER_ULP * DBL_EPSILON * scale;
}
static inline double largest(size_t n, const double *x) {
    double a = 1;
    for (size_t i = 0; i < n; i++) a = fmax(a, fabs(x[i]));
    return a;
}
static inline int same_part(place p, const whole *shape, const double *got,
                            const double *wanted) {
    double here[MOST];
    const double scale = largest(shape->rows * shape->cols, wanted);
    int good = 1;
    take(p, shape, wanted, here);
    for (size_t i = 0; i < rows_here(p, shape->rows) * cols_here(p, shape->cols); i++)
        good &= close(got[i], here[i], scale);
    return good;
}

static inline void compare(place p, const operands *o) {
    const results one = run((place){NULL, 0}, o), these = run(p, o);
    for (size_t k = 0; k < OUTPUTS; k++) {
        all(close(these.y[k], one.y[k], fmax(1, fabs(one.y[k]))));
        for (size_t l = 0; l < LANES; l++)
            all(close(these.tangent[k][l], one.tangent[k][l], largest(1, &one.tangent[k][l])));
    }
    all(same_part(p, &o->w, these.r, one.r));
    for (size_t l = 0; l < LANES; l++) {
        all(!o->a.varies || same_part(p, &o->a, these.a_bar[l], one.a_bar[l]));
        all(!o->b.varies || same_part(p, &o->b, these.b_bar[l], one.b_bar[l]));
    }
    double same[2] = {these.y[0], these.y[1]}; /* bits, on all ranks */
    MPI_Bcast(same, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    all(memcmp(same, these.y, sizeof same) == 0);
}

static inline void shape(whole *a, size_t rows, size_t cols) {
    a->rows = rows, a->cols = cols, a->varies = 1;
    fill(rows * cols, a->x);
    for (size_t l = 0; l < LANES; l++) fill(rows * cols, a->tangent[l]);
}
/* Positive definite, with a condition below 100. */
static inline void make_definite(whole *a) {
    const size_t n = a->rows;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            a->x[i + j * n] =
                i == j ? (double)n + (double)j : a->x[i > j ? i + j * n : j + i * n];
}

/* On all grids of these ranks, in small blocks and large ones. */
static inline void everywhere(const operands *o) {
    static const size_t blocks[] = {1, 2, 5, 64};
    for (int rows = 1; rows <= size; rows++) {
        if (size % rows != 0) continue;
        wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, rows, size / rows);
        all(g != NULL);
        for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
            compare((place){g, blocks[k]}, o);
        wg_scalapack_free(g);
    }
}

static inline operands a_product(char ta, char tb, size_t rows, size_t cols, size_t inner) {
    operands o = {.ta = ta, .tb = tb};
    o.w.varies = 0;
    shape(&o.a, ta == 'N' ? rows : inner, ta == 'N' ? inner : rows);
    shape(&o.b, tb == 'N' ? inner : cols, tb == 'N' ? cols : inner);
    shape(&o.w, rows, cols);
    o.w.varies = 0;
    return o;
}
static inline operands a_system(size_t n, size_t k) {
    operands o = a_product('N', 'N', n, k, n);
    make_definite(&o.a);
    o.solves = 1;
    return o;
}

static inline wg_scalapack_mat some(wg_tape *t, place p, const whole *a) {
    return wg_scalapack_local(t, p.g, a->rows, a->cols, p.block, bring(t, p, a, 0));
}

#endif

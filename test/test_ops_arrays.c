/* SPDX-License-Identifier: MIT */
/* test_ops_arrays.c - BLAS and LAPACK on arrays of variables (wengert/blas.h) at random flags,
 * sizes, increments and leading dimensions: values are those of CBLAS and LAPACKE, also in the
 * places that a call leaves alone; derivatives those of finite differences; refusals. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <cblas.h>
#include <float.h>
#include <limits.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "counted.h"
#include "depth.h"
#include "sanitized.h"
#include "tolerance.h"
#include "walk.h"

enum { PLACES = 22, INPUTS = 3 * PLACES + 2, MOST = 4 };

typedef enum routine {
    DDOT,
    DNRM2,
    DASUM,
    DAXPY,
    DSCAL,
    DCOPY,
    DSWAP,
    DGEMV,
    DSYMV,
    DGER,
    DTRMV,
    DTRSV,
    DGEMM,
    DSYMM,
    DSYRK,
    DTRMM,
    DTRSM,
    DGETRF,
    DGETRS,
    DGESV,
    DPOTRF,
    DPOTRS,
    DPOSV,
    DGELS,
    DSYEV,
    ROUTINES
} routine;

typedef struct trial {
    routine of;
    int order, ta, tb, uplo, diag, side, m, n, k, lda, ldb, ldc, incx, incy;
    bool numbers; /* what is only read is of numbers */
    int pivot[MOST];
    double start[INPUTS];
} trial;

static bool is_read_only(const trial *r) {
    return r->of == DDOT || r->of == DNRM2 || r->of == DASUM ||
           (r->of >= DGEMV && r->of <= DTRSM) || r->of == DGETRS || r->of == DPOTRS ||
           r->of == DAXPY || r->of == DCOPY;
}
static int letter(int flag, const char *letters) { return letters[(flag - 1) % 10]; }

/* With CBLAS and LAPACKE. a, b, c; the result of a function goes to c. */
static void by_library(trial *r, double *a, double *b, double *c, double alpha, double beta) {
    const CBLAS_ORDER o = (CBLAS_ORDER)r->order;
    const CBLAS_TRANSPOSE ta = (CBLAS_TRANSPOSE)r->ta, tb = (CBLAS_TRANSPOSE)r->tb;
    const CBLAS_UPLO u = (CBLAS_UPLO)r->uplo;
    const CBLAS_DIAG d = (CBLAS_DIAG)r->diag;
    const CBLAS_SIDE s = (CBLAS_SIDE)r->side;
    const int m = r->m, n = r->n, k = r->k;
    const char ul = (char)letter(r->uplo, "UL"), t = (char)letter(r->ta, "NT");
    double spare[PLACES];
    switch (r->of) {
    case DDOT:
        c[0] = cblas_ddot(n, a, r->incx, b, r->incy);
        break;
    case DNRM2:
        c[0] = cblas_dnrm2(n, a, abs(r->incx));
        break;
    case DASUM:
        c[0] = cblas_dasum(n, a, r->incx);
        break;
    case DAXPY:
        cblas_daxpy(n, alpha, a, r->incx, c, r->incy);
        break;
    case DSCAL:
        cblas_dscal(n, alpha, c, abs(r->incy));
        break;
    case DCOPY:
        cblas_dcopy(n, a, r->incx, c, r->incy);
        break;
    case DSWAP:
        cblas_dswap(n, b, r->incx, c, r->incy);
        break;
    case DGEMV:
        cblas_dgemv(o, ta, m, n, alpha, a, r->lda, b, r->incx, beta, c, r->incy);
        break;
    case DSYMV:
        cblas_dsymv(o, u, n, alpha, a, r->lda, b, r->incx, beta, c, r->incy);
        break;
    case DGER:
        cblas_dger(o, m, n, alpha, a, r->incx, b, r->incy, c, r->ldc);
        break;
    case DTRMV:
        cblas_dtrmv(o, u, ta, d, n, a, r->lda, c, r->incy);
        break;
    case DTRSV:
        cblas_dtrsv(o, u, ta, d, n, a, r->lda, c, r->incy);
        break;
    case DGEMM:
        cblas_dgemm(o, ta, tb, m, n, k, alpha, a, r->lda, b, r->ldb, beta, c, r->ldc);
        break;
    case DSYMM:
        cblas_dsymm(o, s, u, m, n, alpha, a, r->lda, b, r->ldb, beta, c, r->ldc);
        break;
    case DSYRK:
        cblas_dsyrk(o, u, ta, n, k, alpha, a, r->lda, beta, c, r->ldc);
        break;
    case DTRMM:
        cblas_dtrmm(o, s, u, ta, d, m, n, alpha, a, r->lda, c, r->ldc);
        break;
    case DTRSM:
        cblas_dtrsm(o, s, u, ta, d, m, n, alpha, a, r->lda, c, r->ldc);
        break;
    case DGETRF:
        (void)LAPACKE_dgetrf(r->order, n, n, c, r->lda, r->pivot);
        break;
    case DGETRS:
        (void)LAPACKE_dgetrs(r->order, t, n, k, a, r->lda, r->pivot, c, r->ldc);
        break;
    case DGESV:
        (void)LAPACKE_dgesv(r->order, n, k, b, r->lda, r->pivot, c, r->ldc);
        break;
    case DPOTRF:
        (void)LAPACKE_dpotrf(r->order, ul, n, c, r->lda);
        break;
    case DPOTRS:
        (void)LAPACKE_dpotrs(r->order, ul, n, k, a, r->lda, c, r->ldc);
        break;
    case DPOSV:
        (void)LAPACKE_dposv(r->order, ul, n, k, b, r->lda, c, r->ldc);
        break;
    case DGELS:
        (void)LAPACKE_dgels(r->order, t, m, n, k, b, r->lda, c, r->ldc);
        break;
    case DSYEV:
        memcpy(spare, b, sizeof spare);
        (void)LAPACKE_dsyev(r->order, 'V', ul, n, spare, r->lda, c);
        break;
    default:
        fail();
    }
}

/* With variables: the same calls. */
static void by_variables(trial *r, wg_tape *t, wg_array a, wg_array b_, wg_real *b, wg_real *c,
                         wg_real alpha, wg_real beta) {
    const int o = r->order, m = r->m, n = r->n, k = r->k, u = r->uplo, d = r->diag, s = r->side;
    switch (r->of) {
    case DDOT:
        c[0] = wg_ddot(t, n, a, r->incx, b_, r->incy);
        break;
    case DNRM2:
        c[0] = wg_dnrm2(t, n, a, abs(r->incx));
        break;
    case DASUM:
        c[0] = wg_dasum(t, n, a, r->incx);
        break;
    case DAXPY:
        wg_daxpy(t, n, alpha, a, r->incx, c, r->incy);
        break;
    case DSCAL:
        wg_dscal(t, n, alpha, c, abs(r->incy));
        break;
    case DCOPY:
        wg_dcopy(t, n, a, r->incx, c, r->incy);
        break;
    case DSWAP:
        wg_dswap(t, n, b, r->incx, c, r->incy);
        break;
    case DGEMV:
        wg_dgemv(t, o, r->ta, m, n, alpha, a, r->lda, b_, r->incx, beta, c, r->incy);
        break;
    case DSYMV:
        wg_dsymv(t, o, u, n, alpha, a, r->lda, b_, r->incx, beta, c, r->incy);
        break;
    case DGER:
        wg_dger(t, o, m, n, alpha, a, r->incx, b_, r->incy, c, r->ldc);
        break;
    case DTRMV:
        wg_dtrmv(t, o, u, r->ta, d, n, a, r->lda, c, r->incy);
        break;
    case DTRSV:
        wg_dtrsv(t, o, u, r->ta, d, n, a, r->lda, c, r->incy);
        break;
    case DGEMM:
        wg_dgemm(t, o, r->ta, r->tb, m, n, k, alpha, a, r->lda, b_, r->ldb, beta, c, r->ldc);
        break;
    case DSYMM:
        wg_dsymm(t, o, s, u, m, n, alpha, a, r->lda, b_, r->ldb, beta, c, r->ldc);
        break;
    case DSYRK:
        wg_dsyrk(t, o, u, r->ta, n, k, alpha, a, r->lda, beta, c, r->ldc);
        break;
    case DTRMM:
        wg_dtrmm(t, o, s, u, r->ta, d, m, n, alpha, a, r->lda, c, r->ldc);
        break;
    case DTRSM:
        wg_dtrsm(t, o, s, u, r->ta, d, m, n, alpha, a, r->lda, c, r->ldc);
        break;
    case DGETRF:
        (void)wg_dgetrf(t, o, n, n, c, r->lda, r->pivot);
        break;
    case DGETRS:
        (void)wg_dgetrs(t, o, r->ta, n, k, a, r->lda, r->pivot, c, r->ldc);
        break;
    case DGESV:
        (void)wg_dgesv(t, o, n, k, b, r->lda, r->pivot, c, r->ldc);
        break;
    case DPOTRF:
        (void)wg_dpotrf(t, o, u, n, c, r->lda);
        break;
    case DPOTRS:
        (void)wg_dpotrs(t, o, u, n, k, a, r->lda, c, r->ldc);
        break;
    case DPOSV:
        (void)wg_dposv(t, o, u, n, k, b, r->lda, c, r->ldc);
        break;
    case DGELS:
        (void)wg_dgels(t, o, r->ta, m, n, k, b, r->lda, c, r->ldc);
        break;
    case DSYEV:
        (void)wg_dsyev(t, o, 'N', u, n, b, r->lda, c);
        break;
    default:
        fail();
    }
}

/* x: a, b, c, alpha, beta; y: b and c behind the call, where they have a meaning. */
static wg_status called(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    trial *const r = data;
    wg_real b[PLACES], c[PLACES];
    const bool numbers = r->numbers && is_read_only(r);
    (void)n;
    memcpy(b, x + PLACES, sizeof b);
    memcpy(c, x + 2 * PLACES, sizeof c);
    by_variables(r, t, numbers ? wg_array_of_numbers(r->start) : WG_ARRAY(x),
                 numbers ? wg_array_of_numbers(r->start + PLACES) : WG_ARRAY(x + PLACES), b, c,
                 x[3 * PLACES], x[3 * PLACES + 1]);
    for (size_t i = 0; i < m; i++) {
        y[i] = i < PLACES ? b[i] : c[i - PLACES];
        if (isnan(wg_value(y[i])) && (r->of == DGELS || r->of == DSYEV)) y[i] = wg_constant(0);
    }
    return WG_OK;
}

static int pick(uint64_t *seed, int least, int most) {
    const int n = (int)floor((walk_number(seed) + 2) * 1e6);
    return least + n % (most - least + 1);
}

static trial random_trial(routine of, uint64_t *seed) {
    trial r = {.of = of,
               .order = pick(seed, 101, 102),
               .ta = pick(seed, 111, 112),
               .tb = pick(seed, 111, 112),
               .uplo = pick(seed, 121, 122),
               .diag = pick(seed, 131, 132),
               .side = pick(seed, 141, 142),
               .m = pick(seed, 1, MOST),
               .n = pick(seed, 1, MOST),
               .k = pick(seed, 1, MOST),
               .lda = pick(seed, MOST, 5),
               .ldb = pick(seed, MOST, 5),
               .ldc = pick(seed, MOST, 5),
               .incx = pick(seed, 1, 3),
               .incy = pick(seed, 1, 3),
               .numbers = pick(seed, 0, 2) == 0};
    if (pick(seed, 0, 1) != 0) r.incx = -r.incx;
    if (pick(seed, 0, 1) != 0) r.incy = -r.incy;
    for (size_t i = 0; i < INPUTS; i++) r.start[i] = walk_number(seed);
    for (int i = 0; i < MOST;
         i++) /* triangles that can be solved, matrices that are positive definite */
        for (int part = 0; part < 3; part++)
            r.start[part * PLACES + i * (r.lda + 1)] += part == 0 && of <= DTRSM ? 3 : 6;
    for (int i = 0; i < MOST; i++) r.pivot[i] = pick(seed, i + 1, r.n > i ? r.n : i + 1);
    return r;
}

/* Calls of a routine that are drawn. */
static int trials(void) { return SANITIZED ? 3 : is_deep() ? 12 : 4; }

/* A call obtains memory for its arrays, and gives it back: to ask the system each time takes ten
 * times as long as all else. */
static wg_tape *frugal_tape(struct counted *m) {
    return wg_tape_new(&(wg_options){.memory = counted_memory(m)});
}

static void values_and_derivatives_are_those_of_the_calls(void **state) {
    (void)state;
    uint64_t seed = 5;
    struct counted m = counted_start();
    wg_tape *const t = frugal_tape(&m);
    for (routine of = DDOT; of < ROUTINES; of++)
        for (int i = 0; i < trials(); i++) {
            trial r = random_trial(of, &seed), same = r;
            double x[INPUTS], y[2 * PLACES], w[2 * PLACES] = {0}, g[INPUTS];
            wg_check found;
            memcpy(x, r.start, sizeof x);
            assert_int_equal(wg_check_gradient(t, called, &r, INPUTS, x, 2 * PLACES, &found),
                             WG_OK);
            assert_int_equal(wg_vjp(t, called, &r, INPUTS, x, 2 * PLACES, w, y, g), WG_OK);
            memcpy(x, same.start, sizeof x);
            by_library(&same, x, x + PLACES, x + 2 * PLACES, x[3 * PLACES], x[3 * PLACES + 1]);
            for (size_t k = 0; k < 2 * PLACES; k++) {
                if (k < PLACES && (of == DGELS || of == DSYEV))
                    continue; /* NaN in place of factors */
                if (k >= PLACES && of == DGELS && y[k] == 0) continue;
                assert_true(fabs(y[k] - x[PLACES + k]) <=
                            TOL_PROBLEM_ULP * DBL_EPSILON * fmax(1, fabs(x[PLACES + k])));
            }
        }
    wg_tape_free(t);
    assert_true(m.ranges == 0 && m.wrong == 0);
}

/* Adjoints on plain arrays: with the values from before the call, or those that it left. */
static bool finds_results(routine of) {
    return of == DTRSV || of == DTRSM || (of >= DGETRF && of <= DPOSV);
}
typedef struct arrays {
    double *a, *b, *c, alpha, beta;
} arrays;
static wg_status by_adjoints(const trial *r, const arrays *x, const arrays *bar,
                             double *alpha_b, double *beta_b, double *work) {
    const int o = r->order, m = r->m, n = r->n, k = r->k, u = r->uplo, d = r->diag, s = r->side;
    const bool numbers = r->numbers && is_read_only(r);
    double *const a_b = numbers ? NULL : bar->a, *const b_b = numbers ? NULL : bar->b,
                  *const c_b = bar->c, w = c_b[0];
    const double alpha = x->alpha, beta = x->beta;
    if (r->of <= DASUM) c_b[0] = 0;
    switch (r->of) {
    case DDOT:
        return wg_vjp_ddot(n, x->a, a_b, r->incx, x->b, b_b, r->incy, w);
    case DNRM2:
        return wg_vjp_dnrm2(n, x->a, a_b, abs(r->incx), w);
    case DASUM:
        if (r->incx <= 0) c_b[0] = 0;
        return wg_vjp_dasum(n, x->a, a_b, r->incx, w);
    case DAXPY:
        return wg_vjp_daxpy(n, alpha, alpha_b, x->a, a_b, r->incx, x->c, c_b, r->incy);
    case DSCAL:
        return wg_vjp_dscal(n, alpha, alpha_b, x->c, c_b, abs(r->incy));
    case DCOPY:
        return wg_vjp_dcopy(n, x->a, a_b, r->incx, x->c, c_b, r->incy);
    case DSWAP:
        return wg_vjp_dswap(n, x->b, bar->b, r->incx, x->c, c_b, r->incy);
    case DGEMV:
        return wg_vjp_dgemv(o, r->ta, m, n, alpha, alpha_b, x->a, a_b, r->lda, x->b, b_b,
                            r->incx, beta, beta_b, x->c, c_b, r->incy);
    case DSYMV:
        return wg_vjp_dsymv(o, u, n, alpha, alpha_b, x->a, a_b, r->lda, x->b, b_b, r->incx,
                            beta, beta_b, x->c, c_b, r->incy);
    case DGER:
        return wg_vjp_dger(o, m, n, alpha, alpha_b, x->a, a_b, r->incx, x->b, b_b, r->incy,
                           x->c, c_b, r->ldc);
    case DTRMV:
        return wg_vjp_dtrmv(o, u, r->ta, d, n, x->a, a_b, r->lda, x->c, c_b, r->incy);
    case DTRSV:
        return wg_vjp_dtrsv(o, u, r->ta, d, n, x->a, a_b, r->lda, x->c, c_b, r->incy);
    case DGEMM:
        return wg_vjp_dgemm(o, r->ta, r->tb, m, n, k, alpha, alpha_b, x->a, a_b, r->lda, x->b,
                            b_b, r->ldb, beta, beta_b, x->c, c_b, r->ldc);
    case DSYMM:
        return wg_vjp_dsymm(o, s, u, m, n, alpha, alpha_b, x->a, a_b, r->lda, x->b, b_b, r->ldb,
                            beta, beta_b, x->c, c_b, r->ldc);
    case DSYRK:
        return wg_vjp_dsyrk(o, u, r->ta, n, k, alpha, alpha_b, x->a, a_b, r->lda, beta, beta_b,
                            x->c, c_b, r->ldc);
    case DTRMM:
        return wg_vjp_dtrmm(o, s, u, r->ta, d, m, n, alpha, alpha_b, x->a, a_b, r->lda, x->c,
                            c_b, r->ldc);
    case DTRSM:
        return wg_vjp_dtrsm(o, s, u, r->ta, d, m, n, alpha, alpha_b, x->a, a_b, r->lda, x->c,
                            c_b, r->ldc);
    case DGETRF:
        return wg_vjp_dgetrf(o, n, n, x->c, c_b, r->lda, r->pivot, work);
    case DGETRS:
        return wg_vjp_dgetrs(o, r->ta, n, k, x->a, a_b, r->lda, r->pivot, x->c, c_b, r->ldc,
                             work);
    case DGESV:
        return wg_vjp_dgesv(o, n, k, x->b, bar->b, r->lda, r->pivot, x->c, c_b, r->ldc, work);
    case DPOTRF:
        return wg_vjp_dpotrf(o, u, n, x->c, c_b, r->lda, work);
    case DPOTRS:
        return wg_vjp_dpotrs(o, u, n, k, x->a, a_b, r->lda, x->c, c_b, r->ldc, work);
    case DPOSV:
        return wg_vjp_dposv(o, u, n, k, x->b, bar->b, r->lda, x->c, c_b, r->ldc, work);
    default:
        return WG_EMODE;
    }
}

static void adjoints_of_plain_arrays_are_those_of_the_tape(void **state) {
    (void)state;
    uint64_t seed = 11;
    struct counted m = counted_start();
    wg_tape *const t = frugal_tape(&m);
    for (routine of = DDOT; of <= DPOSV; of++)
        for (int i = 0; i < 3 * trials(); i++) {
            trial r = random_trial(of, &seed), same = r;
            double x[INPUTS], before[INPUTS], y[2 * PLACES], w[2 * PLACES], g[INPUTS],
                bar[INPUTS] = {0}, scalars[2] = {0, 0};
            for (size_t k = 0; k < 2 * PLACES; k++) w[k] = walk_number(&seed);
            if (i % 3 == 0) memset(w, 0, PLACES * sizeof *w); /* nothing reads the factors */
            memcpy(before, r.start, sizeof before);
            memcpy(x, r.start, sizeof x);
            assert_int_equal(wg_vjp(t, called, &r, INPUTS, x, 2 * PLACES, w, y, g), WG_OK);
            by_library(&same, x, x + PLACES, x + 2 * PLACES, x[3 * PLACES], x[3 * PLACES + 1]);
            double *const v = finds_results(of) ? x : before;
            double *const work = malloc(wg_vjp_room(r.n, r.k) * sizeof *work);
            assert_non_null(work);
            memcpy(bar + PLACES, w, sizeof w);
            const arrays of_values = {v, v + PLACES, v + 2 * PLACES, r.start[3 * PLACES],
                                      r.start[3 * PLACES + 1]},
                         of_bars = {bar, bar + PLACES, bar + 2 * PLACES, 0, 0};
            assert_int_equal(
                by_adjoints(&same, &of_values, &of_bars, &scalars[0], &scalars[1], work),
                WG_OK);
            free(work);
            memcpy(bar + 3 * PLACES, scalars, sizeof scalars);
            for (size_t k = 0; k < INPUTS; k++)
                if (!(fabs(bar[k] - g[k]) <=
                      TOL_PROBLEM_ULP * DBL_EPSILON * fmax(1, fabs(g[k]))))
                    fail_msg("routine %d, trial %d: adjoint %zu is %.17g, by the tape %.17g",
                             (int)of, i, k, bar[k], g[k]);
        }
    wg_tape_free(t);
    assert_true(m.ranges == 0 && m.wrong == 0);
}

static void adjoints_refuse_and_leave_alone(void **state) {
    (void)state;
    double a[4] = {2, 0, 1, 0}, x[2] = {1, NAN}, a_b[4] = {0}, x_b[2] = {3, 5},
           y_b[2] = {NAN, 7}, work[1 << 12];
    const int pivot[2] = {1, 3};
    assert_true(wg_vjp_room(2, 1) <= sizeof work / sizeof *work);
    assert_int_equal(wg_vjp_room(0, 1), 0);
    assert_true(wg_vjp_room(INT_MAX, INT_MAX) == SIZE_MAX / sizeof *work); /* and no less */
    /* beta = 0: whatever y was, and without its adjoint it is not read */
    assert_int_equal(
        wg_vjp_dgemv('C', 'N', 2, 2, 1, NULL, a, NULL, 2, x, NULL, 1, 0, NULL, NULL, y_b, 1),
        WG_OK);
    assert_true(y_b[0] == 0 && y_b[1] == 0);
    assert_int_equal(
        wg_vjp_dgemv('X', 'N', 2, 2, 1, NULL, a, NULL, 2, x, x_b, 1, 0, NULL, NULL, y_b, 1),
        WG_EARG);
    assert_int_equal(
        wg_vjp_dgemv('C', 'N', 2, 2, 1, NULL, a, NULL, 1, x, x_b, 1, 0, NULL, NULL, y_b, 1),
        WG_ESHAPE);
    assert_int_equal(
        wg_vjp_dgemv('C', 'N', 2, 2, 1, NULL, a, NULL, 2, x, x_b, 0, 0, NULL, NULL, y_b, 1),
        WG_EARG);
    assert_int_equal(
        wg_vjp_dgemv('C', 'N', 2, 2, 1, NULL, NULL, NULL, 2, x, x_b, 1, 0, NULL, NULL, y_b, 1),
        WG_ENULL);
    assert_int_equal(wg_vjp_dtrsv('C', 'U', 'N', 'N', 2, a, a_b, 2, x, x_b, 1), WG_ESINGULAR);
    assert_int_equal(wg_vjp_dtrsv('C', 'U', 'N', 'U', 2, a, NULL, 2, x, x_b, 1), WG_OK);
    assert_true(x_b[0] == 3 && x_b[1] == 5 - 3 * a[2]);
    assert_int_equal(wg_vjp_dgetrf('C', 2, 1, a, a_b, 2, pivot, work), WG_ESHAPE);
    assert_int_equal(wg_vjp_dgetrf('C', 2, 2, a, a_b, 2, pivot, work), WG_EARG);
    assert_int_equal(wg_vjp_dpotrs('C', 'L', 2, 1, a, NULL, 2, x, x_b, 2, work), WG_ESINGULAR);
    assert_int_equal(wg_vjp_dposv('C', 'X', 2, 1, a, a_b, 2, x, x_b, 2, work), WG_EARG);
    /* one vector as both: x += 2 x; x = x */
    assert_int_equal(wg_vjp_daxpy(2, 2, NULL, x, x_b, 1, x, x_b, 1), WG_OK);
    assert_true(x_b[0] == 9 && x_b[1] == 3 * (5 - 3 * a[2]));
    assert_int_equal(wg_vjp_dcopy(2, x, x_b, 1, x, x_b, 1), WG_OK);
    assert_true(x_b[0] == 9);
    /* one number for a vector */
    x_b[0] = 1, y_b[0] = 2, y_b[1] = 5;
    assert_int_equal(wg_vjp_dcopy(2, x, x_b, 0, NULL, y_b, 1), WG_OK);
    assert_true(x_b[0] == 8 && y_b[0] == 0 && y_b[1] == 0);
    assert_int_equal(wg_vjp_dcopy(2, x, x_b, 1, NULL, y_b, 0), WG_EARG);
    /* no size */
    assert_int_equal(wg_vjp_dgemm('C', 'N', 'N', 2, 0, 2, 1, NULL, NULL, NULL, 0, NULL, NULL, 0,
                                  1, NULL, NULL, NULL, 0),
                     WG_OK);
    assert_int_equal(wg_vjp_dnrm2(1, a + 1, a_b, 1, 1), WG_OK);
    assert_true(a_b[0] == 0);
}

static void vectors_of_eigenvalues_are_those_of_the_matrix(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    double a[9] = {2, 9, 9, -1, 3, 9, 0.5, 1, 4}, w[3],
           v[9]; /* by columns, its upper triangle */
    wg_real x[9], values[3];
    memcpy(v, a, sizeof v);
    for (int i = 0; i < 9; i++) x[i] = wg_input(t, a[i]);
    assert_int_equal(wg_dsyev(t, 'C', 'V', 'U', 3, x, 3, values), 0);
    assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', 3, v, 3, w), 0);
    for (int i = 0; i < 9; i++) {
        assert_true(fabs(wg_value(values[i % 3]) - w[i % 3]) <=
                    TOL_PROBLEM_ULP * DBL_EPSILON * 6);
        assert_true(fabs(fabs(wg_value(x[i])) - fabs(v[i])) <= TOL_PROBLEM_ULP * DBL_EPSILON);
    }
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static void the_largest_is_found_by_value(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double a[4] = {1, -7, 7, 3};
    wg_real x[4];
    for (int i = 0; i < 4; i++) x[i] = wg_input(t, a[i]);
    assert_int_equal(wg_idamax(t, 4, WG_ARRAY(x), 1), 1);
    assert_int_equal(wg_idamax(t, 4, WG_ARRAY(a), 1), 1);
    assert_int_equal(wg_idamax(t, 2, WG_ARRAY(x), 3), 1);
    assert_int_equal(wg_idamax(t, 0, WG_ARRAY(x), 1), 0);
    for (int step = -2; step <= 0; step++) {
        assert_int_equal(wg_idamax(t, 2, WG_ARRAY(x), step), cblas_idamax(2, a, step));
        assert_true(wg_value(wg_dasum(t, 2, WG_ARRAY(x), step)) == cblas_dasum(2, a, step));
    }
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* The tape fails with this status, and results are NaN. */
#define REFUSED(status, call, result)                                                          \
    do {                                                                                       \
        wg_tape_reset(t);                                                                      \
        for (int i_ = 0; i_ < 9; i_++)                                                         \
            x[i_] = wg_input(t, i_ == 0 ? 0.0 : 1.0), y[i_] = x[i_];                           \
        (void)(call);                                                                          \
        assert_int_equal(wg_tape_status(t), status);                                           \
        assert_true(isnan(wg_value(result)));                                                  \
    } while (0)

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_real one = wg_constant(1);
    const wg_array none = {NULL, NULL};
    const int beyond[3] = {1, 4, 3};
    int pivot[3];
    wg_real x[9], y[9];
    REFUSED(WG_EARG,
            wg_dgemv(t, 'X', 'N', 3, 3, one, WG_ARRAY(x), 3, WG_ARRAY(x), 1, one, y, 1), y[0]);
    REFUSED(WG_EARG,
            wg_dgemv(t, 'C', 'X', 3, 3, one, WG_ARRAY(x), 3, WG_ARRAY(x), 1, one, y, 1), y[0]);
    REFUSED(WG_ESHAPE,
            wg_dgemv(t, 'C', 'N', 3, 3, one, WG_ARRAY(x), 2, WG_ARRAY(x), 1, one, y, 1), y[0]);
    REFUSED(WG_EARG,
            wg_dgemv(t, 'C', 'N', 3, 3, one, WG_ARRAY(x), 3, WG_ARRAY(x), 0, one, y, 1), y[0]);
    REFUSED(WG_ENULL, wg_dgemv(t, 'C', 'N', 3, 3, one, none, 3, WG_ARRAY(x), 1, one, y, 1),
            y[0]);
    REFUSED(WG_ENULL, (y[0] = wg_ddot(t, 3, none, 1, WG_ARRAY(x), 1)), y[0]);
    REFUSED(WG_EARG, wg_dsyrk(t, 'C', 'X', 'N', 3, 3, one, WG_ARRAY(x), 3, one, y, 3), y[0]);
    REFUSED(WG_EARG,
            wg_dsymm(t, 'C', 'L', 'X', 3, 3, one, WG_ARRAY(x), 3, WG_ARRAY(x), 3, one, y, 3),
            y[0]);
    REFUSED(WG_EARG,
            wg_dsymm(t, 'C', 'X', 'L', 3, 3, one, WG_ARRAY(x), 3, WG_ARRAY(x), 3, one, y, 3),
            y[0]);
    REFUSED(WG_EARG, wg_dtrsm(t, 'C', 'L', 'X', 'N', 'N', 3, 3, one, WG_ARRAY(x), 3, y, 3),
            y[0]);
    REFUSED(WG_ESINGULAR, wg_dtrsv(t, 'C', 'L', 'N', 'N', 3, WG_ARRAY(x), 3, y, 1), y[0]);
    REFUSED(WG_ESINGULAR, wg_dpotrf(t, 'C', 'L', 3, y, 3), y[0]);
    REFUSED(WG_ESINGULAR, wg_dgesv(t, 'C', 3, 1, x, 3, pivot, y, 3), y[0]);
    REFUSED(WG_ESINGULAR, (pivot[0] = wg_dgetrf(t, 'C', 3, 3, y, 3, pivot)), y[8]);
    assert_non_null(strstr(wg_tape_message(t), "wg_dgetrf"));
    assert_int_equal(pivot[0], 1);
    REFUSED(WG_EARG, wg_dpotrs(t, 'C', 'X', 3, 1, WG_ARRAY(x), 3, y, 3), y[0]);
    REFUSED(WG_EARG, wg_dgetrs(t, 'C', 'N', 3, 1, WG_ARRAY(x), 3, beyond, y, 3), y[0]);
    REFUSED(WG_EARG, wg_dgels(t, 'C', 'X', 3, 2, 1, x, 3, y, 3), y[0]);
    REFUSED(WG_EARG, wg_dsyev(t, 'C', 'X', 'L', 3, x, 3, y), y[0]);
    wg_tape_reset(t);
    assert_int_equal(wg_dgetrf(t, 'C', 3, 2, x, 3, pivot), 1);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_int_equal(wg_dpotrf(NULL, 'C', 'L', 3, x, 3), 1);
    assert_true(isnan(wg_value(wg_ddot(NULL, 3, WG_ARRAY(x), 1, WG_ARRAY(x), 1))));
    wg_tape_free(t);
}

/* How large an array is depends on the flag: what may stand behind it is of another tape
 * here. */
static void arrays_are_left_alone_where_a_flag_is_unknown(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL), *const other = wg_tape_new(NULL);
    const wg_real one = wg_constant(1);
    wg_real x[9], y[9];
    for (int call = 0; call < 6; call++) {
        const int own = call == 1 || call == 2 || call == 4 ? 3 : 1;
        wg_tape_reset(t);
        for (int i = 0; i < 9; i++) x[i] = wg_input(i < own ? t : other, 1), y[i] = one;
        if (call == 0)
            wg_dgemv(t, 'C', 'X', 1, 3, one, WG_ARRAY(x), 1, WG_ARRAY(x), 1, one, y, 1);
        if (call == 1)
            wg_dgemm(t, 'C', 'X', 'N', 3, 1, 1, one, WG_ARRAY(x), 3, WG_ARRAY(x), 1, one, y, 3);
        if (call == 2)
            wg_dgemm(t, 'R', 'N', 'X', 1, 3, 1, one, WG_ARRAY(x), 1, WG_ARRAY(x), 3, one, y, 3);
        if (call == 3)
            wg_dsymm(t, 'C', 'X', 'L', 1, 2, one, WG_ARRAY(x), 2, WG_ARRAY(y), 1, one, y, 1);
        if (call == 4) wg_dsyrk(t, 'C', 'L', 'X', 3, 1, one, WG_ARRAY(x), 3, one, y, 3);
        if (call == 5) wg_dtrsm(t, 'C', 'X', 'L', 'N', 'N', 1, 2, one, WG_ARRAY(x), 2, y, 1);
        assert_int_equal(wg_tape_status(t), WG_EARG);
        assert_true(isnan(wg_value(y[0])));
        if (call == 0) assert_true(wg_value(y[1]) == 1 && wg_value(y[2]) == 1);
    }
    wg_tape_free(t);
    wg_tape_free(other);
}

static void other_triangles_are_not_read(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL), *const other = wg_tape_new(NULL);
    wg_real x[4], y[2], c[4];
    for (int i = 0; i < 4; i++)
        x[i] = wg_input(i == 2 ? other : t, 2 + (i == 3)),
        c[i] = wg_input(i == 2 ? other : t, 1);
    for (int i = 0; i < 2; i++) y[i] = wg_input(t, 1 + i);
    const wg_real one = wg_constant(1), zero = wg_constant(0);
    wg_dtrsv(t, 'C', 'L', 'T', 'N', 2, WG_ARRAY(x), 2, y, 1);
    wg_dsymv(t, 'C', 'L', 2, one, WG_ARRAY(x), 2, WG_ARRAY(y), 1, zero, y, 1);
    wg_dsyrk(t, 'C', 'L', 'N', 2, 1, one, WG_ARRAY(y), 2, one, c, 2);
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(wg_dpotrf(t, 'C', 'U', 2, c, 2),
                     1); /* that is the one of the other tape */
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    wg_tape_free(t);
    wg_tape_free(other);
}

static void a_budget_is_said_by_name(void **state) {
    (void)state;
    int refused = 0, done = 0;
    for (size_t bytes = 32768; bytes <= 262144; bytes += 4096) {
        const wg_options options = {.flags = WG_KEEP_CODE, .budget = bytes};
        wg_tape *const t = wg_tape_new(&options);
        wg_real a[9], b[9];
        int pivot[3];
        if (t == NULL) continue;
        for (int i = 0; i < 9; i++)
            a[i] = wg_input(t, 1 + sin(5 * i)), b[i] = wg_input(t, 1 + i);
        (void)wg_dgesv(t, 'R', 3, 3, a, 3, pivot, b, 3);
        wg_dsyrk(t, 'R', 'L', 'N', 3, 3, wg_constant(1), WG_ARRAY(b), 3, wg_constant(1), a, 3);
        if (wg_tape_status(t) == WG_OK) done++;
        else assert_int_equal(wg_tape_status(t), WG_EBUDGET), refused++;
        wg_tape_free(t);
    }
    assert_true(refused > 0 && done > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_derivatives_are_those_of_the_calls),
        cmocka_unit_test(adjoints_of_plain_arrays_are_those_of_the_tape),
        cmocka_unit_test(adjoints_refuse_and_leave_alone),
        cmocka_unit_test(vectors_of_eigenvalues_are_those_of_the_matrix),
        cmocka_unit_test(the_largest_is_found_by_value),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(arrays_are_left_alone_where_a_flag_is_unknown),
        cmocka_unit_test(other_triangles_are_not_read),
        cmocka_unit_test(a_budget_is_said_by_name),
    };
    return cmocka_run_group_tests_name("ops_arrays", tests, NULL, NULL);
}

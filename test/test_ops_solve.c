/* SPDX-License-Identifier: MIT */
/* test_ops_solve.c - solves, against the oracle test/data/matrix_ops.txt, and by what it lacks.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wengert.h>
#include <wengert/solve.h>
#include "linear_case.h"
#include "matrix_case.h"
#include "tolerance.h"

/* ---- the oracle ---- */

static void trsv(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                 void *data) {
    const char *const v = c->variant;
    (void)data;
    out[0] = wg_trsv(t, v[0], v[1], v[2], in[0], in[1]);
}
static void trsm(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                 void *data) {
    const char *const v = c->variant;
    (void)data;
    out[0] = wg_trsm(t, v[0], v[1], v[2], v[3], matrix_case_number(c, "alpha"), in[0], in[1]);
}
static void solve(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                  void *data) {
    (void)c, (void)data;
    out[0] = wg_solve(t, in[0], in[1]);
}
static void solve_by_factor(wg_tape *t, const struct matrix_case *c, const wg_mat *in,
                            wg_mat *out, void *data) {
    (void)c, (void)data;
    out[0] = wg_factor_solve(t, wg_lu(t, in[0]), 'N', in[1]);
}
static void solve_turned(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                         void *data) {
    (void)c, (void)data;
    out[0] = wg_factor_solve(t, wg_lu(t, wg_mat_transpose(in[0])), 'T', in[1]);
}
static void solve_spd(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                      void *data) {
    (void)c, (void)data;
    out[0] = wg_solve_spd(t, in[0], in[1]);
}
static void solve_spd_by_factor(wg_tape *t, const struct matrix_case *c, const wg_mat *in,
                                wg_mat *out, void *data) {
    (void)c, (void)data;
    out[0] = wg_factor_solve(t, wg_potrf(t, in[0]), 'N', in[1]);
}
static void cholesky(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                     void *data) {
    (void)c, (void)data;
    out[0] = wg_cholesky(t, in[0]);
}
static void logdet_spd(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                       void *data) {
    (void)c, (void)data;
    out[0] = matrix_case_scalar(t, wg_logdet_spd(t, in[0]));
}
static void logdet_potrf(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                         void *data) {
    (void)c, (void)data;
    out[0] = matrix_case_scalar(t, wg_factor_logdet(t, wg_potrf(t, in[0])));
}
static void logabsdet(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                      void *data) {
    double sign;
    (void)c, (void)data;
    out[0] = matrix_case_scalar(t, wg_logabsdet(t, in[0], &sign));
    assert_true(sign == 1 || sign == -1);
}
static void logdet_lu(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                      void *data) {
    (void)c, (void)data;
    out[0] = matrix_case_scalar(t, wg_factor_logdet(t, wg_lu(t, in[0])));
}
static void inverse(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                    void *data) {
    (void)c, (void)data;
    out[0] = wg_inverse(t, in[0]);
}
static void inverse_lu(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                       void *data) {
    (void)c, (void)data;
    out[0] = wg_factor_inverse(t, wg_lu(t, in[0]));
}
static void det(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                void *data) {
    (void)c, (void)data;
    out[0] = matrix_case_scalar(t, wg_det(t, in[0]));
    if (c->outs == 2) out[1] = wg_mat_constant(t, 1, 1, c->out[1].v, 1);
}
static void det_lu(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                   void *data) {
    (void)c, (void)data;
    out[0] = matrix_case_scalar(t, wg_factor_det(t, wg_lu(t, in[0])));
}
static void qr(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
               void *data) {
    (void)c, (void)data;
    (void)wg_qr(t, in[0], &out[0], &out[1]);
}
static void lstsq(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                  void *data) {
    (void)c, (void)data;
    out[0] = wg_lstsq(t, in[0], in[1]);
}
static void pinv(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                 void *data) {
    (void)c, (void)data;
    out[0] = wg_pinv(t, in[0], -1);
}

static void check_trsv(struct matrix_case *c) { matrix_case_check(c, trsv, NULL); }
static void check_trsm(struct matrix_case *c) { matrix_case_check(c, trsm, NULL); }
static void check_solve(struct matrix_case *c) {
    matrix_case_check(c, solve, NULL);
    matrix_case_check(c, solve_by_factor, NULL);
    matrix_case_check(c, solve_turned, NULL);
}
static void check_solve_spd(struct matrix_case *c) {
    matrix_case_check(c, solve_spd, NULL);
    matrix_case_check(c, solve_spd_by_factor, NULL);
}
static void check_cholesky(struct matrix_case *c) { matrix_case_check(c, cholesky, NULL); }
static void check_logdet_spd(struct matrix_case *c) {
    matrix_case_check(c, logdet_spd, NULL);
    matrix_case_check(c, logdet_potrf, NULL);
}
static void check_logabsdet(struct matrix_case *c) {
    matrix_case_check(c, logabsdet, NULL);
    matrix_case_check(c, logdet_lu, NULL);
}
static void check_inverse(struct matrix_case *c) {
    matrix_case_check(c, inverse, NULL);
    matrix_case_check(c, inverse_lu, NULL);
}
/* A determinant of 0 comes out with the rounding of the products it is made of, which
 * Hadamard's bound measures: a second result gives the size. */
static void check_det(struct matrix_case *c) {
    if (strcmp(c->variant, "regular") == 0) {
        matrix_case_check(c, det, NULL);
        matrix_case_check(c, det_lu, NULL);
        return;
    }
    double bound = 1, zero = 0;
    const size_t n = c->in[0].rows;
    for (size_t j = 0; j < n; j++) {
        double s = 0;
        for (size_t i = 0; i < n; i++) s += c->in[0].v[i + j * n] * c->in[0].v[i + j * n];
        bound *= sqrt(s);
    }
    c->out[1] = c->out[0], c->out[1].key = "size", c->out[1].v = &bound;
    c->adj[1] = c->adj[0], c->adj[1].v = &zero;
    c->outs = 2;
    matrix_case_check(c, det, NULL);
    c->outs = 1, c->out[1].v = c->adj[1].v = NULL;
}
static void check_qr(struct matrix_case *c) { matrix_case_check(c, qr, NULL); }
static void check_lstsq(struct matrix_case *c) { matrix_case_check(c, lstsq, NULL); }
static void check_pinv(struct matrix_case *c) { matrix_case_check(c, pinv, NULL); }

#define ORACLE(name)                                                                           \
    static void name##_agrees_with_its_oracle(void **state) {                                  \
        (void)state;                                                                           \
        matrix_case_each(#name, check_##name);                                                 \
    }
#define check_spd_solve check_solve_spd
#define check_inv check_inverse
ORACLE(trsv)
ORACLE(trsm)
ORACLE(solve)
ORACLE(spd_solve)
ORACLE(cholesky)
ORACLE(logdet_spd)
ORACLE(logabsdet)
ORACLE(inv)
ORACLE(det)
ORACLE(qr)
ORACLE(lstsq)
ORACLE(pinv)

/* ---- by what the oracle lacks ---- */

enum { N = 5, K = 3, COUNT = 3 };

/* A off singularity. */
static wg_mat regular(wg_tape *t, const wg_real **x, size_t n) {
    wg_mat one = wg_mat_identity(t, n);
    return wg_axpy(t, 3, one, take(t, x, n, n));
}

static wg_status one_factor_for_all(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                    wg_real *y, void *data) {
    const wg_factor_kind kind = *(const wg_factor_kind *)data;
    (void)n, (void)m;
    const wg_mat a = kind == WG_LU ? regular(t, &x, N) : definite(t, take(t, &x, N, N));
    const wg_mat b = take(t, &x, N, K);
    const wg_factor f = kind == WG_LU ? wg_lu(t, a) : wg_potrf(t, a);
    give(wg_factor_solve(t, f, 'N', b), &y);
    give(wg_factor_solve(t, f, 'T', b), &y);
    give(wg_factor_inverse(t, f), &y);
    *y++ = wg_factor_logdet(t, f);
    *y++ = wg_factor_det(t, f);
    return wg_tape_status(t);
}

static void one_factor_serves_every_operation(void **state) {
    (void)state;
    static const wg_factor_kind kinds[] = {WG_LU, WG_CHOLESKY};
    for (size_t i = 0; i < 2; i++)
        derivatives_agree(one_factor_for_all, &kinds[i], N * N + N * K, 2 * N * K + N * N + 2);
}

/* What a use of the factor adds to the tape is less than a factor. */
static void a_factor_is_made_once(void **state) {
    (void)state;
    enum { ORDER = 60 };
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = random_input(t, 11, ORDER, ORDER, 9), b = random_input(t, 12, ORDER, 1, 0);
    const wg_factor f = wg_lu(t, a);
    wg_stats before, after;
    (void)wg_tape_stats(t, &before);
    const wg_mat x = wg_factor_solve(t, f, 'N', b);
    (void)wg_factor_logdet(t, f);
    (void)wg_factor_det(t, f);
    (void)wg_tape_stats(t, &after);
    assert_true(after.payload_bytes - before.payload_bytes <
                ORDER * ORDER * sizeof(double) / 4);
    assert_int_equal(wg_mat_reverse(t, x, NULL, 1), WG_OK);
    wg_tape_free(t);
}

/* Batches against single systems: values and adjoints to the last bit. */
static wg_mat batch_of(wg_tape *t, int which, size_t count, wg_mat a, wg_mat b) {
    switch (which) {
    case 0:
        return wg_solve_batch(t, count, a, b);
    case 1:
        return wg_solve_spd_batch(t, count, a, b);
    case 2:
        return wg_trsm_batch(t, count, 'L', 'L', 'T', 'N', 1.5, a, b);
    case 3:
        return wg_trsm_batch(t, count, 'L', 'U', 'N', 'U', -2, a, b);
    default:
        return wg_cholesky_batch(t, count, a);
    }
}
static wg_mat single_of(wg_tape *t, int which, wg_mat a, wg_mat b) {
    switch (which) {
    case 0:
        return wg_solve(t, a, b);
    case 1:
        return wg_solve_spd(t, a, b);
    case 2:
        return wg_trsm(t, 'L', 'L', 'T', 'N', 1.5, a, b);
    case 3:
        return wg_trsm(t, 'L', 'U', 'N', 'U', -2, a, b);
    default:
        return wg_cholesky(t, a);
    }
}

static void batches_equal_their_members(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (int which = 0; which < 5; which++)
        for (int turned = 0; turned < 2; turned++) {
            wg_tape_reset(t);
            double *const v = random_numbers(13, N * N * COUNT), w[N * N * COUNT] = {0};
            for (size_t m = 0; m < COUNT; m++)
                for (size_t j = 0; j < N; j++)
                    for (size_t i = 0; i <= j; i++) { /* symmetric: its own transpose */
                        double *const a = v + m * N * N;
                        a[i + j * N] = a[j + i * N] = a[j + i * N] + (i == j ? 4 : 0);
                    }
            for (size_t i = 0; i < N * N * COUNT; i++) w[i] = 0.1 + (double)i;
            wg_mat a = wg_mat_input(t, N, N * COUNT, v, N);
            if (turned) { /* the same batch, as rows of a taller matrix */
                double *const u = random_numbers(1, N * N * COUNT);
                for (size_t j = 0; j < N * COUNT; j++)
                    for (size_t i = 0; i < N; i++) u[j + i * N * COUNT] = v[i + j * N];
                a = wg_mat_transpose(wg_mat_input(t, N * COUNT, N, u, N * COUNT));
                free(u);
            }
            const wg_mat b = random_input(t, 14, N, K * COUNT, 0);
            double together[N * N * COUNT], apart[N * N * COUNT], sum[N * N * COUNT] = {0};
            double other[N * K * COUNT], other_sum[N * K * COUNT] = {0};
            const wg_mat x = batch_of(t, which, COUNT, a, b);
            assert_int_equal(wg_mat_reverse(t, x, w, N), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, a, together, N), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, b, other, N), WG_OK);
            const size_t cols = x.cols / COUNT;
            for (size_t m = 0; m < COUNT; m++) {
                const wg_mat y = single_of(t, which, wg_mat_block(a, 0, m * N, N, N),
                                           wg_mat_block(b, 0, m * K, N, K));
                for (size_t j = 0; j < cols; j++)
                    for (size_t i = 0; i < N; i++)
                        assert_true(wg_mat_at(y, i, j).value ==
                                    wg_mat_at(x, i, j + m * cols).value);
                assert_int_equal(wg_mat_reverse(t, y, w + m * cols * N, N), WG_OK);
                assert_int_equal(wg_mat_adjoint(t, a, apart, N), WG_OK);
                for (size_t i = 0; i < N * N * COUNT; i++) sum[i] += apart[i];
                assert_int_equal(wg_mat_adjoint(t, b, apart, N), WG_OK);
                for (size_t i = 0; i < N * K * COUNT; i++) other_sum[i] += apart[i];
            }
            for (size_t i = 0; i < N * N * COUNT; i++) assert_true(together[i] == sum[i]);
            for (size_t i = 0; i < N * K * COUNT; i++) assert_true(other[i] == other_sum[i]);
            free(v);
        }
    wg_tape_free(t);
}

/* A large triangle: the adjoint goes by blocks. */
static wg_status large_triangle(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    const char *const v = (const char *)data;
    enum { ORDER = 60 };
    (void)n, (void)m;
    double *const base = random_numbers(15, ORDER * ORDER);
    for (size_t i = 0; i < ORDER * ORDER; i++) base[i] /= ORDER;
    for (size_t i = 0; i < ORDER; i++) base[i * (ORDER + 1)] = 2;
    const wg_mat g = wg_outer(t, take(t, &x, ORDER, 1), take(t, &x, ORDER, 1));
    const wg_mat a = wg_axpy(t, 0.25, g, wg_mat_constant(t, ORDER, ORDER, base, ORDER));
    free(base);
    const wg_mat b = v[0] == 'L' ? take(t, &x, ORDER, 2) : take(t, &x, 2, ORDER);
    give(wg_trsm(t, v[0], v[1], v[2], v[3], 1, a, b), &y);
    return wg_tape_status(t);
}

static void large_triangles_have_their_derivatives(void **state) {
    (void)state;
    static const char *const flags[] = {"LLNN", "LUTU", "RLTN", "RUNU"};
    for (size_t i = 0; i < 4; i++) derivatives_agree(large_triangle, flags[i], 60 * 4, 60 * 2);
}

/* X = A^-1 A is constant, also as seen from one matrix in both places. */
static void a_matrix_solved_for_itself_has_no_derivative(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    double *const v = random_numbers(16, N * N), g[N * N];
    for (size_t j = 0; j < N; j++)
        for (size_t i = j; i < N; i++) v[i + j * N] = i == j ? 4 : 0;
    const wg_mat a = wg_mat_input(t, N, N, v, N);
    const wg_mat x[2] = {wg_solve(t, a, a), wg_trsm(t, 'L', 'U', 'N', 'N', 1, a, a)};
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(wg_mat_reverse(t, x[k], NULL, N), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, N), WG_OK);
        for (size_t j = 0; j < N;
             j++) /* below, it is of the right-hand side alone in the second */
            for (size_t i = 0; i < (k == 0 ? N : j + 1); i++)
                assert_true(fabs(g[i + j * N]) <= TOL_MATRIX_ULP * DBL_EPSILON);
    }
    wg_tape_free(t);
    free(v);
}

static void the_gradient_of_a_symmetric_operand_is_symmetric(void **state) {
    (void)state;
    enum { ORDER = 37 };
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat s = definite(t, random_input(t, 17, ORDER, ORDER, 0));
    double v[ORDER * ORDER], g[ORDER * ORDER], w[ORDER * ORDER];
    assert_int_equal(wg_mat_value(t, s, v, ORDER), WG_OK);
    for (size_t j = 0; j < ORDER; j++)
        for (size_t i = 0; i < j; i++) v[i + j * ORDER] = v[j + i * ORDER];
    for (size_t i = 0; i < ORDER * ORDER; i++) w[i] = cos((double)i);
    const wg_mat a = wg_mat_input(t, ORDER, ORDER, v, ORDER);
    const wg_mat b = random_input(t, 18, ORDER, 2, 0);
    const wg_mat y[4] = {wg_solve_spd(t, a, b), wg_cholesky(t, a), wg_inverse_spd(t, a),
                         matrix_case_scalar(t, wg_logdet_spd(t, a))};
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(wg_mat_reverse(t, y[k], w, y[k].rows), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, ORDER), WG_OK);
        for (size_t j = 0; j < ORDER; j++)
            for (size_t i = 0; i < j; i++) {
                const double x = g[i + j * ORDER], z = g[j + i * ORDER];
                assert_true(fabs(x - z) <= TOL_PROGRAM_ULP * DBL_EPSILON * fmax(1, fabs(x)));
            }
    }
    wg_tape_free(t);
}

/* ---- banded ---- */

static wg_mat dense_of_band(wg_tape *t, wg_mat a, size_t kl, size_t ku) {
    const size_t n = a.cols;
    wg_real e[N * N];
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            e[i + j * n] =
                i + ku >= j && i <= j + kl ? wg_mat_at(a, ku + i - j, j) : wg_constant(0);
    return wg_mat_gather(t, n, n, e);
}

static void same_numbers(const double *a, const double *b, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(b[i]));
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(a[i] - b[i]) <= TOL_MATRIX_ULP * DBL_EPSILON * largest);
}

static void same_adjoints(wg_tape *t, wg_mat x, wg_mat y, const wg_mat *in, size_t inputs) {
    double g[2][N * N * 4], w[N * K];
    for (size_t i = 0; i < N * K; i++) w[i] = cos((double)i);
    assert_int_equal(wg_mat_value(t, x, g[0], N), WG_OK);
    assert_int_equal(wg_mat_value(t, y, g[1], N), WG_OK);
    same_numbers(g[0], g[1], N * K);
    for (size_t k = 0; k < inputs; k++) {
        assert_int_equal(wg_mat_reverse(t, x, w, N), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, in[k], g[0], in[k].rows), WG_OK);
        assert_int_equal(wg_mat_reverse(t, y, w, N), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, in[k], g[1], in[k].rows), WG_OK);
        same_numbers(g[0], g[1], in[k].rows * in[k].cols);
    }
}

/* Places of the band outside the matrix hold NaN: they are not looked at. */
static void a_banded_solve_equals_the_dense_one(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t kl = 0; kl <= N; kl++)
        for (size_t ku = 0; ku <= N; ku++) {
            wg_tape_reset(t);
            double *const v = random_numbers(19, (kl + ku + 1) * N);
            for (size_t j = 0; j < N; j++)
                for (size_t r = 0; r <= kl + ku; r++) {
                    double *const e = &v[r + j * (kl + ku + 1)];
                    if (r + j < ku || r + j - ku >= N) *e = (double)NAN;
                    else if (r == ku) *e += 4;
                }
            const wg_mat in[2] = {wg_mat_input(t, kl + ku + 1, N, v, kl + ku + 1),
                                  random_input(t, 20, N, K, 0)};
            same_adjoints(t, wg_solve_banded(t, kl, ku, in[0], in[1]),
                          wg_solve(t, dense_of_band(t, in[0], kl, ku), in[1]), in, 2);
            assert_int_equal(wg_tape_status(t), WG_OK);
            free(v);
        }
    wg_tape_free(t);
}

static void a_tridiagonal_solve_equals_the_dense_one(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double middle[N] = {3, -4, 0.1, 3, 5};
    const wg_mat in[4] = {random_input(t, 21, N - 1, 1, 0), wg_mat_input(t, N, 1, middle, N),
                          random_input(t, 23, N - 1, 1, 0), random_input(t, 24, N, K, 0)};
    wg_real e[N * N];
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++)
            e[i + j * N] = i == j       ? wg_mat_at(in[1], i, 0)
                           : i == j + 1 ? wg_mat_at(in[0], j, 0)
                           : j == i + 1 ? wg_mat_at(in[2], i, 0)
                                        : wg_constant(0);
    same_adjoints(t, wg_solve_tridiagonal(t, in[0], in[1], in[2], in[3]),
                  wg_solve(t, wg_mat_gather(t, N, N, e), in[3]), in, 4);
    wg_tape_free(t);
}

static wg_status banded(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    wg_real shifted[4 * N];
    for (size_t i = 0; i < 4 * N; i++)
        shifted[i] = i % 4 == 1 ? wg_let(t, wg_add(x[i], 4)) : x[i];
    const wg_mat a = wg_mat_gather(t, 4, N, shifted);
    x += 4 * N;
    const wg_mat b = take(t, &x, N, K);
    give(wg_solve_banded(t, 2, 1, a, b), &y);
    const wg_mat low = take(t, &x, N - 1, 1), up = take(t, &x, N - 1, 1);
    give(wg_solve_tridiagonal(t, low, wg_mat_transpose(wg_mat_row(a, 1)), up, b), &y);
    return wg_tape_status(t);
}

static void banded_solves_have_their_derivatives(void **state) {
    (void)state;
    derivatives_agree(banded, NULL, 4 * N + N * K + 2 * (N - 1), 2 * N * K);
}

/* ---- edges and failures ---- */

static void zero_sizes_are_solved(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat none = wg_mat_input(t, 0, 0, NULL, 1), wide = wg_mat_input(t, 0, 3, NULL, 1);
    const wg_mat a = random_input(t, 25, N, N, 4), tall = wg_mat_input(t, N, 0, NULL, N);
    const wg_mat spd = definite(t, a);
    double g[N * N];
    const wg_mat x[] = {
        wg_solve(t, none, wide),
        wg_solve(t, a, tall),
        wg_solve_spd(t, none, wide),
        wg_solve_spd(t, spd, tall),
        wg_solve_batch(t, 0, tall, tall),
        wg_solve_batch(t, SIZE_MAX / 2, none, none),
        wg_trsm_batch(t, SIZE_MAX / 2, 'L', 'L', 'N', 'N', 1, none, none),
        wg_cholesky_batch(t, SIZE_MAX / 2, none),
        wg_trsm(t, 'L', 'L', 'N', 'N', 1, none, wide),
        wg_trsm(t, 'L', 'L', 'N', 'N', 1, a, tall),
        wg_trsm(t, 'R', 'L', 'N', 'N', 1, none, wg_mat_input(t, 3, 0, NULL, 3)),
        wg_factor_solve(t, wg_lu(t, none), 'N', wide),
        wg_factor_solve(t, wg_potrf(t, none), 'N', wide),
        wg_solve_banded(t, 1, 1, wg_mat_input(t, 3, 0, NULL, 3), wide),
        wg_solve_tridiagonal(t, wg_mat_input(t, 0, 1, NULL, 1), wg_mat_input(t, 0, 1, NULL, 1),
                             wg_mat_input(t, 0, 1, NULL, 1), wide),
    };
    for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
        assert_true(x[k].value != NULL);
        assert_true(x[k].rows * x[k].cols == 0);
    }
    assert_int_equal(wg_tape_status(t), WG_OK);
    const wg_real one = wg_mat_at(a, 0, 0);
    assert_int_equal(wg_reverse(t, one), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, N), WG_OK);
    wg_tape_free(t);
}

static void order_one_is_a_division(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_real two = wg_input(t, 2), six = wg_input(t, 6);
    const wg_mat a = wg_mat_gather(t, 1, 1, &two), b = wg_mat_gather(t, 1, 1, &six);
    const wg_mat none = wg_mat_input(t, 0, 1, NULL, 1);
    const wg_mat x[] = {wg_solve(t, a, b), wg_solve_spd(t, a, b),
                        wg_trsv(t, 'L', 'N', 'N', a, b), wg_solve_banded(t, 0, 0, a, b),
                        wg_solve_tridiagonal(t, none, a, none, b)};
    for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
        assert_int_equal(wg_reverse(t, wg_mat_at(x[k], 0, 0)), WG_OK);
        assert_true(close_ulp(wg_mat_at(x[k], 0, 0).value, 3, TOL_VALUE_ULP));
        assert_true(close_ulp(wg_adjoint(t, two), -1.5, TOL_VALUE_ULP));
        assert_true(close_ulp(wg_adjoint(t, six), 0.5, TOL_VALUE_ULP));
    }
    wg_tape_free(t);
}

static void what_cannot_be_solved_fails_and_is_forgotten_by_a_rewind(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double one[9] = {1, 2, 3, 2, 4, 6, 1, 0, 1}, spd[9] = {2, 0, 0, 0, 1, 0, 0, 0, -3};
    const double band[3] = {1, 0, 1};
    const wg_mat a = wg_mat_input(t, 3, 3, one, 3), s = wg_mat_input(t, 3, 3, spd, 3);
    const wg_mat b = random_input(t, 26, 3, 2, 0), row = wg_mat_input(t, 1, 3, band, 1);
    const wg_mat none = wg_mat_fill(t, 2, 1, 0);
    const wg_mark m = wg_tape_mark(t);
    const wg_mat x = wg_solve(t, a, b);
    assert_true(x.value == NULL && x.rows == 3 && x.cols == 2);
    assert_true(wg_mat_at(x, 0, 0).value != wg_mat_at(x, 0, 0).value);
    failed_with(t, m, WG_ESINGULAR, "wg_solve of 3x3, 3x2", "singular (info 2)");
    (void)wg_solve_spd(t, s, b);
    failed_with(t, m, WG_ESINGULAR, "wg_solve_spd", "not positive definite (info 3)");
    (void)wg_factor_solve(t, wg_lu(t, a), 'N', b);
    failed_with(t, m, WG_ESINGULAR, "wg_lu of 3x3", "(info 2)");
    (void)wg_factor_solve(t, wg_potrf(t, s), 'N', b);
    failed_with(t, m, WG_ESINGULAR, "wg_potrf of 3x3", "(info 3)");
    (void)wg_trsm(t, 'L', 'L', 'N', 'N', 1, wg_mat_fill(t, 3, 3, 0), b);
    failed_with(t, m, WG_ESINGULAR, "wg_trsm", "(info 1)");
    (void)wg_trsm_batch(t, 1, 'L', 'L', 'N', 'N', 1, wg_mat_fill(t, 3, 3, 0), b);
    failed_with(t, m, WG_ESINGULAR, "wg_trsm_batch", "(info 1)");
    (void)wg_solve_banded(t, 0, 0, row, b);
    failed_with(t, m, WG_ESINGULAR, "wg_solve_banded", "(info 2)");
    (void)wg_solve_tridiagonal(t, none, wg_mat_transpose(row), none, b);
    failed_with(t, m, WG_ESINGULAR, "wg_solve_tridiagonal", "(info 2)");
    /* usable: the triangle with diagonal 1 of the same matrix is regular */
    const wg_mat y = wg_trsm(t, 'L', 'L', 'N', 'U', 1, a, b);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 3), WG_OK);
    wg_tape_free(t);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = random_input(t, 27, 3, 3, 4), b = random_input(t, 28, 4, 2, 0);
    const wg_mat flat = random_input(t, 29, 3, 4, 0);
    const wg_mark m = wg_tape_mark(t);
    (void)wg_solve(t, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_solve of 3x3, 4x2", "right-hand side");
    (void)wg_solve(t, flat, b);
    failed_with(t, m, WG_ESHAPE, "wg_solve of 3x4, 4x2", "not square");
    (void)wg_solve_spd(t, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_solve_spd of 3x3, 4x2", "right-hand side");
    (void)wg_solve_batch(t, 2, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_solve_batch of 3x3, 4x2", "batch");
    (void)wg_solve_batch(t, 3, wg_mat_fill(t, 1, 3, 1), wg_mat_fill(t, 1, 2, 1));
    failed_with(t, m, WG_ESHAPE, "1x3, 1x2", "do not divide");
    (void)wg_solve_batch(t, SIZE_MAX / 2, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_solve_batch of 3x3, 4x2", "not of that many square");
    (void)wg_cholesky_batch(t, SIZE_MAX / 2, a);
    failed_with(t, m, WG_ESHAPE, "wg_cholesky_batch of 3x3", "not of that many square");
    (void)wg_trsm_batch(t, SIZE_MAX / 2, 'L', 'L', 'N', 'N', 1, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_trsm_batch of 3x3, 4x2", "not a batch of square");
    (void)wg_trsm(t, 'L', 'L', 'N', 'N', 1, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_trsm of 3x3, 4x2", "right-hand side");
    (void)wg_trsm(t, 'R', 'L', 'N', 'N', 1, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_trsm of 3x3, 4x2", "right-hand side");
    (void)wg_trsv(t, 'L', 'N', 'N', flat, b);
    failed_with(t, m, WG_ESHAPE, "wg_trsv of 3x4, 4x2", "not square");
    (void)wg_factor_solve(t, wg_lu(t, a), 'N', b);
    failed_with(t, m, WG_ESHAPE, "wg_factor_solve of 3x3, 4x2", "right-hand side");
    (void)wg_lu(t, flat);
    failed_with(t, m, WG_ESHAPE, "wg_lu of 3x4", "not square");
    (void)wg_solve_banded(t, 1, 2, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_solve_banded of 3x3, 4x2", "diagonal");
    (void)wg_solve_banded(t, 1, 1, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_solve_banded of 3x3, 4x2", "right-hand side");
    (void)wg_solve_tridiagonal(t, wg_mat_col(a, 0), wg_mat_col(a, 0), wg_mat_col(a, 0), b);
    failed_with(t, m, WG_ESHAPE, "3x1, 3x1, 3x1, 4x2", "diagonals");
    (void)wg_trsm(t, 'X', 'L', 'N', 'N', 1, a, b);
    failed_with(t, m, WG_EARG, "wg_trsm", "flag");
    (void)wg_factor_solve(t, wg_lu(t, a), 'X', wg_mat_block(b, 0, 0, 3, 2));
    failed_with(t, m, WG_EARG, "wg_factor_solve", "flag");
    assert_true(wg_solve(NULL, a, b).value == NULL);
    assert_true(wg_factor_solve(NULL, wg_lu(NULL, a), 'N', a).value == NULL);
    wg_tape_free(t);
}

/* Of variables and of constants, also when something else stands where the factor was. */
static void a_factor_that_was_forgotten_is_refused(void **state) {
    (void)state;
    for (unsigned k = 0; k < 8; k++) {
        const wg_options o = {.flags = k & 1 ? WG_CHECKED : 0};
        wg_tape *const t = wg_tape_new(&o), *const other = wg_tape_new(&o);
        wg_mat a = random_input(t, 30, 3, 3, 4);
        const wg_mat b = random_input(t, 31, 3, 1, 0);
        if (k & 2) a = wg_mat_constant(t, 3, 3, a.value, 3);
        const wg_mark m = wg_tape_mark(t);
        const wg_factor f = wg_lu(t, a);
        const wg_mark behind = wg_tape_mark(t);
        (void)wg_factor_solve(t, f, 'N', b);
        assert_int_equal(wg_tape_rewind(t, behind), WG_OK);
        (void)wg_factor_solve(t, f, 'N', b); /* still there */
        assert_int_equal(wg_tape_status(t), WG_OK);
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        for (int i = 0; i < 3 && (k & 4); i++)
            (void)wg_lu(
                t, k & 2 ? wg_mat_constant(t, 3, 3, (double[9]){1, 0, 0, 0, 2, 0, 0, 0, 3}, 3)
                         : wg_mat_exp(t, a));
        const wg_mark now = wg_tape_mark(t);
        assert_int_equal(wg_tape_status(t), WG_OK);
        (void)wg_factor_solve(t, f, 'N', b);
        failed_with(t, now, WG_ESTALE, "wg_factor_solve", "rewind");
        (void)wg_factor_inverse(t, f);
        failed_with(t, now, WG_ESTALE, "wg_factor_inverse", "rewind");
        (void)wg_factor_det(t, f);
        failed_with(t, now, WG_ESTALE, "wg_factor_det", "rewind");
        const wg_mark empty = wg_tape_mark(other);
        (void)wg_factor_logdet(other, f);
        failed_with(other, empty, WG_ESTALE, "wg_factor_logdet", "another tape");
        wg_tape_reset(t);
        const wg_mark start = wg_tape_mark(t);
        (void)wg_factor_logdet(t, f);
        failed_with(t, start, WG_ESTALE, "wg_factor_logdet", "reset");
        wg_tape_free(t);
        wg_tape_free(other);
    }
}

/* New inputs through a recording: the factor is made anew, once, and all of its uses follow. */
static void a_replay_factors_again(void **state) {
    (void)state;
    const wg_options kept = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&kept);
    wg_real x[N * N], y[2];
    double *const a = random_numbers(32, N * N), *const b = random_numbers(33, N * N);
    for (size_t i = 0; i < N; i++) a[i * (N + 1)] += 4, b[i * (N + 1)] += 5;
    assert_int_equal(wg_inputs(t, N * N, a, x), WG_OK);
    const wg_factor f = wg_lu(t, wg_mat_gather(t, N, N, x));
    y[0] = wg_factor_logdet(t, f);
    y[1] = wg_mat_at(wg_factor_solve(t, f, 'N', wg_mat_fill(t, N, 1, 1)), 2, 0);
    assert_int_equal(wg_tape_replay(t, N * N, x, b), WG_OK);
    wg_tape *const u = wg_tape_new(NULL);
    const wg_factor g = wg_lu(u, wg_mat_constant(u, N, N, b, N));
    assert_true(wg_tape_value(t, y[0]) == wg_factor_logdet(u, g).value);
    assert_true(wg_tape_value(t, y[1]) ==
                wg_mat_at(wg_factor_solve(u, g, 'N', wg_mat_fill(u, N, 1, 1)), 2, 0).value);
    wg_tape_free(u);
    wg_tape_free(t);
    free(a);
    free(b);
}

/* The tangent along 2^-70 times a direction, to the last bit: what is not of the diagonal of
 * ones is not lost beside it. */
static void a_small_tangent_of_a_triangle_with_ones_has_all_its_digits(void **state) {
    enum { ORDER = 4, COLUMNS = 3 };
    (void)state;
    double *const a = random_numbers(41, ORDER * ORDER),
                  *const b = random_numbers(42, ORDER * ORDER),
                  *const direction = random_numbers(43, ORDER * ORDER);
    wg_tape *const t = wg_tape_new(NULL);
    for (unsigned flags = 0; flags < 8; flags++) {
        const char side = flags & 1 ? 'R' : 'L';
        const size_t rows = flags & 1 ? COLUMNS : ORDER, cols = flags & 1 ? ORDER : COLUMNS;
        double v[ORDER * ORDER], tangent[2][ORDER * COLUMNS];
        for (int small = 0; small < 2; small++) {
            wg_tape_reset(t);
            assert_int_equal(wg_tape_forward(t, 1), WG_OK);
            const wg_mat x = wg_mat_input(t, ORDER, ORDER, a, ORDER);
            for (size_t i = 0; i < ORDER * ORDER; i++)
                v[i] = direction[i] * (small ? 0x1p-70 : 1);
            assert_int_equal(wg_mat_tangent_seed(t, x, 0, v, ORDER), WG_OK);
            const wg_mat y = wg_trsm(t, side, flags & 2 ? 'U' : 'L', flags & 4 ? 'T' : 'N', 'U',
                                     1, x, wg_mat_constant(t, rows, cols, b, rows));
            assert_int_equal(wg_mat_tangent(t, y, 0, tangent[small], rows), WG_OK);
        }
        for (size_t i = 0; i < ORDER * COLUMNS; i++)
            assert_true(tangent[1][i] == tangent[0][i] * 0x1p-70);
    }
    wg_tape_free(t);
    free(a);
    free(b);
    free(direction);
}

static void every_case_claimed_here_is_checked(void **state) {
    (void)state;
    matrix_claims_met("solve");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trsv_agrees_with_its_oracle),
        cmocka_unit_test(trsm_agrees_with_its_oracle),
        cmocka_unit_test(solve_agrees_with_its_oracle),
        cmocka_unit_test(spd_solve_agrees_with_its_oracle),
        cmocka_unit_test(cholesky_agrees_with_its_oracle),
        cmocka_unit_test(logdet_spd_agrees_with_its_oracle),
        cmocka_unit_test(logabsdet_agrees_with_its_oracle),
        cmocka_unit_test(inv_agrees_with_its_oracle),
        cmocka_unit_test(det_agrees_with_its_oracle),
        cmocka_unit_test(qr_agrees_with_its_oracle),
        cmocka_unit_test(lstsq_agrees_with_its_oracle),
        cmocka_unit_test(pinv_agrees_with_its_oracle),
        cmocka_unit_test(one_factor_serves_every_operation),
        cmocka_unit_test(a_factor_is_made_once),
        cmocka_unit_test(batches_equal_their_members),
        cmocka_unit_test(large_triangles_have_their_derivatives),
        cmocka_unit_test(a_matrix_solved_for_itself_has_no_derivative),
        cmocka_unit_test(the_gradient_of_a_symmetric_operand_is_symmetric),
        cmocka_unit_test(a_banded_solve_equals_the_dense_one),
        cmocka_unit_test(a_tridiagonal_solve_equals_the_dense_one),
        cmocka_unit_test(banded_solves_have_their_derivatives),
        cmocka_unit_test(zero_sizes_are_solved),
        cmocka_unit_test(order_one_is_a_division),
        cmocka_unit_test(what_cannot_be_solved_fails_and_is_forgotten_by_a_rewind),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(a_factor_that_was_forgotten_is_refused),
        cmocka_unit_test(a_replay_factors_again),
        cmocka_unit_test(a_small_tangent_of_a_triangle_with_ones_has_all_its_digits),
        cmocka_unit_test(every_case_claimed_here_is_checked),
    };
    return cmocka_run_group_tests_name("solve", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_ops_matrix_function.c - exponential, powers, square root and logarithm of a matrix, and
 * the equations of Sylvester and Lyapunov: the oracle in every mode of the tape; differences;
 * identities; one operation against another; what has no answer.
 *
 * Letters: as in ops/matrix/matrix_function.c and ops/matrix/sylvester.c. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <wengert/function.h>
#include <wengert/solve.h>
#include "sanitized.h"
#include "spectral_case.h"

extern const wg_block_op wgi_op_expm, wgi_op_powm, wgi_op_sqrtm, wgi_op_logm, wgi_op_sylvester,
    wgi_op_lyapunov, wgi_op_lyapunov_discrete;

/* An identity that goes through a logarithm or a square root: they lose what the condition of
 * the function asks for, a few bits for the matrices here. */
#define TOL_FUNCTION_ULP 1024.0

/* ---- the oracle ---- */

static void expm(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                 void *data) {
    (void)c, (void)data;
    out[0] = wg_expm(t, in[0]);
}
static void check_expm(struct matrix_case *c) { matrix_case_check(c, expm, NULL); }
static void exponentials_agree_with_their_oracle(void **state) {
    (void)state;
    matrix_case_each("expm", check_expm);
}

static void matpow(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                   void *data) {
    (void)data;
    out[0] = wg_powm(t, in[0], (int)matrix_case_number(c, "p"));
}
static void check_matpow(struct matrix_case *c) { matrix_case_check(c, matpow, NULL); }
static void powers_agree_with_their_oracle(void **state) {
    (void)state;
    matrix_case_each("matpow", check_matpow);
}
static void every_claimed_case_was_checked(void **state) {
    (void)state;
    matrix_claims_met("matrix_function");
}

/* ---- every operation ---- */

typedef void check_of(const struct spectral_case *c);

static void each_function(size_t n, check_of *check) {
    static const double factors[] = {0.005, 0.1, 0.5, 1, 2.5, 9};
    static const int powers[] = {0, 1, 2, 3, 7, 10, -1, -2, -5};
    const double one = 1, minus = -0.5;
    uint64_t seed = 7 * n;
    double *a = spectral_right_of_zero(n, &seed);
    const struct spectral_case all[] = {
        {"wg_sqrtm", &wgi_op_sqrtm, NULL, 0, 1, 1, {n}, {n}, {a}},
        {"wg_logm", &wgi_op_logm, NULL, 0, 1, 1, {n}, {n}, {a}},
        {"wg_expm", &wgi_op_expm, &minus, sizeof minus, 1, 1, {n}, {n}, {a}}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(&all[k]);
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
        const struct spectral_case c = {
            "wg_powm", &wgi_op_powm, &powers[k], sizeof powers[k], 1, 1, {n}, {n}, {a}};
        check(&c);
    }
    for (size_t k = 0; k < sizeof factors / sizeof *factors; k++) { /* every degree */
        double *b = spectral_scaled(n, spectral_random(n, n, &seed), factors[k] / (double)n);
        const struct spectral_case c = {"wg_expm", &wgi_op_expm, &one, sizeof one, 1,
                                        1,         {n},          {n},  {b}};
        check(&c);
        free(b);
    }
    free(a);
}

static void each_equation(size_t m, size_t n, check_of *check) {
    uint64_t seed = 7 * n + m;
    double *a = spectral_right_of_zero(m, &seed), *b = spectral_right_of_zero(n, &seed);
    double *c = spectral_random(m, n, &seed), *q = spectral_random(m, m, &seed);
    double *small = spectral_scaled(m, spectral_right_of_zero(m, &seed), 0.25);
    const struct spectral_case all[] = {
        {"wg_sylvester", &wgi_op_sylvester, NULL, 0, 3, 1, {m, n, m}, {m, n, n}, {a, b, c}},
        {"wg_lyapunov", &wgi_op_lyapunov, NULL, 0, 2, 1, {m, m}, {m, m}, {a, q}},
        {"wg_lyapunov_discrete",
         &wgi_op_lyapunov_discrete,
         NULL,
         0,
         2,
         1,
         {m, m},
         {m, m},
         {small, q}}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check(&all[k]);
    free(a);
    free(b);
    free(c);
    free(q);
    free(small);
}

static void derivatives_agree_with_differences(void **state) {
    (void)state;
    enum { LARGEST = SANITIZED ? 3 : 4 };
    for (size_t n = 1; n <= LARGEST; n++) each_function(n, spectral_check_differences);
    for (size_t m = 1; m < LARGEST; m++)
        for (size_t n = 1; n < LARGEST; n++) each_equation(m, n, spectral_check_differences);
}

/* Orders on both sides of the blocks of 32. */
static void tangents_agree_with_adjoints(void **state) {
    (void)state;
    static const size_t orders[] = {1, 2, 3, 4, 8, 31, 33, 70};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        each_function(orders[k], spectral_check_adjoint);
        each_equation(orders[k], orders[k], spectral_check_adjoint);
    }
    each_equation(3, 65, spectral_check_adjoint);
    each_equation(65, 40, spectral_check_adjoint);
}

static void a_nan_or_an_infinity_is_a_status(void **state) {
    (void)state;
    each_function(1, spectral_check_not_finite);
    each_function(5, spectral_check_not_finite);
    each_equation(1, 1, spectral_check_not_finite);
    each_equation(5, 4, spectral_check_not_finite);
}

static void empty_matrices_are_taken(void **state) {
    (void)state;
    each_function(1, spectral_check_empty);
    each_equation(1, 1, spectral_check_empty);
    wg_tape *t = wg_tape_new(NULL);
    const wg_mat x = wg_sylvester(t, wg_mat_fill(t, 3, 3, 1), wg_mat_fill(t, 0, 0, 1),
                                  wg_mat_fill(t, 3, 0, 1));
    assert_true(x.rows == 3 && x.cols == 0 && wg_tape_status(t) == WG_OK);
    wg_tape_free(t);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    each_function(3, spectral_check_shapes);
    each_equation(3, 4, spectral_check_shapes);
}

/* ---- identities ---- */

static void near_product(const char *what, size_t n, const double *a, const double *b,
                         const double *want, double ulps) {
    double *c = spectral_room(n * n);
    spectral_product(n, a, b, 0, c);
    spectral_near(what, n * n, c, want,
                  ulps * (double)n * DBL_EPSILON * fmax(spectral_size(n * n, a), 1) *
                      fmax(spectral_size(n * n, b), 1));
    free(c);
}

/* exp(A) exp(-A) = I, sqrt(A)^2 = A, exp(log A) = A, A^(1/3)^3 = A, A^p A^-p = I. */
static void functions_and_their_inverses(void **state) {
    (void)state;
    static const size_t orders[] = {1, 2, 5, 20, 47};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        const size_t n = orders[k];
        uint64_t seed = n;
        double *a = spectral_right_of_zero(n, &seed), *minus = spectral_room(n * n),
               *eye = spectral_room(n * n);
        for (size_t i = 0; i < n * n; i++) minus[i] = -a[i];
        for (size_t i = 0; i < n; i++) eye[i + i * n] = 1;
        const wg_mat in = spectral_input(t, n, n, a);
        double *const x[] = {spectral_value(t, wg_expm(t, in)),
                             spectral_value(t, wg_expm(t, spectral_input(t, n, n, minus))),
                             spectral_value(t, wg_sqrtm(t, in)),
                             spectral_value(t, wg_expm(t, wg_logm(t, in))),
                             spectral_value(t, wg_logm(t, wg_expm(t, in))),
                             spectral_value(t, wg_powm(t, wg_powm_real(t, in, 1.0 / 3), 3)),
                             spectral_value(t, wg_powm(t, in, 6)),
                             spectral_value(t, wg_powm(t, in, -6))};
        near_product("exp(A) exp(-A)", n, x[0], x[1], eye, TOL_SPECTRAL_ULP);
        near_product("sqrt(A)^2", n, x[2], x[2], a, TOL_SPECTRAL_ULP);
        const double bound =
            TOL_FUNCTION_ULP * (double)n * DBL_EPSILON * spectral_size(n * n, a);
        spectral_near("exp(log A)", n * n, x[3], a, bound);
        spectral_near("log(exp A)", n * n, x[4], a, bound);
        spectral_near("A^(1/3)^3", n * n, x[5], a, bound);
        near_product("A^6 A^-6", n, x[6], x[7], eye, TOL_FUNCTION_ULP);
        for (size_t i = 0; i < sizeof x / sizeof *x; i++) free(x[i]);
        free(a);
        free(minus);
        free(eye);
        wg_tape_reset(t);
    }
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

typedef wg_mat function_of(wg_tape *t, wg_mat a);
static wg_mat power_07(wg_tape *t, wg_mat a) { return wg_powm_real(t, a, 0.7); }
static wg_mat symmetric_07(wg_tape *t, wg_mat a) { return wg_symmetric_power(t, a, 0.7); }
static wg_mat power_5(wg_tape *t, wg_mat a) { return wg_powm(t, a, 5); }
static wg_mat symmetric_5(wg_tape *t, wg_mat a) { return wg_symmetric_power(t, a, 5); }
static wg_mat power_minus_3(wg_tape *t, wg_mat a) { return wg_powm(t, a, -3); }
static wg_mat symmetric_minus_3(wg_tape *t, wg_mat a) { return wg_symmetric_power(t, a, -3); }

/* Of a symmetric matrix, with repeated eigenvalues too: value and symmetric part of the
 * gradient are those of the functions by divided differences. */
static void functions_of_a_symmetric_matrix_in_two_ways(void **state) {
    (void)state;
    enum { N = 12 };
    static function_of *const pairs[][2] = {
        {wg_expm, wg_symmetric_exp},   {wg_logm, wg_symmetric_log},
        {wg_sqrtm, wg_symmetric_sqrt}, {power_07, symmetric_07},
        {power_5, symmetric_5},        {power_minus_3, symmetric_minus_3}};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        for (int repeated = 0; repeated < 2; repeated++) {
            double w[N], *g[2], *v[2];
            uint64_t seed = k + 1;
            for (size_t i = 0; i < N; i++) w[i] = 0.5 + (double)(repeated ? i / 4 : i) / 4;
            double *a = spectral_symmetric(N, w, &seed), *c = spectral_random(N, N, &seed);
            for (int way = 0; way < 2; way++) {
                const wg_mat in = spectral_input(t, N, N, a), f = pairs[k][way](t, in);
                if (wg_mat_reverse(t, f, c, N) != WG_OK) fail_msg("%s", wg_tape_message(t));
                v[way] = spectral_value(t, f), g[way] = spectral_adjoint(t, in);
                wg_tape_reset(t);
            }
            for (size_t j = 0; j < N; j++)
                for (size_t i = 0; i <= j; i++)
                    g[0][i + j * N] = g[0][j + i * N] =
                        0.5 * (g[0][i + j * N] + g[0][j + i * N]);
            spectral_near("value", N * N, v[0], v[1],
                          TOL_FUNCTION_ULP * DBL_EPSILON * spectral_size(N * N, v[1]));
            spectral_near("gradient", N * N, g[0], g[1],
                          TOL_FUNCTION_ULP * DBL_EPSILON * spectral_size(N * N, g[1]));
            for (int way = 0; way < 2; way++) free(g[way]), free(v[way]);
            free(a);
            free(c);
        }
    wg_tape_free(t);
}

/* exp of a large matrix, by many squarings: a rotation by 1000, and its derivative. */
static void a_large_argument_is_scaled(void **state) {
    (void)state;
    const double a[] = {0, 1000, -1000, 0}, w[] = {1, 0, 0, 0};
    wg_tape *t = wg_tape_new(NULL);
    const wg_mat in = spectral_input(t, 2, 2, a), e = wg_expm(t, in);
    double *v = spectral_value(t, e);
    const double bound = 1000 * TOL_SPECTRAL_ULP * DBL_EPSILON;
    assert_true(fabs(v[0] - cos(1000.0)) < bound && fabs(v[1] - sin(1000.0)) < bound);
    /* along A itself the derivative of exp(s A) is A exp(A) */
    assert_int_equal(wg_mat_reverse(t, e, w, 2), WG_OK);
    double *g = spectral_adjoint(t, in);
    const double along = 1000 * (g[1] - g[2]);
    assert_true(fabs(along + 1000 * sin(1000.0)) < 1000 * bound);
    free(v);
    free(g);
    /* beyond every exponent: an answer, if not a number, and in finite time */
    const double huge[] = {1e308, 1e308, -1e308, 1e308};
    (void)wg_expm(t, spectral_input(t, 2, 2, huge));
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* log(s A) = log(A) + log(s) I, and its derivative at s A is that at A over s. */
static void logarithms_at_the_ends_of_the_range_are_right(void **state) {
    (void)state;
    static const double a[4] = {1, 0, 0.5, 2},
                        scale[] = {0x1p-996, 0x1p-1015, 0x1p996, 0x1p-300};
    static const double w[4] = {1, -0.5, 0.25, 2};
    wg_tape *const t = wg_tape_new(NULL);
    double *ref = NULL, *slope = NULL;
    for (size_t k = 0; k <= sizeof scale / sizeof *scale; k++) {
        const double s = k == 0 ? 1 : scale[k - 1];
        double x[4];
        wg_tape_reset(t);
        for (size_t i = 0; i < 4; i++) x[i] = s * a[i];
        const wg_mat in = spectral_input(t, 2, 2, x), l = wg_logm(t, in);
        assert_int_equal(wg_mat_reverse(t, l, w, 2), WG_OK);
        double *const v = spectral_value(t, l), *const g = spectral_adjoint(t, in);
        if (k == 0) {
            ref = v, slope = g;
            continue;
        }
        for (size_t i = 0; i < 4; i++) {
            const double shift = i % 3 == 0 ? log(s) : 0;
            assert_true(fabs(v[i] - (ref[i] + shift)) <= spectral_bound(2, 1 + fabs(shift)));
            assert_true(fabs(g[i] * s - slope[i]) <= spectral_bound(2, 4));
        }
        free(v), free(g);
    }
    free(ref), free(slope);
    wg_tape_free(t);
}

/* Every refusal says why. */
static void messages_name_a_cause(void **state) {
    (void)state;
    static const double singular[4] = {1, 2, 2, 4}, negative[4] = {-1, 0, 0, 2};
    static const double not_finite[4] = {1, NAN, 0, 1}, zero[4] = {0, 0, 0, 1};
    wg_tape *const t = wg_tape_new(NULL);
    MATRIX_REFUSED(t, WG_ESINGULAR, "wg_powm of 2x2: the matrix is singular",
                   wg_powm(t, spectral_input(t, 2, 2, singular), -1));
    MATRIX_REFUSED(t, WG_ENONFINITE, "a NaN or an infinity",
                   wg_powm(t, spectral_input(t, 2, 2, not_finite), 3));
    MATRIX_REFUSED(t, WG_ESINGULAR, "an eigenvalue is 0 or negative",
                   wg_logm(t, spectral_input(t, 2, 2, negative)));
    MATRIX_REFUSED(t, WG_ESINGULAR, "wg_powm_real of 2x2: an eigenvalue is 0 or negative",
                   wg_powm_real(t, spectral_input(t, 2, 2, zero), 0.5));
    MATRIX_REFUSED(t, WG_ENONFINITE, "wg_logm of 2x2: an operand has a NaN or an infinity",
                   wg_logm(t, spectral_input(t, 2, 2, not_finite)));
    MATRIX_REFUSED(t, WG_ENONFINITE, "wg_pinv of 2x2: an operand has a NaN or an infinity",
                   wg_pinv(t, spectral_input(t, 2, 2, not_finite), -1));
    MATRIX_REFUSED(t, WG_EARG, "the exponent is not finite",
                   wg_powm_real(t, wg_mat_identity(t, 2), INFINITY));
    static const double small[4] = {1e-200, 0, 0, 2e-200}, large[4] = {1e200, 1, 1, 1e200};
    MATRIX_REFUSED(
        t, WG_ESINGULAR, "wg_lyapunov of 2x2, 2x2: the solution is not within",
        wg_lyapunov(t, spectral_input(t, 2, 2, small), spectral_input(t, 2, 2, large)));
    wg_tape_free(t);
}

/* ---- graded matrices: A = D C D^-1, D of powers of two ---- */

enum { GRADED = 4, BLOCK = 2 * GRADED };

/* x = exp(x) of order n, in long double: 40 terms of the series of x / 2^10, squared ten
 * times. */
static void long_exponential(size_t n, long double *x) {
    enum { TERMS = 40, SQUARINGS = 10 };
    long double y[BLOCK * BLOCK], term[BLOCK * BLOCK], next[BLOCK * BLOCK];
    for (size_t i = 0; i < n * n; i++) {
        x[i] = ldexpl(x[i], -SQUARINGS);
        y[i] = term[i] = i % (n + 1) == 0;
    }
    for (int k = 1; k <= TERMS + SQUARINGS; k++) {
        const long double *const by = k <= TERMS ? x : y, *const from = k <= TERMS ? term : y;
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++) {
                long double s = 0;
                for (size_t l = 0; l < n; l++) s += from[i + l * n] * by[l + j * n];
                next[i + j * n] = k <= TERMS ? s / k : s;
            }
        for (size_t i = 0; i < n * n; i++)
            if (k <= TERMS) term[i] = next[i], y[i] += next[i];
            else y[i] = next[i];
    }
    memcpy(x, y, n * n * sizeof *x);
}

/* e = exp(C), and l the derivative of its element (k, l) by every one of C. */
static void exponential_of(size_t n, const double *c, long double *e) {
    for (size_t i = 0; i < n * n; i++) e[i] = c[i];
    long_exponential(n, e);
}
static long double derivative_of(size_t n, const double *c, size_t of, size_t by) {
    const size_t m = 2 * n, j = by / n, i = by % n;
    long double x[BLOCK * BLOCK] = {0};
    for (size_t k = 0; k < n * n; k++)
        x[k % n + k / n * m] = x[n + k % n + (n + k / n) * m] = c[k];
    x[i + (n + j) * m] = 1;
    long_exponential(m, x);
    return x[of % n + (n + of / n) * m];
}

/* exp(A) = D exp(C) D^-1, and of L(A, .) the same: all elements to so many units of the largest
 * of C's. Adjoints, tangents, and a function, which is recorded at A. */
static wg_status exponential(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    const size_t order = *(const size_t *)data;
    const wg_mat e = wg_expm(t, wg_mat_gather(t, order, order, x));
    for (size_t i = 0; i < m; i++) y[i] = wg_mat_at(e, i % order, i / order);
    return n == m ? wg_tape_status(t) : WG_ESHAPE;
}
static void check_graded(size_t n, const double *c, double grade) {
    static double work[1 << 18];
    const size_t nn = n * n;
    double a[GRADED * GRADED], y[GRADED * GRADED], z[GRADED * GRADED];
    double jac[2][GRADED * GRADED * GRADED * GRADED];
    long double e[GRADED * GRADED], size = 0;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    size_t order = n;
    const wg_argument in = {"x", nn, 1, 0}, out = {"y", nn, 1, 0};
    const wg_points at = {a, (ptrdiff_t)nn, 1};
    const wg_results to = {z, (ptrdiff_t)nn, 1};
    wg_function *f;
#define POWER(k) (-grade * (double)(k)) /* of D, k */
    for (size_t i = 0; i < nn; i++) a[i] = c[i] * exp2(POWER(i % n) - POWER(i / n));
    for (size_t i = 0; i < nn; i++) { /* by adjoints of y_i, by tangents along x_i */
        double w[GRADED * GRADED] = {0}, tangent[GRADED * GRADED], g[GRADED * GRADED];
        w[i] = 1;
        assert_int_equal(wg_vjp(t, exponential, &order, nn, a, nn, w, y, g), WG_OK);
        assert_int_equal(wg_jvp(t, exponential, &order, nn, a, w, nn, NULL, tangent), WG_OK);
        for (size_t k = 0; k < nn; k++)
            jac[0][i + k * nn] = g[k], jac[1][k + i * nn] = tangent[k];
    }
    assert_int_equal(wg_function_record(t, exponential, &order, 1, &in, a, 1, &out, &f), WG_OK);
    assert_true(wg_function_work(f, NULL) <= sizeof work);
    assert_int_equal(wg_function_evaluate(f, 1, &at, &to, NULL, work, NULL), WG_OK);
    wg_function_free(f);
    exponential_of(n, c, e);
    for (size_t i = 0; i < nn; i++) size = fmaxl(size, fabsl(e[i]));
    const double bound = (double)n * TOL_SPECTRAL_ULP * DBL_EPSILON * (double)size;
    for (size_t i = 0; i < nn; i++) {
        const double back = exp2(POWER(i / n) - POWER(i % n));
        if (!(fabs(y[i] * back - (double)e[i]) <= bound &&
              fabs(z[i] * back - (double)e[i]) <= bound))
            fail_msg("order %zu, graded by 2^%g, element %zu: %g and %g, not %g", n, grade, i,
                     y[i] * back, z[i] * back, (double)e[i]);
        for (size_t k = 0; k < nn; k++) {
            const double ref = (double)derivative_of(n, c, i, k);
            const double turn = exp2(POWER(k % n) - POWER(k / n));
            for (int way = 0; way < 2; way++) {
                const double got = jac[way][i + k * nn] * back * turn;
                if (!(fabs(got - ref) <= bound))
                    fail_msg("order %zu, graded by 2^%g, element %zu by %zu: %g, not %g", n,
                             grade, i, k, got, ref);
            }
        }
    }
    wg_tape_free(t);
}
static void graded_matrices_are_not_scaled_in_vain(void **state) {
    (void)state;
    static const double grades[] = {0, 10, 20, 33, -33};
    static const double upper[4] = {1, 0, 1, -1}, lower[4] = {1, 1, 0, -1};
    uint64_t seed = 29;
    for (size_t k = 0; k < sizeof grades / sizeof *grades; k++) {
        check_graded(2, grades[k] > 0 ? upper : lower, grades[k]);
        for (size_t n = 2; n <= (fabs(grades[k]) <= 20 ? GRADED : 2); n++) {
            double *const c = spectral_random(n, n, &seed);
            for (size_t i = 0; i < n * n; i++) /* the triangle that is large */
                if (grades[k] > 0 ? i % n > i / n : grades[k] < 0 && i % n < i / n) c[i] = 0;
            check_graded(n, c, grades[k]);
            free(c);
        }
    }
}

/* Where a norm, or its product with a power, is beyond every number. */
static void exponentials_of_huge_arguments_vanish(void **state) {
    (void)state;
    static const double far[] = {-800, -1e300, -1.7e308}, power[] = {1e3, 1e300, 1e306, 1e307};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
        const double a[4] = {far[k], 0, 0, far[k]}, w[4] = {1, 1, 1, 1};
        const wg_mat in = spectral_input(t, 2, 2, a), e = wg_expm(t, in);
        double *v = spectral_value(t, e);
        assert_int_equal(wg_mat_reverse(t, e, w, 2), WG_OK);
        double *g = spectral_adjoint(t, in);
        for (size_t i = 0; i < 4; i++) assert_true(v[i] == 0 && g[i] == 0);
        free(v);
        free(g);
    }
    /* the 1-norm is infinite */
    const double wide[4] = {-1.5e308, 0, 1.5e308, -1.5e308};
    double *v = spectral_value(t, wg_expm(t, spectral_input(t, 2, 2, wide)));
    for (size_t i = 0; i < 4; i++) assert_true(v[i] == 0);
    free(v);
    for (size_t k = 0; k < sizeof power / sizeof *power; k++) {
        const double small = 1e-300;
        v = spectral_value(t, wg_powm_real(t, spectral_input(t, 1, 1, &small), power[k]));
        assert_true(*v == 0);
        free(v);
    }
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* A block of Jordan's: no eigenvectors to diagonalise with. */
static void defective_matrices_are_no_obstacle(void **state) {
    (void)state;
    const double a[] = {2, 0, 0, 1, 2, 0, 0, 1, 2};
    const double one = 1;
    const int p = 5;
    const struct spectral_case all[] = {
        {"wg_expm", &wgi_op_expm, &one, sizeof one, 1, 1, {3}, {3}, {a}},
        {"wg_powm", &wgi_op_powm, &p, sizeof p, 1, 1, {3}, {3}, {a}},
        {"wg_sqrtm", &wgi_op_sqrtm, NULL, 0, 1, 1, {3}, {3}, {a}},
        {"wg_logm", &wgi_op_logm, NULL, 0, 1, 1, {3}, {3}, {a}},
        {"wg_sylvester", &wgi_op_sylvester, NULL, 0, 3, 1, {3, 3, 3}, {3, 3, 3}, {a, a, a}},
        {"wg_lyapunov", &wgi_op_lyapunov, NULL, 0, 2, 1, {3, 3}, {3, 3}, {a, a}},
        {"wg_lyapunov_discrete",
         &wgi_op_lyapunov_discrete,
         NULL,
         0,
         2,
         1,
         {3, 3},
         {3, 3},
         {a, a}}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        spectral_check_differences(&all[k]);
        spectral_check_adjoint(&all[k]);
    }
}

/* ---- what has no answer ---- */

static wg_mat inverse(wg_tape *t, wg_mat a) { return wg_powm(t, a, -1); }
static wg_mat lyapunov(wg_tape *t, wg_mat a) { return wg_lyapunov(t, a, a); }
static wg_mat discrete(wg_tape *t, wg_mat a) { return wg_lyapunov_discrete(t, a, a); }
static wg_mat sylvester(wg_tape *t, wg_mat a) {
    return wg_sylvester(t, a, wg_mat_identity(t, a.rows), a);
}

static void what_has_no_answer_is_a_status(void **state) {
    (void)state;
    static const struct {
        function_of *call;
        double a[4];
        wg_status status;
        const char *why;
    } rows[] = {{inverse, {1, 2, 2, 4}, WG_ESINGULAR, "info 2"},
                {wg_sqrtm, {1, 0, 0, -1}, WG_ESINGULAR, "negative"},
                {wg_sqrtm, {0, 0, 0, 0}, WG_ESINGULAR, "several are 0"},
                {wg_sqrtm, {0, 0, 1, 0}, WG_ESINGULAR, "several are 0"},
                {wg_sqrtm, {0, 0, 1, 4}, WG_OK, ""},
                {wg_sqrtm, {0, 1, -1, 0}, WG_OK, ""},
                {wg_logm, {1, 0, 0, -1}, WG_ESINGULAR, "negative"},
                {wg_logm, {1, 0, 0, 0}, WG_ESINGULAR, "0 or negative"},
                {wg_logm, {0, 1, -1, 0}, WG_OK, ""},
                {wg_logm, {1, 0, 1e300, 1}, WG_ECONVERGE, "identity"},
                {lyapunov, {1, 0, 5, -1}, WG_ESINGULAR, "add up to 0"},
                {lyapunov, {0, 1, -1, 0}, WG_ESINGULAR, "add up to 0"},
                {discrete, {2, 0, 5, 0.5}, WG_ESINGULAR, "multiply to 1"},
                {discrete, {-1, 0, 0, 0.5}, WG_ESINGULAR, "multiply to 1"},
                {discrete, {0.6, 0.8, -0.8, 0.6}, WG_ESINGULAR, "multiply to 1"},
                {discrete, {-1, 0.001, -0.001, -0.5}, WG_OK, ""},
                {sylvester, {-1, 0, 3, 2}, WG_ESINGULAR, "sign changed"}};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const wg_mark m = wg_tape_mark(t);
        const wg_mat f = rows[k].call(t, spectral_input(t, 2, 2, rows[k].a));
        if (wg_tape_status(t) != rows[k].status ||
            (f.value == NULL) != (rows[k].status != WG_OK))
            fail_msg("row %zu: %s", k, wg_tape_message(t));
        if (strstr(wg_tape_message(t), rows[k].why) == NULL)
            fail_msg("row %zu: no '%s' in: %s", k, rows[k].why, wg_tape_message(t));
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    }
    (void)wg_powm_real(t, wg_mat_identity(t, 2), INFINITY);
    assert_int_equal(wg_tape_status(t), WG_EARG);
    wg_tape_reset(t);
    /* a singular matrix with a square root that has no derivative */
    const double a[] = {0, 0, 0, 4};
    const wg_mat in = spectral_input(t, 2, 2, a), s = wg_sqrtm(t, in);
    assert_int_equal(wg_mat_reverse(t, s, NULL, 0), WG_EDEGENERATE);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* All operands the same matrix, and one transposed: contributions add up. */
static void an_operand_that_is_there_three_times(void **state) {
    (void)state;
    enum { N = 4 };
    uint64_t seed = 12;
    wg_tape *t = wg_tape_new(NULL);
    double *a = spectral_right_of_zero(N, &seed), *w = spectral_random(N, N, &seed), *g[4];
    const wg_mat one = spectral_input(t, N, N, a);
    const wg_mat x = wg_sylvester(t, one, wg_mat_transpose(one), one);
    assert_int_equal(wg_mat_reverse(t, x, w, N), WG_OK);
    g[3] = spectral_adjoint(t, one);
    const wg_mat three[] = {spectral_input(t, N, N, a), spectral_input(t, N, N, a),
                            spectral_input(t, N, N, a)};
    const wg_mat y = wg_sylvester(t, three[0], wg_mat_transpose(three[1]), three[2]);
    assert_int_equal(wg_mat_reverse(t, y, w, N), WG_OK);
    for (size_t i = 0; i < 3; i++) g[i] = spectral_adjoint(t, three[i]);
    for (size_t i = 0; i < N * N; i++) g[0][i] += g[1][i] + g[2][i];
    spectral_near("sum", N * N, g[3], g[0], spectral_bound(N, spectral_size(N * N, g[2])));
    for (size_t i = 0; i < 4; i++) free(g[i]);
    free(a);
    free(w);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponentials_agree_with_their_oracle),
        cmocka_unit_test(powers_agree_with_their_oracle),
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(tangents_agree_with_adjoints),
        cmocka_unit_test(a_nan_or_an_infinity_is_a_status),
        cmocka_unit_test(empty_matrices_are_taken),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(functions_and_their_inverses),
        cmocka_unit_test(functions_of_a_symmetric_matrix_in_two_ways),
        cmocka_unit_test(a_large_argument_is_scaled),
        cmocka_unit_test(logarithms_at_the_ends_of_the_range_are_right),
        cmocka_unit_test(messages_name_a_cause),
        cmocka_unit_test(graded_matrices_are_not_scaled_in_vain),
        cmocka_unit_test(exponentials_of_huge_arguments_vanish),
        cmocka_unit_test(defective_matrices_are_no_obstacle),
        cmocka_unit_test(what_has_no_answer_is_a_status),
        cmocka_unit_test(an_operand_that_is_there_three_times),
        cmocka_unit_test(every_claimed_case_was_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_ops_symmetric_function.c - functions of a symmetric matrix: differences, also where
 * eigenvalues are near each other or the same, and what they are not defined for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/solve.h>
#include <wengert/statistics.h>
#include "symmetric_case.h"

/* <w, f(A)> and its gradient, against differences of the eigenvalues' own. */
struct function_check {
    size_t n;
    function_of *call;
    const double *w;
};
static wg_status weighted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    const struct function_check *k = data;
    (void)n, (void)m;
    const wg_mat f = k->call(t, wg_mat_gather(t, k->n, k->n, x));
    y[0] = wg_constant(0);
    for (size_t j = 0; j < k->n; j++)
        for (size_t i = 0; i < k->n; i++)
            y[0] = wg_let(t, wg_add(y[0], wg_mul(k->w[i + j * k->n], wg_mat_at(f, i, j))));
    return wg_tape_status(t);
}

static void functions_agree_with_differences(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < FUNCTIONS; k++)
        for (size_t n = 1; n <= 5; n++)
            for (int repeated = 0; repeated < 3; repeated++) {
                double w[5];
                uint64_t seed = n + 10 * k;
                for (size_t i = 0; i < n; i++) {
                    const double step = repeated == 0 ? 0.75 : repeated == 1 ? 0 : 1e-5;
                    w[i] = functions[k].low + 0.5 + step * (double)i;
                }
                double *a = spectral_symmetric(n, w, &seed), *c = spectral_random(n, n, &seed);
                struct function_check data = {n, functions[k].call, c};
                wg_check found;
                if (wg_check_gradient(t, weighted, &data, n * n, a, 1, &found) != WG_OK)
                    fail_msg("%s of order %zu, %d: %s", functions[k].name, n, repeated,
                             wg_tape_message(t));
                free(a);
                free(c);
            }
    wg_tape_free(t);
}

static double *gradient_of(function_of *call, size_t n, const double *a, const double *w) {
    wg_tape *t = wg_tape_new(NULL);
    const wg_mat in = spectral_input(t, n, n, a);
    if (wg_mat_reverse(t, call(t, in), w, n) != WG_OK) fail_msg("%s", wg_tape_message(t));
    double *g = spectral_adjoint(t, in);
    wg_tape_free(t);
    return g;
}

static double plain_exp(double x, const void *data) { return (void)data, exp(x); }
static double plain_log(double x, const void *data) { return (void)data, log(x); }
static double plain_reciprocal(double x, const void *data) { return (void)data, 1 / x; }
static double minus_square_reciprocal(double x, const void *data) {
    return (void)data, -1 / x / x;
}
static wg_mat user_exp(wg_tape *t, wg_mat a) {
    const wg_symmetric_function f = {plain_exp, plain_exp, NULL, plain_exp};
    return wg_symmetric_apply(t, a, f);
}
static wg_mat user_log(wg_tape *t, wg_mat a) {
    const wg_symmetric_function f = {plain_log, plain_reciprocal, NULL, minus_square_reciprocal};
    return wg_symmetric_apply(t, a, f);
}

/* Eigenvalues at all distances from each other: divided differences of the user's functions are
 * those of the library's, which know the function. */
static void divided_differences_are_accurate_at_every_distance(void **state) {
    (void)state;
    enum { N = 18 };
    static function_of *const pairs[][2] = {{wg_symmetric_exp, user_exp},
                                            {wg_symmetric_log, user_log}};
    double a[N * N] = {0}, w[N * N];
    uint64_t seed = 4;
    for (size_t i = 0; i < N; i++) a[i + i * N] = 1 + (i == 0 ? 0 : ldexp(1, -3 * (int)i));
    for (size_t i = 0; i < N * N; i++) w[i] = walk_number(&seed);
    for (size_t k = 0; k < 2; k++) {
        double *g = gradient_of(pairs[k][0], N, a, w), *u = gradient_of(pairs[k][1], N, a, w);
        for (size_t i = 0; i < N * N; i++)
            assert_true(fabs(g[i] - u[i]) <= 1024 * DBL_EPSILON * fabs(g[i]));
        free(g);
        free(u);
    }
}

static wg_mat power_minus_2(wg_tape *t, wg_mat a) { return wg_symmetric_power(t, a, -2); }
static wg_mat power_1(wg_tape *t, wg_mat a) { return wg_symmetric_power(t, a, 1); }
static wg_mat power_0(wg_tape *t, wg_mat a) { return wg_symmetric_power(t, a, 0); }

static void functions_refuse_what_they_are_not_defined_for(void **state) {
    (void)state;
    static const struct {
        function_of *call;
        double low, high;
        wg_status status;
    } rows[] = {{wg_symmetric_log, 0, 1, WG_ESINGULAR},
                {wg_symmetric_log, -1, 1, WG_ESINGULAR},
                {wg_symmetric_sqrt, -1, 1, WG_ESINGULAR},
                {wg_symmetric_sqrt, 0, 1, WG_OK},
                {wg_symmetric_sqrt, -1e-17, 1, WG_OK},
                {wg_symmetric_inverse_sqrt, 0, 1, WG_ESINGULAR},
                {power_half, 0, 1, WG_ESINGULAR},
                {power_minus_2, 0, 1, WG_ESINGULAR},
                {power_minus_2, -2, 1, WG_OK},
                {power_3, 0, 0, WG_OK},
                {power_1, 0, 0, WG_OK},
                {power_0, 0, 0, WG_OK}};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const double a[] = {rows[k].low, 0, 0, rows[k].high};
        const wg_mark m = wg_tape_mark(t);
        const wg_mat f = rows[k].call(t, spectral_input(t, 2, 2, a));
        assert_int_equal(wg_tape_status(t), rows[k].status);
        assert_int_equal(f.value == NULL, rows[k].status != WG_OK);
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    }
    const wg_symmetric_function none = {plain_exp, NULL, NULL, NULL};
    (void)wg_symmetric_apply(t, wg_mat_identity(t, 2), none);
    assert_int_equal(wg_tape_status(t), WG_ENULL);
    wg_tape_reset(t);
    (void)wg_symmetric_power(t, wg_mat_identity(t, 2), NAN);
    assert_int_equal(wg_tape_status(t), WG_EARG);
    wg_tape_free(t);
}

/* The slope of the square root at 0 is infinite: an answer only where it is not needed. */
static void the_square_root_of_a_singular_matrix(void **state) {
    (void)state;
    const double a[] = {4, 0, 0, 0}, first[] = {1, 0, 0, 0}, off[] = {0, 1, 1, 0},
                 last[] = {0, 0, 0, 1};
    wg_tape *t = wg_tape_new(NULL);
    const wg_mat in = spectral_input(t, 2, 2, a), s = wg_symmetric_sqrt(t, in);
    double *v = spectral_value(t, s);
    assert_true(v[0] == 2 && v[3] == 0);
    assert_int_equal(wg_mat_reverse(t, s, first, 2), WG_OK);
    double *g = spectral_adjoint(t, in);
    assert_true(g[0] == 0.25 && g[1] == 0 && g[3] == 0);
    free(g);
    assert_int_equal(wg_mat_reverse(t, s, off, 2), WG_OK);
    g = spectral_adjoint(t, in);
    assert_true(g[1] == 0.5 && g[2] == 0.5 && g[0] == 0 && g[3] == 0);
    free(g);
    assert_int_equal(wg_mat_reverse(t, s, last, 2), WG_EDEGENERATE);
    free(v);
    wg_tape_free(t);
}

/* ---- the one convention for symmetric operands ---- */

enum { SYMMETRIC = 4 };

static wg_mat right_side(wg_tape *t) {
    static const double b[2 * SYMMETRIC] = {1, -2, 0.5, 3, 2, 0.25, -1, 1};
    return wg_mat_constant(t, SYMMETRIC, 2, b, SYMMETRIC);
}
static wg_mat number(wg_tape *t, wg_real x) { return wg_mat_gather(t, 1, 1, &x); }
static wg_mat vectors(wg_tape *t, wg_mat a) {
    wg_mat w, v;
    (void)wg_eigh(t, a, &w, &v);
    return wg_concat_cols(t, 2, (wg_mat[]){w, v});
}
static wg_mat shifted(wg_tape *t, wg_mat a) {
    return wg_mat_add(t, a, wg_mat_identity(t, SYMMETRIC));
}
static wg_mat vectors_general(wg_tape *t, wg_mat a) {
    wg_mat w, v;
    (void)wg_eigh_general(t, a, shifted(t, a), &w, &v);
    return wg_concat_cols(t, 2, (wg_mat[]){w, v});
}

#define SYMMETRIC_OPERANDS(CALL)                                                               \
    CALL(solve_spd, wg_solve_spd(t, a, right_side(t)))                                         \
    CALL(factor_solve, wg_factor_solve(t, wg_potrf(t, a), 'N', right_side(t)))                 \
    CALL(factor_det, number(t, wg_factor_det(t, wg_potrf(t, a))))                              \
    CALL(factor_logdet, number(t, wg_factor_logdet(t, wg_potrf(t, a))))                        \
    CALL(factor_inverse, wg_factor_inverse(t, wg_potrf(t, a)))                                 \
    CALL(logdet_spd, number(t, wg_logdet_spd(t, a)))                                           \
    CALL(inverse_spd, wg_inverse_spd(t, a))                                                    \
    CALL(cholesky, wg_cholesky(t, a))                                                          \
    CALL(mvn_logpdf, number(t, wg_mvn_logpdf(t, right_side(t), wg_mat_fill(t, 4, 1, 0), a)))   \
    CALL(symv_lower,                                                                           \
         wg_symv(t, 'L', 1.5, a, wg_mat_col(right_side(t), 0), 0, wg_mat_fill(t, 4, 1, 0)))    \
    CALL(symv_upper,                                                                           \
         wg_symv(t, 'U', 1.5, a, wg_mat_col(right_side(t), 0), 0, wg_mat_fill(t, 4, 1, 0)))    \
    CALL(symm_lower, wg_symm(t, 'L', 'L', 2, a, right_side(t), 0, right_side(t)))              \
    CALL(symm_upper, wg_symm(t, 'L', 'U', 2, a, right_side(t), 0, right_side(t)))              \
    CALL(eigvalsh, wg_eigvalsh(t, a))                                                          \
    CALL(eigh, vectors(t, a))                                                                  \
    CALL(eigvalsh_general, wg_eigvalsh_general(t, a, shifted(t, a)))                           \
    CALL(eigh_general, vectors_general(t, a))                                                  \
    CALL(symmetric_exp, wg_symmetric_exp(t, a))                                                \
    CALL(symmetric_log, wg_symmetric_log(t, a))                                                \
    CALL(symmetric_sqrt, wg_symmetric_sqrt(t, a))                                              \
    CALL(symmetric_inverse_sqrt, wg_symmetric_inverse_sqrt(t, a))                              \
    CALL(symmetric_power, power_half(t, a))                                                    \
    CALL(symmetric_apply, user_function(t, a))

#define CALL(name, ...)                                                                        \
    static wg_mat of_##name(wg_tape *t, wg_mat a) { return __VA_ARGS__; }
SYMMETRIC_OPERANDS(CALL)
#undef CALL
#define CALL(name, ...) {#name, of_##name},
static const struct {
    const char *name;
    function_of *call;
} symmetric_operands[] = {SYMMETRIC_OPERANDS(CALL)};
#undef CALL

/* Tangents of the results along v. */
static void along(function_of *call, const double *a, const double *v, double *out) {
    wg_tape *const t = wg_tape_new(NULL);
    assert_int_equal(wg_tape_forward(t, 1), WG_OK);
    const wg_mat in = spectral_input(t, SYMMETRIC, SYMMETRIC, a);
    assert_int_equal(wg_mat_tangent_seed(t, in, 0, v, SYMMETRIC), WG_OK);
    const wg_mat f = call(t, in);
    if (wg_mat_tangent(t, f, 0, out, f.rows) != WG_OK) fail_msg("%s", wg_tape_message(t));
    wg_tape_free(t);
}

static void every_symmetric_operand_keeps_to_one_convention(void **state) {
    (void)state;
    enum { MOST = SYMMETRIC * (SYMMETRIC + 1) };
    uint64_t seed = 3;
    double *const a = spectral_ladder(SYMMETRIC, 2, &seed);
    double *const v = spectral_random(SYMMETRIC, SYMMETRIC, &seed);
    double *const w = spectral_random(MOST, 1, &seed), half[SYMMETRIC * SYMMETRIC];
    for (size_t j = 0; j < SYMMETRIC; j++)
        for (size_t i = 0; i < SYMMETRIC; i++)
            half[i + j * SYMMETRIC] = 0.5 * (v[i + j * SYMMETRIC] + v[j + i * SYMMETRIC]);
    for (size_t k = 0; k < sizeof symmetric_operands / sizeof *symmetric_operands; k++) {
        function_of *const call = symmetric_operands[k].call;
        const char *const name = symmetric_operands[k].name;
        wg_tape *const t = wg_tape_new(NULL);
        const wg_mat in = spectral_input(t, SYMMETRIC, SYMMETRIC, a), f = call(t, in);
        if (wg_mat_reverse(t, f, w, f.rows) != WG_OK) fail_msg("%s", wg_tape_message(t));
        double *const g = spectral_adjoint(t, in), one[MOST] = {0}, halved[MOST] = {0};
        double inner = 0, outer = 0, size = 0;
        for (size_t j = 0; j < SYMMETRIC; j++)
            for (size_t i = 0; i < SYMMETRIC; i++) {
                if (g[i + j * SYMMETRIC] != g[j + i * SYMMETRIC])
                    fail_msg("%s: the gradient is not symmetric", name);
                inner += g[i + j * SYMMETRIC] * v[i + j * SYMMETRIC];
            }
        along(call, a, v, one);
        along(call, a, half, halved);
        for (size_t i = 0; i < f.rows * f.cols; i++) {
            outer += w[i] * one[i];
            size = fmax(size, fabs(halved[i]));
        }
        spectral_near(name, f.rows * f.cols, one, halved, spectral_bound(SYMMETRIC, size));
        spectral_near(name, 1, &inner, &outer, spectral_bound(MOST, size));
        free(g);
        wg_tape_free(t);
    }
    free(a);
    free(v);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_agree_with_differences),
        cmocka_unit_test(divided_differences_are_accurate_at_every_distance),
        cmocka_unit_test(functions_refuse_what_they_are_not_defined_for),
        cmocka_unit_test(the_square_root_of_a_singular_matrix),
        cmocka_unit_test(every_symmetric_operand_keeps_to_one_convention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

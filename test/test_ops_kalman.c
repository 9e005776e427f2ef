/* SPDX-License-Identifier: MIT */
/* test_ops_kalman.c - steps of the Kalman filter: against what they are made of, in derivatives
 * of all orders, as parts of functions, and what is refused. */
#include "derived_case.h"
#include "tolerance.h"

enum { F, H, Q, R, Y, X, P, OPERANDS };

static wg_mat symmetric(wg_tape *t, wg_mat a) {
    return wg_mat_axpby(t, 0.5, a, 0.5, wg_mat_transpose(a));
}

/* The same of other operations. */
static wg_real of_parts(wg_tape *t, const wg_mat *in, wg_mat *x, wg_mat *p) {
    const wg_mat f = in[F], h = in[H];
    const wg_mat xm = wg_matmul(t, f, *x);
    const wg_mat fp = wg_matmul(t, f, symmetric(t, *p));
    const wg_mat mean = wg_gemm(t, 'N', 'T', 1, fp, f, 1, symmetric(t, in[Q]));
    const wg_mat hm = wg_matmul(t, h, mean);
    const wg_mat s = wg_gemm(t, 'N', 'T', 1, hm, h, 1, symmetric(t, in[R]));
    const wg_mat gain = wg_solve_spd(t, s, hm);
    const wg_mat v = wg_mat_sub(t, in[Y], wg_matmul(t, h, xm));
    const wg_mat zero = wg_mat_fill(t, in[Y].rows, 1, 0);
    *x = wg_gemm(t, 'T', 'N', 1, gain, v, 1, xm);
    *p = wg_gemm(t, 'T', 'N', -1, gain, hm, 1, mean);
    return wg_mvn_logpdf(t, v, zero, s);
}

static wg_real fused(wg_tape *t, const wg_mat *in, wg_mat *x, wg_mat *p) {
    return wg_kalman_step(t, in[F], in[H], in[Q], in[R], in[Y], x, p);
}

typedef wg_real step(wg_tape *t, const wg_mat *in, wg_mat *x, wg_mat *p);

/* A covariance that is not symmetric as it is written. */
static wg_mat covariance(wg_tape *t, wg_mat a) {
    const size_t n = a.rows;
    return wg_mat_add(t, wg_gemm(t, 'N', 'T', 1, a, a, 1, wg_mat_identity(t, n)),
                      wg_mat_sub(t, a, wg_mat_transpose(a)));
}

static void two_steps(wg_tape *t, const wg_mat *in, derived_sum *s, step *one) {
    wg_mat of[OPERANDS];
    memcpy(of, in, sizeof of);
    of[Q] = covariance(t, in[Q]), of[R] = covariance(t, in[R]);
    wg_mat x = in[X], p = covariance(t, in[P]);
    for (int k = 0; k < 2; k++) derived_number(s, one(t, of, &x, &p));
    derived_matrix(s, x);
    derived_matrix(s, p);
}
static void filtered(wg_tape *t, const wg_mat *in, derived_sum *s) {
    two_steps(t, in, s, fused);
}
static void filtered_by_parts(wg_tape *t, const wg_mat *in, derived_sum *s) {
    two_steps(t, in, s, of_parts);
}

#define SIZES(n, m)                                                                            \
    {n, m, n, m, m, n, n}, {n, n, n, m, 1, 1, n}, { 0 }
static const derived_case cases[] = {
    {"kalman 3 2", filtered, SIZES(3, 2)},
    {"kalman 2 3", filtered, SIZES(2, 3)},
    {"kalman 1 1", filtered, SIZES(1, 1)},
    {"kalman, nothing observed", filtered, SIZES(3, 0)},
};

static void derivatives_of_all_orders_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) derived_check(&cases[i]);
}

static void what_is_not_finite_is_refused(void **state) {
    (void)state;
    derived_check_not_finite(&cases[0]);
}

/* Value, gradient and a product with the Hessian of a step beside those of its parts; small
 * ones are loops, large ones BLAS. */
static void a_step_is_what_it_is_made_of(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{4, 3}, {5, 9}, {9, 1}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k][0], m = sizes[k][1];
        derived_case c[2] = {{"fused", filtered, SIZES(n, m)},
                             {"by parts", filtered_by_parts, SIZES(n, m)}};
        enum { MOST = 400 };
        static double x[MOST], v[MOST], g[2][MOST], hv[2][MOST];
        uint64_t seed = 3;
        double value[2];
        wg_tape *const t = derived_tape();
        const size_t all = derived_all(c);
        assert_true(all <= MOST);
        derived_fill(c, x, &seed);
        for (size_t i = 0; i < all; i++) v[i] = walk_number(&seed);
        for (size_t side = 0; side < 2; side++) {
            derived_call call = {&c[side], NULL, 0, 0};
            derived_must(
                t, c[side].name,
                wg_hvp(t, derived_callback, &call, all, x, v, &value[side], g[side], hv[side]));
        }
        derived_near("kalman", "value", 1, &value[0], &value[1], NULL, fabs(value[1]));
        derived_near("kalman", "gradient", all, g[0], g[1], NULL, derived_largest(all, g[1]));
        derived_near("kalman", "Hessian along v", all, hv[0], hv[1], NULL,
                     derived_largest(all, hv[1]));
        wg_tape_free(t);
    }
}

/* Beyond what loops do: order 20, 18 observations. */
static void large_steps_are_what_they_are_made_of(void **state) {
    (void)state;
    enum { N = 20, M = 18, ALL = 2 * N * N + 2 * M * N + M * M };
    const size_t rows[OPERANDS] = {N, M, N, M, M, N, N}, cols[OPERANDS] = {N, N, N, M, 1, 1, N};
    wg_tape *const t = derived_tape();
    wg_mat in[OPERANDS];
    double g[2][OPERANDS][N * N], value[2];
    for (int side = 0; side < 2; side++) {
        uint64_t seed = 11;
        wg_tape_reset(t);
        for (size_t i = 0; i < OPERANDS; i++)
            in[i] = derived_random(t, rows[i], cols[i], 0.3, &seed);
        wg_mat of[OPERANDS];
        memcpy(of, in, sizeof of);
        of[Q] = covariance(t, in[Q]), of[R] = covariance(t, in[R]);
        wg_mat x = in[X], p = covariance(t, in[P]);
        const wg_real l = (side ? of_parts : fused)(t, of, &x, &p);
        const wg_real y = wg_let(t, wg_add(l, wg_add(wg_mat_sum(t, wg_mat_sin(t, x)),
                                                     wg_mat_sum(t, wg_mat_sin(t, p)))));
        value[side] = wg_value(y);
        derived_must(t, "kalman", wg_reverse(t, y));
        for (size_t i = 0; i < OPERANDS; i++)
            derived_must(t, "kalman", wg_mat_adjoint(t, in[i], g[side][i], rows[i]));
    }
    derived_near("kalman", "value", 1, &value[0], &value[1], NULL, fabs(value[1]));
    for (size_t i = 0; i < OPERANDS; i++)
        derived_near("kalman", "gradient", rows[i] * cols[i], g[0][i], g[1][i], NULL,
                     derived_largest(rows[i] * cols[i], g[1][i]));
    wg_tape_free(t);
}

static void operands_that_are_constants_are_left_out(void **state) {
    (void)state;
    uint64_t seed = 4;
    wg_tape *const t = derived_tape();
    const double y[] = {1, -2};
    double x0[] = {0.5, 1, -1}, g[3], at[2], slope[3];
    for (int side = -1; side < 3; side++) { /* the gradient by x alone, and differences */
        double moved[3];
        for (int s = 0; s < (side < 0 ? 1 : 2); s++) {
            memcpy(moved, x0, sizeof moved);
            if (side >= 0) moved[side] += s ? -0x1p-10 : 0x1p-10;
            wg_tape_reset(t);
            wg_tape_pause(t);
            seed = 4;
            const wg_mat f = derived_random(t, 3, 3, 1, &seed),
                         h = derived_random(t, 2, 3, 1, &seed);
            const wg_mat q = wg_mat_identity(t, 3), r = wg_mat_identity(t, 2);
            wg_mat p = wg_mat_identity(t, 3);
            wg_tape_resume(t);
            const wg_mat in = wg_mat_input(t, 3, 1, moved, 3);
            wg_mat x = in;
            const wg_real l =
                wg_kalman_step(t, f, h, q, r, wg_mat_constant(t, 2, 1, y, 2), &x, &p);
            at[s] = wg_value(l);
            if (side < 0) {
                derived_must(t, "kalman", wg_reverse(t, l));
                derived_must(t, "kalman", wg_mat_adjoint(t, in, g, 3));
            }
        }
        /* the density is a quadratic of x: central differences are exact */
        if (side >= 0) slope[side] = (at[0] - at[1]) * 0x1p9;
    }
    derived_near("kalman", "gradient by x", 3, g, slope, NULL,
                 0x1p10 * derived_largest(3, slope));
    wg_tape_free(t);
}

/* ---- functions ---- */

enum { MOST = 600 };

static void evaluate(const wg_function *f, const double *x, const double *v, double *y) {
    const wg_points in[2] = {{x, 0, 1}, {v, 0, 1}};
    const wg_results out = {y, 0, 1};
    void *const work = aligned_alloc(64, (wg_function_work(f, NULL) + 127) / 64 * 64);
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, in, &out, NULL, work, NULL), WG_OK);
    free(work);
}

/* Small steps are written out, large ones stay whole: at other points than that of the
 * recording functions and their derivatives are those of tapes. */
static void functions_have_steps(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{3, 2}, {11, 8}};
    for (size_t k = 0; k < 2; k++) {
        const derived_case c = {"kalman", filtered, SIZES(sizes[k][0], sizes[k][1])};
        static double x[MOST], v[MOST], g[2][MOST], hv[2][MOST];
        double value[2], slope[2];
        uint64_t seed = 8;
        wg_tape *const t = derived_tape();
        const size_t n = derived_all(&c);
        derived_call call = {&c, NULL, 0, 0};
        const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
        wg_function *f[4] = {NULL};
        assert_true(n <= MOST);
        derived_fill(&c, x, &seed);
        derived_must(t, "function",
                     wg_function_record(t, derived_callback, &call, 1, &in, x, 1, &out, &f[0]));
        derived_must(t, "gradient", wg_function_gradient(t, f[0], &f[1]));
        derived_must(t, "tangent", wg_function_jvp(t, f[0], &f[2]));
        derived_must(t, "product", wg_function_hvp(t, f[0], &f[3]));
        derived_fill(&c, x, &seed);
        for (size_t i = 0; i < n; i++) v[i] = walk_number(&seed);
        derived_must(t, "tape",
                     wg_hvp(t, derived_callback, &call, n, x, v, &value[1], g[1], hv[1]));
        evaluate(f[0], x, NULL, &value[0]);
        evaluate(f[1], x, NULL, g[0]);
        evaluate(f[2], x, v, &slope[0]);
        evaluate(f[3], x, v, hv[0]);
        slope[1] = 0;
        for (size_t i = 0; i < n; i++) slope[1] += g[1][i] * v[i];
        const double size = derived_largest(n, g[1]);
        derived_near("function", "value", 1, &value[0], &value[1], NULL, fabs(value[1]));
        derived_near("function", "gradient", n, g[0], g[1], NULL, size);
        derived_near("function", "tangent", 1, &slope[0], &slope[1], NULL, (double)n * size);
        derived_near("function", "Hessian along v", n, hv[0], hv[1], NULL,
                     derived_largest(n, hv[1]));
        for (int i = 0; i < 4; i++) wg_function_free(f[i]);
        wg_tape_free(t);
    }
}

/* ---- refusals ---- */

static void what_is_wrong_is_named(void **state) {
    (void)state;
    static const struct {
        size_t which, rows, cols;
        const char *says;
    } wrong[] = {
        {F, 2, 3, "F is not square"},
        {H, 1, 2, "H has not a column for each state"},
        {Q, 2, 2, "Q is not of the order of F"},
        {R, 1, 1, "R has not a row and a column for each observation"},
        {Y, 2, 2, "y has not a row for each observation"},
        {X, 1, 3, "x has not a row for each state"},
        {P, 3, 2, "P is not of the order of F"},
    };
    const size_t rows[OPERANDS] = {3, 2, 3, 2, 2, 3, 3}, cols[OPERANDS] = {3, 3, 3, 2, 1, 1, 3};
    wg_tape *const t = derived_tape();
    for (size_t k = 0; k <= OPERANDS + 2; k++) {
        wg_mat in[OPERANDS];
        wg_tape_reset(t);
        for (size_t i = 0; i < OPERANDS; i++)
            in[i] = rows[i] == cols[i] ? wg_mat_identity(t, rows[i])
                                       : wg_mat_fill(t, rows[i], cols[i], 1);
        if (k < OPERANDS) in[k] = wg_mat_fill(t, wrong[k].rows, wrong[k].cols, 1);
        else if (k == OPERANDS) in[R] = wg_mat_scale(t, -100, in[R]);
        wg_mat x = in[X], p = in[P];
        const wg_real l =
            wg_kalman_step(t, in[F], in[H], in[Q], in[R], in[Y], k == OPERANDS + 1 ? NULL : &x,
                           k == OPERANDS + 2 ? NULL : &p);
        assert_true(isnan(wg_value(l)));
        assert_non_null(strstr(wg_tape_message(t), "wg_kalman_step"));
        if (k <= OPERANDS)
            assert_true(isnan(derived_at(x, 0, 0)) && isnan(derived_at(p, 0, 0)));
        assert_int_equal(wg_tape_status(t), k < OPERANDS    ? WG_ESHAPE
                                            : k == OPERANDS ? WG_ESINGULAR
                                                            : WG_ENULL);
        if (k < OPERANDS) assert_non_null(strstr(wg_tape_message(t), wrong[k].says));
        if (k == OPERANDS)
            assert_non_null(strstr(wg_tape_message(t), "is not positive definite"));
    }
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(a_step_is_what_it_is_made_of),
        cmocka_unit_test(large_steps_are_what_they_are_made_of),
        cmocka_unit_test(operands_that_are_constants_are_left_out),
        cmocka_unit_test(functions_have_steps),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

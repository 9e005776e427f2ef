/* SPDX-License-Identifier: MIT */
/* test_ops_statistics.c - Gaussian densities against the oracle; covariance matrices against
 * closed forms; the fused Gaussian process against what it is made of. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <wengert/derive.h>
#include <wengert/statistics.h>
#include "linear_case.h"
#include "matrix_case.h"
#include "tolerance.h"

static void mvn(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,
                void *data) {
    (void)c, (void)data;
    out[0] = matrix_case_scalar(t, wg_mvn_logpdf(t, in[0], in[1], in[2]));
}
static void check_mvn(struct matrix_case *c) { matrix_case_check(c, mvn, NULL); }
static void mvn_logpdf_agrees_with_its_oracle(void **state) {
    (void)state;
    matrix_case_each("mvn_logpdf", check_mvn);
}

/* Y 4 by 3, mu, G: the covariance is definite(G). */
static wg_status three_observations(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                    wg_real *y, void *data) {
    (void)n, (void)m, (void)data;
    const wg_mat o = take(t, &x, 4, 3), mu = take(t, &x, 4, 1);
    y[0] = wg_mvn_logpdf(t, o, mu, definite(t, take(t, &x, 4, 4)));
    return wg_tape_status(t);
}

static void several_observations_have_their_derivatives(void **state) {
    (void)state;
    derivatives_agree(three_observations, NULL, 12 + 4 + 16, 1);
}

static void several_observations_are_the_sum_of_single_ones(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat y = random_input(t, 1, 5, 3, 0), mu = random_input(t, 2, 5, 1, 0);
    const wg_mat s = definite(t, random_input(t, 3, 5, 5, 0));
    double sum = 0;
    for (size_t c = 0; c < 3; c++) sum += wg_mvn_logpdf(t, wg_mat_col(y, c), mu, s).value;
    assert_true(close_ulp(wg_mvn_logpdf(t, y, mu, s).value, sum, TOL_PROGRAM_ULP));
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* ---- covariances ---- */

static const wg_kernel kernels[] = {WG_SQUARED_EXPONENTIAL, WG_MATERN_12, WG_MATERN_32,
                                    WG_MATERN_52};
enum { KERNELS = sizeof kernels / sizeof *kernels, POINTS = 4, OTHERS = 3, COORDINATES = 2 };

static double closed_form(wg_kernel kernel, double r, double sigma) {
    const double a = sqrt(3) * r, b = sqrt(5) * r;
    switch (kernel) {
    case WG_SQUARED_EXPONENTIAL:
        return sigma * sigma * exp(-r * r / 2);
    case WG_MATERN_12:
        return sigma * sigma * exp(-r);
    case WG_MATERN_32:
        return sigma * sigma * (1 + a) * exp(-a);
    default:
        return sigma * sigma * (1 + b + b * b / 3) * exp(-b);
    }
}

static void covariances_have_their_closed_forms(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double scales[COORDINATES] = {0.7, 1.9}, sigma = 1.3, noise = 0.25;
    const wg_mat x = random_input(t, 4, POINTS, COORDINATES, 0);
    const wg_mat z = random_input(t, 5, OTHERS, COORDINATES, 0);
    const wg_mat scale = wg_mat_input(t, COORDINATES, 1, scales, COORDINATES);
    for (size_t k = 0; k < KERNELS; k++) {
        const wg_mat a =
            wg_covariance(t, kernels[k], x, scale, wg_input(t, sigma), wg_input(t, noise));
        const wg_mat b = wg_covariance_between(t, kernels[k], x, z, scale, wg_constant(sigma));
        assert_int_equal(wg_tape_status(t), WG_OK);
        for (size_t j = 0; j < POINTS; j++)
            for (size_t i = 0; i < POINTS; i++) {
                const double r =
                    hypot((wg_mat_at(x, i, 0).value - wg_mat_at(x, j, 0).value) / 0.7,
                          (wg_mat_at(x, i, 1).value - wg_mat_at(x, j, 1).value) / 1.9);
                const double ref =
                    closed_form(kernels[k], r, sigma) + (i == j ? noise * noise : 0);
                assert_true(close_ulp(wg_mat_at(a, i, j).value, ref, TOL_PROGRAM_ULP));
            }
        for (size_t j = 0; j < OTHERS; j++)
            for (size_t i = 0; i < POINTS; i++) {
                const double r =
                    hypot((wg_mat_at(x, i, 0).value - wg_mat_at(z, j, 0).value) / 0.7,
                          (wg_mat_at(x, i, 1).value - wg_mat_at(z, j, 1).value) / 1.9);
                assert_true(close_ulp(wg_mat_at(b, i, j).value,
                                      closed_form(kernels[k], r, sigma), TOL_PROGRAM_ULP));
            }
    }
    wg_tape_free(t);
}

struct family {
    wg_kernel kernel;
    size_t scales;
};

static wg_real raised(wg_tape *t, wg_real x) { return wg_let(t, wg_add(x, 1.5)); }

static wg_mat raised_scales(wg_tape *t, const wg_real **x, size_t n) {
    wg_real s[COORDINATES];
    for (size_t i = 0; i < n; i++) s[i] = raised(t, *(*x)++);
    return wg_mat_gather(t, n, 1, s);
}

static wg_status covariance_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *data) {
    const struct family *const f = (const struct family *)data;
    (void)n, (void)m;
    const wg_mat p = take(t, &x, POINTS, COORDINATES), scale = raised_scales(t, &x, f->scales);
    give(wg_covariance(t, f->kernel, p, scale, raised(t, x[0]), raised(t, x[1])), &y);
    return wg_tape_status(t);
}

static wg_status covariance_between_of(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                       wg_real *y, void *data) {
    const struct family *const f = (const struct family *)data;
    (void)n, (void)m;
    const wg_mat p = take(t, &x, POINTS, COORDINATES), z = take(t, &x, OTHERS, COORDINATES);
    const wg_mat scale = raised_scales(t, &x, f->scales);
    give(wg_covariance_between(t, f->kernel, p, z, scale, raised(t, x[0])), &y);
    return wg_tape_status(t);
}

static wg_status process_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const struct family *const f = (const struct family *)data;
    (void)n, (void)m;
    const wg_mat p = take(t, &x, POINTS, COORDINATES), o = take(t, &x, POINTS, 2);
    const wg_mat scale = raised_scales(t, &x, f->scales);
    y[0] = wg_gp_logml(t, f->kernel, p, o, scale, raised(t, x[0]), raised(t, x[1]));
    return wg_tape_status(t);
}

static void each_kernel(wg_callback *f, size_t numbers, size_t results) {
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t scales = 1; scales <= COORDINATES; scales++) {
            const struct family of = {kernels[k], scales};
            derivatives_agree(f, &of, numbers + scales, results);
        }
}

static void covariances_have_their_derivatives(void **state) {
    (void)state;
    each_kernel(covariance_of, POINTS * COORDINATES + 2, POINTS * POINTS);
}

static void covariances_between_sets_have_their_derivatives(void **state) {
    (void)state;
    each_kernel(covariance_between_of, (POINTS + OTHERS) * COORDINATES + 1, POINTS * OTHERS);
}

static void gaussian_processes_have_their_derivatives(void **state) {
    (void)state;
    each_kernel(process_of, POINTS * COORDINATES + 2 * POINTS + 2, 1);
}

/* The fused operation against covariance and density, at an order with many tiles. */
static void a_gaussian_process_is_the_density_of_its_covariance(void **state) {
    (void)state;
    enum { N = 37, D = 3 };
    wg_tape *const t = wg_tape_new(NULL);
    double g[2][N * D + N + D + 2];
    for (size_t k = 0; k < KERNELS; k++) {
        double value[2];
        for (int fused = 0; fused < 2; fused++) {
            wg_tape_reset(t);
            const double scales[D] = {0.8, 1.1, 1.7};
            const wg_mat x = random_input(t, 6, N, D, 0), y = random_input(t, 7, N, 1, 0);
            const wg_mat scale = wg_mat_input(t, D, 1, scales, D);
            const wg_real sigma = wg_input(t, 1.2), noise = wg_input(t, 0.3);
            const wg_real v =
                fused ? wg_gp_logml(t, kernels[k], x, y, scale, sigma, noise)
                      : wg_mvn_logpdf(t, y, wg_mat_fill(t, N, 1, 0),
                                      wg_covariance(t, kernels[k], x, scale, sigma, noise));
            assert_int_equal(wg_reverse(t, v), WG_OK);
            value[fused] = v.value;
            double *const to = g[fused];
            assert_int_equal(wg_mat_adjoint(t, x, to, N), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, y, to + N * D, N), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, scale, to + N * D + N, D), WG_OK);
            to[N * D + N + D] = wg_adjoint(t, sigma),
                           to[N * D + N + D + 1] = wg_adjoint(t, noise);
        }
        assert_true(close_ulp(value[1], value[0], TOL_PROGRAM_ULP));
        double largest = 0;
        for (size_t i = 0; i < N * D + N + D + 2; i++) largest = fmax(largest, fabs(g[0][i]));
        for (size_t i = 0; i < N * D + N + D + 2; i++)
            assert_true(fabs(g[1][i] - g[0][i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * largest);
    }
    wg_tape_free(t);
}

/* Of one-sided slopes at points that coincide: none. */
static void coinciding_points_have_finite_derivatives(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < KERNELS; k++) {
        wg_tape_reset(t);
        const double p[3] = {0.5, 0.5, 2}, one = 1, seed[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
        double g[3], s;
        const wg_mat x = wg_mat_input(t, 3, 1, p, 3), scale = wg_mat_input(t, 1, 1, &one, 1);
        const wg_mat c = wg_covariance(t, kernels[k], x, scale, wg_input(t, 1), wg_input(t, 1));
        assert_int_equal(wg_mat_reverse(t, c, seed, 3), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, x, g, 3), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, scale, &s, 1), WG_OK);
        assert_true(g[0] > 0 && g[0] == g[1] && g[2] == -2 * g[0] && s > 0);
    }
    wg_tape_free(t);
}

/* One covariance of two points x and z in the plane: numbers x, z, scales, sigma. */
enum { PAIR = 7 };
static wg_status pair_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    const struct family *const f = (const struct family *)data;
    (void)n, (void)m;
    const wg_mat p = take(t, &x, 1, 2), z = take(t, &x, 1, 2), scale = take(t, &x, 2, 1);
    if (f->scales == 0) {
        y[0] = wg_mat_at(wg_covariance_between(t, f->kernel, p, z, scale, *x), 0, 0);
    } else {
        const wg_real both[4] = {wg_mat_at(p, 0, 0), wg_mat_at(z, 0, 0), wg_mat_at(p, 0, 1),
                                 wg_mat_at(z, 0, 1)};
        const wg_mat k = wg_covariance(t, f->kernel, wg_mat_gather(t, 2, 2, both), scale, *x,
                                       wg_constant(0.25));
        y[0] = wg_mat_at(k, 0, 1);
    }
    return wg_tape_status(t);
}

/* Of a function recorded at `at`, at the point x. */
static void evaluate_at(wg_tape *t, const struct family *family, int hessian, const double *at,
                        const double *x, double *out) {
    const wg_argument in = {"x", PAIR, 1, 0}, result = {"y", 1, 1, 0};
    wg_function *f = NULL, *g = NULL;
    assert_int_equal(
        wg_function_record(t, pair_of, (void *)(uintptr_t)family, 1, &in, at, 1, &result, &f),
        WG_OK);
    assert_int_equal(hessian ? wg_function_hessian(t, f, &g) : wg_function_gradient(t, f, &g),
                     WG_OK);
    void *const work = malloc(wg_function_work(g, NULL));
    assert_int_equal(wg_function_evaluate(g, 1, &(wg_points){x, 0, 1}, &(wg_results){out, 0, 1},
                                          NULL, work, NULL),
                     WG_OK);
    free(work);
    wg_function_free(f);
    wg_function_free(g);
}

/* First and second derivatives where two points coincide, by drivers and as functions that were
 * recorded there or elsewhere. Of the kink of WG_MATERN_12: none. */
static void coinciding_points_have_the_slopes_and_curvatures_of_the_closed_form(void **state) {
    (void)state;
    static const double curvature[KERNELS] = {1, 0, 3, 5.0 / 3};
    const double x[PAIR] = {0.5, -2, 0.5, -2, 0.5, 2, 1.5};
    const double apart[PAIR] = {0.5, -2, 0.25, 1, 0.75, 2, 1};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t square = 0; square < 2; square++) {
            const struct family family = {kernels[k], square};
            double g[3][PAIR], h[3][PAIR * PAIR], want[PAIR * PAIR] = {0}, v;
            for (size_t c = 0; c < 2; c++) {
                const double of = curvature[k] * 1.5 * 1.5 / (x[4 + c] * x[4 + c]);
                want[c * (PAIR + 1)] = want[(c + 2) * (PAIR + 1)] = -of;
                want[c * PAIR + c + 2] = want[(c + 2) * PAIR + c] = of;
            }
            want[PAIR * PAIR - 1] = 2;
            assert_int_equal(wg_hessian(t, pair_of, (void *)(uintptr_t)&family, PAIR, x, &v,
                                        g[0], h[0], PAIR),
                             WG_OK);
            for (int way = 1; way < 3; way++) {
                evaluate_at(t, &family, 0, way == 1 ? x : apart, x, g[way]);
                evaluate_at(t, &family, 1, way == 1 ? x : apart, x, h[way]);
            }
            for (int way = 0; way < 3; way++) {
                for (size_t i = 0; i < PAIR; i++)
                    assert_true(g[way][i] == (i == PAIR - 1 ? 3 : 0));
                for (size_t i = 0; i < PAIR * PAIR; i++)
                    if (!close_ulp(h[way][i], want[i], TOL_DERIVATIVE_ULP))
                        fail_msg("kernel %zu, way %d: entry %zu is %.17g, not %.17g", k, way, i,
                                 h[way][i], want[i]);
            }
        }
    wg_tape_free(t);
}

/* Squares of distances overflow: nothing is left of covariances and their slopes. */
static void points_that_are_far_apart_are_independent(void **state) {
    (void)state;
    enum { N = 3 };
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t d = 1; d <= 2; d++)
            for (int two = 0; two < 2; two++) { /* one length scale, or one for each */
                wg_tape_reset(t);
                const double p[6] = {0, 1, 3, 1, 5, 2}, scales[2] = {1e-160, 1e-155};
                const double seed[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
                double v[9], g[6], s[2] = {0, 0};
                const size_t n = two ? d : 1;
                const wg_mat x = wg_mat_input(t, N, d, p, N),
                             scale = wg_mat_input(t, n, 1, scales, n);
                const wg_real sigma = wg_input(t, 1.5), noise = wg_input(t, 0.5);
                const wg_mat c = wg_covariance(t, kernels[k], x, scale, sigma, noise);
                assert_int_equal(wg_mat_value(t, c, v, N), WG_OK);
                for (size_t i = 0; i < 9; i++) assert_true(v[i] == (i % 4 == 0 ? 2.5 : 0));
                assert_int_equal(wg_mat_reverse(t, c, seed, N), WG_OK);
                assert_int_equal(wg_mat_adjoint(t, x, g, N), WG_OK);
                assert_int_equal(wg_mat_adjoint(t, scale, s, n), WG_OK);
                for (size_t i = 0; i < N * d; i++) assert_true(g[i] == 0);
                assert_true(s[0] == 0 && s[1] == 0 && wg_adjoint(t, sigma) == 2 * 1.5 * N);
                const wg_real l =
                    wg_gp_logml(t, kernels[k], x, wg_mat_col(x, 0), scale, sigma, noise);
                assert_int_equal(wg_reverse(t, l), WG_OK);
                assert_int_equal(wg_mat_adjoint(t, scale, s, n), WG_OK);
                assert_true(isfinite(l.value) && s[0] == 0 && s[1] == 0);
                /* tangents */
                wg_tape_reset(t);
                assert_int_equal(wg_tape_forward(t, 1), WG_OK);
                const wg_mat xf = wg_mat_input(t, N, d, p, N),
                             sf = wg_mat_input(t, n, 1, scales, n);
                assert_int_equal(wg_mat_tangent_seed(t, xf, 0, p, N), WG_OK);
                assert_int_equal(wg_mat_tangent_seed(t, sf, 0, seed, n), WG_OK);
                const wg_mat cf =
                    wg_covariance(t, kernels[k], xf, sf, wg_constant(1.5), wg_constant(0.5));
                assert_int_equal(wg_mat_tangent(t, cf, 0, v, N), WG_OK);
                for (size_t i = 0; i < 9; i++) assert_true(v[i] == 0);
                wg_tape_reset(t);
                assert_int_equal(wg_tape_forward(t, 0), WG_OK);
            }
    wg_tape_free(t);
}

/* The square of an amplitude may be no number any more where its derivative is one. */
static void tiny_amplitudes_have_their_derivatives(void **state) {
    (void)state;
    static const double sigmas[] = {0, 1e-310, -1e-200, 1e-160, 1e-139, 0.1};
    const double p[2] = {0, 1}, one = 1, seed[4] = {0, 1, 0, 0};
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t q = 0; q < sizeof sigmas / sizeof *sigmas; q++) {
            const double slope = 2 * sigmas[q] * closed_form(kernels[k], 1, 1);
            double v[4];
            for (int between = 0; between < 2; between++) {
                wg_tape_reset(t);
                const wg_mat x = wg_mat_input(t, 2, 1, p, 2),
                             scale = wg_mat_input(t, 1, 1, &one, 1);
                const wg_real sigma = wg_input(t, sigmas[q]);
                const wg_mat c =
                    between ? wg_covariance_between(t, kernels[k], x, x, scale, sigma)
                            : wg_covariance(t, kernels[k], x, scale, sigma, wg_constant(1));
                assert_int_equal(wg_mat_reverse(t, c, seed, 2), WG_OK);
                assert_true(close_ulp(wg_adjoint(t, sigma), slope, TOL_PROGRAM_ULP));
                wg_tape_reset(t);
                assert_int_equal(wg_tape_forward(t, 1), WG_OK);
                const wg_mat xf = wg_mat_constant(t, 2, 1, p, 2),
                             sf = wg_mat_constant(t, 1, 1, &one, 1);
                const wg_real at = wg_input(t, sigmas[q]);
                assert_int_equal(wg_tangent_seed(t, at, 0, 1), WG_OK);
                const wg_mat cf =
                    between ? wg_covariance_between(t, kernels[k], xf, xf, sf, at)
                            : wg_covariance(t, kernels[k], xf, sf, at, wg_constant(1));
                assert_int_equal(wg_mat_tangent(t, cf, 0, v, 2), WG_OK);
                assert_true(close_ulp(v[1], slope, TOL_PROGRAM_ULP));
                wg_tape_reset(t);
                assert_int_equal(wg_tape_forward(t, 0), WG_OK);
            }
            /* log N(y; 0, K), K near I: slope of the off-diagonal alone, y_0 y_1 */
            const wg_mat x = wg_mat_input(t, 2, 1, p, 2);
            const double y[2] = {1e100, 1e100};
            const wg_real sigma = wg_input(t, sigmas[q]);
            if (fabs(sigmas[q]) > 1e-130) continue;
            const wg_real l =
                wg_gp_logml(t, kernels[k], x, wg_mat_input(t, 2, 1, y, 2),
                            wg_mat_input(t, 1, 1, &one, 1), sigma, wg_constant(1));
            assert_int_equal(wg_reverse(t, l), WG_OK);
            const double exact = 2 * sigmas[q] * 1e200 + slope * 1e200;
            assert_true(close_ulp(wg_adjoint(t, sigma), exact, TOL_PROGRAM_ULP));
        }
    wg_tape_free(t);
}

/* ---- failures and edges ---- */

static void a_covariance_that_is_not_definite_fails_the_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double p[3] = {1, 2, 2}, one = 1, s[9] = {1, 0, 0, 0, -1, 0, 0, 0, 1};
    const wg_mat x = wg_mat_input(t, 3, 1, p, 3), scale = wg_mat_input(t, 1, 1, &one, 1);
    const wg_mark m = wg_tape_mark(t);
    wg_real v =
        wg_gp_logml(t, WG_SQUARED_EXPONENTIAL, x, x, scale, wg_input(t, 1), wg_constant(0));
    assert_true(v.value != v.value && v.at.slot == 0);
    failed_with(t, m, WG_ESINGULAR, "wg_gp_logml", "(info 3)");
    v = wg_mvn_logpdf(t, x, x, wg_mat_input(t, 3, 3, s, 3));
    assert_true(v.value != v.value);
    failed_with(t, m, WG_ESINGULAR, "wg_mvn_logpdf", "(info 2)");
    v = wg_gp_logml(t, WG_SQUARED_EXPONENTIAL, x, x, scale, wg_input(t, 1), wg_constant(0.5));
    assert_int_equal(wg_reverse(t, v), WG_OK);
    wg_tape_free(t);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = random_input(t, 8, 4, 2, 0), b = random_input(t, 9, 3, 1, 0);
    const wg_mat s = definite(t, random_input(t, 10, 4, 4, 0));
    const wg_real one = wg_constant(1);
    const wg_mark inner = wg_tape_mark(t);
    (void)wg_mvn_logpdf(t, a, b, s);
    failed_with(t, inner, WG_ESHAPE, "4x2, 3x1, 4x4", "the mean");
    (void)wg_mvn_logpdf(t, b, b, s);
    failed_with(t, inner, WG_ESHAPE, "3x1, 3x1, 4x4", "the covariance");
    (void)wg_covariance(t, WG_MATERN_12, a, b, one, one);
    failed_with(t, inner, WG_ESHAPE, "4x2, 3x1", "length scale");
    (void)wg_covariance_between(t, WG_MATERN_12, a, b, wg_mat_fill(t, 1, 1, 1), one);
    failed_with(t, inner, WG_ESHAPE, "4x2", "3x1");
    (void)wg_gp_logml(t, WG_MATERN_12, a, b, wg_mat_fill(t, 1, 1, 1), one, one);
    failed_with(t, inner, WG_ESHAPE, "4x2", "3x1");
    const size_t many = (size_t)1518500250; /* its square times 8 is just above 2^64 */
    const wg_mat crowd = wg_mat_input(t, many, 0, NULL, many);
    (void)wg_gp_logml(t, WG_MATERN_12, crowd, crowd, wg_mat_fill(t, 1, 1, 1), one, one);
    failed_with(t, inner, WG_ESHAPE, "1518500250x0", "too many points");
    (void)wg_covariance(t, (wg_kernel)17, a, wg_mat_fill(t, 1, 1, 1), one, one);
    failed_with(t, inner, WG_EARG, "wg_covariance", "kernel");
    wg_tape_free(t);
}

static void nothing_observed_has_density_one(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat none = wg_mat_constant(t, 0, 0, NULL, 1), empty = wg_mat_fill(t, 0, 1, 0);
    const wg_mat one = wg_mat_fill(t, 1, 1, 1);
    const wg_real s = wg_input(t, 1);
    assert_true(wg_mvn_logpdf(t, empty, empty, none).value == 0);
    assert_true(wg_gp_logml(t, WG_MATERN_52, empty, empty, one, s, s).value == 0);
    assert_int_equal(wg_covariance(t, WG_MATERN_52, empty, one, s, s).rows, 0);
    const wg_mat wide = wg_covariance_between(t, WG_MATERN_52, empty, one, one, s);
    assert_true(wide.rows == 0 && wide.cols == 1);
    const wg_mat s4 = definite(t, random_input(t, 10, 4, 4, 0));
    const wg_real v = wg_mvn_logpdf(t, wg_mat_fill(t, 4, 0, 0), wg_mat_fill(t, 4, 1, 0), s4);
    assert_true(v.value == 0);
    assert_int_equal(wg_reverse(t, v), WG_OK);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static void every_case_claimed_here_is_checked(void **state) {
    (void)state;
    matrix_claims_met("statistics");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mvn_logpdf_agrees_with_its_oracle),
        cmocka_unit_test(several_observations_have_their_derivatives),
        cmocka_unit_test(several_observations_are_the_sum_of_single_ones),
        cmocka_unit_test(covariances_have_their_closed_forms),
        cmocka_unit_test(covariances_have_their_derivatives),
        cmocka_unit_test(covariances_between_sets_have_their_derivatives),
        cmocka_unit_test(gaussian_processes_have_their_derivatives),
        cmocka_unit_test(a_gaussian_process_is_the_density_of_its_covariance),
        cmocka_unit_test(coinciding_points_have_finite_derivatives),
        cmocka_unit_test(coinciding_points_have_the_slopes_and_curvatures_of_the_closed_form),
        cmocka_unit_test(points_that_are_far_apart_are_independent),
        cmocka_unit_test(tiny_amplitudes_have_their_derivatives),
        cmocka_unit_test(a_covariance_that_is_not_definite_fails_the_tape),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(nothing_observed_has_density_one),
        cmocka_unit_test(every_case_claimed_here_is_checked),
    };
    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_tape_second_sizes.c - second derivatives of operations on matrices at sizes that are not
 * written out in scalar statements: u' H v against differences of u' g along v, and by
 * symmetry. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "walk.h"

enum { MOST = 512 };

static wg_tape *tape; /* keeps code */

static int open_tape(void **state) {
    const wg_options options = {.flags = WG_KEEP_CODE};
    (void)state;
    tape = wg_tape_new(&options);
    return tape == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

/* ---- functions: of so many inputs, a number ---- */

typedef wg_real function(wg_tape *t, const wg_real *x);

static wg_real number(wg_tape *t, wg_mat y) {
    wg_real sum = wg_constant(0);
    for (size_t j = 0; j < y.cols; j++)
        for (size_t i = 0; i < y.rows; i++) {
            const double w = sin(1.7 * (double)(i + 1) + 0.9 * (double)j);
            sum = wg_let(t, wg_fma(w, wg_mat_at(y, i, j), sum));
        }
    return wg_let(t, wg_add(sum, wg_sin(sum)));
}
static wg_mat constants(wg_tape *t, size_t rows, size_t cols) {
    double *const a = wg_tape_keep(t, rows * cols * sizeof *a, NULL);
    for (size_t i = 0; a != NULL && i < rows * cols; i++)
        a[i] = sin(2.3 * (double)i) + (i % (rows + 1) == 0 ? 2 : 0);
    return wg_mat_constant(t, rows, cols, a, rows);
}

static wg_real of_expm(wg_tape *t, const wg_real *x) {
    return number(t, wg_expm(t, wg_mat_gather(t, 20, 20, x)));
}
static wg_real of_logdet(wg_tape *t, const wg_real *x) {
    return wg_logabsdet(t, wg_mat_gather(t, 12, 12, x), NULL);
}
static wg_real of_logdet_curved(wg_tape *t, const wg_real *x) {
    return wg_let(t, wg_sin(of_logdet(t, x)));
}

/* 30 points in 2 dimensions, their observations, two scales, sigma and noise. */
enum { POINTS = 30, PROCESS = 3 * POINTS + 4 };
static wg_real process(wg_tape *t, wg_kernel kernel, const wg_real *x) {
    const wg_real *const p = x + 3 * POINTS;
    wg_real amplitudes[4];
    for (int i = 0; i < 4; i++) amplitudes[i] = wg_let(t, wg_exp(wg_mul(0.2, p[i])));
    return wg_gp_logml(t, kernel, wg_mat_gather(t, POINTS, 2, x),
                       wg_mat_gather(t, POINTS, 1, x + 2 * POINTS),
                       wg_mat_gather(t, 2, 1, amplitudes), amplitudes[2], amplitudes[3]);
}
#define OF_KERNEL(name, kernel)                                                                \
    static wg_real name(wg_tape *t, const wg_real *x) { return process(t, kernel, x); }
OF_KERNEL(of_squared_exponential, WG_SQUARED_EXPONENTIAL)
OF_KERNEL(of_matern_12, WG_MATERN_12)
OF_KERNEL(of_matern_32, WG_MATERN_32)
OF_KERNEL(of_matern_52, WG_MATERN_52)
static wg_real of_process_curved(wg_tape *t, const wg_real *x) {
    return wg_let(t, wg_sin(process(t, WG_MATERN_52, x)));
}
/* The points are constants. */
static wg_real of_hyperparameters(wg_tape *t, const wg_real *x) {
    return wg_gp_logml(t, WG_SQUARED_EXPONENTIAL, constants(t, POINTS, 2),
                       constants(t, POINTS, 1), wg_mat_gather(t, 1, 1, x),
                       wg_let(t, wg_add(2, x[1])), wg_let(t, wg_add(1, x[2])));
}
static wg_real of_between(wg_tape *t, const wg_real *x) {
    return number(t, wg_covariance_between(t, WG_MATERN_52, wg_mat_gather(t, 20, 2, x),
                                           wg_mat_gather(t, 11, 2, x + 40),
                                           wg_mat_fill(t, 1, 1, 0.8), x[62]));
}
static wg_real of_density(wg_tape *t, const wg_real *x) {
    const wg_mat a = wg_mat_gather(t, 13, 13, x), one = wg_mat_identity(t, 13);
    return wg_mvn_logpdf(t, wg_mat_gather(t, 13, 2, x + 169), wg_mat_gather(t, 13, 1, x + 195),
                         wg_gemm(t, 'N', 'T', 0.2, a, a, 1, one));
}

static wg_real of_tall_fit(wg_tape *t, const wg_real *x) {
    return number(t, wg_lstsq(t, wg_mat_gather(t, 17, 6, x), wg_mat_gather(t, 17, 2, x + 102)));
}
static wg_real of_square_fit(wg_tape *t, const wg_real *x) {
    return number(t, wg_lstsq(t, wg_mat_gather(t, 9, 9, x), wg_mat_gather(t, 9, 1, x + 81)));
}
static wg_real of_wide_fit(wg_tape *t, const wg_real *x) {
    return number(t, wg_lstsq(t, wg_mat_gather(t, 6, 17, x), wg_mat_gather(t, 6, 2, x + 102)));
}
static wg_real of_fit_to_constants(wg_tape *t, const wg_real *x) {
    return number(
        t, wg_lstsq(t, wg_mat_transpose(wg_mat_gather(t, 6, 17, x)), constants(t, 17, 3)));
}
static wg_real of_wide_fit_to_constants(wg_tape *t, const wg_real *x) {
    return number(t, wg_lstsq(t, wg_mat_gather(t, 6, 17, x), constants(t, 6, 1)));
}
static wg_real of_fit_by_constants(wg_tape *t, const wg_real *x) {
    return number(t, wg_mat_exp(t, wg_lstsq(t, constants(t, 17, 6),
                                            wg_mat_tanh(t, wg_mat_gather(t, 17, 2, x)))));
}

static wg_real of_rows(wg_tape *t, const wg_real *x) {
    const wg_mat a = wg_mat_gather(t, 23, 3, x), b = wg_mat_gather(t, 3, 23, x + 69);
    const wg_mat c = wg_mat_gather(t, 1, 3, x + 138), turned = wg_mat_transpose(b);
    const wg_mat y = wg_mat_mul(t, wg_mat_tanh(t, a), wg_mat_exp(t, turned));
    const wg_mat z = wg_mat_div(t, wg_mat_erf(t, wg_mat_add(t, y, c)), wg_mat_cosh(t, c));
    const wg_mat p = wg_mat_pow(t, wg_mat_exp(t, z), wg_mat_sigmoid(t, a));
    return number(t, wg_mat_atan2(t, wg_mat_hypot(t, p, a), wg_mat_cosh(t, turned)));
}
static wg_real of_softmax(wg_tape *t, const wg_real *x) {
    const wg_mat a = wg_mat_gather(t, 23, 3, x);
    return wg_let(t, wg_add(number(t, wg_mat_softmax(t, a, WG_EACH_COL)),
                            number(t, wg_mat_softmax(t, wg_mat_mul(t, a, a), WG_EACH_ROW))));
}
/* After the last that is curved. */
static wg_real of_linear_end(wg_tape *t, const wg_real *x) {
    const wg_mat a = wg_mat_gather(t, 4, 4, x), y = wg_matmul(t, wg_mat_sin(t, a), a);
    const wg_real s = wg_let(t, wg_mul(x[0], wg_exp(x[1])));
    const wg_mat last = wg_mat_scale(t, 3, wg_mat_add(t, y, wg_mat_transpose(y)));
    return wg_let(t, wg_add(s, wg_mul(2, wg_mat_sum(t, last))));
}

static const struct {
    const char *name;
    function *f;
    size_t n;
    double scale;       /* inputs are up to that, */
    double more, every; /* and more on a diagonal */
} functions[] = {{"expm", of_expm, 400, 0.2, 0, 1},
                 {"logdet", of_logdet, 144, 1, 3, 13},
                 {"logdet, curved", of_logdet_curved, 144, 1, 3, 13},
                 {"squared exponential", of_squared_exponential, PROCESS, 2, 0, 1},
                 {"Matern 1/2", of_matern_12, PROCESS, 2, 0, 1},
                 {"Matern 3/2", of_matern_32, PROCESS, 2, 0, 1},
                 {"Matern 5/2", of_matern_52, PROCESS, 2, 0, 1},
                 {"process, curved", of_process_curved, PROCESS, 2, 0, 1},
                 {"hyperparameters", of_hyperparameters, 3, 0.2, 1, 3},
                 {"between", of_between, 63, 1, 0, 1},
                 {"normal density", of_density, 208, 1, 0, 1},
                 {"least squares", of_tall_fit, 136, 1, 2, 18},
                 {"least squares, square", of_square_fit, 90, 1, 4, 10},
                 {"least squares, wide", of_wide_fit, 114, 1, 2, 7},
                 {"least squares to constants", of_fit_to_constants, 102, 1, 2, 7},
                 {"least squares to constants, wide", of_wide_fit_to_constants, 102, 1, 2, 7},
                 {"least squares by constants", of_fit_by_constants, 34, 1, 0, 1},
                 {"elementwise", of_rows, 141, 1, 0, 1},
                 {"softmax", of_softmax, 69, 1, 0, 1},
                 {"linear end", of_linear_end, 16, 1, 0, 1}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static wg_status record(size_t which, const double *x, wg_real *in, wg_real *y) {
    wg_tape_reset(tape);
    const wg_status s = wg_inputs(tape, functions[which].n, x, in);
    if (s != WG_OK) return s;
    *y = functions[which].f(tape, in);
    return wg_tape_status(tape);
}

static double dot(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* u' H v by differences of u' g, extrapolated (Ridders 1982), and what it may be wrong by. */
static double difference(size_t which, const double *x, const double *u, const double *v,
                         double *error) {
    enum { STEPS = 7 };
    const size_t n = functions[which].n;
    double table[STEPS] = {0}, h = 0x1p-7, best = 0, at[MOST], g[MOST];
    wg_real in[MOST], y;
    *error = INFINITY;
    for (size_t s = 0; s < STEPS; s++, h /= 2) {
        double before[STEPS], f = 1, side[2];
        memcpy(before, table, sizeof table);
        for (int k = 0; k < 2; k++) {
            for (size_t i = 0; i < n; i++) at[i] = x[i] + (k ? -h : h) * v[i];
            assert_int_equal(record(which, at, in, &y), WG_OK);
            assert_int_equal(wg_reverse(tape, y), WG_OK);
            assert_int_equal(wg_adjoints(tape, n, in, g), WG_OK);
            side[k] = dot(n, u, g);
        }
        table[0] = (side[0] - side[1]) / (2 * h);
        for (size_t j = 1; j <= s; j++) {
            f *= 4;
            table[j] = (f * table[j - 1] - before[j - 1]) / (f - 1);
            const double e =
                fmax(fabs(table[j] - table[j - 1]), fabs(table[j] - before[j - 1]));
            if (e <= *error) *error = e, best = table[j];
        }
    }
    return best;
}

/* What differences may be wrong by counts so often, and a part of what is added up. */
#define TOL_ESTIMATES 64 /* two of them may agree by chance */
#define TOL_DIFFERENCED 1e-11
#define TOL_SYMMETRIC 1e-12

static void products_agree_with_differences_and_are_symmetric(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (size_t c = 0; c < FUNCTIONS; c++) {
        double x[MOST], u[MOST], v[MOST], hu[MOST], hv[MOST], error;
        wg_real in[MOST], y;
        const size_t n = functions[c].n;
        assert_true(n <= MOST);
        for (size_t i = 0; i < n; i++) {
            x[i] = functions[c].scale * walk_number(&seed);
            if (i % (size_t)functions[c].every == 0) x[i] += functions[c].more;
            u[i] = walk_number(&seed), v[i] = walk_number(&seed);
        }
        assert_int_equal(record(c, x, in, &y), WG_OK);
        assert_int_equal(wg_tape_hvp(tape, y, n, in, u, hu), WG_OK);
        assert_int_equal(wg_tape_hvp(tape, y, n, in, v, hv), WG_OK);
        const double got = dot(n, u, hv), other = dot(n, v, hu);
        double size = 0;
        for (size_t i = 0; i < n; i++) size += fabs(u[i] * hv[i]);
        if (!(fabs(got - other) <= TOL_SYMMETRIC * size))
            fail_msg("%s: u' H v is %.17g, and v' H u %.17g", functions[c].name, got, other);
        const double want = difference(c, x, u, v, &error);
        if (!(error <= 1e-7 * size))
            fail_msg("%s: differences are no judge (%g)", functions[c].name, error);
        if (!(fabs(got - want) <= TOL_ESTIMATES * error + TOL_DIFFERENCED * size))
            fail_msg("%s: u' H v is %.17g, not %.17g (within %g)", functions[c].name, got, want,
                     error);
    }
}

static void an_adjoint_of_0_times_an_infinite_second_partial_is_0(void **state) {
    (void)state;
    enum { N = 12, POLE = 5 };
    double at[N], weight[N], v[N], hv[N];
    wg_real x[N];
    for (size_t i = 0; i < N; i++) {
        at[i] = i == POLE ? 0 : 1 + 0.25 * (double)i;
        weight[i] = i == POLE ? 0 : 2;
        v[i] = 1 + (double)i;
    }
    wg_tape_reset(tape);
    assert_int_equal(wg_inputs(tape, N, at, x), WG_OK);
    const wg_mat logs = wg_mat_log(tape, wg_mat_gather(tape, N, 1, x));
    const wg_real y =
        wg_mat_sum(tape, wg_mat_mul(tape, wg_mat_constant(tape, N, 1, weight, N), logs));
    assert_int_equal(wg_tape_hvp(tape, y, N, x, v, hv), WG_OK);
    for (size_t i = 0; i < N; i++) {
        const double want = i == POLE ? 0 : -2 * v[i] / (at[i] * at[i]);
        assert_true(fabs(hv[i] - want) <= 4 * DBL_EPSILON * fabs(want));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_differences_and_are_symmetric),
        cmocka_unit_test(an_adjoint_of_0_times_an_infinite_second_partial_is_0),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}

/* SPDX-License-Identifier: MIT */
/* test_tape_second_spectral.c - second derivatives of eigenvalues, singular values, functions of
 * matrices and matrix equations: against differences of gradients, against each other where two
 * operations give the same, and at repeated eigenvalues. */
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
#include "spectral_operations.h"

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

/* H v by differences of the gradient, extrapolated (Ridders 1982), and what they may be wrong by. */
enum { STEPS = 6 };
static void differences(number *k, size_t n, const double *x, const double *v, double *d,
                        double *error) {
    double value, at[ALL], g[2][ALL];
    static double table[ALL][STEPS], before[ALL][STEPS];
    double h = 0x1p-6;
    for (size_t i = 0; i < n; i++) error[i] = INFINITY;
    for (size_t s = 0; s < STEPS; s++, h /= 2) {
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < n; i++) at[i] = x[i] + (side ? -h : h) * v[i];
            assert_int_equal(wg_gradient(tape, number_of, k, n, at, &value, g[side]), WG_OK);
        }
        memcpy(before, table, sizeof table);
        for (size_t i = 0; i < n; i++) {
            double f = 1;
            table[i][0] = (g[0][i] - g[1][i]) / (2 * h);
            for (size_t j = 1; j <= s; j++) {
                f *= 4;
                table[i][j] = (f * table[i][j - 1] - before[i][j - 1]) / (f - 1);
                const double e = fmax(fabs(table[i][j] - table[i][j - 1]),
                                      fabs(table[i][j] - before[i][j - 1]));
                if (e <= error[i]) error[i] = e, d[i] = table[i][j];
            }
        }
    }
}

/* What differences may be wrong by counts so often, and a part of the largest entry. */
#define TOL_ESTIMATES 64 /* two of them may agree by chance */
#define TOL_DIFFERENCED 1e-11

static void products_agree_with_differences_of_gradients(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (size_t c = 0; c < OPERATIONS; c++)
        for (size_t order = 1; order <= 4; order++) {
            double x[ALL], v[ALL], u[ALL], hv[ALL], hu[ALL], d[ALL], error[ALL],
                h[ALL * ALL / 4];
            number k = {operations[c].of, order, 0};
            const size_t n = 3 * order * order;
            fill(order, x, &seed);
            for (size_t i = 0; i < n; i++) v[i] = walk_number(&seed), u[i] = walk_number(&seed);
            assert_int_equal(wg_hvp(tape, number_of, &k, n, x, v, NULL, NULL, hv), WG_OK);
            assert_int_equal(wg_hvp(tape, number_of, &k, n, x, u, NULL, NULL, hu), WG_OK);
            double one = 0, other = 0, sizes = 0;
            for (size_t i = 0; i < n; i++)
                one += u[i] * hv[i], other += v[i] * hu[i], sizes += fabs(u[i] * hv[i]);
            if (!(fabs(one - other) <= 1e-12 * sizes))
                fail_msg("%s of order %zu: u' H v is %.17g, and v' H u %.17g",
                         operations[c].name, order, one, other);
            differences(&k, n, x, v, d, error);
            const double size = fmax(1, largest(n, d));
            for (size_t i = 0; i < n; i++) {
                if (!(fabs(hv[i] - d[i]) <= TOL_ESTIMATES * error[i] + TOL_DIFFERENCED * size))
                    fail_msg("%s of order %zu: H v (%zu) is %.17g, not %.17g (within %g)",
                             operations[c].name, order, i, hv[i], d[i], error[i]);
                if (!(error[i] <= 1e-7 * size))
                    fail_msg("%s: differences are no judge (%g)", operations[c].name, error[i]);
            }
            if (order > 3) continue;
            assert_int_equal(wg_hessian(tape, number_of, &k, n, x, NULL, NULL, h, n), WG_OK);
            for (size_t i = 0; i < n; i++) {
                double sum = 0;
                for (size_t j = 0; j < n; j++) sum += h[i + j * n] * v[j];
                if (!(fabs(sum - hv[i]) <= 1e-11 * fmax(1, largest(n * n, h))))
                    fail_msg("%s of order %zu: the Hessian times v (%zu) is %.17g, not %.17g",
                             operations[c].name, order, i, sum, hv[i]);
            }
        }
}

/* ---- the same by other operations, also where eigenvalues are equal, or nearly ---- */

static const double spreads[] = {0, 1e-15, 1e-11, 1e-7, 1e-4, 1e-2, 0.1, 0.5};
enum { SPREADS = sizeof spreads / sizeof *spreads };

static void same_products(const char *name, operation *one, operation *other) {
    enum { N = 4, NN = N * N };
    uint64_t seed = 11;
    for (size_t s = 0; s < SPREADS; s++) {
        double x[3 * NN] = {0}, v[3 * NN] = {0}, hv[2][3 * NN];
        for (size_t i = 0; i < NN; i++) v[i] = walk_number(&seed);
        for (size_t i = 0; i < N; i++) {
            x[i * (N + 1)] = 1.5 + spreads[s] * (double)i;
            for (size_t j = 0; j < i; j++)
                x[i + j * N] = x[j + i * N] = spreads[s] * walk_number(&seed);
        }
        for (int which = 0; which < 2; which++) {
            number k = {which ? other : one, N, 1};
            assert_int_equal(wg_hvp(tape, number_of, &k, 3 * NN, x, v, NULL, NULL, hv[which]),
                             WG_OK);
        }
        const double size = largest(NN, hv[1]);
        for (size_t i = 0; i < NN; i++)
            if (!(fabs(hv[0][i] - hv[1][i]) <= 1e-12 * size))
                fail_msg("%s, spread %g: H v (%zu) is %.17g, not %.17g", name, spreads[s], i,
                         hv[0][i], hv[1][i]);
    }
}

static void functions_of_symmetric_matrices_are_those_of_matrices(void **state) {
    (void)state;
    same_products("exp", of_symmetric_exp, of_expm_symmetric);
    same_products("log", of_symmetric_log, of_logm);
    same_products("sqrt", of_symmetric_sqrt, of_sqrtm);
    same_products("power", of_symmetric_power, of_power_symmetric);
    same_products("cube", of_symmetric_cube, of_cube);
}

/* ---- where there is no second derivative, or none is known ---- */

static void repeated_eigenvalues_are_refused_and_leave_outputs_alone(void **state) {
    (void)state;
    enum { N = 3, NN = N * N };
    operation *const refused[] = {of_eigenvectors, of_eigenvalues, of_squares,
                                  of_singular_values, of_singular_vectors};
    for (size_t c = 0; c < sizeof refused / sizeof *refused; c++) {
        double x[3 * NN] = {0}, v[3 * NN] = {0}, hv[3 * NN];
        number k = {refused[c], N, 1};
        for (size_t i = 0; i < N; i++) x[i * (N + 1)] = 2;
        for (size_t i = 0; i < NN; i++) v[i] = 1 + (double)(i % 4), hv[i] = 7;
        const wg_status s = wg_hvp(tape, number_of, &k, 3 * NN, x, v, NULL, NULL, hv);
        assert_int_equal(s, WG_EDEGENERATE);
        for (size_t i = 0; i < NN; i++) assert_true(hv[i] == 7);
        double h[9 * NN * NN];
        for (size_t i = 0; i < 9 * NN * NN; i++) h[i] = 7;
        assert_int_equal(wg_hessian(tape, number_of, &k, 3 * NN, x, NULL, NULL, h, 3 * NN),
                         WG_EDEGENERATE);
        for (size_t i = 0; i < 9 * NN * NN; i++) assert_true(h[i] == 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_differences_of_gradients),
        cmocka_unit_test(functions_of_symmetric_matrices_are_those_of_matrices),
        cmocka_unit_test(repeated_eigenvalues_are_refused_and_leave_outputs_alone),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}

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
#include "walk.h"

enum { MOST = 8, ALL = 3 * MOST * MOST };

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

/* ---- operations: of A, B, C of order n, and what is made of A: symmetric, positive definite ---- */

typedef struct operands {
    size_t n;
    wg_mat a, b, c, symmetric, definite;
} operands;

/* Results are weighed and summed up in `to`. */
typedef struct sums {
    wg_tape *t;
    wg_real to;
    double next; /* of the weights */
} sums;

static void add(sums *s, wg_mat y) {
    for (size_t j = 0; j < y.cols; j++)
        for (size_t i = 0; i < y.rows; i++) {
            const double w = sin(s->next += 1.7);
            s->to = wg_let(s->t, wg_add(s->to, wg_mul(w, wg_mat_at(y, i, j))));
        }
}
static void add_number(sums *s, wg_real y) {
    s->to = wg_let(s->t, wg_add(s->to, wg_mul(1.25, y)));
}

typedef void operation(wg_tape *t, const operands *o, sums *s);

#define OPERATION(name, ...)                                                                   \
    static void name(wg_tape *t, const operands *o, sums *s) { __VA_ARGS__; }
OPERATION(of_expm, add(s, wg_expm(t, o->a)))
OPERATION(of_power, add(s, wg_powm(t, o->a, 5)))
OPERATION(of_negative_power, add(s, wg_powm(t, o->definite, -3)))
OPERATION(of_sqrtm, add(s, wg_sqrtm(t, o->definite)))
OPERATION(of_logm, add(s, wg_logm(t, o->definite)))
OPERATION(of_real_power, add(s, wg_powm_real(t, o->definite, 0.7)))
OPERATION(of_sylvester, add(s, wg_sylvester(t, o->definite, o->b, o->c)))
OPERATION(of_lyapunov, add(s, wg_lyapunov(t, o->definite, o->c)))
OPERATION(of_discrete, add(s, wg_lyapunov_discrete(t, wg_mat_scale(t, 0.3, o->a), o->c)))
OPERATION(of_eigenvalues, add(s, wg_eigvalsh(t, o->symmetric)))
OPERATION(of_eigenvectors, wg_mat w; wg_mat v;
          if (wg_eigh(t, o->symmetric, &w, &v) == WG_OK) add(s, w), add(s, v))
OPERATION(of_general_values, add(s, wg_eigvalsh_general(t, o->symmetric, o->definite)))
OPERATION(of_general_vectors, wg_mat w; wg_mat v;
          if (wg_eigh_general(t, o->symmetric, o->definite, &w, &v) == WG_OK) add(s, w),
          add(s, v))
OPERATION(of_singular_values, add(s, wg_svdvals(t, o->a)))
OPERATION(of_singular_vectors, wg_mat u; wg_mat d; wg_mat v;
          if (wg_svd(t, o->a, &u, &d, &v) == WG_OK) add(s, u), add(s, d), add(s, v))
OPERATION(of_tall_vectors, wg_mat u; wg_mat d; wg_mat v;
          if (wg_svd(t, wg_mat_block(o->a, 0, 0, o->n, o->n - o->n / 2), &u, &d, &v) == WG_OK)
              add(s, u),
          add(s, d), add(s, v))
OPERATION(of_wide_vectors, wg_mat u; wg_mat d; wg_mat v;
          if (wg_svd(t, wg_mat_block(o->a, 0, 0, o->n - o->n / 2, o->n), &u, &d, &v) == WG_OK)
              add(s, u),
          add(s, d), add(s, v))
OPERATION(of_nuclear_norm, add_number(s, wg_mat_norm_nuclear(t, o->a)))
OPERATION(of_spectral_norm, add_number(s, wg_mat_norm_spectral(t, o->a)))
OPERATION(of_symmetric_exp, add(s, wg_symmetric_exp(t, o->symmetric)))
OPERATION(of_symmetric_log, add(s, wg_symmetric_log(t, o->definite)))
OPERATION(of_symmetric_sqrt, add(s, wg_symmetric_sqrt(t, o->definite)))
OPERATION(of_inverse_sqrt, add(s, wg_symmetric_inverse_sqrt(t, o->definite)))
OPERATION(of_symmetric_power, add(s, wg_symmetric_power(t, o->definite, 1.3)))
OPERATION(of_symmetric_cube, add(s, wg_symmetric_power(t, o->symmetric, 3)))
OPERATION(of_cube, add(s, wg_powm(t, o->symmetric, 3)))
OPERATION(of_expm_symmetric, add(s, wg_expm(t, o->symmetric)))
OPERATION(of_power_symmetric, add(s, wg_powm_real(t, o->definite, 1.3)))
OPERATION(of_squares,
          add_number(s, wg_mat_sum(t, wg_mat_square(t, wg_eigvalsh(t, o->symmetric)))))

static double plain_exp(double x, const void *data) { return (void)data, exp(x); }
static double plain_log(double x, const void *data) { return (void)data, log(x); }
static double plain_reciprocal(double x, const void *data) { return (void)data, 1 / x; }
static double minus_square_reciprocal(double x, const void *data) {
    return (void)data, -1 / x / x;
}
static const wg_symmetric_function user_exp = {plain_exp, plain_exp, NULL, plain_exp},
                                   user_log = {plain_log, plain_reciprocal, NULL,
                                               minus_square_reciprocal};
OPERATION(of_user_exp, add(s, wg_symmetric_apply(t, o->symmetric, user_exp)))
OPERATION(of_user_log, add(s, wg_symmetric_apply(t, o->definite, user_log)))

/* The sum of an operation's results, and its sine, so that adjoints of results have tangents. */
typedef struct number {
    operation *of;
    size_t n;
    int plain; /* operands are taken as they are: A is symmetric, and the definite one A itself */
} number;

static wg_status number_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const number *const k = data;
    const size_t nn = k->n * k->n;
    (void)n, (void)m;
    operands o = {.n = k->n};
    o.a = wg_mat_gather(t, k->n, k->n, x);
    o.b = wg_mat_gather(t, k->n, k->n, x + nn);
    o.c = wg_mat_gather(t, k->n, k->n, x + 2 * nn);
    o.symmetric = wg_mat_axpby(t, 0.5, o.a, 0.5, wg_mat_transpose(o.a));
    o.definite = k->plain ? o.symmetric
                          : wg_gemm(t, 'N', 'T', 0.3, o.a, o.a, 1, wg_mat_identity(t, k->n));
    sums s = {t, wg_constant(0), 1};
    k->of(t, &o, &s);
    y[0] = wg_let(t, wg_add(s.to, wg_sin(s.to)));
    return wg_tape_status(t);
}

static void fill(size_t n, double *x, uint64_t *seed) {
    for (size_t i = 0; i < 3 * n * n; i++) x[i] = 0.5 * walk_number(seed);
    for (size_t i = 0; i < n; i++) x[i * (n + 1)] += 1 + 0.25 * (double)i;
}

static double largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
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

static const struct {
    const char *name;
    operation *of;
} operations[] = {{"expm", of_expm},
                  {"powm", of_power},
                  {"powm, negative", of_negative_power},
                  {"sqrtm", of_sqrtm},
                  {"logm", of_logm},
                  {"powm_real", of_real_power},
                  {"sylvester", of_sylvester},
                  {"lyapunov", of_lyapunov},
                  {"lyapunov_discrete", of_discrete},
                  {"eigvalsh", of_eigenvalues},
                  {"eigh", of_eigenvectors},
                  {"eigvalsh_general", of_general_values},
                  {"eigh_general", of_general_vectors},
                  {"svdvals", of_singular_values},
                  {"svd", of_singular_vectors},
                  {"svd, tall", of_tall_vectors},
                  {"svd, wide", of_wide_vectors},
                  {"nuclear norm", of_nuclear_norm},
                  {"spectral norm", of_spectral_norm},
                  {"symmetric_exp", of_symmetric_exp},
                  {"symmetric_log", of_symmetric_log},
                  {"symmetric_sqrt", of_symmetric_sqrt},
                  {"symmetric_inverse_sqrt", of_inverse_sqrt},
                  {"symmetric_power", of_symmetric_power},
                  {"symmetric_power, cube", of_symmetric_cube},
                  {"symmetric_apply, exp", of_user_exp},
                  {"symmetric_apply, log", of_user_log}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

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
    same_products("exp of the user's", of_user_exp, of_symmetric_exp);
    same_products("log of the user's", of_user_log, of_symmetric_log);
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

/* A function of which there is a slope, and no more. */
static void a_function_without_a_curve_is_refused_by_name(void **state) {
    (void)state;
    const wg_symmetric_function f = {plain_exp, plain_exp, NULL, NULL};
    const double x[4] = {2, 1, 1, 3}, v[4] = {1, 0, 0, 0};
    double hv[4] = {7, 7, 7, 7};
    wg_tape_reset(tape);
    wg_real in[4];
    assert_int_equal(wg_inputs(tape, 4, x, in), WG_OK);
    const wg_mat y = wg_symmetric_apply(tape, wg_mat_gather(tape, 2, 2, in), f);
    assert_int_equal(wg_tape_hvp(tape, wg_mat_at(y, 0, 0), 4, in, v, hv), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(tape), "wg_symmetric_apply"));
    assert_true(hv[0] == 7 && hv[3] == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_differences_of_gradients),
        cmocka_unit_test(functions_of_symmetric_matrices_are_those_of_matrices),
        cmocka_unit_test(a_function_without_a_curve_is_refused_by_name),
        cmocka_unit_test(repeated_eigenvalues_are_refused_and_leave_outputs_alone),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}

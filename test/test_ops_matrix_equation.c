/* SPDX-License-Identifier: MIT */
/* test_ops_matrix_equation.c - solutions of the equations of Sylvester and Lyapunov: that they
 * solve them, and with how many digits where numbers are large, small or of different size. What
 * these have in common with functions of matrices is in test_ops_matrix_function.c.
 *
 * Letters: as in ops/matrix/sylvester.c. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <wengert/solve.h>
#include "spectral_case.h"

/* ---- identities ---- */

static void solutions_solve_their_equations(void **state) {
    (void)state;
    static const size_t orders[] = {1, 2, 7, 34, 66};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        const size_t n = orders[k];
        uint64_t seed = n;
        double *a = spectral_right_of_zero(n, &seed), *b = spectral_right_of_zero(n, &seed);
        double *c = spectral_random(n, n, &seed), *l = spectral_room(n * n),
               *r = spectral_room(n * n);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < j; i++) c[i + j * n] = c[j + i * n];
        for (int which = 0; which < 3; which++) {
            if (which == 2) (void)spectral_scaled(n, a, 0.25);
            const wg_mat ma = spectral_input(t, n, n, a), mc = spectral_input(t, n, n, c);
            const wg_mat m = which == 0   ? wg_sylvester(t, ma, spectral_input(t, n, n, b), mc)
                             : which == 1 ? wg_lyapunov(t, ma, mc)
                                          : wg_lyapunov_discrete(t, ma, mc);
            double *x = spectral_value(t, m);
            spectral_product(n, a, x, 0, l);
            if (which == 2) { /* A X A' - X = -C */
                spectral_product(n, l, a, 1, r);
                for (size_t i = 0; i < n * n; i++) l[i] = x[i] - r[i];
            } else {
                spectral_product(n, x, which == 0 ? b : a, which == 1, r);
                for (size_t i = 0; i < n * n; i++) l[i] += r[i];
            }
            spectral_near("residual", n * n, l, c,
                          spectral_bound(n, 4 * spectral_size(n * n, x)));
            for (size_t i = 0; which != 0 && i < n; i++) /* symmetric, as C is */
                assert_true(fabs(x[i] - x[i * n]) <=
                            spectral_bound(n, spectral_size(n * n, x)));
            free(x);
        }
        free(a);
        free(b);
        free(c);
        free(l);
        free(r);
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

/* ---- equations of large and graded matrices ---- */

enum { SYSTEM = 16 }; /* unknowns, at most */

/* x, of c, by the system of all n^2 unknowns with partial pivoting in long double: A X + X
 * B = C, or X = A X B + C. */
static void long_equation(size_t n, int discrete, const long double *a, const long double *b,
                          const long double *c, long double *x) {
    long double k[SYSTEM][SYSTEM + 1];
    const size_t all = n * n;
    for (size_t r = 0; r < all; r++) {
        const size_t i = r % n, j = r / n;
        k[r][all] = c[r];
        for (size_t s = 0; s < all; s++) {
            const size_t p = s % n, q = s / n;
            k[r][s] = discrete ? fmal(-a[i + p * n], b[q + j * n], r == s)
                               : (q == j ? a[i + p * n] : 0) + (p == i ? b[q + j * n] : 0);
        }
    }
    for (size_t r = 0; r < all; r++) {
        size_t best = r;
        for (size_t s = r; s < all; s++)
            if (fabsl(k[s][r]) > fabsl(k[best][r])) best = s;
        for (size_t s = 0; s <= all; s++) {
            const long double y = k[r][s];
            k[r][s] = k[best][s], k[best][s] = y;
        }
        for (size_t s = 0; s < all; s++) {
            const long double f = s == r ? 0 : k[s][r] / k[r][r];
            for (size_t l = r; f != 0 && l <= all; l++) k[s][l] -= f * k[r][l];
        }
    }
    for (size_t r = 0; r < all; r++) x[r] = k[r][all] / k[r][r];
}

static void long_product(size_t n, const long double *a, int turn_a, const long double *b,
                         int turn_b, long double sign, long double *c) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++)
                c[i + j * n] += sign * a[turn_a ? k + i * n : i + k * n] *
                                b[turn_b ? j + k * n : k + j * n];
}
static void long_transpose(size_t n, const long double *a, long double *b) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) b[j + i * n] = a[i + j * n];
}

/* X, and the adjoints of A and C from that of X, w. */
static void long_adjoints(size_t n, int discrete, const long double *a, const long double *c,
                          const long double *w, long double *x, long double *ab,
                          long double *cb) {
    long double at[SYSTEM], ax[SYSTEM] = {0}, axt[SYSTEM] = {0};
    long_transpose(n, a, at);
    long_equation(n, discrete, a, at, c, x);
    long_equation(n, discrete, at, a, w, cb);
    for (size_t i = 0; i < n * n; i++) ab[i] = 0;
    if (discrete) {
        long_product(n, a, 0, x, 1, 1, axt);
        long_product(n, cb, 0, axt, 0, 1, ab);
        long_product(n, a, 0, x, 0, 1, ax);
        long_product(n, cb, 1, ax, 0, 1, ab);
    } else {
        long_product(n, cb, 0, x, 1, -1, ab);
        long_product(n, cb, 1, x, 0, -1, ab);
    }
}

/* Value and gradient of both equations of Lyapunov against long double: the matrices are large,
 * or of entries of many sizes, but their solutions are determined well. Errors are compared
 * with the largest entry, or each with its own. */
static void equations_of_large_and_graded_matrices_keep_their_digits(void **state) {
    (void)state;
    static const struct {
        size_t n;
        int discrete, entries;
        double a[SYSTEM];
    } rows[] = {
        {2, 1, 1, {0, 1e9, 1, 0}},
        {2, 1, 1, {0, 1, 1e9, 0}},
        {2, 1, 1, {0.001, 1e9, 1, 0}},
        {2, 1, 1, {0, 1e9, 1, 1e-7}},
        {2, 1, 1, {0.3, -1e9, 1, 0.2}}, /* complex eigenvalues */
        {2, 0, 0, {0.3, -1e9, 1, 0.2}},
        {2, 0, 0, {3e4, 1e9, -1, 3e4}},
        {2, 1, 0, {1e12, 3e11, -2e11, 7e11}},
        {1, 1, 1, {0.99999999}},
        {3, 1, 1, {0.3, 1e9, 1e4, 1, 0.2, 3, 2, 1, 0.5}},
        {3, 0, 0, {40.3, 1e9, 1e4, -1e-6, 41.2, 3e-3, 0, 1e3, 39.5}},
        {4,
         1,
         0,
         {1e8, 2e7, 3e7, -4e7, -3e7, 2e8, 5e7, 1e7, 1e6, 3e7, 3e8, 1e7, 2e7, 6e7, -9e7, 1e8}},
        {4,
         0,
         0,
         {1e8, 2e7, 3e7, -4e7, -3e7, 2e8, 5e7, 1e7, 1e6, 3e7, 3e8, 1e7, 2e7, 6e7, -9e7, 1e8}},
        {4,
         1,
         1,
         {0.5, 1e5, -1e-5, 3, 1e-5, -0.3, 2e-10, 1e-5, 1e5, -2e10, 0.2, 7e5, 0.1, 1e5, -2e-6,
          0.7}}};
    static const double c[SYSTEM] = {1,  -2, 0.5, 3, 2,   1,    -1, 0.25,
                                     -3, 1,  2,   1, 0.5, -0.5, 1,  2};
    static const double w[SYSTEM] = {1, 0.5, -2, 1, 3, -1, 1, 2, 0.25, 1, -1, 3, 1, 2, -0.5, 1};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const size_t n = rows[k].n, all = n * n;
        long double la[SYSTEM], lc[SYSTEM], lw[SYSTEM], want[3][SYSTEM];
        for (size_t i = 0; i < all; i++) la[i] = rows[k].a[i], lc[i] = c[i], lw[i] = w[i];
        long_adjoints(n, rows[k].discrete, la, lc, lw, want[0], want[1], want[2]);
        const wg_mat a = spectral_input(t, n, n, rows[k].a), q = spectral_input(t, n, n, c);
        const wg_mat x =
            rows[k].discrete ? wg_lyapunov_discrete(t, a, q) : wg_lyapunov(t, a, q);
        if (wg_mat_reverse(t, x, w, n) != WG_OK) fail_msg("row %zu: %s", k, wg_tape_message(t));
        double *got[3] = {spectral_value(t, x), spectral_adjoint(t, a), spectral_adjoint(t, q)};
        for (int part = 0; part < 3; part++) {
            double right[SYSTEM];
            char what[64];
            for (size_t i = 0; i < all; i++) right[i] = (double)want[part][i];
            snprintf(what, sizeof what, "row %zu, part %d", k, part);
            for (size_t i = 0; i < all; i++) {
                const double size =
                    rows[k].entries ? fabs(right[i]) : spectral_size(all, right);
                spectral_near(what, 1, got[part] + i, right + i, spectral_bound(n, size));
            }
            free(got[part]);
        }
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

/* ---- the ends of the range ---- */

/* Balanced by powers of 2 of which one alone would leave the range of numbers; and solutions
 * with an entry that is beyond it, which are no infinities with WG_OK. */
static void equations_at_the_ends_of_the_range_are_solved_or_refused(void **state) {
    (void)state;
    const double a[] = {1, 0.5e200, 1e-200, 1}, d[] = {0, 0.5e-200, 1e200, 0};
    const double b[] = {2, 0, 0, 3}, q[] = {1e-20, 0, 0, 1}, low[] = {0, 0, 0, 1e-50};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat ma = spectral_input(t, 2, 2, a), mq = spectral_input(t, 2, 2, q);
    const wg_mat x = wg_sylvester(t, ma, spectral_input(t, 2, 2, b), mq);
    assert_int_equal(wg_tape_status(t), WG_OK);
    /* column 1: (A + 2 I) x = (1e-20, 0), det 8.5; column 2: (A + 3 I) x = (0, 1), det 15.5 */
    const double right[] = {3e-20 / 8.5, -0.5e180 / 8.5, -1e-200 / 15.5, 4 / 15.5};
    for (size_t i = 0; i < 4; i++)
        if (!(fabs(x.value[i] / right[i] - 1) <= TOL_SPECTRAL_ULP * DBL_EPSILON))
            fail_msg("element %zu: %.17g, not %.17g", i, x.value[i], right[i]);
    (void)wg_lyapunov(t, ma, mq);
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "not within the range"));
    wg_tape_reset(t);
    (void)wg_lyapunov_discrete(t, spectral_input(t, 2, 2, d), spectral_input(t, 2, 2, low));
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "not within the range"));
    wg_tape_free(t);
}

/* Balanced, these right-hand sides are less than the least of all numbers, or have few
 * digits left. */
static void small_right_hand_sides_keep_their_digits(void **state) {
    (void)state;
    enum { SYLVESTER, CONTINUOUS, DISCRETE };
    /* size: of an element of the solution in the balance of the equation */
    static const struct {
        int equation;
        double a[4], right[4], x[4], size[4];
    } cases[] = {
        /* with B = diag(2, 3): columns (-1e-450, 3e-250) / 8.5, (-1e-450, 4e-250) / 15.5 */
        {SYLVESTER,
         {1, 0.5e200, 1e-200, 1},
         {0, 1e-250, 0, 1e-250},
         {0, 3e-250 / 8.5, 0, 4e-250 / 15.5},
         {0, 1e-250, 0, 1e-250}},
        /* x11 = 0.5e-400 */
        {CONTINUOUS,
         {1, 0.5e200, 1e-200, 1},
         {0, 0, 0, 1},
         {0, -0.5e-200, -0.5e-200, 0.75},
         {0, 1e-200, 1e-200, 1}},
        /* x11 = 4e-400 / 3, of which A makes 1 / 3 */
        {DISCRETE,
         {0, 0.5e200, 1e-200, 0},
         {0, 0, 0, 1},
         {0, 0, 0, 4. / 3},
         {0, 1e-200, 1e-200, 1}},
    };
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int which = cases[k].equation;
        const wg_mat a = spectral_input(t, 2, 2, cases[k].a);
        const wg_mat b = spectral_input(t, 2, 2, (const double[]){2, 0, 0, 3});
        const wg_mat right = spectral_input(t, 2, 2, cases[k].right);
        const wg_mat x = which == SYLVESTER    ? wg_sylvester(t, a, b, right)
                         : which == CONTINUOUS ? wg_lyapunov(t, a, right)
                                               : wg_lyapunov_discrete(t, a, right);
        assert_int_equal(wg_tape_status(t), WG_OK);
        for (size_t i = 0; i < 4; i++)
            if (!(fabs(x.value[i] - cases[k].x[i]) <=
                  TOL_SPECTRAL_ULP * DBL_EPSILON * cases[k].size[i]))
                fail_msg("case %zu, element %zu: %.17g, not %.17g", k, i, x.value[i],
                         cases[k].x[i]);
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

/* A = 2^d M 2^d, B = 2^e N 2^e of small integers, C made of a small X exactly: what is small in
 * A is not lost in its Schur form, whose balance shows nothing. */
static void solutions_of_scaled_matrices_keep_their_digits(void **state) {
    (void)state;
    static const struct {
        int lyapunov;
        int d[3], m[9], e[3], n[9], x[9];
    } cases[] = {
        {0,
         {-3, -7, -5},
         {3, -3, 0, 2, -3, -3, -3, -3, -1},
         {-10, -12, 7},
         {-1, 1, 1, 2, 0, -1, 0, -2, -3},
         {1, 2, 3, 1, 2, 3, 1, 2, 3}},
        {0,
         {1, -7, 0},
         {2, 1, 3, 2, -2, -1, -2, 3, 3},
         {-14, 12, 5},
         {-2, 1, 0, 2, -1, 3, 1, 3, 1},
         {1, 1, 1, 1, 1, 2, 1, 3, 2}},
        {1,
         {1, -14, 0},
         {3, 1, -3, -3, -2, -1, 1, -2, 2},
         {0},
         {0},
         {2, 2, 3, 3, 3, 2, 3, 1, 2}},
        {1,
         {-14, 10, 10},
         {0, -3, -2, 2, 2, 2, -1, 0, -1},
         {0},
         {0},
         {2, 3, 2, 1, 1, 3, 3, 1, 3}},
    };
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double a[9], b[9], c[9] = {0};
        for (size_t i = 0; i < 9; i++) {
            a[i] = ldexp(cases[k].m[i], cases[k].d[i % 3] + cases[k].d[i / 3]);
            b[i] = ldexp(cases[k].n[i], cases[k].e[i % 3] + cases[k].e[i / 3]);
        }
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++)
                for (size_t l = 0; l < 3; l++)
                    c[i + 3 * j] += a[i + 3 * l] * cases[k].x[l + 3 * j] +
                                    cases[k].x[i + 3 * l] *
                                        (cases[k].lyapunov ? a[j + 3 * l] : b[l + 3 * j]);
        const wg_mat ma = spectral_input(t, 3, 3, a), mb = spectral_input(t, 3, 3, b);
        const wg_mat mc = spectral_input(t, 3, 3, c);
        const wg_mat x =
            cases[k].lyapunov ? wg_lyapunov(t, ma, mc) : wg_sylvester(t, ma, mb, mc);
        assert_int_equal(wg_tape_status(t), WG_OK);
        for (size_t i = 0; i < 9; i++)
            if (!(fabs(x.value[i] - cases[k].x[i]) <=
                  TOL_SPECTRAL_ULP * DBL_EPSILON * cases[k].x[i]))
                fail_msg("case %zu, element %zu: %.17g, not %d", k, i, x.value[i],
                         cases[k].x[i]);
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

static void adjoints_that_are_nan_flow_through_equations(void **state) {
    (void)state;
    const double a[] = {0.5, 0, 0.25, 0.5}, c[] = {1, 2, 3, 4}, seeds[] = {NAN, INFINITY};
    double g[4];
    wg_tape *const t = wg_tape_new(NULL);
    for (int k = 0; k < 6; k++) {
        const wg_mat ma = spectral_input(t, 2, 2, a), mc = spectral_input(t, 2, 2, c);
        const wg_mat x = k / 2 == 0   ? wg_sylvester(t, ma, ma, mc)
                         : k / 2 == 1 ? wg_lyapunov(t, ma, mc)
                                      : wg_lyapunov_discrete(t, ma, mc);
        const wg_real y = wg_let(t, wg_mul(seeds[k % 2], wg_mat_at(x, 0, 0)));
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, mc, g, 2), WG_OK);
        assert_true(isnan(g[0]));
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_solve_their_equations),
        cmocka_unit_test(equations_of_large_and_graded_matrices_keep_their_digits),
        cmocka_unit_test(equations_at_the_ends_of_the_range_are_solved_or_refused),
        cmocka_unit_test(small_right_hand_sides_keep_their_digits),
        cmocka_unit_test(solutions_of_scaled_matrices_keep_their_digits),
        cmocka_unit_test(adjoints_that_are_nan_flow_through_equations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_ops_eigen.c - eigenvalues and vectors of any square matrix, null spaces: the equations
 * they satisfy, derivatives in every mode, and where there are none. */
#include "derived_case.h"

/* Residuals of order n, in units of n DBL_EPSILON times the largest entry. */
#define TOL_EIGEN 64.0
/* Eigenvalues of matrices of condition up to some hundreds, relative to the largest. */
#define TOL_EIGENVALUES 0x1p14

static void near(const char *what, wg_mat got, wg_mat want) {
    derived_close(what, got, want, TOL_EIGEN * (double)(want.rows + 1) * DBL_EPSILON);
}
static wg_mat zero(wg_tape *t, size_t rows, size_t cols) {
    return wg_mat_fill(t, rows, cols, 0);
}

static void vectors_are_turned_into_their_multiples(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 3;
    for (size_t n = 0; n <= 33; n += n < 8 ? 1 : 5) {
        wg_tape_reset(t);
        wg_mat re, im, v, w, same, other;
        const wg_mat a = derived_random(t, n, n, 1, &seed);
        assert_int_equal(wg_eig(t, a, &re, &im, &v, &w), WG_OK);
        assert_int_equal(wg_eigvals(t, a, &same, &other), WG_OK);
        const wg_mat row = wg_mat_transpose(re), turn = wg_mat_transpose(im);
        const wg_mat real = wg_mat_sub(t, wg_mat_mul(t, v, row), wg_mat_mul(t, w, turn));
        const wg_mat imaginary = wg_mat_add(t, wg_mat_mul(t, v, turn), wg_mat_mul(t, w, row));
        near("A V", wg_matmul(t, a, v), real);
        near("A V, imaginary", wg_matmul(t, a, w), imaginary);
        double trace = 0;
        for (size_t j = 0; j < n; j++) {
            double norm = 0, most = 0, turned = 1;
            for (size_t i = 0; i < n; i++) {
                const double size = hypot(derived_at(v, i, j), derived_at(w, i, j));
                norm += size * size;
                if (size > most) most = size, turned = derived_at(w, i, j);
            }
            assert_true(fabs(norm - 1) <= TOL_EIGEN * DBL_EPSILON * (double)n);
            assert_true(fabs(turned) <= TOL_EIGEN * DBL_EPSILON);
            trace += derived_at(re, j, 0) - derived_at(a, j, j);
            assert_true(derived_at(same, j, 0) == derived_at(re, j, 0) &&
                        derived_at(other, j, 0) == derived_at(im, j, 0));
        }
        assert_true(fabs(trace) <= TOL_EIGEN * (double)(n * n + 1) * DBL_EPSILON);
    }
    wg_tape_free(t);
}

/* The companion matrix of (x - 1)(x - 2)(x^2 + 2 x + 5), by hand: roots 1, 2, -1 +- 2i. The
 * slope of a root r by the coefficient of x^k is -r^k / p'(r). */
static void roots_of_a_polynomial_move_as_they_should(void **state) {
    (void)state;
    /* x^4 - x^3 + x^2 - 11 x + 10 */
    static const double c[] = {10, -11, 1, -1},
                        roots[][2] = {{1, 0}, {2, 0}, {-1, 2}, {-1, -2}};
    double x[16] = {0}, g[2][16];
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t i = 0; i < 4; i++) {
        if (i < 3) x[i + 1 + 4 * i] = 1;
        x[i + 12] = -c[i];
    }
    const wg_mat a = wg_mat_input(t, 4, 4, x, 4);
    wg_mat re, im;
    assert_int_equal(wg_eigvals(t, a, &re, &im), WG_OK);
    for (size_t j = 0; j < 4; j++) {
        size_t r = 0;
        while (r < 4 && hypot(derived_at(re, j, 0) - roots[r][0],
                              derived_at(im, j, 0) - roots[r][1]) > 1e-10)
            r++;
        assert_true(r < 4);
        assert_int_equal(wg_reverse(t, wg_mat_at(re, j, 0)), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g[0], 4), WG_OK);
        assert_int_equal(wg_reverse(t, wg_mat_at(im, j, 0)), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g[1], 4), WG_OK);
        const double u = roots[r][0], v = roots[r][1];
        /* p' = 4 x^3 - 3 x^2 + 2 x - 11 */
        double p_re = 4 * (u * u * u - 3 * u * v * v) - 3 * (u * u - v * v) + 2 * u - 11;
        double p_im = 4 * (3 * u * u * v - v * v * v) - 6 * u * v + 2 * v;
        double k_re = 1, k_im = 0;
        for (size_t k = 0; k < 4; k++) { /* entry (k, 3) is minus the coefficient */
            const double size = p_re * p_re + p_im * p_im;
            const double want[2] = {(k_re * p_re + k_im * p_im) / size,
                                    (k_im * p_re - k_re * p_im) / size};
            for (int part = 0; part < 2; part++)
                if (!(fabs(g[part][k + 12] - want[part]) <= TOL_EIGENVALUES * DBL_EPSILON))
                    fail_msg("root %zu by coefficient %zu: %.17g, not %.17g", r, k,
                             g[part][k + 12], want[part]);
            const double next = k_re * u - k_im * v;
            k_im = k_re * v + k_im * u, k_re = next;
        }
    }
    wg_tape_free(t);
}

static void null_spaces_are_sent_to_0(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 5;
    for (size_t n = 0; n <= 9; n++)
        for (size_t m = 0; m <= n + 2; m++)
            for (size_t r = 0; r <= 3; r++) {
                wg_tape_reset(t);
                const wg_mat a = r == 3 ? derived_random(t, m, n, 1, &seed)
                                        : wg_matmul(t, derived_random(t, m, r, 1, &seed),
                                                    derived_random(t, r, n, 1, &seed));
                const size_t thin = m < n ? m : n, rank = r < 3 && r < thin ? r : thin;
                const wg_mat y = wg_null_space(t, a, -1);
                assert_int_equal(wg_tape_status(t), WG_OK);
                assert_true(y.rows == n && y.cols == n - rank);
                near("N'A'", wg_gemm(t, 'T', 'T', 1, y, a, 0, y), zero(t, y.cols, m));
                near("N'N", wg_gemm(t, 'T', 'N', 1, y, y, 0, y), wg_mat_identity(t, y.cols));
            }
    wg_tape_free(t);
}

/* ---- derivatives ---- */

static void of_values(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat re, im;
    if (wg_eigvals(t, in[0], &re, &im) == WG_OK) derived_matrix(s, re), derived_matrix(s, im);
}
static void of_vectors(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat re, im, v, w;
    if (wg_eig(t, in[0], &re, &im, &v, &w) != WG_OK) return;
    derived_matrix(s, re), derived_matrix(s, im), derived_matrix(s, v), derived_matrix(s, w);
}
static void of_real_parts(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat v;
    if (wg_eig(t, in[0], NULL, NULL, &v, NULL) == WG_OK) derived_matrix(s, v);
}
static void of_imaginary_parts(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat w;
    if (wg_eig(t, in[0], NULL, NULL, NULL, &w) == WG_OK) derived_matrix(s, w);
}
static void of_space(wg_tape *t, const wg_mat *in, derived_sum *s) {
    const wg_mat y = wg_null_space(t, in[0], -1);
    derived_matrix(s, wg_gemm(t, 'N', 'T', 1, y, y, 0, y));
}
/* Of a product of rank 2: what moves keeps the rank. */
static void of_space_of_rank_2(wg_tape *t, const wg_mat *in, derived_sum *s) {
    const wg_mat y = wg_null_space(t, wg_matmul(t, in[0], in[1]), 1e-9);
    derived_matrix(s, wg_gemm(t, 'N', 'T', 1, y, y, 0, y));
}

static const derived_case cases[] = {
    {"eigvals", of_values, {5}, {5}, {DERIVED_ANY}},
    {"eigvals 1", of_values, {1}, {1}, {DERIVED_ANY}},
    {"eigvals 2", of_values, {2}, {2}, {DERIVED_ANY}},
    {"eigvals 4", of_values, {4}, {4}, {DERIVED_ANY}},
    {"eig", of_vectors, {5}, {5}, {DERIVED_ANY}},
    {"eig 1", of_vectors, {1}, {1}, {DERIVED_ANY}},
    {"eig 3", of_vectors, {3}, {3}, {DERIVED_ANY}},
    {"eig 4, V", of_real_parts, {4}, {4}, {DERIVED_ANY}},
    {"eig 4, imaginary V", of_imaginary_parts, {4}, {4}, {DERIVED_ANY}},
    {"null_space", of_space, {2}, {5}, {DERIVED_ANY}},
    {"null_space of one column", of_space, {3}, {4}, {DERIVED_ANY}},
    {"null_space of rank 2", of_space_of_rank_2, {4, 2}, {2, 5}, {DERIVED_ANY, DERIVED_ANY}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void derivatives_of_all_orders_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) derived_check(&cases[i]);
}

static void what_is_not_finite_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) derived_check_not_finite(&cases[i]);
}

/* ---- where there are none ---- */

static void repeated_eigenvalues_and_dependent_vectors_are_refused(void **state) {
    (void)state;
    static const double one[] = {1, 0, 0, 1}, jordan[] = {1, 0, 1, 1};
    wg_tape *const t = wg_tape_new(NULL);
    double g[4];
    wg_mat re, v, a = wg_mat_input(t, 2, 2, one, 2);
    assert_int_equal(wg_eig(t, a, &re, NULL, &v, NULL), WG_OK);
    assert_int_equal(wg_reverse(t, wg_mat_at(v, 1, 0)), WG_EDEGENERATE);
    assert_non_null(strstr(wg_tape_message(t), "wg_eig"));
    /* the sum of the eigenvalues is the trace, there too */
    assert_int_equal(wg_reverse(t, wg_mat_sum(t, re)), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 2), WG_OK);
    for (size_t i = 0; i < 4; i++) assert_true(fabs(g[i] - one[i]) <= 8 * DBL_EPSILON);
    wg_tape_reset(t);
    a = wg_mat_input(t, 2, 2, jordan, 2);
    assert_int_equal(wg_eigvals(t, a, &re, NULL), WG_OK);
    assert_int_equal(wg_reverse(t, wg_mat_at(re, 0, 0)), WG_EDEGENERATE);
    assert_non_null(strstr(wg_tape_message(t), "dependent"));
    wg_tape_free(t);
}

/* Of [0], whose vector is 1: no power of two is near its eigenvalue, whose square has the
 * Hessian 2. */
static void an_eigenvalue_of_0_has_second_derivatives_beside_its_vector(void **state) {
    (void)state;
    const double zero = 0, one = 1;
    double h = NAN;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    const wg_mat a = wg_mat_input(t, 1, 1, &zero, 1);
    wg_mat re, v;
    assert_int_equal(wg_eig(t, a, &re, NULL, &v, NULL), WG_OK);
    const wg_real x = wg_mat_at(a, 0, 0), w = wg_mat_at(re, 0, 0);
    const wg_real y = wg_let(t, wg_add(wg_mul(w, w), wg_mat_at(v, 0, 0)));
    assert_int_equal(wg_tape_hvp(t, y, 1, &x, &one, &h), WG_OK);
    assert_true(h == 2);
    wg_tape_free(t);
}

static void what_depends_on_the_basis_of_a_null_space_is_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 9;
    const wg_mat y = wg_null_space(t, derived_random(t, 2, 5, 1, &seed), -1);
    assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 0)), WG_EDEGENERATE);
    assert_non_null(strstr(wg_tape_message(t), "basis"));
    wg_tape_free(t);
}

/* The vectors of [1 1; d 1], (1, +-sqrt(d)), in another basis: their condition is about
 * 1/sqrt(d), and the slopes of the eigenvalues 1 +- sqrt(d) are (1, s)'(s, 1)/(2 s),
 * s = +-sqrt(d), there. */
static void nearly_dependent_vectors_are_refused_before_all_digits_are_lost(void **state) {
    (void)state;
    static const double left[] = {2, 1, 1, 1}, right[] = {1, -1, -1, 2};
    wg_tape *const t = wg_tape_new(NULL);
    for (int e = -44; e <= -24; e += 20) {
        wg_tape_reset(t);
        const double d = ldexp(1, e), root = ldexp(1, e / 2), one[] = {1, d, 1, 1};
        const wg_mat x = wg_mat_constant(t, 2, 2, left, 2),
                     y = wg_mat_constant(t, 2, 2, right, 2), j = wg_mat_input(t, 2, 2, one, 2);
        wg_mat re;
        double g[4];
        assert_int_equal(wg_eigvals(t, wg_matmul(t, x, wg_matmul(t, j, y)), &re, NULL), WG_OK);
        const wg_status s = wg_reverse(t, wg_mat_at(re, 0, 0));
        if (e == -44) {
            assert_int_equal(s, WG_EDEGENERATE);
            assert_non_null(strstr(wg_tape_message(t), "dependent"));
            continue;
        }
        assert_int_equal(s, WG_OK);
        assert_int_equal(wg_mat_adjoint(t, j, g, 2), WG_OK);
        const double sign = derived_at(re, 0, 0) > 1 ? 1 : -1,
                     want[] = {0.5, sign / (2 * root), sign * root / 2, 0.5};
        for (size_t i = 0; i < 4; i++)
            assert_true(fabs(g[i] - want[i]) <= TOL_EIGEN * DBL_EPSILON / d * fabs(want[1]));
    }
    wg_tape_free(t);
}

static void of_directions(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat v, w;
    if (wg_eig(t, in[0], NULL, NULL, &v, &w) == WG_OK)
        derived_matrix(s, v), derived_matrix(s, w);
}

static void directions_do_not_depend_on_the_unit(void **state) {
    (void)state;
    static const derived_case all[] = {{"eig, V", of_directions, {4}, {4}, {DERIVED_ANY}},
                                       {"null_space", of_space, {2}, {5}, {DERIVED_ANY}}};
    for (size_t i = 0; i < 2; i++) derived_check_units(&all[i], NULL);
}

/* The size of the null space is that of the recorded point, the space that of the new one. */
static void a_replay_finds_the_null_space_anew(void **state) {
    (void)state;
    static const double x[] = {1, 0, 0, 1, 0, 0}, other[] = {0, 1, 1, 0, 0.5, 2},
                        less[] = {1, 2, 1, 2, 1, 2};
    wg_tape *const t = derived_tape();
    wg_real in[6];
    for (size_t i = 0; i < 6; i++) in[i] = wg_input(t, x[i]);
    const wg_mat y = wg_null_space(t, wg_mat_gather(t, 2, 3, in), -1);
    assert_true(y.rows == 3 && y.cols == 1);
    assert_int_equal(wg_tape_replay(t, 6, in, other), WG_OK);
    double n[3];
    for (size_t i = 0; i < 3; i++) n[i] = wg_tape_value(t, wg_mat_at(y, i, 0));
    /* across (0, 1, 1/2) and (1, 0, 2): along (2, 1/2, -1) */
    const double by = n[0] / 2;
    assert_true(fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) <= TOL_EIGEN * DBL_EPSILON);
    assert_true(fabs(n[1] - 0.5 * by) <= TOL_EIGEN * DBL_EPSILON);
    assert_true(fabs(n[2] + by) <= TOL_EIGEN * DBL_EPSILON);
    assert_int_equal(wg_tape_replay(t, 6, in, less), WG_EGUARD);
    assert_non_null(strstr(wg_tape_message(t), "rank"));
    wg_tape_free(t);
}

static void a_threshold_is_a_number(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 9;
    const wg_mat a = derived_random(t, 2, 3, 1, &seed);
    const wg_mark start = wg_tape_mark(t);
    (void)wg_null_space(t, a, NAN);
    assert_int_equal(wg_tape_status(t), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "wg_null_space"));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_pinv(t, a, NAN);
    assert_int_equal(wg_tape_status(t), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "wg_pinv"));
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_turned_into_their_multiples),
        cmocka_unit_test(roots_of_a_polynomial_move_as_they_should),
        cmocka_unit_test(null_spaces_are_sent_to_0),
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(repeated_eigenvalues_and_dependent_vectors_are_refused),
        cmocka_unit_test(an_eigenvalue_of_0_has_second_derivatives_beside_its_vector),
        cmocka_unit_test(what_depends_on_the_basis_of_a_null_space_is_refused),
        cmocka_unit_test(nearly_dependent_vectors_are_refused_before_all_digits_are_lost),
        cmocka_unit_test(directions_do_not_depend_on_the_unit),
        cmocka_unit_test(a_replay_finds_the_null_space_anew),
        cmocka_unit_test(a_threshold_is_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

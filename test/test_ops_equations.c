/* SPDX-License-Identifier: MIT */
/* test_ops_equations.c - the equations of Riccati; sign, cosine and sine of a matrix, the
 * exponential times a vector: what defines them, derivatives in every mode, refusals. */
#include "derived_case.h"
#include "written_out.h"

/* What defines a result of order n, in units of n DBL_EPSILON times the largest entry of its
 * terms. */
#define TOL_EQUATIONS 256.0

static void near_by(const char *what, wg_mat got, wg_mat want, double size) {
    derived_close(what, got, want, TOL_EQUATIONS * (double)want.rows * DBL_EPSILON * size);
}
static void near(const char *what, wg_mat got, wg_mat want) {
    near_by(what, got, want, fmax(1, derived_size(want)));
}
static wg_mat definite(wg_tape *t, size_t n, uint64_t *seed) {
    const wg_mat a = derived_random(t, n, n, 1, seed);
    return wg_gemm(t, 'N', 'T', 1.0 / (double)(n + 1), a, a, 1, wg_mat_identity(t, n));
}

/* ---- values ---- */

static void solutions_of_riccati_solve_and_stabilise(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 3;
    for (size_t n = 1; n <= 23; n += n < 6 ? 1 : 8)
        for (size_t some = 0; some <= 3; some++) {
            const size_t k = some * n / 3; /* one input does not reach many unstable states */
            wg_tape_reset(t);
            /* some eigenvalues of A are just outside of the unit circle, which asks for no
             * gains that lose digits; without inputs they are inside */
            const double size = k == 0 ? 0.5 / (double)n : 2 / sqrt((double)n);
            const wg_mat start = derived_random(t, n, n, size, &seed),
                         b = derived_random(t, n, k, 1, &seed);
            const wg_mat a = k == 0 ? wg_mat_sub(t, start, wg_mat_identity(t, n)) : start;
            const wg_mat q = definite(t, n, &seed), r = definite(t, k, &seed);
            const wg_mat x = wg_riccati(t, a, b, q, r),
                         xd = wg_riccati_discrete(t, start, b, q, r);
            if (wg_tape_status(t) != WG_OK) fail_msg("%s", wg_tape_message(t));
            const wg_mat turned = wg_mat_transpose(a), b_turned = wg_mat_transpose(b);
            const wg_mat g = wg_matmul(t, b, wg_solve(t, r, b_turned));
            const wg_mat xa = wg_matmul(t, x, a), ax = wg_matmul(t, turned, x);
            /* products of what cancels in X G X */
            const double terms = fmax(
                1, derived_size(x) * (derived_size(a) + derived_size(g) * derived_size(x)));
            near_by("riccati", wg_mat_add(t, wg_mat_add(t, xa, ax), q),
                    wg_matmul(t, x, wg_matmul(t, g, x)), terms);
            wg_mat re, im;
            assert_int_equal(wg_eigvals(t, wg_mat_sub(t, a, wg_matmul(t, g, x)), &re, &im),
                             WG_OK);
            for (size_t i = 0; i < n; i++) assert_true(derived_at(re, i, 0) < 0);
            near("riccati, symmetry", x, wg_mat_transpose(x));
            const wg_mat bx = wg_matmul(t, b_turned, xd);
            const wg_mat inner = wg_mat_add(t, r, wg_matmul(t, bx, b));
            const wg_mat bxa = wg_matmul(t, bx, start), inverse = wg_solve(t, inner, bxa);
            const wg_mat axa = wg_matmul(t, wg_mat_transpose(start), wg_matmul(t, xd, start));
            const wg_mat less = wg_matmul(t, wg_mat_transpose(bxa), inverse);
            near_by("riccati_discrete", wg_mat_add(t, wg_mat_sub(t, axa, less), q), xd,
                    fmax(1, derived_size(axa)));
            assert_int_equal(
                wg_eigvals(t, wg_mat_sub(t, start, wg_matmul(t, b, inverse)), &re, &im), WG_OK);
            for (size_t i = 0; i < n; i++)
                assert_true(hypot(derived_at(re, i, 0), derived_at(im, i, 0)) < 1);
        }
    wg_tape_free(t);
}

/* n = 1: x = (a + sqrt(a^2 + g q))/g, with slopes by hand. */
static void of_order_1_riccati_is_a_quadratic_equation(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double a = 0.75, b = 2, q = 3, r = 0.5, g = b * b / r, root = sqrt(a * a + g * q);
    const wg_mat in[4] = {wg_mat_input(t, 1, 1, &a, 1), wg_mat_input(t, 1, 1, &b, 1),
                          wg_mat_input(t, 1, 1, &q, 1), wg_mat_input(t, 1, 1, &r, 1)};
    const wg_mat x = wg_riccati(t, in[0], in[1], in[2], in[3]);
    const double want = (a + root) / g, by_g = q / (2 * root) / g - want / g;
    const double slopes[4] = {want / root, by_g * 2 * b / r, 1 / (2 * root), -by_g * g / r};
    assert_true(fabs(derived_at(x, 0, 0) - want) <= 8 * DBL_EPSILON * want);
    assert_int_equal(wg_reverse(t, wg_mat_at(x, 0, 0)), WG_OK);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(wg_adjoint(t, wg_mat_at(in[i], 0, 0)) - slopes[i]) <=
                    32 * DBL_EPSILON * fmax(1, fabs(slopes[i])));
    wg_tape_free(t);
}

static void functions_of_a_matrix_are_what_defines_them(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 5;
    for (size_t n = 0; n <= 33; n += n < 6 ? 1 : 9)
        for (double size = 1e-9; size < 100; size *= 30) {
            if (n != 0 && size * (double)n > 40) continue;
            wg_tape_reset(t);
            const wg_mat a = derived_random(t, n, n, size, &seed), one = wg_mat_identity(t, n);
            const wg_mat c = wg_cosm(t, a), s = wg_sinm(t, a);
            const wg_mat cc = wg_matmul(t, c, c), ss = wg_matmul(t, s, s);
            /* exp [0 A; -A 0] = [cos A, sin A; -sin A, cos A] */
            const wg_mat zero = wg_mat_fill(t, n, n, 0), minus = wg_mat_scale(t, -1, a);
            const wg_mat left[2] = {zero, minus}, right[2] = {a, zero};
            const wg_mat sides[2] = {wg_concat_rows(t, 2, left), wg_concat_rows(t, 2, right)};
            const wg_mat e = wg_expm(t, wg_concat_cols(t, 2, sides));
            near("cos", c, n == 0 ? c : wg_mat_block(e, 0, 0, n, n));
            near("sin", s, n == 0 ? s : wg_mat_block(e, 0, n, n, n));
            double most = 1;
            for (size_t i = 0; i < n * n; i++)
                most = fmax(most, fmax(fabs(cc.value[i]), fabs(ss.value[i])));
            near("cos^2 + sin^2", wg_mat_scale(t, 1 / most, wg_mat_add(t, cc, ss)),
                 wg_mat_scale(t, 1 / most, one));
            const wg_mat b = derived_random(t, n, 2, 1, &seed);
            near("exp(A) B", wg_expmv(t, a, b), wg_matmul(t, wg_expm(t, a), b));
            const wg_mat sign = wg_signm(t, a);
            if (wg_tape_status(t) != WG_OK) fail_msg("%s", wg_tape_message(t));
            double large = 1;
            for (size_t i = 0; i < n * n; i++) large = fmax(large, fabs(sign.value[i]));
            large *= large * large;
            near("sign^2", wg_mat_scale(t, 1 / large, wg_matmul(t, sign, sign)),
                 wg_mat_scale(t, 1 / large, one));
            near("A sign", wg_mat_scale(t, 1 / large, wg_matmul(t, a, sign)),
                 wg_mat_scale(t, 1 / large, wg_matmul(t, sign, a)));
        }
    wg_tape_free(t);
}

/* The sine of a small matrix keeps its digits. */
static void a_small_sine_has_all_digits(void **state) {
    (void)state;
    static const double v[] = {1e-12, 3e-12, -2e-12, 5e-12};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat s = wg_sinm(t, wg_mat_input(t, 2, 2, v, 2));
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(s.value[i] - v[i]) <= 4 * DBL_EPSILON * fabs(v[i]));
    wg_tape_free(t);
}

/* Solutions of entries far apart, each by hand. */
static void small_couplings_of_large_entries_are_not_lost(void **state) {
    (void)state;
    static const double a[] = {0, 1, 1, 0}, b[] = {0, 2, 1e-160, 2}, e[] = {0, 0, 1, 0},
                        apart[] = {1, 2, 1e-160, 3}, one[] = {1, 0, 0, 0},
                        y[] = {2. / 3, -4. / 3, 2. / 3, -1. / 3},
                        x[] = {0.5, -0.25, -0.25, 1. / 6};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat ma = wg_mat_input(t, 2, 2, a, 2), mb = wg_mat_input(t, 2, 2, b, 2),
                 me = wg_mat_input(t, 2, 2, e, 2), mp = wg_mat_input(t, 2, 2, apart, 2),
                 mo = wg_mat_input(t, 2, 2, one, 2);
    near("A Y + Y B", wg_sylvester(t, ma, mb, me), wg_mat_constant(t, 2, 2, y, 2));
    near("A X + X A'", wg_lyapunov(t, mp, mo), wg_mat_constant(t, 2, 2, x, 2));
    wg_tape_free(t);
}

/* x = a / (1 - a^2), 1 / x has the slope -(1 + a^2) / a^2, which does not know how near 1 is. */
static void a_discrete_equation_near_1_is_one_with_itself(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (double off = 1e-4; off > 1e-13; off /= 8) {
        const double at = 1 - off;
        wg_tape_reset(t);
        const wg_mat a = wg_mat_input(t, 1, 1, &at, 1), x = wg_lyapunov_discrete(t, a, a);
        double slope;
        assert_int_equal(wg_mat_reverse(t, wg_mat_reciprocal(t, x), NULL, 0), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, &slope, 1), WG_OK);
        const double want = -(1 + at * at) / (at * at);
        assert_true(fabs(slope - want) <= 8 * DBL_EPSILON * fabs(want));
    }
    wg_tape_free(t);
}

/* ---- derivatives ---- */

static wg_mat square_of(wg_tape *t, wg_mat a) {
    return wg_gemm(t, 'N', 'T', 0.5, a, a, 1, wg_mat_identity(t, a.rows));
}
static void of_continuous(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_riccati(t, in[0], in[1], square_of(t, in[2]), square_of(t, in[3])));
}
static void of_discrete(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(
        s, wg_riccati_discrete(t, in[0], in[1], square_of(t, in[2]), square_of(t, in[3])));
}
/* Operands that are not symmetric. */
static void of_any(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_riccati(t, in[0], in[1], in[2], in[3]));
}
static void of_sign(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_signm(t, in[0]));
}
static void of_cosine(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_cosm(t, in[0]));
}
static void of_sine(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_sinm(t, in[0]));
}
static void of_large_sine(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_sinm(t, wg_mat_scale(t, 2.5, in[0])));
    derived_matrix(s, wg_cosm(t, wg_mat_scale(t, 2.5, in[0])));
}
static void of_action(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_expmv(t, in[0], in[1]));
}

static const derived_case cases[] = {
    {"riccati", of_continuous, {3, 3, 3, 2}, {3, 2, 3, 2}, {0, 0, 0, 0}},
    {"riccati 1", of_continuous, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, DERIVED_POSITIVE, 0, 0}},
    {"riccati, any", of_any, {3, 3, 3, 2}, {3, 2, 3, 2}, {0, 0, DERIVED_HEAVY, DERIVED_HEAVY}},
    {"riccati_discrete", of_discrete, {3, 3, 3, 2}, {3, 2, 3, 2}, {0, 0, 0, 0}},
    {"riccati_discrete 1",
     of_discrete,
     {1, 1, 1, 1},
     {1, 1, 1, 1},
     {0, DERIVED_POSITIVE, 0, 0}},
    {"signm", of_sign, {5}, {5}, {DERIVED_ANY}},
    {"signm 2", of_sign, {2}, {2}, {DERIVED_ANY}},
    {"cosm", of_cosine, {4}, {4}, {DERIVED_ANY}},
    {"sinm", of_sine, {4}, {4}, {DERIVED_ANY}},
    {"sinm and cosm, large", of_large_sine, {3}, {3}, {DERIVED_ANY}},
    {"expmv", of_action, {4, 4}, {4, 2}, {DERIVED_ANY, DERIVED_ANY}},
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

/* ---- refusals ---- */

static void what_has_no_solution_is_refused(void **state) {
    (void)state;
    static const double turn[] = {0, 1, -1, 0}, one[] = {1, 0, 0, 1}, none[4] = {0},
                        huge[] = {1e300, 0, 0, 1e300};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, 2, 2, turn, 2), i = wg_mat_input(t, 2, 2, one, 2),
                 z = wg_mat_input(t, 2, 2, none, 2), h = wg_mat_input(t, 2, 2, huge, 2);
    const wg_mark start = wg_tape_mark(t);
    (void)wg_signm(t, a);
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "wg_signm"));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_signm(t, z);
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_riccati(t, i, z, i, i); /* unstable, without inputs */
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "wg_riccati"));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_riccati_discrete(t, wg_mat_scale(t, 2, i), z, i, i);
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_riccati(t, a, i, i, z); /* R singular */
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "R is singular"));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_cosm(t, h);
    assert_int_equal(wg_tape_status(t), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "wg_cosm"));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_expmv(t, h, i);
    assert_int_equal(wg_tape_status(t), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "wg_expm"));
    wg_tape_free(t);
}

/* ---- in functions ---- */

static void write_cosine(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                         const void *data) {
    (void)data;
    written_out_put(r, wg_cosm(t, in[0]));
    written_out_put(r, wg_sinm(t, in[0]));
}
static void write_action(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                         const void *data) {
    (void)data;
    written_out_put(r, wg_expmv(t, in[0], in[1]));
}

static void functions_of_them_are_the_same(void **state) {
    (void)state;
    const struct written_out all[] = {
        {.name = "cosm, sinm", .record = write_cosine, .in = {{3, 3, PLAIN}}},
        {.name = "expmv", .record = write_action, .in = {{3, 3, PLAIN}, {3, 1, PLAIN}}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) written_out_check(&all[i]);
}

static wg_status cosine_of_one(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_at(wg_cosm(t, wg_mat_gather(t, 1, 1, x)), 0, 0);
    return wg_tape_status(t);
}

/* Recorded at 0.25, for norms up to 1: at 3 it is not the cosine, and says so. */
static void functions_know_for_which_norms_they_serve(void **state) {
    (void)state;
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    const double here = 0.25, far = 3;
    double y = 7;
    const wg_points at_here = {&here, 0, 1}, at_far = {&far, 0, 1};
    const wg_results to = {&y, 0, 1};
    wg_function *f = NULL;
    assert_int_equal(
        wg_function_record(written_out_tape, cosine_of_one, NULL, 1, &in, &here, 1, &out, &f),
        WG_OK);
    void *const room = malloc(wg_function_work(f, NULL) + 1);
    assert_non_null(room);
    assert_int_equal(wg_function_evaluate(f, 1, &at_here, &to, NULL, room, NULL), WG_OK);
    assert_true(fabs(y - cos(here)) <= 2 * DBL_EPSILON);
    assert_int_equal(wg_function_evaluate(f, 1, &at_far, &to, NULL, room, NULL), WG_EGUARD);
    free(room);
    wg_function_free(f);
}

/* A = L J L^-1, all of it whole numbers: one Jordan block of the eigenvalue 0, which rounding
 * spreads over a circle on both sides of the axis. */
static void the_sign_of_an_eigenvalue_has_to_be_known(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t n = 2; n <= 12; n++) {
        wg_tape_reset(t);
        double low[144] = {0}, up[144] = {0}, inverse[144] = {0};
        for (size_t j = 0; j < n; j++) {
            for (size_t i = j; i < n; i++) low[i + j * n] = 1;
            if (j > 0) up[j - 1 + j * n] = 1;
            inverse[j + j * n] = 1;
            if (j + 1 < n) inverse[j + 1 + j * n] = -1;
        }
        const wg_mat j = wg_mat_input(t, n, n, up, n), one = wg_mat_identity(t, n);
        const wg_mat a = wg_matmul(t, wg_mat_input(t, n, n, low, n),
                                   wg_matmul(t, j, wg_mat_input(t, n, n, inverse, n)));
        const wg_mark start = wg_tape_mark(t);
        (void)wg_signm(t, a);
        assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
        assert_non_null(strstr(wg_tape_message(t), "imaginary axis"));
        assert_int_equal(wg_tape_rewind(t, start), WG_OK);
        /* of 1, far from the axis, it is known */
        near("sign", wg_signm(t, wg_mat_add(t, a, one)), one);
    }
    wg_tape_free(t);
}

/* A of eigenvalues i and -i in some basis, without a weight: X = 0 solves, with a residual of
 * exactly 0, and moves the eigenvalues nowhere. */
static void eigenvalues_that_stay_on_the_axis_are_refused(void **state) {
    (void)state;
    enum { N = 5 };
    static const double turn[N * N] = {0, -1, 0, 0, 0, 1,    0, 0, 0, 0, 0, 0, -1,
                                       0, 0,  0, 0, 0, -0.5, 0, 0, 0, 0, 0, -2};
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 3;
    for (int i = 0; i < 64; i++) {
        wg_tape_reset(t);
        wg_mat q;
        assert_int_equal(wg_qr(t, derived_random(t, N, N, 1, &seed), &q, NULL), WG_OK);
        const wg_mat a =
            wg_matmul(t, q, wg_matmul(t, wg_mat_input(t, N, N, turn, N), wg_mat_transpose(q)));
        (void)wg_riccati(t, a, derived_random(t, N, 2, 1, &seed), wg_mat_fill(t, N, N, 0),
                         wg_mat_identity(t, 2));
        assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    }
    wg_tape_free(t);
}

static void replays_know_for_which_norms_they_serve(void **state) {
    (void)state;
    const double near_by = 0.4, far = 20;
    for (int op = 0; op < 3; op++) {
        wg_tape *const t = derived_tape();
        const wg_real x = wg_input(t, 0.25);
        const wg_mat a = wg_mat_gather(t, 1, 1, &x);
        const wg_mat y = op == 0   ? wg_cosm(t, a)
                         : op == 1 ? wg_sinm(t, a)
                                   : wg_expmv(t, a, wg_mat_identity(t, 1));
        const double want = op == 0 ? cos(near_by) : op == 1 ? sin(near_by) : exp(near_by);
        assert_int_equal(wg_tape_replay(t, 1, &x, &near_by), WG_OK);
        assert_true(fabs(wg_tape_value(t, wg_mat_at(y, 0, 0)) - want) <= 8 * DBL_EPSILON);
        assert_int_equal(wg_tape_replay(t, 1, &x, &far), WG_EGUARD);
        assert_non_null(strstr(wg_tape_message(t), "norm"));
        wg_tape_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_of_riccati_solve_and_stabilise),
        cmocka_unit_test(of_order_1_riccati_is_a_quadratic_equation),
        cmocka_unit_test(functions_of_a_matrix_are_what_defines_them),
        cmocka_unit_test(a_small_sine_has_all_digits),
        cmocka_unit_test(small_couplings_of_large_entries_are_not_lost),
        cmocka_unit_test(a_discrete_equation_near_1_is_one_with_itself),
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(what_has_no_solution_is_refused),
        cmocka_unit_test_setup_teardown(functions_of_them_are_the_same, written_out_open,
                                        written_out_close),
        cmocka_unit_test_setup_teardown(functions_know_for_which_norms_they_serve,
                                        written_out_open, written_out_close),
        cmocka_unit_test(the_sign_of_an_eigenvalue_has_to_be_known),
        cmocka_unit_test(eigenvalues_that_stay_on_the_axis_are_refused),
        cmocka_unit_test(replays_know_for_which_norms_they_serve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_tape_second_implicit.c - implicit functions and fixed points on tapes that keep their
 * code: second derivatives and replays, against closed forms and what is known of them by
 * hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert.h>

#include "tolerance.h"

static wg_tape *open_tape(void) {
    const wg_options keep = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&keep);
    assert_non_null(t);
    return t;
}

static void close_to(double a, double b, double ulps) {
    if (!(fabs(a - b) <= ulps * DBL_EPSILON * (1 + fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

/* ---- the systems ---- */

/* x0 x1 = p0, x0 = x1 p1: x0 = sqrt(p0 p1), x1 = sqrt(p0 / p1). data: counts calls, or NULL. */
static wg_status two_equations(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                               void *data) {
    if (n != 4 || m != 2) return WG_EARG;
    if (data != NULL) ++*(int *)data;
    r[0] = wg_let(t, wg_sub(wg_mul(in[0], in[1]), in[2]));
    r[1] = wg_let(t, wg_sub(in[0], wg_mul(in[1], in[3])));
    return wg_tape_status(t);
}

static wg_status square_is(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                           void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_square(in[0]), in[1]));
    return wg_tape_status(t);
}

/* E - e sin E = M: E of (M, e). */
static wg_status kepler(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                        void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_sub(in[0], wg_mul(in[2], wg_sin(in[0]))), in[1]));
    return wg_tape_status(t);
}
/* The same as a fixed point. */
static wg_status kepler_step(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                             void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_add(in[1], wg_mul(in[2], wg_sin(in[0]))));
    return wg_tape_status(t);
}
static double kepler_solved(double mean, double e) {
    double x = mean;
    for (int i = 0; i < 60; i++) x -= (x - e * sin(x) - mean) / (1 - e * cos(x));
    return x;
}

/* ---- Hessians ---- */

static wg_real of_solution(wg_tape *t, const wg_real *x) {
    return wg_let(t, wg_add(wg_mul(wg_mul(3, x[0]), x[1]), wg_exp(wg_mul(0.1, x[1]))));
}

/* data: NULL: by the closed form. */
static wg_status two(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y, void *data) {
    wg_real x[2];
    wg_real q[2] = {wg_let(t, wg_mul(p[0], p[0])), wg_let(t, wg_mul(p[0], wg_exp(p[1])))};
    (void)n, (void)m;
    if (data != NULL) {
        const double v[2] = {sqrt(wg_value(q[0]) * wg_value(q[1])),
                             sqrt(wg_value(q[0]) / wg_value(q[1]))};
        const wg_status s = wg_implicit(t, two_equations, data, 2, v, 2, q, x);
        if (s != WG_OK) return s;
    } else {
        x[0] = wg_let(t, wg_sqrt(wg_mul(q[0], q[1])));
        x[1] = wg_let(t, wg_sqrt(wg_div(q[0], q[1])));
    }
    y[0] = of_solution(t, x);
    return wg_tape_status(t);
}

static void hessian_is_that_of_the_closed_form(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double p[2] = {1.3, 0.4}, v[2] = {0.7, -1.1};
    double y[2], g[2][2], h[2][4], hv[2][2], more[2];
    int calls = 0;
    for (int way = 0; way < 2; way++) {
        void *const data = way == 0 ? NULL : &calls;
        assert_int_equal(wg_hessian(t, two, data, 2, p, &y[way], g[way], h[way], 2), WG_OK);
        assert_int_equal(wg_hvp(t, two, data, 2, p, v, NULL, more, hv[way]), WG_OK);
        for (int i = 0; i < 2; i++) assert_true(more[i] == g[way][i]);
    }
    close_to(y[1], y[0], TOL_IMPLICIT_ULP);
    for (int i = 0; i < 2; i++) close_to(g[1][i], g[0][i], TOL_IMPLICIT_ULP);
    for (int i = 0; i < 4; i++) close_to(h[1][i], h[0][i], TOL_IMPLICIT_ULP);
    for (int i = 0; i < 2; i++)
        close_to(hv[1][i], h[0][i] * v[0] + h[0][2 + i] * v[1], TOL_IMPLICIT_ULP);
    assert_true(h[1][1] == h[1][2]);
    /* 8 directions of each Hessian at once, but the equations are recorded twice */
    assert_int_equal(calls, 4);
    wg_check found;
    assert_int_equal(wg_check_hessian(t, two, &calls, 2, p, 1, &found), WG_OK);
    wg_tape_free(t);
}

static wg_status orbit(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                       void *data) {
    const double x = kepler_solved(wg_value(p[0]), wg_value(p[1]));
    (void)n, (void)m;
    return data != NULL ? wg_fixed_point(t, kepler_step, NULL, 1, &x, 2, p, y)
                        : wg_implicit(t, kepler, NULL, 1, &x, 2, p, y);
}

/* d = 1 - e cos E: E_M = 1/d, E_e = sin E / d, and once more. */
static void keplers_equation_has_the_second_derivatives_of_its_formulas(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    static const double points[][2] = {{0.7, 0.3}, {2.9, 0.85}, {-1.2, 0.1}, {0.3, 0}};
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        const double M = points[k][0], e = points[k][1], x = kepler_solved(M, e);
        const double d = 1 - e * cos(x), s = sin(x), c = cos(x);
        const double mm = -e * s / (d * d * d);
        const double me = c / (d * d) - e * s * s / (d * d * d);
        const double ee = 2 * s * c / (d * d) - e * s * s * s / (d * d * d);
        for (int fixed = 0; fixed < 2; fixed++) {
            double y, g[2], h[4];
            assert_int_equal(wg_hessian(t, orbit, fixed ? &y : NULL, 2, points[k], &y, g, h, 2),
                             WG_OK);
            assert_true(y == x);
            close_to(g[0], 1 / d, TOL_IMPLICIT_ULP);
            close_to(g[1], s / d, TOL_IMPLICIT_ULP);
            close_to(h[0], mm, TOL_IMPLICIT_ULP);
            close_to(h[1], me, TOL_IMPLICIT_ULP);
            close_to(h[3], ee, TOL_IMPLICIT_ULP);
            assert_true(h[1] == h[2]);
        }
    }
    wg_tape_free(t);
}

/* ---- in each other, after each other, several times ---- */

static wg_status cube_is(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                         void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_mul(wg_square(in[0]), in[0]), in[1]));
    return wg_tape_status(t);
}

/* y^2 = x, where x^3 = p is solved inside: y = p^(1/6). */
static wg_status root_of_root(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                              void *data) {
    const double x = cbrt(wg_value(in[1]));
    wg_real root;
    (void)n, (void)m, (void)data;
    const wg_status s = wg_implicit(t, cube_is, NULL, 1, &x, 1, &in[1], &root);
    if (s != WG_OK) return s;
    r[0] = wg_let(t, wg_sub(wg_square(in[0]), root));
    return wg_tape_status(t);
}
static wg_status sixth_root(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                            void *data) {
    const double x = pow(wg_value(p[0]), 1.0 / 6);
    (void)n, (void)m, (void)data;
    return wg_implicit(t, root_of_root, NULL, 1, &x, 1, p, y);
}
/* The solution is the parameter of the next: p^(1/8). The one of before is used again. */
static wg_status eighth_root(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                             void *data) {
    wg_real x[4] = {p[0]};
    (void)n, (void)m, (void)data;
    for (int k = 0; k < 3; k++) {
        const double root = sqrt(wg_value(x[k]));
        const wg_status s = wg_implicit(t, square_is, NULL, 1, &root, 1, &x[k], &x[k + 1]);
        if (s != WG_OK) return s;
    }
    y[0] = wg_let(t, wg_mul(x[3], x[1]));
    return wg_tape_status(t);
}

static void implicit_functions_nest_and_follow_each_other(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    static const struct {
        wg_callback *f;
        double power;
    } roots[] = {{sixth_root, 1.0 / 6}, {eighth_root, 0.5 + 0.125}};
    for (size_t k = 0; k < 2; k++)
        for (double p = 0.5; p < 40; p *= 5) {
            const double a = roots[k].power;
            double y, g, h;
            assert_int_equal(wg_hessian(t, roots[k].f, NULL, 1, &p, &y, &g, &h, 1), WG_OK);
            close_to(y, pow(p, a), TOL_IMPLICIT_ULP);
            close_to(g, a * pow(p, a - 1), TOL_IMPLICIT_ULP);
            close_to(h, a * (a - 1) * pow(p, a - 2), TOL_IMPLICIT_ULP);
        }
    wg_tape_free(t);
}

/* (p A + I) x = b by a solve of matrices inside the equations, whose residual is
 * z - x(p) with unknowns z; then z' z. data: without the equations. */
static const double entries[9] = {2, 1, 0.5, -1, 3, 0.25, 0.125, 1, 4};
static wg_mat linear_solution(wg_tape *t, wg_real p) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {1, 2, 3};
    const wg_mat a = wg_mat_scale_real(t, p, wg_mat_constant(t, 3, 3, entries, 3));
    const wg_mat sum = wg_mat_add(t, a, wg_mat_constant(t, 3, 3, one, 3));
    return wg_solve(t, sum, wg_mat_constant(t, 3, 1, b, 3));
}
static wg_status solves(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                        void *data) {
    const wg_mat x = linear_solution(t, in[3]);
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++) r[i] = wg_let(t, wg_sub(in[i], wg_mat_at(x, i, 0)));
    return wg_tape_status(t);
}
static wg_status length_of_solution(wg_tape *t, size_t n, const wg_real *p, size_t m,
                                    wg_real *y, void *data) {
    const wg_mat x = linear_solution(t, p[0]);
    wg_real z[3];
    double at[3];
    (void)n, (void)m;
    for (size_t i = 0; i < 3; i++) z[i] = wg_mat_at(x, i, 0), at[i] = wg_value(z[i]);
    if (data != NULL) {
        const wg_status s = wg_implicit(t, solves, NULL, 3, at, 1, p, z);
        if (s != WG_OK) return s;
    }
    y[0] = wg_squared_norm(t, 3, z);
    return wg_tape_status(t);
}

static void equations_may_have_linear_solves(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    for (double p = 0.25; p < 5; p += 1) {
        double y[2], g[2], h[2];
        for (int way = 0; way < 2; way++)
            assert_int_equal(wg_hessian(t, length_of_solution, way ? &y : NULL, 1, &p, &y[way],
                                        &g[way], &h[way], 1),
                             WG_OK);
        assert_true(y[0] == y[1]);
        close_to(g[1], g[0], TOL_IMPLICIT_ULP);
        close_to(h[1], h[0], TOL_IMPLICIT_ULP);
    }
    wg_tape_free(t);
}

/* ---- what is not used, sparse Hessians ---- */

/* A parameter that no equation has, a solution that nothing uses. */
static wg_status half_used(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                           void *data) {
    const double x[2] = {sqrt(wg_value(p[0]) * wg_value(p[1])),
                         sqrt(wg_value(p[0]) / wg_value(p[1]))};
    wg_real z[2];
    (void)n, (void)data;
    const wg_status s = wg_implicit(t, two_equations, NULL, 2, x, 2, p, z);
    if (s != WG_OK) return s;
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_mul(wg_mul((double)j + 1, z[0]), p[2]));
    return wg_tape_status(t);
}

static void what_is_not_used_has_derivative_0(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double p[4] = {2, 0.5, 3, 7};
    double y, g[4], h[16];
    assert_int_equal(wg_hessian(t, half_used, NULL, 4, p, &y, g, h, 4), WG_OK);
    close_to(y, 3, TOL_IMPLICIT_ULP); /* sqrt(p0 p1) p2 */
    close_to(g[0], 0.75, TOL_IMPLICIT_ULP);
    close_to(g[1], 3, TOL_IMPLICIT_ULP);
    close_to(h[0], -0.1875, TOL_IMPLICIT_ULP);
    close_to(h[1], 0.75, TOL_IMPLICIT_ULP); /* 1/4 (p0 p1)^-1/2 p2 */
    close_to(h[2], 0.25, TOL_IMPLICIT_ULP);
    close_to(h[5], -3, TOL_IMPLICIT_ULP);
    close_to(h[6], 1, TOL_IMPLICIT_ULP);
    assert_true(h[10] == 0);
    for (int i = 0; i < 4; i++) assert_true(h[3 * 4 + i] == 0 && h[i * 4 + 3] == 0);
    wg_tape_free(t);
}

static void sparse_hessians_are_the_same_entries(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double p[4] = {2, 0.5, 3, 7}, w[2] = {1, -0.75};
    double y[2], g[4], h[16], values[16];
    wg_sparsity *pattern = NULL;
    assert_int_equal(
        wg_hessian_sparsity(t, half_used, NULL, 4, p, 2, 'L', WG_ROW_MAJOR, &pattern), WG_OK);
    assert_int_equal(wg_sparse_hessian(t, pattern, half_used, NULL, p, w, y, g, values), WG_OK);
    assert_int_equal(wg_hessian(t, half_used, NULL, 4, p, y, g, h, 4), WG_OK);
    const wg_pattern *const at = wg_sparsity_pattern(pattern);
    assert_true(at->entries != 0);
    for (size_t k = 0; k < at->entries; k++)
        close_to(values[k], (1 - 2 * 0.75) * h[at->row[k] * 4 + at->col[k]], TOL_IMPLICIT_ULP);
    wg_sparsity_free(pattern);
    wg_tape_free(t);
}

/* ---- replays ---- */

static void a_replay_solves_anew(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double start[2] = {4, 1}, x[2] = {2, 2};
    static const double points[][2] = {{9, 4}, {0.25, 16}, {30, 0.5}, {4, 1}, {9, 4}};
    wg_real p[2], y[2];
    double first[2], was[3] = {0};
    assert_int_equal(wg_inputs(t, 2, start, p), WG_OK);
    assert_int_equal(wg_implicit(t, two_equations, NULL, 2, x, 2, p, y), WG_OK);
    const wg_real z = of_solution(t, y);
    assert_int_equal(wg_reverse(t, z), WG_OK);
    assert_int_equal(wg_adjoints(t, 2, p, first), WG_OK);
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        const double a = points[k][0], b = points[k][1];
        const double s[2] = {sqrt(a * b), sqrt(a / b)};
        double g[2], h[4];
        assert_int_equal(wg_tape_replay(t, 2, p, points[k]), WG_OK);
        close_to(wg_tape_value(t, y[0]), s[0], 8);
        close_to(wg_tape_value(t, y[1]), s[1], 8);
        assert_int_equal(wg_reverse(t, z), WG_OK);
        assert_int_equal(wg_adjoints(t, 2, p, g), WG_OK);
        /* z = 3 p0 + exp(x1 / 10), x1 = sqrt(a / b) */
        const double e = exp(0.1 * s[1]);
        close_to(g[0], 3 + e * 0.1 * 0.5 * s[1] / a, TOL_IMPLICIT_ULP);
        close_to(g[1], -e * 0.1 * 0.5 * s[1] / b, TOL_IMPLICIT_ULP);
        assert_int_equal(wg_tape_hessian(t, z, 2, p, h, 2), WG_OK);
        const double u = 0.1 * s[1];
        close_to(h[0], e * (u * u - u) / 4 / a / a, TOL_IMPLICIT_ULP);
        close_to(h[1], -e * (u * u + u) / 4 / a / b, TOL_IMPLICIT_ULP);
        close_to(h[3], e * (u * u + 3 * u) / 4 / b / b, TOL_IMPLICIT_ULP);
        if (k == 0) memcpy(was, h, sizeof was);
        if (k == 3) { /* where it was recorded */
            assert_true(wg_tape_value(t, y[0]) == x[0] && wg_tape_value(t, y[1]) == x[1]);
            assert_memory_equal(first, g, sizeof g);
        }
        if (k == 4) assert_memory_equal(was, h, sizeof was); /* whatever was between */
    }
    wg_tape_free(t);
}

static wg_status logarithm_is(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                              void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_log(in[0]), in[1]));
    return wg_tape_status(t);
}

/* x^2 = p, from 1e10 to 1e-6: steps halve, and are nothing beside the recorded solution before
 * they are small beside x. */
static void a_replay_goes_on_until_steps_are_small_beside_the_solution(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double start = 1e20, x = 1e10, at = 1e-12;
    wg_real p, y;
    assert_int_equal(wg_inputs(t, 1, &start, &p), WG_OK);
    assert_int_equal(wg_implicit(t, square_is, NULL, 1, &x, 1, &p, &y), WG_OK);
    assert_int_equal(wg_tape_replay(t, 1, &p, &at), WG_OK);
    close_to(wg_tape_value(t, y) / 1e-6, 1, 4);
    wg_tape_free(t);
}

/* From x = 20 the first step for p = -1 leads to -59.9, where there is no logarithm. */
static void a_replay_steps_back_from_where_there_is_no_equation(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double x = 20, to = -1;
    wg_real p = wg_input(t, log(20)), y;
    assert_int_equal(wg_implicit(t, logarithm_is, NULL, 1, &x, 1, &p, &y), WG_OK);
    assert_int_equal(wg_tape_replay(t, 1, &p, &to), WG_OK);
    close_to(wg_tape_value(t, y), exp(-1), 8);
    wg_tape_free(t);
}

static void a_replay_without_a_solution_fails_by_name(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    static const struct {
        wg_callback *f;
        double from, x, to;
        wg_status s;
        const char *text;
    } cases[] = {
        {square_is, 3, 1.7320508075688772, -2, WG_ECONVERGE, "has not converged in 100 steps"},
        /* steps about 0 of a size of 1 are small beside the recorded solution */
        {square_is, 1e20, 1e10, -1, WG_ECONVERGE, "has not converged in 100 steps"},
        {square_is, 4, 2, NAN, WG_ENONFINITE, "output 0 is nan"},
        {square_is, 4, 2, -4, WG_ESINGULAR, "the Jacobian of 1 equations is singular (info 1)"},
        {logarithm_is, 0, 1, INFINITY, WG_ENONFINITE, "output 0 is -inf"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        wg_tape_reset(t);
        wg_real p = wg_input(t, cases[k].from), y;
        assert_int_equal(wg_implicit(t, cases[k].f, NULL, 1, &cases[k].x, 1, &p, &y), WG_OK);
        assert_int_equal(wg_tape_replay(t, 1, &p, &cases[k].to), cases[k].s);
        const char *const said = wg_tape_message(t);
        if (strstr(said, "wg_tape_replay: wg_implicit of 1x1: ") == NULL ||
            strstr(said, cases[k].text) == NULL)
            fail_msg("%s", said);
        assert_int_equal(wg_reverse(t, y), cases[k].s);
    }
    wg_tape_free(t);
}

/* ---- refusals, workspace, memory ---- */

static double of_number(void *ctx, double x) { return (void)ctx, x * x; }
static double slope_of_number(void *ctx, double x) { return (void)ctx, 2 * x; }

/* x^2 = p by a function of which there is only a slope. */
static wg_status mapped(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                        void *data) {
    const wg_mat y =
        wg_mat_map(t, of_number, slope_of_number, NULL, wg_mat_gather(t, 1, 1, in));
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_mat_at(y, 0, 0), in[1]));
    return wg_tape_status(t);
}

static void equations_without_second_derivatives_are_named(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double x = 3, v = 1;
    double h = -7;
    wg_real p = wg_input(t, 9), y;
    assert_int_equal(wg_implicit(t, mapped, NULL, 1, &x, 1, &p, &y), WG_OK);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    close_to(wg_adjoint(t, p), 1.0 / 6, 4);
    assert_int_equal(wg_tape_hvp(t, y, 1, &p, &v, &h), WG_EMODE);
    const char *const said = wg_tape_message(t);
    if (strstr(said, "wg_tape_hvp: the adjoint of wg_implicit: ") == NULL ||
        strstr(said, "wg_mat_map") == NULL)
        fail_msg("%s", said);
    assert_true(h == -7);
    assert_int_equal(wg_reverse(t, y), WG_OK); /* as it was */
    wg_tape_free(t);
}

/* What the equations do to the tape of the recording once they are called again. */
typedef struct mischief {
    wg_tape *of; /* NULL: nothing yet */
    int what;
    wg_mark before;
} mischief;

static wg_status naughty(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                         void *data) {
    const mischief *const k = data;
    if (k->of != NULL && k->what == 0) wg_tape_reset(k->of);
    if (k->of != NULL && k->what == 1)
        assert_int_equal(wg_tape_rewind(k->of, k->before), WG_EMODE);
    if (k->of != NULL && k->what == 2) (void)wg_input(k->of, 3);
    if (k->of != NULL && k->what == 3) {
        wg_tape_reset(t);
        return WG_OK;
    }
    if (k->of != NULL && k->what == 4) return WG_ESHAPE;
    if (k->of != NULL && k->what < 2) (void)wg_input(k->of, 5);
    return square_is(t, n, in, m, r, NULL);
}

/* In replays and in second derivatives. */
static void equations_that_change_the_tape_when_called_again_are_found(void **state) {
    (void)state;
    static const char replayed[] = "would reset, rewind or replay it";
    static const struct {
        wg_status s;
        const char *text;
    } found[] = {{WG_EMODE, "would reset or rewind the tape"},
                 {WG_EMODE, "would reset or rewind the tape"},
                 {WG_OK, NULL}, /* refused, and no harm */
                 {WG_ESTALE, "has reset the tape"},
                 {WG_ESHAPE, "the function returned WG_ESHAPE"}};
    for (int second = 0; second < 2; second++)
        for (int what = 0; what < 5; what++) {
            wg_tape *const t = open_tape();
            mischief k = {NULL, what, wg_tape_mark(t)};
            const double x = 2, to = 9, v = 1;
            double h = -7;
            wg_real p = wg_input(t, 4), y;
            assert_int_equal(wg_implicit(t, naughty, &k, 1, &x, 1, &p, &y), WG_OK);
            k.of = t;
            const wg_status s =
                second ? wg_tape_hvp(t, y, 1, &p, &v, &h) : wg_tape_replay(t, 1, &p, &to);
            assert_int_equal(s, found[what].s);
            if (s == WG_OK) {
                if (second) close_to(h, -1.0 / 32, 4);
                else assert_true(wg_tape_value(t, y) == 3);
            } else if (strstr(wg_tape_message(t),
                              second || what >= 2 ? found[what].text : replayed) == NULL)
                fail_msg("%s", wg_tape_message(t));
            assert_true(s == WG_OK || h == -7);
            wg_tape_reset(t); /* is all that it takes */
            p = wg_input(t, 3);
            y = wg_let(t, wg_mul(p, p));
            assert_int_equal(wg_reverse(t, y), WG_OK);
            assert_true(wg_adjoint(t, p) == 6);
            wg_tape_free(t);
        }
}

static wg_status with_naughty(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                              void *data) {
    mischief *const k = data;
    const double x = 2;
    (void)m;
    k->of = NULL, k->before = wg_tape_mark(t);
    const wg_status s = wg_implicit(t, naughty, k, 1, &x, n, p, y);
    k->of = t;
    return s;
}

/* A function that is made of a recording stands on its tape meanwhile. */
static void nor_do_equations_change_the_tape_of_a_function_that_is_made(void **state) {
    (void)state;
    const wg_argument in = {"p", 1, 1, 0}, out = {"x", 1, 1, 0};
    const double at = 4;
    for (int what = 0; what < 2; what++) {
        wg_tape *const t = open_tape();
        mischief k = {NULL, what, {0}};
        wg_function *f = NULL;
        assert_int_equal(wg_function_record(t, with_naughty, &k, 1, &in, &at, 1, &out, &f),
                         WG_EMODE);
        if (strstr(wg_tape_message(t), "wg_function_record: the function of wg_implicit would "
                                       "reset or rewind the tape") == NULL)
            fail_msg("%s", wg_tape_message(t));
        assert_null(f);
        wg_tape_free(t);
    }
}

static void a_point_is_recorded_once_and_nothing_is_allocated_again(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double start[2] = {4, 1}, x[2] = {2, 2}, v[2] = {1, -1};
    int calls = 0;
    double first[2], hv[2];
    wg_real p[2], y[2];
    assert_int_equal(wg_inputs(t, 2, start, p), WG_OK);
    assert_int_equal(wg_implicit(t, two_equations, &calls, 2, x, 2, p, y), WG_OK);
    assert_int_equal(calls, 1);
    const wg_real z = of_solution(t, y);
    assert_int_equal(wg_tape_hvp(t, z, 2, p, v, first), WG_OK);
    wg_stats before, after;
    assert_int_equal(wg_tape_stats(t, &before), WG_OK);
    for (int k = 0; k < 200; k++) {
        assert_int_equal(wg_tape_hvp(t, z, 2, p, v, hv), WG_OK);
        assert_memory_equal(first, hv, sizeof hv);
    }
    assert_int_equal(calls, 2);
    assert_int_equal(wg_tape_stats(t, &after), WG_OK);
    assert_true(before.memory_calls == after.memory_calls);
    assert_true(before.committed_bytes == after.committed_bytes);
    wg_tape_free(t);
}

static void a_budget_holds_what_second_derivatives_take(void **state) {
    (void)state;
    const double start[2] = {4, 1}, x[2] = {2, 2}, v[2] = {1, -1};
    int refused = 0, done = 0;
    for (size_t budget = 1 << 14; budget < 1 << 22; budget += budget / 4) {
        const wg_options o = {.flags = WG_KEEP_CODE, .budget = budget};
        wg_tape *const t = wg_tape_new(&o);
        wg_real p[2], y[2];
        double hv[2] = {-7, -7};
        if (t == NULL) continue;
        wg_status s = wg_inputs(t, 2, start, p);
        if (s == WG_OK) s = wg_implicit(t, two_equations, NULL, 2, x, 2, p, y);
        if (s == WG_OK) s = wg_tape_hvp(t, y[0], 2, p, v, hv);
        if (s == WG_OK) { /* of sqrt(a b) along (1, -1) */
            close_to(hv[0], -0.25 * 2 / 16 - 0.25 / 2, TOL_IMPLICIT_ULP);
            close_to(hv[1], 0.25 / 2 + 0.25 * 2, TOL_IMPLICIT_ULP);
            done++;
        } else {
            assert_int_equal(s, WG_EBUDGET);
            assert_true(hv[0] == -7 && hv[1] == -7);
            refused++;
        }
        wg_tape_free(t);
    }
    assert_true(refused != 0 && done != 0);
}

static void more_directions_than_lanes(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    enum { MANY = 19 };
    double p[MANY], h[MANY * MANY], sum = 0;
    wg_real in[MANY];
    for (size_t i = 0; i < MANY; i++) sum += p[i] = 0.5 + 0.1 * (double)i;
    assert_int_equal(wg_inputs(t, MANY, p, in), WG_OK);
    const wg_real all = wg_sum(t, MANY, in);
    const double x = sqrt(sum);
    wg_real y;
    assert_int_equal(wg_implicit(t, square_is, NULL, 1, &x, 1, &all, &y), WG_OK);
    assert_int_equal(wg_tape_hessian(t, y, MANY, in, h, MANY), WG_OK);
    for (int i = 0; i < MANY * MANY; i++) close_to(h[i], -0.25 / (sum * x), TOL_IMPLICIT_ULP);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hessian_is_that_of_the_closed_form),
        cmocka_unit_test(keplers_equation_has_the_second_derivatives_of_its_formulas),
        cmocka_unit_test(implicit_functions_nest_and_follow_each_other),
        cmocka_unit_test(equations_may_have_linear_solves),
        cmocka_unit_test(what_is_not_used_has_derivative_0),
        cmocka_unit_test(sparse_hessians_are_the_same_entries),
        cmocka_unit_test(a_replay_solves_anew),
        cmocka_unit_test(a_replay_goes_on_until_steps_are_small_beside_the_solution),
        cmocka_unit_test(a_replay_steps_back_from_where_there_is_no_equation),
        cmocka_unit_test(a_replay_without_a_solution_fails_by_name),
        cmocka_unit_test(equations_without_second_derivatives_are_named),
        cmocka_unit_test(equations_that_change_the_tape_when_called_again_are_found),
        cmocka_unit_test(nor_do_equations_change_the_tape_of_a_function_that_is_made),
        cmocka_unit_test(a_point_is_recorded_once_and_nothing_is_allocated_again),
        cmocka_unit_test(a_budget_holds_what_second_derivatives_take),
        cmocka_unit_test(more_directions_than_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

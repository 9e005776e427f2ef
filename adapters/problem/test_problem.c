/* SPDX-License-Identifier: MIT */
/* test_problem.c - problems: derivatives of callbacks and functions, dense and sparse, against
 * the references of data/opt_problems.txt; what is kept of failures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <wengert/derive.h>
#include "test/opt_cases.h"
#include "test/tolerance.h"
#include "wengert/problem.h"

/* The ways to state one problem: its callback, recorded at each point or once, and functions of
 * one input or two. */
typedef enum way { ANEW, ONCE, GIVEN, GIVEN_IN_TWO, COMPILED, WAYS } way;

typedef struct stated {
    wg_problem *p;
    wg_function *f;
} stated;

/* Recorded at x, in inputs of 1 and n - 1 entries. */
static wg_function *recorded(wg_callback *f, void *data, size_t n, const double *x, size_t m,
                             int two) {
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    const wg_argument in[] = {{"a", two ? 1 : n, 1, 0}, {"b", n - 1, 1, 0}};
    const wg_argument out[] = {{"y", two && m > 1 ? m - 1 : m, 1, 0}, {"z", 1, 1, 0}};
    wg_function *g = NULL;
    if (wg_function_record(t, f, data, two ? 2 : 1, in, x, two && m > 1 ? 2 : 1, out, &g) !=
        WG_OK)
        fail_msg("%s", wg_tape_message(t));
    wg_tape_free(t);
    return g;
}

static stated state_(way how, wg_callback *f, void *data, size_t n, const double *x, size_t m) {
    wg_computation c = {.n = n, .m = m, .x = x};
    stated s = {NULL, NULL};
    if (how == GIVEN || how == GIVEN_IN_TWO)
        c.function = s.f = recorded(f, data, n, x, m, how == GIVEN_IN_TWO);
    else c.callback = f, c.data = data;
    c.flags = how == ONCE ? WG_RECORD_ONCE : how == COMPILED ? WG_COMPILE : 0;
    s.p = wg_problem_new(&c);
    if (wg_problem_status(s.p) != WG_OK) fail_msg("%s", wg_problem_message(s.p));
    return s;
}
static void done(stated *s) {
    wg_problem_free(s->p);
    wg_function_free(s->f);
}

static void ok(const wg_problem *p, wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s", wg_status_text(s), wg_problem_message(p));
    assert_int_equal(wg_problem_status(p), WG_OK);
}

/* What is claimed of a way to evaluate. */
static double bound(way how) {
    return DBL_EPSILON * (how == ANEW ? TOL_PROBLEM_ULP : TOL_PROBLEM_FUNCTION_ULP);
}

/* Relative to the largest of the references. */
static void assert_near(const struct opt_case *c, way how, const char *what, size_t n,
                        const double *got, size_t step, const double *ref) {
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(ref[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i * step] - ref[i]) <= bound(how) * size))
            fail_msg("%s of %s %s, way %d: entry %zu is %.17g, not %.17g", what, c->text.name,
                     c->text.variant, (int)how, i, got[i * step], ref[i]);
}

/* ---- dense ---- */

static void objective_case(const struct opt_case *c, way how) {
    double f, g[OPT_MAX_N], e[OPT_MAX_N] = {0}, h[OPT_MAX_N];
    int number = c->number;
    stated s = state_(how, opt_objective, &number, c->n, c->x, 1);
    ok(s.p, wg_problem_value(s.p, c->x, &f));
    assert_near(c, how, "value", 1, &f, 1, c->f);
    f = NAN;
    ok(s.p, wg_problem_gradient(s.p, c->x, &f, g));
    assert_near(c, how, "value", 1, &f, 1, c->f);
    assert_near(c, how, "gradient", c->n, g, 1, c->g);
    for (size_t i = 0; i < c->n; i++) {
        e[i] = 1;
        ok(s.p, wg_problem_hvp(s.p, c->x, e, h));
        for (size_t k = 0; k < c->n; k++) { /* against the whole: rows may be small */
            double size = 0;
            for (size_t j = 0; j < c->n * c->n; j++) size = fmax(size, fabs(c->h[j]));
            assert_true(fabs(h[k] - c->h[i * c->n + k]) <= bound(how) * size);
        }
        e[i] = 0;
    }
    done(&s);
}

static void residual_case(const struct opt_case *c, way how) {
    enum { LD = OPT_MAX_M + 3 };
    static double rows[OPT_MAX_M * (OPT_MAX_N + 2)], cols[LD * OPT_MAX_N];
    double y[OPT_MAX_M], v[OPT_MAX_N], w[OPT_MAX_M], jv[OPT_MAX_M], g[OPT_MAX_N];
    const size_t n = c->n, m = c->m, ld = n + 2;
    int number = c->number;
    if (m == 0) return;
    stated s = state_(how, opt_residuals, &number, n, c->x, m);
    ok(s.p, wg_problem_value(s.p, c->x, y));
    assert_near(c, how, "residual", m, y, 1, c->r);
    if (how != GIVEN_IN_TWO) {
        for (size_t i = 0; i < m * ld; i++) rows[i] = -77;
        for (size_t i = 0; i < LD * n; i++) cols[i] = -77;
        ok(s.p, wg_problem_jacobian(s.p, 0, c->x, WG_ROW_MAJOR, rows, ld));
        ok(s.p, wg_problem_jacobian(s.p, 0, c->x, WG_COL_MAJOR, cols, LD));
        for (size_t j = 0; j < m; j++) {
            assert_near(c, how, "row", n, rows + j * ld, 1, c->j + j * n);
            assert_near(c, how, "row of columns", n, cols + j, LD, c->j + j * n);
            assert_true(rows[j * ld + n] == -77 && rows[j * ld + n + 1] == -77);
        }
        for (size_t i = 0; i < n; i++) assert_true(cols[i * LD + m] == -77);
        ok(s.p, wg_problem_jacobian(s.p, 0, c->x, WG_ROW_MAJOR, rows, n));
        for (size_t j = 0; j < m; j++)
            assert_near(c, how, "row", n, rows + j * n, 1, c->j + j * n);
    } else { /* by the inputs behind the first */
        ok(s.p, wg_problem_jacobian(s.p, 1, c->x, WG_ROW_MAJOR, rows, ld));
        for (size_t j = 0; j < m; j++) {
            rows[j * ld + n] = c->j[j * n]; /* so that sizes are those of whole rows */
            for (size_t i = n; i-- > 1;) rows[j * ld + i] = rows[j * ld + i - 1];
            rows[j * ld] = rows[j * ld + n];
            assert_near(c, how, "row", n, rows + j * ld, 1, c->j + j * n);
        }
    }
    for (size_t i = 0; i < n; i++) v[i] = 1 - 0.3 * (double)i;
    for (size_t j = 0; j < m; j++) w[j] = j % 3 == 0 ? -1 : 0.5 + (double)j;
    y[0] = NAN;
    ok(s.p, wg_problem_jvp(s.p, c->x, v, y, jv));
    assert_near(c, how, "residual", m, y, 1, c->r);
    y[0] = NAN;
    ok(s.p, wg_problem_vjp(s.p, c->x, w, y, g));
    assert_near(c, how, "residual", m, y, 1, c->r);
    for (size_t j = 0; j < m; j++) {
        double ref = 0, size = 0;
        for (size_t i = 0; i < n; i++)
            ref += c->j[j * n + i] * v[i], size += fabs(c->j[j * n + i] * v[i]);
        assert_true(fabs(jv[j] - ref) <= bound(how) * size);
    }
    for (size_t i = 0; i < n; i++) {
        double ref = 0, size = 0;
        for (size_t j = 0; j < m; j++)
            ref += c->j[j * n + i] * w[j], size += fabs(c->j[j * n + i] * w[j]);
        assert_true(fabs(g[i] - ref) <= bound(how) * size);
    }
    done(&s);
}

static void in_all_ways(const struct opt_case *c) {
    /* what is compiled is the same code, and takes long: one problem will do */
    const int compiled =
        strcmp(c->text.name, "hs71") == 0 && strcmp(c->text.variant, "point0") == 0;
    for (way how = 0; how < WAYS; how++) {
        if ((how == COMPILED && !compiled) || (how == GIVEN_IN_TWO && c->n < 2)) continue;
        objective_case(c, how);
        residual_case(c, how);
    }
}
static void derivatives_of_callbacks_and_functions_equal_the_reference(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(in_all_ways), OPT_CASES);
}

/* ---- second derivatives along a direction: of powers and products, known exactly ---- */

static wg_status powers(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(wg_square(x[0]), x[1]));
    y[1] = wg_constant(4);
    y[2] = x[2];
    y[3] = wg_let(t, wg_cube(x[2]));
    y[4] = wg_let(t, wg_mul(x[0], x[2]));
    return WG_OK;
}
static void second_derivatives_along_a_direction_are_those_of_every_output(void **state) {
    const double x[] = {2, 3, 5}, v[] = {1, -2, 4};
    /* 2 y v0^2 + 2 * 2 x v0 v1; 0; 0; 6 z v2^2; 2 v0 v2 */
    const double ref[] = {6 - 16, 0, 0, 480, 8};
    (void)state;
    for (way how = 0; how < WAYS; how++) {
        double a[5];
        stated s = state_(how, powers, NULL, 3, x, 5);
        ok(s.p, wg_problem_second(s.p, x, v, a));
        for (int j = 0; j < 5; j++) assert_true(a[j] == ref[j]);
        done(&s);
    }
}

/* ---- sparse: a chain with an arrow, so that either way of colouring comes to be used ---- */

enum { LINKS = 70 };

static wg_status chain(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    const int *const full_row = data; /* otherwise a full column */
    for (size_t j = 0; j < m; j++) {
        y[j] = wg_let(t, wg_mul(wg_sin(x[j]), x[(j + 1) % n]));
        if (!*full_row) y[j] = wg_let(t, wg_add(y[j], wg_square(wg_mul(x[0], x[j]))));
    }
    if (*full_row)
        for (size_t i = 0; i < n; i++)
            y[0] = wg_let(t, wg_add(y[0], wg_mul(x[i], wg_square(x[n - 1 - i]))));
    return WG_OK;
}

/* The sum of its outputs times w, for the dense driver. */
typedef struct weighted {
    int *full_row;
    const double *w;
} weighted;
static wg_status weighted_chain(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    const weighted *const with = data;
    wg_real all[LINKS];
    const wg_status s = chain(t, n, x, LINKS, all, with->full_row);
    (void)m;
    y[0] = wg_constant(0);
    for (size_t j = 0; j < LINKS; j++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(with->w[j], all[j])));
    return s;
}

/* Entries of the pattern equal the dense ones, and what is not in it is 0. */
static void assert_entries(const wg_pattern *at, const double *values, const double *dense,
                           size_t cols, size_t skip, int lower) {
    double *const left = malloc(at->rows * at->cols * sizeof *left);
    for (size_t r = 0; r < at->rows; r++)
        for (size_t c = 0; c < at->cols; c++)
            left[r * at->cols + c] = lower && c > r ? 0 : dense[r * cols + skip + c];
    for (size_t k = 0; k < at->entries; k++) {
        double *const e = &left[at->row[k] * at->cols + at->col[k]];
        assert_true(fabs(values[k] - *e) <= TOL_PROGRAM_ULP * DBL_EPSILON * fmax(1, fabs(*e)));
        *e = 0;
    }
    for (size_t i = 0; i < at->rows * at->cols; i++) assert_true(left[i] == 0);
    for (size_t k = 0; k < at->entries; k++) {
        const size_t line = at->layout == WG_ROW_MAJOR ? at->row[k] : at->col[k];
        assert_true(at->start[line] <= k && k < at->start[line + 1]);
    }
    free(left);
}

static void sparse_derivatives_equal_the_dense_ones(void **state) {
    static double x[LINKS], w[LINKS], y[LINKS], dense[LINKS * LINKS], values[LINKS * LINKS];
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    (void)state;
    for (size_t i = 0; i < LINKS; i++)
        x[i] = 0.3 + 0.01 * (double)i, w[i] = 1 - 0.02 * (double)i;
    for (int full_row = 0; full_row < 2; full_row++)
        for (way how = 0; how < WAYS; how++) {
            const wg_pattern *at, *h;
            if (how == COMPILED && full_row) continue;
            const size_t group = how == GIVEN_IN_TWO, cols = LINKS - group;
            const wg_layout layout = how % 2 == 0 ? WG_ROW_MAJOR : WG_COL_MAJOR;
            stated s = state_(how, chain, &full_row, LINKS, x, LINKS);
            ok(s.p, wg_problem_jacobian_pattern(s.p, group, NULL, layout, &at));
            assert_int_equal(at->cols, cols);
            assert_true(at->entries < 4 * LINKS);
            ok(s.p, wg_problem_jacobian(s.p, group, x, WG_ROW_MAJOR, dense, cols));
            ok(s.p, wg_problem_sparse_jacobian(s.p, x, y, values));
            assert_entries(at, values, dense, cols, 0, 0);

            ok(s.p, wg_problem_hessian_pattern(s.p, NULL, &h));
            ok(s.p, wg_problem_sparse_hessian(s.p, x, w, values));
            assert_true(h->entries < 4 * LINKS);
            assert_int_equal(wg_hessian(t, weighted_chain, &(weighted){&full_row, w}, LINKS, x,
                                        NULL, NULL, dense, LINKS),
                             WG_OK);
            assert_entries(h, values, dense, LINKS, 0, 1);
            done(&s);
        }
    wg_tape_free(t);
}

/* ---- parameters: numbers that change between two calls ---- */

enum { N = 3, M = 2, NP = 3 };

/* Where p[2] is below 1: p0 x0^2 x1 + p1 x2, p1 x2^2; elsewhere twice that. p[0] and p[1] may
 * be 0 at first: patterns do not depend on it. */
static wg_status with_parameters(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    const wg_real *const p = x + N;
    const double times = wg_lt(t, p[2], 1) ? 1 : 2;
    assert_true(n == N + NP && m == M && data == NULL);
    y[0] = wg_let(t, wg_add(wg_mul(p[0], wg_mul(wg_square(x[0]), x[1])), wg_mul(p[1], x[2])));
    y[1] = wg_let(t, wg_mul(times, wg_mul(p[1], wg_square(x[2]))));
    y[0] = wg_let(t, wg_mul(times, y[0]));
    return WG_OK;
}

/* The same with the inputs p[0], x, p[1..2]. */
static wg_status around(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                        void *data) {
    const wg_real x[] = {in[1], in[2], in[3], in[0], in[4], in[5]};
    return with_parameters(t, n, x, m, y, data);
}

/* With parameters behind the inputs, or around them. */
static wg_function *recorded_with_parameters(const double *x, const double *p, int both_sides) {
    const wg_argument last[] = {{"x", N, 1, 0}, {"p", NP, 1, WG_PASSIVE}};
    const wg_argument apart[] = {
        {"p", 1, 1, WG_PASSIVE}, {"x", N, 1, 0}, {"q", NP - 1, 1, WG_PASSIVE}};
    const wg_argument out = {"y", M, 1, 0};
    const double behind[] = {x[0], x[1], x[2], p[0], p[1], p[2]};
    const double beside[] = {p[0], x[0], x[1], x[2], p[1], p[2]};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f = NULL;
    const wg_status s =
        both_sides ? wg_function_record(t, around, NULL, 3, apart, beside, 1, &out, &f)
                   : wg_function_record(t, with_parameters, NULL, 2, last, behind, 1, &out, &f);
    assert_int_equal(s, WG_OK);
    wg_tape_free(t);
    return f;
}

static void assert_same(size_t n, const double *got, const double *ref) {
    for (size_t i = 0; i < n; i++)
        if (got[i] != ref[i]) fail_msg("entry %zu: %g, not %g", i, got[i], ref[i]);
}

/* Every question, of whole numbers without rounding. */
static void ask_everything(wg_problem *p, const double *x, const double *at, double times) {
    const double a = times * at[0], b = times * at[1], v[] = {1, -2, 4}, w[] = {3, 5};
    const double y[] = {a * x[0] * x[0] * x[1] + b * x[2], b * x[2] * x[2]};
    const double jac[] = {2 * a * x[0] * x[1], a * x[0] * x[0], b, 0, 0, 2 * b * x[2]};
    const double hess[] = {3 * 2 * a * x[1], 3 * 2 * a * x[0],
                           5 * 2 * b}; /* (0,0) (1,0) (2,2) */
    const double second[] = {2 * a * x[1] + 2 * v[1] * 2 * a * x[0], 2 * b * 16};
    double got[M * N], to[N], entries[M * N], dense[M * N] = {0};
    const wg_pattern *pattern;
    ok(p, wg_problem_value(p, x, got)), assert_same(M, got, y);
    ok(p, wg_problem_jacobian(p, 0, x, WG_ROW_MAJOR, got, N)), assert_same(M * N, got, jac);
    ok(p, wg_problem_jvp(p, x, v, NULL, got));
    for (size_t j = 0; j < M; j++)
        to[j] = jac[j * N] * v[0] + jac[j * N + 1] * v[1] + jac[j * N + 2] * v[2];
    assert_same(M, got, to);
    ok(p, wg_problem_vjp(p, x, w, NULL, got));
    for (size_t i = 0; i < N; i++) to[i] = w[0] * jac[i] + w[1] * jac[N + i];
    assert_same(N, got, to);
    ok(p, wg_problem_second(p, x, v, got)), assert_same(M, got, second);
    ok(p, wg_problem_jacobian_pattern(p, 0, x, WG_ROW_MAJOR, &pattern));
    assert_int_equal(pattern->entries, 4);
    assert_int_equal(pattern->cols, N);
    ok(p, wg_problem_sparse_jacobian(p, x, NULL, entries));
    for (size_t k = 0; k < 4; k++) dense[pattern->row[k] * N + pattern->col[k]] = entries[k];
    assert_same(M * N, dense, jac);
    ok(p, wg_problem_hessian_pattern(p, x, &pattern));
    assert_int_equal(pattern->entries, 3);
    ok(p, wg_problem_sparse_hessian(p, x, w, entries)), assert_same(3, entries, hess);
}

static void parameters_are_those_of_the_moment(void **state) {
    const double x[] = {2, 3, 5}, first[] = {0, 0, 0};
    (void)state;
    for (way how = 0; how < WAYS; how++) {
        double p[] = {0, 0, 0};
        const int given = how == GIVEN || how == GIVEN_IN_TWO;
        wg_function *const f =
            given ? recorded_with_parameters(x, first, how == GIVEN_IN_TWO) : NULL;
        wg_problem *const s =
            wg_problem_new(&(wg_computation){.n = N,
                                             .m = M,
                                             .callback = given ? NULL : with_parameters,
                                             .function = f,
                                             .x = how == GIVEN_IN_TWO ? x : NULL,
                                             .flags = how == ONCE       ? WG_RECORD_ONCE
                                                      : how == COMPILED ? WG_COMPILE
                                                                        : 0,
                                             .parameters = NP,
                                             .parameter = p});
        size_t count;
        assert_ptr_equal(wg_problem_parameters(s, &count), p);
        assert_true(count == NP && wg_problem_inputs(s) == N);
        ask_everything(s, x, p, 1);
        p[0] = 7, p[1] = -3;
        ask_everything(s, x, p, 1);
        p[0] = 2, p[2] = 4; /* the other branch */
        if (given) {
            double y[M];
            assert_int_equal(wg_problem_value(s, x, y), WG_EGUARD);
        } else ask_everything(s, x, p, 2);
        wg_problem_free(s);
        wg_function_free(f);
    }
}

/* x0^2 x1^2 where p is below 1, and x0^2 elsewhere. */
static wg_status of_one_or_two(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *data) {
    assert_true(n == 3 && m == 1 && data == NULL);
    y[0] = wg_let(t, wg_square(wg_lt(t, x[2], 1) ? wg_let(t, wg_mul(x[0], x[1])) : x[0]));
    return WG_OK;
}

/* What was recorded before the parameters changed has the pattern that it had then. */
static void patterns_are_those_of_what_was_recorded(void **state) {
    const double x[] = {2, 3}, j[] = {36, 24}, h[] = {18, 24, 8}; /* (0,0) (1,0) (1,1) */
    const double one = 1;
    (void)state;
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        double p = 0, got[3];
        const wg_pattern *pattern;
        wg_problem *const s = wg_problem_new(&(wg_computation){.n = 2,
                                                               .m = 1,
                                                               .callback = of_one_or_two,
                                                               .x = elsewhere ? NULL : x,
                                                               .flags = WG_RECORD_ONCE,
                                                               .parameters = 1,
                                                               .parameter = &p});
        ok(s, wg_problem_value(s, x, got)), assert_true(got[0] == 36);
        p = 2;
        ok(s, wg_problem_jacobian_pattern(s, 0, x, WG_ROW_MAJOR, &pattern));
        assert_int_equal(pattern->entries, 2);
        ok(s, wg_problem_hessian_pattern(s, x, &pattern));
        assert_int_equal(pattern->entries, 3);
        ok(s, wg_problem_sparse_jacobian(s, x, NULL, got)); /* of the other branch */
        assert_same(2, got, (double[]){4, 0});
        p = 0;
        ok(s, wg_problem_sparse_jacobian(s, x, NULL, got)), assert_same(2, got, j);
        ok(s, wg_problem_sparse_hessian(s, x, &one, got)), assert_same(3, got, h);
        wg_problem_free(s);
    }
}

static void parameters_that_do_not_fit_are_refused_by_name(void **state) {
    const double x[] = {2, 3, 5}, p[] = {0, 0, 0};
    wg_function *const f = recorded_with_parameters(x, p, 0);
    const struct {
        wg_computation c;
        wg_status s;
        const char *says;
    } bad[] = {
        {{.n = N, .m = M, .callback = with_parameters, .parameters = NP},
         WG_ENULL,
         "parameter is NULL"},
        {{.n = N, .m = M, .function = f}, WG_EARG, "input p is passive"},
        {{.n = N, .m = M, .function = f, .parameters = 2, .parameter = p},
         WG_ESHAPE,
         "a function of 3 parameters, not of 2"},
        {{.n = N,
          .m = M,
          .callback = with_parameters,
          .parameters = NP,
          .parameter = p,
          .groups = 16,
          .group = (size_t[16]){N}},
         WG_EARG,
         "more than 15 groups"},
        {{.n = N, .m = M, .callback = with_parameters, .parameters = SIZE_MAX, .parameter = p},
         WG_ENOMEM,
         "out of memory"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        wg_problem *const s = wg_problem_new(&bad[k].c);
        assert_int_equal(wg_problem_status(s), bad[k].s);
        if (strstr(wg_problem_message(s), bad[k].says) == NULL)
            fail_msg("%s", wg_problem_message(s));
        wg_problem_free(s);
    }
    wg_function_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_those_of_the_moment),
        cmocka_unit_test(patterns_are_those_of_what_was_recorded),
        cmocka_unit_test(parameters_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(derivatives_of_callbacks_and_functions_equal_the_reference),
        cmocka_unit_test(second_derivatives_along_a_direction_are_those_of_every_output),
        cmocka_unit_test(sparse_derivatives_equal_the_dense_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_function_derive.c - functions from functions: derivatives of any order, nested in any
 * mode; joined, composed, cut down. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include <wengert/operation.h>

#include <cmocka.h>

#include "graph_walk.h"
#include "oracle_text.h"
#include "scalar_rows.h"
#include "second_kernel.h"
#include "tolerance.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

enum { MOST = 64 };

static wg_tape *code_tape(void) {
    const wg_options o = {.flags = WG_KEEP_CODE};
    return wg_tape_new(&o);
}

/* f: where the call has put its result, looked at after it. */
static wg_function *must(wg_tape *t, wg_status s, wg_function *const *f) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
    assert_non_null(*f);
    return *f;
}

static wg_function *recorded(wg_tape *t, wg_callback *call, void *data, size_t n, size_t m,
                             const double *x) {
    const wg_argument in = {"x", n, 1, 0}, out = {"y", m, 1, 0};
    wg_function *f = NULL;
    const wg_status s = wg_function_record(t, call, data, 1, &in, x, 1, &out, &f);
    return must(t, s, &f);
}

typedef wg_status transform(wg_tape *t, const wg_function *f, wg_function **out);

/* The transform of a function that is not needed any more. */
static wg_function *next(wg_tape *t, transform *by, wg_function *f) {
    wg_function *g = NULL;
    const wg_status s = by(t, f, &g);
    wg_function_free(f);
    return must(t, s, &g);
}

/* ---- the third order of every row ---- */

static wg_status one_row(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    assert_true(n >= 1 && m == 1);
    y[0] = wg_apply_scalar(t, data, x);
    return WG_OK;
}

enum { LEVELS = 5 };

/* The slope of second partial (i, j) along operand k, by Romberg's extrapolation. */
static double slope(const struct scalar_row *r, size_t i, size_t j, const double *x, size_t k,
                    double *size) {
    /* an operation of four operands is piecewise linear */
    scalar_fn *const f = r->arity > 3 ? NULL : i < j ? r->second[i][j] : r->second[j][i];
    double y[4] = {x[0], x[1], x[2], x[3]}, h = ldexp(1, ilogb(x[k]) - 6), s = 0;
    long double t[LEVELS];
    *size = 0;
    if (f == NULL) return 0;
    for (int l = 0; l < LEVELS; l++, h /= 2) {
        double g[2];
        for (int side = 0; side < 2; side++) {
            y[k] = side ? x[k] - h : x[k] + h;
            g[side] = f(y, r->value(y, 0));
            s = fmax(s, fabs(g[side]));
        }
        t[l] = ((long double)g[0] - g[1]) / (2 * h);
    }
    for (int c = 1; c < LEVELS; c++)
        for (int l = LEVELS - 1; l >= c; l--)
            t[l] += (t[l] - t[l - 1]) / (ldexpl(1, 2 * c) - 1);
    *size = s / fabs(x[k]);
    return (double)t[LEVELS - 1];
}

/* Where the table says that the order ends; 0: nowhere. */
static size_t last_order(const char *name) {
    static const struct {
        const char *name;
        size_t order;
    } ends[] = {
#define FORMULA(name, k, text)
#define CAREFUL(name)
#define ORDER(name, k) {#name, k},
#include "../ops/formula.def"
#undef FORMULA
#undef CAREFUL
#undef ORDER
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(name, ends[i].name) == 0) return ends[i].order;
    return 0;
}

static void third_derivatives_of_every_row_equal_differences_of_the_second(void **state) {
    (void)state;
    static const double point[][4] = {{0.3, 0.7, 0.45, 1.1},
                                      {1.7, 2.4, 1.2, -0.3},
                                      {-0.6, 0.9, -1.3, 0.2},
                                      {2.3, -0.4, 0.8, 3}};
    wg_tape *t = code_tape();
    size_t compared = 0;
    int bad = 0;
    for (size_t i = 0; i < wgi_scalar_op_count; i++)
        for (size_t p = 0; p < sizeof point / sizeof *point; p++) {
            const wg_scalar_op *const op = &wgi_scalar_ops[i];
            const struct scalar_row *const r = scalar_row_find(op->name);
            const double *const x = point[p];
            const double v = r->value(x, 0);
            const size_t n = op->arity;
            double third[MOST];
            if (!(v - v == 0)) continue;
            wg_function *h = next(t, wg_function_hessian,
                                  recorded(t, one_row, (void *)(uintptr_t)op, n, 1, x));
            wg_function *d = NULL;
            const wg_status s = wg_function_jacobian(t, h, &d);
            wg_function_free(h);
            if (last_order(op->name) == 2) {
                assert_int_equal(s, WG_EMODE);
                continue;
            }
            (void)must(t, s, &d);
            assert_int_equal(graph_walk(d, x, third), 0);
            wg_function_free(d);
            for (size_t e = 0; e < n * n * n; e++) {
                double size;
                const size_t k = e % n, a = e / n % n, b = e / n / n;
                const double ref = slope(r, a, b, x, k, &size);
                compared++;
                if (fabs(third[e] - ref) <=
                    TOL_DIFFERENCE_ULP * DBL_EPSILON * (fabs(ref) + size + fabs(third[e])))
                    continue;
                print_error("%s(%g, %g, %g) by %zu %zu %zu: %.17g, by differences %.17g\n",
                            op->name, x[0], x[1], x[2], a, b, k, third[e], ref);
                bad++;
            }
        }
    wg_tape_free(t);
    assert_int_equal(bad, 0);
    assert_true(compared > 600);
}

/* ---- any order, and those that end ---- */

static void orders_end_where_the_table_of_operations_says(void **state) {
    (void)state;
    enum { FIFTH = 5 };
    static const double x[4] = {0.6, 0.7, 0.45, 1.1};
    wg_tape *t = code_tape();
    for (size_t i = 0; i < wgi_scalar_op_count; i++) {
        const wg_scalar_op *const op = &wgi_scalar_ops[i];
        const size_t last = last_order(op->name), orders = last ? last : FIFTH;
        if (op->arity > 1 && last == 0) continue; /* by one operand: those grow quickly */
        wg_function *f = recorded(t, one_row, (void *)(uintptr_t)op, op->arity, 1, x), *d;
        for (size_t k = 1; k <= orders; k++) f = next(t, wg_function_jacobian, f);
        const wg_status s = wg_function_jacobian(t, f, &d);
        wg_function_free(f);
        if (last == 0) {
            wg_function_free(must(t, s, &d));
            continue;
        }
        assert_int_equal(s, WG_EMODE);
        assert_null(d);
        assert_non_null(
            strstr(wg_tape_message(t), "digamma cannot be differentiated more than twice"));
    }
    wg_tape_free(t);
}

static wg_status wave(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(wg_exp(x[0]), wg_sin(x[0])));
    return WG_OK;
}

static void the_eighth_derivative_is_sixteen_times_the_function(void **state) {
    (void)state;
    static transform *const by[] = {wg_function_gradient, wg_function_jacobian};
    wg_tape *t = code_tape();
    const double x = 0.7;
    for (size_t way = 0; way < 2; way++) {
        wg_function *f = recorded(t, wave, NULL, 1, 1, &x);
        double y;
        for (int k = 0; k < 8; k++) f = next(t, by[way], f);
        assert_int_equal(graph_walk(f, &x, &y), 0);
        const double ref = 16 * exp(x) * sin(x);
        assert_true(fabs(y - ref) <= TOL_PROGRAM_ULP * DBL_EPSILON * 16 * exp(x));
        wg_function_free(f);
    }
    /* by tangents: inputs x and 8 directions, each 1 */
    wg_function *f = recorded(t, wave, NULL, 1, 1, &x);
    double at[256], y;
    for (int k = 0; k < 4; k++) f = next(t, wg_function_jvp, f);
    assert_int_equal(graph_entries_in(f), 16);
    memset(at, 0, sizeof at);
    at[0] = x; /* x, dx, d of those two, ...: only the first directions move */
    at[1] = at[2] = at[4] = at[8] = 1;
    assert_int_equal(graph_walk(f, at, &y), 0);
    const double fourth = -4 * exp(x) * sin(x);
    assert_true(fabs(y - fourth) <= TOL_PROGRAM_ULP * DBL_EPSILON * 4 * exp(x));
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- Taylor coefficients of the oracle ---- */

typedef wg_real kernel(wg_tape *t, size_t n, const wg_real *x, const double *data);
struct problem {
    const char *name;
    kernel *f;
    double data[32];
};

static wg_status of_problem(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const struct problem *const p = data;
    (void)m;
    y[0] = p->f(t, n, x, p->data);
    return WG_OK;
}

static int taylor_agrees(struct problem *p, const struct oracle_case *c) {
    enum { ORDER = 4 };
    const struct oracle_array *const x = oracle_case_array(c, "in", "x");
    const struct oracle_array *const v = oracle_case_array(c, "in", "v");
    const struct oracle_array *const ref = oracle_case_array(c, "ref", "taylor");
    size_t numbers = 0;
    double at[MOST], got[ORDER + 1], scale = 0;
    int bad = 0;
    for (size_t i = 0; i < c->arrays; i++) {
        const struct oracle_array *const a = &c->array[i];
        if (strcmp(a->role, "data") != 0) continue;
        memcpy(p->data + numbers, a->v, a->count * sizeof *a->v);
        numbers += a->count;
    }
    wg_tape *t = code_tape();
    wg_function *f = recorded(t, of_problem, p, x->count, 1, x->v), *series = NULL;
    (void)must(t, wg_function_taylor(t, f, ORDER, &series), &series);
    memcpy(at, x->v, x->count * sizeof *at);
    memcpy(at + x->count, v->v, v->count * sizeof *at);
    assert_int_equal(graph_walk(series, at, got), 0);
    for (size_t k = 0; k <= ORDER; k++) scale = fmax(scale, fabs(ref->v[k]));
    for (size_t k = 0; k <= ORDER; k++)
        if (!(fabs(got[k] - ref->v[k]) <= TOL_PROGRAM_ULP * DBL_EPSILON * scale)) {
            print_error("%s: coefficient %zu is %.17g, reference %.17g\n", p->name, k, got[k],
                        ref->v[k]);
            bad++;
        }
    wg_function_free(f);
    wg_function_free(series);
    wg_tape_free(t);
    return bad;
}

static void taylor_coefficients_are_those_of_the_oracle(void **state) {
    (void)state;
    static struct problem problems[] = {{"rosenbrock6", rosenbrock_real, {0}},
                                        {"speelpenning5_zero", speelpenning_real, {0}},
                                        {"speelpenning5_zero", speelpenning_array_real, {0}},
                                        {"helmholtz8", helmholtz_real, {0}},
                                        {"mlp_2_3_1", mlp_real, {0}},
                                        {"pendulum_rk4", pendulum_real, {0}},
                                        {"gp_nll", gp_real, {0}},
                                        {"spherical_volume3", spherical_real, {0}},
                                        {"bilinear_saddle6", bilinear_real, {0}}};
    FILE *in = fopen(TEST_DATA "second_order.txt", "r");
    struct oracle_case c;
    size_t found = 0;
    int bad = 0;
    assert_non_null(in);
    while (oracle_case_read(in, &c) == 1) {
        for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
            if (strcmp(problems[i].name, c.name) == 0) {
                bad += taylor_agrees(&problems[i], &c);
                found++;
            }
        oracle_case_free(&c);
    }
    (void)fclose(in);
    assert_int_equal(found, sizeof problems / sizeof *problems);
    assert_int_equal(bad, 0);
}

/* ---- nesting ---- */

static wg_status sum_of_two(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(x[0], x[1]));
    return WG_OK;
}
static wg_status product_of_two(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], x[1]));
    return WG_OK;
}

/* d/dx (x d/dy (x + y)) is 1: the y of the inner derivative is not the x of the outer one. */
static void perturbations_are_not_confused(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const wg_argument xy[] = {{"x", 1, 1, WG_PASSIVE}, {"y", 1, 1, 0}};
    const wg_argument xs[] = {{"x", 1, 1, 0}, {"ds/dy", 1, 1, 0}};
    const wg_argument sum = {"s", 1, 1, 0}, product = {"p", 1, 1, 0};
    const double at[2] = {1, 1};
    wg_function *s = NULL, *inner = NULL, *outer = NULL, *both = NULL, *d = NULL;
    (void)must(t, wg_function_record(t, sum_of_two, NULL, 2, xy, at, 1, &sum, &s), &s);
    inner = next(t, wg_function_gradient, s); /* ds/dy */
    (void)must(t, wg_function_flag(t, inner, "x", 0, &s), &s);
    wg_function_free(inner);
    (void)must(t, wg_function_record(t, product_of_two, NULL, 2, xs, at, 1, &product, &outer),
               &outer);
    (void)must(t, wg_function_compose(t, outer, s, &both), &both);
    (void)must(t, wg_function_gradient(t, both, &d), &d);
    double g[2];
    assert_int_equal(graph_entries_out(d), 2);
    assert_int_equal(graph_walk(d, at, g), 0);
    assert_true(g[0] == 1 && g[1] == 0);
    wg_function_free(s);
    wg_function_free(outer);
    wg_function_free(both);
    wg_function_free(d);
    wg_tape_free(t);
}

static wg_status potential(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)m, (void)data;
    wg_real s = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++)
        s = wg_let(t, wg_add(s, wg_div(1, wg_hypot(wg_sub(x[i], 2), wg_sub(x[i + 1], 0.5)))));
    y[0] = wg_let(t, wg_mul(s, wg_exp(wg_mul(x[0], x[n - 1]))));
    return WG_OK;
}

/* v' H u by each of the four orders of the modes: the inner derivative first. */
static void the_four_orders_of_modes_agree(void **state) {
    (void)state;
    enum { N = 3 };
    wg_tape *t = code_tape();
    const double x[N] = {0.4, -0.3, 1.2}, u[N] = {1, -0.5, 0.25}, v[N] = {0.3, 0.9, -0.7};
    double value[4], at[4 * N + 2], y[4 * N + 2];
    for (int way = 0; way < 4; way++) {
        const int inner_forward = way & 1, outer_forward = way >> 1;
        wg_function *f = recorded(t, potential, NULL, N, 1, x);
        f = next(t, inner_forward ? wg_function_jvp : wg_function_gradient, f);
        if (inner_forward) { /* x, dx: the direction is a parameter of the outer one */
            wg_function *g = NULL;
            (void)must(t, wg_function_flag(t, f, "dx", WG_PASSIVE, &g), &g);
            wg_function_free(f);
            f = g;
        }
        f = next(t, outer_forward ? wg_function_jvp : wg_function_vjp, f);
        memset(at, 0, sizeof at);
        memcpy(at, x, sizeof x);
        memcpy(at + N, inner_forward ? u : outer_forward ? v : u, sizeof u);
        if (inner_forward && outer_forward) memcpy(at + 2 * N, v, sizeof v);
        if (inner_forward && !outer_forward) at[2 * N] = 1;
        assert_int_equal(graph_walk(f, at, y), 0);
        value[way] = 0;
        if (inner_forward && outer_forward) value[way] = y[0];
        else
            for (size_t i = 0; i < N; i++)
                value[way] += (inner_forward || !outer_forward ? v[i] : u[i]) * y[i];
        wg_function_free(f);
    }
    for (int way = 1; way < 4; way++)
        assert_true(fabs(value[way] - value[0]) <=
                    TOL_PROGRAM_ULP * DBL_EPSILON * fabs(value[0]));
    /* and the tape's own */
    double f0, g[N], hv[N], ref = 0;
    assert_int_equal(wg_hvp(t, potential, NULL, N, x, u, &f0, g, hv), WG_OK);
    for (size_t i = 0; i < N; i++) ref += v[i] * hv[i];
    assert_true(fabs(value[0] - ref) <= TOL_PROGRAM_ULP * DBL_EPSILON * fabs(ref));
    wg_tape_free(t);
}

/* ---- what is left of x * 0 and x + 0 ---- */

static wg_status identities(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], 0));
    y[1] = wg_let(t, wg_add(x[0], 0));
    y[2] = wg_let(t, wg_div(wg_mul(x[0], 1), 4));
    y[3] = wg_let(t, wg_sub(wg_neg(wg_neg(x[0])), 0));
    y[4] = wg_let(t, wg_div(0, x[0]));
    return WG_OK;
}

static void only_what_is_exact_is_simplified(void **state) {
    (void)state;
    static const double at[] = {0.3, -0.0, INFINITY, NAN, -INFINITY, 0.0, 5e-324, -1e308};
    wg_tape *t = code_tape();
    wg_function *f = recorded(t, identities, NULL, 1, 5, at);
    wg_function_stats s;
    double y[5];
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const double x = at[i], ref[5] = {x * 0, x + 0, x / 4, x - 0.0, 0 / x};
        assert_int_equal(graph_walk(f, &x, y), 0);
        for (size_t j = 0; j < 5; j++)
            assert_true((y[j] == ref[j] && !signbit(y[j]) == !signbit(ref[j])) ||
                        (y[j] != y[j] && ref[j] != ref[j]));
    }
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    assert_int_equal(s.each, 4); /* x * 0, x + 0, x * 0.25, 0 / x */
    assert_true(s.simplified >= 4);
    wg_function_free(f);
    wg_tape_free(t);
}

/* A factor that is a number here and a variable at the next level is not lost. */
static void what_is_a_number_here_may_be_differentiated_there(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const wg_argument in[] = {{"x", 1, 1, 0}, {"p", 1, 1, WG_PASSIVE}};
    const wg_argument out = {"y", 1, 1, 0};
    const double at[] = {3, 0};
    wg_function *f = NULL, *g = NULL;
    (void)must(t, wg_function_record(t, product_of_two, NULL, 2, in, at, 1, &out, &f), &f);
    (void)must(t, wg_function_flag(t, f, "p", 0, &g), &g);
    wg_function_free(f);
    f = next(t, wg_function_gradient, g); /* x p at p = 0: by x it is p, by p it is x */
    double y[2];
    assert_int_equal(graph_walk(f, at, y), 0);
    assert_true(y[0] == 0 && y[1] == 3);
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- put together ---- */

static size_t operations(const wg_function *f) {
    wg_function_stats s;
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    return s.once + s.each + s.after;
}

static void a_join_computes_what_is_common_once(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double x[3] = {0.4, -0.3, 1.2};
    wg_function *f = recorded(t, potential, NULL, 3, 1, x), *g = NULL, *both = NULL;
    (void)must(t, wg_function_gradient(t, f, &g), &g);
    const wg_function *const parts[] = {f, g};
    (void)must(t, wg_function_join(t, 2, parts, &both), &both);
    assert_true(operations(both) < operations(f) + operations(g));
    assert_true(operations(both) >= operations(g));
    assert_int_equal(wg_function_inputs(both), 1);
    assert_int_equal(wg_function_outputs(both), 2);
    assert_string_equal(wg_function_output(both, 0)->name, "y");
    assert_string_equal(wg_function_output(both, 1)->name, "dy/dx");
    double y[4], y0, g0[3];
    assert_int_equal(graph_walk(both, x, y), 0);
    assert_int_equal(wg_gradient(t, potential, NULL, 3, x, &y0, g0), WG_OK);
    assert_true(y[0] == y0);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(y[1 + i] - g0[i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * fabs(g0[i]));
    /* only one of the two again */
    const char *const name[] = {"y"};
    wg_function *one = NULL;
    (void)must(t, wg_function_select(t, both, 1, name, &one), &one);
    assert_int_equal(operations(one), operations(f));
    const wg_function *const twice[] = {f, f};
    wg_function *none = NULL;
    assert_int_equal(wg_function_join(t, 2, twice, &none), WG_EARG);
    assert_null(none);
    assert_non_null(strstr(wg_tape_message(t), "two outputs y"));
    wg_function_free(f);
    wg_function_free(g);
    wg_function_free(both);
    wg_function_free(one);
    wg_tape_free(t);
}

static void names_that_are_taken_get_a_number(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double x[3] = {0.4, -0.3, 1.2};
    wg_function *f = next(t, wg_function_jvp, recorded(t, potential, NULL, 3, 1, x));
    f = next(t, wg_function_jvp, f);
    assert_int_equal(wg_function_inputs(f), 4);
    assert_string_equal(wg_function_input(f, 1)->name, "dx");
    assert_string_equal(wg_function_input(f, 2)->name, "dx_2");
    assert_string_equal(wg_function_input(f, 3)->name, "ddx");
    assert_null(wg_function_input(f, 4));
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- refusals ---- */

static void what_cannot_be_is_refused_by_name(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double x[3] = {0.4, -0.3, 1.2};
    wg_function *f = recorded(t, potential, NULL, 3, 1, x), *g = f, *j = NULL;
    assert_int_equal(wg_function_gradient(NULL, f, &g), WG_ENULL);
    assert_int_equal(wg_function_gradient(t, NULL, &g), WG_ENULL);
    assert_null(g);
    assert_int_equal(wg_function_gradient(t, f, NULL), WG_ENULL);
    (void)must(t, wg_function_gradient(t, f, &j), &j);
    assert_int_equal(wg_function_gradient(t, j, &g), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "3 entries"));
    assert_int_equal(wg_function_taylor(t, f, 64, &g), WG_EARG);
    assert_int_equal(wg_function_compose(t, f, j, &g), WG_EARG);
    const char *const name[] = {"z"};
    assert_int_equal(wg_function_select(t, f, 1, name, &g), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "z"));
    assert_int_equal(wg_function_flag(t, f, "z", 0, &g), WG_EARG);
    assert_int_equal(wg_function_flag(t, f, "x", WG_SUMMED, &g), WG_EARG);
    assert_int_equal(wg_function_flag(t, f, "x", 64, &g), WG_EARG);
    const wg_argument odd[] = {{"two words", 3, 1, 0}, {"a", 1, 1, 0}, {"a", 2, 1, 0}};
    const wg_argument out = {"y", 1, 1, 0};
    assert_int_equal(wg_function_record(t, potential, NULL, 1, odd, x, 1, &out, &g), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "two words"));
    assert_int_equal(wg_function_record(t, potential, NULL, 2, odd + 1, x, 1, &out, &g),
                     WG_EARG);
    assert_int_equal(wg_function_record(t, potential, NULL, 1, NULL, x, 1, &out, &g), WG_ENULL);
    assert_null(g);
    /* the tape is as good as before */
    (void)must(t, wg_function_hessian(t, f, &g), &g);
    wg_function_free(f);
    wg_function_free(g);
    wg_function_free(j);
    wg_tape_free(t);
}

/* ---- passive inputs of calls ---- */

struct calling {
    const wg_callable *k;
};

static wg_status calls_a_product(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    const struct calling *const c = data;
    (void)n, (void)m;
    const wg_mat in[2] = {wg_mat_gather(t, 1, 1, x), wg_mat_gather(t, 1, 1, x + 1)};
    wg_mat p;
    const wg_status s = wg_call(t, c->k, in, &p);
    y[0] = wg_let(t, wg_mul(wg_mat_at(p, 0, 0), x[1]));
    return s;
}

/* x p with p passive, times p: by p only the second factor counts, in every order, and its
 * value is that of the point. */
static void passive_inputs_follow_their_variable_without_derivative(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const wg_argument in[] = {{"x", 1, 1, 0}, {"p", 1, 1, WG_PASSIVE}}, out = {"y", 1, 1, 0};
    const double at[2] = {3, 5}, other[2] = {-2, 7};
    double y, g[2], h[4], got[2];
    wg_function *f = NULL;
    struct calling c = {NULL};
    wg_callable *k = NULL;
    (void)must(t, wg_function_record(t, product_of_two, NULL, 2, in, at, 1, &out, &f), &f);
    assert_int_equal(wg_callable_new(t, f, &k), WG_OK);
    wg_function_free(f);
    c.k = k;
    assert_int_equal(wg_gradient(t, calls_a_product, &c, 2, at, &y, g), WG_OK);
    assert_true(y == 75 && g[0] == 25 && g[1] == 15);
    assert_int_equal(wg_hessian(t, calls_a_product, &c, 2, at, &y, g, h, 2), WG_OK);
    f = recorded(t, calls_a_product, &c, 2, 1, at);
    assert_int_equal(graph_walk(f, other, &y), 0);
    assert_true(y == -98);
    f = next(t, wg_function_gradient, f);
    assert_int_equal(graph_walk(f, other, got), 0);
    assert_true(got[0] == 49 && got[1] == -14);
    wg_function_free(f);
    wg_callable_free(k);
    wg_tape_free(t);
}

/* ---- a user's operation ---- */

WG_OPERATION1(straight_through, rint(a), 1, 0, GUARD, "test")
WG_OPERATION1(cubed, a *a *a, 3 * a * a, 6 * a, ARITH, "test")

static wg_status users(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(WG_CALL1(straight_through, x[0]), WG_CALL1(cubed, x[0])));
    return WG_OK;
}

static void derivatives_of_users_operations_are_the_users(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double x = 1.75;
    const double a = 2,
                 ref[] = {3 * x * x * a + x * x * x, 6 * x * a + 6 * x * x, 6 * a + 18 * x, 24};
    wg_function *f = recorded(t, users, NULL, 1, 1, &x);
    for (size_t k = 0; k < 4; k++) {
        double y;
        f = next(t, wg_function_gradient, f);
        assert_int_equal(graph_walk(f, &x, &y), 0);
        assert_true(fabs(y - ref[k]) <= TOL_DERIVATIVE_ULP * DBL_EPSILON * ref[k]);
    }
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- guards ---- */

static wg_status branching(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_lt(t, x[0], wg_constant(1)) ? wg_let(t, wg_mul(2, x[0]))
                                          : wg_let(t, wg_mul(-7, x[0]));
    return WG_OK;
}
static wg_status five(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)data;
    y[0] = wg_constant(5);
    return WG_OK;
}

static void a_guard_that_becomes_a_number_is_still_looked_at(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const wg_argument u = {"u", 1, 1, 0}, y = {"y", 1, 1, 0}, x = {"x", 1, 1, 0};
    const double at = 0;
    wg_function *outer = NULL, *inner = NULL, *both = NULL;
    (void)must(t, wg_function_record(t, branching, NULL, 1, &u, &at, 1, &y, &outer), &outer);
    (void)must(t, wg_function_record(t, five, NULL, 1, &x, &at, 1, &u, &inner), &inner);
    assert_int_equal(wg_function_compose(t, outer, inner, &both), WG_EGUARD);
    assert_null(both);
    wg_function_free(outer);
    wg_function_free(inner);
    wg_tape_free(t);
}

/* A table of guards in which all had one place took minutes. */
static wg_status many_guards(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)n, (void)m, (void)data;
    y[0] = x[0];
    for (int i = 0; i < 100000; i++) {
        y[0] = wg_let(t, wg_sin(y[0]));
        (void)wg_lt(t, y[0], wg_constant(2 + i));
    }
    return WG_OK;
}

static void many_guards_are_told_apart(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double x = 0.3;
    wg_function *f = recorded(t, many_guards, NULL, 1, 1, &x);
    wg_function_stats s;
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    assert_int_equal(s.guards, 100000);
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- sums and points in one Jacobian ---- */

static wg_status two_powers(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_square(x[0]));
    y[1] = wg_let(t, wg_cube(x[0]));
    return WG_OK;
}

static void jacobians_of_several_sums_are_one_per_point(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const wg_argument x = {"x", 1, 1, 0};
    const wg_argument out[] = {{"a", 1, 1, WG_SUMMED}, {"b", 1, 1, WG_SUMMED}};
    const double at[3] = {1, 2, -3};
    double a[3], b[3];
    wg_function *f = NULL;
    (void)must(t, wg_function_record(t, two_powers, NULL, 1, &x, at, 2, out, &f), &f);
    f = next(t, wg_function_jacobian, f);
    const wg_points from = {at, 1, 1};
    const wg_results to[] = {{a, 1, 1}, {b, 1, 1}};
    void *work = malloc(wg_function_work(f, NULL));
    assert_int_equal(wg_function_evaluate(f, 3, &from, to, NULL, work, NULL), WG_OK);
    for (int p = 0; p < 3; p++) assert_true(a[p] == 2 * at[p] && b[p] == 3 * at[p] * at[p]);
    free(work);
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- array operations at the ends of the range ---- */

static wg_status log_of_sum(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)m, (void)data;
    y[0] = wg_logsumexp(t, n, x);
    return WG_OK;
}
static wg_status largest(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)m, (void)data;
    y[0] = wg_maximum(t, n, x);
    return WG_OK;
}

static void shares_are_those_of_the_tape_at_infinities(void **state) {
    (void)state;
    static const double x[][3] = {{-INFINITY, -INFINITY, -INFINITY},
                                  {INFINITY, 0, 1},
                                  {INFINITY, INFINITY, 1},
                                  {-INFINITY, 0, 1},
                                  {1e9, 1e9 + 1, 3},
                                  {1e300, 1, -1e300}};
    wg_tape *t = code_tape();
    for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
        double y, g[3], got[3];
        assert_int_equal(wg_gradient(t, log_of_sum, NULL, 3, x[k], &y, g), WG_OK);
        wg_function *f =
            next(t, wg_function_gradient, recorded(t, log_of_sum, NULL, 3, 1, x[k]));
        assert_int_equal(graph_walk(f, x[k], got), 0);
        for (int i = 0; i < 3; i++)
            if (!(fabs(got[i] - g[i]) <= TOL_DERIVATIVE_ULP * DBL_EPSILON))
                fail_msg("logsumexp %zu: partial %d is %g, the tape has %g", k, i, got[i],
                         g[i]);
        wg_function_free(f);
    }
    wg_tape_free(t);
}

/* The parts that all partials share are made once. */
static void partials_of_long_arrays_are_linear_in_their_length(void **state) {
    (void)state;
    enum { LONG = 20000 };
    static double x[LONG];
    static wg_callback *const by[] = {log_of_sum, largest};
    wg_tape *t = code_tape();
    for (size_t i = 0; i < LONG; i++) x[i] = (double)(i % 1000);
    for (size_t k = 0; k < 2; k++) {
        wg_function *f = next(t, wg_function_gradient, recorded(t, by[k], NULL, LONG, 1, x));
        assert_true(operations(f) < 16 * LONG);
        wg_function_free(f);
    }
    wg_tape_free(t);
}

/* ---- Hessians of recordings with matrices ---- */

static wg_status inverse_squared(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    const size_t side = (size_t)sqrt((double)n);
    (void)m, (void)data;
    const wg_mat a = wg_inverse(t, wg_mat_gather(t, side, side, x));
    y[0] = wg_mat_sum(t, wg_mat_mul(t, a, a));
    return WG_OK;
}

static void hessians_of_matrix_operations_take_their_memory_by_columns(void **state) {
    (void)state;
    enum { SIDE = 12, ENTRIES = SIDE * SIDE };
    static double x[ENTRIES], h[ENTRIES * ENTRIES], g[ENTRIES], v[ENTRIES], hv[ENTRIES];
    const wg_options o = {.flags = WG_KEEP_CODE, .budget = (size_t)1 << 28};
    wg_tape *t = wg_tape_new(&o);
    double y, largest_entry = 0;
    for (size_t i = 0; i < ENTRIES; i++) {
        x[i] = i % (SIDE + 1) == 0 ? 3 : 0.1 * sin((double)i);
        v[i] = cos((double)i);
    }
    assert_int_equal(wg_hessian(t, inverse_squared, NULL, ENTRIES, x, &y, g, h, ENTRIES),
                     WG_OK);
    assert_int_equal(wg_hvp(t, inverse_squared, NULL, ENTRIES, x, v, &y, g, hv), WG_OK);
    for (size_t i = 0; i < ENTRIES * ENTRIES; i++)
        largest_entry = fmax(largest_entry, fabs(h[i]));
    assert_true(largest_entry > 0);
    for (size_t i = 0; i < ENTRIES; i++) {
        double sum = 0;
        for (size_t j = 0; j < ENTRIES; j++) {
            assert_true(h[i * ENTRIES + j] == h[j * ENTRIES + i]);
            sum += h[i * ENTRIES + j] * v[j];
        }
        assert_true(fabs(sum - hv[i]) <=
                    TOL_PROGRAM_ULP * ENTRIES * DBL_EPSILON * largest_entry);
    }
    wg_tape_free(t);
}

static wg_status eigenvalue(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_at(wg_eigvalsh(t, wg_mat_gather(t, 2, 2, x)), 0, 0);
    return WG_OK;
}

static void refused_hessians_name_the_operation(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double x[4] = {2, 1, 1, 3};
    double y, g[4], h[16];
    assert_int_equal(wg_hessian(t, eigenvalue, NULL, 4, x, &y, g, h, 4), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "wg_hessian"));
    assert_non_null(strstr(wg_tape_message(t), "wg_eigvalsh"));
    wg_tape_free(t);
}

/* An input twice, and a constant among the inputs. */
static void inputs_of_a_hessian_may_repeat(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double at[2] = {0.7, -0.4}, v[4] = {1, 2, 3, 5};
    wg_real x[2], y;
    double h[16], hv[4], h0[4];
    assert_int_equal(wg_inputs(t, 2, at, x), WG_OK);
    const wg_real list[4] = {x[0], x[1], x[0], wg_constant(3)};
    const wg_mat a = wg_mat_gather(t, 2, 1, x);
    y = wg_mat_sum(t, wg_mat_mul(t, a, wg_mat_exp(t, a)));
    y = wg_let(t, wg_mul(y, x[1]));
    assert_int_equal(wg_tape_hessian(t, y, 2, x, h0, 2), WG_OK);
    assert_int_equal(wg_tape_hessian(t, y, 4, list, h, 4), WG_OK);
    assert_int_equal(wg_tape_hvp(t, y, 4, list, v, hv), WG_OK);
    assert_true(h[2] == h0[0] && h[10] == h0[0] && h[1] == h0[1] && h[15] == 0 && h[3] == 0);
    assert_true(fabs(hv[0] - (4 * h0[0] + 2 * h0[1])) <= TOL_PROGRAM_ULP * DBL_EPSILON * 10);
    assert_true(hv[2] == hv[0] && hv[3] == 0);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guard_that_becomes_a_number_is_still_looked_at),
        cmocka_unit_test(many_guards_are_told_apart),
        cmocka_unit_test(jacobians_of_several_sums_are_one_per_point),
        cmocka_unit_test(shares_are_those_of_the_tape_at_infinities),
        cmocka_unit_test(partials_of_long_arrays_are_linear_in_their_length),
        cmocka_unit_test(hessians_of_matrix_operations_take_their_memory_by_columns),
        cmocka_unit_test(refused_hessians_name_the_operation),
        cmocka_unit_test(inputs_of_a_hessian_may_repeat),
        cmocka_unit_test(passive_inputs_follow_their_variable_without_derivative),
        cmocka_unit_test(third_derivatives_of_every_row_equal_differences_of_the_second),
        cmocka_unit_test(orders_end_where_the_table_of_operations_says),
        cmocka_unit_test(the_eighth_derivative_is_sixteen_times_the_function),
        cmocka_unit_test(taylor_coefficients_are_those_of_the_oracle),
        cmocka_unit_test(perturbations_are_not_confused),
        cmocka_unit_test(the_four_orders_of_modes_agree),
        cmocka_unit_test(only_what_is_exact_is_simplified),
        cmocka_unit_test(what_is_a_number_here_may_be_differentiated_there),
        cmocka_unit_test(a_join_computes_what_is_common_once),
        cmocka_unit_test(names_that_are_taken_get_a_number),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(derivatives_of_users_operations_are_the_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

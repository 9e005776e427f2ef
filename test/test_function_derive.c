/* SPDX-License-Identifier: MIT */
/* test_function_derive.c - functions from functions: derivatives of any order, nested in any
 * mode, against differences, the oracle and closed forms. */
#include "derive_case.h"

#include <float.h>
#include <math.h>

#include "graph_walk.h"
#include "oracle_text.h"
#include "scalar_rows.h"
#include "second_kernel.h"
#include "tolerance.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

enum { MOST = 64 };

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_the_tape_at_infinities),
        cmocka_unit_test(partials_of_long_arrays_are_linear_in_their_length),
        cmocka_unit_test(third_derivatives_of_every_row_equal_differences_of_the_second),
        cmocka_unit_test(orders_end_where_the_table_of_operations_says),
        cmocka_unit_test(the_eighth_derivative_is_sixteen_times_the_function),
        cmocka_unit_test(taylor_coefficients_are_those_of_the_oracle),
        cmocka_unit_test(perturbations_are_not_confused),
        cmocka_unit_test(the_four_orders_of_modes_agree),
        cmocka_unit_test(derivatives_of_users_operations_are_the_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

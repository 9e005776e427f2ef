/* SPDX-License-Identifier: MIT */
/* test_function_derive_rules.c - functions from functions: what is simplified, joined and cut
 * down, what is refused; guards, passive inputs, sums, Hessians of recordings with matrices. */
#include "derive_case.h"

#include <float.h>
#include <math.h>

#include "graph_walk.h"
#include "tolerance.h"

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

/* The slope of a choice asks which side was taken, not what the sides are. */
static wg_status chosen(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    const wg_real left = wg_let(t, wg_add(wg_mul(3, x[0]), wg_exp(x[1])));
    y[0] = wg_let(t, wg_select_lt(x[0], x[1], left, wg_mul(5, x[0])));
    return WG_OK;
}

static void derivatives_of_a_choice_leave_its_sides_out(void **state) {
    (void)state;
    static const double at[2][2] = {{0.25, 0.5}, {0.5, 0.25}};
    wg_tape *t = code_tape();
    const wg_argument in[] = {{"x", 1, 1, 0}, {"u", 1, 1, WG_PASSIVE}};
    const wg_argument out = {"y", 1, 1, 0};
    wg_function *f = NULL;
    wg_function_stats s;
    (void)must(t, wg_function_record(t, chosen, NULL, 2, in, at[0], 1, &out, &f), &f);
    f = next(t, wg_function_gradient, f);
    for (int k = 0; k < 2; k++) {
        double slope;
        assert_int_equal(graph_walk(f, at[k], &slope), 0);
        assert_true(slope == (k == 0 ? 3 : 5));
    }
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    assert_int_equal(s.each, 5); /* two slopes, times 3, times 5, their sum */
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

/* Of a user's function of numbers only the slope is known. */
static double slope(void *data, double x) {
    (void)data;
    return cos(x);
}
static wg_status mapped(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_at(wg_mat_map(t, slope, slope, NULL, wg_mat_gather(t, 2, 2, x)), 0, 0);
    return WG_OK;
}

static void refused_hessians_name_the_operation(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double x[4] = {2, 1, 1, 3};
    double y, g[4], h[16];
    assert_int_equal(wg_hessian(t, mapped, NULL, 4, x, &y, g, h, 4), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "wg_hessian"));
    assert_non_null(strstr(wg_tape_message(t), "wg_mat_map"));
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
        cmocka_unit_test(hessians_of_matrix_operations_take_their_memory_by_columns),
        cmocka_unit_test(refused_hessians_name_the_operation),
        cmocka_unit_test(inputs_of_a_hessian_may_repeat),
        cmocka_unit_test(passive_inputs_follow_their_variable_without_derivative),
        cmocka_unit_test(only_what_is_exact_is_simplified),
        cmocka_unit_test(derivatives_of_a_choice_leave_its_sides_out),
        cmocka_unit_test(what_is_a_number_here_may_be_differentiated_there),
        cmocka_unit_test(a_join_computes_what_is_common_once),
        cmocka_unit_test(names_that_are_taken_get_a_number),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

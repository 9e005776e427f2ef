/* SPDX-License-Identifier: MIT */
/* Hessians of functions, made in one sweep: against the Jacobian of a gradient. */
#include "counted.h"
#include "driver_cases.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { N = 4 };

static const double at[N] = {0.75, 1.25, 0.5, 2.0};

/* Operands that are one node, several ways from one to the other, and none at all. */
static wg_status twice_the_same(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *user) {
    (void)n, (void)m, (void)user;
    const wg_real a = wg_let(t, wg_mul(x[0], x[1])), b = wg_let(t, wg_mul(a, a));
    const wg_real c = wg_let(t, wg_fma(b, b, a)), d = wg_let(t, wg_fma(x[2], a, x[2]));
    const wg_real e = wg_let(t, wg_pow(x[0], x[0]));
    const wg_real f = wg_let(t, wg_div(wg_add(c, c), wg_mul(d, wg_sub(d, a))));
    y[0] = wg_let(t, wg_add(wg_mul(e, f), wg_mul(wg_neg(e), wg_add(a, x[3]))));
    return WG_OK;
}

static wg_status of_all_kinds(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *user) {
    (void)n, (void)m, (void)user;
    const wg_real a = wg_let(t, wg_exp(wg_mul(x[0], wg_sin(x[1]))));
    const wg_real b = wg_let(t, wg_select_lt(a, x[3], wg_mul(a, x[2]), wg_sqrt(a)));
    const wg_real c = wg_let(t, wg_tanh(wg_sub(b, wg_square(x[3]))));
    const wg_real d = wg_let(t, wg_hypot(b, wg_atan2(c, wg_log(x[3]))));
    y[0] = wg_let(t, wg_add(wg_mul(c, d), wg_mul(wg_fabs(x[2]), wg_fmax(a, b))));
    return WG_OK;
}

static wg_status straight(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_sub(wg_mul(3, x[0]), wg_add(x[3], 1)));
    return WG_OK;
}

/* An input, its square, and a number. */
static wg_status three(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    y[0] = x[1];
    y[1] = wg_let(t, wg_mul(wg_square(x[1]), wg_exp(x[2])));
    y[2] = wg_constant(2);
    return WG_OK;
}

/* Entries of outputs, one after the other; each at one point. */
static void evaluate(const wg_function *f, const wg_points *x, double *y) {
    static char work[1 << 22] __attribute__((aligned(64)));
    wg_results to[16];
    const size_t outputs = wg_function_outputs(f);
    assert_true(outputs <= 16 && wg_function_work(f, NULL) <= sizeof work);
    for (size_t k = 0; k < outputs; k++) {
        const wg_argument *const a = wg_function_output(f, k);
        to[k] = (wg_results){y, 0, 1};
        y += a->rows * a->cols;
    }
    assert_int_equal(wg_function_evaluate(f, 1, x, to, NULL, work, NULL), WG_OK);
}

static void assert_alike(size_t n, const double *got, const double *expected) {
    double most = 1;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - expected[i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * most))
            fail_msg("entry %zu: %.17g and %.17g", i, got[i], expected[i]);
}

static wg_function *made(wg_status (*by)(wg_tape *, const wg_function *, wg_function **),
                         const wg_function *f) {
    wg_function *g = NULL;
    if (by(coded, f, &g) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    return g;
}

static void a_hessian_is_the_jacobian_of_the_gradient(void **state) {
    (void)state;
    static wg_callback *const list[] = {twice_the_same, of_all_kinds, straight};
    const wg_argument in[] = {{"x", N, 1, 0}}, out = {"y", 1, 1, 0};
    const wg_points x = {at, 0, 1};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        double h[N * N], j[N * N];
        wg_function *f = NULL;
        assert_int_equal(wg_function_record(coded, list[k], NULL, 1, in, at, 1, &out, &f),
                         WG_OK);
        wg_function *const g = made(wg_function_gradient, f), *const hess =
                                                                  made(wg_function_hessian, f);
        wg_function *const jac = made(wg_function_jacobian, g);
        evaluate(hess, &x, h);
        evaluate(jac, &x, j);
        assert_alike(N * N, h, j);
        for (size_t i = 0; i < N * N; i++) assert_true(h[i] == h[i % N * N + i / N]);
        wg_function_free(f);
        wg_function_free(g);
        wg_function_free(hess);
        wg_function_free(jac);
    }
}

static void inputs_that_are_passive_have_no_row(void **state) {
    (void)state;
    const wg_argument all[] = {{"x", N, 1, 0}}, out = {"y", 1, 1, 0};
    const wg_argument in[] = {{"a", 1, 1, 0}, {"b", 1, 1, WG_PASSIVE}, {"c", 2, 1, 0}};
    const wg_points one = {at, 0, 1}, x[] = {{at, 0, 1}, {at + 1, 0, 1}, {at + 2, 0, 1}};
    static const size_t place[] = {0, 2, 3};
    double h[9], whole[N * N];
    wg_function *f = NULL, *g = NULL;
    assert_int_equal(wg_function_record(coded, of_all_kinds, NULL, 1, all, at, 1, &out, &f),
                     WG_OK);
    assert_int_equal(wg_function_record(coded, of_all_kinds, NULL, 3, in, at, 1, &out, &g),
                     WG_OK);
    wg_function *const hf = made(wg_function_hessian, f), *const hg =
                                                              made(wg_function_hessian, g);
    evaluate(hf, &one, whole);
    evaluate(hg, x, h);
    for (size_t i = 0; i < 9; i++) assert_true(h[i] == whole[place[i / 3] * N + place[i % 3]]);
    wg_function_free(f);
    wg_function_free(g);
    wg_function_free(hf);
    wg_function_free(hg);
}

static void outputs_are_weighed(void **state) {
    (void)state;
    static const double w[] = {5, 0.5, 7};
    const wg_argument in[] = {{"x", N, 1, 0}}, out = {"y", 3, 1, 0};
    const wg_points x[] = {{at, 0, 1}, {w, 0, 1}};
    double h[N * N];
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(coded, three, NULL, 1, in, at, 1, &out, &f), WG_OK);
    wg_function *const hess = made(wg_function_hessian, f);
    evaluate(hess, x, h);
    double expected[N * N] = {0};
    expected[N + 1] = 2 * 0.5 * exp(at[2]);
    expected[N + 2] = expected[2 * N + 1] = 2 * 0.5 * at[1] * exp(at[2]);
    expected[2 * N + 2] = 0.5 * at[1] * at[1] * exp(at[2]);
    assert_alike(N * N, h, expected);
    wg_function_free(f);
    wg_function_free(hess);
}

/* The Hessian of a directional derivative: operations that are partials themselves. */
static void derivatives_have_hessians(void **state) {
    (void)state;
    const wg_argument in[] = {{"x", N, 1, 0}}, out = {"y", 1, 1, 0};
    static const double v[N] = {1, -0.5, 0.25, 2};
    const wg_points x[] = {{at, 0, 1}, {v, 0, 1}};
    double h[4 * N * N], j[4 * N * N];
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(coded, of_all_kinds, NULL, 1, in, at, 1, &out, &f),
                     WG_OK);
    wg_function *const d = made(wg_function_jvp, f), *const hess = made(wg_function_hessian, d);
    wg_function *const g = made(wg_function_gradient, d), *const jac =
                                                              made(wg_function_jacobian, g);
    evaluate(hess, x, h);
    evaluate(jac, x, j); /* dx by x, dx by v, dv by x, dv by v */
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 2; b++)
            for (size_t i = 0; i < N; i++)
                assert_alike(N, h + ((a * N + i) * 2 + b) * N, j + (a * 2 + b) * N * N + i * N);
    wg_function_free(f);
    wg_function_free(d);
    wg_function_free(g);
    wg_function_free(hess);
    wg_function_free(jac);
}

/* A form of all inputs takes a few operations for each pair of them, where a sweep for each
 * column takes a gradient each; of its square it is the other way round. */
enum { LONG = 24 };
static wg_status form(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    wg_real sum = wg_constant(0);
    (void)m;
    for (size_t i = 0; i < n; i++) {
        wg_real row = wg_constant(0);
        for (size_t j = 0; j < n; j++)
            row = wg_let(t, wg_add(row, wg_mul(1.0 / (double)(i + j + 1), x[j])));
        sum = wg_let(t, wg_fma(x[i], row, sum));
    }
    y[0] = user == NULL ? wg_let(t, wg_mul(sum, wg_exp(x[0]))) : wg_let(t, wg_square(sum));
    return WG_OK;
}

static void the_way_of_less_work_is_taken(void **state) {
    (void)state;
    static double x[LONG], h[LONG * LONG], j[LONG * LONG];
    const wg_argument in[] = {{"x", LONG, 1, 0}}, out = {"y", 1, 1, 0};
    const wg_points at_x = {x, 0, 1};
    for (size_t i = 0; i < LONG; i++) x[i] = 1 + 0.1 * (double)(i % 5);
    for (int squared = 0; squared < 2; squared++) {
        wg_function_stats of_gradient, of_hessian;
        wg_function *f = NULL;
        assert_int_equal(
            wg_function_record(coded, form, squared ? x : NULL, 1, in, x, 1, &out, &f), WG_OK);
        wg_function *const g = made(wg_function_gradient, f), *const hess =
                                                                  made(wg_function_hessian, f);
        wg_function *const jac = made(wg_function_jacobian, g);
        assert_int_equal(wg_function_statistics(g, &of_gradient), WG_OK);
        assert_int_equal(wg_function_statistics(hess, &of_hessian), WG_OK);
        assert_true(of_hessian.each < (squared ? LONG / 2 : LONG / 8) * of_gradient.each);
        evaluate(hess, &at_x, h);
        evaluate(jac, &at_x, j);
        assert_alike(LONG * LONG, h, j);
        wg_function_free(f);
        wg_function_free(g);
        wg_function_free(hess);
        wg_function_free(jac);
    }
}

static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    double x[LONG];
    const wg_argument in[] = {{"x", LONG, 1, 0}}, out = {"y", 1, 1, 0};
    wg_status got = WG_ENOMEM;
    for (size_t i = 0; i < LONG; i++) x[i] = 1;
    for (size_t fail_at = 2; got != WG_OK; fail_at++) {
        struct counted memory = counted_start();
        const wg_options opt = {
            .memory = counted_memory(&memory), .reserve = 1 << 16, .flags = WG_KEEP_CODE};
        assert_true(fail_at < 1000);
        memory.fail_at = fail_at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&opt);
        assert_non_null(t);
        wg_function *f = NULL, *h = NULL;
        got = wg_function_record(t, form, NULL, 1, in, x, 1, &out, &f);
        if (got == WG_OK) got = wg_function_hessian(t, f, &h);
        assert_true((got == WG_OK) == (h != NULL));
        if (got != WG_OK) assert_int_equal(got, WG_ENOMEM);
        wg_function_free(f);
        wg_function_free(h);
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
}

static wg_status of_a_pole(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *which) {
    (void)n, (void)m;
    switch (*(const int *)which) {
    case 0:
        y[0] = wg_let(t, wg_sqrt(x[0]));
        break;
    case 1:
        y[0] = wg_let(t, wg_log(x[0]));
        break;
    case 2:
        y[0] = wg_let(t, wg_log2(x[0]));
        break;
    default:
        y[0] = wg_let(t, wg_log10(x[0]));
    }
    return WG_OK;
}

/* At both zeros and beside them; a function's is made of texts of partials. */
static void at_a_pole_a_function_bends_as_the_tape_does(void **state) {
    (void)state;
    static const double zeros[] = {0.0, -0.0, 0x1p-1000, 2.0};
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    const double one = 1;
    for (int which = 0; which < 4; which++) {
        wg_function *f = NULL;
        assert_int_equal(
            wg_function_record(coded, of_a_pole, &which, 1, &in, &one, 1, &out, &f), WG_OK);
        wg_function *const h = made(wg_function_hessian, f);
        for (size_t k = 0; k < sizeof zeros / sizeof *zeros; k++) {
            const wg_points x = {zeros + k, 0, 1};
            double value, g, hv, got;
            assert_int_equal(
                wg_hvp(coded, of_a_pole, &which, 1, zeros + k, &one, &value, &g, &hv), WG_OK);
            evaluate(h, &x, &got);
            assert_true(hv < 0 && (k > 1 || hv == -INFINITY));
            if (k < 2) assert_true(got == hv);
            else assert_true(fabs(got - hv) <= 4 * DBL_EPSILON * fabs(hv) || got == hv);
        }
        wg_function_free(h), wg_function_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hessian_is_the_jacobian_of_the_gradient),
        cmocka_unit_test(inputs_that_are_passive_have_no_row),
        cmocka_unit_test(outputs_are_weighed),
        cmocka_unit_test(derivatives_have_hessians),
        cmocka_unit_test(the_way_of_less_work_is_taken),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
        cmocka_unit_test(at_a_pole_a_function_bends_as_the_tape_does),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

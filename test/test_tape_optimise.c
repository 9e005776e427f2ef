/* SPDX-License-Identifier: MIT */
/* test_tape_optimise.c - minima that are known: of callbacks, matrices and functions, free and
 * within bounds. */
#include "optimise_case.h"

static void assert_minimum(const char *name, wg_callback *f, size_t n, double *x,
                           const double *minimum, double value, wg_method method) {
    const wg_minimise_options o = by_method(method);
    wg_minimise_result r;
    double start = 0, g[100];
    assert_ok(coded, wg_gradient(coded, f, NULL, n, x, &start, g));
    assert_ok(coded, wg_minimise(coded, f, NULL, n, x, &o, &r));
    if (r.why != WG_STOP_GRADIENT || !r.converged)
        fail_msg("%s by %s: %s", name, wg_method_text(method), wg_stop_text(r.why));
    assert_near(n, x, minimum, TOL_MINIMUM);
    assert_true(fabs(r.value - value) <= TOL_MINIMUM && r.value < start);
    assert_true(r.gradient <= o.gradient && r.evaluations > r.steps && r.steps > 0);
    assert_int_equal(r.products != 0, method == WG_NEWTON_CG);
    /* what the result says is so */
    double again = 0;
    assert_ok(coded, wg_gradient(coded, f, NULL, n, x, &again, g));
    assert_true(again == r.value);
}

static void every_method_finds_known_minima(void **state) {
    static const struct {
        const char *name;
        wg_callback *f;
        double start[2], minimum[2], value;
    } problem[] = {{"Beale", beale, {1, 1}, {3, 0.5}, 0},
                   {"Booth", booth, {-5, 5}, {1, 3}, 0},
                   {"Goldstein-Price", goldstein_price, {-0.3, -0.7}, {0, -1}, 3},
                   {"Rosenbrock", rosenbrock, {-1.2, 1}, {1, 1}, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof problem / sizeof *problem; i++)
        for (int method = 0; method < WG_METHOD_COUNT; method++) {
            double x[2] = {problem[i].start[0], problem[i].start[1]};
            /* rounding of its value is all that descent sees of the last digits */
            if (method == WG_DESCENT && problem[i].f == goldstein_price) continue;
            assert_minimum(problem[i].name, problem[i].f, 2, x, problem[i].minimum,
                           problem[i].value, (wg_method)method);
        }
}

static void a_hundred_variables_take_steps_not_hundreds(void **state) {
    enum { N = 100 };
    double x[N], one[N];
    (void)state;
    for (int method = 0; method < WG_DESCENT; method++) {
        const wg_minimise_options o = by_method((wg_method)method);
        wg_minimise_result r;
        for (int i = 0; i < N; i++) x[i] = i % 2 ? 1 : -1.2, one[i] = 1;
        assert_ok(coded, wg_minimise(coded, rosenbrock, NULL, N, x, &o, &r));
        assert_near(N, x, one, TOL_MINIMUM);
        assert_true(r.converged && r.steps < 100);
    }
    wg_minimise_result r;
    for (int i = 0; i < N; i++) x[i] = i % 2 ? 1 : -1.2;
    assert_ok(tape, wg_fit(tape, rosenbrock_residuals, NULL, N, N, x, NULL, &r, NULL));
    assert_near(N, x, one, TOL_FIT);
    assert_true(r.converged && r.steps < 100);
}

static void a_quadratic_takes_newton_at_most_as_many_steps_as_variables(void **state) {
    enum { N = 12 };
    (void)state;
    for (int method = 0; method < WG_DESCENT; method++) {
        double x[N] = {0}, minimum[N];
        const wg_minimise_options o = {.method = (wg_method)method, .memory = N};
        wg_minimise_result r;
        for (int i = 0; i < N; i++) minimum[i] = i;
        assert_ok(coded, wg_minimise(coded, bowl, NULL, N, x, &o, &r));
        assert_near(N, x, minimum, 1e-6);
        assert_true(r.steps <= (method == WG_NEWTON_CG ? N : 2 * N));
    }
}

/* ---- matrices and functions ---- */

static const double matrix[9] = {4, 1, 0, 1, 3, 1, 0, 1, 2}; /* symmetric, positive definite */

/* |A X - A B|^2 / 2 for the unknown B of data, at x[0]; x[1] shall be 7. */
static wg_status distance(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                          void *data) {
    const wg_mat a = wg_mat_constant(t, 3, 3, matrix, 3);
    const wg_mat b = wg_mat_constant(t, 3, 2, data, 3);
    const wg_mat r = wg_matmul(t, a, wg_axpy(t, -1, b, x[0]));
    const wg_real away = wg_let(t, wg_sub(wg_mat_at(x[1], 0, 0), 7));
    (void)n, (void)m;
    y[0] = wg_mat_from_real(
        t, wg_let(t, wg_mul(0.5, wg_add(wg_mat_dot(t, r, r), wg_square(away)))));
    return WG_OK;
}

static void matrices_are_found_where_they_stand(void **state) {
    double b[6] = {1, -2, 3, 0.5, 4, -1};
    (void)state;
    for (int method = 0; method < WG_METHOD_COUNT; method++) {
        double a[8] = {0, 0, 0, -9, 0, 0, 0, -9}, s = 0; /* leading dimension 4 */
        const double far = 7;
        const wg_mat_result x[2] = {{a, 3, 2, 4}, {&s, 1, 1, 0}};
        const wg_minimise_options o = by_method((wg_method)method);
        wg_minimise_result r;
        assert_ok(coded, wg_mat_minimise(coded, distance, b, 2, x, &o, &r));
        assert_true(r.converged);
        assert_near(3, a, b, TOL_MINIMUM);
        assert_near(3, a + 4, b + 3, TOL_MINIMUM);
        assert_near(1, &s, &far, TOL_MINIMUM);
        assert_true(a[3] == -9 && a[7] == -9);
    }
}

enum { POINTS = 40 };
static double at[POINTS], seen[POINTS];

static void observe(void) {
    for (int i = 0; i < POINTS; i++) {
        at[i] = 0.1 * i;
        seen[i] = 2.5 * exp(-1.3 * at[i]) + 0.7 + 0.01 * sin(40.0 * i);
    }
}

/* b[0] exp(-b[1] t) + b[2] - y at one point: inputs b of 3, t, y. */
static wg_status decay(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m;
    const wg_real model =
        wg_let(t, wg_add(wg_mul(x[0], wg_exp(wg_neg(wg_mul(x[1], x[3])))), x[2]));
    y[0] = wg_let(t, wg_sub(model, x[4]));
    if (data != NULL) y[0] = wg_let(t, wg_square(y[0]));
    return WG_OK;
}

/* The same at all points, of tapes. */
static wg_status decays(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++) {
        const wg_real in[5] = {x[0], x[1], x[2], wg_constant(at[i]), wg_constant(seen[i])};
        (void)decay(t, 5, in, 1, &y[i], NULL);
    }
    return WG_OK;
}
static wg_status squares(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    wg_real r[POINTS], sum = wg_constant(0);
    (void)m;
    (void)decays(t, n, x, POINTS, r, data);
    for (int i = 0; i < POINTS; i++) sum = wg_let(t, wg_add(sum, wg_square(r[i])));
    y[0] = sum;
    return WG_OK;
}

static const wg_argument inputs[] = {
    {"b", 3, 1, WG_SHARED}, {"t", 1, 1, WG_PASSIVE}, {"y", 1, 1, WG_PASSIVE}};

static void functions_are_fitted_and_minimised_as_callbacks_are(void **state) {
    const double start[5] = {1, 1, 0, 0.5, 1};
    const wg_argument each = {"r", 1, 1, 0}, sum = {"s", 1, 1, WG_SUMMED};
    const wg_points in[3] = {{0}, {at, 1, 0}, {seen, 1, 0}};
    int squared = 1;
    double b[3], deviation[3], x[3], d[3];
    wg_minimise_result r, s;
    wg_threads *threads = NULL;
    (void)state;
    observe();
    wg_function *f = function_of(decay, NULL, 3, inputs, start, 1, &each);
    memcpy(b, start, sizeof b), memcpy(x, start, sizeof x);
    assert_ok(tape, wg_fit(tape, decays, NULL, POINTS, 3, b, NULL, &r, deviation));
    assert_ok(coded, wg_function_fit(coded, f, POINTS, in, NULL, x, NULL, &s, d));
    assert_true(r.converged && s.converged);
    assert_near(3, x, b, TOL_FIT);
    assert_near(3, d, deviation, TOL_FIT);
    assert_near(1, &s.value, &r.value, TOL_FIT);
    wg_function_free(f);

    f = function_of(decay, &squared, 3, inputs, start, 1, &sum);
    assert_int_equal(wg_threads_new(2, NULL, &threads), WG_OK);
    for (int method = 0; method < WG_DESCENT; method++) {
        const wg_minimise_options o = by_method((wg_method)method);
        memcpy(x, start, sizeof x);
        assert_ok(coded, wg_function_minimise(coded, f, POINTS, in, method ? threads : NULL, x,
                                              &o, &s));
        assert_true(s.converged);
        assert_near(3, x, b, 1e-7);
        memcpy(x, start, sizeof x);
        assert_ok(coded, wg_minimise(coded, squares, NULL, 3, x, &o, &s));
        assert_near(3, x, b, 1e-7);
    }
    wg_threads_free(threads);
    wg_function_free(f);
}

/* ---- bounds ---- */

struct boxed {
    const double *lower, *upper;
    int outside;
};

/* f of a box, which notes where it is evaluated outside. */
static wg_status boxed_rosenbrock(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    struct boxed *const box = data;
    for (size_t i = 0; i < n; i++)
        box->outside |= wg_value(x[i]) < box->lower[i] || wg_value(x[i]) > box->upper[i];
    return (m == 1 ? rosenbrock : rosenbrock_residuals)(t, n, x, m, y, NULL);
}

static void bounds_hold_what_would_leave_them(void **state) {
    const double lower[4] = {-2, -2, -2, 0.4}, upper[4] = {0.5, 2, 2, 0.49};
    /* pairs of Rosenbrock's: x = 0.5, y = x^2; y = 0.49 and x where 200 x
     * (x^2 - y) + x - 1 = 0 */
    double root = 0.7;
    for (int k = 0; k < 50; k++)
        root -= (200 * root * (root * root - 0.49) + root - 1) /
                (600 * root * root - 200 * 0.49 + 1);
    const double minimum[4] = {0.5, 0.25, root, 0.49};
    (void)state;
    for (int method = 0; method <= WG_METHOD_COUNT; method++) {
        double x[4] = {-1.2, 1, 1, 0.45}, d[4];
        struct boxed box = {lower, upper, 0};
        wg_minimise_options o = {0};
        wg_minimise_result r;
        if (method < WG_METHOD_COUNT) o = by_method((wg_method)method);
        o.lower = lower;
        o.upper = upper;
        if (method < WG_METHOD_COUNT)
            assert_ok(coded, wg_minimise(coded, boxed_rosenbrock, &box, 4, x, &o, &r));
        else assert_ok(coded, wg_fit(coded, boxed_rosenbrock, &box, 4, 4, x, &o, &r, d));
        if (!r.converged) fail_msg("method %d: %s", method, wg_stop_text(r.why));
        assert_near(4, x, minimum, TOL_MINIMUM);
        assert_true(x[0] == 0.5 && x[3] == 0.49 && !box.outside);
        /* held parameters have no deviation */
        if (method == WG_METHOD_COUNT)
            assert_true(d[0] != d[0] && d[3] != d[3] && d[1] > 0 && d[2] > 0);
    }
}

/* Random convex quadratics in random boxes: the conditions of a minimum, by a plain loop. */
struct quadratic {
    size_t n;
    double h[64], c[8];
};
static wg_status quadratic(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const struct quadratic *const q = data;
    wg_real sum = wg_constant(0);
    (void)m;
    for (size_t i = 0; i < n; i++) {
        wg_real row = wg_constant(q->c[i]);
        for (size_t j = 0; j < n; j++)
            row = wg_let(t, wg_add(row, wg_mul(q->h[i * n + j] / 2, x[j])));
        sum = wg_let(t, wg_add(sum, wg_mul(row, x[i])));
    }
    y[0] = sum;
    return WG_OK;
}
static double uniform(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (double)(*s >> 11) * 0x1p-53;
}

static void random_boxes_end_where_the_conditions_of_a_minimum_hold(void **state) {
    enum { N = 8 };
    uint64_t s = 5;
    size_t held = 0;
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct quadratic q = {.n = N};
        double b[N * N], lower[N], upper[N], x[N];
        for (int i = 0; i < N * N; i++) b[i] = 2 * uniform(&s) - 1;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                q.h[i * N + j] = i == j ? 0.1 : 0;
                for (int k = 0; k < N; k++) q.h[i * N + j] += b[k * N + i] * b[k * N + j];
            }
        for (int i = 0; i < N; i++) {
            q.c[i] = 4 * uniform(&s) - 2;
            lower[i] = i % 3 == 0 ? -INFINITY : -uniform(&s);
            upper[i] = i % 3 == 1 ? INFINITY : i == 5 ? lower[i] : uniform(&s);
            x[i] = fmin(fmax(lower[i], -0.01), upper[i]);
        }
        wg_minimise_options o = {.method = round % 2 ? WG_NEWTON_CG : WG_LBFGS};
        wg_minimise_result r;
        o.lower = lower, o.upper = upper, o.gradient = 1e-9;
        assert_ok(coded, wg_minimise(coded, quadratic, &q, N, x, &o, &r));
        if (r.why != WG_STOP_GRADIENT) fail_msg("round %d: %s", round, wg_stop_text(r.why));
        for (int i = 0; i < N; i++) {
            double g = q.c[i];
            for (int j = 0; j < N; j++) g += q.h[i * N + j] * x[j];
            assert_true(x[i] >= lower[i] && x[i] <= upper[i]);
            const int low = x[i] - lower[i] <= 1e-8, high = upper[i] - x[i] <= 1e-8;
            held += low || high;
            if ((g > 1e-8 && !low) || (g < -1e-8 && !high))
                fail_msg("round %d: x[%d] = %g, its slope %g", round, i, x[i], g);
        }
    }
    assert_true(held > 120); /* two in each box */
}

/* ---- few variables ---- */

static void no_variable_and_one_are_variables_enough(void **state) {
    (void)state;
    for (int method = 0; method < WG_METHOD_COUNT; method++) {
        wg_minimise_options o = by_method((wg_method)method);
        wg_minimise_result r;
        assert_ok(coded, wg_minimise(coded, bowl, NULL, 0, NULL, &o, &r));
        assert_true(r.value == 0 && r.gradient == 0 && r.steps == 0 && r.evaluations == 1);
        assert_int_equal(r.why, WG_STOP_GRADIENT);
        double x = 3;
        assert_ok(coded, wg_minimise(coded, bowl, NULL, 1, &x, &o, &r));
        assert_true(fabs(x) <= TOL_MINIMUM && r.converged);
    }
    wg_minimise_result r;
    double x = 4, deviation = 0;
    assert_ok(tape, wg_fit(tape, bowl, NULL, 1, 1, &x, NULL, &r, &deviation));
    assert_true(fabs(x) <= 1e-6 && deviation != deviation);
    assert_ok(tape, wg_fit(tape, wave, NULL, 0, 1, &x, NULL, &r, &deviation));
    assert_true(r.value == 0 && deviation != deviation);
    assert_int_equal(r.why, WG_STOP_UNDETERMINED);
    assert_ok(tape, wg_fit(tape, constant, NULL, 3, 0, NULL, NULL, &r, NULL));
    assert_true(r.steps == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_finds_known_minima),
        cmocka_unit_test(a_hundred_variables_take_steps_not_hundreds),
        cmocka_unit_test(a_quadratic_takes_newton_at_most_as_many_steps_as_variables),
        cmocka_unit_test(matrices_are_found_where_they_stand),
        cmocka_unit_test(functions_are_fitted_and_minimised_as_callbacks_are),
        cmocka_unit_test(bounds_hold_what_would_leave_them),
        cmocka_unit_test(random_boxes_end_where_the_conditions_of_a_minimum_hold),
        cmocka_unit_test(no_variable_and_one_are_variables_enough),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

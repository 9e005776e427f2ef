/* SPDX-License-Identifier: MIT */
/* Solutions that fail: with a status, the name of the call, the time reached, and NaN. */
#include "counted.h"
#include "ode_case.h"

#include <wengert/derive.h>

/* ---- right-hand sides that fail ---------------------------------------------------------- */

/* y' = y^2: infinite at 1 / y(0). */
static wg_status explode(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                         void *data) {
    (void)n, (void)m, (void)data;
    dy[0] = wg_let(t, wg_square(x[1]));
    return WG_OK;
}
/* sqrt(1 - t): NaN from 1 on. */
static wg_status leave(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                       void *data) {
    (void)n, (void)m, (void)data;
    dy[0] = wg_let(t, wg_sqrt(wg_sub(1, x[0])));
    return WG_OK;
}
/* The branch is that of y < 2. */
static wg_status branch(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                        void *data) {
    (void)n, (void)m, (void)data;
    dy[0] = wg_lt(t, x[1], 2) ? x[1] : wg_constant(1);
    return WG_OK;
}

typedef struct failure {
    const char *what;
    wg_callback *f;
    wg_ode_options o;
    double end;
    wg_status status;
    const char *message;
    double after, before; /* the time reached lies between */
} failure;

static const failure failures[] = {
    {"a pole",
     explode,
     {.rtol = 1e-6, .atol = 1e-9},
     2,
     WG_ECONVERGE,
     "step would be too small",
     0.99,
     1.01},
    {"a pole, by fixed steps",
     explode,
     {.method = WG_RK4, .step = 0.01},
     2,
     WG_ENONFINITE,
     "NaN or an infinity",
     0.99,
     1.2},
    {"a NaN", leave, {.rtol = 1e-6, .atol = 1e-9}, 2, WG_ENONFINITE, "however small", 0.9, 1},
    {"a NaN, by fixed steps",
     leave,
     {.method = WG_RK4, .step = 0.01},
     2,
     WG_ENONFINITE,
     "at time 1: ",
     0.99,
     1.01},
    {"a NaN, by leaps",
     leave,
     {.method = WG_DOPRI5, .step = 0.01},
     2,
     WG_ENONFINITE,
     "at time 1: ",
     0.99,
     1.01},
    {"a branch",
     branch,
     {.rtol = 1e-6, .atol = 1e-9},
     2,
     WG_EGUARD,
     "guard 0 of the right-hand side",
     0.5,
     0.9},
    {"too many steps",
     explode,
     {.rtol = 1e-9, .atol = 1e-9, .max_steps = 7},
     0.9,
     WG_ECONVERGE,
     "too many steps",
     0.01,
     0.8},
    {"too many fixed steps",
     explode,
     {.method = WG_RK4, .step = 0.01, .max_steps = 7},
     0.9,
     WG_ECONVERGE,
     "at time 0.07",
     0.06,
     0.08},
    {"a least step",
     explode,
     {.rtol = 1e-9, .atol = 1e-9, .min_step = 0.05},
     0.9,
     WG_ECONVERGE,
     "step would be too small",
     -1,
     0.9}};

static void failed_solutions_name_the_time(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        const failure *const c = &failures[i];
        wg_ode *const k = ode_of(rhs_of(c->f, 1, 0, 1), NULL);
        const double at[2] = {0, c->end}, one = 1;
        wg_ode_report report;
        wg_mat y;
        wg_tape_reset(tape);
        const wg_mat y0 = wg_mat_input(tape, 1, 1, &one, 1);
        const wg_status s =
            wg_ode_solve(tape, k, &c->o, 2, at, y0, wg_mat_failed(0, 0), &y, NULL, &report);
        if (s != c->status) fail_msg("%s gave %s", c->what, wg_status_text(s));
        assert_int_equal(wg_tape_status(tape), s);
        assert_message(tape, "wg_ode_solve of 1x1: ");
        assert_message(tape, c->message);
        if (!(report.reached >= c->after && report.reached <= c->before))
            fail_msg("%s: reached %g", c->what, report.reached);
        assert_true(y.rows == 1 && y.cols == 2);
        assert_nan(wg_value(wg_mat_at(y, 0, 0)));
        assert_nan(wg_value(wg_mat_at(y, 0, 1)));
        wg_tape_reset(tape);
        wg_ode_free(k);
    }
}

/* ---- arguments --------------------------------------------------------------------------- */

static void refused(const wg_ode *k, const wg_ode_options *o, size_t times, const double *time,
                    size_t n, size_t rows, size_t cols, wg_status expected,
                    const char *message) {
    const double x[64] = {1, 1, 1, 1};
    wg_mat y, r;
    wg_tape_reset(tape);
    const wg_status s = wg_ode_solve(tape, k, o, times, time, wg_mat_input(tape, n, 1, x, n),
                                     wg_mat_input(tape, rows, cols, x, rows), &y, &r, NULL);
    if (s != expected) fail_msg("%s: %s", message, wg_status_text(s));
    assert_message(tape, "wg_ode_solve");
    assert_message(tape, message);
    assert_nan(wg_value(wg_mat_at(y, 0, 0)));
    wg_tape_reset(tape);
}

static void arguments_that_do_not_fit_are_refused(void **state) {
    (void)state;
    wg_ode *const k = hunting(1);
    const double up[4] = {0, 1, 2, 3}, twice[3] = {0, 1, 1}, turn[3] = {0, 1, 0.5};
    const double endless[2] = {0, INFINITY}, nan[2] = {NAN, 1}, bad[2] = {1e-6, -1};
    const wg_ode_options rk4 = {.method = WG_RK4, .step = 0.1};
    refused(k, NULL, 0, up, 2, 5, 1, WG_EARG, "no times");
    refused(k, NULL, 2, NULL, 2, 5, 1, WG_ENULL, "times are NULL");
    refused(k, NULL, 3, twice, 2, 5, 1, WG_EARG, "time 2 is 1");
    refused(k, NULL, 3, turn, 2, 5, 1, WG_EARG, "time 2 is 0.5");
    refused(k, NULL, 2, endless, 2, 5, 1, WG_EARG, "time 1 is inf");
    refused(k, NULL, 2, nan, 2, 5, 1, WG_EARG, "time 0 is");
    refused(k, &rk4, 4, up, 3, 5, 1, WG_ESHAPE, "y0 is 3x1, not 2 states");
    refused(k, &rk4, 4, up, 2, 4, 1, WG_ESHAPE, "p is 4x1");
    refused(k, &rk4, 4, up, 2, 5, 2, WG_ESHAPE, "p is 5x2");
    const struct {
        wg_ode_options o;
        const char *message;
    } wrong[] = {
        {{.method = (wg_ode_method)77, .step = 1}, "no method 77"},
        {{.method = WG_RK4, .step = 0.1, .rtol = 1e-6}, "WG_RK4 has steps of fixed size"},
        {{.method = WG_RK4}, "neither tolerances nor"},
        {{.method = WG_RK4, .step = -0.1}, "negative, or not finite"},
        {{.method = WG_RK4, .step = NAN}, "negative, or not finite"},
        {{.rtol = -1}, "negative, or not finite"},
        {{.rtol = 1e-6, .atol = INFINITY}, "negative, or not finite"},
        {{.rtol = 1e-6, .min_step = -1}, "negative, or not finite"},
        {{.rtol = 1e-6, .max_step = NAN}, "negative, or not finite"},
        {{.rtol = 1e-6, .atols = bad}, "negative, or not finite"},
        {{.method = WG_RK4, .step = 1e-300}, "steps of size 1e-300"},
        {{.rtol = 1e-6, .stored = SIZE_MAX}, "checkpoints"},
        {{.method = WG_LEAPFROG, .step = 0.1}, "WG_LEAPFROG is for states (q, v)"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(k, &wrong[i].o, 4, up, 2, 5, 1, WG_EARG, wrong[i].message);
    wg_ode_free(k);
}

static void states_that_are_not_finite_are_refused(void **state) {
    (void)state;
    wg_ode *const k = hunting(0);
    const double at[2] = {0, 1}, x[7] = {1, 1, 1, NAN, 1, 1, 1}, bad[2] = {1, INFINITY};
    wg_mat y;
    for (int way = 0; way < 2; way++) {
        wg_tape_reset(tape);
        assert_int_equal(
            wg_ode_solve(tape, k, NULL, 2, at, wg_mat_input(tape, 2, 1, way ? bad : x, 2),
                         wg_mat_input(tape, 5, 1, way ? params : x + 2, 5), &y, NULL, NULL),
            WG_ENONFINITE);
        assert_message(tape, "at time 0: a NaN or an infinity among states or parameters");
    }
    wg_tape_reset(tape);
    wg_ode_free(k);
}

/* ---- systems ----------------------------------------------------------------------------- */

static wg_status none(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)t, (void)data;
    for (size_t i = 0; i < m; i++) y[i] = x[i % n];
    return WG_OK;
}

static void systems_that_do_not_fit_are_refused(void **state) {
    (void)state;
    const struct {
        size_t inputs, outputs;
        wg_argument in[4], out[2];
        wg_status status;
        const char *message;
    } row[] = {
        {1, 1, {{"t", 1, 1, 0}}, {{"f", 1, 1, 0}}, WG_ESHAPE, "has 1 inputs and 1 outputs"},
        {4,
         1,
         {{"t", 1, 1, 0}, {"y", 1, 1, 0}, {"p", 1, 1, 0}, {"q", 1, 1, 0}},
         {{"f", 1, 1, 0}},
         WG_ESHAPE,
         "has 4 inputs"},
        {2,
         2,
         {{"t", 1, 1, 0}, {"y", 1, 1, 0}},
         {{"f", 1, 1, 0}, {"g", 1, 1, 0}},
         WG_ESHAPE,
         "2 outputs"},
        {2,
         1,
         {{"t", 2, 1, 0}, {"y", 1, 1, 0}},
         {{"f", 1, 1, 0}},
         WG_ESHAPE,
         "the time (t) is 2x1"},
        {2,
         1,
         {{"t", 1, 1, 0}, {"y", 2, 1, 0}},
         {{"f", 3, 1, 0}},
         WG_ESHAPE,
         "3 numbers for 2 states"},
        {2,
         1,
         {{"t", 1, 1, 0}, {"y", 2, 1, WG_SHARED}},
         {{"f", 2, 1, 0}},
         WG_EARG,
         "(y) is WG_SHARED"},
        {2,
         1,
         {{"t", 1, 1, 0}, {"y", 2, 1, 0}},
         {{"f", 2, 1, WG_SUMMED}},
         WG_EARG,
         "(f) is WG_SUMMED"}};
    const double x[8] = {0};
    wg_ode *k = (wg_ode *)(uintptr_t)x;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        wg_function *const f =
            function_of(none, NULL, row[i].inputs, row[i].in, x, row[i].outputs, row[i].out);
        const wg_ode_system system = {.rhs = f};
        assert_int_equal(wg_ode_new(coded, &system, &k), row[i].status);
        assert_null(k);
        assert_message(coded, row[i].message);
        wg_function_free(f);
    }
    wg_function *const f = rhs_of(none, 2, 3, 2), *const g = rhs_of(none, 2, 4, 1);
    const wg_ode_system system = {.rhs = f, .integrand = g};
    assert_int_equal(wg_ode_new(coded, &system, &k), WG_ESHAPE);
    assert_message(coded, "the integrand has other inputs");
    wg_function_free(f);
    wg_function_free(g);
}

/* ---- where it cannot be ------------------------------------------------------------------ */

static wg_status last(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const double at[2] = {0, 1};
    wg_mat s;
    (void)n, (void)m;
    const wg_status status = wg_ode_solve(t, data, NULL, 2, at, wg_mat_gather(t, 2, 1, x),
                                          wg_mat_gather(t, PARAMS, 1, x + 2), &s, NULL, NULL);
    if (status == WG_OK) y[0] = wg_mat_at(s, 0, 1);
    return status;
}

static void second_derivatives_refuse_it_by_name(void **state) {
    (void)state;
    wg_ode *const k = hunting(0);
    const double x[7] = {1, 1, 1, 1, 1, 1, 1}, v[7] = {1};
    const wg_argument in = {"x", 7, 1, 0}, out = {"y", 1, 1, 0};
    double h[7];
    wg_function *f = NULL, *g = NULL;
    assert_int_equal(wg_hvp(coded, last, k, 7, x, v, NULL, NULL, h), WG_EMODE);
    assert_message(coded, "wg_ode_solve");
    assert_int_equal(wg_function_record(coded, last, k, 1, &in, x, 1, &out, &f), WG_OK);
    assert_int_equal(wg_function_hvp(coded, f, &g), WG_EMODE);
    assert_message(coded, "wg_ode_solve: the system was not made for second derivatives");
    wg_function_free(f);
    wg_ode_free(k);
}

/* ---- memory ------------------------------------------------------------------------------ */

static void nothing_is_lost_where_memory_fails(void **state) {
    (void)state;
    wg_status got = WG_ENOMEM;
    for (size_t fail_at = 4; got != WG_OK; fail_at++) {
        struct counted memory = counted_start();
        const wg_options o = {
            .flags = WG_KEEP_CODE, .memory = counted_memory(&memory), .reserve = 1 << 16};
        const wg_argument in[] = {{"t", 1, 1, 0}, {"y", 2, 1, 0}, {"p", 5, 1, 0}};
        const wg_argument out = {"f", 2, 1, 0}, all = {"x", 7, 1, 0}, one = {"y", 1, 1, 0};
        double x[8] = {1, 1, 1, 1, 1, 1, 1, 1}, value, g[7];
        wg_function *f = NULL, *node = NULL;
        wg_ode *k = NULL;
        assert_true(fail_at < 1000);
        memory.fail_at = fail_at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&o);
        assert_non_null(t);
        got = wg_function_record(t, hunt_recorded, NULL, 3, in, x, 1, &out, &f);
        const wg_ode_system system = {.rhs = f};
        if (got == WG_OK) got = wg_ode_new(t, &system, &k);
        if (got == WG_OK) got = wg_gradient(t, last, k, 7, x, &value, g);
        if (got == WG_OK) got = wg_function_record(t, last, k, 1, &all, x, 1, &one, &node);
        if (got != WG_OK) {
            assert_int_equal(got, WG_ENOMEM);
            assert_true(wg_tape_message(t)[0] != 0);
        }
        wg_function_free(f);
        wg_function_free(node);
        wg_ode_free(k);
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
}

/* A system may outlive the memory of a tape on which it became a part of a function. */
static void functions_leave_nothing_of_a_system_in_the_memory_of_their_tape(void **state) {
    (void)state;
    struct counted memory = counted_start();
    const wg_options o = {.flags = WG_KEEP_CODE, .memory = counted_memory(&memory)};
    const wg_argument in = {"x", 7, 1, 0}, out = {"y", 1, 1, 0};
    const double x[7] = {1, 1, 1, 1, 1, 1, 1};
    wg_ode *const k = hunting(0);
    wg_tape *const t = wg_tape_new(&o);
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(t, last, k, 1, &in, x, 1, &out, &f), WG_OK);
    wg_function_free(f);
    wg_tape_free(t);
    assert_true(memory.ranges == 0 && memory.wrong == 0);
    wg_ode_free(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_solutions_name_the_time),
        cmocka_unit_test(arguments_that_do_not_fit_are_refused),
        cmocka_unit_test(states_that_are_not_finite_are_refused),
        cmocka_unit_test(systems_that_do_not_fit_are_refused),
        cmocka_unit_test(second_derivatives_refuse_it_by_name),
        cmocka_unit_test(nothing_is_lost_where_memory_fails),
        cmocka_unit_test(functions_leave_nothing_of_a_system_in_the_memory_of_their_tape),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

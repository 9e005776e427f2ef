/* SPDX-License-Identifier: MIT */
/* Second derivatives of solutions: against the steps written out in statements, and, where
 * those would be many, against each other and finite differences of gradients. */
#include "ode_case.h"

enum { ENTRIES = 2 + PARAMS, STEPS = 12, TIMES = 3 };
static const double times[TIMES] = {0, 0.25, 1};

static wg_ode *made(int stiff, int with_integrals) {
    const wg_ode_system system = {
        .rhs = rhs_of(hunt_recorded, 2, PARAMS, 2),
        .integrand = with_integrals ? rhs_of(prey_recorded, 2, PARAMS, 3) : NULL,
        .stiff = stiff,
        .second = 1};
    wg_ode *k = NULL;
    if (wg_ode_new(coded, &system, &k) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    wg_function_free((wg_function *)(uintptr_t)system.rhs);
    wg_function_free((wg_function *)(uintptr_t)system.integrand);
    return k;
}

typedef struct asked {
    const wg_ode *k;
    wg_ode_options o;
    int integrals;
} asked;

/* Products of states at two times, and of integrals. */
static wg_real loss(wg_tape *t, const wg_real *half, const wg_real *end, const wg_real *r) {
    const wg_real f =
        wg_let(t, wg_add(wg_mul(half[0], end[1]), wg_mul(end[0], wg_sin(end[1]))));
    return r == NULL ? f : wg_let(t, wg_add(f, wg_mul(r[0], wg_add(r[1], end[0]))));
}

static wg_status solved(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *out,
                        void *data) {
    const asked *const a = data;
    wg_mat y, r;
    (void)n, (void)m;
    const wg_status s =
        wg_ode_solve(t, a->k, &a->o, TIMES, times, wg_mat_gather(t, 2, 1, x),
                     wg_mat_gather(t, PARAMS, 1, x + 2), &y, a->integrals ? &r : NULL, NULL);
    if (s != WG_OK) return s;
    const wg_real half[2] = {wg_mat_at(y, 0, 1), wg_mat_at(y, 1, 1)};
    const wg_real end[2] = {wg_mat_at(y, 0, 2), wg_mat_at(y, 1, 2)};
    wg_real sums[2];
    for (size_t i = 0; i < 2 && a->integrals; i++) sums[i] = wg_mat_at(r, i, 2);
    out[0] = loss(t, half, end, a->integrals ? sums : NULL);
    return WG_OK;
}

/* Twelve steps of 1/12, three of them to the time 1/4. */
static wg_status written_out(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *out,
                             void *data) {
    const tableau *const of = data;
    wg_real y[5] = {x[0], x[1], wg_constant(0), wg_constant(0), wg_constant(0)}, half[2];
    (void)n, (void)m;
    for (int step = 0; step < STEPS; step++) {
        wg_real k[7][5];
        for (int i = 0; i < of->stages; i++) {
            wg_real at[1 + ENTRIES] = {wg_constant((step + of->c[i]) / STEPS)};
            for (int l = 0; l < 2; l++) {
                at[1 + l] = y[l];
                for (int j = 0; j < i; j++)
                    at[1 + l] =
                        wg_let(t, wg_add(at[1 + l], wg_mul(of->a[i][j] / STEPS, k[j][l])));
            }
            memcpy(at + 3, x + 2, PARAMS * sizeof *at);
            if (hunt_recorded(t, 0, at, 0, k[i], NULL) != WG_OK ||
                prey_recorded(t, 0, at, 0, k[i] + 2, NULL) != WG_OK)
                return WG_ECALLBACK;
        }
        for (int i = 0; i < of->stages; i++)
            for (int l = 0; l < 5; l++)
                y[l] = wg_let(t, wg_add(y[l], wg_mul(of->b[i] / STEPS, k[i][l])));
        if (step == 2) half[0] = y[0], half[1] = y[1];
    }
    out[0] = loss(t, half, y, y + 2);
    return WG_OK;
}

static void operands(double *x) {
    memcpy(x, starts, 2 * sizeof *x);
    memcpy(x + 2, params, sizeof params);
}

static void hessians_are_those_of_the_steps_written_out(void **state) {
    (void)state;
    wg_ode *const k = made(0, 1);
    const tableau *const methods[] = {&classical, &dormand_prince};
    double x[ENTRIES], g[ENTRIES], h[ENTRIES * ENTRIES], expected[ENTRIES * ENTRIES], f;
    operands(x);
    for (size_t i = 0; i < 2; i++) {
        asked a = {k, {.method = i ? WG_DOPRI5 : WG_RK4, .step = 1.0 / STEPS}, 1};
        double size = 0;
        assert_int_equal(wg_hessian(coded, written_out, (void *)(uintptr_t)methods[i], ENTRIES,
                                    x, &f, g, expected, ENTRIES),
                         WG_OK);
        if (wg_hessian(coded, solved, &a, ENTRIES, x, &f, g, h, ENTRIES) != WG_OK)
            fail_msg("%s", wg_tape_message(coded));
        for (size_t l = 0; l < ENTRIES * ENTRIES; l++) size = fmax(size, fabs(expected[l]));
        for (size_t l = 0; l < ENTRIES * ENTRIES; l++)
            assert_steps(h[l], expected[l], size, STEPS);
        /* from checkpoints, too */
        double again[ENTRIES * ENTRIES];
        a.o.stored = 1;
        assert_int_equal(wg_hessian(coded, solved, &a, ENTRIES, x, &f, g, again, ENTRIES),
                         WG_OK);
        assert_memory_equal(again, h, sizeof h);
    }
    wg_ode_free(k);
}

/* With steps by tolerances, between which states are interpolated, and of the method for
 * stiff systems. */
static void hessians_of_all_methods_agree(void **state) {
    (void)state;
    const wg_ode_options ways[] = {{.method = WG_RK4, .step = 0.002},
                                   {.rtol = 1e-11, .atol = 1e-11},
                                   {.method = WG_RODAS4, .step = 0.002},
                                   {.method = WG_RODAS4, .rtol = 1e-9, .atol = 1e-9}};
    wg_ode *const k = made(1, 1);
    double x[ENTRIES], g[ENTRIES], h[4][ENTRIES * ENTRIES], f;
    operands(x);
    for (size_t i = 0; i < 4; i++) {
        asked a = {k, ways[i], 1};
        if (wg_hessian(coded, solved, &a, ENTRIES, x, &f, g, h[i], ENTRIES) != WG_OK)
            fail_msg("%s", wg_tape_message(coded));
        for (size_t l = 0; l < ENTRIES * ENTRIES; l++)
            assert_true(fabs(h[i][l] - h[0][l]) < TOL_TWO_METHODS * (1 + fabs(h[0][l])));
    }
    wg_ode_free(k);
}

static void hessians_of_steps_are_those_of_differences(void **state) {
    (void)state;
    wg_ode *const k = made(1, 0);
    double x[ENTRIES];
    operands(x);
    for (int way = 0; way < 3; way++) {
        asked a = {k,
                   {.method = way == 0   ? WG_RODAS4
                              : way == 1 ? WG_DOPRI5
                                         : WG_RK4,
                    .step = 0.05},
                   0};
        if (wg_check_hessian(coded, solved, &a, ENTRIES, x, 1, NULL) != WG_OK)
            fail_msg("%s", wg_tape_message(coded));
    }
    wg_ode_free(k);
}

/* y' = -y^2, without parameters: y = x / (1 + t x). */
static wg_status slower(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                        void *data) {
    (void)n, (void)m, (void)data;
    dy[0] = wg_let(t, wg_neg(wg_square(x[1])));
    return WG_OK;
}
static wg_status slowed(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *out,
                        void *data) {
    const asked *const a = data;
    wg_mat y;
    (void)n, (void)m;
    const wg_status s = wg_ode_solve(t, a->k, &a->o, TIMES, times, wg_mat_gather(t, 1, 1, x),
                                     wg_mat_constant(t, 0, 0, NULL, 0), &y, NULL, NULL);
    if (s == WG_OK) out[0] = wg_mat_at(y, 0, 2);
    return s;
}
static void systems_without_parameters_have_second_derivatives(void **state) {
    (void)state;
    wg_function *const f = rhs_of(slower, 1, 0, 1);
    wg_ode *k = NULL;
    assert_int_equal(wg_ode_new(coded, &(wg_ode_system){.rhs = f, .stiff = 1, .second = 1}, &k),
                     WG_OK);
    const wg_ode_options ways[] = {{.method = WG_RK4, .step = 0.002},
                                   {.rtol = 1e-11, .atol = 1e-11},
                                   {.method = WG_RODAS4, .step = 0.002}};
    for (size_t i = 0; i < 3; i++) {
        asked a = {k, ways[i], 0};
        const double x = 1.25;
        double y, g, h;
        if (wg_hessian(coded, slowed, &a, 1, &x, &y, &g, &h, 1) != WG_OK)
            fail_msg("%s", wg_tape_message(coded));
        assert_true(fabs(h + 2 / pow(1 + x, 3)) < TOL_TWO_METHODS);
    }
    wg_ode_free(k);
    wg_function_free(f);
}

/* Without states: the integral of p^2 exp(t) from 0 to 1. */
static wg_status no_rates(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                          void *data) {
    return (void)t, (void)n, (void)x, (void)m, (void)dy, (void)data, WG_OK;
}
static wg_status growing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *g,
                         void *data) {
    (void)n, (void)m, (void)data;
    g[0] = wg_let(t, wg_mul(wg_square(x[1]), wg_exp(x[0])));
    return WG_OK;
}
static wg_status integrated(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *out,
                            void *data) {
    const asked *const a = data;
    wg_mat y, r;
    (void)n, (void)m;
    const wg_status s =
        wg_ode_solve(t, a->k, &a->o, TIMES, times, wg_mat_constant(t, 0, 0, NULL, 0),
                     wg_mat_gather(t, 1, 1, x), &y, &r, NULL);
    if (s == WG_OK) out[0] = wg_mat_at(r, 0, 2);
    return s;
}
static void integrals_without_states_have_derivatives(void **state) {
    (void)state;
    wg_function *const f = rhs_of(no_rates, 0, 1, 0), *const g = rhs_of(growing, 0, 1, 1);
    const wg_ode_system system = {.rhs = f, .integrand = g, .stiff = 1, .second = 1};
    const wg_ode_options ways[] = {{.method = WG_RK4, .step = 0.002},
                                   {.step = 0.002, .stored = 2},
                                   {.rtol = 1e-9, .max_step = 0.002},
                                   {.method = WG_RODAS4, .step = 0.002}};
    const double whole = exp(1) - 1;
    wg_ode *k = NULL;
    assert_int_equal(wg_ode_new(coded, &system, &k), WG_OK);
    for (size_t i = 0; i < 4; i++) {
        asked a = {k, ways[i], 1};
        double x = 1.25, y, d, h;
        const size_t steps = 500;
        assert_int_equal(wg_hessian(coded, integrated, &a, 1, &x, &y, &d, &h, 1), WG_OK);
        assert_true(fabs(y - x * x * whole) < TOL_TWO_METHODS);
        assert_true(fabs(d - 2 * x * whole) < TOL_TWO_METHODS);
        assert_true(fabs(h - 2 * whole) < TOL_TWO_METHODS);
        assert_in_function(integrated, &a, 1, &x, 1, &steps);
    }
    wg_ode_free(k);
    wg_function_free(f), wg_function_free(g);
}

/* Steps of no fixed size, and of the method for stiff systems, are nodes of functions. */
static void hessians_of_functions_are_those_of_the_tape(void **state) {
    (void)state;
    const wg_ode_options ways[] = {{.rtol = 1e-8, .atol = 1e-9},
                                   {.method = WG_RODAS4, .step = 0.05},
                                   {.method = WG_RODAS4, .rtol = 1e-7, .atol = 1e-8}};
    wg_ode *const k = made(1, 1);
    const wg_argument in = {"x", ENTRIES, 1, 0}, out = {"f", 1, 1, 0};
    double x[ENTRIES], g[ENTRIES], h[ENTRIES * ENTRIES], got[ENTRIES * ENTRIES], f;
    operands(x);
    for (size_t i = 0; i < 3; i++) {
        asked a = {k, ways[i], 1};
        double size = 0;
        wg_function *second = NULL, *const of = function_of(solved, &a, 1, &in, x, 1, &out);
        if (wg_function_hessian(coded, of, &second) != WG_OK)
            fail_msg("%s", wg_tape_message(coded));
        evaluate_once(second, x, got);
        assert_int_equal(wg_hessian(coded, solved, &a, ENTRIES, x, &f, g, h, ENTRIES), WG_OK);
        for (size_t l = 0; l < ENTRIES * ENTRIES; l++) size = fmax(size, fabs(h[l]));
        for (size_t l = 0; l < ENTRIES * ENTRIES; l++) assert_steps(got[l], h[l], size, 200);
        wg_function *jvp = NULL, *again = NULL;
        assert_int_equal(wg_function_jvp(coded, of, &jvp), WG_OK);
        assert_int_equal(wg_function_jvp(coded, jvp, &again), WG_EMODE);
        assert_message(coded, "no third derivatives, nor tangents of tangents");
        wg_function_free(of), wg_function_free(second), wg_function_free(jvp);
    }
    wg_ode_free(k);
}

static void systems_made_without_are_refused(void **state) {
    (void)state;
    wg_ode *const k = hunting(0);
    asked a = {k, {.method = WG_RK4, .step = 0.1}, 0};
    double x[ENTRIES], v[ENTRIES] = {1}, g[ENTRIES], f, h[ENTRIES];
    operands(x);
    assert_int_equal(wg_hvp(coded, solved, &a, ENTRIES, x, v, &f, g, h), WG_EMODE);
    assert_message(coded, "the system was not made for second derivatives");
    wg_ode_free(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hessians_are_those_of_the_steps_written_out),
        cmocka_unit_test(hessians_of_all_methods_agree),
        cmocka_unit_test(hessians_of_steps_are_those_of_differences),
        cmocka_unit_test(systems_without_parameters_have_second_derivatives),
        cmocka_unit_test(integrals_without_states_have_derivatives),
        cmocka_unit_test(hessians_of_functions_are_those_of_the_tape),
        cmocka_unit_test(systems_made_without_are_refused),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

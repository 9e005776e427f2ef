/* SPDX-License-Identifier: MIT */
/* test_tape_operation.c - operations of a user's own (wengert/operation.h): recorded, replayed
 * from kept code, differentiated twice, over duals, and under the zero rule.
 *
 * Letters: f of x and y; fx fy its gradient, fxx fxy fyy its Hessian. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wengert.h>
#include "check_tapes.h"
#include "tolerance.h"

WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
              copysign(2, -a) / ((1 + fabs(a)) * (1 + fabs(a)) * (1 + fabs(a))), GUARD,
              "Bergstra 2009")
WG_OPERATION1(root, sqrt(a), 0.5 / v, -0.25 / (v * a), SING, "power rule")
WG_OPERATION1(halfstep, (a > 0 ? 1.0 : 0.0), 0, 0, GUARD, "Heaviside")
WG_OPERATION2(hill, a *a / (a * a + b * b), 2 * a * b * b / ((a * a + b * b) * (a * a + b * b)),
              -2 * a * a * b / ((a * a + b * b) * (a * a + b * b)),
              2 * b * b * (b * b - 3 * a * a) / pow(a * a + b * b, 3),
              4 * a * b * (a * a - b * b) / pow(a * a + b * b, 3),
              2 * a * a * (3 * b * b - a * a) / pow(a * a + b * b, 3), SING, "Hill 1910")
WG_OPERATION1(still, a, 0, 0, ARITH, "the identity, without derivative")
WG_OPERATION2(first, ((void)b, a), 1, 0, 0, 0, 0, ARITH, "the first of two")
WG_OPERATION3(damped, a *exp(b) * sin(c), exp(b) * sin(c), v, a *exp(b) * cos(c), 0,
              exp(b) * sin(c), exp(b) * cos(c), v, a *exp(b) * cos(c), -v, GUARD,
              "product rule")
WG_OPERATION4(volume, a *b *c *d, b *c *d, a *c *d, a *b *d, a *b *c, 0, c *d, b *d, b *c, 0,
              a *d, a *c, 0, a *b, 0, ARITH, "product rule")
WG_OPERATION4(third, ((void)a, (void)b, (void)d, c), 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
              ARITH, "the third of four")

enum use {
    SOFTSIGN,
    ROOT,
    HILL,
    HILL_OF_LITERAL,
    HILL_OF_ITSELF,
    NESTED,
    FACTOR_TIMES_ROOT,
    STEP_TIMES,
    FIRST,
    FOUR_OF_THEM,
    OF_THREE,
    OF_FOUR,
    OF_THREE_AND_FOUR,
    THIRD,
    USES
};

#include "operation_kernel.h"
#define WG_AS_DUAL
#include "operation_kernel.h"
#undef WG_AS_DUAL
#include <wengert/generic.h>

/* ---- closed forms: the same functions once more, by second-order Taylor arithmetic ---- */

typedef struct taylor {
    double f, fx, fy, fxx, fxy, fyy;
} taylor;

/* g(u) from g, g', g'' at u */
static taylor outer(taylor u, double g, double g1, double g2) {
    return (taylor){g,
                    g1 * u.fx,
                    g1 * u.fy,
                    g1 * u.fxx + g2 * u.fx * u.fx,
                    g1 * u.fxy + g2 * u.fx * u.fy,
                    g1 * u.fyy + g2 * u.fy * u.fy};
}
static taylor plus(taylor u, double c, taylor w) {
    return (taylor){u.f + c * w.f,     u.fx + c * w.fx,   u.fy + c * w.fy,
                    u.fxx + c * w.fxx, u.fxy + c * w.fxy, u.fyy + c * w.fyy};
}
static taylor times(taylor u, taylor w) {
    return (taylor){u.f * w.f,
                    u.fx * w.f + u.f * w.fx,
                    u.fy * w.f + u.f * w.fy,
                    u.fxx * w.f + 2 * u.fx * w.fx + u.f * w.fxx,
                    u.fxy * w.f + u.fx * w.fy + u.fy * w.fx + u.f * w.fxy,
                    u.fyy * w.f + 2 * u.fy * w.fy + u.f * w.fyy};
}
static taylor number(double c) { return (taylor){.f = c}; }
static taylor over(taylor u, taylor w) {
    const double i = 1 / w.f;
    return times(u, outer(w, i, -i * i, 2 * i * i * i));
}
static taylor softsigned(taylor u) {
    const double s = u.f < 0 ? -1 : 1, d = 1 + s * u.f;
    return outer(u, u.f / d, 1 / (d * d), -2 * s / (d * d * d));
}
static taylor rooted(taylor u) {
    const double r = sqrt(u.f);
    return outer(u, r, 0.5 / r, -0.25 / (r * u.f));
}
static taylor hilled(taylor u, taylor w) {
    const taylor s = times(u, u);
    return over(s, plus(s, 1, times(w, w)));
}

static taylor dampened(taylor u, taylor w, taylor z) {
    const double e = exp(w.f), s = sin(z.f);
    return times(times(u, outer(w, e, e, e)), outer(z, s, cos(z.f), -s));
}

static taylor exact(enum use which, double a, double b) {
    const taylor x = {.f = a, .fx = 1}, y = {.f = b, .fy = 1};
    switch (which) {
    case SOFTSIGN:
        return softsigned(x);
    case ROOT:
        return rooted(y);
    case HILL:
        return hilled(x, y);
    case HILL_OF_LITERAL:
        return hilled(x, number(2));
    case HILL_OF_ITSELF:
        return hilled(x, times(x, x));
    case NESTED:
        return times(number(3), softsigned(plus(hilled(x, number(2)), 0.5, rooted(y))));
    case FACTOR_TIMES_ROOT:
        return times(x, rooted(y));
    case STEP_TIMES:
        return times(number(a > 0), times(y, y));
    case FIRST:
        return times(number(2), x);
    case FOUR_OF_THEM:
        return plus(plus(softsigned(x), 1, softsigned(y)), 1, times(y, hilled(number(1), y)));
    case OF_THREE:
        return dampened(x, times(number(0.5), y), times(x, y));
    case OF_FOUR:
        return times(times(x, y), times(outer(x, sin(x.f), cos(x.f), -sin(x.f)), number(2)));
    case OF_THREE_AND_FOUR:
        return times(times(dampened(x, number(0.25), y), y),
                     times(x, dampened(y, x, number(1))));
    case THIRD:
        return times(x, y);
    default:
        return number(NAN);
    }
}

static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    assert_true(n == 2 && m == 1);
    y[0] = use_real(t, *(const enum use *)data, x);
    return WG_OK;
}
static void call_dual(void *data, const wg_dual *x, wg_dual *y) {
    y[0] = use_dual(NULL, *(const enum use *)data, x);
}

static void operations_of_a_users_agree_in_every_mode(void **state) {
    static const double points[][2] = {{0.7, 1.3}, {-1.5, 0.4}, {2.25, 3}, {-0.875, 7}};
    static const double other[] = {-0.6, 2.5};
    int bad = 0;
    (void)state;
    for (int i = 0; i < USES; i++)
        for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
            enum use which = (enum use)i;
            const taylor e = exact(which, points[k][0], points[k][1]);
            const double g[] = {e.fx, e.fy}, h[] = {e.fxx, e.fxy, e.fxy, e.fyy};
            const double size_g = fabs(e.fx) + fabs(e.fy),
                         size_h = fabs(e.fxx) + fabs(e.fxy) + fabs(e.fyy);
            const double f_allowed = TOL_PROGRAM_ULP * DBL_EPSILON * fabs(e.f);
            const double ga = TOL_PROGRAM_ULP * DBL_EPSILON * size_g;
            const double ha = TOL_PROGRAM_ULP * DBL_EPSILON * (size_h + size_g);
            const double g_allowed[] = {ga, ga}, h_allowed[] = {ha, ha, ha, ha};
            const struct check_function f = {call,
                                             call_dual,
                                             &which,
                                             2,
                                             1,
                                             points[k],
                                             other,
                                             check_weights,
                                             check_direction,
                                             {&e.f, &f_allowed},
                                             {g, g_allowed},
                                             {h, h_allowed}};
            if (check_modes(&check, &f) == 0) continue;
            print_error("use %d at point %zu: %s\n", i, k, check.why);
            bad++;
        }
    assert_int_equal(bad, 0);
}

/* ---- the zero rule ---- */

/* sqrt has an infinite slope at 0: because root says SING, the 0 before it rules inside the
 * statement as it does between statements. */
static void a_singular_operation_is_guarded_inside_a_statement(void **state) {
    wg_tape *const tapes[] = {check.plain, check.checked, check.code};
    (void)state;
    for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++)
        for (int fused = 0; fused < 2; fused++) {
            wg_tape *const t = tapes[k];
            wg_tape_reset(t);
            const wg_real x = wg_input(t, 0), y = wg_input(t, 0);
            const wg_real g = wg_let(t, WG_CALL1(root, y));
            const wg_real f =
                fused ? wg_let(t, wg_mul(x, WG_CALL1(root, y))) : wg_let(t, wg_mul(x, g));
            assert_int_equal(wg_reverse(t, f), WG_OK);
            assert_true(wg_adjoint(t, x) == 0 && wg_adjoint(t, y) == 0);
            assert_int_equal(wg_reverse(t, g), WG_OK);
            assert_true(wg_adjoint(t, y) == INFINITY);
        }
    const double a[] = {0, 0};
    wg_real x[2];
    wg_tape_reset(check.forward);
    assert_int_equal(wg_tape_forward(check.forward, 1), WG_OK);
    assert_int_equal(wg_inputs(check.forward, 2, a, x), WG_OK);
    assert_int_equal(wg_tangent_seed(check.forward, x[1], 0, 1), WG_OK);
    assert_true(wg_tangent(check.forward, use_real(check.forward, FACTOR_TIMES_ROOT, x), 0) ==
                0);
    assert_true(wg_tangent(check.forward, use_real(check.forward, ROOT, x), 0) == INFINITY);
}

/* A text of a bare 0 is no factor: nothing is multiplied by it. */
static void a_partial_of_zero_is_skipped(void **state) {
    wg_tape *const t = check.code;
    double h = 77;
    (void)state;
    wg_tape_reset(t);
    const wg_real x = wg_input(t, 0);
    const wg_real f = wg_let(t, wg_add(x, WG_CALL1(halfstep, wg_sqrt(x)))); /* 0 times inf */
    assert_int_equal(wg_reverse(t, f), WG_OK);
    assert_true(wg_adjoint(t, x) == 1);
    assert_int_equal(wg_tape_hessian(t, f, 1, &x, &h, 1), WG_OK);
    assert_true(h == 0);
    const wg_real g = wg_let(t, WG_CALL2(first, x, wg_log(x))); /* b does not count */
    assert_int_equal(wg_reverse(t, g), WG_OK);
    assert_true(wg_adjoint(t, x) == 1);
    assert_int_equal(wg_tape_verify(t), WG_OK);
}

/* ---- kept code ---- */

static int keep_text(void *ctx, const char *text, size_t bytes) {
    char *const to = ctx;
    const size_t used = strlen(to);
    if (used + bytes >= 4096) return 1;
    memcpy(to + used, text, bytes);
    to[used + bytes] = 0;
    return 0;
}

static void a_dump_spells_the_users_operation(void **state) {
    char text[4096] = "";
    (void)state;
    wg_tape_reset(check.code);
    const wg_real x = wg_input(check.code, 0.5);
    const wg_real y = wg_let(check.code, wg_mul(2, WG_CALL2(hill, x, WG_CALL1(softsign, x))));
    assert_true(wg_value(y) > 0);
    assert_int_equal(wg_tape_dump(check.code, keep_text, text), WG_OK);
    if (!strstr(text, "hill") || !strstr(text, "softsign")) print_error("%s\n", text);
    assert_non_null(strstr(text, "hill"));
    assert_non_null(strstr(text, "softsign"));
}

/* As long a statement as its limits allow: each operation of a user's is one of the 8 numbers.
 */
static void eight_of_them_fit_into_one_statement(void **state) {
    wg_tape *const t = check.code;
    (void)state;
    wg_tape_reset(t);
    const wg_real x = wg_input(t, 0.5);
    const wg_real y = wg_let(
        t,
        wg_add(
            WG_CALL1(softsign, WG_CALL1(softsign, WG_CALL1(softsign, WG_CALL1(softsign, x)))),
            WG_CALL1(softsign, WG_CALL1(softsign, WG_CALL1(softsign, WG_CALL1(softsign, x))))));
    /* k of them make x / (1 + k x) */
    assert_true(close_ulp(wg_value(y), 2 * 0.5 / 3, TOL_DERIVATIVE_ULP));
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(close_ulp(wg_adjoint(t, x), 2.0 / 9, TOL_DERIVATIVE_ULP));
    double h = 77;
    assert_int_equal(wg_tape_hessian(t, y, 1, &x, &h, 1), WG_OK);
    assert_true(close_ulp(h, 2 * -2 * 4 / 27.0, TOL_PROGRAM_ULP));
    assert_int_equal(wg_tape_verify(t), WG_OK);
}

static void a_nan_of_a_users_operation_is_traced_to_it(void **state) {
    const wg_options opt = {.flags = WG_TRACE | WG_KEEP_PLACES};
    wg_tape *const t = wg_tape_new(&opt);
    (void)state;
    assert_non_null(t);
    const wg_real x = wg_input(t, -4);
    const wg_real y = wg_let(t, WG_CALL1(root, x));
    assert_true(wg_value(y) != wg_value(y));
    assert_int_equal(wg_tape_status(t), WG_ENONFINITE);
    if (!strstr(wg_tape_message(t), "root")) print_error("%s\n", wg_tape_message(t));
    assert_non_null(strstr(wg_tape_message(t), "root"));
    wg_tape_free(t);
}

static wg_status times_itself_held(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                   void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(WG_CALL1(still, x[0]), x[0]));
    return WG_OK;
}

/* As wg_stop_gradient, in replays and functions it is the number at the new point. */
static void a_number_without_derivative_follows_its_variable(void **state) {
    (void)state;
    wg_tape *const t = check.code;
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    const double two = 2, five = 5;
    double y, g, work[4096];
    wg_function *f = NULL, *df = NULL;
    wg_tape_reset(t);
    const wg_real x = wg_input(t, two);
    wg_real product;
    assert_int_equal(times_itself_held(t, 1, &x, 1, &product, NULL), WG_OK);
    assert_int_equal(wg_tape_replay(t, 1, &x, &five), WG_OK);
    assert_true(wg_tape_value(t, product) == 25);
    assert_int_equal(wg_reverse(t, product), WG_OK);
    assert_true(wg_adjoint(t, x) == 5);
    assert_int_equal(wg_function_record(t, times_itself_held, NULL, 1, &in, &two, 1, &out, &f),
                     WG_OK);
    assert_int_equal(wg_function_gradient(t, f, &df), WG_OK);
    const wg_points at = {&five, 0, 1};
    assert_true(wg_function_work(f, NULL) <= sizeof work);
    assert_true(wg_function_work(df, NULL) <= sizeof work);
    assert_int_equal(wg_function_evaluate(f, 1, &at, &(wg_results){&y, 0, 1}, NULL, work, NULL),
                     WG_OK);
    assert_int_equal(
        wg_function_evaluate(df, 1, &at, &(wg_results){&g, 0, 1}, NULL, work, NULL), WG_OK);
    assert_true(y == 25 && g == 5);
    wg_function_free(df), wg_function_free(f);
}

static int to_nowhere(void *ctx, const char *line, size_t bytes) {
    (void)ctx, (void)line, (void)bytes;
    return 0;
}

/* A statement of an operation by its descriptor has no place in a file. */
static void a_descriptor_is_checked_and_has_no_place(void **state) {
    (void)state;
    const wg_options options = {.flags = WG_KEEP_CODE | WG_KEEP_PLACES};
    wg_tape *t = wg_tape_new(&options);
    const wg_real x = wg_input(t, 2);
    const wg_scalar_op *const exponential = &wgi_scalar_ops[WGI_OP_exp];
    const wg_real y = wg_apply_scalar(t, exponential, &x);
    (void)wg_let(t, wg_mul(x, y));
    assert_int_equal(wg_tape_dump(t, to_nowhere, NULL), WG_OK);
    assert_int_equal(wg_tape_dot(t, to_nowhere, NULL), WG_OK);
    for (int k = 0; k < 5; k++) {
        wg_scalar_op odd = *exponential;
        if (k == 0) odd.name = NULL;
        if (k == 1) odd.value = NULL;
        if (k == 2) odd.first = NULL;
        if (k == 3) odd.arity = 0;
        if (k == 4) odd.arity = 5;
        wg_tape_reset(t);
        const wg_real z = wg_input(t, 2);
        const wg_real all[5] = {z, z, z, z, z};
        assert_true(isnan(wg_apply_scalar(t, &odd, all).value));
        assert_int_equal(wg_tape_status(t), k < 3 ? WG_ENULL : WG_EARG);
    }
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_descriptor_is_checked_and_has_no_place),
        cmocka_unit_test(operations_of_a_users_agree_in_every_mode),
        cmocka_unit_test(a_singular_operation_is_guarded_inside_a_statement),
        cmocka_unit_test(a_partial_of_zero_is_skipped),
        cmocka_unit_test(a_number_without_derivative_follows_its_variable),
        cmocka_unit_test(a_dump_spells_the_users_operation),
        cmocka_unit_test(eight_of_them_fit_into_one_statement),
        cmocka_unit_test(a_nan_of_a_users_operation_is_traced_to_it),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

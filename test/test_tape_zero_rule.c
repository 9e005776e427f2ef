/* SPDX-License-Identifier: MIT */
/* test_tape_zero_rule.c - a product of a partial with a partial, an adjoint or a tangent is
 * exactly 0 when either factor is exactly 0, whatever the other: in every mode, inside
 * statements and between them, lane by lane. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <wengert.h>
#include "check_tapes.h"
#include "tolerance.h"

static unsigned op(const char *name) {
    const int found = program_find(name);
    assert_true(found >= 0);
    return (unsigned)found;
}

/* The gradient of the last step, exactly, in every mode. */
static void gradient_is(size_t inputs, size_t steps, struct step *step, const double *x,
                        const double *want) {
    size_t root = inputs + steps - 1;
    const struct program p = {inputs, steps, 1, step, &root};
    wg_tape *const tapes[] = {check.plain, check.checked, check.code};
    wg_real node[16];
    wg_dual dual[16];
    assert_true(inputs <= WG_DUAL_WIDTH && inputs + steps <= 16);
    for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++) {
        wg_tape *const t = tapes[k];
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, inputs, x, node), WG_OK);
        program_real(t, &p, node);
        assert_int_equal(wg_reverse(t, node[root]), WG_OK);
        for (size_t i = 0; i < inputs; i++) {
            if (error_ulp(wg_adjoint(t, node[i]), want[i]) != 0)
                print_error("tape %zu: adjoint of x%zu is %g, not %g\n", k, i,
                            wg_adjoint(t, node[i]), want[i]);
            assert_true(error_ulp(wg_adjoint(t, node[i]), want[i]) == 0);
        }
    }
    wg_tape_reset(check.forward);
    assert_int_equal(wg_tape_forward(check.forward, inputs), WG_OK);
    assert_int_equal(wg_inputs(check.forward, inputs, x, node), WG_OK);
    for (size_t i = 0; i < inputs; i++) {
        assert_int_equal(wg_tangent_seed(check.forward, node[i], i, 1), WG_OK);
        dual[i] = wg_dual_input(x[i], i);
    }
    program_real(check.forward, &p, node);
    program_dual(&p, dual);
    for (size_t i = 0; i < inputs; i++) {
        assert_true(error_ulp(wg_tangent(check.forward, node[root], i), want[i]) == 0);
        assert_true(error_ulp(wg_dual_tangent(dual[root], i), want[i]) == 0);
    }
    /* and whatever else a mode may do to it */
    if (check_program(&check, &p, x, x) != 0) print_error("%s\n", check.why);
    assert_string_equal(check.why, "");
}

static void a_product_with_a_root_at_zero_is_flat_fused_and_unfused(void **state) {
    const double x[] = {0, 0}, want[] = {0, 0};
    struct step fused[] = {{.op = op("x_sqrt_y"), .operands = 2, .from = {0, 1}}};
    struct step unfused[] = {{.op = op("sqrt"), .operands = 1, .from = {1}},
                             {.op = op("mul"), .operands = 2, .from = {0, 2}}};
    (void)state;
    gradient_is(2, 1, fused, x, want);
    gradient_is(2, 2, unfused, x, want);
}

/* The same where the factor is not 0: the infinite slope is there. */
static void a_root_at_zero_keeps_its_infinite_slope(void **state) {
    const double x[] = {-2, 0}, want[] = {0, -INFINITY};
    struct step fused[] = {{.op = op("x_sqrt_y"), .operands = 2, .from = {0, 1}}};
    struct step unfused[] = {{.op = op("sqrt"), .operands = 1, .from = {1}},
                             {.op = op("mul"), .operands = 2, .from = {0, 2}}};
    (void)state;
    gradient_is(2, 1, fused, x, want);
    gradient_is(2, 2, unfused, x, want);
}

static void roots_of_squares_and_squares_of_roots_are_flat_at_zero(void **state) {
    const double x[] = {0}, want[] = {0};
    struct step root_of_square[] = {{.op = op("root_of_square"), .operands = 1}};
    struct step square_of_root[] = {{.op = op("square_of_root"), .operands = 1}};
    struct step mul_sqrt[] = {{.op = op("mul"), .operands = 2},
                              {.op = op("sqrt"), .operands = 1, .from = {1}}};
    struct step sqrt_square[] = {{.op = op("sqrt"), .operands = 1},
                                 {.op = op("square"), .operands = 1, .from = {1}}};
    (void)state;
    gradient_is(1, 1, root_of_square, x, want);
    gradient_is(1, 1, square_of_root, x, want);
    gradient_is(1, 2, mul_sqrt, x, want);
    gradient_is(1, 2, sqrt_square, x, want);
}

static void a_branch_that_was_not_selected_does_not_count(void **state) {
    const double zero[] = {0}, minus[] = {-1}, two[] = {2, 0};
    const double flat[] = {0}, quotient[] = {0, 0};
    struct step fused[] = {{.op = op("guarded_root"), .operands = 1}};
    struct step unfused[] = {
        {.op = op("sqrt"), .operands = 1},
        {.op = op("select_gt"), .operands = 4, .from = {0, -1, 1, -1}, .literals = 10}};
    struct step fused_quotient[] = {
        {.op = op("guarded_quotient"), .operands = 2, .from = {0, 1}}};
    struct step unfused_quotient[] = {
        {.op = op("div"), .operands = 2, .from = {0, 1}},
        {.op = op("select_ne"), .operands = 4, .from = {1, -1, 2, -1}, .literals = 10}};
    (void)state;
    gradient_is(1, 1, fused, zero, flat); /* inf */
    gradient_is(1, 2, unfused, zero, flat);
    gradient_is(1, 1, fused, minus, flat); /* NaN */
    gradient_is(1, 2, unfused, minus, flat);
    gradient_is(2, 1, fused_quotient, two, quotient);
    gradient_is(2, 2, unfused_quotient, two, quotient);
}

/* log is infinite and its slope too; the 0 before it rules. */
static void zero_times_a_pole_is_flat(void **state) {
    const double x[] = {0, 3}, want[] = {0, 0};
    struct step fused[] = {{.op = op("nothing_of_log"), .operands = 2, .from = {0, 1}}};
    struct step unfused[] = {{.op = op("mul"), .operands = 2, .from = {0, 1}},
                             {.op = op("log"), .operands = 1, .from = {2}},
                             {.op = op("mul"), .operands = 2, .from = {-1, 3}, .literals = 1}};
    (void)state;
    gradient_is(2, 1, fused, x, want);
    gradient_is(2, 3, unfused, x, want);
}

/* A partial that is 0 by its text is no factor: steps are flat also under an infinite slope. */
static void the_slope_of_a_step_is_zero_under_a_pole(void **state) {
    const double x[] = {0.5}, want[] = {0};
    struct step s[] = {{.op = op("floor"), .operands = 1},
                       {.op = op("sqrt"), .operands = 1, .from = {1}}};
    (void)state;
    gradient_is(1, 2, s, x, want);
}

/* ---- seeds ---- */

enum { ROOT, PRODUCT, STEP, SQUARE, OUTPUTS };

/* Outputs with partials inf, 0 and finite ones, of x0 = x1 = 0 and x2 = 3. */
static void outputs(wg_tape *t, const wg_real *x, wg_real *y) {
    y[ROOT] = wg_let(t, wg_sqrt(x[0]));
    y[PRODUCT] = wg_let(t, wg_mul(x[1], x[2])); /* d/dx1 = 3, d/dx2 = 0 */
    y[STEP] = wg_let(t, wg_fmax(x[2], x[1]));   /* d/dx2 = 1, d/dx1 = 0 */
    y[SQUARE] = wg_let(t, wg_square(x[0]));     /* d/dx0 = 0 */
}

/* What the rule makes of a seed on each output. */
static void adjoints_of(const double *w, double *g) {
    g[0] = w[ROOT] == 0 ? 0 : w[ROOT] * INFINITY;
    g[1] = w[PRODUCT] * 3;
    g[2] = w[STEP];
}

static const double seeds[][OUTPUTS] = {
    {0, 1, 1, 1},        {1, 0, 0, 0},   {0, INFINITY, 0, INFINITY}, {0, 0, -INFINITY, 0},
    {0, NAN, 0, NAN},    {NAN, 0, 0, 0}, {INFINITY, 0, NAN, 1},      {-2, 1, -1, NAN},
    {0, 0, 0, INFINITY}, {0, 0, 0, 0},   {-INFINITY, 2, 3, 0}};
enum { SEEDS = sizeof seeds / sizeof *seeds };

static void seeds_of_zero_infinity_and_nan_follow_the_rule(void **state) {
    const double a[] = {0, 0, 3};
    wg_tape *const t = check.plain;
    wg_real x[3], y[OUTPUTS];
    (void)state;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
    outputs(t, x, y);
    for (size_t s = 0; s < SEEDS; s++) {
        double want[3], g[3];
        adjoints_of(seeds[s], want);
        assert_int_equal(wg_reverse_seeds(t, OUTPUTS, y, seeds[s]), WG_OK);
        assert_int_equal(wg_adjoints(t, 3, x, g), WG_OK);
        for (size_t i = 0; i < 3; i++) {
            if (error_ulp(g[i], want[i]) != 0)
                print_error("seeds %zu: adjoint of x%zu is %g, not %g\n", s, i, g[i], want[i]);
            assert_true(error_ulp(g[i], want[i]) == 0);
        }
    }
}

/* Each lane as if it were alone, whatever its neighbours carry. */
static void lanes_follow_the_rule_one_by_one(void **state) {
    static const size_t counts[] = {1, 2, 3, 4, 5, 8, 11};
    const double a[] = {0, 0, 3};
    wg_tape *const t = check.plain;
    wg_real x[3], y[OUTPUTS];
    (void)state;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
    outputs(t, x, y);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const size_t k = counts[c];
        for (size_t first = 0; first < SEEDS; first++) {
            double w[OUTPUTS * 11];
            for (size_t j = 0; j < OUTPUTS; j++)
                for (size_t l = 0; l < k; l++) w[j * k + l] = seeds[(first + l) % SEEDS][j];
            assert_int_equal(wg_reverse_lanes(t, k, OUTPUTS, y, w), WG_OK);
            for (size_t l = 0; l < k; l++) {
                double want[3];
                adjoints_of(seeds[(first + l) % SEEDS], want);
                for (size_t i = 0; i < 3; i++) {
                    const double got = wg_adjoint_lane(t, x[i], l);
                    if (error_ulp(got, want[i]) != 0)
                        print_error("%zu lanes, seeds %zu: adjoint of x%zu is %g, not %g\n", k,
                                    (first + l) % SEEDS, i, got, want[i]);
                    assert_true(error_ulp(got, want[i]) == 0);
                }
            }
        }
    }
}

/* The same from the other end: tangents 0, inf and NaN through partials 0, 3 and inf. */
static void tangents_follow_the_rule_lane_by_lane(void **state) {
    static const double v[][3] = {{0, 1, 1},    {1, 0, 0},        {0, INFINITY, 0},
                                  {0, 0, NAN},  {0, NAN, 0},      {-1, 0, INFINITY},
                                  {NAN, -2, 0}, {INFINITY, 0, -3}};
    enum { WIDTH = sizeof v / sizeof *v };
    const double a[] = {0, 0, 3};
    wg_tape *const t = check.forward;
    wg_real x[3], y[OUTPUTS];
    (void)state;
    wg_tape_reset(t);
    assert_int_equal(wg_tape_forward(t, WIDTH), WG_OK);
    assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
    for (size_t l = 0; l < WIDTH; l++)
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(wg_tangent_seed(t, x[i], l, v[l][i]), WG_OK);
    outputs(t, x, y);
    for (size_t l = 0; l < WIDTH; l++) {
        const double want[OUTPUTS] = {v[l][0] == 0 ? 0 : v[l][0] * INFINITY, 3 * v[l][1],
                                      v[l][2], 0};
        wg_dual d[3], e[2];
        for (size_t j = 0; j < OUTPUTS; j++)
            assert_true(error_ulp(wg_tangent(t, y[j], l), want[j]) == 0);
        /* a dual with this tangent in one lane, the next one's in the others */
        for (size_t i = 0; i < 3; i++) {
            d[i] = wg_dual_constant(a[i]);
            for (size_t lane = 0; lane < WG_DUAL_WIDTH; lane++)
                d[i] = wg_dual_with(d[i], lane, v[(l + (lane != 1)) % WIDTH][i]);
        }
        e[0] = wg_dual_sqrt(d[0]), e[1] = wg_dual_mul(d[1], d[2]);
        assert_true(error_ulp(wg_dual_tangent(e[0], 1), want[ROOT]) == 0);
        assert_true(error_ulp(wg_dual_tangent(e[1], 1), want[PRODUCT]) == 0);
        assert_true(error_ulp(wg_dual_tangent(wg_dual_square(d[0]), 1), 0) == 0);
    }
}

/* ---- second order, arrays, cancellation ---- */

/* f = x sqrt(y) + z^2 at (0, 0, 1): the directions that do not touch y see no infinity. */
static void directions_that_avoid_a_pole_have_finite_curvature(void **state) {
    const double a[] = {0, 0, 1}, v[] = {0, 0, 1};
    wg_tape *const t = check.code;
    double hv[3] = {9, 9, 9};
    wg_real x[3];
    (void)state;
    for (int fused = 0; fused < 2; fused++) {
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
        const wg_real root = fused ? wg_let(t, wg_mul(x[0], wg_sqrt(x[1])))
                                   : wg_let(t, wg_mul(x[0], wg_let(t, wg_sqrt(x[1]))));
        const wg_real y = wg_let(t, wg_add(root, wg_square(x[2])));
        assert_int_equal(wg_tape_hvp(t, y, 3, x, v, hv), WG_OK);
        assert_true(hv[0] == 0 && hv[1] == 0 && hv[2] == 2);
    }
}

/* An array operation whose adjoint is 0 gives nothing on; an operand with a partial of 0 gets
 * nothing of an infinite adjoint. */
static void array_operations_follow_the_rule_per_element(void **state) {
    const double a[] = {INFINITY, 0, 2};
    const double coefficient[] = {0, 1, -2};
    wg_tape *const t = check.plain;
    wg_real x[3], y[3];
    double g[3];
    (void)state;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
    y[0] = wg_product(t, 3, x);             /* partials 0, inf, NaN by IEEE, 0 by the rule */
    y[1] = wg_linear(t, 3, coefficient, x); /* partials 0, 1, -2 */
    y[2] = wg_maximum(t, 3, x);             /* partials 1, 0, 0 */
    const double nothing[] = {0, 0, 0};
    assert_int_equal(wg_reverse_seeds(t, 3, y, nothing), WG_OK);
    assert_int_equal(wg_adjoints(t, 3, x, g), WG_OK);
    for (size_t i = 0; i < 3; i++) assert_true(g[i] == 0);
    const double infinite[] = {0, INFINITY, -INFINITY};
    assert_int_equal(wg_reverse_seeds(t, 3, y, infinite), WG_OK);
    assert_int_equal(wg_adjoints(t, 3, x, g), WG_OK);
    assert_true(g[0] == -INFINITY && g[1] == INFINITY && g[2] == -INFINITY);
}

/* The rule asks for an exact 0: adjoints that cancel, too, end there. */
static void adjoints_that_cancel_end_at_a_pole(void **state) {
    wg_tape *const t = check.plain;
    (void)state;
    wg_tape_reset(t);
    const wg_real x = wg_input(t, 0), u = wg_let(t, wg_sqrt(x)), y = wg_let(t, wg_sub(u, u));
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, u) == 0 && wg_adjoint(t, x) == 0);
}

/* Also a statement of arithmetic alone, whose numbers overflow; whichever way it takes to the
 * tape, and when it is replayed. */
static void a_statement_is_the_same_on_every_way_to_the_tape(void **state) {
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_KEEP_PLACES, WG_CHECKED};
    (void)state;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        const wg_options o = {.flags = flags[k]};
        wg_tape *const t = wg_tape_new(&o);
        assert_non_null(t);
        const wg_real x = wg_input(t, 0), none = wg_input(t, 0);
        const wg_real plain = wg_let(t, wg_mul(wg_mul(wg_mul(x, 1e308), 1e308), none));
        const wg_real beside =
            wg_let(t, wg_mul(wg_mul(wg_mul(x, 1e308), 1e308), wg_constant(0)));
        const wg_real root = wg_let(t, wg_mul(wg_sqrt(x), none));
        assert_true(plain.value == 0 && beside.value == 0 && root.value == 0);
        const wg_real of[] = {plain, beside, root};
        for (int again = 0; again < 2; again++) {
            for (size_t i = 0; i < 3; i++) {
                assert_int_equal(wg_reverse(t, of[i]), WG_OK);
                assert_true(wg_adjoint(t, x) == 0);
            }
            if ((flags[k] & WG_KEEP_CODE) == 0) break;
            const double at[] = {0, 0};
            const wg_real in[] = {x, none};
            assert_int_equal(wg_tape_replay(t, 2, in, at), WG_OK);
        }
        wg_tape_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_with_a_root_at_zero_is_flat_fused_and_unfused),
        cmocka_unit_test(a_root_at_zero_keeps_its_infinite_slope),
        cmocka_unit_test(roots_of_squares_and_squares_of_roots_are_flat_at_zero),
        cmocka_unit_test(a_branch_that_was_not_selected_does_not_count),
        cmocka_unit_test(zero_times_a_pole_is_flat),
        cmocka_unit_test(the_slope_of_a_step_is_zero_under_a_pole),
        cmocka_unit_test(seeds_of_zero_infinity_and_nan_follow_the_rule),
        cmocka_unit_test(lanes_follow_the_rule_one_by_one),
        cmocka_unit_test(tangents_follow_the_rule_lane_by_lane),
        cmocka_unit_test(directions_that_avoid_a_pole_have_finite_curvature),
        cmocka_unit_test(array_operations_follow_the_rule_per_element),
        cmocka_unit_test(adjoints_that_cancel_end_at_a_pole),
        cmocka_unit_test(a_statement_is_the_same_on_every_way_to_the_tape),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

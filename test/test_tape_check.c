/* SPDX-License-Identifier: MIT */
/* test_tape_check.c - wg_check_gradient and wg_check_hessian: they trust what is right and find
 * what is wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wengert/operation.h>
#include "opt_cases.h"
#include "tolerance.h"

static wg_tape *tape, *coded; /* without and with WG_KEEP_CODE */

static int open_tape(void **state) {
    const wg_options keep = {.flags = WG_KEEP_CODE};
    (void)state;
    tape = wg_tape_new(NULL);
    coded = wg_tape_new(&keep);
    return tape == NULL || coded == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    wg_tape_free(coded);
    return 0;
}
static void assert_message_of(const wg_tape *t, const char *part) {
    if (strstr(wg_tape_message(t), part) == NULL)
        fail_msg("the message is: %s\nand not: %s", wg_tape_message(t), part);
}
/* What stands in a result where a check has not come to a verdict. */
static void assert_nothing_found(const wg_check *r) {
    assert_true(isnan(r->fd_error) && isnan(r->fd_estimate) && isnan(r->dot_error));
    assert_true(r->output == 0 && r->direction == 0);
}
static void assert_message(const char *part) { assert_message_of(tape, part); }

/* Operations whose derivative is wrong, by so much. */
WG_OPERATION1(off_by_a_millionth, sin(a), cos(a) * (1 + 1e-6), -v, GUARD, "wrong on purpose")
WG_OPERATION1(wrong_sign, cos(a), sin(a), -v, GUARD, "wrong on purpose")
WG_OPERATION2(forgets_b, a *b, b, 0, 0, 0, 0, ARITH, "wrong on purpose")
/* And those whose second derivative is. */
WG_OPERATION1(bent_by_a_millionth, sin(a), cos(a), -v *(1 + 1e-6), GUARD, "wrong on purpose")
WG_OPERATION1(bent_away, cos(a), -sin(a), v, GUARD, "wrong on purpose")
WG_OPERATION2(unmixed, a *b, b, a, 0, 0, 0, ARITH, "wrong on purpose")

struct slip {
    size_t output, input; /* where the wrong operation stands */
    int kind;             /* 0: nowhere */
};
static wg_status slips(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    const struct slip *const s = data;
    for (size_t j = 0; j < m; j++) {
        y[j] = wg_let(t, wg_mul(wg_sin(x[j % n]), wg_exp(x[(j + 1) % n])));
        if (s == NULL || j != s->output || s->kind == 0) continue;
        const wg_real z = x[s->input];
        if (s->kind == 1) y[j] = wg_let(t, wg_add(y[j], WG_CALL1(off_by_a_millionth, z)));
        if (s->kind == 2) y[j] = wg_let(t, wg_add(y[j], WG_CALL1(wrong_sign, z)));
        if (s->kind == 3) y[j] = wg_let(t, WG_CALL2(forgets_b, y[j], z));
        if (s->kind == 4) y[j] = wg_let(t, wg_add(y[j], WG_CALL1(bent_by_a_millionth, z)));
        if (s->kind == 5) y[j] = wg_let(t, wg_add(y[j], WG_CALL1(bent_away, z)));
        if (s->kind == 6) y[j] = wg_let(t, WG_CALL2(unmixed, y[j], z));
    }
    return WG_OK;
}

static void check_case(const struct opt_case *c) {
    int number = c->number;
    wg_check r = {NAN, NAN, 99, 99, NAN};
    wg_status s = wg_check_gradient(tape, opt_objective, &number, c->n, c->x, 1, &r);
    if (s == WG_OK && c->m != 0)
        s = wg_check_gradient(tape, opt_residuals, &number, c->n, c->x, c->m, &r);
    if (s != WG_OK) fail_msg("%s: %s", c->text.name, wg_tape_message(tape));
    assert_true(r.fd_error >= 0 && r.fd_estimate >= 0 && r.dot_error >= 0);
    assert_true(r.dot_error <= TOL_FORWARD_REVERSE_ULP * DBL_EPSILON);
    assert_true(r.direction < c->n && (c->m == 0 || r.output < c->m));
}
static void right_derivatives_pass_at_every_reference_point(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(check_case), OPT_CASES);
}

static void wrong_derivatives_are_found_where_they_are(void **state) {
    (void)state;
    const double x[4] = {0.3, -1.2, 2, 0.7};
    for (int kind = 0; kind <= 3; kind++)
        for (size_t output = 0; output < 3; output++)
            for (size_t input = 0; input < 4; input++) {
                struct slip s = {output, input, kind};
                wg_check r = {0, 0, 99, 99, 0};
                const wg_status got = wg_check_gradient(tape, slips, &s, 4, x, 3, &r);
                if (kind == 0) {
                    assert_int_equal(got, WG_OK);
                    continue;
                }
                assert_int_equal(got, WG_EMISMATCH);
                assert_int_equal(wg_tape_status(tape), WG_EMISMATCH);
                assert_int_equal(r.output, output);
                assert_int_equal(r.direction, input);
                assert_true(r.fd_error > 1e3 * r.fd_estimate);
                char part[64];
                snprintf(part, sizeof part, "wg_check_gradient: output %zu along direction %zu",
                         output, input);
                assert_message(part);
            }
}

static void check_hessians(const struct opt_case *c) {
    int number = c->number;
    wg_check r = {NAN, NAN, 99, 99, NAN};
    wg_status s = wg_check_hessian(coded, opt_objective, &number, c->n, c->x, 1, &r);
    if (s == WG_OK && c->m != 0)
        s = wg_check_hessian(coded, opt_residuals, &number, c->n, c->x, c->m, &r);
    if (s != WG_OK) fail_msg("%s: %s", c->text.name, wg_tape_message(coded));
    assert_true(r.fd_error >= 0 && r.fd_estimate >= 0 && r.dot_error >= 0);
    assert_true(r.dot_error <= TOL_FORWARD_REVERSE_ULP * DBL_EPSILON);
    assert_true(r.direction < c->n && (c->m == 0 || r.output < c->m));
}
static void right_hessians_pass_at_every_reference_point(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(check_hessians), OPT_CASES);
}

static void wrong_second_derivatives_are_found_where_they_are(void **state) {
    (void)state;
    const double x[4] = {0.3, -1.2, 2, 0.7};
    for (int kind = 4; kind <= 6; kind++)
        for (size_t output = 0; output < 3; output++)
            for (size_t input = 0; input < 4; input++) {
                struct slip s = {output, input, kind};
                wg_check r = {0, 0, 99, 99, 0};
                assert_int_equal(wg_check_gradient(coded, slips, &s, 4, x, 3, &r), WG_OK);
                assert_int_equal(wg_check_hessian(coded, slips, &s, 4, x, 3, &r), WG_EMISMATCH);
                assert_int_equal(wg_tape_status(coded), WG_EMISMATCH);
                assert_int_equal(r.output, output);
                if (kind != 6) assert_int_equal(r.direction, input); /* or the other factor's */
                assert_true(r.fd_error > 1e3 * r.fd_estimate);
                char part[64];
                snprintf(part, sizeof part,
                         "wg_check_hessian: output %zu along direction %zu: u' H v is ", output,
                         r.direction);
                assert_message_of(coded, part);
            }
    /* the two numbers, where there is one input */
    const struct slip s = {0, 0, 5};
    double one = 0;
    assert_int_equal(wg_check_hessian(coded, slips, (void *)(uintptr_t)&s, 1, &one, 1, NULL),
                     WG_EMISMATCH); /* (sin exp)'' = 2 at 0, plus 1 and not -1 */
    assert_message_of(coded, "wg_check_hessian: output 0 along direction 0: u' H v is 3, by "
                             "finite differences of tangents 1");
}

static void with_many_inputs_random_directions_find_it_too(void **state) {
    (void)state;
    enum { N = 100 };
    double x[N];
    wg_check r;
    for (int i = 0; i < N; i++) x[i] = 0.5 + 0.01 * i;
    struct slip s = {1, 77, 0};
    assert_int_equal(wg_check_gradient(tape, slips, &s, N, x, 3, &r), WG_OK);
    for (s.kind = 1; s.kind <= 3; s.kind++) {
        assert_int_equal(wg_check_gradient(tape, slips, &s, N, x, 3, &r), WG_EMISMATCH);
        assert_int_equal(r.output, 1);
    }
    s.kind = 0;
    assert_int_equal(wg_check_hessian(coded, slips, &s, N, x, 3, &r), WG_OK);
    for (s.kind = 4; s.kind <= 6; s.kind++) {
        assert_int_equal(wg_check_hessian(coded, slips, &s, N, x, 3, &r), WG_EMISMATCH);
        assert_int_equal(r.output, 1);
    }
}

static void the_same_check_gives_the_same_numbers(void **state) {
    (void)state;
    const double x[3] = {1, 2, 3};
    wg_check a, b;
    memset(&a, 0, sizeof a), memset(&b, 0, sizeof b);
    assert_int_equal(wg_check_gradient(tape, slips, NULL, 3, x, 5, &a), WG_OK);
    assert_int_equal(wg_check_gradient(tape, slips, NULL, 3, x, 5, &b), WG_OK);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(wg_check_hessian(coded, slips, NULL, 3, x, 5, &a), WG_OK);
    assert_int_equal(wg_check_hessian(coded, slips, NULL, 3, x, 5, &b), WG_OK);
    assert_memory_equal(&a, &b, sizeof a);
}

/* ---- bounds and scales ---- */

/* A sum of logarithms that is left at once where it is called outside of its bounds. */
struct bounded {
    const double *lower, *upper;
    double slope, farthest; /* of x[0] from where it was called first */
    double first;
    int calls;
};
static wg_status bounded(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    struct bounded *const b = data;
    (void)m;
    y[0] = wg_constant(0);
    for (size_t i = 0; i < n; i++) {
        const double a = wg_value(x[i]);
        if (!(a >= b->lower[i] && a <= b->upper[i])) return WG_EARG;
        y[0] = wg_let(t, wg_add(y[0], wg_exp(wg_mul(1 + 0.25 * (double)(i % 3), x[i]))));
    }
    const double a = wg_value(x[0]);
    if (b->calls++ == 0) b->first = a;
    b->farthest = fmax(b->farthest, fabs(a - b->first));
    y[0] = wg_let(t, wg_add(y[0], wg_mul(b->slope, wg_sub(x[0], a))));
    return WG_OK;
}
static void bounds_are_never_left(void **state) {
    (void)state;
    enum { MOST = 40 };
    static const size_t inputs[] = {1, 3, MOST};
    double lower[MOST], upper[MOST], x[MOST];
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++)
        for (int where = 0; where < 6; where++)
            for (int wrong = 0; wrong < 2; wrong++) {
                const size_t n = inputs[k];
                for (size_t i = 0; i < n; i++) {
                    const double width[6] = {1, 1, 1e-3, 1e-9, 1e-3, 1};
                    const double part[6] = {0, 1, 0.5, 0, 1, 1e-5};
                    lower[i] = 0.3 * (double)(i % 5) - 0.5;
                    upper[i] = lower[i] + width[where];
                    x[i] = fmin(lower[i] + part[where] * width[where], upper[i]);
                }
                if (n > 1) lower[1] = upper[1] = x[1]; /* not moved at all */
                struct bounded b = {lower, upper, wrong * 1e-2, 0, 0, 0};
                const wg_check_range range = {lower, upper, NULL};
                wg_check r;
                for (int order = 1; order <= 2 - wrong; order++) {
                    const wg_status s =
                        (order == 1 ? wg_check_gradient_within : wg_check_hessian_within)(
                            coded, bounded, &b, n, x, 1, &range, &r);
                    if (s != (wrong ? WG_EMISMATCH : WG_OK))
                        fail_msg("%zu inputs, %d, order %d: %d, %s", n, where, order, (int)s,
                                 wg_tape_message(coded));
                }
            }
}

static void scales_say_how_far_is_far(void **state) {
    (void)state;
    static const double scales[] = {1e-6, 1e-3, 1, 4};
    const double x = 0.7, lower = -INFINITY, upper = INFINITY;
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        struct bounded b = {&lower, &upper, 0, 0, 0, 0};
        const wg_check_range range = {NULL, NULL, &scales[k]};
        assert_int_equal(wg_check_gradient_within(tape, bounded, &b, 1, &x, 1, &range, NULL),
                         WG_OK);
        assert_true(b.farthest <= scales[k] / 8 && b.farthest > scales[k] / 32);
        b.slope = 1e-2;
        assert_int_equal(wg_check_gradient_within(tape, bounded, &b, 1, &x, 1, &range, NULL),
                         WG_EMISMATCH);
    }
    const double below = 0.6, negative = -1;
    struct bounded b = {&lower, &upper, 0, 0, 0, 0};
    wg_check r = {-77, 0, 0, 0, 0};
    wg_check_range range = {NULL, &below, NULL};
    assert_int_equal(wg_check_gradient_within(tape, bounded, &b, 1, &x, 1, &range, &r),
                     WG_EARG);
    assert_message("wg_check_gradient_within: x[0] = 0.7 is not within its bounds");
    assert_nothing_found(&r);
    range = (wg_check_range){NULL, NULL, &negative};
    assert_int_equal(wg_check_hessian_within(coded, bounded, &b, 1, &x, 1, &range, &r),
                     WG_EARG);
    assert_message_of(coded, "wg_check_hessian_within: scale[0] is not positive");
    assert_int_equal(wg_check_gradient_within(tape, bounded, &b, 1, &x, 1, NULL, &r), WG_OK);
}

/* ---- functions that are hard to step ---- */

static wg_status hard(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m;
    switch (*(const int *)data) {
    case 0:
        y[0] = wg_let(t, wg_log(x[0]));
        break; /* near the edge of its domain */
    case 1:
        y[0] = wg_let(t, wg_exp(wg_mul(1000, x[0])));
        break; /* steep */
    case 2:
        y[0] = wg_let(t, wg_sin(wg_mul(1e4, x[0])));
        break; /* wild */
    case 3:
        y[0] = wg_let(t, wg_sub(wg_add(1e10, x[0]), 1e10));
        break; /* noisy */
    case 4:
        y[0] = wg_let(t, wg_fabs(x[0]));
        break; /* a kink nearby */
    case 5:
        y[0] = wg_let(t, wg_mul(x[0], 3));
        break;
    case 6:
        y[0] = wg_let(t, wg_square(x[0]));
        break;
    default:
        y[0] = wg_let(t, wg_sqrt(x[0]));
        break;
    }
    return WG_OK;
}
static void functions_that_are_hard_to_step_pass(void **state) {
    (void)state;
    const struct {
        int which;
        double x;
    } at[] = {{0, 1e-8}, {0, 1e-3},  {0, 1e300}, {1, 0.3},  {2, 1},      {3, 1},    {4, 1e-4},
              {5, 0},    {5, 1e-30}, {5, 1e300}, {6, 1e-9}, {6, -1e100}, {7, 1e-6}, {4, -0.01}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        int which = at[i].which;
        if (wg_check_gradient(tape, hard, &which, 1, &at[i].x, 1, NULL) != WG_OK)
            fail_msg("function %d at %g: %s", which, at[i].x, wg_tape_message(tape));
        if (at[i].x == 1e300) continue; /* the second derivative is below all numbers */
        if (wg_check_hessian(coded, hard, &which, 1, &at[i].x, 1, NULL) != WG_OK)
            fail_msg("function %d at %g: %s", which, at[i].x, wg_tape_message(coded));
    }
}

static void what_is_not_finite_is_named(void **state) {
    (void)state;
    int log_of = 0, root_of = 7, steep = 1;
    double x = -1;
    wg_check r = {-77, 0, 0, 0, 0};
    assert_int_equal(wg_check_gradient(tape, hard, &log_of, 1, &x, 1, &r), WG_ENONFINITE);
    assert_message("wg_check_gradient: output 0 is not finite at x");
    x = 0;
    assert_int_equal(wg_check_gradient(tape, hard, &root_of, 1, &x, 1, &r), WG_ENONFINITE);
    assert_message("along direction 0");
    x = 1;
    assert_int_equal(wg_check_gradient(tape, hard, &steep, 1, &x, 1, &r), WG_ENONFINITE);
    assert_int_equal(wg_check_hessian(coded, hard, &steep, 1, &x, 1, &r), WG_ENONFINITE);
    assert_message_of(coded, "wg_check_hessian: output 0 is not finite at x");
    x = 0;
    assert_int_equal(wg_check_hessian(coded, hard, &root_of, 1, &x, 1, &r), WG_ENONFINITE);
    assert_message_of(coded, "wg_check_hessian: the second derivative of output 0 along "
                             "direction 0 is not finite");
    assert_nothing_found(&r);
    const wg_options opt = {.flags = WG_TRACE}; /* which stops at the first NaN nearby */
    wg_tape *const t = wg_tape_new(&opt);
    x = 1e-6;
    assert_int_equal(wg_check_gradient(t, hard, &root_of, 1, &x, 1, &r), WG_OK);
    x = -1;
    assert_int_equal(wg_check_gradient(t, hard, &root_of, 1, &x, 1, &r), WG_ENONFINITE);
    assert_non_null(strstr(wg_tape_message(t), "sqrt gave nan from -1"));
    wg_tape_free(t);
}

/* One function when it is recorded, after its values and tangents, and another one
 * otherwise. */
struct two_faced {
    int calls, kind;
};
static wg_status two_faced(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    struct two_faced *const d = data;
    (void)n, (void)m;
    d->calls++;
    if (d->kind == 2 && wg_value(x[0]) != 0) y[0] = wg_constant(NAN); /* nearby */
    else if (d->calls != 3) y[0] = wg_let(t, wg_mul(2, x[0]));
    else if (d->kind == 1) y[0] = wg_let(t, wg_sqrt(x[0]));
    else y[0] = wg_let(t, wg_mul(3, x[0]));
    return WG_OK;
}
static void adjoints_that_differ_from_tangents_are_found(void **state) {
    (void)state;
    const double x = 0;
    struct two_faced f = {0, 0};
    wg_check r = {-77, 0, 0, 0, 0};
    assert_int_equal(wg_check_gradient(tape, two_faced, &f, 1, &x, 1, &r), WG_EMISMATCH);
    assert_message("wg_check_gradient: <w, J v> and <J' w, v> differ by 0.2");
    assert_true(fabs(r.dot_error - 0.2) < DBL_EPSILON); /* |3 - 2| of 3 + 2 */
    assert_true(r.fd_error <= r.fd_estimate);
    f = (struct two_faced){0, 1};
    assert_int_equal(wg_check_gradient(tape, two_faced, &f, 1, &x, 1, &r), WG_ENONFINITE);
    assert_message("the adjoints along direction 0 are not finite");
    f = (struct two_faced){0, 2};
    assert_int_equal(wg_check_gradient(tape, two_faced, &f, 1, &x, 1, &r), WG_ENONFINITE);
    assert_message("output 0 is not finite around x along direction 0");
}

static wg_status constants(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)t, (void)n, (void)x, (void)data;
    for (size_t j = 0; j < m; j++) y[j] = wg_constant((double)j);
    return WG_OK;
}
static void constants_and_empty_lists_pass(void **state) {
    (void)state;
    const double x[2] = {0, 1};
    wg_check r = {1, 1, 1, 1, 1};
    assert_int_equal(wg_check_gradient(tape, constants, NULL, 2, x, 3, &r), WG_OK);
    assert_true(r.fd_error == 0 && r.dot_error == 0);
    assert_int_equal(wg_check_gradient(tape, constants, NULL, 0, NULL, 3, &r), WG_OK);
    assert_int_equal(wg_check_gradient(tape, constants, NULL, 2, x, 0, &r), WG_OK);
    assert_int_equal(wg_check_gradient(tape, constants, NULL, 0, NULL, 0, NULL), WG_OK);
    assert_int_equal(wg_check_hessian(coded, constants, NULL, 2, x, 3, &r), WG_OK);
    assert_true(r.fd_error == 0 && r.dot_error == 0);
    assert_int_equal(wg_check_hessian(coded, constants, NULL, 0, NULL, 3, &r), WG_OK);
    assert_int_equal(wg_check_hessian(coded, constants, NULL, 2, x, 0, &r), WG_OK);
    assert_int_equal(wg_check_hessian(coded, constants, NULL, 0, NULL, 0, NULL), WG_OK);
}

static wg_status tires(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)t, (void)n, (void)m;
    y[0] = x[0];
    return --*(int *)data < 0 ? WG_EARG : WG_OK;
}
static void mistakes_are_named(void **state) {
    (void)state;
    const double x = 1;
    wg_check r = {-77, 0, 0, 0, 0};
    assert_int_equal(wg_check_gradient(NULL, slips, NULL, 1, &x, 1, &r), WG_ENULL);
    assert_int_equal(wg_check_gradient(tape, NULL, NULL, 1, &x, 1, &r), WG_ENULL);
    assert_message("wg_check_gradient: the function is NULL");
    assert_int_equal(wg_check_gradient(tape, slips, NULL, 1, NULL, 1, &r), WG_ENULL);
    assert_message("wg_check_gradient: x is NULL");
    assert_int_equal(wg_check_gradient(tape, slips, NULL, SIZE_MAX / 2, &x, 1, &r), WG_ENOMEM);
    for (int calls = 0; calls < 40; calls += 13) { /* at x, at the noise, at a step */
        int left = calls;
        assert_int_equal(wg_check_gradient(tape, tires, &left, 1, &x, 1, &r), WG_EARG);
        assert_message("wg_check_gradient: the function returned");
        left = calls;
        assert_int_equal(wg_check_hessian(coded, tires, &left, 1, &x, 1, &r), WG_EARG);
        assert_message_of(coded, "wg_check_hessian: the function returned");
    }
    assert_int_equal(wg_check_hessian(NULL, slips, NULL, 1, &x, 1, &r), WG_ENULL);
    assert_int_equal(wg_check_hessian(tape, slips, NULL, 1, &x, 1, &r), WG_EMODE);
    assert_message("wg_check_hessian: the tape was not opened with WG_KEEP_CODE");
    assert_nothing_found(&r);
}

/* The sum of the squares of x by an operation on matrices. */
static wg_status same_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}
static wg_status squares_value(wg_block *b) {
    for (size_t i = 0; i < b->in[0].rows; i++)
        b->out[0].value[i] = b->in[0].value[i] * b->in[0].value[i];
    return WG_OK;
}
static wg_status squares_vjp(wg_block *b) {
    for (size_t i = 0; i < b->in[0].rows; i++)
        b->in[0].bar[i] += 2 * b->in[0].value[i] * b->out[0].bar[i];
    return WG_OK;
}
static wg_status squares(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    for (size_t i = 0; i < b->in[0].rows; i++) y[i] = wg_let(t, wg_square(x[i]));
    return WG_OK;
}
static wg_status cubes(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    for (size_t i = 0; i < b->in[0].rows; i++) y[i] = wg_let(t, wg_cube(x[i]));
    return WG_OK;
}
/* The adjoint of one and the other in turn. */
static int asked;
static wg_status in_turn(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                         const wg_mat *bar, wg_mat *back) {
    (void)b, (void)out;
    back[0] = wg_mat_mul(t, bar[0],
                         asked++ % 2 ? wg_mat_scale(t, 3, wg_mat_square(t, in[0]))
                                     : wg_mat_scale(t, 2, in[0]));
    return wg_tape_status(t);
}
static wg_status sum_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const wg_mat a = wg_mat_gather(t, n, 1, x);
    wg_mat b;
    const wg_status s = wg_apply(t, data, NULL, 0, 1, &a, 1, &b);
    (void)m;
    if (s == WG_OK) y[0] = wg_mat_sum(t, b);
    return s;
}
static void what_matrix_operations_expand_to_is_looked_at(void **state) {
    (void)state;
    const double x[2] = {3, 5};
    wg_block_op op = {"squares", WG_OP_EXPANDS, same_shape, squares_value, squares_vjp,
                      NULL,      squares,       NULL,       NULL};
    wg_check r = {-77, 0, 0, 0, 0};
    assert_int_equal(wg_check_hessian(coded, sum_of, &op, 2, x, 1, &r), WG_OK);
    assert_true(r.fd_error >= 0);
    op.expand = cubes;
    assert_int_equal(wg_check_gradient(coded, sum_of, &op, 2, x, 1, NULL), WG_OK);
    assert_int_equal(wg_check_hessian(coded, sum_of, &op, 2, x, 1, NULL), WG_EMISMATCH);
    op.expand = NULL, op.adjoint = in_turn;
    assert_int_equal(wg_check_hessian(coded, sum_of, &op, 1, x, 1, &r), WG_EMISMATCH);
    assert_message_of(coded, "wg_check_hessian: output 0 along direction 0: <u, H v> is 2, "
                             "<v, H u> is 18");
    assert_true(r.dot_error > 0.5);
    op.adjoint = NULL;
    assert_int_equal(wg_check_hessian(coded, sum_of, &op, 2, x, 1, NULL), WG_EMODE);
    assert_message_of(coded, "wg_check_hessian: wg_tape_hvp: squares");
}

/* Finite at 1, and its derivative, and nowhere around it. */
static wg_status lonely(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sqrt(wg_neg(wg_square(wg_sub(x[0], 1)))));
    return WG_OK;
}
/* Wrong along x[0]; very near to the point, not finite along x[1]. */
static wg_status wrong_with_a_hole(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                   void *data) {
    const double off = fabs(wg_value(x[1]) - 1);
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(WG_CALL1(wrong_sign, x[0]), x[1]));
    if (off > 0 && off < 0x1p-20) y[0] = wg_let(t, wg_div(y[0], wg_sub(x[1], x[1])));
    return WG_OK;
}
static void a_traced_tape_gives_the_same_verdict(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_TRACE};
    wg_tape *const plain = tape, *const traced = wg_tape_new(&opt);
    const double x[2] = {1, 1};
    assert_non_null(traced);
    for (int k = 0; k < 2; k++) {
        wg_check r = {0};
        tape = k == 0 ? plain : traced;
        assert_int_equal(wg_check_gradient(tape, lonely, NULL, 1, x, 1, &r), WG_ENONFINITE);
        assert_int_equal(wg_tape_status(tape), WG_ENONFINITE);
        assert_message("wg_check_gradient: output 0 is not finite around x");
        assert_int_equal(wg_check_gradient(tape, wrong_with_a_hole, NULL, 2, x, 1, &r),
                         WG_EMISMATCH);
        assert_int_equal(wg_tape_status(tape), WG_EMISMATCH);
        assert_message("wg_check_gradient: output 0 along direction 0");
        assert_true(r.output == 0 && r.direction == 0 && r.fd_error > 1);
        assert_int_equal(wg_check_gradient(tape, slips, NULL, 2, x, 2, &r), WG_OK);
        assert_int_equal(wg_tape_status(tape), WG_OK);
    }
    for (int k = 0; k < 2; k++) { /* and of second derivatives */
        const wg_options keep = {.flags = k == 0 ? WG_KEEP_CODE : WG_KEEP_CODE | WG_TRACE};
        const struct slip s = {0, 1, 6};
        tape = wg_tape_new(&keep);
        assert_int_equal(wg_check_hessian(tape, slips, (void *)(uintptr_t)&s, 2, x, 1, NULL),
                         WG_EMISMATCH);
        assert_int_equal(wg_check_hessian(tape, lonely, NULL, 1, x, 1, NULL), WG_ENONFINITE);
        wg_tape_free(tape);
    }
    tape = plain;
    wg_tape_free(traced);
}

/* ---- large steps agree by chance, small ones are lost in rounding ---- */

enum shape { PERIODIC, LOST, POLE, RIPPLED, LOGARITHM, STAIRS };
static wg_status misleading(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m;
    switch (*(const enum shape *)data) {
    case PERIODIC:
        y[0] = wg_let(t, wg_sinpi(x[0]));
        break;
    case LOST:
        y[0] = wg_let(t, wg_sub(wg_add(1, wg_square(x[0])), 1));
        break;
    case POLE:
        y[0] = wg_let(t, wg_reciprocal(x[0]));
        break;
    case RIPPLED:
        y[0] = wg_let(t, wg_add(wg_mul(1e5, wg_square(x[0])), wg_sin(x[0])));
        break;
    case LOGARITHM:
        y[0] = wg_let(t, wg_log(x[0]));
        break;
    case STAIRS:
        y[0] = wg_let(t, wg_floor(x[0]));
    }
    return WG_OK;
}
static void functions_that_mislead_large_steps_pass(void **state) {
    (void)state;
    static const struct {
        enum shape f;
        double x;
    } at[] = {{PERIODIC, 16},      {PERIODIC, 30},     {PERIODIC, 1048576}, {LOST, 1e-8},
              {POLE, 1e-7},        {POLE, -1e-10},     {POLE, 1e-14},       {POLE, 1e-30},
              {RIPPLED, 1293},     {LOGARITHM, 1e-12}, {LOGARITHM, 1e-100}, {STAIRS, 30.5},
              {STAIRS, 1000000.5}, {STAIRS, -1e-12}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        enum shape f = at[i].f;
        if (wg_check_gradient(tape, misleading, &f, 1, &at[i].x, 1, NULL) != WG_OK)
            fail_msg("%d at %g: %s", (int)f, at[i].x, wg_tape_message(tape));
        if (f == STAIRS || f == LOST) continue;
        if (wg_check_hessian(coded, misleading, &f, 1, &at[i].x, 1, NULL) != WG_OK)
            fail_msg("%d at %g: %s", (int)f, at[i].x, wg_tape_message(coded));
    }
}

/* The same with a derivative that is wrong: none of that lets it pass. */
static wg_status misled(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const wg_status s = misleading(t, n, x, m, y, data);
    y[0] = wg_let(t, wg_sub(wg_mul(1.001, y[0]), 0.001 * wg_value(y[0])));
    return s;
}
static void and_their_wrong_derivatives_are_found(void **state) {
    (void)state;
    static const struct {
        enum shape f;
        double x;
    } at[] = {{PERIODIC, 16}, {PERIODIC, 30},  {PERIODIC, 1024},  {POLE, 1e-7},
              {POLE, 1e-14},  {RIPPLED, 1293}, {LOGARITHM, 1e-12}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        enum shape f = at[i].f;
        if (wg_check_gradient(tape, misled, &f, 1, &at[i].x, 1, NULL) != WG_EMISMATCH)
            fail_msg("%d at %g: %s", (int)f, at[i].x, wg_tape_message(tape));
    }
}

/* The fractions of three amounts, and their sum: its derivatives are 0 but for rounding. */
static wg_status fractions(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const wg_real all = wg_sum(t, n, x);
    (void)data;
    for (size_t i = 0; i < n; i++) y[i] = wg_let(t, wg_div(x[i], all));
    y[m - 1] = wg_sum(t, n, y);
    return WG_OK;
}
static void derivatives_that_are_rounding_pass(void **state) {
    (void)state;
    for (double unit = 1; unit > 1e-12; unit /= 100)
        for (int k = 1; k <= 50; k++) {
            const double x[3] = {1.1 * unit * k, 2.3 * unit, 3.7 * unit * (1 + 0.01 * k)};
            if (wg_check_gradient(tape, fractions, NULL, 3, x, 4, NULL) != WG_OK)
                fail_msg("%g, %d: %s", unit, k, wg_tape_message(tape));
        }
}

/* Large terms c that leave roundings of their own: sin(s x + c), with the slope s where it
 * counts, and ((exp(sin(x)) + c) - c)^2. */
struct beside {
    double c, slope;
    int squared;
};
static wg_status beside_large_terms(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                    wg_real *y, void *data) {
    const struct beside *const b = data;
    (void)n, (void)m;
    if (b->squared) {
        const wg_real u = wg_let(t, wg_sub(wg_add(wg_exp(wg_sin(x[0])), b->c), b->c));
        y[0] = wg_let(t, wg_square(u));
        return WG_OK;
    }
    const double a = wg_value(x[0]);
    const wg_real z = wg_let(t, wg_add(a, wg_mul(b->slope, wg_sub(x[0], a))));
    y[0] = wg_let(t, wg_sin(wg_add(z, b->c)));
    return WG_OK;
}
static void small_terms_beside_large_ones_are_looked_at(void **state) {
    (void)state;
    static const double wrong[] = {1.01, 1.5, 2, 2.9, 0.5, 0, -0.9};
    for (double c = 1e3; c < 2e9; c *= 10)
        for (int k = 0; k < 20; k++) {
            const double x = 0.31 + 0.00713 * k;
            struct beside b = {c * (1 + 0.00037 * k), 1, 0};
            if (wg_check_gradient(tape, beside_large_terms, &b, 1, &x, 1, NULL) != WG_OK)
                fail_msg("%g, %g: %s", c, x, wg_tape_message(tape));
            for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                b.slope = wrong[i];
                if (wg_check_gradient(tape, beside_large_terms, &b, 1, &x, 1, NULL) !=
                    WG_EMISMATCH)
                    fail_msg("%g, %g: slope %g", c, x, wrong[i]);
            }
            b.squared = 1;
            if (wg_check_gradient(coded, beside_large_terms, &b, 1, &x, 1, NULL) != WG_OK ||
                (c < 2e6 &&
                 wg_check_hessian(coded, beside_large_terms, &b, 1, &x, 1, NULL) != WG_OK))
                fail_msg("%g, %g: %s", c, x, wg_tape_message(coded));
        }
}

/* exp(z), 1 + z / 1000 and sin(1e7 z), where z has the value of x and some slope; cos(x), its
 * slope wrong by the same. */
enum of_a_slope { EXPONENTIAL, LINE, QUICK, LEVEL };
struct sloped {
    enum of_a_slope f;
    double slope;
};
static wg_status of_slope(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    const struct sloped *const b = data;
    const double a = wg_value(x[0]);
    const wg_real z = wg_let(t, wg_add(a, wg_mul(b->slope, wg_sub(x[0], a))));
    (void)n, (void)m;
    if (b->f == EXPONENTIAL) y[0] = wg_let(t, wg_exp(z));
    else if (b->f == LINE) y[0] = wg_let(t, wg_add(1, wg_div(z, 1000)));
    else if (b->f == LEVEL)
        y[0] = wg_let(t, wg_add(wg_cos(x[0]), wg_mul(b->slope - 1, wg_sub(x[0], a))));
    else y[0] = wg_let(t, wg_sin(wg_mul(1e7, z)));
    return WG_OK;
}
static void wrong_slopes_are_found_at_tiny_inputs_and_of_quick_functions(void **state) {
    (void)state;
    static const double wrong[] = {1.5, 2, 0, -1};
    static const struct {
        enum of_a_slope f;
        double x;
    } at[] = {{EXPONENTIAL, 1e-12}, {EXPONENTIAL, -1e-17}, {EXPONENTIAL, 1e-40},
              {LINE, 1e-12},        {QUICK, 1.0137},       {QUICK, 1.2055},
              {LEVEL, 1e-12},       {LEVEL, 1e-16},        {LEVEL, -1e-40}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct sloped b = {at[i].f, 1};
        if (wg_check_gradient(coded, of_slope, &b, 1, &at[i].x, 1, NULL) != WG_OK ||
            wg_check_hessian(coded, of_slope, &b, 1, &at[i].x, 1, NULL) != WG_OK)
            fail_msg("%zu: %s", i, wg_tape_message(coded));
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            b.slope = wrong[k];
            if (wg_check_gradient(coded, of_slope, &b, 1, &at[i].x, 1, NULL) != WG_EMISMATCH)
                fail_msg("%zu: slope %g", i, wrong[k]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_derivatives_pass_at_every_reference_point),
        cmocka_unit_test(wrong_derivatives_are_found_where_they_are),
        cmocka_unit_test(right_hessians_pass_at_every_reference_point),
        cmocka_unit_test(wrong_second_derivatives_are_found_where_they_are),
        cmocka_unit_test(with_many_inputs_random_directions_find_it_too),
        cmocka_unit_test(the_same_check_gives_the_same_numbers),
        cmocka_unit_test(bounds_are_never_left),
        cmocka_unit_test(scales_say_how_far_is_far),
        cmocka_unit_test(functions_that_are_hard_to_step_pass),
        cmocka_unit_test(what_is_not_finite_is_named),
        cmocka_unit_test(adjoints_that_differ_from_tangents_are_found),
        cmocka_unit_test(constants_and_empty_lists_pass),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(what_matrix_operations_expand_to_is_looked_at),
        cmocka_unit_test(a_traced_tape_gives_the_same_verdict),
        cmocka_unit_test(functions_that_mislead_large_steps_pass),
        cmocka_unit_test(and_their_wrong_derivatives_are_found),
        cmocka_unit_test(derivatives_that_are_rounding_pass),
        cmocka_unit_test(small_terms_beside_large_ones_are_looked_at),
        cmocka_unit_test(wrong_slopes_are_found_at_tiny_inputs_and_of_quick_functions),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}

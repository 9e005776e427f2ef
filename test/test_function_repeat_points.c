/* SPDX-License-Identifier: MIT */
/* test_function_repeat_points.c - derivatives of gradients through loops in loops, where inputs
 * are shared or one per point and outputs summed or not: against the same functions written
 * out. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "repeat_case.h"

/* A loop is a map whose terms are summed, over data or over points made of an input, or a
 * scan. */
typedef enum { OVER_DATA, OVER_POINTS, THROUGH_STEPS, KINDS } kind;
enum { TIMES = 9, MANY = 3 };

typedef struct nested {
    kind inner, outer;
    wg_callable *of_inner, *of_outer;
} nested;

static const double data[TIMES] = {0.1, 0.7, -0.4, 0.25, 1.1, -0.9, 0.3, 0.55, -0.2};

/* The loop of a body k(z, q) with q = p and, but for data, z made of x. */
static wg_real loop_of(wg_tape *t, wg_callable *k, kind what, wg_real x, wg_real p) {
    wg_mat r = wg_mat_failed(1, 1);
    wg_real made[TIMES];
    const wg_source common = wg_from_matrix(wg_mat_gather(t, 1, 1, &p));
    for (size_t i = 0; i < TIMES && what == OVER_POINTS; i++)
        made[i] = wg_let(t, wg_mul(x, data[i]));
    if (what == THROUGH_STEPS) {
        const wg_source from[] = {wg_from_state("z"), common};
        const wg_stage stage = {k, from};
        (void)wg_scan(t, TIMES, 1, &stage, 1, &(wg_state){"z", wg_mat_gather(t, 1, 1, &x)},
                      NULL, &r);
        return wg_mat_at(r, 0, 0);
    }
    const wg_source from[] = {what == OVER_DATA
                                  ? wg_from_data(data, 1, 1)
                                  : wg_from_matrix(wg_mat_gather(t, 1, TIMES, made)),
                              common};
    (void)wg_map(t, k, TIMES, from, NULL, &r);
    const wg_real sum = wg_mat_at(r, 0, 0);
    return what == OVER_DATA ? wg_let(t, wg_mul(sum, x)) : sum;
}

static wg_status innermost(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_sin(wg_mul(wg_add(x[0], 0.2), x[1])));
    return WG_OK;
}
static wg_status middle(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *user) {
    const nested *const l = user;
    (void)n, (void)m;
    y[0] = wg_let(t, wg_mul(loop_of(t, l->of_inner, l->inner, x[0], x[1]), 0.75));
    return wg_tape_status(t);
}
static wg_status outermost(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    const nested *const l = user;
    (void)n, (void)m;
    y[0] = loop_of(t, l->of_outer, l->outer, x[0], x[1]);
    return wg_tape_status(t);
}

static wg_callable *body_of(wg_tape *t, wg_callback *f, nested *l, kind what) {
    const wg_argument in[] = {{"z", 1, 1, 0}, {"q", 1, 1, WG_SHARED}},
                      sum = {"y", 1, 1, WG_SUMMED}, state = {"z", 1, 1, 0};
    wg_function *g;
    wg_callable *k;
    assert_int_equal(wg_function_record(t, f, l, 2, in, (double[]){0.5, 0.7}, 1,
                                        what == THROUGH_STEPS ? &state : &sum, &g),
                     WG_OK);
    assert_int_equal(wg_callable_new(t, g, &k), WG_OK);
    wg_function_free(g);
    return k;
}

/* flags: bit 0: x is shared; 1: p is; 2: the output is summed. Loops of that many operations
 * stay. */
static wg_function *nested_of(nested l, unsigned flags, size_t loops_over) {
    wg_tape *const t =
        wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .loops_over = loops_over});
    const wg_argument in[] = {{"x", 1, 1, flags & 1 ? WG_SHARED : 0},
                              {"p", 1, 1, flags & 2 ? WG_SHARED : 0}},
                      out = {"f", 1, 1, flags & 4 ? WG_SUMMED : 0};
    wg_function *f;
    l.of_inner = body_of(t, innermost, NULL, l.inner);
    l.of_outer = body_of(t, middle, &l, l.outer);
    assert_int_equal(
        wg_function_record(t, outermost, &l, 2, in, (double[]){0.5, 0.7}, 1, &out, &f), WG_OK);
    wg_callable_free(l.of_inner);
    wg_callable_free(l.of_outer);
    wg_tape_free(t);
    return f;
}

/* At many points: shared inputs from the first. */
static void values_of(const wg_function *f, double *y) {
    wg_points x[8];
    wg_results to[8];
    double in[8][MANY];
    const size_t outputs = wg_function_outputs(f);
    for (size_t k = 0; k < wg_function_inputs(f); k++) {
        for (size_t p = 0; p < MANY; p++) in[k][p] = 0.4 + 0.3 * (double)k + 0.17 * (double)p;
        x[k] = (wg_points){in[k], 1, 1};
    }
    for (size_t k = 0; k < outputs; k++) {
        assert_int_equal(entries(wg_function_output(f, k)), 1);
        to[k] = (wg_results){y + k * MANY, 1, 1};
    }
    void *const work = malloc(wg_function_work(f, NULL));
    assert_int_equal(wg_function_evaluate(f, MANY, x, to, NULL, work, NULL), WG_OK);
    free(work);
}

/* The same derivative of both; gives whether there is one. */
static int same_derivative(const char *name, transform *by, const wg_function *f,
                           const wg_function *full) {
    double got[8 * MANY] = {0}, expected[8 * MANY] = {0};
    wg_function *g = NULL, *h = NULL;
    const wg_status s = by(coded, f, &g), other = by(coded, full, &h);
    if (s != other)
        fail_msg("%s: %s, written out %s", name, wg_status_text(s), wg_status_text(other));
    if (s == WG_OK) {
        values_of(g, got);
        values_of(h, expected);
        assert_all_near(name, 8 * MANY, got, expected);
    }
    wg_function_free(g);
    wg_function_free(h);
    return s == WG_OK;
}

static void derivatives_of_gradients_through_nested_loops_are_those_written_out(void **state) {
    (void)state;
    size_t there = 0;
    for (unsigned k = 0; k < KINDS * KINDS * 8; k++) {
        const unsigned flags = k % 8;
        const nested l = {.inner = (kind)(k / 8 % KINDS), .outer = (kind)(k / 8 / KINDS)};
        wg_function *const f = nested_of(l, flags, 16), *const full = nested_of(l, flags, 0);
        wg_function *const g = made(wg_function_gradient, f), *const in_full = made(
                                                                  wg_function_gradient, full);
        assert_true(g->repeats > 0);
        assert_int_equal(in_full->repeats, 0);
        there += (size_t)same_derivative("jacobian", wg_function_jacobian, g, in_full);
        there += (size_t)same_derivative("vjp", wg_function_vjp, g, in_full);
        there += (size_t)same_derivative("jvp", wg_function_jvp, g, in_full);
        (void)same_derivative("hvp", wg_function_hvp, f, full);
        wg_function_free(f);
        wg_function_free(full);
        wg_function_free(g);
        wg_function_free(in_full);
    }
    assert_int_equal(there, 3 * KINDS * KINDS * 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_gradients_through_nested_loops_are_those_written_out),
    };
    return cmocka_run_group_tests(tests, open_looping, close_tapes);
}

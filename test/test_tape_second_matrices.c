/* SPDX-License-Identifier: MIT */
/* test_tape_second_matrices.c - second derivatives of recordings with operations on matrices: on the
 * tape, by matrix rules, against functions of the same callback, in which the operations are written
 * out in scalar statements. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "graph_walk.h"
#include "tape/drivers/second_order.h"
#include "walk.h"
#include "tolerance.h"
#include "written_out.h"

/* A number of the results of a case: the sum of w y and of w sin y, so that adjoints of results have
 * tangents. */
struct number {
    struct written_out of;
    size_t m;
    const double *w;
    int on_tape; /* nothing of it may need a function */
};

static wg_status number_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const struct number *const k = data;
    wg_real each[WRITTEN_OUT_MOST], sum = wg_constant(0);
    (void)m;
    const wg_status s = written_out_call(t, n, x, k->m, each, (void *)(uintptr_t)&k->of);
    for (size_t j = 0; s == WG_OK && j < k->m; j++)
        sum = wg_let(t, wg_add(sum, wg_mul(k->w[j], wg_add(each[j], wg_sin(each[j])))));
    y[0] = sum;
    if (s == WG_OK && k->on_tape && !wgi_second_possible(wgi_core_of(t), 1, y))
        fail_msg("%s goes by a function", k->of.name);
    return s;
}

static double largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void compare(const char *name, const char *what, size_t n, const double *got,
                    const double *want, double scale) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= TOL_WRITTEN_OUT * DBL_EPSILON * scale))
            fail_msg("%s: %s (%zu) is %.17g, not %.17g", name, what, i, got[i], want[i]);
}

/* symmetric: directions of symmetric operands are symmetric, too. */
static void check(const struct written_out *c, int symmetric) {
    double x[WRITTEN_OUT_MOST], w[WRITTEN_OUT_MOST];
    written_out_seed = 29;
    for (const char *p = c->name; *p != 0; p++)
        written_out_seed = 31 * written_out_seed + (unsigned char)*p;
    written_out_fill(c, x);
    struct number k = {*c, written_out_results_of(c, x), w, 0};
    k.of.symmetrise = symmetric;
    const size_t n = written_out_entries(c);
    double *const v = written_out_room(n), *const hv = written_out_room(n),
                  *const h = written_out_room(n * n), *const want = written_out_room(n * n),
                  *const wanted = written_out_room(n);
    for (size_t j = 0; j < k.m; j++) w[j] = walk_number(&written_out_seed);
    for (size_t i = 0; i < n; i++) v[i] = walk_number(&written_out_seed);
    const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL, *hessian = NULL;
    written_out_must(
        c->name, wg_function_record(written_out_tape, number_of, &k, 1, &in, x, 1, &out, &f));
    written_out_must(c->name, wg_function_hessian(written_out_tape, f, &hessian));
    assert_int_equal(graph_walk(hessian, x, want), 0);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) wanted[i] += want[i + j * n] * v[j];
    k.on_tape = 1;
    written_out_must(c->name, wg_hvp(written_out_tape, number_of, &k, n, x, v, NULL, NULL, hv));
    written_out_must(c->name,
                     wg_hessian(written_out_tape, number_of, &k, n, x, NULL, NULL, h, n));
    const double scale = fmax(1, largest(n * n, want));
    compare(c->name, "H v", n, hv, wanted, scale);
    compare(c->name, "H", n * n, h, want, scale);
    wg_function_free(f);
    wg_function_free(hessian);
    double *const all[] = {v, hv, h, want, wanted};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void operations_have_the_second_derivatives_of_what_they_expand_to(void **state) {
    (void)state;
    const struct written_out *c;
    for (size_t k = 0; (c = written_out_case(k)) != NULL; k++) check(c, 1);
}

static void symmetric_operands_move_by_the_symmetric_part_of_a_direction(void **state) {
    (void)state;
    const struct written_out *c;
    for (size_t k = 0; (c = written_out_case(k)) != NULL; k++) check(c, 0);
}

/* y = sum of exp(a)^2 by results b, c = b + b and d = gathered, which are inputs in their turn. */
static void elements_of_results_may_be_inputs(void **state) {
    (void)state;
    wg_tape *const t = written_out_tape;
    const double a[2] = {0.5, -1}, v[4] = {1, 2, 4, 8};
    double hv[4], h[16];
    wg_tape_reset(t);
    const wg_mat b = wg_mat_exp(t, wg_mat_input(t, 2, 1, a, 2)), c = wg_mat_add(t, b, b);
    const wg_real elements[3] = {wg_mat_at(c, 0, 0), wg_constant(5), wg_mat_at(b, 1, 0)};
    const wg_mat d = wg_mat_gather(t, 3, 1, elements);
    const wg_real y = wg_mat_dot(t, d, d);
    const wg_real x[4] = {wg_mat_at(b, 0, 0), wg_mat_at(c, 0, 0), wg_mat_at(d, 1, 0),
                          wg_mat_at(d, 2, 0)};
    const double want[16] = {8, 4, 0, 0, 4, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2};
    written_out_must("products", wg_tape_hvp(t, y, 4, x, v, hv));
    for (size_t i = 0; i < 4; i++) {
        double sum = 0;
        for (size_t j = 0; j < 4; j++) sum += want[i + 4 * j] * v[j];
        assert_true(hv[i] == sum);
    }
    written_out_must("Hessians", wg_tape_hessian(t, y, 4, x, h, 4));
    for (size_t i = 0; i < 16; i++) assert_true(h[i] == want[i]);
}

/* The adjoints of the tangent sweep are 0 at a product that is only summed up. */
static void infinities_are_not_multiplied_by_nothing(void **state) {
    (void)state;
    wg_tape *const t = written_out_tape;
    const double a[4] = {1, 2, INFINITY, 3}, b[4] = {1, 1, 2, 2};
    const double v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, want[8] = {12, 12, 14, 14, 3, 7, 3, 7};
    double hv[8];
    wg_real x[8];
    wg_tape_reset(t);
    const wg_mat left = wg_mat_input(t, 2, 2, a, 2), right = wg_mat_input(t, 2, 2, b, 2);
    for (size_t i = 0; i < 4; i++) {
        x[i] = wg_mat_at(left, i % 2, i / 2);
        x[4 + i] = wg_mat_at(right, i % 2, i / 2);
    }
    const wg_real y = wg_mat_sum(t, wg_matmul(t, left, right));
    written_out_must("products", wg_tape_hvp(t, y, 8, x, v, hv));
    for (size_t i = 0; i < 8; i++) assert_true(hv[i] == want[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_have_the_second_derivatives_of_what_they_expand_to),
        cmocka_unit_test(symmetric_operands_move_by_the_symmetric_part_of_a_direction),
        cmocka_unit_test(elements_of_results_may_be_inputs),
        cmocka_unit_test(infinities_are_not_multiplied_by_nothing),
    };
    return cmocka_run_group_tests(tests, written_out_open, written_out_close);
}

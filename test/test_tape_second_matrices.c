/* SPDX-License-Identifier: MIT */
/* test_tape_second_matrices.c - second derivatives of recordings with operations on matrices:
 * on the tape, by matrix rules, against functions of the same callback, in which the operations
 * are written out in scalar statements. */
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

/* A number of the results of a case: the sum of w y and of w sin y, so that adjoints of results
 * have tangents. */
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

/* y = sum of exp(a)^2 by results b, c = b + b and d = gathered, which are inputs in their
 * turn. */
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

/* ---- operations of a user's own, whose `adjoint` does what it should not ---- */

static wg_status cubes_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}
static wg_status cubes_value(wg_block *b) {
    for (size_t i = 0; i < 3; i++)
        b->out[0].value[i] = b->in[0].value[i] * b->in[0].value[i] * b->in[0].value[i];
    return WG_OK;
}
static wg_status cubes_vjp(wg_block *b) {
    for (size_t i = 0; i < 3; i++)
        b->in[0].bar[i] += 3 * b->in[0].value[i] * b->in[0].value[i] * b->out[0].bar[i];
    return WG_OK;
}

enum deed { RIGHT, OF_ANOTHER_TAPE, OF_NO_TAPE, REWOUND, ON_THE_TAPE, RESETS };
static enum deed deed;
static wg_tape *another;

static wg_status cubes_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const double numbers[3] = {1, 2, 3};
    const wg_mark start = wg_tape_mark(t);
    (void)b, (void)out;
    back[0] = wg_mat_mul(t, bar[0], wg_mat_scale(t, 3, wg_mat_square(t, in[0])));
    if (deed == OF_ANOTHER_TAPE) back[0] = wg_mat_input(another, 3, 1, numbers, 3);
    if (deed == OF_NO_TAPE) back[0].at.slot = UINT32_MAX - 8;
    if (deed == REWOUND && wg_tape_rewind(t, start) != WG_OK) return WG_ECALLBACK;
    if (deed == ON_THE_TAPE)
        assert_true(
            isnan(wg_let(written_out_tape, wg_exp(wg_input(written_out_tape, 1))).value));
    if (deed == RESETS) wg_tape_reset(written_out_tape);
    return wg_tape_status(t);
}

static void adjoints_of_a_users_operation_are_looked_at(void **state) {
    (void)state;
    static const wg_block_op cubes = {.name = "cubes",
                                      .shape = cubes_shape,
                                      .value = cubes_value,
                                      .vjp = cubes_vjp,
                                      .adjoint = cubes_adjoint};
    static const struct {
        enum deed deed;
        wg_status answer;
        const char *says;
    } all[] = {
        {RIGHT, WG_OK, ""},
        {OF_ANOTHER_TAPE, WG_ESTALE, "cubes of 3x1: its adjoint is a matrix of another tape"},
        {OF_NO_TAPE, WG_ESTALE, "cubes of 3x1: its adjoint is a matrix of another tape"},
        {REWOUND, WG_ESTALE, "cubes of 3x1: its adjoint is a matrix of another tape"},
        {ON_THE_TAPE, WG_OK, ""},
        {RESETS, WG_EMODE, "its adjoint would reset or rewind the tape"}};
    wg_tape *const t = written_out_tape;
    another = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const double a[3] = {1, 2, -1}, v[3] = {1, 1, 1};
        double hv[3] = {7, 7, 7};
        wg_real x[3];
        wg_mat y;
        wg_tape_reset(t);
        const wg_mat in = wg_mat_input(t, 3, 1, a, 3);
        for (size_t i = 0; i < 3; i++) x[i] = wg_mat_at(in, i, 0);
        written_out_must("cubes", wg_apply(t, &cubes, NULL, 0, 1, &in, 1, &y));
        const wg_real sum = wg_mat_dot(t, y, y);
        deed = all[k].deed;
        assert_int_equal(wg_tape_hvp(t, sum, 3, x, v, hv), all[k].answer);
        for (size_t i = 0; i < 3; i++)
            assert_true(hv[i] == (all[k].answer != WG_OK ? 7 : 30 * a[i] * a[i] * a[i] * a[i]));
        if (all[k].answer != WG_OK) assert_non_null(strstr(wg_tape_message(t), all[k].says));
        assert_int_equal(wg_tape_status(t), WG_OK);
    }
    wg_tape_free(another);
}

/* The factor of a log-determinant becomes the inverse in a sweep: neither a second sweep, nor a
 * product, nor a replay at another point sees a difference. Matrices of both kinds, small and
 * large, as they are and as transposed views, alone and in a batch. */
static wg_status log_determinants(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    const size_t order = *(const size_t *)data;
    const wg_mat a = wg_mat_gather(t, order, order, x), v = wg_mat_transpose(a);
    const wg_mat s = wg_gemm(t, 'N', 'T', 1, a, a, 1, wg_mat_identity(t, order));
    const wg_mat both[2] = {a, s};
    const wg_mat of_both = wg_logabsdet_batch(t, 2, wg_concat_cols(t, 2, both), NULL),
                 spd = wg_logdet_spd_batch(t, 1, wg_mat_transpose(s));
    (void)n, (void)m;
    const wg_real sum =
        wg_let(t, wg_add(wg_add(wg_mul(2, wg_logabsdet(t, v, NULL)), wg_logdet_spd(t, s)),
                         wg_add(wg_mat_sum(t, of_both), wg_mat_at(spd, 0, 0))));
    y[0] = wg_let(t, wg_mul(sum, wg_add(sum, wg_logabsdet(t, a, NULL))));
    return wg_tape_status(t);
}

/* The same of determinants, whose factor becomes the adjugate: of a matrix, its transpose, a
 * singular one. */
static wg_status determinants(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    const size_t order = *(const size_t *)data;
    const wg_mat a = wg_mat_gather(t, order, order, x), v = wg_mat_transpose(a);
    const wg_mat row = wg_mat_block(a, 0, 0, 1, order);
    const wg_mat both[2] = {a, wg_mat_sub(t, a, wg_broadcast_to(t, row, order, order))};
    const wg_mat of_both = wg_det_batch(t, 2, wg_concat_cols(t, 2, both));
    (void)n, (void)m;
    y[0] = wg_let(t, wg_add(wg_mul(wg_asinh(wg_det(t, v)), wg_asinh(wg_mat_at(of_both, 0, 0))),
                            wg_mat_at(of_both, 0, 1)));
    return wg_tape_status(t);
}

static void differentiated_again(wg_callback *f) {
    static const size_t orders[] = {1, 3, 18, 40};
    enum { MOST = 40 * 40 };
    static double at[2][MOST], v[MOST], g[2][MOST], h[2][MOST];
    static wg_real x[MOST];
    wg_tape *const fresh = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    assert_non_null(fresh);
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        const size_t order = orders[o], n = order * order;
        for (int k = 0; k < 2; k++)
            for (size_t i = 0; i < n; i++)
                at[k][i] = walk_number(&written_out_seed) +
                           (i % (order + 1) == 0 ? (double)order + k : 0);
        for (size_t i = 0; i < n; i++) v[i] = walk_number(&written_out_seed);
        wg_tape *const t = written_out_tape;
        wg_real y;
        size_t data = order;
        assert_int_equal(wg_inputs(t, n, at[0], x), WG_OK);
        assert_int_equal(f(t, n, x, 1, &y, &data), WG_OK);
        for (int k = 0; k < 2; k++) {
            double value, again[2];
            if (k) assert_int_equal(wg_tape_replay(t, n, x, at[1]), WG_OK);
            for (int twice = 0; twice < 2; twice++) {
                assert_int_equal(wg_reverse(t, y), WG_OK);
                assert_int_equal(wg_adjoints(t, n, x, g[0]), WG_OK);
                assert_int_equal(wg_tape_hvp(t, y, n, x, v, h[0]), WG_OK);
                again[twice] = h[0][n / 2] + g[0][n / 2];
            }
            assert_true(again[0] == again[1]);
            assert_int_equal(wg_hvp(fresh, f, &data, n, at[k], v, &value, g[1], h[1]), WG_OK);
            assert_memory_equal(g[0], g[1], n * sizeof(double));
            assert_memory_equal(h[0], h[1], n * sizeof(double));
        }
        wg_tape_reset(t);
    }
    wg_tape_free(fresh);
}

static void log_determinants_are_differentiated_again(void **state) {
    (void)state;
    differentiated_again(log_determinants);
}
static void determinants_are_differentiated_again(void **state) {
    (void)state;
    differentiated_again(determinants);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_have_the_second_derivatives_of_what_they_expand_to),
        cmocka_unit_test(symmetric_operands_move_by_the_symmetric_part_of_a_direction),
        cmocka_unit_test(elements_of_results_may_be_inputs),
        cmocka_unit_test(infinities_are_not_multiplied_by_nothing),
        cmocka_unit_test(adjoints_of_a_users_operation_are_looked_at),
        cmocka_unit_test(log_determinants_are_differentiated_again),
        cmocka_unit_test(determinants_are_differentiated_again),
    };
    return cmocka_run_group_tests(tests, written_out_open, written_out_close);
}

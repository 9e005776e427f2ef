/* SPDX-License-Identifier: MIT */
/* test_tape_second_kept.c - products with the Hessian of a recording with a loop: the function
 * that they come from is kept with the tape as long as it is that of the recording and its
 * point. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <wengert.h>

#include "counted.h"

enum { N = 6 };

/* ---- memory that is counted ---- */

static struct counted count;

static wg_tape *open_tape(size_t budget) {
    count = counted_start();
    const wg_options o = {
        .flags = WG_KEEP_CODE, .memory = counted_memory(&count), .budget = budget};
    wg_tape *const t = wg_tape_new(&o);
    assert_non_null(t);
    return t;
}

static void close_tape(wg_tape *t, wg_callable *k) {
    wg_callable_free(k);
    wg_tape_free(t);
    assert_int_equal(count.ranges, 0);
    assert_int_equal(count.wrong, 0);
}

/* ---- a loop: the sum over points of exp(a_i b) with b for all of them ---- */

static wg_status term(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_exp(wg_mul(x[0], x[1])));
    return wg_tape_status(t);
}

static wg_callable *terms(wg_tape *t) {
    const wg_argument in[] = {{"a", 1, 1, 0}, {"b", 1, 1, WG_SHARED}}, out = {"y", 1, 1, 0};
    const double at[] = {1, 1};
    wg_function *f = NULL;
    wg_callable *k = NULL;
    assert_int_equal(wg_function_record(t, term, NULL, 2, in, at, 1, &out, &f), WG_OK);
    assert_int_equal(wg_callable_new(t, f, &k), WG_OK);
    wg_function_free(f);
    wg_tape_reset(t);
    return k;
}

/* f times the sum; x: a_0 .. and b */
static wg_real recorded(wg_tape *t, wg_callable *k, double f, const double *at, wg_real *x) {
    assert_int_equal(wg_inputs(t, N + 1, at, x), WG_OK);
    const wg_source from[] = {wg_from_matrix(wg_mat_gather(t, 1, N, x)),
                              wg_from_matrix(wg_mat_from_real(t, x[N]))};
    wg_mat y;
    assert_int_equal(wg_map(t, k, N, from, NULL, &y), WG_OK);
    return wg_let(t, wg_mul(f, wg_mat_sum(t, y)));
}

static void fill(double from, double *x) {
    for (int i = 0; i <= N; i++) x[i] = from + 0.1 * i;
}
static void check(wg_tape *t, wg_real y, const wg_real *x, double f, const double *at) {
    double v[N + 1], hv[N + 1], want[N + 1] = {0};
    for (int i = 0; i <= N; i++) v[i] = 1 - 0.25 * i;
    assert_int_equal(wg_tape_hvp(t, y, N + 1, x, v, hv), WG_OK);
    const double b = at[N];
    for (int i = 0; i < N; i++) {
        const double a = at[i], e = f * exp(a * b);
        want[i] = e * (b * b * v[i] + (1 + a * b) * v[N]);
        want[N] += e * ((1 + a * b) * v[i] + a * a * v[N]);
    }
    for (int i = 0; i <= N; i++)
        if (!(fabs(hv[i] - want[i]) <= 64 * DBL_EPSILON * fabs(want[N])))
            fail_msg("%d: %.17g is not %.17g", i, hv[i], want[i]);
}

/* ---- the tests ---- */

static void further_products_at_a_point_derive_nothing(void **state) {
    (void)state;
    wg_tape *const t = open_tape(0);
    wg_callable *const k = terms(t);
    double at[N + 1];
    wg_real x[N + 1];
    size_t calls[4];
    fill(0.3, at);
    const wg_real y = recorded(t, k, 2, at, x);
    for (int i = 0; i < 4; i++) {
        const size_t before = count.calls;
        check(t, y, x, 2, at);
        calls[i] = count.calls - before;
    }
    assert_true(calls[1] < calls[0]);
    assert_int_equal(calls[2], calls[1]);
    assert_int_equal(calls[3], calls[1]);
    close_tape(t, k);
}

static void what_is_kept_is_of_one_output_and_its_inputs(void **state) {
    (void)state;
    wg_tape *const t = open_tape(0);
    wg_callable *const k = terms(t);
    double at[N + 1], v[2] = {0.5, -1}, two[2], all[N + 1], whole[N + 1] = {0};
    wg_real x[N + 1];
    fill(0.3, at);
    const wg_real y = recorded(t, k, 2, at, x), z = wg_let(t, wg_mul(y, y));
    check(t, y, x, 2, at);
    const wg_real pair[2] = {x[N], x[0]};
    assert_int_equal(wg_tape_hvp(t, z, 2, pair, v, two), WG_OK);
    whole[N] = v[0], whole[0] = v[1];
    assert_int_equal(wg_tape_hvp(t, z, N + 1, x, whole, all), WG_OK);
    assert_true(fabs(two[0] - all[N]) <= 64 * DBL_EPSILON * fabs(all[N]));
    assert_true(fabs(two[1] - all[0]) <= 64 * DBL_EPSILON * fabs(all[N]));
    check(t, y, x, 2, at);
    close_tape(t, k);
}

static void other_points_and_recordings_have_their_own(void **state) {
    (void)state;
    wg_tape *const t = open_tape(0);
    wg_callable *const k = terms(t);
    const wg_mark start = wg_tape_mark(t);
    double at[N + 1];
    wg_real x[N + 1];
    fill(0.3, at);
    wg_real y = recorded(t, k, 2, at, x);
    check(t, y, x, 2, at);
    fill(-0.2, at);
    assert_int_equal(wg_tape_replay(t, N + 1, x, at), WG_OK);
    check(t, y, x, 2, at);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    y = recorded(t, k, 3, at, x); /* in the same slots */
    check(t, y, x, 3, at);
    wg_tape_reset(t);
    y = recorded(t, k, -1, at, x);
    check(t, y, x, -1, at);
    close_tape(t, k);
}

/* What is kept is given up where the budget is wanted for something else. */
static void a_budget_has_room_as_if_nothing_were_kept(void **state) {
    (void)state;
    enum { MOST = 64 << 20, PIECE = 1 << 16 };
    wg_tape *const t = open_tape(MOST);
    wg_callable *const k = terms(t);
    double at[N + 1];
    wg_real x[N + 1];
    fill(0.3, at);
    const wg_real y = recorded(t, k, 2, at, x);
    check(t, y, x, 2, at);
    const size_t ranges = count.ranges;
    while (wg_tape_keep(t, PIECE, NULL) != NULL) continue;
    assert_int_equal(wg_tape_status(t), WG_EBUDGET);
    assert_true(count.ranges < ranges);
    close_tape(t, k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(further_products_at_a_point_derive_nothing),
        cmocka_unit_test(what_is_kept_is_of_one_output_and_its_inputs),
        cmocka_unit_test(other_points_and_recordings_have_their_own),
        cmocka_unit_test(a_budget_has_room_as_if_nothing_were_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

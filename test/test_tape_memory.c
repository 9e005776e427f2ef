/* SPDX-License-Identifier: MIT */
/* test_tape_memory.c - memory that is refused. Every scenario below is run with its k-th call
 * for memory refused, k = 0, 1, ..., alone and with all that follow, until it needs no more
 * calls. Each time: it ends with WG_ENOMEM or with the right numbers, the tape is usable after
 * a reset or a rewind, and nothing is leaked. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <wengert/operation.h>
#include "counted.h"
#include "sanitized.h"
#include "times_op.h"
#include "walk.h"

enum { INPUTS = 6, LENGTH = 2500, RESULTS = 64 };

/* Uses the tape; writes numbers to compare. Gives the first status that is not WG_OK. */
typedef wg_status scenario(wg_tape *t, double *result);

#define DO(call)                                                                               \
    do {                                                                                       \
        const wg_status of_call = (call);                                                      \
        if (of_call != WG_OK) return of_call;                                                  \
    } while (0)

static wg_real x[LENGTH];

static wg_status walked(wg_tape *t, uint64_t seed, size_t n) {
    walk(t, seed, INPUTS, 0, n, x);
    return wg_tape_status(t);
}

static wg_status recorded_and_swept(wg_tape *t, double *result) {
    DO(walked(t, 1, LENGTH));
    DO(wg_reverse(t, x[LENGTH - 1]));
    return wg_adjoints(t, INPUTS, x, result);
}

static wg_status lanes(wg_tape *t, double *result) {
    double w[2 * 16];
    DO(walked(t, 2, LENGTH));
    const wg_real y[] = {x[LENGTH - 1], x[LENGTH - 2]};
    for (size_t i = 0; i < 32; i++) w[i] = (double)i;
    DO(wg_reverse(t, y[0]));
    DO(wg_reverse_lanes(t, 16, 2, y, w));
    for (size_t i = 0; i < 6; i++) result[i] = wg_adjoint_lane(t, x[i], 2 * i + 1);
    return WG_OK;
}

static wg_status parts(wg_tape *t, double *result) {
    const wg_mark low = wg_tape_mark(t);
    DO(walked(t, 3, LENGTH));
    DO(wg_adjoints_clear(t));
    DO(wg_adjoint_seed(t, x[LENGTH - 1], 2));
    DO(wg_sweep(t, wg_tape_mark(t), low));
    return wg_adjoints(t, INPUTS, x, result);
}

static wg_status arrays(wg_tape *t, double *result) {
    static wg_real v[900];
    DO(walked(t, 4, 900));
    for (size_t i = 0; i < 900; i++) v[i] = x[i];
    const wg_real s = wg_sum(t, 900, v), d = wg_dot(t, 400, v, v + 400);
    const wg_real l = wg_logsumexp(t, 900, v), n = wg_norm2(t, 900, v);
    (void)wg_lt(t, s, d);
    const wg_real y = wg_let(t, wg_add(wg_add(s, d), wg_add(l, n)));
    DO(wg_tape_status(t));
    DO(wg_reverse(t, y));
    return wg_adjoints(t, INPUTS, x, result);
}

static wg_status named(wg_tape *t, double *result) {
    DO(walked(t, 5, LENGTH));
    for (int i = 0; i < INPUTS; i++) DO(wg_label(t, x[i], "input"));
    for (int i = LENGTH; i-- > LENGTH - 400;)
        DO(wg_label(t, x[i], "statement")); /* in any order */
    DO(wg_reverse(t, x[LENGTH - 1]));
    return wg_adjoints(t, INPUTS, x, result);
}

static wg_status second_order(wg_tape *t, double *result) {
    const double v[INPUTS] = {1, -1, 0.5, 2, 0.25, -3}, a[INPUTS] = {.1, .2, .3, .4, .5, .6};
    DO(arrays(t, result));
    DO(walked(t, 6, LENGTH)); /* further inputs and statements on the same tape */
    const wg_real y = x[LENGTH - 1];
    DO(wg_tape_hvp(t, y, INPUTS, x, v, result));
    DO(wg_tape_hessian(t, y, INPUTS, x, result + INPUTS, INPUTS));
    DO(wg_tape_verify(t));
    DO(wg_tape_replay(t, INPUTS, x, a));
    DO(wg_reverse(t, y));
    return wg_adjoints(t, INPUTS, x, result + INPUTS + INPUTS * INPUTS);
}

static wg_status forward(wg_tape *t, double *result) {
    DO(wg_tape_forward(t, 8));
    for (size_t i = 0; i < LENGTH; i++) {
        walk(t, 7, INPUTS, i, i + 1, x);
        if (i < INPUTS) DO(wg_tangent_seed(t, x[i], i, 1));
    }
    DO(wg_tape_status(t));
    for (size_t i = 0; i < INPUTS; i++) result[i] = wg_tangent(t, x[LENGTH - 1], i);
    return WG_OK;
}

/* More branches than the tape has room for in itself. */
static wg_status rewinds(wg_tape *t, double *result) {
    wg_real y = wg_input(t, 0.5);
    const wg_real first = y;
    DO(wg_tape_status(t));
    for (int i = 0; i < 6000; i++) {
        const wg_mark m = wg_tape_mark(t);
        (void)wg_let(t, wg_sin(y));
        DO(wg_tape_status(t));
        wg_stats now = {0};
        const wg_status s = wg_tape_rewind(t, m);
        (void)wg_tape_stats(t, &now);
        /* a rewind that was refused has done nothing */
        assert_int_equal(now.slots, m.slot - 1 + (s != WG_OK));
        DO(s);
        y = wg_let(t, wg_cos(y));
    }
    DO(wg_tape_status(t));
    DO(wg_reverse(t, y));
    return wg_adjoints(t, 1, &first, result);
}

/* ---- matrices ---- */

static wg_status scale(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                       void *data) {
    (void)data;
    for (size_t j = 0; j < m; j++) r[j] = wg_let(t, wg_sub(wg_mul(in[j], in[n - 1]), 1.0));
    return wg_tape_status(t);
}

static wg_status matrices(wg_tape *t, double *result) {
    static double v[600];
    static wg_real y[600], p;
    for (size_t i = 0; i < 600; i++) v[i] = 0.25 + 0.001 * (double)i;
    const wg_mat a = wg_mat_input(t, 30, 20, v, 30);
    p = wg_input(t, 2);
    DO(wg_tape_status(t));
    wg_mat b = a;
    for (int i = 0; i < 60; i++)
        b = wg_mat_reshape(t, wg_mat_transpose(b), 30 - 10 * (i % 2 == 0),
                           20 + 10 * (i % 2 == 0));
    DO(wg_tape_status(t));
    for (size_t i = 0; i < 600; i++) y[i] = wg_mat_at(b, i % b.rows, i / b.rows);
    y[3] = wg_let(t, wg_mul(y[3], p));
    b = wg_mat_gather(t, 20, 30, y);
    if (wg_tape_keep(t, 100, v) == NULL) return wg_tape_status(t);
    wg_real z = wg_mat_at(b, 3, 0);
    wg_stats now;
    DO(wg_tape_stats(t, &now));
    wg_real solution[2];
    const double half[2] = {0.5, 0.5};
    const wg_mark m = wg_tape_mark(t);
    wg_real c = wg_let(t, wg_sin(wg_mul(z, p)));
    const wg_real in[2] = {z, p};
    DO(wg_tape_status(t));
    if (now.code_bytes == 0) DO(wg_preaccumulate(t, m, 2, in, 1, &c)); /* keeps no code */
    DO(wg_implicit(t, scale, NULL, 2, half, 1, &p, solution));
    z = wg_let(t, wg_mul(wg_add(solution[0], c), z));
    DO(wg_tape_status(t));
    DO(wg_mat_reverse(t, b, NULL, 0));
    DO(wg_mat_adjoint(t, wg_mat_block(a, 0, 0, 30, 1), result, 30));
    const double w[3] = {1, 2, 3};
    DO(wg_reverse_lanes(t, 3, 1, &z, w));
    for (size_t l = 0; l < 3; l++) result[30 + l] = wg_adjoint_lane(t, p, l);
    if (now.code_bytes != 0) {
        const double at = 3, one = 1;
        DO(wg_tape_hvp(t, z, 1, &p, &one, result + 41));
        DO(wg_tape_replay(t, 1, &p, &at));
        DO(wg_tape_hvp(t, z, 1, &p, &one, result + 42));
        DO(wg_mat_reverse(t, b, NULL, 0));
        result[40] = wg_adjoint(t, p);
    }
    return WG_OK;
}

static wg_status tangent_matrices(wg_tape *t, double *result) {
    static const double v[6] = {1, 2, 3, 4, 5, 6};
    DO(wg_tape_forward(t, 8));
    wg_mat a = wg_mat_input(t, 2, 3, v, 2);
    DO(wg_tape_status(t));
    for (size_t l = 0; l < 6; l++) DO(wg_tangent_seed(t, wg_mat_at(a, l % 2, l / 2), l, 1));
    for (int i = 0; i < 800; i++) a = wg_mat_reshape(t, wg_mat_transpose(a), 2, 3);
    DO(wg_tape_status(t));
    return wg_mat_tangent(t, a, 4, result, 2);
}

/* ---- drivers ---- */

static wg_status user(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                      void *data) {
    (void)data;
    wg_real a = in[0];
    for (int k = 0; k < 300; k++)
        a = wg_let(t, wg_sin(wg_add(a, wg_mul(in[(size_t)k % n], in[(size_t)(k + 1) % n]))));
    for (size_t j = 0; j < m; j++) out[j] = wg_let(t, wg_mul(a, in[j % n]));
    return WG_OK;
}

static wg_status drivers(wg_tape *t, double *result) {
    const double at[] = {0.1, 0.2, 0.3}, v[] = {1, 2, 3};
    wg_check found;
    DO(wg_eval(t, user, NULL, 3, at, 2, result));
    DO(wg_gradient(t, user, NULL, 3, at, result + 2, result + 3));
    DO(wg_jacobian(t, user, NULL, 3, at, 9, NULL, WG_ROW_MAJOR, result + 6, 3));
    DO(wg_jacobian(t, user, NULL, 3, at, 2, NULL, WG_COL_MAJOR, result + 33, 2));
    DO(wg_jvp(t, user, NULL, 3, at, v, 2, NULL, result + 39));
    DO(wg_vjp(t, user, NULL, 3, at, 3, v, NULL, result + 41));
    DO(wg_hvp(t, user, NULL, 3, at, v, NULL, NULL, result + 44));
    DO(wg_hessian(t, user, NULL, 3, at, NULL, NULL, result + 47, 3));
    DO(wg_check_gradient(t, user, NULL, 3, at, 2, &found));
    return wg_check_hessian(t, user, NULL, 3, at, 2, &found);
}

/* Checks have a tape of their own, from the same memory. */
static wg_status right_and_wrong(wg_tape *t, double *result) {
    const wg_mat in[] = {wg_mat_input(t, 2, 3, A, 2), wg_mat_input(t, 3, 1, X, 3)};
    const wg_block_op ops[] = {expanding_op, misled_op, misspelt_op};
    DO(wg_tape_status(t));
    for (int i = 0; i < 3; i++) {
        const wg_status s = wg_check_op(t, &ops[i], NULL, 0, 2, in, 1);
        if (s != WG_OK && s != WG_EMISMATCH) return s;
        result[i] = s;
    }
    return wg_check_scalar_op(t, &wgi_scalar_ops[WGI_OP_atan2], A);
}

/* ---- the test ---- */

static void assert_survives(scenario *run, wg_options opt, size_t largest) {
    double right[RESULTS] = {0}, result[RESULTS];
    wg_tape *t = wg_tape_new(&(wg_options){.flags = opt.flags});
    assert_int_equal(run(t, right), WG_OK);
    wg_tape_free(t);
    for (int on = 0; on < 2; on++) {
        size_t failures = 0;
        for (size_t k = 0, more = 1; more; k += SANITIZED ? 3 : 1) {
            struct counted m = counted_start();
            m.largest = largest;
            m.fail_at = k, m.fail_on = on;
            opt.memory = counted_memory(&m);
            t = wg_tape_new(&opt);
            more = m.refused != 0;
            failures += t == NULL;
            if (t != NULL) {
                const wg_mark start = wg_tape_mark(t);
                memset(result, 0, sizeof result);
                const wg_status s = run(t, result);
                more = m.refused != 0;
                if (s == WG_OK) {
                    assert_memory_equal(result, right, sizeof right);
                } else {
                    assert_int_equal(s, WG_ENOMEM);
                    assert_true(more);
                    failures++;
                }
                m.fail_at = SIZE_MAX, m.fail_on = 0;
                const int rewound = k % 2 != 0 && wg_tape_rewind(t, start) == WG_OK;
                if (!rewound) wg_tape_reset(t);
                assert_int_equal(wg_tape_status(t), WG_OK);
                if (run == forward || run == tangent_matrices)
                    assert_int_equal(wg_tape_forward(t, 0), WG_OK);
                memset(result, 0, sizeof result);
                assert_int_equal(run(t, result), WG_OK);
                assert_memory_equal(result, right, sizeof right);
            }
            wg_tape_free(t);
            assert_int_equal(m.ranges, 0);
            assert_int_equal(m.committed, 0);
            assert_int_equal(m.wrong, 0);
            assert_true(k < 10000);
        }
        assert_true(failures >= 2); /* the tape itself, and something in it */
    }
}

static void recordings_survive(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_KEEP_PLACES,
                              WG_KEEP_CODE | WG_KEEP_PLACES | WG_TRACE, WG_CHECKED};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        assert_survives(recorded_and_swept, (wg_options){.flags = flags[f]}, SIZE_MAX);
        assert_survives(arrays, (wg_options){.flags = flags[f]}, SIZE_MAX);
        assert_survives(named, (wg_options){.flags = flags[f]}, SIZE_MAX);
    }
}

static void matrices_survive(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_TRACE, WG_CHECKED};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        if (!SANITIZED) assert_survives(matrices, (wg_options){.flags = flags[f]}, SIZE_MAX);
        assert_survives(matrices, (wg_options){.flags = flags[f], .reserve = 1}, 4 << 20);
    }
    assert_survives(tangent_matrices, (wg_options){0}, SIZE_MAX);
}

static void sweeps_survive(void **state) {
    (void)state;
    assert_survives(lanes, (wg_options){0}, SIZE_MAX);
    assert_survives(parts, (wg_options){0}, SIZE_MAX);
}

static void forward_tapes_survive(void **state) {
    (void)state;
    assert_survives(forward, (wg_options){0}, SIZE_MAX);
    assert_survives(forward, (wg_options){.flags = WG_KEEP_CODE | WG_KEEP_PLACES}, SIZE_MAX);
}

static void second_order_survives(void **state) {
    (void)state;
    assert_survives(second_order, (wg_options){.flags = WG_KEEP_CODE}, SIZE_MAX);
    assert_survives(second_order, (wg_options){.flags = WG_KEEP_CODE, .reserve = 1}, SIZE_MAX);
}

static void rewinds_survive(void **state) {
    (void)state;
    assert_survives(rewinds, (wg_options){0}, SIZE_MAX);
    assert_survives(rewinds, (wg_options){.flags = WG_CHECKED}, SIZE_MAX);
}

static void drivers_survive(void **state) {
    (void)state;
    if (!SANITIZED) assert_survives(drivers, (wg_options){.flags = WG_KEEP_CODE}, SIZE_MAX);
    assert_survives(drivers, (wg_options){.flags = WG_KEEP_CODE | WG_KEEP_PLACES, .reserve = 1},
                    SIZE_MAX);
}

static void checks_of_operations_survive(void **state) {
    (void)state;
    assert_survives(right_and_wrong, (wg_options){0}, SIZE_MAX);
    assert_survives(right_and_wrong, (wg_options){.flags = WG_KEEP_CODE, .reserve = 1},
                    SIZE_MAX);
}

/* Records and their adjoints beyond the first range of addresses. */
static wg_status long_recording(wg_tape *t, double *result) {
    const wg_real first = wg_input(t, 0.5);
    wg_real y = first;
    for (int i = 0; i < 70000; i++) y = wg_let(t, wg_mul(y, 1.0));
    DO(wg_tape_status(t));
    DO(wg_reverse(t, y));
    return wg_adjoints(t, 1, &first, result);
}

static void chunks_survive(void **state) {
    (void)state;
    assert_survives(long_recording, (wg_options){.reserve = 1}, SIZE_MAX);
    assert_survives(long_recording, (wg_options){0}, 1 << 20);
}

/* ---- what is asked before ---- */

/* Statements, and an operation on matrices, which has workspace in sweeps of several lanes. */
static wg_real with_a_matrix(wg_tape *t) {
    enum { ROWS = 20 };
    walk(t, 5, INPUTS, 0, LENGTH, x);
    const wg_mat a = wg_mat_gather(t, ROWS, ROWS, x + LENGTH - ROWS * ROWS);
    return wg_let(t, wg_add(wg_mat_at(wg_matmul(t, a, a), 1, 0), x[LENGTH - 1]));
}

/* After a check a sweep asks for no memory: all of it may be refused. */
static void what_was_checked_has_its_memory(void **state) {
    (void)state;
    static const size_t lanes_of[] = {1, 3, 16};
    double w[16] = {1}, hv[INPUTS];
    for (size_t k = 0; k <= 3; k++) {
        struct counted m = counted_start();
        wg_tape *const t =
            wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .memory = counted_memory(&m)});
        const wg_real y = with_a_matrix(t);
        assert_int_equal(wg_tape_status(t), WG_OK);
        m.fail_at = m.asked, m.fail_on = 1;
        assert_int_equal(k < 3 ? wg_reverse_check(t, lanes_of[k], 1, &y)
                               : wg_tape_hvp_check(t, y, INPUTS, x),
                         WG_ENOMEM);
        m.fail_at = SIZE_MAX;
        assert_int_equal(k < 3 ? wg_reverse_check(t, lanes_of[k], 1, &y)
                               : wg_tape_hvp_check(t, y, INPUTS, x),
                         WG_OK);
        const size_t refused = m.refused;
        m.fail_at = m.asked;
        if (k == 0) assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_int_equal(k < 3 ? wg_reverse_lanes(t, lanes_of[k], 1, &y, w)
                               : wg_tape_hvp(t, y, INPUTS, x, w, hv),
                         WG_OK);
        assert_int_equal(m.refused, refused);
        wg_tape_free(t);
        assert_int_equal(m.wrong + m.ranges, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_survive),
        cmocka_unit_test(sweeps_survive),
        cmocka_unit_test(forward_tapes_survive),
        cmocka_unit_test(second_order_survives),
        cmocka_unit_test(rewinds_survive),
        cmocka_unit_test(drivers_survive),
        cmocka_unit_test(chunks_survive),
        cmocka_unit_test(matrices_survive),
        cmocka_unit_test(checks_of_operations_survive),
        cmocka_unit_test(what_was_checked_has_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

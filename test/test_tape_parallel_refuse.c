/* SPDX-License-Identifier: MIT */
/* test_tape_parallel_refuse.c - parallel loops: mistakes are found and named, failures come to
 * the tape, and what fails leaves everything as good as before. */
#include <pthread.h>
#include <stdio.h>

#include "counted.h"
#include "parallel_case.h"

enum { K = 4 };

static const unsigned modes[] = {0, WG_CHECKED, WG_KEEP_CODE, WG_KEEP_CODE | WG_CHECKED};
enum { MODES = sizeof modes / sizeof *modes };

static void assert_says(const wg_tape *t, const char *text) {
    if (strstr(wg_tape_message(t), text) == NULL)
        fail_msg("\"%s\" has no \"%s\"", wg_tape_message(t), text);
}

/* A tape that has failed is as good as new after a reset. */
static void assert_whole_again(wg_tape *t, wg_parallel *p) {
    wg_tape_reset(t);
    const wg_real x = wg_input(t, 3);
    wg_real part[K], y;
    assert_ok(t, wg_parallel_begin(p, t));
    for (size_t k = 0; k < K; k++)
        part[k] = wg_let(wg_parallel_tape(p, k), wg_mul(x, (double)k));
    assert_ok(t, wg_parallel_join(p));
    assert_ok(t, wg_parallel_reduce(p, WG_REDUCE_SUM, 1, part, &y));
    assert_ok(t, wg_reverse(t, y));
    assert_true(wg_adjoint(t, x) == 6);
    wg_tape_reset(t);
}

/* ---- variables in the wrong place ---- */

static void a_variable_of_another_segment_is_found(void **state) {
    (void)state;
    for (int mode = 0; mode < MODES; mode++)
        for (size_t way = 0; way < 4; way++) {
            wg_tape *const t = wg_tape_new(&(wg_options){.flags = modes[mode]});
            wg_parallel *const p = segments_of(t, K, pool_of(2));
            const wg_real x = wg_input(t, 2);
            assert_ok(t, wg_parallel_begin(p, t));
            const size_t from = way % 2, to = 1 - from;
            wg_tape *const s[2] = {wg_parallel_tape(p, from), wg_parallel_tape(p, to)};
            const wg_real other = wg_let(s[0], wg_sin(x));
            for (int i = 0; i < 10; i++) (void)wg_let(s[1], wg_cos(x));
            /* as an operand, alone or among others; or compared, where that is kept */
            if (way < 2) (void)wg_let(s[1], wg_mul(other, x));
            else if (modes[mode] & WG_KEEP_CODE) (void)wg_lt(s[1], other, x);
            else (void)wg_sum(s[1], 2, (const wg_real[]){x, other});
            if (modes[mode] & WG_CHECKED) assert_int_equal(wg_tape_status(s[1]), WG_ESTALE);
            assert_int_equal(wg_parallel_join(p), WG_ESTALE);
            assert_int_equal(wg_tape_status(t), WG_ESTALE);
            assert_says(t, way % 2 == 0 ? "wg_parallel_join: segment 1"
                                        : "wg_parallel_join: segment 0");
            assert_whole_again(t, p);
            wg_parallel_free(p);
            wg_tape_free(t);
        }
}

/* Nor does a forward tape, which keeps no records, read what is not there. */
static void a_forward_tape_finds_it_at_the_statement(void **state) {
    (void)state;
    for (int mode = 0; mode < MODES; mode++)
        for (size_t way = 0; way < 4; way++) {
            wg_tape *const t = wg_tape_new(&(wg_options){.flags = modes[mode]});
            wg_parallel *const p = segments_of(t, K, NULL);
            assert_ok(t, wg_tape_forward(t, 2));
            const wg_real x = wg_input(t, 2);
            assert_ok(t, wg_parallel_begin(p, t));
            const size_t from = way % 2, to = 1 - from;
            wg_tape *const s[2] = {wg_parallel_tape(p, from), wg_parallel_tape(p, to)};
            const wg_real other = wg_let(s[0], wg_sin(x));
            for (int i = 0; i < 10; i++) (void)wg_let(s[1], wg_cos(x));
            if (way < 2) (void)wg_let(s[1], wg_mul(other, x));
            else (void)wg_sum(s[1], 2, (const wg_real[]){x, other});
            assert_int_equal(wg_tape_status(s[1]), WG_ESTALE);
            assert_int_equal(wg_parallel_join(p), WG_ESTALE);
            wg_tape_reset(t);
            assert_ok(t, wg_tape_forward(t, 0));
            assert_whole_again(t, p);
            wg_parallel_free(p);
            wg_tape_free(t);
        }
}

/* What a rewind has forgotten is neither from before nor of the segment. */
static void a_variable_that_a_rewind_forgot_is_found(void **state) {
    (void)state;
    for (int mode = 0; mode < MODES; mode++)
        for (int way = 0; way < 2; way++) {
            wg_tape *const t = wg_tape_new(&(wg_options){.flags = modes[mode]});
            wg_parallel *const p = segments_of(t, K, NULL);
            const wg_real x = wg_input(t, 2);
            const wg_mark m = wg_tape_mark(t);
            const wg_real gone = wg_let(t, wg_sin(x));
            assert_ok(t, wg_tape_rewind(t, m));
            assert_ok(t, wg_parallel_begin(p, t));
            wg_tape *const s = wg_parallel_tape(p, 1);
            if (way == 0) (void)wg_let(s, wg_mul(x, gone));
            else (void)wg_lt(s, x, gone);
            assert_int_equal(wg_parallel_join(p), WG_ESTALE);
            assert_whole_again(t, p);
            wg_parallel_free(p);
            wg_tape_free(t);
        }
}

static wg_status forgets_to_adopt(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    wg_parallel *const p = data;
    (void)n, (void)m;
    wg_status s = wg_parallel_begin(p, t);
    const wg_real v = wg_let(wg_parallel_tape(p, 0), wg_sin(x[0]));
    if (s == WG_OK) s = wg_parallel_join(p);
    y[0] = wg_let(t, wg_mul(v, x[0]));
    return s;
}

static void a_variable_that_is_not_adopted_is_found(void **state) {
    (void)state;
    const double a = 2, v = 1;
    double value, g, h;
    for (int mode = 0; mode < MODES; mode++)
        for (int way = 0; way < 8; way++) {
            const int keeps = (modes[mode] & WG_KEEP_CODE) != 0;
            wg_tape *const t = wg_tape_new(&(wg_options){.flags = modes[mode]});
            wg_parallel *const p = segments_of(t, K, NULL);
            const wg_real x = wg_input(t, 2);
            assert_ok(t, wg_parallel_begin(p, t));
            const wg_real own = wg_let(wg_parallel_tape(p, 0), wg_sin(x));
            assert_ok(t, wg_parallel_join(p));
            const wg_real y = way != 7 ? wg_let(t, wg_mul(own, x)) : x;
            wg_status s = WG_OK;
            switch (way) {
            case 0:
                s = wg_reverse(t, y);
                break;
            case 1:
                s = wg_reverse_lanes(t, 1, 1, &y, &v);
                break;
            case 2:
                s = wg_parallel_begin(p, t);
                break;
            case 3:
                s = wg_gradient(t, forgets_to_adopt, p, 1, &a, &value, &g);
                break;
            case 4:
                s = keeps ? wg_tape_hvp(t, y, 1, &x, &v, &h) : wg_tape_status(t);
                if (!keeps) s = wg_reverse(t, y);
                break;
            case 5:
                s = keeps ? wg_tape_replay(t, 1, &x, &a) : wg_reverse(t, y);
                break;
            case 6:
                s = wg_jacobian(t, forgets_to_adopt, p, 1, &a, 1, &value, WG_ROW_MAJOR, &g, 1);
                break;
            default: /* in a later loop */
                assert_ok(t, wg_parallel_begin(p, t));
                for (size_t k = 0; k < K; k++)
                    for (int i = 0; i < 5; i++)
                        (void)wg_let(wg_parallel_tape(p, k), wg_mul(x, own));
                s = wg_parallel_join(p);
            }
            assert_int_equal(s, WG_ESTALE);
            assert_whole_again(t, p);
            wg_parallel_free(p);
            wg_tape_free(t);
        }
}

static void what_is_no_variable_of_the_loop_is_not_adopted(void **state) {
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.flags = modes[mode]});
        wg_parallel *const p = segments_of(t, K, NULL);
        wg_real x = wg_input(t, 2), v, stranger = walk_stranger(t), y;
        assert_int_equal(wg_parallel_adopt(p, 1, &x), WG_EMODE);
        assert_ok(t, wg_parallel_begin(p, t));
        v = wg_let(wg_parallel_tape(p, 0), wg_sin(x));
        assert_int_equal(wg_parallel_adopt(p, 1, &v), WG_EMODE); /* not yet */
        assert_true(isnan(wg_value(v)));
        assert_ok(t, wg_parallel_join(p));
        assert_int_equal(wg_parallel_adopt(p, 1, &stranger), WG_ESTALE);
        stranger.at.slot = UINT32_MAX;
        assert_int_equal(wg_parallel_adopt(p, 1, &stranger), WG_ESTALE);
        stranger.at.slot = ((uint32_t)1 << 31) + 1;
        assert_int_equal(wg_parallel_adopt(p, 1, &stranger), WG_ESTALE);
        assert_says(t, "wg_parallel_adopt");
        assert_int_equal(wg_parallel_reduce(p, WG_REDUCE_SUM, 1, (wg_real[K]){stranger}, &y),
                         WG_ESTALE);
        assert_true(isnan(wg_value(y)));
        wg_tape_reset(t);
        assert_int_equal(wg_parallel_adopt(p, 1, &x), WG_ESTALE);
        assert_int_equal(wg_parallel_reduce(p, (wg_reduction)9, 0, NULL, NULL), WG_EARG);
        assert_whole_again(t, p);
        wg_parallel_free(p);
        wg_tape_free(t);
    }
}

/* ---- failures in segments ---- */

static void the_first_segment_that_failed_fails_the_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain), *const other = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, K, pool_of(2));
    const wg_real x = wg_input(t, 2), foreign = wg_input(other, 1);
    wg_real v[K];
    assert_ok(t, wg_parallel_begin(p, t));
    for (size_t k = 0; k < K; k++) v[k] = wg_let(wg_parallel_tape(p, k), wg_exp(x));
    (void)wg_lookup(wg_parallel_tape(p, 3), wg_constant(5), 1, &x);
    (void)wg_let(wg_parallel_tape(p, 2), wg_mul(foreign, x));
    assert_int_equal(wg_parallel_join(p), WG_ESTALE);
    assert_says(t, "segment 2: wg_let: operand 0");
    assert_int_equal(wg_parallel_adopt(p, K, v), WG_ESTALE);
    for (size_t k = 0; k < K; k++) assert_true(isnan(wg_value(v[k])));
    assert_int_equal(wg_reverse(t, x), WG_ESTALE);
    assert_int_equal(wg_parallel_begin(p, t), WG_ESTALE);
    assert_true(isnan(wg_value(wg_let(wg_parallel_tape(p, 0), wg_exp(x)))));
    assert_int_equal(wg_parallel_join(p), WG_ESTALE);
    assert_whole_again(t, p);
    wg_parallel_free(p);
    wg_tape_free(t);
    wg_tape_free(other);
}

/* A segment of a loop on a forward tape reads what the tape of the loop has, and seeds
 * nothing. */
static void a_segment_reads_tangents_of_its_tape(void **state) {
    (void)state;
    const double m[4] = {1, 2, 3, 4}, seeds[4] = {5, 6, 7, 8};
    double out[4] = {0, 0, 0, 0};
    wg_tape *const t = wg_tape_new(NULL);
    assert_ok(t, wg_tape_forward(t, 2));
    const wg_mat a = wg_mat_input(t, 2, 2, m, 2);
    assert_ok(t, wg_mat_tangent_seed(t, a, 1, seeds, 2));
    wg_parallel *const p = segments_of(t, K, NULL);
    assert_ok(t, wg_parallel_begin(p, t));
    for (size_t k = 0; k < K; k++) {
        wg_tape *const s = wg_parallel_tape(p, k);
        assert_int_equal(wg_mat_tangent(s, a, 1, out, 2), WG_OK);
        assert_memory_equal(out, seeds, sizeof out);
        const wg_real y = wg_let(s, wg_mul(3, wg_mat_at(a, 1, 1)));
        const wg_mat own = {.value = &y.value, .at = y.at, .rows = 1, .cols = 1};
        assert_int_equal(wg_mat_tangent(s, own, 1, out, 1), WG_OK);
        assert_true(out[0] == 24 && wg_tangent(s, y, 1) == 24);
        assert_int_equal(wg_mat_tangent_seed(s, a, 1, seeds, 2), WG_EMODE);
        assert_int_equal(wg_mat_adjoint_seed(s, a, seeds, 2), WG_EMODE);
        assert_int_equal(wg_mat_reverse(s, a, NULL, 2), WG_EMODE);
        assert_int_equal(wg_mat_adjoint(s, a, out, 2), WG_ESEED);
    }
    assert_ok(t, wg_parallel_join(p));
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void a_segment_only_records(void **state) {
    (void)state;
    double one = 1;
    static double m[4] = {1, 2, 3, 4};
    for (int mode = 0; mode < MODES; mode++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.flags = modes[mode]});
        wg_parallel *const p = segments_of(t, K, NULL), *q = NULL;
        const wg_real x = wg_input(t, 2);
        wg_sparsity *none = NULL;
        assert_ok(t, wg_parallel_begin(p, t));
        wg_tape *const s = wg_parallel_tape(p, 1);
        wg_real y = wg_let(s, wg_mul(x, x));
        assert_int_equal(wg_reverse(s, y), WG_EMODE);
        assert_says(s, "wg_reverse: a segment of a parallel loop only records");
        assert_int_equal(wg_reverse_lanes(s, 1, 1, &y, &one), WG_EMODE);
        assert_int_equal(wg_adjoints_clear(s), WG_EMODE);
        assert_int_equal(wg_adjoint_seed(s, y, 1), WG_EMODE);
        assert_int_equal(wg_sweep(s, wg_tape_mark(s), wg_tape_mark(s)), WG_EMODE);
        assert_int_equal(wg_tape_rewind(s, wg_tape_mark(s)), WG_EMODE);
        assert_int_equal(wg_tape_hvp(s, y, 1, &x, &one, &one), WG_EMODE);
        assert_int_equal(wg_tape_hessian(s, y, 1, &x, &one, 1), WG_EMODE);
        assert_int_equal(wg_tape_replay(s, 1, &x, &one), WG_EMODE);
        assert_int_equal(wg_tape_verify(s), WG_EMODE);
        assert_int_equal(wg_label(s, y, "y"), WG_EMODE);
        assert_int_equal(wg_tangent_seed(s, y, 0, 1), WG_EMODE);
        assert_int_equal(wg_tape_forward(s, 1), WG_EMODE);
        assert_int_equal(wg_preaccumulate(s, wg_tape_mark(s), 1, &x, 1, &y), WG_EMODE);
        assert_int_equal(wg_tape_dump(s, wg_write_file, stderr), WG_EMODE);
        assert_int_equal(wg_tape_dot(s, wg_write_file, stderr), WG_EMODE);
        assert_int_equal(wg_print(s, y, wg_write_file, stderr), WG_EMODE);
        assert_int_equal(wg_parallel_new(s, K, NULL, &q), WG_EMODE);
        wg_tape_reset(s); /* does nothing, nor does it free */
        wg_tape_free(s);
        assert_true(isnan(wg_adjoint(s, y)));
        assert_true((modes[mode] & WG_KEEP_CODE) == 0 || wg_tape_value(s, y) == 4);
        assert_true((modes[mode] & WG_KEEP_CODE) == 0 || wg_tape_value(s, x) == 2);
        const wg_mat before = {.value = (const double[]){2}, .at = x.at, .rows = 1, .cols = 1};
        assert_int_equal(wg_mat_value(s, before, &one, 1), WG_OK);
        assert_true(one == 2);
        one = 1;
        assert_ok(t, wg_parallel_join(p));
        assert_ok(t, wg_parallel_adopt(p, 1, &y));
        assert_ok(t, wg_reverse(t, y));
        assert_true(wg_adjoint(t, x) == 4);
        for (int way = 0; way < 7; way++) { /* these fail */
            assert_ok(t, wg_parallel_begin(p, t));
            wg_tape *const again = wg_parallel_tape(p, 1);
            switch (way) {
            case 0:
                (void)wg_mat_input(again, 2, 2, m, 2);
                break;
            case 1:
                (void)wg_mat_exp(again, wg_mat_constant(again, 2, 2, m, 2));
                break;
            case 2:
                assert_null(wg_tape_keep(again, 100, NULL));
                break;
            case 3:
                (void)wg_parallel_begin(p, again);
                break;
            case 4:
                (void)wg_mat_input_borrowed(again, 2, 2, m, 2);
                break;
            case 5:
                (void)wg_mat_constant_borrowed(again, 2, 2, m, 2);
                break;
            default:
                assert_int_equal(wg_jacobian_sparsity(again, forgets_to_adopt, NULL, 1, &one, 1,
                                                      WG_ROW_MAJOR, &none),
                                 WG_EMODE);
            }
            assert_int_equal(wg_parallel_join(p), WG_EMODE);
            assert_says(t, "segment");
            assert_whole_again(t, p);
        }
        wg_parallel_free(p);
        wg_tape_free(t);
    }
}

/* ---- the tape of a loop ---- */

static void the_tape_is_closed_while_a_loop_is_open(void **state) {
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.flags = modes[mode]});
        wg_parallel *const p = segments_of(t, K, NULL), *const q = segments_of(t, K, NULL);
        const wg_real x = wg_input(t, 2);
        double one = 1;
        assert_int_equal(wg_parallel_join(p), WG_EMODE); /* none is open */
        assert_ok(t, wg_parallel_begin(p, t));
        assert_true(isnan(wg_value(wg_let(t, wg_sin(x)))));
        assert_int_equal(wg_reverse(t, x), WG_EMODE);
        assert_int_equal(wg_parallel_begin(p, t), WG_EMODE);
        assert_int_equal(wg_parallel_begin(q, t), WG_EMODE);
        assert_int_equal(wg_gradient(t, forgets_to_adopt, p, 1, &one, &one, &one), WG_EMODE);
        wg_real y = wg_let(wg_parallel_tape(p, 0), wg_mul(x, x));
        assert_ok(t, wg_parallel_join(p));
        assert_ok(t, wg_parallel_adopt(p, 1, &y));
        assert_ok(t, wg_reverse(t, y));
        assert_true(wg_adjoint(t, x) == 4);
        /* after the loop its segments record nothing */
        assert_true(isnan(wg_value(wg_let(wg_parallel_tape(p, 0), wg_mul(x, x)))));
        assert_int_equal(wg_parallel_join(p), WG_EMODE);
        assert_says(t, "wg_parallel_begin comes first");

        for (int way = 0; way < 2; way++) {
            wg_tape_reset(t);
            const wg_real z = wg_input(t, 2);
            assert_ok(t, wg_parallel_begin(p, t));
            (void)wg_let(wg_parallel_tape(p, 0), wg_mul(z, z));
            if (way == 0) wg_tape_reset(t);
            else
                assert_int_equal(wg_tape_rewind(t, (wg_tape_reset(t), wg_tape_mark(t))), WG_OK);
            assert_int_equal(wg_parallel_join(p), WG_EMODE);
            assert_ok(t, wg_tape_status(t));
            assert_says(t, "reset or rewound");
        }
        wg_parallel_free(q);
        assert_whole_again(t, p);
        wg_parallel_free(p);
        wg_tape_free(t);
    }
}

static void a_segment_that_is_left_paused_is_found(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, K, NULL);
    const wg_real x = wg_input(t, 2);
    assert_ok(t, wg_parallel_begin(p, t));
    assert_int_equal(wg_tape_pause(wg_parallel_tape(p, 2)), WG_OK);
    assert_int_equal(wg_let(wg_parallel_tape(p, 2), wg_sin(x)).at.slot, 0);
    assert_int_equal(wg_parallel_join(p), WG_EMODE);
    assert_says(t, "segment 2 was left paused");
    assert_whole_again(t, p);
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void *intrude(void *data) {
    wg_tape *const s = data;
    (void)wg_input(s, 1);
    return NULL;
}

static void a_checked_segment_knows_its_thread(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_CHECKED});
    wg_parallel *const p = segments_of(t, K, NULL);
    pthread_t thread;
    assert_ok(t, wg_parallel_begin(p, t));
    assert_int_equal(pthread_create(&thread, NULL, intrude, wg_parallel_tape(p, 1)), 0);
    (void)pthread_join(thread, NULL);
    assert_int_equal(wg_parallel_join(p), WG_ETHREAD);
    assert_says(t, "segment 1: wg_input:");
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* ---- limits ---- */

static void arguments_out_of_range_are_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *p = NULL;
    assert_int_equal(wg_parallel_new(t, 0, NULL, &p), WG_EARG);
    assert_int_equal(wg_parallel_new(t, 1025, NULL, &p), WG_EARG);
    assert_says(t, "1025 segments");
    assert_null(p);
    assert_ok(t, wg_parallel_new(t, 1024, NULL, &p));
    const wg_real x = wg_input(t, 1);
    wg_real y;
    assert_ok(t, wg_parallel_begin(p, t));
    y = wg_let(wg_parallel_tape(p, 1023), wg_exp(x));
    assert_ok(t, wg_parallel_join(p));
    assert_ok(t, wg_parallel_adopt(p, 1, &y));
    assert_ok(t, wg_reverse(t, y));
    assert_true(same_bits(wg_adjoint(t, x), exp(1)));
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void a_tape_has_no_more_slots_for_a_loop_than_for_others(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.max_slots = 100});
    wg_parallel *const p = segments_of(t, K, NULL);
    for (int n = 20; n <= 30; n += 10) {
        wg_tape_reset(t);
        const wg_real x = wg_input(t, 1);
        assert_ok(t, wg_parallel_begin(p, t));
        for (size_t k = 0; k < K; k++)
            for (int i = 0; i < n; i++) (void)wg_let(wg_parallel_tape(p, k), wg_exp(x));
        const wg_status s = wg_parallel_join(p);
        assert_int_equal(s, n == 20 ? WG_OK : WG_ESLOTS);
    }
    assert_says(t, "wg_parallel_join");
    assert_whole_again(t, p);
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* The k-th call for memory is refused, for every k there is. */
static void no_memory_is_a_failure_and_leaks_nothing(void **state) {
    (void)state;
    enum { N = 300 };
    static double a[PARAMETERS + N], g[PARAMETERS + N], first[PARAMETERS + N];
    inputs_of_case(a, PARAMETERS + N);
    for (unsigned flags = 0; flags <= WG_KEEP_PLACES; flags = flags * 2 + 1) {
        int done = 0;
        for (size_t fail_at = 0; !done; fail_at++) {
            struct counted m = counted_start();
            m.fail_at = fail_at == 0 ? SIZE_MAX : fail_at - 1;
            wg_tape *const t =
                wg_tape_new(&(wg_options){.flags = flags & (WG_KEEP_CODE | WG_KEEP_PLACES),
                                          .memory = counted_memory(&m)});
            wg_parallel *p = NULL;
            wg_status s = t == NULL ? WG_ENOMEM : wg_parallel_new(t, K, NULL, &p);
            double value;
            struct steps d = {p, NULL, 2, 0};
            if (s == WG_OK)
                s = wg_gradient(t, all_steps, &d, PARAMETERS + N, a, &value,
                                fail_at == 0 ? first : g);
            if (s == WG_OK && fail_at != 0) /* where its loops have places */
                s = wg_gradient(t, all_steps, &d, PARAMETERS + N, a, &value, g);
            done = fail_at != 0 && s == WG_OK && m.refused == 0;
            if (s != WG_OK) assert_int_equal(s, WG_ENOMEM);
            else if (fail_at != 0) assert_memory_equal(g, first, sizeof g);
            if (s != WG_OK && p != NULL) { /* and then there is some again */
                assert_ok(t, wg_gradient(t, all_steps, &d, PARAMETERS + N, a, &value, g));
                assert_memory_equal(g, first, sizeof g);
            }
            wg_parallel_free(p);
            wg_tape_free(t);
            assert_int_equal(m.ranges, 0);
            assert_int_equal(m.wrong, 0);
        }
    }
}

static void segments_are_of_the_budget_of_their_tape(void **state) {
    (void)state;
    static double x[INPUTS], g[INPUTS];
    double value;
    inputs_of_case(x, INPUTS);
    wg_stats all;
    int enough = 0;
    for (size_t budget = 1 << 18; !enough; budget += budget / 2) {
        wg_tape *const t = wg_tape_new(&(wg_options){.budget = budget, .reserve = 1 << 24});
        wg_parallel *p = NULL;
        wg_status s = wg_parallel_new(t, SEGMENTS, pool_of(2), &p);
        struct steps d = {p, pool_of(2), STEPS, 0};
        if (s == WG_OK) s = wg_gradient(t, all_steps, &d, INPUTS, x, &value, g);
        assert_true(s == WG_OK || s == WG_EBUDGET);
        assert_int_equal(wg_tape_stats(t, &all), WG_OK);
        assert_true(all.max_committed_bytes <= budget);
        enough = s == WG_OK;
        wg_parallel_free(p);
        wg_tape_free(t);
    }
}

/* Which may be one that a driver has made and freed. */
static void a_tape_that_was_freed_has_no_loop(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        wg_tape *const t = wg_tape_new(&plain), *const own = wg_tape_new(&plain);
        wg_parallel *const p = segments_of(t, K, pool_of(2)), *const q =
                                                                  segments_of(t, K, NULL);
        const wg_real x = wg_input(own, 2);
        wg_real part[K], y;
        if (way == 3) { /* others have had loops on it */
            assert_ok(own, wg_parallel_begin(q, own));
            assert_ok(own, wg_parallel_join(q));
        }
        assert_ok(own, wg_parallel_begin(p, own));
        for (size_t k = 0; k < K; k++)
            part[k] = wg_let(wg_parallel_tape(p, k), wg_mul(x, (double)k));
        if (way != 1) assert_ok(own, wg_parallel_join(p));
        if (way == 2) assert_ok(own, wg_parallel_adopt(p, K, part));
        wg_tape_free(own);
        assert_int_equal(wg_parallel_join(p), WG_EMODE);
        assert_int_equal(wg_parallel_adopt(p, K, part), WG_EMODE);
        assert_int_equal(wg_parallel_reduce(p, WG_REDUCE_SUM, 1, part, &y), WG_EMODE);
        assert_true(isnan(wg_value(y)));
        assert_true(isnan(wg_value(wg_let(wg_parallel_tape(p, 0), wg_exp(x)))));
        assert_int_equal(wgi_parallel_recorded(p, 0), 0);
        if (way == 0) wg_parallel_free(q);
        assert_whole_again(t, p);
        if (way != 0) wg_parallel_free(q);
        wg_parallel_free(p);
        wg_tape_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_of_another_segment_is_found),
        cmocka_unit_test(a_forward_tape_finds_it_at_the_statement),
        cmocka_unit_test(a_variable_that_a_rewind_forgot_is_found),
        cmocka_unit_test(a_variable_that_is_not_adopted_is_found),
        cmocka_unit_test(what_is_no_variable_of_the_loop_is_not_adopted),
        cmocka_unit_test(the_first_segment_that_failed_fails_the_tape),
        cmocka_unit_test(a_segment_reads_tangents_of_its_tape),
        cmocka_unit_test(a_segment_only_records),
        cmocka_unit_test(the_tape_is_closed_while_a_loop_is_open),
        cmocka_unit_test(a_segment_that_is_left_paused_is_found),
        cmocka_unit_test(a_checked_segment_knows_its_thread),
        cmocka_unit_test(arguments_out_of_range_are_refused),
        cmocka_unit_test(a_tape_has_no_more_slots_for_a_loop_than_for_others),
        cmocka_unit_test(no_memory_is_a_failure_and_leaks_nothing),
        cmocka_unit_test(segments_are_of_the_budget_of_their_tape),
        cmocka_unit_test(a_tape_that_was_freed_has_no_loop),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}

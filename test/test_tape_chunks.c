/* SPDX-License-Identifier: MIT */
/* test_tape_chunks.c - tapes that do not have one large range of addresses: records in several
 * chunks, extents that move to a larger range, and a buffer of the caller's. All must give what
 * an ordinary tape gives, to the last bit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "counted.h"
#include "walk.h"

enum { INPUTS = 20, LENGTH = 60000, MB = 1 << 20 };

static wg_real x[LENGTH], y[LENGTH]; /* of the ordinary tape, and of the other one */
static wg_mark marks_x[LENGTH + 1], marks_y[LENGTH + 1];

static wg_stats stats_of(const wg_tape *t) {
    wg_stats s;
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    return s;
}

static void assert_ok(const wg_tape *t) {
    if (wg_tape_status(t) != WG_OK) fail_msg("%s", wg_tape_message(t));
}

static void record(wg_tape *t, uint64_t seed, size_t from, size_t n, wg_real *v, wg_mark *m) {
    for (size_t i = from; i < n; i++) {
        m[i] = wg_tape_mark(t);
        walk(t, seed, INPUTS, i, i + 1, v);
    }
    m[n] = wg_tape_mark(t);
    assert_ok(t);
}

/* The adjoints of the first n variables are the same on both tapes. */
static void assert_same_adjoints(const wg_tape *t, const wg_tape *u, size_t n, size_t lanes) {
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < lanes; l++) {
            const double a = wg_adjoint_lane(t, x[i], l), b = wg_adjoint_lane(u, y[i], l);
            if (!same_number(a, b)) fail_msg("variable %zu lane %zu: %.17g, %.17g", i, l, a, b);
        }
}

static void assert_same_sweeps(wg_tape *t, wg_tape *u, size_t n) {
    const double w[] = {1, -0.5, 0.25, 2};
    /* roots everywhere: where the records of a root end is searched for across chunks */
    for (size_t root = n; root-- > 1; root = root * 3 / 4) {
        assert_int_equal(wg_reverse(t, x[root]), WG_OK);
        assert_int_equal(wg_reverse(u, y[root]), WG_OK);
        assert_same_adjoints(t, u, root + 1, 1);
    }
    const wg_real ends_x[] = {x[n - 1], x[n / 2]}, ends_y[] = {y[n - 1], y[n / 2]};
    assert_int_equal(wg_reverse_lanes(t, 2, 2, ends_x, w), WG_OK);
    assert_int_equal(wg_reverse_lanes(u, 2, 2, ends_y, w), WG_OK);
    assert_same_adjoints(t, u, n, 2);
    for (size_t part = 777; part < n; part *= 7) {
        assert_int_equal(wg_adjoints_clear(u), WG_OK);
        assert_int_equal(wg_adjoint_seed(u, y[n - 1], 1), WG_OK);
        assert_int_equal(wg_reverse(t, x[n - 1]), WG_OK);
        for (size_t high = n; high > 0;) {
            const size_t low = high > part ? high - part : 0;
            assert_int_equal(wg_sweep(u, marks_y[high], marks_y[low]), WG_OK);
            high = low;
        }
        assert_same_adjoints(t, u, n, 1);
    }
}

/* What every tape below has to do, beside an ordinary one. */
static void assert_like_an_ordinary_tape(wg_tape *u, unsigned flags, size_t n) {
    const wg_options opt = {.flags = flags};
    wg_tape *t = wg_tape_new(&opt);
    record(t, 1, 0, n, x, marks_x);
    record(u, 1, 0, n, y, marks_y);
    for (size_t i = 0; i < n; i++) {
        assert_true(same_bits(wg_value(x[i]), wg_value(y[i])));
        assert_int_equal(x[i].at.slot, y[i].at.slot);
        assert_true(marks_x[i].record == marks_y[i].record &&
                    marks_x[i].slot == marks_y[i].slot);
    }
    assert_same_sweeps(t, u, n);
    /* back to places before, at and behind every border, and on with something else */
    uint64_t seed = 1;
    for (size_t from = n; from > INPUTS; from = from * 4 / 5) {
        seed++;
        assert_int_equal(wg_tape_rewind(t, marks_x[from]), WG_OK);
        assert_int_equal(wg_tape_rewind(u, marks_y[from]), WG_OK);
        const size_t end = from + 5000 < n ? from + 5000 : n;
        record(t, seed, from, end, x, marks_x);
        record(u, seed, from, end, y, marks_y);
        assert_int_equal(wg_reverse(t, x[end - 1]), WG_OK);
        assert_int_equal(wg_reverse(u, y[end - 1]), WG_OK);
        assert_same_adjoints(t, u, end, 1);
    }
    wg_tape_reset(t);
    wg_tape_reset(u);
    const wg_stats before = stats_of(u);
    record(t, 9, 0, n, x, marks_x);
    record(u, 9, 0, n, y, marks_y);
    assert_int_equal(stats_of(u).records, stats_of(t).records);
    assert_same_sweeps(t, u, n);
    if (n > 1) assert_true(stats_of(u).memory_calls <= before.memory_calls + 8);
    wg_tape_free(t);
}

static void chunks_give_what_one_range_gives(void **state) {
    (void)state;
    struct counted m = counted_start();
    m.largest = MB;
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *u = wg_tape_new(&opt);
    assert_like_an_ordinary_tape(u, 0, LENGTH);
    assert_true(stats_of(u).record_bytes > 2 * MB); /* three chunks at least */
    wg_tape_free(u);
    assert_int_equal(m.ranges, 0);
    assert_int_equal(m.wrong, 0);
}

/* Every statement length at every distance from a border. */
static void a_border_may_be_anywhere_between_statements(void **state) {
    (void)state;
    struct counted m = counted_start();
    m.largest = MB;
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *u = wg_tape_new(&opt), *t = wg_tape_new(NULL);
    for (size_t shift = 0; shift < 12; shift++) {
        wg_tape_reset(t);
        wg_tape_reset(u);
        wg_real a = wg_input(t, 0.5), b = wg_input(u, 0.5);
        const wg_real first_a = a, first_b = b;
        for (size_t i = 0; i < MB / sizeof(wgi_record) - 12 + shift; i++)
            a = wg_let(t, wg_mul(a, 1.0)), b = wg_let(u, wg_mul(b, 1.0));
        wg_mark mark_a[24], mark_b[24];
        wg_real va[24], vb[24];
        for (size_t i = 0; i < 24; i++) {
            mark_a[i] = wg_tape_mark(t), mark_b[i] = wg_tape_mark(u);
            va[i] = a, vb[i] = b;
            const uint64_t kind = (i + shift) % 6;
            a = walk_pairs(t, kind, a, first_a, va[i / 2]);
            b = walk_pairs(u, kind, b, first_b, vb[i / 2]);
        }
        for (size_t i = 24; i-- > 0;) {
            assert_true(mark_a[i].record == mark_b[i].record);
            assert_int_equal(wg_reverse(t, a), WG_OK);
            assert_int_equal(wg_reverse(u, b), WG_OK);
            assert_true(same_bits(wg_adjoint(t, first_a), wg_adjoint(u, first_b)));
            assert_true(same_bits(wg_adjoint(t, va[i]), wg_adjoint(u, vb[i])));
            assert_int_equal(wg_tape_rewind(t, mark_a[i]), WG_OK);
            assert_int_equal(wg_tape_rewind(u, mark_b[i]), WG_OK);
            a = walk_pairs(t, i % 6, va[i], first_a, va[0]);
            b = walk_pairs(u, i % 6, vb[i], first_b, vb[0]);
        }
        assert_ok(u);
    }
    wg_tape_free(t);
    wg_tape_free(u);
    assert_int_equal(m.ranges, 0);
}

/* A small first range: chunks that double, and all other extents move. */
static void regions_that_move_keep_what_they_hold(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_KEEP_CODE | WG_KEEP_PLACES, WG_CHECKED};
    for (int f = 0; f < 4; f++) {
        struct counted m = counted_start();
        const wg_options opt = {.flags = flags[f], .reserve = 1, .memory = counted_memory(&m)};
        wg_tape *u = wg_tape_new(&opt);
        assert_like_an_ordinary_tape(u, flags[f], f == 0 ? LENGTH : LENGTH / 2);
        if (flags[f] & WG_KEEP_CODE) assert_int_equal(wg_tape_verify(u), WG_OK);
        wg_tape_free(u);
        assert_int_equal(m.ranges, 0);
        assert_int_equal(m.wrong, 0);
    }
}

static void second_order_and_replay_cross_borders(void **state) {
    (void)state;
    enum { N = 40000 };
    const wg_options plain = {.flags = WG_KEEP_CODE};
    const wg_options small = {.flags = WG_KEEP_CODE, .reserve = 1};
    wg_tape *t = wg_tape_new(&plain), *u = wg_tape_new(&small);
    record(t, 4, 0, N, x, marks_x);
    record(u, 4, 0, N, y, marks_y);
    assert_true(stats_of(u).record_bytes > 4 * MB / 4 * 1);
    double v[INPUTS], a[INPUTS], hx[INPUTS], hy[INPUTS], full_x[INPUTS * INPUTS],
        full_y[INPUTS * INPUTS];
    uint64_t seed = 2;
    for (int i = 0; i < INPUTS; i++) v[i] = walk_number(&seed), a[i] = walk_number(&seed);
    for (int run = 0; run < 2; run++) {
        assert_int_equal(wg_tape_hvp(t, x[N - 1], INPUTS, x, v, hx), WG_OK);
        assert_int_equal(wg_tape_hvp(u, y[N - 1], INPUTS, y, v, hy), WG_OK);
        for (int i = 0; i < INPUTS; i++) assert_true(same_number(hx[i], hy[i]));
        assert_int_equal(wg_tape_hessian(t, x[N - 1], INPUTS, x, full_x, INPUTS), WG_OK);
        assert_int_equal(wg_tape_hessian(u, y[N - 1], INPUTS, y, full_y, INPUTS), WG_OK);
        for (int i = 0; i < INPUTS * INPUTS; i++)
            assert_true(same_number(full_x[i], full_y[i]));
        assert_int_equal(wg_tape_replay(t, INPUTS, x, a), WG_OK);
        assert_int_equal(wg_tape_replay(u, INPUTS, y, a), WG_OK);
        for (size_t i = 0; i < N; i++)
            assert_true(same_bits(wg_tape_value(t, x[i]), wg_tape_value(u, y[i])));
        assert_int_equal(wg_reverse(t, x[N - 1]), WG_OK);
        assert_int_equal(wg_reverse(u, y[N - 1]), WG_OK);
        assert_same_adjoints(t, u, N, 1);
    }
    /* a replay leaves the records that a recording at that point leaves */
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, INPUTS, a, x), WG_OK);
    for (size_t i = INPUTS; i < N; i++) walk(t, 4, INPUTS, i, i + 1, x);
    assert_int_equal(wg_reverse(t, x[N - 1]), WG_OK);
    assert_same_adjoints(t, u, N, 1);
    wg_tape_free(t);
    wg_tape_free(u);
}

/* One statement longer than the chunk that is next: it is replaced by a larger one. */
static void a_statement_may_be_longer_than_a_chunk(void **state) {
    (void)state;
    enum { N = 300000 };
    struct counted m = counted_start();
    const wg_options opt = {.reserve = 1, .memory = counted_memory(&m)};
    wg_tape *u = wg_tape_new(&opt);
    double *a = calloc(N, sizeof *a);
    wg_real *v = calloc(N, sizeof *v);
    assert_true(a != NULL && v != NULL);
    for (int run = 0; run < 3; run++) {
        wg_tape_reset(u);
        assert_int_equal(wg_inputs(u, N, a, v), WG_OK);
        wg_real before = v[7];
        for (int i = 0; i < 70000 * (run != 1); i++) before = wg_let(u, wg_mul(before, 1.0));
        wg_real s = wg_let(u, wg_mul(3.0, wg_sum(u, N, v)));
        s = wg_let(u, wg_add(s, before));
        assert_ok(u);
        assert_int_equal(wg_reverse(u, s), WG_OK);
        for (size_t i = 0; i < N; i++) assert_true(wg_adjoint(u, v[i]) == (i == 7 ? 4 : 3));
    }
    wg_tape_free(u);
    assert_int_equal(m.ranges, 0);
    m.largest = MB; /* where no range is long enough for it */
    u = wg_tape_new(&opt);
    assert_int_equal(wg_inputs(u, 60000, a, v), WG_OK);
    for (size_t i = 60000; i < 100000; i++) v[i] = v[0];
    (void)wg_sum(u, 100000, v);
    assert_int_equal(wg_tape_status(u), WG_ENOMEM);
    wg_tape_reset(u);
    assert_int_equal(wg_reverse(u, wg_let(u, wg_sin(wg_input(u, 1)))), WG_OK);
    wg_tape_free(u);
    assert_int_equal(m.ranges, 0);
    free(a), free(v);
}

static void chunks_are_used_again_after_a_reset(void **state) {
    (void)state;
    struct counted m = counted_start();
    m.largest = MB;
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *u = wg_tape_new(&opt);
    size_t calls = 0;
    for (int run = 0; run < 6; run++) { /* statements of one and of four records */
        wg_tape_reset(u);
        wg_real v[8];
        for (int i = 0; i < 8; i++) v[i] = wg_input(u, 0.5 + i);
        wg_real s = v[0];
        for (int i = 0; i < (run % 2 ? 100000 : 25000); i++)
            s = run % 2
                    ? wg_let(u, wg_sin(s))
                    : wg_let(u, wg_sin(wg_add(wg_add(wg_add(s, v[1]), wg_add(v[2], v[3])),
                                              wg_add(wg_add(v[4], v[5]), wg_add(v[6], v[7])))));
        assert_int_equal(wg_reverse(u, s), WG_OK);
        assert_true(stats_of(u).record_bytes > 2 * MB);
        if (run == 1) calls = m.calls;
        if (run > 1) assert_int_equal(m.calls, calls);
    }
    wg_tape_free(u);
}

static void all_chunks_full_is_out_of_memory(void **state) {
    (void)state;
    struct counted m = counted_start();
    m.largest = MB;
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *u = wg_tape_new(&opt);
    const wg_real a = wg_input(u, 1);
    while (wg_tape_status(u) == WG_OK) (void)wg_let(u, wg_sin(a));
    assert_int_equal(wg_tape_status(u), WG_ENOMEM);
    assert_true(stats_of(u).record_bytes > 60 * MB);
    wg_tape_reset(u);
    const wg_real b = wg_input(u, 1);
    assert_int_equal(wg_reverse(u, wg_let(u, wg_square(b))), WG_OK);
    wg_tape_free(u);
    assert_int_equal(m.ranges, 0);
}

/* ---- the caller's buffer ---- */

enum { GUARD = 4096, GUARD_BYTE = 0xa5 };

/* Everything a tape does, until its buffer is full. */
static size_t use(const wg_options *opt) {
    wg_tape *t = wg_tape_new(opt);
    if (t == NULL) return 0;
    const wg_real a = wg_input(t, 0.5);
    double g, one = 1;
    const wg_mark start = wg_tape_mark(t);
    for (int i = 0; i < 100; i++) { /* more branches than a few */
        const wg_mark m = wg_tape_mark(t);
        (void)wg_let(t, wg_sin(a));
        if (wg_tape_rewind(t, m) != WG_OK) break;
        (void)wg_let(t, wg_sin(a));
    }
    (void)wg_label(t, a, "a");
    size_t refused = wg_tape_rewind(t, start) != WG_OK;
    wg_real b = a;
    size_t n = 0;
    for (; wg_tape_status(t) == WG_OK; n++) {
        const wg_real c = wg_let(t, wg_sin(wg_mul(b, a)));
        if (wg_tape_status(t) == WG_OK) b = c;
        if (n % 64 == 0 && wg_tape_status(t) == WG_OK)
            refused += wg_tape_hvp(t, b, 1, &a, &one, &g) != WG_OK;
    }
    assert_int_equal(wg_tape_status(t), WG_EBUDGET);
    wg_tape_reset(t);
    wg_real v[64];
    for (int i = 0; i < 64; i++) v[i] = wg_input(t, i);
    const wg_real s = wg_sum(t, 64, v);
    const double w[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    refused += wg_reverse_lanes(t, 8, 1, &s, w) != WG_OK;
    assert_true(refused <= 2 + n / 64); /* some are, but the tape goes on */
    wg_tape_reset(t);
    if (wg_tape_forward(t, 8) == WG_OK) {
        wg_real f = wg_input(t, 1);
        while (wg_tape_status(t) == WG_OK) f = wg_let(t, wg_sin(f));
        assert_int_equal(wg_tape_status(t), WG_EBUDGET);
    }
    wg_tape_reset(t);
    assert_int_equal(wg_tape_forward(t, 0), WG_OK);
    wg_stats stats;
    assert_int_equal(wg_tape_stats(t, &stats), WG_OK);
    assert_int_equal(stats.memory_calls, 0); /* nothing is obtained */
    assert_true(stats.committed_bytes <= opt->buffer_bytes);
    wg_tape_free(t);
    return n;
}

static void a_tape_stays_within_the_buffer_it_was_given(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE | WG_KEEP_PLACES, WG_CHECKED};
    const size_t largest = 3 * MB;
    unsigned char guard[GUARD + 64];
    memset(guard, GUARD_BYTE, sizeof guard);
    unsigned char *all = malloc(largest + 2 * GUARD + 64);
    assert_non_null(all);
    size_t most = 0;
    for (size_t bytes = 0, turn = 0; bytes <= largest; bytes += bytes / 6 + 57, turn++) {
        const size_t skew = turn * 13 % 64; /* of any alignment */
        unsigned char *const buffer = all + GUARD + skew;
        for (int f = 0; f < 3; f++) {
            memset(all, GUARD_BYTE, bytes + 2 * GUARD + 64);
            const wg_options opt = {.flags = flags[f], .buffer = buffer, .buffer_bytes = bytes};
            const size_t n = use(&opt);
            if (f == 0 && n > most) most = n;
            assert_memory_equal(all, guard, GUARD + skew);
            assert_memory_equal(buffer + bytes, guard, GUARD);
        }
    }
    assert_true(most > 40000);
    free(all);
}

/* From a size on that a user can know: the tape, a page for the records, one for the adjoints.
 */
static void a_small_buffer_is_enough_for_a_small_recording(void **state) {
    (void)state;
    static char buffer[6 * 4096 + 64];
    const wg_options opt = {.buffer = buffer, .buffer_bytes = sizeof buffer};
    wg_tape *t = wg_tape_new(&opt);
    assert_non_null(t);
    for (int run = 0; run < 3; run++) {
        wg_tape_reset(t);
        const wg_real a = wg_input(t, 0.5);
        wg_real b = a;
        for (int i = 0; i < 50; i++) b = wg_let(t, wg_mul(1.0, b));
        assert_ok(t);
        assert_int_equal(wg_reverse(t, b), WG_OK);
        assert_true(wg_adjoint(t, a) == 1);
    }
    wg_tape_free(t);
}

/* A chain of `length` statements on an input. */
static wg_status chain(wg_tape *t, size_t n, const wg_real *a, size_t m, wg_real *b,
                       void *data) {
    (void)n, (void)m;
    b[0] = wg_let(t, wg_mul(a[0], a[1]));
    for (size_t i = 1; i < *(const size_t *)data; i++) b[0] = wg_let(t, wg_mul(b[0], 1.0));
    return WG_OK;
}

/* One buffer for one thing after another, whatever it held before: what does not move has the
 * whole of it, but for what is asked for ahead, and what moves as it grows has half of it.
 * Bytes per statement: a record 32, an adjoint 8, a tangent 8, code 32, a value 8, a second
 * derivative 32. */
static void a_buffer_is_there_for_whatever_is_done_with_it(void **state) {
    (void)state;
    enum { ROUNDS = 3 };
    const size_t bytes = 4 * MB, whole = bytes - bytes / 8, most = bytes / 2;
    void *const buffer = malloc(bytes);
    assert_non_null(buffer);
    const wg_options opt = {.flags = WG_KEEP_CODE, .buffer = buffer, .buffer_bytes = bytes};
    wg_tape *const t = wg_tape_new(&opt), *plain = NULL;
    assert_non_null(t);
    const double a[] = {3, 5}, v[] = {1, 0};
    double f, g[2], h[4], jv;
    for (int round = 0; round < ROUNDS; round++) {
        /* reverse, code kept */
        size_t length = most / (32 + 8 + 8 + 32);
        assert_int_equal(wg_gradient(t, chain, &length, 2, a, &f, g), WG_OK);
        assert_true(f == 15 && g[0] == 5 && g[1] == 3);
        /* a tangent: values are kept for it, code and records are not */
        length = most / (8 + 8);
        assert_int_equal(wg_jvp(t, chain, &length, 2, a, v, 1, &f, &jv), WG_OK);
        assert_true(f == 15 && jv == 5);
        /* the same tape as a forward one, 64 tangents wide */
        wg_tape_reset(t);
        assert_int_equal(wg_tape_forward(t, 64), WG_OK);
        length = most / (64 * 8 + 8);
        const wg_real in[] = {wg_input(t, 3), wg_input(t, 5)};
        wg_real end;
        assert_int_equal(wg_tangent_seed(t, in[1], 63, 1), WG_OK);
        assert_int_equal(chain(t, 2, in, 1, &end, &length), WG_OK);
        assert_ok(t);
        assert_true(wg_tangent(t, end, 63) == 3);
        wg_tape_reset(t);
        assert_int_equal(wg_tape_forward(t, 0), WG_OK);
        /* a Hessian: 8 tangents and their adjoints on top of it all */
        length = most / (32 + 8 + 8 + 32 + 32 + 2 * 8 * 8);
        assert_int_equal(wg_hessian(t, chain, &length, 2, a, &f, g, h, 2), WG_OK);
        assert_true(h[0] == 0 && h[1] == 1 && h[2] == 1 && h[3] == 0);
        wg_stats s;
        assert_int_equal(wg_tape_stats(t, &s), WG_OK);
        assert_true(s.committed_bytes <= bytes && s.memory_calls == 0);
    }
    wg_tape_free(t);
    /* nothing but records and adjoints */
    plain = wg_tape_new(&(wg_options){.buffer = buffer, .buffer_bytes = bytes});
    size_t length = whole / (32 + 8);
    assert_int_equal(wg_gradient(plain, chain, &length, 2, a, &f, g), WG_OK);
    assert_true(g[0] == 5);
    length = bytes / (32 + 8);
    assert_int_equal(wg_gradient(plain, chain, &length, 2, a, &f, g), WG_EBUDGET);
    length = most / 8;
    assert_int_equal(wg_jvp(plain, chain, &length, 2, a, v, 1, &f, &jv), WG_OK);
    assert_true(jv == 5);
    wg_tape_free(plain);
    /* nothing but tangents */
    plain = wg_tape_new(&(wg_options){.buffer = buffer, .buffer_bytes = bytes});
    length = whole / 8;
    assert_int_equal(wg_jvp(plain, chain, &length, 2, a, v, 1, &f, &jv), WG_OK);
    assert_true(jv == 5);
    wg_tape_free(plain);
    free(buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_give_what_one_range_gives),
        cmocka_unit_test(a_border_may_be_anywhere_between_statements),
        cmocka_unit_test(regions_that_move_keep_what_they_hold),
        cmocka_unit_test(second_order_and_replay_cross_borders),
        cmocka_unit_test(a_statement_may_be_longer_than_a_chunk),
        cmocka_unit_test(chunks_are_used_again_after_a_reset),
        cmocka_unit_test(all_chunks_full_is_out_of_memory),
        cmocka_unit_test(a_tape_stays_within_the_buffer_it_was_given),
        cmocka_unit_test(a_small_buffer_is_enough_for_a_small_recording),
        cmocka_unit_test(a_buffer_is_there_for_whatever_is_done_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

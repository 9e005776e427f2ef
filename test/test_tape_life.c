/* SPDX-License-Identifier: MIT */
/* test_tape_life.c - the life of a tape: empty, reset, rewound, failed, paused, full; and of
 * the handles and marks that name what is on it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "counted.h"
#include "walk.h"

enum { INPUTS = 10, LENGTH = 300 };

static wg_tape *tape, *other;

static int open_tapes(void **state) {
    (void)state;
    tape = wg_tape_new(NULL);
    other = wg_tape_new(NULL);
    return tape == NULL || other == NULL;
}
static int close_tapes(void **state) {
    (void)state;
    wg_tape_free(tape);
    wg_tape_free(other);
    return 0;
}

static wg_stats stats_of(const wg_tape *t) {
    wg_stats s;
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    return s;
}

static void assert_ok(const wg_tape *t) {
    if (wg_tape_status(t) != WG_OK) fail_msg("%s", wg_tape_message(t));
}

/* A failure in the middle of a recording. */
static void break_tape(wg_tape *t) {
    wg_tape *stranger = wg_tape_new(NULL);
    (void)wg_let(t, wg_sin(wg_input(stranger, 1)));
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    wg_tape_free(stranger);
}

/* ---- empty ---- */

static void a_new_tape_takes_its_own_memory_and_no_more(void **state) {
    (void)state;
    struct counted m = counted_start();
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *t = wg_tape_new(&opt);
    assert_non_null(t);
    assert_int_equal(m.asked, 2);
    assert_int_equal(m.ranges, 1);
    assert_int_equal(stats_of(t).committed_bytes, m.committed);
    wg_tape_reset(t);
    assert_int_equal(wg_tape_rewind(t, wg_tape_mark(t)), WG_OK);
    (void)wg_let(t, wg_sin(2));
    assert_int_equal(m.asked, 2);
    wg_tape_free(t);
    assert_int_equal(m.ranges, 0);
    assert_int_equal(m.committed, 0);
    assert_int_equal(m.wrong, 0);
}

static void an_empty_tape_answers(void **state) {
    (void)state;
    const wg_mark here = wg_tape_mark(tape);
    const wg_stats s = stats_of(tape);
    assert_int_equal(s.statements, 0);
    assert_int_equal(s.records, 0);
    assert_int_equal(s.slots, 0);
    assert_int_equal(s.record_bytes + s.code_bytes + s.adjoint_bytes, 0);
    assert_int_equal(wg_reverse(tape, wg_constant(1)), WG_ESEED);
    assert_int_equal(wg_adjoints_clear(tape), WG_OK);
    assert_int_equal(wg_sweep(tape, here, here), WG_OK);
    assert_int_equal(wg_tape_rewind(tape, here), WG_OK);
    assert_string_equal(wg_tape_message(tape), "");
    assert_ok(tape);
}

static void every_status_has_a_text(void **state) {
    (void)state;
    for (int s = -3; s < WG_STATUS_COUNT + 3; s++) {
        const char *text = wg_status_text((wg_status)s);
        assert_non_null(text);
        assert_true(text[0] != 0);
        for (int r = 0; r < s && s < WG_STATUS_COUNT; r++)
            assert_string_not_equal(text, wg_status_text((wg_status)r));
    }
}

/* ---- reset ---- */

static void gradient_of_walk(wg_tape *t, uint64_t seed, wg_real *x, double *g) {
    walk(t, seed, INPUTS, 0, LENGTH, x);
    assert_int_equal(wg_reverse(t, x[LENGTH - 1]), WG_OK);
    assert_int_equal(wg_adjoints(t, INPUTS, x, g), WG_OK);
}

static void a_hundred_reuses_give_the_same_numbers_and_no_growth(void **state) {
    (void)state;
    struct counted m = counted_start();
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *t = wg_tape_new(&opt);
    static wg_real x[LENGTH];
    double first[INPUTS], g[INPUTS];
    gradient_of_walk(t, 1, x, first);
    const size_t calls = m.calls, committed = m.committed;
    for (uint64_t i = 0; i < 100; i++) {
        wg_tape_reset(t);
        gradient_of_walk(t, 1, x, g);
        assert_memory_equal(g, first, sizeof g);
        assert_int_equal(stats_of(t).resets, i + 1);
    }
    assert_int_equal(m.calls, calls);
    assert_int_equal(m.committed, committed);
    wg_tape_free(t);
    assert_int_equal(m.ranges, 0);
}

static void variables_from_before_a_reset_are_noticed(void **state) {
    (void)state;
    const wg_real old = wg_input(tape, 1), older = wg_let(tape, wg_sin(old));
    double g = 42;
    wg_tape_reset(tape);
    const wg_real x = wg_input(tape, 1), y = wg_let(tape, wg_sin(x)); /* the same slots */
    assert_int_equal(older.at.slot, y.at.slot);
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    assert_true(isnan(wg_adjoint(tape, old)));
    assert_int_equal(wg_adjoints(tape, 1, &old, &g), WG_ESTALE);
    assert_true(g == 42);
    assert_int_equal(wg_adjoint_seed(tape, old, 1), WG_ESTALE);
    assert_int_equal(wg_label(tape, old, "old"), WG_ESTALE);
    assert_ok(tape);
    const wg_real z = wg_let(tape, wg_mul(x, older));
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
    assert_int_equal(z.at.slot, 0);
    assert_true(isnan(wg_value(z)));
    assert_non_null(strstr(wg_tape_message(tape), "test_tape_life.c"));
    wg_tape_reset(tape);
    assert_int_equal(wg_reverse(tape, old), WG_ESTALE);
    wg_tape_reset(tape);
    const double one = 1;
    assert_int_equal(wg_reverse_lanes(tape, 1, 1, &old, &one), WG_ESTALE);
}

static void a_reset_costs_the_same_after_any_recording(void **state) {
    (void)state;
    struct counted m = counted_start();
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_KEEP_PLACES | WG_CHECKED};
    for (int f = 0; f < 3; f++) {
        const wg_options opt = {.flags = flags[f], .memory = counted_memory(&m)};
        wg_tape *t = wg_tape_new(&opt);
        wg_real x = wg_input(t, 0.5);
        const wg_mark early = wg_tape_mark(t);
        for (int i = 0; i < 20000; i++) x = wg_let(t, wg_sin(x));
        const wg_mark late = wg_tape_mark(t);
        for (int i = 0; i < 20000; i++) x = wg_let(t, wg_cos(x));
        assert_int_equal(wg_reverse(t, x), WG_OK);
        const size_t calls = m.calls;
        /* a byte touched outside of the tape itself is the end of this test */
        counted_seal(&m, 1);
        assert_int_equal(wg_tape_rewind(t, late), WG_OK);
        assert_int_equal(wg_tape_rewind(t, early), WG_OK);
        wg_tape_reset(t);
        counted_seal(&m, 0);
        assert_int_equal(m.calls, calls);
        wg_tape_free(t);
        assert_int_equal(m.ranges, 0);
    }
}

/* ---- tapes side by side ---- */

static void variables_of_two_tapes_do_not_mix(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2), u = wg_input(other, 3);
    double g = 42;
    assert_int_equal(x.at.slot, u.at.slot);
    assert_int_equal(wg_reverse(tape, x), WG_OK);
    assert_true(isnan(wg_adjoint(tape, u)));
    assert_int_equal(wg_adjoints_add(tape, 1, &u, &g), WG_ESTALE);
    assert_int_equal(wg_adjoint_seed(tape, u, 1), WG_ESTALE);
    const wg_real y = wg_let(tape, wg_mul(x, u));
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
    assert_non_null(strstr(wg_tape_message(tape), "another tape"));
    assert_ok(other);
    assert_true(isnan(wg_value(y)));
    const wg_real pair[] = {u, x};
    (void)wg_sum(other, 2, pair);
    assert_int_equal(wg_tape_status(other), WG_ESTALE);
    wg_tape_reset(tape);
    (void)wg_lt(tape, u, u);
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
    wg_tape_reset(tape);
    assert_int_equal(wg_reverse(tape, u), WG_ESTALE);
}

static void swapped_tapes_keep_what_they_hold(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2), u = wg_input(other, 3);
    const wg_real y = wg_let(tape, wg_square(x)), v = wg_let(other, wg_exp(u));
    wg_tape *swap = tape;
    tape = other, other = swap;
    assert_int_equal(wg_reverse(tape, v), WG_OK);
    assert_int_equal(wg_reverse(other, y), WG_OK);
    assert_true(wg_adjoint(tape, u) == exp(3));
    assert_true(wg_adjoint(other, x) == 4);
}

/* f(x) = x + inner f of one level less, each level on a tape of its own, inside the others. */
static double nested(wg_tape *const *level, int depth, double a) {
    wg_tape *t = level[depth];
    wg_tape_reset(t);
    const wg_real x = wg_input(t, a);
    wg_real y = wg_let(t, wg_mul(x, x));
    assert_int_equal(wg_reverse(t, y), WG_OK);
    const double before = wg_adjoint(t, x);
    const double inner = depth > 0 ? nested(level, depth - 1, a / 2) : 1;
    /* outer adjoints are untouched by the sweeps inside, and the recording goes on */
    assert_true(wg_adjoint(t, x) == before);
    y = wg_let(t, wg_mul(y, inner));
    assert_int_equal(wg_reverse(t, y), WG_OK);
    return wg_adjoint(t, x);
}

static void tapes_nest_four_deep(void **state) {
    (void)state;
    wg_tape *level[4];
    for (int i = 0; i < 4; i++) level[i] = wg_tape_new(NULL);
    /* d(x^2 c)/dx = 2 x c, level by level */
    const double a = 3, expected = 2 * a * (2 * a / 2 * (2 * a / 4 * (2 * a / 8)));
    assert_true(nested(level, 3, a) == expected);
    for (int i = 0; i < 4; i++) wg_tape_free(level[i]);
}

static void an_inner_tape_may_grow_while_the_outer_is_swept(void **state) {
    (void)state;
    enum { PARTS = 20 };
    wg_mark mark[PARTS + 1];
    wg_real x = wg_input(tape, 0.5);
    const wg_real first = x;
    for (int i = 0; i < PARTS; i++) {
        mark[i] = wg_tape_mark(tape);
        x = wg_let(tape, wg_mul(2, x));
    }
    mark[PARTS] = wg_tape_mark(tape);
    assert_int_equal(wg_adjoints_clear(tape), WG_OK);
    assert_int_equal(wg_adjoint_seed(tape, x, 1), WG_OK);
    for (int i = PARTS; i-- > 0;) {
        wg_real u = wg_input(other, 1);
        const wg_real start = u;
        for (int k = 0; k < 3000; k++) u = wg_let(other, wg_mul(u, 1.0));
        assert_int_equal(wg_reverse(other, u), WG_OK);
        assert_true(wg_adjoint(other, start) == 1);
        assert_int_equal(wg_sweep(tape, mark[i + 1], mark[i]), WG_OK);
    }
    assert_true(wg_adjoint(tape, first) == 0x1p20);
}

/* ---- marks and rewinds ---- */

static void a_rewind_keeps_the_earlier_part(void **state) {
    (void)state;
    static wg_real x[LENGTH];
    double first[INPUTS], g[INPUTS];
    gradient_of_walk(tape, 3, x, first);
    for (size_t from = 0; from < LENGTH; from += 7) {
        wg_tape_reset(tape);
        walk(tape, 3, INPUTS, 0, from, x);
        const wg_mark m = wg_tape_mark(tape);
        const wg_stats s = stats_of(tape);
        wg_real y = from > 0 ? x[0] : wg_input(tape, 2);
        for (int i = 0; i < 50; i++) y = wg_let(tape, wg_sin(wg_mul(y, y)));
        assert_int_equal(wg_reverse(tape, y), WG_OK);
        assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
        assert_int_equal(stats_of(tape).slots, s.slots);
        assert_int_equal(stats_of(tape).records, s.records);
        assert_int_equal(stats_of(tape).statements, s.statements);
        walk(tape, 3, INPUTS, from, LENGTH, x);
        assert_int_equal(wg_reverse(tape, x[LENGTH - 1]), WG_OK);
        assert_int_equal(wg_adjoints(tape, INPUTS, x, g), WG_OK);
        assert_memory_equal(g, first, sizeof g);
    }
}

static void an_input_may_come_after_a_rewind_in_the_middle(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2), y = wg_let(tape, wg_square(x));
    const wg_mark m = wg_tape_mark(tape);
    for (int i = 0; i < 5; i++) (void)wg_let(tape, wg_exp(y));
    assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
    const wg_real u = wg_input(tape, 7), z = wg_let(tape, wg_mul(y, u));
    assert_int_equal(wg_reverse(tape, z), WG_OK);
    assert_true(wg_adjoint(tape, x) == 28);
    assert_true(wg_adjoint(tape, u) == 4);
    assert_int_equal(stats_of(tape).statements, 2);
}

static void adjoints_of_the_kept_part_outlive_a_rewind(void **state) {
    (void)state;
    const wg_mark start = wg_tape_mark(tape);
    const wg_real x = wg_input(tape, 2);
    const wg_mark m = wg_tape_mark(tape);
    const wg_real y = wg_let(tape, wg_square(x));
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
    assert_true(wg_adjoint(tape, x) == 4);
    assert_true(isnan(wg_adjoint(tape, y))); /* forgotten */
    assert_int_equal(wg_tape_rewind(tape, start), WG_OK);
    const wg_real again = wg_input(tape, 3);
    assert_true(isnan(wg_adjoint(tape, again))); /* nothing is left of the sweep */
}

static void marks_of_elsewhere_are_refused(void **state) {
    (void)state;
    const wg_mark none = wg_tape_mark(NULL), foreign = wg_tape_mark(other);
    const wg_real x = wg_input(tape, 2);
    const wg_mark m = wg_tape_mark(tape);
    assert_int_equal(wg_tape_rewind(tape, none), WG_EMARK);
    assert_int_equal(wg_tape_rewind(tape, foreign), WG_EMARK);
    assert_int_equal(wg_adjoints_clear(tape), WG_OK);
    assert_int_equal(wg_sweep(tape, m, none), WG_EMARK);
    assert_int_equal(wg_sweep(tape, foreign, m), WG_EMARK);
    wg_tape_reset(tape);
    (void)wg_input(tape, 2);
    assert_int_equal(wg_tape_rewind(tape, m), WG_EMARK); /* from before the reset */
    assert_ok(tape);
    (void)x;
}

/* The mark of a part that was forgotten is refused, also when the tape is as long again: it
 * could point into the middle of a statement. */
static void marks_of_a_forgotten_part_are_refused(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED};
    for (int f = 0; f < 3; f++) {
        const wg_options opt = {.flags = flags[f]};
        wg_tape *t = wg_tape_new(&opt);
        const wg_real x = wg_input(t, 0.5);
        const wg_mark m = wg_tape_mark(t);
        (void)wg_let(t, wg_sin(x));
        const wg_mark forgotten = wg_tape_mark(t);
        assert_int_equal(wg_tape_rewind(t, forgotten), WG_OK); /* is there already */
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        assert_int_equal(wg_tape_rewind(t, forgotten), WG_EMARK);
        const wg_real y = wg_let(t, wg_add(wg_mul(x, x), wg_mul(x, wg_sin(x))));
        assert_int_equal(wg_tape_rewind(t, forgotten), WG_EMARK);
        (void)wg_let(t, wg_mul(x, y));
        assert_int_equal(wg_tape_rewind(t, forgotten), WG_EMARK);
        assert_int_equal(wg_adjoints_clear(t), WG_OK);
        assert_int_equal(wg_sweep(t, forgotten, m), WG_EMARK);
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        assert_ok(t);
        wg_tape_free(t);
    }
}

/* A mark of the same place made after a rewind is as good as the first one. */
static void marks_of_one_place_are_alike(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 0.5);
    const wg_mark m = wg_tape_mark(tape);
    for (int i = 0; i < 10; i++) {
        (void)wg_let(tape, wg_sin(x));
        assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
        const wg_mark same = wg_tape_mark(tape);
        (void)wg_let(tape, wg_cos(x));
        assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
        (void)wg_let(tape, wg_exp(x));
        assert_int_equal(wg_tape_rewind(tape, same), WG_OK);
    }
}

/* A trial before every step, as a line search makes it: all marks of the path stay good. */
static void marks_survive_rewinds_to_later_places(void **state) {
    (void)state;
    enum { STEPS = 500 };
    const unsigned flags[] = {0, WG_CHECKED};
    for (int f = 0; f < 2; f++) {
        struct counted m = counted_start();
        const wg_options opt = {.flags = flags[f], .memory = counted_memory(&m)};
        wg_tape *t = wg_tape_new(&opt);
        static wg_mark mark[STEPS];
        static wg_real x[STEPS + 1];
        x[0] = wg_input(t, 0.5);
        for (int i = 0; i < STEPS; i++) {
            mark[i] = wg_tape_mark(t);
            (void)wg_let(t, wg_sin(wg_mul(x[i], 3.0)));
            assert_int_equal(wg_tape_rewind(t, mark[i]), WG_OK);
            x[i + 1] = wg_let(t, wg_mul(1.0, x[i]));
        }
        const wg_mark end = wg_tape_mark(t);
        assert_int_equal(wg_adjoints_clear(t), WG_OK);
        assert_int_equal(wg_adjoint_seed(t, x[STEPS], 1), WG_OK);
        assert_int_equal(wg_sweep(t, end, mark[STEPS - 1]), WG_OK);
        for (int i = STEPS - 1; i-- > 0;)
            assert_int_equal(wg_sweep(t, mark[i + 1], mark[i]), WG_OK);
        for (int i = 0; i <= STEPS; i++) assert_true(wg_adjoint(t, x[i]) == 1);
        assert_int_equal(wg_tape_rewind(t, mark[STEPS / 2]), WG_OK);
        for (int i = 0; i < STEPS; i++)
            assert_int_equal(wg_sweep(t, mark[i], mark[i]), i <= STEPS / 2 ? WG_OK : WG_EMARK);
        assert_ok(t);
        const size_t calls = m.calls;
        wg_tape_reset(t);
        (void)wg_input(t, 1);
        assert_int_equal(m.calls, calls);
        wg_tape_free(t);
        assert_int_equal(m.ranges, 0);
    }
}

/* Marks and, on a checked tape, handles against a model: the list of everything that was
 * recorded, each with a number of its own. A mark is good while the list still starts as it did
 * then. */
static void any_order_of_marks_and_rewinds_is_understood(void **state) {
    (void)state;
    enum { MOST = 300, MARKS = 40, HANDLES = 40, ACTIONS = 20000 };
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED, WG_CHECKED | WG_KEEP_CODE};
    for (int f = 0; f < 4; f++) {
        const wg_options opt = {.flags = flags[f]};
        wg_tape *t = wg_tape_new(&opt);
        struct {
            wg_mark mark;
            size_t events, last;
        } mark[MARKS] = {0};
        struct {
            wg_real x;
            size_t event, number;
        } handle[HANDLES] = {0};
        size_t list[MOST + 1], events = 0, numbers = 1, marks = 0, handles = 0, refused = 0;
        size_t stale = 0;
        uint64_t seed = 17;
        wg_real x = wg_input(t, 0.5), y = x;
        list[events++] = numbers++;
        for (int i = 0; i < ACTIONS; i++) {
            const uint64_t r = walk_random(&seed);
            const size_t pick = (size_t)(r >> 32);
            if (r % 8 < 4 && events < MOST) { /* record: a statement, an input, a comparison */
                if (r % 8 == 3) {
                    (void)wg_lt(t, x, y);
                    if (flags[f] & WG_KEEP_CODE) list[events++] = numbers++;
                    continue;
                }
                y = r % 8 == 2 ? wg_input(t, 1) : wg_let(t, wg_sin(wg_mul(x, 0.5)));
                list[events++] = numbers;
                const size_t h = handles < HANDLES ? handles++ : pick % HANDLES;
                handle[h].x = y, handle[h].event = events - 1, handle[h].number = numbers++;
            } else if (r % 8 < 6) { /* mark */
                const size_t m = marks < MARKS ? marks++ : pick % MARKS;
                mark[m].mark = wg_tape_mark(t);
                mark[m].events = events, mark[m].last = list[events - 1];
            } else if (marks > 0) { /* rewind */
                const size_t m = pick % marks;
                const int good =
                    mark[m].events <= events && list[mark[m].events - 1] == mark[m].last;
                if (wg_tape_rewind(t, mark[m].mark) != (good ? WG_OK : WG_EMARK))
                    fail_msg("action %d: a %s mark", i, good ? "good" : "forgotten");
                if (good) events = mark[m].events, y = x;
                refused += !good;
            }
            if ((flags[f] & WG_CHECKED) == 0 || handles == 0 || i % 4 != 0) continue;
            const size_t h = pick % handles;
            const int good =
                handle[h].event < events && list[handle[h].event] == handle[h].number;
            double g = 0;
            assert_int_equal(wg_adjoints_clear(t), WG_OK);
            assert_int_equal(wg_adjoints(t, 1, &handle[h].x, &g), good ? WG_OK : WG_ESTALE);
            stale += !good;
        }
        assert_ok(t);
        assert_true(refused > 100);
        assert_true(stale > 100 || (flags[f] & WG_CHECKED) == 0);
        if (flags[f] & WG_KEEP_CODE) assert_int_equal(wg_tape_verify(t), WG_OK);
        wg_tape_free(t);
    }
}

/* ---- variables that a rewind has forgotten ---- */

/* Without WG_CHECKED: found while no new variable has taken the slot, by wg_let where it looks
 * at handles at all, by the sweep at the latest. */
static void a_forgotten_variable_is_found_by_the_sweep_at_the_latest(void **state) {
    (void)state;
    for (size_t lanes = 1; lanes <= 2; lanes++)
        for (int place = 0; place < 2; place++) {
            wg_tape_reset(tape);
            const wg_real x = wg_input(tape, 2);
            const wg_mark m = wg_tape_mark(tape);
            wg_real far = x;
            for (int i = 0; i < 100000; i++) far = wg_let(tape, wg_sin(far)); /* far above */
            assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
            const wg_real y = place ? wg_let(tape, wg_mul(x, far)) : wg_let(tape, wg_exp(far));
            const double w[] = {1, 1};
            const wg_status s =
                lanes == 1 ? wg_reverse(tape, y) : wg_reverse_lanes(tape, 2, 1, &y, w);
            assert_int_equal(s, WG_ESTALE);
            assert_int_equal(wg_tape_status(tape), WG_ESTALE);
            assert_non_null(strstr(wg_tape_message(tape), "rewind"));
            assert_true(isnan(wg_adjoint(tape, x)));
        }
    wg_tape_reset(tape);
    const wg_real x = wg_input(tape, 2);
    const wg_mark m = wg_tape_mark(tape);
    const wg_real forgotten = wg_let(tape, wg_exp(x));
    assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
    assert_int_equal(wg_label(tape, forgotten, "forgotten"), WG_ESTALE);
    assert_int_equal(wg_reverse(tape, forgotten), WG_ESTALE);
    assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
    (void)wg_let(tape,
                 wg_add(forgotten, wg_constant(1))); /* a constant: the handles are looked at */
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
    assert_non_null(strstr(wg_tape_message(tape), "rewind"));
}

static void a_checked_tape_finds_a_forgotten_variable_whose_slot_is_taken(void **state) {
    (void)state;
    const unsigned flags[] = {WG_CHECKED, WG_CHECKED | WG_KEEP_CODE | WG_KEEP_PLACES};
    for (int f = 0; f < 2; f++) {
        const wg_options opt = {.flags = flags[f]};
        wg_tape *t = wg_tape_new(&opt);
        const wg_real x = wg_input(t, 2);
        const wg_mark m = wg_tape_mark(t);
        const wg_real forgotten = wg_let(t, wg_exp(x));
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        const wg_real y = wg_let(t, wg_sin(x)); /* takes the slot */
        assert_int_equal(y.at.slot, forgotten.at.slot);
        const wg_real copy = wg_let(t, x);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_true(wg_adjoint(t, x) == cos(2));
        assert_true(wg_adjoint(t, copy) == cos(2));
        assert_true(isnan(wg_adjoint(t, forgotten)));
        const wg_mark here = wg_tape_mark(t);
        (void)wg_let(t, wg_mul(x, forgotten));
        assert_int_equal(wg_tape_status(t), WG_ESTALE);
        assert_int_equal(wg_tape_rewind(t, here), WG_OK);
        assert_int_equal(wg_reverse(t, forgotten), WG_ESTALE);
        assert_int_equal(wg_tape_rewind(t, here), WG_OK);
        (void)wg_sum(t, 1, &forgotten);
        assert_int_equal(wg_tape_status(t), WG_ESTALE);
        wg_tape_free(t);
    }
}

/* ---- failure ---- */

static void a_failed_tape_does_nothing_more(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE};
    for (int f = 0; f < 2; f++) {
        const wg_options opt = {.flags = flags[f]};
        wg_tape *t = wg_tape_new(&opt);
        const wg_real x = wg_input(t, 2), y = wg_let(t, wg_square(x));
        const double one = 1;
        double g = 42, h = 42;
        wg_real z = x;
        assert_int_equal(wg_reverse(t, y), WG_OK);
        break_tape(t);
        char message[512];
        strcpy(message, wg_tape_message(t));
        const wg_stats s = stats_of(t);
        const wg_mark here = wg_tape_mark(t);
        const wg_real made[] = {wg_let(t, wg_mul(x, y)), wg_let(t, x),
                                wg_let(t, 3.0),          wg_input(t, 5),
                                wg_sum(t, 1, &x),        wg_dot(t, 1, &x, &y)};
        for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
            assert_true(isnan(wg_value(made[i])));
            assert_int_equal(made[i].at.slot, 0);
            assert_true(isnan(wg_adjoint(t, made[i])));
        }
        assert_int_equal(wg_inputs(t, 1, &one, &z), WG_ESTALE);
        assert_int_equal(z.at.slot, x.at.slot);
        assert_int_equal(wg_label(t, x, "x"), WG_ESTALE);
        assert_int_equal(wg_reverse(t, y), WG_ESTALE);
        assert_int_equal(wg_reverse_seeds(t, 1, &y, &one), WG_ESTALE);
        assert_int_equal(wg_reverse_lanes(t, 1, 1, &y, &one), WG_ESTALE);
        assert_int_equal(wg_adjoints_clear(t), WG_ESTALE);
        assert_int_equal(wg_adjoint_seed(t, y, 1), WG_ESTALE);
        assert_int_equal(wg_sweep(t, here, here), WG_ESTALE);
        assert_int_equal(wg_adjoints(t, 1, &x, &g), WG_ESTALE);
        assert_int_equal(wg_adjoints_add(t, 1, &x, &g), WG_ESTALE);
        assert_int_equal(wg_tape_forward(t, 1), WG_ESTALE);
        assert_int_equal(wg_tangent_seed(t, x, 0, 1), WG_ESTALE);
        assert_int_equal(wg_tape_hvp(t, y, 1, &x, &one, &h), WG_ESTALE);
        assert_int_equal(wg_tape_hessian(t, y, 1, &x, &h, 1), WG_ESTALE);
        assert_int_equal(wg_tape_verify(t), WG_ESTALE);
        assert_int_equal(wg_tape_replay(t, 1, &x, &one), WG_ESTALE);
        assert_true(g == 42 && h == 42);
        assert_true(isnan(wg_adjoint(t, x)));
        assert_true(isnan(wg_adjoint_lane(t, x, 0)));
        assert_true(isnan(wg_tangent(t, x, 0)));
        assert_true(wg_lt(t, x, y)); /* the program goes on as it would */
        const wg_stats after = stats_of(t);
        assert_memory_equal(&after, &s, sizeof s);
        assert_string_equal(wg_tape_message(t), message); /* of the first failure */
        wg_tape_free(t);
    }
}

static void a_rewind_to_before_the_failure_clears_it(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2), y = wg_let(tape, wg_square(x));
    const wg_mark before = wg_tape_mark(tape);
    for (int i = 0; i < 3; i++) {
        (void)wg_let(tape, wg_exp(y));
        break_tape(tape);
        const wg_mark after = wg_tape_mark(tape);
        assert_int_equal(wg_tape_rewind(tape, after), WG_OK); /* still failed there */
        assert_int_equal(wg_tape_status(tape), WG_ESTALE);
        assert_int_equal(wg_tape_rewind(tape, before), WG_OK);
        assert_ok(tape);
        assert_string_equal(wg_tape_message(tape), "");
        const wg_real z = wg_let(tape, wg_mul(y, 3));
        assert_int_equal(wg_reverse(tape, z), WG_OK);
        assert_true(wg_adjoint(tape, x) == 12);
    }
}

static void a_reset_clears_a_failure(void **state) {
    (void)state;
    break_tape(tape);
    const wg_mark failed = wg_tape_mark(tape);
    wg_tape_reset(tape);
    assert_ok(tape);
    assert_string_equal(wg_tape_message(tape), "");
    assert_int_equal(wg_tape_rewind(tape, failed), WG_EMARK);
    const wg_real x = wg_input(tape, 2);
    assert_int_equal(wg_reverse(tape, wg_let(tape, wg_square(x))), WG_OK);
    assert_true(wg_adjoint(tape, x) == 4);
}

static void a_refused_argument_is_not_a_failure_of_the_tape(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2);
    double v;
    assert_int_equal(wg_reverse(tape, wg_constant(1)), WG_ESEED);
    assert_int_equal(wg_tape_hvp(tape, x, 1, &x, &(double){1}, &v),
                     WG_EMODE); /* keeps no code */
    assert_int_equal(wg_tape_verify(tape), WG_EMODE);
    assert_int_equal(wg_tape_forward(tape, 1), WG_EMODE); /* not empty */
    assert_int_equal(wg_tape_forward(tape, 65), WG_EARG);
    assert_int_equal(wg_tangent_seed(tape, x, 0, 1), WG_EMODE);
    assert_int_equal(wg_tape_resume(tape), WG_EMODE);
    assert_ok(tape);
}

static void a_refused_call_says_why_and_loses_nothing(void **state) {
    (void)state;
    wg_tape *stranger = wg_tape_new(NULL);
    const wg_real x = wg_input(tape, 3), y = wg_let(tape, wg_mul(x, x));
    const wg_real z = wg_input(stranger, 1);
    assert_int_equal(wg_reverse(tape, wg_constant(1)), WG_ESEED);
    assert_non_null(strstr(wg_tape_message(tape), "wg_reverse"));
    assert_int_equal(wg_reverse(tape, z), WG_ESTALE);
    assert_non_null(strstr(wg_tape_message(tape), "another tape"));
    assert_int_equal(wg_tape_verify(tape), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(tape), "wg_tape_verify"));
    assert_ok(tape);
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    assert_true(wg_adjoint(tape, x) == 6);
    wg_tape_free(stranger);
}

/* ---- pauses ---- */

static void a_paused_tape_computes_and_keeps_nothing(void **state) {
    (void)state;
    struct counted m = counted_start();
    const unsigned flags[] = {0, WG_KEEP_CODE | WG_KEEP_PLACES};
    for (int f = 0; f < 2; f++) {
        const wg_options opt = {.flags = flags[f], .memory = counted_memory(&m)};
        wg_tape *t = wg_tape_new(&opt);
        const wg_real x = wg_input(t, 0.5);
        wg_real y = wg_let(t, wg_sin(x)), p = y;
        (void)wg_sum(t, 1, &x); /* has its workspace from here on */
        const wg_stats before = stats_of(t);
        const size_t calls = m.calls;
        assert_int_equal(wg_tape_pause(t), WG_OK);
        assert_int_equal(wg_tape_pause(t), WG_OK);
        assert_int_equal(wg_let(t, x).at.slot, 0);
        for (int i = 0; i < 10000; i++) p = wg_let(t, wg_cos(wg_mul(p, x)));
        assert_int_equal(p.at.slot, 0);
        assert_int_equal(wg_sum(t, 1, &x).at.slot, 0);
        assert_int_equal(wg_tape_resume(t), WG_OK);
        assert_int_equal(wg_let(t, wg_sin(x)).at.slot, 0); /* pauses nest */
        assert_int_equal(wg_tape_resume(t), WG_OK);
        assert_int_equal(wg_tape_resume(t), WG_EMODE);
        const wg_stats after = stats_of(t);
        assert_memory_equal(&after, &before, sizeof after);
        assert_int_equal(m.calls, calls);
        double v = sin(0.5);
        for (int i = 0; i < 10000; i++) v = cos(v * 0.5);
        assert_true(wg_value(p) == v);
        y = wg_let(t, wg_mul(y, p));
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_true(wg_adjoint(t, x) == v * cos(0.5));
        assert_int_equal(wg_tape_pause(t), WG_OK);
        wg_tape_reset(t); /* ends all pauses */
        assert_true(wg_let(t, wg_sin(wg_input(t, 1))).at.slot != 0);
        wg_tape_free(t);
    }
}

/* ---- full ---- */

static void ten_million_statements_take_the_bytes_they_should(void **state) {
    (void)state;
    enum { N = 10000000 };
    wg_real x = wg_input(tape, 1), y = x;
    for (int i = 0; i < N; i++) y = wg_let(tape, wg_mul(x, y));
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    assert_true(wg_adjoint(tape, x) == N + 1);
    const wg_stats s = stats_of(tape);
    assert_int_equal(s.statements, N);
    assert_int_equal(s.records, N);
    assert_int_equal(s.slots, N + 1);
    assert_int_equal(s.record_bytes, (uint64_t)N * 32);
    assert_int_equal(s.adjoint_bytes, ((uint64_t)N + 2) * 8); /* slot 0 has one, too */
    assert_int_equal(s.code_bytes, 0);
    /* what is committed ahead: at most 32 MB of records, 2 MB of adjoints, and the tape */
    assert_true(s.committed_bytes < s.record_bytes + s.adjoint_bytes + (35u << 20));
}

static void high_water_marks_outlive_rewinds_and_resets(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 1);
    const wg_mark m = wg_tape_mark(tape);
    for (int i = 0; i < 5000; i++) (void)wg_let(tape, wg_sin(x));
    assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
    for (int i = 0; i < 10; i++) (void)wg_let(tape, wg_sin(x));
    wg_stats s = stats_of(tape);
    assert_int_equal(s.records, 10);
    assert_int_equal(s.max_records, 5000);
    assert_int_equal(s.max_slots, 5001);
    wg_tape_reset(tape);
    s = stats_of(tape);
    assert_int_equal(s.records, 0);
    assert_int_equal(s.max_records, 5000);
    assert_int_equal(s.max_slots, 5001);
    assert_int_equal(s.max_committed_bytes, s.committed_bytes);
    assert_int_equal(s.resets, 1);
}

static void a_tape_gives_out_max_slots_variables_and_no_more(void **state) {
    (void)state;
    const size_t most[] = {1, 2, 3, 4, 5, 9, 100, 5000};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        for (unsigned flags = 0; flags <= WG_KEEP_CODE; flags += WG_KEEP_CODE) {
            const wg_options opt = {.flags = flags, .max_slots = most[i]};
            wg_tape *t = wg_tape_new(&opt);
            const wg_real x = wg_input(t, 1);
            const wg_mark m = wg_tape_mark(t);
            for (int run = 0; run < 3; run++) {
                wg_real y = x;
                for (size_t n = 1; n < most[i]; n++)
                    y = n % 3 ? wg_let(t, wg_mul(x, y))
                              : wg_let(t, wg_sin(wg_add(wg_mul(x, y), y)));
                assert_ok(t);
                assert_int_equal(stats_of(t).slots, most[i]);
                assert_int_equal(wg_reverse(t, y), WG_OK);
                assert_int_equal(wg_let(t, y).at.slot, y.at.slot); /* needs no slot */
                const wg_real z = run == 0   ? wg_let(t, wg_sin(y))
                                  : run == 1 ? wg_input(t, 1)
                                             : wg_sum(t, 1, &y);
                assert_int_equal(wg_tape_status(t), WG_ESLOTS);
                assert_int_equal(z.at.slot, 0);
                assert_int_equal(stats_of(t).slots, most[i]);
                assert_int_equal(wg_tape_rewind(t, m), WG_OK);
            }
            const double a[2] = {1, 2};
            wg_real two[2];
            for (size_t n = 1; n + 1 < most[i]; n++) (void)wg_let(t, wg_sin(x));
            if (most[i] > 1) { /* one is left: two are refused together */
                assert_int_equal(wg_inputs(t, 2, a, two), WG_ESLOTS);
                assert_int_equal(stats_of(t).slots, most[i] - 1);
            }
            wg_tape_free(t);
        }
}

/* Slots are 32 bits wide: the last one that can be given out is 2^32 - 2. */
static void slots_do_not_wrap_around(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 1);
    tape->slots = UINT32_MAX - 3; /* as if all these had been recorded */
    assert_int_equal(wg_tape_pause(tape), WG_OK);
    assert_int_equal(wg_tape_resume(tape), WG_OK);
    for (uint32_t i = 3; i >= 2; i--) {
        const wg_real y = wg_let(tape, wg_sin(x));
        assert_int_equal(y.at.slot, UINT32_MAX - i);
    }
    assert_int_equal(wg_input(tape, 1).at.slot, UINT32_MAX - 1);
    assert_ok(tape);
    (void)wg_let(tape, wg_sin(x));
    assert_int_equal(wg_tape_status(tape), WG_ESLOTS);
    assert_int_equal(tape->slots, UINT32_MAX);
    const wg_options opt = {.max_slots = SIZE_MAX};
    wg_tape *t = wg_tape_new(&opt);
    assert_int_equal(wg_input(t, 1).at.slot, 1);
    wg_tape_free(t);
}

/* Records until the tape is full; gives how many statements it took. */
static size_t fill(wg_tape *t, wg_status expected) {
    const wg_real x = wg_input(t, 1);
    while (wg_tape_status(t) == WG_OK) (void)wg_let(t, wg_sin(x));
    assert_int_equal(wg_tape_status(t), expected);
    return (size_t)stats_of(t).records;
}

static void a_budget_is_never_passed_and_well_used(void **state) {
    (void)state;
    size_t before = 0;
    for (size_t budget = 0x1000; budget < 0x100000; budget += budget / 8 / 4096 * 4096 + 1000) {
        for (unsigned flags = 0; flags <= WG_KEEP_CODE; flags += WG_KEEP_CODE) {
            struct counted m = counted_start();
            const wg_options opt = {
                .flags = flags, .budget = budget, .memory = counted_memory(&m)};
            wg_tape *t = wg_tape_new(&opt);
            if (t == NULL) {
                assert_true(budget < 0x4000);
                assert_int_equal(m.ranges, 0);
                continue;
            }
            const size_t most = fill(t, WG_EBUDGET);
            assert_true(m.committed <= budget);
            wg_tape_reset(t);
            assert_int_equal(fill(t, WG_EBUDGET), most);
            assert_true(m.committed <= budget);
            if (flags == 0) {
                assert_true(most >= before);
                before = most;
                /* the last page is not lost, nor is more than the slack behind the limit */
                assert_true(most * 32 + 3 * 4096 + 4 * 32 >= budget - budget % 4096 ||
                            most == 0);
            }
            wg_tape_reset(t);
            assert_ok(t);
            wg_tape_free(t);
            assert_int_equal(m.ranges, 0);
            assert_int_equal(m.wrong, 0);
        }
    }
    assert_true(before > 20000);
}

/* A recording that leaves room for its adjoints is swept, though memory is taken in steps. */
static void a_budget_for_records_and_adjoints_holds_both(void **state) {
    (void)state;
    for (size_t n = 100; n < 200000; n *= 3) {
        const size_t budget = (n * 40 + n * 40 / 16) + 6 * 4096;
        const wg_options opt = {.budget = budget};
        wg_tape *t = wg_tape_new(&opt);
        wg_real x = wg_input(t, 1), y = x;
        for (size_t i = 0; i < n; i++) y = wg_let(t, wg_mul(x, y));
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_true(stats_of(t).committed_bytes <= budget);
        wg_tape_free(t);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tapes, close_tapes)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_new_tape_takes_its_own_memory_and_no_more),
        TEST(an_empty_tape_answers),
        TEST(every_status_has_a_text),
        TEST(a_hundred_reuses_give_the_same_numbers_and_no_growth),
        TEST(variables_from_before_a_reset_are_noticed),
        TEST(a_reset_costs_the_same_after_any_recording),
        TEST(variables_of_two_tapes_do_not_mix),
        TEST(swapped_tapes_keep_what_they_hold),
        TEST(tapes_nest_four_deep),
        TEST(an_inner_tape_may_grow_while_the_outer_is_swept),
        TEST(a_rewind_keeps_the_earlier_part),
        TEST(an_input_may_come_after_a_rewind_in_the_middle),
        TEST(adjoints_of_the_kept_part_outlive_a_rewind),
        TEST(marks_of_elsewhere_are_refused),
        TEST(marks_of_a_forgotten_part_are_refused),
        TEST(marks_of_one_place_are_alike),
        TEST(marks_survive_rewinds_to_later_places),
        TEST(any_order_of_marks_and_rewinds_is_understood),
        TEST(a_forgotten_variable_is_found_by_the_sweep_at_the_latest),
        TEST(a_checked_tape_finds_a_forgotten_variable_whose_slot_is_taken),
        TEST(a_failed_tape_does_nothing_more),
        TEST(a_rewind_to_before_the_failure_clears_it),
        TEST(a_reset_clears_a_failure),
        TEST(a_refused_argument_is_not_a_failure_of_the_tape),
        TEST(a_refused_call_says_why_and_loses_nothing),
        TEST(a_paused_tape_computes_and_keeps_nothing),
        TEST(ten_million_statements_take_the_bytes_they_should),
        TEST(high_water_marks_outlive_rewinds_and_resets),
        TEST(a_tape_gives_out_max_slots_variables_and_no_more),
        TEST(slots_do_not_wrap_around),
        TEST(a_budget_is_never_passed_and_well_used),
        TEST(a_budget_for_records_and_adjoints_holds_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

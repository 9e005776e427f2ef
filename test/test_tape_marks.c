/* SPDX-License-Identifier: MIT */
/* test_tape_marks.c - marks and rewinds: what they keep, what they forget, and who notices. */
#include "life.h"

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

/* Where there is no memory any more, the tape can still go back: a branch has had its room
 * since the one before it began. */
static void a_rewind_needs_no_memory_where_there_is_none(void **state) {
    (void)state;
    enum { FROM = 60, TO = 70 }; /* branches that a tape has room for in itself: 64 */
    for (int good = FROM; good < TO; good++) {
        struct counted m = counted_start();
        const wg_options opt = {.flags = WG_CHECKED, .memory = counted_memory(&m)};
        wg_tape *t = wg_tape_new(&opt);
        wg_real x = wg_input(t, 0.5);
        for (int i = 0; i < good; i++) { /* a branch each */
            const wg_mark here = wg_tape_mark(t);
            (void)wg_let(t, wg_exp(x));
            assert_int_equal(wg_tape_rewind(t, here), WG_OK);
            x = wg_let(t, wg_sin(x));
        }
        const wg_mark here = wg_tape_mark(t);
        wg_real y = wg_let(t, wg_sin(x));
        m.fail_at = m.asked;
        m.fail_on = 1;
        while (wg_tape_status(t) == WG_OK) y = wg_let(t, wg_cos(y));
        assert_int_equal(wg_tape_status(t), WG_ENOMEM);
        assert_int_equal(wg_tape_rewind(t, here), WG_OK);
        assert_ok(t);
        assert_true(wg_let(t, wg_sin(x)).at.slot != 0);
        wg_tape_free(t);
        assert_int_equal(m.ranges, 0);
    }
}

/* The room for a branch is asked for once more when it is needed. */
static void a_rewind_that_has_no_room_for_its_branch_says_so(void **state) {
    (void)state;
    enum { ENOUGH = 64 };
    struct counted m = counted_start();
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *t = wg_tape_new(&opt);
    wg_real x = wg_input(t, 0.5);
    (void)wg_let(t, wg_sin(x)); /* records have their memory */
    m.fail_at = m.asked;
    m.fail_on = 1;
    wg_status s = WG_OK;
    int done = 0;
    wg_mark here = wg_tape_mark(t);
    for (; s == WG_OK && done < 2 * ENOUGH; done++) {
        x = wg_let(t, wg_sin(x));
        here = wg_tape_mark(t);
        (void)wg_let(t, wg_exp(x));
        s = wg_tape_rewind(t, here);
    }
    assert_int_equal(done, ENOUGH);
    assert_int_equal(s, WG_ENOMEM);
    assert_non_null(strstr(wg_tape_message(t), "wg_tape_rewind"));
    assert_ok(t);
    m.fail_at = SIZE_MAX;
    m.fail_on = 0;
    assert_int_equal(wg_tape_rewind(t, here), WG_OK);
    wg_tape_free(t);
    assert_int_equal(m.ranges, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
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
        TEST(a_rewind_needs_no_memory_where_there_is_none),
        TEST(a_rewind_that_has_no_room_for_its_branch_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

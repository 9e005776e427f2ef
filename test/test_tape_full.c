/* SPDX-License-Identifier: MIT */
/* test_tape_full.c - how much goes on a tape: bytes, slots, budgets, high-water marks. */
#include "life.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(ten_million_statements_take_the_bytes_they_should),
        TEST(high_water_marks_outlive_rewinds_and_resets),
        TEST(a_tape_gives_out_max_slots_variables_and_no_more),
        TEST(slots_do_not_wrap_around),
        TEST(a_budget_is_never_passed_and_well_used),
        TEST(a_budget_for_records_and_adjoints_holds_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

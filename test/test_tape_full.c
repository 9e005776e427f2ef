/* SPDX-License-Identifier: MIT */
/* test_tape_full.c - how much goes on a tape: bytes, slots, budgets, high-water marks. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

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

/* A message names what was called, not what that is made of. */
static void the_call_that_found_no_slot_is_named(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_KEEP_PLACES, .max_slots = 2};
    const double two[2] = {2, 3};
    wg_tape *const t = wg_tape_new(&opt);
    wg_real x[2], y = wg_constant(0);
    assert_int_equal(wg_inputs(t, 2, two, x), WG_OK);
    const wg_real turned[] = {x[1], x[0]};
    const wg_mat a = wg_mat_gather(t, 1, 1, x), v = wg_mat_gather(t, 1, 2, x);
    const wg_mark m = wg_tape_mark(t);
#define NAMED(call, ...)                                                                       \
    do {                                                                                       \
        (void)call(t, __VA_ARGS__);                                                            \
        assert_int_equal(wg_tape_status(t), WG_ESLOTS);                                        \
        assert_int_equal(strncmp(wg_tape_message(t), #call ":", strlen(#call ":")), 0);        \
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);                                         \
    } while (0)
    NAMED(wg_input, 1);
    NAMED(wg_inputs, 1, two, &y);
    NAMED(wg_let, wg_sin(x[0]));
    NAMED(wg_sum, 2, x);
    NAMED(wg_dot, 2, x, x);
    NAMED(wg_norm2, 2, x);
    NAMED(wg_mat_input, 1, 2, two, 1);
    NAMED(wg_mat_input_strided, 1, 2, two, 1, 1);
    NAMED(wg_mat_input_borrowed, 1, 2, two, 1);
    NAMED(wg_mat_gather, 1, 2, turned);
    NAMED(wg_mat_sum, v);
    NAMED(wg_mat_sum_axis, v, WG_EACH_COL);
    NAMED(wg_mat_norm_entries_axis, v, 3, WG_EACH_ROW);
    NAMED(wg_mat_logsumexp_axis, v, WG_EACH_ROW);
    NAMED(wg_mat_norm_column_sum, v);
    NAMED(wg_mat_norm_row_sum, v);
    NAMED(wg_logm, a);
    NAMED(wg_powm_real, a, 0.5);
#undef NAMED
    wg_tape_free(t);
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

/* A small recording, as on a new tape. */
static void assert_small_ones_work(wg_tape *t) {
    const wg_real x = wg_input(t, 3), y = wg_let(t, wg_mul(x, x));
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, x) == 6);
    const double a[4] = {4, 1, 1, 3};
    const wg_mat m = wg_mat_input(t, 2, 2, a, 2);
    assert_int_equal(wg_reverse(t, wg_logdet_spd(t, m)), WG_OK);
    assert_true(fabs(wg_adjoint(t, wg_mat_at(m, 0, 0)) - 3.0 / 11) < 1e-15);
    assert_ok(t);
}

/* So many statements, or matrices of 4000 bytes, as fit on a new tape with some pages to
 * spare. */
static void record_scalars(wg_tape *t, size_t n) {
    wg_real y = wg_input(t, 1);
    for (size_t i = 0; i < n; i++) y = wg_let(t, wg_sin(y));
}
static void record_matrices(wg_tape *t, size_t n) {
    for (size_t i = 0; i < n; i++) (void)wg_mat_fill(t, 20, 25, 1);
}

/* What one recording held is there for the next, whatever that needs it for. */
static void a_budget_is_whole_for_every_recording(void **state) {
    (void)state;
    for (unsigned flags = 0; flags <= WG_KEEP_CODE; flags += WG_KEEP_CODE)
        for (int buffered = 0; buffered < 2; buffered++) {
            const size_t whole = 1 << 20;
            char *const buffer = malloc(whole);
            wg_options opt = {.flags = flags, .budget = buffered ? 0 : whole};
            if (buffered) opt.buffer = buffer, opt.buffer_bytes = whole;
            /* in a buffer, what grows may have to move, and stand there twice */
            const size_t most = whole / 100 * (buffered ? 40 : 85);
            const size_t of_records = most / (flags != 0 ? 80 : 32), of_matrices = most / 4032;
            wg_tape *const t = wg_tape_new(&opt);
            for (int round = 0; round < 3; round++) {
                record_scalars(t, of_records);
                assert_ok(t);
                wg_tape_reset(t);
                record_scalars(t, 10); /* a part of what was in use is so again */
                record_matrices(t, of_matrices);
                assert_ok(t);
                wg_tape_reset(t);
                record_matrices(t, 1);
                record_scalars(t, of_records);
                assert_ok(t);
                if (!buffered) assert_true(stats_of(t).committed_bytes <= whole);
                wg_tape_reset(t);
                record_matrices(t, of_matrices);
                wg_tape_reset(t);
                assert_small_ones_work(t);
                wg_tape_reset(t);
            }
            wg_tape_free(t);
            free(buffer);
        }
}

/* An operation that works in a good part of the budget. */
static wg_status hungry_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    b->work_bytes = 0x60000;
    return WG_OK;
}
static wg_status first_value(wg_block *b) {
    b->out[0].value[0] = b->in[0].value[0];
    return WG_OK;
}
static wg_status first_vjp(wg_block *b) {
    b->in[0].bar[0] += b->out[0].bar[0];
    return WG_OK;
}
static const wg_block_op hungry = {
    .name = "hungry", .shape = hungry_shape, .value = first_value, .vjp = first_vjp};

static void assert_sweeps(wg_tape *t, wg_mat x) {
    const wg_real y = wg_mat_dot(t, x, x);
    assert_ok(t);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, wg_mat_at(x, 0, 0)) == 6);
}

/* What an earlier recording needed for its sweeps, a later one does not; nor after a rewind. */
static void the_workspace_of_a_sweep_is_that_of_its_recording(void **state) {
    (void)state;
    const double three = 3;
    for (int buffered = 0; buffered < 2; buffered++) {
        const size_t whole = 0x80000;
        char *const buffer = malloc(whole);
        wg_options opt = {.budget = buffered ? 0 : whole};
        if (buffered) opt.buffer = buffer, opt.buffer_bytes = whole;
        wg_tape *const t = wg_tape_new(&opt);
        wg_mat x = wg_mat_input(t, 1, 1, &three, 1), y;
        assert_int_equal(wg_apply(t, &hungry, NULL, 0, 1, &x, 1, &y), WG_OK);
        assert_int_equal(wg_mat_reverse(t, y, NULL, 1), WG_OK);
        wg_tape_reset(t);
        x = wg_mat_input(t, 1, 1, &three, 1);
        assert_non_null(wg_tape_keep(t, 0x50000, NULL));
        assert_sweeps(t, x);

        wg_tape_reset(t);
        x = wg_mat_input(t, 1, 1, &three, 1);
        const wg_mark before = wg_tape_mark(t);
        y = wg_mat_add(t, wg_mat_scale(t, 2, wg_mat_fill(t, 12000, 1, 1)), x);
        assert_ok(t);
        assert_int_equal(wg_mat_reverse(t, y, NULL, 12000), WG_EBUDGET);
        assert_int_equal(wg_tape_rewind(t, before), WG_OK);
        assert_sweeps(t, x);
        wg_tape_free(t);
        free(buffer);
    }
}

/* A rewind to before the failure leaves room for the sweep of what is left. */
static void after_a_rewind_the_budget_has_room_for_a_sweep(void **state) {
    (void)state;
    for (unsigned flags = 0; flags <= WG_KEEP_CODE; flags += WG_KEEP_CODE) {
        const wg_options opt = {.flags = flags, .budget = 1 << 20};
        wg_tape *const t = wg_tape_new(&opt);
        for (int round = 0; round < 3; round++) {
            const wg_real x = wg_input(t, 1);
            wg_real y = x;
            for (int i = 0; i < 5000; i++) y = wg_let(t, wg_mul(x, y));
            const wg_mark m = wg_tape_mark(t);
            wg_real z = y;
            while (wg_tape_status(t) == WG_OK) z = wg_let(t, wg_sin(z));
            assert_int_equal(wg_tape_status(t), WG_EBUDGET);
            assert_int_equal(wg_tape_rewind(t, m), WG_OK);
            assert_int_equal(wg_reverse(t, y), WG_OK);
            assert_true(wg_adjoint(t, x) == 5001);
            assert_true(stats_of(t).committed_bytes <= opt.budget);
            if (round == 1) wg_tape_reset(t);
            else assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        }
        wg_tape_free(t);
    }
}

/* And for anything else: code, values and places of what is forgotten hold nothing. */
static void after_a_rewind_the_budget_is_there_for_something_else(void **state) {
    (void)state;
    for (unsigned flags = 0; flags <= WG_KEEP_PLACES; flags++) {
        const wg_options opt = {.flags = flags & (WG_KEEP_CODE | WG_KEEP_PLACES),
                                .budget = 1 << 20};
        wg_tape *const t = wg_tape_new(&opt);
        wg_real y = wg_input(t, 1);
        const wg_mark m = wg_tape_mark(t);
        while (wg_tape_status(t) == WG_OK) y = wg_let(t, wg_sin(y));
        assert_int_equal(wg_tape_status(t), WG_EBUDGET);
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        assert_non_null(wg_tape_keep(t, 900000, NULL));
        assert_true(stats_of(t).committed_bytes <= opt.budget);
        wg_tape_free(t);
    }
}

/* Whatever took all of it: records, code, adjoints, values of matrices. */
static void after_a_lack_of_memory_a_reset_finds_room_again(void **state) {
    (void)state;
    for (unsigned flags = 0; flags <= WG_KEEP_CODE; flags += WG_KEEP_CODE) {
        struct counted m = counted_start();
        const wg_options opt = {
            .flags = flags, .budget = 0x80000, .memory = counted_memory(&m)};
        wg_tape *const t = wg_tape_new(&opt);
        for (int round = 0; round < 3; round++) {
            (void)fill(t, WG_EBUDGET);
            wg_tape_reset(t);
            assert_small_ones_work(t);
            wg_tape_reset(t);
            while (wg_tape_status(t) == WG_OK) (void)wg_mat_fill(t, 20, 20, 1);
            assert_int_equal(wg_tape_status(t), WG_EBUDGET);
            wg_tape_reset(t);
            assert_small_ones_work(t);
            wg_tape_reset(t);
            /* a recording that fits, and leaves no room for its adjoints */
            const wg_real x = wg_input(t, 1);
            wg_real y = x;
            while (stats_of(t).committed_bytes + 0x3000 < opt.budget) y = wg_let(t, wg_sin(y));
            assert_int_equal(wg_reverse(t, y), WG_EBUDGET);
            assert_ok(t);
            wg_tape_reset(t);
            assert_small_ones_work(t);
            wg_tape_reset(t);
            /* an ordinary reset keeps what there is */
            const uint64_t calls = stats_of(t).memory_calls;
            assert_small_ones_work(t);
            wg_tape_reset(t);
            assert_int_equal(stats_of(t).memory_calls, calls);
        }
        assert_int_equal(wg_tape_forward(t, 4), WG_OK);
        (void)fill(t, WG_EBUDGET);
        wg_tape_reset(t);
        const wg_real x = wg_input(t, 1);
        assert_int_equal(wg_tangent_seed(t, x, 3, 2), WG_OK);
        assert_true(wg_tangent(t, wg_let(t, wg_mul(3, x)), 3) == 6);
        assert_true(m.committed <= opt.budget);
        wg_tape_free(t);
        assert_int_equal(m.ranges, 0);
        assert_int_equal(m.wrong, 0);
    }
}

struct asked {
    struct counted m;
    size_t most;
};
static void *note_reserve(void *ctx, size_t bytes) {
    struct asked *const a = ctx;
    if (bytes > a->most) a->most = bytes;
    const wg_memory m = counted_memory(&a->m);
    return m.reserve(m.ctx, bytes);
}
static int note_commit(void *ctx, void *p, size_t bytes) {
    const wg_memory m = counted_memory(&((struct asked *)ctx)->m);
    return m.commit(m.ctx, p, bytes);
}
static void note_release(void *ctx, void *p, size_t bytes) {
    const wg_memory m = counted_memory(&((struct asked *)ctx)->m);
    m.release(m.ctx, p, bytes);
}

/* What BLAS and the user map must find room, too. */
static void a_limited_address_space_is_left_to_others(void **state) {
    (void)state;
    struct rlimit before, limited;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limited = before;
    limited.rlim_cur = (rlim_t)1 << 36;
    if (before.rlim_cur != RLIM_INFINITY && before.rlim_cur < limited.rlim_cur) skip();
    struct asked a = {counted_start(), 0};
    const wg_options opt = {.memory = {note_reserve, note_commit, note_release, &a}};
    assert_int_equal(setrlimit(RLIMIT_AS, &limited), 0);
    void *const page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wg_tape *const t = page == MAP_FAILED ? NULL : wg_tape_new(&opt);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    if (page == MAP_FAILED) skip(); /* a sanitizer has mapped more than that already */
    (void)munmap(page, 4096);
    assert_non_null(t);
    assert_small_ones_work(t);
    assert_true(a.most >= 1u << 20 && a.most <= (size_t)1 << 30);
    wg_tape_free(t);
    assert_int_equal(a.m.ranges, 0);
}

/* More than any machine has: a status, where the system counts what it promises. */
static void more_memory_than_there_is_is_refused(void **state) {
    (void)state;
    FILE *const file = fopen("/proc/sys/vm/overcommit_memory", "r");
    const int mode = file != NULL ? fgetc(file) : '1';
    if (file != NULL) fclose(file);
    if (mode != '0' && mode != '2') skip();
    const wg_mat a = wg_mat_fill(tape, 1u << 30, 1u << 11, 1); /* 16 TB */
    assert_null(a.value);
    assert_int_equal(wg_tape_status(tape), WG_ENOMEM);
    wg_tape_reset(tape);
    assert_small_ones_work(tape);
}

/* Statements are kept where there is room for code and values, as it was last seen; everything
 * else that takes of it must say so. */
static void code_has_room_whatever_comes_between_the_statements(void **state) {
    (void)state;
    enum { N = 60000 };
    const wg_options opt = {.flags = WG_KEEP_CODE};
    wg_tape *t = wg_tape_new(&opt);
    for (int between = 0; between < 6; between++)
        for (int turn = 0; turn < 2; turn++) {
            wg_tape_reset(t);
            wg_real x[8];
            double a[8] = {1.5, -0.5, 0.25, 2, -1, 0.75, 1.25, 3};
            assert_int_equal(wg_inputs(t, 8, a, x), WG_OK);
            wg_real y = x[0];
            uint64_t sum = 0;
            for (int i = 0; i < N; i++) {
                const wg_mark m = wg_tape_mark(t);
                if (between == 1) sum += (uint64_t)wg_lt(t, x[i % 8], y);
                if (between == 2) x[i % 8] = wg_mean(t, 3, x + i % 6);
                if (between == 3) x[i % 8] = wg_input(t, 0.5);
                if (between == 4) x[i % 8] = wg_let(t, wg_mul(wg_constant(0.5), x[i % 8]));
                if (between == 5) {
                    (void)wg_let(t, wg_sin(wg_mul(x[0], 3.0)));
                    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
                }
                y = i % 2 == 0
                        ? wg_let(t, wg_sin(wg_add(y, x[i % 8])))
                        : wg_let(t, wg_tanh(wg_add(
                                        wg_mul(wg_mul(x[0], x[1]), wg_mul(x[2], y)),
                                        wg_mul(wg_mul(x[3], 0.1 * i), wg_mul(x[4], x[5])))));
            }
            assert_ok(t);
            assert_true(sum <= N);
            assert_int_equal(wg_tape_verify(t), WG_OK);
            assert_true(wg_tape_value(t, y) == wg_value(y));
        }
    const uint64_t calls = stats_of(t).memory_calls;
    wg_tape_reset(t);
    wg_real x = wg_input(t, 1);
    for (int i = 0; i < N; i++) x = wg_let(t, wg_mul(x, x));
    assert_int_equal(wg_tape_verify(t), WG_OK);
    assert_int_equal(stats_of(t).memory_calls, calls); /* there was room for it */
    wg_tape_free(t);
}

/* Code is one word up to 64 bits and two up to 128. An operand is 2 bits, a sine 9, a sum or a
 * product 4. */
static void code_of_every_length_is_read_as_it_was_written(void **state) {
    (void)state;
#define SIN7(x) wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(x)))))))
#define SIN12(x) SIN7(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(x))))))
    wg_tape *t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (int turn = 0; turn < 2; turn++) {
        wg_tape_reset(t);
        wg_real x = wg_input(t, 0.5), y = wg_input(t, 0.25), z = wg_input(t, 2);
        for (int i = 0; i < 400; i++) {
            (void)wg_let(t, wg_sin(x));
            x = wg_let(t, SIN7(x));            /* 65 bits */
            (void)wg_let(t, SIN7(SIN7(x)));    /* 128 */
            y = wg_let(t, SIN7(wg_mul(x, y))); /* 71 */
            (void)wg_let(t, wg_add(wg_mul(x, y), z));
            z = wg_let(t, SIN7(wg_add(wg_mul(x, y), z)));               /* 77 */
            y = wg_let(t, SIN12(wg_add(wg_add(wg_mul(x, y), z), x)));   /* 128 */
            z = wg_let(t, SIN12(wg_add(wg_add(wg_mul(x, y), z), 0.5))); /* 128 */
            x = wg_let(t, wg_add(wg_mul(0.5, x), wg_mul(wg_add(y, 0.25), wg_mul(z, 0.125))));
        }
        assert_ok(t);
        assert_int_equal(wg_tape_verify(t), WG_OK);
        assert_int_equal(wg_tape_replay(t, 0, NULL, NULL), WG_OK);
        assert_true(wg_tape_value(t, x) == wg_value(x));
    }
    wg_tape_free(t);
#undef SIN12
#undef SIN7
}

/* Pieces that the system would promise one by one, and that together are more than the machine
 * has, are refused before anything is touched. */
static void pieces_that_are_more_than_the_machine_has_are_refused(void **state) {
    (void)state;
    struct sysinfo all;
    assert_int_equal(sysinfo(&all), 0);
    const size_t piece = ((size_t)all.totalram + all.totalswap) / 10 * 6 * all.mem_unit;
    struct rusage before, after;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    wg_tape *const t = wg_tape_new(NULL);
    if (wg_tape_keep(t, piece, NULL) != NULL) {
        assert_null(wg_tape_keep(t, piece, NULL));
        assert_int_equal(wg_tape_status(t), WG_ENOMEM);
        assert_true(stats_of(t).committed_bytes < piece / 6 * 10);
    }
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss < before.ru_maxrss + (1 << 19));
    wg_tape_reset(t);
    assert_small_ones_work(t);
    wg_tape_free(t);
}

/* A Hessian of matrix operations works on tapes of its own, which live of the same budget. */
static void tapes_beside_a_tape_live_of_its_budget(void **state) {
    (void)state;
    enum { N = 6 };
    double v[N * N], h[N * N * N * N];
    wg_stats st;
    size_t needed = 0;
    for (int i = 0; i < N * N; i++) v[i] = 1.0 / (i + 2);
    for (size_t budget = 0, step = 4096;; budget += step) {
        const wg_options o = {.flags = WG_KEEP_CODE, .budget = budget};
        wg_tape *const t = wg_tape_new(&o);
        if (t == NULL) continue;
        const wg_mat a = wg_mat_input(t, N, N, v, N);
        const wg_real y = wg_mat_sum(t, wg_gemm(t, 'N', 'N', 1, a, a, 0, a));
        const wg_status recorded = wg_tape_status(t);
        assert_int_equal(wg_tape_stats(t, &st), WG_OK);
        if (budget == 0) needed = budget = st.committed_bytes;
        wg_real x[N * N];
        for (int i = 0; i < N * N; i++) x[i] = wg_mat_at(a, (size_t)(i % N), (size_t)(i / N));
        const wg_status s =
            recorded != WG_OK ? recorded : wg_tape_hessian(t, y, N * N, x, h, N * N);
        assert_int_equal(wg_tape_stats(t, &st), WG_OK);
        assert_true(o.budget == 0 || st.max_committed_bytes <= o.budget);
        wg_tape_free(t);
        if (o.budget == 0) {
            assert_int_equal(s, WG_OK);
            assert_true(st.max_committed_bytes > needed);
            budget = 16384;
            continue;
        }
        if (s == WG_OK) break;
        assert_int_equal(s, WG_EBUDGET);
        assert_true(budget < 64 * needed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tapes_beside_a_tape_live_of_its_budget),
        TEST(code_of_every_length_is_read_as_it_was_written),
        TEST(code_has_room_whatever_comes_between_the_statements),
        TEST(ten_million_statements_take_the_bytes_they_should),
        TEST(high_water_marks_outlive_rewinds_and_resets),
        TEST(a_tape_gives_out_max_slots_variables_and_no_more),
        TEST(the_call_that_found_no_slot_is_named),
        TEST(slots_do_not_wrap_around),
        TEST(a_budget_is_never_passed_and_well_used),
        TEST(a_budget_for_records_and_adjoints_holds_both),
        TEST(a_budget_is_whole_for_every_recording),
        TEST(the_workspace_of_a_sweep_is_that_of_its_recording),
        TEST(after_a_rewind_the_budget_has_room_for_a_sweep),
        TEST(after_a_rewind_the_budget_is_there_for_something_else),
        TEST(after_a_lack_of_memory_a_reset_finds_room_again),
        TEST(a_limited_address_space_is_left_to_others),
        TEST(more_memory_than_there_is_is_refused),
        TEST(pieces_that_are_more_than_the_machine_has_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

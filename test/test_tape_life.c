/* SPDX-License-Identifier: MIT */
/* test_tape_life.c - the life of a tape: empty, reset, beside others, failed, paused; and of
 * the handles that name what is on it. */
#include "life.h"

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

static void a_flag_that_does_not_exist_is_refused(void **state) {
    (void)state;
    const wg_options o = {.flags = WG_CHECKED | 1024};
    assert_null(wg_tape_new(&o));
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

/* Their addresses and the moments they were opened at may differ in the same bits. */
static void tapes_opened_one_after_the_other_are_told_apart(void **state) {
    enum { TAPES = 64 };
    wg_tape *t[TAPES];
    wg_real x[TAPES];
    (void)state;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < TAPES; i++) {
            t[i] = wg_tape_new(NULL);
            x[i] = wg_input(t[i], 1);
            for (int j = 0; j < i; j++) assert_int_not_equal(x[i].at.stamp, x[j].at.stamp);
        }
        for (int i = 0; i < TAPES; i++) wg_tape_free(t[i]);
    }
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

/* The call is refused with the status, and the message begins with its name. */
#define REFUSED(expected, call, ...)                                                           \
    do {                                                                                       \
        assert_int_equal(call(__VA_ARGS__), expected);                                         \
        if (strncmp(wg_tape_message(t), #call ": ", sizeof #call ": " - 1) != 0)               \
            fail_msg("%s says: %s", #call, wg_tape_message(t));                                \
        assert_ok(t);                                                                          \
    } while (0)

static void every_refused_call_names_itself(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&opt);
    const wg_real x = wg_input(t, 3), y = wg_let(t, wg_mul(x, x)), z = wg_input(other, 1);
    const wg_mark here = wg_tape_mark(t), foreign = wg_tape_mark(other);
    const double one = 1;
    double h = 42;
    REFUSED(WG_EMODE, wg_tape_resume, t);
    REFUSED(WG_EARG, wg_tape_forward, t, 65);
    REFUSED(WG_EMODE, wg_tape_forward, t, 2);
    REFUSED(WG_EMODE, wg_tangent_seed, t, x, 0, 1);
    REFUSED(WG_EMARK, wg_tape_rewind, t, foreign);
    REFUSED(WG_EMARK, wg_sweep, t, here, foreign);
    REFUSED(WG_EMODE, wg_sweep, t, here, here);
    REFUSED(WG_EMODE, wg_adjoint_seed, t, y, 1);
    REFUSED(WG_ESTALE, wg_label, t, z, "z");
    REFUSED(WG_ENULL, wg_label, t, x, NULL);
    REFUSED(WG_ESTALE, wg_tape_hvp, t, z, 1, &x, &one, &h);
    REFUSED(WG_ENULL, wg_tape_hvp, t, y, 1, &x, NULL, &h);
    REFUSED(WG_ESTALE, wg_tape_hessian, t, y, 1, &z, &h, 1);
    REFUSED(WG_ENULL, wg_tape_hessian, t, y, 1, &x, NULL, 1);
    REFUSED(WG_ESHAPE, wg_tape_hessian, t, y, 1, &x, &h, 0);
    REFUSED(WG_ESTALE, wg_tape_replay, t, 1, &z, &one);
    REFUSED(WG_ENULL, wg_tape_replay, t, 1, &x, NULL);
    assert_true(h == 42);
    wg_tape_free(t);
}

/* An array operation of 3000 operands, so that everything needs memory of its own. */
static wg_real wide(wg_tape *t, wg_real x) {
    enum { N = 3000 };
    static wg_real all[N];
    for (int i = 0; i < N; i++) all[i] = wg_let(t, wg_mul(x, i));
    return wg_let(t, wg_exp(wg_norm2(t, N, all)));
}

static void every_call_refused_for_memory_names_itself(void **state) {
    (void)state;
    const double one = 1;
    double h = 42;
    for (int which = 0; which < 6; which++) {
        struct counted m = counted_start();
        const wg_options opt = {
            .flags = WG_KEEP_CODE, .memory = counted_memory(&m), .reserve = 1 << 16};
        wg_tape *const t = wg_tape_new(&opt);
        wg_real x = wg_input(t, 0x1p-20), y = x;
        for (int i = 0; i < 20; i++) y = wide(t, x);
        assert_ok(t);
        size_t refused = 0;
        for (size_t at = 0;;
             at++) { /* the first, the second, ... request fails, until none does */
            m.refused = 0;
            m.fail_at = m.asked + at;
            m.fail_on = 1;
            switch (which) {
            case 0:
                if (wg_adjoints_clear(t) != WG_OK) REFUSED(WG_ENOMEM, wg_adjoints_clear, t);
                break;
            case 1:
                if (wg_tape_hvp(t, y, 1, &x, &one, &h) != WG_OK)
                    REFUSED(WG_ENOMEM, wg_tape_hvp, t, y, 1, &x, &one, &h);
                break;
            case 2:
                if (wg_tape_hessian(t, y, 1, &x, &h, 1) != WG_OK)
                    REFUSED(WG_ENOMEM, wg_tape_hessian, t, y, 1, &x, &h, 1);
                break;
            case 3:
                if (wg_label(t, x, "x") != WG_OK) REFUSED(WG_ENOMEM, wg_label, t, x, "x");
                break;
            case 4:
                wg_tape_reset(t);
                if (wg_tape_forward(t, 64) != WG_OK) REFUSED(WG_ENOMEM, wg_tape_forward, t, 64);
                break;
            default:
                if (wg_reverse(t, y) != WG_OK) REFUSED(WG_ENOMEM, wg_reverse, t, y);
                break;
            }
            if (m.refused == 0) break;
            refused += m.refused;
        }
        assert_true(refused > 0);
        wg_tape_free(t);
        assert_int_equal(m.ranges, 0);
    }
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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_new_tape_takes_its_own_memory_and_no_more),
        TEST(a_flag_that_does_not_exist_is_refused),
        TEST(an_empty_tape_answers),
        TEST(every_status_has_a_text),
        TEST(a_hundred_reuses_give_the_same_numbers_and_no_growth),
        TEST(tapes_opened_one_after_the_other_are_told_apart),
        TEST(variables_from_before_a_reset_are_noticed),
        TEST(a_reset_costs_the_same_after_any_recording),
        TEST(variables_of_two_tapes_do_not_mix),
        TEST(swapped_tapes_keep_what_they_hold),
        TEST(tapes_nest_four_deep),
        TEST(an_inner_tape_may_grow_while_the_outer_is_swept),
        TEST(a_failed_tape_does_nothing_more),
        TEST(a_rewind_to_before_the_failure_clears_it),
        TEST(a_reset_clears_a_failure),
        TEST(a_refused_argument_is_not_a_failure_of_the_tape),
        TEST(a_refused_call_says_why_and_loses_nothing),
        TEST(every_refused_call_names_itself),
        TEST(every_call_refused_for_memory_names_itself),
        TEST(a_paused_tape_computes_and_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

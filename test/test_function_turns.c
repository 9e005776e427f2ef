/* SPDX-License-Identifier: MIT */
/* Loops that are recorded by their first two turns (turns.h): their values and gradients are
 * those of the same loops recorded turn by turn; what turns do to each other is refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <wengert.h>
#include "test/tolerance.h"

enum { N = 500 };
static double t_of[N], y_of[N];
static wg_tape *tape, *coded;

static int open_tapes(void **state) {
    (void)state;
    tape = wg_tape_new(NULL);
    coded = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (int i = 0; i < N; i++) {
        t_of[i] = i / (double)N;
        y_of[i] = 2 * exp(-1.5 * t_of[i]) + 0.01 * sin(7.0 * i);
    }
    return tape == NULL || coded == NULL ? -1 : 0;
}
static int close_tapes(void **state) {
    (void)state;
    wg_tape_free(tape), wg_tape_free(coded);
    return 0;
}

static void assert_near(double a, double b, double scale) {
    if (!(fabs(a - b) <= TOL_CONVERTED_ULP * 0x1p-52 * scale))
        fail_msg("%.17g and %.17g", a, b);
}

/* As it would be written for one turn after the other: load is the value, add is +=. */
typedef struct work {
    int as_record, n;
    wg_status s;
} work;
static wg_status misfit(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *out,
                        void *data) {
    (void)n, (void)m;
    static const char site;
    const work *const w = data;
    wg_real s = wg_constant(0.5);
    if (!w->as_record) {
        for (int i = 0; i < w->n; i++) {
            const wg_real e =
                wg_let(t, wg_sub(y_of[i], wg_mul(p[0], wg_exp(wg_mul(p[1], t_of[i])))));
            s = wg_let(t, wg_add(s, wg_mul(e, e)));
        }
        out[0] = s;
        return WG_OK;
    }
    wg_turns *const r = wg_turns_begin(t, &site, "of the misfit", 0);
    for (int i = 0; i < w->n; i++)
        if (wg_turns_next(r)) {
            const wg_real e = wg_let(
                r->tape, wg_sub(wg_turns_load_number(r, &y_of[i]),
                                wg_mul(wg_turns_load(r, &p[0]),
                                       wg_exp(wg_mul(wg_turns_load(r, &p[1]),
                                                     wg_turns_load_number(r, &t_of[i]))))));
            wg_turns_add(r, &s, wg_let(r->tape, wg_mul(e, e)));
        }
    const wg_status status = wg_turns_end(r);
    out[0] = s;
    return status;
}

static void sums_over_data_are_those_of_the_turns(void **state) {
    (void)state;
    const double x[2] = {1.7, -1.2};
    for (int k = 0; k < 2; k++)
        for (int n = 0; n < N; n = n < 3 ? n + 1 : 4 * n) {
            wg_tape *const t = k ? coded : tape;
            double y[2], g[2][2], h[2][4];
            for (int how = 0; how < 2; how++) {
                work w = {how, n, WG_OK};
                assert_int_equal(wg_gradient(t, misfit, &w, 2, x, &y[how], g[how]), WG_OK);
                if (k)
                    assert_int_equal(
                        wg_hessian(t, misfit, &w, 2, x, &y[how], g[how], h[how], 2), WG_OK);
            }
            const double scale = fabs(y[0]) + fabs(g[0][0]) + fabs(g[0][1]);
            assert_near(y[0], y[1], scale);
            for (int i = 0; i < 2; i++) assert_near(g[0][i], g[1][i], scale);
            for (int i = 0; k && i < 4; i++) assert_near(h[0][i], h[1][i], N * N);
        }
}

/* y[i] of x[i], of a neighbour, and a sum over elements of each turn in memory of its own;
 * then a scan. */
static wg_status parts(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    static const char sites[4];
    const work *const w = data;
    wg_real h = x[0], last = wg_constant(0);
    for (size_t k = 0; k < m; k++) y[k] = wg_constant(-1);
    if (!w->as_record) {
        for (size_t i = 0; i + 1 < n; i++) {
            wg_real a[2] = {wg_let(t, wg_mul(x[i], x[i + 1])), wg_let(t, wg_sin(x[i]))};
            last = wg_let(t, wg_mul(a[0], a[1]));
            y[i] = wg_let(t, wg_add(wg_add(a[0], a[1]), (double)i));
        }
        for (size_t i = 0; i < n; i++) {
            h = wg_let(t, wg_add(wg_mul(h, x[1]), wg_mul(t_of[i], x[i])));
            y[n - 1] = wg_let(t, wg_add(y[n - 1], wg_square(h)));
        }
        for (size_t i = 2; i < n;
             i++) /* what was written two turns ago; what will be written next */
            y[i] = wg_let(t, wg_add(wg_mul(y[i - 2], x[i]), wg_sin(y[i - 1])));
        for (size_t i = 0; i + 1 < n; i++) y[i] = wg_let(t, wg_mul(y[i], y[i + 1]));
    } else {
        wg_turns *r = wg_turns_begin(t, &sites[0], "of elements", 0);
        for (size_t i = 0; i + 1 < n; i++)
            if (wg_turns_next(r)) {
                wg_real a[2];
                wg_turns_local(r, a, sizeof a);
                wg_turns_store(r, &a[0],
                               wg_let(r->tape, wg_mul(wg_turns_load(r, &x[i]),
                                                      wg_turns_load(r, &x[i + 1]))));
                wg_turns_store(r, &a[1], wg_let(r->tape, wg_sin(wg_turns_load(r, &x[i]))));
                wg_turns_store(
                    r, &last,
                    wg_let(r->tape, wg_mul(wg_turns_load(r, &a[0]), wg_turns_load(r, &a[1]))));
                wg_turns_store(r, &y[i],
                               wg_let(r->tape, wg_add(wg_add(wg_turns_load(r, &a[0]),
                                                             wg_turns_load(r, &a[1])),
                                                      wg_turns_whole(r, (double)i))));
            }
        assert_int_equal(wg_turns_end(r), WG_OK);
        r = wg_turns_begin(t, &sites[1], "of a state", WG_TURNS_CARRIED);
        for (size_t i = 0; i < n; i++)
            if (wg_turns_next(r)) {
                wg_turns_store(r, &h,
                               wg_let(r->tape, wg_add(wg_mul(wg_turns_load(r, &h),
                                                             wg_turns_load(r, &x[1])),
                                                      wg_mul(wg_turns_load_number(r, &t_of[i]),
                                                             wg_turns_load(r, &x[i])))));
                wg_turns_add(r, &y[n - 1], wg_let(r->tape, wg_square(wg_turns_load(r, &h))));
            }
        assert_int_equal(wg_turns_end(r), WG_OK);
        r = wg_turns_begin(t, &sites[2], "of elements behind", WG_TURNS_CARRIED);
        for (size_t i = 2; i < n; i++)
            if (wg_turns_next(r))
                wg_turns_store(r, &y[i],
                               wg_let(r->tape, wg_add(wg_mul(wg_turns_load(r, &y[i - 2]),
                                                             wg_turns_load(r, &x[i])),
                                                      wg_sin(wg_turns_load(r, &y[i - 1])))));
        assert_int_equal(wg_turns_end(r), WG_OK);
        r = wg_turns_begin(t, &sites[3], "of elements before", 0);
        for (size_t i = 0; i + 1 < n; i++)
            if (wg_turns_next(r))
                wg_turns_store(r, &y[i],
                               wg_let(r->tape, wg_mul(wg_turns_load(r, &y[i]),
                                                      wg_turns_load(r, &y[i + 1]))));
        assert_int_equal(wg_turns_end(r), WG_OK);
    }
    y[n] = wg_let(t, wg_add(h, last));
    return WG_OK;
}

static void elements_and_states_are_those_of_the_turns(void **state) {
    (void)state;
    enum { MOST = 6 };
    const double x[MOST] = {0.5, -1.25, 0.75, 1.5, -0.25, 2};
    for (int k = 0; k < 2; k++)
        for (size_t n = 2; n <= MOST; n++) {
            double y[2][MOST + 1], j[2][MOST * (MOST + 1)];
            for (int how = 0; how < 2; how++) {
                work w = {how, 0, WG_OK};
                assert_int_equal(wg_jacobian(k ? coded : tape, parts, &w, n, x, n + 1, y[how],
                                             WG_ROW_MAJOR, j[how], n),
                                 WG_OK);
            }
            for (size_t i = 0; i <= n; i++) assert_near(y[0][i], y[1][i], 10);
            for (size_t i = 0; i < n * (n + 1); i++) assert_near(j[0][i], j[1][i], 10);
        }
}

/* ---- what is refused --------------------------------------------------------------------- */

enum {
    CARRIED,
    UNWRITTEN,
    NEXT_ONE,
    OVERWRITES,
    BRANCHES,
    READS_SUM,
    LESS,
    MORE,
    OTHER_CONSTANT,
    BEGINS_WITH_VARIABLE,
    GATHERS,
    BAD
};
static void bad_body(wg_turns *r, int what, int i, wg_real *x, wg_real *s) {
    const wg_real v = wg_turns_load(r, &x[i]);
    double number = i;
    wg_real own = x[i];
    switch (what) {
    case OTHER_CONSTANT:
        wg_turns_local(r, &number, sizeof number);
        wg_turns_add(r, s, wg_let(r->tape, wg_mul(v, wg_turns_load_number(r, &number))));
        break;
    case BEGINS_WITH_VARIABLE:
        wg_turns_local(r, &own, sizeof own);
        wg_turns_add(r, s, wg_let(r->tape, wg_mul(v, wg_turns_load(r, &own))));
        break;
    case CARRIED:
        wg_turns_store(r, s, wg_let(r->tape, wg_mul(wg_turns_load(r, s), v)));
        break;
    case UNWRITTEN:
        wg_turns_private(r, s, sizeof *s);
        wg_turns_store(r, &x[i + 6], wg_turns_load(r, s));
        break;
    case NEXT_ONE:
        wg_turns_store(r, &x[i + 3], v); /* read three turns later */
        break;
    case OVERWRITES:
        wg_turns_store(r, &x[2 * i], v);
        break;
    case BRANCHES:
        if (wg_turns_way(r, i == 0)) wg_turns_add(r, s, v);
        break;
    case READS_SUM:
        wg_turns_add(r, s, v);
        (void)wg_turns_load(r, s);
        break;
    case LESS:
        if (i == 0) wg_turns_add(r, s, v);
        break;
    case MORE:
        if (i == 1) wg_turns_add(r, s, v);
        break;
    default:
        wg_turns_add(r, s, wg_turns_load(r, &x[5 - i]));
        wg_turns_add(r, s, wg_turns_load(r, &x[i == 0 ? 5 : 1]));
    }
}

static void turns_that_depend_on_each_other_are_refused(void **state) {
    (void)state;
    static const char sites[BAD];
    for (int what = 0; what < BAD; what++) {
        wg_tape_reset(tape);
        wg_real x[16], s = wg_input(tape, 2);
        for (int i = 0; i < 16; i++) x[i] = wg_input(tape, i);
        wg_turns *const r = wg_turns_begin(tape, &sites[what], "of the test", 0);
        for (int i = 0; i < 5; i++)
            if (wg_turns_next(r)) bad_body(r, what, i, x, &s);
        assert_int_equal(wg_turns_end(r), WG_EARG);
        assert_non_null(strstr(wg_tape_message(tape), "of the test"));
        if (what == CARRIED) assert_true(isnan(wg_value(s)));
        wg_tape_reset(tape);
    }
}

/* One site, and a constant that is another one in each loop. */
static void constants_of_a_turn_are_those_of_its_loop(void **state) {
    (void)state;
    static const char site;
    for (int k = 1; k < 5; k++) {
        wg_tape_reset(tape);
        const wg_real x = wg_input(tape, 3);
        wg_real s = wg_constant(0);
        wg_turns *const r = wg_turns_begin(tape, &site, "of constants", 0);
        for (int i = 0; i < 5; i++)
            if (wg_turns_next(r)) {
                double own[2] = {k % 3, 2};
                wg_turns_local(r, own, sizeof own);
                wg_turns_add_number(r, &own[1], wg_constant(1));
                wg_turns_add(r, &s,
                             wg_let(r->tape, wg_mul(wg_mul(wg_turns_load(r, &x),
                                                           wg_turns_load_number(r, &own[0])),
                                                    wg_turns_load_number(r, &own[1]))));
            }
        assert_int_equal(wg_turns_end(r), WG_OK);
        assert_true(wg_value(s) == 5 * 3 * 3 * (k % 3));
    }
}

/* What is read behind an addition is what was there with what was added: a state where it is the
 * same in all turns, otherwise an element. */
static void sums_are_read_behind_additions(void **state) {
    (void)state;
    static const char sites[2];
    enum { TURNS = 5 };
    for (unsigned carried = 0; carried < 2; carried++) {
        wg_tape_reset(tape);
        wg_real x[TURNS], y[TURNS], s = wg_input(tape, 0.5);
        for (int i = 0; i < TURNS; i++) x[i] = wg_input(tape, i), y[i] = wg_constant(10 * i);
        wg_turns *const r = wg_turns_begin(tape, &sites[carried], "of sums that are read",
                                           carried ? WG_TURNS_CARRIED : 0);
        for (int i = 0; i < TURNS; i++)
            if (wg_turns_next(r)) {
                wg_real *const to = carried ? &s : &y[i];
                wg_turns_add(r, to, wg_turns_load(r, &x[i]));
                wg_turns_add(r, to, wg_constant(1));
                wg_turns_store(r, &x[i], wg_let(r->tape, wg_mul(2.0, wg_turns_load(r, to))));
            }
        assert_int_equal(wg_turns_end(r), WG_OK);
        double sum = 0.5;
        for (int i = 0; i < TURNS; i++) {
            sum += i + 1;
            assert_true(wg_value(x[i]) == 2 * (carried ? sum : 11 * i + 1));
            assert_true(wg_value(y[i]) == (carried ? 10 * i : 11 * i + 1));
        }
        assert_true(wg_value(s) == (carried ? sum : 0.5));
    }
}

/* Of what is written to a double its value stays, in the turn, too, and in those behind it. */
static void numbers_have_no_derivatives(void **state) {
    (void)state;
    static const char sites[4];
    enum { TURNS = 5 };
    for (unsigned k = 0; k < 4; k++) {
        wg_tape_reset(tape);
        const wg_real x = wg_input(tape, 3);
        wg_real y = wg_input(tape, 0.5);
        double number = 2, at = 2;
        wg_turns *const r =
            wg_turns_begin(tape, &sites[k], "of numbers", k < 2 ? WG_TURNS_CARRIED : 0);
        for (int i = 0; i < TURNS; i++)
            if (wg_turns_next(r)) {
                double own = 2;
                double *const to = k < 2 ? &number : &own;
                wg_turns_local(r, &own, sizeof own);
                const wg_real v = wg_turns_load(r, &x);
                if (k % 2 != 0) wg_turns_add_number(r, to, v);
                else wg_turns_store_number(r, to, wg_let(r->tape, wg_mul(v, 2.0)));
                wg_turns_add(r, &y, wg_let(r->tape, wg_mul(v, wg_turns_load_number(r, to))));
            }
        assert_int_equal(wg_turns_end(r), WG_OK);
        double slope = 0;
        for (int i = 0; i < TURNS; i++) {
            at = k % 2 == 0 ? 6 : (k < 2 ? at : 2) + 3;
            slope += at;
        }
        assert_true(wg_value(y) == 0.5 + 3 * slope && (k > 1 || number == at));
        assert_int_equal(wg_reverse(tape, y), WG_OK);
        assert_true(wg_adjoint(tape, x) == slope);
    }
}

static void functions_are_made_once(void **state) {
    (void)state;
    const double x[2] = {1.7, -1.2};
    double y, g[2];
    work w = {1, N, WG_OK};
    wg_stats before, after;
    for (int k = 0; k < 3; k++)
        assert_int_equal(wg_gradient(tape, misfit, &w, 2, x, &y, g), WG_OK);
    assert_int_equal(wg_tape_stats(tape, &before), WG_OK);
    for (int k = 0; k < 3; k++)
        assert_int_equal(wg_gradient(tape, misfit, &w, 2, x, &y, g), WG_OK);
    assert_int_equal(wg_tape_stats(tape, &after), WG_OK);
    assert_int_equal(after.committed_bytes, before.committed_bytes);
}

/* Statements, as many as fit. */
static int record_until_full(wg_tape *t) {
    int n = 0;
    wg_tape_reset(t);
    for (wg_real x = wg_input(t, 1); wg_tape_status(t) == WG_OK; n++) x = wg_let(t, wg_sin(x));
    assert_int_equal(wg_tape_status(t), WG_EBUDGET);
    wg_tape_reset(t);
    return n;
}

/* Functions that are kept for loops hold a part of the budget until something else needs it. */
static void the_budget_is_there_for_what_follows_loops(void **state) {
    (void)state;
    const wg_options budget = {.flags = WG_KEEP_CODE, .budget = 1 << 19};
    const double x[2] = {1.7, -1.2};
    double y, g[2], again, g2[2];
    work w = {1, N, WG_OK};
    wg_tape *const t = wg_tape_new(&budget);
    const int most = record_until_full(t);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(wg_gradient(t, misfit, &w, 2, x, &y, g), WG_OK);
        assert_int_equal(wg_gradient(t, misfit, &w, 2, x, &again, g2), WG_OK);
        assert_true(again == y && g2[0] == g[0] && g2[1] == g[1]);
        assert_true(record_until_full(t) >= most * 9 / 10); /* a page or two of its own */
        assert_true(record_until_full(t) >= most * 9 / 10);
    }
    wg_tape_free(t);
}

static void nothing_is_done_without_a_loop(void **state) {
    (void)state;
    static const char site;
    wg_real x = wg_constant(3);
    double z = 3;
    wg_tape_reset(tape);
    assert_null(wg_turns_begin(NULL, &site, "", 0));
    assert_int_equal(wg_turns_next(NULL), 0);
    (void)wg_turns_load(NULL, &x), (void)wg_turns_load_number(NULL, &z);
    wg_turns_store(NULL, &x, wg_constant(1)), wg_turns_store_number(NULL, &z, wg_constant(1));
    wg_turns_add(NULL, &x, wg_constant(1)), wg_turns_add_number(NULL, &z, wg_constant(1));
    wg_turns_local(NULL, &z, sizeof z), wg_turns_private(NULL, &z, sizeof z),
        (void)wg_turns_whole(NULL, 1);
    assert_true(wg_turns_way(NULL, 7) == 7);
    assert_int_equal(wg_turns_end(NULL), WG_ENULL);
    assert_true(wg_value(x) == 3 && z == 3);
    assert_null(wg_turns_begin(tape, NULL, "", 0));
    assert_int_equal(wg_tape_status(tape), WG_ENULL);
    wg_tape_reset(tape);
    assert_null(wg_turns_begin(tape, &site, NULL, 0));
    assert_int_equal(wg_tape_status(tape), WG_ENULL);
    wg_tape_reset(tape);
    wg_turns *const r = wg_turns_begin(tape, &site, "outer", 0);
    assert_int_equal(wg_turns_next(r), 1);
    (void)wg_turns_load(r, NULL);
    assert_int_equal(wg_turns_end(r), WG_ENULL);
    wg_tape_reset(tape);
    wg_turns *const open = wg_turns_begin(tape, &site, "outer", 0);
    assert_non_null(open);
    assert_null(wg_turns_begin(tape, &site, "inner", 0));
    assert_int_equal(wg_turns_end(open), WG_OK);
    assert_int_equal(wg_tape_status(tape), WG_EMODE);
    wg_tape_reset(tape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_data_are_those_of_the_turns),
        cmocka_unit_test(elements_and_states_are_those_of_the_turns),
        cmocka_unit_test(turns_that_depend_on_each_other_are_refused),
        cmocka_unit_test(constants_of_a_turn_are_those_of_its_loop),
        cmocka_unit_test(sums_are_read_behind_additions),
        cmocka_unit_test(numbers_have_no_derivatives),
        cmocka_unit_test(functions_are_made_once),
        cmocka_unit_test(the_budget_is_there_for_what_follows_loops),
        cmocka_unit_test(nothing_is_done_without_a_loop),
    };
    return cmocka_run_group_tests_name("function_turns", tests, open_tapes, close_tapes);
}

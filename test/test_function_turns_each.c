/* SPDX-License-Identifier: MIT */
/* Loops that are one record, whose turns do not reach memory in steps (turns.h, WG_TURNS_EACH):
 * their values and Jacobians are those of the same loops recorded turn by turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <wengert.h>
#include "test/counted.h"
#include "test/tolerance.h"

/* Springs between points in the plane: both ends by index, as in the first one the same point
 * as is read by steps; forces are added to both, and each has a stiffness and a length. */
enum { POINTS = 7, SPRINGS = 11, INPUTS = 2 * POINTS + 1, OUTPUTS = 2 * POINTS + 2 };
static const int ends[SPRINGS][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {1, 3}, {4, 0},
                                     {4, 5}, {5, 6}, {6, 2}, {6, 1}, {0, 5}};
static const float lengths[SPRINGS] = {1, 0.5F, 2, 1.25F, 0.75F, 1, 3, 0.25F, 1.5F, 1, 2};
static const double stiffness[3] = {1.5, 0.25, 4};
static wg_tape *tapes[2];

static int open_tapes(void **state) {
    (void)state;
    tapes[0] = wg_tape_new(NULL);
    tapes[1] = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    return tapes[0] == NULL || tapes[1] == NULL ? -1 : 0;
}
static int close_tapes(void **state) {
    (void)state;
    wg_tape_free(tapes[0]), wg_tape_free(tapes[1]);
    return 0;
}

typedef struct how {
    bool as_record;
    int springs;
} how;

static wg_status springs(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    static const char site;
    const how *const h = data;
    wg_real energy = wg_constant(0.5), last = wg_constant(0);
    (void)n;
    for (size_t k = 0; k < m; k++) y[k] = wg_constant(0);
    int count = 0;
    wg_turns *const r =
        h->as_record ? wg_turns_begin(t, &site, "of springs", WG_TURNS_EACH) : NULL;
    wg_tape *const on = h->as_record ? r->tape : t;
    for (int i = 0; i < h->springs; i++) {
        if (h->as_record && !wg_turns_next(r)) continue;
        const size_t a = (size_t)ends[i][0], b = (size_t)ends[i][1];
        const double k = stiffness[(i * i) % 3], length = lengths[i];
        wg_real d[2], sum = wg_constant(0), own, stiff, rest, number;
        count += i % 2;
        for (size_t c = 0; c < 2; c++) {
            const wg_real *const p = &x[2 * a + c], *const q = &x[2 * b + c];
            d[c] = wg_let(on, wg_sub(h->as_record ? wg_turns_load_each(r, p) : *p,
                                     h->as_record ? wg_turns_load_each(r, q) : *q));
            sum = wg_let(on, wg_add(sum, wg_square(d[c])));
        }
        stiff = h->as_record ? wg_turns_load_number_each(r, &stiffness[(i * i) % 3])
                             : wg_constant(k);
        rest = h->as_record ? wg_turns_whole_each(r, length) : wg_constant(length);
        number = h->as_record ? wg_turns_whole_each(r, count) : wg_constant(count);
        own = h->as_record ? wg_turns_load(r, &x[i]) : x[i];
        const wg_real e = wg_let(on, wg_sub(wg_sqrt(sum), rest)),
                      f = wg_let(on, wg_mul(wg_mul(stiff, e), wg_mul(own, number)));
        for (size_t c = 0; c < 2; c++) {
            const wg_real one = wg_let(on, wg_mul(f, d[c])), other = wg_let(on, wg_neg(one));
            wg_real *const p = &y[2 * a + c], *const q = &y[2 * b + c];
            if (h->as_record) wg_turns_add_each(r, p, one), wg_turns_add_each(r, q, other);
            else *p = wg_let(on, wg_add(*p, one)), *q = wg_let(on, wg_add(*q, other));
        }
        if (h->as_record) {
            wg_turns_add(
                r, &energy,
                wg_let(on, wg_mul(wg_mul(stiff, e), wg_mul(e, wg_turns_load(r, &x[n - 1])))));
            wg_turns_store(r, &last, e);
        } else {
            energy = wg_let(t, wg_add(energy, wg_mul(wg_mul(stiff, e), wg_mul(e, x[n - 1]))));
            last = e;
        }
    }
    const wg_status s = h->as_record ? wg_turns_end(r) : WG_OK;
    y[m - 2] = energy, y[m - 1] = wg_let(t, wg_mul(last, count));
    return s;
}

static void assert_near(double a, double b) {
    if (!(fabs(a - b) <= TOL_CONVERTED_ULP * 0x1p-52 * 100)) fail_msg("%.17g and %.17g", a, b);
}

static void what_is_reached_by_index_is_that_of_the_turns(void **state) {
    (void)state;
    double x[INPUTS];
    for (int i = 0; i < INPUTS; i++) x[i] = sin(1.0 + 1.7 * i) + 0.3 * i;
    for (int k = 0; k < 4; k++)
        for (int n = 0; n <= SPRINGS; n = n < 3 ? n + 1 : n + 4) {
            double y[2][OUTPUTS], j[2][OUTPUTS * INPUTS];
            for (int as_record = 0; as_record < 2; as_record++) {
                how h = {as_record, n};
                assert_int_equal(wg_jacobian(tapes[k % 2], springs, &h, INPUTS, x, OUTPUTS,
                                             y[as_record], WG_ROW_MAJOR, j[as_record], INPUTS),
                                 WG_OK);
            }
            for (int i = 0; i < OUTPUTS; i++) assert_near(y[0][i], y[1][i]);
            for (int i = 0; i < OUTPUTS * INPUTS; i++) assert_near(j[0][i], j[1][i]);
        }
}

/* Elements of structures, of which some are read by index, and others added to. */
static void what_lies_between_is_no_conflict(void **state) {
    (void)state;
    static const char sites[2];
    enum { CELLS = 6 };
    static const size_t to[CELLS] = {3, 0, 3, 5, 1, 1};
    wg_tape_reset(tapes[0]);
    struct {
        wg_real at, sum;
    } cell[CELLS];
    double sum[CELLS] = {0};
    for (int i = 0; i < CELLS; i++) {
        cell[i].at = wg_input(tapes[0], i + 1);
        cell[i].sum = wg_constant(0);
    }
    wg_turns *r = wg_turns_begin(tapes[0], &sites[0], "of cells", WG_TURNS_EACH);
    for (size_t i = 0; i < CELLS; i++)
        if (wg_turns_next(r)) {
            const wg_real v = wg_turns_load_each(r, &cell[to[i]].at);
            wg_turns_add_each(r, &cell[to[CELLS - 1 - i]].sum, v);
            wg_turns_add(r, &cell[i].sum, wg_let(r->tape, wg_mul(10.0, v)));
        }
    assert_int_equal(wg_turns_end(r), WG_OK);
    for (size_t i = 0; i < CELLS; i++) {
        const double v = (double)to[i] + 1;
        sum[to[CELLS - 1 - i]] += v, sum[i] += 10 * v;
    }
    for (size_t i = 0; i < CELLS; i++) assert_true(wg_value(cell[i].sum) == sum[i]);
    /* written by steps where nothing is read by index */
    r = wg_turns_begin(tapes[0], &sites[1], "of other cells", WG_TURNS_EACH);
    for (size_t i = 0; i < CELLS; i++)
        if (wg_turns_next(r))
            wg_turns_store(r, &cell[i].sum, wg_turns_load_each(r, &cell[to[i]].at));
    assert_int_equal(wg_turns_end(r), WG_OK);
    for (size_t i = 0; i < CELLS; i++) assert_true(wg_value(cell[i].sum) == (double)to[i] + 1);
}

/* ---- what is refused --------------------------------------------------------------------- */

enum {
    READS_WHAT_IS_STORED,
    READS_WHAT_IS_ADDED,
    STORES_WHAT_IS_ADDED,
    OWN,
    OTHER_CALL,
    OTHER_STEP,
    OTHER_NUMBER,
    OTHER_WAY,
    LESS,
    LAST_IS_LESS,
    BAD
};
static void bad_body(wg_turns *r, int what, int i, wg_real *x, wg_real *s) {
    static const int at[5] = {4, 0, 3, 3, 1};
    wg_real own[8];
    const wg_real v = wg_turns_load_each(r, &x[at[i]]);
    switch (what) {
    case READS_WHAT_IS_STORED: /* in one turn, not the first */
        wg_turns_store(r, &x[i + 4], v);
        break;
    case READS_WHAT_IS_ADDED:
        wg_turns_add_each(r, &x[at[4 - i] + 4], v);
        break;
    case STORES_WHAT_IS_ADDED:
        wg_turns_add_each(r, &x[at[i] + 8], v);
        wg_turns_store(r, &x[12 - i], v);
        break;
    case OWN:
        wg_turns_local(r, own, sizeof own);
        wg_turns_add(r, s, wg_turns_load_each(r, &own[at[i]]));
        break;
    case OTHER_CALL:
        wg_turns_add(r, s, i < 3 ? wg_turns_load_each(r, &x[9]) : wg_turns_whole_each(r, 1));
        break;
    case OTHER_STEP:
        wg_turns_add(r, s, wg_turns_load(r, &x[i < 3 ? i : 9]));
        break;
    case OTHER_NUMBER:
        wg_turns_add(r, s, wg_turns_whole(r, i < 3 ? i : 9));
        break;
    case OTHER_WAY:
        if (wg_turns_way(r, i > 3)) wg_turns_add(r, s, v);
        break;
    case LESS:
        if (i != 2) wg_turns_add(r, s, v);
        break;
    default:
        if (i != 4) wg_turns_add(r, s, v);
    }
}

static void turns_that_meet_or_differ_are_refused(void **state) {
    (void)state;
    static const char sites[BAD];
    for (int what = 0; what < BAD; what++) {
        wg_tape_reset(tapes[0]);
        wg_real x[16], s = wg_input(tapes[0], 2);
        for (int i = 0; i < 16; i++) x[i] = wg_input(tapes[0], i);
        wg_turns *const r =
            wg_turns_begin(tapes[0], &sites[what], "of the test", WG_TURNS_EACH);
        for (int i = 0; i < 5; i++)
            if (wg_turns_next(r)) bad_body(r, what, i, x, &s);
        if (wg_turns_end(r) != WG_EARG) fail_msg("%d is not refused", what);
        assert_non_null(strstr(wg_tape_message(tapes[0]), "of the test"));
        if (what == STORES_WHAT_IS_ADDED)
            for (int i = 0; i < 5; i++)
                assert_true(isnan(wg_value(x[12 - i])) && isnan(wg_value(x[8])));
    }
    wg_tape_reset(tapes[0]);
}

/* Turns that do not go on as the first two did: what they have assigned to is NaN, and nothing
 * that they might have, had they gone on; likewise memory of one turn and of all. */
static void what_is_refused_leaves_other_memory_as_it_was(void **state) {
    (void)state;
    static const char sites[2];
    static const size_t to[5] = {0, 9, 1, 2, 3};
    for (int what = 0; what < 2; what++) {
        wg_tape_reset(tapes[0]);
        wg_real x[40], own[1];
        for (int i = 0; i < 40; i++) x[i] = wg_input(tapes[0], i);
        wg_turns *const r =
            wg_turns_begin(tapes[0], &sites[what], "of the test", WG_TURNS_EACH);
        for (size_t i = 0; i < 5; i++)
            if (wg_turns_next(r)) {
                if (what == 1) wg_turns_local(r, own, sizeof own);
                wg_turns_store(r, what == 1 && i == 1 ? own : &x[to[i]], wg_constant(1));
            }
        assert_int_equal(wg_turns_end(r), WG_EARG);
        for (size_t i = 0; i < 40; i++) {
            const bool assigned = i == 0 || (i == 9 && what == 0);
            if (assigned) assert_true(isnan(wg_value(x[i])));
            else assert_true(wg_value(x[i]) == (double)i);
        }
    }
    wg_tape_reset(tapes[0]);
}

static void all_turns_have_to_run(void **state) {
    (void)state;
    static const char site;
    const double z = 1;
    for (int k = 0; k < 5; k++) {
        wg_tape_reset(tapes[0]);
        wg_real x = wg_input(tapes[0], 2);
        wg_turns *const r =
            wg_turns_begin(tapes[0], &site, "of two turns", k == 4 ? WG_TURNS_EACH : 0);
        assert_int_equal(wg_turns_next(r), 1);
        if (k == 0) (void)wg_turns_load_each(r, &x);
        if (k == 1) (void)wg_turns_load_number_each(r, &z);
        if (k == 2) (void)wg_turns_whole_each(r, 1);
        if (k == 3) wg_turns_add_each(r, &x, x);
        if (k == 4) (void)wg_turns_load_each(r, NULL);
        assert_int_equal(wg_turns_next(r), 0);
        assert_int_equal(wg_turns_end(r), k == 4 ? WG_ENULL : WG_EMODE);
        assert_true(k != 3 || wg_value(x) == 2);
    }
    wg_tape_reset(tapes[0]);
}

/* Where memory is refused, also for what is assigned after the record, the loop says so. */
static void memory_that_is_refused_is_an_error(void **state) {
    (void)state;
    static const char site;
    enum { TURNS = 3000, SUMS = 3 };
    size_t refused = 0;
    for (int good = 0; !good; refused++) {
        struct counted memory = counted_start();
        wg_tape *const t = wg_tape_new(&(wg_options){.memory = counted_memory(&memory)});
        assert_non_null(t);
        const wg_real x = wg_input(t, 2);
        wg_real sum[SUMS] = {wg_constant(0), wg_constant(0), wg_constant(0)};
        memory.fail_at = memory.asked + refused, memory.fail_on = 1;
        wg_turns *const r = wg_turns_begin(t, &site, "of the test", WG_TURNS_EACH);
        for (int i = 0; i < TURNS; i++)
            if (wg_turns_next(r))
                wg_turns_add_each(r, &sum[i % SUMS], wg_turns_load_each(r, &x));
        good = wg_turns_end(r) == WG_OK;
        assert_int_equal(wg_tape_status(t) == WG_OK, good);
        for (int k = 0; good && k < SUMS; k++)
            assert_true(wg_value(sum[k]) == 2.0 * TURNS / SUMS);
        wg_tape_free(t);
        assert_int_equal(memory.ranges, 0);
        assert_int_equal(memory.wrong, 0);
    }
    assert_true(refused > 10);
}

/* A function that is kept of turns that add to a number is none of turns that add to a variable. */
static void numbers_are_no_variables_of_the_same_site(void **state) {
    (void)state;
    static const char site;
    wg_tape_reset(tapes[0]);
    const wg_real x = wg_input(tapes[0], 3);
    double number = 0;
    wg_real variable = wg_constant(0);
    for (int k = 0; k < 2; k++) {
        wg_turns *const r = wg_turns_begin(tapes[0], &site, "of the test", 0);
        for (int i = 0; i < 4; i++)
            if (wg_turns_next(r)) {
                const wg_real v = wg_turns_load(r, &x);
                if (k == 0) wg_turns_add_number(r, &number, v);
                else wg_turns_add(r, &variable, v);
            }
        assert_int_equal(wg_turns_end(r), WG_OK);
    }
    assert_int_equal(wg_reverse(tapes[0], variable), WG_OK);
    assert_true(number == 12 && wg_value(variable) == 12 && wg_adjoint(tapes[0], x) == 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_reached_by_index_is_that_of_the_turns),
        cmocka_unit_test(what_lies_between_is_no_conflict),
        cmocka_unit_test(turns_that_meet_or_differ_are_refused),
        cmocka_unit_test(what_is_refused_leaves_other_memory_as_it_was),
        cmocka_unit_test(all_turns_have_to_run),
        cmocka_unit_test(memory_that_is_refused_is_an_error),
        cmocka_unit_test(numbers_are_no_variables_of_the_same_site),
    };
    return cmocka_run_group_tests_name("function_turns_each", tests, open_tapes, close_tapes);
}

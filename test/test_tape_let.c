/* SPDX-License-Identifier: MIT */
/* test_tape_let.c - statements of one operation that are recorded by a call, wengert/let.h: for
 * every row of ops/scalar/scalar.def the same bits on the tape as by wg_let. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wengert.h>
#include "tape_text.h"

enum { MOST = 4 };

/* `active`: which of two operands are variables; a number of a statement is a constant of a
 * call. */
#define OP1(name, v, d, dd, c, s)                                                              \
    static wg_real name##_row(wg_tape *t, int call, unsigned active, const wg_real *x) {       \
        (void)active;                                                                          \
        return call ? wg_let_##name(t, x[0]) : wg_let(t, wg_##name(x[0]));                     \
    }
#define OP2(name, v, da, db, daa, dab, dbb, c, s)                                              \
    static wg_real name##_row(wg_tape *t, int call, unsigned active, const wg_real *x) {       \
        return call           ? wg_let_##name(t, x[0], x[1])                                   \
               : active == 1u ? wg_let(t, wg_##name(x[0], wg_value(x[1])))                     \
               : active == 2u ? wg_let(t, wg_##name(wg_value(x[0]), x[1]))                     \
                              : wg_let(t, wg_##name(x[0], x[1]));                              \
    }
#define OP3(name, v, da, db, dc, daa, dab, dac, dbb, dbc, dcc, c, s)                           \
    static wg_real name##_row(wg_tape *t, int call, unsigned active, const wg_real *x) {       \
        (void)active;                                                                          \
        return call ? wg_let_##name(t, x[0], x[1], x[2])                                       \
                    : wg_let(t, wg_##name(x[0], x[1], x[2]));                                  \
    }
#define OP4(name, v, da, db, dc, dd, c, s)                                                     \
    static wg_real name##_row(wg_tape *t, int call, unsigned active, const wg_real *x) {       \
        (void)active;                                                                          \
        return call ? wg_let_##name(t, x[0], x[1], x[2], x[3])                                 \
                    : wg_let(t, wg_##name(x[0], x[1], x[2], x[3]));                            \
    }
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

static const struct {
    const char *name;
    unsigned operands;
    wg_real (*record)(wg_tape *t, int call, unsigned active, const wg_real *x);
} rows[] = {
#define OP1(name, v, d, dd, c, s) {#name, 1, name##_row},
#define OP2(name, v, da, db, daa, dab, dbb, c, s) {#name, 2, name##_row},
#define OP3(name, v, da, db, dc, daa, dab, dac, dbb, dbc, dcc, c, s) {#name, 3, name##_row},
#define OP4(name, v, da, db, dc, dd, c, s) {#name, 4, name##_row},
#include "ops/scalar/scalar.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* What the tape holds, or says, once row k was recorded of operands that are variables where
 * `active` has a bit. */
static wg_real recorded(wg_tape *t, size_t k, int call, unsigned active, const double *a,
                        struct text *text) {
    wg_real x[MOST];
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, MOST, a, x), WG_OK);
    for (unsigned i = 0; i < MOST; i++)
        if ((active >> i & 1) == 0) x[i] = wg_constant(a[i]);
    const wg_real y = rows[k].record(t, call, active, x);
    text->used = 0;
    text->bytes[0] = 0;
    if (wg_tape_status(t) == WG_OK) assert_int_equal(wg_tape_dump(t, collect, text), WG_OK);
    else (void)collect(text, wg_tape_message(t), strlen(wg_tape_message(t)));
    return y;
}

static void calls_record_the_bits_of_statements(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED};
    const double points[][MOST] = {
        {0.75, 0.5, 0.25, 0.875}, {1.25, -0.5, 2, 0.375}, {0, 0, 1, 0}, {-1, 2, 0, -0.0}};
    static struct text got, want;
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.flags = flags[f]});
        assert_non_null(t);
        for (size_t k = 0; k < ROWS; k++)
            for (unsigned active = 0; active < 1u << rows[k].operands; active++)
                for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
                    const wg_real y = recorded(t, k, 0, active, points[p], &want);
                    const wg_real z = recorded(t, k, 1, active, points[p], &got);
                    if (y.value == y.value) /* of NaN only that it is one */
                        assert_memory_equal(&y.value, &z.value, sizeof y.value);
                    else assert_true(z.value != z.value);
                    assert_int_equal(y.at.slot, z.at.slot);
                    if (strcmp(got.bytes, want.bytes) != 0)
                        fail_msg("%s, operands %u: %s\n%s", rows[k].name, active, got.bytes,
                                 want.bytes);
                }
        wg_tape_free(t);
    }
}

static void calls_without_a_tape_are_nan(void **state) {
    (void)state;
    const wg_real x[MOST] = {wg_constant(0.5), wg_constant(0.25), wg_constant(0.5),
                             wg_constant(0.5)};
    for (size_t k = 0; k < ROWS; k++) {
        const wg_real y = rows[k].record(NULL, 1, 0, x), z = rows[k].record(NULL, 0, 0, x);
        assert_int_equal(y.at.slot, 0);
        assert_int_equal(y.value == y.value, z.value == z.value);
    }
}

/* The first failure of a traced tape names the operation. */
static void calls_are_traced(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_TRACE});
    const wg_real x = wg_input(t, -1), y = wg_let_sqrt(t, x);
    assert_true(y.value != y.value);
    assert_int_equal(wg_tape_status(t), WG_ENONFINITE);
    assert_non_null(strstr(wg_tape_message(t), "sqrt"));
    assert_non_null(strstr(wg_tape_message(t), "scalar.def"));
    wg_tape_free(t);
}

static void calls_refuse_a_variable_of_another_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL), *const other = wg_tape_new(NULL);
    const wg_real foreign = wg_input(other, 0.5),
                  x[MOST] = {foreign, foreign, foreign, foreign};
    for (size_t k = 0; k < ROWS; k++) {
        wg_tape_reset(t);
        const wg_real y = rows[k].record(t, 1, 0, x);
        assert_int_equal(wg_tape_status(t), WG_ESTALE);
        assert_true(y.value != y.value);
    }
    wg_tape_free(t);
    wg_tape_free(other);
}

/* f = exp(x y) - 2 x, by calls alone, on a tape that keeps code. */
static wg_status callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let_sub(t, wg_let_exp(t, wg_let_mul(t, x[0], x[1])),
                      wg_let_mul(t, wg_constant(2), x[0]));
    return WG_OK;
}

static void calls_have_second_derivatives(void **state) {
    (void)state;
    const double x[2] = {0, 3};
    double y, g[2], h[4];
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    assert_int_equal(wg_hessian(t, callback, NULL, 2, x, &y, g, h, 2), WG_OK);
    const double exact_g[] = {1, 0}, exact_h[] = {9, 1, 1, 0}; /* at x = 0, exactly */
    assert_true(y == 1);
    for (int i = 0; i < 2; i++) assert_true(g[i] == exact_g[i]);
    for (int i = 0; i < 4; i++) assert_true(h[i] == exact_h[i]);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_record_the_bits_of_statements),
        cmocka_unit_test(calls_without_a_tape_are_nan),
        cmocka_unit_test(calls_are_traced),
        cmocka_unit_test(calls_refuse_a_variable_of_another_tape),
        cmocka_unit_test(calls_have_second_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

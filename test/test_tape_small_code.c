/* SPDX-License-Identifier: MIT */
/* test_tape_small_code.c - WG_SMALL_CODE: statements that are recorded by a call hold the same
 * bits, on every tape, with constants among their operands, and where they fail. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wengert.h>
#define KERNEL usual_statement
#include "small_kernel.h"
#include "tape_text.h"

/* test/small_kernel.c */
wg_real small_statement(wg_tape *t, size_t n, int way, const wg_real *x);

/* Variables where a bit of `active` is set; points at which every other one has an infinite
 * or NaN derivative. */
static void operands(wg_tape *t, unsigned active, int edge, wg_real *x) {
    const double a[] = {0.75, 1.25, 2.5, 0.3125, 1.0625, 0.875, 0.6875, 1.375};
    double b[KERNEL_MOST];
    for (int i = 0; i < KERNEL_MOST; i++)
        b[i] = edge == 1 && i % 2 == 0 ? 0 : edge == 2 && i == 1 ? -a[i] : a[i];
    assert_int_equal(wg_inputs(t, KERNEL_MOST, b, x), WG_OK);
    for (int i = 0; i < KERNEL_MOST; i++)
        if ((active >> i & 1) == 0) x[i] = wg_constant(b[i]);
}

typedef wg_real kernel(wg_tape *t, size_t n, int way, const wg_real *x);

/* What the tape holds once the statement was recorded, in words. */
static wg_real recorded(wg_tape *t, kernel *f, size_t n, int way, unsigned active, int edge,
                        struct text *text) {
    wg_real x[KERNEL_MOST];
    wg_tape_reset(t);
    operands(t, active, edge, x);
    const wg_real y = f(t, n, way, x);
    text->used = 0;
    text->bytes[0] = 0;
    if (wg_tape_status(t) == WG_OK) assert_int_equal(wg_tape_dump(t, collect, text), WG_OK);
    else (void)collect(text, wg_tape_message(t), strlen(wg_tape_message(t)));
    return y;
}

static void small_code_records_the_same_bits(void **state) {
    (void)state;
    const unsigned flags[] = {0,        WG_KEEP_CODE,   WG_CHECKED,
                              WG_TRACE, WG_KEEP_PLACES, WG_KEEP_CODE | WG_KEEP_PLACES};
    static struct text got, want;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.flags = flags[k]});
        assert_non_null(t);
        for (size_t n = 0; n <= KERNEL_MOST; n++)
            for (int way = 0; way < KERNEL_WAYS; way++)
                for (unsigned active = 0; active < 1u << n; active++)
                    for (int edge = 0; edge < 3; edge++) {
                        const wg_real y =
                            recorded(t, usual_statement, n, way, active, edge, &want);
                        const wg_real z =
                            recorded(t, small_statement, n, way, active, edge, &got);
                        assert_memory_equal(&y.value, &z.value, sizeof y.value);
                        assert_int_equal(y.at.slot, z.at.slot);
                        assert_string_equal(got.bytes, want.bytes);
                        wg_stats s;
                        assert_int_equal(wg_tape_stats(t, &s), WG_OK);
                        assert_true(s.statements <= 4);
                    }
        wg_tape_free(t);
    }
}

static void small_code_answers_mistakes_alike(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL), *const other = wg_tape_new(NULL);
    static struct text got, want;
    const wg_real stale = wg_input(other, 1);
    for (size_t n = 1; n <= KERNEL_MOST; n++)
        for (int way = 0; way < KERNEL_WAYS; way++) {
            kernel *const f[] = {usual_statement, small_statement};
            struct text *const text[] = {&want, &got};
            for (int k = 0; k < 2; k++) {
                wg_real x[KERNEL_MOST];
                wg_tape_reset(t);
                operands(t, 255, 0, x);
                x[0] = stale;
                const wg_real y = f[k](t, n, way, x);
                assert_true(y.value != y.value && y.at.slot == 0);
                text[k]->used = 0;
                (void)collect(text[k], wg_tape_message(t), strlen(wg_tape_message(t)));
                const wg_real z = f[k](NULL, n, way, x);
                assert_true(z.value != z.value && z.at.slot == 0);
            }
            assert_string_equal(got.bytes, want.bytes);
        }
    wg_tape_free(t), wg_tape_free(other);
}

static void small_code_fills_a_tape_alike(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL), *const u = wg_tape_new(NULL);
    wg_real x[KERNEL_MOST], z[KERNEL_MOST];
    operands(t, 255, 0, x), operands(u, 255, 0, z);
    for (int k = 0; k < 200000; k++) { /* through several chunks */
        const size_t n = (size_t)k % 7 + 2;
        x[k % 2] = usual_statement(t, n, 0, x), z[k % 2] = small_statement(u, n, 0, z);
        if (k % 50 == 0) x[0].value = z[0].value = x[1].value = z[1].value = 0.5;
    }
    wg_stats s, r;
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    assert_int_equal(wg_tape_stats(u, &r), WG_OK);
    assert_int_equal(s.records, r.records);
    assert_int_equal(s.slots, r.slots);
    assert_int_equal(wg_reverse(t, x[0]), WG_OK);
    assert_int_equal(wg_reverse(u, z[0]), WG_OK);
    const double a = wg_adjoint(t, x[5]), b = wg_adjoint(u, z[5]);
    assert_memory_equal(&a, &b, sizeof a);
    wg_tape_free(t), wg_tape_free(u);
}

int main(void) {
#define TEST(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        TEST(small_code_records_the_same_bits),
        TEST(small_code_answers_mistakes_alike),
        TEST(small_code_fills_a_tape_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

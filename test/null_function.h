/* SPDX-License-Identifier: MIT */
/* null_function.h - a function for those that are tried with NULL, and how they answer. */
#ifndef WENGERT_TEST_NULL_FUNCTION_H
#define WENGERT_TEST_NULL_FUNCTION_H

#include "null.h"

static const double numbers[] = {2, 3, 4, 5, 6, 7};
static wg_function *fn, *made; /* y = a x[0] + sin(x[1]); what a call gives */

/* No function: what has to be overwritten, or must not be. */
static inline wg_function *poison(void) { return (wg_function *)(uintptr_t)numbers; }

static inline wg_status sine(wg_tape *on, size_t n, const wg_real *in, size_t m, wg_real *res,
                             void *data) {
    (void)data;
    assert_true(n == 3 && m == 1);
    res[0] = wg_let(on, wg_add(wg_mul(in[0], in[1]), wg_sin(in[2])));
    return WG_OK;
}
static const wg_argument inputs[] = {{"a", 1, 1, WG_SHARED}, {"x", 2, 1, 0}};
static const wg_argument outputs[] = {{"y", 1, 1, 0}};

static inline wg_status square(wg_tape *on, size_t n, const wg_real *in, size_t m, wg_real *res,
                               void *data) {
    (void)data;
    assert_true(n == 1 && m == 1);
    res[0] = wg_let(on, wg_square(in[0]));
    return WG_OK;
}

static inline int count_calls(void *ctx, const char *text, size_t bytes) {
    (void)text, (void)bytes;
    ++*(int *)ctx;
    return 0;
}

static inline int open_function(void **state) {
    return open_tape(state) != 0 ||
           wg_function_record(tape, sine, NULL, 2, inputs, numbers, 1, outputs, &fn) != WG_OK;
}
static inline int close_function(void **state) {
    wg_function_free(fn);
    return close_tape(state);
}
#define WITH_FUNCTION(name) cmocka_unit_test_setup_teardown(name, open_function, close_function)

/* The message is that of this call, and says that something is NULL. */
static inline void assert_named(const char *call) {
    assert_says(call);
    assert_non_null(strstr(wg_tape_message(tape), "NULL"));
}

/* Without a reset: drivers do that, and leave the tape empty. */
static inline void assert_usable(void) {
    const double three = 3;
    double nine = 0;
    assert_int_equal(wg_eval(tape, square, NULL, 1, &three, 1, &nine), WG_OK);
    assert_true(nine == 9);
    const wg_real x = wg_input(tape, 3), y = wg_let(tape, wg_square(x));
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    assert_true(wg_adjoint(tape, x) == 6);
    wg_tape_reset(tape);
}

/* Those with a tape as workspace: like a driver. */
#define DRIVEN(f, ...)                                                                         \
    do {                                                                                       \
        STATUS(WG_ENULL, f, __VA_ARGS__);                                                      \
        assert_int_equal(wg_tape_status(tape), WG_ENULL);                                      \
        assert_named(#f);                                                                      \
        assert_usable();                                                                       \
    } while (0)

/* f(tape, ..., out): as it stands, and without tape or out; and with something missing. */
#define MAKES(f, ...)                                                                          \
    do {                                                                                       \
        made = poison();                                                                       \
        STATUS(WG_ENULL, f, NULL, __VA_ARGS__, &made);                                         \
        assert_null(made);                                                                     \
        STATUS(WG_ENULL, f, NULL, __VA_ARGS__, NULL);                                          \
        DRIVEN(f, tape, __VA_ARGS__, NULL);                                                    \
        STATUS(WG_OK, f, tape, __VA_ARGS__, &made);                                            \
        assert_non_null(made);                                                                 \
        wg_function_free(made);                                                                \
    } while (0)
#define MAKES_NONE(f, ...)                                                                     \
    do {                                                                                       \
        made = poison();                                                                       \
        DRIVEN(f, tape, __VA_ARGS__, &made);                                                   \
        assert_null(made);                                                                     \
    } while (0)

static inline size_t read_nothing(void *ctx, void *data, size_t bytes) {
    (void)data, (void)bytes;
    ++*(int *)ctx;
    return 0;
}

#endif

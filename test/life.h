/* SPDX-License-Identifier: MIT */
/* life.h - two tapes opened around every test, and what the tests of a tape's life ask of them.
 */
#ifndef WENGERT_TEST_LIFE_H
#define WENGERT_TEST_LIFE_H

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

static inline int open_tapes(void **state) {
    (void)state;
    tape = wg_tape_new(NULL);
    other = wg_tape_new(NULL);
    return tape == NULL || other == NULL;
}
static inline int close_tapes(void **state) {
    (void)state;
    wg_tape_free(tape);
    wg_tape_free(other);
    return 0;
}

static inline wg_stats stats_of(const wg_tape *t) {
    wg_stats s;
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    return s;
}

static inline void assert_ok(const wg_tape *t) {
    if (wg_tape_status(t) != WG_OK) fail_msg("%s", wg_tape_message(t));
}

/* A failure in the middle of a recording. */
static inline void break_tape(wg_tape *t) {
    wg_tape *stranger = wg_tape_new(NULL);
    (void)wg_let(t, wg_sin(wg_input(stranger, 1)));
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    wg_tape_free(stranger);
}

/* Records a walk and sweeps from its end; x of LENGTH, g of INPUTS. */
static inline void gradient_of_walk(wg_tape *t, uint64_t seed, wg_real *x, double *g) {
    walk(t, seed, INPUTS, 0, LENGTH, x);
    assert_int_equal(wg_reverse(t, x[LENGTH - 1]), WG_OK);
    assert_int_equal(wg_adjoints(t, INPUTS, x, g), WG_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tapes, close_tapes)

#endif

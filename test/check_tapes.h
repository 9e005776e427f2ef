/* SPDX-License-Identifier: MIT */
/* check_tapes.h - the tapes of check_modes.h, for all tests of a program: open_tapes and
 * close_tapes are what cmocka calls before and after them. */
#ifndef TEST_CHECK_TAPES_H
#define TEST_CHECK_TAPES_H

#include "check_modes.h"

static struct check check;

static inline int open_tapes(void **state) {
    (void)state;
    return check_open(&check);
}
static inline int close_tapes(void **state) {
    (void)state;
    check_close(&check);
    return 0;
}

#endif

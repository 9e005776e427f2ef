/* SPDX-License-Identifier: MIT */
/* matrix_oracle.h - RECORD(name) begins the recording of the cases of that name in
 * test/data/matrix_ops.txt, ORACLE(name) makes the test that it agrees with them. */
#ifndef TEST_MATRIX_ORACLE_H
#define TEST_MATRIX_ORACLE_H

#include "matrix_case.h"

#define RECORD(name)                                                                           \
    static void name(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,   \
                     void *data)
#define ORACLE(name)                                                                           \
    static void check_##name(struct matrix_case *c) { matrix_case_check(c, name, NULL); }      \
    static void name##_agrees_with_its_oracle(void **state) {                                  \
        (void)state;                                                                           \
        matrix_case_each(#name, check_##name);                                                 \
    }

#endif

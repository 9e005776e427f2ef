/* SPDX-License-Identifier: MIT */
/* linear_case.h - what the tests of solves, factorisations and covariances share: functions of
 * numbers made of matrix operations, checked by wg_check_gradient; failures and their messages.
 */
#ifndef WENGERT_TEST_LINEAR_CASE_H
#define WENGERT_TEST_LINEAR_CASE_H

#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include <wengert/matrix.h>
#include <wengert/products.h>
#include "walk.h"

/* The next rows-by-cols numbers as a matrix. */
static inline wg_mat take(wg_tape *t, const wg_real **x, size_t rows, size_t cols) {
    const wg_mat a = wg_mat_gather(t, rows, cols, *x);
    *x += rows * cols;
    return a;
}
/* The elements of a matrix as the next results. */
static inline void give(wg_mat a, wg_real **y) {
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) *(*y)++ = wg_mat_at(a, i, j);
}
/* G G'/n + 1, of any G of order n. */
static inline wg_mat definite(wg_tape *t, wg_mat g) {
    return wg_gemm(t, 'N', 'T', 1 / (double)(g.rows != 0 ? g.rows : 1), g, g, 1,
                   wg_mat_identity(t, g.rows));
}

/* Numbers in [-1, 1]. */
static inline double *random_numbers(uint64_t seed, size_t n) {
    double *const x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = walk_number(&seed);
    return x;
}

/* f of n random numbers, m results: tangents, adjoints and differences agree. */
static inline void derivatives_agree(wg_callback *f, const void *data, size_t n, size_t m) {
    wg_tape *const t = wg_tape_new(NULL);
    wg_check found;
    double *const x = random_numbers(n + 3 * m, n);
    const wg_status s = wg_check_gradient(t, f, (void *)(uintptr_t)data, n, x, m, &found);
    if (s != WG_OK) fail_msg("%s: %s", wg_status_text(s), wg_tape_message(t));
    wg_tape_free(t);
    free(x);
}

/* A random matrix, more of `diagonal` on its diagonal. */
static inline wg_mat random_input(wg_tape *t, uint64_t seed, size_t rows, size_t cols,
                                  double diagonal) {
    double *const a = random_numbers(seed, rows * cols);
    for (size_t i = 0; i < rows && i < cols; i++) a[i * (rows + 1)] += diagonal;
    const wg_mat m = wg_mat_input(t, rows, cols, a, rows != 0 ? rows : 1);
    free(a);
    return m;
}

/* The tape has failed so, and its message has all the words; then it is rewound. */
static inline void failed_with(wg_tape *t, wg_mark m, wg_status s, const char *first,
                               const char *second) {
    assert_string_equal(wg_status_text(wg_tape_status(t)), wg_status_text(s));
    if (strstr(wg_tape_message(t), first) == NULL || strstr(wg_tape_message(t), second) == NULL)
        fail_msg("\"%s\" has not \"%s\" and \"%s\"", wg_tape_message(t), first, second);
    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    assert_int_equal(wg_tape_status(t), WG_OK);
}

#endif

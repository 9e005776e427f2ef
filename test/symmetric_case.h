/* SPDX-License-Identifier: MIT */
/* symmetric_case.h - the functions of a symmetric matrix, one by one. */
#ifndef WENGERT_TEST_SYMMETRIC_CASE_H
#define WENGERT_TEST_SYMMETRIC_CASE_H

#include "spectral_case.h"

static inline double cubic(double x, const void *data) {
    return x * (x * x + *(const double *)data);
}
static inline double cubic_slope(double x, const void *data) {
    return 3 * x * x + *(const double *)data;
}
static const double two = 2;
static const wg_symmetric_function user = {cubic, cubic_slope, &two, NULL};

/* Functions of a symmetric matrix have their choice in their params: applied by their calls. */
static inline wg_mat user_function(wg_tape *t, wg_mat a) {
    return wg_symmetric_apply(t, a, user);
}
static inline wg_mat power_3(wg_tape *t, wg_mat a) { return wg_symmetric_power(t, a, 3); }
static inline wg_mat power_half(wg_tape *t, wg_mat a) { return wg_symmetric_power(t, a, -1.5); }
typedef wg_mat function_of(wg_tape *t, wg_mat a);
static const struct {
    const char *name;
    function_of *call;
    double low; /* eigenvalues above this */
} functions[] = {{"wg_symmetric_exp", wg_symmetric_exp, -1.5},
                 {"wg_symmetric_log", wg_symmetric_log, 0},
                 {"wg_symmetric_sqrt", wg_symmetric_sqrt, 0},
                 {"wg_symmetric_inverse_sqrt", wg_symmetric_inverse_sqrt, 0},
                 {"wg_symmetric_power", power_3, -1.5},
                 {"wg_symmetric_power", power_half, 0},
                 {"wg_symmetric_apply", user_function, -1.5}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

#endif

/* SPDX-License-Identifier: MIT */
/* symmetric_rules.h - the functions of numbers by which symmetric matrices are mapped: values,
 * slopes, first and second divided differences, which of eigenvalues they take. */
#ifndef WGI_OPS_MATRIX_SYMMETRIC_RULES_H
#define WGI_OPS_MATRIX_SYMMETRIC_RULES_H

#include <wengert/spectral.h>

/* Each is a row: f, f', the divided difference of a < b where they are no tie, and whether the
 * function takes such an eigenvalue (then WG_OK). `noise` is what eigenvalues are known to.
 * `u`: the user's functions, or the exponent as their data. */
typedef struct wgi_symmetric_rule {
    double (*f)(const wg_symmetric_function *u, double a);
    double (*slope)(const wg_symmetric_function *u, double a);
    double (*divided)(const wg_symmetric_function *u, double a, double b);
    wg_status (*take)(double p, double *a, double noise, const char **why);
    /* the second divided difference of a <= b <= c */
    double (*second)(const wg_symmetric_function *u, double a, double b, double c);
} wgi_symmetric_rule;

enum {
    WGI_RULE_EXP,
    WGI_RULE_LOG,
    WGI_RULE_SQRT,
    WGI_RULE_INVERSE_SQRT,
    WGI_RULE_POWER,
    WGI_RULE_USER,
    WGI_SYMMETRIC_RULES
};
extern const wgi_symmetric_rule wgi_symmetric_rules[WGI_SYMMETRIC_RULES];

#endif

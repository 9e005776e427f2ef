/* SPDX-License-Identifier: MIT */
/* Test functions written from the published formulas (More, Garbow, Hillstrom, ACM TOMS 7(1)
 * 1981; Hock & Schittkowski, LNEMS 187, 1981).  Reference derivatives: data/opt_problems.txt */
#ifndef OPT_PROBLEMS_H
#define OPT_PROBLEMS_H

#include <wengert.h>
#include <wengert/dual.h>

typedef struct {
    const char *name;
    int n, m;                                   /* variables; residuals (nls) or constraints (scalar) */
    int nls;                                    /* 1: f = sum r_i^2 ; 0: f given by obj */
    void (*res)(int n, int m, const double *x, double *r); /* residuals or constraints, may be NULL */
    double (*obj)(int n, const double *x);      /* NULL for nls problems */
} opt_problem;
extern const opt_problem opt_problems[];
extern const int opt_problems_count;
double opt_value(const opt_problem *p, const double *x, double *r);

/* The problem of that number in opt_problems[], in statements, in doubles, in duals: f and,
 * where the problem has them, r[0..m). f may be NULL; r may not when f is a sum. */
void opt_problem_real(wg_tape *t, int number, int n, int m, const wg_real *x, wg_real *f, wg_real *r);
void opt_problem_double(wg_tape *t, int number, int n, int m, const double *x, double *f, double *r);
void opt_problem_dual(wg_tape *t, int number, int n, int m, const wg_dual *x, wg_dual *f, wg_dual *r);
#endif

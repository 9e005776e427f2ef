/* SPDX-License-Identifier: MIT */
/* array_case.h - array operations in every mode, against closed forms in long double.
 *
 * Letters: n operands x, v the value, d the gradient, h the Hessian (n-by-n), of the operands;
 * an operand is an input or a constant, and two may be the same input. */
#ifndef WENGERT_TEST_ARRAY_CASE_H
#define WENGERT_TEST_ARRAY_CASE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "check_tapes.h"
#include "tolerance.h"

enum array_op {
    SUM,
    PRODUCT,
    DOT,
    LINEAR,
    POLYNOMIAL,
    NORM2,
    SQUARED_NORM,
    LOGSUMEXP,
    MAXIMUM,
    MINIMUM,
    MEAN,
    OPS,          /* those of any numbers */
    LOOKUP = OPS, /* that of elements and an index */
    ALL_OPS
};
static const char *const names[ALL_OPS] = {"sum",        "product", "dot",          "linear",
                                           "polynomial", "norm2",   "squared_norm", "logsumexp",
                                           "maximum",    "minimum", "mean",         "lookup"};

#include "array_kernel.h"
#define WG_AS_DUAL
#include "array_kernel.h"
#undef WG_AS_DUAL
#include <wengert/generic.h>

/* ---- closed forms ---- */

/* v, d, h, and the sizes of what was added up in them. */
static inline void sum_forms(enum array_op op, size_t n, const double *x, const double *c,
                             double *v, double *size, double *d, double *d_size) {
    long double s = 0, a = 0;
    for (size_t i = 0; i < n; i++) {
        const long double f = op == LINEAR ? c[i] : op == MEAN ? 1 / (long double)n : 1;
        s += f * x[i], a += fabsl(f * x[i]);
        d[i] = (double)f, d_size[i] = fabs(d[i]);
    }
    *v = (double)s, *size = (double)a;
}

static inline void product_forms(size_t n, const double *x, double *v, double *d, double *h) {
    long double *const before = malloc(2 * (n + 1) * sizeof *before), *const after =
                                                                          before + n + 1;
    assert_non_null(before);
    before[0] = after[n] = 1;
    for (size_t i = 0; i < n; i++) before[i + 1] = before[i] * x[i];
    for (size_t i = n; i-- > 0;) after[i] = after[i + 1] * x[i];
    *v = (double)before[n];
    for (size_t i = 0; i < n; i++) {
        long double between = 1;
        d[i] = (double)(before[i] * after[i + 1]);
        for (size_t j = i + 1; j < n; between *= x[j++])
            h[i * n + j] = h[j * n + i] = (double)(before[i] * between * after[j + 1]);
    }
    free(before);
}

static inline void dot_forms(size_t n, const double *x, double *v, double *size, double *d,
                             double *h) {
    const size_t m = n / 2;
    long double s = 0, a = 0;
    for (size_t i = 0; i < m; i++) {
        s += (long double)x[i] * x[m + i], a += fabsl((long double)x[i] * x[m + i]);
        d[i] = x[m + i], d[m + i] = x[i];
        h[i * n + m + i] = h[(m + i) * n + i] = 1;
    }
    *v = (double)s, *size = (double)a;
}

static inline void polynomial_forms(size_t n, const double *x, double *v, double *size,
                                    double *d, double *d_size, double *h, double *h_size) {
    const size_t m = n - 1;
    const long double z = x[m];
    long double s = 0, a = 0, slope = 0, slope_size = 0, bend = 0, bend_size = 0;
    for (size_t i = 0; i < m; i++) {
        const long double k = (long double)i, p = powl(z, k);
        const long double q = i < 1 ? 0 : k * powl(z, k - 1);
        const long double r = i < 2 ? 0 : k * (k - 1) * powl(z, k - 2);
        s += x[i] * p, a += fabsl(x[i] * p);
        slope += x[i] * q, slope_size += fabsl(x[i] * q);
        bend += x[i] * r, bend_size += fabsl(x[i] * r);
        d[i] = (double)p, d_size[i] = fabs(d[i]);
        h[i * n + m] = h[m * n + i] = (double)q;
        h_size[i * n + m] = h_size[m * n + i] = fabs((double)q);
    }
    *v = (double)s, *size = (double)a;
    d[m] = (double)slope, d_size[m] = (double)slope_size;
    h[m * n + m] = (double)bend, h_size[m * n + m] = (double)bend_size;
}

static inline void norm_forms(enum array_op op, size_t n, const double *x, double *v, double *d,
                              double *h, double *h_size) {
    long double s = 0;
    for (size_t i = 0; i < n; i++) s += (long double)x[i] * x[i];
    const long double r = sqrtl(s);
    *v = (double)(op == NORM2 ? r : s);
    for (size_t i = 0; i < n; i++) {
        d[i] = op != NORM2 ? 2 * x[i] : r == 0 ? 0 : (double)(x[i] / r);
        for (size_t j = 0; j < n; j++) {
            const long double one = i == j, uu = r == 0 ? 0 : x[i] / r * (x[j] / r);
            h[i * n + j] = (double)(op != NORM2 ? 2 * one : r == 0 ? 0 : (one - uu) / r);
            h_size[i * n + j] = (double)(op != NORM2 ? 2 * one
                                         : r == 0    ? 0
                                                     : (one + fabsl(uu)) / r);
        }
    }
}

static inline void logsumexp_forms(size_t n, const double *x, double *v, double *size,
                                   double *d, double *h) {
    long double big = x[0], s = 0, *const p = malloc(n * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) big = fmaxl(big, x[i]);
    for (size_t i = 0; i < n; i++) s += expl(x[i] - big);
    *v = (double)(big + logl(s)), *size = (double)(fabsl(big) + logl(s));
    for (size_t i = 0; i < n; i++) p[i] = expl(x[i] - big) / s, d[i] = (double)p[i];
    for (size_t i = 0; i < n; i++) {
        long double rest = 0; /* 1 - p_i */
        for (size_t j = 0; j < n; j++) {
            if (j != i) h[i * n + j] = (double)(-p[i] * p[j]), rest += p[j];
        }
        h[i * n + i] = (double)(p[i] * rest);
    }
    free(p);
}

static inline void extremum_forms(enum array_op op, size_t n, const double *x, double *v,
                                  double *d) {
    double m = x[0];
    size_t ties = 0;
    for (size_t i = 1; i < n; i++) m = op == MAXIMUM ? fmax(m, x[i]) : fmin(m, x[i]);
    for (size_t i = 0; i < n; i++) ties += x[i] == m;
    for (size_t i = 0; i < n; i++) d[i] = x[i] == m ? 1 / (double)ties : 0;
    *v = m;
}

static inline void lookup_forms(size_t n, const double *x, double *v, double *d) {
    const size_t k = (size_t)floor(x[n - 1]);
    assert_true(k < n - 1);
    *v = x[k], d[k] = 1;
}

/* ---- one operation in every mode ---- */

struct data {
    enum array_op op;
    size_t n;            /* operands */
    const int *from;     /* an input, or -1: the constant */
    const double *x, *c; /* values of the operands, coefficients */
};

static inline wg_status call(wg_tape *t, size_t inputs, const wg_real *in, size_t m, wg_real *y,
                             void *p) {
    const struct data *const f = p;
    wg_real *const x = malloc((f->n + 1) * sizeof *x);
    assert_non_null(x);
    assert_true(inputs > 0 && m == 1);
    for (size_t k = 0; k < f->n; k++)
        x[k] = f->from[k] >= 0 ? in[f->from[k]] : wg_constant(f->x[k]);
    y[0] = array_real(t, f->op, f->n, x, f->c);
    free(x);
    return WG_OK;
}

static inline void call_dual(void *p, const wg_dual *in, wg_dual *y) {
    const struct data *const f = p;
    wg_dual *const x = malloc((f->n + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t k = 0; k < f->n; k++)
        x[k] = f->from[k] >= 0 ? in[f->from[k]] : wg_dual_constant(f->x[k]);
    y[0] = array_dual(NULL, f->op, f->n, x, f->c);
    free(x);
}

/* Operands x, of which from[k] says the input; references for the operands are added up for the
 * inputs. Gives 0, or says what is wrong and gives 1. */
static inline int check_array(enum array_op op, size_t n, const double *x, const int *from,
                              size_t inputs) {
    const size_t nn = n * n, ii = inputs * inputs;
    double *const all = calloc(4 * n + 2 * nn + 5 * inputs + 2 * ii, sizeof *all);
    assert_non_null(all);
    double *const c = all, *const d = c + n, *const d_size = d + n, *const h = d_size + n;
    double *const h_size = h + nn, *const a = h_size + nn, *const other = a + inputs;
    double *const g = other + inputs, *const g_allowed = g + inputs,
                  *const v = g_allowed + inputs;
    double *const hh = v + inputs, *const hh_allowed = hh + ii;
    double value = 0, size = NAN, value_allowed;
    const double units = ((double)n + TOL_DERIVATIVE_ULP) * TOL_ORDER_ULP * DBL_EPSILON;
    for (size_t i = 0; i < n; i++) c[i] = (double)(i % 7) / 4 - 0.75, d_size[i] = NAN;
    for (size_t i = 0; i < nn; i++) h_size[i] = NAN;
    switch (op) {
    case SUM:
    case LINEAR:
    case MEAN:
        sum_forms(op, n, x, c, &value, &size, d, d_size);
        break;
    case PRODUCT:
        product_forms(n, x, &value, d, h);
        break;
    case DOT:
        dot_forms(n, x, &value, &size, d, h);
        break;
    case POLYNOMIAL:
        polynomial_forms(n, x, &value, &size, d, d_size, h, h_size);
        break;
    case NORM2:
    case SQUARED_NORM:
        norm_forms(op, n, x, &value, d, h, h_size);
        break;
    case LOGSUMEXP:
        logsumexp_forms(n, x, &value, &size, d, h);
        break;
    case LOOKUP:
        lookup_forms(n, x, &value, d);
        break;
    default:
        extremum_forms(op, n, x, &value, d);
        break;
    }
    value_allowed = units * (size == size ? size : fabs(value));
    for (size_t k = 0; k < n; k++) {
        if (from[k] < 0) continue;
        const size_t i = (size_t)from[k];
        a[i] = x[k];
        g[i] += d[k];
        g_allowed[i] += units * (d_size[k] == d_size[k] ? d_size[k] : fabs(d[k]));
        for (size_t l = 0; l < n; l++) {
            if (from[l] < 0) continue;
            const size_t at = i * inputs + (size_t)from[l];
            hh[at] += h[k * n + l];
            hh_allowed[at] += 2 * units *
                              (h_size[k * n + l] == h_size[k * n + l] ? h_size[k * n + l]
                                                                      : fabs(h[k * n + l]));
        }
    }
    for (size_t i = 0; i < inputs; i++) {
        v[i] = check_direction[i % CHECK_WEIGHTS];
        other[i] = 0.75 * a[i] + (double)(i % 3) / 8; /* other ties, other zeros */
    }
    struct data data = {op, n, from, x, c};
    const struct check_function f = {call,
                                     call_dual,
                                     &data,
                                     inputs,
                                     1,
                                     a,
                                     other,
                                     check_weights,
                                     v,
                                     {&value, &value_allowed},
                                     {g, g_allowed},
                                     {hh, hh_allowed}};
    const int bad = check_modes(&check, &f);
    if (bad != 0) print_error("%s of %zu operands: %s\n", names[op], n, check.why);
    free(all);
    return bad != 0;
}

/* Each operand its own input; then every third a constant; then every operand twice. */
static inline int check_mixes(enum array_op op, size_t n, const double *x) {
    int *const from = malloc(n * sizeof *from), bad = 0;
    double *const twice = malloc(n * sizeof *twice);
    size_t inputs = 0;
    assert_non_null(from);
    assert_non_null(twice);
    for (size_t k = 0; k < n; k++) from[k] = (int)k;
    bad += check_array(op, n, x, from, n);
    for (size_t k = 0; k < n; k++) from[k] = k % 3 == 1 ? -1 : (int)inputs++;
    bad += check_array(op, n, x, from, inputs);
    for (size_t k = 0; k < n; k++) from[k] = (int)(k / 2), twice[k] = x[k / 2];
    bad += check_array(op, n, twice, from, (n + 1) / 2);
    free(from);
    free(twice);
    return bad;
}

#endif

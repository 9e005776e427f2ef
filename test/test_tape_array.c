/* SPDX-License-Identifier: MIT */
/* test_tape_array.c - array operations on the tape, in every mode, against closed forms in long
 * double and the oracle test/data/logsumexp.txt.
 *
 * Letters: n operands x, v the value, d the gradient, h the Hessian (n-by-n), of the operands;
 * an operand is an input or a constant, and two may be the same input. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "check_modes.h"
#include "oracle_text.h"
#include "tolerance.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

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

static struct check check;

static int open_tapes(void **state) {
    (void)state;
    return check_open(&check);
}
static int close_tapes(void **state) {
    (void)state;
    check_close(&check);
    return 0;
}

/* ---- closed forms ---- */

/* v, d, h, and the sizes of what was added up in them. */
static void sum_forms(enum array_op op, size_t n, const double *x, const double *c, double *v,
                      double *size, double *d, double *d_size) {
    long double s = 0, a = 0;
    for (size_t i = 0; i < n; i++) {
        const long double f = op == LINEAR ? c[i] : op == MEAN ? 1 / (long double)n : 1;
        s += f * x[i], a += fabsl(f * x[i]);
        d[i] = (double)f, d_size[i] = fabs(d[i]);
    }
    *v = (double)s, *size = (double)a;
}

static void product_forms(size_t n, const double *x, double *v, double *d, double *h) {
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

static void dot_forms(size_t n, const double *x, double *v, double *size, double *d,
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

static void polynomial_forms(size_t n, const double *x, double *v, double *size, double *d,
                             double *d_size, double *h, double *h_size) {
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

static void norm_forms(enum array_op op, size_t n, const double *x, double *v, double *d,
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

static void logsumexp_forms(size_t n, const double *x, double *v, double *size, double *d,
                            double *h) {
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

static void extremum_forms(enum array_op op, size_t n, const double *x, double *v, double *d) {
    double m = x[0];
    size_t ties = 0;
    for (size_t i = 1; i < n; i++) m = op == MAXIMUM ? fmax(m, x[i]) : fmin(m, x[i]);
    for (size_t i = 0; i < n; i++) ties += x[i] == m;
    for (size_t i = 0; i < n; i++) d[i] = x[i] == m ? 1 / (double)ties : 0;
    *v = m;
}

static void lookup_forms(size_t n, const double *x, double *v, double *d) {
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

static wg_status call(wg_tape *t, size_t inputs, const wg_real *in, size_t m, wg_real *y,
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

static void call_dual(void *p, const wg_dual *in, wg_dual *y) {
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
static int check_array(enum array_op op, size_t n, const double *x, const int *from,
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
static int check_mixes(enum array_op op, size_t n, const double *x) {
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

static void ordinary_arrays_agree_with_closed_forms(void **state) {
    static const double x[] = {0.75, -1.5, 2.25, 0.3, -0.0625, 3, -2.5, 1.125, 0.5, -0.875};
    int bad = 0;
    (void)state;
    for (int op = 0; op < OPS; op++)
        for (size_t n = 1; n <= sizeof x / sizeof *x; n++)
            if (op != DOT || n % 2 == 0) bad += check_mixes((enum array_op)op, n, x);
    assert_int_equal(bad, 0);
}

static void a_thousand_operands_agree_with_closed_forms(void **state) {
    enum { N = 1000 };
    static double x[N];
    static int from[N];
    int bad = 0;
    (void)state;
    for (int op = 0; op < OPS; op++) {
        size_t inputs = 0;
        for (size_t i = 0; i < N; i++) {
            /* near 1 where powers of it or products must stay in range */
            x[i] = op == PRODUCT ? 1 + sin((double)i) / 16 : 4 * sin(1.7 * (double)i);
            from[i] = op == POLYNOMIAL && i == N - 1 ? (int)inputs++
                      : i % 50 == 7                  ? -1
                                                     : (int)inputs++;
        }
        if (op == POLYNOMIAL) x[N - 1] = -0.9921875;
        bad += check_array((enum array_op)op, N, x, from, inputs);
    }
    assert_int_equal(bad, 0);
}

static void no_operands_give_the_neutral_element(void **state) {
    static const double neutral[OPS] = {0, 1, 0, 0, 0, 0, 0, -INFINITY, NAN, NAN, NAN};
    wg_tape *const tapes[] = {check.plain, check.checked, check.code};
    (void)state;
    for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++)
        for (int op = 0; op < OPS; op++) {
            wg_tape *const t = tapes[k];
            const int refused = op == MAXIMUM || op == MINIMUM || op == MEAN;
            wg_tape_reset(t);
            const wg_real z = wg_input(t, 2);
            const wg_real y = op == POLYNOMIAL
                                  ? wg_polynomial(t, 0, NULL, z)
                                  : array_real(t, (enum array_op)op, 0, NULL, NULL);
            assert_true(error_ulp(wg_value(y), neutral[op]) == 0);
            assert_int_equal(wg_tape_status(t), refused ? WG_ESHAPE : WG_OK);
            /* nothing to differentiate: what comes out is a constant */
            assert_int_equal(wg_reverse(t, y), refused ? WG_ESHAPE : WG_ESEED);
        }
}

/* ---- products with zeros, ties, and the ends of the numbers ---- */

static void products_are_exact_with_zeros_among_the_factors(void **state) {
    static const double cases[][5] = {
        {2, 3, -0.5, 4, 1.5}, {2, 0, -0.5, 4, 1.5}, {0, 3, -0.5, 4, 2},
        {2, 3, -0.5, 4, 0},   {2, 0, -0.5, 0, 1.5}, {0, 0, -0.5, 4, 2},
        {0, 0, 0, 4, 1.5},    {0, 0, 0, 0, 0},      {-0.0, 1, 1, 1, 1}};
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t n = 1; n <= 5; n++) bad += check_mixes(PRODUCT, n, cases[i]);
    assert_int_equal(bad, 0);
}

static void ties_share_the_derivative(void **state) {
    static const double cases[][5] = {{1, 2, 2, 0, 2},
                                      {3, 3, 3, 3, 3},
                                      {-1, -2, -2, -1, 5},
                                      {0, -0.0, 0, 1, -1},
                                      {7, 1, 2, 7, 7}};
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t n = 1; n <= 5; n++) {
            bad += check_mixes(MAXIMUM, n, cases[i]);
            bad += check_mixes(MINIMUM, n, cases[i]);
            bad += check_mixes(LOGSUMEXP, n, cases[i]);
        }
    assert_int_equal(bad, 0);
}

/* Value and gradient of one operation of inputs, on every tape and of duals. */
static void value_and_gradient_are(enum array_op op, size_t n, const double *a, double value,
                                   const double *want, double ulps) {
    wg_tape *const tapes[] = {check.plain, check.checked, check.code};
    wg_real x[8];
    wg_dual d[8];
    assert_true(n <= 8);
    for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++) {
        wg_tape *const t = tapes[k];
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, n, a, x), WG_OK);
        const wg_real y = array_real(t, op, n, x, NULL);
        assert_true(close_ulp(wg_value(y), value, ulps));
        assert_int_equal(wg_reverse(t, y), WG_OK);
        for (size_t i = 0; i < n; i++) {
            if (!close_ulp(wg_adjoint(t, x[i]), want[i], ulps))
                print_error("%s: d/dx%zu is %.17g, not %.17g\n", names[op], i,
                            wg_adjoint(t, x[i]), want[i]);
            assert_true(close_ulp(wg_adjoint(t, x[i]), want[i], ulps));
        }
    }
    assert_int_equal(wg_tape_verify(check.code), WG_OK);
    for (size_t first = 0; first < n; first += WG_DUAL_WIDTH) {
        for (size_t i = 0; i < n; i++)
            d[i] = i < first ? wg_dual_constant(a[i]) : wg_dual_input(a[i], i - first);
        const wg_dual y = array_dual(NULL, op, n, d, NULL);
        assert_true(close_ulp(wg_dual_value(y), value, ulps));
        for (size_t i = first; i < n && i < first + WG_DUAL_WIDTH; i++)
            assert_true(close_ulp(wg_dual_tangent(y, i - first), want[i], ulps));
    }
}
#define VALUE_AND_GRADIENT(op, value, ulps, ...)                                               \
    value_and_gradient_are(op, sizeof(x) / sizeof *x, x, value, (const double[]){__VA_ARGS__}, \
                           ulps)

static void norms_neither_overflow_nor_vanish(void **state) {
    static const double scales[] = {1e-320, 4e-310, 1e-200, 1e-150, 1, 1e150, 1e200, 1e307};
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        const double s = scales[i], x[] = {3 * s, -4 * s, 0, 12 * s};
        const long double exact[] = {x[0], x[1], x[3]};
        const long double r =
            sqrtl(exact[0] * exact[0] + exact[1] * exact[1] + exact[2] * exact[2]);
        VALUE_AND_GRADIENT(NORM2, (double)r, TOL_DERIVATIVE_ULP, (double)(exact[0] / r),
                           (double)(exact[1] / r), 0, (double)(exact[2] / r));
    }
    {
        const double x[] = {5e-324, 5e-324}, root = 0.70710678118654752;
        VALUE_AND_GRADIENT(NORM2, 5e-324, TOL_DERIVATIVE_ULP, root, root);
    }
    { /* the norm overflows, its gradient does not */
        const double x[] = {1.5e308, -1.5e308}, root = 0.70710678118654752;
        VALUE_AND_GRADIENT(NORM2, INFINITY, TOL_DERIVATIVE_ULP, root, -root);
    }
}

static void norms_at_zero_infinity_and_nan_follow_the_convention(void **state) {
    (void)state;
    {
        const double x[] = {0, -0.0, 0};
        VALUE_AND_GRADIENT(NORM2, 0, 0, 0, 0, 0);
        VALUE_AND_GRADIENT(SQUARED_NORM, 0, 0, 0, 0, 0);
    }
    {
        const double x[] = {1, -INFINITY, 3};
        VALUE_AND_GRADIENT(NORM2, INFINITY, 0, 0, -1, 0);
    }
    {
        const double x[] = {INFINITY, -INFINITY, 3}, root = 0.70710678118654752;
        VALUE_AND_GRADIENT(NORM2, INFINITY, TOL_VALUE_ULP, root, -root, 0);
    }
    {
        const double x[] = {1, NAN};
        VALUE_AND_GRADIENT(NORM2, NAN, 0, NAN, NAN);
    }
}

static void logsumexp_at_infinities_follows_the_convention(void **state) {
    (void)state;
    {
        const double x[] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
        VALUE_AND_GRADIENT(LOGSUMEXP, -INFINITY, 0, 0.25, 0.25, 0.25, 0.25);
    }
    {
        const double x[] = {INFINITY, 0, -INFINITY};
        VALUE_AND_GRADIENT(LOGSUMEXP, INFINITY, 0, 1, 0, 0);
    }
    {
        const double x[] = {INFINITY, INFINITY};
        VALUE_AND_GRADIENT(LOGSUMEXP, INFINITY, 0, 0.5, 0.5);
    }
    {
        const double x[] = {-INFINITY, 2};
        VALUE_AND_GRADIENT(LOGSUMEXP, 2, 0, 0, 1);
    }
    {
        const double x[] = {NAN, 2};
        VALUE_AND_GRADIENT(LOGSUMEXP, NAN, 0, NAN, NAN);
    }
}

static void extrema_with_a_nan_are_nan(void **state) {
    const double x[] = {1, NAN, 2};
    (void)state;
    VALUE_AND_GRADIENT(MAXIMUM, NAN, 0, NAN, NAN, NAN);
    VALUE_AND_GRADIENT(MINIMUM, NAN, 0, NAN, NAN, NAN);
}

static void polynomials_at_zero_and_of_constants_are_exact(void **state) {
    static const double cases[][5] = {{1, 2, 3, 4, 0}, {0, 0, 0, 0, 2}, {5, -1, 0, 2, -1}};
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bad += check_mixes(POLYNOMIAL, 5, cases[i]);
    /* the argument alone, the coefficients alone */
    static const int argument[] = {-1, -1, -1, -1, 0}, coefficients[] = {0, 1, 2, 3, -1};
    static const int root[] = {0, -1, 0, 1, 0}; /* the argument is a coefficient, too */
    const double x[] = {0.5, -1, 0.5, 2, 0.5};
    bad += check_array(POLYNOMIAL, 5, cases[2], argument, 1);
    bad += check_array(POLYNOMIAL, 5, cases[2], coefficients, 4);
    bad += check_array(POLYNOMIAL, 5, x, root, 2);
    assert_int_equal(bad, 0);
}

/* dot(x, x): both operands the same array, as the user writes it. */
static void a_dot_product_of_an_array_with_itself_has_twice_the_gradient(void **state) {
    const double a[] = {1.5, -2, 0, 3}, v[] = {1, 0.5, -2, 4};
    wg_tape *const t = check.code;
    wg_real x[4];
    double h[16], hv[4];
    (void)state;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 4, a, x), WG_OK);
    const wg_real y = wg_dot(t, 4, x, x);
    assert_true(wg_value(y) == 15.25);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    for (size_t i = 0; i < 4; i++) assert_true(wg_adjoint(t, x[i]) == 2 * a[i]);
    assert_int_equal(wg_tape_hessian(t, y, 4, x, h, 4), WG_OK);
    assert_int_equal(wg_tape_hvp(t, y, 4, x, v, hv), WG_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_true(hv[i] == 2 * v[i]);
        for (size_t j = 0; j < 4; j++) assert_true(h[i * 4 + j] == (i == j ? 2 : 0));
    }
}

/* ---- the oracle of logsumexp ---- */

static struct oracle_case oracle;

static const double *reference(const char *role, const char *key, size_t count) {
    const struct oracle_array *const a = oracle_case_array(&oracle, role, key);
    assert_non_null(a);
    assert_int_equal(a->count, count);
    return a->v;
}

/* exp(-distance) is known as well as the distance, a rounded difference. */
static double exponent_error(double distance, double ref) {
    const double units = fmin(TOL_DERIVATIVE_ULP + distance, 1 / DBL_EPSILON);
    return units * DBL_EPSILON * fabs(ref) + TOL_SUBNORMAL_UNITS * DBL_TRUE_MIN;
}

static void logsumexp_agrees_with_its_oracle_in_every_mode(void **state) {
    FILE *in = fopen(TEST_DATA "logsumexp.txt", "r");
    int bad = 0, cases = 0, got;
    (void)state;
    assert_non_null(in);
    while ((got = oracle_case_read(in, &oracle)) == 1) {
        const struct oracle_array *const x = oracle_case_array(&oracle, "in", "x");
        assert_non_null(x);
        const size_t n = x->count;
        const double *const g = reference("ref", "grad", n), *const h = reference("ref", "hess",
                                                                                  n * n);
        double v[8], other[8], g_allowed[8], h_allowed[64], big = x->v[0];
        int from[8];
        assert_in_range(n, 1, 8);
        for (size_t i = 0; i < n; i++) big = fmax(big, x->v[i]);
        for (size_t i = 0; i < n; i++) {
            from[i] = (int)i;
            v[i] = check_direction[i];
            other[i] = 1 - (double)i;
            g_allowed[i] = exponent_error(big - x->v[i], g[i]);
            for (size_t j = 0; j < n; j++)
                h_allowed[i * n + j] =
                    exponent_error(2 * big - x->v[i] - x->v[j], h[i * n + j]);
        }
        struct data data = {LOGSUMEXP, n, from, x->v, NULL};
        const struct check_function f = {call,
                                         call_dual,
                                         &data,
                                         n,
                                         1,
                                         x->v,
                                         other,
                                         check_weights,
                                         v,
                                         {reference("ref", "value", 1), NULL},
                                         {g, g_allowed},
                                         {h, h_allowed}};
        if (check_modes(&check, &f) != 0) {
            print_error("case %d: %s\n", cases, check.why);
            bad++;
        }
        cases++;
        oracle_case_free(&oracle);
    }
    fclose(in);
    assert_int_equal(got, 0);
    assert_int_equal(cases, 9);
    assert_int_equal(bad, 0);
}

/* ---- array operations among statements ---- */

/* exp(-norm) * logsumexp + maximum * dot, of arrays that share their variables; the same from
 * scalar operations. */
static wg_real mixed(wg_tape *t, const wg_real *x, int arrays) {
    wg_real u[4], norm, lse, top, dot;
    for (size_t i = 0; i < 4; i++) u[i] = wg_let(t, wg_mul(wg_sin(x[i]), x[(i + 1) % 4]));
    if (arrays) {
        norm = wg_norm2(t, 4, u);
        lse = wg_logsumexp(t, 4, x);
        top = wg_maximum(t, 4, u);
        dot = wg_dot(t, 4, u, x);
    } else {
        wg_real s = wg_constant(0), e = wg_constant(0);
        dot = wg_constant(0), top = u[0];
        for (size_t i = 0; i < 4; i++) {
            s = wg_let(t, wg_add(s, wg_square(u[i])));
            e = wg_let(t, wg_add(e, wg_exp(x[i])));
            dot = wg_let(t, wg_fma(u[i], x[i], dot));
            top = wg_let(t, wg_fmax(top, u[i]));
        }
        norm = wg_let(t, wg_sqrt(s));
        lse = wg_let(t, wg_log(e));
    }
    return wg_let(t, wg_add(wg_mul(wg_exp(wg_neg(norm)), lse), wg_mul(top, dot)));
}

static void array_operations_and_statements_may_follow_each_other(void **state) {
    const double a[] = {0.7, -1.2, 2.1, 0.4};
    double g[2][4], h[2][16], largest_g = 0, largest_h = 0;
    (void)state;
    for (int arrays = 0; arrays < 2; arrays++) {
        wg_real x[4];
        wg_tape_reset(check.code);
        assert_int_equal(wg_inputs(check.code, 4, a, x), WG_OK);
        const wg_real y = mixed(check.code, x, arrays);
        assert_int_equal(wg_reverse(check.code, y), WG_OK);
        assert_int_equal(wg_adjoints(check.code, 4, x, g[arrays]), WG_OK);
        assert_int_equal(wg_tape_hessian(check.code, y, 4, x, h[arrays], 4), WG_OK);
        assert_int_equal(wg_tape_verify(check.code), WG_OK);
    }
    for (size_t i = 0; i < 4; i++) largest_g = fmax(largest_g, fabs(g[0][i]));
    for (size_t i = 0; i < 16; i++) largest_h = fmax(largest_h, fabs(h[0][i]));
    assert_true(largest_g > 0.5 && largest_h > 0.5);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(g[0][i] - g[1][i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * largest_g);
    for (size_t i = 0; i < 16; i++)
        assert_true(fabs(h[0][i] - h[1][i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * largest_h);
}

/* Where i c[i] overflows, i c[i] z^(i-1) need not. */
static void polynomials_of_large_coefficients_have_finite_derivatives(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&opt);
    const wg_real z = wg_input(t, 0x1p-10);
    const wg_real c[] = {wg_constant(1), wg_constant(0), wg_constant(0), wg_constant(0x1p1022),
                         wg_constant(0x1p1023)};
    const wg_real y = wg_polynomial(t, 5, c, z);
    double h = 77;
    /* 3 c3 z^2 + 4 c4 z^3, 6 c3 z + 12 c4 z^2 */
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, z) == 3 * 0x1p1002 + 4 * 0x1p993);
    assert_int_equal(wg_tape_hessian(t, y, 1, &z, &h, 1), WG_OK);
    assert_true(h == 6 * 0x1p1012 + 12 * 0x1p1003);
    wg_tape_free(t);
}

/* ---- lookups ---- */

/* Elements that are no index, each chosen; other[] of check_array chooses another. */
static void lookups_give_the_element_of_the_index_in_every_mode(void **state) {
    static const double parts[] = {0, 0.25, 0.984375};
    int from[12], bad = 0;
    double x[12];
    (void)state;
    for (size_t n = 1; n <= 10; n++)
        for (size_t k = 0; k < 3 * n; k++) {
            size_t inputs = 0;
            for (size_t i = 0; i < n; i++) x[i] = 3 * sin((double)(i + n));
            x[n] = (double)(k / 3) + parts[k % 3];
            for (size_t i = 0; i <= n; i++) from[i] = (int)i;
            bad += check_array(LOOKUP, n + 1, x, from, n + 1);
            from[n] = -1; /* a constant index */
            bad += check_array(LOOKUP, n + 1, x, from, n);
            for (size_t i = 0; i < n; i++) from[i] = -1; /* nothing but the index */
            from[n] = 0;
            bad += check_array(LOOKUP, n + 1, x, from, 1);
            for (size_t i = 0; i <= n; i++) from[i] = i % 3 == 1 ? -1 : (int)inputs++;
            bad += check_array(LOOKUP, n + 1, x, from, inputs);
            for (size_t i = 0; i < n; i++) from[i] = (int)(i / 2), x[i] = x[i / 2];
            from[n] = (int)(n + 1) / 2;
            bad += check_array(LOOKUP, n + 1, x, from, (n + 1) / 2 + 1);
            for (size_t i = 0; i < n; i++) from[i] = (int)i;
            from[n] = (int)(k % n), x[k % n] = x[n]; /* the index is an element */
            bad += check_array(LOOKUP, n + 1, x, from, n);
        }
    assert_int_equal(bad, 0);
}

static void a_lookup_among_a_thousand_takes_one(void **state) {
    enum { N = 1000 };
    static double x[N + 1];
    static int from[N + 1];
    int bad = 0;
    (void)state;
    for (size_t i = 0; i <= N; i++) from[i] = (int)i;
    for (size_t i = 0; i < N; i++) x[i] = cos((double)i);
    for (size_t k = 0; k < N; k += 333) {
        x[N] = (double)k + 0.5;
        bad += check_array(LOOKUP, N + 1, x, from, N + 1);
    }
    assert_int_equal(bad, 0);
}

static const double outside[] = {-1,     -0.5,     -0x1p-1074, 3,         3.5,
                                 0x1p53, 0x1p1023, INFINITY,   -INFINITY, NAN};
enum { OUTSIDE = sizeof outside / sizeof *outside };

static void assert_says(wg_tape *t, const char *text) {
    if (strstr(wg_tape_message(t), text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, wg_tape_message(t));
}

static void an_index_that_chooses_no_element_is_refused(void **state) {
    static const double a[] = {1, 2, 4};
    wg_tape *const tapes[] = {check.plain, check.checked, check.code, check.forward};
    wg_real x[3];
    char text[64];
    (void)state;
    for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++)
        for (size_t i = 0; i < OUTSIDE; i++)
            for (int how = 0; how < 3; how++) { /* active, constant, paused */
                wg_tape *const t = tapes[k];
                wg_tape_reset(t);
                assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
                const wg_real index =
                    how == 1 ? wg_constant(outside[i]) : wg_input(t, outside[i]);
                if (how == 2) assert_int_equal(wg_tape_pause(t), WG_OK);
                const wg_real y = wg_lookup(t, index, 3, x);
                assert_true(isnan(wg_value(y)));
                assert_int_equal(wg_tape_status(t), WG_EARG);
                (void)snprintf(text, sizeof text, "wg_lookup: index %s",
                               isnan(outside[i])     ? "nan"
                               : signbit(outside[i]) ? "-"
                                                     : "");
                assert_says(t, text);
                assert_says(t, " of 3 elements");
                assert_says(t, "test_tape_array.c:");
            }
    wg_tape_reset(check.code);
    assert_int_equal(wg_inputs(check.code, 3, a, x), WG_OK);
    assert_true(wg_value(wg_lookup(check.code, wg_constant(-0.0), 3, x)) == 1);
    assert_true(wg_value(wg_lookup(check.code, wg_constant(0.999), 3, x)) == 1);
    assert_true(wg_value(wg_lookup(check.code, wg_constant(nextafter(3, 0)), 3, x)) == 4);
    assert_int_equal(wg_tape_status(check.code), WG_OK);
}

/* A variable of another tape is refused in the name of the call. */
static void foreign_variables_are_refused_by_name(void **state) {
    wg_tape *const tapes[] = {check.plain, check.code}, *const other = wg_tape_new(NULL);
    const double c[2] = {1, 2};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        wg_tape *const t = tapes[k];
        wg_real x[2] = {{0, {0, 0}}, wg_input(other, 2)};
#define REFUSED(name, ...)                                                                     \
    do {                                                                                       \
        wg_tape_reset(t);                                                                      \
        x[0] = wg_input(t, 1);                                                                 \
        (void)name(t, __VA_ARGS__);                                                            \
        assert_int_equal(wg_tape_status(t), WG_ESTALE);                                        \
        assert_says(t, #name ": operand");                                                     \
    } while (0)
        REFUSED(wg_sum, 2, x);
        REFUSED(wg_product, 2, x);
        REFUSED(wg_dot, 2, x, x);
        REFUSED(wg_linear, 2, c, x);
        REFUSED(wg_polynomial, 2, x, x[0]);
        REFUSED(wg_norm2, 2, x);
        REFUSED(wg_squared_norm, 2, x);
        REFUSED(wg_logsumexp, 2, x);
        REFUSED(wg_maximum, 2, x);
        REFUSED(wg_minimum, 2, x);
        REFUSED(wg_mean, 2, x);
        REFUSED(wg_lookup, x[0], 2, x);
        REFUSED(wg_lt, x[0], x[1]);
        REFUSED(wg_le, x[0], x[1]);
        REFUSED(wg_gt, x[0], x[1]);
        REFUSED(wg_ge, x[0], x[1]);
        REFUSED(wg_eq, x[0], x[1]);
        REFUSED(wg_ne, x[0], x[1]);
#undef REFUSED
        wg_tape_reset(t);
    }
    wg_tape_free(other);
}

static void a_lookup_of_nothing_is_refused(void **state) {
    wg_tape *const tapes[] = {check.plain, check.code};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        wg_tape_reset(tapes[k]);
        const wg_real zero = wg_input(tapes[k], 0);
        assert_true(isnan(wg_value(wg_lookup(tapes[k], zero, 0, NULL))));
        assert_int_equal(wg_tape_status(tapes[k]), WG_ESHAPE);
        assert_says(tapes[k], "wg_lookup: of 0 operands");
        wg_tape_reset(tapes[k]);
        const wg_real one = wg_input(tapes[k], 1);
        assert_true(isnan(wg_value(wg_lookup(tapes[k], one, 2, NULL))));
        assert_int_equal(wg_tape_status(tapes[k]), WG_ENULL);
        assert_says(tapes[k], "wg_lookup");
        wg_tape_reset(tapes[k]);
        /* an index from before */
        const wg_real x = wg_input(tapes[k], 1);
        assert_true(isnan(wg_value(wg_lookup(tapes[k], one, 1, &x))));
        assert_int_equal(wg_tape_status(tapes[k]), WG_ESTALE);
    }
}

static void a_replay_chooses_anew_or_says_that_it_cannot(void **state) {
    static const double a[] = {1, 2, 4, 1.5};
    wg_tape *const t = check.code;
    (void)state;
    for (size_t i = 0; i < OUTSIDE; i++) {
        wg_real x[4];
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, 4, a, x), WG_OK);
        const wg_real chosen = wg_lookup(t, x[3], 3, x);
        const wg_real y = wg_let(t, wg_mul(chosen, chosen));
        assert_true(wg_value(y) == 4);
        for (size_t k = 0; k < 3; k++) {
            double h[16];
            const double b[] = {3, 5, 7, (double)k};
            assert_int_equal(wg_tape_replay(t, 4, x, b), WG_OK);
            assert_int_equal(wg_tape_verify(t), WG_OK);
            assert_true(wg_tape_value(t, y) == b[k] * b[k]);
            assert_int_equal(wg_reverse(t, y), WG_OK);
            for (size_t j = 0; j < 4; j++)
                assert_true(wg_adjoint(t, x[j]) == (j == k ? 2 * b[k] : 0));
            assert_int_equal(wg_tape_hessian(t, y, 4, x, h, 4), WG_OK);
            for (size_t j = 0; j < 16; j++) assert_true(h[j] == (j == 5 * k ? 2 : 0));
        }
        const double c[] = {3, 5, 7, outside[i]};
        const wg_mark mark = wg_tape_mark(t);
        assert_int_equal(wg_tape_replay(t, 4, x, c), WG_EARG);
        assert_int_equal(wg_tape_status(t), WG_EARG);
        assert_says(t, "wg_tape_replay: wg_lookup of slot ");
        assert_says(t, " of 3 elements");
        assert_int_equal(wg_tape_rewind(t, mark), WG_EARG);
        assert_int_equal(wg_tape_replay(t, 4, x, a), WG_EARG);
    }
    wg_tape_reset(t);
}

static void elements_not_chosen_do_not_matter(void **state) {
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    wg_tape *const t = check.code;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double g[3], h[9];
        wg_real x[3], e[2];
        const double a[] = {2, i == 0 ? 3 : 0, 0.5};
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
        e[0] = wg_let(t, wg_mul(x[0], x[0]));
        /* infinite in value or in slope */
        e[1] = i == 0 ? wg_let(t, wg_mul(x[1], odd[i])) : wg_let(t, wg_sqrt(x[1]));
        const wg_real y = wg_lookup(t, x[2], 2, e);
        assert_true(wg_value(y) == 4);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_int_equal(wg_adjoints(t, 3, x, g), WG_OK);
        assert_true(g[0] == 4 && g[1] == 0 && g[2] == 0);
        assert_int_equal(wg_tape_hessian(t, y, 3, x, h, 3), WG_OK);
        for (size_t j = 0; j < 9; j++) assert_true(h[j] == (j == 0 ? 2 : 0));
    }
}

/* The loop of array.h, at every index and outside, then read again: the value comes back, and
 * the derivatives of what was overwritten are 0. */
static void a_value_is_stored_at_an_index_by_selects(void **state) {
    wg_tape *const t = check.code;
    const double a[] = {1, 2, 4, 8, 0}; /* three elements, a value, the index */
    wg_real in[5], x[3];
    (void)state;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 5, a, in), WG_OK);
    for (size_t k = 0; k < 3; k++)
        x[k] = wg_let(t, wg_select_eq(wg_floor(in[4]), (double)k, in[3], in[k]));
    const wg_real y = wg_linear(t, 3, (const double[]){1, 10, 100}, x);
    for (int k = -1; k < 4; k++) {
        const double b[] = {1, 2, 4, 8, k + 0.5};
        double want = 0;
        assert_int_equal(wg_tape_replay(t, 5, in, b), WG_OK);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        for (int j = 0, f = 1; j < 3; j++, f *= 10) {
            want += f * (j == k ? 8 : b[j]);
            assert_true(wg_adjoint(t, in[j]) == (j == k ? 0 : f));
            if (j == k) assert_true(wg_adjoint(t, in[3]) == f);
        }
        assert_true(wg_tape_value(t, y) == want);
        assert_true(wg_adjoint(t, in[4]) == 0);
        if (k < 0 || k == 3) assert_true(wg_adjoint(t, in[3]) == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_arrays_agree_with_closed_forms),
        cmocka_unit_test(a_thousand_operands_agree_with_closed_forms),
        cmocka_unit_test(no_operands_give_the_neutral_element),
        cmocka_unit_test(products_are_exact_with_zeros_among_the_factors),
        cmocka_unit_test(ties_share_the_derivative),
        cmocka_unit_test(norms_neither_overflow_nor_vanish),
        cmocka_unit_test(norms_at_zero_infinity_and_nan_follow_the_convention),
        cmocka_unit_test(logsumexp_at_infinities_follows_the_convention),
        cmocka_unit_test(extrema_with_a_nan_are_nan),
        cmocka_unit_test(polynomials_at_zero_and_of_constants_are_exact),
        cmocka_unit_test(a_dot_product_of_an_array_with_itself_has_twice_the_gradient),
        cmocka_unit_test(logsumexp_agrees_with_its_oracle_in_every_mode),
        cmocka_unit_test(array_operations_and_statements_may_follow_each_other),
        cmocka_unit_test(polynomials_of_large_coefficients_have_finite_derivatives),
        cmocka_unit_test(lookups_give_the_element_of_the_index_in_every_mode),
        cmocka_unit_test(a_lookup_among_a_thousand_takes_one),
        cmocka_unit_test(an_index_that_chooses_no_element_is_refused),
        cmocka_unit_test(foreign_variables_are_refused_by_name),
        cmocka_unit_test(a_lookup_of_nothing_is_refused),
        cmocka_unit_test(a_replay_chooses_anew_or_says_that_it_cannot),
        cmocka_unit_test(elements_not_chosen_do_not_matter),
        cmocka_unit_test(a_value_is_stored_at_an_index_by_selects),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

/* SPDX-License-Identifier: MIT */
/* generic_kernel.h - kernels of the tests, in what C11 and C++17 have in common: included once
 * for each type. x holds KERNEL_INPUTS variables; see test_include_generic.c and cxx_user.cpp.
 */
#ifndef WENGERT_TEST_GENERIC_KERNEL_H
#define WENGERT_TEST_GENERIC_KERNEL_H
#include <wengert.h>

enum { KERNEL_INPUTS = 4, KERNEL_ARRAYS = 12 };

/* Operations of a user's own. */
WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
              -2 * copysign(1, a) / pow(1 + fabs(a), 3), GUARD, "Bergstra 2009")
WG_OPERATION2(scaled, a *b *b, b *b, 2 * a * b, 0, 2 * b, 2 * a, ARITH, "product rule")
WG_OPERATION3(damped, a *exp(b) * sin(c), exp(b) * sin(c), v, a *exp(b) * cos(c), 0,
              exp(b) * sin(c), exp(b) * cos(c), v, a *exp(b) * cos(c), -v, GUARD,
              "product rule")
WG_OPERATION4(volume, a *b *c *d, b *c *d, a *c *d, a *b *d, a *b *c, 0, c *d, b *d, b *c, 0,
              a *d, a *c, 0, a *b, 0, ARITH, "product rule")
#define softsign(x) WG_CALL1(softsign, x)
#endif

#include "generic_inner.h"
#include <wengert/generic.h>

/* Operations of every arity, inner kernels, loops, and all arithmetic types among the operands.
 */
static inline wg_real WG_NAME(smooth)(wg_tape *t, const wg_real *x) {
    const int two = 2;
    const float half = 0.5f;
    const unsigned char one = 1;
    const long double ten = 10;
    wg_real s = wg_constant(0.25), c = x[0];
    for (size_t i = 0; i < KERNEL_INPUTS; i++) {
        const wg_real y = WG_NAME(inner)(t, x[i], c);
        s = wg_let(t, wg_add(s, wg_mul(half, wg_pow(wg_fabs(y), two))));
        s = wg_let(t, wg_sub(wg_fma(s, y, i), wg_div(one, wg_add(ten, wg_exp(x[i])))));
        c = wg_let(t, wg_atan2(wg_sin(s), wg_add(wg_cosh(y), i + 1)));
    }
    return wg_let(t, wg_mul(wg_clamp(s, -100, 100L), wg_log1p(wg_hypot(c, x[1]))));
}

/* Sums, products and quotients of few bits: exact in any order of evaluation, also by calls. */
static inline wg_real WG_NAME(exact)(wg_tape *t, const wg_real *x) {
    const wg_real a = wg_let(t, wg_div(wg_mul(wg_add(x[0], 3), x[1]), x[2]));
    const wg_real b = wg_let(t, wg_sub(wg_square(a), wg_mul(wg_neg(a), x[3])));
    const wg_real c = wg_let(t, wg_fma(b, x[0], wg_sub(wg_mul(2, x[1]), wg_div(x[3], 4))));
    const wg_real d = wg_let_sub(t, b, wg_let_reciprocal(t, x[2])); /* calls, on a tape */
    return wg_let_add(t, c, wg_let_mul(t, a, d));
}

/* Control flow by comparisons, by values, and selects that need neither. */
static inline wg_real WG_NAME(branches)(wg_tape *t, const wg_real *x) {
    wg_real s = wg_constant(1);
    if (wg_lt(t, x[0], x[1])) s = wg_let(t, wg_mul(s, x[0]));
    if (wg_le(t, x[1], x[1])) s = wg_let(t, wg_add(s, x[1]));
    if (wg_gt(t, x[0], x[1])) s = wg_let(t, wg_mul(s, x[1]));
    if (wg_ge(t, x[2], x[3])) s = wg_let(t, wg_sub(s, x[2]));
    if (wg_eq(t, x[0], x[0]) && wg_ne(t, x[0], x[1])) s = wg_let(t, wg_mul(s, 1.5));
    for (int k = 0; k < 5 && wg_value(s) < wg_value(x[3]); k++) s = wg_let(t, wg_mul(s, 2));
    s = wg_let(t, wg_add(s, wg_select_lt(x[0], 2.0, wg_mul(3, x[0]), x[1])));
    return wg_let(t, wg_fmax(wg_relu(wg_sub(s, x[2])), wg_select_ge(s, x[3], x[2], 7)));
}

/* Variables whose derivatives are given, all at once and one by one. */
static inline wg_real WG_NAME(given)(wg_tape *t, const wg_real *x) {
    double partial[KERNEL_INPUTS], next = 2, v = 0;
    wg_terms s = wg_terms_open(t);
    for (size_t i = 0; i < KERNEL_INPUTS; i++) {
        partial[i] = next--; /* one of them is 0 */
        v += partial[i] * wg_value(x[i]);
    }
    const wg_real a = wg_let_given(t, v, KERNEL_INPUTS, x, partial);
    for (size_t i = 0; i < KERNEL_INPUTS; i++)
        wg_terms_add(&s, i % 2 != 0 ? a : x[i], 0.5 * wg_value(x[i]));
    const wg_real b = wg_terms_close(&s, 0.25 * v);
    return wg_let(t, wg_add(a, wg_mul(b, wg_let_given(t, 2, 0, x, partial))));
}

/* Every operation on arrays; none of them on the way of another. */
static inline void WG_NAME(arrays)(wg_tape *t, size_t n, const wg_real *x, const wg_real *y,
                                   const double *c, wg_real *out) {
    out[0] = wg_sum(t, n, x);
    out[1] = wg_product(t, n, x);
    out[2] = wg_dot(t, n, x, y);
    out[3] = wg_linear(t, n, c, x);
    out[4] = wg_polynomial(t, n, x, y[0]);
    out[5] = wg_norm2(t, n, x);
    out[6] = wg_squared_norm(t, n, x);
    out[7] = wg_logsumexp(t, n, x);
    out[8] = wg_maximum(t, n, x);
    out[9] = wg_minimum(t, n, x);
    out[10] = wg_mean(t, n, x);
    out[11] = wg_lookup(t, wg_let(t, wg_clamp(y[0], 0.0, n < 2 ? 0.5 : 1.5)), n, x);
}

static inline wg_real WG_NAME(own_operations)(wg_tape *t, const wg_real *x) {
    const wg_real a = wg_let(t, wg_add(softsign(wg_mul(2, x[0])), WG_CALL2(scaled, x[1], 3)));
    const wg_real b = wg_let(t, WG_CALL2(scaled, wg_mul(a, x[2]), wg_sub(softsign(x[3]), 0.5)));
    const wg_real c =
        wg_let(t, WG_CALL3(damped, x[0], wg_mul(0.25, x[1]), WG_CALL3(damped, 2, -1, a)));
    return wg_let(t, wg_add(b, WG_CALL4(volume, c, wg_sin(x[2]), 0.5,
                                        WG_CALL4(volume, 1, x[3], x[0], a))));
}

/* A variable made inside a kernel, and a label for it. */
static inline wg_real WG_NAME(own_inputs)(wg_tape *t, wg_real *own, double a, double b) {
    const double both[2] = {a, b};
    wg_real x[2];
    own[0] = wg_input(t, a);
    if (wg_inputs(t, 2, both, x) != WG_OK || wg_label(t, own[0], "own") != WG_OK)
        return wg_constant(0);
    return wg_let(t, wg_mul(own[0], wg_add(x[0], x[1])));
}

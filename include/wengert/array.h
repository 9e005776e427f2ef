/* SPDX-License-Identifier: MIT */
/* Operations on plain C arrays of variables: each call is one n-ary statement.
 *
 * n = 0 gives the neutral element as a constant (sum 0, product 1, norm 0, logsumexp -inf);
 * maximum, minimum, mean and lookup of nothing are WG_ESHAPE. A failure gives a passive NaN and
 * the status of the tape. Cost: O(n) values, ceil(n/2) records.
 * They are macros, so that the tape can tell the line of each call; the functions behind them
 * say what they take after file and line. */
#ifndef WENGERT_ARRAY_H
#define WENGERT_ARRAY_H

#include <wengert/statement.h>

/* Nested comparisons reuse the names of their locals on purpose. */
#pragma GCC system_header

WG_BEGIN_DECLS

/* The sum of all. */
WGI_API wg_real wgi_sum_at(const char *file, int line, wg_tape *t, size_t n, const wg_real *x);
/* The product of all; derivatives exact with zeros among the factors. */
WGI_API wg_real wgi_product_at(const char *file, int line, wg_tape *t, size_t n,
                               const wg_real *x);
/* sum_i x[i] y[i]. */
WGI_API wg_real wgi_dot_at(const char *file, int line, wg_tape *t, size_t n, const wg_real *x,
                           const wg_real *y);
/* sum_i c[i] x[i] with constant coefficients. */
WGI_API wg_real wgi_linear_at(const char *file, int line, wg_tape *t, size_t n, const double *c,
                              const wg_real *x);
/* sum_i c[i] z^i, i = 0..n-1, by Horner's rule; coefficients and z variable. */
WGI_API wg_real wgi_polynomial_at(const char *file, int line, wg_tape *t, size_t n,
                                  const wg_real *c, wg_real z);
/* Euclidean norm without over- or underflow; derivative 0 at the zero vector. */
WGI_API wg_real wgi_norm2_at(const char *file, int line, wg_tape *t, size_t n,
                             const wg_real *x);
WGI_API wg_real wgi_squared_norm_at(const char *file, int line, wg_tape *t, size_t n,
                                    const wg_real *x);
/* log(sum_i exp(x[i])) without overflow; all -inf: value -inf, derivatives 1/n each. */
WGI_API wg_real wgi_logsumexp_at(const char *file, int line, wg_tape *t, size_t n,
                                 const wg_real *x);
/* Largest, smallest: the derivative is split evenly over ties. */
WGI_API wg_real wgi_maximum_at(const char *file, int line, wg_tape *t, size_t n,
                               const wg_real *x);
WGI_API wg_real wgi_minimum_at(const char *file, int line, wg_tape *t, size_t n,
                               const wg_real *x);
WGI_API wg_real wgi_mean_at(const char *file, int line, wg_tape *t, size_t n, const wg_real *x);
/* x[k], k the whole part of the index at the time of evaluation: a replay, or another point of
 * a function, may choose another element. The derivative is 1 by the element chosen, 0 by the
 * others and by the index. Where not 0 <= index < n, and for NaN, none is chosen: WG_EARG, also
 * from wg_tape_replay, which then can go on only after a reset; at the points of a function,
 * and over doubles and duals (generic.h), a value of NaN whose derivatives are 0. What stores
 * at an index, nowhere if it chooses none:
 *
 *     for (size_t k = 0; k < n; k++)
 *         x[k] = wg_let(t, wg_select_eq(wg_floor(index), (double)k, value, x[k])); */
WGI_API wg_real wgi_lookup_at(const char *file, int line, wg_tape *t, wg_real index, size_t n,
                              const wg_real *x);

#define wg_sum(...) wgi_sum_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_product(...) wgi_product_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_dot(...) wgi_dot_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_linear(...) wgi_linear_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_polynomial(...) wgi_polynomial_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_norm2(...) wgi_norm2_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_squared_norm(...) wgi_squared_norm_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_logsumexp(...) wgi_logsumexp_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_maximum(...) wgi_maximum_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_minimum(...) wgi_minimum_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_mean(...) wgi_mean_at(__FILE__, __LINE__, __VA_ARGS__)
#define wg_lookup(...) wgi_lookup_at(__FILE__, __LINE__, __VA_ARGS__)

/* Comparisons that steer control flow: plain ints. When the tape keeps code they leave a guard,
 * so that a replay in which they come out differently is reported (WG_EGUARD).
 * In C, x and y may be variables, numbers and expressions, which become variables as by wg_let:
 * (wg_lt)(t, x, y) is the function itself. */
WG_API int wg_lt(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_le(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_gt(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_ge(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_eq(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_ne(wg_tape *t, wg_real x, wg_real y);

/* Does a comparison leave a guard on this tape as it is now? */
WGI_API int wgi_guards(const wg_tape *t);

#ifndef __cplusplus
#define WGI_SIDE(t, x_)                                                                        \
    __extension__({                                                                            \
        const __auto_type wgi_s = (x_);                                                        \
        WGI_NOT_A_POINTER(WGI_IS_OPERAND(wgi_s));                                              \
        __builtin_choose_expr(                                                                 \
            WGI_KIND(wgi_s) == 1, wgi_s,                                                       \
            __builtin_choose_expr(WGI_KIND(wgi_s), wg_let(t, wgi_s),                           \
                                  wg_constant(WGI_VALUE(wgi_s, WGI_KIND(wgi_s)))));            \
    })
#define WGI_COMPARE(name, tape, x_, y_)                                                        \
    __extension__({                                                                            \
        wg_tape *const wgi_c = (tape);                                                         \
        const wg_real wgi_x = WGI_SIDE(wgi_c, x_);                                             \
        const wg_real wgi_y = WGI_SIDE(wgi_c, y_);                                             \
        (name)(wgi_c, wgi_x, wgi_y);                                                           \
    })
#define wg_lt(t, x, y) WGI_COMPARE(wg_lt, t, x, y)
#define wg_le(t, x, y) WGI_COMPARE(wg_le, t, x, y)
#define wg_gt(t, x, y) WGI_COMPARE(wg_gt, t, x, y)
#define wg_ge(t, x, y) WGI_COMPARE(wg_ge, t, x, y)
#define wg_eq(t, x, y) WGI_COMPARE(wg_eq, t, x, y)
#define wg_ne(t, x, y) WGI_COMPARE(wg_ne, t, x, y)
#endif

WG_END_DECLS

#endif

/* SPDX-License-Identifier: MIT */
/* What the retyped names of generic.h call: operations that mix duals with numbers, and the
 * array operations of wengert/array.h over doubles and over duals.
 *
 * Letters: x y z w operands, a b their values, v the value of the result, i j k m is it a dual
 * (1) or a number (0). */
#ifndef WENGERT_GENERIC_BODY_H
#define WENGERT_GENERIC_BODY_H

#include <wengert/dual.h>

#if defined(__cplusplus) && __cplusplus < 201703L
#error "wengert: kernels for several types need C++17 or later"
#endif

/* Nested expressions reuse the names of their locals on purpose, and use GNU C throughout. */
#pragma GCC system_header

/* ---- expressions: each operand is evaluated once; of numbers alone, a number ------------ */

#ifndef __cplusplus

#define WGI_IS_DUAL_TYPE(x) __builtin_types_compatible_p(__typeof__(x), wg_dual)
#define WGI_DUAL_OPERAND(x)                                                                    \
    _Static_assert(__builtin_classify_type(x) != 5,                                            \
                   "wengert: an operand is a pointer: an index or a * is missing");            \
    _Static_assert(__builtin_classify_type(x) != 12 || WGI_IS_DUAL_TYPE(x),                    \
                   "wengert: an operand is neither a dual nor a number: a taped variable?")
/* x as a dual: itself, or a number without tangents. */
#define WGI_LIFT(x, is)                                                                        \
    __builtin_choose_expr(is, x, wg_dual_constant((double)__builtin_choose_expr(is, 0, x)))
#define WGI_PRIMAL(x, is) WGI_LIFT(x, is).value

#define WGI_DUAL_LET(t, x_)                                                                    \
    __extension__({                                                                            \
        (void)(t);                                                                             \
        const __auto_type wgi_x = (x_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        WGI_LIFT(wgi_x, WGI_IS_DUAL_TYPE(wgi_x));                                              \
    })

#define WGI_DUAL_NUMBER(x_)                                                                    \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        WGI_PRIMAL(wgi_x, WGI_IS_DUAL_TYPE(wgi_x));                                            \
    })

#define WGI_DUAL_CALL1(name, x_)                                                               \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        enum { wgi_i = WGI_IS_DUAL_TYPE(wgi_x) };                                              \
        __builtin_choose_expr(wgi_i, wgi_dual_##name(WGI_LIFT(wgi_x, wgi_i), wgi_i),           \
                              wgi_op_##name##_v(WGI_PRIMAL(wgi_x, wgi_i)));                    \
    })

#define WGI_DUAL_CALL2(name, x_, y_)                                                           \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        const __auto_type wgi_y = (y_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        WGI_DUAL_OPERAND(wgi_y);                                                               \
        enum { wgi_i = WGI_IS_DUAL_TYPE(wgi_x), wgi_j = WGI_IS_DUAL_TYPE(wgi_y) };             \
        __builtin_choose_expr(                                                                 \
            wgi_i | wgi_j,                                                                     \
            wgi_dual_##name(WGI_LIFT(wgi_x, wgi_i), wgi_i, WGI_LIFT(wgi_y, wgi_j), wgi_j),     \
            wgi_op_##name##_v(WGI_PRIMAL(wgi_x, wgi_i), WGI_PRIMAL(wgi_y, wgi_j)));            \
    })

#define WGI_DUAL_CALL3(name, x_, y_, z_)                                                       \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        const __auto_type wgi_y = (y_);                                                        \
        const __auto_type wgi_z = (z_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        WGI_DUAL_OPERAND(wgi_y);                                                               \
        WGI_DUAL_OPERAND(wgi_z);                                                               \
        enum { wgi_i = WGI_IS_DUAL_TYPE(wgi_x), wgi_j = WGI_IS_DUAL_TYPE(wgi_y) };             \
        enum { wgi_k = WGI_IS_DUAL_TYPE(wgi_z) };                                              \
        __builtin_choose_expr(                                                                 \
            wgi_i | wgi_j | wgi_k,                                                             \
            wgi_dual_##name(WGI_LIFT(wgi_x, wgi_i), wgi_i, WGI_LIFT(wgi_y, wgi_j), wgi_j,      \
                            WGI_LIFT(wgi_z, wgi_k), wgi_k),                                    \
            wgi_op_##name##_v(WGI_PRIMAL(wgi_x, wgi_i), WGI_PRIMAL(wgi_y, wgi_j),              \
                              WGI_PRIMAL(wgi_z, wgi_k)));                                      \
    })

#define WGI_DUAL_CALL4(name, x_, y_, z_, w_)                                                   \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        const __auto_type wgi_y = (y_);                                                        \
        const __auto_type wgi_z = (z_);                                                        \
        const __auto_type wgi_w = (w_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        WGI_DUAL_OPERAND(wgi_y);                                                               \
        WGI_DUAL_OPERAND(wgi_z);                                                               \
        WGI_DUAL_OPERAND(wgi_w);                                                               \
        enum { wgi_i = WGI_IS_DUAL_TYPE(wgi_x), wgi_j = WGI_IS_DUAL_TYPE(wgi_y) };             \
        enum { wgi_k = WGI_IS_DUAL_TYPE(wgi_z), wgi_m = WGI_IS_DUAL_TYPE(wgi_w) };             \
        __builtin_choose_expr(                                                                 \
            wgi_i | wgi_j | wgi_k | wgi_m,                                                     \
            wgi_dual_##name(WGI_LIFT(wgi_x, wgi_i), wgi_i, WGI_LIFT(wgi_y, wgi_j), wgi_j,      \
                            WGI_LIFT(wgi_z, wgi_k), wgi_k, WGI_LIFT(wgi_w, wgi_m), wgi_m),     \
            wgi_op_##name##_v(WGI_PRIMAL(wgi_x, wgi_i), WGI_PRIMAL(wgi_y, wgi_j),              \
                              WGI_PRIMAL(wgi_z, wgi_k), WGI_PRIMAL(wgi_w, wgi_m)));            \
    })

/* Operations of the user's own: only their values and partials exist. */
#define WGI_DUAL_USER1(name, x_)                                                               \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        enum { wgi_i = WGI_IS_DUAL_TYPE(wgi_x) };                                              \
        const double wgi_a = WGI_PRIMAL(wgi_x, wgi_i), wgi_v = wgi_op_user_##name##_v(wgi_a);  \
        __builtin_choose_expr(wgi_i,                                                           \
                              wgi_dual_chain1(wgi_v, WGI_TIMES,                                \
                                              wgi_op_user_##name##_da(wgi_a, wgi_v),           \
                                              WGI_LIFT(wgi_x, wgi_i)),                         \
                              wgi_v);                                                          \
    })

#define WGI_DUAL_USER2(name, x_, y_)                                                           \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        const __auto_type wgi_y = (y_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        WGI_DUAL_OPERAND(wgi_y);                                                               \
        enum { wgi_i = WGI_IS_DUAL_TYPE(wgi_x), wgi_j = WGI_IS_DUAL_TYPE(wgi_y) };             \
        const double wgi_a = WGI_PRIMAL(wgi_x, wgi_i), wgi_b = WGI_PRIMAL(wgi_y, wgi_j);       \
        const double wgi_v = wgi_op_user_##name##_v(wgi_a, wgi_b);                             \
        __builtin_choose_expr(                                                                 \
            wgi_i | wgi_j,                                                                     \
            wgi_dual_chain2(wgi_v, wgi_i ? WGI_TIMES : WGI_NONE,                               \
                            wgi_i ? wgi_op_user_##name##_da(wgi_a, wgi_b, wgi_v) : 0,          \
                            WGI_LIFT(wgi_x, wgi_i), wgi_j ? WGI_TIMES : WGI_NONE,              \
                            wgi_j ? wgi_op_user_##name##_db(wgi_a, wgi_b, wgi_v) : 0,          \
                            WGI_LIFT(wgi_y, wgi_j)),                                           \
            wgi_v);                                                                            \
    })

#define WGI_DUAL_USER3(name, x_, y_, z_)                                                       \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        const __auto_type wgi_y = (y_);                                                        \
        const __auto_type wgi_z = (z_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        WGI_DUAL_OPERAND(wgi_y);                                                               \
        WGI_DUAL_OPERAND(wgi_z);                                                               \
        enum { wgi_i = WGI_IS_DUAL_TYPE(wgi_x), wgi_j = WGI_IS_DUAL_TYPE(wgi_y) };             \
        enum { wgi_k = WGI_IS_DUAL_TYPE(wgi_z) };                                              \
        const double wgi_a = WGI_PRIMAL(wgi_x, wgi_i), wgi_b = WGI_PRIMAL(wgi_y, wgi_j);       \
        const double wgi_c = WGI_PRIMAL(wgi_z, wgi_k);                                         \
        const double wgi_v = wgi_op_user_##name##_v(wgi_a, wgi_b, wgi_c);                      \
        __builtin_choose_expr(                                                                 \
            wgi_i | wgi_j | wgi_k,                                                             \
            wgi_dual_chain3(                                                                   \
                wgi_v,                                                                         \
                wgi_i ? WGI_TIMES : WGI_NONE,                                                  \
                wgi_i ? wgi_op_user_##name##_da(wgi_a, wgi_b, wgi_c, wgi_v) : 0,               \
                WGI_LIFT(wgi_x, wgi_i),                                                        \
                wgi_j ? WGI_TIMES : WGI_NONE,                                                  \
                wgi_j ? wgi_op_user_##name##_db(wgi_a, wgi_b, wgi_c, wgi_v) : 0,               \
                WGI_LIFT(wgi_y, wgi_j),                                                        \
                wgi_k ? WGI_TIMES : WGI_NONE,                                                  \
                wgi_k ? wgi_op_user_##name##_dc(wgi_a, wgi_b, wgi_c, wgi_v) : 0,               \
                WGI_LIFT(wgi_z, wgi_k)),                                                       \
            wgi_v);                                                                            \
    })

#define WGI_DUAL_USER4(name, x_, y_, z_, w_)                                                   \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        const __auto_type wgi_y = (y_);                                                        \
        const __auto_type wgi_z = (z_);                                                        \
        const __auto_type wgi_w = (w_);                                                        \
        WGI_DUAL_OPERAND(wgi_x);                                                               \
        WGI_DUAL_OPERAND(wgi_y);                                                               \
        WGI_DUAL_OPERAND(wgi_z);                                                               \
        WGI_DUAL_OPERAND(wgi_w);                                                               \
        enum { wgi_i = WGI_IS_DUAL_TYPE(wgi_x), wgi_j = WGI_IS_DUAL_TYPE(wgi_y) };             \
        enum { wgi_k = WGI_IS_DUAL_TYPE(wgi_z), wgi_m = WGI_IS_DUAL_TYPE(wgi_w) };             \
        const double wgi_a = WGI_PRIMAL(wgi_x, wgi_i), wgi_b = WGI_PRIMAL(wgi_y, wgi_j);       \
        const double wgi_c = WGI_PRIMAL(wgi_z, wgi_k), wgi_d = WGI_PRIMAL(wgi_w, wgi_m);       \
        const double wgi_v = wgi_op_user_##name##_v(wgi_a, wgi_b, wgi_c, wgi_d);               \
        __builtin_choose_expr(                                                                 \
            wgi_i | wgi_j | wgi_k | wgi_m,                                                     \
            wgi_dual_chain4(                                                                   \
                wgi_v,                                                                         \
                wgi_i ? WGI_TIMES : WGI_NONE,                                                  \
                wgi_i ? wgi_op_user_##name##_da(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v) : 0,        \
                WGI_LIFT(wgi_x, wgi_i),                                                        \
                wgi_j ? WGI_TIMES : WGI_NONE,                                                  \
                wgi_j ? wgi_op_user_##name##_db(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v) : 0,        \
                WGI_LIFT(wgi_y, wgi_j),                                                        \
                wgi_k ? WGI_TIMES : WGI_NONE,                                                  \
                wgi_k ? wgi_op_user_##name##_dc(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v) : 0,        \
                WGI_LIFT(wgi_z, wgi_k),                                                        \
                wgi_m ? WGI_TIMES : WGI_NONE,                                                  \
                wgi_m ? wgi_op_user_##name##_dd(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v) : 0,        \
                WGI_LIFT(wgi_w, wgi_m)),                                                       \
            wgi_v);                                                                            \
    })

#else

template <class X_> WGI_FUNCTION wg_dual wgi_any_let(const X_ &x) {
    WGI_ARE_DUAL_OPERANDS(X_);
    return lift(x);
}
template <class X_> WGI_FUNCTION double wgi_any_number(const X_ &x) {
    WGI_ARE_DUAL_OPERANDS(X_);
    return primal(x);
}
template <class F_, class X_> WGI_FUNCTION auto wgi_any_user(const X_ &x) {
    WGI_ARE_DUAL_OPERANDS(X_);
    const double a[] = {primal(x)}, v = F_::v(a);
    if constexpr (is_dual<X_>)
        return wgi_dual_chain1(v, WGI_TIMES, F_::d(std::integral_constant<int, 0>(), a, v), x);
    else return v;
}
template <class F_, class X_, class Y_>
WGI_FUNCTION auto wgi_any_user(const X_ &x, const Y_ &y) {
    WGI_ARE_DUAL_OPERANDS(X_, Y_);
    constexpr int i = is_dual<X_>, j = is_dual<Y_>;
    const double a[] = {primal(x), primal(y)}, v = F_::v(a);
    if constexpr (i || j)
        return wgi_dual_chain2(v, i ? WGI_TIMES : WGI_NONE,
                               i ? F_::d(std::integral_constant<int, 0>(), a, v) : 0, lift(x),
                               j ? WGI_TIMES : WGI_NONE,
                               j ? F_::d(std::integral_constant<int, 1>(), a, v) : 0, lift(y));
    else return v;
}
template <class F_, class X_, class Y_, class Z_>
WGI_FUNCTION auto wgi_any_user(const X_ &x, const Y_ &y, const Z_ &z) {
    WGI_ARE_DUAL_OPERANDS(X_, Y_, Z_);
    constexpr int i = is_dual<X_>, j = is_dual<Y_>, k = is_dual<Z_>;
    const double a[] = {primal(x), primal(y), primal(z)}, v = F_::v(a);
    if constexpr (i || j || k)
        return wgi_dual_chain3(v, i ? WGI_TIMES : WGI_NONE,
                               i ? F_::d(std::integral_constant<int, 0>(), a, v) : 0, lift(x),
                               j ? WGI_TIMES : WGI_NONE,
                               j ? F_::d(std::integral_constant<int, 1>(), a, v) : 0, lift(y),
                               k ? WGI_TIMES : WGI_NONE,
                               k ? F_::d(std::integral_constant<int, 2>(), a, v) : 0, lift(z));
    else return v;
}
template <class F_, class X_, class Y_, class Z_, class W_>
WGI_FUNCTION auto wgi_any_user(const X_ &x, const Y_ &y, const Z_ &z, const W_ &w) {
    WGI_ARE_DUAL_OPERANDS(X_, Y_, Z_, W_);
    constexpr int i = is_dual<X_>, j = is_dual<Y_>, k = is_dual<Z_>, m = is_dual<W_>;
    const double a[] = {primal(x), primal(y), primal(z), primal(w)}, v = F_::v(a);
    if constexpr (i || j || k || m)
        return wgi_dual_chain4(
            v, i ? WGI_TIMES : WGI_NONE, i ? F_::d(std::integral_constant<int, 0>(), a, v) : 0,
            lift(x), j ? WGI_TIMES : WGI_NONE,
            j ? F_::d(std::integral_constant<int, 1>(), a, v) : 0, lift(y),
            k ? WGI_TIMES : WGI_NONE, k ? F_::d(std::integral_constant<int, 2>(), a, v) : 0,
            lift(z), m ? WGI_TIMES : WGI_NONE,
            m ? F_::d(std::integral_constant<int, 3>(), a, v) : 0, lift(w));
    else return v;
}
#define WGI_DUAL_USER1(name, x) wgi_any_user<wgi_row_user_##name>(x)
#define WGI_DUAL_USER2(name, x, y) wgi_any_user<wgi_row_user_##name>(x, y)
#define WGI_DUAL_USER3(name, x, y, z) wgi_any_user<wgi_row_user_##name>(x, y, z)
#define WGI_DUAL_USER4(name, x, y, z, w) wgi_any_user<wgi_row_user_##name>(x, y, z, w)
#define WGI_DUAL_LET(t, x) ((void)(t), wgi_any_let(x))
#define WGI_DUAL_NUMBER(x) wgi_any_number(x)
#define WGI_DUAL_CALL1(name, x) wgi_any_##name(x)
#define WGI_DUAL_CALL2(name, x, y) wgi_any_##name(x, y)
#define WGI_DUAL_CALL3(name, x, y, z) wgi_any_##name(x, y, z)
#define WGI_DUAL_CALL4(name, x, y, z, w) wgi_any_##name(x, y, z, w)

#endif

#define WGI_LOOP static inline __attribute__((unused))

/* ---- array operations: values ---------------------------------------------------------------
 * The same arithmetic as on a tape, bit for bit, over the values of n operands that are `step`
 * bytes apart: x is where the first stands, of doubles or (wgi_dual_values) of duals. */

WGI_LOOP double wgi_at(const void *x, size_t i, size_t step) {
    return *(const double *)(const void *)((const char *)x + i * step);
}

/* The largest and the smallest; a NaN where there is one. */
WGI_LOOP double wgi_largest(size_t n, const void *x, size_t step) {
    double v = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double a = wgi_at(x, i, step);
        if (a != a) return a;
        if (a > v) v = a;
    }
    return v;
}
WGI_LOOP double wgi_smallest(size_t n, const void *x, size_t step) {
    double v = INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double a = wgi_at(x, i, step);
        if (a != a) return a;
        if (a < v) v = a;
    }
    return v;
}

/* Scaled by a power of two where squares would over- or underflow. */
WGI_LOOP double wgi_norm2(size_t n, const void *x, size_t step) {
    double big = 0, v = 0;
    int e = 0;
    for (size_t i = 0; i < n; i++) {
        const double a = fabs(wgi_at(x, i, step));
        if (a != a) return a;
        if (a > big) big = a;
    }
    if (big == 0 || big > DBL_MAX) return big;
    if (!(big > 1e-140 && big < 1e140)) (void)frexp(big, &e);
    for (size_t i = 0; i < n; i++) {
        const double a = e == 0 ? wgi_at(x, i, step) : ldexp(wgi_at(x, i, step), -e);
        v += a * a;
    }
    return e == 0 ? sqrt(v) : ldexp(sqrt(v), e);
}

/* The largest term is left out of the sum, for log1p. */
WGI_LOOP double wgi_logsumexp(size_t n, const void *x, size_t step) {
    const double big = wgi_largest(n, x, step);
    double rest = 0;
    int seen = 0;
    if (!(fabs(big) <= DBL_MAX)) return big;
    for (size_t i = 0; i < n; i++) {
        const double a = wgi_at(x, i, step);
        if (a == big && !seen) seen = 1;
        else rest += exp(a - big);
    }
    return big + log1p(rest);
}

/* ---- array operations over doubles ------------------------------------------------------ */

WGI_LOOP wg_status wgi_double_inputs(size_t n, const double *a, double *x) {
    if (n != 0 && (!a || !x)) return WG_ENULL;
    for (size_t i = 0; i < n; i++) x[i] = a[i];
    return WG_OK;
}

/* What a sum of n starts from: -0 + x is x, for every x. */
WGI_LOOP double wgi_nothing(size_t n) { return n != 0 ? -0.0 : 0.0; }

WGI_LOOP double wgi_double_sum(size_t n, const double *x) {
    double v = wgi_nothing(n);
    for (size_t i = 0; i < n; i++) v += x[i];
    return v;
}

WGI_LOOP double wgi_double_product(size_t n, const double *x) {
    double v = 1;
    for (size_t i = 0; i < n; i++) v *= x[i];
    return v;
}

WGI_LOOP double wgi_double_dot(size_t n, const double *x, const double *y) {
    double v = wgi_nothing(n);
    for (size_t i = 0; i < n; i++) v += x[i] * y[i];
    return v;
}

WGI_LOOP double wgi_double_linear(size_t n, const double *c, const double *x) {
    return wgi_double_dot(n, c, x);
}

WGI_LOOP double wgi_double_polynomial(size_t n, const double *c, double z) {
    double v = n != 0 ? c[n - 1] : 0;
    for (size_t i = n; i-- > 1;) v = v * z + c[i - 1];
    return v;
}

WGI_LOOP double wgi_double_squared_norm(size_t n, const double *x) {
    return wgi_double_dot(n, x, x);
}

WGI_LOOP double wgi_double_norm2(size_t n, const double *x) {
    return wgi_norm2(n, x, sizeof *x);
}

WGI_LOOP double wgi_double_logsumexp(size_t n, const double *x) {
    return wgi_logsumexp(n, x, sizeof *x);
}

WGI_LOOP double wgi_double_maximum(size_t n, const double *x) {
    return n == 0 ? NAN : wgi_largest(n, x, sizeof *x);
}

WGI_LOOP double wgi_double_minimum(size_t n, const double *x) {
    return n == 0 ? NAN : wgi_smallest(n, x, sizeof *x);
}

WGI_LOOP double wgi_double_mean(size_t n, const double *x) {
    return n == 0 ? NAN : wgi_double_sum(n, x) / (double)n;
}

/* The element of the whole part of the index, or n. */
WGI_LOOP size_t wgi_chosen(size_t n, double index) {
    return index >= 0 && index < (double)n ? (size_t)index : n;
}

WGI_LOOP double wgi_double_lookup(double index, size_t n, const double *x) {
    const size_t k = wgi_chosen(n, index);
    return k < n ? x[k] : NAN;
}

/* ---- variables whose derivatives are given (given.h) ------------------------------------- */

WGI_FUNCTION double wgi_double_given(double v, size_t n, const double *x, const double *p) {
    (void)n, (void)x, (void)p;
    return v;
}

typedef struct wgi_double_terms {
    double none;
} wgi_double_terms;
WGI_FUNCTION wgi_double_terms wgi_double_terms_open(void) {
    wgi_double_terms s;
    s.none = 0;
    return s;
}
WGI_FUNCTION void wgi_double_terms_add(wgi_double_terms *s, double x, double p) {
    (void)s, (void)x, (void)p;
}
WGI_FUNCTION double wgi_double_terms_close(wgi_double_terms *s, double v) {
    (void)s;
    return v;
}

/* Loops of a length that is known when it is compiled go, so that no operand stands in
 * memory. */
WGI_FUNCTION wg_dual wgi_dual_given(double v, size_t n, const wg_dual *x, const double *p) {
    if (n == 0) return wg_dual_constant(v);
    wg_dual u;
    int plain = WGI_PLAIN(p[0]);
    u.value = v;
#define WGI_STEP(t, first) u.t = p[0] * x[0].t;
    WGI_DUAL_EACH(WGI_STEP)
#undef WGI_STEP
#pragma GCC unroll 24
    for (size_t i = 1; i < n; i++) {
#define WGI_STEP(t, first) u.t += p[i] * x[i].t;
        WGI_DUAL_EACH(WGI_STEP)
#undef WGI_STEP
        plain &= WGI_PLAIN(p[i]);
    }
    if (!plain && WGI_UNLIKELY(WGI_DUAL_NAN(u))) {
        u = wgi_dual_exact1(v, p[0], x[0]);
#pragma GCC unroll 24
        for (size_t i = 1; i < n; i++)
            u = wgi_dual_exact2(v, WGI_PLUS, 1, u, WGI_TIMES, p[i], x[i]);
    }
    return u;
}

typedef struct wgi_dual_terms {
    wg_dual sum;
} wgi_dual_terms;
WGI_FUNCTION wgi_dual_terms wgi_dual_terms_open(void) {
    wgi_dual_terms s;
    s.sum = wg_dual_constant(0);
    return s;
}
WGI_FUNCTION void wgi_dual_terms_add(wgi_dual_terms *s, wg_dual x, double p) {
    s->sum = wgi_dual_chain2(0, WGI_PLUS, 1, s->sum, WGI_TIMES, p, x);
}
WGI_FUNCTION wg_dual wgi_dual_terms_close(const wgi_dual_terms *s, double v) {
    wg_dual u = s->sum;
    u.value = v;
    return u;
}

/* ---- array operations over duals -------------------------------------------------------- */

WGI_LOOP wg_status wgi_dual_inputs(size_t n, const double *a, wg_dual *x) {
    if (n != 0 && (!a || !x)) return WG_ENULL;
    for (size_t i = 0; i < n; i++) x[i] = wg_dual_constant(a[i]);
    return WG_OK;
}

/* The value v with the tangents of u and those of partial times x. */
WGI_LOOP wg_dual wgi_dual_gather(double v, wg_dual u, double partial, wg_dual x) {
    return wgi_dual_chain2(v, WGI_PLUS, 1, u, WGI_TIMES, partial, x);
}

WGI_LOOP wg_dual wgi_dual_sum(size_t n, const wg_dual *x) {
    wg_dual u = wg_dual_constant(wgi_nothing(n));
    for (size_t i = 0; i < n; i++) u = wg_dual_add(u, x[i]);
    return u;
}

WGI_LOOP wg_dual wgi_dual_product(size_t n, const wg_dual *x) {
    wg_dual u = wg_dual_constant(1);
    for (size_t i = 0; i < n; i++) u = wg_dual_mul(u, x[i]);
    return u;
}

WGI_LOOP wg_dual wgi_dual_dot(size_t n, const wg_dual *x, const wg_dual *y) {
    wg_dual u = wg_dual_constant(wgi_nothing(n));
    for (size_t i = 0; i < n; i++) u = wg_dual_add(u, wg_dual_mul(x[i], y[i]));
    return u;
}

WGI_LOOP wg_dual wgi_dual_linear(size_t n, const double *c, const wg_dual *x) {
    wg_dual u = wg_dual_constant(wgi_nothing(n));
    for (size_t i = 0; i < n; i++)
        u = wgi_dual_gather(u.value + c[i] * x[i].value, u, c[i], x[i]);
    return u;
}

WGI_LOOP wg_dual wgi_dual_polynomial(size_t n, const wg_dual *c, wg_dual z) {
    wg_dual u = n != 0 ? c[n - 1] : wg_dual_constant(0);
    for (size_t i = n; i-- > 1;) u = wg_dual_add(wg_dual_mul(u, z), c[i - 1]);
    return u;
}

WGI_LOOP wg_dual wgi_dual_squared_norm(size_t n, const wg_dual *x) {
    wg_dual u = wg_dual_constant(wgi_nothing(n));
    for (size_t i = 0; i < n; i++)
        u = wgi_dual_gather(u.value + x[i].value * x[i].value, u, 2 * x[i].value, x[i]);
    return u;
}

/* Where the value of the first of n duals stands. */
WGI_LOOP const double *wgi_dual_values(size_t n, const wg_dual *x) {
    return n != 0 ? &x->value : WGI_NULL;
}

/* Partials x / |x|, from scaled numbers where |x| overflowed or lost its bits; 0 at the zero
 * vector; infinite entries share the derivative. */
WGI_LOOP wg_dual wgi_dual_norm2(size_t n, const wg_dual *x) {
    const double v = wgi_norm2(n, wgi_dual_values(n, x), sizeof *x);
    wg_dual u = wg_dual_constant(v);
    size_t infinite = 0;
    double big = 0, r = v;
    int e = 0;
    for (size_t i = 0; i < n; i++) {
        infinite += fabs(x[i].value) > DBL_MAX;
        big = fmax(big, fabs(x[i].value));
    }
    if (infinite == 0 && (v > DBL_MAX || (v != 0 && v <= 1e-290))) {
        (void)frexp(big, &e);
        r = 0;
        for (size_t i = 0; i < n; i++) r += ldexp(x[i].value, -e) * ldexp(x[i].value, -e);
        r = sqrt(r);
    }
    for (size_t i = 0; i < n && v != 0; i++) {
        const double a = e == 0 ? x[i].value : ldexp(x[i].value, -e);
        const double share = copysign(1 / sqrt((double)infinite), a);
        u = wgi_dual_gather(v, u, v != v ? v : infinite == 0 ? a / r : fabs(a) > DBL_MAX ? share : 0,
                            x[i]);
    }
    return u;
}

WGI_LOOP wg_dual wgi_dual_logsumexp(size_t n, const wg_dual *x) {
    const double v = wgi_logsumexp(n, wgi_dual_values(n, x), sizeof *x),
                 big = wgi_largest(n, wgi_dual_values(n, x), sizeof *x);
    wg_dual u = wg_dual_constant(v);
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i].value == big ? 1 : exp(x[i].value - big);
    for (size_t i = 0; i < n; i++)
        u = wgi_dual_gather(v, u, (x[i].value == big ? 1 : exp(x[i].value - big)) / sum, x[i]);
    return u;
}

/* Entries equal to v share the derivative. */
WGI_LOOP wg_dual wgi_dual_extremum(size_t n, const wg_dual *x, double v) {
    wg_dual u = wg_dual_constant(v);
    size_t ties = 0;
    for (size_t i = 0; i < n; i++) ties += x[i].value == v;
    for (size_t i = 0; i < n; i++)
        u = wgi_dual_gather(v, u, v != v ? v : x[i].value == v ? 1 / (double)ties : 0, x[i]);
    return u;
}

WGI_LOOP wg_dual wgi_dual_maximum(size_t n, const wg_dual *x) {
    return wgi_dual_extremum(
        n, x, n == 0 ? NAN : wgi_largest(n, wgi_dual_values(n, x), sizeof *x));
}

WGI_LOOP wg_dual wgi_dual_minimum(size_t n, const wg_dual *x) {
    return wgi_dual_extremum(
        n, x, n == 0 ? NAN : wgi_smallest(n, wgi_dual_values(n, x), sizeof *x));
}

WGI_LOOP wg_dual wgi_dual_mean(size_t n, const wg_dual *x) {
    if (n == 0) return wg_dual_constant(NAN);
    const wg_dual u = wgi_dual_sum(n, x);
    return wgi_dual_chain1(u.value / (double)n, WGI_TIMES, 1 / (double)n, u);
}

WGI_LOOP wg_dual wgi_dual_lookup(wg_dual index, size_t n, const wg_dual *x) {
    const size_t k = wgi_chosen(n, index.value);
    return k < n ? x[k] : wg_dual_constant(NAN);
}

#endif

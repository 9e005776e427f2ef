/* SPDX-License-Identifier: MIT */
/* Dual numbers by value: forward mode without a tape.
 *
 * A wg_dual is a value and a row of WG_DUAL_WIDTH tangents. Nothing is stored anywhere: a loop
 * of any length runs in constant memory, and the optimiser keeps the row in vector registers.
 * For every operation wg_sin of wengert/scalar.h there is a function wg_dual_sin of duals.
 *
 *     wg_dual x = wg_dual_input(3.0, 0), y = wg_dual_input(4.0, 1);
 *     wg_dual r = wg_dual_hypot(x, y);
 *     wg_dual_value(r), wg_dual_tangent(r, 0), wg_dual_tangent(r, 1)           5, 0.6, 0.8
 *
 * Operations that mix duals with numbers of any arithmetic type, under the names wg_add, wg_sin
 * that a tape uses: wengert/generic.h.
 *
 * WG_DUAL_WIDTH is 1, 2, 4, 8 or 16, defined before the first header of Wengert is included; it
 * may differ from one translation unit to the next (the type then does, too). In memory a
 * wg_dual is its tangents and then its value, 1 + WG_DUAL_WIDTH consecutive doubles, whatever
 * vectors the compiler may use.
 *
 * Letters: a b c d values, v the value of the result, x y z w duals, l a lane, i j k m is an
 * operand a dual (1) or a number (0).
 * Rule: a tangent is the sum of partial times tangent; each product is exactly 0 when either
 * factor is 0, lane by lane; partials that meet a number are not computed. */
#ifndef WENGERT_DUAL_H
#define WENGERT_DUAL_H

#include <wengert/scalar.h>

#pragma GCC system_header

#ifndef WG_DUAL_WIDTH
#define WG_DUAL_WIDTH 4
#endif
#if WG_DUAL_WIDTH != 1 && WG_DUAL_WIDTH != 2 && WG_DUAL_WIDTH != 4 && WG_DUAL_WIDTH != 8 &&    \
    WG_DUAL_WIDTH != 16
#error "wengert: WG_DUAL_WIDTH is 1, 2, 4, 8 or 16"
#endif

/* ---- the row: packs as wide as a vector register -------------------------------------------
 * One vector type wider than the machine's would live in memory. The reduced alignment keeps
 * the layout and the calling convention independent of -mavx. */

#if WG_DUAL_WIDTH == 1
#define WGI_PACK 1
#elif defined(__AVX512F__) && WG_DUAL_WIDTH >= 8
#define WGI_PACK 8
#elif defined(__AVX__) && WG_DUAL_WIDTH >= 4
#define WGI_PACK 4
#else
#define WGI_PACK 2
#endif

#if WGI_PACK == 1
typedef double wgi_pack;
#else
typedef double wgi_pack __attribute__((vector_size(8 * WGI_PACK), aligned(8)));
typedef long long wgi_mask __attribute__((vector_size(8 * WGI_PACK), aligned(8)));
#endif

/* WGI_DUAL_EACH(X): X(field, first lane) for every pack; WGI_DUAL_NAN(x): is a lane a NaN? */
#define WGI_DUAL_EACH_1(X) X(t0, 0)
#define WGI_DUAL_EACH_2(X) WGI_DUAL_EACH_1(X) X(t1, WGI_PACK)
#define WGI_DUAL_EACH_4(X) WGI_DUAL_EACH_2(X) X(t2, 2 * WGI_PACK) X(t3, 3 * WGI_PACK)
#define WGI_DUAL_EACH_8(X)                                                                          \
    WGI_DUAL_EACH_4(X)                                                                              \
    X(t4, 4 * WGI_PACK) X(t5, 5 * WGI_PACK) X(t6, 6 * WGI_PACK) X(t7, 7 * WGI_PACK)
#define WGI_NAN_1(x) WGI_UNORDERED(x.t0, x.t0)
#define WGI_NAN_2(x) WGI_UNORDERED(x.t0, x.t1)
#define WGI_NAN_4(x) WGI_EITHER(WGI_NAN_2(x), WGI_UNORDERED(x.t2, x.t3))
#define WGI_NAN_8(x)                                                                           \
    WGI_EITHER(WGI_NAN_4(x),                                                                   \
               WGI_EITHER(WGI_UNORDERED(x.t4, x.t5), WGI_UNORDERED(x.t6, x.t7)))

#if WG_DUAL_WIDTH / WGI_PACK == 1
#define WGI_DUAL_EACH WGI_DUAL_EACH_1
#define WGI_DUAL_NAN(x) WGI_SOME(WGI_NAN_1(x))
#elif WG_DUAL_WIDTH / WGI_PACK == 2
#define WGI_DUAL_EACH WGI_DUAL_EACH_2
#define WGI_DUAL_NAN(x) WGI_SOME(WGI_NAN_2(x))
#elif WG_DUAL_WIDTH / WGI_PACK == 4
#define WGI_DUAL_EACH WGI_DUAL_EACH_4
#define WGI_DUAL_NAN(x) WGI_SOME(WGI_NAN_4(x))
#else
#define WGI_DUAL_EACH WGI_DUAL_EACH_8
#define WGI_DUAL_NAN(x) WGI_SOME(WGI_NAN_8(x))
#endif

typedef struct wg_dual {
#define WGI_FIELD(t, first) wgi_pack t;
    WGI_DUAL_EACH(WGI_FIELD)
#undef WGI_FIELD
    double value;
} wg_dual;

/* The lanes in which a or b is a NaN; those of both; is there one?  d times the pack x by the
 * zero rule. */
#if WGI_PACK == 1
#define WGI_UNORDERED(a, b) ((a) != (a) || (b) != (b))
#define WGI_EITHER(p, q) ((p) || (q))
#define WGI_SOME(p) (p)
#define WGI_PACK_PRODUCT(d, x, zero) ((d) != 0 && (x) != 0 ? (d) * (x) : 0)
#else
#if WGI_PACK == 8
#define WGI_UNORDERED(a, b) __builtin_ia32_cmppd512_mask(a, b, 3, -1, 4)
#define WGI_EITHER(p, q) ((p) | (q))
#define WGI_SOME(p) (p)
#else
#define WGI_EITHER(p, q) ((wgi_pack)((wgi_mask)(p) | (wgi_mask)(q)))
#if WGI_PACK == 4
#define WGI_UNORDERED(a, b) __builtin_ia32_cmppd256(a, b, 3)
#define WGI_SOME(p) __builtin_ia32_movmskpd256(p)
#elif defined(__SSE2__)
#define WGI_UNORDERED(a, b) __builtin_ia32_cmpunordpd(a, b)
#define WGI_SOME(p) __builtin_ia32_movmskpd(p)
#else
#define WGI_UNORDERED(a, b) ((wgi_pack)(((a) != (a)) | ((b) != (b))))
#define WGI_SOME(p) (((wgi_mask)(p))[0] || ((wgi_mask)(p))[1])
#endif
#endif
#define WGI_PACK_PRODUCT(d, x, zero)                                                           \
    ((wgi_pack)((wgi_mask)((d) * (x)) & (wgi_mask)((x) != (zero)) &                            \
                (wgi_mask)((zero) + (d) != (zero))))
#endif

/* ---- seeds and parts -------------------------------------------------------------------- */

/* wg_dual_constant - a value without tangents. */
WGI_FUNCTION wg_dual wg_dual_constant(double value) {
    const wgi_pack zero = {0};
    wg_dual x;
    x.value = value;
#define WGI_STEP(t, first) x.t = zero;
    WGI_DUAL_EACH(WGI_STEP)
#undef WGI_STEP
    return x;
}

/* wg_dual_with - x with the tangent of one lane replaced. No such lane: x. */
WGI_FUNCTION wg_dual wg_dual_with(wg_dual x, size_t lane, double tangent) {
#if WGI_PACK == 1
    if (lane == 0) x.t0 = tangent;
#else
#define WGI_STEP(t, first)                                                                     \
    if (lane / WGI_PACK == first / WGI_PACK) x.t[lane % WGI_PACK] = tangent;
    WGI_DUAL_EACH(WGI_STEP)
#undef WGI_STEP
#endif
    return x;
}

/* wg_dual_input - an independent variable: tangent 1 in its lane, 0 in the others. */
WGI_FUNCTION wg_dual wg_dual_input(double value, size_t lane) {
    return wg_dual_with(wg_dual_constant(value), lane, 1);
}

WGI_FUNCTION double wg_dual_value(wg_dual x) { return x.value; }

/* wg_dual_tangent - of one lane. No such lane: NaN. */
WGI_FUNCTION double wg_dual_tangent(wg_dual x, size_t lane) {
#if WGI_PACK == 1
    if (lane == 0) return x.t0;
#else
#define WGI_STEP(t, first)                                                                     \
    if (lane / WGI_PACK == first / WGI_PACK) return x.t[lane % WGI_PACK];
    WGI_DUAL_EACH(WGI_STEP)
#undef WGI_STEP
#endif
    return WGI_NAN;
}

/* ---- the chain rule ------------------------------------------------------------------------
 * What stands before a tangent: nothing (the operand is a number, or the partial is identically
 * zero), 1, -1, or a partial that has to be multiplied. A sum of products without a NaN has no
 * product that the zero rule would have changed; one with a NaN is computed again, by a call,
 * so that little of it stands where the operation does. Where all partials are numbers that
 * the compiler knows, and neither 0 nor infinite, there is nothing to look for. */

enum { WGI_NONE = 0, WGI_PLUS = 1, WGI_MINUS = 2, WGI_TIMES = 3 };

#define WGI_COLD static __attribute__((noinline, cold, unused))
#define WGI_PLAIN(d) (__builtin_constant_p(d) && (d) != 0 && (d) - (d) == 0)
#define WGI_TERM(r, d, x) ((r) == WGI_TIMES ? (d) * (x) : (r) == WGI_MINUS ? -(x) : (x))
#define WGI_TERM_EXACT(r, d, x, zero)                                                          \
    ((r) == WGI_TIMES ? WGI_PACK_PRODUCT(d, x, zero) : (r) == WGI_MINUS ? -(x) : (x))

WGI_COLD wg_dual wgi_dual_exact1(double v, double d, wg_dual x) {
    const wgi_pack zero = {0};
    wg_dual u;
    u.value = v;
#define WGI_STEP(t, first) u.t = WGI_PACK_PRODUCT(d, x.t, zero);
    WGI_DUAL_EACH(WGI_STEP)
#undef WGI_STEP
    return u;
}

WGI_COLD wg_dual wgi_dual_exact2(double v, int r, double d, wg_dual x, int s, double e,
                                 wg_dual y) {
    const wgi_pack zero = {0};
    wg_dual u;
    u.value = v;
#define WGI_STEP(t, first)                                                                     \
    u.t = WGI_TERM_EXACT(r, d, x.t, zero) + WGI_TERM_EXACT(s, e, y.t, zero);
    WGI_DUAL_EACH(WGI_STEP)
#undef WGI_STEP
    return u;
}

WGI_FUNCTION wg_dual wgi_dual_chain1(double v, int r, double d, wg_dual x) {
    wg_dual u;
    if (r == WGI_NONE) return wg_dual_constant(v);
    u.value = v;
#define WGI_STEP(t, first) u.t = WGI_TERM(r, d, x.t);
    WGI_DUAL_EACH(WGI_STEP)
#undef WGI_STEP
    if (r == WGI_TIMES && !WGI_PLAIN(d) && WGI_UNLIKELY(WGI_DUAL_NAN(u)))
        return wgi_dual_exact1(v, d, x);
    return u;
}

WGI_FUNCTION wg_dual wgi_dual_chain2(double v, int r, double d, wg_dual x, int s, double e,
                                     wg_dual y) {
    wg_dual u;
    if (r == WGI_NONE) return wgi_dual_chain1(v, s, e, y);
    if (s == WGI_NONE) return wgi_dual_chain1(v, r, d, x);
    u.value = v;
#define WGI_STEP(t, first) u.t = WGI_TERM(r, d, x.t) + WGI_TERM(s, e, y.t);
    WGI_DUAL_EACH(WGI_STEP)
#undef WGI_STEP
    if (((r == WGI_TIMES && !WGI_PLAIN(d)) || (s == WGI_TIMES && !WGI_PLAIN(e))) &&
        WGI_UNLIKELY(WGI_DUAL_NAN(u)))
        return wgi_dual_exact2(v, r, d, x, s, e, y);
    return u;
}

WGI_FUNCTION wg_dual wgi_dual_chain3(double v, int r, double d, wg_dual x, int s, double e,
                                     wg_dual y, int q, double f, wg_dual z) {
    return wgi_dual_chain2(v, WGI_PLUS, 1, wgi_dual_chain2(v, r, d, x, s, e, y), q, f, z);
}

WGI_FUNCTION wg_dual wgi_dual_chain4(double v, int r, double d, wg_dual x, int s, double e,
                                     wg_dual y, int q, double f, wg_dual z, int p, double g,
                                     wg_dual w) {
    return wgi_dual_chain2(v, WGI_PLUS, 1, wgi_dual_chain3(v, r, d, x, s, e, y, q, f, z), p, g, w);
}

/* ---- C++: operands in any position ---------------------------------------------------------
 * wgi_any_NAME of duals and numbers for wengert/generic.h: of numbers alone, a number.
 * wg::NAME, as in wengert/statement.hpp, and operators, where one operand is a dual. */

/* Kernels for three types (generic.h) and operators of duals need C++17. */
#if defined(__cplusplus) && __cplusplus >= 201703L
#include <type_traits>

namespace wg {
using dual = wg_dual;
namespace detail {
template <class X_> constexpr bool is_dual = std::is_same_v<X_, wg_dual>;
template <class... X_>
constexpr bool are_dual_operands = ((is_dual<X_> || std::is_arithmetic_v<X_>)&&...);
template <class... X_>
constexpr bool one_is_dual = (is_dual<X_> || ...) && are_dual_operands<X_...>;
template <std::size_t None_, class... X_>
using if_dual = std::enable_if_t<None_ == 0 && one_is_dual<X_...>, int>;
WGI_FUNCTION wg_dual lift(const wg_dual &x) { return x; }
WGI_FUNCTION wg_dual lift(double x) { return wg_dual_constant(x); }
WGI_FUNCTION double primal(const wg_dual &x) { return x.value; }
WGI_FUNCTION double primal(double x) { return x; }
} // namespace detail
} // namespace wg

#define WGI_ARE_DUAL_OPERANDS(...)                                                             \
    using namespace wg::detail;                                                                \
    static_assert(are_dual_operands<__VA_ARGS__>,                                              \
                  "wengert: an operand is neither a dual nor a number: a pointer, or a taped " \
                  "variable?")
#define WGI_DUAL_TEMPLATE1(space, name)                                                        \
    template <class X_> WGI_FUNCTION auto wgi_any_##name(const X_ &x) {                        \
        WGI_ARE_DUAL_OPERANDS(X_);                                                             \
        if constexpr (one_is_dual<X_>) return wgi_dual_##name(x, 1);                           \
        else return wgi_op_##name##_v(static_cast<double>(x));                                 \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X_, class... None_, detail::if_dual<sizeof...(None_), X_> = 0>             \
    WGI_FUNCTION wg_dual(name)(const X_ &x, None_...) {                                        \
        return wgi_any_##name(x);                                                              \
    }                                                                                          \
    }                                                                                          \
    }
#define WGI_DUAL_TEMPLATE2(space, name)                                                        \
    template <class X_, class Y_> WGI_FUNCTION auto wgi_any_##name(const X_ &x, const Y_ &y) { \
        WGI_ARE_DUAL_OPERANDS(X_, Y_);                                                         \
        if constexpr (one_is_dual<X_, Y_>)                                                     \
            return wgi_dual_##name(lift(x), is_dual<X_>, lift(y), is_dual<Y_>);                \
        else return wgi_op_##name##_v(static_cast<double>(x), static_cast<double>(y));         \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X_, class Y_, class... None_,                                              \
              detail::if_dual<sizeof...(None_), X_, Y_> = 0>                                   \
    WGI_FUNCTION wg_dual(name)(const X_ &x, const Y_ &y, None_...) {                           \
        return wgi_any_##name(x, y);                                                           \
    }                                                                                          \
    }                                                                                          \
    }
#define WGI_DUAL_TEMPLATE3(space, name)                                                        \
    template <class X_, class Y_, class Z_>                                                    \
    WGI_FUNCTION auto wgi_any_##name(const X_ &x, const Y_ &y, const Z_ &z) {                  \
        WGI_ARE_DUAL_OPERANDS(X_, Y_, Z_);                                                     \
        if constexpr (one_is_dual<X_, Y_, Z_>)                                                 \
            return wgi_dual_##name(lift(x), is_dual<X_>, lift(y), is_dual<Y_>, lift(z),        \
                                   is_dual<Z_>);                                               \
        else                                                                                   \
            return wgi_op_##name##_v(static_cast<double>(x), static_cast<double>(y),           \
                                     static_cast<double>(z));                                  \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X_, class Y_, class Z_, class... None_,                                    \
              detail::if_dual<sizeof...(None_), X_, Y_, Z_> = 0>                               \
    WGI_FUNCTION wg_dual(name)(const X_ &x, const Y_ &y, const Z_ &z, None_...) {              \
        return wgi_any_##name(x, y, z);                                                        \
    }                                                                                          \
    }                                                                                          \
    }
#define WGI_DUAL_TEMPLATE4(space, name)                                                        \
    template <class X_, class Y_, class Z_, class W_>                                          \
    WGI_FUNCTION auto wgi_any_##name(const X_ &x, const Y_ &y, const Z_ &z, const W_ &w) {     \
        WGI_ARE_DUAL_OPERANDS(X_, Y_, Z_, W_);                                                 \
        if constexpr (one_is_dual<X_, Y_, Z_, W_>)                                             \
            return wgi_dual_##name(lift(x), is_dual<X_>, lift(y), is_dual<Y_>, lift(z),        \
                                   is_dual<Z_>, lift(w), is_dual<W_>);                         \
        else                                                                                   \
            return wgi_op_##name##_v(static_cast<double>(x), static_cast<double>(y),           \
                                     static_cast<double>(z), static_cast<double>(w));          \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X_, class Y_, class Z_, class W_, class... None_,                          \
              detail::if_dual<sizeof...(None_), X_, Y_, Z_, W_> = 0>                           \
    WGI_FUNCTION wg_dual(name)(const X_ &x, const Y_ &y, const Z_ &z, const W_ &w, None_...) { \
        return wgi_any_##name(x, y, z, w);                                                     \
    }                                                                                          \
    }                                                                                          \
    }
#define WGI_DUAL_OPERATOR1(sign, name)                                                         \
    namespace wg {                                                                             \
    template <class X_, std::enable_if_t<detail::one_is_dual<X_>, int> = 0>                    \
    WGI_FUNCTION wg_dual operator sign(const X_ &x) {                                          \
        return wgi_any_##name(x);                                                              \
    }                                                                                          \
    }
#define WGI_DUAL_OPERATOR2(sign, name)                                                         \
    namespace wg {                                                                             \
    template <class X_, class Y_, std::enable_if_t<detail::one_is_dual<X_, Y_>, int> = 0>      \
    WGI_FUNCTION wg_dual operator sign(const X_ &x, const Y_ &y) {                             \
        return wgi_any_##name(x, y);                                                           \
    }                                                                                          \
    }
#endif

#include <wengert/dual_ops.h>

#endif

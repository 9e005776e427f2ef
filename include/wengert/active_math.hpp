/* SPDX-License-Identifier: MIT */
/* What <cmath> has for double and the table of operations has not, for wg::active: found by
 * argument-dependent lookup, as all functions of the table are. Included by active.hpp.
 *
 * Functions that give integers, or that take a number apart by its exponent, have the
 * derivative of the piece they are on; on tapes that keep their code they leave a guard that
 * it is this piece. */
#ifndef WENGERT_ACTIVE_MATH_HPP
#define WENGERT_ACTIVE_MATH_HPP

#include <wengert/active.hpp>

#include <cfloat>

#pragma GCC system_header

namespace wg {
namespace detail {

template <std::size_t None_, class X_>
using if_own_alone = typename std::enable_if<None_ == 0 && operand<X_>::own, int>::type;
template <std::size_t None_, class X_, class To>
using if_operand =
    typename std::enable_if<None_ == 0 && operand<X_>::is && std::is_same<To, active>::value,
                            int>::type;
/* 2^n by factors that are numbers, the last of which alone may make the result small. */
WGI_FUNCTION active by_power(const active &x, long n) {
    constexpr int MOST = 1000;
    const double big = std::ldexp(1.0, n < 0 ? -MOST : MOST);
    active y = x;
    const long rest = n % MOST;
    long times = n / MOST;
    if (times < 0) times = -times;
    if (times > 3) times = 3;
    if (rest != 0) y *= std::ldexp(1.0, static_cast<int>(rest));
    for (; times > 0; times--) y *= big;
    return y;
}

/* That |x| stays where its exponent is k: 2^k <= |x| < 2^(k+1), and finite. */
WGI_FUNCTION void guard_exponent(const active &x, int k) {
    if (!guards()) return;
    const active size = wg_fabs(x);
    (void)(size >= std::ldexp(1.0, k));
    (void)(size < std::ldexp(1.0, k + 1));
}

/* That x stays 0, infinite or a NaN, if it is. */
WGI_FUNCTION bool guard_special(const active &x) {
    const double v = value(x);
    if (v == 0) return static_cast<void>(x == 0), true;
    if (std::isfinite(v)) return false;
    if (v != v) return (void)(x != x), true;
    return (void)(wg_fabs(x) > DBL_MAX), true;
}

} // namespace detail

#define WGI_ONE(type, name)                                                                    \
    template <class X_, class... None_, detail::if_own<sizeof...(None_), X_> = 0>              \
    WGI_FUNCTION type name(const X_ &x, None_...)

template <class X_, class... None_, detail::if_own<sizeof...(None_), X_> = 0>
WGI_FUNCTION detail::outcome<wgi_row_fabs, X_> abs(const X_ &x, None_...) {
    return fabs(x);
}
template <class X_, class... None_, detail::if_own_alone<sizeof...(None_), X_> = 0>
WGI_FUNCTION detail::outcome<wgi_row_rint, X_> nearbyint(const X_ &x, None_...) {
    return rint(x);
}
/* As std::max and std::min have it, also of a NaN, for operands of any two types: the first of
 * two equal ones, to which the derivative goes. */
template <class X_, class Y_, class... None_, detail::if_own<sizeof...(None_), X_, Y_> = 0>
WGI_FUNCTION active max(const X_ &x, const Y_ &y, None_...) {
    const active a = x, b = y;
    return wg_select_lt(a, b, b, a);
}
template <class X_, class Y_, class... None_, detail::if_own<sizeof...(None_), X_, Y_> = 0>
WGI_FUNCTION active min(const X_ &x, const Y_ &y, None_...) {
    const active a = x, b = y;
    return wg_select_lt(b, a, b, a);
}
template <class X_, class Y_, class Z_, class... None_,
          detail::if_own<sizeof...(None_), X_, Y_, Z_> = 0>
WGI_FUNCTION active hypot(const X_ &x, const Y_ &y, const Z_ &z, None_...) {
    return hypot(active(hypot(active(x), active(y))), active(z));
}
template <class X_, class Y_, class Z_, class... None_,
          detail::if_own<sizeof...(None_), X_, Y_, Z_> = 0>
WGI_FUNCTION active lerp(const X_ &a, const Y_ &b, const Z_ &t, None_...) {
    const active from = a, to = b;
    return from + t * (to - from);
}

/* ---- to integers ---- */

#define WGI_TO_NEAREST(type, name, row)                                                        \
    WGI_ONE(type, name) {                                                                      \
        const active y = wg_##row(x);                                                          \
        return detail::whole_number(y, std::name(value(y)));                                   \
    }
WGI_TO_NEAREST(long, lround, round)
WGI_TO_NEAREST(long long, llround, round)
WGI_TO_NEAREST(long, lrint, rint)
WGI_TO_NEAREST(long long, llrint, rint)
#undef WGI_TO_NEAREST

/* ---- by the exponent ---- */

template <class X_, class... None_, detail::if_own_alone<sizeof...(None_), X_> = 0>
WGI_FUNCTION active ldexp(const X_ &x, int n, None_...) {
    return detail::by_power(x, n);
}
template <class X_, class... None_, detail::if_own_alone<sizeof...(None_), X_> = 0>
WGI_FUNCTION active scalbn(const X_ &x, int n, None_...) {
    return detail::by_power(x, n);
}
template <class X_, class... None_, detail::if_own_alone<sizeof...(None_), X_> = 0>
WGI_FUNCTION active scalbln(const X_ &x, long n, None_...) {
    return detail::by_power(x, n);
}
WGI_ONE(int, ilogb) {
    const active y = x;
    const int k = std::ilogb(value(y));
    if (!detail::guard_special(y)) detail::guard_exponent(y, k);
    return k;
}
WGI_ONE(active, logb) {
    const active y = x;
    const double k = std::logb(value(y));
    if (!detail::guard_special(y)) detail::guard_exponent(y, static_cast<int>(k));
    return k;
}
template <class X_, class... None_, detail::if_own_alone<sizeof...(None_), X_> = 0>
WGI_FUNCTION active frexp(const X_ &x, int *exponent, None_...) {
    const active y = x;
    const double v = value(y);
    *exponent = 0;
    if (detail::guard_special(y)) return y;
    const int k = std::ilogb(v);
    detail::guard_exponent(y, k);
    *exponent = k + 1;
    return detail::by_power(y, -(k + 1));
}
template <class X_, class To, class... None_, detail::if_operand<sizeof...(None_), X_, To> = 0>
WGI_FUNCTION active modf(const X_ &x, To *whole, None_...) {
    const active y = x;
    *whole = wg_trunc(y);
    if (wg_fabs(y) > DBL_MAX) return wg_copysign(0, y);
    return wg_fmod(y, 1);
}

/* ---- remainders and neighbours ---- */

namespace detail {
/* The distance to a neighbour is that of the exponent, and of the side. */
WGI_FUNCTION active neighbour(const active &x, double to) {
    const double v = value(x),
                 lowest = std::isfinite(v) && v != 0 ? std::ldexp(1.0, std::ilogb(v)) : 0;
    if (!guard_special(x)) {
        guard_exponent(x, std::ilogb(v));
        (void)(x < 0);
        (void)(wg_fabs(x) == lowest);
    }
    if (std::isfinite(to - v)) return x + (to - v);
    (void)(x == v);
    return to;
}
/* That x stays on its side of y, or beside a NaN. */
WGI_FUNCTION void guard_order(const active &x, const active &y) {
    (void)(x < y), (void)(x == y), (void)(x > y);
}
} // namespace detail

template <class X_, class Y_, class... None_, detail::if_own<sizeof...(None_), X_, Y_> = 0>
WGI_FUNCTION active remquo(const X_ &x, const Y_ &y, int *quotient, None_...) {
    const active a = x, b = y, r = remainder(a, b);
    (void)std::remquo(value(a), value(b), quotient);
    if (detail::guards()) {
        const active whole = wg_rint((a - r) / b);
        (void)(wg_fabs(whole) <= DBL_MAX && whole == value(whole));
    }
    return r;
}
template <class X_, class Y_, class... None_, detail::if_own<sizeof...(None_), X_, Y_> = 0>
WGI_FUNCTION active nextafter(const X_ &x, const Y_ &y, None_...) {
    const active a = x, b = y;
    detail::guard_order(a, b);
    return detail::neighbour(a, std::nextafter(value(a), value(b)));
}
template <class X_, class... None_, detail::if_own_alone<sizeof...(None_), X_> = 0>
WGI_FUNCTION active nexttoward(const X_ &x, long double y, None_...) {
    const active a = x;
    detail::guard_order(a, static_cast<double>(y));
    return detail::neighbour(a, std::nexttoward(value(a), y));
}

/* ---- questions: those of comparisons leave their guards ---- */

WGI_ONE(bool, isnan) {
    const active y = x;
    return y != y;
}
WGI_ONE(bool, isinf) { return wg_fabs(x) > DBL_MAX; }
WGI_ONE(bool, isfinite) { return wg_fabs(x) <= DBL_MAX; }
WGI_ONE(bool, isnormal) {
    const active size = wg_fabs(x);
    return size >= DBL_MIN && size <= DBL_MAX;
}
/* Of zeros and NaNs, too, which no comparison tells from their opposites. */
WGI_ONE(bool, signbit) {
    if (detail::guards()) return wg_copysign(1, x) < 0;
    return std::signbit(value(x));
}
WGI_ONE(int, fpclassify) {
    const active y = x;
    const int kind = std::fpclassify(value(y));
    if (!detail::guard_special(y)) {
        const active size = wg_fabs(y);
        (void)(size < DBL_MIN);
        if (kind == FP_SUBNORMAL) (void)(y == 0);
        else (void)(size <= DBL_MAX);
    }
    return kind;
}

#define WGI_QUESTION(name, sign)                                                               \
    template <class X_, class Y_, class... None_,                                              \
              detail::if_own<sizeof...(None_), X_, Y_> = 0>                                    \
    WGI_FUNCTION bool name(const X_ &x, const Y_ &y, None_...) {                               \
        return x sign y;                                                                       \
    }
WGI_QUESTION(isgreater, >)
WGI_QUESTION(isgreaterequal, >=)
WGI_QUESTION(isless, <)
WGI_QUESTION(islessequal, <=)
#undef WGI_QUESTION
template <class X_, class Y_, class... None_, detail::if_own<sizeof...(None_), X_, Y_> = 0>
WGI_FUNCTION bool islessgreater(const X_ &x, const Y_ &y, None_...) {
    const active a = x, b = y;
    return a < b || a > b;
}
template <class X_, class Y_, class... None_, detail::if_own<sizeof...(None_), X_, Y_> = 0>
WGI_FUNCTION bool isunordered(const X_ &x, const Y_ &y, None_...) {
    return isnan(x) || isnan(y);
}

#undef WGI_ONE

} // namespace wg

#endif

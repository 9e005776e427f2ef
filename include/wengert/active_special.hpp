/* SPDX-License-Identifier: MIT */
/* The special functions that C++17 adds to <cmath>, for wg::active, where the standard library
 * has them: found by argument-dependent lookup, and in namespace std. Included by active.hpp.
 *
 * Polynomials by their recurrences, beta by lgamma, complete elliptic integrals by twelve steps
 * of the arithmetic-geometric mean: statements like all others. Values are within some units in
 * the last place of those of double. Bessel functions and expint have the values of double and
 * are one statement each, with two derivatives, by the argument: the order is a number. At 0
 * derivatives of Bessel functions are NaN, but for the first of order 0. What has no derivative
 * here (riemann_zeta, incomplete elliptic integrals and those of the third kind) is refused by
 * name.
 *
 * Source: DLMF 10.6, 10.25, 10.29, 10.47, 10.51 (Bessel), 14.10, 18.9 (polynomials), 19.8
 * (elliptic), 5.12 (beta). */
#ifndef WENGERT_ACTIVE_SPECIAL_HPP
#define WENGERT_ACTIVE_SPECIAL_HPP

#include <wengert/active.hpp>

#pragma GCC system_header

/* Before C++17 they are there where they were asked for; <tr1/cmath>, as Boost includes it,
 * has others. */
#if defined(__cpp_lib_math_special_functions) ||                                               \
    (defined(__STDCPP_MATH_SPEC_FUNCS__) && defined(__STDCPP_WANT_MATH_SPEC_FUNCS__) &&        \
     __STDCPP_WANT_MATH_SPEC_FUNCS__ != 0)

#include <wengert/operation.h>

namespace wg {
namespace detail {

WG_OPERATION1(expint, std::expint(a), std::exp(a) / a, std::exp(a) / a * (1 - 1 / a), SING,
              "DLMF 6.2")

/* a: the argument, b: the order, a number. SIGN: of f in f'' = -f'/a + (SIGN + b^2/a^2) f;
 * AFTER: of the function of the next order in f' = b/a f + AFTER. */
#define WGI_BESSEL(name, SIGN, AFTER)                                                          \
    WGI_FUNCTION double name##_slope(double a, double b, double v) {                           \
        return (b == 0 ? 0 : b / a * v) AFTER std::name(b + 1, a);                             \
    }                                                                                          \
    WGI_FUNCTION double name##_curve(double a, double b, double v) {                           \
        return -name##_slope(a, b, v) / a + (SIGN 1 + b / a * (b / a)) * v;                    \
    }                                                                                          \
    WG_OPERATION2(name, std::name(b, a), name##_slope(a, b, v), WGI_NAN, name##_curve(a, b, v), \
                  WGI_NAN, WGI_NAN, SING, "DLMF 10.6, 10.29")
WGI_BESSEL(cyl_bessel_j, -, -)
WGI_BESSEL(cyl_neumann, -, -)
WGI_BESSEL(cyl_bessel_i, +, +)
WGI_BESSEL(cyl_bessel_k, +, -)
#undef WGI_BESSEL

#define WGI_BESSEL(name)                                                                       \
    WGI_FUNCTION double name##_of(double b, double a) {                                        \
        return std::name(static_cast<unsigned>(b), a);                                         \
    }                                                                                          \
    WGI_FUNCTION double name##_slope(double a, double b, double v) {                           \
        return (b == 0 ? 0 : b / a * v) - name##_of(b + 1, a);                                 \
    }                                                                                          \
    WGI_FUNCTION double name##_curve(double a, double b, double v) {                           \
        return -2 * name##_slope(a, b, v) / a + (b / a * ((b + 1) / a) - 1) * v;               \
    }                                                                                          \
    WG_OPERATION2(name, name##_of(b, a), name##_slope(a, b, v), WGI_NAN, name##_curve(a, b, v), \
                  WGI_NAN, WGI_NAN, SING, "DLMF 10.51")
WGI_BESSEL(sph_bessel)
WGI_BESSEL(sph_neumann)
#undef WGI_BESSEL

/* P(l, m) at x, s being the root of 1 - x^2. */
WGI_FUNCTION active associated(unsigned l, unsigned m, const active &x, const active &s) {
    if (m > l) return 0 * x;
    active before = 0 * x, p = 1 + 0 * x;
    for (unsigned k = 1; k <= m; k++) p *= (2.0 * k - 1) * s;
    for (unsigned k = m + 1; k <= l; k++) {
        const active next =
            ((2.0 * k - 1) * x * p - (static_cast<double>(k) + m - 1) * before) / (k - m);
        before = p, p = next;
    }
    return p;
}

/* Twelve steps make any two numbers of double the same. *sum: of 2^n c^2, if it is wanted. */
WGI_FUNCTION active mean(const active &k, active *sum) {
    active a = 1, b = wg_sqrt((1 - k) * (1 + k));
    double weight = 1;
    for (int n = 0; n < 12; n++, weight *= 2) {
        const active c = (a - b) / 2, next = (a + b) / 2;
        if (sum != nullptr) *sum += weight * (c * c);
        b = wg_sqrt(a * b);
        a = next;
    }
    return a;
}

template <class X_> struct is_refused : std::false_type {};

} // namespace detail

#define WGI_SPECIAL(name, ...)                                                                 \
    template <class X_, class... None_, detail::if_own<sizeof...(None_), X_> = 0>              \
    WGI_FUNCTION active name(__VA_ARGS__, const X_ &x_, None_...)

WGI_SPECIAL(assoc_legendre, unsigned l, unsigned m) {
    const active x = x_;
    return detail::associated(l, m, x, m == 0 ? active(0) : active(wg_sqrt((1 - x) * (1 + x))));
}
WGI_SPECIAL(legendre, unsigned l) {
    const active x = x_;
    return detail::associated(l, 0, x, 0);
}
/* By the recurrence of what is scaled already: P and the factor leave the range of numbers
 * long before. */
WGI_SPECIAL(sph_legendre, unsigned l, unsigned m) {
    const active theta = x_, x = wg_cos(theta), sine = wg_sin(theta);
    if (m > l) return 0 * x;
    const active s = wg_select_lt(sine, 0, -sine, sine); /* the root of 1 - x^2 */
    const double order = m;
    active before = 0 * x, p = std::sqrt((2 * order + 1) / (4 * 3.14159265358979323846)) + 0 * x;
    for (unsigned j = 1; j <= m; j++) p *= -std::sqrt(1 - 0.5 / j) * s;
    for (double k = order + 1; k <= l; k++) {
        const double up = std::sqrt((2 * k - 1) * (2 * k + 1) / ((k - order) * (k + order)));
        const double down = std::sqrt((k - 1 - order) * (k - 1 + order) / std::fabs((2 * k - 3) * (2 * k - 1)));
        const active next = up * (x * p - down * before);
        before = p, p = next;
    }
    return p;
}
WGI_SPECIAL(assoc_laguerre, unsigned n, unsigned m) {
    const active x = x_;
    active before = 0 * x, p = 1 + 0 * x;
    for (unsigned k = 0; k < n; k++) {
        const active next =
            ((2.0 * k + 1 + m - x) * p - (static_cast<double>(k) + m) * before) / (k + 1.0);
        before = p, p = next;
    }
    return p;
}
WGI_SPECIAL(laguerre, unsigned n) { return wg::assoc_laguerre(n, 0u, x_); }
WGI_SPECIAL(hermite, unsigned n) {
    const active x = x_;
    active before = 0 * x, p = 1 + 0 * x;
    for (unsigned k = 0; k < n; k++) {
        const active next = 2 * x * p - 2.0 * k * before;
        before = p, p = next;
    }
    return p;
}
WGI_SPECIAL(sph_bessel, unsigned n) { return detail::apply<detail::wgi_row_user_sph_bessel>(active(x_), active(n)); }
WGI_SPECIAL(sph_neumann, unsigned n) { return detail::apply<detail::wgi_row_user_sph_neumann>(active(x_), active(n)); }
#undef WGI_SPECIAL

#define WGI_BESSEL(name)                                                                       \
    template <class Order, class X_, class... None_, detail::if_own<sizeof...(None_), X_> = 0> \
    WGI_FUNCTION active name(Order order, const X_ &x, None_...) {                             \
        static_assert(std::is_arithmetic<Order>::value,                                        \
                      "wengert: a Bessel function has no derivative by its order here");       \
        return detail::apply<detail::wgi_row_user_##name>(active(x), active(order));           \
    }                                                                                          \
    template <class X_, class Y_, class... None_, detail::if_own<sizeof...(None_), X_> = 0,    \
              typename std::enable_if<std::is_arithmetic<Y_>::value, int>::type = 0>           \
    WGI_FUNCTION active name(const X_ &, Y_, None_...) {                                       \
        static_assert(detail::is_refused<X_>::value,                                           \
                      "wengert: a Bessel function has no derivative by its order here");       \
        return 0;                                                                              \
    }
WGI_BESSEL(cyl_bessel_j)
WGI_BESSEL(cyl_neumann)
WGI_BESSEL(cyl_bessel_i)
WGI_BESSEL(cyl_bessel_k)
#undef WGI_BESSEL

template <class X_, class... None_, detail::if_own<sizeof...(None_), X_> = 0>
WGI_FUNCTION active expint(const X_ &x, None_...) {
    return detail::apply<detail::wgi_row_user_expint>(active(x));
}
namespace detail {
/* The sign of Gamma(x), which is one between two poles: a guard is left that x stays there. */
WGI_FUNCTION double gamma_sign(const active &x) {
    const double v = wg::value(x);
    if (guards()) {
        if (v < 0) (void)(wg_floor(x) == std::floor(v));
        else (void)(x >= 0);
    }
    return std::copysign(1.0, std::tgamma(v));
}
} // namespace detail
template <class X_, class Y_, class... None_, detail::if_own<sizeof...(None_), X_, Y_> = 0>
WGI_FUNCTION active beta(const X_ &x, const Y_ &y, None_...) {
    const active a = x, b = y, both = a + b;
    return detail::gamma_sign(a) * detail::gamma_sign(b) * detail::gamma_sign(both) *
           wg_exp(wg_lgamma(a) + wg_lgamma(b) - wg_lgamma(both));
}
template <class X_, class... None_, detail::if_own<sizeof...(None_), X_> = 0>
WGI_FUNCTION active comp_ellint_1(const X_ &x, None_...) {
    const active k = x;
    if (wg_fabs(k) == 1) return 1 / ((1 - k) * (1 + k)); /* infinite, and so is its slope */
    return 3.14159265358979323846 / 2 / detail::mean(k, nullptr);
}
template <class X_, class... None_, detail::if_own<sizeof...(None_), X_> = 0>
WGI_FUNCTION active comp_ellint_2(const X_ &x, None_...) {
    const active k = x;
    if (wg_fabs(k) == 1) return 1 + wg_sqrt((1 - k) * (1 + k)); /* with the slope it has there */
    active sum = k * k / 2;
    const active a = detail::mean(k, &sum);
    return 3.14159265358979323846 / 2 / a * (1 - sum);
}

#define WGI_REFUSED(name)                                                                      \
    template <class X_, class... More, detail::if_own<0, X_> = 0>                              \
    WGI_FUNCTION active name(const X_ &, const More &...) {                                    \
        static_assert(detail::is_refused<X_>::value,                                           \
                      "wengert: no derivative of " #name " here");                             \
        return 0;                                                                              \
    }
WGI_REFUSED(riemann_zeta)
#undef WGI_REFUSED
#define WGI_REFUSED(name)                                                                      \
    template <class X_, class Y_, class... More, detail::if_own<0, X_, Y_> = 0>                \
    WGI_FUNCTION active name(const X_ &, const Y_ &, const More &...) {                        \
        static_assert(detail::is_refused<X_>::value,                                           \
                      "wengert: no derivative of " #name " here");                             \
        return 0;                                                                              \
    }
WGI_REFUSED(ellint_1)
WGI_REFUSED(ellint_2)
WGI_REFUSED(ellint_3)
WGI_REFUSED(comp_ellint_3)
#undef WGI_REFUSED

} // namespace wg

#ifndef WG_NO_STD_NAMES
namespace std {
using wg::assoc_laguerre;
using wg::assoc_legendre;
using wg::beta;
using wg::comp_ellint_1;
using wg::comp_ellint_2;
using wg::comp_ellint_3;
using wg::cyl_bessel_i;
using wg::cyl_bessel_j;
using wg::cyl_bessel_k;
using wg::cyl_neumann;
using wg::ellint_1;
using wg::ellint_2;
using wg::ellint_3;
using wg::expint;
using wg::hermite;
using wg::laguerre;
using wg::legendre;
using wg::riemann_zeta;
using wg::sph_bessel;
using wg::sph_legendre;
using wg::sph_neumann;
} // namespace std
#endif

#endif
#endif

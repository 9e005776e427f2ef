/* SPDX-License-Identifier: MIT */
/* wg::active in the standard library: limits, streams, formatted input and output, and the
 * names of <cmath> in namespace std. Included by active.hpp.
 *
 * Code that exists says std::sin(x). The standard gives nobody leave to add to namespace std;
 * what is added here are functions that take a wg::active or an expression and nothing else.
 * Defining WG_NO_STD_NAMES leaves them out. */
#ifndef WENGERT_ACTIVE_STD_HPP
#define WENGERT_ACTIVE_STD_HPP

#include <wengert/active.hpp>

#include <complex>
#include <cstdio>
#include <istream>
#include <limits>
#if __cplusplus >= 202002L
#include <numbers>
#endif
#include <ostream>
#include <string>

#pragma GCC system_header

/* ---- limits ---- */

namespace std {
template <> class numeric_limits<wg::active> : public numeric_limits<double> {
    using number = numeric_limits<double>;

  public:
    static constexpr wg::active min() noexcept { return number::min(); }
    static constexpr wg::active max() noexcept { return number::max(); }
    static constexpr wg::active lowest() noexcept { return number::lowest(); }
    static constexpr wg::active epsilon() noexcept { return number::epsilon(); }
    static constexpr wg::active round_error() noexcept { return number::round_error(); }
    static constexpr wg::active infinity() noexcept { return number::infinity(); }
    static constexpr wg::active quiet_NaN() noexcept { return number::quiet_NaN(); }
    static constexpr wg::active signaling_NaN() noexcept { return number::signaling_NaN(); }
    static constexpr wg::active denorm_min() noexcept { return number::denorm_min(); }
};
template <>
class numeric_limits<const wg::active> : public numeric_limits<wg::active> {};
} // namespace std

/* ---- the constants of C++20 ---- */

#ifdef __cpp_lib_math_constants
#define WGI_CONSTANT_OF(name)                                                                  \
    template <> inline constexpr wg::active name##_v<wg::active> = name##_v<double>;
namespace std {
namespace numbers {
WGI_CONSTANT_OF(e)
WGI_CONSTANT_OF(log2e)
WGI_CONSTANT_OF(log10e)
WGI_CONSTANT_OF(pi)
WGI_CONSTANT_OF(inv_pi)
WGI_CONSTANT_OF(inv_sqrtpi)
WGI_CONSTANT_OF(ln2)
WGI_CONSTANT_OF(ln10)
WGI_CONSTANT_OF(sqrt2)
WGI_CONSTANT_OF(sqrt3)
WGI_CONSTANT_OF(inv_sqrt3)
WGI_CONSTANT_OF(egamma)
WGI_CONSTANT_OF(phi)
} // namespace numbers
} // namespace std
#undef WGI_CONSTANT_OF
#endif

namespace wg {

inline void swap(active &x, active &y) noexcept {
    const active was = x;
    x = y;
    y = was;
}

/* ---- complex numbers: with numbers and expressions, as those of double have it ---- */

namespace detail {
template <class X_>
using if_other_part =
    typename std::enable_if<operand<X_>::is && !std::is_same<X_, active>::value, int>::type;
} // namespace detail

#define WGI_COMPLEX_OPERATOR(type, sign)                                                       \
    template <class X_, detail::if_other_part<X_> = 0>                                         \
    type operator sign(const std::complex<active> &z, const X_ &x) {                           \
        return z sign active(x);                                                               \
    }                                                                                          \
    template <class X_, detail::if_other_part<X_> = 0>                                         \
    type operator sign(const X_ &x, const std::complex<active> &z) {                           \
        return active(x) sign z;                                                               \
    }
WGI_COMPLEX_OPERATOR(std::complex<active>, +)
WGI_COMPLEX_OPERATOR(std::complex<active>, -)
WGI_COMPLEX_OPERATOR(std::complex<active>, *)
WGI_COMPLEX_OPERATOR(std::complex<active>, /)
WGI_COMPLEX_OPERATOR(bool, ==)
WGI_COMPLEX_OPERATOR(bool, !=)
#undef WGI_COMPLEX_OPERATOR

/* That of the standard library wants a result of an operation to be a complex number, and takes
 * one whose imaginary part is 0 for a real one, also where an input moves that part. */
inline std::complex<active> pow(const std::complex<active> &z, const active &x) {
    if (z.imag().at.slot == 0 && z.imag() == 0 && z.real() > 0) return active(pow(z.real(), x));
    const std::complex<active> t = std::log(z);
    return std::polar<active>(exp(x * t.real()), x * t.imag());
}
/* By products. */
inline std::complex<active> pow(const std::complex<active> &z, int n) {
    unsigned left = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n);
    std::complex<active> square = z, y = left % 2 != 0 ? z : std::complex<active>(1);
    while (left >>= 1) {
        square *= square;
        if (left % 2 != 0) y *= square;
    }
    return n < 0 ? std::complex<active>(1) / y : y;
}
template <class X_, detail::if_other_part<X_> = 0>
std::complex<active> pow(const std::complex<active> &z, const X_ &x) {
    return pow(z, active(x));
}
template <class X_, detail::if_other_part<X_> = 0>
std::complex<active> pow(const X_ &x, const std::complex<active> &z) {
    return std::pow(active(x), z);
}

/* Of real numbers: as std::polar and its kin alone. */
namespace named {
template <class X_, class Y_, detail::if_own<0, X_, Y_> = 0>
std::complex<active> polar(const X_ &size, const Y_ &angle) {
    return std::polar<active>(active(size), active(angle));
}
template <int N_, int L_, int B_>
std::complex<active> polar(const expression<N_, L_, B_> &size,
                           const expression<N_, L_, B_> &angle = 0) {
    return std::polar<active>(active(size), active(angle));
}
template <class X_, detail::if_own<0, X_> = 0> X_ real(const X_ &x) { return x; }
template <class X_, detail::if_own<0, X_> = 0> active imag(const X_ &) { return 0; }
template <class X_, detail::if_own<0, X_> = 0> active norm(const X_ &x) { return wg_square(x); }
template <class X_, detail::if_own<0, X_> = 0> active arg(const X_ &x) {
    return wg_atan2(0.0, x);
}
template <class X_, detail::if_own<0, X_> = 0> std::complex<active> conj(const X_ &x) {
    return std::complex<active>(x, -0.0);
}
} // namespace named

} // namespace wg

namespace std {
/* For all that the standard library makes of it, too: asinh, acosh and their kin. Where a part
 * is 0 the one for any type forgets that it moves; the numbers are the same. */
template <> inline complex<wg::active> sqrt(const complex<wg::active> &z) {
    const wg::active x = z.real(), y = z.imag(), size = std::abs(z);
    if (x == 0) {
        const wg::active u = wg_sqrt((size + x) / 2), v = wg_sqrt((size - x) / 2);
        return complex<wg::active>(u, y < 0 ? wg::active(-v) : v);
    }
    const wg::active t = wg_sqrt(2 * (size + wg_fabs(x))), u = t / 2;
    if (x > 0) return complex<wg::active>(u, y / t);
    return y < 0 ? complex<wg::active>(-y / t, -u) : complex<wg::active>((y + 0.0) / t, u);
}
} // namespace std

namespace wg {

/* ---- streams and text: the number ---- */

template <class Char, class Traits, class X_, detail::if_own<0, X_> = 0>
std::basic_ostream<Char, Traits> &operator<<(std::basic_ostream<Char, Traits> &to,
                                             const X_ &x) {
    return to << value(x);
}
template <class Char, class Traits>
std::basic_istream<Char, Traits> &operator>>(std::basic_istream<Char, Traits> &from,
                                             active &x) {
    double number = value(x);
    from >> number;
    x = number;
    return from;
}

template <class X_, detail::if_own<0, X_> = 0> std::string to_string(const X_ &x) {
    return std::to_string(value(x));
}

/* ---- printf and scanf, where an argument is an object, an expression or the address of
 * one ---- */

namespace detail {

template <class X_, typename std::enable_if<!operand<X_>::own, int>::type = 0>
const X_ &printed(const X_ &x) {
    return x;
}
template <class X_, typename std::enable_if<operand<X_>::own, int>::type = 0>
double printed(const X_ &x) {
    return value(x);
}
/* What is read is a number. */
template <class X_> X_ *scanned(X_ *x) { return x; }
inline double *scanned(active *x) {
    x->at = wg_handle();
    return &x->wg_real::value;
}

template <class... X_> using one_is_printed = any_of<operand<X_>::own...>;
template <class... X_> using one_is_scanned = any_of<std::is_same<X_, active *>::value...>;
#define WGI_IF_PRINTED                                                                         \
    typename std::enable_if<detail::one_is_printed<X_...>::value, int>::type = 0
#define WGI_IF_SCANNED                                                                         \
    typename std::enable_if<detail::one_is_scanned<X_...>::value, int>::type = 0

} // namespace detail

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
template <class... X_, WGI_IF_PRINTED> int printf(const char *format, const X_ &...x) {
    return std::printf(format, detail::printed(x)...);
}
template <class... X_, WGI_IF_PRINTED>
int fprintf(std::FILE *to, const char *format, const X_ &...x) {
    return std::fprintf(to, format, detail::printed(x)...);
}
template <class... X_, WGI_IF_PRINTED>
int sprintf(char *to, const char *format, const X_ &...x) {
    return std::sprintf(to, format, detail::printed(x)...);
}
template <class... X_, WGI_IF_PRINTED>
int snprintf(char *to, std::size_t size, const char *format, const X_ &...x) {
    return std::snprintf(to, size, format, detail::printed(x)...);
}
template <class... X_, WGI_IF_SCANNED> int scanf(const char *format, X_... x) {
    return std::scanf(format, detail::scanned(x)...);
}
template <class... X_, WGI_IF_SCANNED>
int fscanf(std::FILE *from, const char *format, X_... x) {
    return std::fscanf(from, format, detail::scanned(x)...);
}
template <class... X_, WGI_IF_SCANNED>
int sscanf(const char *from, const char *format, X_... x) {
    return std::sscanf(from, format, detail::scanned(x)...);
}
#pragma GCC diagnostic pop
#undef WGI_IF_PRINTED
#undef WGI_IF_SCANNED

} // namespace wg

/* ---- names ---- */

#ifndef WG_NO_STD_NAMES
namespace std {
using wg::abs;
using wg::fabs;
using wg::fmod;
using wg::remainder;
using wg::remquo;
using wg::fma;
using wg::fmax;
using wg::fmin;
using wg::fdim;
using wg::max;
using wg::min;
using wg::exp;
using wg::exp2;
using wg::expm1;
using wg::log;
using wg::log10;
using wg::log2;
using wg::log1p;
using wg::pow;
using wg::sqrt;
using wg::cbrt;
using wg::hypot;
using wg::sin;
using wg::cos;
using wg::tan;
using wg::asin;
using wg::acos;
using wg::atan;
using wg::atan2;
using wg::sinh;
using wg::cosh;
using wg::tanh;
using wg::asinh;
using wg::acosh;
using wg::atanh;
using wg::erf;
using wg::erfc;
using wg::tgamma;
using wg::lgamma;
using wg::ceil;
using wg::floor;
using wg::trunc;
using wg::round;
using wg::nearbyint;
using wg::rint;
using wg::lround;
using wg::llround;
using wg::lrint;
using wg::llrint;
using wg::frexp;
using wg::ldexp;
using wg::modf;
using wg::scalbn;
using wg::scalbln;
using wg::ilogb;
using wg::logb;
using wg::nextafter;
using wg::nexttoward;
using wg::copysign;
using wg::fpclassify;
using wg::isfinite;
using wg::isinf;
using wg::isnan;
using wg::isnormal;
using wg::signbit;
using wg::isgreater;
using wg::isgreaterequal;
using wg::isless;
using wg::islessequal;
using wg::islessgreater;
using wg::isunordered;
using wg::named::arg;
using wg::named::conj;
using wg::named::imag;
using wg::named::norm;
using wg::named::polar;
using wg::named::real;
using wg::to_string;
using wg::printf;
using wg::fprintf;
using wg::sprintf;
using wg::snprintf;
using wg::scanf;
using wg::fscanf;
using wg::sscanf;
#if __cplusplus >= 202002L
using wg::lerp;
#endif
} // namespace std
#endif

#endif

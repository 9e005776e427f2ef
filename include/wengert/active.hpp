/* SPDX-License-Identifier: MIT */
/* wg::active: a type that replaces double in C++ code that exists. C++11 and later.
 *
 *     template <class T> T norm(T x, T y) { return sqrt(x * x + y * y); }
 *
 *     wg::tape tape;
 *     wg::scope scope(tape);
 *     wg::active x = tape.input(3), y = tape.input(4);
 *     wg::active r = norm(x, y);
 *     tape.reverse(r);            // tape.adjoint(x) is 0.6
 *
 * An object is a number and the place of a variable on a tape, 16 bytes, copied as they are: of
 * a number that no input reaches the place is 0, and what is computed of such alone records
 * nothing. Each statement, that is each conversion of an expression to wg::active, is recorded
 * on the tape of the innermost wg::scope of this thread. Where there is none nothing is
 * recorded: what is computed of numbers is a number; what is computed of variables has its
 * value, and a tape that it comes back to refuses it (WG_ESTALE), as it knows no derivative of
 * it. An expression has its values and places by value: `auto e = x * y;` is right whatever
 * happens to x later.
 *
 * To a number it goes by wg::value(x). Integers take explicit conversions, as an index has no
 * derivative: static_cast<int>(x); `if (x)` is `if (x != 0)`. On tapes that keep their code
 * comparisons, and such conversions, leave a guard, so that a replay or a function in which
 * they come out differently is reported (WG_EGUARD).
 * (WG_IMPLICIT_INTEGERS, defined before, makes them implicit, as C has it: see retype.hpp.)
 * WG_NO_EXPRESSIONS, defined before, and in all files alike, makes each operation a statement,
 * so that x * y is a wg::active: for templates that deduce a type from what they are given.
 * As of a double, an object without an initial value has any; static ones are 0. */
#ifndef WENGERT_ACTIVE_HPP
#define WENGERT_ACTIVE_HPP

#ifndef __cplusplus
#error "wengert: this header is for C++; C code includes <wengert.h>"
#endif

#include <cmath>
#if __cplusplus >= 202002L
#include <compare>
#endif
#include <wengert/array.h>
#include <wengert/scalar.h>

#pragma GCC system_header

namespace wg {

struct active : wg_real {
    active() = default;
    /* A number: no derivative goes through it. */
    template <class Number,
              typename std::enable_if<detail::is_number<Number>::value, int>::type = 0>
    constexpr active(Number x) noexcept : wg_real{static_cast<double>(x), {0, 0}} {}
    /* A variable of the interface for C. */
    constexpr active(const wg_real &x) noexcept : wg_real(x) {}
    /* The value of a constant expression. */
    explicit constexpr active(detail::constant x) noexcept : wg_real{x.value, {0, 0}} {}
    /* A statement. */
    template <int N_, int L_, int B_>
    WGI_CONSTANT active(const expression<N_, L_, B_> &e, const char *file = __builtin_FILE(),
                        int line = __builtin_LINE())
        : wg_real(WGI_IS_CONSTANT() ? wg_real{e.value, {0, 0}}
                                    : detail::let_here(e, file, line)) {}

    template <class X_> WGI_CONSTANT14 active &operator+=(const X_ &x);
    template <class X_> WGI_CONSTANT14 active &operator-=(const X_ &x);
    template <class X_> WGI_CONSTANT14 active &operator*=(const X_ &x);
    template <class X_> WGI_CONSTANT14 active &operator/=(const X_ &x);
    WGI_CONSTANT14 active &operator++() { return *this += 1; }
    WGI_CONSTANT14 active &operator--() { return *this -= 1; }
    WGI_CONSTANT14 active operator++(int) {
        const active was = *this;
        *this += 1;
        return was;
    }
    WGI_CONSTANT14 active operator--(int) {
        const active was = *this;
        *this -= 1;
        return was;
    }

    template <class Whole,
              typename std::enable_if<std::is_integral<Whole>::value, int>::type = 0>
    WGI_CONSTANT WGI_TO_WHOLE operator Whole() const;
};

namespace named {

/* wg::value - the number alone, which is invisible to the tape. */
WGI_CONSTANT double value(const active &x) { return x.wg_real::value; }
template <int N_, int L_, int B_> WGI_CONSTANT double value(const expression<N_, L_, B_> &x) {
    return x.value;
}
template <class Number,
          typename std::enable_if<std::is_arithmetic<Number>::value, int>::type = 0>
constexpr Number value(Number x) {
    return x;
}

} // namespace named

namespace detail {

/* Do comparisons leave guards? Where the fast path is open they do not. */
WGI_FUNCTION bool guards() {
    const wg_tape *const t = tape_here();
    return t->limit == nullptr && has_tape() && wgi_guards(t) != 0;
}

/* An operand as a variable, on the tape of this thread. */
template <class X_, typename std::enable_if<!operand<X_>::compound, int>::type = 0>
WGI_FUNCTION active variable(const X_ &x) {
    return x;
}
template <int N_, int L_, int B_>
WGI_FUNCTION active variable(const expression<N_, L_, B_> &x) {
    return let_here(x, __builtin_FILE(), __builtin_LINE());
}

} // namespace detail

/* ---- operators -------------------------------------------------------------------------- */

#define WGI_ASSIGNMENT(sign, name)                                                             \
    template <class X_> WGI_CONSTANT14 active &active::operator sign##=(const X_ &x) {         \
        WGI_ARE_OPERANDS(X_);                                                                  \
        return *this = WGI_IS_CONSTANT()                                                       \
                           ? active(wg_real::value sign detail::operand<X_>::value(x))         \
                           : active(detail::apply_here<wgi_row_##name>(*this, x));             \
    }
WGI_ASSIGNMENT(+, add)
WGI_ASSIGNMENT(-, sub)
WGI_ASSIGNMENT(*, mul)
WGI_ASSIGNMENT(/, div)
#undef WGI_ASSIGNMENT

template <class X_, detail::if_own<0, X_> = 0> WGI_CONSTANT X_ operator+(const X_ &x) {
    return x;
}

#define WGI_COMPARISON(sign, name)                                                             \
    template <class X_, class Y_, detail::if_own<0, X_, Y_> = 0>                               \
    WGI_CONSTANT bool operator sign(const X_ &x, const Y_ &y) {                                \
        return !WGI_IS_CONSTANT() && detail::guards()                                          \
                   ? wg_##name(detail::tape_here(), detail::variable(x),                       \
                               detail::variable(y)) != 0                                       \
                   : detail::operand<X_>::value(x) sign detail::operand<Y_>::value(y);         \
    }
WGI_COMPARISON(<, lt)
WGI_COMPARISON(<=, le)
WGI_COMPARISON(>, gt)
WGI_COMPARISON(>=, ge)
WGI_COMPARISON(==, eq)
WGI_COMPARISON(!=, ne)
#undef WGI_COMPARISON

#if defined(__cpp_lib_three_way_comparison)
template <class X_, class Y_, detail::if_own<0, X_, Y_> = 0>
WGI_CONSTANT std::partial_ordering operator<=>(const X_ &x, const Y_ &y) {
    const active a = x, b = y;
    return a < b    ? std::partial_ordering::less
           : a > b  ? std::partial_ordering::greater
           : a == b ? std::partial_ordering::equivalent
                    : std::partial_ordering::unordered;
}
#endif

template <class X_, detail::if_own<0, X_> = 0> WGI_CONSTANT bool operator!(const X_ &x) {
    return x == 0;
}

namespace detail {

/* Of numbers cut off behind the point; a guard is left that they are the same: of what is too
 * large for the type, or a NaN, that it stays what it is. */
WGI_FUNCTION bool whole_number(const active &x, bool) { return x != 0; }
template <class Whole> WGI_FUNCTION Whole whole_number(const active &x, Whole k) {
    const double v = x.wg_real::value;
    if (!guards()) return k;
    if (v != v) (void)(x != x);
    else if (std::trunc(v) == static_cast<double>(k)) (void)(wg_trunc(x) == std::trunc(v));
    else (void)(x == v);
    return k;
}

} // namespace detail

template <class Whole, typename std::enable_if<std::is_integral<Whole>::value, int>::type>
WGI_CONSTANT active::operator Whole() const {
    return WGI_IS_CONSTANT() ? static_cast<Whole>(wg_real::value)
                             : detail::whole_number(*this, static_cast<Whole>(wg_real::value));
}

template <int N_, int L_, int B_>
template <class Whole, typename std::enable_if<std::is_integral<Whole>::value, int>::type>
WGI_CONSTANT expression<N_, L_, B_>::operator Whole() const {
    return WGI_IS_CONSTANT() ? static_cast<Whole>(value)
                             : static_cast<Whole>(detail::variable(*this));
}

/* ---- the tape of this thread ------------------------------------------------------------- */

/* wg::scope - from here to the end of its block, statements of this thread are recorded on this
 * tape; NULL: on none, and all that is computed is a number, no derivative of which is wanted.
 * Scopes nest. A tape is used by one thread at a time. */
class scope {
  public:
    explicit scope(wg_tape *t) noexcept : outer_(detail::tape_here()) {
        detail::thread<void>::tape =
            t != nullptr ? t : const_cast<wg_tape *>(&detail::thread<void>::numbers);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope() { detail::thread<void>::tape = outer_; }

  private:
    wg_tape *outer_;
};

} // namespace wg

#include <wengert/active_math.hpp>
#include <wengert/active_special.hpp>
#include <wengert/active_std.hpp>
#include <wengert/tape.hpp>

#endif

/* SPDX-License-Identifier: MIT */
/* The statement recorder in C++11 and later: the names of wengert/statement.h as templates.
 *
 * wg_add(x, y), wg_sin(x), ... of wengert/scalar.hpp take variables, expressions and numbers in
 * any position and give a wg::expression: its value, its operands with their partial
 * derivatives so far, its numbers and its code, all by value. wg_let(t, e) appends the
 * statement and gives a wg_real. What is recorded is what C records, bit for bit. Operators,
 * and code that knows of no tape, are for wg::active of wengert/active.hpp, whose statements
 * are these.
 *
 * A statement has at most 8 operands, 8 numbers and 128 bits of code. An operation that would
 * have more makes variables of its longest operands first, on the tape of the innermost
 * wg::scope; where there is none, the limits are checked by the compiler in wg_let.
 *
 * Names:  X_ Y_ Z_ W_ types of operands;  a b c d their values;  v the value;  p partials, x
 * values and h handles of a list (slot in the low half);  N_ operands, L_ numbers, B_ bits of
 * code: macros of one letter are the user's, as -DN=100. */
#ifndef WENGERT_STATEMENT_HPP
#define WENGERT_STATEMENT_HPP

#ifndef __cplusplus
#error "wengert: this header is for C++; C code includes <wengert/statement.h> or <wengert.h>"
#endif
#if __cplusplus < 201103L
#error "wengert: compile as C++11 or later"
#endif

#include <cstddef>
#include <type_traits>
#include <wengert/statement.h>

#pragma GCC system_header

#ifdef __OPTIMIZE__
#define WGI_MEMBER __attribute__((always_inline)) inline
#else
#define WGI_MEMBER inline
#endif

/* Functions that constant expressions may call, where no variable takes part; from C++14 on
 * also such as assign. */
#define WGI_CONSTANT constexpr WGI_MEMBER
#if __cplusplus >= 201402L
#define WGI_CONSTANT14 constexpr WGI_MEMBER
#else
#define WGI_CONSTANT14 WGI_MEMBER
#endif
#define WGI_IS_CONSTANT() __builtin_is_constant_evaluated()

/* -DWG_SMALL_CODE and -Os: what appends a statement is not in line. */
#if defined(WG_SMALL_CODE) || defined(__OPTIMIZE_SIZE__)
#define WGI_SMALL_CODE true
#else
#define WGI_SMALL_CODE false
#endif

/* Conversions to integers; see active.hpp. */
#ifdef WG_IMPLICIT_INTEGERS
#define WGI_TO_WHOLE
#else
#define WGI_TO_WHOLE explicit
#endif

/* Functions of the names of <math.h> are found by argument-dependent lookup, for code that
 * exists calls them so.
 * Others are not: a function of the user's that has such a name is his own. They are called
 * wg::NAME. */
namespace wg {
inline namespace found {}
namespace named {}
using namespace named;
} // namespace wg

namespace wg {

struct active;

namespace detail {

/* ---- lists ---------------------------------------------------------------------------------
 * Every loop is a pack of constant indices: what a compiler dissolves into registers. */

template <int... K_> struct sequence {};
template <int N_, int... K_> struct sequence_to {
    using type = typename sequence_to<N_ - 1, N_ - 1, K_...>::type;
};
template <int... K_> struct sequence_to<0, K_...> { using type = sequence<K_...>; };
template <int N_> using indices = typename sequence_to<N_>::type;

/* Does for each index of a pack what is written before it. */
#define WGI_FOR_EACH(...)                                                                      \
    do {                                                                                       \
        const int wgi_done[] = {0, ((__VA_ARGS__), 0)...};                                     \
        (void)wgi_done;                                                                        \
    } while (0)

constexpr int sum_of() { return 0; }
template <class... More> constexpr int sum_of(int first, More... more) {
    return first + sum_of(more...);
}
constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int largest_of() { return 0; }
template <class... More> constexpr int largest_of(int first, More... more) {
    return larger(first, largest_of(more...));
}
/* The sum of the first k, and the place of the first that is m. */
constexpr int sum_before(int) { return 0; }
template <class... More> constexpr int sum_before(int k, int first, More... more) {
    return k == 0 ? 0 : first + sum_before(k - 1, more...);
}
constexpr int place_of(int) { return 0; }
template <class... More> constexpr int place_of(int m, int first, More... more) {
    return first == m ? 0 : 1 + place_of(m, more...);
}
/* Of an arithmetic type, or of an enumeration that converts as one. */
template <class X_>
struct is_number : std::integral_constant<bool, std::is_arithmetic<X_>::value ||
                                                    (std::is_enum<X_>::value &&
                                                     std::is_convertible<X_, double>::value)> {
};

template <bool...> struct bools;
template <bool... B_> using all_of = std::is_same<bools<true, B_...>, bools<B_..., true>>;
template <bool... B_> using any_of = std::integral_constant<bool, !all_of<!B_...>::value>;

template <int N_> struct list {
    double p[N_], x[N_];
    uint64_t h[N_];
};
template <> struct list<0> {};
/* A variable that stands alone: its partial is 1. */
struct lone {
    double x;
    uint64_t h;
};
template <int L_> struct numbers { double n[L_]; };
template <> struct numbers<0> {};
/* The value of a constant expression. */
struct constant {
    double value;
};

/* The operands of s, their partials times d, are those of r from position At on. */
template <int At, int N_, int M_, int... K_>
WGI_FUNCTION void put(list<N_> &r, double d, const list<M_> &s, sequence<K_...>) {
    (void)d, (void)s, (void)r;
    WGI_FOR_EACH(r.p[At + K_] = d * s.p[K_], r.x[At + K_] = s.x[K_], r.h[At + K_] = s.h[K_]);
}
template <int At, int N_>
WGI_FUNCTION void put(list<N_> &r, double d, const lone &s, sequence<0>) {
    r.p[At] = d, r.x[At] = s.x, r.h[At] = s.h;
}

template <int At, int L_, int M_, int... K_>
WGI_FUNCTION void put_numbers(numbers<L_> &r, const numbers<M_> &s, sequence<K_...>) {
    (void)s, (void)r;
    WGI_FOR_EACH(r.n[At + K_] = s.n[K_]);
}

/* Conversions between expressions go upwards in this. */
constexpr int rank_of(int n, int l, int b) { return (n * 64 + l) * 256 + b; }

WGI_FUNCTION uint64_t word_of(const wg_real &x) { return wgi_word(x.at); }

} // namespace detail

/* ---- operands: numbers, variables, expressions ------------------------------------------ */

/* Made by the operations; wg_let makes a variable of it, and so does what takes a wg::active. B_
 * is the most that `bits` may be. An expression that has been converted from another one, or
 * from a number, as the arms of ? : are, stands for a variable: it has fewer operands and
 * numbers than its type says, and the others count as absent (operands in the lower 8 bits,
 * numbers above). */
template <int N_, int L_, int B_> struct expression {
    double value;
    detail::list<N_> at;
    detail::numbers<L_> lit;
    wgi_bits code;
    int bits;
    bool products; /* were partials multiplied? */
    unsigned absent;

    expression() = default;
    template <int M_, int K_, int C_,
              typename std::enable_if<
                  (detail::rank_of(M_, K_, C_) < detail::rank_of(N_, L_, B_)), int>::type = 0>
    WGI_MEMBER expression(const expression<M_, K_, C_> &e);
    template <class Number,
              typename std::enable_if<detail::is_number<Number>::value, int>::type = 0>
    WGI_MEMBER expression(Number x) {
        stand_for(static_cast<double>(x), 0);
    }
    /* In a constant expression; as stand_for. */
    explicit constexpr expression(detail::constant x)
        : value(x.value), at{{1}, {x.value}, {0}}, lit(), code(0), bits(2), products(false),
          absent(((1u << N_) - 2) | ((1u << L_) - 1) << 8) {}
    /* As of wg::active. */
    template <class Whole,
              typename std::enable_if<std::is_integral<Whole>::value, int>::type = 0>
    WGI_CONSTANT WGI_TO_WHOLE operator Whole() const;

  private:
    /* Padding is a constant whose partial is 0: tapes that keep no code need not know. */
    WGI_MEMBER void stand_for(double x, uint64_t h) {
        value = x;
        for (int i = 0; i < N_; i++) at.p[i] = at.x[i] = 0, at.h[i] = 0;
        at.p[0] = 1, at.x[0] = x, at.h[0] = h;
        __builtin_memset(&lit, 0, sizeof lit);
        code = 0, bits = 2, products = false;
        absent = ((1u << N_) - 2) | ((1u << L_) - 1) << 8;
    }
};

namespace detail {

/* What is no operand is reported, and then treated as nothing. */
template <class X_, class = void> struct operand {
    static constexpr bool is = false, active = false, own = false, compound = false;
    static constexpr int count = 0, literals = 0, most = 0;
    static double value(const X_ &) { return 0; }
    static list<0> at(const X_ &) { return list<0>(); }
    static numbers<0> lit(const X_ &) { return numbers<0>(); }
    static wgi_bits code(const X_ &) { return 0; }
    static int bits(const X_ &) { return 0; }
    static unsigned absent(const X_ &) { return 0; }
};

template <class X_> struct operand<X_, typename std::enable_if<is_number<X_>::value>::type> {
    static constexpr bool is = true, active = false, own = false, compound = false;
    static constexpr int count = 0, literals = 1, most = 2;
    WGI_CONSTANT static double value(X_ x) { return static_cast<double>(x); }
    WGI_MEMBER static list<0> at(X_) { return list<0>(); }
    WGI_MEMBER static numbers<1> lit(X_ x) {
        numbers<1> r;
        r.n[0] = static_cast<double>(x);
        return r;
    }
    WGI_MEMBER static wgi_bits code(X_) { return 1; }
    WGI_MEMBER static int bits(X_) { return 2; }
    WGI_MEMBER static unsigned absent(X_) { return 0; }
};

/* own: is it one of namespace wg, whose operators and functions take it? */
template <class X_> struct variable_operand {
    static constexpr bool is = true, active = true, compound = false;
    static constexpr int count = 1, literals = 0, most = 2;
    WGI_CONSTANT static double value(const wg_real &x) { return x.value; }
    WGI_MEMBER static lone at(const wg_real &x) {
        lone r;
        r.x = x.value;
        r.h = word_of(x);
        return r;
    }
    WGI_MEMBER static numbers<0> lit(const wg_real &) { return numbers<0>(); }
    WGI_MEMBER static wgi_bits code(const wg_real &) { return 0; }
    WGI_MEMBER static int bits(const wg_real &) { return 2; }
    WGI_MEMBER static unsigned absent(const wg_real &) { return 0; }
};
template <> struct operand<wg_real> : variable_operand<wg_real> {
    static constexpr bool own = false;
};
template <> struct operand<wg::active> : variable_operand<wg::active> {
    static constexpr bool own = true;
};

template <int N_, int L_, int B_> struct operand<expression<N_, L_, B_>> {
    using type = expression<N_, L_, B_>;
    static constexpr bool is = true, active = true, own = true, compound = true;
    static constexpr int count = N_, literals = L_, most = B_;
    WGI_CONSTANT static double value(const type &x) { return x.value; }
    WGI_MEMBER static list<N_> at(const type &x) { return x.at; }
    WGI_MEMBER static numbers<L_> lit(const type &x) { return x.lit; }
    WGI_MEMBER static wgi_bits code(const type &x) { return x.code; }
    WGI_MEMBER static int bits(const type &x) { return x.bits; }
    WGI_MEMBER static unsigned absent(const type &x) { return x.absent; }
};

template <class... X_> using all_are_operands = all_of<operand<X_>::is...>;
template <class... X_> using one_is_own = any_of<operand<X_>::own...>;
/* What is no operand may be of another library, whose operators take a wg::active. */
template <std::size_t None_, class... X_>
using if_own = typename std::enable_if<
    None_ == 0 && one_is_own<X_...>::value && all_are_operands<X_...>::value, int>::type;

#define WGI_ARE_OPERANDS(...)                                                                  \
    static_assert(wg::detail::all_are_operands<__VA_ARGS__>::value,                            \
                  "wengert: an operand is no variable, expression or number (a pointer: an "   \
                  "index or a * is missing)")

/* ---- the tape of this thread ------------------------------------------------------------- */

/* That of the innermost wg::scope; one without room where there is none, and another one in a
 * scope of plain numbers: on both, of constants comes a constant. */
template <class Unused> struct thread {
    static __thread wg_tape *tape;
    static const wg_tape outside, numbers;
};
template <class Unused> const wg_tape thread<Unused>::outside = {};
template <class Unused> const wg_tape thread<Unused>::numbers = {};
template <class Unused>
__thread wg_tape *thread<Unused>::tape = const_cast<wg_tape *>(&thread<Unused>::outside);
WGI_FUNCTION wg_tape *tape_here() { return thread<void>::tape; }
WGI_FUNCTION bool is_outside() { return tape_here() == &thread<void>::outside; }
WGI_FUNCTION bool has_tape() { return !is_outside() && tape_here() != &thread<void>::numbers; }

/* What has been computed of these operands where there is no tape: a number, or outside of
 * every scope, of variables, one with a handle that no tape takes, so that no derivative is
 * lost in silence. */
WGI_FUNCTION wg_real untaped(double value, uint64_t operands) {
    wg_real x = wg_constant(value);
    if (operands != 0 && is_outside()) x.at.slot = WGI_OUTSIDE;
    return x;
}

/* ---- appending -------------------------------------------------------------------------- */

/* By the functions of C, of wengert/statement_lists.h: there is one way to append. */
#define WGI_LISTS_OF(n)                                                                        \
    template <int... K_> WGI_FUNCTION wgi_s##n c_list(const list<n> &s, sequence<K_...>) {     \
        return wgi_s##n{{s.p[K_]...}, {s.x[K_]...}, {s.h[K_]...}};                             \
    }                                                                                          \
    WGI_FUNCTION bool none(const wg_tape *t, const list<n> &s) {                               \
        const wgi_s##n l = c_list(s, indices<n>());                                            \
        return wgi_none_##n(t, &l);                                                            \
    }                                                                                          \
    WGI_FUNCTION bool ready(const wg_tape *t, const list<n> &s, bool products) {               \
        const wgi_s##n l = c_list(s, indices<n>());                                            \
        return wgi_ready_##n(t, t->limit, &l, products);                                       \
    }                                                                                          \
    WGI_FUNCTION wg_real append(wg_tape *t, double value, const list<n> &s) {                  \
        const wgi_s##n l = c_list(s, indices<n>());                                            \
        return wgi_append_##n(t, value, &l);                                                   \
    }                                                                                          \
    WGI_FUNCTION wg_real append_some(wg_tape *t, double value, const list<n> &s) {             \
        const wgi_s##n l = c_list(s, indices<n>());                                            \
        return wgi_append_some_##n(t, value, &l);                                              \
    }                                                                                          \
    WGI_FUNCTION wg_real leave(wg_tape *t, double value, const list<n> &s,                     \
                               const double *number, const wgi_site *site) {                   \
        const wgi_s##n l = c_list(s, indices<n>());                                            \
        return wgi_leave_##n(t, value, &l, number, site);                                      \
    }
WGI_LISTS_OF(1)
WGI_LISTS_OF(2)
WGI_LISTS_OF(3)
WGI_LISTS_OF(4)
WGI_LISTS_OF(5)
WGI_LISTS_OF(6)
WGI_LISTS_OF(7)
WGI_LISTS_OF(8)
static_assert(WGI_MAX_OPERANDS == 8, "one line for each");
#undef WGI_LISTS_OF

/* Of numbers alone there is nothing to append. */
WGI_FUNCTION bool none(const wg_tape *t, const list<0> &) { return WGI_LIKELY(t->watches == 0); }
WGI_FUNCTION bool ready(const wg_tape *, const list<0> &, bool) { return false; }
WGI_FUNCTION wg_real append(wg_tape *, double value, const list<0> &) {
    return wg_constant(value);
}
WGI_FUNCTION wg_real append_some(wg_tape *, double value, const list<0> &) {
    return wg_constant(value);
}
WGI_FUNCTION wg_real leave(wg_tape *t, double value, const list<0> &, const double *number,
                           const wgi_site *site) {
    const wgi_s0 none{};
    return wgi_leave_0(t, value, &none, number, site);
}
WGI_FUNCTION wg_real leave(wg_tape *t, double value, const lone &s, const double *number,
                           const wgi_site *site) {
    wg_handle at;
    __builtin_memcpy(&at, &s.h, sizeof at);
    return wgi_leave_r(t, value, &at, number, site);
}

template <int L_, int... K_>
WGI_FUNCTION void store_numbers(double *w, const numbers<L_> &s, sequence<K_...>) {
    (void)w, (void)s;
    WGI_FOR_EACH(w[K_] = s.n[K_]);
}

/* Handles in one word, which is 0 where all are those of numbers. */
WGI_FUNCTION uint64_t either() { return 0; }
template <class... More> WGI_FUNCTION uint64_t either(uint64_t h, More... more) {
    return h | either(more...);
}
template <int N_, int... K_> WGI_FUNCTION uint64_t places(const list<N_> &s, sequence<K_...>) {
    (void)s;
    return either(s.h[K_]...);
}
template <int N_> WGI_FUNCTION uint64_t places(const list<N_> &s) {
    return places(s, indices<N_>());
}
WGI_FUNCTION uint64_t places(const lone &s) { return s.h; }

/* The first n of 8 operands. */
template <int N_> struct shortened {
    template <int... K_>
    static wg_real let(wg_tape *t, double value, int n, const list<8> &s, const double *number,
                       const wgi_site *site, sequence<K_...>) {
        if (n != N_)
            return shortened<N_ - 1>::let(t, value, n, s, number, site, indices<N_ - 1>());
        const list<N_> l = {{s.p[K_]...}, {s.x[K_]...}, {s.h[K_]...}};
        return leave(t, value, l, number, site);
    }
};
template <> struct shortened<0> {
    static wg_real let(wg_tape *t, double value, int, const list<8> &, const double *number,
                       const wgi_site *site, sequence<>) {
        return leave(t, value, list<0>(), number, site);
    }
};

/* A statement some of whose operands and numbers are absent. */
inline __attribute__((noinline)) wg_real let_present(wg_tape *t, double value, int n, int l,
                                                     const list<8> &all, const double *lit,
                                                     unsigned absent, const wgi_site *site) {
    list<8> s = list<8>();
    double number[WGI_MAX_NUMBERS] = {0};
    int operands = 0, literals = 0;
    for (int i = 0; i < n; i++)
        if ((absent >> i & 1) == 0)
            s.p[operands] = all.p[i], s.x[operands] = all.x[i], s.h[operands++] = all.h[i];
    for (int i = 0; i < l; i++)
        if ((absent >> (8 + i) & 1) == 0) number[literals++] = lit[i];
    const uint64_t kept = site->head & 0x0000ffffffffffff;
    const wgi_site there = {site->code,
                            kept | static_cast<uint64_t>(operands) << 48 |
                                static_cast<uint64_t>(literals) << 56,
                            site->file};
    return shortened<8>::let(t, value, operands, s, literals != 0 ? number : nullptr, &there,
                             indices<8>());
}

template <int N_, int... K_>
WGI_FUNCTION wg_real leave_present(wg_tape *t, double value, int l, const list<N_> &s,
                                   const double *lit, unsigned absent, const wgi_site *site,
                                   sequence<K_...>) {
    list<8> all = list<8>();
    (void)s;
    WGI_FOR_EACH(all.p[K_] = s.p[K_], all.x[K_] = s.x[K_], all.h[K_] = s.h[K_]);
    return let_present(t, value, N_, l, all, lit, absent, site);
}

/* t: never NULL. here: it is the tape of this thread, if there is one. */
template <bool Small, int N_, int L_, int B_>
WGI_FUNCTION wg_real let(wg_tape *t, const expression<N_, L_, B_> &e, bool here,
                         const char *file, int line) {
    static_assert(N_ <= WGI_MAX_OPERANDS,
                  "wengert: more than 8 variables in one statement: split it with wg_let");
    static_assert(L_ <= WGI_MAX_NUMBERS,
                  "wengert: more than 8 numbers in one statement: split it with wg_let");
    static_assert(B_ <= WGI_MAX_CODE,
                  "wengert: too many operations in one statement: split it with wg_let");
    /* all of them constants; of tapes in other modes the slow path knows what that means */
    if (none(t, e.at)) return wg_constant(e.value);
    if (!Small && WGI_NEARLY_ALWAYS(ready(t, e.at, e.products)))
        return append(t, e.value, e.at);
    if (!Small && t->limit != nullptr) {
        const wg_real x = append_some(t, e.value, e.at);
        if (WGI_LIKELY(x.at.slot != WGI_OUTSIDE)) return x;
    }
    if (here && !has_tape()) return untaped(e.value, places(e.at));
    const wgi_site site = {e.code, WGI_CODE_HEAD(line, 0, e.bits, N_, L_), file};
    double number[WGI_MAX_NUMBERS];
    store_numbers(number, e.lit, indices<L_>());
    wg_tape *const shown = here || t != &wgi_no_tape ? t : nullptr;
    if (WGI_UNLIKELY(e.absent != 0))
        return leave_present(shown, e.value, L_, e.at, L_ != 0 ? number : nullptr, e.absent,
                             &site, indices<N_>());
    return leave(shown, e.value, e.at, L_ != 0 ? number : nullptr, &site);
}

template <int N_, int L_, int B_>
WGI_FUNCTION wg_real let_here(const expression<N_, L_, B_> &e, const char *file, int line) {
    wg_tape *const t = tape_here();
    return let<WGI_SMALL_CODE>(t, e, true, file, line);
}

/* A part of a statement, which may go to a tape yet though this thread has none: then it has a
 * handle that no tape takes. */
template <int N_, int L_, int B_>
WGI_FUNCTION wg_real let_part(const expression<N_, L_, B_> &e, const char *file, int line) {
    wg_real x = let_here(e, file, line);
    if (!has_tape() && places(e.at) != 0) x.at.slot = WGI_OUTSIDE;
    return x;
}

/* ---- operations -------------------------------------------------------------------------- */

/* An operand as it is, or, where the statement would be too long, as a variable. */
template <bool Cut, class X_> struct taken {
    using type = X_;
    WGI_MEMBER static const X_ &of(const X_ &x) { return x; }
};
template <int N_, int L_, int B_> struct taken<true, expression<N_, L_, B_>> {
    using type = wg_real;
    WGI_MEMBER static wg_real of(const expression<N_, L_, B_> &x) {
        return let_part(x, __builtin_FILE(), __builtin_LINE());
    }
};

/* How many operands, numbers and bits all would have, and which of them are cut: the longest
 * one, the first of such; all that can be where that is not enough. */
template <class F_, class... X_> struct whole {
    static constexpr int own = F_::op == WGI_OP_USER,
                         width = F_::op >= 1 && F_::op <= 4 ? 4 : 9;
    static constexpr int count = sum_of(operand<X_>::count...);
    static constexpr int literals = sum_of(operand<X_>::literals...) + own;
    static constexpr int most = sum_of(operand<X_>::most...) + width;
    static constexpr bool fits =
        count <= WGI_MAX_OPERANDS && literals <= WGI_MAX_NUMBERS && most <= WGI_MAX_CODE;
    template <class Y_> static constexpr int length() {
        return operand<Y_>::compound
                   ? (operand<Y_>::count + operand<Y_>::literals) * 256 + operand<Y_>::most
                   : 0;
    }
    static constexpr int longest = place_of(largest_of(length<X_>()...), length<X_>()...);
};
template <bool Fits, class F_, class K_, class... X_> struct cutting;
template <class F_, int... K_, class... X_> struct cutting<true, F_, sequence<K_...>, X_...> {
    template <int J_> static constexpr bool cut() { return false; }
};
template <class F_, int... K_, class... X_> struct cutting<false, F_, sequence<K_...>, X_...> {
    using once = whole<F_, typename taken<K_ == whole<F_, X_...>::longest, X_>::type...>;
    template <int J_> static constexpr bool cut() {
        return J_ == whole<F_, X_...>::longest || !once::fits;
    }
};

/* The kind of the result of operation F_ on operands X_..., and where each of them begins in
 * it. */
template <class F_, class... X_> struct result {
    using all = whole<F_, X_...>;
    static constexpr int count = all::count, literals = all::literals, most = all::most;
    using type = expression<count, literals, most>;
    static constexpr bool products = any_of<operand<X_>::compound...>::value;
    template <int K_> static constexpr int operand_at() {
        return sum_before(K_, operand<X_>::count...);
    }
    template <int K_> static constexpr int number_at() {
        return sum_before(K_, operand<X_>::literals...);
    }
    static constexpr wgi_bits code = static_cast<wgi_bits>(
        F_::op >= 1 && F_::op <= 4 ? (F_::op - 1) * 4 + 2 : F_::op * 4 + 3);
};

template <class F_, int L_> WGI_FUNCTION void name_user(numbers<L_> &lit, std::true_type) {
    lit.n[L_ - 1] = F_::address();
}
template <class F_, int L_> WGI_FUNCTION void name_user(numbers<L_> &, std::false_type) {}

WGI_FUNCTION wgi_bits behind(int bits, wgi_bits code) { return code << (bits & 127); }

/* Is the partial by an operand worth its calls? Not by one that is a number. */
template <class F_, class X_> WGI_FUNCTION bool wanted(const X_ &x) {
    return operand<X_>::count != 0 && (!F_::calls || places(operand<X_>::at(x)) != 0);
}

/* Of operands that fit. Where all are numbers the value is computed by itself: elsewhere one
 * call may give both the value and the partial, as of sin. */
template <class F_, int... K_, class... X_>
WGI_FUNCTION typename result<F_, X_...>::type combine(sequence<K_...>, const X_ &...x) {
    using R_ = result<F_, X_...>;
    const double a[] = {operand<X_>::value(x)...};
    double v, d[sizeof...(X_)];
    if (F_::calls && either(places(operand<X_>::at(x))...) == 0) {
        v = F_::v(a);
        WGI_FOR_EACH(d[K_] = 0);
    } else {
        v = F_::v(a);
        WGI_FOR_EACH(d[K_] = wanted<F_, X_>(x) ? F_::d(std::integral_constant<int, K_>(), a, v)
                                               : 0);
    }
    typename R_::type r;
    r.value = v, r.products = R_::products;
    r.code = 0, r.bits = 0, r.absent = 0;
    WGI_FOR_EACH(put<R_::template operand_at<K_>()>(r.at, d[K_], operand<X_>::at(x),
                                                    indices<operand<X_>::count>()));
    WGI_FOR_EACH(put_numbers<R_::template number_at<K_>()>(r.lit, operand<X_>::lit(x),
                                                           indices<operand<X_>::literals>()));
    name_user<F_>(r.lit, std::integral_constant<bool, F_::op == WGI_OP_USER>());
    WGI_FOR_EACH(r.code |= behind(r.bits, operand<X_>::code(x)),
                 r.bits += operand<X_>::bits(x));
    WGI_FOR_EACH(r.absent |= (operand<X_>::absent(x) & 255) << R_::template operand_at<K_>() |
                             (operand<X_>::absent(x) >> 8)
                                 << (8 + R_::template number_at<K_>()));
    r.code |= behind(r.bits, R_::code);
    r.bits += R_::all::width;
    return r;
}

/* Of any operands. */
template <class F_, class K_, class... X_> struct operation;
template <class F_, int... K_, class... X_> struct operation<F_, sequence<K_...>, X_...> {
    using cut = cutting<whole<F_, X_...>::fits, F_, sequence<K_...>, X_...>;
    using type =
        typename result<F_, typename taken<cut::template cut<K_>(), X_>::type...>::type;
    WGI_MEMBER static type of(const X_ &...x) {
        return combine<F_>(sequence<K_...>(), taken<cut::template cut<K_>(), X_>::of(x)...);
    }
};
#ifdef WG_NO_EXPRESSIONS
/* A statement. */
template <class F_, class... X_> struct single { using type = active; };
template <class F_, class... X_> using outcome = typename single<F_, X_...>::type;
#else
template <class F_, class... X_>
using outcome = typename operation<F_, indices<sizeof...(X_)>, X_...>::type;
#endif
template <class F_, class... X_> WGI_FUNCTION outcome<F_, X_...> apply_here(const X_ &...x) {
    return operation<F_, indices<sizeof...(X_)>, X_...>::of(x...);
}
/* Without cuts. */
template <class F_, class... X_>
WGI_FUNCTION typename result<F_, X_...>::type apply(const X_ &...x) {
    return combine<F_>(indices<sizeof...(X_)>(), x...);
}

} // namespace detail

template <int N_, int L_, int B_>
template <int M_, int K_, int C_,
          typename std::enable_if<(detail::rank_of(M_, K_, C_) < detail::rank_of(N_, L_, B_)),
                                  int>::type>
expression<N_, L_, B_>::expression(const expression<M_, K_, C_> &e) {
    const wg_real x = detail::let_part(e, __builtin_FILE(), __builtin_LINE());
    stand_for(x.value, wgi_word(x.at));
}

} // namespace wg

/* wg_let - as in C. */
template <int N_, int L_, int B_>
WGI_FUNCTION wg_real wg_let(wg_tape *t, const wg::expression<N_, L_, B_> &e,
                            const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return wg::detail::let<WGI_SMALL_CODE>(wgi_tape(t), e, false, file, line);
}
template <class X_, typename std::enable_if<!wg::detail::operand<X_>::compound, int>::type = 0>
WGI_FUNCTION wg_real wg_let(wg_tape *t, const X_ &x, const char *file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
    using O_ = wg::detail::operand<X_>;
    WGI_ARE_OPERANDS(X_);
    const wgi_site site = {O_::code(x), WGI_CODE_HEAD(line, 0, 2, O_::count, O_::literals),
                           file};
    double number[WGI_MAX_NUMBERS];
    wg::detail::store_numbers(number, O_::lit(x), wg::detail::indices<O_::literals>());
    return wg::detail::leave(t, O_::value(x), O_::at(x), O_::literals != 0 ? number : nullptr,
                             &site);
}

/* ---- one operation: what wengert/scalar.hpp repeats for every row of
 * ops/scalar/scalar.def ----- */

#define WGI_ROW(name, ...)                                                                     \
    static constexpr int op = WGI_OP_##name;                                                   \
    static constexpr bool calls = WGI_CALLS_##name;                                            \
    WGI_MEMBER static double v(const double *a) {                                              \
        (void)a;                                                                               \
        return wgi_op_##name##_v(__VA_ARGS__);                                                 \
    }
#define WGI_ROW_D(k, partial)                                                                  \
    WGI_MEMBER static double d(std::integral_constant<int, k>, const double *a, double v) {    \
        (void)a, (void)v;                                                                      \
        return partial;                                                                        \
    }

/* wg_NAME of operands, and wg::NAME where one of them is a wg::active or an expression. A
 * function of that name in a program is preferred to wg::NAME: its parameters are no pack. In
 * parentheses: a macro of that name is left alone. */
#define WGI_TEMPLATE1(space, name)                                                             \
    struct wgi_row_##name {                                                                    \
        WGI_ROW(name, a[0])                                                                    \
        WGI_ROW_D(0, wgi_op_##name##_da(a[0], v))                                              \
    };                                                                                         \
    template <class X_>                                                                        \
    WGI_FUNCTION                                                                               \
        typename wg::detail::result<wgi_row_##name, X_>::type wg_##name(const X_ &x) {         \
        WGI_ARE_OPERANDS(X_);                                                                  \
        return wg::detail::apply<wgi_row_##name>(x);                                           \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X_, class... None_, detail::if_own<sizeof...(None_), X_> = 0>              \
    WGI_FUNCTION detail::outcome<wgi_row_##name, X_>(name)(const X_ &x, None_...) {            \
        return detail::apply_here<wgi_row_##name>(x);                                          \
    }                                                                                          \
    }                                                                                          \
    }

#define WGI_TEMPLATE2(space, name)                                                             \
    struct wgi_row_##name {                                                                    \
        WGI_ROW(name, a[0], a[1])                                                              \
        WGI_ROW_D(0, wgi_op_##name##_da(a[0], a[1], v))                                        \
        WGI_ROW_D(1, wgi_op_##name##_db(a[0], a[1], v))                                        \
    };                                                                                         \
    template <class X_, class Y_>                                                              \
    WGI_FUNCTION typename wg::detail::result<wgi_row_##name, X_, Y_>::type wg_##name(          \
        const X_ &x, const Y_ &y) {                                                            \
        WGI_ARE_OPERANDS(X_, Y_);                                                              \
        return wg::detail::apply<wgi_row_##name>(x, y);                                        \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X_, class Y_, class... None_,                                              \
              detail::if_own<sizeof...(None_), X_, Y_> = 0>                                    \
    WGI_FUNCTION detail::outcome<wgi_row_##name, X_, Y_>(name)(const X_ &x, const Y_ &y,       \
                                                               None_...) {                     \
        return detail::apply_here<wgi_row_##name>(x, y);                                       \
    }                                                                                          \
    }                                                                                          \
    }

#define WGI_TEMPLATE3(space, name)                                                             \
    struct wgi_row_##name {                                                                    \
        WGI_ROW(name, a[0], a[1], a[2])                                                        \
        WGI_ROW_D(0, wgi_op_##name##_da(a[0], a[1], a[2], v))                                  \
        WGI_ROW_D(1, wgi_op_##name##_db(a[0], a[1], a[2], v))                                  \
        WGI_ROW_D(2, wgi_op_##name##_dc(a[0], a[1], a[2], v))                                  \
    };                                                                                         \
    template <class X_, class Y_, class Z_>                                                    \
    WGI_FUNCTION typename wg::detail::result<wgi_row_##name, X_, Y_, Z_>::type wg_##name(      \
        const X_ &x, const Y_ &y, const Z_ &z) {                                               \
        WGI_ARE_OPERANDS(X_, Y_, Z_);                                                          \
        return wg::detail::apply<wgi_row_##name>(x, y, z);                                     \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X_, class Y_, class Z_, class... None_,                                    \
              detail::if_own<sizeof...(None_), X_, Y_, Z_> = 0>                                \
    WGI_FUNCTION detail::outcome<wgi_row_##name, X_, Y_, Z_>(name)(const X_ &x, const Y_ &y,   \
                                                                   const Z_ &z, None_...) {    \
        return detail::apply_here<wgi_row_##name>(x, y, z);                                    \
    }                                                                                          \
    }                                                                                          \
    }

#define WGI_TEMPLATE4(space, name)                                                             \
    struct wgi_row_##name {                                                                    \
        WGI_ROW(name, a[0], a[1], a[2], a[3])                                                  \
        WGI_ROW_D(0, wgi_op_##name##_da(a[0], a[1], a[2], a[3], v))                            \
        WGI_ROW_D(1, wgi_op_##name##_db(a[0], a[1], a[2], a[3], v))                            \
        WGI_ROW_D(2, wgi_op_##name##_dc(a[0], a[1], a[2], a[3], v))                            \
        WGI_ROW_D(3, wgi_op_##name##_dd(a[0], a[1], a[2], a[3], v))                            \
    };                                                                                         \
    template <class X_, class Y_, class Z_, class W_>                                          \
    WGI_FUNCTION typename wg::detail::result<wgi_row_##name, X_, Y_, Z_, W_>::type wg_##name(  \
        const X_ &x, const Y_ &y, const Z_ &z, const W_ &w) {                                  \
        WGI_ARE_OPERANDS(X_, Y_, Z_, W_);                                                      \
        return wg::detail::apply<wgi_row_##name>(x, y, z, w);                                  \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X_, class Y_, class Z_, class W_, class... None_,                          \
              detail::if_own<sizeof...(None_), X_, Y_, Z_, W_> = 0>                            \
    WGI_FUNCTION detail::outcome<wgi_row_##name, X_, Y_, Z_, W_>(name)(                        \
        const X_ &x, const Y_ &y, const Z_ &z, const W_ &w, None_...) {                        \
        return detail::apply_here<wgi_row_##name>(x, y, z, w);                                 \
    }                                                                                          \
    }                                                                                          \
    }

/* Operations of a user's own (wengert/operation.h): their descriptor's address is a number. */
#define WGI_USER_ROW(name, ...)                                                                \
    static constexpr int op = WGI_OP_USER;                                                     \
    static constexpr bool calls = true;                                                        \
    WGI_MEMBER static double address() {                                                       \
        const uint64_t bits = reinterpret_cast<uintptr_t>(&wgi_user_##name);                   \
        double number;                                                                         \
        __builtin_memcpy(&number, &bits, sizeof bits);                                         \
        return number;                                                                         \
    }                                                                                          \
    WGI_MEMBER static double v(const double *a) {                                              \
        (void)a;                                                                               \
        return wgi_op_user_##name##_v(__VA_ARGS__);                                            \
    }
#define WGI_USER_ROW1(name)                                                                    \
    struct wgi_row_user_##name {                                                               \
        WGI_USER_ROW(name, a[0])                                                               \
        WGI_ROW_D(0, wgi_op_user_##name##_da(a[0], v))                                         \
    };
#define WGI_USER_ROW2(name)                                                                    \
    struct wgi_row_user_##name {                                                               \
        WGI_USER_ROW(name, a[0], a[1])                                                         \
        WGI_ROW_D(0, wgi_op_user_##name##_da(a[0], a[1], v))                                   \
        WGI_ROW_D(1, wgi_op_user_##name##_db(a[0], a[1], v))                                   \
    };
#define WGI_USER_ROW3(name)                                                                    \
    struct wgi_row_user_##name {                                                               \
        WGI_USER_ROW(name, a[0], a[1], a[2])                                                   \
        WGI_ROW_D(0, wgi_op_user_##name##_da(a[0], a[1], a[2], v))                             \
        WGI_ROW_D(1, wgi_op_user_##name##_db(a[0], a[1], a[2], v))                             \
        WGI_ROW_D(2, wgi_op_user_##name##_dc(a[0], a[1], a[2], v))                             \
    };
#define WGI_USER_ROW4(name)                                                                    \
    struct wgi_row_user_##name {                                                               \
        WGI_USER_ROW(name, a[0], a[1], a[2], a[3])                                             \
        WGI_ROW_D(0, wgi_op_user_##name##_da(a[0], a[1], a[2], a[3], v))                       \
        WGI_ROW_D(1, wgi_op_user_##name##_db(a[0], a[1], a[2], a[3], v))                       \
        WGI_ROW_D(2, wgi_op_user_##name##_dc(a[0], a[1], a[2], a[3], v))                       \
        WGI_ROW_D(3, wgi_op_user_##name##_dd(a[0], a[1], a[2], a[3], v))                       \
    };
#define WG_CALL1(name, x) wg::detail::apply<wgi_row_user_##name>(x)
#define WG_CALL2(name, x, y) wg::detail::apply<wgi_row_user_##name>(x, y)
#define WG_CALL3(name, x, y, z) wg::detail::apply<wgi_row_user_##name>(x, y, z)
#define WG_CALL4(name, x, y, z, w) wg::detail::apply<wgi_row_user_##name>(x, y, z, w)

/* Operators, where one operand is a wg::active or an expression. */
#define WGI_OPERATOR2(sign, name)                                                              \
    namespace wg {                                                                             \
    template <class X_, class Y_, detail::if_own<0, X_, Y_> = 0>                               \
    WGI_CONSTANT detail::outcome<wgi_row_##name, X_, Y_> operator sign(const X_ &x,            \
                                                                       const Y_ &y) {          \
        return WGI_IS_CONSTANT()                                                               \
                   ? detail::outcome<wgi_row_##name, X_, Y_>(detail::constant{                 \
                         detail::operand<X_>::value(x) sign detail::operand<Y_>::value(y)})    \
                   : detail::apply_here<wgi_row_##name>(x, y);                                 \
    }                                                                                          \
    }
#define WGI_OPERATOR1(sign, name)                                                              \
    namespace wg {                                                                             \
    template <class X_, detail::if_own<0, X_> = 0>                                             \
    WGI_CONSTANT detail::outcome<wgi_row_##name, X_> operator sign(const X_ &x) {              \
        return WGI_IS_CONSTANT() ? detail::outcome<wgi_row_##name, X_>(                        \
                                       detail::constant{sign detail::operand<X_>::value(x)})   \
                                 : detail::apply_here<wgi_row_##name>(x);                      \
    }                                                                                          \
    }

#endif

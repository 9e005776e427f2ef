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
 * Names:  X Y Z W types of operands;  a b c d their values;  v the value;  p partials, x values
 * and h handles of a list (slot in the low half);  N operands, L numbers, B bits of code. */
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

template <int... K> struct sequence {};
template <int N, int... K> struct sequence_to {
    using type = typename sequence_to<N - 1, N - 1, K...>::type;
};
template <int... K> struct sequence_to<0, K...> { using type = sequence<K...>; };
template <int N> using indices = typename sequence_to<N>::type;

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
template <class X>
struct is_number : std::integral_constant<bool, std::is_arithmetic<X>::value ||
                                                    (std::is_enum<X>::value &&
                                                     std::is_convertible<X, double>::value)> {};

template <bool...> struct bools;
template <bool... B> using all_of = std::is_same<bools<true, B...>, bools<B..., true>>;
template <bool... B> using any_of = std::integral_constant<bool, !all_of<!B...>::value>;

template <int N> struct list {
    double p[N], x[N];
    uint64_t h[N];
};
template <> struct list<0> {};
/* A variable that stands alone: its partial is 1. */
struct lone {
    double x;
    uint64_t h;
};
template <int L> struct numbers { double n[L]; };
template <> struct numbers<0> {};
/* The value of a constant expression. */
struct constant {
    double value;
};

/* The operands of s, their partials times d, are those of r from position At on. */
template <int At, int N, int M, int... K>
WGI_FUNCTION void put(list<N> &r, double d, const list<M> &s, sequence<K...>) {
    (void)d, (void)s, (void)r;
    WGI_FOR_EACH(r.p[At + K] = d * s.p[K], r.x[At + K] = s.x[K], r.h[At + K] = s.h[K]);
}
template <int At, int N>
WGI_FUNCTION void put(list<N> &r, double d, const lone &s, sequence<0>) {
    r.p[At] = d, r.x[At] = s.x, r.h[At] = s.h;
}

template <int At, int L, int M, int... K>
WGI_FUNCTION void put_numbers(numbers<L> &r, const numbers<M> &s, sequence<K...>) {
    (void)s, (void)r;
    WGI_FOR_EACH(r.n[At + K] = s.n[K]);
}

/* Conversions between expressions go upwards in this. */
constexpr int rank_of(int n, int l, int b) { return (n * 64 + l) * 256 + b; }

WGI_FUNCTION uint64_t word_of(const wg_real &x) { return wgi_word(x.at); }

} // namespace detail

/* ---- operands: numbers, variables, expressions ------------------------------------------ */

/* Made by the operations; wg_let makes a variable of it, and so does what takes a wg::active. B
 * is the most that `bits` may be. An expression that has been converted from another one, or
 * from a number, as the arms of ? : are, stands for a variable: it has fewer operands and
 * numbers than its type says, and the others count as absent (operands in the lower 8 bits,
 * numbers above). */
template <int N, int L, int B> struct expression {
    double value;
    detail::list<N> at;
    detail::numbers<L> lit;
    wgi_bits code;
    int bits;
    bool products; /* were partials multiplied? */
    unsigned absent;

    expression() = default;
    template <int M, int K, int C,
              typename std::enable_if<(detail::rank_of(M, K, C) < detail::rank_of(N, L, B)),
                                      int>::type = 0>
    WGI_MEMBER expression(const expression<M, K, C> &e);
    template <class Number,
              typename std::enable_if<detail::is_number<Number>::value, int>::type = 0>
    WGI_MEMBER expression(Number x) {
        stand_for(static_cast<double>(x), 0);
    }
    /* In a constant expression; as stand_for. */
    explicit constexpr expression(detail::constant x)
        : value(x.value), at{{1}, {x.value}, {0}}, lit(), code(0), bits(2), products(false),
          absent(((1u << N) - 2) | ((1u << L) - 1) << 8) {}
    /* As of wg::active. */
    template <class Whole,
              typename std::enable_if<std::is_integral<Whole>::value, int>::type = 0>
    WGI_CONSTANT WGI_TO_WHOLE operator Whole() const;

  private:
    /* Padding is a constant whose partial is 0: tapes that keep no code need not know. */
    WGI_MEMBER void stand_for(double x, uint64_t h) {
        value = x;
        for (int i = 0; i < N; i++) at.p[i] = at.x[i] = 0, at.h[i] = 0;
        at.p[0] = 1, at.x[0] = x, at.h[0] = h;
        __builtin_memset(&lit, 0, sizeof lit);
        code = 0, bits = 2, products = false;
        absent = ((1u << N) - 2) | ((1u << L) - 1) << 8;
    }
};

namespace detail {

/* What is no operand is reported, and then treated as nothing. */
template <class X, class = void> struct operand {
    static constexpr bool is = false, active = false, own = false, compound = false;
    static constexpr int count = 0, literals = 0, most = 0;
    static double value(const X &) { return 0; }
    static list<0> at(const X &) { return list<0>(); }
    static numbers<0> lit(const X &) { return numbers<0>(); }
    static wgi_bits code(const X &) { return 0; }
    static int bits(const X &) { return 0; }
    static unsigned absent(const X &) { return 0; }
};

template <class X> struct operand<X, typename std::enable_if<is_number<X>::value>::type> {
    static constexpr bool is = true, active = false, own = false, compound = false;
    static constexpr int count = 0, literals = 1, most = 2;
    WGI_CONSTANT static double value(X x) { return static_cast<double>(x); }
    WGI_MEMBER static list<0> at(X) { return list<0>(); }
    WGI_MEMBER static numbers<1> lit(X x) {
        numbers<1> r;
        r.n[0] = static_cast<double>(x);
        return r;
    }
    WGI_MEMBER static wgi_bits code(X) { return 1; }
    WGI_MEMBER static int bits(X) { return 2; }
    WGI_MEMBER static unsigned absent(X) { return 0; }
};

/* own: is it one of namespace wg, whose operators and functions take it? */
template <class X> struct variable_operand {
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

template <int N, int L, int B> struct operand<expression<N, L, B>> {
    using type = expression<N, L, B>;
    static constexpr bool is = true, active = true, own = true, compound = true;
    static constexpr int count = N, literals = L, most = B;
    WGI_CONSTANT static double value(const type &x) { return x.value; }
    WGI_MEMBER static list<N> at(const type &x) { return x.at; }
    WGI_MEMBER static numbers<L> lit(const type &x) { return x.lit; }
    WGI_MEMBER static wgi_bits code(const type &x) { return x.code; }
    WGI_MEMBER static int bits(const type &x) { return x.bits; }
    WGI_MEMBER static unsigned absent(const type &x) { return x.absent; }
};

template <class... X> using all_are_operands = all_of<operand<X>::is...>;
template <class... X> using one_is_own = any_of<operand<X>::own...>;
/* What is no operand may be of another library, whose operators take a wg::active. */
template <std::size_t None, class... X>
using if_own = typename std::enable_if<
    None == 0 && one_is_own<X...>::value && all_are_operands<X...>::value, int>::type;

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
    template <int... K> WGI_FUNCTION wgi_s##n c_list(const list<n> &s, sequence<K...>) {       \
        return wgi_s##n{{s.p[K]...}, {s.x[K]...}, {s.h[K]...}};                                \
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

template <int L, int... K>
WGI_FUNCTION void store_numbers(double *w, const numbers<L> &s, sequence<K...>) {
    (void)w, (void)s;
    WGI_FOR_EACH(w[K] = s.n[K]);
}

/* Handles in one word, which is 0 where all are those of numbers. */
WGI_FUNCTION uint64_t either() { return 0; }
template <class... More> WGI_FUNCTION uint64_t either(uint64_t h, More... more) {
    return h | either(more...);
}
template <int N, int... K> WGI_FUNCTION uint64_t places(const list<N> &s, sequence<K...>) {
    (void)s;
    return either(s.h[K]...);
}
template <int N> WGI_FUNCTION uint64_t places(const list<N> &s) {
    return places(s, indices<N>());
}
WGI_FUNCTION uint64_t places(const lone &s) { return s.h; }

/* The first n of 8 operands. */
template <int N> struct shortened {
    template <int... K>
    static wg_real let(wg_tape *t, double value, int n, const list<8> &s, const double *number,
                       const wgi_site *site, sequence<K...>) {
        if (n != N)
            return shortened<N - 1>::let(t, value, n, s, number, site, indices<N - 1>());
        const list<N> l = {{s.p[K]...}, {s.x[K]...}, {s.h[K]...}};
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

template <int N, int... K>
WGI_FUNCTION wg_real leave_present(wg_tape *t, double value, int l, const list<N> &s,
                                   const double *lit, unsigned absent, const wgi_site *site,
                                   sequence<K...>) {
    list<8> all = list<8>();
    (void)s;
    WGI_FOR_EACH(all.p[K] = s.p[K], all.x[K] = s.x[K], all.h[K] = s.h[K]);
    return let_present(t, value, N, l, all, lit, absent, site);
}

/* t: never NULL. here: it is the tape of this thread, if there is one. */
template <bool Small, int N, int L, int B>
WGI_FUNCTION wg_real let(wg_tape *t, const expression<N, L, B> &e, bool here, const char *file,
                         int line) {
    static_assert(N <= WGI_MAX_OPERANDS,
                  "wengert: more than 8 variables in one statement: split it with wg_let");
    static_assert(L <= WGI_MAX_NUMBERS,
                  "wengert: more than 8 numbers in one statement: split it with wg_let");
    static_assert(B <= WGI_MAX_CODE,
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
    const wgi_site site = {e.code, WGI_CODE_HEAD(line, 0, e.bits, N, L), file};
    double number[WGI_MAX_NUMBERS];
    store_numbers(number, e.lit, indices<L>());
    wg_tape *const shown = here || t != &wgi_no_tape ? t : nullptr;
    if (WGI_UNLIKELY(e.absent != 0))
        return leave_present(shown, e.value, L, e.at, L != 0 ? number : nullptr, e.absent,
                             &site, indices<N>());
    return leave(shown, e.value, e.at, L != 0 ? number : nullptr, &site);
}

template <int N, int L, int B>
WGI_FUNCTION wg_real let_here(const expression<N, L, B> &e, const char *file, int line) {
    wg_tape *const t = tape_here();
    return let<WGI_SMALL_CODE>(t, e, true, file, line);
}

/* A part of a statement, which may go to a tape yet though this thread has none: then it has a
 * handle that no tape takes. */
template <int N, int L, int B>
WGI_FUNCTION wg_real let_part(const expression<N, L, B> &e, const char *file, int line) {
    wg_real x = let_here(e, file, line);
    if (!has_tape() && places(e.at) != 0) x.at.slot = WGI_OUTSIDE;
    return x;
}

/* ---- operations -------------------------------------------------------------------------- */

/* An operand as it is, or, where the statement would be too long, as a variable. */
template <bool Cut, class X> struct taken {
    using type = X;
    WGI_MEMBER static const X &of(const X &x) { return x; }
};
template <int N, int L, int B> struct taken<true, expression<N, L, B>> {
    using type = wg_real;
    WGI_MEMBER static wg_real of(const expression<N, L, B> &x) {
        return let_part(x, __builtin_FILE(), __builtin_LINE());
    }
};

/* How many operands, numbers and bits all would have, and which of them are cut: the longest
 * one, the first of such; all that can be where that is not enough. */
template <class F, class... X> struct whole {
    static constexpr int own = F::op == WGI_OP_USER, width = F::op >= 1 && F::op <= 4 ? 4 : 9;
    static constexpr int count = sum_of(operand<X>::count...);
    static constexpr int literals = sum_of(operand<X>::literals...) + own;
    static constexpr int most = sum_of(operand<X>::most...) + width;
    static constexpr bool fits =
        count <= WGI_MAX_OPERANDS && literals <= WGI_MAX_NUMBERS && most <= WGI_MAX_CODE;
    template <class Y> static constexpr int length() {
        return operand<Y>::compound
                   ? (operand<Y>::count + operand<Y>::literals) * 256 + operand<Y>::most
                   : 0;
    }
    static constexpr int longest = place_of(largest_of(length<X>()...), length<X>()...);
};
template <bool Fits, class F, class K, class... X> struct cutting;
template <class F, int... K, class... X> struct cutting<true, F, sequence<K...>, X...> {
    template <int J> static constexpr bool cut() { return false; }
};
template <class F, int... K, class... X> struct cutting<false, F, sequence<K...>, X...> {
    using once = whole<F, typename taken<K == whole<F, X...>::longest, X>::type...>;
    template <int J> static constexpr bool cut() {
        return J == whole<F, X...>::longest || !once::fits;
    }
};

/* The kind of the result of operation F on operands X..., and where each of them begins in
 * it. */
template <class F, class... X> struct result {
    using all = whole<F, X...>;
    static constexpr int count = all::count, literals = all::literals, most = all::most;
    using type = expression<count, literals, most>;
    static constexpr bool products = any_of<operand<X>::compound...>::value;
    template <int K> static constexpr int operand_at() {
        return sum_before(K, operand<X>::count...);
    }
    template <int K> static constexpr int number_at() {
        return sum_before(K, operand<X>::literals...);
    }
    static constexpr wgi_bits code =
        static_cast<wgi_bits>(F::op >= 1 && F::op <= 4 ? (F::op - 1) * 4 + 2 : F::op * 4 + 3);
};

template <class F, int L> WGI_FUNCTION void name_user(numbers<L> &lit, std::true_type) {
    lit.n[L - 1] = F::address();
}
template <class F, int L> WGI_FUNCTION void name_user(numbers<L> &, std::false_type) {}

WGI_FUNCTION wgi_bits behind(int bits, wgi_bits code) { return code << (bits & 127); }

/* Is the partial by an operand worth its calls? Not by one that is a number. */
template <class F, class X> WGI_FUNCTION bool wanted(const X &x) {
    return operand<X>::count != 0 && (!F::calls || places(operand<X>::at(x)) != 0);
}

/* Of operands that fit. Where all are numbers the value is computed by itself: elsewhere one
 * call may give both the value and the partial, as of sin. */
template <class F, int... K, class... X>
WGI_FUNCTION typename result<F, X...>::type combine(sequence<K...>, const X &...x) {
    using R = result<F, X...>;
    const double a[] = {operand<X>::value(x)...};
    double v, d[sizeof...(X)];
    if (F::calls && either(places(operand<X>::at(x))...) == 0) {
        v = F::v(a);
        WGI_FOR_EACH(d[K] = 0);
    } else {
        v = F::v(a);
        WGI_FOR_EACH(d[K] = wanted<F, X>(x) ? F::d(std::integral_constant<int, K>(), a, v) : 0);
    }
    typename R::type r;
    r.value = v, r.products = R::products;
    r.code = 0, r.bits = 0, r.absent = 0;
    WGI_FOR_EACH(put<R::template operand_at<K>()>(r.at, d[K], operand<X>::at(x),
                                                  indices<operand<X>::count>()));
    WGI_FOR_EACH(put_numbers<R::template number_at<K>()>(r.lit, operand<X>::lit(x),
                                                         indices<operand<X>::literals>()));
    name_user<F>(r.lit, std::integral_constant<bool, F::op == WGI_OP_USER>());
    WGI_FOR_EACH(r.code |= behind(r.bits, operand<X>::code(x)), r.bits += operand<X>::bits(x));
    WGI_FOR_EACH(r.absent |= (operand<X>::absent(x) & 255) << R::template operand_at<K>() |
                             (operand<X>::absent(x) >> 8) << (8 + R::template number_at<K>()));
    r.code |= behind(r.bits, R::code);
    r.bits += R::all::width;
    return r;
}

/* Of any operands. */
template <class F, class K, class... X> struct operation;
template <class F, int... K, class... X> struct operation<F, sequence<K...>, X...> {
    using cut = cutting<whole<F, X...>::fits, F, sequence<K...>, X...>;
    using type = typename result<F, typename taken<cut::template cut<K>(), X>::type...>::type;
    WGI_MEMBER static type of(const X &...x) {
        return combine<F>(sequence<K...>(), taken<cut::template cut<K>(), X>::of(x)...);
    }
};
#ifdef WG_NO_EXPRESSIONS
/* A statement. */
template <class F, class... X> struct single { using type = active; };
template <class F, class... X> using outcome = typename single<F, X...>::type;
#else
template <class F, class... X>
using outcome = typename operation<F, indices<sizeof...(X)>, X...>::type;
#endif
template <class F, class... X> WGI_FUNCTION outcome<F, X...> apply_here(const X &...x) {
    return operation<F, indices<sizeof...(X)>, X...>::of(x...);
}
/* Without cuts. */
template <class F, class... X>
WGI_FUNCTION typename result<F, X...>::type apply(const X &...x) {
    return combine<F>(indices<sizeof...(X)>(), x...);
}

} // namespace detail

template <int N, int L, int B>
template <
    int M, int K, int C,
    typename std::enable_if<(detail::rank_of(M, K, C) < detail::rank_of(N, L, B)), int>::type>
expression<N, L, B>::expression(const expression<M, K, C> &e) {
    const wg_real x = detail::let_part(e, __builtin_FILE(), __builtin_LINE());
    stand_for(x.value, wgi_word(x.at));
}

} // namespace wg

/* wg_let - as in C. */
template <int N, int L, int B>
WGI_FUNCTION wg_real wg_let(wg_tape *t, const wg::expression<N, L, B> &e,
                            const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return wg::detail::let<WGI_SMALL_CODE>(wgi_tape(t), e, false, file, line);
}
template <class X, typename std::enable_if<!wg::detail::operand<X>::compound, int>::type = 0>
WGI_FUNCTION wg_real wg_let(wg_tape *t, const X &x, const char *file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
    using O = wg::detail::operand<X>;
    WGI_ARE_OPERANDS(X);
    const wgi_site site = {O::code(x), WGI_CODE_HEAD(line, 0, 2, O::count, O::literals), file};
    double number[WGI_MAX_NUMBERS];
    wg::detail::store_numbers(number, O::lit(x), wg::detail::indices<O::literals>());
    return wg::detail::leave(t, O::value(x), O::at(x), O::literals != 0 ? number : nullptr,
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
    template <class X>                                                                         \
    WGI_FUNCTION typename wg::detail::result<wgi_row_##name, X>::type wg_##name(const X &x) {  \
        WGI_ARE_OPERANDS(X);                                                                   \
        return wg::detail::apply<wgi_row_##name>(x);                                           \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X, class... None, detail::if_own<sizeof...(None), X> = 0>                  \
    WGI_FUNCTION detail::outcome<wgi_row_##name, X>(name)(const X &x, None...) {               \
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
    template <class X, class Y>                                                                \
    WGI_FUNCTION typename wg::detail::result<wgi_row_##name, X, Y>::type wg_##name(            \
        const X &x, const Y &y) {                                                              \
        WGI_ARE_OPERANDS(X, Y);                                                                \
        return wg::detail::apply<wgi_row_##name>(x, y);                                        \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X, class Y, class... None, detail::if_own<sizeof...(None), X, Y> = 0>      \
    WGI_FUNCTION detail::outcome<wgi_row_##name, X, Y>(name)(const X &x, const Y &y,           \
                                                             None...) {                        \
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
    template <class X, class Y, class Z>                                                       \
    WGI_FUNCTION typename wg::detail::result<wgi_row_##name, X, Y, Z>::type wg_##name(         \
        const X &x, const Y &y, const Z &z) {                                                  \
        WGI_ARE_OPERANDS(X, Y, Z);                                                             \
        return wg::detail::apply<wgi_row_##name>(x, y, z);                                     \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X, class Y, class Z, class... None,                                        \
              detail::if_own<sizeof...(None), X, Y, Z> = 0>                                    \
    WGI_FUNCTION detail::outcome<wgi_row_##name, X, Y, Z>(name)(const X &x, const Y &y,        \
                                                                const Z &z, None...) {         \
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
    template <class X, class Y, class Z, class W>                                              \
    WGI_FUNCTION typename wg::detail::result<wgi_row_##name, X, Y, Z, W>::type wg_##name(      \
        const X &x, const Y &y, const Z &z, const W &w) {                                      \
        WGI_ARE_OPERANDS(X, Y, Z, W);                                                          \
        return wg::detail::apply<wgi_row_##name>(x, y, z, w);                                  \
    }                                                                                          \
    namespace wg {                                                                             \
    namespace space {                                                                          \
    template <class X, class Y, class Z, class W, class... None,                               \
              detail::if_own<sizeof...(None), X, Y, Z, W> = 0>                                 \
    WGI_FUNCTION detail::outcome<wgi_row_##name, X, Y, Z, W>(name)(const X &x, const Y &y,     \
                                                                   const Z &z, const W &w,     \
                                                                   None...) {                  \
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
    template <class X, class Y, detail::if_own<0, X, Y> = 0>                                   \
    WGI_CONSTANT detail::outcome<wgi_row_##name, X, Y> operator sign(const X &x, const Y &y) { \
        return WGI_IS_CONSTANT() ? detail::outcome<wgi_row_##name, X, Y>(detail::constant{     \
                                       detail::operand<X>::value(x)                            \
                                           sign detail::operand<Y>::value(y)})                 \
                                 : detail::apply_here<wgi_row_##name>(x, y);                   \
    }                                                                                          \
    }
#define WGI_OPERATOR1(sign, name)                                                              \
    namespace wg {                                                                             \
    template <class X, detail::if_own<0, X> = 0>                                               \
    WGI_CONSTANT detail::outcome<wgi_row_##name, X> operator sign(const X &x) {                \
        return WGI_IS_CONSTANT() ? detail::outcome<wgi_row_##name, X>(                         \
                                       detail::constant{sign detail::operand<X>::value(x)})    \
                                 : detail::apply_here<wgi_row_##name>(x);                      \
    }                                                                                          \
    }

#endif

/* SPDX-License-Identifier: MIT */
/* The statement recorder in C++17: the names of wengert/statement.h as templates.
 *
 * wg_add(x, y), wg_sin(x), ... of wengert/scalar.hpp take variables, expressions and numbers in
 * any position and give a wg::expression: its value, its operands with their partial
 * derivatives so far, its numbers and its code, all by value. wg_let(t, e) appends the
 * statement and gives a wg_real. What is recorded is what C records, bit for bit; the limits
 * are the same, and checked by the compiler: 8 operands, 8 numbers, 128 bits of code. `using
 * namespace wg;` gives
 *
 *     wg_real r = wg_let(t, sqrt(x * x + y * y));
 *
 * as well. There are no comparisons of variables: wg_lt(t, x, y), or wg_value.
 *
 * Names:  X Y Z W types of operands;  a b c d their values;  v the value;  p partials, x values
 * and h handles of a list (slot in the low half);  N operands, L numbers, B bits of code, P were
 * partials multiplied? */
#ifndef WENGERT_STATEMENT_HPP
#define WENGERT_STATEMENT_HPP

#ifndef __cplusplus
#error "wengert: this header is for C++; C code includes <wengert/statement.h> or <wengert.h>"
#endif
#if __cplusplus < 201703L
#error "wengert: compile as C++17 or later"
#endif

#include <type_traits>
#include <utility>
#include <wengert/statement.h>

#pragma GCC system_header

#ifdef __OPTIMIZE__
#define WGI_MEMBER __attribute__((always_inline)) inline
#else
#define WGI_MEMBER inline
#endif

namespace wg {
namespace detail {

/* ---- lists ---------------------------------------------------------------------------------
 * Every loop is a pack of constant indices: what a compiler dissolves into registers. */

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

template <int N> using indices = std::make_integer_sequence<int, N>;

/* The operands of s, their partials times d, are those of r from position At on. */
template <int At, int N, int M, int... I>
WGI_FUNCTION void put(list<N> &r, double d, const list<M> &s,
                      std::integer_sequence<int, I...>) {
    (void)d, (void)s, (void)r;
    ((r.p[At + I] = d * s.p[I], r.x[At + I] = s.x[I], r.h[At + I] = s.h[I]), ...);
}
template <int At, int N>
WGI_FUNCTION void put(list<N> &r, double d, const lone &s, std::integer_sequence<int, 0>) {
    r.p[At] = d, r.x[At] = s.x, r.h[At] = s.h;
}

template <int At, int L, int M, int... I>
WGI_FUNCTION void put_numbers(numbers<L> &r, const numbers<M> &s,
                              std::integer_sequence<int, I...>) {
    (void)s, (void)r;
    ((r.n[At + I] = s.n[I]), ...);
}

} // namespace detail

/* ---- operands: numbers, variables, expressions ------------------------------------------ */

/* Made by the operations; wg_let makes a variable of it. */
template <int N, int L, int B, bool P> struct expression {
    double value;
    detail::list<N> at;
    detail::numbers<L> lit;
    wgi_bits code;
};

using real = wg_real;

namespace detail {

/* What is no operand is reported, and then treated as nothing. */
template <class X, class = void> struct operand {
    static constexpr bool is = false, active = false, compound = false, products = false;
    static constexpr int count = 0, literals = 0, bits = 0;
    static double value(const X &) { return 0; }
    static list<0> at(const X &) { return list<0>(); }
    static numbers<0> lit(const X &) { return numbers<0>(); }
    static wgi_bits code(const X &) { return 0; }
};

template <class X> struct operand<X, std::enable_if_t<std::is_arithmetic_v<X>>> {
    static constexpr bool is = true, active = false, compound = false, products = false;
    static constexpr int count = 0, literals = 1, bits = 2;
    WGI_MEMBER static double value(X x) { return static_cast<double>(x); }
    WGI_MEMBER static list<0> at(X) { return list<0>(); }
    WGI_MEMBER static numbers<1> lit(X x) {
        numbers<1> r;
        r.n[0] = static_cast<double>(x);
        return r;
    }
    WGI_MEMBER static wgi_bits code(X) { return 1; }
};

template <> struct operand<wg_real> {
    static constexpr bool is = true, active = true, compound = false, products = false;
    static constexpr int count = 1, literals = 0, bits = 2;
    WGI_MEMBER static double value(const wg_real &x) { return x.value; }
    WGI_MEMBER static lone at(const wg_real &x) {
        lone r;
        r.x = x.value;
        r.h = wgi_word(x.at);
        return r;
    }
    WGI_MEMBER static numbers<0> lit(const wg_real &) { return numbers<0>(); }
    WGI_MEMBER static wgi_bits code(const wg_real &) { return 0; }
};

template <int N, int L, int B, bool P> struct operand<expression<N, L, B, P>> {
    using type = expression<N, L, B, P>;
    static constexpr bool is = true, active = true, compound = true, products = P;
    static constexpr int count = N, literals = L, bits = B;
    WGI_MEMBER static double value(const type &x) { return x.value; }
    WGI_MEMBER static list<N> at(const type &x) { return x.at; }
    WGI_MEMBER static numbers<L> lit(const type &x) { return x.lit; }
    WGI_MEMBER static wgi_bits code(const type &x) { return x.code; }
};

template <class... X> constexpr bool one_is_active = (operand<X>::active || ...);
template <std::size_t None, class... X>
using if_active = std::enable_if_t<None == 0 && one_is_active<X...>, int>;
template <class... X> constexpr bool all_are_operands = (operand<X>::is && ...);

#define WGI_ARE_OPERANDS(...)                                                                  \
    static_assert(wg::detail::all_are_operands<__VA_ARGS__>,                                   \
                  "wengert: an operand is no variable, expression or number (a pointer: an "   \
                  "index or a * is missing)")

/* The kind of the result of operation F on operands X..., and where each of them begins in it.
 */
template <class F, class... X> struct result {
    static constexpr int count = (operand<X>::count + ...);
    static constexpr int literals = (operand<X>::literals + ...) + (F::op == WGI_OP_USER);
    static constexpr int inner = (operand<X>::bits + ...);
    static constexpr int bits = inner + (F::op >= 1 && F::op <= 4 ? 4 : 9);
    static_assert(count <= WGI_MAX_OPERANDS,
                  "wengert: more than 8 variables in one statement: split it with wg_let");
    static_assert(literals <= WGI_MAX_NUMBERS,
                  "wengert: more than 8 numbers in one statement: split it with wg_let");
    static_assert(bits <= WGI_MAX_CODE,
                  "wengert: too many operations in one statement: split it with wg_let");
    using type = expression<count, literals, bits, (operand<X>::compound || ...)>;

    static constexpr int before(const int *n, int k) {
        return k == 0 ? 0 : n[0] + before(n + 1, k - 1);
    }
    static constexpr int counts[] = {operand<X>::count...};
    static constexpr int numbers[] = {operand<X>::literals...};
    static constexpr int widths[] = {operand<X>::bits...};
    template <int K> static constexpr int operand_at = before(counts, K);
    template <int K> static constexpr int number_at = before(numbers, K);
    template <int K> static constexpr int bit_at = before(widths, K);
    static constexpr wgi_bits code =
        static_cast<wgi_bits>(F::op >= 1 && F::op <= 4 ? (F::op - 1) * 4 + 2 : F::op * 4 + 3)
        << inner;
};

template <class F, int... K, class... X>
WGI_FUNCTION auto apply(std::integer_sequence<int, K...>, const X &...x) {
    using R = result<F, X...>;
    const double a[] = {operand<X>::value(x)...};
    const double v = F::v(a);
    const double d[] = {(operand<X>::count != 0 ? F::template d<K>(a, v) : 0)...};
    typename R::type r;
    r.value = v;
    (put<R::template operand_at<K>>(r.at, d[K], operand<X>::at(x),
                                    indices<operand<X>::count>()),
     ...);
    (put_numbers<R::template number_at<K>>(r.lit, operand<X>::lit(x),
                                           indices<operand<X>::literals>()),
     ...);
    if constexpr (F::op == WGI_OP_USER) r.lit.n[R::literals - 1] = F::address();
    r.code = ((operand<X>::code(x) << R::template bit_at<K>) | ...) | R::code;
    return r;
}

/* ---- appending -------------------------------------------------------------------------- */

/* By the functions of C, of wengert/statement_lists.h: there is one way to append. */
#define WGI_LISTS_OF(n)                                                                        \
    template <int... I>                                                                        \
    WGI_FUNCTION wgi_s##n c_list(const list<n> &s, std::integer_sequence<int, I...>) {         \
        return wgi_s##n{{s.p[I]...}, {s.x[I]...}, {s.h[I]...}};                                \
    }                                                                                          \
    WGI_FUNCTION bool ready(const wg_tape *t, const list<n> &s, bool products) {               \
        const wgi_s##n l = c_list(s, indices<n>());                                            \
        return wgi_ready_##n(t, t->limit, &l, products);                                       \
    }                                                                                          \
    WGI_FUNCTION double *kept(wg_tape *t, double value, const list<n> &s, bool products,       \
                              uint64_t head, wgi_bits code) {                                  \
        const wgi_s##n l = c_list(s, indices<n>());                                            \
        return wgi_kept_##n(t, value, &l, products, head, code);                               \
    }                                                                                          \
    WGI_FUNCTION wg_real append(wg_tape *t, double value, const list<n> &s) {                  \
        const wgi_s##n l = c_list(s, indices<n>());                                            \
        return wgi_append_##n(t, value, &l);                                                   \
    }                                                                                          \
    WGI_FUNCTION wg_real slow(wg_tape *t, double value, const list<n> &s,                      \
                              const double *number, uint64_t head, wgi_bits code,              \
                              const char *file) {                                              \
        const wgi_s##n l = c_list(s, indices<n>());                                            \
        return wgi_slow_##n(t, value, &l, number, head, code, file);                           \
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

WGI_FUNCTION wg_real slow(wg_tape *t, double value, const list<0> &, const double *number,
                          uint64_t head, wgi_bits code, const char *file) {
    const wgi_s0 none{};
    return wgi_slow_0(t, value, &none, number, head, code, file);
}
WGI_FUNCTION wg_real slow(wg_tape *t, double value, const lone &s, const double *number,
                          uint64_t head, wgi_bits code, const char *file) {
    wg_handle at;
    __builtin_memcpy(&at, &s.h, sizeof at);
    return wgi_slow_r(t, value, &at, number, head, code, file);
}

template <int L, int... I>
WGI_FUNCTION void store_numbers(double *w, const numbers<L> &s,
                                std::integer_sequence<int, I...>) {
    (void)w, (void)s;
    ((w[I] = s.n[I]), ...);
}

} // namespace detail
} // namespace wg

/* wg_let - as in C. */
template <class E>
WGI_FUNCTION wg_real wg_let(wg_tape *t, const E &e, const char *file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
    using namespace wg::detail;
    using O = operand<E>;
    WGI_ARE_OPERANDS(E);
    const uint64_t head = WGI_CODE_HEAD(line, 0, O::bits, O::count, O::literals);
    if constexpr (!std::is_same_v<E, wg_real> && O::count != 0) {
        wg_tape *const some = wgi_tape(t);
        bool fast = ready(some, e.at, O::products);
        if (O::count <= WGI_KEPT_OPERANDS && !WGI_NEARLY_ALWAYS(fast)) {
            double *const w = kept(some, e.value, e.at, O::products, head, e.code);
            if (w != nullptr) {
                store_numbers(w, e.lit, indices<O::literals>());
                fast = true;
            }
        }
        if (WGI_NEARLY_ALWAYS(fast)) return append(some, e.value, e.at);
    }
    double number[WGI_MAX_NUMBERS];
    store_numbers(number, O::lit(e), indices<O::literals>());
    return slow(t, O::value(e), O::at(e), O::literals != 0 ? number : nullptr, head, O::code(e),
                file);
}

namespace wg {

template <class E>
WGI_FUNCTION wg_real let(wg_tape *t, const E &e, const char *file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
    return wg_let(t, e, file, line);
}

} // namespace wg

/* ---- one operation: what wengert/scalar.hpp repeats for every row of ops/scalar/scalar.def ----- */

#define WGI_ROW(name, ...)                                                                     \
    static constexpr int op = WGI_OP_##name;                                                   \
    WGI_MEMBER static double v(const double *a) {                                              \
        (void)a;                                                                               \
        return wgi_op_##name##_v(__VA_ARGS__);                                                 \
    }                                                                                          \
    template <int K> WGI_MEMBER static double d(const double *a, double v)

/* wg_NAME of operands, and wg::NAME where one of them is a variable or an expression. A function
 * of that name in a program is preferred to wg::NAME: its parameters are no pack. In parentheses:
 * a macro of that name is left alone. */
#define WGI_TEMPLATE1(name)                                                                    \
    struct wgi_row_##name {                                                                    \
        WGI_ROW(name, a[0]) { return wgi_op_##name##_da(a[0], v); }                            \
    };                                                                                         \
    template <class X> WGI_FUNCTION auto wg_##name(const X &x) {                               \
        WGI_ARE_OPERANDS(X);                                                                   \
        return wg::detail::apply<wgi_row_##name>(wg::detail::indices<1>(), x);                 \
    }                                                                                          \
    namespace wg {                                                                             \
    template <class X, class... None,                                                          \
              detail::if_active<sizeof...(None), X> = 0>                                       \
    WGI_FUNCTION auto (name)(const X &x, None...) {                                            \
        return wg_##name(x);                                                                   \
    }                                                                                          \
    }

#define WGI_TEMPLATE2(name)                                                                    \
    struct wgi_row_##name {                                                                    \
        WGI_ROW(name, a[0], a[1]) {                                                            \
            if constexpr (K == 0) return wgi_op_##name##_da(a[0], a[1], v);                    \
            else return wgi_op_##name##_db(a[0], a[1], v);                                     \
        }                                                                                      \
    };                                                                                         \
    template <class X, class Y> WGI_FUNCTION auto wg_##name(const X &x, const Y &y) {          \
        WGI_ARE_OPERANDS(X, Y);                                                                \
        return wg::detail::apply<wgi_row_##name>(wg::detail::indices<2>(), x, y);              \
    }                                                                                          \
    namespace wg {                                                                             \
    template <class X, class Y, class... None,                                                 \
              detail::if_active<sizeof...(None), X, Y> = 0>                                    \
    WGI_FUNCTION auto (name)(const X &x, const Y &y, None...) {                                \
        return wg_##name(x, y);                                                                \
    }                                                                                          \
    }

#define WGI_TEMPLATE3(name)                                                                    \
    struct wgi_row_##name {                                                                    \
        WGI_ROW(name, a[0], a[1], a[2]) {                                                      \
            if constexpr (K == 0) return wgi_op_##name##_da(a[0], a[1], a[2], v);              \
            else if constexpr (K == 1) return wgi_op_##name##_db(a[0], a[1], a[2], v);         \
            else return wgi_op_##name##_dc(a[0], a[1], a[2], v);                               \
        }                                                                                      \
    };                                                                                         \
    template <class X, class Y, class Z>                                                       \
    WGI_FUNCTION auto wg_##name(const X &x, const Y &y, const Z &z) {                          \
        WGI_ARE_OPERANDS(X, Y, Z);                                                             \
        return wg::detail::apply<wgi_row_##name>(wg::detail::indices<3>(), x, y, z);           \
    }                                                                                          \
    namespace wg {                                                                             \
    template <class X, class Y, class Z, class... None,                                        \
              detail::if_active<sizeof...(None), X, Y, Z> = 0>                                 \
    WGI_FUNCTION auto (name)(const X &x, const Y &y, const Z &z, None...) {                    \
        return wg_##name(x, y, z);                                                             \
    }                                                                                          \
    }

#define WGI_TEMPLATE4(name)                                                                    \
    struct wgi_row_##name {                                                                    \
        WGI_ROW(name, a[0], a[1], a[2], a[3]) {                                                \
            if constexpr (K == 0) return wgi_op_##name##_da(a[0], a[1], a[2], a[3], v);        \
            else if constexpr (K == 1) return wgi_op_##name##_db(a[0], a[1], a[2], a[3], v);   \
            else if constexpr (K == 2) return wgi_op_##name##_dc(a[0], a[1], a[2], a[3], v);   \
            else return wgi_op_##name##_dd(a[0], a[1], a[2], a[3], v);                         \
        }                                                                                      \
    };                                                                                         \
    template <class X, class Y, class Z, class W>                                              \
    WGI_FUNCTION auto wg_##name(const X &x, const Y &y, const Z &z, const W &w) {              \
        WGI_ARE_OPERANDS(X, Y, Z, W);                                                          \
        return wg::detail::apply<wgi_row_##name>(wg::detail::indices<4>(), x, y, z, w);        \
    }                                                                                          \
    namespace wg {                                                                             \
    template <class X, class Y, class Z, class W, class... None,                               \
              detail::if_active<sizeof...(None), X, Y, Z, W> = 0>                              \
    WGI_FUNCTION auto (name)(const X &x, const Y &y, const Z &z, const W &w, None...) {        \
        return wg_##name(x, y, z, w);                                                          \
    }                                                                                          \
    }

/* Operations of a user's own (wengert/operation.h): their descriptor's address is a number. */
#define WGI_USER_ROW(name)                                                                     \
    static constexpr int op = WGI_OP_USER;                                                     \
    WGI_MEMBER static double address() {                                                       \
        const uint64_t bits = reinterpret_cast<uintptr_t>(&wgi_user_##name);                   \
        double number;                                                                         \
        __builtin_memcpy(&number, &bits, sizeof bits);                                         \
        return number;                                                                         \
    }
#define WGI_USER_ROW1(name)                                                                    \
    struct wgi_row_user_##name {                                                               \
        WGI_USER_ROW(name)                                                                     \
        WGI_MEMBER static double v(const double *a) { return wgi_op_user_##name##_v(a[0]); }   \
        template <int K> WGI_MEMBER static double d(const double *a, double v) {               \
            return wgi_op_user_##name##_da(a[0], v);                                           \
        }                                                                                      \
    };
#define WGI_USER_ROW2(name)                                                                    \
    struct wgi_row_user_##name {                                                               \
        WGI_USER_ROW(name)                                                                     \
        WGI_MEMBER static double v(const double *a) {                                          \
            return wgi_op_user_##name##_v(a[0], a[1]);                                         \
        }                                                                                      \
        template <int K> WGI_MEMBER static double d(const double *a, double v) {               \
            if constexpr (K == 0) return wgi_op_user_##name##_da(a[0], a[1], v);               \
            else return wgi_op_user_##name##_db(a[0], a[1], v);                                \
        }                                                                                      \
    };
#define WGI_USER_ROW3(name)                                                                    \
    struct wgi_row_user_##name {                                                               \
        WGI_USER_ROW(name)                                                                     \
        WGI_MEMBER static double v(const double *a) {                                          \
            return wgi_op_user_##name##_v(a[0], a[1], a[2]);                                   \
        }                                                                                      \
        template <int K> WGI_MEMBER static double d(const double *a, double v) {               \
            if constexpr (K == 0) return wgi_op_user_##name##_da(a[0], a[1], a[2], v);         \
            else if constexpr (K == 1) return wgi_op_user_##name##_db(a[0], a[1], a[2], v);    \
            else return wgi_op_user_##name##_dc(a[0], a[1], a[2], v);                          \
        }                                                                                      \
    };
#define WGI_USER_ROW4(name)                                                                    \
    struct wgi_row_user_##name {                                                               \
        WGI_USER_ROW(name)                                                                     \
        WGI_MEMBER static double v(const double *a) {                                          \
            return wgi_op_user_##name##_v(a[0], a[1], a[2], a[3]);                             \
        }                                                                                      \
        template <int K> WGI_MEMBER static double d(const double *a, double v) {               \
            if constexpr (K == 0) return wgi_op_user_##name##_da(a[0], a[1], a[2], a[3], v);   \
            else if constexpr (K == 1)                                                         \
                return wgi_op_user_##name##_db(a[0], a[1], a[2], a[3], v);                     \
            else if constexpr (K == 2)                                                         \
                return wgi_op_user_##name##_dc(a[0], a[1], a[2], a[3], v);                     \
            else return wgi_op_user_##name##_dd(a[0], a[1], a[2], a[3], v);                    \
        }                                                                                      \
    };
#define WG_CALL1(name, x) wg::detail::apply<wgi_row_user_##name>(wg::detail::indices<1>(), x)
#define WG_CALL2(name, x, y)                                                                   \
    wg::detail::apply<wgi_row_user_##name>(wg::detail::indices<2>(), x, y)
#define WG_CALL3(name, x, y, z)                                                                \
    wg::detail::apply<wgi_row_user_##name>(wg::detail::indices<3>(), x, y, z)
#define WG_CALL4(name, x, y, z, w)                                                             \
    wg::detail::apply<wgi_row_user_##name>(wg::detail::indices<4>(), x, y, z, w)

/* Operators of namespace wg, where one operand is a variable or an expression. */
#define WGI_OPERATOR2(sign, name)                                                              \
    namespace wg {                                                                             \
    template <class X, class Y, std::enable_if_t<detail::one_is_active<X, Y>, int> = 0>        \
    WGI_FUNCTION auto operator sign(const X &x, const Y &y) {                                  \
        return wg_##name(x, y);                                                                \
    }                                                                                          \
    }
#define WGI_OPERATOR1(sign, name)                                                              \
    namespace wg {                                                                             \
    template <class X, std::enable_if_t<detail::one_is_active<X>, int> = 0>                    \
    WGI_FUNCTION auto operator sign(const X &x) {                                              \
        return wg_##name(x);                                                                   \
    }                                                                                          \
    }

#endif

/* SPDX-License-Identifier: MIT */
/* The statement recorder: expression templates in C.
 *
 * wg_add(x, y), wg_sin(x), ... take variables, expressions and numbers of any arithmetic type in
 * any position and give an expression: its value, its operands with their partial derivatives so
 * far, and its code, all by value. wg_let(t, e) appends the statement to the tape and gives a
 * variable. A statement has at most 8 operands, 8 numbers and 128 bits of code; all three
 * limits are checked by the compiler. What the optimiser leaves of a statement is its arithmetic,
 * one test, and the stores of its records. Two expressions are of two types: c ? wg_sin(x) :
 * wg_cos(x) does not compile, but with a wg_let around each it does.
 *
 * Names inside the macros:  x y z w operands;  j k l m their kinds (0 a number, 1 a variable,
 * 2 an expression);  a b c d their values;  v the value;  s the list of operands.
 * An expression is a structure made where it stands:
 *   value, at (operands), lit (its numbers), code (bits),
 *   meta: an array of size 0 whose element has the size 2 * (bits of code) + (partials may be 0, or infinite).
 * Code, lowest bits first, postfix:  00 next operand;  01 next literal;  10 + 2 bits one of the
 * operations 1..4;  11 + 7 bits any operation. */
#ifndef WENGERT_STATEMENT_H
#define WENGERT_STATEMENT_H

#include <wengert/tape.h>

/* Nested expressions reuse the names of their locals on purpose, and use GNU C throughout. */
#pragma GCC system_header

enum { WGI_ARITH = 0, WGI_GUARD = 1, WGI_SING = 2 }; /* the domain column of ops/scalar.def */
enum { WGI_MAX_OPERANDS = 8, WGI_MAX_NUMBERS = 8, WGI_MAX_CODE = 128 };
enum { WGI_OP_USER = 127 }; /* a user's operation; its descriptor is the next literal */

typedef unsigned __int128 wgi_bits;

/* Small functions; and those on lists of operands. Where nothing is optimised the latter are
 * called in the library, which is optimised (tape/statement.c emits them). */
#define WGI_FUNCTION static inline __attribute__((always_inline, unused))
#if defined(WGI_EMIT_LISTS)
#define WGI_LIST WG_API
#elif defined(__OPTIMIZE__)
#define WGI_LIST WGI_FUNCTION
#else
#define WGI_LIST extern inline __attribute__((gnu_inline))
#endif

/* d p when the product came out NaN: exactly 0 when either factor is. */
WGI_FUNCTION double wgi_zero_rule(double d, double p, double product) {
    return (d == 0) | (p == 0) ? 0 : product;
}

/* What a statement with more than 8 numbers calls, and cannot. */
void wgi_too_many_numbers(void) __attribute__((
    error("wengert: more than 8 numbers in one statement: split it with wg_let")));

/* The head word of an entry of kept code: slot, type, bits of code or operation, operands,
 * numbers. */
WGI_FUNCTION uint64_t wgi_code_head(uint32_t out, unsigned type, unsigned bits, size_t operands,
                                    size_t numbers) {
    return (uint64_t)out | (uint64_t)type << 32 | (uint64_t)bits << 36 |
           (uint64_t)operands << 48 | (uint64_t)numbers << 56;
}

/* A handle as one word, and back: statements load, compare and store it whole. */
WGI_FUNCTION uint64_t wgi_word(wg_handle h) {
    uint64_t word;
    __builtin_memcpy(&word, &h, sizeof word);
    return word;
}
WGI_FUNCTION wg_real wgi_result(const wg_tape *t, double value, uint32_t out) {
    const uint64_t word = (uint64_t)t->stamp << 32 | out;
    wg_real x;
    x.value = value;
    __builtin_memcpy(&x.at, &word, sizeof word);
    return x;
}

/* wgi_let_n: everything the fast path does not do: capacity, stale handles, constants, modes, code.
 * Gets numbers, head (with the line in place of the slot), code and file of the statement. */
WG_BEGIN_DECLS
#include <wengert/statement_lists.h>
WG_END_DECLS

#ifndef __cplusplus /* C++ goes on in wengert/statement.hpp */

WGI_FUNCTION wgi_l1 wgi_number_of(double x) { return (wgi_l1){x}; }

/* What stands for the fields that a number and a variable do not have. */
struct wgi_number {
    double value;
    wgi_s0 at;
    wgi_l1 lit;
    wgi_bits code;
    char meta[0][4];
};
struct wgi_variable {
    wgi_l0 lit;
    wgi_bits code;
    char meta[0][4];
};
static const struct wgi_number wgi_number __attribute__((unused)) = {0, {}, {0}, 1, {}};
static const struct wgi_variable wgi_variable __attribute__((unused)) = {{}, 0, {}};

#define WGI_KIND(x)                                                                            \
    (__builtin_classify_type(x) == 12                                                          \
         ? 2 - __builtin_types_compatible_p(__typeof__(x), const wg_real)                      \
         : 0)
/* Fields of an operand x of kind k. */
#define WGI_EXPR(x, k) __builtin_choose_expr(k, x, wgi_number)
#define WGI_REST(x, k) __builtin_choose_expr(k == 1, wgi_variable, WGI_EXPR(x, k))
#define WGI_VALUE(x, k) ((double)__builtin_choose_expr(k, WGI_EXPR(x, k).value, x))
#define WGI_LIT(x, k)                                                                          \
    __builtin_choose_expr(k, WGI_REST(x, k).lit,                                               \
                          wgi_number_of((double)__builtin_choose_expr(k, 0, x)))
#define WGI_META(x, k) sizeof(WGI_REST(x, k).meta[0])

/* Bits of an operation, and its code. */
#define WGI_WIDTH(op) ((op) >= 1 && (op) <= 4 ? 4 : 9)
#define WGI_CODE(op) ((wgi_bits)((op) >= 1 && (op) <= 4 ? ((op)-1) * 4 + 2 : (op)*4 + 3))
/* Number of variables in a list. */
#define WGI_COUNT(p) (sizeof *p == sizeof(wg_handle) ? 1 : sizeof *p / 24)

#define WGI_NOT_A_POINTER(x)                                                                   \
    _Static_assert(__builtin_classify_type(x) != 5,                                            \
                   "wengert: an operand is a pointer: an index or a * is missing")
#define WGI_FITS(count, bits)                                                                  \
    _Static_assert((count) <= WGI_MAX_OPERANDS,                                                \
                   "wengert: more than 8 variables in one statement: split it with wg_let");   \
    _Static_assert((bits) <= WGI_MAX_CODE,                                                     \
                   "wengert: too many operations in one statement: split it with wg_let")
#define WGI_NUMBERS_FIT(l, k)                                                                  \
    _Static_assert(sizeof(l) + sizeof(k) <= 8 * WGI_MAX_NUMBERS,                               \
                   "wengert: more than 8 numbers in one statement: split it with wg_let")

/* Built-in operations as scalar.h uses them. */
#define WGI_OP1(name, op, class, x_) WGI_APPLY1(name, op, class, x_, WGI_AS_IT_IS)
#define WGI_OP2(name, op, class, x_, y_) WGI_APPLY2(name, op, class, x_, y_, WGI_AS_IT_IS)
#define WGI_OP3(name, op, class, x_, y_, z_) WGI_APPLY3(name, op, class, x_, y_, z_, WGI_AS_IT_IS)
#define WGI_OP4(name, op, class, x_, y_, z_, w_)                                               \
    WGI_APPLY4(name, op, class, x_, y_, z_, w_, WGI_AS_IT_IS)
#define WGI_AS_IT_IS(name, lit) lit

#define WGI_APPLY1(name, op, class, x_, finish)                                                \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        WGI_NOT_A_POINTER(wgi_x);                                                              \
        enum { wgi_j = WGI_KIND(wgi_x), wgi_i = WGI_META(wgi_x, wgi_j) };                      \
        enum { wgi_g = (wgi_i) & 1, wgi_1 = wgi_i / 2 };                                       \
        enum { wgi_n = wgi_1 + WGI_WIDTH(op) };                                                \
        const __typeof__(WGI_EXPR(wgi_x, wgi_j).at) *wgi_p;                                    \
        WGI_FITS(WGI_COUNT(wgi_p), wgi_n);                                                     \
        const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                          \
        const double wgi_v = wgi_op_##name##_v(wgi_a);                                         \
        const __auto_type wgi_s = WGI_SCALE(*wgi_p)(                                           \
            WGI_EXPR(wgi_x, wgi_j).at, wgi_a,                                                  \
            sizeof *wgi_p ? wgi_op_##name##_da(wgi_a, wgi_v) : 0, (class) || wgi_g);           \
        const __auto_type wgi_lit = finish(name, WGI_LIT(wgi_x, wgi_j));                       \
        struct wg_expression_needs_wg_let {                                                    \
            double value;                                                                      \
            __typeof__(wgi_s) at;                                                              \
            __typeof__(wgi_lit) lit;                                                           \
            wgi_bits code;                                                                     \
            char meta[0][2 * wgi_n + (wgi_g | ((class) != WGI_ARITH))];                         \
        };                                                                                     \
        (struct wg_expression_needs_wg_let){                                                   \
            wgi_v, wgi_s, wgi_lit,                                                             \
            WGI_REST(wgi_x, wgi_j).code |                                                      \
            WGI_CODE(op) << wgi_1,                                                             \
            {}};                                                                               \
    })

#define WGI_APPLY2(name, op, class, x_, y_, finish)                                            \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        const __auto_type wgi_y = (y_);                                                        \
        WGI_NOT_A_POINTER(wgi_x);                                                              \
        WGI_NOT_A_POINTER(wgi_y);                                                              \
        enum { wgi_j = WGI_KIND(wgi_x), wgi_i = WGI_META(wgi_x, wgi_j) };                      \
        enum { wgi_k = WGI_KIND(wgi_y), wgi_h = WGI_META(wgi_y, wgi_k) };                      \
        enum { wgi_g = (wgi_i | wgi_h) & 1, wgi_1 = wgi_i / 2 };                               \
        enum { wgi_2 = wgi_1 + wgi_h / 2 };                                                    \
        enum { wgi_n = wgi_2 + WGI_WIDTH(op) };                                                \
        const __typeof__(WGI_EXPR(wgi_x, wgi_j).at) *wgi_p;                                    \
        const __typeof__(WGI_EXPR(wgi_y, wgi_k).at) *wgi_q;                                    \
        WGI_FITS(WGI_COUNT(wgi_p) + WGI_COUNT(wgi_q), wgi_n);                                  \
        const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                          \
        const double wgi_b = WGI_VALUE(wgi_y, wgi_k);                                          \
        const double wgi_v = wgi_op_##name##_v(wgi_a, wgi_b);                                  \
        const __auto_type wgi_at2 = WGI_JOIN(*wgi_p, *wgi_q)(                                   \
            WGI_EXPR(wgi_x, wgi_j).at, wgi_a,                                                  \
            sizeof *wgi_p ? wgi_op_##name##_da(wgi_a, wgi_b, wgi_v) : 0,                       \
            WGI_EXPR(wgi_y, wgi_k).at, wgi_b,                                                  \
            sizeof *wgi_q ? wgi_op_##name##_db(wgi_a, wgi_b, wgi_v) : 0, (class) || wgi_g);    \
        WGI_NUMBERS_FIT(WGI_REST(wgi_x, wgi_j).lit, WGI_REST(wgi_y, wgi_k).lit);               \
        const __auto_type wgi_lit2 = WGI_CONCAT(WGI_REST(wgi_x, wgi_j).lit,                      \
                                              WGI_REST(wgi_y, wgi_k).lit)(                     \
            WGI_LIT(wgi_x, wgi_j), WGI_LIT(wgi_y, wgi_k));                                     \
        const __auto_type wgi_lit = finish(name, wgi_lit2);                                      \
        struct wg_expression_needs_wg_let {                                                    \
            double value;                                                                      \
            __typeof__(wgi_at2) at;                                                             \
            __typeof__(wgi_lit) lit;                                                           \
            wgi_bits code;                                                                     \
            char meta[0][2 * wgi_n + (wgi_g | ((class) != WGI_ARITH))];                         \
        };                                                                                     \
        (struct wg_expression_needs_wg_let){                                                   \
            wgi_v, wgi_at2, wgi_lit,                                                           \
            WGI_REST(wgi_x, wgi_j).code |                                                      \
            WGI_REST(wgi_y, wgi_k).code << wgi_1 |                                             \
            WGI_CODE(op) << wgi_2,                                                             \
            {}};                                                                               \
    })

#define WGI_APPLY3(name, op, class, x_, y_, z_, finish)                                        \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        const __auto_type wgi_y = (y_);                                                        \
        const __auto_type wgi_z = (z_);                                                        \
        WGI_NOT_A_POINTER(wgi_x);                                                              \
        WGI_NOT_A_POINTER(wgi_y);                                                              \
        WGI_NOT_A_POINTER(wgi_z);                                                              \
        enum { wgi_j = WGI_KIND(wgi_x), wgi_i = WGI_META(wgi_x, wgi_j) };                      \
        enum { wgi_k = WGI_KIND(wgi_y), wgi_h = WGI_META(wgi_y, wgi_k) };                      \
        enum { wgi_l = WGI_KIND(wgi_z), wgi_f = WGI_META(wgi_z, wgi_l) };                      \
        enum { wgi_g = (wgi_i | wgi_h | wgi_f) & 1, wgi_1 = wgi_i / 2 };                       \
        enum { wgi_2 = wgi_1 + wgi_h / 2 };                                                    \
        enum { wgi_3 = wgi_2 + wgi_f / 2 };                                                    \
        enum { wgi_n = wgi_3 + WGI_WIDTH(op) };                                                \
        const __typeof__(WGI_EXPR(wgi_x, wgi_j).at) *wgi_p;                                    \
        const __typeof__(WGI_EXPR(wgi_y, wgi_k).at) *wgi_q;                                    \
        const __typeof__(WGI_EXPR(wgi_z, wgi_l).at) *wgi_t;                                    \
        WGI_FITS(WGI_COUNT(wgi_p) + WGI_COUNT(wgi_q) + WGI_COUNT(wgi_t), wgi_n);               \
        const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                          \
        const double wgi_b = WGI_VALUE(wgi_y, wgi_k);                                          \
        const double wgi_c = WGI_VALUE(wgi_z, wgi_l);                                          \
        const double wgi_v = wgi_op_##name##_v(wgi_a, wgi_b, wgi_c);                           \
        const __auto_type wgi_at2 = WGI_JOIN(*wgi_p, *wgi_q)(                                   \
            WGI_EXPR(wgi_x, wgi_j).at, wgi_a,                                                  \
            sizeof *wgi_p ? wgi_op_##name##_da(wgi_a, wgi_b, wgi_c, wgi_v) : 0,                \
            WGI_EXPR(wgi_y, wgi_k).at, wgi_b,                                                  \
            sizeof *wgi_q ? wgi_op_##name##_db(wgi_a, wgi_b, wgi_c, wgi_v) : 0, (class) || wgi_g); \
        const __auto_type wgi_at3 = WGI_JOIN(wgi_at2, *wgi_t)(                                   \
            wgi_at2, 0, 1,                                                                      \
            WGI_EXPR(wgi_z, wgi_l).at, wgi_c,                                                  \
            sizeof *wgi_t ? wgi_op_##name##_dc(wgi_a, wgi_b, wgi_c, wgi_v) : 0, (class) || wgi_g); \
        WGI_NUMBERS_FIT(WGI_REST(wgi_x, wgi_j).lit, WGI_REST(wgi_y, wgi_k).lit);               \
        const __auto_type wgi_lit2 = WGI_CONCAT(WGI_REST(wgi_x, wgi_j).lit,                      \
                                              WGI_REST(wgi_y, wgi_k).lit)(                     \
            WGI_LIT(wgi_x, wgi_j), WGI_LIT(wgi_y, wgi_k));                                     \
        WGI_NUMBERS_FIT(wgi_lit2, WGI_REST(wgi_z, wgi_l).lit);                                 \
        const __auto_type wgi_lit3 = WGI_CONCAT(wgi_lit2, WGI_REST(wgi_z, wgi_l).lit)(             \
            wgi_lit2, WGI_LIT(wgi_z, wgi_l));                                                    \
        const __auto_type wgi_lit = finish(name, wgi_lit3);                                      \
        struct wg_expression_needs_wg_let {                                                    \
            double value;                                                                      \
            __typeof__(wgi_at3) at;                                                             \
            __typeof__(wgi_lit) lit;                                                           \
            wgi_bits code;                                                                     \
            char meta[0][2 * wgi_n + (wgi_g | ((class) != WGI_ARITH))];                         \
        };                                                                                     \
        (struct wg_expression_needs_wg_let){                                                   \
            wgi_v, wgi_at3, wgi_lit,                                                           \
            WGI_REST(wgi_x, wgi_j).code |                                                      \
            WGI_REST(wgi_y, wgi_k).code << wgi_1 |                                             \
            WGI_REST(wgi_z, wgi_l).code << wgi_2 |                                             \
            WGI_CODE(op) << wgi_3,                                                             \
            {}};                                                                               \
    })

#define WGI_APPLY4(name, op, class, x_, y_, z_, w_, finish)                                    \
    __extension__({                                                                            \
        const __auto_type wgi_x = (x_);                                                        \
        const __auto_type wgi_y = (y_);                                                        \
        const __auto_type wgi_z = (z_);                                                        \
        const __auto_type wgi_w = (w_);                                                        \
        WGI_NOT_A_POINTER(wgi_x);                                                              \
        WGI_NOT_A_POINTER(wgi_y);                                                              \
        WGI_NOT_A_POINTER(wgi_z);                                                              \
        WGI_NOT_A_POINTER(wgi_w);                                                              \
        enum { wgi_j = WGI_KIND(wgi_x), wgi_i = WGI_META(wgi_x, wgi_j) };                      \
        enum { wgi_k = WGI_KIND(wgi_y), wgi_h = WGI_META(wgi_y, wgi_k) };                      \
        enum { wgi_l = WGI_KIND(wgi_z), wgi_f = WGI_META(wgi_z, wgi_l) };                      \
        enum { wgi_m = WGI_KIND(wgi_w), wgi_e = WGI_META(wgi_w, wgi_m) };                      \
        enum { wgi_g = (wgi_i | wgi_h | wgi_f | wgi_e) & 1, wgi_1 = wgi_i / 2 };               \
        enum { wgi_2 = wgi_1 + wgi_h / 2 };                                                    \
        enum { wgi_3 = wgi_2 + wgi_f / 2 };                                                    \
        enum { wgi_4 = wgi_3 + wgi_e / 2 };                                                    \
        enum { wgi_n = wgi_4 + WGI_WIDTH(op) };                                                \
        const __typeof__(WGI_EXPR(wgi_x, wgi_j).at) *wgi_p;                                    \
        const __typeof__(WGI_EXPR(wgi_y, wgi_k).at) *wgi_q;                                    \
        const __typeof__(WGI_EXPR(wgi_z, wgi_l).at) *wgi_t;                                    \
        const __typeof__(WGI_EXPR(wgi_w, wgi_m).at) *wgi_u;                                    \
        WGI_FITS(WGI_COUNT(wgi_p) + WGI_COUNT(wgi_q) + WGI_COUNT(wgi_t) + WGI_COUNT(wgi_u), wgi_n); \
        const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                          \
        const double wgi_b = WGI_VALUE(wgi_y, wgi_k);                                          \
        const double wgi_c = WGI_VALUE(wgi_z, wgi_l);                                          \
        const double wgi_d = WGI_VALUE(wgi_w, wgi_m);                                          \
        const double wgi_v = wgi_op_##name##_v(wgi_a, wgi_b, wgi_c, wgi_d);                    \
        const __auto_type wgi_at2 = WGI_JOIN(*wgi_p, *wgi_q)(                                   \
            WGI_EXPR(wgi_x, wgi_j).at, wgi_a,                                                  \
            sizeof *wgi_p ? wgi_op_##name##_da(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v) : 0,         \
            WGI_EXPR(wgi_y, wgi_k).at, wgi_b,                                                  \
            sizeof *wgi_q ? wgi_op_##name##_db(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v) : 0, (class) || wgi_g); \
        const __auto_type wgi_at3 = WGI_JOIN(wgi_at2, *wgi_t)(                                   \
            wgi_at2, 0, 1,                                                                      \
            WGI_EXPR(wgi_z, wgi_l).at, wgi_c,                                                  \
            sizeof *wgi_t ? wgi_op_##name##_dc(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v) : 0, (class) || wgi_g); \
        const __auto_type wgi_at4 = WGI_JOIN(wgi_at3, *wgi_u)(                                   \
            wgi_at3, 0, 1,                                                                      \
            WGI_EXPR(wgi_w, wgi_m).at, wgi_d,                                                  \
            sizeof *wgi_u ? wgi_op_##name##_dd(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v) : 0, (class) || wgi_g); \
        WGI_NUMBERS_FIT(WGI_REST(wgi_x, wgi_j).lit, WGI_REST(wgi_y, wgi_k).lit);               \
        const __auto_type wgi_lit2 = WGI_CONCAT(WGI_REST(wgi_x, wgi_j).lit,                      \
                                              WGI_REST(wgi_y, wgi_k).lit)(                     \
            WGI_LIT(wgi_x, wgi_j), WGI_LIT(wgi_y, wgi_k));                                     \
        WGI_NUMBERS_FIT(wgi_lit2, WGI_REST(wgi_z, wgi_l).lit);                                 \
        const __auto_type wgi_lit3 = WGI_CONCAT(wgi_lit2, WGI_REST(wgi_z, wgi_l).lit)(             \
            wgi_lit2, WGI_LIT(wgi_z, wgi_l));                                                    \
        WGI_NUMBERS_FIT(wgi_lit3, WGI_REST(wgi_w, wgi_m).lit);                                 \
        const __auto_type wgi_lit4 = WGI_CONCAT(wgi_lit3, WGI_REST(wgi_w, wgi_m).lit)(             \
            wgi_lit3, WGI_LIT(wgi_w, wgi_m));                                                    \
        const __auto_type wgi_lit = finish(name, wgi_lit4);                                      \
        struct wg_expression_needs_wg_let {                                                    \
            double value;                                                                      \
            __typeof__(wgi_at4) at;                                                             \
            __typeof__(wgi_lit) lit;                                                           \
            wgi_bits code;                                                                     \
            char meta[0][2 * wgi_n + (wgi_g | ((class) != WGI_ARITH))];                         \
        };                                                                                     \
        (struct wg_expression_needs_wg_let){                                                   \
            wgi_v, wgi_at4, wgi_lit,                                                           \
            WGI_REST(wgi_x, wgi_j).code |                                                      \
            WGI_REST(wgi_y, wgi_k).code << wgi_1 |                                             \
            WGI_REST(wgi_z, wgi_l).code << wgi_2 |                                             \
            WGI_REST(wgi_w, wgi_m).code << wgi_3 |                                             \
            WGI_CODE(op) << wgi_4,                                                             \
            {}};                                                                               \
    })

/* wg_let - appends the statement `e` (an expression, a variable or a number) to the tape and
 * gives its result as a variable.
 * A statement without variables of the tape appends nothing and gives a constant; a lone variable
 * gives itself.
 * Cost: one record of 32 bytes per two operands, one slot of 8 bytes in the sweep.
 * Errors (the result is a passive NaN, the tape keeps the status): WG_ESTALE, WG_ENOMEM,
 * WG_EBUDGET, WG_ESLOTS, WG_ENONFINITE (traced tapes). */
#define wg_let(tape, e)                                                                        \
    __extension__({                                                                            \
        wg_tape *const wgi_t = (tape);                                                         \
        const __auto_type wgi_x = (e);                                                         \
        WGI_NOT_A_POINTER(wgi_x);                                                              \
        enum { wgi_j = WGI_KIND(wgi_x) };                                                      \
        wg_real wgi_r;                                                                         \
        const __typeof__(WGI_EXPR(wgi_x, wgi_j).at) *wgi_p;                                    \
        if (WGI_NEARLY_ALWAYS(wgi_t != NULL &&                                                 \
                              WGI_READY(*wgi_p)(wgi_t, wgi_t->limit,                           \
                                                WGI_EXPR(wgi_x, wgi_j).at)))                   \
            wgi_r = WGI_APPEND(*wgi_p)(wgi_t, WGI_VALUE(wgi_x, wgi_j),                         \
                                       WGI_EXPR(wgi_x, wgi_j).at);                             \
        else {                                                                                 \
            const __auto_type wgi_l = WGI_LIT(wgi_x, wgi_j);                                   \
            enum { wgi_n = sizeof wgi_l / 8 };                                                 \
            double wgi_w[WGI_MAX_NUMBERS];                                                     \
            WGI_KEEP(wgi_l)(wgi_w, wgi_l);                                                     \
            wgi_r = WGI_SLOW(*wgi_p)(wgi_t, WGI_VALUE(wgi_x, wgi_j),                           \
                                     WGI_EXPR(wgi_x, wgi_j).at, wgi_n ? wgi_w : NULL,          \
                                     wgi_code_head(__LINE__, 0, WGI_META(wgi_x, wgi_j) / 2,    \
                                                   WGI_COUNT(wgi_p), wgi_n),                   \
                                     WGI_REST(wgi_x, wgi_j).code, __FILE__);                   \
        }                                                                                      \
        wgi_r;                                                                                 \
    })

#endif
#endif

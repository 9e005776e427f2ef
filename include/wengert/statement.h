/* SPDX-License-Identifier: MIT */
/* The statement recorder: expression templates in C.
 *
 * wg_add(x, y), wg_sin(x), ... take variables, expressions and numbers of any arithmetic type
 * in any position and give an expression: its value, its operands with their partial
 * derivatives so far, and its code, all by value. wg_let(t, e) appends the statement to the
 * tape and gives a variable. Statements of at most 8 operands, 8 numbers and 128 bits of code
 * are recorded in line; longer ones, up to limits that the compiler checks, by a call. What the
 * optimiser leaves of a statement is its arithmetic, one test, and the stores of its records.
 * Two expressions are of two types: c ? wg_sin(x) : wg_cos(x) does not compile, but with a
 * wg_let around each it does.
 *
 * Names inside the macros:  x y z w operands;  j k l m their kinds (0 a number, 1 a variable, 2
 * an expression);  i h g f their metas, n that of the result;  x0 x1, y0 y1, .. their code, low
 * and high, v0 v1 that of the result;  p2 l2 .. operands and numbers before the second one, ..;
 * a b c d their values;  v the value;  e the expression. An expression is a structure made
 * where it stands:
 *   value, at (operands), lit (its numbers),
 *   meta: an array of size 0 whose element has the size bits of code << 21 | numbers << 14 |
 *   operands << 7 | operations: the sum of those of the parts,
 *   code0 .. code3: such arrays, too, with 32 bits of code each (the size is one more): what is
 *   in the type costs nothing when nothing is optimised, either,
 *   more: the code where it has more than 128 bits, in memory.
 * Code, lowest bits first, postfix:  00 next operand;  01 next literal;  10 + 2 bits one of the
 * operations 1..4;  11 + 7 bits any operation. */
#ifndef WENGERT_STATEMENT_H
#define WENGERT_STATEMENT_H

#include <wengert/tape.h>

/* Nested expressions reuse the names of their locals on purpose, and use GNU C throughout. */
#pragma GCC system_header

enum {
    WGI_ARITH = 0,
    WGI_GUARD = 1,
    WGI_SING = 2
}; /* the domain column of ops/scalar/scalar.def */
enum { WGI_MAX_OPERANDS = 8, WGI_MAX_NUMBERS = 8, WGI_MAX_CODE = 128 };
/* A statement that is longer than that, and the most that it may have. */
enum { WGI_MOST_OPERANDS = 24, WGI_MOST_NUMBERS = 24, WGI_MOST_CODE = 512, WGI_MOST_WORDS = 8 };
/* The meta of a number and of a variable, and the parts of a meta. */
enum { WGI_OF_NUMBER = 2 << 21 | 1 << 14, WGI_OF_VARIABLE = 2 << 21 | 1 << 7 };
#define WGI_BITS(meta) (meta >> 21)
#define WGI_NUMBERS(meta) (meta >> 14 & 127)
#define WGI_OPERANDS(meta) (meta >> 7 & 127)
#define WGI_IS_LONG(meta)                                                                      \
    (WGI_BITS(meta) > WGI_MAX_CODE || WGI_NUMBERS(meta) > WGI_MAX_NUMBERS ||                   \
     WGI_OPERANDS(meta) > WGI_MAX_OPERANDS)
/* Were partials multiplied? Then one that is NaN may have to be 0, by the zero rule. */
#define WGI_PRODUCTS(meta) ((meta & 127) > 1)
enum { WGI_OP_USER = 127 }; /* a user's operation; its descriptor is the next literal */

/* The code of an operation, its bits, and what it adds to the metas of its operands. */
#define WGI_CODE(op) ((op) >= 1 && (op) <= 4 ? ((op)-1) * 4 + 2 : (op)*4 + 3)
#define WGI_WIDTH(op) ((op) >= 1 && (op) <= 4 ? 4 : 9)
#define WGI_ADDS(op) (WGI_WIDTH(op) << 21 | ((op) == WGI_OP_USER) << 14 | 1)

typedef unsigned __int128 wgi_bits;
/* Code of more than 128 bits. */
typedef struct wgi_words {
    uint64_t w[WGI_MOST_WORDS];
} wgi_words;

/* WGI_FUNCTION: small functions. Those on lists of operands are inline, too, but where nothing
 * is optimised they are called in the library, which is (tape/engine/statement.c has them). */
#define WGI_FUNCTION static inline __attribute__((always_inline, unused))
#if defined(WGI_EMIT_LISTS)
#define WGI_LIST WGI_API
#elif defined(__OPTIMIZE__)
#define WGI_LIST WGI_FUNCTION
#else
#define WGI_LIST extern inline __attribute__((gnu_inline))
#endif

/* The head word of an entry of kept code: slot, type, bits of code or operation, operands,
 * numbers. */
#define WGI_CODE_HEAD(out, type, bits, operands, numbers)                                      \
    ((uint64_t)(out) | (uint64_t)(type) << 32 | (uint64_t)(bits) << 36 |                       \
     (uint64_t)(operands) << 48 | (uint64_t)(numbers) << 56)

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "wengert: statements are recorded in words whose low half comes first"
#endif

/* The words of long code: none yet; 128 bits more, from bit `at` on; all of another one. What
 * would not fit is left out: wg_let refuses it. Line by line, so that compilers know the
 * sum. */
WGI_FUNCTION void wgi_no_words(wgi_words *to) {
    to->w[0] = to->w[1] = to->w[2] = to->w[3] = 0;
    to->w[4] = to->w[5] = to->w[6] = to->w[7] = 0;
}
WGI_FUNCTION void wgi_put_code(wgi_words *to, unsigned at, uint64_t low, uint64_t high) {
    const unsigned k = at / 64, r = at % 64;
    if (k < WGI_MOST_WORDS) to->w[k] |= low << r;
    if (k + 1 < WGI_MOST_WORDS) to->w[k + 1] |= high << r | (r != 0 ? low >> (64 - r) : 0);
    if (k + 2 < WGI_MOST_WORDS && r != 0) to->w[k + 2] |= high >> (64 - r);
}
WGI_FUNCTION void wgi_put_words(wgi_words *to, unsigned at, const wgi_words *from) {
    wgi_put_code(to, at, from->w[0], from->w[1]);
    wgi_put_code(to, at + 128, from->w[2], from->w[3]);
    wgi_put_code(to, at + 256, from->w[4], from->w[5]);
    wgi_put_code(to, at + 384, from->w[6], from->w[7]);
}

/* A handle as one word, and back: statements load, compare and store it whole. */
WGI_FUNCTION uint64_t wgi_word(wg_handle h) {
    uint64_t word;
    __builtin_memcpy(&word, &h, sizeof word);
    return word;
}
/* The stamp of a tape as a handle has it, in the high half. */
WGI_FUNCTION uint64_t wgi_stamp_word(const wg_tape *t) {
    uint64_t word;
    __builtin_memcpy(&word, (const char *)t + offsetof(struct wg_tape, below_stamp),
                     sizeof word);
    return word;
}
WGI_FUNCTION wg_real wgi_result(const wg_tape *t, double value, uint32_t out) {
    const uint64_t word = wgi_stamp_word(t) | out;
    wg_real x;
    x.value = value;
    __builtin_memcpy(&x.at, &word, sizeof word);
    return x;
}

/* The tape or, where there is none, one without room. It is selected without a branch, which
 * compilers would carry from statement to statement. */
extern WGI_API const wg_tape wgi_no_tape;
WGI_FUNCTION wg_tape *wgi_tape(wg_tape *t) {
    return (wg_tape *)((uintptr_t)t | (-(uintptr_t)(t == NULL) & (uintptr_t)&wgi_no_tape));
}

/* The slot of what C++ has computed of variables outside of every scope: no tape's. */
#define WGI_OUTSIDE UINT32_MAX

/* The second word has a type of its own: of two words of one type gcc makes a vector before it
 * stores them, which takes longer. */
typedef int64_t wgi_other_word __attribute__((may_alias));

/* Record r of a statement whose result has slot `to` >> 32. A statement of 3 to 7 operands has
 * several records, which are written in whole words that have `to` in common; with 8 operands
 * there are not enough registers for that. */
#define WGI_RECORD(r, to, a, b, p, q)                                                          \
    (r)->in0 = (uint32_t)(a), (r)->out = (uint32_t)(to >> 32), (r)->in1 = (uint32_t)(b),       \
    (r)->kind = 0, (r)->jac0 = p, (r)->jac1 = q
#define WGI_RECORDS(r, to, a, b, p, q)                                                         \
    do {                                                                                       \
        const uint64_t wgi_0 = to | (uint32_t)(a);                                             \
        __builtin_memcpy((char *)(r), &wgi_0, 8);                                              \
        *(wgi_other_word *)((char *)(r) + 8) = (uint32_t)(b);                                  \
        (r)->jac0 = p, (r)->jac1 = q;                                                          \
    } while (0)
/* Half of a record, as wgi_append_some_n has it: variable h with partial p. */
#define WGI_HALF(h, p)                                                                         \
    do {                                                                                       \
        const uint64_t wgi_0 = to | (uint32_t)(h);                                             \
        const double wgi_1 = p;                                                                \
        __builtin_memcpy(half, &wgi_0, 8);                                                     \
        __builtin_memcpy(half + 16, &wgi_1, 8);                                                \
        apart |= h ^ k, to ^= result, half += step, step ^= 8 ^ 24;                            \
    } while (0)
/* A partial that is added to another one: a product, which has been rounded. gcc 12 contracts
 * two products, an addition and a subtraction, even with -ffp-contract=off. */
#if defined(__FMA__) && !defined(__clang__)
#define WGI_ROUNDED(p)                                                                         \
    __extension__({                                                                            \
        double wgi_p = (p);                                                                    \
        __asm__("" : "+x"(wgi_p));                                                             \
        wgi_p;                                                                                 \
    })
#else
#define WGI_ROUNDED(p) (p)
#endif
/* Prefetches memory that is soon written to, 97 lines ahead: the hardware does so too late
 * where a statement takes several lines. An address that is not there does no harm. */
#define WGI_AHEAD(p) __builtin_prefetch((const void *)((uintptr_t)(p) + 6208), 1)

/* What is known of a statement when it is compiled: its code, the head of its entry (with the
 * line in the place of the slot), its file. */
typedef struct wgi_site {
    wgi_bits code;
    uint64_t head;
    const char *file;
} wgi_site;
/* wgi_let_n does everything that the fast path does not: room, stale handles, constants, modes,
 * code, and the zero rule (a partial of the fast path is a plain product; one that is NaN may
 * have to be 0). It is given the numbers of the statement, and its operands one by one. */
WG_BEGIN_DECLS
#include <wengert/statement_lists.h>

/* The same of a statement that is longer than wgi_let_n takes: its operands as a list, its code
 * in words. */
WGI_API wg_real wgi_let_long(wg_tape *t, double value, const wgi_many *s, const double *number,
                             const wgi_words *code, uint64_t head, const char *file);
WG_END_DECLS

#ifndef __cplusplus /* C++ goes on in wengert/statement.hpp */

/* Code as sizes, and back. */
#define WGI_CODE_SIZES(low, high)                                                              \
    char code0[0][(size_t)1 + (uint32_t)(low)], code1[0][1 + ((uint64_t)(low) >> 32)],         \
        code2[0][(size_t)1 + (uint32_t)(high)], code3[0][1 + ((uint64_t)(high) >> 32)]
#define WGI_CODE_WORD(type, a, b)                                                              \
    (sizeof(((type *)0)->a[0]) - 1 | (sizeof(((type *)0)->b[0]) - 1) << 32)
#define WGI_WORDS(low, high) ((wgi_bits)(high) << 64 | (low))

/* Stands for the fields that a number or a variable does not have. */
struct wgi_number {
    double value;
    wgi_s0 at;
    double lit[1];
    wgi_words more[0];
    char meta[0][WGI_OF_NUMBER];
    WGI_CODE_SIZES(1, 0);
};
struct wgi_variable {
    double lit[0];
    wgi_words more[0];
    char meta[0][WGI_OF_VARIABLE];
    WGI_CODE_SIZES(0, 0);
};
static const struct wgi_number wgi_number __attribute__((unused)) = {};
static const struct wgi_variable wgi_variable __attribute__((unused)) = {};

/* What is no operand is reported once, and then treated as a number. */
#define WGI_KIND(x)                                                                            \
    (__builtin_classify_type(x) == 12 && !WGI_IS_MATRIX_VALUE(x)                               \
         ? 2 - __builtin_types_compatible_p(__typeof__(x), const wg_real)                      \
         : 0)
/* Fields of an operand x of kind k. */
#define WGI_EXPR(x, k) __builtin_choose_expr(k, x, wgi_number)
#define WGI_REST(x, k) __builtin_choose_expr(k == 1, wgi_variable, WGI_EXPR(x, k))
#define WGI_VALUE(x, k)                                                                        \
    (double)__builtin_choose_expr(k, WGI_EXPR(x, k).value,                                     \
                                  __builtin_choose_expr(WGI_IS_OPERAND(x), x, 0))

/* Operand o of kind k, value v and meta m, whose partial is d, takes its place in expression
 * wgi_e, behind i operands and l numbers. Most operands are variables and numbers: they do
 * without a call to be inlined. */
#define WGI_TAKE(o, k, v, m, d, i, l)                                                          \
    __builtin_choose_expr(                                                                     \
        k == 1,                                                                                \
        (wgi_e.at.p[i] = d, wgi_e.at.x[i] = v,                                                 \
         (void)__builtin_memcpy(&wgi_e.at.h[i], &WGI_EXPR(o, k).at, 8)),                       \
        __builtin_choose_expr(                                                                 \
            k,                                                                                 \
            (WGI_PUT(WGI_EXPR(o, k).at)(&WGI_EXPR(o, k).at, WGI_OPERANDS(m) ? d : 0,           \
                                        &wgi_e.at.p[i], &wgi_e.at.x[i], &wgi_e.at.h[i],        \
                                        WGI_OPERANDS(m)),                                      \
             WGI_TAKE_NUMBERS(o, k, m, &wgi_e.lit[l])),                                        \
            (void)(wgi_e.lit[l] = v)))
#define WGI_TAKE_NUMBERS(o, k, m, to)                                                          \
    __builtin_choose_expr(                                                                     \
        WGI_NUMBERS(m),                                                                        \
        WGI_PUT_NUMBERS(WGI_NUMBERS(m))(to, WGI_REST(o, k).lit, WGI_NUMBERS(m)), (void)0)

/* Code of more than 128 bits is put together in words: that of operand o of meta m, and of an
 * operation, stands behind the code of meta `at`. */
WGI_FUNCTION void wgi_put_more(wgi_words *to, unsigned at, unsigned meta, uint64_t low,
                               uint64_t high, const wgi_words *more) {
    if (WGI_BITS(meta) > WGI_MAX_CODE) wgi_put_words(to, WGI_BITS(at), more);
    else wgi_put_code(to, WGI_BITS(at), low, high);
}
#define WGI_MORE_OF(to, o, m, at)                                                              \
    wgi_put_more(to, at, m, o##0, o##1,                                                        \
                 __builtin_choose_expr(WGI_BITS(m) > WGI_MAX_CODE,                             \
                                       ((o##_type *)(const void *)&o)->more, NULL))
#define WGI_MORE(n, ...)                                                                       \
    __builtin_choose_expr(WGI_BITS(n) > WGI_MAX_CODE,                                          \
                          (void)(wgi_no_words(wgi_e.more), __VA_ARGS__), (void)0)

/* The expression of a user's operation gets its descriptor (operation.h). */
#define WGI_NAMED(name) wgi_e.lit[sizeof wgi_e.lit / 8 - 1] = wgi_address(&wgi_user_##name)

#define WGI_NOT_A_POINTER(c)                                                                   \
    _Static_assert(                                                                            \
        c, "wengert: an operand is a pointer: an index or a * is missing; or a matrix: "       \
           "wg_mat_add and the like take it, wg_mat_at gives an element")
#define WGI_IS_MATRIX_VALUE(x) __builtin_types_compatible_p(__typeof__(x), struct wg_mat)
#define WGI_IS_OPERAND(x) (__builtin_classify_type(x) != 5 && !WGI_IS_MATRIX_VALUE(x))

/* Does the statement keep all limits? wg_let alone asks that. */
#define WGI_FITS(meta)                                                                         \
    _Static_assert(WGI_OPERANDS(meta) <= WGI_MOST_OPERANDS &&                                  \
                       WGI_NUMBERS(meta) <= WGI_MOST_NUMBERS &&                                \
                       WGI_BITS(meta) <= WGI_MOST_CODE,                                        \
                   "wengert: a statement takes up to 24 variables, 24 numbers and about 60 "   \
                   "operations: split it with wg_let")

/* What is known of operand x when its statement is compiled: kind k, meta m, code x0 x1. */
#define WGI_OPERAND(x, k, m)                                                                   \
    enum { wgi_##k = WGI_KIND(wgi_##x) };                                                      \
    typedef __typeof__(WGI_REST(wgi_##x, wgi_##k)) wgi_##x##_type;                             \
    enum {                                                                                     \
        wgi_##m = sizeof(((wgi_##x##_type *)0)->meta[0]),                                      \
        wgi_##x##0 = WGI_CODE_WORD(wgi_##x##_type, code0, code1),                              \
        wgi_##x##1 = WGI_CODE_WORD(wgi_##x##_type, code2, code3)                               \
    }

/* The expression of meta n, value v and that code, its operands still to be taken. More code
 * than fits is refused by wg_let: here it only has to compile. */
#define WGI_EXPRESSION(n, v, code)                                                             \
    const double wgi_v = v;                                                                    \
    enum { wgi_v0 = (uint64_t)(code), wgi_v1 = (uint64_t)((code) >> 64) };                     \
    struct wg_expression_needs_wg_let {                                                        \
        double value;                                                                          \
        __typeof__(WGI_LIST_OF(WGI_OPERANDS(n))) at;                                           \
        double lit[WGI_NUMBERS(n)];                                                            \
        wgi_words more[WGI_BITS(n) > WGI_MAX_CODE];                                            \
        char meta[0][n];                                                                       \
        WGI_CODE_SIZES(wgi_v0, wgi_v1);                                                        \
    } wgi_e;                                                                                   \
    wgi_e.value = wgi_v
#define WGI_BEHIND(meta, code) (wgi_bits)(code) << (WGI_BITS(meta) & 127)

/* Names that people guess: the message has the one that is there, and the rest compiles. */
#define WGI_GUESSED(text, x, y)                                                                \
    __extension__({                                                                            \
        _Static_assert(0, "wengert: " text);                                                   \
        (void)(x);                                                                             \
        (void)(y);                                                                             \
        0.0;                                                                                   \
    })
#define wg_max(x, y)                                                                           \
    WGI_GUESSED("there is no wg_max: wg_fmax(x, y); of arrays wg_maximum", x, y)
#define wg_min(x, y)                                                                           \
    WGI_GUESSED("there is no wg_min: wg_fmin(x, y); of arrays wg_minimum", x, y)
#define wg_abs(x) WGI_GUESSED("there is no wg_abs: wg_fabs(x)", x, 0)
#define wg_powi(x, n)                                                                          \
    WGI_GUESSED("there is no wg_powi: wg_pow(x, n) takes whole numbers, and wg_square(x), "    \
                "wg_cube(x)",                                                                  \
                x, n)

/* The operations; scalar.h and operation.h give them their names and constants. `slope` takes a
 * partial, which, where it calls functions, is left out by an operand that is made of
 * constants; but gcc makes one call of all sines and cosines of an angle, if none is
 * conditional. Their names take the operands, and hand none on: each further macro would copy
 * the text of all of them, again at every level. */
#define WGI_X const __auto_type wgi_x =
#define WGI_Y const __auto_type wgi_y =
#define WGI_Z const __auto_type wgi_z =
#define WGI_W const __auto_type wgi_w =
#define WGI_AS_IT_IS(o, k, text) text
#define WGI_IF_ACTIVE(o, k, text)                                                              \
    (WGI_PLACES(WGI_EXPR(o, k).at)(&WGI_EXPR(o, k).at) != 0 ? text : 0)
#ifdef __clang__
#define WGI_SINCOS WGI_IF_ACTIVE
#else
#define WGI_SINCOS WGI_AS_IT_IS
#endif
#define WGI_OPERATION1(slope, name)                                                            \
    WGI_NOT_A_POINTER(WGI_IS_OPERAND(wgi_x));                                                  \
    WGI_OPERAND(x, j, i);                                                                      \
    enum { wgi_n = wgi_i + WGI_ADDS_##name };                                                  \
    const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                              \
    WGI_EXPRESSION(wgi_n, wgi_op_##name##_v(wgi_a),                                            \
                   WGI_WORDS(wgi_x0, wgi_x1) | WGI_BEHIND(wgi_i, WGI_CODE_##name));            \
    WGI_TAKE(wgi_x, wgi_j, wgi_a, wgi_i,                                                       \
             slope(wgi_x, wgi_j, wgi_op_##name##_da(wgi_a, wgi_v)), 0, 0);                     \
    WGI_MORE(wgi_n, WGI_MORE_OF(wgi_e.more, wgi_x, wgi_i, 0),                                  \
             wgi_put_code(wgi_e.more, WGI_BITS(wgi_i), WGI_CODE_##name, 0))

#define WGI_OPERATION2(slope, name)                                                            \
    WGI_NOT_A_POINTER(WGI_IS_OPERAND(wgi_x) && WGI_IS_OPERAND(wgi_y));                         \
    WGI_OPERAND(x, j, i);                                                                      \
    WGI_OPERAND(y, k, h);                                                                      \
    enum { wgi_2 = wgi_i + wgi_h, wgi_n = wgi_2 + WGI_ADDS_##name };                           \
    enum { wgi_p2 = WGI_OPERANDS(wgi_i), wgi_l2 = WGI_NUMBERS(wgi_i) };                        \
    const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                              \
    const double wgi_b = WGI_VALUE(wgi_y, wgi_k);                                              \
    WGI_EXPRESSION(wgi_n, wgi_op_##name##_v(wgi_a, wgi_b),                                     \
                   WGI_WORDS(wgi_x0, wgi_x1) | WGI_BEHIND(wgi_i, WGI_WORDS(wgi_y0, wgi_y1)) |  \
                       WGI_BEHIND(wgi_2, WGI_CODE_##name));                                    \
    WGI_TAKE(wgi_x, wgi_j, wgi_a, wgi_i,                                                       \
             slope(wgi_x, wgi_j, wgi_op_##name##_da(wgi_a, wgi_b, wgi_v)), 0, 0);              \
    WGI_TAKE(wgi_y, wgi_k, wgi_b, wgi_h,                                                       \
             slope(wgi_y, wgi_k, wgi_op_##name##_db(wgi_a, wgi_b, wgi_v)), wgi_p2, wgi_l2);    \
    WGI_MORE(wgi_n, WGI_MORE_OF(wgi_e.more, wgi_x, wgi_i, 0),                                  \
             WGI_MORE_OF(wgi_e.more, wgi_y, wgi_h, wgi_i),                                     \
             wgi_put_code(wgi_e.more, WGI_BITS(wgi_2), WGI_CODE_##name, 0))

#define WGI_OPERATION3(slope, name)                                                            \
    WGI_NOT_A_POINTER(WGI_IS_OPERAND(wgi_x) && WGI_IS_OPERAND(wgi_y) &&                        \
                      WGI_IS_OPERAND(wgi_z));                                                  \
    WGI_OPERAND(x, j, i);                                                                      \
    WGI_OPERAND(y, k, h);                                                                      \
    WGI_OPERAND(z, l, g);                                                                      \
    enum { wgi_2 = wgi_i + wgi_h, wgi_3 = wgi_2 + wgi_g, wgi_n = wgi_3 + WGI_ADDS_##name };    \
    enum { wgi_p2 = WGI_OPERANDS(wgi_i), wgi_l2 = WGI_NUMBERS(wgi_i) };                        \
    enum { wgi_p3 = WGI_OPERANDS(wgi_2), wgi_l3 = WGI_NUMBERS(wgi_2) };                        \
    const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                              \
    const double wgi_b = WGI_VALUE(wgi_y, wgi_k);                                              \
    const double wgi_c = WGI_VALUE(wgi_z, wgi_l);                                              \
    WGI_EXPRESSION(wgi_n, wgi_op_##name##_v(wgi_a, wgi_b, wgi_c),                              \
                   WGI_WORDS(wgi_x0, wgi_x1) | WGI_BEHIND(wgi_i, WGI_WORDS(wgi_y0, wgi_y1)) |  \
                       WGI_BEHIND(wgi_2, WGI_WORDS(wgi_z0, wgi_z1)) |                          \
                       WGI_BEHIND(wgi_3, WGI_CODE_##name));                                    \
    WGI_TAKE(wgi_x, wgi_j, wgi_a, wgi_i,                                                       \
             slope(wgi_x, wgi_j, wgi_op_##name##_da(wgi_a, wgi_b, wgi_c, wgi_v)), 0, 0);       \
    WGI_TAKE(wgi_y, wgi_k, wgi_b, wgi_h,                                                       \
             slope(wgi_y, wgi_k, wgi_op_##name##_db(wgi_a, wgi_b, wgi_c, wgi_v)), wgi_p2,      \
             wgi_l2);                                                                          \
    WGI_TAKE(wgi_z, wgi_l, wgi_c, wgi_g,                                                       \
             slope(wgi_z, wgi_l, wgi_op_##name##_dc(wgi_a, wgi_b, wgi_c, wgi_v)), wgi_p3,      \
             wgi_l3);                                                                          \
    WGI_MORE(wgi_n, WGI_MORE_OF(wgi_e.more, wgi_x, wgi_i, 0),                                  \
             WGI_MORE_OF(wgi_e.more, wgi_y, wgi_h, wgi_i),                                     \
             WGI_MORE_OF(wgi_e.more, wgi_z, wgi_g, wgi_2),                                     \
             wgi_put_code(wgi_e.more, WGI_BITS(wgi_3), WGI_CODE_##name, 0))

#define WGI_OPERATION4(slope, name)                                                            \
    WGI_NOT_A_POINTER(WGI_IS_OPERAND(wgi_x) && WGI_IS_OPERAND(wgi_y) &&                        \
                      WGI_IS_OPERAND(wgi_z) && WGI_IS_OPERAND(wgi_w));                         \
    WGI_OPERAND(x, j, i);                                                                      \
    WGI_OPERAND(y, k, h);                                                                      \
    WGI_OPERAND(z, l, g);                                                                      \
    WGI_OPERAND(w, m, f);                                                                      \
    enum {                                                                                     \
        wgi_2 = wgi_i + wgi_h,                                                                 \
        wgi_3 = wgi_2 + wgi_g,                                                                 \
        wgi_4 = wgi_3 + wgi_f,                                                                 \
        wgi_n = wgi_4 + WGI_ADDS_##name                                                        \
    };                                                                                         \
    enum { wgi_p2 = WGI_OPERANDS(wgi_i), wgi_l2 = WGI_NUMBERS(wgi_i) };                        \
    enum { wgi_p3 = WGI_OPERANDS(wgi_2), wgi_l3 = WGI_NUMBERS(wgi_2) };                        \
    enum { wgi_p4 = WGI_OPERANDS(wgi_3), wgi_l4 = WGI_NUMBERS(wgi_3) };                        \
    const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                              \
    const double wgi_b = WGI_VALUE(wgi_y, wgi_k);                                              \
    const double wgi_c = WGI_VALUE(wgi_z, wgi_l);                                              \
    const double wgi_d = WGI_VALUE(wgi_w, wgi_m);                                              \
    WGI_EXPRESSION(wgi_n, wgi_op_##name##_v(wgi_a, wgi_b, wgi_c, wgi_d),                       \
                   WGI_WORDS(wgi_x0, wgi_x1) | WGI_BEHIND(wgi_i, WGI_WORDS(wgi_y0, wgi_y1)) |  \
                       WGI_BEHIND(wgi_2, WGI_WORDS(wgi_z0, wgi_z1)) |                          \
                       WGI_BEHIND(wgi_3, WGI_WORDS(wgi_w0, wgi_w1)) |                          \
                       WGI_BEHIND(wgi_4, WGI_CODE_##name));                                    \
    WGI_TAKE(wgi_x, wgi_j, wgi_a, wgi_i,                                                       \
             slope(wgi_x, wgi_j, wgi_op_##name##_da(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v)), 0,    \
             0);                                                                               \
    WGI_TAKE(wgi_y, wgi_k, wgi_b, wgi_h,                                                       \
             slope(wgi_y, wgi_k, wgi_op_##name##_db(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v)),       \
             wgi_p2, wgi_l2);                                                                  \
    WGI_TAKE(wgi_z, wgi_l, wgi_c, wgi_g,                                                       \
             slope(wgi_z, wgi_l, wgi_op_##name##_dc(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v)),       \
             wgi_p3, wgi_l3);                                                                  \
    WGI_TAKE(wgi_w, wgi_m, wgi_d, wgi_f,                                                       \
             slope(wgi_w, wgi_m, wgi_op_##name##_dd(wgi_a, wgi_b, wgi_c, wgi_d, wgi_v)),       \
             wgi_p4, wgi_l4);                                                                  \
    WGI_MORE(wgi_n, WGI_MORE_OF(wgi_e.more, wgi_x, wgi_i, 0),                                  \
             WGI_MORE_OF(wgi_e.more, wgi_y, wgi_h, wgi_i),                                     \
             WGI_MORE_OF(wgi_e.more, wgi_z, wgi_g, wgi_2),                                     \
             WGI_MORE_OF(wgi_e.more, wgi_w, wgi_f, wgi_3),                                     \
             wgi_put_code(wgi_e.more, WGI_BITS(wgi_4), WGI_CODE_##name, 0))

#define WGI_HEAD(m) WGI_CODE_HEAD(__LINE__, 0, WGI_BITS(m), WGI_OPERANDS(m), WGI_NUMBERS(m))
#define WGI_SITE(o, m)                                                                         \
    { WGI_WORDS(o##0, o##1), WGI_HEAD(m), __FILE__ }

/* A statement of more operands, numbers or code than the fast path takes. */
#define WGI_LEFT_LONG(o, k, m)                                                                 \
    __extension__({                                                                            \
        wgi_many wgi_m;                                                                        \
        wgi_words wgi_c;                                                                       \
        WGI_PUT(WGI_EXPR(o, k).at)                                                             \
        (&WGI_EXPR(o, k).at, 1, wgi_m.p, wgi_m.x, wgi_m.h, WGI_OPERANDS(m));                   \
        wgi_no_words(&wgi_c);                                                                  \
        WGI_MORE_OF(&wgi_c, o, m, 0);                                                          \
        wgi_let_long(wgi_o, wgi_a, &wgi_m, wgi_w, &wgi_c, wgi_l.head, __FILE__);               \
    })
/* What is left to a function of the library: its operands one by one, its numbers in an
 * array. */
#define WGI_LEFT(o, k, m)                                                                      \
    __extension__({                                                                            \
        double wgi_w[WGI_MOST_NUMBERS];                                                        \
        WGI_TAKE_NUMBERS(o, k, m, wgi_w);                                                      \
        __builtin_choose_expr(WGI_IS_LONG(m), WGI_LEFT_LONG(o, k, m),                          \
                              WGI_LEAVE(WGI_EXPR(o, k).at)(wgi_o, wgi_a, &WGI_EXPR(o, k).at,   \
                                                           WGI_NUMBERS(m) ? wgi_w : NULL,      \
                                                           &wgi_l));                           \
    })
/* Small code: the expression as it stands in memory. The type of an entry, in its head, is 0
 * for statements: in its place stands whether partials were multiplied. */
#define WGI_RECORDED(o, k, m)                                                                  \
    __builtin_choose_expr(                                                                     \
        WGI_OPERANDS(m) == 0 || WGI_IS_LONG(m), __extension__({                                \
            static const wgi_site wgi_l = WGI_SITE(o, m);                                      \
            WGI_LEFT(o, k, m);                                                                 \
        }),                                                                                    \
        WGI_SHORT(WGI_EXPR(o, k).at)(wgi_o, wgi_a, &WGI_EXPR(o, k).at,                         \
                                     WGI_HEAD(m) | (uint64_t)WGI_PRODUCTS(m) << 32,            \
                                     WGI_WORDS(o##0, o##1), __FILE__))

/* wg_let - appends the statement `e` (an expression, a variable or a number) to the tape and
 * gives its result as a variable. A statement without variables of the tape appends nothing and
 * gives a constant; a lone variable gives itself. Cost: one record of 32 bytes per two
 * operands, one slot of 8 bytes in the sweep. Errors (the result is a passive NaN, the tape
 * keeps the status): WG_ESTALE, WG_ENOMEM, WG_EBUDGET, WG_ESLOTS, WG_ENONFINITE (traced tapes).
 */
#if defined(WG_SMALL_CODE) || defined(__OPTIMIZE_SIZE__) /* arithmetic in line, and one call */
#define wg_let(tape, e)                                                                        \
    __extension__({                                                                            \
        wg_tape *const wgi_o = (tape);                                                         \
        const __auto_type wgi_x = (e);                                                         \
        WGI_NOT_A_POINTER(WGI_IS_OPERAND(wgi_x));                                              \
        WGI_OPERAND(x, j, i);                                                                  \
        WGI_FITS(wgi_i);                                                                       \
        const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                          \
        WGI_RECORDED(wgi_x, wgi_j, wgi_i);                                                     \
    })
#else
#define wg_let(tape, e)                                                                        \
    __extension__({                                                                            \
        wg_tape *const wgi_o = (tape), *const wgi_t = wgi_tape(wgi_o);                         \
        const __auto_type wgi_x = (e);                                                         \
        WGI_NOT_A_POINTER(WGI_IS_OPERAND(wgi_x));                                              \
        WGI_OPERAND(x, j, i);                                                                  \
        WGI_FITS(wgi_i);                                                                       \
        const double wgi_a = WGI_VALUE(wgi_x, wgi_j);                                          \
        const uint64_t wgi_h = WGI_HEAD(wgi_i);                                                \
        wg_real wgi_r;                                                                         \
        if (WGI_OPERANDS(wgi_i) < WGI_MAX_OPERANDS &&                                          \
            WGI_NONE(WGI_EXPR(wgi_x, wgi_j).at)(wgi_t, &WGI_EXPR(wgi_x, wgi_j).at))            \
            wgi_r = wg_constant(wgi_a);                                                        \
        else {                                                                                 \
            int wgi_f = WGI_READY(WGI_EXPR(wgi_x, wgi_j).at)(                                  \
                wgi_t, wgi_t->limit, &WGI_EXPR(wgi_x, wgi_j).at, WGI_PRODUCTS(wgi_i));         \
            if (!WGI_NEARLY_ALWAYS(wgi_f)) {                                                   \
                double *const wgi_w =                                                          \
                    WGI_IS_LONG(wgi_i)                                                         \
                        ? NULL                                                                 \
                        : WGI_KEPT(WGI_EXPR(wgi_x, wgi_j).at)(                                 \
                              wgi_t, wgi_a, &WGI_EXPR(wgi_x, wgi_j).at, WGI_PRODUCTS(wgi_i),   \
                              wgi_h, WGI_WORDS(wgi_x0, wgi_x1));                               \
                if (wgi_w != NULL) {                                                           \
                    WGI_TAKE_NUMBERS(wgi_x, wgi_j, wgi_i, wgi_w);                              \
                    wgi_f = 1;                                                                 \
                }                                                                              \
            }                                                                                  \
            if (WGI_NEARLY_ALWAYS(wgi_f))                                                      \
                wgi_r = WGI_APPEND(WGI_EXPR(wgi_x, wgi_j).at)(wgi_t, wgi_a,                    \
                                                              &WGI_EXPR(wgi_x, wgi_j).at);     \
            else {                                                                             \
                static const wgi_site wgi_l = WGI_SITE(wgi_x, wgi_i);                          \
                wgi_r = WGI_LEFT(wgi_x, wgi_j, wgi_i);                                         \
            }                                                                                  \
        }                                                                                      \
        wgi_r;                                                                                 \
    })
#endif

#endif
#endif

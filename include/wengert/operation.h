/* SPDX-License-Identifier: MIT */
/* Scalar operations as data, and operations of the user's own.
 *
 * A row in a file of yours makes an operation that records, runs forward, and is differentiated
 * twice like a built-in one:
 *
 *     WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
 *                   -2 * copysign(1, a) / pow(1 + fabs(a), 3), GUARD, "Bergstra 2009")
 *     #define softsign(x) WG_CALL1(softsign, x)
 *     ...  y = wg_let(t, wg_mul(2, softsign(x)));
 *
 * WG_OPERATION2, 3 and 4 (and WG_CALL2, 3, 4) have that many operands; after the value come the
 * first partials, and then the second ones by rows of the upper triangle, as in
 *
 *     WG_OPERATION2(name, value, da, db, daa, dab, dbb, class, source)
 *
 * The name may be that of a built-in operation, of this version or a later one: WG_CALL1(gelu,
 * x) is yours, wg_gelu(x) would be the library's.
 *
 * Letters: a b c d operand values, v the value. A partial whose text is a bare 0 is skipped.
 * Classes: ARITH (partials finite whenever the operands are), GUARD (a partial may be exactly
 * 0), SING (a partial may be infinite or NaN at a finite operand); said for readers, the zero
 * rule is for all of them. */
#ifndef WENGERT_OPERATION_H
#define WENGERT_OPERATION_H

#include <wengert/types.h>

WG_BEGIN_DECLS

/* One scalar operation. x: its operands, v: its value.
 * Second partials are packed by rows of the upper triangle: aa ab ac .. bb bc .. */
typedef struct wg_scalar_op {
    const char *name, *source;
    unsigned arity;       /* 1 to 4 */
    unsigned zero_first;  /* bit i: partial i is identically 0 */
    unsigned zero_second; /* bit k: second partial k is identically 0 */
    double (*value)(const double *x);
    void (*first)(const double *x, double v, double *d);
    /* value, first and second partials at once; NULL: piecewise linear */
    double (*second)(const double *x, double *d, double *h);
    /* the texts of the row: value, first partials, second ones; derivatives of functions are
     * taken from them */
    const char *text[15];
} wg_scalar_op;

/* The built-in operations, by their positions WGI_OP_... of
 * scalar.h: &wgi_scalar_ops[WGI_OP_sin], one of wgi_scalar_op_count. */
WGI_API extern const wg_scalar_op wgi_scalar_ops[];
WGI_API extern const size_t wgi_scalar_op_count;

/* wg_apply_scalar - the operation at x, of as many variables and constants as it takes: one
 * statement, as wg_let with the operation's own name would record it, where which operation is
 * known only when the program runs.
 * Errors:  as wg_let; WG_ENULL. */
WG_API wg_real wg_apply_scalar(wg_tape *t, const wg_scalar_op *op, const wg_real *x);

/* wg_check_scalar_op - compares first partials with finite differences of the value, and second
 * ones with those of the first (wg_check_gradient, wg_check_hessian), at x, one number for each
 * operand. WG_OPERATION1(name, ...) makes wgi_user_name; the texts of a descriptor made by hand
 * are not looked at. Works on a tape of its own. At a kink or a jump finite differences are no
 * judge.
 * Errors:  WG_EMISMATCH: the message of t names the operation, the partial and the two numbers;
 *          WG_ENONFINITE: a value or partial at x; WG_EARG: arity; WG_ENULL. */
WG_API WG_MUST_CHECK wg_status wg_check_scalar_op(wg_tape *t, const wg_scalar_op *op,
                                                  const double *x);

/* Is a text the bare 0? Folded by the compiler. */
#define WGI_ZERO(text) ((text)[0] == '0' && (text)[1] == 0)

WG_END_DECLS

#ifdef __cplusplus
#include <wengert/statement.hpp>
#else
#include <wengert/statement.h>
#define WGI_USER_ROW1(name)
#define WGI_USER_ROW2(name)
#define WGI_USER_ROW3(name)
#define WGI_USER_ROW4(name)
#endif

#define WG_OPERATION1(name, value_, d_, dd_, class_, source_)                                  \
    enum { wgi_class_user_##name = WGI_##class_, WGI_CODE_user_##name = WGI_CODE(WGI_OP_USER), \
           WGI_ADDS_user_##name = WGI_ADDS(WGI_OP_USER), WGI_CALLS_user_##name = 1 };          \
    WGI_FUNCTION double wgi_op_user_##name##_v(double a) {                                     \
        (void)a;                                                                               \
        return value_;                                                                         \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_da(double a, double v) {                          \
        (void)a, (void)v;                                                                      \
        return d_;                                                                             \
    }                                                                                          \
    static double wgi_op_user_##name##_value(const double *x) {                                \
        return wgi_op_user_##name##_v(x[0]);                                                   \
    }                                                                                          \
    static void wgi_op_user_##name##_first(const double *x, double v, double *d) {             \
        d[0] = wgi_op_user_##name##_da(x[0], v);                                               \
    }                                                                                          \
    static double wgi_op_user_##name##_second(const double *x, double *d, double *h) {         \
        const double a = x[0], v = wgi_op_user_##name##_v(a);                                  \
        (void)a;                                                                               \
        d[0] = wgi_op_user_##name##_da(a, v);                                                  \
        h[0] = dd_;                                                                            \
        return v;                                                                              \
    }                                                                                          \
    static const wg_scalar_op wgi_user_##name __attribute__((unused)) = {                      \
        #name, source_, 1, WGI_ZERO(#d_), WGI_ZERO(#dd_), wgi_op_user_##name##_value,          \
        wgi_op_user_##name##_first, wgi_op_user_##name##_second,                               \
        {#value_, #d_, #dd_}};                                                                 \
    WGI_USER_ROW1(name)

#define WG_OPERATION2(name, value_, da_, db_, daa_, dab_, dbb_, class_, source_)               \
    enum { wgi_class_user_##name = WGI_##class_, WGI_CODE_user_##name = WGI_CODE(WGI_OP_USER), \
           WGI_ADDS_user_##name = WGI_ADDS(WGI_OP_USER), WGI_CALLS_user_##name = 1 };          \
    WGI_FUNCTION double wgi_op_user_##name##_v(double a, double b) {                           \
        (void)a, (void)b;                                                                      \
        return value_;                                                                         \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_da(double a, double b, double v) {                \
        (void)a, (void)b, (void)v;                                                             \
        return da_;                                                                            \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_db(double a, double b, double v) {                \
        (void)a, (void)b, (void)v;                                                             \
        return db_;                                                                            \
    }                                                                                          \
    static double wgi_op_user_##name##_value(const double *x) {                                \
        return wgi_op_user_##name##_v(x[0], x[1]);                                             \
    }                                                                                          \
    static void wgi_op_user_##name##_first(const double *x, double v, double *d) {             \
        d[0] = wgi_op_user_##name##_da(x[0], x[1], v);                                         \
        d[1] = wgi_op_user_##name##_db(x[0], x[1], v);                                         \
    }                                                                                          \
    static double wgi_op_user_##name##_second(const double *x, double *d, double *h) {         \
        const double a = x[0], b = x[1], v = wgi_op_user_##name##_v(a, b);                     \
        (void)a, (void)b;                                                                      \
        d[0] = wgi_op_user_##name##_da(a, b, v);                                               \
        d[1] = wgi_op_user_##name##_db(a, b, v);                                               \
        h[0] = daa_;                                                                           \
        h[1] = dab_;                                                                           \
        h[2] = dbb_;                                                                           \
        return v;                                                                              \
    }                                                                                          \
    static const wg_scalar_op wgi_user_##name __attribute__((unused)) = {                      \
        #name,                                                                                 \
        source_,                                                                               \
        2,                                                                                     \
        WGI_ZERO(#da_) | WGI_ZERO(#db_) << 1,                                                  \
        WGI_ZERO(#daa_) | WGI_ZERO(#dab_) << 1 | WGI_ZERO(#dbb_) << 2,                         \
        wgi_op_user_##name##_value,                                                            \
        wgi_op_user_##name##_first,                                                            \
        wgi_op_user_##name##_second,                                                           \
        {#value_, #da_, #db_, #daa_, #dab_, #dbb_}};                                           \
    WGI_USER_ROW2(name)

#define WG_OPERATION3(name, value_, da_, db_, dc_,                                             \
                      daa_, dab_, dac_, dbb_, dbc_, dcc_,                                      \
                      class_, source_)                                                         \
    enum { wgi_class_user_##name = WGI_##class_, WGI_CODE_user_##name = WGI_CODE(WGI_OP_USER), \
           WGI_ADDS_user_##name = WGI_ADDS(WGI_OP_USER), WGI_CALLS_user_##name = 1 };          \
    WGI_FUNCTION double wgi_op_user_##name##_v(double a, double b, double c) {                 \
        (void)a, (void)b, (void)c;                                                             \
        return value_;                                                                         \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_da(double a, double b, double c, double v) {      \
        (void)a, (void)b, (void)c, (void)v;                                                    \
        return da_;                                                                            \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_db(double a, double b, double c, double v) {      \
        (void)a, (void)b, (void)c, (void)v;                                                    \
        return db_;                                                                            \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_dc(double a, double b, double c, double v) {      \
        (void)a, (void)b, (void)c, (void)v;                                                    \
        return dc_;                                                                            \
    }                                                                                          \
    static double wgi_op_user_##name##_value(const double *x) {                                \
        return wgi_op_user_##name##_v(x[0], x[1], x[2]);                                       \
    }                                                                                          \
    static void wgi_op_user_##name##_first(const double *x, double v, double *d) {             \
        d[0] = wgi_op_user_##name##_da(x[0], x[1], x[2], v);                                   \
        d[1] = wgi_op_user_##name##_db(x[0], x[1], x[2], v);                                   \
        d[2] = wgi_op_user_##name##_dc(x[0], x[1], x[2], v);                                   \
    }                                                                                          \
    static double wgi_op_user_##name##_second(const double *wgi_x, double *wgi_d,              \
                                           double *wgi_h) {                                    \
        const double a = wgi_x[0], b = wgi_x[1], c = wgi_x[2];                                 \
        const double v = wgi_op_user_##name##_v(a, b, c);                                      \
        (void)a, (void)b, (void)c;                                                             \
        wgi_op_user_##name##_first(wgi_x, v, wgi_d);                                           \
        wgi_h[0] = daa_;                                                                       \
        wgi_h[1] = dab_;                                                                       \
        wgi_h[2] = dac_;                                                                       \
        wgi_h[3] = dbb_;                                                                       \
        wgi_h[4] = dbc_;                                                                       \
        wgi_h[5] = dcc_;                                                                       \
        return v;                                                                              \
    }                                                                                          \
    static const wg_scalar_op wgi_user_##name __attribute__((unused)) = {                      \
        #name,                                                                                 \
        source_,                                                                               \
        3,                                                                                     \
        WGI_ZERO(#da_) | WGI_ZERO(#db_) << 1 | WGI_ZERO(#dc_) << 2,                            \
        WGI_ZERO(#daa_) | WGI_ZERO(#dab_) << 1 | WGI_ZERO(#dac_) << 2 |                        \
            WGI_ZERO(#dbb_) << 3 | WGI_ZERO(#dbc_) << 4 | WGI_ZERO(#dcc_) << 5,                \
        wgi_op_user_##name##_value,                                                            \
        wgi_op_user_##name##_first,                                                            \
        wgi_op_user_##name##_second,                                                           \
        {#value_, #da_, #db_, #dc_, #daa_, #dab_, #dac_, #dbb_,                                \
         #dbc_, #dcc_}};                                                                       \
    WGI_USER_ROW3(name)

#define WG_OPERATION4(name, value_, da_, db_, dc_, dd_,                                        \
                      daa_, dab_, dac_, dad_, dbb_, dbc_, dbd_, dcc_, dcd_, ddd_,              \
                      class_, source_)                                                         \
    enum { wgi_class_user_##name = WGI_##class_, WGI_CODE_user_##name = WGI_CODE(WGI_OP_USER), \
           WGI_ADDS_user_##name = WGI_ADDS(WGI_OP_USER), WGI_CALLS_user_##name = 1 };          \
    WGI_FUNCTION double wgi_op_user_##name##_v(double a, double b, double c, double d) {       \
        (void)a, (void)b, (void)c, (void)d;                                                    \
        return value_;                                                                         \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_da(double a, double b, double c, double d,        \
                                                 double v) {                                   \
        (void)a, (void)b, (void)c, (void)d, (void)v;                                           \
        return da_;                                                                            \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_db(double a, double b, double c, double d,        \
                                                 double v) {                                   \
        (void)a, (void)b, (void)c, (void)d, (void)v;                                           \
        return db_;                                                                            \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_dc(double a, double b, double c, double d,        \
                                                 double v) {                                   \
        (void)a, (void)b, (void)c, (void)d, (void)v;                                           \
        return dc_;                                                                            \
    }                                                                                          \
    WGI_FUNCTION double wgi_op_user_##name##_dd(double a, double b, double c, double d,        \
                                                 double v) {                                   \
        (void)a, (void)b, (void)c, (void)d, (void)v;                                           \
        return dd_;                                                                            \
    }                                                                                          \
    static double wgi_op_user_##name##_value(const double *x) {                                \
        return wgi_op_user_##name##_v(x[0], x[1], x[2], x[3]);                                 \
    }                                                                                          \
    static void wgi_op_user_##name##_first(const double *x, double v, double *d) {             \
        d[0] = wgi_op_user_##name##_da(x[0], x[1], x[2], x[3], v);                             \
        d[1] = wgi_op_user_##name##_db(x[0], x[1], x[2], x[3], v);                             \
        d[2] = wgi_op_user_##name##_dc(x[0], x[1], x[2], x[3], v);                             \
        d[3] = wgi_op_user_##name##_dd(x[0], x[1], x[2], x[3], v);                             \
    }                                                                                          \
    static double wgi_op_user_##name##_second(const double *wgi_x, double *wgi_d,              \
                                           double *wgi_h) {                                    \
        const double a = wgi_x[0], b = wgi_x[1], c = wgi_x[2], d = wgi_x[3];                   \
        const double v = wgi_op_user_##name##_v(a, b, c, d);                                   \
        (void)a, (void)b, (void)c, (void)d;                                                    \
        wgi_op_user_##name##_first(wgi_x, v, wgi_d);                                           \
        wgi_h[0] = daa_;                                                                       \
        wgi_h[1] = dab_;                                                                       \
        wgi_h[2] = dac_;                                                                       \
        wgi_h[3] = dad_;                                                                       \
        wgi_h[4] = dbb_;                                                                       \
        wgi_h[5] = dbc_;                                                                       \
        wgi_h[6] = dbd_;                                                                       \
        wgi_h[7] = dcc_;                                                                       \
        wgi_h[8] = dcd_;                                                                       \
        wgi_h[9] = ddd_;                                                                       \
        return v;                                                                              \
    }                                                                                          \
    static const wg_scalar_op wgi_user_##name __attribute__((unused)) = {                      \
        #name,                                                                                 \
        source_,                                                                               \
        4,                                                                                     \
        WGI_ZERO(#da_) | WGI_ZERO(#db_) << 1 | WGI_ZERO(#dc_) << 2 |                           \
            WGI_ZERO(#dd_) << 3,                                                               \
        WGI_ZERO(#daa_) | WGI_ZERO(#dab_) << 1 | WGI_ZERO(#dac_) << 2 |                        \
            WGI_ZERO(#dad_) << 3 | WGI_ZERO(#dbb_) << 4 | WGI_ZERO(#dbc_) << 5 |               \
            WGI_ZERO(#dbd_) << 6 | WGI_ZERO(#dcc_) << 7 | WGI_ZERO(#dcd_) << 8 |               \
            WGI_ZERO(#ddd_) << 9,                                                              \
        wgi_op_user_##name##_value,                                                            \
        wgi_op_user_##name##_first,                                                            \
        wgi_op_user_##name##_second,                                                           \
        {#value_, #da_, #db_, #dc_, #dd_, #daa_, #dab_, #dac_,                                 \
         #dad_, #dbb_, #dbc_, #dbd_, #dcc_, #dcd_, #ddd_}};                                    \
    WGI_USER_ROW4(name)

#ifndef __cplusplus
/* The expression an operation of yours gives: like wg_sin(x), wg_mul(x, y). */
#define WG_CALL1(name, x)                                                                      \
    __extension__({                                                                            \
        WGI_X(x);                                                                              \
        WGI_OPERATION1(WGI_AS_IT_IS, user_##name);                                             \
        WGI_NAMED(name);                                                                       \
        wgi_e;                                                                                 \
    })
#define WG_CALL2(name, x, y)                                                                   \
    __extension__({                                                                            \
        WGI_X(x);                                                                              \
        WGI_Y(y);                                                                              \
        WGI_OPERATION2(WGI_AS_IT_IS, user_##name);                                             \
        WGI_NAMED(name);                                                                       \
        wgi_e;                                                                                 \
    })
#define WG_CALL3(name, x, y, z)                                                                \
    __extension__({                                                                            \
        WGI_X(x);                                                                              \
        WGI_Y(y);                                                                              \
        WGI_Z(z);                                                                              \
        WGI_OPERATION3(WGI_AS_IT_IS, user_##name);                                             \
        WGI_NAMED(name);                                                                       \
        wgi_e;                                                                                 \
    })
#define WG_CALL4(name, x, y, z, w)                                                             \
    __extension__({                                                                            \
        WGI_X(x);                                                                              \
        WGI_Y(y);                                                                              \
        WGI_Z(z);                                                                              \
        WGI_W(w);                                                                              \
        WGI_OPERATION4(WGI_AS_IT_IS, user_##name);                                             \
        WGI_NAMED(name);                                                                       \
        wgi_e;                                                                                 \
    })

/* In code the descriptor of a user's operation is a number: the bits of its address. */
WGI_FUNCTION double wgi_address(const wg_scalar_op *op) {
    const uint64_t bits = (uint64_t)(uintptr_t)op;
    double number;
    __builtin_memcpy(&number, &bits, sizeof bits);
    return number;
}
#endif

#endif

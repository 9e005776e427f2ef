/* SPDX-License-Identifier: MIT */
/* The table of scalar operations as descriptors, one per row of scalar.def, in its order.
 * Letters: a b c d operand values, v the value, x the operands as an array. */
#include "special_second.h"

#include <math.h>

#include <wengert/operation.h>

/* ---- values ---- */
#define OP1(name, value, ...)                                                                  \
    static double name##_value(const double *x) {                                              \
        const double a = x[0];                                                                 \
        return value;                                                                          \
    }
#define OP2(name, value, ...)                                                                  \
    static double name##_value(const double *x) {                                              \
        const double a = x[0], b = x[1];                                                       \
        return value;                                                                          \
    }
#define OP3(name, value, ...)                                                                  \
    static double name##_value(const double *x) {                                              \
        const double a = x[0], b = x[1], c = x[2];                                             \
        return value;                                                                          \
    }
#define OP4(name, value, ...)                                                                  \
    static double name##_value(const double *x) {                                              \
        const double a = x[0], b = x[1], c = x[2], d = x[3];                                   \
        return value;                                                                          \
    }
#include "scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* ---- first partials ---- */
#define OP1(name, value, da, ...)                                                              \
    static void name##_first(const double *x, double v, double *p) {                           \
        const double a = x[0];                                                                 \
        (void)a, (void)v;                                                                      \
        p[0] = da;                                                                             \
    }
#define OP2(name, value, da, db, ...)                                                          \
    static void name##_first(const double *x, double v, double *p) {                           \
        const double a = x[0], b = x[1];                                                       \
        (void)a, (void)b, (void)v;                                                             \
        p[0] = da;                                                                             \
        p[1] = db;                                                                             \
    }
#define OP3(name, value, da, db, dc, ...)                                                      \
    static void name##_first(const double *x, double v, double *p) {                           \
        const double a = x[0], b = x[1], c = x[2];                                             \
        (void)a, (void)b, (void)c, (void)v;                                                    \
        p[0] = da;                                                                             \
        p[1] = db;                                                                             \
        p[2] = dc;                                                                             \
    }
#define OP4(name, value, da, db, dc, dd, ...)                                                  \
    static void name##_first(const double *x, double v, double *p) {                           \
        const double a = x[0], b = x[1], c = x[2], d = x[3];                                   \
        (void)a, (void)b, (void)c, (void)d, (void)v;                                           \
        p[0] = da;                                                                             \
        p[1] = db;                                                                             \
        p[2] = dc;                                                                             \
        p[3] = dd;                                                                             \
    }
#include "scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* ---- value, first and second partials at once ---- */
#define OP1(name, value, da, daa, ...)                                                         \
    static double name##_second(const double *x, double *p, double *h) {                       \
        const double a = x[0];                                                                 \
        const double v = value;                                                                \
        p[0] = da;                                                                             \
        h[0] = daa;                                                                            \
        return v;                                                                              \
    }
#define OP2(name, value, da, db, daa, dab, dbb, ...)                                           \
    static double name##_second(const double *x, double *p, double *h) {                       \
        const double a = x[0], b = x[1];                                                       \
        const double v = value;                                                                \
        p[0] = da;                                                                             \
        p[1] = db;                                                                             \
        h[0] = daa;                                                                            \
        h[1] = dab;                                                                            \
        h[2] = dbb;                                                                            \
        return v;                                                                              \
    }
#define OP3(name, value, da, db, dc, daa, dab, dac, dbb, dbc, dcc, ...)                        \
    static double name##_second(const double *x, double *p, double *h) {                       \
        const double a = x[0], b = x[1], c = x[2];                                             \
        const double v = value;                                                                \
        p[0] = da;                                                                             \
        p[1] = db;                                                                             \
        p[2] = dc;                                                                             \
        h[0] = daa;                                                                            \
        h[1] = dab;                                                                            \
        h[2] = dac;                                                                            \
        h[3] = dbb;                                                                            \
        h[4] = dbc;                                                                            \
        h[5] = dcc;                                                                            \
        return v;                                                                              \
    }
#define OP4(name, ...)
#include "scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* ---- the table ---- */
#define Z(text, bit) ((unsigned)WGI_ZERO(text) << (bit))
#define OP1(name, value, da, daa, class, source)                                               \
    {#name,        source,        1,                                                           \
     Z(#da, 0),    Z(#daa, 0),    name##_value,                                                \
     name##_first, name##_second, {#value, #da, #daa}},
#define OP2(name, value, da, db, daa, dab, dbb, class, source)                                 \
    {#name,                                                                                    \
     source,                                                                                   \
     2,                                                                                        \
     Z(#da, 0) | Z(#db, 1),                                                                    \
     Z(#daa, 0) | Z(#dab, 1) | Z(#dbb, 2),                                                     \
     name##_value,                                                                             \
     name##_first,                                                                             \
     name##_second,                                                                            \
     {#value, #da, #db, #daa, #dab, #dbb}},
#define OP3(name, value, da, db, dc, daa, dab, dac, dbb, dbc, dcc, class, source)              \
    {#name,                                                                                    \
     source,                                                                                   \
     3,                                                                                        \
     Z(#da, 0) | Z(#db, 1) | Z(#dc, 2),                                                        \
     Z(#daa, 0) | Z(#dab, 1) | Z(#dac, 2) | Z(#dbb, 3) | Z(#dbc, 4) | Z(#dcc, 5),              \
     name##_value,                                                                             \
     name##_first,                                                                             \
     name##_second,                                                                            \
     {#value, #da, #db, #dc, #daa, #dab, #dac, #dbb, #dbc, #dcc}},
#define OP4(name, value, da, db, dc, dd, class, source)                                        \
    {#name,        source,       4,    Z(#da, 0) | Z(#db, 1) | Z(#dc, 2) | Z(#dd, 3),          \
     0x3ff, /* piecewise linear */                                                             \
     name##_value, name##_first, NULL, {#value, #da, #db, #dc, #dd}},
const wg_scalar_op wgi_scalar_ops[] = {
#include "scalar.def"
};
const size_t wgi_scalar_op_count = sizeof wgi_scalar_ops / sizeof *wgi_scalar_ops;

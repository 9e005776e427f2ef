/* SPDX-License-Identifier: MIT */
/* Value, first and second partials of every row of scalar.def at several points: loops that the
 * compiler turns into vector instructions where the row is arithmetic. Letters: as in scalar.c;
 * z the value at all points. */
#include "scalar_lanes.h"
#include "special_second.h"

#include <math.h>

#define ROW(name, ...)                                                                         \
    static void name##_lanes(const double *const *x, double *restrict z,                       \
                             wgi_lane_row *restrict p, wgi_lane_row *restrict h) {             \
        (void)h;                                                                               \
        for (int i = 0; i < WGI_POINTS; i++) {                                                 \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }

#define OP1(name, value, da, daa, ...)                                                         \
    ROW(name, const double a = x[0][i]; const double v = value; z[i] = v; p[0][i] = da;        \
        h[0][i] = daa;)
#define OP2(name, value, da, db, daa, dab, dbb, ...)                                           \
    ROW(name, const double a = x[0][i], b = x[1][i]; const double v = value; z[i] = v;         \
        p[0][i] = da; p[1][i] = db; h[0][i] = daa; h[1][i] = dab; h[2][i] = dbb;)
#define OP3(name, value, da, db, dc, daa, dab, dac, dbb, dbc, dcc, ...)                        \
    ROW(name, const double a = x[0][i], b = x[1][i], c = x[2][i]; const double v = value;      \
        z[i] = v; p[0][i] = da; p[1][i] = db; p[2][i] = dc; h[0][i] = daa; h[1][i] = dab;      \
        h[2][i] = dac; h[3][i] = dbb; h[4][i] = dbc; h[5][i] = dcc;)
#define OP4(name, value, da, db, dc, dd, ...)                                                  \
    ROW(name, const double a = x[0][i], b = x[1][i], c = x[2][i], d = x[3][i];                 \
        const double v = value; z[i] = v; p[0][i] = da; p[1][i] = db; p[2][i] = dc;            \
        p[3][i] = dd;)
#include "scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

#define OP1(name, ...) name##_lanes,
#define OP2(name, ...) name##_lanes,
#define OP3(name, ...) name##_lanes,
#define OP4(name, ...) name##_lanes,
wgi_second_lanes *const wgi_scalar_second_lanes[] = {
#include "scalar.def"
};
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* ---- second partials alone, from the value ---- */

#define ROW_CURVES(name, ...)                                                                  \
    static void name##_curves(const double *const *x, const double *z,                         \
                              wgi_lane_row *restrict h) {                                      \
        (void)x, (void)h;                                                                      \
        for (int i = 0; i < WGI_POINTS; i++) {                                                 \
            const double v = z[i];                                                             \
            (void)v;                                                                           \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }

#define OP1(name, value, da, daa, ...)                                                         \
    ROW_CURVES(name, const double a = x[0][i]; (void)a; h[0][i] = daa;)
#define OP2(name, value, da, db, daa, dab, dbb, ...)                                           \
    ROW_CURVES(name, const double a = x[0][i], b = x[1][i]; (void)a, (void)b; h[0][i] = daa;   \
               h[1][i] = dab; h[2][i] = dbb;)
#define OP3(name, value, da, db, dc, daa, dab, dac, dbb, dbc, dcc, ...)                        \
    ROW_CURVES(name, const double a = x[0][i], b = x[1][i], c = x[2][i];                       \
               (void)a, (void)b, (void)c; h[0][i] = daa; h[1][i] = dab; h[2][i] = dac;         \
               h[3][i] = dbb; h[4][i] = dbc; h[5][i] = dcc;)
#define OP4(name, ...) ROW_CURVES(name, )
#include "scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

#define OP1(name, ...) name##_curves,
#define OP2(name, ...) name##_curves,
#define OP3(name, ...) name##_curves,
#define OP4(name, ...) name##_curves,
wgi_curves_lanes *const wgi_scalar_curves_lanes[] = {
#include "scalar.def"
};

/* SPDX-License-Identifier: MIT */
/* The coefficients of the methods.
 *
 * Source: Hairer, Norsett and Wanner 1993, II.1 table 1.2, II.5 table 5.2, II.6 (6.12) for the
 * interpolation of Dormand and Prince's method as their program DOPRI5 has it; Hairer, Lubich
 * and Wanner 2006, I.1 (1.17); Hairer and Wanner 1996, IV.7, the coefficients of their
 * program RODAS (method 1). */
#include "ode.h"

/* y + theta (dy + (1 - theta) (r3 + theta (r4 + (1 - theta) r5))), with dy = sum b_i g_i,
 * r3 = g_1 - dy, r4 = dy - g_7 - r3, r5 = sum d_i g_i, ordered by increments. */
static const double dopri5_b[] = {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784,
                                  11.0 / 84,  0};
static void dopri5_weights(double theta, double *w, double *slope) {
    static const double d[] = {-12715105075.0 / 11282082432,  0,
                               87487479700.0 / 32700410799,   -10690763975.0 / 1880347072,
                               701980252875.0 / 199316789632, -1453857185.0 / 822651844,
                               69997945.0 / 29380423};
    const double rest = 1 - theta;
    for (int i = 0; i < 7; i++) {
        const double first = i == 0, last = i == 6;
        const double p = 2 * dopri5_b[i] - first - last + rest * d[i];
        const double q = first - dopri5_b[i] + theta * p;
        w[i] = theta * (dopri5_b[i] + rest * q);
        if (slope == NULL) continue;
        slope[i] = dopri5_b[i] + rest * q + theta * (rest * (p - theta * d[i]) - q);
    }
}

static const wgi_ode_method dopri5 = {
    .name = "WG_DOPRI5",
    .stages = 7,
    .order = 5,
    .adaptive = 1,
    .same_last = 1,
    .c = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1},
    .a = {{0},
          {1.0 / 5},
          {3.0 / 40, 9.0 / 40},
          {44.0 / 45, -56.0 / 15, 32.0 / 9},
          {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
          {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
          {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
    .b = {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0},
    .e = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525,
          -1.0 / 40},
    .weights = dopri5_weights};

static const wgi_ode_method rk4 = {.name = "WG_RK4",
                                   .stages = 4,
                                   .c = {0, 0.5, 0.5, 1},
                                   .a = {{0}, {0.5}, {0, 0.5}, {0, 0, 1}},
                                   .b = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};

/* Half a kick by v' at the old q, a drift by q' at that v, half a kick at the new q: which is
 * also the first kick of the next step. */
static const wgi_ode_method leapfrog = {.name = "WG_LEAPFROG",
                                        .stages = 3,
                                        .halves = 1,
                                        .same_last = 1,
                                        .c = {0, 0.5, 1},
                                        .a = {{0}, {0}, {0, 1}},
                                        .b = {0, 1, 0},
                                        .a2 = {{0}, {0.5}, {0.5}},
                                        .b2 = {0.5, 0, 0.5}};

/* y + theta (dy + (1 - theta) (r3 + theta r4)), with dy = sum b_i g_i and r3, r4 of such
 * sums. */
static void rodas4_weights(double theta, double *w, double *slope) {
    static const double b[] = {0.1221224509226641e+01,
                               0.6019134481288629e+01,
                               0.1253708332932087e+02,
                               -0.6878860361058950e+00,
                               1,
                               1};
    static const double r3[] = {0.1012623508344586e+02,  -0.7487995877610167e+01,
                                -0.3480091861555747e+02, -0.7992771707568823e+01,
                                0.1025137723295662e+01,  0};
    static const double r4[] = {-0.6762803392801253e+00, 0.6087714651680015e+01,
                                0.1643084320892478e+02,  0.2476722511418386e+02,
                                -0.6594389125716872e+01, 0};
    for (int i = 0; i < 6; i++) {
        const double q = r3[i] + theta * r4[i];
        w[i] = theta * (b[i] + (1 - theta) * q);
        if (slope == NULL) continue;
        slope[i] = b[i] + (1 - theta) * q + theta * ((1 - theta) * r4[i] - q);
    }
}

/* L-stable, stiffly accurate, of order 4 with an estimate of order 3. */
static const wgi_ode_method rodas4 = {
    .name = "WG_RODAS4",
    .stages = 6,
    .order = 4,
    .adaptive = 1,
    .c = {0, 0.386, 0.21, 0.63, 1, 1},
    .a = {{0},
          {0.1544000000000000e+01},
          {0.9466785280815826e+00, 0.2557011698983284e+00},
          {0.3314825187068521e+01, 0.2896124015972201e+01, 0.9986419139977817e+00},
          {0.1221224509226641e+01, 0.6019134481288629e+01, 0.1253708332932087e+02,
           -0.6878860361058950e+00},
          {0.1221224509226641e+01, 0.6019134481288629e+01, 0.1253708332932087e+02,
           -0.6878860361058950e+00, 1}},
    .b = {0.1221224509226641e+01, 0.6019134481288629e+01, 0.1253708332932087e+02,
          -0.6878860361058950e+00, 1, 1},
    .e = {0, 0, 0, 0, 0, 1},
    .weights = rodas4_weights,
    .gamma = 0.25,
    .d = {0.25, -0.1043, 0.1035, -0.3620000000000023e-01, 0, 0},
    .cc = {{0},
           {-0.5668800000000000e+01},
           {-0.2430093356833875e+01, -0.2063599157091915e+00},
           {-0.1073529058151375e+00, -0.9594562251023355e+01, -0.2047028614809616e+02},
           {0.7496443313967647e+01, -0.1024680431464352e+02, -0.3399990352819905e+02,
            0.1170890893206160e+02},
           {0.8083246795921522e+01, -0.7981132988064893e+01, -0.3152159432874371e+02,
            0.1631930543123136e+02, -0.6058818238834054e+01}}};

const wgi_ode_method *wgi_ode_method_of(wg_ode_method m) {
    switch (m) {
    case WG_DOPRI5:
        return &dopri5;
    case WG_RK4:
        return &rk4;
    case WG_RODAS4:
        return &rodas4;
    case WG_LEAPFROG:
        return &leapfrog;
    }
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* The coefficients of the methods.
 *
 * Source: Hairer, Norsett and Wanner 1993, II.1 table 1.2, II.5 table 5.2, II.6 (6.12) for the interpolation
 * of Dormand and Prince's method as their program DOPRI5 has it; Hairer, Lubich and Wanner 2006, I.1 (1.17). */
#include "ode.h"

/* y + theta (dy + (1 - theta) (r3 + theta (r4 + (1 - theta) r5))), with dy = sum b_i g_i, r3 = g_1 - dy,
 * r4 = dy - g_7 - r3, r5 = sum d_i g_i, ordered by increments. */
static const double dopri5_b[] = {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784,
                                  11.0 / 84,  0};
static void dopri5_weights(double theta, double *w) {
    static const double d[] = {-12715105075.0 / 11282082432,  0,
                               87487479700.0 / 32700410799,   -10690763975.0 / 1880347072,
                               701980252875.0 / 199316789632, -1453857185.0 / 822651844,
                               69997945.0 / 29380423};
    const double rest = 1 - theta;
    for (int i = 0; i < 7; i++) {
        const double first = i == 0, last = i == 6;
        w[i] = theta *
               (dopri5_b[i] + rest * (first - dopri5_b[i] +
                                      theta * (2 * dopri5_b[i] - first - last + rest * d[i])));
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

/* Half a kick by v' at the old q, a drift by q' at that v, half a kick at the new q: which is also the
 * first kick of the next step. */
static const wgi_ode_method leapfrog = {.name = "WG_LEAPFROG",
                                        .stages = 3,
                                        .halves = 1,
                                        .same_last = 1,
                                        .c = {0, 0.5, 1},
                                        .a = {{0}, {0}, {0, 1}},
                                        .b = {0, 1, 0},
                                        .a2 = {{0}, {0.5}, {0.5}},
                                        .b2 = {0.5, 0, 0.5}};

const wgi_ode_method *wgi_ode_method_of(wg_ode_method m) {
    switch (m) {
    case WG_DOPRI5:
        return &dopri5;
    case WG_RK4:
        return &rk4;
    case WG_LEAPFROG:
        return &leapfrog;
    }
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* How far a ball flies that is thrown from the ground, with drag growing as the speed squared.
 *
 * A kernel: this file may be included several times, each time for another type of number; what
 * that type is, <wengert/generic.h> decides (WG_AS_DOUBLE, WG_AS_DUAL, or a taped variable).
 *
 * State: x, y position (m), u, v velocity (m/s). x' = u, y' = v, u' = -k s u, v' = -g - k s v,
 * s = sqrt(u^2 + v^2), k the drag (1/m), g gravity; classical Runge-Kutta steps. */
#include <wengert/generic.h>

#ifndef KERNEL_TRAJECTORY_H
#define KERNEL_TRAJECTORY_H

enum { TRAJECTORY_PARAMETERS = 3 };         /* speed (m/s), elevation (radians), drag (1/m) */
static const double trajectory_step = 0.02; /* s */

#endif

struct WG_NAME(ball) {
    wg_real x, y, u, v;
};

/* b + h times the rate of change at c. */
static struct WG_NAME(ball) WG_NAME(advance)(wg_tape *t, struct WG_NAME(ball) b, double h,
                                             struct WG_NAME(ball) c, wg_real drag) {
    const double gravity = 9.80665;
    (void)t;
    wg_real brake = wg_let(
        t, wg_mul(wg_mul(-h, drag), wg_sqrt(wg_add(wg_mul(c.u, c.u), wg_mul(c.v, c.v)))));
    struct WG_NAME(ball) r;
    r.x = wg_let(t, wg_add(b.x, wg_mul(h, c.u)));
    r.y = wg_let(t, wg_add(b.y, wg_mul(h, c.v)));
    r.u = wg_let(t, wg_add(b.u, wg_mul(brake, c.u)));
    r.v = wg_let(t, wg_add(wg_sub(b.v, h * gravity), wg_mul(brake, c.v)));
    return r;
}

/* One step, with the four stages k1 ... k4 inside p = b + h/2 k1, q = b + h/2 k2, r = b + h k3:
 * the new state b + h/6 (k1 + 2 k2 + 2 k3 + k4) is (p + 2 q + r - b) / 3 + h/6 k4. */
static struct WG_NAME(ball) WG_NAME(step)(wg_tape *t, struct WG_NAME(ball) b, wg_real drag) {
    const double h = trajectory_step;
    (void)t;
    const struct WG_NAME(ball) p = WG_NAME(advance)(t, b, h / 2, b, drag);
    const struct WG_NAME(ball) q = WG_NAME(advance)(t, b, h / 2, p, drag);
    const struct WG_NAME(ball) r = WG_NAME(advance)(t, b, h, q, drag);
    b.x = wg_let(t, wg_div(wg_sub(wg_add(wg_add(p.x, wg_mul(2, q.x)), r.x), b.x), 3));
    b.y = wg_let(t, wg_div(wg_sub(wg_add(wg_add(p.y, wg_mul(2, q.y)), r.y), b.y), 3));
    b.u = wg_let(t, wg_div(wg_sub(wg_add(wg_add(p.u, wg_mul(2, q.u)), r.u), b.u), 3));
    b.v = wg_let(t, wg_div(wg_sub(wg_add(wg_add(p.v, wg_mul(2, q.v)), r.v), b.v), 3));
    return WG_NAME(advance)(t, b, h / 6, r, drag);
}

/* The distance at which the ball comes down, for p = (speed, elevation, drag). */
static wg_real WG_NAME(trajectory_range)(wg_tape *t, const wg_real *p) {
    (void)t;
    struct WG_NAME(ball) now, before;
    now.x = now.y = wg_constant(0);
    now.u = wg_let(t, wg_mul(p[0], wg_cos(p[1])));
    now.v = wg_let(t, wg_mul(p[0], wg_sin(p[1])));
    do {
        before = now;
        now = WG_NAME(step)(t, now, p[2]);
    } while (wg_value(now.y) > 0);
    /* Where the line between the last two states crosses the ground. */
    wg_real part = wg_let(t, wg_div(before.y, wg_sub(before.y, now.y)));
    return wg_let(t, wg_add(before.x, wg_mul(part, wg_sub(now.x, before.x))));
}

/* SPDX-License-Identifier: MIT */
/* test_function_nested.c - derivatives inside of what is differentiated, in all combinations of
 * modes: the inner one is a function that is called, the outer one that of a tape, of a forward
 * tape, or of a function that was recorded. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <wengert.h>

#include <cmocka.h>

#include "tolerance.h"

static const wg_options keep_code = {.flags = WG_KEEP_CODE};
static wg_tape *code;

static int open_tape(void **state) {
    (void)state;
    code = wg_tape_new(&keep_code);
    return code == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(code);
    return 0;
}

static void must(wg_tape *t, wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s", wg_status_text(s), wg_tape_message(t));
}

/* ---- the inner derivative ---------------------------------------------------------------- */

enum mode { FORWARD, REVERSE };

struct slope {
    enum mode mode;
    wg_callable *call;
};

/* Of f(y, x), a number, by y; x is passive while that is made, and active after. */
static struct slope slope_of(wg_callback *f, void *data, size_t ny, size_t nx, const double *at,
                             enum mode mode) {
    const wg_argument in[] = {{"y", ny, 1, 0}, {"x", nx, 1, WG_PASSIVE}}, out = {"f", 1, 1, 0};
    struct slope s = {mode, NULL};
    wg_function *made = NULL, *d = NULL, *active = NULL;
    must(code, wg_function_record(code, f, data, 2, in, at, 1, &out, &made));
    must(code, mode == FORWARD ? wg_function_jvp(code, made, &d)
                               : wg_function_gradient(code, made, &d));
    must(code, wg_function_flag(code, d, "x", 0, &active));
    must(code, wg_callable_new(code, active, &s.call));
    wg_function_free(made);
    wg_function_free(d);
    wg_function_free(active);
    return s;
}

static void call(wg_tape *t, const struct slope *s, size_t ny, const wg_real *y, size_t nx,
                 const wg_real *x, wg_real *g) {
    wg_mat at[3] = {wg_mat_gather(t, ny, 1, y), wg_mat_gather(t, nx, 1, x)}, to;
    if (s->mode == REVERSE) {
        wg_call(t, s->call, at, &to);
        for (size_t i = 0; i < ny; i++) g[i] = wg_mat_at(to, i, 0);
        return;
    }
    const wg_mat unit = wg_mat_identity(t, ny);
    for (size_t i = 0; i < ny; i++) {
        at[2] = wg_mat_col(unit, i);
        wg_call(t, s->call, at, &to);
        g[i] = wg_mat_at(to, 0, 0);
    }
}

/* ---- the outer derivative, in every way there is ------------------------------------------
 */

enum way { ON_TAPE, ON_FORWARD_TAPE, BY_GRADIENT, BY_JVP, WAYS };

static double on_forward_tape(wg_callback *f, void *data, size_t n, const double *x,
                              double *g) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real in[8], y;
    must(t, wg_tape_forward(t, n));
    must(t, wg_inputs(t, n, x, in));
    for (size_t i = 0; i < n; i++) must(t, wg_tangent_seed(t, in[i], i, 1));
    must(t, f(t, n, in, 1, &y, data));
    must(t, wg_tape_status(t));
    for (size_t i = 0; i < n; i++) g[i] = wg_tangent(t, y, i);
    wg_tape_free(t);
    return wg_value(y);
}

static double by_function(enum way way, wg_callback *f, void *data, size_t n, const double *x,
                          double *g) {
    const wg_argument in = {"in", n, 1, 0}, out = {"out", 1, 1, 0};
    static double room[1 << 17];
    double unit[64] = {0}, value[8];
    wg_function *made = NULL, *d = NULL, *both = NULL;
    for (size_t i = 0; i < n; i++) unit[i * n + i] = 1;
    must(code, wg_function_record(code, f, data, 1, &in, x, 1, &out, &made));
    must(code, way == BY_JVP ? wg_function_jvp(code, made, &d)
                             : wg_function_gradient(code, made, &d));
    must(code, wg_function_join(code, 2, (const wg_function *[]){made, d}, &both));
    assert_true(wg_function_work(both, NULL) <= sizeof room);
    /* forward: a point for each direction */
    const wg_points at[] = {{x, 0, 1}, {unit, (ptrdiff_t)n, 1}};
    const wg_results to[] = {{value, 1, 1}, {g, 1, 1}};
    must(NULL, wg_function_evaluate(both, way == BY_JVP ? n : 1, at, to, NULL, room, NULL));
    wg_function_free(made);
    wg_function_free(d);
    wg_function_free(both);
    return *value;
}

static double outer(enum way way, wg_callback *f, void *data, size_t n, const double *x,
                    double *g) {
    if (way == ON_FORWARD_TAPE) return on_forward_tape(f, data, n, x, g);
    if (way != ON_TAPE) return by_function(way, f, data, n, x, g);
    wg_tape *t = wg_tape_new(NULL);
    double value;
    must(t, wg_gradient(t, f, data, n, x, &value, g));
    wg_tape_free(t);
    return value;
}

static void near(double a, double b, double ulps) {
    if (!(fabs(a - b) <= ulps * DBL_EPSILON * fabs(b))) fail_msg("%.17g, not %.17g", a, b);
}

/* ---- perturbations ------------------------------------------------------------------------
 */

static wg_status sum(wg_tape *t, size_t n, const wg_real *yx, size_t m, wg_real *f,
                     void *data) {
    (void)n, (void)m, (void)data;
    f[0] = wg_let(t, wg_add(yx[0], yx[1]));
    return WG_OK;
}
static wg_status product(wg_tape *t, size_t n, const wg_real *yx, size_t m, wg_real *f,
                         void *data) {
    (void)n, (void)m, (void)data;
    f[0] = wg_let(t, wg_mul(wg_square(yx[0]), yx[1]));
    return WG_OK;
}
/* x df/dy(1, x), with the slope as data */
static wg_status times_x(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *f,
                         void *data) {
    const wg_real one = wg_constant(1);
    wg_real g;
    (void)n, (void)m;
    call(t, data, 1, &one, 1, x, &g);
    f[0] = wg_let(t, wg_mul(x[0], g));
    return WG_OK;
}
/* the same at y = x: the inner variable is the outer one, and is not confused with it */
static wg_status at_x(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *f,
                      void *data) {
    wg_real g;
    (void)n, (void)m;
    call(t, data, 1, x, 1, x, &g);
    f[0] = wg_let(t, wg_mul(x[0], g));
    return WG_OK;
}

static void perturbations_of_calls_are_not_confused(void **state) {
    (void)state;
    const double at[] = {1, 1}, x = 3;
    static const struct {
        wg_callback *inner, *outer;
        double value, slope;
    } cases[] = {
        {sum, times_x, 3, 1},       /* x 1 */
        {product, times_x, 18, 12}, /* x 2 x */
        {sum, at_x, 3, 1},
        {product, at_x, 54, 54}, /* x 2 x x */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (enum mode mode = FORWARD; mode <= REVERSE; mode++) {
            struct slope s = slope_of(cases[k].inner, NULL, 1, 1, at, mode);
            for (enum way way = ON_TAPE; way < WAYS; way++) {
                double g;
                assert_true(outer(way, cases[k].outer, &s, 1, &x, &g) == cases[k].value);
                assert_true(g == cases[k].slope);
            }
            wg_callable_free(s.call);
        }
}

/* The derivative of a derivative of a derivative, every one inside the next:
 * z d/dx (x d/dy (y^2 x) at 1) is 4 x z, and its derivative 8 z at x = z. */
static wg_status middle(wg_tape *t, size_t n, const wg_real *xz, size_t m, wg_real *f,
                        void *data) {
    wg_real x_times, one = wg_constant(1);
    (void)n, (void)m;
    call(t, data, 1, &one, 1, xz, &x_times);
    f[0] = wg_let(t, wg_mul(xz[1], wg_mul(xz[0], x_times)));
    return WG_OK;
}

static void three_levels_of_all_modes_agree(void **state) {
    (void)state;
    const double at[] = {1, 1}, z = 1.5;
    for (int modes = 0; modes < 4; modes++) {
        struct slope inner = slope_of(product, NULL, 1, 1, at, modes & 1 ? REVERSE : FORWARD);
        struct slope next = slope_of(middle, &inner, 1, 1, at, modes & 2 ? REVERSE : FORWARD);
        for (enum way way = ON_TAPE; way < WAYS; way++) {
            double g;
            /* d/dx (z x 2 x) = 4 x z at x = z, times z */
            near(outer(way, at_x, &next, 1, &z, &g), 4 * z * z * z, TOL_VALUE_ULP);
            near(g, 12 * z * z, TOL_DERIVATIVE_ULP);
        }
        wg_callable_free(inner.call);
        wg_callable_free(next.call);
    }
}

/* ---- a trajectory in a potential, by a parameter ------------------------------------------
 */

enum { STEPS = 12 };

/* in: place, parameters: sum_k 1/|place - (5, parameter k)| */
static wg_status potential(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *f,
                           void *data) {
    wg_real s = wg_constant(0);
    (void)m, (void)data;
    for (size_t k = 2; k < n; k++)
        s = wg_let(t,
                   wg_add(s, wg_reciprocal(wg_hypot(wg_sub(in[0], 5), wg_sub(in[1], in[k])))));
    f[0] = s;
    return WG_OK;
}

/* Where steps of Euler's lead: the square of the distance from the origin. */
static wg_status flight(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *f,
                        void *data) {
    wg_real x[2] = {wg_constant(0), wg_constant(3)}, v[2] = {wg_constant(1), wg_constant(0)};
    (void)m;
    for (int step = 0; step < STEPS; step++) {
        wg_real g[2];
        call(t, data, 2, x, n, in, g);
        for (int i = 0; i < 2; i++) {
            x[i] = wg_let(t, wg_add(x[i], wg_mul(0.25, v[i])));
            v[i] = wg_let(t, wg_sub(v[i], wg_mul(0.25, g[i])));
        }
    }
    f[0] = wg_let(t, wg_add(wg_square(x[0]), wg_square(x[1])));
    return WG_OK;
}

/* By hand, with the tangent along parameter `by`. */
static double flight_by_hand(const double *c, int by, double *tangent) {
    double x[2] = {0, 3}, v[2] = {1, 0}, dx[2] = {0, 0}, dv[2] = {0, 0};
    for (int step = 0; step < STEPS; step++) {
        double a[2] = {0, 0}, da[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            const double d[2] = {x[0] - 5, x[1] - c[k]}, dd[2] = {dx[0], dx[1] - (k == by)};
            const double r2 = d[0] * d[0] + d[1] * d[1], r3 = r2 * sqrt(r2);
            for (int i = 0; i < 2; i++) {
                a[i] += d[i] / r3;
                da[i] += (dd[i] - 3 * (d[0] * dd[0] + d[1] * dd[1]) / r2 * d[i]) / r3;
            }
        }
        for (int i = 0; i < 2; i++) {
            x[i] += 0.25 * v[i];
            dx[i] += 0.25 * dv[i];
            v[i] += 0.25 * a[i];
            dv[i] += 0.25 * da[i];
        }
    }
    *tangent = 2 * (x[0] * dx[0] + x[1] * dx[1]);
    return x[0] * x[0] + x[1] * x[1];
}

static void a_flight_has_one_derivative_in_all_modes(void **state) {
    (void)state;
    const double at[] = {0, 3, 4, 0.5}, c[] = {4, 0.5};
    double want[2];
    const double value = flight_by_hand(c, 0, &want[0]);
    flight_by_hand(c, 1, &want[1]);
    for (enum mode mode = FORWARD; mode <= REVERSE; mode++) {
        struct slope s = slope_of(potential, NULL, 2, 2, at, mode);
        for (enum way way = ON_TAPE; way < WAYS; way++) {
            double g[2];
            near(outer(way, flight, &s, 2, c, g), value, TOL_PROGRAM_ULP);
            near(g[0], want[0], TOL_PROGRAM_ULP * STEPS);
            near(g[1], want[1], TOL_PROGRAM_ULP * STEPS);
        }
        wg_callable_free(s.call);
    }
}

/* ---- a maximum, found by comparing, by what it depends on ----------------------------------
 */

/* in: y, x: x0^2 + x1^2 - |y - x|^2, largest at y = x */
static wg_status hill(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *f,
                      void *data) {
    (void)n, (void)m, (void)data;
    f[0] = wg_let(
        t, wg_sub(wg_add(wg_square(in[2]), wg_square(in[3])),
                  wg_add(wg_square(wg_sub(in[0], in[2])), wg_square(wg_sub(in[1], in[3])))));
    return WG_OK;
}

/* Ascends from 0 while it gets higher; steps of 0.75 the slope: y = x (1 - (-1/2)^k) after k.
 */
static wg_status highest(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *f,
                         void *data) {
    wg_real in[4] = {wg_constant(0), wg_constant(0), x[0], x[1]}, next;
    (void)n, (void)m;
    must(t, hill(t, 4, in, 1, f, NULL));
    for (int step = 0; step < 10; step++) {
        wg_real g[2], to[4] = {in[0], in[1], x[0], x[1]};
        call(t, data, 2, in, 2, x, g);
        for (int i = 0; i < 2; i++) to[i] = wg_let(t, wg_add(in[i], wg_mul(0.75, g[i])));
        must(t, hill(t, 4, to, 1, &next, NULL));
        if (!wg_gt(t, next, f[0])) break;
        f[0] = next;
        in[0] = to[0];
        in[1] = to[1];
    }
    return wg_tape_status(t);
}

static void a_maximum_has_one_derivative_in_all_modes(void **state) {
    (void)state;
    const double at[] = {0, 0, 1, 1}, x[] = {1.25, -0.5}, rest = 1 - 0x1p-20;
    for (enum mode mode = FORWARD; mode <= REVERSE; mode++) {
        struct slope s = slope_of(hill, NULL, 2, 2, at, mode);
        for (enum way way = ON_TAPE; way < WAYS; way++) {
            double g[2];
            near(outer(way, highest, &s, 2, x, g), rest * (x[0] * x[0] + x[1] * x[1]),
                 TOL_PROGRAM_ULP);
            near(g[0], rest * 2 * x[0], TOL_PROGRAM_ULP);
            near(g[1], rest * 2 * x[1], TOL_PROGRAM_ULP);
        }
        wg_callable_free(s.call);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perturbations_of_calls_are_not_confused),
        cmocka_unit_test(three_levels_of_all_modes_agree),
        cmocka_unit_test(a_flight_has_one_derivative_in_all_modes),
        cmocka_unit_test(a_maximum_has_one_derivative_in_all_modes),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}

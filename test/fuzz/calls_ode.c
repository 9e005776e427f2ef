/* SPDX-License-Identifier: MIT */
/* calls_ode.c - rows: solutions in time. */
#include "calls.h"

/* Systems that are there from the beginning to the end: a pendulum with friction, and its
 * energy; the same where something is in its way. */
static wg_ode *house, *house_of_events;

static wg_status swing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = x[2];
    y[1] = wg_let(t, wg_sub(wg_mul(wg_neg(x[3]), wg_sin(x[1])), wg_mul(x[4], x[2])));
    return WG_OK;
}
static wg_status energy(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(wg_square(x[2]), wg_mul(x[3], wg_cos(x[1]))));
    return WG_OK;
}

static wg_status meet(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(x[1], wg_mul(0.1, x[3])));
    return WG_OK;
}
static wg_status turn(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = x[1];
    y[1] = wg_let(t, wg_mul(-0.75, x[2]));
    return WG_OK;
}

int house_ode_open(wg_tape *t) {
    static const wg_argument in[] = {{"t", 1, 1, 0}, {"y", 2, 1, 0}, {"p", 2, 1, 0}};
    static const wg_argument out[] = {{"f", 2, 1, 0}, {"g", 1, 1, 0}};
    const double x[] = {0, 1, 0.5, 1.5, 0.25};
    static wg_callback *const callback[4] = {swing, energy, meet, turn};
    wg_function *f[4] = {NULL, NULL, NULL, NULL};
    int bad = 0;
    for (size_t k = 0; k < 4 && !bad; k++)
        bad = wg_function_record(t, callback[k], NULL, 3, in, x, 1, &out[k % 3 != 0], &f[k]) !=
              WG_OK;
    const wg_ode_system plain = {.rhs = f[0], .integrand = f[1], .stiff = 1, .second = 1};
    const wg_ode_system events = {
        .rhs = f[0], .integrand = f[1], .event = f[2], .jump = f[3], .stiff = 1};
    bad = bad || wg_ode_new(t, &plain, &house) != WG_OK ||
          wg_ode_new(t, &events, &house_of_events) != WG_OK;
    for (size_t k = 0; k < 4; k++) wg_function_free(f[k]);
    return bad;
}

/* What is made of any functions is given back at once. */
ROW(wg_ode_new) {
    DRIVER_TAPE(t);
    FUNCTION(f);
    FUNCTION(g);
    const wg_ode_system system_ = {.rhs = one_in(30) ? NULL : f,
                                   .integrand = one_in(2) ? g : NULL,
                                   .stiff = one_in(2),
                                   .second = one_in(4),
                                   .event = one_in(4) ? f : NULL,
                                   .jump = one_in(4) ? g : NULL};
    const wg_ode_system *const system = one_in(60) ? NULL : &system_;
    wg_ode *made = NULL, **const out = one_in(60) ? NULL : &made;
    GIVES_STATUS(wg_ode_new(t, system, out));
    wg_ode_free(made);
}
ROW(wg_ode_compile) {
    DRIVER_TAPE(t);
    const wg_compile_options options = {"/no/such/compiler", NULL, "/nowhere/at/all"};
    wg_compiled room, *const compiled = one_in(4) ? NULL : &room;
    const wg_ode *const k = one_in(30) ? NULL : house;
    wg_ode *made = NULL, **const out = one_in(60) ? NULL : &made;
    GIVES_STATUS(wg_ode_compile(t, k, &options, out, compiled));
    wg_ode_free(made);
}
ROW(wg_ode_free) {
    say("", "wg_ode_free(NULL)");
    wg_ode_free(NULL);
}

ROW(wg_ode_solve) {
    static const double lengths[] = {0, 0.1, 0.3, -0.1, 1e-3, 1e-300, 2};
    TAPE(t);
    const size_t times = one_in(30) ? 0 : 1 + below(5);
    MAT(y0, 2, 1);
    MAT(p, 2, one_in(4) && times > 1 ? times - 1 : 1);
    double time_[5] = {number(), 0, 0, 0, 0};
    const double by = one_in(20) ? 0 : one_in(4) ? -0.25 : 0.5;
    for (size_t i = 1; i < 5; i++) time_[i] = time_[i - 1] + by;
    const double *const time = one_in(60) ? NULL : time_;
    wg_ode_options o_ = {.method = (wg_ode_method)below(6),
                         .step = lengths[below(7)],
                         .max_steps = 1 + below(60),
                         .stop_at_times = one_in(3),
                         .stored = below(4)};
    if (one_in(2)) o_.rtol = lengths[below(7)];
    if (one_in(3)) o_.atol = lengths[below(7)];
    if (one_in(10)) o_.min_step = lengths[below(7)];
    if (one_in(10)) o_.max_step = lengths[below(7)];
    const wg_ode_options *const o = one_in(10) ? NULL : &o_;
    const wg_ode *const k = one_in(60) ? NULL : one_in(3) ? house_of_events : house;
    wg_mat out[2] = {wg_mat_failed(1, 1), wg_mat_failed(1, 1)};
    wg_mat *const y = one_in(60) ? NULL : &out[0], *const r = one_in(60) ? NULL : &out[1];
    wg_ode_report room, *const report = one_in(2) ? NULL : &room;
    if (one_in(30)) o_.file = "/none/ode";
    named("times", "%zu", times);
    named("method", "%d", (int)o_.method);
    named("step", "%g", o_.step);
    named("rtol", "%g", o_.rtol);
    named("stored", "%zu", o_.stored);
    GIVES_STATUS(wg_ode_solve(t, k, o, times, time, y0, p, y, r, report));
    keep_mat(out[0]);
    keep_mat(out[1]);
}

/* A solution as a part of a function, which the other calls go on with. */
struct part {
    wg_ode *k;
    wg_ode_options o;
    size_t times;
};
static wg_status part_of_function(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    const struct part *const a = data;
    const double time[] = {0, 0.25, 0.75, 1};
    wg_mat all = wg_mat_failed(1, 1), r = wg_mat_failed(1, 1);
    (void)m;
    const wg_status s = wg_ode_solve(t, a->k, &a->o, a->times, time, wg_mat_gather(t, 2, 1, x),
                                     wg_mat_gather(t, 2, (n - 2) / 2, x + 2), &all, &r, NULL);
    const size_t last = a->times - 1;
    y[0] = wg_mat_at(all, 0, last), y[1] = wg_mat_at(all, 1, last);
    y[2] = wg_mat_at(r, 0, last);
    return s;
}
ROW(in_functions) {
    DRIVER_TAPE(t);
    const size_t times = 1 + below(4), columns = one_in(2) && times > 1 ? times - 1 : 1;
    const int tested = one_in(2);
    struct part a = {.k = one_in(4) ? house_of_events : house,
                     .o = {.method = tested && one_in(2) ? WG_DOPRI5
                                     : one_in(6)         ? (wg_ode_method)below(4)
                                                         : WG_RODAS4,
                           .rtol = tested ? 1e-4 : 0,
                           .step = tested && one_in(2) ? 0 : 0.1,
                           .max_steps = one_in(4) ? 1 + below(20) : 1000,
                           .stop_at_times = one_in(3),
                           .stored = below(4)},
                     .times = times};
    const wg_argument in[] = {{"x", 2, 1, (unsigned)below(4)},
                              {"p", 2, columns, (unsigned)below(4)}};
    const wg_argument y = {"y", 3, 1, one_in(4) ? WG_SUMMED : 0};
    DOUBLES(x, 2 + 2 * columns);
    named("method", "%d", (int)a.o.method);
    named("step", "%g", a.o.step);
    named("rtol", "%g", a.o.rtol);
    named("times", "%zu", times);
    GIVES_FUNCTION(out, wg_function_record(t, part_of_function, &a, 2, in, x, 1, &y, &out));
}

static const struct row list[] = {
    LISTED(wg_ode_new, 1),
    LISTED(wg_ode_compile, 0),
    LISTED(wg_ode_free, 1),
    LISTED(wg_ode_solve, 8),
    {"wg_ode_solve in functions", row_in_functions, 8},
};
const struct rows calls_ode = ROWS(list);

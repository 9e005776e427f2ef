/* SPDX-License-Identifier: MIT */
/* Events: where a function e(t, y, p) falls through 0 the states are set anew, y+ = j(t, y-,
 * p).
 *
 * An event is looked for on the interpolated states u(theta) of a step that was accepted, and
 * ends it: at t* = t + theta h the next step begins, which ends at a time of its own. So t*
 * varies with everything before it, and the ends of all steps stay. With E(theta) = e(t + theta
 * h, u(theta), p) = 0,
 *
 *     E' = e_t h + e_y u'(theta)
 *     theta_ = u' y-_ + h t*_;   mu = -theta_ / E';   u_ = y-_ + mu e_y;   p_ += mu e_p
 *
 * where y-_, and what it adds to t*_ and p_, come from y+_ through j.
 *
 * Source: Galan, Feehery and Barton 1999, Appl. Numer. Math. 31, for the jump conditions. */
#include "ode_event.h"

#include "tape/engine/tape.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- two functions of t, y, p ------------------------------------------------------------ */

void wgi_ode_event_cut(wgi_ode_event *e, const wgi_ode_run *r, wgi_pieces *p) {
    const wgi_ode_flow *const f = r->flow;
    wgi_ode_evaluation_cut(&e->level, f->event, p);
    wgi_ode_evaluation_cut(&e->jump, f->jump, p);
    wgi_ode_evaluation_cut(&e->slope, f->event_vjp, p);
}

void wgi_ode_event_open(wgi_ode_event *e) {
    wgi_ode_evaluation_open(&e->level);
    wgi_ode_evaluation_open(&e->jump);
    wgi_ode_evaluation_open(&e->slope);
}

static void set_inputs(const wgi_ode_run *r, wgi_ode_evaluation *e, const double *T,
                       const double *y, size_t column) {
    e->x[0] = (wg_points){T, 0, 1};
    e->x[1] = (wg_points){y, 0, 1};
    e->x[2] = (wg_points){r->param + column * r->flow->params, 0, 1};
}

static wg_status evaluate(const wgi_ode_run *r, wgi_ode_evaluation *e, const double *T,
                          const double *y, size_t column, double *to, const char *what) {
    set_inputs(r, e, T, y, column);
    e->y[0] = (wg_results){to, 0, 1};
    const wg_status s = wgi_fn_steady_run(e->open, 1, NULL);
    return s == WG_OK ? s : wgi_ode_failed(r, *T, s, what);
}

static wg_status level(wgi_ode_run *r, const double *T, const double *y, size_t column,
                       double *to) {
    const wg_status s = evaluate(r, &r->event.level, T, y, column, to,
                                 "a comparison in the event came out differently");
    if (s != WG_OK || *to - *to == 0) return s;
    return wgi_ode_failed(r, *T, WG_ENONFINITE, "the event is a NaN or an infinity");
}

/* ---- forward ----------------------------------------------------------------------------- */

void wgi_ode_interpolate(const wgi_ode_run *r, const wgi_ode_record *record, double theta,
                         const double *y, double *u) {
    double weight[WGI_ODE_STAGES];
    r->call->method->weights(theta, weight, NULL);
    memcpy(u, y, r->flow->states * sizeof *u);
    wgi_ode_combine(r, r->call->method->stages, weight, weight, record->G, u);
}

/* The event is at that part of the step: the states after it, in r->next, and e of these. */
static wg_status jump(wgi_ode_run *r, wgi_ode_record *record, double theta, double *e) {
    double sum = 0;
    record->theta = theta;
    record->until = theta < 1 ? record->t + theta * record->h : record->t1;
    wgi_ode_interpolate(r, record, theta, r->y, r->between);
    memcpy(r->next, r->between, r->flow->states * sizeof *r->next);
    const wg_status s = evaluate(r, &r->event.jump, &record->until, r->between, record->column,
                                 r->next, "a comparison in the jump came out differently");
    if (s != WG_OK) return s;
    for (size_t i = 0; i < r->flow->tested; i++) sum += r->next[i] - r->next[i];
    if (sum != 0)
        return wgi_ode_failed(r, record->until, WG_ENONFINITE,
                              "the jump gives a NaN or an infinity");
    return level(r, &record->until, r->next, record->column, e);
}

/* How e changes with time after the event: e_t + e_y f. */
static wg_status slope_after(wgi_ode_run *r, const wgi_ode_record *record, double *slope) {
    static const double one = 1;
    wgi_ode_evaluation *const g = &r->event.slope;
    const size_t n = r->flow->tested;
    double *const ey = r->between;
    wg_status s = wgi_ode_slope(r, &record->until, r->next, record->column, r->slope);
    if (s != WG_OK) return s;
    set_inputs(r, g, &record->until, r->next, record->column);
    g->x[g->f->inputs - 1] = (wg_points){&one, 0, 1};
    g->y[0] = (wg_results){slope, 0, 1};
    g->y[1] = (wg_results){ey, 0, 1};
    g->y[2] = (wg_results){NULL, 0, 1};
    s = wgi_fn_steady_run(g->open, 1, NULL);
    for (size_t i = 0; i < n && s == WG_OK; i++) *slope += wgi_product(ey[i], r->slope[i]);
    return s;
}

/* The event lies between two parts of the step, `low`, where e is positive, and `high`, where
 * it is not; they are next to each other. It is put to `high`, so that e which goes on falling
 * is no event again. Where e rises after the jump, as of a ball that bounces, it is to be
 * positive there, so that its next fall is found however soon that is: then it is put to
 * `low`. */
static wg_status settle(wgi_ode_run *r, wgi_ode_record *record, double low, double high) {
    double e, slope;
    wg_status s = jump(r, record, high, &e);
    if (s != WG_OK || e > 0) return s;
    s = slope_after(r, record, &slope);
    if (s != WG_OK || !(slope > 0)) return s;
    s = jump(r, record, low, &e);
    return s != WG_OK || e > 0 ? s : jump(r, record, high, &e);
}

/* By bisection: to the last digit, and the same whatever came before. */
static wg_status locate(wgi_ode_run *r, wgi_ode_record *record) {
    double low = 0, high = 1;
    for (int i = 0; i < 1100; i++) { /* so many halves of 1 there are */
        const double theta = low + (high - low) / 2, T = record->t + theta * record->h;
        double e;
        if (theta == low || theta == high || T == record->t) break;
        wgi_ode_interpolate(r, record, theta, r->y, r->between);
        const wg_status s = level(r, &T, r->between, record->column, &e);
        if (s != WG_OK) return s;
        if (e > 0) low = theta;
        else high = theta;
    }
    record->event = 1;
    return settle(r, record, low, high);
}

wg_status wgi_ode_event_find(wgi_ode_run *r, wgi_ode_record *record) {
    double after;
    wg_status s = WG_OK;
    if (!r->event.has_before) s = level(r, &record->t, r->y, record->column, &r->event.before);
    if (s == WG_OK) s = level(r, &record->t1, r->next, record->column, &after);
    if (s != WG_OK) return s;
    r->event.has_before = 1;
    if (!(r->event.before > 0 && after <= 0)) {
        r->event.before = after;
        return WG_OK;
    }
    r->event.has_before = 0;
    s = locate(r, record);
    /* as short as no step may be; but what does not begin at an event may have one at once */
    const double shortest = 16 * DBL_EPSILON * fabs(record->t);
    if (s == WG_OK && record->varies && fabs(record->until - record->t) <= shortest)
        s = wgi_ode_failed(r, record->t, WG_ECONVERGE,
                           "events follow each other without time between");
    return s;
}

/* ---- backward ---------------------------------------------------------------------------- */

void wgi_ode_event_adjoint_cut(wgi_ode_event_adjoint *e, const wgi_ode_run *r, wgi_pieces *p) {
    const wgi_ode_flow *const f = r->flow;
    wgi_ode_evaluation_cut(&e->level, f->event_vjp, p);
    wgi_ode_evaluation_cut(&e->jump, f->jump_vjp, p);
    e->ubar = wgi_pieces_doubles(p, f->states);
    e->rate = wgi_pieces_doubles(p, f->states);
}

void wgi_ode_event_adjoint_open(wgi_ode_event_adjoint *e) {
    wgi_ode_evaluation_open(&e->level);
    wgi_ode_evaluation_open(&e->jump);
}

/* Adjoints of t, y, p, to a->tbar, a->ybar, a->pbar, for a weight of the results. */
static wg_status back(wgi_ode_adjoint *a, wgi_ode_evaluation *e, const wgi_ode_record *record,
                      const double *weight) {
    const wgi_ode_run *const r = a->r;
    set_inputs(r, e, &record->until, r->between, record->column);
    e->x[e->f->inputs - 1] = (wg_points){weight, 0, 1};
    e->y[0] = (wg_results){a->tbar, 0, 1};
    e->y[1] = (wg_results){a->ybar, 0, 1};
    e->y[2] = (wg_results){a->pbar, 0, 1};
    return wgi_fn_steady_run(e->open, 1, NULL);
}

static double dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += wgi_product(x[i], y[i]);
    return sum;
}

static void add(size_t n, double c, const double *x, double *to) {
    for (size_t i = 0; i < n; i++) to[i] += wgi_product(c, x[i]);
}

double wgi_ode_rate(const wgi_ode_run *r, const wgi_ode_record *record, double theta,
                    const double *bar, double *rate) {
    const size_t n = r->flow->states;
    double weight[WGI_ODE_STAGES], slope[WGI_ODE_STAGES];
    r->call->method->weights(theta, weight, slope);
    memset(rate, 0, n * sizeof *rate);
    wgi_ode_combine(r, r->call->method->stages, slope, slope, record->G, rate);
    return dot(n, rate, bar);
}

wg_status wgi_ode_event_adjoint_of(wgi_ode_adjoint *a, const wgi_ode_record *record) {
    static const double one = 1;
    const wgi_ode_run *const r = a->r;
    const wgi_ode_flow *const f = r->flow;
    wgi_ode_event_adjoint *const e = &a->event;
    double *const params = a->params + record->column * f->params;
    wgi_ode_interpolate(r, record, record->theta, record->Y, r->between);
    wg_status s = back(a, &e->jump, record, a->bar);
    if (s != WG_OK) return s;
    double tbar = a->start + *a->tbar;
    memcpy(e->ubar, a->bar, f->states * sizeof *e->ubar);
    memcpy(e->ubar, a->ybar, f->tested * sizeof *e->ubar);
    add(f->params, 1, a->pbar, params);
    const double by_theta =
        wgi_ode_rate(r, record, record->theta, e->ubar, e->rate) + record->h * tbar;
    s = back(a, &e->level, record, &one);
    if (s != WG_OK) return s;
    const double slope = *a->tbar * record->h + dot(f->tested, a->ybar, e->rate);
    if (slope == 0 || slope - slope != 0)
        return wgi_ode_failed(r, record->until, WG_EDEGENERATE,
                              "the event does not cross 0 with a slope");
    const double mu = -by_theta / slope;
    add(f->tested, mu, a->ybar, e->ubar);
    add(f->params, mu, a->pbar, params);
    tbar += wgi_product(mu, *a->tbar);
    memcpy(a->bar, e->ubar, f->states * sizeof *a->bar);
    a->begin += (1 - record->theta) * tbar;
    return WG_OK;
}

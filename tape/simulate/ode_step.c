/* SPDX-License-Identifier: MIT */
/* A solution, step by step: stages, the size of steps, interpolation.
 *
 * From a position and its states everything that follows is the same to the last bit, whether
 * they were just reached or come from a checkpoint.
 *
 * Source: Hairer, Norsett and Wanner 1993, II.4: starting step (4.14), error, PI controller
 * (IV.2 of the second volume, with the constants of DOPRI5). */
#include "ode_event.h"
#include "ode_rosenbrock.h"

#include "ops/scalar/elementwise.h"
#include "tape/function/loops/callable.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the right-hand side ----------------------------------------------------------------- */

void wgi_ode_evaluation_cut(wgi_ode_evaluation *e, const wg_function *f, wgi_pieces *p) {
    e->f = f;
    e->work = wgi_pieces_take(p, wgi_fn_steady_work(f, WGI_FN_MOST_LANES));
}

void wgi_ode_evaluation_open(wgi_ode_evaluation *e) {
    e->open = wgi_fn_steady_open(e->f, WGI_FN_MOST_LANES, e->x, e->y, e->work, NULL);
}

wg_status wgi_ode_failed(const wgi_ode_run *r, double t, wg_status s, const char *why) {
    if (r->report != NULL) r->report->reached = t;
    wgi_why(r->b, r->why, "at time %.17g: %s", t, why != NULL ? why : wg_status_text(s));
    return s;
}

wg_status wgi_ode_slope(wgi_ode_run *r, const double *T, const double *Y, size_t column,
                        double *k) {
    const wgi_ode_flow *const f = r->flow;
    const double *const p = r->param + column * f->params;
    wg_function_guard guard;
    for (size_t i = 0; i < f->inputs; i++) {
        const wgi_ode_part *const a = &f->in[i];
        r->f.x[i] = (wg_points){a->role == WGI_ODE_TIME    ? T
                                : a->role == WGI_ODE_STATE ? Y + a->at
                                                           : p + a->at,
                                0, 1};
    }
    for (size_t i = 0; i < f->outputs; i++) r->f.y[i] = (wg_results){k + f->out[i].at, 0, 1};
    if (r->report != NULL) r->report->evaluations++;
    const wg_status s = wgi_fn_steady_run(r->f.open, 1, &guard);
    if (s != WG_EGUARD) return s;
    if (r->report != NULL) r->report->reached = *T;
    wgi_why(r->b, r->why, "guard %zu of the right-hand side came out differently at time %.17g",
            guard.guard, *T);
    return s;
}

wg_status wgi_ode_jacobians(const wgi_ode_run *r, wgi_ode_evaluation *e, size_t points,
                            const double *T, const double *Y, const double *p, double *to) {
    const wgi_ode_flow *const f = r->flow;
    const ptrdiff_t n = (ptrdiff_t)f->states, each = (ptrdiff_t)(f->states * f->gradient);
    for (size_t i = 0; i < f->inputs; i++) {
        const wgi_ode_part *const in = &f->in[i];
        e->x[i] = in->role == WGI_ODE_TIME    ? (wg_points){T, 1, 1}
                  : in->role == WGI_ODE_STATE ? (wg_points){Y + in->at, n, 1}
                                              : (wg_points){p + in->at, 0, 1};
    }
    wg_results *y = e->y;
    for (size_t o = 0; o < f->outputs; o++)
        for (size_t i = 0; i < f->inputs; i++) {
            *y++ = (wg_results){to, each, 1};
            to += f->out[o].size * f->in[i].size;
        }
    return wgi_fn_steady_run(e->open, points, NULL);
}

/* ---- workspace --------------------------------------------------------------------------- */

void wgi_ode_run_cut(wgi_ode_run *r, wgi_pieces *p) {
    const size_t n = r->flow->states;
    wgi_ode_evaluation_cut(&r->f, r->flow->f, p);
    r->why = wgi_pieces_take(p, WGI_WHY);
    r->param = wgi_pieces_doubles(p, r->call->columns * r->flow->params);
    r->y = wgi_pieces_doubles(p, n);
    r->next = wgi_pieces_doubles(p, n);
    r->first = wgi_pieces_doubles(p, n);
    r->slope = wgi_pieces_doubles(p, n);
    r->between = wgi_pieces_doubles(p, n);
    if (r->call->method->gamma != 0) wgi_ode_matrix_cut(&r->matrix, r->flow, p);
    if (r->flow->event != NULL) wgi_ode_event_cut(&r->event, r, p);
}

/* ---- increments -------------------------------------------------------------------------- */

static void add(size_t n, double c, const double *x, double *to) {
    for (size_t i = 0; i < n; i++) to[i] += c * x[i];
}

void wgi_ode_combine(const wgi_ode_run *r, size_t count, const double *c, const double *d,
                     const double *x, double *to) {
    const size_t n = r->flow->states, stretch = wgi_ode_stretch(r);
    for (size_t j = 0; j < count; j++, x += n)
        for (size_t at = 0, second = 0; at < n; at += stretch, second ^= 1) {
            const double with = second ? d[j] : c[j];
            if (with != 0) add(stretch, with, x + at, to + at);
        }
}

void wgi_ode_spread(const wgi_ode_run *r, size_t count, const double *c, const double *d,
                    const double *x, double *to) {
    const size_t n = r->flow->states, stretch = wgi_ode_stretch(r);
    for (size_t j = 0; j < count; j++, to += n)
        for (size_t at = 0, second = 0; at < n; at += stretch, second ^= 1) {
            const double with = second ? d[j] : c[j];
            if (with != 0) add(stretch, with, x + at, to + at);
        }
}

static void swap(double **a, double **b) {
    double *const c = *a;
    *a = *b;
    *b = c;
}

/* The matrix of a step from r->y of size h. */
static wg_status prepare(wgi_ode_run *r, double t, double h, const wgi_ode_record *record) {
    wgi_ode_matrix *const m = &r->matrix;
    if (!m->ready) {
        const wg_status s =
            wgi_ode_jacobians(r, &m->evaluation, 1, &t, r->y,
                              r->param + record->column * r->flow->params, m->jacobian);
        if (s != WG_OK) return s;
        m->ready = 1;
    }
    return wgi_ode_matrix_factor(m, r, h);
}

/* The stages of a step from r->y and t to t1 = t + h: increments, and the states at its end.
 * WG_ESINGULAR: the matrix of a Rosenbrock method is. */
static wg_status stages(wgi_ode_run *r, double t, double h, double t1, wgi_ode_record *record) {
    const wgi_ode_method *const m = r->call->method;
    const size_t n = r->flow->states;
    double *const g = record->G;
    record->t = t, record->h = h, record->t1 = t1;
    if (m->gamma != 0) {
        const wg_status s = prepare(r, t, h, record);
        if (s != WG_OK) return s;
    }
    for (size_t i = 0; i < m->stages; i++) {
        double *const T = &record->T[i], *const Y = record->Y + i * n;
        *T = m->c[i] == 0 ? t : m->c[i] == 1 ? t1 : t + m->c[i] * h;
        memcpy(Y, r->y, n * sizeof *Y);
        wgi_ode_combine(r, i, m->a[i], m->a2[i], g, Y);
        if (i != 0 || !r->has_first) {
            double *const k = i == 0 ? r->first : r->slope;
            const wg_status s = wgi_ode_slope(r, T, Y, record->column, k);
            if (s != WG_OK) return s;
        }
        const double *const k = i == 0 ? r->first : r->slope;
        r->has_first = 1;
        if (m->gamma != 0) wgi_ode_rosenbrock_stage(r, i, h, k, g);
        else
            for (size_t l = 0; l < n; l++) g[i * n + l] = h * k[l];
    }
    memcpy(r->next, r->y, n * sizeof *r->next);
    wgi_ode_combine(r, m->stages, m->b, m->b2, g, r->next);
    return WG_OK;
}

/* ---- the end of a step ------------------------------------------------------------------- */

/* The time number k lies in the step. */
static wg_status between(wgi_ode_run *r, const wgi_ode_record *record, size_t k) {
    const double time = r->call->time[k];
    if (r->reached == NULL) return WG_OK;
    if (time == record->t1 && !record->event) return r->reached(r, k, r->next);
    wgi_ode_interpolate(r, record, (time - record->t) / record->h, r->y, r->between);
    return r->reached(r, k, r->between);
}

/* Goes on to the end of a step that is good enough, or to an event in it. */
static wg_status accept(wgi_ode_run *r, wgi_ode_position *at, wgi_ode_record *record) {
    const wgi_ode_call *const call = r->call;
    const double ahead = record->h > 0 ? 1 : -1;
    record->until = record->t1, record->theta = 1;
    record->event = 0, record->varies = at->after_event;
    wg_status s = r->flow->event != NULL ? wgi_ode_event_find(r, record) : WG_OK;
    record->first = at->next;
    for (; s == WG_OK && at->next < call->times &&
           (call->time[at->next] - record->until) * ahead <= 0;
         at->next++)
        s = between(r, record, at->next);
    record->count = at->next - record->first;
    at->t = record->until;
    at->steps++;
    at->after_event = record->event;
    at->part++;
    if (record->count != 0 || record->event) at->part = 0, at->from = at->t;
    swap(&r->y, &r->next);
    r->matrix.ready = 0;
    r->has_first =
        call->method->same_last && !(call->stops && record->count != 0) && !record->event;
    if (r->has_first) swap(&r->first, &r->slope);
    /* with the next parameters the event is another function */
    if (call->columns > 1 && record->count != 0) r->event.has_before = 0;
    if (r->report != NULL) {
        r->report->steps = at->steps;
        r->report->reached = at->t;
    }
    return s;
}

/* ---- steps of fixed size ----------------------------------------------------------------- */

/* What rounding has added to a whole number is no step more. */
double wgi_ode_steps_between(const wgi_ode_call *call, double from, double to) {
    const double count = ceil(fabs(to - from) / call->o.step * (1 - 0x1p-40));
    return count > 1 ? count : 1;
}

static wg_status fixed_step(wgi_ode_run *r, wgi_ode_position *at, wgi_ode_record *record) {
    const wgi_ode_call *const call = r->call;
    const double from = at->from, to = call->time[at->next];
    const double count = wgi_ode_steps_between(call, from, to), done = (double)(at->part + 1);
    const double t1 = done >= count ? to : from + (to - from) * (done / count);
    const wg_status s = stages(r, at->t, (to - from) / count, t1, record);
    if (s == WG_ESINGULAR)
        return wgi_ode_failed(r, at->t, s, "the matrix of the next step is singular");
    if (s != WG_OK) return s;
    if (!wgi_all_finite(r->flow->states, r->next))
        return wgi_ode_failed(r, at->t, WG_ENONFINITE, "a NaN or an infinity in the next step");
    return accept(r, at, record);
}

/* ---- steps by their error ---------------------------------------------------------------- */

/* The root of the mean square of x / (atol + rtol max(|y|, |z|)); NaN if one of them is
 * none. */
static double norm(const wgi_ode_run *r, const double *x, const double *y, const double *z) {
    const wgi_ode_call *const call = r->call;
    const size_t n = r->flow->tested;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double most = fabs(y[i]) > fabs(z[i]) ? fabs(y[i]) : fabs(z[i]);
        const double scale =
            (call->atols != NULL ? call->atols[i] : call->o.atol) + call->o.rtol * most;
        const double part = x[i] == 0 ? 0 : x[i] / scale;
        sum += part * part;
    }
    return n != 0 ? sqrt(sum / (double)n) : 0;
}

static double estimate(wgi_ode_run *r, const wgi_ode_record *record) {
    double *const error = r->between;
    const size_t n = r->flow->states;
    if (!wgi_all_finite(n, r->next)) return NAN;
    memset(error, 0, n * sizeof *error);
    wgi_ode_combine(r, r->call->method->stages, r->call->method->e, r->call->method->e,
                    record->G, error);
    return norm(r, error, r->y, r->next);
}

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* The size of the step to be tried, and where it ends. Whether it was cut short. */
static int length(const wgi_ode_run *r, const wgi_ode_position *at, double *h, double *t1) {
    const wgi_ode_call *const call = r->call;
    const double end = call->time[call->stops ? at->next : call->times - 1], left = end - at->t;
    if (fabs(at->h) * 1.01 >= fabs(left)) {
        *h = left;
        *t1 = end;
        return 1;
    }
    *h = at->h;
    *t1 = at->t + at->h;
    return 0;
}

/* The size of the next step, after one of size h with such an error, which was accepted or
 * not. */
static double next_size(const wgi_ode_run *r, const wgi_ode_position *at, double h,
                        double error, int accepted) {
    const double order = r->call->method->order, beta = 0.2 / order;
    const double now = pow(error, 1 / order - 0.75 * beta) / 0.9;
    if (!accepted) return h / least(5, now);
    const double by = most(0.1, least(5, now / pow(at->error, beta)));
    double size = fabs(h) / by;
    if (at->rejected && size > fabs(h)) size = fabs(h);
    if (r->call->o.max_step > 0) size = least(size, r->call->o.max_step);
    return copysign(size, h);
}

static wg_status too_small(const wgi_ode_run *r, double t, int nonfinite) {
    return nonfinite ? wgi_ode_failed(r, t, WG_ENONFINITE,
                                      "a NaN or an infinity, however small the step")
                     : wgi_ode_failed(r, t, WG_ECONVERGE, "the step would be too small");
}

static wg_status tested_step(wgi_ode_run *r, wgi_ode_position *at, wgi_ode_record *record) {
    const double smallest = most(r->call->o.min_step, 16 * DBL_EPSILON * fabs(at->t));
    for (int nonfinite = 0;;) {
        double h, t1;
        const int cut = length(r, at, &h, &t1);
        if (t1 == at->t || (fabs(h) < smallest && (!cut || at->rejected)))
            return too_small(r, at->t, nonfinite);
        const wg_status s = stages(r, at->t, h, t1, record);
        if (s != WG_OK && s != WG_ESINGULAR) return s;
        const double error = s == WG_OK ? estimate(r, record) : NAN;
        if (error <= 1) {
            const double size = next_size(r, at, h, error, 1);
            /* what a time has cut short says nothing against a longer one */
            at->h = cut && !at->rejected && fabs(size) < fabs(at->h) ? at->h : size;
            at->error = most(error, 1e-4);
            at->rejected = 0;
            return accept(r, at, record);
        }
        nonfinite = !(error > 1);
        at->h = nonfinite || error == INFINITY ? h / 4 : next_size(r, at, h, error, 0);
        at->rejected = 1;
        if (r->report != NULL) r->report->rejected++;
    }
}

/* The longest first step. */
static double longest(const wgi_ode_call *call, double span) {
    return call->o.max_step > 0 ? least(fabs(span), call->o.max_step) : fabs(span);
}

/* The first step: h^order times the larger of f and its slope, measured as errors are, is to
 * be 0.01. */
static wg_status first_size(wgi_ode_run *r, wgi_ode_position *at, double span) {
    const wgi_ode_call *const call = r->call;
    const size_t n = r->flow->states;
    double *const y = r->y, *const f0 = r->first, *const f1 = r->slope;
    const double most_size = longest(call, span);
    wg_status s = wgi_ode_slope(r, &at->t, y, 0, f0);
    if (s != WG_OK) return s;
    r->has_first = 1;
    const double size = norm(r, y, y, y), slope = norm(r, f0, y, y);
    double h = size < 1e-5 || slope < 1e-5 ? 1e-6 : 0.01 * (size / slope);
    h = least(h, most_size);
    const double t = at->t + copysign(h, span);
    for (size_t i = 0; i < n; i++) r->next[i] = y[i] + copysign(h, span) * f0[i];
    s = wgi_ode_slope(r, &t, r->next, 0, f1);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < n; i++) r->between[i] = f1[i] - f0[i];
    const double curve = norm(r, r->between, y, y) / h, steepest = most(slope, curve);
    const double next = steepest <= 1e-15
                            ? most(1e-6, h * 1e-3)
                            : pow(0.01 / steepest, 1.0 / (double)call->method->order);
    h = least(least(100 * h, next), most_size);
    at->h = copysign(h > 0 ? h : 1e-6, span); /* also where there are NaN */
    return WG_OK;
}

/* ---- both -------------------------------------------------------------------------------- */

void wgi_ode_resume(wgi_ode_run *r, const double *state) {
    if (state != r->y) memcpy(r->y, state, r->flow->states * sizeof *r->y);
    r->has_first = r->matrix.ready = r->event.has_before = 0;
}

wg_status wgi_ode_begin(wgi_ode_run *r, wgi_ode_position *at) {
    const wgi_ode_call *const call = r->call;
    memset(at, 0, sizeof *at);
    at->t = at->from = call->time[0];
    at->next = 1;
    at->error = 1e-4;
    r->has_first = r->matrix.ready = r->event.has_before = 0;
    if (r->report != NULL) *r->report = (wg_ode_report){.reached = at->t};
    const wg_status s = r->reached != NULL ? r->reached(r, 0, r->y) : WG_OK;
    if (s != WG_OK || call->fixed || call->times == 1) return s;
    const double span = call->time[call->times - 1] - at->t;
    if (call->o.step == 0) return first_size(r, at, span);
    at->h = copysign(least(call->o.step, longest(call, span)), span);
    return WG_OK;
}

wg_status wgi_ode_step(wgi_ode_run *r, wgi_ode_position *at, wgi_ode_record *record) {
    const wgi_ode_call *const call = r->call;
    record->column = call->columns > 1 ? at->next - 1 : 0;
    if (call->o.max_steps != 0 && at->steps == call->o.max_steps)
        return wgi_ode_failed(r, at->t, WG_ECONVERGE, "too many steps");
    const wg_status s = call->fixed ? fixed_step(r, at, record) : tested_step(r, at, record);
    if (s != WG_OK) return s;
    const double from = call->time[0], span = call->time[call->times - 1] - from;
    return wgi_progress_stops(call->progress, r->report != NULL ? (at->t - from) / span : 0)
               ? WG_ESTOPPED
               : WG_OK;
}

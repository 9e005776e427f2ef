/* SPDX-License-Identifier: MIT */
/* The adjoint of a solution: of its steps, the last one first.
 *
 *     increments   g_i_ = b_i y_ + sum w_i(theta) out_      before that y_ += out_ at the end of the step
 *     stages       v = J_i' (h g_i_);  y_ += v;  p_ += its part of p;  g_j_ += a_ij v for j < i
 *
 * Where the Jacobian is small it is evaluated at all stages of a block of steps at once, in
 * SIMD lanes: what is left for each step is products with it. Otherwise each stage takes a vjp.
 *
 * Source: Hager 2000, Numer. Math. 87; Sanz-Serna 2016, SIAM Review 58(1). */
#include "ode_event.h"
#include "ode_file.h"
#include "ode_rosenbrock.h"

#include "tape/engine/numbers.h"
#include "tape/engine/tape.h"

#include <string.h>

/* Numbers that are kept of a block of steps, together: they are to stay in the cache. */
enum { KEPT = 8192, MOST_STEPS = 256 };

/* Those of explicit steps are needed where their beginning varies. */
static int keeps_increments(const wgi_ode_flow *f, const wgi_ode_method *m) {
    return m->gamma != 0 || f->event != NULL;
}

size_t wgi_ode_block(const wgi_ode_flow *f, const wgi_ode_method *m) {
    const size_t stage = 1 + f->states * (keeps_increments(f, m) ? 2 : 1) +
                         (f->by_jacobian ? f->states * f->gradient : 0);
    const size_t steps = KEPT / (m->stages * stage);
    return steps < 1 ? 1 : steps > MOST_STEPS ? MOST_STEPS : steps;
}

void wgi_ode_adjoint_cut(wgi_ode_adjoint *a, wgi_pieces *p) {
    wgi_ode_run *const r = a->r;
    const wgi_ode_flow *const f = r->flow;
    const size_t n = f->states, stages = r->call->method->stages;
    const int stiff = r->call->method->gamma != 0, keeps = keeps_increments(f, r->call->method);
    a->block = wgi_ode_block(f, r->call->method);
    wgi_ode_run_cut(r, p);
    wgi_ode_evaluation_cut(&a->back, f->by_jacobian ? f->jacobian : f->vjp, p);
    if (stiff) wgi_ode_second_cut(&a->second, r, p);
    if (f->event != NULL) wgi_ode_event_adjoint_cut(&a->event, r, p);
    a->record = wgi_pieces_take(p, a->block * sizeof *a->record);
    double *const T = wgi_pieces_doubles(p, a->block * stages);
    double *const Y = wgi_pieces_doubles(p, a->block * stages * n);
    double *const G = wgi_pieces_doubles(p, (keeps ? a->block : 1) * stages * n);
    a->jacobian =
        wgi_pieces_doubles(p, f->by_jacobian ? a->block * stages * n * f->gradient : 0);
    a->bar = wgi_pieces_doubles(p, n);
    a->gbar = wgi_pieces_doubles(p, stages * n);
    a->kbar = wgi_pieces_doubles(p, n);
    a->ybar = wgi_pieces_doubles(p, n);
    a->tbar = wgi_pieces_doubles(p, 1);
    a->pbar = wgi_pieces_doubles(p, f->params);
    a->state = wgi_pieces_doubles(p, n);
    a->params = wgi_pieces_doubles(p, r->call->columns * f->params);
    for (size_t k = 0; a->record != NULL && k < a->block; k++) {
        a->record[k].T = T + k * stages;
        a->record[k].Y = Y + k * stages * n;
        a->record[k].G = keeps ? G + k * stages * n : G;
    }
}

/* ---- Jacobians of many stages ------------------------------------------------------------ */

/* At the stages of steps [from, to), which have the same parameters. */
static wg_status jacobians(wgi_ode_adjoint *a, size_t from, size_t to) {
    const wgi_ode_run *const r = a->r;
    const wgi_ode_flow *const f = r->flow;
    const size_t stages = r->call->method->stages;
    const wgi_ode_record *const first = &a->record[from];
    return wgi_ode_jacobians(r, &a->back, (to - from) * stages, first->T, first->Y,
                             r->param + first->column * f->params,
                             a->jacobian + from * stages * f->states * f->gradient);
}

static wg_status all_jacobians(wgi_ode_adjoint *a) {
    for (size_t from = 0, to; from < a->recorded; from = to) {
        for (to = from + 1; to < a->recorded && a->record[to].column == a->record[from].column;)
            to++;
        const wg_status s = jacobians(a, from, to);
        if (s != WG_OK) return s;
    }
    return WG_OK;
}

/* to = sum of w_j (row j), without those of adjoints that are 0. */
static void add_rows(size_t rows, size_t n, const double *w, const double *row, double *to) {
    for (size_t j = 0; j < rows; j++, row += n)
        if (w[j] != 0)
            for (size_t i = 0; i < n; i++) to[i] += wgi_product(w[j], row[i]);
}

static double *adjoint_of(const wgi_ode_adjoint *a, const wgi_ode_part *in) {
    return in->role == WGI_ODE_TIME    ? a->tbar
           : in->role == WGI_ODE_STATE ? a->ybar + in->at
                                       : a->pbar + in->at;
}

static void by_jacobian(const wgi_ode_adjoint *a, const wgi_ode_record *record,
                        const double *jacobian) {
    const wgi_ode_flow *const f = a->r->flow;
    for (size_t o = 0; o < f->outputs; o++)
        for (size_t i = 0; i < f->inputs; i++) {
            if (f->in[i].role != WGI_ODE_TIME || record->varies)
                add_rows(f->out[o].size, f->in[i].size, a->kbar + f->out[o].at, jacobian,
                         adjoint_of(a, &f->in[i]));
            jacobian += f->out[o].size * f->in[i].size;
        }
}

/* ---- stages ------------------------------------------------------------------------------ */

static wg_status by_vjp(wgi_ode_adjoint *a, const wgi_ode_record *record, size_t stage) {
    const wgi_ode_run *const r = a->r;
    const wgi_ode_flow *const f = r->flow;
    const double *const p = r->param + record->column * f->params;
    for (size_t i = 0; i < f->inputs; i++) {
        const wgi_ode_part *const in = &f->in[i];
        a->back.x[i] =
            (wg_points){in->role == WGI_ODE_TIME    ? &record->T[stage]
                        : in->role == WGI_ODE_STATE ? record->Y + stage * f->states + in->at
                                                    : p + in->at,
                        0, 1};
        a->back.y[i] = (wg_results){adjoint_of(a, in), 0, 1};
    }
    for (size_t o = 0; o < f->outputs; o++)
        a->back.x[f->inputs + o] = (wg_points){a->kbar + f->out[o].at, 0, 1};
    return wgi_fn_steady_run(a->back.open, 1, NULL);
}

static void add(size_t n, const double *x, double *to) {
    for (size_t i = 0; i < n; i++) to[i] += x[i];
}

static double dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += wgi_product(x[i], y[i]);
    return sum;
}

static wg_status stage(wgi_ode_adjoint *a, size_t number, size_t i) {
    const wgi_ode_run *const r = a->r;
    const wgi_ode_flow *const f = r->flow;
    const wgi_ode_method *const m = r->call->method;
    const wgi_ode_record *const record = &a->record[number];
    const size_t n = f->states;
    const double *const gbar = a->gbar + i * n;
    if (m->gamma != 0) {
        wgi_ode_rosenbrock_adjoint_stage(a, record, i);
    } else {
        for (size_t l = 0; l < n; l++) a->kbar[l] = record->h * gbar[l];
        if (record->varies) a->begin -= dot(n, gbar, record->G + i * n) / record->h;
    }
    if (wgi_all_zero(a->kbar, n)) return WG_OK;
    wgi_clear(a->ybar, n);
    wgi_clear(a->pbar, f->params);
    *a->tbar = 0;
    wg_status s = WG_OK;
    if (f->by_jacobian)
        by_jacobian(a, record, a->jacobian + (number * m->stages + i) * n * f->gradient);
    else s = by_vjp(a, record, i);
    if (s != WG_OK) return s;
    add(n, a->ybar, a->bar);
    add(f->params, a->pbar, a->params + record->column * f->params);
    a->begin += (1 - m->c[i]) * *a->tbar;
    wgi_ode_spread(r, i, m->a[i], m->a2[i], a->ybar, a->gbar);
    return WG_OK;
}

/* ---- steps ------------------------------------------------------------------------------- */

/* The adjoint of states at a part of the step. */
static void within(wgi_ode_adjoint *a, double theta, const double *bar) {
    const wgi_ode_run *const r = a->r;
    double weight[WGI_ODE_STAGES];
    r->call->method->weights(theta, weight, NULL);
    wgi_ode_spread(r, r->call->method->stages, weight, weight, bar, a->gbar);
    add(r->flow->states, bar, a->ybar);
}

/* The same at one of the times, which is another part of the step where its beginning
 * varies. */
static void interpolated(wgi_ode_adjoint *a, const wgi_ode_record *record, size_t k) {
    const wgi_ode_run *const r = a->r;
    const double theta = (r->call->time[k] - record->t) / record->h;
    double *const bar = a->kbar;
    wgi_clear(bar, r->flow->states);
    a->seed(a, k, bar);
    within(a, theta, bar);
    if (record->varies)
        a->begin -=
            (1 - theta) / record->h * wgi_ode_rate(r, record, theta, bar, a->event.rate);
}

/* The factors of a step that is done once more. */
static wg_status matrix(wgi_ode_adjoint *a, size_t number) {
    wgi_ode_run *const r = a->r;
    const wgi_ode_flow *const f = r->flow;
    const wgi_ode_record *const record = &a->record[number];
    const size_t each = f->states * f->gradient;
    wg_status s = WG_OK;
    if (f->by_jacobian)
        memcpy(r->matrix.jacobian, a->jacobian + number * r->call->method->stages * each,
               each * sizeof *a->jacobian);
    else
        s = wgi_ode_jacobians(r, &r->matrix.evaluation, 1, &record->t, record->Y,
                              r->param + record->column * f->params, r->matrix.jacobian);
    return s == WG_OK ? wgi_ode_matrix_factor(&r->matrix, r, record->h) : s;
}

/* The adjoint of where the step ends becomes that of its increments, and, in a->bar, that of
 * the states before it. */
static wg_status end(wgi_ode_adjoint *a, const wgi_ode_record *record) {
    const wgi_ode_run *const r = a->r;
    const wgi_ode_method *const m = r->call->method;
    const size_t n = r->flow->states, last = record->first + record->count;
    wg_status s = WG_OK;
    wgi_clear(a->gbar, m->stages * n);
    for (size_t k = record->first; k < last && !record->event; k++)
        if (r->call->time[k] == record->t1) a->seed(a, k, a->bar);
    if (record->event) s = wgi_ode_event_adjoint_of(a, record);
    wgi_clear(a->ybar, n);
    if (record->event) {
        within(a, record->theta, a->bar);
    } else {
        wgi_ode_spread(r, m->stages, m->b, m->b2, a->bar, a->gbar);
        add(n, a->bar, a->ybar);
    }
    for (size_t k = record->first; k < last && s == WG_OK; k++)
        if (record->event || r->call->time[k] != record->t1) interpolated(a, record, k);
    memcpy(a->bar, a->ybar, n * sizeof *a->bar);
    return s;
}

static wg_status step(wgi_ode_adjoint *a, size_t number) {
    const wgi_ode_method *const m = a->r->call->method;
    const wgi_ode_record *const record = &a->record[number];
    a->begin = 0;
    wg_status s = end(a, record);
    if (s == WG_OK && m->gamma != 0) s = matrix(a, number);
    for (size_t i = m->stages; i-- > 0 && s == WG_OK;) s = stage(a, number, i);
    if (s == WG_OK && m->gamma != 0) s = wgi_ode_rosenbrock_adjoint_end(a, record);
    a->start = record->varies ? a->begin : 0;
    return s;
}

/* ---- all steps --------------------------------------------------------------------------- */

static wg_status advance(void *context, wgi_ode_position *at, double *state, size_t steps,
                         int keep) {
    wgi_ode_adjoint *const a = context;
    wgi_ode_run *const r = a->r;
    wgi_ode_resume(r, state);
    for (size_t k = 0; k < steps; k++) {
        const wg_status s = wgi_ode_step(r, at, &a->record[keep ? k : 0]);
        if (s != WG_OK) return s;
    }
    memcpy(state, r->y, r->flow->states * sizeof *state);
    a->recorded = keep ? steps : 0;
    return keep && r->flow->by_jacobian ? all_jacobians(a) : WG_OK;
}

static wg_status adjoint(void *context, size_t steps) {
    wgi_ode_adjoint *const a = context;
    for (size_t k = steps; k-- > 0;) {
        const wg_status s = step(a, k);
        if (s != WG_OK) return s;
    }
    return WG_OK;
}

static wg_status passed(void *context, size_t left, size_t top) {
    wgi_ode_adjoint *const a = context;
    const wgi_ode_call *const call = a->r->call;
    if (!wgi_ode_file_due(a->file)) return WG_OK;
    const wgi_ode_position end = {.t = call->time[call->times - 1], .next = call->times};
    return wgi_ode_file_write(a->file, &end, &(wgi_ode_back_at){left, top, a});
}

wg_status wgi_ode_adjoint_sweep(wgi_ode_adjoint *a, wgi_ode_checkpoints *c) {
    const wgi_ode_run *const r = a->r;
    const wgi_ode_back back = {a, advance, adjoint, a->file != NULL ? passed : NULL, a->state};
    wgi_ode_back_at from = {0, 0, a};
    if (a->file != NULL && a->file->stage == WGI_ODE_BACK) {
        wgi_ode_position end;
        const wg_status s = wgi_ode_file_read(a->file, &end, &from);
        if (s != WG_OK) return s;
    } else {
        a->start = 0;
        wgi_clear(a->bar, r->flow->states);
        wgi_clear(a->params, r->call->columns * r->flow->params);
        wgi_ode_checkpoints_turn(c, &from.left, &from.top);
    }
    return wgi_ode_checkpoints_reverse(c, &back, from.left, from.top);
}

/* SPDX-License-Identifier: MIT */
/* Steps of a Rosenbrock method, for stiff systems, and their adjoints.
 *
 *     M = I/(gamma h) - f_y,   f_y and f_t at the beginning of the step
 *     M g_i = f(T_i, Y_i) + sum_{j<i} c_ij/h g_j + d_i h f_t
 *
 *     w_i = M^-T g_i_;   v = J_i' w_i as of an explicit stage;   g_j_ += c_ij/h w_i for j < i
 *     (y, p)_ += (w_i' (f_y g_i + d_i h f_t))_(y, p)
 *
 * The last line is a product with second derivatives of f; those of all stages are at one
 * place, and are evaluated together. No iteration is part of a step, so that its adjoint is
 * exact to rounding.
 *
 * Source: Hairer and Wanner 1996, IV.7; adjoint: Sandu, Daescu and Carmichael 2003, Atmos.
 * Environ. 37. */
#include "ode_rosenbrock.h"

#include "ops/matrix/implicit_system.h"
#include "tape/engine/tape.h"

#include <string.h>

void wgi_ode_matrix_cut(wgi_ode_matrix *m, const wgi_ode_flow *f, wgi_pieces *p) {
    wgi_ode_evaluation_cut(&m->evaluation, f->jacobian, p);
    m->jacobian = wgi_pieces_doubles(p, f->states * f->gradient);
    m->slope = wgi_pieces_doubles(p, f->states);
    m->lu = wgi_pieces_doubles(p, f->states * f->states);
    m->pivot = wgi_pieces_take(p, f->states * sizeof *m->pivot);
}

static wgi_implicit system_of(const wgi_ode_matrix *m, size_t n) {
    return (wgi_implicit){n, 0, m->lu, NULL, m->pivot};
}

/* M by rows, and f_t, from the Jacobian. */
static void compose(wgi_ode_matrix *m, const wgi_ode_flow *f, double diagonal) {
    const size_t n = f->states;
    const double *block = m->jacobian;
    for (size_t i = 0; i < n * n; i++) m->lu[i] = 0;
    for (size_t o = 0; o < f->outputs; o++)
        for (size_t i = 0; i < f->inputs; i++) {
            const size_t rows = f->out[o].size, size = f->in[i].size;
            if (f->in[i].role == WGI_ODE_TIME)
                memcpy(m->slope + f->out[o].at, block, rows * sizeof *block);
            for (size_t j = 0; j < rows && f->in[i].role == WGI_ODE_STATE; j++) {
                double *const row = m->lu + (f->out[o].at + j) * n + f->in[i].at;
                for (size_t l = 0; l < size; l++) row[l] = -block[j * size + l];
            }
            block += rows * size;
        }
    for (size_t i = 0; i < n; i++) m->lu[i * (n + 1)] += diagonal;
}

wg_status wgi_ode_matrix_factor(wgi_ode_matrix *m, const wgi_ode_run *r, double h) {
    const wgi_implicit s = system_of(m, r->flow->states);
    compose(m, r->flow, 1 / (r->call->method->gamma * h));
    return wgi_implicit_factor(&s) == 0 ? WG_OK : WG_ESINGULAR;
}

void wgi_ode_rosenbrock_stage(wgi_ode_run *r, size_t i, double h, const double *k, double *g) {
    const wgi_ode_method *const m = r->call->method;
    const size_t n = r->flow->states;
    const wgi_implicit s = system_of(&r->matrix, n);
    double with[WGI_ODE_STAGES];
    double *const to = g + i * n;
    for (size_t l = 0; l < n; l++) to[l] = k[l] + m->d[i] * h * r->matrix.slope[l];
    for (size_t j = 0; j < i; j++) with[j] = m->cc[i][j] / h;
    wgi_ode_combine(r, i, with, with, g, to);
    wgi_implicit_solve(&s, 0, to);
}

/* ---- adjoint ----------------------------------------------------------------------------- */

void wgi_ode_second_cut(wgi_ode_second *s, const wgi_ode_run *r, wgi_pieces *p) {
    const wgi_ode_flow *const f = r->flow;
    const size_t stages = r->call->method->stages;
    wgi_ode_evaluation_cut(&s->evaluation, f->hvp, p);
    s->w = wgi_pieces_doubles(p, stages * f->states);
    s->time = wgi_pieces_doubles(p, stages);
    s->tbar = wgi_pieces_doubles(p, stages);
    s->ybar = wgi_pieces_doubles(p, stages * f->states);
    s->pbar = wgi_pieces_doubles(p, stages * f->params);
}

/* w_i times what stage i has of the size of the step: (g_i/gamma - sum c_ij g_j)/h^2 + d_i
 * f_t. */
static double by_size(const wgi_ode_adjoint *a, const wgi_ode_record *record, size_t i) {
    const wgi_ode_run *const r = a->r;
    const wgi_ode_method *const m = r->call->method;
    const size_t n = r->flow->states;
    const double *const w = a->second.w + i * n, *const g = record->G;
    double sum = 0;
    for (size_t l = 0; l < n; l++) {
        double part = g[i * n + l] / m->gamma;
        for (size_t j = 0; j < i; j++) part -= m->cc[i][j] * g[j * n + l];
        part = part / (record->h * record->h) + m->d[i] * r->matrix.slope[l];
        sum += wgi_product(w[l], part);
    }
    return sum;
}

void wgi_ode_rosenbrock_adjoint_stage(wgi_ode_adjoint *a, const wgi_ode_record *record,
                                      size_t i) {
    const wgi_ode_run *const r = a->r;
    const wgi_ode_method *const m = r->call->method;
    const size_t n = r->flow->states;
    const wgi_implicit s = system_of(&r->matrix, n);
    double with[WGI_ODE_STAGES], *const w = a->second.w + i * n;
    memcpy(w, a->gbar + i * n, n * sizeof *w);
    wgi_implicit_solve(&s, 1, w);
    for (size_t j = 0; j < i; j++) with[j] = m->cc[i][j] / record->h;
    wgi_ode_spread(r, i, with, with, w, a->gbar);
    memcpy(a->kbar, w, n * sizeof *w);
    if (record->varies) a->begin -= by_size(a, record, i);
}

/* Adds what the stages have for a part of the states or parameters; where f gives one number,
 * and hvp has no weights, times those. */
static void add_stages(const wgi_ode_adjoint *a, size_t size, size_t apart, const double *from,
                       double *to) {
    const wgi_ode_flow *const f = a->r->flow;
    for (size_t i = 0; i < a->r->call->method->stages; i++, from += apart)
        for (size_t l = 0; l < size; l++)
            to[l] += f->weightless ? wgi_product(a->second.w[i * f->states], from[l]) : from[l];
}

wg_status wgi_ode_rosenbrock_adjoint_end(wgi_ode_adjoint *a, const wgi_ode_record *record) {
    const wgi_ode_run *const r = a->r;
    const wgi_ode_flow *const f = r->flow;
    const wgi_ode_method *const m = r->call->method;
    wgi_ode_second *const s = &a->second;
    const size_t n = f->states, weights = f->weightless ? 0 : f->outputs;
    const double *const p = r->param + record->column * f->params;
    double *const params = a->params + record->column * f->params;
    for (size_t i = 0; i < m->stages; i++) s->time[i] = m->d[i] * record->h;
    wg_points *const x = s->evaluation.x, *const along = x + f->inputs + weights;
    for (size_t i = 0; i < f->inputs; i++) {
        const wgi_ode_part *const in = &f->in[i];
        x[i] = (wg_points){in->role == WGI_ODE_TIME    ? &record->t
                           : in->role == WGI_ODE_STATE ? record->Y + in->at
                                                       : p + in->at,
                           0, 1};
        along[i] = in->role == WGI_ODE_TIME ? (wg_points){s->time, 1, 1}
                   : in->role == WGI_ODE_STATE
                       ? (wg_points){record->G + in->at, (ptrdiff_t)n, 1}
                       : (wg_points){NULL, 0, 1};
        s->evaluation.y[i] = in->role == WGI_ODE_TIME ? (wg_results){s->tbar, 1, 1}
                             : in->role == WGI_ODE_STATE
                                 ? (wg_results){s->ybar + in->at, (ptrdiff_t)n, 1}
                                 : (wg_results){s->pbar + in->at, (ptrdiff_t)f->params, 1};
    }
    for (size_t o = 0; o < weights; o++)
        x[f->inputs + o] = (wg_points){s->w + f->out[o].at, (ptrdiff_t)n, 1};
    const wg_status status = wgi_fn_steady_run(s->evaluation.open, m->stages, NULL);
    if (status != WG_OK) return status;
    for (size_t i = 0; i < f->inputs; i++) {
        const wgi_ode_part *const in = &f->in[i];
        if (in->role == WGI_ODE_TIME) add_stages(a, 1, 1, s->tbar, &a->begin);
        if (in->role == WGI_ODE_STATE)
            add_stages(a, in->size, n, s->ybar + in->at, a->bar + in->at);
        if (in->role == WGI_ODE_PARAM)
            add_stages(a, in->size, f->params, s->pbar + in->at, params + in->at);
    }
    return WG_OK;
}

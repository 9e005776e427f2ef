/* SPDX-License-Identifier: MIT */
/* Repeats where functions are interpreted: a road within the road of evaluate.c, with stations
 * of the same names. Where nothing is carried from step to step, the steps are points at which
 * the body is evaluated, for one point of the function after the other; otherwise the points of
 * a run go through the steps together. */
#include "bytecode.h"
#include "tape/function/graph/arguments.h"
#include "tape/function/graph/pieces.h"
#include "tape/function/graph/repeat.h"

#include <string.h>

#define COLUMN(offset) wgi_fn_column(r, offset)

/* One repeat under way. The arrays hold entry after entry, and of each entry the points of the
 * run next to each other; where steps are points, they hold one point of the run. */
typedef struct work {
    const wgi_repeat *r;
    const wg_function *f;
    wg_points *x;
    wg_results *y;
    double *in, *out; /* all inputs, all outputs; of stepped ones a step or, as points, all */
    double *sum;      /* of outputs that are neither carried nor stepped; laid out as `out` */
    size_t *operand_at, *part_at; /* the first operand of each input, part of each output */
    size_t carried, states;       /* arguments that are carried, and their entries */
    void *evaluation;             /* workspace of the body */
} work;

static void cut(work *w, const wgi_repeat *r, wgi_pieces *c) {
    w->carried = wgi_body_carried(r->body);
    const int many = w->carried == 0;
    const size_t rows = many ? 1 : WGI_FN_MOST_LANES;
    const wg_function *const f = r->body;
    w->r = r;
    w->f = f;
    w->x = wgi_pieces_take(c, f->inputs * sizeof *w->x);
    w->y = wgi_pieces_take(c, f->outputs * sizeof *w->y);
    w->operand_at = wgi_pieces_take(c, (f->inputs + 1) * sizeof *w->operand_at);
    w->part_at = wgi_pieces_take(c, (f->outputs + 1) * sizeof *w->part_at);
    w->in = wgi_pieces_take(c, (many ? wgi_repeat_operands(r) : f->n * rows) * sizeof(double));
    w->out = wgi_pieces_take(c, (many ? wgi_repeat_parts(r) : f->m * rows) * sizeof(double));
    w->sum = wgi_pieces_take(c, f->m * rows * sizeof(double));
    w->evaluation = wgi_pieces_take(c, wgi_fn_steady_work(f, WGI_FN_MOST_LANES));
}

size_t wgi_fn_repeat_work(const wg_function *f) {
    size_t most = 0;
    for (size_t k = 0; k < f->repeats; k++) {
        work w;
        wgi_pieces c = {NULL, 0};
        cut(&w, &f->repeat[k], &c);
        if (c.used > most) most = c.used;
    }
    return most;
}

/* ---- columns ---- */

static const double *operand(const wgi_fn_run *r, const wgi_fn_call *call, size_t k) {
    return COLUMN(r->bytecode->list[call->list + k]);
}

/* The columns of the parts that are wanted, and behind them the numbers of these parts. */
static const uint32_t *results(const wgi_fn_run *r, const wgi_fn_call *call) {
    return r->bytecode->list + call->list + call->operands;
}

/* The first result that is part k or a later one: result k where all parts are wanted. */
static size_t result_of(const uint32_t *part, size_t count, size_t k) {
    size_t low = 0, high = k < count ? k : count;
    if (high > 0 && part[high - 1] < k) return high;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (part[middle] < k) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Stores parts from k on. */
static void put(const wgi_fn_run *r, const wgi_fn_call *call, size_t k, const double *from,
                size_t entries) {
    const uint32_t *const result = results(r, call), *const part = result + call->results;
    for (size_t i = result_of(part, call->results, k);
         i < call->results && part[i] < k + entries; i++) {
        double *const to = COLUMN(result[i]);
        for (size_t p = 0; p < r->rows; p++) to[p] = from[(part[i] - k) * r->rows + p];
    }
}

/* Loads operands from k on. */
static void get(const wgi_fn_run *r, const wgi_fn_call *call, size_t k, double *to,
                size_t entries) {
    for (size_t e = 0; e < entries; e++) {
        const double *const from = operand(r, call, k + e);
        for (size_t p = 0; p < r->rows; p++) to[e * r->rows + p] = from[p];
    }
}

/* A comparison of the body failed, at a point of the run. */
static void note(wgi_fn_run *r, const wgi_fn_call *call, size_t point, size_t guard) {
    const wg_function *const f = r->function;
    wgi_fn_guard_note(r, r->first + point,
                      wgi_repeat_guards_before(f, f->node[call->node].part) + guard);
}

/* Fills the results of a repeat that was stopped with NaN. */
static void forget(const wgi_fn_run *r, const wgi_fn_call *call) {
    const uint32_t *const result = results(r, call);
    for (uint32_t k = 0; k < call->results; k++)
        for (size_t p = 0; p < r->rows; p++) COLUMN(result[k])[p] = __builtin_nan("");
}

/* ---- steps as points ---- */

static void at_steps(wgi_fn_run *r, const wgi_fn_call *call, const work *w) {
    const size_t steps = w->r->steps;
    for (size_t i = 0; i < w->f->inputs; i++)
        w->x[i] = (wg_points){w->in + w->operand_at[i],
                              (ptrdiff_t)wgi_argument_size(&w->f->input[i]), 1};
    for (size_t j = 0; j < w->f->outputs; j++)
        w->y[j] = (wg_results){w->out + w->part_at[j],
                               (ptrdiff_t)wgi_argument_size(&w->f->output[j]), 1};
    const uint32_t *const result = results(r, call), *const part = result + call->results;
    const wgi_progress_part progress = {r->progress.of, 0, 0};
    for (size_t p = 0; p < r->rows; p++) {
        for (size_t k = 0; k < call->operands; k++) w->in[k] = operand(r, call, k)[p];
        wg_function_guard guard;
        const wg_status s = wgi_function_evaluate(w->f, steps, w->x, w->y, NULL, w->evaluation,
                                                  &guard, progress);
        if (s == WG_EGUARD) note(r, call, p, guard.guard);
        if (s == WG_ESTOPPED) return;
        for (uint32_t i = 0; i < call->results; i++) COLUMN(result[i])[p] = w->out[part[i]];
    }
}

/* ---- one step after the other ---- */

/* Loads what is the same in all steps. */
static void load(wgi_fn_run *r, const wgi_fn_call *call, const work *w) {
    const ptrdiff_t rows = (ptrdiff_t)r->rows;
    size_t entry = 0;
    for (size_t i = 0; i < w->f->inputs; i++) {
        const wg_argument *const a = &w->f->input[i];
        double *const to = w->in + entry * r->rows;
        w->x[i] = (wg_points){to, 1, rows};
        if (!wgi_is_stepped(a)) get(r, call, w->operand_at[i], to, wgi_argument_size(a));
        entry += wgi_argument_size(a);
    }
    entry = 0;
    for (size_t j = 0; j < w->f->outputs; j++) {
        w->y[j] = (wg_results){w->out + entry * r->rows, 1, rows};
        entry += wgi_argument_size(&w->f->output[j]);
    }
    memset(w->sum, 0, entry * r->rows * sizeof *w->sum);
}

static void load_step(wgi_fn_run *r, const wgi_fn_call *call, const work *w, size_t place) {
    double *to = w->in;
    for (size_t i = 0; i < w->f->inputs; i++) {
        const wg_argument *const a = &w->f->input[i];
        const size_t n = wgi_argument_size(a);
        if (wgi_is_stepped(a)) get(r, call, w->operand_at[i] + place * n, to, n);
        to += n * r->rows;
    }
}

/* States before the step at `place`; at `steps` those after the last one. */
static void store_states(wgi_fn_run *r, const wgi_fn_call *call, const work *w, size_t place) {
    const double *from = w->in;
    for (size_t k = 0; k < w->carried; k++) {
        const size_t n = wgi_argument_size(&w->f->input[k]);
        put(r, call, w->part_at[k] + place * n, from, n);
        from += n * r->rows;
    }
}

/* What a step leaves beside the next states. */
static void store_step(wgi_fn_run *r, const wgi_fn_call *call, const work *w, size_t place) {
    const double *from = w->out;
    double *sum = w->sum;
    for (size_t j = 0; j < w->f->outputs; j++) {
        const wg_argument *const a = &w->f->output[j];
        const size_t n = wgi_argument_size(a), all = n * r->rows;
        if (wgi_is_stepped(a)) put(r, call, w->part_at[j] + place * n, from, n);
        else if (!wgi_is_carried(a))
            for (size_t e = 0; e < all; e++) sum[e] += from[e];
        from += all, sum += all;
    }
}

static void store_sums(wgi_fn_run *r, const wgi_fn_call *call, const work *w) {
    const double *sum = w->sum;
    for (size_t j = 0; j < w->f->outputs; j++) {
        const wg_argument *const a = &w->f->output[j];
        const size_t n = wgi_argument_size(a);
        if (!wgi_is_stepped(a) && !wgi_is_carried(a)) put(r, call, w->part_at[j], sum, n);
        sum += n * r->rows;
    }
}

static void through_steps(wgi_fn_run *r, const wgi_fn_call *call, const work *w) {
    const size_t steps = w->r->steps;
    load(r, call, w);
    struct wgi_fn_steady *const body =
        wgi_fn_steady_open(w->f, r->rows, w->x, w->y, w->evaluation, r->progress.of);
    for (size_t s = 0; s < steps; s++) {
        const size_t place = w->r->backwards ? steps - 1 - s : s;
        store_states(r, call, w, place);
        load_step(r, call, w, place);
        wg_function_guard guard;
        if (wgi_fn_steady_run(body, r->rows, &guard) == WG_EGUARD)
            note(r, call, guard.point, guard.guard);
        if (wgi_fn_stopped(&r->progress)) return;
        store_step(r, call, w, place);
        memcpy(w->in, w->out, w->states * r->rows * sizeof *w->in);
    }
    store_states(r, call, w, steps);
    store_sums(r, call, w);
}

void wgi_fn_repeat_run(wgi_fn_run *r, const wgi_fn_call *call) {
    work w;
    wgi_pieces c = {r->whole, 0};
    cut(&w, wgi_repeat_of(r->function, &r->function->node[call->node]), &c);
    wgi_repeat_starts(w.r, w.operand_at, w.part_at);
    w.states = wgi_arguments_size(w.carried, w.f->input);
    if (w.carried == 0) at_steps(r, call, &w);
    else through_steps(r, call, &w);
    if (wgi_fn_stopped(&r->progress)) forget(r, call);
    const uint32_t *const result = results(r, call);
    for (uint32_t k = 0; k < call->results; k++) wgi_fn_fill(r, COLUMN(result[k]));
}

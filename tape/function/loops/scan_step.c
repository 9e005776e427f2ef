/* SPDX-License-Identifier: MIT */
/* Steps of a single cell without neighbours. There may be little to do in a step, so that all
 * else is done before the first one: the function is prepared, what depends on shared inputs is
 * computed, and it is known where inputs are read, where outputs are written, and to what they
 * are added. The bits are those of scan_pass.c. */
#include "scan_run.h"

int wgi_scan_single(const wgi_scan *s) {
    return s->grid.points == 1 && !s->gathers && wgi_scan_apart(s);
}

/* ---- prepare ---- */

void wgi_scan_steps_cut(wgi_scan_steps *p, const wgi_scan_pass *pass, wgi_pieces *c) {
    const wg_function *const f = pass->f;
    memset(p, 0, sizeof *p);
    p->pass = pass;
    p->x = wgi_pieces_take(c, f->inputs * sizeof *p->x);
    p->y = wgi_pieces_take(c, f->outputs * sizeof *p->y);
    p->read = wgi_pieces_take(c, f->inputs * sizeof *p->read);
    p->written = wgi_pieces_take(c, f->outputs * sizeof *p->written);
    p->addition = wgi_pieces_take(c, f->outputs * sizeof *p->addition);
    p->room = wgi_pieces_doubles(c, wgi_arguments_size(f->inputs, f->input) +
                                        wgi_arguments_size(f->outputs, f->output));
    p->work = wgi_pieces_take(c, wgi_fn_steady_work(f, 1));
}

static int is_filled(const wgi_feed *from) {
    return !from->is_field && from->kind == WGI_FROM_FILL && !from->bar;
}

static wgi_scan_address in_field(wgi_scan_run *r, int bar, uint32_t field, int next,
                                 ptrdiff_t shift) {
    const wgi_spot at = wgi_scan_spot(r, bar, field, next, shift, 0);
    return (wgi_scan_address){.base = at.base, .skip = at.skip};
}

/* An input: in a field, among the adjoints of results, in a matrix or data, or written by a
 * callback to `room`. */
static void plan_input(wgi_scan_run *r, wgi_scan_steps *p, uint32_t i, double *room) {
    const wg_argument *const a = &p->pass->f->input[i];
    const wgi_feed *const from = &p->pass->in[i];
    const int shared = wgi_argument_shared(a);
    const ptrdiff_t entries = (ptrdiff_t)wgi_argument_size(a);
    wgi_scan_address at = {.base = NULL};
    p->x[i] = (wg_points){room, entries, 1};
    if (from->is_field) {
        at = in_field(r, from->bar, from->field, from->kind == WGI_FROM_NEXT, from->shift);
        p->x[i].entry = (ptrdiff_t)r->s->field[from->field].size;
    } else if (from->kind == WGI_FROM_RESULT) {
        at.first = wgi_scan_result_at(r, from->operand, 1, shared, (size_t)entries, 0, 0);
        at.each = shared && !r->s->sums_by_step ? 0 : entries;
        p->x[i].data = at.first;
    } else if (!is_filled(from)) {
        p->x[i] = (from->bar ? r->tangent : r->value)[from->number];
        at.first = (double *)(uintptr_t)p->x[i].data; /* it is only read */
        at.each = at.first != NULL && from->each_step ? p->x[i].point : 0;
    }
    at.number = i;
    const int moves = at.base != NULL || at.each != 0;
    if (moves) p->read[p->reads++] = at;
    p->fills |= is_filled(from);
    p->reloads |= shared && (moves || is_filled(from));
}

/* An output that is written where it belongs, or to `room`, or not at all. */
static void plan_output(wgi_scan_run *r, wgi_scan_steps *p, uint32_t k, int results,
                        double *room) {
    const wg_argument *const a = &p->pass->f->output[k];
    const wgi_drain *const to = &p->pass->out[k];
    const ptrdiff_t entries = (ptrdiff_t)wgi_argument_size(a);
    wgi_scan_address at = {.base = NULL};
    p->y[k] = (wg_results){NULL, 0, 0};
    if (to->from != NULL ? !wgi_scan_wanted(r, to->from) : !to->is_field && !results) return;
    p->y[k] = (wg_results){room, entries, 1};
    if (wgi_argument_summed(a) || to->adds) return;
    if (to->is_field) {
        at = in_field(r, to->bar, to->at, to->next, 0);
        p->y[k] = (wg_results){NULL, 1, (ptrdiff_t)r->s->field[to->at].size};
    } else {
        at.first = wgi_scan_result_at(r, to->at, to->bar, 0, (size_t)entries, 0, 0);
        at.each = entries;
        p->y[k].data = at.first;
    }
    at.number = k;
    if (at.base != NULL || at.each != 0) p->written[p->writes++] = at;
}

/* Where a sum, or an adjoint, is added; adjoints of fields of cells come last. */
static void plan_addition(wgi_scan_run *r, wgi_scan_steps *p, uint32_t k, int last) {
    const wg_argument *const a = &p->pass->f->output[k];
    const wgi_drain *const to = &p->pass->out[k];
    const int summed = wgi_argument_summed(a);
    wgi_scan_addition add = {.from = p->y[k].data, .entries = wgi_argument_size(a), .entry = 1};
    const int late = to->is_field && to->adds && (!summed || add.entries == 1) &&
                     !r->s->field[to->at].global;
    if (add.from == NULL || (!summed && !to->adds) || late != last) return;
    if (to->is_field) {
        add.to = in_field(r, to->bar, to->at, to->next, to->shift);
        add.entry = (ptrdiff_t)r->s->field[to->at].size;
        add.sets = !to->adds;
    } else if (to->from == NULL) {
        add.to.first = wgi_scan_result_at(r, to->at, to->bar, 1, add.entries, 0, 0);
        add.to.each = r->s->sums_by_step ? (ptrdiff_t)add.entries : 0;
    } else {
        wg_block_arg *const matrix = wgi_scan_matrix_of(r, to->from);
        const wg_results bar = wgi_adjoint_bar(matrix, add.entries);
        if (bar.data == NULL) add.matrix = matrix;
        add.to.first = bar.data;
        add.to.each = to->from->each_step ? bar.point : 0;
        add.entry = bar.entry;
    }
    p->addition[p->additions++] = add;
}

void wgi_scan_steps_plan(wgi_scan_run *r, wgi_scan_steps *p, int results) {
    const wg_function *const f = p->pass->f;
    double *room = p->room;
    for (uint32_t i = 0; i < f->inputs; room += wgi_argument_size(&f->input[i++]))
        plan_input(r, p, i, room);
    for (uint32_t k = 0; k < f->outputs; room += wgi_argument_size(&f->output[k++]))
        plan_output(r, p, k, results, room);
    for (int last = 0; last < 2; last++)
        for (uint32_t k = 0; k < f->outputs; k++) plan_addition(r, p, k, last);
}

/* ---- each step ---- */

static inline double *address_in(const wgi_scan_address *at, size_t step) {
    return (at->base != NULL ? *at->base : at->first) + at->skip + (ptrdiff_t)step * at->each;
}

/* Calls the callbacks, which write to where inputs are read. */
static wg_status fill(const wgi_scan_run *r, const wgi_scan_steps *p, size_t step) {
    double *room = p->room;
    for (size_t i = 0; i < p->pass->f->inputs; i++) {
        const wg_argument *const a = &p->pass->f->input[i];
        const wgi_feed *const from = &p->pass->in[i];
        if (is_filled(from)) {
            const wg_status s = from->fill(from->each_step ? step : 0, 1, room, from->user);
            if (s != WG_OK) return wgi_scan_fill_failed(r, a, step, s);
        }
        room += wgi_argument_size(a);
    }
    return WG_OK;
}

static void add(const wgi_scan_addition *a, size_t step) {
    const double *const from = a->from;
    if (a->matrix != NULL) {
        wgi_points_add(a->matrix, from, a->matrix->bar, a->matrix->bar_ld);
        return;
    }
    double *const to = address_in(&a->to, step);
    for (size_t e = 0; e < a->entries; e++) {
        double *const at = &to[(ptrdiff_t)e * a->entry];
        *at = (a->sets ? 0 : *at) + from[e];
    }
}

wg_status wgi_scan_step(wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_steps *p,
                        size_t step) {
    wg_function_guard guard = {0, 0};
    for (const wgi_scan_address *at = p->read; at < p->read + p->reads; at++)
        p->x[at->number].data = address_in(at, step);
    for (const wgi_scan_address *at = p->written; at < p->written + p->writes; at++)
        p->y[at->number].data = address_in(at, step);
    wg_status s = p->fills ? fill(r, p, step) : WG_OK;
    if (s != WG_OK) return s;
    if (p->open == NULL)
        p->open = wgi_fn_steady_open(p->pass->f, 1, p->x, p->y, p->work, r->s->progress);
    else if (p->reloads) wgi_fn_steady_load(p->open);
    s = wgi_fn_steady_run(p->open, 1, &guard);
    if (s == WG_EGUARD) return wgi_scan_guard_failed(r, stage, step, guard.point, guard.guard);
    for (size_t k = 0; k < p->additions && s == WG_OK; k++) add(&p->addition[k], step);
    return s;
}

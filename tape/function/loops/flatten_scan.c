/* SPDX-License-Identifier: MIT */
/* Scans in a recording that becomes a function: step after step, or their steps as a repeat. */
#include "function_walk.h"

#include "tape/function/graph/builder.h"

#include <string.h>

static double *field_of(const wgi_walk *w, uint32_t field, int next) {
    const size_t at = w->scan->field[field].at;
    if (field >= w->scan->states) return w->passing + at;
    return (next ? w->next : w->old) + at;
}

/* Where entry 0 of cell p stands. */
static size_t cell_of(const wgi_walk *w, const wgi_field *f, size_t p) {
    const wgi_grid *const g = &w->scan->grid;
    if (f->global) return f->origin;
    return wgi_field_line(f, g, p / g->cells[0]) + p % g->cells[0];
}

static wg_status input_of_stage(wgi_walk *w, size_t i, size_t p, uint32_t *to) {
    const wg_argument *const a = &w->f->input[i];
    const wgi_feed *const from = &w->stage->value.in[i];
    if (from->kind == WGI_FROM_STATE || from->kind == WGI_FROM_NEXT) {
        const wgi_field *const f = &w->scan->field[from->field];
        const double *const at = field_of(w, from->field, from->kind == WGI_FROM_NEXT) +
                                 cell_of(w, f, p) + from->shift;
        for (size_t e = 0; e < f->entries; e++)
            to[e] = at[e * f->size] == 0 ? wgi_walk_zero(w) : (uint32_t)at[e * f->size] - 1;
        return WG_OK;
    }
    const uint32_t first = w->stepped == NULL ? WGI_NO_NODE : w->stepped[from->number];
    if (first != WGI_NO_NODE) {
        for (size_t e = 0; e < wgi_argument_size(a); e++)
            to[e] = first + (uint32_t)(p * wgi_argument_size(a) + e);
        return WG_OK;
    }
    if (from->each_step) p += w->step * (wgi_argument_shared(a) ? 1 : w->scan->grid.points);
    return wgi_walk_from_feed(w, a, from, p, to);
}

static void output_of_stage(wgi_walk *w, size_t k, size_t p, const uint32_t *from) {
    const wg_argument *const a = &w->f->output[k];
    const wgi_drain *const drain = &w->stage->value.out[k];
    const size_t n = wgi_argument_size(a), points = w->scan->grid.points;
    if (drain->is_field) {
        const wgi_field *const f = &w->scan->field[drain->at];
        double *const to = field_of(w, drain->at, 1) + cell_of(w, f, p);
        for (size_t e = 0; e < n; e++) to[e * f->size] = (double)from[e] + 1;
        return;
    }
    uint32_t *const to = w->y + wgi_walk_first_of(w->b->operand + w->b->inputs, drain->at);
    if (!wgi_argument_summed(a)) memcpy(to + (w->step * points + p) * n, from, n * sizeof *to);
    else if (w->scan->sums_by_step) memcpy(to + w->step * n, from, n * sizeof *to);
    else
        for (size_t e = 0; e < n; e++)
            to[e] = w->step == 0 ? from[e] : wgi_walk_plus(w, to[e], from[e]);
}

/* Reads the states from their operands; with `out`, writes them to their results. */
static void move_states(wgi_walk *w, int out) {
    const wgi_grid *const g = &w->scan->grid;
    for (uint32_t k = 0; k < w->scan->states; k++) {
        const wgi_field *const f = &w->scan->field[k];
        const size_t points = f->global ? 1 : g->points;
        const uint32_t *const from = w->x + wgi_walk_first_of(w->b->operand, k);
        uint32_t *const to = w->y + wgi_walk_first_of(w->b->operand + w->b->inputs, k);
        for (size_t p = 0; p < points; p++)
            for (size_t e = 0; e < f->entries; e++) {
                double *const at = &w->old[f->at + cell_of(w, f, p) + e * f->size];
                if (out) to[p * f->entries + e] = (uint32_t)*at - 1;
                else *at = (double)from[p * f->entries + e] + 1;
            }
        if (!out) wgi_field_fill(f, g, w->old + f->at);
    }
}

static wg_status step(wgi_walk *w) {
    const wgi_scan *const scan = w->scan;
    for (size_t k = 0; k < scan->stages; k++) {
        w->stage = &scan->stage[k];
        const wg_function *const f = w->stage->k->f;
        const wg_status s = wgi_walk_through(w, f, scan->grid.points);
        if (s != WG_OK) return s;
        for (size_t j = 0; j < f->outputs; j++) {
            const wgi_drain *const to = &w->stage->value.out[j];
            if (to->is_field)
                wgi_field_fill(&scan->field[to->at], &scan->grid, field_of(w, to->at, 1));
        }
    }
    return WG_OK;
}

static double *numbers(wgi_walk *w, size_t n) {
    return wg_tape_keep(&w->g->c->head, (n + 1) * sizeof(double), NULL);
}

/* Makes room for what a step works on. */
static wg_status open_scan(wgi_walk *w) {
    const wgi_scan *const scan = w->scan;
    wg_tape *const t = &w->g->c->head;
    const wg_function **const f = wg_tape_keep(t, (scan->stages + 1) * sizeof *f, NULL);
    w->old = numbers(w, scan->state_size);
    w->next = numbers(w, scan->state_size);
    w->passing = numbers(w, scan->passing_size);
    if (w->g->c->status != WG_OK) return w->g->c->status;
    for (size_t k = 0; k < scan->stages; k++) f[k] = scan->stage[k].k->f;
    w->input = input_of_stage;
    w->output = output_of_stage;
    const wg_status s = wgi_walk_open(w, scan->stages, f);
    for (size_t e = 0; s == WG_OK && e < w->b->outs; e++) w->y[e] = wgi_walk_zero(w);
    return s;
}

static wg_status one_step(wgi_walk *w) {
    const wg_status s = step(w);
    double *const was = w->old;
    w->old = w->next;
    w->next = was;
    return s;
}

static wg_status written_out_steps(wgi_walk *w) {
    wg_status s = open_scan(w);
    if (s == WG_OK) move_states(w, 0);
    for (w->step = 0; w->step < w->scan->steps && s == WG_OK; w->step++) s = one_step(w);
    if (s == WG_OK) move_states(w, 1);
    return s;
}

/* ---- its steps as a repeat ---- */

/* What each operand, each result, and data of each input are in the body of a repeat. */
typedef struct steps_of {
    unsigned *operand, *result; /* their roles: WGI_CARRIED, WGI_STEPPED, or 0 */
    uint32_t *stepped;          /* as in a walk */
} steps_of;

static wg_status find_roles(const wgi_walk *w, steps_of *o) {
    const wgi_scan *const scan = w->scan;
    wg_tape *const t = &w->g->c->head;
    o->operand = wg_tape_keep(t, (w->b->inputs + 1) * sizeof *o->operand, NULL);
    o->result = wg_tape_keep(t, (w->b->outputs + 1) * sizeof *o->result, NULL);
    o->stepped = wg_tape_keep(t, (scan->inputs + 1) * sizeof *o->stepped, NULL);
    if (w->g->c->status != WG_OK) return w->g->c->status;
    for (uint32_t k = 0; k < w->b->inputs; k++)
        o->operand[k] = k < scan->states ? WGI_CARRIED : 0;
    for (uint32_t k = 0; k < w->b->outputs; k++)
        o->result[k] = k < scan->states ? WGI_CARRIED : WGI_STEPPED;
    for (size_t i = 0; i < scan->inputs; i++) o->stepped[i] = WGI_NO_NODE;
    for (size_t k = 0; k < scan->stages; k++) {
        const wgi_scan_stage *const stage = &scan->stage[k];
        const wg_function *const f = stage->k->f;
        for (size_t i = 0; i < f->inputs; i++)
            if (stage->value.in[i].kind == WGI_FROM_MATRIX && stage->value.in[i].each_step)
                o->operand[stage->value.in[i].operand] = WGI_STEPPED;
        for (size_t j = 0; j < f->outputs; j++)
            if (!stage->value.out[j].is_field && wgi_argument_summed(&f->output[j]) &&
                !scan->sums_by_step)
                o->result[stage->value.out[j].at] = 0;
    }
    return WG_OK;
}

/* How many points of an input are data of a step, that change from step to step; 0: none. */
static size_t data_of_step(const wgi_walk *w, const wgi_scan_stage *stage, size_t i) {
    const wgi_feed *const from = &stage->value.in[i];
    if (!from->each_step || (from->kind != WGI_FROM_DATA && from->kind != WGI_FROM_FILL))
        return 0;
    return wgi_argument_shared(&stage->k->f->input[i]) ? 1 : w->scan->grid.points;
}

/* Adds the inputs of the body: operands, those that are stepped as one step has them; then data
 * of a step. */
static void body_inputs(wgi_walk *in, wgi_builder *b, steps_of *o, uint32_t *x) {
    const wgi_scan *const scan = in->scan;
    for (uint32_t k = 0; k < in->b->inputs; k++) {
        const size_t all = wgi_walk_elements(&in->b->operand[k]);
        const size_t n = o->operand[k] == WGI_STEPPED ? all / scan->steps : all;
        const wg_argument like = {k < scan->states ? "s" : "m", n, 1, 0};
        const uint32_t first = wgi_builder_input(b, "", &like, o->operand[k]);
        for (size_t e = 0; e < n; e++) x[e] = first + (uint32_t)e;
        x += all;
    }
    for (size_t k = 0; k < scan->stages; k++)
        for (size_t i = 0; i < scan->stage[k].k->f->inputs; i++) {
            const wg_argument *const a = &scan->stage[k].k->f->input[i];
            const size_t points = data_of_step(in, &scan->stage[k], i);
            if (points != 0)
                o->stepped[scan->stage[k].value.in[i].number] = wgi_builder_input(
                    b, "", &(wg_argument){a->name, wgi_argument_size(a) * points, 1, 0},
                    WGI_STEPPED);
        }
}

static void body_of_step_outputs(const wgi_walk *in, wgi_builder *b, const steps_of *o) {
    const uint32_t *y = in->y;
    for (uint32_t k = 0; k < in->b->outputs; k++) {
        const size_t all = wgi_walk_elements(&in->b->operand[in->b->inputs + k]);
        const size_t n = o->result[k] == WGI_STEPPED ? all / in->scan->steps : all;
        const wg_argument like = {k < in->scan->states ? "s" : "y", n, 1, 0};
        wgi_builder_output(b, "", &like, o->result[k]);
        for (size_t e = 0; e < n; e++)
            wgi_builder_result(b, b->by_points && o->result[k] == 0 ? wgi_graph_sum(&b->g, y[e])
                                                                    : y[e]);
        y += all;
    }
}

static const wgi_repeat *body_of_step(const wgi_walk *w, steps_of *o,
                                      const unsigned char **used) {
    wgi_builder b;
    wgi_walk in = *w;
    size_t operands = 0;
    for (uint32_t k = 0; k < w->b->inputs; k++)
        operands += wgi_walk_elements(&w->b->operand[k]);
    uint32_t *const x = wgi_node_list(w->g->c, operands);
    wgi_builder_open(&b, w->g->c, w->g->call);
    b.by_points = w->scan->states == 0;
    in.g = &b.g;
    in.x = x;
    in.y = wgi_node_list(w->g->c, w->b->outs);
    in.stepped = o->stepped;
    in.step = 0;
    if (w->g->c->status != WG_OK) return NULL;
    body_inputs(&in, &b, o, x);
    wg_status s = open_scan(&in);
    if (s == WG_OK) move_states(&in, 0);
    if (s == WG_OK) s = one_step(&in);
    if (s != WG_OK || b.g.c->status != WG_OK) return NULL;
    move_states(&in, 1);
    body_of_step_outputs(&in, &b, o);
    *used = b.g.c->status == WG_OK ? wgi_builder_prune(&b) : NULL;
    return *used == NULL ? NULL : wgi_builder_repeat(&b, w->scan->steps, 0);
}

/* Adds the data of all steps to the operands of the repeat. */
static wg_status data_operands(wgi_walk *w, const wgi_scan_stage *stage, size_t i,
                               size_t points, uint32_t **at) {
    const wg_argument *const a = &stage->k->f->input[i];
    const wgi_feed *const from = &stage->value.in[i];
    wg_status s = w->g->c->status;
    for (size_t p = 0; p < points * w->scan->steps && s == WG_OK;
         p++, *at += wgi_argument_size(a))
        s = wgi_walk_from_feed(w, a, from, p, *at);
    return s;
}

static wg_status operands_of_steps(wgi_walk *w, const unsigned char *used, uint32_t *at) {
    const wgi_scan *const scan = w->scan;
    const uint32_t *x = w->x;
    size_t input = 0;
    wg_status s = WG_OK;
    for (uint32_t k = 0; k < w->b->inputs; k++, input++) {
        const size_t all = wgi_walk_elements(&w->b->operand[k]);
        if (used[input]) memcpy(at, x, all * sizeof *at), at += all;
        x += all;
    }
    for (size_t k = 0; k < scan->stages; k++)
        for (size_t i = 0; i < scan->stage[k].k->f->inputs && s == WG_OK; i++) {
            const size_t points = data_of_step(w, &scan->stage[k], i);
            if (points != 0 && used[input++])
                s = data_operands(w, &scan->stage[k], i, points, &at);
        }
    return s;
}

static wg_status repeated_steps(wgi_walk *w) {
    wgi_core *const c = w->g->c;
    const unsigned char *used = NULL;
    steps_of o;
    wg_status s = find_roles(w, &o);
    const wgi_repeat *const r = s == WG_OK ? body_of_step(w, &o, &used) : NULL;
    if (r == NULL) return c->status;
    uint32_t *const x = wgi_node_list(w->g->c, wgi_repeat_operands(r));
    /* room for data from callbacks */
    w->filled = numbers(w, r->body->n);
    if (c->status != WG_OK) return c->status;
    s = operands_of_steps(w, used, x);
    if (s != WG_OK) return s;
    uint32_t part = wgi_graph_repeat(w->g, r, x) + 1, *y = w->y;
    for (uint32_t k = 0; k < w->b->outputs && c->status == WG_OK; k++) {
        const size_t all = wgi_walk_elements(&w->b->operand[w->b->inputs + k]);
        if (o.result[k] == WGI_CARRIED) part += (uint32_t)(all * w->scan->steps);
        for (size_t e = 0; e < all; e++) *y++ = part++;
    }
    return c->status;
}

wg_status wgi_walk_scan(wgi_walk *w) {
    const wgi_scan *const scan = w->scan = *(const wgi_scan *const *)w->b->params;
    size_t work = 0;
    for (size_t k = 0; k < scan->stages; k++)
        work += scan->grid.points * wgi_repeat_work(scan->stage[k].k->f);
    return wgi_walk_repeats(w, scan->steps, work) ? repeated_steps(w) : written_out_steps(w);
}

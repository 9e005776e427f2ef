/* SPDX-License-Identifier: MIT */
/* A stage at all cells, chunk by chunk: forward, with values or tangents, and backward. In each
 * chunk the inputs are loaded from where they come from, the function is evaluated, and its
 * outputs are stored where they belong; a function that walks does all of that in place. */
#include "scan_run.h"

/* ---- lines of a field ------------------------------------------------------------------- */

/* Can lines of the chunk be read and written where they stand? */
static inline int in_place(const wgi_field *f, const wgi_scan_chunk *c) {
    return f->global || c->rows <= 1;
}

/* Copies the lines of a chunk from a field, or from its neighbours, to a contiguous array,
 * entry after entry; back: from there to the field. */
static inline void copy_lines(const wgi_scan_run *r, const wgi_field *f, double *field,
                              const wgi_scan_chunk *c, double *row, int back) {
    const size_t n = r->s->grid.cells[0];
    for (size_t e = 0; e < f->entries; e++, field += f->size, row += c->stride)
        for (size_t l = 0; l < c->lines; l++) {
            double *const line = field + wgi_field_line(f, &r->s->grid, c->first + l);
            memcpy(back ? line : row + l * n, back ? row + l * n : line, n * sizeof *row);
        }
}

/* ---- where inputs come from ------------------------------------------------------------- */

static size_t first_point(const wgi_scan_run *r, const wgi_scan_chunk *c) {
    return c->first * r->s->grid.cells[0];
}

/* Which point of a matrix, or of data, the first point of the chunk is. */
static size_t number_of(const wgi_scan_run *r, const wgi_feed *from, int shared,
                        const wgi_scan_chunk *c) {
    if (shared) return from->each_step ? c->step : 0;
    return (from->each_step ? c->step * r->s->grid.points : 0) + first_point(r, c);
}

static wg_points from_field(const wgi_scan_run *r, const wgi_feed *from,
                            const wgi_scan_chunk *c, wgi_pieces *p) {
    const wgi_field *const f = &r->s->field[from->field];
    double *const at =
        wgi_scan_field_at(r, from->bar, from->field, from->kind == WGI_FROM_NEXT) + from->shift;
    if (in_place(f, c))
        return (wg_points){at + wgi_field_line(f, &r->s->grid, c->first), !f->global,
                           (ptrdiff_t)f->size};
    double *const row = wgi_pieces_doubles(p, f->entries * c->stride);
    copy_lines(r, f, at, c, row, 0);
    return (wg_points){row, 1, (ptrdiff_t)c->stride};
}

/* Where a result of so many entries, or its adjoint, stands for the first point of the chunk.
 */
static double *result_at(const wgi_scan_run *r, uint32_t result, int bar, int summed,
                         size_t entries, const wgi_scan_chunk *c) {
    return wgi_scan_result_at(r, result, bar, summed, entries, c->step, first_point(r, c));
}

/* Loads input a of a function at the points of a chunk. */
static wg_status load(const wgi_scan_run *r, const wg_argument *a, const wgi_feed *from,
                      const wgi_scan_chunk *c, wgi_pieces *p, wg_points *x) {
    const int shared = wgi_argument_shared(a);
    const size_t entries = wgi_argument_size(a), count = shared ? 1 : c->points;
    if (from->is_field) {
        *x = from_field(r, from, c, p);
        return WG_OK;
    }
    if (from->kind == WGI_FROM_RESULT) {
        double *const at = result_at(r, from->operand, 1, shared, entries, c);
        *x = (wg_points){at, shared ? 0 : (ptrdiff_t)entries, 1};
        return WG_OK;
    }
    const size_t first = number_of(r, from, shared, c);
    if (from->kind != WGI_FROM_FILL || from->bar) {
        *x = (from->bar ? r->tangent : r->value)[from->number];
        if (x->data != NULL) x->data += (ptrdiff_t)first * x->point;
        return WG_OK;
    }
    double *const to = wgi_pieces_doubles(p, entries * count);
    *x = (wg_points){to, (ptrdiff_t)entries, 1};
    const wg_status s = count != 0 ? from->fill(first, count, to, from->user) : WG_OK;
    return s == WG_OK ? s : wgi_scan_fill_failed(r, a, c->step, s);
}

/* ---- where outputs go ------------------------------------------------------------------- */

/* Where an output of the chunk is to be written: where it belongs, or in workspace; NULL:
 * nowhere. */
static wg_results outlet(const wgi_scan_run *r, const wg_argument *y, const wgi_drain *to,
                         const wgi_scan_chunk *c, wgi_pieces *p) {
    const wgi_field *const f = to->is_field ? &r->s->field[to->at] : NULL;
    const size_t entries = wgi_argument_size(y);
    if (to->from != NULL ? !wgi_scan_wanted(r, to->from) : f == NULL && !r->results)
        return (wg_results){NULL, 0, 0};
    if (wgi_argument_summed(y))
        return (wg_results){wgi_pieces_doubles(p, entries), (ptrdiff_t)entries, 1};
    if (f != NULL && !to->adds && in_place(f, c))
        return (wg_results){wgi_scan_field_at(r, to->bar, to->at, to->next) +
                                wgi_field_line(f, &r->s->grid, c->first),
                            1, (ptrdiff_t)f->size};
    if (f == NULL && to->from == NULL)
        return (wg_results){result_at(r, to->at, to->bar, 0, entries, c), (ptrdiff_t)entries,
                            1};
    double *const room = wgi_pieces_doubles(p, entries * c->stride);
    if (f == NULL)
        return wgi_adjoint_room(wgi_scan_matrix_of(r, to->from), entries, c->stride, room);
    return (wg_results){room, 1, (ptrdiff_t)c->stride};
}

/* Adds sums over the chunk to those over the chunks before. */
static void add_sums(const wgi_scan_run *r, const wgi_drain *to, const wgi_scan_chunk *c,
                     size_t entries, const double *from) {
    double *const sum = to->is_field ? wgi_scan_field_at(r, to->bar, to->at, to->next)
                                     : result_at(r, to->at, to->bar, 1, entries, c);
    if (to->is_field && c->first == 0) wgi_clear(sum, entries);
    for (size_t e = 0; e < entries; e++) sum[e] += from[e];
}

/* Stores what was evaluated; adjoints of fields of cells become streams, which are added later
 * and together. */
static void store(const wgi_scan_run *r, const wg_argument *y, const wgi_drain *to,
                  const wgi_scan_chunk *c, wg_results w, size_t *streams) {
    const size_t entries = wgi_argument_size(y);
    if (w.data == NULL) return;
    if (to->from == NULL && wgi_argument_summed(y)) {
        add_sums(r, to, c, entries, w.data);
        return;
    }
    if (!to->is_field) {
        if (to->from == NULL) return;
        const int shared = wgi_argument_summed(y);
        wgi_adjoint_add(wgi_scan_matrix_of(r, to->from), entries,
                        number_of(r, to->from, shared, c), shared ? 1 : c->points, w);
        return;
    }
    const wgi_field *const f = &r->s->field[to->at];
    double *const at = wgi_scan_field_at(r, to->bar, to->at, to->next) + to->shift;
    if (to->adds && (w.point != 1 || f->global))
        for (size_t e = 0; e < f->entries; e++)
            at[f->origin + e * f->size] += w.data[(ptrdiff_t)e * w.entry];
    else if (to->adds) r->in[(*streams)++] = (wgi_scan_stream){f, at, w.data};
    else if (!in_place(f, c)) copy_lines(r, f, at, c, w.data, 1);
}

/* Collects rows; those whose places do not overlap those before are added by themselves. */
static void add_row(size_t n, wgi_row_sums *rows, double *to, const double *from) {
    const ptrdiff_t far = (ptrdiff_t)n / 2, skip = rows->count == 0 ? 0 : to - rows->to[0];
    if (rows->count == WGI_MOST_ROWS || skip > far || skip < -far) {
        wgi_row_sums_add(n, rows);
        rows->count = 0;
    }
    rows->to[rows->count] = to;
    rows->from[rows->count++] = from;
}

/* Adds adjoints to fields, line by line, those of all neighbours in a line together. */
static void add_streams(const wgi_scan_run *r, size_t count, const wgi_scan_chunk *c) {
    const size_t n = c->length;
    for (size_t l = 0; l < c->rows && count != 0; l++) {
        wgi_row_sums rows = {.count = 0};
        for (const wgi_scan_stream *in = r->in; in < r->in + count; in++) {
            double *const to = in->to + wgi_field_line(in->field, &r->s->grid, c->first + l);
            for (size_t e = 0; e < in->field->entries; e++)
                add_row(n, &rows, to + e * in->field->size, in->from + e * c->stride + l * n);
        }
        wgi_row_sums_add(n, &rows);
    }
}

/* ---- failures --------------------------------------------------------------------------- */

wg_status wgi_scan_fill_failed(const wgi_scan_run *r, const wg_argument *input, size_t step,
                               wg_status s) {
    wgi_why(r->b, r->why, "the callback of input %s, in step %zu, returned %s", input->name,
            step, wg_status_text(s));
    return s;
}

wg_status wgi_scan_guard_failed(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t step,
                                size_t cell, size_t guard) {
    wgi_why(r->b, r->why, "guard %zu of stage %zu came out differently in step %zu, cell %zu",
            guard, (size_t)(stage - r->s->stage), step, cell);
    return WG_EGUARD;
}

/* ---- one chunk -------------------------------------------------------------------------- */

void wgi_scan_next_chunk(const wgi_scan_run *r, const wgi_scan_stage *stage,
                         wgi_scan_chunk *c) {
    const wgi_grid *const g = &r->s->grid;
    const size_t n = g->cells[0];
    c->first += c->lines;
    if (stage->flat != 0) { /* within a plane */
        const size_t left = g->cells[1] - c->first % g->cells[1];
        c->lines = stage->flat < left ? stage->flat : left;
        c->rows = 1;
        c->points = c->length = (c->lines - 1) * r->s->line + n;
    } else {
        const size_t left = g->lines - c->first;
        c->lines = c->rows = r->s->chunk < left ? r->s->chunk : left;
        c->length = n;
        c->points = c->lines * n;
    }
    c->stride = wgi_grid_round_up(c->points);
}

/* By native code in this thread, or by the interpreter in all threads: the bits are the same.
 */
static wg_status evaluate(const wgi_scan_run *r, const wgi_scan_stage *stage,
                          wgi_in_place *in_place, const wgi_scan_pass *pass,
                          const wgi_scan_chunk *c) {
    const wg_function *const f = pass->f;
    wgi_pieces p = {(char *)r->room, 0};
    wg_function_guard guard = {0, 0};
    size_t streams = 0;
    wg_status s = WG_OK;
    for (size_t i = 0; i < f->inputs && s == WG_OK; i++)
        s = load(r, &f->input[i], &pass->in[i], c, &p, &r->x[i]);
    for (size_t k = 0; k < f->outputs && s == WG_OK; k++)
        r->y[k] = outlet(r, &f->output[k], &pass->out[k], c, &p);
    if (s == WG_OK && !wgi_in_place_run(in_place, c->points, r->x, r->y)) {
        s = wgi_function_evaluate(f, c->points, r->x, r->y, r->s->threads, r->work, &guard,
                                  (wgi_progress_part){r->s->progress, 0, 0});
        if (s == WG_EGUARD)
            s = wgi_scan_guard_failed(r, stage, c->step, first_point(r, c) + guard.point,
                                      guard.guard);
    }
    if (s != WG_OK) return s;
    for (size_t k = 0; k < f->outputs; k++)
        store(r, &f->output[k], &pass->out[k], c, r->y[k], &streams);
    add_streams(r, streams, c);
    return WG_OK;
}

/* How far the chunk is from the first cell, in all fields of cells. */
static inline ptrdiff_t further(const wgi_scan_run *r, const wgi_scan_chunk *c) {
    const wgi_grid *const g = &r->s->grid;
    if (g->lines <= 1) return 0;
    const size_t plane = r->s->plane;
    return (ptrdiff_t)(c->first % g->cells[1] * r->s->line + c->first / g->cells[1] * plane);
}

/* Puts zeros behind what the rows of the basin hold now. */
static void clear_tails(wgi_scan_in_place *s, const wgi_scan_chunk *c) {
    const size_t written =
        wgi_scan_most(s->filled, s->beyond ? wgi_grid_round_up(c->points) : c->points);
    for (size_t k = 0; k < s->adjoint.results && written > c->points && s->pad != 0; k++)
        wgi_clear(s->basin + k * s->pitch + s->pad + c->points, written - c->points);
    s->filled = c->points;
}

/* Adds the rows of the basin to the places where they meet. */
static void add_meetings(const wgi_scan_in_place *s, ptrdiff_t skip, size_t points) {
    for (size_t k = 0; k < s->meetings; k++) {
        const wgi_scan_meeting *const m = &s->meeting[k];
        const double *row[WGI_MOST_ROWS];
        const ptrdiff_t first = m->place.skip + skip + m->low;
        const ptrdiff_t low = m->low - first % WGI_GRID_LANES;
        for (size_t i = 0; i < m->count; i++)
            row[i] = s->basin + m->row[i] * s->pitch + s->pad + (low - m->apart[i]);
        wgi_row_sums_gather(m->count, *m->place.base + m->place.skip + skip + low, row,
                            (m->rows - 1) * s->pitch +
                                wgi_grid_round_up((size_t)((ptrdiff_t)points + m->high - low)));
    }
}

/* A chunk by a function that walks: only shared inputs are loaded, only sums stored. 0: it has
 * to be evaluated instead. */
static inline int walk(const wgi_scan_run *r, const wgi_scan_pass *pass, wgi_in_place *by,
                       wgi_scan_in_place *s, int backward, const wgi_scan_chunk *c) {
    const wg_function *const f = pass->f;
    const wgi_bytecode *const p = f->bytecode;
    const ptrdiff_t skip = further(r, c);
    wgi_pieces room = {(char *)r->room, 0};
    size_t streams = 0;
    for (size_t l = 0; l < p->shares; l++) {
        const uint32_t i = p->shared[l];
        if (load(r, &f->input[i], &pass->in[i], c, &room, &r->x[i]) != WG_OK) return 0;
    }
    for (size_t l = 0; l < p->totals; l++) {
        const uint32_t k = p->total[l].output;
        r->y[k] = outlet(r, &f->output[k], &pass->out[k], c, &room);
    }
    const int done = wgi_in_place_walk(by, c->points, skip, s->beyond, r->x);
    if (backward) clear_tails(s, c);
    if (!done) return 0;
    if (backward) add_meetings(s, skip, c->points);
    if (p->totals == 0) return 1;
    wgi_in_place_store(by, r->y);
    for (size_t l = 0; l < p->totals; l++) {
        const uint32_t k = p->total[l].output;
        store(r, &f->output[k], &pass->out[k], c, r->y[k], &streams);
    }
    add_streams(r, streams, c);
    return 1;
}

/* ---- all chunks ------------------------------------------------------------------------- */

/* Walks by `by` if that is not NULL. Chunks that do not walk are evaluated, by `in_place` if it
 * can. */
static wg_status all_chunks(const wgi_scan_run *r, const wgi_scan_stage *stage,
                            const wgi_scan_pass *pass, wgi_in_place *in_place, wgi_in_place *by,
                            size_t step) {
    wgi_scan_in_place *const all = &r->in_place[stage - r->s->stage];
    wgi_scan_chunk c = {.step = step};
    wg_status s = WG_OK;
    do {
        wgi_scan_next_chunk(r, stage, &c);
        if (by == NULL || !walk(r, pass, by, all, pass == &stage->adjoint, &c))
            s = evaluate(r, stage, in_place, pass, &c);
        if (s == WG_OK && wgi_scan_more(r, &c) && wgi_progress_stops(r->s->progress, 0))
            s = WG_ESTOPPED;
    } while (s == WG_OK && wgi_scan_more(r, &c));
    return s;
}

/* Walks through all cells at a time, and leaves residuals if there are to be any. 0: it has
 * not. */
static int walk_all(wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_in_place *in_place,
                    size_t step) {
    const wgi_scan_chunk all = {.step = step, .points = in_place->points};
    if (r->at.residuals != NULL && stage->residuals.entries != 0) {
        if (in_place->forward_walks &&
            walk(r, &stage->value, &in_place->forward, in_place, 0, &all))
            return 1;
        r->at.residuals = NULL;
    }
    return in_place->points != 0 && in_place->value_walks &&
           walk(r, &stage->value, &in_place->value, in_place, 0, &all);
}

wg_status wgi_scan_forward(wgi_scan_run *r, const wgi_scan_stage *stage, size_t step,
                           int tangents) {
    const size_t number = (size_t)(stage - r->s->stage);
    if (r->steps != NULL)
        return wgi_scan_step(r, stage, &r->steps[2 * number + (tangents != 0)], step);
    wgi_scan_in_place *const in_place = &r->in_place[number];
    const wgi_scan_pass *const pass = tangents ? &stage->tangent : &stage->value;
    wgi_in_place *const by = tangents ? &in_place->tangent : &in_place->value;
    const int done = !tangents && walk_all(r, stage, in_place, step);
    /* its last vectors have filled the rim as well */
    if (done && r->apart && in_place->beyond) return WG_OK;
    const wg_status s = done ? WG_OK
                             : all_chunks(r, stage, pass, by,
                                          !tangents && in_place->value_walks ? by : NULL, step);
    for (size_t k = 0; k < pass->f->outputs && s == WG_OK; k++)
        if (pass->out[k].is_field)
            wgi_field_fill(&r->s->field[pass->out[k].at], &r->s->grid,
                           wgi_scan_field_at(r, tangents, pass->out[k].at, 1));
    return s;
}

wg_status wgi_scan_backward(wgi_scan_run *r, const wgi_scan_stage *stage, size_t step) {
    const size_t number = (size_t)(stage - r->s->stage);
    if (r->steps != NULL) return wgi_scan_step(r, stage, &r->steps[2 * number + 1], step);
    wgi_scan_in_place *const in_place = &r->in_place[number];
    wgi_in_place *const by = r->at.residuals != NULL && in_place->backward_walks
                                 ? &in_place->backward
                                 : &in_place->adjoint;
    for (size_t k = 0; k < stage->k->f->outputs; k++) {
        const wgi_drain *const to = &stage->value.out[k];
        if (!to->is_field || (r->apart && !r->s->gathers)) continue;
        (r->s->gathers ? wgi_field_fill : wgi_field_fold)(&r->s->field[to->at], &r->s->grid,
                                                          wgi_scan_field_at(r, 1, to->at, 1));
    }
    return all_chunks(r, stage, &stage->adjoint, &in_place->adjoint,
                      in_place->adjoint_walks ? by : NULL, step);
}

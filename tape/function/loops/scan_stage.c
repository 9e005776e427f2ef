/* SPDX-License-Identifier: MIT */
/* A stage of a step, chunk by chunk: where its inputs come from, its values and tangents, and
 * where these go. */
#include "scan_run.h"

/* ---- fields ----------------------------------------------------------------------------- */

/* Lines of a field, shifted, to a contiguous array, entry after entry; and back. */
static void collect(const wgi_scan_run *r, const wgi_field *f, const double *field,
                    const wgi_scan_chunk *c, double *row) {
    const size_t n = r->s->grid.cells[0];
    for (size_t e = 0; e < f->entries; e++, field += f->size, row += c->stride)
        for (size_t l = 0; l < c->lines; l++)
            memcpy(row + l * n, field + wgi_field_line(f, &r->s->grid, c->first + l),
                   n * sizeof *row);
}

void wgi_scan_spread(const wgi_scan_run *r, const wgi_field *f, double *field,
                     const wgi_scan_chunk *c, const double *row) {
    const size_t n = r->s->grid.cells[0];
    for (size_t e = 0; e < f->entries; e++, field += f->size, row += c->stride)
        for (size_t l = 0; l < c->lines; l++)
            memcpy(field + wgi_field_line(f, &r->s->grid, c->first + l), row + l * n,
                   n * sizeof *row);
}

/* ---- inputs of a stage ------------------------------------------------------------------ */

size_t wgi_scan_number_of(const wgi_scan_run *r, const wgi_feed *from, const wg_argument *a,
                          const wgi_scan_chunk *c) {
    if (wgi_argument_shared(a)) return from->each_step ? c->step : 0;
    return (from->each_step ? c->step * r->s->grid.points : 0) + wgi_scan_first_point(r, c);
}

wg_points wgi_scan_from_field(const wgi_scan_run *r, const wgi_feed *from,
                              const wgi_scan_numbers *n, const wgi_scan_chunk *c,
                              wgi_pieces *p) {
    const wgi_field *const f = &r->s->field[from->field];
    double *const at =
        wgi_scan_field_at(r, n, from->field, from->kind == WGI_FROM_NEXT) + from->shift;
    if (wgi_scan_in_place(f, c))
        return (wg_points){at + wgi_field_line(f, &r->s->grid, c->first), !f->global,
                           (ptrdiff_t)f->size};
    double *const row = wgi_pieces_doubles(p, f->entries * c->stride);
    collect(r, f, at, c, row);
    return (wg_points){row, 1, (ptrdiff_t)c->stride};
}

wg_status wgi_scan_source(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t i,
                          const wgi_scan_numbers *n, const wg_points *fixed,
                          const wgi_scan_chunk *c, wgi_pieces *p, wg_points *x) {
    const wgi_feed *const from = &stage->feed[i];
    const wg_argument *const a = &stage->k->f->input[i];
    if (from->is_field) {
        *x = wgi_scan_from_field(r, from, n, c, p);
        return WG_OK;
    }
    *x = fixed[stage->first_input + i];
    const size_t first = wgi_scan_number_of(r, from, a, c),
                 count = wgi_argument_shared(a) ? 1 : c->points;
    if (from->kind != WGI_FROM_FILL || fixed != r->value) {
        if (x->data != NULL) x->data += (ptrdiff_t)first * x->point;
        return WG_OK;
    }
    const size_t entries = wgi_argument_size(a);
    double *const to = wgi_pieces_doubles(p, entries * count);
    *x = (wg_points){to, (ptrdiff_t)entries, 1};
    const wg_status s = count != 0 ? from->fill(first, count, to, from->user) : WG_OK;
    if (s != WG_OK)
        wgi_why(r->b, r->why, "the callback of input %s, in step %zu, returned %s", a->name,
                c->step, wg_status_text(s));
    return s;
}

wg_status wgi_scan_values(const wgi_scan_run *r, const wgi_scan_stage *stage,
                          const wgi_scan_chunk *c, wgi_pieces *p) {
    wg_status s = WG_OK;
    for (size_t i = 0; i < stage->k->f->inputs && s == WG_OK; i++)
        s = wgi_scan_source(r, stage, i, &r->at, r->value, c, p, &r->x[i]);
    return s;
}

wg_status wgi_scan_evaluate(const wgi_scan_run *r, const wgi_scan_stage *stage,
                            wgi_strip *strip, const wg_function *f, const wgi_scan_chunk *c) {
    wg_function_guard guard = {0, 0};
    if (wgi_strip_run(strip, c->points, r->x, r->y)) return WG_OK;
    const wg_status s =
        wg_function_evaluate(f, c->points, r->x, r->y, r->s->threads, r->work, &guard);
    if (s == WG_EGUARD)
        wgi_why(r->b, r->why,
                "guard %zu of stage %zu came out differently in step %zu, cell %zu",
                guard.guard, (size_t)(stage - r->s->stage), c->step,
                wgi_scan_first_point(r, c) + guard.point);
    return s;
}

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
        c->stride = wgi_scan_round_up(c->points);
        return;
    }
    const size_t left = g->lines - c->first;
    c->lines = c->rows = r->s->chunk < left ? r->s->chunk : left;
    c->length = n;
    c->points = c->lines * n;
    c->stride = wgi_scan_round_up(c->points);
}

/* ---- forward through a stage ------------------------------------------------------------ */

/* Where output k of a chunk is written: in place, or in workspace; NULL: it is not wanted. */
static wg_results outlet(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t k,
                         const wgi_scan_numbers *n, int bar, const wgi_scan_chunk *c,
                         wgi_pieces *p) {
    const wg_argument *const y = &stage->k->f->output[k];
    const wgi_drain *const to = &stage->drain[k];
    const size_t entries = wgi_argument_size(y);
    if (to->is_field && !wgi_argument_summed(y)) {
        const wgi_field *const f = &r->s->field[to->at];
        if (wgi_scan_in_place(f, c))
            return (wg_results){wgi_scan_field_at(r, n, to->at, 1) +
                                    wgi_field_line(f, &r->s->grid, c->first),
                                1, (ptrdiff_t)f->size};
        return (wg_results){wgi_pieces_doubles(p, entries * c->stride), 1,
                            (ptrdiff_t)c->stride};
    }
    if (!to->is_field && !r->results) return (wg_results){NULL, 0, 0};
    if (wgi_argument_summed(y)) return (wg_results){wgi_pieces_doubles(p, entries), 0, 1};
    double *const all = bar ? r->b->out[to->at].bar : r->b->out[to->at].value;
    return (wg_results){all + (c->step * r->s->grid.points + wgi_scan_first_point(r, c)) *
                                  entries,
                        (ptrdiff_t)entries, 1};
}

double *wgi_scan_sums_at(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t k,
                         const wgi_scan_numbers *n, int bar, size_t step) {
    const wgi_drain *const to = &stage->drain[k];
    if (to->is_field) return wgi_scan_field_at(r, n, to->at, 1);
    double *const all = bar ? r->b->out[to->at].bar : r->b->out[to->at].value;
    return all + (r->s->sums_by_step ? step * wgi_argument_size(&stage->k->f->output[k]) : 0);
}

/* Where the sums of output k over the cells begin, or go on; NULL: they are not wanted. */
static double *sum_from(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t k,
                        const wgi_scan_numbers *n, int bar, const wgi_scan_chunk *c) {
    const int is_field = stage->drain[k].is_field;
    if (!is_field && !r->results) return NULL;
    double *const sum = wgi_scan_sums_at(r, stage, k, n, bar, c->step);
    if (is_field && c->first == 0)
        memset(sum, 0, wgi_argument_size(&stage->k->f->output[k]) * sizeof *sum);
    return sum;
}

/* What was evaluated, to where it belongs. */
static void pour(const wgi_scan_run *r, const wgi_scan_stage *stage, const wgi_scan_numbers *n,
                 int bar, const wgi_scan_chunk *c) {
    for (size_t k = 0; k < stage->k->f->outputs; k++) {
        const wgi_drain *const to = &stage->drain[k];
        const wg_argument *const y = &stage->k->f->output[k];
        if (r->y[k].data == NULL) continue;
        if (wgi_argument_summed(y)) {
            double *const sum = sum_from(r, stage, k, n, bar, c);
            for (size_t e = 0; e < wgi_argument_size(y); e++) sum[e] += r->y[k].data[e];
        } else if (to->is_field && !wgi_scan_in_place(&r->s->field[to->at], c)) {
            wgi_scan_spread(r, &r->s->field[to->at], wgi_scan_field_at(r, n, to->at, 1), c,
                            r->y[k].data);
        }
    }
}

int wgi_scan_shared(const wgi_scan_run *r, const wgi_scan_stage *stage, const wgi_scan_chunk *c,
                    wgi_pieces *p) {
    for (size_t l = 0; l < stage->shares; l++) {
        const size_t i = stage->shared[l];
        if (wgi_scan_source(r, stage, i, &r->at, r->value, c, p, &r->x[i]) != WG_OK) return 0;
    }
    return 1;
}

/* Values of a chunk whose rows are known; 0: not in this way. */
static inline int walk(const wgi_scan_run *r, const wgi_scan_stage *stage, wgi_strip *by,
                       ptrdiff_t further, int beyond, const wgi_scan_chunk *c) {
    wgi_pieces p = {(char *)r->room, 0};
    if (stage->shares != 0 && !wgi_scan_shared(r, stage, c, &p)) return 0;
    if (!wgi_strip_walk(by, c->points, further, beyond, r->x)) return 0;
    for (size_t l = 0; l < stage->sums; l++) {
        double *const sum = sum_from(r, stage, stage->summed[l], &r->at, 0, c);
        const size_t entries = wgi_argument_size(&stage->k->f->output[stage->summed[l]]);
        for (size_t e = 0; sum != NULL && e < entries; e++) sum[e] += wgi_strip_sum(by, l, e);
    }
    return 1;
}

static wg_status all_chunks(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t step,
                            int tangents) {
    const wg_function *const f = stage->k->f, *const fn = tangents ? stage->k->jvp : f;
    const wgi_scan_numbers *const n = tangents ? &r->dot : &r->at;
    wgi_scan_strips *const strip = &r->strip[stage - r->s->stage];
    wgi_scan_chunk c = {.step = step};
    do {
        wgi_pieces p = {(char *)r->room, 0};
        wgi_scan_next_chunk(r, stage, &c);
        if (!tangents && strip->value_walks &&
            walk(r, stage, &strip->value, wgi_scan_further(r, &c), strip->beyond, &c))
            continue;
        wg_status s = wgi_scan_values(r, stage, &c, &p);
        for (size_t i = 0, at = f->inputs; tangents && i < f->inputs && s == WG_OK; i++)
            if (wgi_argument_active(&f->input[i]))
                s = wgi_scan_source(r, stage, i, &r->dot, r->tangent, &c, &p, &r->x[at++]);
        for (size_t k = 0; k < f->outputs && s == WG_OK; k++)
            r->y[k] = outlet(r, stage, k, n, tangents, &c, &p);
        if (s == WG_OK)
            s = wgi_scan_evaluate(r, stage, tangents ? &strip->tangent : &strip->value, fn, &c);
        if (s != WG_OK) return s;
        pour(r, stage, n, tangents, &c);
    } while (wgi_scan_more(r, &c));
    return WG_OK;
}

/* All cells at a time; 0: not so. */
static int walk_all(wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_strips *strip,
                    size_t step) {
    const wgi_scan_chunk all = {.step = step, .points = strip->points};
    if (r->at.kept != NULL && stage->kept.entries != 0) {
        if (strip->keeping_walks && walk(r, stage, &strip->keeping, 0, strip->beyond, &all))
            return 1;
        r->at.kept = NULL;
    }
    return strip->points != 0 && strip->value_walks &&
           walk(r, stage, &strip->value, 0, strip->beyond, &all);
}

wg_status wgi_scan_forward(wgi_scan_run *r, const wgi_scan_stage *stage, size_t step,
                           int tangents) {
    const wgi_scan_numbers *const n = tangents ? &r->dot : &r->at;
    wgi_scan_strips *const strip = &r->strip[stage - r->s->stage];
    const int done = !tangents && walk_all(r, stage, strip, step);
    if (done && r->apart && strip->beyond) return WG_OK; /* it wrote beyond the cells, too */
    const wg_status s = done ? WG_OK : all_chunks(r, stage, step, tangents);
    for (size_t k = 0; k < stage->k->f->outputs && s == WG_OK; k++)
        if (stage->drain[k].is_field)
            wgi_field_fill(&r->s->field[stage->drain[k].at], &r->s->grid,
                           wgi_scan_field_at(r, n, stage->drain[k].at, 1));
    return s;
}

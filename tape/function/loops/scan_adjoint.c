/* SPDX-License-Identifier: MIT */
/* The adjoint of a stage, chunk by chunk: back through its function, and from the adjoints of
 * its inputs to the fields and matrices that they were read from. */
#include "scan_run.h"

/* The adjoint of output k. */
static wg_points weight(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t k,
                        const wgi_scan_chunk *c, wgi_pieces *p) {
    const wg_argument *const y = &stage->k->f->output[k];
    const wgi_drain *const to = &stage->drain[k];
    if (to->is_field) {
        const wgi_feed from = {.kind = WGI_FROM_NEXT, .is_field = 1, .field = to->at};
        return wgi_scan_from_field(r, &from, &r->dot, c, p);
    }
    const size_t entries = wgi_argument_size(y);
    if (wgi_argument_summed(y))
        return (wg_points){wgi_scan_sums_at(r, stage, k, &r->dot, 1, c->step), 0, 1};
    const size_t first = c->step * r->s->grid.points + wgi_scan_first_point(r, c);
    return (wg_points){r->b->out[to->at].bar + first * entries, (ptrdiff_t)entries, 1};
}

/* Workspace for the adjoint of an input, its entries in the order of what it is added to. */
static wg_results basin(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t i,
                        const wgi_scan_chunk *c, wgi_pieces *p) {
    const wgi_feed *const from = &stage->feed[i];
    const wg_argument *const a = &stage->k->f->input[i];
    const size_t entries = wgi_argument_size(a),
                 points = wgi_argument_shared(a) ? 1 : c->stride;
    const wg_block_arg *const x = wgi_scan_matrix_of(r, from);
    if (!wgi_scan_wanted(r, from)) return (wg_results){NULL, 0, 0};
    double *const to = wgi_pieces_doubles(p, entries * points);
    ptrdiff_t point = 1, entry;
    if (!from->is_field && !wgi_argument_shared(a))
        (void)wgi_points_of(x->rows, x->cols, x->bar_ld, x->trans, entries, &point, &entry);
    if (wgi_argument_shared(a) || point != 1) return (wg_results){to, (ptrdiff_t)entries, 1};
    return (wg_results){to, 1, (ptrdiff_t)points};
}

/* One value: of all cells, or of the only one. */
static void add_to_global(const wgi_scan_run *r, const wgi_feed *from, wg_results w) {
    const wgi_field *const f = &r->s->field[from->field];
    double *const to =
        wgi_scan_field_at(r, &r->dot, from->field, from->kind == WGI_FROM_NEXT) + from->shift;
    for (size_t e = 0; e < f->entries; e++)
        to[f->origin + e * f->size] += w.data[(ptrdiff_t)e * w.entry];
}

/* Rows for places that do not meet are added one after the other. */
static void add_row(size_t n, wgi_rows *rows, double *to, const double *from) {
    const ptrdiff_t far = (ptrdiff_t)n / 2, skip = rows->count == 0 ? 0 : to - rows->to[0];
    if (rows->count == WGI_MOST_ROWS || skip > far || skip < -far) {
        wgi_rows_add(n, rows);
        rows->count = 0;
    }
    rows->to[rows->count] = to;
    rows->from[rows->count++] = from;
}

/* The adjoints of fields, line by line, of all neighbours in the line together. */
static void add_to_fields(const wgi_scan_run *r, size_t count, const wgi_scan_stream *in,
                          const wgi_scan_chunk *c) {
    const size_t n = c->length;
    for (size_t l = 0; l < c->rows; l++) {
        wgi_rows rows = {.count = 0};
        for (size_t i = 0; i < count; i++) {
            double *const to =
                in[i].to + wgi_field_line(in[i].field, &r->s->grid, c->first + l);
            for (size_t e = 0; e < in[i].field->entries; e++)
                add_row(n, &rows, to + e * in[i].field->size,
                        in[i].from + e * c->stride + l * n);
        }
        wgi_rows_add(n, &rows);
    }
}

static void add_to_matrix(const wgi_scan_run *r, const wgi_feed *from, const wg_argument *a,
                          const wgi_scan_chunk *c, wg_results w) {
    wg_block_arg *const x = wgi_scan_matrix_of(r, from);
    const size_t entries = wgi_argument_size(a);
    wg_results bar = {x->bar, 0, 1};
    if (!wgi_points_of(x->rows, x->cols, x->bar_ld, x->trans, entries, &bar.point,
                       &bar.entry)) {
        wgi_points_add(x, w.data, x->bar, x->bar_ld);
        return;
    }
    bar.data += (ptrdiff_t)wgi_scan_number_of(r, from, a, c) * bar.point;
    wgi_points_accumulate(wgi_argument_shared(a) ? 1 : c->points, entries,
                          (wg_points){w.data, w.point, w.entry}, bar);
}

static void add_to_shared(const wgi_scan_run *r, const wgi_scan_stage *stage,
                          const wgi_scan_chunk *c) {
    const wg_function *const f = stage->k->f;
    for (size_t l = 0; l < stage->shares; l++) {
        const size_t i = stage->shared[l];
        const wgi_feed *const from = &stage->feed[i];
        if (!wgi_argument_active(&f->input[i])) continue;
        const wg_results w = r->y[stage->adjoint[l]];
        if (w.data == NULL) continue;
        if (from->is_field) add_to_global(r, from, w);
        else add_to_matrix(r, from, &f->input[i], c, w);
    }
}

/* The adjoint of a chunk whose rows are known; 0: not in this way. */
static int walk_back(const wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_strips *s,
                     const wgi_scan_chunk *c, wgi_pieces *p) {
    wgi_strip *const by = r->at.kept != NULL && s->kept_walks ? &s->kept : &s->adjoint;
    const wg_function *const f = stage->k->f;
    if (!wgi_scan_shared(r, stage, c, p)) return 0;
    for (size_t l = 0; l < stage->sums; l++)
        r->x[f->inputs + stage->summed[l]] = weight(r, stage, stage->summed[l], c, p);
    for (size_t l = 0; l < stage->shares; l++)
        if (wgi_argument_active(&f->input[stage->shared[l]]))
            r->y[stage->adjoint[l]] = basin(r, stage, stage->shared[l], c, p);
    const ptrdiff_t skip = wgi_scan_further(r, c);
    const int done = wgi_strip_walk(by, c->points, skip, s->beyond, r->x);
    /* zeros again, behind what the rows hold now */
    const size_t written =
        wgi_scan_most(s->filled, s->beyond ? wgi_scan_round_up(c->points) : c->points);
    for (size_t k = 0; k < s->adjoint.results && written > c->points && !r->apart; k++)
        wgi_scan_clear(s->basin + k * s->pitch + s->pad + c->points, written - c->points);
    s->filled = c->points;
    if (!done) return 0;
    wgi_strip_sums(by, r->y);
    for (size_t k = 0; k < s->meetings; k++) {
        const wgi_scan_meeting *const m = &s->meeting[k];
        const double *row[WGI_MOST_ROWS];
        const ptrdiff_t first = m->place.skip + skip + m->low;
        const ptrdiff_t low = m->low - first % WGI_GRID_LANES;
        for (size_t i = 0; i < m->count; i++)
            row[i] = s->basin + m->row[i] * s->pitch + s->pad + (low - m->apart[i]);
        wgi_rows_gather(m->count, *m->place.base + m->place.skip + skip + low, row,
                        (m->rows - 1) * s->pitch +
                            wgi_scan_round_up((size_t)((ptrdiff_t)c->points + m->high - low)));
    }
    add_to_shared(r, stage, c);
    return 1;
}

wg_status wgi_scan_backward(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t step) {
    const wg_function *const f = stage->k->f;
    for (size_t k = 0; k < f->outputs && !r->apart; k++)
        if (stage->drain[k].is_field)
            wgi_field_fold(&r->s->field[stage->drain[k].at], &r->s->grid,
                           wgi_scan_field_at(r, &r->dot, stage->drain[k].at, 1));
    wgi_scan_strips *const strip = &r->strip[stage - r->s->stage];
    wgi_scan_chunk c = {.step = step};
    do {
        wgi_pieces p = {(char *)r->room, 0};
        wgi_scan_next_chunk(r, stage, &c);
        if (strip->adjoint_walks && walk_back(r, stage, strip, &c, &p)) continue;
        p.used = 0;
        wg_status s = wgi_scan_values(r, stage, &c, &p);
        for (size_t k = 0; k < f->outputs && s == WG_OK; k++)
            r->x[f->inputs + k] = weight(r, stage, k, &c, &p);
        for (size_t i = 0, at = 0; i < f->inputs && s == WG_OK; i++)
            if (wgi_argument_active(&f->input[i])) r->y[at++] = basin(r, stage, i, &c, &p);
        if (s == WG_OK) s = wgi_scan_evaluate(r, stage, &strip->adjoint, stage->k->vjp, &c);
        if (s != WG_OK) return s;
        size_t streams = 0;
        for (size_t i = 0, at = 0; i < f->inputs; i++) {
            if (!wgi_argument_active(&f->input[i])) continue;
            const wg_results w = r->y[at++];
            const wgi_feed *const from = &stage->feed[i];
            if (w.data == NULL) continue;
            if (!from->is_field) add_to_matrix(r, from, &f->input[i], &c, w);
            else if (w.point != 1 || r->s->field[from->field].global) add_to_global(r, from, w);
            else
                r->in[streams++] = (wgi_scan_stream){
                    &r->s->field[from->field],
                    wgi_scan_field_at(r, &r->dot, from->field, from->kind == WGI_FROM_NEXT) +
                        from->shift,
                    w.data};
        }
        add_to_fields(r, streams, r->in, &c);
    } while (wgi_scan_more(r, &c));
    return WG_OK;
}

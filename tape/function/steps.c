/* SPDX-License-Identifier: MIT */
/* The operation of wg_scan: through the steps, forward and backward.
 *
 * A stage is evaluated on some lines of the grid at a time: on one where that stands in place;
 * on several with the rim between them, where that does no harm: adjoints of the rim are 0; or
 * on lines that are collected in workspace. */
#include "rows.h"
#include "scan.h"

#include <string.h>

static int shared(const wg_argument *a) { return (a->flags & WG_SHARED) != 0; }
static int active(const wg_argument *a) { return (a->flags & WG_PASSIVE) == 0; }
static int summed(const wg_argument *a) { return (a->flags & WG_SUMMED) != 0; }

/* Values, or tangents, or adjoints, of a step. */
typedef struct numbers {
    double *old, *next, *passing;
} numbers;

/* Adjoints of an input on their way to a field. */
typedef struct stream {
    const wgi_field *field;
    double *to; /* shifted */
    const double *from;
} stream;

typedef struct run {
    wg_block *b;
    const wgi_scan *s;
    char *why;
    wg_points *x;
    wg_results *y;
    stream *in;
    wg_points *value, *tangent; /* of all inputs that are matrices or data: point 0 */
    double *room;               /* of a stage */
    void *work;
    numbers at, dot; /* dot: tangents or adjoints */
    wgi_loop loop;
    int results; /* are they wanted? */
} run;

/* ---- workspace -------------------------------------------------------------------------- */

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

static size_t points_of_chunk(const wgi_scan *s, const wgi_scan_stage *stage) {
    if (stage->flat != 0) return (stage->flat - 1) * s->line + s->grid.cells[0];
    return most(s->chunk * s->grid.cells[0], 1);
}

/* What a stage takes from its room, at most: inputs and their tangents or adjoints, outputs. */
static size_t room_of(const wgi_scan *s, const wgi_scan_stage *stage) {
    wgi_pieces p = {NULL, 0};
    const size_t points = points_of_chunk(s, stage);
    const wg_function *const f = stage->k->f;
    for (size_t i = 0; i < f->inputs; i++)
        for (int twice = 0; twice < 2; twice++)
            (void)wgi_pieces_doubles(&p, points * wgi_argument_size(&f->input[i]));
    for (size_t k = 0; k < f->outputs; k++)
        (void)wgi_pieces_doubles(&p, points * wgi_argument_size(&f->output[k]));
    return p.used;
}

/* Matrices that have no strides are those of one point: of inputs that are shared, or where
 * there is one cell. */
static size_t copies_of(const wgi_scan *s) {
    wgi_pieces p = {NULL, 0};
    for (size_t k = 0; k < s->stages; k++) {
        const wg_function *const f = s->stage[k].k->f;
        for (size_t i = 0; i < f->inputs; i++)
            for (int twice = 0; twice < 2; twice++)
                if (s->stage[k].feed[i].kind == WGI_FROM_MATRIX)
                    (void)wgi_pieces_doubles(&p, wgi_argument_size(&f->input[i]));
    }
    return p.used;
}

static size_t lay_out(run *r, const wgi_scan *s, void *saved, void *work, size_t *kept) {
    wgi_pieces p = {(char *)work, 0}, keep = {(char *)saved, 0};
    size_t inputs = 0, outputs = 0, room = 0, evaluation = 0;
    r->s = s;
    for (size_t k = 0; k < s->stages; k++) {
        inputs = most(inputs, s->stage[k].k->inputs_most);
        outputs = most(outputs, s->stage[k].k->outputs_most);
        room = most(room, room_of(s, &s->stage[k]));
        evaluation = most(evaluation, wgi_callable_work(s->stage[k].k, s->threads));
    }
    r->loop.steps = s->steps;
    r->loop.stored = s->stored;
    r->loop.size = s->state_size;
    wgi_loop_keep(&r->loop, &keep);
    if (kept != NULL) *kept = keep.used;
    r->why = wgi_pieces_take(&p, WGI_WHY);
    r->x = wgi_pieces_take(&p, inputs * sizeof *r->x);
    r->y = wgi_pieces_take(&p, outputs * sizeof *r->y);
    r->in = wgi_pieces_take(&p, inputs * sizeof *r->in);
    r->value = wgi_pieces_take(&p, s->inputs * sizeof *r->value);
    r->tangent = wgi_pieces_take(&p, s->inputs * sizeof *r->tangent);
    wgi_loop_work(&r->loop, &p);
    r->at.next = wgi_pieces_doubles(&p, s->state_size);
    r->at.passing = wgi_pieces_doubles(&p, s->passing_size);
    r->dot.old = wgi_pieces_doubles(&p, s->state_size);
    r->dot.next = wgi_pieces_doubles(&p, s->state_size);
    r->dot.passing = wgi_pieces_doubles(&p, s->passing_size);
    r->room = wgi_pieces_take(&p, room + copies_of(s));
    if (work != NULL) r->work = p.base + p.used;
    return p.used + evaluation;
}

/* ---- matrices and data ------------------------------------------------------------------ */

static wg_points points_of(const wg_block_arg *a, size_t entries, int bar, wgi_pieces *p) {
    const double *const from = bar ? a->bar : a->value;
    const size_t ld = bar ? a->bar_ld : a->ld;
    wg_points x = {from, 0, 1};
    if (from == NULL ||
        wgi_points_of(a->rows, a->cols, ld, a->trans, entries, &x.point, &x.entry))
        return x;
    double *const copy = wgi_pieces_doubles(p, entries);
    wgi_points_copy(a, from, ld, copy);
    return (wg_points){copy, 0, 1};
}

/* All that does not change from step to step; the room of stages begins behind it. */
static void prepare(run *r, int tangents) {
    wgi_pieces p = {(char *)r->room, 0};
    for (size_t k = 0; k < r->s->stages; k++) {
        const wgi_scan_stage *const stage = &r->s->stage[k];
        for (size_t i = 0; i < stage->k->f->inputs; i++) {
            const wgi_feed *const from = &stage->feed[i];
            const size_t n = wgi_argument_size(&stage->k->f->input[i]);
            wg_points *const x = &r->value[stage->first_input + i];
            wg_points *const dx = &r->tangent[stage->first_input + i];
            *x = from->data;
            *dx = (wg_points){NULL, 0, 0};
            if (from->kind != WGI_FROM_MATRIX) continue;
            *x = points_of(&r->b->in[from->operand], n, 0, &p);
            if (tangents) *dx = points_of(&r->b->in[from->operand], n, 1, &p);
        }
    }
    r->room = (double *)(void *)((char *)r->room + p.used);
}

/* Some lines of the grid. */
typedef struct chunk {
    size_t step, first, lines, points;
    size_t rows, length; /* as they stand in memory: of lines with what is between them one */
} chunk;

/* ---- fields ----------------------------------------------------------------------------- */

static double *field_at(const run *r, const numbers *n, uint32_t field, int next) {
    const wgi_field *const f = &r->s->field[field];
    if (field >= r->s->states) return n->passing + f->at;
    return (next ? n->next : n->old) + f->at;
}

/* Lines of a field, shifted, to a contiguous array, entry after entry; and back. */
static void collect(const run *r, const wgi_field *f, const double *field, const chunk *c,
                    double *row) {
    const size_t n = r->s->grid.cells[0];
    for (size_t e = 0; e < f->entries; e++, field += f->size)
        for (size_t l = c->first; l < c->first + c->lines; l++, row += n)
            memcpy(row, field + wgi_field_line(f, &r->s->grid, l), n * sizeof *row);
}

static void spread(const run *r, const wgi_field *f, double *field, const chunk *c,
                   const double *row) {
    const size_t n = r->s->grid.cells[0];
    for (size_t e = 0; e < f->entries; e++, field += f->size)
        for (size_t l = c->first; l < c->first + c->lines; l++, row += n)
            memcpy(field + wgi_field_line(f, &r->s->grid, l), row, n * sizeof *row);
}

/* ---- inputs of a stage ------------------------------------------------------------------ */

static size_t first_point(const run *r, const chunk *c) {
    return c->first * r->s->grid.cells[0];
}

/* The number of the first point in a source. */
static size_t number_of(const run *r, const wgi_feed *from, const wg_argument *a,
                        const chunk *c) {
    if (shared(a)) return from->each_step ? c->step : 0;
    return (from->each_step ? c->step * r->s->grid.points : 0) + first_point(r, c);
}

/* May a field be read in place? */
static int in_place(const wgi_field *f, const chunk *c) { return f->global || c->rows <= 1; }

static wg_points from_field(const run *r, const wgi_feed *from, const numbers *n,
                            const chunk *c, wgi_pieces *p) {
    const wgi_field *const f = &r->s->field[from->field];
    double *const at = field_at(r, n, from->field, from->kind == WGI_FROM_NEXT) + from->shift;
    if (in_place(f, c))
        return (wg_points){at + wgi_field_line(f, &r->s->grid, c->first), !f->global,
                           (ptrdiff_t)f->size};
    double *const row = wgi_pieces_doubles(p, f->entries * c->points);
    collect(r, f, at, c, row);
    return (wg_points){row, 1, (ptrdiff_t)c->points};
}

/* Values of input i (or, from `n` and `fixed`, tangents). */
static wg_status source(const run *r, const wgi_scan_stage *stage, size_t i, const numbers *n,
                        const wg_points *fixed, const chunk *c, wgi_pieces *p, wg_points *x) {
    const wgi_feed *const from = &stage->feed[i];
    const wg_argument *const a = &stage->k->f->input[i];
    if (from->kind == WGI_FROM_STATE || from->kind == WGI_FROM_NEXT) {
        *x = from_field(r, from, n, c, p);
        return WG_OK;
    }
    *x = fixed[stage->first_input + i];
    const size_t first = number_of(r, from, a, c), count = shared(a) ? 1 : c->points;
    if (from->kind != WGI_FROM_FILL || fixed != r->value) {
        if (x->data != NULL) x->data += (ptrdiff_t)first * x->point;
        return WG_OK;
    }
    const size_t entries = wgi_argument_size(a);
    double *const to = wgi_pieces_doubles(p, entries * count);
    *x = (wg_points){to, (ptrdiff_t)entries, 1};
    const wg_status s = count != 0 ? from->fill(first, count, to, from->user) : WG_OK;
    if (s != WG_OK)
        wgi_why(r->b, r->why, "the callback of input %s, in step %zu, returned %d", a->name,
                c->step, (int)s);
    return s;
}

static wg_status values(const run *r, const wgi_scan_stage *stage, const chunk *c,
                        wgi_pieces *p) {
    wg_status s = WG_OK;
    for (size_t i = 0; i < stage->k->f->inputs && s == WG_OK; i++)
        s = source(r, stage, i, &r->at, r->value, c, p, &r->x[i]);
    return s;
}

static wg_status evaluate(const run *r, const wgi_scan_stage *stage, const wg_function *f,
                          const chunk *c) {
    wg_function_guard guard = {0, 0};
    const wg_status s =
        wg_function_evaluate(f, c->points, r->x, r->y, r->s->threads, r->work, &guard);
    if (s == WG_EGUARD)
        wgi_why(r->b, r->why,
                "guard %zu of stage %zu came out differently in step %zu, cell %zu",
                guard.guard, (size_t)(stage - r->s->stage), c->step,
                first_point(r, c) + guard.point);
    return s;
}

static void next_chunk(const run *r, const wgi_scan_stage *stage, chunk *c) {
    const wgi_grid *const g = &r->s->grid;
    const size_t n = g->cells[0];
    c->first += c->lines;
    if (stage->flat != 0) { /* within a plane */
        const size_t left = g->cells[1] - c->first % g->cells[1];
        c->lines = stage->flat < left ? stage->flat : left;
        c->rows = 1;
        c->points = c->length = (c->lines - 1) * r->s->line + n;
        return;
    }
    const size_t left = g->lines - c->first;
    c->lines = c->rows = r->s->chunk < left ? r->s->chunk : left;
    c->length = n;
    c->points = c->lines * n;
}

static int more(const run *r, const chunk *c) { return c->first + c->lines < r->s->grid.lines; }

/* ---- forward through a stage ------------------------------------------------------------ */

/* Where output k of a chunk is written: in place, or in workspace; NULL: it is not wanted. */
static wg_results outlet(const run *r, const wgi_scan_stage *stage, size_t k, const numbers *n,
                         int bar, const chunk *c, wgi_pieces *p) {
    const wg_argument *const y = &stage->k->f->output[k];
    const wgi_drain *const to = &stage->drain[k];
    const size_t entries = wgi_argument_size(y);
    if (to->is_field && !summed(y)) {
        const wgi_field *const f = &r->s->field[to->at];
        if (in_place(f, c))
            return (wg_results){field_at(r, n, to->at, 1) +
                                    wgi_field_line(f, &r->s->grid, c->first),
                                1, (ptrdiff_t)f->size};
        return (wg_results){wgi_pieces_doubles(p, entries * c->points), 1,
                            (ptrdiff_t)c->points};
    }
    if (!to->is_field && !r->results) return (wg_results){NULL, 0, 0};
    if (summed(y)) return (wg_results){wgi_pieces_doubles(p, entries), 0, 1};
    double *const all = bar ? r->b->out[to->at].bar : r->b->out[to->at].value;
    return (wg_results){all + (c->step * r->s->grid.points + first_point(r, c)) * entries,
                        (ptrdiff_t)entries, 1};
}

/* Where the sums of an output stand. */
static double *sums_at(const run *r, const wgi_scan_stage *stage, size_t k, const numbers *n,
                       int bar, size_t step) {
    const wgi_drain *const to = &stage->drain[k];
    if (to->is_field) return field_at(r, n, to->at, 1);
    double *const all = bar ? r->b->out[to->at].bar : r->b->out[to->at].value;
    return all + (r->s->sums_by_step ? step * wgi_argument_size(&stage->k->f->output[k]) : 0);
}

/* What was evaluated, to where it belongs. */
static void pour(const run *r, const wgi_scan_stage *stage, const numbers *n, int bar,
                 const chunk *c) {
    for (size_t k = 0; k < stage->k->f->outputs; k++) {
        const wgi_drain *const to = &stage->drain[k];
        const wg_argument *const y = &stage->k->f->output[k];
        if (r->y[k].data == NULL) continue;
        if (summed(y)) {
            double *const sum = sums_at(r, stage, k, n, bar, c->step);
            if (to->is_field && c->first == 0)
                memset(sum, 0, wgi_argument_size(y) * sizeof *sum);
            for (size_t e = 0; e < wgi_argument_size(y); e++) sum[e] += r->y[k].data[e];
        } else if (to->is_field && !in_place(&r->s->field[to->at], c)) {
            spread(r, &r->s->field[to->at], field_at(r, n, to->at, 1), c, r->y[k].data);
        }
    }
}

/* Values of the outputs; with tangents, those instead. */
static wg_status forward(const run *r, const wgi_scan_stage *stage, size_t step, int tangents) {
    const wg_function *const f = stage->k->f, *const fn = tangents ? stage->k->jvp : f;
    const numbers *const n = tangents ? &r->dot : &r->at;
    chunk c = {.step = step};
    do {
        wgi_pieces p = {(char *)r->room, 0};
        next_chunk(r, stage, &c);
        wg_status s = values(r, stage, &c, &p);
        for (size_t i = 0, at = f->inputs; tangents && i < f->inputs && s == WG_OK; i++)
            if (active(&f->input[i]))
                s = source(r, stage, i, &r->dot, r->tangent, &c, &p, &r->x[at++]);
        for (size_t k = 0; k < f->outputs && s == WG_OK; k++)
            r->y[k] = outlet(r, stage, k, n, tangents, &c, &p);
        if (s == WG_OK) s = evaluate(r, stage, fn, &c);
        if (s != WG_OK) return s;
        pour(r, stage, n, tangents, &c);
    } while (more(r, &c));
    for (size_t k = 0; k < f->outputs; k++)
        if (stage->drain[k].is_field)
            wgi_field_fill(&r->s->field[stage->drain[k].at], &r->s->grid,
                           field_at(r, n, stage->drain[k].at, 1));
    return WG_OK;
}

/* ---- backward through a stage ----------------------------------------------------------- */

/* The adjoint of output k. */
static wg_points weight(const run *r, const wgi_scan_stage *stage, size_t k, const chunk *c,
                        wgi_pieces *p) {
    const wg_argument *const y = &stage->k->f->output[k];
    const wgi_drain *const to = &stage->drain[k];
    if (to->is_field) {
        const wgi_feed from = {.kind = WGI_FROM_NEXT, .field = to->at};
        return from_field(r, &from, &r->dot, c, p);
    }
    const size_t entries = wgi_argument_size(y);
    if (summed(y)) return (wg_points){sums_at(r, stage, k, &r->dot, 1, c->step), 0, 1};
    const size_t first = c->step * r->s->grid.points + first_point(r, c);
    return (wg_points){r->b->out[to->at].bar + first * entries, (ptrdiff_t)entries, 1};
}

/* The matrix of input i, if its adjoint is wanted. */
static wg_block_arg *matrix_of(const run *r, const wgi_feed *from) {
    if (from->kind != WGI_FROM_MATRIX) return NULL;
    wg_block_arg *const a = &r->b->in[from->operand];
    return a->bar != NULL ? a : NULL;
}

static int from_a_field(const wgi_feed *from) {
    return from->kind == WGI_FROM_STATE || from->kind == WGI_FROM_NEXT;
}

/* Workspace for the adjoint of an input, its entries in the order of what it is added to. */
static wg_results basin(const run *r, const wgi_scan_stage *stage, size_t i, const chunk *c,
                        wgi_pieces *p) {
    const wgi_feed *const from = &stage->feed[i];
    const wg_argument *const a = &stage->k->f->input[i];
    const size_t entries = wgi_argument_size(a), points = shared(a) ? 1 : c->points;
    const wg_block_arg *const x = matrix_of(r, from);
    if (x == NULL && !from_a_field(from)) return (wg_results){NULL, 0, 0};
    double *const to = wgi_pieces_doubles(p, entries * points);
    ptrdiff_t point = 1, entry;
    if (x != NULL && !shared(a))
        (void)wgi_points_of(x->rows, x->cols, x->bar_ld, x->trans, entries, &point, &entry);
    if (shared(a) || point != 1) return (wg_results){to, (ptrdiff_t)entries, 1};
    return (wg_results){to, 1, (ptrdiff_t)points};
}

/* One value: of all cells, or of the only one. */
static void add_to_global(const run *r, const wgi_feed *from, wg_results w) {
    const wgi_field *const f = &r->s->field[from->field];
    double *const to =
        field_at(r, &r->dot, from->field, from->kind == WGI_FROM_NEXT) + from->shift;
    for (size_t e = 0; e < f->entries; e++)
        to[f->origin + e * f->size] += w.data[(ptrdiff_t)e * w.entry];
}

/* Rows for places that are far apart are added one after the other. */
static void add_row(size_t n, wgi_rows *rows, double *to, const double *from) {
    const size_t near = 16;
    if (rows->count == WGI_MOST_ROWS ||
        (rows->count != 0 && (size_t)(to - rows->to[0]) + near > 2 * near)) {
        wgi_rows_add(n, rows);
        rows->count = 0;
    }
    rows->to[rows->count] = to;
    rows->from[rows->count++] = from;
}

/* The adjoints of fields, line by line, of all neighbours in the line together. */
static void add_to_fields(const run *r, size_t count, const stream *in, const chunk *c) {
    const size_t n = c->length;
    for (size_t l = 0; l < c->rows; l++) {
        wgi_rows rows = {.count = 0};
        for (size_t i = 0; i < count; i++) {
            double *const to =
                in[i].to + wgi_field_line(in[i].field, &r->s->grid, c->first + l);
            for (size_t e = 0; e < in[i].field->entries; e++)
                add_row(n, &rows, to + e * in[i].field->size,
                        in[i].from + e * c->points + l * n);
        }
        wgi_rows_add(n, &rows);
    }
}

static void add_to_matrix(const run *r, const wgi_feed *from, const wg_argument *a,
                          const chunk *c, wg_results w) {
    wg_block_arg *const x = matrix_of(r, from);
    const size_t entries = wgi_argument_size(a);
    wg_results bar = {x->bar, 0, 1};
    if (!wgi_points_of(x->rows, x->cols, x->bar_ld, x->trans, entries, &bar.point,
                       &bar.entry)) {
        wgi_points_add(x, w.data, x->bar, x->bar_ld);
        return;
    }
    bar.data += (ptrdiff_t)number_of(r, from, a, c) * bar.point;
    wgi_points_accumulate(shared(a) ? 1 : c->points, entries,
                          (wg_points){w.data, w.point, w.entry}, bar);
}

static wg_status backward(const run *r, const wgi_scan_stage *stage, size_t step) {
    const wg_function *const f = stage->k->f;
    for (size_t k = 0; k < f->outputs; k++)
        if (stage->drain[k].is_field)
            wgi_field_fold(&r->s->field[stage->drain[k].at], &r->s->grid,
                           field_at(r, &r->dot, stage->drain[k].at, 1));
    chunk c = {.step = step};
    do {
        wgi_pieces p = {(char *)r->room, 0};
        next_chunk(r, stage, &c);
        wg_status s = values(r, stage, &c, &p);
        for (size_t k = 0; k < f->outputs && s == WG_OK; k++)
            r->x[f->inputs + k] = weight(r, stage, k, &c, &p);
        for (size_t i = 0, at = 0; i < f->inputs && s == WG_OK; i++)
            if (active(&f->input[i])) r->y[at++] = basin(r, stage, i, &c, &p);
        if (s == WG_OK) s = evaluate(r, stage, stage->k->vjp, &c);
        if (s != WG_OK) return s;
        size_t streams = 0;
        for (size_t i = 0, at = 0; i < f->inputs; i++) {
            if (!active(&f->input[i])) continue;
            const wg_results w = r->y[at++];
            const wgi_feed *const from = &stage->feed[i];
            if (w.data == NULL) continue;
            if (!from_a_field(from)) add_to_matrix(r, from, &f->input[i], &c, w);
            else if (w.point != 1 || r->s->field[from->field].global) add_to_global(r, from, w);
            else
                r->in[streams++] =
                    (stream){&r->s->field[from->field],
                             field_at(r, &r->dot, from->field, from->kind == WGI_FROM_NEXT) +
                                 from->shift,
                             w.data};
        }
        add_to_fields(r, streams, r->in, &c);
    } while (more(r, &c));
    return WG_OK;
}

/* ---- steps ------------------------------------------------------------------------------ */

static wg_status advance(void *context, size_t step, const double *from, double *to) {
    run *const r = context;
    const double *const next = r->at.next;
    r->at.old = (double *)(uintptr_t)from; /* it is read only */
    r->at.next = to;
    wg_status s = WG_OK;
    for (size_t k = 0; k < r->s->stages && s == WG_OK; k++)
        s = forward(r, &r->s->stage[k], step, 0);
    r->at.next = (double *)(uintptr_t)next;
    return s;
}

static void clear(double *x, size_t n) {
    if (n != 0) memset(x, 0, n * sizeof *x);
}

static wg_status adjoint(void *context, size_t step, const double *state) {
    run *const r = context;
    const wgi_scan *const s = r->s;
    wg_status status = WG_OK;
    r->at.old = (double *)(uintptr_t)state;
    for (size_t k = 0; k < s->stages && status == WG_OK; k++)
        if (s->stage[k].again) status = forward(r, &s->stage[k], step, 0);
    clear(r->dot.old, s->state_size);
    clear(r->dot.passing, s->passing_size);
    for (size_t k = s->stages; k-- > 0 && status == WG_OK;)
        status = backward(r, &s->stage[k], step);
    double *const before = r->dot.old;
    r->dot.old = r->dot.next;
    r->dot.next = before;
    return status;
}

/* ---- states as matrices ----------------------------------------------------------------- */

/* Element q of a matrix, in the order of its columns. */
static size_t element(const wg_block_arg *a, size_t q, size_t ld) {
    const size_t i = q % a->rows, j = q / a->rows;
    return a->trans ? j + i * ld : i + j * ld;
}

typedef enum { READ, WRITE, ADD } direction;

/* Between a matrix (its values or bars) and the cells of a field. */
static void exchange(const run *r, const wg_block_arg *a, double *matrix, size_t ld,
                     uint32_t field, double *at, direction what) {
    const wgi_field *const f = &r->s->field[field];
    const size_t n = f->global ? 1 : r->s->grid.cells[0];
    const size_t count = f->global ? 1 : r->s->grid.lines;
    for (size_t l = 0, q = 0; l < count; l++) {
        double *const line = at + f->at + wgi_field_line(f, &r->s->grid, l);
        for (size_t i = 0; i < n; i++)
            for (size_t e = 0; e < f->entries; e++, q++) {
                double *const x = &line[i + e * f->size], *const y = &matrix[element(a, q, ld)];
                if (what == READ) *x = *y;
                else if (what == WRITE) *y = *x;
                else *y += *x;
            }
    }
}

static void start(const run *r, int bar, double *to) {
    clear(to, r->s->state_size);
    for (uint32_t k = 0; k < r->s->states; k++) {
        const wg_block_arg *const a = &r->b->in[k];
        if (bar && a->bar == NULL) continue;
        exchange(r, a, bar ? a->bar : a->value, bar ? a->bar_ld : a->ld, k, to, READ);
        wgi_field_fill(&r->s->field[k], &r->s->grid, to + r->s->field[k].at);
    }
}

static void finish(const run *r, int bar, const double *from) {
    for (uint32_t k = 0; k < r->s->states; k++) {
        const wg_block_arg *const a = &r->b->out[k];
        exchange(r, a, bar ? a->bar : a->value, bar ? a->bar_ld : a->ld, k,
                 (double *)(uintptr_t)from, WRITE);
    }
}

/* Sums begin at 0. */
static void clear_sums(const run *r, int bar) {
    for (size_t k = 0; k < r->s->stages; k++)
        for (size_t j = 0; j < r->s->stage[k].k->f->outputs; j++) {
            const wgi_drain *const to = &r->s->stage[k].drain[j];
            if (to->is_field || !summed(&r->s->stage[k].k->f->output[j])) continue;
            const wg_block_arg *const y = &r->b->out[to->at];
            clear(bar ? y->bar : y->value, y->rows * y->cols);
        }
}

/* ---- the operation ---------------------------------------------------------------------- */

static void open(run *r, wg_block *b, int tangents) {
    memset(r, 0, sizeof *r);
    r->b = b;
    (void)lay_out(r, *(const wgi_scan *const *)b->params, b->saved, b->work, NULL);
    r->loop.context = r;
    r->loop.advance = advance;
    r->loop.adjoint = adjoint;
    prepare(r, tangents);
}

static wg_status value(wg_block *b) {
    run r;
    open(&r, b, 0);
    r.results = 1;
    clear_sums(&r, 0);
    start(&r, 0, r.loop.state);
    const double *last = NULL;
    const wg_status s = wgi_loop_forward(&r.loop, &last);
    if (s == WG_OK) finish(&r, 0, last);
    return s;
}

static wg_status vjp(wg_block *b) {
    run r;
    open(&r, b, 0);
    clear(r.dot.next, r.s->state_size);
    for (uint32_t k = 0; k < r.s->states; k++)
        exchange(&r, &b->out[k], b->out[k].bar, b->out[k].bar_ld, k, r.dot.next, READ);
    const wg_status s = wgi_loop_reverse(&r.loop);
    for (uint32_t k = 0; k < r.s->states && s == WG_OK; k++) {
        if (b->in[k].bar == NULL) continue;
        wgi_field_fold(&r.s->field[k], &r.s->grid, r.dot.next + r.s->field[k].at);
        exchange(&r, &b->in[k], b->in[k].bar, b->in[k].bar_ld, k, r.dot.next, ADD);
    }
    return s;
}

static wg_status jvp(wg_block *b) {
    run r;
    open(&r, b, 1);
    clear_sums(&r, 1);
    r.at.old = r.loop.spare;
    r.at.next = r.loop.spare + r.loop.size;
    start(&r, 0, r.at.old);
    start(&r, 1, r.dot.old);
    for (size_t step = 0; step < r.s->steps; step++) {
        for (size_t k = 0; k < r.s->stages; k++) {
            r.results = 0;
            wg_status s = forward(&r, &r.s->stage[k], step, 0);
            r.results = 1;
            if (s == WG_OK) s = forward(&r, &r.s->stage[k], step, 1);
            if (s != WG_OK) return s;
        }
        const numbers at = r.at, dot = r.dot;
        r.at.old = at.next, r.at.next = at.old;
        r.dot.old = dot.next, r.dot.next = dot.old;
    }
    finish(&r, 1, r.dot.old);
    return WG_OK;
}

static wg_status shape(wg_block *b) {
    const wgi_scan *const s = *(const wgi_scan *const *)b->params;
    for (uint32_t k = 0; k < s->states; k++)
        b->out[k].rows = b->in[k].rows, b->out[k].cols = b->in[k].cols;
    for (size_t k = 0; k < s->stages; k++)
        for (size_t j = 0; j < s->stage[k].k->f->outputs; j++) {
            const wg_argument *const y = &s->stage[k].k->f->output[j];
            const wgi_drain *const to = &s->stage[k].drain[j];
            if (to->is_field) continue;
            const int own = summed(y) && !s->sums_by_step;
            b->out[to->at].rows = own ? y->rows : wgi_argument_size(y);
            b->out[to->at].cols = own         ? y->cols
                                  : summed(y) ? s->steps
                                              : s->steps * s->grid.points;
        }
    run r;
    memset(&r, 0, sizeof r);
    b->work_bytes = lay_out(&r, s, NULL, NULL, &b->saved_bytes);
    return WG_OK;
}

const wg_block_op wgi_op_scan = {.name = "wg_scan",
                                 .flags = WG_OP_TRANS,
                                 .shape = shape,
                                 .value = value,
                                 .vjp = vjp,
                                 .jvp = jvp};

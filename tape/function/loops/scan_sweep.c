/* SPDX-License-Identifier: MIT */
/* The operation of wg_scan: forward and backward through the steps. scan_run.h says how. */
#include "flatten_call.h"
#include "scan_run.h"

/* ---- states as matrices ----------------------------------------------------------------- */

/* Where element q of a matrix stands, counted in the order of its columns. */
static size_t element(const wg_block_arg *a, size_t q, size_t ld) {
    const size_t i = q % a->rows, j = q / a->rows;
    return a->trans ? j + i * ld : i + j * ld;
}

typedef enum { READ, WRITE, ADD } direction;

/* Moves n numbers that stand next to each other. */
static void move_row(size_t n, double *x, double *y, direction what) {
    if (what == READ) memcpy(x, y, n * sizeof *x);
    else if (what == WRITE) memcpy(y, x, n * sizeof *x);
    else wgi_points_accumulate(n, 1, (wg_points){x, 1, 0}, (wg_results){y, 1, 0});
}

/* Moves numbers between a matrix, its values or its bar, from point `first` on, and the cells
 * of a field. */
static void exchange(const wgi_scan_run *r, const wg_block_arg *a, int bar, size_t first,
                     uint32_t field, double *at, direction what) {
    const wgi_field *const f = &r->s->field[field];
    const size_t n = f->global ? 1 : r->s->grid.cells[0];
    const size_t count = f->global ? 1 : r->s->grid.lines;
    double *const matrix = bar ? a->bar : a->value;
    const size_t ld = bar ? a->bar_ld : a->ld;
    ptrdiff_t point, entry;
    const int straight =
        wgi_points_of(a->rows, a->cols, ld, a->trans, f->entries, &point, &entry) && point == 1;
    for (size_t l = 0, q = first * f->entries; l < count; l++) {
        double *const line = at + f->at + wgi_field_line(f, &r->s->grid, l);
        if (straight) {
            for (size_t e = 0; e < f->entries; e++)
                move_row(n, line + e * f->size, matrix + first + l * n + (size_t)entry * e,
                         what);
            continue;
        }
        for (size_t i = 0; i < n; i++)
            for (size_t e = 0; e < f->entries; e++, q++) {
                double *const x = &line[i + e * f->size], *const y = &matrix[element(a, q, ld)];
                if (what == READ) *x = *y;
                else if (what == WRITE) *y = *x;
                else *y += *x;
            }
    }
}

static void read_data(const wgi_scan_run *r, const wgi_feed *from, size_t first, double *at) {
    const wgi_field *const f = &r->s->field[from->field];
    const double *x = from->data.data + (ptrdiff_t)first * from->data.point;
    const size_t n = r->s->grid.cells[0];
    for (size_t l = 0; l < r->s->grid.lines; l++, x += (ptrdiff_t)n * from->data.point) {
        double *const line = at + f->at + wgi_field_line(f, &r->s->grid, l);
        for (size_t e = 0; e < f->entries; e++)
            if (from->data.point == 1)
                memcpy(line + e * f->size, x + (ptrdiff_t)e * from->data.entry, n * sizeof *x);
            else
                for (size_t i = 0; i < n; i++)
                    line[e * f->size + i] =
                        x[(ptrdiff_t)i * from->data.point + (ptrdiff_t)e * from->data.entry];
    }
}

/* Reads values, or tangents, of a matrix or of data, from point `first` on. The rim outside a
 * border repeats the outermost cells, so that nothing unusual is computed there. */
static void read_given(const wgi_scan_run *r, int bar, const wgi_feed *from, size_t first) {
    double *const to = bar ? r->dot.given : r->at.given;
    const wgi_field *const f = &r->s->field[from->field];
    const wg_block_arg *const a = &r->b->in[from->operand];
    if (from->kind == WGI_FROM_DATA && !bar) read_data(r, from, first, to);
    else if (from->kind == WGI_FROM_MATRIX && (!bar || a->bar != NULL))
        exchange(r, a, bar, first, from->field, to, READ);
    wgi_field_fill(f, &r->beyond, to + f->at);
}

static void add_given(const wgi_scan_run *r, const wgi_feed *from, size_t first) {
    wg_block_arg *const a = wgi_scan_matrix_of(r, from);
    if (a != NULL) exchange(r, a, 1, first, from->field, r->dot.given, ADD);
}

/* Reads what is the same in all steps; what belongs to this one. */
static void read_steady(const wgi_scan_run *r, int bar) {
    for (size_t k = 0; k < r->steady; k++) read_given(r, bar, r->given[k], 0);
}

static void read_step(const wgi_scan_run *r, int bar, size_t step) {
    for (size_t k = r->steady; k < r->givens; k++)
        read_given(r, bar, r->given[k], step * r->s->grid.points);
}

/* Adds the adjoints of what belongs to this step to its matrices, and clears them. */
static void add_step(const wgi_scan_run *r, size_t step) {
    for (size_t k = r->steady; k < r->givens; k++) {
        const wgi_field *const f = &r->s->field[r->given[k]->field];
        if (wgi_scan_matrix_of(r, r->given[k]) == NULL) continue;
        add_given(r, r->given[k], step * r->s->grid.points);
        wgi_clear(r->dot.given + f->at, f->entries * f->size);
    }
}

/* ---- traced scans ----------------------------------------------------------------------- */

/* Is a cell of this field NaN, or, unless it is an adjoint, infinite? */
static int is_odd(const wgi_scan_run *r, const wgi_field *f, int adjoint, const double *at) {
    const size_t n = f->global ? 1 : r->s->grid.cells[0];
    const size_t count = f->global ? 1 : r->s->grid.lines;
    for (size_t l = 0; l < count; l++)
        for (size_t e = 0; e < f->entries; e++) {
            const double *const x =
                at + f->at + wgi_field_line(f, &r->s->grid, l) + e * f->size;
            for (size_t i = 0; i < n; i++)
                if (adjoint ? x[i] != x[i] : !(x[i] - x[i] == 0)) return 1;
        }
    return 0;
}

/* Says which state is the first that is odd, and after which step. */
static wg_status look_at_states(const wgi_scan_run *r, size_t step, const double *at) {
    for (uint32_t k = 0; r->s->traced && k < r->s->states; k++)
        if (is_odd(r, &r->s->field[k], 0, at)) {
            wgi_why(r->b, r->why, "state %u is NaN or infinite after step %zu", k, step);
            return WG_ENONFINITE;
        }
    return WG_OK;
}

/* The same of adjoints, before this step. States that start from constants have none there. */
static wg_status look_at_adjoints(const wgi_scan_run *r, size_t step) {
    const int traced = r->s->traced && *r->s->sweep_traced;
    for (uint32_t k = 0; traced && k < r->s->states; k++)
        if ((step != 0 || r->b->in[k].bar != NULL) &&
            is_odd(r, &r->s->field[k], 1, r->dot.old)) {
            wgi_why(r->b, r->why, "the adjoint of state %u becomes NaN in step %zu", k, step);
            return WG_ENONFINITE;
        }
    return WG_OK;
}

/* ---- steps ------------------------------------------------------------------------------ */

static double *residuals_of(const wgi_scan_run *r, size_t step) {
    return r->residuals + step * r->s->residual_size;
}

static wg_status advance(void *context, size_t step, const double *from, double *to) {
    wgi_scan_run *const r = context;
    const double *const next = r->at.next;
    r->at.old = (double *)(uintptr_t)from; /* it is only read */
    r->at.next = to;
    r->at.residuals = r->hands_on ? residuals_of(r, step) : NULL;
    wg_status s = WG_OK;
    read_step(r, 0, step);
    for (size_t k = 0; k < r->s->stages && s == WG_OK; k++)
        s = wgi_scan_forward(r, &r->s->stage[k], step, 0);
    if (r->hands_on) r->has_residuals[step] = r->at.residuals != NULL;
    r->at.next = (double *)(uintptr_t)next;
    return s == WG_OK ? look_at_states(r, step, to) : s;
}

/* Clears the adjoints that no stage sets. */
static void clear_unset(const wgi_scan_run *r) {
    for (uint32_t n = 0; n < r->s->fields; n++) {
        const wgi_field *const f = &r->s->field[n];
        if (r->s->unset[n]) wgi_clear(wgi_scan_field_at(r, 1, n, 0), f->entries * f->size);
    }
}

static wg_status adjoint(void *context, size_t step, const double *state) {
    wgi_scan_run *const r = context;
    const wgi_scan *const s = r->s;
    wg_status status = WG_OK;
    r->at.old = (double *)(uintptr_t)state;
    read_step(r, 0, step);
    r->at.residuals = NULL;
    for (size_t k = 0; k < s->stages && status == WG_OK; k++)
        if (s->stage[k].again) status = wgi_scan_forward(r, &s->stage[k], step, 0);
    if (s->residual_size != 0 && r->has_residuals[step])
        r->at.residuals = residuals_of(r, step);
    if (s->gathers) {
        clear_unset(r);
    } else {
        wgi_clear(r->dot.old, s->state_size);
        wgi_clear(r->dot.passing, s->passing_size);
    }
    for (size_t k = s->stages; k-- > 0 && status == WG_OK;)
        status = wgi_scan_backward(r, &s->stage[k], step);
    if (status == WG_OK) add_step(r, step);
    if (status == WG_OK) status = look_at_adjoints(r, step);
    double *const before = r->dot.old;
    r->dot.old = r->dot.next;
    r->dot.next = before;
    return status;
}

static void start(const wgi_scan_run *r, int bar, double *to) {
    wgi_clear(to, r->s->state_size);
    for (uint32_t k = 0; k < r->s->states; k++) {
        const wg_block_arg *const a = &r->b->in[k];
        if (bar && a->bar == NULL) continue;
        exchange(r, a, bar, 0, k, to, READ);
        wgi_field_fill(&r->s->field[k], &r->s->grid, to + r->s->field[k].at);
    }
}

static void finish(const wgi_scan_run *r, int bar, const double *from) {
    for (uint32_t k = 0; k < r->s->states; k++) {
        const wg_block_arg *const a = &r->b->out[k];
        exchange(r, a, bar, 0, k, (double *)(uintptr_t)from, WRITE);
    }
}

/* Sets all sums to 0. */
static void clear_sums(const wgi_scan_run *r, int bar) {
    for (size_t k = 0; k < r->s->stages; k++)
        for (size_t j = 0; j < r->s->stage[k].k->f->outputs; j++) {
            const wgi_drain *const to = &r->s->stage[k].value.out[j];
            if (to->is_field || !wgi_argument_summed(&r->s->stage[k].k->f->output[j])) continue;
            const wg_block_arg *const y = &r->b->out[to->at];
            wgi_clear(bar ? y->bar : y->value, y->rows * y->cols);
        }
}

/* ---- the operation ---------------------------------------------------------------------- */

typedef enum { VALUE, ADJOINT, TANGENT } sweep;

static void open(wgi_scan_run *r, wg_block *b, sweep kind) {
    memset(r, 0, sizeof *r);
    r->b = b;
    r->backward = kind == ADJOINT;
    (void)wgi_scan_lay_out(r, *(const wgi_scan *const *)b->params, b->saved, b->work, NULL);
    r->checkpoints.context = r;
    r->checkpoints.advance = advance;
    r->checkpoints.adjoint = adjoint;
    r->checkpoints.progress = r->s->progress;
    wgi_scan_prepare(r, kind == TANGENT);
    wgi_scan_plan(r, kind == ADJOINT);
    for (size_t k = 0; k < r->s->stages && r->steps != NULL; k++) {
        wgi_scan_steps_plan(r, &r->steps[2 * k], kind == VALUE);
        if (kind != VALUE) wgi_scan_steps_plan(r, &r->steps[2 * k + 1], 1);
    }
}

static wg_status value(wg_block *b) {
    wgi_scan_run r;
    open(&r, b, VALUE);
    r.results = 1;
    r.hands_on = r.s->residual_size != 0;
    clear_sums(&r, 0);
    wgi_clear(r.at.given, r.s->given_size);
    read_steady(&r, 0);
    start(&r, 0, r.checkpoints.state);
    const double *last = NULL;
    const wg_status s = wgi_checkpoints_forward(&r.checkpoints, &last);
    if (s == WG_OK) finish(&r, 0, last);
    return s;
}

static wg_status vjp(wg_block *b) {
    wgi_scan_run r;
    open(&r, b, ADJOINT);
    wgi_clear(r.at.given, r.s->given_size);
    wgi_clear(r.dot.given, r.s->given_size);
    read_steady(&r, 0);
    if (!r.s->gathers) wgi_clear(r.dot.next, r.s->state_size);
    for (uint32_t k = 0; k < r.s->states; k++)
        exchange(&r, &b->out[k], 1, 0, k, r.dot.next, READ);
    const wg_status s = wgi_checkpoints_reverse(&r.checkpoints);
    for (uint32_t k = 0; k < r.s->states && s == WG_OK; k++) {
        if (b->in[k].bar == NULL) continue;
        if (!r.s->gathers)
            wgi_field_fold(&r.s->field[k], &r.s->grid, r.dot.next + r.s->field[k].at);
        exchange(&r, &b->in[k], 1, 0, k, r.dot.next, ADD);
    }
    for (size_t k = 0; k < r.steady && s == WG_OK; k++) add_given(&r, r.given[k], 0);
    return s;
}

static wg_status jvp(wg_block *b) {
    wgi_scan_run r;
    open(&r, b, TANGENT);
    clear_sums(&r, 1);
    r.at.old = r.checkpoints.spare;
    r.at.next = r.checkpoints.spare + r.checkpoints.size;
    wgi_clear(r.at.given, r.s->given_size);
    wgi_clear(r.dot.given, r.s->given_size);
    for (int bar = 0; bar < 2; bar++) read_steady(&r, bar);
    start(&r, 0, r.at.old);
    start(&r, 1, r.dot.old);
    wgi_progress_begin(r.s->progress);
    for (size_t step = 0; step < r.s->steps; step++) {
        for (int bar = 0; bar < 2; bar++) read_step(&r, bar, step);
        for (size_t k = 0; k < r.s->stages; k++) {
            r.results = 0;
            wg_status s = wgi_scan_forward(&r, &r.s->stage[k], step, 0);
            r.results = 1;
            if (s == WG_OK) s = wgi_scan_forward(&r, &r.s->stage[k], step, 1);
            if (s != WG_OK) return s;
        }
        if (wgi_progress_stops(r.s->progress, (double)(step + 1) / (double)r.s->steps))
            return WG_ESTOPPED;
        const wgi_scan_numbers at = r.at, dot = r.dot;
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
            const wgi_drain *const to = &s->stage[k].value.out[j];
            if (to->is_field) continue;
            const int own = wgi_argument_summed(y) && !s->sums_by_step;
            b->out[to->at].rows = own ? y->rows : wgi_argument_size(y);
            b->out[to->at].cols = own                      ? y->cols
                                  : wgi_argument_summed(y) ? s->steps
                                                           : s->steps * s->grid.points;
        }
    wgi_scan_run r;
    memset(&r, 0, sizeof r);
    b->work_bytes = wgi_scan_lay_out(&r, s, NULL, NULL, &b->saved_bytes);
    return WG_OK;
}

static const wgi_traits traits = {
    .sets = wgi_sets_of_scan, .hash = wgi_hash_of_scan, .flatten = wgi_flatten_scan};

const wg_block_op wgi_op_scan = {.name = "wg_scan",
                                 .flags = WG_OP_TRANS,
                                 .shape = shape,
                                 .value = value,
                                 .vjp = vjp,
                                 .jvp = jvp,
                                 .traits = &traits};

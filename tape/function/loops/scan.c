/* SPDX-License-Identifier: MIT */
/* wg_scan: the caller describes the steps by names; here they become feeds, drains and fields
 * (scan.h). */
#include "scan.h"

#include "tape/function/graph/repeat.h"

#include <limits.h>
#include <string.h>

static const char call[] = "wg_scan";

typedef struct reading {
    wgi_core *c;
    size_t stages, states;
    const wg_stage *stage;
    const wg_state *state;
    wgi_scan *s;
    size_t operands;
    wg_mat in[WGI_MAX_ARGS];
} reading;

static const wg_function *function_of(const reading *r, size_t stage) {
    return r->stage[stage].f->f;
}

/* ---- names ------------------------------------------------------------------------------ */

static int is_state(const reading *r, const char *name) {
    for (size_t k = 0; k < r->states; k++)
        if (strcmp(r->state[k].name, name) == 0) return 1;
    return 0;
}

/* Is there an output of that name, in one of the first `stages` stages? */
static int is_output(const reading *r, size_t stages, const char *name) {
    for (size_t k = 0; k < stages; k++) {
        const wg_function *const f = function_of(r, k);
        if (wgi_argument_find(f->outputs, f->output, name) != f->outputs) return 1;
    }
    return 0;
}

/* Does a later stage read that output of this stage, before another output has the name? */
static int is_read(const reading *r, size_t stage, const char *name) {
    for (size_t k = stage + 1; k < r->stages; k++) {
        const wg_function *const f = function_of(r, k);
        for (size_t i = 0; i < f->inputs; i++)
            if (r->stage[k].x[i].kind == WGI_FROM_STATE &&
                strcmp(r->stage[k].x[i].name, name) == 0)
                return 1;
        if (wgi_argument_find(f->outputs, f->output, name) != f->outputs) return 0;
    }
    return 0;
}

/* Is there a state that is no output, or a source that is not there when its stage reads it?
 * The number of results is not known then: an output that was meant by such a name counts as a
 * result. */
static int misnamed(const reading *r) {
    for (size_t k = 0; k < r->states; k++)
        if (!is_output(r, r->stages, r->state[k].name)) return 1;
    for (size_t k = 0; k < r->stages; k++)
        for (size_t i = 0; i < function_of(r, k)->inputs; i++) {
            const wg_source *const x = &r->stage[k].x[i];
            if (x->kind < WGI_FROM_STATE) continue;
            const int state = is_state(r, x->name), left = is_output(r, k, x->name);
            if (x->kind == WGI_FROM_STATE ? !state && !left : !state || !left) return 1;
        }
    return 0;
}

static size_t count_results(const reading *r) {
    size_t n = r->states;
    for (size_t k = 0; k < r->stages; k++)
        for (size_t j = 0; j < function_of(r, k)->outputs; j++) {
            const char *const name = function_of(r, k)->output[j].name;
            n += !is_state(r, name) && !is_read(r, k, name);
        }
    return n;
}

/* ---- what is there at all --------------------------------------------------------------- */

static wg_status check_stage(wgi_core *c, size_t k, const wg_stage *stage) {
    if (stage->f == NULL)
        return wgi_fail(c, WG_ENULL, "%s: the callable of stage %zu is NULL", call, k);
    const wg_function *const f = stage->f->f;
    if (stage->x == NULL && f->inputs != 0)
        return wgi_fail(c, WG_ENULL, "%s: the %zu inputs of stage %zu are NULL", call,
                        f->inputs, k);
    for (size_t i = 0; i < f->inputs; i++) {
        const wg_source *const x = &stage->x[i];
        const char *const name = f->input[i].name;
        if (x->kind > WGI_FROM_NEXT)
            return wgi_fail(c, WG_EARG, "%s: input %s of stage %zu has no source", call, name,
                            k);
        if (x->kind >= WGI_FROM_STATE && x->name == NULL)
            return wgi_fail(c, WG_ENULL, "%s: input %s of stage %zu: a name is NULL", call,
                            name, k);
        if (x->kind == WGI_FROM_FILL && x->fill == NULL)
            return wgi_fail(c, WG_ENULL, "%s: input %s of stage %zu: the callback is NULL",
                            call, name, k);
    }
    return WG_OK;
}

static wg_status check_given(const reading *r, const wg_mat *y) {
    if ((r->stages != 0 && r->stage == NULL) || (r->states != 0 && r->state == NULL))
        return wgi_fail(r->c, WG_ENULL, "%s: %zu stages or %zu states are NULL", call,
                        r->stages, r->states);
    for (size_t k = 0; k < r->stages; k++)
        if (check_stage(r->c, k, &r->stage[k]) != WG_OK) return r->c->status;
    for (size_t k = 0; k < r->states; k++) {
        if (r->state[k].name == NULL)
            return wgi_fail(r->c, WG_ENULL, "%s: the name of state %zu is NULL", call, k);
        for (size_t l = 0; l < k; l++)
            if (strcmp(r->state[k].name, r->state[l].name) == 0)
                return wgi_fail(r->c, WG_EARG, "%s: two states have the name %s", call,
                                r->state[k].name);
    }
    if (y == NULL && count_results(r) != 0)
        return wgi_fail(r->c, WG_ENULL, "%s: the %zu results are NULL", call, count_results(r));
    return WG_OK;
}

/* ---- the grid --------------------------------------------------------------------------- */

static wg_status read_grid(reading *r, size_t steps, const wg_scan_options *o) {
    wgi_scan *const s = r->s;
    wgi_grid *const g = &s->grid;
    int given = 0;
    for (int d = 0; o != NULL && d < 3; d++) given |= o->cells[d] != 0;
    g->points = 1;
    for (int d = 0; d < 3; d++) {
        g->cells[d] = given && o->cells[d] != 0 ? o->cells[d] : 1;
        g->boundary[d] = o == NULL ? WG_PERIODIC : o->boundary[d];
        if ((unsigned)g->boundary[d] > WG_ZERO_OUTSIDE)
            return wgi_fail(r->c, WG_EARG, "%s: %d is no boundary", call, (int)g->boundary[d]);
        if (g->cells[d] > INT_MAX / g->points)
            return wgi_fail(r->c, WG_EARG, "%s: %zu by %zu by %zu cells are too many", call,
                            o->cells[0], o->cells[1], o->cells[2]);
        g->points *= g->cells[d];
    }
    g->lines = g->cells[1] * g->cells[2];
    for (size_t k = 0; k < r->stages; k++) g->compiled |= r->stage[k].f->f->native != NULL;
    if (steps > INT_MAX)
        return wgi_fail(r->c, WG_EARG, "%s: %zu steps are too many", call, steps);
    s->steps = steps;
    s->stored = wgi_checkpoints_stored(steps, o == NULL ? 0 : o->stored);
    s->threads = o == NULL ? NULL : o->threads;
    s->progress = wgi_progress_of(r->c);
    s->traced = (r->c->flags & WG_TRACE) != 0;
    s->sweep_traced = &wgi_root_of(r->c)->traced;
    s->sums_by_step = o != NULL && o->sums_by_step != 0;
    /* Long lines are done where they stand, short ones together. On large grids there are
     * enough lines for threads, even if there are none, so that sums do not depend on that;
     * where results do not add up, all lines are done at once. */
    enum { LARGE = 1 << 16, LONG = 192, TOGETHER = 1 << 11, FOR_THREADS = 1 << 15 };
    const size_t together = g->points >= LARGE    ? FOR_THREADS
                            : g->cells[0] >= LONG ? 1
                                                  : TOGETHER;
    s->chunk = (together + g->cells[0] - 1) / g->cells[0];
    for (size_t k = 0; k < r->stages; k++)
        if (!r->stage[k].f->parts) s->chunk = g->lines;
    if (s->chunk > g->lines) s->chunk = g->lines;
    return WG_OK;
}

/* ---- fields ----------------------------------------------------------------------------- */

static wgi_field *new_field(reading *r, const char *name, const wg_argument *a) {
    wgi_field *const f = &r->s->field[r->s->fields++];
    memset(f, 0, sizeof *f);
    f->name = name;
    f->entries = wgi_argument_size(a);
    f->global = wgi_argument_summed(a);
    return f;
}

static wgi_drain field_drain(size_t field) {
    return (wgi_drain){.is_field = 1, .at = (uint32_t)field, .next = 1};
}

/* A state becomes a field, and the output of its name goes there. */
static wg_status read_state(reading *r, size_t n) {
    const char *const name = r->state[n].name;
    const wg_argument *a = NULL;
    for (size_t k = 0; k < r->stages; k++) {
        const wg_function *const f = function_of(r, k);
        const size_t j = wgi_argument_find(f->outputs, f->output, name);
        if (j == f->outputs) continue;
        if (a != NULL)
            return wgi_fail(r->c, WG_EARG, "%s: state %s is an output of two stages", call,
                            name);
        a = &f->output[j];
        r->s->stage[k].value.out[j] = field_drain(n);
    }
    if (a == NULL)
        return wgi_fail(r->c, WG_EARG, "%s: state %s is an output of no stage", call, name);
    const wg_mat *const x = &r->state[n].start;
    const size_t points = wgi_argument_summed(a) ? 1 : r->s->grid.points;
    (void)new_field(r, name, a);
    if (!wgi_points_fit(a, points, x->rows, x->cols))
        return wgi_fail(r->c, WG_ESHAPE,
                        "%s: state %s is %zux%zu, an output of %zux%zu at %zu cells", call,
                        name, x->rows, x->cols, a->rows, a->cols, points);
    if (r->operands == WGI_MAX_ARGS)
        return wgi_fail(r->c, WG_EARG, "%s: state %s is one too many for %d", call, name,
                        WGI_MAX_ARGS);
    r->in[r->operands++] = *x;
    return WG_OK;
}

/* The field that a stage reads by that name; SIZE_MAX: there is none. */
static size_t field_of(reading *r, size_t k, const wg_source *x) {
    for (size_t n = 0; n < r->states; n++)
        if (strcmp(r->state[n].name, x->name) == 0) {
            if (x->kind == WGI_FROM_STATE) return n;
            for (size_t l = 0; l < k; l++)
                for (size_t j = 0; j < function_of(r, l)->outputs; j++)
                    if (r->s->stage[l].value.out[j].is_field &&
                        r->s->stage[l].value.out[j].at == n)
                        return n;
            return SIZE_MAX;
        }
    if (x->kind == WGI_FROM_NEXT) return SIZE_MAX;
    for (size_t l = k; l-- > 0;) {
        const wg_function *const f = function_of(r, l);
        const size_t j = wgi_argument_find(f->outputs, f->output, x->name);
        if (j == f->outputs) continue;
        wgi_drain *const to = &r->s->stage[l].value.out[j];
        if (!to->is_field) {
            *to = field_drain(r->s->fields);
            (void)new_field(r, f->output[j].name, &f->output[j]);
        }
        return to->at;
    }
    return SIZE_MAX;
}

static wg_status read_neighbour(reading *r, size_t k, const wg_argument *a, const wg_source *x,
                                wgi_feed *to) {
    const size_t field = field_of(r, k, x);
    if (field == SIZE_MAX)
        return wgi_fail(
            r->c, WG_EARG,
            "%s: input %s of stage %zu: no %s and no output of an earlier stage has "
            "the name %s",
            call, a->name, k, x->kind == WGI_FROM_NEXT ? "new state" : "state", x->name);
    wgi_field *const f = &r->s->field[field];
    to->is_field = 1;
    to->field = (uint32_t)field;
    if (f->entries != wgi_argument_size(a))
        return wgi_fail(r->c, WG_ESHAPE,
                        "%s: input %s of stage %zu is %zux%zu, %s has %zu entries", call,
                        a->name, k, a->rows, a->cols, f->name, f->entries);
    if (wgi_argument_shared(a) != f->global && r->s->grid.points != 1)
        return wgi_fail(r->c, WG_EARG, "%s: input %s of stage %zu is %s, %s has one value %s",
                        call, a->name, k, wgi_argument_shared(a) ? "shared" : "not shared",
                        f->name, f->global ? "for all cells" : "per cell");
    for (int d = 0; d < 3; d++) {
        const ptrdiff_t n = x->offset[d];
        if (n > INT_MAX || n < -INT_MAX || (n != 0 && f->global))
            return wgi_fail(r->c, WG_EARG,
                            "%s: input %s of stage %zu: %s has no neighbour at %td", call,
                            a->name, k, f->name, n);
    }
    wgi_field_reach(f, x->offset);
    return WG_OK;
}

/* ---- other sources ---------------------------------------------------------------------- */

static wg_status read_matrix(reading *r, size_t k, const wg_argument *a, const wg_source *x,
                             wgi_feed *to) {
    const wg_mat *const m = &x->matrix;
    const size_t cells = wgi_argument_shared(a) ? 1 : r->s->grid.points;
    const size_t points = cells * (x->each_step ? r->s->steps : 1);
    to->operand = (uint32_t)r->operands;
    if (!wgi_points_fit(a, points, m->rows, m->cols) ||
        (wgi_argument_shared(a) && !x->each_step && (m->rows != a->rows || m->cols != a->cols)))
        return wgi_fail(r->c, WG_ESHAPE,
                        "%s: input %s of stage %zu is %zux%zu, not %zux%zu for %zu points",
                        call, a->name, k, m->rows, m->cols, a->rows, a->cols, points);
    if (r->operands == WGI_MAX_ARGS)
        return wgi_fail(r->c, WG_EARG,
                        "%s: input %s of stage %zu is one matrix too many for %d", call,
                        a->name, k, WGI_MAX_ARGS);
    r->in[r->operands++] = *m;
    return WG_OK;
}

static wg_status read_source(reading *r, size_t k, size_t i) {
    const wg_argument *const a = &function_of(r, k)->input[i];
    const wg_source *const x = &r->stage[k].x[i];
    wgi_feed *const to = &r->s->stage[k].value.in[i];
    to->kind = x->kind, to->each_step = x->each_step;
    to->data = x->data, to->fill = x->fill, to->user = x->user;
    const wgi_grid *const g = &r->s->grid;
    if (x->kind <= WGI_FROM_DATA && !wgi_argument_shared(a) && g->cells[0] >= WGI_GRID_LANES &&
        (g->compiled || r->stage[k].f->stencil != NULL || (!x->each_step && g->cells[1] > 1))) {
        to->is_field = 1;
        to->field = (uint32_t)r->s->fields;
        new_field(r, a->name, a)->given = 1;
    }
    if (x->kind == WGI_FROM_MATRIX) return read_matrix(r, k, a, x, to);
    if (x->kind >= WGI_FROM_STATE) return read_neighbour(r, k, a, x, to);
    const size_t points =
        (wgi_argument_shared(a) ? 1 : r->s->grid.points) * (x->each_step ? r->s->steps : 1);
    if (x->kind == WGI_FROM_DATA && x->data.data == NULL && points != 0 &&
        wgi_argument_size(a) != 0)
        return wgi_fail(r->c, WG_ENULL, "%s: input %s of stage %zu: the data are NULL", call,
                        a->name, k);
    return WG_OK;
}

/* ---- where everything stands ------------------------------------------------------------ */

/* Makes room for the feeds of all inputs and one more, and for the drains of all outputs. */
static void open_pass(reading *r, wgi_scan_pass *pass, const wg_function *f) {
    wg_tape *const t = &r->c->head;
    pass->f = f;
    pass->in = wg_tape_keep(t, (f->inputs + 1) * sizeof *pass->in, NULL);
    pass->out = wg_tape_keep(t, (f->outputs + 1) * sizeof *pass->out, NULL);
    if (r->c->status != WG_OK) return;
    memset(pass->in, 0, (f->inputs + 1) * sizeof *pass->in);
    memset(pass->out, 0, (f->outputs + 1) * sizeof *pass->out);
}

/* Makes room for the scan. */
static wg_status make_room(reading *r) {
    size_t inputs = 0, outputs = 0;
    for (size_t k = 0; k < r->stages; k++) {
        inputs += function_of(r, k)->inputs;
        outputs += function_of(r, k)->outputs;
    }
    wg_tape *const t = &r->c->head;
    r->s = wg_tape_keep(t, sizeof *r->s, NULL);
    wgi_scan_stage *const stage = wg_tape_keep(t, (r->stages + 1) * sizeof *stage, NULL);
    wgi_field *const field =
        wg_tape_keep(t, (r->states + inputs + outputs + 1) * sizeof *field, NULL);
    if (r->c->status != WG_OK) return r->c->status;
    memset(r->s, 0, sizeof *r->s);
    r->s->stages = r->stages;
    r->s->states = r->states;
    r->s->inputs = inputs;
    r->s->stage = stage;
    r->s->field = field;
    for (uint32_t k = 0, number = 0; k < r->stages && r->c->status == WG_OK; k++) {
        const wg_callable *const f = r->stage[k].f;
        memset(&stage[k], 0, sizeof stage[k]);
        stage[k].k = f;
        open_pass(r, &stage[k].value, f->f);
        open_pass(r, &stage[k].tangent, f->jvp);
        open_pass(r, &stage[k].adjoint, f->vjp);
        for (size_t i = 0; i < f->f->inputs && r->c->status == WG_OK; i++)
            stage[k].value.in[i].number = number++;
    }
    return r->c->status;
}

/* Gives all fields of cells the same rim, so that lines are equally far apart in all of them.
 */
static void share_rim(wgi_scan *s) {
    size_t lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
    for (size_t n = 0; n < s->fields; n++)
        for (int d = 0; d < 3; d++) {
            if (s->field[n].lo[d] > lo[d]) lo[d] = s->field[n].lo[d];
            if (s->field[n].hi[d] > hi[d]) hi[d] = s->field[n].hi[d];
        }
    for (size_t n = 0; n < s->fields; n++) {
        if (s->field[n].global) continue;
        memcpy(s->field[n].lo, lo, sizeof lo);
        memcpy(s->field[n].hi, hi, sizeof hi);
        wgi_field_align(&s->field[n], &s->grid);
        s->line = s->field[n].lo[0] + s->grid.cells[0] + s->field[n].hi[0];
    }
    for (size_t k = 0; k < s->stages; k++) {
        memcpy(s->stage[k].residuals.lo, lo, sizeof lo);
        memcpy(s->stage[k].residuals.hi, hi, sizeof hi);
        wgi_field_align(&s->stage[k].residuals, &s->grid);
    }
}

/* Residuals are stored for every step if all states are, and if both together do not need much
 * memory; only stages that do all cells at a time have them. */
static void lay_out_residuals(wgi_scan *s) {
    enum { MOST = 1 << 20 };
    const wgi_grid *const g = &s->grid;
    size_t size = 0;
    if (s->gathers || s->stored < s->steps || s->steps == 0 || g->cells[0] < WGI_GRID_LANES)
        return;
    for (size_t k = 0; k < s->stages; k++) {
        wgi_field *const f = &s->stage[k].residuals;
        const size_t flat = s->stage[k].flat;
        if (s->stage[k].k->backward == NULL) continue;
        if (g->lines > 1 && (g->cells[2] > 1 || flat < g->cells[1])) continue;
        f->entries =
            wgi_argument_size(&s->stage[k].k->forward->output[s->stage[k].k->f->outputs]);
        f->at = size;
        if (f->entries > MOST || g->points > MOST) return;
        size += wgi_field_lay_out(f, g);
        size = wgi_grid_round_up(size);
        if (size > MOST / s->steps) return;
    }
    s->residual_size = size;
}

/* How many lines a stage may do at a time with the rim between them; 0: it may not. Its inputs
 * have to be fields of cells or shared, there must be no comparisons, not even in repeats, and
 * the rim must not be large. */
static size_t flat_lines(const wgi_scan *s, const wgi_scan_stage *stage) {
    const wg_callable *const k = stage->k;
    const wgi_grid *const g = &s->grid;
    if (g->cells[1] <= 1 || s->line - g->cells[0] > g->cells[0] / 4) return 0;
    if (!k->parts || wgi_repeat_guards(k->f) + wgi_repeat_guards(k->vjp) != 0 ||
        wgi_repeat_guards(k->jvp) != 0)
        return 0;
    for (size_t i = 0; i < k->f->inputs; i++)
        if (!stage->value.in[i].is_field && !wgi_argument_shared(&k->f->input[i])) return 0;
    for (size_t j = 0; j < k->f->outputs; j++)
        if (!stage->value.out[j].is_field || s->field[stage->value.out[j].at].global) return 0;
    enum { POINTS = 1 << 12, COMPILED = 1 << 12, LARGE = 1 << 16, FOR_THREADS = 1 << 15 };
    const size_t points = g->points >= LARGE ? FOR_THREADS : g->compiled ? COMPILED : POINTS;
    return (points + g->cells[0] - 1) / g->cells[0];
}

/* The most numbers that are counted, so that neither they nor their bytes overflow. */
#define MOST_NUMBERS ((double)(SIZE_MAX / 1024))

/* Checks an upper bound of what a sweep needs: stored states, the numbers of a step with their
 * tangents or adjoints, and the rows of a stage. */
static wg_status check_size(const reading *r) {
    const wgi_scan *const s = r->s;
    double n = ((double)s->stored + 8) * (double)s->state_size +
               (double)s->stored * (double)s->residual_size +
               4 * ((double)s->passing_size + (double)s->given_size);
    for (size_t k = 0; k < s->stages; k++) {
        const wg_function *const f = function_of(r, k);
        const size_t flat = s->stage[k].flat;
        const double points = flat != 0 ? (double)flat * (double)s->line
                                        : (double)s->chunk * (double)s->grid.cells[0];
        double entries = 1;
        for (size_t i = 0; i < f->inputs; i++)
            entries += (double)wgi_argument_size(&f->input[i]);
        for (size_t j = 0; j < f->outputs; j++)
            entries += (double)wgi_argument_size(&f->output[j]);
        n += 8 * (points + 64) * entries;
    }
    if (n <= MOST_NUMBERS) return WG_OK;
    return wgi_fail(r->c, WG_ENOMEM, "%s: %zu states of %zu numbers are too large", call,
                    s->stored, s->state_size);
}

static wg_status lay_out(reading *r) {
    wgi_scan *const s = r->s;
    double all = 0;
    share_rim(s);
    for (size_t n = 0; n < s->fields; n++) {
        wgi_field *const f = &s->field[n];
        size_t *const size = n < s->states ? &s->state_size
                             : f->given    ? &s->given_size
                                           : &s->passing_size;
        double most = (double)f->entries;
        for (int d = 0; d < 3; d++)
            most *= (double)f->lo[d] + (double)s->grid.cells[d] + (double)f->hi[d];
        all += most + WGI_GRID_LANES;
        if (all > MOST_NUMBERS)
            return wgi_fail(r->c, WG_ENOMEM, "%s: %s is too large", call, f->name);
        f->at = *size;
        *size += wgi_field_lay_out(f, &s->grid);
        if (!f->global) s->plane = f->plane;
        *size = wgi_grid_round_up(*size);
    }
    for (size_t k = 0; k < s->stages; k++)
        for (size_t i = 0; i < function_of(r, k)->inputs; i++) {
            wgi_feed *const from = &s->stage[k].value.in[i];
            if (from->kind >= WGI_FROM_STATE)
                from->shift = wgi_field_shift(&s->field[from->field], r->stage[k].x[i].offset);
        }
    for (size_t k = 0; k < s->stages; k++) s->stage[k].flat = flat_lines(s, &s->stage[k]);
    lay_out_residuals(s);
    s->results = s->states;
    for (size_t k = 0; k < s->stages; k++)
        for (size_t j = 0; j < function_of(r, k)->outputs; j++)
            if (!s->stage[k].value.out[j].is_field)
                s->stage[k].value.out[j].at = (uint32_t)s->results++;
    return check_size(r);
}

/* ---- the passes of a stage -------------------------------------------------------------- */

/* The feeds and drains of the tangent (inputs and their tangents) and of the adjoint (inputs
 * and adjoints of the outputs), in the order of the functions made for them. */
static void feed_derivatives(wgi_scan_stage *stage) {
    const wg_function *const f = stage->k->f;
    const wgi_feed *const in = stage->value.in;
    const wgi_drain *const out = stage->value.out;
    wgi_feed *dot = stage->tangent.in + f->inputs, *weight = stage->adjoint.in + f->inputs;
    wgi_drain *bar = stage->adjoint.out;
    memcpy(stage->tangent.in, in, f->inputs * sizeof *in);
    memcpy(stage->adjoint.in, in, f->inputs * sizeof *in);
    memcpy(stage->tangent.out, out, f->outputs * sizeof *out);
    for (size_t i = 0; i < f->inputs; i++) {
        if (!wgi_argument_active(&f->input[i])) continue;
        *dot = in[i];
        dot++->bar = 1;
        *bar++ = (wgi_drain){in[i].is_field,
                             in[i].field,
                             1,
                             in[i].kind == WGI_FROM_NEXT,
                             1,
                             in[i].is_field ? in[i].shift : 0,
                             &in[i]};
    }
    for (size_t k = 0; k < f->outputs; k++) {
        stage->tangent.out[k].bar = 1;
        *weight++ = (wgi_feed){.kind = out[k].is_field ? WGI_FROM_NEXT : WGI_FROM_RESULT,
                               .bar = 1,
                               .is_field = out[k].is_field,
                               .operand = out[k].at,
                               .field = out[k].at};
    }
    *weight = (wgi_feed){.kind = WGI_FROM_RESIDUALS, .is_field = 1};
}

static wg_status lay_out_passes(reading *r) {
    wgi_scan *const s = r->s;
    for (size_t k = 0; k < s->stages; k++) feed_derivatives(&s->stage[k]);
    return wgi_scan_stencils_lay_out(r->c, s);
}

/* ---- all of it -------------------------------------------------------------------------- */

/* Does an input read what an output of an earlier stage has left in this step? */
static int connected(const wgi_scan *s, const wgi_feed *from, const wgi_drain *to) {
    if (!to->is_field || from->kind < WGI_FROM_STATE || from->field != to->at) return 0;
    return from->kind == WGI_FROM_NEXT || from->field >= s->states;
}

/* Finds the stages that have to be evaluated again before adjoints are computed. */
static void note_again(wgi_scan *s) {
    for (size_t k = s->stages; k-- > 0;)
        for (size_t l = k + 1; l < s->stages; l++)
            for (size_t i = 0; i < s->stage[l].k->f->inputs; i++)
                for (size_t j = 0; j < s->stage[k].k->f->outputs; j++)
                    if ((s->stage[l].again || s->stage[l].k->reads[i]) &&
                        connected(s, &s->stage[l].value.in[i], &s->stage[k].value.out[j]))
                        s->stage[k].again = 1;
}

static wg_status read_all(reading *r, size_t steps, const wg_scan_options *o) {
    wg_status s = make_room(r);
    if (s == WG_OK) s = read_grid(r, steps, o);
    for (size_t n = 0; n < r->states && s == WG_OK; n++) s = read_state(r, n);
    for (size_t k = 0; k < r->stages && s == WG_OK; k++)
        for (size_t i = 0; i < function_of(r, k)->inputs && s == WG_OK; i++)
            s = read_source(r, k, i);
    if (s == WG_OK) wgi_scan_stencils_read(r->s, r->stage);
    if (s == WG_OK) s = lay_out(r);
    if (s == WG_OK) s = lay_out_passes(r);
    if (s == WG_OK) note_again(r->s);
    return s;
}

wg_status wg_scan(wg_tape *t, size_t steps, size_t stages, const wg_stage *stage, size_t states,
                  const wg_state *state, const wg_scan_options *o, wg_mat *y) {
    if (t == NULL) {
        wgi_results_fail(states, y);
        return WG_ENULL;
    }
    reading r = {.c = wgi_core_of(t),
                 .stages = stages,
                 .states = states,
                 .stage = stage,
                 .state = state};
    wg_status s = r.c->status != WG_OK ? r.c->status : check_given(&r, y);
    size_t results = states;
    if (s == WG_OK) {
        if (!misnamed(&r)) results = count_results(&r);
        s = read_all(&r, steps, o);
    }
    if (s != WG_OK) { /* only now: results may be stored where states and matrices are */
        wgi_results_fail(results, y);
        return s;
    }
    const wgi_scan *const scan = r.s;
    return wg_apply(t, &wgi_op_scan, &scan, sizeof scan, r.operands, r.in, scan->results, y);
}

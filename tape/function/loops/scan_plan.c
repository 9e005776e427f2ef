/* SPDX-License-Identifier: MIT */
/* What is known of a scan before its first step: its workspace, where matrices and data begin,
 * and where the rows stand of stages that walk. */
#include "scan_run.h"

/* ---- workspace -------------------------------------------------------------------------- */

/* The most workspace that a pass needs in a stage: all its inputs and outputs. */
static size_t room_of(const wgi_scan_pass *pass, size_t points) {
    wgi_pieces p = {NULL, 0};
    for (size_t i = 0; i < pass->f->inputs; i++)
        (void)wgi_pieces_doubles(&p, points * wgi_argument_size(&pass->f->input[i]));
    for (size_t k = 0; k < pass->f->outputs; k++)
        (void)wgi_pieces_doubles(&p, points * wgi_argument_size(&pass->f->output[k]));
    return p.used;
}

/* Workspace for copies of matrices without strides. They are one point each: of shared inputs,
 * or of a grid of one cell. */
static size_t copies_of(const wgi_scan *s) {
    wgi_pieces p = {NULL, 0};
    for (size_t k = 0; k < s->stages; k++) {
        const wg_function *const f = s->stage[k].k->f;
        for (size_t i = 0; i < f->inputs; i++)
            for (int twice = 0; twice < 2; twice++)
                if (s->stage[k].value.in[i].kind == WGI_FROM_MATRIX &&
                    !s->stage[k].value.in[i].is_field)
                    (void)wgi_pieces_doubles(&p, wgi_argument_size(&f->input[i]));
    }
    return p.used;
}

int wgi_scan_apart(const wgi_scan *s) {
    for (size_t n = 0; n < s->fields; n++)
        for (int d = 0; d < 3; d++)
            if (s->field[n].lo[d] != 0 || s->field[n].hi[d] != (d == 0 ? s->field[n].spare : 0))
                return 0;
    return 1;
}

/* How far apart rows may begin that meet: as far as the stencil is wide, if it is much smaller
 * than a chunk. */
static ptrdiff_t farthest(const wgi_scan_stage *stage, size_t points) {
    const ptrdiff_t near = 2 * WGI_GRID_LANES, most_of = (ptrdiff_t)(points / 4);
    ptrdiff_t low = 0, high = 0;
    for (size_t i = 0; i < stage->k->f->inputs; i++) {
        const wgi_feed *const from = &stage->value.in[i];
        const ptrdiff_t shift = from->is_field ? from->shift : 0;
        if (shift < low) low = shift;
        if (shift > high) high = shift;
    }
    return high - low <= most_of ? high - low : near;
}

static void take_basin(const wgi_scan *s, const wgi_scan_stage *stage, wgi_scan_in_place *to,
                       size_t points, wgi_pieces *p) {
    const int apart = s->gathers || wgi_scan_apart(s);
    if (to->adjoint.f == NULL || s->grid.cells[0] < WGI_GRID_LANES) return;
    to->far = apart ? 0 : farthest(stage, points);
    to->pad = apart ? 0 : wgi_grid_round_up(2 * (size_t)to->far) + WGI_GRID_LANES;
    to->pitch = wgi_grid_round_up(points) + 2 * to->pad;
    to->meeting = wgi_pieces_take(p, stage->adjoint.f->m * sizeof *to->meeting);
    to->basin = wgi_pieces_doubles(p, to->adjoint.results * to->pitch);
}

/* A sweep goes through values, and through either tangents or adjoints. */
static void take_steps(wgi_scan_run *r, const wgi_scan *s, wgi_pieces *p) {
    wgi_scan_steps counted;
    r->steps = wgi_pieces_take(p, 2 * s->stages * sizeof *r->steps);
    for (size_t k = 0; k < s->stages; k++) {
        const wgi_scan_stage *const stage = &s->stage[k];
        wgi_scan_steps *const to = r->steps != NULL ? &r->steps[2 * k] : NULL;
        wgi_scan_steps_cut(to != NULL ? to : &counted, &stage->value, p);
        wgi_pieces tangent = *p, adjoint = *p;
        wgi_scan_steps_cut(to != NULL && !r->backward ? to + 1 : &counted, &stage->tangent,
                           &tangent);
        wgi_scan_steps_cut(to != NULL && r->backward ? to + 1 : &counted, &stage->adjoint,
                           &adjoint);
        p->used = wgi_scan_most(tangent.used, adjoint.used);
    }
}

/* Rows begin where vectors do, whereas what is saved may begin anywhere; it does not move. */
enum { ALIGNED = 64 };
static char *aligned(void *saved) {
    return saved == NULL ? NULL
                         : (char *)saved + (ALIGNED - (uintptr_t)saved % ALIGNED) % ALIGNED;
}

size_t wgi_scan_lay_out(wgi_scan_run *r, const wgi_scan *s, void *saved, void *work,
                        size_t *saved_bytes) {
    wgi_pieces p = {(char *)work, 0}, keep = {aligned(saved), 0};
    size_t inputs = 0, outputs = 0, room = 0, evaluation = 0;
    const int single = wgi_scan_single(s);
    r->s = s;
    for (size_t k = 0; k < s->stages && !single; k++) {
        const wgi_scan_stage *const stage = &s->stage[k];
        const wgi_scan_pass *const pass[] = {&stage->value, &stage->tangent, &stage->adjoint};
        for (size_t i = 0; i < 3; i++) {
            inputs = wgi_scan_most(inputs, pass[i]->f->inputs);
            outputs = wgi_scan_most(outputs, pass[i]->f->outputs);
            room = wgi_scan_most(
                room, room_of(pass[i], wgi_grid_round_up(wgi_scan_points_of(s, stage))));
        }
        evaluation = wgi_scan_most(evaluation, wgi_callable_work(stage->k, s->threads));
    }
    r->checkpoints.steps = s->steps;
    r->checkpoints.stored = s->stored;
    r->checkpoints.size = s->state_size;
    wgi_checkpoints_keep(&r->checkpoints, &keep);
    r->residuals = wgi_pieces_doubles(&keep, s->stored * s->residual_size);
    r->has_residuals = wgi_pieces_take(&keep, s->residual_size != 0 ? s->stored : 0);
    if (saved_bytes != NULL) *saved_bytes = keep.used + ALIGNED;
    r->why = wgi_pieces_take(&p, WGI_WHY);
    r->x = wgi_pieces_take(&p, inputs * sizeof *r->x);
    r->y = wgi_pieces_take(&p, outputs * sizeof *r->y);
    r->in = wgi_pieces_take(&p, inputs * sizeof *r->in);
    r->value = wgi_pieces_take(&p, s->inputs * sizeof *r->value);
    r->tangent = wgi_pieces_take(&p, s->inputs * sizeof *r->tangent);
    r->given = wgi_pieces_take(&p, s->inputs * sizeof *r->given);
    wgi_checkpoints_work(&r->checkpoints, &p);
    r->at.next = wgi_pieces_doubles(&p, s->state_size);
    r->at.passing = wgi_pieces_doubles(&p, s->passing_size);
    r->dot.old = wgi_pieces_doubles(&p, s->state_size);
    r->dot.next = wgi_pieces_doubles(&p, s->state_size);
    r->dot.passing = wgi_pieces_doubles(&p, s->passing_size);
    r->at.given = wgi_pieces_doubles(&p, s->given_size);
    r->dot.given = wgi_pieces_doubles(&p, s->given_size);
    r->in_place = wgi_pieces_take(&p, single ? 0 : s->stages * sizeof *r->in_place);
    if (single) take_steps(r, s, &p);
    for (size_t k = 0; k < s->stages && !single; k++) {
        const wgi_scan_stage *const stage = &s->stage[k];
        const size_t points = wgi_scan_points_of(s, stage);
        const int hands_on = s->residual_size != 0;
        wgi_scan_in_place here, *const to = work == NULL ? &here : &r->in_place[k];
        wgi_in_place_prepare(&to->value, stage->value.f, points, &p);
        wgi_in_place_prepare(&to->adjoint, stage->adjoint.f, points, &p);
        wgi_in_place_prepare(&to->tangent, stage->tangent.f, points, &p);
        wgi_in_place_prepare(&to->forward, hands_on ? stage->k->forward : NULL, points, &p);
        wgi_in_place_prepare(&to->backward, hands_on ? stage->k->backward : NULL, points, &p);
        take_basin(s, stage, to, points, &p);
    }
    r->room = wgi_pieces_take(&p, room + copies_of(s));
    if (work != NULL) r->work = p.base + p.used;
    return p.used + evaluation;
}

/* ---- what is known beforehand -----------------------------------------------------------
 *
 * Where all inputs and outputs of a stage are fields whose lines are done where they stand, its
 * rows stand where they stood in the step before, but for the arrays of the step itself. */

wgi_spot wgi_scan_spot(wgi_scan_run *r, int bar, uint32_t field, int next, ptrdiff_t shift,
                       size_t e) {
    const wgi_field *const f = &r->s->field[field];
    wgi_scan_numbers *const n = bar ? &r->dot : &r->at;
    double *const *const base = f->given                ? &n->given
                                : field >= r->s->states ? &n->passing
                                : next                  ? &n->next
                                                        : &n->old;
    const int moves = base == &n->old || base == &n->next;
    return (wgi_spot){base, (ptrdiff_t)(f->at + f->origin + e * f->size) + shift, 0, moves};
}

static wgi_spot place_of_residual(wgi_scan_run *r, const wgi_scan_stage *stage, size_t e) {
    const wgi_field *const f = &stage->residuals;
    return (wgi_spot){&r->at.residuals, (ptrdiff_t)(f->at + f->origin + e * f->size), 0, 1};
}

static wgi_spot place_of_drain(wgi_scan_run *r, const wgi_drain *to, size_t e) {
    return wgi_scan_spot(r, to->bar, to->at, to->next, to->shift, e);
}

/* Finds where the code reads its inputs; 0: not all of them are fields. */
static int plan_inputs(wgi_scan_run *r, const wgi_scan_stage *stage, const wgi_scan_pass *pass,
                       const wgi_in_place *in_place) {
    for (size_t k = 0; k < in_place->inputs; k++) {
        size_t i = 0, e = 0;
        wgi_in_place_input(in_place, k, &i, &e);
        const wgi_feed *const from = &pass->in[i];
        if (!from->is_field) return 0;
        in_place->read[k] = from->kind == WGI_FROM_RESIDUALS
                                ? place_of_residual(r, stage, e)
                                : wgi_scan_spot(r, from->bar, from->field,
                                                from->kind == WGI_FROM_NEXT, from->shift, e);
    }
    return 1;
}

/* The same for the function and its outputs; it may have one more output, the residuals. */
static int plan_value(wgi_scan_run *r, const wgi_scan_stage *stage,
                      const wgi_in_place *in_place) {
    const wg_function *const f = in_place->f;
    if (!plan_inputs(r, stage, &stage->value, in_place)) return 0;
    for (size_t k = 0; k < in_place->results; k++) in_place->written[k].base = NULL;
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t e = 0;
             !wgi_argument_summed(&f->output[k]) && e < wgi_argument_size(&f->output[k]); e++) {
            const size_t j = wgi_in_place_result(in_place, k, e);
            const int residual = k == stage->value.f->outputs;
            if (j >= in_place->results || in_place->written[j].base != NULL ||
                (!residual && !stage->value.out[k].is_field))
                return 0;
            in_place->written[j] = residual ? place_of_residual(r, stage, e)
                                            : place_of_drain(r, &stage->value.out[k], e);
        }
    return 1;
}

/* Notes that a row of the basin goes to an entry of a field, from `to` on. Each place takes
 * from its rows in the order in which they are noted. */
static void plan_meeting(wgi_scan_in_place *s, wgi_spot to, uint32_t field, size_t entry,
                         size_t row) {
    wgi_scan_meeting *at = NULL;
    for (size_t k = s->meetings; k-- > 0 && at == NULL;)
        if (s->meeting[k].place.base == to.base && s->meeting[k].field == field &&
            s->meeting[k].entry == entry)
            at = &s->meeting[k];
    if (at != NULL && (at->count == WGI_MOST_ROWS || to.skip - at->place.skip > s->far ||
                       at->place.skip - to.skip > s->far))
        at = NULL;
    if (at == NULL) {
        at = &s->meeting[s->meetings++];
        memset(at, 0, sizeof *at);
        at->rows = 1;
        at->place = to;
        at->field = field;
        at->entry = entry;
    }
    const ptrdiff_t apart = to.skip - at->place.skip;
    if (apart < at->low) at->low = apart;
    if (apart > at->high) at->high = apart;
    at->apart[at->count] = apart;
    at->row[at->count++] = row;
}

/* Rows next to each other that go to places next to each other become one. */
static void join_meetings(wgi_scan_in_place *s) {
    size_t count = 0;
    for (size_t k = 0; k < s->meetings; k++) {
        const wgi_scan_meeting *const m = &s->meeting[k];
        wgi_scan_meeting *const last = count != 0 ? &s->meeting[count - 1] : NULL;
        if (last != NULL && m->count == 1 && last->count == 1 &&
            m->place.base == last->place.base && m->row[0] == last->row[0] + last->rows &&
            m->place.skip == last->place.skip + (ptrdiff_t)(last->rows * s->pitch))
            last->rows++;
        else s->meeting[count++] = *m;
    }
    s->meetings = count;
}

/* Finds where result j of the adjoint goes: to its field if that is where it is set, or to the
 * basin if it is added. 0: the stage cannot walk. */
static int plan_result(wgi_scan_run *r, const wgi_drain *to, wgi_scan_in_place *s, size_t e,
                       size_t j) {
    if (to->adds) {
        if (!wgi_scan_wanted(r, to->from) || wgi_in_place_zero(&s->adjoint, j)) return 1;
        if (j >= s->adjoint.results) return 0;
        plan_meeting(s, place_of_drain(r, to, e), to->at, e, j);
        return 1;
    }
    /* two outputs are the same result */
    if (j >= s->adjoint.results || !s->adjoint.written[j].still) return 0;
    s->adjoint.written[j] = place_of_drain(r, to, e);
    return 1;
}

static int plan_adjoint(wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_in_place *s) {
    const wg_function *const f = stage->adjoint.f;
    if (!plan_inputs(r, stage, &stage->adjoint, &s->adjoint)) return 0;
    s->meetings = s->filled = 0;
    wgi_clear(s->basin, s->adjoint.results * s->pitch);
    for (size_t k = 0; k < s->adjoint.results; k++)
        s->adjoint.written[k] = (wgi_spot){&s->basin, (ptrdiff_t)(k * s->pitch + s->pad), 1, 0};
    for (size_t o = 0; o < f->outputs; o++) {
        const wgi_drain *const to = &stage->adjoint.out[o];
        if (wgi_argument_summed(&f->output[o])) continue;
        if (!to->is_field) return 0;
        for (size_t e = 0; e < wgi_argument_size(&f->output[o]); e++)
            if (!plan_result(r, to, s, e, wgi_in_place_result(&s->adjoint, o, e))) return 0;
    }
    if (r->apart && s->points != 0) join_meetings(s);
    return 1;
}

/* The results of the function with residuals are those of the adjoint, and go to the same rows.
 */
static int plan_backward(wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_in_place *s) {
    const wgi_in_place *const by = &s->backward;
    const wg_function *const f = by->f;
    if (by->results != s->adjoint.results || !plan_inputs(r, stage, &stage->adjoint, by))
        return 0;
    for (size_t o = 0; o < f->outputs; o++)
        for (size_t e = 0;
             !wgi_argument_summed(&f->output[o]) && e < wgi_argument_size(&f->output[o]); e++)
            if (wgi_in_place_result(by, o, e) != wgi_in_place_result(&s->adjoint, o, e))
                return 0;
    for (size_t k = 0; k < by->results; k++) by->written[k] = s->adjoint.written[k];
    return 1;
}

void wgi_scan_plan(wgi_scan_run *r, int adjoint) {
    const wgi_scan *const s = r->s;
    r->apart = wgi_scan_apart(s);
    for (size_t k = 0; k < s->stages && r->steps == NULL; k++) {
        const wgi_scan_stage *const stage = &s->stage[k];
        wgi_scan_in_place *const to = &r->in_place[k];
        const size_t points = wgi_scan_points_of(s, stage);
        const int in_place = s->grid.cells[0] >= WGI_GRID_LANES &&
                             (stage->flat != 0 || s->chunk == 1 || s->grid.lines == 1);
        to->beyond = s->grid.boundary[0] != WG_ZERO_OUTSIDE;
        to->value_walks = in_place && wgi_in_place_walks(&to->value, points) &&
                          plan_value(r, stage, &to->value);
        wgi_scan_chunk all = {.step = 0};
        wgi_scan_next_chunk(r, stage, &all);
        to->points = wgi_scan_more(r, &all) ? 0 : all.points;
        const int hands_on = to->points != 0 && stage->residuals.entries != 0;
        to->adjoint_walks = adjoint && in_place && wgi_in_place_walks(&to->adjoint, points) &&
                            plan_adjoint(r, stage, to);
        to->forward_walks = hands_on && to->value_walks &&
                            wgi_in_place_walks(&to->forward, points) &&
                            plan_value(r, stage, &to->forward);
        to->backward_walks = hands_on && to->adjoint_walks &&
                             wgi_in_place_walks(&to->backward, points) &&
                             plan_backward(r, stage, to);
    }
}

/* ---- matrices and data ------------------------------------------------------------------ */

static void list_given(wgi_scan_run *r) {
    for (int each_step = 0; each_step < 2; each_step++) {
        for (size_t k = 0; k < r->s->stages; k++)
            for (size_t i = 0; i < r->s->stage[k].k->f->inputs; i++) {
                const wgi_feed *const from = &r->s->stage[k].value.in[i];
                if (from->is_field && from->kind < WGI_FROM_STATE &&
                    from->each_step == each_step)
                    r->given[r->givens++] = from;
            }
        if (!each_step) r->steady = r->givens;
    }
    r->beyond = r->s->grid;
    for (int d = 0; d < 3; d++)
        if (r->beyond.boundary[d] == WG_ZERO_OUTSIDE) r->beyond.boundary[d] = WG_CLAMPED;
}

void wgi_scan_prepare(wgi_scan_run *r, int tangents) {
    wgi_pieces p = {(char *)r->room, 0};
    list_given(r);
    for (size_t k = 0; k < r->s->stages; k++) {
        const wgi_scan_stage *const stage = &r->s->stage[k];
        for (size_t i = 0; i < stage->k->f->inputs; i++) {
            const wgi_feed *const from = &stage->value.in[i];
            const size_t n = wgi_argument_size(&stage->k->f->input[i]);
            wg_points *const x = &r->value[from->number];
            wg_points *const dx = &r->tangent[from->number];
            *x = from->data;
            *dx = (wg_points){NULL, 0, 0};
            if (from->kind != WGI_FROM_MATRIX || from->is_field) continue;
            const wg_block_arg *const a = &r->b->in[from->operand];
            *x = wgi_points_in(a, n, 0, wgi_pieces_doubles(&p, n));
            if (tangents) *dx = wgi_points_in(a, n, 1, wgi_pieces_doubles(&p, n));
        }
    }
    r->room = (double *)(void *)((char *)r->room + p.used);
}

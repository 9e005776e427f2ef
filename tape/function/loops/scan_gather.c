/* SPDX-License-Identifier: MIT */
/* The adjoint of a loop of stencils (stencil.h): weights of the outputs are filled in beyond
 * the cells as states are; then the adjoint of each state is computed at each of its cells,
 * from what is around it. What is first set in a step is not cleared before. */
#include "scan_run.h"

/* ---- which loops ------------------------------------------------------------------------ */

static int same_wires(const wgi_scan *s, const wgi_scan_stage *stage, const wg_source *x) {
    const wg_function *const f = stage->k->f;
    const wgi_wire *const wire = stage->k->stencil->wire;
    for (size_t i = 0; i < f->inputs; i++) {
        const wgi_feed *const from = &stage->feed[i];
        if (wire[i].kind != x[i].kind) return 0;
        if (wgi_argument_shared(&f->input[i])) {
            if (from->is_field) return 0;
            continue;
        }
        if (!from->is_field || s->field[from->field].global ||
            from->field != stage->feed[wire[i].group].field)
            return 0;
        for (int d = 0; d < 3; d++)
            if (wire[i].offset[d] != x[i].offset[d]) return 0;
    }
    return 1;
}

static int fits(const wgi_scan *s, const wgi_scan_stage *stage, const wg_source *x) {
    const wg_callable *const k = stage->k;
    if (k->stencil == NULL || !same_wires(s, stage, x)) return 0;
    for (size_t j = 0; j < k->f->outputs; j++)
        if (!stage->drain[j].is_field || s->field[stage->drain[j].at].global) return 0;
    for (size_t n = 0; n < k->stencil->gather->inputs; n++)
        for (int d = 0; d < 3; d++)
            if (k->stencil->tap[n].offset[d] != 0 && s->grid.boundary[d] == WG_CLAMPED)
                return 0;
    return 1;
}

/* The field that a tap reads; SIZE_MAX: none. */
static size_t field_of(const wgi_scan_stage *stage, const wgi_tap *tap) {
    const wg_function *const f = stage->k->f;
    if (tap->argument >= f->inputs) return stage->drain[tap->argument - f->inputs].at;
    const wgi_feed *const from = &stage->feed[tap->argument];
    return from->is_field ? from->field : SIZE_MAX;
}

void wgi_scan_gather_read(wgi_scan *s, const wg_stage *stage) {
    for (size_t k = 0; k < s->stages; k++)
        if (!fits(s, &s->stage[k], stage[k].x)) return;
    s->gathers = s->stages != 0;
    for (size_t k = 0; k < s->stages; k++) {
        const wgi_stencil *const stencil = s->stage[k].k->stencil;
        for (size_t n = 0; n < stencil->gather->inputs; n++) {
            const size_t field = field_of(&s->stage[k], &stencil->tap[n]);
            if (field != SIZE_MAX) wgi_field_reach(&s->field[field], stencil->tap[n].offset);
        }
    }
}

/* ---- where everything stands ------------------------------------------------------------ */

static void lay_taps(const wgi_scan *s, wgi_scan_stage *stage) {
    const wgi_stencil *const stencil = stage->k->stencil;
    const wg_function *const f = stage->k->f;
    for (size_t n = 0; n < stencil->gather->inputs; n++) {
        const wgi_tap *const tap = &stencil->tap[n];
        const size_t field = field_of(stage, tap);
        wgi_feed *const to = &stage->tap[n];
        memset(to, 0, sizeof *to);
        to->kind = WGI_FROM_NEXT; /* weights */
        if (tap->argument < f->inputs) *to = stage->feed[tap->argument];
        if (field == SIZE_MAX) continue;
        to->is_field = 1;
        to->field = (uint32_t)field;
        to->shift = wgi_field_shift(&s->field[field], tap->offset);
    }
}

/* The first one that has something for the adjoints of the states, from the last stage on, sets
 * them; those of matrices, and of what a stage has left, are there. */
static void lay_pools(wgi_scan *s, wgi_scan_stage *stage) {
    const wg_function *const f = stage->k->f;
    wgi_scan_pool *to = stage->pool;
    for (size_t i = 0; i < f->inputs; i++) {
        if (!wgi_stencil_leads(f, stage->k->stencil, i)) continue;
        const wgi_feed *const from = &stage->feed[i];
        const int next = from->kind == WGI_FROM_NEXT;
        *to++ = (wgi_scan_pool){i, from->field, next, next || !s->unset[from->field]};
        if (!next) s->unset[from->field] = 0;
    }
}

wg_status wgi_scan_gather_lay_out(wgi_core *c, wgi_scan *s) {
    if (!s->gathers) return WG_OK;
    wg_tape *const t = &c->head;
    s->unset = wg_tape_keep(t, s->fields + 1, NULL);
    if (s->unset == NULL) return c->status;
    for (size_t n = 0; n < s->fields; n++) s->unset[n] = !s->field[n].given;
    for (size_t k = s->stages; k-- > 0;) {
        wgi_scan_stage *const stage = &s->stage[k];
        const wg_function *const gather = stage->k->stencil->gather;
        stage->tap = wg_tape_keep(t, (gather->inputs + 1) * sizeof *stage->tap, NULL);
        stage->pool = wg_tape_keep(t, (gather->outputs + 1) * sizeof *stage->pool, NULL);
        if (c->status != WG_OK) return c->status;
        lay_taps(s, stage);
        lay_pools(s, stage);
    }
    return WG_OK;
}

/* ---- before the first step -------------------------------------------------------------- */

/* Is its adjoint wanted? */
static int wanted(const wgi_scan_run *r, const wgi_scan_stage *stage, const wgi_scan_pool *to) {
    return wgi_scan_wanted(r, &stage->feed[to->input]);
}

static int is_weight(const wgi_scan_stage *stage, size_t tap) {
    return stage->k->stencil->tap[tap].argument >= stage->k->f->inputs;
}

int wgi_scan_gather_plan(wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_strips *s) {
    const wg_function *const f = stage->k->f, *const gather = stage->k->stencil->gather;
    for (size_t k = 0; k < s->adjoint.inputs; k++) {
        size_t n = 0, e = 0;
        wgi_strip_input(&s->adjoint, k, &n, &e);
        const wgi_feed *const from = &stage->tap[n];
        if (!from->is_field) return 0;
        s->adjoint.read[k] = wgi_scan_place(r, is_weight(stage, n), from->field,
                                            from->kind == WGI_FROM_NEXT, from->shift, e);
    }
    wgi_scan_clear(s->basin, s->adjoint.results * s->pitch);
    for (size_t k = 0; k < s->adjoint.results; k++)
        s->adjoint.written[k] = (wgi_spot){&s->basin, (ptrdiff_t)(k * s->pitch), 1, 0};
    for (size_t o = 0; o < gather->outputs; o++) {
        const wgi_scan_pool *const to = &stage->pool[o];
        for (size_t e = 0; e < wgi_argument_size(&f->input[to->input]); e++) {
            const size_t j = wgi_strip_result(&s->adjoint, o, e);
            if (j >= s->adjoint.results) return 0;
            if (to->adds) continue;
            if (!s->adjoint.written[j].still) return 0; /* it is two outputs */
            s->adjoint.written[j] = wgi_scan_place(r, 1, to->field, 0, 0, e);
        }
    }
    return 1;
}

/* ---- a stage ---------------------------------------------------------------------------- */

/* The values of a tap that is no field, to r->x. */
static wg_status source(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t tap,
                        const wgi_scan_chunk *c, wgi_pieces *p) {
    return wgi_scan_source(r, stage, stage->k->stencil->tap[tap].argument, &r->at, r->value, c,
                           p, &r->x[tap]);
}

static void add_rows(const wgi_scan_run *r, const wgi_scan_stage *stage,
                     const wgi_scan_strips *s, const wgi_scan_chunk *c) {
    const wg_function *const gather = stage->k->stencil->gather;
    for (size_t o = 0; o < gather->outputs; o++) {
        const wgi_scan_pool *const to = &stage->pool[o];
        if (!to->adds || !wanted(r, stage, to)) continue;
        const ptrdiff_t further = wgi_scan_further(r, c);
        for (size_t e = 0; e < r->s->field[to->field].entries; e++) {
            const wgi_field *const f = &r->s->field[to->field];
            const double *const row = s->basin + wgi_strip_result(&s->adjoint, o, e) * s->pitch;
            wgi_rows_gather(1,
                            wgi_scan_field_at(r, &r->dot, to->field, to->next) + f->origin +
                                e * f->size + further,
                            &row, wgi_scan_round_up(c->points));
        }
    }
}

/* A chunk whose rows are known; 0: not in this way. */
static int walk(const wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_strips *s,
                const wgi_scan_chunk *c) {
    wgi_pieces p = {(char *)r->room, 0};
    for (size_t n = 0; s->adjoint.shares && n < s->adjoint.f->inputs; n++)
        if (!stage->tap[n].is_field && source(r, stage, n, c, &p) != WG_OK) return 0;
    if (!wgi_strip_walk(&s->adjoint, c->points, wgi_scan_further(r, c), s->beyond, r->x))
        return 0;
    add_rows(r, stage, s, c);
    return 1;
}

/* Where an output is written: in place, or in workspace. */
static wg_results outlet(const wgi_scan_run *r, const wgi_scan_stage *stage,
                         const wgi_scan_pool *to, const wgi_scan_chunk *c, wgi_pieces *p) {
    const wgi_field *const f = &r->s->field[to->field];
    if (!wanted(r, stage, to)) return (wg_results){NULL, 0, 0};
    if (!to->adds && wgi_scan_in_place(f, c))
        return (wg_results){wgi_scan_field_at(r, &r->dot, to->field, 0) +
                                wgi_field_line(f, &r->s->grid, c->first),
                            1, (ptrdiff_t)f->size};
    return (wg_results){wgi_pieces_doubles(p, f->entries * c->stride), 1, (ptrdiff_t)c->stride};
}

static void add_lines(const wgi_scan_run *r, const wgi_scan_pool *to, const wgi_scan_chunk *c,
                      const double *row) {
    const wgi_field *const f = &r->s->field[to->field];
    double *const at = wgi_scan_field_at(r, &r->dot, to->field, to->next);
    for (size_t l = 0; l < c->rows; l++)
        wgi_points_accumulate(c->length, f->entries,
                              (wg_points){row + l * c->length, 1, (ptrdiff_t)c->stride},
                              (wg_results){at + wgi_field_line(f, &r->s->grid, c->first + l), 1,
                                           (ptrdiff_t)f->size});
}

static wg_status evaluate(const wgi_scan_run *r, const wgi_scan_stage *stage,
                          wgi_scan_strips *s, const wgi_scan_chunk *c) {
    const wg_function *const gather = stage->k->stencil->gather;
    wgi_pieces p = {(char *)r->room, 0};
    wg_status status = WG_OK;
    for (size_t n = 0; n < gather->inputs && status == WG_OK; n++) {
        const wgi_feed *const from = &stage->tap[n];
        if (!from->is_field) status = source(r, stage, n, c, &p);
        else
            r->x[n] =
                wgi_scan_from_field(r, from, is_weight(stage, n) ? &r->dot : &r->at, c, &p);
    }
    if (status != WG_OK) return status;
    for (size_t o = 0; o < gather->outputs; o++)
        r->y[o] = outlet(r, stage, &stage->pool[o], c, &p);
    status = wgi_scan_evaluate(r, stage, &s->adjoint, gather, c);
    for (size_t o = 0; o < gather->outputs && status == WG_OK; o++) {
        const wgi_scan_pool *const to = &stage->pool[o];
        const wgi_field *const f = &r->s->field[to->field];
        if (r->y[o].data == NULL) continue;
        if (to->adds) add_lines(r, to, c, r->y[o].data);
        else if (!wgi_scan_in_place(f, c))
            wgi_scan_spread(r, f, wgi_scan_field_at(r, &r->dot, to->field, 0), c, r->y[o].data);
    }
    return status;
}

wg_status wgi_scan_gather(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t step) {
    const wg_function *const f = stage->k->f;
    wgi_scan_strips *const strip = &r->strip[stage - r->s->stage];
    wgi_scan_chunk c = {.step = step, .points = strip->points};
    for (size_t k = 0; k < f->outputs; k++)
        wgi_field_fill(&r->s->field[stage->drain[k].at], &r->s->grid,
                       wgi_scan_field_at(r, &r->dot, stage->drain[k].at, 1));
    if (strip->points != 0 && strip->adjoint_walks && walk(r, stage, strip, &c)) return WG_OK;
    do {
        wgi_scan_next_chunk(r, stage, &c);
        if (strip->adjoint_walks && walk(r, stage, strip, &c)) continue;
        const wg_status s = evaluate(r, stage, strip, &c);
        if (s != WG_OK) return s;
    } while (wgi_scan_more(r, &c));
    return WG_OK;
}

/* SPDX-License-Identifier: MIT */
/* The adjoint of a scan of stencils (stencil.h). The adjoints of the outputs are continued into
 * the rim as states are; then the adjoint of each state is computed at each cell from what is
 * around it. What a stage sets first in a step is not cleared before. */
#include "scan.h"
#include "stencil.h"

#include <string.h>

/* ---- which scans ------------------------------------------------------------------------ */

static int same_wires(const wgi_scan *s, const wgi_scan_stage *stage, const wg_source *x) {
    const wg_function *const f = stage->k->f;
    const wgi_wire *const wire = stage->k->stencil->wire;
    for (size_t i = 0; i < f->inputs; i++) {
        const wgi_feed *const from = &stage->value.in[i];
        if (wire[i].kind != x[i].kind) return 0;
        if (wgi_argument_shared(&f->input[i])) {
            if (from->is_field) return 0;
            continue;
        }
        if (!from->is_field || s->field[from->field].global ||
            from->field != stage->value.in[wire[i].group].field)
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
        if (!stage->value.out[j].is_field || s->field[stage->value.out[j].at].global) return 0;
    for (size_t n = 0; n < k->stencil->gather->inputs; n++)
        for (int d = 0; d < 3; d++)
            if (k->stencil->tap[n].offset[d] != 0 && s->grid.boundary[d] == WG_CLAMPED)
                return 0;
    return 1;
}

/* The field that a tap reads; SIZE_MAX: it reads none. */
static size_t field_of(const wgi_scan_stage *stage, const wgi_tap *tap) {
    const wg_function *const f = stage->k->f;
    if (tap->argument >= f->inputs) return stage->value.out[tap->argument - f->inputs].at;
    const wgi_feed *const from = &stage->value.in[tap->argument];
    return from->is_field ? from->field : SIZE_MAX;
}

void wgi_scan_stencils_read(wgi_scan *s, const wg_stage *stage) {
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
        wgi_feed *const to = &stage->adjoint.in[n];
        *to = tap->argument < f->inputs ? stage->value.in[tap->argument]
                                        : (wgi_feed){.kind = WGI_FROM_NEXT, .bar = 1};
        if (field == SIZE_MAX) continue;
        to->is_field = 1;
        to->field = (uint32_t)field;
        to->shift = wgi_field_shift(&s->field[field], tap->offset);
    }
}

/* Going backward, the first stage that contributes to the adjoint of a state sets it, and
 * others add to it. The adjoints of matrices, and of what a stage has left in this step, are
 * there already: all stages add to those. */
static void lay_drains(wgi_scan *s, wgi_scan_stage *stage) {
    const wg_function *const f = stage->k->f;
    wgi_drain *to = stage->adjoint.out;
    for (size_t i = 0; i < f->inputs; i++) {
        if (!wgi_stencil_leads(f, stage->k->stencil, i)) continue;
        const wgi_feed *const from = &stage->value.in[i];
        const int next = from->kind == WGI_FROM_NEXT;
        *to++ = (wgi_drain){.is_field = 1,
                            .at = from->field,
                            .bar = 1,
                            .next = next,
                            .adds = next || !s->unset[from->field],
                            .from = from};
        if (!next) s->unset[from->field] = 0;
    }
}

wg_status wgi_scan_stencils_lay_out(wgi_core *c, wgi_scan *s) {
    if (!s->gathers) return WG_OK;
    wg_tape *const t = &c->head;
    s->unset = wg_tape_keep(t, s->fields + 1, NULL);
    if (s->unset == NULL) return c->status;
    for (size_t n = 0; n < s->fields; n++) s->unset[n] = !s->field[n].given;
    for (size_t k = s->stages; k-- > 0;) {
        wgi_scan_pass *const pass = &s->stage[k].adjoint;
        pass->f = s->stage[k].k->stencil->gather;
        pass->in = wg_tape_keep(t, (pass->f->inputs + 1) * sizeof *pass->in, NULL);
        pass->out = wg_tape_keep(t, (pass->f->outputs + 1) * sizeof *pass->out, NULL);
        if (c->status != WG_OK) return c->status;
        lay_taps(s, &s->stage[k]);
        lay_drains(s, &s->stage[k]);
    }
    return WG_OK;
}

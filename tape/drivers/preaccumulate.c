/* SPDX-License-Identifier: MIT */
/* The local Jacobian of what was recorded since a mark, and preaccumulation, which is made of
 * it.
 *
 * A sweep over that part of the recording needs adjoints only of the slots that it touches:
 * those recorded in it, and operands from before it, which are cleared one by one. */
#include "preaccumulate.h"

#include <wengert/implicit.h>

#include <string.h>

enum { LANES = 8 };

/* ---- the operands of a section ----------------------------------------------------------- */

/* What is done with the rows of slots [slot, slot + n). If it gives anything but 0, that is the
 * result, and nothing more is done. */
typedef uint32_t touch(const wgi_core *c, uint32_t slot, uint32_t n, uint32_t below);

static uint32_t block_operands(const wgi_core *c, const wgi_block *b, touch *f,
                               uint32_t below) {
    uint32_t found = 0;
    const uint32_t *const slot = wgi_gather_slots(b);
    for (uint32_t i = 0; slot != NULL && i < b->outs && found == 0; i++)
        found = f(c, slot[i], 1, below);
    if (b->op == &wgi_small_op) {
        const wgi_small *const s = (const wgi_small *)(const void *)b;
        for (int i = 0; i < 2 && found == 0; i++) found = f(c, s->in[i], s->outs, below);
        return found;
    }
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        const uint32_t length = o->trans ? o->cols : o->rows,
                       columns = o->trans ? o->rows : o->cols;
        for (uint32_t j = 0; o->slot != 0 && j < columns && found == 0; j++)
            found = f(c, o->slot + j * o->ld, length, below);
    }
    return found;
}

static uint32_t each_operand(const wgi_core *c, uint64_t from, touch *f, uint32_t below) {
    const uint64_t to = c->chunks == 0 ? 0 : wgi_record_count(c);
    uint32_t found = 0;
    for (uint64_t number = from; number < to && found == 0; number++) {
        const wgi_block *const b = wgi_block_at(c, number);
        const wgi_record *const r = wgi_record_at(c, number);
        if (b != NULL) found = block_operands(c, b, f, below);
        else {
            found = f(c, r->in0, 1, below);
            if (found == 0) found = f(c, r->in1, 1, below);
        }
    }
    return found;
}

static uint32_t clear(const wgi_core *c, uint32_t slot, uint32_t n, uint32_t below) {
    if (slot < below)
        memset(wgi_adjoints(c) + (size_t)slot * c->lanes, 0, n * c->lanes * sizeof(double));
    return 0;
}

/* Gives the first slot from before the mark that has received an adjoint. */
static uint32_t reached(const wgi_core *c, uint32_t slot, uint32_t n, uint32_t below) {
    if (slot == 0 || slot >= below) return 0;
    /* a gather may have elements from both sides of the mark */
    if (n > below - slot) n = below - slot;
    const double *const rows = wgi_adjoints(c) + (size_t)slot * c->lanes;
    for (size_t i = 0; i < n * c->lanes; i++)
        if (rows[i] != 0) return slot + (uint32_t)(i / c->lanes);
    return 0;
}

/* ---- the local Jacobian -------------------------------------------------------------------
 */

wg_status wgi_local_jacobian(wgi_core *c, const char *call, wg_mark start, size_t n,
                             const wg_real *x, size_t m, const wg_real *y, double *jac) {
    c->swept = 0;
    wg_status s = wgi_refuse_always(c, call, start.record);
    if (s != WG_OK) return s;
    s = wgi_adjoints_need(c, c->head.slots, LANES);
    if (s == WG_OK) s = wgi_blocks_room(c, 0);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no memory for adjoints", call);
    wgi_adjoints_forget(c);
    c->lanes = c->asked = LANES;
    c->traced = 0;
    const uint64_t high = c->chunks == 0 ? 0 : wgi_record_count(c);
    for (size_t first = 0; first < m; first += LANES) {
        double *const adjoint = wgi_adjoints(c);
        each_operand(c, start.record, clear, start.slot);
        memset(adjoint + (size_t)start.slot * LANES, 0,
               (size_t)(c->head.slots - start.slot) * LANES * sizeof(double));
        memset(adjoint, 0, LANES * sizeof(double));
        for (size_t i = 0; i < n; i++)
            memset(adjoint + (size_t)x[i].at.slot * LANES, 0, LANES * sizeof(double));
        const size_t rows = m - first < LANES ? m - first : LANES;
        for (size_t l = 0; l < rows; l++)
            if (y[first + l].at.slot >= start.slot)
                adjoint[(size_t)y[first + l].at.slot * LANES + l] += 1;
        s = wgi_sweep(c, high, start.record);
        if (s != WG_OK) return s;
        for (size_t i = 0; i < n; i++) {
            double *const row = adjoint + (size_t)x[i].at.slot * LANES;
            for (size_t l = 0; l < rows; l++) {
                jac[(first + l) * n + i] = row[l];
                row[l] = 0;
            }
        }
        const uint32_t foreign = each_operand(c, start.record, reached, start.slot);
        if (foreign != 0)
            return wgi_refuse(c, WG_EARG,
                              "%s: depends on slot %u, which is not among the %zu inputs given",
                              call, foreign, n);
    }
    return WG_OK;
}

/* ---- preaccumulation ----------------------------------------------------------------------
 */

static wg_status compress(wgi_core *c, wg_mark start, size_t n, const wg_real *x, size_t m,
                          wg_real *y) {
    const char *const call = "wg_preaccumulate";
    if (n > SIZE_MAX / 64 / (m + 1)) return wgi_refuse(c, WG_ENOMEM, "%s: too large", call);
    const size_t bytes = m * n * sizeof(double) + n * sizeof(uint32_t);
    const uint64_t used = c->scratch_used;
    /* with the workspace for sweeps over blocks, so that nothing moves later */
    wg_status s = wgi_blocks_room(c, bytes + 64);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no room for %zux%zu derivatives", call, m, n);
    double *const jac = wgi_scratch(c, bytes);
    uint32_t *const slot = (uint32_t *)(void *)(jac + m * n);
    s = wgi_local_jacobian(c, call, start, n, x, m, y, jac);
    c->swept = 0;
    if (s == WG_OK) s = wg_tape_rewind(&c->head, start);
    for (size_t j = 0; j < m && s == WG_OK; j++) {
        if (y[j].at.slot < start.slot) continue;
        uint32_t any = 0;
        for (size_t i = 0; i < n; i++) {
            slot[i] = jac[j * n + i] != 0 ? x[i].at.slot : 0;
            any |= slot[i];
        }
        y[j] = any == 0 ? wg_constant(y[j].value)
                        : wgi_append(c, call, y[j].value, n, slot, jac + j * n);
        s = c->status;
    }
    c->scratch_used = used;
    return s;
}

/* The same on a forward tape: y goes to where the forgotten begins, and takes its tangents
 * along. */
static wg_status carry_over(wgi_core *c, wg_mark start, size_t m, wg_real *y) {
    const char *const call = "wg_preaccumulate";
    const uint64_t used = c->scratch_used;
    const size_t row = c->width * sizeof(double);
    size_t moved = 0;
    for (size_t j = 0; j < m; j++) moved += y[j].at.slot >= start.slot;
    wg_status s = moved <= SIZE_MAX / 64 / row ? wgi_scratch_need(c, moved * row) : WG_ENOMEM;
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no room for %zu variables", call, moved);
    char *const room = wgi_scratch(c, moved * row), *at = room;
    for (size_t j = 0; j < m; j++) {
        if (y[j].at.slot < start.slot) continue;
        memcpy(at, wgi_tangents_of(c, y[j].at.slot), row);
        at += row;
    }
    s = wg_tape_rewind(&c->head, start);
    if (s == WG_OK) s = wgi_slots_need(c, call, moved);
    if (s == WG_OK && moved != 0) memcpy(wgi_tangents_of(c, c->head.slots), room, moved * row);
    for (size_t j = 0; j < m && s == WG_OK; j++)
        if (y[j].at.slot >= start.slot) y[j].at = (wg_handle){c->head.slots++, c->head.stamp};
    c->scratch_used = used;
    wgi_limit_set(c);
    return s;
}

wg_status wg_preaccumulate(wg_tape *t, wg_mark start, size_t n, const wg_real *x, size_t m,
                           wg_real *y) {
    const char *const call = "wg_preaccumulate";
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if ((n != 0 && x == NULL) || (m != 0 && y == NULL))
        return wgi_refuse(c, WG_ENULL, "%s: an array of %zu inputs or %zu outputs is NULL",
                          call, n, m);
    if (wgi_refuse_segment(c, call) != WG_OK) return WG_EMODE;
    if (c->flags & WG_KEEP_CODE)
        return wgi_refuse(c, WG_EMODE, "%s: local derivatives have no code to keep", call);
    if (!wgi_mark_alive(c, start))
        return wgi_refuse(c, WG_EMARK,
                          "%s: a mark of another tape, or from before a reset or rewind", call);
    wg_status s = wgi_refuse_stale(c, call, n, x);
    if (s == WG_OK) s = wgi_refuse_stale(c, call, m, y);
    if (s != WG_OK || c->pauses != 0 || c->passive) return s;
    for (size_t i = 0; i < n; i++)
        if (x[i].at.slot >= start.slot)
            return wgi_refuse(c, WG_EARG, "%s: input %zu was recorded after the mark", call, i);
    return c->width != 0 ? carry_over(c, start, m, y) : compress(c, start, n, x, m, y);
}

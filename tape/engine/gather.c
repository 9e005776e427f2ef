/* SPDX-License-Identifier: MIT */
/* Blocks without an operation, of the tape's own: a gather, whose elements are variables
 * recorded one by one, and an input, which is a block only where the tape can be replayed. */
#include "tape.h"

#include <string.h>

/* Values that come from slots, without an operation. The params are the slots, column after
 * column; an element of slot 0 keeps its value. */
static const wg_block_op gather_op = {
    "wg_mat_gather", 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
/* Values of independent variables, in slots of their own. It is recorded on tapes that can be
 * replayed. */
static const wg_block_op input_op = {"wg_mat_input", 0,    NULL, NULL, NULL,
                                     NULL,           NULL, NULL, NULL};

int wgi_is_gather(const wgi_block *b) { return b->op == &gather_op; }

const uint32_t *wgi_gather_slots(const wgi_block *b) {
    return b->op == &gather_op ? (const uint32_t *)b->params : NULL;
}

int wgi_gather_reverse(wgi_core *c, const wgi_block *b) {
    if (b->op == &input_op) return 1;
    if (b->op != &gather_op) return 0;
    const uint32_t *const slot = b->params;
    double *const adjoint = wgi_adjoints(c);
    const size_t lanes = c->lanes;
    for (size_t i = 0; i < b->outs; i++)
        for (size_t l = 0; slot[i] != 0 && l < lanes; l++)
            adjoint[(size_t)slot[i] * lanes + l] += adjoint[((size_t)b->out + i) * lanes + l];
    return 1;
}

wg_status wgi_gather_trace(wgi_core *c, const wgi_block *b) {
    if (b->op != &gather_op) return WG_OK;
    const uint32_t *const slot = b->params;
    const double *const adjoint = wgi_adjoints(c);
    for (size_t i = 0; i < b->outs; i++) {
        if (slot[i] == 0 || adjoint[slot[i]] == adjoint[slot[i]]) continue;
        c->swept = 0;
        return wgi_refuse(c, WG_ENONFINITE,
                          "a sweep: %s of %u variables: the adjoint of element %zu, slot %u, "
                          "becomes nan",
                          b->op->name, b->outs, i, slot[i]);
    }
    return WG_OK;
}

int wgi_gather_forward(wgi_core *c, const wgi_block *b) {
    if (b->op == &input_op) return 1;
    if (b->op != &gather_op) return 0;
    const uint32_t *const slot = b->params;
    double *const tangent = wgi_tangents(c);
    const size_t row = c->width * sizeof(double);
    for (size_t i = 0; i < b->outs; i++)
        if (slot[i] != 0)
            memcpy(tangent + ((size_t)b->out + i) * c->width,
                   tangent + (size_t)slot[i] * c->width, row);
    return 1;
}

int wgi_gather_replay(wgi_core *c, const wgi_block *b) {
    double *const to = b->operand[0].value;
    const size_t n = (size_t)b->operand[0].rows * b->operand[0].cols;
    if (b->op == &input_op) memcpy(to, wgi_values(c) + b->operand[0].slot, n * sizeof(double));
    else if (b->op == &gather_op)
        for (size_t i = 0; i < n; i++) {
            const uint32_t slot = ((const uint32_t *)b->params)[i];
            if (slot != 0) to[i] = wgi_values(c)[slot];
        }
    else return 0;
    return 1;
}

/* Appends a block of one result, without operands. Of its slots [out, out + outs) are new;
 * `out` is the next slot, or the last one if there are none. */
static wg_status own_block(wgi_core *c, const wg_block_op *op, const wg_mat *a, void *params,
                           uint32_t out, uint32_t outs) {
    const size_t bytes = sizeof(wgi_block) + sizeof(wgi_operand);
    const wg_status s = wgi_payload_need(c, bytes);
    if (s != WG_OK) return wgi_fail(c, s, "%s: no room for its record", op->name);
    wgi_block *const b = wgi_payload_take(c, bytes);
    memset(b, 0, bytes);
    b->op = op;
    b->params = params;
    b->out = out, b->outs = outs;
    b->outputs = 1;
    b->operand[0] = (wgi_operand){(double *)(uintptr_t)a->value,
                                  (uint32_t)a->rows,
                                  (uint32_t)a->cols,
                                  (uint32_t)a->ld,
                                  a->at.slot,
                                  0};
    return wgi_block_append(c, b);
}

wg_status wgi_input_append(wgi_core *c, const wg_mat *m) {
    return own_block(c, &input_op, m, NULL, m->at.slot, 0);
}

/* Do the variables stand in consecutive slots of one branch? */
static int consecutive(size_t n, const wg_real *x) {
    for (size_t i = 0; i < n; i++)
        if (x[i].at.slot == 0 || x[i].at.slot != x[0].at.slot + i ||
            x[i].at.stamp != x[0].at.stamp)
            return 0;
    return 1;
}

wg_status wgi_gather_append(wgi_core *c, wg_mat *m, size_t n, const wg_real *x) {
    double *const value = (double *)(uintptr_t)m->value;
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++) {
        value[i] = x[i].value;
        any |= x[i].at.slot;
    }
    if (any == 0 || c->pauses != 0 || c->passive) return WG_OK;
    if (consecutive(n, x)) { /* the slots are there, and only a replay has something to do */
        m->at = x[0].at;
        if ((c->flags & WG_KEEP_CODE) == 0 || c->width != 0) return WG_OK;
    }
    const uint32_t out = c->head.slots;
    wg_status s = m->at.slot == 0 ? wgi_slots_need(c, "wg_mat_gather", n) : WG_OK;
    if (s == WG_OK) {
        s = wgi_payload_need(c, n * sizeof(uint32_t));
        if (s != WG_OK) (void)wgi_fail(c, s, "wg_mat_gather: no room for %zu slots", n);
    }
    if (s != WG_OK) return s;
    if (c->width != 0) {
        double *const all = (double *)(void *)c->tangents.base;
        for (size_t i = 0; i < n; i++) {
            double *const to = all + ((size_t)out + i) * c->width;
            const uint32_t slot = x[i].at.slot;
            wgi_note_operand(c, slot);
            if (slot != 0) memcpy(to, all + (size_t)slot * c->width, c->width * sizeof(double));
            else memset(to, 0, c->width * sizeof(double)); /* there is no row of slot 0 */
        }
        if (c->flags & WG_KEEP_CODE) memcpy(wgi_values(c) + out, m->value, n * sizeof(double));
        m->at.slot = out;
    } else {
        uint32_t *const slot = wgi_payload_take(c, n * sizeof(uint32_t));
        for (size_t i = 0; i < n; i++) slot[i] = x[i].at.slot;
        const int fresh = m->at.slot == 0;
        if (fresh) m->at.slot = out;
        s = own_block(c, &gather_op, m, slot, fresh ? out : out - 1, fresh ? (uint32_t)n : 0);
        if (s != WG_OK || !fresh) return s;
    }
    c->head.slots += (uint32_t)n;
    wgi_limit_set(c);
    return WG_OK;
}

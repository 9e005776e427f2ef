/* SPDX-License-Identifier: MIT */
/* Blocks in sweeps: adjoints, of one lane and of many; tangents; replays. */
#include "ops/scalar/copy.h"
#include "numbers.h"
#include "block.h"
#include "touched.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- one lane of interleaved rows ---- */

/* Copies a lane to a contiguous matrix; adds such a matrix to the lane. */
static void unpack(const wgi_operand *o, const double *rows, size_t lanes, double *x) {
    for (size_t j = 0; j < wgi_columns(o); j++)
        for (size_t i = 0; i < wgi_column_length(o); i++)
            *x++ = rows[((size_t)o->slot + j * o->ld + i) * lanes];
}

static void pack_add(const wgi_operand *o, const double *x, size_t lanes, double *rows) {
    for (size_t j = 0; j < wgi_columns(o); j++)
        for (size_t i = 0; i < wgi_column_length(o); i++)
            rows[((size_t)o->slot + j * o->ld + i) * lanes] += *x++;
}

static size_t size_of(const wgi_operand *o) { return (size_t)o->rows * o->cols; }

/* Gives every variable among the operands and results a contiguous bar in `room`. */
static void bars_of(const wgi_block *b, wg_block_arg *arg, char *room) {
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++) {
        if (!wgi_is_active(&b->operand[i]) && i < b->inputs) continue;
        arg[i].bar = (double *)(void *)room;
        arg[i].bar_ld = wgi_column_length(&b->operand[i]);
        if (arg[i].bar_ld == 0) arg[i].bar_ld = 1;
        if (wgi_is_active(&b->operand[i]))
            room += wgi_payload_round(size_of(&b->operand[i]) * sizeof(double));
    }
}

/* ---- backward ---- */

static int seeded(const wgi_block *b, const wg_block_arg *out) {
    for (uint32_t k = 0; k < b->outputs; k++)
        if (wgi_is_active(&b->operand[b->inputs + k]) &&
            !wgi_all_zero(out[k].bar, size_of(&b->operand[b->inputs + k])))
            return 1;
    return 0;
}

/* Operands none of whose slots has an adjoint yet. */
static unsigned untouched(const wgi_core *c, const wgi_block *b) {
    unsigned bits = 0;
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        if (wgi_is_active(o) &&
            o->slot + (wgi_columns(o) - 1) * o->ld + wgi_column_length(o) <= c->untouched)
            bits |= 1U << i;
    }
    return bits;
}

static wg_status one_adjoint(wgi_core *c, const wgi_block *b, wg_block *call) {
    double *const adjoint = wgi_adjoints(c);
    for (uint32_t i = 0; i < b->inputs; i++)
        if (wgi_is_active(&b->operand[i])) call->in[i].bar = adjoint + b->operand[i].slot;
    for (uint32_t k = 0; k < b->outputs; k++)
        call->out[k].bar = adjoint + b->operand[b->inputs + k].slot;
    if (b->op->flags & WG_OP_ALWAYS) call->untouched = untouched(c, b);
    if ((b->op->flags & (WG_OP_ZERO_RULE | WG_OP_ALWAYS)) == 0 && !seeded(b, call->out))
        return WG_OK;
    return b->op->vjp(call);
}

/* Rows of derivatives, in so many lanes, as the bars of a WG_OP_ALWAYS. */
static void rows_of(const wgi_block *b, wg_block *call, double *rows, size_t lanes) {
    call->lanes = lanes;
    for (uint32_t i = 0; i < b->inputs; i++)
        if (wgi_is_active(&b->operand[i])) call->in[i].bar = rows + b->operand[i].slot * lanes;
    for (uint32_t k = 0; k < b->outputs; k++)
        call->out[k].bar = rows + b->operand[b->inputs + k].slot * lanes;
}

static wg_status many_adjoints(wgi_core *c, const wgi_block *b, wg_block *call, char *room) {
    double *const adjoint = wgi_adjoints(c);
    const wgi_touched *const few = wgi_touched_of(b->op);
    if (b->op->flags & WG_OP_ALWAYS) {
        rows_of(b, call, adjoint, c->lanes);
        call->untouched = untouched(c, b);
        return b->op->vjp(call);
    }
    bars_of(b, call->in, room);
    for (size_t l = 0; l < c->lanes; l++) {
        if (few != NULL) wgi_touched_clear(few, call);
        for (uint32_t i = 0; i < b->inputs; i++)
            if (call->in[i].bar != NULL && few == NULL)
                memset(call->in[i].bar, 0, size_of(&b->operand[i]) * sizeof(double));
        for (uint32_t k = 0; k < b->outputs; k++)
            if (wgi_is_active(&b->operand[b->inputs + k]))
                unpack(&b->operand[b->inputs + k], adjoint + l, c->lanes, call->out[k].bar);
        if (!seeded(b, call->out)) continue;
        const wg_status s = b->op->vjp(call);
        if (s != WG_OK) return s;
        if (few != NULL)
            wgi_touched_add(few, call, adjoint + (size_t)b->operand[0].slot * c->lanes + l,
                            c->lanes);
        for (uint32_t i = 0; i < b->inputs; i++)
            if (call->in[i].bar != NULL && few == NULL)
                pack_add(&b->operand[i], call->in[i].bar, c->lanes, adjoint + l);
    }
    return WG_OK;
}

static int adjoints_are_numbers(const wgi_core *c, const wgi_block *b) {
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        for (size_t j = 0; wgi_is_active(o) && j < wgi_columns(o); j++)
            for (size_t k = 0; k < wgi_column_length(o); k++) {
                const double w = wgi_adjoints(c)[(size_t)o->slot + j * o->ld + k];
                if (w != w) return 0;
            }
    }
    return 1;
}

uint64_t wgi_tape_close(wgi_core *c) {
    c->head.limit = c->head.kept_limit = NULL;
    c->head.watches = 1;
    c->status = WG_EMODE;
    c->closed = 1;
    return c->stamps;
}

int wgi_tape_open_again(wgi_core *c, uint64_t stamps) {
    c->closed = 0;
    if (c->stamps != stamps || c->status != WG_EMODE) return 0;
    c->status = WG_OK;
    wgi_limit_set(c);
    return 1;
}

wgi_hold wgi_tape_hold(wgi_core *c) {
    const wgi_hold before = {c->head.code_words, c->head.slots, c->held};
    c->held = 1;
    return before;
}

int wgi_tape_release(wgi_core *c, wgi_hold before) {
    const int asked = c->held == 2;
    c->held = before.held;
    return asked || c->head.slots != before.slots || c->head.code_words != before.words;
}

/* While derivatives of a block are found, by functions of the user's, or of what the user has
 * given to an operation, the tape is closed, and its records stay: a reset or a rewind is
 * refused, and found afterwards. */
typedef struct closing {
    uint64_t stamps;
    wgi_hold before;
} closing;
static closing close_and_hold(wgi_core *c) {
    closing k;
    k.stamps = wgi_tape_close(c);
    k.before = wgi_tape_hold(c);
    return k;
}
/* 0: it was to be reset or rewound. */
static int open_again(wgi_core *c, closing k) {
    const int asked = wgi_tape_release(c, k.before);
    return wgi_tape_open_again(c, k.stamps) && !asked;
}

/* What comes of a vjp that was called while the tape was closed. */
static wg_status opened_again(wgi_core *c, const char *name, closing k, wg_status s,
                              wg_block *call) {
    if (!open_again(c, k)) {
        c->swept = 0;
        return wgi_refuse(c, WG_EMODE, "a sweep: %s: its vjp would reset or rewind the tape",
                          name);
    }
    if (s == WG_OK) return s;
    c->swept = 0;
    if (s == WG_EMODE && call->why == NULL)
        call->why = "WG_EMODE; a tape is closed while it is swept";
    return wgi_block_explain(c, wgi_refuse, "a sweep", name, s, call);
}

wg_status wgi_block_vjp(wgi_core *c, const wgi_block *b, wg_block *call) {
    const char *const name = b->op->name;
    const closing k = close_and_hold(c);
    return opened_again(c, name, k, b->op->vjp(call), call);
}

wg_status wgi_block_adjoint(wgi_core *c, const wgi_block *b, wg_block *call, wg_tape *beside,
                            const wg_mat *in, const wg_mat *out, const wg_mat *bar,
                            wg_mat *back) {
    const closing k = close_and_hold(c);
    const wg_status s = b->op->adjoint(beside, call, in, out, bar, back);
    if (open_again(c, k)) return s;
    c->swept = 0;
    call->why = "its adjoint would reset or rewind the tape";
    return WG_EMODE;
}

wg_status wgi_block_reverse(wgi_core *c, const wgi_block *b) {
    if (wgi_gather_reverse(c, b)) return c->traced ? wgi_gather_trace(c, b) : WG_OK;
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    const uint64_t used = c->scratch_used;
    void *const work = wgi_scratch(c, b->work_bytes);
    wg_block call;
    wgi_block_call(&call, b, arg, work);
    char *const room = c->lanes == 1 ? NULL : wgi_scratch(c, c->lane_bytes);
    const char *const name = b->op->name;
    const closing k = close_and_hold(c);
    wg_status s = room == NULL ? one_adjoint(c, b, &call) : many_adjoints(c, b, &call, room);
    if (s == WG_OK && c->traced && !adjoints_are_numbers(c, b)) {
        s = WG_ENONFINITE;
        call.why = "the adjoint of an operand became NaN";
    }
    s = opened_again(c, name, k, s, &call);
    c->scratch_used = used;
    return s;
}

wg_status wgi_blocks_room(wgi_core *c, size_t bytes) {
    const wg_status s = wgi_scratch_need(c, bytes + 2 * c->lane_bytes + c->work_bytes);
    if (s == WG_OK) return s;
    /* the most may be that of a block which a rewind has forgotten */
    c->lane_bytes = c->work_bytes = 0;
    for (const wgi_block *b = c->head.last_block; b != NULL; b = b->prev)
        if (b->op != &wgi_small_op) wgi_block_note_room(c, b);
    return wgi_scratch_need(c, bytes + 2 * c->lane_bytes + c->work_bytes);
}

wgi_block *wgi_block_at(const wgi_core *c, uint64_t number) {
    const wgi_record *const r = wgi_record_at(c, number);
    wgi_block *b = NULL;
    if (r->kind == WGI_BLOCK) memcpy(&b, &r->jac0, sizeof b);
    return b;
}

const wgi_block *wgi_block_of(const wgi_core *c, uint32_t slot) {
    if (c->head.last_block == NULL) return NULL;
    for (uint64_t r = wgi_record_after(c, slot); r > 0; r--) {
        const wgi_block *const b = wgi_block_at(c, r - 1);
        if (b == NULL) return NULL;
        if (b->outs != 0) return slot - b->out < b->outs ? b : NULL;
        if (b->out < slot || !wgi_is_gather(b)) return NULL; /* an input */
    }
    return NULL;
}

const wgi_block *wgi_block_below(const wgi_core *c, uint64_t high, uint64_t low) {
    const wgi_block *b = c->head.last_block;
    /* backwards along blocks and along records: whichever finds one first */
    for (uint64_t r = high; b != NULL && b->record >= high; b = b->prev) {
        if (r <= low) return NULL;
        const wgi_block *const at = wgi_block_at(c, --r);
        if (at != NULL) return at;
    }
    return b != NULL && b->record >= low ? b : NULL;
}

uint64_t wgi_reach(const wgi_core *c, uint64_t root) {
    const wgi_block *const b = wgi_block_of(c, (uint32_t)root);
    return b == NULL ? root : (uint64_t)b->out + b->outs - 1;
}

wg_status wgi_refuse_always(wgi_core *c, const char *call, uint64_t from) {
    if (c->always == 0) return WG_OK;
    for (const wgi_block *b = c->head.last_block; b != NULL && b->record >= from; b = b->prev)
        if (b->op->flags & WG_OP_ALWAYS)
            return wgi_refuse(c, WG_EMODE, "%s: %s reaches beyond this tape", call,
                              b->op->name);
    return WG_OK;
}

/* ---- forward ---- */

/* wgi_refuse on a tape that is closed. */
static wg_status refuse_closed(wgi_core *c, wg_status s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(c->message, sizeof c->message, format, args);
    va_end(args);
    return s;
}

/* J v for an operation without a jvp: a vjp with a unit seed for each element of the results
 * gives a row of J. `bars` are the tangents, `row` is room for a row. */
static wg_status tangent_by_rows(const wgi_block *b, wg_block *call, wg_block_arg *row,
                                 char *room) {
    wg_block rows = *call;
    memcpy(row, call->in, (b->inputs + b->outputs) * sizeof *row);
    rows.in = row, rows.out = row + b->inputs;
    bars_of(b, row, room);
    for (uint32_t k = 0; k < b->outputs; k++)
        memset(row[b->inputs + k].bar, 0, size_of(&b->operand[b->inputs + k]) * sizeof(double));
    for (uint32_t k = 0; k < b->outputs; k++)
        for (size_t e = 0; e < size_of(&b->operand[b->inputs + k]); e++) {
            for (uint32_t i = 0; i < b->inputs; i++)
                if (row[i].bar != NULL)
                    memset(row[i].bar, 0, size_of(&b->operand[i]) * sizeof(double));
            rows.out[k].bar[e] = 1;
            const wg_status s = b->op->vjp(&rows);
            if (s != WG_OK) return s;
            rows.out[k].bar[e] = 0;
            double sum = 0;
            for (uint32_t i = 0; i < b->inputs; i++)
                for (size_t j = 0; call->in[i].bar != NULL && j < size_of(&b->operand[i]); j++)
                    sum += wgi_product(row[i].bar[j], call->in[i].bar[j]);
            call->out[k].bar[e] = sum;
        }
    return WG_OK;
}

/* Is a slice of adjoints or tangents all 0? */
static int zero_slice(const wgi_operand *o, const double *x) {
    for (size_t j = 0; j < wgi_columns(o); j++)
        if (!wgi_all_zero(x + j * o->ld, wgi_column_length(o))) return 0;
    return 1;
}

/* The tangents of one lane by jvp, where they stand. */
static wg_status one_tangent(wgi_core *c, const wgi_block *b, void *work, uint64_t used) {
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    double *const all = (double *)(void *)c->tangents.base;
    wg_block call;
    int none = 1;
    wgi_block_call(&call, b, arg, work);
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        if (!wgi_is_active(o)) continue;
        wgi_note_operand(c, o->slot);
        call.in[i].bar = all + o->slot;
        none = none && zero_slice(o, call.in[i].bar);
    }
    for (uint32_t k = 0; k < b->outputs; k++) {
        const wgi_operand *const o = &b->operand[b->inputs + k];
        call.out[k].bar = all + o->slot;
        if (none && wgi_is_active(o)) memset(call.out[k].bar, 0, size_of(o) * sizeof(double));
    }
    const wg_status s = none ? WG_OK : b->op->jvp(&call);
    c->scratch_used = used;
    return s == WG_OK ? s
                      : wgi_block_explain(c, refuse_closed, "a tangent", b->op->name, s, &call);
}

/* Those of all lanes at once. */
static wg_status all_tangents(wgi_core *c, const wgi_block *b, void *work, uint64_t used) {
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wg_block call;
    wgi_block_call(&call, b, arg, work);
    rows_of(b, &call, wgi_tangents(c), c->width);
    for (uint32_t i = 0; i < b->inputs; i++) wgi_note_operand(c, b->operand[i].slot);
    const wg_status s = b->op->jvp(&call);
    c->scratch_used = used;
    return s == WG_OK ? s
                      : wgi_block_explain(c, refuse_closed, "a tangent", b->op->name, s, &call);
}

/* The bytes of one lane of its tangents, of which there are two at a time; 0 where they do not go
 * lane by lane. */
static size_t lane_of_tangents(const wgi_core *c, const wgi_block *b) {
    const int together =
        (b->op->flags & WG_OP_ALWAYS) != 0 || (c->width == 1 && b->op->jvp != NULL);
    return together ? 0 : wgi_block_lane_bytes(b);
}

/* There is workspace. */
static wg_status tangents(wgi_core *c, const wgi_block *b) {
    wg_block_arg arg[2 * WGI_MAX_ARGS], row[2 * WGI_MAX_ARGS];
    const uint64_t used = c->scratch_used;
    const int always = (b->op->flags & WG_OP_ALWAYS) != 0;
    const int single = c->width == 1 && b->op->jvp != NULL;
    const size_t lane = lane_of_tangents(c, b);
    wg_status s = WG_OK;
    void *const work = wgi_scratch(c, b->work_bytes);
    if (always) return all_tangents(c, b, work, used);
    if (single) return one_tangent(c, b, work, used);
    char *const room = wgi_scratch(c, lane), *const more = wgi_scratch(c, lane);
    wg_block call;
    wgi_block_call(&call, b, arg, work);
    bars_of(b, arg, room);
    double *const all = (double *)(void *)c->tangents.base;
    for (size_t l = 0; l < c->width && s == WG_OK; l++) {
        int none = 1;
        for (uint32_t i = 0; i < b->inputs; i++) {
            if (arg[i].bar == NULL) continue;
            wgi_note_operand(c, b->operand[i].slot);
            unpack(&b->operand[i], all + l, c->width, arg[i].bar);
            none = none && wgi_all_zero(arg[i].bar, size_of(&b->operand[i]));
        }
        for (uint32_t k = b->inputs; none && k < b->inputs + b->outputs; k++)
            if (wgi_is_active(&b->operand[k]))
                memset(arg[k].bar, 0, size_of(&b->operand[k]) * sizeof(double));
        if (!none)
            s = b->op->jvp != NULL ? b->op->jvp(&call) : tangent_by_rows(b, &call, row, more);
        for (uint32_t k = b->inputs; k < b->inputs + b->outputs; k++) {
            const wgi_operand *const o = &b->operand[k];
            if (!wgi_is_active(o)) continue;
            for (size_t e = 0; e < size_of(o); e++)
                all[((size_t)o->slot + e) * c->width + l] = arg[k].bar[e];
        }
    }
    c->scratch_used = used;
    return s == WG_OK ? s
                      : wgi_block_explain(c, refuse_closed, "a tangent", b->op->name, s, &call);
}

/* With the tape closed; *open: it was not to be reset or rewound meanwhile. */
static wg_status closed_tangents(wgi_core *c, const wgi_block *b, int *open) {
    const wg_status room =
        wgi_scratch_need(c, 2 * lane_of_tangents(c, b) + (size_t)b->work_bytes);
    const closing k = close_and_hold(c);
    const wg_status s =
        room == WG_OK ? tangents(c, b)
                      : refuse_closed(c, room, "%s: no workspace for tangents", b->op->name);
    *open = open_again(c, k);
    return s;
}

wg_status wgi_block_forward(wgi_core *c, const wgi_block *b) {
    if (b->op == &wgi_small_op) wgi_small_forward(c, b);
    else if (!wgi_gather_forward(c, b)) {
        int open;
        const wg_status s = closed_tangents(c, b, &open);
        if (open) return s;
        return wgi_refuse(c, WG_EMODE, "a tangent: %s: its jvp would reset or rewind the tape",
                          b->op->name);
    }
    return WG_OK;
}

wg_status wgi_block_first_tangents(wgi_core *c, const wgi_block *b) {
    int open;
    const wg_status s = closed_tangents(c, b, &open);
    if (!open)
        return wgi_fail(c, WG_EMODE, "%s: its tangent would reset or rewind the tape",
                        b->op->name);
    if (s == WG_OK) return s;
    char said[sizeof c->message];
    memcpy(said, c->message, sizeof said);
    return wgi_fail(c, s, "%s", said);
}

/* ---- replay ---- */

wg_status wgi_block_replay(wgi_core *c, wgi_block *b) {
    if (!wgi_gather_replay(c, b)) {
        for (uint32_t i = 0; i < b->inputs; i++) wgi_take_scalar(c, &b->operand[i]);
        wg_block_arg arg[2 * WGI_MAX_ARGS];
        const uint64_t used = c->scratch_used;
        wg_block call;
        /* the replay has made the room */
        wgi_block_call(&call, b, arg, wgi_scratch(c, b->work_bytes));
        const char *const name = b->op->name;
        const wgi_hold before = wgi_tape_hold(c);
        const wg_status s = b->op->value(&call);
        c->scratch_used = used;
        if (wgi_tape_release(c, before))
            return wgi_fail(c, WG_EMODE,
                            "wg_tape_replay: %s: its value has recorded on the tape, or would "
                            "reset, rewind or replay it",
                            name);
        if (s != WG_OK)
            return wgi_block_explain(c, wgi_fail, "wg_tape_replay", b->op->name, s, &call);
    }
    wgi_block_keep_values(c, b);
    return WG_OK;
}

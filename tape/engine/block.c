/* SPDX-License-Identifier: MIT */
/* Blocks: an operation on matrices is one record and a payload.
 *
 * The payload holds what the sweep needs: operation, operands and results as values and slots,
 * the params of the call, and what the operation saved. Blocks are linked backwards, so that
 * sweeps run over the scalar records between them without a test; walks forward find the
 * payload in the record, in the place of jac0. Values and payloads never move; a view is a
 * pointer to values with the slot that belongs to it. */
#include "ops/scalar/copy.h"
#include "tape.h"
#include "touched.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- what an operation sees ---- */

static void arg_of(wg_block_arg *a, const wgi_operand *o) {
    a->rows = o->rows, a->cols = o->cols, a->ld = a->bar_ld = o->ld;
    a->trans = o->trans;
    a->value = o->value;
    a->bar = NULL;
}

/* Field by field: a cleared struct costs more than a small operation. */
static void start_call(wg_block *call, const void *params, size_t inputs, size_t outputs,
                       wg_block_arg *arg) {
    call->params = params;
    call->inputs = inputs, call->outputs = outputs;
    call->in = arg, call->out = arg + inputs;
    call->saved = call->work = NULL;
    call->saved_bytes = call->work_bytes = 0;
    call->info = 0;
    call->why = NULL;
    call->lanes = 1;
}

void wgi_block_call(wg_block *call, const wgi_block *b, wg_block_arg *arg, void *work) {
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++) arg_of(&arg[i], &b->operand[i]);
    start_call(call, b->params, b->inputs, b->outputs, arg);
    call->saved = b->saved;
    call->work = work;
}

/* Columns as they are stored, and the length of one. */
static size_t length_of(const wgi_operand *o) { return o->trans ? o->cols : o->rows; }
static size_t columns_of(const wgi_operand *o) { return o->trans ? o->rows : o->cols; }

static int active(const wgi_operand *o) { return o->slot != 0 && o->rows != 0 && o->cols != 0; }

/* ---- messages ---- */

static void shapes(char *text, size_t bytes, size_t n, const wg_block_arg *in) {
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < n && at < bytes; i++)
        at += (size_t)snprintf(text + at, bytes - at, "%s%zux%zu", i == 0 ? "" : ", ",
                               in[i].rows, in[i].cols);
}

typedef wg_status report(wgi_core *c, wg_status s, const char *format, ...);

/* Describes the failure that an operation has returned, or that it returned what is no status. */
static wg_status explain(wgi_core *c, report *to, const char *call, const char *name,
                         wg_status s, const wg_block *b) {
    char of[200], info[32] = "";
    if ((unsigned)s >= WG_STATUS_COUNT) s = WG_ECALLBACK;
    shapes(of, sizeof of, b->inputs, b->in);
    if (b->info != 0) (void)snprintf(info, sizeof info, " (info %d)", b->info);
    return to(c, s, "%s%s%s%s%s: %s%s", call, call[0] != 0 ? ": " : "", name,
              of[0] != 0 ? " of " : "", of, b->why != NULL ? b->why : wg_status_text(s), info);
}

wg_status wgi_refuse_call(wgi_core *c, const char *call, const wg_block_op *op, wg_status s,
                          const wg_block *b) {
    return explain(c, wgi_refuse, call, op->name != NULL ? op->name : "an operation", s, b);
}

/* ---- recording ---- */

/* Results of a failed call: NaN, of the shape they would have had. */
static void fail_results(const wg_block_op *op, const void *params, size_t inputs,
                         const wg_mat *in, size_t outputs, wg_mat *out) {
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wg_block call;
    memset(arg, 0, sizeof arg);
    memset(&call, 0, sizeof call);
    for (size_t i = 0; i < inputs; i++)
        arg[i].rows = in[i].rows, arg[i].cols = in[i].cols, arg[i].ld = 1;
    call.params = params;
    call.inputs = inputs, call.outputs = outputs;
    call.in = arg, call.out = arg + inputs;
    const int fits = op->shape(&call) == WG_OK;
    for (size_t k = 0; k < outputs; k++)
        out[k] = fits ? wg_mat_failed(call.out[k].rows, call.out[k].cols) : wg_mat_failed(0, 0);
}

/* Do the values of a matrix stand among the payloads, in what a rewind has given back? */
static int given_back(const wgi_core *c, const wg_mat *a) {
    const uintptr_t p = (uintptr_t)a->value;
    for (int k = c->payload_current; k < c->payloads && a->rows != 0 && a->cols != 0; k++) {
        const wgi_region *const r = &c->payload[k];
        const char *const from = k == c->payload_current ? c->head.payload_top : r->base;
        if (p >= (uintptr_t)from && p < (uintptr_t)(r->base + r->committed)) return 1;
    }
    return 0;
}

/* A constant matrix is known by its generation. On a checked tape, where every rewind begins a
 * new stamp, it may have any stamp of the generation, and is known by where its values stand.
 */
int wgi_mat_stale(const wgi_core *c, const wg_mat *a) {
    if (a->at.slot == 0 && (c->flags & WG_CHECKED) == 0) return a->at.stamp != c->head.stamp;
    if (a->at.slot == 0) return !wgi_stamp_alive(c, a->at.stamp) || given_back(c, a);
    const size_t length = a->trans ? a->cols : a->rows, columns = a->trans ? a->rows : a->cols;
    if (length == 0 || columns == 0) return !wgi_alive(c, a->at);
    const uint64_t last = a->at.slot + (uint64_t)(columns - 1) * a->ld + length - 1;
    return last >= c->head.slots || !wgi_alive(c, a->at) ||
           !wgi_alive(c, (wg_handle){(uint32_t)last, a->at.stamp});
}

/* On a tape that keeps code, an operand of one element may be a scalar variable (wg_mat_from_real)
 * that has been replayed: its value stands with its slot. Of all others there is the same. */
static void take_scalar(const wgi_core *c, const wgi_operand *o) {
    if (o->slot != 0 && o->rows == 1 && o->cols == 1) *o->value = wgi_values(c)[o->slot];
}

/* The same of an operand of a new call, which gets a place of its own: replays write there, and where the
 * matrix stands may be something else by now, if it is from before a rewind, which is not noticed on
 * tapes that are not checked. */
static wg_status take_scalar_anew(wgi_core *c, const wg_block_op *op, wgi_operand *o) {
    if (o->slot == 0 || o->rows != 1 || o->cols != 1) return WG_OK;
    const wg_status s = wgi_payload_need(c, wgi_payload_round(sizeof *o->value));
    if (s != WG_OK) return wgi_fail(c, s, "%s: no room for an operand", op->name);
    o->value = wgi_payload_take(c, sizeof *o->value);
    take_scalar(c, o);
    return WG_OK;
}

/* Takes an operand as it was given; one that is transposed is copied where the operation wants
 * that. */
static wg_status operand(wgi_core *c, const wg_block_op *op, size_t i, const wg_mat *a,
                         wgi_operand *o, wg_block_arg *arg) {
    if (a->value == NULL)
        return wgi_fail(c, WG_ESHAPE,
                        "%s: operand %zu is a failed matrix, or a view out of range", op->name,
                        i);
    if (a->rows > INT_MAX || a->cols > INT_MAX || a->ld - 1 >= INT_MAX)
        return wgi_fail(c, WG_ESHAPE, "%s: operand %zu is %zux%zu, more than BLAS can take",
                        op->name, i, a->rows, a->cols);
    if (wgi_mat_stale(c, a))
        return wgi_fail(
            c, WG_ESTALE,
            "%s: operand %zu (slot %u) is a matrix of another tape, or from before a "
            "reset or rewind",
            op->name, i, a->at.slot);
    wg_mat plain;
    if (a->trans != 0 && (op->flags & WG_OP_TRANS) == 0) {
        const wg_status s = wg_apply(&c->head, &wgi_op_copy, NULL, 0, 1, a, 1, &plain);
        if (s != WG_OK) return s;
        a = &plain;
    }
    o->value = (double *)(uintptr_t)a->value;
    o->rows = (uint32_t)a->rows, o->cols = (uint32_t)a->cols, o->ld = (uint32_t)a->ld;
    o->slot = a->at.slot, o->trans = a->trans;
    if ((c->flags & WG_KEEP_CODE) != 0) {
        const wg_status s = take_scalar_anew(c, op, o);
        if (s != WG_OK) return s;
    }
    arg->value = o->value;
    arg->rows = a->rows, arg->cols = a->cols, arg->ld = arg->bar_ld = a->ld;
    arg->trans = a->trans;
    arg->bar = NULL;
    return WG_OK;
}

/* Tangents of the results on a forward tape, lane by lane. */
static wg_status tangents(wgi_core *c, const wgi_block *b, report *to);

/* Is everything that was computed finite? */
static int finite_all(const wgi_block *b) {
    for (uint32_t k = b->inputs; k < b->inputs + b->outputs; k++)
        for (size_t i = 0, n = (size_t)b->operand[k].rows * b->operand[k].cols; i < n; i++)
            if (!(b->operand[k].value[i] - b->operand[k].value[i] == 0)) return 0;
    return 1;
}

/* Copies the results to the values that replays and dumps read. */
static void keep_values(wgi_core *c, const wgi_block *b) {
    for (uint32_t k = b->inputs; k < b->inputs + b->outputs; k++) {
        const wgi_operand *const o = &b->operand[k];
        if (o->slot != 0)
            memcpy(wgi_values(c) + o->slot, o->value,
                   (size_t)o->rows * o->cols * sizeof(double));
    }
}

/* What a sweep of several lanes, or a forward tape, needs beside the workspace of the
 * operation: one lane of all operands and results. */
static size_t lane_bytes(const wgi_block *b) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++)
        if (active(&b->operand[i]))
            bytes += wgi_payload_round((size_t)b->operand[i].rows * b->operand[i].cols *
                                       sizeof(double));
    return bytes;
}

static void note_room(wgi_core *c, const wgi_block *b) {
    const size_t lane = lane_bytes(b);
    if (lane > c->lane_bytes) c->lane_bytes = lane;
    if (b->work_bytes > c->work_bytes) c->work_bytes = b->work_bytes;
}

wg_status wgi_block_append(wgi_core *c, wgi_block *b) {
    note_room(c, b);
    if (c->flags & WG_KEEP_CODE) keep_values(c, b);
    if (c->width != 0) return tangents(c, b, wgi_fail);
    const wg_status s = wgi_records_need(c, 1);
    if (s != WG_OK) return wgi_fail(c, s, "%s: no room for its record", b->op->name);
    b->record = wgi_record_count(c);
    *c->head.top = (wgi_record){.out = b->out, .kind = WGI_BLOCK};
    memcpy(&c->head.top->jac0, &b, sizeof b);
    c->head.top++;
    if ((b->op->flags & WG_OP_ALWAYS) != 0 && c->always == 0) c->always = b->record + 1;
    b->prev = c->head.last_block;
    c->head.last_block = b;
    return WG_OK;
}

/* The largest header. */
enum { HEADER = (sizeof(wgi_block) + 2 * WGI_MAX_ARGS * sizeof(wgi_operand) + 31) / 32 * 32 };

/* Asks for the shapes of the results, and computes what the block takes. */
static wg_status measure(wgi_core *c, const wg_block_op *op, wg_block *call, size_t *results,
                         size_t *values) {
    for (size_t k = 0; k < call->outputs; k++) call->out[k].rows = call->out[k].cols = 0;
    const wg_status s = op->shape(call);
    if (s != WG_OK) return explain(c, wgi_fail, "", op->name, s, call);

    for (size_t k = 0; k < call->outputs; k++) {
        const size_t rows = call->out[k].rows, cols = call->out[k].cols;
        if (rows > INT_MAX || cols > INT_MAX || rows * cols > SIZE_MAX / 64 / WGI_MAX_ARGS)
            return wgi_fail(c, WG_ESHAPE, "%s: a result of %zux%zu", op->name, rows, cols);
        *results += rows * cols;
        *values += wgi_payload_round(rows * cols * sizeof(double));
    }
    if (call->saved_bytes > SIZE_MAX / 8)
        return wgi_fail(c, WG_ENOMEM, "%s: too large", op->name);
    return WG_OK;
}

/* Writes the payload of a call that has been measured: operands as they were given and, if it
 * is recorded, results in slots from the next one on. */
static wgi_block *draw(wgi_core *c, const wg_block_op *op, wg_block *call, size_t bytes,
                       const wgi_operand *given, size_t results, int recorded) {
    const size_t inputs = call->inputs, outputs = call->outputs;
    wgi_block *const b =
        wgi_payload_take(c, sizeof *b + (inputs + outputs) * sizeof(wgi_operand));
    b->op = op;
    b->inputs = (uint32_t)inputs, b->outputs = (uint32_t)outputs;
    b->work_bytes = call->work_bytes;
    b->out = c->head.slots, b->outs = (uint32_t)results;
    b->params = NULL;
    if (bytes != 0)
        call->params = b->params = memcpy(wgi_payload_take(c, bytes), call->params, bytes);
    for (size_t i = 0; i < inputs; i++) {
        wgi_operand *const to = &b->operand[i];
        to->value = given[i].value;
        to->rows = given[i].rows, to->cols = given[i].cols, to->ld = given[i].ld;
        to->slot = given[i].slot, to->trans = given[i].trans;
    }
    uint32_t slot = b->out;
    for (size_t k = 0; k < outputs; k++) {
        wg_block_arg *const y = &call->out[k];
        const size_t n = y->rows * y->cols;
        wgi_operand *const to = &b->operand[inputs + k];
        y->ld = y->bar_ld = y->rows != 0 ? y->rows : 1;
        y->trans = 0;
        y->bar = NULL;
        y->value = wgi_payload_take(c, n * sizeof(double));
        to->value = y->value;
        to->rows = (uint32_t)y->rows, to->cols = (uint32_t)y->cols, to->ld = (uint32_t)y->ld;
        to->slot = recorded && n != 0 ? slot : 0, to->trans = 0;
        slot += (uint32_t)n;
    }
    return b;
}

/* Computes the values, and appends the record. */
static wg_status evaluate(wgi_core *c, wgi_block *b, wg_block *call, int recorded) {
    const char *const name = b->op->name;
    const uint64_t used = c->scratch_used;
    wg_status s = wgi_scratch_need(c, call->work_bytes);
    if (s != WG_OK)
        return wgi_fail(c, s, "%s: no workspace of %zu bytes", name, call->work_bytes);
    call->work = wgi_scratch(c, call->work_bytes);
    const uint64_t stamps = c->stamps;
    s = b->op->value(call);
    c->scratch_used = used;
    if (c->stamps != stamps ||
        c->head.slots != b->out) /* the block may be gone, or its slots */
        return wgi_fail(c, WG_EMODE, "%s: its value has recorded on the tape, or rewound it",
                        name);
    if (s != WG_OK) return explain(c, wgi_fail, "", name, s, call);
    if ((c->flags & WG_TRACE) != 0 && !finite_all(b))
        return explain(c, wgi_fail, "", name, WG_ENONFINITE, call);
    return recorded ? wgi_block_append(c, b) : WG_OK;
}

static wg_status apply(wgi_core *c, const wg_block_op *op, const void *params, size_t bytes,
                       size_t inputs, const wg_mat *in, size_t outputs, wg_mat *out) {
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wgi_operand given[WGI_MAX_ARGS];
    uint32_t variables = 0;
    wg_status s = WG_OK;
    for (size_t i = 0; i < inputs && s == WG_OK; i++) {
        s = operand(c, op, i, &in[i], &given[i], &arg[i]);
        if (s == WG_OK && arg[i].rows != 0 && arg[i].cols != 0) variables |= given[i].slot;
    }
    if (s != WG_OK) return s;
    wg_block call;
    start_call(&call, params, inputs, outputs, arg);
    size_t results = 0, values = 0;
    s = measure(c, op, &call, &results, &values);
    if (s != WG_OK) return s;
    const int always = (op->flags & WG_OP_ALWAYS) != 0;
    if (always && results == 0)
        return wgi_fail(c, WG_ESHAPE, "%s: a WG_OP_ALWAYS without a result", op->name);
    /* steps are swept only where there is an adjoint; equations are solved here, and there are others */
    if (always && ((c->host != NULL && !c->reaches) || c->inside != 0))
        return wgi_fail(c, WG_EMODE,
                        "%s: reaches beyond the tape of an equation, or of a step of a region "
                        "without WG_REGION_ALWAYS",
                        op->name);
    const int recorded =
        (variables != 0 || always) && results != 0 && c->pauses == 0 && !c->passive;
    if (recorded) {
        if (op->vjp == NULL && (c->width == 0 || op->jvp == NULL))
            return wgi_fail(c, WG_ENULL, "%s: its vjp is NULL", op->name);
        if (always && c->width != 0 && op->jvp == NULL)
            return wgi_fail(c, WG_ENULL, "%s: its jvp is NULL", op->name);
        s = wgi_slots_need(c, op->name, results);
        if (s != WG_OK) return s;
    }
    s = wgi_payload_need(c, HEADER + wgi_payload_round(bytes) + values +
                                wgi_payload_round(call.saved_bytes));
    if (s != WG_OK) return wgi_fail(c, s, "%s: no room for its results", op->name);
    char *const start = c->head.payload_top;
    wgi_block *const b = draw(c, op, &call, bytes, given, results, recorded);
    char *const temporary = c->head.payload_top;
    call.saved = b->saved = wgi_payload_take(c, call.saved_bytes);
    s = evaluate(c, b, &call, recorded);
    if (s != WG_OK) {
        c->head.payload_top = start;
        return s;
    }
    for (size_t k = 0; k < outputs; k++) {
        const wgi_operand *const o = &b->operand[inputs + k];
        out[k].value = o->value;
        out[k].rows = o->rows, out[k].cols = o->cols, out[k].ld = o->ld;
        out[k].at = (wg_handle){o->slot, c->head.stamp};
        out[k].trans = 0;
    }
    if (recorded) {
        c->head.slots += b->outs;
        wgi_limit_update(c);
    }
    if (!recorded || c->width != 0) c->head.payload_top = temporary;
    return WG_OK;
}

/* Refuses a call before its operands are looked at. */
static wg_status refused(wgi_core *c, const wg_block_op *op, const void *params, size_t bytes,
                         size_t inputs, const wg_mat *in, size_t outputs, const wg_mat *out) {
    if (op == NULL || (outputs != 0 && out == NULL))
        return wgi_fail(c, WG_ENULL, "wg_apply: the operation or its results are NULL");
    if (op->name == NULL)
        return wgi_fail(c, WG_ENULL, "wg_apply: the name of the operation is NULL");
    if (inputs > WGI_MAX_ARGS || outputs > WGI_MAX_ARGS)
        return wgi_fail(c, WG_EARG, "%s: %zu operands and %zu results, not up to %d", op->name,
                        inputs, outputs, WGI_MAX_ARGS);
    if (inputs != 0 && in == NULL)
        return wgi_fail(c, WG_ENULL, "%s: the operands are NULL", op->name);
    if (op->shape == NULL || op->value == NULL)
        return wgi_fail(c, WG_ENULL, "%s: its %s is NULL", op->name,
                        op->shape == NULL ? "shape" : "value");
    if (bytes != 0 && params == NULL)
        return wgi_fail(c, WG_ENULL, "%s: its params, of %zu bytes, are NULL", op->name, bytes);
    if (bytes > SIZE_MAX / 8)
        return wgi_fail(c, WG_ENOMEM, "%s: params of %zu bytes", op->name, bytes);
    return c != NULL ? wgi_check_thread(c, op->name) : WG_OK;
}

wg_status wg_apply(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                   size_t inputs, const wg_mat *in, size_t outputs, wg_mat *out) {
    wgi_core *const c = t != NULL ? wgi_core_of(t) : NULL;
    const wg_status before = t != NULL ? c->status : WG_ENULL;
    wg_status s = refused(c, op, params, bytes, inputs, in, outputs, out);
    if (s != WG_OK) {
        for (size_t k = 0; out != NULL && k < outputs; k++) out[k] = wg_mat_failed(0, 0);
        return before != WG_OK ? before : s;
    }
    s = before != WG_OK ? before : apply(c, op, params, bytes, inputs, in, outputs, out);
    if (s != WG_OK) fail_results(op, params, inputs, in, outputs, out);
    return s;
}

void *wg_tape_keep(wg_tape *t, size_t bytes, const void *data) {
    if (t == NULL) return NULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK || bytes == 0) return NULL;
    const wg_status s = wgi_payload_need(c, bytes);
    if (s != WG_OK) {
        (void)wgi_fail(c, s, "wg_tape_keep: no room for %zu bytes", bytes);
        return NULL;
    }
    void *const p = wgi_payload_take(c, bytes);
    if (data != NULL) memcpy(p, data, bytes);
    return p;
}

/* ---- one lane of interleaved rows ---- */

/* Copies a lane to a contiguous matrix; adds such a matrix to the lane. */
static void unpack(const wgi_operand *o, const double *rows, size_t lanes, double *x) {
    for (size_t j = 0; j < columns_of(o); j++)
        for (size_t i = 0; i < length_of(o); i++)
            *x++ = rows[((size_t)o->slot + j * o->ld + i) * lanes];
}

static void pack_add(const wgi_operand *o, const double *x, size_t lanes, double *rows) {
    for (size_t j = 0; j < columns_of(o); j++)
        for (size_t i = 0; i < length_of(o); i++)
            rows[((size_t)o->slot + j * o->ld + i) * lanes] += *x++;
}

static int zero(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return 0;
    return 1;
}

static size_t size_of(const wgi_operand *o) { return (size_t)o->rows * o->cols; }

/* Gives every variable among the operands and results a contiguous bar in `room`. */
static void bars_of(const wgi_block *b, wg_block_arg *arg, char *room) {
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++) {
        if (!active(&b->operand[i]) && i < b->inputs) continue;
        arg[i].bar = (double *)(void *)room;
        arg[i].bar_ld = length_of(&b->operand[i]);
        if (arg[i].bar_ld == 0) arg[i].bar_ld = 1;
        if (active(&b->operand[i]))
            room += wgi_payload_round(size_of(&b->operand[i]) * sizeof(double));
    }
}

/* ---- backward ---- */

static int seeded(const wgi_block *b, const wg_block_arg *out) {
    for (uint32_t k = 0; k < b->outputs; k++)
        if (active(&b->operand[b->inputs + k]) &&
            !zero(out[k].bar, size_of(&b->operand[b->inputs + k])))
            return 1;
    return 0;
}

static wg_status one_adjoint(wgi_core *c, const wgi_block *b, wg_block *call) {
    double *const adjoint = wgi_adjoints(c);
    for (uint32_t i = 0; i < b->inputs; i++)
        if (active(&b->operand[i])) call->in[i].bar = adjoint + b->operand[i].slot;
    for (uint32_t k = 0; k < b->outputs; k++)
        call->out[k].bar = adjoint + b->operand[b->inputs + k].slot;
    if ((b->op->flags & (WG_OP_ZERO_RULE | WG_OP_ALWAYS)) == 0 && !seeded(b, call->out))
        return WG_OK;
    return b->op->vjp(call);
}

/* Rows of derivatives, in so many lanes, as the bars of a WG_OP_ALWAYS. */
static void rows_of(const wgi_block *b, wg_block *call, double *rows, size_t lanes) {
    call->lanes = lanes;
    for (uint32_t i = 0; i < b->inputs; i++)
        if (active(&b->operand[i])) call->in[i].bar = rows + b->operand[i].slot * lanes;
    for (uint32_t k = 0; k < b->outputs; k++)
        call->out[k].bar = rows + b->operand[b->inputs + k].slot * lanes;
}

static wg_status many_adjoints(wgi_core *c, const wgi_block *b, wg_block *call, char *room) {
    const uint64_t stamps = c->stamps;
    double *const adjoint = wgi_adjoints(c);
    const wgi_touched *const few = wgi_touched_of(b->op);
    if (b->op->flags & WG_OP_ALWAYS) {
        rows_of(b, call, adjoint, c->lanes);
        return b->op->vjp(call);
    }
    bars_of(b, call->in, room);
    for (size_t l = 0; l < c->lanes; l++) {
        if (few != NULL) wgi_touched_clear(few, call);
        for (uint32_t i = 0; i < b->inputs; i++)
            if (call->in[i].bar != NULL && few == NULL)
                memset(call->in[i].bar, 0, size_of(&b->operand[i]) * sizeof(double));
        for (uint32_t k = 0; k < b->outputs; k++)
            if (active(&b->operand[b->inputs + k]))
                unpack(&b->operand[b->inputs + k], adjoint + l, c->lanes, call->out[k].bar);
        if (!seeded(b, call->out)) continue;
        const wg_status s = b->op->vjp(call);
        if (s != WG_OK || c->stamps != stamps) return s; /* the block may be gone */
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
        for (size_t j = 0; active(o) && j < columns_of(o); j++)
            for (size_t k = 0; k < length_of(o); k++) {
                const double w = wgi_adjoints(c)[(size_t)o->slot + j * o->ld + k];
                if (w != w) return 0;
            }
    }
    return 1;
}

uint64_t wgi_tape_close(wgi_core *c) {
    c->head.limit = c->head.kept_limit = NULL;
    c->head.numbers = 0;
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

/* What comes of a vjp that was called while the tape was closed. */
static wg_status opened_again(wgi_core *c, const char *name, uint64_t stamps, wg_status s,
                              wg_block *call) {
    if (!wgi_tape_open_again(c, stamps)) {
        c->swept = 0;
        return wgi_refuse(c, WG_EMODE, "a sweep: %s: its vjp has reset or rewound the tape",
                          name);
    }
    if (s == WG_OK) return s;
    c->swept = 0;
    if (s == WG_EMODE && call->why == NULL)
        call->why = "WG_EMODE; a tape is closed while it is swept";
    return explain(c, wgi_refuse, "a sweep", name, s, call);
}

wg_status wgi_block_vjp(wgi_core *c, const wgi_block *b, wg_block *call) {
    const char *const name = b->op->name;
    const uint64_t stamps = wgi_tape_close(c);
    return opened_again(c, name, stamps, b->op->vjp(call), call);
}

wg_status wgi_block_adjoint(wgi_core *c, const wgi_block *b, wg_block *call, wg_tape *beside,
                            const wg_mat *in, const wg_mat *out, const wg_mat *bar,
                            wg_mat *back) {
    const char *const name = b->op->name;
    const uint64_t stamps = wgi_tape_close(c);
    const wg_status s = b->op->adjoint(beside, call, in, out, bar, back);
    if (wgi_tape_open_again(c, stamps)) return s;
    c->swept = 0;
    return wgi_refuse(c, WG_EMODE, "a sweep: %s: its adjoint has reset or rewound the tape",
                      name);
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
    const uint64_t stamps = wgi_tape_close(c);
    wg_status s = room == NULL ? one_adjoint(c, b, &call) : many_adjoints(c, b, &call, room);
    if (c->stamps == stamps && s == WG_OK && c->traced && !adjoints_are_numbers(c, b)) {
        s = WG_ENONFINITE;
        call.why = "the adjoint of an operand became NaN";
    }
    s = opened_again(c, name, stamps, s, &call);
    c->scratch_used = used;
    return s;
}

wg_status wgi_blocks_room(wgi_core *c, size_t bytes) {
    const wg_status s = wgi_scratch_need(c, bytes + 2 * c->lane_bytes + c->work_bytes);
    if (s == WG_OK) return s;
    /* the most may be that of a block which a rewind has forgotten */
    c->lane_bytes = c->work_bytes = 0;
    for (const wgi_block *b = c->head.last_block; b != NULL; b = b->prev)
        if (b->op != &wgi_small_op) note_room(c, b);
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
    for (size_t j = 0; j < columns_of(o); j++)
        if (!zero(x + j * o->ld, length_of(o))) return 0;
    return 1;
}

/* The tangents of one lane by jvp, where they stand. */
static wg_status one_tangent(wgi_core *c, const wgi_block *b, void *work, uint64_t used,
                             report *to) {
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    double *const all = (double *)(void *)c->tangents.base;
    wg_block call;
    int none = 1;
    wgi_block_call(&call, b, arg, work);
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        if (!active(o)) continue;
        wgi_note_operand(c, o->slot);
        call.in[i].bar = all + o->slot;
        none = none && zero_slice(o, call.in[i].bar);
    }
    for (uint32_t k = 0; k < b->outputs; k++) {
        const wgi_operand *const o = &b->operand[b->inputs + k];
        call.out[k].bar = all + o->slot;
        if (none && active(o)) memset(call.out[k].bar, 0, size_of(o) * sizeof(double));
    }
    const wg_status s = none ? WG_OK : b->op->jvp(&call);
    c->scratch_used = used;
    return s == WG_OK ? s : explain(c, to, "a tangent", b->op->name, s, &call);
}

/* Those of all lanes at once. */
static wg_status all_tangents(wgi_core *c, const wgi_block *b, void *work, uint64_t used,
                              report *to) {
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wg_block call;
    wgi_block_call(&call, b, arg, work);
    rows_of(b, &call, wgi_tangents(c), c->width);
    for (uint32_t i = 0; i < b->inputs; i++) wgi_note_operand(c, b->operand[i].slot);
    const wg_status s = b->op->jvp(&call);
    c->scratch_used = used;
    return s == WG_OK ? s : explain(c, to, "a tangent", b->op->name, s, &call);
}

static wg_status tangents(wgi_core *c, const wgi_block *b, report *to) {
    wg_block_arg arg[2 * WGI_MAX_ARGS], row[2 * WGI_MAX_ARGS];
    const uint64_t used = c->scratch_used;
    const int always = (b->op->flags & WG_OP_ALWAYS) != 0;
    const int single = c->width == 1 && b->op->jvp != NULL;
    const size_t lane = single || always ? 0 : lane_bytes(b);
    wg_status s = wgi_scratch_need(c, 2 * lane + b->work_bytes);
    if (s != WG_OK) return to(c, s, "%s: no workspace for tangents", b->op->name);
    void *const work = wgi_scratch(c, b->work_bytes);
    if (always) return all_tangents(c, b, work, used, to);
    if (single) return one_tangent(c, b, work, used, to);
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
            none = none && zero(arg[i].bar, size_of(&b->operand[i]));
        }
        for (uint32_t k = b->inputs; none && k < b->inputs + b->outputs; k++)
            if (active(&b->operand[k]))
                memset(arg[k].bar, 0, size_of(&b->operand[k]) * sizeof(double));
        if (!none)
            s = b->op->jvp != NULL ? b->op->jvp(&call) : tangent_by_rows(b, &call, row, more);
        for (uint32_t k = b->inputs; k < b->inputs + b->outputs; k++) {
            const wgi_operand *const o = &b->operand[k];
            if (!active(o)) continue;
            for (size_t e = 0; e < size_of(o); e++)
                all[((size_t)o->slot + e) * c->width + l] = arg[k].bar[e];
        }
    }
    c->scratch_used = used;
    return s == WG_OK ? s : explain(c, to, "a tangent", b->op->name, s, &call);
}

/* wgi_refuse on a tape that is closed. */
static wg_status refuse_closed(wgi_core *c, wg_status s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(c->message, sizeof c->message, format, args);
    va_end(args);
    return s;
}

wg_status wgi_block_forward(wgi_core *c, const wgi_block *b) {
    if (b->op == &wgi_small_op) wgi_small_forward(c, b);
    else if (!wgi_gather_forward(c, b)) {
        const char *const name = b->op->name;
        const uint64_t stamps = wgi_tape_close(c);
        const wg_status s = tangents(c, b, refuse_closed);
        if (wgi_tape_open_again(c, stamps)) return s;
        return wgi_refuse(c, WG_EMODE, "a tangent: %s: its jvp has reset or rewound the tape",
                          name);
    }
    return WG_OK;
}

/* ---- replay ---- */

wg_status wgi_block_replay(wgi_core *c, wgi_block *b) {
    if (!wgi_gather_replay(c, b)) {
        for (uint32_t i = 0; i < b->inputs; i++) take_scalar(c, &b->operand[i]);
        wg_block_arg arg[2 * WGI_MAX_ARGS];
        const uint64_t used = c->scratch_used;
        wg_block call;
        /* the replay has made the room */
        wgi_block_call(&call, b, arg, wgi_scratch(c, b->work_bytes));
        const char *const name = b->op->name;
        const uint64_t stamps = c->stamps;
        const wg_status s = b->op->value(&call);
        c->scratch_used = used;
        if (c->stamps != stamps) /* the block may be gone */
            return wgi_fail(c, WG_EMODE,
                            "wg_tape_replay: %s: its value has reset or rewound the tape",
                            name);
        if (s != WG_OK) return explain(c, wgi_fail, "wg_tape_replay", b->op->name, s, &call);
    }
    keep_values(c, b);
    return WG_OK;
}

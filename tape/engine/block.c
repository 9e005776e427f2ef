/* SPDX-License-Identifier: MIT */
/* Blocks: an operation on matrices is one record and a payload.
 *
 * The payload holds what the sweep needs: operation, operands and results as values and slots,
 * the params of the call, and what the operation saved. Blocks are linked backwards, so that
 * sweeps run over the scalar records between them without a test; walks forward find the
 * payload in the record, in the place of jac0. Values and payloads never move; a view is a
 * pointer to values with the slot that belongs to it. */
#include "ops/scalar/copy.h"
#include "block.h"
#include "touched.h"

#include <limits.h>
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
    call->untouched = 0;
}

void wgi_block_call(wg_block *call, const wgi_block *b, wg_block_arg *arg, void *work) {
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++) arg_of(&arg[i], &b->operand[i]);
    start_call(call, b->params, b->inputs, b->outputs, arg);
    call->saved = b->saved;
    call->work = work;
}

/* ---- messages ---- */

static void shapes(char *text, size_t bytes, size_t n, const wg_block_arg *in) {
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < n && at < bytes; i++)
        at += (size_t)snprintf(text + at, bytes - at, "%s%zux%zu", i == 0 ? "" : ", ",
                               in[i].rows, in[i].cols);
}

wg_status wgi_block_explain(wgi_core *c, wgi_report *to, const char *call, const char *name,
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
    return wgi_block_explain(c, wgi_refuse, call, op->name != NULL ? op->name : "an operation",
                             s, b);
}

/* ---- recording ---- */

/* Results of a failed call: NaN, of the shape they would have had. */
static void fail_results(wgi_core *c, const wg_block_op *op, const void *params, size_t inputs,
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
    /* a reset would take the failure away */
    const wgi_hold before = c != NULL ? wgi_tape_hold(c) : (wgi_hold){0};
    const int fits = op->shape(&call) == WG_OK;
    if (c != NULL) (void)wgi_tape_release(c, before);
    for (size_t k = 0; k < outputs; k++)
        out[k] = fits ? wg_mat_failed(call.out[k].rows, call.out[k].cols) : wg_mat_failed(0, 0);
}

/* Do the values of a matrix, `size` from the first to the last, stand among the payloads, in
 * what a rewind has given back, or reach into that? */
static int given_back(const wgi_core *c, const wg_mat *a, size_t size) {
    const uintptr_t p = (uintptr_t)a->value, end = p + size * sizeof *a->value;
    for (int k = c->payload_current; k < c->payloads; k++) {
        const wgi_extent *const r = &c->payload[k];
        const char *const from = k == c->payload_current ? c->head.payload_top : r->base;
        if (end > (uintptr_t)from && p >= (uintptr_t)r->base &&
            p < (uintptr_t)(r->base + r->committed))
            return 1;
    }
    return 0;
}

/* A constant matrix is known by its generation, and by where its values stand; on a checked
 * tape, where every rewind begins a new stamp, it may have any stamp of the generation. */
int wgi_mat_stale(const wgi_core *c, const wg_mat *a) {
    const size_t length = a->trans ? a->cols : a->rows, columns = a->trans ? a->rows : a->cols;
    const int empty = length == 0 || columns == 0, constant = a->at.slot == 0;
    const size_t size = empty ? 0 : (columns - 1) * a->ld + length;
    if (!empty && a->value != NULL && given_back(c, a, size)) return 1;
    if (constant && (c->flags & WG_CHECKED) == 0) return a->at.stamp != c->head.stamp;
    if (constant) return !wgi_stamp_alive(c, a->at.stamp);
    if (empty) return !wgi_alive(c, a->at);
    const uint64_t last = a->at.slot + (uint64_t)size - 1;
    return last >= c->head.slots || !wgi_alive(c, a->at) ||
           !wgi_alive(c, (wg_handle){(uint32_t)last, a->at.stamp});
}

/* wgi_take_scalar of an operand of a new call, which gets a place of its own: replays write
 * there, and where the matrix stands may be something else by now, if it is from before a
 * rewind, which is not noticed on tapes that are not checked. */
static wg_status take_scalar_anew(wgi_core *c, const wg_block_op *op, wgi_operand *o) {
    if (o->slot == 0 || o->rows != 1 || o->cols != 1) return WG_OK;
    const wg_status s = wgi_payload_need(c, wgi_payload_round(sizeof *o->value));
    if (s != WG_OK) return wgi_fail(c, s, "%s: no room for an operand", op->name);
    o->value = wgi_payload_take(c, sizeof *o->value);
    wgi_take_scalar(c, o);
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

/* Is everything that was computed finite? */
static int finite_all(const wgi_block *b) {
    for (uint32_t k = b->inputs; k < b->inputs + b->outputs; k++)
        for (size_t i = 0, n = (size_t)b->operand[k].rows * b->operand[k].cols; i < n; i++)
            if (!(b->operand[k].value[i] - b->operand[k].value[i] == 0)) return 0;
    return 1;
}

void wgi_block_keep_values(wgi_core *c, const wgi_block *b) {
    for (uint32_t k = b->inputs; k < b->inputs + b->outputs; k++) {
        const wgi_operand *const o = &b->operand[k];
        if (o->slot != 0)
            memcpy(wgi_values(c) + o->slot, o->value,
                   (size_t)o->rows * o->cols * sizeof(double));
    }
}

size_t wgi_block_lane_bytes(const wgi_block *b) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++)
        if (wgi_is_active(&b->operand[i]))
            bytes += wgi_payload_round((size_t)b->operand[i].rows * b->operand[i].cols *
                                       sizeof(double));
    return bytes;
}

void wgi_block_note_room(wgi_core *c, const wgi_block *b) {
    const size_t lane = wgi_block_lane_bytes(b);
    if (lane > c->lane_bytes) c->lane_bytes = lane;
    if (b->work_bytes > c->work_bytes) c->work_bytes = b->work_bytes;
}

wg_status wgi_block_append(wgi_core *c, wgi_block *b) {
    wgi_block_note_room(c, b);
    if (c->flags & WG_KEEP_CODE) wgi_block_keep_values(c, b);
    if (c->width != 0) return wgi_block_first_tangents(c, b);
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
    const uint64_t stamps = c->stamps;
    const wg_status s = op->shape(call);
    if (c->stamps != stamps) /* the operands may be gone */
        return wgi_fail(c, WG_EMODE, "%s: its shape has reset or rewound the tape", op->name);
    if (s != WG_OK) return wgi_block_explain(c, wgi_fail, "", op->name, s, call);

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
    const wgi_hold before = wgi_tape_hold(c);
    s = b->op->value(call);
    c->scratch_used = used;
    if (wgi_tape_release(c, before)) /* its slots may be gone */
        return wgi_fail(c, WG_EMODE,
                        "%s: its value has recorded on the tape, or would reset or rewind it",
                        name);
    if (s != WG_OK) return wgi_block_explain(c, wgi_fail, "", name, s, call);
    if ((c->flags & WG_TRACE) != 0 && !finite_all(b))
        return wgi_block_explain(c, wgi_fail, "", name, WG_ENONFINITE, call);
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
    /* steps are swept only where there is an adjoint; equations are solved here, and there
     * are others */
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
    const uint64_t stamps = c->stamps;
    wgi_block *const b = draw(c, op, &call, bytes, given, results, recorded);
    char *const temporary = c->head.payload_top;
    const int chunk = c->payload_current; /* the value may make constants, in further ones */
    call.saved = b->saved = wgi_payload_take(c, call.saved_bytes);
    s = evaluate(c, b, &call, recorded);
    if (s != WG_OK) {
        if (c->stamps == stamps && c->payload_current == chunk) c->head.payload_top = start;
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
    if ((!recorded || c->width != 0) && c->payload_current == chunk)
        c->head.payload_top = temporary;
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
    if (s != WG_OK) fail_results(c, op, params, inputs, in, outputs, out);
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

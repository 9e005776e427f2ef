/* SPDX-License-Identifier: MIT */
/* What is recorded on a tape as nodes of a graph: kept code is taken apart in the order of the
 * recording, each entry by taking_entry.c.
 *
 * An operation on matrices stays one node (whole_node.h), or is written out by its `expand`,
 * which leaves what is large to nodes for whole matrices (ops/matrix/expand.h); or, where it
 * only moves elements, labels are followed through it. Calls of functions are taken apart in
 * loops/flatten_call.c. */
#include "taking.h"
#include "dense_node.h"
#include "whole_node.h"

#include "ops/matrix/expand.h"
#include "ops/matrix/traits.h"

#include <string.h>

typedef wgi_taking taking;

static void take_block(taking *r, const wgi_block *b);

/* The node of a slot. An input of the recording that is not one of the function is a constant.
 */
static uint32_t node_of(taking *r, uint32_t slot) {
    while (r->next < r->blocks && r->block[r->next]->out <= slot)
        take_block(r, r->block[r->next++]);
    if (r->of_slot[slot] == WGI_NO_NODE)
        r->of_slot[slot] = wgi_graph_number(r->g, wgi_values(r->c)[slot]);
    return r->of_slot[slot];
}

/* Sets the node of a slot, unless that is an input of the function. */
static void set_node(taking *r, size_t slot, uint32_t node) {
    if (r->of_slot[slot] == WGI_NO_NODE) r->of_slot[slot] = node;
}

uint32_t wgi_taking_node(wgi_taking *r, uint32_t slot, double value) {
    return slot != 0 ? node_of(r, slot) : wgi_graph_number(r->g, value);
}

/* ---- statements ---- */

static uint32_t statement(taking *r, const wgi_entry *e) {
    wgi_statement_code p;
    uint32_t operand[WGI_MAX_OPERANDS];
    wgi_statement_code_of(e, &p);
    for (int i = 0; i < p.operands; i++) operand[i] = node_of(r, e->slot[i]);
    return wgi_taking_statement(r->g, &p, operand, NULL);
}

static uint32_t array(taking *r, const wgi_entry *e) {
    const size_t own = wgi_array_numbers(e);
    const double *value = e->number + own;
    for (size_t i = 0; i < e->operands; i++)
        r->x[i] = wgi_taking_node(r, e->slot[i], e->slot[i] == 0 ? *value++ : 0);
    for (size_t i = 0; i < own; i++) r->number[i] = wgi_graph_number(r->g, e->number[i]);
    return wgi_taking_array(r->g, e, r->x, r->number);
}

static void guard(taking *r, const wgi_entry *e) {
    uint32_t side[2];
    for (int i = 0; i < 2; i++) side[i] = wgi_taking_node(r, e->slot[i], e->number[i]);
    wgi_graph_guard_add(r->g, side[0], side[1], e->op / 2, (int)(e->op & 1));
}

/* ---- one recording ---- */

wg_status wgi_taking_open(wgi_taking *r, wgi_graph *g, wgi_core *c) {
    size_t longest = 1, numbers = 1;
    wgi_entry e;
    memset(r, 0, sizeof *r);
    r->g = g;
    r->c = c;
    /* whatever a statement was made with has a slot that is there, and a node before its own */
    if (wgi_records_ordered(c) != WG_OK) {
        wgi_fail_as(c, g->call);
        return g->c != c ? wgi_fail(g->c, c->status, "%s", c->message) : c->status;
    }
    for (uint64_t w = 0; w < c->head.code_words;) {
        w = wgi_code_read(c, w, &e);
        if (e.type != WGI_ENTRY_ARRAY) continue;
        if (e.operands > longest) longest = e.operands;
        if (e.numbers > numbers) numbers = e.numbers;
    }
    for (const wgi_block *b = c->head.last_block; b != NULL; b = b->prev) r->blocks++;
    wg_tape *const t = &g->c->head;
    r->of_slot = wgi_no_nodes(g->c, c->head.slots);
    r->needed = wgi_node_marks(g->c, c->head.slots);
    r->x = wgi_node_list(g->c, longest);
    r->number = wgi_node_list(g->c, numbers);
    r->block = wg_tape_keep(t, (r->blocks + 1) * sizeof(const wgi_block *), NULL);
    if (g->c->status != WG_OK) return g->c->status;
    size_t k = r->blocks;
    for (const wgi_block *b = c->head.last_block; b != NULL; b = b->prev) {
        if (b->op->flags & WG_OP_ALWAYS)
            return wgi_fail(g->c, WG_EMODE, "%s: %s cannot be part of a function", g->call,
                            b->op->name);
        r->block[--k] = b;
    }
    return WG_OK;
}

/* ---- what is needed ---- */

static size_t operations_in(const wgi_entry *e) {
    wgi_statement_code p;
    size_t count = 0;
    if (e->type == WGI_ENTRY_ARRAY) return 1;
    wgi_statement_code_of(e, &p);
    for (int i = p.operands; i < p.nodes; i++) count += p.node[i].op != NULL;
    return count;
}

static int is_needed(const taking *r, const wgi_block *b) {
    for (uint32_t e = 0; e < b->outs; e++)
        if (r->needed[b->out + e] && r->of_slot[b->out + e] == WGI_NO_NODE) return 1;
    return 0;
}

static void need_operands(taking *r, const wgi_block *b) {
    const uint32_t *const gathered = wgi_gather_slots(b);
    for (uint32_t e = 0; gathered != NULL && e < b->outs; e++) r->needed[gathered[e]] = 1;
    for (uint32_t k = 0; gathered == NULL && b->op->value != NULL && k < b->inputs; k++) {
        const wgi_operand *const o = &b->operand[k];
        const size_t length = o->trans ? o->cols : o->rows,
                     columns = o->trans ? o->rows : o->cols;
        for (size_t j = 0; o->slot != 0 && length != 0 && j < columns; j++)
            memset(r->needed + o->slot + j * o->ld, 1, length);
    }
}

wg_status wgi_taking_need(wgi_taking *r) {
    wg_tape *const t = &r->g->c->head;
    size_t entries = 0, block = r->blocks;
    wgi_entry e;
    for (uint64_t w = 0; w < r->c->head.code_words; entries++) w = wgi_code_read(r->c, w, &e);
    uint64_t *const at = wg_tape_keep(t, (entries + 1) * sizeof *at, NULL);
    if (at == NULL) return r->g->c->status;
    entries = 0;
    for (uint64_t w = 0; w < r->c->head.code_words;) {
        at[entries++] = w;
        w = wgi_code_read(r->c, w, &e);
    }
    while (entries > 0 || block > 0) {
        if (entries > 0) (void)wgi_code_read(r->c, at[entries - 1], &e);
        if (block > 0 && (entries == 0 || r->block[block - 1]->out >= e.out)) {
            block--;
            if (is_needed(r, r->block[block])) need_operands(r, r->block[block]);
            continue;
        }
        entries--;
        const int counts =
            e.type == WGI_ENTRY_GUARD || (r->needed[e.out] && r->of_slot[e.out] == WGI_NO_NODE);
        for (size_t k = 0; counts && k < e.operands; k++) r->needed[e.slot[k]] = 1;
    }
    return WG_OK;
}

void wgi_taking_code(wgi_taking *r) {
    wgi_entry e;
    for (uint64_t w = 0; w < r->c->head.code_words && r->g->c->status == WG_OK;) {
        w = wgi_code_read(r->c, w, &e);
        if (e.type == WGI_ENTRY_GUARD) {
            guard(r, &e);
            continue;
        }
        if (!r->needed[e.out]) {
            r->g->stats.dead += operations_in(&e);
            continue;
        }
        /* an input of the function: its node is set */
        if (r->of_slot[e.out] != WGI_NO_NODE) continue;
        set_node(r, e.out, e.type == WGI_ENTRY_ARRAY ? array(r, &e) : statement(r, &e));
        r->g->stats.statements++;
    }
}

/* ---- operations on matrices ---- */

/* The nodes of all operands, matrix after matrix, column after column. */
static uint32_t *operands_of(taking *r, const wgi_block *b, size_t *count) {
    size_t n = 0;
    for (uint32_t i = 0; i < b->inputs; i++)
        n += (size_t)b->operand[i].rows * b->operand[i].cols;
    uint32_t *const x = wgi_node_list(r->g->c, n);
    *count = n;
    if (x == NULL) return NULL;
    n = 0;
    for (uint32_t k = 0; k < b->inputs; k++) {
        const wgi_operand *const o = &b->operand[k];
        for (size_t j = 0; j < o->cols; j++)
            for (size_t i = 0; i < o->rows; i++) {
                const size_t at = o->trans ? j + i * o->ld : i + j * o->ld;
                x[n++] = wgi_taking_node(r, o->slot == 0 ? 0 : (uint32_t)(o->slot + at),
                                         o->value[at]);
            }
    }
    return x;
}

/* The call of an operation once more, its results and workspace in the arena. */
typedef struct again {
    wg_block call;
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    double *label; /* labels in the place of the values of all operands */
} again;

static wg_status open_again(taking *r, const wgi_block *b, size_t operands, again *a) {
    wg_tape *const t = &r->g->c->head;
    memset(a, 0, sizeof *a);
    a->label = wg_tape_keep(t, (operands + 1) * sizeof *a->label, NULL);
    if (a->label == NULL) return r->g->c->status;
    double *at = a->label;
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        a->arg[i].rows = o->rows, a->arg[i].cols = o->cols;
        a->arg[i].ld = a->arg[i].bar_ld = o->rows != 0 ? o->rows : 1;
        a->arg[i].value = i < b->inputs ? at : o->value;
        if (i < b->inputs) at += (size_t)o->rows * o->cols;
    }
    a->call.params = b->params;
    a->call.inputs = b->inputs, a->call.outputs = b->outputs;
    a->call.in = a->arg, a->call.out = a->arg + b->inputs;
    return WG_OK;
}

static wg_status cannot(taking *r, const wgi_block *b, wg_status s, const char *why) {
    return wgi_fail(r->g->c, s, "%s: %s %s", r->g->call, b->op->name, why);
}

/* The user's functions of an operation are called while the lists here stand on the tape of the
 * graph, and the operation on that of the recording: both stay as they are. */
typedef struct held {
    wgi_hold graph, recording;
} held;

static held hold(const taking *r) {
    held h = {.graph = wgi_tape_hold(r->g->c)};
    if (r->c != r->g->c) h.recording = wgi_tape_hold(r->c);
    return h;
}

static wg_status release(taking *r, const wgi_block *b, held h, wg_status s) {
    int asked = r->c != r->g->c && wgi_tape_release(r->c, h.recording);
    asked |= wgi_tape_release(r->g->c, h.graph);
    return asked
               ? cannot(r, b, WG_EMODE, "has recorded on the tape, or would reset or rewind it")
               : s;
}

/* Does a label follow its element to the other sign? */
static int moves(const double *label, size_t outs, size_t e, size_t operands) {
    return label[e] >= 1 && label[e] <= (double)operands && label[outs + e] == -label[e];
}

/* Its vjp has to move adjoints to where the elements came from: these are whole numbers, whose
 * sums are exact. */
static wg_status move_back(taking *r, const wgi_block *b, size_t operands, const double *label,
                           again *a) {
    wg_tape *const t = &r->g->c->head;
    double *const bar = wg_tape_keep(t, (2 * operands + b->outs + 1) * sizeof *bar, NULL);
    if (bar == NULL || b->op->vjp == NULL) return r->g->c->status;
    double *const expected = bar + operands, *to = bar;
    memset(bar, 0, 2 * operands * sizeof *bar);
    for (size_t i = 0; i < a->call.inputs + a->call.outputs; i++) {
        if (i == a->call.inputs) to = expected + operands;
        a->arg[i].bar = to;
        to += a->arg[i].rows * a->arg[i].cols;
    }
    for (size_t e = 0; e < b->outs; e++) {
        a->call.out[0].bar[e] = (double)(e % 1021 + 1);
        if (moves(label, b->outs, e, operands))
            expected[(size_t)label[e] - 1] += a->call.out[0].bar[e];
    }
    const held h = hold(r);
    const wg_status s = release(r, b, h, b->op->vjp(&a->call));
    if (s != WG_OK || memcmp(bar, expected, operands * sizeof *bar) == 0) return s;
    a->call.why = "has a vjp that does not move adjoints back to where its value moves from";
    return WG_EMODE;
}

/* An operation that only moves elements is called with labels in their place, which show where
 * they go. A result whose sign does not change with that of its label is a constant. */
static wg_status follow_labels(taking *r, const wgi_block *b, size_t operands,
                               const uint32_t *x) {
    wg_tape *const t = &r->g->c->head;
    again a;
    wg_status s = open_again(r, b, operands, &a);
    double *const label = wg_tape_keep(t, 2 * ((size_t)b->outs + 1) * sizeof *label, NULL);
    if (s == WG_OK) {
        const held h = hold(r);
        s = release(r, b, h, b->op->shape(&a.call));
    }
    a.call.saved = wg_tape_keep(t, a.call.saved_bytes + 1, NULL);
    a.call.work = wg_tape_keep(t, a.call.work_bytes + 1, NULL);
    if (r->g->c->status != WG_OK) return r->g->c->status;
    for (int sign = 0; sign < 2 && s == WG_OK; sign++) {
        double *to = label + (size_t)sign * b->outs;
        for (size_t e = 0; e < operands; e++)
            a.label[e] = sign ? -(double)(e + 1) : (double)(e + 1);
        for (size_t k = 0; k < b->outputs; k++) {
            a.call.out[k].value = to;
            to += a.call.out[k].rows * a.call.out[k].cols;
        }
        const held h = hold(r);
        s = release(r, b, h, b->op->value(&a.call));
    }
    if (s == WG_OK) s = move_back(r, b, operands, label, &a);
    if (s != WG_OK)
        return cannot(r, b, s, a.call.why != NULL ? a.call.why : "failed on labels");
    const wgi_operand *o = &b->operand[b->inputs];
    for (size_t e = 0, in = 0; e < b->outs; e++, in++) {
        while (in == (size_t)o->rows * o->cols) o++, in = 0;
        set_node(r, b->out + e,
                 moves(label, b->outs, e, operands) ? x[(size_t)label[e] - 1]
                                                    : wgi_graph_number(r->g, o->value[in]));
    }
    return WG_OK;
}

/* Lets the operation record itself in scalar statements, on a tape of its own. */
static wg_status write_out(taking *r, const wgi_block *b, size_t operands, const uint32_t *x) {
    wgi_core *const c = r->g->c;
    const wg_options options = {.flags = WG_KEEP_CODE};
    wg_tape *t;
    wg_status s = wgi_tape_beside(c, &options, &t);
    if (s != WG_OK) return cannot(r, b, s, "has no tape to be written out on");
    wg_real *const in = wg_tape_keep(&c->head, (operands + 1) * sizeof *in, NULL);
    wg_real *const y = wg_tape_keep(&c->head, ((size_t)b->outs + 1) * sizeof *y, NULL);
    again a;
    s = open_again(r, b, operands, &a);
    for (size_t k = 0, e = 0; s == WG_OK && k < b->inputs; k++) {
        const wgi_operand *const o = &b->operand[k];
        for (size_t j = 0; j < o->cols; j++)
            for (size_t i = 0; i < o->rows; i++, e++) {
                a.label[e] = o->value[o->trans ? j + i * o->ld : i + j * o->ld];
                in[e] = o->slot != 0 ? wg_input(t, a.label[e]) : wg_constant(a.label[e]);
            }
    }
    for (size_t e = 0; s == WG_OK && e < b->outs; e++) y[e] = wgi_nan();
    if (s == WG_OK) {
        const held h = hold(r);
        s = release(r, b, h, b->op->expand(t, &a.call, in, y));
    }
    /* what it returns of NaN that a failure has left is no news */
    if (wg_tape_status(t) != WG_OK) s = wg_tape_status(t);
    if (s == WG_OK) s = wgi_check_handles(wgi_core_of(t), b->op->name, b->outs, y);
    if (s == WG_OK) s = wg_tape_status(t);
    if (s == WG_OK && wgi_core_of(t)->pauses != 0)
        s = wgi_fail(wgi_core_of(t), WG_EMODE, "%s: its expand has left the tape paused",
                     b->op->name);
    if (s != WG_OK && c->status == WG_OK)
        s = wgi_fail(c, s, "%s: %s: %s", r->g->call, b->op->name,
                     wg_tape_status(t) != WG_OK ? wg_tape_message(t) : wg_status_text(s));
    uint32_t *const node = wgi_node_list(c, b->outs);
    if (s == WG_OK) s = c->status;
    if (s == WG_OK)
        s = wgi_taking_all(r->g, wgi_core_of(t), r->elsewhere, operands, in, x, b->outs, y,
                           node);
    for (size_t e = 0; e < b->outs && s == WG_OK; e++) set_node(r, b->out + e, node[e]);
    wg_tape_free(t);
    return s;
}

/* Takes a call, a map or a scan apart into the nodes of its functions. */
static void take_functions(taking *r, const wgi_block *b, const uint32_t *x) {
    uint32_t *const y = wgi_node_list(r->g->c, b->outs);
    if (y == NULL || b->op->traits->flatten(r->g, b, x, y) != WG_OK) return;
    for (uint32_t e = 0; e < b->outs; e++) set_node(r, b->out + e, y[e]);
}

/* Makes a node for whole matrices, as an operation that was written out has asked for. */
static void take_dense(taking *r, const wgi_block *b, const uint32_t *x) {
    const uint32_t node = wgi_graph_dense(r->g, b->params, x);
    for (uint32_t e = 0; e < b->outs; e++) set_node(r, b->out + e, node + 1 + e);
}

/* What could be written out stays one node from about so many scalar operations on: few enough
 * points of that size are done at a time for BLAS to be faster than lanes. */
enum { WRITTEN_OUT = 1 << 16 };

/* The operation that stays one node in the place of this one: 0: none, or it is written out. */
static int stays_whole(const wgi_block *b, wgi_whole_op *op) {
    const wgi_whole *const w = wgi_traits_of(b->op).whole;
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wg_block call;
    if (w == NULL) return 0;
    memset(&call, 0, sizeof call);
    call.in = arg, call.inputs = b->inputs;
    call.out = arg + b->inputs, call.outputs = b->outputs;
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++)
        arg[i].rows = b->operand[i].rows, arg[i].cols = b->operand[i].cols;
    if (!wgi_whole_sizes(w, &call, op)) return 0;
    return b->op->expand == NULL || wgi_whole_flops(op) > WRITTEN_OUT;
}

/* Makes that node, its results from the first that this operation has. */
static void take_whole(wgi_taking *r, const wgi_block *b, const wgi_whole_op *op,
                       size_t operands, const uint32_t *x) {
    wgi_graph *const g = r->g;
    const unsigned numbers = op->row->numbers, first = wgi_traits_of(b->op).whole_result;
    uint32_t *const all = wgi_node_list(g->c, operands + numbers);
    wg_block_arg arg[WGI_WHOLE_ARGS];
    wg_block call;
    if (all == NULL) return;
    memcpy(all, x, operands * sizeof *all);
    for (unsigned i = 0; i < numbers; i++) {
        double number;
        memcpy(&number, (const char *)b->params + i * sizeof number, sizeof number);
        all[operands + i] = wgi_graph_number(g, number);
    }
    uint32_t part = wgi_graph_whole_op(g, op, all) + 1;
    wgi_whole_call(op, NULL, NULL, arg, &call);
    for (unsigned k = 0; k < first; k++)
        part += (uint32_t)(call.out[k].rows * call.out[k].cols);
    for (uint32_t e = 0; e < b->outs; e++) set_node(r, b->out + e, part + e);
}

static int all_numbers(const taking *r, size_t n, const uint32_t *x) {
    for (size_t i = 0; i < n; i++)
        if (r->g->node[x[i]].kind != WGI_NODE_NUMBER) return 0;
    return 1;
}

/* Results that do not depend on an input of the function become numbers. */
static void numbers_of(taking *r, const wgi_block *b) {
    uint32_t slot = b->out;
    for (uint32_t k = b->inputs; k < b->inputs + b->outputs; k++)
        for (size_t e = 0; e < (size_t)b->operand[k].rows * b->operand[k].cols; e++)
            set_node(r, slot++, wgi_graph_number(r->g, b->operand[k].value[e]));
}

static void take_block(taking *r, const wgi_block *b) {
    const uint32_t *const gathered = wgi_gather_slots(b);
    size_t operands = 0;
    wgi_whole_op whole;
    const char *const outer = r->g->taking;
    if (r->g->c->status != WG_OK || !is_needed(r, b)) return;
    if (gathered != NULL) {
        for (uint32_t e = 0; e < b->outs; e++)
            set_node(r, b->out + e,
                     wgi_taking_node(r, gathered[e], b->operand[b->inputs].value[e]));
        return;
    }
    /* an input of the recording, and if none of the function, a constant */
    if (b->op->value == NULL) return;
    r->g->stats.statements++;
    const uint32_t *const x = operands_of(r, b, &operands);
    if (x == NULL) return;
    if (outer == NULL) r->g->taking = b->op->name;
    if (!r->elsewhere && all_numbers(r, operands, x)) numbers_of(r, b);
    else if (b->op == &wgi_op_dense) take_dense(r, b, x);
    else if (wgi_traits_of(b->op).flatten != NULL) take_functions(r, b, x);
    else if (stays_whole(b, &whole)) take_whole(r, b, &whole, operands, x);
    else if (b->op->expand != NULL && (b->op->flags & WG_OP_EXPANDS) == 0)
        (void)cannot(
            r, b, WG_EMODE,
            "has a vjp of its own, which a function would not keep: WG_OP_EXPANDS says "
            "that it is the derivative of what it expands to");
    else if (b->op->expand != NULL) (void)write_out(r, b, operands, x);
    else if (b->op->flags & WG_OP_MOVES) (void)follow_labels(r, b, operands, x);
    else (void)cannot(r, b, WG_EMODE, "cannot be part of a function");
    r->g->taking = outer;
}

wg_status wgi_taking_all(wgi_graph *g, wgi_core *from, int elsewhere, size_t n,
                         const wg_real *in, const uint32_t *x, size_t m, const wg_real *y,
                         uint32_t *to) {
    wgi_taking r;
    wg_status s = wgi_taking_open(&r, g, from);
    if (s != WG_OK) return s;
    r.elsewhere = elsewhere;
    for (size_t e = 0; e < n; e++)
        if (in[e].at.slot != 0) r.of_slot[in[e].at.slot] = x[e];
    for (size_t e = 0; e < m; e++) r.needed[y[e].at.slot] = 1;
    s = wgi_taking_need(&r);
    if (s == WG_OK) wgi_taking_code(&r);
    for (size_t e = 0; e < m && g->c->status == WG_OK; e++)
        to[e] = wgi_taking_node(&r, y[e].at.slot, y[e].value);
    return g->c->status;
}

/* SPDX-License-Identifier: MIT */
/* Taylor coefficients of a callback, and their adjoints, as numbers.
 *
 * A recording without operations on matrices is taken apart entry by entry: those with the same
 * code have one plan (taylor_plan.h), which is run for each of them on the rows of their slots.
 * The adjoint goes back over them and computes what is inside of each again. Any other
 * recording, and one of very many codes, is one plan. */
#include "tape/engine/numbers.h"
#include "tape/engine/drive.h"
#include "tape/function/graph/taking.h"
#include "taylor_plan.h"

#include "ops/scalar/array.h"

#include <string.h>

/* Does a slot change with x? UNSEEN: it has no row yet. NUMBER: an operand without a slot. */
enum { UNSEEN, STILL, MOVES, NUMBER };

/* The plan of entries that are alike: in their code, in which operands move, and in numbers
 * that are part of the code: exponents, and addresses of the user's operations. */
typedef struct shape {
    struct shape *next, *after;
    wgi_entry e; /* the first of them */
    unsigned char *state;
    unsigned char *fixed; /* is a number part of the code? */
    size_t numbers;       /* its own */
    int any_fixed;
    uint32_t y;
    wgi_taylor_plan plan;
} shape;

/* One entry. */
typedef struct piece {
    const shape *of;
    const uint32_t *slot;
    const double *number;
    uint32_t out;
} piece;

enum { BUCKET_BITS = 6, BUCKETS = 1 << BUCKET_BITS, MOST_SHAPES = 256 };

typedef struct run {
    wgi_drive d;
    wg_tape *work;
    size_t n, m, order, stride;
    int adjoint;
    /* entry by entry */
    shape *bucket[BUCKETS];
    size_t shapes, pieces;
    piece *piece;
    unsigned char *state; /* of each slot */
    double *c, *bar;      /* a row of each slot */
    /* or all at once */
    wgi_taylor_plan all;
    uint32_t *x, *y;
    int is_one; /* is it one plan? */
} run;

static wgi_core *workspace(const run *r) { return wgi_core_of(r->work); }

static void *keep(const run *r, size_t count, size_t size) {
    if (count > SIZE_MAX / 64 / size) {
        (void)wgi_fail(workspace(r), WG_ENOMEM, "%s: no room for %zu numbers", r->d.call,
                       count);
        return NULL;
    }
    return wg_tape_keep(r->work, (count + 1) * size, NULL);
}
static void *keep_zeros(const run *r, size_t count, size_t size) {
    void *const p = keep(r, count, size);
    return p == NULL ? NULL : memset(p, 0, (count + 1) * size);
}

static double *row_of(const run *r, uint32_t slot) { return r->c + slot * r->stride; }
static double *bar_of(const run *r, uint32_t slot) { return r->bar + slot * r->stride; }

/* The series of input i. */
static void load(const run *r, size_t i, const double *x, double *row) {
    for (size_t k = 0; k <= r->order; k++) row[k] = x[k * r->n + i];
    for (size_t k = r->order + 1; k < r->stride; k++) row[k] = 0;
}

static void set_still(const run *r, uint32_t slot, double value) {
    double *const row = row_of(r, slot);
    memset(row, 0, r->stride * sizeof *row);
    row[0] = value;
    r->state[slot] = STILL;
}

/* ---- entry by entry: plans ---- */

static unsigned char state_of(const run *r, uint32_t slot) {
    return slot != 0 ? r->state[slot] : NUMBER;
}

/* Marks the numbers of a statement that are part of its code. */
static void find_fixed(const wgi_statement_code *p, unsigned char *fixed) {
    uint8_t place[WGI_MOST_NODES] = {0};
    for (int i = p->operands, number = 0; i < p->nodes; i++) {
        const wg_scalar_op *const op = p->node[i].op;
        if (op == NULL) place[i] = (uint8_t)(++number);
        else if (wgi_is_users(op)) fixed[number++] = 1;
        else if (op == &wgi_scalar_ops[WGI_ROW_pow] && place[p->node[i].arg[1]] != 0)
            fixed[place[p->node[i].arg[1]] - 1] = 1;
    }
}

/* The node of the entry; its operands and then its own numbers are the inputs. */
static uint32_t take_entry(wgi_graph *g, shape *h) {
    const size_t operands = h->e.operands;
    uint32_t *const in = wgi_node_list(g->c, operands + h->numbers);
    wgi_statement_code p;
    if (in == NULL) return 0;
    for (size_t k = 0; k < operands + h->numbers; k++) in[k] = wgi_graph_input(g, WGI_ONCE);
    if (h->e.type == WGI_ENTRY_ARRAY) return wgi_taking_array(g, &h->e, in, in + operands);
    wgi_statement_code_of(&h->e, &p);
    find_fixed(&p, h->fixed);
    for (size_t k = 0; k < h->numbers; k++)
        if (h->fixed[k]) h->any_fixed = 1, in[operands + k] = WGI_NO_NODE;
    return wgi_taking_statement(g, &p, in, in + operands);
}

static shape *make_shape(run *r, const wgi_entry *e, size_t bucket) {
    const size_t numbers = e->type == WGI_ENTRY_ARRAY ? wgi_array_numbers(e) : e->numbers;
    wgi_core *const c = workspace(r);
    shape *const h = keep_zeros(r, 1, sizeof *h);
    unsigned char *const marks = keep_zeros(r, e->operands + numbers, 1);
    uint32_t *const moving = wgi_node_list(c, e->operands);
    uint32_t n = 0;
    if (c->status != WG_OK) return NULL;
    h->e = *e;
    h->numbers = numbers;
    h->state = marks, h->fixed = marks + e->operands;
    for (size_t k = 0; k < e->operands; k++) h->state[k] = state_of(r, e->slot[k]);
    wgi_graph_open(&h->plan.g, c, r->d.call);
    h->y = take_entry(&h->plan.g, h);
    for (uint32_t k = 0; k < e->operands; k++)
        if (h->state[k] == MOVES) moving[n++] = k;
    if (c->status == WG_OK)
        (void)wgi_taylor_plan_make(&h->plan, r->order, r->adjoint, n, moving, 1, &h->y);
    h->next = r->bucket[bucket];
    r->bucket[bucket] = h;
    return c->status == WG_OK ? h : NULL;
}

static int is_alike(const run *r, const shape *h, const wgi_entry *e) {
    if (h->e.type != e->type || h->e.bits != e->bits || h->e.code != e->code ||
        h->e.operands != e->operands || h->e.numbers != e->numbers)
        return 0;
    for (size_t k = 0; k < e->operands; k++)
        if (h->state[k] != state_of(r, e->slot[k])) return 0;
    for (size_t k = 0; h->any_fixed && k < h->numbers; k++)
        if (h->fixed[k] && memcmp(&h->e.number[k], &e->number[k], sizeof(double)) != 0)
            return 0;
    return 1;
}

/* The plan for an entry, which is mostly the one that came after the one before in the last
 * turn of a loop. Slots seen for the first time are numbers. NULL: a failure, or too many. */
static shape *shape_of(run *r, const wgi_entry *e, shape *before) {
    shape *h = before != NULL ? before->after : NULL;
    if (h != NULL && is_alike(r, h, e)) return h;
    for (size_t k = 0; k < e->operands; k++)
        if (state_of(r, e->slot[k]) == UNSEEN)
            set_still(r, e->slot[k], wgi_values(r->d.c)[e->slot[k]]);
    const uint64_t code = (uint64_t)(e->code >> 64 ^ e->code) + e->bits + 7 * e->operands;
    const size_t bucket = code * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BUCKET_BITS);
    for (h = r->bucket[bucket]; h != NULL && !is_alike(r, h, e);) h = h->next;
    if (h == NULL && r->shapes++ < MOST_SHAPES) h = make_shape(r, e, bucket);
    if (before != NULL) before->after = h;
    return h;
}

/* ---- entry by entry: rows ---- */

/* The rows of an entry's operands and result, and the values of its numbers, become those of
 * the plan. */
static void enter(const run *r, const piece *p) {
    const shape *const h = p->of;
    const wgi_taylor_plan *const q = &h->plan;
    const size_t operands = h->e.operands;
    const double *constant = p->number + h->numbers;
    for (size_t k = 0; k < operands; k++)
        if (h->state[k] == NUMBER) *q->row[k] = *constant++;
        else q->row[k] = row_of(r, p->slot[k]);
    for (size_t k = 0; k < h->numbers; k++) *q->row[operands + k] = p->number[k];
    if (h->y >= operands + h->numbers && q->s.moves[h->y]) q->row[h->y] = row_of(r, p->out);
}

static void leave(const run *r, const piece *p) {
    const shape *const h = p->of;
    const double *const y = h->plan.row[h->y];
    double *const to = row_of(r, p->out);
    if (!h->plan.s.moves[h->y]) {
        set_still(r, p->out, *y);
        return;
    }
    r->state[p->out] = MOVES;
    if (y != to) memcpy(to, y, r->stride * sizeof *y);
}

/* All entries forward; 0: there is a failure, or there are too many plans. */
static int run_entries(run *r) {
    wgi_core *const from = r->d.c;
    wgi_entry e;
    size_t entries = 0;
    for (uint64_t w = 0; w < from->head.code_words; entries++) w = wgi_code_read(from, w, &e);
    r->piece = keep(r, entries, sizeof *r->piece);
    if (r->piece == NULL) return 0;
    shape *h = NULL;
    for (uint64_t w = 0; w < from->head.code_words;) {
        w = wgi_code_read(from, w, &e);
        if (e.type == WGI_ENTRY_GUARD) continue;
        h = shape_of(r, &e, h);
        if (h == NULL) return 0;
        piece *const p = &r->piece[r->pieces++];
        *p = (piece){h, e.slot, e.number, e.out};
        enter(r, p);
        wgi_taylor_forward(&h->plan);
        leave(r, p);
    }
    return 1;
}

/* Back over all entries; what one had inside is computed again. */
static void run_back(const run *r) {
    for (size_t i = r->pieces; i-- > 0;) {
        const piece *const p = &r->piece[i];
        const shape *const h = p->of;
        const wgi_taylor_plan *const q = &h->plan;
        double *const bar = bar_of(r, p->out);
        if (!q->s.moves[h->y] || wgi_all_zero(bar, r->order + 1)) continue;
        enter(r, p);
        if (q->computes + q->steps > 1) wgi_taylor_forward(q);
        memset(q->own_bar, 0, q->own_bars * sizeof *q->own_bar);
        for (size_t k = 0; k < h->e.operands; k++)
            if (h->state[k] != NUMBER) q->bar[k] = bar_of(r, p->slot[k]);
        if (h->y >= h->e.operands) q->bar[h->y] = bar;
        else
            for (size_t k = 0; k <= r->order; k++) q->bar[h->y][k] += bar[k];
        wgi_taylor_backward(q);
    }
}

/* ---- all at once ---- */

static wg_status refuse_wholes(const run *r, const wgi_graph *g) {
    for (size_t i = 0; i < g->nodes; i++)
        if (wgi_node_has_parts(&g->node[i]))
            return wgi_fail(g->c, WG_EMODE,
                            "%s: %s has no Taylor coefficients on a tape: it is done as %s",
                            r->d.call, g->whole_of != NULL ? g->whole_of : "a function",
                            wgi_node_row(&g->node[i])->word);
    return WG_OK;
}

static wg_status run_all(run *r, const double *x, const double *w) {
    wgi_core *const c = workspace(r);
    wgi_taylor_plan *const q = &r->all;
    r->is_one = 1;
    wgi_graph_open(&q->g, c, r->d.call);
    r->x = wgi_node_list(c, r->n);
    r->y = wgi_node_list(c, r->m);
    if (c->status != WG_OK) return c->status;
    for (size_t i = 0; i < r->n; i++) r->x[i] = wgi_graph_input(&q->g, WGI_ONCE);
    wg_status s = wgi_taking_all(&q->g, r->d.c, 0, r->n, r->d.x, r->x, r->m, r->d.y, r->y);
    if (s == WG_OK) s = refuse_wholes(r, &q->g);
    if (s == WG_OK) s = wgi_taylor_plan_make(q, r->order, r->adjoint, r->n, r->x, r->m, r->y);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < r->n; i++) load(r, i, x, q->row[r->x[i]]);
    wgi_taylor_forward(q);
    for (size_t k = 0; r->adjoint && k <= r->order; k++)
        for (size_t j = 0; j < r->m; j++) q->bar[r->y[j]][k] += w[k * r->m + j];
    if (r->adjoint) wgi_taylor_backward(q);
    return WG_OK;
}

/* ---- the calls ---- */

static wg_status run_by_entries(run *r, const double *x, const double *w) {
    const size_t slots = r->d.c->head.slots;
    wgi_core *const c = workspace(r);
    if (slots > SIZE_MAX / 64 / sizeof *r->c / r->stride)
        return wgi_fail(c, WG_ENOMEM, "%s: no room for rows of %zu variables", r->d.call,
                        slots);
    r->c = keep(r, slots * r->stride, sizeof *r->c);
    r->state = keep_zeros(r, slots, 1);
    if (r->adjoint) r->bar = keep_zeros(r, slots * r->stride, sizeof *r->bar);
    if (c->status != WG_OK) return c->status;
    for (size_t i = 0; i < r->n; i++) {
        load(r, i, x, row_of(r, r->d.x[i].at.slot));
        r->state[r->d.x[i].at.slot] = MOVES;
    }
    if (!run_entries(r)) return c->status != WG_OK ? c->status : run_all(r, x, w);
    for (size_t k = 0; r->adjoint && k <= r->order; k++)
        for (size_t j = 0; j < r->m; j++)
            if (r->d.y[j].at.slot != 0) bar_of(r, r->d.y[j].at.slot)[k] += w[k * r->m + j];
    if (r->adjoint) run_back(r);
    return c->status;
}

static void put(const run *r, double *c, double *g) {
    for (size_t j = 0; j < r->m && c != NULL; j++) {
        const wg_real y = r->d.y[j];
        const double *const row = y.at.slot == 0                  ? NULL
                                  : r->is_one                     ? r->all.row[r->y[j]]
                                  : r->state[y.at.slot] == UNSEEN ? NULL
                                                                  : row_of(r, y.at.slot);
        for (size_t k = 0; k <= r->order; k++)
            c[k * r->m + j] = k == 0           ? y.value
                              : y.at.slot == 0 ? wgi_of_constant(y)
                              : row == NULL    ? 0
                                               : row[k];
    }
    for (size_t i = 0; i < r->n && g != NULL; i++) {
        const double *const bar =
            r->is_one ? r->all.bar[r->x[i]] : bar_of(r, r->d.x[i].at.slot);
        for (size_t k = 0; k <= r->order; k++) g[k * r->n + i] = bar[k];
    }
}

static void close_graphs(run *r) {
    for (size_t k = 0; k < BUCKETS; k++)
        for (shape *h = r->bucket[k]; h != NULL; h = h->next) wgi_graph_close(&h->plan.g);
    if (r->is_one) wgi_graph_close(&r->all.g);
}

static wg_status taylor(wg_tape *t, const char *call, wg_callback *f, void *data, size_t n,
                        size_t order, const double *x, size_t m, const double *w, double *c,
                        double *g) {
    run r = {.n = n, .m = m, .order = order, .adjoint = g != NULL};
    wg_status s = wgi_drive_open(&r.d, t, call, f, data, n, m, 0);
    if (s == WG_OK) s = wgi_drive_needs_code(&r.d);
    if (s == WG_OK && order >= WGI_ROW_COEFFICIENTS)
        s = wgi_fail(r.d.c, WG_EARG, "%s: order %zu", call, order);
    if (s == WG_OK && r.adjoint && w == NULL && m != 0)
        s = wgi_drive_null_argument(&r.d, "w", m * (order + 1));
    if (s == WG_OK) s = wgi_drive_run(&r.d, 0, x);
    if (s != WG_OK) return wgi_drive_close(&r.d, s);
    wgi_core *const from = r.d.c;
    s = wgi_beside_open(from, 0, &r.work);
    if (s != WG_OK) return wgi_drive_close(&r.d, wgi_fail(from, s, "%s: no workspace", call));
    wgi_core *const work = wgi_core_of(r.work);
    const size_t loops_over = work->loops_over;
    work->loops_over = SIZE_MAX; /* loops are written out */
    r.stride = wgi_row_stride(order);
    s = wgi_records_ordered(from) == WG_OK && from->head.last_block == NULL
            ? run_by_entries(&r, x, w)
            : run_all(&r, x, w);
    if (s == WG_OK) put(&r, c, g);
    else (void)wgi_fail(from, s, "%s", work->message);
    close_graphs(&r);
    work->loops_over = loops_over;
    wgi_beside_close(from);
    return wgi_drive_close(&r.d, s);
}

wg_status wg_taylor(wg_tape *t, wg_callback *f, void *data, size_t n, size_t order,
                    const double *x, size_t m, double *c) {
    return taylor(t, "wg_taylor", f, data, n, order, x, m, NULL, c, NULL);
}

wg_status wg_taylor_vjp(wg_tape *t, wg_callback *f, void *data, size_t n, size_t order,
                        const double *x, size_t m, const double *w, double *c, double *g) {
    return taylor(t, "wg_taylor_vjp", f, data, n, order, x, m, w, c, g);
}

/* SPDX-License-Identifier: MIT */
/* bytecode_maker.h - what the files that make bytecode share: bytecode.h says what it is.
 * Internal.
 *
 * Each part of a function is made in these steps. Nodes that are computed together are found
 * (families). Nodes get an order, in which a value is used soon after it is computed; with the
 * loads and stores where they are due, these are units, one after the other
 * (bytecode_schedule.c). Each becomes instructions as it comes, and the operands of these get
 * columns in the end (bytecode_select.c). */
#ifndef WGI_TAPE_FUNCTION_RUN_BYTECODE_MAKER_H
#define WGI_TAPE_FUNCTION_RUN_BYTECODE_MAKER_H

#include "bytecode.h"

typedef enum {
    WGI_UNIT_NONE,
    WGI_UNIT_NODE,
    WGI_UNIT_LOADS,
    WGI_UNIT_STORES,
    WGI_UNIT_SUMS,
    WGI_UNIT_UNIFORMS,
    WGI_UNIT_CHECKS,
    WGI_UNIT_GUARDS
} wgi_fn_unit_kind;

typedef struct wgi_fn_unit {
    wgi_fn_unit_kind kind;
    uint32_t id; /* number of a node, a batch of groups, or a comparison */
} wgi_fn_unit;

typedef struct wgi_fn_list {
    void *at;
    size_t count;
    wgi_list_room room;
} wgi_fn_list;

/* What is known of a node. */
enum {
    WGI_MARK_RESIDENT = 1,   /* it is a uniform that also has a column */
    WGI_MARK_DEPENDS = 2,    /* it depends on a product by the zero rule, at a point */
    WGI_MARK_CHECKED = 4,    /* something reads it that may hide that it is NaN */
    WGI_MARK_UNIFORM = 8,    /* it is computed once or after, and becomes a uniform */
    WGI_MARK_FREED = 16,     /* its column is free again */
    WGI_MARK_OPERATION = 32, /* it is computed in the part that is being made */
    WGI_MARK_LOADED = 64,    /* it is an input that has been loaded */
    WGI_MARK_WAITS = 128     /* something is computed just before it, for it alone */
};

typedef struct wgi_fn_maker {
    wgi_core *c;
    wg_function *f;
    wgi_bytecode p;

    int wholes;         /* has any node parts? */
    wgi_when when;      /* which part is being made */
    uint32_t low, high; /* the range of its operations */
    uint32_t zero, one; /* nodes behind those of the function, for these numbers */

    /* of every node; a list of something that the function has none of is NULL */
    wgi_list_room by_node;
    unsigned char *mark;
    uint32_t *uniform;   /* where the uniform stands, or WGI_NO_NODE: wgi_fn_uniform_of */
    uint32_t *user;      /* who reads it, as wgi_fn_uses_of and wgi_fn_reader_of say */
    uint32_t *last;      /* the last instruction that reads its column, or WGI_NO_NODE */
    uint32_t *wanted_by; /* of those of each point the first result that is this node, ... */
    uint32_t *slot;      /* ... and, of uniforms and when all is listed, its column */
    /* of a family, which is one unit: the node that stands for it, and its next member */
    uint32_t *lead, *sibling;
    uint32_t *value;       /* of a slope: the node that is the value of the same operation */
    uint32_t *sum;         /* the number of the sum over it, or WGI_NO_NODE */
    uint32_t *next_result; /* of a result: the next one that is the same node */
    uint32_t *result_batch;
    uint32_t *guarded, *next_guarded; /* comparisons of the node, in the same way; 2 k + side */

    uint32_t *input_batch;  /* the batch that loads the input */
    unsigned char *sides;   /* of a comparison: the sides that are still to be computed */
    unsigned char *pending; /* of a batch: the entries that are still to be computed */
    wgi_fn_group *load, *store;
    /* Eight nodes of each group. Where a group has fewer entries, those of inputs are
     * WGI_NO_NODE, those of outputs repeat the last one. */
    uint32_t *load_node, *store_node;

    /* codes: of the part under way first as drafts */
    wgi_fn_list codes, calls, columns, constants, free;
    wgi_fn_unit unit; /* the last one, which may be one instruction with the next */
    size_t slots, first_code[3];
    uint32_t accumulator; /* the node whose value it holds, or WGI_NO_NODE */
} wgi_fn_maker;

static inline int wgi_fn_failed(const wgi_fn_maker *m) { return m->c->status != WG_OK; }
/* At turn i of a long loop: has it not failed, and does the user want to go on? */
static inline int wgi_fn_goes_on(const wgi_fn_maker *m, size_t i) {
    if (i % 4096 == 4095) (void)wgi_progress_go_on(m->c, "a function");
    return !wgi_fn_failed(m);
}

/* Memory filled with 0. */
void *wgi_fn_room(wgi_fn_maker *m, size_t bytes);
/* One more element at the end of a list; NULL: a failure. */
static inline void *wgi_fn_added(wgi_fn_maker *m, wgi_fn_list *l, size_t size) {
    void *const at =
        wgi_list_need(m->c, &l->room, l->at, l->count * size, (l->count + 1) * size);
    if (at == NULL) return NULL;
    l->at = at;
    return (char *)at + size * l->count++;
}

/* ---- nodes ---- */

static inline const wgi_node *wgi_fn_node_of(const wgi_fn_maker *m, uint32_t i) {
    return &m->f->node[i];
}
static inline const uint32_t *wgi_fn_operands_of(const wgi_fn_maker *m, uint32_t i) {
    return m->f->operand + m->f->node[i].first;
}
/* The nodes that are computed at each point, and those that are computed after, are ranges. */
static inline uint32_t wgi_fn_first_each(const wg_function *f) {
    return (uint32_t)(f->n + f->numbers + f->once);
}
static inline uint32_t wgi_fn_first_after(const wg_function *f) {
    return wgi_fn_first_each(f) + (uint32_t)f->each;
}
/* Where the number of its uniform is kept; NULL: operations of each point have none. */
static inline uint32_t *wgi_fn_uniform_entry(const wgi_fn_maker *m, uint32_t i) {
    if (i < wgi_fn_first_each(m->f)) return m->uniform + i;
    return i < wgi_fn_first_after(m->f) ? NULL : m->uniform + (i - m->f->each);
}
static inline uint32_t wgi_fn_uniform_of(const wgi_fn_maker *m, uint32_t i) {
    const uint32_t *const at = wgi_fn_uniform_entry(m, i);
    return at == NULL ? WGI_NO_NODE : *at;
}
/* How many operations, results, sums and comparisons read it; in the order of units, of one
 * that is read once, also that it is computed just before its reader. The word of one that is
 * never read is 0. */
typedef enum { WGI_READ_NEVER, WGI_READ_ONCE, WGI_READ_OFTEN, WGI_READ_NEXT } wgi_fn_uses;
#define WGI_NO_READER (UINT32_MAX >> 2)
static inline wgi_fn_uses wgi_fn_uses_of(const wgi_fn_maker *m, uint32_t i) {
    return (wgi_fn_uses)(m->user[i] >> 30);
}
/* The last operation that reads it. */
static inline uint32_t wgi_fn_reader_of(const wgi_fn_maker *m, uint32_t i) {
    return m->user[i] & WGI_NO_READER;
}
static inline uint32_t wgi_fn_read_by(wgi_fn_uses uses, uint32_t reader) {
    return (uint32_t)uses << 30 | reader;
}
static inline uint32_t wgi_fn_sum_of(const wgi_fn_maker *m, uint32_t i) {
    return m->sum == NULL ? WGI_NO_NODE : m->sum[i];
}
static inline uint32_t wgi_fn_sibling_of(const wgi_fn_maker *m, uint32_t i) {
    return m->sibling == NULL ? WGI_NO_NODE : m->sibling[i];
}
static inline uint32_t wgi_fn_value_of(const wgi_fn_maker *m, uint32_t i) {
    return m->value == NULL ? WGI_NO_NODE : m->value[i];
}
/* Is it an operation of the part under way that is done by itself, or the first of a family? */
static inline int wgi_fn_leads(const wgi_fn_maker *m, uint32_t i) {
    return (m->mark[i] & WGI_MARK_OPERATION) && (m->lead == NULL || m->lead[i] == i);
}
static inline int wgi_fn_in_columns(const wgi_fn_maker *m, uint32_t i) {
    return i < m->f->nodes &&
           ((m->mark[i] & WGI_MARK_OPERATION) ||
            (m->when == WGI_EACH && i < m->f->n && wgi_fn_node_of(m, i)->when == WGI_EACH));
}
static inline int wgi_fn_row_of(const wg_scalar_op *op) {
    return wgi_is_users(op) ? -1 : (int)(op - wgi_scalar_ops);
}

/* How many of all groups are in batch k, which begins at group k * WGI_FN_BATCH. */
static inline uint32_t wgi_fn_batch_groups(size_t groups, uint32_t k) {
    const size_t left = groups - k * WGI_FN_BATCH;
    return (uint32_t)(left < WGI_FN_BATCH ? left : WGI_FN_BATCH);
}

static inline uint32_t wgi_fn_column_at(const wgi_fn_maker *m, uint32_t i) {
    return wgi_fn_offset(m->slot[i]);
}

/* ---- bytecode_schedule.c ---- */

/* The instruction that computes a slope; END: there is none. */
uint32_t wgi_fn_slope_code(const wgi_node *n);
/* Is the slope computed point by point, together with all others of the operation at the same
 * operands? */
int wgi_fn_by_rows(const wgi_fn_maker *m, const wgi_node *n);
/* Does the kernel of the value give the slope as well? */
int wgi_fn_keeps_slope(const wgi_node *n);

void wgi_fn_families(wgi_fn_maker *m);
void wgi_fn_count_uses(wgi_fn_maker *m);
/* Selects the units of a part in their order. */
void wgi_fn_list_units(wgi_fn_maker *m);

/* Do nodes i and j choose, by the same comparison, from the same two, one each? One instruction
 * does both. */
static inline int wgi_fn_is_exchange(const wgi_fn_maker *m, uint32_t i, uint32_t j) {
    const wgi_node *const a = wgi_fn_node_of(m, i), *const b = wgi_fn_node_of(m, j);
    if (a->kind != WGI_NODE_OP || a->op != &wgi_scalar_ops[WGI_ROW_select_gt]) return 0;
    if (b->kind != WGI_NODE_OP || b->op != a->op) return 0;
    const uint32_t *const x = wgi_fn_operands_of(m, i), *const y = wgi_fn_operands_of(m, j);
    return x[0] == y[0] && x[1] == y[1] && x[2] == y[3] && x[3] == y[2];
}

/* ---- bytecode_select.c ---- */

/* A unit comes after those before: instructions are made of the one before it; their operands
 * are nodes as yet. */
void wgi_fn_select(wgi_fn_maker *m, wgi_fn_unit_kind kind, uint32_t id);
/* The part has no more units. */
void wgi_fn_select_end(wgi_fn_maker *m);
/* Puts columns in the place of nodes, in the instructions of the part and their calls. */
void wgi_fn_deal_columns(wgi_fn_maker *m, size_t first_call);

#endif

/* SPDX-License-Identifier: MIT */
/* bytecode_maker.h - what the files that make bytecode share: bytecode.h says what it is.
 * Internal.
 *
 * Each part of a function is done in steps: what belongs together is found (families); nodes
 * get an order in which a value is used soon after it is made; that becomes a list of units,
 * with the loads and stores where they are due (bytecode_schedule.c); units become instructions;
 * and these get columns (bytecode_select.c). */
#ifndef WENGERT_TAPE_FUNCTION_BYTECODE_MAKER_H
#define WENGERT_TAPE_FUNCTION_BYTECODE_MAKER_H

#include "bytecode.h"

typedef enum {
    WGI_UNIT_NODE,
    WGI_UNIT_LOADS,
    WGI_UNIT_STORES,
    WGI_UNIT_SUMS,
    WGI_UNIT_KEEPS,
    WGI_UNIT_CHECKS,
    WGI_UNIT_GUARDS
} wgi_fn_unit_kind;

typedef struct wgi_fn_unit {
    wgi_fn_unit_kind kind;
    uint32_t id; /* node, group, sum or guard */
} wgi_fn_unit;

typedef struct wgi_fn_list {
    void *at;
    size_t count;
    wgi_room room;
} wgi_fn_list;

/* Of a node. */
enum {
    WGI_MARK_STORED = 1,     /* read from a column */
    WGI_MARK_RESIDENT = 2,   /* a uniform that has a column */
    WGI_MARK_DEPENDS = 4,    /* on a product by the zero rule at a point */
    WGI_MARK_CHECKED = 8,    /* read by what may hide that it is NaN */
    WGI_MARK_KEPT = 16,      /* becomes a uniform */
    WGI_MARK_FREED = 32,     /* its column is */
    WGI_MARK_OPERATION = 64, /* in the part under way */
    WGI_MARK_LOADED = 128    /* an input */
};

typedef struct wgi_fn_maker {
    wgi_core *c;
    wg_function *f;
    wgi_bytecode p;

    wgi_when when;      /* of the part under way */
    uint32_t low, high; /* its operations */
    uint32_t zero, one; /* two numbers beside the nodes */

    /* by node; of what the function has nothing, NULL */
    wgi_room by_node;
    unsigned char *mark;
    unsigned char *uses;      /* by operations, results, sums, comparisons: 0, 1, 2 or more */
    uint32_t *uniform;        /* place, or WGI_NO_NODE */
    uint32_t *user, *last;    /* the last operation that reads it; the last instruction */
    uint32_t *next, *before;  /* the order, as a chain */
    uint32_t *slot;           /* of its column; in the place of next, when there are units */
    uint32_t *lead, *sibling; /* a family is one unit: who stands for it, and the next in it */
    uint32_t *value;          /* node that is the value of which this is the slope */
    uint32_t *sum;            /* its number */
    uint32_t *wanted_by;      /* the first result that is this node, ... */
    uint32_t *next_result;    /* ... and the next one after a result */
    uint32_t *result_batch;
    uint32_t *guarded, *next_guarded; /* comparisons 2 k + side */

    uint32_t *input_batch;  /* of groups */
    unsigned char *sides;   /* of a comparison: those computed */
    unsigned char *pending; /* entries of a batch still to come */
    wgi_fn_group *load, *store;
    /* 8 of each group; where there are fewer: no inputs, but the last result again */
    uint32_t *load_node, *store_node;

    /* codes: of the part under way first as drafts */
    wgi_fn_list units, codes, calls, columns, constants, free;
    size_t slots, first_code[3];
    uint32_t accumulator; /* the node in it, or WGI_NO_NODE */
} wgi_fn_maker;

static inline int wgi_fn_failed(const wgi_fn_maker *m) { return m->c->status != WG_OK; }

/* Of zeros. */
void *wgi_fn_room(wgi_fn_maker *m, size_t bytes);
/* One more at the end of a list, or NULL. */
static inline void *wgi_fn_added(wgi_fn_maker *m, wgi_fn_list *l, size_t size) {
    void *const at =
        wgi_room_need(m->c, &l->room, l->at, l->count * size, (l->count + 1) * size);
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
/* A sum over points, or only a multiple of a number? */
static inline int wgi_fn_is_sum(const wgi_fn_maker *m, uint32_t i) {
    return wgi_fn_node_of(m, i)->kind == WGI_NODE_SUM &&
           wgi_fn_node_of(m, wgi_fn_operands_of(m, i)[0])->when == WGI_EACH;
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

/* Batch k of so many groups begins at group k * WGI_FN_BATCH and has these: */
static inline uint32_t wgi_fn_batch_groups(size_t groups, uint32_t k) {
    const size_t left = groups - k * WGI_FN_BATCH;
    return (uint32_t)(left < WGI_FN_BATCH ? left : WGI_FN_BATCH);
}

static inline uint32_t wgi_fn_column_at(const wgi_fn_maker *m, uint32_t i) {
    return wgi_fn_offset(m->slot[i]);
}

/* ---- bytecode_schedule.c ---- */

/* Instruction of a slope, or END. */
uint32_t wgi_fn_slope_code(const wgi_node *n);
/* Slopes row by row: all of an operation at its operands are made at once. */
int wgi_fn_by_rows(const wgi_fn_maker *m, const wgi_node *n);
/* Does the kernel of the value leave the slope too? */
int wgi_fn_keeps_slope(const wgi_node *n);

void wgi_fn_families(wgi_fn_maker *m);
void wgi_fn_count_uses(wgi_fn_maker *m);
/* The units of a part in their order. */
void wgi_fn_list_units(wgi_fn_maker *m);

/* ---- bytecode_select.c ---- */

/* Units as instructions, before their operands have places. */
void wgi_fn_select(wgi_fn_maker *m);
void wgi_fn_deal_columns(wgi_fn_maker *m);
/* Drafts, calls and groups with the places of their columns. */
void wgi_fn_place(wgi_fn_maker *m, size_t first_call);

#endif

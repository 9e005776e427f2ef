/* SPDX-License-Identifier: MIT */
/* The units of a part become instructions, one after the other, and the nodes in them get
 * columns.
 *
 * An instruction is a draft at first: its form depends on what the accumulator holds, and
 * whether it stores its result depends on who reads it later. When all are there, so are the
 * last readers of all nodes: behind these columns are free for others. */
#include "tape/function/graph/dense_node.h"
#include "bytecode_maker.h"
#include "tape/function/graph/repeat.h"

#include <string.h>

/* An instruction whose columns are still nodes: the bits of `columns` say which of its operands
 * are. LEAVES: the result stays in the accumulator, and is stored only if somebody reads it
 * later. */
typedef enum { COLUMN, UNIFORM, RAW } field_kind;
typedef enum { NO_RESULT, LEAVES, STORES_IT } result_kind;
typedef struct draft {
    uint16_t code;
    unsigned char columns, result;
    uint32_t x[3], d;
} draft;
_Static_assert(sizeof(draft) == sizeof(wgi_fn_code),
               "a draft becomes an instruction in its place");

/* Operations whose instructions can take operands from the accumulator. */
typedef enum { OTHER, ADD, SUB, MUL, DIV, TIMES, NEG, SQRT, FABS } simple;
static inline simple simple_of(const wgi_node *n) {
    static const unsigned char rows[WGI_ROWS] = {
        [WGI_ROW_add] = ADD, [WGI_ROW_sub] = SUB,   [WGI_ROW_mul] = MUL,  [WGI_ROW_div] = DIV,
        [WGI_ROW_neg] = NEG, [WGI_ROW_sqrt] = SQRT, [WGI_ROW_fabs] = FABS};
    if (n->kind == WGI_NODE_TIMES || n->kind == WGI_NODE_SUM) return TIMES;
    const int row = wgi_node_op(n);
    return row < 0 ? OTHER : (simple)rows[row];
}

/* ---- instructions ---- */

static inline draft *draft_add(wgi_fn_maker *m, uint32_t code) {
    draft *const d = wgi_fn_added(m, &m->codes, sizeof *d);
    if (d != NULL) *d = (draft){.code = (uint16_t)code};
    return d;
}

/* Operand k of the last instruction. */
static inline void field(wgi_fn_maker *m, draft *d, int k, field_kind kind, uint32_t x) {
    if (d == NULL) return;
    if (kind == COLUMN) {
        d->columns |= (unsigned char)(1u << k);
        m->last[x] = (uint32_t)m->codes.count - 1;
    }
    d->x[k] = kind != UNIFORM ? x : (uint32_t)(wgi_fn_uniform_of(m, x) * sizeof(double));
}

static inline void result(wgi_fn_maker *m, draft *d, result_kind kind, uint32_t i) {
    if (d == NULL) return;
    d->result = (unsigned char)kind;
    d->d = i;
    m->accumulator = i;
}

/* A uniform gets a column, for instructions that read columns only. */
static void want_column(wgi_fn_maker *m, uint32_t i) {
    if (wgi_fn_in_columns(m, i) || (m->mark[i] & WGI_MARK_RESIDENT)) return;
    m->mark[i] |= WGI_MARK_RESIDENT;
    if (m->when == WGI_EACH) {
        wgi_fn_constant *const c = wgi_fn_added(m, &m->constants, sizeof *c);
        if (c == NULL) return;
        m->slot[i] = (uint32_t)(WGI_FN_FIXED + m->constants.count - 1);
        *c = (wgi_fn_constant){m->slot[i], wgi_fn_uniform_of(m, i)};
    } else {
        draft *const d = draft_add(m, WGI_FN_SPLAT);
        field(m, d, 0, UNIFORM, i);
        result(m, d, STORES_IT, i);
        m->accumulator = WGI_NO_NODE;
    }
}

/* Adds an instruction that leaves its result. In the list of codes each form with a store
 * follows the same form without. */
static inline draft *instruction(wgi_fn_maker *m, uint32_t code, uint32_t node) {
    draft *const d = draft_add(m, code);
    result(m, d, LEAVES, node);
    return d;
}

static inline int is_accumulator(const wgi_fn_maker *m, uint32_t i) {
    return m->accumulator == i && wgi_fn_in_columns(m, i);
}

static void splat(wgi_fn_maker *m, uint32_t i) {
    draft *const d = instruction(m, WGI_FN_SPLAT, i);
    field(m, d, 0, UNIFORM, i);
    if (d != NULL) d->result = NO_RESULT;
}

static void binary(wgi_fn_maker *m, simple which, uint32_t node, uint32_t x, uint32_t y) {
    const int commutes = which == ADD || which == MUL || which == TIMES;
    int xu = !wgi_fn_in_columns(m, x), yu = !wgi_fn_in_columns(m, y), xa = is_accumulator(m, x);
    if (xu && yu) {
        splat(m, x);
        xu = 0, xa = 1;
    }
    int ya = !xa && is_accumulator(m, y);
    if (commutes && (ya || (xu && !xa))) {
        const uint32_t t = x;
        x = y, y = t;
        xa = ya, ya = 0;
        yu = xu, xu = 0;
    }
    uint32_t code;
    draft *d;
    if (commutes) {
        const uint32_t ac = which == ADD   ? WGI_FN_ADD_AC
                            : which == MUL ? WGI_FN_MUL_AC
                                           : WGI_FN_TIMES_AC;
        if (which == MUL && xa && x == y) {
            (void)instruction(m, WGI_FN_MUL_AA, node);
            return;
        }
        code = ac + (WGI_FN_ADD_AS - WGI_FN_ADD_AC) * (uint32_t)(xa ? yu : 2 + yu);
    } else {
        const uint32_t ac = which == SUB ? WGI_FN_SUB_AC : WGI_FN_DIV_AC;
        const uint32_t form = xa ? (yu ? 2 : 0) : ya ? (xu ? 3 : 1) : yu ? 5 : xu ? 6 : 4;
        code = ac + (WGI_FN_SUB_CA - WGI_FN_SUB_AC) * form;
    }
    d = instruction(m, code, node);
    if (xa || ya) field(m, d, 0, (xa ? yu : xu) ? UNIFORM : COLUMN, xa ? y : x);
    else {
        field(m, d, 0, xu ? UNIFORM : COLUMN, x);
        field(m, d, 1, yu ? UNIFORM : COLUMN, y);
    }
}

static void unary(wgi_fn_maker *m, simple which, uint32_t node, uint32_t x) {
    const uint32_t a = which == NEG    ? WGI_FN_NEG_A
                       : which == SQRT ? WGI_FN_SQRT_A
                                       : WGI_FN_FABS_A;
    if (!wgi_fn_in_columns(m, x)) {
        splat(m, x);
        (void)instruction(m, a, node);
    } else if (is_accumulator(m, x)) (void)instruction(m, a, node);
    else field(m, instruction(m, a + (WGI_FN_NEG_C - WGI_FN_NEG_A), node), 0, COLUMN, x);
}

/* A product whose only reader is the next unit, a sum or a difference, becomes one instruction
 * with it. */
static int fused(wgi_fn_maker *m, uint32_t product, simple which) {
    const uint32_t next = m->unit.id;
    const wgi_fn_uses uses = wgi_fn_uses_of(m, product);
    if ((which != MUL && which != TIMES) || wgi_fn_node_of(m, product)->count != 2) return 0;
    if (uses != WGI_READ_ONCE && uses != WGI_READ_NEXT) return 0;
    if (m->unit.kind != WGI_UNIT_NODE || wgi_fn_reader_of(m, product) != next) return 0;
    const wgi_node *const n = wgi_fn_node_of(m, next);
    const simple outer = simple_of(n);
    if (outer != ADD && outer != SUB) return 0;
    uint32_t x = wgi_fn_operands_of(m, product)[0], y = wgi_fn_operands_of(m, product)[1];
    const uint32_t *const o = wgi_fn_operands_of(m, next);
    const uint32_t z = o[0] == product ? o[1] : o[0];
    if (z == product || !wgi_fn_in_columns(m, z) || is_accumulator(m, x) ||
        is_accumulator(m, y))
        return 0;
    if (!wgi_fn_in_columns(m, x)) {
        const uint32_t t = x;
        x = y, y = t;
    }
    if (!wgi_fn_in_columns(m, x)) return 0;
    const int minus = outer == SUB, reversed = minus && o[0] == product;
    if (which == TIMES && reversed) return 0;
    const uint32_t first = which == TIMES ? (minus ? WGI_FN_TSUB_ACC : WGI_FN_TADD_ACC)
                           : reversed     ? WGI_FN_MRSB_ACC
                           : minus        ? WGI_FN_MSUB_ACC
                                          : WGI_FN_MADD_ACC;
    const int za = is_accumulator(m, z), yu = !wgi_fn_in_columns(m, y);
    draft *const d = instruction(
        m, first + (WGI_FN_MADD_ACS - WGI_FN_MADD_ACC) * (uint32_t)((za ? 0 : 2) + yu), next);
    field(m, d, 0, COLUMN, x);
    field(m, d, 1, yu ? UNIFORM : COLUMN, y);
    if (!za) field(m, d, 2, COLUMN, z);
    return 1;
}

/* An instruction whose operands are columns only. */
static void of_columns(wgi_fn_maker *m, uint32_t code, uint32_t node, uint32_t count,
                       const uint32_t *x) {
    for (uint32_t k = 0; k < count; k++) want_column(m, x[k]);
    draft *const d = draft_add(m, code);
    for (uint32_t k = 0; k < count && k < 3; k++) field(m, d, (int)k, COLUMN, x[k]);
    result(m, d, STORES_IT, node);
    if (count == 4) field(m, draft_add(m, WGI_FN_END), 0, COLUMN, x[3]);
}

/* Two nodes that exchange two others, or not, as one instruction. */
static int exchanged(wgi_fn_maker *m, uint32_t node) {
    const uint32_t next = m->unit.id;
    if (m->unit.kind != WGI_UNIT_NODE || !wgi_fn_is_exchange(m, node, next)) return 0;
    const uint32_t *const x = wgi_fn_operands_of(m, node);
    for (uint32_t k = 0; k < 4; k++) want_column(m, x[k]);
    draft *const d = draft_add(m, WGI_FN_EXCHANGE);
    for (int k = 0; k < 3; k++) field(m, d, k, COLUMN, x[k]);
    result(m, d, STORES_IT, node);
    draft *const other = draft_add(m, WGI_FN_END);
    field(m, other, 0, COLUMN, x[3]);
    result(m, other, STORES_IT, next);
    return 1;
}

static uint32_t column_code(const wgi_node *n) {
    switch (wgi_fn_row_of(n->op)) {
    case WGI_ROW_relu:
        return WGI_FN_RELU;
    case WGI_ROW_sign:
        return WGI_FN_SIGN;
    case WGI_ROW_fmax:
        return WGI_FN_FMAX;
    case WGI_ROW_fmin:
        return WGI_FN_FMIN;
    case WGI_ROW_fma:
        return WGI_FN_FMA;
    case WGI_ROW_fabs:
        return WGI_FN_END;
    default:
        return wgi_fn_slope_code(n);
    }
}

static uint32_t *column_add(wgi_fn_maker *m, uint32_t node) {
    uint32_t *const x = wgi_fn_added(m, &m->columns, sizeof *x);
    if (x != NULL) *x = node;
    return x;
}

/* Lists the parts that are wanted, and their numbers, in ascending order. Parts that are not
 * wanted, of which there may be many more, take no room in these lists. */
static void list_parts(wgi_fn_maker *m, uint32_t node, wgi_fn_call *c) {
    const size_t first = m->columns.count;
    for (uint32_t j = wgi_fn_sibling_of(m, node); j != WGI_NO_NODE;
         j = wgi_fn_sibling_of(m, j), c->results++)
        (void)column_add(m, j);
    for (uint32_t k = 0; k < c->results; k++) (void)column_add(m, 0);
    if (wgi_fn_failed(m)) return;
    uint32_t *const result = (uint32_t *)m->columns.at + first;
    for (uint32_t k = 0; k < c->results / 2; k++) { /* listed backwards so far */
        const uint32_t last = result[c->results - 1 - k];
        result[c->results - 1 - k] = result[k];
        result[k] = last;
    }
    for (uint32_t k = 0; k < c->results; k++)
        result[c->results + k] = wgi_fn_node_of(m, result[k])->part;
}

/* Chooses how the node and its family are evaluated. Gives the slope where the kernel of the
 * value gives it as well; otherwise WGI_NO_NODE. */
static uint32_t choose_how(wgi_fn_maker *m, uint32_t node, wgi_fn_call *c) {
    const wgi_node *const n = wgi_fn_node_of(m, node);
    if (wgi_node_has_parts(n)) {
        c->how = WGI_FN_WHOLE;
    } else if (wgi_node_scalar(n) == NULL) {
        c->how = n->kind == WGI_NODE_ARRAY ? WGI_FN_ARRAY : WGI_FN_ROWS;
        if (n->count > m->p.operands) m->p.operands = n->count;
    } else if (n->kind == WGI_NODE_OP && wgi_fn_sibling_of(m, node) == WGI_NO_NODE) {
        c->how = c->kernel != NULL ? WGI_FN_VALUE : WGI_FN_ROWS;
    } else if (!wgi_fn_by_rows(m, n) && wgi_fn_keeps_slope(n)) {
        c->how = WGI_FN_SLOPE;
        return n->kind == WGI_NODE_FIRST ? node : wgi_fn_sibling_of(m, node);
    } else if (wgi_fn_by_rows(m, n)) {
        c->how = WGI_FN_FIRSTS;
        for (uint32_t j = node; j != WGI_NO_NODE; j = wgi_fn_sibling_of(m, j))
            if (wgi_fn_node_of(m, j)->kind == WGI_NODE_SECOND) c->how = WGI_FN_SECONDS;
    } else {
        c->how = WGI_FN_FIRST;
        c->part = n->part;
        c->value = wgi_fn_value_of(m, node);
        if (c->value != WGI_NO_NODE) want_column(m, c->value);
    }
    return WGI_NO_NODE;
}

/* Lists the columns of the value, where it is wanted, and of the slope. */
static void list_slope(wgi_fn_maker *m, uint32_t node, uint32_t slope, wgi_fn_call *c) {
    c->results = 2;
    (void)column_add(m, slope == node ? wgi_fn_sibling_of(m, node) : node);
    (void)column_add(m, slope);
}

/* Lists the columns of the family and, where it is computed point by point, which partials its
 * members are. */
static void list_family(wgi_fn_maker *m, uint32_t node, wgi_fn_call *c) {
    for (uint32_t j = node; j != WGI_NO_NODE; j = wgi_fn_sibling_of(m, j), c->results++)
        (void)column_add(m, j);
    if (!wgi_fn_by_rows(m, wgi_fn_node_of(m, node))) return;
    for (uint32_t j = node; j != WGI_NO_NODE; j = wgi_fn_sibling_of(m, j)) {
        const wgi_node *const n = wgi_fn_node_of(m, j);
        const int beside = c->how == WGI_FN_SECONDS && n->kind == WGI_NODE_FIRST;
        (void)column_add(m, n->part + (beside ? (uint32_t)WGI_FN_PART_FIRST : 0));
    }
}

/* Does it read uniforms where they stand, without columns for them? */
static int takes_uniforms(const wgi_node *n) {
    return n->kind == WGI_NODE_DENSE || n->kind == WGI_NODE_WHOLE;
}

/* The last instruction reads the column of a node that is in none of its fields. */
static inline void reads(wgi_fn_maker *m, uint32_t node) {
    m->last[node] = (uint32_t)m->codes.count - 1;
}

static void call(wgi_fn_maker *m, uint32_t node) {
    const wgi_node *const n = wgi_fn_node_of(m, node);
    wgi_fn_call c;
    memset(&c, 0, sizeof c);
    c.op = wgi_node_scalar(n);
    const int row = c.op == NULL ? -1 : wgi_fn_row_of(c.op);
    for (uint32_t k = 0; k < n->count; k++) {
        const uint32_t x = wgi_fn_operands_of(m, node)[k];
        if (!takes_uniforms(n) || wgi_fn_in_columns(m, x)) want_column(m, x);
    }
    c.array = n->array;
    c.operands = n->count;
    c.node = node;
    c.list = (uint32_t)m->columns.count;
    for (uint32_t k = 0; k < n->count; k++) (void)column_add(m, wgi_fn_operands_of(m, node)[k]);
    if (row >= 0) {
        c.kernel = m->p.simd->row[row].value;
        c.adjoint = m->p.simd->row[row].vjp;
    }
    const uint32_t slope = choose_how(m, node, &c);
    if (c.how == WGI_FN_WHOLE) list_parts(m, node, &c);
    else if (slope != WGI_NO_NODE) list_slope(m, node, slope, &c);
    else list_family(m, node, &c);
    field(m, draft_add(m, WGI_FN_CALL), 0, RAW, (uint32_t)m->calls.count);
    for (uint32_t k = 0; k < n->count; k++) reads(m, wgi_fn_operands_of(m, node)[k]);
    if (c.how == WGI_FN_FIRST && c.value != WGI_NO_NODE) reads(m, c.value);
    wgi_fn_call *const to = wgi_fn_added(m, &m->calls, sizeof *to);
    if (to != NULL) *to = c;
    m->accumulator = WGI_NO_NODE;
}

static void operation(wgi_fn_maker *m, uint32_t node, simple which) {
    const wgi_node *const n = wgi_fn_node_of(m, node);
    const uint32_t *const x = wgi_fn_operands_of(m, node);
    if (n->kind == WGI_NODE_SUM) { /* of a uniform: a multiple of it by the number of points */
        binary(m, TIMES, node, x[0], m->one + 1);
        return;
    }
    if (which == NEG || which == SQRT || which == FABS) unary(m, which, node, x[0]);
    else if (which != OTHER) binary(m, which, node, x[0], x[1]);
    else if (n->kind == WGI_NODE_OP && column_code(n) != WGI_FN_END)
        of_columns(m, column_code(n), node, n->count, x);
    else if (n->kind == WGI_NODE_FIRST && !wgi_fn_by_rows(m, n) &&
             wgi_fn_slope_code(n) != WGI_FN_END) {
        const uint32_t code = wgi_fn_slope_code(n);
        if (n->count == 4)
            of_columns(m, code, node, 4,
                       (uint32_t[]){x[0], x[1], n->part == 2 ? m->one : m->zero,
                                    n->part == 2 ? m->zero : m->one});
        else if (n->count == 2)
            of_columns(m, code, node, 2, (uint32_t[]){x[n->part], x[1 - n->part]});
        else of_columns(m, code, node, 1, x);
    } else call(m, node);
}

/* An instruction that only reads node i; the accumulator stays as it is. */
static void about(wgi_fn_maker *m, uint32_t a, uint32_t c, uint32_t i, uint32_t raw) {
    const int here = is_accumulator(m, i);
    draft *const d = draft_add(m, here ? a : c);
    if (!here) field(m, d, 0, COLUMN, i);
    field(m, d, 1, RAW, raw);
}

/* A comparison. */
static void compare(wgi_fn_maker *m, uint32_t guard) {
    const uint32_t side[2] = {m->f->guard[guard].a, m->f->guard[guard].b};
    for (int k = 0; k < 2; k++) want_column(m, side[k]);
    draft *const d = draft_add(m, WGI_FN_GUARD);
    for (int k = 0; k < 2; k++) field(m, d, k, COLUMN, side[k]);
    field(m, d, 2, RAW, guard);
    m->accumulator = WGI_NO_NODE;
}

/* Moves a batch of groups between memory and columns. */
static void batch(wgi_fn_maker *m, uint32_t code, uint32_t k, size_t all) {
    const uint32_t first = k * WGI_FN_BATCH, groups = wgi_fn_batch_groups(all, k);
    for (uint32_t i = 0; code == WGI_FN_STORE && i < groups * WGI_FN_GROUP; i++)
        want_column(m, m->store_node[first * WGI_FN_GROUP + i]);
    draft *const d = draft_add(m, code);
    field(m, d, 0, RAW, first);
    field(m, d, 1, RAW, groups);
    for (uint32_t i = 0; code == WGI_FN_STORE && i < groups * WGI_FN_GROUP; i++)
        reads(m, m->store_node[first * WGI_FN_GROUP + i]);
    m->accumulator = WGI_NO_NODE;
}

void wgi_fn_select(wgi_fn_maker *m, wgi_fn_unit_kind kind, uint32_t id) {
    const wgi_fn_unit u = m->unit;
    m->unit = (wgi_fn_unit){kind, id};
    switch (u.kind) {
    case WGI_UNIT_NONE:
        return;
    case WGI_UNIT_NODE: {
        const simple which = simple_of(wgi_fn_node_of(m, u.id));
        if (fused(m, u.id, which) || (which == OTHER && exchanged(m, u.id)))
            m->unit.kind = WGI_UNIT_NONE;
        else operation(m, u.id, which);
        return;
    }
    case WGI_UNIT_SUMS:
        about(m, WGI_FN_SUM_A, WGI_FN_SUM_C, u.id,
              (uint32_t)(m->sum[u.id] * m->p.machine->width * sizeof(double)));
        return;
    case WGI_UNIT_UNIFORMS:
        about(m, WGI_FN_SET_A, WGI_FN_SET_C, u.id, wgi_fn_uniform_of(m, u.id));
        return;
    case WGI_UNIT_CHECKS:
        about(m, WGI_FN_CHECK_A, WGI_FN_CHECK_C, u.id, 0);
        return;
    case WGI_UNIT_GUARDS:
        compare(m, u.id);
        return;
    case WGI_UNIT_STORES:
        batch(m, WGI_FN_STORE, u.id, m->p.stores);
        return;
    default:
        batch(m, WGI_FN_LOAD, u.id, m->p.loads);
    }
}

void wgi_fn_select_end(wgi_fn_maker *m) {
    wgi_fn_select(m, WGI_UNIT_NONE, 0);
    (void)draft_add(m, WGI_FN_END);
}

/* ---- columns ---- */

/* Does an instruction read or compute nodes beside those in its fields and its result? */
static inline int has_beside(const draft *d) {
    return d->code == WGI_FN_STORE || d->code == WGI_FN_LOAD || d->code == WGI_FN_CALL;
}

/* The nodes that an instruction reads beside those in its fields, and those that it computes
 * beside its result. */
static uint32_t beside(const wgi_fn_maker *m, const draft *d, const uint32_t **read,
                       const uint32_t **made, uint32_t *makes, uint32_t *more) {
    *makes = 0;
    *more = WGI_NO_NODE;
    if (d->code == WGI_FN_STORE) {
        *read = m->store_node + d->x[0] * WGI_FN_GROUP;
        return d->x[1] * WGI_FN_GROUP;
    }
    if (d->code == WGI_FN_LOAD) {
        *made = m->load_node + d->x[0] * WGI_FN_GROUP;
        *makes = d->x[1] * WGI_FN_GROUP;
        return 0;
    }
    if (d->code != WGI_FN_CALL) return 0;
    const wgi_fn_call *const c = (const wgi_fn_call *)m->calls.at + d->x[0];
    *read = (const uint32_t *)m->columns.at + c->list;
    *made = *read + c->operands;
    *makes = c->results;
    if (c->how == WGI_FN_FIRST) *more = c->value;
    return c->operands;
}

/* Is its column given to other nodes later? Those of uniforms are not, in the part of each
 * point. */
static int is_dealt(const wgi_fn_maker *m, uint32_t i) {
    return wgi_fn_in_columns(m, i) || (m->when != WGI_EACH && (m->mark[i] & WGI_MARK_RESIDENT));
}

static void give(wgi_fn_maker *m, uint32_t i) {
    if (!is_dealt(m, i) || (m->mark[i] & WGI_MARK_FREED)) return;
    uint32_t *const s = wgi_fn_added(m, &m->free, sizeof *s);
    if (s != NULL) *s = m->slot[i];
    m->mark[i] |= WGI_MARK_FREED;
}

static void take(wgi_fn_maker *m, uint32_t i) {
    if (i == WGI_NO_NODE) return;
    if (m->last[i] == WGI_NO_NODE) m->slot[i] = WGI_FN_DUMP;
    else if (m->free.count != 0) m->slot[i] = ((uint32_t *)m->free.at)[--m->free.count];
    else m->slot[i] = (uint32_t)m->slots++;
}

/* Does a call write results before it has read all operands? */
static int is_apart(const wgi_fn_call *c) {
    return c->how == WGI_FN_ARRAY || c->how == WGI_FN_FIRST || c->how == WGI_FN_WHOLE;
}

/* Columns come in the place of nodes in the operands of instruction i, and those of which it is
 * the last reader are given back. */
static inline void place_operands(wgi_fn_maker *m, draft *d, size_t i) {
    for (unsigned columns = d->columns, k = 0; columns != 0; columns >>= 1, k++) {
        if ((columns & 1) == 0) continue;
        const uint32_t x = d->x[k];
        d->x[k] = wgi_fn_column_at(m, x);
        if (m->last[x] == i) give(m, x);
    }
}

static inline int stores(const wgi_fn_maker *m, const draft *d) {
    return d->result == STORES_IT || (d->result == LEAVES && m->last[d->d] != WGI_NO_NODE);
}

/* A draft whose operands have their columns becomes an instruction. */
static inline void place(wgi_fn_maker *m, draft *at) {
    const draft d = *at;
    const int in_column = stores(m, at);
    const int variant = in_column && (d.result == LEAVES || d.code == WGI_FN_SPLAT);
    *(wgi_fn_code *)(void *)at =
        (wgi_fn_code){d.code + (uint32_t)variant, d.x[0], d.x[1], d.x[2],
                      in_column ? wgi_fn_column_at(m, d.d) : 0};
}

/* Columns of an instruction that reads or computes nodes beside those in its fields. */
static void deal_beside(wgi_fn_maker *m, draft *d, size_t i) {
    const uint32_t *read = NULL, *made = NULL;
    uint32_t makes, more;
    const uint32_t n = beside(m, d, &read, &made, &makes, &more);
    const int apart = d->code == WGI_FN_CALL && is_apart((wgi_fn_call *)m->calls.at + d->x[0]);
    for (uint32_t k = 0; apart && k < makes; k++) take(m, made[k]);
    place_operands(m, d, i);
    for (uint32_t k = 0; k < n; k++)
        if (m->last[read[k]] == i) give(m, read[k]);
    if (more != WGI_NO_NODE && m->last[more] == i) give(m, more);
    for (uint32_t k = 0; !apart && k < makes; k++) take(m, made[k]);
}

/* Columns and parts of calls. */
static void place_calls(wgi_fn_maker *m, size_t first_call) {
    uint32_t *const columns = m->columns.at;
    for (size_t k = first_call; k < m->calls.count; k++) {
        wgi_fn_call *const c = (wgi_fn_call *)m->calls.at + k;
        const int uniforms = takes_uniforms(wgi_fn_node_of(m, c->node));
        uint32_t first = c->list;
        for (; uniforms && first < c->list + c->operands; first++)
            columns[first] = wgi_fn_in_columns(m, columns[first])
                                 ? wgi_fn_column_at(m, columns[first])
                                 : wgi_fn_uniform_of(m, columns[first]) << 1 | 1u;
        for (uint32_t i = first; i < c->list + c->operands + c->results; i++)
            columns[i] = columns[i] == WGI_NO_NODE ? wgi_fn_offset(WGI_FN_SCRATCH)
                                                   : wgi_fn_column_at(m, columns[i]);
        if (c->how == WGI_FN_FIRST && c->value != WGI_NO_NODE)
            c->value = wgi_fn_column_at(m, c->value);
    }
}

void wgi_fn_deal_columns(wgi_fn_maker *m, size_t first_call) {
    draft *const all = m->codes.at;
    const size_t end = m->codes.count;
    m->slots = WGI_FN_FIXED + (m->when == WGI_EACH ? m->constants.count : 0);
    for (size_t i = m->first_code[m->when]; i < end && wgi_fn_goes_on(m, i); i++) {
        draft *const d = &all[i];
        if (has_beside(d)) deal_beside(m, d, i);
        else place_operands(m, d, i);
        if (i + 1 == end || d[1].code != WGI_FN_END || d[1].columns == 0) {
            if (stores(m, d)) take(m, d->d);
            place(m, d);
            continue;
        }
        /* the word behind it holds one more operand, and perhaps one more result */
        place_operands(m, d + 1, ++i);
        for (int w = 0; w < 2; w++)
            if (stores(m, d + w)) take(m, d[w].d);
        for (int w = 0; w < 2; w++) place(m, d + w);
    }
    if (!wgi_fn_failed(m)) place_calls(m, first_call);
}

/* SPDX-License-Identifier: MIT */
/* Programs are made: see program.h for what they are.
 *
 * Each part of a function is done in steps: what belongs together is found (families); nodes
 * get an order in which a value is used soon after it is made; that becomes a list of units,
 * with the loads and stores where they are due; units become instructions; and these get
 * columns. */
#include "program.h"

#include <string.h>

typedef enum { NODE, LOADS, STORES, SUMS, KEEPS, CHECKS, GUARDS } unit_kind;

typedef struct unit {
    unit_kind kind;
    uint32_t id; /* node, group, sum or guard */
} unit;

/* An instruction before its operands have places. */
typedef enum { NOTHING, COLUMN, UNIFORM, RAW } field_kind;
typedef enum { NO_RESULT, LEAVES, STORES_IT } result_kind; /* LEAVES: stores if it is read */
typedef struct draft {
    uint32_t code;
    unsigned char field[3];
    unsigned char result;
    uint32_t x[3], d;
} draft;

typedef struct list {
    void *at;
    size_t count, room;
} list;

/* Of a node. */
enum {
    STORED = 1,     /* read from a column */
    RESIDENT = 2,   /* a uniform that has a column */
    DEPENDS = 4,    /* on a product by the zero rule at a point */
    CHECKED = 8,    /* read by what may hide that it is NaN */
    KEPT = 16,      /* becomes a uniform */
    FREED = 32,     /* its column is */
    OPERATION = 64, /* in the part under way */
    LOADED = 128    /* an input */
};

typedef struct maker {
    wgi_core *c;
    wg_function *f;
    wgi_fn_program p;

    wgi_when when;      /* of the part under way */
    uint32_t low, high; /* its operations */
    uint32_t zero, one; /* two numbers beside the nodes */
    unsigned char *mark;
    uint32_t *uniform;        /* place, or WGI_NO_NODE */
    uint32_t *uses;           /* by operations, results, sums, comparisons */
    uint32_t *user, *last;    /* the last operation that reads it; the last instruction */
    uint32_t *slot;           /* of its column */
    uint32_t *next, *before;  /* the order, as a chain */
    uint32_t *lead, *sibling; /* a family is one unit: who stands for it, and the next in it */
    uint32_t *value;          /* node that is the value of which this is the slope */
    uint32_t *sum, *group;    /* its number; the group of an input */
    uint32_t *wanted_by;      /* the first result that is this node, ... */
    uint32_t *next_result;    /* ... and the next one after a result */
    uint32_t *result_group;
    uint32_t *guarded, *next_guarded; /* comparisons 2 k + side */
    unsigned char *sides;             /* of a comparison: those computed */
    unsigned char *pending;           /* entries of a group still to come */
    wgi_fn_group *load, *store;
    uint32_t *load_node, *store_node; /* 8 of each group */

    list units, drafts, codes, calls, columns, constants, free;
    size_t slots, first_code[3];
    uint32_t accumulator; /* the node in it, or WGI_NO_NODE */
} maker;

static int failed(const maker *m) { return m->c->status != WG_OK; }

static void *room(maker *m, size_t bytes) {
    void *const p = wg_tape_keep(&m->c->head, bytes + 64, NULL);
    if (p != NULL) memset(p, 0, bytes + 64);
    return p;
}

static void *added(maker *m, list *l, size_t size) {
    if (l->count == l->room) {
        const size_t more = l->room == 0 ? 64 : 2 * l->room;
        void *const p = wg_tape_keep(&m->c->head, more * size, NULL);
        if (p == NULL) return NULL;
        if (l->count != 0) memcpy(p, l->at, l->count * size);
        l->at = p;
        l->room = more;
    }
    return (char *)l->at + size * l->count++;
}

/* ---- nodes ---- */

static const wgi_node *node_of(const maker *m, uint32_t i) { return &m->f->node[i]; }
static const uint32_t *operands_of(const maker *m, uint32_t i) {
    return m->f->operand + m->f->node[i].first;
}
/* A sum over points, or only a multiple of a number? */
static int is_sum(const maker *m, uint32_t i) {
    return node_of(m, i)->kind == WGI_NODE_SUM &&
           node_of(m, operands_of(m, i)[0])->when == WGI_EACH;
}
static int is_operation(const wgi_node *n) {
    return n->kind != WGI_NODE_INPUT && n->kind != WGI_NODE_NUMBER;
}
static int in_columns(const maker *m, uint32_t i) {
    return i < m->f->nodes &&
           ((m->mark[i] & OPERATION) ||
            (m->when == WGI_EACH && i < m->f->n && node_of(m, i)->when == WGI_EACH));
}
static int row_of(const wg_scalar_op *op) {
    return op >= wgi_scalar_ops && op < wgi_scalar_ops + wgi_scalar_op_count
               ? (int)(op - wgi_scalar_ops)
               : -1;
}

/* Operations with instructions that know the accumulator. */
typedef enum { OTHER, ADD, SUB, MUL, DIV, TIMES, NEG, SQRT, FABS } simple;
static simple simple_of(const wgi_node *n) {
    if (n->kind == WGI_NODE_TIMES || n->kind == WGI_NODE_SUM) return TIMES;
    if (n->kind != WGI_NODE_OP) return OTHER;
    switch (row_of(n->op)) {
    case WGI_ROW_add:
        return ADD;
    case WGI_ROW_sub:
        return SUB;
    case WGI_ROW_mul:
        return MUL;
    case WGI_ROW_div:
        return DIV;
    case WGI_ROW_neg:
        return NEG;
    case WGI_ROW_sqrt:
        return SQRT;
    case WGI_ROW_fabs:
        return FABS;
    default:
        return OTHER;
    }
}

/* Is NaN of every operand a NaN of the result? */
static int shows_nan(const wgi_node *n) {
    if (n->kind == WGI_NODE_TIMES || n->kind == WGI_NODE_ARRAY || n->kind == WGI_NODE_SUM)
        return 1;
    if (n->kind != WGI_NODE_OP) return 0;
    const int row = row_of(n->op);
    return row >= 0 && (n->op->arity == 1 || simple_of(n) != OTHER || row == WGI_ROW_fma);
}

/* ---- families: slopes and what they share ---- */

static int has_kernel(const maker *m, const wg_scalar_op *op) {
    const int row = row_of(op);
    return row >= 0 && m->p.simd->row[row].vjp != NULL;
}

/* Instruction of a slope, or END; swapped: of the second operand. */
static uint32_t slope_code(const wgi_node *n) {
    switch (row_of(n->op)) {
    case WGI_ROW_fabs:
        return WGI_FN_FABS_D;
    case WGI_ROW_relu:
        return WGI_FN_RELU_D;
    case WGI_ROW_fmax:
        return WGI_FN_FMAX_D;
    case WGI_ROW_fmin:
        return WGI_FN_FMIN_D;
    case WGI_ROW_select_lt:
        return WGI_FN_SELECT_LT;
    case WGI_ROW_select_le:
        return WGI_FN_SELECT_LE;
    case WGI_ROW_select_gt:
        return WGI_FN_SELECT_GT;
    case WGI_ROW_select_ge:
        return WGI_FN_SELECT_GE;
    case WGI_ROW_select_eq:
        return WGI_FN_SELECT_EQ;
    case WGI_ROW_select_ne:
        return WGI_FN_SELECT_NE;
    default:
        return WGI_FN_END;
    }
}

/* Slopes row by row: all of an operation at its operands are made at once. */
static int by_rows(const maker *m, const wgi_node *n) {
    return n->kind == WGI_NODE_SECOND ||
           (n->kind == WGI_NODE_FIRST &&
            (!has_kernel(m, n->op) || (n->op->zero_first >> n->part & 1)));
}
static int keeps_slope(const wgi_node *n) {
    return row_of(n->op) >= 0 && wgi_elementwise_keeps[row_of(n->op)];
}

static size_t hash(const maker *m, uint32_t i) {
    const wgi_node *const n = node_of(m, i);
    uint64_t h = (uint64_t)(uintptr_t)n->op;
    for (uint32_t k = 0; k < n->count; k++) {
        h = (h ^ operands_of(m, i)[k]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return (size_t)h;
}

/* Are the nodes of an entry, numbers plus one, of this operation at these operands? */
static int same_operands(const maker *m, const uint32_t *entry, uint32_t i) {
    const uint32_t j = (entry[0] != 0 ? entry[0] : entry[1] != 0 ? entry[1] : entry[2]) - 1;
    const wgi_node *const n = node_of(m, i);
    return node_of(m, j)->op == n->op &&
           memcmp(operands_of(m, j), operands_of(m, i), n->count * sizeof(uint32_t)) == 0;
}

static void join(maker *m, uint32_t lead, uint32_t i) {
    m->lead[i] = lead;
    m->sibling[i] = m->sibling[lead];
    m->sibling[lead] = i;
}

static void families(maker *m) {
    size_t slopes = 0, room_for = 64;
    for (uint32_t i = m->low; i < m->high; i++) {
        m->lead[i] = i;
        m->sibling[i] = m->value[i] = WGI_NO_NODE;
        slopes +=
            node_of(m, i)->kind == WGI_NODE_FIRST || node_of(m, i)->kind == WGI_NODE_SECOND;
    }
    if (slopes == 0) return;
    while (room_for < 4 * (size_t)(m->high - m->low)) room_for *= 2;
    /* by operation and operands, plus one: the value, the first slope by rows, a kept slope */
    uint32_t(*const table)[3] = room(m, room_for * sizeof *table);
    if (table == NULL) return;
    for (uint32_t i = m->low; i < m->high; i++) {
        const wgi_node *const n = node_of(m, i);
        if (n->op == NULL || (m->mark[i] & OPERATION) == 0) continue;
        if (n->kind == WGI_NODE_FIRST && slope_code(n) != WGI_FN_END) continue;
        size_t at = hash(m, i) & (room_for - 1);
        for (;; at = (at + 1) & (room_for - 1)) {
            const uint32_t j = table[at][0] | table[at][1] | table[at][2];
            if (j == 0 || same_operands(m, table[at], i)) break;
        }
        uint32_t *const to = table[at], value = to[0], rows = to[1], kept = to[2];
        if (n->kind == WGI_NODE_OP) {
            to[0] = i + 1;
            if (kept != 0 && m->sibling[kept - 1] == WGI_NO_NODE) join(m, kept - 1, i);
        } else if (by_rows(m, n)) {
            if (rows == 0) to[1] = i + 1;
            else join(m, rows - 1, i);
        } else if (!keeps_slope(n)) m->value[i] = value == 0 ? WGI_NO_NODE : value - 1;
        else if (value != 0 && m->sibling[value - 1] == WGI_NO_NODE) join(m, value - 1, i);
        else to[2] = i + 1;
    }
}

/* ---- order ---- */

/* Operands of a unit: those of its node, and the value of a slope. */
static uint32_t reads(const maker *m, uint32_t i, uint32_t k) {
    const wgi_node *const n = node_of(m, i);
    return k < n->count ? operands_of(m, i)[k] : m->value[i];
}
static uint32_t read_count(const maker *m, uint32_t i) {
    return node_of(m, i)->count + (m->value[i] != WGI_NO_NODE);
}

static void count_uses(maker *m) {
    wg_function *const f = m->f;
    for (uint32_t i = m->low; i < m->high; i++) {
        if ((m->mark[i] & OPERATION) == 0 || m->lead[i] != i) continue;
        for (uint32_t k = 0; k < read_count(m, i); k++) {
            const uint32_t x = reads(m, i, k);
            if (m->uses[x] == 0 || m->user[x] != i) m->uses[x]++;
            m->user[x] = i;
        }
    }
    /* two more: such a node is not moved */
    for (uint32_t i = 0; i < f->nodes; i++)
        if ((in_columns(m, i) && ((m->mark[i] & (KEPT | CHECKED)) || m->sum[i] != WGI_NO_NODE)))
            m->uses[i] += 2;
    if (m->when != WGI_EACH) return;
    for (size_t j = 0; j < f->m; j++) m->uses[f->result[j]] += 2;
    for (size_t k = 0; k < f->guards; k++)
        m->uses[f->guard[k].a] += 2, m->uses[f->guard[k].b] += 2;
}

static void put_before(maker *m, uint32_t i, uint32_t at) {
    const uint32_t b = m->before[at];
    m->before[i] = b;
    m->next[i] = at;
    m->before[at] = i;
    if (b != WGI_NO_NODE) m->next[b] = i;
}

/* As given, but what has one reader, and is the last one of at most one operand, is made just
 * before its reader: the operand that was made last directly so. Gives the first node. */
static uint32_t order(maker *m) {
    const uint32_t end = m->zero; /* a stop for the chain */
    uint32_t last = WGI_NO_NODE;
    m->before[end] = m->next[end] = WGI_NO_NODE;
    for (uint32_t i = m->low; i < m->high; i++) {
        m->next[i] = m->before[i] = WGI_NO_NODE;
        if ((m->mark[i] & OPERATION) == 0 || m->lead[i] != i) continue;
        uint32_t ends = 0;
        for (uint32_t k = 0; k < read_count(m, i); k++)
            ends += in_columns(m, reads(m, i, k)) && m->user[reads(m, i, k)] == i;
        m->last[i] = m->uses[i] == 1 && m->sibling[i] == WGI_NO_NODE && ends <= 1;
        if (!m->last[i]) put_before(m, i, end);
    }
    for (uint32_t i = m->high; i-- > m->low;) {
        if ((m->mark[i] & OPERATION) == 0 || m->lead[i] != i) continue;
        /* operands with this reader only: the latest nearest */
        uint32_t at = i, below = WGI_NO_NODE;
        for (;;) {
            uint32_t best = WGI_NO_NODE;
            for (uint32_t k = 0; k < read_count(m, i); k++) {
                const uint32_t x = reads(m, i, k);
                if (!in_columns(m, x) || (m->mark[x] & OPERATION) == 0 || m->lead[x] != x ||
                    !m->last[x] || m->user[x] != i)
                    continue;
                if ((below == WGI_NO_NODE || x < below) && (best == WGI_NO_NODE || x > best))
                    best = x;
            }
            if (best == WGI_NO_NODE) break;
            put_before(m, best, at);
            at = below = best;
        }
    }
    for (uint32_t i = end; i != WGI_NO_NODE; i = m->before[i]) last = i;
    return last;
}

/* ---- units ---- */

static void unit_add(maker *m, unit_kind kind, uint32_t id) {
    unit *const u = added(m, &m->units, sizeof *u);
    if (u != NULL) *u = (unit){kind, id};
}

/* A number of each point is there now: what waits for it. */
static void defined(maker *m, uint32_t i) {
    if (m->mark[i] & CHECKED) unit_add(m, CHECKS, i);
    if (m->sum[i] != WGI_NO_NODE) unit_add(m, SUMS, i);
    if (m->mark[i] & KEPT) unit_add(m, KEEPS, i);
    if (m->when != WGI_EACH) return;
    for (uint32_t g = m->guarded[i]; g != WGI_NO_NODE; g = m->next_guarded[g])
        if (--m->sides[g / 2] == 0) unit_add(m, GUARDS, g / 2);
    for (uint32_t j = m->wanted_by[i]; j != WGI_NO_NODE; j = m->next_result[j])
        if (--m->pending[m->result_group[j]] == 0) unit_add(m, STORES, m->result_group[j]);
}

static void need_input(maker *m, uint32_t i) {
    if (i >= m->f->n || !in_columns(m, i) || (m->mark[i] & LOADED)) return;
    const uint32_t g = m->group[i];
    unit_add(m, LOADS, g);
    for (uint32_t k = 0; k < m->load[g].count; k++)
        m->mark[m->load_node[g * WGI_FN_GROUP + k]] |= LOADED;
    for (uint32_t k = 0; k < m->load[g].count; k++)
        if (m->load[g].wanted >> k & 1) defined(m, m->load_node[g * WGI_FN_GROUP + k]);
}

static void list_units(maker *m, uint32_t first) {
    for (uint32_t i = first; i != m->zero; i = m->next[i]) {
        for (uint32_t k = 0; k < node_of(m, i)->count; k++) need_input(m, operands_of(m, i)[k]);
        unit_add(m, NODE, i);
        for (uint32_t j = i; j != WGI_NO_NODE; j = m->sibling[j]) defined(m, j);
    }
    if (m->when != WGI_EACH) return;
    for (uint32_t i = 0; i < m->f->n; i++)
        if (m->uses[i] != 0) need_input(m, i);
    for (uint32_t g = 0; g < m->p.stores; g++) { /* of uniforms only */
        uint32_t columns = 0;
        for (uint32_t k = 0; k < m->store[g].count; k++)
            columns += (uint32_t)in_columns(m, m->store_node[g * WGI_FN_GROUP + k]);
        if (columns == 0) unit_add(m, STORES, g);
    }
}

/* ---- instructions ---- */

static draft *draft_add(maker *m, uint32_t code) {
    draft *const d = added(m, &m->drafts, sizeof *d);
    static const draft none;
    if (d != NULL) {
        *d = none;
        d->code = code;
    }
    return d;
}

static void field(maker *m, draft *d, int k, field_kind kind, uint32_t x) {
    if (d == NULL) return;
    d->field[k] = (unsigned char)kind;
    d->x[k] = x;
    if (kind == COLUMN) m->mark[x] |= STORED;
}

static void result(maker *m, draft *d, result_kind kind, uint32_t i) {
    if (d == NULL) return;
    d->result = (unsigned char)kind;
    d->d = i;
    m->accumulator = i;
}

/* A uniform as a column, for instructions that take only such. */
static void want_column(maker *m, uint32_t i) {
    if (in_columns(m, i)) {
        m->mark[i] |= STORED;
        return;
    }
    if (m->mark[i] & RESIDENT) return;
    m->mark[i] |= RESIDENT;
    if (m->when == WGI_EACH) {
        wgi_fn_constant *const c = added(m, &m->constants, sizeof *c);
        if (c == NULL) return;
        m->slot[i] = (uint32_t)(WGI_FN_FIXED + m->constants.count - 1);
        *c = (wgi_fn_constant){m->slot[i], m->uniform[i]};
    } else {
        draft *const d = draft_add(m, WGI_FN_SPLAT);
        field(m, d, 0, UNIFORM, i);
        result(m, d, STORES_IT, i);
        m->accumulator = WGI_NO_NODE;
    }
}

/* Codes are as listed: forms two apart, with and without a store. */
static draft *instruction(maker *m, uint32_t code, uint32_t node) {
    draft *const d = draft_add(m, code);
    result(m, d, LEAVES, node);
    return d;
}

static int is_accumulator(const maker *m, uint32_t i) {
    return in_columns(m, i) && m->accumulator == i;
}

static void splat(maker *m, uint32_t i) {
    draft *const d = instruction(m, WGI_FN_SPLAT, i);
    field(m, d, 0, UNIFORM, i);
    if (d != NULL) d->result = NO_RESULT;
}

static void binary(maker *m, simple which, uint32_t node, uint32_t x, uint32_t y) {
    const int commutes = which == ADD || which == MUL || which == TIMES;
    int xu = !in_columns(m, x), yu = !in_columns(m, y), xa = is_accumulator(m, x);
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

static void unary(maker *m, simple which, uint32_t node, uint32_t x) {
    const uint32_t a = which == NEG    ? WGI_FN_NEG_A
                       : which == SQRT ? WGI_FN_SQRT_A
                                       : WGI_FN_FABS_A;
    if (!in_columns(m, x)) {
        splat(m, x);
        (void)instruction(m, a, node);
    } else if (is_accumulator(m, x)) (void)instruction(m, a, node);
    else field(m, instruction(m, a + (WGI_FN_NEG_C - WGI_FN_NEG_A), node), 0, COLUMN, x);
}

/* A product whose only reader is the next unit, a sum or difference: both in one. */
static int fused(maker *m, uint32_t product, const unit *next) {
    const wgi_node *const p = node_of(m, product);
    const simple which = simple_of(p);
    if ((which != MUL && which != TIMES) || p->count != 2 || m->uses[product] != 1) return 0;
    if (next == NULL || next->kind != NODE || m->user[product] != next->id) return 0;
    const wgi_node *const n = node_of(m, next->id);
    const simple outer = simple_of(n);
    if (outer != ADD && outer != SUB) return 0;
    uint32_t x = operands_of(m, product)[0], y = operands_of(m, product)[1];
    const uint32_t *const o = operands_of(m, next->id);
    const uint32_t z = o[0] == product ? o[1] : o[0];
    if (z == product || !in_columns(m, z) || is_accumulator(m, x) || is_accumulator(m, y))
        return 0;
    if (!in_columns(m, x)) {
        const uint32_t t = x;
        x = y, y = t;
    }
    if (!in_columns(m, x)) return 0;
    const int minus = outer == SUB, reversed = minus && o[0] == product;
    if (which == TIMES && reversed) return 0;
    const uint32_t first = which == TIMES ? (minus ? WGI_FN_TSUB_ACC : WGI_FN_TADD_ACC)
                           : reversed     ? WGI_FN_MRSB_ACC
                           : minus        ? WGI_FN_MSUB_ACC
                                          : WGI_FN_MADD_ACC;
    const int za = is_accumulator(m, z), yu = !in_columns(m, y);
    draft *const d = instruction(
        m, first + (WGI_FN_MADD_ACS - WGI_FN_MADD_ACC) * (uint32_t)((za ? 0 : 2) + yu),
        next->id);
    field(m, d, 0, COLUMN, x);
    field(m, d, 1, yu ? UNIFORM : COLUMN, y);
    if (!za) field(m, d, 2, COLUMN, z);
    return 1;
}

/* An instruction on columns only. */
static void of_columns(maker *m, uint32_t code, uint32_t node, uint32_t count,
                       const uint32_t *x) {
    for (uint32_t k = 0; k < count; k++) want_column(m, x[k]);
    draft *const d = draft_add(m, code);
    for (uint32_t k = 0; k < count && k < 3; k++) field(m, d, (int)k, COLUMN, x[k]);
    result(m, d, STORES_IT, node);
    if (count == 4) field(m, draft_add(m, WGI_FN_END), 0, COLUMN, x[3]);
}

static uint32_t column_code(const wgi_node *n) {
    switch (row_of(n->op)) {
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
        return slope_code(n);
    }
}

static uint32_t *column_add(maker *m, uint32_t node) {
    uint32_t *const x = added(m, &m->columns, sizeof *x);
    if (x != NULL) *x = node;
    return x;
}

static void call(maker *m, uint32_t node) {
    const wgi_node *const n = node_of(m, node);
    wgi_fn_call c;
    memset(&c, 0, sizeof c);
    const int row = n->op == NULL ? -1 : row_of(n->op);
    for (uint32_t k = 0; k < n->count; k++) want_column(m, operands_of(m, node)[k]);
    c.op = n->op;
    c.array = n->array;
    c.operands = n->count;
    c.list = (uint32_t)m->columns.count;
    for (uint32_t k = 0; k < n->count; k++) (void)column_add(m, operands_of(m, node)[k]);
    if (row >= 0) {
        c.kernel = m->p.simd->row[row].value;
        c.adjoint = m->p.simd->row[row].vjp;
    }
    uint32_t second = WGI_NO_NODE; /* the slope of a row that keeps it */
    if (n->kind == WGI_NODE_ARRAY) {
        c.how = WGI_FN_ARRAY;
        if (n->count > m->p.operands) m->p.operands = n->count;
    } else if (n->kind == WGI_NODE_OP && m->sibling[node] == WGI_NO_NODE)
        c.how = c.kernel != NULL ? WGI_FN_VALUE : WGI_FN_ROWS;
    else if (!by_rows(m, n) && keeps_slope(n)) {
        c.how = WGI_FN_SLOPE;
        second = n->kind == WGI_NODE_FIRST ? node : m->sibling[node];
    } else if (by_rows(m, n)) {
        c.how = WGI_FN_FIRSTS;
        for (uint32_t j = node; j != WGI_NO_NODE; j = m->sibling[j])
            if (node_of(m, j)->kind == WGI_NODE_SECOND) c.how = WGI_FN_SECONDS;
    } else {
        c.how = WGI_FN_FIRST;
        c.part = n->part;
        c.value = m->value[node];
        if (c.value != WGI_NO_NODE) want_column(m, c.value);
    }
    if (second != WGI_NO_NODE) {
        const uint32_t value = second == node ? m->sibling[node] : node;
        c.results = 2;
        (void)column_add(m, value); /* WGI_NO_NODE: not wanted */
        (void)column_add(m, second);
    } else {
        for (uint32_t j = node; j != WGI_NO_NODE; j = m->sibling[j], c.results++)
            (void)column_add(m, j);
        for (uint32_t j = node; by_rows(m, n) && j != WGI_NO_NODE; j = m->sibling[j])
            (void)column_add(
                m, node_of(m, j)->part +
                       (c.how == WGI_FN_SECONDS && node_of(m, j)->kind == WGI_NODE_FIRST
                            ? (uint32_t)WGI_FN_PART_FIRST
                            : 0));
    }
    field(m, draft_add(m, WGI_FN_CALL), 0, RAW, (uint32_t)m->calls.count);
    wgi_fn_call *const to = added(m, &m->calls, sizeof *to);
    if (to != NULL) *to = c;
    m->accumulator = WGI_NO_NODE;
}

static void operation(maker *m, uint32_t node) {
    const wgi_node *const n = node_of(m, node);
    const uint32_t *const x = operands_of(m, node);
    const simple which = simple_of(n);
    if (n->kind == WGI_NODE_SUM) { /* of a uniform: as often as there are points */
        binary(m, TIMES, node, x[0], m->one + 1);
        return;
    }
    if (which == NEG || which == SQRT || which == FABS) unary(m, which, node, x[0]);
    else if (which != OTHER) binary(m, which, node, x[0], x[1]);
    else if (n->kind == WGI_NODE_OP && column_code(n) != WGI_FN_END)
        of_columns(m, column_code(n), node, n->count, x);
    else if (n->kind == WGI_NODE_FIRST && !by_rows(m, n) && slope_code(n) != WGI_FN_END) {
        const uint32_t code = slope_code(n);
        if (n->count == 4)
            of_columns(m, code, node, 4,
                       (uint32_t[]){x[0], x[1], n->part == 2 ? m->one : m->zero,
                                    n->part == 2 ? m->zero : m->one});
        else if (n->count == 2)
            of_columns(m, code, node, 2, (uint32_t[]){x[n->part], x[1 - n->part]});
        else of_columns(m, code, node, 1, x);
    } else call(m, node);
}

/* An instruction about a node that is there; it leaves the accumulator as it is. */
static void about(maker *m, uint32_t a, uint32_t c, uint32_t i, uint32_t raw) {
    const int here = is_accumulator(m, i);
    draft *const d = draft_add(m, here ? a : c);
    if (!here) field(m, d, 0, COLUMN, i);
    field(m, d, 1, RAW, raw);
}

static void select_instructions(maker *m) {
    const unit *const u = m->units.at;
    m->accumulator = WGI_NO_NODE;
    for (size_t i = 0; i < m->units.count && !failed(m); i++) {
        const uint32_t id = u[i].id;
        draft *d;
        switch (u[i].kind) {
        case NODE:
            if (fused(m, id, i + 1 < m->units.count ? &u[i + 1] : NULL)) i++;
            else operation(m, id);
            break;
        case SUMS:
            about(m, WGI_FN_SUM_A, WGI_FN_SUM_C, id,
                  (uint32_t)(m->sum[id] * m->p.machine->width * sizeof(double)));
            break;
        case KEEPS:
            about(m, WGI_FN_KEEP_A, WGI_FN_KEEP_C, id, m->uniform[id]);
            break;
        case CHECKS:
            about(m, WGI_FN_CHECK_A, WGI_FN_CHECK_C, id, 0);
            break;
        case GUARDS:
            want_column(m, m->f->guard[id].a);
            want_column(m, m->f->guard[id].b);
            d = draft_add(m, WGI_FN_GUARD);
            field(m, d, 0, COLUMN, m->f->guard[id].a);
            field(m, d, 1, COLUMN, m->f->guard[id].b);
            field(m, d, 2, RAW, id);
            m->accumulator = WGI_NO_NODE;
            break;
        case STORES:
            for (uint32_t k = 0; k < m->store[id].count; k++)
                want_column(m, m->store_node[id * WGI_FN_GROUP + k]);
            /* fall through */
        default:
            field(m, draft_add(m, u[i].kind == STORES ? WGI_FN_STORE : WGI_FN_LOAD), 0, RAW,
                  id);
            m->accumulator = WGI_NO_NODE;
        }
    }
    (void)draft_add(m, WGI_FN_END);
}

/* ---- columns ---- */

/* What an instruction reads beside its fields, and what it makes beside its result. */
static uint32_t beside(const maker *m, const draft *d, const uint32_t **read,
                       const uint32_t **made, uint32_t *makes, uint32_t *more) {
    *makes = 0;
    *more = WGI_NO_NODE;
    if (d->code == WGI_FN_STORE) {
        *read = m->store_node + d->x[0] * WGI_FN_GROUP;
        return m->store[d->x[0]].count;
    }
    if (d->code == WGI_FN_LOAD) {
        *made = m->load_node + d->x[0] * WGI_FN_GROUP;
        *makes = m->load[d->x[0]].count;
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

/* Does its column change hands? Those of uniforms at the points stay. */
static int is_dealt(const maker *m, uint32_t i) {
    return in_columns(m, i) || (m->when != WGI_EACH && (m->mark[i] & RESIDENT));
}

static void give(maker *m, uint32_t i) {
    if (!is_dealt(m, i) || (m->mark[i] & FREED)) return;
    uint32_t *const s = added(m, &m->free, sizeof *s);
    if (s != NULL) *s = m->slot[i];
    m->mark[i] |= FREED;
}

static void take(maker *m, uint32_t i) {
    if (i == WGI_NO_NODE) return;
    if (m->last[i] == WGI_NO_NODE) m->slot[i] = WGI_FN_DUMP;
    else if (m->free.count != 0) m->slot[i] = ((uint32_t *)m->free.at)[--m->free.count];
    else m->slot[i] = (uint32_t)m->slots++;
}

/* Does a call write results before it has read all operands? */
static int is_apart(const wgi_fn_call *c) {
    return c->how == WGI_FN_ARRAY || c->how == WGI_FN_FIRST;
}

static void deal_columns(maker *m) {
    draft *const all = m->drafts.at;
    const size_t count = m->drafts.count;
    const uint32_t *read = NULL, *made = NULL;
    uint32_t makes, more;
    for (size_t i = 0; i < m->f->nodes + 3; i++) m->last[i] = WGI_NO_NODE;
    for (size_t i = 0; i < count; i++) {
        const draft *const d = &all[i];
        const uint32_t n = beside(m, d, &read, &made, &makes, &more);
        for (int k = 0; k < 3; k++)
            if (d->field[k] == COLUMN) m->last[d->x[k]] = (uint32_t)i;
        for (uint32_t k = 0; k < n; k++) m->last[read[k]] = (uint32_t)i;
        if (more != WGI_NO_NODE) m->last[more] = (uint32_t)i;
    }
    m->slots = WGI_FN_FIXED + (m->when == WGI_EACH ? m->constants.count : 0);
    for (size_t i = 0; i < count && !failed(m); i++) {
        draft *const d = &all[i];
        const uint32_t n = beside(m, d, &read, &made, &makes, &more);
        const int apart =
            d->code == WGI_FN_CALL && is_apart((wgi_fn_call *)m->calls.at + d->x[0]);
        for (uint32_t k = 0; apart && k < makes; k++) take(m, made[k]);
        /* an operand in the word after belongs to this instruction */
        const size_t words =
            i + 1 < count && all[i + 1].code == WGI_FN_END && all[i + 1].field[0] == COLUMN ? 2
                                                                                            : 1;
        for (size_t w = 0; w < words; w++)
            for (int k = 0; k < 3; k++)
                if (d[w].field[k] == COLUMN && m->last[d[w].x[k]] == i + w) give(m, d[w].x[k]);
        for (uint32_t k = 0; k < n; k++)
            if (m->last[read[k]] == i) give(m, read[k]);
        if (more != WGI_NO_NODE && m->last[more] == i) give(m, more);
        for (uint32_t k = 0; !apart && k < makes; k++) take(m, made[k]);
        if (d->result == STORES_IT || (d->result == LEAVES && m->last[d->d] != WGI_NO_NODE))
            take(m, d->d);
        i += words - 1;
    }
}

/* ---- a part ---- */

static uint32_t column_at(const maker *m, uint32_t i, size_t stride) {
    return (uint32_t)(m->slot[i] * stride);
}

/* Drafts, calls and groups with the places of their columns. */
static void place(maker *m, size_t first_call, size_t stride) {
    const draft *const all = m->drafts.at;
    uint32_t *const columns = m->columns.at;
    for (size_t i = 0; i < m->drafts.count; i++) {
        const draft *const d = &all[i];
        uint32_t x[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++)
            x[k] = d->field[k] == COLUMN    ? column_at(m, d->x[k], stride)
                   : d->field[k] == UNIFORM ? (uint32_t)(m->uniform[d->x[k]] * sizeof(double))
                                            : d->x[k];
        const int stores =
            d->result == STORES_IT || (d->result == LEAVES && m->last[d->d] != WGI_NO_NODE);
        wgi_fn_code *const to = added(m, &m->codes, sizeof *to);
        if (to == NULL) return;
        const int variant = stores && (d->result == LEAVES || d->code == WGI_FN_SPLAT);
        *to = (wgi_fn_code){d->code + (uint32_t)variant, x[0], x[1], x[2],
                            stores ? column_at(m, d->d, stride) : 0};
    }
    for (size_t k = first_call; k < m->calls.count; k++) {
        wgi_fn_call *const c = (wgi_fn_call *)m->calls.at + k;
        for (uint32_t i = c->list; i < c->list + c->operands + c->results; i++)
            columns[i] = columns[i] == WGI_NO_NODE ? (uint32_t)(WGI_FN_SCRATCH * stride)
                                                   : column_at(m, columns[i], stride);
        if (c->how == WGI_FN_FIRST && c->value != WGI_NO_NODE)
            c->value = column_at(m, c->value, stride);
    }
}

static void forget_part(maker *m) {
    m->units.count = m->drafts.count = m->free.count = 0;
    for (size_t i = 0; i < m->f->nodes + 3; i++) {
        m->uses[i] = 0;
        m->user[i] = WGI_NO_NODE;
        m->mark[i] &= (unsigned char)(KEPT | CHECKED | DEPENDS);
    }
    for (uint32_t i = m->low; i < m->high; i++)
        if (!is_sum(m, i)) m->mark[i] |= OPERATION;
}

/* Of the first level, without what is read beside; and what a thread may have of the last. */
enum { NEAR_CACHE = 24 * 1024, CACHE = 4 * 1024 * 1024 };

/* Points of a run. What an instruction costs beside its arithmetic is as much as that of four
 * vectors: columns far away are better than short ones. */
static size_t lanes_for(const maker *m) {
    const size_t w = m->p.machine->width;
    size_t vectors = 8;
    while (vectors > 2 && m->slots * vectors * w * sizeof(double) > CACHE) vectors /= 2;
    return vectors * w;
}

static void part(maker *m, wgi_when when, uint32_t low, uint32_t high) {
    m->when = when, m->low = low, m->high = high;
    const size_t first_call = m->calls.count, first_code = m->codes.count;
    forget_part(m);
    families(m);
    if (failed(m)) return;
    count_uses(m);
    for (size_t g = 0; when == WGI_EACH && g < m->p.loads; g++)
        for (uint32_t k = 0; k < m->load[g].count; k++)
            if (m->uses[m->load_node[g * WGI_FN_GROUP + k]] != 0) m->load[g].wanted |= 1u << k;
    list_units(m, order(m));
    select_instructions(m);
    if (failed(m)) return;
    deal_columns(m);
    if (failed(m)) return;
    size_t lanes = m->p.machine->width;
    if (when == WGI_EACH) m->p.lanes = lanes = lanes_for(m);
    const size_t stride = lanes * sizeof(double);
    if (m->slots > UINT32_MAX / stride) {
        (void)wgi_fail(m->c, WG_ENOMEM, "a function: %zu numbers at a time", m->slots);
        return;
    }
    place(m, first_call, stride);
    m->p.part[when].slots = m->slots;
    m->first_code[when] = first_code;
    if (when != WGI_EACH || failed(m)) return;
    m->f->stats.columns = m->slots - WGI_FN_FIXED;
    for (size_t g = 0; g < m->p.loads; g++)
        for (uint32_t k = 0; k < m->load[g].count; k++)
            m->load[g].column[k] =
                m->load[g].wanted >> k & 1
                    ? column_at(m, m->load_node[g * WGI_FN_GROUP + k], stride)
                    : (uint32_t)(WGI_FN_DUMP * stride);
    for (size_t k = 0; k < m->constants.count; k++)
        ((wgi_fn_constant *)m->constants.at)[k].column *= (uint32_t)stride;
    for (size_t g = 0; g < m->p.stores; g++)
        for (uint32_t k = 0; k < m->store[g].count; k++)
            m->store[g].column[k] = column_at(m, m->store_node[g * WGI_FN_GROUP + k], stride);
}

/* ---- before the parts ---- */

static int is_kept(const maker *m, uint32_t i, unsigned when) {
    const wgi_node *const n = node_of(m, i);
    return n->when == when && (m->mark[i] & KEPT) && is_operation(n) && !is_sum(m, i);
}

static void mark_kept(maker *m) {
    wg_function *const f = m->f;
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        for (uint32_t k = 0; k < n->count; k++) {
            const uint32_t x = f->operand[n->first + k];
            if (f->node[x].when != n->when) m->mark[x] |= KEPT;
        }
    }
    for (size_t j = 0; j < f->m; j++) m->mark[f->result[j]] |= KEPT;
    for (size_t k = 0; k < f->guards; k++)
        m->mark[f->guard[k].a] |= KEPT, m->mark[f->guard[k].b] |= KEPT;
    for (uint32_t i = 0; i < f->nodes; i++)
        if (!is_kept(m, i, WGI_ONCE) && !is_kept(m, i, WGI_AFTER))
            m->mark[i] &= (unsigned char)~KEPT;
}

static void uniforms(maker *m) {
    wg_function *const f = m->f;
    wgi_fn_program *const p = &m->p;
    for (size_t i = 0; i < f->nodes + 3; i++) m->uniform[i] = m->sum[i] = WGI_NO_NODE;
    mark_kept(m);
    uint32_t at = 0;
    m->uniform[m->one + 1] = at++;
    m->uniform[m->zero] = at++;
    m->uniform[m->one] = at++;
    for (uint32_t i = 0; i < f->nodes; i++)
        if (f->node[i].kind == WGI_NODE_NUMBER) m->uniform[i] = at++;
    p->numbers = at - 1;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->node[i].when == WGI_ONCE) m->uniform[i] = at++;
    for (uint32_t i = 0; i < f->nodes; i++)
        if (is_kept(m, i, WGI_ONCE)) m->uniform[i] = at++;
    p->sum_at = at;
    for (uint32_t i = 0; i < f->nodes; i++)
        if (is_sum(m, i)) {
            m->uniform[i] = at++;
            m->sum[operands_of(m, i)[0]] = (uint32_t)p->sums++;
        }
    for (uint32_t i = 0; i < f->nodes; i++)
        if (is_kept(m, i, WGI_AFTER)) m->uniform[i] = at++;
    p->uniforms = at;
}

/* What depends on products by the zero rule, and who might hide that they are NaN. */
static void dependences(maker *m) {
    wg_function *const f = m->f;
    for (uint32_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        if (n->when != WGI_EACH) continue;
        if (n->kind == WGI_NODE_TIMES) m->mark[i] |= DEPENDS, m->p.checks = 1;
        for (uint32_t k = 0; k < n->count; k++) {
            const uint32_t x = f->operand[n->first + k];
            if ((m->mark[x] & DEPENDS) == 0) continue;
            m->mark[i] |= DEPENDS;
            if (!shows_nan(n)) m->mark[x] |= CHECKED;
        }
    }
    for (size_t k = 0; k < f->guards; k++) {
        const uint32_t side[2] = {f->guard[k].a, f->guard[k].b};
        for (int s = 0; s < 2; s++)
            if (m->mark[side[s]] & DEPENDS) m->mark[side[s]] |= CHECKED;
    }
    for (uint32_t i = 0; i < f->nodes; i++)
        if (m->sum[i] != WGI_NO_NODE && (m->mark[i] & DEPENDS)) m->p.check_sums = 1;
}

static size_t groups_of(size_t count, const wg_argument *a, unsigned without) {
    size_t groups = 0;
    for (size_t k = 0; k < count; k++)
        if ((a[k].flags & without) == 0)
            groups += (wgi_argument_size(&a[k]) + WGI_FN_GROUP - 1) / WGI_FN_GROUP;
    return groups;
}

static void groups(maker *m) {
    wg_function *const f = m->f;
    size_t g = 0;
    uint32_t i = 0;
    for (uint32_t k = 0; k < f->inputs; k++) {
        const uint32_t entries = (uint32_t)wgi_argument_size(&f->input[k]);
        for (uint32_t e = 0; e < entries; e++, i++) {
            if (f->input[k].flags & WG_SHARED) continue;
            const uint32_t at = e % WGI_FN_GROUP;
            if (at == 0) m->load[g++] = (wgi_fn_group){.argument = k, .entry = e};
            m->load[g - 1].count = at + 1;
            m->load_node[(g - 1) * WGI_FN_GROUP + at] = i;
            m->group[i] = (uint32_t)(g - 1);
        }
    }
    uint32_t j = 0;
    g = 0;
    for (uint32_t k = 0; k < f->outputs; k++) {
        const uint32_t entries = (uint32_t)wgi_argument_size(&f->output[k]);
        for (uint32_t e = 0; e < entries; e++, j++) {
            if (f->output[k].flags & WG_SUMMED) continue;
            const uint32_t at = e % WGI_FN_GROUP, node = f->result[j];
            if (at == 0) m->store[g++] = (wgi_fn_group){.argument = k, .entry = e};
            m->store[g - 1].count = at + 1;
            m->store_node[(g - 1) * WGI_FN_GROUP + at] = node;
            m->result_group[j] = (uint32_t)(g - 1);
            if (m->mark[node] & DEPENDS) m->store[g - 1].check |= 1u << at;
            if (f->node[node].when != WGI_EACH) continue;
            m->pending[g - 1]++;
            m->next_result[j] = m->wanted_by[node];
            m->wanted_by[node] = j;
        }
    }
}

static void comparisons(maker *m) {
    wg_function *const f = m->f;
    for (uint32_t k = 0; k < f->guards; k++) {
        const uint32_t side[2] = {f->guard[k].a, f->guard[k].b};
        unsigned each = 0, after = 0;
        for (uint32_t s = 0; s < 2; s++) {
            after += f->node[side[s]].when == WGI_AFTER;
            if (f->node[side[s]].when != WGI_EACH) continue;
            each++;
            m->next_guarded[2 * k + s] = m->guarded[side[s]];
            m->guarded[side[s]] = 2 * k + s;
        }
        m->sides[k] = (unsigned char)each;
        if (each != 0 && after != 0)
            (void)wgi_fail(m->c, WG_EMODE,
                           "a function: a sum over the points is compared at the points");
    }
}

static int open(maker *m) {
    wg_function *const f = m->f;
    const size_t n = f->nodes + 3, word = sizeof(uint32_t);
    wgi_fn_program *const p = &m->p;
    m->zero = (uint32_t)f->nodes, m->one = m->zero + 1;
    p->loads = groups_of(f->inputs, f->input, WG_SHARED);
    p->stores = groups_of(f->outputs, f->output, WG_SUMMED);
    uint32_t **const by_node[] = {
        &m->uniform, &m->uses,    &m->user,  &m->last, &m->slot,  &m->next,      &m->before,
        &m->lead,    &m->sibling, &m->value, &m->sum,  &m->group, &m->wanted_by, &m->guarded};
    for (size_t i = 0; i < sizeof by_node / sizeof *by_node; i++) {
        *by_node[i] = room(m, n * word);
        if (*by_node[i] == NULL) return 0;
    }
    m->mark = room(m, n);
    m->next_result = room(m, f->m * word);
    m->result_group = room(m, f->m * word);
    m->next_guarded = room(m, 2 * f->guards * word);
    m->sides = room(m, f->guards);
    m->pending = room(m, p->stores);
    m->load = room(m, p->loads * sizeof *m->load);
    m->store = room(m, p->stores * sizeof *m->store);
    m->load_node = room(m, p->loads * WGI_FN_GROUP * word);
    m->store_node = room(m, p->stores * WGI_FN_GROUP * word);
    if (failed(m)) return 0;
    memset(m->wanted_by, 0xff, n * word);
    memset(m->guarded, 0xff, n * word);
    memset(m->value, 0xff, n * word);
    memset(m->next_result, 0xff, f->m * word);
    memset(m->next_guarded, 0xff, 2 * f->guards * word);
    return 1;
}

/* ---- into memory of its own ---- */

/* Columns of native code: one that is never read, inputs, results, constants. */
static void native_columns(maker *m, uint32_t *input_node, uint32_t *result_node,
                           wgi_fn_constant *constant) {
    wg_function *const f = m->f;
    wgi_fn_program *const p = &m->p;
    enum { LEAST = 16 };
    size_t columns = 1 + WGI_FN_GROUP * p->stores, points = WGI_FN_NATIVE_POINTS;
    for (size_t g = 0; g < p->loads; g++) columns += m->load[g].wanted != 0 ? WGI_FN_GROUP : 0;
    while (points > LEAST && columns * points * sizeof(double) > NEAR_CACHE) points /= 2;
    const uint32_t stride = (uint32_t)(points * sizeof(double));
    p->native_points = points;
    uint32_t at = 1;
    for (size_t g = 0; g < p->loads; g++)
        for (uint32_t k = 0; k < m->load[g].count; k++) {
            m->load[g].native[k] = 0;
            if ((m->load[g].wanted >> k & 1) == 0) continue;
            input_node[p->native_inputs++] = m->load_node[g * WGI_FN_GROUP + k];
            m->load[g].native[k] = stride * at++;
        }
    for (size_t i = 0; i < f->nodes + 3; i++) m->slot[i] = 0;
    for (int uniform = 0; uniform < 2; uniform++)
        for (size_t g = 0; g < p->stores; g++)
            for (uint32_t k = 0; k < m->store[g].count; k++) {
                const uint32_t i = m->store_node[g * WGI_FN_GROUP + k];
                if ((f->node[i].when != WGI_EACH) != uniform) continue;
                if (m->slot[i] == 0) {
                    m->slot[i] = at++;
                    if (!uniform) result_node[p->native_results++] = i;
                    else
                        constant[p->native_constants++] =
                            (wgi_fn_constant){m->slot[i] * stride, m->uniform[i]};
                }
                m->store[g].native[k] = m->slot[i] * stride;
            }
}

typedef struct pieces {
    char *base;
    size_t used;
} pieces;

/* What an array becomes in memory of its own; without a base it is only counted. */
static const void *moved(pieces *b, const void *from, size_t bytes) {
    const size_t at = b->used;
    b->used += (bytes + 63) / 64 * 64;
    if (b->base == NULL) return from;
    if (bytes != 0) memcpy(b->base + at, from, bytes);
    return b->base + at;
}

static void move(pieces *b, wgi_fn_program *p, const maker *m) {
    const size_t word = sizeof(uint32_t);
    b->used = (sizeof *p + 63) / 64 * 64;
    const wgi_fn_code *const code = moved(b, m->codes.at, m->codes.count * sizeof *code);
    for (int k = 0; k < 3; k++) p->part[k].code = code + m->first_code[k];
    p->uniform_node = moved(b, p->uniform_node, p->uniforms * word);
    p->number = moved(b, p->number, p->numbers * sizeof *p->number);
    p->sum_node = moved(b, p->sum_node, p->sums * word);
    p->result_uniform = moved(b, p->result_uniform, m->f->m * word);
    p->guard_uniform = moved(b, p->guard_uniform, 2 * m->f->guards * word);
    p->call = moved(b, m->calls.at, m->calls.count * sizeof *p->call);
    p->list = moved(b, m->columns.at, m->columns.count * word);
    p->load = moved(b, m->load, p->loads * sizeof *p->load);
    p->store = moved(b, m->store, p->stores * sizeof *p->store);
    p->constants = m->constants.count;
    p->constant = moved(b, m->constants.at, p->constants * sizeof *p->constant);
    p->input_node = moved(b, p->input_node, p->native_inputs * word);
    p->result_node = moved(b, p->result_node, p->native_results * word);
    p->check_node = moved(b, p->check_node, p->checked * word);
    p->native_constant =
        moved(b, p->native_constant, p->native_constants * sizeof *p->native_constant);
}

static void list_uniforms(maker *m, double *number, uint32_t *uniform_node, uint32_t *sum_node,
                          uint32_t *result_uniform, uint32_t *guard_uniform) {
    const wg_function *const f = m->f;
    memset(uniform_node, 0xff, m->p.uniforms * sizeof *uniform_node);
    for (uint32_t i = 0; i < f->nodes; i++) {
        if (m->uniform[i] == WGI_NO_NODE) continue;
        uniform_node[m->uniform[i]] = i;
        if (f->node[i].kind == WGI_NODE_NUMBER) number[m->uniform[i] - 1] = f->node[i].value;
        if (is_sum(m, i)) sum_node[m->uniform[i] - m->p.sum_at] = operands_of(m, i)[0];
    }
    number[m->uniform[m->one] - 1] = 1;
    for (size_t j = 0; j < f->m; j++) result_uniform[j] = m->uniform[f->result[j]];
    for (size_t k = 0; k < f->guards; k++) {
        guard_uniform[2 * k] = m->uniform[f->guard[k].a];
        guard_uniform[2 * k + 1] = m->uniform[f->guard[k].b];
    }
}

/* What native code has to look at after plain products. */
static void list_checked(maker *m, uint32_t *check_node) {
    const wg_function *const f = m->f;
    for (size_t j = 0; j < f->m; j++)
        if (f->node[f->result[j]].when == WGI_EACH) m->mark[f->result[j]] |= CHECKED;
    for (uint32_t i = 0; i < f->nodes; i++)
        if ((m->mark[i] & DEPENDS) && ((m->mark[i] & CHECKED) || m->sum[i] != WGI_NO_NODE))
            check_node[m->p.checked++] = i;
}

static void finish(maker *m) {
    wg_function *const f = m->f;
    wgi_fn_program *const p = &m->p;
    const size_t word = sizeof(uint32_t);
    double *const number = room(m, p->numbers * sizeof *number);
    uint32_t *const uniform_node = room(m, p->uniforms * word);
    uint32_t *const result_uniform = room(m, f->m * word);
    uint32_t *const guard_uniform = room(m, 2 * f->guards * word);
    uint32_t *const sum_node = room(m, p->sums * word);
    uint32_t *const input_node = room(m, p->loads * WGI_FN_GROUP * word);
    uint32_t *const result_node = room(m, p->stores * WGI_FN_GROUP * word);
    uint32_t *const check_node = room(m, f->nodes * word);
    wgi_fn_constant *const constant = room(m, p->stores * WGI_FN_GROUP * sizeof *constant);
    if (failed(m)) return;
    list_uniforms(m, number, uniform_node, sum_node, result_uniform, guard_uniform);
    list_checked(m, check_node);
    native_columns(m, input_node, result_node, constant);
    p->number = number;
    p->uniform_node = uniform_node, p->sum_node = sum_node;
    p->result_uniform = result_uniform, p->guard_uniform = guard_uniform;
    p->input_node = input_node, p->result_node = result_node, p->check_node = check_node;
    p->native_constant = constant;
    pieces b = {NULL, 0};
    move(&b, p, m);
    p->bytes = (b.used + 4095) / 4096 * 4096;
    const wg_memory *const memory = &f->memory;
    b.base = memory->reserve(memory->ctx, p->bytes);
    if (b.base == NULL || memory->commit(memory->ctx, b.base, p->bytes) != 0) {
        if (b.base != NULL) memory->release(memory->ctx, b.base, p->bytes);
        (void)wgi_fail(m->c, WG_ENOMEM, "a function: no memory for %zu bytes", p->bytes);
        return;
    }
    move(&b, p, m);
    f->program = (wgi_fn_program *)(void *)b.base;
    *f->program = *p;
}

/* Points added up apart: some ten microseconds of work, whole runs. */
static size_t block_for(const wgi_fn_program *p, size_t codes) {
    enum { WORK = 1 << 18, MOST = 4096 };
    size_t points = MOST;
    while (points > 4 * p->lanes && points * codes > WORK) points /= 2;
    return points;
}

wg_status wgi_fn_program_make(wgi_core *c, wg_function *f, const wgi_fn_machine *machine,
                              const wgi_simd *simd) {
    maker m;
    memset(&m, 0, sizeof m);
    m.c = c;
    m.f = f;
    m.p.machine = machine;
    m.p.simd = simd;
    if (!open(&m)) return c->status;
    const uint32_t once = (uint32_t)(f->n + f->numbers), each = once + (uint32_t)f->once;
    const uint32_t after = each + (uint32_t)f->each;
    uniforms(&m);
    dependences(&m);
    groups(&m);
    comparisons(&m);
    if (!failed(&m)) part(&m, WGI_ONCE, once, each);
    if (!failed(&m)) part(&m, WGI_EACH, each, after);
    const size_t codes = m.codes.count - m.first_code[WGI_EACH];
    if (!failed(&m)) part(&m, WGI_AFTER, after, (uint32_t)f->nodes);
    if (failed(&m)) return c->status;
    m.p.block = block_for(&m.p, codes);
    finish(&m);
    return c->status;
}

wg_status wgi_fn_program_new(wgi_core *c, wg_function *f) {
    const wgi_simd *const simd = wgi_simd_best();
    const wgi_fn_machine *machine = wgi_fn_base;
#if defined(__x86_64__)
    if (simd == wgi_simd_avx512 && wgi_fn_avx512 != NULL) machine = wgi_fn_avx512;
    else if (simd == wgi_simd_avx2 && wgi_fn_avx2 != NULL) machine = wgi_fn_avx2;
#endif
    return wgi_fn_program_make(c, f, machine, simd);
}

void wgi_fn_program_free(wg_function *f) {
    if (f->program == NULL) return;
    f->memory.release(f->memory.ctx, f->program, f->program->bytes);
    f->program = NULL;
}

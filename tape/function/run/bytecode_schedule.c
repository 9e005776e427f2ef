/* SPDX-License-Identifier: MIT */
/* The nodes of a part in the order in which they are computed.
 *
 * Nodes that are computed by one call are a family. A node with a single reader is computed
 * just before that; all others keep the order of the function. Loads stand before the first
 * reader of an input; stores, sums and comparisons behind the last node that they need. */
#include "bytecode_maker.h"

#include <string.h>

/* ---- families: slopes and what they share ---- */

static int has_kernel(const wgi_fn_maker *m, const wg_scalar_op *op) {
    const int row = wgi_fn_row_of(op);
    return row >= 0 && m->p.simd->row[row].vjp != NULL;
}

uint32_t wgi_fn_slope_code(const wgi_node *n) {
    switch (wgi_fn_row_of(n->op)) {
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

int wgi_fn_by_rows(const wgi_fn_maker *m, const wgi_node *n) {
    return n->kind == WGI_NODE_SECOND ||
           (n->kind == WGI_NODE_FIRST &&
            (!has_kernel(m, n->op) || (n->op->zero_first >> n->part & 1)));
}
int wgi_fn_keeps_slope(const wgi_node *n) {
    return wgi_fn_row_of(n->op) >= 0 && wgi_elementwise_keeps[wgi_fn_row_of(n->op)];
}

/* Do the nodes of an entry belong to the same operation at the same operands as node i? An
 * entry holds numbers of nodes plus 1. */
static int same_operands(const wgi_fn_maker *m, const uint32_t *entry, uint32_t i) {
    const uint32_t j = (entry[0] != 0 ? entry[0] : entry[1] != 0 ? entry[1] : entry[2]) - 1;
    return wgi_scalar_same(wgi_fn_node_of(m, j), wgi_fn_node_of(m, i), m->f->operand);
}

static void join(wgi_fn_maker *m, uint32_t lead, uint32_t i) {
    m->lead[i] = lead;
    m->sibling[i] = m->sibling[lead];
    m->sibling[lead] = i;
}

/* Which operations have slopes in this part, by their rows; the last one: of users. */
typedef struct slopes {
    unsigned char of[WGI_ROWS + 1];
    size_t nodes; /* how many are such a slope, or the value that it is the slope of */
} slopes;

static size_t row_or_users(const wg_scalar_op *op) {
    return wgi_is_users(op) ? WGI_ROWS : (size_t)(op - wgi_scalar_ops);
}

/* May it belong to a family of slopes? */
static int is_related(const wgi_fn_maker *m, const slopes *s, uint32_t i) {
    const wgi_node *const n = wgi_fn_node_of(m, i);
    return wgi_node_scalar(n) != NULL && (m->mark[i] & WGI_MARK_OPERATION) != 0 &&
           s->of[row_or_users(n->op)];
}

static slopes find_slopes(const wgi_fn_maker *m) {
    slopes s;
    memset(&s, 0, sizeof s);
    for (uint32_t i = m->low; i < m->high; i++)
        if (wgi_node_is_partial(wgi_fn_node_of(m, i)))
            s.of[row_or_users(wgi_fn_node_of(m, i)->op)] = 1;
    for (uint32_t i = m->low; i < m->high; i++) s.nodes += (size_t)is_related(m, &s, i);
    return s;
}

void wgi_fn_families(wgi_fn_maker *m) {
    size_t room_for = 64;
    if (m->lead == NULL) return;
    for (uint32_t i = m->low; i < m->high; i++) {
        m->lead[i] = i;
        m->sibling[i] = m->value[i] = WGI_NO_NODE;
        if (wgi_fn_node_of(m, i)->kind == WGI_NODE_PART)
            join(m, wgi_fn_operands_of(m, i)[0], i);
    }
    const slopes s = find_slopes(m);
    if (s.nodes == 0) return;
    while (room_for < 2 * s.nodes) room_for *= 2;
    /* entries by operation and operands, each a node plus 1: the value, the first of the slopes
     * that are computed point by point, the slope that the kernel of the value gives */
    wgi_list_room room = {0, 0};
    const size_t bytes = room_for * sizeof(uint32_t[3]);
    uint32_t(*const table)[3] = wgi_list_need(m->c, &room, NULL, 0, bytes);
    if (table == NULL) return;
    memset(table, 0, bytes);
    for (uint32_t i = m->low; i < m->high; i++) {
        const wgi_node *const n = wgi_fn_node_of(m, i);
        if (!is_related(m, &s, i)) continue;
        if (n->kind == WGI_NODE_FIRST && wgi_fn_slope_code(n) != WGI_FN_END) continue;
        size_t at = wgi_scalar_hash(n, m->f->operand) & (room_for - 1);
        for (;; at = (at + 1) & (room_for - 1)) {
            const uint32_t j = table[at][0] | table[at][1] | table[at][2];
            if (j == 0 || same_operands(m, table[at], i)) break;
        }
        uint32_t *const to = table[at], value = to[0], rows = to[1], slope = to[2];
        if (n->kind == WGI_NODE_OP) {
            to[0] = i + 1;
            if (slope != 0 && m->sibling[slope - 1] == WGI_NO_NODE) join(m, slope - 1, i);
        } else if (wgi_fn_by_rows(m, n)) {
            if (rows == 0) to[1] = i + 1;
            else join(m, rows - 1, i);
        } else if (!wgi_fn_keeps_slope(n)) m->value[i] = value == 0 ? WGI_NO_NODE : value - 1;
        else if (value != 0 && m->sibling[value - 1] == WGI_NO_NODE) join(m, value - 1, i);
        else to[2] = i + 1;
    }
    wgi_list_give(m->c, &room);
}

/* ---- order ---- */

static inline void read_it(uint32_t *user, uint32_t reader, uint32_t x) {
    const uint32_t before = user[x];
    if (before == 0) user[x] = wgi_fn_read_by(WGI_READ_ONCE, reader);
    else if ((before & WGI_NO_READER) != reader)
        user[x] = wgi_fn_read_by(WGI_READ_OFTEN, reader);
}

static void read_often(wgi_fn_maker *m, uint32_t i) {
    m->user[i] = wgi_fn_read_by(WGI_READ_OFTEN, wgi_fn_reader_of(m, i));
}

void wgi_fn_count_uses(wgi_fn_maker *m) {
    const wg_function *const f = m->f;
    const wgi_node *const node = f->node;
    const uint32_t *const operand = f->operand, high = m->high;
    uint32_t *const user = m->user;
    /* a unit reads the operands of its node and, for a slope, the value of the operation */
    for (uint32_t i = m->low; i < high; i++) {
        if (!wgi_fn_leads(m, i)) continue;
        const uint32_t *const x = operand + node[i].first;
        const uint32_t count = node[i].count, value = wgi_fn_value_of(m, i);
        for (uint32_t k = 0; k < count; k++) read_it(user, i, x[k]);
        if (value != WGI_NO_NODE) read_it(user, i, value);
    }
    /* such a node is not moved */
    const unsigned char *const mark = m->mark;
    for (uint32_t i = 0; i < f->nodes; i++)
        if (((mark[i] & (WGI_MARK_UNIFORM | WGI_MARK_CHECKED)) ||
             wgi_fn_sum_of(m, i) != WGI_NO_NODE) &&
            wgi_fn_in_columns(m, i))
            read_often(m, i);
    if (m->when != WGI_EACH) return;
    for (size_t j = 0; j < f->m; j++) read_often(m, f->result[j]);
    for (size_t k = 0; k < f->guards; k++)
        read_often(m, f->guard[k].a), read_often(m, f->guard[k].b);
}

/* The operands of a node that has many are not moved: to look for the next one would take as
 * long as there are operands. */
static int takes_many(const wgi_node *n) {
    enum { MANY = 64 };
    return wgi_node_has_parts(n) || n->count > MANY;
}

/* Is node i the last one that reads the column of x? */
static inline int is_end(const wgi_fn_maker *m, uint32_t i, uint32_t x) {
    return wgi_fn_reader_of(m, x) == i && wgi_fn_in_columns(m, x);
}

/* Marks the nodes with a single reader, which free at most one column: each is put just before
 * its reader, all others keep the order of the function. */
static void mark_moved(wgi_fn_maker *m) {
    for (uint32_t i = m->low; i < m->high; i++) {
        if (wgi_fn_uses_of(m, i) != WGI_READ_ONCE || !wgi_fn_leads(m, i)) continue;
        const uint32_t reader = wgi_fn_reader_of(m, i), *const x = wgi_fn_operands_of(m, i);
        const uint32_t count = wgi_fn_node_of(m, i)->count, value = wgi_fn_value_of(m, i);
        int ends = value != WGI_NO_NODE && is_end(m, i, value);
        for (uint32_t k = 0; k < count; k++) ends += is_end(m, i, x[k]);
        if (ends > 1) continue;
        const int pair = (i > m->low && wgi_fn_is_exchange(m, i, i - 1)) ||
                         (i + 1 < m->high && wgi_fn_is_exchange(m, i, i + 1));
        if (!pair && wgi_fn_sibling_of(m, i) == WGI_NO_NODE &&
            !takes_many(wgi_fn_node_of(m, reader))) {
            m->user[i] = wgi_fn_read_by(WGI_READ_NEXT, reader);
            m->mark[reader] |= WGI_MARK_WAITS;
        }
    }
}

/* The first node from number `from` on that node i reads and that is moved before i. */
static uint32_t next_moved(const wgi_fn_maker *m, uint32_t i, uint32_t from) {
    const uint32_t here = wgi_fn_read_by(WGI_READ_NEXT, i), *const x = wgi_fn_operands_of(m, i);
    const uint32_t count = wgi_fn_node_of(m, i)->count, value = wgi_fn_value_of(m, i);
    const uint32_t *const user = m->user;
    uint32_t next = WGI_NO_NODE;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t of = x[k];
        if (of >= from && of < next && user[of] == here) next = of;
    }
    if (value < next && value >= from && user[value] == here) next = value;
    return next;
}

/* ---- units ---- */

/* A node has been computed: adds the units that wait for it. */
static void units_behind(wgi_fn_maker *m, uint32_t i) {
    if (m->mark[i] & WGI_MARK_CHECKED) wgi_fn_select(m, WGI_UNIT_CHECKS, i);
    if (wgi_fn_sum_of(m, i) != WGI_NO_NODE) wgi_fn_select(m, WGI_UNIT_SUMS, i);
    if (m->mark[i] & WGI_MARK_UNIFORM) wgi_fn_select(m, WGI_UNIT_UNIFORMS, i);
    if (m->when != WGI_EACH) return;
    for (uint32_t g = m->guarded == NULL ? WGI_NO_NODE : m->guarded[i]; g != WGI_NO_NODE;
         g = m->next_guarded[g])
        if (--m->sides[g / 2] == 0) wgi_fn_select(m, WGI_UNIT_GUARDS, g / 2);
    for (uint32_t j = m->wanted_by[i]; j != WGI_NO_NODE; j = m->next_result[j])
        if (--m->pending[m->result_batch[j]] == 0)
            wgi_fn_select(m, WGI_UNIT_STORES, m->result_batch[j]);
}

/* Node i has been computed. Mostly no unit waits for it, which is asked here, in line. */
static inline void defined(wgi_fn_maker *m, uint32_t i) {
    if ((m->mark[i] & (WGI_MARK_CHECKED | WGI_MARK_UNIFORM)) || m->sum != NULL ||
        m->guarded != NULL || m->wanted_by[i] != WGI_NO_NODE)
        units_behind(m, i);
}

static void need_input(wgi_fn_maker *m, uint32_t i) {
    if (!wgi_fn_in_columns(m, i) || (m->mark[i] & WGI_MARK_LOADED)) return;
    const uint32_t batch = m->input_batch[i], first = batch * WGI_FN_BATCH;
    const uint32_t end = first + wgi_fn_batch_groups(m->p.loads, batch);
    wgi_fn_select(m, WGI_UNIT_LOADS, batch);
    for (uint32_t g = first; g < end; g++)
        for (uint32_t k = 0; k < m->load[g].count; k++)
            m->mark[m->load_node[g * WGI_FN_GROUP + k]] |= WGI_MARK_LOADED;
    for (uint32_t g = first; g < end; g++)
        for (uint32_t k = 0; k < m->load[g].count; k++)
            if (m->load[g].wanted >> k & 1) defined(m, m->load_node[g * WGI_FN_GROUP + k]);
}

static void node_unit(wgi_fn_maker *m, uint32_t i) {
    const uint32_t *const x = wgi_fn_operands_of(m, i), count = wgi_fn_node_of(m, i)->count;
    const size_t inputs = m->f->n;
    for (uint32_t k = 0; k < count; k++)
        if (x[k] < inputs) need_input(m, x[k]);
    wgi_fn_select(m, WGI_UNIT_NODE, i);
    for (uint32_t j = i; j != WGI_NO_NODE; j = wgi_fn_sibling_of(m, j)) defined(m, j);
}

/* Node i after all that is put before it: of several operands the one that the function
 * computes last comes nearest. */
static void units_to(wgi_fn_maker *m, uint32_t i) {
    uint32_t at = i, from = m->low;
    for (;;) {
        const uint32_t next =
            m->mark[at] & WGI_MARK_WAITS ? next_moved(m, at, from) : WGI_NO_NODE;
        if (next != WGI_NO_NODE) {
            at = next, from = m->low;
            continue;
        }
        node_unit(m, at);
        if (at == i) return;
        from = at + 1, at = wgi_fn_reader_of(m, at);
    }
}

void wgi_fn_list_units(wgi_fn_maker *m) {
    mark_moved(m);
    for (uint32_t i = m->low; i < m->high && wgi_fn_goes_on(m, i); i++)
        if (wgi_fn_uses_of(m, i) != WGI_READ_NEXT && wgi_fn_leads(m, i)) units_to(m, i);
    if (m->when != WGI_EACH) return;
    for (uint32_t i = 0; i < m->f->n; i++)
        if (wgi_fn_uses_of(m, i) != WGI_READ_NEVER) need_input(m, i);
    for (uint32_t g = 0, columns = 0; g < m->p.stores; g++) { /* batches of uniforms only */
        if (g % WGI_FN_BATCH == 0) columns = 0;
        for (uint32_t k = 0; k < m->store[g].count; k++)
            columns += (uint32_t)wgi_fn_in_columns(m, m->store_node[g * WGI_FN_GROUP + k]);
        if ((g + 1 == m->p.stores || (g + 1) % WGI_FN_BATCH == 0) && columns == 0)
            wgi_fn_select(m, WGI_UNIT_STORES, g / WGI_FN_BATCH);
    }
}

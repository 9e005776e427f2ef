/* SPDX-License-Identifier: MIT */
/* Bytecode is made: bytecode.h says what it is, bytecode_maker.h how it is made. */
#include "tape/function/graph/dense_node.h"
#include "bytecode_maker.h"
#include "tape/function/graph/pieces.h"
#include "tape/function/graph/repeat.h"

#include <string.h>

void *wgi_fn_room(wgi_fn_maker *m, size_t bytes) {
    void *const p = wg_tape_keep(&m->c->head, bytes + 64, NULL);
    if (p != NULL) memset(p, 0, bytes + 64);
    return p;
}

/* ---- a part ---- */

static void forget_part(wgi_fn_maker *m) {
    const unsigned char kept = WGI_MARK_UNIFORM | WGI_MARK_CHECKED | WGI_MARK_DEPENDS;
    const size_t nodes = m->f->nodes + 3;
    unsigned char *const mark = m->mark;
    memset(m->user, 0, nodes * sizeof *m->user);
    memset(m->last, 0xff, nodes * sizeof *m->last);
    for (size_t i = 0; i < nodes; i++) mark[i] &= kept;
    for (uint32_t i = m->low; i < m->high; i++)
        if (m->sum == NULL || !wgi_node_sums_points(m->f, i)) mark[i] |= WGI_MARK_OPERATION;
}

/* Bytes: of the first-level cache, that the columns of native code may take; and of the
 * last-level cache, that those of the interpreter may take in a thread. */
enum { NEAR_CACHE = 24 * 1024, CACHE = 4 * 1024 * 1024 };
/* So many columns of wide vectors do not fit into the cache. */
enum { FAR = 1 << 14 };

/* Points of a run. An instruction costs about as much as the arithmetic of four vectors, beside
 * its own arithmetic, which speaks for long columns; but columns that do not fit into the cache
 * cost more. */
static size_t lanes_for(const wgi_fn_maker *m) {
    const size_t w = m->p.machine->width;
    /* with repeats, most columns are only copied, often for a single point */
    size_t vectors = m->f->work == m->f->each ? 8 : 2;
    while (vectors > 2 && m->slots * vectors * w * sizeof(double) > CACHE) vectors /= 2;
    return vectors * w;
}

static void part(wgi_fn_maker *m, wgi_when when, uint32_t low, uint32_t high) {
    m->when = when, m->low = low, m->high = high;
    const size_t first_call = m->calls.count;
    const int empty = low == high && when != WGI_EACH;
    m->first_code[when] = m->codes.count;
    m->free.count = 0;
    m->accumulator = WGI_NO_NODE;
    m->unit.kind = WGI_UNIT_NONE;
    if (!empty) {
        forget_part(m);
        wgi_fn_families(m);
        if (wgi_fn_failed(m)) return;
        wgi_fn_count_uses(m);
        for (size_t g = 0; when == WGI_EACH && g < m->p.loads; g++)
            for (uint32_t k = 0; k < m->load[g].count; k++)
                if (wgi_fn_uses_of(m, m->load_node[g * WGI_FN_GROUP + k]) != WGI_READ_NEVER)
                    m->load[g].wanted |= 1u << k;
        wgi_fn_list_units(m);
    }
    wgi_fn_select_end(m);
    if (wgi_fn_failed(m)) return;
    wgi_fn_deal_columns(m, first_call);
    if (wgi_fn_failed(m)) return;
    if (when == WGI_EACH) m->p.lanes = lanes_for(m);
    if (m->slots > UINT32_MAX / wgi_fn_offset(1)) {
        (void)wgi_fail(m->c, WG_ENOMEM, "a function: %zu numbers at a time", m->slots);
        return;
    }
    m->p.part[when].slots = m->slots;
    if (when != WGI_EACH) return;
    m->f->stats.columns = m->slots - WGI_FN_FIXED;
    for (size_t g = 0; g < m->p.loads; g++)
        for (uint32_t k = 0; k < m->load[g].count; k++)
            m->load[g].column[k] = m->load[g].wanted >> k & 1
                                       ? wgi_fn_column_at(m, m->load_node[g * WGI_FN_GROUP + k])
                                       : wgi_fn_offset(WGI_FN_DUMP);
    for (size_t k = 0; k < m->constants.count; k++) {
        wgi_fn_constant *const c = (wgi_fn_constant *)m->constants.at + k;
        c->column = wgi_fn_offset(c->column);
    }
    for (size_t g = 0; g < m->p.stores; g++)
        for (uint32_t k = 0; k < m->store[g].count; k++)
            m->store[g].column[k] = wgi_fn_column_at(m, m->store_node[g * WGI_FN_GROUP + k]);
}

/* ---- before the parts ---- */

static int becomes_uniform(const wgi_fn_maker *m, uint32_t i, unsigned when) {
    const wgi_node *const n = wgi_fn_node_of(m, i);
    return n->when == when && (m->mark[i] & WGI_MARK_UNIFORM) && wgi_node_is_operation(n) &&
           !wgi_node_sums_points(m->f, i);
}

static void mark_uniforms(wgi_fn_maker *m) {
    wg_function *const f = m->f;
    const uint32_t each = wgi_fn_first_each(f), after = wgi_fn_first_after(f);
    if (f->once + f->after == 0) return; /* nothing is computed for all points */
    for (uint32_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        /* only operands of other parts matter: those before `high` and those from `after` on */
        const uint32_t high = i >= each && i < after ? each : after;
        for (uint32_t k = 0; k < n->count; k++) {
            const uint32_t x = f->operand[n->first + k];
            if ((x < high || x >= after) && f->node[x].when != n->when)
                m->mark[x] |= WGI_MARK_UNIFORM;
        }
    }
    for (size_t j = 0; j < f->m; j++) m->mark[f->result[j]] |= WGI_MARK_UNIFORM;
    for (size_t k = 0; k < f->guards; k++)
        m->mark[f->guard[k].a] |= WGI_MARK_UNIFORM, m->mark[f->guard[k].b] |= WGI_MARK_UNIFORM;
    for (uint32_t i = 0; i < f->nodes; i++)
        if ((i >= each && i < after) ||
            (!becomes_uniform(m, i, WGI_ONCE) && !becomes_uniform(m, i, WGI_AFTER)))
            m->mark[i] &= (unsigned char)~WGI_MARK_UNIFORM;
}

static void uniforms(wgi_fn_maker *m) {
    wg_function *const f = m->f;
    wgi_bytecode *const p = &m->p;
    const uint32_t each = wgi_fn_first_each(f), after = wgi_fn_first_after(f);
    mark_uniforms(m);
    uint32_t at = 0;
    *wgi_fn_uniform_entry(m, m->one + 1) = at++;
    *wgi_fn_uniform_entry(m, m->zero) = at++;
    *wgi_fn_uniform_entry(m, m->one) = at++;
    for (uint32_t i = (uint32_t)f->n; i < each; i++)
        if (f->node[i].kind == WGI_NODE_NUMBER) *wgi_fn_uniform_entry(m, i) = at++;
    p->numbers = at - 1;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->node[i].when == WGI_ONCE) *wgi_fn_uniform_entry(m, i) = at++;
    for (uint32_t i = 0; i < each; i++)
        if (becomes_uniform(m, i, WGI_ONCE)) *wgi_fn_uniform_entry(m, i) = at++;
    p->sum_at = at;
    for (uint32_t i = after; i < f->nodes; i++)
        if (wgi_node_sums_points(m->f, i)) {
            *wgi_fn_uniform_entry(m, i) = at++;
            m->sum[wgi_fn_operands_of(m, i)[0]] = (uint32_t)p->sums++;
        }
    for (uint32_t i = after; i < f->nodes; i++)
        if (becomes_uniform(m, i, WGI_AFTER)) *wgi_fn_uniform_entry(m, i) = at++;
    p->uniforms = at;
}

/* Finds what depends on products by the zero rule, and what could hide a NaN of theirs. */
static void dependences(wgi_fn_maker *m) {
    wg_function *const f = m->f;
    const uint32_t after = wgi_fn_first_after(f);
    unsigned char *const mark = m->mark;
    for (uint32_t i = wgi_fn_first_each(f); i < after; i++) {
        const wgi_node *const n = &f->node[i];
        const uint32_t *const x = f->operand + n->first;
        unsigned any = 0;
        for (uint32_t k = 0; k < n->count; k++) any |= mark[x[k]];
        any &= WGI_MARK_DEPENDS;
        /* nodes with parts use the zero rule themselves: only their operands are checked */
        if (n->kind == WGI_NODE_TIMES || (any && !wgi_node_has_parts(n)))
            mark[i] |= WGI_MARK_DEPENDS;
        if (!any || wgi_node_shows_nan(n)) continue;
        for (uint32_t k = 0; k < n->count; k++)
            if (mark[x[k]] & WGI_MARK_DEPENDS) mark[x[k]] |= WGI_MARK_CHECKED;
    }
    for (size_t k = 0; k < f->guards; k++) {
        const uint32_t side[2] = {f->guard[k].a, f->guard[k].b};
        for (int s = 0; s < 2; s++)
            if (m->mark[side[s]] & WGI_MARK_DEPENDS) m->mark[side[s]] |= WGI_MARK_CHECKED;
    }
    for (uint32_t i = 0; m->sum != NULL && i < f->nodes; i++)
        if (m->sum[i] != WGI_NO_NODE && (m->mark[i] & WGI_MARK_DEPENDS)) m->p.check_sums = 1;
}

static size_t groups_of(size_t count, const wg_argument *a, unsigned without) {
    size_t groups = 0;
    for (size_t k = 0; k < count; k++)
        if ((a[k].flags & without) == 0)
            groups += (wgi_argument_size(&a[k]) + WGI_FN_GROUP - 1) / WGI_FN_GROUP;
    return groups;
}

static void list_shared(wgi_fn_maker *m, uint32_t *shared, wgi_fn_total *total) {
    const wg_function *const f = m->f;
    wgi_bytecode *const p = &m->p;
    for (uint32_t k = 0; k < f->inputs; k++)
        if (f->input[k].flags & WG_SHARED) shared[p->shares++] = k;
    for (uint32_t k = 0, j = 0; k < f->outputs;
         j += (uint32_t)wgi_argument_size(&f->output[k++]))
        if (f->output[k].flags & WG_SUMMED) total[p->totals++] = (wgi_fn_total){k, j};
}

static void groups(wgi_fn_maker *m) {
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
            m->input_batch[i] = (uint32_t)((g - 1) / WGI_FN_BATCH);
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
            for (uint32_t e8 = at; e8 < WGI_FN_GROUP; e8++)
                m->store_node[(g - 1) * WGI_FN_GROUP + e8] = node;
            m->result_batch[j] = (uint32_t)((g - 1) / WGI_FN_BATCH);
            if (m->mark[node] & WGI_MARK_DEPENDS) m->store[g - 1].check |= 1u << at;
            if (f->node[node].when != WGI_EACH) continue;
            m->pending[m->result_batch[j]]++;
            m->next_result[j] = m->wanted_by[node];
            m->wanted_by[node] = j;
        }
    }
}

static void comparisons(wgi_fn_maker *m) {
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

/* An array by node, filled with `byte`; where there is no memory yet, it is only counted. */
static uint32_t *piece(const wgi_fn_maker *m, wgi_pieces *p, int of_use, int byte) {
    const size_t bytes = (m->f->nodes + 3) * sizeof(uint32_t);
    uint32_t *const at = of_use ? wgi_pieces_take(p, bytes) : NULL;
    return at == NULL ? NULL : memset(at, byte, bytes);
}

static void lay_out(wgi_fn_maker *m, wgi_pieces *p, int families, int sums) {
    const size_t uniforms = (m->f->nodes - m->f->each + 3) * sizeof(uint32_t);
    m->uniform = wgi_pieces_take(p, uniforms);
    if (m->uniform != NULL) memset(m->uniform, 0xff, uniforms);
    m->user = piece(m, p, 1, 0);
    m->last = piece(m, p, 1, 0xff);
    m->wanted_by = m->slot = piece(m, p, 1, 0xff);
    m->lead = piece(m, p, families, 0);
    m->sibling = piece(m, p, families, 0);
    m->value = piece(m, p, families, 0xff);
    m->sum = piece(m, p, sums, 0xff);
    m->guarded = piece(m, p, m->f->guards != 0, 0xff);
    m->mark = wgi_pieces_take(p, m->f->nodes + 3);
    if (m->mark != NULL) memset(m->mark, 0, m->f->nodes + 3);
}

static int open_by_node(wgi_fn_maker *m) {
    int families = 0, sums = 0;
    for (size_t i = 0; i < m->f->nodes; i++) {
        const wgi_node *const n = &m->f->node[i];
        m->wholes |= wgi_node_has_parts(n);
        families |= wgi_node_is_partial(n);
        sums |= n->kind == WGI_NODE_SUM;
    }
    families |= m->wholes;
    wgi_pieces p = {NULL, 0};
    lay_out(m, &p, families, sums);
    p.base = wgi_list_of(m->c, &m->by_node, p.used);
    p.used = 0;
    if (p.base != NULL) lay_out(m, &p, families, sums);
    return p.base != NULL;
}

static int open(wgi_fn_maker *m) {
    wg_function *const f = m->f;
    const size_t word = sizeof(uint32_t);
    wgi_bytecode *const p = &m->p;
    if (f->nodes > WGI_NO_READER - 4) {
        (void)wgi_fail(m->c, WG_ENOMEM, "a function: %zu nodes", f->nodes);
        return 0;
    }
    m->zero = (uint32_t)f->nodes, m->one = m->zero + 1;
    p->loads = groups_of(f->inputs, f->input, WG_SHARED);
    p->stores = groups_of(f->outputs, f->output, WG_SUMMED);
    if (!open_by_node(m)) return 0;
    m->input_batch = wgi_fn_room(m, f->n * word);
    m->next_result = wgi_fn_room(m, f->m * word);
    m->result_batch = wgi_fn_room(m, f->m * word);
    m->next_guarded = wgi_fn_room(m, 2 * f->guards * word);
    m->sides = wgi_fn_room(m, f->guards);
    m->pending = wgi_fn_room(m, p->stores);
    m->load = wgi_fn_room(m, p->loads * sizeof *m->load);
    m->store = wgi_fn_room(m, p->stores * sizeof *m->store);
    m->load_node = wgi_fn_room(m, p->loads * WGI_FN_GROUP * word);
    m->store_node = wgi_fn_room(m, p->stores * WGI_FN_GROUP * word);
    if (wgi_fn_failed(m)) return 0;
    memset(m->load_node, 0xff, p->loads * WGI_FN_GROUP * word);
    memset(m->next_result, 0xff, f->m * word);
    memset(m->next_guarded, 0xff, 2 * f->guards * word);
    return 1;
}

/* ---- into memory of its own ---- */

/* Columns of native code: first one that is never read, then inputs, results and constants. */
static void native_columns(wgi_fn_maker *m, uint32_t *input_node, uint32_t *result_node,
                           wgi_fn_constant *constant) {
    wg_function *const f = m->f;
    wgi_bytecode *const p = &m->p;
    enum { LEAST = 16 };
    uint32_t at = 1;
    for (size_t g = 0; g < p->loads; g++)
        for (uint32_t k = 0; k < m->load[g].count; k++) {
            m->load[g].native[k] = 0;
            if ((m->load[g].wanted >> k & 1) == 0) continue;
            input_node[p->native_inputs++] = m->load_node[g * WGI_FN_GROUP + k];
            m->load[g].native[k] = at++;
        }
    for (size_t j = 0; j < f->m; j++) m->slot[f->result[j]] = 0;
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
                            (wgi_fn_constant){m->slot[i], wgi_fn_uniform_of(m, i)};
                }
                m->store[g].native[k] = m->slot[i];
            }
    p->native_points = WGI_FN_NATIVE_POINTS;
    while (p->native_points > LEAST && at * p->native_points * sizeof(double) > NEAR_CACHE)
        p->native_points /= 2;
    const uint32_t stride = (uint32_t)(p->native_points * sizeof(double));
    for (size_t g = 0; g < p->loads; g++)
        for (uint32_t k = 0; k < m->load[g].count; k++) m->load[g].native[k] *= stride;
    for (size_t g = 0; g < p->stores; g++)
        for (uint32_t k = 0; k < m->store[g].count; k++) m->store[g].native[k] *= stride;
    for (size_t k = 0; k < p->native_constants; k++) constant[k].column *= stride;
}

/* Copies an array into memory of the bytecode; without a base it only counts. */
static const void *moved(wgi_pieces *b, const void *from, size_t bytes) {
    void *const to = wgi_pieces_take(b, bytes);
    if (to == NULL) return from;
    return bytes == 0 ? to : memcpy(to, from, bytes);
}

static void move(wgi_pieces *b, wgi_bytecode *p, const wgi_fn_maker *m) {
    const size_t word = sizeof(uint32_t);
    b->used = (sizeof *p + 63) / 64 * 64;
    const wgi_fn_code *const code = moved(b, m->codes.at, m->codes.count * sizeof *code);
    for (int k = 0; k < 3; k++) p->part[k].code = code + m->first_code[k];
    p->uniform_node = moved(b, p->uniform_node, p->uniforms * word);
    p->number = moved(b, p->number, p->numbers * sizeof *p->number);
    p->sum_node = moved(b, p->sum_node, p->sums * word);
    p->result_uniform = moved(b, p->result_uniform, m->f->m * word);
    p->guard_uniform = moved(b, p->guard_uniform, 2 * m->f->guards * word);
    p->shared = moved(b, p->shared, p->shares * word);
    p->total = moved(b, p->total, p->totals * sizeof *p->total);
    p->call = moved(b, m->calls.at, m->calls.count * sizeof *p->call);
    p->list = moved(b, m->columns.at, m->columns.count * word);
    p->load = moved(b, m->load, p->loads * sizeof *p->load);
    p->store = moved(b, m->store, p->stores * sizeof *p->store);
    p->constants = m->constants.count;
    p->constant = moved(b, m->constants.at, p->constants * sizeof *p->constant);
    p->input_node = moved(b, p->input_node, p->native_inputs * word);
    p->result_node = moved(b, p->result_node, p->native_results * word);
    p->native_constant =
        moved(b, p->native_constant, p->native_constants * sizeof *p->native_constant);
}

static void list_uniforms(wgi_fn_maker *m, double *number, uint32_t *uniform_node,
                          uint32_t *sum_node, uint32_t *result_uniform,
                          uint32_t *guard_uniform) {
    const wg_function *const f = m->f;
    memset(uniform_node, 0xff, m->p.uniforms * sizeof *uniform_node);
    for (uint32_t i = 0;; i++) {
        if (i == wgi_fn_first_each(f)) i = wgi_fn_first_after(f); /* those are none */
        if (i >= f->nodes) break;
        const uint32_t at = wgi_fn_uniform_of(m, i);
        if (at == WGI_NO_NODE) continue;
        uniform_node[at] = i;
        if (f->node[i].kind == WGI_NODE_NUMBER) number[at - 1] = f->node[i].value;
        if (wgi_node_sums_points(m->f, i))
            sum_node[at - m->p.sum_at] = wgi_fn_operands_of(m, i)[0];
    }
    number[wgi_fn_uniform_of(m, m->one) - 1] = 1;
    for (size_t j = 0; j < f->m; j++) result_uniform[j] = wgi_fn_uniform_of(m, f->result[j]);
    for (size_t k = 0; k < f->guards; k++) {
        guard_uniform[2 * k] = wgi_fn_uniform_of(m, f->guard[k].a);
        guard_uniform[2 * k + 1] = wgi_fn_uniform_of(m, f->guard[k].b);
    }
}

static void finish(wgi_fn_maker *m) {
    wg_function *const f = m->f;
    wgi_bytecode *const p = &m->p;
    const size_t word = sizeof(uint32_t);
    double *const number = wgi_fn_room(m, p->numbers * sizeof *number);
    uint32_t *const uniform_node = wgi_fn_room(m, p->uniforms * word);
    uint32_t *const result_uniform = wgi_fn_room(m, f->m * word);
    uint32_t *const guard_uniform = wgi_fn_room(m, 2 * f->guards * word);
    uint32_t *const sum_node = wgi_fn_room(m, p->sums * word);
    uint32_t *const shared = wgi_fn_room(m, f->inputs * word);
    wgi_fn_total *const total = wgi_fn_room(m, f->outputs * sizeof *total);
    uint32_t *const input_node = wgi_fn_room(m, p->loads * WGI_FN_GROUP * word);
    uint32_t *const result_node = wgi_fn_room(m, p->stores * WGI_FN_GROUP * word);
    wgi_fn_constant *const constant =
        wgi_fn_room(m, p->stores * WGI_FN_GROUP * sizeof *constant);
    if (wgi_fn_failed(m)) return;
    list_uniforms(m, number, uniform_node, sum_node, result_uniform, guard_uniform);
    list_shared(m, shared, total);
    native_columns(m, input_node, result_node, constant);
    p->number = number;
    p->uniform_node = uniform_node, p->sum_node = sum_node;
    p->result_uniform = result_uniform, p->guard_uniform = guard_uniform;
    p->shared = shared, p->total = total;
    p->input_node = input_node, p->result_node = result_node;
    p->native_constant = constant;
    /* what is known of nodes is not needed any more, and takes more than what comes of it */
    wgi_list_give(m->c, &m->by_node);
    wgi_list_give(m->c, &m->free.room);
    wgi_pieces b = {NULL, 0};
    move(&b, p, m);
    void *base;
    const wg_status s = wgi_home_obtain_function(m->c, b.used, &p->home, &base);
    if (s != WG_OK) {
        (void)wgi_fail(m->c, s, "a function: no memory for %zu bytes", b.used);
        return;
    }
    b.base = base;
    move(&b, p, m);
    f->bytecode = base;
    *f->bytecode = *p;
}

static void close(wgi_fn_maker *m) {
    wgi_list_give(m->c, &m->by_node);
    wgi_fn_list *const all[] = {&m->codes, &m->calls, &m->columns, &m->constants, &m->free};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) wgi_list_give(m->c, &all[i]->room);
}

/* Points of a block: some ten microseconds of work, and whole runs. */
static size_t block_for(const wgi_bytecode *p, size_t codes) {
    enum { WORK = 1 << 18, MOST = 4096 };
    size_t points = MOST;
    while (points > 4 * p->lanes && points * codes > WORK) points /= 2;
    return points;
}

wg_status wgi_bytecode_make(wgi_core *c, wg_function *f, const wgi_fn_machine *machine,
                            const wgi_simd *simd) {
    wgi_fn_maker m;
    memset(&m, 0, sizeof m);
    m.c = c;
    m.f = f;
    m.p.machine = machine;
    m.p.simd = simd;
    if (!open(&m)) return c->status;
    const uint32_t once = (uint32_t)(f->n + f->numbers), each = wgi_fn_first_each(f),
                   after = wgi_fn_first_after(f);
    uniforms(&m);
    dependences(&m);
    groups(&m);
    comparisons(&m);
    if (!wgi_fn_failed(&m)) part(&m, WGI_ONCE, once, each);
    if (!wgi_fn_failed(&m)) part(&m, WGI_EACH, each, after);
    const size_t codes = m.codes.count - m.first_code[WGI_EACH];
    if (!wgi_fn_failed(&m)) part(&m, WGI_AFTER, after, (uint32_t)f->nodes);
    if (wgi_fn_failed(&m)) return c->status;
    m.p.block = block_for(&m.p, codes + (m.wholes ? wgi_function_cost_of_wholes(f) : 0));
    size_t most = 0, work;
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    work = m.wholes ? wgi_fn_##stem##_work(f) : 0;                                             \
    most = work > most ? work : most;
#include "tape/function/graph/kinds.def"
    m.p.whole_bytes = most;
    finish(&m);
    close(&m);
    return c->status;
}

wg_status wgi_bytecode_new(wgi_core *c, wg_function *f) {
    const wgi_simd *const simd = wgi_simd_best();
    const wgi_fn_machine *machine = wgi_fn_base;
    /* matrices are gathered point by point, which costs less where their elements are nearer */
    if (f->nodes > FAR && wgi_dense_elements(f) > f->nodes / 2)
        return wgi_bytecode_make(c, f, machine, simd);
#if defined(__x86_64__)
    if (simd == wgi_simd_avx512 && wgi_fn_avx512 != NULL) machine = wgi_fn_avx512;
    else if (simd == wgi_simd_avx2 && wgi_fn_avx2 != NULL) machine = wgi_fn_avx2;
#endif
    return wgi_bytecode_make(c, f, machine, simd);
}

void wgi_bytecode_free(wg_function *f) {
    if (f->bytecode == NULL) return;
    wgi_home_release(&f->bytecode->home, f->bytecode);
    f->bytecode = NULL;
}

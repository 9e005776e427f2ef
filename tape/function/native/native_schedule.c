/* SPDX-License-Identifier: MIT */
/* The order of the operations of a unit: list scheduling.
 *
 * Time is counted in operations. Of those whose operands are there in time the one with the
 * longest way to the end is next; as soon as about as many numbers are alive as there are
 * registers, the one that leaves the fewest. Slopes follow their values. */
#include "native.h"

#include "ops/scalar/elementwise.h"

#include <string.h>

enum { ALIVE = 24, LONGEST = 4000 };

/* The operations of a unit, by their places in the old list. */
typedef struct unit {
    wgi_writer *w;
    const uint32_t *list;
    uint32_t count, number;
    uint32_t *place;       /* of a node of the unit */
    uint32_t *waits;       /* for so many operands */
    uint32_t *ready;       /* list of those that wait for none */
    uint32_t *time;        /* when the last operand is there */
    uint32_t *way;         /* to the end */
    uint32_t *readers;     /* left, in the unit */
    uint32_t *next, *head; /* readers of a place: edges */
    uint32_t *edge;
    uint32_t edges;
} unit;

static uint32_t latency(const wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    if (wgi_native_is_slope(w, node)) return 1;
    const wg_scalar_op *const op = wgi_node_scalar(n);
    if (op == &wgi_scalar_ops[WGI_ROW_div]) return 13;
    if (op == &wgi_scalar_ops[WGI_ROW_sqrt]) return 20;
    if (op == &wgi_scalar_ops[WGI_ROW_add] || op == &wgi_scalar_ops[WGI_ROW_sub] ||
        op == &wgi_scalar_ops[WGI_ROW_mul] || op == &wgi_scalar_ops[WGI_ROW_neg] ||
        n->kind == WGI_NODE_TIMES)
        return 4;
    return 40;
}

/* What wgi_plan_needed gives; *inside: is it in the unit? */
static uint32_t operand(const unit *q, uint32_t node, uint32_t k, int *inside) {
    const uint32_t o = wgi_plan_needed(q->w, node, k);
    *inside = o != WGI_NO_NODE && q->w->unit[o] == q->number;
    return o;
}

static void link_up(unit *q) {
    int inside;
    q->edges = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        q->place[q->list[i]] = i;
        q->waits[i] = q->time[i] = q->readers[i] = 0;
        q->head[i] = WGI_NO_NODE;
    }
    for (uint32_t i = 0; i < q->count; i++)
        for (uint32_t k = 0, o; (o = operand(q, q->list[i], k, &inside)) != WGI_NO_NODE; k++) {
            if (!inside) continue;
            const uint32_t of = q->place[o];
            q->edge[q->edges] = i;
            q->next[q->edges] = q->head[of];
            q->head[of] = q->edges++;
            q->readers[of]++;
            q->waits[i]++;
        }
    for (uint32_t i = q->count; i-- > 0;) {
        uint32_t longest = 0;
        for (uint32_t e = q->head[i]; e != WGI_NO_NODE; e = q->next[e])
            if (q->way[q->edge[e]] > longest) longest = q->way[q->edge[e]];
        q->way[i] = longest + latency(q->w, q->list[i]);
    }
}

/* By how much it raises the number of those alive. */
static int raises(const unit *q, uint32_t i) {
    int inside, by = q->readers[i] != 0;
    for (uint32_t k = 0, o; (o = operand(q, q->list[i], k, &inside)) != WGI_NO_NODE; k++)
        if (inside && q->readers[q->place[o]] == 1) by--;
    return by;
}

/* The best of those that are ready: its place in that list. */
static uint32_t choose(const unit *q, uint32_t ready, uint32_t now, int alive) {
    uint32_t best = 0;
    for (uint32_t k = 0; k < ready; k++)
        if (wgi_native_is_slope(q->w, q->list[q->ready[k]])) return k;
    if (alive >= ALIVE) {
        int least = raises(q, q->ready[0]);
        for (uint32_t k = 1; k < ready; k++) {
            const int by = raises(q, q->ready[k]);
            if (by < least || (by == least && q->ready[k] < q->ready[best]))
                least = by, best = k;
        }
        return best;
    }
    for (uint32_t k = 1; k < ready; k++) {
        const uint32_t a = q->ready[k], b = q->ready[best];
        const int a_waits = q->time[a] > now, b_waits = q->time[b] > now;
        if (a_waits != b_waits) best = a_waits ? best : k;
        else if (q->way[a] > q->way[b] || (q->way[a] == q->way[b] && a < b)) best = k;
    }
    return best;
}

static void schedule(unit *q, uint32_t *to) {
    uint32_t ready = 0;
    int alive = 0, inside;
    link_up(q);
    for (uint32_t i = 0; i < q->count; i++)
        if (q->waits[i] == 0) q->ready[ready++] = i;
    for (uint32_t now = 0; ready != 0; now++) {
        const uint32_t at = choose(q, ready, now, alive), i = q->ready[at];
        const uint32_t node = q->list[i], done = now + latency(q->w, node);
        alive += raises(q, i);
        q->ready[at] = q->ready[--ready];
        *to++ = node;
        for (uint32_t k = 0, o; (o = operand(q, node, k, &inside)) != WGI_NO_NODE; k++)
            if (inside) q->readers[q->place[o]]--;
        for (uint32_t e = q->head[i]; e != WGI_NO_NODE; e = q->next[e]) {
            const uint32_t r = q->edge[e];
            if (q->time[r] < done) q->time[r] = done;
            if (--q->waits[r] == 0) q->ready[ready++] = r;
        }
    }
}

void wgi_native_schedule(wgi_writer *w) {
    const wg_function *const f = w->f;
    unit q;
    memset(&q, 0, sizeof q);
    q.w = w;
    uint32_t **const lists[] = {&q.place, &q.waits,   &q.ready, &q.time,
                                &q.way,   &q.readers, &q.head};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = wgi_node_list(w->c, f->nodes);
    q.edge = wgi_node_list(w->c, f->operands + f->nodes);
    q.next = wgi_node_list(w->c, f->operands + f->nodes);
    if (w->c->status != WG_OK) return;
    memcpy(w->spare, w->list, w->listed * sizeof *w->list);
    for (uint32_t u = 0; u < w->units; u++) {
        q.list = w->spare + w->start[u];
        q.number = u;
        q.count = w->start[u + 1] - w->start[u];
        if (q.count <= LONGEST) schedule(&q, w->list + w->start[u]);
    }
}

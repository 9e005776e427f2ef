/* SPDX-License-Identifier: MIT */
/* Plans: what is written where. */
#include "writer.h"

#include <string.h>

static int listed(const wgi_writer *w, uint32_t node) { return w->unit[node] != WGI_NO_NODE; }

uint32_t wgi_plan_needed(const wgi_writer *w, uint32_t node, uint32_t k) {
    const wgi_node *const n = &w->f->node[node];
    if (k < n->count) return w->f->operand[n->first + k];
    return k == n->count ? w->same[node] : WGI_NO_NODE;
}

void wgi_plan_list(wgi_writer *w, uint32_t node, int fresh, size_t *in_unit, size_t most) {
    if (w->listed == 0 || fresh || *in_unit == most) w->units++, *in_unit = 0;
    w->unit[node] = (uint32_t)w->units - 1;
    w->list[w->listed++] = node;
    ++*in_unit;
}

/* The unit in which both sides of a comparison are known. */
static uint32_t guard_unit(const wgi_writer *w, const wgi_graph_guard *g, uint32_t other) {
    const uint32_t a = w->unit[g->a], b = w->unit[g->b];
    const uint32_t of = b == WGI_NO_NODE || (a != WGI_NO_NODE && a > b) ? a : b;
    if (w->f->node[g->a].when != WGI_EACH && w->f->node[g->b].when != WGI_EACH)
        return of == WGI_NO_NODE ? other : of;
    return of == WGI_NO_NODE || of < w->from ? w->last : of;
}

void wgi_plan_count(wgi_writer *w, uint32_t from, uint32_t last, uint32_t other) {
    const wg_function *const f = w->f;
    w->from = from, w->last = last;
    memset(w->uses, 0, f->nodes * sizeof *w->uses);
    memset(w->folded, 0, f->nodes);
    for (size_t i = 0; i < f->nodes; i++) w->slot[i] = WGI_NO_NODE;
    for (size_t u = 0, i = 0; u <= w->units; u++) {
        w->start[u] = (uint32_t)i;
        while (i < w->listed && w->unit[w->list[i]] == u) i++;
    }
    for (size_t i = 0; i < w->listed; i++) {
        for (uint32_t k = 0, o; (o = wgi_plan_needed(w, w->list[i], k)) != WGI_NO_NODE; k++)
            w->uses[o]++;
    }
    for (size_t j = 0; j < f->m; j++) w->uses[f->result[j]]++;
    for (size_t k = 0; k < f->guards; k++) {
        w->uses[f->guard[k].a] += 2, w->uses[f->guard[k].b] += 2;
        w->guard_unit[k] = guard_unit(w, &f->guard[k], other);
    }
}

uint32_t wgi_plan_result_unit(const wgi_writer *w, size_t j) {
    const uint32_t of = w->unit[w->f->result[j]];
    return of != WGI_NO_NODE && of >= w->from && of <= w->last ? of : w->last;
}

static int is_cheap(const wgi_node *n) {
    const int row = wgi_node_op(n);
    return wgi_is_arithmetic(n) || row == WGI_ROW_fabs || row == WGI_ROW_sqrt;
}

static size_t leaf_length(const wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    if (n->kind == WGI_NODE_INPUT) return strlen(w->in[w->argument[node]]) + 4;
    return n->kind == WGI_NODE_NUMBER ? 8 : 4;
}

void wgi_plan_fold(wgi_writer *w, size_t most) {
    for (size_t i = 0; i < w->listed; i++) {
        const uint32_t node = w->list[i];
        const wgi_node *const n = &w->f->node[node];
        const char *const text = wgi_text_of(n);
        size_t total = text != NULL ? strlen(text) : 8;
        for (uint32_t k = 0; k < n->count; k++)
            total += leaf_length(w, w->f->operand[n->first + k]);
        for (uint32_t k = 0; k < n->count; k++) {
            const uint32_t o = w->f->operand[n->first + k];
            if (!listed(w, o) || w->unit[o] != w->unit[node] || w->uses[o] != 1 ||
                w->is_result[o] || !is_cheap(&w->f->node[o]) ||
                (text != NULL && wgi_text_letters(text, (char)('a' + k)) != 1) ||
                wgi_text_needs_v(w, node))
                continue;
            const size_t with = total - 4 + w->length[o] + 2;
            if (with > most) continue;
            w->folded[o] = 1;
            total = with;
        }
        w->length[node] = (uint32_t)total;
    }
}

int wgi_plan_at_result(const wgi_writer *w, uint32_t node) {
    return w->f->node[node].kind != WGI_NODE_PART && w->uses[node] == 1 && w->is_result[node] &&
           !wgi_text_needs_v(w, node);
}

void wgi_plan_slots(wgi_writer *w) {
    const wg_function *const f = w->f;
    size_t spares = 0, count = 0;
    uint32_t *const ending = w->length; /* nodes with slots, by the unit of their last use */
    for (size_t i = 0; i < f->nodes; i++) w->end[i] = w->unit[i];
    for (size_t i = 0; i < w->listed; i++) {
        const uint32_t node = w->list[i];
        for (uint32_t k = 0, o; (o = wgi_plan_needed(w, node, k)) != WGI_NO_NODE; k++)
            if (listed(w, o) && w->unit[node] > w->end[o]) w->end[o] = w->unit[node];
    }
    for (size_t k = 0; k < f->guards; k++) { /* where both are known */
        const uint32_t a = f->guard[k].a, b = f->guard[k].b;
        if (w->apart && listed(w, a)) w->end[a]++; /* looked at lane by lane */
        if (w->apart && listed(w, b)) w->end[b]++;
        if (!listed(w, a) || !listed(w, b)) continue;
        if (w->unit[b] > w->end[a]) w->end[a] = w->unit[b];
        if (w->unit[a] > w->end[b]) w->end[b] = w->unit[a];
    }
    w->slots = 0;
    uint32_t now = 0;
    for (size_t i = 0; i < w->listed; i++) {
        const uint32_t node = w->list[i];
        if (w->unit[node] != now) { /* slots whose last use is before this unit */
            now = w->unit[node];
            size_t left = 0;
            for (size_t k = 0; k < count; k++)
                if (w->end[ending[k]] < now) w->spare[spares++] = w->slot[ending[k]];
                else ending[left++] = ending[k];
            count = left;
        }
        if (w->end[node] == w->unit[node]) continue;
        /* those of repeats are put apart */
        if (wgi_node_has_parts(&w->f->node[node]) || w->f->node[node].kind == WGI_NODE_PART)
            continue;
        if (w->apart && w->f->node[node].when != WGI_EACH) {
            w->slot[node] = (uint32_t)w->uniforms++;
            continue;
        }
        w->slot[node] = spares != 0 ? w->spare[--spares] : (uint32_t)w->slots++;
        ending[count++] = node;
    }
}

int wgi_plan_checks(const wgi_writer *w, unsigned char *check) {
    const wg_function *const f = w->f;
    unsigned char *const stems =
        wg_tape_keep(&w->c->head, f->nodes + 1, NULL); /* from products */
    int any = 0;
    memset(check, 0, f->nodes + 1);
    if (stems == NULL) return 0;
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        stems[i] = n->kind == WGI_NODE_TIMES && n->when == WGI_EACH;
        any |= stems[i];
        /* a repeat is done with care: what goes into it is looked at */
        for (uint32_t k = 0; !wgi_node_has_parts(n) && k < n->count; k++)
            stems[i] |= stems[f->operand[n->first + k]];
        for (uint32_t k = 0; k < n->count; k++)
            if (!wgi_node_shows_nan(n)) check[f->operand[n->first + k]] = 1;
    }
    for (size_t j = 0; j < f->m; j++) check[f->result[j]] = 1;
    for (size_t k = 0; k < f->guards; k++) check[f->guard[k].a] = check[f->guard[k].b] = 1;
    for (size_t i = 0; i < f->nodes; i++) check[i] &= stems[i] & (f->node[i].when == WGI_EACH);
    /* what shows in a node that is looked at need not be looked at itself */
    unsigned char *const shown = stems;
    memset(shown, 0, f->nodes);
    for (size_t i = f->nodes; i-- > 0;) {
        const wgi_node *const n = &f->node[i];
        if (shown[i]) check[i] = 0;
        if ((!shown[i] && !check[i]) || n->when != WGI_EACH || !wgi_node_shows_nan(n)) continue;
        for (uint32_t k = 0; k < n->count; k++) shown[f->operand[n->first + k]] = 1;
    }
    return any;
}

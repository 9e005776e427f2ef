/* SPDX-License-Identifier: MIT */
/* Which inputs each slot of a recording depends on, and which pairs of inputs meet in something
 * that is not linear: sets of inputs are passed forward through the records.
 *
 * Statements of a tape that keeps its code are taken apart once for each code: operands i and j
 * are near if a second partial of some operation between them is not always 0. The Hessian of
 * the whole is the sum of J' H J over all statements, so inputs of i meet inputs of j if i and
 * j are near. What no output depends on is left out. Source: Griewank and Walther 2008, 7.1 and
 * 7.2 (index and nonlinear interaction domains). */
#include "ops/scalar/array.h"
#include "sparsity.h"

#include <string.h>

/* ---- records ---- */

/* The records of a chunk. */
static const wgi_record *first_of(const wgi_core *c, int k) { return c->chunk[k].base; }
static const wgi_record *end_of(const wgi_core *c, int k) {
    return k == c->current ? c->head.top : c->chunk[k].top;
}
static int chunks(const wgi_core *c) { return c->chunks == 0 ? 0 : c->current + 1; }

static wgi_block *block_of(const wgi_record *r) {
    wgi_block *b;
    memcpy(&b, &r->jac0, sizeof b);
    return b;
}

/* A statement of many operands: their sets are collected on the stack. */
static wgi_set join_many(wgi_sets *k, const wgi_record *r, const wgi_record *end,
                         const wgi_set *of) {
    const size_t n = 2 * (size_t)(end - r);
    if (!wgi_sets_room(k, WGI_INDEX_STACK, 0, n)) return 0;
    wgi_set *const set = wgi_sets_words(k, WGI_INDEX_STACK);
    for (size_t i = 0; r != end; r++) set[i++] = of[r->in0], set[i++] = of[r->in1];
    return wgi_sets_join(k, n, set);
}

/* Finds the set of one statement, from record r on; gives the record behind it. needed: the
 * slots whose sets are needed; NULL: all. */
static const wgi_record *statement(wgi_sets *k, const wgi_record *r, const wgi_record *end,
                                   const unsigned char *needed, wgi_set *of) {
    enum { FEW_RECORDS = 4 };
    const uint32_t out = r->out;
    const wgi_record *next = r;
    do next++;
    while (next != end && next->out == out && next->kind != WGI_BLOCK);
    const size_t records = (size_t)(next - r);
    if (needed != NULL && !needed[out]) return next;
    if (records > FEW_RECORDS) {
        of[out] = join_many(k, r, next, of);
        return next;
    }
    wgi_set set[2 * FEW_RECORDS];
    for (size_t i = 0; i < records; i++)
        set[2 * i] = of[r[i].in0], set[2 * i + 1] = of[r[i].in1];
    of[out] = wgi_sets_join(k, 2 * records, set);
    return next;
}

/* Finds the sets of all slots that are needed. */
static wgi_set *propagate(wgi_drive *d, wgi_sets *k, const unsigned char *needed) {
    wgi_core *const c = d->c;
    wgi_set *const of = wg_tape_keep(&c->head, (size_t)c->head.slots * sizeof *of, NULL);
    if (of == NULL) return NULL;
    memset(of, 0, (size_t)c->head.slots * sizeof *of);
    for (size_t i = 0; i < d->n; i++) of[i + 1] = (wgi_set)(i + 1);
    for (int i = 0; i < chunks(c); i++)
        for (const wgi_record *r = first_of(c, i), *const end = end_of(c, i); r != end;) {
            if (r->kind == WGI_BLOCK) {
                const wgi_block *const b = block_of(r++);
                if (needed == NULL || wgi_block_is_alive(b, needed)) wgi_block_sets(k, b, of);
            } else r = statement(k, r, end, needed, of);
            if (c->status != WG_OK) return NULL;
        }
    return of;
}

/* ---- Jacobians ---- */

static wg_status lines_room(wgi_drive *d, wgi_lines *found, size_t lines, size_t across) {
    *found = (wgi_lines){lines, across, NULL, NULL, NULL};
    found->start = wg_tape_keep(&d->c->head, (lines + 1) * sizeof *found->start, NULL);
    return d->c->status;
}

/* Ends a line. Lists are addressed by 32 bits: if that is not enough there is no use in going
 * on. */
static void end_line(const wgi_sets *k, size_t *end) {
    *end = k->list;
    if (k->list >= UINT32_MAX)
        (void)wgi_fail(k->c, WG_ENOMEM, "%s: more than 2^32 entries", k->call);
}

wg_status wgi_find_jacobian(wgi_drive *d, wgi_sets *k, wgi_lines *found) {
    const wgi_set *const of = propagate(d, k, NULL);
    if (of == NULL || lines_room(d, found, d->m, d->n) != WG_OK) return d->c->status;
    found->start[0] = 0;
    for (size_t j = 0; j < d->m && d->c->status == WG_OK; j++) {
        (void)wgi_sets_write(k, 1, &of[d->y[j].at.slot]);
        end_line(k, &found->start[j + 1]);
    }
    found->index = wgi_sets_words(k, WGI_INDEX_LIST);
    return d->c->status;
}

/* ---- what a statement is ---- */

/* For one code: which operands are near each other. */
typedef struct nearness {
    wgi_bits code;
    unsigned bits, operands; /* bits 0: nothing is known here */
    int curved;
    /* the code has numbers that are addresses of a user's operations: those count, too */
    uint64_t users;
    uint16_t near[WGI_MAX_OPERANDS];
} nearness;

enum { LATELY = 64 };

static void look_at(const wgi_entry *e, nearness *s) {
    wgi_statement_code p;
    wgi_statement_code_of(e, &p);
    *s = (nearness){.code = e->code, .bits = e->bits, .operands = (unsigned)e->operands};
    unsigned number = 0;
    for (int i = p.operands; i < p.nodes; i++) {
        const struct wgi_step *const n = &p.node[i];
        if (n->op == NULL || wgi_is_users(n->op)) {
            s->users |= (uint64_t)(n->op != NULL) << number++;
            if (n->op == NULL) continue;
        }
        for (unsigned k = 0; k < n->op->arity; k++) {
            const struct wgi_step *const x = &p.node[n->arg[k]];
            /* where the derivative is always 0 nothing below has an effect */
            if (n->op->zero_first >> k & 1)
                for (int r = x->first; r < x->last; r++) s->near[r] = 0;
        }
        for (unsigned k = 0, pair = 0; k < n->op->arity; k++) {
            const struct wgi_step *const x = &p.node[n->arg[k]];
            for (unsigned l = k; l < n->op->arity; l++, pair++) {
                const struct wgi_step *const y = &p.node[n->arg[l]];
                if (n->op->zero_second >> pair & 1) continue;
                for (int r = x->first; r < x->last; r++)
                    for (int q = y->first; q < y->last; q++) {
                        s->near[r] |= (uint16_t)(1u << q);
                        s->near[q] |= (uint16_t)(1u << r);
                    }
            }
        }
    }
    for (unsigned i = 0; i < s->operands; i++) s->curved |= s->near[i] != 0;
}

static const nearness *nearness_of(const wgi_entry *e, nearness *lately) {
    nearness *const s =
        &lately[(uint64_t)(e->code >> 64 ^ e->code) * UINT64_C(0x9e3779b97f4a7c15) >> 58];
    if (s->bits != e->bits || s->code != e->code || s->users != 0) look_at(e, s);
    return s;
}

/* ---- fingerprint ---- */

static uint64_t hash_code(wgi_core *c, uint64_t h) {
    nearness lately[LATELY];
    wgi_entry e;
    memset(lately, 0, sizeof lately);
    for (uint64_t w = 0; w < c->head.code_words;) {
        w = wgi_code_read(c, w, &e);
        if (e.type == WGI_ENTRY_GUARD) continue;
        h = wgi_mix(h, (uint64_t)e.out << 32 | (uint64_t)e.type << 16 | e.op, e.operands);
        if (e.type == WGI_ENTRY_STATEMENT) {
            h = wgi_mix(h, (uint64_t)e.code, (uint64_t)(e.code >> 64));
            const uint64_t users = nearness_of(&e, lately)->users;
            for (size_t i = 0; users >> i != 0; i++) {
                uint64_t address;
                memcpy(&address, &e.number[i], sizeof address);
                if (users >> i & 1) h = wgi_mix(h, address, i);
            }
        }
        for (size_t i = 0; i + 1 < e.operands; i += 2) h = wgi_mix(h, e.slot[i], e.slot[i + 1]);
        if (e.operands % 2 != 0) h = wgi_mix(h, e.slot[e.operands - 1], 1);
    }
    return h;
}

uint64_t wgi_recording_hash(wgi_drive *d, int hessian) {
    wgi_core *const c = d->c;
    uint64_t h = d->n, other = d->m; /* two hashes, so that neither waits for the other */
    for (int i = 0; i < chunks(c); i++)
        for (const wgi_record *r = first_of(c, i), *const end = end_of(c, i); r != end; r++) {
            const uint64_t a = (uint64_t)r->out << 32 | r->in0;
            const uint64_t b = (uint64_t)r->kind << 32 | r->in1;
            h = wgi_mix(h, a, b);
            const uint64_t swap = other;
            other = h, h = swap;
            if (r->kind == WGI_BLOCK) h = wgi_block_hash(c, block_of(r), h);
        }
    for (size_t j = 0; j < d->m; j++) h = wgi_mix(h, d->y[j].at.slot, j);
    h = wgi_mix(h, other, 0);
    if (hessian) h = hash_code(c, h);
    return h != 0 ? h : 1;
}

/* ---- Hessians ---- */

enum { PAIR_BITS = 12 };

void wgi_connect(wgi_curves *q, wgi_set a, wgi_set b) {
    wgi_sets *const k = q->k;
    if (a == 0 || b == 0) return;
    const uint64_t pair = (uint64_t)a << 32 | b;
    uint64_t *const recent =
        &q->recent[pair * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PAIR_BITS)];
    if (*recent == pair) return;
    *recent = pair;
    uint32_t one;
    size_t n;
    const uint32_t *const x = wgi_sets_members(k, a, &one, &n);
    if (x == NULL || !wgi_sets_room(k, WGI_INDEX_LINKS, q->links, 2 * n)) return;
    uint32_t *const link = wgi_sets_words(k, WGI_INDEX_LINKS);
    if (q->links / 2 + n >= UINT32_MAX) {
        (void)wgi_fail(k->c, WG_ENOMEM, "%s: more than 2^32 pairs of inputs", k->call);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t *const head = &q->head[x[i]];
        if (*head != 0 && link[2 * ((size_t)*head - 1)] == b) continue;
        link[q->links] = b;
        link[q->links + 1] = *head;
        *head = (uint32_t)(q->links / 2 + 1);
        q->links += 2;
    }
}

/* A long set is not connected with short ones: each of its members would get a link for every
 * sum in a chain of sums. The short ones are connected with it. */
static int one_way(wgi_curves *q, wgi_set from, unsigned n, const wgi_set *to) {
    if (wgi_sets_is_few(q->k, from)) return 0;
    for (unsigned i = 0; i < n; i++)
        if (!wgi_sets_is_few(q->k, to[i])) return 0;
    q->half = 1;
    return 1;
}

void wgi_connect_both(wgi_curves *q, wgi_set a, wgi_set b) {
    if (a == 0 || b == 0) return;
    if (!one_way(q, a, 1, &b)) wgi_connect(q, a, b);
    if (!one_way(q, b, 1, &a)) wgi_connect(q, b, a);
}

void wgi_connect_near(wgi_curves *q, unsigned n, const wgi_set *of, const uint16_t *near) {
    wgi_set both = 0;
    uint16_t joined = 0; /* which operands are joined in it */
    for (unsigned i = 0; i < n; i++) {
        wgi_set set[WGI_MAX_ARGS];
        unsigned sets = 0;
        for (unsigned j = 0; j < n; j++)
            if (near[i] >> j & 1 && of[j] != 0) set[sets++] = of[j];
        if (sets == 0 || one_way(q, of[i], sets, set)) continue;
        if (near[i] != joined) both = wgi_sets_join(q->k, sets, set);
        joined = near[i];
        wgi_connect(q, of[i], both);
    }
}

static void statement_curves(wgi_curves *q, const wgi_entry *e, const nearness *s) {
    wgi_set of[WGI_MAX_OPERANDS];
    for (unsigned i = 0; i < e->operands; i++) of[i] = q->of[e->slot[i]];
    wgi_connect_near(q, (unsigned)e->operands, of, s->near);
}

/* The union of the sets of operands from `first` on. */
static wgi_set join_operands(wgi_curves *q, const wgi_entry *e, size_t first) {
    const size_t n = e->operands - first;
    if (!wgi_sets_room(q->k, WGI_INDEX_STACK, 0, n)) return 0;
    wgi_set *const set = wgi_sets_words(q->k, WGI_INDEX_STACK);
    for (size_t i = 0; i < n; i++) set[i] = q->of[e->slot[first + i]];
    return wgi_sets_join(q->k, n, set);
}

static void array_curves(wgi_curves *q, const wgi_entry *e) {
    const size_t n = e->operands;
    const enum wgi_array_near near = wgi_array_ops[e->op].near;
    if (n == 0 || near == WGI_NEAR_NONE) return;
    for (size_t i = 0; i < n && near == WGI_NEAR_ITSELF; i++)
        wgi_connect(q, q->of[e->slot[i]], q->of[e->slot[i]]);
    for (size_t i = 0; i + 1 < n && near == WGI_NEAR_PAIR; i += 2)
        wgi_connect_both(q, q->of[e->slot[i]], q->of[e->slot[i + 1]]);
    const wgi_set last = q->of[e->slot[n - 1]];
    for (size_t i = 1; i + 1 < n && near == WGI_NEAR_LAST && last != 0; i++)
        if (!one_way(q, q->of[e->slot[i]], 1, &last)) wgi_connect(q, q->of[e->slot[i]], last);
    if (near == WGI_NEAR_LAST && n > 2) wgi_connect(q, last, join_operands(q, e, 1));
    if (near != WGI_NEAR_ALL) return;
    const wgi_set all = join_operands(q, e, 0);
    wgi_connect(q, all, all);
}

/* Marks what marked slots depend on. */
static void mark_operands(const wgi_core *c, unsigned char *mark) {
    for (int i = chunks(c); i-- > 0;)
        for (const wgi_record *r = end_of(c, i), *const first = first_of(c, i); r-- != first;)
            if (r->kind == WGI_BLOCK) wgi_block_mark(block_of(r), mark, 0);
            else if (mark[r->out]) mark[r->in0] = mark[r->in1] = 1;
    mark[0] = 0;
}

/* Which slots an output depends on. */
static unsigned char *alive_slots(wgi_drive *d) {
    wgi_core *const c = d->c;
    unsigned char *const alive = wg_tape_keep(&c->head, c->head.slots, NULL);
    if (alive == NULL) return NULL;
    memset(alive, 0, c->head.slots);
    for (size_t j = 0; j < d->m; j++) alive[d->y[j].at.slot] = 1;
    mark_operands(c, alive);
    return alive;
}

/* Which slots go into something that is not linear. The sets of others are never asked for,
 * among them those of long sums of terms. */
static unsigned char *needed_slots(wgi_core *c, const unsigned char *alive) {
    unsigned char *const needed = wg_tape_keep(&c->head, c->head.slots, NULL);
    nearness lately[LATELY];
    wgi_entry e;
    if (needed == NULL) return NULL;
    memset(lately, 0, sizeof lately);
    memset(needed, 0, c->head.slots);
    for (uint64_t w = 0; w < c->head.code_words;) {
        w = wgi_code_read(c, w, &e);
        if (e.type == WGI_ENTRY_GUARD || !alive[e.out]) continue;
        const nearness *const s =
            e.type == WGI_ENTRY_STATEMENT ? nearness_of(&e, lately) : NULL;
        if (s == NULL && wgi_array_ops[e.op].near == WGI_NEAR_NONE) continue;
        for (size_t i = 0; i < e.operands; i++)
            if (s == NULL || s->near[i] != 0) needed[e.slot[i]] = 1;
    }
    for (const wgi_block *b = c->head.last_block; b != NULL; b = b->prev)
        if (wgi_block_is_alive(b, alive)) wgi_block_mark(b, needed, 1);
    mark_operands(c, needed);
    return needed;
}

static void all_curves(wgi_drive *d, wgi_curves *q, const unsigned char *alive) {
    wgi_core *const c = d->c;
    nearness lately[LATELY];
    wgi_entry e;
    memset(lately, 0, sizeof lately);
    for (uint64_t w = 0; w < c->head.code_words && c->status == WG_OK;) {
        w = wgi_code_read(c, w, &e);
        if (e.type == WGI_ENTRY_GUARD || !alive[e.out]) continue;
        if (e.type == WGI_ENTRY_ARRAY) {
            array_curves(q, &e);
            continue;
        }
        const nearness *const s = nearness_of(&e, lately);
        if (s->curved) statement_curves(q, &e, s);
    }
    for (const wgi_block *b = c->head.last_block; b != NULL && c->status == WG_OK; b = b->prev)
        if (wgi_block_is_alive(b, alive)) wgi_block_curves(q, b);
}

/* Puts the sets with which a row is linked on the stack; gives how many. */
static size_t linked(const wgi_curves *q, size_t i) {
    size_t n = 0;
    for (uint32_t at = q->head[i]; at != 0; n++) {
        const uint32_t *const link =
            wgi_sets_words(q->k, WGI_INDEX_LINKS) + 2 * ((size_t)at - 1);
        if (!wgi_sets_room(q->k, WGI_INDEX_STACK, n, 1)) return 0;
        wgi_sets_words(q->k, WGI_INDEX_STACK)[n] = link[0];
        at = link[1];
    }
    return n;
}

wg_status wgi_find_hessian(wgi_drive *d, wgi_sets *k, wgi_lines *found, int *half) {
    wgi_core *const c = d->c;
    wgi_curves q = {k, NULL, NULL, 0, NULL, 0};
    const unsigned char *const alive = alive_slots(d);
    const unsigned char *const needed = alive != NULL ? needed_slots(c, alive) : NULL;
    q.of = needed != NULL ? propagate(d, k, needed) : NULL;
    if (q.of == NULL) return c->status;
    q.head = wg_tape_keep(&c->head, (d->n + 1) * sizeof *q.head, NULL);
    q.recent = wg_tape_keep(&c->head, sizeof *q.recent << PAIR_BITS, NULL);
    if (lines_room(d, found, d->n, d->n) != WG_OK) return c->status;
    memset(q.head, 0, (d->n + 1) * sizeof *q.head);
    memset(q.recent, 0, sizeof *q.recent << PAIR_BITS);
    all_curves(d, &q, alive);
    *half = q.half;
    found->start[0] = 0;
    for (size_t i = 0; i < d->n && c->status == WG_OK; i++) {
        const size_t sets = linked(&q, i);
        if (!wgi_sets_room(k, WGI_INDEX_STACK, sets, sets)) break;
        k->stack = sets; /* the walk begins behind them */
        (void)wgi_sets_write(k, sets, wgi_sets_words(k, WGI_INDEX_STACK));
        k->stack = 0;
        end_line(k, &found->start[i + 1]);
    }
    found->index = wgi_sets_words(k, WGI_INDEX_LIST);
    return c->status;
}

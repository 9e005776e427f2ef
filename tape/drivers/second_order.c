/* SPDX-License-Identifier: MIT */
/* Second order from a tape that keeps its code: Hessian times vector, and Hessian.
 *
 * Letters: w adjoint, vt tangent, wt adjoint of the tangent sweep, h local second derivative.
 * The local Hessians of all statements are there as entries {out, i, j, h}, i <= j, in the
 * order of the tape (second_order_local.c). For a root y and a direction v:
 *     adjoints w backwards;  tangents vt forwards;  then backwards
 *     wt[in] += jac wt[out],   wt[i] += w[out] h vt[j],   wt[j] += w[out] h vt[i].
 * Array operations apply their Hessian without forming it. Source: Griewank and Walther 2008,
 * chapter 5 (forward over reverse). */
#include "tape/function/flatten/second_order_blocks.h"
#include "second_order.h"

#include <string.h>

enum { LANES = 8 };

static const wgi_record *entries(const wgi_core *c) {
    return (const wgi_record *)(const void *)c->second.base;
}

/* The tangents of the records of a chunk from `r` on. That of a result is summed over its
 * records before it is stored. In a chain it is needed at once, mostly as the first operand; a
 * single direction is still in a register then. */
static inline __attribute__((always_inline)) void
forward(const wgi_passes *p, size_t lanes, const wgi_record *r, const wgi_record *top) {
    double *const vt = p->vt;
    double sum[LANES] = {0}; /* the tangent of slot `out`; slot 0 has no records */
    double before = 0;       /* the tangent of slot `last` */
    uint32_t out = 0, last = 0;
    for (; r < top; r++) {
        if (r->out != out) {
            last = out, before = sum[0];
            for (size_t l = 0; l < lanes; l++) {
                vt[(size_t)out * lanes + l] = sum[l];
                sum[l] = vt[(size_t)r->out * lanes + l];
            }
            out = r->out;
        }
        const double *const a = vt + (size_t)r->in0 * lanes;
        const double *const b = vt + (size_t)r->in1 * lanes;
        for (size_t l = 0; l < lanes; l++) {
            const double va = lanes == 1 && r->in0 == last ? before : a[l];
            double p0 = r->jac0 * va, p1 = r->jac1 * b[l];
            if (__builtin_expect(__builtin_isunordered(p0, p1), 0)) {
                p0 = wgi_product(r->jac0, va);
                p1 = wgi_product(r->jac1, b[l]);
            }
            sum[l] += p0 + p1;
        }
    }
    for (size_t l = 0; l < lanes; l++) vt[(size_t)out * lanes + l] = sum[l];
}

static void inject_array(const wgi_passes *p, const wgi_record *q, size_t lanes, double w) {
    wgi_entry e;
    (void)wgi_code_read(p->c, (uint64_t)q->jac0, &e);
    for (size_t l = 0; l < lanes; l++) {
        for (size_t i = 0; i < e.operands; i++) p->xt[i] = p->vt[(size_t)e.slot[i] * lanes + l];
        wgi_array_second(p->c, &e, p->xt, p->ht, p->x, p->work);
        for (size_t i = 0; i < e.operands; i++)
            p->wt[(size_t)e.slot[i] * lanes + l] += wgi_product(w, p->ht[i]);
    }
}

/* Adds what entry q contributes, where the adjoint of its result is w. */
static inline __attribute__((always_inline)) void inject(const wgi_passes *p,
                                                         const wgi_record *q, size_t lanes,
                                                         double w, const double *vt,
                                                         double *wt) {
    if (w == 0) return;
    if (__builtin_expect(q->kind == WGI_SECOND_WHOLE, 0)) {
        inject_array(p, q, lanes, w);
        return;
    }
    const double h = w * q->jac0;
    const size_t i = (size_t)q->in0 * lanes, j = (size_t)q->in1 * lanes;
    for (size_t l = 0; l < lanes; l++) {
        double p0 = h * vt[j + l], p1 = h * vt[i + l];
        if (__builtin_expect(__builtin_isunordered(p0, p1), 0)) {
            p0 = wgi_product(wgi_product(w, q->jac0), vt[j + l]);
            p1 = wgi_product(wgi_product(w, q->jac0), vt[i + l]);
        }
        wt[i + l] += p0;
        if (i != j) wt[j + l] += p1;
    }
}

/* The records of a chunk from `base` up to `r`. q: behind the last entry that is left; gives
 * what is left then. */
static inline __attribute__((always_inline)) const wgi_record *
backward(const wgi_passes *p, size_t lanes, const wgi_record *base, const wgi_record *r,
         const wgi_record *q) {
    const wgi_record *const second = entries(p->c); /* NULL: there are none */
    const double *const w = p->w, *const vt = p->vt;
    double *const wt = p->wt;
    while (r-- != base) {
        for (; q != second && q[-1].out >= r->out; q--)
            inject(p, q - 1, lanes, w[q[-1].out], vt, wt);
        const double *const from = wt + (size_t)r->out * lanes;
        double *const a = wt + (size_t)r->in0 * lanes;
        double *const b = wt + (size_t)r->in1 * lanes;
        for (size_t l = 0; l < lanes; l++) {
            const double by = from[l];
            double p0 = by * r->jac0, p1 = by * r->jac1;
            if (__builtin_expect(__builtin_isunordered(p0, p1), 0)) {
                p0 = wgi_product(by, r->jac0);
                p1 = wgi_product(by, r->jac1);
            }
            a[l] += p0;
            b[l] += p1;
        }
    }
    return q;
}

/* Can second derivatives of y by x be computed? beyond: also where the tape reaches beyond
 * itself. */
static wg_status check_call(wgi_core *c, const char *call, wg_real y, size_t n,
                            const wg_real *x, int beyond) {
    if (c->status != WG_OK) return c->status;
    if (wgi_refuse_segment(c, call) != WG_OK) return WG_EMODE;
    if (!(c->flags & WG_KEEP_CODE) || c->width != 0)
        return wgi_refuse(c, WG_EMODE, "%s: the tape keeps no code", call);
    wg_status s = wgi_records_ordered(c);
    if (s == WG_OK) s = wgi_refuse_stale(c, call, 1, &y);
    if (s == WG_OK) s = wgi_refuse_stale(c, call, n, x);
    if (s != WG_OK) return s;
    if (!beyond) s = wgi_refuse_always(c, call, 0);
    if (s == WG_OK && wgi_sweep_from(c, y.at.slot) == 0)
        return wgi_refuse(c, WG_ESEED,
                          "%s: the output does not depend on an input of this tape", call);
    return s;
}

/* Where the tape reaches beyond itself, all that is on it takes part, and nothing goes by a
 * function. */
static wg_status check_beyond(wgi_core *c, const char *call) {
    for (const wgi_block *b = c->head.last_block; b != NULL && c->always != 0; b = b->prev)
        if (b->outs != 0 && !wgi_second_knows(b))
            return wgi_refuse(c, WG_EMODE,
                              "%s: the second derivatives of %s are not known on a tape that "
                              "reaches beyond itself",
                              call, b->op->name);
    return WG_OK;
}

int wgi_second_possible(const wgi_core *c, size_t m, const wg_real *y) {
    uint32_t root = 0;
    for (size_t j = 0; j < m; j++)
        if (y[j].at.slot > root) root = y[j].at.slot;
    for (const wgi_block *b = c->head.last_block; b != NULL; b = b->prev)
        if (b->out <= root && b->outs != 0 && !wgi_second_knows(b)) return 0;
    return 1;
}

/* Local second derivatives, and memory for everything but adjoints. */
static wg_status make_room(wgi_core *c, uint64_t slots, size_t lanes, size_t results) {
    wg_status s = wgi_second_prepare(c);
    const size_t longest = (size_t)c->second_longest;
    if (s == WG_OK)
        s = wgi_extent_need(c, &c->tangents, (size_t)slots * 2 * lanes * sizeof(double), 0);
    if (s == WG_OK && results > SIZE_MAX / 64) s = WG_ENOMEM;
    if (s == WG_OK)
        s = wgi_blocks_room(c, 4 * (longest * sizeof(double) + 64) + results * sizeof(double));
    return s;
}

static wg_status refuse_room(wgi_core *c, const char *call, wg_status s, uint32_t root) {
    return wgi_refuse(c, s, "%s: no memory for second derivatives of %u slots", call, root);
}

wg_status wgi_second_open(wgi_core *c, const char *call, size_t m, const wg_real *y,
                          const double *w, size_t lanes, size_t results, wgi_passes *p) {
    uint32_t root = 0;
    for (size_t j = 0; j < m; j++)
        if (y[j].at.slot > root) root = y[j].at.slot;
    root = wgi_sweep_from(c, root);
    const uint64_t slots = wgi_reach(c, root) + 1;
    memset(p, 0, sizeof *p);
    p->c = c;
    p->call = call;
    wg_status s = make_room(c, slots, lanes, results);
    const size_t longest = (size_t)c->second_longest;
    /* mostly the gradient was computed before, and the adjoints are there */
    const int one = m == 1 && (w == NULL || w[0] == 1) && c->always == 0;
    const int there = one && c->seeded == root && c->lanes == 1 && c->swept == slots;
    if (s == WG_OK && !there) s = wgi_adjoints_open(c, slots, 1, 0);
    if (s != WG_OK) return refuse_room(c, call, s, root);
    p->root = (uint32_t)(slots - 1);
    p->lanes = lanes;
    p->records = wgi_record_after(c, root);
    if (!there) {
        for (size_t j = 0; j < m; j++)
            if (y[j].at.slot != 0) {
                wgi_adjoints_mark(c, y[j].at.slot, 1);
                wgi_adjoints(c)[y[j].at.slot] += w != NULL ? w[j] : 1;
            }
        s = wgi_sweep(c, p->records, 0);
        if (s != WG_OK) return s;
        if (one) c->seeded = root;
    }
    p->w = wgi_adjoints(c);
    p->second = c->second_records;
    while (p->second > 0 && entries(c)[p->second - 1].out > root) p->second--;
    p->vt = (double *)(void *)c->tangents.base;
    p->wt = p->vt + (size_t)slots * lanes;
    p->x = wgi_scratch(c, longest * sizeof(double));
    p->xt = wgi_scratch(c, longest * sizeof(double));
    p->ht = wgi_scratch(c, longest * sizeof(double));
    p->work = wgi_scratch(c, longest * sizeof(double));
    p->results = wgi_scratch(c, results * sizeof(double));
    return WG_OK;
}

void wgi_second_clear(const wgi_passes *p) {
    memset(p->vt, 0, ((size_t)p->root + 1) * 2 * p->lanes * sizeof(double));
}

static void forward_lanes(const wgi_passes *p, const wgi_record *r, const wgi_record *top) {
    switch (p->lanes) {
    case 1:
        forward(p, 1, r, top);
        break;
    case 2:
        forward(p, 2, r, top);
        break;
    case 4:
        forward(p, 4, r, top);
        break;
    default:
        forward(p, LANES, r, top);
    }
}

static const wgi_record *backward_lanes(const wgi_passes *p, const wgi_record *base,
                                        const wgi_record *r, const wgi_record *q) {
    switch (p->lanes) {
    case 1:
        return backward(p, 1, base, r, q);
    case 2:
        return backward(p, 2, base, r, q);
    case 4:
        return backward(p, 4, base, r, q);
    default:
        return backward(p, LANES, base, r, q);
    }
}

/* Tangents of a block's results, which are written, beside those that they have as inputs:
 * these wait in wt, which is 0 until the last pass. */
static wg_status block_forward(const wgi_passes *p, const wgi_block *b) {
    const size_t first = (size_t)b->out * p->lanes, n = b->outs * p->lanes;
    double *const vt = p->vt + first, *const own = p->wt + first;
    size_t inputs = 0;
    for (size_t i = 0; i < n; i++) inputs += vt[i] != 0;
    for (size_t i = 0; inputs != 0 && i < n; i++) own[i] = vt[i], vt[i] = 0;
    p->c->width = p->lanes; /* it takes the number of lanes from there */
    const wg_status s = wgi_block_forward(p->c, b);
    p->c->width = 0;
    for (size_t i = 0; inputs != 0 && i < n; i++) vt[i] += own[i], own[i] = 0;
    return s;
}

/* The last slot whose tangent the pass back reads. Entries and blocks read what is older than
 * they are: they are looked at from the end, as long as they may read something later. */
static uint32_t last_read(const wgi_passes *p) {
    const wgi_record *const e = entries(p->c);
    uint32_t last = 0;
    for (uint64_t k = p->second; k > 0 && e[k - 1].out > last; k--) {
        const wgi_record *const r = &e[k - 1];
        const uint32_t read = r->kind == WGI_SECOND_WHOLE ? r->out - 1
                              : r->in0 > r->in1           ? r->in0
                                                          : r->in1;
        if (read > last) last = read;
    }
    for (const wgi_block *b = wgi_block_below(p->c, p->records, 0);
         b != NULL && (b->outs == 0 || b->out + (b->outs - 1) > last); b = b->prev) {
        const uint32_t read = wgi_second_reads(b);
        if (read > last) last = read;
    }
    return last;
}

/* Tangents of all slots that are read. */
static wg_status run_forward(const wgi_passes *p) {
    wgi_core *const c = p->c;
    const uint64_t records = c->always != 0 ? p->records : wgi_record_after(c, last_read(p));
    const int blocks = c->head.last_block != NULL;
    for (int k = 0; c->chunks != 0 && k <= c->current; k++) {
        const wgi_chunk *const chunk = &c->chunk[k];
        const wgi_record *r = chunk->base, *top = k == c->current ? c->head.top : chunk->top;
        if (chunk->first >= records) break;
        if (chunk->first + (uint64_t)(top - r) > records) top = r + (records - chunk->first);
        while (r != top) {
            const wgi_record *next = blocks ? r : top;
            while (next != top && next->kind != WGI_BLOCK) next++;
            forward_lanes(p, r, next);
            if (next != top) {
                wgi_block *b;
                memcpy(&b, &next->jac0, sizeof b);
                const wg_status s = block_forward(p, b);
                if (s != WG_OK) return s;
                next++;
            }
            r = next;
        }
    }
    return WG_OK;
}

/* The records [low, high), none of them a block's. */
static const wgi_record *run_backward(const wgi_passes *p, uint64_t high, uint64_t low,
                                      const wgi_record *q) {
    for (int k = p->c->current; k >= 0 && high > low; k--) {
        const wgi_chunk *const chunk = &p->c->chunk[k];
        if (chunk->first >= high) continue;
        q = backward_lanes(p, chunk->base + (low > chunk->first ? low - chunk->first : 0),
                           chunk->base + (high - chunk->first), q);
        high = chunk->first;
    }
    return q;
}

wg_status wgi_second_run(wgi_passes *p) {
    const wgi_record *const second = entries(p->c);
    const wgi_record *q = p->second != 0 ? second + p->second : second;
    const wgi_block *b = wgi_block_below(p->c, p->records, 0);
    uint64_t high = p->records;
    wg_status s = run_forward(p);
    for (; b != NULL && s == WG_OK; b = b->prev) {
        q = run_backward(p, high, b->record + 1, q);
        s = wgi_second_block(p, b);
        high = b->record;
    }
    if (s == WG_OK) (void)run_backward(p, high, 0, q);
    return s;
}

void wgi_second_close(wgi_passes *p) {
    wgi_beside_close(p->c);
    p->beside = NULL;
}

wg_status wg_tape_hvp_check(wg_tape *t, wg_real y, size_t n, const wg_real *x) {
    const char *const call = "wg_tape_hvp_check";
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (n != 0 && x == NULL)
        return wgi_refuse(c, WG_ENULL, "%s: an array of %zu entries is NULL", call, n);
    wg_status s = check_call(c, call, y, n, x, 1);
    if (s == WG_OK) s = check_beyond(c, call);
    if (s != WG_OK || !wgi_second_possible(c, 1, &y)) return s;
    const uint32_t root = wgi_sweep_from(c, y.at.slot);
    const uint64_t slots = wgi_reach(c, root) + 1;
    s = make_room(c, slots, 1, 0);
    if (s == WG_OK) s = wgi_adjoints_need(c, slots, 1);
    return s == WG_OK ? s : refuse_room(c, call, s, root);
}

wg_status wg_tape_hvp(wg_tape *t, wg_real y, size_t n, const wg_real *x, const double *v,
                      double *hv) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (n != 0 && (x == NULL || v == NULL || hv == NULL))
        return wgi_refuse(c, WG_ENULL, "wg_tape_hvp: an array of %zu entries is NULL", n);
    const uint64_t used = c->scratch_used;
    wgi_passes p;
    wg_status s = check_call(c, "wg_tape_hvp", y, n, x, 1);
    if (s == WG_OK) s = check_beyond(c, "wg_tape_hvp");
    if (s == WG_OK && !wgi_second_possible(c, 1, &y)) {
        s = wg_reverse(t, y);
        return s != WG_OK ? s
                          : wgi_second_of_blocks(c, "wg_tape_hvp", y, n, x, 1,
                                                 n != 0 ? v : (const double[]){0}, hv, n);
    }
    if (s == WG_OK) {
        s = wgi_second_open(c, "wg_tape_hvp", 1, &y, NULL, 1, 0, &p);
        const uint32_t root = p.root;
        if (s == WG_OK) {
            wgi_second_clear(&p);
            for (size_t i = 0; i < n; i++)
                if (x[i].at.slot != 0 && x[i].at.slot <= root) p.vt[x[i].at.slot] += v[i];
            s = wgi_second_run(&p);
        }
        for (size_t i = 0; i < n && s == WG_OK; i++)
            hv[i] = x[i].at.slot != 0 && x[i].at.slot <= root ? p.wt[x[i].at.slot] : 0;
        wgi_second_close(&p);
    }
    c->scratch_used = used;
    return s;
}

/* Up to LANES columns of a Hessian, from `first` on, with what stands in the rows of these. */
static wg_status columns(wgi_passes *p, size_t n, const wg_real *x, size_t first, double *h,
                         size_t ld) {
    const size_t k = n - first < LANES ? n - first : LANES;
    const uint32_t root = p->root;
    wgi_second_clear(p);
    for (size_t l = 0; l < k; l++) {
        const uint32_t slot = x[first + l].at.slot;
        if (slot != 0 && slot <= root) p->vt[(size_t)slot * LANES + l] = 1;
    }
    const wg_status s = wgi_second_run(p);
    for (size_t l = 0; l < k && s == WG_OK; l++)
        for (size_t i = first + l; i < n; i++) {
            const uint32_t slot = x[i].at.slot;
            const double value =
                slot != 0 && slot <= root ? p->wt[(size_t)slot * LANES + l] : 0;
            h[(first + l) * ld + i] = h[i * ld + first + l] = value;
        }
    return s;
}

wg_status wg_tape_hessian(wg_tape *t, wg_real y, size_t n, const wg_real *x, double *h,
                          size_t ld) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (n != 0 && (x == NULL || h == NULL))
        return wgi_refuse(c, WG_ENULL, "wg_tape_hessian: an array for %zu inputs is NULL", n);
    if (ld < n)
        return wgi_refuse(c, WG_ESHAPE, "wg_tape_hessian: ld %zu is less than n %zu", ld, n);
    const uint64_t used = c->scratch_used;
    wgi_passes p;
    wg_status s = check_call(c, "wg_tape_hessian", y, n, x, 0);
    if (s == WG_OK && !wgi_second_possible(c, 1, &y)) {
        s = wg_reverse(t, y);
        return s != WG_OK ? s
                          : wgi_second_of_blocks(c, "wg_tape_hessian", y, n, x, 0, NULL, h, ld);
    }
    if (s == WG_OK) {
        /* statements cannot fail once the passes are open; operations on matrices may */
        const int direct = c->head.last_block == NULL;
        const size_t room = direct || n == 0 ? 0 : n > SIZE_MAX / n ? SIZE_MAX : n * n;
        s = wgi_second_open(c, "wg_tape_hessian", 1, &y, NULL, LANES, room, &p);
        for (size_t first = 0; first < n && s == WG_OK; first += LANES)
            s = columns(&p, n, x, first, direct ? h : p.results, direct ? ld : n);
        for (size_t j = 0; j < n && s == WG_OK && !direct; j++)
            memcpy(h + j * ld, p.results + j * n, n * sizeof *h);
        wgi_second_close(&p);
    }
    c->scratch_used = used;
    return s;
}

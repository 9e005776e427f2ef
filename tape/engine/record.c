/* SPDX-License-Identifier: MIT */
/* Recording: everything that the fast path of wg_let leaves to a function.
 *
 * A statement comes here because its chunk is full, a handle does not carry the stamp of the
 * tape (a constant, or a mistake), or the tape is in a mode: failure, paused, passive, forward,
 * traced, keeping code or places, checked. */
#include "tape.h"

#include <stddef.h>
#include <string.h>

/* ---- records ---- */

/* If the variables among the operands form two or more pairs that are all the same, with
 * perhaps one more variable: how many pairs. Otherwise 0. */
static size_t one_pair(size_t n, const uint32_t *slot) {
    uint32_t first[2] = {0, 0};
    size_t k = 0;
    int differs = 0;
    for (size_t i = 0; i < n; i++) {
        if (slot[i] == 0) continue;
        if (k < 2) first[k] = slot[i];
        else if (k % 2 == 0) differs = slot[i] != first[0];
        else if (differs || slot[i] != first[1]) return 0;
        k++;
    }
    return k >= 4 ? k / 2 : 0;
}

/* Writes the records of a statement: one for two operands, where operands that are constants
 * are left out. Pairs that are all the same become one record, as in the fast path: a statement
 * gives the same records either way. Nothing is written behind them, since in a replay other
 * records stand there. */
static void push_records(wgi_core *c, uint32_t out, size_t n, const uint32_t *slot,
                         const double *partial) {
    wgi_record *const first = c->head.top;
    const size_t merged = one_pair(n, slot);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (slot[i] == 0) continue;
        const size_t pair = k / 2;
        wgi_record *const r = first + (merged == 0 ? pair : pair == merged);
        double *const jac = k % 2 == 0 ? &r->jac0 : &r->jac1;
        if (pair > 0 && pair < merged) *jac += partial[i];
        else if (k % 2 == 0) *r = (wgi_record){.in0 = slot[i], .out = out, .jac0 = partial[i]};
        else r->in1 = slot[i], *jac = partial[i];
        k++;
    }
    c->head.top = first + (merged == 0 ? (k + 1) / 2 : 1 + k % 2);
}

/* The tangents of a result on a forward tape: sum_i partial_i * tangent of operand i, under the
 * zero rule; constants have none. */
static void push_tangents(wgi_core *c, uint32_t out, size_t n, const uint32_t *slot,
                          const double *partial) {
    double *const to = wgi_tangents_of(c, out);
    for (size_t l = 0; l < c->width; l++) to[l] = 0;
    for (size_t i = 0; i < n; i++) {
        if (slot[i] == 0) continue;
        if (partial[i] != 0) wgi_note_operand(c, slot[i]);
        const double *const from = wgi_tangents_of(c, slot[i]);
        for (size_t l = 0; l < c->width; l++) to[l] += wgi_product(partial[i], from[l]);
    }
}

uint64_t wgi_rewrite(wgi_core *c, uint64_t at, const wgi_entry *e, const double *partial) {
    wgi_record *const top = c->head.top, *const first = (wgi_record *)wgi_record_at(c, at);
    c->head.top = first;
    push_records(c, e->out, e->operands, e->slot, partial);
    const uint64_t records = (uint64_t)(c->head.top - first);
    c->head.top = top;
    return records;
}

wg_real wgi_append(wgi_core *c, const char *call, double value, size_t n, const uint32_t *slot,
                   const double *partial) {
    if (wgi_slots_need(c, call, 1) != WG_OK) return wgi_nan();
    const uint32_t out = c->head.slots;
    if (c->width != 0) {
        push_tangents(c, out, n, slot, partial);
    } else {
        const wg_status s = wgi_records_need(c, (n + 1) / 2);
        if (s != WG_OK) {
            wgi_fail(c, s, "%s: no room for the records of slot %u (%zu operands)", call, out,
                     n);
            return wgi_nan();
        }
        push_records(c, out, n, slot, partial);
    }
    c->head.slots = out + 1;
    if (c->flags & WG_KEEP_CODE) wgi_values(c)[out] = value;
    wgi_limit_set(c);
    return (wg_real){value, {out, c->head.stamp}};
}

/* ---- wg_let, in general ---- */

wg_real wgi_let(wg_tape *t, const wgi_statement *s) {
    if (t == NULL) return wgi_nan();
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK || wgi_check_thread(c, "wg_let") != WG_OK) return wgi_nan();
    uint32_t slot[WGI_MOST_OPERANDS], active = 0;
    for (unsigned i = 0; i < s->operands; i++) {
        slot[i] = wgi_slot(s->handle[i]);
        active |= slot[i];
        if (slot[i] == 0) continue;
        if (!wgi_alive(c, (wg_handle){slot[i], wgi_stamp(s->handle[i])})) {
            wgi_fail_stale(c, "wg_let", i, slot[i], wgi_stamp(s->handle[i]));
            wgi_fail_where(c, s->file, s->line);
            return wgi_nan();
        }
    }
    if ((c->flags & WG_TRACE) != 0 && !(s->value - s->value == 0)) {
        wgi_fail_trace(c, s);
        return wgi_nan();
    }
    if (active == 0 || c->pauses != 0 || c->passive) return wg_constant(s->value);
    if (s->operands == 1 && s->bits == WGI_LEAF_BITS)
        return (wg_real){s->value, {slot[0], wgi_stamp(s->handle[0])}};
    if (s->words != NULL) return wgi_long_append(c, s);
    return wgi_let_append(c, s, slot);
}

wg_real wgi_let_append(wgi_core *c, const wgi_statement *s, const uint32_t *slot) {
    const uint64_t code = c->head.code_words, places = c->place_count;
    wg_real y = wgi_nan();
    if (((c->flags & WG_KEEP_CODE) == 0 || c->width != 0 || wgi_code_keep(c, s) == WG_OK) &&
        ((c->flags & WG_KEEP_PLACES) == 0 ||
         wgi_place_keep(c, "wg_let", c->head.slots, s->file, s->line) == WG_OK))
        y = wgi_append(c, "wg_let", s->value, s->operands, slot, s->partial);
    if (c->status != WG_OK) {
        c->head.code_words = code;
        c->place_count = places;
        wgi_fail_where(c, s->file, s->line);
    }
    return y;
}

/* ---- wg_let, where the fast path is left ---- */

const wg_tape wgi_no_tape = {.watches = 1};

void wgi_zero_rule(wgi_statement *s) {
    wgi_statement_code p;
    wgi_statement_code_of_new(s, &p);
    wgi_statement_code_run(&p, s->x);
    wgi_statement_code_partials(&p, s->partial);
}

/* list: n partials, n values, n handles. */
static __attribute__((noinline)) wg_real in_general(wg_tape *t, double value, size_t n,
                                                    const void *list, const wgi_site *site,
                                                    const double *number) {
    const char *const p = list;
    wgi_statement s;
    s.words = NULL;
    s.value = value;
    s.operands = (unsigned)n;
    memcpy(s.partial, p, n * 8);
    memcpy(s.x, p + n * 8, n * 8);
    memcpy(s.handle, p + n * 16, n * 8);
    s.numbers = (unsigned)(site->head >> 56);
    for (unsigned i = 0; i < s.numbers; i++) s.number[i] = number[i];
    s.bits = site->head >> 36 & 4095;
    s.code = site->code;
    s.file = site->file;
    s.line = (int)(site->head & UINT32_MAX);
    for (size_t i = 0; i < n; i++)
        if (s.partial[i] != s.partial[i]) { /* made of plain products */
            wgi_zero_rule(&s);
            break;
        }
    return wgi_let(t, &s);
}

/* Variable h with partial p becomes operand k of the statement whose result has slot `out`. */
WGI_FUNCTION void take(wgi_record *r, unsigned k, uint32_t out, uint64_t h, double p) {
    if (k % 2 == 0) r[k / 2] = (wgi_record){.in0 = wgi_slot(h), .out = out, .jac0 = p};
    else r[k / 2].in1 = wgi_slot(h), r[k / 2].jac1 = p;
}

static const wg_real nothing = {0, {WGI_OUTSIDE, 0}};

/* Loaded by itself: two partials that were stored one by one a moment ago would come late as
 * a vector. */
static inline double by_itself(double p) {
#if defined(__x86_64__)
    __asm__("" : "+x"(p));
#endif
    return p;
}

/* Pairs that are all the same become one record. Gives how many records there are. Word by
 * word: of what was stored in halves a moment ago a vector would come late. */
static size_t join_pairs(wgi_record *r, size_t k) {
    const size_t pairs = k / 2;
    for (size_t i = 1; i < pairs; i++)
        if (r[i].in0 != r[0].in0 || r[i].in1 != r[0].in1) return pairs + k % 2;
    for (size_t i = 1; i < pairs; i++)
        r[0].jac0 += by_itself(r[i].jac0), r[0].jac1 += by_itself(r[i].jac1);
    if (k % 2 == 1)
        r[1].in0 = r[pairs].in0, r[1].in1 = 0, r[1].jac0 = r[pairs].jac0, r[1].jac1 = 0;
    return 1 + k % 2;
}

/* Everything, where a tape whose only mode is to keep its code leaves out the constants among
 * the operands: their values become numbers of the code. list: as of in_general. */
static __attribute__((noinline)) wg_real some_kept(wg_tape *t, double value, size_t n,
                                                   const void *list, const wgi_site *site,
                                                   const double *number) {
    const double *const p = list, *const x = p + n;
    const uint64_t *const h = (const uint64_t *)(const void *)(x + n);
    if (WGI_UNLIKELY(t == NULL || t->top >= t->kept_limit))
        return in_general(t, value, n, list, site, number);
    const uint64_t stamp = wgi_stamp_word(t);
    const uint32_t slots = t->slots;
    wgi_record *const r = t->top;
    WGI_AHEAD(r);
    unsigned k = 0;
    for (size_t i = 0; i < n; i++) {
        if (WGI_UNLIKELY(p[i] != p[i] || (h[i] != 0 && h[i] - stamp >= slots)))
            return in_general(t, value, n, list, site, number);
        if (h[i] != 0) take(r, k++, slots, h[i], p[i]);
    }
    if (k == 0) return wg_constant(value);
    wgi_code_put(t, site, n, h, x, number);
    t->values[slots] = value;
    t->slots = slots + 1;
    t->top = r + (k >= 4 ? join_pairs(r, k) : (k + 1) / 2);
    return wgi_result(t, value, slots);
}

/* wgi_some_n(.., h0, h1, .., p0, p1, ..): of a tape of the fast path, which leaves out the
 * constants among the operands, with everything in registers; where that is not all, the result
 * has the slot WGI_OUTSIDE, and is none; statements of up to 4 operands do so where they stand
 * (statement_lists.h). wgi_let_n(.., h0, h1, .., p0, p1, .., x0, x1, ..): everything. What it
 * does not do itself is left to functions with the same arguments, so that none has to be saved
 * for it: kept_n, where a tape whose only mode is to keep its code goes on as fast as it can,
 * rest_n, where it leaves constants out, and general_n. */
#define EACH1(m) m(0)
#define EACH2(m) EACH1(m), m(1)
#define EACH3(m) EACH2(m), m(2)
#define EACH4(m) EACH3(m), m(3)
#define EACH5(m) EACH4(m), m(4)
#define EACH6(m) EACH5(m), m(5)
#define EACH7(m) EACH6(m), m(6)
#define EACH8(m) EACH7(m), m(7)
#define NAN1(m) m(0)
#define NAN2(m) NAN1(m) m(1)
#define NAN3(m) NAN2(m) m(2)
#define NAN4(m) NAN3(m) m(3)
#define NAN5(m) NAN4(m) m(4)
#define NAN6(m) NAN5(m) m(5)
#define NAN7(m) NAN6(m) m(6)
#define NAN8(m) NAN7(m) m(7)
#define H(i) uint64_t h##i
#define P(i) double p##i
#define h(i) h##i
#define p(i) p##i
#define x(i) x##i
#define X(i) double x##i
#define ARGUMENTS(n)                                                                           \
    wg_tape *t, double value, EACH##n(H), const wgi_site *site, const double *number,          \
        EACH##n(P), EACH##n(X)
#define GIVEN(n) t, value, EACH##n(h), site, number, EACH##n(p), EACH##n(x)
#define IS_NAN(i) || __builtin_isnan(p##i)
/* Operand i is taken, behind k that were. For each i and k there is code of its own: then it is
 * known where what is stored, and a branch goes as it went the last time. */
#define TAKE(i, next, k, more)                                                                 \
    at_##i##_##k : __attribute__((unused));                                                    \
    if (h##i == 0) goto at_##next##_##k;                                                       \
    if (WGI_UNLIKELY(h##i - stamp >= slots)) return nothing;                                   \
    take(r, k, slots, h##i, p##i);                                                             \
    goto at_##next##_##more;
#define TAKE1(m) m(0, 1, 0, 1)
#define TAKE2(m) TAKE1(m) m(1, 2, 0, 1) m(1, 2, 1, 2)
#define TAKE3(m) TAKE2(m) m(2, 3, 0, 1) m(2, 3, 1, 2) m(2, 3, 2, 3)
#define TAKE4(m) TAKE3(m) m(3, 4, 0, 1) m(3, 4, 1, 2) m(3, 4, 2, 3) m(3, 4, 3, 4)
#define TAKE5(m) TAKE4(m) m(4, 5, 0, 1) m(4, 5, 1, 2) m(4, 5, 2, 3) m(4, 5, 3, 4) m(4, 5, 4, 5)
#define TAKE6(m)                                                                               \
    TAKE5(m) m(5, 6, 0, 1) m(5, 6, 1, 2) m(5, 6, 2, 3) m(5, 6, 3, 4) m(5, 6, 4, 5) m(5, 6, 5, 6)
#define TAKE7(m)                                                                               \
    TAKE6(m)                                                                                   \
    m(6, 7, 0, 1) m(6, 7, 1, 2) m(6, 7, 2, 3) m(6, 7, 3, 4) m(6, 7, 4, 5) m(6, 7, 5, 6)        \
        m(6, 7, 6, 7)
#define TAKE8(m)                                                                               \
    TAKE7(m)                                                                                   \
    m(7, 8, 0, 1) m(7, 8, 1, 2) m(7, 8, 2, 3) m(7, 8, 3, 4) m(7, 8, 4, 5) m(7, 8, 5, 6)        \
        m(7, 8, 6, 7) m(7, 8, 7, 8)
/* All n were looked at, k taken. */
#define TAKEN(n, k)                                                                            \
    at_##n##_##k : if (k == 0) return wg_constant(value);                                      \
    t->slots = slots + 1;                                                                      \
    t->top = r + (n > 4 && k >= 4 ? join_pairs(r, k) : (k + 1) / 2);                           \
    return wgi_result(t, value, slots);
#define TAKEN1(m, n) m(n, 0) m(n, 1)
#define TAKEN2(m, n) TAKEN1(m, n) m(n, 2)
#define TAKEN3(m, n) TAKEN2(m, n) m(n, 3)
#define TAKEN4(m, n) TAKEN3(m, n) m(n, 4)
#define TAKEN5(m, n) TAKEN4(m, n) m(n, 5)
#define TAKEN6(m, n) TAKEN5(m, n) m(n, 6)
#define TAKEN7(m, n) TAKEN6(m, n) m(n, 7)
#define TAKEN8(m, n) TAKEN7(m, n) m(n, 8)
#define LET(n)                                                                                 \
    static __attribute__((noinline)) wg_real general_##n(ARGUMENTS(n)) {                       \
        const wgi_s##n list = {{EACH##n(p)}, {EACH##n(x)}, {EACH##n(h)}};                      \
        return in_general(t, value, n, &list, site, number);                                   \
    }                                                                                          \
    static __attribute__((noinline)) wg_real rest_##n(ARGUMENTS(n)) {                          \
        const wgi_s##n list = {{EACH##n(p)}, {EACH##n(x)}, {EACH##n(h)}};                      \
        return some_kept(t, value, n, &list, site, number);                                    \
    }                                                                                          \
    static __attribute__((noinline)) wg_real kept_##n(ARGUMENTS(n)) {                          \
        const wgi_s##n s = {{EACH##n(p)}, {EACH##n(x)}, {EACH##n(h)}};                         \
        double *const w =                                                                      \
            t != NULL ? wgi_kept_##n(t, value, &s, 1, site->head, site->code) : NULL;          \
        if (WGI_UNLIKELY(w == NULL)) return rest_##n(GIVEN(n));                                \
        for (size_t i = 0; i < site->head >> 56; i++) w[i] = number[i];                        \
        return wgi_append_##n(t, value, &s);                                                   \
    }                                                                                          \
    WGI_FUNCTION wg_real some_##n(wg_tape *t, double value, EACH##n(H), EACH##n(P)) {          \
        if (WGI_UNLIKELY((t->top >= t->limit) NAN##n(IS_NAN))) return nothing;                 \
        const uint64_t stamp = wgi_stamp_word(t);                                              \
        const uint32_t slots = t->slots;                                                       \
        wgi_record *const r = t->top;                                                          \
        WGI_AHEAD(r);                                                                          \
        TAKE##n(TAKE) TAKEN##n(TAKEN, n)                                                       \
    }                                                                                          \
    wg_real wgi_let_##n(ARGUMENTS(n)) {                                                        \
        if (WGI_UNLIKELY(t == NULL || t->top >= t->limit)) return kept_##n(GIVEN(n));          \
        const wg_real y = some_##n(t, value, EACH##n(h), EACH##n(p));                          \
        return y.at.slot != WGI_OUTSIDE ? y : general_##n(GIVEN(n));                           \
    }
LET(1)
LET(2)
LET(3)
LET(4)
LET(5)
LET(6)
LET(7)
LET(8)
#define SOME(n)                                                                                \
    wg_real wgi_some_##n(wg_tape *t, double value, EACH##n(H), EACH##n(P)) {                   \
        return t == NULL ? nothing : some_##n(t, value, EACH##n(h), EACH##n(p));               \
    }
SOME(5)
SOME(6)
SOME(7)
SOME(8)
#undef SOME
#undef TAKE
#undef IS_NAN
#undef x
#undef p
#undef h
#undef X
#undef P
#undef H

/* ---- statements of small code ---- */

/* In the head of the entry: were partials multiplied? */
static const uint64_t products_bit = (uint64_t)1 << 32;

#define HANDLE(i) s->h[i]
#define PARTIAL(i) by_itself(s->p[i])
#define VALUE(i) s->x[i]
#define SHORT(n)                                                                               \
    wg_real wgi_short_##n(wg_tape *t, double value, const wgi_s##n *s, uint64_t head,          \
                          wgi_bits code, const char *file) {                                   \
        const int products = (head & products_bit) != 0;                                       \
        const wgi_s##n l = {{EACH##n(PARTIAL)}, {EACH##n(VALUE)}, {EACH##n(HANDLE)}};          \
        if (WGI_NEARLY_ALWAYS(t != NULL && wgi_ready_##n(t, t->limit, &l, products)))          \
            return wgi_append_##n(t, value, &l);                                               \
        if (t != NULL && wgi_none_##n(t, &l)) return wg_constant(value);                       \
        const wgi_site site = {code, head & ~products_bit, file};                              \
        return wgi_let_##n(t, value, EACH##n(HANDLE), &site,                                   \
                           (const double *)(const void *)(s + 1), EACH##n(PARTIAL),            \
                           EACH##n(VALUE));                                                    \
    }
SHORT(1)
SHORT(2)
SHORT(3)
SHORT(4)
SHORT(5)
SHORT(6)
SHORT(7)
SHORT(8)
#undef VALUE
#undef PARTIAL
#undef HANDLE

wg_real wgi_short_r(wg_tape *t, double value, const void *s, uint64_t head, wgi_bits code,
                    const char *file) {
    const wgi_site site = {code, head & ~products_bit, file};
    wg_handle h;
    memcpy(&h, s, sizeof h);
    return wgi_let_r(t, value, wgi_word(h), &site, NULL, 1, value);
}

/* A number, or a variable alone: neither is a statement. */
wg_real wgi_let_0(wg_tape *t, double value, const wgi_site *site, const double *number) {
    return in_general(t, value, 0, &value, site, number);
}

wg_real wgi_let_r(wg_tape *t, double value, uint64_t h0, const wgi_site *site,
                  const double *number, double p0, double x0) {
    const wgi_s1 list = {{p0}, {x0}, {h0}};
    return in_general(t, value, 1, &list, site, number);
}

/* ---- inputs ---- */

static wg_status inputs(wg_tape *t, const char *call, size_t n, const double *a, wg_real *x) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (n != 0 && (a == NULL || x == NULL))
        return wgi_fail(c, WG_ENULL, "%s: an array of %zu entries is NULL", call, n);
    if (c->passive) {
        for (size_t i = 0; i < n; i++) x[i] = wg_constant(a[i]);
        return WG_OK;
    }
    if (wgi_slots_need(c, call, n) != WG_OK) return c->status;
    if (c->chunks == 0 && c->width == 0) {
        const wg_status s = wgi_records_need(c, 1);
        if (s != WG_OK) return wgi_fail(c, s, "%s: no room for records", call);
    }
    const uint32_t first = c->head.slots;
    /* those behind it have the next handles */
    uint64_t handle = (uint64_t)c->head.stamp << 32 | first;
    for (size_t i = 0; i < n; i++, handle++) {
        x[i].value = a[i];
        memcpy(&x[i].at, &handle, sizeof handle);
    }
    if (c->flags & WG_KEEP_CODE)
        for (size_t i = 0; i < n; i++) wgi_values(c)[first + i] = x[i].value;
    if (c->width != 0 && n != 0)
        memset(wgi_tangents_of(c, first), 0, n * c->width * sizeof(double));
    c->head.slots += (uint32_t)n;
    c->inputs += (uint32_t)n;
    wgi_limit_update(c);
    return WG_OK;
}

wg_status wg_inputs(wg_tape *t, size_t n, const double *a, wg_real *x) {
    return inputs(t, "wg_inputs", n, a, x);
}

wg_real wg_input(wg_tape *t, double value) {
    wg_real x;
    return inputs(t, "wg_input", 1, &value, &x) == WG_OK ? x : wgi_nan();
}

/* SPDX-License-Identifier: MIT */
/* Recording: everything that the fast path of wg_let leaves to a function.
 *
 * A statement comes here because its chunk is full, a handle does not carry the stamp of the
 * tape (a constant, or a mistake), or the tape is in a mode: failure, paused, passive, forward,
 * traced, keeping code or places, checked. */
#include "tape.h"

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
        const wg_status s = wgi_records_need(c, n / 2 + 1);
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
    uint32_t slot[WGI_MAX_OPERANDS], active = 0;
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

const wg_tape wgi_no_tape = {0};

/* The fast path multiplies partials by plain products. If one of them is NaN they are computed
 * anew, by the zero rule. */
static void by_the_zero_rule(wgi_statement *s) {
    wgi_entry e = {
        .bits = s->bits, .code = s->code, .operands = s->operands, .number = s->number};
    wgi_statement_code p;
    wgi_statement_code_of(&e, &p);
    wgi_statement_code_run(&p, s->x);
    wgi_statement_code_partials(&p, s->partial);
}

/* A statement that takes the general path only because there are constants among its operands:
 * records it without them. 0: there is another reason. list: n partials, n values, n handles.
 */
static int without_constants(wg_tape *t, double value, size_t n, const void *list,
                             wg_real *result) {
    const double *const partial = list;
    const uint64_t *const handle = (const uint64_t *)(const void *)(partial + 2 * n);
    double p[WGI_MAX_OPERANDS];
    uint64_t h[WGI_MAX_OPERANDS];
    size_t k = 0;
    if (t->top >= t->limit) return 0;
    for (size_t i = 0; i < n; i++) {
        if (partial[i] != partial[i]) return 0;
        if (wgi_slot(handle[i]) == 0) continue;
        if (wgi_stamp(handle[i]) != t->stamp || wgi_slot(handle[i]) >= t->slots) return 0;
        p[k] = partial[i], h[k++] = handle[i];
    }
    switch (k) {
    case 0:
        *result = wg_constant(value);
        return 1;
#define REST(k)                                                                                \
    case k: {                                                                                  \
        wgi_s##k s;                                                                            \
        for (size_t i = 0; i < k; i++) s.p[i] = p[i], s.h[i] = h[i];                           \
        *result = wgi_append_##k(t, value, &s);                                                \
        return 1;                                                                              \
    }
        REST(1)
        REST(2)
        REST(3)
        REST(4)
        REST(5)
        REST(6)
        REST(7)
#undef REST
    default:
        return 0;
    }
}

/* list: n partials, n values, n handles. */
static __attribute__((noinline)) wg_real in_general(wg_tape *t, double value, size_t n,
                                                    const void *list, const double *number,
                                                    uint64_t head, wgi_bits code,
                                                    const char *file) {
    const char *const p = list;
    const int lone = n == 1 && (head >> 36 & 4095) == WGI_LEAF_BITS;
    wg_real y;
    if (t != NULL && !lone && without_constants(t, value, n, list, &y)) return y;
    wgi_statement s;
    s.value = value;
    s.operands = (unsigned)n;
    memcpy(s.partial, p, n * 8);
    memcpy(s.x, p + n * 8, n * 8);
    memcpy(s.handle, p + n * 16, n * 8);
    s.numbers = (unsigned)(head >> 56);
    for (unsigned i = 0; i < s.numbers; i++) s.number[i] = number[i];
    s.bits = head >> 36 & 4095;
    s.code = code;
    s.file = file;
    s.line = (int)(head & UINT32_MAX);
    for (size_t i = 0; i < n; i++)
        if (s.partial[i] != s.partial[i]) {
            by_the_zero_rule(&s);
            break;
        }
    return wgi_let(t, &s);
}

/* wgi_let_n(.., h0, h1, .., p0, p1, .., x0, x1, ..). A tape whose only mode is to keep its code
 * goes on from here as fast as it can; everything else is left to a function with the same
 * arguments, so that none has to be saved for it. */
#define EACH1(m) m(0)
#define EACH2(m) EACH1(m), m(1)
#define EACH3(m) EACH2(m), m(2)
#define EACH4(m) EACH3(m), m(3)
#define EACH5(m) EACH4(m), m(4)
#define EACH6(m) EACH5(m), m(5)
#define EACH7(m) EACH6(m), m(6)
#define EACH8(m) EACH7(m), m(7)
#define H(i) uint64_t h##i
#define P(i) double p##i
#define X(i) double x##i
#define h(i) h##i
#define p(i) p##i
#define x(i) x##i
#define ARGUMENTS(n)                                                                           \
    wg_tape *t, double value, const double *number, uint64_t head, wgi_bits code,              \
        const char *file, EACH##n(H), EACH##n(P), EACH##n(X)
#define LET(n)                                                                                 \
    static __attribute__((noinline)) wg_real general_##n(ARGUMENTS(n)) {                       \
        const wgi_s##n list = {{EACH##n(p)}, {EACH##n(x)}, {EACH##n(h)}};                      \
        return in_general(t, value, n, &list, number, head, code, file);                       \
    }                                                                                          \
    wg_real wgi_let_##n(ARGUMENTS(n)) {                                                        \
        const wgi_s##n s = {{EACH##n(p)}, {EACH##n(x)}, {EACH##n(h)}};                         \
        double *const w = t != NULL ? wgi_kept_##n(t, value, &s, 1, head, code) : NULL;        \
        if (WGI_UNLIKELY(w == NULL))                                                           \
            return general_##n(t, value, number, head, code, file, EACH##n(h), EACH##n(p),     \
                               EACH##n(x));                                                    \
        for (size_t i = 0; i < head >> 56; i++) w[i] = number[i];                              \
        return wgi_append_##n(t, value, &s);                                                   \
    }
LET(1)
LET(2)
LET(3)
LET(4)
LET(5)
LET(6)
LET(7)
LET(8)
#undef x
#undef p
#undef h
#undef X
#undef P
#undef H

/* A number, or a variable alone: neither is a statement. */
wg_real wgi_let_0(wg_tape *t, double value, const double *number, uint64_t head, wgi_bits code,
                  const char *file) {
    return in_general(t, value, 0, number, number, head, code, file);
}

wg_real wgi_let_r(wg_tape *t, double value, const double *number, uint64_t head, wgi_bits code,
                  const char *file, uint64_t h0, double p0, double x0) {
    const wgi_s1 list = {{p0}, {x0}, {h0}};
    return in_general(t, value, 1, &list, number, head, code, file);
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
        memset((double *)(void *)c->tangents.base + (size_t)first * c->width, 0,
               n * c->width * sizeof(double));
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

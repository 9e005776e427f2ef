/* SPDX-License-Identifier: MIT */
/* Variables whose local derivatives are given, in general: constants among the operands, any
 * number of them, room, modes. */
#include "tape.h"

#include <wengert/given.h>

#undef wg_let_given

double wgi_chain(double p, double q) {
    return (p <= 0 && p >= 0) || (q <= 0 && q >= 0) ? 0 : p * q;
}

static wg_status check(wgi_core *c, double value, size_t n, const wg_real *x,
                       const double *partial) {
    static const char call[] = "wg_let_given";
    const wg_status s = wgi_check_thread(c, call);
    if (s != WG_OK) return s;
    if (n != 0 && (x == NULL || partial == NULL))
        return wgi_fail(c, WG_ENULL, "%s: an array of %zu operands is NULL", call, n);
    for (size_t i = 0; i < n; i++)
        if (x[i].at.slot != 0 && !wgi_alive(c, x[i].at)) {
            wgi_fail_stale(c, call, (unsigned)i, x[i].at.slot, x[i].at.stamp);
            return c->status;
        }
    if ((c->flags & WG_TRACE) == 0) return WG_OK;
    if (!(value - value == 0))
        return wgi_fail(c, WG_ENONFINITE, "%s: the value is %g", call, value);
    for (size_t i = 0; i < n; i++)
        if (!(partial[i] - partial[i] == 0))
            return wgi_fail(c, WG_ENONFINITE, "%s: partial %zu of %zu is %g", call, i, n,
                            partial[i]);
    return WG_OK;
}

static void put_tangents(wgi_core *c, uint32_t out, size_t n, const wg_real *x,
                         const double *partial) {
    double *const to = wgi_tangents_of(c, out);
    memset(to, 0, c->width * sizeof *to);
    for (size_t i = 0; i < n; i++) {
        if (x[i].at.slot == 0) continue;
        if (partial[i] != 0) wgi_note_operand(c, x[i].at.slot);
        const double *const from = wgi_tangents_of(c, x[i].at.slot);
        for (size_t l = 0; l < c->width; l++) to[l] += wgi_product(partial[i], from[l]);
    }
}

static void put_records(wgi_core *c, uint32_t out, size_t n, const wg_real *x,
                        const double *partial) {
    wgi_record *r = c->head.top;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (x[i].at.slot == 0) continue;
        if (k++ % 2 == 0)
            *r = (wgi_record){.in0 = x[i].at.slot, .out = out, .jac0 = partial[i]};
        else r->in1 = x[i].at.slot, r->jac1 = partial[i], r++;
    }
    c->head.top = r + k % 2;
}

/* Appends the statement of `active` variables among the n operands. */
static wg_status append(wgi_core *c, size_t active, size_t n, const wg_real *x,
                        const double *partial) {
    static const char call[] = "wg_let_given";
    const uint32_t out = c->head.slots;
    wg_status s = wgi_slots_need(c, call, 1);
    if (s != WG_OK) return s;
    if (c->width == 0) {
        s = wgi_records_need(c, (active + 1) / 2);
        if (s != WG_OK)
            return wgi_fail(c, s, "%s: no room for the records of slot %u (%zu operands)", call,
                            out, active);
        put_records(c, out, n, x, partial);
    } else put_tangents(c, out, n, x, partial);
    c->head.slots = out + 1;
    wgi_limit_set(c);
    return WG_OK;
}

static wg_status refuse_code(wgi_core *c) {
    return wgi_fail(
        c, WG_EMODE,
        "wg_let_given: the tape keeps its code, for second derivatives or a function: "
        "partials that are given have none");
}

static wg_real failed(wgi_core *c, uint64_t places, const char *file, int line) {
    c->place_count = places;
    wgi_fail_where(c, file, line);
    return wgi_nan();
}

/* Are all operands variables of the tape or constants, and is there room for their records? */
static int is_plain(const wg_tape *t, size_t n, const wg_real *x) {
    if ((uintptr_t)t->top + n / 2 * sizeof(wgi_record) >= (uintptr_t)t->limit) return 0;
    int known = 1;
    for (size_t i = 0; i < n; i++)
        known &= x[i].at.slot == 0 || (x[i].at.stamp == t->stamp && x[i].at.slot < t->slots);
    return known;
}

wg_real wgi_let_given(wg_tape *t, double value, size_t n, const wg_real *x,
                      const double *partial, const char *file, int line) {
    if (t == NULL) return wgi_nan();
    wgi_core *const c = wgi_core_of(t);
    if (n != 0 && x != NULL && partial != NULL && is_plain(t, n, x)) {
        wgi_record *const before = t->top;
        put_records(c, t->slots, n, x, partial);
        return t->top == before ? wg_constant(value) : wgi_result(t, value, t->slots++);
    }
    if (c->status != WG_OK) return wgi_nan();
    const uint64_t places = c->place_count;
    if (check(c, value, n, x, partial) != WG_OK) return failed(c, places, file, line);
    size_t active = 0;
    for (size_t i = 0; i < n; i++) active += x[i].at.slot != 0;
    if (active == 0 || c->pauses != 0 || c->passive) return wg_constant(value);
    if ((c->flags & WG_KEEP_CODE) != 0 && c->width == 0) {
        (void)refuse_code(c);
        return failed(c, places, file, line);
    }
    if ((c->flags & WG_KEEP_PLACES) != 0 &&
        wgi_place_keep(c, "wg_let_given", c->head.slots, file, line) != WG_OK)
        return failed(c, places, file, line);
    if (append(c, active, n, x, partial) != WG_OK) return failed(c, places, file, line);
    return (wg_real){value, {c->head.slots - 1, c->head.stamp}};
}

wg_real wg_let_given(wg_tape *t, double value, size_t n, const wg_real *x,
                     const double *partial) {
    return wgi_let_given(t, value, n, x, partial, NULL, 0);
}

/* ---- one operand after the other ---- */

static const char adding[] = "wg_terms_add";

/* Is it still the last variable of the tape, if it is one at all, and are all operands
 * recorded or none? */
static wg_status check_last(wgi_core *c, const wg_terms *s, const char *call) {
    const int pauses = c->pauses != 0 || c->passive;
    if (pauses ? s->slot != 0 : s->paused)
        return wgi_fail(c, WG_EMODE,
                        "%s: recording was paused or resumed since the first operand", call);
    if (s->slot == 0 || (s->stamp == c->head.stamp && s->slot + 1 == c->head.slots))
        return WG_OK;
    return wgi_fail(c, WG_EMODE,
                    "%s: something was recorded, reset or rewound since the first operand",
                    call);
}

/* The slot that the first operand takes. */
static wg_status take_slot(wgi_core *c) {
    const wg_status status = wgi_slots_need(c, adding, 1);
    if (status != WG_OK) return status;
    if (c->width != 0) memset(wgi_tangents_of(c, c->head.slots), 0, c->width * sizeof(double));
    return WG_OK;
}

static void own_slot(wgi_core *c, wg_terms *s) {
    if (s->slot != 0) return;
    s->slot = c->head.slots++;
    s->stamp = c->head.stamp;
}

static void add_tangents(wgi_core *c, wg_terms *s, wg_real x, double partial) {
    own_slot(c, s);
    double *const to = wgi_tangents_of(c, s->slot);
    if (partial != 0) wgi_note_operand(c, x.at.slot);
    const double *const from = wgi_tangents_of(c, x.at.slot);
    for (size_t l = 0; l < c->width; l++) to[l] += wgi_product(partial, from[l]);
}

static void add_record(wgi_core *c, wg_terms *s, wg_real x, double partial) {
    if (s->half) {
        c->head.top[-1].in1 = x.at.slot, c->head.top[-1].jac1 = partial;
        s->half = 0;
        return;
    }
    const wg_status status = wgi_records_need(c, 1);
    if (status != WG_OK) {
        (void)wgi_fail(c, status, "%s: no room for the records of slot %u", adding,
                       c->head.slots);
        return;
    }
    own_slot(c, s);
    *c->head.top++ = (wgi_record){.in0 = x.at.slot, .out = s->slot, .jac0 = partial};
    s->half = 1;
}

void wgi_terms_add(wg_terms *s, wg_real x, double partial) {
    if (s->tape == NULL) return;
    wgi_core *const c = wgi_core_of(s->tape);
    if (c->status != WG_OK || check_last(c, s, adding) != WG_OK || x.at.slot == 0 ||
        check(c, x.value, 1, &x, &partial) != WG_OK)
        return;
    if (c->pauses != 0 || c->passive) {
        s->paused = 1;
        return;
    }
    if (c->width == 0 && (c->flags & WG_KEEP_CODE) != 0) {
        (void)refuse_code(c);
        return;
    }
    if (s->slot == 0 && take_slot(c) != WG_OK) return;
    if (c->width != 0) add_tangents(c, s, x, partial);
    else add_record(c, s, x, partial);
    wgi_limit_set(c);
}

wg_real wg_terms_close(wg_terms *s, double value) {
    static const char call[] = "wg_terms_close";
    if (s->tape == NULL) return wgi_nan();
    wgi_core *const c = wgi_core_of(s->tape);
    if (c->status != WG_OK || check_last(c, s, call) != WG_OK) return wgi_nan();
    if (s->slot == 0) return wg_constant(value);
    if ((c->flags & WG_TRACE) != 0 && !(value - value == 0)) {
        (void)wgi_fail(c, WG_ENONFINITE, "%s: the value is %g", call, value);
        return wgi_nan();
    }
    if ((c->flags & WG_KEEP_PLACES) != 0 && wgi_place_keep(c, call, s->slot, NULL, 0) != WG_OK)
        return wgi_nan();
    const wg_real y = {value, {s->slot, s->stamp}};
    s->slot = 0, s->half = 0;
    return y;
}

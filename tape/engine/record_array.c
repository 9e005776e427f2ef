/* SPDX-License-Identifier: MIT */
/* Array operations on the tape, each one statement of n operands; comparisons with their
 * guards. */
#include "ops/scalar/array.h"
#include "tape.h"

#include <wengert/array.h>

static const char *call_of(unsigned op) { return wgi_array_ops[op].call; }

/* Room for n variables, n slots and 2 n doubles in scratch; released by restoring scratch_used.
 */
typedef struct operands {
    wg_real *variable;
    uint32_t *slot;
    double *x, *partial;
} operands;

static int open_operands(wgi_core *c, unsigned op, size_t n, operands *o) {
    if (n > UINT32_MAX) {
        wgi_fail(c, WG_ESHAPE, "%s: %zu operands", call_of(op), n);
        return 0;
    }
    const size_t bytes = n * sizeof(double);
    const wg_status s =
        wgi_scratch_need(c, n * (sizeof(wg_real) + sizeof(uint32_t)) + 2 * bytes + 256);
    if (s != WG_OK) {
        wgi_fail(c, s, "%s: no workspace for %zu operands", call_of(op), n);
        return 0;
    }
    o->variable = wgi_scratch(c, n * sizeof(wg_real));
    o->slot = wgi_scratch(c, n * sizeof(uint32_t));
    o->x = wgi_scratch(c, bytes);
    o->partial = wgi_scratch(c, bytes);
    return 1;
}

/* Where a call was written. */
typedef struct place {
    const char *file;
    int line;
} place;

static wg_real record(wgi_core *c, unsigned op, size_t n, const operands *o, size_t numbers,
                      const double *number, place at) {
    const char *const call = call_of(op);
    uint32_t active = 0;
    if (wgi_check_handles(c, call, n, o->variable) != WG_OK) return wgi_nan();
    for (size_t i = 0; i < n; i++) {
        o->x[i] = o->variable[i].value;
        o->slot[i] = o->variable[i].at.slot;
        active |= o->slot[i];
    }
    char text[WGI_NUMBER_TEXT];
    if (!wgi_array_chooses(op, n, o->x)) {
        wgi_fail(c, WG_EARG, "%s: index %s of %zu elements", call,
                 wgi_number_text(text, o->x[n - 1]), n - 1);
        return wgi_nan();
    }
    const double v = wgi_array_ops[op].value(n, o->x, number);
    if ((c->flags & WG_TRACE) != 0 && !(v - v == 0)) {
        wgi_fail(c, WG_ENONFINITE, "%s of %zu operands gave %s", call, n,
                 wgi_number_text(text, v));
        return wgi_nan();
    }
    if (active == 0 || c->pauses != 0 || c->passive) return wg_constant(v);
    wgi_array_ops[op].first(n, o->x, number, v, o->partial);
    const uint64_t code = c->head.code_words, places = c->place_count;
    wg_real y = wgi_nan();
    if (((c->flags & WG_KEEP_CODE) == 0 || c->width != 0 ||
         wgi_code_keep_array(c, call, op, n, o->variable, numbers, number) == WG_OK) &&
        ((c->flags & WG_KEEP_PLACES) == 0 ||
         wgi_place_keep(c, call, c->head.slots, at.file, at.line) == WG_OK))
        y = wgi_append(c, call, v, n, o->slot, o->partial);
    if (c->status != WG_OK) {
        c->head.code_words = code;
        c->place_count = places;
    }
    return y;
}

/* Refuses a call before anything else is checked. x NULL: one of its arrays of n entries is
 * NULL. */
static int refused(wgi_core *c, const char *call, size_t n, const wg_real *x) {
    if (n != 0 && x == NULL)
        wgi_fail(c, WG_ENULL, "%s: an array of %zu entries is NULL", call, n);
    else if (n > UINT32_MAX / 2) wgi_fail(c, WG_ESHAPE, "%s: %zu operands", call, n);
    return c->status != WG_OK;
}

/* Does op with the operands x interleaved with y, unless that is NULL, and then z, unless that
 * is NULL. */
static wg_real apply_to(wgi_core *c, unsigned op, size_t n, const wg_real *x, const wg_real *y,
                        const wg_real *z, const double *number, place at) {
    const size_t step = y != NULL ? 2 : 1, count = n * step + (z != NULL);
    const uint64_t used = c->scratch_used;
    operands o;
    wg_real result = wgi_nan();
    if (open_operands(c, op, count, &o)) {
        for (size_t i = 0; i < n; i++) {
            o.variable[step * i] = x[i];
            if (y != NULL) o.variable[2 * i + 1] = y[i];
        }
        if (z != NULL) o.variable[count - 1] = *z;
        result = record(c, op, count, &o, number != NULL ? n : 0, number, at);
    }
    c->scratch_used = used;
    return result;
}

/* The same, with everything checked. */
static wg_real apply(wg_tape *t, unsigned op, size_t n, const wg_real *x, const wg_real *y,
                     const wg_real *z, const double *number, place at) {
    if (t == NULL) return wgi_nan();
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return wgi_nan();
    wg_real result = wgi_nan();
    if (!refused(c, call_of(op), n, x)) result = apply_to(c, op, n, x, y, z, number, at);
    if (c->status != WG_OK) wgi_fail_where(c, at.file, at.line);
    return result;
}

/* The same for operations that have no value without operands. */
static wg_real apply_to_some(wg_tape *t, unsigned op, size_t n, const wg_real *x, place at) {
    if (n != 0 || t == NULL) return apply(t, op, n, x, NULL, NULL, NULL, at);
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return wgi_nan();
    wgi_fail(c, WG_ESHAPE, "%s: of 0 operands", call_of(op));
    wgi_fail_where(c, at.file, at.line);
    return wgi_nan();
}

#define ALL(name)                                                                              \
    wg_real wgi_##name##_at(const char *file, int line, wg_tape *t, size_t n,                  \
                            const wg_real *x) {                                                \
        return apply(t, WGI_ARRAY_##name, n, x, NULL, NULL, NULL, (place){file, line});        \
    }
ALL(sum)
ALL(product)
ALL(norm2)
ALL(squared_norm)
ALL(logsumexp)
#undef ALL

#define SOME(name)                                                                             \
    wg_real wgi_##name##_at(const char *file, int line, wg_tape *t, size_t n,                  \
                            const wg_real *x) {                                                \
        return apply_to_some(t, WGI_ARRAY_##name, n, x, (place){file, line});                  \
    }
SOME(maximum)
SOME(minimum)
SOME(mean)
#undef SOME

wg_real wgi_dot_at(const char *file, int line, wg_tape *t, size_t n, const wg_real *x,
                   const wg_real *y) {
    return apply(t, WGI_ARRAY_dot, n, y != NULL ? x : NULL, y, NULL, NULL, (place){file, line});
}
wg_real wgi_linear_at(const char *file, int line, wg_tape *t, size_t n, const double *c,
                      const wg_real *x) {
    return apply(t, WGI_ARRAY_linear, n, c != NULL ? x : NULL, NULL, NULL, c,
                 (place){file, line});
}
wg_real wgi_polynomial_at(const char *file, int line, wg_tape *t, size_t n, const wg_real *c,
                          wg_real z) {
    if (n == 0) return wgi_sum_at(file, line, t, 0, NULL); /* a constant, whatever z is */
    return apply(t, WGI_ARRAY_polynomial, n, c, NULL, &z, NULL, (place){file, line});
}

wg_real wgi_lookup_at(const char *file, int line, wg_tape *t, wg_real index, size_t n,
                      const wg_real *x) {
    const place at = {file, line};
    if (n == 0) return apply_to_some(t, WGI_ARRAY_lookup, 0, NULL, at);
    return apply(t, WGI_ARRAY_lookup, n, x, NULL, &index, NULL, at);
}

/* ---- comparisons ---- */

int wgi_guards(const wg_tape *t) {
    if (t == NULL) return 0;
    const wgi_core *const c = wgi_core_of_const(t);
    return (c->flags & WG_KEEP_CODE) != 0 && c->width == 0 && c->pauses == 0 && !c->passive;
}

static int guarded(wg_tape *t, unsigned comparison, int outcome, wg_real x, wg_real y) {
    static const char *const call[] = {"wg_lt", "wg_le", "wg_gt", "wg_ge", "wg_eq", "wg_ne"};
    if (t == NULL) return outcome;
    wgi_core *c = wgi_core_of(t);
    const wg_real side[] = {x, y};
    if (c->status != WG_OK || wgi_check_handles(c, call[comparison], 2, side) != WG_OK)
        return outcome;
    if (wgi_guards(t) && (x.at.slot | y.at.slot) != 0)
        (void)wgi_code_keep_guard(c, call[comparison], comparison, outcome, x, y);
    return outcome;
}

int(wg_lt)(wg_tape *t, wg_real x, wg_real y) { return guarded(t, 0, x.value < y.value, x, y); }
int(wg_le)(wg_tape *t, wg_real x, wg_real y) { return guarded(t, 1, x.value <= y.value, x, y); }
int(wg_gt)(wg_tape *t, wg_real x, wg_real y) { return guarded(t, 2, x.value > y.value, x, y); }
int(wg_ge)(wg_tape *t, wg_real x, wg_real y) { return guarded(t, 3, x.value >= y.value, x, y); }
int(wg_eq)(wg_tape *t, wg_real x, wg_real y) { return guarded(t, 4, x.value == y.value, x, y); }
int(wg_ne)(wg_tape *t, wg_real x, wg_real y) { return guarded(t, 5, x.value != y.value, x, y); }

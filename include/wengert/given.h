/* SPDX-License-Identifier: MIT */
/* A variable whose local derivatives are given: of a section of code that has computed its own
 * Jacobian in numbers, a row for each of its results. */
#ifndef WENGERT_GIVEN_H
#define WENGERT_GIVEN_H

#include <wengert/statement.h>

WG_BEGIN_DECLS

/* What the inline part does not do: constants among x, room, modes, mistakes. */
WGI_API wg_real wgi_let_given(wg_tape *t, double value, size_t n, const wg_real *x,
                              const double *partial, const char *file, int line);

WGI_API double wgi_chain(double p, double q); /* where p q is not a number */

/* wg_let_given - the variable y with that value and dy/dx[i] = partial[i]. A variable that
 * comes twice counts twice; constants have no derivative. Where all are constants, or nothing
 * is recorded (wg_tape_pause), y is a constant.
 * Shapes:  x, partial of n; n of any size. Both are read by the call only.
 * Adjoint: x_[i] += y_ partial[i], by the zero rule; tangents likewise.
 * Cost:    n / 2 records, rounded up, and a slot; inline where n is up to 24 and known to the
 *          compiler.
 * Errors:  (y is NaN, the tape keeps the status)  WG_ENULL: x or partial, where n is not 0;
 *          WG_ESTALE; WG_EMODE: a tape that keeps its code, as second derivatives and functions
 *          need it: partials that are given have no derivatives of their own; WG_ENONFINITE
 *          (traced tapes): value, or a partial; WG_ENOMEM, WG_EBUDGET, WG_ESLOTS. */
WG_API wg_real wg_let_given(wg_tape *t, double value, size_t n, const wg_real *x,
                            const double *partial);

/* wg_chain - p q, of two partial derivatives: 0 if one of them is, whatever the other. */
WGI_FUNCTION double wg_chain(double p, double q) {
    const double v = p * q;
    return WGI_UNLIKELY(__builtin_isnan(v)) ? wgi_chain(p, q) : v;
}

/* The most operands that are recorded inline; the limit of a tape leaves room for the first
 * eight. */
enum { WGI_GIVEN = 24, WGI_GIVEN_ROOM = 8 };

#ifdef __cplusplus
#define WGI_ADDRESS(p) reinterpret_cast<uintptr_t>(p)
#else
#define WGI_ADDRESS(p) ((uintptr_t)(p))
#endif
WGI_FUNCTION wg_real wgi_let_given_inline(wg_tape *t, double value, size_t n, const wg_real *x,
                                          const double *partial, const char *file, int line) {
    const wg_tape *const u = wgi_tape(t);
    uint64_t stamp = u->stamp, other = 0;
    stamp <<= 32;
    if (n == 0 || n > WGI_GIVEN || x == WGI_NULL || partial == WGI_NULL)
        return wgi_let_given(t, value, n, x, partial, file, line);
    for (size_t i = 0; i < n; i++) other |= wgi_word(x[i].at) ^ stamp;
    const uintptr_t more =
        n > WGI_GIVEN_ROOM ? (n - WGI_GIVEN_ROOM + 1) / 2 * sizeof(wgi_record) : 0;
    if (!((WGI_ADDRESS(u->top) + more < WGI_ADDRESS(u->limit)) & (other >> 32 == 0)))
        return wgi_let_given(t, value, n, x, partial, file, line);
    {
        wgi_record *const r = t->top;
        const uint32_t out = t->slots;
        uint64_t to = out;
        to <<= 32;
        WGI_AHEAD(r);
        t->slots = out + 1;
        for (size_t i = 0; i < n / 2; i++)
            WGI_RECORDS(r + i, to, wgi_word(x[2 * i].at), wgi_word(x[2 * i + 1].at),
                        partial[2 * i], partial[2 * i + 1]);
        if (n % 2 != 0)
            WGI_RECORDS(r + n / 2, to, wgi_word(x[n - 1].at), 0, partial[n - 1], 0.0);
        t->top = r + (n + 1) / 2;
        return wgi_result(t, value, out);
    }
}
/* Where n is known when it is compiled, the records are written where the call stands. */
#define wg_let_given(t, value, n, x, partial)                                                  \
    (__builtin_constant_p(n) && (n)-1u < WGI_GIVEN + 0u                                        \
         ? wgi_let_given_inline(t, value, n, x, partial, __FILE__, __LINE__)                   \
         : wgi_let_given(t, value, n, x, partial, __FILE__, __LINE__))

/* ---- one operand after the other ---- */

/* A variable that is being given its operands. */
typedef struct wg_terms {
    wg_tape *tape;
    uint32_t slot, stamp; /* its own, from the first operand on; 0: there is none yet */
    int half;             /* the last record has room for one more */
    int paused;           /* an operand came while nothing was recorded */
} wg_terms;

WGI_API void wgi_terms_add(wg_terms *s, wg_real x, double partial);

/* wg_terms_open, wg_terms_add, wg_terms_close - wg_let_given of operands that come one by one,
 * as in a loop whose turns are not counted before: open, add each of them, and close gives the
 * variable. Nothing else is recorded between the first of them and close; what is never closed
 * is a variable that nobody has.
 * Adjoint: as wg_let_given.
 * Cost:    half a record for each operand that is no constant, inline; one slot.
 * Errors:  as wg_let_given, the tape keeps the status from the operand on that was wrong;
 *          WG_EMODE: between operands something was recorded, the tape was reset, paused or
 *          resumed, or rewound, which is found as for a variable (wg_tape_rewind). */
WGI_FUNCTION wg_terms wg_terms_open(wg_tape *t) {
    wg_terms s;
    s.tape = t, s.slot = s.stamp = 0, s.half = s.paused = 0;
    return s;
}
WGI_FUNCTION void wg_terms_add(wg_terms *s, wg_real x, double partial) {
    wg_tape *const t = wgi_tape(s->tape);
    if ((t->top >= t->limit) | (x.at.stamp != t->stamp) | (s->slot + 1 != t->slots) |
        (s->stamp != t->stamp)) {
        wgi_terms_add(s, x, partial);
        return;
    }
    {
        wgi_record *const r = t->top;
        uint64_t to = s->slot;
        to <<= 32;
        if (s->half) {
            r[-1].in1 = x.at.slot, r[-1].jac1 = partial;
        } else {
            WGI_AHEAD(r);
            WGI_RECORDS(r, to, wgi_word(x.at), 0, partial, 0.0);
            t->top = r + 1;
        }
        s->half ^= 1;
    }
}
WG_API wg_real wg_terms_close(wg_terms *s, double value);

WG_END_DECLS

#endif

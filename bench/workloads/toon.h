/* SPDX-License-Identifier: MIT */
/* toon - advection as in lax_wendroff.h by the scheme of Toon et al. 1988, with an exponential
 * and a logarithm in every flux; from Hogan 2014.
 * The flux divides by the difference of two cells: its derivative loses all digits within some
 * tens of steps, whoever computes it. Compare after few steps; more of them are for timing. */
#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

static wg_real WG_NAME(toon)(wg_tape *t, const void *params, const wg_real *in, wg_real *work) {
    const struct advection_params *p = (const struct advection_params *)params;
    (void)t;
    const size_t n = p->cells;
    const double c = p->courant;
    wg_real *q = work, *flux = work + n;
    for (size_t i = 0; i < n; i++) q[i] = in[i];
    for (size_t step = 0; step < p->steps; step++) {
        for (size_t i = 0; i + 1 < n; i++)
            flux[i] = wg_let(
                t,
                wg_div(wg_mul(wg_mul(wg_sub(wg_exp(wg_mul(c, wg_log(wg_div(q[i], q[i + 1])))),
                                            1.0),
                                     q[i]),
                              q[i + 1]),
                       wg_sub(q[i], q[i + 1])));
        for (size_t i = 1; i + 1 < n; i++)
            q[i] = wg_let(t, wg_add(q[i], wg_sub(flux[i - 1], flux[i])));
        q[0] = q[n - 2];
        q[n - 1] = q[1];
    }
    wg_real f = wg_constant(0.0);
    for (size_t i = 0; i < n; i++) f = wg_let(t, wg_add(f, wg_mul(p->weight[i], q[i])));
    return f;
}

#ifdef BENCH_ONCE
static int toon_case(struct bench_case *b, size_t cells, size_t steps) {
    return advection_case(b, cells, steps, 4 * cells + 2 * cells * steps);
}

static void toon_forth(size_t n, double c, double *restrict q, double *restrict flux,
                       double *restrict left, double *restrict right) {
    for (size_t i = 0; i + 1 < n; i++) {
        const double a0 = q[i], a1 = q[i + 1], e = exp(c * log(a0 / a1)), d = a0 - a1;
        flux[i] = (e - 1) * a0 * a1 / d;
        left[i] = (c * e * a1 + (e - 1) * a1 - flux[i]) / d;
        right[i] = ((e - 1) * a0 - c * e * a0 + flux[i]) / d;
    }
    for (size_t i = 1; i + 1 < n; i++) q[i] += flux[i - 1] - flux[i];
}

static void toon_back(size_t n, const double *left, const double *right,
                      const double *restrict qb, double *restrict next) {
    next[0] = left[0] * qb[1];
    for (size_t i = 1; i + 1 < n; i++)
        next[i] = qb[i] + left[i] * (qb[i + 1] - qb[i]) + right[i - 1] * (qb[i] - qb[i - 1]);
    next[n - 1] = -right[n - 2] * qb[n - 2];
}

static void toon_handwritten(const struct bench_case *b, double *g) {
    const struct advection_params *p = (const struct advection_params *)b->params;
    const size_t n = p->cells;
    double *q = b->scratch, *flux = q + n, *qb = q + 2 * n, *next = q + 3 * n;
    double *keep = q + 4 * n; /* of each step: d flux[i] / d q[i], d flux[i] / d q[i + 1] */
    memcpy(q, b->x, n * sizeof *q);
    for (size_t step = 0; step < p->steps; step++, keep += 2 * n) {
        toon_forth(n, p->courant, q, flux, keep, keep + n);
        q[0] = q[n - 2];
        q[n - 1] = q[1];
    }
    memcpy(qb, p->weight, n * sizeof *qb);
    for (size_t step = 0; step < p->steps; step++) {
        keep -= 2 * n;
        qb[n - 2] += qb[0];
        qb[1] += qb[n - 1];
        qb[0] = qb[n - 1] = 0;
        toon_back(n, keep, keep + n, qb, next);
        double *swap = qb;
        qb = next;
        next = swap;
    }
    memcpy(g, qb, n * sizeof *g);
}
#endif

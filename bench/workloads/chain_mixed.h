/* SPDX-License-Identifier: MIT */
/* chain_mixed - as chain_arithmetic, with a sine, an exponential and a quotient among the eight
 * statements of a round.
 *
 * A pendulum x'' = -k sin x by the symplectic Euler method, step h; f accumulates exp(y)/d. The
 * motion is bounded and regular, its derivatives grow linearly.
 * Inputs: x, y, k, h, d, f. */
#ifndef WENGERT_BENCH_CHAIN_MIXED_H
#define WENGERT_BENCH_CHAIN_MIXED_H
struct chain_mixed_params {
    size_t rounds;
};
enum { CHAIN_MIXED_OPS = 8 };
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

static wg_real WG_NAME(chain_mixed)(wg_tape *t, const void *params, const wg_real *in,
                                    wg_real *work) {
    const struct chain_mixed_params *p = (const struct chain_mixed_params *)params;
    (void)t;
    (void)work;
    wg_real x = in[0], y = in[1], f = in[5];
    const wg_real k = in[2], h = in[3], d = in[4];
    for (size_t i = 0; i < p->rounds; i++) {
        wg_real s = wg_let(t, wg_sin(x));
        wg_real ks = wg_let(t, wg_mul(k, s));
        y = wg_let(t, wg_sub(y, ks));
        wg_real hy = wg_let(t, wg_mul(h, y));
        x = wg_let(t, wg_add(x, hy));
        wg_real e = wg_let(t, wg_exp(y));
        wg_real q = wg_let(t, wg_div(e, d));
        f = wg_let(t, wg_add(f, q));
    }
    return f;
}

#ifdef BENCH_ONCE
static int chain_mixed_case(struct bench_case *b, size_t rounds) {
    struct chain_mixed_params *p = bench_alloc(b, 1, sizeof *p);
    double *x = bench_doubles(b, 6);
    b->scratch_len = 4 * rounds;
    b->scratch = bench_doubles(b, b->scratch_len);
    if (!p || !x || !b->scratch) return -1;
    p->rounds = rounds;
    x[0] = 0.7;
    x[1] = -0.2;
    x[2] = 0.1;
    x[3] = 0.12;
    x[4] = 3.0;
    x[5] = 0.1;
    b->n = b->entries = 6;
    b->m = 1;
    b->x = x;
    b->params = p;
    return 0;
}

static void chain_mixed_handwritten(const struct bench_case *b, double *g) {
    const struct chain_mixed_params *p = (const struct chain_mixed_params *)b->params;
    double x = b->x[0], y = b->x[1];
    const double k = b->x[2], h = b->x[3], d = b->x[4];
    double *keep = b->scratch; /* of each round: sin x, cos x, the new y, exp(y)/d */
    for (size_t i = 0; i < p->rounds; i++, keep += 4) {
        keep[0] = sin(x);
        keep[1] = cos(x);
        y -= k * keep[0];
        x += h * y;
        keep[2] = y;
        keep[3] = exp(y) / d;
    }
    double xb = 0, yb = 0, kb = 0, hb = 0, qb = 0;
    for (size_t i = p->rounds; i-- > 0;) {
        keep -= 4;
        qb += keep[3];
        yb += keep[3] + h * xb;
        hb += xb * keep[2];
        kb -= yb * keep[0];
        xb -= yb * k * keep[1];
    }
    g[0] = xb;
    g[1] = yb;
    g[2] = kb;
    g[3] = hb;
    g[4] = -qb / d;
    g[5] = 1;
}
#endif

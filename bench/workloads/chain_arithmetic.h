/* SPDX-License-Identifier: MIT */
/* chain_arithmetic - a chain of statements of one operation with two active operands each: what
 * a statement costs and nothing else.
 *
 * A point (x, y) is rotated by the active pair (c, s), c^2 + s^2 = 1, and f accumulates w x:
 * eight statements a round. A rotation neither grows nor decays, so neither do the adjoints.
 * Inputs: x, y, c, s, w, f. */
#ifndef WENGERT_BENCH_CHAIN_ARITHMETIC_H
#define WENGERT_BENCH_CHAIN_ARITHMETIC_H
struct chain_arithmetic_params {
    size_t rounds;
};
enum { CHAIN_ARITHMETIC_OPS = 8 };
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

static wg_real WG_NAME(chain_arithmetic)(wg_tape *t, const void *params, const wg_real *in,
                                         wg_real *work) {
    const struct chain_arithmetic_params *p = (const struct chain_arithmetic_params *)params;
    (void)t;
    (void)work;
    wg_real x = in[0], y = in[1], f = in[5];
    const wg_real c = in[2], s = in[3], w = in[4];
    for (size_t i = 0; i < p->rounds; i++) {
        wg_real cx = wg_let(t, wg_mul(c, x));
        wg_real sy = wg_let(t, wg_mul(s, y));
        wg_real sx = wg_let(t, wg_mul(s, x));
        wg_real cy = wg_let(t, wg_mul(c, y));
        x = wg_let(t, wg_sub(cx, sy));
        y = wg_let(t, wg_add(sx, cy));
        wg_real r = wg_let(t, wg_mul(w, x));
        f = wg_let(t, wg_add(f, r));
    }
    return f;
}

#ifdef BENCH_ONCE
static int chain_arithmetic_case(struct bench_case *b, size_t rounds) {
    struct chain_arithmetic_params *p = bench_alloc(b, 1, sizeof *p);
    double *x = bench_doubles(b, 6);
    b->scratch_len = 2 * rounds;
    b->scratch = bench_doubles(b, b->scratch_len);
    if (!p || !x || !b->scratch) return -1;
    p->rounds = rounds;
    x[0] = 0.6;
    x[1] = -0.35;
    x[2] = 0.8;
    x[3] = 0.6;
    x[4] = 0.7;
    x[5] = 0.1;
    b->n = b->entries = 6;
    b->m = 1;
    b->x = x;
    b->params = p;
    return 0;
}

static void chain_arithmetic_handwritten(const struct bench_case *b, double *g) {
    const struct chain_arithmetic_params *p = (const struct chain_arithmetic_params *)b->params;
    double x = b->x[0], y = b->x[1];
    const double c = b->x[2], s = b->x[3], w = b->x[4];
    double *before = b->scratch; /* x and y before each round */
    double wb = 0;
    for (size_t i = 0; i < p->rounds; i++) {
        before[2 * i] = x;
        before[2 * i + 1] = y;
        const double xn = c * x - s * y;
        y = s * x + c * y;
        x = xn;
        wb += x;
    }
    double xb = 0, yb = 0, cb = 0, sb = 0;
    for (size_t i = p->rounds; i-- > 0;) {
        x = before[2 * i];
        y = before[2 * i + 1];
        xb += w;
        cb += xb * x + yb * y;
        sb += yb * x - xb * y;
        const double xn = c * xb + s * yb;
        yb = c * yb - s * xb;
        xb = xn;
    }
    g[0] = xb;
    g[1] = yb;
    g[2] = cb;
    g[3] = sb;
    g[4] = wb;
    g[5] = 1;
}
#endif

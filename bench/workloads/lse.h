/* SPDX-License-Identifier: MIT */
/* lse - the logarithm of a sum of exponentials. The largest x, taken as a number, is subtracted
 * from all of them before and added after; in the derivative it cancels. After mixture.h. */
#ifndef WENGERT_BENCH_LSE_H
#define WENGERT_BENCH_LSE_H
struct lse_params {
    size_t n;
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

static __attribute__((unused)) wg_real WG_NAME(lse)(wg_tape *t, const void *params,
                                                    const wg_real *x, wg_real *work) {
    const struct lse_params *p = (const struct lse_params *)params;
    wg_real f = wg_constant(0.0);
    (void)work;
    WG_NAME(mixture_lse)(t, &f, 1.0, p->n, x);
    return f;
}

#ifdef BENCH_ONCE
/* A case whose x is still zero. */
int bench_lse_case(struct bench_case *b, size_t n, double **x) {
    struct lse_params *p = bench_alloc(b, 1, sizeof *p);
    *x = bench_doubles(b, n);
    if (!p || !*x) return -1;
    p->n = b->size = b->n = b->entries = n;
    b->m = 1;
    b->x = *x;
    b->params = p;
    return 0;
}

static void lse_handwritten(const struct bench_case *b, double *g) {
    double top = b->x[0], sum = 0;
    for (size_t i = 1; i < b->n; i++) top = (b->x[i] > top ? b->x[i] : top);
    for (size_t i = 0; i < b->n; i++) sum += g[i] = exp(b->x[i] - top);
    for (size_t i = 0; i < b->n; i++) g[i] /= sum;
}
#endif

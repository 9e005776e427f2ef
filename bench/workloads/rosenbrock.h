/* SPDX-License-Identifier: MIT */
/* rosenbrock - sum over i of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2. */
#ifndef WENGERT_BENCH_ROSENBROCK_H
#define WENGERT_BENCH_ROSENBROCK_H
struct rosenbrock_params {
    size_t terms;
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

static wg_real WG_NAME(rosenbrock)(wg_tape *t, const void *params, const wg_real *x,
                                   wg_real *work) {
    const struct rosenbrock_params *p = (const struct rosenbrock_params *)params;
    (void)t;
    (void)work;
    wg_real f = wg_constant(0.0);
    for (size_t i = 0; i < p->terms; i++)
        f = wg_let(t,
                   wg_add(f, wg_add(wg_mul(100.0, wg_square(wg_sub(x[i + 1], wg_square(x[i])))),
                                    wg_square(wg_sub(1.0, x[i])))));
    return f;
}

#ifdef BENCH_ONCE
static int rosenbrock_case(struct bench_case *b, size_t terms) {
    struct rosenbrock_params *p = bench_alloc(b, 1, sizeof *p);
    double *x = bench_doubles(b, terms + 1);
    if (!p || !x) return -1;
    uint64_t seed = 2;
    for (size_t i = 0; i <= terms; i++) x[i] = bench_uniform(&seed, -1.5, 1.5);
    p->terms = terms;
    b->n = b->entries = terms + 1;
    b->m = 1;
    b->x = x;
    b->params = p;
    return 0;
}

static void rosenbrock_handwritten(const struct bench_case *b, double *restrict g) {
    const struct rosenbrock_params *p = (const struct rosenbrock_params *)b->params;
    const double *x = b->x;
    const size_t n = p->terms;
    g[0] = -400 * x[0] * (x[1] - x[0] * x[0]) - 2 * (1 - x[0]);
    for (size_t i = 1; i < n; i++)
        g[i] = 200 * (x[i] - x[i - 1] * x[i - 1]) - 400 * x[i] * (x[i + 1] - x[i] * x[i]) -
               2 * (1 - x[i]);
    g[n] = 200 * (x[n] - x[n - 1] * x[n - 1]);
}
#endif

/* SPDX-License-Identifier: MIT */
/* llsq - least squares as in GradBench: a polynomial with coefficients x[0] ... x[m-1] follows
 * the sign of t at n points t[i] = -1 + 2 i/(n - 1); half the sum of the squared residuals. */
#ifndef WENGERT_BENCH_LLSQ_H
#define WENGERT_BENCH_LLSQ_H
struct llsq_params {
    size_t m, n;
};

/* The place of a point, and the value there. */
static inline double llsq_place(const struct llsq_params *p, size_t i, double *sign) {
    const double t = 2 * (double)i / ((double)p->n - 1) - 1;
    *sign = (t > 0) - (t < 0);
    return t;
}
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

static wg_real WG_NAME(llsq)(wg_tape *t, const void *params, const wg_real *x, wg_real *work) {
    const struct llsq_params *p = (const struct llsq_params *)params;
    wg_real f = wg_constant(0.0);
    (void)t;
    (void)work;
    for (size_t i = 0; i < p->n; i++) {
        double sign;
        const double at = llsq_place(p, i, &sign), at2 = at * at, at3 = at2 * at;
        double power = 1;
        wg_real rest = wg_constant(sign);
        size_t j = 0;
        for (; j + 4 <= p->m; j += 4, power *= at2 * at2)
            rest = wg_let(t, wg_sub(rest, wg_add(wg_add(wg_mul(power, x[j]),
                                                        wg_mul(power * at, x[j + 1])),
                                                 wg_add(wg_mul(power * at2, x[j + 2]),
                                                        wg_mul(power * at3, x[j + 3])))));
        for (; j < p->m; j++, power *= at) rest = wg_let(t, wg_sub(rest, wg_mul(power, x[j])));
        f = wg_let(t, wg_add(f, wg_square(rest)));
    }
    return wg_let(t, wg_mul(0.5, f));
}

#ifdef BENCH_ONCE
/* A case whose x is still zero. */
int bench_llsq_case(struct bench_case *b, size_t m, size_t n, double **x) {
    struct llsq_params *p = bench_alloc(b, 1, sizeof *p);
    *x = bench_doubles(b, m);
    b->scratch_len = m;
    b->scratch = bench_doubles(b, m);
    if (!p || !*x || !b->scratch) return -1;
    p->m = m;
    p->n = n;
    b->size = n;
    b->n = b->entries = m;
    b->m = 1;
    b->x = *x;
    b->params = p;
    return 0;
}

static void llsq_handwritten(const struct bench_case *b, double *g) {
    const struct llsq_params *p = (const struct llsq_params *)b->params;
    double *power = b->scratch;
    memset(g, 0, p->m * sizeof *g);
    for (size_t i = 0; i < p->n; i++) {
        double rest, next = 1;
        const double t = llsq_place(p, i, &rest);
        for (size_t j = 0; j < p->m; j++, next *= t) {
            power[j] = next;
            rest -= b->x[j] * next;
        }
        for (size_t j = 0; j < p->m; j++) g[j] -= rest * power[j];
    }
}
#endif

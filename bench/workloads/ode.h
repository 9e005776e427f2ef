/* SPDX-License-Identifier: MIT */
/* ode - a chain of differential equations as in GradBench, y[i]' = x[i] y[i-1] and y[0]' =
 * x[0], from 0 at time 0 to time 2 by the classical Runge-Kutta method of fourth order. The
 * output is the last y. */
#ifndef WENGERT_BENCH_ODE_H
#define WENGERT_BENCH_ODE_H
struct ode_params {
    size_t n, steps;
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

/* k = the slope at z; unless `next` is NULL, next = y + h k */
static inline void WG_NAME(ode_stage)(wg_tape *t, size_t n, const wg_real *x, const wg_real *z,
                                      wg_real *k, const wg_real *y, double h, wg_real *next) {
    (void)t;
    k[0] = x[0];
    for (size_t i = 1; i < n; i++) k[i] = wg_let(t, wg_mul(x[i], z[i - 1]));
    for (size_t i = 0; next && i < n; i++) next[i] = wg_let(t, wg_add(y[i], wg_mul(h, k[i])));
}

static wg_real WG_NAME(ode)(wg_tape *t, const void *params, const wg_real *x, wg_real *work) {
    const struct ode_params *p = (const struct ode_params *)params;
    const size_t n = p->n;
    const double h = 2 / (double)p->steps;
    wg_real *y = work, *z2 = y + n, *z3 = z2 + n, *z4 = z3 + n;
    wg_real *k1 = z4 + n, *k2 = k1 + n, *k3 = k2 + n, *k4 = k3 + n;
    for (size_t i = 0; i < n; i++) y[i] = wg_constant(0.0);
    for (size_t step = 0; step < p->steps; step++) {
        WG_NAME(ode_stage)(t, n, x, y, k1, y, h / 2, z2);
        WG_NAME(ode_stage)(t, n, x, z2, k2, y, h / 2, z3);
        WG_NAME(ode_stage)(t, n, x, z3, k3, y, h, z4);
        WG_NAME(ode_stage)(t, n, x, z4, k4, y, 0, NULL);
        for (size_t i = 0; i < n; i++)
            y[i] = wg_let(
                t, wg_add(y[i], wg_mul(h / 6, wg_add(wg_add(k1[i], k4[i]),
                                                     wg_mul(2.0, wg_add(k2[i], k3[i]))))));
    }
    return y[n - 1];
}

#ifdef BENCH_ONCE
/* A case whose x is still zero. */
int bench_ode_case(struct bench_case *b, size_t n, size_t steps, double **x) {
    struct ode_params *p = bench_alloc(b, 1, sizeof *p);
    *x = bench_doubles(b, n);
    b->scratch_len = (4 * steps + 10) * n;
    b->scratch = bench_doubles(b, b->scratch_len);
    if (!p || !*x || !b->scratch) return -1;
    p->n = n;
    p->steps = steps;
    b->size = b->n = b->entries = n;
    b->m = 1;
    b->work = 8 * n;
    b->x = *x;
    b->params = p;
    return 0;
}

/* Of the four stages of a step back: zb[s] is the adjoint of stage s + 1's place, yb that of y
 * after the step, then before. */
static void ode_back(size_t n, double h, const double *x, const double *const z[4], double *kb,
                     double *zb, double *sum, double *yb, double *g) {
    static const double ahead[4] = {0, 0.5, 0.5, 1}, share[4] = {1, 2, 2, 1};
    memcpy(sum, yb, n * sizeof *sum);
    for (size_t s = 4; s-- > 0;) {
        const double own = h / 6 * share[s], back = s == 3 ? 0 : h * ahead[s + 1];
        for (size_t i = 0; i < n; i++) kb[i] = own * yb[i] + back * zb[i];
        g[0] += kb[0];
        for (size_t i = 1; i < n; i++) {
            g[i] += kb[i] * z[s][i - 1];
            zb[i - 1] = kb[i] * x[i];
            sum[i - 1] += zb[i - 1];
        }
        zb[n - 1] = 0;
    }
    memcpy(yb, sum, n * sizeof *yb);
}

static void ode_handwritten(const struct bench_case *b, double *g) {
    const struct ode_params *p = (const struct ode_params *)b->params;
    const size_t n = p->n;
    const double *x = b->x, h = 2 / (double)p->steps;
    double *at = b->scratch; /* of each step: y and the three places between */
    double *k = at + 4 * (p->steps + 1) * n, *sum = k + 4 * n, *yb = sum + n;
    memset(at, 0, n * sizeof *at);
    for (size_t step = 0; step < p->steps; step++, at += 4 * n) {
        double *y = at, *after = at + 4 * n;
        ode_stage_double(NULL, n, x, y, k, y, h / 2, at + n);
        ode_stage_double(NULL, n, x, at + n, k + n, y, h / 2, at + 2 * n);
        ode_stage_double(NULL, n, x, at + 2 * n, k + 2 * n, y, h, at + 3 * n);
        ode_stage_double(NULL, n, x, at + 3 * n, k + 3 * n, y, 0, NULL);
        for (size_t i = 0; i < n; i++)
            after[i] = y[i] + h / 6 * (k[i] + 2 * k[n + i] + 2 * k[2 * n + i] + k[3 * n + i]);
    }
    memset(g, 0, n * sizeof *g);
    memset(yb, 0, n * sizeof *yb);
    yb[n - 1] = 1;
    for (size_t step = p->steps; step-- > 0;) {
        at -= 4 * n;
        const double *const z[4] = {at, at + n, at + 2 * n, at + 3 * n};
        ode_back(n, h, x, z, k, k + n, sum, yb, g);
    }
}
#endif

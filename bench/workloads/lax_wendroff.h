/* SPDX-License-Identifier: MIT */
/* lax_wendroff - advection of a wave around a ring by the scheme of Lax and Wendroff, as in
 * Hogan 2014, "Fast reverse-mode automatic differentiation using expression templates in C++",
 * ACM TOMS 40(4). The output is a weighted sum of the final cells.
 * Inputs: the n initial cells; the two ends repeat cells of the other side. */
#ifndef WENGERT_BENCH_LAX_WENDROFF_H
#define WENGERT_BENCH_LAX_WENDROFF_H
struct advection_params {
    size_t cells, steps;
    double courant;
    const double *weight; /* of the final cells */
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

static wg_real WG_NAME(lax_wendroff)(wg_tape *t, const void *params, const wg_real *in,
                                     wg_real *work) {
    const struct advection_params *p = (const struct advection_params *)params;
    (void)t;
    const size_t n = p->cells;
    const double c = p->courant;
    wg_real *q = work, *flux = work + n;
    for (size_t i = 0; i < n; i++) q[i] = in[i];
    for (size_t step = 0; step < p->steps; step++) {
        for (size_t i = 0; i + 1 < n; i++)
            flux[i] = wg_let(t, wg_mul(0.5 * c, wg_add(wg_add(q[i], q[i + 1]),
                                                       wg_mul(c, wg_sub(q[i], q[i + 1])))));
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
static int advection_case(struct bench_case *b, size_t cells, size_t steps, size_t scratch) {
    struct advection_params *p = bench_alloc(b, 1, sizeof *p);
    double *x = bench_doubles(b, cells), *weight = bench_doubles(b, cells);
    b->scratch_len = scratch;
    b->scratch = bench_doubles(b, scratch);
    if (!p || !x || !weight || !b->scratch) return -1;
    uint64_t seed = 1;
    const double pi = 3.14159265358979323846;
    for (size_t i = 0; i < cells; i++) {
        x[i] = 0.5 + 0.5 * sin((double)i * 2 * pi / ((double)cells - 1.5)) + 0.0001;
        weight[i] = bench_uniform(&seed, 0.5, 1.5);
    }
    p->cells = cells;
    p->steps = steps;
    p->courant = 0.125;
    p->weight = weight;
    b->n = b->entries = cells;
    b->m = 1;
    b->work = 2 * cells;
    b->x = x;
    b->params = p;
    return 0;
}

static int lax_wendroff_case(struct bench_case *b, size_t cells, size_t steps) {
    return advection_case(b, cells, steps, 2 * cells);
}

static void lax_wendroff_back(size_t n, double c, const double *restrict qb,
                              double *restrict next) {
    /* flux[i] = left q[i] + right q[i + 1] was subtracted from cell i and added to i + 1 */
    const double left = 0.5 * c * (1 + c), right = 0.5 * c * (1 - c);
    next[0] = left * qb[1];
    for (size_t i = 1; i + 1 < n; i++)
        next[i] = qb[i] + left * (qb[i + 1] - qb[i]) + right * (qb[i] - qb[i - 1]);
    next[n - 1] = -right * qb[n - 2];
}

/* The scheme is linear: nothing has to be kept. */
static void lax_wendroff_handwritten(const struct bench_case *b, double *g) {
    const struct advection_params *p = (const struct advection_params *)b->params;
    const size_t n = p->cells;
    double *qb = b->scratch, *next = b->scratch + n;
    memcpy(qb, p->weight, n * sizeof *qb);
    for (size_t step = 0; step < p->steps; step++) {
        qb[n - 2] += qb[0];
        qb[1] += qb[n - 1];
        qb[0] = qb[n - 1] = 0;
        lax_wendroff_back(n, p->courant, qb, next);
        double *swap = qb;
        qb = next;
        next = swap;
    }
    memcpy(g, qb, n * sizeof *g);
}
#endif

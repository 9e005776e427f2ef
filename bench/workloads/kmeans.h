/* SPDX-License-Identifier: MIT */
/* kmeans - the sum over points of the squared distance to the closest of k centroids. What is
 * wanted is a step of Newton's method: the gradient over the diagonal of the Hessian, which is
 * all that the Hessian has. Inputs: the centroids. */
#ifndef WENGERT_BENCH_KMEANS_H
#define WENGERT_BENCH_KMEANS_H
struct kmeans_params {
    size_t n, k, d;
    const double *points; /* n-by-d, point after point */
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

static wg_real WG_NAME(kmeans_distance2)(wg_tape *t, size_t d, const double *x,
                                         const wg_real *c) {
    wg_real s = wg_constant(0.0);
    (void)t;
    for (; d >= 4; d -= 4, x += 4, c += 4)
        s = wg_let(t, wg_add(s, wg_add(wg_add(wg_square(wg_sub(c[0], x[0])),
                                              wg_square(wg_sub(c[1], x[1]))),
                                       wg_add(wg_square(wg_sub(c[2], x[2])),
                                              wg_square(wg_sub(c[3], x[3]))))));
    for (; d > 0; d--, x++, c++) s = wg_let(t, wg_add(s, wg_square(wg_sub(c[0], x[0]))));
    return s;
}

static wg_real WG_NAME(kmeans)(wg_tape *t, const void *params, const wg_real *c,
                               wg_real *work) {
    const struct kmeans_params *p = (const struct kmeans_params *)params;
    wg_real f = wg_constant(0.0);
    (void)work;
    for (size_t i = 0; i < p->n; i++) {
        const double *x = p->points + i * p->d;
        wg_real closest = WG_NAME(kmeans_distance2)(t, p->d, x, c);
        for (size_t j = 1; j < p->k; j++) {
            const wg_real s = WG_NAME(kmeans_distance2)(t, p->d, x, c + j * p->d);
            if (wg_value(s) < wg_value(closest)) closest = s;
        }
        f = wg_let(t, wg_add(f, closest));
    }
    return f;
}

#ifdef BENCH_ONCE
/* A case whose x and points are still zero. */
int bench_kmeans_case(struct bench_case *b, size_t n, size_t k, size_t d, double **x,
                      double **points) {
    struct kmeans_params *p = bench_alloc(b, 1, sizeof *p);
    *x = bench_doubles(b, k * d);
    *points = bench_doubles(b, n * d);
    b->scratch_len = k * d;
    b->scratch = bench_doubles(b, 2 * b->scratch_len); /* and a direction, all ones */
    if (!p || !*x || !*points || !b->scratch) return -1;
    for (size_t i = 0; i < k * d; i++) b->scratch[k * d + i] = 1;
    p->n = b->size = n;
    p->k = k;
    p->d = d;
    p->points = *points;
    b->n = b->entries = k * d;
    b->m = 1;
    b->x = *x;
    b->params = p;
    return 0;
}

/* What is left of gradient and Hessian: the centroid less the mean of the points it is closest
 * to. */
static void kmeans_handwritten(const struct bench_case *b, double *step) {
    const struct kmeans_params *p = (const struct kmeans_params *)b->params;
    double *count = b->scratch;
    memset(step, 0, b->n * sizeof *step);
    memset(count, 0, p->k * sizeof *count);
    for (size_t i = 0; i < p->n; i++) {
        const double *x = p->points + i * p->d;
        size_t closest = 0;
        double least = INFINITY;
        for (size_t j = 0; j < p->k; j++) {
            double s = 0;
            for (size_t l = 0; l < p->d; l++) {
                const double a = b->x[j * p->d + l] - x[l];
                s += a * a;
            }
            if (s < least) {
                least = s;
                closest = j;
            }
        }
        count[closest]++;
        for (size_t l = 0; l < p->d; l++)
            step[closest * p->d + l] += 2 * (b->x[closest * p->d + l] - x[l]);
    }
    for (size_t i = 0; i < b->n; i++) step[i] /= 2 * count[i / p->d];
}
#endif

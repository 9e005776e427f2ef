/* SPDX-License-Identifier: MIT */
/* det - the determinant by expansion along the first row, of the minors along theirs, and so
 * on: n! e products. Inputs: the matrix, row after row. */
#ifndef WENGERT_BENCH_DET_H
#define WENGERT_BENCH_DET_H
enum { DET_MOST = 16 };
struct det_params {
    size_t n;
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

/* Of the rows from `row` on and the columns in the list after that of number n. */
static wg_real WG_NAME(det_expand)(wg_tape *t, size_t n, const wg_real *a, size_t row,
                                   size_t *next) {
    wg_real sum = a[row * n + next[n]];
    double sign = 1;
    if (row + 1 == n) return sum;
    for (size_t before = n, j = next[n]; j < n; before = j, j = next[j]) {
        next[before] = next[j];
        const wg_real minor = WG_NAME(det_expand)(t, n, a, row + 1, next);
        next[before] = j;
        if (before == n) sum = wg_let(t, wg_mul(a[row * n + j], minor));
        else if (sign > 0) sum = wg_let(t, wg_add(sum, wg_mul(a[row * n + j], minor)));
        else sum = wg_let(t, wg_sub(sum, wg_mul(a[row * n + j], minor)));
        sign = -sign;
    }
    return sum;
}

static wg_real WG_NAME(det)(wg_tape *t, const void *params, const wg_real *a, wg_real *work) {
    const struct det_params *p = (const struct det_params *)params;
    size_t next[DET_MOST + 1];
    (void)work;
    for (size_t j = 0; j < p->n; j++) next[j] = j + 1;
    next[p->n] = 0;
    return WG_NAME(det_expand)(t, p->n, a, 0, next);
}

#ifdef BENCH_ONCE
/* A case whose entries are still zero. */
int bench_det_case(struct bench_case *b, size_t n, double **a) {
    struct det_params *p = bench_alloc(b, 1, sizeof *p);
    *a = bench_doubles(b, n * n);
    if (!p || !*a || n == 0 || n > DET_MOST) return -1;
    p->n = b->size = n;
    b->n = b->entries = n * n;
    b->m = 1;
    b->x = *a;
    b->params = p;
    return 0;
}

/* The expansion, and what each entry contributes to w times it. */
static double det_back(size_t n, const double *a, size_t row, size_t *next, double w,
                       double *g) {
    double sum = 0, sign = 1;
    if (row == n) return 1;
    for (size_t before = n, j = next[n]; j < n; before = j, j = next[j]) {
        next[before] = next[j];
        const double minor = sign * det_back(n, a, row + 1, next, w * sign * a[row * n + j], g);
        next[before] = j;
        g[row * n + j] += w * minor;
        sum += a[row * n + j] * minor;
        sign = -sign;
    }
    return sum;
}

static void det_handwritten(const struct bench_case *b, double *g) {
    const struct det_params *p = (const struct det_params *)b->params;
    size_t next[DET_MOST + 1];
    for (size_t j = 0; j < p->n; j++) next[j] = j + 1;
    next[p->n] = 0;
    memset(g, 0, b->n * sizeof *g);
    det_back(p->n, b->x, 0, next, 1, g);
}
#endif

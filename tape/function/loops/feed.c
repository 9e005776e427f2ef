/* SPDX-License-Identifier: MIT */
/* Matrices as points, and their adjoints. */
#include "feed.h"

int wgi_points_fit(const wg_argument *a, size_t points, size_t rows, size_t cols) {
    const size_t entries = wgi_argument_size(a);
    return (rows == entries && cols == points) ||
           (entries == 1 && rows == points && cols == 1) ||
           (points == 1 && rows == a->rows && cols == a->cols);
}

int wgi_points_of(size_t rows, size_t cols, size_t ld, unsigned trans, size_t entries,
                  ptrdiff_t *point, ptrdiff_t *entry) {
    const size_t down = trans ? ld : 1, across = trans ? 1 : ld;
    *entry = (ptrdiff_t)down;
    *point = (ptrdiff_t)(down * entries);
    if (cols <= 1 || across == down * rows) return 1;
    if (rows == entries) { /* a column per point */
        *point = (ptrdiff_t)across;
        return 1;
    }
    if (rows != 1) return 0;
    *entry = (ptrdiff_t)across; /* a matrix of one row is one point */
    *point = 0;
    return 1;
}

static size_t offset_of(const wg_block_arg *a, size_t i, size_t j, size_t ld) {
    return a->trans ? j + i * ld : i + j * ld;
}

wg_points wgi_points_in(const wg_block_arg *a, size_t entries, int bar, double *copy) {
    const double *const from = bar ? a->bar : a->value;
    const size_t ld = bar ? a->bar_ld : a->ld;
    wg_points x = {from, 0, 1};
    if (from == NULL ||
        wgi_points_of(a->rows, a->cols, ld, a->trans, entries, &x.point, &x.entry))
        return x;
    wgi_points_copy(a, from, ld, copy);
    return (wg_points){copy, 0, 1};
}

void wgi_points_copy(const wg_block_arg *a, const double *from, size_t ld, double *to) {
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) *to++ = from[offset_of(a, i, j, ld)];
}

void wgi_points_add(const wg_block_arg *a, const double *from, double *to, size_t ld) {
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) to[offset_of(a, i, j, ld)] += *from++;
}

/* Compilers do not use vectors at every level of optimisation, so this does. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

static void add_row(size_t n, const double *from, double *to) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        four *const b = (four *)(void *)(to + i);
        const four *const a = (const four *)(const void *)(from + i);
        const four low = a[0] + b[0], high = a[1] + b[1];
        b[0] = low;
        b[1] = high;
    }
    for (; i < n; i++) to[i] += from[i];
}

void wgi_points_accumulate(size_t points, size_t entries, wg_points from, wg_results to) {
    if (from.point == 1 && to.point == 1) {
        for (size_t e = 0; e < entries; e++)
            add_row(points, from.data + (ptrdiff_t)e * from.entry,
                    to.data + (ptrdiff_t)e * to.entry);
        return;
    }
    for (size_t p = 0; p < points; p++) {
        const double *const a = from.data + (ptrdiff_t)p * from.point;
        double *const b = to.data + (ptrdiff_t)p * to.point;
        for (size_t e = 0; e < entries; e++)
            b[(ptrdiff_t)e * to.entry] += a[(ptrdiff_t)e * from.entry];
    }
}

/* ---- adjoints of inputs ---- */

wg_results wgi_adjoint_bar(const wg_block_arg *a, size_t entries) {
    wg_results bar = {a->bar, 0, 1};
    if (!wgi_points_of(a->rows, a->cols, a->bar_ld, a->trans, entries, &bar.point, &bar.entry))
        bar.data = NULL;
    return bar;
}

wg_results wgi_adjoint_room(const wg_block_arg *a, size_t entries, size_t stride,
                            double *room) {
    if (wgi_adjoint_bar(a, entries).point == 1) return (wg_results){room, 1, (ptrdiff_t)stride};
    return (wg_results){room, (ptrdiff_t)entries, 1};
}

void wgi_adjoint_add(wg_block_arg *a, size_t entries, size_t first, size_t count,
                     wg_results w) {
    wg_results bar = wgi_adjoint_bar(a, entries);
    if (bar.data == NULL) {
        wgi_points_add(a, w.data, a->bar, a->bar_ld);
        return;
    }
    bar.data += (ptrdiff_t)first * bar.point;
    wgi_points_accumulate(count, entries, (wg_points){w.data, w.point, w.entry}, bar);
}

/* SPDX-License-Identifier: MIT */
/* Products with a Jacobian that an operation gives as a matrix, pair by pair of a result and an
 * operand: x_ += J' y_,  yt += J xt. Products with an exact 0 are 0. */
#include "ops/scalar/elementwise.h"

#include <string.h>

static size_t elements(const wg_block_arg *a) { return a->rows * a->cols; }

/* Where element c stands in the bar of an operand. */
static double *place(const wg_block_arg *a, size_t c) {
    const size_t i = c % a->rows, j = c / a->rows;
    return a->bar + (a->trans ? j + i * a->bar_ld : i + j * a->bar_ld);
}

size_t wg_jacobian_work(const wg_block *b) {
    size_t most = 0;
    if (b == NULL) return 0;
    for (size_t k = 0; k < b->outputs; k++)
        for (size_t i = 0; i < b->inputs; i++) {
            const size_t n = elements(&b->out[k]), m = elements(&b->in[i]);
            if (m != 0 && n > SIZE_MAX / 16 / m)
                return SIZE_MAX / 2; /* no memory is that large */
            if (n * m > most) most = n * m;
        }
    return most * sizeof(double);
}

/* The Jacobian of a pair, in the workspace; NULL: nothing depends on it, or *s says why not. */
static const double *jacobian_of(wg_block *b, wg_jacobian_fn *jacobian, size_t k, size_t i,
                                 wg_status *s) {
    const size_t size = elements(&b->out[k]) * elements(&b->in[i]);
    if (b->in[i].bar == NULL || size == 0) return NULL;
    memset(b->work, 0, size * sizeof(double));
    *s = jacobian(b, k, i, (double *)b->work);
    return *s == WG_OK ? (const double *)b->work : NULL;
}

wg_status wg_vjp_by_jacobian(wg_block *b, wg_jacobian_fn *jacobian) {
    wg_status s = WG_OK;
    if (b == NULL || jacobian == NULL) return WG_ENULL;
    for (size_t k = 0; k < b->outputs; k++)
        for (size_t i = 0; i < b->inputs && s == WG_OK; i++) {
            const size_t n = elements(&b->out[k]), m = elements(&b->in[i]);
            const double *const j = jacobian_of(b, jacobian, k, i, &s);
            for (size_t c = 0; j != NULL && c < m; c++) {
                double sum = 0;
                for (size_t r = 0; r < n; r++) sum += wgi_times(b->out[k].bar[r], j[r + c * n]);
                *place(&b->in[i], c) += sum;
            }
        }
    return s;
}

wg_status wg_jvp_by_jacobian(wg_block *b, wg_jacobian_fn *jacobian) {
    wg_status s = WG_OK;
    if (b == NULL || jacobian == NULL) return WG_ENULL;
    for (size_t k = 0; k < b->outputs; k++) {
        const size_t n = elements(&b->out[k]);
        for (size_t r = 0; r < n; r++) b->out[k].bar[r] = 0;
        for (size_t i = 0; i < b->inputs && s == WG_OK; i++) {
            const double *const j = jacobian_of(b, jacobian, k, i, &s);
            for (size_t c = 0; j != NULL && c < elements(&b->in[i]); c++) {
                const double xt = *place(&b->in[i], c);
                for (size_t r = 0; r < n; r++) b->out[k].bar[r] += wgi_times(j[r + c * n], xt);
            }
        }
    }
    return s;
}

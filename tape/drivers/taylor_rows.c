/* SPDX-License-Identifier: MIT */
/* Products of truncated series. Eight coefficients are computed side by side: each takes a_j
 * b_{k-j} in turn, where b is 0 in front of its beginning. The kernel is compiled for the
 * baseline and for AVX2; neither contracts a multiplication and an addition, so that both
 * give the same bits. */
#include "taylor_rows.h"

#include "tape/engine/tape.h"

#include <string.h>

enum { ROW = WGI_ROW_COEFFICIENTS, SIDE = 8 };

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long flags __attribute__((vector_size(32)));

/* Of b with SIDE zeros on both sides; what comes beyond n is of no use. Gives whether any v
 * may be NaN. */
#define KERNEL(NAME, ATTRIBUTE)                                                                \
    ATTRIBUTE static int NAME(size_t first, size_t n, const double *a, const double *b,        \
                              double *v) {                                                     \
        flags bad = {0};                                                                       \
        for (size_t k = first; k < n; k += SIDE) {                                             \
            const size_t end = k + SIDE <= n ? k + SIDE : n;                                   \
            const double *at = b + k;                                                          \
            four low = {0}, high = {0};                                                        \
            for (size_t j = 0; j < end; j++, at--) {                                           \
                low += *(const four *)(const void *)at * a[j];                                 \
                high += *(const four *)(const void *)(at + SIDE / 2) * a[j];                   \
            }                                                                                  \
            bad |= (low != low) | (high != high);                                              \
            *(four *)(void *)(v + k) = low;                                                    \
            *(four *)(void *)(v + k + SIDE / 2) = high;                                        \
        }                                                                                      \
        return (bad[0] | bad[1] | bad[2] | bad[3]) != 0;                                       \
    }

typedef int kernel(size_t first, size_t n, const double *a, const double *b, double *v);

#if defined(__x86_64__)
KERNEL(avx2, __attribute__((target("avx2"))))
#endif
KERNEL(base, )

static kernel *choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return avx2;
#endif
    return base;
}

/* v has room for SIDE more. */
static void product(size_t first, size_t n, const double *a, const double *b, double *v) {
    double padded[SIDE + ROW + SIDE];
    memset(padded, 0, SIDE * sizeof *padded);
    memcpy(padded + SIDE, b, n * sizeof *b);
    memset(padded + SIDE + n, 0, SIDE * sizeof *padded);
    if (!choose()(first, n, a, padded + SIDE, v)) return;
    for (size_t k = first; k < n; k++) {
        v[k] = 0;
        for (size_t j = 0; j <= k; j++) v[k] += wgi_product(a[j], b[k - j]);
    }
}

void wgi_row_product(size_t first, size_t n, const double *a, const double *b, double *v) {
    double all[ROW + SIDE];
    if (first >= n) return;
    product(first, n, a, b, all);
    memcpy(v + first, all + first, (n - first) * sizeof *v);
}

/* What is given to a_j is coefficient n - 1 - j of the product of b and the reverse of v. */
void wgi_row_product_adjoint(size_t n, const double *v, const double *b, double *a) {
    double reverse[ROW] = {0}, all[ROW + SIDE];
    for (size_t k = 0; k < n; k++) reverse[k] = v[n - 1 - k];
    product(0, n, b, reverse, all);
    for (size_t j = 0; j < n; j++) a[j] += all[n - 1 - j];
}

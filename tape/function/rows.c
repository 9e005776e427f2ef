/* SPDX-License-Identifier: MIT */
/* The adjoint of a stencil: rows are added where neighbours were read. One row after the other
 * would wait for what the one before has just stored, at places that are not aligned with it;
 * so each place takes from all rows at once. */
#include "rows.h"

/* Places [low, high) from `at` on, where every row has something to give. */
#define INNER(NAME, WIDTH, ATTRIBUTE)                                                          \
    typedef double NAME##_vector                                                               \
        __attribute__((vector_size(8 * (WIDTH)), aligned(8), may_alias));                      \
    ATTRIBUTE static void NAME(const wgi_rows *r, double *at, ptrdiff_t low, ptrdiff_t high) { \
        ptrdiff_t j = low;                                                                     \
        for (; j + (WIDTH) <= high; j += (WIDTH)) {                                            \
            NAME##_vector *const place = (NAME##_vector *)(void *)(at + j);                    \
            NAME##_vector sum = *place;                                                        \
            for (size_t k = 0; k < r->count; k++)                                              \
                sum +=                                                                         \
                    *(const NAME##_vector *)(const void *)(r->from[k] + (at + j - r->to[k]));  \
            *place = sum;                                                                      \
        }                                                                                      \
        for (; j < high; j++)                                                                  \
            for (size_t k = 0; k < r->count; k++) at[j] += r->from[k][at + j - r->to[k]];      \
    }

typedef void inner(const wgi_rows *r, double *at, ptrdiff_t low, ptrdiff_t high);

#if defined(__x86_64__)
INNER(avx2, 4, __attribute__((target("avx2"))))
INNER(avx512, 8, __attribute__((target("avx512f"))))
#endif
INNER(base, 2, )

static inner *choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return avx512;
    if (__builtin_cpu_supports("avx2")) return avx2;
#endif
    return base;
}

/* Where not all of them do. */
static void outer(size_t n, const wgi_rows *r, double *at, ptrdiff_t low, ptrdiff_t high) {
    for (ptrdiff_t j = low; j < high; j++)
        for (size_t k = 0; k < r->count; k++) {
            const ptrdiff_t i = at + j - r->to[k];
            if (i >= 0 && i < (ptrdiff_t)n) at[j] += r->from[k][i];
        }
}

void wgi_rows_add(size_t n, const wgi_rows *r) {
    if (r->count == 0 || n == 0) return;
    double *const at = r->to[0];
    ptrdiff_t first = 0, last = 0;
    for (size_t k = 1; k < r->count; k++) {
        const ptrdiff_t skip = r->to[k] - at;
        if (skip < first) first = skip;
        if (skip > last) last = skip;
    }
    const ptrdiff_t end = (ptrdiff_t)n;
    if (last >= end + first) {
        outer(n, r, at, first, end + last);
        return;
    }
    outer(n, r, at, first, last);
    choose()(r, at, last, end + first);
    outer(n, r, at, end + first, end + last);
}

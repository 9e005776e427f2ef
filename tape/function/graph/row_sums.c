/* SPDX-License-Identifier: MIT */
/* The adjoint of a stencil: rows are added to the places where neighbours were read. If one row
 * were added after the other, each would wait for what the row before has just stored, at
 * places that are not aligned with it; so each place takes from all rows at once. */
#include "row_sums.h"

#include <string.h>

/* Adds to the places [low, high) from `at` on, where all rows have something to give. */
#define INNER(NAME, WIDTH, ATTRIBUTE)                                                          \
    typedef double NAME##_vector                                                               \
        __attribute__((vector_size(8 * (WIDTH)), aligned(8), may_alias));                      \
    ATTRIBUTE static void NAME(const wgi_row_sums *r, double *at, ptrdiff_t low,               \
                               ptrdiff_t high) {                                               \
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

/* A vector of places takes from `count` rows at once. */
#define ROW(NAME, k) *(const NAME##_vector *)(const void *)(row[k] + i)
#define ROWS_1(NAME) *place + ROW(NAME, 0)
#define ROWS_2(NAME) ROWS_1(NAME) + ROW(NAME, 1)
#define ROWS_3(NAME) ROWS_2(NAME) + ROW(NAME, 2)
#define ROWS_4(NAME) ROWS_3(NAME) + ROW(NAME, 3)
#define ROWS_5(NAME) ROWS_4(NAME) + ROW(NAME, 4)
#define ROWS_6(NAME) ROWS_5(NAME) + ROW(NAME, 5)
#define ROWS_7(NAME) ROWS_6(NAME) + ROW(NAME, 6)
#define ROWS_8(NAME) ROWS_7(NAME) + ROW(NAME, 7)
#define GATHER(NAME, WIDTH, ATTRIBUTE, COUNT)                                                  \
    ATTRIBUTE static void NAME##_##COUNT(double *to, const double *const *from, size_t n) {    \
        const double *row[COUNT];                                                              \
        memcpy(row, from, sizeof row);                                                         \
        for (size_t i = 0; i < n; i += (WIDTH)) {                                              \
            NAME##_vector *const place = (NAME##_vector *)(void *)(to + i);                    \
            *place = ROWS_##COUNT(NAME);                                                       \
        }                                                                                      \
    }
#define GATHERS(NAME, WIDTH, ATTRIBUTE)                                                        \
    GATHER(NAME, WIDTH, ATTRIBUTE, 1)                                                          \
    GATHER(NAME, WIDTH, ATTRIBUTE, 2)                                                          \
    GATHER(NAME, WIDTH, ATTRIBUTE, 3)                                                          \
    GATHER(NAME, WIDTH, ATTRIBUTE, 4)                                                          \
    GATHER(NAME, WIDTH, ATTRIBUTE, 5)                                                          \
    GATHER(NAME, WIDTH, ATTRIBUTE, 6)                                                          \
    GATHER(NAME, WIDTH, ATTRIBUTE, 7)                                                          \
    GATHER(NAME, WIDTH, ATTRIBUTE, 8)                                                          \
    static gather *const NAME##_gather[] = {NAME##_1, NAME##_2, NAME##_3, NAME##_4,            \
                                            NAME##_5, NAME##_6, NAME##_7, NAME##_8};

typedef void gather(double *to, const double *const *row, size_t n);

typedef void inner(const wgi_row_sums *r, double *at, ptrdiff_t low, ptrdiff_t high);

#if defined(__x86_64__)
INNER(avx2, 4, __attribute__((target("avx2"))))
INNER(avx512, 8, __attribute__((target("avx512f"))))
GATHERS(avx2, 4, __attribute__((target("avx2"))))
GATHERS(avx512, 8, __attribute__((target("avx512f"))))
#endif
INNER(base, 2, )
GATHERS(base, 2, )

static inner *choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return avx512;
    if (__builtin_cpu_supports("avx2")) return avx2;
#endif
    return base;
}

/* The range is cut wherever a row begins or ends; places between two cuts take from the rows
 * that are there. */
void wgi_row_sums_add(size_t n, const wgi_row_sums *r) {
    if (r->count == 0 || n == 0) return;
    inner *const add = choose();
    double *const at = r->to[0];
    const ptrdiff_t rows = (ptrdiff_t)n;
    ptrdiff_t end = 0, low = 0;
    for (size_t k = 0; k < r->count; k++) {
        const ptrdiff_t first = r->to[k] - at;
        if (first < low) low = first;
        if (first + rows > end) end = first + rows;
    }
    for (ptrdiff_t high = end; low < end; low = high, high = end) {
        wgi_row_sums here = {.count = 0};
        for (size_t k = 0; k < r->count; k++) {
            const ptrdiff_t first = r->to[k] - at, last = first + rows;
            if (first > low && first < high) high = first;
            if (last > low && last < high) high = last;
            if (first > low || last <= low) continue;
            here.to[here.count] = r->to[k];
            here.from[here.count++] = r->from[k];
        }
        if (here.count != 0) add(&here, at, low, high);
    }
}

void wgi_row_sums_gather(size_t count, double *to, const double *const *row, size_t n) {
    gather *const *by = base_gather;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) by = avx512_gather;
    else if (__builtin_cpu_supports("avx2")) by = avx2_gather;
#endif
    by[count - 1](to, row, n);
}

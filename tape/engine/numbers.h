/* SPDX-License-Identifier: MIT */
/* numbers.h - arrays of numbers, of which n may be 0, and pointers NULL then. Internal. */
#ifndef WGI_TAPE_ENGINE_NUMBERS_H
#define WGI_TAPE_ENGINE_NUMBERS_H

#include <stddef.h>
#include <string.h>

static inline void wgi_clear(double *x, size_t n) {
    if (n != 0) memset(x, 0, n * sizeof *x);
}
/* They may be the same array. */
static inline void wgi_copy_numbers(double *to, const double *from, size_t n) {
    if (n != 0 && to != from) memcpy(to, from, n * sizeof *to);
}
static inline int wgi_all_zero(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return 0;
    return 1;
}
/* The same bits, or both NaN? */
static inline int wgi_same_number(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

#endif

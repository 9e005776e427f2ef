/* SPDX-License-Identifier: MIT */
/* spread.h - how far sizes of rows, columns or scales are from each other. */
#ifndef WENGERT_MATRIX_SPREAD_H
#define WENGERT_MATRIX_SPREAD_H

#include <math.h>

/* The smallest and the largest of some sizes, but for zeros. */
typedef struct wgi_spread {
    double low, high;
} wgi_spread;

#define WGI_NO_SPREAD ((wgi_spread){INFINITY, 0})

static inline void wgi_spread_add(wgi_spread *s, double size) {
    const double least = size == 0 ? INFINITY : size;
    s->low = least < s->low ? least : s->low, s->high = size > s->high ? size : s->high;
}
/* Is the largest more than so many times the smallest? */
static inline int wgi_spread_beyond(wgi_spread s, double times) {
    return s.high > times * s.low;
}

#endif

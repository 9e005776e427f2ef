/* SPDX-License-Identifier: MIT */
/* observations.h - what the examples with OpenMP fit: a decay with an offset, a exp(-b t) + c,
 * in noise with outliers. The misfit of an observation is log(1 + r^2) + s, r in units of
 * exp(s). */
#ifndef WENGERT_EXAMPLES_OBSERVATIONS_H
#define WENGERT_EXAMPLES_OBSERVATIONS_H

#include <math.h>
#include <stdio.h>

enum { OBSERVATIONS = 60000, N = 4 };

/* Sums of 60000 terms in another order. */
static const double rounding = 1e-12;

struct observations {
    double time[OBSERVATIONS], seen[OBSERVATIONS];
};

static inline void observe(struct observations *d) {
    unsigned state = 1;
    for (int i = 0; i < OBSERVATIONS; i++) {
        state = state * 1664525u + 1013904223u;
        const double noise = (state >> 8) / 16777216.0 - 0.5;
        d->time[i] = 5.0 * i / OBSERVATIONS;
        d->seen[i] = 2 * exp(-1.3 * d->time[i]) + 0.5 + (i % 50 == 7 ? 20 : 0.4) * noise;
    }
}

/* Are value and gradient the same, within that? */
static inline int differ(const double *a, const double *b, double within) {
    for (int i = 0; i <= N; i++)
        if (!(fabs(a[i] - b[i]) <= within * fabs(b[i]))) return 1;
    return 0;
}

static inline void print(const char *how, const double *y) {
    printf("%-12s %16.9f %14.6f %14.6f %14.6f %14.6f\n", how, y[0], y[1], y[2], y[3], y[4]);
}

#endif

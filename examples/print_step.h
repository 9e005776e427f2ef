/* SPDX-License-Identifier: MIT */
/* print_step.h - how the examples that minimise show their steps. */
#ifndef WENGERT_EXAMPLES_PRINT_STEP_H
#define WENGERT_EXAMPLES_PRINT_STEP_H

#include <stdio.h>
#include <wengert.h>

/* Steps 0, 1, 2, 5, 10, 20, 50, ..., a line each. */
static inline int print_step(void *context, const wg_minimise_step *s, size_t n,
                             const double *x) {
    size_t unit = s->step;
    (void)context, (void)n, (void)x;
    while (unit >= 10 && unit % 10 == 0) unit /= 10;
    if (s->step == 0) printf("%8s %14s %10s %9s\n", "step", "value", "|gradient|", "rate");
    if (unit <= 2 || unit == 5)
        printf("%8zu %14.7g %10.1e %9.2g\n", s->step, s->value, s->gradient, s->rate);
    return 0;
}

#endif

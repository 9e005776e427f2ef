/* SPDX-License-Identifier: MIT */
/* NIST StRD nonlinear regression: the problems and what is certified about them. */
#ifndef NIST_DATA_H
#define NIST_DATA_H

#include <wengert.h>

enum { NIST_MAX_PARAMETERS = 8, NIST_STARTS = 2 };

/* One observation, in the order of the published columns. */
struct nist_point {
    double y, x;
};

struct nist_problem {
    const char *name;
    const char *formula;
    wg_callback *model; /* residuals; takes the problem itself as its data (nist_models.h) */
    size_t observations;
    const struct nist_point *points;
    size_t parameters;
    double start[NIST_STARTS][NIST_MAX_PARAMETERS]; /* the first is far away, the second near */
    double certified[NIST_MAX_PARAMETERS];
    double deviation[NIST_MAX_PARAMETERS]; /* standard deviations of the parameters */
    double rss;                            /* residual sum of squares */
    double residual_deviation;             /* sqrt(rss / (observations - parameters)) */
};

extern const struct nist_problem nist_problems[];
extern const size_t nist_problem_count;

#endif

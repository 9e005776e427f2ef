/* SPDX-License-Identifier: MIT */
/* What examples that train a model share: one array of numbers for the optimiser, matrices for
 * the model; and random numbers that are the same everywhere. */
#ifndef TRAINING_H
#define TRAINING_H

#include <stdint.h>
#include <wengert.h>

/* The parameters of a model, on a tape: handed out in the order they are taken. */
struct parameters {
    wg_tape *tape;
    wg_mat all; /* n-by-1, the independent variable */
    size_t used;
};

/* parameters_begin - resets the tape and puts n numbers on it. */
struct parameters parameters_begin(wg_tape *t, size_t n, const double *x);

/* parameters_take - the next rows*cols of them as a matrix: a view. */
wg_mat parameters_take(struct parameters *p, size_t rows, size_t cols);

/* parameters_gradient - the value of y and the derivatives with respect to all; 0, or nonzero
 * after a failure. What an opt_function has to deliver. */
int parameters_gradient(struct parameters *p, wg_real y, double *value, double *g);

/* random_uniform - between 0 and 1.  random_normal - mean 0, variance 1.  The state is any
 * number.
 *
 * Source: Steele, Lea, Flood 2014 (splitmix64); Box, Muller 1958. */
double random_uniform(uint64_t *state);
double random_normal(uint64_t *state);

#endif

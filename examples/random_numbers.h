/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same everywhere. */
#ifndef RANDOM_NUMBERS_H
#define RANDOM_NUMBERS_H

#include <stdint.h>

/* random_uniform - between 0 and 1.  random_normal - mean 0, variance 1.  The state is any
 * number.
 *
 * Source: Steele, Lea, Flood 2014 (splitmix64); Box, Muller 1958. */
double random_uniform(uint64_t *state);
double random_normal(uint64_t *state);

#endif

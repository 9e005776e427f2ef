/* SPDX-License-Identifier: MIT */
/* walk_numbers.h - numbers that are the same in every run. */
#ifndef WENGERT_TEST_WALK_NUMBERS_H
#define WENGERT_TEST_WALK_NUMBERS_H

#include <stdint.h>

static inline uint64_t walk_random(uint64_t *seed) { /* splitmix64 */
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* In [-1, 1]. */
static inline double walk_number(uint64_t *seed) {
    return (double)(walk_random(seed) >> 11) * 0x1p-52 - 1;
}

#endif

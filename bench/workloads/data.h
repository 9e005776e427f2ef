/* SPDX-License-Identifier: MIT */
/* data.h - memory of a case and its reproducible numbers. */
#ifndef WENGERT_BENCH_DATA_H
#define WENGERT_BENCH_DATA_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../case.h"

/* bytes of zeroed memory that live as long as the case; NULL when there is none. */
static inline void *bench_alloc(struct bench_case *c, size_t count, size_t size) {
    if (c->blocks == BENCH_BLOCKS) return NULL;
    void *p = calloc(count ? count : 1, size);
    if (p) c->block[c->blocks++] = p;
    return p;
}

static inline double *bench_doubles(struct bench_case *c, size_t count) {
    return (double *)bench_alloc(c, count, sizeof(double));
}

/* A uniform number in [low, high). Source: Steele, Lea, Flood 2014 (SplitMix64). */
static inline double bench_uniform(uint64_t *state, double low, double high) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

#endif

/* SPDX-License-Identifier: MIT */
/* walk.h - recordings that look like anything: statements of 1 to 8 operands drawn at random,
 * with repeated operands and pairs, numbers, constants, partials that are 0.
 *
 * Every statement takes operands among the last few of x and gives a value in [-4, 4]. The same
 * seed gives the same statements, whatever the tape. */
#ifndef WENGERT_TEST_WALK_H
#define WENGERT_TEST_WALK_H

#include <math.h>
#include <string.h>
#include <wengert.h>
#include "walk_numbers.h"

/* Two variables in every pair, and a third. */
static inline wg_real walk_pairs(wg_tape *t, uint64_t kind, wg_real a, wg_real b, wg_real c) {
    switch (kind) {
    case 0:
        return wg_let(t, wg_sin(wg_add(wg_mul(a, b), wg_mul(a, b))));
    case 1:
        return wg_let(t, wg_sin(wg_add(wg_mul(a, b), wg_add(wg_mul(a, b), wg_mul(c, b)))));
    case 2:
        return wg_let(t, wg_cos(wg_add(wg_mul(a, b), wg_sub(wg_mul(a, b), wg_mul(a, b)))));
    case 3:
        return wg_let(t, wg_sin(wg_add(wg_add(wg_mul(a, b), wg_mul(a, b)), c)));
    case 4:
        return wg_let(t, wg_tanh(wg_add(wg_add(wg_mul(a, b), wg_mul(c, b)),
                                        wg_add(wg_mul(c, b), wg_mul(a, b)))));
    default:
        return wg_let(t, wg_tanh(wg_add(wg_add(wg_mul(a, b), wg_mul(a, b)),
                                        wg_add(wg_mul(a, b), wg_mul(a, b)))));
    }
}

static inline wg_real walk_statement(wg_tape *t, uint64_t *seed, const wg_real *x, size_t n) {
    const uint64_t r = walk_random(seed);
    const size_t near = n < 12 ? n : 12;
    const wg_real a = x[n - 1 - (r >> 8) % near], b = x[n - 1 - (r >> 16) % near];
    const wg_real c = x[(r >> 24) % n];
    const double k = walk_number(seed);
    switch (r % 16) {
    case 0:
        return wg_let(t, wg_sin(a));
    case 1:
        return wg_let(t, wg_mul(wg_mul(a, b), 0.25));
    case 2:
        return wg_let(t, wg_sub(wg_mul(k, a), wg_div(b, 3)));
    case 3:
        return wg_let(t, wg_fmax(a, b));
    case 4:
        return wg_let(t, wg_tanh(wg_add(wg_add(a, b), c)));
    case 5:
        return wg_let(t, wg_select_lt(a, k, wg_sin(b), wg_cos(c)));
    case 6:
        return wg_let(t, wg_floor(a)); /* partial 0 */
    case 7:
        return wg_let(t, wg_mul(wg_sqrt(wg_mul(a, 0.0)), b)); /* 0 times an infinity */
    case 8:
        return wg_let(t, wg_sin(wg_add(a, wg_constant(k))));
    case 9:
        return wg_let(t, wg_atan2(wg_add(a, 5), wg_add(b, k)));
    default:
        return walk_pairs(t, r % 16 - 10, a, b, c);
    }
}

/* x[0..inputs) are inputs, x[inputs..n) statements; x[from..n) are made. */
static inline void walk(wg_tape *t, uint64_t seed, size_t inputs, size_t from, size_t n,
                        wg_real *x) {
    for (size_t i = from; i < n; i++) {
        uint64_t own = seed + i * 0x632be59bd9b4e019u; /* of number i, wherever one starts */
        x[i] = i < inputs ? wg_input(t, walk_number(&own)) : walk_statement(t, &own, x, i);
    }
}

/* A variable that belongs to no recording of this tape. */
static inline wg_real walk_stranger(const wg_tape *t) {
    const wg_real x = {1, {1, t->stamp ^ 1}};
    return x;
}

static inline int same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }
/* Of results that may be NaN, the payload aside. */
static inline int same_number(double a, double b) {
    return same_bits(a, b) || (a != a && b != b);
}

#endif

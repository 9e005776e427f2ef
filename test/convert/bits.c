/* SPDX-License-Identifier: MIT */
/* The bits of a number, through a union, as libraries of mathematics take them: what comes back is a number.
 * options: --function f --with-respect-to x[0:2] --of return --accept-integers
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#include <math.h>
#include <stdint.h>

typedef union {
    double value;
    struct {
        uint32_t low, high;
    } parts;
} shape;

/* beside a pointer to what leads to itself */
typedef struct chain {
    struct chain *next;
    double value;
} chain;
typedef union {
    double value;
    chain *first;
    uint64_t whole;
} tagged;

/* exp(-x^2) without loss: z has the upper half of the digits of x, and z^2 is exact. */
double f(const double *x) {
    shape bits;
    tagged one;
    double z;
    bits.value = x[0];
    if ((bits.parts.high & 0x7fffffff) >= 0x7ff00000) return 1 / x[0];
    bits.parts.low = 0;
    z = bits.value;
    one.value = 0.5;
    if (one.whole == 0) return one.value;
    return exp(-z * z - 0.5) * exp((z - x[0]) * (z + x[0]) + x[1]);
}

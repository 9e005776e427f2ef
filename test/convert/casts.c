/* SPDX-License-Identifier: MIT */
/* Casts between numbers, of pointers and to void; integers in products.
 * options: --function f --with-respect-to x[0:n] --of return
 * inputs: 1.25 0.4 2
 * outputs: 1
 * call: out[0] = f(3, in, 0);
 * arguments: .n = 3, .x = in, .unused = 0
 */
#include <stddef.h>

double f(int n, const double *x, int unused) {
    const double *const p = (const double *)(const void *)x;
    double s = 0;
    (void)unused;
    for (size_t i = 0; i < (size_t)n; i++) s += (double)i * (double)p[i] / (n - 1);
    return s * (double)(n / 2) + (double)((int)2.9 * p[0]);
}

/* SPDX-License-Identifier: MIT */
/* Few inputs: iterations until they are near enough, jumps, returns on the way; outputs that a parameter counts.
 * about: blocks
 * options: --function few --with-respect-to x[0:3],*scale --of y[0:n],return
 * inputs: 0.7 1.9 -0.4 1.25
 * outputs: 6
 * call: out[5] = few(5, in, in + 3, out);
 * arguments: .n = 5, .x = in, .scale = in + 3
 */
#include <math.h>

/* The root of z exp(z) = a, by Newton's method. */
static double root_of(double a) {
    double z = a > 1 ? log(a) : a;
    int left = 50;
again:
    if (left-- == 0) return z;
    const double e = exp(z), step = (z * e - a) / (e * (z + 1));
    z -= step;
    if (fabs(step) > 1e-15 * (1 + fabs(z))) goto again;
    return z;
}

static double horner(const double *c, int n, double z) {
    double s = 0;
    while (n-- > 0) s = s * z + c[n];
    return s;
}

double few(int n, const double *x, const double *scale, double *y) {
    double work[4] = {1}, sum = 0;
    for (int i = 1; i < 4; i++) work[i] = x[i - 1] * *scale;
    for (int k = 0; k < n; k++) {
        y[k] = horner(work, 4, 0.1 * (k + 1));
        if (k % 2 != 0) continue;
        if (k == 4) break;
        y[k] *= root_of(fabs(y[k]) + x[1]);
    }
    for (int k = 0; k < n; k++) {
        sum += y[k] / (1 + k);
        if (sum > 100 * x[1]) return sum;
    }
    return sum + *scale;
}

/* SPDX-License-Identifier: MIT */
/* Conditions with effects: counters and assignments in while, do, for, if and switch.
 * options: --function f --with-respect-to x[0:3] --of y[0:3]
 * inputs: 0.6 1.3 -0.7
 * outputs: 3
 * call: f(4, in, out);
 * arguments: .n = 4, .x = in
 */
#include <math.h>

/* Clenshaw's sum. */
static double series(int n, const double *c, double x) {
    double y0 = 0, y1 = 0;
    c += n;
    while (n--) {
        const double y = 2 * x * y0 - y1 + *--c;
        y1 = y0, y0 = y;
    }
    return y0 - x * y1;
}

static double half(double v) { return v > 0.1 ? 0.5 * v : 0; }

void f(int n, const double *x, double *y) {
    double c[4] = {x[0], x[1] * x[2], x[2], 1}, v = x[1], last;
    int k = 0, i = 3;
    y[0] = series(n, c, x[0]) * series(n - 1, c, x[1]);
    while ((last = v), (v = half(v)) > 0) y[0] += sin(v * x[0]) * last;
    do c[k] *= x[k % 3] + 2;
    while (k++ < 2);
    y[1] = c[0] * c[1] * c[2] * k;
    for (; i-- > 0;) {
        if (k--) y[1] += c[i] * x[i];
        switch (k++) {
        case 2:
            c[i] *= c[i];
            break;
        default:
            c[i] += x[0] * k;
        }
        k--;
    }
    if (!k++) c[3] += x[1];
    y[2] = c[0] * c[1] * c[2] * c[3] + k;
}

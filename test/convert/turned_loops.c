/* SPDX-License-Identifier: MIT */
/* Loops by the kind of their counters and bounds, none of whose turns may be lost backwards.
 * about: adjoint
 * options: --function f --with-respect-to x[0:n] --of y[0:15]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 15
 * call: f(4, in, out);
 * arguments: .n = 4, .x = in
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double a01(int n, const double *x, double *y) {
    double s = 0;
    for (int i = 0; i < n * 0.6; i++) s += x[i] * x[i];
    y[0] = s;
    y[1] = 0;
    double h = 2.5;
    for (int i = 0; i < h; i++) y[1] += x[i] * x[i];
    return s;
}

static double a17(int n, const double *x, double *y) {
    double s = 0;
    unsigned m = 0;
    y[0] = 0;
    for (int i = m - 1; i >= 0; i--) y[0] += x[i] * x[i];
    size_t q = (size_t)n;
    for (int i = q - 1; i >= 0; i--) s += x[i] * x[i];
    for (int i = -1; i < (int)q; i++) s += x[0] * x[0];
    y[1] = 0;
    return s;
}

typedef unsigned u32;
static double b31(int n, const double *x, double *y) {
    double s = 0;
    u32 m = 0;
    y[0] = 0;
    for (int i = m - 1; i >= 0; i--) y[0] += x[i] * x[i];
    for (unsigned i = 4; i-- > 0;) s += x[i] * x[i];
    for (unsigned i = 3; i < 4; i--) s += x[i] * x[i];
    for (signed char c = 3; c >= 0; c--) s *= 1 + x[c];
    for (int i = n; i > 1; i -= 2) s += x[i - 1] * x[i - 2];
    for (int i = 0; i <= n - 1; i += 3) s += s * x[i];
    int i;
    for (i = 0; i < n; i++)
        ;
    for (i = i - 1; i > 0; --i) s += x[i] * x[i - 1];
    y[1] = x[i] * x[i];
    for (i = 0; i < 2; i++)
        for (int j = i; j < n; j++) s += x[i] * x[j] * s * 0.1;
    return s * x[i];
}

static double b32(int n, const double *x, double *y) {
    double s = 1;
    int i;
    for (i = 0; i < n; i++) {
        if (x[i] < 0) continue;
        if (i == 3) break;
        s *= x[i];
        switch (i) {
        case 0:
            s += x[1] * s; /* fall through */
        case 1:
            s *= x[0];
            break;
        default:
            s = s * s;
        }
    }
    y[0] = s;
    i = 0;
again:
    s = s * x[i] + s * s;
    if (++i < 3) goto again;
    y[1] = s;
    while (1) {
        double t = s * s;
        if (t > 1e-3 || i++ > 5) {
            y[1] += t * t;
            break;
        }
        s += t * x[0];
        do {
            s *= 0.9;
            if (s < 0) goto out;
        } while (i++ < 8);
    }
out:
    if (n > 3) {
        return s * x[3];
    }
    return s;
}

static double c48(int n, const double *x, double *y) {
    double s = 0;
    int m = n;
    for (int i = 0; i < m; i++) {
        s += x[i] * x[i] * s + x[i];
        if (i == 1) m = 3;
    }
    y[0] = s;
    int lo = 1, hi = 3;
    for (int i = lo; i <= hi; i++) s *= x[i];
    lo = 0;
    hi = 1;
    for (int i = lo; i <= hi; i++) s += s * x[i];
    for (int i = 0; i < n; i++) {
        s *= x[i];
        i += 1;
    }
    for (int i = 0; i < n; i++) {
        for (int j = n - 1; j > i; j--) s += x[j] * x[i] * s;
        for (int j = 5; j < i; j++) s = 0;
    }
    y[1] = s;
    return s;
}

void f(int n, const double *x, double *y) {
    y[2] = a01(n, x, y + 0);
    y[5] = a17(n, x, y + 3);
    y[8] = b31(n, x, y + 6);
    y[11] = b32(n, x, y + 9);
    y[14] = c48(n, x, y + 12);
}

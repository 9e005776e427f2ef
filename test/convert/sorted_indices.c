/* SPDX-License-Identifier: MIT */
/* Indices that are sorted by a global which depends on the inputs, also where nothing else does;
 * by another order; and numbers by how far they are from one.
 * adjoint: refused
 * options: --function f --with-respect-to x[0:4] --of return
 * inputs: 0.6 1.4 0.5 -0.8
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#include <stdlib.h>

static double key[4], centre;
static int places[4];

static int by_key(const void *a, const void *b) {
    const double p = key[*(const int *)a], q = key[*(const int *)b];
    return (p > q) - (p < q);
}
static int falling(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }
static int from_centre(const void *a, const void *b) {
    const double p = *(const double *)a - centre, q = *(const double *)b - centre;
    return (p * p > q * q) - (p * p < q * q);
}
static void order(void) { qsort(places, 4, sizeof *places, by_key); }

double f(const double *x) {
    double a[4], s = 0;
    for (int i = 0; i < 4; i++) {
        places[i] = i;
        key[i] = x[i] * x[(i + 1) % 4];
        a[i] = x[i] * x[i];
    }
    order();
    for (int i = 0; i < 4; i++) s += (i + 1) * x[places[i]] * key[i];
    qsort(places, 3, sizeof(int), falling);
    s *= x[places[0]];
    qsort(places, 4, 4, x[0] > 0 ? by_key : falling);
    centre = 3 * x[0];
    qsort(a, 4, sizeof *a, from_centre);
    for (int i = 0; i < 4; i++) s = s * x[places[i]] + (i + 1) * a[i] * centre;
    return s;
}

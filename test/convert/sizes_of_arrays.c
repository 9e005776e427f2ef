/* SPDX-License-Identifier: MIT */
/* Sizes of types that are arrays, of memory that variables stand in, of lengths that are known
 * when it runs, too; and as numbers.
 * options: --function f --with-respect-to x[0:n] --of return
 * inputs: 1.25 -0.5 2.5 0.75
 * outputs: 1
 * call: out[0] = f(4, in);
 * arguments: .n = 4, .x = in
 */
#include <stdlib.h>
#include <string.h>
struct part {
    double v[2];
    int n;
};
double f(int n, const double *x) {
    double *const a = malloc(sizeof(double[4])), *const b = malloc(2 * sizeof(double[n / 2])),
                  last[4];
    struct part *const p = calloc(1, sizeof(struct part[2]));
    memcpy(a, x, sizeof(double[4]));
    memcpy(b, a, sizeof(double[2][n / 2]));
    n = (int)(sizeof(double[4]) / sizeof(double));
    memcpy(last, b, sizeof(double[n]));
    double s = 1;
    for (int i = 0; i < n; i++) {
        p[i / 2].v[i % 2] = a[i] * last[n - 1 - i];
        s += p[i / 2].v[i % 2] * s;
    }
    free(a);
    free(b);
    free(p);
    return s;
}

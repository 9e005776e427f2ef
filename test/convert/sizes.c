/* SPDX-License-Identifier: MIT */
/* sizeof as a number, and of types by typeof.
 * adjoint: refused
 * options: --function f --with-respect-to x[0:3] --of y[0:2]
 * inputs: 1.25 0.4 2.5
 * outputs: 2
 * call: f(in, out);
 * arguments: .x = in, .y = (double[2]){0}
 */
#include <stdlib.h>
#include <string.h>

struct both {
    double a, b;
};
static double kept[4];

void f(const double *x, double *y) {
    const int n = 3;
    double v[n], c[2][2] = {{1, 1}, {1, 1}};
    struct both t[2] = {{x[0], x[1]}, {x[2], 1}};
    __typeof__(x[0]) z = x[2], most[2] = {x[0], 1};
    typeof(3) two = 2;
    double *const h = malloc(sizeof *h * (sizeof kept / sizeof *kept));
    memcpy(v, x, sizeof v);
    memcpy(kept, v, sizeof v);
    memset(h, 0, 4 * sizeof(h[0]));
    h[1] = x[0];
    y[0] = 0;
    for (size_t i = 0; i < (sizeof v) / sizeof(double); i++) y[0] += v[i] * kept[i] + h[i];
    for (size_t i = 0; i < (sizeof t) / sizeof(struct both); i++) y[0] += t[i].a * t[i].a;
    c[1][0] = x[1] * z;
    y[1] = c[1][0] * (double)(sizeof c / sizeof c[0] + (sizeof c) / sizeof(double));
    y[1] += x[0] * (sizeof x[0] == sizeof(double)) + x[1] * (sizeof *t == sizeof(struct both));
    y[1] += two * most[0];
    free(h);
}

/* SPDX-License-Identifier: MIT */
/* A result that is a structure, of the function itself.
 * options: --function f --with-respect-to a,b[0] --of return.{x,y}
 * inputs: 0.7 1.9
 * outputs: 2
 * call: { const struct vector r = f(in[0], in + 1, 3); out[0] = r.x, out[1] = r.y; }
 * arguments: .a = in[0], .b = in + 1, .n = 3
 */
#include <math.h>

struct vector {
    int n;
    double x, y;
};

struct vector f(double a, const double *b, int n) {
    struct vector r = {n, a * b[0], sin(a)};
    if (n == 0) return r;
    const struct vector before = f(r.x, b, n - 1);
    r.x *= before.y;
    r.y += before.x * before.n;
    return r;
}

/* SPDX-License-Identifier: MIT */
/* Fields and functions that macros declare.
 * options: --function f --with-respect-to x[0:2] --of y[0:1]
 * inputs: 0.5 -1.5
 * outputs: 1
 * call: f(in, out);
 * arguments: .x = in
 */
#define FIELD(type, name) type name[2]
#define FUNCTION(name) static const char name##_is[] = #name; static int name
typedef struct pair {
    FIELD(double, v);
} pair;
FUNCTION(product)(const pair *p, double *to) { *to = p->v[0] * p->v[1]; return product_is[0] != 0; }
void f(const double *x, double *y) {
    pair p;
    p.v[0] = x[0], p.v[1] = x[1];
    (void)product(&p, y);
}

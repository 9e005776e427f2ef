/* SPDX-License-Identifier: MIT */
/* Pointers to functions that are compared with functions, and with NULL.
 * options: --function f --with-respect-to x[0:3] --of return,y[0:2]
 * inputs: 0.5 1.9 0.2
 * outputs: 3
 * call: out[0] = f(in, out + 1);
 * arguments: .x = in
 */
#include <stddef.h>
typedef double (*fn)(double, const double *);
static double count(double v, const double *w) {
    (void)w;
    return v > 0 ? 2 : 3;
}
double square(double v, const double *w) { return v * v * w[1]; }
static double cut(double v, const double *w) { return v > w[0] ? w[0] : v; }
static int calls;
static double tick(double v, const double *w) {
    calls++;
    return w[calls % 3] * v;
}
struct op {
    fn run, also;
    const char *name;
};
static const struct op ops[] = {
    {count, NULL, "c"}, {square, cut, "s"}, {cut, tick, "u"}, {NULL, tick, "n"}};
static double all(const struct op *o, double v, const double *x) {
    double s = o->run ? o->run(v, x) : v;
    if (o->also != NULL) s *= (*o->also)(s, x);
    if (o->run == cut) s += x[2];
    return s;
}
static fn choose(double v) { return v > 1 ? square : cut; }
double f(const double *x, double *y) {
    double s = 0;
    calls = 0;
    for (int i = 0; i < 4; i++) {
        s += all(&ops[i], x[i % 3], x);
        y[i % 2] = s * x[0];
    }
    fn g = choose(x[1]);
    s += g(s, x);
    if (g == &square && ops[1].run == g && g != cut) s *= x[2];
    g = choose(x[0]);
    s += g(x[1], x);
    return s + ops[1].run(s, y);
}

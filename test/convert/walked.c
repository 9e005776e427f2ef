/* SPDX-License-Identifier: MIT */
/* A structure of numbers that is walked as an array.
 * options: --function f --with-respect-to c->a,c->b,c->c --of return
 * inputs: 1.25 0.4 2
 * outputs: 1
 * given: struct coefficients c = {in[0], in[1], in[2]};
 * call: out[0] = f(&c);
 * arguments: .c = &c
 */
struct coefficients {
    double a, b, c;
};

double f(const struct coefficients *c) {
    const double *p = &c->a;
    double s = 0;
    for (int i = 0; i < 3; i++) s = s * 0.5 + p[i] * p[i];
    return s;
}

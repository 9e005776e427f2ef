/* SPDX-License-Identifier: MIT */
/* Types of expressions: of numbers, of variables, of pointers, and in casts.
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 -0.5
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
double f(double x, double y) {
    const __typeof__(x * 2) a = x * y, b = 2;
    __auto_type c = a * b;
    __auto_type p = &c;
    __auto_type k = 3;
    __auto_type q = 2.0;
    __typeof__(c) d = 1.5, *r = &d, e[2] = {1, 2};
    __typeof__(p) s = p;
    e[0] = *s;
    q += x;
    return *p * c * k + q + *r * e[1] + (__typeof__(x))a + (__typeof__(x + y))2 * e[0];
}

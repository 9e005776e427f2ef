/* SPDX-License-Identifier: MIT */
/* Fields that lead to const numbers, and go on to pointers, arrays and arguments.
 * options: --function f --with-respect-to x[0:6],*k --of return
 * inputs: 0.7 1.9 -0.5 0.25 0.6 1.1 0.9
 * outputs: 1
 * call: out[0] = f(in, in + 6);
 * arguments: .x = in, .k = in + 6
 */
struct cursor {
    const double *at;
    int left;
};

static double next(struct cursor *c) {
    c->left--;
    return *c->at++;
}
static double first(const double *p, double v) { return p[0] * v; }

double f(const double *x, const double *k) {
    struct cursor c = {x, 6};
    const double *stack[6], *last = x;
    int top = 0;
    double s = x[0] * *k;
    while (c.left > 0) {
        const double v = next(&c);
        if (v > 0.5) stack[top++] = c.at - 1;
        s = s * v + *x + first(c.at - 1, s);
        if (v < 0) last = c.at;
    }
    while (top > 0) s += *stack[--top] * s * x[1];
    return s * *last;
}

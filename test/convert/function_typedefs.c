/* SPDX-License-Identifier: MIT */
/* Names of types of functions that only structures use.
 * options: --function f --with-respect-to x[0:3] --of x[0:3],return
 * inputs: 0.5 1.9 0.2
 * outputs: 4
 * given: double v[3] = {in[0], in[1], in[2]};
 * call: out[3] = f(v, 3);
 * call: for (int i = 0; i < 3; i++) out[i] = v[i];
 * arguments: .x = v, .n = 3
 */
typedef void step(double *a, int n, double *carry);
typedef double (*last)(double);

static void up(double *a, int n, double *carry) {
    for (int i = 0; i < n; i++) {
        a[i] += *carry;
        *carry = a[i] * 0.5;
    }
}
static void down(double *a, int n, double *carry) {
    while (n-- > 0) {
        *carry -= a[n];
        a[n] *= *carry + 1;
    }
}
static double half(double v) { return v / 2; }

struct plan {
    step *first, *second;
    last end;
    int times;
};

static double walk(const struct plan *p, double *a, int n, int depth) {
    double c = a[0];
    for (int k = 0; k < p->times; k++) (k % 2 ? p->second : p->first)(a, n, &c);
    if (depth > 0) {
        const struct plan q = {p->second, p->first, p->end, depth};
        c += walk(&q, a, n, depth - 1) * c;
    }
    return p->end(c);
}

double f(double *x, int n) {
    const struct plan p = {up, down, half, 3};
    return walk(&p, x, n, 2);
}

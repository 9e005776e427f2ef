/* SPDX-License-Identifier: MIT */
/* Pointers and their arithmetic: *p++, p - q, p[-1], pointers to pointers.
 * options: --function f --with-respect-to x[0:n] --of return,*last
 * inputs: 1.5 -0.25 2 0.75
 * outputs: 2
 * call: out[0] = f(in, 4, out + 1);
 * arguments: .x = in, .n = 4
 */
static void swap(double **a, double **b) {
    double *const t = *a;
    *a = *b;
    *b = t;
}

double f(const double *x, int n, double *last) {
    double first[8], second[8], *now = first, *next = second;
    const double *p = x, *const end = x + n;
    double *q = now;
    while (p != end) *q++ = *p++ * 1.5;
    for (int step = 0; step < 2; step++) {
        for (int i = 1; i < n; i++) next[i] = now[i] * (now + i)[-1];
        *next = *(now + n - 1);
        swap(&now, &next);
    }
    *last = now[(q - first) - 1];
    return now[0] + 2 * *(now + 1) + now[2];
}

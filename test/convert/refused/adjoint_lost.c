/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:3] --of return
 * says: refused/adjoint_lost.c:13: error: 'fill(c, k)' cannot be turned round: it changes numbers that derivatives ask for again
 */
static void fill(double *c, int k) {
    for (int i = 0; i < 3; i++) c[i] = k + i;
}

double f(const double *x, int n) {
    double c[3], s = 0;

    for (int k = 0; k < n; k++) {
        fill(c, k);
        for (int i = 0; i < 3; i++) s += c[i] * x[i] * x[i];
    }
    return s;
}

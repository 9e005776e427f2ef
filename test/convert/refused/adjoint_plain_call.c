/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_plain_call.c:10: error: 'next(&k)' cannot be turned round: it changes numbers that derivatives ask for again
 */
static void next(int *k) { (*k)++; }

double f(const double *x) {
    int k = 0;
    double s = x[k] * x[k];
    next(&k);
    return s * x[k];
}

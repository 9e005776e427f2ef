/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_plain_call.c:11: error: 'next(&k)' cannot be turned round: it changes numbers that derivatives ask for again
 */
extern void next(int *k); /* in another file */
extern int last(const int *k);

double f(const double *x) {
    int k = 0;
    double s = x[k] * x[k] * last(&k);
    next(&k);
    return s * x[k];
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/routine_unknown.c:9: error: 'cblas_drotg' gets 'a', which depends on the inputs, and is a routine of BLAS or LAPACK that is not converted: write it with others (doc/CONVERT.md) or in loops
 */
void cblas_drotg(double *a, double *b, double *c, double *s);

double f(double x) {
    double a[1] = {x}, b[1] = {2}, c, s;
    cblas_drotg(a, b, &c, &s);
    return a[0] * c;
}

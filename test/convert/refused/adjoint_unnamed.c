/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_unnamed.c:6: error: structure '(no name)' holds variables and is defined in a function: define it before that
 */
double f(const double *x) {
    struct {
        int a, b;
    } p = {2, 3};
    return x[p.a - 2] * p.b * x[1];
}

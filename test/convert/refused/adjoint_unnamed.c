/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_unnamed.c:6: error: structure '(no name)' holds variables and is defined in a function: define it before that
 */
double f(const double *x) {
    struct {
        double a, b;
    } p = {x[0], x[1]};
    return p.a * p.b;
}

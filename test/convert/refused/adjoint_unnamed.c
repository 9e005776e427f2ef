/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_unnamed.c:8: error: 'p' is of a type without a name, which cannot be turned round: give it a tag
 */
double f(const double *x) {
    struct {
        int a, b;
    } p = {2, 3};
    return x[p.a - 2] * p.b * x[1];
}

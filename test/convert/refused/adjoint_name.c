/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_name.c:5: error: 'x_b' cannot be turned round: the adjoint of 'x' has this name: give it another
 */
double f(const double *x, double x_b) { return x[0] * x[1] * x_b; }

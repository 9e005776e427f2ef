/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_two_parts.c:7: error: 'a ?: x[1]' cannot be turned round: write all three parts of it
 */
double f(const double *x) {
    const double a = x[0];
    return (a ?: x[1]) * x[0];
}

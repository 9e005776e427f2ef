/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_two_parts.c:7: error: 'a ?: x[i++]' cannot be turned round: write all three parts of it
 */
double f(const double *x) {
    int i = 0;
    const double a = x[i++], b = a ?: x[i++];
    return b * x[0];
}

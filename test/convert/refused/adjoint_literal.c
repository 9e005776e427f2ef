/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_literal.c:8: error: '(double[2]){x[0], x[1]}' cannot be turned round: it has no name
 */
static double product(const double *v) { return v[0] * v[1]; }

double f(const double *x) {
    return product((double[2]){x[0], x[1]});
}

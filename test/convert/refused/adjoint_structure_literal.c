/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_structure_literal.c:11: error: '(struct pair){x[0], x[1]}' cannot be turned round: a structure without a name is copied
 */
struct pair {
    double a, b;
};

double f(const double *x) {
    struct pair p;
    p = (struct pair){x[0], x[1]};
    return p.a * p.b;
}

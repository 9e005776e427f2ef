/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_pointers_copied.c:14: error: 'p' cannot be turned round: a structure with pointers to variables is copied
 */
struct part {
    double *of;
    double scale;
};
static double sum(struct part p) { return p.scale * (p.of[0] + p.of[1]); }

double f(const double *x) {
    double w[2] = {x[0] * x[0], x[1]};
    struct part p = {w, x[1]};
    return sum(p);
}

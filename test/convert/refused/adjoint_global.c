/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: refused/adjoint_global.c:5: error: 'kept' is global and leads to variables
 */
static const double *kept;

double f(const double *x) {
    kept = x;
    return kept[0] * kept[1];
}

/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x --of return
 * says: refused/adjoint_global.c:5: error: 'kept' depends on the inputs and is global
 */
static double kept;

double f(double x) {
    kept = x * x;
    return kept * x;
}

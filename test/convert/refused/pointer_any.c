/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: pointer_any.c:5: error: 'g' is called through a pointer, with 'x', which depends on the inputs, and may be any function: say which by --calls PARAMETER=FUNCTION
 */
double f(double (*g)(double), double x) { return g(x) * x; }

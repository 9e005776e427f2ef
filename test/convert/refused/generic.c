/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/generic.c:6: error: '_Generic(x, double: 3 * x, default: 1)': 'x' depends on the inputs, and the converter does not know this kind of expression
 */

double f(double x) { return _Generic(x, double: 3 * x, default: 1); }

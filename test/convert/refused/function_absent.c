/* SPDX-License-Identifier: MIT */
/* options: --function g --with-respect-to x --of return
 * says: refused/function_absent.c: error: no function 'g' is defined in the files given
 */
double f(double x) { return x * x; }

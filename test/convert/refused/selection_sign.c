/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x+1 --of return
 * says: (options): error: 'x+1': '+' is not understood
 */
double f(double x) { return x * x; }

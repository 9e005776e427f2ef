/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to z --of return
 * says: (options): error: 'z': f has no parameter, and the files no global variable, of that name
 */
double f(double x) { return x * x; }

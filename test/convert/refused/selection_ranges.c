/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:1][0:1][0:1][0:1][0:1] --of return
 * says: (options): error: 'x[0:1][0:1][0:1][0:1][0:1]': at most 4 ranges
 */
double f(double x[1][1][1][1][1]) { return x[0][0][0][0][0]; }

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to n --of return
 * says: (options): error: 'n' is int: name numbers, of a structure its fields
 */
double f(int n, double x) { return n * x; }

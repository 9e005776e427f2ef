/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: size_of_typeof.c:5: error: 'sizeof(__typeof__(x))' is the size of variables, and used as a number: write its type
 */
double f(double x) { return x * sizeof(__typeof__(x)); }

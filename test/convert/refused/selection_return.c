/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: (options): error: f returns nothing
 */
void f(double *x) { *x *= 2; }

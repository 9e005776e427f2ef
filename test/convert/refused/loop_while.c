/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_while.c:8: error: wengert: map stands before a for loop
 */

double f(const double *x) {
    int i = 0;
    /* wengert: map */
    while (i < 8) i++;
    return x[i - 1] * i;
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_branch.c:9: error: 'i % 2' cannot be in a loop that is one record: turns would not take the same way
 */

double f(const double *x) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) if (i % 2) s += x[i] * i;
    return s;
}

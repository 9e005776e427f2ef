/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_break.c:9: error: 'break' cannot be in a loop that is one record: it leaves the loop
 */
double f(const double *x, int n) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) {
        if (n == 3) break;
        s += x[i] * i;
    }
    return s;
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_from_number.c:8: error: 'x[(int)t[i]]' cannot be in a loop that is one record: where it is depends on numbers, or on what is not known
 */
double f(const double *x, const double *t) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) s += x[(int)t[i]] * t[i];
    return s;
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_float.c:9: error: 'last = w[i]' cannot be in a loop that is one record: numbers that are no double are changed
 */
float last;
double f(const double *x, const float *w) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) { last = w[i]; s += x[i] * x[i]; }
    return s;
}

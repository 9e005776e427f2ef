/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_prints.c:9: error: 'printf("%g", x[i])' cannot be in a loop that is one record: it is no assignment, and no call of a function of the files
 */
#include <stdio.h>
double f(const double *x) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) { s += x[i] * x[i]; printf("%g", x[i]); }
    return s;
}

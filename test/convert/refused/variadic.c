/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/variadic.c:17: error: 'sum' gets 'x', which depends on the inputs, and takes any number of arguments
 */
#include <stdarg.h>

static double sum(int n, ...) {
    va_list all;
    double s = 0;
    va_start(all, n);
    for (int i = 0; i < n; i++) s += va_arg(all, double);
    va_end(all);
    return s;
}

double f(double x) {
    return sum(2, x, 1.0);
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/read_by_pointer.c:20: error: 'copied' gets 'a', which depends on the inputs, and is not among the files given
 * says: refused/read_by_pointer.c:21: error: 'sum' gets '&y', which depends on the inputs, and takes any number of arguments
 * says: refused/read_by_pointer.c:22: error: 'copied' is called through a pointer
 */
#include <stdarg.h>

void copied(double *to, const double *from);
static double sum(int n, ...) {
    va_list more;
    double s = 0;
    va_start(more, n);
    while (n--) s += *va_arg(more, const double *);
    va_end(more);
    return s;
}
double f(double x) {
    double a[1] = {x}, b[2], y = 2 * x;
    copied(b, a);
    b[1] = sum(1, &y);
    void (*const by)(double *, const double *) = copied;
    by(b + 1, a);
    return b[0] + b[1];
}

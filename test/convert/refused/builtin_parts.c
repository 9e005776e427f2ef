/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * status: 0
 */
#include <math.h>

double f(double x) {
    double whole;
    float of_float;
    int e;
    const double rest = __builtin_modf(x, &whole);
    return rest * whole + modff((float)x, &of_float) * of_float + __builtin_frexp(x, &e) * e;
}

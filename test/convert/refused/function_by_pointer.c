/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/function_by_pointer.c:8: error: 'sin' is called through a pointer, with what depends on the inputs, and is not among the files given
 */
#include <math.h>

static double of(double (*g)(double), double x) { return g(x); }
double f(double x) { return of(sin, x); }

/* --function f --with-respect-to x[0:1] --of y[0:1]
 * A macro that stands for a function is expanded: dy/dx = cos(x). */
#include <math.h>
#define my_sin sin
void f(const double *x, double *y) { y[0] = my_sin(x[0]); }

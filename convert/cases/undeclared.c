/* --function f --with-respect-to x[0:2] --of y[0:1]
 * Functions of math.h without a declaration (C89): dy/dx = {exp(x0), 1/(2 sqrt(x1))}. Each is known by its name. */
void f(double *x, double *y) { y[0] = exp(x[0]) + sqrt(x[1]); }

/* --function f --with-respect-to x[0:2] --of y[0:1]
 * What is computed of a parameter that is written as an array is a pointer: work becomes one to variables.
 * dy/dx = {x1, x0}. */
static void g(double x[], double to[]) { to[0] = x[0] * x[1]; }
void f(double x[], double y[], double work[]) {
    int at = 2;
    g(x, work + at - 1);
    y[0] = work[1];
}

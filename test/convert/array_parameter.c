/* SPDX-License-Identifier: MIT */
/* Pointers computed of parameters that are written as arrays.
 * options: --function f --with-respect-to x[0:2] --of y[0:1]
 * inputs: 0.5 -1.5
 * outputs: 1
 * call: double work[2]; f((double *)in, out, work);
 * arguments: .x = (double *)in, .work = (double[2]){0}, .work_count = 2
 */
static void g(double x[], double to[]) { to[0] = x[0] * x[1]; }
void f(double x[], double y[], double work[]) {
    int at = 2;
    g(x, work + at - 1);
    y[0] = work[1];
}

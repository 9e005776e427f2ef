/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/unknown_pointer.c:9: error: 'fill' gets 'a', which depends on the inputs, and is not among the files given
 */
void fill(double *a);

double f(double x) {
    double a[2] = {x, 0};
    fill(a);
    return a[0] + a[1];
}

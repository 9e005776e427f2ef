/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/annotation_shared.c:8: error: 'a' is said to be passive, and may be the same memory as 'b', which is not
 */

double f(double x) {
    /* wengert: passive */
    double a[2] = {x, 2};
    double b[2] = {x, x}, *p = x > 0 ? a : b;
    p[1] = x * x;
    return b[1] * a[0];
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/loop_declares_both.c:7: error: 'double t = x, h = 0.5;' declares numbers and variables at once: declare them apart
 */
double f(double x) {
    double s = 0;
    for (double t = x, h = 0.5; h < 3; h += 1) s += t * h;
    return s;
}

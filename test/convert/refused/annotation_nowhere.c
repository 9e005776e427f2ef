/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/annotation_nowhere.c:8: error: wengert: passive stands before a declaration, or behind the name in one
 */

double f(double x) {
    double y = x;
    y *= 2; /* wengert: passive */
    return y;
}

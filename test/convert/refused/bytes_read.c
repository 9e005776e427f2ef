/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/bytes_read.c:6: error: 'y' holds variables and is used as two types
 */
double f(double x) {
    double y = x;
    return *(long long *)&y > 0 ? x : 2 * x;
}

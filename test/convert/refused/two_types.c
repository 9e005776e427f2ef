/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/two_types.c:6: error: 'y' holds variables and is used as two types, through a cast, a union or memory that is given out anew: give each type memory of its own
 */
double f(double x) {
    double y = x;
    unsigned long *const bits = (unsigned long *)&y;
    *bits &= ~1ul;
    return y;
}

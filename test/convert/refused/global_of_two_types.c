/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/global_of_two_types.c:5: error: 'kept' holds variables and is used as two types
 */
static double kept[4];

double f(double x) {
    kept[0] = x;
    ((float *)kept)[1] = 1;
    return kept[0];
}

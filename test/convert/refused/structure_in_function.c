/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/structure_in_function.c:7: error: structure 'pair' holds variables and is defined in a function: define it before that
 */

double f(double x) {
    struct pair {
        double a, b;
    } p = {x, 2 * x};
    return p.a * p.b;
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/structure_as_number.c:6: error: 'u' holds variables and is used as two types
 */
struct counted {
    double u;
    int n;
};

double f(double x) {
    struct counted s = {x, 3};
    return *(double *)&s * s.n;
}

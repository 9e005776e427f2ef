/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union_pointers.c:5: error: a field of union
 */
union way {
    double *to;
    const double *from;
};
double f(double x) {
    double y = x;
    union way w;
    w.to = &y;
    return x * *w.from;
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union_any.c:5: error: a field of union
 */
union way {
    void *to;
    const double *from;
};
double f(double x) {
    double y = x * x;
    union way w;
    w.to = &y;
    return *w.from * 2;
}

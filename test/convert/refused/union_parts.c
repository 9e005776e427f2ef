/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union_parts.c:5: error: a field of union
 */
union ways {
    struct {
        int n;
        double *to;
    } there;
    struct {
        int n;
        const double *from;
    } back;
};
double f(double x) {
    double y = x * x;
    union ways w;
    w.there.to = &y;
    return *w.back.from * 2;
}

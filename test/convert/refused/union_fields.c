/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union_fields.c:5: error: a field of union
 */
union point {
    struct {
        double x, y;
    } named;
    double at[2];
};
double f(double x) {
    union point p;
    p.named.x = x, p.named.y = 2;
    return p.at[0] * p.at[1];
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/braces.c:11: error: write the braces around the elements of 'v'
 */
struct s {
    double v[2];
    int n;
};

double f(double x) {
    struct s a = {x, x, 2};
    return a.v[0] * a.v[1] * a.n;
}

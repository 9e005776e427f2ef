/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/two_structures.c:13: error: 's' holds variables and is used as two types
 */
struct point {
    double u, v;
};
struct place {
    double p, q;
};

double f(double x) {
    struct point s = {x, x};
    struct place *const t = (struct place *)&s;
    return t->p * t->q;
}

/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to p->inner.v[0:2] --of return
 * says: 'p->inner.v[0:2]' leads through 'v', a pointer that is not copied: make it a parameter
 */
struct part {
    struct {
        double *v;
    } inner;
};
double f(const struct part *p) { return p->inner.v[0] * p->inner.v[1]; }

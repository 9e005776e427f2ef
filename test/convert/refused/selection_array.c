/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to s[0:2].{p,q} --of return
 * says: 's[0:2].p' is double[2] for each element: name its numbers, as in [0:3]
 */
struct item {
    double p[2], q;
};

double f(const struct item *s) { return s[0].p[0] * s[1].p[1] + s[0].q * s[1].q; }

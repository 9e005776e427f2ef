/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to p->rows[1][0:2] --of return
 * says: 'p->rows[1][0:2]' leads through 'rows', a pointer that is not copied: make it a parameter
 */
struct part {
    double *rows[2];
};
double f(const struct part *p) { return p->rows[1][0] * p->rows[1][1]; }

/* SPDX-License-Identifier: MIT */
/* Indices that stand before arrays: in loops that are written out, of memory that is also named
 * in the other way, of fields and rows.
 * options: --function f --with-respect-to x[0:3] --of return
 * inputs: 1.25 -0.5 2.5
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 * about: regions
 */
struct part {
    double v[3];
    int i;
};
double f(const double *x) {
    struct part t = {.i = 1}, *const p = &t;
    int k;
    double s = 0, m[2][2] = {{x[0], 1}, {0, x[2]}}, *const q = 1 [m];
    for (k = 0; k < 3; k++) s += k[x] * k[x] * x[1];
    for (k = 0; k < 3; k++) k[t.v] = k[x] * s;
    (*p).i[p->v] *= 2;
    1 [0 [m]] += x[1];
    q[0] = 0 [m][1] * x[0];
    0 [q] -= x[2];
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) s += b[a[m]] * (a + b + 1);
    return s * q[0] + t.v[1] * 2 [p->v];
}

/* SPDX-License-Identifier: MIT */
/* Pointers to const numbers, whose addresses are taken.
 * options: --function f --with-respect-to x[0:4] --of return
 * inputs: 0.5 1.9 0.2 1.1
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
static double take(const double **p) { return *(*p)++; }

double f(const double *x) {
    const double *p = x, *row[2] = {x, x + 2}, *const all[2] = {x + 1, x};
    double s = 1;
    for (int i = 0; i < 4; i++) s = s * take(&p) + *x;
    for (int i = 0; i < 4; i++) s = s * take(&row[i % 2]) + *all[i % 2];
    return s;
}

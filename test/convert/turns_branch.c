/* SPDX-License-Identifier: MIT */
/* A loop in whose turns an element is read in a branch.
 * about: regions
 * options: --function f --with-respect-to x[0:4],end --of return
 * inputs: 0.25 1.5 2.75 4 3.1
 * outputs: 1
 * call: out[0] = f(4, in, in[4]);
 * arguments: .n = 4, .x = in, .end = in[4]
 */

/* The integral of t^2 from the first of x to `end`, interval by interval. */
static void area(const double *x, int n, double end, double *sum) {
    double s = 0, to;
    int low = 0, high = 1;
    while (end > x[low] && high < n) {
        to = end;
        if (high < n - 1) {
            if (end < x[high]) to = end;
            else to = x[high];
        }
        s += (to - x[low]) * (to * to + to * x[low] + x[low] * x[low]) / 3;
        low++;
        high++;
    }
    *sum = s;
}

double f(int n, const double *x, double end) {
    double s;
    area(x, n, end, &s);
    return s * x[1];
}

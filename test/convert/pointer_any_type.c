/* SPDX-License-Identifier: MIT */
/* Arguments by void *, which the function takes for one type: a structure, numbers, and what
 * has no variables.
 * options: --function f --with-respect-to data->by,x[0:2] --of return,more[0]
 * inputs: 0.6 1.4 -0.5
 * outputs: 2
 * given: struct data settings = {in[0], 2, {3}}; int last = 1; double more[1] = {0.5};
 * call: out[0] = f(in + 1, &settings, more, &last); out[1] = more[0];
 * arguments: .x = in + 1, .data = &settings, .more = more, .more_count = 1, .last = &last
 */
#include <math.h>

struct data {
    double by;
    int n;
    double rest[1];
};

double f(const double *x, const void *data, void *more, void *last) {
    const struct data *const d = (const struct data *)data;
    double *to;
    to = more;
    const int *const k = last;
    double s = d->rest[0];
    for (int i = 0; i < d->n; i++) s += d->by * x[i] * x[*k];
    to[0] = s * to[0] + d->by;
    return s;
}

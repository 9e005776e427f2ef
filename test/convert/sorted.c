/* SPDX-License-Identifier: MIT */
/* Places that are sorted by numbers, which no output depends on.
 * options: --function f --with-respect-to x[0:3] --of y[0:2]
 * inputs: 1.25 0.4 2.5
 * outputs: 2
 * call: f(in, out);
 * arguments: .x = in, .y = (double[2]){0}
 */
#include <stdlib.h>

struct place {
    double key;
    int i;
};

static int compare(const void *a, const void *b) {
    const struct place *const p = a, *const q = b;
    return (p->key > q->key) - (p->key < q->key);
}

void f(const double *x, double *y) {
    struct place a[3];
    for (int i = 0; i < 3; i++) a[i].key = x[i], a[i].i = i;
    qsort(a, 3, sizeof *a, compare);
    y[0] = x[a[0].i] * 2;
    y[1] = x[a[2].i] * x[a[1].i];
}

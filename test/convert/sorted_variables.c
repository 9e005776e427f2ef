/* SPDX-License-Identifier: MIT */
/* Numbers and structures that are sorted by values which depend on the inputs.
 * options: --function f --with-respect-to x[0:n] --of y[0:6]
 * inputs: 1.25 0.4 2.5 -0.75 0.45 3.5
 * outputs: 6
 * call: f(6, in, out);
 * arguments: .n = 6, .x = in
 */
#include <stdlib.h>

typedef struct {
    int i;
    double key, weight;
} place;

static int rising(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int falling(const void *a, const void *b) {
    const place *const p = a, *const q = b;
    if (p->key > q->key) return -1;
    return p->key < q->key;
}

void f(int n, const double *x, double *y) {
    double sorted[6], none[1] = {x[0]};
    place places[6];
    for (int i = 0; i < n; i++) {
        sorted[i] = x[i] * x[i];
        places[i].i = i;
        places[i].key = x[i];
        places[i].weight = x[i] * x[(i + 1) % n];
    }
    qsort(sorted, (size_t)n, sizeof *sorted, rising);
    qsort(sorted + 1, 4, sizeof(double), rising);
    qsort(places, (size_t)n, sizeof(place), &falling);
    qsort(none, 0, sizeof(double), rising);
    y[0] = sorted[0] * sorted[1] + sorted[5];
    y[1] = sorted[2] - sorted[4] * sorted[3];
    y[2] = places[0].weight + places[5].weight * places[1].i;
    y[3] = places[3].weight * places[3].i;
    y[4] = places[4].weight * places[4].i;
    y[5] = none[0] * places[2].key;
}

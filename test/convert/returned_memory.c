/* SPDX-License-Identifier: MIT */
/* Functions that return memory of their own, and pointers that are found in loops.
 * options: --function f --with-respect-to x[0:3] --of y[0:2]
 * inputs: 1.25 -0.5 2
 * outputs: 2
 * call: f(in, out);
 * arguments: .x = in, .y = (double[2]){0}
 */
#include <stdlib.h>

typedef struct matrix {
    int rows, cols;
    double *data;
} matrix;

static double *zeros(int n) { return calloc((size_t)n, sizeof(double)); }
static matrix *made(int rows, int cols) {
    matrix *m = malloc(sizeof *m);
    m->rows = rows;
    m->cols = cols;
    m->data = zeros(rows * cols);
    return m;
}
static double *at(const matrix *m, int i, int j) {
    if (i >= m->rows) return NULL;
    return &m->data[i * m->cols + j];
}
static double *largest(const matrix *m) {
    double *best = m->data;
    for (int i = 0; at(m, i, 0) != NULL; i++)
        for (int j = 0; j < m->cols; j++)
            if (*at(m, i, j) > *best) best = at(m, i, j);
    return best;
}

void f(const double *x, double *y) {
    matrix *a = made(2, 2), *b = made(2, 2);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) *at(a, i, j) = x[i + j] * x[j];
    for (int i = 0; i < 3; i++) {
        double *p = at(i == 1 ? b : a, i % 2, 1);
        *p = *p * x[i] + a->data[0];
        matrix *const c = a;
        a = b;
        b = c;
    }
    y[0] = *largest(a) * *largest(b);
    y[1] = *at(a, 1, 1) - b->data[2] * b->data[2];
    free(a->data);
    free(b->data);
    free(a);
    free(b);
}

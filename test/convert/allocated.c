/* SPDX-License-Identifier: MIT */
/* malloc, calloc, realloc by sizeof; lists that are linked; free.
 * adjoint: refused
 * options: --function f --with-respect-to x[0:n] --of return
 * inputs: 1.25 0.4 -2
 * outputs: 1
 * call: out[0] = f(3, in);
 * arguments: .n = 3, .x = in
 */
#include <stdlib.h>

struct node {
    double value;
    struct node *next;
};

static struct node *pushed(struct node *list, double value) {
    struct node *const n = malloc(sizeof *n);
    n->value = value;
    n->next = list;
    return n;
}

double f(int n, const double *x) {
    struct node *list = NULL;
    double *work = malloc((size_t)n * sizeof(double)), s = 0;
    for (int i = 0; i < n; i++) {
        work[i] = x[i] * x[i];
        list = pushed(list, work[i] - x[0]);
    }
    work = realloc(work, (size_t)(n + 1) * sizeof(double));
    work[n] = x[1];
    double *const zeros = calloc((size_t)n + 1, sizeof(double));
    for (int i = 0; i <= n; i++) zeros[i] += work[i] * (i + 1);
    while (list != NULL) {
        struct node *const next = list->next;
        s = s * zeros[1] + list->value;
        free(list);
        list = next;
    }
    s += zeros[n] + zeros[0];
    free(zeros);
    free(work);
    return s;
}

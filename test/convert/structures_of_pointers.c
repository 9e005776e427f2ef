/* SPDX-License-Identifier: MIT */
/* Structures by value that lead to variables, and hold none themselves: handed on, written
 * through, and where a pointer leads to them.
 * options: --function f --with-respect-to x[0:3] --of return
 * inputs: 0.6 1.4 -0.5
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#include <math.h>
#include <stdlib.h>

struct part {
    double *of, *more;
    int n;
};

static double sum(struct part p) {
    double s = 0;
    for (int i = 0; i < p.n; i++) s += p.of[i] * p.of[i];
    return s;
}

static double handed_on(int k, const struct part p) {
    return k > 0 ? sum(p) * p.more[0] : sum(p);
}

static void scaled(struct part p, double by) {
    for (int i = 0; i < p.n; i++) p.of[i] = sin(by * p.of[i]);
    *p.more += by;
}

static double behind(struct part p) {
    double *const first = p.of;
    const struct part *const at = &p;
    return sum(p) * *first + at->of[p.n - 1];
}

static struct part *made(int n) {
    struct part *const p = calloc(1, sizeof *p);
    p->of = malloc(n * sizeof(double));
    p->more = p->of + n - 1;
    p->n = n;
    return p;
}

double f(const double *x) {
    double w[2] = {x[0] * x[0], x[1]}, more = x[2];
    struct part p = {w, &more, 2};
    scaled(p, x[1]);
    double s = sum(p) + handed_on(1, p) + behind(p);
    struct part *const q = made(3);
    for (int i = 0; i < q->n; i++) q->of[i] = x[i] * s;
    scaled(*q, x[0]);
    s += handed_on(0, *q) * behind(*q) * more;
    s += sum((struct part){w, &more, 1});
    free(q->of);
    free(q);
    return s;
}

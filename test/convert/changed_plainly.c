/* SPDX-License-Identifier: MIT */
/* Functions without variables that change what the way back asks for again: indices, a work
 * array, a structure, by a pointer that moves, by calls within calls, within loops and branches.
 * about: adjoint
 * options: --function f --with-respect-to x[0:4] --of return
 * inputs: 0.6 1.4 0.5 -0.8
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#include <math.h>
#include <string.h>

static void fill(int *k, int n, int value) {
    if (k)
        for (int i = 0; i < n; i++) *k++ = value;
}

static void next(int *k) { (*k)++; }

static int step(int *k, int most) {
    next(k);
    if (*k >= most) {
        fill(k, 1, 0);
        return 1;
    }
    return 0;
}

static void turned(double *w, const int *k) {
    const double first = w[k[0]];
    w[k[0]] = w[k[1]];
    w[k[1]] = -first;
}

static void zero(double *to, int n) { memset(to, 0, n * sizeof(double)); }

static void numbers(double *c, int k) {
    for (int i = 0; i < 3; i++) c[i] = k + i;
}

struct place {
    int at[2], rounds;
};

static void moved(struct place *p) {
    for (int i = 0; i < 2; i++) p->rounds += step(&p->at[i], 4 - i);
}

double f(const double *x) {
    int k[3];
    double w[3] = {1.5, -0.5, 2}, terms[2], c[3], s = 0;
    struct place p = {{0, 1}, 0};
    fill(k, 3, 1);
    for (int i = 0; i < 5; i++) {
        zero(terms, 2);
        terms[i % 2] += sin(x[k[0]] * w[k[1]]) * x[p.at[1]];
        s += terms[0] * terms[0] - terms[1];
        if (step(k, 3) || step(k + 1, 3)) turned(w, k);
        numbers(c, i);
        for (int j = 0; j < 3; j++) s += 0.1 * c[j] * x[j] * x[j];
        moved(&p);
        s *= x[p.at[0]] * x[k[2]] + 0.25 * p.rounds;
    }
    fill(k, 3, 0);
    return s * x[k[2]];
}

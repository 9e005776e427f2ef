/* SPDX-License-Identifier: MIT */
/* A loop over observations in the threads of OpenMP, differentiated: a tape for each thread.
 *
 * The loop is cut into pieces, as many for one thread as for sixteen. Whoever takes a piece
 * records it on his tape, from the same inputs, sweeps back, and leaves value and adjoints in
 * the place of the piece. Summed up in the order of the pieces they have the same bits for any
 * number of threads. Inside a piece memory is that of one observation: its adjoints are added
 * up, and the tape is rewound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <wengert.h>
#include "observations.h"

enum { PIECES = 64 };

static wg_real misfit(wg_tape *t, const wg_real *p, double time, double seen) {
    const wg_real fit = wg_let(t, wg_add(wg_mul(p[0], wg_exp(wg_mul(-time, p[1]))), p[2]));
    const wg_real r = wg_let(t, wg_mul(wg_sub(seen, fit), wg_exp(wg_neg(p[3]))));
    return wg_let(t, wg_add(wg_log1p(wg_square(r)), p[3]));
}

/* The loop as it was: one recording of all, one sweep. */
static wg_status serial(const struct observations *d, const double *at, double *f, double *g) {
    wg_tape *const t = wg_tape_new(NULL);
    wg_real p[N];
    if (t == NULL) return WG_ENOMEM;
    wg_status s = wg_inputs(t, N, at, p);
    wg_real sum = wg_constant(0);
    for (int i = 0; i < OBSERVATIONS; i++)
        sum = wg_let(t, wg_add(sum, misfit(t, p, d->time[i], d->seen[i])));
    *f = wg_value(sum);
    if (s == WG_OK) s = wg_reverse(t, sum);
    if (s == WG_OK) s = wg_adjoints(t, N, p, g);
    wg_tape_free(t);
    return s;
}

/* Value and gradient of the observations of piece k, on a tape that has the inputs p. */
static wg_status piece(wg_tape *t, const wg_real *p, const struct observations *d, int k,
                       double *f, double *g) {
    const int from = (int)((long)OBSERVATIONS * k / PIECES);
    const int to = (int)((long)OBSERVATIONS * (k + 1) / PIECES);
    const wg_mark start = wg_tape_mark(t);
    wg_status s = WG_OK;
    for (int i = from; i < to && s == WG_OK; i++) {
        const wg_real y = misfit(t, p, d->time[i], d->seen[i]);
        *f += wg_value(y);
        s = wg_reverse(t, y);
        if (s == WG_OK) s = wg_adjoints_add(t, N, p, g);
        if (s == WG_OK) s = wg_tape_rewind(t, start);
    }
    return s;
}

/* The loop in so many threads. */
static wg_status parallel(int threads, const struct observations *d, const double *at,
                          double *f, double *g) {
    static double value[PIECES], gradient[PIECES][N];
    wg_status failed = WG_OK;
    for (int k = 0; k < PIECES; k++) {
        value[k] = 0;
        for (int j = 0; j < N; j++) gradient[k][j] = 0;
    }
    (void)threads; /* without OpenMP */
#pragma omp parallel num_threads(threads)
    {
        wg_tape *const t = wg_tape_new(NULL); /* NULL: what is recorded there fails */
        wg_real p[N];
        wg_status s = wg_inputs(t, N, at, p);
#pragma omp for schedule(dynamic)
        for (int k = 0; k < PIECES; k++)
            if (s == WG_OK) s = piece(t, p, d, k, &value[k], gradient[k]);
        wg_tape_free(t);
#pragma omp critical
        if (failed == WG_OK) failed = s;
    }
    *f = 0;
    for (int j = 0; j < N; j++) g[j] = 0;
    for (int k = 0; k < PIECES; k++) {
        *f += value[k];
        for (int j = 0; j < N; j++) g[j] += gradient[k][j];
    }
    return failed;
}

int main(void) {
#ifndef _OPENMP
    printf("skipped: compiled without OpenMP (-fopenmp)\n");
    return EXIT_SUCCESS;
#endif
    static struct observations d;
    const double at[N] = {1.5, 1, 0.4, -1};
    double once[1 + N], one[1 + N], four[1 + N]; /* value and gradient */
    observe(&d);
    if (serial(&d, at, &once[0], &once[1]) != WG_OK ||
        parallel(1, &d, at, &one[0], &one[1]) != WG_OK ||
        parallel(4, &d, at, &four[0], &four[1]) != WG_OK) {
        fprintf(stderr, "a tape has failed\n");
        return EXIT_FAILURE;
    }
    printf("%-12s %16s %14s %14s %14s %14s\n", "", "misfit", "d/da", "d/db", "d/dc", "d/ds");
    print("one tape", once);
    print("1 thread", one);
    print("4 threads", four);
    const int wrong = differ(one, once, rounding) || differ(four, one, 0);
    printf("%s\n", wrong ? "NOT THE SAME" : "the same");
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

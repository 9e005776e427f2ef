/* SPDX-License-Identifier: MIT */
/* Heat in a plate, by loops in the threads of OpenMP, differentiated as they stand.
 *
 * u' = u + a (left + right + below + above - 4 u) in every cell, step after step; the misfit is
 * the sum of squares between the last temperatures and observed ones. Its gradient by the first
 * temperatures and by the diffusivities a of all cells takes one sweep, in the same threads.
 * One recording of the plain loop, on one tape, says whether it is right; one thread and four
 * have the same bits.
 *
 * `openmp_heat CELLS STEPS` takes a plate of so many cells to a side, and says how long it
 * took. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wengert.h>
#include <wengert/openmp.h>

#ifndef _OPENMP
static void omp_set_num_threads(int threads) { (void)threads; }
#endif

enum { SEGMENTS = 32 };

struct plate {
    size_t side, steps, cells;
    double *start; /* temperatures, then diffusivities: 2 cells */
    double *seen;
    wg_real *x, *u, *next;
};

static void prepare(struct plate *h, size_t side, size_t steps) {
    const size_t cells = side * side;
    *h = (struct plate){.side = side, .steps = steps, .cells = cells};
    h->start = malloc(2 * cells * sizeof(double));
    h->seen = malloc(cells * sizeof(double));
    h->x = malloc(2 * cells * sizeof(wg_real));
    h->u = malloc(cells * sizeof(wg_real));
    h->next = malloc(cells * sizeof(wg_real));
    if (h->start == NULL || h->seen == NULL || h->x == NULL || h->u == NULL || h->next == NULL)
        exit(EXIT_FAILURE);
    for (size_t k = 0; k < cells; k++) {
        const double i = (double)(k / side) / (double)side,
                     j = (double)(k % side) / (double)side;
        h->start[k] = 20 + 60 * exp(-40 * ((i - 0.4) * (i - 0.4) + (j - 0.6) * (j - 0.6)));
        h->start[cells + k] = 0.15 + 0.05 * sin(7 * i) * cos(5 * j);
        h->seen[k] = 20 + 40 * exp(-30 * ((i - 0.5) * (i - 0.5) + (j - 0.5) * (j - 0.5)));
    }
}

/* One row of the next temperatures; those at the border stay. t: the tape, or a segment. */
static void row(wg_tape *t, struct plate *h, size_t i) {
    const size_t n = h->side;
    const wg_real *const u = h->u, *const a = h->x + h->cells;
    for (size_t j = 0; j < n; j++) {
        const size_t k = i * n + j;
        if (i == 0 || j == 0 || i + 1 == n || j + 1 == n) h->next[k] = u[k];
        else
            h->next[k] =
                wg_let(t, wg_add(u[k], wg_mul(a[k], wg_sub(wg_add(wg_add(u[k - 1], u[k + 1]),
                                                                  wg_add(u[k - n], u[k + n])),
                                                           wg_mul(4, u[k])))));
    }
}

static wg_real misfit(wg_tape *t, const struct plate *h, size_t from, size_t to) {
    wg_real sum = wg_constant(0);
    for (size_t k = from; k < to; k++)
        sum = wg_let(t, wg_add(sum, wg_square(wg_sub(h->u[k], h->seen[k]))));
    return sum;
}

static void swap(struct plate *h) {
    wg_real *const u = h->u;
    h->u = h->next;
    h->next = u;
}

/* The loops on one tape; p: in segments, by the threads of OpenMP. */
static wg_status gradient(wg_tape *t, wg_parallel *p, struct plate *h, double *f, double *g) {
    const size_t n = h->side, cells = h->cells;
    wg_real sum = wg_constant(0), part[SEGMENTS];
    wg_tape_reset(t);
    wg_status s = wg_inputs(t, 2 * cells, h->start, h->x);
    for (size_t k = 0; k < cells; k++) h->u[k] = h->x[k];
    for (size_t step = 0; step < h->steps && s == WG_OK; step++, swap(h)) {
        for (size_t i = 0; p == NULL && i < n; i++) row(t, h, i);
        if (p == NULL) continue;
        (void)wg_parallel_begin(p, t);
        WG_OPENMP_FOR(p, own, i, n) row(own, h, i);
        s = wg_parallel_join(p);
        if (s == WG_OK) s = wg_parallel_adopt(p, cells, h->next);
    }
    if (p == NULL) sum = misfit(t, h, 0, cells);
    else if (s == WG_OK) {
        (void)wg_parallel_begin(p, t);
        WG_OPENMP_SEGMENTS(p, k)
        part[k] = misfit(wg_parallel_tape(p, k), h, wg_parallel_from(p, k, cells),
                         wg_parallel_from(p, k + 1, cells));
        s = wg_parallel_join(p);
        if (s == WG_OK) s = wg_parallel_reduce(p, WG_REDUCE_SUM, 1, part, &sum);
    }
    *f = wg_value(sum);
    if (s == WG_OK) s = wg_reverse(t, sum);
    return s == WG_OK ? wg_adjoints(t, 2 * cells, h->x, g) : s;
}

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* In so many threads; 0: the loops on one tape. The best of `times`, in milliseconds. */
static double run(int threads, int times, struct plate *h, double *f, double *g) {
    double best = INFINITY;
    if (threads != 0) omp_set_num_threads(threads);
    wg_tape *const t = wg_tape_new(NULL);
    wg_threads *pool = NULL;
    wg_parallel *p = NULL;
    wg_status s = t != NULL ? WG_OK : WG_ENOMEM;
    if (s == WG_OK && threads != 0) s = wg_openmp_threads(&pool);
    if (s == WG_OK && threads != 0) s = wg_parallel_new(t, SEGMENTS, pool, &p);
    for (int k = 0; k < times && s == WG_OK; k++) {
        const double begin = seconds();
        s = gradient(t, p, h, f, g);
        const double took = 1e3 * (seconds() - begin);
        if (took < best) best = took;
    }
    if (s != WG_OK) fprintf(stderr, "%s\n", t != NULL ? wg_tape_message(t) : wg_status_text(s));
    wg_parallel_free(p);
    wg_tape_free(t);
    wg_threads_free(pool);
    if (s != WG_OK) exit(EXIT_FAILURE);
    return best;
}

int main(int argc, char **argv) {
    const int timed = argc == 3, times = timed ? 15 : 1;
    struct plate h;
    prepare(&h, timed ? strtoul(argv[1], NULL, 10) : 48,
            timed ? strtoul(argv[2], NULL, 10) : 20);
    const size_t n = 2 * h.cells, middle = h.side / 2 * h.side + h.side / 2;
    double *const g[3] = {malloc(n * sizeof(double)), malloc(n * sizeof(double)),
                          malloc(n * sizeof(double))};
    static const int threads[3] = {0, 1, 4};
    double f[3], took[3];
    if (g[0] == NULL || g[1] == NULL || g[2] == NULL) return EXIT_FAILURE;
    for (int k = 0; k < 3; k++) {
        took[k] = run(timed && k == 2 ? 2 : threads[k], times, &h, &f[k], g[k]);
        if (timed)
            printf("%-10s %10.2f ms\n",
                   k == 0   ? "one tape"
                   : k == 1 ? "1 thread"
                            : "2 threads",
                   took[k]);
    }

    int wrong = !(fabs(f[1] - f[0]) <= 1e-12 * f[0]) || f[2] != f[1];
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(g[0][i]));
    for (size_t i = 0; i < n; i++)
        wrong |= !(fabs(g[1][i] - g[0][i]) <= 1e-13 * largest) || g[2][i] != g[1][i];
    printf(
        "misfit %.6f; by the temperature in the middle %.6f, by the diffusivity there %.6f\n",
        f[1], g[1][middle], g[1][h.cells + middle]);
    printf("%s\n", wrong ? "NOT THE SAME" : "the same");
    for (int k = 0; k < 3; k++) free(g[k]);
    free(h.start), free(h.seen), free(h.x), free(h.u), free(h.next);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

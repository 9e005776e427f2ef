/* SPDX-License-Identifier: MIT */
/* A loop over observations in the threads of OpenMP, differentiated: the loop becomes a map.
 *
 * What the loop does with one observation is recorded once, as a function. wg_map evaluates it
 * at all observations, in vectors and in threads: one record on the tape, whatever their
 * number, and its adjoint is a map again. Bits do not depend on the number of threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <wengert.h>
#include "observations.h"

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_max_threads(void) { return 1; }
#endif

/* The program before: a value, and no derivative. */
static double value_only(const struct observations *d, const double *p) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < OBSERVATIONS; i++) {
        const double fit = p[0] * exp(-d->time[i] * p[1]) + p[2];
        const double r = (d->seen[i] - fit) * exp(-p[3]);
        sum += log1p(r * r) + p[3];
    }
    return sum;
}

/* The body of that loop: x has the parameters, the time, and what was seen then. */
static wg_status body(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    const wg_real fit =
        wg_let(t, wg_add(wg_mul(x[0], wg_exp(wg_neg(wg_mul(x[4], x[1])))), x[2]));
    const wg_real r = wg_let(t, wg_mul(wg_sub(x[5], fit), wg_exp(wg_neg(x[3]))));
    y[0] = wg_let(t, wg_add(wg_log1p(wg_square(r)), x[3]));
    return WG_OK;
}

/* The same loop on a tape, statement by statement. */
static wg_status serial(wg_tape *t, const struct observations *d, const double *at, double *f,
                        double *g) {
    wg_real x[N + 2], sum = wg_constant(0), y;
    wg_tape_reset(t);
    wg_status s = wg_inputs(t, N, at, x);
    for (int i = 0; i < OBSERVATIONS && s == WG_OK; i++) {
        x[N] = wg_constant(d->time[i]), x[N + 1] = wg_constant(d->seen[i]);
        s = body(t, N + 2, x, 1, &y, NULL);
        sum = wg_let(t, wg_add(sum, y));
    }
    *f = wg_value(sum);
    if (s == WG_OK) s = wg_reverse(t, sum);
    return s == WG_OK ? wg_adjoints(t, N, x, g) : s;
}

/* And as a map. */
static wg_status mapped(wg_tape *t, const wg_callable *k, const struct observations *d,
                        const double *at, wg_threads *threads, double *f, double *g) {
    wg_tape_reset(t);
    const wg_mat p = wg_mat_input(t, N, 1, at, N);
    const wg_source x[] = {wg_from_matrix(p), wg_from_data(d->time, 1, 1),
                           wg_from_data(d->seen, 1, 1)};
    wg_mat sum;
    wg_status s = wg_map(t, k, OBSERVATIONS, x, threads, &sum);
    if (s != WG_OK) return s;
    *f = wg_value(wg_mat_at(sum, 0, 0));
    s = wg_reverse(t, wg_mat_at(sum, 0, 0));
    return s == WG_OK ? wg_mat_adjoint(t, p, g, N) : s;
}

static wg_status function_of_body(wg_tape *t, const double *at, wg_callable **k) {
    const wg_argument input[] = {{"parameters", N, 1, WG_SHARED},
                                 {"time", 1, 1, WG_PASSIVE},
                                 {"seen", 1, 1, WG_PASSIVE}};
    const wg_argument misfit = {"misfit", 1, 1, WG_SUMMED};
    const double x[N + 2] = {at[0], at[1], at[2], at[3], 1, 1};
    wg_function *f;
    wg_status s = wg_function_record(t, body, NULL, 3, input, x, 1, &misfit, &f);
    if (s != WG_OK) return s;
    s = wg_callable_new(t, f, k);
    wg_function_free(f);
    return s;
}

int main(void) {
#ifndef _OPENMP
    printf("skipped: compiled without OpenMP (-fopenmp)\n");
    return EXIT_SUCCESS;
#endif
    static struct observations d;
    const double at[N] = {1.5, 1, 0.4, -1};
    double once[1 + N], one[1 + N], all[1 + N]; /* value and gradient */
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_threads *threads = NULL;
    wg_callable *k = NULL;
    observe(&d);
    wg_status s = t != NULL ? serial(t, &d, at, &once[0], &once[1]) : WG_ENOMEM;
    if (s == WG_OK) s = function_of_body(t, at, &k);
    if (s == WG_OK) s = wg_threads_new((size_t)omp_get_max_threads(), NULL, &threads);
    if (s == WG_OK) s = mapped(t, k, &d, at, NULL, &one[0], &one[1]);
    if (s == WG_OK) s = mapped(t, k, &d, at, threads, &all[0], &all[1]);
    if (s != WG_OK) fprintf(stderr, "%s\n", t != NULL ? wg_tape_message(t) : wg_status_text(s));
    wg_tape_free(t);
    wg_callable_free(k);
    wg_threads_free(threads);
    if (s != WG_OK) return EXIT_FAILURE;

    const double before = value_only(&d, at);
    printf("%-12s %16s %14s %14s %14s %14s\n", "", "misfit", "d/da", "d/db", "d/dc", "d/ds");
    printf("%-12s %16.9f\n", "plain loop", before);
    print("one tape", once);
    print("map", one);
    print("in threads", all);
    const int wrong = differ(one, once, rounding) || differ(all, one, 0) ||
                      !(fabs(once[0] - before) <= rounding * fabs(before));
    printf("%s\n", wrong ? "NOT THE SAME" : "the same");
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

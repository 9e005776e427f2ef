/* SPDX-License-Identifier: MIT */
/* harness.c - timing: samples in turn, medians, a line of progress. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
#include "harness.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds per call. Another process may have had the processor meanwhile: then the time on it
 * is shorter than the time on the wall, and *disturbed is 1. */
static double sample(const struct bench_job *j, int *disturbed) {
    const double cpu = now(CLOCK_THREAD_CPUTIME_ID), begin = now(CLOCK_MONOTONIC);
    for (size_t i = 0; i < j->calls; i++) j->run(j->ctx);
    const double wall = now(CLOCK_MONOTONIC) - begin;
    *disturbed = now(CLOCK_THREAD_CPUTIME_ID) - cpu < (1 - BENCH_DISTURBED) * wall;
    return wall / (double)j->calls;
}

/* A sample that had the processor to itself, after some attempts any. */
static double quiet_sample(struct bench_job *j) {
    double seconds = 0, best = 0;
    for (int attempt = 0; attempt < BENCH_ATTEMPTS; attempt++) {
        int disturbed;
        if (j->calls > 1) j->run(j->ctx); /* the others have used the caches */
        seconds = sample(j, &disturbed);
        if (!disturbed) return seconds;
        best = (attempt == 0 || seconds < best ? seconds : best);
    }
    j->disturbed++;
    return best;
}

/* Doubles the calls until they last long enough. This is the warm-up as well. */
static void calibrate(struct bench_job *j) {
    j->calls = 1;
    j->run(j->ctx);
    for (;;) {
        int disturbed;
        const double seconds = sample(j, &disturbed) * (double)j->calls;
        if (seconds >= BENCH_SAMPLE_SECONDS) return;
        j->calls *= (seconds < BENCH_SAMPLE_SECONDS / 16 ? 8 : 2);
    }
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The quantile p of n sorted numbers, interpolated. */
static double quantile(size_t n, const double *sorted, double p) {
    const double at = p * (double)(n - 1);
    const size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

static void progress(const char *title, const char *text, size_t rep, size_t reps) {
    if (!isatty(STDERR_FILENO)) return;
    if (text) fprintf(stderr, "\r\033[K%s: %zu of %zu, %s", title, rep, reps, text);
    else fprintf(stderr, "\r\033[K");
    fflush(stderr);
}

int bench_time(struct bench_job *job, size_t jobs, size_t reps, const char *title) {
    double *seconds = malloc((jobs * reps + 1) * sizeof *seconds);
    if (!seconds) return -1;
    for (size_t j = 0; j < jobs; j++) {
        progress(title, job[j].label, 0, reps);
        job[j].disturbed = 0;
        if (job[j].calls == 0) calibrate(&job[j]);
    }
    for (size_t rep = 0; rep < reps; rep++)
        for (size_t j = 0; j < jobs; j++) {
            progress(title, job[j].label, rep + 1, reps);
            seconds[j * reps + rep] = quiet_sample(&job[j]);
        }
    for (size_t j = 0; j < jobs; j++) {
        double *s = seconds + j * reps;
        qsort(s, reps, sizeof *s, ascending);
        job[j].times.min = s[0];
        job[j].times.q1 = quantile(reps, s, 0.25);
        job[j].times.median = quantile(reps, s, 0.5);
        job[j].times.q3 = quantile(reps, s, 0.75);
    }
    progress(title, NULL, 0, 0);
    free(seconds);
    return 0;
}

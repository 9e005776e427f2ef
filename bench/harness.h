/* SPDX-License-Identifier: MIT */
/* harness.h - what a workload is, how it is checked and timed. */
#ifndef WENGERT_BENCH_HARNESS_H
#define WENGERT_BENCH_HARNESS_H

#include <float.h>
#include <stdio.h>
#include <wengert.h>

#include "case.h"
#include "peers/peer.h"
#include "report.h"

/* ---- workloads (workloads.c) ------------------------------------------------------------- */

enum bench_size {
    BENCH_CHECKED,   /* small enough for differences, and for a derivative that stays meaningful
                      */
    BENCH_SIXTEENTH, /* of what is timed: a sweep of sizes */
    BENCH_QUARTER,
    BENCH_TIMED,
    BENCH_CROWD /* what is recorded between the two timings of `small` */
};

struct bench_workload {
    enum bench_id id;
    const char *name, *what;
    /* Allowed difference of two derivatives, in DBL_EPSILON of the largest entry: how many
     * roundings pile up, and how much they grow, is a property of the workload. */
    double ulps;
    int small_only; /* the derivative at the timed sizes has no digits to compare */
    int swept;      /* are there a quarter and a sixteenth of it? */
    int (*setup)(struct bench_case *c, enum bench_size size); /* 0, or -1: no memory */
    void (*primal)(const struct bench_case *c, double *y);
    void (*handwritten)(const struct bench_case *c, double *entries);
    /* Resets, records, and unless `entries` is NULL sweeps; adds to the counts. */
    wg_status (*tape)(wg_tape *t, const struct bench_case *c, wg_real *vars, double *entries,
                      struct bench_counts *counts);
    void (*apply)(const struct bench_case *c, const double *entries, const double *v,
                  double *jv); /* jv = J v */
};

/* The engine's, and then the kernels of evals, whose cases come from elsewhere: those have no
 * setup, text or apply. */
extern const struct bench_workload bench_workloads[BENCH_IDS];

/* Sets a case up; bench_case_finish does what is left for one filled in by other means. */
int bench_case_new(struct bench_case *c, const struct bench_workload *w, enum bench_size size);
int bench_case_finish(struct bench_case *c);
void bench_case_free(struct bench_case *c);

/* Cases whose numbers the caller fills in. 0, or -1: no memory. */
int bench_bundle_case(struct bench_case *b, size_t cameras, size_t points, size_t observations,
                      double **x, size_t **seen, double **feats);
int bench_mixture_case(struct bench_case *b, size_t d, size_t k, size_t n, double gamma, int m,
                       double prior, double **x, double **points);
int bench_lstm_case(struct bench_case *b, size_t layers, size_t chars, size_t bits, double **x,
                    double **state, double **sequence);
int bench_det_case(struct bench_case *b, size_t n, double **a);
int bench_kmeans_case(struct bench_case *b, size_t n, size_t k, size_t d, double **x,
                      double **points);
int bench_llsq_case(struct bench_case *b, size_t m, size_t n, double **x);
int bench_lse_case(struct bench_case *b, size_t n, double **x);
int bench_ode_case(struct bench_case *b, size_t n, size_t steps, double **x);

/* ---- checking (check.c) ------------------------------------------------------------------ */

/* Largest |a - b| over largest |b|, in units of DBL_EPSILON; infinite where a NaN is involved.
 */
double bench_ulps(size_t n, const double *a, const double *b);

/* Fourth-order central differences of the primal along fixed random directions, against the
 * hand-written derivative. The error is of the order of step^4 from truncation and
 * DBL_EPSILON/step from rounding; the factor is for the size of higher derivatives and for
 * cancellation. */
#define BENCH_DIFFERENCE_STEP 1e-4
#define BENCH_DIFFERENCE_TOLERANCE (1e4 * DBL_EPSILON / BENCH_DIFFERENCE_STEP)
/* Largest |difference - J v| over largest |J v|, or infinity without memory. */
double bench_difference(const struct bench_workload *w, const struct bench_case *c);

/* Checks primal, hand-written derivative and tape against the reference values in a file. They
 * have 16 or 17 digits; what is allowed is the rounding of these functions in double.
 * The number of disagreements, or -1 when the file cannot be used. */
#define BENCH_ORACLE_ULPS 4096.0
int bench_oracle(const char *path, FILE *out);

/* ---- timing (harness.c) ------------------------------------------------------------------ */

enum { BENCH_MIN_REPS = 7 };

struct bench_job {
    void (*run)(void *ctx);
    void (*prepare)(void *ctx); /* before every call, not timed; NULL: nothing */
    void *ctx;
    const char *label;
    int threaded;     /* more than this thread works: nobody can say who disturbed */
    size_t calls;     /* in one sample; 0: to be found */
    size_t disturbed; /* samples during which others had the processor */
    struct bench_times times;
};

/* Samples all jobs in turn, so that what slows the machine down slows all of them. Every sample
 * is the mean of as many calls as last BENCH_SAMPLE_SECONDS; short ones after one not timed.
 * A sample during which others had the processor for more than the fraction BENCH_DISTURBED is
 * taken again, up to BENCH_ATTEMPTS times. */
#define BENCH_SAMPLE_SECONDS 2e-3
#define BENCH_DISTURBED 0.01
#define BENCH_ATTEMPTS 8
/* 0, or -1: no memory. */
int bench_time(struct bench_job *job, size_t jobs, size_t reps, const char *title);

/* How often bench_time will be called, for the line of progress on a terminal. */
void bench_progress_begin(size_t calls);

struct bench_progress {
    size_t calls, done; /* of bench_time, in the whole run */
    size_t reps, rep;   /* of the call that runs; rep 0: warming up */
    const char *title, *label;
    double elapsed; /* seconds, of the whole run */
};
/* What the line says; an estimate from BENCH_ESTIMATE_SECONDS on, when a call has taken them.
 */
#define BENCH_ESTIMATE_SECONDS 2.0
void bench_progress_text(const struct bench_progress *p, char *text, size_t room);

/* ---- processes (harness.c) --------------------------------------------------------------- */

/* Measures something and leaves what it found in *result. The number of things wrong, or -1: no
 * memory. */
typedef int bench_part(const void *what, void *result);

/* Calls part in a process of its own: what a library keeps of one workload, and how it has cut
 * its memory up, must not slow down the next one. What remains is what part prints and *result,
 * `bytes` that are zero before; pointers in it are to what was there before. Gives what part
 * does; -1, and a line on stderr that names the title, also where the process died. */
int bench_apart(const char *title, bench_part *part, const void *what, void *result,
                size_t bytes);

/* Bytes of memory that are in use after work(ctx) and were not before, in a process of its own,
 * which calls `before` first, unless it is NULL. Pages that the process had and freed are not
 * seen: to be asked before anything else is done. NaN: not known here. */
double bench_memory(const char *title, void (*before)(void *ctx), void (*work)(void *ctx),
                    void *ctx);

/* ---- the command line (harness.c) -------------------------------------------------------- */

enum { BENCH_TAKES_ORACLE = 1, BENCH_TAKES_THREADS = 2 };

struct bench_options {
    int small, peers;
    const char *json, *only, *oracle;
    size_t reps;
    unsigned threads;
};

/* The options that all benches have, and those of `takes`. 0, or -1 with the usage on stderr.
 */
int bench_options(struct bench_options *o, int argc, char **argv, unsigned takes);
/* Is it the one asked for, or are all? */
int bench_selected(const struct bench_options *o, const char *name);

#endif

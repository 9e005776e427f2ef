/* SPDX-License-Identifier: MIT */
/* harness.c - timing: samples in turn, medians, a line of progress; processes; the command
 * line. */
#define _DEFAULT_SOURCE /* clock_gettime, isatty, fork, MAP_ANONYMOUS */
#include "harness.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
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
    const size_t together = j->prepare ? 1 : j->calls;
    double wall = 0, cpu = 0;
    for (size_t done = 0; done < j->calls; done += together) {
        if (j->prepare) j->prepare(j->ctx);
        const double processor = now(CLOCK_THREAD_CPUTIME_ID), begin = now(CLOCK_MONOTONIC);
        for (size_t i = 0; i < together; i++) j->run(j->ctx);
        wall += now(CLOCK_MONOTONIC) - begin;
        cpu += now(CLOCK_THREAD_CPUTIME_ID) - processor;
    }
    *disturbed = !j->threaded && cpu < (1 - BENCH_DISTURBED) * wall;
    return wall / (double)j->calls;
}

/* A sample that had the processor to itself; after some attempts the shortest of them, and
 * *disturbed is 1. */
static double quiet_sample(const struct bench_job *j, int *disturbed) {
    double seconds = 0, best = 0;
    for (int attempt = 0; attempt < BENCH_ATTEMPTS; attempt++) {
        if (j->calls > 1 && !j->prepare) j->run(j->ctx); /* the others have used the caches */
        seconds = sample(j, disturbed);
        if (!*disturbed) return seconds;
        best = (attempt == 0 || seconds < best ? seconds : best);
    }
    return best;
}

/* Doubles the calls until they last long enough, also when nobody else has the processor. This
 * is the warm-up as well. */
static void calibrate(struct bench_job *j) {
    j->calls = 1;
    if (j->prepare) j->prepare(j->ctx);
    j->run(j->ctx);
    for (;;) {
        int disturbed;
        double seconds = quiet_sample(j, &disturbed);
        if (j->threaded) seconds = fmin(seconds, quiet_sample(j, &disturbed));
        seconds *= (double)j->calls;
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

/* ---- progress ---------------------------------------------------------------------------- */

/* Of the run of this program. */
static struct bench_progress run;
static double begun;

void bench_progress_begin(size_t calls) {
    run = (struct bench_progress){.calls = calls};
    begun = now(CLOCK_MONOTONIC);
}

void bench_progress_text(const struct bench_progress *p, char *text, size_t room) {
    char left[64] = "";
    const size_t calls = p->done < p->calls ? p->calls : p->done + 1;
    const double within = p->rep ? (double)(p->rep - 1) / (double)p->reps : 0;
    const double part = ((double)p->done + within) / (double)calls;
    if (p->elapsed >= BENCH_ESTIMATE_SECONDS && part > 0) {
        const double seconds = p->elapsed * (1 - part) / part;
        if (seconds < 90) snprintf(left, sizeof left, "; about %.0f s left", seconds);
        else snprintf(left, sizeof left, "; about %.0f min left", seconds / 60);
    }
    snprintf(text, room, "%zu of %zu, %s: sample %zu of %zu, %s%s", p->done + 1, calls,
             p->title, p->rep, p->reps, p->label, left);
}

static void progress(const char *label, size_t rep) {
    char text[200];
    if (!isatty(STDERR_FILENO)) return;
    run.label = label;
    run.rep = rep;
    run.elapsed = now(CLOCK_MONOTONIC) - begun;
    bench_progress_text(&run, text, sizeof text);
    fprintf(stderr, "\r\033[K%.100s", text);
    fflush(stderr);
}

static void progress_clear(void) {
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

/* ---- samples ----------------------------------------------------------------------------- */

int bench_time(struct bench_job *job, size_t jobs, size_t reps, const char *title) {
    double *seconds = malloc((jobs * reps + 1) * sizeof *seconds);
    if (!seconds) return -1;
    run.title = title;
    run.reps = reps;
    for (size_t j = 0; j < jobs; j++) {
        progress(job[j].label, 0);
        job[j].disturbed = 0;
        if (job[j].calls == 0) calibrate(&job[j]);
    }
    for (size_t rep = 0; rep < reps; rep++)
        for (size_t j = 0; j < jobs; j++) {
            progress(job[j].label, rep + 1);
            int disturbed;
            seconds[j * reps + rep] = quiet_sample(&job[j], &disturbed);
            job[j].disturbed += (size_t)disturbed;
        }
    for (size_t j = 0; j < jobs; j++) {
        double *s = seconds + j * reps;
        qsort(s, reps, sizeof *s, ascending);
        job[j].times.min = s[0];
        job[j].times.q1 = quantile(reps, s, 0.25);
        job[j].times.median = quantile(reps, s, 0.5);
        job[j].times.q3 = quantile(reps, s, 0.75);
        job[j].times.disturbed = (double)job[j].disturbed;
    }
    run.done++;
    progress_clear();
    free(seconds);
    return 0;
}

/* ---- processes --------------------------------------------------------------------------- */

/* What both processes see. */
struct shared {
    int returned, wrong;
    size_t done; /* of the progress */
    max_align_t result[];
};

/* 0, or -1 with a line on stderr. */
static int wait_for(pid_t child, const char *title, const struct shared *s) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) {
            status = 0;
            break;
        }
    if (s->returned && s->wrong >= 0 && status == 0) return 0;
    progress_clear();
    fprintf(stderr, "%s: ", title);
    if (WIFSIGNALED(status))
        fprintf(stderr, "died: signal %d, %s\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (s->returned && s->wrong < 0) fputs("stopped: no memory\n", stderr);
    else fprintf(stderr, "ended before it was done, status %d\n", WEXITSTATUS(status));
    return -1;
}

int bench_apart(const char *title, bench_part *part, const void *what, void *result,
                size_t bytes) {
    const size_t size = sizeof(struct shared) + bytes;
    struct shared *const s =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int wrong = -1;
    fflush(stdout); /* or both would print what waits there */
    const pid_t child = s == MAP_FAILED ? -1 : fork();
    if (child == 0) {
        s->wrong = part(what, s->result);
        s->done = run.done;
        s->returned = 1;
        exit(EXIT_SUCCESS);
    }
    if (child < 0) fprintf(stderr, "%s: cannot begin a process: %s\n", title, strerror(errno));
    else if (wait_for(child, title, s) == 0) {
        memcpy(result, s->result, bytes);
        run.done = s->done;
        wrong = s->wrong;
    }
    if (s != MAP_FAILED) munmap(s, size);
    return wrong;
}

struct weighed {
    void (*before)(void *ctx);
    void (*work)(void *ctx);
    void *ctx;
};

/* Of the process, not backed by a file; NaN: not known. */
static double anonymous_bytes(void) {
    char line[128];
    double kilobytes = NAN;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Anonymous: %lf", &kilobytes) == 1) break;
    if (f) fclose(f);
    return 1024 * kilobytes;
}

static int weigh(const void *what, void *result) {
    const struct weighed *w = what;
    if (w->before) w->before(w->ctx);
    const double bytes = anonymous_bytes();
    w->work(w->ctx);
    *(double *)result = anonymous_bytes() - bytes;
    return 0;
}

double bench_memory(const char *title, void (*before)(void *ctx), void (*work)(void *ctx),
                    void *ctx) {
    const struct weighed w = {before, work, ctx};
    double bytes = NAN;
    return bench_apart(title, weigh, &w, &bytes, sizeof bytes) == 0 ? bytes : NAN;
}

/* ---- the command line -------------------------------------------------------------------- */

static int usage(const char *program, unsigned takes) {
    fprintf(stderr,
            "%s [--small] [--only NAME] [--reps N] [--peers] [--json FILE]%s%s\n"
            "  --small        verify everything at a small size and stop\n"
            "  --only NAME    one workload\n"
            "  --reps N       samples of each time, at least %d (default 11)\n"
            "  --peers        other libraries too, as far as they are built in\n"
            "  --json FILE    write the results to FILE as well\n%s%s",
            program, takes & BENCH_TAKES_ORACLE ? " [--oracle FILE]" : "",
            takes & BENCH_TAKES_THREADS ? " [--threads N]" : "", BENCH_MIN_REPS,
            takes & BENCH_TAKES_ORACLE
                ? "  --oracle FILE  verify against the reference values in FILE first\n"
                : "",
            takes & BENCH_TAKES_THREADS ? "  --threads N    with N threads, too\n" : "");
    return -1;
}

/* A whole number of least to most; 0: it is none. */
static unsigned long whole(const char *text, unsigned long least, unsigned long most) {
    char *end;
    const unsigned long n = strtoul(text, &end, 10);
    return end != text && *end == '\0' && n >= least && n <= most ? n : 0;
}

int bench_options(struct bench_options *o, int argc, char **argv, unsigned takes) {
    *o = (struct bench_options){.reps = 11, .threads = 1};
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(a, "--small") == 0) o->small = 1;
        else if (strcmp(a, "--peers") == 0) o->peers = 1;
        else if (++i == argc) return usage(argv[0], takes);
        else if (strcmp(a, "--json") == 0) o->json = value;
        else if (strcmp(a, "--only") == 0) o->only = value;
        else if (strcmp(a, "--oracle") == 0 && takes & BENCH_TAKES_ORACLE) o->oracle = value;
        else if (strcmp(a, "--reps") == 0 && whole(value, BENCH_MIN_REPS, 10000))
            o->reps = whole(value, BENCH_MIN_REPS, 10000);
        else if (strcmp(a, "--threads") == 0 && takes & BENCH_TAKES_THREADS &&
                 whole(value, 1, 1024))
            o->threads = (unsigned)whole(value, 1, 1024);
        else return usage(argv[0], takes);
    }
    return 0;
}

int bench_selected(const struct bench_options *o, const char *name) {
    return !o->only || strcmp(o->only, name) == 0;
}

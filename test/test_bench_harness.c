/* SPDX-License-Identifier: MIT */
/* test_bench_harness.c - the command line of the benches, what is called how often when it is
 * timed, the line of progress, and processes: what comes back from them, and what is said when
 * they end otherwise. */
#define _DEFAULT_SOURCE /* usleep, dup, raise */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench/harness.h"

/* ---- the command line ---- */

static int parse(struct bench_options *o, unsigned takes, const char *text) {
    static char line[200];
    char *argv[16] = {NULL};
    int argc = 0;
    (void)snprintf(line, sizeof line, "%s", text);
    for (char *p = strtok(line, " "); p && argc < 15; p = strtok(NULL, " ")) argv[argc++] = p;
    return bench_options(o, argc, argv, takes);
}

static void options_are_understood(void **state) {
    struct bench_options o;
    (void)state;
    assert_int_equal(parse(&o, 0, "bench"), 0);
    assert_true(!o.small && !o.peers && !o.json && !o.only && o.reps == 11 && o.threads == 1);
    assert_true(bench_selected(&o, "lstm"));
    assert_int_equal(parse(&o, 3,
                           "bench --small --peers --json f --only lstm --reps 7 --oracle g "
                           "--threads 2"),
                     0);
    assert_true(o.small && o.peers && o.reps == 7 && o.threads == 2);
    assert_string_equal(o.json, "f");
    assert_string_equal(o.oracle, "g");
    assert_true(bench_selected(&o, "lstm") && !bench_selected(&o, "lst"));
}

static void wrong_options_are_refused(void **state) {
    static const char *const lines[] = {"bench --smal",        "bench --json",
                                        "bench --reps 6",      "bench --reps 7x",
                                        "bench --reps -8",     "bench --oracle f",
                                        "bench --threads 2",   "bench lstm",
                                        "bench --reps 100000", "bench --only lstm --json"};
    struct bench_options o;
    (void)state;
    assert_non_null(freopen("/dev/null", "w", stderr)); /* the usage, each time */
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(parse(&o, 0, lines[i]), -1);
    assert_int_equal(parse(&o, BENCH_TAKES_THREADS, "bench --threads 0"), -1);
}

/* ---- timing ---- */

struct counted {
    int runs, prepared, wrong;
};
static void run(void *ctx) {
    struct counted *c = ctx;
    c->runs++;
}
static void run_prepared(void *ctx) {
    struct counted *c = ctx;
    c->wrong += c->prepared != 1;
    c->prepared = 0;
    c->runs++;
}
static void prepare(void *ctx) {
    struct counted *c = ctx;
    c->prepared++;
}

static void jobs_are_timed_in_turn(void **state) {
    enum { REPS = 7 };
    struct counted c[2];
    struct bench_job job[2];
    (void)state;
    memset(c, 0, sizeof c);
    memset(job, 0, sizeof job);
    job[0].run = run, job[1].run = run_prepared;
    job[1].prepare = prepare;
    /* as often as said: nothing has to last as long as a sample */
    for (int k = 0; k < 2; k++) job[k].ctx = &c[k], job[k].label = "job", job[k].calls = 10;
    assert_int_equal(bench_time(job, 2, REPS, "test"), 0);
    for (int k = 0; k < 2; k++) {
        const struct bench_times *t = &job[k].times;
        assert_true(c[k].runs >= 10 * REPS);
        assert_true(0 <= t->min && t->min <= t->q1 && t->q1 <= t->median && t->median <= t->q3);
    }
    assert_int_equal(c[1].wrong, 0); /* once before each call */
}

static void calls_are_added_until_they_last(void **state) {
    struct counted c = {0, 0, 0};
    struct bench_job job = {.run = run, .ctx = &c, .label = "job"};
    (void)state;
    assert_int_equal(bench_time(&job, 1, BENCH_MIN_REPS, "test"), 0);
    assert_true(job.calls > 1 && c.runs > 1000);
}

/* Slow twice, as somebody who is put aside by others: that says nothing about the rest. */
static void run_slow_at_first(void *ctx) {
    struct counted *c = ctx;
    if (c->runs++ < 2) usleep(5000);
}

static void disturbed_calibrations_are_done_again(void **state) {
    struct counted c = {0, 0, 0};
    struct bench_job job = {.run = run_slow_at_first, .ctx = &c, .label = "job"};
    (void)state;
    assert_int_equal(bench_time(&job, 1, BENCH_MIN_REPS, "test"), 0);
    assert_true(job.calls > 1 && job.times.median < BENCH_SAMPLE_SECONDS);
}

static void run_asleep(void *ctx) {
    (void)ctx;
    usleep(3000);
}

static void disturbed_samples_are_counted(void **state) {
    struct bench_job job = {.run = run_asleep, .label = "job", .calls = 1};
    (void)state;
    assert_int_equal(bench_time(&job, 1, BENCH_MIN_REPS, "test"), 0);
    assert_int_equal(job.disturbed, BENCH_MIN_REPS);
    assert_true(job.times.disturbed == BENCH_MIN_REPS);
    job.threaded = 1; /* others do the work: nobody knows */
    assert_int_equal(bench_time(&job, 1, BENCH_MIN_REPS, "test"), 0);
    assert_true(job.times.disturbed == 0);
}

/* ---- processes ---- */

struct told {
    double x[1000];
};

static int part_tells(const void *what, void *result) {
    struct told *t = result;
    for (int i = 0; i < 1000; i++) t->x[i] = *(const double *)what * i;
    return 3;
}
static int part_dies(const void *what, void *result) {
    memset(result, 1, sizeof(struct told));
    return raise(*(const int *)what);
}
static int part_leaves(const void *what, void *result) {
    (void)what, (void)result;
    exit(5);
}
static int part_has_no_memory(const void *what, void *result) {
    (void)what, (void)result;
    return -1;
}

/* What is said on stderr meanwhile. */
static int apart_saying(bench_part *part, const void *what, struct told *t, char *said,
                        size_t room) {
    FILE *f = tmpfile();
    const int before = dup(STDERR_FILENO);
    assert_non_null(f);
    (void)fflush(stderr); /* the one that an earlier test has reopened waits */
    assert_true(before >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0);
    const int wrong = bench_apart("lstm", part, what, t, sizeof *t);
    (void)fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    rewind(f);
    said[fread(said, 1, room - 1, f)] = '\0';
    (void)fclose(f);
    (void)close(before);
    return wrong;
}

static void results_come_back_from_processes(void **state) {
    static struct told t;
    const double two = 2;
    char said[200];
    (void)state;
    assert_int_equal(apart_saying(part_tells, &two, &t, said, sizeof said), 3);
    assert_string_equal(said, "");
    assert_true(t.x[0] == 0 && t.x[999] == 1998);
}

static void processes_that_end_otherwise_are_named(void **state) {
    static struct told t;
    const int killed = SIGKILL;
    char said[200];
    (void)state;
    assert_int_equal(apart_saying(part_dies, &killed, &t, said, sizeof said), -1);
    assert_string_equal(said, "lstm: died: signal 9, Killed\n");
    assert_true(t.x[0] == 0); /* nothing of it is taken */
    assert_int_equal(apart_saying(part_leaves, NULL, &t, said, sizeof said), -1);
    assert_string_equal(said, "lstm: ended before it was done, status 5\n");
    assert_int_equal(apart_saying(part_has_no_memory, NULL, &t, said, sizeof said), -1);
    assert_string_equal(said, "lstm: stopped: no memory\n");
}

/* What one has obtained, another one does not see; nor does this process. */
static double kept[1 << 20];
static void run_keeping(void *ctx) {
    (void)ctx;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) kept[i] = 1;
}

static void memory_is_weighed_apart(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const double bytes = bench_memory("test", NULL, run_keeping, NULL);
        if (isnan(bytes)) skip();
        assert_true(bytes >= 0.9 * sizeof kept && bytes < 1.5 * sizeof kept);
    }
    assert_true(kept[0] == 0);
    const double none = bench_memory("test", run_keeping, run_keeping, NULL);
    assert_true(none < 0.1 * sizeof kept);
}

/* ---- progress ---- */

static void progress_says(const struct bench_progress *p, const char *want) {
    char text[200];
    bench_progress_text(p, text, sizeof text);
    assert_string_equal(text, want);
}

static void progress_has_an_estimate_when_there_is_one(void **state) {
    struct bench_progress p = {.calls = 10, .reps = 5, .title = "lstm", .label = "primal"};
    (void)state;
    progress_says(&p, "1 of 10, lstm: sample 0 of 5, primal");
    p.elapsed = 1, p.rep = 3; /* too early */
    progress_says(&p, "1 of 10, lstm: sample 3 of 5, primal");
    p.elapsed = 12, p.done = 4, p.rep = 1;
    progress_says(&p, "5 of 10, lstm: sample 1 of 5, primal; about 18 s left");
    p.done = 2, p.rep = 3, p.elapsed = 120; /* 2.4 of 10 are done */
    progress_says(&p, "3 of 10, lstm: sample 3 of 5, primal; about 6 min left");
    p.done = 10; /* more than was said */
    progress_says(&p, "11 of 11, lstm: sample 3 of 5, primal; about 7 s left");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_understood),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(jobs_are_timed_in_turn),
        cmocka_unit_test(calls_are_added_until_they_last),
        cmocka_unit_test(disturbed_calibrations_are_done_again),
        cmocka_unit_test(disturbed_samples_are_counted),
        cmocka_unit_test(results_come_back_from_processes),
        cmocka_unit_test(processes_that_end_otherwise_are_named),
        cmocka_unit_test(memory_is_weighed_apart),
        cmocka_unit_test(progress_has_an_estimate_when_there_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

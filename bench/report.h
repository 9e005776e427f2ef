/* SPDX-License-Identifier: MIT */
/* report.h - what a run of a bench has found, and the file that holds it. One format for all
 * benches, written and read here only (JSON):
 *
 *   {"format": "wengert bench 1",
 *    "environment": {"bench": "matrix", "commit": "...", "cpu": "...", ...},   texts
 *    "results": [{"group": "matrix", "workload": "solve", "shape": "200-50", "size": 200,
 *                 "tool": "Wengert", "quantity": "derivative",
 *                 "seconds": {"median": ., "min": ., "q1": ., "q3": .,
 *                             "disturbed": .},                    where samples were
 *                 "ratio": ., "over": "value",                    where there is a base
 *                 "bytes": ., "ns_per_statement": .}, ...]}       where they are counted
 *
 * Group, workload, shape (where the size alone does not say it), size, tool and quantity name a
 * result. Sizes are what plots have on their axes. */
#ifndef WENGERT_BENCH_REPORT_H
#define WENGERT_BENCH_REPORT_H

#include <stddef.h>

struct bench_times { /* seconds per call */
    double min, q1, median, q3;
    double disturbed; /* of the samples: others had the processor */
};

struct bench_row {
    char group[24], workload[40], shape[40], tool[48], quantity[40], over[40];
    double size;
    struct bench_times seconds;
    double ratio, bytes, ns_per_statement; /* NaN: there is none */
};

struct bench_fact {
    char key[32], value[256];
};

enum { BENCH_FACTS = 32 };

struct bench_report {
    struct bench_fact fact[BENCH_FACTS]; /* the environment */
    size_t facts;
    struct bench_row *row;
    size_t rows, room;
    int failed; /* no memory, some time ago */
};

/* Version, commit, compiler, flags, processor. */
void bench_report_open(struct bench_report *r, const char *bench, size_t samples);
void bench_report_close(struct bench_report *r);
/* Of the environment; longer texts are cut. */
void bench_report_fact(struct bench_report *r, const char *key, const char *value);
/* NULL: there is none. */
const char *bench_report_find(const struct bench_report *r, const char *key);

/* A further result, in seconds `t`, over those of `base` where that is not NULL; `over` names
 * it. Shape, bytes and the like are for the caller to fill in, before the next one is added.
 * Without memory a row that is lost; then the report cannot be written. */
struct bench_row *bench_report_add(struct bench_report *r, const char *group,
                                   const char *workload, const char *tool, const char *quantity,
                                   const struct bench_times *t);
/* A further result as it is, of another process perhaps. */
void bench_report_put(struct bench_report *r, const struct bench_row *row);
void bench_row_over(struct bench_row *row, const struct bench_times *base, const char *over);

/* 0, or -1 with a line on stderr. */
int bench_report_write(const struct bench_report *r, const char *path);

/* What is wrong with a file, in one sentence. */
struct bench_complaint {
    char text[320];
};
/* To be closed, also after a failure. 0, or -1. */
int bench_report_read(struct bench_report *r, const char *path, struct bench_complaint *why);

/* The environment on stdout. */
void bench_report_print(const struct bench_report *r);

#endif

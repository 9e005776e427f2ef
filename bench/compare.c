/* SPDX-License-Identifier: MIT */
/* compare - what got slower or faster between two files of results?
 *
 *     compare [--percent P] OLD NEW
 *
 * The rule: a result has changed when the quartile ranges of its times do not overlap and the
 * medians differ by more than P percent (5). Times of a single sample have no spread and are
 * not judged. Status 0: nothing got slower; 1: something did; 2: the files cannot be compared,
 * for one because they have no result in common. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define LEAST_PERCENT 5.0

enum change { SAME, SLOWER, FASTER, UNJUDGED, CHANGES };

static enum change judge(const struct bench_times *old, const struct bench_times *new,
                         double percent) {
    const double ratio = new->median / old->median, least = 1 + percent / 100;
    if (old->min == old->q3 || new->min == new->q3) return UNJUDGED;
    if (new->q1 > old->q3 && ratio > least) return SLOWER;
    if (new->q3 < old->q1 && ratio < 1 / least) return FASTER;
    return SAME;
}

static int equal(const struct bench_row *a, const struct bench_row *b) {
    return strcmp(a->group, b->group) == 0 && strcmp(a->workload, b->workload) == 0 &&
           strcmp(a->shape, b->shape) == 0 && strcmp(a->tool, b->tool) == 0 &&
           strcmp(a->quantity, b->quantity) == 0 && a->size == b->size;
}

/* NULL: there is none. */
static const struct bench_row *find(const struct bench_report *in,
                                    const struct bench_row *row) {
    for (size_t i = 0; i < in->rows; i++)
        if (equal(&in->row[i], row)) return &in->row[i];
    return NULL;
}

static void print_name(const char *what, const struct bench_row *r) {
    char size[32];
    snprintf(size, sizeof size, "%.10g", r->size);
    printf("%-8s %s %s %s, %s, %s", what, r->group, r->workload, *r->shape ? r->shape : size,
           r->tool, r->quantity);
}

/* Times of different machines or compilers say little. */
static void print_environments(const struct bench_report *old, const struct bench_report *new) {
    for (size_t i = 0; i < old->facts; i++) {
        const struct bench_fact *f = &old->fact[i];
        const char *now = bench_report_find(new, f->key);
        if (!now || strcmp(now, f->value) != 0)
            printf("differs  %s: %s, now %s\n", f->key, f->value, now ? now : "not said");
    }
    for (size_t i = 0; i < new->facts; i++)
        if (!bench_report_find(old, new->fact[i].key))
            printf("differs  %s: not said, now %s\n", new->fact[i].key, new->fact[i].value);
}

static size_t print_missing(const char *what, const struct bench_report *from,
                            const struct bench_report *in) {
    size_t n = 0;
    for (size_t i = 0; i < from->rows; i++)
        if (!find(in, &from->row[i])) {
            print_name(what, &from->row[i]);
            putchar('\n');
            n++;
        }
    return n;
}

/* As the status of the program. */
static int compare(const struct bench_report *old, const struct bench_report *new,
                   double percent) {
    static const char *const name[CHANGES] = {"", "slower", "faster", ""};
    size_t count[CHANGES] = {0}, both = 0;
    double logs = 0;
    print_environments(old, new);
    for (size_t i = 0; i < new->rows; i++) {
        const struct bench_row *now = &new->row[i], *then = find(old, now);
        if (!then) continue;
        const double ratio = now->seconds.median / then->seconds.median;
        const enum change c = judge(&then->seconds, &now->seconds, percent);
        both++;
        count[c]++;
        if (c != UNJUDGED) logs += log(ratio);
        if (!*name[c]) continue;
        print_name(name[c], now);
        printf(": %.4g s, now %.4g s: %+.1f %%%s\n", then->seconds.median, now->seconds.median,
               100 * (ratio - 1),
               then->seconds.disturbed > 0 || now->seconds.disturbed > 0 ? " (disturbed)" : "");
    }
    const size_t gone = print_missing("gone", old, new), added = print_missing("new", new, old);
    printf(
        "%zu results in both: %zu slower, %zu faster, %zu within the spread, %zu of one sample;"
        " %zu gone, %zu new\n",
        both, count[SLOWER], count[FASTER], count[SAME], count[UNJUDGED], gone, added);
    const size_t judged = both - count[UNJUDGED];
    if (judged)
        printf("new over old, geometric mean of those with a spread: %.3f\n",
               exp(logs / (double)judged));
    if (both == 0) fputs("compare: the files have no result in common\n", stderr);
    return both == 0 ? 2 : count[SLOWER] > 0;
}

/* 0, or -1 with a line on stderr. */
static int open_both(struct bench_report *report, char **path) {
    struct bench_complaint why;
    for (int k = 0; k < 2; k++)
        if (bench_report_read(&report[k], path[k], &why)) {
            fprintf(stderr, "compare: %s\n", why.text);
            return -1;
        }
    return 0;
}

int main(int argc, char **argv) {
    struct bench_report report[2];
    double percent = LEAST_PERCENT;
    int first = 1, usable = 1;
    if (argc == 5 && strcmp(argv[1], "--percent") == 0) {
        char *end;
        percent = strtod(argv[2], &end);
        usable = *end == '\0' && end != argv[2] && percent >= 0 && percent < INFINITY;
        first = 3;
    }
    if (!usable || argc != first + 2) {
        fputs("compare [--percent P] OLD NEW\n", stderr);
        return 2;
    }
    memset(report, 0, sizeof report);
    int status = 2;
    if (open_both(report, argv + first) == 0) status = compare(&report[0], &report[1], percent);
    for (int k = 0; k < 2; k++) bench_report_close(&report[k]);
    return status;
}

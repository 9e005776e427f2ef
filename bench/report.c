/* SPDX-License-Identifier: MIT */
/* report.c - the results of a run: collected, written, read again. */
#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

#ifndef WG_BENCH_FLAGS
#define WG_BENCH_FLAGS "unknown"
#endif
#ifndef WG_BENCH_COMMIT
#define WG_BENCH_COMMIT "unknown"
#endif

#define FORMAT "wengert bench 1"

/* ---- collecting -------------------------------------------------------------------------- */

/* Copies a text, cut where there is no room. */
static void copy(char *to, size_t room, const char *from) {
    size_t n = strnlen(from, room - 1);
    while (n > 0 && ((unsigned char)from[n] & 0xc0) == 0x80) n--; /* a character stays whole */
    memcpy(to, from, n);
    to[n] = '\0';
}

void bench_report_fact(struct bench_report *r, const char *key, const char *value) {
    if (r->facts == BENCH_FACTS) return;
    struct bench_fact *f = &r->fact[r->facts++];
    copy(f->key, sizeof f->key, key);
    copy(f->value, sizeof f->value, value);
}

const char *bench_report_find(const struct bench_report *r, const char *key) {
    for (size_t i = 0; i < r->facts; i++)
        if (strcmp(r->fact[i].key, key) == 0) return r->fact[i].value;
    return NULL;
}

/* "Name of the processor", from the first such line of Linux's table. */
static void processor(struct bench_report *r) {
    char line[256];
    const char *name = "unknown";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        name = colon + 1 + strspn(colon + 1, " ");
        break;
    }
    bench_report_fact(r, "cpu", name);
    if (f) fclose(f);
}

void bench_report_open(struct bench_report *r, const char *bench, size_t samples) {
    char text[24];
    memset(r, 0, sizeof *r);
    bench_report_fact(r, "bench", bench);
    bench_report_fact(r, "version", WG_VERSION);
    bench_report_fact(r, "commit", WG_BENCH_COMMIT);
#ifdef __clang__
    bench_report_fact(r, "compiler", "clang " __clang_version__);
#else
    bench_report_fact(r, "compiler", "gcc " __VERSION__);
#endif
    bench_report_fact(r, "flags", WG_BENCH_FLAGS);
    processor(r);
    bench_report_fact(r, "threads", "1");
    snprintf(text, sizeof text, "%zu", samples);
    bench_report_fact(r, "samples", text);
}

void bench_report_close(struct bench_report *r) {
    free(r->row);
    r->row = NULL;
    r->rows = r->room = 0;
}

/* NULL: no memory. */
static struct bench_row *next(struct bench_report *r) {
    if (r->rows == r->room) {
        const size_t room = r->room ? 2 * r->room : 64;
        struct bench_row *more = realloc(r->row, room * sizeof *more);
        if (!more) {
            r->failed = 1;
            return NULL;
        }
        r->row = more;
        r->room = room;
    }
    struct bench_row *row = &r->row[r->rows++];
    memset(row, 0, sizeof *row);
    row->ratio = row->bytes = row->ns_per_statement = NAN;
    return row;
}

struct bench_row *bench_report_add(struct bench_report *r, const char *group,
                                   const char *workload, const char *tool, const char *quantity,
                                   const struct bench_times *t) {
    static struct bench_row lost;
    struct bench_row *row = next(r);
    if (!row) return &lost;
    copy(row->group, sizeof row->group, group);
    copy(row->workload, sizeof row->workload, workload);
    copy(row->tool, sizeof row->tool, tool);
    copy(row->quantity, sizeof row->quantity, quantity);
    row->seconds = *t;
    return row;
}

void bench_report_put(struct bench_report *r, const struct bench_row *row) {
    struct bench_row *to = next(r);
    if (to) *to = *row;
}

void bench_row_over(struct bench_row *row, const struct bench_times *base, const char *over) {
    row->ratio = row->seconds.median / base->median;
    copy(row->over, sizeof row->over, over);
}

void bench_report_print(const struct bench_report *r) {
    for (size_t i = 0; i < r->facts; i++)
        printf("%-12s %s\n", r->fact[i].key, r->fact[i].value);
}

/* ---- writing ----------------------------------------------------------------------------- */

static void set_number(json_t *object, const char *key, double x) {
    if (isfinite(x)) json_object_set_new(object, key, json_real(x));
}

static json_t *row_json(const struct bench_row *row) {
    const struct bench_times *t = &row->seconds;
    json_t *out = json_pack("{s:s, s:s, s:s, s:s, s:s, s:{s:f, s:f, s:f, s:f}}", "group",
                            row->group, "workload", row->workload, "shape", row->shape, "tool",
                            row->tool, "quantity", row->quantity, "seconds", "median",
                            t->median, "min", t->min, "q1", t->q1, "q3", t->q3);
    if (!out) return NULL;
    if (t->disturbed > 0)
        set_number(json_object_get(out, "seconds"), "disturbed", t->disturbed);
    set_number(out, "size", row->size);
    if (isfinite(row->ratio)) {
        set_number(out, "ratio", row->ratio);
        json_object_set_new(out, "over", json_string(row->over));
    }
    set_number(out, "bytes", row->bytes);
    set_number(out, "ns_per_statement", row->ns_per_statement);
    return out;
}

int bench_report_write(const struct bench_report *r, const char *path) {
    json_t *all = json_pack("{s:s, s:{}, s:[]}", "format", FORMAT, "environment", "results");
    json_t *facts = json_object_get(all, "environment"),
           *rows = json_object_get(all, "results");
    int failed = !all || r->failed;
    for (size_t i = 0; i < r->facts && !failed; i++)
        failed = json_object_set_new(facts, r->fact[i].key, json_string(r->fact[i].value));
    for (size_t i = 0; i < r->rows && !failed; i++)
        failed = json_array_append_new(rows, row_json(&r->row[i]));
    failed = failed || json_dump_file(all, path, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    json_decref(all);
    if (failed) fprintf(stderr, "cannot write the results to %s\n", path);
    return failed ? -1 : 0;
}

/* ---- reading ----------------------------------------------------------------------------- */

static int complain(struct bench_complaint *why, const char *where, const char *what) {
    snprintf(why->text, sizeof why->text, "%.100s: %.200s", where, what);
    return -1;
}

/* What makes a result: texts, and times in their order. */
static int read_row(struct bench_row *row, const json_t *from, const char *where,
                    struct bench_complaint *why) {
    const struct {
        const char *key;
        char *to;
        size_t room;
        int needed;
    } texts[] = {{"group", row->group, sizeof row->group, 1},
                 {"workload", row->workload, sizeof row->workload, 1},
                 {"shape", row->shape, sizeof row->shape, 0},
                 {"tool", row->tool, sizeof row->tool, 1},
                 {"quantity", row->quantity, sizeof row->quantity, 1},
                 {"over", row->over, sizeof row->over, 0}};
    struct bench_times *t = &row->seconds;
    const json_t *seconds = json_object_get(from, "seconds");
    const struct {
        const json_t *of;
        const char *key;
        double *to;
        int needed;
    } numbers[] = {{seconds, "min", &t->min, 1},
                   {seconds, "q1", &t->q1, 1},
                   {seconds, "median", &t->median, 1},
                   {seconds, "q3", &t->q3, 1},
                   {seconds, "disturbed", &t->disturbed, 0},
                   {from, "size", &row->size, 0},
                   {from, "ratio", &row->ratio, 0},
                   {from, "bytes", &row->bytes, 0},
                   {from, "ns_per_statement", &row->ns_per_statement, 0}};
    char what[80];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const json_t *value = json_object_get(from, texts[i].key);
        if (!value && !texts[i].needed) continue;
        snprintf(what, sizeof what, "%s: a text is wanted", texts[i].key);
        if (!json_is_string(value)) return complain(why, where, what);
        copy(texts[i].to, texts[i].room, json_string_value(value));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *value = json_object_get(numbers[i].of, numbers[i].key);
        if (!value && !numbers[i].needed) continue;
        snprintf(what, sizeof what, "%s: a number is wanted", numbers[i].key);
        if (!json_is_number(value)) return complain(why, where, what);
        *numbers[i].to = json_number_value(value);
    }
    if (!(0 < t->min && t->min <= t->q1 && t->q1 <= t->median && t->median <= t->q3))
        return complain(why, where, "seconds: positive and in order is wanted");
    return 0;
}

static int read_all(struct bench_report *r, const json_t *all, const char *path,
                    struct bench_complaint *why) {
    const char *format = json_string_value(json_object_get(all, "format"));
    json_t *facts = json_object_get(all, "environment");
    const json_t *rows = json_object_get(all, "results");
    const char *key;
    json_t *value;
    if (!format || strcmp(format, FORMAT) != 0)
        return complain(why, path, "not of the format " FORMAT);
    if (!json_is_object(facts)) return complain(why, path, "environment: an object is wanted");
    if (!json_is_array(rows)) return complain(why, path, "results: an array is wanted");
    json_object_foreach(facts, key, value) {
        if (!json_is_string(value)) return complain(why, path, "environment: texts are wanted");
        bench_report_fact(r, key, json_string_value(value));
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        char where[100];
        struct bench_row *row = next(r);
        snprintf(where, sizeof where, "%.70s: result %zu", path, i + 1);
        if (!row) return complain(why, where, "no memory");
        if (read_row(row, json_array_get(rows, i), where, why)) return -1;
    }
    return 0;
}

int bench_report_read(struct bench_report *r, const char *path, struct bench_complaint *why) {
    json_error_t wrong;
    memset(r, 0, sizeof *r);
    json_t *all = json_load_file(path, 0, &wrong);
    if (!all) return complain(why, path, wrong.text);
    const int failed = read_all(r, all, path, why);
    json_decref(all);
    return failed;
}

/* SPDX-License-Identifier: MIT */
/* report.c - results as tables with bars on stdout, and as JSON. */
#include "harness.h"

#include <math.h>
#include <string.h>

#ifdef WG_HAVE_JANSSON
#include <jansson.h>
#endif

#ifndef WG_BENCH_FLAGS
#define WG_BENCH_FLAGS "unknown"
#endif
#ifndef WG_BENCH_COMMIT
#define WG_BENCH_COMMIT "unknown"
#endif

void bench_environment(struct bench_environment *e, size_t reps) {
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
#ifdef __clang__
    e->compiler = "clang " __clang_version__;
#else
    e->compiler = "gcc " __VERSION__;
#endif
    e->flags = WG_BENCH_FLAGS;
    e->commit = WG_BENCH_COMMIT;
    e->reps = reps;
    strcpy(e->cpu, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(e->cpu, sizeof e->cpu, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (f) fclose(f);
}

/* ---- text -----------------------------------------------------------------------------------
 */

/* A bar on a logarithmic scale: one mark per factor of 10^(1/8) above 1. */
static void bar(FILE *out, double ratio) {
    enum { WIDEST = 36 };
    int marks = ratio > 1 ? (int)(8 * log10(ratio) + 0.5) : 0;
    marks = (marks > WIDEST ? WIDEST : marks);
    for (int i = 0; i < marks; i++) fputc('#', out);
}

static void line(FILE *out, const char *name, const struct bench_times *t, double primal) {
    const double ratio = t->median / primal;
    fprintf(out, "  %-24s %11.5g %11.5g %11.5g %11.5g %9.2f  ", name, 1e3 * t->median,
            1e3 * t->min, 1e3 * t->q1, 1e3 * t->q3, ratio);
    bar(out, ratio);
    fputc('\n', out);
}

static void block(FILE *out, const struct bench_result *r) {
    const double primal = r->primal.median;
    char name[64];
    fprintf(out, "\n%s: %s; %zu inputs\n", r->workload->name, r->workload->what, r->n);
    fprintf(out, "  %-24s %11s %11s %11s %11s %9s\n", "milliseconds", "median", "min", "q1",
            "q3", "/primal");
    line(out, "primal", &r->primal, primal);
    line(out, "hand-written", &r->handwritten, primal);
    line(out, "wengert", &r->tape, primal);
    line(out, "wengert, recording", &r->record, primal);
    if (r->has_after) line(out, "wengert, after", &r->after, primal);
    if (r->disturbed)
        fprintf(out, "  (%zu samples were disturbed by other processes)\n", r->disturbed);
    for (size_t i = 0; i < r->peers; i++) {
        const struct bench_peer_result *p = &r->peer[i];
        if (p->state < 0)
            fprintf(out, "  %-24s WRONG: off by %.3g ulps, not timed\n", p->peer->name,
                    p->ulps);
        if (p->state <= 0) continue;
        line(out, p->peer->name, &p->times, primal);
        if (r->has_after) {
            snprintf(name, sizeof name, "%s, after", p->peer->name);
            line(out, name, &p->after, primal);
        }
    }
}

void bench_report(FILE *out, const struct bench_environment *e, const struct bench_result *r,
                  size_t results) {
    fprintf(out, "Wengert %s, commit %s\n%s, %s\n%s; one thread; %zu samples in turn\n",
            WG_VERSION, e->commit, e->compiler, e->flags, e->cpu, e->reps);
    for (size_t i = 0; i < results; i++) block(out, &r[i]);
    fprintf(out, "\n%-18s %10s %10s %10s %8s %8s %9s %9s %9s %9s %9s\n", "medians", "primal",
            "hand", "wengert", "wengert", "wengert", "recording", "reverse", "record",
            "adjoint", "error");
    fprintf(out, "%-18s %10s %10s %10s %8s %8s %9s %9s %9s %9s %9s\n", "", "ms", "ms", "ms",
            "/primal", "/hand", "ns/stmt", "ns/stmt", "B/stmt", "B/stmt", "ulps");
    for (size_t i = 0; i < results; i++) {
        const double n = r[i].counts.statements;
        fprintf(out, "%-18s %10.4g %10.4g %10.4g %8.2f %8.2f %9.2f %9.2f %9.1f %9.1f %9.3g\n",
                r[i].workload->name, 1e3 * r[i].primal.median, 1e3 * r[i].handwritten.median,
                1e3 * r[i].tape.median, r[i].tape.median / r[i].primal.median,
                r[i].tape.median / r[i].handwritten.median, 1e9 * r[i].record.median / n,
                1e9 * (r[i].tape.median - r[i].record.median) / n, r[i].counts.record_bytes / n,
                r[i].counts.adjoint_bytes / n, r[i].ulps);
    }
}

/* ---- JSON -----------------------------------------------------------------------------------
 */

#ifdef WG_HAVE_JANSSON

int bench_json_available(void) { return 1; }

static json_t *times(const struct bench_times *t) {
    return json_pack("{s:f, s:f, s:f, s:f}", "median", t->median, "min", t->min, "q1", t->q1,
                     "q3", t->q3);
}

static json_t *result(const struct bench_result *r) {
    json_t *peers = json_array();
    for (size_t i = 0; i < r->peers; i++) {
        const struct bench_peer_result *p = &r->peer[i];
        if (p->state == 0) continue;
        json_t *one = json_pack("{s:s, s:s, s:b}", "name", p->peer->name, "version",
                                p->peer->version, "agrees", p->state > 0);
        if (isfinite(p->ulps)) json_object_set_new(one, "ulps", json_real(p->ulps));
        if (p->state > 0) json_object_set_new(one, "seconds", times(&p->times));
        if (p->state > 0 && r->has_after)
            json_object_set_new(one, "seconds_after", times(&p->after));
        json_array_append_new(peers, one);
    }
    json_t *all = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o}", "name",
        r->workload->name, "what", r->workload->what, "inputs", (json_int_t)r->n, "outputs",
        (json_int_t)r->m, "disturbed", (json_int_t)r->disturbed, "ulps", r->ulps, "statements",
        r->counts.statements, "record_bytes", r->counts.record_bytes, "adjoint_bytes",
        r->counts.adjoint_bytes, "primal", times(&r->primal), "handwritten",
        times(&r->handwritten), "wengert", times(&r->tape), "wengert_recording",
        times(&r->record), "peers", peers);
    if (all && r->has_after) json_object_set_new(all, "wengert_after", times(&r->after));
    return all;
}

int bench_json(const char *path, const struct bench_environment *e,
               const struct bench_result *r, size_t results) {
    json_t *list = json_array();
    for (size_t i = 0; i < results; i++) json_array_append_new(list, result(&r[i]));
    json_t *all =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:o}", "version", WG_VERSION, "commit",
                  e->commit, "compiler", e->compiler, "flags", e->flags, "cpu", e->cpu,
                  "samples", (json_int_t)e->reps, "unit", "seconds", "workloads", list);
    const int failed =
        !all || json_dump_file(all, path, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(all);
    if (failed) fprintf(stderr, "bench: cannot write %s\n", path);
    return failed ? -1 : 0;
}

#else

int bench_json_available(void) { return 0; }

int bench_json(const char *path, const struct bench_environment *e,
               const struct bench_result *r, size_t results) {
    (void)e;
    (void)r;
    (void)results;
    fprintf(stderr, "bench: %s not written: built without jansson (Debian: libjansson-dev)\n",
            path);
    return -1;
}

#endif

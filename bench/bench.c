/* SPDX-License-Identifier: MIT */
/* bench.c - what does a derivative cost? Each workload is verified, then timed: the function in
 * plain double, its hand-written derivative, Wengert, recording with and without code kept, and
 * with --peers other libraries. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 3, OWN_JOBS = 5, MAX_PEERS = 24 };
static const enum bench_size sizes[SIZES] = {BENCH_SIXTEENTH, BENCH_QUARTER, BENCH_TIMED};

/* One workload with everything that its derivatives need. */
struct run {
    const struct bench_workload *w;
    struct bench_case c, crowd;
    wg_tape *tape, *keeping; /* keeping: the code, too */
    wg_real *vars;
    double *y, *entries, *reference;
    struct bench_counts counts;
    wg_status status;
};

static void run_free(struct run *r) {
    bench_case_free(&r->c);
    bench_case_free(&r->crowd);
    wg_tape_free(r->tape);
    wg_tape_free(r->keeping);
    free(r->vars);
    free(r->y);
    free(r->entries);
    free(r->reference);
}

/* 0, or -1: no memory. */
static int run_new(struct run *r, const struct bench_workload *w, enum bench_size size) {
    memset(r, 0, sizeof *r);
    r->w = w;
    if (bench_case_new(&r->c, w, size)) return -1;
    if (w->id == BENCH_small && size == BENCH_TIMED &&
        bench_case_new(&r->crowd, w, BENCH_CROWD)) {
        run_free(r);
        return -1;
    }
    r->tape = wg_tape_new(NULL);
    r->keeping = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    r->vars = malloc((r->c.n + r->c.work) * sizeof *r->vars);
    r->y = malloc(r->c.m * sizeof *r->y);
    r->entries = malloc(r->c.entries * sizeof *r->entries);
    r->reference = malloc(r->c.entries * sizeof *r->reference);
    if (r->tape && r->keeping && r->vars && r->y && r->entries && r->reference) return 0;
    run_free(r);
    return -1;
}

/* ---- what is timed
 * ---------------------------------------------------------------------------- */

struct peer_run {
    struct run *run;
    const struct bench_peer *peer;
    int failed;
};

static void run_primal(void *ctx) {
    struct run *r = ctx;
    r->w->primal(&r->c, r->y);
}
static void run_handwritten(void *ctx) {
    struct run *r = ctx;
    r->w->handwritten(&r->c, r->entries);
}
static void keep_first(struct run *r, wg_status s) {
    if (r->status == WG_OK) r->status = s;
}
static void run_tape(void *ctx) {
    struct run *r = ctx;
    keep_first(r, r->w->tape(r->tape, &r->c, r->vars, r->entries, NULL));
}
static void run_record(void *ctx) {
    struct run *r = ctx;
    keep_first(r, r->w->tape(r->tape, &r->c, r->vars, NULL, NULL));
}
static void run_record_kept(void *ctx) {
    struct run *r = ctx;
    keep_first(r, r->w->tape(r->keeping, &r->c, r->vars, NULL, NULL));
}
static void run_peer(void *ctx) {
    struct peer_run *p = ctx;
    p->failed |= p->peer->derivative[p->run->w->id](&p->run->c, p->run->entries) != 0;
}

/* ---- verification
 * ----------------------------------------------------------------------------- */

/* One of the tapes against the hand-written derivative; infinite where even the tape failed. */
static double verify_one(struct run *r, wg_tape *t, struct bench_counts *counts) {
    const wg_status s = r->w->tape(t, &r->c, r->vars, r->entries, counts);
    if (s != WG_OK) {
        fprintf(stderr, "bench: %s: %s; %s\n", r->w->name, wg_status_text(s),
                wg_tape_message(t));
        return INFINITY;
    }
    return bench_ulps(r->c.entries, r->entries, r->reference);
}

/* Wengert against the hand-written derivative, whether it keeps the code or not. */
static double verify_tape(struct run *r) {
    r->w->handwritten(&r->c, r->reference);
    memset(&r->counts, 0, sizeof r->counts);
    const double kept = verify_one(r, r->keeping, NULL);
    return fmax(kept, verify_one(r, r->tape, &r->counts));
}

static int measured(const struct bench_peer *peer, const struct bench_workload *w) {
    return peer->derivative[w->id] && !peer->evals_only;
}

/* A peer against the hand-written derivative in r->reference. */
static double verify_peer(struct run *r, const struct bench_peer *peer) {
    memset(r->entries, 0, r->c.entries * sizeof *r->entries);
    if (peer->derivative[r->w->id](&r->c, r->entries)) return INFINITY;
    return bench_ulps(r->c.entries, r->entries, r->reference);
}

/* The number of disagreements, or -1: no memory. */
static int small(const struct bench_options *o) {
    int wrong = 0;
    printf("%-18s %8s %14s %14s", "verification", "inputs", "differences", "wengert, ulps");
    for (size_t k = 0; o->peers && k < bench_peer_count; k++)
        printf(" %14.14s", bench_peers[k]->name);
    putchar('\n');
    for (size_t i = 0; i < BENCH_WORKLOADS; i++) {
        const struct bench_workload *w = &bench_workloads[i];
        struct run r;
        if (!bench_selected(o, w->name)) continue;
        if (run_new(&r, w, BENCH_CHECKED)) return -1;
        const double difference = bench_difference(w, &r.c), ulps = verify_tape(&r);
        int bad = !(difference <= BENCH_DIFFERENCE_TOLERANCE) || !(ulps <= w->ulps);
        printf("%-18s %8zu %14.3g %14.3g", w->name, r.c.n, difference, ulps);
        for (size_t k = 0; o->peers && k < bench_peer_count; k++) {
            const struct bench_peer *peer = bench_peers[k];
            if (!measured(peer, w) || (peer->open && peer->open(w->id, &r.c))) {
                printf(" %14s", "-");
                continue;
            }
            const double error = verify_peer(&r, peer);
            bad |= !(error <= w->ulps);
            printf(" %14.3g", error);
            if (peer->close) peer->close(w->id);
        }
        printf("  %s\n", bad ? "WRONG" : "ok");
        wrong += bad;
        run_free(&r);
    }
    return wrong;
}

/* ---- timing ------------------------------------------------------------------------------ */

struct peer_result {
    const struct bench_peer *peer;
    int state; /* 1: timed; 0: not for this peer; -1: disagrees */
    double ulps;
    struct bench_times times, after;
};

struct result {
    const struct bench_workload *workload;
    size_t size, n;
    double ulps; /* Wengert against hand-written, at the size that is compared */
    int has_after;
    struct bench_times primal, handwritten, tape, record, kept, after;
    struct bench_counts counts;
    size_t disturbed; /* samples, of all */
    struct peer_result peer[MAX_PEERS];
    size_t peers;
};

/* Verifies peer k of a result at the size that is compared. */
static void open_peer(const struct bench_peer *peer, struct run *checked, struct run *r,
                      struct peer_result *out) {
    const enum bench_id id = r->w->id;
    memset(out, 0, sizeof *out);
    out->peer = peer;
    if (!measured(peer, r->w) || (peer->open && peer->open(id, &checked->c))) return;
    out->ulps = verify_peer(checked, peer);
    out->state = (out->ulps <= r->w->ulps ? 1 : -1);
    if (peer->close && (checked != r || out->state < 0)) peer->close(id);
    if (checked != r && out->state > 0 && peer->open && peer->open(id, &r->c)) out->state = 0;
}

/* The crowd: one large derivative by everyone, then the small one timed again. */
static int time_after(struct run *r, struct result *out, struct bench_job *job, size_t *owner,
                      size_t jobs, const struct bench_options *o) {
    struct run crowd = *r;
    struct bench_job again[1 + MAX_PEERS];
    size_t n = 0;
    crowd.c = r->crowd;
    run_tape(&crowd);
    for (size_t j = 0; j < jobs; j++) {
        if (job[j].run == run_peer) {
            const struct bench_peer *peer = out->peer[owner[j]].peer;
            if (peer->open) peer->open(r->w->id, &crowd.c);
            peer->derivative[r->w->id](&crowd.c, r->entries);
            if (peer->open) peer->open(r->w->id, &r->c);
        }
        if (job[j].run == run_peer || job[j].run == run_tape) {
            owner[n] = owner[j];
            again[n++] = job[j];
        }
    }
    if (crowd.status != WG_OK || bench_time(again, n, o->reps, "small, after")) return -1;
    out->has_after = 1;
    for (size_t j = 0; j < n; j++)
        *(again[j].run == run_peer ? &out->peer[owner[j]].after : &out->after) = again[j].times;
    return 0;
}

static void add_job(struct bench_job *job, size_t *jobs, void (*run)(void *), void *ctx,
                    const char *label) {
    struct bench_job *j = &job[(*jobs)++];
    memset(j, 0, sizeof *j);
    j->run = run;
    j->ctx = ctx;
    j->label = label;
}

/* 0: done; 1: Wengert disagrees; -1: no memory. */
static int time_one(const struct bench_options *o, const struct bench_workload *w,
                    enum bench_size size, struct result *out) {
    struct run r, few, *const checked = w->small_only ? &few : &r;
    struct bench_job job[OWN_JOBS + MAX_PEERS];
    struct peer_run peers[MAX_PEERS];
    size_t jobs = 0, owner[OWN_JOBS + MAX_PEERS] = {0};
    int failed = 0;
    if (run_new(&r, w, size)) return -1;
    if (w->small_only && run_new(&few, w, BENCH_CHECKED)) {
        run_free(&r);
        return -1;
    }
    add_job(job, &jobs, run_primal, &r, "primal");
    add_job(job, &jobs, run_handwritten, &r, "hand-written");
    add_job(job, &jobs, run_tape, &r, "Wengert");
    add_job(job, &jobs, run_record, &r, "Wengert, recording");
    add_job(job, &jobs, run_record_kept, &r, "Wengert, code kept");
    out->workload = w;
    out->size = r.c.size;
    out->n = r.c.n;
    out->ulps = verify_tape(checked);
    if (w->small_only) w->tape(r.tape, &r.c, r.vars, r.entries, &r.counts);
    out->counts = r.counts;
    if (!(out->ulps <= w->ulps)) {
        fprintf(stderr,
                "bench: %s: Wengert and the hand-written derivative differ by %g ulps\n",
                w->name, out->ulps);
        failed = 1;
    }
    for (size_t k = 0; o->peers && k < bench_peer_count && k < MAX_PEERS && !failed; k++) {
        struct peer_result *p = &out->peer[out->peers++];
        open_peer(bench_peers[k], checked, &r, p);
        if (p->state > 0) {
            peers[k] = (struct peer_run){&r, bench_peers[k], 0};
            owner[jobs] = k;
            add_job(job, &jobs, run_peer, &peers[k], bench_peers[k]->name);
        }
    }
    if (!failed && bench_time(job, jobs, o->reps, w->name)) failed = -1;
    if (r.status != WG_OK) {
        fprintf(stderr, "bench: %s: %s\n", w->name, wg_status_text(r.status));
        failed = 1;
    }
    out->primal = job[0].times;
    out->handwritten = job[1].times;
    out->tape = job[2].times;
    out->record = job[3].times;
    out->kept = job[4].times;
    for (size_t j = OWN_JOBS; j < jobs; j++) out->peer[owner[j]].times = job[j].times;
    for (size_t j = 0; j < jobs; j++) out->disturbed += job[j].disturbed;
    if (!failed && r.crowd.n != 0 && time_after(&r, out, job, owner, jobs, o)) failed = -1;
    for (size_t k = 0; k < out->peers; k++) {
        struct peer_result *p = &out->peer[k];
        if (p->state <= 0) continue;
        if (p->peer->close) p->peer->close(w->id);
        if (peers[k].failed) p->state = -1;
    }
    if (w->small_only) run_free(&few);
    run_free(&r);
    return failed;
}

/* ---- what is printed --------------------------------------------------------------------- */

/* A bar on a logarithmic scale: one mark per factor of 10^(1/8) above 1. */
static void bar(double ratio) {
    enum { WIDEST = 36 };
    int marks = ratio > 1 ? (int)(8 * log10(ratio) + 0.5) : 0;
    marks = (marks > WIDEST ? WIDEST : marks);
    for (int i = 0; i < marks; i++) putchar('#');
}

static void line(const char *name, const struct bench_times *t, double primal) {
    const double ratio = t->median / primal;
    printf("  %-24s %11.5g %11.5g %11.5g %11.5g %9.2f  ", name, 1e3 * t->median, 1e3 * t->min,
           1e3 * t->q1, 1e3 * t->q3, ratio);
    bar(ratio);
    putchar('\n');
}

static void print_one(const struct result *r) {
    const double primal = r->primal.median;
    char name[64];
    printf("\n%s: %s; size %zu, %zu inputs\n", r->workload->name, r->workload->what, r->size,
           r->n);
    printf("  %-24s %11s %11s %11s %11s %9s\n", "milliseconds", "median", "min", "q1", "q3",
           "/primal");
    line("primal", &r->primal, primal);
    line("hand-written", &r->handwritten, primal);
    line("Wengert", &r->tape, primal);
    line("Wengert, recording", &r->record, primal);
    line("Wengert, code kept", &r->kept, primal);
    if (r->has_after) line("Wengert, after", &r->after, primal);
    if (r->disturbed)
        printf("  (%zu samples were disturbed by other processes)\n", r->disturbed);
    for (size_t i = 0; i < r->peers; i++) {
        const struct peer_result *p = &r->peer[i];
        if (p->state < 0)
            printf("  %-24s WRONG: failed, or off by %.3g ulps\n", p->peer->name, p->ulps);
        if (p->state <= 0) continue;
        line(p->peer->name, &p->times, primal);
        if (r->has_after) {
            snprintf(name, sizeof name, "%s, after", p->peer->name);
            line(name, &p->after, primal);
        }
    }
}

static void print_table(const struct result *r, size_t results) {
    double logs = 0;
    printf("\n%-18s %8s %10s %10s %10s %8s %8s %9s %9s %9s %9s %9s %9s\n", "medians", "size",
           "primal", "hand", "Wengert", "Wengert", "Wengert", "recording", "code kept",
           "reverse", "record", "adjoint", "error");
    printf("%-18s %8s %10s %10s %10s %8s %8s %9s %9s %9s %9s %9s %9s\n", "", "", "ms", "ms",
           "ms", "/primal", "/hand", "ns/stmt", "/without", "ns/stmt", "B/stmt", "B/stmt",
           "ulps");
    for (size_t i = 0; i < results; i++) {
        const double n = r[i].counts.statements;
        const double kept = r[i].kept.median / r[i].record.median;
        logs += log(kept);
        printf("%-18s %8zu %10.4g %10.4g %10.4g %8.2f %8.2f %9.2f %9.2f %9.2f %9.1f %9.1f "
               "%9.3g\n",
               r[i].workload->name, r[i].size, 1e3 * r[i].primal.median,
               1e3 * r[i].handwritten.median, 1e3 * r[i].tape.median,
               r[i].tape.median / r[i].primal.median,
               r[i].tape.median / r[i].handwritten.median, 1e9 * r[i].record.median / n, kept,
               1e9 * (r[i].tape.median - r[i].record.median) / n, r[i].counts.record_bytes / n,
               r[i].counts.adjoint_bytes / n, r[i].ulps);
    }
    if (results)
        printf("recording with code kept over without, geometric mean of %zu: %.2f\n", results,
               exp(logs / (double)results));
}

/* ---- what is written --------------------------------------------------------------------- */

static struct bench_row *add(struct bench_report *to, const struct result *r, const char *tool,
                             const char *quantity, const struct bench_times *t) {
    struct bench_row *row = bench_report_add(to, "tape", r->workload->name, tool, quantity, t);
    row->size = (double)r->size;
    snprintf(row->shape, sizeof row->shape, "%zu", r->size);
    if (t != &r->primal) bench_row_over(row, &r->primal, "primal");
    return row;
}

static void collect(struct bench_report *to, const struct result *r) {
    const double n = r->counts.statements;
    add(to, r, "C", "primal", &r->primal);
    add(to, r, "hand-written", "derivative", &r->handwritten);
    struct bench_row *row = add(to, r, "Wengert", "derivative", &r->tape);
    row->bytes = r->counts.record_bytes + r->counts.adjoint_bytes;
    row->ns_per_statement = 1e9 * r->tape.median / n;
    row = add(to, r, "Wengert", "derivative, recording", &r->record);
    row->bytes = r->counts.record_bytes;
    row->ns_per_statement = 1e9 * r->record.median / n;
    row = add(to, r, "Wengert", "recording, code kept", &r->kept);
    bench_row_over(row, &r->record, "derivative, recording");
    row->ns_per_statement = 1e9 * r->kept.median / n;
    if (r->has_after) add(to, r, "Wengert", "derivative, after a large one", &r->after);
    for (size_t i = 0; i < r->peers; i++) {
        const struct peer_result *p = &r->peer[i];
        if (p->state <= 0) continue;
        add(to, r, p->peer->name, "derivative", &p->times);
        if (r->has_after) add(to, r, p->peer->name, "derivative, after a large one", &p->after);
    }
}

struct task {
    const struct bench_options *o;
    const struct bench_workload *w;
    enum bench_size size;
};

static int run_task(const void *what, void *result) {
    const struct task *t = what;
    return time_one(t->o, t->w, t->size, result);
}

/* The number of workloads and peers that are wrong, or -1: no file. */
static int timed(const struct bench_options *o) {
    static struct result result[BENCH_WORKLOADS * SIZES];
    struct bench_report report;
    size_t results = 0, calls = 0;
    int wrong = 0;
    bench_report_open(&report, "bench", o->reps);
    for (size_t k = 0; o->peers && k < bench_peer_count; k++)
        bench_report_fact(&report, bench_peers[k]->name, bench_peers[k]->version);
    bench_report_print(&report);
    for (size_t i = 0; i < BENCH_WORKLOADS; i++)
        if (bench_selected(o, bench_workloads[i].name))
            calls += (size_t)(bench_workloads[i].swept ? SIZES : 1) + (i == BENCH_small);
    bench_progress_begin(calls);
    for (size_t i = 0; i < BENCH_WORKLOADS; i++) {
        const struct bench_workload *w = &bench_workloads[i];
        if (!bench_selected(o, w->name)) continue;
        for (size_t k = w->swept ? 0 : SIZES - 1; k < SIZES; k++) {
            struct result *r = &result[results];
            const struct task task = {o, w, sizes[k]};
            if (bench_apart(w->name, run_task, &task, r, sizeof *r) != 0) {
                wrong++;
                continue;
            }
            for (size_t j = 0; j < r->peers; j++) wrong += r->peer[j].state < 0;
            print_one(r);
            fflush(stdout);
            collect(&report, r);
            results++;
        }
    }
    print_table(result, results);
    const int lost = o->json && bench_report_write(&report, o->json);
    bench_report_close(&report);
    return lost ? -1 : wrong;
}

int main(int argc, char **argv) {
    struct bench_options o;
    int known = 0, wrong = 0;
    if (bench_options(&o, argc, argv, BENCH_TAKES_ORACLE)) return 2;
    for (size_t i = 0; i < BENCH_WORKLOADS; i++)
        known += bench_selected(&o, bench_workloads[i].name);
    if (known == 0) {
        fprintf(stderr, "bench: no workload %s; there are", o.only);
        for (size_t i = 0; i < BENCH_WORKLOADS; i++)
            fprintf(stderr, " %s", bench_workloads[i].name);
        fputc('\n', stderr);
        return 2;
    }
    if (o.peers)
        for (const char *const *a = bench_peers_absent; *a; a++)
            printf("peer not built in: %s\n", *a);
    if (o.oracle) {
        wrong = bench_oracle(o.oracle, stdout);
        if (wrong < 0) {
            fprintf(stderr, "bench: cannot read %s\n", o.oracle);
            return 2;
        }
    }
    const int more = (o.small ? small(&o) : timed(&o));
    if (more < 0) {
        fputs("bench: stopped: no memory, or no file\n", stderr);
        return 2;
    }
    return wrong + more > 0;
}

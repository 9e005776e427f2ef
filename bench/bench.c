/* SPDX-License-Identifier: MIT */
/* bench.c - what does a derivative cost? Each workload is verified, then timed: the function in
 * plain double, its hand-written derivative, Wengert, and with --peers other libraries. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

struct options {
    int small, peers;
    const char *json, *only, *oracle;
    size_t reps;
};

static const char usage[] =
    "bench [--small] [--only NAME] [--reps N] [--peers] [--json FILE] [--oracle FILE]\n"
    "  --small        verify every workload at a small size and stop\n"
    "  --only NAME    one workload\n"
    "  --reps N       samples of each time, at least 7 (default 11)\n"
    "  --peers        other libraries too, as far as they are built in\n"
    "  --json FILE    write the results to FILE as well\n"
    "  --oracle FILE  verify against the reference values in FILE first\n";

/* One workload with everything that its derivatives need. */
struct run {
    const struct bench_workload *w;
    struct bench_case c, crowd;
    wg_tape *tape;
    wg_real *vars;
    double *y, *entries, *reference;
    struct bench_counts counts;
    wg_status status;
};

static void run_free(struct run *r) {
    bench_case_free(&r->c);
    bench_case_free(&r->crowd);
    wg_tape_free(r->tape);
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
    r->vars = malloc((r->c.n + r->c.work) * sizeof *r->vars);
    r->y = malloc(r->c.m * sizeof *r->y);
    r->entries = malloc(r->c.entries * sizeof *r->entries);
    r->reference = malloc(r->c.entries * sizeof *r->reference);
    if (r->tape && r->vars && r->y && r->entries && r->reference) return 0;
    run_free(r);
    return -1;
}

/* ---- what is timed
 * ---------------------------------------------------------------------------- */

struct peer_run {
    struct run *run;
    const struct bench_peer *peer;
};

static void run_primal(void *ctx) {
    struct run *r = ctx;
    r->w->primal(&r->c, r->y);
}
static void run_handwritten(void *ctx) {
    struct run *r = ctx;
    r->w->handwritten(&r->c, r->entries);
}
static void run_tape(void *ctx) {
    struct run *r = ctx;
    r->status = r->w->tape(r->tape, &r->c, r->vars, r->entries, NULL);
}
static void run_record(void *ctx) {
    struct run *r = ctx;
    r->status = r->w->tape(r->tape, &r->c, r->vars, NULL, NULL);
}
static void run_peer(void *ctx) {
    struct peer_run *p = ctx;
    p->peer->derivative[p->run->w->id](&p->run->c, p->run->entries);
}

/* ---- verification
 * ----------------------------------------------------------------------------- */

/* Wengert against the hand-written derivative; NaN where even the tape failed. */
static double verify_tape(struct run *r) {
    r->w->handwritten(&r->c, r->reference);
    memset(&r->counts, 0, sizeof r->counts);
    const wg_status s = r->w->tape(r->tape, &r->c, r->vars, r->entries, &r->counts);
    if (s != WG_OK) {
        fprintf(stderr, "bench: %s: %s; %s\n", r->w->name, wg_status_text(s),
                wg_tape_message(r->tape));
        return INFINITY;
    }
    return bench_ulps(r->c.entries, r->entries, r->reference);
}

/* A peer against the hand-written derivative in r->reference. */
static double verify_peer(struct run *r, const struct bench_peer *peer) {
    memset(r->entries, 0, r->c.entries * sizeof *r->entries);
    if (peer->derivative[r->w->id](&r->c, r->entries)) return INFINITY;
    return bench_ulps(r->c.entries, r->entries, r->reference);
}

static int selected(const struct options *o, const struct bench_workload *w) {
    return !o->only || strcmp(o->only, w->name) == 0;
}

/* The number of disagreements, or -1: no memory. */
static int small(const struct options *o) {
    int wrong = 0;
    printf("%-18s %8s %14s %14s", "verification", "inputs", "differences", "wengert, ulps");
    for (size_t k = 0; o->peers && k < bench_peer_count; k++)
        printf(" %14.14s", bench_peers[k]->name);
    putchar('\n');
    for (size_t i = 0; i < BENCH_WORKLOADS; i++) {
        const struct bench_workload *w = &bench_workloads[i];
        struct run r;
        if (!selected(o, w)) continue;
        if (run_new(&r, w, BENCH_CHECKED)) return -1;
        const double difference = bench_difference(w, &r.c), ulps = verify_tape(&r);
        int bad = !(difference <= BENCH_DIFFERENCE_TOLERANCE) || !(ulps <= w->ulps);
        printf("%-18s %8zu %14.3g %14.3g", w->name, r.c.n, difference, ulps);
        for (size_t k = 0; o->peers && k < bench_peer_count; k++) {
            const struct bench_peer *peer = bench_peers[k];
            if (!peer->derivative[w->id] || (peer->open && peer->open(w->id, &r.c))) {
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

/* ---- timing
 * ------------------------------------------------------------------------------------ */

/* Verifies peer k of a result at the size that is compared. */
static void open_peer(const struct bench_peer *peer, struct run *checked, struct run *r,
                      struct bench_peer_result *out) {
    const enum bench_id id = r->w->id;
    memset(out, 0, sizeof *out);
    out->peer = peer;
    if (!peer->derivative[id] || (peer->open && peer->open(id, &checked->c))) return;
    out->ulps = verify_peer(checked, peer);
    out->state = (out->ulps <= r->w->ulps ? 1 : -1);
    if (peer->close && (checked != r || out->state < 0)) peer->close(id);
    if (checked != r && out->state > 0 && peer->open && peer->open(id, &r->c)) out->state = 0;
}

/* The crowd: one large derivative by everyone, then the small one timed again. */
static int time_after(struct run *r, struct bench_result *out, struct bench_job *job,
                      size_t *owner, size_t jobs, const struct options *o) {
    struct run crowd = *r;
    struct bench_job again[1 + BENCH_MAX_PEERS];
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

/* 0: done; 1: Wengert or a peer disagrees; -1: no memory. */
static int time_one(const struct options *o, const struct bench_workload *w,
                    struct bench_result *out) {
    struct run r, few, *const checked = w->small_only ? &few : &r;
    struct bench_job job[4 + BENCH_MAX_PEERS];
    struct peer_run peers[BENCH_MAX_PEERS];
    size_t jobs = 0, owner[4 + BENCH_MAX_PEERS] = {0};
    int failed = 0;
    memset(out, 0, sizeof *out);
    if (run_new(&r, w, BENCH_TIMED)) return -1;
    if (w->small_only && run_new(&few, w, BENCH_CHECKED)) {
        run_free(&r);
        return -1;
    }
    add_job(job, &jobs, run_primal, &r, "primal");
    add_job(job, &jobs, run_handwritten, &r, "hand-written");
    add_job(job, &jobs, run_tape, &r, "wengert");
    add_job(job, &jobs, run_record, &r, "wengert, recording");
    out->workload = w;
    out->n = r.c.n;
    out->m = r.c.m;
    out->entries = r.c.entries;
    out->ulps = verify_tape(checked);
    if (w->small_only) w->tape(r.tape, &r.c, r.vars, r.entries, &r.counts);
    out->counts = r.counts;
    if (!(out->ulps <= w->ulps)) {
        fprintf(stderr,
                "bench: %s: Wengert and the hand-written derivative differ by %g ulps\n",
                w->name, out->ulps);
        failed = 1;
    }
    for (size_t k = 0; o->peers && k < bench_peer_count && k < BENCH_MAX_PEERS && !failed;
         k++) {
        struct bench_peer_result *p = &out->peer[out->peers++];
        open_peer(bench_peers[k], checked, &r, p);
        if (p->state > 0) {
            peers[k].run = &r;
            peers[k].peer = bench_peers[k];
            owner[jobs] = k;
            add_job(job, &jobs, run_peer, &peers[k], bench_peers[k]->name);
        }
    }
    if (!failed && bench_time(job, jobs, o->reps, w->name)) failed = -1;
    out->primal = job[0].times;
    out->handwritten = job[1].times;
    out->tape = job[2].times;
    out->record = job[3].times;
    for (size_t j = 4; j < jobs; j++) out->peer[owner[j]].times = job[j].times;
    for (size_t j = 0; j < jobs; j++) out->disturbed += job[j].disturbed;
    if (!failed && r.crowd.n != 0 && time_after(&r, out, job, owner, jobs, o)) failed = -1;
    for (size_t k = 0; k < out->peers; k++)
        if (out->peer[k].state > 0 && out->peer[k].peer->close) out->peer[k].peer->close(w->id);
    if (w->small_only) run_free(&few);
    run_free(&r);
    return failed;
}

static int timed(const struct options *o) {
    static struct bench_result result[BENCH_WORKLOADS];
    struct bench_environment e;
    size_t results = 0;
    int wrong = 0;
    bench_environment(&e, o->reps);
    for (size_t i = 0; i < BENCH_WORKLOADS; i++) {
        if (!selected(o, &bench_workloads[i])) continue;
        const int failed = time_one(o, &bench_workloads[i], &result[results]);
        if (failed < 0) return -1;
        for (size_t k = 0; k < result[results].peers; k++)
            wrong += result[results].peer[k].state < 0;
        wrong += failed;
        results += !failed;
    }
    bench_report(stdout, &e, result, results);
    if (o->json && bench_json(o->json, &e, result, results)) return -1;
    return wrong;
}

/* ---- the command line
 * --------------------------------------------------------------------------- */

/* 0, or -1: not understood. */
static int parse(int argc, char **argv, struct options *o) {
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(a, "--small") == 0) {
            o->small = 1;
        } else if (strcmp(a, "--peers") == 0) {
            o->peers = 1;
        } else if (!value) {
            return -1;
        } else if (strcmp(a, "--json") == 0) {
            o->json = value;
            i++;
        } else if (strcmp(a, "--only") == 0) {
            o->only = value;
            i++;
        } else if (strcmp(a, "--oracle") == 0) {
            o->oracle = value;
            i++;
        } else if (strcmp(a, "--reps") == 0) {
            char *end;
            const unsigned long n = strtoul(value, &end, 10);
            if (*end != '\0' || n < BENCH_MIN_REPS || n > 10000) return -1;
            o->reps = n;
            i++;
        } else {
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    struct options o = {0, 0, NULL, NULL, NULL, 11};
    int known = 0, wrong = 0;
    if (parse(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    for (size_t i = 0; i < BENCH_WORKLOADS; i++) known += selected(&o, &bench_workloads[i]);
    if (known == 0) {
        fprintf(stderr, "bench: no workload %s; there are", o.only);
        for (size_t i = 0; i < BENCH_WORKLOADS; i++)
            fprintf(stderr, " %s", bench_workloads[i].name);
        fputc('\n', stderr);
        return 2;
    }
    if (o.json && !bench_json_available()) {
        fputs("bench: --json needs jansson at build time (Debian: libjansson-dev)\n", stderr);
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

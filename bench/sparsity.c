/* SPDX-License-Identifier: MIT */
/* sparsity - what does a sparse Jacobian or Hessian cost: once, to find the pattern and the
 * colours, and then at every point?
 *
 * The five-point residuals of Bratu's problem, and Rosenbrock's chained function, with up to
 * 10^6 unknowns. Verified first, entry for entry, against the derivative written by hand, which
 * is also the floor that all times are over. What is found once is found for every call of
 * "pattern". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sparsity.h"
#include "workloads/rosenbrock.h"

#ifdef WG_HAVE_ADOLC_SPARSE
extern const struct sparsity_peer sparsity_peer_adolc;
static const struct sparsity_peer *const peer = &sparsity_peer_adolc;
#else
static const struct sparsity_peer *const peer = NULL;
#endif

static const size_t sides[] = {100, 316, 1000};
enum { SIZES = sizeof sides / sizeof *sides, MOST_PER_LINE = 5 };

static const struct {
    const char *name, *title;
} problems[SPARSITY_PROBLEMS] = {{"bratu", "Bratu on a grid, Jacobian"},
                                 {"rosenbrock", "Rosenbrock's chain, Hessian"}};

/* ---- the functions ----------------------------------------------------------------------- */

static wg_status bratu(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    const struct sparsity_case *const c = data;
    const size_t k = c->side;
    const wg_real rim = wg_constant(0);
    (void)n, (void)m;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            const wg_real *const u = &x[j * k + i];
            const wg_real west = i > 0 ? u[-1] : rim, east = i + 1 < k ? u[1] : rim;
            const wg_real south = j > 0 ? u[-(ptrdiff_t)k] : rim,
                          north = j + 1 < k ? u[k] : rim;
            y[j * k + i] =
                wg_let(t, wg_add(wg_add(wg_add(west, east), wg_add(south, north)),
                                 wg_sub(wg_mul(c->source, wg_exp(*u)), wg_mul(4, *u))));
        }
    return WG_OK;
}

static wg_status rosenbrock(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const struct rosenbrock_params terms = {n - 1};
    (void)m, (void)data;
    y[0] = rosenbrock_real(t, &terms, x, NULL);
    return WG_OK;
}

/* ---- by hand ----------------------------------------------------------------------------- */

/* Entries by rows; also y, which the others compute on the way. */
static void bratu_by_hand(const struct sparsity_case *c, double *y, double *value) {
    const size_t k = c->side;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            const double *const u = &c->x[j * k + i];
            const double slope = c->source * exp(*u);
            double sum = slope - 4 * *u;
            if (j > 0) sum += u[-(ptrdiff_t)k], *value++ = 1;
            if (i > 0) sum += u[-1], *value++ = 1;
            *value++ = slope - 4;
            if (i + 1 < k) sum += u[1], *value++ = 1;
            if (j + 1 < k) sum += u[k], *value++ = 1;
            y[j * k + i] = sum;
        }
}

/* The lower triangle by rows, and the gradient. */
static void rosenbrock_by_hand(const struct sparsity_case *c, double *g, double *value) {
    const size_t n = c->n;
    const double *const x = c->x;
    for (size_t i = 0; i < n; i++) {
        double diagonal = 0, slope = 0;
        if (i > 0) {
            const double r = x[i] - x[i - 1] * x[i - 1];
            *value++ = -400 * x[i - 1];
            diagonal += 200;
            slope += 200 * r;
        }
        if (i + 1 < n) {
            const double r = x[i + 1] - x[i] * x[i];
            diagonal += 1200 * x[i] * x[i] - 400 * x[i + 1] + 2;
            slope += -400 * x[i] * r - 2 * (1 - x[i]);
        }
        *value++ = diagonal;
        g[i] = slope;
    }
}

/* ---- what is timed ----------------------------------------------------------------------- */

struct run {
    struct sparsity_case c;
    wg_tape *t;
    wg_sparsity *s;
    double *x, *y, *value, *expected;
    struct sparsity_entries theirs;
    int failed;
};

static void run_by_hand(void *ctx) {
    struct run *const r = ctx;
    (r->c.problem == SPARSITY_BRATU ? bratu_by_hand : rosenbrock_by_hand)(&r->c, r->y,
                                                                          r->expected);
}

/* Recording and one sweep: the cost of which sparse derivatives are a multiple. */
static void run_gradient(void *ctx) {
    struct run *const r = ctx;
    const size_t n = r->c.n;
    const int jacobian = r->c.problem == SPARSITY_BRATU;
    double f;
    const wg_status s = jacobian ? wg_vjp(r->t, bratu, &r->c, n, r->x, n, r->x, r->y, r->value)
                                 : wg_gradient(r->t, rosenbrock, &r->c, n, r->x, &f, r->value);
    r->failed |= s != WG_OK;
}

static void run_pattern(void *ctx) {
    struct run *const r = ctx;
    const size_t n = r->c.n;
    wg_sparsity_free(r->s);
    const wg_status s =
        r->c.problem == SPARSITY_BRATU
            ? wg_jacobian_sparsity(r->t, bratu, &r->c, n, r->x, n, WG_ROW_MAJOR, &r->s)
            : wg_hessian_sparsity(r->t, rosenbrock, &r->c, n, r->x, 1, 'L', WG_ROW_MAJOR,
                                  &r->s);
    r->failed |= s != WG_OK;
}

static void run_entries(void *ctx) {
    struct run *const r = ctx;
    double f;
    const wg_status s =
        r->c.problem == SPARSITY_BRATU
            ? wg_sparse_jacobian(r->t, r->s, bratu, &r->c, r->x, r->y, r->value)
            : wg_sparse_hessian(r->t, r->s, rosenbrock, &r->c, r->x, NULL, &f, r->y, r->value);
    r->failed |= s != WG_OK;
}

static void run_their_first(void *ctx) {
    struct run *const r = ctx;
    r->failed |= peer->first(&r->c, &r->theirs) != 0;
}
static void run_theirs(void *ctx) {
    struct run *const r = ctx;
    r->failed |= peer->again(&r->c, 1, &r->theirs) != 0;
}
static void run_theirs_kept(void *ctx) {
    struct run *const r = ctx;
    r->failed |= peer->again(&r->c, 0, &r->theirs) != 0;
}

/* ---- verification ------------------------------------------------------------------------ */

/* Do their coordinates, of either triangle, have our values? */
static int theirs_agree(const struct run *r, double largest, double ulps) {
    const wg_pattern *const p = wg_sparsity_pattern(r->s);
    if (r->theirs.count != p->entries) return 0;
    for (size_t k = 0; k < r->theirs.count; k++) {
        size_t i = r->theirs.row[k], j = r->theirs.col[k];
        if (i >= p->rows || j >= p->cols) return 0;
        if (r->c.problem == SPARSITY_ROSENBROCK && i < j) {
            const size_t swap = i;
            i = j, j = swap;
        }
        size_t e = p->start[i];
        while (e < p->start[i + 1] && p->col[e] != j) e++;
        if (e == p->start[i + 1] ||
            !(fabs(r->theirs.value[k] - r->expected[e]) <= ulps * DBL_EPSILON * largest))
            return 0;
    }
    return 1;
}

/* The number of things wrong, or -1. */
static int verify(struct run *r, int with_peer) {
    static const double ulps = 64; /* a dozen roundings, of the largest entry */
    int wrong = 0;
    run_pattern(r);
    if (r->failed) return -1;
    run_entries(r);
    run_by_hand(r);
    if (r->failed) return -1;
    const size_t entries = wg_sparsity_pattern(r->s)->entries;
    double largest = 0;
    for (size_t k = 0; k < entries; k++) largest = fmax(largest, fabs(r->expected[k]));
    for (size_t k = 0; k < entries && wrong == 0; k++)
        wrong += !(fabs(r->value[k] - r->expected[k]) <= ulps * DBL_EPSILON * largest);
    if (!with_peer) return wrong;
    for (int k = 0; k < 3; k++) {
        (k == 0 ? run_their_first : k == 1 ? run_theirs : run_theirs_kept)(r);
        wrong += r->failed || !theirs_agree(r, largest, ulps);
    }
    return wrong;
}

/* ---- timing ------------------------------------------------------------------------------ */

enum { BY_HAND, GRADIENT, PATTERN, ENTRIES, THEIR_FIRST, THEIRS, THEIRS_KEPT, JOBS };

/* 0 or -1. */
static int measure(struct run *r, const struct bench_options *o, int with_peer,
                   struct bench_report *report) {
    static void (*const what[JOBS])(void *) = {run_by_hand,    run_gradient,    run_pattern,
                                               run_entries,    run_their_first, run_theirs,
                                               run_theirs_kept};
    static const char *const label[JOBS] = {"by hand", "gradient", "pattern",      "entries",
                                            "pattern", "entries",  "entries, kept"};
    struct bench_job job[JOBS];
    const size_t jobs = with_peer ? JOBS : THEIR_FIRST;
    memset(job, 0, sizeof job);
    for (size_t k = 0; k < jobs; k++)
        job[k] = (struct bench_job){.run = what[k], .ctx = r, .label = label[k]};
    const char *const name = problems[r->c.problem].name;
    if (bench_time(job, jobs, o->reps, name) || r->failed) return -1;
    printf("%-28s %8zu %8zu %3zu", problems[r->c.problem].title, r->c.n,
           wg_sparsity_pattern(r->s)->entries, wg_sparsity_colours(r->s));
    for (size_t k = 0; k < jobs; k++) {
        struct bench_row *const row =
            bench_report_add(report, "sparsity", name,
                             k == BY_HAND      ? "by hand"
                             : k < THEIR_FIRST ? "Wengert"
                                               : peer->name,
                             k == BY_HAND ? "entries" : label[k], &job[k].times);
        row->size = (double)r->c.n;
        if (k != BY_HAND) bench_row_over(row, &job[BY_HAND].times, "by hand");
        printf(" %9.3f", 1e3 * job[k].times.median);
    }
    putchar('\n');
    return 0;
}

/* ---- everything -------------------------------------------------------------------------- */

static void run_free(struct run *r) {
    free(r->x), free(r->y), free(r->value), free(r->expected);
    wg_sparsity_free(r->s);
    wg_tape_free(r->t);
}

static int run_new(struct run *r, enum sparsity_problem problem, size_t side) {
    const wg_options keep = {.flags = problem == SPARSITY_BRATU ? 0 : WG_KEEP_CODE};
    const size_t n = side * side;
    memset(r, 0, sizeof *r);
    r->t = wg_tape_new(&keep);
    r->x = malloc(n * sizeof *r->x);
    r->y = malloc(n * sizeof *r->y);
    r->value = malloc(MOST_PER_LINE * n * sizeof *r->value);
    r->expected = malloc(MOST_PER_LINE * n * sizeof *r->expected);
    const double h = 1 / ((double)side + 1);
    r->c = (struct sparsity_case){problem, n, side, 6 * h * h, r->x};
    if (r->t == NULL || r->x == NULL || r->y == NULL || r->value == NULL || r->expected == NULL)
        return -1;
    for (size_t i = 0; i < n; i++) r->x[i] = 0.3 + 0.01 * (double)(i % 37);
    return 0;
}

/* 0: right; 1: not; 2: stopped. */
static int one(enum sparsity_problem problem, size_t side, const struct bench_options *o,
               struct bench_report *report) {
    struct run r;
    int status = 0;
    if (run_new(&r, problem, side)) {
        run_free(&r);
        fputs("sparsity: no memory\n", stderr);
        return 2;
    }
    const int with_peer = o->peers && peer != NULL && r.c.n <= peer->largest;
    const int wrong = verify(&r, with_peer);
    if (wrong)
        fprintf(stderr, "sparsity: %s: %s\n", problems[problem].title,
                wrong < 0 ? wg_tape_message(r.t) : "the entries DISAGREE");
    if (wrong) status = 1;
    else if (!o->small && measure(&r, o, with_peer, report)) status = 2;
    if (with_peer) peer->close();
    run_free(&r);
    return status;
}

int main(int argc, char **argv) {
    struct bench_options o;
    struct bench_report report;
    int status = 0;
    size_t chosen = 0;
    if (bench_options(&o, argc, argv, 0)) return 2;
    bench_report_open(&report, "sparsity", o.reps);
    if (o.peers && peer != NULL) bench_report_fact(&report, peer->name, peer->version);
    for (int k = 0; k < SPARSITY_PROBLEMS; k++)
        if (bench_selected(&o, problems[k].name)) chosen += SIZES;
    bench_progress_begin(chosen);
    if (!o.small) {
        bench_report_print(&report);
        if (o.peers && peer == NULL)
            puts("peer not built in: ADOL-C and ColPack (Debian: libadolc-dev libcolpack-dev)");
        printf("%-28s %8s %8s %3s %9s %9s %9s %9s", "milliseconds", "n", "entries", "col",
               "by hand", "gradient", "pattern", "entries");
        if (o.peers && peer != NULL) printf(" %9s %9s %9s", "ADOL-C: p", "entries", "kept");
        putchar('\n');
    }
    for (int k = 0; k < SPARSITY_PROBLEMS && status != 2; k++)
        for (size_t i = 0; i < (o.small ? 1 : SIZES) && status != 2; i++) {
            if (!bench_selected(&o, problems[k].name)) continue;
            const int found = one((enum sparsity_problem)k, sides[i], &o, &report);
            if (found > status) status = found;
        }
    if (o.small) printf("sparsity: entries %s\n", status ? "DISAGREE" : "verified");
    else if (status != 2 && o.json && bench_report_write(&report, o.json)) status = 2;
    bench_report_close(&report);
    return status;
}

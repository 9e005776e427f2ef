/* SPDX-License-Identifier: MIT */
/* matrix - what does the derivative of a matrix operation cost beside hand-written LAPACK code?
 *
 * Each operation is verified, then timed: the value alone by BLAS and LAPACK, value and adjoint
 * written by hand, Wengert from reset to adjoints, and PyTorch where it is built in. One
 * thread. */
#include "harness.h"
#include "matrix.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/data.h"

#ifdef WG_HAVE_TORCH
extern const struct matrix_peer matrix_peer_torch;
static const struct matrix_peer *const peer = &matrix_peer_torch;
#else
static const struct matrix_peer *const peer = NULL;
#endif

/* ---- operations and sizes ---------------------------------------------------------------- */

enum { MOST_SIZES = 11, MOST_RESULTS = 64 };

/* Allowed difference of two gradients, in DBL_EPSILON of the largest entry: condition numbers
 * and gaps of eigenvalues at the largest size. */
static const struct workload {
    enum matrix_kind kind;
    const char *name, *what;
    double ulps;
    size_t small[4], sizes[MOST_SIZES][4]; /* as matrix_case.h; the last one has a 0 */
} workloads[] = {
    {MATRIX_logdet,
     "logdet",
     "log-determinant by Cholesky",
     1e5,
     {6},
     {{10}, {50}, {200}, {500}, {1000}}},
    {MATRIX_solve,
     "solve",
     "linear system",
     1e5,
     {6, 1},
     {{10, 1}, {50, 1}, {200, 1}, {500, 1}, {1000, 1}}},
    {MATRIX_solve,
     "solve_many",
     "linear system, n/4 right-hand sides",
     1e5,
     {6, 2},
     {{10, 2}, {50, 12}, {200, 50}, {500, 125}, {1000, 250}}},
    {MATRIX_products, "products", "sum of tanh(A B) C", 1e5, {5}, {{16}, {64}, {256}, {512}}},
    {MATRIX_eigen, "eigen", "eigenvalues and eigenvectors, symmetric", 1e6, {6}, {{50}, {200}}},
    {MATRIX_singular, "singular", "singular values", 1e6, {6}, {{50}, {200}}},
    {MATRIX_qr, "qr", "Q and R", 1e6, {6}, {{50}, {200}}},
    {MATRIX_gp,
     "gp",
     "marginal likelihood of a Gaussian process",
     1e6,
     {9, 2},
     {{200, 2}, {500, 2}}},
    {MATRIX_mlp,
     "mlp",
     "step of a network with two layers",
     1e5,
     {7, 5, 3, 4},
     {{784, 256, 10, 64}, {64, 32, 10, 64}}},
    {MATRIX_vectors,
     "vectors",
     "chain of operations on short vectors",
     1e5,
     {4, 10},
     {{4, 1000}}},
    {MATRIX_map_exp, "exp", "exp of every element", 64, {11}, {{10000}}},
    {MATRIX_map_tanh, "tanh", "tanh of every element", 64, {11}, {{10000}}},
    {MATRIX_map_log, "log", "log of every element", 64, {11}, {{10000}}},
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

/* "200" or "784-256-10-64". */
static const char *size_text(const size_t *dim, char *text) {
    char *p = text + sprintf(text, "%zu", dim[0]);
    for (size_t i = 1; i < 4 && dim[i] != 0; i++) p += sprintf(p, "-%zu", dim[i]);
    return text;
}

/* ---- cases ------------------------------------------------------------------------------- */

/* One operation at one size, with everything that its derivatives need. */
struct run {
    const struct workload *w;
    struct matrix_case c;
    struct bench_case memory; /* owns the arrays */
    wg_tape *tape;
    double *y, *g, *reference;
};

/* Zeroed, on a cache line of its own; NULL: no memory. */
static double *doubles(struct run *r, size_t count) {
    enum { LINE = 64 };
    char *p = bench_alloc(&r->memory, count * sizeof(double) + LINE, 1);
    return p ? (double *)(void *)(p + (LINE - (uintptr_t)p % LINE) % LINE) : NULL;
}

static void uniform(uint64_t *state, size_t n, double *a, double low, double high) {
    for (size_t i = 0; i < n; i++) a[i] = bench_uniform(state, low, high);
}

static void symmetrise(size_t n, double *a) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            a[i + j * n] = a[j + i * n] = 0.5 * (a[i + j * n] + a[j + i * n]);
}

static void sizes(struct matrix_case *c) {
    const size_t n = c->dim[0], k = c->dim[1], m = c->dim[2];
    const struct {
        size_t inputs, outputs;
    } s[] = {{n * n, 1},     {n * n + n * k, n * k},
             {3 * n * n, 1}, {n * n, n + n * n},
             {n * n, n},     {n * n, 2 * n * n},
             {3, 1},         {k * n + k + m * k + m, 1},
             {3 * n, n},     {n, n},
             {n, n},         {n, n}};
    c->inputs = s[c->kind].inputs;
    c->outputs = s[c->kind].outputs;
}

/* Numbers without structure, well conditioned. */
static void fill(struct matrix_case *c, double *x, double *seed, double *data, size_t *label) {
    const size_t n = c->dim[0], k = c->dim[1];
    const double root = sqrt((double)n);
    uint64_t state = 7 + (uint64_t)c->kind;
    uniform(&state, c->inputs, x, -1, 1);
    uniform(&state, c->outputs, seed, -1, 1);
    if (c->outputs == 1) seed[0] = 1;
    switch (c->kind) {
    case MATRIX_logdet: /* uniform elements scaled to have eigenvalues in (0, 3) */
        symmetrise(n, x);
        for (size_t i = 0; i < n * n; i++) x[i] /= root;
        for (size_t i = 0; i < n; i++) x[i * (n + 1)] += 1.5;
        break;
    case MATRIX_solve: /* large beside the diagonal, so that every pivot is searched for */
        for (size_t i = 0; i < n; i++) x[(i + 1) % n + i * n] += 1.2 * root;
        break;
    case MATRIX_products:
        for (size_t i = 0; i < c->inputs; i++) x[i] /= root;
        break;
    case MATRIX_eigen:
        symmetrise(n, x);
        break;
    case MATRIX_qr: /* R_ is upper triangular, as R is */
        for (size_t i = 0; i < n; i++) x[i * (n + 1)] += 1.2 * root;
        for (size_t j = 0; j < n; j++)
            for (size_t i = j + 1; i < n; i++) seed[n * n + i + j * n] = 0;
        break;
    case MATRIX_gp:
        x[0] = 1.3, x[1] = 0.7, x[2] = 0.3;
        uniform(&state, n * k, data, 0, 5);
        for (size_t i = 0; i < n; i++)
            data[n * k + i] = sin(2 * data[i]) + bench_uniform(&state, -0.3, 0.3);
        break;
    case MATRIX_mlp:
        for (size_t i = 0; i < c->inputs; i++) x[i] /= root;
        uniform(&state, n * c->dim[3], data, 0, 1);
        for (size_t i = 0; i < c->dim[3]; i++)
            label[i] = (size_t)bench_uniform(&state, 0, (double)c->dim[2]);
        break;
    case MATRIX_vectors:
        uniform(&state, n, x + n, 0.99, 1);
        uniform(&state, n, x + 2 * n, -0.01, 0.01);
        break;
    case MATRIX_map_log:
        uniform(&state, n, x, 0.1, 10);
        break;
    default:
        break;
    }
}

static void run_free(struct run *r) {
    wg_tape_free(r->tape);
    bench_case_free(&r->memory);
}

/* 0, or -1: no memory. */
static int run_new(struct run *r, const struct workload *w, const size_t *dim) {
    size_t ints;
    memset(r, 0, sizeof *r);
    r->w = w;
    r->c.kind = w->kind;
    memcpy(r->c.dim, dim, sizeof r->c.dim);
    sizes(&r->c);
    matrix_work(&r->c, &r->c.work_len, &ints);
    r->c.pivot_len = ints;
    const size_t known = r->c.dim[0] * (r->c.dim[1] + r->c.dim[3] + 1);
    double *x = doubles(r, r->c.inputs);
    double *seed = doubles(r, r->c.outputs);
    double *data = doubles(r, known);
    size_t *label = bench_alloc(&r->memory, r->c.dim[3], sizeof *label);
    r->c.work = doubles(r, r->c.work_len);
    r->c.pivot = bench_alloc(&r->memory, ints, sizeof(int));
    r->y = doubles(r, r->c.outputs);
    r->g = doubles(r, r->c.inputs);
    r->reference = doubles(r, r->c.inputs);
    r->tape = wg_tape_new(NULL);
    if (!x || !seed || !data || !label || !r->c.work || !r->c.pivot || !r->y || !r->g ||
        !r->reference || !r->tape) {
        run_free(r);
        return -1;
    }
    fill(&r->c, x, seed, data, label);
    r->c.x = x, r->c.seed = seed, r->c.data = data, r->c.label = label;
    return 0;
}

/* ---- verification ------------------------------------------------------------------------ */

static double verify_tape(struct run *r) {
    memset(r->g, 0, r->c.inputs * sizeof *r->g);
    const wg_status s = matrix_tape(r->tape, &r->c, MATRIX_GRADIENT, r->g);
    if (s == WG_OK) return bench_ulps(r->c.inputs, r->g, r->reference);
    fprintf(stderr, "matrix: %s: %s; %s\n", r->w->name, wg_status_text(s),
            wg_tape_message(r->tape));
    return INFINITY;
}

/* NaN: not for the peer. Leaves it open. */
static double verify_peer(struct run *r) {
    memset(r->g, 0, r->c.inputs * sizeof *r->g);
    if (!peer || peer->open(&r->c)) return NAN;
    return peer->derivative(&r->c, r->g) ? INFINITY
                                         : bench_ulps(r->c.inputs, r->g, r->reference);
}

/* The sum of seed times y. Eigenvectors have the signs of `first`, which is y where they are
 * seeded. */
static double weighted(const struct matrix_case *c, const double *y, const double *first) {
    const size_t n = c->dim[0];
    double s = 0;
    if (c->kind != MATRIX_eigen) {
        for (size_t i = 0; i < c->outputs; i++) s += c->seed[i] * y[i];
        return s;
    }
    for (size_t j = 0; j < n; j++) {
        const double *v = y + n + j * n, *at = first + n + j * n, *w = c->seed + n + j * n;
        double same = 0, part = 0;
        for (size_t i = 0; i < n; i++) same += v[i] * at[i];
        for (size_t i = 0; i < n; i++) part += w[i] * at[i] * v[i];
        s += c->seed[j] * y[j] + (same < 0 ? -part : part);
    }
    return s;
}

/* Hand-written gradient, in r->reference, against fourth-order differences of the value along
 * one direction, over the sum of magnitudes of what is summed; infinite without memory. */
static double difference(struct run *r) {
    static const double at[4] = {1, -1, 2, -2};
    const double h = BENCH_DIFFERENCE_STEP;
    const size_t n = r->c.inputs;
    struct matrix_case moved = r->c;
    double *v = doubles(r, n), *x = doubles(r, n), f[4], slope = 0, size = 0;
    double *first = doubles(r, r->c.outputs);
    uint64_t state = 99;
    if (!v || !x || !first || matrix_handwritten(&r->c, first, r->reference)) return INFINITY;
    uniform(&state, n, v, -1, 1);
    if (r->c.kind == MATRIX_logdet || r->c.kind == MATRIX_eigen) symmetrise(r->c.dim[0], v);
    moved.x = x;
    for (size_t j = 0; j < 4; j++) {
        for (size_t i = 0; i < n; i++) x[i] = r->c.x[i] + at[j] * h * v[i];
        if (matrix_forward(&moved, r->y)) return INFINITY;
        f[j] = weighted(&r->c, r->y, first);
    }
    for (size_t i = 0; i < n; i++) {
        slope += r->reference[i] * v[i];
        size += fabs(r->reference[i] * v[i]);
    }
    return fabs((8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h) - slope) / size;
}

/* The number of disagreements, or -1: no memory. */
static int small(const struct bench_options *o) {
    int wrong = 0;
    printf("%-12s %14s %14s %14s %14s\n", "verification", "size", "differences",
           "wengert, ulps", o->peers && peer ? peer->name : "");
    for (size_t i = 0; i < WORKLOADS; i++) {
        const struct workload *w = &workloads[i];
        struct run r;
        char text[96];
        if (!bench_selected(o, w->name)) continue;
        if (run_new(&r, w, w->small)) return -1;
        const double off = difference(&r), ulps = verify_tape(&r);
        const double theirs = (o->peers && peer ? verify_peer(&r) : NAN);
        const int bad =
            !(off <= BENCH_DIFFERENCE_TOLERANCE) || !(ulps <= w->ulps) || theirs > w->ulps;
        printf("%-12s %14s %14.3g %14.3g", w->name, size_text(w->small, text), off, ulps);
        if (!isnan(theirs)) printf(" %14.3g", theirs);
        printf("  %s\n", bad ? "WRONG" : "ok");
        if (o->peers && peer) peer->close();
        wrong += bad;
        run_free(&r);
    }
    return wrong;
}

/* ---- timing ------------------------------------------------------------------------------ */

enum side { FORWARD, HAND, TAPE, RECORD, GRADIENT, PEER, RANK_ONE, TRAFFIC, SIDES };

static const struct {
    const char *label, *tool, *quantity;
} sides[SIDES] = {{"value alone", "LAPACK", "value"},
                  {"hand-written", "hand-written", "derivative"},
                  {"Wengert", "Wengert", "derivative"},
                  {"Wengert, recording", "Wengert", "derivative, recording"},
                  {"Wengert, copied out", "Wengert", "derivative, copied out"},
                  {"PyTorch", "PyTorch", "derivative"},
                  {"hand, outer products", "hand-written", "derivative, outer products"},
                  {"memory traffic alone", "hand-written", "value, memory traffic"}};

static void run_forward(void *ctx) {
    struct run *r = ctx;
    matrix_forward(&r->c, r->y);
}
static void run_hand(void *ctx) {
    struct run *r = ctx;
    matrix_handwritten(&r->c, r->y, r->g);
}
static void run_tape(void *ctx) {
    struct run *r = ctx;
    (void)matrix_tape(r->tape, &r->c, MATRIX_REVERSE, NULL);
}
static void run_record(void *ctx) {
    struct run *r = ctx;
    (void)matrix_tape(r->tape, &r->c, MATRIX_RECORD, NULL);
}
static void run_gradient(void *ctx) {
    struct run *r = ctx;
    (void)matrix_tape(r->tape, &r->c, MATRIX_GRADIENT, r->g);
}
static void run_peer(void *ctx) {
    struct run *r = ctx;
    (void)peer->derivative(&r->c, NULL);
}
static void run_rank_one(void *ctx) {
    struct run *r = ctx;
    matrix_handwritten_rank_one(&r->c, r->y, r->g);
}
static void run_traffic(void *ctx) {
    struct run *r = ctx;
    matrix_traffic(&r->c, r->y, r->g);
}

static void (*const side_run[SIDES])(void *) = {run_forward,  run_hand,     run_tape,
                                                run_record,   run_gradient, run_peer,
                                                run_rank_one, run_traffic};

struct result {
    const struct workload *w;
    size_t dim[4];
    double ulps, peer_ulps; /* NaN: no peer */
    uint64_t allocations;   /* calls for memory in steady iterations */
    size_t disturbed;
    int has[SIDES];
    struct bench_times times[SIDES];
};

/* In some iterations after those of the verification. */
static uint64_t allocations(struct run *r) {
    enum { STEADY = 5 };
    wg_stats before, after;
    (void)wg_tape_stats(r->tape, &before);
    for (int i = 0; i < STEADY; i++) run_gradient(r);
    (void)wg_tape_stats(r->tape, &after);
    return after.memory_calls - before.memory_calls;
}

/* 0: done; 1: Wengert or the peer disagrees; -1: no memory. */
static int time_one(const struct bench_options *o, const struct workload *w, const size_t *dim,
                    struct result *out) {
    struct run r;
    struct bench_job job[SIDES];
    enum side side[SIDES];
    size_t jobs = 0;
    char title[128], text[96];
    if (run_new(&r, w, dim)) return -1;
    snprintf(title, sizeof title, "%s %s", w->name, size_text(dim, text));
    out->w = w;
    memcpy(out->dim, dim, sizeof out->dim);
    if (matrix_handwritten(&r.c, r.y, r.reference)) {
        fprintf(stderr, "matrix: %s: LAPACK refuses\n", title);
        run_free(&r);
        return 1;
    }
    out->ulps = verify_tape(&r);
    out->peer_ulps = (o->peers && peer ? verify_peer(&r) : NAN);
    int failed = !(out->ulps <= w->ulps) || out->peer_ulps > w->ulps;
    if (failed)
        fprintf(stderr, "matrix: %s: off by %g ulps, the peer by %g\n", title, out->ulps,
                out->peer_ulps);
    if (!failed) {
        for (int s = 0; s < SIDES; s++) {
            if ((s == PEER && isnan(out->peer_ulps)) ||
                (s == RANK_ONE && w->kind != MATRIX_products) ||
                (s == TRAFFIC && w->kind < MATRIX_map_exp))
                continue;
            memset(&job[jobs], 0, sizeof *job);
            job[jobs].run = side_run[s];
            job[jobs].ctx = &r;
            job[jobs].label = sides[s].label;
            side[jobs++] = (enum side)s;
        }
        out->allocations = allocations(&r);
        if (bench_time(job, jobs, o->reps, title)) failed = -1;
        for (size_t j = 0; j < jobs; j++) {
            out->has[side[j]] = 1;
            out->times[side[j]] = job[j].times;
            out->disturbed += job[j].disturbed;
        }
    }
    if (o->peers && peer) peer->close();
    run_free(&r);
    return failed;
}

/* ---- the record -------------------------------------------------------------------------- */

static void one_thread(void) {
#ifdef OPENBLAS_VERSION
    openblas_set_num_threads(1);
#endif
}

static void blas_settings(struct bench_report *r) {
#ifdef OPENBLAS_VERSION
    bench_report_fact(r, "blas", openblas_get_config());
    bench_report_fact(r, "blas core", openblas_get_corename());
#else
    bench_report_fact(r, "blas", "not OpenBLAS");
#endif
}

static void print_one(const struct result *r) {
    const double value = r->times[FORWARD].median;
    char text[96];
    printf("\n%s: %s, %s\n  %-24s %11s %11s %11s %11s %9s\n", r->w->name, r->w->what,
           size_text(r->dim, text), "microseconds", "median", "min", "q1", "q3", "/value");
    for (int s = 0; s < SIDES; s++) {
        const struct bench_times *t = &r->times[s];
        if (!r->has[s]) continue;
        printf("  %-24s %11.5g %11.5g %11.5g %11.5g %9.2f\n", sides[s].label, 1e6 * t->median,
               1e6 * t->min, 1e6 * t->q1, 1e6 * t->q3, t->median / value);
    }
    if (r->disturbed)
        printf("  (%zu samples were disturbed by other processes)\n", r->disturbed);
}

/* NaN: nothing to print. */
static void cell(int width, double ratio) {
    if (isnan(ratio)) printf(" %*s", width, "-");
    else printf(" %*.2f", width, ratio);
}

static void print_table(const struct result *r, size_t results) {
    static const char *const head[2][11] = {{"medians", "", "value", "hand", "wengert",
                                             "PyTorch", "excess", "excess", "PyTorch", "memory",
                                             "error"},
                                            {"", "", "us", "/value", "/value", "/value",
                                             "over hand", "us", "/wengert", "calls", "ulps"}};
    putchar('\n');
    for (int i = 0; i < 2; i++)
        printf("%-9s %14s %10s %8s %8s %8s %10s %10s %9s %7s %9s\n", head[i][0], head[i][1],
               head[i][2], head[i][3], head[i][4], head[i][5], head[i][6], head[i][7],
               head[i][8], head[i][9], head[i][10]);
    for (size_t i = 0; i < results; i++) {
        const double value = r[i].times[FORWARD].median, hand = r[i].times[HAND].median;
        const double tape = r[i].times[TAPE].median;
        const double theirs = (r[i].has[PEER] ? r[i].times[PEER].median : NAN);
        char text[96];
        printf("%-9s %14s %10.4g", r[i].w->name, size_text(r[i].dim, text), 1e6 * value);
        cell(8, hand / value);
        cell(8, tape / value);
        cell(8, theirs / value);
        printf(" %9.1f%% %10.3g", 100 * (tape / hand - 1), 1e6 * (tape - hand));
        cell(9, theirs / tape);
        printf(" %7llu %9.3g\n", (unsigned long long)r[i].allocations, r[i].ulps);
    }
    putchar('\n');
    for (size_t i = 0; i < results; i++) {
        const double tape = r[i].times[TAPE].median, value = r[i].times[FORWARD].median;
        const double traffic = r[i].times[TRAFFIC].median;
        if (r[i].w->kind == MATRIX_vectors)
            printf("%s: %.2f ns per operation, record and reverse; by hand %.2f\n",
                   r[i].w->name, 1e9 * tape / (double)r[i].dim[1],
                   1e9 * r[i].times[HAND].median / (double)r[i].dim[1]);
        if (r[i].has[TRAFFIC])
            printf("%s: %.2f of the value alone, of which %.2f memory traffic: %.2f without\n",
                   r[i].w->name, tape / value, traffic / value, (tape - traffic) / value);
    }
}

static void collect(struct bench_report *to, const struct result *r) {
    for (int s = 0; s < SIDES; s++) {
        if (!r->has[s]) continue;
        struct bench_row *row = bench_report_add(to, "matrix", r->w->name, sides[s].tool,
                                                 sides[s].quantity, &r->times[s]);
        row->size = (double)r->dim[0];
        size_text(r->dim, row->shape);
        if (s != FORWARD) bench_row_over(row, &r->times[FORWARD], "value");
    }
}

struct task {
    const struct bench_options *o;
    const struct workload *w;
    const size_t *dim;
};

static int run_task(const void *what, void *result) {
    const struct task *t = what;
    return time_one(t->o, t->w, t->dim, result);
}

/* The number of operations that are wrong, or -1: no file. */
static int timed(const struct bench_options *o) {
    static struct result result[MOST_RESULTS];
    struct bench_report report;
    size_t results = 0, calls = 0;
    int wrong = 0;
    bench_report_open(&report, "matrix", o->reps);
    blas_settings(&report);
    if (o->peers && peer) bench_report_fact(&report, peer->name, peer->version);
    bench_report_print(&report);
    for (size_t i = 0; i < WORKLOADS; i++)
        for (size_t k = 0; k < MOST_SIZES && workloads[i].sizes[k][0] != 0; k++)
            calls += bench_selected(o, workloads[i].name) != 0;
    bench_progress_begin(calls);
    for (size_t i = 0; i < WORKLOADS; i++) {
        const struct workload *w = &workloads[i];
        if (!bench_selected(o, w->name)) continue;
        for (size_t k = 0; k < MOST_SIZES && w->sizes[k][0] != 0; k++) {
            const struct task task = {o, w, w->sizes[k]};
            if (bench_apart(w->name, run_task, &task, &result[results], sizeof *result) != 0) {
                wrong++;
                continue;
            }
            collect(&report, &result[results]);
            print_one(&result[results++]);
            fflush(stdout);
        }
    }
    print_table(result, results);
    const int lost = o->json && bench_report_write(&report, o->json);
    bench_report_close(&report);
    return lost ? -1 : wrong;
}

int main(int argc, char **argv) {
    struct bench_options o;
    int known = 0;
    if (bench_options(&o, argc, argv, 0)) return 2;
    for (size_t i = 0; i < WORKLOADS; i++) known += bench_selected(&o, workloads[i].name);
    if (known == 0) {
        fprintf(stderr, "matrix: no operation %s; there are", o.only);
        for (size_t i = 0; i < WORKLOADS; i++) fprintf(stderr, " %s", workloads[i].name);
        fputc('\n', stderr);
        return 2;
    }
    if (o.peers && !peer) puts("peer not built in: PyTorch (Debian: libtorch-dev)");
    one_thread();
    const int wrong = (o.small ? small(&o) : timed(&o));
    if (wrong < 0) {
        fputs("matrix: stopped: no memory, or no file\n", stderr);
        return 2;
    }
    return wrong > 0;
}

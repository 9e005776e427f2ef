/* SPDX-License-Identifier: MIT */
/* second_order - what does a Hessian-vector product cost over the gradient of the same tape?
 *
 * All are timed on a tape that keeps its code: the gradient is recording and reverse sweep, the
 * first product is that of a new recording, as it also computes the local second derivatives,
 * and a further one at the same point finds them there. Verified first: against the closed form
 * of Rosenbrock's function, and by symmetry. Chains of statements, then operations on matrices,
 * and on batches of them, which go by BLAS and LAPACK (OPENBLAS_NUM_THREADS=1 for one
 * thread). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "second_order.h"
#include "second_order_batches.h"
#include "workloads/rosenbrock.h"

#ifdef WG_HAVE_TORCH
extern const struct second_peer second_peer_torch;
static const struct second_peer *const peer = &second_peer_torch;
#else
static const struct second_peer *const peer = NULL;
#endif

enum { N = 20000, MOST = 500 * 500 };

/* ---- chains of terms f = sum_i term(x[i], x[i+1]) ---- */

static wg_real rosenbrock(wg_tape *t, size_t n, const wg_real *x) {
    const struct rosenbrock_params terms = {n - 1};
    return rosenbrock_real(t, &terms, x, NULL);
}

static wg_real transcendental(wg_tape *t, size_t n, const wg_real *x) {
    wg_real f = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++)
        f = wg_let(t, wg_add(f, wg_mul(wg_exp(x[i]), wg_sin(x[i + 1]))));
    return f;
}

static wg_real unfused(wg_tape *t, size_t n, const wg_real *x) {
    wg_real f = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++) {
        const wg_real p = wg_let(t, wg_mul(x[i], x[i + 1]));
        const wg_real q = wg_let(t, wg_div(p, wg_add(1.0, x[i])));
        f = wg_let(t, wg_add(f, q));
    }
    return f;
}

/* ---- operations on matrices ---- */

/* The matrix of all inputs, with so many columns. */
static wg_mat matrix_of(wg_tape *t, size_t n, const wg_real *x, size_t cols) {
    return wg_mat_gather(t, n / cols, cols, x);
}
static wg_real sines(wg_tape *t, wg_mat a) { return wg_mat_sum(t, wg_mat_sin(t, a)); }

static wg_real logdet(wg_tape *t, size_t n, const wg_real *x) {
    return wg_logabsdet(t, matrix_of(t, n, x, (size_t)sqrt((double)n)), NULL);
}
/* Points, column after column, and observations. */
enum { PROCESS = SECOND_POINTS * (SECOND_DIM + 1) };
static void process_data(double *at) {
    double *const y = at + SECOND_POINTS * SECOND_DIM;
    for (size_t i = 0; i < SECOND_POINTS * SECOND_DIM; i++)
        at[i] = 2 + 2 * sin(1.7 * (double)i);
    for (size_t i = 0; i < SECOND_POINTS; i++) y[i] = sin(at[i]);
}
/* Of a length scale for each dimension, sigma and noise. */
static wg_real process(wg_tape *t, size_t n, const wg_real *x) {
    enum { POINTS = SECOND_POINTS, DIM = SECOND_DIM };
    double at[PROCESS];
    (void)n;
    process_data(at);
    return wg_gp_logml(t, WG_SQUARED_EXPONENTIAL, wg_mat_constant(t, POINTS, DIM, at, POINTS),
                       wg_mat_constant(t, POINTS, 1, at + POINTS * DIM, POINTS),
                       wg_mat_gather(t, DIM, 1, x), x[DIM], x[DIM + 1]);
}
static wg_real exponential(wg_tape *t, size_t n, const wg_real *x) {
    return sines(t, wg_expm(t, matrix_of(t, n, x, 50)));
}
static wg_real softmax(wg_tape *t, size_t n, const wg_real *x) {
    return sines(t, wg_mat_softmax(t, matrix_of(t, n, x, 256), WG_EACH_COL));
}
static wg_real qr(wg_tape *t, size_t n, const wg_real *x) {
    wg_mat q, r;
    (void)wg_qr(t, matrix_of(t, n, x, 50), &q, &r);
    return wg_let(t, wg_add(sines(t, q), sines(t, r)));
}
static wg_real least_squares(wg_tape *t, size_t n, const wg_real *x) {
    const wg_mat a = matrix_of(t, n, x, 20);
    return sines(t, wg_lstsq(t, a, wg_mat_fill(t, a.rows, 1, 1)));
}
static wg_real eigen(wg_tape *t, size_t n, const wg_real *x) {
    wg_mat w, v;
    (void)wg_eigh(t, matrix_of(t, n, x, 100), &w, &v);
    return wg_let(t, wg_add(sines(t, w), sines(t, v)));
}
static wg_real singular(wg_tape *t, size_t n, const wg_real *x) {
    wg_mat u, d, v;
    (void)wg_svd(t, matrix_of(t, n, x, 40), &u, &d, &v);
    return wg_let(t, wg_add(sines(t, u), sines(t, d)));
}
/* Queries, keys, values. */
static wg_real attention(wg_tape *t, size_t n, const wg_real *x) {
    enum { TOKENS = SECOND_TOKENS, WIDTH = SECOND_WIDTH };
    const size_t each = n / 3;
    const wg_mat q = wg_mat_gather(t, TOKENS, WIDTH, x);
    const wg_mat k = wg_mat_gather(t, TOKENS, WIDTH, x + each);
    const wg_mat v = wg_mat_gather(t, TOKENS, WIDTH, x + 2 * each);
    const wg_mat s = wg_gemm(t, 'N', 'T', 1 / sqrt((double)WIDTH), q, k, 0, q);
    return sines(t, wg_matmul(t, wg_mat_softmax(t, s, WG_EACH_ROW), v));
}

static const struct second_function single[] = {
    {"rosenbrock", "rosenbrock, fused", rosenbrock, N, 0, 0, 0},
    {"transcendental", "exp(x) sin(y), fused", transcendental, N, 0, 0, 0},
    {"unfused", "x y / (1 + x), one operation each", unfused, N, 0, 0, 0},
    {"logdet_10", "log-determinant, 10", logdet, 100, 1, 10, 11},
    {"logdet_100", "log-determinant, 100", logdet, 10000, 1, 100, 101},
    {"logdet_500", "log-determinant, 500", logdet, MOST, 1, 500, 501},
    {"process", "Gaussian process, 200 x 3", process, SECOND_DIM + 2, 0.2, 1, 1},
    {"expm", "matrix exponential, 50", exponential, 2500, 0.02, 0, 51},
    {"softmax", "softmax, 256 x 256", softmax, 256 * 256, 1, 0, 257},
    {"qr", "QR, 50", qr, 2500, 1, 10, 51},
    {"lstsq", "least squares, 500 x 20", least_squares, 10000, 1, 0, 501},
    {"eigh", "symmetric eigen, 100", eigen, 10000, 1, 0, 101},
    {"svd", "SVD, 60 x 40", singular, 2400, 1, 0, 61},
    {"attention", "attention, 64 x 32", attention, 3 * 64 * 32, 1, 0, 65}};
enum { SINGLE = sizeof single / sizeof *single, FUNCTIONS = SINGLE + SECOND_BATCHES };

static const struct second_function *function(int k) {
    return k < SINGLE ? &single[k] : &second_batches[k - SINGLE];
}

static void fill(const struct second_function *of, double *a) {
    uint64_t seed = 1;
    for (size_t i = 0; i < of->n; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double number = (double)(int64_t)seed * 0x1p-63;
        a[i] = of->scale == 0 ? 0.3 + 1e-5 * (double)i : of->scale * number;
        if (of->stride != 0 && i % of->stride == 0) a[i] += of->more;
    }
}

/* ---- verification ---- */

/* H v of Rosenbrock's chained function. */
static void rosenbrock_hvp(size_t n, const double *x, const double *v, double *hv) {
    memset(hv, 0, n * sizeof *hv);
    for (size_t i = 0; i + 1 < n; i++) {
        hv[i] += (1200 * x[i] * x[i] - 400 * x[i + 1] + 2) * v[i] - 400 * x[i] * v[i + 1];
        hv[i + 1] += 200 * v[i + 1] - 400 * x[i] * v[i];
    }
}

struct run {
    wg_tape *t;
    const struct second_function *of;
    double *a, *u, *v, *hu, *hv;
    wg_real *x, f;
    wg_status status;
};

static wg_status record(struct run *r) {
    wg_tape_reset(r->t);
    const size_t n = r->of->n;
    const wg_status s = wg_inputs(r->t, n, r->a, r->x);
    if (s != WG_OK) return s;
    r->f = r->of->f(r->t, n, r->x);
    return wg_tape_status(r->t);
}

/* The number of things wrong, or -1. */
static int verify(struct run *r) {
    const size_t n = r->of->n;
    int wrong = 0;
    fill(r->of, r->a);
    if (record(r) != WG_OK || wg_tape_hvp(r->t, r->f, n, r->x, r->u, r->hu) != WG_OK ||
        wg_tape_hvp(r->t, r->f, n, r->x, r->v, r->hv) != WG_OK)
        return -1;
    double a = 0, b = 0, sizes = 0;
    for (size_t i = 0; i < n; i++) {
        a += r->v[i] * r->hu[i], b += r->u[i] * r->hv[i];
        sizes += fabs(r->v[i] * r->hu[i]) + fabs(r->u[i] * r->hv[i]);
    }
    /* n products are summed on both sides; of matrices, some more of a larger condition */
    const double roundings = r->of->scale == 0 ? (double)n : 1e4 + (double)n;
    wrong += !(fabs(a - b) <= roundings * DBL_EPSILON * sizes);
    if (r->of != single) return wrong;
    rosenbrock_hvp(n, r->a, r->v, r->hu);
    for (size_t i = 0; i < n; i++) wrong += !(fabs(r->hv[i] - r->hu[i]) <= 1e-11);
    return wrong;
}

/* ---- timing ---- */

static void run_gradient(void *ctx) {
    struct run *r = ctx;
    if (record(r) != WG_OK || wg_reverse(r->t, r->f) != WG_OK ||
        wg_adjoints(r->t, r->of->n, r->x, r->hu) != WG_OK)
        r->status = wg_tape_status(r->t);
}
static void run_product(void *ctx) {
    struct run *r = ctx;
    const wg_status s = wg_tape_hvp(r->t, r->f, r->of->n, r->x, r->v, r->hv);
    if (s != WG_OK) r->status = s;
}

static void run_both(void *ctx) {
    run_gradient(ctx);
    run_product(ctx);
}
static void peer_gradient(void *ctx) {
    if (peer->gradient(((struct run *)ctx)->hu)) ((struct run *)ctx)->status = WG_EARG;
}
static void peer_product(void *ctx) {
    if (peer->product(((struct run *)ctx)->hv)) ((struct run *)ctx)->status = WG_EARG;
}

/* Bytes that a tape of its own has held at most: gradient, product. 0, or -1. */
static int memory(struct run *r, double *bytes) {
    const wg_options keep = {.flags = WG_KEEP_CODE};
    wg_tape *const kept = r->t;
    wg_stats s[2] = {{0}};
    r->t = wg_tape_new(&keep);
    if (r->t != NULL) {
        run_gradient(r);
        wg_status status = wg_tape_stats(r->t, &s[0]);
        run_product(r);
        if (status == WG_OK) status = wg_tape_stats(r->t, &s[1]);
        if (status != WG_OK) r->status = status;
    }
    const int failed = r->t == NULL || r->status != WG_OK;
    wg_tape_free(r->t);
    r->t = kept;
    for (int k = 0; k < 2; k++) bytes[k] = (double)s[k].max_committed_bytes;
    return failed ? -1 : 0;
}

enum { GRADIENT, FIRST, NEXT, BOTH, OURS, PEER_GRADIENT = OURS, PEER_BOTH, JOBS };

static void print_times(const struct bench_job *job, const double *bytes, int peers) {
    const double gradient = job[GRADIENT].times.median;
    for (int k = 0; k < BOTH; k++) printf(" %10.3f", 1e3 * job[k].times.median);
    printf(" %7.2fx %7.2fx", job[FIRST].times.median / gradient,
           job[NEXT].times.median / gradient);
    printf(" %8.2f %7.2fx", bytes[0] / 1e6, bytes[1] / bytes[0]);
    if (peers)
        printf(" %10.3f %10.3f %8.1fx", 1e3 * job[PEER_GRADIENT].times.median,
               1e3 * job[PEER_BOTH].times.median,
               job[PEER_BOTH].times.median / job[BOTH].times.median);
    putchar('\n');
}

/* Of what a peer computes, the largest difference from ours over the largest entry;
 * eigenvectors and singular vectors may have other signs. */
#define PEER_TOLERANCE 1e-8
static int peer_agrees(struct run *r) {
    const size_t n = r->of->n;
    const char *const name = r->of->name;
    double apart = 0, most = 0;
    run_both(r);
    if (r->status != WG_OK || peer->product(r->hu)) return 0;
    if (strcmp(name, "eigh") == 0 || strcmp(name, "svd") == 0) return 1;
    for (size_t i = 0; i < n; i++) {
        apart = fmax(apart, fabs(r->hu[i] - r->hv[i]));
        most = fmax(most, fabs(r->hv[i]));
    }
    return apart <= PEER_TOLERANCE * most;
}

/* 0 or -1. */
static int measure(struct run *r, const struct bench_options *o, struct bench_report *report) {
    static const char *const what[JOBS] = {"gradient",      "first H v", "next H v",
                                           "gradient, H v", "gradient",  "gradient, H v"};
    struct bench_job job[JOBS] = {
        {.run = run_gradient, .ctx = r},
        {.run = run_product, .prepare = run_gradient, .ctx = r},
        {.run = run_product, .ctx = r},
        {.run = run_both, .ctx = r},
        {.run = peer_gradient, .ctx = r},
        {.run = peer_product, .ctx = r},
    };
    double data[PROCESS], bytes[2];
    const char *name = r->of->name;
    const size_t n = r->of->n;
    process_data(data);
    const int peers = o->peers && peer != NULL && peer->open(name, n, r->a, r->v, data) == 0;
    if (peers && !peer_agrees(r)) {
        fprintf(stderr, "second_order: %s: %s DISAGREES\n", r->of->title, peer->name);
        return -1;
    }
    for (int k = 0; k < JOBS; k++) job[k].label = what[k];
    if (bench_time(job, peers ? JOBS : OURS, o->reps, name) || memory(r, bytes) ||
        r->status != WG_OK)
        return -1;
    if (peers) peer->close();
    const struct bench_times *base = &job[GRADIENT].times;
    for (int k = 0; k < (peers ? JOBS : OURS); k++) {
        struct bench_row *row =
            bench_report_add(report, "second order", name, k < OURS ? "Wengert" : peer->name,
                             what[k], &job[k].times);
        row->size = (double)n;
        if (k < OURS && k != GRADIENT) bench_row_over(row, base, what[GRADIENT]);
        if (k == GRADIENT || k == FIRST) row->bytes = bytes[k];
    }
    printf("%-36s", r->of->title);
    print_times(job, bytes, peers);
    return 0;
}

/* 0: right; 1: not; 2: stopped. */
static int everything(struct run *r, const struct bench_options *o,
                      struct bench_report *report) {
    int status = 0, chosen = 0;
    for (int k = 0; k < FUNCTIONS; k++) chosen += bench_selected(o, function(k)->name);
    bench_progress_begin((size_t)chosen);
    for (int k = 0; k < FUNCTIONS && status != 2; k++) {
        r->of = function(k);
        if (!bench_selected(o, r->of->name)) continue;
        const int wrong = verify(r);
        if (wrong)
            fprintf(stderr, "second_order: %s: %s\n", r->of->title,
                    wrong < 0 ? wg_tape_message(r->t) : "the products DISAGREE");
        if (wrong) status = 1;
        else if (!o->small && measure(r, o, report)) status = 2;
    }
    if (o->small)
        printf("second_order: Hessian-vector products %s\n", status ? "DISAGREE" : "verified");
    return status;
}

int main(int argc, char **argv) {
    struct bench_options o;
    struct bench_report report;
    const wg_options keep = {.flags = WG_KEEP_CODE};
    if (bench_options(&o, argc, argv, 0)) return 2;
    double *const numbers = calloc(5 * (size_t)MOST, sizeof *numbers);
    struct run r = {.t = wg_tape_new(&keep), .a = numbers, .x = calloc(MOST, sizeof *r.x)};
    int status = 2;
    bench_report_open(&report, "second_order", o.reps);
    if (r.t != NULL && numbers != NULL && r.x != NULL) {
        r.u = numbers + MOST, r.v = numbers + 2 * (size_t)MOST;
        r.hu = numbers + 3 * (size_t)MOST, r.hv = numbers + 4 * (size_t)MOST;
        for (int i = 0; i < MOST; i++) {
            r.u[i] = 1 - 1e-4 * (i % 100);
            r.v[i] = 0.5 + 1e-3 * (i % 7);
        }
        if (!o.small) {
            bench_report_print(&report);
            printf("%-36s %10s %10s %10s %8s %8s %8s %8s", "milliseconds; chains of 20000",
                   "gradient", "first H v", "next H v", "first", "next", "MB", "H v");
            if (o.peers && peer != NULL)
                printf(" %10s %10s %9s", peer->name, "and H v", "over ours");
            putchar('\n');
        }
        status = everything(&r, &o, &report);
    }
    if (status != 2 && !o.small && o.json && bench_report_write(&report, o.json)) status = 2;
    bench_report_close(&report);
    free(r.x);
    free(numbers);
    wg_tape_free(r.t);
    return status;
}

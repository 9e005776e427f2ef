/* SPDX-License-Identifier: MIT */
/* small_matrices - what does the gradient of many operations on small matrices cost over their
 * plain forward?
 *
 * A Kalman filter with 8 states and 4 observations over 1,000 steps, the gradient of its
 * likelihood by transition, observation and both noises; and 1,000 systems of order 6, one by
 * one and as a batch.
 * Plain: BLAS and LAPACK on arrays, without derivatives. The values are compared with it, the
 * gradients with differences of it, before anything is timed. One thread. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { N = 8, M = 4, STEPS = 1000, ORDER = 6, SYSTEMS = 1000 };
enum { F = 0, H = F + N * N, Q = H + M * N, R = Q + N * N, FILTER = R + M * M };
enum { A = 0, B = ORDER * ORDER * SYSTEMS, SOLVES = B + ORDER * SYSTEMS, MOST = SOLVES };

#define LOG_2_PI 1.8378770664093454836

static double observed[M * STEPS];

/* ---- plain ---- */

static void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
                 const double *a, const double *b, double beta, double *c) {
    cblas_dgemm(CblasColMajor, ta, tb, m, n, k, alpha, a, ta == CblasTrans ? k : m, b,
                tb == CblasTrans ? n : k, beta, c, m);
}

static double plain_filter(const double *x) {
    double state[N] = {0}, p[N * N] = {0}, next[N], t[N * N], hp[M * N], s[M * M], v[M], z[M];
    double gain[M * N], sum = 0;
    for (int i = 0; i < N; i++) p[i * (N + 1)] = 1;
    for (int k = 0; k < STEPS; k++) {
        cblas_dgemv(CblasColMajor, CblasNoTrans, N, N, 1, x + F, N, state, 1, 0, next, 1);
        gemm(CblasNoTrans, CblasNoTrans, N, N, N, 1, x + F, p, 0, t);
        memcpy(p, x + Q, sizeof p);
        gemm(CblasNoTrans, CblasTrans, N, N, N, 1, t, x + F, 1, p);
        gemm(CblasNoTrans, CblasNoTrans, M, N, N, 1, x + H, p, 0, hp);
        memcpy(s, x + R, sizeof s);
        gemm(CblasNoTrans, CblasTrans, M, M, N, 1, hp, x + H, 1, s);
        memcpy(v, observed + M * k, sizeof v);
        cblas_dgemv(CblasColMajor, CblasNoTrans, M, N, -1, x + H, M, next, 1, 1, v, 1);
        if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', M, s, M) != 0) return NAN;
        memcpy(gain, hp, sizeof gain);
        memcpy(z, v, sizeof z);
        (void)LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', M, N, s, M, gain, M);
        (void)LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', M, 1, s, M, z, M);
        sum += cblas_ddot(M, v, 1, z, 1);
        for (int i = 0; i < M; i++) sum += 2 * log(s[i * (M + 1)]);
        memcpy(state, next, sizeof state);
        cblas_dgemv(CblasColMajor, CblasTrans, M, N, 1, gain, M, v, 1, 1, state, 1);
        gemm(CblasTrans, CblasNoTrans, N, N, M, -1, gain, hp, 1, p);
    }
    return sum;
}

static double plain_solves(const double *x) {
    double sum = 0;
    for (size_t k = 0; k < SYSTEMS; k++) {
        double a[ORDER * ORDER], b[ORDER];
        int pivot[ORDER];
        memcpy(a, x + A + ORDER * ORDER * k, sizeof a);
        memcpy(b, x + B + ORDER * k, sizeof b);
        if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, ORDER, ORDER, a, ORDER, pivot) != 0)
            return NAN;
        (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', ORDER, 1, a, ORDER, pivot, b, ORDER);
        for (size_t i = 0; i < ORDER; i++) sum += b[i];
    }
    return sum;
}

/* ---- recorded ---- */

static wg_real filter(wg_tape *t, const wg_mat *in) {
    static const double zero[N] = {0};
    wg_mat x = wg_mat_constant(t, N, 1, zero, N), p = wg_mat_identity(t, N);
    wg_real sum = wg_constant(0);
    for (int k = 0; k < STEPS; k++) {
        const wg_mat y = wg_mat_constant(t, M, 1, observed + M * k, M);
        sum = wg_let(t, wg_add(sum, wg_kalman_step(t, in[0], in[1], in[2], in[3], y, &x, &p)));
    }
    return wg_let(t, wg_sub(wg_mul(-2, sum), M * STEPS * LOG_2_PI)); /* as the plain one */
}

/* The same of operations on matrices. */
static wg_real filter_of_parts(wg_tape *t, const wg_mat *in) {
    static const double zero[N] = {0};
    const wg_mat f = in[0], h = in[1];
    wg_mat x = wg_mat_constant(t, N, 1, zero, N), p = wg_mat_identity(t, N);
    wg_real sum = wg_constant(0);
    for (int k = 0; k < STEPS; k++) {
        x = wg_matmul(t, f, x);
        p = wg_gemm(t, 'N', 'T', 1, wg_matmul(t, f, p), f, 1, in[2]);
        const wg_mat hp = wg_matmul(t, h, p), s = wg_gemm(t, 'N', 'T', 1, hp, h, 1, in[3]);
        const wg_mat y = wg_mat_constant(t, M, 1, observed + M * k, M);
        const wg_mat v = wg_gemv(t, 'N', -1, h, x, 1, y);
        const wg_factor l = wg_potrf(t, s);
        const wg_mat gain = wg_factor_solve(t, l, 'N', hp), z = wg_factor_solve(t, l, 'N', v);
        sum = wg_let(t, wg_add(sum, wg_add(wg_mat_dot(t, v, z), wg_factor_logdet(t, l))));
        x = wg_gemv(t, 'T', 1, gain, v, 1, x);
        p = wg_gemm(t, 'T', 'N', -1, gain, hp, 1, p);
    }
    return sum;
}

static wg_real one_by_one(wg_tape *t, const wg_mat *in) {
    wg_real sum = wg_constant(0);
    for (size_t k = 0; k < SYSTEMS; k++) {
        const wg_mat a = wg_mat_block(in[0], 0, ORDER * k, ORDER, ORDER);
        const wg_mat x = wg_solve(t, a, wg_mat_block(in[1], 0, k, ORDER, 1));
        sum = wg_let(t, wg_add(sum, wg_mat_sum(t, x)));
    }
    return sum;
}
static wg_real batch(wg_tape *t, const wg_mat *in) {
    return wg_mat_sum(t, wg_solve_batch(t, SYSTEMS, in[0], in[1]));
}

static const struct workload {
    const char *name, *title;
    double (*plain)(const double *x);
    wg_real (*record)(wg_tape *t, const wg_mat *in);
    size_t inputs, size[4][2];
} workloads[] = {
    {"kalman",
     "Kalman filter, 8 states, 1,000 steps",
     plain_filter,
     filter,
     4,
     {{N, N}, {M, N}, {N, N}, {M, M}}},
    {"kalman_parts",
     "the same of operations on matrices",
     plain_filter,
     filter_of_parts,
     4,
     {{N, N}, {M, N}, {N, N}, {M, M}}},
    {"solves",
     "1,000 systems of order 6, one by one",
     plain_solves,
     one_by_one,
     2,
     {{ORDER, ORDER *SYSTEMS}, {ORDER, SYSTEMS}}},
    {"batch",
     "the same as a batch",
     plain_solves,
     batch,
     2,
     {{ORDER, ORDER *SYSTEMS}, {ORDER, SYSTEMS}}},
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static void fill(size_t which, double *x) {
    for (size_t i = 0; i < M * STEPS; i++) observed[i] = sin(0.1 * (double)i);
    if (workloads[which].plain == plain_filter) {
        for (size_t i = 0; i < N * N; i++) {
            x[F + i] = 0.1 * sin(1.3 * (double)i) + (i % (N + 1) == 0 ? 0.8 : 0);
            x[Q + i] = i % (N + 1) == 0 ? 0.1 : 0;
        }
        for (size_t i = 0; i < M * N; i++) x[H + i] = cos(1.7 * (double)i);
        for (size_t i = 0; i < M * M; i++) x[R + i] = i % (M + 1) == 0 ? 0.3 : 0;
        return;
    }
    for (size_t i = 0; i < B; i++)
        x[A + i] =
            sin(1.1 * (double)i * (double)i) + (i % (ORDER * ORDER) % (ORDER + 1) == 0 ? 4 : 0);
    for (size_t i = 0; i < ORDER * SYSTEMS; i++) x[B + i] = cos((double)i);
}

/* ---- runs ---- */

struct run {
    wg_tape *t;
    const struct workload *w;
    double *x, *g, *at, value;
    wg_status status;
};

static size_t length(const struct workload *w) {
    size_t n = 0;
    for (size_t i = 0; i < w->inputs; i++) n += w->size[i][0] * w->size[i][1];
    return n;
}

static void run_gradient(void *ctx) {
    struct run *const r = ctx;
    wg_mat in[4];
    const double *x = r->x;
    double *g = r->g;
    wg_tape_reset(r->t);
    for (size_t i = 0; i < r->w->inputs; i++) {
        const size_t rows = r->w->size[i][0], cols = r->w->size[i][1];
        in[i] = wg_mat_input(r->t, rows, cols, x, rows);
        x += rows * cols;
    }
    const wg_real y = r->w->record(r->t, in);
    wg_status s = wg_reverse(r->t, y);
    for (size_t i = 0; i < r->w->inputs && s == WG_OK; i++) {
        s = wg_mat_adjoint(r->t, in[i], g, in[i].rows);
        g += in[i].rows * in[i].cols;
    }
    if (s != WG_OK) r->status = s;
    r->value = wg_value(y);
}
static void run_plain(void *ctx) {
    struct run *const r = ctx;
    r->value = r->w->plain(r->x);
}

/* Along a direction in which covariances stay symmetric. */
#define STEP 1e-5
#define TOL_DIFFERENCE 1e-7 /* STEP^2 and DBL_EPSILON / STEP, times higher derivatives */
static int verify(struct run *r) {
    const size_t n = length(r->w);
    double side[2], along = 0, size = 0;
    run_plain(r);
    const double plain = r->value;
    run_gradient(r);
    if (r->status != WG_OK || !(fabs(r->value - plain) <= 1e-10 * fabs(plain))) return -1;
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < n; i++) r->at[i] = r->x[i] * (1 + (k ? -STEP : STEP));
        side[k] = r->w->plain(r->at);
    }
    for (size_t i = 0; i < n; i++) {
        along += r->g[i] * r->x[i];
        size += fabs(r->g[i] * r->x[i]);
    }
    const double difference = (side[0] - side[1]) / (2 * STEP);
    return fabs(difference - along) <= TOL_DIFFERENCE * fmax(size, fabs(plain)) ? 0 : -1;
}

static int measure(struct run *r, const struct bench_options *o, struct bench_report *report) {
    struct bench_job job[2] = {{.run = run_plain, .ctx = r, .label = "plain"},
                               {.run = run_gradient, .ctx = r, .label = "gradient"}};
    if (bench_time(job, 2, o->reps, r->w->name) || r->status != WG_OK) return -1;
    for (int k = 0; k < 2; k++) {
        struct bench_row *const row =
            bench_report_add(report, "small matrices", r->w->name, k ? "Wengert" : "LAPACK",
                             job[k].label, &job[k].times);
        if (k) bench_row_over(row, &job[0].times, job[0].label);
    }
    printf("%-40s %10.3f %10.3f %7.2fx\n", r->w->title, 1e3 * job[0].times.median,
           1e3 * job[1].times.median, job[1].times.median / job[0].times.median);
    return 0;
}

/* 0: right; 1: not; 2: stopped. */
static int everything(struct run *r, const struct bench_options *o,
                      struct bench_report *report) {
    int status = 0, chosen = 0;
    for (size_t k = 0; k < WORKLOADS; k++) chosen += bench_selected(o, workloads[k].name);
    bench_progress_begin((size_t)chosen);
    for (size_t k = 0; k < WORKLOADS && status != 2; k++) {
        r->w = &workloads[k];
        if (!bench_selected(o, r->w->name)) continue;
        fill(k, r->x);
        if (verify(r)) {
            fprintf(stderr, "small_matrices: %s DISAGREES: %s\n", r->w->title,
                    wg_tape_message(r->t));
            status = 1;
        } else if (!o->small && measure(r, o, report)) status = 2;
    }
    if (o->small) printf("small_matrices: gradients %s\n", status ? "DISAGREE" : "verified");
    return status;
}

int main(int argc, char **argv) {
    struct bench_options o;
    struct bench_report report;
    if (bench_options(&o, argc, argv, 0)) return 2;
    double *const numbers = calloc(3 * (size_t)MOST, sizeof *numbers);
    struct run r = {.t = wg_tape_new(NULL), .x = numbers};
    int status = 2;
    bench_report_open(&report, "small_matrices", o.reps);
    if (r.t != NULL && numbers != NULL) {
        r.g = numbers + MOST, r.at = numbers + 2 * (size_t)MOST;
        if (!o.small) {
            bench_report_print(&report);
            printf("%-40s %10s %10s %8s\n", "milliseconds", "plain", "gradient", "ratio");
        }
        status = everything(&r, &o, &report);
    }
    if (status != 2 && !o.small && o.json && bench_report_write(&report, o.json)) status = 2;
    bench_report_close(&report);
    free(numbers);
    wg_tape_free(r.t);
    return status;
}

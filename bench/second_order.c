/* SPDX-License-Identifier: MIT */
/* second_order - what does a Hessian-vector product cost over the gradient of the same tape?
 *
 * All are timed on a tape that keeps its code: the gradient is recording and reverse sweep, the
 * first product is that of a new recording, as it also computes the local second derivatives,
 * and a further one at the same point finds them there. Verified first: against the closed form
 * of Rosenbrock's function, and by symmetry. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "workloads/rosenbrock.h"

enum { N = 20000 };

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

static const struct {
    const char *name, *title;
    wg_real (*f)(wg_tape *t, size_t n, const wg_real *x);
} chains[] = {{"rosenbrock", "rosenbrock, fused", rosenbrock},
              {"transcendental", "exp(x) sin(y), fused", transcendental},
              {"unfused", "x y / (1 + x), one operation each", unfused}};
enum { CHAINS = sizeof chains / sizeof *chains };

/* ---- verification ---- */

static double dot(size_t n, const double *a, const double *b) {
    double s = 0;
    for (size_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

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
    int chain;
    double *a, *u, *v, *hu, *hv;
    wg_real *x, f;
    wg_status status;
};

static wg_status record(struct run *r) {
    wg_tape_reset(r->t);
    const wg_status s = wg_inputs(r->t, N, r->a, r->x);
    if (s != WG_OK) return s;
    r->f = chains[r->chain].f(r->t, N, r->x);
    return wg_tape_status(r->t);
}

/* The number of things wrong, or -1. */
static int verify(struct run *r) {
    int wrong = 0;
    if (record(r) != WG_OK || wg_tape_hvp(r->t, r->f, N, r->x, r->u, r->hu) != WG_OK ||
        wg_tape_hvp(r->t, r->f, N, r->x, r->v, r->hv) != WG_OK)
        return -1;
    const double a = dot(N, r->v, r->hu), b = dot(N, r->u, r->hv);
    /* N products are summed on both sides */
    wrong += !(fabs(a - b) <= N * DBL_EPSILON * fabs(a));
    if (r->chain != 0) return wrong;
    rosenbrock_hvp(N, r->a, r->v, r->hu);
    for (size_t i = 0; i < N; i++) wrong += !(fabs(r->hv[i] - r->hu[i]) <= 1e-11);
    return wrong;
}

/* ---- timing ---- */

static void run_gradient(void *ctx) {
    struct run *r = ctx;
    if (record(r) != WG_OK || wg_reverse(r->t, r->f) != WG_OK ||
        wg_adjoints(r->t, N, r->x, r->hu) != WG_OK)
        r->status = wg_tape_status(r->t);
}
static void run_product(void *ctx) {
    struct run *r = ctx;
    const wg_status s = wg_tape_hvp(r->t, r->f, N, r->x, r->v, r->hv);
    if (s != WG_OK) r->status = s;
}

/* 0 or -1. */
static int measure(struct run *r, const struct bench_options *o, struct bench_report *report) {
    static const char *const what[3] = {"gradient", "first H v", "next H v"};
    struct bench_job job[3] = {
        {.run = run_gradient, .ctx = r},
        {.run = run_product, .prepare = run_gradient, .ctx = r},
        {.run = run_product, .ctx = r},
    };
    const char *name = chains[r->chain].name;
    for (int k = 0; k < 3; k++) job[k].label = what[k];
    if (bench_time(job, 3, o->reps, name) || r->status != WG_OK) return -1;
    const struct bench_times *base = &job[0].times;
    printf("%-36s", chains[r->chain].title);
    for (int k = 0; k < 3; k++) {
        struct bench_row *row =
            bench_report_add(report, "second order", name, "Wengert", what[k], &job[k].times);
        row->size = N;
        if (k) bench_row_over(row, base, what[0]);
        printf(" %10.3f", 1e3 * job[k].times.median);
    }
    printf(" %7.2fx %7.2fx\n", job[1].times.median / base->median,
           job[2].times.median / base->median);
    return 0;
}

/* 0: right; 1: not; 2: stopped. */
static int everything(struct run *r, const struct bench_options *o,
                      struct bench_report *report) {
    int status = 0, chosen = 0;
    for (int k = 0; k < CHAINS; k++) chosen += bench_selected(o, chains[k].name);
    bench_progress_begin((size_t)chosen);
    for (r->chain = 0; r->chain < CHAINS && status != 2; r->chain++) {
        if (!bench_selected(o, chains[r->chain].name)) continue;
        const int wrong = verify(r);
        if (wrong)
            fprintf(stderr, "second_order: %s: %s\n", chains[r->chain].title,
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
    double *const numbers = calloc(5 * (size_t)N, sizeof *numbers);
    struct run r = {.t = wg_tape_new(&keep), .a = numbers, .x = calloc(N, sizeof *r.x)};
    int status = 2;
    bench_report_open(&report, "second_order", o.reps);
    if (r.t != NULL && numbers != NULL && r.x != NULL) {
        r.u = numbers + N, r.v = numbers + 2 * N;
        r.hu = numbers + 3 * N, r.hv = numbers + 4 * N;
        for (int i = 0; i < N; i++) {
            r.a[i] = 0.3 + 1e-5 * i;
            r.u[i] = 1 - 1e-4 * (i % 100);
            r.v[i] = 0.5 + 1e-3 * (i % 7);
        }
        if (!o.small) {
            bench_report_print(&report);
            printf("%-36s %10s %10s %10s %8s %8s\n", "milliseconds, n = 20000", "gradient",
                   "first H v", "next H v", "first", "next");
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

/* SPDX-License-Identifier: MIT */
/* taylor - what do the Taylor coefficients of a function cost over the function?
 *
 * Once as wg_taylor and its adjoint of a callback of some thousand operations, over the plain
 * computation and over wg_eval; and as wg_function_taylor of a piece of it, evaluated at many
 * points, over that function at these points. Verified first: the series is summed and compared
 * with the plain computation away from the point, and a function's with that of wg_taylor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { HIGHEST = 32, MOST = 1000, ROUNDS = 500, POINTS = 1024 };
static const size_t orders[] = {8, 16, HIGHEST};
enum { ORDERS = sizeof orders / sizeof *orders };

/* ---- functions: as plain C, and recorded ---- */

/* A pendulum by the symplectic Euler method; exp(y) / d is added up. */
static double pendulum(size_t n, const double *x) {
    double angle = x[0], y = x[1], sum = x[5];
    (void)n;
    for (size_t i = 0; i < ROUNDS; i++) {
        y -= x[2] * sin(angle);
        angle += x[3] * y;
        sum += exp(y) / x[4];
    }
    return sum;
}
static wg_status pendulum_real(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *data) {
    wg_real angle = x[0], speed = x[1], sum = x[5];
    (void)n, (void)m, (void)data;
    for (size_t i = 0; i < ROUNDS; i++) {
        speed = wg_let(t, wg_sub(speed, wg_mul(x[2], wg_sin(angle))));
        angle = wg_let(t, wg_add(angle, wg_mul(x[3], speed)));
        sum = wg_let(t, wg_add(sum, wg_div(wg_exp(speed), x[4])));
    }
    y[0] = sum;
    return WG_OK;
}

static double waves(size_t n, const double *x) {
    double sum = 0;
    for (size_t i = 0; i + 1 < n; i++) sum += exp(x[i]) * sin(x[i + 1]);
    return sum;
}
static wg_status waves_real(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)m, (void)data;
    y[0] = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(wg_exp(x[i]), wg_sin(x[i + 1]))));
    return WG_OK;
}

/* Potential of equal masses in a plane. */
static double gravity(size_t n, const double *x) {
    double sum = 0;
    for (size_t i = 0; i + 1 < n; i += 2)
        for (size_t j = 0; j < i; j += 2) {
            const double dx = x[i] - x[j], dy = x[i + 1] - x[j + 1];
            sum += 1 / sqrt(dx * dx + dy * dy);
        }
    return sum;
}
static wg_status gravity_real(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)m, (void)data;
    y[0] = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i += 2)
        for (size_t j = 0; j < i; j += 2) {
            const wg_real dx = wg_let(t, wg_sub(x[i], x[j]));
            const wg_real dy = wg_let(t, wg_sub(x[i + 1], x[j + 1]));
            y[0] = wg_let(
                t, wg_add(y[0], wg_div(1, wg_sqrt(wg_add(wg_square(dx), wg_square(dy))))));
        }
    return WG_OK;
}

static double rosenbrock(size_t n, const double *x) {
    double sum = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        sum += 100 * a * a + b * b;
    }
    return sum;
}
static wg_status rosenbrock_real(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    (void)m, (void)data;
    y[0] = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++) {
        const wg_real a = wg_let(t, wg_sub(x[i + 1], wg_square(x[i])));
        y[0] = wg_let(
            t, wg_add(y[0], wg_add(wg_mul(100, wg_square(a)), wg_square(wg_sub(1, x[i])))));
    }
    return WG_OK;
}

static const struct problem {
    const char *name, *title;
    double (*plain)(size_t n, const double *x);
    wg_callback *f;
    size_t n,
        piece; /* inputs; of the function that is evaluated at many points, 0: there is none */
} problems[] = {{"pendulum", "pendulum, 500 steps", pendulum, pendulum_real, 6, 0},
                {"waves", "exp(x) sin(y), 999 terms", waves, waves_real, MOST, 6},
                {"gravity", "gravity, 40 bodies", gravity, gravity_real, 80, 8},
                {"rosenbrock", "Rosenbrock, 999 terms", rosenbrock, rosenbrock_real, MOST, 6}};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* ---- a run ---- */

enum {
    PLAIN,
    EVAL,
    FIRST,
    ADJOINT = FIRST + ORDERS,
    POINTWISE,
    SERIES,
    JOBS = SERIES + ORDERS
};

struct run {
    const struct problem *p;
    wg_tape *t;
    size_t order; /* of what is run next */
    double x[MOST * (HIGHEST + 1)], g[MOST * (HIGHEST + 1)];
    double c[HIGHEST + 1], w[HIGHEST + 1], sum;
    wg_function *f[1 + ORDERS]; /* a piece of it, and its series */
    double *out;
    void *work;
    int failed;
};

struct job {
    struct run *r;
    size_t which;
};

static void run_plain(void *ctx) {
    struct run *const r = ((struct job *)ctx)->r;
    r->sum += r->p->plain(r->p->n, r->x);
}
static void run_eval(void *ctx) {
    struct run *const r = ((struct job *)ctx)->r;
    r->failed |= wg_eval(r->t, r->p->f, NULL, r->p->n, r->x, 1, r->c) != WG_OK;
}
static void run_taylor(void *ctx) {
    const struct job *const j = ctx;
    struct run *const r = j->r;
    r->failed |=
        wg_taylor(r->t, r->p->f, NULL, r->p->n, orders[j->which], r->x, 1, r->c) != WG_OK;
}
static void run_adjoint(void *ctx) {
    const struct job *const j = ctx;
    struct run *const r = j->r;
    r->failed |= wg_taylor_vjp(r->t, r->p->f, NULL, r->p->n, orders[j->which], r->x, 1, r->w,
                               r->c, r->g) != WG_OK;
}
/* The function, or one of its series, at many points, which are pieces of x. */
static void run_points(void *ctx) {
    const struct job *const j = ctx;
    struct run *const r = j->r;
    const size_t order = j->which == 0 ? 0 : orders[j->which - 1];
    const wg_points at[2] = {{r->x, 1, 1}, {r->x + r->p->n, 1, 1}};
    const wg_results y = {r->out, (ptrdiff_t)order + 1, 1};
    r->failed |=
        wg_function_evaluate(r->f[j->which], POINTS, at, &y, NULL, r->work, NULL) != WG_OK;
}

static int open_piece(struct run *r) {
    const wg_argument in = {"x", r->p->piece, 1, 0}, out = {"y", 1, 1, 0};
    size_t most = 0;
    if (wg_function_record(r->t, r->p->f, NULL, 1, &in, r->x, 1, &out, &r->f[0]) != WG_OK)
        return -1;
    for (size_t k = 0; k <= ORDERS; k++) {
        if (k != 0 && wg_function_taylor(r->t, r->f[0], orders[k - 1], &r->f[k]) != WG_OK)
            return -1;
        const size_t bytes = wg_function_work(r->f[k], NULL);
        if (bytes > most) most = bytes;
    }
    r->work = aligned_alloc(64, (most + 63) / 64 * 64);
    r->out = malloc((HIGHEST + 1) * POINTS * sizeof *r->out);
    return r->work == NULL || r->out == NULL ? -1 : 0;
}

/* ---- verification ---- */

/* Sums a series of order 16 as far from the point as it has converged. */
static int sums(struct run *r) {
    const size_t order = orders[1];
    double moved[MOST], s = 0;
    run_taylor(&(struct job){r, 1});
    const double last = fabs(r->c[order] / r->c[0]);
    const double step = 0.5 * pow(fmax(last, DBL_EPSILON) / DBL_EPSILON, -1 / (double)order);
    for (size_t k = order + 1; k-- > 0;) s = s * step + r->c[k];
    for (size_t i = 0; i < r->p->n; i++) moved[i] = r->x[i] + step * r->x[r->p->n + i];
    const double f = r->p->plain(r->p->n, moved);
    return fabs(s - f) <= 4096 * DBL_EPSILON * fabs(f); /* some thousand roundings */
}

/* The coefficients of a function at its first point against those of wg_taylor. */
static int agrees(struct run *r) {
    const size_t n = r->p->piece;
    double x[2 * MOST], c[HIGHEST + 1], size = 0;
    memset(x, 0, sizeof x);
    memcpy(x, r->x, n * sizeof *x);
    memcpy(x + n, r->x + r->p->n, n * sizeof *x);
    double *const all = calloc(n * (HIGHEST + 1), sizeof *all);
    if (all == NULL) return 0;
    memcpy(all, x, 2 * n * sizeof *x);
    r->failed |= wg_taylor(r->t, r->p->f, NULL, n, HIGHEST, all, 1, c) != WG_OK;
    free(all);
    run_points(&(struct job){r, ORDERS});
    for (size_t k = 0; k <= HIGHEST; k++) size = fmax(size, fabs(c[k]));
    for (size_t k = 0; k <= HIGHEST; k++)
        if (!(fabs(r->out[k] - c[k]) <= 1024 * DBL_EPSILON * size)) return 0;
    return 1;
}

/* ---- timing ---- */

static int measure(struct run *r, const struct bench_options *o, struct bench_report *report) {
    static const char *const label[JOBS] = {"plain",     "wg_eval",  "order 8",  "order 16",
                                            "order 32",  "adjoint",  "function", "series 8",
                                            "series 16", "series 32"};
    struct bench_job job[JOBS];
    struct job what[JOBS];
    const size_t jobs = r->p->piece != 0 ? JOBS : POINTWISE;
    memset(job, 0, sizeof job);
    for (size_t k = 0; k < jobs; k++) {
        what[k] = (struct job){r, k >= POINTWISE ? k - POINTWISE
                                  : k == ADJOINT ? 1
                                  : k >= FIRST   ? k - FIRST
                                                 : 0};
        job[k] = (struct bench_job){.ctx = &what[k],
                                    .label = label[k],
                                    .run = k == PLAIN     ? run_plain
                                           : k == EVAL    ? run_eval
                                           : k < ADJOINT  ? run_taylor
                                           : k == ADJOINT ? run_adjoint
                                                          : run_points};
    }
    if (bench_time(job, jobs, o->reps, r->p->name) || r->failed) return -1;
    printf("%-28s %9.2f", r->p->title, 1e6 * job[PLAIN].times.median);
    for (size_t k = EVAL; k < jobs; k++) {
        const struct bench_times *const base = &job[k < POINTWISE ? PLAIN : POINTWISE].times;
        struct bench_row *const row =
            bench_report_add(report, "taylor", r->p->name, "Wengert", label[k], &job[k].times);
        row->size = (double)r->p->n;
        if (k != POINTWISE) bench_row_over(row, base, k < POINTWISE ? "plain" : "function");
        if (k == POINTWISE) printf(" %9.2f", 1e9 / POINTS * base->median);
        else printf(" %9.1f", job[k].times.median / base->median);
    }
    putchar('\n');
    return 0;
}

/* 0: right; 1: not; 2: stopped. */
static int one(const struct problem *p, const struct bench_options *o,
               struct bench_report *report) {
    struct run *const r = calloc(1, sizeof *r);
    int status = 2;
    if (r != NULL) r->t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    if (r != NULL && r->t != NULL) {
        r->p = p;
        for (size_t i = 0; i < p->n; i++) {
            r->x[i] = 0.3 + 0.4 * cos(1.3 * (double)i);
            r->x[p->n + i] = 0.1 * sin(2.7 * (double)i);
        }
        for (size_t k = 0; k <= HIGHEST; k++) r->w[k] = 1;
        if (p->piece == 0 || open_piece(r) == 0) {
            const int right = sums(r) && (p->piece == 0 || agrees(r)) && !r->failed;
            status = !right;
            if (!right) fprintf(stderr, "taylor: %s: the coefficients DISAGREE\n", p->title);
            else if (!o->small && measure(r, o, report)) status = 2;
        }
    }
    if (r != NULL) {
        if (status == 2) fprintf(stderr, "taylor: %s: %s\n", p->title, wg_tape_message(r->t));
        for (size_t k = 0; k <= ORDERS; k++) wg_function_free(r->f[k]);
        free(r->work), free(r->out);
        wg_tape_free(r->t);
    }
    free(r);
    return status;
}

int main(int argc, char **argv) {
    struct bench_options o;
    struct bench_report report;
    int status = 0;
    size_t chosen = 0;
    if (bench_options(&o, argc, argv, 0)) return 2;
    bench_report_open(&report, "taylor", o.reps);
    for (int k = 0; k < PROBLEMS; k++) chosen += bench_selected(&o, problems[k].name) != 0;
    bench_progress_begin(chosen);
    if (!o.small) {
        bench_report_print(&report);
        printf("%-28s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n", "over the plain computation",
               "us", "wg_eval", "order 8", "16", "32", "adjoint", "f, ns", "order 8", "16",
               "32");
    }
    for (int k = 0; k < PROBLEMS && status != 2; k++) {
        if (!bench_selected(&o, problems[k].name)) continue;
        const int found = one(&problems[k], &o, &report);
        if (found > status) status = found;
    }
    if (o.small) printf("taylor: coefficients %s\n", status ? "DISAGREE" : "verified");
    else if (status != 2 && o.json && bench_report_write(&report, o.json)) status = 2;
    bench_report_close(&report);
    return status;
}

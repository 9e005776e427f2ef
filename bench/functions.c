/* SPDX-License-Identifier: MIT */
/* functions - what does a derivative cost where the computation is a function: mapped over
 * data, differentiated twice, evaluated again and again at one point?
 *
 * Verified first: against the hand-written derivative, or the tape. Compiled functions are left
 * out where there is no compiler. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

#include "harness.h"

#include "workloads/bundle.h"
#include "workloads/mixture.h"
#include "workloads/rosenbrock.h"

enum { POINTS = 4096 };

/* What is asked for, and what is found. */
struct session {
    struct bench_options o;
    struct bench_report report;
    wg_tape *t;
};

/* ---- one function, interpreted and compiled ---- */

struct evaluation {
    wg_function *f, *native;
    size_t points;
    const wg_points *x;
    const wg_results *y;
    void *work;
    wg_status status;
    void (*before)(void *ctx); /* what has to be done each time, timed as well */
    void *ctx;
};

static void run(struct evaluation *e, const wg_function *f) {
    if (e->before != NULL) e->before(e->ctx);
    const wg_status s = wg_function_evaluate(f, e->points, e->x, e->y, NULL, e->work, NULL);
    if (s != WG_OK) e->status = s;
}
static void run_interpreted(void *ctx) {
    struct evaluation *e = ctx;
    run(e, e->f);
}
static void run_native(void *ctx) {
    struct evaluation *e = ctx;
    run(e, e->native);
}

/* Takes the function over. 0, or -1 with a line on stderr. */
static int open_evaluation(struct evaluation *e, wg_tape *t, wg_function *f, size_t points,
                           const wg_points *x, const wg_results *y) {
    wg_compiled how;
    memset(e, 0, sizeof *e);
    e->f = f;
    e->points = points;
    e->x = x;
    e->y = y;
    if (f == NULL || wg_function_compile(t, f, NULL, &e->native, &how) != WG_OK) {
        fprintf(stderr, "functions: %s\n", wg_tape_message(t));
        return -1;
    }
    if (!how.native) {
        fprintf(stderr, "functions: not compiled: %s\n", how.why);
        wg_function_free(e->native);
        e->native = NULL;
    }
    size_t bytes = wg_function_work(f, NULL);
    if (e->native != NULL && wg_function_work(e->native, NULL) > bytes)
        bytes = wg_function_work(e->native, NULL);
    e->work = aligned_alloc(64, (bytes + 63) / 64 * 64);
    return e->work != NULL ? 0 : -1;
}

static void close_evaluation(struct evaluation *e) {
    wg_function_free(e->f);
    wg_function_free(e->native);
    free(e->work);
}

/* The larger error of the two ways, in ulps of the largest entry; infinite: refused. */
static double verify(struct evaluation *e, size_t n, double *got, const double *want) {
    double worst = 0;
    for (int native = 0; native < 2; native++) {
        if (native && e->native == NULL) continue;
        memset(got, 0, n * sizeof *got);
        e->status = WG_OK;
        run(e, native ? e->native : e->f);
        const double ulps = e->status == WG_OK ? bench_ulps(n, got, want) : INFINITY;
        if (!(ulps <= worst)) worst = ulps;
    }
    return worst;
}

/* Prints and keeps a result: job[0] interpreted, job[1] compiled, over `base`, which is a time
 * of `tool` and called `over`. */
struct row {
    const char *name, *workload, *quantity, *unit;
    double scale, size;
    const struct bench_times *base;
    const char *tool, *over;
};

static void keep(struct session *s, const struct row *row, const struct evaluation *e,
                 const struct bench_job *job) {
    printf("%-44s %9.4g %9.4g %6.2fx", row->name, row->base->median * row->scale,
           job[0].times.median * row->scale, job[0].times.median / row->base->median);
    if (e->native != NULL)
        printf(" %9.4g %6.2fx", job[1].times.median * row->scale,
               job[1].times.median / row->base->median);
    printf("  %s\n", row->unit);
    fflush(stdout);
    const int newest = s->report.rows > 0 &&
                       strcmp(s->report.row[s->report.rows - 1].workload, row->workload) == 0;
    if (!newest)
        bench_report_add(&s->report, "function", row->workload, row->tool, row->over, row->base)
            ->size = row->size;
    for (int k = 0; k < (e->native ? 2 : 1); k++) {
        struct bench_row *r =
            bench_report_add(&s->report, "function", row->workload,
                             k ? "Wengert, compiled" : "Wengert", row->quantity, &job[k].times);
        r->size = row->size;
        bench_row_over(r, row->base, row->over);
    }
}

static void head(const char *base) {
    printf("\n%-44s %9s %9s %7s %9s %7s\n", "", base, "function", "ratio", "compiled", "ratio");
}

/* ---- mapped over data ---- */

struct workload_run {
    const struct bench_workload *w;
    struct bench_case c;
    double *y;
};

static void run_primal(void *ctx) {
    struct workload_run *r = ctx;
    r->w->primal(&r->c, r->y);
}

/* The reprojection error of an observation: camera and point, weight, where it was seen. */
static wg_status reprojection(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *err,
                              void *data) {
    static const double origin[2] = {0, 0};
    wg_real e[3];
    (void)n, (void)m, (void)data;
    const wg_real weight = in[BUNDLE_INPUTS - 1], *feat = in + BUNDLE_INPUTS;
    bundle_real(t, in, origin, e);
    for (int i = 0; i < 2; i++) err[i] = wg_let(t, wg_sub(e[i], wg_mul(weight, feat[i])));
    err[2] = e[2];
    return WG_OK;
}

struct bundle_run {
    struct workload_run r;
    double *in; /* inputs of all observations */
};

static void gather(void *ctx) {
    struct bundle_run *b = ctx;
    const struct bundle_params *p = (const struct bundle_params *)b->r.c.params;
    for (size_t i = 0; i < p->observations; i++)
        bundle_gather(p, b->r.c.x, i, b->in + BUNDLE_INPUTS * i);
}

static wg_function *bundle_jacobian(wg_tape *t, const double *at) {
    static const char *const rows[] = {"du/dcamera", "du/dweight", "dv/dcamera", "dv/dweight",
                                       "ds/dweight"};
    const wg_argument in[] = {
        {"camera", BUNDLE_INPUTS - 1, 1, 0}, {"weight", 1, 1, 0}, {"seen", 2, 1, WG_PASSIVE}};
    const wg_argument out[] = {{"u", 1, 1, 0}, {"v", 1, 1, 0}, {"s", 1, 1, 0}};
    wg_function *f = NULL, *all = NULL, *some = NULL;
    if (wg_function_record(t, reprojection, NULL, 3, in, at, 3, out, &f) == WG_OK &&
        wg_function_jacobian(t, f, &all) == WG_OK &&
        wg_function_select(t, all, 5, rows, &some) != WG_OK)
        some = NULL;
    wg_function_free(f);
    wg_function_free(all);
    return some;
}

/* 0, or the number of things wrong. */
static int bundle_case_of(struct session *s, enum bench_size size) {
    const int small = size == BENCH_CHECKED;
    const struct bench_workload *const w = &bench_workloads[BENCH_bundle];
    struct bundle_run b;
    struct evaluation e;
    memset(&b, 0, sizeof b);
    b.r.w = w;
    if (bench_case_new(&b.r.c, w, size)) return 1;
    const struct bundle_params *p = (const struct bundle_params *)b.r.c.params;
    const size_t n = p->observations, entries = b.r.c.entries;
    b.in = malloc(BUNDLE_INPUTS * n * sizeof *b.in);
    b.r.y = malloc(b.r.c.m * sizeof *b.r.y);
    double *const jac = malloc(entries * sizeof *jac), *const ref =
                                                           malloc(entries * sizeof *ref);
    double at[BUNDLE_INPUTS + 2];
    if (!b.in || !b.r.y || !jac || !ref) return 1;
    gather(&b);
    memcpy(at, b.in, BUNDLE_INPUTS * sizeof *at);
    memcpy(at + BUNDLE_INPUTS, p->feats, 2 * sizeof *at);
    const wg_points x[] = {{b.in, BUNDLE_INPUTS, 1},
                           {b.in + BUNDLE_INPUTS - 1, BUNDLE_INPUTS, 1},
                           {p->feats, 2, 1}};
    const ptrdiff_t step = BUNDLE_ENTRIES;
    const wg_results y[] = {{jac, step, 1},
                            {jac + BUNDLE_INPUTS - 1, step, 1},
                            {jac + BUNDLE_INPUTS, step, 1},
                            {jac + 2 * BUNDLE_INPUTS - 1, step, 1},
                            {jac + 2 * BUNDLE_INPUTS, step, 1}};
    if (open_evaluation(&e, s->t, bundle_jacobian(s->t, at), n, x, y)) return 1;
    e.before = gather;
    e.ctx = &b;
    w->handwritten(&b.r.c, ref);
    const double ulps = verify(&e, entries, jac, ref);
    const int wrong = !(ulps <= w->ulps);
    if (small || wrong) {
        printf("%-44s %g ulps%s\n", "bundle adjustment, Jacobian", ulps,
               wrong ? ": WRONG" : "");
    } else {
        struct bench_job job[] = {{.run = run_interpreted, .ctx = &e, .label = "function"},
                                  {.run = run_native, .ctx = &e, .label = "compiled"},
                                  {.run = run_primal, .ctx = &b.r, .label = "primal"}};
        if (e.native == NULL) job[1] = job[2];
        if (bench_time(job, 3, s->o.reps, "bundle")) return 1;
        const struct row row = {"bundle adjustment, Jacobian",
                                "bundle",
                                "Jacobian",
                                "ms",
                                1e3,
                                (double)n,
                                &job[2].times,
                                "C",
                                "primal"};
        keep(s, &row, &e, job);
    }
    close_evaluation(&e);
    bench_case_free(&b.r.c);
    free(b.in);
    free(b.r.y);
    free(jac);
    free(ref);
    return wrong;
}

/* The log likelihood of one point: inputs alphas, means, factors, the point. */
static wg_status likelihood(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                            void *data) {
    const struct mixture_params *p = data;
    const size_t d = p->d, k = p->k, size = d * (d + 1) / 2;
    const wg_real *alpha = in, *mean = in + k, *factor = mean + k * d;
    const wg_real *point = factor + k * size;
    wg_real *const term = malloc((k + 2 * d) * sizeof *term), *const x = term + k;
    (void)n, (void)m;
    if (term == NULL) return WG_ENOMEM;
    for (size_t c = 0; c < k; c++) {
        const wg_real *q = factor + c * size;
        wg_real *const qx = x + d;
        for (size_t j = 0; j < d; j++) x[j] = wg_let(t, wg_sub(point[j], mean[c * d + j]));
        for (size_t j = 0; j < d; j++) {
            qx[j] = wg_let(t, wg_mul(wg_exp(q[j]), x[j]));
            mixture_dot_real(t, &qx[j], j, q, p->at + d * j, x);
        }
        const wg_real norm2 = mixture_norm2_real(t, d, qx);
        const wg_real logdet = mixture_sum_real(t, d, q);
        term[c] = wg_let(t, wg_sub(wg_add(alpha[c], logdet), wg_mul(0.5, norm2)));
    }
    y[0] = wg_logsumexp(t, k, term);
    free(term);
    return WG_OK;
}

/* What does not depend on the points. */
static wg_status prior(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                       void *data) {
    const struct mixture_params *p = data;
    const size_t d = p->d, k = p->k, size = d * (d + 1) / 2;
    const wg_real *factor = in + k;
    (void)n, (void)m;
    wg_real f = wg_let(t, wg_sub(p->constant, wg_mul((double)p->n, wg_logsumexp(t, k, in))));
    for (size_t c = 0; c < k; c++) {
        const wg_real *q = factor + c * size;
        wg_real squares = wg_squared_norm(t, size - d, q + d);
        for (size_t j = 0; j < d; j++)
            squares = wg_let(t, wg_add(squares, wg_square(wg_exp(q[j]))));
        const wg_real logdet = mixture_sum_real(t, d, q);
        f = wg_let(t, wg_add(f, wg_sub(wg_mul(0.5 * p->gamma * p->gamma, squares),
                                       wg_mul((double)p->m, logdet))));
    }
    y[0] = f;
    return WG_OK;
}

static wg_function *gradient_of(wg_tape *t, wg_callback *f, void *data, size_t inputs,
                                const wg_argument *input, const double *x, unsigned flags) {
    const wg_argument out = {"y", 1, 1, flags};
    wg_function *made = NULL, *g = NULL;
    if (wg_function_record(t, f, data, inputs, input, x, 1, &out, &made) == WG_OK &&
        wg_function_gradient(t, made, &g) != WG_OK)
        g = NULL;
    wg_function_free(made);
    return g;
}

/* The gradient is that of the points, and then that of the prior at one point. */
struct mixture_run {
    struct workload_run r;
    wg_function *prior;
    void *work;
    const wg_points *x;
    double *alpha, *factor; /* of the prior's gradient */
};

static void prior_gradient(void *ctx) {
    struct mixture_run *q = ctx;
    const wg_points x[] = {q->x[0], q->x[2]};
    const wg_results y[] = {{q->alpha, 0, 1}, {q->factor, 0, 1}};
    if (wg_function_evaluate(q->prior, 1, x, y, NULL, q->work, NULL) != WG_OK)
        q->alpha[0] = NAN; /* noticed when the result is verified */
}

static int mixture_case_of(struct session *s, enum bench_size size) {
    const int small = size == BENCH_CHECKED;
    const struct bench_workload *const w = &bench_workloads[BENCH_mixture];
    struct mixture_run q;
    struct evaluation e;
    memset(&q, 0, sizeof q);
    q.r.w = w;
    if (bench_case_new(&q.r.c, w, size)) return 1;
    const struct mixture_params *p = (const struct mixture_params *)q.r.c.params;
    const size_t d = p->d, k = p->k, factors = d * (d + 1) / 2, n = q.r.c.n;
    const wg_argument in[] = {{"alpha", k, 1, WG_SHARED},
                              {"mean", d, k, WG_SHARED},
                              {"factor", factors, k, WG_SHARED},
                              {"point", d, 1, WG_PASSIVE}};
    const wg_argument shared[] = {in[0], in[2]};
    double *const g = calloc(3 * n + d + k * (1 + factors), sizeof *g), *const ref = g + n;
    double *const at = ref + n;
    q.r.y = malloc(q.r.c.m * sizeof *q.r.y);
    if (g == NULL || q.r.y == NULL) return 1;
    q.alpha = at + n + d;
    q.factor = q.alpha + k;
    memcpy(at, q.r.c.x, n * sizeof *at);
    memcpy(at + n, p->points, d * sizeof *at);
    double *const start = malloc((k + k * factors) * sizeof *start);
    if (start == NULL) return 1;
    memcpy(start, q.r.c.x, k * factors * sizeof *start);
    memcpy(start + k, q.r.c.x + k + k * d, k * factors * sizeof *start);
    q.prior = gradient_of(s->t, prior, (void *)(uintptr_t)p, 2, shared, start, WG_SUMMED);
    free(start);
    q.work = malloc(wg_function_work(q.prior, NULL));
    const wg_points x[] = {{q.r.c.x, 0, 1},
                           {q.r.c.x + k, 0, 1},
                           {q.r.c.x + k + k * d, 0, 1},
                           {p->points, (ptrdiff_t)d, 1}};
    const wg_results y[] = {{g, 0, 1}, {g + k, 0, 1}, {g + k + k * d, 0, 1}};
    q.x = x;
    if (q.prior == NULL || q.work == NULL ||
        open_evaluation(
            &e, s->t, gradient_of(s->t, likelihood, (void *)(uintptr_t)p, 4, in, at, WG_SUMMED),
            p->n, x, y))
        return 1;
    e.before = prior_gradient;
    e.ctx = &q;
    w->handwritten(&q.r.c, ref);
    /* the two parts are added by whoever uses them: here in the reference */
    prior_gradient(&q);
    for (size_t i = 0; i < k; i++) ref[i] -= q.alpha[i];
    for (size_t i = 0; i < k * factors; i++) ref[k + k * d + i] -= q.factor[i];
    const double ulps = verify(&e, n, g, ref);
    const int wrong = !(ulps <= w->ulps);
    if (small || wrong) {
        printf("%-44s %g ulps%s\n", "Gaussian mixture, gradient", ulps, wrong ? ": WRONG" : "");
    } else {
        struct bench_job job[] = {{.run = run_interpreted, .ctx = &e, .label = "function"},
                                  {.run = run_native, .ctx = &e, .label = "compiled"},
                                  {.run = run_primal, .ctx = &q.r, .label = "primal"}};
        if (e.native == NULL) job[1] = job[2];
        if (bench_time(job, 3, s->o.reps, "mixture")) return 1;
        const struct row row = {"Gaussian mixture, gradient",
                                "mixture",
                                "gradient",
                                "ms",
                                1e3,
                                (double)p->n,
                                &job[2].times,
                                "C",
                                "primal"};
        keep(s, &row, &e, job);
    }
    close_evaluation(&e);
    wg_function_free(q.prior);
    bench_case_free(&q.r.c);
    free(q.work);
    free(q.r.y);
    free(g);
    return wrong;
}

/* ---- second order: over the gradient of the same function ---- */

enum { N = 16 };

static wg_status rosenbrock(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const struct rosenbrock_params terms = {n - 1};
    (void)m, (void)data;
    y[0] = rosenbrock_real(t, &terms, x, NULL);
    return WG_OK;
}

/* The Helmholtz energy of a mixture (Griewank and Walther 2008). */
static wg_status helmholtz(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const double root2 = 1.41421356237309504880;
    wg_real s = wg_constant(0), entropy = wg_constant(0), form = wg_constant(0);
    (void)m, (void)data;
    for (size_t i = 0; i < n; i++)
        s = wg_let(t, wg_add(s, wg_mul(1.0 / (double)(i + 3), x[i])));
    for (size_t i = 0; i < n; i++) {
        wg_real row = wg_constant(0);
        for (size_t j = 0; j < n; j++)
            row = wg_let(t, wg_add(row, wg_div(x[j], (double)(i + j + 1))));
        form = wg_let(t, wg_fma(x[i], row, form));
        entropy = wg_let(t, wg_add(entropy, wg_mul(x[i], wg_log(wg_div(x[i], wg_sub(1, s))))));
    }
    y[0] = wg_let(t, wg_sub(entropy, wg_mul(wg_div(form, wg_mul(sqrt(8.0), s)),
                                            wg_log(wg_div(wg_add(1, wg_mul(1 + root2, s)),
                                                          wg_add(1, wg_mul(1 - root2, s)))))));
    return WG_OK;
}

static const struct energy {
    const char *name, *title;
    wg_callback *f;
} energies[] = {{"rosenbrock_16", "Rosenbrock, 16 inputs", rosenbrock},
                {"helmholtz", "Helmholtz, 16 inputs", helmholtz}};
enum { ENERGIES = sizeof energies / sizeof *energies };

static int second_order(struct session *s, const struct energy *energy) {
    enum { GRADIENT, HVP, HESSIAN, KINDS };
    static wg_status (*const by[KINDS])(wg_tape *, const wg_function *, wg_function **) = {
        wg_function_gradient, wg_function_hvp, wg_function_hessian};
    static const char *const what[KINDS] = {"gradient", "H v", "Hessian"};
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
    static double x[POINTS * N], v[POINTS * N], y[KINDS][POINTS * N * N];
    struct evaluation e[KINDS];
    double ref[N * N], g[N], value, worst = 0;
    wg_function *made = NULL;
    uint64_t seed = 11;
    for (size_t i = 0; i < POINTS * N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = 0.01 + 0.04 * (double)(seed >> 11) * 0x1p-53;
        v[i] = (double)(i % 7) - 3;
    }
    const wg_points at[] = {{x, N, 1}, {v, N, 1}};
    const wg_results to[KINDS] = {{y[0], N, 1}, {y[1], N, 1}, {y[2], N * N, 1}};
    if (wg_function_record(s->t, energy->f, NULL, 1, &in, x, 1, &out, &made) != WG_OK) return 1;
    for (size_t k = 0; k < KINDS; k++) {
        wg_function *d = NULL;
        if (by[k](s->t, made, &d) != WG_OK ||
            open_evaluation(&e[k], s->t, d, POINTS, at, &to[k]))
            return 1;
    }
    wg_function_free(made);
    if (wg_hessian(s->t, energy->f, NULL, N, x, &value, g, ref, N) != WG_OK) return 1;
    for (size_t k = 0; k < KINDS; k++) {
        double product[N];
        for (size_t i = 0; i < N; i++) {
            product[i] = 0;
            for (size_t j = 0; j < N; j++) product[i] += ref[i * N + j] * v[j];
        }
        const double *const want[KINDS] = {g, product, ref};
        const size_t n = k == HESSIAN ? N * N : N;
        const double ulps = verify(&e[k], n, y[k], want[k]);
        if (!(ulps <= worst)) worst = ulps;
    }
    const int wrong = !(worst <= 1024);
    if (s->o.small || wrong) {
        printf("%-44s %g ulps%s\n", energy->title, worst, wrong ? ": WRONG" : "");
    } else {
        struct bench_job job[2 * KINDS];
        for (size_t k = 0; k < KINDS; k++) {
            job[2 * k] =
                (struct bench_job){.run = run_interpreted, .ctx = &e[k], .label = what[k]};
            job[2 * k + 1] =
                (struct bench_job){.run = e[k].native ? run_native : run_interpreted,
                                   .ctx = &e[k],
                                   .label = what[k]};
        }
        if (bench_time(job, 2 * KINDS, s->o.reps, energy->name)) return 1;
        for (size_t k = HVP; k < KINDS; k++) {
            char text[80];
            const struct row row = {text,          energy->name, what[k],
                                    "ns a point",  1e9 / POINTS, POINTS,
                                    &job[0].times, "Wengert",    what[GRADIENT]};
            (void)snprintf(text, sizeof text, "%s, %s", energy->title, what[k]);
            keep(s, &row, &e[k], job + 2 * k);
        }
    }
    for (size_t k = 0; k < KINDS; k++) close_evaluation(&e[k]);
    return wrong;
}

/* ---- again and again at one point ---- */

enum { LONG = 1000 };

struct replay_run {
    wg_tape *t;
    wg_real x[LONG], y;
    double at[LONG], g[LONG];
    wg_status status;
};

static void run_replay(void *ctx) {
    struct replay_run *r = ctx;
    wg_status s = wg_tape_replay(r->t, LONG, r->x, r->at);
    if (s == WG_OK) s = wg_reverse(r->t, r->y);
    if (s == WG_OK) s = wg_adjoints(r->t, LONG, r->x, r->g);
    if (s != WG_OK) r->status = s;
}

static int one_point(struct session *s) {
    static struct replay_run r;
    static double g[LONG], value;
    const wg_options code = {.flags = WG_KEEP_CODE};
    const wg_argument in = {"x", LONG, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL, *d = NULL, *both = NULL;
    wg_function_stats stats;
    struct evaluation e;
    memset(&r, 0, sizeof r);
    for (size_t i = 0; i < LONG; i++) r.at[i] = 1 + 0.1 * sin((double)i);
    r.t = wg_tape_new(&code);
    if (r.t == NULL || wg_inputs(r.t, LONG, r.at, r.x) != WG_OK ||
        rosenbrock(r.t, LONG, r.x, 1, &r.y, NULL) != WG_OK ||
        wg_function_extract(r.t, 1, &in, r.x, 1, &out, &r.y, &f) != WG_OK ||
        wg_function_gradient(s->t, f, &d) != WG_OK)
        return 1;
    const wg_function *const parts[] = {f, d};
    if (wg_function_join(s->t, 2, parts, &both) != WG_OK ||
        wg_function_statistics(f, &stats) != WG_OK)
        return 1;
    const wg_points x = {r.at, 0, 1};
    const wg_results y[] = {{&value, 0, 1}, {g, 0, 1}};
    if (open_evaluation(&e, s->t, both, 1, &x, y)) return 1;
    run_replay(&r);
    const double ulps = r.status == WG_OK ? verify(&e, LONG, g, r.g) : INFINITY;
    const int wrong = !(ulps <= 64);
    if (s->o.small || wrong) {
        printf("%-44s %g ulps%s\n", "one point", ulps, wrong ? ": WRONG" : "");
    } else {
        struct bench_job job[] = {
            {.run = run_interpreted, .ctx = &e, .label = "function"},
            {.run = e.native ? run_native : run_interpreted, .ctx = &e, .label = "compiled"},
            {.run = run_replay, .ctx = &r, .label = "replay"}};
        if (bench_time(job, 3, s->o.reps, "one point")) return 1;
        const struct row row = {"value and gradient of Rosenbrock, 1000 inputs",
                                "one_point",
                                "value and gradient",
                                "ns an operation",
                                1e9 / (double)stats.operations,
                                LONG,
                                &job[2].times,
                                "Wengert",
                                "replay"};
        keep(s, &row, &e, job);
    }
    close_evaluation(&e);
    wg_function_free(f);
    wg_function_free(d);
    wg_tape_free(r.t);
    return wrong;
}

/* The number of things wrong. */
static int everything(struct session *s) {
    const int small = s->o.small, bundle = bench_selected(&s->o, "bundle");
    const int mixture = bench_selected(&s->o, "mixture"),
              one = bench_selected(&s->o, "one_point");
    size_t some = 0;
    int wrong = 0;
    for (size_t i = 0; i < ENERGIES; i++) some += bench_selected(&s->o, energies[i].name) != 0;
    bench_progress_begin((size_t)(3 * bundle + 3 * mixture + one) + some);
    if (!small) head("primal");
    for (int k = small ? BENCH_CHECKED : BENCH_SIXTEENTH;
         k <= (small ? BENCH_CHECKED : BENCH_TIMED); k++) {
        if (bundle) wrong += bundle_case_of(s, (enum bench_size)k);
        if (mixture) wrong += mixture_case_of(s, (enum bench_size)k);
    }
    if (!small) head("gradient");
    for (size_t i = 0; i < ENERGIES; i++)
        if (bench_selected(&s->o, energies[i].name)) wrong += second_order(s, &energies[i]);
    if (!small) head("replay");
    if (one) wrong += one_point(s);
    return wrong;
}

int main(int argc, char **argv) {
    const wg_options code = {.flags = WG_KEEP_CODE};
    struct session s;
    if (bench_options(&s.o, argc, argv, 0)) return 2;
    bench_report_open(&s.report, "functions", s.o.reps);
    s.t = wg_tape_new(&code);
    if (s.t == NULL) return 2;
    if (s.o.small) puts("functions: verification");
    else bench_report_print(&s.report);
    const int wrong = everything(&s);
    const int lost = !s.o.small && s.o.json && bench_report_write(&s.report, s.o.json);
    bench_report_close(&s.report);
    wg_tape_free(s.t);
    return lost ? 2 : wrong != 0;
}

/* SPDX-License-Identifier: MIT */
/* evals - what do the derivatives of GradBench's evals cost over their primal functions?
 *
 * The modules are those of the tool (gradbench/), called here without its protocol, on inputs
 * of our own. Verified first: finite, the same when repeated (and with --threads), the
 * derivative against differences of the primal function; then timed, the preparation apart. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "evals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gradbench/gradbench.h"
#include "harness.h"
#include "workloads/data.h"

enum { SIZES = 3, MOVED = 4 };

/* Centroids are moved by this much. Their second differences are exact but for rounding, which
 * grows with the square. */
#define SECOND_DIFFERENCE_STEP 1e-3
#define SECOND_DIFFERENCE_TOLERANCE                                                            \
    (1e4 * DBL_EPSILON / (SECOND_DIFFERENCE_STEP * SECOND_DIFFERENCE_STEP))
/* Ways to nest derivatives, which stop at the same step of a descent. */
#define NESTED_TOLERANCE (1e4 * DBL_EPSILON)

struct check;
typedef double eval_check(const struct check *c, const json_t *derivative);
static eval_check gradient, blocks, skinned, newton, same;

static const struct eval {
    const char *name, *module;
    const char *primal;       /* the function that the others are compared with */
    const char *moved[MOVED]; /* members that it is differentiated by; "": the input is one */
    eval_check *check;
    double tolerance;
    size_t small, sizes[SIZES];
    eval_input *input;
} evals[] = {
    {"hello", "hello", "square", {""}, gradient, 0, 1, {1}, eval_hello},
    {"ba", "ba", "objective", {"cam", "x", "w"}, blocks, 0, 12, {1990, 7960, 31843}, eval_ba},
    {"det", "det", "primal", {"A"}, gradient, 0, 4, {6, 7, 8}, eval_det},
    {"gmm",
     "gmm",
     "objective",
     {"alpha", "mu", "q", "l"},
     gradient,
     0,
     20,
     {250, 1000, 4000},
     eval_gmm},
    {"ht_simple",
     "ht",
     "objective",
     {"theta"},
     skinned,
     0,
     12,
     {100, 400, 1600},
     eval_ht_simple},
    {"ht_complicated",
     "ht",
     "objective",
     {"us", "theta"},
     skinned,
     0,
     12,
     {100, 400, 1600},
     eval_ht_complicated},
    {"kmeans",
     "kmeans",
     "cost",
     {"centroids"},
     newton,
     SECOND_DIFFERENCE_TOLERANCE,
     30,
     {1000, 4000, 16000},
     eval_kmeans},
    {"llsq", "llsq", "primal", {"x"}, gradient, 0, 20, {64, 512, 4096}, eval_llsq},
    {"lse", "lse", "primal", {"x"}, gradient, 0, 50, {2500, 25000, 250000}, eval_lse},
    {"lstm",
     "lstm",
     "objective",
     {"main_params", "extra_params"},
     gradient,
     0,
     8,
     {256, 1024, 4096},
     eval_lstm},
    {"ode", "ode", "primal", {"x"}, gradient, 0, 10, {10, 40, 160}, eval_ode},
    {"particle", "particle", "rr", {NULL}, same, NESTED_TOLERANCE, 1, {1}, eval_particle},
    {"saddle", "saddle", "rr", {NULL}, same, NESTED_TOLERANCE, 1, {1}, eval_saddle},
};
enum { EVALS = sizeof evals / sizeof *evals };

static const struct gb_module *find_module(const char *name) {
    for (size_t k = 0; gb_modules[k]; k++)
        if (strcmp(gb_modules[k]->name, name) == 0) return gb_modules[k];
    return NULL;
}

static const struct gb_function *find_function(const struct gb_module *m, const char *name) {
    for (int k = 0; k < GB_MAX_FUNCTIONS && m->functions[k].name; k++)
        if (strcmp(m->functions[k].name, name) == 0) return &m->functions[k];
    return NULL;
}

/* ---- one function on one input ----------------------------------------------------------- */

struct call {
    const struct gb_module *module;
    const struct gb_function *function;
    void *job;
    double prepared; /* seconds */
    struct gb_error e;
    int failed;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run(void *ctx) {
    struct call *c = ctx;
    if (c->function->run(c->job, &c->e)) c->failed = 1;
}

/* Reads, prepares, runs once. 0, or -1 with the sentence in c->e; to be closed in both cases.
 */
static int call_open(struct call *c, const struct gb_module *m, const struct gb_function *f,
                     const json_t *input, unsigned threads) {
    const struct gb_options o = {.threads = threads};
    memset(c, 0, sizeof *c);
    c->module = m;
    c->function = f;
    c->job = m->read(input, &o, &c->e);
    if (!c->job) return -1;
    const double start = now();
    if (f->prepare && f->prepare(c->job, &c->e)) return -1;
    c->prepared = now() - start;
    run(c);
    return c->failed ? -1 : 0;
}

static void call_close(struct call *c) {
    if (c->job) c->module->release(c->job);
    c->job = NULL;
}

static json_t *output(const struct call *c) { return c->function->output(c->job); }

/* ---- numbers in JSON --------------------------------------------------------------------- */

struct list {
    double *x;
    size_t n, room;
};

static void list_add(struct list *l, double x) {
    if (l->n == l->room) {
        const size_t room = l->room ? 2 * l->room : 256;
        double *more = realloc(l->x, room * sizeof *more);
        if (!more) return; /* noticed: the lists have different lengths */
        l->x = more;
        l->room = room;
    }
    l->x[l->n++] = x;
}

/* All numbers of a value, in the order in which they are written. */
static void flatten(struct list *l, const json_t *value) {
    if (json_is_number(value)) list_add(l, json_number_value(value));
    for (size_t i = 0; i < json_array_size(value); i++) flatten(l, json_array_get(value, i));
}

/* Those of the members that are moved, or of the whole. */
static void flatten_moved(struct list *l, const struct eval *e, const json_t *from) {
    if (!json_is_object(from)) flatten(l, from);
    for (size_t k = 0; json_is_object(from) && k < MOVED && e->moved[k]; k++)
        flatten(l, json_object_get(from, e->moved[k]));
}

/* A copy with h v added to its numbers; v goes on to what is not used. */
static json_t *shifted(const json_t *value, double h, const double **v) {
    if (json_is_number(value)) return json_real(json_number_value(value) + h * *(*v)++);
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(out, shifted(json_array_get(value, i), h, v));
    return out;
}

static json_t *moved(const struct eval *e, const json_t *input, double h, const double *v) {
    if (!json_is_object(input)) return shifted(input, h, &v);
    json_t *out = json_copy((json_t *)(uintptr_t)input);
    for (size_t k = 0; k < MOVED && e->moved[k]; k++)
        json_object_set_new(out, e->moved[k],
                            shifted(json_object_get(input, e->moved[k]), h, &v));
    return out;
}

/* ---- verification ------------------------------------------------------------------------ */

struct check {
    const struct eval *e;
    const struct gb_module *m;
    const json_t *input, *value; /* of the primal function */
};

/* The primal function's numbers at input + h v. */
static void primal_at(const struct check *c, double h, const double *v, struct list *y) {
    struct call call;
    json_t *at = moved(c->e, c->input, h, v), *value = NULL;
    if (call_open(&call, c->m, find_function(c->m, c->e->primal), at, 1) == 0)
        value = output(&call);
    if (json_is_object(value)) { /* bundle adjustment: what is not repeated */
        flatten(y, json_object_get(json_object_get(value, "reproj_error"), "elements"));
        flatten(y, json_object_get(json_object_get(value, "w_err"), "element"));
    } else {
        flatten(y, value);
    }
    json_decref(value);
    json_decref(at);
    call_close(&call);
}

/* A direction to move in, in proportion to what is moved. */
static double *direction(const struct check *c, size_t *n) {
    struct list x = {NULL, 0, 0};
    uint64_t seed = 31;
    flatten_moved(&x, c->e, c->input);
    for (size_t i = 0; i < x.n; i++)
        x.x[i] = bench_uniform(&seed, 0.2, 1) * (fabs(x.x[i]) + 1e-3);
    for (size_t i = 0; i < x.n; i += 2) x.x[i] = -x.x[i];
    *n = x.n;
    return x.x;
}

/* Fourth-order differences along v against m slopes, whose summands have the magnitudes in
 * `size`; the primal function's last m numbers. The largest error over the largest magnitude.
 */
static double differences(const struct check *c, const double *v, size_t m, const double *slope,
                          const double *size) {
    static const double at[4] = {1, -1, 2, -2};
    const double h = BENCH_DIFFERENCE_STEP;
    struct list y[4];
    double error = 0, largest = 0;
    memset(y, 0, sizeof y);
    for (size_t k = 0; k < 4; k++) primal_at(c, at[k] * h, v, &y[k]);
    if (y[0].n < m || y[1].n != y[0].n || y[2].n != y[0].n || y[3].n != y[0].n)
        error = INFINITY;
    for (size_t i = 0; i < m && error < INFINITY; i++) {
        const size_t j = y[0].n - m + i;
        const double d =
            (8 * (y[0].x[j] - y[1].x[j]) - (y[2].x[j] - y[3].x[j])) / (12 * h) - slope[i];
        if (!(fabs(d) <= error)) error = fabs(d);
        if (size[i] > largest) largest = size[i];
    }
    for (size_t k = 0; k < 4; k++) free(y[k].x);
    return largest > 0 ? error / largest : INFINITY;
}

/* The derivative has a number for each that is moved. */
static double gradient(const struct check *c, const json_t *derivative) {
    struct list g = {NULL, 0, 0};
    size_t n;
    double *v = direction(c, &n), slope = 0, size = 0, error = INFINITY;
    flatten_moved(&g, c->e, derivative);
    for (size_t i = 0; i < n && g.n == n; i++) {
        slope += g.x[i] * v[i];
        size += fabs(g.x[i] * v[i]);
    }
    if (v && g.n == n) error = differences(c, v, 1, &slope, &size);
    free(g.x);
    free(v);
    return error;
}

/* Bundle adjustment: two rows of the one observation that all are, and the slope of its weight.
 */
static double blocks(const struct check *c, const json_t *derivative) {
    enum { ROW = 15 };
    struct list g = {NULL, 0, 0};
    size_t n;
    double *v = direction(c, &n), slope[3] = {0, 0, 0}, size[3] = {0, 0, 0}, error = INFINITY;
    flatten(&g, json_object_get(derivative, "vals"));
    if (v && n == ROW && g.n == 2 * ROW + 1) {
        for (size_t i = 0; i < g.n; i++) {
            const double part = g.x[i] * v[i < 2 * ROW ? i % ROW : ROW - 1];
            slope[i / ROW] += part;
            size[i / ROW] += fabs(part);
        }
        error = differences(c, v, 3, slope, size);
    }
    free(g.x);
    free(v);
    return error;
}

/* Hand tracking: three rows for each point, by its own two barycentric coordinates, where there
 * are any, and by all of theta. */
static double skinned(const struct check *c, const json_t *derivative) {
    const size_t rows = json_array_size(derivative), own = c->e->moved[1] ? 2 : 0;
    const size_t thetas = json_array_size(json_object_get(c->input, "theta"));
    struct list g = {NULL, 0, 0};
    size_t n;
    double *v = direction(c, &n), *slope = calloc(2 * rows + 1, sizeof *slope);
    double error = INFINITY;
    flatten(&g, derivative);
    if (v && slope && n == own * (rows / 3) + thetas && g.n == rows * (own + thetas)) {
        const double *turn = v + (n - thetas);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < own + thetas; j++) {
                const double part = g.x[i * (own + thetas) + j] *
                                    (j < own ? v[own * (i / 3) + j] : turn[j - own]);
                slope[i] += part;
                slope[rows + i] += fabs(part);
            }
        error = differences(c, v, rows, slope, slope + rows);
    }
    free(g.x);
    free(v);
    free(slope);
    return error;
}

/* k-means: the gradient over the diagonal of the Hessian, at some of the coordinates. */
static double newton(const struct check *c, const json_t *derivative) {
    enum { PLACES = 4 };
    const double h = SECOND_DIFFERENCE_STEP;
    struct list step = {NULL, 0, 0};
    size_t n;
    double *v = direction(c, &n), error = 0, largest = 0;
    flatten(&step, derivative);
    if (!v || step.n != n || n < PLACES) error = INFINITY;
    for (size_t k = 0; k < PLACES && error < INFINITY; k++) {
        const size_t i = k * (n - 1) / (PLACES - 1);
        struct list y = {NULL, 0, 0};
        memset(v, 0, n * sizeof *v);
        v[i] = 1;
        for (int side = -1; side <= 1; side++) primal_at(c, side * h, v, &y);
        const double d =
            y.n == 3 ? (y.x[2] - y.x[0]) * h / (2 * (y.x[2] - 2 * y.x[1] + y.x[0])) - step.x[i]
                     : INFINITY;
        if (!(fabs(d) <= error)) error = fabs(d);
        if (fabs(step.x[i]) > largest) largest = fabs(step.x[i]);
        free(y.x);
    }
    free(step.x);
    free(v);
    return largest > 0 ? error / largest : INFINITY;
}

/* Another way to the same numbers. */
static double same(const struct check *c, const json_t *derivative) {
    struct list a = {NULL, 0, 0}, b = {NULL, 0, 0};
    double error = 0, largest = 0;
    flatten(&a, c->value);
    flatten(&b, derivative);
    for (size_t i = 0; i < a.n && a.n == b.n; i++) {
        error = fmax(error, fabs(a.x[i] - b.x[i]));
        largest = fmax(largest, fabs(a.x[i]));
    }
    const double off = a.n > 0 && a.n == b.n ? error / largest : INFINITY;
    free(a.x);
    free(b.x);
    return off;
}

/* ---- one eval at one size ---------------------------------------------------------------- */

enum { WAYS = 2, CALLS = WAYS * GB_MAX_FUNCTIONS }; /* one thread, and those asked for */

struct found {
    struct call call[CALLS]; /* function by function; the primal is the first */
    struct bench_job job[CALLS];
    unsigned threads[CALLS];
    size_t calls;
};

static int complain(const struct eval *e, size_t size, const struct gb_function *f,
                    const char *what) {
    fprintf(stderr, "evals: %s, size %zu, %s: %s\n", e->name, size, f->name, what);
    return 1;
}

/* Opens the call of a function and verifies what comes out. *value: what has to come out again,
 * or NULL, and then it is set. The number of things wrong. */
static int verify(struct found *to, const struct check *c, size_t size,
                  const struct gb_function *f, unsigned threads, json_t **value,
                  double *error) {
    struct call *call = &to->call[to->calls];
    char text[80];
    to->threads[to->calls++] = threads;
    if (call_open(call, c->m, f, c->input, threads))
        return complain(c->e, size, f, call->e.text);
    json_t *first = output(call);
    run(call);
    json_t *again = output(call);
    int wrong = 0;
    if (!first) wrong = complain(c->e, size, f, "not finite");
    else if (!json_equal(first, again)) wrong = complain(c->e, size, f, "not repeated");
    else if (*value && !json_equal(first, *value))
        wrong = complain(c->e, size, f, "threads change the result");
    if (!wrong && !*value && strcmp(f->name, c->e->primal) != 0) {
        const double most = c->e->tolerance > 0 ? c->e->tolerance : BENCH_DIFFERENCE_TOLERANCE;
        *error = c->e->check(c, first);
        snprintf(text, sizeof text, "off by %.3g, %.3g are allowed", *error, most);
        if (!(*error <= most)) wrong = complain(c->e, size, f, text);
    }
    if (!*value) *value = json_incref(first);
    json_decref(first);
    json_decref(again);
    return wrong;
}

/* Who computed result k. Threads make another tool of Wengert; of the primal function they are
 * a detail. */
static const char *tool(const struct eval *e, const struct found *r, size_t k, char *text,
                        size_t room) {
    if (e->check != same && r->call[k].function == r->call[0].function) return "C";
    if (r->threads[k] == 1) return "Wengert";
    snprintf(text, room, "Wengert, %u threads", r->threads[k]);
    return text;
}

static void print_and_keep(struct bench_report *report, const struct eval *e, size_t size,
                           const struct found *r) {
    const struct bench_times *base = &r->job[0].times;
    char text[48], what[40];
    for (size_t k = 0; k < r->calls; k++) {
        const struct bench_times *t = &r->job[k].times;
        const struct call *call = &r->call[k];
        const struct bench_times prepared = {call->prepared, call->prepared, call->prepared,
                                             call->prepared};
        const char *who = tool(e, r, k, text, sizeof text);
        printf("%-16s %8zu  %-10s %7u %11.5g %11.5g %11.5g %9.2f %11.5g\n", e->name, size,
               call->function->name, r->threads[k], 1e3 * t->median, 1e3 * t->q1, 1e3 * t->q3,
               t->median / base->median, 1e3 * call->prepared);
        if (r->threads[k] > 1 && call->function == r->call[0].function)
            snprintf(what, sizeof what, "%.16s, %u threads", e->primal, r->threads[k]);
        else snprintf(what, sizeof what, "%.28s", call->function->name);
        struct bench_row *row = bench_report_add(report, "eval", e->name, who, what, t);
        row->size = (double)size;
        snprintf(row->shape, sizeof row->shape, "%zu", size);
        if (k > 0) bench_row_over(row, base, e->primal);
        if (!call->function->prepare || !(call->prepared > 0) || r->threads[k] > 1) continue;
        snprintf(what, sizeof what, "%.28s, prepare", call->function->name);
        row = bench_report_add(report, "eval", e->name, who, what, &prepared);
        row->size = (double)size;
        snprintf(row->shape, sizeof row->shape, "%zu", size);
    }
    fflush(stdout);
}

/* The number of things wrong, or -1: no memory. */
static int one(const struct bench_options *o, struct bench_report *report, const struct eval *e,
               size_t size) {
    const struct gb_module *m = find_module(e->module);
    json_t *input = e->input(size), *value[GB_MAX_FUNCTIONS] = {NULL};
    struct check c = {e, m, input, NULL};
    struct found r;
    double error = 0, worst = 0;
    int wrong = 0;
    memset(&r, 0, sizeof r);
    if (!input) return -1;
    /* the primal function first */
    for (int turn = 0; turn < 2; turn++)
        for (int k = 0; k < GB_MAX_FUNCTIONS && m->functions[k].name; k++) {
            const struct gb_function *f = &m->functions[k];
            if ((strcmp(f->name, e->primal) == 0) != (turn == 0) || wrong) continue;
            wrong += verify(&r, &c, size, f, 1, &value[k], &error);
            if (error > worst) worst = error;
            if (o->threads > 1 && !wrong)
                wrong += verify(&r, &c, size, f, o->threads, &value[k], &error);
            if (turn == 0) c.value = value[k];
        }
    if (o->small && !wrong) printf("%-16s %8zu %14.3g  ok\n", e->name, size, worst);
    if (!o->small && !wrong) {
        for (size_t k = 0; k < r.calls; k++)
            r.job[k] = (struct bench_job){.run = run,
                                          .ctx = &r.call[k],
                                          .label = r.call[k].function->name,
                                          .threaded = r.threads[k] > 1};
        if (bench_time(r.job, r.calls, o->reps, e->name)) wrong = -1;
        for (size_t k = 0; k < r.calls && wrong == 0; k++)
            if (r.call[k].failed)
                wrong = complain(e, size, r.call[k].function, r.call[k].e.text);
        if (wrong == 0) print_and_keep(report, e, size, &r);
    }
    for (size_t k = 0; k < r.calls; k++) call_close(&r.call[k]);
    for (int k = 0; k < GB_MAX_FUNCTIONS; k++) json_decref(value[k]);
    json_decref(input);
    return wrong;
}

/* ---- all --------------------------------------------------------------------------------- */

static int chosen(const struct bench_options *o, const struct eval *e) {
    return bench_selected(o, e->name) && find_module(e->module);
}

/* The number of things wrong, or -1: no memory. */
static int everything(const struct bench_options *o, struct bench_report *report) {
    size_t calls = 0;
    int wrong = 0;
    for (size_t i = 0; i < EVALS; i++)
        for (size_t k = 0; k < SIZES && evals[i].sizes[k]; k++)
            if (chosen(o, &evals[i])) calls++;
    bench_progress_begin(calls);
    if (o->small) printf("%-16s %8s %14s\n", "verification", "size", "differences");
    else
        printf("\n%-16s %8s  %-10s %7s %11s %11s %11s %9s %11s\n", "milliseconds", "size",
               "function", "threads", "median", "q1", "q3", "/primal", "prepared");
    for (size_t i = 0; i < EVALS; i++) {
        const struct eval *e = &evals[i];
        if (!chosen(o, e)) continue;
        for (size_t k = 0; k < (o->small ? 1 : SIZES) && e->sizes[k]; k++) {
            const int more = one(o, report, e, o->small ? e->small : e->sizes[k]);
            if (more < 0) return -1;
            wrong += more;
        }
    }
    return wrong;
}

int main(int argc, char **argv) {
    struct bench_options o;
    struct bench_report report;
    int known = 0;
    if (bench_options(&o, argc, argv, BENCH_TAKES_THREADS)) return 2;
    for (size_t i = 0; i < EVALS; i++) {
        known += bench_selected(&o, evals[i].name);
        if (!find_module(evals[i].module)) printf("not answered: %s\n", evals[i].name);
    }
    if (!known) {
        fprintf(stderr, "evals: no eval %s; there are", o.only);
        for (size_t i = 0; i < EVALS; i++) fprintf(stderr, " %s", evals[i].name);
        fputc('\n', stderr);
        return 2;
    }
    bench_report_open(&report, "evals", o.reps);
    if (!o.small) bench_report_print(&report);
    const int wrong = everything(&o, &report);
    const int lost = wrong >= 0 && !o.small && o.json && bench_report_write(&report, o.json);
    bench_report_close(&report);
    if (wrong < 0 || lost) fputs("evals: stopped: no memory, or no file\n", stderr);
    return wrong < 0 || lost ? 2 : wrong > 0;
}

/* SPDX-License-Identifier: MIT */
/* evals - what do the derivatives of GradBench's evals cost over their primal functions, and
 * beside derivatives written by hand, recorded on a plain tape, or by other libraries?
 *
 * The modules are those of the tool (gradbench/), called here without its protocol, on inputs
 * of our own. Verified first: finite, the same when repeated (and with --threads), the
 * derivative against differences of the primal function; the kernel in workloads/ that the
 * others use and its hand-written derivative against the module; the others against that. Then
 * timed, the preparation apart. A statement is one of the kernel as a tape records it; bytes
 * are those of preparing and of one run. */
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
/* A kernel of workloads/ against the eval's module, and rivals against its hand-written
 * derivative, in DBL_EPSILON of the largest number: the formulas differ where that pays. */
#define KERNEL_ULPS 1e5
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
                     const json_t *input, wg_threads *threads) {
    const struct gb_options o = {.threads = threads};
    memset(c, 0, sizeof *c);
    c->module = m;
    c->function = f;
    c->job = m->read(input, &o, &c->e);
    if (!c->job) return -1;
    const double start = now();
    if (f->prepare && f->prepare(c->job, &c->e)) return -1;
    if (f->prepare) c->prepared = now() - start;
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

/* Those of a primal function; of bundle adjustment what is not repeated. */
static void flatten_value(struct list *l, const json_t *value) {
    if (!json_is_object(value)) {
        flatten(l, value);
        return;
    }
    flatten(l, json_object_get(json_object_get(value, "reproj_error"), "elements"));
    flatten(l, json_object_get(json_object_get(value, "w_err"), "element"));
}

/* Those of a derivative; of bundle adjustment without the places. */
static void flatten_derivative(struct list *l, const struct eval *e, const json_t *value) {
    const json_t *vals = json_object_get(value, "vals");
    if (vals) flatten(l, vals);
    else flatten_moved(l, e, value);
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
    if (call_open(&call, c->m, find_function(c->m, c->e->primal), at, NULL) == 0)
        value = output(&call);
    flatten_value(y, value);
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

enum {
    WAYS = 2, /* one thread, and those asked for */
    CALLS = WAYS * GB_MAX_FUNCTIONS,
    MOST_PEERS = 24,
    SIDES = CALLS + 2 + MOST_PEERS, /* hand-written, on a plain tape */
    ROWS = 2 * SIDES                /* prepared, too */
};

/* What the derivative is compared with: one of its kernel. */
struct rival {
    const struct bench_workload *kernel;
    const struct bench_peer *peer; /* or NULL */
    const struct bench_case *c;
    wg_tape *t; /* or NULL, and then it is the hand-written one */
    wg_real *vars;
    double *entries;
    int failed;
};

/* What is timed. */
struct side {
    struct call *call; /* of the module, or NULL */
    struct rival *rival;
    const char *function;
    char tool[48];
    unsigned threads;
    double bytes;
};

struct found {
    struct call call[CALLS]; /* function by function; the primal is the first */
    size_t calls;
    wg_threads *pool; /* of those asked for */
    struct rival rival[SIDES];
    size_t rivals;
    const struct eval_kernel *kernel; /* or NULL */
    struct bench_case c;
    struct bench_counts counts;
    wg_tape *t;
    wg_real *vars;
    double *entries, *reference;
    struct side side[SIDES];
    size_t sides;
};

/* What is left of it: see bench_apart. */
struct outcome {
    double worst, rivals; /* errors of derivatives; the largest of rivals, in ulps */
    struct bench_row row[ROWS];
    size_t rows;
};

static int complain(const struct eval *e, size_t size, const char *who, const char *what) {
    fprintf(stderr, "evals: %s, size %zu, %s: %s\n", e->name, size, who, what);
    return 1;
}

/* Is it the derivative that kernels have? */
static int is_derivative(const struct eval *e, const struct gb_function *f) {
    return strcmp(f->name, e->primal) != 0;
}

/* Opens the call of a function and verifies what comes out. *value: what has to come out again,
 * or NULL, and then it is set. The number of things wrong. */
static int verify(struct found *to, const struct check *c, size_t size,
                  const struct gb_function *f, unsigned threads, json_t **value,
                  double *error) {
    struct call *call = &to->call[to->calls++];
    char text[80];
    if (call_open(call, c->m, f, c->input, threads > 1 ? to->pool : NULL))
        return complain(c->e, size, f->name, call->e.text);
    json_t *first = output(call);
    run(call);
    json_t *again = output(call);
    int wrong = 0;
    if (!first) wrong = complain(c->e, size, f->name, "not finite");
    else if (!json_equal(first, again)) wrong = complain(c->e, size, f->name, "not repeated");
    else if (*value && !json_equal(first, *value))
        wrong = complain(c->e, size, f->name, "threads change the result");
    if (!wrong && !*value && strcmp(f->name, c->e->primal) != 0) {
        const double most = c->e->tolerance > 0 ? c->e->tolerance : BENCH_DIFFERENCE_TOLERANCE;
        *error = c->e->check(c, first);
        snprintf(text, sizeof text, "off by %.3g, %.3g are allowed", *error, most);
        if (!(*error <= most)) wrong = complain(c->e, size, f->name, text);
    }
    if (!*value) *value = json_incref(first);
    json_decref(first);
    json_decref(again);
    return wrong;
}

/* ---- rivals ------------------------------------------------------------------------------ */

static void run_rival(void *ctx) {
    struct rival *r = ctx;
    if (r->peer) r->failed |= r->peer->derivative[r->kernel->id](r->c, r->entries) != 0;
    else if (r->t) r->failed |= r->kernel->tape(r->t, r->c, r->vars, r->entries, NULL) != WG_OK;
    else r->kernel->handwritten(r->c, r->entries);
}

static void open_and_run(void *ctx) {
    struct rival *r = ctx;
    if (r->peer && r->peer->open) r->failed |= r->peer->open(r->kernel->id, r->c) != 0;
    if (!r->failed) run_rival(r);
}

static void add_rival(struct found *to, const struct bench_peer *peer, wg_tape *t) {
    to->rival[to->rivals++] = (struct rival){.kernel = &bench_workloads[to->kernel->id],
                                             .peer = peer,
                                             .c = &to->c,
                                             .t = t,
                                             .vars = to->vars,
                                             .entries = to->entries};
}

/* The case of the kernel, and who computes its derivative. 0, or -1: no memory. */
static int open_rivals(struct found *to, const struct bench_options *o, const struct eval *e,
                       const json_t *input) {
    to->kernel = eval_kernel(e->name);
    if (!to->kernel) return 0;
    const wg_options options = {.flags = to->kernel->id == BENCH_kmeans ? WG_KEEP_CODE : 0};
    if (to->kernel->fill(&to->c, input) || bench_case_finish(&to->c)) return -1;
    to->t = wg_tape_new(&options);
    to->vars = malloc((to->c.n + to->c.work) * sizeof *to->vars);
    to->entries = malloc(to->c.entries * sizeof *to->entries);
    to->reference = malloc(to->c.entries * sizeof *to->reference);
    if (!to->t || !to->vars || !to->entries || !to->reference) return -1;
    add_rival(to, NULL, NULL);
    add_rival(to, NULL, to->t);
    for (size_t k = 0; o->peers && k < bench_peer_count && k < MOST_PEERS; k++)
        if (bench_peers[k]->derivative[to->kernel->id]) add_rival(to, bench_peers[k], NULL);
    return 0;
}

static void close_rivals(struct found *r) {
    for (size_t k = 0; k < r->rivals; k++)
        if (r->rival[k].peer && r->rival[k].peer->close) r->rival[k].peer->close(r->kernel->id);
    bench_case_free(&r->c);
    wg_tape_free(r->t);
    free(r->vars);
    free(r->entries);
    free(r->reference);
}

static const char *rival_name(const struct rival *r) {
    return r->peer ? r->peer->name : r->t ? "Wengert, plain tape" : "hand-written";
}

/* Numbers a and b, those of b being `of` in all; the last ones where there are fewer. */
static double agreement(const struct list *of, size_t n, const double *b) {
    if (of->n == n) return bench_ulps(n, b, of->x);
    return of->n && n ? bench_ulps(1, b + n - 1, of->x + of->n - 1) : INFINITY;
}

/* The kernel's value and hand-written derivative against the library's. The number of things
 * wrong. */
static int verify_kernel(struct found *r, const struct check *c, size_t size,
                         const json_t *derivative, double *worst) {
    const struct bench_workload *w = &bench_workloads[r->kernel->id];
    struct list value = {NULL, 0, 0}, d = {NULL, 0, 0};
    double *const y = malloc((r->c.m + r->c.entries) * sizeof *y), *const out = y + r->c.m;
    double ulps = INFINITY, slopes = INFINITY;
    char text[80];
    if (y) {
        flatten_value(&value, c->value);
        flatten_derivative(&d, c->e, derivative);
        w->primal(&r->c, y);
        ulps = agreement(&value, r->c.m, y);
        w->handwritten(&r->c, r->reference);
        const size_t n = r->kernel->arrange(&r->c, r->reference, out);
        if (n == d.n) slopes = bench_ulps(n, out, d.x);
    }
    free(y);
    free(value.x);
    free(d.x);
    *worst = fmax(ulps, slopes);
    if (*worst <= KERNEL_ULPS) return 0;
    snprintf(text, sizeof text, "is off by %.3g ulps, its derivative by %.3g", ulps, slopes);
    return complain(c->e, size, "the kernel in workloads/", text);
}

/* Against the hand-written derivative. The number of things wrong. */
static int verify_rivals(struct found *r, const struct check *c, size_t size, double *worst) {
    int wrong = 0;
    char text[80];
    for (size_t k = 0; k < r->rivals; k++) {
        struct rival *rival = &r->rival[k];
        memset(r->entries, 0, r->c.entries * sizeof *r->entries);
        open_and_run(rival);
        const double ulps =
            rival->failed ? INFINITY : bench_ulps(r->c.entries, r->entries, r->reference);
        if (ulps > *worst) *worst = ulps;
        if (ulps <= KERNEL_ULPS) continue;
        snprintf(text, sizeof text, "is off by %.3g ulps", ulps);
        wrong += complain(c->e, size, rival_name(rival), text);
        rival->failed = 1;
    }
    const struct bench_workload *w = &bench_workloads[r->kernel->id];
    if (w->tape(r->t, &r->c, r->vars, r->entries, &r->counts) != WG_OK)
        wrong += complain(c->e, size, "tape", wg_tape_message(r->t));
    return wrong;
}

/* ---- memory ------------------------------------------------------------------------------ */

struct weighing {
    const struct gb_module *m;
    const struct gb_function *f;
    const json_t *input;
    void *job;
    struct gb_error e;
};

static void read_input(void *ctx) {
    const struct gb_options one_thread = {.threads = NULL};
    struct weighing *w = ctx;
    w->job = w->m->read(w->input, &one_thread, &w->e);
}

static void prepare_and_run(void *ctx) {
    struct weighing *w = ctx;
    if (w->job && (!w->f->prepare || w->f->prepare(w->job, &w->e) == 0))
        (void)w->f->run(w->job, &w->e);
}

/* ---- what is printed and kept ------------------------------------------------------------ */

static void keep_row(struct outcome *out, const struct eval *e, size_t size, const char *tool,
                     const char *quantity, const struct bench_times *t,
                     const struct bench_times *base, double bytes, double ns) {
    struct bench_row *row = &out->row[out->rows++];
    *row = (struct bench_row){.size = (double)size,
                              .seconds = *t,
                              .ratio = NAN,
                              .bytes = bytes,
                              .ns_per_statement = ns};
    snprintf(row->group, sizeof row->group, "eval");
    snprintf(row->workload, sizeof row->workload, "%s", e->name);
    snprintf(row->shape, sizeof row->shape, "%zu", size);
    snprintf(row->tool, sizeof row->tool, "%s", tool);
    snprintf(row->quantity, sizeof row->quantity, "%s", quantity);
    if (base) bench_row_over(row, base, e->primal);
}

static void number(int width, double x) {
    if (isfinite(x)) printf(" %*.3g", width, x);
    else printf(" %*s", width, "-");
}

/* Side k; the first is the primal function. */
static void keep(struct outcome *out, const struct found *r, const struct eval *e, size_t size,
                 size_t k, const struct bench_job *job) {
    const struct side *s = &r->side[k];
    const struct bench_times *t = &job[k].times, *base = &job[0].times;
    const double prepared = s->call ? s->call->prepared : 0;
    const double statements = r->counts.statements > 0 ? r->counts.statements : NAN;
    const double ns = k ? 1e9 * t->median / statements : NAN;
    const int primal = strcmp(s->function, e->primal) == 0;
    char what[40];
    printf("%-15s %7zu  %-20s %-10s %10.4g %10.4g %10.4g", e->name, size, s->tool, s->function,
           1e3 * t->median, 1e3 * t->q1, 1e3 * t->q3);
    number(9, t->median / base->median);
    number(8, ns);
    number(8, k ? s->bytes / statements : NAN);
    number(8, k ? s->bytes / 1e6 : NAN);
    number(9, prepared > 0 ? 1e3 * prepared : NAN);
    printf("%s\n", job[k].disturbed ? "  disturbed" : "");
    if (primal && s->threads > 1)
        snprintf(what, sizeof what, "%.16s, %u threads", e->primal, s->threads);
    else snprintf(what, sizeof what, "%.28s", s->function);
    keep_row(out, e, size, s->tool, what, t, k ? base : NULL, k && !primal ? s->bytes : NAN,
             ns);
    if (!(prepared > 0) || s->threads > 1) return;
    const struct bench_times once = {prepared, prepared, prepared, prepared, 0};
    snprintf(what, sizeof what, "%.28s, prepare", s->function);
    keep_row(out, e, size, s->tool, what, &once, NULL, NAN, NAN);
}

/* ---- what is timed ----------------------------------------------------------------------- */

static void add_call(struct found *r, const struct eval *e, struct call *call, unsigned threads,
                     double bytes) {
    struct side *s = &r->side[r->sides++];
    *s = (struct side){
        .call = call, .function = call->function->name, .threads = threads, .bytes = bytes};
    /* threads make another tool of Wengert; of the primal function they are a detail */
    const int primal = e->check != same && !is_derivative(e, call->function);
    if (primal || threads == 1) snprintf(s->tool, sizeof s->tool, primal ? "C" : "Wengert");
    else snprintf(s->tool, sizeof s->tool, "Wengert, %u threads", threads);
}

static void time_all(struct found *r, const struct bench_options *o, const struct eval *e,
                     size_t size, struct outcome *out, int *wrong) {
    struct bench_job job[SIDES];
    for (size_t k = 0; k < r->sides; k++)
        job[k] = (struct bench_job){.run = r->side[k].call ? run : run_rival,
                                    .ctx = r->side[k].call ? (void *)r->side[k].call
                                                           : (void *)r->side[k].rival,
                                    .label = r->side[k].tool,
                                    .threaded = r->side[k].threads > 1};
    if (bench_time(job, r->sides, o->reps, e->name)) {
        *wrong = -1;
        return;
    }
    for (size_t k = 0; k < r->sides; k++) {
        const struct side *s = &r->side[k];
        if (s->call && s->call->failed) *wrong = complain(e, size, s->tool, s->call->e.text);
        if (s->rival && s->rival->failed) *wrong = complain(e, size, s->tool, "failed");
        if (*wrong == 0) keep(out, r, e, size, k, job);
    }
}

/* The number of things wrong, or -1: no memory. */
static int measure(const struct bench_options *o, const struct eval *e, size_t size,
                   const json_t *input, struct found *r, struct outcome *out) {
    const struct gb_module *m = find_module(e->module);
    json_t *value[GB_MAX_FUNCTIONS] = {NULL};
    double bytes[GB_MAX_FUNCTIONS], lent[SIDES], error = 0;
    struct check c = {e, m, input, NULL};
    int wrong = 0;
    if (open_rivals(r, o, e, input)) return -1;
    /* before anything has been in memory that is free again */
    for (int k = 0; k < GB_MAX_FUNCTIONS && !o->small; k++) {
        struct weighing w = {.m = m, .f = &m->functions[k], .input = input};
        bytes[k] = w.f->name ? bench_memory(e->name, read_input, prepare_and_run, &w) : NAN;
    }
    for (size_t k = 0; k < r->rivals && !o->small; k++)
        lent[k] = bench_memory(e->name, NULL, open_and_run, &r->rival[k]);
    if (wg_threads_new(o->threads, NULL, &r->pool) != WG_OK) return -1;
    /* the primal function first */
    for (int turn = 0; turn < 2; turn++)
        for (int k = 0; k < GB_MAX_FUNCTIONS && m->functions[k].name; k++) {
            const struct gb_function *f = &m->functions[k];
            if (is_derivative(e, f) != turn || wrong) continue;
            for (unsigned threads = 1; threads <= o->threads && !wrong;
                 threads += o->threads > 1 ? o->threads - 1 : 1) {
                wrong += verify(r, &c, size, f, threads, &value[k], &error);
                add_call(r, e, &r->call[r->calls - 1], threads,
                         o->small || threads > 1 ? NAN : bytes[k]);
            }
            if (error > out->worst) out->worst = error;
            if (turn == 0) c.value = value[k];
            else if (!wrong && r->kernel) {
                wrong += verify_kernel(r, &c, size, value[k], &out->rivals);
                if (!wrong) wrong += verify_rivals(r, &c, size, &out->rivals);
            }
        }
    for (size_t k = 0; k < r->rivals; k++) {
        struct side *s = &r->side[r->sides];
        if (r->rival[k].failed) continue;
        *s = (struct side){.rival = &r->rival[k],
                           .function = r->call[r->calls - 1].function->name,
                           .threads = 1,
                           .bytes = o->small ? NAN : lent[k]};
        snprintf(s->tool, sizeof s->tool, "%s", rival_name(s->rival));
        r->sides++;
    }
    if (!o->small && !wrong) time_all(r, o, e, size, out, &wrong);
    for (int k = 0; k < GB_MAX_FUNCTIONS; k++) json_decref(value[k]);
    return wrong;
}

struct task {
    const struct bench_options *o;
    const struct eval *e;
    size_t size;
};

static int one(const void *what, void *result) {
    const struct task *t = what;
    struct outcome *out = result;
    json_t *input = t->e->input(t->size);
    struct found r;
    memset(&r, 0, sizeof r);
    const int wrong = input ? measure(t->o, t->e, t->size, input, &r, out) : -1;
    for (size_t k = 0; k < r.calls; k++) call_close(&r.call[k]);
    wg_threads_free(r.pool);
    close_rivals(&r);
    json_decref(input);
    return wrong;
}

/* ---- all --------------------------------------------------------------------------------- */

static int chosen(const struct bench_options *o, const struct eval *e) {
    return bench_selected(o, e->name) && find_module(e->module);
}

/* The number of evals and sizes that are wrong. */
static int everything(const struct bench_options *o, struct bench_report *report) {
    static struct outcome out;
    size_t calls = 0;
    int wrong = 0;
    for (size_t i = 0; i < EVALS; i++)
        for (size_t k = 0; k < SIZES && evals[i].sizes[k]; k++)
            if (chosen(o, &evals[i])) calls++;
    bench_progress_begin(calls);
    if (o->small)
        printf("%-16s %8s %14s %14s\n", "verification", "size", "differences", "others, ulps");
    else
        printf("\n%-15s %7s  %-20s %-10s %10s %10s %10s %9s %8s %8s %8s %9s\n", "milliseconds",
               "size", "tool", "function", "median", "q1", "q3", "/primal", "ns/stmt", "B/stmt",
               "MB", "prepared");
    for (size_t i = 0; i < EVALS; i++) {
        const struct eval *e = &evals[i];
        if (!chosen(o, e)) continue;
        for (size_t k = 0; k < (o->small ? 1 : SIZES) && e->sizes[k]; k++) {
            const struct task task = {o, e, o->small ? e->small : e->sizes[k]};
            if (bench_apart(e->name, one, &task, &out, sizeof out) != 0) {
                wrong++;
                continue;
            }
            if (o->small)
                printf("%-16s %8zu %14.3g %14.3g  ok\n", e->name, task.size, out.worst,
                       out.rivals);
            for (size_t j = 0; j < out.rows; j++) bench_report_put(report, &out.row[j]);
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
    for (const char *const *a = bench_peers_absent; o.peers && *a; a++)
        printf("peer not built in: %s\n", *a);
    if (!known) {
        fprintf(stderr, "evals: no eval %s; there are", o.only);
        for (size_t i = 0; i < EVALS; i++) fprintf(stderr, " %s", evals[i].name);
        fputc('\n', stderr);
        return 2;
    }
    bench_report_open(&report, "evals", o.reps);
    for (size_t k = 0; o.peers && k < bench_peer_count; k++)
        bench_report_fact(&report, bench_peers[k]->name, bench_peers[k]->version);
    if (!o.small) bench_report_print(&report);
    const int wrong = everything(&o, &report);
    const int lost = !o.small && o.json && bench_report_write(&report, o.json);
    bench_report_close(&report);
    return lost ? 2 : wrong > 0;
}

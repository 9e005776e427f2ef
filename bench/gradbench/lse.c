/* SPDX-License-Identifier: MIT */
/* lse.c - the logarithm of a sum of exponentials: y = a + log s, s = sum_i exp(x_i - a), with a
 * the largest of x. y does not depend on a, which is a number in the derivative.
 *
 * The sum is a function mapped over x, the end of the computation a function of s: its gradient
 * is the weight with which the derivative of the sum is taken. */
#include <math.h>
#include <stdlib.h>

#include "mapped.h"

/* With fewer a thread costs more than it saves. */
enum { FEW = 1 << 16 };

struct lse {
    wg_tape *t;
    struct gb_mapped sum, dsum, dend;
    size_t n;
    wg_threads *threads;
    double *x, *g, y;
};

static void release(void *job) {
    struct lse *l = job;
    gb_mapped_close(&l->sum);
    gb_mapped_close(&l->dsum);
    gb_mapped_close(&l->dend);
    wg_tape_free(l->t);
    free(l->x);
    free(l->g);
    free(l);
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    size_t n = GB_ANY;
    double *const x = gb_numbers(input, "x", 1, &n, e);
    if (x == NULL) return NULL;
    struct lse *const l = n > 0 ? calloc(1, sizeof *l) : NULL;
    if (l == NULL) {
        gb_fail(e, n > 0 ? "no memory" : "x: at least one number is wanted");
        free(x);
        return NULL;
    }
    *l = (struct lse){.n = n, .threads = n < FEW ? NULL : o->threads, .x = x};
    l->g = malloc(n * sizeof *l->g);
    l->t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    if (l->g != NULL && l->t != NULL) return l;
    gb_fail(e, "no memory for %zu numbers", n);
    release(l);
    return NULL;
}

static double largest(size_t n, const double *x) {
    double a = x[0];
    for (size_t i = 1; i < n; i++) a = x[i] > a ? x[i] : a;
    return a;
}

static int run_primal(void *job, struct gb_error *e) {
    struct lse *l = job;
    const double a = largest(l->n, l->x);
    double s = 0;
    (void)e;
    for (size_t i = 0; i < l->n; i++) s += exp(l->x[i] - a);
    l->y = log(s) + a;
    return 0;
}

/* in: a and an x, or s. */
static wg_status exponential(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                             void *data) {
    (void)n, (void)m, (void)data;
    out[0] = wg_let(t, wg_exp(wg_sub(in[1], in[0])));
    return WG_OK;
}
static wg_status logarithm(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                           void *data) {
    (void)n, (void)m, (void)data;
    out[0] = wg_let(t, wg_log(in[0]));
    return WG_OK;
}

static int prepare(void *job, struct gb_error *e) {
    struct lse *l = job;
    const wg_argument in[] = {{"a", 1, 1, WG_SHARED | WG_PASSIVE}, {"x", 1, 1, 0}};
    const wg_argument s = {"s", 1, 1, WG_SUMMED}, of = {"s", 1, 1, 0}, y = {"y", 1, 1, 0};
    const double at[] = {0, 1};
    wg_function *sum = NULL, *dsum = NULL, *end = NULL, *dend = NULL;
    if (wg_function_record(l->t, exponential, NULL, 2, in, at, 1, &s, &sum) == WG_OK &&
        wg_function_vjp(l->t, sum, &dsum) == WG_OK &&
        wg_function_record(l->t, logarithm, NULL, 1, &of, at + 1, 1, &y, &end) == WG_OK &&
        wg_function_gradient(l->t, end, &dend) != WG_OK)
        dend = NULL;
    wg_function_free(end);
    const int failed = gb_mapped_open(&l->dend, l->t, dend, NULL, e);
    return gb_mapped_open(&l->sum, l->t, sum, l->threads, e) |
           gb_mapped_open(&l->dsum, l->t, dsum, l->threads, e) | failed;
}

static int run_gradient(void *job, struct gb_error *e) {
    struct lse *l = job;
    const double a = largest(l->n, l->x);
    double s, w; /* w = dy/ds */
    const wg_points in[] = {{&a, 0, 1}, {l->x, 1, 1}, {&w, 0, 1}}, of = {&s, 0, 1};
    const wg_results sum = {&s, 0, 1}, ds = {&w, 0, 1}, dx = {l->g, 1, 1};
    if (gb_mapped_run(&l->sum, l->n, in, &sum, e) || gb_mapped_run(&l->dend, 1, &of, &ds, e))
        return -1;
    return gb_mapped_run(&l->dsum, l->n, in, &dx, e);
}

static json_t *output_value(const void *job) {
    const struct lse *l = job;
    return gb_array(&l->y, 0, NULL);
}
static json_t *output_gradient(const void *job) {
    const struct lse *l = job;
    return gb_array(l->g, 1, &l->n);
}

const struct gb_module gb_lse = {
    .name = "lse",
    .read = read,
    .release = release,
    .functions = {{"primal", NULL, run_primal, output_value},
                  {"gradient", prepare, run_gradient, output_gradient}},
};

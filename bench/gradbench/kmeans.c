/* SPDX-License-Identifier: MIT */
/* kmeans - the sum over points of the squared distance to the closest of k centroids, and the
 * step of Newton's method from them.
 *
 * For the step the minimum is over
 *     |c - x|^2 - |x|^2 = |c|^2 - c.(2 x)
 * where |c|^2 is the same at all points: one product per centroid, coordinate and point is
 * left, and in the derivative the sums of the shares of the minimum and of shares times 2 x.
 * Where data are far from 0 that would cancel: both are taken relative to the mean centroid,
 * which does not change the distances.
 *
 * The Hessian is diagonal: its product with ones is its diagonal. */
#include "mapped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kmeans {
    size_t n, k, d;
    wg_threads *threads;
    double *points, *centroids; /* n, k rows of d */
    double *origin;             /* d */
    double *ones, *relative;    /* k d: centroids - origin */
    double *gradient, *hessian, *step;
    double cost;
    wg_tape *t;
    struct gb_mapped dir; /* centroids, origin, point, ones to gradient, diagonal */
};

static void release(void *job) {
    struct kmeans *q = job;
    gb_mapped_close(&q->dir);
    wg_tape_free(q->t);
    free(q->points);
    free(q->centroids);
    free(q->origin);
    free(q);
}

static int fill(struct kmeans *q, const json_t *input, struct gb_error *e) {
    size_t points[] = {GB_ANY, GB_ANY}, centroids[] = {GB_ANY, GB_ANY};
    q->points = gb_numbers(input, "points", 2, points, e);
    if (!q->points) return -1;
    if (points[0] == 0 || points[1] == 0)
        return gb_fail(e, "points: at least one of at least one coordinate is wanted");
    q->n = points[0];
    q->d = centroids[1] = points[1];
    q->centroids = gb_numbers(input, "centroids", 2, centroids, e);
    if (!q->centroids) return -1;
    if (centroids[0] == 0) return gb_fail(e, "centroids: at least one is wanted");
    q->k = centroids[0];
    const size_t entries = q->k * q->d;
    q->origin = malloc((q->d + 5 * entries) * sizeof *q->origin);
    q->t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    if (!q->origin || !q->t) return gb_fail(e, "no memory");
    q->ones = q->origin + q->d;
    q->relative = q->ones + entries;
    q->gradient = q->relative + entries;
    q->hessian = q->gradient + entries;
    q->step = q->hessian + entries;
    return 0;
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    struct kmeans *q = calloc(1, sizeof *q);
    if (!q) {
        gb_fail(e, "no memory");
        return NULL;
    }
    q->threads = o->threads;
    if (fill(q, input, e) == 0) return q;
    release(q);
    return NULL;
}

/* ---- cost ---- */

static double distance2(size_t d, const double *a, const double *b) {
    double s = 0;
    for (size_t i = 0; i < d; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
    return s;
}

static int run_cost(void *job, struct gb_error *e) {
    struct kmeans *q = job;
    (void)e;
    double cost = 0;
    for (size_t i = 0; i < q->n; i++) {
        double closest = INFINITY;
        for (size_t j = 0; j < q->k; j++) {
            const double s = distance2(q->d, q->points + i * q->d, q->centroids + j * q->d);
            if (s < closest) closest = s;
        }
        cost += closest;
    }
    q->cost = cost;
    return 0;
}

static json_t *output_cost(const void *job) {
    const struct kmeans *q = job;
    return gb_array(&q->cost, 0, NULL);
}

/* ---- dir ---- */

/* The cost of one point. in: centroids relative to the origin, origin, point. */
static wg_status cost(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                      void *data) {
    const struct kmeans *q = data;
    const size_t d = q->d, k = q->k;
    const wg_real *const origin = in + k * d, *const point = origin + d;
    (void)n, (void)m;
    wg_real *const x = malloc((2 * d + k) * sizeof *x), *const twice = x + d,
                   *const s = twice + d;
    if (!x) return WG_ENOMEM;
    for (size_t l = 0; l < d; l++) { /* the point, with the other sign */
        x[l] = wg_let(t, wg_sub(origin[l], point[l]));
        twice[l] = wg_let(t, wg_mul(2.0, x[l]));
    }
    for (size_t j = 0; j < k; j++) {
        const wg_real *const c = in + j * d;
        s[j] = wg_squared_norm(t, d, c);
        for (size_t l = 0; l < d; l++) s[j] = wg_let(t, wg_add(s[j], wg_mul(c[l], twice[l])));
    }
    out[0] = wg_let(t, wg_add(wg_squared_norm(t, d, x), wg_minimum(t, k, s)));
    free(x);
    return WG_OK;
}

/* The gradient of the sum, and its Hessian times the input dcentroids. */
static wg_function *derivatives(struct kmeans *q) {
    const wg_argument in[] = {{"centroids", q->d, q->k, WG_SHARED},
                              {"origin", q->d, 1, WG_SHARED | WG_PASSIVE},
                              {"point", q->d, 1, WG_PASSIVE}};
    const wg_argument out = {"cost", 1, 1, WG_SUMMED};
    wg_function *f = NULL, *g = NULL, *h = NULL, *both = NULL;
    double *const at = malloc((q->k + 2) * q->d * sizeof *at);
    if (!at) return NULL;
    memcpy(at, q->relative, q->k * q->d * sizeof *at);
    memcpy(at + q->k * q->d, q->origin, q->d * sizeof *at);
    memcpy(at + (q->k + 1) * q->d, q->points, q->d * sizeof *at);
    if (wg_function_record(q->t, cost, q, 3, in, at, 1, &out, &f) == WG_OK &&
        wg_function_gradient(q->t, f, &g) == WG_OK && wg_function_hvp(q->t, f, &h) == WG_OK &&
        wg_function_join(q->t, 2, (const wg_function *const[]){g, h}, &both) != WG_OK)
        both = NULL;
    free(at);
    wg_function_free(f);
    wg_function_free(g);
    wg_function_free(h);
    return both;
}

static void centre(struct kmeans *q) {
    memset(q->origin, 0, q->d * sizeof *q->origin);
    for (size_t j = 0; j < q->k; j++)
        for (size_t l = 0; l < q->d; l++)
            q->origin[l] += q->centroids[j * q->d + l] / (double)q->k;
    for (size_t j = 0; j < q->k; j++)
        for (size_t l = 0; l < q->d; l++)
            q->relative[j * q->d + l] = q->centroids[j * q->d + l] - q->origin[l];
}

static int prepare_dir(void *job, struct gb_error *e) {
    struct kmeans *q = job;
    for (size_t i = 0; i < q->k * q->d; i++) q->ones[i] = 1;
    centre(q);
    return gb_mapped_open(&q->dir, q->t, derivatives(q), q->threads, e);
}

static int run_dir(void *job, struct gb_error *e) {
    struct kmeans *q = job;
    const wg_points x[] = {{q->relative, 0, 1},
                           {q->origin, 0, 1},
                           {q->points, (ptrdiff_t)q->d, 1},
                           {q->ones, 0, 1}};
    const wg_results y[] = {{q->gradient, 0, 1}, {q->hessian, 0, 1}};
    centre(q);
    if (gb_mapped_run(&q->dir, q->n, x, y, e)) return -1;
    for (size_t i = 0; i < q->k * q->d; i++) q->step[i] = q->gradient[i] / q->hessian[i];
    return 0;
}

static json_t *output_dir(const void *job) {
    const struct kmeans *q = job;
    return gb_array(q->step, 2, (const size_t[]){q->k, q->d});
}

const struct gb_module gb_kmeans = {
    .name = "kmeans",
    .read = read,
    .release = release,
    .functions = {{"cost", NULL, run_cost, output_cost},
                  {"dir", prepare_dir, run_dir, output_dir}},
};

/* SPDX-License-Identifier: MIT */
/* llsq.c - a polynomial that follows the sign of t, least squares: half the sum of the squared
 * residuals at n points, and its gradient by the coefficients.
 *
 * A squared residual is a function mapped over the points; the sum is part of it. */
#include <stdlib.h>

#include "mapped.h"

#include "residual.h"
#define WG_AS_DOUBLE
#include "residual.h"
#undef WG_AS_DOUBLE
#include <wengert/generic.h>

#define MOST_POINTS ((size_t)1 << 32)

/* Points times coefficients: with fewer a thread costs more than it saves. */
#define FEW ((size_t)1 << 19)

struct llsq {
    wg_tape *t;
    struct gb_mapped gradient;
    size_t n, m;
    wg_threads *threads;
    double *x, *g, *i; /* coefficients, gradient, numbers of the points */
    double y;
};

static void release(void *job) {
    struct llsq *l = job;
    gb_mapped_close(&l->gradient);
    wg_tape_free(l->t);
    free(l->x);
    free(l->g);
    free(l->i);
    free(l);
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    struct llsq *const l = calloc(1, sizeof *l);
    if (l == NULL) {
        gb_fail(e, "no memory");
        return NULL;
    }
    l->m = GB_ANY;
    l->x = gb_numbers(input, "x", 1, &l->m, e);
    if (l->x == NULL || gb_index(input, "n", &l->n, e)) {
        release(l);
        return NULL;
    }
    if (l->n > MOST_POINTS) {
        gb_fail(e, "n: at most %zu points are possible, not %zu", MOST_POINTS, l->n);
        release(l);
        return NULL;
    }
    l->threads = l->n < FEW / (l->m + 1) ? NULL : o->threads;
    l->g = calloc(l->m + 1, sizeof *l->g);
    l->i = calloc(l->n, sizeof *l->i);
    l->t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    if (l->g != NULL && (l->i != NULL || l->n == 0) && l->t != NULL) return l;
    gb_fail(e, "no memory for %zu points", l->n);
    release(l);
    return NULL;
}

static int run_primal(void *job, struct gb_error *e) {
    struct llsq *l = job;
    double sum = 0;
    (void)e;
    for (size_t i = 0; i < l->n; i++)
        sum += residual_double(NULL, (double)i, (double)l->n, l->m, l->x);
    l->y = sum / 2;
    return 0;
}

/* in: the coefficients, the number of the point, the number of points. */
static wg_status half_square(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                             void *data) {
    (void)m, (void)data;
    out[0] = wg_let(t, wg_mul(0.5, residual_real(t, in[n - 2], in[n - 1], n - 2, in)));
    return WG_OK;
}

static int prepare(void *job, struct gb_error *e) {
    struct llsq *l = job;
    const wg_argument in[] = {{"x", l->m, 1, WG_SHARED},
                              {"i", 1, 1, WG_PASSIVE},
                              {"n", 1, 1, WG_SHARED | WG_PASSIVE}};
    const wg_argument out = {"y", 1, 1, WG_SUMMED};
    double *const at = calloc(l->m + 2, sizeof *at);
    wg_function *f = NULL, *g = NULL;
    if (at == NULL) return gb_fail(e, "no memory for %zu coefficients", l->m);
    if (wg_function_record(l->t, half_square, NULL, 3, in, at, 1, &out, &f) == WG_OK &&
        wg_function_gradient(l->t, f, &g) != WG_OK)
        g = NULL;
    wg_function_free(f);
    free(at);
    for (size_t i = 0; i < l->n; i++) l->i[i] = (double)i;
    return gb_mapped_open(&l->gradient, l->t, g, l->threads, e);
}

static int run_gradient(void *job, struct gb_error *e) {
    struct llsq *l = job;
    const double n = (double)l->n;
    const wg_points in[] = {{l->x, 0, 1}, {l->i, 1, 1}, {&n, 0, 1}};
    const wg_results out = {l->g, 0, 1};
    return gb_mapped_run(&l->gradient, l->n, in, &out, e);
}

static json_t *output_value(const void *job) {
    const struct llsq *l = job;
    return gb_array(&l->y, 0, NULL);
}
static json_t *output_gradient(const void *job) {
    const struct llsq *l = job;
    return gb_array(l->g, 1, &l->m);
}

const struct gb_module gb_llsq = {
    .name = "llsq",
    .read = read,
    .release = release,
    .functions = {{"primal", NULL, run_primal, output_value},
                  {"gradient", prepare, run_gradient, output_gradient}},
};

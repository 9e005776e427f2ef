/* SPDX-License-Identifier: MIT */
/* ba - bundle adjustment: the residuals of the observations, and their sparse Jacobian, row
 * after row. An input stands for n cameras, m points and p observations of the same numbers.
 *
 * The kernel of one observation is that of the other benches. It has another formula where a
 * rotation is 0; those observations are done once more, by a function recorded there. */
#include "mapped.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../workloads/bundle.h"
#define WG_AS_DOUBLE
#include "../workloads/bundle.h"
#undef WG_AS_DOUBLE
#include <wengert/generic.h>

/* Observations gathered at a time, and how far apart their inputs stand: no power of two, which
 * would be one place of the cache for all of them. */
enum { CHUNK = 2048, APART = CHUNK + 8 };

struct ba {
    struct bundle_params p;
    double *x;             /* cameras, points, weights */
    double *err;           /* 2 p, then p */
    double *vals;          /* 30 p, then p */
    uint32_t *rows, *cols; /* rows: where each begins, and the end */
    size_t *seen;
    wg_threads *threads;
    double *feats;
    double *gathered; /* APART for each input and part */
    wg_tape *t;
    struct gb_mapped turned, straight;
};

static void release(void *job) {
    struct ba *b = job;
    gb_mapped_close(&b->turned);
    gb_mapped_close(&b->straight);
    wg_tape_free(b->t);
    free(b->x);
    free(b->err);
    free(b->vals);
    free(b->rows);
    free(b->cols);
    free(b->seen);
    free(b->feats);
    free(b->gathered);
    free(b);
}

static int count(const json_t *input, const char *key, size_t *x, struct gb_error *e) {
    if (gb_index(input, key, x, e)) return -1;
    if (*x > 0 && *x <= UINT32_MAX / BUNDLE_ENTRIES) return 0;
    return gb_fail(e, "%s: from 1 to %u is wanted", key, UINT32_MAX / BUNDLE_ENTRIES);
}

static void repeat(double *to, size_t count, size_t n, const double *x) {
    for (size_t i = 0; i < count * n; i++) to[i] = x[i % n];
}

static int fill(struct ba *b, const json_t *input, struct gb_error *e) {
    struct bundle_params *const p = &b->p;
    double w;
    if (count(input, "n", &p->cameras, e) || count(input, "m", &p->points, e) ||
        count(input, "p", &p->observations, e) || gb_number(input, "w", &w, e))
        return -1;
    const size_t at_points = BUNDLE_CAMERA * p->cameras, n = p->observations;
    const size_t at_weights = at_points + 3 * p->points;
    if (at_weights + n > UINT32_MAX) return gb_fail(e, "n, m, p: there are too many");
    double *const cam = gb_numbers(input, "cam", 1, (size_t[]){BUNDLE_CAMERA}, e);
    double *const x = cam ? gb_numbers(input, "x", 1, (size_t[]){3}, e) : NULL;
    double *const feat = x ? gb_numbers(input, "feat", 1, (size_t[]){2}, e) : NULL;
    if (feat) {
        b->x = malloc((at_weights + n) * sizeof *b->x);
        b->seen = malloc(2 * n * sizeof *b->seen);
        b->feats = malloc(2 * n * sizeof *b->feats);
        b->err = malloc(3 * n * sizeof *b->err);
        b->t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    }
    const int there = b->x && b->seen && b->feats && b->err && b->t;
    if (there) {
        repeat(b->x, p->cameras, BUNDLE_CAMERA, cam);
        repeat(b->x + at_points, p->points, 3, x);
        repeat(b->x + at_weights, n, 1, &w);
        repeat(b->feats, n, 2, feat);
        for (size_t i = 0; i < n; i++) {
            b->seen[2 * i] = i % p->cameras;
            b->seen[2 * i + 1] = i % p->points;
        }
        p->seen = b->seen;
        p->feats = b->feats;
    } else if (feat) {
        gb_fail(e, "no memory for %zu observations", n);
    }
    free(cam);
    free(x);
    free(feat);
    return there ? 0 : -1;
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    struct ba *b = calloc(1, sizeof *b);
    if (!b) {
        gb_fail(e, "no memory");
        return NULL;
    }
    b->threads = o->threads;
    if (fill(b, input, e) == 0) return b;
    release(b);
    return NULL;
}

/* ---- objective ---- */

static int run_objective(void *job, struct gb_error *e) {
    struct ba *b = job;
    const size_t n = b->p.observations;
    (void)e;
    for (size_t i = 0; i < n; i++) {
        double in[BUNDLE_INPUTS], err[3];
        bundle_gather(&b->p, b->x, i, in);
        bundle_double(NULL, in, b->feats + 2 * i, err);
        b->err[2 * i] = err[0];
        b->err[2 * i + 1] = err[1];
        b->err[2 * n + i] = err[2];
    }
    return 0;
}

static json_t *output_objective(const void *job) {
    const struct ba *b = job;
    const json_int_t n = (json_int_t)b->p.observations;
    return json_pack("{s:{s:o, s:I}, s:{s:o, s:I}}", "reproj_error", "elements",
                     gb_array(b->err, 1, (const size_t[]){2}), "repeated", n, "w_err",
                     "element", gb_array(b->err + 2 * n, 0, NULL), "repeated", n);
}

/* ---- jacobian ---- */

/* Where observations are seen is taken away afterwards: the kernel has it as a number. */
static const double origin[2] = {0, 0};

/* in: camera, point and weight, where it was seen. */
static wg_status reprojection(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *err,
                              void *data) {
    wg_real r[3];
    (void)n, (void)m, (void)data;
    bundle_real(t, in, origin, r);
    for (int i = 0; i < 2; i++)
        err[i] = wg_let(t, wg_sub(r[i], wg_mul(in[BUNDLE_INPUTS - 1], in[BUNDLE_INPUTS + i])));
    return WG_OK;
}

/* in: the weight; of the rest this residual is independent. */
static wg_status deviation(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *err,
                           void *data) {
    wg_real all[BUNDLE_INPUTS], r[3];
    (void)n, (void)m, (void)data;
    for (int i = 0; i < BUNDLE_INPUTS - 1; i++) all[i] = wg_constant(0);
    all[BUNDLE_INPUTS - 1] = in[0];
    bundle_real(t, all, origin, r);
    err[0] = r[2];
    return WG_OK;
}

static wg_function *jacobian_of(wg_tape *t, wg_callback *f, size_t inputs,
                                const wg_argument *in, const double *at,
                                const wg_argument *out) {
    wg_function *made = NULL, *jacobian = NULL;
    if (wg_function_record(t, f, NULL, inputs, in, at, 1, out, &made) == WG_OK &&
        wg_function_jacobian(t, made, &jacobian) != WG_OK)
        jacobian = NULL;
    wg_function_free(made);
    return jacobian;
}

/* Where the camera is turned, or not: of the reprojection error both rows, one after the other,
 * and of the residual of the weight. */
static wg_function *jacobian(struct ba *b, int turned) {
    const wg_argument in[] = {{"in", BUNDLE_INPUTS, 1, 0}, {"feat", 2, 1, WG_PASSIVE}};
    const wg_argument err = {"err", 2, 1, 0}, weight = {"weight", 1, 1, 0}, s = {"s", 1, 1, 0};
    double at[BUNDLE_INPUTS + 2];
    bundle_gather(&b->p, b->x, 0, at);
    memcpy(at + BUNDLE_INPUTS, b->feats, 2 * sizeof *at);
    for (int i = 0; i < 3; i++) at[i] = turned;
    wg_function *const two = jacobian_of(b->t, reprojection, 2, in, at, &err), *both = NULL;
    wg_function *const one = jacobian_of(b->t, deviation, 1, &weight, at, &s);
    if (two && one &&
        wg_function_join(b->t, 2, (const wg_function *const[]){two, one}, &both) != WG_OK)
        both = NULL;
    wg_function_free(two);
    wg_function_free(one);
    return both;
}

/* Which inputs a row is of does not depend on their values. */
static void pattern(struct ba *b) {
    const struct bundle_params *const p = &b->p;
    const uint32_t n = (uint32_t)p->observations;
    const uint32_t points = (uint32_t)(BUNDLE_CAMERA * p->cameras);
    const uint32_t weights = points + (uint32_t)(3 * p->points);
    uint32_t *col = b->cols;
    for (uint32_t i = 0; i < 2 * n; i++) {
        const uint32_t camera = (uint32_t)p->seen[i / 2 * 2];
        const uint32_t point = (uint32_t)p->seen[i / 2 * 2 + 1];
        b->rows[i] = i * BUNDLE_INPUTS;
        for (uint32_t k = 0; k < BUNDLE_CAMERA; k++) *col++ = BUNDLE_CAMERA * camera + k;
        for (uint32_t k = 0; k < 3; k++) *col++ = points + 3 * point + k;
        *col++ = weights + i / 2;
    }
    for (uint32_t i = 0; i <= n; i++) b->rows[2 * n + i] = 2 * BUNDLE_INPUTS * n + i;
    for (uint32_t i = 0; i < n; i++) *col++ = weights + i;
}

static int prepare_jacobian(void *job, struct gb_error *e) {
    struct ba *b = job;
    const size_t n = b->p.observations;
    b->vals = malloc(BUNDLE_ENTRIES * n * sizeof *b->vals);
    b->cols = malloc(BUNDLE_ENTRIES * n * sizeof *b->cols);
    b->rows = malloc((3 * n + 1) * sizeof *b->rows);
    b->gathered =
        malloc(wg_threads_count(b->threads) * APART * BUNDLE_INPUTS * sizeof *b->gathered);
    if (!b->vals || !b->cols || !b->rows || !b->gathered)
        return gb_fail(e, "no memory for %zu observations", n);
    pattern(b);
    return gb_mapped_open(&b->turned, b->t, jacobian(b, 1), b->threads, e) ||
                   gb_mapped_open(&b->straight, b->t, jacobian(b, 0), b->threads, e)
               ? -1
               : 0;
}

/* As the kernel asks. */
static int is_straight(const double *r) { return r[0] * r[0] + r[1] * r[1] + r[2] * r[2] == 0; }

/* Observations from `first` on, as one of the functions has them. */
static wg_status evaluate(const struct ba *b, const struct gb_mapped *m, size_t part,
                          size_t first, size_t count, const double *in) {
    const size_t n = b->p.observations, step = 2 * BUNDLE_INPUTS;
    const double *const weights = b->x + BUNDLE_CAMERA * b->p.cameras + 3 * b->p.points;
    const wg_points x[] = {
        {in, 1, APART}, {b->feats + 2 * first, 2, 1}, {weights + first, 1, 1}};
    const wg_results y[] = {{b->vals + step * first, (ptrdiff_t)step, 1},
                            {b->vals + step * n + first, 1, 1}};
    char *const work = (char *)m->work + part * m->bytes;
    return wg_function_evaluate(m->f, count, x, y, NULL, work, NULL);
}

static wg_status chunks(void *ctx, size_t part, size_t first, size_t end) {
    const struct ba *const b = ctx;
    double *const in = b->gathered + part * APART * BUNDLE_INPUTS;
    while (first < end) {
        const size_t count = end - first < CHUNK ? end - first : CHUNK;
        int straight = 0;
        for (size_t i = 0; i < count; i++) {
            double one[BUNDLE_INPUTS];
            bundle_gather(&b->p, b->x, first + i, one);
            for (size_t k = 0; k < BUNDLE_INPUTS; k++) in[APART * k + i] = one[k];
            straight |= is_straight(one);
        }
        wg_status s = evaluate(b, &b->turned, part, first, count, in);
        for (size_t i = 0; straight && i < count && s == WG_OK; i++) {
            double one[BUNDLE_INPUTS];
            bundle_gather(&b->p, b->x, first + i, one);
            if (is_straight(one)) s = evaluate(b, &b->straight, part, first + i, 1, in + i);
        }
        if (s != WG_OK) return s;
        first += count;
    }
    return WG_OK;
}

static int run_jacobian(void *job, struct gb_error *e) {
    struct ba *b = job;
    return gb_status(e, gb_split(b->threads, b->p.observations, 64, chunks, b), NULL);
}

/* The first 30 and the last. */
static json_t *output_indices(const uint32_t *x, size_t n) {
    json_t *out = json_array();
    for (size_t i = 0; i < n - 1 && i < 2 * BUNDLE_INPUTS; i++)
        json_array_append_new(out, json_integer(x[i]));
    json_array_append_new(out, json_integer(x[n - 1]));
    return out;
}

static json_t *output_jacobian(const void *job) {
    const struct ba *b = job;
    const size_t n = b->p.observations, last = 2 * BUNDLE_INPUTS;
    double vals[BUNDLE_ENTRIES];
    memcpy(vals, b->vals, last * sizeof *vals);
    vals[last] = b->vals[BUNDLE_ENTRIES * n - 1];
    return json_pack("{s:o, s:o, s:o}", "rows", output_indices(b->rows, 3 * n + 1), "cols",
                     output_indices(b->cols, BUNDLE_ENTRIES * n), "vals",
                     gb_array(vals, 1, (const size_t[]){BUNDLE_ENTRIES}));
}

const struct gb_module gb_ba = {
    .name = "ba",
    .read = read,
    .release = release,
    .functions = {{"objective", NULL, run_objective, output_objective},
                  {"jacobian", prepare_jacobian, run_jacobian, output_jacobian}},
};

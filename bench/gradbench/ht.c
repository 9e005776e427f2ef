/* SPDX-License-Identifier: MIT */
/* ht - hand tracking: the distances of measured points from the vertices of a posed hand, or,
 * with us, from points in its triangles, and their Jacobian: by the coordinates us of a point,
 * if there are any, and by theta. */
#include "mapped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hand.h"
#define WG_AS_DOUBLE
#include "hand.h"
#undef WG_AS_DOUBLE
#include <wengert/generic.h>

enum { CHUNK = 2048, GRAIN = 64 }; /* gathered at a time; a thread does at least */

struct ht {
    size_t bones, vertices, triangles, n; /* n correspondences */
    wg_threads *threads;
    int mirrored, *parent;
    double *theta, *relative, *inverse;
    double *positions, *weights; /* rows: a vertex */
    double *vertex;              /* both in a row */
    double *points, *us;         /* rows: a correspondence; us: NULL if there are none */
    size_t *triangle, *to;
    double *posed, *work; /* vertices; of the pose */
    double *err, *jacobian;
    double *work_rows; /* vertices gathered for each thread, or rows of all vertices */
    wg_tape *t;
    struct gb_mapped rows;
};

static void release(void *job) {
    struct ht *h = job;
    gb_mapped_close(&h->rows);
    wg_tape_free(h->t);
    free(h->parent);
    free(h->theta);
    free(h->relative);
    free(h->inverse);
    free(h->positions);
    free(h->weights);
    free(h->vertex);
    free(h->points);
    free(h->us);
    free(h->triangle);
    free(h->to);
    free(h->posed);
    free(h->work);
    free(h->err);
    free(h->jacobian);
    free(h->work_rows);
    free(h);
}

static int read_parents(struct ht *h, const json_t *model, struct gb_error *e) {
    double *const parent = gb_numbers(model, "parents", 1, (size_t[]){h->bones}, e);
    h->parent = parent ? malloc(h->bones * sizeof *h->parent) : NULL;
    size_t good = 0;
    for (; h->parent && good < h->bones; good++) {
        if (!(parent[good] >= -1 && parent[good] < (double)good) ||
            parent[good] != floor(parent[good]))
            break;
        h->parent[good] = (int)parent[good];
    }
    free(parent);
    if (good == h->bones) return 0;
    if (h->parent) gb_fail(e, "parents[%zu]: an earlier bone, or -1, is wanted", good);
    else if (parent) gb_fail(e, "no memory for %zu bones", h->bones);
    return -1;
}

static int read_model(struct ht *h, const json_t *model, struct gb_error *e) {
    size_t matrices[] = {GB_ANY, 4, 4}, positions[] = {GB_ANY, 4}, triangles[] = {GB_ANY, 3};
    h->relative = gb_numbers(model, "base_relatives", 3, matrices, e);
    if (!h->relative) return -1;
    h->bones = matrices[0];
    if (h->bones < HAND_BONES || h->bones > 1024)
        return gb_fail(e, "base_relatives: from %d to 1024 bones are wanted, not %zu",
                       HAND_BONES, h->bones);
    if (read_parents(h, model, e)) return -1;
    h->inverse = gb_numbers(model, "inverse_base_absolutes", 3, matrices, e);
    if (h->inverse) h->positions = gb_numbers(model, "base_positions", 2, positions, e);
    if (!h->positions) return -1;
    h->vertices = positions[0];
    if (!h->vertices) return gb_fail(e, "base_positions: at least one is wanted");
    h->weights = gb_numbers(model, "weights", 2, (size_t[]){h->vertices, h->bones}, e);
    if (!h->weights) return -1;
    h->triangle = gb_indices(model, "triangles", 2, triangles, h->vertices, e);
    if (!h->triangle) return -1;
    h->triangles = triangles[0];
    const json_t *const mirrored = json_object_get(model, "is_mirrored");
    if (!json_is_boolean(mirrored)) return gb_fail(e, "is_mirrored: a truth value is wanted");
    h->mirrored = json_is_true(mirrored);
    return 0;
}

static int read_data(struct ht *h, const json_t *data, const json_t *input,
                     struct gb_error *e) {
    size_t us[] = {GB_ANY, GB_ANY}, n[] = {GB_ANY};
    h->us = gb_numbers(input, "us", 2, us, e);
    if (!h->us) return -1;
    if (us[0] == 0) {
        free(h->us);
        h->us = NULL;
    } else {
        n[0] = us[0];
        if (us[1] != 2) return gb_fail(e, "us[0]: 2 entries are wanted, not %zu", us[1]);
        if (!h->triangles) return gb_fail(e, "triangles: at least one is wanted");
    }
    h->to = gb_indices(data, "correspondences", 1, n, h->us ? h->triangles : h->vertices, e);
    if (!h->to) return -1;
    if (n[0] == 0) return gb_fail(e, "correspondences: at least one is wanted");
    h->n = n[0];
    h->points = gb_numbers(data, "points", 2, (size_t[]){h->n, 3}, e);
    return h->points ? 0 : -1;
}

static int fill(struct ht *h, const json_t *input, struct gb_error *e) {
    h->theta = gb_numbers(input, "theta", 1, (size_t[]){HAND_THETA}, e);
    const json_t *const data = h->theta ? gb_object(input, "data", e) : NULL;
    const json_t *const model = data ? gb_object(data, "model", e) : NULL;
    if (!model || read_model(h, model, e) || read_data(h, data, input, e)) return -1;
    const size_t row = 4 + h->bones;
    h->vertex = malloc(h->vertices * row * sizeof *h->vertex);
    h->posed = malloc(3 * h->vertices * sizeof *h->posed);
    h->work = malloc((12 + 32) * h->bones * sizeof *h->work);
    h->err = malloc(3 * h->n * sizeof *h->err);
    h->t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    if (!h->vertex || !h->posed || !h->work || !h->err || !h->t) return gb_fail(e, "no memory");
    for (size_t i = 0; i < h->vertices; i++) {
        memcpy(h->vertex + row * i, h->positions + 4 * i, 4 * sizeof *h->vertex);
        memcpy(h->vertex + row * i + 4, h->weights + h->bones * i,
               h->bones * sizeof *h->vertex);
    }
    return 0;
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    struct ht *h = calloc(1, sizeof *h);
    if (!h) {
        gb_fail(e, "no memory");
        return NULL;
    }
    h->threads = o->threads;
    if (fill(h, input, e) == 0) return h;
    release(h);
    return NULL;
}

/* ---- objective ---- */

static void pose(struct ht *h) {
    double *const bones = h->work + 32 * h->bones, r[9];
    hand_bones_double(NULL, h->theta, h->bones, h->parent, h->relative, h->inverse, h->work,
                      bones);
    hand_rotation_double(NULL, h->theta, r);
    for (size_t i = 0; i < h->vertices; i++) {
        double p[3] = {0, 0, 0};
        for (size_t b = 0; b < h->bones; b++)
            for (size_t j = 0; j < 3; j++)
                p[j] += h->weights[h->bones * i + b] *
                        hand_dot_double(NULL, bones + 12 * b + 4 * j, h->positions + 4 * i, 1);
        if (h->mirrored) p[0] = -p[0];
        for (size_t j = 0; j < 3; j++)
            h->posed[3 * i + j] =
                r[3 * j] * p[0] + r[3 * j + 1] * p[1] + r[3 * j + 2] * p[2] + h->theta[3 + j];
    }
}

static int run_objective(void *job, struct gb_error *e) {
    struct ht *h = job;
    (void)e;
    pose(h);
    for (size_t i = 0; i < h->n; i++) {
        const size_t *const corner = h->us ? h->triangle + 3 * h->to[i] : h->to + i;
        const double *const u = h->us ? h->us + 2 * i : (const double[]){1, 0};
        for (size_t j = 0; j < 3; j++) {
            double p = u[0] * h->posed[3 * corner[0] + j];
            if (h->us)
                p += u[1] * h->posed[3 * corner[1] + j] +
                     (1 - u[0] - u[1]) * h->posed[3 * corner[2] + j];
            h->err[3 * i + j] = h->points[3 * i + j] - p;
        }
    }
    return 0;
}

static json_t *output_objective(const void *job) {
    const struct ht *h = job;
    return gb_array(h->err, 1, (const size_t[]){3 * h->n});
}

/* ---- jacobian ---- */

/* The distance of a point, a weighted sum of vertices from it. in: theta; us, if there are any;
 * matrices of the bones; the point; the vertices.
 *
 * A sum over vertices of weight u times sum over bones of weight w times T p is done as a sum
 * over bones of T times the sum over vertices of u w p. */
static wg_status distance(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                          void *data) {
    const struct ht *h = data;
    const size_t bones = h->bones, corners = h->us ? 3 : 1;
    const wg_real *const theta = in, *const us = theta + HAND_THETA;
    const wg_real *const relative = us + (h->us ? 2 : 0), *const inverse =
                                                              relative + 16 * bones;
    const wg_real *const point = inverse + 16 * bones, *const vertex = point + 3;
    wg_real r[9], p[3], u[3];
    (void)n, (void)m;
    wg_real *const work = malloc(44 * bones * sizeof *work), *const moved = work + 32 * bones;
    if (!work) return WG_ENOMEM;
    hand_bones_real(t, theta, bones, h->parent, relative, inverse, work, moved);
    hand_rotation_real(t, theta, r);
    if (h->us) {
        u[0] = us[0];
        u[1] = us[1];
        u[2] = wg_let(t, wg_sub(wg_sub(1.0, us[0]), us[1]));
    }
    for (size_t j = 0; j < 3; j++) p[j] = wg_constant(0);
    for (size_t b = 0; b < bones; b++) {
        wg_real at[4];
        for (size_t i = 0; i < 4; i++) at[i] = wg_constant(0);
        for (size_t c = 0; c < corners; c++) {
            const wg_real *const v = vertex + (4 + bones) * c;
            const wg_real w = h->us ? wg_let(t, wg_mul(u[c], v[4 + b])) : v[4 + b];
            for (size_t i = 0; i < 4; i++) at[i] = wg_let(t, wg_add(at[i], wg_mul(w, v[i])));
        }
        for (size_t j = 0; j < 3; j++)
            p[j] = wg_let(t, wg_add(p[j], hand_dot_real(t, moved + 12 * b + 4 * j, at, 1)));
    }
    free(work);
    if (h->mirrored) p[0] = wg_let(t, wg_neg(p[0]));
    for (size_t j = 0; j < 3; j++) {
        const wg_real turned =
            wg_let(t, wg_add(wg_add(wg_mul(r[3 * j], p[0]), wg_mul(r[3 * j + 1], p[1])),
                             wg_mul(r[3 * j + 2], p[2])));
        out[j] = wg_let(t, wg_sub(wg_sub(point[j], turned), theta[3 + j]));
    }
    return WG_OK;
}

/* Forward, as it comes out, though it is wider than high: what does not depend on the point is
 * done once for all of them. */
static wg_function *jacobian(struct ht *h) {
    const unsigned data = WG_SHARED | WG_PASSIVE;
    const size_t corners = h->us ? 3 : 1, row = 4 + h->bones, matrices = 16 * h->bones;
    const wg_argument all[] = {
        {"theta", HAND_THETA, 1, WG_SHARED}, {"us", 2, 1, 0},
        {"relative", matrices, 1, data},     {"inverse", matrices, 1, data},
        {"point", 3, 1, WG_PASSIVE},         {"vertex", row, corners, WG_PASSIVE}};
    const wg_argument out[] = {{"x", 1, 1, 0}, {"y", 1, 1, 0}, {"z", 1, 1, 0}};
    wg_argument in[6];
    size_t inputs = 0;
    wg_function *f = NULL, *made = NULL;
    double *const at = malloc((HAND_THETA + 2 + 2 * matrices + 3 + row * corners) * sizeof *at);
    double *to = at;
    if (!at) return NULL;
    const double *const from[] = {h->theta, h->us, h->relative, h->inverse, h->points, NULL};
    for (size_t i = 0; i < 6; i++) {
        if (i == 1 && !h->us) continue;
        const size_t size = all[i].rows * all[i].cols;
        if (from[i]) memcpy(to, from[i], size * sizeof *to);
        else
            for (size_t k = 0; k < size; k++) to[k] = 1;
        in[inputs++] = all[i];
        to += size;
    }
    if (wg_function_record(h->t, distance, h, inputs, in, at, 3, out, &f) == WG_OK &&
        wg_function_jacobian(h->t, f, &made) != WG_OK)
        made = NULL;
    free(at);
    wg_function_free(f);
    return made;
}

static size_t columns(const struct ht *h) { return HAND_THETA + (h->us ? 2 : 0); }

static size_t entries(const struct ht *h) { return (4 + h->bones) * (h->us ? 3 : 1); }

/* With fewer vertices than correspondences of vertices, rows are made for the vertices. */
static int by_vertices(const struct ht *h) { return !h->us && h->vertices <= h->n; }

static int prepare_jacobian(void *job, struct gb_error *e) {
    struct ht *h = job;
    const size_t size = by_vertices(h) ? 3 * HAND_THETA * h->vertices
                                       : wg_threads_count(h->threads) * CHUNK * entries(h);
    h->jacobian = malloc(3 * h->n * columns(h) * sizeof *h->jacobian);
    h->work_rows = malloc(size * sizeof *h->work_rows);
    if (!h->jacobian || !h->work_rows)
        return gb_fail(e, "no memory for %zu correspondences", h->n);
    return gb_mapped_open(&h->rows, h->t, jacobian(h), h->threads, e);
}

/* Of so many points; where they were seen makes no difference. */
static wg_status evaluate(const struct ht *h, size_t part, size_t count, const double *us,
                          const double *vertex, double *to) {
    const ptrdiff_t step = 3 * (ptrdiff_t)columns(h);
    wg_points x[6];
    wg_results y[6];
    size_t inputs = 0, outputs = 0;
    x[inputs++] = (wg_points){h->theta, 0, 1};
    if (us) x[inputs++] = (wg_points){us, 2, 1};
    x[inputs++] = (wg_points){h->relative, 0, 1};
    x[inputs++] = (wg_points){h->inverse, 0, 1};
    x[inputs++] = (wg_points){NULL, 0, 0};
    x[inputs++] = (wg_points){vertex, (ptrdiff_t)entries(h), 1};
    for (int j = 0; j < 3; j++, to += columns(h)) { /* rows: by us, by theta */
        y[outputs++] = (wg_results){us ? to + 2 : to, step, 1};
        if (us) y[outputs++] = (wg_results){to, step, 1};
    }
    return wg_function_evaluate(h->rows.f, count, x, y, NULL,
                                (char *)h->rows.work + part * h->rows.bytes, NULL);
}

/* Correspondences, whose vertices are gathered. */
static wg_status gathered(void *ctx, size_t part, size_t first, size_t end) {
    const struct ht *const h = ctx;
    const size_t row = 4 + h->bones, size = entries(h), corners = h->us ? 3 : 1;
    double *const vertex = h->work_rows + part * CHUNK * size;
    wg_status s = WG_OK;
    while (first < end && s == WG_OK) {
        const size_t count = end - first < CHUNK ? end - first : CHUNK;
        for (size_t i = 0; i < count; i++) {
            const size_t to = h->to[first + i];
            for (size_t c = 0; c < corners; c++)
                memcpy(vertex + size * i + row * c,
                       h->vertex + row * (h->us ? h->triangle[3 * to + c] : to),
                       row * sizeof *vertex);
        }
        s = evaluate(h, part, count, h->us ? h->us + 2 * first : NULL, vertex,
                     h->jacobian + 3 * columns(h) * first);
        first += count;
    }
    return s;
}

static wg_status of_vertices(void *ctx, size_t part, size_t first, size_t end) {
    const struct ht *const h = ctx;
    return evaluate(h, part, end - first, NULL, h->vertex + entries(h) * first,
                    h->work_rows + 3 * HAND_THETA * first);
}

static wg_status handed_on(void *ctx, size_t part, size_t first, size_t end) {
    const struct ht *const h = ctx;
    const size_t size = 3 * HAND_THETA;
    (void)part;
    for (size_t i = first; i < end; i++)
        memcpy(h->jacobian + size * i, h->work_rows + size * h->to[i],
               size * sizeof *h->jacobian);
    return WG_OK;
}

static int run_jacobian(void *job, struct gb_error *e) {
    struct ht *h = job;
    wg_status s;
    if (by_vertices(h)) {
        s = gb_split(h->threads, h->vertices, GRAIN, of_vertices, h);
        if (s == WG_OK) s = gb_split(h->threads, h->n, GRAIN, handed_on, h);
    } else {
        s = gb_split(h->threads, h->n, GRAIN, gathered, h);
    }
    return gb_status(e, s, NULL);
}

static json_t *output_jacobian(const void *job) {
    const struct ht *h = job;
    return gb_array(h->jacobian, 2, (const size_t[]){3 * h->n, columns(h)});
}

const struct gb_module gb_ht = {
    .name = "ht",
    .read = read,
    .release = release,
    .functions = {{"objective", NULL, run_objective, output_objective},
                  {"jacobian", prepare_jacobian, run_jacobian, output_jacobian}},
};

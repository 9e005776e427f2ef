/* SPDX-License-Identifier: MIT */
/* evals_case.c - the inputs of evals as cases of the kernels in workloads/: for derivatives
 * written by hand, plain tapes, and peers. */
#include <math.h>

#include "evals.h"
#include "gradbench/gradbench.h"
#include "workloads/data.h"
#include "workloads/ht.h"
#include "workloads/mixture.h"

/* ---- numbers ----------------------------------------------------------------------------- */

/* rows arrays of cols numbers, or with rows 0 one of them, to `to`. 0 or -1. */
static int take(double *to, const json_t *input, const char *key, size_t rows, size_t cols) {
    struct gb_error e;
    double *x = gb_numbers(input, key, rows ? 2 : 1,
                           rows ? (size_t[]){rows, cols} : (size_t[]){cols}, &e);
    if (!x) return -1;
    memcpy(to, x, (rows ? rows : 1) * cols * sizeof *to);
    free(x);
    return 0;
}

static size_t whole(const json_t *input, const char *key) {
    return (size_t)json_integer_value(json_object_get(input, key));
}

static size_t length(const json_t *input, const char *key) {
    return json_array_size(json_object_get(input, key));
}

/* Of the first one in there. */
static size_t inner(const json_t *input, const char *key) {
    return json_array_size(json_array_get(json_object_get(input, key), 0));
}

/* ---- cases ------------------------------------------------------------------------------- */

static int fill_ba(struct bench_case *c, const json_t *input) {
    enum { CAMERA = 11 };
    const size_t cameras = whole(input, "n"), points = whole(input, "m");
    const size_t n = whole(input, "p");
    const double w = json_number_value(json_object_get(input, "w"));
    double *x, *feats, camera[CAMERA], point[3], feat[2];
    size_t *seen;
    if (bench_bundle_case(c, cameras, points, n, &x, &seen, &feats) ||
        take(camera, input, "cam", 0, CAMERA) || take(point, input, "x", 0, 3) ||
        take(feat, input, "feat", 0, 2))
        return -1;
    for (size_t i = 0; i < CAMERA * cameras; i++) *x++ = camera[i % CAMERA];
    for (size_t i = 0; i < 3 * points; i++) *x++ = point[i % 3];
    for (size_t i = 0; i < n; i++) {
        *x++ = w;
        seen[2 * i] = i % cameras;
        seen[2 * i + 1] = i % points;
        memcpy(feats + 2 * i, feat, sizeof feat);
    }
    c->size = n;
    return 0;
}

static int fill_det(struct bench_case *c, const json_t *input) {
    const size_t n = whole(input, "ell");
    double *a;
    return bench_det_case(c, n, &a) || take(a, input, "A", 0, n * n);
}

static int fill_gmm(struct bench_case *c, const json_t *input) {
    const size_t d = whole(input, "d"), k = whole(input, "k"), n = whole(input, "n");
    const size_t below = d * (d - 1) / 2, size = d + below;
    double *x, *points;
    if (bench_mixture_case(c, d, k, n, json_number_value(json_object_get(input, "gamma")),
                           (int)whole(input, "m"), -1, &x, &points) ||
        take(points, input, "x", n, d) || take(x, input, "alpha", 0, k) ||
        take(x + k, input, "mu", k, d))
        return -1;
    double *const q = malloc(k * size * sizeof *q), *const l = q + k * d;
    const int failed = !q || take(q, input, "q", k, d) || take(l, input, "l", k, below);
    for (size_t i = 0; i < k && !failed; i++) { /* of a component both, one after the other */
        memcpy(x + k + k * d + i * size, q + i * d, d * sizeof *x);
        memcpy(x + k + k * d + i * size + d, l + i * below, below * sizeof *x);
    }
    free(q);
    c->size = n;
    return failed;
}

static int fill_kmeans(struct bench_case *c, const json_t *input) {
    const size_t n = length(input, "points"), k = length(input, "centroids");
    const size_t d = inner(input, "points");
    double *x, *points;
    return bench_kmeans_case(c, n, k, d, &x, &points) || take(x, input, "centroids", k, d) ||
           take(points, input, "points", n, d);
}

static int fill_llsq(struct bench_case *c, const json_t *input) {
    const size_t m = length(input, "x");
    double *x;
    return bench_llsq_case(c, m, whole(input, "n"), &x) || take(x, input, "x", 0, m);
}

static int fill_lse(struct bench_case *c, const json_t *input) {
    const size_t n = length(input, "x");
    double *x;
    return bench_lse_case(c, n, &x) || take(x, input, "x", 0, n);
}

static int fill_lstm(struct bench_case *c, const json_t *input) {
    const size_t layers = length(input, "main_params") / 2, chars = length(input, "sequence");
    const size_t b = inner(input, "extra_params");
    double *x, *state, *sequence;
    c->size = chars;
    return bench_lstm_case(c, layers, chars, b, &x, &state, &sequence) ||
           take(x, input, "main_params", 2 * layers, 4 * b) ||
           take(x + 8 * layers * b, input, "extra_params", 3, b) ||
           take(state, input, "state", 2 * layers, b) ||
           take(sequence, input, "sequence", chars, b);
}

static int fill_ode(struct bench_case *c, const json_t *input) {
    const size_t n = length(input, "x");
    double *x;
    return bench_ode_case(c, n, whole(input, "s"), &x) || take(x, input, "x", 0, n);
}

/* ---- hand tracking ----------------------------------------------------------------------- */

/* The number among the moving bones; HT_MOVING: it does not move. */
static size_t moving(size_t bone) {
    const size_t joint = (bone + 3) % 4;
    return bone == 0 || bone > 4 * HT_FINGERS || joint == 0
               ? HT_MOVING
               : HT_JOINTS * ((bone - 1) / 4) + joint - 1;
}

/* Three rows of the matrix; the last one is 0 0 0 1. 0 or -1. */
static int take_place(double *to, const json_t *list, size_t i) {
    const json_t *rows = json_array_get(list, i);
    for (size_t k = 0; k < 16; k++) {
        const double a = json_number_value(json_array_get(json_array_get(rows, k / 4), k % 4));
        if (k < 12) to[k] = a;
        else if (a != (k == 15)) return -1;
    }
    return 0;
}

struct hand {
    double *base, *relative, *inverse, *positions, *weights, *still;
};

static void add_weighted(double *to, double w, const double *m, const double *x) {
    for (size_t j = 0; j < 3; j++, m += 4)
        to[j] += w * (m[0] * x[0] + m[1] * x[1] + m[2] * x[2] + m[3]);
}

/* Bones that do not move, times what they do to each vertex; the others as they are. */
static int fill_bones(const struct hand *h, const json_t *model, size_t bones,
                      size_t vertices) {
    const json_t *relatives = json_object_get(model, "base_relatives");
    const json_t *inverses = json_object_get(model, "inverse_base_absolutes");
    const json_t *parents = json_object_get(model, "parents");
    double(*const at)[12] = calloc(bones, sizeof *at), place[12], back[12], whole_way[12];
    double *const w = calloc(vertices * bones, sizeof *w);
    int failed = !at || !w || take(w, model, "weights", vertices, bones);
    for (size_t i = 0; i < bones && !failed; i++) {
        const json_int_t parent = json_integer_value(json_array_get(parents, i));
        const size_t m = moving(i);
        failed = take_place(place, relatives, i) || take_place(back, inverses, i) ||
                 parent >= (json_int_t)i;
        if (failed) break;
        if (m < HT_MOVING) { /* its place is found from that of the bone before */
            failed = parent != (json_int_t)i - 1;
            memcpy(h->relative + 12 * m, place, sizeof place);
            memcpy(h->inverse + 12 * m, back, sizeof back);
            for (size_t v = 0; v < vertices; v++)
                h->weights[HT_MOVING * v + m] = w[bones * v + i];
            continue;
        }
        if (parent >= 0) failed = moving((size_t)parent) < HT_MOVING;
        if (parent >= 0) ht_multiply(at[parent], place, at[i]);
        else memcpy(at[i], place, sizeof place);
        if (i > 0 && i <= 4 * HT_FINGERS)
            memcpy(h->base + 12 * ((i - 1) / 4), at[i], sizeof *at);
        ht_multiply(at[i], back, whole_way);
        for (size_t v = 0; v < vertices; v++)
            add_weighted(h->still + 3 * v, w[bones * v + i], whole_way, h->positions + 3 * v);
    }
    free(at);
    free(w);
    return failed;
}

static int fill_ht(struct bench_case *c, const json_t *input) {
    const json_t *data = json_object_get(input, "data"),
                 *model = json_object_get(data, "model");
    const size_t bones = whole(model, "bone_count"), n = length(data, "points");
    const size_t vertices = length(model, "base_positions"), us = length(input, "us");
    const size_t corners = us ? 3 : 1;
    struct ht_params *p = bench_alloc(c, 1, sizeof *p);
    const struct hand h = {
        bench_doubles(c, 12 * HT_FINGERS),      bench_doubles(c, 12 * HT_MOVING),
        bench_doubles(c, 12 * HT_MOVING),       bench_doubles(c, 3 * vertices),
        bench_doubles(c, HT_MOVING * vertices), bench_doubles(c, 3 * vertices)};
    double *x = bench_doubles(c, HT_THETA + 2 * us), *points = bench_doubles(c, 3 * n);
    size_t *corner = bench_alloc(c, corners * n, sizeof *corner);
    if (!p || !h.base || !h.relative || !h.inverse || !h.positions || !h.weights || !h.still ||
        !x || !points || !corner || take(x, input, "theta", 0, HT_THETA) ||
        take(points, data, "points", n, 3) || (us && take(x + HT_THETA, input, "us", n, 2)))
        return -1;
    for (size_t k = 0; k < 4 * vertices; k++) {
        const json_t *row = json_array_get(json_object_get(model, "base_positions"), k / 4);
        const double a = json_number_value(json_array_get(row, k % 4));
        if (k % 4 < 3) h.positions[k / 4 * 3 + k % 4] = a;
        else if (a != 1) return -1;
    }
    for (size_t k = 0; k < corners * n; k++) {
        const json_t *to =
            json_array_get(json_object_get(data, "correspondences"), k / corners);
        if (us)
            to = json_array_get(json_array_get(json_object_get(model, "triangles"),
                                               (size_t)json_integer_value(to)),
                                k % 3);
        corner[k] = (size_t)json_integer_value(to);
        if (corner[k] >= vertices) return -1;
    }
    if (fill_bones(&h, model, bones, vertices)) return -1;
    *p =
        (struct ht_params){vertices,        n,
                           us ? HT_OWN : 0, json_is_true(json_object_get(model, "is_mirrored")),
                           h.base,          h.relative,
                           h.inverse,       h.positions,
                           h.weights,       h.still,
                           points,          x + HT_THETA,
                           corner};
    c->size = n;
    c->n = HT_THETA + 2 * us;
    c->m = 3 * n;
    c->entries = c->m * (HT_THETA + p->own);
    c->work = 12 * HT_MOVING + 9;
    c->x = x;
    c->params = p;
    return 0;
}

/* ---- derivatives, as the evals give them ------------------------------------------------- */

static size_t as_it_is(const struct bench_case *c, const double *entries, double *out) {
    memcpy(out, entries, c->entries * sizeof *out);
    return c->entries;
}

/* Two rows of the first observation, the weight of the last one. */
static size_t arrange_ba(const struct bench_case *c, const double *entries, double *out) {
    enum { ROWS = 30 };
    memcpy(out, entries, ROWS * sizeof *out);
    out[ROWS] = entries[c->entries - 1];
    return ROWS + 1;
}

/* All diagonals before what is below them. */
static size_t arrange_gmm(const struct bench_case *c, const double *entries, double *out) {
    const struct mixture_params *p = (const struct mixture_params *)c->params;
    const size_t d = p->d, k = p->k, below = d * (d - 1) / 2, size = d + below;
    const double *from = entries + k + k * d;
    double *q = out + k + k * d, *l = q + k * d;
    memcpy(out, entries, (k + k * d) * sizeof *out);
    for (size_t i = 0; i < k; i++, from += size, q += d, l += below) {
        memcpy(q, from, d * sizeof *out);
        memcpy(l, from + d, below * sizeof *out);
    }
    return c->entries;
}

static const struct eval_kernel kernels[] = {
    {"ba", BENCH_bundle, fill_ba, arrange_ba},
    {"det", BENCH_det, fill_det, as_it_is},
    {"gmm", BENCH_mixture, fill_gmm, arrange_gmm},
    {"ht_simple", BENCH_ht_simple, fill_ht, as_it_is},
    {"ht_complicated", BENCH_ht_complicated, fill_ht, as_it_is},
    {"kmeans", BENCH_kmeans, fill_kmeans, as_it_is},
    {"llsq", BENCH_llsq, fill_llsq, as_it_is},
    {"lse", BENCH_lse, fill_lse, as_it_is},
    {"lstm", BENCH_lstm, fill_lstm, as_it_is},
    {"ode", BENCH_ode, fill_ode, as_it_is},
};

const struct eval_kernel *eval_kernel(const char *eval) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].eval, eval) == 0) return &kernels[i];
    return NULL;
}

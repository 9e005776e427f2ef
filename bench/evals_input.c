/* SPDX-License-Identifier: MIT */
/* evals_input.c - inputs for the evals of GradBench: members and shapes as its
 * evals/NAME/README.md say, numbers of our own. */
#include "evals.h"

#include <math.h>
#include <string.h>

#include "workloads/data.h"

/* rows arrays of n uniform numbers; without rows one array. */
static json_t *numbers(uint64_t *seed, size_t rows, size_t n, double low, double high) {
    json_t *out = json_array();
    for (size_t i = 0; i < (rows ? rows : n); i++)
        json_array_append_new(out, rows ? numbers(seed, 0, n, low, high)
                                        : json_real(bench_uniform(seed, low, high)));
    return out;
}

json_t *eval_hello(size_t size) { return json_real(1.25 * (double)size); }
json_t *eval_particle(size_t size) {
    (void)size;
    return json_pack("{s:f}", "w", 0.0);
}
json_t *eval_saddle(size_t size) {
    (void)size;
    return json_pack("{s:[f, f]}", "start", 1.0, 1.0);
}

json_t *eval_det(size_t size) {
    uint64_t seed = 21;
    return json_pack("{s:o, s:I}", "A", numbers(&seed, 0, size * size, 0, 1), "ell",
                     (json_int_t)size);
}

json_t *eval_llsq(size_t size) {
    enum { UNKNOWNS = 128 };
    uint64_t seed = 22;
    return json_pack("{s:o, s:I}", "x", numbers(&seed, 0, UNKNOWNS, 0, 1), "n",
                     (json_int_t)size);
}

json_t *eval_lse(size_t size) {
    uint64_t seed = 23;
    return json_pack("{s:o}", "x", numbers(&seed, 0, size, 0, 1));
}

/* As many steps as reach the last component for every size that is asked for. */
json_t *eval_ode(size_t size) {
    enum { STEPS = 100 };
    uint64_t seed = 24;
    return json_pack("{s:o, s:i}", "x", numbers(&seed, 0, size, 0, 1), "s", STEPS);
}

json_t *eval_gmm(size_t size) {
    const size_t d = size < 100 ? 3 : 10, k = size < 100 ? 4 : 25;
    uint64_t seed = 25;
    return json_pack("{s:I, s:I, s:I, s:i, s:f, s:o, s:o, s:o, s:o, s:o}", "d", (json_int_t)d,
                     "k", (json_int_t)k, "n", (json_int_t)size, "m", 2, "gamma", 0.8, "x",
                     numbers(&seed, size, d, -2, 2), "alpha", numbers(&seed, 0, k, -1, 1), "mu",
                     numbers(&seed, k, d, -1, 1), "q", numbers(&seed, k, d, -1, 1), "l",
                     numbers(&seed, k, d * (d - 1) / 2, -1, 1));
}

json_t *eval_lstm(size_t size) {
    const size_t layers = 2, bits = size < 100 ? 5 : 14;
    uint64_t seed = 26;
    return json_pack(
        "{s:o, s:o, s:o, s:o}", "main_params", numbers(&seed, 2 * layers, 4 * bits, 0, 1),
        "extra_params", numbers(&seed, 3, bits, 0, 1), "state",
        numbers(&seed, 2 * layers, bits, 0, 1), "sequence", numbers(&seed, size, bits, 0, 1));
}

/* Points around the corners of a lattice, a centroid near each: no point changes its centroid
 * where a centroid is moved by a little. */
json_t *eval_kmeans(size_t size) {
    enum { D = 8 };
    const size_t k = size < 100 ? 3 : 10;
    uint64_t seed = 27;
    json_t *points = json_array(), *centroids = json_array();
    for (size_t i = 0; i < size + k; i++) {
        const double apart = i < size ? 0.25 : 0.02;
        json_t *one = json_array();
        for (size_t j = 0; j < D; j++)
            json_array_append_new(one,
                                  json_real((double)((i - (i < size ? 0 : size)) % k >> j & 1) +
                                            bench_uniform(&seed, -apart, apart)));
        json_array_append_new(i < size ? points : centroids, one);
    }
    return json_pack("{s:o, s:o}", "points", points, "centroids", centroids);
}

json_t *eval_ba(size_t size) {
    const size_t cameras = size < 100 ? 3 : 49, points = size < 100 ? 7 : 7776;
    uint64_t seed = 28;
    json_t *camera = numbers(&seed, 0, 3, -0.6, 0.6);
    static const double rest[] = {0.3, -0.5, 0.8, 420, 7, -4, 0.05, -0.02};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        json_array_append_new(camera, json_real(rest[i]));
    return json_pack("{s:I, s:I, s:I, s:o, s:[f, f, f], s:f, s:[f, f]}", "n",
                     (json_int_t)cameras, "m", (json_int_t)points, "p", (json_int_t)size, "cam",
                     camera, "x", 0.4, -0.7, 6.0, "w", 0.75, "feat", 60.0, -110.0);
}

/* ---- hand tracking ----------------------------------------------------------------------- */

enum { FINGERS = 5, JOINTS = 4, BONES = 2 + FINGERS * JOINTS, THETA = 26 };

/* A bone's place beside its parent's: turned about z, then moved. Its inverse is the transposed
 * turn after the opposite move. 4 by 4, row by row. */
static void place(double angle, const double *move, double *a) {
    const double c = cos(angle), s = sin(angle);
    const double rows[16] = {c, -s, 0, move[0], s, c, 0, move[1], 0, 0, 1, move[2], 0, 0, 0, 1};
    memcpy(a, rows, sizeof rows);
}

static void inverse(const double *a, double *b) {
    for (size_t i = 0; i < 3; i++) {
        b[4 * i + 3] = 0;
        for (size_t j = 0; j < 3; j++) {
            b[4 * i + j] = a[4 * j + i];
            b[4 * i + 3] -= a[4 * j + i] * a[4 * j + 3];
        }
        b[12 + i] = 0;
    }
    b[15] = 1;
}

static void multiply(const double *a, const double *b, double *c) {
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            c[4 * i + j] = 0;
            for (size_t k = 0; k < 4; k++) c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
        }
}

static json_t *matrix(const double *a) {
    json_t *out = json_array();
    for (size_t i = 0; i < 4; i++)
        json_array_append_new(
            out, json_pack("[f, f, f, f]", a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3]));
    return out;
}

/* A wrist, five fingers of four bones each, a forearm; each vertex hangs on two bones. */
static json_t *hand(uint64_t *seed, size_t vertices) {
    json_t *names = json_array(), *parents = json_array(), *relatives = json_array();
    json_t *inverses = json_array(), *positions = json_array(), *weights = json_array();
    json_t *triangles = json_array();
    double relative[16], absolute[BONES][16], back[16];
    char name[24];
    for (int i = 0; i < BONES; i++) {
        const int parent = i == 0 ? -1 : i == BONES - 1 || i % JOINTS == 1 ? 0 : i - 1;
        double move[3];
        for (int j = 0; j < 3; j++) move[j] = bench_uniform(seed, 0.1, 0.6);
        place(bench_uniform(seed, -0.5, 0.5), move, relative);
        if (parent < 0) memcpy(absolute[i], relative, sizeof relative);
        else multiply(absolute[parent], relative, absolute[i]);
        inverse(absolute[i], back);
        snprintf(name, sizeof name, "bone %d", i);
        json_array_append_new(names, json_string(name));
        json_array_append_new(parents, json_integer(parent));
        json_array_append_new(relatives, matrix(relative));
        json_array_append_new(inverses, matrix(back));
    }
    for (size_t i = 0; i < vertices; i++) {
        json_t *position = numbers(seed, 0, 3, -1, 1), *weight = json_array();
        const double part = bench_uniform(seed, 0.3, 0.9);
        json_array_append_new(position, json_real(1));
        for (size_t b = 0; b < BONES; b++)
            json_array_append_new(weight, json_real(b == i % BONES         ? part
                                                    : b == (i + 5) % BONES ? 1 - part
                                                                           : 0));
        json_array_append_new(positions, position);
        json_array_append_new(weights, weight);
        json_array_append_new(triangles, json_pack("[I, I, I]", (json_int_t)i,
                                                   (json_int_t)((i + 1) % vertices),
                                                   (json_int_t)((i + 7) % vertices)));
    }
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "bone_count", BONES,
                     "bone_names", names, "parents", parents, "base_relatives", relatives,
                     "inverse_base_absolutes", inverses, "base_positions", positions, "weights",
                     weights, "triangles", triangles, "is_mirrored", 0);
}

static json_t *tracking(size_t size, int complicated) {
    const size_t vertices = size < 50 ? 30 : 500;
    uint64_t seed = 29;
    json_t *seen = json_array();
    for (size_t i = 0; i < size; i++)
        json_array_append_new(seen, json_integer((json_int_t)(7 * i % vertices)));
    return json_pack("{s:o, s:{s:o, s:o, s:o}, s:o}", "theta",
                     numbers(&seed, 0, THETA, -0.4, 0.4), "data", "model",
                     hand(&seed, vertices), "correspondences", seen, "points",
                     numbers(&seed, size, 3, -1, 1), "us",
                     complicated ? numbers(&seed, size, 2, 0, 0.5) : json_array());
}

json_t *eval_ht_simple(size_t size) { return tracking(size, 0); }
json_t *eval_ht_complicated(size_t size) { return tracking(size, 1); }

/* SPDX-License-Identifier: MIT */
/* Evals of the tool for GradBench that map a function over data: ba, gmm, kmeans, ht, against
 * stored references and what is known of their derivatives otherwise. */
#define _DEFAULT_SOURCE /* setenv */
#include <float.h>
#include <math.h>

#include "gradbench_ask.h"
#include "oracle_text.h"
#include "tolerance.h"

/* Calls f for each case of that name; gives their number. */
static size_t each_case(const char *file, const char *name,
                        void (*f)(const struct oracle_case *c)) {
    FILE *in = fopen(file, "r");
    struct oracle_case c;
    size_t found = 0;
    int more;
    assert_non_null(in);
    while ((more = oracle_case_read(in, &c)) == 1) {
        if (strcmp(c.name, name) == 0) {
            f(&c);
            found++;
        }
        oracle_case_free(&c);
    }
    assert_int_equal(more, 0);
    (void)fclose(in);
    return found;
}

static const double *array(const struct oracle_case *c, const char *role, const char *key) {
    return oracle_case_array(c, role, key)->v;
}

static size_t size(const struct oracle_case *c, const char *key) {
    return (size_t)atoi(oracle_case_param(c, key));
}

/* Those of a member of the output. */
static void member(const json_t *response, const char *key, size_t n, double *y) {
    const json_t *output = json_object_get(response, "output");
    if (!output) fail_msg("%s", json_string_value(json_object_get(response, "error")));
    assert_int_equal(append(json_object_get(output, key), y, n), n);
}

static json_t *matrix(size_t rows, size_t cols, const double *x) {
    return matrix_of(rows, cols, x);
}

static json_t *indices(size_t n, const double *x) {
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(out, json_integer((json_int_t)x[i]));
    return out;
}

/* ---- kmeans ---- */

enum { K = 60, N = 700, D = 5 };

static json_t *kmeans_input(size_t n, size_t k, size_t d, const double *x, const double *c) {
    return json_pack("{s:o, s:o}", "points", matrix(n, d, x), "centroids", matrix(k, d, c));
}

/* The step goes to the means: c - sum/count; the cost. */
static double kmeans(size_t n, size_t k, size_t d, const double *x, const double *c,
                     double *step) {
    long double cost = 0;
    double count[K] = {0};
    memset(step, 0, k * d * sizeof *step);
    for (size_t i = 0; i < n; i++) {
        double least = INFINITY;
        size_t closest = 0;
        for (size_t j = 0; j < k; j++) {
            double s = 0;
            for (size_t l = 0; l < d; l++)
                s += (x[i * d + l] - c[j * d + l]) * (x[i * d + l] - c[j * d + l]);
            if (s < least) least = s, closest = j;
        }
        cost += least;
        count[closest]++;
        for (size_t l = 0; l < d; l++)
            step[closest * d + l] += c[closest * d + l] - x[i * d + l];
    }
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < d; l++) step[j * d + l] /= count[j];
    return (double)cost;
}

static void the_step_of_kmeans_goes_to_the_means(void **state) {
    (void)state;
    static const size_t sizes[][3] = {{1, 1, 1}, {9, 2, 1}, {100, 7, 3}, {N, K, D}};
    static double x[N * D], step[K * D], want[K * D];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int far = 0; far < 2;
             far++) { /* 1000 from the origin, where digits could be lost */
            const size_t n = sizes[s][0], k = sizes[s][1], d = sizes[s][2];
            const double *const c = x + (n - k) * d; /* the last points: none is without one */
            double y;
            draw_numbers(n * d, x, 0, 1);
            for (size_t i = 0; far && i < n * d; i++) x[i] += 1024;
            const double cost = kmeans(n, k, d, x, c, want);
            answers("kmeans", "cost", kmeans_input(n, k, d, x, c), 1, 1, 1, &y);
            near(1, &y, &cost, TOL_PROGRAM_ULP);
            answers("kmeans", "dir", kmeans_input(n, k, d, x, c), 2, 1, k * d, step);
            /* of steps up to 1; sums of up to N points */
            for (size_t i = 0; i < k * d; i++)
                if (!(fabs(step[i] - want[i]) <=
                      (far ? 1024 : 1) * TOL_PROGRAM_ULP * DBL_EPSILON))
                    fail_msg("%zu: %.17g, not %.17g", i, step[i], want[i]);
        }
}

static void points_between_centroids_belong_to_both(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, c[] = {0, 2};
    const double want[] = {0 - 0.5 / 1.5, 2 - 2.5 / 1.5};
    double step[2];
    answers("kmeans", "dir", kmeans_input(3, 2, 1, x, c), 1, 1, 2, step);
    near(2, step, want, TOL_DERIVATIVE_ULP);
}

/* ---- gmm ---- */

struct mixture {
    size_t d, k, n, m;
    double gamma;
    const double *x, *alpha, *mu, *q, *l; /* q: rows of d */
};

static size_t below(const struct mixture *s) { return s->d * (s->d - 1) / 2; }

static json_t *gmm_input(const struct mixture *s) {
    return json_pack("{s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o}", "d",
                     (json_int_t)s->d, "k", (json_int_t)s->k, "n", (json_int_t)s->n, "m",
                     (json_int_t)s->m, "gamma", s->gamma, "x", matrix(s->n, s->d, s->x),
                     "alpha", array_of(s->k, s->alpha), "mu", matrix(s->k, s->d, s->mu), "q",
                     matrix(s->k, s->d, s->q), "l", matrix(s->k, below(s), s->l));
}

/* The gradient as alpha, mu, q, l, one after the other. */
static void gmm_gradient(const struct mixture *s, int runs, unsigned threads, double *g) {
    json_t *r = ask("gmm", "jacobian", gmm_input(s), runs, threads);
    const size_t kd = s->k * s->d;
    member(r, "alpha", s->k, g);
    member(r, "mu", kd, g + s->k);
    member(r, "q", kd, g + s->k + kd);
    member(r, "l", s->k * below(s), g + s->k + 2 * kd);
    json_decref(r);
}

/* The stored cases have the prior with the other sign: it is taken away twice. */
static void check_mixture(const struct oracle_case *c) {
    struct mixture s = {.d = size(c, "d"),
                        .k = size(c, "k"),
                        .n = size(c, "N"),
                        .m = size(c, "wishart_m"),
                        .x = array(c, "data", "data")};
    s.gamma = atof(oracle_case_param(c, "gamma"));
    const size_t kd = s.k * s.d, low = below(&s), n = s.k + 2 * kd + s.k * low;
    const double *const in = array(c, "in", "x"), *const ref = array(c, "ref", "grad");
    double *const q = malloc(4 * n * sizeof *q), *const l = q + n, *const want = l + n;
    double *const g = want + n, f = *array(c, "ref", "F"), y;
    const double dof = (double)(s.d + s.m + 1);
    double log_gamma = 0.25 * (double)(s.d * (s.d - 1)) * log(acos(-1));
    assert_int_equal(oracle_case_array(c, "in", "x")->count, n);
    for (size_t j = 0; j < s.d; j++) log_gamma += lgamma(0.5 * (dof - (double)j));
    f += 2 * (double)s.k * (dof * (double)s.d * log(s.gamma / sqrt(2)) - log_gamma);
    for (size_t i = 0; i < s.k + kd; i++) want[i] = ref[i];
    for (size_t i = 0; i < s.k; i++) {
        const size_t at = s.k + kd + i * (s.d + low);
        for (size_t j = 0; j < s.d + low; j++) {
            const double v = in[at + j], e = j < s.d ? exp(v) : v, g2 = s.gamma * s.gamma;
            double *const to = j < s.d ? q + i * s.d + j : l + i * low + j - s.d;
            double *const slope = want + s.k + kd + (to == q + i * s.d + j ? 0 : kd);
            *to = v;
            slope[j < s.d ? i * s.d + j : i * low + j - s.d] =
                ref[at + j] - 2 * (j < s.d ? g2 * e * e - (double)s.m : g2 * e);
            f -= g2 * e * e - (j < s.d ? 2 * (double)s.m * v : 0);
        }
    }
    s.alpha = in;
    s.mu = in + s.k;
    s.q = q;
    s.l = l;
    answers("gmm", "objective", gmm_input(&s), 1, 1, 1, &y);
    near(1, &y, &f, TOL_PROGRAM_ULP);
    gmm_gradient(&s, 2, 1, g);
    near(n, g, want, TOL_PROGRAM_ULP);
    free(q);
}

static void gmm_is_that_of_the_oracle(void **state) {
    (void)state;
    assert_int_equal(each_case("test/data/adbench_like.txt", "gmm_adbench", check_mixture), 5);
}

/* Q y */
static void factor_times(const struct mixture *s, size_t c, const double *y, double *z) {
    const double *l = s->l + c * below(s);
    for (size_t j = 0; j < s->d; j++) z[j] = exp(s->q[c * s->d + j]) * y[j];
    for (size_t i = 0; i < s->d; i++)
        for (size_t j = i + 1; j < s->d; j++) z[j] += *l++ * y[i];
}

/* By hand: with z = Q (x - mu) and the share w of a component, w times 1, Q^T z, 1 - z z_i. */
static void gmm_by_hand(const struct mixture *s, double *g) {
    const size_t d = s->d, k = s->k, low = below(s);
    double *const dmu = g + k, *const dq = dmu + k * d, *const dl = dq + k * d;
    double *const beta = malloc((k + 2 * k * d) * sizeof *beta), *const y = beta + k;
    double *const z = y + k * d, top, sum;
    memset(g, 0, (k + 2 * k * d + k * low) * sizeof *g);
    for (size_t i = 0; i <= s->n; i++) { /* and at the end the weights */
        top = -INFINITY;
        sum = 0;
        for (size_t c = 0; c < k; c++) {
            beta[c] = s->alpha[c];
            for (size_t j = 0; i < s->n && j < d; j++) {
                y[c * d + j] = s->x[i * d + j] - s->mu[c * d + j];
                beta[c] += s->q[c * d + j];
            }
            if (i < s->n) factor_times(s, c, y + c * d, z + c * d);
            for (size_t j = 0; i < s->n && j < d; j++)
                beta[c] -= 0.5 * z[c * d + j] * z[c * d + j];
            top = fmax(top, beta[c]);
        }
        for (size_t c = 0; c < k; c++) sum += beta[c] = exp(beta[c] - top);
        for (size_t c = 0; c < k; c++) {
            const double w = beta[c] / sum * (i < s->n ? 1 : -(double)s->n);
            const double *const yc = y + c * d, *const zc = z + c * d;
            g[c] += w;
            for (size_t a = 0, next = 0; i < s->n && a < d; a++) {
                const double e = exp(s->q[c * d + a]);
                dmu[c * d + a] += w * e * zc[a];
                dq[c * d + a] += w * (1 - e * zc[a] * yc[a]);
                for (size_t b = a + 1; b < d; b++, next++) {
                    dmu[c * d + a] += w * s->l[c * low + next] * zc[b];
                    dl[c * low + next] -= w * zc[b] * yc[a];
                }
            }
        }
    }
    for (size_t i = 0; i < k * d; i++)
        dq[i] += (double)s->m - s->gamma * s->gamma * exp(2 * s->q[i]);
    for (size_t i = 0; i < k * low; i++) dl[i] -= s->gamma * s->gamma * s->l[i];
    free(beta);
}

/* As many entries as there are matrices for, and hardly fewer; one dimension. */
static void gmm_is_the_same_by_functions_and_by_matrices(void **state) {
    (void)state;
    static const size_t sizes[][3] = {{16, 150, 9}, {15, 30, 40}, {40, 30, 12}, {1, 3, 20}};
    for (size_t r = 0; r < sizeof sizes / sizeof *sizes; r++) {
        struct mixture s = {sizes[r][0], sizes[r][1], sizes[r][2], 2, 1.25, 0, 0, 0, 0, 0};
        const size_t kd = s.k * s.d, n = s.k + 2 * kd + s.k * below(&s);
        double *const in = malloc((3 * n + s.n * s.d) * sizeof *in), *const g = in + n;
        double *const want = g + n, *const x = want + n;
        draw_numbers(n, in, -0.5, 0.5);
        draw_numbers(s.n * s.d, x, 9, 11);
        for (size_t i = 0; i < kd; i++) in[s.k + i] += 10; /* means beside the points */
        s.x = x;
        s.alpha = in;
        s.mu = in + s.k;
        s.q = s.mu + kd;
        s.l = s.q + kd;
        gmm_by_hand(&s, want);
        gmm_gradient(&s, 2, 1, g);
        near(n, g, want, TOL_PROBLEM_ULP);
        free(in);
    }
}

/* ---- ba ---- */

static json_t *ba_input(size_t n, size_t m, size_t p, const double *cam, const double *x,
                        double w, const double *feat) {
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:f, s:o}", "n", (json_int_t)n, "m",
                     (json_int_t)m, "p", (json_int_t)p, "cam", array_of(11, cam), "x",
                     array_of(3, x), "w", w, "feat", array_of(2, feat));
}

enum { ROW = 15, ENTRIES = 2 * ROW + 1 };

static void ba_jacobian(json_t *input, unsigned threads, size_t rows, double *row, double *col,
                        double *val) {
    json_t *r = ask("ba", "jacobian", input, 2, threads);
    member(r, "rows", rows, row);
    member(r, "cols", ENTRIES, col);
    member(r, "vals", ENTRIES, val);
    json_decref(r);
}

/* An observation of a case as an input of its own. */
static void check_observation(const struct oracle_case *c, size_t i) {
    const size_t cams = size(c, "cams"), points = size(c, "points");
    const double *const in = array(c, "in", "x"), *const obs = array(c, "data", "obs");
    const struct oracle_array *const vals = oracle_case_array(c, "ref", "jac_vals");
    const double *const rows = array(c, "ref", "jac_rows"), *const f = array(c, "ref", "F");
    const double *const cols = array(c, "ref", "jac_cols");
    const size_t camera = (size_t)obs[2 * i], point = (size_t)obs[2 * i + 1];
    const size_t weights = 11 * cams + 3 * points,
                 n = oracle_case_array(c, "ref", "F")->count / 3;
    const double *const cam = in + 11 * camera, *const x = in + 11 * cams + 3 * point;
    const double *const feat = array(c, "data", "feats") + 2 * i, w = in[weights + i];
    double want[ENTRIES] = {0}, row[4], col[ENTRIES], val[ENTRIES], err[2], own;
    for (size_t k = 0; k < vals->count; k++) {
        const size_t r = (size_t)rows[k], j = (size_t)cols[k];
        if (r / 2 == i && r < 2 * n)
            want[r % 2 * ROW + (j >= weights     ? 14
                                : j >= 11 * cams ? 11 + (j - 11 * cams) % 3
                                                 : j % 11)] = vals->v[k];
        if (r == 2 * n + i) want[ENTRIES - 1] = vals->v[k];
    }
    ba_jacobian(ba_input(1, 1, 1, cam, x, w, feat), 1, 4, row, col, val);
    near(ENTRIES, val, want, TOL_PROGRAM_ULP);
    for (int k = 0; k < 3; k++) assert_true(row[k] == ROW * k);
    assert_true(row[3] == ENTRIES);
    for (size_t k = 0; k < ENTRIES - 1; k++) assert_true(col[k] == (double)(k % ROW));
    json_t *r = ask("ba", "objective", ba_input(1, 1, 1, cam, x, w, feat), 1, 1);
    const json_t *const output = json_object_get(r, "output");
    const json_t *const reproj = json_object_get(output, "reproj_error");
    const json_t *const deviation = json_object_get(output, "w_err");
    assert_int_equal(append(json_object_get(reproj, "elements"), err, 2), 2);
    assert_int_equal(append(json_object_get(deviation, "element"), &own, 1), 1);
    near(2, err, f + 2 * i, TOL_PROGRAM_ULP);
    near(1, &own, f + 2 * n + i, TOL_PROGRAM_ULP);
    assert_int_equal(json_integer_value(json_object_get(reproj, "repeated")), 1);
    assert_int_equal(json_integer_value(json_object_get(deviation, "repeated")), 1);
    json_decref(r);
}

static void check_bundle(const struct oracle_case *c) {
    const size_t n = oracle_case_array(c, "ref", "F")->count / 3;
    for (size_t i = 0; i < n; i++) check_observation(c, i);
}

static void ba_is_that_of_the_oracle(void **state) {
    (void)state;
    assert_int_equal(each_case("test/data/adbench_like.txt", "ba", check_bundle), 2);
}

static const double camera[] = {0.3, -0.2, 0.5, 0.1, 0.2, -0.3, 500, 1, 2, 0.01, -0.02};
static const double place[] = {0.1, 0.3, 5}, seen[] = {10, -20};

/* More observations than are gathered at a time; the last row is that of a later weight. */
static void observations_stand_in_rows(void **state) {
    (void)state;
    enum { CAMERAS = 3, POINTS = 7, MANY = 5000 };
    double row[ENTRIES], col[ENTRIES], val[ENTRIES], few_row[4], few_col[ENTRIES];
    double few[ENTRIES];
    ba_jacobian(ba_input(1, 1, 1, camera, place, 0.75, seen), 1, 4, few_row, few_col, few);
    ba_jacobian(ba_input(CAMERAS, POINTS, MANY, camera, place, 0.75, seen), 1, ENTRIES, row,
                col, val);
    assert_memory_equal(val, few, sizeof few);
    for (int k = 0; k < ENTRIES - 1; k++) {
        const int in_row = k % ROW;
        assert_true(row[k] == ROW * k);
        assert_true(col[k] == (in_row < 11   ? in_row
                               : in_row < 14 ? 11 * CAMERAS + in_row - 11
                                             : 11 * CAMERAS + 3 * POINTS));
    }
    assert_true(row[ENTRIES - 1] == (double)ENTRIES * MANY);
    assert_true(col[ENTRIES - 1] == 11 * CAMERAS + 3 * POINTS + MANY - 1);
}

/* There p = q + r x q: with q = x - C, and no distortion, u = f (q0 + r1 q2 - r2 q1)/(q2 +
 * ...). */
static void a_camera_that_is_not_turned_has_derivatives(void **state) {
    (void)state;
    const double cam[11] = {0, 0, 0, 0, 0, 0, 2}, x[] = {1, 3, 4}, feat[] = {0, 0};
    const double want[ENTRIES] = {-2 * 1 * 3 / 16.0,
                                  2 + 2 * 1 * 1 / 16.0,
                                  -2 * 3 / 4.0,
                                  -0.5,
                                  0,
                                  2 * 1 / 16.0,
                                  0.25,
                                  1,
                                  0,
                                  2 * 0.25 * (1 + 9) / 16.0,
                                  2 * 0.25 * 100 / 256.0,
                                  0.5,
                                  0,
                                  -2 * 1 / 16.0,
                                  0.5,
                                  -2 - 2 * 9 / 16.0,
                                  2 * 3 * 1 / 16.0,
                                  2 * 1 / 4.0,
                                  0,
                                  -0.5,
                                  2 * 3 / 16.0,
                                  0.75,
                                  0,
                                  1,
                                  2 * 0.75 * 10 / 16.0,
                                  2 * 0.75 * 100 / 256.0,
                                  0,
                                  0.5,
                                  -2 * 3 / 16.0,
                                  1.5,
                                  -2};
    double row[ENTRIES], col[ENTRIES], val[ENTRIES];
    ba_jacobian(ba_input(2, 3, 70, cam, x, 1, feat), 1, ENTRIES, row, col, val);
    near(ENTRIES, val, want, TOL_DERIVATIVE_ULP);
}

/* ---- ht ---- */

enum { THETA = 26, BONES = 22, VERTICES = 30, TRIANGLES = 12 };

static struct hand {
    double parents[BONES], relative[16 * BONES], inverse[16 * BONES];
    double positions[4 * VERTICES], weights[BONES * VERTICES], triangles[3 * TRIANGLES];
} hand;

static void keep_model(const struct oracle_case *c) {
    memcpy(hand.parents, array(c, "data", "parents"), sizeof hand.parents);
    memcpy(hand.relative, array(c, "data", "base_relatives"), sizeof hand.relative);
    memcpy(hand.inverse, array(c, "data", "inverse_base_absolutes"), sizeof hand.inverse);
    memcpy(hand.weights, array(c, "data", "weights"), sizeof hand.weights);
    memcpy(hand.triangles, array(c, "data", "triangles"), sizeof hand.triangles);
    for (size_t i = 0; i < VERTICES; i++)
        for (size_t k = 0; k < 4; k++)
            hand.positions[4 * i + k] = k < 3 ? array(c, "data", "positions")[3 * i + k] : 1;
}

static json_t *matrices(const double *x) {
    return gb_array(x, 3, (const size_t[]){BONES, 4, 4});
}

static json_t *triples(size_t n, const double *x) {
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(out, indices(3, x + 3 * i));
    return out;
}

/* us NULL: there are none. */
static json_t *ht_input(const double *theta, size_t n, const double *to, const double *points,
                        const double *us, int mirrored) {
    json_t *model = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "parents", indices(BONES, hand.parents),
        "base_relatives", matrices(hand.relative), "inverse_base_absolutes",
        matrices(hand.inverse), "base_positions", matrix(VERTICES, 4, hand.positions),
        "weights", matrix(VERTICES, BONES, hand.weights), "triangles",
        triples(TRIANGLES, hand.triangles), "is_mirrored", mirrored);
    return json_pack("{s:o, s:{s:o, s:o, s:o}, s:o}", "theta", array_of(THETA, theta), "data",
                     "model", model, "correspondences", indices(n, to), "points",
                     matrix(n, 3, points), "us", matrix(us ? n : 0, 2, us));
}

static double pose[THETA];

static void check_hand(const struct oracle_case *c) {
    enum { MOST = 18 };
    const double *const theta = array(c, "in", "x"), *const f = array(c, "ref", "F");
    const size_t m = oracle_case_array(c, "ref", "F")->count;
    const struct oracle_array *const vals = oracle_case_array(c, "ref", "jac_vals");
    const double *const to = array(c, "data", "correspondences");
    const double *const points = array(c, "data", "points");
    double y[MOST], j[MOST * THETA], want[MOST * THETA] = {0};
    assert_true(m <= MOST);
    memcpy(pose, theta, sizeof pose);
    for (size_t k = 0; k < vals->count; k++)
        want[(size_t)array(c, "ref", "jac_rows")[k] * THETA +
             (size_t)array(c, "ref", "jac_cols")[k]] = vals->v[k];
    answers("ht", "objective", ht_input(theta, m / 3, to, points, NULL, 0), 1, 1, m, y);
    near(m, y, f, TOL_PROGRAM_ULP);
    answers("ht", "jacobian", ht_input(theta, m / 3, to, points, NULL, 0), 2, 1, m * THETA, j);
    near(m * THETA, j, want, TOL_PROGRAM_ULP);
}

static const char *hands = "test/data/adbench_like_hand.txt";

static void ht_is_that_of_the_oracle(void **state) {
    (void)state;
    assert_int_equal(each_case(hands, "hand_model", keep_model), 1);
    assert_int_equal(each_case(hands, "hand_simple", check_hand), 2);
}

enum { MANY_SEEN = 100 };
static double zeros[3 * MANY_SEEN], all[3 * VERTICES * THETA], at[3 * VERTICES];

/* What it is at each vertex, half of them at a time. */
static void look_at_vertices(const double *theta, int mirrored) {
    enum { HALF = VERTICES / 2 };
    double to[HALF];
    for (size_t first = 0; first < VERTICES; first += HALF) {
        for (size_t i = 0; i < HALF; i++) to[i] = (double)(first + i);
        answers("ht", "objective", ht_input(theta, HALF, to, zeros, NULL, mirrored), 1, 1,
                3 * HALF, at + 3 * first);
        answers("ht", "jacobian", ht_input(theta, HALF, to, zeros, NULL, mirrored), 1, 1,
                3 * HALF * THETA, all + 3 * THETA * first);
    }
}

static void more_correspondences_than_vertices_have_the_same_rows(void **state) {
    (void)state;
    static double j[3 * MANY_SEEN * THETA], to[MANY_SEEN];
    look_at_vertices(pose, 0);
    for (size_t i = 0; i < MANY_SEEN; i++) to[i] = (double)(7 * i % VERTICES);
    answers("ht", "jacobian", ht_input(pose, MANY_SEEN, to, zeros, NULL, 0), 2, 1,
            3 * MANY_SEEN * THETA, j);
    for (size_t i = 0; i < MANY_SEEN; i++)
        assert_memory_equal(j + 3 * THETA * i, all + 3 * THETA * (size_t)to[i],
                            3 * THETA * sizeof *j);
}

/* They are linear in the three corners. */
static void points_in_triangles_are_between_their_corners(void **state) {
    (void)state;
    enum { COLUMNS = 2 + THETA };
    static double us[2 * TRIANGLES], to[TRIANGLES], y[3 * TRIANGLES], want_y[3 * TRIANGLES];
    static double j[3 * TRIANGLES * COLUMNS], want[3 * TRIANGLES * COLUMNS];
    look_at_vertices(pose, 0);
    draw_numbers(2 * TRIANGLES, us, 0, 0.5);
    for (size_t i = 0; i < TRIANGLES; i++) {
        const double u[] = {us[2 * i], us[2 * i + 1], 1 - us[2 * i] - us[2 * i + 1]};
        size_t v[3];
        to[i] = (double)(5 * i % TRIANGLES);
        for (size_t c = 0; c < 3; c++)
            v[c] = (size_t)hand.triangles[3 * (5 * i % TRIANGLES) + c];
        for (size_t k = 0; k < 3; k++) {
            double *const row = want + (3 * i + k) * COLUMNS;
            row[0] = at[3 * v[0] + k] - at[3 * v[2] + k];
            row[1] = at[3 * v[1] + k] - at[3 * v[2] + k];
            for (int c = 0; c < 3; c++) {
                want_y[3 * i + k] += u[c] * at[3 * v[c] + k];
                for (size_t l = 0; l < THETA; l++)
                    row[2 + l] += u[c] * all[(3 * v[c] + k) * THETA + l];
            }
        }
    }
    answers("ht", "objective", ht_input(pose, TRIANGLES, to, zeros, us, 0), 1, 1, 3 * TRIANGLES,
            y);
    near(3 * TRIANGLES, y, want_y, TOL_PROGRAM_ULP);
    answers("ht", "jacobian", ht_input(pose, TRIANGLES, to, zeros, us, 0), 2, 1,
            3 * TRIANGLES * COLUMNS, j);
    near(3 * TRIANGLES * COLUMNS, j, want, TOL_PROGRAM_ULP);
}

/* Without a rotation of the whole the mirror image has x with the other sign, but where it is
 * moved to; by the rotation there is no derivative. */
static void mirrored_hands_are_mirrored(void **state) {
    (void)state;
    double theta[THETA], plain[3 * VERTICES * THETA];
    memcpy(theta, pose, sizeof theta);
    memset(theta, 0, 3 * sizeof *theta);
    look_at_vertices(theta, 0);
    memcpy(plain, all, sizeof plain);
    look_at_vertices(theta, 1);
    for (size_t i = 0; i < 3 * VERTICES; i++)
        for (size_t l = 0; l < THETA; l++) {
            const double x = plain[THETA * i + l], y = all[THETA * i + l];
            if (l < 3) assert_true(x == 0 && y == 0);
            else assert_true(y == (i % 3 == 0 && l >= 6 ? -x : x));
        }
}

/* ---- all ---- */

static void threads_give_the_same_bits(void **state) {
    (void)state;
    enum { MOST = 3 * MANY_SEEN * (2 + THETA) };
    static double x[N * D], one[MOST], several[MOST];
    static double to[MANY_SEEN], us[2 * MANY_SEEN];
    double row[ENTRIES], col[ENTRIES], val[ENTRIES], other[ENTRIES];
    draw_numbers(N * D, x, -1, 1);
    draw_numbers(2 * MANY_SEEN, us, 0, 0.5);
    for (size_t i = 0; i < MANY_SEEN; i++) to[i] = (double)(7 * i % TRIANGLES);
    for (unsigned threads = 2; threads <= 3; threads++) {
        answers("kmeans", "dir", kmeans_input(N, K, D, x, x), 1, 1, K * D, one);
        answers("kmeans", "dir", kmeans_input(N, K, D, x, x), 2, threads, K * D, several);
        assert_memory_equal(one, several, K * D * sizeof *one);
        const struct mixture s = {3, 5, 1000, 1, 1.5, x, x, x, x, x};
        gmm_gradient(&s, 1, 1, one);
        gmm_gradient(&s, 2, threads, several);
        assert_memory_equal(one, several, (5 + 2 * 15 + 15) * sizeof *one);
        ba_jacobian(ba_input(2, 3, 5000, camera, place, 0.5, seen), 1, ENTRIES, row, col, val);
        ba_jacobian(ba_input(2, 3, 5000, camera, place, 0.5, seen), threads, ENTRIES, row, col,
                    other);
        assert_memory_equal(val, other, sizeof val);
        for (int with = 0; with < 2; with++) {
            const size_t entries = 3 * MANY_SEEN * (with ? 2 + THETA : THETA);
            answers("ht", "jacobian", ht_input(pose, MANY_SEEN, to, zeros, with ? us : NULL, 0),
                    1, 1, entries, one);
            answers("ht", "jacobian", ht_input(pose, MANY_SEEN, to, zeros, with ? us : NULL, 0),
                    2, threads, entries, several);
            assert_memory_equal(one, several, entries * sizeof *one);
        }
    }
}

/* The hand with one member replaced, by a JSON text; NULL: taken away. */
static void refuses_hand(int level, const char *key, const char *text, const char *words) {
    const double to[] = {0}, us[] = {0, 0};
    json_t *input = ht_input(pose, 1, to, zeros, us, 0);
    json_t *object = input;
    if (level > 0) object = json_object_get(object, "data");
    if (level > 1) object = json_object_get(object, "model");
    if (text) json_object_set_new(object, key, json_loads(text, JSON_DECODE_ANY, NULL));
    else json_object_del(object, key);
    char *line = json_dumps(input, JSON_REAL_PRECISION(17));
    refuses("ht", "jacobian", line, words);
    free(line);
    json_decref(input);
}

static void hands_that_do_not_fit_are_refused_in_words(void **state) {
    (void)state;
    refuses("ht", "objective", "[]", "theta: is missing");
    refuses_hand(0, "theta", "[0, 1]", "theta: 26 entries are wanted, not 2");
    refuses_hand(0, "data", "[]", "data: an object is wanted, not an array");
    refuses_hand(0, "us", NULL, "us: is missing");
    refuses_hand(0, "us", "[[1]]", "us[0]: 2 entries are wanted, not 1");
    refuses_hand(0, "us", "[[1, 0], [1, 0]]", "correspondences: 2 entries are wanted, not 1");
    refuses_hand(1, "model", "7", "model: an object is wanted, not a whole number");
    refuses_hand(1, "correspondences", "[12]", "a whole number from 0 to 11 is wanted, not 12");
    refuses_hand(1, "correspondences", "[-1]", "correspondences[0]: a whole number");
    refuses_hand(1, "points", "[[1, 2]]", "points[0]: 3 entries are wanted, not 2");
    refuses_hand(1, "points", "[]", "points: 1 entries are wanted, not 0");
    refuses_hand(2, "base_relatives", "[]", "base_relatives: from 21 to 1024 bones");
    refuses_hand(2, "base_relatives", "[[[1, 2], [3, 4]]]", "4 entries are wanted, not 2");
    refuses_hand(2, "inverse_base_absolutes", "[]", "22 entries are wanted, not 0");
    refuses_hand(2, "parents", "[-1, 0]", "parents: 22 entries are wanted, not 2");
    refuses_hand(2, "parents",
                 "[-1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
                 "parents[1]: an earlier bone, or -1, is wanted");
    refuses_hand(2, "parents",
                 "[-2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
                 "parents[0]: an earlier bone, or -1, is wanted");
    refuses_hand(2, "base_positions", "[[1, 2, 3]]", "base_positions[0]: 4 entries are wanted");
    refuses_hand(2, "weights", "[]", "weights: 30 entries are wanted, not 0");
    refuses_hand(2, "triangles", "[[0, 1, 30]]",
                 "triangles[0][2]: a whole number from 0 to 29");
    refuses_hand(2, "triangles", "[]", "triangles: at least one is wanted");
    refuses_hand(2, "base_positions", "[]", "base_positions: at least one is wanted");
    refuses_hand(2, "is_mirrored", "1", "is_mirrored: a truth value is wanted");
}

static void inputs_that_do_not_fit_are_refused_in_words(void **state) {
    (void)state;
    refuses("kmeans", "cost", "[]", "points: is missing");
    refuses("kmeans", "dir", "{\"points\": []}", "points: at least one");
    refuses("kmeans", "dir", "{\"points\": [[], []]}", "points: at least one");
    refuses("kmeans", "dir", "{\"points\": [[1], [2, 3]]}", "points[1]: 1 entries");
    refuses("kmeans", "dir", "{\"points\": [[1]]}", "centroids: is missing");
    refuses("kmeans", "dir", "{\"points\": [[1]], \"centroids\": []}",
            "centroids: at least one is wanted");
    refuses("kmeans", "dir", "{\"points\": [[1]], \"centroids\": [[1, 2]]}",
            "centroids[0]: 1 entries are wanted, not 2");
    refuses("kmeans", "dir", "{\"points\": [[1]], \"centroids\": [[1], [9]]}", "not finite");

    refuses("gmm", "jacobian", "{\"d\": 2}", "k: is missing");
    static const char *const gmm[][2] = {
        {"\"d\": 0, \"k\": 1, \"n\": 1, \"m\": 0, \"gamma\": 1", "d: at least 1 is wanted"},
        {"\"d\": 1, \"k\": 0, \"n\": 1, \"m\": 0, \"gamma\": 1", "k: at least 1 is wanted"},
        {"\"d\": 1, \"k\": 1, \"n\": 0, \"m\": 0, \"gamma\": 1", "n: at least 1 is wanted"},
        {"\"d\": 1.5, \"k\": 1, \"n\": 1, \"m\": 0, \"gamma\": 1", "d: a whole number"},
        {"\"d\": 1, \"k\": 1, \"n\": 1, \"m\": -1, \"gamma\": 1", "m: a whole number"},
        {"\"d\": 1, \"k\": 1, \"n\": 1, \"m\": 0, \"gamma\": 0", "gamma: more than 0"},
        {"\"d\": 4000000000, \"k\": 1, \"n\": 1, \"m\": 0, \"gamma\": 1, \"x\": [[1]]",
         "x[0]: 4000000000 entries are wanted, not 1"},
        {"\"d\": 1, \"k\": 1, \"n\": 2, \"m\": 0, \"gamma\": 1, \"x\": [[1]]",
         "x: 2 entries are wanted, not 1"},
        {"\"d\": 1, \"k\": 1, \"n\": 1, \"m\": 0, \"gamma\": 1, \"x\": [[1]], \"alpha\": []",
         "alpha: 1 entries are wanted, not 0"},
        {"\"d\": 1, \"k\": 1, \"n\": 1, \"m\": 0, \"gamma\": 1, \"x\": [[1]], \"alpha\": [1], "
         "\"mu\": [1]",
         "mu[0]: an array is wanted"},
        {"\"d\": 1, \"k\": 1, \"n\": 1, \"m\": 0, \"gamma\": 1, \"x\": [[1]], \"alpha\": [1], "
         "\"mu\": [[1]], \"q\": [[true]]",
         "q[0][0]: a number is wanted"},
        {"\"d\": 1, \"k\": 1, \"n\": 1, \"m\": 0, \"gamma\": 1, \"x\": [[1]], \"alpha\": [1], "
         "\"mu\": [[1]], \"q\": [[1]], \"l\": [[1]]",
         "l[0]: 0 entries are wanted, not 1"}};
    for (size_t i = 0; i < sizeof gmm / sizeof *gmm; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "{%s}", gmm[i][0]);
        refuses("gmm", "jacobian", text, gmm[i][1]);
    }

    static const char *const ba[][2] = {
        {"\"n\": 0", "n: from 1 to"},
        {"\"n\": 1, \"m\": -1", "m: a whole number"},
        {"\"n\": 1, \"m\": 1, \"p\": 1e15", "p: from 1 to"},
        {"\"n\": 1, \"m\": 1, \"p\": 1", "w: is missing"},
        {"\"n\": 1, \"m\": 1, \"p\": 1, \"w\": [1]", "w: a number is wanted, not an array"},
        {"\"n\": 1, \"m\": 1, \"p\": 1, \"w\": 1, \"cam\": [1]", "cam: 11 entries are wanted"},
        {"\"n\": 1, \"m\": 1, \"p\": 1, \"w\": 1, \"cam\": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "
         "\"x\": []",
         "x: 3 entries are wanted, not 0"},
        {"\"n\": 1, \"m\": 1, \"p\": 1, \"w\": 1, \"cam\": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "
         "\"x\": [1, 1, 1], \"feat\": {}",
         "feat: an array is wanted, not an object"},
        {"\"n\": 1, \"m\": 1, \"p\": 1, \"w\": 1, \"cam\": [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0], "
         "\"x\": [1, 1, 1], \"feat\": [0, 0]",
         "not finite"}};
    for (size_t i = 0; i < sizeof ba / sizeof *ba; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "{%s}", ba[i][0]);
        refuses("ba", "jacobian", text, ba[i][1]);
        refuses("ba", "objective", text, ba[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_step_of_kmeans_goes_to_the_means),
        cmocka_unit_test(points_between_centroids_belong_to_both),
        cmocka_unit_test(gmm_is_that_of_the_oracle),
        cmocka_unit_test(gmm_is_the_same_by_functions_and_by_matrices),
        cmocka_unit_test(ba_is_that_of_the_oracle),
        cmocka_unit_test(observations_stand_in_rows),
        cmocka_unit_test(a_camera_that_is_not_turned_has_derivatives),
        cmocka_unit_test(ht_is_that_of_the_oracle),
        cmocka_unit_test(more_correspondences_than_vertices_have_the_same_rows),
        cmocka_unit_test(points_in_triangles_are_between_their_corners),
        cmocka_unit_test(mirrored_hands_are_mirrored),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(hands_that_do_not_fit_are_refused_in_words),
        cmocka_unit_test(inputs_that_do_not_fit_are_refused_in_words),
    };
    return cmocka_run_group_tests(tests, without_compiler, NULL);
}

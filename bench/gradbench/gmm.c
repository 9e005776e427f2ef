/* SPDX-License-Identifier: MIT */
/* gmm - the log posterior of a mixture of k Gaussians in d dimensions with a Wishart prior on
 * the precisions, and its gradient.
 *
 * Component c has the weight alpha_c, the mean mu_c, and the factor Q_c of its precision: the
 * exponentials of q_c on the diagonal, l_c below it, column by column. With
 *     beta_ic = alpha_c + sum q_c - |Q_c (x_i - mu_c)|^2/2
 * the log posterior is
 *     sum_i lse_c beta_ic - n lse alpha + sum_c (m sum q_c - gamma^2/2 |Q_c|^2) + constants
 *
 * The gradient is that of a function mapped over the points. There Q_c (x - mu_c) is taken as
 * Q_c x - Q_c mu_c, whose second part is the same at all points, so that the adjoint of mu_c
 * needs no product at the points; x and mu_c are relative to the mean of the means, lest that
 * cancel.
 *
 * A function spells out every entry of every Q. Where they are MANY it becomes slower than
 * matrices: with P_c = Q_c^T Q_c
 *     beta_ic = alpha_c + sum q_c - mu_c^T P_c mu_c/2 + (P_c mu_c)^T x_i - x_i^T P_c x_i/2
 * is one product of a matrix of the parameters, a column for each component, and one of the
 * data, x_i x_i^T, x_i and 1 for each point. (In |Q (x - mu)|^2 it loses digits where clusters
 * are small beside their distances: twice as many as the function does.) */
#include "mapped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries of all Q from which on, and dimensions for which, there are matrices. */
enum { MANY = 20000, WIDE = 16 };

struct gmm {
    size_t n, k, d, below, m; /* below: entries below a diagonal */
    wg_threads *threads;
    double gamma;
    double *x, *alpha, *mu, *q, *l;      /* rows: n, 1, k, k, k */
    double *origin, *relative;           /* d; means relative to it, k d */
    double *dalpha, *dmu, *dq, *dl;      /* as alpha, mu, q, l */
    double *diagonal, *logdet, *centred; /* of the primal: k d; k; 2 d and then k */
    double value;
    wg_tape *t;
    struct gb_mapped jacobian;
    double *features;                  /* of each point: d + below products, d coordinates, 1 */
    size_t *triangle, *diagonal_first; /* entries of Q in q_c, l_c, 0; of P */
};

static void release(void *job) {
    struct gmm *g = job;
    gb_mapped_close(&g->jacobian);
    wg_tape_free(g->t);
    free(g->x);
    free(g->alpha);
    free(g->mu);
    free(g->q);
    free(g->l);
    free(g->origin);
    free(g->features);
    free(g->triangle);
    free(g);
}

static int fill(struct gmm *g, const json_t *input, struct gb_error *e) {
    if (gb_index(input, "d", &g->d, e) || gb_index(input, "k", &g->k, e) ||
        gb_index(input, "n", &g->n, e) || gb_index(input, "m", &g->m, e) ||
        gb_number(input, "gamma", &g->gamma, e))
        return -1;
    if (!g->d || !g->k || !g->n)
        return gb_fail(e, "%s: at least 1 is wanted", !g->d ? "d" : !g->k ? "k" : "n");
    if (!(g->gamma > 0)) return gb_fail(e, "gamma: more than 0 is wanted");
    g->x = gb_numbers(input, "x", 2, (size_t[]){g->n, g->d}, e);
    if (g->x) g->alpha = gb_numbers(input, "alpha", 1, (size_t[]){g->k}, e);
    if (g->alpha) g->mu = gb_numbers(input, "mu", 2, (size_t[]){g->k, g->d}, e);
    if (g->mu) g->q = gb_numbers(input, "q", 2, (size_t[]){g->k, g->d}, e);
    if (!g->q) return -1;
    g->below = g->d * (g->d - 1) / 2; /* there is a row of d: no overflow */
    g->l = gb_numbers(input, "l", 2, (size_t[]){g->k, g->below}, e);
    if (!g->l) return -1;
    const size_t kd = g->k * g->d;
    g->origin = malloc((3 * g->d + 4 * kd + 3 * g->k + g->k * g->below) * sizeof *g->origin);
    if (!g->origin) return gb_fail(e, "no memory");
    g->relative = g->origin + g->d;
    g->dalpha = g->relative + kd;
    g->dmu = g->dalpha + g->k;
    g->dq = g->dmu + kd;
    g->dl = g->dq + kd;
    g->diagonal = g->dl + g->k * g->below;
    g->logdet = g->diagonal + kd;
    g->centred = g->logdet + g->k;
    return 0;
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    struct gmm *g = calloc(1, sizeof *g);
    if (!g) {
        gb_fail(e, "no memory");
        return NULL;
    }
    g->threads = o->threads;
    if (fill(g, input, e) == 0) return g;
    release(g);
    return NULL;
}

/* ---- objective ---- */

static double logsumexp(size_t n, const double *x) {
    double top = x[0], s = 0;
    for (size_t i = 1; i < n; i++) top = fmax(top, x[i]);
    for (size_t i = 0; i < n; i++) s += exp(x[i] - top);
    return log(s) + top;
}

static double norm2(size_t n, const double *x) {
    double s = 0;
    for (size_t i = 0; i < n; i++) s += x[i] * x[i];
    return s;
}

/* beta of point x and component c */
static double exponent(const struct gmm *g, size_t c, const double *x) {
    const size_t d = g->d;
    const double *l = g->l + c * g->below;
    double *const y = g->centred, *const z = y + d;
    for (size_t j = 0; j < d; j++) y[j] = x[j] - g->mu[c * d + j];
    for (size_t j = 0; j < d; j++) z[j] = g->diagonal[c * d + j] * y[j];
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++) z[j] += *l++ * y[i];
    return g->alpha[c] + g->logdet[c] - 0.5 * norm2(d, z);
}

static int run_objective(void *job, struct gb_error *e) {
    struct gmm *g = job;
    const size_t n = g->n, k = g->k, d = g->d;
    const double pi = 3.14159265358979323846, dof = (double)d + (double)g->m + 1;
    double *const beta = g->centred + 2 * d;
    (void)e;
    /* of the Gaussians, and the normalisation of the Wishart distributions */
    double log_gamma = 0.25 * (double)d * ((double)d - 1) * log(pi);
    for (size_t j = 0; j < d; j++) log_gamma += lgamma(0.5 * (dof - (double)j));
    double f = -0.5 * (double)n * (double)d * log(2 * pi) +
               (double)k * (dof * (double)d * (log(g->gamma) - 0.5 * log(2)) - log_gamma);
    for (size_t i = 0; i < k * d; i++) g->diagonal[i] = exp(g->q[i]);
    for (size_t c = 0; c < k; c++) {
        g->logdet[c] = 0;
        for (size_t j = 0; j < d; j++) g->logdet[c] += g->q[c * d + j];
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < k; c++) beta[c] = exponent(g, c, g->x + i * d);
        f += logsumexp(k, beta);
    }
    f -= (double)n * logsumexp(k, g->alpha);
    for (size_t c = 0; c < k; c++)
        f += (double)g->m * g->logdet[c] -
             0.5 * g->gamma * g->gamma *
                 (norm2(d, g->diagonal + c * d) + norm2(g->below, g->l + c * g->below));
    g->value = f;
    return 0;
}

static json_t *output_objective(const void *job) {
    const struct gmm *g = job;
    return gb_array(&g->value, 0, NULL);
}

/* ---- jacobian, by a function ---- */

/* Q x, of which z holds a part. */
static void multiply(wg_tape *t, size_t d, const wg_real *diagonal, const wg_real *l,
                     const wg_real *x, wg_real *z) {
    for (size_t j = 0; j < d; j++) z[j] = wg_let(t, wg_add(z[j], wg_mul(diagonal[j], x[j])));
    for (size_t i = 0; i < d; i++)
        for (size_t j = i + 1; j < d; j++) z[j] = wg_let(t, wg_add(z[j], wg_mul(*l++, x[i])));
}

/* lse beta of a point. in: alpha, mu relative to the origin, q, l, origin, point. */
static wg_status likelihood(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                            void *data) {
    const struct gmm *g = data;
    const size_t d = g->d, k = g->k;
    const wg_real *const alpha = in, *const mu = alpha + k, *const q = mu + k * d;
    const wg_real *const l = q + k * d, *const origin = l + k * g->below;
    const wg_real *const point = origin + d;
    (void)n, (void)m;
    wg_real *const x = malloc((3 * d + k) * sizeof *x);
    if (!x) return WG_ENOMEM;
    wg_real *const diagonal = x + d, *const z = diagonal + d, *const beta = z + d;
    for (size_t j = 0; j < d; j++) x[j] = wg_let(t, wg_sub(point[j], origin[j]));
    for (size_t c = 0; c < k; c++) {
        for (size_t j = 0; j < d; j++) {
            diagonal[j] = wg_let(t, wg_exp(q[c * d + j]));
            z[j] = wg_constant(0);
        }
        multiply(t, d, diagonal, l + c * g->below, mu + c * d, z);
        for (size_t j = 0; j < d; j++) z[j] = wg_let(t, wg_neg(z[j]));
        multiply(t, d, diagonal, l + c * g->below, x, z);
        const wg_real logdet = wg_sum(t, d, q + c * d);
        beta[c] =
            wg_let(t, wg_sub(wg_add(alpha[c], logdet), wg_mul(0.5, wg_squared_norm(t, d, z))));
    }
    out[0] = wg_logsumexp(t, k, beta);
    free(x);
    return WG_OK;
}

/* The log posterior, but for what is constant. in: the sum of the likelihood, alpha, q, l, and
 * n, m, gamma. */
static wg_status posterior(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                           void *data) {
    const struct gmm *g = data;
    const size_t kd = g->k * g->d;
    const wg_real *const alpha = in + 1, *const q = alpha + g->k, *const l = q + kd;
    const wg_real *const p = l + g->k * g->below;
    (void)n, (void)m;
    wg_real squares = wg_squared_norm(t, g->k * g->below, l);
    for (size_t i = 0; i < kd; i++)
        squares = wg_let(t, wg_add(squares, wg_square(wg_exp(q[i]))));
    const wg_real all = wg_logsumexp(t, g->k, alpha), logdet = wg_sum(t, kd, q);
    const wg_real f = wg_let(t, wg_add(wg_sub(in[0], wg_mul(p[0], all)), wg_mul(p[1], logdet)));
    out[0] = wg_let(t, wg_sub(f, wg_mul(wg_mul(0.5, wg_square(p[2])), squares)));
    return WG_OK;
}

static void centre(struct gmm *g) {
    memset(g->origin, 0, g->d * sizeof *g->origin);
    for (size_t c = 0; c < g->k; c++)
        for (size_t j = 0; j < g->d; j++) g->origin[j] += g->mu[c * g->d + j] / (double)g->k;
    for (size_t c = 0; c < g->k; c++)
        for (size_t j = 0; j < g->d; j++)
            g->relative[c * g->d + j] = g->mu[c * g->d + j] - g->origin[j];
}

static double *put(double *to, size_t n, const double *from) {
    memcpy(to, from, n * sizeof *to);
    return to + n;
}

static wg_function *gradient(struct gmm *g) {
    const size_t k = g->k, d = g->d, kd = k * d;
    const wg_argument alpha = {"alpha", k, 1, WG_SHARED}, q = {"q", d, k, WG_SHARED};
    const wg_argument l = {"l", g->below, k, WG_SHARED};
    const wg_argument in[] = {alpha,
                              {"mu", d, k, WG_SHARED},
                              q,
                              l,
                              {"origin", d, 1, WG_SHARED | WG_PASSIVE},
                              {"point", d, 1, WG_PASSIVE}};
    const wg_argument in_all[] = {
        {"s", 1, 1, WG_SHARED}, alpha, q, l, {"p", 3, 1, WG_SHARED | WG_PASSIVE}};
    const wg_argument sum = {"s", 1, 1, WG_SUMMED}, y = {"y", 1, 1, 0};
    double *const at = malloc((k + 2 * kd + k * g->below + 2 * d + 4) * sizeof *at), *to;
    if (!at) return NULL;
    wg_function *part = NULL, *rest = NULL, *whole = NULL, *out = NULL;
    to = put(put(put(put(at, k, g->alpha), kd, g->relative), kd, g->q), k * g->below, g->l);
    put(put(to, d, g->origin), d, g->x);
    wg_status s = wg_function_record(g->t, likelihood, g, 6, in, at, 1, &sum, &part);
    *at = 0;
    to = put(put(put(at + 1, k, g->alpha), kd, g->q), k * g->below, g->l);
    put(to, 3, (const double[]){(double)g->n, (double)g->m, g->gamma});
    if (s == WG_OK) s = wg_function_record(g->t, posterior, g, 5, in_all, at, 1, &y, &rest);
    if (s == WG_OK) s = wg_function_compose(g->t, rest, part, &whole);
    if (s == WG_OK && wg_function_gradient(g->t, whole, &out) != WG_OK) out = NULL;
    free(at);
    wg_function_free(part);
    wg_function_free(rest);
    wg_function_free(whole);
    return out;
}

static int run_function(struct gmm *g, struct gb_error *e) {
    const double p[] = {(double)g->n, (double)g->m, g->gamma};
    const wg_points x[] = {{g->alpha, 0, 1}, {g->relative, 0, 1}, {g->q, 0, 1},
                           {g->l, 0, 1},     {g->origin, 0, 1},   {g->x, (ptrdiff_t)g->d, 1},
                           {p, 0, 1}};
    const wg_results y[] = {{g->dalpha, 0, 1}, {g->dmu, 0, 1}, {g->dq, 0, 1}, {g->dl, 0, 1}};
    return gb_mapped_run(&g->jacobian, g->n, x, y, e);
}

/* ---- jacobian, by matrices ---- */

static int by_matrices(const struct gmm *g) {
    return g->d >= WIDE && (g->d + g->below) >= MANY / g->k;
}

static size_t features(const struct gmm *g) { return 2 * g->d + g->below + 1; }

static int prepare_matrices(struct gmm *g, struct gb_error *e) {
    const size_t d = g->d;
    g->features = malloc(g->n * features(g) * sizeof *g->features);
    g->triangle = malloc((d * d + d + g->below) * sizeof *g->triangle);
    if (!g->features || !g->triangle) return gb_fail(e, "no memory");
    g->diagonal_first = g->triangle + d * d;
    for (size_t i = 0; i < d * d; i++) g->triangle[i] = d + g->below; /* the 0 */
    for (size_t i = 0, next = d; i < d; i++) {
        g->triangle[i + i * d] = i;
        g->diagonal_first[i] = i + i * d;
        for (size_t j = i + 1; j < d; j++, next++) {
            g->triangle[j + i * d] = next;
            g->diagonal_first[next] = j + i * d;
        }
    }
    return 0;
}

/* The products, as the coefficients stand: the diagonal first. */
static double *products(size_t d, const double *restrict x, double *restrict to) {
    for (size_t i = 0; i < d; i++) *to++ = -0.5 * x[i] * x[i];
    for (size_t i = 0; i < d; to += d - ++i)
        for (size_t j = i + 1; j < d; j++) to[j - i - 1] = -x[i] * x[j];
    return to;
}

static void fill_features(struct gmm *g) {
    const size_t d = g->d;
    double *to = g->features, *const x = g->centred;
    for (size_t p = 0; p < g->n; p++) {
        for (size_t i = 0; i < d; i++) x[i] = g->x[p * d + i] - g->origin[i];
        to = put(products(d, x, to), d, x);
        *to++ = 1;
    }
}

/* What beta is of the features of a point, for component c. factor: q_c, l_c and 0. */
static wg_mat coefficients(const struct gmm *g, wg_mat alpha, wg_mat mu, wg_mat logdet,
                           wg_mat factor, wg_mat diagonal, size_t c) {
    const size_t d = g->d;
    wg_tape *const t = g->t;
    const wg_mat q = wg_gather(t, factor, d, d, g->triangle);
    const wg_mat p = wg_syrk(t, 'T', 1, q, 0, diagonal);
    const wg_mat y = wg_gemv(t, 'N', 1, q, mu, 0, mu), slope = wg_gemv(t, 'T', 1, q, y, 0, mu);
    const wg_real constant =
        wg_let(t, wg_sub(wg_add(wg_mat_at(alpha, c, 0), wg_mat_at(logdet, 0, c)),
                         wg_mul(0.5, wg_mat_dot(t, y, y))));
    const wg_mat part[] = {wg_gather(t, p, d + g->below, 1, g->diagonal_first), slope,
                           wg_mat_gather(t, 1, 1, &constant)};
    return wg_concat_rows(t, 3, part);
}

static wg_real record_matrices(struct gmm *g, wg_mat alpha, wg_mat mu, wg_mat q, wg_mat l,
                               wg_mat *column) {
    const size_t n = g->n, k = g->k, d = g->d;
    wg_tape *const t = g->t;
    const wg_mat diagonal = wg_mat_exp(t, q), logdet = wg_mat_sum_axis(t, q, WG_EACH_COL);
    const wg_mat part[] = {diagonal, l, wg_mat_fill(t, 1, k, 0)};
    const wg_mat factor = wg_concat_rows(t, 3, part);
    const wg_mat none = wg_mat_fill(t, d, d, 0);
    for (size_t c = 0; c < k; c++)
        column[c] =
            coefficients(g, alpha, wg_mat_col(mu, c), logdet, wg_mat_col(factor, c), none, c);
    const wg_mat all = wg_concat_cols(t, k, column);
    const wg_mat data = wg_mat_constant_borrowed(t, features(g), n, g->features, features(g));
    const wg_mat beta = wg_gemm(t, 'T', 'N', 1, all, data, 0, all);
    const wg_real s = wg_mat_sum(t, wg_mat_logsumexp_axis(t, beta, WG_EACH_COL));
    const wg_real squares =
        wg_let(t, wg_add(wg_mat_dot(t, diagonal, diagonal), wg_mat_dot(t, l, l)));
    const wg_real f = wg_let(t, wg_sub(s, wg_mul((double)n, wg_mat_logsumexp(t, alpha))));
    const wg_real h = wg_let(t, wg_add(f, wg_mul((double)g->m, wg_mat_sum(t, q))));
    return wg_let(t, wg_sub(h, wg_mul(0.5 * g->gamma * g->gamma, squares)));
}

static int run_matrices(struct gmm *g, struct gb_error *e) {
    const size_t k = g->k, d = g->d;
    wg_tape *const t = g->t;
    wg_mat *const column = malloc(k * sizeof *column);
    if (!column) return gb_fail(e, "no memory");
    fill_features(g);
    const wg_mat alpha = wg_mat_input(t, k, 1, g->alpha, k);
    const wg_mat mu = wg_mat_input(t, d, k, g->relative, d);
    const wg_mat q = wg_mat_input(t, d, k, g->q, d);
    const wg_mat l = wg_mat_input(t, g->below, k, g->l, g->below);
    const wg_real y = record_matrices(g, alpha, mu, q, l, column);
    wg_status s = wg_reverse(t, y);
    if (s == WG_OK) s = wg_mat_adjoint(t, alpha, g->dalpha, k);
    if (s == WG_OK) s = wg_mat_adjoint(t, mu, g->dmu, d);
    if (s == WG_OK) s = wg_mat_adjoint(t, q, g->dq, d);
    if (s == WG_OK) s = wg_mat_adjoint(t, l, g->dl, g->below);
    free(column);
    const int failed = gb_status(e, s, t);
    wg_tape_reset(t);
    return failed;
}

/* ---- jacobian, either way ---- */

static int prepare_jacobian(void *job, struct gb_error *e) {
    struct gmm *g = job;
    const int matrices = by_matrices(g);
    g->t = wg_tape_new(&(wg_options){.flags = matrices ? 0 : WG_KEEP_CODE});
    if (!g->t) return gb_fail(e, "no memory for a tape");
    if (matrices) return prepare_matrices(g, e);
    centre(g);
    return gb_mapped_open(&g->jacobian, g->t, gradient(g), g->threads, e);
}

static int run_jacobian(void *job, struct gb_error *e) {
    struct gmm *g = job;
    centre(g);
    return by_matrices(g) ? run_matrices(g, e) : run_function(g, e);
}

static json_t *output_jacobian(const void *job) {
    const struct gmm *g = job;
    const size_t rows[] = {g->k, g->d}, below[] = {g->k, g->below};
    return json_pack("{s:o, s:o, s:o, s:o}", "alpha", gb_array(g->dalpha, 1, rows), "mu",
                     gb_array(g->dmu, 2, rows), "q", gb_array(g->dq, 2, rows), "l",
                     gb_array(g->dl, 2, below));
}

const struct gb_module gb_gmm = {
    .name = "gmm",
    .read = read,
    .release = release,
    .functions = {{"objective", NULL, run_objective, output_objective},
                  {"jacobian", prepare_jacobian, run_jacobian, output_jacobian}},
};

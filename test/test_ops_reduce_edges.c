/* SPDX-License-Identifier: MIT */
/* test_ops_reduce_edges.c - softmax and its kin at differences of hundreds, deviations and
 * layer norms of huge, tiny and equal elements: values, adjoints, tangents, and all of them as
 * functions that were recorded elsewhere.
 *
 * Letters: x the n elements of a line, v the result, g its gradient, p = softmax(x), s a
 * scale. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wengert.h>
#include "tolerance.h"

/* A sum of five products of numbers that exponentials are in. */
#define TOL_LINE_ULP 32.0

enum { N = 5, WORK = 1 << 16 };

/* One number of a line, by an operation. */
struct number {
    const char *name;
    int op;
    const double *w; /* weights, N */
    size_t label;
};

/* ---- every way to the number and its gradient ---- */

static wg_status in_failure(wg_tape *t, wg_status s) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
    return s;
}

static double tangent_of(wg_tape *t, wg_callback *f, void *data, const double *x, size_t i) {
    double v[N] = {0}, jv;
    v[i] = 1;
    in_failure(t, wg_jvp(t, f, data, N, x, v, 1, NULL, &jv));
    return jv;
}

/* Of the function recorded at `at`, and of its gradient. */
static void by_function(wg_tape *t, wg_callback *f, void *data, const double *at,
                        const double *x, double *v, double *g) {
    static double work[WORK];
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
    const wg_points points = {x, N, 1};
    const wg_results value = {v, 1, 1}, slopes = {g, N, 1};
    wg_function *made, *gradient;
    in_failure(t, wg_function_record(t, f, data, 1, &in, at, 1, &out, &made));
    in_failure(t, wg_function_gradient(t, made, &gradient));
    assert_true(wg_function_work(gradient, NULL) <= sizeof work);
    assert_int_equal(wg_function_evaluate(made, 1, &points, &value, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_evaluate(gradient, 1, &points, &slopes, NULL, work, NULL),
                     WG_OK);
    wg_function_free(made);
    wg_function_free(gradient);
}

/* A number, and the sum of the sizes of its terms: by adjoints, and by tangents, which the
 * weights add up. */
struct exact {
    double number, size, forward;
};

static void compare(const struct number *c, const char *way, const double *x, double got,
                    struct exact ref) {
    const double apart = fabs(got - ref.number), unit = DBL_EPSILON * ref.size;
    if (!(got == ref.number || apart <= TOL_LINE_ULP * unit ||
          apart <= TOL_SUBNORMAL_UNITS * DBL_TRUE_MIN))
        fail_msg("%s of %g %g %g %g %g, %s: %.17g, not %.17g: %.3g of its terms", c->name, x[0],
                 x[1], x[2], x[3], x[4], way, got, ref.number, apart / ref.size);
}

/* v and g, by all ways. */
static void compare_all(wg_tape *t, wg_callback *f, struct number *c, const double *x,
                        struct exact v, const struct exact *g) {
    static const double elsewhere[N] = {0.3, -0.2, 0.9, 0.1, 0.5};
    double value, slope[N];
    in_failure(t, wg_gradient(t, f, c, N, x, &value, slope));
    compare(c, "value", x, value, v);
    for (size_t i = 0; i < N; i++) {
        compare(c, "gradient", x, slope[i], g[i]);
        struct exact tangent = g[i];
        tangent.size = g[i].forward;
        compare(c, "tangent", x, tangent_of(t, f, c, x, i), tangent);
    }
    for (int here = 0; here < 2; here++) {
        by_function(t, f, c, here ? x : elsewhere, x, &value, slope);
        compare(c, "value of the function", x, value, v);
        for (size_t i = 0; i < N; i++)
            compare(c, "gradient of the function", x, slope[i], g[i]);
    }
}

/* ---- softmax and its kin ---- */

enum { SOFTMAX, LOG_SOFTMAX, LOGSUMEXP, CROSS_ENTROPY, CROSS_ENTROPY_SOFT, OPS };

static wg_status soft(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const struct number *const c = data;
    const wg_mat a = wg_mat_gather(t, n, 1, x), w = wg_mat_constant(t, n, 1, c->w, n);
    (void)m;
    switch (c->op) {
    case SOFTMAX:
        y[0] = wg_mat_dot(t, w, wg_mat_softmax(t, a, WG_ALL));
        break;
    case LOG_SOFTMAX:
        y[0] = wg_mat_dot(t, w, wg_mat_log_softmax(t, a, WG_ALL));
        break;
    case LOGSUMEXP:
        y[0] = wg_mat_logsumexp(t, a);
        break;
    case CROSS_ENTROPY:
        y[0] = wg_mat_at(wg_mat_cross_entropy(t, a, &c->label, WG_ALL), 0, 0);
        break;
    default:
        y[0] = wg_mat_at(wg_mat_cross_entropy_soft(t, a, w, WG_ALL), 0, 0);
    }
    return WG_OK;
}

static struct exact exact(long double number, long double size) {
    return (struct exact){(double)number, (double)size, (double)size};
}

/* In long double, whose exponentials do not underflow at these points; sums over the others, in
 * which nothing cancels but terms of the weights. */
static void soft_reference(const struct number *c, const double *x, struct exact *v,
                           struct exact *g) {
    long double p[N], sum = 0, rest = 0, top = x[0], value = 0, size = 0, mean_size = 0;
    for (size_t i = 1; i < N; i++) top = x[i] > top ? x[i] : top;
    int seen = 0;
    for (size_t i = 0; i < N; i++) {
        sum += p[i] = expl(x[i] - top);
        if (x[i] == top && !seen) seen = 1;
        else rest += p[i];
    }
    const long double log_sum = log1pl(rest);
    for (size_t i = 0; i < N; i++) p[i] /= sum, mean_size += p[i] * fabs(c->w[i]);
    for (size_t i = 0; i < N; i++) {
        const long double w = c->w[i], loss = top - x[i] + log_sum;
        long double others_p = 0, others_w = 0, sizes_w = 0, apart = 0, sizes = 0;
        for (size_t j = 0; j < N; j++) {
            apart += p[i] * p[j] * (w - c->w[j]);
            /* of a large share what the others leave, of others their differences to the
             * mean */
            sizes += p[i] > 0.5 ? (j != i) * p[j] * (fabs(c->w[j]) + mean_size)
                                : p[i] * p[j] * (fabsl(w) + mean_size);
            if (j != i) others_p += p[j], others_w += c->w[j], sizes_w += fabs(c->w[j]);
        }
        const long double both = fabsl(w) * others_p + p[i] * sizes_w;
        const struct exact slope[OPS] = {
            exact(apart, sizes), exact(w * others_p - p[i] * others_w, both), exact(p[i], p[i]),
            exact(i == c->label ? -others_p : p[i], others_p + p[i]),
            exact(p[i] * others_w - w * others_p, both)};
        g[i] = slope[c->op];
        for (size_t j = 0; j < N; j++) {
            const long double own = j == i ? others_p : p[i];
            if (c->op == SOFTMAX) g[i].forward += fabs((double)(c->w[j] * p[j] * own));
            if (c->op == LOG_SOFTMAX) g[i].forward += fabs((double)(c->w[j] * own));
        }
        const long double term = c->op == SOFTMAX ? p[i] : c->op == LOG_SOFTMAX ? -loss : loss;
        value += w * term, size += fabsl(w * term);
        if (c->op == CROSS_ENTROPY && i == c->label) *v = exact(loss, loss);
    }
    if (c->op == LOGSUMEXP) *v = exact(top + log_sum, fabsl(top) + log_sum);
    else if (c->op != CROSS_ENTROPY) *v = exact(value, size);
}

static void softmax_and_its_kin_are_right_at_differences_of_hundreds(void **state) {
    (void)state;
    static const char *const names[OPS] = {"softmax", "log-softmax", "log-sum-exp",
                                           "cross-entropy", "soft cross-entropy"};
    /* differences are exact, and so are exponents */
    static const double x[][N] = {
        {0, 1, 2, 3, 4},          {0, 300, -250, 299.5, 10},
        {650, 0, 1, 2, 3},        {0, 40, 1, 2, 3},
        {0, 1, 40, 41, 3},        {-500, -520, -510, -900, -530},
        {0, 37, 0, 0, 0},         {1e5, 1e5 + 1, 99500, 99400, 1e5 - 40},
        {0, 0, 0, 0, 300},        {5, 5, 1, 2, 3},
        {400, 400, 1, 399.75, 3}, {0, 0, 0, 0, 0},
        {-650, 0, 0, -1, 1},      {1, 0.75, 1.25, 1.5, -300}};
    static const double weights[][N] = {{0.75, -1.25, 0.5, 2, -0.625},
                                        {1, 0, 0, 0, 0},
                                        {0, 1, 0, 0, 0},
                                        {0, 0, 1, 0, 0},
                                        {0, 0, 0, 1, 0},
                                        {0, 0, 0, 0, 1},
                                        {0.125, 0.25, 0.25, 0.25, 0.125}};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (int op = 0; op < OPS; op++)
        for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
            for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
                struct number c = {names[op], op, weights[k], k % N};
                struct exact v = {NAN, NAN, NAN}, g[N];
                soft_reference(&c, x[i], &v, g);
                compare_all(t, soft, &c, x[i], v, g);
            }
    wg_tape_free(t);
}

/* ---- deviations, layer norms ---- */

enum { VARIANCE, DEVIATION, NORM_2, NORM_3, LAYER_NORM, LAYER_NORM_EPS };

static wg_status spread(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const struct number *const c = data;
    const wg_mat a = wg_mat_gather(t, n, 1, x), w = wg_mat_constant(t, n, 1, c->w, n);
    const wg_mat one = wg_mat_fill(t, n, 1, 1), zero = wg_mat_fill(t, n, 1, 0);
    (void)m;
    switch (c->op) {
    case VARIANCE:
        y[0] = wg_mat_var(t, a, 1);
        break;
    case DEVIATION:
        y[0] = wg_mat_std(t, a, 1);
        break;
    case NORM_2:
    case NORM_3:
        y[0] = wg_mat_norm_entries(t, a, c->op == NORM_2 ? 2 : 3);
        break;
    default:
        y[0] = wg_mat_dot(
            t, w,
            wg_mat_layer_norm(t, a, one, zero, c->op == LAYER_NORM ? 0 : 1e-5, WG_EACH_COL));
    }
    return WG_OK;
}

static void spread_reference(const struct number *c, const double *x, struct exact *v,
                             struct exact *g) {
    long double mean = 0, s = 0, cubes = 0, size = 0, d[N], wd = 0, wd_size = 0, w = 0;
    for (size_t i = 0; i < N; i++) mean += (long double)x[i] / N, w += (long double)c->w[i] / N;
    for (size_t i = 0; i < N; i++) {
        d[i] = x[i] - mean;
        s += d[i] * d[i];
        size += (long double)x[i] * x[i];
        cubes += fabsl(x[i]) * x[i] * x[i];
        wd += c->w[i] * d[i], wd_size += fabsl(c->w[i] * d[i]);
    }
    const long double share = 1 / sqrtl(s / N + (c->op == LAYER_NORM ? 0 : 1e-5L));
    const long double cube = cbrtl(cubes), dev = sqrtl(s / (N - 1)), norm = sqrtl(size);
    const long double values[] = {s / (N - 1), dev, norm, cube, wd * share, wd * share};
    *v = exact(values[c->op], c->op < LAYER_NORM ? values[c->op] : wd_size * share);
    for (size_t i = 0; i < N; i++) {
        const long double z = d[i] * share, mean_wz = wd * share / N;
        const long double normed = share * (c->w[i] - w - z * mean_wz);
        const long double terms =
            share * (fabs(c->w[i]) + fabsl(w) + fabsl(z) * wd_size * share / N);
        const long double slopes[] = {2 * d[i] / (N - 1),
                                      s == 0 ? 0 : d[i] / (N - 1) / dev,
                                      size == 0 ? 0 : x[i] / norm,
                                      cube == 0 ? 0 : fabsl(x[i] / cube) * (x[i] / cube),
                                      normed,
                                      normed};
        g[i] = exact(slopes[c->op], c->op < LAYER_NORM ? fabsl(slopes[c->op]) : terms);
    }
}

/* Cubes of 1e300 are within the range of long double. */
static void deviations_and_norms_are_right_at_the_ends_of_the_range(void **state) {
    (void)state;
    static const char *const names[] = {"variance", "deviation",  "2-norm",
                                        "3-norm",   "layer norm", "layer norm with eps"};
    static const double w[N] = {0.75, -1.25, 0.5, 2, -0.625}, x[N] = {1, 2.5, -3, 4.75, 0.5};
    static const double scale[] = {1,      0x1p990,  0x1p-990, 0x1p500, 0x1p520,
                                   0x1p-4, 0x1p-470, 0x1p-500, 0x1p-540};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (int op = 0; op <= LAYER_NORM_EPS; op++)
        for (size_t k = 0; k < sizeof scale / sizeof *scale; k++) {
            struct number c = {names[op], op, w, 0};
            struct exact v, g[N];
            double at[N];
            if (op == VARIANCE && fabs(log2(scale[k])) > 505) continue; /* no number */
            for (size_t i = 0; i < N; i++) at[i] = scale[k] * x[i];
            spread_reference(&c, at, &v, g);
            compare_all(t, spread, &c, at, v, g);
        }
    wg_tape_free(t);
}

static void equal_elements_have_no_deviation_and_slopes_that_are_right(void **state) {
    (void)state;
    static const char *const names[] = {"variance", "deviation", "2-norm",
                                        "3-norm",   "",          "layer norm with eps"};
    static const double w[N] = {0.75, -1.25, 0.5, 2, -0.625};
    static const double of[] = {0, 0.1, 1e300, 1e-300, -7.3, 1e8 / 3, 27.0 / 7};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (int op = 0; op <= LAYER_NORM_EPS; op++)
        for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
            struct number c = {names[op], op, w, 0};
            struct exact v, g[N];
            double at[N];
            if (op == LAYER_NORM) continue; /* 0 / 0 */
            for (size_t i = 0; i < N; i++) at[i] = of[k];
            spread_reference(&c, at, &v, g);
            if (op == VARIANCE || op == DEVIATION) /* but for what is left of the mean */
                for (size_t i = 0; i < N; i++) v = g[i] = exact(0, 0);
            if (op == LAYER_NORM_EPS) {
                const long double share = 1 / sqrtl(1e-5L);
                v = exact(0, 0);
                for (size_t i = 0; i < N; i++)
                    g[i] = exact((w[i] - 1.375L / N) * share, (fabs(w[i]) + 1) * share);
            }
            compare_all(t, spread, &c, at, v, g);
        }
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_and_its_kin_are_right_at_differences_of_hundreds),
        cmocka_unit_test(deviations_and_norms_are_right_at_the_ends_of_the_range),
        cmocka_unit_test(equal_elements_have_no_deviation_and_slopes_that_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

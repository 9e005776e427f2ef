/* SPDX-License-Identifier: MIT */
/* test_function_ends.c - functions at the ends of the range of numbers, and at zeros with
 * signs: against tapes, in every way in which a function is evaluated, first and second
 * derivatives with it. */
#define _DEFAULT_SOURCE /* of the scratch directories */
#include "compile_case.h"

#include <wengert.h>

enum {
    N = 4,
    VALUE = 0,
    GRADIENT = 1,
    CURVATURE = 1 + N,
    TANGENT = 1 + 2 * N,
    OUT = 2 + 2 * N
};

/* Of slopes, which are of unit vectors or larger, and of curvature, which is 1 over the norm in
 * size. */
#define TOL_END (64 * DBL_EPSILON)

static wg_tape *tape;
static int open_tape(void **state) {
    (void)state;
    tape = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    return tape == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return free_pools(state);
}

static void must(wg_status s) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(tape));
}

/* Value, gradient, Hessian times dx and derivative along dx of f, recorded where nothing is
 * special. */
static wg_function *all_of(wg_callback *f) {
    static const double start[N] = {1, -2, 3.5, 0.25};
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *value, *slopes, *curved, *along, *all;
    must(wg_function_record(tape, f, NULL, 1, &in, start, 1, &out, &value));
    must(wg_function_gradient(tape, value, &slopes));
    must(wg_function_hvp(tape, value, &curved));
    must(wg_function_jvp(tape, value, &along));
    const wg_function *const parts[] = {value, slopes, curved, along};
    must(wg_function_join(tape, 4, parts, &all));
    wg_function_free(value), wg_function_free(slopes);
    wg_function_free(curved), wg_function_free(along);
    assert_int_equal(all->n, 2 * N);
    assert_int_equal(all->m, OUT);
    return all;
}

static void same_results(const char *way, const wg_function *f, size_t points, const double *y,
                         const double *got) {
    for (size_t i = 0; i < points * f->m; i++)
        if (!same_bits(y[i], got[i]))
            fail_msg("%s, point %zu, entry %zu: %.17g, not %.17g", way, i / f->m, i % f->m,
                     got[i], y[i]);
}

/* y: of one point at a time. All points side by side, compiled, and saved and loaded, the bits
 * are the same; emitted for one point they are near. */
static void evaluate_every_way(const wg_function *f, size_t points, const double *x,
                               double *y) {
    static double got[POINTS * OUT];
    wg_function *native = NULL, *emitted_one = NULL, *again = NULL;
    wg_compiled how;
    size_t bytes = 0;
    assert_true(points <= POINTS && f->m <= OUT);
    for (size_t p = 0; p < points; p++)
        assert_int_equal(evaluate(f, 1, x + p * f->n, y + p * f->m, 1, NULL), WG_OK);
    assert_int_equal(evaluate(f, points, x, got, 1, NULL), WG_OK);
    same_results("side by side", f, points, y, got);
    native = must_compile(tape, f);
    assert_int_equal(evaluate(native, points, x, got, 1, NULL), WG_OK);
    same_results("compiled", f, points, y, got);
    const wg_compile_options o = {"cc", NULL, COMPILED_BEFORE};
    must(wg_function_compile_point(tape, f, &o, &emitted_one, &how));
    wg_point_call *const call = wg_function_point(emitted_one);
    if (call == NULL) fail_msg("%s", how.why);
    for (size_t p = 0; p < points; p++) {
        const double *arg[8];
        double *res[8];
        assert_true(f->inputs <= 8 && f->outputs <= 8);
        arg[0] = x + p * f->n, res[0] = got + p * f->m;
        for (size_t k = 1; k < f->inputs; k++)
            arg[k] = arg[k - 1] + wgi_argument_size(&f->input[k - 1]);
        for (size_t k = 1; k < f->outputs; k++)
            res[k] = res[k - 1] + wgi_argument_size(&f->output[k - 1]);
        assert_int_equal(call(arg, res), 0);
    }
    for (size_t i = 0; i < points * f->m; i++) /* compilers take their own powers */
        if (!same_bits(y[i], got[i]) && !(fabs(got[i] - y[i]) <= TOL_END * fabs(y[i])))
            fail_msg("emitted, point %zu, entry %zu: %.17g, not %.17g", i / f->m, i % f->m,
                     got[i], y[i]);
    assert_int_equal(wg_function_save(f, NULL, 0, &bytes), WG_OK);
    void *const file = malloc(bytes);
    assert_non_null(file);
    assert_int_equal(wg_function_save(f, file, bytes, &bytes), WG_OK);
    must(wg_function_load(tape, file, bytes, NULL, 0, &again));
    assert_int_equal(evaluate(again, points, x, got, 1, NULL), WG_OK);
    same_results("loaded", f, points, y, got);
    free(file);
    wg_function_free(again), wg_function_free(emitted_one), wg_function_free(native);
}

/* ---- norms ---- */

static wg_status norm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)m, (void)data;
    y[0] = wg_norm2(t, n, x);
    return WG_OK;
}
static wg_status distance(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)m, (void)data;
    y[0] = wg_mat_at(
        wg_distances(t, wg_mat_gather(t, 1, n / 2, x), wg_mat_gather(t, 1, n / 2, x + n / 2)),
        0, 0);
    return WG_OK;
}
static wg_status deviation(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)m, (void)data;
    y[0] = wg_mat_std(t, wg_mat_gather(t, n, 1, x), 1);
    return WG_OK;
}
static wg_status norm_of_order_3(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    (void)m, (void)data;
    y[0] = wg_mat_norm_entries(t, wg_mat_gather(t, n, 1, x), 3);
    return WG_OK;
}

/* Of degree 1, but for eps. */
static double eps;
static wg_status layer_norm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    static const double weights[N] = {1, -0.5, 2, 0.75};
    (void)m, (void)data;
    const wg_mat a = wg_mat_gather(t, n, 1, x);
    const wg_mat z = wg_mat_layer_norm(t, a, a, a, eps, WG_EACH_COL);
    y[0] = wg_mat_sum(t, wg_mat_mul(t, z, wg_mat_constant(t, n, 1, weights, n)));
    return WG_OK;
}

/* With a gain of its own, of this size. */
static double gain;
static wg_status plain_layer_norm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    static const double numbers[N] = {1, -0.5, 2, 0.75};
    (void)m, (void)data;
    const wg_mat none = wg_mat_fill(t, n, 1, 0),
                 weights = wg_mat_scale(t, gain, wg_mat_constant(t, n, 1, numbers, n));
    y[0] = wg_mat_sum(
        t, wg_mat_layer_norm(t, wg_mat_gather(t, n, 1, x), weights, none, eps, WG_EACH_COL));
    return WG_OK;
}

/* How much of a point is known to a function: it, its slopes, its curvature. */
enum known { NO_SLOPES, SLOPES, CURVED };
typedef struct end {
    double x[N];
    enum known known;
} end;

static void near_to(const char *name, size_t p, size_t entry, double got, double want,
                    double size) {
    if (!same_bits(got, want) && !(fabs(got - want) <= TOL_END * size))
        fail_msg("%s, point %zu, entry %zu: %.17g, not %.17g", name, p, entry, got, want);
}

static void ends_of(const char *name, wg_callback *f, size_t points, const end *at) {
    static const double along[N] = {0.5, -0.25, 1, 0.75};
    static double x[2 * N * POINTS], y[OUT * POINTS];
    wg_function *const all = all_of(f);
    for (size_t p = 0; p < points; p++) {
        memcpy(x + 2 * N * p, at[p].x, sizeof at[p].x);
        memcpy(x + 2 * N * p + N, along, sizeof along);
    }
    evaluate_every_way(all, points, x, y);
    for (size_t p = 0; p < points; p++) {
        const double *const got = y + OUT * p;
        double v, g[N], h[N], dot = 0;
        must(wg_hvp(tape, f, NULL, N, at[p].x, along, &v, g, h));
        near_to(name, p, VALUE, got[VALUE], v, v);
        for (size_t k = 0; k < N; k++) dot += g[k] * along[k];
        for (size_t k = 0; k < N; k++) {
            if (at[p].known == NO_SLOPES) assert_true(isnan(got[GRADIENT + k]));
            else near_to(name, p, GRADIENT + k, got[GRADIENT + k], g[k], fmax(1, fabs(g[k])));
            if (at[p].known == CURVED)
                near_to(name, p, CURVATURE + k, got[CURVATURE + k], h[k], fmax(1 / v, DBL_MIN));
        }
        if (at[p].known == NO_SLOPES) assert_true(isnan(got[TANGENT]));
        else near_to(name, p, TANGENT, got[TANGENT], dot, fmax(1, fabs(dot)));
    }
    wg_function_free(all);
}

static void slopes_of_norms_at_the_ends_of_the_range_are_those_of_a_tape(void **state) {
    (void)state;
    static const end of_norm[] = {{{3e300, 4e300, -1e300, 2e290}, CURVED},
                                  {{3e-300, -4e-300, 0, 1e-301}, CURVED},
                                  {{1, -2, 3, 4}, CURVED},
                                  {{1e-160, 1e-165, 0, -2e-160}, CURVED},
                                  {{1e155, 0, 0, 1}, CURVED},
                                  {{0, 0, 0, 0}, SLOPES},
                                  {{1.5e308, 1.5e308, 0, -1e308}, SLOPES},
                                  {{5e-324, 5e-324, 0, 0}, SLOPES},
                                  {{1e-310, 2e-310, -3e-310, 0}, SLOPES},
                                  {{-1.5e308, 1.7e308, 1, 0}, SLOPES},
                                  {{1.7e308, 1.7e308, 1.7e308, 1}, SLOPES},
                                  {{INFINITY, 1, 2, 3}, NO_SLOPES},
                                  {{INFINITY, -INFINITY, 2, 3}, NO_SLOPES},
                                  {{NAN, 1, 2, 3}, NO_SLOPES}};
    ends_of("norm", norm, sizeof of_norm / sizeof *of_norm, of_norm);
    static const end of_order_3[] = {{{3e300, 4e300, -1e300, 2e300}, SLOPES},
                                     {{1.5e308, 1.5e308, 1, -1e308}, SLOPES},
                                     {{3e-300, -4e-300, 1e-300, 1e-301}, SLOPES},
                                     {{INFINITY, 1, 2, 3}, NO_SLOPES}};
    ends_of("norm of order 3", norm_of_order_3, sizeof of_order_3 / sizeof *of_order_3,
            of_order_3);
}

static void slopes_of_distances_at_the_ends_of_the_range_are_those_of_a_tape(void **state) {
    (void)state;
    static const end of_distance[] = {{{3e300, 4e300, -1e300, 2e290}, CURVED},
                                      {{3e-300, -4e-300, 0, 1e-301}, CURVED},
                                      {{1, 2, 1, 2}, SLOPES},
                                      {{1.7e308, 1.5e308, 1e307, -1e306}, SLOPES},
                                      {{1e-310, 2e-310, -3e-310, 0}, SLOPES},
                                      {{1.5e308, 0, -1.5e308, 1.5e308}, NO_SLOPES},
                                      {{INFINITY, 1, 2, 3}, NO_SLOPES}};
    ends_of("distance", distance, sizeof of_distance / sizeof *of_distance, of_distance);
}

/* On the tape as well: the points are too far from each other for numbers, their directions
 * are not. */
static void directions_of_points_far_apart_are_known_to_tapes(void **state) {
    (void)state;
    const double far[N] = {1.5e308, 0, -1.5e308, 1.5e308}, without[N] = {INFINITY, 1, 0, 1};
    double v, g[N];
    must(wg_gradient(tape, distance, NULL, N, far, &v, g));
    assert_true(isinf(v));
    const double want[N] = {2 / sqrt(5), -1 / sqrt(5), -2 / sqrt(5), 1 / sqrt(5)};
    for (size_t k = 0; k < N; k++) near_to("far apart", 0, k, g[k], want[k], 1);
    must(wg_gradient(tape, distance, NULL, N, without, &v, g));
    assert_true(isinf(v) && g[0] == 1 && g[2] == -1 && g[1] == 0 && g[3] == 0);
}

/* One convention for all norms: their limit as what is infinite grows alike. */
static void slopes_of_norms_by_what_is_infinite_are_limits(void **state) {
    (void)state;
    static const double points[][2] = {{INFINITY, 1}, {-1, -INFINITY}, {INFINITY, -INFINITY}};
    static const double orders[] = {1, 2, 3, 4.5, INFINITY};
    for (size_t q = 0; q < sizeof points / sizeof *points; q++) {
        const double *const x = points[q], count = isinf(x[0]) && isinf(x[1]) ? 2 : 1;
        wg_real in[2], y[3 + sizeof orders / sizeof *orders];
        double order[sizeof y / sizeof *y] = {2, 2, 2};
        wg_tape_reset(tape);
        assert_int_equal(wg_inputs(tape, 2, x, in), WG_OK);
        y[0] = wg_let(tape, wg_hypot(in[0], in[1]));
        y[1] = wg_norm2(tape, 2, in);
        y[2] = wg_mat_at(
            wg_distances(tape, wg_mat_gather(tape, 1, 2, in), wg_mat_fill(tape, 1, 2, 0)), 0,
            0);
        const wg_mat column = wg_mat_gather(tape, 2, 1, in);
        for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
            y[3 + k] = wg_mat_norm_entries(tape, column, orders[k]);
            order[3 + k] = orders[k];
        }
        for (size_t k = 0; k < sizeof y / sizeof *y; k++) {
            const double p = order[k], size = isinf(p) ? 1 / count : pow(count, (1 - p) / p);
            assert_int_equal(wg_reverse(tape, y[k]), WG_OK);
            assert_true(isinf(wg_value(y[k])));
            for (size_t e = 0; e < 2; e++) {
                const double rest = p == 1 ? copysign(1, x[e]) : 0;
                near_to("infinite", q, e, wg_adjoint(tape, in[e]),
                        isinf(x[e]) ? copysign(size, x[e]) : rest, 1);
            }
        }
    }
}

static wg_status order_of(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                          void *data) {
    (void)n, (void)m;
    y[0] = wg_mat_norm_entries_axis(t, x[0], *(const double *)data, WG_EACH_COL);
    return wg_tape_status(t);
}
/* They do not change there: second derivatives are 0. The second column is an ordinary one. */
static void slopes_of_norms_by_what_is_infinite_have_no_curvature(void **state) {
    (void)state;
    static const double v[] = {1, -2, 0.5, 1}, w[] = {2, 1}, x[] = {-INFINITY, 3, 3, 4};
    double orders[] = {1, 1.5, 2, 3, INFINITY}, y[2], g[4], h[4];
    const wg_mat_values at = {x, 2, 2, 2}, along = {v, 2, 2, 2}, by = {w, 1, 2, 1};
    const wg_mat_result of_y = {y, 1, 2, 1}, of_g = {g, 2, 2, 2}, of_h = {h, 2, 2, 2};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        must(wg_mat_hvp(tape, order_of, &orders[k], 1, &at, &along, 1, &by, &of_y, &of_g,
                        &of_h));
        assert_true(isinf(y[0]) && isfinite(y[1]));
        assert_true(g[0] == -2 && g[1] == (orders[k] == 1 ? 2 : 0) && h[0] == 0 && h[1] == 0);
        /* (|v|^2 - (v'x / |x|)^2) / |x| */
        if (orders[k] == 2) near_to("ordinary", k, 0, 0.5 * h[2] + h[3], 0.008, 1);
    }
}

static void deviations_of_large_numbers_are_those_of_a_tape(void **state) {
    (void)state;
    static const end of_deviation[] = {{{1, -2, 3, 4}, CURVED},
                                       {{1.5e308, 1.5e308, 1, 1e308}, SLOPES},
                                       {{1e308, -1e308, 1e308, 1.7e308}, SLOPES},
                                       {{3e300, 4e300, -1e300, 2e290}, CURVED},
                                       {{3e-300, -4e-300, 0, 1e-301}, CURVED},
                                       {{2, 2, 2, 2}, SLOPES}};
    ends_of("deviation", deviation, sizeof of_deviation / sizeof *of_deviation, of_deviation);
}

/* Slopes have no size, and curvature is 1 over that of the point. */
static void layer_norms_of_any_size_are_the_same(void **state) {
    (void)state;
    static const double one[N] = {3, 4, -1, 2}, along[N] = {0.5, -0.25, 1, 0.75};
    static const int sizes[] = {-990, -900, -531, -470, -400, -300, 0,
                                232,  300,  400,  470,  531,  900,  990};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    double v[2], g[2][N], h[2][N];
    end at[SIZES] = {{{0}, CURVED}};
    eps = 0;
    must(wg_hvp(tape, layer_norm, NULL, N, one, along, v, g[0], h[0]));
    for (size_t p = 0; p < SIZES; p++) {
        const double size = ldexp(1, sizes[p]);
        at[p].known = CURVED;
        for (size_t k = 0; k < N; k++) at[p].x[k] = one[k] * size;
        must(wg_hvp(tape, layer_norm, NULL, N, at[p].x, along, v + 1, g[1], h[1]));
        near_to("tape", p, VALUE, v[1] / size, v[0], v[0]);
        for (size_t k = 0; k < N; k++) {
            near_to("tape", p, GRADIENT + k, g[1][k], g[0][k], 1);
            near_to("tape", p, CURVATURE + k, h[1][k] * size, h[0][k], 1);
        }
    }
    ends_of("layer norm", layer_norm, SIZES, at);
    eps = 1e-5;
    ends_of("layer norm with eps", layer_norm, SIZES / 2, at + SIZES / 2);
    eps = 1e-300;
    ends_of("layer norm with a small eps", layer_norm, SIZES, at);
    static const end equal[] = {{{2, 2, 2, 2}, CURVED},
                                {{1e300, 1e300, 1e300, 1e300}, CURVED},
                                {{-1e-300, -1e-300, -1e-300, -1e-300}, CURVED}};
    eps = 4;
    ends_of("layer norm of equals", layer_norm, sizeof equal / sizeof *equal, equal);
    static const end largest[] = {
        {{0, 1.6e308, -1.6e308, 0}, SLOPES}}; /* of a norm that is not */
    eps = 1e-5, gain = 1;
    ends_of("layer norm of the largest numbers", plain_layer_norm, 1, largest);
    static const end small[] = {{{3e-54, 4e-54, -1e-54, 2e-54}, SLOPES}};
    eps = 0, gain = 1e216;
    ends_of("layer norm of small numbers with a large gain", plain_layer_norm, 1, small);
}

/* ---- covariances of points that are near ---- */

static wg_kernel kernel;
static wg_status covariance(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const wg_mat one = wg_mat_fill(t, 1, 1, 1);
    (void)m, (void)data;
    y[0] = wg_mat_at(wg_covariance_between(t, kernel, wg_mat_gather(t, 1, n / 2, x),
                                           wg_mat_gather(t, 1, n / 2, x + n / 2), one,
                                           wg_constant(1)),
                     0, 0);
    return WG_OK;
}
/* The same among others, as a sum of two. */
static wg_status covariances(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    const wg_mat one = wg_mat_fill(t, 1, 1, 1);
    const wg_mat points = wg_mat_transpose(wg_mat_gather(t, n / 2, 2, x));
    (void)m, (void)data;
    y[0] =
        wg_mat_at(wg_covariance(t, kernel, points, one, wg_constant(1), wg_constant(0)), 0, 1);
    return WG_OK;
}

/* k(r), k'(r), k''(r), where r is so small that powers beyond the first are nothing. */
static void slopes_of_kernel(long double r, long double k[3]) {
    const long double root = sqrtl(kernel == WG_MATERN_32 ? 3 : 5);
    const long double bend = kernel == WG_SQUARED_EXPONENTIAL ? -1
                             : kernel == WG_MATERN_32         ? -3
                                                              : -5.0L / 3;
    k[0] = kernel == WG_MATERN_12 ? expl(-r) : 1;
    k[1] = kernel == WG_MATERN_12 ? -expl(-r) : bend * r;
    k[2] =
        kernel == WG_MATERN_12 ? expl(-r) : bend * (kernel == WG_MATERN_32 ? 1 - root * r : 1);
}

/* With P from the second point to the first: gradient k' P, along V  k'' P (P'V) + k' (V - P
 * (P'V)) / r. */
static void near_points(const double *x, const double *along, const double *got,
                        const char *way) {
    long double p[2], v[2], k[3], r = 0, pv = 0;
    for (int c = 0; c < 2; c++)
        p[c] = (long double)x[c] - x[2 + c], v[c] = (long double)along[c] - along[2 + c];
    r = hypotl(p[0], p[1]);
    for (int c = 0; c < 2; c++) p[c] /= r, pv += p[c] * v[c];
    slopes_of_kernel(r, k);
    const long double most = fabsl(k[1]), bent = fabsl(k[2] * pv) + fabsl(k[1] * pv / r);
    for (int e = 0; e < N; e++) {
        const long double sign = e < 2 ? 1 : -1, g = sign * k[1] * p[e % 2];
        const long double h =
            sign * (k[2] * p[e % 2] * pv + k[1] * (v[e % 2] - p[e % 2] * pv) / r);
        if (!(fabsl(got[GRADIENT + e] - g) <= TOL_END * most + DBL_MIN))
            fail_msg("%s, kernel %d, r = %Lg, slope %d: %.17g, not %.17Lg", way, (int)kernel, r,
                     e, got[GRADIENT + e], g);
        if (!(fabsl(got[CURVATURE + e] - h) <=
              TOL_END * (bent + fabsl(k[1] * v[e % 2] / r)) + DBL_MIN))
            fail_msg("%s, kernel %d, r = %Lg, curvature %d: %.17g, not %.17Lg", way,
                     (int)kernel, r, e, got[CURVATURE + e], h);
    }
    if (got[VALUE] != 1) fail_msg("%s: value %.17g", way, got[VALUE]);
    if (!(fabsl(got[TANGENT] - k[1] * pv) <= TOL_END * most * hypotl(v[0], v[1]) + DBL_MIN))
        fail_msg("%s, kernel %d, r = %Lg: tangent %.17g, not %.17Lg", way, (int)kernel, r,
                 got[TANGENT], k[1] * pv);
}

static void covariances_of_points_that_are_near_have_their_derivatives(void **state) {
    (void)state;
    static const double sizes[] = {1e-90,  1e-97,  1e-120, 1e-145, 1e-150,
                                   1e-160, 1e-163, 1e-170, 1e-200};
    /* these on tapes alone */
    static const double alone[][2] = {{1e-290, 1}, {1e-318, 1e-100}, {1e-120, 1e150}};
    static const double at[N] = {3, -4, -2, 1};
    static const double moves[][N] = {{0.5, -0.25, 1, 0.75}, {1, 0.5, 0.25, -1}};
    enum {
        SIZES = sizeof sizes / sizeof *sizes,
        WAYS = 2,
        BOTH = SIZES * WAYS,
        ALL = BOTH + sizeof alone / sizeof *alone
    };
    static double x[2 * N * ALL], y[OUT * BOTH];
    for (int which = WG_SQUARED_EXPONENTIAL; which <= WG_MATERN_52; which++) {
        kernel = (wg_kernel)which;
        wg_callback *const of[] = {covariance, covariances};
        for (size_t c = 0; c < sizeof of / sizeof *of; c++) {
            wg_function *const all = all_of(of[c]);
            for (size_t p = 0; p < ALL; p++)
                for (size_t e = 0; e < N; e++) {
                    const double size = p < BOTH ? sizes[p / WAYS] : alone[p - BOTH][0];
                    const double by = p >= BOTH ? alone[p - BOTH][1] : p % 2 ? size : 1;
                    x[2 * N * p + e] = size * at[e]; /* moved by 1, or by their size */
                    x[2 * N * p + N + e] = moves[p % 2][e] * by;
                }
            if (kernel <= WG_MATERN_12) evaluate_every_way(all, BOTH, x, y);
            else /* is not written as C */
                assert_int_equal(evaluate(all, BOTH, x, y, 1, NULL), WG_OK);
            for (size_t p = 0; p < ALL; p++) {
                const double *const point = x + 2 * N * p, *const along = point + N;
                double tape_has[OUT];
                if (p < BOTH) near_points(point, along, y + OUT * p, "function");
                must(wg_jvp(tape, of[c], NULL, N, point, along, 1, tape_has + VALUE,
                            tape_has + TANGENT));
                must(wg_hvp(tape, of[c], NULL, N, point, along, tape_has + VALUE,
                            tape_has + GRADIENT, tape_has + CURVATURE));
                near_points(point, along, tape_has, "tape");
            }
            wg_function_free(all);
        }
    }
}

/* Of k = 1 - 3 r^2 / 2 + sqrt(3) r^3 - ..., with c = x / r: sqrt(3) (9 c - 3 c^3). */
static void third_derivatives_of_points_that_are_near_are_right_or_no_numbers(void **state) {
    (void)state;
    const double third = sqrt(3) * (9 * 0.6 - 3 * 0.6 * 0.6 * 0.6), one[N] = {1, -2, 3.5, 0.25};
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f[4];
    kernel = WG_MATERN_32;
    must(wg_function_record(tape, covariance, NULL, 1, &in, one, 1, &out, &f[0]));
    must(wg_function_gradient(tape, f[0], &f[1]));
    for (size_t k = 2; k < 4; k++) must(wg_function_jvp(tape, f[k - 1], &f[k]));
    for (int e = 0; e < 290; e += 5) {
        const double size = pow(10, -e - 30);
        /* the point, twice the first direction, and 0 */
        const double x[4 * N] = {3 * size, 4 * size, 0, 0, 1, 0, 0, 0, 1};
        double y[N];
        assert_int_equal(f[3]->n, 4 * N);
        assert_int_equal(evaluate(f[3], 1, x, y, 1, NULL), WG_OK);
        if (e < 60) assert_true(isfinite(y[0]));
        if (isfinite(y[0])) near_to("third derivative", (size_t)e, 0, y[0], third, third);
    }
    for (size_t k = 0; k < 4; k++) wg_function_free(f[k]);
}

/* ---- reciprocals ---- */

/* Of degree 0 in the first two, and in the other two. */
static wg_status reciprocals(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)n, (void)m, (void)data;
    const wg_real root = wg_let(t, wg_mul(wg_sqrt(x[2]), wg_rsqrt(x[3])));
    y[0] = wg_let(t, wg_add(wg_mul(x[0], wg_div(1, x[1])),
                            wg_mul(root, wg_mul(x[2], wg_reciprocal(x[3])))));
    return WG_OK;
}

/* Slopes are of the size of 1 over an operand, and partials of its square: it leaves the range
 * where those do not. */
static void reciprocals_have_derivatives_where_their_partials_leave_the_range(void **state) {
    (void)state;
    static const double one[N] = {3, -4, 2, 7}, along[N] = {0.5, -0.25, 1, 0.75};
    static const int sizes[] = {-900, -600, -530, 530, 600, 900};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    static double x[2 * N * (SIZES + 1)], y[OUT * (SIZES + 1)];
    wg_function *const all = all_of(reciprocals);
    for (size_t p = 0; p <= SIZES; p++)
        for (size_t e = 0; e < N; e++) {
            const int size = p == 0 ? 0 : e < 2 ? sizes[p - 1] : -sizes[p - 1];
            x[2 * N * p + e] = ldexp(one[e], size),
                          x[2 * N * p + N + e] = ldexp(along[e], size);
        }
    evaluate_every_way(all, SIZES + 1, x, y);
    double v, g[N], h[N];
    must(wg_hvp(tape, reciprocals, NULL, N, one, along, &v, g, h));
    for (size_t p = 0; p <= SIZES; p++) {
        const double *const got = y + OUT * p;
        double dot = 0;
        near_to("reciprocals", p, VALUE, got[VALUE], v, fabs(v));
        for (size_t e = 0; e < N; e++) {
            const int size = p == 0 ? 0 : e < 2 ? sizes[p - 1] : -sizes[p - 1];
            dot += g[e] * along[e];
            near_to("reciprocals", p, GRADIENT + e, ldexp(got[GRADIENT + e], size), g[e], 1);
            near_to("reciprocals", p, CURVATURE + e, ldexp(got[CURVATURE + e], size), h[e], 1);
        }
        near_to("reciprocals", p, TANGENT, got[TANGENT], dot, 1);
    }
    wg_function_free(all);
}

/* ---- zeros ---- */

/* Powers of what is 0, and stays so. */
static wg_status power(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_pow(wg_sign(x[0]), x[1]));
    y[1] = wg_let(t, wg_pow(wg_relu(x[0]), x[2]));
    return WG_OK;
}

static void powers_of_what_stays_0_have_series(void **state) {
    (void)state;
    enum { ORDER = 3, POWERS = 2, COEFFICIENTS = POWERS * (ORDER + 1) };
    static const double start[N] = {1, 2, 3.5, 0.25};
    static const double points[][N] = {
        {0, 0, 0, 1}, {0, 0.5, 2.5, 1}, {-0.0, 2, 1, 1}, {-1, 2.5, 0, 1}, {0, INFINITY, 3, 1}};
    const wg_argument in = {"x", N, 1, 0}, out = {"y", POWERS, 1, 0};
    enum { COUNT = sizeof points / sizeof *points };
    double x[2 * N * COUNT], y[COEFFICIENTS * COUNT];
    wg_function *f = NULL, *series = NULL;
    must(wg_function_record(tape, power, NULL, 1, &in, start, 1, &out, &f));
    must(wg_function_taylor(tape, f, ORDER, &series));
    assert_int_equal(series->m, COEFFICIENTS);
    for (size_t p = 0; p < COUNT; p++)
        for (size_t k = 0; k < N; k++)
            x[2 * N * p + k] = points[p][k], x[2 * N * p + N + k] = k == 0 ? -1 : 0.5;
    evaluate_every_way(series, COUNT, x, y);
    for (size_t p = 0; p < COUNT; p++) {
        double value[POWERS], dot[POWERS];
        must(wg_jvp(tape, power, NULL, N, points[p], x + 2 * N * p + N, POWERS, value, dot));
        for (size_t j = 0; j < POWERS; j++) {
            const double *const got = y + COEFFICIENTS * p;
            near_to("power", p, j, got[j], value[j], 1);
            near_to("power", p, POWERS + j, got[POWERS + j], dot[j], 1);
        }
    }
    wg_function_free(series), wg_function_free(f);
}

/* 0 x + y is y, the signs of its zeros with it. */
static wg_status sign_of_axpy(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)m, (void)data;
    const wg_mat a = wg_mat_gather(t, n / 2, 1, x), b = wg_mat_gather(t, n / 2, 1, x + n / 2);
    y[0] = wg_let(t, wg_copysign(3, wg_mat_at(wg_axpy(t, 0, a, b), 0, 0)));
    return WG_OK;
}

static void nothing_of_a_vector_leaves_the_other_as_it_is(void **state) {
    (void)state;
    static const end of_signs[] = {{{1, 2, -0.0, 1}, SLOPES},
                                   {{1, 2, 0.0, 1}, SLOPES},
                                   {{-1, 2, -2, 1}, SLOPES},
                                   {{INFINITY, NAN, -0.0, 1}, SLOPES}};
    ends_of("axpy", sign_of_axpy, sizeof of_signs / sizeof *of_signs, of_signs);
    double v, g[N];
    must(wg_gradient(tape, sign_of_axpy, NULL, N, of_signs[0].x, &v, g));
    assert_true(v == -3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_of_norms_at_the_ends_of_the_range_are_those_of_a_tape),
        cmocka_unit_test(slopes_of_distances_at_the_ends_of_the_range_are_those_of_a_tape),
        cmocka_unit_test(directions_of_points_far_apart_are_known_to_tapes),
        cmocka_unit_test(slopes_of_norms_by_what_is_infinite_are_limits),
        cmocka_unit_test(slopes_of_norms_by_what_is_infinite_have_no_curvature),
        cmocka_unit_test(deviations_of_large_numbers_are_those_of_a_tape),
        cmocka_unit_test(layer_norms_of_any_size_are_the_same),
        cmocka_unit_test(covariances_of_points_that_are_near_have_their_derivatives),
        cmocka_unit_test(third_derivatives_of_points_that_are_near_are_right_or_no_numbers),
        cmocka_unit_test(reciprocals_have_derivatives_where_their_partials_leave_the_range),
        cmocka_unit_test(powers_of_what_stays_0_have_series),
        cmocka_unit_test(nothing_of_a_vector_leaves_the_other_as_it_is),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}

/* SPDX-License-Identifier: MIT */
/* test_ops_reduce.c - reductions and what goes with them: the oracle in every mode of the tape,
 * what it lacks against the operations on arrays of variables, and what happens at ties, zeros,
 * infinities and nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <wengert/reduce.h>
#include "matrix_oracle.h"
#include "tolerance.h"

/* Accurate functions of a few operations each. */
#define TOL_LINE_ULP 4.0

enum { MOST = 1024 };

/* ---- the oracle ---- */

/* Axis 0 of the oracle runs down a column; a list is a column, in results too. */
static wg_axis axis_of(const struct matrix_case *c) {
    return matrix_case_size(c, "axis") == 0 ? WG_EACH_COL : WG_EACH_ROW;
}
static wg_mat list(wg_mat a) { return a.rows == 1 ? wg_mat_transpose(a) : a; }

#define REDUCTION(name)                                                                        \
    RECORD(name) {                                                                             \
        (void)data;                                                                            \
        out[0] = list(wg_mat_##name##_axis(t, in[0], axis_of(c)));                             \
    }                                                                                          \
    ORACLE(name)
#define ALONG(name)                                                                            \
    RECORD(name) {                                                                             \
        (void)data;                                                                            \
        out[0] = wg_mat_##name(t, in[0], axis_of(c));                                          \
    }                                                                                          \
    ORACLE(name)
REDUCTION(sum)
REDUCTION(mean)
REDUCTION(max)
REDUCTION(min)
REDUCTION(logsumexp)
ALONG(cumsum)
ALONG(cumprod)
ALONG(softmax)
ALONG(log_softmax)

RECORD(var) {
    (void)data;
    out[0] = list(wg_mat_var_axis(t, in[0], matrix_case_number(c, "ddof"), axis_of(c)));
}
ORACLE(var)
RECORD(prod) {
    (void)c, (void)data;
    out[0] = matrix_case_scalar(t, wg_mat_prod(t, in[0]));
}
ORACLE(prod)
RECORD(vnorm) {
    (void)data;
    out[0] = matrix_case_scalar(t, wg_mat_norm_entries(t, in[0], matrix_case_number(c, "p")));
}
ORACLE(vnorm)
RECORD(layer_norm) {
    (void)data;
    out[0] =
        wg_mat_layer_norm(t, in[0], in[1], in[2], matrix_case_number(c, "eps"), WG_EACH_ROW);
}
ORACLE(layer_norm)

RECORD(norm) {
    (void)data;
    out[0] = matrix_case_scalar(
        t, strcmp(c->variant, "one") == 0   ? wg_mat_norm_column_sum(t, in[0])
           : strcmp(c->variant, "inf") == 0 ? wg_mat_norm_row_sum(t, in[0])
                                            : wg_mat_norm_entries(t, in[0], 2));
}
static void check_norm(struct matrix_case *c) {
    if (strcmp(c->variant, "one") == 0 || strcmp(c->variant, "inf") == 0 ||
        strcmp(c->variant, "fro") == 0)
        matrix_case_check(c, norm, NULL);
}
static void norm_agrees_with_its_oracle(void **state) {
    (void)state;
    matrix_case_each("norm", check_norm);
}

/* ---- against the operations on arrays ---- */

/* What a comparison does: the operation on the tape, and on one line of variables: y is one
 * number, or one per element of the line. */
struct way {
    const char *name;
    wg_mat (*whole)(wg_tape *t, const wg_mat *in, wg_axis axis);
    void (*line)(wg_tape *t, size_t n, const wg_real *x, const wg_real *q, wg_real *y);
    int full, operands, may_be_empty;
    wg_axis axis;
};

RECORD(on_the_tape) {
    const struct way *const w = data;
    (void)c;
    out[0] = w->whole(t, in, w->axis);
}

/* Element e of line l. */
static size_t row_of(wg_axis axis, size_t l, size_t e, size_t rows) {
    return axis == WG_ALL ? e % rows : axis == WG_EACH_COL ? e : l;
}
static size_t col_of(wg_axis axis, size_t l, size_t e, size_t rows) {
    return axis == WG_ALL ? e / rows : axis == WG_EACH_COL ? l : e;
}

RECORD(line_by_line) {
    const struct way *const w = data;
    const wg_axis axis = w->axis;
    const size_t rows = in[0].rows, cols = in[0].cols;
    const size_t n = axis == WG_ALL ? rows * cols : axis == WG_EACH_COL ? rows : cols;
    const size_t lines = axis == WG_ALL ? 1 : axis == WG_EACH_COL ? cols : rows;
    static wg_real x[MOST], q[MOST], y[MOST], all[4 * MOST];
    (void)c;
    assert_true(n <= MOST && rows * cols <= 4 * MOST);
    for (size_t l = 0; l < lines; l++) {
        for (size_t e = 0; e < n; e++) {
            x[e] = wg_mat_at(in[0], row_of(axis, l, e, rows), col_of(axis, l, e, rows));
            if (w->operands > 1)
                q[e] = wg_mat_at(in[1], row_of(axis, l, e, rows), col_of(axis, l, e, rows));
        }
        w->line(t, n, x, q, y);
        for (size_t e = 0; e < (w->full ? n : 1); e++)
            all[w->full ? row_of(axis, l, e, rows) + rows * col_of(axis, l, e, rows) : l] =
                y[e];
    }
    const size_t out_rows = w->full || axis == WG_EACH_ROW ? rows : 1;
    out[0] = wg_mat_gather(t, out_rows, w->full || axis == WG_EACH_COL ? cols : 1, all);
}

static void compare(struct way w) {
    static const struct matrix_shape shapes[] = {{5, 7, 0},  {1, 9, 0},  {9, 1, 0},   {1, 1, 0},
                                                 {61, 3, 0}, {3, 61, 0}, {17, 23, 0}, {3, 0, 0},
                                                 {0, 3, 0},  {0, 0, 0}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int axis = WG_ALL; axis <= WG_EACH_ROW; axis++) {
            const struct matrix_shape two[] = {shapes[k], shapes[k]};
            const size_t empty = shapes[k].rows * shapes[k].cols == 0;
            if (empty && !w.may_be_empty) continue;
            w.axis = (wg_axis)axis;
            matrix_case_compare(w.name, (size_t)w.operands, two, 1, on_the_tape, line_by_line,
                                &w);
        }
}

#define WHOLE(name, call)                                                                      \
    static wg_mat name##_whole(wg_tape *t, const wg_mat *in, wg_axis axis) { return call; }
#define LINE(name)                                                                             \
    static void name##_line(wg_tape *t, size_t n, const wg_real *x, const wg_real *q,          \
                            wg_real *y)
#define AGREES(name, full, operands, may_be_empty)                                             \
    static void name##_of_any_shape_agree_with_their_definition(void **state) {                \
        (void)state;                                                                           \
        const struct way w = {#name,    name##_whole, name##_line, full,                       \
                              operands, may_be_empty, WG_ALL};                                 \
        compare(w);                                                                            \
    }
#define NUMBER(name, call, may_be_empty, expression)                                           \
    WHOLE(name, call)                                                                          \
    LINE(name) {                                                                               \
        (void)q;                                                                               \
        y[0] = expression;                                                                     \
    }                                                                                          \
    AGREES(name, 0, 1, may_be_empty)

static wg_real var_of(wg_tape *t, size_t n, const wg_real *x) {
    wg_real d[MOST];
    const wg_real m = wg_mean(t, n, x);
    for (size_t i = 0; i < n; i++) d[i] = wg_let(t, wg_sub(x[i], m));
    return wg_let(t, wg_div(wg_squared_norm(t, n, d), (double)n));
}
static wg_real norm_of(wg_tape *t, size_t n, const wg_real *x, double p) {
    wg_real d[MOST];
    for (size_t i = 0; i < n; i++)
        d[i] = p < INFINITY ? wg_let(t, wg_pow(wg_fabs(x[i]), p)) : wg_let(t, wg_fabs(x[i]));
    if (n == 0) return wg_constant(0);
    if (p == INFINITY) return wg_maximum(t, n, d);
    return wg_let(t, wg_pow(wg_sum(t, n, d), 1 / p));
}
NUMBER(sums, wg_mat_sum_axis(t, in[0], axis), 1, wg_sum(t, n, x))
NUMBER(means, wg_mat_mean_axis(t, in[0], axis), 0, wg_mean(t, n, x))
NUMBER(products, wg_mat_prod_axis(t, in[0], axis), 1, wg_product(t, n, x))
NUMBER(maxima, wg_mat_max_axis(t, in[0], axis), 0, wg_maximum(t, n, x))
NUMBER(minima, wg_mat_min_axis(t, in[0], axis), 0, wg_minimum(t, n, x))
NUMBER(euclidean, wg_mat_norm_entries_axis(t, in[0], 2, axis), 1, wg_norm2(t, n, x))
NUMBER(absolute, wg_mat_norm_entries_axis(t, in[0], 1, axis), 1, norm_of(t, n, x, 1))
NUMBER(largest, wg_mat_norm_entries_axis(t, in[0], INFINITY, axis), 1,
       norm_of(t, n, x, INFINITY))
NUMBER(between, wg_mat_norm_entries_axis(t, in[0], 2.5, axis), 1, norm_of(t, n, x, 2.5))
NUMBER(variance, wg_mat_var_axis(t, in[0], 0, axis), 0, var_of(t, n, x))
NUMBER(logsumexps, wg_mat_logsumexp_axis(t, in[0], axis), 1, wg_logsumexp(t, n, x))

/* Of one element the deviation is 0, and so is the slope of its root. */
NUMBER(deviation, wg_mat_std_axis(t, in[0], 0, axis), 0,
       n == 1 ? wg_constant(0) : wg_let(t, wg_sqrt(var_of(t, n, x))))

WHOLE(cumsums, wg_mat_cumsum(t, in[0], axis))
LINE(cumsums) {
    (void)q;
    for (size_t i = 0; i < n; i++) y[i] = i == 0 ? x[0] : wg_let(t, wg_add(y[i - 1], x[i]));
}
AGREES(cumsums, 1, 1, 1)

WHOLE(cumprods, wg_mat_cumprod(t, in[0], axis))
LINE(cumprods) {
    (void)q;
    for (size_t i = 0; i < n; i++) y[i] = i == 0 ? x[0] : wg_let(t, wg_mul(y[i - 1], x[i]));
}
AGREES(cumprods, 1, 1, 1)

WHOLE(softmaxes, wg_mat_softmax(t, in[0], axis))
LINE(softmaxes) {
    (void)q;
    const wg_real v = wg_logsumexp(t, n, x);
    for (size_t i = 0; i < n; i++) y[i] = wg_let(t, wg_exp(wg_sub(x[i], v)));
}
AGREES(softmaxes, 1, 1, 1)

WHOLE(log_softmaxes, wg_mat_log_softmax(t, in[0], axis))
LINE(log_softmaxes) {
    (void)q;
    const wg_real v = wg_logsumexp(t, n, x);
    for (size_t i = 0; i < n; i++) y[i] = wg_let(t, wg_sub(x[i], v));
}
AGREES(log_softmaxes, 1, 1, 1)

static wg_mat labelled(wg_tape *t, wg_mat a, wg_axis axis) {
    const size_t n = axis == WG_ALL ? a.rows * a.cols : axis == WG_EACH_COL ? a.rows : a.cols;
    size_t label[MOST];
    for (size_t l = 0; l < MOST; l++) label[l] = n - 1;
    return wg_mat_cross_entropy(t, a, label, axis);
}
NUMBER(cross_entropies, labelled(t, in[0], axis), 0,
       wg_let(t, wg_sub(wg_logsumexp(t, n, x), x[n - 1])))

WHOLE(soft_cross_entropies, wg_mat_cross_entropy_soft(t, in[0], in[1], axis))
LINE(soft_cross_entropies) {
    const wg_real v = wg_logsumexp(t, n, x);
    wg_real term[MOST];
    for (size_t i = 0; i < n; i++) term[i] = wg_let(t, wg_mul(q[i], wg_sub(v, x[i])));
    y[0] = wg_sum(t, n, term);
}
AGREES(soft_cross_entropies, 0, 2, 1)

/* ---- at ties, zeros and infinities ---- */

/* One line as a column and as a row: value and gradient. */
struct point {
    double v, g[8];
};
static struct point at(wg_real (*f)(wg_tape *t, wg_mat a), size_t n, const double *x) {
    struct point p = {0, {0}};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, n, 1, x, n);
    const wg_real y = f(t, a);
    p.v = wg_value(y);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, p.g, n), WG_OK);
    wg_tape_free(t);
    return p;
}
#define SAME(a, b) assert_true((a) == (b) || ((a) != (a) && (b) != (b)))
#define GRADIENT(f, value, n, x, ...)                                                          \
    do {                                                                                       \
        const double expected[] = {__VA_ARGS__};                                               \
        const struct point p = at(f, n, x);                                                    \
        SAME(p.v, (double)(value));                                                            \
        for (size_t i_ = 0; i_ < (n); i_++) SAME(p.g[i_], expected[i_]);                       \
    } while (0)

static wg_real norm2(wg_tape *t, wg_mat a) { return wg_mat_norm_entries(t, a, 2); }
static wg_real norm1(wg_tape *t, wg_mat a) { return wg_mat_norm_entries(t, a, 1); }
static wg_real norm3(wg_tape *t, wg_mat a) { return wg_mat_norm_entries(t, a, 3); }
static wg_real norm_top(wg_tape *t, wg_mat a) { return wg_mat_norm_entries(t, a, INFINITY); }
static wg_real std1(wg_tape *t, wg_mat a) { return wg_mat_std(t, a, 1); }
static wg_real var1(wg_tape *t, wg_mat a) { return wg_mat_var(t, a, 1); }

static void ties_share_evenly(void **state) {
    (void)state;
    const double x[] = {2, -3, 2, -3, 1};
    GRADIENT(wg_mat_max, 2, 5, x, 0.5, 0, 0.5, 0, 0);
    GRADIENT(wg_mat_min, -3, 5, x, 0, 0.5, 0, 0.5, 0);
    GRADIENT(norm_top, 3, 5, x, 0, -0.5, 0, -0.5, 0);
}

static void a_norm_has_slope_zero_at_zero(void **state) {
    (void)state;
    const double x[] = {0, -0.0, 0};
    GRADIENT(norm1, 0, 3, x, 0, 0, 0);
    GRADIENT(norm2, 0, 3, x, 0, 0, 0);
    GRADIENT(norm3, 0, 3, x, 0, 0, 0);
    GRADIENT(norm_top, 0, 3, x, 0, 0, 0);
    GRADIENT(wg_mat_norm_column_sum, 0, 3, x, 0, 0, 0);
    GRADIENT(wg_mat_norm_row_sum, 0, 3, x, 0, 0, 0);
}

static void a_norm_neither_overflows_nor_underflows(void **state) {
    (void)state;
    const double big[] = {0x3p1000, -0x4p1000}, small[] = {0x3p-1060, 0x4p-1060};
    GRADIENT(norm2, 0x5p1000, 2, big, 0.6, -0.8);
    GRADIENT(norm2, 0x5p-1060, 2, small, 0.6, 0.8);
    const struct point p = at(norm3, 2, big), q = at(norm3, 2, small);
    assert_true(close_ulp(p.v, 0x1p1000 * cbrt(91), TOL_LINE_ULP));
    assert_true(close_ulp(p.g[0], 9 / pow(91, 2.0 / 3), TOL_LINE_ULP));
    assert_true(close_ulp(q.g[1], 16 / pow(91, 2.0 / 3), TOL_LINE_ULP));
}

static void a_constant_vector_has_deviation_zero_and_slope_zero(void **state) {
    (void)state;
    const double x[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    GRADIENT(std1, 0, 7, x, 0, 0, 0, 0, 0, 0, 0);
    GRADIENT(var1, 0, 7, x, 0, 0, 0, 0, 0, 0, 0);
}

static void a_variance_far_from_zero_keeps_its_digits(void **state) {
    (void)state;
    const double x[] = {0x1p50, 0x1p50 + 1, 0x1p50 + 2, 0x1p50 + 5};
    const struct point p = at(var1, 4, x);
    assert_true(close_ulp(p.v, 14.0 / 3, TOL_LINE_ULP));
    assert_true(close_ulp(p.g[3], 2.0, TOL_LINE_ULP));
}

static void too_small_a_sample_has_no_variance(void **state) {
    (void)state;
    const double x[] = {3};
    GRADIENT(var1, NAN, 1, x, NAN);
    GRADIENT(std1, NAN, 1, x, NAN);
}

static void nan_flows(void **state) {
    (void)state;
    double x[40];
    for (size_t where = 0; where < 40; where += 13) {
        for (size_t i = 0; i < 40; i++) x[i] = i == where ? NAN : (double)i;
        wg_tape *const t = wg_tape_new(NULL);
        const wg_mat a = wg_mat_constant(t, 40, 1, x, 40);
        assert_true(isnan(wg_value(wg_mat_max(t, a))));
        assert_true(isnan(wg_value(wg_mat_min(t, a))));
        assert_true(isnan(wg_value(wg_mat_sum(t, a))));
        assert_true(isnan(wg_value(wg_mat_norm_entries(t, a, 1))));
        assert_true(isnan(wg_value(wg_mat_norm_entries(t, a, 2))));
        assert_true(isnan(wg_value(wg_mat_norm_entries(t, a, INFINITY))));
        assert_true(isnan(wg_value(wg_mat_logsumexp(t, a))));
        assert_true(isnan(wg_value(wg_mat_at(wg_mat_softmax(t, a, WG_ALL), 1, 0))));
        wg_tape_free(t);
    }
}

static void infinite_logits_share_evenly(void **state) {
    (void)state;
    const double low[] = {-INFINITY, -INFINITY}, high[] = {1, INFINITY, INFINITY},
                 one[] = {INFINITY, 0};
    GRADIENT(wg_mat_logsumexp, -INFINITY, 2, low, 0.5, 0.5);
    GRADIENT(wg_mat_logsumexp, INFINITY, 3, high, 0, 0.5, 0.5);
    GRADIENT(wg_mat_logsumexp, INFINITY, 2, one, 1, 0);
}

static wg_real first_loss(wg_tape *t, wg_mat a) {
    const size_t label = 0;
    return wg_mat_at(wg_mat_cross_entropy(t, a, &label, WG_EACH_COL), 0, 0);
}
static wg_real second_loss(wg_tape *t, wg_mat a) {
    const size_t label = 1;
    return wg_mat_at(wg_mat_cross_entropy(t, a, &label, WG_EACH_COL), 0, 0);
}

static void a_cross_entropy_is_accurate_at_both_ends(void **state) {
    (void)state;
    const double x[] = {800, 0, -800};
    struct point p = at(second_loss, 3, x);
    assert_true(p.v == 800 && p.g[0] == 1 && p.g[1] == -1 && p.g[2] == 0);
    const double near[] = {0, -50};
    p = at(first_loss, 2, near);
    assert_true(close_ulp(p.v, exp(-50), TOL_LINE_ULP));
    assert_true(close_ulp(p.g[0], -exp(-50), TOL_LINE_ULP));
    assert_true(close_ulp(p.g[1], exp(-50), TOL_LINE_ULP));
}

static wg_real first_share(wg_tape *t, wg_mat a) {
    return wg_mat_at(wg_mat_softmax(t, a, WG_EACH_COL), 0, 0);
}
static wg_real first_log_share(wg_tape *t, wg_mat a) {
    return wg_mat_at(wg_mat_log_softmax(t, a, WG_EACH_COL), 0, 0);
}

static void a_softmax_near_one_keeps_the_digits_of_its_slope(void **state) {
    (void)state;
    const double x[] = {0, -50, -60};
    const double rest = exp(-50) + exp(-60);
    struct point p = at(first_share, 3, x);
    assert_true(close_ulp(p.g[0], rest, TOL_LINE_ULP));
    assert_true(close_ulp(p.g[2], -exp(-60), TOL_LINE_ULP));
    p = at(first_log_share, 3, x);
    assert_true(close_ulp(p.v, -rest, TOL_LINE_ULP));
    assert_true(close_ulp(p.g[0], rest, TOL_LINE_ULP));
}

/* Shares above 1/2 go a way of their own, in lines of several runs and in packed ones, too. */
static void a_large_share_has_the_same_slope_in_a_block(void **state) {
    (void)state;
    enum { N = 5 };
    double x[N * N], inner[(N - 2) * (N - 2)], w[(N - 2) * (N - 2)], g[N * N], h[N * N];
    for (size_t i = 0; i < N * N; i++) x[i] = i % 7 == 5 ? 9 : 0.25 * (double)(i % 4);
    for (size_t i = 0; i < N - 2; i++)
        for (size_t j = 0; j < N - 2; j++) {
            inner[i + j * (N - 2)] = x[i + 1 + (j + 1) * N];
            w[i + j * (N - 2)] = (double)(i + 3 * j) - 2.5;
        }
    for (int axis = WG_ALL; axis <= WG_EACH_ROW; axis++)
        for (int logarithm = 0; logarithm < 2; logarithm++) {
            wg_tape *const t = wg_tape_new(NULL);
            const wg_mat a = wg_mat_input(t, N, N, x, N);
            const wg_mat b = wg_mat_input(t, N - 2, N - 2, inner, N - 2);
            const wg_mat block = wg_mat_block(a, 1, 1, N - 2, N - 2);
            wg_mat (*const f)(wg_tape *, wg_mat, wg_axis) =
                logarithm ? wg_mat_log_softmax : wg_mat_softmax;
            assert_int_equal(wg_mat_reverse(t, f(t, block, (wg_axis)axis), w, N - 2), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, a, g, N), WG_OK);
            assert_int_equal(wg_mat_reverse(t, f(t, b, (wg_axis)axis), w, N - 2), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, b, h, N - 2), WG_OK);
            for (size_t i = 0; i < N - 2; i++)
                for (size_t j = 0; j < N - 2; j++) {
                    const double ref = h[i + j * (N - 2)];
                    assert_true(fabs(ref) > 0 && fabs(g[i + 1 + (j + 1) * N] - ref) <=
                                                     TOL_LINE_ULP * DBL_EPSILON * fabs(ref));
                }
            wg_tape_free(t);
        }
}

static wg_real weighed(wg_tape *t, wg_mat a) {
    const double q[] = {0, 1, 0};
    return wg_mat_at(wg_mat_cross_entropy_soft(t, a, wg_mat_constant(t, 3, 1, q, 3), WG_ALL), 0,
                     0);
}

static void a_class_without_weight_does_not_matter(void **state) {
    (void)state;
    const double x[] = {-INFINITY, 0, -50};
    const struct point p = at(weighed, 3, x);
    assert_true(close_ulp(p.v, exp(-50), TOL_LINE_ULP));
    assert_true(p.g[0] == 0);
    assert_true(close_ulp(p.g[1], -exp(-50), TOL_LINE_ULP));
}

static void products_with_zeros_are_exact(void **state) {
    (void)state;
    const double one[] = {3, 0, 5}, two[] = {3, 0, 0}, huge[] = {1e300, 1e300, 0};
    GRADIENT(wg_mat_prod, 0, 3, one, 0, 15, 0);
    GRADIENT(wg_mat_prod, 0, 3, two, 0, 0, 0);
    GRADIENT(wg_mat_prod, NAN, 3, huge, 0, 0, INFINITY);
}

/* ---- short lines, which are done together, against each alone ---- */

enum { SHORT_MOST = 33, SHORT_LINES = 70 };

/* Line j of n: any numbers, or some of the largest alike, infinite or NaN. */
static double short_element(size_t n, size_t j, size_t i) {
    const double x = (double)((7 * i + 3 * j) % 11) - 4;
    switch (j % 9) {
    case 1:
        return i % 3 == j % 3 ? 12 : x;
    case 3:
        return i == j % n ? INFINITY : x;
    case 4:
        return i % 2 == 0 ? INFINITY : x;
    case 6:
        return -INFINITY;
    case 7:
        return i == (j + 1) % n ? NAN : x;
    case 8:
        return i == 0 ? x : -INFINITY;
    default:
        return 90 * x;
    }
}

typedef wg_mat short_lines(wg_tape *t, wg_mat a, const size_t *label, wg_axis axis);
static wg_mat short_softmax(wg_tape *t, wg_mat a, const size_t *label, wg_axis axis) {
    (void)label;
    return wg_mat_softmax(t, a, axis);
}
static wg_mat short_log_softmax(wg_tape *t, wg_mat a, const size_t *label, wg_axis axis) {
    (void)label;
    return wg_mat_log_softmax(t, a, axis);
}

/* Both are good to TOL_LINE_ULP: values of themselves, adjoints of the largest term, size. */
static void same_numbers(size_t n, const double *got, const double *ref, double size) {
    for (size_t i = 0; i < n; i++)
        assert_true((isnan(got[i]) && isnan(ref[i])) ||
                    close_ulp(got[i], ref[i], 2 * TOL_LINE_ULP) ||
                    fabs(got[i] - ref[i]) <= 2 * TOL_LINE_ULP * DBL_EPSILON * size);
}

static void compare_lines(short_lines *op, size_t n, wg_axis axis) {
    static double x[SHORT_MOST * SHORT_LINES], w[SHORT_MOST * SHORT_LINES];
    static double g[SHORT_MOST * SHORT_LINES], h[SHORT_MOST * SHORT_LINES];
    size_t label[SHORT_LINES];
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t j = 0; j < SHORT_LINES; j++) {
        label[j] = (j * j) % n;
        for (size_t i = 0; i < n; i++) x[i + j * n] = short_element(n, j, i);
    }
    for (size_t i = 0; i < n * SHORT_LINES; i++) w[i] = (double)(i % 9) / 8;
    const wg_mat a = wg_mat_input(t, n, SHORT_LINES, x, n);
    const int row = axis == WG_EACH_ROW;
    const wg_mat y = op(t, row ? wg_mat_transpose(a) : a, label, axis);
    const wg_mat together = row ? wg_mat_transpose(y) : y;
    const size_t height = together.rows;
    assert_int_equal(wg_mat_reverse(t, together, w, height), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, n), WG_OK);
    for (size_t j = 0; j < SHORT_LINES; j++) {
        const wg_mat alone = op(t, wg_mat_block(a, 0, j, n, 1), &label[j], WG_ALL);
        double v[SHORT_MOST], u[SHORT_MOST];
        assert_int_equal(wg_mat_value(t, alone, v, height), WG_OK);
        assert_int_equal(wg_mat_value(t, wg_mat_block(together, 0, j, height, 1), u, height),
                         WG_OK);
        same_numbers(height, u, v, 0);
        assert_int_equal(wg_mat_reverse(t, alone, w + j * height, height), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, h, n), WG_OK);
        same_numbers(n, g + j * n, h + j * n, (double)n);
    }
    wg_tape_free(t);
}

static void short_lines_together_are_as_each_alone(void **state) {
    (void)state;
    static short_lines *const op[] = {short_softmax, short_log_softmax, wg_mat_cross_entropy};
    static const size_t length[] = {1, 2, 7, 10, 31, 32, 33};
    for (size_t k = 0; k < sizeof op / sizeof *op; k++)
        for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
            compare_lines(op[k], length[i], WG_EACH_COL);
            compare_lines(op[k], length[i], WG_EACH_ROW);
        }
}

/* Who stops at FE_INVALID is not stopped by a line that is masked out. Clang's programs may be:
 * by default it assumes that nobody looks at flags, and computes both sides of a choice. */
static void infinite_lines_raise_no_flags(void **state) {
    (void)state;
#ifdef __clang__
    skip();
#endif
    static short_lines *const op[] = {short_softmax, short_log_softmax, wg_mat_cross_entropy};
    enum { WIDEST = 40 };
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof op / sizeof *op; k++)
        for (size_t n = 1; n <= WIDEST; n++) {
            double x[3 * WIDEST];
            const size_t label[3] = {0, 0, 0};
            for (size_t i = 0; i < n; i++) {
                x[i] = -INFINITY;
                x[n + i] = 1000.0 + (double)i;
                x[2 * n + i] = i == n / 2 ? INFINITY : -1000.0;
            }
            wg_tape_reset(t);
            const wg_mat a = wg_mat_input(t, n, 3, x, n);
            feclearexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO);
            const wg_mat y = op[k](t, a, label, WG_EACH_COL);
            assert_int_equal(fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO), 0);
            assert_true(isfinite(y.value[y.rows]));
        }
    wg_tape_free(t);
}

/* ---- long lines, for every path of the loops ---- */

static void lines_longer_than_a_piece_add_up(void **state) {
    (void)state;
    enum { ROWS = 3001, COLS = 3 };
    static double x[ROWS * COLS], g[ROWS * COLS];
    for (size_t i = 0; i < ROWS * COLS; i++) x[i] = (double)(i % 1000) - 500;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, ROWS, COLS, x, ROWS);
    const wg_mat s = wg_mat_sum_axis(t, a, WG_EACH_COL),
                 v = wg_mat_norm_entries_axis(t, a, 2, WG_EACH_COL);
    for (size_t j = 0; j < COLS; j++) {
        double sum = 0, square = 0; /* of integers: exact */
        for (size_t i = 0; i < ROWS; i++) {
            sum += x[i + j * ROWS];
            square += x[i + j * ROWS] * x[i + j * ROWS];
        }
        assert_true(s.value[j] == sum);
        assert_true(v.value[j] == sqrt(square));
    }
    assert_int_equal(wg_mat_reverse(t, v, NULL, 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, ROWS), WG_OK);
    for (size_t i = 0; i < ROWS * COLS; i++)
        assert_true(close_ulp(g[i], x[i] / v.value[i / ROWS], TOL_LINE_ULP));
    wg_tape_free(t);
}

/* ---- what is refused ---- */

#define REFUSED(status, text, call)                                                            \
    do {                                                                                       \
        wg_tape_reset(t);                                                                      \
        (void)(call);                                                                          \
        assert_int_equal(wg_tape_status(t), status);                                           \
        if (strstr(wg_tape_message(t), text) == NULL)                                          \
            fail_msg("\"%s\" lacks \"%s\"", wg_tape_message(t), text);                         \
    } while (0)
#define INPUT(rows, cols) wg_mat_input(t, rows, cols, v, rows != 0 ? rows : 1)

static void what_has_no_meaning_is_refused(void **state) {
    (void)state;
    const double v[16] = {0};
    const size_t label[] = {0, 1, 3};
    wg_tape *const t = wg_tape_new(NULL);
    REFUSED(WG_ESHAPE, "wg_mat_max of 0x3", wg_mat_max(t, INPUT(0, 3)));
    REFUSED(WG_ESHAPE, "wg_mat_min_axis of 0x3", wg_mat_min_axis(t, INPUT(0, 3), WG_EACH_COL));
    REFUSED(WG_ESHAPE, "wg_mat_mean of 3x0", wg_mat_mean(t, INPUT(3, 0)));
    REFUSED(WG_ESHAPE, "wg_mat_var of 3x0", wg_mat_var(t, INPUT(3, 0), 0));
    REFUSED(WG_EARG, "wg_mat_sum_axis of 2x3", wg_mat_sum_axis(t, INPUT(2, 3), (wg_axis)3));
    REFUSED(WG_EARG, "wg_mat_softmax of 2x3", wg_mat_softmax(t, INPUT(2, 3), (wg_axis)3));
    REFUSED(WG_EARG, "order less than 1", wg_mat_norm_entries(t, INPUT(2, 3), 0.5));
    REFUSED(WG_EARG, "order less than 1", wg_mat_norm_entries(t, INPUT(2, 3), NAN));
    REFUSED(WG_EARG, "wg_mat_cross_entropy of 3x3",
            wg_mat_cross_entropy(t, INPUT(3, 3), label, WG_EACH_COL));
    REFUSED(WG_ENULL, "wg_mat_cross_entropy of 3x3",
            wg_mat_cross_entropy(t, INPUT(3, 3), NULL, WG_EACH_ROW));
    REFUSED(WG_ESHAPE, "wg_mat_cross_entropy_soft of 3x3, 3x2",
            wg_mat_cross_entropy_soft(t, INPUT(3, 3), INPUT(3, 2), WG_EACH_ROW));
    REFUSED(WG_ESHAPE, "wg_mat_layer_norm of 3x3, 3x1, 2x1",
            wg_mat_layer_norm(t, INPUT(3, 3), INPUT(3, 1), INPUT(2, 1), 0, WG_EACH_ROW));
    REFUSED(WG_ESHAPE, "wg_mat_layer_norm of 2x2, 2x2, 4x1",
            wg_mat_layer_norm(t, INPUT(2, 2), INPUT(2, 2), INPUT(4, 1), 0, WG_ALL));
    wg_tape_reset(t);
    assert_int_equal(wg_tape_status(t), WG_OK);
    const wg_mat y = wg_mat_max_axis(t, INPUT(3, 0), WG_EACH_COL);
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_true(y.rows == 1 && y.cols == 0);
    wg_tape_free(t);
}

static void without_a_tape_a_reduction_is_nan_of_its_shape(void **state) {
    (void)state;
    const wg_mat a = wg_mat_failed(3, 4);
    const size_t label[] = {0, 1, 2, 0};
    assert_true(isnan(wg_value(wg_mat_sum(NULL, a))));
    assert_true(isnan(wg_value(wg_mat_norm_column_sum(NULL, a))));
    const wg_mat s = wg_mat_sum_axis(NULL, a, WG_EACH_ROW), p = wg_mat_softmax(NULL, a, WG_ALL);
    const wg_mat l = wg_mat_cross_entropy(NULL, a, label, WG_EACH_COL);
    assert_true(s.value == NULL && s.rows == 3 && s.cols == 1);
    assert_true(p.value == NULL && p.rows == 3 && p.cols == 4);
    assert_true(l.value == NULL && l.rows == 1 && l.cols == 4);
}

static void labels_are_copied(void **state) {
    (void)state;
    const double v[] = {1, 2, 3, 4};
    size_t label[] = {0, 1};
    double g[4];
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = INPUT(2, 2);
    const wg_mat l = wg_mat_cross_entropy(t, a, label, WG_EACH_COL);
    label[0] = label[1] = 99;
    assert_int_equal(wg_mat_reverse(t, l, NULL, 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 2), WG_OK);
    assert_true(g[0] < 0 && g[1] > 0 && g[2] > 0 && g[3] < 0);
    wg_tape_free(t);
}

static void all_cases_claimed_here_were_checked(void **state) {
    (void)state;
    matrix_claims_met("reduce");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_agrees_with_its_oracle),
        cmocka_unit_test(mean_agrees_with_its_oracle),
        cmocka_unit_test(var_agrees_with_its_oracle),
        cmocka_unit_test(prod_agrees_with_its_oracle),
        cmocka_unit_test(max_agrees_with_its_oracle),
        cmocka_unit_test(min_agrees_with_its_oracle),
        cmocka_unit_test(vnorm_agrees_with_its_oracle),
        cmocka_unit_test(norm_agrees_with_its_oracle),
        cmocka_unit_test(cumsum_agrees_with_its_oracle),
        cmocka_unit_test(cumprod_agrees_with_its_oracle),
        cmocka_unit_test(logsumexp_agrees_with_its_oracle),
        cmocka_unit_test(softmax_agrees_with_its_oracle),
        cmocka_unit_test(log_softmax_agrees_with_its_oracle),
        cmocka_unit_test(layer_norm_agrees_with_its_oracle),
        cmocka_unit_test(sums_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(means_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(products_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(maxima_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(minima_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(euclidean_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(absolute_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(largest_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(between_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(variance_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(deviation_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(logsumexps_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(cumsums_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(cumprods_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(softmaxes_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(log_softmaxes_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(cross_entropies_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(soft_cross_entropies_of_any_shape_agree_with_their_definition),
        cmocka_unit_test(ties_share_evenly),
        cmocka_unit_test(a_norm_has_slope_zero_at_zero),
        cmocka_unit_test(a_norm_neither_overflows_nor_underflows),
        cmocka_unit_test(a_constant_vector_has_deviation_zero_and_slope_zero),
        cmocka_unit_test(a_variance_far_from_zero_keeps_its_digits),
        cmocka_unit_test(too_small_a_sample_has_no_variance),
        cmocka_unit_test(nan_flows),
        cmocka_unit_test(infinite_logits_share_evenly),
        cmocka_unit_test(a_cross_entropy_is_accurate_at_both_ends),
        cmocka_unit_test(a_softmax_near_one_keeps_the_digits_of_its_slope),
        cmocka_unit_test(a_large_share_has_the_same_slope_in_a_block),
        cmocka_unit_test(a_class_without_weight_does_not_matter),
        cmocka_unit_test(products_with_zeros_are_exact),
        cmocka_unit_test(short_lines_together_are_as_each_alone),
        cmocka_unit_test(infinite_lines_raise_no_flags),
        cmocka_unit_test(lines_longer_than_a_piece_add_up),
        cmocka_unit_test(what_has_no_meaning_is_refused),
        cmocka_unit_test(without_a_tape_a_reduction_is_nan_of_its_shape),
        cmocka_unit_test(labels_are_copied),
        cmocka_unit_test(all_cases_claimed_here_were_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

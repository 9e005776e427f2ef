/* SPDX-License-Identifier: MIT */
/* test_ops_order.c - sorting, quantiles, cumulative maxima; block diagonal, Toeplitz and
 * circulant matrices; distances and the covariance of data: against plain loops, derivatives
 * in every mode. */
#include "derived_case.h"
#include "written_out.h"

/* A sum of n products against the same sum in another order. */
#define TOL_SUMS 8.0

enum { MOST = 13 };

/* ---- values ---- */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void lines_are_sorted_and_have_quantiles(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 3;
    for (size_t n = 1; n <= MOST; n++)
        for (int turned = 0; turned < 2; turned++) {
            wg_tape_reset(t);
            const wg_mat a = derived_random(t, n, 3, 1, &seed),
                         of = turned ? wg_mat_transpose(a) : a;
            const wg_axis axis = turned ? WG_EACH_ROW : WG_EACH_COL;
            const wg_mat y = wg_mat_sort(t, of, axis), top = wg_mat_cummax(t, of, axis);
            const wg_mat third = wg_mat_quantile_axis(t, of, 0.3, axis),
                         median = wg_mat_median_axis(t, of, axis);
            for (size_t j = 0; j < 3; j++) {
                double x[MOST], most = -INFINITY;
                for (size_t i = 0; i < n; i++) {
                    x[i] = derived_at(a, i, j), most = fmax(most, x[i]);
                    assert_true(derived_at(top, turned ? j : i, turned ? i : j) == most);
                }
                qsort(x, n, sizeof *x, ascending);
                for (size_t i = 0; i < n; i++)
                    assert_true(derived_at(y, turned ? j : i, turned ? i : j) == x[i]);
                const double h = 0.3 * (double)(n - 1);
                const size_t k = (size_t)h, next = k + 1 < n ? k + 1 : k;
                const double want = x[k] + (h - (double)k) * (x[next] - x[k]);
                assert_true(fabs(derived_at(third, turned ? j : 0, turned ? 0 : j) - want) <=
                            TOL_SUMS * DBL_EPSILON);
                const double middle = 0.5 * (x[(n - 1) / 2] + x[n / 2]);
                assert_true(fabs(derived_at(median, turned ? j : 0, turned ? 0 : j) - middle) <=
                            TOL_SUMS * DBL_EPSILON);
            }
            assert_true(wg_value(wg_mat_quantile(t, of, 1)) == wg_value(wg_mat_max(t, of)));
            assert_true(wg_value(wg_mat_quantile(t, of, 0)) == wg_value(wg_mat_min(t, of)));
        }
    wg_tape_free(t);
}

/* 2 1 2: the first 2 and the second one keep their order; of the maximum both have half. */
static void ties_are_stable_or_shared(void **state) {
    (void)state;
    static const double x[] = {2, 1, 2}, place[3] = {1, 0, 2};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, 3, 1, x, 3), y = wg_mat_sort(t, a, WG_ALL),
                 top = wg_mat_cummax(t, a, WG_ALL);
    double g[3];
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(wg_reverse(t, wg_mat_at(y, k, 0)), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
        for (size_t i = 0; i < 3; i++) assert_true(g[i] == ((double)i == place[k]));
    }
    assert_int_equal(wg_reverse(t, wg_mat_at(top, 2, 0)), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
    assert_true(g[0] == 0.5 && g[1] == 0 && g[2] == 0.5);
    wg_tape_free(t);
}

static void a_nan_spoils_its_line(void **state) {
    (void)state;
    static const double x[] = {3, NAN, 1, 2, 1, 0};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, 3, 2, x, 3), y = wg_mat_sort(t, a, WG_EACH_COL),
                 top = wg_mat_cummax(t, a, WG_EACH_COL),
                 m = wg_mat_median_axis(t, a, WG_EACH_COL);
    for (size_t i = 0; i < 3; i++) {
        assert_true(isnan(derived_at(y, i, 0)) && derived_at(y, i, 1) == (double)i);
        assert_true(i == 0 ? derived_at(top, i, 0) == 3 : isnan(derived_at(top, i, 0)));
    }
    assert_true(isnan(derived_at(m, 0, 0)) && derived_at(m, 0, 1) == 1);
    wg_tape_free(t);
}

static void elements_stand_where_the_pattern_says(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 5;
    for (size_t m = 0; m < 6; m++)
        for (size_t n = 0; n < 6; n++) {
            wg_tape_reset(t);
            const wg_mat c = derived_random(t, m, 1, 1, &seed),
                         r = derived_random(t, n, 1, 1, &seed);
            const wg_mat y = wg_toeplitz(t, c, wg_mat_transpose(r)), round = wg_circulant(t, c);
            assert_true(y.rows == m && y.cols == n && round.rows == m && round.cols == m);
            for (size_t i = 0; i < m; i++) {
                for (size_t j = 0; j < n; j++)
                    assert_true(derived_at(y, i, j) ==
                                (i >= j ? derived_at(c, i - j, 0) : derived_at(r, j - i, 0)));
                for (size_t j = 0; j < m; j++)
                    assert_true(derived_at(round, i, j) == derived_at(c, (i + m - j) % m, 0));
            }
            wg_mat all[18];
            for (size_t k = 0; k < 18; k++) all[k] = k % 2 == 0 ? y : c;
            const size_t count = m + n > 6 ? 18 : 2;
            const wg_mat d = wg_block_diag(t, count, all);
            size_t down = 0, across = 0;
            for (size_t k = 0; k < count; down += all[k].rows, across += all[k].cols, k++)
                for (size_t j = 0; j < all[k].cols; j++)
                    for (size_t i = 0; i < d.rows; i++) {
                        const int inside = i >= down && i < down + all[k].rows;
                        assert_true(derived_at(d, i, across + j) ==
                                    (inside ? derived_at(all[k], i - down, j) : 0));
                    }
            assert_true(d.rows == down && d.cols == across);
        }
    wg_tape_free(t);
}

static void distances_and_covariances_are_sums_of_products(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 7;
    const wg_mat x = derived_random(t, 7, 3, 1, &seed), z = derived_random(t, 4, 3, 1, &seed);
    const wg_mat d = wg_distances(t, x, z), q = wg_distances_squared(t, x, z),
                 c = wg_data_covariance(t, x, 1);
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 4; j++) {
            long double s = 0;
            for (size_t k = 0; k < 3; k++) {
                const long double by =
                    (long double)derived_at(x, i, k) - (long double)derived_at(z, j, k);
                s += by * by;
            }
            assert_true(fabs(derived_at(q, i, j) - (double)s) <=
                        TOL_SUMS * DBL_EPSILON * (double)s);
            assert_true(fabs(derived_at(d, i, j) - sqrt((double)s)) <=
                        TOL_SUMS * DBL_EPSILON * sqrt((double)s));
        }
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            long double mean[2] = {0, 0}, s = 0;
            for (size_t k = 0; k < 7; k++)
                mean[0] += (long double)derived_at(x, k, i) / 7,
                    mean[1] += (long double)derived_at(x, k, j) / 7;
            for (size_t k = 0; k < 7; k++)
                s += ((long double)derived_at(x, k, i) - mean[0]) *
                     ((long double)derived_at(x, k, j) - mean[1]);
            assert_true(fabs(derived_at(c, i, j) - (double)(s / 6)) <= TOL_SUMS * DBL_EPSILON);
        }
    wg_tape_free(t);
}

/* Squares leave the range of numbers, distances do not. */
static void huge_and_tiny_distances_have_their_digits(void **state) {
    (void)state;
    static const double sizes[] = {1e300, 1e-300, 1};
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < 3; k++) {
        wg_tape_reset(t);
        const double x[2] = {3 * sizes[k], 0}, z[2] = {0, 4 * sizes[k]};
        double g[2];
        const wg_mat a = wg_mat_input(t, 1, 2, x, 1), b = wg_mat_input(t, 1, 2, z, 1);
        const wg_mat d = wg_distances(t, a, b);
        assert_true(fabs(derived_at(d, 0, 0) - 5 * sizes[k]) <= 4 * DBL_EPSILON * 5 * sizes[k]);
        assert_int_equal(wg_reverse(t, wg_mat_at(d, 0, 0)), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, 1), WG_OK);
        assert_true(fabs(g[0] - 0.6) <= 4 * DBL_EPSILON && fabs(g[1] + 0.8) <= 4 * DBL_EPSILON);
    }
    wg_tape_free(t);
}

/* ---- derivatives ---- */

static void of_sorted(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_mat_sort(t, in[0], WG_EACH_COL));
    derived_matrix(s, wg_mat_sort(t, in[0], WG_EACH_ROW));
    derived_matrix(s, wg_mat_sort(t, in[0], WG_ALL));
}
static void of_quantiles(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_number(s, wg_mat_quantile(t, in[0], 0.3));
    derived_matrix(s, wg_mat_quantile_axis(t, in[0], 0.7, WG_EACH_COL));
    derived_matrix(s, wg_mat_median_axis(t, in[0], WG_EACH_ROW));
    derived_number(s, wg_mat_median(t, in[0]));
}
static void of_maxima(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_mat_cummax(t, in[0], WG_EACH_COL));
    derived_matrix(s, wg_mat_cummax(t, in[0], WG_EACH_ROW));
    derived_matrix(s, wg_mat_cummax(t, in[0], WG_ALL));
}
static void of_blocks(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_block_diag(t, 3, in));
}
static void of_toeplitz(wg_tape *t, const wg_mat *in, derived_sum *s) {
    const wg_mat far = wg_mat_scale(t, 4, wg_mat_identity(t, 4));
    derived_matrix(s, wg_solve(t, wg_mat_add(t, far, wg_toeplitz(t, in[0], in[1])), in[2]));
    derived_matrix(s, wg_solve(t, wg_mat_add(t, far, wg_circulant(t, in[0])), in[2]));
}
static void of_distances(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_distances(t, in[0], in[1]));
}
static void of_squares(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_distances_squared(t, in[0], in[1]));
}
static void of_own_distances(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_distances(t, in[0], in[0]));
}
static void of_covariance(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_data_covariance(t, in[0], 1));
}

static const derived_case cases[] = {
    {"sort", of_sorted, {4}, {3}, {DERIVED_APART}},
    {"quantile", of_quantiles, {4}, {5}, {DERIVED_APART}},
    {"cummax", of_maxima, {4}, {3}, {DERIVED_APART}},
    {"block_diag", of_blocks, {2, 1, 3}, {3, 2, 1}, {0, 0, 0}},
    {"toeplitz, circulant", of_toeplitz, {4, 1, 4}, {1, 4, 1}, {0, 0, 0}},
    {"distances", of_distances, {4, 3}, {2, 2}, {0, 0}},
    {"distances of numbers", of_distances, {3, 2}, {1, 1}, {0, 0}},
    {"distances_squared", of_squares, {4, 3}, {2, 2}, {0, 0}},
    {"distances of one", of_own_distances, {4}, {3}, {0}},
    {"data_covariance", of_covariance, {6}, {3}, {0}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void derivatives_of_all_orders_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) derived_check(&cases[i]);
}

static void refusals_name_the_operation(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 9;
    const wg_mat a = derived_random(t, 2, 3, 1, &seed),
                 none = derived_random(t, 0, 3, 1, &seed);
    const wg_mark start = wg_tape_mark(t);
    (void)wg_mat_quantile(t, a, 1.5);
    assert_int_equal(wg_tape_status(t), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "wg_mat_quantile"));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_mat_median_axis(t, none, WG_EACH_COL);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "wg_mat_median_axis"));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_data_covariance(t, a, 2);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_distances(t, a, wg_mat_transpose(a));
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_toeplitz(t, a, a);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "wg_toeplitz"));
    wg_tape_free(t);
}

/* ---- in functions ---- */

static void write_maxima(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                         const void *data) {
    (void)data;
    written_out_put(r, wg_mat_cummax(t, in[0], WG_EACH_ROW));
}
static void write_sorted(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                         const void *data) {
    (void)data;
    written_out_put(r, wg_mat_sort(t, in[0], WG_EACH_COL));
    written_out_put_number(r, t, wg_mat_quantile(t, in[0], 0.4));
}
static void write_patterns(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                           const void *data) {
    (void)data;
    written_out_put(r, wg_block_diag(t, 2, in));
    written_out_put(r, wg_toeplitz(t, in[0], in[1]));
    written_out_put(r, wg_circulant(t, in[0]));
}
static void write_distances(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                            const void *data) {
    (void)data;
    written_out_put(r, wg_distances(t, in[0], wg_mat_transpose(in[1])));
    written_out_put(r, wg_distances_squared(t, in[0], wg_mat_transpose(in[1])));
}
static void write_own_distances(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                                const void *data) {
    (void)data;
    written_out_put(r, wg_distances(t, in[0], in[0]));
}
static void write_covariance(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                             const void *data) {
    (void)data;
    written_out_put(r, wg_data_covariance(t, in[0], 1));
}

static void functions_of_them_are_the_same(void **state) {
    (void)state;
    const struct written_out all[] = {
        {.name = "cummax", .record = write_maxima, .in = {{2, 3, HEAVY}}},
        {.name = "sort", .record = write_sorted, .in = {{3, 2, HEAVY}}},
        {.name = "patterns", .record = write_patterns, .in = {{3, 1, PLAIN}, {1, 2, PLAIN}}},
        {.name = "distances", .record = write_distances, .in = {{3, 2, PLAIN}, {2, 2, PLAIN}}},
        {.name = "own distances", .record = write_own_distances, .in = {{3, 2, PLAIN}}},
        {.name = "covariance", .record = write_covariance, .in = {{4, 3, PLAIN}}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) written_out_check(&all[i]);
}

static wg_status smaller_of_two(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_at(wg_mat_sort(t, wg_mat_gather(t, 2, 1, x), WG_ALL), 0, 0);
    return wg_tape_status(t);
}

/* A function recorded at `here` has that value there, and at `other` says that the order is
 * another one. */
static void serves(const double *here, double value, const double *other) {
    const wg_argument in = {"x", 2, 1, 0}, out = {"y", 1, 1, 0};
    double y = 7;
    const wg_points at_here = {here, 0, 1}, at_other = {other, 0, 1};
    const wg_results to = {&y, 0, 1};
    wg_function *f = NULL;
    assert_int_equal(
        wg_function_record(written_out_tape, smaller_of_two, NULL, 1, &in, here, 1, &out, &f),
        WG_OK);
    void *const room = malloc(wg_function_work(f, NULL) + 1);
    assert_non_null(room);
    assert_int_equal(wg_function_evaluate(f, 1, &at_here, &to, NULL, room, NULL), WG_OK);
    assert_true(isnan(value) ? isnan(y) : y == value);
    assert_int_equal(wg_function_evaluate(f, 1, &at_other, &to, NULL, room, NULL), WG_EGUARD);
    free(room);
    wg_function_free(f);
}

static void functions_know_for_which_order_they_serve(void **state) {
    (void)state;
    serves((const double[]){1, 2}, 1, (const double[]){4, 3});
}

/* What operands are multiplied by. */
static double unit = 1;
static void of_distances_in_a_unit(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_mat_scale(t, 1 / unit, wg_distances(t, in[0], in[1])));
}
static void distances_have_derivatives_in_every_unit(void **state) {
    (void)state;
    static const derived_case c = {"distances", of_distances_in_a_unit, {4, 3}, {2, 2}, {0, 0}};
    derived_check_units(&c, &unit);
}

static wg_status all_distances(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *data) {
    const wg_mat of = wg_mat_gather(t, n / 2, 2, x);
    (void)m, (void)data;
    y[0] = wg_mat_sum(t, wg_distances(t, of, of));
    return wg_tape_status(t);
}
/* Two points d apart, along the first axis, and a third one far away: along v second
 * derivatives by the first coordinate of the first point have nothing from the near one,
 * which is what cancels. */
static void near_points_keep_the_digits_of_second_derivatives(void **state) {
    (void)state;
    wg_tape *const t = derived_tape();
    for (int e = -4; e >= -40; e -= 12) {
        const double x[6] = {0.25, 0.25 + ldexp(1, e), 5, 0.75, 0.75, -2},
                     v[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
        double h[6];
        assert_int_equal(wg_hvp(t, all_distances, NULL, 6, x, v, NULL, NULL, h), WG_OK);
        const double to[2] = {x[0] - x[2], x[3] - x[5]}, by[2] = {v[0] - v[2], v[3] - v[5]};
        const double d = hypot(to[0], to[1]), along = (to[0] * by[0] + to[1] * by[1]) / d;
        const double want = 2 * (by[0] / d - to[0] * along / d / d);
        assert_true(fabs(h[0] - want) <= TOL_SUMS * DBL_EPSILON * fabs(want));
    }
    wg_tape_free(t);
}

/* The distance is infinite, its direction is that of points nearer to each other; NaN by an
 * infinite coordinate, 0 by others beside it. */
static void a_distance_beyond_the_range_of_numbers_has_a_slope(void **state) {
    (void)state;
    static const double far[] = {1.5e308, 5, -1.125e308, -INFINITY, 0, 0}, none[] = {0, 0, 0};
    static const double want[][3] = {{0.8, -0.6, 0}, {0, -1, 0}};
    wg_tape *const t = wg_tape_new(NULL);
    double g[6], h[3];
    const wg_mat x = wg_mat_input(t, 2, 3, far, 2), z = wg_mat_input(t, 1, 3, none, 1);
    const wg_mat d = wg_distances(t, x, z);
    for (size_t i = 0; i < 2; i++) {
        assert_true(derived_at(d, i, 0) == INFINITY);
        assert_int_equal(wg_reverse(t, wg_mat_at(d, i, 0)), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, x, g, 2), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, z, h, 1), WG_OK);
        for (size_t k = 0; k < 3; k++) {
            const double by = g[i + 2 * k];
            assert_true(fabs(by - want[i][k]) <= 2 * DBL_EPSILON && h[k] == -by);
            assert_true(g[1 - i + 2 * k] == 0);
        }
    }
    wg_tape_free(t);
}

/* The distance has few digits, or one; its slopes have all of theirs. */
static void slopes_of_distances_below_the_normal_numbers_have_their_digits(void **state) {
    (void)state;
    static const double one[] = {3 * 0x1p-1074, 7, 0}, other[] = {0, 7, 4 * 0x1p-1074};
    static const double want[] = {0.6, 0, -0.8};
    wg_tape *const t = wg_tape_new(NULL);
    double g[3], h[3];
    const wg_mat x = wg_mat_input(t, 1, 3, one, 1), z = wg_mat_input(t, 1, 3, other, 1);
    const wg_mat d = wg_distances(t, x, z);
    assert_true(derived_at(d, 0, 0) == 5 * 0x1p-1074);
    assert_int_equal(wg_reverse(t, wg_mat_at(d, 0, 0)), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, x, g, 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, z, h, 1), WG_OK);
    for (size_t k = 0; k < 3; k++)
        assert_true(fabs(g[k] - want[k]) <= 2 * DBL_EPSILON && h[k] == -g[k]);
    wg_tape_reset(t);
    static const double near[] = {0x1p-1074, 0, 0x1p-1074}, zero[] = {0, 0, 0};
    const wg_mat a = wg_mat_input(t, 1, 3, near, 1), b = wg_mat_input(t, 1, 3, zero, 1);
    assert_int_equal(wg_reverse(t, wg_mat_at(wg_distances(t, a, b), 0, 0)), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 1), WG_OK);
    assert_true(fabs(g[0] - sqrt(0.5)) <= 2 * DBL_EPSILON && g[1] == 0 && g[2] == g[0]);
    wg_tape_free(t);
}

static void a_correction_of_the_covariance_is_a_number(void **state) {
    (void)state;
    static const double bad[] = {NAN, -INFINITY, INFINITY, 4, 5};
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wg_tape_reset(t);
        (void)wg_data_covariance(t, derived_random(t, 4, 2, 1, &seed), bad[i]);
        assert_int_equal(wg_tape_status(t), WG_ESHAPE);
        assert_non_null(strstr(wg_tape_message(t), "wg_data_covariance"));
    }
    wg_tape_free(t);
}

/* As of wg_maximum, element by element. */
static void a_cumulative_maximum_of_a_nan_has_no_slope(void **state) {
    (void)state;
    static const double x[][3] = {{1, NAN, 2}, {NAN, 1, 2}, {2, 2, NAN}};
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            wg_tape_reset(t);
            double g[3];
            const wg_mat a = wg_mat_input(t, 3, 1, x[i], 3), y = wg_mat_cummax(t, a, WG_ALL);
            wg_real most = wg_mat_at(a, 0, 0);
            for (size_t e = 1; e <= k; e++)
                most = wg_maximum(t, 2, (const wg_real[]){most, wg_mat_at(a, e, 0)});
            assert_int_equal(wg_reverse(t, wg_mat_at(y, k, 0)), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
            assert_int_equal(wg_reverse(t, most), WG_OK);
            for (size_t e = 0; e < 3; e++) {
                const double want = wg_adjoint(t, wg_mat_at(a, e, 0));
                assert_true(g[e] == want || (isnan(g[e]) && isnan(want)));
            }
        }
    wg_tape_free(t);
}

/* Recorded where a NaN is, an order is no order elsewhere. */
static void functions_recorded_at_a_nan_serve_there_only(void **state) {
    (void)state;
    serves((const double[]){1, NAN}, NAN, (const double[]){1, 2});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_sorted_and_have_quantiles),
        cmocka_unit_test(ties_are_stable_or_shared),
        cmocka_unit_test(a_nan_spoils_its_line),
        cmocka_unit_test(elements_stand_where_the_pattern_says),
        cmocka_unit_test(distances_and_covariances_are_sums_of_products),
        cmocka_unit_test(huge_and_tiny_distances_have_their_digits),
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(refusals_name_the_operation),
        cmocka_unit_test_setup_teardown(functions_of_them_are_the_same, written_out_open,
                                        written_out_close),
        cmocka_unit_test_setup_teardown(functions_know_for_which_order_they_serve,
                                        written_out_open, written_out_close),
        cmocka_unit_test(distances_have_derivatives_in_every_unit),
        cmocka_unit_test(near_points_keep_the_digits_of_second_derivatives),
        cmocka_unit_test(a_distance_beyond_the_range_of_numbers_has_a_slope),
        cmocka_unit_test(slopes_of_distances_below_the_normal_numbers_have_their_digits),
        cmocka_unit_test(a_correction_of_the_covariance_is_a_number),
        cmocka_unit_test(a_cumulative_maximum_of_a_nan_has_no_slope),
        cmocka_unit_test_setup_teardown(functions_recorded_at_a_nan_serve_there_only,
                                        written_out_open, written_out_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

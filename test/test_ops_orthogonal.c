/* SPDX-License-Identifier: MIT */
/* test_ops_orthogonal.c - QR, least squares, pseudo-inverse: what the oracle (test_ops_solve.c)
 * lacks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert/batch.h>
#include <wengert/data.h>
#include <wengert/solve.h>
#include "linear_case.h"
#include "matrix_case.h"
#include "tolerance.h"

struct size {
    size_t m, n;
};
static const struct size sizes[] = {{1, 1}, {4, 1}, {1, 4}, {5, 5}, {6, 4}, {4, 6}, {52, 50}};
enum { SIZES = sizeof sizes / sizeof *sizes, RIGHT = 3 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* A of full rank: the diagonal is raised. */
static wg_mat full_rank(wg_tape *t, const wg_real **x, const struct size *s) {
    double *const d = random_numbers(0, s->m * s->n);
    for (size_t i = 0; i < s->m * s->n; i++) d[i] = 0;
    for (size_t i = 0; i < least(s->m, s->n); i++) d[i * (s->m + 1)] = 2 * sqrt((double)s->n);
    const wg_mat a =
        wg_axpy(t, 1, wg_mat_constant(t, s->m, s->n, d, s->m), take(t, x, s->m, s->n));
    free(d);
    return a;
}

static wg_status both(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    wg_mat q, r;
    (void)n, (void)m;
    (void)wg_qr(t, full_rank(t, &x, (const struct size *)data), &q, &r);
    give(q, &y);
    give(r, &y);
    return wg_tape_status(t);
}
static wg_status only_q(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m;
    give(wg_qr_q(t, full_rank(t, &x, (const struct size *)data)), &y);
    return wg_tape_status(t);
}
static wg_status only_r(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m;
    give(wg_qr_r(t, full_rank(t, &x, (const struct size *)data)), &y);
    return wg_tape_status(t);
}

static void qr_has_its_derivatives(void **state) {
    (void)state;
    for (size_t k = 0; k < SIZES; k++) {
        const size_t m = sizes[k].m, n = sizes[k].n, p = least(m, n);
        derivatives_agree(both, &sizes[k], m * n, m * p + p * n);
        derivatives_agree(only_q, &sizes[k], m * n, m * p);
        derivatives_agree(only_r, &sizes[k], m * n, p * n);
    }
}

static double inner(wg_mat q, size_t a, size_t b) {
    double s = 0;
    for (size_t i = 0; i < q.rows; i++)
        s += wg_mat_at(q, i, a).value * wg_mat_at(q, i, b).value;
    return s;
}

static void qr_is_a_factorisation_and_its_parts_are_the_same_alone(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < SIZES; k++) {
        wg_tape_reset(t);
        const wg_mat a = random_input(t, 70, sizes[k].m, sizes[k].n, 0);
        wg_mat q, r;
        assert_int_equal(wg_qr(t, a, &q, &r), WG_OK);
        const wg_mat q1 = wg_qr_q(t, a), r1 = wg_qr_r(t, a);
        for (size_t j = 0; j < q.cols; j++)
            for (size_t i = 0; i <= j; i++)
                assert_true(fabs(inner(q, i, j) - (i == j)) <= TOL_MATRIX_ULP * DBL_EPSILON);
        for (size_t j = 0; j < a.cols; j++)
            for (size_t i = 0; i < a.rows; i++) {
                double s = 0;
                for (size_t l = 0; l < q.cols; l++)
                    s += wg_mat_at(q, i, l).value * wg_mat_at(r, l, j).value;
                assert_true(fabs(s - wg_mat_at(a, i, j).value) <= TOL_MATRIX_ULP * DBL_EPSILON);
            }
        for (size_t j = 0; j < r.cols; j++)
            for (size_t i = 0; i < r.rows; i++) {
                assert_true(wg_mat_at(r, i, j).value == wg_mat_at(r1, i, j).value);
                if (i > j) assert_true(wg_mat_at(r, i, j).value == 0);
            }
        for (size_t j = 0; j < q.cols; j++)
            for (size_t i = 0; i < q.rows; i++)
                assert_true(wg_mat_at(q, i, j).value == wg_mat_at(q1, i, j).value);
    }
    wg_tape_free(t);
}

static wg_mat of_rank(wg_tape *t, size_t m, size_t n, size_t rank) {
    const wg_mat a = random_input(t, 71, m, rank, 0), b = random_input(t, 72, rank, n, 0);
    return wg_gemm(t, 'N', 'N', 1, a, b, 0, wg_mat_fill(t, m, n, 0));
}

static void qr_of_a_deficient_matrix_has_values_and_no_derivatives(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < 2; k++) {
        wg_tape_reset(t);
        const wg_mat a = of_rank(t, 5, k == 0 ? 4 : 7, 2), r = wg_qr_r(t, a);
        wg_mat q;
        assert_int_equal(wg_qr(t, a, &q, NULL), WG_OK);
        assert_int_equal(wg_mat_reverse(t, r, NULL, 5), WG_EDEGENERATE);
        assert_non_null(strstr(wg_tape_message(t), "wg_qr_r"));
        assert_int_equal(wg_mat_reverse(t, q, NULL, 5), WG_EDEGENERATE);
        assert_non_null(strstr(wg_tape_message(t), "full rank"));
        assert_int_equal(wg_tape_status(t), WG_OK);
    }
    wg_tape_free(t);
}

/* ---- least squares ---- */

static wg_status squares(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    const struct size *const s = (const struct size *)data;
    (void)n, (void)m;
    const wg_mat a = full_rank(t, &x, s);
    give(wg_lstsq(t, a, take(t, &x, s->m, RIGHT)), &y);
    return wg_tape_status(t);
}

static void least_squares_have_their_derivatives(void **state) {
    (void)state;
    for (size_t k = 0; k < SIZES; k++)
        derivatives_agree(squares, &sizes[k], sizes[k].m * sizes[k].n + sizes[k].m * RIGHT,
                          sizes[k].n * RIGHT);
}

static void least_squares_of_a_square_system_are_its_solution(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = random_input(t, 73, 5, 5, 3), b = random_input(t, 74, 5, 1, 0);
    const wg_mat x = wg_lstsq(t, a, b), y = wg_solve(t, a, b);
    for (size_t i = 0; i < 5; i++)
        assert_true(fabs(wg_mat_at(x, i, 0).value - wg_mat_at(y, i, 0).value) <=
                    TOL_MATRIX_ULP * DBL_EPSILON);
    wg_tape_free(t);
}

/* ---- pseudo-inverse ---- */

struct family {
    size_t m, n, rank;
};
static const struct family families[] = {{1, 1, 1}, {5, 3, 3}, {3, 5, 3}, {5, 4, 2}, {4, 6, 1}};

/* A = B C of that rank whatever the numbers are: differentiable. */
static wg_status pinv_of_product(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    const struct family *const f = (const struct family *)data;
    (void)n, (void)m;
    const struct size left = {f->m, f->rank}, right = {f->rank, f->n};
    const wg_mat b = full_rank(t, &x, &left), c = full_rank(t, &x, &right);
    const wg_mat a = wg_gemm(t, 'N', 'N', 1, b, c, 0, wg_mat_fill(t, f->m, f->n, 0));
    give(wg_pinv(t, a, 1e-10), &y);
    return wg_tape_status(t);
}

/* A^+ A is I, whatever A is: the residual of a square system is rounding, that of the largest
 * entries of a column, which is no part of a derivative. Here what rows 0 and 3 have to do with
 * the solution is 1e-12 of that. */
static void a_square_system_has_no_residual(void **state) {
    (void)state;
    static const double a[] = {1, 1, 1, 1e12, 1, 1, 1, 1, 1, 1, 10, 1, 1e12, 1, 1, 1};
    static const size_t light[] = {0, 4, 7, 8, 11, 15}; /* their small entries */
    enum { LIGHT = sizeof light / sizeof *light };
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    const wg_mat in = wg_mat_input(t, 4, 4, a, 4), x = wg_lstsq(t, in, in);
    wg_real of[LIGHT];
    for (size_t i = 0; i < LIGHT; i++) of[i] = wg_mat_at(in, light[i] % 4, light[i] / 4);
    for (size_t i = 0; i < 16; i++) {
        const wg_real y = wg_mat_at(x, i % 4, i / 4);
        const double v[LIGHT] = {1, -1, 0.5, 2, 1, -3};
        double h[LIGHT];
        assert_int_equal(wg_reverse(t, y), WG_OK);
        for (size_t k = 0; k < LIGHT; k++) assert_true(fabs(wg_adjoint(t, of[k])) < 1e-10);
        assert_int_equal(wg_tape_hvp(t, y, LIGHT, of, v, h), WG_OK);
        for (size_t k = 0; k < LIGHT; k++) assert_true(fabs(h[k]) < 1e-10);
    }
    wg_tape_free(t);
}

static void pinv_has_its_derivatives_where_the_rank_stays(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        const struct family *const f = &families[k];
        derivatives_agree(pinv_of_product, f, (f->m + f->n) * f->rank, f->m * f->n);
    }
}

/* J(p) = [cos p cos p; sin p sin p] has rank 1 for every p; the derivative of its
 * pseudo-inverse is known. */
static void pinv_of_a_deficient_family_has_its_closed_form(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_real p = wg_input(t, 0.3), c = wg_let(t, wg_cos(p)), s = wg_let(t, wg_sin(p));
    const wg_real e[4] = {c, s, c, s};
    const wg_mat a = wg_pinv(t, wg_mat_gather(t, 2, 2, e), -1);
    for (size_t i = 0; i < 2; i++) {
        assert_true(close_ulp(wg_mat_at(a, i, 0).value, cos(0.3) / 2, TOL_PROGRAM_ULP));
        assert_int_equal(wg_reverse(t, wg_mat_at(a, i, 0)), WG_OK);
        assert_true(close_ulp(wg_adjoint(t, p), -sin(0.3) / 2, TOL_PROGRAM_ULP));
        assert_true(close_ulp(wg_mat_at(a, i, 1).value, sin(0.3) / 2, TOL_PROGRAM_ULP));
        assert_int_equal(wg_reverse(t, wg_mat_at(a, i, 1)), WG_OK);
        assert_true(close_ulp(wg_adjoint(t, p), cos(0.3) / 2, TOL_PROGRAM_ULP));
    }
    wg_tape_free(t);
}

static void singular_values_below_rcond_count_as_zero(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[4] = {4, 0, 0, 1};
    const wg_mat a = wg_mat_input(t, 2, 2, v, 2);
    assert_true(wg_mat_at(wg_pinv(t, a, 0.2), 1, 1).value == 1);
    assert_true(wg_mat_at(wg_pinv(t, a, 0.3), 1, 1).value == 0);
    assert_true(wg_mat_at(wg_pinv(t, a, 0.3), 0, 0).value == 0.25);
    const wg_mat zero = wg_pinv(t, wg_mat_fill(t, 3, 2, 0), -1);
    assert_true(zero.rows == 2 && zero.cols == 3);
    for (size_t i = 0; i < 6; i++) assert_true(wg_mat_at(zero, i % 2, i / 2).value == 0);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* With a threshold of 0 all singular values count, and their squares may leave the range of
 * numbers beside that of the largest. */
static void singular_values_far_apart_have_each_its_own_slope(void **state) {
    (void)state;
    const double v[4] = {0x1p340, 0, 0, 0x1p-340};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, 2, 2, v, 2), p = wg_pinv(t, a, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_true(close_ulp(wg_mat_at(p, i, i).value * v[3 * i], 1, TOL_MATRIX_ULP));
        assert_int_equal(wg_reverse(t, wg_mat_at(p, i, i)), WG_OK);
        assert_true(close_ulp(wg_adjoint(t, wg_mat_at(a, i, i)) * v[3 * i] * v[3 * i], -1,
                              TOL_MATRIX_ULP));
    }
    wg_tape_free(t);
}

/* ---- edges and failures ---- */

static void zero_sizes_have_their_shapes(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    static const struct size empty[] = {{0, 0}, {0, 3}, {3, 0}};
    for (size_t k = 0; k < 3; k++) {
        const size_t m = empty[k].m, n = empty[k].n;
        const wg_mat a = wg_mat_input(t, m, n, NULL, m != 0 ? m : 1);
        const wg_mat b = random_input(t, 75, m, 2, 0);
        wg_mat q, r;
        assert_int_equal(wg_qr(t, a, &q, &r), WG_OK);
        assert_true(q.rows == m && q.cols == 0 && r.rows == 0 && r.cols == n);
        const wg_mat x = wg_lstsq(t, a, b), p = wg_pinv(t, a, -1);
        assert_true(x.rows == n && x.cols == 2 && p.rows == n && p.cols == m);
        for (size_t i = 0; i < n; i++) assert_true(wg_mat_at(x, i, 1).value == 0);
        assert_int_equal(wg_qr_q(t, a).cols, 0);
        assert_int_equal(wg_qr_r(t, a).rows, 0);
    }
    const wg_mat a = random_input(t, 76, 4, 2, 2);
    const wg_mat none = wg_lstsq(t, a, wg_mat_input(t, 4, 0, NULL, 4));
    assert_true(none.rows == 2 && none.cols == 0);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static void deficient_least_squares_fail_and_are_forgotten_by_a_rewind(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat tall = of_rank(t, 6, 3, 2), wide = of_rank(t, 3, 6, 2);
    const wg_mat b = random_input(t, 77, 6, 1, 0), c = random_input(t, 78, 3, 1, 0);
    const wg_mark m = wg_tape_mark(t);
    const wg_mat x = wg_lstsq(t, tall, b);
    assert_true(x.value == NULL && x.rows == 3 && x.cols == 1);
    failed_with(t, m, WG_ESINGULAR, "wg_lstsq of 6x3, 6x1", "full rank (info 3)");
    (void)wg_lstsq(t, wide, c);
    failed_with(t, m, WG_ESINGULAR, "wg_lstsq of 3x6, 3x1", "full rank (info 3)");
    (void)wg_lstsq(t, wg_mat_fill(t, 4, 2, 0), wg_mat_fill(t, 4, 1, 1));
    failed_with(t, m, WG_ESINGULAR, "wg_lstsq of 4x2, 4x1", "(info 1)");
    const wg_mat y = wg_pinv(t, tall, 1e-10);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 3), WG_OK);
    wg_tape_free(t);
}

/* Columns, or rows, of whole numbers: u, v, f (u - v) and, of four, u + v, where u and v are
 * parallel but for a millionth: what depends on them exactly does not by rounding, times f. */
static void nearly_parallel(size_t m, size_t n, double *x) {
    const size_t longest = m < n ? n : m, p = least(m, n), down = m < n ? m : 1,
                 across = m < n ? 1 : m;
    const double *const r = random_numbers(91, 2 * longest);
    for (size_t i = 0; i < longest; i++) {
        const double u = 0x1p20 + floor(8 * r[i]), v = u + floor(3 * r[i + longest]);
        const double all[4] = {u, v, 0x1p20 * (u - v), u + v};
        for (size_t j = 0; j < p; j++) x[i * down + j * across] = all[j];
    }
    free((void *)(uintptr_t)r);
}

static void a_rank_that_is_full_by_rounding_only_is_not_full(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{3, 3}, {4, 3}, {3, 4}, {9, 3}, {5, 4}, {4, 4}, {4, 7}};
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const size_t m = shapes[k][0], n = shapes[k][1];
        double x[36];
        nearly_parallel(m, n, x);
        const wg_mat a = wg_mat_input(t, m, n, x, m), b = random_input(t, 92, m, 1, 0);
        const wg_mark mark = wg_tape_mark(t);
        (void)wg_lstsq(t, a, b);
        failed_with(t, mark, WG_ESINGULAR, "wg_lstsq", "full rank (info 3)");
        (void)wg_lstsq_batch(t, 1, a, b);
        failed_with(t, mark, WG_ESINGULAR, "wg_lstsq_batch", "full rank");
        if (m < n) continue;
        const wg_mat r = wg_qr_r(t, a);
        assert_int_equal(wg_reverse(t, wg_mat_at(r, 0, 1)), WG_EDEGENERATE);
        assert_non_null(strstr(wg_tape_message(t), "(info 3)"));
        assert_int_equal(wg_tape_rewind(t, mark), WG_OK);
    }
    /* [C C] with C of two columns, far from parallel for a triangle to tell */
    const double c[6] = {1, 3, 16, -5, -16, 0};
    const wg_mark mark = wg_tape_mark(t);
    const wg_mat one = wg_mat_input(t, 3, 2, c, 3);
    const wg_mat pair[2] = {one, one}, both_of = wg_concat_cols(t, 2, pair);
    (void)wg_lstsq(t, both_of, both_of);
    failed_with(t, mark, WG_ESINGULAR, "wg_lstsq of 3x4, 3x4", "full rank (info 3)");
    wg_tape_free(t);
}

/* diag(1, ..., s) between two reflections: refused from the condition that wg_pinv counts as a
 * lower rank on, and solved where it is not half of its order as large. */
static void least_squares_refuse_where_a_pseudo_inverse_has_a_lower_rank(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{2, 2}, {6, 3}, {3, 6}, {40, 40}, {60, 20}, {20, 60}};
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const size_t m = shapes[k][0], n = shapes[k][1], p = least(m, n);
        const double rounding = (double)(m + n - p) * DBL_EPSILON;
        double *const u = random_numbers(93, m), *const v = random_numbers(94, n);
        double *const a = random_numbers(0, m * n), *const ones = random_numbers(0, m);
        for (int full = 0; full < 2; full++) {
            const double smallest = full ? 2 * (double)p * rounding : rounding / 2;
            double uu = 0, vv = 0;
            for (size_t i = 0; i < m; i++) uu += u[i] * u[i], ones[i] = 1;
            for (size_t j = 0; j < n; j++) vv += v[j] * v[j];
            for (size_t j = 0; j < n; j++)
                for (size_t i = 0; i < m; i++) {
                    a[i + j * m] = 0;
                    for (size_t e = 0; e < p; e++)
                        a[i + j * m] += ((i == e) - 2 * u[i] * u[e] / uu) *
                                        (e + 1 == p ? smallest : 1) *
                                        ((j == e) - 2 * v[j] * v[e] / vv);
                }
            const wg_mark mark = wg_tape_mark(t);
            const wg_mat x =
                wg_lstsq(t, wg_mat_input(t, m, n, a, m), wg_mat_input(t, m, 1, ones, m));
            if (full) assert_true(x.value != NULL && wg_tape_status(t) == WG_OK);
            else failed_with(t, mark, WG_ESINGULAR, "wg_lstsq", "full rank");
        }
        free(u), free(v), free(a), free(ones);
    }
    wg_tape_free(t);
}

/* Columns of a tall A in units of 2^-300 to 2^300, or rows of a wide one and of B: the solution
 * is that of A in these units. */
static void units_are_no_matter_of_rank(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{5, 3}, {3, 3}, {3, 5}, {24, 20}};
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const size_t m = shapes[k][0], n = shapes[k][1], p = least(m, n);
        double *const a = random_numbers(95, m * n), *const b = random_numbers(96, m), x[24];
        for (int scaled = 0; scaled < 2; scaled++) {
            for (size_t i = 0; i < m && scaled; i++) {
                for (size_t j = 0; j < n; j++)
                    a[i + j * m] *= pow(2, 600. * (double)(m < n ? i : j) / (double)p - 300);
                if (m < n) b[i] *= pow(2, 600. * (double)i / (double)p - 300);
            }
            wg_tape_reset(t);
            const wg_mat y =
                wg_lstsq(t, wg_mat_input(t, m, n, a, m), wg_mat_input(t, m, 1, b, m));
            if (y.value == NULL) fail_msg("%zu by %zu: %s", m, n, wg_tape_message(t));
            for (size_t j = 0; j < n && scaled; j++) {
                const double unit = m < n ? 1 : pow(2, 600. * (double)j / (double)p - 300);
                assert_true(close_ulp(y.value[j] * unit, x[j], TOL_MATRIX_ULP));
            }
            memcpy(x, y.value, n * sizeof *x);
        }
        free(a), free(b);
    }
    wg_tape_free(t);
}

/* Columns (rows) that are finite, but whose norm, or that and its first element, is not. */
static void what_leaves_the_range_in_a_reflection_is_no_number(void **state) {
    static const double first[][3] = {
        {1e308, 1e308, 1.7e308}, {1e308, 1e307, -1e308}, {1, INFINITY, 3}, {1, NAN, 3}};
    static const double seed[4] = {1, 0, 1, 1};
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < 8; k++) {
        const int wide = k >= 4;
        const double *const f = first[k % 4];
        const double tall[6] = {f[0], f[1], f[2], 4, 5, 7},
                     flat[6] = {f[0], 4, f[1], 5, f[2], 7};
        const size_t m = wide ? 2 : 3, n = 5 - m;
        double by_a[6], by_b[3];
        wg_tape_reset(t);
        const wg_mat a = wg_mat_input(t, m, n, wide ? flat : tall, m);
        const wg_mat b = random_input(t, 97, m, 1, 0), x = wg_lstsq(t, a, b);
        assert_int_equal(wg_tape_status(t), WG_OK);
        for (size_t j = 0; j < n; j++) assert_true(isnan(x.value[j]));
        assert_int_equal(wg_reverse(t, wg_mat_at(x, 1, 0)), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, by_a, m), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, b, by_b, m), WG_OK);
        for (size_t e = 0; e < 6; e++) assert_true(isnan(by_a[e]));
        for (size_t i = 0; i < m; i++) assert_true(isnan(by_b[i]));
        if (wide) continue;
        wg_mat q, r;
        assert_int_equal(wg_qr(t, a, &q, &r), WG_OK);
        const wg_mat only_q = wg_qr_q(t, a), only_r = wg_qr_r(t, a);
        for (size_t e = 0; e < 6; e++) assert_true(isnan(q.value[e]) && isnan(only_q.value[e]));
        for (size_t e = 0; e < 4; e++)
            assert_true(e == 1 ? r.value[e] == 0 && only_r.value[e] == 0
                               : isnan(r.value[e]) && isnan(only_r.value[e]));
        assert_int_equal(wg_mat_reverse(t, only_r, seed, 2), WG_OK);
    }
    wg_tape_free(t);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = random_input(t, 79, 4, 2, 0), b = random_input(t, 80, 3, 1, 0);
    const wg_mark m = wg_tape_mark(t);
    (void)wg_lstsq(t, a, b);
    failed_with(t, m, WG_ESHAPE, "wg_lstsq of 4x2, 3x1", "right-hand side");
    assert_true(wg_qr_r(NULL, a).value == NULL);
    wg_tape_free(t);
}

/* LAPACK's iteration might not end. */
static void a_pseudo_inverse_of_what_is_not_finite_is_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double odd[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        const double a[6] = {1, 2, 3, odd[i], 5, 7};
        const wg_mat p = wg_pinv(t, wg_mat_input(t, 3, 2, a, 3), -1);
        assert_null(p.value);
        assert_int_equal(wg_tape_status(t), WG_ENONFINITE);
        assert_non_null(strstr(wg_tape_message(t), "wg_pinv of 3x2"));
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

/* Of one row Q is a sign and R the row times it: derivatives are exact, however small the first
 * element is, by which they divide. */
static void qr_of_a_row_has_exact_derivatives(void **state) {
    (void)state;
    static const double row[] = {-1e-9, 0, 1}, w[] = {0.5, 2, -3}, along[] = {1, 0.25, -2};
    for (int forward = 0; forward < 2; forward++) {
        wg_tape *const t = wg_tape_new(NULL);
        if (forward) assert_int_equal(wg_tape_forward(t, 1), WG_OK);
        const wg_mat a = wg_mat_input(t, 1, 3, row, 1);
        if (forward) assert_int_equal(wg_mat_tangent_seed(t, a, 0, along, 1), WG_OK);
        wg_mat q, r;
        double g[3], qt;
        assert_int_equal(wg_qr(t, a, &q, &r), WG_OK);
        const double sign = q.value[0];
        assert_true(fabs(sign) == 1);
        if (forward) {
            assert_int_equal(wg_mat_tangent(t, q, 0, &qt, 1), WG_OK);
            assert_int_equal(wg_mat_tangent(t, r, 0, g, 1), WG_OK);
            assert_true(qt == 0);
        } else {
            const wg_real y = wg_mat_dot(t, r, wg_mat_constant(t, 1, 3, w, 1));
            const wg_real z = wg_let(t, wg_add(y, wg_mul(7, wg_mat_at(q, 0, 0))));
            assert_int_equal(wg_reverse(t, z), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, a, g, 1), WG_OK);
        }
        for (size_t i = 0; i < 3; i++)
            assert_true(close_ulp(g[i], sign * (forward ? along[i] : w[i]), TOL_VALUE_ULP));
        wg_tape_free(t);
    }
}

/* The adjoint of B, and a tangent of X along B, for A scaled: w A^+ over the scale. */
static void scaled_least_squares(size_t m, size_t n, double scale, double *g, double *xt) {
    double a[12], b[4] = {1, -2, 0.5, 3};
    for (size_t i = 0; i < m * n; i++) a[i] = scale * (cos((double)(i * i)) + 0.25);
    for (int forward = 0; forward < 2; forward++) {
        wg_tape *const t = wg_tape_new(NULL);
        if (forward) assert_int_equal(wg_tape_forward(t, 1), WG_OK);
        const wg_mat c = wg_mat_input(t, m, 1, b, m);
        if (forward) assert_int_equal(wg_mat_tangent_seed(t, c, 0, b, m), WG_OK);
        const wg_mat x = wg_lstsq(t, wg_mat_input(t, m, n, a, m), c);
        if (forward) {
            assert_int_equal(wg_mat_tangent(t, x, 0, xt, n), WG_OK);
        } else {
            assert_int_equal(wg_reverse(t, wg_mat_at(x, 0, 0)), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, c, g, m), WG_OK);
        }
        wg_tape_free(t);
    }
}

static void least_squares_have_derivatives_at_any_scale(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{4, 3}, {3, 3}, {2, 4}};
    static const double scales[] = {0x1p600, 0x1p-600};
    for (size_t k = 0; k < 6; k++) {
        const size_t m = shapes[k / 2][0], n = shapes[k / 2][1];
        double g[4], xt[4], plain[4], plain_t[4];
        scaled_least_squares(m, n, 1, plain, plain_t);
        scaled_least_squares(m, n, scales[k % 2], g, xt);
        for (size_t i = 0; i < m; i++)
            assert_true(close_ulp(g[i] * scales[k % 2], plain[i], TOL_MATRIX_ULP));
        for (size_t i = 0; i < n; i++)
            assert_true(close_ulp(xt[i] * scales[k % 2], plain_t[i], TOL_MATRIX_ULP));
    }
}

/* A, with rows (for m < n columns) times these powers of two, and B, of which X is 1, 2, 3, .. for
 * m >= n: in this order, or in the opposite one. Gradient and Hessian product of the sum of
 * (k + 1) X_k, element by element of A and B; then X. */
enum { WEIGHTED = 5 };
static void weighted_least_squares(size_t m, size_t n, int turned, double *g, double *h,
                                   double *x) {
    static const int power[WEIGHTED] = {0, 28, -20, 44, 9};
    const size_t longer = m > n ? m : n;
    double a[15], b[WEIGHTED] = {0}, v[20];
    wg_real of[20];
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t row = turned && m >= n ? m - 1 - i : i;
            const size_t col = turned && m < n ? n - 1 - j : j, e = row + col * m;
            const double plain = (double)((i * i + 3 * j * j + i * j) % 7) + (i == j ? 5 : 1);
            a[e] = ldexp(plain, power[(m >= n ? i : j) % longer]);
            if (m >= n) b[row] += a[e] * (double)(j + 1);
            else b[row] = 1 + (double)i;
            v[e] = ldexp(cos((double)(i + 5 * j)), power[m >= n ? i : j]);
            v[m * n + row] = m >= n ? ldexp(0.5 - (double)(i % 2), power[i]) : 0.5;
        }
    const wg_mat ma = wg_mat_input(t, m, n, a, m), mb = wg_mat_input(t, m, 1, b, m);
    const wg_mat found = wg_lstsq(t, ma, mb);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_real y = wg_constant(0);
    for (size_t k = 0; k < n; k++) {
        const size_t at = turned && m < n ? n - 1 - k : k;
        x[k] = wg_mat_at(found, at, 0).value;
        y = wg_let(t, wg_add(y, wg_mul((double)(k + 1), wg_mat_at(found, at, 0))));
    }
    for (size_t e = 0; e < m * n; e++) of[e] = wg_mat_at(ma, e % m, e / m);
    for (size_t i = 0; i < m; i++) of[m * n + i] = wg_mat_at(mb, i, 0);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    double gradient[20], product[20];
    for (size_t e = 0; e < m * n + m; e++) gradient[e] = wg_adjoint(t, of[e]);
    assert_int_equal(wg_tape_hvp(t, y, m * n + m, of, v, product), WG_OK);
    for (size_t e = 0; e < m * n + m; e++) {
        size_t i = e < m * n ? e % m : e - m * n, j = e < m * n ? e / m : n;
        if (turned && m >= n) i = m - 1 - i;
        if (turned && m < n && j < n) j = n - 1 - j;
        g[i + j * m] = gradient[e], h[i + j * m] = product[e];
    }
    wg_tape_free(t);
}

/* Large rows before small ones or after them: Cox and Higham 1998. */
static void rows_of_any_size_keep_their_digits(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{3, 3}, {5, 3}, {3, 5}, {2, 4}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const size_t m = shapes[k][0], n = shapes[k][1];
        double g[2][20], h[2][20], x[2][WEIGHTED];
        for (int turned = 0; turned < 2; turned++)
            weighted_least_squares(m, n, turned, g[turned], h[turned], x[turned]);
        for (size_t j = 0; j < n; j++) {
            assert_true(close_ulp(x[1][j], x[0][j], TOL_MATRIX_ULP));
            if (m >= n) assert_true(close_ulp(x[0][j], (double)(j + 1), TOL_MATRIX_ULP));
        }
        double most_g[WEIGHTED + 1] = {0}, most_h[WEIGHTED + 1] = {0};
        for (size_t e = 0; e < m * n + m; e++) { /* of a row, or column, of A, or of B */
            const size_t at = e >= m * n ? WEIGHTED : m >= n ? e % m : e / m;
            most_g[at] = fmax(most_g[at], fabs(g[0][e]));
            most_h[at] = fmax(most_h[at], fabs(h[0][e]));
        }
        for (size_t e = 0; e < m * n + m; e++) {
            const size_t at = e >= m * n ? WEIGHTED : m >= n ? e % m : e / m;
            const double units = TOL_MATRIX_ULP * DBL_EPSILON;
            assert_true(fabs(g[1][e] - g[0][e]) <= units * most_g[at]);
            assert_true(fabs(h[1][e] - h[0][e]) <= units * most_h[at]);
        }
    }
}

/* A row so large that it holds, L p x_1 + L q x_2 = L c, above x = (d, e), which does not: x is
 * (d, e) + (p, q) (c - p d - q e) / (p^2 + q^2). At p = q = 1 and with s = c - d - e the slopes
 * of x_1 are -d / 2 by p and -e / 2 - s / 2 by q, the second one by p is -s / 2; over L by the
 * entries of A. */
static void what_a_large_row_leaves_is_not_lost_in_derivatives(void **state) {
    (void)state;
    const double large = 0x1p40, d = 0.3, e = 0.1, c = 1.1, s = c - d - e;
    const double a[] = {large, 1, 0, large, 0, 1}, b[] = {large * c, d, e};
    const double want[] = {-d / 2, -(e + s) / 2}, v[] = {large, 0}, near = 64 * DBL_EPSILON;
    double h[2];
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    const wg_mat ma = wg_mat_input(t, 3, 2, a, 3), mb = wg_mat_input(t, 3, 1, b, 3);
    const wg_real of[] = {wg_mat_at(ma, 0, 0), wg_mat_at(ma, 0, 1)};
    const wg_real y = wg_mat_at(wg_lstsq(t, ma, mb), 0, 0);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    for (size_t i = 0; i < 2; i++)
        assert_true(fabs(wg_adjoint(t, of[i]) * large - want[i]) <= near);
    assert_int_equal(wg_tape_hvp(t, y, 2, of, v, h), WG_OK);
    assert_true(fabs(h[0] * large + s / 2) <= near);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pseudo_inverse_of_what_is_not_finite_is_refused),
        cmocka_unit_test(qr_has_its_derivatives),
        cmocka_unit_test(qr_of_a_row_has_exact_derivatives),
        cmocka_unit_test(qr_is_a_factorisation_and_its_parts_are_the_same_alone),
        cmocka_unit_test(qr_of_a_deficient_matrix_has_values_and_no_derivatives),
        cmocka_unit_test(least_squares_have_their_derivatives),
        cmocka_unit_test(least_squares_of_a_square_system_are_its_solution),
        cmocka_unit_test(least_squares_have_derivatives_at_any_scale),
        cmocka_unit_test(rows_of_any_size_keep_their_digits),
        cmocka_unit_test(what_a_large_row_leaves_is_not_lost_in_derivatives),
        cmocka_unit_test(a_square_system_has_no_residual),
        cmocka_unit_test(pinv_has_its_derivatives_where_the_rank_stays),
        cmocka_unit_test(pinv_of_a_deficient_family_has_its_closed_form),
        cmocka_unit_test(singular_values_below_rcond_count_as_zero),
        cmocka_unit_test(singular_values_far_apart_have_each_its_own_slope),
        cmocka_unit_test(zero_sizes_have_their_shapes),
        cmocka_unit_test(deficient_least_squares_fail_and_are_forgotten_by_a_rewind),
        cmocka_unit_test(a_rank_that_is_full_by_rounding_only_is_not_full),
        cmocka_unit_test(least_squares_refuse_where_a_pseudo_inverse_has_a_lower_rank),
        cmocka_unit_test(units_are_no_matter_of_rank),
        cmocka_unit_test(what_leaves_the_range_in_a_reflection_is_no_number),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
    };
    return cmocka_run_group_tests_name("orthogonal", tests, NULL, NULL);
}

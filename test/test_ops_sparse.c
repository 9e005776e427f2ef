/* SPDX-License-Identifier: MIT */
/* test_ops_sparse.c - sparse matrices with active values: products in every mode of the tape
 * against the dense ones written as loops; patterns that are wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert/products.h>
#include <wengert/sparse.h>
#include "matrix_case.h"

/* A pattern of 5 x 4: an empty row, an empty column, columns out of order, an element named
 * twice. */
enum { ROWS = 5, COLS = 4, NNZ = 8 };
static const size_t start[ROWS + 1] = {0, 3, 3, 4, 6, NNZ};
static const size_t col[NNZ] = {3, 0, 3, 2, 0, 2, 3, 2};

struct product {
    char trans;
    int vector;
};

#define RECORD(name)                                                                           \
    static void name(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,   \
                     void *data)

RECORD(sparse) {
    const struct product *const p = (const struct product *)data;
    const wg_csr s = wg_csr_pattern(t, ROWS, COLS, start, col);
    (void)c;
    out[0] = p->vector ? wg_spmv(t, p->trans, &s, in[0], in[1])
                       : wg_spmm(t, p->trans, &s, in[0], in[1]);
}

RECORD(loops) {
    const struct product *const p = (const struct product *)data;
    const wg_mat x = p->vector && in[1].cols != 1 ? wg_mat_transpose(in[1]) : in[1];
    const wg_mat v = in[0].cols != 1 ? wg_mat_transpose(in[0]) : in[0];
    const size_t rows = p->trans == 'N' ? ROWS : COLS;
    wg_real *const r = malloc((rows * x.cols + 1) * sizeof *r);
    (void)c;
    assert_non_null(r);
    for (size_t e = 0; e < rows * x.cols; e++) r[e] = wg_constant(0);
    for (size_t j = 0; j < x.cols; j++)
        for (size_t i = 0; i < ROWS; i++)
            for (size_t k = start[i]; k < start[i + 1]; k++) {
                const size_t to = p->trans == 'N' ? i : col[k],
                             from = p->trans == 'N' ? col[k] : i;
                wg_real *const y = &r[to + j * rows];
                *y = wg_let(t, wg_add(*y, wg_mul(wg_mat_at(v, k, 0), wg_mat_at(x, from, j))));
            }
    out[0] = wg_mat_gather(t, rows, x.cols, r);
    free(r);
}

static void sparse_products_equal_dense_ones(void **state) {
    (void)state;
    for (int flags = 0; flags < 4; flags++)
        for (size_t n = 0; n <= 9; n++) {
            struct product p = {"NT"[flags & 1], 0};
            const size_t inner = p.trans == 'N' ? COLS : ROWS;
            const struct matrix_shape in[2] = {{flags & 2 ? 1 : NNZ, flags & 2 ? NNZ : 1, 0},
                                               {inner, n, 0}};
            matrix_case_compare("spmm", 2, in, 1, sparse, loops, &p);
        }
}

static void a_sparse_matrix_times_a_vector_lying_either_way(void **state) {
    (void)state;
    for (int flags = 0; flags < 4; flags++) {
        struct product p = {"NT"[flags & 1], 1};
        const size_t inner = p.trans == 'N' ? COLS : ROWS;
        const struct matrix_shape in[2] = {{NNZ, 1, 0},
                                           {flags & 2 ? 1 : inner, flags & 2 ? inner : 1, 0}};
        matrix_case_compare("spmv", 2, in, 1, sparse, loops, &p);
    }
}

static void a_pattern_without_entries_gives_zeros(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const size_t none[4] = {0, 0, 0, 0};
    const double v[4] = {1, 2, 3, 4};
    double r[3] = {9, 9, 9};
    const wg_csr s = wg_csr_pattern(t, 3, 2, none, NULL);
    const wg_mat values = wg_mat_input(t, 0, 1, v, 1), x = wg_mat_input(t, 2, 1, v, 2);
    const wg_mat y = wg_spmv(t, 'N', &s, values, x);
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(wg_mat_value(t, y, r, 3), WG_OK);
    assert_true(r[0] == 0 && r[1] == 0 && r[2] == 0);
    const wg_csr empty = wg_csr_pattern(t, 0, 2, none, NULL);
    assert_int_equal(wg_spmm(t, 't', &empty, values, wg_mat_input(t, 0, 3, v, 1)).rows, 2);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* ---- solves, where the library was built with SuiteSparse ---- */

/* A pattern of 6 x 6: not symmetric, columns out of order, an element named twice. The numbers
 * of `heavy` are added to the values: a large diagonal. */
enum { ORDER = 6, ENTRIES = 17 };
static const size_t square_start[ORDER + 1] = {0, 3, 6, 8, 11, 13, ENTRIES};
static const size_t square_col[ENTRIES] = {3, 0, 5, 1, 0, 1, 2, 4, 3, 0, 2, 5, 4, 5, 1, 2, 0};
static const double heavy[ENTRIES] = {0, 5, 0, 2, 0, 3, -5, 0, 5, 0, 0, 0, 6, 5, 0, 0, 0};

struct solve {
    char trans;
    int spd;
};

static wg_mat heavy_values(wg_tape *t, wg_mat v) {
    double a[ENTRIES];
    for (size_t k = 0; k < ENTRIES; k++) a[k] = heavy[k];
    return wg_axpy(t, 1, wg_mat_constant(t, ENTRIES, 1, a, ENTRIES), v);
}
/* A large positive diagonal. */
static wg_mat definite_values(wg_tape *t, wg_mat v) {
    double a[ENTRIES];
    for (size_t k = 0; k < ENTRIES; k++) a[k] = heavy[k] < 0 ? -heavy[k] : heavy[k];
    return wg_axpy(t, 1, wg_mat_constant(t, ENTRIES, 1, a, ENTRIES), v);
}

RECORD(sparse_solve) {
    const struct solve *const p = (const struct solve *)data;
    const wg_csr s = wg_csr_pattern(t, ORDER, ORDER, square_start, square_col);
    (void)c;
    out[0] = p->spd ? wg_sparse_spd_solve(t, &s, definite_values(t, in[0]), in[1])
                    : wg_sparse_solve(t, p->trans, &s, heavy_values(t, in[0]), in[1]);
}

/* Gauss, without pivoting, in scalar statements. */
RECORD(eliminate) {
    const struct solve *const p = (const struct solve *)data;
    const wg_mat v = p->spd ? definite_values(t, in[0]) : heavy_values(t, in[0]);
    const size_t k = in[1].cols;
    wg_real a[ORDER][ORDER], *const x = malloc((ORDER * k + 1) * sizeof *x);
    (void)c;
    assert_non_null(x);
    for (size_t i = 0; i < ORDER * ORDER; i++) a[i / ORDER][i % ORDER] = wg_constant(0);
    for (size_t i = 0; i < ORDER; i++)
        for (size_t e = square_start[i]; e < square_start[i + 1]; e++) {
            const size_t j = square_col[e];
            const wg_real to = wg_mat_at(v, e, 0);
            if (p->spd) {
                a[i][j] = wg_let(t, wg_add(a[i][j], wg_mul(0.5, to)));
                a[j][i] = wg_let(t, wg_add(a[j][i], wg_mul(0.5, to)));
            } else if (p->trans == 'N') a[i][j] = wg_let(t, wg_add(a[i][j], to));
            else a[j][i] = wg_let(t, wg_add(a[j][i], to));
        }
    for (size_t e = 0; e < ORDER * k; e++) x[e] = wg_mat_at(in[1], e % ORDER, e / ORDER);
    for (size_t l = 0; l < ORDER; l++)
        for (size_t i = l + 1; i < ORDER; i++) {
            const wg_real f = wg_let(t, wg_div(a[i][l], a[l][l]));
            for (size_t j = l; j < ORDER; j++)
                a[i][j] = wg_let(t, wg_sub(a[i][j], wg_mul(f, a[l][j])));
            for (size_t j = 0; j < k; j++)
                x[i + j * ORDER] =
                    wg_let(t, wg_sub(x[i + j * ORDER], wg_mul(f, x[l + j * ORDER])));
        }
    for (size_t j = 0; j < k; j++)
        for (size_t i = ORDER; i-- > 0;) {
            wg_real *const y = &x[i + j * ORDER];
            for (size_t l = i + 1; l < ORDER; l++)
                *y = wg_let(t, wg_sub(*y, wg_mul(a[i][l], x[l + j * ORDER])));
            *y = wg_let(t, wg_div(*y, a[i][i]));
        }
    out[0] = wg_mat_gather(t, ORDER, k, x);
    free(x);
}

/* Without SuiteSparse the solves say so, and their tests are skipped with a line. */
static int have_solves(void) {
    wg_tape *const t = wg_tape_new(NULL);
    const double one = 1;
    const size_t starts[2] = {0, 1}, column = 0;
    const wg_csr s = wg_csr_pattern(t, 1, 1, starts, &column);
    const wg_mat a = wg_mat_input(t, 1, 1, &one, 1), x = wg_sparse_solve(t, 'N', &s, a, a);
    const wg_status got = wg_tape_status(t);
    if (got == WG_EMODE) {
        assert_non_null(strstr(wg_tape_message(t), "without SuiteSparse"));
        assert_null(x.value);
    } else assert_int_equal(got, WG_OK);
    wg_tape_free(t);
    return got == WG_OK;
}
#define NEEDS_SOLVES                                                                           \
    do {                                                                                       \
        if (!have_solves()) {                                                                  \
            print_message("sparse solves: built without SuiteSparse, skipped\n");              \
            skip();                                                                            \
        }                                                                                      \
    } while (0)

static void sparse_solves_equal_elimination(void **state) {
    (void)state;
    NEEDS_SOLVES;
    for (int kind = 0; kind < 3; kind++)
        for (size_t k = 0; k < 6; k++) {
            struct solve p = {"NTN"[kind], kind == 2};
            const struct matrix_shape in[2] = {{ENTRIES, 1, 0}, {ORDER, k, 0}};
            matrix_case_compare("sparse solve", 2, in, 1, sparse_solve, eliminate, &p);
        }
}

static void singular_sparse_matrices_leave_the_tape_usable(void **state) {
    (void)state;
    NEEDS_SOLVES;
    wg_tape *const t = wg_tape_new(NULL);
    const size_t starts[3] = {0, 2, 4}, cols[4] = {0, 1, 0, 1};
    const double singular[4] = {1, 2, 2, 4}, indefinite[4] = {1, 2, 2, 1},
                 good[4] = {2, 1, 1, 2};
    const wg_csr s = wg_csr_pattern(t, 2, 2, starts, cols);
    const wg_mat b = wg_mat_input(t, 2, 1, good, 2);
    for (int spd = 0; spd < 2; spd++) {
        const wg_mark before = wg_tape_mark(t);
        const wg_mat v = wg_mat_input(t, 4, 1, spd ? indefinite : singular, 4);
        const wg_mat x =
            spd ? wg_sparse_spd_solve(t, &s, v, b) : wg_sparse_solve(t, 'N', &s, v, b);
        assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
        assert_null(x.value);
        assert_int_equal(x.rows, 2);
        assert_non_null(strstr(wg_tape_message(t), "of 4x1, 2x1"));
        assert_int_equal(wg_tape_rewind(t, before), WG_OK);
    }
    const wg_mat v = wg_mat_input(t, 4, 1, good, 4);
    assert_int_equal(wg_mat_reverse(t, wg_sparse_spd_solve(t, &s, v, b), NULL, 2), WG_OK);
    wg_tape_free(t);
}

/* Row scales too small to invert are handled in another way by UMFPACK. */
static void a_row_near_zero_is_no_singular_matrix(void **state) {
    (void)state;
    NEEDS_SOLVES;
    wg_tape *const t = wg_tape_new(NULL);
    const size_t starts[3] = {0, 2, 4}, cols[4] = {0, 1, 0, 1};
    const double v[4] = {2e-14, 1e-14, 1, 3}, b[2] = {4e-14, 7}, c[2] = {4, 7};
    double x[2];
    const wg_csr s = wg_csr_pattern(t, 2, 2, starts, cols);
    const wg_mat values = wg_mat_input(t, 4, 1, v, 4);
    const wg_mat y = wg_sparse_solve(t, 'N', &s, values, wg_mat_input(t, 2, 1, b, 2));
    assert_int_equal(wg_mat_value(t, y, x, 2), WG_OK);
    assert_true(fabs(x[0] - 1) <= TOL_MATRIX_ULP * DBL_EPSILON);
    assert_true(fabs(x[1] - 2) <= TOL_MATRIX_ULP * DBL_EPSILON * 2);
    const wg_mat z = wg_sparse_solve(t, 'T', &s, values, wg_mat_input(t, 2, 1, c, 2));
    assert_int_equal(wg_mat_value(t, z, x, 2), WG_OK);
    assert_true(fabs(x[0] - 1e14) <= TOL_MATRIX_ULP * DBL_EPSILON * 1e14);
    assert_true(fabs(x[1] - 2) <= TOL_MATRIX_ULP * DBL_EPSILON * 2);
    wg_tape_free(t);
}

static void empty_sparse_matrices_are_solved(void **state) {
    (void)state;
    NEEDS_SOLVES;
    wg_tape *const t = wg_tape_new(NULL);
    const size_t starts[1] = {0};
    const double v = 0;
    const wg_csr s = wg_csr_pattern(t, 0, 0, starts, NULL);
    const wg_mat values = wg_mat_input(t, 0, 1, &v, 1), b = wg_mat_input(t, 0, 3, &v, 1);
    assert_int_equal(wg_sparse_solve(t, 'N', &s, values, b).cols, 3);
    assert_int_equal(wg_sparse_spd_solve(t, &s, values, b).cols, 3);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static void wrong_patterns_are_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const size_t from_one[2] = {1, 1}, down[3] = {0, 2, 1}, good[2] = {0, 2}, out[2] = {0, 4};
    MATRIX_REFUSED(t, WG_ENULL, "no row starts", wg_csr_pattern(t, 1, 4, NULL, col));
    MATRIX_REFUSED(t, WG_ENULL, "no columns", wg_csr_pattern(t, 1, 4, good, NULL));
    MATRIX_REFUSED(t, WG_EARG, "begin with 0", wg_csr_pattern(t, 1, 4, from_one, col));
    MATRIX_REFUSED(t, WG_EARG, "wg_csr_pattern: the row starts decrease",
                   wg_csr_pattern(t, 2, 4, down, col));
    MATRIX_REFUSED(t, WG_EARG, "out of range", wg_csr_pattern(t, 1, 4, good, out));
    MATRIX_REFUSED(t, WG_ESHAPE, "INT_MAX", wg_csr_pattern(t, (size_t)1 << 40, 4, good, col));
    assert_null(wg_csr_pattern(NULL, 1, 4, good, col).start);
    wg_tape_free(t);
}

static void shapes_flags_and_old_patterns_are_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL), *const other = wg_tape_new(NULL);
    const double v[NNZ] = {0};
    wg_csr s = wg_csr_pattern(t, ROWS, COLS, start, col);
    wg_mat values = wg_mat_input(t, NNZ, 1, v, NNZ), x = wg_mat_input(t, COLS, 2, v, COLS);
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_spmm of 4x2, 4x2", wg_spmm(t, 'N', &s, x, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_spmm of 8x1, 4x2", wg_spmm(t, 'T', &s, values, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_spmv of 8x1, 4x2", wg_spmv(t, 'N', &s, values, x));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_spmm(t, 'X', &s, values, x));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_spmm(t, 0, &s, values, x));
    MATRIX_REFUSED(t, WG_ENULL, "no pattern", wg_spmm(t, 'N', NULL, values, x));
    const wg_csr foreign = wg_csr_pattern(other, ROWS, COLS, start, col);
    MATRIX_REFUSED(t, WG_ESTALE, "pattern", wg_spmm(t, 'N', &foreign, values, x));
    wg_tape_reset(t);
    values = wg_mat_input(t, NNZ, 1, v, NNZ), x = wg_mat_input(t, COLS, 2, v, COLS);
    MATRIX_REFUSED(t, WG_ESTALE, "pattern", wg_spmm(t, 'N', &s, values, x));
    s = wg_csr_pattern(t, ROWS, COLS, start, col);
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_sparse_solve(t, 'X', &s, values, x));
    MATRIX_REFUSED(t, WG_ENULL, "no pattern", wg_sparse_solve(t, 'N', NULL, values, x));
    MATRIX_REFUSED(t, WG_ESTALE, "pattern", wg_sparse_spd_solve(t, &foreign, values, x));
    if (have_solves())
        MATRIX_REFUSED(t, WG_ESHAPE, "not square", wg_sparse_solve(t, 'N', &s, values, x));
    (void)wg_spmm(t, 'n', &s, values, x);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
    wg_tape_free(other);
}

/* Also one that something else was recorded over since. */
static void forgotten_patterns_are_found_and_no_others(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        const wg_options o = {.flags = flags[k]};
        wg_tape *const t = wg_tape_new(&o);
        const double v[NNZ] = {0};
        const wg_mat values = wg_mat_input(t, NNZ, 1, v, NNZ),
                     x = wg_mat_input(t, COLS, 2, v, COLS);
        const wg_csr s = wg_csr_pattern(t, ROWS, COLS, start, col);
        const wg_mark m = wg_tape_mark(t);
        for (int i = 0; i < 3; i++) {
            (void)wg_spmm(t, 'N', &s, values, x);
            const wg_csr late = wg_csr_pattern(t, ROWS, COLS, start, col);
            (void)wg_spmm(t, 'N', &late, values, x);
            assert_int_equal(wg_tape_status(t), WG_OK);
            assert_int_equal(wg_tape_rewind(t, m), WG_OK);
            MATRIX_REFUSED(t, WG_ESTALE, "rewind", wg_spmm(t, 'N', &late, values, x));
            assert_int_equal(wg_tape_rewind(t, m), WG_OK);
            assert_non_null(wg_mat_fill(t, 50, 50, -1).value);
            MATRIX_REFUSED(t, WG_ESTALE, "rewind", wg_spmm(t, 'N', &late, values, x));
            assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        }
        wg_tape_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_products_equal_dense_ones),
        cmocka_unit_test(a_sparse_matrix_times_a_vector_lying_either_way),
        cmocka_unit_test(a_pattern_without_entries_gives_zeros),
        cmocka_unit_test(sparse_solves_equal_elimination),
        cmocka_unit_test(singular_sparse_matrices_leave_the_tape_usable),
        cmocka_unit_test(a_row_near_zero_is_no_singular_matrix),
        cmocka_unit_test(empty_sparse_matrices_are_solved),
        cmocka_unit_test(wrong_patterns_are_refused),
        cmocka_unit_test(shapes_flags_and_old_patterns_are_refused),
        cmocka_unit_test(forgotten_patterns_are_found_and_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

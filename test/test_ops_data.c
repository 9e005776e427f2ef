/* SPDX-License-Identifier: MIT */
/* test_ops_data.c - data movement: the oracle in every mode of the tape, what it lacks against
 * loops; and that every case of the matrix oracle is claimed by a test program. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <wengert/data.h>
#include "matrix_oracle.h"
#include "tolerance.h"
#include "walk.h"

/* ---- the oracle ---- */

RECORD(gather) {
    (void)data;
    size_t index[MATRIX_CASE_LIST];
    const size_t n = matrix_case_sizes(c, "index", index);
    out[0] = wg_gather(t, in[0], n, 1, index);
}
ORACLE(gather)

RECORD(scatter_add) {
    (void)data;
    size_t index[MATRIX_CASE_LIST];
    assert_int_equal(matrix_case_sizes(c, "index", index), c->in[1].rows);
    out[0] = wg_scatter_add(t, in[0], in[1], index);
}
ORACLE(scatter_add)

RECORD(scatter_set) {
    (void)data;
    size_t index[MATRIX_CASE_LIST];
    assert_int_equal(matrix_case_sizes(c, "index", index), c->in[1].rows);
    out[0] = wg_scatter_set(t, in[0], in[1], index);
}
ORACLE(scatter_set)

RECORD(slice) {
    (void)data;
    if (strcmp(c->variant, "overlap") == 0) {
        out[0] = wg_slice(t, in[0], 0, 1, 3, 0, 1, 1);
        out[1] = wg_slice(t, in[0], 2, 1, 3, 0, 1, 1);
    } else if (strcmp(c->variant, "block") == 0) {
        size_t rows[MATRIX_CASE_LIST], cols[MATRIX_CASE_LIST];
        assert_int_equal(matrix_case_sizes(c, "rows", rows), 2);
        assert_int_equal(matrix_case_sizes(c, "cols", cols), 2);
        out[0] =
            wg_slice(t, in[0], rows[0], 1, rows[1] - rows[0], cols[0], 1, cols[1] - cols[0]);
    } else {
        const size_t start = matrix_case_size(c, "start"), step = matrix_case_size(c, "step");
        const size_t n = (matrix_case_size(c, "stop") - start + step - 1) / step;
        out[0] = wg_slice(t, in[0], start, (ptrdiff_t)step, n, 0, 1, 1);
    }
}
ORACLE(slice)

RECORD(concat) {
    (void)data;
    const wg_mat x[2] = {in[0], c->ins > 1 ? in[1] : in[0]};
    out[0] =
        matrix_case_number(c, "axis") == 0 ? wg_concat_rows(t, 2, x) : wg_concat_cols(t, 2, x);
}
ORACLE(concat)

/* Row-major order in the oracle. */
RECORD(reshape) {
    (void)data;
    const wg_mat r = wg_mat_reshape(t, wg_mat_transpose(in[0]), c->out[0].cols, c->out[0].rows);
    out[0] = wg_mat_transpose(r);
}
ORACLE(reshape)

RECORD(transpose) {
    (void)data, (void)c;
    out[0] = wg_mat_copy(t, wg_mat_transpose(in[0]));
}
ORACLE(transpose)

/* Array d0 d1 d2 stands here as d1 x (d2 d0): dimensions d1 d2 d0. */
RECORD(permute) {
    (void)data;
    size_t perm[MATRIX_CASE_LIST];
    const size_t *const d = c->in[0].dim, dim[3] = {d[1], d[2], d[0]};
    assert_int_equal(matrix_case_sizes(c, "perm", perm), 3);
    const size_t here[3] = {2, 0, 1}; /* where dimension k of the file stands here */
    const size_t to[3] = {here[perm[1]], here[perm[2]], here[perm[0]]};
    out[0] = wg_permute(t, in[0], 3, dim, to, 1);
}
ORACLE(permute)

RECORD(broadcast_to) {
    (void)data;
    out[0] = wg_broadcast_to(t, wg_mat_transpose(in[0]), c->out[0].rows, c->out[0].cols);
}
ORACLE(broadcast_to)

RECORD(diag) {
    (void)data, (void)c;
    out[0] = wg_diag(t, in[0]);
}
ORACLE(diag)

RECORD(tril) {
    (void)data, (void)c;
    out[0] = wg_tril(t, in[0], 0);
}
ORACLE(tril)

RECORD(triu) {
    (void)data, (void)c;
    out[0] = wg_triu(t, in[0], 0);
}
ORACLE(triu)

RECORD(flip) {
    (void)data, (void)c;
    out[0] = wg_flip_rows(t, in[0]);
}
ORACLE(flip)

RECORD(pad) {
    (void)data;
    out[0] = wg_pad(t, in[0], matrix_case_size(c, "before"), matrix_case_size(c, "after"), 0, 0,
                    matrix_case_number(c, "value"));
}
ORACLE(pad)

/* ---- what the oracle lacks: results as lists of where each element comes from ---- */

enum { NOWHERE = -1 };

/* result[k] is element from(k) of operand 0, or the number `value`. */
struct moved {
    void (*op)(wg_tape *t, const wg_mat *in, wg_mat *out);
    size_t rows, cols;
    double value;
    long (*from)(size_t i, size_t j, size_t rows, size_t cols);
};

RECORD(moved_by_op) {
    (void)c;
    ((const struct moved *)data)->op(t, in, out);
}

RECORD(moved_by_list) {
    const struct moved *const m = (const struct moved *)data;
    const size_t n = m->rows * m->cols, rows = in[0].rows, cols = in[0].cols;
    wg_real *const r = malloc((n + 1) * sizeof *r);
    (void)c;
    assert_non_null(r);
    for (size_t e = 0; e < n; e++) {
        const long k = m->from(e % m->rows, e / m->rows, rows, cols);
        r[e] = k == NOWHERE ? wg_constant(m->value)
                            : wg_mat_at(in[0], (size_t)k % rows, (size_t)k / rows);
    }
    out[0] = wg_mat_gather(t, m->rows, m->cols, r);
    free(r);
}

/* MOVED(name, call on x, where element (i, j) of the result is from): try_name. */
#define MOVED(name, call, ...)                                                                 \
    static void name##_op(wg_tape *t, const wg_mat *in, wg_mat *out) {                         \
        const wg_mat x = in[0];                                                                \
        out[0] = call;                                                                         \
        (void)t;                                                                               \
    }                                                                                          \
    static long name##_from(size_t i, size_t j, size_t rows, size_t cols) {                    \
        (void)i, (void)j, (void)rows, (void)cols;                                              \
        __VA_ARGS__                                                                            \
    }                                                                                          \
    static void try_##name(size_t rows, size_t cols, size_t of_rows, size_t of_cols) {         \
        const struct matrix_shape in = {of_rows, of_cols, 0};                                  \
        struct moved m = {name##_op, rows, cols, 2.5, name##_from};                            \
        matrix_case_compare(#name, 1, &in, 1, moved_by_op, moved_by_list, &m);                 \
    }
#define AT(i, j) ((long)((i) + (j)*rows))

MOVED(copied, wg_mat_copy(t, x), return AT(i, j);)
MOVED(rows_flipped, wg_flip_rows(t, x), return AT(rows - 1 - i, j);)
MOVED(cols_flipped, wg_flip_cols(t, x), return AT(i, cols - 1 - j);)
MOVED(tiled, wg_tile(t, x, 3, 2), return AT(i % rows, j % cols);)
MOVED(repeated, wg_repeat(t, x, 3, 2), return AT(i / 3, j / 2);)
MOVED(broadcast, wg_broadcast_to(t, x, 4, 5), return AT(rows == 1 ? 0 : i, cols == 1 ? 0 : j);)
MOVED(backward, wg_slice(t, x, 5, -2, 3, 1, 3, 2), return AT(5 - 2 * i, 1 + 3 * j);)
MOVED(standing, wg_slice(t, x, 2, 0, 3, 1, 0, 2), return AT(2, 1);)
MOVED(nothing, wg_slice(t, x, 9, 7, 0, 9, 9, 2), return NOWHERE;)
MOVED(padded, wg_pad(t, x, 1, 2, 0, 3, 2.5),
      return i >= 1 && i < rows + 1 && j < cols ? AT(i - 1, j) : NOWHERE;)
MOVED(stacked, wg_concat_rows(t, 3, (const wg_mat[]){x, x, x}), return AT(i % rows, j);)
MOVED(abreast, wg_concat_cols(t, 3, (const wg_mat[]){x, x, x}), return AT(i, j % cols);)
MOVED(rows_taken, wg_take_rows(t, x, 4, (const size_t[]){2, 0, 2, 1}),
      static const size_t of[] = {2, 0, 2, 1};
      return AT(of[i], j);)
MOVED(cols_taken, wg_take_cols(t, x, 4, (const size_t[]){2, 0, 2, 1}),
      static const size_t of[] = {2, 0, 2, 1};
      return AT(i, of[j]);)
MOVED(looked_up, wg_embedding(t, x, 4, (const size_t[]){2, 0, 2, 1}),
      static const size_t of[] = {2, 0, 2, 1};
      return AT(i, of[j]);)
MOVED(gathered, wg_gather(t, x, 2, 3, (const size_t[]){5, 5, 0, 1, 5, 3}),
      static const long of[] = {5, 5, 0, 1, 5, 3};
      return of[i + 2 * j];)
MOVED(diagonal, wg_mat_diagonal(x), return AT(i, i);)
MOVED(diagonal_copied, wg_mat_copy(t, wg_mat_diagonal(x)), return AT(i, i);)

static void elements_come_from_where_they_should(void **state) {
    (void)state;
    try_copied(3, 4, 3, 4), try_copied(0, 2, 0, 2), try_copied(1, 1, 1, 1);
    try_rows_flipped(3, 4, 3, 4), try_rows_flipped(0, 4, 0, 4);
    try_cols_flipped(3, 4, 3, 4), try_cols_flipped(3, 0, 3, 0);
    try_tiled(6, 6, 2, 3), try_tiled(3, 2, 1, 1), try_tiled(0, 4, 0, 2);
    try_repeated(6, 6, 2, 3), try_repeated(3, 2, 1, 1), try_repeated(6, 0, 2, 0);
    try_broadcast(4, 5, 1, 1), try_broadcast(4, 5, 4, 1), try_broadcast(4, 5, 1, 5);
    try_broadcast(4, 5, 4, 5);
    try_backward(3, 2, 6, 5);
    try_standing(3, 2, 3, 2);
    try_nothing(0, 2, 3, 3);
    try_padded(6, 5, 3, 2), try_padded(3, 5, 0, 2), try_padded(4, 4, 1, 1);
    try_stacked(6, 3, 2, 3), try_stacked(0, 3, 0, 3);
    try_abreast(2, 9, 2, 3), try_abreast(2, 0, 2, 0);
    try_rows_taken(4, 2, 3, 2), try_cols_taken(2, 4, 2, 3), try_looked_up(2, 4, 2, 3);
    try_rows_taken(4, 0, 3, 0), try_cols_taken(0, 4, 0, 3);
    try_gathered(2, 3, 2, 3), try_gathered(2, 3, 6, 1);
    try_diagonal(3, 1, 3, 3), try_diagonal(2, 1, 2, 4), try_diagonal(2, 1, 3, 2);
    try_diagonal_copied(2, 1, 2, 4);
}

/* Both triangles, cut at every diagonal. */
static ptrdiff_t cut;
MOVED(lower, wg_tril(t, x, cut),
      return (ptrdiff_t)j - (ptrdiff_t)i <= cut ? AT(i, j) : NOWHERE;)
MOVED(upper, wg_triu(t, x, cut),
      return (ptrdiff_t)j - (ptrdiff_t)i >= cut ? AT(i, j) : NOWHERE;)

static void triangles_are_cut_at_any_diagonal(void **state) {
    (void)state;
    static const ptrdiff_t far[] = {PTRDIFF_MIN, -5, -4, -3, -2, -1,         0,
                                    1,           2,  3,  4,  5,  PTRDIFF_MAX};
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
        cut = far[k];
        for (int up = 0; up < 2; up++) {
            struct moved m = {up ? upper_op : lower_op, 4, 3, 0, up ? upper_from : lower_from};
            const struct matrix_shape in = {4, 3, 0};
            matrix_case_compare("triangle", 1, &in, 1, moved_by_op, moved_by_list, &m);
        }
    }
    cut = 0;
    try_lower(0, 3, 0, 3), try_upper(3, 0, 3, 0);
}

/* Every order of four dimensions, every split into rows and columns. */
struct permutation {
    size_t dims, dim[4], perm[4], row_dims;
};

RECORD(permuted) {
    const struct permutation *const p = (const struct permutation *)data;
    (void)c;
    out[0] = wg_permute(t, in[0], p->dims, p->dim, p->perm, p->row_dims);
}

RECORD(permuted_by_list) {
    const struct permutation *const p = (const struct permutation *)data;
    const size_t n = in[0].rows * in[0].cols;
    size_t stride[4], rows = 1, at = 1;
    wg_real *const r = malloc((n + 1) * sizeof *r);
    (void)c;
    assert_non_null(r);
    for (size_t k = 0; k < p->dims; k++) stride[k] = at, at *= p->dim[k];
    for (size_t k = 0; k < p->row_dims; k++) rows *= p->dim[p->perm[k]];
    for (size_t e = 0; e < n; e++) {
        size_t left = e, from = 0;
        for (size_t k = 0; k < p->dims; k++) {
            from += left % p->dim[p->perm[k]] * stride[p->perm[k]];
            left /= p->dim[p->perm[k]];
        }
        r[e] = wg_mat_at(in[0], from % in[0].rows, from / in[0].rows);
    }
    out[0] = wg_mat_gather(t, rows, n / rows, r);
    free(r);
}

static void dimensions_may_be_permuted_in_every_order(void **state) {
    (void)state;
    struct permutation p = {4, {2, 3, 1, 4}, {0, 0, 0, 0}, 0};
    for (size_t k = 0; k < 256; k++) {
        size_t seen = 0;
        for (size_t d = 0; d < 4; d++)
            p.perm[d] = k >> 2 * d & 3, seen |= (size_t)1 << p.perm[d];
        if (seen != 15) continue;
        p.row_dims = k % 5;
        const struct matrix_shape in = {k & 1 ? 6 : 2, k & 1 ? 4 : 12, 0};
        matrix_case_compare("permute", 1, &in, 1, permuted, permuted_by_list, &p);
    }
}

/* Index lists with repeats: the last one set counts, those before it get no adjoint. */
static const size_t twice[5] = {3, 1, 3, 3, 0};

RECORD(scattered) {
    (void)c, (void)data;
    out[0] = wg_scatter_add(t, in[0], in[1], twice);
    out[1] = wg_scatter_set(t, in[0], in[1], twice);
}

RECORD(scattered_by_loops) {
    (void)c, (void)data;
    wg_real add[6], set[6];
    for (size_t e = 0; e < 6; e++) add[e] = set[e] = wg_mat_at(in[0], e % 2, e / 2);
    for (size_t k = 0; k < 5; k++) {
        const wg_real u = wg_mat_at(in[1], 0, k);
        add[twice[k]] = wg_let(t, wg_add(add[twice[k]], u));
        set[twice[k]] = u;
    }
    out[0] = wg_mat_gather(t, 2, 3, add);
    out[1] = wg_mat_gather(t, 2, 3, set);
}

static void repeated_indices_add_up_or_the_last_one_counts(void **state) {
    (void)state;
    const struct matrix_shape in[2] = {{2, 3, 0}, {1, 5, 0}};
    matrix_case_compare("scatter", 2, in, 2, scattered, scattered_by_loops, NULL);
}

/* M(i, i) = M(:, 0): what is set overlaps where it comes from. */
static const size_t diagonal[3] = {0, 4, 8};

RECORD(self_scattered) {
    (void)c, (void)data;
    out[0] = wg_scatter_set(t, in[0], wg_mat_col(in[0], 0), diagonal);
}

RECORD(self_scattered_by_loops) {
    (void)c, (void)data;
    wg_real r[9];
    for (size_t e = 0; e < 9; e++) r[e] = wg_mat_at(in[0], e % 3, e / 3);
    for (size_t k = 0; k < 3; k++) r[diagonal[k]] = wg_mat_at(in[0], k, 0);
    out[0] = wg_mat_gather(t, 3, 3, r);
}

static void a_matrix_may_be_scattered_into_itself(void **state) {
    (void)state;
    const struct matrix_shape in = {3, 3, 0};
    matrix_case_compare("scatter", 1, &in, 1, self_scattered, self_scattered_by_loops, NULL);
}

enum { MANY = 40 };

RECORD(many_joined) {
    wg_mat x[MANY];
    (void)c, (void)data;
    for (size_t k = 0; k < MANY; k++) x[k] = in[k % 2];
    out[0] = wg_concat_cols(t, MANY, x);
    out[1] = wg_concat_rows(t, MANY, x);
}

RECORD(many_joined_by_list) {
    wg_real *const r = malloc((size_t)MANY * 6 * sizeof *r);
    (void)c, (void)data;
    assert_non_null(r);
    for (size_t k = 0; k < MANY; k++)
        for (size_t e = 0; e < 6; e++) r[6 * k + e] = wg_mat_at(in[k % 2], e % 2, e / 2);
    out[0] = wg_mat_gather(t, 2, (size_t)MANY * 3, r);
    for (size_t k = 0; k < MANY; k++)
        for (size_t e = 0; e < 6; e++)
            r[2 * k + e % 2 + e / 2 * 2 * MANY] = wg_mat_at(in[k % 2], e % 2, e / 2);
    out[1] = wg_mat_gather(t, (size_t)MANY * 2, 3, r);
    free(r);
}

static void more_matrices_than_a_record_takes_may_be_joined(void **state) {
    (void)state;
    const struct matrix_shape in[2] = {{2, 3, 0}, {2, 3, 0}};
    matrix_case_compare("concat", 2, in, 2, many_joined, many_joined_by_list, NULL);
}

RECORD(empty_joined) {
    (void)c, (void)data;
    out[0] = wg_concat_cols(t, 3, (const wg_mat[]){in[0], in[1], in[0]});
    out[1] = wg_concat_cols(t, 0, NULL);
}
RECORD(empty_joined_by_list) {
    (void)c, (void)data;
    wg_real r[12];
    for (size_t e = 0; e < 12; e++) r[e] = wg_mat_at(in[0], e % 2, e / 2 % 3);
    out[0] = wg_mat_gather(t, 2, 6, r);
    out[1] = wg_mat_gather(t, 0, 0, r);
}

static void matrices_without_columns_may_be_joined(void **state) {
    (void)state;
    const struct matrix_shape in[2] = {{2, 3, 0}, {2, 0, 0}};
    matrix_case_compare("concat", 2, in, 2, empty_joined, empty_joined_by_list, NULL);
}

/* ---- refusals ---- */

static void what_lies_outside_is_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    double v[16] = {0};
    const wg_mat a = wg_mat_input(t, 2, 3, v, 2), b = wg_mat_input(t, 4, 4, v, 4);
    const size_t six[4] = {0, 1, 2, 6}, zero[4] = {0, 0, 0, 0}, swap[2] = {1, 0},
                 same[2] = {1, 1};
    const size_t two_three[2] = {2, 3}, five[5] = {1, 1, 1, 1, 1};
    const size_t huge = (size_t)1 << 40;
    MATRIX_REFUSED(t, WG_EARG, "wg_gather of 2x3: an index", wg_gather(t, a, 2, 2, six));
    MATRIX_REFUSED(t, WG_EARG, "wg_scatter_add of 2x3, 4x4: an index",
                   wg_scatter_add(t, a, b, (const size_t[16]){6}));
    MATRIX_REFUSED(t, WG_EARG, "wg_scatter_set of 2x3, 4x4: an index",
                   wg_scatter_set(t, a, b, (const size_t[16]){6}));
    MATRIX_REFUSED(t, WG_EARG, "wg_take_rows of 2x3: an index", wg_take_rows(t, a, 3, six));
    MATRIX_REFUSED(t, WG_EARG, "wg_take_cols of 2x3: an index", wg_take_cols(t, a, 4, six));
    MATRIX_REFUSED(t, WG_EARG, "wg_embedding of 2x3: an index", wg_embedding(t, a, 4, six));
    MATRIX_REFUSED(t, WG_ENULL, "index list", wg_gather(t, a, 2, 2, NULL));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_gather of 2x3: a result larger than",
                   wg_gather(t, a, SIZE_MAX, 2, zero));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_slice of 2x3", wg_slice(t, a, 1, 1, 2, 0, 1, 3));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_slice of 2x3", wg_slice(t, a, 1, -1, 3, 0, 1, 3));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_slice of 2x3", wg_slice(t, a, 0, 1, 1, 3, 1, 1));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_slice of 2x3", wg_slice(t, a, 0, PTRDIFF_MAX, 2, 0, 1, 1));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_slice of 2x3",
                   wg_slice(t, a, 0, PTRDIFF_MIN, 2, 0, PTRDIFF_MIN, 2));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_tile of 2x3", wg_tile(t, a, huge, 1));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_repeat of 2x3", wg_repeat(t, a, 1, SIZE_MAX / 2));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_broadcast_to of 2x3", wg_broadcast_to(t, a, 4, 3));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_concat_rows of 2x3, 4x4",
                   wg_concat_rows(t, 2, (const wg_mat[]){a, b}));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_concat_cols of 2x3, 4x4",
                   wg_concat_cols(t, 2, (const wg_mat[]){a, b}));
    MATRIX_REFUSED(t, WG_ENULL, "wg_concat_cols", wg_concat_cols(t, 2, NULL));
    MATRIX_REFUSED(t, WG_ENULL, "wg_concat_cols", wg_concat_cols(t, 99, NULL));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_pad of 2x3", wg_pad(t, a, SIZE_MAX, 3, 0, 0, 0));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_diag of 2x3", wg_diag(t, a));
    MATRIX_REFUSED(t, WG_EARG, "wg_permute of 2x3: not a permutation",
                   wg_permute(t, a, 2, two_three, same, 1));
    MATRIX_REFUSED(t, WG_EARG, "dimensions do not fit", wg_permute(t, a, 2, five, swap, 1));
    MATRIX_REFUSED(t, WG_EARG, "more than 4", wg_permute(t, a, 5, five, five, 1));
    MATRIX_REFUSED(t, WG_EARG, "wg_permute of 2x3: more dimensions for the rows than there are",
                   wg_permute(t, a, 2, two_three, swap, 3));
    MATRIX_REFUSED(t, WG_ENULL, "wg_permute", wg_permute(t, a, 2, NULL, swap, 1));
    assert_int_equal(wg_mat_reverse(t, wg_permute(t, a, 2, two_three, swap, 1), NULL, 3),
                     WG_OK);
    wg_tape_free(t);
}

/* A step that is never taken may be of any size. */
static void steps_that_nobody_takes_do_not_matter(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double a[4] = {0, 1, 2, 3}, w[2] = {1, 5};
    double g[4];
    const wg_mat x = wg_mat_input(t, 2, 2, a, 2);
    const wg_mat y = wg_slice(t, x, 0, 1, 2, 1, PTRDIFF_MAX, 1);
    assert_true(wg_value(wg_mat_at(y, 0, 0)) == 2 && wg_value(wg_mat_at(y, 1, 0)) == 3);
    assert_int_equal(wg_mat_reverse(t, y, w, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, x, g, 2), WG_OK);
    assert_true(g[0] == 0 && g[1] == 0 && g[2] == 1 && g[3] == 5);
    (void)wg_slice(t, x, 0, PTRDIFF_MAX, 2, 0, PTRDIFF_MAX, 0);
    (void)wg_slice(t, wg_mat_transpose(x), 0, PTRDIFF_MIN, 2, 0, PTRDIFF_MAX, 0);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static void without_a_tape_a_result_is_nan_of_its_shape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[6] = {0};
    const wg_mat a = wg_mat_input(t, 2, 3, v, 2);
    const size_t index[3] = {0, 0, 0};
    const wg_mat y[3] = {wg_tile(NULL, a, 2, 2), wg_gather(NULL, a, 3, 1, index),
                         wg_mat_diagonal(wg_mat_failed(3, 2))};
    const size_t rows[3] = {4, 3, 2}, cols[3] = {6, 1, 1};
    for (int k = 0; k < 3; k++) {
        assert_null(y[k].value);
        assert_int_equal(y[k].rows, rows[k]);
        assert_int_equal(y[k].cols, cols[k]);
    }
    wg_tape_free(t);
}

/* The caller's list may change after the call. */
static void index_lists_are_copied(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[3] = {1, 2, 3};
    size_t index[2] = {2, 2};
    double g[3];
    const wg_mat a = wg_mat_input(t, 3, 1, v, 3), y = wg_gather(t, a, 2, 1, index);
    index[0] = index[1] = 1000000;
    assert_int_equal(wg_mat_reverse(t, y, NULL, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
    assert_true(g[0] == 0 && g[1] == 0 && g[2] == 2);
    wg_tape_free(t);
}

static void all_cases_claimed_here_were_checked(void **state) {
    (void)state;
    matrix_claims_met("data");
}

static void every_case_of_the_matrix_oracle_is_claimed_once(void **state) {
    (void)state;
    matrix_claims_complete();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_agrees_with_its_oracle),
        cmocka_unit_test(scatter_add_agrees_with_its_oracle),
        cmocka_unit_test(scatter_set_agrees_with_its_oracle),
        cmocka_unit_test(slice_agrees_with_its_oracle),
        cmocka_unit_test(concat_agrees_with_its_oracle),
        cmocka_unit_test(reshape_agrees_with_its_oracle),
        cmocka_unit_test(transpose_agrees_with_its_oracle),
        cmocka_unit_test(permute_agrees_with_its_oracle),
        cmocka_unit_test(broadcast_to_agrees_with_its_oracle),
        cmocka_unit_test(diag_agrees_with_its_oracle),
        cmocka_unit_test(tril_agrees_with_its_oracle),
        cmocka_unit_test(triu_agrees_with_its_oracle),
        cmocka_unit_test(flip_agrees_with_its_oracle),
        cmocka_unit_test(pad_agrees_with_its_oracle),
        cmocka_unit_test(elements_come_from_where_they_should),
        cmocka_unit_test(triangles_are_cut_at_any_diagonal),
        cmocka_unit_test(dimensions_may_be_permuted_in_every_order),
        cmocka_unit_test(repeated_indices_add_up_or_the_last_one_counts),
        cmocka_unit_test(a_matrix_may_be_scattered_into_itself),
        cmocka_unit_test(more_matrices_than_a_record_takes_may_be_joined),
        cmocka_unit_test(matrices_without_columns_may_be_joined),
        cmocka_unit_test(what_lies_outside_is_refused),
        cmocka_unit_test(steps_that_nobody_takes_do_not_matter),
        cmocka_unit_test(without_a_tape_a_result_is_nan_of_its_shape),
        cmocka_unit_test(index_lists_are_copied),
        cmocka_unit_test(all_cases_claimed_here_were_checked),
        cmocka_unit_test(every_case_of_the_matrix_oracle_is_claimed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

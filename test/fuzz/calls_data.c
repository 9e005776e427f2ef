/* SPDX-License-Identifier: MIT */
/* calls_data.c - rows: data movement. */
#include "calls.h"

#define SHAPE                                                                                  \
    TAPE(t);                                                                                   \
    DIM(m);                                                                                    \
    DIM(n);                                                                                    \
    MAT(x, m, n)

ROW(wg_gather) {
    SHAPE;
    DIM(rows);
    DIM(cols);
    INDICES(index, rows * cols, m * n);
    GIVES_MAT(wg_gather(t, x, rows, cols, index));
}
#define SCATTER(name)                                                                          \
    ROW(name) {                                                                                \
        SHAPE;                                                                                 \
        MAT(u, 2, 2);                                                                          \
        INDICES(index, u.rows *u.cols, m *n);                                                  \
        GIVES_MAT(name(t, x, u, index));                                                       \
    }
SCATTER(wg_scatter_add)
SCATTER(wg_scatter_set)
#define LINES(name, limit)                                                                     \
    ROW(name) {                                                                                \
        SHAPE;                                                                                 \
        DIM(count);                                                                            \
        INDICES(index, count, limit);                                                          \
        GIVES_MAT(name(t, x, count, index));                                                   \
    }
LINES(wg_take_rows, m)
LINES(wg_take_cols, n)
LINES(wg_embedding, n)
static ptrdiff_t step(const char *name) {
    const ptrdiff_t s = one_in(30)   ? PTRDIFF_MIN
                        : one_in(30) ? PTRDIFF_MAX
                                     : (ptrdiff_t)below(5) - 2;
    named(name, "%td", s);
    return s;
}
/* A slice of a line of n: where it begins, its step, its length. */
struct slice {
    size_t from, count;
    ptrdiff_t step;
};
static struct slice slice(size_t n) {
    struct slice s = {0, one_in(12) ? draw_size("count") : below(n + 1), 1};
    if (one_in(3)) s.from = n != 0 ? n - 1 : 0, s.step = -1;
    if (one_in(6)) s.step = step("step");
    if (one_in(12)) s.from = draw_size("from");
    return s;
}
ROW(wg_slice) {
    SHAPE;
    const struct slice down = slice(m), across = slice(n);
    named("down", "{%zu, %zu, %td}", down.from, down.count, down.step);
    named("across", "{%zu, %zu, %td}", across.from, across.count, across.step);
    GIVES_MAT(wg_slice(t, x, down.from, down.step, down.count, across.from, across.step,
                       across.count));
}
ROW(wg_mat_copy) {
    SHAPE;
    GIVES_MAT(wg_mat_copy(t, x));
}
ROW(wg_flip_rows) {
    SHAPE;
    GIVES_MAT(wg_flip_rows(t, x));
}
ROW(wg_flip_cols) {
    SHAPE;
    GIVES_MAT(wg_flip_cols(t, x));
}
ROW(wg_tile) {
    SHAPE;
    SIZE(down);
    SIZE(across);
    GIVES_MAT(wg_tile(t, x, down, across));
}
ROW(wg_repeat) {
    SHAPE;
    SIZE(down);
    SIZE(across);
    GIVES_MAT(wg_repeat(t, x, down, across));
}
ROW(wg_broadcast_to) {
    TAPE(t);
    SIZE(rows);
    SIZE(cols);
    const int down = one_in(2), across = one_in(2);
    MAT(x, down ? 1 : rows, across ? 1 : cols);
    GIVES_MAT(wg_broadcast_to(t, x, rows, cols));
}
ROW(wg_permute) {
    TAPE(t);
    size_t dim[4], perm[4] = {0, 1, 2, 3}, rows = 1, cols = 1;
    const size_t dims = one_in(20) ? below(9) : 1 + below(4), split = below(dims + 1) % 5;
    for (size_t i = 0; i < 4; i++) dim[i] = 1 + below(3);
    for (size_t i = 0; i < dims && i < 4; i++) *(i < split ? &rows : &cols) *= dim[i];
    for (size_t i = 3; i > 0; i--) {
        const size_t j = below(i + 1), k = perm[i];
        if (i < dims && j < dims) perm[i] = perm[j], perm[j] = k;
    }
    if (one_in(20)) perm[below(4)] = below(6);
    MAT(x, rows, cols);
    BELOW(row_dims, 5);
    named("dims", "%zu", dims);
    named("dim", "{%zu, %zu, %zu, %zu}", dim[0], dim[1], dim[2], dim[3]);
    named("perm", "{%zu, %zu, %zu, %zu}", perm[0], perm[1], perm[2], perm[3]);
    GIVES_MAT(wg_permute(t, x, dims, dim, perm, row_dims));
}
#define JOIN(name, rows, cols)                                                                 \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        wg_mat list_[20];                                                                      \
        const size_t count = one_in(20) ? below(20) : below(4);                                \
        named("count", "%zu", count);                                                          \
        for (size_t i = 0; i < count; i++) list_[i] = draw_mat("part", rows, cols);            \
        const wg_mat *const x = one_in(60) ? NULL : list_;                                     \
        GIVES_MAT(name(t, count, x));                                                          \
    }
JOIN(wg_concat_rows, 1 + below(3), 2)
JOIN(wg_concat_cols, 2, 1 + below(3))
JOIN(wg_block_diag, 1 + below(3), 1 + below(3))
ROW(wg_toeplitz) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(c, m, 1);
    MAT(r, 1, n);
    GIVES_MAT(wg_toeplitz(t, c, r));
}
ROW(wg_circulant) {
    TAPE(t);
    DIM(n);
    MAT(c, n, 1);
    GIVES_MAT(wg_circulant(t, c));
}
ROW(wg_pad) {
    SHAPE;
    SIZE(above);
    SIZE(below_);
    SIZE(left);
    SIZE(right);
    NUMBER(value);
    GIVES_MAT(wg_pad(t, x, above, below_, left, right, value));
}
ROW(wg_diag) {
    TAPE(t);
    DIM(n);
    const int row = one_in(3);
    MAT(x, row ? 1 : n, row ? n : 1);
    GIVES_MAT(wg_diag(t, x));
}
ROW(wg_tril) {
    SHAPE;
    const ptrdiff_t k = step("k");
    GIVES_MAT(wg_tril(t, x, k));
}
ROW(wg_triu) {
    SHAPE;
    const ptrdiff_t k = step("k");
    GIVES_MAT(wg_triu(t, x, k));
}

static const struct row list[] = {
    LISTED(wg_gather, 8),       LISTED(wg_scatter_add, 8), LISTED(wg_scatter_set, 8),
    LISTED(wg_take_rows, 8),    LISTED(wg_take_cols, 8),   LISTED(wg_embedding, 8),
    LISTED(wg_slice, 8),        LISTED(wg_mat_copy, 8),    LISTED(wg_flip_rows, 4),
    LISTED(wg_flip_cols, 4),    LISTED(wg_tile, 6),        LISTED(wg_repeat, 6),
    LISTED(wg_broadcast_to, 6), LISTED(wg_permute, 8),     LISTED(wg_concat_rows, 8),
    LISTED(wg_concat_cols, 8),  LISTED(wg_pad, 6),         LISTED(wg_diag, 8),
    LISTED(wg_tril, 6),         LISTED(wg_triu, 6),        LISTED(wg_block_diag, 6),
    LISTED(wg_toeplitz, 4),     LISTED(wg_circulant, 4),
};
const struct rows calls_data = ROWS(list);

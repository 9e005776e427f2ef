/* SPDX-License-Identifier: MIT */
/* Slices, flips, repetition, windows, permutations of dimensions (moves.h): walks, loops over
 * up to four extents with constant steps in rows and columns of the operand. */
#include <limits.h>
#include <wengert/data.h>
#include "moves.h"
#include "ops/scalar/copy.h"

enum { DIMS = 4 };

/* Result element (i0, i1, i2, i3), i0 fastest, is x(row + sum ik down[k], col + sum ik
 * across[k]); the first row_dims extents make the rows of the result. */
struct walk {
    size_t extent[DIMS], row_dims, row, col;
    ptrdiff_t down[DIMS], across[DIMS];
    wg_status status; /* found by the wrapper */
    const char *why;
};

static const struct walk still = {{1, 1, 1, 1}, 2,     0,   0, {0, 0, 0, 0},
                                  {0, 0, 0, 0}, WG_OK, NULL};

/* Do start and steps stay within [0, n)? */
static int stays(size_t n, size_t start, const size_t *extent, const ptrdiff_t *step) {
    if (start >= n) return 0;
    ptrdiff_t low = (ptrdiff_t)start, high = low;
    for (int k = 0; k < DIMS; k++) {
        ptrdiff_t reach;
        if (__builtin_mul_overflow((ptrdiff_t)extent[k] - 1, step[k], &reach) ||
            __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
            return 0;
    }
    return low >= 0 && high < (ptrdiff_t)n;
}

static wg_status walk_shape(wg_block *b) {
    const struct walk *const w = (const struct walk *)b->params;
    if (w->status != WG_OK) return wgi_block_refuse(b, w->status, w->why);
    size_t side[2] = {1, 1};
    int empty = 0;
    for (size_t k = 0; k < DIMS; k++) {
        size_t *const s = &side[k >= w->row_dims];
        if (w->extent[k] > INT_MAX || __builtin_mul_overflow(*s, w->extent[k], s))
            return wgi_block_refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
        empty |= w->extent[k] == 0;
    }
    if (!empty && !(stays(b->in[0].rows, w->row, w->extent, w->down) &&
                    stays(b->in[0].cols, w->col, w->extent, w->across)))
        return wgi_block_refuse(b, WG_ESHAPE, "beyond the operand");
    b->out[0].rows = side[0];
    b->out[0].cols = side[1];
    return WG_OK;
}

/* The loops of a walk over one operand: extents without those of 1, neighbours joined where one
 * stride serves both. The result is contiguous, in the order of the loops. */
struct loops {
    size_t extent[DIMS];
    ptrdiff_t stride[DIMS];
    double *x;
};

/* 0: nothing to do. */
static int loops_of(const wg_block *b, wgi_view x, struct loops *l) {
    const struct walk *const w = (const struct walk *)b->params;
    const ptrdiff_t down = (ptrdiff_t)wgi_view_down(x), across = (ptrdiff_t)wgi_view_across(x);
    int n = 0;
    for (int k = 0; k < DIMS; k++)
        if (w->extent[k] == 0) return 0;
    for (int k = 0; k < DIMS; k++) {
        if (w->extent[k] == 1) continue; /* a step nobody takes may be anything */
        const ptrdiff_t stride = w->down[k] * down + w->across[k] * across;
        if (n > 0 && stride == l->stride[n - 1] * (ptrdiff_t)l->extent[n - 1])
            l->extent[n - 1] *= w->extent[k];
        else l->extent[n] = w->extent[k], l->stride[n++] = stride;
    }
    for (; n < DIMS; n++) l->extent[n] = 1, l->stride[n] = 0;
    l->x = wgi_view_block(x, w->row, w->col, 1, 1).p;
    return 1;
}

/* The outer three loops; `inner` has x and y at the start of a run of l.extent[0]. */
#define WALK(l, x, inner)                                                                      \
    for (size_t k3 = 0; k3 < (l).extent[3]; k3++)                                              \
        for (size_t k2 = 0; k2 < (l).extent[2]; k2++)                                          \
            for (size_t k1 = 0; k1 < (l).extent[1]; k1++) {                                    \
                double *const x = (l).x + (ptrdiff_t)k3 * (l).stride[3] +                      \
                                  (ptrdiff_t)k2 * (l).stride[2] +                              \
                                  (ptrdiff_t)k1 * (l).stride[1];                               \
                inner                                                                          \
            }

static void walk_copy(const wg_block *b, wgi_view from, double *y) {
    struct loops l;
    if (!loops_of(b, from, &l)) return;
    const size_t n = l.extent[0];
    const ptrdiff_t s = l.stride[0];
    WALK(l, x, {
        if (s == 1) memcpy(y, x, n * sizeof *y);
        else
            for (size_t i = 0; i < n; i++) y[i] = x[(ptrdiff_t)i * s];
        y += n;
    })
}

static wg_status walk_value(wg_block *b) {
    walk_copy(b, wgi_view_value(&b->in[0]), b->out[0].value);
    return WG_OK;
}

static wg_status walk_vjp(wg_block *b) {
    struct loops l;
    const double *w = b->out[0].bar;
    if (!loops_of(b, wgi_view_bar(&b->in[0]), &l)) return WG_OK;
    const size_t n = l.extent[0];
    const ptrdiff_t s = l.stride[0];
    WALK(l, x, {
        if (s == 0) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += w[i];
            *x += sum;
        } else
            for (size_t i = 0; i < n; i++) x[(ptrdiff_t)i * s] += w[i];
        w += n;
    })
    return WG_OK;
}

static wg_status walk_jvp(wg_block *b) {
    walk_copy(b, wgi_view_bar(&b->in[0]), b->out[0].bar);
    return WG_OK;
}

#define WALKER(name)                                                                           \
    const wg_block_op wgi_op_##name = {                                                        \
        "wg_" #name, WGI_MOVES, walk_shape, walk_value, walk_vjp, walk_jvp, NULL, NULL, NULL}
WALKER(slice);
WALKER(flip_rows);
WALKER(flip_cols);
WALKER(tile);
WALKER(repeat);
WALKER(windows);
WALKER(broadcast_to);
WALKER(permute);

static wg_mat walk(wg_tape *t, const wg_block_op *op, wg_mat x, const struct walk *w) {
    return wgi_apply_one(t, op, w, sizeof *w, 1, &x);
}

wg_mat wg_slice(wg_tape *t, wg_mat x, size_t row, ptrdiff_t row_step, size_t rows, size_t col,
                ptrdiff_t col_step, size_t cols) {
    struct walk w = still;
    w.row_dims = 1;
    w.row = row, w.extent[0] = rows, w.down[0] = row_step;
    w.col = col, w.extent[1] = cols, w.across[1] = col_step;
    return walk(t, &wgi_op_slice, x, &w);
}

wg_mat wg_mat_copy(wg_tape *t, wg_mat x) {
    return wgi_apply_one(t, &wgi_op_copy, NULL, 0, 1, &x);
}

/* Rows from `row` on in steps of down, columns from `col` on in steps of across. */
static struct walk all_of(wg_mat x, size_t row, ptrdiff_t down, size_t col, ptrdiff_t across) {
    struct walk w = still;
    w.row_dims = 1;
    w.row = row, w.extent[0] = x.rows, w.down[0] = down;
    w.col = col, w.extent[1] = x.cols, w.across[1] = across;
    return w;
}

wg_mat wg_flip_rows(wg_tape *t, wg_mat x) {
    const struct walk w = all_of(x, x.rows - (x.rows != 0), -1, 0, 1);
    return walk(t, &wgi_op_flip_rows, x, &w);
}

wg_mat wg_flip_cols(wg_tape *t, wg_mat x) {
    const struct walk w = all_of(x, 0, 1, x.cols - (x.cols != 0), -1);
    return walk(t, &wgi_op_flip_cols, x, &w);
}

wg_mat wg_tile(wg_tape *t, wg_mat x, size_t down, size_t across) {
    struct walk w = still;
    w.extent[0] = x.rows, w.down[0] = 1;
    w.extent[1] = down;
    w.extent[2] = x.cols, w.across[2] = 1;
    w.extent[3] = across;
    return walk(t, &wgi_op_tile, x, &w);
}

wg_mat wg_repeat(wg_tape *t, wg_mat x, size_t down, size_t across) {
    struct walk w = still;
    w.extent[0] = down;
    w.extent[1] = x.rows, w.down[1] = 1;
    w.extent[2] = across;
    w.extent[3] = x.cols, w.across[3] = 1;
    return walk(t, &wgi_op_repeat, x, &w);
}

wg_mat wg_windows(wg_tape *t, wg_mat x, size_t count, size_t cols, size_t stride) {
    struct walk w = still;
    w.row_dims = 1;
    w.extent[0] = x.rows, w.down[0] = 1;
    w.extent[1] = cols, w.across[1] = 1;
    w.extent[2] = count, w.across[2] = (ptrdiff_t)stride;
    if (stride > INT_MAX) w.status = WG_ESHAPE, w.why = "a stride beyond the operand";
    return walk(t, &wgi_op_windows, x, &w);
}

wg_mat wg_broadcast_to(wg_tape *t, wg_mat x, size_t rows, size_t cols) {
    struct walk w = still;
    w.row_dims = 1;
    w.extent[0] = rows, w.down[0] = x.rows == rows;
    w.extent[1] = cols, w.across[1] = x.cols == cols;
    if ((x.rows != rows && x.rows != 1) || (x.cols != cols && x.cols != 1))
        w.status = WG_ESHAPE, w.why = "neither of that length nor of length 1";
    return walk(t, &wgi_op_broadcast_to, x, &w);
}

/* What is wrong with the arguments of wg_permute, or the walk. */
static const char *permutation(wg_mat x, size_t dims, const size_t *dim, const size_t *perm,
                               size_t row_dims, struct walk *w) {
    ptrdiff_t down[DIMS] = {0}, across[DIMS] = {0};
    size_t rows = 1, cols = 1, seen = 0, k = 0;
    if (dims > DIMS) return "more than 4 dimensions";
    if (row_dims > dims) return "more dimensions for the rows than there are";
    /* The first dimensions that make up the rows; leading ones of length 1 are theirs too. */
    for (; k < dims && (rows < x.rows || dim[k] == 1 || x.rows == 0) &&
           !(x.rows == 0 && rows == 0);
         k++) {
        down[k] = (ptrdiff_t)rows;
        if (__builtin_mul_overflow(rows, dim[k], &rows)) return "dimensions do not fit";
    }
    for (; k < dims; k++) {
        across[k] = (ptrdiff_t)cols;
        if (__builtin_mul_overflow(cols, dim[k], &cols)) return "dimensions do not fit";
    }
    if (rows != x.rows || cols != x.cols) return "dimensions do not fit";
    for (k = 0; k < dims; k++) {
        if (perm[k] >= dims || (seen >> perm[k] & 1)) return "not a permutation";
        seen |= (size_t)1 << perm[k];
        w->extent[k] = dim[perm[k]];
        w->down[k] = down[perm[k]], w->across[k] = across[perm[k]];
    }
    w->row_dims = row_dims;
    return NULL;
}

wg_mat wg_permute(wg_tape *t, wg_mat x, size_t dims, const size_t *dim, const size_t *perm,
                  size_t row_dims) {
    struct walk w = still;
    if (dims != 0 && (dim == NULL || perm == NULL)) w.status = WG_ENULL;
    else if ((w.why = permutation(x, dims, dim, perm, row_dims, &w)) != NULL)
        w.status = WG_EARG;
    return walk(t, &wgi_op_permute, x, &w);
}

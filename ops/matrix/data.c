/* SPDX-License-Identifier: MIT */
/* Data movement. Every operation is linear with coefficients 0 and 1: the value copies, the
 * adjoint adds back along the same way, the tangent is the value of the tangents.
 *
 * Two ways of saying where an element comes from: a `walk`, loops over up to four extents with
 * constant steps in rows and columns of the operand (slices, flips, repetition, permutation of
 * dimensions); and a list of element, row or column numbers.
 *
 * Letters: x operand, u updates, y result; down, across: from one row, one column to the next.
 */
#include <wengert/data.h>
#include "ops/scalar/copy.h"
#include "expand.h"
#include "traits.h"
#include "view.h"

#include <limits.h>
#include <string.h>

/* WG_OP_EXPANDS: of vjp, which is the derivative. */
enum { MOVES = WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_MOVES | WG_OP_EXPANDS };

static wg_status refuse(wg_block *b, wg_status s, const char *why) {
    b->why = why;
    return s;
}

/* y (of the result, contiguous) = x, and x += y, for a block. */
static void copy_out(wgi_view x, double *y, size_t ld) {
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    for (size_t j = 0; j < x.cols; j++, x.p += across, y += ld) {
        if (down == 1) memcpy(y, x.p, x.rows * sizeof *y);
        else
            for (size_t i = 0; i < x.rows; i++) y[i] = x.p[i * down];
    }
}

static void add_back(wgi_view x, const double *y, size_t ld) {
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    for (size_t j = 0; j < x.cols; j++, x.p += across, y += ld)
        for (size_t i = 0; i < x.rows; i++) x.p[i * down] += y[i];
}

static int is_empty(wgi_view x) { return x.rows == 0 || x.cols == 0; }

static void clear(double *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = 0;
}

/* ---- walks ---- */

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
    if (w->status != WG_OK) return refuse(b, w->status, w->why);
    size_t side[2] = {1, 1};
    int empty = 0;
    for (size_t k = 0; k < DIMS; k++) {
        size_t *const s = &side[k >= w->row_dims];
        if (w->extent[k] > INT_MAX || __builtin_mul_overflow(*s, w->extent[k], s))
            return refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
        empty |= w->extent[k] == 0;
    }
    if (!empty && !(stays(b->in[0].rows, w->row, w->extent, w->down) &&
                    stays(b->in[0].cols, w->col, w->extent, w->across)))
        return refuse(b, WG_ESHAPE, "beyond the operand");
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
    const wg_block_op wgi_op_##name = {"wg_" #name, MOVES, walk_shape, walk_value, walk_vjp,   \
                                       walk_jvp,    NULL,  NULL,       NULL}
WALKER(slice);
WALKER(flip_rows);
WALKER(flip_cols);
WALKER(tile);
WALKER(repeat);
WALKER(windows);
WALKER(broadcast_to);
WALKER(permute);

static wg_mat walk(wg_tape *t, const wg_block_op *op, wg_mat x, const struct walk *w) {
    wg_mat y;
    (void)wg_apply(t, op, w, sizeof *w, 1, &x, 1, &y);
    return y;
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
    wg_mat y;
    (void)wg_apply(t, &wgi_op_copy, NULL, 0, 1, &x, 1, &y);
    return y;
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

/* ---- element lists ---- */

/* n numbers in memory of the tape. */
struct list {
    const size_t *index;
    size_t n, rows, cols; /* of a gather's result */
};

static wg_status list_check(wg_block *b, const struct list *l, size_t limit) {
    if (l->n != 0 && l->index == NULL) return refuse(b, WG_ENULL, "no index list");
    for (size_t k = 0; k < l->n; k++)
        if (l->index[k] >= limit) return refuse(b, WG_EARG, "an index is out of range");
    return WG_OK;
}

/* Copies a list to the tape and applies; a NULL list is for the operation to refuse. */
static wg_mat list_apply(wg_tape *t, const wg_block_op *op, struct list l, size_t inputs,
                         const wg_mat *in) {
    wg_mat y = wg_mat_failed(0, 0);
    if (l.index != NULL && l.n <= SIZE_MAX / sizeof *l.index) {
        void *const kept = wg_tape_keep(t, l.n * sizeof *l.index, l.index);
        if (kept != NULL) l.index = (const size_t *)kept;
    }
    (void)wg_apply(t, op, &l, sizeof l, inputs, in, 1, &y);
    return y;
}

/* Element number e of a view. */
static inline double *element(wgi_view x, size_t e) {
    return x.p + e % x.rows * wgi_view_down(x) + e / x.rows * wgi_view_across(x);
}
static int is_packed(wgi_view x) { return !x.trans && (x.ld == x.rows || x.cols <= 1); }

static wg_status gather_shape(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    size_t n;
    if (__builtin_mul_overflow(l->rows, l->cols, &n))
        return refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
    b->out[0].rows = l->rows;
    b->out[0].cols = l->cols;
    return list_check(b, l, b->in[0].rows * b->in[0].cols);
}

static void gather(const wg_block *b, wgi_view x, double *y) {
    const struct list *const l = (const struct list *)b->params;
    if (is_packed(x))
        for (size_t k = 0; k < l->n; k++) y[k] = x.p[l->index[k]];
    else
        for (size_t k = 0; k < l->n; k++) y[k] = *element(x, l->index[k]);
}

static wg_status gather_value(wg_block *b) {
    gather(b, wgi_view_value(&b->in[0]), b->out[0].value);
    return WG_OK;
}

static wg_status gather_vjp(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    const wgi_view x = wgi_view_bar(&b->in[0]);
    const double *const w = b->out[0].bar;
    if (is_packed(x))
        for (size_t k = 0; k < l->n; k++) x.p[l->index[k]] += w[k];
    else
        for (size_t k = 0; k < l->n; k++) *element(x, l->index[k]) += w[k];
    return WG_OK;
}

static wg_status gather_jvp(wg_block *b) {
    gather(b, wgi_view_bar(&b->in[0]), b->out[0].bar);
    return WG_OK;
}

/* Where element (row, col) of an operand stands. */
static size_t stored(const wg_block_arg *x, size_t row, size_t col) {
    return x->trans ? col + row * x->ld : row + col * x->ld;
}

static void gather_touched(const wg_block *call, wgi_touch *touch, void *to) {
    const struct list *const l = (const struct list *)call->params;
    const wg_block_arg *const x = &call->in[0];
    for (size_t k = 0; k < l->n; k++)
        touch(to, stored(x, l->index[k] % x->rows, l->index[k] / x->rows), 1);
}

static const wgi_traits gather_traits = {.touched = {gather_touched}};

const wg_block_op wgi_op_gather = {
    "wg_gather", MOVES, gather_shape, gather_value, gather_vjp, gather_jvp, NULL, NULL,
    &gather_traits};

wg_mat wg_gather(wg_tape *t, wg_mat x, size_t rows, size_t cols, const size_t *index) {
    struct list l = {index, 0, rows, cols};
    if (__builtin_mul_overflow(rows, cols, &l.n)) l.n = SIZE_MAX;
    return list_apply(t, &wgi_op_gather, l, 1, &x);
}

/* in: x, u. */
static wg_status scatter_shape(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = b->in[0].cols;
    return list_check(b, l, b->in[0].rows * b->in[0].cols);
}

static void scatter_add(const wg_block *b, wgi_view u, double *y) {
    const struct list *const l = (const struct list *)b->params;
    for (size_t k = 0; k < l->n; k++) y[l->index[k]] += *element(u, k);
}

static wg_status scatter_add_value(wg_block *b) {
    copy_out(wgi_view_value(&b->in[0]), b->out[0].value, b->out[0].ld);
    scatter_add(b, wgi_view_value(&b->in[1]), b->out[0].value);
    return WG_OK;
}

static wg_status scatter_add_vjp(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    const double *const w = b->out[0].bar;
    if (b->in[0].bar != NULL) add_back(wgi_view_bar(&b->in[0]), w, b->out[0].bar_ld);
    if (b->in[1].bar != NULL) {
        const wgi_view u = wgi_view_bar(&b->in[1]);
        for (size_t k = 0; k < l->n; k++) *element(u, k) += w[l->index[k]];
    }
    return WG_OK;
}

static wg_status scatter_add_jvp(wg_block *b) {
    double *const y = b->out[0].bar;
    if (b->in[0].bar != NULL) copy_out(wgi_view_bar(&b->in[0]), y, b->out[0].bar_ld);
    else clear(y, wgi_length(&b->out[0]));
    if (b->in[1].bar != NULL) scatter_add(b, wgi_view_bar(&b->in[1]), y);
    return WG_OK;
}

static wg_status scatter_add_expand(wg_tape *t, const wg_block *b, const wg_real *x,
                                    wg_real *y) {
    const struct list *const l = (const struct list *)b->params;
    const wgi_reals u = wgi_reals_operand(b, x, 1);
    wgi_expand_copy(wgi_reals_operand(b, x, 0), y);
    for (size_t k = 0; k < l->n; k++)
        y[l->index[k]] = wg_let(t, wg_add(y[l->index[k]], u.p[k]));
    return WG_OK;
}

static const size_t *scatter_indices(const void *params, size_t *n) {
    const struct list *const l = params;
    *n = l->n;
    return l->index;
}

static const wgi_traits scatter_traits = {.scatter = scatter_indices};

const wg_block_op wgi_op_scatter_add = {
    "wg_scatter_add",   WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_LINEAR | WG_OP_EXPANDS,
    scatter_shape,      scatter_add_value,
    scatter_add_vjp,    scatter_add_jvp,
    scatter_add_expand, NULL,
    &scatter_traits};

wg_mat wg_scatter_add(wg_tape *t, wg_mat x, wg_mat u, const size_t *index) {
    const wg_mat in[2] = {x, u};
    return list_apply(t, &wgi_op_scatter_add, (struct list){index, u.rows * u.cols, 0, 0}, 2,
                      in);
}

/* Which u stays in an element, if any, is left in saved: k + 1, or 0. */
static wg_status scatter_set_shape(wg_block *b) {
    b->saved_bytes = b->in[0].rows * b->in[0].cols * sizeof(size_t);
    return scatter_shape(b);
}

/* y = x where no u stays. */
static void scatter_set(const wg_block *b, wgi_view x, int x_zero, wgi_view u, int u_zero,
                        double *y) {
    const size_t *const from = (const size_t *)b->saved;
    if (x_zero) clear(y, wgi_length(&b->out[0]));
    else copy_out(x, y, b->out[0].ld);
    for (size_t e = 0, n = wgi_length(&b->out[0]); e < n; e++)
        if (from[e] != 0) y[e] = u_zero ? 0 : *element(u, from[e] - 1);
}

static wg_status scatter_set_value(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    size_t *const from = (size_t *)b->saved;
    for (size_t e = 0, n = wgi_length(&b->in[0]); e < n; e++) from[e] = 0;
    for (size_t k = 0; k < l->n; k++) from[l->index[k]] = k + 1;
    scatter_set(b, wgi_view_value(&b->in[0]), 0, wgi_view_value(&b->in[1]), 0, b->out[0].value);
    return WG_OK;
}

static wg_status scatter_set_vjp(wg_block *b) {
    const size_t *const from = (const size_t *)b->saved;
    const double *const w = b->out[0].bar;
    const wgi_view x = wgi_view_bar(&b->in[0]), u = wgi_view_bar(&b->in[1]);
    for (size_t e = 0, n = wgi_length(&b->out[0]); e < n; e++) {
        if (from[e] == 0) {
            if (x.p != NULL) *element(x, e) += w[e];
        } else if (u.p != NULL) *element(u, from[e] - 1) += w[e];
    }
    return WG_OK;
}

static wg_status scatter_set_jvp(wg_block *b) {
    const wgi_view x = wgi_view_bar(&b->in[0]), u = wgi_view_bar(&b->in[1]);
    scatter_set(b, x, x.p == NULL, u, u.p == NULL, b->out[0].bar);
    return WG_OK;
}

const wg_block_op wgi_op_scatter_set = {"wg_scatter_set",
                                        MOVES,
                                        scatter_set_shape,
                                        scatter_set_value,
                                        scatter_set_vjp,
                                        scatter_set_jvp,
                                        NULL,
                                        NULL,
                                        NULL};

wg_mat wg_scatter_set(wg_tape *t, wg_mat x, wg_mat u, const size_t *index) {
    const wg_mat in[2] = {x, u};
    return list_apply(t, &wgi_op_scatter_set, (struct list){index, u.rows * u.cols, 0, 0}, 2,
                      in);
}

/* ---- row and column lists ---- */

/* Rows of x, or columns: rows of its transpose, with the result transposed as well. */
static wg_status take_rows_shape(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    b->out[0].rows = l->n;
    b->out[0].cols = b->in[0].cols;
    return list_check(b, l, b->in[0].rows);
}

static wg_status take_cols_shape(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = l->n;
    return list_check(b, l, b->in[0].cols);
}

static void take_rows(const wg_block *b, wgi_view x, double *y) {
    const struct list *const l = (const struct list *)b->params;
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    for (size_t j = 0; j < x.cols; j++, x.p += across)
        for (size_t k = 0; k < l->n; k++) *y++ = x.p[l->index[k] * down];
}

static wg_status take_rows_value(wg_block *b) {
    take_rows(b, wgi_view_value(&b->in[0]), b->out[0].value);
    return WG_OK;
}

static wg_status take_rows_vjp(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    wgi_view x = wgi_view_bar(&b->in[0]);
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    const double *w = b->out[0].bar;
    for (size_t j = 0; j < x.cols; j++, x.p += across)
        for (size_t k = 0; k < l->n; k++) x.p[l->index[k] * down] += *w++;
    return WG_OK;
}

static wg_status take_rows_jvp(wg_block *b) {
    take_rows(b, wgi_view_bar(&b->in[0]), b->out[0].bar);
    return WG_OK;
}

static void take_cols(const wg_block *b, wgi_view x, double *y, size_t ld) {
    const struct list *const l = (const struct list *)b->params;
    for (size_t k = 0; k < l->n && x.rows != 0; k++)
        copy_out(wgi_view_block(x, 0, l->index[k], x.rows, 1), y + k * ld, ld);
}

static wg_status take_cols_value(wg_block *b) {
    take_cols(b, wgi_view_value(&b->in[0]), b->out[0].value, b->out[0].ld);
    return WG_OK;
}

static wg_status take_cols_vjp(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    const wgi_view x = wgi_view_bar(&b->in[0]);
    for (size_t k = 0; k < l->n && x.rows != 0; k++)
        add_back(wgi_view_block(x, 0, l->index[k], x.rows, 1),
                 b->out[0].bar + k * b->out[0].bar_ld, b->out[0].bar_ld);
    return WG_OK;
}

static wg_status take_cols_jvp(wg_block *b) {
    take_cols(b, wgi_view_bar(&b->in[0]), b->out[0].bar, b->out[0].bar_ld);
    return WG_OK;
}

/* A row, or a column, is one run or one element of each run, as the operand is stored. */
static void rows_touched(const wg_block *call, wgi_touch *touch, void *to) {
    const struct list *const l = (const struct list *)call->params;
    const wg_block_arg *const x = &call->in[0];
    for (size_t k = 0; k < l->n; k++)
        if (x->trans) touch(to, stored(x, l->index[k], 0), x->cols);
        else
            for (size_t j = 0; j < x->cols; j++) touch(to, stored(x, l->index[k], j), 1);
}

static void cols_touched(const wg_block *call, wgi_touch *touch, void *to) {
    const struct list *const l = (const struct list *)call->params;
    const wg_block_arg *const x = &call->in[0];
    for (size_t k = 0; k < l->n; k++)
        if (!x->trans) touch(to, stored(x, 0, l->index[k]), x->rows);
        else
            for (size_t i = 0; i < x->rows; i++) touch(to, stored(x, i, l->index[k]), 1);
}

static const wgi_traits rows_traits = {.touched = {rows_touched}};
static const wgi_traits cols_traits = {.touched = {cols_touched}};

const wg_block_op wgi_op_take_rows = {
    "wg_take_rows", MOVES, take_rows_shape, take_rows_value, take_rows_vjp, take_rows_jvp, NULL,
    NULL,           &rows_traits};
const wg_block_op wgi_op_take_cols = {
    "wg_take_cols", MOVES, take_cols_shape, take_cols_value, take_cols_vjp, take_cols_jvp, NULL,
    NULL,           &cols_traits};
const wg_block_op wgi_op_embedding = {
    "wg_embedding", MOVES, take_cols_shape, take_cols_value, take_cols_vjp, take_cols_jvp, NULL,
    NULL,           &cols_traits};

wg_mat wg_take_rows(wg_tape *t, wg_mat x, size_t n, const size_t *index) {
    return list_apply(t, &wgi_op_take_rows, (struct list){index, n, 0, 0}, 1, &x);
}
wg_mat wg_take_cols(wg_tape *t, wg_mat x, size_t n, const size_t *index) {
    return list_apply(t, &wgi_op_take_cols, (struct list){index, n, 0, 0}, 1, &x);
}
wg_mat wg_embedding(wg_tape *t, wg_mat table, size_t n, const size_t *index) {
    return list_apply(t, &wgi_op_embedding, (struct list){index, n, 0, 0}, 1, &table);
}

/* ---- joining and padding ---- */

/* params: unsigned, 1: beside each other. */
static wg_status concat_shape(wg_block *b) {
    const unsigned beside = *(const unsigned *)b->params;
    wg_block_arg *const y = &b->out[0];
    y->rows = b->in[0].rows;
    y->cols = b->in[0].cols;
    for (size_t k = 1; k < b->inputs; k++) {
        if (beside ? b->in[k].rows != y->rows : b->in[k].cols != y->cols)
            return refuse(b, WG_ESHAPE, beside ? "unequal rows" : "unequal columns");
        if (beside) y->cols += b->in[k].cols;
        else y->rows += b->in[k].rows;
    }
    return WG_OK;
}

/* Does something with every operand and its place in the result: y, of leading dimension ld. */
enum concat_step { CONCAT_VALUE, CONCAT_VJP, CONCAT_JVP };

static void concat(const wg_block *b, enum concat_step step) {
    const unsigned beside = *(const unsigned *)b->params;
    const size_t ld = b->out[0].ld;
    double *y = step == CONCAT_VALUE ? b->out[0].value : b->out[0].bar;
    for (size_t k = 0; k < b->inputs; k++) {
        const wg_block_arg *const a = &b->in[k];
        if (a->rows == 0 || a->cols == 0) continue;
        const wgi_view x = step == CONCAT_VALUE ? wgi_view_value(a) : wgi_view_bar(a);
        if (step == CONCAT_VJP) {
            if (x.p != NULL) add_back(x, y, ld);
        } else if (x.p != NULL) copy_out(x, y, ld);
        else
            for (size_t j = 0; j < x.cols; j++) clear(y + j * ld, x.rows);
        y += beside ? a->cols * ld : a->rows;
    }
}

static wg_status concat_value(wg_block *b) {
    concat(b, CONCAT_VALUE);
    return WG_OK;
}
static wg_status concat_vjp(wg_block *b) {
    concat(b, CONCAT_VJP);
    return WG_OK;
}
static wg_status concat_jvp(wg_block *b) {
    concat(b, CONCAT_JVP);
    return WG_OK;
}

const wg_block_op wgi_op_concat_rows = {
    "wg_concat_rows", MOVES, concat_shape, concat_value, concat_vjp,
    concat_jvp,       NULL,  NULL,         NULL};
const wg_block_op wgi_op_concat_cols = {
    "wg_concat_cols", MOVES, concat_shape, concat_value, concat_vjp,
    concat_jvp,       NULL,  NULL,         NULL};

enum { MOST = 16 }; /* operands of wg_apply */

static wg_mat join(wg_tape *t, const wg_block_op *op, unsigned beside, size_t count,
                   const wg_mat *x) {
    wg_mat in[MOST], y;
    if (count == 0) return wg_mat_constant(t, 0, 0, &(const double){0}, 1);
    if (count <= MOST || x == NULL) {
        (void)wg_apply(t, op, &beside, sizeof beside, count <= MOST ? count : MOST, x, 1, &y);
        return y;
    }
    (void)wg_apply(t, op, &beside, sizeof beside, MOST, x, 1, &y);
    for (size_t k = MOST; k < count;) {
        size_t n = 1;
        in[0] = y;
        while (n < MOST && k < count) in[n++] = x[k++];
        (void)wg_apply(t, op, &beside, sizeof beside, n, in, 1, &y);
    }
    return y;
}

wg_mat wg_concat_rows(wg_tape *t, size_t count, const wg_mat *x) {
    return join(t, &wgi_op_concat_rows, 0, count, x);
}
wg_mat wg_concat_cols(wg_tape *t, size_t count, const wg_mat *x) {
    return join(t, &wgi_op_concat_cols, 1, count, x);
}

struct padding {
    size_t above, below, left, right;
    double value;
};

static wg_status pad_shape(wg_block *b) {
    const struct padding *const p = (const struct padding *)b->params;
    wg_block_arg *const y = &b->out[0];
    if (__builtin_add_overflow(b->in[0].rows, p->above, &y->rows) ||
        __builtin_add_overflow(y->rows, p->below, &y->rows) ||
        __builtin_add_overflow(b->in[0].cols, p->left, &y->cols) ||
        __builtin_add_overflow(y->cols, p->right, &y->cols))
        return refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
    return WG_OK;
}

static void pad(const wg_block *b, wgi_view x, double around, double *y) {
    const struct padding *const p = (const struct padding *)b->params;
    for (size_t i = 0, n = wgi_length(&b->out[0]); i < n; i++) y[i] = around;
    if (!is_empty(x)) copy_out(x, y + p->left * b->out[0].ld + p->above, b->out[0].ld);
}

static wg_status pad_value(wg_block *b) {
    pad(b, wgi_view_value(&b->in[0]), ((const struct padding *)b->params)->value,
        b->out[0].value);
    return WG_OK;
}

static wg_status pad_vjp(wg_block *b) {
    const struct padding *const p = (const struct padding *)b->params;
    const size_t ld = b->out[0].bar_ld;
    const wgi_view x = wgi_view_bar(&b->in[0]);
    if (!is_empty(x)) add_back(x, b->out[0].bar + p->left * ld + p->above, ld);
    return WG_OK;
}

static wg_status pad_jvp(wg_block *b) {
    pad(b, wgi_view_bar(&b->in[0]), 0, b->out[0].bar);
    return WG_OK;
}

const wg_block_op wgi_op_pad = {"wg_pad", MOVES, pad_shape, pad_value, pad_vjp,
                                pad_jvp,  NULL,  NULL,      NULL};

wg_mat wg_pad(wg_tape *t, wg_mat x, size_t above, size_t below, size_t left, size_t right,
              double value) {
    const struct padding p = {above, below, left, right, value};
    wg_mat y;
    (void)wg_apply(t, &wgi_op_pad, &p, sizeof p, 1, &x, 1, &y);
    return y;
}

/* ---- diagonals and triangles ---- */

static wg_status diag_shape(wg_block *b) {
    if (!wgi_is_vector(&b->in[0]) && wgi_length(&b->in[0]) != 0)
        return refuse(b, WG_ESHAPE, "not a vector");
    b->out[0].rows = b->out[0].cols = wgi_length(&b->in[0]);
    return WG_OK;
}

static void diag(wgi_view x, size_t n, double *y) {
    x = wgi_view_column(x);
    clear(y, n * n);
    for (size_t i = 0; i < n; i++) y[i * (n + 1)] = x.p[i * wgi_view_down(x)];
}

static wg_status diag_value(wg_block *b) {
    diag(wgi_view_value(&b->in[0]), b->out[0].rows, b->out[0].value);
    return WG_OK;
}

static wg_status diag_vjp(wg_block *b) {
    const wgi_view x = wgi_view_column(wgi_view_bar(&b->in[0]));
    const size_t n = b->out[0].rows;
    for (size_t i = 0; i < n; i++) x.p[i * wgi_view_down(x)] += b->out[0].bar[i * (n + 1)];
    return WG_OK;
}

static wg_status diag_jvp(wg_block *b) {
    diag(wgi_view_bar(&b->in[0]), b->out[0].rows, b->out[0].bar);
    return WG_OK;
}

const wg_block_op wgi_op_diag = {"wg_diag", MOVES, diag_shape, diag_value, diag_vjp,
                                 diag_jvp,  NULL,  NULL,       NULL};

wg_mat wg_diag(wg_tape *t, wg_mat x) {
    wg_mat y;
    (void)wg_apply(t, &wgi_op_diag, NULL, 0, 1, &x, 1, &y);
    return y;
}

struct band {
    ptrdiff_t k;
    unsigned upper;
};

static wg_status band_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = b->in[0].cols;
    return WG_OK;
}

/* The rows [low, high) of column j that stay. */
static void band_rows(const struct band *w, size_t rows, size_t j, size_t *low, size_t *high) {
    /* first row on or below diagonal k: i >= j - k */
    const ptrdiff_t edge = (ptrdiff_t)j - w->k + (w->upper ? 1 : 0), n = (ptrdiff_t)rows;
    const size_t cut = (size_t)(edge < 0 ? 0 : edge > n ? n : edge);
    *low = w->upper ? 0 : cut;
    *high = w->upper ? cut : rows;
}

static void band(const wg_block *b, wgi_view x, double *y) {
    const struct band *const w = (const struct band *)b->params;
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    for (size_t j = 0; j < x.cols; j++, y += x.rows) {
        size_t low, high;
        band_rows(w, x.rows, j, &low, &high);
        clear(y, low);
        for (size_t i = low; i < high; i++) y[i] = x.p[i * down + j * across];
        clear(y + high, x.rows - high);
    }
}

static wg_status band_value(wg_block *b) {
    band(b, wgi_view_value(&b->in[0]), b->out[0].value);
    return WG_OK;
}

static wg_status band_vjp(wg_block *b) {
    const struct band *const w = (const struct band *)b->params;
    const wgi_view x = wgi_view_bar(&b->in[0]);
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    const double *bar = b->out[0].bar;
    for (size_t j = 0; j < x.cols; j++, bar += x.rows) {
        size_t low, high;
        band_rows(w, x.rows, j, &low, &high);
        for (size_t i = low; i < high; i++) x.p[i * down + j * across] += bar[i];
    }
    return WG_OK;
}

static wg_status band_jvp(wg_block *b) {
    band(b, wgi_view_bar(&b->in[0]), b->out[0].bar);
    return WG_OK;
}

const wg_block_op wgi_op_tril = {"wg_tril", MOVES, band_shape, band_value, band_vjp,
                                 band_jvp,  NULL,  NULL,       NULL};
const wg_block_op wgi_op_triu = {"wg_triu", MOVES, band_shape, band_value, band_vjp,
                                 band_jvp,  NULL,  NULL,       NULL};

static wg_mat triangle(wg_tape *t, const wg_block_op *op, wg_mat x, ptrdiff_t k,
                       unsigned upper) {
    /* Beyond the largest matrix all diagonals are the same. */
    const struct band w = {k > INT_MAX ? INT_MAX : k < -INT_MAX ? -INT_MAX : k, upper};
    wg_mat y;
    (void)wg_apply(t, op, &w, sizeof w, 1, &x, 1, &y);
    return y;
}

wg_mat wg_tril(wg_tape *t, wg_mat x, ptrdiff_t k) { return triangle(t, &wgi_op_tril, x, k, 0); }
wg_mat wg_triu(wg_tape *t, wg_mat x, ptrdiff_t k) { return triangle(t, &wgi_op_triu, x, k, 1); }

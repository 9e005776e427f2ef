/* SPDX-License-Identifier: MIT */
/* Gathers and scatters by lists of element, row or column numbers (moves.h). Letters: u
 * updates. */
#include <wengert/data.h>
#include "expand.h"
#include "moves.h"
#include "traits.h"

/* ---- element lists ---- */

/* n numbers in memory of the tape. */
struct list {
    const size_t *index;
    size_t n, rows, cols; /* of a gather's result */
};

static wg_status list_check(wg_block *b, const struct list *l, size_t limit) {
    if (l->n != 0 && l->index == NULL) return wgi_block_refuse(b, WG_ENULL, "no index list");
    for (size_t k = 0; k < l->n; k++)
        if (l->index[k] >= limit)
            return wgi_block_refuse(b, WG_EARG, "an index is out of range");
    return WG_OK;
}

/* Copies a list to the tape and applies; a NULL list is for the operation to refuse. */
static wg_mat list_apply(wg_tape *t, const wg_block_op *op, struct list l, size_t inputs,
                         const wg_mat *in) {
    if (l.index != NULL && l.n <= SIZE_MAX / sizeof *l.index) {
        void *const kept = wg_tape_keep(t, l.n * sizeof *l.index, l.index);
        if (kept != NULL) l.index = (const size_t *)kept;
    }
    return wgi_apply_one(t, op, &l, sizeof l, inputs, in);
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
        return wgi_block_refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
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

const wg_block_op wgi_op_gather = {"wg_gather",  WGI_MOVES,  gather_shape,
                                   gather_value, gather_vjp, gather_jvp,
                                   NULL,         NULL,       &gather_traits};

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
    wgi_move_out(wgi_view_value(&b->in[0]), b->out[0].value, b->out[0].ld);
    scatter_add(b, wgi_view_value(&b->in[1]), b->out[0].value);
    return WG_OK;
}

static wg_status scatter_add_vjp(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    const double *const w = b->out[0].bar;
    if (b->in[0].bar != NULL) wgi_move_back(wgi_view_bar(&b->in[0]), w, b->out[0].bar_ld);
    if (b->in[1].bar != NULL) {
        const wgi_view u = wgi_view_bar(&b->in[1]);
        for (size_t k = 0; k < l->n; k++) *element(u, k) += w[l->index[k]];
    }
    return WG_OK;
}

static wg_status scatter_add_jvp(wg_block *b) {
    double *const y = b->out[0].bar;
    if (b->in[0].bar != NULL) wgi_move_out(wgi_view_bar(&b->in[0]), y, b->out[0].bar_ld);
    else wgi_move_clear(y, wgi_length(&b->out[0]));
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
    if (x_zero) wgi_move_clear(y, wgi_length(&b->out[0]));
    else wgi_move_out(x, y, b->out[0].ld);
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
                                        WGI_MOVES,
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
        wgi_move_out(wgi_view_block(x, 0, l->index[k], x.rows, 1), y + k * ld, ld);
}

static wg_status take_cols_value(wg_block *b) {
    take_cols(b, wgi_view_value(&b->in[0]), b->out[0].value, b->out[0].ld);
    return WG_OK;
}

static wg_status take_cols_vjp(wg_block *b) {
    const struct list *const l = (const struct list *)b->params;
    const wgi_view x = wgi_view_bar(&b->in[0]);
    for (size_t k = 0; k < l->n && x.rows != 0; k++)
        wgi_move_back(wgi_view_block(x, 0, l->index[k], x.rows, 1),
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
    "wg_take_rows", WGI_MOVES, take_rows_shape, take_rows_value, take_rows_vjp, take_rows_jvp,
    NULL,           NULL,      &rows_traits};
const wg_block_op wgi_op_take_cols = {
    "wg_take_cols", WGI_MOVES, take_cols_shape, take_cols_value, take_cols_vjp, take_cols_jvp,
    NULL,           NULL,      &cols_traits};
const wg_block_op wgi_op_embedding = {
    "wg_embedding", WGI_MOVES, take_cols_shape, take_cols_value, take_cols_vjp, take_cols_jvp,
    NULL,           NULL,      &cols_traits};

wg_mat wg_take_rows(wg_tape *t, wg_mat x, size_t n, const size_t *index) {
    return list_apply(t, &wgi_op_take_rows, (struct list){index, n, 0, 0}, 1, &x);
}
wg_mat wg_take_cols(wg_tape *t, wg_mat x, size_t n, const size_t *index) {
    return list_apply(t, &wgi_op_take_cols, (struct list){index, n, 0, 0}, 1, &x);
}
wg_mat wg_embedding(wg_tape *t, wg_mat table, size_t n, const size_t *index) {
    return list_apply(t, &wgi_op_embedding, (struct list){index, n, 0, 0}, 1, &table);
}

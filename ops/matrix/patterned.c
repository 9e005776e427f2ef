/* SPDX-License-Identifier: MIT */
/* Matrices with a pattern of a few elements: Toeplitz and circulant ones, block diagonal ones.
 *
 * Element (i, j) of a Toeplitz matrix is c_(i-j), or r_(j-i) above the diagonal, of a circulant
 * one c_((i-j) mod n). Adjoints add up along diagonals; what no element comes from has
 * gradient 0. */
#include <wengert/data.h>
#include "call.h"
#include "view.h"

/* ---- constant along diagonals: of c and r, or of c alone ---- */

static wg_status diagonals_shape(wg_block *b) {
    for (size_t k = 0; k < b->inputs; k++)
        if (!wgi_is_vector(&b->in[k]) && wgi_length(&b->in[k]) != 0)
            return wgi_block_refuse(b, WG_ESHAPE, "not a vector");
    b->out[0].rows = wgi_length(&b->in[0]);
    b->out[0].cols = wgi_length(&b->in[b->inputs - 1]);
    return WG_OK;
}

/* Where element (i, j) comes from: an operand, and the number of its element. */
static size_t origin_of(const wg_block *b, size_t i, size_t j, size_t *number) {
    *number = i >= j ? i - j : b->inputs == 2 ? j - i : i + b->out[0].rows - j;
    return i < j && b->inputs == 2;
}
static double *at(const wg_block_arg *a, double *p, size_t ld, size_t number) {
    return p + number * ((a->cols == 1) == !a->trans ? 1 : ld);
}

static wg_status diagonals_value(wg_block *b) {
    wg_block_arg *const y = &b->out[0];
    for (size_t j = 0; j < y->cols; j++)
        for (size_t i = 0; i < y->rows; i++) {
            size_t number;
            const wg_block_arg *const a = &b->in[origin_of(b, i, j, &number)];
            y->value[i + j * y->ld] = *at(a, a->value, a->ld, number);
        }
    return WG_OK;
}
static wg_status diagonals_vjp(wg_block *b) {
    const wg_block_arg *const y = &b->out[0];
    for (size_t j = 0; j < y->cols; j++)
        for (size_t i = 0; i < y->rows; i++) {
            size_t number;
            const wg_block_arg *const a = &b->in[origin_of(b, i, j, &number)];
            if (a->bar != NULL) *at(a, a->bar, a->bar_ld, number) += y->bar[i + j * y->bar_ld];
        }
    return WG_OK;
}
static wg_status diagonals_jvp(wg_block *b) {
    const wg_block_arg *const y = &b->out[0];
    for (size_t j = 0; j < y->cols; j++)
        for (size_t i = 0; i < y->rows; i++) {
            size_t number;
            const wg_block_arg *const a = &b->in[origin_of(b, i, j, &number)];
            y->bar[i + j * y->bar_ld] = a->bar != NULL ? *at(a, a->bar, a->bar_ld, number) : 0;
        }
    return WG_OK;
}

#define MOVES (WG_OP_TRANS | WG_OP_MOVES | WG_OP_LINEAR)
#define DIAGONALS(name)                                                                        \
    const wg_block_op wgi_op_##name = {"wg_" #name,                                            \
                                       MOVES,                                                  \
                                       diagonals_shape,                                        \
                                       diagonals_value,                                        \
                                       diagonals_vjp,                                          \
                                       diagonals_jvp,                                          \
                                       NULL,                                                   \
                                       NULL,                                                   \
                                       NULL}
DIAGONALS(toeplitz);
DIAGONALS(circulant);

wg_mat wg_toeplitz(wg_tape *t, wg_mat c, wg_mat r) {
    const wg_mat in[2] = {c, r};
    return wgi_apply_one(t, &wgi_op_toeplitz, NULL, 0, 2, in);
}
wg_mat wg_circulant(wg_tape *t, wg_mat c) {
    return wgi_apply_one(t, &wgi_op_circulant, NULL, 0, 1, &c);
}

/* ---- block diagonal ---- */

static wg_status blocks_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 0;
    for (size_t k = 0; k < b->inputs; k++) {
        if (__builtin_add_overflow(b->out[0].rows, b->in[k].rows, &b->out[0].rows) ||
            __builtin_add_overflow(b->out[0].cols, b->in[k].cols, &b->out[0].cols))
            return wgi_block_refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
    }
    return WG_OK;
}

/* Takes every block from or to its place in y, packed or with ld. */
enum step { FORWARD, BACKWARD, TANGENT };
static void blocks(const wg_block *b, enum step step, double *y, size_t ld) {
    for (size_t k = 0; k < b->inputs; k++) {
        const wg_block_arg *const a = &b->in[k];
        const wgi_view x = step == FORWARD ? wgi_view_value(a) : wgi_view_bar(a);
        const size_t down = wgi_view_down(x), across = wgi_view_across(x);
        for (size_t j = 0; x.p != NULL && j < a->cols; j++)
            for (size_t i = 0; i < a->rows; i++) {
                double *const one = &x.p[i * down + j * across], *const other = &y[i + j * ld];
                if (step == BACKWARD) *one += *other;
                else *other = *one;
            }
        y += a->rows + a->cols * ld;
    }
}
static void clear(size_t rows, size_t cols, double *y, size_t ld) {
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) y[i + j * ld] = 0;
}
static wg_status blocks_value(wg_block *b) {
    clear(b->out[0].rows, b->out[0].cols, b->out[0].value, b->out[0].ld);
    blocks(b, FORWARD, b->out[0].value, b->out[0].ld);
    return WG_OK;
}
static wg_status blocks_vjp(wg_block *b) {
    blocks(b, BACKWARD, b->out[0].bar, b->out[0].bar_ld);
    return WG_OK;
}
static wg_status blocks_jvp(wg_block *b) {
    clear(b->out[0].rows, b->out[0].cols, b->out[0].bar, b->out[0].bar_ld);
    blocks(b, TANGENT, b->out[0].bar, b->out[0].bar_ld);
    return WG_OK;
}

const wg_block_op wgi_op_block_diag = {
    "wg_block_diag", MOVES, blocks_shape, blocks_value, blocks_vjp,
    blocks_jvp,      NULL,  NULL,         NULL};

wg_mat wg_block_diag(wg_tape *t, size_t count, const wg_mat *x) {
    enum { MOST = 16 }; /* operands of wg_apply */
    wg_mat in[MOST], y;
    if (count == 0) return wg_mat_constant(t, 0, 0, &(const double){0}, 1);
    if (count <= MOST || x == NULL)
        return wgi_apply_one(t, &wgi_op_block_diag, NULL, 0, count <= MOST ? count : MOST, x);
    y = wgi_apply_one(t, &wgi_op_block_diag, NULL, 0, MOST, x);
    for (size_t k = MOST; k < count;) {
        size_t n = 1;
        in[0] = y;
        while (n < MOST && k < count) in[n++] = x[k++];
        y = wgi_apply_one(t, &wgi_op_block_diag, NULL, 0, n, in);
    }
    return y;
}

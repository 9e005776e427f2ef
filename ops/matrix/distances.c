/* SPDX-License-Identifier: MIT */
/* Distances between the rows of two matrices, and the covariance of the columns of one.
 *
 * Letters: rows x_i of X, z_j of Z, D_ij their Euclidean distance or its square, a bar for adjoints, a
 * dot for tangents.
 *
 *     W_ij = D__ij / D_ij, or 2 D__ij of squares
 *     x_i_ += sum over j of W_ij (x_i - z_j),  z_j_ -= sum over i of the same
 *     D._ij = (x_i - z_j)'(x._i - z._j) / D_ij, or twice that without the quotient
 *
 * Where points are equal W is 0, a subgradient, as of wg_hypot and wg_norm2 at 0. */
#include <math.h>
#include <string.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/reduce.h>
#include <wengert/statistics.h>
#include "blas.h"
#include "ops/scalar/elementwise.h"
#include "point.h"

/* params: an int, squares. */
static int of_squares(const wg_block *b) { return *(const int *)b->params; }

static wg_status distances_shape(wg_block *b) {
    if (b->in[0].cols != b->in[1].cols) {
        b->why = "points of different dimensions: unequal columns";
        return WG_ESHAPE;
    }
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[1].rows;
    return WG_OK;
}

static double distance(size_t d, const double *x, size_t ldx, const double *z, size_t ldz,
                       int square) {
    double s = 0, most = 0;
    for (size_t k = 0; k < d; k++) {
        const double by = x[k * ldx] - z[k * ldz];
        s += by * by;
        most = fmax(most, fabs(by));
    }
    if (square || (s >= 0x1p-900 && s <= 0x1p900)) return square ? s : sqrt(s);
    if (s != s || !(most > 0 && most <= 0x1.fffffffffffffp1023)) return s != s ? s : most;
    s = 0;
    for (size_t k = 0; k < d; k++) {
        const double by = (x[k * ldx] - z[k * ldz]) / most;
        s += by * by;
    }
    return most * sqrt(s);
}

static wg_status distances_value(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const z = &b->in[1];
    for (size_t j = 0; j < z->rows; j++)
        for (size_t i = 0; i < x->rows; i++)
            b->out[0].value[i + j * b->out[0].ld] =
                distance(x->cols, x->value + i, x->ld, z->value + j, z->ld, of_squares(b));
    return WG_OK;
}

/* The partial of D_ij by element k of x_i. */
static double partial(const wg_block *b, size_t i, size_t j, size_t k) {
    const wg_block_arg *const x = &b->in[0], *const z = &b->in[1], *const y = &b->out[0];
    const double by = x->value[i + k * x->ld] - z->value[j + k * z->ld];
    const double d = y->value[i + j * y->ld];
    return of_squares(b) ? 2 * by : d == 0 ? 0 : by / d;
}

static wg_status distances_vjp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const z = &b->in[1], *const y = &b->out[0];
    for (size_t j = 0; j < z->rows; j++)
        for (size_t i = 0; i < x->rows; i++) {
            const double w = y->bar[i + j * y->bar_ld];
            for (size_t k = 0; w != 0 && k < x->cols; k++) {
                const double by = wgi_times(w, partial(b, i, j, k));
                if (x->bar != NULL) x->bar[i + k * x->bar_ld] += by;
                if (z->bar != NULL) z->bar[j + k * z->bar_ld] -= by;
            }
        }
    return WG_OK;
}

static wg_status distances_jvp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const z = &b->in[1], *const y = &b->out[0];
    for (size_t j = 0; j < z->rows; j++)
        for (size_t i = 0; i < x->rows; i++) {
            double s = 0;
            for (size_t k = 0; k < x->cols; k++) {
                const double t = (x->bar != NULL ? x->bar[i + k * x->bar_ld] : 0) -
                                 (z->bar != NULL ? z->bar[j + k * z->bar_ld] : 0);
                s += wgi_times(partial(b, i, j, k), t);
            }
            y->bar[i + j * y->bar_ld] = s;
        }
    return WG_OK;
}

/* X_ = diag(W 1) X - W Z, Z_ = diag(W'1) Z - W'X, of points moved by the first of Z, which keeps digits
 * far from the origin. */
static wg_status distances_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                   const wg_mat *bar, wg_mat *back) {
    wg_mat w;
    if (out[0].rows == 0 || out[0].cols == 0 || in[0].cols == 0) return WG_OK;
    const wg_mat origin = wgi_at_the_point(t, wg_mat_row(in[1], 0));
    const wg_mat x = wg_mat_sub(t, in[0], origin), z = wg_mat_sub(t, in[1], origin);
    if (of_squares(b)) w = wg_mat_scale(t, 2, bar[0]);
    else {
        const wg_mat apart = wgi_at_the_point(t, out[0]);
        const wg_mat one = wg_mat_fill(t, out[0].rows, out[0].cols, 1),
                     none = wg_mat_fill(t, out[0].rows, out[0].cols, 0);
        w = wg_mat_select(t, apart, wg_mat_div(t, bar[0], wg_mat_select(t, apart, out[0], one)),
                          none);
    }
    const wg_mat rows = wg_mat_sum_axis(t, w, WG_EACH_ROW),
                 cols = wg_mat_transpose(wg_mat_sum_axis(t, w, WG_EACH_COL));
    back[0] = wg_gemm(t, 'N', 'N', -1, w, z, 1, wg_mat_mul(t, x, rows));
    back[1] = wg_gemm(t, 'T', 'N', -1, w, x, 1, wg_mat_mul(t, z, cols));
    return wg_tape_status(t);
}

#define DISTANCES(name)                                                                        \
    const wg_block_op wgi_op_##name = {"wg_" #name,                                            \
                                       WG_OP_ZERO_RULE,                                        \
                                       distances_shape,                                        \
                                       distances_value,                                        \
                                       distances_vjp,                                          \
                                       distances_jvp,                                          \
                                       NULL,                                                   \
                                       distances_adjoint,                                      \
                                       NULL}
DISTANCES(distances);
DISTANCES(distances_squared);

static wg_mat distances(wg_tape *t, const wg_block_op *op, int squares, wg_mat x, wg_mat z) {
    const wg_mat in[2] = {x, z};
    wg_mat d;
    (void)wg_apply(t, op, &squares, sizeof squares, 2, in, 1, &d);
    return d;
}
wg_mat wg_distances(wg_tape *t, wg_mat x, wg_mat z) {
    return distances(t, &wgi_op_distances, 0, x, z);
}
wg_mat wg_distances_squared(wg_tape *t, wg_mat x, wg_mat z) {
    return distances(t, &wgi_op_distances_squared, 1, x, z);
}

/* ---- covariance of data ---- */

/* X less the mean of each column. */
static wg_status centred_shape(wg_block *b) {
    const double ddof = *(const double *)b->params;
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    if ((double)b->in[0].rows - ddof > 0) return WG_OK;
    b->why = "not more rows than ddof";
    return WG_ESHAPE;
}
static void centre(size_t n, size_t cols, const double *x, size_t ld, double *y, size_t to_ld,
                   int add) {
    for (size_t j = 0; j < cols; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) mean += x[i + j * ld] / (double)n;
        for (size_t i = 0; i < n; i++) {
            const double by = x[i + j * ld] - mean;
            y[i + j * to_ld] = add ? y[i + j * to_ld] + by : by;
        }
    }
}
static wg_status centred_value(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const y = &b->out[0];
    centre(x->rows, x->cols, x->value, x->ld, y->value, y->ld, 0);
    return WG_OK;
}
static wg_status centred_vjp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const y = &b->out[0];
    if (x->bar != NULL) centre(x->rows, x->cols, y->bar, y->bar_ld, x->bar, x->bar_ld, 1);
    return WG_OK;
}
static wg_status centred_jvp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const y = &b->out[0];
    if (x->bar != NULL) centre(x->rows, x->cols, x->bar, x->bar_ld, y->bar, y->bar_ld, 0);
    else memset(y->bar, 0, y->rows * y->cols * sizeof *y->bar);
    return WG_OK;
}

/* What it subtracts from a column it subtracts from its adjoint. */
static wg_status centred_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {
        "wg_data_covariance", WG_OP_LINEAR, centred_shape, centred_value, centred_vjp,
        centred_jvp,          NULL,         NULL,          NULL};
    (void)in, (void)out;
    return wg_apply(t, &op, b->params, sizeof(double), 1, bar, 1, back);
}

wg_mat wg_data_covariance(wg_tape *t, wg_mat x, double ddof) {
    static const wg_block_op op = {
        "wg_data_covariance", WG_OP_LINEAR, centred_shape,   centred_value, centred_vjp,
        centred_jvp,          NULL,         centred_adjoint, NULL};
    wg_mat y;
    if (wg_apply(t, &op, &ddof, sizeof ddof, 1, &x, 1, &y) != WG_OK)
        return wg_mat_failed(x.cols, x.cols);
    return wg_syrk(t, 'T', 1 / ((double)x.rows - ddof), y, 0, wg_mat_failed(x.cols, x.cols));
}

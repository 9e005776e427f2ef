/* SPDX-License-Identifier: MIT */
/* Distances between the rows of two matrices, and the covariance of the columns of one.
 *
 * Letters: rows x_i of X, z_j of Z, D_ij their Euclidean distance or its square, a bar for
 * adjoints, a dot for tangents.
 *
 *     W_ij = D__ij / D_ij, or 2 D__ij of squares
 *     x_i_ += sum over j of W_ij (x_i - z_j),  z_j_ -= sum over i of the same
 *     D._ij = (x_i - z_j)'(x._i - z._j) / D_ij, or twice that without the quotient
 *
 * Where points are equal W is 0, a subgradient, as of wg_hypot and wg_norm2 at 0. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert/products.h>
#include <wengert/statistics.h>
#include "call.h"
#include "blas.h"
#include "expand.h"
#include "ops/scalar/elementwise.h"
#include "point.h"

/* params: an int, squares. */
static int of_squares(const wg_block *b) { return *(const int *)b->params; }

static wg_status distances_shape(wg_block *b) {
    if (b->in[0].cols != b->in[1].cols)
        return wgi_block_refuse(b, WG_ESHAPE,
                                "points of different dimensions: unequal columns");
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

/* Element k of x_i - z_j, times a power of two. */
static double difference(const wg_block *b, double by, size_t i, size_t j, size_t k) {
    const wg_block_arg *const x = &b->in[0], *const z = &b->in[1];
    const double xk = x->value[i + k * x->ld], zk = z->value[j + k * z->ld];
    return by < 1 ? xk * by - zk * by : (xk - zk) * by;
}

/* The partial of a distance d by element k of x_i. Of one beyond the range of numbers it is
 * that of points nearer to each other: by infinite differences as of equal ones, by others
 * beside them 0. Of one that is not a normal number, that of points farther from each other. */
static double partial(const wg_block *b, double d, size_t i, size_t j, size_t k) {
    if (of_squares(b)) return 2 * difference(b, 1, i, j, k);
    if (d == 0) return 0;
    if (!(d < DBL_MIN || d > DBL_MAX)) return difference(b, 1, i, j, k) / d;
    const double by = d < DBL_MIN ? 0x1p600 : 0x1p-600;
    const double here = difference(b, by, i, j, k);
    double s = 0, infinite = 0;
    for (size_t l = 0; l < b->in[0].cols; l++) {
        const double to = difference(b, by, i, j, l);
        s += to * to;
        infinite += isinf(to) != 0;
    }
    return isinf(here) ? copysign(1 / sqrt(infinite), here) : here / sqrt(s);
}

/* Adds the adjoints of the points to xb and zb, where they are not NULL. in: X, Z; d, w: D and
 * its adjoint. */
static void back(const wg_block *b, const double *d, size_t ldd, const double *w, size_t ldw,
                 double *xb, size_t ldx, double *zb, size_t ldz) {
    const wg_block_arg *const x = &b->in[0], *const z = &b->in[1];
    for (size_t j = 0; j < z->rows; j++)
        for (size_t i = 0; i < x->rows; i++)
            for (size_t k = 0; w[i + j * ldw] != 0 && k < x->cols; k++) {
                const double by =
                    wgi_times(w[i + j * ldw], partial(b, d[i + j * ldd], i, j, k));
                if (xb != NULL) xb[i + k * ldx] += by;
                if (zb != NULL) zb[j + k * ldz] -= by;
            }
}

static wg_status distances_vjp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const z = &b->in[1], *const y = &b->out[0];
    back(b, y->value, y->ld, y->bar, y->bar_ld, x->bar, x->bar_ld, z->bar, z->bar_ld);
    return WG_OK;
}

/* Element k of x._i - z._j. */
static double tangent(const wg_block *b, size_t i, size_t j, size_t k) {
    const wg_block_arg *const x = &b->in[0], *const z = &b->in[1];
    return (x->bar != NULL ? x->bar[i + k * x->bar_ld] : 0) -
           (z->bar != NULL ? z->bar[j + k * z->bar_ld] : 0);
}
/* The tangent of the distance d. */
static double along(const wg_block *b, double d, size_t i, size_t j) {
    double s = 0;
    for (size_t k = 0; k < b->in[0].cols; k++)
        s += wgi_times(partial(b, d, i, j, k), tangent(b, i, j, k));
    return s;
}

static wg_status distances_jvp(wg_block *b) {
    const wg_block_arg *const y = &b->out[0];
    for (size_t j = 0; j < y->cols; j++)
        for (size_t i = 0; i < y->rows; i++)
            y->bar[i + j * y->bar_ld] = along(b, y->value[i + j * y->ld], i, j);
    return WG_OK;
}

/* What distances_vjp gives, of X, Z, the adjoint W of D, and D, from pair to pair as there:
 * sums over all pairs before differences would lose the digits of points that are near to
 * each other. */
static wg_status back_shape(wg_block *b) {
    for (size_t k = 0; k < 2; k++)
        b->out[k].rows = b->in[k].rows, b->out[k].cols = b->in[k].cols;
    return WG_OK;
}
static wg_status back_value(wg_block *b) {
    const wg_block_arg *const w = &b->in[2], *const d = &b->in[3], *const to = b->out;
    for (size_t k = 0; k < 2; k++)
        memset(to[k].value, 0, to[k].rows * to[k].cols * sizeof(double));
    back(b, d->value, d->ld, w->value, w->ld, to[0].value, to[0].ld, to[1].value, to[1].ld);
    return WG_OK;
}
/* The partials p move by (t - p (p't))/D, those of squares by 2 t. */
static wg_status back_jvp(wg_block *b) {
    const wg_block_arg *const w = &b->in[2], *const d = &b->in[3], *const to = b->out;
    for (size_t k = 0; k < 2; k++)
        memset(to[k].bar, 0, to[k].rows * to[k].cols * sizeof(double));
    for (size_t j = 0; j < d->cols; j++)
        for (size_t i = 0; i < d->rows; i++) {
            const double apart = d->value[i + j * d->ld], at = w->value[i + j * w->ld];
            const double wt = w->bar != NULL ? w->bar[i + j * w->bar_ld] : 0;
            const double s = of_squares(b) ? 0 : along(b, apart, i, j);
            for (size_t k = 0; k < b->in[0].cols; k++) {
                const double p = partial(b, apart, i, j, k), t = tangent(b, i, j, k);
                const double pt = of_squares(b) ? 2 * t
                                  : apart == 0  ? 0
                                                : (t - wgi_times(p, s)) / apart;
                const double by = wgi_times(wt, p) + wgi_times(at, pt);
                to[0].bar[i + k * to[0].bar_ld] += by;
                to[1].bar[j + k * to[1].bar_ld] -= by;
            }
        }
    return WG_OK;
}

static wg_status distances_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                   const wg_mat *bar, wg_mat *to) {
    static const wg_block_op op = {
        "adjoint of wg_distances", 0, back_shape, back_value, NULL, back_jvp, NULL, NULL, NULL};
    const wg_mat of[4] = {in[0], in[1], bar[0], wgi_at_the_point(t, out[0])};
    return wg_apply(t, &op, b->params, sizeof(int), 4, of, 2, to);
}

static wg_status distances_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals of = wgi_reals_operand(b, x, 0), to = wgi_reals_operand(b, x, 1);
    wg_real *const by = wgi_expand_room(t, of.cols);
    if (by == NULL && of.cols != 0) return wg_tape_status(t);
    for (size_t j = 0; j < to.rows; j++)
        for (size_t i = 0; i < of.rows; i++) {
            for (size_t k = 0; k < of.cols; k++)
                by[k] = wg_let(t, wg_sub(wgi_reals_at(of, i, k), wgi_reals_at(to, j, k)));
            *y++ = of_squares(b) ? wg_squared_norm(t, of.cols, by) : wg_norm2(t, of.cols, by);
        }
    return wg_tape_status(t);
}

#define DISTANCES(name)                                                                        \
    const wg_block_op wgi_op_##name = {"wg_" #name,                                            \
                                       WG_OP_ZERO_RULE | WG_OP_EXPANDS,                        \
                                       distances_shape,                                        \
                                       distances_value,                                        \
                                       distances_vjp,                                          \
                                       distances_jvp,                                          \
                                       distances_expand,                                       \
                                       distances_adjoint,                                      \
                                       NULL}
DISTANCES(distances);
DISTANCES(distances_squared);

static wg_mat distances(wg_tape *t, const wg_block_op *op, int squares, wg_mat x, wg_mat z) {
    const wg_mat in[2] = {x, z};
    return wgi_apply_one(t, op, &squares, sizeof squares, 2, in);
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
    if (ddof > -INFINITY && (double)b->in[0].rows - ddof > 0) return WG_OK;
    return wgi_block_refuse(b, WG_ESHAPE, "ddof is not a number below that of the rows");
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

static wg_status centred_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals of = wgi_reals_operand(b, x, 0);
    for (size_t j = 0; j < of.cols; j++) {
        wg_real mean = wg_constant(0);
        for (size_t i = 0; i < of.rows; i++)
            mean = wgi_expand_plus(t, mean,
                                   wg_let(t, wg_div(wgi_reals_at(of, i, j), (double)of.rows)));
        for (size_t i = 0; i < of.rows; i++)
            *y++ = wg_let(t, wg_sub(wgi_reals_at(of, i, j), mean));
    }
    return wg_tape_status(t);
}

wg_mat wg_data_covariance(wg_tape *t, wg_mat x, double ddof) {
    static const wg_block_op op = {"wg_data_covariance",
                                   WG_OP_LINEAR | WG_OP_EXPANDS,
                                   centred_shape,
                                   centred_value,
                                   centred_vjp,
                                   centred_jvp,
                                   centred_expand,
                                   NULL,
                                   NULL};
    wg_mat y;
    if (wg_apply(t, &op, &ddof, sizeof ddof, 1, &x, 1, &y) != WG_OK)
        return wg_mat_failed(x.cols, x.cols);
    return wg_syrk(t, 'T', 1 / ((double)x.rows - ddof), y, 0, wg_mat_failed(x.cols, x.cols));
}

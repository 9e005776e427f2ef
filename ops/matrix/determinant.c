/* SPDX-License-Identifier: MIT */
/* Determinants, and the logarithms of their magnitudes, of a factor or of a matrix.
 *
 *   S the matrix as it stands in memory (factor.h), w the adjoint of the result.
 *   log |det|:  S_ += w S^-T            tangent  sum(S^-T o St)
 *   det:        S_ += w adj(S)'         tangent  sum(adj(S)' o St)
 * Sources: Giles 2008, 2.2.3, and those named. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include "dense_values.h"
#include "expand.h"
#include "factor.h"
#include "traits.h"

/* ---- log-determinant; the sign is a second result where it is wanted ---- */

/* A factor of its own becomes S^-1, or adj(S)', in its place, with the first derivative: for
 * those after it. What it is: */
enum { FACTOR, INVERSE, ADJUGATE, ADJUGATE_BY_LDU };
static int is_own(const wg_block *b) { return wgi_factored_of(b)->packed == NULL; }
static double *what_is_there(const wg_block *b) {
    const size_t bytes = wgi_factor_bytes(wgi_factored_of(b)->kind, b->in[0].rows);
    return (double *)(void *)((char *)b->saved + bytes);
}

static wg_status logdet_shape(wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    for (size_t k = 0; k < b->outputs; k++) b->out[k].rows = b->out[k].cols = 1;
    b->work_bytes = (is_own(b) ? 0 : wgi_room_of(n * n)) + wgi_inverse_room(kind, n);
    const wg_status s = wgi_factor_shape(b);
    if (is_own(b)) b->saved_bytes += wgi_room_of(1);
    return s;
}

static wg_status logdet_value(wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    const wg_status s = wgi_factor_make(b);
    if (s != WG_OK) return s;
    if (is_own(b)) *what_is_there(b) = FACTOR;
    const double *const packed = wgi_packed(b, 0);
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += log(fabs(packed[i * (n + 1)]));
    b->out[0].value[0] = kind == WG_LU ? sum : 2 * sum;
    if (b->outputs == 2) b->out[1].value[0] = wgi_lu_sign(n, packed, wgi_pivots(b, 0));
    return WG_OK;
}

/* S^-1: in the place of the factor, or in the workspace. Cholesky: the lower triangle. */
static double *inverse_of(const wg_block *b) {
    const size_t n = b->in[0].rows;
    char *work = (char *)b->work;
    double *const packed = wgi_packed(b, 0), *const g =
                                                 is_own(b) ? packed : wgi_take(&work, n * n);
    if (is_own(b) && *what_is_there(b) == INVERSE) return g;
    wgi_inverse(wgi_factored_of(b)->kind, n, packed, wgi_pivots(b, 0), g,
                (double *)(void *)work);
    if (is_own(b)) *what_is_there(b) = INVERSE;
    return g;
}

static wg_status logdet_vjp(wg_block *b) {
    const double w = b->out[0].bar[0];
    const wg_block_arg *const a = &b->in[0];
    if (a->bar == NULL || w == 0) return WG_OK;
    const double *const g = inverse_of(b);
    if (wgi_factored_of(b)->kind == WG_LU)
        wgi_add_transposed(a->rows, w, g, a->rows, a->bar, a->bar_ld);
    else wgi_add_symmetric(a->rows, w, g, a->rows, a->bar, a->bar_ld);
    return WG_OK;
}

static wg_status logdet_jvp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const size_t n = a->rows;
    double sum = 0;
    if (a->bar != NULL) {
        const double *const g = inverse_of(b);
        const int lower = wgi_factored_of(b)->kind == WG_CHOLESKY;
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                sum +=
                    a->bar[i + j * a->bar_ld] * (lower && i >= j ? g[i + j * n] : g[j + i * n]);
    }
    b->out[0].bar[0] = sum;
    if (b->outputs == 2) b->out[1].bar[0] = 0;
    return WG_OK;
}

static wg_status logdet_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    if (wgi_factored_of(b)->kind == WG_LU) {
        wgi_expand_logdet(t, a, y, b->outputs == 2 ? y + 1 : NULL);
        return WG_OK;
    }
    const wg_real *const l = wgi_expand_cholesky(t, n, wgi_expand_symmetric(t, a, 0));
    if (l == NULL) return wg_tape_status(t);
    wg_real sum = wg_constant(0);
    for (size_t i = 0; i < n; i++)
        sum = wgi_expand_plus(t, sum, wg_let(t, wg_log(wg_fabs(l[i * (n + 1)]))));
    y[0] = wgi_expand_scaled(t, 2, sum);
    return WG_OK;
}

/* w A^-T of A and w, from c = S^-1, and its tangent wt A^-T - w A^-T At' A^-T. */
struct slope {
    const double *c;
    int symmetric; /* of (A + A')/2 */
};

static wg_status slope_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->out[0].rows = b->out[0].cols = n;
    b->work_bytes = 2 * wgi_room_of(n * n);
    return WG_OK;
}

/* Is A^-T the transpose of c? */
static int is_turned(const wg_block *b) {
    return !((const struct slope *)b->params)->symmetric && !b->in[0].trans;
}

static void add_slope(const wg_block *b, double w, double *y) {
    const double *const c = ((const struct slope *)b->params)->c;
    const size_t n = b->in[0].rows;
    if (is_turned(b)) wgi_add_transposed(n, w, c, n, y, n);
    else wgi_add(n, n, w, c, (wgi_dense){y, n, 0});
}

static wg_status slope_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    memset(b->out[0].value, 0, n * n * sizeof(double));
    add_slope(b, b->in[1].value[0], b->out[0].value);
    return WG_OK;
}

static wg_status slope_jvp(wg_block *b) {
    const struct slope *const p = b->params;
    const wg_block_arg *const a = &b->in[0], *const w = &b->in[1];
    const size_t n = a->rows;
    const int order = wgi_int(n), turned = is_turned(b);
    char *work = (char *)b->work;
    double *const t = wgi_take(&work, n * n), *const at = wgi_take(&work, n * n);
    double *const y = b->out[0].bar;
    if (a->bar == NULL) memset(y, 0, n * n * sizeof *y);
    else {
        if (p->symmetric) wgi_symmetrise(n, a->bar, a->bar_ld, at);
        cblas_dgemm(CblasColMajor, wgi_op(turned), wgi_op(!p->symmetric && !a->trans), order,
                    order, order, 1, p->c, order, p->symmetric ? at : a->bar,
                    p->symmetric ? order : wgi_int(a->bar_ld), 0, t, order);
        cblas_dgemm(CblasColMajor, CblasNoTrans, wgi_op(turned), order, order, order,
                    -w->value[0], t, order, p->c, order, 0, y, order);
    }
    if (w->bar != NULL && w->bar[0] != 0) add_slope(b, w->bar[0], y);
    return WG_OK;
}

static wg_status logdet_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"derivative of a log-determinant",
                                   WG_OP_TRANS,
                                   slope_shape,
                                   slope_value,
                                   NULL,
                                   slope_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const size_t n = in[0].rows;
    (void)out;
    if (n == 0) return WG_OK;
    if (!is_own(b)) {
        const wg_mat g = wgi_inverse_again(t, b, in[0]);
        back[0] = wg_mat_mul(t, bar[0], wg_mat_transpose(g));
        return wg_tape_status(t);
    }
    double *const c = inverse_of(b);
    const struct slope p = {c, wgi_factored_of(b)->kind == WG_CHOLESKY};
    const wg_mat of[2] = {in[0], bar[0]};
    if (p.symmetric) wgi_mirror(n, c, n);
    return wg_apply(t, &op, &p, sizeof p, 2, of, 1, back);
}

static const wgi_traits logdet_traits = {.apart = 1};
WGI_FACTORED(factor_logdet, logdet, &logdet_traits);
WGI_FACTORED(logabsdet, logdet, &logdet_traits);
WGI_FACTORED(logdet_spd, logdet, &logdet_traits);

wg_real wg_factor_logdet(wg_tape *t, wg_factor f) {
    return wg_mat_at(wgi_from_factor(t, &wgi_op_factor_logdet, f), 0, 0);
}

wg_real wg_logabsdet(wg_tape *t, wg_mat a, double *sign) {
    const wgi_factored p = {WG_LU, 0, 1, NULL, NULL};
    wg_mat out[2];
    (void)wg_apply(t, &wgi_op_logabsdet, &p, sizeof p, 1, &a, 2, out);
    if (sign != NULL) *sign = wg_mat_at(out[1], 0, 0).value;
    return wg_mat_at(out[0], 0, 0);
}

wg_real wg_logdet_spd(wg_tape *t, wg_mat a) {
    return wg_mat_at(wgi_from_matrix(t, &wgi_op_logdet_spd, WG_CHOLESKY, a), 0, 0);
}

/* ---- determinant ---- */

/* Below this ratio of the smallest to the largest pivot, det S^-T has lost half of its digits:
 * then the adjugate comes from L D U with complete pivoting. */
static const double smallest_pivot = 1.4901161193847656e-8; /* sqrt(DBL_EPSILON) */

/* m 2^e, |m| from 1/2 to 1, or 0: a product of numbers that may leave the range of doubles on
 * the way. An infinity or a NaN stays one, in m. */
typedef struct scaled {
    double m;
    int e;
} scaled;

static scaled scaled_times(scaled a, double x) {
    int of_x = 0, of_product = 0;
    const double product = frexp(a.m * frexp(x, &of_x), &of_product);
    if (product == 0 || !isfinite(product)) return (scaled){product, 0};
    return (scaled){product, a.e + of_x + of_product};
}

/* The determinant, from its packed factor. */
static scaled det_scaled(const wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows;
    const double *const packed = wgi_packed(b, 0);
    scaled d = {1, 0};
    for (size_t i = 0; i < n; i++) {
        const double u = packed[i * (n + 1)];
        d = scaled_times(d, u);
        if (p->kind == WG_CHOLESKY) d = scaled_times(d, u);
        else if ((size_t)wgi_pivots(b, 0)[i] != i + 1) d.m = -d.m;
    }
    return d;
}

static wgi_dense_op cofactors_of(size_t n) {
    return (wgi_dense_op){WGI_DENSE_COFACTOR, 0, {n, 0, 0}};
}

static wg_status det_shape(wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    const wgi_dense_op op = cofactors_of(n);
    const size_t inverse = wgi_inverse_room(kind, n);
    const size_t by_ldu = wgi_room_of(n * n) + wgi_rounded(wgi_dense_work(&op));
    b->out[0].rows = b->out[0].cols = 1;
    b->work_bytes = wgi_room_of(n * n) + (inverse > by_ldu ? inverse : by_ldu);
    const wg_status s = wgi_factor_shape(b);
    if (is_own(b)) b->saved_bytes += wgi_room_of(1);
    return s;
}

static wg_status det_value(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows;
    if (is_own(b)) {
        (void)wgi_factor_one(b, 0); /* a singular one has a zero in U */
        *what_is_there(b) = FACTOR;
    }
    const double *const packed = wgi_packed(b, 0);
    double d = 1;
    int normal = 1;
    for (size_t i = 0; i < n; i++) {
        const double u = packed[i * (n + 1)];
        if (p->kind == WG_CHOLESKY) d *= u * u;
        else d *= (size_t)wgi_pivots(b, 0)[i] == i + 1 ? u : -u;
        normal &= isnormal(d) != 0;
    }
    if (!normal) {
        const scaled all = det_scaled(b);
        d = ldexp(all.m, all.e);
        /* beside a column of zeros nothing has met it */
        if (d == 0 && wgi_factor_is_nan(b, 0, p->kind == WG_CHOLESKY)) d = NAN;
    }
    b->out[0].value[0] = d;
    return WG_OK;
}

/* g = adj(S)', as functions have it. NaN where S has a NaN or an infinity, of order 1
 * excepted. */
static void adjugate_by_ldu(const wg_block *b, double *g, char *work) {
    const size_t n = b->in[0].rows;
    const wgi_dense_op op = cofactors_of(n);
    double *const a = wgi_take(&work, n * n);
    const int symmetric = wgi_factored_of(b)->kind == WG_CHOLESKY;
    if (n == 1) {
        *g = 1;
        return;
    }
    wgi_copy(n, n, b->in[0].value, b->in[0].ld, a, n);
    if (symmetric) wgi_copy_lower_of(n, b->in[0].value, b->in[0].ld, b->in[0].trans != 0, a, n);
    if (symmetric) wgi_mirror(n, a, n);
    wgi_dense_value(&op, a, g, work);
    if (symmetric) wgi_mirror(n, g, n);
}

/* Has det S^-T lost too much? */
static int is_nearly_singular(const wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const packed = wgi_packed(b, 0);
    double low = INFINITY, high = 0;
    if (is_own(b) && *what_is_there(b) != FACTOR) return *what_is_there(b) == ADJUGATE_BY_LDU;
    for (size_t i = 0; i < n; i++) {
        const double u = fabs(packed[i * (n + 1)]);
        low = fmin(low, u), high = fmax(high, u);
    }
    return !isnormal(b->out[0].value[0]) ||
           (wgi_factored_of(b)->kind == WG_LU && low <= smallest_pivot * high);
}

/* adj(S)': in the place of the factor, or in the workspace. */
static double *adjugate(const wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const there = is_own(b) ? wgi_packed(b, 0) : NULL;
    char *work = (char *)b->work;
    if (there != NULL && *what_is_there(b) != FACTOR) return there;
    double *const g = wgi_take(&work, n * n);
    const int singular = is_nearly_singular(b);
    if (singular) adjugate_by_ldu(b, g, work);
    else {
        const wg_factor_kind kind = wgi_factored_of(b)->kind;
        wgi_inverse(kind, n, wgi_packed(b, 0), wgi_pivots(b, 0), g, (double *)(void *)work);
        if (kind == WG_CHOLESKY) wgi_mirror(n, g, n);
        else wgi_transpose(n, g);
        for (size_t i = 0; i < n * n; i++) g[i] *= b->out[0].value[0];
    }
    if (there == NULL) return g;
    memcpy(there, g, n * n * sizeof *g);
    *what_is_there(b) = singular ? ADJUGATE_BY_LDU : ADJUGATE;
    return there;
}

static wg_status det_vjp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    if (a->bar == NULL) return WG_OK;
    wgi_add(a->rows, a->rows, b->out[0].bar[0], adjugate(b), (wgi_dense){a->bar, a->bar_ld, 0});
    return WG_OK;
}

static wg_status det_jvp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    double sum = 0;
    b->out[0].bar[0] = 0;
    if (a->bar == NULL) return WG_OK;
    const double *const g = adjugate(b);
    for (size_t j = 0; j < a->rows; j++)
        for (size_t i = 0; i < a->rows; i++)
            sum += a->bar[i + j * a->bar_ld] * g[i + j * a->rows];
    b->out[0].bar[0] = sum;
    return WG_OK;
}

static wg_status det_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    if (wgi_factored_of(b)->kind == WG_LU) *y = wgi_expand_det(t, a);
    else *y = wgi_expand_det_spd(t, n, wgi_expand_symmetric(t, a, 0));
    return wg_tape_status(t);
}

/* The cofactors of a matrix as an operation; params: is it symmetric, of its lower triangle?
 * Their derivative is the second one of the determinant, which is symmetric: the tangent is
 * that of COFACTOR_BAR. */
static wgi_dense_op cofactors_back(size_t n) {
    return (wgi_dense_op){WGI_DENSE_COFACTOR_BAR, 0, {n, 0, 0}};
}
static wg_status cofactors_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    const wgi_dense_op op = cofactors_back(n);
    b->out[0].rows = b->out[0].cols = n;
    b->work_bytes = 2 * wgi_room_of(n * n) + wgi_rounded(wgi_dense_work(&op));
    return WG_OK;
}
static void cofactors_operand(const wg_block *b, double *a) {
    const size_t n = b->in[0].rows;
    wgi_copy(n, n, b->in[0].value, b->in[0].ld, a, n);
    if (*(const int *)b->params) wgi_mirror(n, a, n);
}
static wg_status cofactors_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    const wgi_dense_op op = cofactors_of(n);
    char *work = (char *)b->work;
    double *const a = wgi_take(&work, 2 * n * n);
    cofactors_operand(b, a);
    if (n == 1) *b->out[0].value = 1;
    else wgi_dense_value(&op, a, b->out[0].value, work);
    if (*(const int *)b->params) wgi_mirror(n, b->out[0].value, n);
    return WG_OK;
}
static wg_status cofactors_jvp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const wgi_dense_op op = cofactors_back(n);
    char *work = (char *)b->work;
    double *const a = wgi_take(&work, 2 * n * n), *const at = a + n * n;
    cofactors_operand(b, a);
    if (*(const int *)b->params) wgi_symmetrise(n, b->in[0].bar, b->in[0].bar_ld, at);
    else wgi_copy(n, n, b->in[0].bar, b->in[0].bar_ld, at, n);
    if (n == 1) *b->out[0].bar = 0;
    else wgi_dense_value(&op, a, b->out[0].bar, work);
    return WG_OK;
}

/* w g of S and w, with g = det S S^-T, and its tangent
 *     wt g + w (tr(c' St) g - c St' g),  c = S^-T = g / det S.
 * Source: Giles 2008, 2.2.3, and the product rule. */
struct gradient {
    const double *g;
    double det;
};

static wg_status gradient_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->out[0].rows = b->out[0].cols = n;
    b->work_bytes = 2 * wgi_room_of(n * n);
    return WG_OK;
}

static wg_status gradient_value(wg_block *b) {
    const struct gradient *const p = b->params;
    const size_t n = b->in[0].rows;
    for (size_t e = 0; e < n * n; e++) b->out[0].value[e] = b->in[1].value[0] * p->g[e];
    return WG_OK;
}

static wg_status gradient_jvp(wg_block *b) {
    const struct gradient *const p = b->params;
    const wg_block_arg *const s = &b->in[0], *const w = &b->in[1];
    const size_t n = s->rows;
    const int order = wgi_int(n);
    char *work = (char *)b->work;
    double *const c = wgi_take(&work, n * n), *const left = wgi_take(&work, n * n),
                  *const y = b->out[0].bar;
    memset(y, 0, n * n * sizeof *y);
    if (s->bar != NULL) {
        double trace = 0;
        for (size_t e = 0; e < n * n; e++) {
            c[e] = p->g[e] / p->det;
            trace += c[e] * s->bar[e % n + e / n * s->bar_ld];
        }
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, order, order, order, 1, c, order,
                    s->bar, wgi_int(s->bar_ld), 0, left, order);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, order, order, order, -1, left,
                    order, p->g, order, 0, y, order);
        for (size_t e = 0; e < n * n; e++) y[e] = w->value[0] * (y[e] + trace * p->g[e]);
    }
    const double wt = w->bar != NULL ? w->bar[0] : 0;
    for (size_t e = 0; e < n * n && wt != 0; e++) y[e] += wt * p->g[e];
    return WG_OK;
}

static wg_mat turned(wg_mat a, unsigned trans) { return trans ? wg_mat_transpose(a) : a; }

/* w det A^-T, or w times the cofactors. */
static wg_status det_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    static const wg_block_op by_cofactors = {.name = "adjoint of wg_det",
                                             .shape = cofactors_shape,
                                             .value = cofactors_value,
                                             .jvp = cofactors_jvp};
    static const wg_block_op by_inverse = {.name = "adjoint of wg_det",
                                           .shape = gradient_shape,
                                           .value = gradient_value,
                                           .jvp = gradient_jvp};
    const int symmetric = wgi_factored_of(b)->kind == WG_CHOLESKY;
    wg_mat g;
    if (in[0].rows == 0) return WG_OK;
    if (is_own(b) && !is_nearly_singular(b)) {
        const struct gradient p = {adjugate(b), out[0].value[0]};
        const wg_mat of[2] = {turned(in[0], in[0].trans), bar[0]};
        const wg_status s = wg_apply(t, &by_inverse, &p, sizeof p, 2, of, 1, &g);
        back[0] = turned(g, in[0].trans);
        return s;
    }
    if (is_nearly_singular(b))
        g = wgi_apply_one(t, &by_cofactors, &symmetric, sizeof symmetric, 1, in);
    else g = wg_mat_mul(t, out[0], wg_mat_transpose(wgi_inverse_again(t, b, in[0])));
    back[0] = wg_mat_mul(t, bar[0], g);
    return wg_tape_status(t);
}

WGI_FACTORED(factor_det, det, NULL);
WGI_FACTORED(det, det, NULL);

wg_real wg_factor_det(wg_tape *t, wg_factor f) {
    return wg_mat_at(wgi_from_factor(t, &wgi_op_factor_det, f), 0, 0);
}

wg_real wg_det(wg_tape *t, wg_mat a) {
    return wg_mat_at(wgi_from_matrix(t, &wgi_op_det, WG_LU, a), 0, 0);
}

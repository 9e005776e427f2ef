/* SPDX-License-Identifier: MIT */
/* Factorisations as operands, and what is computed from a factor alone: log-determinant,
 * determinant, inverse; Cholesky with its factor as the result.
 *
 *   S the matrix as it stands in memory (factor.h), G the adjoint of a result, w of a scalar.
 *   log |det|:  S_ += w S^-T            tangent  sum(S^-T o St)
 *   det:        S_ += w adj(S)'         tangent  sum(adj(S)' o St)
 *   C = A^-1:   A_ -= C' G C'           tangent  -C At C
 *   Cholesky:   wgi_cholesky_bar (dense_blas.h)
 *               tangent  L phi(L^-1 sym(At) L^-T), phi the lower triangle with half the
 *               diagonal
 * Sources: Giles 2008, 2.2.3, 2.3.2, and those named. */
#include <float.h>
#include <math.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include "dense_values.h"
#include "expand.h"
#include "factor.h"
#include "tape/engine/tape.h"
#include "spectral.h"
#include "tiny.h"
#include "traits.h"

/* ---- factoring ---- */

wg_status wgi_factor_shape(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows;
    if ((n != 0 && p->count > SIZE_MAX / n) || b->in[0].cols != n * p->count) {
        b->why = p->count == 1 ? "the matrix is not square"
                               : "the batch is not of that many square matrices";
        return WG_ESHAPE;
    }
    if (p->packed == NULL) b->saved_bytes = p->count * wgi_factor_bytes(p->kind, n);
    return WG_OK;
}

int wgi_factor_one(const wg_block *b, size_t k) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    const wgi_dense a = wgi_value_of(&b->in[0], n, k);
    double *const packed = wgi_packed(b, k);
    const int order = wgi_int(n);
    if (n == 0) return 0;
    if (kind == WG_CHOLESKY) {
        wgi_copy_lower_of(n, a.p, a.ld, b->in[0].trans != 0, packed, n);
        return n <= WGI_TINY ? wgi_tiny_cholesky(n, packed)
                             : LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', order, packed, order);
    }
    wgi_copy(n, n, a.p, a.ld, packed, n);
    if (n <= WGI_TINY) return wgi_tiny_lu(n, packed, wgi_pivots(b, k));
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, order, order, packed, order, wgi_pivots(b, k));
}

static wg_status refuse(wg_block *b, int info) {
    b->info = info;
    b->why = wgi_factored_of(b)->kind == WG_LU ? "the matrix is singular"
                                               : "the matrix is not positive definite";
    return WG_ESINGULAR;
}

/* Is there a NaN in what is read of member k of a batch? */
static int is_nan(const wg_block *b, size_t k, int lower) {
    const size_t n = b->in[0].rows;
    const wgi_dense a = wgi_value_of(&b->in[0], n, k);
    const int turned = lower && a.trans;
    for (size_t j = 0; j < n; j++)
        for (size_t i = lower && !turned ? j : 0; i < (turned ? j + 1 : n); i++)
            if (isnan(a.p[i + j * a.ld])) return 1;
    return 0;
}

/* A factor of NaN: whatever is computed from it is NaN. */
static void spoil(size_t n, double *packed, int *pivot) {
    for (size_t e = 0; e < n * n; e++) packed[e] = NAN;
    for (size_t i = 0; pivot != NULL && i < n; i++) pivot[i] = (int)i + 1;
}

wg_status wgi_factor_make(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const int lower = p->kind == WG_CHOLESKY;
    if (p->packed != NULL) return WG_OK;
    for (size_t k = 0; k < p->count && b->in[0].rows != 0; k++) {
        const int info = wgi_factor_one(b, k);
        if (info == 0) continue;
        if (p->count == 1 || !is_nan(b, k, lower)) return refuse(b, info);
        spoil(b->in[0].rows, wgi_packed(b, k), lower ? NULL : wgi_pivots(b, k));
    }
    return WG_OK;
}

/* The sign of the determinant: 0 for a zero on the diagonal of U. */
static double sign_of(size_t n, const double *lu, const int *pivot) {
    double s = 1;
    for (size_t i = 0; i < n; i++) {
        const double u = lu[i * (n + 1)];
        s = u > 0 ? s : u < 0 ? -s : u * s;
        if ((size_t)pivot[i] != i + 1) s = -s;
    }
    return s;
}

size_t wgi_inverse_room(wg_factor_kind kind, size_t n) {
    enum { BLOCK = 64 }; /* of dgetri */
    return kind == WG_LU ? wgi_room_of(n > BLOCK ? BLOCK * n : n) : 0;
}

void wgi_inverse(wg_factor_kind kind, size_t n, const double *packed, const int *pivot,
                 double *g, double *work) {
    const int order = wgi_int(n);
    if (n == 0) return;
    if (kind == WG_CHOLESKY) wgi_cholesky_inverse(n, packed, g);
    else {
        wgi_copy(n, n, packed, n, g, n);
        (void)LAPACKE_dgetri_work(LAPACK_COL_MAJOR, order, g, order, pivot, work,
                                  (int)(wgi_inverse_room(kind, n) / sizeof *work));
    }
}

wgi_factored wgi_factored_again(const wg_block *b, unsigned trans) {
    const wgi_factored *const p = wgi_factored_of(b);
    const int pivots = p->kind == WG_LU;
    return (wgi_factored){p->kind, trans, p->count, wgi_packed(b, 0),
                          pivots ? wgi_pivots(b, 0) : NULL};
}

/* The inverse of the operand A, as a variable. */
static wg_mat inverse_again(wg_tape *t, const wg_block *b, wg_mat a) {
    const wgi_factored p = wgi_factored_again(b, 0);
    wg_mat c;
    (void)wg_apply(t, &wgi_op_factor_inverse, &p, sizeof p, 1, &a, 1, &c);
    return c;
}

/* ---- the factor itself: its result is the sign of the determinant ---- */

static wg_status factor_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    return wgi_factor_shape(b);
}

static wg_status factor_value(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const int info = wgi_factor_one(b, 0);
    if (info != 0) return refuse(b, info);
    b->out[0].value[0] = p->kind == WG_LU ? sign_of(b->in[0].rows, p->packed, p->pivot) : 1;
    return WG_OK;
}

static wg_status factor_vjp(wg_block *b) {
    (void)b;
    return WG_OK;
}

static wg_status factor_jvp(wg_block *b) {
    b->out[0].bar[0] = 0;
    return WG_OK;
}

static wg_status factor_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    const size_t n = a.rows;
    *y = wg_constant(1);
    if (n == 0) return WG_OK;
    if (wgi_factored_of(b)->kind == WG_LU) {
        wgi_expand_logdet(t, a, NULL, y);
        return WG_OK;
    }
    const wg_real *const l = wgi_expand_cholesky(t, n, wgi_expand_symmetric(t, a, 0));
    if (l != NULL) *y = wgi_expand_good(t, l[n * n - 1]);
    return WG_OK;
}

static wg_status factor_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    (void)b, (void)in, (void)out, (void)bar, (void)back;
    return wg_tape_status(t);
}

const wg_block_op wgi_op_lu = {"wg_lu",       WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_EXPANDS,
                               factor_shape,  factor_value,
                               factor_vjp,    factor_jvp,
                               factor_expand, factor_adjoint,
                               NULL};
const wg_block_op wgi_op_potrf = {"wg_potrf",    WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_EXPANDS,
                                  factor_shape,  factor_value,
                                  factor_vjp,    factor_jvp,
                                  factor_expand, factor_adjoint,
                                  NULL};

static wg_factor factor(wg_tape *t, wg_factor_kind kind, wg_mat a) {
    wg_factor f = {.a = a, .sign = wg_mat_failed(1, 1), .kind = kind};
    wgi_factored p = {kind, 0, 1, NULL, NULL};
    if (a.value != NULL && a.rows == a.cols)
        f.packed = (double *)wg_tape_keep(t, wgi_factor_bytes(kind, wgi_ld(a.rows)), NULL);
    if (f.packed != NULL && kind == WG_LU)
        f.pivot = (int *)(void *)((char *)f.packed + wgi_room_of(a.rows * a.rows));
    p.packed = f.packed, p.pivot = f.pivot;
    const wg_status s = wg_apply(t, kind == WG_LU ? &wgi_op_lu : &wgi_op_potrf, &p, sizeof p, 1,
                                 &a, 1, &f.sign);
    if (s != WG_OK) f.packed = NULL, f.pivot = NULL;
    f.made = wg_tape_mark(t);
    return f;
}

wg_mat wgi_factor_place(const wg_tape *t, const wg_factor *f) {
    wg_mat place = f->sign;
    if (t != NULL && place.value != NULL && !wgi_mark_alive(wgi_core_of_const(t), f->made))
        place.at.slot = UINT32_MAX; /* in use on no tape */
    return place;
}

wg_factor wg_lu(wg_tape *t, wg_mat a) { return factor(t, WG_LU, a); }
wg_factor wg_potrf(wg_tape *t, wg_mat a) { return factor(t, WG_CHOLESKY, a); }

/* An operation `name` of a family that does the same with a factor and with a matrix. */
#define FACTORED(name, family, traits)                                                         \
    const wg_block_op wgi_op_##name = {"wg_" #name,     WG_OP_TRANS | WG_OP_EXPANDS,           \
                                       family##_shape,  family##_value,                        \
                                       family##_vjp,    family##_jvp,                          \
                                       family##_expand, family##_adjoint,                      \
                                       traits}

/* ---- log-determinant; the sign is a second result where it is wanted ---- */

static wg_status logdet_shape(wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    for (size_t k = 0; k < b->outputs; k++) b->out[k].rows = b->out[k].cols = 1;
    b->work_bytes = wgi_room_of(n * n) + wgi_inverse_room(kind, n);
    return wgi_factor_shape(b);
}

static wg_status logdet_value(wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    const wg_status s = wgi_factor_make(b);
    if (s != WG_OK) return s;
    const double *const packed = wgi_packed(b, 0);
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += log(fabs(packed[i * (n + 1)]));
    b->out[0].value[0] = kind == WG_LU ? sum : 2 * sum;
    if (b->outputs == 2) b->out[1].value[0] = sign_of(n, packed, wgi_pivots(b, 0));
    return WG_OK;
}

/* S^-1 in the workspace. */
static const double *inverse_in_work(const wg_block *b) {
    const size_t n = b->in[0].rows;
    char *work = (char *)b->work;
    double *const g = wgi_take(&work, n * n);
    wgi_inverse(wgi_factored_of(b)->kind, n, wgi_packed(b, 0), wgi_pivots(b, 0), g,
                (double *)(void *)work);
    return g;
}

static wg_status logdet_vjp(wg_block *b) {
    const double w = b->out[0].bar[0];
    const wg_block_arg *const a = &b->in[0];
    if (a->bar == NULL || w == 0) return WG_OK;
    const double *const g = inverse_in_work(b);
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
        const double *const g = inverse_in_work(b);
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

static wg_status logdet_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    (void)out;
    if (in[0].rows == 0) return WG_OK;
    const wg_mat g = inverse_again(t, b, in[0]);
    back[0] = wg_mat_mul(t, bar[0], wg_mat_transpose(g));
    return wg_tape_status(t);
}

static const wgi_traits logdet_traits = {.apart = 1};
FACTORED(factor_logdet, logdet, &logdet_traits);
FACTORED(logabsdet, logdet, &logdet_traits);
FACTORED(logdet_spd, logdet, &logdet_traits);

/* An operation on a wg_factor: operands A and the place of the factor. */
static wg_mat from_factor(wg_tape *t, const wg_block_op *op, wg_factor f) {
    const wgi_factored p = {f.kind, 0, 1, f.packed, f.pivot};
    const wg_mat in[2] = {f.a, wgi_factor_place(t, &f)};
    wg_mat out;
    (void)wg_apply(t, op, &p, sizeof p, 2, in, 1, &out);
    return out;
}

/* An operation that factors for itself. */
static wg_mat from_matrix(wg_tape *t, const wg_block_op *op, wg_factor_kind kind, wg_mat a) {
    const wgi_factored p = {kind, 0, 1, NULL, NULL};
    wg_mat out;
    (void)wg_apply(t, op, &p, sizeof p, 1, &a, 1, &out);
    return out;
}

wg_real wg_factor_logdet(wg_tape *t, wg_factor f) {
    return wg_mat_at(from_factor(t, &wgi_op_factor_logdet, f), 0, 0);
}

wg_real wg_logabsdet(wg_tape *t, wg_mat a, double *sign) {
    const wgi_factored p = {WG_LU, 0, 1, NULL, NULL};
    wg_mat out[2];
    (void)wg_apply(t, &wgi_op_logabsdet, &p, sizeof p, 1, &a, 2, out);
    if (sign != NULL) *sign = wg_mat_at(out[1], 0, 0).value;
    return wg_mat_at(out[0], 0, 0);
}

wg_real wg_logdet_spd(wg_tape *t, wg_mat a) {
    return wg_mat_at(from_matrix(t, &wgi_op_logdet_spd, WG_CHOLESKY, a), 0, 0);
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
    return wgi_factor_shape(b);
}

static wg_status det_value(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows;
    if (p->packed == NULL) (void)wgi_factor_one(b, 0); /* a singular one has a zero in U */
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
    }
    b->out[0].value[0] = d;
    return WG_OK;
}

/* g = adj(S)', as functions have it. NaN where S has a NaN or an infinity, of order 1 excepted. */
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
    for (size_t i = 0; i < n; i++) {
        const double u = fabs(packed[i * (n + 1)]);
        low = fmin(low, u), high = fmax(high, u);
    }
    return !isnormal(b->out[0].value[0]) ||
           (wgi_factored_of(b)->kind == WG_LU && low <= smallest_pivot * high);
}

/* g = adj(S)', all of it, in the workspace. */
static double *adjugate(const wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    const double *const packed = wgi_packed(b, 0), d = b->out[0].value[0];
    char *work = (char *)b->work;
    double *const g = wgi_take(&work, n * n);
    if (is_nearly_singular(b)) {
        adjugate_by_ldu(b, g, work);
        return g;
    }
    wgi_inverse(kind, n, packed, wgi_pivots(b, 0), g, (double *)(void *)work);
    if (kind == WG_CHOLESKY) wgi_mirror(n, g, n);
    else wgi_transpose(n, g);
    for (size_t i = 0; i < n * n; i++) g[i] *= d;
    return g;
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

/* The cofactors of a matrix as an operation; params: is it symmetric, of its lower triangle? Their
 * derivative is the second one of the determinant, which is symmetric: the tangent is that of
 * COFACTOR_BAR. */
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

/* w det A^-T, or w times the cofactors. */
static wg_status det_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"adjoint of wg_det",
                                   0,
                                   cofactors_shape,
                                   cofactors_value,
                                   NULL,
                                   cofactors_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const int symmetric = wgi_factored_of(b)->kind == WG_CHOLESKY;
    wg_mat g;
    if (in[0].rows == 0) return WG_OK;
    if (is_nearly_singular(b))
        (void)wg_apply(t, &op, &symmetric, sizeof symmetric, 1, in, 1, &g);
    else g = wg_mat_mul(t, out[0], wg_mat_transpose(inverse_again(t, b, in[0])));
    back[0] = wg_mat_mul(t, bar[0], g);
    return wg_tape_status(t);
}

FACTORED(factor_det, det, NULL);
FACTORED(det, det, NULL);

wg_real wg_factor_det(wg_tape *t, wg_factor f) {
    return wg_mat_at(from_factor(t, &wgi_op_factor_det, f), 0, 0);
}

wg_real wg_det(wg_tape *t, wg_mat a) {
    return wg_mat_at(from_matrix(t, &wgi_op_det, WG_LU, a), 0, 0);
}

/* ---- inverse ---- */

static wg_status inverse_shape(wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    const size_t forward = wgi_inverse_room(kind, n);
    const size_t back = (kind == WG_CHOLESKY ? 2 : 1) * wgi_room_of(n * n);
    b->out[0].rows = b->out[0].cols = n;
    b->work_bytes = forward > back ? forward : back;
    return wgi_factor_shape(b);
}

static wg_status inverse_value(wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    double *const c = b->out[0].value;
    const wg_status s = wgi_factor_make(b);
    if (s != WG_OK) return s;
    wgi_inverse(kind, n, wgi_packed(b, 0), wgi_pivots(b, 0), c, (double *)b->work);
    if (kind == WG_CHOLESKY) wgi_mirror(n, c, n);
    else if (b->in[0].trans) wgi_transpose(n, c);
    return WG_OK;
}

/* z = f op(x) y op(x), all of order n; t: room for x y. */
static void sandwich(size_t n, double f, int trans, const double *x, const double *y,
                     size_t ldy, unsigned ty, double *t, double beta, double *z) {
    const int order = wgi_int(n);
    cblas_dgemm(CblasColMajor, wgi_op(trans), wgi_op(ty != 0), order, order, order, 1, x, order,
                y, wgi_int(ldy), 0, t, order);
    cblas_dgemm(CblasColMajor, CblasNoTrans, wgi_op(trans), order, order, order, f, t, order, x,
                order, beta, z, order);
}

static wg_status inverse_vjp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const size_t n = a->rows;
    const int order = wgi_int(n);
    const double *const c = b->out[0].value, *const g = b->out[0].bar;
    char *work = (char *)b->work;
    double *const t = wgi_take(&work, n * n);
    if (a->bar == NULL || n == 0) return WG_OK;
    if (wgi_factored_of(b)->kind == WG_CHOLESKY) {
        double *const z = wgi_take(&work, n * n);
        sandwich(n, 1, 0, c, g, n, 0, t, 0, z);
        wgi_add_symmetrised(n, -1, z, n, a->bar, a->bar_ld);
        return WG_OK;
    }
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, order, order, order, 1, c, order, g,
                order, 0, t, order);
    wgi_gemm_add(n, n, n, -1, 'N', t, n, 'T', c, n, wgi_bar_of(a, n, 0));
    return WG_OK;
}

static wg_status inverse_jvp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const size_t n = a->rows;
    const double *const c = b->out[0].value;
    char *work = (char *)b->work;
    double *const t = wgi_take(&work, n * n);
    if (n == 0) return WG_OK;
    if (a->bar == NULL) {
        memset(b->out[0].bar, 0, n * n * sizeof *t);
    } else if (wgi_factored_of(b)->kind == WG_CHOLESKY) {
        double *const z = wgi_take(&work, n * n);
        wgi_symmetrise(n, a->bar, a->bar_ld, z);
        sandwich(n, -1, 0, c, z, n, 0, t, 0, b->out[0].bar);
    } else {
        sandwich(n, -1, 0, c, a->bar, a->bar_ld, a->trans, t, 0, b->out[0].bar);
    }
    return WG_OK;
}

static wg_status inverse_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    if (wgi_factored_of(b)->kind == WG_CHOLESKY) {
        for (size_t e = 0; e < n * n; e++) y[e] = wg_constant(e % (n + 1) == 0);
        const wg_real *const s = wgi_expand_symmetric(t, a, 0);
        wgi_expand_cholesky_solve(t, n, wgi_expand_cholesky(t, n, s), n, y);
    } else wgi_expand_inverse(t, a, y);
    return WG_OK;
}

static wg_status inverse_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    const wg_mat c = out[0];
    if (in[0].rows == 0) return WG_OK;
    if (wgi_factored_of(b)->kind == WG_CHOLESKY) {
        const wg_mat z = wg_gemm(t, 'N', 'N', -0.5, wg_matmul(t, c, bar[0]), c, 0, c);
        back[0] = wg_mat_add(t, z, wg_mat_transpose(z));
    } else {
        const wg_mat z = wg_gemm(t, 'T', 'N', 1, c, bar[0], 0, c);
        back[0] = wg_gemm(t, 'N', 'T', -1, z, c, 0, c);
    }
    return wg_tape_status(t);
}

FACTORED(factor_inverse, inverse, NULL);
FACTORED(inverse, inverse, NULL);
FACTORED(inverse_spd, inverse, NULL);

wg_mat wg_factor_inverse(wg_tape *t, wg_factor f) {
    return from_factor(t, &wgi_op_factor_inverse, f);
}
wg_mat wg_inverse(wg_tape *t, wg_mat a) { return from_matrix(t, &wgi_op_inverse, WG_LU, a); }
wg_mat wg_inverse_spd(wg_tape *t, wg_mat a) {
    return from_matrix(t, &wgi_op_inverse_spd, WG_CHOLESKY, a);
}

/* ---- Cholesky, L as the result ---- */

static wg_status cholesky_shape(wg_block *b) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    if ((n != 0 && count > SIZE_MAX / n) || b->in[0].cols != n * count) {
        b->why = count == 1 ? "the matrix is not square"
                            : "the batch is not of that many square matrices";
        return WG_ESHAPE;
    }
    b->out[0].rows = n, b->out[0].cols = n * count;
    b->work_bytes = wgi_room_of(n * n) + wgi_room_of(wgi_cholesky_bar_room());
    return WG_OK;
}

static wg_status cholesky_value(wg_block *b) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    for (size_t k = 0; k < count && n != 0; k++) {
        const wgi_dense a = wgi_value_of(&b->in[0], n, k);
        double *const l = b->out[0].value + k * n * n;
        for (size_t j = 0; j < n; j++) memset(l + j * n, 0, j * sizeof *l);
        wgi_copy_lower_of(n, a.p, a.ld, b->in[0].trans != 0, l, n);
        b->info = n <= WGI_TINY
                      ? wgi_tiny_cholesky(n, l)
                      : LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', wgi_int(n), l, wgi_int(n));
        if (b->info == 0) continue;
        if (count == 1 || !is_nan(b, k, 1)) {
            b->why = "the matrix is not positive definite";
            return WG_ESINGULAR;
        }
        b->info = 0;
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++) l[i + j * n] = NAN;
    }
    return WG_OK;
}

static wg_status cholesky_vjp(wg_block *b) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    char *work = (char *)b->work;
    double *const w = wgi_take(&work, n * n), *const s = (double *)(void *)work;
    for (size_t k = 0; k < count && n != 0 && b->in[0].bar != NULL; k++) {
        const wgi_dense a = wgi_bar_of(&b->in[0], n, k);
        if (wgi_nothing(n, n, wgi_bar_of(&b->out[0], n, k))) continue;
        wgi_copy_lower(n, b->out[0].bar + k * n * n, n, w, n);
        wgi_cholesky_bar(n, b->out[0].value + k * n * n, w, s);
        for (size_t i = 0; i < n; i++) w[i * (n + 1)] *= 2;
        wgi_add_symmetric(n, 0.5, w, n, a.p, a.ld);
    }
    return WG_OK;
}

static wg_status cholesky_jvp(wg_block *b) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    const int ld = wgi_int(n);
    if (b->in[0].bar == NULL) memset(b->out[0].bar, 0, n * n * count * sizeof(double));
    for (size_t k = 0; k < count && n != 0 && b->in[0].bar != NULL; k++) {
        const double *const l = b->out[0].value + k * n * n;
        double *const lt = b->out[0].bar + k * n * n;
        const wgi_dense a = wgi_bar_of(&b->in[0], n, k);
        if (wgi_nothing(n, n, a)) {
            memset(lt, 0, n * n * sizeof *lt);
            continue;
        }
        wgi_symmetrise(n, a.p, a.ld, lt);
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, ld, ld, 1,
                    l, ld, lt, ld);
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, ld, ld, 1,
                    l, ld, lt, ld);
        for (size_t j = 0; j < n; j++) {
            memset(lt + j * n, 0, j * sizeof *lt);
            lt[j * (n + 1)] *= 0.5;
        }
        cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, ld, ld, 1,
                    l, ld, lt, ld);
    }
    return WG_OK;
}

static wg_status cholesky_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    for (size_t k = 0; k < count; k++) {
        const wgi_reals a = wgi_reals_cols(wgi_reals_operand(b, x, 0), k * n, n);
        const wg_real *const l = wgi_expand_cholesky(t, n, wgi_expand_symmetric(t, a, 0));
        if (l == NULL) return wg_tape_status(t);
        wgi_expand_copy(wgi_reals_packed(l, n, n), y + k * n * n);
        /* without a root all that follow are NaN, not those before */
        if (n != 0) wgi_expand_spoil(t, wgi_expand_good(t, l[n * n - 1]), n * n, y + k * n * n);
    }
    return WG_OK;
}

/* S = L^-T phi(L' W) L^-1,  A_ = (S + S')/2 */
static wg_mat cholesky_back(wg_tape *t, wg_mat l, wg_mat w, wg_mat phi) {
    const wg_mat p = wg_mat_mul(t, wg_gemm(t, 'T', 'N', 1, l, wg_tril(t, w, 0), 0, l), phi);
    const wg_mat left = wg_trsm(t, 'L', 'L', 'T', 'N', 1, l, p);
    const wg_mat s = wg_trsm(t, 'R', 'L', 'N', 'N', 1, l, left);
    return wg_mat_axpby(t, 0.5, s, 0.5, wg_mat_transpose(s));
}

static wg_status cholesky_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    const size_t count = *(const size_t *)b->params, n = in[0].rows;
    double *const phi = wg_tape_keep(t, n * n * sizeof(double), NULL);
    wg_mat *const members = wg_tape_keep(t, count * sizeof *members, NULL);
    if (n == 0 || count == 0 || phi == NULL || members == NULL) return wg_tape_status(t);
    for (size_t e = 0; e < n * n; e++) phi[e] = e % n > e / n ? 1 : e % n == e / n ? 0.5 : 0;
    const wg_mat half = wg_mat_constant_borrowed(t, n, n, phi, n);
    for (size_t k = 0; k < count; k++)
        members[k] = cholesky_back(t, wg_mat_block(out[0], 0, k * n, n, n),
                                   wg_mat_block(bar[0], 0, k * n, n, n), half);
    back[0] = count == 1 ? members[0] : wg_concat_cols(t, count, members);
    return wg_tape_status(t);
}

const wg_block_op wgi_op_cholesky = {"wg_cholesky",
                                     WG_OP_TRANS | WG_OP_EXPANDS,
                                     cholesky_shape,
                                     cholesky_value,
                                     cholesky_vjp,
                                     cholesky_jvp,
                                     cholesky_expand,
                                     cholesky_adjoint,
                                     NULL};
static void batch_parts(const void *params, wgi_parts *p) {
    p->count = *(const size_t *)params;
}

static const wgi_traits batch_traits = {.parts = batch_parts};

const wg_block_op wgi_op_cholesky_batch = {"wg_cholesky_batch", WG_OP_TRANS | WG_OP_EXPANDS,
                                           cholesky_shape,      cholesky_value,
                                           cholesky_vjp,        cholesky_jvp,
                                           cholesky_expand,     cholesky_adjoint,
                                           &batch_traits};

static wg_mat cholesky(wg_tape *t, const wg_block_op *op, size_t count, wg_mat a) {
    wg_mat l;
    (void)wg_apply(t, op, &count, sizeof count, 1, &a, 1, &l);
    return l;
}

wg_mat wg_cholesky(wg_tape *t, wg_mat a) { return cholesky(t, &wgi_op_cholesky, 1, a); }
wg_mat wg_cholesky_batch(wg_tape *t, size_t count, wg_mat a) {
    return cholesky(t, &wgi_op_cholesky_batch, count, a);
}

/* SPDX-License-Identifier: MIT */
/* Symmetric eigenproblems; what functions of symmetric matrices (symmetric_function.c) need of
 * them.
 *
 * Letters: n order, A (and B, positive definite) operands, w eigenvalues, ascending, V
 * eigenvectors with V'A V = diag(w) and V'V = I (V'B V = I), a bar for adjoints, a dot for
 * tangents; o is the product element by element.
 *
 *     M = V'V_,  E_ij = 1/(w_j - w_i),  W = diag(w_) + E o (M - M')/2
 *     A_ += V W V',   B_ -= V (U o W + (M + M')/4) V',  U_ij = (w_i + w_j)/2
 *     P = V'A.V,  Q = V'B.V,  w. = diag(P - U o Q),
 *     V. = V (E o (P - U o Q) - Q/2)
 *
 * Adjoints and tangents enter with their symmetric parts only. Formulas: Giles 2008, 3.1. W is
 * kept as a triangle with half the diagonal, so that one product is triangular, and what is
 * added to A_ is X + X' of one X. */
#include "tape/engine/tape.h"
#include "expand.h"
#include "spectral.h"
#include "traits.h"
#include "whole.h"
#include "blas.h"

#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/spectral.h>

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- shared ---- */

int wgi_spectral_finite(size_t rows, size_t cols, const double *a, size_t ld) {
    double s = 0, u = 0; /* 0 or NaN */
    for (size_t j = 0; j < cols; j++, a += ld) {
        size_t i = 0;
        for (; i + 1 < rows; i += 2) s += 0 * a[i], u += 0 * a[i + 1];
        if (i < rows) s += 0 * a[i];
    }
    return s + u == 0;
}

int wgi_spectral_zero(size_t rows, size_t cols, const double *a, size_t ld) {
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++)
            if (a[i + j * ld] != 0) return 0;
    return 1;
}

void wgi_spectral_copy(size_t rows, size_t cols, const double *from, size_t ld, double *to) {
    if (rows == 0) return;
    for (size_t j = 0; j < cols; j++) memcpy(to + j * rows, from + j * ld, rows * sizeof *to);
}

double wgi_spectral_largest(size_t count, const double *a) {
    double m = 0;
    for (size_t i = 0; i < count; i++) m = fabs(a[i]) > m ? fabs(a[i]) : m;
    return m;
}

int wgi_spectral_untouched(const wg_tape *t, wg_mat a) {
    const wgi_core *const c = wgi_core_of_const(t);
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) {
            const wg_real x = wg_mat_at(a, i, j);
            if (x.value != 0) return 0;
            for (size_t l = 0; x.at.slot != 0 && l < c->width; l++)
                if (wgi_tangents_of(c, x.at.slot)[l] != 0) return 0;
        }
    return 1;
}

/* Tiles of this order, so that rows and columns of a both stay in the first cache. */
enum { TILE = 32 };
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static int symmetric_part(size_t n, const double *a, size_t ld, double *x, int both) {
    double s = 0; /* 0 or NaN */
    for (size_t j0 = 0; j0 < n; j0 += TILE)
        for (size_t i0 = j0; i0 < n; i0 += TILE)
            for (size_t j = j0; j < smaller(j0 + TILE, n); j++)
                for (size_t i = i0 > j ? i0 : j; i < smaller(i0 + TILE, n); i++) {
                    const double v = 0.5 * a[i + j * ld] + 0.5 * a[j + i * ld];
                    x[i + j * n] = v;
                    if (both) x[j + i * n] = v;
                    s += 0 * v;
                }
    return s == 0;
}
int wgi_spectral_lower(size_t n, const double *a, size_t ld, double *x) {
    return symmetric_part(n, a, ld, x, 0);
}
int wgi_spectral_symmetric(size_t n, const double *a, size_t ld, double *x) {
    return symmetric_part(n, a, ld, x, 1);
}

void wgi_spectral_add(size_t n, double alpha, const double *x, double *a, size_t ld) {
    for (size_t j0 = 0; j0 < n; j0 += TILE)
        for (size_t i0 = j0; i0 < n; i0 += TILE)
            for (size_t j = j0; j < smaller(j0 + TILE, n); j++)
                for (size_t i = i0 > j ? i0 : j; i < smaller(i0 + TILE, n); i++) {
                    const double v = alpha * (x[i + j * n] + x[j + i * n]);
                    a[i + j * ld] += v;
                    if (i != j) a[j + i * ld] += v;
                }
}

void wgi_spectral_congruence(size_t n, double alpha, const double *v, CBLAS_UPLO uplo,
                             const double *t, double *x, double *g, double *a, size_t ld) {
    const int m = wgi_int(n);
    memcpy(x, v, n * n * sizeof *x);
    cblas_dtrmm(CblasColMajor, CblasRight, uplo, CblasNoTrans, CblasNonUnit, m, m, 1, t, m, x,
                m);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, m, m, 1, x, m, v, m, 0, g, m);
    wgi_spectral_add(n, alpha, g, a, ld);
}

/* a += alpha V diag(c) V', of the columns where c is not 0. Room: u, x, g of n^2. */
static void congruence_diagonal(size_t n, double alpha, const double *v, const double *c,
                                double *u, double *x, double *g, double *a, size_t ld) {
    const int m = wgi_int(n);
    size_t k = 0;
    for (size_t j = 0; j < n; j++) {
        if (c[j] == 0) continue;
        for (size_t i = 0; i < n; i++) {
            u[i + k * n] = v[i + j * n];
            x[i + k * n] = v[i + j * n] * c[j];
        }
        k++;
    }
    if (k == 0) return;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, m, wgi_int(k), 1, x, m, u, m, 0, g,
                m);
    wgi_spectral_add(n, 0.5 * alpha, g, a, ld);
}

void wgi_spectral_into_basis(size_t n, const double *v, const double *d, double *x, double *p) {
    const int m = wgi_int(n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, d, m, v, m, 0, x, m);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m, m, m, 1, v, m, x, m, 0, p, m);
}

double wgi_spectral_tie(size_t n, const double *w) {
    return (double)n * DBL_EPSILON * fmax(fabs(w[0]), fabs(w[n - 1]));
}
double wgi_spectral_nothing(size_t n, double largest) {
    return 8 * (double)n * DBL_EPSILON * largest;
}

/* What numerators and differences of eigenvalues are compared with, for numerators in x. */
typedef struct ties {
    double tie;     /* differences up to this count as 0 */
    double near;    /* over those up to this, numerators up to `nothing` count as 0 */
    double nothing; /* where there is one so near; else 0 */
} ties;
static ties ties_of(size_t n, const double *w, const double *x) {
    ties t = {wgi_spectral_tie(n, w), WGI_SPECTRAL_NEAR * fmax(fabs(w[0]), fabs(w[n - 1])), 0};
    int any = 0;
    for (size_t i = 1; i < n; i++) any |= w[i] - w[i - 1] <= t.near;
    if (any) t.nothing = wgi_spectral_nothing(n, wgi_spectral_largest(n * n, x));
    return t;
}

/* *e = top / gap, 0 where the top counts as 0; 0: only the gap does. */
static int quotient(double top, double gap, const ties *t, double *e) {
    *e = 0;
    if (gap <= t->near && fabs(top) <= t->nothing) return 1;
    if (gap <= t->tie) return 0;
    *e = top / gap;
    return 1;
}

static wg_status degenerate(wg_block *b) {
    return wgi_block_refuse(b, WG_EDEGENERATE,
                            "the eigenvectors of a repeated eigenvalue have no derivative");
}

/* Of dsyevd and dsygvd: what they ask for, and what lets dormtr work in blocks, for which they
 * do not ask. */
static size_t doubles_of(size_t n) { return 1 + 6 * n + 2 * n * n + 64 * n + 4224; }
static size_t integers_of(size_t n) { return 3 + 5 * n; }
size_t wgi_spectral_lapack_bytes(size_t n) {
    return doubles_of(n) * sizeof(double) + integers_of(n) * sizeof(lapack_int);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

wg_status wgi_spectral_decompose(wg_block *b, size_t n, double *v, double *w, double *work) {
    const int m = wgi_int(n);
    b->info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', m, v, m, w, work,
                                  wgi_int(doubles_of(n)), (lapack_int *)(work + doubles_of(n)),
                                  wgi_int(integers_of(n)));
    if (b->info == 0) return WG_OK;
    return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
}

wg_status wgi_spectral_not_finite(wg_block *b) {
    return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
}

/* ---- eigenvalues and eigenvectors ---- */

/* One operand: A x = w x. Two: A x = w B x. One result: w, and V is saved. Two: w and V. */

static wg_status eigen_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    for (size_t i = 0; i < b->inputs; i++)
        if (b->in[i].rows != n || b->in[i].cols != n)
            return wgi_block_refuse(b, WG_ESHAPE,
                                    b->inputs == 1
                                        ? "the matrix is not square"
                                        : "the matrices are not square and of one order");
    if (n > WGI_SPECTRAL_ORDER) return wgi_block_refuse(b, WG_ESHAPE, WGI_SPECTRAL_TOO_LARGE);
    b->out[0].rows = n, b->out[0].cols = 1;
    if (b->outputs == 2) b->out[1].rows = b->out[1].cols = n;
    else b->saved_bytes = n * n * sizeof(double);
    const size_t copy = b->inputs == 2 ? n * n * sizeof(double) : 0;
    b->work_bytes =
        larger(copy + wgi_spectral_lapack_bytes(n), (4 * n * n + n) * sizeof(double));
    return WG_OK;
}

static double *vectors_of(const wg_block *b) {
    return b->outputs == 2 ? b->out[1].value : b->saved;
}

static wg_status eigen_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const v = vectors_of(b), *const w = b->out[0].value;
    if (n == 0) return WG_OK;
    if (!wgi_spectral_lower(n, b->in[0].value, b->in[0].ld, v))
        return wgi_spectral_not_finite(b);
    if (b->inputs == 1) return wgi_spectral_decompose(b, n, v, w, b->work);
    double *const l = b->work, *const work = l + n * n;
    const int m = wgi_int(n);
    if (!wgi_spectral_lower(n, b->in[1].value, b->in[1].ld, l))
        return wgi_spectral_not_finite(b);
    b->info = LAPACKE_dsygvd_work(LAPACK_COL_MAJOR, 1, 'V', 'L', m, v, m, l, m, w, work,
                                  wgi_int(doubles_of(n)), (lapack_int *)(work + doubles_of(n)),
                                  wgi_int(integers_of(n)));
    if (b->info == 0) return WG_OK;
    if (b->info <= m) return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
    b->info -= m;
    return wgi_block_refuse(b, WG_ESINGULAR, "the second operand is not positive definite");
}

/* What eigenvalues alone send back. */
static void values_vjp(wg_block *b, size_t n, const double *v, double *m) {
    const double *const w = b->out[0].value, *const wb = b->out[0].bar;
    double *const x = m + n * n, *const g = x + n * n, *const c = g + n * n;
    if (b->in[0].bar != NULL)
        congruence_diagonal(n, 1, v, wb, m, x, g, b->in[0].bar, b->in[0].bar_ld);
    if (b->inputs == 1 || b->in[1].bar == NULL) return;
    for (size_t i = 0; i < n; i++) c[i] = w[i] * wb[i];
    congruence_diagonal(n, -1, v, c, m, x, g, b->in[1].bar, b->in[1].bar_ld);
}

static wg_status eigen_vjp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const int k = wgi_int(n);
    const double *const v = vectors_of(b), *const w = b->out[0].value,
                        *const wb = b->out[0].bar;
    double *const m = b->work, *const x = m + n * n, *const g = x + n * n, *const c = g + n * n;
    const int general = b->inputs == 2;
    if (n == 0) return WG_OK;
    if (b->outputs == 1 || wgi_spectral_zero(n, n, b->out[1].bar, b->out[1].bar_ld)) {
        values_vjp(b, n, v, m);
        return WG_OK;
    }
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, k, k, 1, v, k, b->out[1].bar,
                wgi_int(b->out[1].bar_ld), 0, m, k);
    const ties t = ties_of(n, w, m);
    /* W to the lower triangle of m; what B_ wants to the upper one, its diagonal to c */
    for (size_t j = 0; j < n; j++) {
        c[j] = 0.5 * (w[j] * wb[j] + 0.5 * m[j + j * n]);
        m[j + j * n] = 0.5 * wb[j];
        for (size_t i = j + 1; i < n; i++) {
            const double lower = m[i + j * n], upper = m[j + i * n];
            const double up = 0.5 * (upper - lower), gap = w[i] - w[j];
            double e;
            if (!quotient(up, gap, &t, &e)) return degenerate(b);
            m[i + j * n] = e;
            if (general) m[j + i * n] = 0.5 * (w[i] + w[j]) * e + 0.25 * (lower + upper);
        }
    }
    if (b->in[0].bar != NULL)
        wgi_spectral_congruence(n, 1, v, CblasLower, m, x, g, b->in[0].bar, b->in[0].bar_ld);
    if (!general || b->in[1].bar == NULL) return WG_OK;
    for (size_t j = 0; j < n; j++) m[j + j * n] = c[j];
    wgi_spectral_congruence(n, -1, v, CblasUpper, m, x, g, b->in[1].bar, b->in[1].bar_ld);
    return WG_OK;
}

/* p = V' sym(tangent of operand i) V, 0 for a constant. Room: x of n^2. */
static void tangent_of(const wg_block *b, size_t i, const double *v, double *x, double *p) {
    const size_t n = b->in[0].rows;
    if (i >= b->inputs || b->in[i].bar == NULL) {
        memset(p, 0, n * n * sizeof *p);
        return;
    }
    (void)wgi_spectral_symmetric(n, b->in[i].bar, b->in[i].bar_ld, p);
    wgi_spectral_into_basis(n, v, p, x, p);
}

static wg_status eigen_jvp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const v = vectors_of(b), *const w = b->out[0].value;
    double *const x = b->work, *const p = x + n * n, *const q = p + n * n;
    if (n == 0) return WG_OK;
    tangent_of(b, 0, v, x, p);
    tangent_of(b, 1, v, x, q);
    for (size_t i = 0; i < n; i++) b->out[0].bar[i] = p[i + i * n] - w[i] * q[i + i * n];
    if (b->outputs == 1) return WG_OK;
    const ties t = ties_of(n, w, p);
    for (size_t j = 0; j < n; j++) {
        p[j + j * n] = -0.5 * q[j + j * n];
        for (size_t i = j + 1; i < n; i++) {
            const double gap = w[i] - w[j];
            const double top = p[i + j * n] - 0.5 * (w[i] + w[j]) * q[i + j * n];
            double e;
            if (!quotient(top, gap, &t, &e)) return degenerate(b);
            p[i + j * n] = -e - 0.5 * q[i + j * n];
            p[j + i * n] = e - 0.5 * q[i + j * n];
        }
    }
    const int k = wgi_int(n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, k, k, k, 1, v, k, p, k, 0,
                b->out[1].bar, wgi_int(b->out[1].bar_ld));
    return WG_OK;
}

/* ---- adjoints in operations on matrices ---- */

/* V diag(c) V' as an operation on A, B and c; params: w and V as they were found. With P, Q as
 * at the head and T = P - U o Q its tangent is V (G o T - (c_i + c_j)/2 o Q + diag(c.)) V',
 * G_ij = (c_i - c_j)/(w_i - w_j): the tangent of V, by which nearly equal eigenvalues would
 * lose their digits, is not in it. Where they are so near that c has not enough of them, it
 * is not known. */
struct found {
    const double *w, *v;
};
static wg_status weighed_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->out[0].rows = b->out[0].cols = n;
    b->work_bytes = 4 * n * n * sizeof(double);
    return WG_OK;
}
static wg_status weighed_value(wg_block *b) {
    const struct found *const f = b->params;
    const size_t n = b->in[0].rows;
    double *const u = b->work, *const x = u + n * n, *const g = x + n * n;
    memset(b->out[0].value, 0, n * n * sizeof(double));
    if (n == 0) return WG_OK;
    congruence_diagonal(n, 1, f->v, b->in[b->inputs - 1].value, u, x, g, b->out[0].value, n);
    return WG_OK;
}
static wg_status weighed_jvp(wg_block *b) {
    const struct found *const f = b->params;
    const size_t n = b->in[0].rows;
    const double *const w = f->w, *const c = b->in[b->inputs - 1].value;
    const double *const ct = b->in[b->inputs - 1].bar;
    double *const x = b->work, *const p = x + n * n, *const q = p + n * n, *const g = q + n * n;
    memset(b->out[0].bar, 0, n * n * sizeof(double));
    if (n == 0) return WG_OK;
    tangent_of(b, 0, f->v, x, p);
    tangent_of(b, b->inputs == 3 ? 1 : b->inputs, f->v, x, q);
    ties t = ties_of(n, w, p);
    t.tie = t.near;
    for (size_t j = 0; j < n; j++) {
        p[j + j * n] = 0.5 * ((ct != NULL ? ct[j] : 0) - c[j] * q[j + j * n]);
        for (size_t i = j + 1; i < n; i++) {
            double e;
            const double top = p[i + j * n] - 0.5 * (w[i] + w[j]) * q[i + j * n];
            if (!quotient(top, w[i] - w[j], &t, &e))
                return wgi_block_refuse(
                    b, WG_EDEGENERATE,
                    "the second derivative of nearly equal eigenvalues is not known");
            p[i + j * n] = e * (c[i] - c[j]) - 0.5 * (c[i] + c[j]) * q[i + j * n];
        }
    }
    wgi_spectral_congruence(n, 1, f->v, CblasLower, p, x, g, b->out[0].bar, n);
    return WG_OK;
}

static wg_mat weighed(wg_tape *t, wg_block *b, const wg_mat *in, wg_mat c) {
    static const wg_block_op op = {"adjoint of eigenvalues",
                                   WG_OP_TRANS,
                                   weighed_shape,
                                   weighed_value,
                                   NULL,
                                   weighed_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const struct found f = {b->out[0].value, vectors_of(b)};
    const wg_mat of[3] = {in[0], b->inputs == 2 ? in[1] : c, c};
    return wgi_apply_one(t, &op, &f, sizeof f, b->inputs + 1, of);
}

/* V X V' */
static wg_mat of_basis(wg_tape *t, wg_mat v, wg_mat x) {
    return wg_gemm(t, 'N', 'T', 1, wg_matmul(t, v, x), v, 0, v);
}
static wg_mat symmetric_of(wg_tape *t, wg_mat x) {
    return wg_mat_axpby(t, 0.5, x, 0.5, wg_mat_transpose(x));
}

/* Of eigenvalues alone: V diag(w_) V', -V diag(w w_) V'. */
static wg_status values_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    if (in[0].rows == 0) return WG_OK;
    back[0] = weighed(t, b, in, bar[0]);
    if (b->inputs == 2)
        back[1] = wg_mat_scale(t, -1, weighed(t, b, in, wg_mat_mul(t, out[0], bar[0])));
    return wg_tape_status(t);
}

/* The formulas at the head. */
static wg_status vectors_adjoint(wg_tape *t, size_t operands, int in_function,
                                 const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    const wg_mat w = out[0], v = out[1], row = wg_mat_transpose(w);
    const wg_mat m = wg_gemm(t, 'T', 'N', 1, v, bar[1], 0, v);
    const wg_mat one = wg_mat_identity(t, w.rows);
    const wg_mat skew = wg_mat_axpby(t, 0.5, m, -0.5, wg_mat_transpose(m));
    const wg_mat gaps = wg_mat_add(t, wg_mat_sub(t, row, w), one);
    const wg_mat e = in_function ? wgi_spectral_over(t, skew, gaps, w, 1)
                                 : wgi_spectral_quotient(t, skew, gaps, w);
    const wg_mat x = wg_mat_add(t, e, wg_diag(t, bar[0]));
    back[0] = symmetric_of(t, of_basis(t, v, x));
    if (operands == 1) return wg_tape_status(t);
    const wg_mat mean = wg_mat_scale(t, 0.5, wg_mat_add(t, row, w));
    const wg_mat sum = wg_mat_axpby(t, 0.25, m, 0.25, wg_mat_transpose(m));
    const wg_mat y = wg_mat_add(t, wg_mat_mul(t, mean, x), sum);
    back[1] = wg_mat_scale(t, -1, symmetric_of(t, of_basis(t, v, y)));
    return wg_tape_status(t);
}

/* Where two eigenvalues are one, the second derivative is not known. */
static wg_status eigen_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const size_t n = in[0].rows;
    const double *const w = out[0].value;
    if (n == 0 || wgi_spectral_untouched(t, bar[1]))
        return values_adjoint(t, b, in, out, bar, back);
    for (size_t i = 1; i < n; i++)
        if (!(w[i] - w[i - 1] > WGI_SPECTRAL_NEAR * fmax(fabs(w[0]), fabs(w[n - 1]))))
            return degenerate(b);
    return vectors_adjoint(t, b->inputs, 0, out, bar, back);
}

/* In a function, where w and V are those of the node, and every derivative is one of them. */
static wg_status eigen_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    const wg_mat v = out[1];
    if (in[0].rows == 0) return WG_OK;
    if (!wgi_spectral_untouched(t, bar[1]))
        return vectors_adjoint(t, b->inputs, 1, out, bar, back);
    const wg_mat w = wg_mat_transpose(wg_mat_mul(t, out[0], bar[0]));
    const wg_mat q = wgi_spectral_apart(t, out[0], 0);
    back[0] = wg_gemm(t, 'N', 'T', 1, wg_mat_mul(t, v, wg_mat_transpose(bar[0])), v, 0, v);
    if (b->inputs == 2) back[1] = wg_gemm(t, 'N', 'T', -1, wg_mat_mul(t, v, w), v, 0, v);
    for (size_t i = 0; i < b->inputs; i++)
        for (size_t k = 0; k < b->inputs; k++)
            back[i] = wgi_spectral_once(t, back[i], in[k], q);
    return wg_tape_status(t);
}

/* A transposed view of a matrix has the same symmetric part: nothing to do for WG_OP_TRANS. */
#define EIGEN(name, adjoint, traits)                                                           \
    const wg_block_op wgi_op_##name = {"wg_" #name, WG_OP_TRANS, eigen_shape,                  \
                                       eigen_value, eigen_vjp,   eigen_jvp,                    \
                                       NULL,        adjoint,     traits}
static const wgi_traits of_eigh = {.whole = &wgi_whole_eigh};
static const wgi_traits of_eigh_general = {.whole = &wgi_whole_eigh_general};
EIGEN(eigvalsh, values_adjoint, &of_eigh);
EIGEN(eigh, eigen_adjoint, &of_eigh);
EIGEN(eigvalsh_general, values_adjoint, &of_eigh_general);
EIGEN(eigh_general, eigen_adjoint, &of_eigh_general);
const wgi_whole wgi_whole_eigh = {&wgi_op_eigh, "nn", "n1nn", eigen_rule, NULL, 0, 0, 25};
const wgi_whole wgi_whole_eigh_general = {
    &wgi_op_eigh_general, "nnnn", "n1nn", eigen_rule, NULL, 0, 0, 35};

wg_mat wg_eigvalsh(wg_tape *t, wg_mat a) {
    return wgi_apply_one(t, &wgi_op_eigvalsh, NULL, 0, 1, &a);
}

wg_status wg_eigh(wg_tape *t, wg_mat a, wg_mat *w, wg_mat *v) {
    wg_mat out[2];
    const wg_status s = wg_apply(t, &wgi_op_eigh, NULL, 0, 1, &a, 2, out);
    if (w != NULL) *w = out[0];
    if (v != NULL) *v = out[1];
    return s;
}

wg_mat wg_eigvalsh_general(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_mat in[] = {a, b};
    return wgi_apply_one(t, &wgi_op_eigvalsh_general, NULL, 0, 2, in);
}

wg_status wg_eigh_general(wg_tape *t, wg_mat a, wg_mat b, wg_mat *w, wg_mat *v) {
    const wg_mat in[] = {a, b};
    wg_mat out[2];
    const wg_status s = wg_apply(t, &wgi_op_eigh_general, NULL, 0, 2, in, 2, out);
    if (w != NULL) *w = out[0];
    if (v != NULL) *v = out[1];
    return s;
}

/* SPDX-License-Identifier: MIT */
/* Symmetric eigenproblems and functions of symmetric matrices.
 *
 * Letters: n order, A (and B, positive definite) operands, w eigenvalues, ascending, V
 * eigenvectors with V'A V = diag(w) and V'V = I (V'B V = I), a bar for adjoints, a dot for
 * tangents; o is the product element by element.
 *
 *     M = V'V_,  E_ij = 1/(w_j - w_i),  W = diag(w_) + E o (M - M')/2
 *     A_ += V W V',   B_ -= V (U o W + (M + M')/4) V',  U_ij = (w_i + w_j)/2
 *     P = V'A.V,  Q = V'B.V,  w. = diag(P - U o Q),
 *     V. = V (E o (P - U o Q) - Q/2)
 *     F = V f(w) V':  A_ += V (D o V'F_V) V',  D_ij = (f(w_i) - f(w_j))/(w_i - w_j), or f'(w_i)
 *
 * Adjoints and tangents enter with their symmetric parts only. Formulas: Giles 2008, 3.1;
 * Daletskii and Krein 1965 for F. W is kept as a triangle with half the diagonal, so that one
 * product is triangular, and what is added to A_ is X + X' of one X. */
#include "tape/engine/tape.h"
#include "spectral.h"
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

/* a += alpha V (T + T') V', T a triangle (with half a diagonal). Room: x, g of n^2. */
static void congruence(size_t n, double alpha, const double *v, CBLAS_UPLO uplo,
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

/* p = V' d V, d symmetric; d may be p. Room: x of n^2. */
static void into_basis(size_t n, const double *v, const double *d, double *x, double *p) {
    const int m = wgi_int(n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, d, m, v, m, 0, x, m);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m, m, m, 1, v, m, x, m, 0, p, m);
}

/* Two eigenvalues this near to each other are one, repeated: what the eigenvalues are known to.
 */
static double tie_of(size_t n, const double *w) {
    return (double)n * DBL_EPSILON * fmax(fabs(w[0]), fabs(w[n - 1]));
}
/* A numerator up to this is 0: what the elements of a product of order n are known to. */
static double nothing_of(size_t n, double largest) {
    return 8 * (double)n * DBL_EPSILON * largest;
}

/* What numerators and differences of eigenvalues are compared with, for numerators in x. */
typedef struct ties {
    double tie;     /* differences up to this count as 0 */
    double near;    /* over those up to this, numerators up to `nothing` count as 0 */
    double nothing; /* where there is one so near; else 0 */
} ties;
static ties ties_of(size_t n, const double *w, const double *x) {
    ties t = {tie_of(n, w), WGI_SPECTRAL_NEAR * fmax(fabs(w[0]), fabs(w[n - 1])), 0};
    int any = 0;
    for (size_t i = 1; i < n; i++) any |= w[i] - w[i - 1] <= t.near;
    if (any) t.nothing = nothing_of(n, wgi_spectral_largest(n * n, x));
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
    b->why = "the eigenvectors of a repeated eigenvalue have no derivative";
    return WG_EDEGENERATE;
}

/* Of dsyevd and dsygvd: what they ask for, and what lets dormtr work in blocks, for which they
 * do not ask. */
static size_t doubles_of(size_t n) { return 1 + 6 * n + 2 * n * n + 64 * n + 4224; }
static size_t integers_of(size_t n) { return 3 + 5 * n; }
static size_t lapack_bytes(size_t n) {
    return doubles_of(n) * sizeof(double) + integers_of(n) * sizeof(lapack_int);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* w, and V over the lower triangle of a matrix. */
static wg_status decompose(wg_block *b, size_t n, double *v, double *w, double *work) {
    const int m = wgi_int(n);
    b->info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', m, v, m, w, work,
                                  wgi_int(doubles_of(n)), (lapack_int *)(work + doubles_of(n)),
                                  wgi_int(integers_of(n)));
    if (b->info == 0) return WG_OK;
    b->why = WGI_SPECTRAL_GAVE_UP;
    return WG_ECONVERGE;
}

static wg_status not_finite(wg_block *b) {
    b->why = WGI_SPECTRAL_NOT_FINITE;
    return WG_ENONFINITE;
}

/* ---- eigenvalues and eigenvectors ---- */

/* One operand: A x = w x. Two: A x = w B x. One result: w, and V is saved. Two: w and V. */

static wg_status eigen_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    for (size_t i = 0; i < b->inputs; i++)
        if (b->in[i].rows != n || b->in[i].cols != n) {
            b->why = b->inputs == 1 ? "the matrix is not square"
                                    : "the matrices are not square and of one order";
            return WG_ESHAPE;
        }
    if (n > WGI_SPECTRAL_ORDER) {
        b->why = WGI_SPECTRAL_TOO_LARGE;
        return WG_ESHAPE;
    }
    b->out[0].rows = n, b->out[0].cols = 1;
    if (b->outputs == 2) b->out[1].rows = b->out[1].cols = n;
    else b->saved_bytes = n * n * sizeof(double);
    const size_t copy = b->inputs == 2 ? n * n * sizeof(double) : 0;
    b->work_bytes = larger(copy + lapack_bytes(n), (4 * n * n + n) * sizeof(double));
    return WG_OK;
}

static double *vectors_of(const wg_block *b) {
    return b->outputs == 2 ? b->out[1].value : b->saved;
}

static wg_status eigen_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const v = vectors_of(b), *const w = b->out[0].value;
    if (n == 0) return WG_OK;
    if (!wgi_spectral_lower(n, b->in[0].value, b->in[0].ld, v)) return not_finite(b);
    if (b->inputs == 1) return decompose(b, n, v, w, b->work);
    double *const l = b->work, *const work = l + n * n;
    const int m = wgi_int(n);
    if (!wgi_spectral_lower(n, b->in[1].value, b->in[1].ld, l)) return not_finite(b);
    b->info = LAPACKE_dsygvd_work(LAPACK_COL_MAJOR, 1, 'V', 'L', m, v, m, l, m, w, work,
                                  wgi_int(doubles_of(n)), (lapack_int *)(work + doubles_of(n)),
                                  wgi_int(integers_of(n)));
    if (b->info == 0) return WG_OK;
    if (b->info <= m) {
        b->why = WGI_SPECTRAL_GAVE_UP;
        return WG_ECONVERGE;
    }
    b->info -= m;
    b->why = "the second operand is not positive definite";
    return WG_ESINGULAR;
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
        congruence(n, 1, v, CblasLower, m, x, g, b->in[0].bar, b->in[0].bar_ld);
    if (!general || b->in[1].bar == NULL) return WG_OK;
    for (size_t j = 0; j < n; j++) m[j + j * n] = c[j];
    congruence(n, -1, v, CblasUpper, m, x, g, b->in[1].bar, b->in[1].bar_ld);
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
    into_basis(n, v, p, x, p);
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

/* w and V as they were found, as an operation on the operands; params: where they are. */
struct found {
    const double *w, *v;
};
static wg_status found_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->out[0].rows = n, b->out[0].cols = 1;
    b->out[1].rows = b->out[1].cols = n;
    b->work_bytes = (4 * n * n + n) * sizeof(double);
    return WG_OK;
}
static wg_status found_value(wg_block *b) {
    const struct found *const f = b->params;
    const size_t n = b->in[0].rows;
    if (n == 0) return WG_OK;
    memcpy(b->out[0].value, f->w, n * sizeof(double));
    memcpy(b->out[1].value, f->v, n * n * sizeof(double));
    return WG_OK;
}

static wg_status find_again(wg_tape *t, size_t inputs, const wg_mat *in, const double *w,
                            const double *v, wg_mat *out) {
    static const wg_block_op op = {"eigenvectors", WG_OP_TRANS, found_shape, found_value, NULL,
                                   eigen_jvp,      NULL,        NULL,        NULL};
    const struct found f = {w, v};
    return wg_apply(t, &op, &f, sizeof f, inputs, in, 2, out);
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
    const size_t n = in[0].rows;
    wg_mat again[2];
    if (n == 0) return WG_OK;
    const wg_status s = find_again(t, b->inputs, in, b->out[0].value, vectors_of(b), again);
    if (s != WG_OK) return s;
    const wg_mat v = again[1], w = wg_mat_mul(t, out[0], bar[0]);
    back[0] = wg_gemm(t, 'N', 'T', 1, wg_mat_mul(t, v, wg_mat_transpose(bar[0])), v, 0, v);
    if (b->inputs == 2)
        back[1] = wg_gemm(t, 'N', 'T', -1, wg_mat_mul(t, v, wg_mat_transpose(w)), v, 0, v);
    return wg_tape_status(t);
}

/* The formulas at the head. Where two eigenvalues are one, the second derivative is not known. */
static wg_status eigen_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const size_t n = in[0].rows;
    const wg_mat w = out[0], v = out[1], row = wg_mat_transpose(w);
    if (n == 0 || wgi_spectral_untouched(t, bar[1]))
        return values_adjoint(t, b, in, out, bar, back);
    for (size_t i = 1; i < n; i++)
        if (!(w.value[i] - w.value[i - 1] >
              WGI_SPECTRAL_NEAR * fmax(fabs(w.value[0]), fabs(w.value[n - 1]))))
            return degenerate(b);
    const wg_mat m = wg_gemm(t, 'T', 'N', 1, v, bar[1], 0, v), one = wg_mat_identity(t, n);
    const wg_mat skew = wg_mat_axpby(t, 0.5, m, -0.5, wg_mat_transpose(m));
    const wg_mat gaps = wg_mat_add(t, wg_mat_sub(t, row, w), one);
    const wg_mat x = wg_mat_add(t, wg_mat_div(t, skew, gaps), wg_diag(t, bar[0]));
    back[0] = symmetric_of(t, of_basis(t, v, x));
    if (b->inputs == 1) return wg_tape_status(t);
    const wg_mat mean = wg_mat_scale(t, 0.5, wg_mat_add(t, row, w));
    const wg_mat sum = wg_mat_axpby(t, 0.25, m, 0.25, wg_mat_transpose(m));
    const wg_mat y = wg_mat_add(t, wg_mat_mul(t, mean, x), sum);
    back[1] = wg_mat_scale(t, -1, symmetric_of(t, of_basis(t, v, y)));
    return wg_tape_status(t);
}

/* A transposed view of a matrix has the same symmetric part: nothing to do for WG_OP_TRANS. */
#define EIGEN(name, adjoint)                                                                   \
    const wg_block_op wgi_op_##name = {"wg_" #name, WG_OP_TRANS, eigen_shape,                  \
                                       eigen_value, eigen_vjp,   eigen_jvp,                    \
                                       NULL,        adjoint,     NULL}
EIGEN(eigvalsh, values_adjoint);
EIGEN(eigh, eigen_adjoint);
EIGEN(eigvalsh_general, values_adjoint);
EIGEN(eigh_general, eigen_adjoint);

wg_mat wg_eigvalsh(wg_tape *t, wg_mat a) {
    wg_mat w;
    (void)wg_apply(t, &wgi_op_eigvalsh, NULL, 0, 1, &a, 1, &w);
    return w;
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
    wg_mat w;
    (void)wg_apply(t, &wgi_op_eigvalsh_general, NULL, 0, 2, in, 1, &w);
    return w;
}

wg_status wg_eigh_general(wg_tape *t, wg_mat a, wg_mat b, wg_mat *w, wg_mat *v) {
    const wg_mat in[] = {a, b};
    wg_mat out[2];
    const wg_status s = wg_apply(t, &wgi_op_eigh_general, NULL, 0, 2, in, 2, out);
    if (w != NULL) *w = out[0];
    if (v != NULL) *v = out[1];
    return s;
}

/* ---- functions of a symmetric matrix ---- */

/* Each is a row: f, f', the divided difference of a < b where they are no tie, and whether the
 * function takes such an eigenvalue (then WG_OK). `noise` is what eigenvalues are known to. */
typedef struct rule {
    double (*f)(const wg_symmetric_function *u, double a);
    double (*slope)(const wg_symmetric_function *u, double a);
    double (*divided)(const wg_symmetric_function *u, double a, double b);
    wg_status (*take)(double p, double *a, double noise, const char **why);
    /* the second divided difference of a <= b <= c */
    double (*second)(const wg_symmetric_function *u, double a, double b, double c);
} rule;

static double exp_f(const wg_symmetric_function *u, double a) { return (void)u, exp(a); }
static double exp_divided(const wg_symmetric_function *u, double a, double b) {
    (void)u;
    return exp(b) * (-expm1(a - b) / (b - a));
}

static double log_f(const wg_symmetric_function *u, double a) { return (void)u, log(a); }
static double log_slope(const wg_symmetric_function *u, double a) { return (void)u, 1 / a; }
/* log(b / a) */
static double log_ratio(double a, double b) {
    return b < 2 * a ? log1p((b - a) / a) : log(b) - log(a);
}
static double log_divided(const wg_symmetric_function *u, double a, double b) {
    (void)u;
    return log_ratio(a, b) / (b - a);
}

static double sqrt_f(const wg_symmetric_function *u, double a) { return (void)u, sqrt(a); }
static double sqrt_slope(const wg_symmetric_function *u, double a) {
    return (void)u, 0.5 / sqrt(a);
}
static double sqrt_divided(const wg_symmetric_function *u, double a, double b) {
    (void)u;
    return 1 / (sqrt(a) + sqrt(b));
}

static double inverse_sqrt_f(const wg_symmetric_function *u, double a) {
    return (void)u, 1 / sqrt(a);
}
static double inverse_sqrt_slope(const wg_symmetric_function *u, double a) {
    return (void)u, -0.5 / a / sqrt(a);
}
static double inverse_sqrt_divided(const wg_symmetric_function *u, double a, double b) {
    (void)u;
    return -1 / sqrt(a) / sqrt(b) / (sqrt(a) + sqrt(b));
}

/* Its exponent is the data. */
static double power_of(const wg_symmetric_function *u) { return *(const double *)u->data; }
static double power_f(const wg_symmetric_function *u, double a) { return pow(a, power_of(u)); }
static double power_slope(const wg_symmetric_function *u, double a) {
    const double p = power_of(u);
    return p == 0 ? 0 : p * pow(a, p - 1);
}
static double power_divided(const wg_symmetric_function *u, double a, double b) {
    const double p = power_of(u), direct = (pow(b, p) - pow(a, p)) / (b - a);
    if (p == 0 || p == 1) return p;
    if (!(a > 0) && !(b < 0)) return direct; /* nothing cancels that a slope would need */
    /* s b^p (1 - (a / b)^p) / (b - a) of magnitudes a < b; s for odd powers of negative numbers
     */
    const double s = b < 0 ? pow(-1, p - 1) : 1;
    const double low = b < 0 ? -b : a, high = b < 0 ? -a : b;
    const double d = s * pow(high, p) * (-expm1(-p * log_ratio(low, high)) / (high - low));
    return isfinite(d) ? d : direct;
}

static double user_f(const wg_symmetric_function *u, double a) { return u->f(a, u->data); }
static double user_slope(const wg_symmetric_function *u, double a) {
    return u->slope(a, u->data);
}
/* The quotient, or the mean of the slope by Gauss's rule of three points where that is nearer:
 * the error of the one is some roundings of f, that of the other at most its difference to the
 * rule of two. */
static double user_divided(const wg_symmetric_function *u, double a, double b) {
    const double fa = user_f(u, a), fb = user_f(u, b), gap = b - a, quotient = (fb - fa) / gap;
    const double error = 2 * DBL_EPSILON * (fabs(fa) + fabs(fb)) / gap;
    if (error <= 64 * DBL_EPSILON * fabs(quotient) || gap > 0.125 * fmax(fabs(a), fabs(b)))
        return quotient;
    const double m = a + 0.5 * gap, h3 = sqrt(0.15) * gap, h2 = sqrt(1.0 / 12) * gap;
    const double mean =
        (5 * user_slope(u, m - h3) + 8 * user_slope(u, m) + 5 * user_slope(u, m + h3)) / 18;
    const double coarse = 0.5 * (user_slope(u, m - h2) + user_slope(u, m + h2));
    return fabs(mean - coarse) <= error ? mean : quotient;
}

static wg_status take_any(double p, double *a, double noise, const char **why) {
    (void)p, (void)a, (void)noise, (void)why;
    return WG_OK;
}
static wg_status take_positive(double p, double *a, double noise, const char **why) {
    (void)p, (void)noise;
    *why = "the operand is not positive definite";
    return *a > 0 ? WG_OK : WG_ESINGULAR;
}
static wg_status take_nonnegative(double p, double *a, double noise, const char **why) {
    (void)p;
    *why = "the operand has a negative eigenvalue";
    if (*a < 0 && *a >= -noise) *a = 0;
    return *a >= 0 ? WG_OK : WG_ESINGULAR;
}
static wg_status take_power(double p, double *a, double noise, const char **why) {
    if (p != rint(p)) return (p < 0 ? take_positive : take_nonnegative)(p, a, noise, why);
    *why = "the operand is singular";
    return p < 0 && fabs(*a) <= noise ? WG_ESINGULAR : WG_OK;
}

/* ---- second divided differences ----
 * Far apart, the quotient of first ones; near to each other, f(b + t) = sum c_k t^k gives the sum of
 * c_k+2 h_k(a - b, c - b), with h_k(x, z) = x^k + x^(k-1) z + ... + z^k. Source: de Boor 2005. */

typedef double divided_fn(const wg_symmetric_function *u, double a, double b);

static double by_quotient(const wg_symmetric_function *u, divided_fn *divided,
                          divided_fn *slope, double a, double b, double c) {
    const double low = a < b ? divided(u, a, b) : slope(u, a, b);
    const double high = b < c ? divided(u, b, c) : slope(u, b, c);
    return (high - low) / (c - a);
}

enum { TERMS = 60 };
/* ratio(k, p): c_k+1 over c_k. */
static double by_series(double first, double x, double z, double p,
                        double (*ratio)(int k, double p)) {
    double term = first, h = 1, power = 1, sum = first;
    for (int k = 1; k < TERMS; k++) {
        term *= ratio(k + 1, p);
        power *= x;
        h = z * h + power;
        sum += term * h;
        if (fabs(term) * (fabs(h) + fabs(power)) <= 0x1p-60 * fabs(sum)) break;
    }
    return sum;
}
static double exp_ratio(int k, double p) { return (void)p, 1.0 / (k + 1); }
static double log_ratio_of(int k, double p) { return (void)p, -(double)k / (k + 1); }
static double power_ratio(int k, double p) { return (p - k) / (k + 1); }

static double exp_slope_at(const wg_symmetric_function *u, double a, double b) {
    return (void)u, (void)b, exp(a);
}
static double exp_second(const wg_symmetric_function *u, double a, double b, double c) {
    if (c - a > 1) return by_quotient(u, exp_divided, exp_slope_at, a, b, c);
    return exp(b) * by_series(0.5, a - b, c - b, 0, exp_ratio);
}
static double log_slope_at(const wg_symmetric_function *u, double a, double b) {
    return (void)b, log_slope(u, a);
}
static double log_second(const wg_symmetric_function *u, double a, double b, double c) {
    if (c > 1.25 * a) return by_quotient(u, log_divided, log_slope_at, a, b, c);
    return by_series(-0.5, (a - b) / b, (c - b) / b, 0, log_ratio_of) / b / b;
}
static double sqrt_second(const wg_symmetric_function *u, double a, double b, double c) {
    const double x = sqrt(a), y = sqrt(b), z = sqrt(c);
    return (void)u, -1 / (x + y) / (y + z) / (x + z);
}
static double inverse_sqrt_second(const wg_symmetric_function *u, double a, double b,
                                  double c) {
    const double x = sqrt(a), y = sqrt(b), z = sqrt(c);
    return (void)u, (x + y + z) / (x * y * z) / (x + y) / (y + z) / (x + z);
}
static double power_slope_at(const wg_symmetric_function *u, double a, double b) {
    return (void)b, power_slope(u, a);
}
static double power_second(const wg_symmetric_function *u, double a, double b, double c) {
    const double p = power_of(u), half = 0.5 * p * (p - 1);
    if (half == 0) return 0;
    if (a == c) return half * pow(a, p - 2);
    const double low = c < 0 ? -c : a, high = c < 0 ? -a : c; /* of magnitudes, of one sign */
    if (!(low > 0) || high > 1.25 * low || fabs(p) > 32)
        return by_quotient(u, power_divided, power_slope_at, a, b, c);
    return pow(b, p - 2) * by_series(half, (a - b) / b, (c - b) / b, p, power_ratio);
}

/* The mean of half the second derivative over the triangle of a, b, c, by rules of 7 and 3 points,
 * where their difference says that it is nearer than the quotient. Source: Hermite and Genocchi;
 * Radon 1948. */
static double user_second(const wg_symmetric_function *u, double a, double b, double c) {
    if (a == c) return 0.5 * u->curve(a, u->data);
    const double x[3] = {a, b, c}, root = sqrt(15), center = a + ((b - a) + (c - a)) / 3;
    const double near = (6 + root) / 21, far = (6 - root) / 21;
    double coarse = 0, mean = 0.225 * u->curve(center, u->data);
    for (int i = 0; i < 3; i++) {
        const double to = x[i] - center;
        coarse += u->curve(center + 0.5 * to, u->data) / 3;
        mean += (155 - root) / 1200 * u->curve(center + (1 - 3 * far) * to, u->data);
        mean += (155 + root) / 1200 * u->curve(center + (1 - 3 * near) * to, u->data);
    }
    const double low = a < b ? user_divided(u, a, b) : user_slope(u, a);
    const double high = b < c ? user_divided(u, b, c) : user_slope(u, b);
    const double error = 64 * DBL_EPSILON * (fabs(low) + fabs(high)) / (c - a);
    return fabs(mean - coarse) <= 2 * error ? 0.5 * mean : (high - low) / (c - a);
}

enum { EXP, LOG, SQRT, INVERSE_SQRT, POWER, USER };
static const rule rules[] = {
    [EXP] = {exp_f, exp_f, exp_divided, take_any, exp_second},
    [LOG] = {log_f, log_slope, log_divided, take_positive, log_second},
    [SQRT] = {sqrt_f, sqrt_slope, sqrt_divided, take_nonnegative, sqrt_second},
    [INVERSE_SQRT] = {inverse_sqrt_f, inverse_sqrt_slope, inverse_sqrt_divided, take_positive,
                      inverse_sqrt_second},
    [POWER] = {power_f, power_slope, power_divided, take_power, power_second},
    [USER] = {user_f, user_slope, user_divided, take_any, user_second}};

/* Of a call: which rule, the exponent, the user's functions. */
typedef struct choice {
    int which;
    double p;
    wg_symmetric_function user;
} choice;

/* What a rule gets: the user's functions, or the exponent as their data. */
static wg_symmetric_function callee(const choice *c) {
    wg_symmetric_function u = c->user;
    if (c->which != USER) u.data = &c->p;
    return u;
}

static wg_status function_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    const choice *const c = b->params;
    if (c->which == USER && (c->user.f == NULL || c->user.slope == NULL)) {
        b->why = "no function, or no slope";
        return WG_ENULL;
    }
    if (c->which == POWER && !isfinite(c->p)) {
        b->why = "the exponent is not finite";
        return WG_EARG;
    }
    if (b->in[0].cols != n) {
        b->why = "the matrix is not square";
        return WG_ESHAPE;
    }
    if (n > WGI_SPECTRAL_ORDER) {
        b->why = WGI_SPECTRAL_TOO_LARGE;
        return WG_ESHAPE;
    }
    b->out[0].rows = b->out[0].cols = n;
    b->saved_bytes = (n * n + n) * sizeof(double); /* V, w */
    b->work_bytes = larger(lapack_bytes(n), (3 * n * n + n) * sizeof(double));
    return WG_OK;
}

static wg_status function_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    const int m = wgi_int(n);
    const choice *const c = b->params;
    const wg_symmetric_function u = callee(c);
    const rule *const r = &rules[c->which];
    double *const v = b->saved, *const w = v + n * n, *const x = b->work;
    double *const out = b->out[0].value, *const f = x + n * n;
    if (n == 0) return WG_OK;
    if (!wgi_spectral_lower(n, b->in[0].value, b->in[0].ld, v)) return not_finite(b);
    const wg_status s = decompose(b, n, v, w, b->work);
    if (s != WG_OK) return s;
    const double noise = tie_of(n, w);
    for (size_t i = 0; i < n; i++) {
        const wg_status taken = r->take(c->p, &w[i], noise, &b->why);
        if (taken != WG_OK) return taken;
        f[i] = r->f(&u, w[i]);
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) x[i + j * n] = v[i + j * n] * f[j];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, m, m, 1, x, m, v, m, 0, out, m);
    (void)wgi_spectral_symmetric(n, out, n, out);
    return WG_OK;
}

/* to += V (D o V' sym(from) V) V': tangent and adjoint are the same. vw: V, then w. */
static wg_status derivative(wg_block *b, const choice *c, const double *vw, const double *from,
                            size_t from_ld, double *to, size_t to_ld) {
    const size_t n = b->in[0].rows;
    const wg_symmetric_function u = callee(c);
    const rule *const r = &rules[c->which];
    const double *const v = vw, *const w = v + n * n;
    double *const m = b->work, *const x = m + n * n, *const g = x + n * n;
    const double tie = tie_of(n, w);
    (void)wgi_spectral_symmetric(n, from, from_ld, m);
    into_basis(n, v, m, x, m);
    const double nothing = nothing_of(n, wgi_spectral_largest(n * n, m));
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            const double d = w[i] - w[j] <= tie ? r->slope(&u, 0.5 * w[i] + 0.5 * w[j])
                                                : r->divided(&u, w[j], w[i]);
            double *const e = &m[i + j * n];
            if (!isfinite(d)) {
                if (!(fabs(*e) <= nothing)) {
                    b->why = "the slope at an eigenvalue is not finite";
                    return WG_EDEGENERATE;
                }
                *e = 0;
            } else *e *= i == j ? 0.5 * d : d;
        }
    congruence(n, 1, v, CblasLower, m, x, g, to, to_ld);
    return WG_OK;
}

static wg_status function_derivative(wg_block *b, const double *from, size_t from_ld,
                                     double *to, size_t to_ld) {
    return derivative(b, b->params, b->saved, from, from_ld, to, to_ld);
}

static wg_status function_vjp(wg_block *b) {
    if (b->in[0].rows == 0 || b->in[0].bar == NULL) return WG_OK;
    return function_derivative(b, b->out[0].bar, b->out[0].bar_ld, b->in[0].bar,
                               b->in[0].bar_ld);
}

static wg_status function_jvp(wg_block *b) {
    const size_t n = b->in[0].rows, ld = b->out[0].bar_ld;
    if (n == 0) return WG_OK;
    for (size_t j = 0; j < n; j++) memset(b->out[0].bar + j * ld, 0, n * sizeof(double));
    if (b->in[0].bar == NULL) return WG_OK;
    return function_derivative(b, b->in[0].bar, b->in[0].bar_ld, b->out[0].bar, ld);
}

/* ---- the adjoint in operations on matrices: the derivative at A along W, as one of both ---- */

struct along {
    choice of;
    const double *vw; /* V and w of A */
};

static wg_status along_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->out[0].rows = b->out[0].cols = n;
    b->work_bytes = (6 * n * n + n) * sizeof(double);
    return WG_OK;
}
static wg_status along_value(wg_block *b) {
    const struct along *const p = b->params;
    const size_t n = b->in[0].rows;
    memset(b->out[0].value, 0, n * n * sizeof(double));
    if (n == 0) return WG_OK;
    return derivative(b, &p->of, p->vw, b->in[1].value, b->in[1].ld, b->out[0].value, n);
}

/* f[w_i, w_j, w_k], whatever their order. */
static double second_at(const rule *r, const wg_symmetric_function *u, double x, double y,
                        double z) {
    const double low = fmin(x, fmin(y, z)), high = fmax(x, fmax(y, z));
    const double mid = fmax(fmin(x, y), fmin(fmax(x, y), z));
    return r->second(u, low, mid, high);
}

/* t_ij = sum over k of f[w_i, w_k, w_j] (p_ik q_kj + q_ik p_kj), the lower triangle with half the
 * diagonal; p, q symmetric. 0: an infinite difference is not multiplied by 0. */
static int both_along(const rule *r, const wg_symmetric_function *u, size_t n, const double *w,
                      const double *p, const double *q, double *t) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) {
                const double by = p[k + i * n] * q[k + j * n] + q[k + i * n] * p[k + j * n];
                const double d = by != 0 ? second_at(r, u, w[i], w[k], w[j]) : 0;
                if (by != 0 && !isfinite(d)) return 0;
                sum += d * by;
            }
            t[i + j * n] = i == j ? 0.5 * sum : sum;
        }
    return 1;
}

static wg_status along_jvp(wg_block *b) {
    const struct along *const p = b->params;
    const size_t n = b->in[0].rows;
    const wg_symmetric_function u = callee(&p->of);
    const double *const v = p->vw, *const w = v + n * n;
    double *const out = b->out[0].bar;
    memset(out, 0, n * n * sizeof *out);
    if (n == 0) return WG_OK;
    if (b->in[1].bar != NULL) {
        const wg_status s = derivative(b, &p->of, p->vw, b->in[1].bar, b->in[1].bar_ld, out, n);
        if (s != WG_OK) return s;
    }
    if (b->in[0].bar == NULL) return WG_OK;
    double *const x = b->work, *const g = x + n * n, *const of_w = g + n * n;
    double *const of_a = of_w + n * n, *const t = of_a + n * n;
    (void)wgi_spectral_symmetric(n, b->in[1].value, b->in[1].ld, of_w);
    into_basis(n, v, of_w, x, of_w);
    (void)wgi_spectral_symmetric(n, b->in[0].bar, b->in[0].bar_ld, of_a);
    into_basis(n, v, of_a, x, of_a);
    if (!both_along(&rules[p->of.which], &u, n, w, of_w, of_a, t)) {
        b->why = "the second derivative at an eigenvalue is not finite";
        return WG_EDEGENERATE;
    }
    congruence(n, 1, v, CblasLower, t, x, g, out, n);
    return WG_OK;
}

static wg_status function_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"derivative of a symmetric function",
                                   0,
                                   along_shape,
                                   along_value,
                                   NULL,
                                   along_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const struct along p = {*(const choice *)b->params, b->saved};
    const wg_mat of[2] = {in[0], bar[0]};
    (void)out;
    return wg_apply(t, &op, &p, sizeof p, 2, of, 1, back);
}

#define FUNCTION(op, name, adjoint)                                                            \
    const wg_block_op wgi_op_symmetric_##op = {"wg_symmetric_" #name,                          \
                                                 WG_OP_TRANS,                                  \
                                                 function_shape,                               \
                                                 function_value,                               \
                                                 function_vjp,                                 \
                                                 function_jvp,                                 \
                                                 NULL,                                         \
                                                 adjoint,                                      \
                                                 NULL}
FUNCTION(exp, exp, function_adjoint);
FUNCTION(log, log, function_adjoint);
FUNCTION(sqrt, sqrt, function_adjoint);
FUNCTION(inverse_sqrt, inverse_sqrt, function_adjoint);
FUNCTION(power, power, function_adjoint);
FUNCTION(apply, apply, NULL); /* of the user's function there is no second derivative, or there is */
FUNCTION(apply_twice, apply, function_adjoint);

static wg_mat function(wg_tape *t, const wg_block_op *op, wg_mat a, int which, double p,
                       const wg_symmetric_function *user) {
    choice c;
    wg_mat f;
    memset(&c, 0, sizeof c);
    c.which = which, c.p = p;
    if (user != NULL) c.user = *user;
    (void)wg_apply(t, op, &c, sizeof c, 1, &a, 1, &f);
    return f;
}

wg_mat wg_symmetric_exp(wg_tape *t, wg_mat a) {
    return function(t, &wgi_op_symmetric_exp, a, EXP, 0, NULL);
}
wg_mat wg_symmetric_log(wg_tape *t, wg_mat a) {
    return function(t, &wgi_op_symmetric_log, a, LOG, 0, NULL);
}
wg_mat wg_symmetric_sqrt(wg_tape *t, wg_mat a) {
    return function(t, &wgi_op_symmetric_sqrt, a, SQRT, 0, NULL);
}
wg_mat wg_symmetric_inverse_sqrt(wg_tape *t, wg_mat a) {
    return function(t, &wgi_op_symmetric_inverse_sqrt, a, INVERSE_SQRT, 0, NULL);
}
wg_mat wg_symmetric_power(wg_tape *t, wg_mat a, double p) {
    return function(t, &wgi_op_symmetric_power, a, POWER, p, NULL);
}
wg_mat wg_symmetric_apply(wg_tape *t, wg_mat a, wg_symmetric_function f) {
    return function(t, f.curve != NULL ? &wgi_op_symmetric_apply_twice : &wgi_op_symmetric_apply,
                    a, USER, 0, &f);
}

/* SPDX-License-Identifier: MIT */
/* Eigenvalues and eigenvectors of any square matrix, complex numbers as two real matrices.
 *
 * Letters: n order, A V = V diag(w), columns v_j of V of Euclidean norm 1 with a real element
 * of the largest magnitude, at row k_j (as dgeev leaves them), a bar for adjoints, a dot for
 * tangents, * for conjugate transposes; E_ij = 1/(w_j - w_i) for i != j, E_ii = 0; o is the
 * product element by element.
 *
 *     M = V^-1 A. V,  w. = diag(M),  F = V (E o M),
 *     v._j = f_j - (Re(v_j* f_j) + i Im(F_kj)/V_kj) v_j: the norm stays 1, V_kj real
 *     c_j = v__j* v_j,  F_ = V_ - V diag(Re c), and i Im(c_j)/V_kj more at each (k_j, j)
 *     A_ += Re(V^-* (diag(w_) + conj(E) o V*F_) V*)
 *
 * A real eigenvalue is simple as long as it is isolated, and stays real, with its vector.
 * Sources: Giles 2008, 3.1, for w and the part across; the two conditions, differentiated, for
 * the part along v_j (Magnus 1985, for conditions of such kind). */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/reduce.h>
#include <wengert/solve.h>
#include <wengert/spectral.h>
#include "blas.h"
#include "point.h"
#include "spectral.h"
#include "traits.h"
#include "whole.h"

typedef double complex number;

/* CMPLX, which not every compiler has. */
static number complex_of(double re, double im) {
    const union {
        double part[2];
        number z;
    } both = {{re, im}};
    return both.z;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static wg_status finite_operand(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    if (wgi_spectral_finite(a->rows, a->cols, a->value, a->ld)) return WG_OK;
    return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
}

/* ---- eigenvalues and eigenvectors; results w, Re and Im, and, where there are four, V
 * likewise ---- */

/* Residuals: w, V, V^-1, the rows k_j, and whether V has an inverse that is of any use. */
typedef struct eigen {
    size_t n;
    number *w, *v, *inverse;
    double *row, *sound;
} eigen;

/* Params: residuals that were found already; NULL: they are in the block. */
struct found {
    const double *at;
};
static size_t residual_doubles(size_t n) { return 4 * n * n + 3 * n + 1; }
static eigen eigen_of(const wg_block *b) {
    const struct found *const p = b->params;
    const size_t n = b->in[0].rows;
    /* only `value` writes, and only to what is its own */
    double *const at = p->at != NULL ? (double *)(uintptr_t)p->at : b->saved;
    eigen e = {.n = n, .w = (number *)(void *)at};
    e.v = e.w + n, e.inverse = e.v + n * n;
    e.row = (double *)(void *)(e.inverse + n * n), e.sound = e.row + n;
    return e;
}

/* Of dgeev and zgetri. */
static size_t lapack_doubles(size_t n) { return 130 * n + 4200; }

static wg_status eigen_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (b->in[0].cols != n) return wgi_block_refuse(b, WG_ESHAPE, "the matrix is not square");
    if (n > WGI_SPECTRAL_ORDER) return wgi_block_refuse(b, WG_ESHAPE, WGI_SPECTRAL_TOO_LARGE);
    for (size_t k = 0; k < b->outputs; k++) b->out[k].rows = n, b->out[k].cols = k < 2 ? 1 : n;
    if (((const struct found *)b->params)->at == NULL)
        b->saved_bytes = residual_doubles(n) * sizeof(double);
    b->work_bytes = larger(2 * n * n + 2 * n + lapack_doubles(n), 6 * n * n) * sizeof(double) +
                    n * sizeof(lapack_int);
    return WG_OK;
}

static double norm_1(size_t n, const number *a) {
    double most = 0;
    for (size_t j = 0; j < n; j++) {
        double s = 0;
        for (size_t i = 0; i < n; i++) s += cabs(a[i + j * n]);
        most = fmax(most, s);
    }
    return most;
}

/* Derivatives are wrong by DBL_EPSILON times the square of the condition of V: beyond this one
 * they have less than three or four digits. */
#define MOST_CONDITION 0x1p20

/* V^-1; *sound: A has a full set of eigenvectors, as far as is known. */
static void invert(const eigen *e, double *work, lapack_int *pivot) {
    const size_t n = e->n;
    const int m = wgi_int(n), room = wgi_int(lapack_doubles(n) / 2);
    memcpy(e->inverse, e->v, n * n * sizeof *e->v);
    *e->sound = 0;
    if (LAPACKE_zgetrf_work(LAPACK_COL_MAJOR, m, m, e->inverse, m, pivot) != 0) return;
    if (LAPACKE_zgetri_work(LAPACK_COL_MAJOR, m, e->inverse, m, pivot, (number *)(void *)work,
                            room) != 0)
        return;
    *e->sound = norm_1(n, e->v) * norm_1(n, e->inverse) < MOST_CONDITION;
}

static void to_results(const wg_block *b, const eigen *e) {
    for (size_t k = 0; k < b->outputs; k++) {
        const number *const from = k < 2 ? e->w : e->v;
        for (size_t i = 0; i < e->n * b->out[k].cols; i++)
            b->out[k].value[i] = k % 2 == 0 ? creal(from[i]) : cimag(from[i]);
    }
}

static wg_status eigen_value(wg_block *b) {
    const eigen e = eigen_of(b);
    const size_t n = e.n;
    const int m = wgi_int(n);
    double *const a = b->work, *const v = a + n * n, *const re = v + n * n, *const im = re + n,
                  *const work = im + n;
    if (n == 0) return WG_OK;
    const wg_status s = finite_operand(b);
    if (s != WG_OK) return s;
    wgi_spectral_copy(n, n, b->in[0].value, b->in[0].ld, a);
    b->info = LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'V', m, a, m, re, im, NULL, 1, v, m,
                                 work, wgi_int(lapack_doubles(n)));
    if (b->info != 0) return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
    for (size_t j = 0; j < n; j++) {
        const int second = im[j] < 0;
        const double *const x = v + (second ? j - 1 : j) * n, *const y = x + n;
        double most = -1;
        e.w[j] = complex_of(re[j], im[j]);
        for (size_t i = 0; i < n; i++) {
            e.v[i + j * n] = complex_of(x[i], im[j] == 0 ? 0 : second ? -y[i] : y[i]);
            if (cimag(e.v[i + j * n]) == 0 && fabs(x[i]) > most)
                most = fabs(x[i]), e.row[j] = (double)i;
        }
    }
    to_results(b, &e);
    invert(&e, work, (lapack_int *)(void *)(work + lapack_doubles(n)));
    return WG_OK;
}

static wg_status defective(wg_block *b) {
    return wgi_block_refuse(
        b, WG_EDEGENERATE, "the eigenvectors are dependent, or nearly: there is no derivative");
}
static wg_status repeated(wg_block *b) {
    return wgi_block_refuse(b, WG_EDEGENERATE,
                            "the eigenvectors of a repeated eigenvalue have no derivative");
}

static void multiply(size_t n, CBLAS_TRANSPOSE ta, const number *a, CBLAS_TRANSPOSE tb,
                     const number *b, number *c) {
    const number one = 1, zero = 0;
    const int m = wgi_int(n);
    cblas_zgemm(CblasColMajor, ta, tb, m, m, m, &one, a, m, b, m, &zero, c, m);
}

static double largest_of(size_t count, const number *x) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, cabs(x[i]));
    return most;
}

/* x = E o x, or conj(E) o x, its diagonal 0. Over differences that may be rounding, what may be
 * rounding counts as 0. 0: an eigenvalue is repeated where it matters. */
static int divide(const eigen *e, int conjugate, number *x) {
    const size_t n = e->n;
    const double size = largest_of(n, e->w), tie = (double)n * DBL_EPSILON * size;
    const double nothing = 8 * (double)n * DBL_EPSILON * largest_of(n * n, x);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            const number gap = e->w[j] - e->w[i];
            number *const at = &x[i + j * n];
            if (i == j || (cabs(gap) <= WGI_SPECTRAL_NEAR * size && cabs(*at) <= nothing))
                *at = 0;
            else if (cabs(gap) <= tie) return 0;
            else *at /= conjugate ? conj(gap) : gap;
        }
    return 1;
}

/* Element i of results k and k + 1, their bars, as one number; of a real eigenvalue the
 * imaginary part does not count. */
static number bar_at(const wg_block *b, size_t k, const eigen *e, size_t i) {
    const size_t j = k == 0 ? i : i / e->n;
    return complex_of(b->out[k].bar[i], cimag(e->w[j]) != 0 ? b->out[k + 1].bar[i] : 0);
}

static int vectors_count(const wg_block *b) {
    const size_t n = b->in[0].rows;
    return b->outputs == 4 && !(wgi_spectral_zero(n, n, b->out[2].bar, n) &&
                                wgi_spectral_zero(n, n, b->out[3].bar, n));
}

static wg_status eigen_vjp(wg_block *b) {
    const eigen e = eigen_of(b);
    const size_t n = e.n;
    number *const f = b->work, *const m = f + n * n, *const x = m + n * n;
    if (n == 0 || b->in[0].bar == NULL) return WG_OK;
    if (*e.sound == 0) return defective(b);
    memset(m, 0, n * n * sizeof *m);
    if (vectors_count(b)) {
        for (size_t j = 0; j < n; j++) {
            number c = 0;
            const size_t k = (size_t)e.row[j] + j * n;
            for (size_t i = j * n; i < (j + 1) * n; i++) {
                f[i] = bar_at(b, 2, &e, i);
                c += conj(f[i]) * e.v[i];
            }
            for (size_t i = j * n; i < (j + 1) * n; i++) f[i] -= creal(c) * e.v[i];
            if (cimag(e.w[j]) != 0) f[k] += complex_of(0, cimag(c) / creal(e.v[k]));
        }
        multiply(n, CblasConjTrans, e.v, CblasNoTrans, f, m);
        if (!divide(&e, 1, m)) return repeated(b);
    }
    for (size_t j = 0; j < n; j++) m[j * (n + 1)] = bar_at(b, 0, &e, j);
    multiply(n, CblasNoTrans, m, CblasConjTrans, e.v, x);
    multiply(n, CblasConjTrans, e.inverse, CblasNoTrans, x, f);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            b->in[0].bar[i + j * b->in[0].bar_ld] += creal(f[i + j * n]);
    return WG_OK;
}

static wg_status eigen_jvp(wg_block *b) {
    const eigen e = eigen_of(b);
    const size_t n = e.n;
    number *const f = b->work, *const m = f + n * n, *const x = m + n * n;
    for (size_t k = 0; k < b->outputs; k++)
        memset(b->out[k].bar, 0, n * b->out[k].cols * sizeof(double));
    if (n == 0 || b->in[0].bar == NULL ||
        wgi_spectral_zero(n, n, b->in[0].bar, b->in[0].bar_ld))
        return WG_OK;
    if (*e.sound == 0) return defective(b);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) f[i + j * n] = b->in[0].bar[i + j * b->in[0].bar_ld];
    multiply(n, CblasNoTrans, f, CblasNoTrans, e.v, x);
    multiply(n, CblasNoTrans, e.inverse, CblasNoTrans, x, m);
    for (size_t j = 0; j < n; j++) {
        b->out[0].bar[j] = creal(m[j * (n + 1)]);
        b->out[1].bar[j] = cimag(e.w[j]) != 0 ? cimag(m[j * (n + 1)]) : 0;
    }
    if (b->outputs == 2) return WG_OK;
    if (!divide(&e, 0, m)) return repeated(b);
    multiply(n, CblasNoTrans, e.v, CblasNoTrans, m, f);
    for (size_t j = 0; j < n; j++) {
        const int is_real = cimag(e.w[j]) == 0;
        const size_t k = (size_t)e.row[j] + j * n;
        double along = 0;
        for (size_t i = j * n; i < (j + 1) * n; i++) along += creal(conj(e.v[i]) * f[i]);
        const number d = complex_of(along, is_real ? 0 : cimag(f[k]) / creal(e.v[k]));
        for (size_t i = j * n; i < (j + 1) * n; i++) {
            const number vt = f[i] - d * e.v[i];
            b->out[2].bar[i] = creal(vt), b->out[3].bar[i] = is_real ? 0 : cimag(vt);
        }
    }
    return WG_OK;
}

/* ---- the adjoint in operations on matrices: complex numbers are pairs ---- */

typedef struct pair {
    wg_mat re, im;
} pair;

static wg_mat number_of(wg_tape *t, double x) { return wg_mat_fill(t, 1, 1, x); }

/* a*b, or a b*. */
static pair left_turned(wg_tape *t, pair a, pair b) {
    return (pair){
        wg_gemm(t, 'T', 'N', 1, a.re, b.re, 1, wg_gemm(t, 'T', 'N', 1, a.im, b.im, 0, a.re)),
        wg_gemm(t, 'T', 'N', 1, a.re, b.im, 1, wg_gemm(t, 'T', 'N', -1, a.im, b.re, 0, a.re))};
}
static pair right_turned(wg_tape *t, pair a, pair b) {
    return (pair){
        wg_gemm(t, 'N', 'T', 1, a.re, b.re, 1, wg_gemm(t, 'N', 'T', 1, a.im, b.im, 0, a.re)),
        wg_gemm(t, 'N', 'T', 1, a.im, b.re, 1, wg_gemm(t, 'N', 'T', -1, a.re, b.im, 0, a.re))};
}

/* Re(v^-* x), by [re' im'; -im' re'] in the place of v*. */
static wg_mat real_solution(wg_tape *t, pair v, pair x) {
    const size_t n = v.re.rows;
    const wg_mat re = wg_mat_transpose(v.re), im = wg_mat_transpose(v.im);
    const wg_mat upper[2] = {re, im}, lower[2] = {wg_mat_scale(t, -1, im), re};
    const wg_mat halves[2] = {wg_concat_cols(t, 2, upper), wg_concat_cols(t, 2, lower)};
    const wg_mat right[2] = {x.re, x.im};
    const wg_mat y = wg_solve(t, wg_concat_rows(t, 2, halves), wg_concat_rows(t, 2, right));
    return y.value != NULL ? wg_mat_block(y, 0, 0, n, n) : wg_mat_failed(n, n);
}

/* x y + z w */
static wg_mat sum_of(wg_tape *t, wg_mat x, wg_mat y, double f, wg_mat z, wg_mat w) {
    return wg_mat_axpby(t, 1, wg_mat_mul(t, x, y), f, wg_mat_mul(t, z, w));
}
/* The differences w_j - w_i. */
static wg_mat gaps_of(wg_tape *t, wg_mat w) { return wg_mat_sub(t, wg_mat_transpose(w), w); }
static pair over_unit(wg_tape *t, pair x, wg_mat unit) {
    return (pair){wg_mat_div(t, x.re, unit), wg_mat_div(t, x.im, unit)};
}

/* conj(E) o V*F_. w: over the unit, which is about the largest eigenvalue, so that squares stay
 * within the range of numbers; pick: 1 at (k_j, j), 0 in columns of real eigenvalues; real: 1
 * in those. */
static pair across(wg_tape *t, wg_mat unit, pair w, pair v, pair bar, wg_mat pick,
                   wg_mat real) {
    const wg_mat along =
        wg_mat_sum_axis(t, sum_of(t, bar.re, v.re, 1, bar.im, v.im), WG_EACH_COL);
    const wg_mat phase =
        wg_mat_sum_axis(t, sum_of(t, bar.re, v.im, -1, bar.im, v.re), WG_EACH_COL);
    const wg_mat largest =
        wg_mat_add(t, wg_mat_sum_axis(t, wg_mat_mul(t, pick, v.re), WG_EACH_COL), real);
    const wg_mat more = wg_mat_mul(t, pick, wg_mat_div(t, phase, largest));
    const pair f = {wg_mat_sub(t, bar.re, wg_mat_mul(t, v.re, along)),
                    wg_mat_add(t, wg_mat_sub(t, bar.im, wg_mat_mul(t, v.im, along)), more)};
    const pair g = left_turned(t, v, f), gap = {gaps_of(t, w.re), gaps_of(t, w.im)};
    const wg_mat square = wg_mat_add(t, sum_of(t, gap.re, gap.re, 1, gap.im, gap.im),
                                     wg_mat_identity(t, w.re.rows));
    const wg_mat re = wg_mat_div(t, sum_of(t, gap.re, g.re, -1, gap.im, g.im), square),
                 im = wg_mat_div(t, sum_of(t, gap.re, g.im, 1, gap.im, g.re), square);
    return over_unit(t, (pair){re, im}, unit);
}

/* w and V as they were found, as an operation on A. */
static wg_status found_value(wg_block *b) {
    const eigen e = eigen_of(b);
    to_results(b, &e);
    return WG_OK;
}
static wg_status find_again(wg_tape *t, const wg_block *b, wg_mat a, wg_mat *out) {
    static const wg_block_op op = {"eigenvectors", 0,    eigen_shape, found_value, NULL,
                                   eigen_jvp,      NULL, NULL,        NULL};
    const struct found p = {(const double *)(const void *)eigen_of(b).w};
    return wg_apply(t, &op, &p, sizeof p, 1, &a, 4, out);
}

static int any_repeated(const eigen *e) {
    const double near = WGI_SPECTRAL_NEAR * largest_of(e->n, e->w);
    for (size_t j = 0; j < e->n; j++)
        for (size_t i = 0; i < j; i++)
            if (!(cabs(e->w[i] - e->w[j]) > near)) return 1;
    return 0;
}

static wg_status eigen_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const eigen e = eigen_of(b);
    const size_t n = e.n;
    wg_mat again[4];
    if (n == 0) return WG_OK;
    if (*e.sound == 0) return defective(b);
    double *const turns = wg_tape_keep(t, (n * n + 2 * n) * sizeof *turns, NULL);
    if (turns == NULL) return wg_tape_status(t);
    double *const complex_ones = turns + n * n, *const real_ones = complex_ones + n;
    memset(turns, 0, n * n * sizeof *turns);
    for (size_t j = 0; j < n; j++) {
        complex_ones[j] = cimag(e.w[j]) != 0, real_ones[j] = 1 - complex_ones[j];
        turns[(size_t)e.row[j] + j * n] = complex_ones[j];
    }
    const wg_mat moves = wg_mat_constant(t, 1, n, complex_ones, 1);
    const pair of_w = {bar[0], wg_mat_mul(t, bar[1], wg_mat_transpose(moves))};
    pair m = {wg_diag(t, of_w.re), wg_diag(t, of_w.im)};
    const int vectors = b->outputs == 4 && !(wgi_spectral_untouched(t, bar[2]) &&
                                             wgi_spectral_untouched(t, bar[3]));
    if (!vectors) {
        const wg_status s = find_again(t, b, in[0], again);
        if (s != WG_OK) return s;
        out = again;
    } else if (any_repeated(&e)) return repeated(b);
    const pair v = {out[2], out[3]};
    if (vectors) {
        const pair of_v = {bar[2], wg_mat_mul(t, bar[3], moves)};
        const double most = largest_of(n, e.w);
        const wg_mat unit = number_of(t, most > 0 ? ldexp(1, ilogb(most)) : 1);
        const pair more =
            across(t, unit, over_unit(t, (pair){out[0], out[1]}, unit), v, of_v,
                   wg_mat_constant(t, n, n, turns, n), wg_mat_constant(t, 1, n, real_ones, 1));
        m = (pair){wg_mat_add(t, m.re, more.re), wg_mat_add(t, m.im, more.im)};
    }
    back[0] = real_solution(t, v, right_turned(t, m, v));
    return wg_tape_status(t);
}

/* ---- in functions: what is real, and which element of a vector, is found at every
 * point ---- */

/* 1 at (k_j, j), 0 in columns of real eigenvalues: the first of the largest that are real. */
static wg_mat picked(wg_tape *t, pair v, wg_mat moves) {
    const size_t n = v.re.rows;
    double *const less = wg_tape_keep(t, n * sizeof *less, NULL);
    for (size_t i = 0; less != NULL && i < n; i++) less[i] = 1 - 0x1p-50 * (double)i;
    const wg_mat size =
        wg_mat_mul(t, wg_mat_fabs(t, v.re), wg_mat_constant_borrowed(t, n, 1, less, n));
    const wg_mat real = (wg_mat_select_eq)(t, v.im, number_of(t, 0), size, number_of(t, -1));
    const wg_mat most = wg_mat_max_axis(t, real, WG_EACH_COL);
    return wg_mat_mul(t, moves,
                      (wg_mat_select_ge)(t, real, most, number_of(t, 1), number_of(t, 0)));
}

/* 1, and NaN where two eigenvalues, over their unit, agree in half of their digits or more. */
static wg_mat apart(wg_tape *t, pair w) {
    const wg_mat re = gaps_of(t, w.re), im = gaps_of(t, w.im);
    const wg_real most = wg_mat_max(t, sum_of(t, w.re, w.re, 1, w.im, w.im));
    const wg_mat one = wg_mat_from_real(t, most), own = wg_mat_identity(t, w.re.rows);
    const wg_mat gap = wg_mat_add(t, sum_of(t, re, re, 1, im, im), wg_mat_mul(t, own, one));
    return (wg_mat_select_gt)(t, gap, wg_mat_scale(t, 0x1p-52, one), number_of(t, 1),
                              number_of(t, NAN));
}

/* 1, or NaN where the eigenvectors are dependent, or nearly. */
static wg_mat independent(wg_tape *t, pair v) {
    const wg_mat upper[2] = {v.re, v.im}, lower[2] = {wg_mat_scale(t, -1, v.im), v.re};
    const wg_mat halves[2] = {wg_concat_cols(t, 2, upper), wg_concat_cols(t, 2, lower)};
    const wg_mat all = wg_concat_rows(t, 2, halves);
    const wg_real condition = wg_let(t, wg_mul(wg_mat_norm_column_sum(t, all),
                                               wg_mat_norm_column_sum(t, wg_inverse(t, all))));
    return wg_mat_from_real(t, wg_let(t, wg_select_lt(condition, MOST_CONDITION, 1, NAN)));
}

static wg_status eigen_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    const pair found = {out[0], out[1]}, v = {out[2], out[3]};
    (void)b;
    if (in[0].rows == 0) return WG_OK;
    const wg_mat unit =
        wgi_spectral_unit(t, wg_mat_add(t, wg_mat_fabs(t, found.re), wg_mat_fabs(t, found.im)));
    const pair w = over_unit(t, found, unit);
    const wg_mat moves = (wg_mat_select_ne)(t, wg_mat_transpose(w.im), number_of(t, 0),
                                            number_of(t, 1), number_of(t, 0));
    const wg_mat good = apart(t, w);
    pair m = {wg_diag(t, bar[0]), wg_diag(t, wg_mat_mul(t, bar[1], wg_mat_transpose(moves)))};
    if (!wgi_spectral_untouched(t, bar[2]) || !wgi_spectral_untouched(t, bar[3])) {
        const pair of_v = {bar[2], wg_mat_mul(t, bar[3], moves)};
        const pair more = across(t, unit, w, v, of_v, picked(t, v, moves),
                                 wg_mat_sub(t, number_of(t, 1), moves));
        m = (pair){wg_mat_add(t, m.re, wg_mat_mul(t, good, more.re)),
                   wg_mat_add(t, m.im, wg_mat_mul(t, good, more.im))};
    }
    const wg_mat y =
        wg_mat_mul(t, independent(t, v), real_solution(t, v, right_turned(t, m, v)));
    const wg_real q = wg_let(t, wg_sub(wg_mat_sum(t, good), (double)(in[0].rows * in[0].rows)));
    back[0] = wgi_spectral_once(t, y, in[0], wg_mat_from_real(t, q));
    return wg_tape_status(t);
}

static const struct found not_found = {NULL};
static const wgi_traits of_eig = {.whole = &wgi_whole_eig};
#define EIGEN(name)                                                                            \
    const wg_block_op wgi_op_##name = {                                                        \
        "wg_" #name, 0,    eigen_shape,   eigen_value, eigen_vjp,                              \
        eigen_jvp,   NULL, eigen_adjoint, &of_eig}
EIGEN(eigvals);
EIGEN(eig);
const wgi_whole wgi_whole_eig = {&wgi_op_eig,      "nn", "n1n1nnnn", eigen_rule, &not_found,
                                 sizeof not_found, 0,    25};

static void give(wg_mat *to, wg_mat a) {
    if (to != NULL) *to = a;
}

wg_status wg_eigvals(wg_tape *t, wg_mat a, wg_mat *re, wg_mat *im) {
    wg_mat out[2];
    const wg_status s =
        wg_apply(t, &wgi_op_eigvals, &not_found, sizeof not_found, 1, &a, 2, out);
    give(re, out[0]), give(im, out[1]);
    return s;
}

wg_status wg_eig(wg_tape *t, wg_mat a, wg_mat *re, wg_mat *im, wg_mat *v_re, wg_mat *v_im) {
    wg_mat out[4];
    const wg_status s = wg_apply(t, &wgi_op_eig, &not_found, sizeof not_found, 1, &a, 4, out);
    give(re, out[0]), give(im, out[1]), give(v_re, out[2]), give(v_im, out[3]);
    return s;
}

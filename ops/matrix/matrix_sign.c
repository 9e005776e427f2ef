/* SPDX-License-Identifier: MIT */
/* The sign of a square matrix.
 *
 * Letters: n order, A = Q T Q' a real Schur form with the eigenvalues of negative real part
 * first (T11, then T22, T12 beside), S = sign(A), N = S A, whose eigenvalues have positive real
 * parts; L(A, E) the Frechet derivative.
 *
 *     S = Q [-I Z; 0 I] Q',  T11 Z - Z T22 = -2 T12:  S A = A S
 *     X = L(A, E):  N X + X N = E - S E S;  an adjoint is L(A', S_)
 *     N'H + H N = I:  how far that can go
 *
 * Source: Higham 2008, Functions of Matrices, 5.1 to 5.3; Kenney and Laub 1991; Van Loan 1985,
 * How near is a stable matrix to an unstable matrix? (H). */
#include <float.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/spectral.h>
#include "matrix_function.h"
#include "schur.h"
#include "traits.h"
#include "whole.h"

/* saved: Q, then N in its basis. */
static wg_status sign_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (n > WGI_SPECTRAL_ORDER) return wgi_block_refuse(b, WG_ESHAPE, WGI_SPECTRAL_TOO_LARGE);
    b->saved_bytes = 2 * n * n * sizeof(double);
    b->work_bytes =
        (3 * n * n + 2 * n + 70 * n + 4200) * sizeof(double) + n * sizeof(lapack_logical);
    return wgi_square_shape(b);
}

static lapack_logical is_left(const double *re, const double *im) {
    (void)im;
    return *re < 0;
}

/* Of S, in parts of it. */
#define MOST_ERROR 0x1p-6

static wg_status refuse(wg_block *b) {
    b->info = 0;
    return wgi_block_refuse(
        b, WG_ESINGULAR,
        "an eigenvalue is on the imaginary axis, or not known to be beside it");
}

static wg_status sign_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    const int m = wgi_int(n);
    double *const q = b->saved, *const t = q + n * n, *const s = b->work,
                  *const low = s + n * n;
    double *const room = low + n * n, *const re = room + n * n, *const im = re + n,
                  *const work = im + n;
    lapack_int count = 0;
    if (n == 0) return WG_OK;
    const wg_status status = wgi_square_finite(b);
    if (status != WG_OK) return status;
    wgi_spectral_copy(n, n, b->in[0].value, b->in[0].ld, t);
    b->info = LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', 'S', is_left, m, t, m, &count, re, im,
                                 q, m, work, wgi_int(70 * n + 4200),
                                 (lapack_logical *)(void *)(work + 70 * n + 4200));
    if (b->info > m)
        return refuse(b); /* rounding moves an eigenvalue across when it is reordered */
    if (b->info != 0) return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
    const double error = (double)n * DBL_EPSILON * wgi_norm_1(n, t, n);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(re[i]) > error) || (re[i] < 0) != (i < (size_t)count)) return refuse(b);
    const size_t k = (size_t)count, rest = n - k;
    double *const z = s + k * n;
    wgi_square_identity(n, s);
    for (size_t i = 0; i < k; i++) s[i * (n + 1)] = -1;
    for (size_t j = 0; j < rest; j++) {
        for (size_t i = 0; i < k; i++) z[i + j * n] = -2 * t[i + (k + j) * n];
        for (size_t i = 0; i < rest; i++) low[i + j * n] = -t[k + i + (k + j) * n];
    }
    if (wgi_schur_sylvester('N', 'N', k, rest, t, n, low, n, z, n)) return refuse(b);
    wgi_schur_turn('N', 'T', n, n, q, q, s, n, b->out[0].value, room);
    if (!wgi_spectral_finite(n, n, b->out[0].value, n)) return refuse(b);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, s, n, t, n, 0, room, n);
    for (size_t j = 0; j < n;
         j++) /* what is below the blocks of the diagonal is 0 there, too */
        for (size_t i = 0; i < n; i++) t[i + j * n] = i > j + 1 ? 0 : room[i + j * n];
    /* N is 1/|H| or more away from eigenvalues on the axis, and S changes by |S| |H| times
     * an error */
    wgi_square_identity(n, low);
    if (wgi_schur_sylvester('T', 'N', n, n, t, n, t, n, low, n)) return refuse(b);
    return error * wgi_norm_1(n, s, n) * wgi_norm_1(n, low, n) < MOST_ERROR ? WG_OK : refuse(b);
}

static wg_status sign_derivative(wg_block *b, CBLAS_TRANSPOSE op, const double *e, size_t lde) {
    const size_t n = b->in[0].rows;
    const char o = op == CblasTrans ? 'T' : 'N';
    const double *const q = b->saved, *const t = q + n * n, *const s = b->out[0].value;
    double *const x = b->work, *const y = x + n * n, *const room = y + n * n;
    wgi_square_zero(n, x, n);
    for (size_t j = 0; j < n; j++) memcpy(x + j * n, e + j * lde, n * sizeof *x);
    wgi_product(n, op, CblasNoTrans, 1, s, n, e, lde, 0, y, n);
    wgi_product(n, CblasNoTrans, op, -1, y, n, s, n, 1, x, n);
    wgi_schur_turn('T', 'N', n, n, q, q, x, n, x, room);
    if (wgi_schur_sylvester(o, o, n, n, t, n, t, n, x, n))
        return wgi_block_refuse(b, WG_EDEGENERATE,
                                "the derivative is not within the range of numbers");
    wgi_schur_turn('N', 'T', n, n, q, q, x, n, x, room);
    return WG_OK;
}

static wg_status sign_vjp(wg_block *b) { return wgi_frechet_vjp(b, sign_derivative); }
static wg_status sign_jvp(wg_block *b) { return wgi_frechet_jvp(b, sign_derivative); }

/* Y - S'Y S' with N'Y + Y N' = W */
static wg_status sign_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    const wg_mat s = out[0];
    (void)b;
    if (s.rows == 0) return WG_OK;
    const wg_mat turned = wg_mat_transpose(wg_matmul(t, s, in[0]));
    const wg_mat y = wg_sylvester(t, turned, turned, bar[0]);
    back[0] = wg_gemm(t, 'N', 'T', -1, wg_gemm(t, 'T', 'N', 1, s, y, 0, y), s, 1, y);
    return wg_tape_status(t);
}

static const wgi_traits of_signm = {.whole = &wgi_whole_signm};
const wg_block_op wgi_op_signm = {"wg_signm", 0,    sign_shape,   sign_value, sign_vjp,
                                  sign_jvp,   NULL, sign_adjoint, &of_signm};
const wgi_whole wgi_whole_signm = {&wgi_op_signm, "nn", "nn", NULL, NULL, 0, 0, 35};

wg_mat wg_signm(wg_tape *t, wg_mat a) {
    return wgi_apply_one(t, &wgi_op_signm, NULL, 0, 1, &a);
}

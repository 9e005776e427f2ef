/* SPDX-License-Identifier: MIT */
/* The matrix equations of Sylvester and Lyapunov.
 *
 * Letters: A, B, C (or Q) operands, X the solution, a bar for adjoints, a dot for tangents,
 * A = U S U', B = V T V' real Schur forms, kept for both sweeps, R any right-hand side.
 *
 *     A X + X B = C      C_ += Y, A_ -= Y X', B_ -= X'Y,      A'Y + Y B' = X_
 *                        A X. + X. B = C. - A.X - X B.
 *     A X + X A' = Q     Q_ += Y, A_ -= Y X' + Y'X,           A'Y + Y A = X_
 *                        A X. + X. A' = Q. - A.X - X A.'
 *     X = A X A' + Q     Q_ += Y, A_ += Y A X' + Y'A X,       Y = A'Y A + X_
 *                        X. = A X. A' + Q. + A.X A' + A X A.'
 *
 * The discrete one becomes the continuous one by K = (A - I)(A + I)^-1, I - K = 2 (A + I)^-1:
 * K X + X K' = -(I - K) Q (I - K)'/2. A + I is singular only where no X is (an eigenvalue -1
 * times itself is 1). K has the Schur vectors of A. Source: Kao and Hennequin 2020. */
#include "blas.h"
#include "schur.h"
#include "spectral.h"

#include <wengert/spectral.h>

#include <string.h>

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* c = alpha op(a) op(b) + beta c, of packed or other matrices. */
static void product(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, size_t m, size_t n, size_t k,
                    double alpha, const double *a, size_t lda, const double *b, size_t ldb,
                    double beta, double *c, size_t ldc) {
    cblas_dgemm(CblasColMajor, ta, tb, wgi_int(m), wgi_int(n), wgi_int(k), alpha, a,
                wgi_int(lda), b, wgi_int(ldb), beta, c, wgi_int(ldc));
}

static void add(size_t rows, size_t cols, const double *x, double *a, size_t ld) {
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) a[i + j * ld] += x[i + j * rows];
}

/* The Schur form of an operand: its vectors to q, the form to t. */
static wg_status schur(wg_block *b, size_t i, double *t, double *q, double *work) {
    const wg_block_arg *const a = &b->in[i];
    if (!wgi_spectral_finite(a->rows, a->cols, a->value, a->ld)) {
        b->why = WGI_SPECTRAL_NOT_FINITE;
        return WG_ENONFINITE;
    }
    wgi_spectral_copy(a->rows, a->cols, a->value, a->ld, t);
    b->info = wgi_schur(a->rows, t, q, work);
    if (b->info == 0) return WG_OK;
    b->why = WGI_SPECTRAL_GAVE_UP;
    return WG_ECONVERGE;
}

static wg_status beyond(wg_block *b) {
    b->why = "the equation of the derivative has no solution within the range of numbers";
    return WG_EDEGENERATE;
}

static wg_status finite_right_side(wg_block *b, const wg_block_arg *c) {
    if (wgi_spectral_finite(c->rows, c->cols, c->value, c->ld)) return WG_OK;
    b->why = WGI_SPECTRAL_NOT_FINITE;
    return WG_ENONFINITE;
}

/* ---- Sylvester ---- */

/* saved: S, U, T, V. */
typedef struct forms {
    size_t m, n;
    double *s, *u, *t, *v;
} forms;

static forms forms_of(const wg_block *b) {
    forms f;
    f.m = b->in[0].rows, f.n = b->in[1].rows;
    f.s = b->saved;
    f.u = f.s + f.m * f.m;
    f.t = f.u + f.m * f.m;
    f.v = f.t + f.n * f.n;
    return f;
}

static wg_status sylvester_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[1].rows;
    if (b->in[0].cols != m || b->in[1].cols != n || b->in[2].rows != m || b->in[2].cols != n) {
        b->why = "A and B are square, C has the rows of A and the columns of B";
        return WG_ESHAPE;
    }
    b->out[0].rows = m, b->out[0].cols = n;
    b->saved_bytes = 2 * (m * m + n * n) * sizeof(double);
    b->work_bytes = larger(2 * m * n, wgi_schur_doubles(larger(m, n))) * sizeof(double);
    return WG_OK;
}

/* x = the solution for a right-hand side in x, by the forms; op 'N', or 'T' for A', B'. Room:
 * of m n. */
static int sylvester_solve(const forms *f, char op, double *x, double *room) {
    wgi_schur_turn('T', 'N', f->m, f->n, f->u, f->v, x, f->m, x, room);
    if (wgi_schur_sylvester(op, op, f->m, f->n, f->s, f->m, f->t, f->n, x, f->m)) return 0;
    wgi_schur_turn('N', 'T', f->m, f->n, f->u, f->v, x, f->m, x, room);
    return 1;
}

static wg_status sylvester_value(wg_block *b) {
    const forms f = forms_of(b);
    double *const x = b->out[0].value;
    if (f.m == 0 || f.n == 0) return WG_OK;
    wg_status s = schur(b, 0, f.s, f.u, b->work);
    if (s == WG_OK) s = schur(b, 1, f.t, f.v, b->work);
    if (s == WG_OK) s = finite_right_side(b, &b->in[2]);
    if (s != WG_OK) return s;
    wgi_spectral_copy(f.m, f.n, b->in[2].value, b->in[2].ld, x);
    if (wgi_schur_apart(f.m, f.n, f.s, f.t) && sylvester_solve(&f, 'N', x, b->work))
        return WG_OK;
    b->why = "an eigenvalue of the first operand is one of the second with the sign changed";
    return WG_ESINGULAR;
}

static wg_status sylvester_vjp(wg_block *b) {
    const forms f = forms_of(b);
    const double *const x = b->out[0].value;
    double *const y = b->work, *const room = y + f.m * f.n;
    if (f.m == 0 || f.n == 0) return WG_OK;
    wgi_spectral_copy(f.m, f.n, b->out[0].bar, b->out[0].bar_ld, y);
    if (!sylvester_solve(&f, 'T', y, room)) return beyond(b);
    if (b->in[0].bar != NULL)
        product(CblasNoTrans, CblasTrans, f.m, f.m, f.n, -1, y, f.m, x, f.m, 1, b->in[0].bar,
                b->in[0].bar_ld);
    if (b->in[1].bar != NULL)
        product(CblasTrans, CblasNoTrans, f.n, f.n, f.m, -1, x, f.m, y, f.m, 1, b->in[1].bar,
                b->in[1].bar_ld);
    if (b->in[2].bar != NULL) add(f.m, f.n, y, b->in[2].bar, b->in[2].bar_ld);
    return WG_OK;
}

/* The tangent of a right-hand side, 0 for a constant. */
static void start(size_t m, size_t n, const wg_block_arg *c, double *x) {
    if (c->bar != NULL) wgi_spectral_copy(m, n, c->bar, c->bar_ld, x);
    else memset(x, 0, m * n * sizeof *x);
}
static void finish(size_t m, size_t n, const double *x, wg_block_arg *out) {
    for (size_t j = 0; j < n; j++) memcpy(out->bar + j * out->bar_ld, x + j * m, m * sizeof *x);
}

static wg_status sylvester_jvp(wg_block *b) {
    const forms f = forms_of(b);
    const double *const x = b->out[0].value;
    double *const y = b->work, *const room = y + f.m * f.n;
    if (f.m == 0 || f.n == 0) return WG_OK;
    start(f.m, f.n, &b->in[2], y);
    if (b->in[0].bar != NULL)
        product(CblasNoTrans, CblasNoTrans, f.m, f.n, f.m, -1, b->in[0].bar, b->in[0].bar_ld, x,
                f.m, 1, y, f.m);
    if (b->in[1].bar != NULL)
        product(CblasNoTrans, CblasNoTrans, f.m, f.n, f.n, -1, x, f.m, b->in[1].bar,
                b->in[1].bar_ld, 1, y, f.m);
    if (!sylvester_solve(&f, 'N', y, room)) return beyond(b);
    finish(f.m, f.n, y, &b->out[0]);
    return WG_OK;
}

const wg_block_op wgi_op_sylvester = {
    "wg_sylvester", 0,   sylvester_shape, sylvester_value, sylvester_vjp, sylvester_jvp,
    NULL,           NULL};

/* ---- Lyapunov ---- */

/* saved: S (discrete: the form of K), U. */
static wg_status lyapunov_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (b->in[0].cols != n || b->in[1].rows != n || b->in[1].cols != n) {
        b->why = "the matrices are not square and of one order";
        return WG_ESHAPE;
    }
    b->out[0].rows = b->out[0].cols = n;
    b->saved_bytes = 2 * n * n * sizeof(double);
    b->work_bytes = larger(2 * n * n + 2 * n, wgi_schur_doubles(n)) * sizeof(double);
    return WG_OK;
}

/* x = the solution for the right-hand side x: A, A' with op 'N', A', A with 'T'. */
static int lyapunov_solve(const wg_block *b, char op, double *x, double *room) {
    const size_t n = b->in[0].rows;
    const double *const s = b->saved, *const u = s + n * n;
    wgi_schur_turn('T', 'N', n, n, u, u, x, n, x, room);
    if (wgi_schur_sylvester(op, op == 'N' ? 'T' : 'N', n, n, s, n, s, n, x, n)) return 0;
    wgi_schur_turn('N', 'T', n, n, u, u, x, n, x, room);
    return 1;
}

static wg_status lyapunov_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const x = b->out[0].value, *const form = b->saved;
    if (n == 0) return WG_OK;
    wg_status s = schur(b, 0, form, form + n * n, b->work);
    if (s == WG_OK) s = finite_right_side(b, &b->in[1]);
    if (s != WG_OK) return s;
    wgi_spectral_copy(n, n, b->in[1].value, b->in[1].ld, x);
    if (wgi_schur_apart(n, n, form, form) && lyapunov_solve(b, 'N', x, b->work)) return WG_OK;
    b->why = "two eigenvalues add up to 0";
    return WG_ESINGULAR;
}

static wg_status lyapunov_vjp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const x = b->out[0].value;
    double *const y = b->work, *const room = y + n * n;
    if (n == 0) return WG_OK;
    wgi_spectral_copy(n, n, b->out[0].bar, b->out[0].bar_ld, y);
    if (!lyapunov_solve(b, 'T', y, room)) return beyond(b);
    if (b->in[0].bar != NULL) {
        product(CblasNoTrans, CblasTrans, n, n, n, -1, y, n, x, n, 1, b->in[0].bar,
                b->in[0].bar_ld);
        product(CblasTrans, CblasNoTrans, n, n, n, -1, y, n, x, n, 1, b->in[0].bar,
                b->in[0].bar_ld);
    }
    if (b->in[1].bar != NULL) add(n, n, y, b->in[1].bar, b->in[1].bar_ld);
    return WG_OK;
}

static wg_status lyapunov_jvp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const x = b->out[0].value, *const ad = b->in[0].bar;
    double *const y = b->work, *const room = y + n * n;
    if (n == 0) return WG_OK;
    start(n, n, &b->in[1], y);
    if (ad != NULL) {
        product(CblasNoTrans, CblasNoTrans, n, n, n, -1, ad, b->in[0].bar_ld, x, n, 1, y, n);
        product(CblasNoTrans, CblasTrans, n, n, n, -1, x, n, ad, b->in[0].bar_ld, 1, y, n);
    }
    if (!lyapunov_solve(b, 'N', y, room)) return beyond(b);
    finish(n, n, y, &b->out[0]);
    return WG_OK;
}

const wg_block_op wgi_op_lyapunov = {
    "wg_lyapunov", 0, lyapunov_shape, lyapunov_value, lyapunov_vjp, lyapunov_jvp, NULL, NULL};

/* ---- Lyapunov, discrete ---- */

/* form: S, overwritten by that of K. Room: n^2 + 2 n. The result: is there a K? */
static int cayley(size_t n, double *form, double *lu) {
    const int k = wgi_int(n);
    lapack_int *const pivots = (lapack_int *)(lu + n * n);
    double *const below = lu + n * n + n; /* blocks of the diagonal */
    memcpy(lu, form, n * n * sizeof *lu);
    memset(form, 0, n * n * sizeof *form);
    for (size_t i = 0; i < n; i++) {
        below[i] = i + 1 < n ? lu[i + 1 + i * n] : 0;
        lu[i + i * n] += 1;
        form[i + i * n] = 1;
    }
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, k, k, lu, k, pivots) != 0) return 0;
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', k, k, lu, k, pivots, form, k);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++)
            form[i + j * n] =
                i > j + 1 || (i == j + 1 && below[j] == 0) ? 0 : -2 * form[i + j * n];
        form[j + j * n] += 1;
    }
    return 1;
}

/* As lyapunov_solve. */
static int discrete_solve(const wg_block *b, char op, double *x, double *room) {
    const size_t n = b->in[0].rows;
    const double *const k = b->saved, *const u = k + n * n;
    const CBLAS_TRANSPOSE left = op == 'N' ? CblasNoTrans : CblasTrans;
    const CBLAS_TRANSPOSE right = op == 'N' ? CblasTrans : CblasNoTrans;
    wgi_schur_turn('T', 'N', n, n, u, u, x, n, x, room);
    memcpy(room, x, n * n * sizeof *x);
    product(left, CblasNoTrans, n, n, n, -1, k, n, x, n, 1, room, n);
    memcpy(x, room, n * n * sizeof *x);
    product(CblasNoTrans, right, n, n, n, 0.5, room, n, k, n, -0.5, x, n);
    if (wgi_schur_sylvester(op, op == 'N' ? 'T' : 'N', n, n, k, n, k, n, x, n)) return 0;
    wgi_schur_turn('N', 'T', n, n, u, u, x, n, x, room);
    return 1;
}

static wg_status discrete_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const x = b->out[0].value, *const form = b->saved;
    if (n == 0) return WG_OK;
    wg_status s = schur(b, 0, form, form + n * n, b->work);
    if (s == WG_OK) s = finite_right_side(b, &b->in[1]);
    if (s != WG_OK) return s;
    wgi_spectral_copy(n, n, b->in[1].value, b->in[1].ld, x);
    if (cayley(n, form, b->work) && wgi_schur_apart(n, n, form, form) &&
        discrete_solve(b, 'N', x, b->work))
        return WG_OK;
    b->why = "two eigenvalues multiply to 1";
    return WG_ESINGULAR;
}

static wg_status discrete_vjp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const a = b->in[0].value, *const x = b->out[0].value;
    double *const y = b->work, *const room = y + n * n, *const ab = b->in[0].bar;
    if (n == 0) return WG_OK;
    wgi_spectral_copy(n, n, b->out[0].bar, b->out[0].bar_ld, y);
    if (!discrete_solve(b, 'T', y, room)) return beyond(b);
    if (ab != NULL) {
        const size_t ld = b->in[0].bar_ld;
        product(CblasNoTrans, CblasTrans, n, n, n, 1, a, b->in[0].ld, x, n, 0, room, n);
        product(CblasNoTrans, CblasNoTrans, n, n, n, 1, y, n, room, n, 1, ab, ld);
        product(CblasNoTrans, CblasNoTrans, n, n, n, 1, a, b->in[0].ld, x, n, 0, room, n);
        product(CblasTrans, CblasNoTrans, n, n, n, 1, y, n, room, n, 1, ab, ld);
    }
    if (b->in[1].bar != NULL) add(n, n, y, b->in[1].bar, b->in[1].bar_ld);
    return WG_OK;
}

static wg_status discrete_jvp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const a = b->in[0].value, *const x = b->out[0].value,
                        *const ad = b->in[0].bar;
    double *const y = b->work, *const room = y + n * n;
    if (n == 0) return WG_OK;
    start(n, n, &b->in[1], y);
    if (ad != NULL) {
        const size_t ld = b->in[0].bar_ld;
        product(CblasNoTrans, CblasTrans, n, n, n, 1, x, n, a, b->in[0].ld, 0, room, n);
        product(CblasNoTrans, CblasNoTrans, n, n, n, 1, ad, ld, room, n, 1, y, n);
        product(CblasNoTrans, CblasNoTrans, n, n, n, 1, a, b->in[0].ld, x, n, 0, room, n);
        product(CblasNoTrans, CblasTrans, n, n, n, 1, room, n, ad, ld, 1, y, n);
    }
    if (!discrete_solve(b, 'N', y, room)) return beyond(b);
    finish(n, n, y, &b->out[0]);
    return WG_OK;
}

const wg_block_op wgi_op_lyapunov_discrete = {"wg_lyapunov_discrete",
                                              0,
                                              lyapunov_shape,
                                              discrete_value,
                                              discrete_vjp,
                                              discrete_jvp,
                                              NULL,
                                              NULL};

/* ---- calls ---- */

wg_mat wg_sylvester(wg_tape *t, wg_mat a, wg_mat b, wg_mat c) {
    const wg_mat in[] = {a, b, c};
    wg_mat x;
    (void)wg_apply(t, &wgi_op_sylvester, NULL, 0, 3, in, 1, &x);
    return x;
}

wg_mat wg_lyapunov(wg_tape *t, wg_mat a, wg_mat q) {
    const wg_mat in[] = {a, q};
    wg_mat x;
    (void)wg_apply(t, &wgi_op_lyapunov, NULL, 0, 2, in, 1, &x);
    return x;
}

wg_mat wg_lyapunov_discrete(wg_tape *t, wg_mat a, wg_mat q) {
    const wg_mat in[] = {a, q};
    wg_mat x;
    (void)wg_apply(t, &wgi_op_lyapunov_discrete, NULL, 0, 2, in, 1, &x);
    return x;
}

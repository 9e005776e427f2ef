/* SPDX-License-Identifier: MIT */
/* Functions of a matrix that are recorded as products: cosine, sine, the exponential times a
 * vector.
 *
 * Letters: X = A / s, small, its truncated Taylor series in products, and then s steps back:
 * their derivatives of every order are those of the products, which are exact for the
 * approximant.
 *
 *     cos, sin:  s a power of 2, |X| <= 1/2; polynomials of degree 8 in X^2 by Paterson and
 *                Stockmeyer's scheme; cos 2Y = cos^2 Y - sin^2 Y, sin 2Y = 2 sin Y cos Y,
 *                which, other than 2 cos^2 Y - 1, double an error and do not quadruple it
 *     exp(A) B = exp(X)^s B, |X| <= 1, a series of degree 19 for each step
 *
 * In functions and replays the number of steps is that of the recorded point; that the norm is
 * not larger than what they serve for, at most twice (1.25 times for exp) that of the point, is
 * compared at every point.
 * Sources: Higham 2008, Functions of Matrices, chapter 12, 4.2; Al-Mohy and Higham 2011, SIAM
 * J. Sci. Comput. 33(2), for exp(A) B, here with shorter steps, whose terms do not cancel. */
#include <math.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/spectral.h>
#include "call.h"
#include "expand.h"
#include "point.h"
#include "spectral.h"

/* ---- A / s, checked ---- */

enum { MOST_STEPS = 4096 };
/* Larger norms leave no digit of a cosine. */
#define MOST_NORM 0x1p50

/* most: of the norm of A / s. */
struct scaling {
    double steps, most;
    int by_vector;
};

static wg_status scaled_shape(wg_block *b) {
    const struct scaling *const p = b->params;
    const size_t n = b->in[0].rows;
    b->out[0].rows = b->out[0].cols = n;
    if (b->in[0].cols != n) b->why = "the matrix is not square";
    else if (p->by_vector && b->in[1].rows != n)
        b->why = "the second operand has not as many rows as the matrix";
    return b->why == NULL ? WG_OK : WG_ESHAPE;
}

static double norm_1(size_t n, const double *a, size_t down, size_t across) {
    double most = 0;
    for (size_t j = 0; j < n; j++) {
        double s = 0;
        for (size_t i = 0; i < n; i++) s += fabs(a[i * down + j * across]);
        if (!(s <= most)) most = s;
    }
    return most;
}

static void scale(const struct scaling *p, size_t n, const double *a, size_t ld, double *x) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) x[i + j * n] = a[i + j * ld] / p->steps;
}

static wg_status scaled_value(wg_block *b) {
    const struct scaling *const p = b->params;
    const wg_block_arg *const a = &b->in[0];
    if (!wgi_spectral_finite(a->rows, a->cols, a->value, a->ld))
        return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
    if (!(p->steps <= (p->by_vector ? MOST_STEPS : MOST_NORM)))
        return wgi_block_refuse(
            b, WG_EARG,
            p->by_vector ? "the norm of the matrix is too large: wg_expm is for that"
                         : "the norm of the matrix is so large that no digit is known");
    if (!(norm_1(a->rows, a->value, 1, a->ld) < p->most * p->steps)) { /* in a replay */
        return wgi_block_refuse(
            b, WG_EGUARD,
            "the norm of the matrix is larger than what the recorded steps serve for");
    }
    scale(p, a->rows, a->value, a->ld, b->out[0].value);
    return WG_OK;
}

static wg_status scaled_vjp(wg_block *b) {
    const struct scaling *const p = b->params;
    const wg_block_arg *const a = &b->in[0];
    for (size_t j = 0; a->bar != NULL && j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            a->bar[i + j * a->bar_ld] += b->out[0].bar[i + j * b->out[0].bar_ld] / p->steps;
    return WG_OK;
}

static wg_status scaled_jvp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    if (a->bar != NULL) scale(b->params, a->rows, a->bar, a->bar_ld, b->out[0].bar);
    else
        for (size_t i = 0; i < a->rows * a->cols; i++) b->out[0].bar[i] = 0;
    return WG_OK;
}

static wg_status scaled_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct scaling *const p = b->params;
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    for (size_t j = 0; j < a.cols; j++) {
        wg_real sum = wg_constant(0);
        for (size_t i = 0; i < a.rows; i++) {
            const wg_real at = wgi_reals_at(a, i, j);
            y[i + j * a.rows] = wg_let(t, wg_div(at, p->steps));
            sum = wgi_expand_plus(t, sum, wg_let(t, wg_fabs(at)));
        }
        (void)wg_lt(t, sum, wg_constant(p->most * p->steps));
    }
    return wg_tape_status(t);
}

#define SCALED(name)                                                                           \
    static const wg_block_op scaled_##name = {"wg_" #name,   WG_OP_LINEAR | WG_OP_EXPANDS,     \
                                              scaled_shape,  scaled_value,                     \
                                              scaled_vjp,    scaled_jvp,                       \
                                              scaled_expand, NULL,                             \
                                              NULL}
SCALED(cosm);
SCALED(sinm);
SCALED(expmv);

/* The 1-norm of a square matrix that is there; else 0, and the operation says what is wrong
 * with it. */
static double norm_of(const wg_tape *t, wg_mat a) {
    if (!wgi_is_readable(t, &a) || a.rows != a.cols) return 0;
    return norm_1(a.rows, a.value, a.trans ? a.ld : 1, a.trans ? 1 : a.ld);
}

/* ---- cosine and sine ---- */

enum { TERMS = 9, GROUP = 3 };

/* The sum of c[k] B^k for b = {I, B, B^2, B^3}. */
static wg_mat polynomial(wg_tape *t, const double *c, const wg_mat *b) {
    wg_mat y = wg_mat_failed(0, 0);
    for (size_t g = TERMS; g > 0; g -= GROUP) {
        const double *const at = c + g - GROUP;
        const wg_mat low =
            wg_mat_axpby(t, 1, wg_mat_axpby(t, at[1], b[1], at[2], b[2]), at[0], b[0]);
        y = g == TERMS ? low : wg_gemm(t, 'N', 'N', 1, b[GROUP], y, 1, low);
    }
    return y;
}

/* of_sine: the sine, or else the cosine. */
static wg_mat cosine_or_sine(wg_tape *t, const wg_block_op *op, int of_sine, wg_mat a) {
    double c[TERMS], s[TERMS], factor = 1;
    wg_mat x, b[GROUP + 1];
    struct scaling p = {1, 1, 0};
    const double norm = norm_of(t, a);
    while (p.steps <= MOST_NORM && norm > 0.5 * p.steps) p.steps *= 2;
    if (wg_apply(t, op, &p, sizeof p, 1, &a, 1, &x) != WG_OK) return x;
    for (int k = 0; k < TERMS; k++) {
        if (k > 0) factor /= -(2.0 * k - 1) * (2.0 * k);
        c[k] = factor, s[k] = factor / (2.0 * k + 1);
    }
    b[0] = wg_mat_identity(t, a.rows);
    b[1] = wg_matmul(t, x, x), b[2] = wg_matmul(t, b[1], b[1]), b[3] = wg_matmul(t, b[2], b[1]);
    wg_mat cosine = p.steps > 1 || !of_sine ? polynomial(t, c, b) : x;
    wg_mat sine = p.steps > 1 || of_sine ? wg_matmul(t, x, polynomial(t, s, b)) : x;
    for (; p.steps > 1; p.steps /= 2) {
        const int last = p.steps <= 2;
        const wg_mat twice =
            last && !of_sine ? sine : wg_gemm(t, 'N', 'N', 2, sine, cosine, 0, x);
        if (!last || !of_sine)
            cosine = wg_gemm(t, 'N', 'N', -1, sine, sine, 1, wg_matmul(t, cosine, cosine));
        sine = twice;
    }
    return of_sine ? sine : cosine;
}

wg_mat wg_cosm(wg_tape *t, wg_mat a) { return cosine_or_sine(t, &scaled_cosm, 0, a); }
wg_mat wg_sinm(wg_tape *t, wg_mat a) { return cosine_or_sine(t, &scaled_sinm, 1, a); }

/* ---- exp(A) B ---- */

wg_mat wg_expmv(wg_tape *t, wg_mat a, wg_mat b) {
    enum { DEGREE = 19 };
    const wg_mat in[2] = {a, b};
    wg_mat x, y = b;
    const struct scaling p = {fmax(1, ceil(norm_of(t, a))), 1.25, 1};
    if (wg_apply(t, &scaled_expmv, &p, sizeof p, 2, in, 1, &x) != WG_OK)
        return wg_mat_failed(b.rows, b.cols);
    for (double step = 0; step < p.steps && y.value != NULL; step++) {
        wg_mat term = y;
        for (int k = 1; k <= DEGREE; k++) {
            term = wg_gemm(t, 'N', 'N', 1.0 / k, x, term, 0, term);
            y = wg_mat_add(t, y, term);
        }
    }
    return y;
}

/* SPDX-License-Identifier: MIT */
/* Systems with circulant matrices, C_ij = c_((i-j) mod n), by Fourier transforms F.
 *
 *     C = F^-1 diag(F c) F:   x = F^-1 (F b / F c);   C' has the conjugates of F c
 *     C' w = x_,  b_ += w,  c_(k) -= sum_(i-j=k mod n) w_i x_j,   C xt = bt - Ct x
 * where the sums are F^-1 of F w times the conjugate of F x.
 *
 * A sum of large numbers may leave the range where the result does not: what is transformed is
 * multiplied by a power of 2 before, its largest number then being about 1, and the result by
 * what that has changed.
 *
 * Transforms of a power of 2 are done by halves; others as a convolution with exp(i pi k^2 / n)
 * of the next power of 2 from 2 n - 1 on. Complex numbers are pairs. Source: Cooley and Tukey
 * 1965; Bluestein 1970. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert/solve.h>
#include "dense.h"
#include "expand.h"
#include "ops/scalar/elementwise.h"
#include "traits.h"

#define PI 3.14159265358979323846

/* ---- transforms ---- */

typedef struct plan {
    size_t n, m;    /* m: the power of 2 */
    double *turn;   /* exp(-2 pi i k / m), m/2 of them */
    double *chirp;  /* exp(-pi i k^2 / n), n of them, if n is no power of 2 */
    double *kernel; /* the transform of its conjugate, m */
    double *room;   /* m */
} plan;

static size_t power_of(size_t n) {
    size_t m = 1;
    while (m < n) m *= 2;
    return m == n ? m : 2 * m; /* 2 m >= 2 n - 1 */
}
static size_t plan_doubles(size_t n) {
    const size_t m = power_of(n);
    return m == n ? m + 2 : m + 2 + 2 * n + 4 * m;
}

/* x of p->m numbers, in place */
static void by_halves(const plan *p, double *x) {
    const size_t m = p->m;
    for (size_t i = 1, j = 0; i < m; i++) {
        size_t bit = m / 2;
        for (; j & bit; bit /= 2) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        for (size_t k = 0; k < 2; k++) {
            const double s = x[2 * i + k];
            x[2 * i + k] = x[2 * j + k], x[2 * j + k] = s;
        }
    }
    for (size_t half = 1; half < m; half *= 2)
        for (size_t first = 0; first < m; first += 2 * half)
            for (size_t k = 0; k < half; k++) {
                const double *const w = p->turn + k * (m / half);
                double *const a = x + 2 * (first + k), *const b = a + 2 * half;
                const double re = w[0] * b[0] - w[1] * b[1], im = w[0] * b[1] + w[1] * b[0];
                b[0] = a[0] - re, b[1] = a[1] - im;
                a[0] += re, a[1] += im;
            }
}

/* a = a b, or a times the conjugate of b */
static void multiply(size_t n, double *a, const double *b, int conjugate) {
    for (size_t i = 0; i < n; i++, a += 2, b += 2) {
        const double im = conjugate ? -b[1] : b[1], re = a[0] * b[0] - a[1] * im;
        a[1] = a[0] * im + a[1] * b[0];
        a[0] = re;
    }
}
static void conjugate(size_t n, double *a) {
    for (size_t i = 0; i < n; i++) a[2 * i + 1] = -a[2 * i + 1];
}

static plan plan_of(size_t n, double *at) {
    const size_t m = power_of(n);
    plan p = {.n = n, .m = m, .turn = at};
    for (size_t k = 0; k < m / 2; k++) {
        const double angle = -2 * PI * (double)k / (double)m;
        p.turn[2 * k] = cos(angle), p.turn[2 * k + 1] = sin(angle);
    }
    if (m == n) return p;
    p.chirp = at + m + 2, p.kernel = p.chirp + 2 * n, p.room = p.kernel + 2 * m;
    memset(p.kernel, 0, 2 * m * sizeof *p.kernel);
    for (size_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {
        const double angle = -PI * (double)square / (double)n; /* k^2 mod 2 n */
        double *const c = p.chirp + 2 * k;
        c[0] = cos(angle), c[1] = sin(angle);
        p.kernel[2 * k] = c[0], p.kernel[2 * k + 1] = -c[1];
        if (k != 0) memcpy(p.kernel + 2 * (m - k), p.kernel + 2 * k, 2 * sizeof *c);
    }
    by_halves(&p, p.kernel);
    return p;
}

/* x = F x, n numbers */
static void transform(const plan *p, double *x) {
    const size_t n = p->n, m = p->m;
    double *const z = p->room;
    if (m == n) {
        by_halves(p, x);
        return;
    }
    memset(z, 0, 2 * m * sizeof *z);
    memcpy(z, x, 2 * n * sizeof *z);
    multiply(n, z, p->chirp, 0);
    by_halves(p, z);
    multiply(m, z, p->kernel, 0);
    conjugate(m, z);
    by_halves(p, z);
    conjugate(n, z);
    multiply(n, z, p->chirp, 0);
    for (size_t i = 0; i < 2 * n; i++) x[i] = z[i] / (double)m;
}
/* The e of the largest number, which is between 2^(e-1) and 2^e; 0: there is none, or one is
 * not finite. */
static int exponent_of(size_t n, const double *x) {
    double most = 0;
    int e;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    if (!isfinite(most)) return 0;
    (void)frexp(most, &e);
    return e;
}
/* z = F x / 2^e for n real numbers; gives e. */
static int transform_real(const plan *p, const double *x, double *z) {
    const int e = exponent_of(p->n, x);
    for (size_t i = 0; i < p->n; i++) z[2 * i] = ldexp(x[i], -e), z[2 * i + 1] = 0;
    transform(p, z);
    return e;
}
/* x += sign 2^e times the real parts of F^-1 z; z is lost */
static void add_back(const plan *p, double sign, int e, double *z, double *x) {
    conjugate(p->n, z);
    transform(p, z);
    for (size_t i = 0; i < p->n; i++) x[i] += ldexp(sign * z[2 * i] / (double)p->n, e);
}

/* ---- the operation: operands c, b; saved: F c / 2^e, and e ---- */

typedef struct direction {
    int turned; /* C' in the place of C */
} direction;
static int is_turned(const wg_block *b) { return ((const direction *)b->params)->turned; }

static wg_status circulant_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (b->in[0].cols != 1 || b->in[1].rows != n)
        return wgi_block_refuse(
            b, WG_ESHAPE, "the first column and the right side are not columns of one length");
    b->out[0].rows = n, b->out[0].cols = b->in[1].cols;
    b->saved_bytes = (2 * n + 1) * sizeof(double);
    b->work_bytes = (plan_doubles(n) + 7 * n) * sizeof(double);
    return WG_OK;
}

/* x = C^-1 y, one column, or C'^-1 y. z: room for n pairs. */
static void solve(const plan *p, const double *of_c, int turned, const double *y, double *x,
                  double *z) {
    const int e = transform_real(p, y, z) - (int)of_c[2 * p->n];
    for (size_t i = 0; i < p->n; i++) {
        const double re = of_c[2 * i], im = turned ? -of_c[2 * i + 1] : of_c[2 * i + 1];
        const double size = hypot(re, im), a = re / size, b = im / size;
        const double up = (z[2 * i] * a + z[2 * i + 1] * b) / size;
        z[2 * i + 1] = (z[2 * i + 1] * a - z[2 * i] * b) / size;
        z[2 * i] = up;
    }
    memset(x, 0, p->n * sizeof *x);
    add_back(p, 1, e, z, x);
}

static wg_status circulant_value(wg_block *b) {
    const wg_block_arg *const right = &b->in[1];
    const size_t n = b->in[0].rows, k = right->cols;
    double *const of_c = b->saved, *const at = b->work, *const z = at + plan_doubles(n);
    double most = 0;
    if (n == 0) return WG_OK;
    int finite = wgi_all_finite(n, b->in[0].value);
    for (size_t c = 0; c < k; c++) finite &= wgi_all_finite(n, right->value + c * right->ld);
    if (!finite) return wgi_block_refuse(b, WG_ENONFINITE, "an operand is not finite");
    const plan p = plan_of(n, at);
    of_c[2 * n] = transform_real(&p, b->in[0].value, of_c);
    for (size_t i = 0; i < n; i++) most = fmax(most, hypot(of_c[2 * i], of_c[2 * i + 1]));
    for (size_t i = 0; i < n; i++)
        if (!(hypot(of_c[2 * i], of_c[2 * i + 1]) > 8 * (double)n * DBL_EPSILON * most))
            return wgi_block_refuse(
                b, WG_ESINGULAR, "the matrix is singular, or no digit of a solution is known");
    for (size_t c = 0; c < k; c++)
        solve(&p, of_c, is_turned(b), right->value + c * right->ld,
              b->out[0].value + c * b->out[0].ld, z);
    return WG_OK;
}

/* c += f sum_(i-j=k mod n) w_i x_j; z: room for 2 n pairs. */
static void add_diagonals(const plan *p, double f, const double *w, const double *x, double *c,
                          double *z) {
    double *const other = z + 2 * p->n;
    const int e = transform_real(p, w, z) + transform_real(p, x, other);
    multiply(p->n, z, other, 1);
    add_back(p, f, e, z, c);
}

static wg_status circulant_vjp(wg_block *b) {
    const wg_block_arg *const y = &b->out[0];
    const size_t n = y->rows;
    double *const w = (double *)b->work + plan_doubles(n), *const z = w + n;
    if (n == 0) return WG_OK;
    const plan p = plan_of(n, b->work);
    for (size_t c = 0; c < y->cols; c++) {
        const double *const x = y->value + c * y->ld;
        solve(&p, b->saved, !is_turned(b), y->bar + c * y->bar_ld, w, z);
        if (b->in[1].bar != NULL)
            for (size_t i = 0; i < n; i++) b->in[1].bar[i + c * b->in[1].bar_ld] += w[i];
        if (b->in[0].bar != NULL)
            add_diagonals(&p, -1, is_turned(b) ? x : w, is_turned(b) ? w : x, b->in[0].bar, z);
    }
    return WG_OK;
}

static wg_status circulant_jvp(wg_block *b) {
    const wg_block_arg *const y = &b->out[0], *const ct = &b->in[0], *const bt = &b->in[1];
    const size_t n = y->rows;
    double *const rhs = (double *)b->work + plan_doubles(n), *const z = rhs + n,
                  *const other = z + 2 * n;
    if (n == 0) return WG_OK;
    const plan p = plan_of(n, b->work);
    for (size_t c = 0; c < y->cols; c++) {
        for (size_t i = 0; i < n; i++)
            rhs[i] = bt->bar != NULL ? bt->bar[i + c * bt->bar_ld] : 0;
        if (ct->bar != NULL) {
            const int e = transform_real(&p, y->value + c * y->ld, z) +
                          transform_real(&p, ct->bar, other);
            multiply(n, z, other, is_turned(b));
            add_back(&p, -1, e, z, rhs);
        }
        solve(&p, b->saved, is_turned(b), rhs, y->bar + c * y->bar_ld, z);
    }
    return WG_OK;
}

static wg_status circulant_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    wg_real *const a = wgi_expand_room(t, n * n);
    if (a == NULL) return wg_tape_status(t);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + j * n] = x[(i + n - j) % n];
    wgi_expand_copy(wgi_reals_operand(b, x, 1), y);
    const size_t m = n * b->in[1].cols;
    wgi_expand_solve(t, wgi_reals_packed(a, n, n), is_turned(b), b->in[1].cols, y);
    wgi_expand_spoil(t, wgi_expand_finite(t, n, x), m, y);
    wgi_expand_spoil(t, wgi_expand_finite(t, m, wgi_reals_operand(b, x, 1).p), m, y);
    return WG_OK;
}

/* ---- what c gets, of w and x: on forward tapes ---- */

static wg_status sums_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->out[0].rows = n, b->out[0].cols = 1;
    b->work_bytes = (plan_doubles(n) + 4 * n) * sizeof(double);
    return WG_OK;
}
/* y -= the sums of w and x, where either may be a tangent. */
static void sums(const wg_block *b, const double *w, size_t ldw, const double *x, size_t ldx,
                 double *y) {
    const size_t n = b->in[0].rows;
    const plan p = plan_of(n, b->work);
    for (size_t c = 0; c < b->in[0].cols; c++)
        add_diagonals(&p, -1, w + c * ldw, x + c * ldx, y, (double *)b->work + plan_doubles(n));
}
static wg_status sums_value(wg_block *b) {
    const wg_block_arg *const w = &b->in[0], *const x = &b->in[1];
    memset(b->out[0].value, 0, w->rows * sizeof(double));
    sums(b, w->value, w->ld, x->value, x->ld, b->out[0].value);
    return WG_OK;
}
static wg_status sums_jvp(wg_block *b) {
    const wg_block_arg *const w = &b->in[0], *const x = &b->in[1];
    memset(b->out[0].bar, 0, w->rows * sizeof(double));
    if (w->bar != NULL) sums(b, w->bar, w->bar_ld, x->value, x->ld, b->out[0].bar);
    if (x->bar != NULL) sums(b, w->value, w->ld, x->bar, x->bar_ld, b->out[0].bar);
    return WG_OK;
}

static wg_status circulant_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                   const wg_mat *bar, wg_mat *back);

const wg_block_op wgi_op_solve_circulant = {
    "wg_solve_circulant", WG_OP_EXPANDS,     circulant_shape,
    circulant_value,      circulant_vjp,     circulant_jvp,
    circulant_expand,     circulant_adjoint, NULL};

static wg_status circulant_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                   const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {.name = "sums along cyclic diagonals",
                                   .shape = sums_shape,
                                   .value = sums_value,
                                   .jvp = sums_jvp};
    const int was = is_turned(b);
    const direction p = {!was};
    const wg_mat of[2] = {in[0], bar[0]};
    if (in[0].rows == 0) return WG_OK;
    const wg_status s = wg_apply(t, &wgi_op_solve_circulant, &p, sizeof p, 2, of, 1, &back[1]);
    if (s != WG_OK || in[0].at.slot == 0) return s;
    const wg_mat pair[2] = {was ? out[0] : back[1], was ? back[1] : out[0]};
    return wg_apply(t, &op, NULL, 0, 2, pair, 1, back);
}

wg_mat wg_solve_circulant(wg_tape *t, wg_mat c, wg_mat b) {
    const direction p = {0};
    const wg_mat in[2] = {c, b};
    return wgi_apply_one(t, &wgi_op_solve_circulant, &p, sizeof p, 2, in);
}

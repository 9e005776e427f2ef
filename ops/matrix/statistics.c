/* SPDX-License-Identifier: MIT */
/* Gaussian densities, covariance matrices, Gaussian processes.
 *
 *   r_c = y_c - mu,  a_c = S^-1 r_c,  w the adjoint of the log-density:
 *     Y_ -= w a,  mu_ += w sum_c a_c,  S_ += w/2 H,  H = sum_c a_c a_c' - k S^-1
 *     tangent  -sum_c a_c' (yt_c - mut) + sum(H o St)/2
 *   Covariance of a pair: q = |u_i - u_j|^2, u = x / scale; K = sigma^2 f(q); e the adjoint of
 *   the pair, h = e dK/dq, D = u_i - u_j:
 *     sigma_ += 2 e K / sigma
 *     scale_ -= 2 h D^2 / scale
 *     x_i_ += 2 h D / scale, and x_j_ -= the same
 *     tangent  2 K sigmat / sigma + dK/dq 2 D (ut_i - ut_j),  ut = (xt - u scalet) / scale
 *   dK/dq follows from K and q, so that the sweeps need no exponentials; f = K / sigma^2, but
 *   where sigma^2 is next to nothing.
 *
 * Exponentials are those of elementwise.h. Source: Rasmussen and Williams 2006, 4.2, 5.9. */
#include <math.h>
#include <wengert/elementwise.h>
#include <wengert/operation.h>
#include <wengert/products.h>
#include <wengert/reduce.h>
#include <wengert/statistics.h>
#include "factor.h"
#include "covariance.h"
#include "expand.h"
#include "traits.h"

static wg_status misfit(wg_block *b, const char *why) {
    b->why = why;
    return WG_ESHAPE;
}

/* ---- a factored covariance: density and H ---- */

/* S^-1 is kept once a derivative has computed it, for those after it: its strict lower triangle turned into
 * the upper one of l, its diagonal beside. */
struct normal {
    size_t n, k;
    double *l; /* the lower triangle is the Cholesky factor; ld n */
    double *a; /* n by k: residuals, then S^-1 of them */
    double *c; /* is S^-1 there? and its diagonal */
};
static size_t inverse_doubles(size_t n) { return 1 + n; }

/* l holds S, a the residuals. The log-density; *info != 0: not positive definite. */
static double density(const struct normal *d, double *quadratic, int *info) {
    const int n = wgi_int(d->n), k = wgi_int(d->k);
    const double log_2_pi = 1.8378770664093454836;
    double sum = 0, half = 0;
    d->c[0] = 0;
    if (n == 0) return 0;
    *info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, d->l, n);
    if (*info != 0) return 0;
    for (size_t i = 0; i < d->n; i++) half += log(d->l[i * (d->n + 1)]);
    if (k != 0) {
        memcpy(quadratic, d->a, d->n * d->k * sizeof *quadratic);
        (void)LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, k, d->l, n, d->a, n);
        sum = cblas_ddot(n * k, quadratic, 1, d->a, 1);
    }
    return -0.5 * ((double)d->k * ((double)d->n * log_2_pi + 2 * half) + sum);
}

/* to, its strict upper triangle, = the strict lower one of from, or the other way round; tile by tile, of
 * both of which the cache has all lines. */
static void turn_triangle(size_t n, const double *from, int upper, double *to) {
    enum { TILE = 8 };
    for (size_t first = 0; first < n; first += TILE)
        for (size_t below = first; below < n; below += TILE) {
            const size_t end = below + TILE < n ? below + TILE : n;
            for (size_t j = first; j < first + TILE && j < n; j++)
                for (size_t i = below > j ? below : j + 1; i < end; i++) {
                    const size_t low = i + j * n, high = j + i * n;
                    to[upper ? low : high] = from[upper ? high : low];
                }
        }
}

/* s, its lower triangle, = S^-1 for the factor l and what c knows of it. */
static void inverse_of(size_t n, double *l, double *c, double *s) {
    if (c[0] != 0) {
        turn_triangle(n, l, 1, s);
        for (size_t j = 0; j < n; j++) s[j + j * n] = c[1 + j];
        return;
    }
    wgi_cholesky_inverse(n, l, s);
    turn_triangle(n, s, 0, l);
    for (size_t j = 0; j < n; j++) c[1 + j] = s[j + j * n];
    c[0] = 1;
}

/* h, its lower triangle, = H. */
static void curvature(const struct normal *d, double *h) {
    const int n = wgi_int(d->n), k = wgi_int(d->k);
    if (n == 0) return;
    inverse_of(d->n, d->l, d->c, h);
    if (k == 1) {
        for (size_t j = 0; j < d->n; j++) {
            const double s = d->a[j];
            double *const column = h + j * d->n;
            for (size_t i = j; i < d->n; i++) column[i] = d->a[i] * s - column[i];
        }
    } else {
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, 1, d->a, n, -(double)k, h,
                    n);
    }
}

/* The same of a symmetric s, as variables; residuals a are lost. */
static wg_real write_density(wg_tape *t, size_t n, size_t k, const wg_real *s, wg_real *a) {
    const double log_2_pi = 1.8378770664093454836;
    const wg_real *const l = wgi_expand_cholesky(t, n, s);
    if (n == 0 || l == NULL || a == NULL) return wg_constant(0);
    wg_real half = wg_constant(0);
    for (size_t i = 0; i < n; i++)
        half = wgi_expand_plus(t, half, wg_let(t, wg_log(l[i * (n + 1)])));
    wgi_expand_triangle(t, wgi_reals_packed(l, n, n), 0, 0, k, a, 1, n);
    const wg_real sum = wg_squared_norm(t, n * k, a);
    return wg_let(
        t, wg_mul(-0.5, wg_add(wg_mul((double)k, wg_add((double)n * log_2_pi, wg_mul(2, half))),
                               sum)));
}

/* ---- the normal density: operands Y, mu, S ---- */

static struct normal normal_of(const wg_block *b) {
    char *saved = (char *)b->saved;
    struct normal d = {.n = b->in[0].rows, .k = b->in[0].cols};
    d.l = wgi_take(&saved, d.n * d.n), d.a = wgi_take(&saved, d.n * d.k);
    d.c = wgi_take(&saved, inverse_doubles(d.n));
    return d;
}

static wg_status normal_shape(wg_block *b) {
    const size_t n = b->in[0].rows, k = b->in[0].cols;
    if (b->in[1].rows != n || b->in[1].cols != 1)
        return misfit(b, "the mean has not the length of an observation");
    if (b->in[2].rows != n || b->in[2].cols != n)
        return misfit(b, "the covariance has not the order of an observation");
    b->out[0].rows = b->out[0].cols = 1;
    b->saved_bytes = wgi_room_of(n * n) + wgi_room_of(n * k) + wgi_room_of(inverse_doubles(n));
    b->work_bytes = wgi_room_of(n * (n > k ? n : k));
    return WG_OK;
}

static wg_status not_definite(wg_block *b) {
    b->why = "the covariance is not positive definite";
    return WG_ESINGULAR;
}

static wg_status normal_value(wg_block *b) {
    const struct normal d = normal_of(b);
    const wg_block_arg *const y = &b->in[0];
    for (size_t c = 0; c < d.k; c++)
        for (size_t i = 0; i < d.n; i++)
            d.a[i + c * d.n] = y->value[i + c * y->ld] - b->in[1].value[i];
    wgi_copy_lower_of(d.n, b->in[2].value, b->in[2].ld, b->in[2].trans != 0, d.l, d.n);
    b->out[0].value[0] = density(&d, (double *)b->work, &b->info);
    return b->info != 0 ? not_definite(b) : WG_OK;
}

static wg_status normal_vjp(wg_block *b) {
    const struct normal d = normal_of(b);
    const double w = b->out[0].bar[0];
    const wg_block_arg *const s = &b->in[2];
    double *const h = (double *)b->work;
    if (b->in[0].bar != NULL) wgi_add(d.n, d.k, -w, d.a, wgi_bar_of(&b->in[0], d.k, 0));
    for (size_t c = 0; c < d.k && b->in[1].bar != NULL; c++)
        for (size_t i = 0; i < d.n; i++) b->in[1].bar[i] += w * d.a[i + c * d.n];
    if (s->bar == NULL) return WG_OK;
    curvature(&d, h);
    wgi_add_symmetric(d.n, 0.5 * w, h, d.n, s->bar, s->bar_ld);
    return WG_OK;
}

static wg_status normal_jvp(wg_block *b) {
    const struct normal d = normal_of(b);
    const wg_block_arg *const y = &b->in[0], *const m = &b->in[1], *const s = &b->in[2];
    double *const h = (double *)b->work;
    double sum = 0;
    for (size_t c = 0; c < d.k; c++)
        for (size_t i = 0; i < d.n; i++) {
            if (y->bar != NULL) sum -= d.a[i + c * d.n] * y->bar[i + c * y->bar_ld];
            if (m->bar != NULL) sum += d.a[i + c * d.n] * m->bar[i];
        }
    if (s->bar != NULL) {
        curvature(&d, h);
        for (size_t j = 0; j < d.n; j++)
            for (size_t i = 0; i < d.n; i++)
                sum += 0.5 * h[i > j ? i + j * d.n : j + i * d.n] * s->bar[i + j * s->bar_ld];
    }
    b->out[0].bar[0] = sum;
    return WG_OK;
}

static wg_status normal_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows, k = b->in[0].cols;
    wg_real *const a = wgi_expand_room(t, n * k);
    for (size_t e = 0; a != NULL && e < n * k; e++)
        a[e] = wg_let(t, wg_sub(x[e], wgi_reals_operand(b, x, 1).p[e % n]));
    *y = write_density(t, n, k, wgi_expand_symmetric(t, wgi_reals_operand(b, x, 2), 0), a);
    return WG_OK;
}

/* Of a covariance S with the factor l, and residuals R: a = S^-1 R and w/2 H. */
static wg_mat solved(wg_tape *t, const struct normal *d, wg_mat s, wg_mat r) {
    const wgi_factored p = {WG_CHOLESKY, 0, 1, d->l, NULL};
    const wg_mat in[2] = {s, r};
    wg_mat a;
    (void)wg_apply(t, &wgi_op_factor_solve, &p, sizeof p, 2, in, 1, &a);
    return a;
}

/* w/2 H as an operation: operands S, a, w; params the factor of S, and whether its user looks at the
 * lower triangle only, and has S, tangents too, symmetric. Tangent
 *     w/2 (at a' + a at' + k C St C) + wt/2 H,  C = S^-1
 * of which the last product costs 3 n^3 flops. saved: C. */
struct curved {
    double *l, *c; /* of a struct normal */
    int lower;
};

static wg_status curved_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->out[0].rows = b->out[0].cols = n;
    b->saved_bytes = wgi_room_of(n * n);
    b->work_bytes = 2 * wgi_room_of(n * n) + wgi_room_of(WGI_TRIANGLE);
    return WG_OK;
}

/* h, its lower triangle, += f H. */
static void add_curvature(const wg_block *b, double f, double *h) {
    const wg_block_arg *const a = &b->in[1];
    const size_t n = a->rows;
    const double *const c = b->saved, of_c = f * (double)a->cols;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) h[i + j * n] -= of_c * c[i + j * n];
    for (size_t k = 0; k < a->cols; k++) {
        const double *const x = a->value + k * a->ld;
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++) h[i + j * n] += f * x[i] * x[j];
    }
}

static wg_status curved_value(wg_block *b) {
    const struct curved *const p = b->params;
    const size_t n = b->in[0].rows;
    double *const c = b->saved, *const h = memset(b->out[0].value, 0, n * n * sizeof *h);
    inverse_of(n, p->l, p->c, c);
    wgi_mirror(n, c, n);
    add_curvature(b, 0.5 * b->in[2].value[0], h);
    if (!p->lower) wgi_mirror(n, h, n);
    return WG_OK;
}

static wg_status curved_jvp(wg_block *b) {
    const struct curved *const p = b->params;
    const wg_block_arg *const s = &b->in[0], *const a = &b->in[1];
    const size_t n = s->rows, k = a->cols;
    const double half = 0.5 * b->in[2].value[0], *const wt = b->in[2].bar, *const c = b->saved;
    double *const ht = memset(b->out[0].bar, 0, n * n * sizeof *ht);
    char *work = b->work;
    double *const left = wgi_take(&work, n * n), *const room = wgi_take(&work, n * n);
    if (s->bar != NULL && k != 0) {
        const int order = wgi_int(n);
        if (!p->lower) wgi_symmetrise(n, s->bar, s->bar_ld, room);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, order, order, order, 1, c, order,
                    p->lower ? s->bar : room, p->lower ? wgi_int(s->bar_ld) : order, 0, left,
                    order);
        wgi_gemm_triangle('L', 0, n, n, half * (double)k, 'N', left, n, 'N', c, n, ht, n,
                          (double *)(void *)work);
    }
    for (size_t e = 0; e < k && a->bar != NULL; e++) {
        const double *const x = a->value + e * a->ld, *const xt = a->bar + e * a->bar_ld;
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++)
                ht[i + j * n] += half * (xt[i] * x[j] + x[i] * xt[j]);
    }
    if (wt != NULL && wt[0] != 0) add_curvature(b, 0.5 * wt[0], ht);
    if (!p->lower) wgi_mirror(n, ht, n);
    return WG_OK;
}

static wg_mat half_curvature(wg_tape *t, const struct normal *d, int lower, wg_mat s, wg_mat a,
                             wg_mat w) {
    static const wg_block_op op = {"curvature of a normal density",
                                   WG_OP_TRANS,
                                   curved_shape,
                                   curved_value,
                                   NULL,
                                   curved_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const struct curved p = {d->l, d->c, lower};
    const wg_mat in[3] = {s, a, w};
    wg_mat h;
    (void)wg_apply(t, &op, &p, sizeof p, 3, in, 1, &h);
    return h;
}

/* Y_ = - w a,  mu_ = w sum of a,  S_ = w/2 H */
static wg_status normal_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    const struct normal d = normal_of(b);
    (void)out;
    if (d.n == 0) return WG_OK;
    const wg_mat a = solved(t, &d, in[2], wg_mat_sub(t, in[0], in[1]));
    const wg_mat wa = wg_mat_mul(t, bar[0], a);
    back[0] = wg_mat_neg(t, wa);
    back[1] = wg_mat_sum_axis(t, wa, WG_EACH_ROW);
    if (in[2].at.slot != 0) back[2] = half_curvature(t, &d, 0, in[2], a, bar[0]);
    return wg_tape_status(t);
}

static const wgi_traits density_traits = {.apart = 1};
const wg_block_op wgi_op_normal = {"wg_mvn_logpdf", WG_OP_EXPANDS,  normal_shape,
                                   normal_value,    normal_vjp,     normal_jvp,
                                   normal_expand,   normal_adjoint, &density_traits};

wg_real wg_mvn_logpdf(wg_tape *t, wg_mat y, wg_mat mu, wg_mat s) {
    const wg_mat in[3] = {y, mu, s};
    wg_mat out;
    (void)wg_apply(t, &wgi_op_normal, NULL, 0, 3, in, 1, &out);
    return wg_mat_at(out, 0, 0);
}

/* ---- covariance functions ---- */

/* The adjoints of a column of pairs with distances q and h = e dK/dq: of point p (bar pw, both
 * `step` apart) and of the n points u (bar xw); NULL: not wanted. */
static void column_adjoint(size_t n, size_t d, const double *u, size_t ldu, const double *p,
                           size_t step, const double *q, const double *h,
                           const wg_block_arg *scale, double *xw, size_t ldx, double *pw,
                           size_t step_w) {
    const int one = scale->rows == 1;
    if (n == 0) return;
    if (one && scale->bar != NULL) scale->bar[0] -= 2 * wgi_pair_dot(n, h, q) / scale->value[0];
    if ((one || scale->bar == NULL) && xw == NULL && pw == NULL) return;
    for (size_t c = 0; c < d; c++) {
        const double f = scale->value[one ? 0 : c], a = p[c * step];
        const double *const x = u + c * ldu;
        if (!one && scale->bar != NULL)
            scale->bar[c] -= 2 * wgi_pair_dot_apart(n, h, x, a, 1) / f;
        if (xw != NULL)
            for (size_t i = 0; i < n; i++) xw[i + c * ldx] += 2 * h[i] * (x[i] - a) / f;
        if (pw != NULL) pw[c * step_w] -= 2 * wgi_pair_dot_apart(n, h, x, a, 0) / f;
    }
}

/* t = the tangents of a column of pairs; h = dK/dq, k at = 2 K sigmat / sigma; t may be k. */
static void column_tangent(size_t n, size_t d, const double *u, const double *ut, size_t ldu,
                           const double *p, const double *pt, size_t step, const double *h,
                           const double *k, double at, double *t) {
    enum { PIECE = 64 };
    for (size_t first = 0; first < n; first += PIECE) {
        const size_t m = n - first < PIECE ? n - first : PIECE;
        double qt[PIECE] = {0};
        for (size_t c = 0; c < d; c++) {
            const double *const x = u + first + c * ldu, *const xt = ut + first + c * ldu;
            const double a = p[c * step], at_c = pt[c * step];
            for (size_t i = 0; i < m; i++) qt[i] += 2 * (x[i] - a) * (xt[i] - at_c);
        }
        for (size_t i = first; i < first + m; i++)
            t[i] = k[i] * at + (h[i] != 0 ? h[i] * qt[i - first] : 0);
    }
}

static wg_status kernel_shape(wg_block *b, const wg_block_arg *x, const wg_block_arg *scale) {
    if ((unsigned)*(const wg_kernel *)b->params > WG_MATERN_52) {
        b->why = "there is no such kernel";
        return WG_EARG;
    }
    if (scale->cols != 1 || (scale->rows != 1 && scale->rows != x->cols))
        return misfit(b, "there is neither one length scale nor one for each coordinate");
    return WG_OK;
}

/* ---- written out, as a part of a function ---- */

/* The covariance of points i of x and j of z; `square` = sigma^2. */
static wg_real write_pair(wg_tape *t, wg_kernel kernel, wgi_reals x, size_t i, wgi_reals z,
                          size_t j, wgi_reals scale, wg_real square) {
    wg_real q = wg_constant(0);
    for (size_t c = 0; c < x.cols; c++) {
        const wg_real apart = wg_let(t, wg_sub(wgi_reals_at(x, i, c), wgi_reals_at(z, j, c)));
        const wg_real given = wgi_reals_at(scale, scale.rows == 1 ? 0 : c, 0);
        if (wgi_expand_is_nothing(apart) && given.at.slot == 0 && given.value != 0) continue;
        /* NaN at 0, by a factor: an alternative would have the derivative 0 there */
        const wg_real f = wg_let(t, wg_mul(given, wg_select_eq(given, 0, NAN, 1)));
        q = wgi_expand_plus(t, q, wg_let(t, wg_square(wg_div(apart, f))));
    }
    switch (kernel) {
    case WG_SQUARED_EXPONENTIAL:
        return wg_let(t, wg_mul(square, wg_exp(wg_mul(-0.5, q))));
    case WG_MATERN_12: {
        /* of points that coincide the root has no derivative: they have none of any order */
        const wg_real apart = wg_let(t, wg_select_eq(q, 0, 1, q));
        const wg_real r = wg_let(t, wg_select_eq(q, 0, 0, wg_sqrt(apart)));
        return wg_let(t, wg_mul(square, wg_exp(wg_neg(r))));
    }
    case WG_MATERN_32:
        return wg_let(t, wg_mul(square, wg_apply_scalar(t, wgi_expand_matern_32, &q)));
    default:
        return wg_let(t, wg_mul(square, wg_apply_scalar(t, wgi_expand_matern_52, &q)));
    }
}

/* Operands 0 to 2 are points, scale, amplitudes; k of n by n. */
static void write_covariance(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *k) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const wgi_reals points = wgi_reals_operand(b, x, 0), scale = wgi_reals_operand(b, x, 1);
    const wg_real *const amplitudes = wgi_reals_operand(b, x, 2).p;
    const size_t n = points.rows;
    if (k == NULL) return;
    const wg_real square = wg_let(t, wg_square(amplitudes[0]));
    for (size_t j = 0; j < n; j++) {
        k[j * (n + 1)] = wg_let(t, wg_add(square, wg_square(amplitudes[1])));
        for (size_t i = j + 1; i < n; i++)
            k[i + j * n] = k[j + i * n] =
                write_pair(t, kernel, points, i, points, j, scale, square);
    }
}

/* ---- covariance matrices: operands X, scale, (sigma, noise); or X, scale, sigma, Z ---- */

static wg_status covariance_shape(wg_block *b) {
    const size_t n = b->in[WGI_PAIR_POINTS].rows, d = b->in[WGI_PAIR_POINTS].cols;
    const wg_status s = kernel_shape(b, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE]);
    if (s != WG_OK) return s;
    size_t m = n;
    if (b->inputs == 4) {
        m = b->in[WGI_PAIR_OTHERS].rows;
        if (b->in[WGI_PAIR_OTHERS].cols != d)
            return misfit(b, "the points have not the same number of coordinates");
    }
    b->out[0].rows = n, b->out[0].cols = m;
    b->saved_bytes = wgi_room_of(n * d) + (b->inputs == 4 ? wgi_room_of(m * d) : 0);
    b->work_bytes = 3 * wgi_room_of(n) + wgi_room_of(n * d) + wgi_room_of(m * d);
    return WG_OK;
}

struct points {
    size_t n, m, d;
    double *u, *v;        /* scaled: of the rows, of the columns */
    double *q, *e, *ones; /* workspace of n */
    double *ut, *vt;
    double sigma, noise;
};

static struct points points_of(const wg_block *b) {
    struct points s;
    char *saved = (char *)b->saved, *work = (char *)b->work;
    s.n = b->in[WGI_PAIR_POINTS].rows, s.m = b->out[0].cols, s.d = b->in[WGI_PAIR_POINTS].cols;
    s.u = wgi_take(&saved, s.n * s.d);
    s.v = b->inputs == 4 ? wgi_take(&saved, s.m * s.d) : s.u;
    s.q = wgi_take(&work, s.n), s.e = wgi_take(&work, s.n), s.ones = wgi_take(&work, s.n);
    s.ut = wgi_take(&work, s.n * s.d);
    s.vt = b->inputs == 4 ? wgi_take(&work, s.m * s.d) : s.ut;
    s.sigma = b->in[WGI_PAIR_AMPLITUDES].value[0];
    s.noise = b->inputs == 4 ? 0 : b->in[WGI_PAIR_AMPLITUDES].value[1];
    return s;
}

static wg_status covariance_value(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const struct points s = points_of(b);
    const int square = b->inputs == 3;
    double *const k = b->out[0].value;
    wgi_pair_scaled(s.n, s.d, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE], s.u);
    if (!square)
        wgi_pair_scaled(s.m, s.d, &b->in[WGI_PAIR_OTHERS], &b->in[WGI_PAIR_SCALE], s.v);
    for (size_t j = 0; j < s.m; j++) {
        const size_t i = square ? j + 1 : 0, n = s.n - i;
        double *const column = k + j * s.n + i;
        if (square) k[j * (s.n + 1)] = s.sigma * s.sigma + s.noise * s.noise;
        wgi_pair_distances(n, s.d, s.u + i, s.n, s.v + j, s.m, column);
        wgi_pair_covariances(kernel, n, s.sigma * s.sigma, column, column);
    }
    if (square) wgi_mirror(s.n, k, s.n);
    return WG_OK;
}

static wg_status covariance_vjp(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const struct points s = points_of(b);
    const int square = b->inputs == 3;
    const wg_block_arg *const x = &b->in[WGI_PAIR_POINTS];
    const wg_block_arg *const z = square ? x : &b->in[WGI_PAIR_OTHERS];
    const wg_block_arg *const amplitudes = &b->in[WGI_PAIR_AMPLITUDES];
    const double *const w = b->out[0].bar;
    double sum = 0, diagonal = 0;
    for (size_t j = 0; j < s.m; j++) {
        const size_t i = square ? j + 1 : 0, n = s.n - i;
        const double *const k = b->out[0].value + j * s.n + i;
        if (square) {
            diagonal += w[j * (s.n + 1)];
            for (size_t l = 0; l < n; l++) s.e[l] = w[i + l + j * s.n] + w[j + (i + l) * s.n];
        } else memcpy(s.e, w + j * s.n, n * sizeof *s.e);
        const int points =
            b->in[WGI_PAIR_SCALE].bar != NULL || x->bar != NULL || z->bar != NULL;
        if (points || wgi_pair_is_tiny(s.sigma))
            wgi_pair_distances(n, s.d, s.u + i, s.n, s.v + j, s.m, s.q);
        if (wgi_pair_is_tiny(s.sigma)) wgi_pair_covariances(kernel, n, 1, s.q, s.ones);
        const double *const f = wgi_pair_is_tiny(s.sigma) ? s.ones : k;
        sum += wgi_pair_dot(n, s.e, f);
        if (!points) continue;
        wgi_pair_slopes(kernel, n, s.q, k, s.e, s.e);
        column_adjoint(n, s.d, s.u + i, s.n, s.v + j, s.m, s.q, s.e, &b->in[WGI_PAIR_SCALE],
                       x->bar != NULL ? x->bar + i : NULL, x->bar_ld,
                       z->bar != NULL ? z->bar + j : NULL, z->bar_ld);
    }
    if (amplitudes->bar != NULL) {
        amplitudes->bar[0] += wgi_pair_per_sigma(s.sigma) * sum + 2 * s.sigma * diagonal;
        if (square) amplitudes->bar[1] += 2 * s.noise * diagonal;
    }
    return WG_OK;
}

static wg_status covariance_jvp(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const struct points s = points_of(b);
    const int square = b->inputs == 3;
    const double *const amplitudes = b->in[WGI_PAIR_AMPLITUDES].bar;
    double *const kt = b->out[0].bar;
    const double st = amplitudes != NULL ? amplitudes[0] : 0;
    wgi_pair_scaled_tangents(s.n, s.d, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE], s.u,
                             s.ut);
    if (!square)
        wgi_pair_scaled_tangents(s.m, s.d, &b->in[WGI_PAIR_OTHERS], &b->in[WGI_PAIR_SCALE], s.v,
                                 s.vt);
    for (size_t i = 0; i < s.n; i++) s.ones[i] = 1;
    for (size_t j = 0; j < s.m; j++) {
        const size_t i = square ? j + 1 : 0, n = s.n - i;
        const double *const k = b->out[0].value + j * s.n + i;
        wgi_pair_distances(n, s.d, s.u + i, s.n, s.v + j, s.m, s.q);
        wgi_pair_slopes(kernel, n, s.q, k, s.ones, s.e);
        double *const to = kt + j * s.n + i;
        if (wgi_pair_is_tiny(s.sigma)) wgi_pair_covariances(kernel, n, 1, s.q, to);
        column_tangent(n, s.d, s.u + i, s.ut + i, s.n, s.v + j, s.vt + j, s.m, s.e,
                       wgi_pair_is_tiny(s.sigma) ? to : k, st * wgi_pair_per_sigma(s.sigma),
                       to);
        if (square) {
            kt[j * (s.n + 1)] = 2 * s.sigma * st;
            if (amplitudes != NULL) kt[j * (s.n + 1)] += 2 * s.noise * amplitudes[1];
        }
    }
    if (square) wgi_mirror(s.n, kt, s.n);
    return WG_OK;
}

static wg_status covariance_expand(wg_tape *t, const wg_block *b, const wg_real *x,
                                   wg_real *y) {
    if (b->inputs == 3) {
        write_covariance(t, b, x, y);
        return WG_OK;
    }
    const wg_real square =
        wg_let(t, wg_square(*wgi_reals_operand(b, x, WGI_PAIR_AMPLITUDES).p));
    const wgi_reals points = wgi_reals_operand(b, x, WGI_PAIR_POINTS);
    const wgi_reals others = wgi_reals_operand(b, x, WGI_PAIR_OTHERS);
    for (size_t j = 0; j < others.rows; j++)
        for (size_t i = 0; i < points.rows; i++)
            *y++ = write_pair(t, *(const wg_kernel *)b->params, points, i, others, j,
                              wgi_reals_operand(b, x, WGI_PAIR_SCALE), square);
    return WG_OK;
}

static wg_status covariance_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,
                                    const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    return wgi_pair_adjoints(t, *(const wg_kernel *)b->params, 0, b->inputs, in, out[0], bar[0],
                             back);
}

const wg_block_op wgi_op_covariance = {"wg_covariance",   WG_OP_EXPANDS,      covariance_shape,
                                       covariance_value,  covariance_vjp,     covariance_jvp,
                                       covariance_expand, covariance_adjoint, NULL};
const wg_block_op wgi_op_between = {
    "wg_covariance_between", WG_OP_EXPANDS,      covariance_shape,
    covariance_value,        covariance_vjp,     covariance_jvp,
    covariance_expand,       covariance_adjoint, NULL};

wg_mat wg_covariance(wg_tape *t, wg_kernel kernel, wg_mat x, wg_mat scale, wg_real sigma,
                     wg_real noise) {
    const wg_real amplitudes[2] = {sigma, noise};
    const wg_mat in[3] = {x, scale, wg_mat_gather(t, 2, 1, amplitudes)};
    wg_mat k;
    (void)wg_apply(t, &wgi_op_covariance, &kernel, sizeof kernel, 3, in, 1, &k);
    return k;
}

wg_mat wg_covariance_between(wg_tape *t, wg_kernel kernel, wg_mat x, wg_mat z, wg_mat scale,
                             wg_real sigma) {
    const wg_mat in[4] = {x, scale, wg_mat_gather(t, 1, 1, &sigma), z};
    wg_mat k;
    (void)wg_apply(t, &wgi_op_between, &kernel, sizeof kernel, 4, in, 1, &k);
    return k;
}

/* ---- Gaussian process: operands X, scale, (sigma, noise), Y ----
 * Pairs of points (i, j), i > j, are met column by column, as the lower triangles of the
 * Cholesky factor and of H have them, and f, the covariances for sigma = 1, which are kept. */

struct process {
    struct normal normal;
    size_t d;
    double *u, *f;
    double *h, *q, *slope, *ut; /* workspace; h also for residuals */
    double sigma, noise;
};

static size_t pairs_of(size_t n) { return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n; }
/* Column j of a triangle of pairs. */
static size_t pairs_before(size_t n, size_t j) { return pairs_of(n) - pairs_of(n - j); }

static struct process process_of(const wg_block *b) {
    struct process s;
    char *saved = (char *)b->saved, *work = (char *)b->work;
    const size_t n = b->in[WGI_PAIR_POINTS].rows, k = b->in[WGI_PAIR_OTHERS].cols;
    s.d = b->in[WGI_PAIR_POINTS].cols;
    s.normal.n = n, s.normal.k = k;
    s.normal.l = wgi_take(&saved, n * n), s.normal.a = wgi_take(&saved, n * k);
    s.u = wgi_take(&saved, n * s.d), s.f = wgi_take(&saved, pairs_of(n));
    s.normal.c = wgi_take(&saved, inverse_doubles(n));
    s.h = wgi_take(&work, n * (n > k ? n : k));
    s.q = wgi_take(&work, n), s.slope = wgi_take(&work, n), s.ut = wgi_take(&work, n * s.d);
    s.sigma = b->in[WGI_PAIR_AMPLITUDES].value[0],
    s.noise = b->in[WGI_PAIR_AMPLITUDES].value[1];
    return s;
}

static wg_status process_shape(wg_block *b) {
    const size_t n = b->in[WGI_PAIR_POINTS].rows, d = b->in[WGI_PAIR_POINTS].cols,
                 k = b->in[WGI_PAIR_OTHERS].cols;
    const wg_status s = kernel_shape(b, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE]);
    if (s != WG_OK) return s;
    if (b->in[WGI_PAIR_OTHERS].rows != n)
        return misfit(b, "there is not one observation for each point");
    /* K is no operand: nobody has asked yet whether its size can be counted */
    if (n != 0 && n > SIZE_MAX / 64 / n) return misfit(b, "there are too many points");
    b->out[0].rows = b->out[0].cols = 1;
    b->saved_bytes = wgi_room_of(n * n) + wgi_room_of(n * k) + wgi_room_of(n * d) +
                     wgi_room_of(pairs_of(n)) + wgi_room_of(inverse_doubles(n));
    b->work_bytes = wgi_room_of(n * (n > k ? n : k)) + 2 * wgi_room_of(n) + wgi_room_of(n * d);
    return WG_OK;
}

/* Distances q of point j from those after it. */
static size_t distances_after(const struct process *s, size_t j, double *q) {
    const size_t n = s->normal.n, m = n - j - 1;
    wgi_pair_distances(m, s->d, s->u + j + 1, n, s->u + j, n, q);
    return m;
}

static wg_status process_value(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const struct process s = process_of(b);
    const size_t n = s.normal.n;
    wgi_pair_scaled(n, s.d, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE], s.u);
    for (size_t j = 0; j < n; j++) {
        double *const k = s.normal.l + j * (n + 1), *const f = s.f + pairs_before(n, j);
        const double square = s.sigma * s.sigma;
        const size_t m = distances_after(&s, j, s.q);
        wgi_pair_covariances(kernel, m, 1, s.q, f);
        k[0] = square + s.noise * s.noise;
        for (size_t i = 0; i < m; i++) k[1 + i] = square * f[i];
    }
    wgi_get(n, s.normal.k, wgi_value_of(&b->in[WGI_PAIR_OTHERS], s.normal.k, 0), s.normal.a);
    b->out[0].value[0] = density(&s.normal, s.h, &b->info);
    return b->info != 0 ? not_definite(b) : WG_OK;
}

static wg_status process_vjp(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const struct process s = process_of(b);
    const size_t n = s.normal.n;
    const wg_block_arg *const x = &b->in[WGI_PAIR_POINTS], *const scale =
                                                               &b->in[WGI_PAIR_SCALE];
    const wg_block_arg *const amplitudes = &b->in[WGI_PAIR_AMPLITUDES],
                              *const y = &b->in[WGI_PAIR_OTHERS];
    const double w = b->out[0].bar[0], square = s.sigma * s.sigma;
    double sum = 0, diagonal = 0;
    if (y->bar != NULL) wgi_add(n, s.normal.k, -w, s.normal.a, wgi_bar_of(y, s.normal.k, 0));
    if (x->bar == NULL && scale->bar == NULL && amplitudes->bar == NULL) return WG_OK;
    curvature(&s.normal, s.h);
    for (size_t j = 0; j < n; j++) {
        double *const h = s.h + j * (n + 1) + 1;
        const double *const f = s.f + pairs_before(n, j);
        const size_t m = n - j - 1, i = j + 1;
        diagonal += h[-1];
        sum += wgi_pair_dot(m, h, f);
        if (x->bar == NULL && scale->bar == NULL) continue;
        (void)distances_after(&s, j, s.q);
        for (size_t e = 0; e < m; e++) h[e] *= w * square;
        wgi_pair_slopes(kernel, m, s.q, f, h, h);
        column_adjoint(m, s.d, s.u + i, n, s.u + j, n, s.q, h, scale,
                       x->bar != NULL ? x->bar + i : NULL, x->bar_ld,
                       x->bar != NULL ? x->bar + j : NULL, x->bar_ld);
    }
    if (amplitudes->bar != NULL) {
        amplitudes->bar[0] += w * s.sigma * (2 * sum + diagonal);
        amplitudes->bar[1] += w * s.noise * diagonal;
    }
    return WG_OK;
}

static wg_status process_jvp(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const struct process s = process_of(b);
    const size_t n = s.normal.n;
    const wg_block_arg *const y = &b->in[WGI_PAIR_OTHERS];
    const double *const amplitudes = b->in[WGI_PAIR_AMPLITUDES].bar;
    const double st = amplitudes != NULL ? amplitudes[0] : 0;
    const double noise_t = amplitudes != NULL ? amplitudes[1] : 0;
    const double square = s.sigma * s.sigma;
    double sum = 0;
    for (size_t c = 0; c < s.normal.k && y->bar != NULL; c++)
        for (size_t i = 0; i < n; i++) sum -= s.normal.a[i + c * n] * y->bar[i + c * y->bar_ld];
    wgi_pair_scaled_tangents(n, s.d, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE], s.u,
                             s.ut);
    curvature(&s.normal, s.h);
    for (size_t j = 0; j < n; j++) {
        const double *const h = s.h + j * (n + 1) + 1, *const f = s.f + pairs_before(n, j);
        const size_t m = distances_after(&s, j, s.q), i = j + 1;
        for (size_t e = 0; e < m; e++) s.slope[e] = square;
        wgi_pair_slopes(kernel, m, s.q, f, s.slope, s.slope);
        column_tangent(m, s.d, s.u + i, s.ut + i, n, s.u + j, s.ut + j, n, s.slope, f,
                       2 * s.sigma * st, s.q);
        sum += wgi_pair_dot(m, h, s.q) + h[-1] * (s.sigma * st + s.noise * noise_t);
    }
    b->out[0].bar[0] = sum;
    return WG_OK;
}

static wg_status process_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals others = wgi_reals_operand(b, x, WGI_PAIR_OTHERS);
    const size_t n = others.rows;
    wg_real *const k = wgi_expand_room(t, n * n);
    write_covariance(t, b, x, k);
    *y = write_density(t, n, others.cols, k, wgi_expand_copied(t, others));
    return WG_OK;
}

/* The covariances once more, as an operation, from those that the value has kept. */
struct known {
    wg_kernel kernel;
    const double *f;
};

static wg_status known_value(wg_block *b) {
    const struct points s = points_of(b);
    const double *f = ((const struct known *)b->params)->f;
    const double square = s.sigma * s.sigma;
    double *const k = b->out[0].value;
    wgi_pair_scaled(s.n, s.d, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE], s.u);
    for (size_t j = 0; j < s.n; j++) {
        k[j * (s.n + 1)] = square + s.noise * s.noise;
        for (size_t i = j + 1; i < s.n; i++) k[i + j * s.n] = square * *f++;
    }
    wgi_mirror(s.n, k, s.n);
    return WG_OK;
}

/* Y_ = - w a; the others from those of the covariances, w/2 H. */
static wg_status process_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"covariance of wg_gp_logml",
                                   0,
                                   covariance_shape,
                                   known_value,
                                   NULL,
                                   covariance_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const struct process s = process_of(b);
    const struct known p = {*(const wg_kernel *)b->params, s.f};
    wg_mat k;
    (void)out;
    if (s.normal.n == 0) return WG_OK;
    const wg_status r = wg_apply(t, &op, &p, sizeof p, 3, in, 1, &k);
    if (r != WG_OK) return r;
    const wg_mat a = solved(t, &s.normal, k, in[WGI_PAIR_OTHERS]);
    back[WGI_PAIR_OTHERS] = wg_mat_neg(t, wg_mat_mul(t, bar[0], a));
    const wg_mat h = half_curvature(t, &s.normal, 1, k, a, bar[0]);
    return wgi_pair_adjoints(t, p.kernel, 1, WGI_PAIR_OTHERS, in, k, h, back);
}

const wg_block_op wgi_op_process = {"wg_gp_logml",  WG_OP_EXPANDS,   process_shape,
                                    process_value,  process_vjp,     process_jvp,
                                    process_expand, process_adjoint, &density_traits};

wg_real wg_gp_logml(wg_tape *t, wg_kernel kernel, wg_mat x, wg_mat y, wg_mat scale,
                    wg_real sigma, wg_real noise) {
    const wg_real amplitudes[2] = {sigma, noise};
    const wg_mat in[4] = {x, scale, wg_mat_gather(t, 2, 1, amplitudes), y};
    wg_mat out;
    (void)wg_apply(t, &wgi_op_process, &kernel, sizeof kernel, 4, in, 1, &out);
    return wg_mat_at(out, 0, 0);
}

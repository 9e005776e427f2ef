/* SPDX-License-Identifier: MIT */
/* Gaussian densities.
 *
 *   r_c = y_c - mu,  a_c = S^-1 r_c,  w the adjoint of the log-density:
 *     Y_ -= w a,  mu_ += w sum_c a_c,  S_ += w/2 H,  H = sum_c a_c a_c' - k S^-1
 *     tangent  -sum_c a_c' (yt_c - mut) + sum(H o St)/2
 *
 * Source: Rasmussen and Williams 2006, 5.9. */
#include <math.h>
#include <wengert/elementwise.h>
#include <wengert/operation.h>
#include <wengert/products.h>
#include <wengert/reduce.h>
#include <wengert/statistics.h>
#include "factor.h"
#include "normal_density.h"

double wgi_normal_density(const wgi_normal *d, double *quadratic, int *info) {
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

/* to, its strict upper triangle, = the strict lower one of from, or the other way round; tile
 * by tile, of both of which the cache has all lines. */
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

void wgi_normal_curvature(const wgi_normal *d, double *h) {
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

wg_real wgi_normal_write(wg_tape *t, size_t n, size_t k, const wg_real *s, wg_real *a) {
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

static wgi_normal normal_of(const wg_block *b) {
    char *saved = (char *)b->saved;
    wgi_normal d = {.n = b->in[0].rows, .k = b->in[0].cols};
    d.l = wgi_take(&saved, d.n * d.n), d.a = wgi_take(&saved, d.n * d.k);
    d.c = wgi_take(&saved, wgi_normal_inverse(d.n));
    return d;
}

static wg_status normal_shape(wg_block *b) {
    const size_t n = b->in[0].rows, k = b->in[0].cols;
    if (b->in[1].rows != n || b->in[1].cols != 1)
        return wgi_block_refuse(b, WG_ESHAPE, "the mean has not the length of an observation");
    if (b->in[2].rows != n || b->in[2].cols != n)
        return wgi_block_refuse(b, WG_ESHAPE,
                                "the covariance has not the order of an observation");
    b->out[0].rows = b->out[0].cols = 1;
    b->saved_bytes =
        wgi_room_of(n * n) + wgi_room_of(n * k) + wgi_room_of(wgi_normal_inverse(n));
    b->work_bytes = wgi_room_of(n * (n > k ? n : k));
    return WG_OK;
}

wg_status wgi_normal_indefinite(wg_block *b) {
    return wgi_block_refuse(b, WG_ESINGULAR, "the covariance is not positive definite");
}

static wg_status normal_value(wg_block *b) {
    const wgi_normal d = normal_of(b);
    const wg_block_arg *const y = &b->in[0];
    for (size_t c = 0; c < d.k; c++)
        for (size_t i = 0; i < d.n; i++)
            d.a[i + c * d.n] = y->value[i + c * y->ld] - b->in[1].value[i];
    wgi_copy_lower_of(d.n, b->in[2].value, b->in[2].ld, b->in[2].trans != 0, d.l, d.n);
    b->out[0].value[0] = wgi_normal_density(&d, (double *)b->work, &b->info);
    return b->info != 0 ? wgi_normal_indefinite(b) : WG_OK;
}

static wg_status normal_vjp(wg_block *b) {
    const wgi_normal d = normal_of(b);
    const double w = b->out[0].bar[0];
    const wg_block_arg *const s = &b->in[2];
    double *const h = (double *)b->work;
    if (b->in[0].bar != NULL) wgi_add(d.n, d.k, -w, d.a, wgi_bar_of(&b->in[0], d.k, 0));
    for (size_t c = 0; c < d.k && b->in[1].bar != NULL; c++)
        for (size_t i = 0; i < d.n; i++) b->in[1].bar[i] += w * d.a[i + c * d.n];
    if (s->bar == NULL) return WG_OK;
    wgi_normal_curvature(&d, h);
    wgi_add_symmetric(d.n, 0.5 * w, h, d.n, s->bar, s->bar_ld);
    return WG_OK;
}

static wg_status normal_jvp(wg_block *b) {
    const wgi_normal d = normal_of(b);
    const wg_block_arg *const y = &b->in[0], *const m = &b->in[1], *const s = &b->in[2];
    double *const h = (double *)b->work;
    double sum = 0;
    for (size_t c = 0; c < d.k; c++)
        for (size_t i = 0; i < d.n; i++) {
            if (y->bar != NULL) sum -= d.a[i + c * d.n] * y->bar[i + c * y->bar_ld];
            if (m->bar != NULL) sum += d.a[i + c * d.n] * m->bar[i];
        }
    if (s->bar != NULL) {
        wgi_normal_curvature(&d, h);
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
    *y = wgi_normal_write(t, n, k, wgi_expand_symmetric(t, wgi_reals_operand(b, x, 2), 0), a);
    return WG_OK;
}

wg_mat wgi_normal_solved(wg_tape *t, const wgi_normal *d, wg_mat s, wg_mat r) {
    const wgi_factored p = {WG_CHOLESKY, 0, 1, d->l, NULL};
    const wg_mat in[2] = {s, r};
    return wgi_apply_one(t, &wgi_op_factor_solve, &p, sizeof p, 2, in);
}

/* w/2 H as an operation: operands S, a, w; params the factor of S, and whether its user looks
 * at the lower triangle only, and has S, tangents too, symmetric. Tangent
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

wg_mat wgi_normal_half_curvature(wg_tape *t, const wgi_normal *d, int lower, wg_mat s, wg_mat a,
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
    return wgi_apply_one(t, &op, &p, sizeof p, 3, in);
}

/* Y_ = - w a,  mu_ = w sum of a,  S_ = w/2 H */
static wg_status normal_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    const wgi_normal d = normal_of(b);
    (void)out;
    if (d.n == 0) return WG_OK;
    const wg_mat a = wgi_normal_solved(t, &d, in[2], wg_mat_sub(t, in[0], in[1]));
    const wg_mat wa = wg_mat_mul(t, bar[0], a);
    back[0] = wg_mat_neg(t, wa);
    back[1] = wg_mat_sum_axis(t, wa, WG_EACH_ROW);
    if (in[2].at.slot != 0) back[2] = wgi_normal_half_curvature(t, &d, 0, in[2], a, bar[0]);
    return wg_tape_status(t);
}

const wgi_traits wgi_normal_traits = {.apart = 1};
const wg_block_op wgi_op_normal = {"wg_mvn_logpdf", WG_OP_EXPANDS,  normal_shape,
                                   normal_value,    normal_vjp,     normal_jvp,
                                   normal_expand,   normal_adjoint, &wgi_normal_traits};

wg_real wg_mvn_logpdf(wg_tape *t, wg_mat y, wg_mat mu, wg_mat s) {
    const wg_mat in[3] = {y, mu, s};
    return wg_mat_at(wgi_apply_one(t, &wgi_op_normal, NULL, 0, 3, in), 0, 0);
}

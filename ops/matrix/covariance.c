/* SPDX-License-Identifier: MIT */
/* Covariance matrices.
 *
 *   A pair: q = |u_i - u_j|^2, u = x / scale; K = sigma^2 f(q); e the adjoint of the pair,
 *   h = e dK/dq, D = u_i - u_j:
 *     sigma_ += 2 e K / sigma
 *     scale_ -= 2 h D^2 / scale
 *     x_i_ += 2 h D / scale, and x_j_ -= the same
 *     tangent  2 K sigmat / sigma + dK/dq 2 D (ut_i - ut_j),  ut = (xt - u scalet) / scale
 *   dK/dq follows from K and q, so that the sweeps need no exponentials; f = K / sigma^2, but
 *   where sigma^2 is next to nothing.
 *
 * Exponentials are those of elementwise.h. Source: Rasmussen and Williams 2006, 4.2. */
#include <math.h>
#include <wengert/elementwise.h>
#include <wengert/operation.h>
#include <wengert/statistics.h>
#include "covariance.h"
#include "expand.h"

void wgi_pair_column_adjoint(wg_kernel kernel, size_t n, size_t d, const double *u, size_t ldu,
                             const double *p, size_t step, const double *q, const double *h,
                             const wg_block_arg *scale, double *xw, size_t ldx, double *pw,
                             size_t step_w) {
    const int one = scale->rows == 1;
    if (n == 0) return;
    if (one && scale->bar != NULL) scale->bar[0] -= 2 * wgi_pair_dot(n, h, q) / scale->value[0];
    const int rest = xw != NULL || pw != NULL || scale->bar != NULL;
    if (one && xw == NULL && pw == NULL && !wgi_pair_any_near(kernel, n, q)) return;
    if (!rest) return;
    for (size_t c = 0; c < d; c++) {
        const double f = scale->value[one ? 0 : c], a = p[c * step];
        const double *const x = u + c * ldu;
        if (!one && scale->bar != NULL)
            scale->bar[c] -= 2 * wgi_pair_dot_apart(n, h, x, a, 1) / f;
        if (xw != NULL)
            for (size_t i = 0; i < n; i++) xw[i + c * ldx] += 2 * h[i] * (x[i] - a) / f;
        if (pw != NULL) pw[c * step_w] -= 2 * wgi_pair_dot_apart(n, h, x, a, 0) / f;
    }
    if (!wgi_pair_any_near(kernel, n, q)) return;
    /* what was added for pairs that are near is nothing beside this */
    for (size_t i = 0; i < n; i++) {
        if (!(q[i] < WGI_PAIR_NEAR)) continue;
        const wgi_near near = wgi_pair_near(d, u + i, ldu, p, step);
        for (size_t c = 0; c < d; c++) {
            const size_t which = one ? 0 : c;
            const double apart = u[i + c * ldu] - p[c * step];
            const double w = 2 * h[i] * wgi_pair_direction(near, apart) / scale->value[which];
            if (xw != NULL) xw[i + c * ldx] += w;
            if (pw != NULL) pw[c * step_w] -= w;
            if (scale->bar != NULL) scale->bar[which] -= w * apart;
        }
    }
}

double wgi_pair_near_tangent(size_t d, const double *u, const double *ut, size_t ldu,
                             const double *p, const double *pt, size_t step) {
    const wgi_near near = wgi_pair_near(d, u, ldu, p, step);
    double rt = 0;
    for (size_t c = 0; c < d; c++)
        rt += wgi_pair_direction(near, u[c * ldu] - p[c * step]) * (ut[c * ldu] - pt[c * step]);
    return rt;
}

void wgi_pair_column_tangent(wg_kernel kernel, size_t n, size_t d, const double *u,
                             const double *ut, size_t ldu, const double *p, const double *pt,
                             size_t step, const double *q, const double *h, const double *k,
                             double at, double *t) {
    enum { PIECE = 64 };
    for (size_t first = 0; first < n; first += PIECE) {
        const size_t m = n - first < PIECE ? n - first : PIECE;
        double qt[PIECE] = {0};
        for (size_t c = 0; c < d; c++) {
            const double *const x = u + first + c * ldu, *const xt = ut + first + c * ldu;
            const double a = p[c * step], at_c = pt[c * step];
            for (size_t i = 0; i < m; i++) qt[i] += 2 * (x[i] - a) * (xt[i] - at_c);
        }
        const int near = wgi_pair_any_near(kernel, m, q + first);
        for (size_t i = 0; near && i < m; i++)
            if (q[first + i] < WGI_PAIR_NEAR)
                qt[i] = 2 * wgi_pair_near_tangent(d, u + first + i, ut + first + i, ldu, p, pt,
                                                  step);
        for (size_t i = first; i < first + m; i++)
            t[i] = k[i] * at + (h[i] != 0 ? h[i] * qt[i - first] : 0);
    }
}

wg_status wgi_pair_shape(wg_block *b, const wg_block_arg *x, const wg_block_arg *scale) {
    if ((unsigned)*(const wg_kernel *)b->params > WG_MATERN_52)
        return wgi_block_refuse(b, WG_EARG, "there is no such kernel");
    if (scale->cols != 1 || (scale->rows != 1 && scale->rows != x->cols))
        return wgi_block_refuse(
            b, WG_ESHAPE, "there is neither one length scale nor one for each coordinate");
    return WG_OK;
}

/* ---- written out, as a part of a function ---- */

/* The covariance of points i of x and j of z; `square` = sigma^2; there is room for `parts`, one
 * for each coordinate. */
static wg_real write_pair(wg_tape *t, wg_kernel kernel, wgi_reals x, size_t i, wgi_reals z,
                          size_t j, wgi_reals scale, wg_real square, wg_real *parts) {
    wg_real q = wg_constant(0), minus = wg_constant(0);
    size_t others = 0;
    for (size_t c = 0; c < x.cols; c++) {
        const wg_real apart = wg_let(t, wg_sub(wgi_reals_at(x, i, c), wgi_reals_at(z, j, c)));
        const wg_real given = wgi_reals_at(scale, scale.rows == 1 ? 0 : c, 0);
        if (wgi_expand_is_nothing(apart) && given.at.slot == 0 && given.value != 0) continue;
        /* NaN at 0, by a factor: an alternative would have the derivative 0 there */
        const wg_real f = wg_let(t, wg_mul(given, wg_select_eq(given, 0, NAN, 1)));
        parts[others] = wg_let(t, wg_div(apart, f));
        q = wgi_expand_plus(t, q, wg_let(t, wg_square(parts[others++])));
    }
    if (kernel == WG_MATERN_12 && others == 1) /* derivatives of |u| are 0 at 0 */
        return wg_let(t, wg_mul(square, wg_exp(wg_neg(wg_fabs(parts[0])))));
    if (kernel == WG_MATERN_12 && others > 1) { /* of points that are near times 2^540 */
        const wg_real up = wg_let(t, wg_select_lt(q, WGI_PAIR_NEAR, 0x1p540, 1));
        minus = wg_let(t, wg_select_lt(q, WGI_PAIR_NEAR, -0x1p-540, -1));
        q = wg_constant(0);
        for (size_t c = 0; c < others; c++)
            q = wgi_expand_plus(t, q, wg_let(t, wg_square(wg_mul(parts[c], up))));
        minus = wg_let(t, wg_select_eq(q, 0, 0, minus));
    }
    switch (kernel) {
    case WG_SQUARED_EXPONENTIAL:
        return wg_let(t, wg_mul(square, wg_exp(wg_mul(-0.5, q))));
    case WG_MATERN_12: {
        /* of points that coincide the root has no derivative: they have none of any order */
        const wg_real apart = wg_let(t, wg_select_eq(q, 0, 1, q));
        return wg_let(t, wg_mul(square, wg_exp(wg_mul(wg_sqrt(apart), minus))));
    }
    case WG_MATERN_32:
        return wg_let(t, wg_mul(square, wg_apply_scalar(t, wgi_expand_matern_32, &q)));
    default:
        return wg_let(t, wg_mul(square, wg_apply_scalar(t, wgi_expand_matern_52, &q)));
    }
}

void wgi_pair_write(wg_tape *t, const wg_block *b, const wg_real *x, const wg_real *amplitudes,
                    wg_real *k) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const wgi_reals points = wgi_reals_operand(b, x, 0), scale = wgi_reals_operand(b, x, 1);
    const size_t n = points.rows;
    wg_real *const parts = wgi_expand_room(t, points.cols);
    if (k == NULL || parts == NULL) return;
    const wg_real square = wg_let(t, wg_square(amplitudes[0]));
    for (size_t j = 0; j < n; j++) {
        k[j * (n + 1)] = wg_let(t, wg_add(square, wg_square(amplitudes[1])));
        for (size_t i = j + 1; i < n; i++)
            k[i + j * n] = k[j + i * n] =
                write_pair(t, kernel, points, i, points, j, scale, square, parts);
    }
}

/* ---- covariance matrices: operands X, scale, (sigma, noise); or X, scale, sigma, Z ---- */

wg_status wgi_pair_matrix_shape(wg_block *b) {
    const size_t n = b->in[WGI_PAIR_POINTS].rows, d = b->in[WGI_PAIR_POINTS].cols;
    const wg_status s = wgi_pair_shape(b, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE]);
    if (s != WG_OK) return s;
    size_t m = n;
    if (b->inputs == 4) {
        m = b->in[WGI_PAIR_OTHERS].rows;
        if (b->in[WGI_PAIR_OTHERS].cols != d)
            return wgi_block_refuse(b, WG_ESHAPE,
                                    "the points have not the same number of coordinates");
    }
    b->out[0].rows = n, b->out[0].cols = m;
    b->saved_bytes = wgi_room_of(n * d) + (b->inputs == 4 ? wgi_room_of(m * d) : 0);
    b->work_bytes = 3 * wgi_room_of(n) + wgi_room_of(n * d) + wgi_room_of(m * d);
    return WG_OK;
}

wgi_pair_points wgi_pair_points_of(const wg_block *b) {
    wgi_pair_points s;
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
    const wgi_pair_points s = wgi_pair_points_of(b);
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
    const wgi_pair_points s = wgi_pair_points_of(b);
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
        wgi_pair_column_adjoint(kernel, n, s.d, s.u + i, s.n, s.v + j, s.m, s.q, s.e,
                                &b->in[WGI_PAIR_SCALE], x->bar != NULL ? x->bar + i : NULL,
                                x->bar_ld, z->bar != NULL ? z->bar + j : NULL, z->bar_ld);
    }
    if (amplitudes->bar != NULL) {
        amplitudes->bar[0] += wgi_pair_per_sigma(s.sigma) * sum + 2 * s.sigma * diagonal;
        if (square) amplitudes->bar[1] += 2 * s.noise * diagonal;
    }
    return WG_OK;
}

wg_status wgi_pair_matrix_jvp(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const wgi_pair_points s = wgi_pair_points_of(b);
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
        wgi_pair_column_tangent(kernel, n, s.d, s.u + i, s.ut + i, s.n, s.v + j, s.vt + j, s.m,
                                s.q, s.e, wgi_pair_is_tiny(s.sigma) ? to : k,
                                st * wgi_pair_per_sigma(s.sigma), to);
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
        wgi_pair_write(t, b, x, wgi_reals_operand(b, x, WGI_PAIR_AMPLITUDES).p, y);
        return WG_OK;
    }
    const wg_real square =
        wg_let(t, wg_square(*wgi_reals_operand(b, x, WGI_PAIR_AMPLITUDES).p));
    const wgi_reals points = wgi_reals_operand(b, x, WGI_PAIR_POINTS);
    const wgi_reals others = wgi_reals_operand(b, x, WGI_PAIR_OTHERS);
    wg_real *const parts = wgi_expand_room(t, points.cols);
    for (size_t j = 0; parts != NULL && j < others.rows; j++)
        for (size_t i = 0; i < points.rows; i++)
            *y++ = write_pair(t, *(const wg_kernel *)b->params, points, i, others, j,
                              wgi_reals_operand(b, x, WGI_PAIR_SCALE), square, parts);
    return WG_OK;
}

static wg_status covariance_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,
                                    const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    return wgi_pair_adjoints(t, *(const wg_kernel *)b->params, 0, b->inputs, in, out[0], bar[0],
                             back);
}

const wg_block_op wgi_op_covariance = {
    "wg_covariance",   WG_OP_EXPANDS,      wgi_pair_matrix_shape,
    covariance_value,  covariance_vjp,     wgi_pair_matrix_jvp,
    covariance_expand, covariance_adjoint, NULL};
const wg_block_op wgi_op_between = {
    "wg_covariance_between", WG_OP_EXPANDS,      wgi_pair_matrix_shape,
    covariance_value,        covariance_vjp,     wgi_pair_matrix_jvp,
    covariance_expand,       covariance_adjoint, NULL};

wg_mat wg_covariance(wg_tape *t, wg_kernel kernel, wg_mat x, wg_mat scale, wg_real sigma,
                     wg_real noise) {
    const wg_real amplitudes[2] = {sigma, noise};
    const wg_mat in[3] = {x, scale, wg_mat_gather(t, 2, 1, amplitudes)};
    return wgi_apply_one(t, &wgi_op_covariance, &kernel, sizeof kernel, 3, in);
}

wg_mat wg_covariance_between(wg_tape *t, wg_kernel kernel, wg_mat x, wg_mat z, wg_mat scale,
                             wg_real sigma) {
    const wg_mat in[4] = {x, scale, wg_mat_gather(t, 1, 1, &sigma), z};
    return wgi_apply_one(t, &wgi_op_between, &kernel, sizeof kernel, 4, in);
}

/* SPDX-License-Identifier: MIT */
/* Reductions along lines, to one number each, and layer norm, which is made of two of them.
 *
 * Letters: n elements x of a line, result y, w its adjoint or tangent, g the slope dy/dx, as in
 * lines.h. */
#include "lines.h"

#include <wengert/elementwise.h>

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- sum, mean ---- */

static double total(const wgi_line *l, double *(*of)(const wgi_line *, int, size_t)) {
    double s = 0;
    WGI_RUNS(l, r) s += l->simd->sum(l->len, of(l, 0, r));
    return s;
}
static void spread(const wgi_line *l, double w) {
    if (w == 0) return;
    WGI_RUNS(l, r) l->simd->add(l->len, w, wgi_line_bar(l, 0, r));
}
static void sum_value(const wgi_line *l) { *l->y = total(l, wgi_line_of); }
static void sum_vjp(const wgi_line *l) { spread(l, *l->w); }
static void sum_jvp(const wgi_line *l) { *l->w = total(l, wgi_line_bar); }
static void mean_value(const wgi_line *l) { *l->y = total(l, wgi_line_of) / (double)l->n; }
static void mean_vjp(const wgi_line *l) { spread(l, *l->w / (double)l->n); }
static void mean_jvp(const wgi_line *l) { *l->w = total(l, wgi_line_bar) / (double)l->n; }

/* ---- variance: saved k, m and e, the mean of k x is m + e; k is a power of two, 1 unless
 * squares leave the range of doubles ---- */

static double top_abs(const wgi_line *l) {
    double m = 0;
    WGI_RUNS(l, r) {
        const double a = l->simd->largest_abs(l->len, wgi_line_of(l, 0, r));
        if (a != a) return a;
        if (a > m) m = a;
    }
    return m;
}

/* Sums of k x - c and of its square. */
static void moments(const wgi_line *l, double k, double c, double sum[2]) {
    sum[0] = sum[1] = 0;
    WGI_RUNS(l, r) {
        const double *const x = wgi_line_of(l, 0, r);
        double s[2] = {0, 0};
        if (k == 1) l->simd->moments(l->len, x, c, s);
        else
            for (size_t i = 0; i < l->len; i++) {
                const double apart = k * x[i] - c;
                s[0] += apart, s[1] += apart * apart;
            }
        sum[0] += s[0], sum[1] += s[1];
    }
}
static double squares_of(const wgi_line *l, double k) {
    double sum[2];
    const double c = k * *l->x[0];
    moments(l, k, c, sum);
    const double m = c + sum[0] / (double)l->n;
    moments(l, k, m, sum);
    l->saved[0] = k;
    l->saved[1] = m;
    l->saved[2] = sum[0] / (double)l->n;
    const double s = sum[1] - sum[0] * l->saved[2];
    return s < 0 ? 0.0 : s;
}

/* The sum of the squares of what k x is apart from its mean; with k = 1 it is between low and
 * high. */
static double squares(const wgi_line *l, double low, double high) {
    enum { MOST = 1000 }; /* of powers of two whose inverses are numbers */
    int e = 0;
    if (l->n == 0) return NAN;
    const double s = squares_of(l, 1);
    if (s > low && s < high) return s;
    const double top = top_abs(l);
    if (!(top > 0 && top < INFINITY) || (s == 0 && top > 1e-100)) return s;
    (void)frexp(top, &e);
    return squares_of(l, ldexp(1, e > MOST ? -MOST : e < -MOST ? MOST : -e));
}

/* What k x is apart from its mean. */
static double apart(const wgi_line *l, double x) {
    return (l->saved[0] * x - l->saved[1]) - l->saved[2];
}

/* The variance of k x. */
static double var_of(const wgi_line *l) {
    const double s = squares(l, 1e-280, 1e290), of = (double)l->n - l->p->p;
    return of > 0 ? s / of : NAN;
}

static void var_value(const wgi_line *l) {
    const double v = var_of(l), k = l->saved[0];
    *l->y = v / k / k;
}
static void var_slope(const wgi_line *l, size_t at, size_t m, const double *x, double *g) {
    const double of = (double)l->n - l->p->p, c = of > 0 ? 2 / of : NAN, k = l->saved[0];
    (void)at;
    for (size_t i = 0; i < m; i++) g[i] = c * apart(l, x[i]) / k;
}

/* saved, after those of the variance: the deviation of k x */
static void std_value(const wgi_line *l) {
    l->saved[3] = sqrt(var_of(l));
    *l->y = l->saved[3] / l->saved[0];
}
static void std_slope(const wgi_line *l, size_t at, size_t m, const double *x, double *g) {
    const double of = (double)l->n - l->p->p, v = l->saved[3], c = of > 0 ? 1 / of : NAN;
    (void)at;
    for (size_t i = 0; i < m; i++) g[i] = v == 0 ? 0.0 : c * (apart(l, x[i]) / v);
}

/* ---- product: saved are the products of what comes before ---- */

static void prod_value(const wgi_line *l) {
    double p = 1, *before = l->saved;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        *before++ = p;
        p *= wgi_line_of(l, 0, r)[i];
    }
    *l->y = p;
}
static void prod_vjp(const wgi_line *l) {
    double after = 1;
    const double w = *l->w, *before = l->saved + l->n;
    if (w == 0) return;
    for (size_t r = l->pieces; r-- > 0;)
        for (size_t i = l->len; i-- > 0;) {
            wgi_line_bar(l, 0, r)[i] += wgi_times(w, wgi_times(*--before, after));
            after = wgi_times(after, wgi_line_of(l, 0, r)[i]);
        }
}
static void prod_jvp(const wgi_line *l) {
    double after = 1, t = 0;
    const double *before = l->saved + l->n;
    for (size_t r = l->pieces; r-- > 0;)
        for (size_t i = l->len; i-- > 0;) {
            t += wgi_times(wgi_line_bar(l, 0, r)[i], wgi_times(*--before, after));
            after = wgi_times(after, wgi_line_of(l, 0, r)[i]);
        }
    *l->w = t;
}

/* ---- extrema: saved is the number of ties ---- */

static void max_value(const wgi_line *l) {
    *l->y = wgi_line_top(l);
    *l->saved = wgi_line_ties(l, *l->y);
}
static void min_value(const wgi_line *l) {
    double m = INFINITY;
    WGI_RUNS(l, r) {
        const double a = l->simd->smallest(l->len, wgi_line_of(l, 0, r));
        if (!(a >= m)) m = a;
        if (m != m) break;
    }
    *l->y = m;
    *l->saved = wgi_line_ties(l, m);
}
static void extremum_slope(const wgi_line *l, size_t at, size_t m, const double *x, double *g) {
    const double y = *l->y, share = 1 / *l->saved;
    (void)at;
    for (size_t i = 0; i < m; i++) g[i] = y != y ? y : x[i] == y ? share : 0.0;
}

/* ---- norms: saved is the number of ties for p = infinity; otherwise m and the norm of x / m,
 * whose product may be subnormal and has few digits then ---- */

static double sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; }

static double norm_of(const wgi_line *l, double p) {
    double s = 0;
    if (p == 1) {
        WGI_RUNS(l, r) s += l->simd->sum_abs(l->len, wgi_line_of(l, 0, r));
        return s;
    }
    if (p == 2) {
        WGI_RUNS(l, r) s += l->simd->dot(l->len, wgi_line_of(l, 0, r), wgi_line_of(l, 0, r));
        if (s > 1e-280 && s < 1e290) {
            l->saved[0] = 1;
            return l->saved[1] = sqrt(s);
        }
    }
    const double m = top_abs(l);
    if (p == INFINITY) {
        size_t count = 0;
        WGI_RUNS(l, r)
        for (size_t i = 0; i < l->len; i++) count += fabs(wgi_line_of(l, 0, r)[i]) == m;
        *l->saved = (double)count;
        return m;
    }
    if (!(m > 0 && m < INFINITY)) { /* how many are infinite: their slopes are those of ties */
        double count = 0;
        WGI_RUNS(l, r)
        for (size_t i = 0; i < l->len; i++) count += isinf(wgi_line_of(l, 0, r)[i]) != 0;
        l->saved[0] = count;
        return l->saved[1] = m;
    }
    s = 0;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        const double q = fabs(wgi_line_of(l, 0, r)[i]) / m;
        s += p == 2 ? q * q : pow(q, p);
    }
    l->saved[0] = m;
    l->saved[1] = p == 2 ? sqrt(s) : pow(s, 1 / p);
    return m * l->saved[1];
}

static void norm_entries_value(const wgi_line *l) { *l->y = norm_of(l, l->p->p); }
static void norm_slope(const wgi_line *l, size_t at, size_t m, const double *x, double *g) {
    const double p = l->p->p, y = *l->y, share = p == INFINITY ? 1 / *l->saved : 1;
    (void)at;
    if (y == 0) memset(g, 0, m * sizeof(double));
    else if (y != y)
        for (size_t i = 0; i < m; i++) g[i] = y;
    else if (p == 1)
        for (size_t i = 0; i < m; i++) g[i] = sign(x[i]);
    else if (p == INFINITY)
        for (size_t i = 0; i < m; i++) g[i] = fabs(x[i]) == y ? share * sign(x[i]) : 0.0;
    else if (isinf(l->saved[1]))
        for (size_t i = 0; i < m; i++)
            g[i] = isinf(x[i]) ? sign(x[i]) * pow(l->saved[0], (1 - p) / p) : 0.0;
    else
        for (size_t i = 0; i < m; i++) {
            const double q = (l->saved[0] == 1 ? x[i] : x[i] / l->saved[0]) / l->saved[1];
            g[i] = p == 2 ? q : sign(q) * pow(fabs(q), p - 1);
        }
}

/* ---- layer norm: saved, after k, m and e of the variance, d = 1 / sqrt(variance + eps) of k x
 * and the slope k d ---- */

static double standard(const wgi_line *l, double x) { return apart(l, x) * l->saved[3]; }
static void layer_norm_value(const wgi_line *l) {
    if (l->n == 0) return;
    /* third powers of d, in second derivatives, are numbers */
    double v = squares(l, 1e-140, 1e140) / (double)l->n,
           eps = l->p->p * l->saved[0] * l->saved[0];
    if (l->saved[0] > 1 && !(eps <= 1e30 * v)) { /* beside eps the variance is nothing */
        int e = 0;
        (void)frexp(sqrt(l->p->p), &e);
        const double k = l->p->p < 1e-140 ? ldexp(1, -e) : 1;
        v = squares_of(l, k) / (double)l->n;
        eps = l->p->p * k * k;
    }
    l->saved[3] = 1 / sqrt(v + eps);
    l->saved[4] = l->saved[0] * l->saved[3];
    size_t k = 0;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++)
        l->y[k] = standard(l, wgi_line_of(l, 0, r)[i]) * l->vector[0][k] + l->vector[1][k];
}
static void layer_norm_vjp(const wgi_line *l) {
    const double *const gain = l->vector[0], *const w = l->w;
    double mean_u = 0, mean_uz = 0;
    size_t k = 0;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++) {
        const double z = standard(l, wgi_line_of(l, 0, r)[i]), u = wgi_times(w[k], gain[k]);
        mean_u += u;
        mean_uz += wgi_times(u, z);
        if (l->vector_bar[0] != NULL) l->vector_bar[0][k] += wgi_times(w[k], z);
        if (l->vector_bar[1] != NULL) l->vector_bar[1][k] += w[k];
    }
    mean_u /= (double)l->n;
    mean_uz /= (double)l->n;
    k = 0;
    if (l->bar[0] != NULL) WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++) {
        const double z = standard(l, wgi_line_of(l, 0, r)[i]), u = wgi_times(w[k], gain[k]);
        wgi_line_bar(l, 0, r)[i] += wgi_times(l->saved[4], u - mean_u - wgi_times(z, mean_uz));
    }
}
static void layer_norm_jvp(const wgi_line *l) {
    double mean_t = 0, mean_tz = 0;
    size_t k = 0;
    if (l->bar[0] != NULL) WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        const double t = wgi_line_bar(l, 0, r)[i];
        mean_t += t;
        mean_tz += wgi_times(t, standard(l, wgi_line_of(l, 0, r)[i]));
    }
    mean_t /= (double)l->n;
    mean_tz /= (double)l->n;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++) {
        const double z = standard(l, wgi_line_of(l, 0, r)[i]);
        double t = l->vector_bar[1] != NULL ? l->vector_bar[1][k] : 0.0;
        if (l->vector_bar[0] != NULL) t += wgi_times(l->vector_bar[0][k], z);
        if (l->bar[0] != NULL)
            t += wgi_times(l->vector[0][k],
                           wgi_times(l->saved[4], wgi_line_bar(l, 0, r)[i] - mean_t -
                                                      wgi_times(z, mean_tz)));
        l->w[k] = t;
    }
}

/* ---- adjoints in operations on matrices: X the operand, w the adjoints, of lines as
 * columns ---- */

/* What the columns of k x are apart from their means, as it was computed; k of each. */
static wg_mat centred(wg_tape *t, const wg_block *b, size_t step, wg_mat x, wg_mat *k) {
    *k = wgi_line_residual(t, b, x.cols, 0, step);
    const wg_mat kx = wg_mat_mul(t, x, *k);
    const wg_mat c = wg_mat_sub(t, kx, wg_mat_mean_axis(t, kx, WG_EACH_COL));
    double *const value = wg_tape_keep(t, x.rows * x.cols * sizeof(double), NULL);
    if (value == NULL) return c;
    for (size_t j = 0; j < x.cols; j++) {
        const double *const residual = (const double *)b->saved + j * step;
        for (size_t i = 0; i < x.rows; i++)
            value[i + j * x.rows] =
                (residual[0] * wg_mat_at(x, i, j).value - residual[1]) - residual[2];
    }
    return wgi_line_valued(c, value, x.rows);
}

/* w 2 / (n - ddof) (x - mean) */
static wg_status var_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat x = wgi_line_columns(t, in[0], axis);
    const double of = (double)x.rows - ((const wgi_line_params *)b->params)->p;
    wg_mat k;
    const wg_mat c = centred(t, b, 3, x, &k);
    (void)out;
    const wg_mat g = wg_mat_div(t, wg_mat_scale(t, of > 0 ? 2 / of : NAN, c), k);
    back[0] =
        wgi_line_uncolumned(t, wg_mat_mul(t, wgi_line_numbers(bar[0], axis), g), &in[0], axis);
    return wg_tape_status(t);
}

/* w / (n - ddof) (x - mean) / y, all times k; 0 where y is. */
static wg_status std_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat x = wgi_line_columns(t, in[0], axis);
    const double of = (double)x.rows - ((const wgi_line_params *)b->params)->p;
    double *const y = wg_tape_keep(t, 2 * x.cols * sizeof(double), NULL);
    wg_mat k;
    const wg_mat c = centred(t, b, 4, x, &k);
    if (y == NULL) return wg_tape_status(t);
    double *const f = y + x.cols;
    for (size_t j = 0; j < x.cols; j++) {
        const double residual = ((const double *)b->saved)[4 * j + 3];
        y[j] = residual == 0 ? 1 : residual;
        f[j] = residual == 0 ? 0 : of > 0 ? 1 / of : NAN;
    }
    const wg_mat ky = wgi_line_valued(wg_mat_mul(t, wgi_line_numbers(out[0], axis), k), y, 1);
    const wg_mat w = wg_mat_mul(t, wgi_line_numbers(bar[0], axis),
                                wg_mat_constant_borrowed(t, 1, x.cols, f, 1));
    back[0] = wgi_line_uncolumned(t, wg_mat_mul(t, w, wg_mat_div(t, c, ky)), &in[0], axis);
    return wg_tape_status(t);
}

/* The products of all other elements of a column: of those before times those behind. */
static wg_status others_shape(wg_block *b) {
    b->out->rows = b->in->rows, b->out->cols = b->in->cols;
    b->work_bytes = b->in->rows * sizeof(double);
    return WG_OK;
}
static wg_status others_value(wg_block *b) {
    const size_t n = b->in->rows;
    for (size_t j = 0; j < b->in->cols; j++) {
        const double *const x = b->in->value + j * b->in->ld;
        double *const y = b->out->value + j * n, before = 1, after = 1;
        for (size_t i = 0; i < n; i++) y[i] = before, before *= x[i];
        for (size_t i = n; i-- > 0;) {
            y[i] = wgi_times(y[i], after);
            after = wgi_times(after, x[i]);
        }
    }
    return WG_OK;
}
/* The tangents of those before are in the result until those behind come, their values in
 * `work`. */
static wg_status others_jvp(wg_block *b) {
    const size_t n = b->in->rows;
    double *const before = b->work;
    for (size_t j = 0; j < b->in->cols; j++) {
        const double *const x = b->in->value + j * b->in->ld, *const xt = b->in->bar +
                                                                          j * b->in->bar_ld;
        double *const yt = b->out->bar + j * n, p = 1, pt = 0;
        for (size_t i = 0; i < n; i++) {
            before[i] = p, yt[i] = pt;
            pt = wgi_times(pt, x[i]) + wgi_times(p, xt[i]);
            p *= x[i];
        }
        p = 1, pt = 0;
        for (size_t i = n; i-- > 0;) {
            yt[i] = wgi_times(yt[i], p) + wgi_times(before[i], pt);
            pt = wgi_times(pt, x[i]) + wgi_times(p, xt[i]);
            p = wgi_times(p, x[i]);
        }
    }
    return WG_OK;
}

static wg_status prod_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"adjoint of wg_mat_prod",
                                   0,
                                   others_shape,
                                   others_value,
                                   NULL,
                                   others_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat x = wgi_line_columns(t, in[0], axis);
    const wg_mat g = wgi_apply_one(t, &op, NULL, 0, 1, &x);
    (void)out;
    back[0] =
        wgi_line_uncolumned(t, wg_mat_mul(t, wgi_line_numbers(bar[0], axis), g), &in[0], axis);
    return wg_tape_status(t);
}

/* w g for slopes g that are numbers at the point. */
static wg_status by_slopes(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *bar,
                           const wg_mat *x, double *g, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat slopes = wg_mat_constant_borrowed(t, x->rows, x->cols, g, x->rows);
    back[0] = wgi_line_uncolumned(t, wg_mat_mul(t, wgi_line_numbers(bar[0], axis), slopes),
                                  &in[0], axis);
    return wg_tape_status(t);
}

static wg_status extremum_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    const wg_mat x = wgi_line_columns(t, in[0], wgi_line_axis(b));
    double *const g = wg_tape_keep(t, x.rows * x.cols * sizeof(double), NULL);
    if (g == NULL) return wg_tape_status(t);
    for (size_t j = 0; j < x.cols; j++) {
        const double y = out[0].value[j], share = 1 / ((const double *)b->saved)[j];
        for (size_t i = 0; i < x.rows; i++)
            g[i + j * x.rows] = y != y ? y : wg_mat_at(x, i, j).value == y ? share : 0.0;
    }
    return by_slopes(t, b, in, bar, &x, g, back);
}

/* w sign(x) |q|^(p - 1) with q = x / y, both divided by the residual; 0 where y is. Where that
 * is infinite both are divided by infinity: q is a number of the point, and has no tangent. */
static wg_status norm_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const double p = ((const wgi_line_params *)b->params)->p;
    const wg_mat x = wgi_line_columns(t, in[0], axis);
    const size_t n = x.rows;
    double *const room = wg_tape_keep(t, (2 * n + 3) * x.cols * sizeof(double), NULL);
    if (room == NULL) return wg_tape_status(t);
    double *const g = room, *const part = g + n * x.cols, *const m = part + n * x.cols,
                  *const y = m + x.cols, *const f = y + x.cols;
    for (size_t j = 0; j < x.cols; j++) {
        const double *const residual = (const double *)b->saved + 2 * j;
        const double norm = out[0].value[j];
        const int infinite = p != 1 && p != INFINITY && isinf(residual[1]);
        f[j] = norm != 0;
        m[j] = infinite ? INFINITY : norm != 0 ? residual[0] : 1;
        y[j] = norm != 0 && !infinite ? residual[1] : 1;
        for (size_t i = 0; i < n; i++) {
            const double a = wg_mat_at(x, i, j).value;
            g[i + j * n] = norm == 0                          ? 0.0
                           : norm != norm                     ? norm
                           : p == INFINITY && fabs(a) != norm ? 0.0
                           : p == INFINITY                    ? sign(a) / residual[0]
                                                              : sign(a);
            part[i + j * n] = !infinite  ? a / m[j]
                              : isinf(a) ? copysign(pow(residual[0], -1 / p), a)
                                         : 0.0;
        }
    }
    if (p == 1 || p == INFINITY) return by_slopes(t, b, in, bar, &x, g, back);
    const wg_mat of = wg_mat_constant_borrowed(t, 1, x.cols, m, 1);
    const wg_mat one = wg_mat_constant_borrowed(t, 1, x.cols, f, 1);
    const wg_mat w = wg_mat_mul(t, wgi_line_numbers(bar[0], axis), one);
    const wg_mat norm =
        wgi_line_valued(wg_mat_div(t, wgi_line_numbers(out[0], axis), of), y, 1);
    wg_mat q = wg_mat_div(t, wgi_line_valued(wg_mat_div(t, x, of), part, n), norm);
    if (p != 2) {
        const wg_mat size = wg_mat_fabs(t, q), order = wg_mat_fill(t, 1, 1, p - 1);
        q = wg_mat_mul(t, wg_mat_constant_borrowed(t, n, x.cols, g, n),
                       wg_mat_pow(t, size, order));
    }
    back[0] = wgi_line_uncolumned(t, wg_mat_mul(t, w, q), &in[0], axis);
    return wg_tape_status(t);
}

/* With z = d (k x - mean) and u = w gain:  k d (u - mean u - z mean of u z);  to gain the sum over
 * lines of w z, to bias that of w. */
static wg_status layer_norm_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,
                                    const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat x = wgi_line_columns(t, in[0], axis), w = wgi_line_columns(t, bar[0], axis);
    const wg_mat gain = in[1].cols == 1 ? in[1] : wg_mat_transpose(in[1]);
    wg_mat k;
    (void)out;
    const wg_mat c = centred(t, b, 5, x, &k);
    /* dt = - d^2 mean of z ct: that of (v + eps)^(-1/2), whose value was kept */
    const wg_mat v = wg_mat_mean_axis(t, wg_mat_square(t, c), WG_EACH_COL);
    double *const d = wg_tape_keep(t, 2 * x.cols * sizeof(double), NULL);
    if (d == NULL) return wg_tape_status(t);
    for (size_t j = 0; j < x.cols; j++) {
        d[j] = ((const double *)b->saved)[5 * j + 3];
        d[x.cols + j] = 1 / (d[j] * d[j]);
    }
    const wg_mat share =
        wgi_line_valued(wg_mat_rsqrt(t, wgi_line_valued(v, d + x.cols, 1)), d, 1);
    const wg_mat z = wg_mat_mul(t, c, share), u = wg_mat_mul(t, w, gain);
    const wg_mat apart = wg_mat_sub(t, u, wg_mat_mean_axis(t, u, WG_EACH_COL));
    const wg_mat along = wg_mat_mean_axis(t, wg_mat_mul(t, u, z), WG_EACH_COL);
    const wg_mat r = wg_mat_sub(t, apart, wg_mat_mul(t, z, along));
    back[0] = wgi_line_uncolumned(t, wg_mat_mul(t, k, wg_mat_mul(t, share, r)), &in[0], axis);
    const wg_mat to_gain = wg_mat_sum_axis(t, wg_mat_mul(t, w, z), WG_EACH_ROW);
    const wg_mat to_bias = wg_mat_sum_axis(t, w, WG_EACH_ROW);
    back[1] = in[1].cols == 1 ? to_gain : wg_mat_transpose(to_gain);
    back[2] = in[2].cols == 1 ? to_bias : wg_mat_transpose(to_bias);
    return wg_tape_status(t);
}

/* ---- written out, as a part of a function ---- */

static void sum_expand(wg_tape *t, const wgi_written *l) { *l->y = wg_sum(t, l->n, l->x[0]); }
static void mean_expand(wg_tape *t, const wgi_written *l) { *l->y = wg_mean(t, l->n, l->x[0]); }
static void prod_expand(wg_tape *t, const wgi_written *l) {
    *l->y = wg_product(t, l->n, l->x[0]);
}
static void max_expand(wg_tape *t, const wgi_written *l) {
    *l->y = wg_maximum(t, l->n, l->x[0]);
}
static void min_expand(wg_tape *t, const wgi_written *l) {
    *l->y = wg_minimum(t, l->n, l->x[0]);
}

/* room = what x, which may be room, is apart from its mean. What is as large as the first
 * element is taken off before, so that equal elements leave exactly 0. */
static void centre(wg_tape *t, const wgi_written *l, const wg_real *x) {
    const wg_real first = wgi_expand_held(t, x[0]);
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_sub(x[i], first));
    const wg_real mean = wg_mean(t, l->n, l->room);
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_sub(l->room[i], mean));
}
/* What a variance is divided by; 0: the result is NaN, and so are its derivatives. */
static double divisor(wg_tape *t, const wgi_written *l, const wg_real *x) {
    const double of = (double)l->n - l->p->p;
    if (of > 0) centre(t, l, x);
    else *l->y = wg_let(t, wg_mul(NAN, wg_sum(t, l->n, l->x[0])));
    return of > 0 ? of : 0;
}
static void var_expand(wg_tape *t, const wgi_written *l) {
    const double of = divisor(t, l, l->x[0]);
    if (of > 0) *l->y = wg_let(t, wg_div(wg_squared_norm(t, l->n, l->room), of));
}
/* Of large numbers, of which sums would overflow, times a power of two, a step, without
 * derivative. */
static void std_expand(wg_tape *t, const wgi_written *l) {
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_fabs(l->x[0][i]));
    const wg_real most = wg_maximum(t, l->n, l->room);
    const wg_real unit = wg_let(t, wg_select_lt(0x1p900, most, 0x1p-600, 1));
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_mul(l->x[0][i], unit));
    const double of = divisor(t, l, l->room);
    if (of > 0) *l->y = wg_let(t, wg_div(wg_div(wg_norm2(t, l->n, l->room), sqrt(of)), unit));
}

/* Scaled by the power of two below the largest number: a step, without derivative. */
static void norm_entries_expand(wg_tape *t, const wgi_written *l) {
    const double p = l->p->p;
    wg_real *const a = l->room;
    *l->y = wg_constant(0);
    if (l->n == 0) return;
    for (size_t i = 0; i < l->n && p != 2; i++) a[i] = wg_let(t, wg_fabs(l->x[0][i]));
    if (p == 1) *l->y = wg_sum(t, l->n, a);
    else if (p == 2) *l->y = wg_norm2(t, l->n, l->x[0]);
    else if (p == INFINITY) *l->y = wg_maximum(t, l->n, a);
    else {
        const wg_real largest = wg_maximum(t, l->n, a);
        const wg_real unit =
            wg_let(t, wg_exp2(wg_floor(wg_log2(wg_clamp(largest, DBL_MIN, 0x1p1023)))));
        const wg_real size = wg_norm2(t, l->n, a); /* as that, where it is infinite */
        for (size_t i = 0; i < l->n; i++) a[i] = wg_let(t, wg_pow(wg_div(a[i], unit), p));
        const wg_real y = wg_let(t, wg_mul(unit, wg_pow(wg_sum(t, l->n, a), 1 / p)));
        *l->y = wg_let(t, wg_select_lt(DBL_MAX, largest, size, y));
    }
}

/* Deviations that are not near 1 are divided by their norm, or by what eps is the square of,
 * nearly, a number of the point: derivatives are made of third powers, and of products with the
 * gain. Small ones are nothing beside an eps that is not as small. A norm that has left the
 * range is as large as a number can be. */
static void layer_norm_expand(wg_tape *t, const wgi_written *l) {
    const double eps = l->p->p, n = (double)l->n;
    int e = 0;
    if (l->n == 0) return;
    (void)frexp(sqrt(eps), &e);
    centre(t, l, l->x[0]);
    const wg_real norm = wgi_expand_held(t, wg_norm2(t, l->n, l->room));
    const wg_real size = wg_let(t, wg_fmin(norm, DBL_MAX));
    const wg_real least = wg_let(t, wg_fmax(size, eps > 0 ? ldexp(1, e) : DBL_MIN));
    const wg_real small =
        eps < 1e-30 ? wg_let(t, wg_select_lt(size, 1e-20, least, 1)) : wg_constant(1);
    const wg_real of =
        wg_let(t, wg_reciprocal(wg_let(t, wg_select_lt(size, 1e20, small, size))));
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_mul(l->room[i], of));
    const wg_real v = wg_let(t, wg_div(wg_squared_norm(t, l->n, l->room), n));
    const wg_real share =
        wg_let(t, wg_reciprocal(wg_sqrt(wg_add(v, wg_mul(wg_mul(eps, of), of)))));
    for (size_t i = 0; i < l->n; i++)
        l->y[i] = wg_let(
            t, wg_add(wg_mul(wg_mul(l->room[i], share), l->vector[0][i]), l->vector[1][i]));
}

/* ---- descriptors ---- */

static wg_status norm_order(wg_block *b) {
    const wgi_line_params *const p = b->params;
    if (p->p >= 1) return WG_OK;
    return wgi_block_refuse(b, WG_EARG, "a norm of order less than 1");
}

WGI_LINE_NUMBER(sum, WG_OP_LINEAR, 0, 0, sum_vjp, sum_jvp, NULL, NULL, wgi_line_anything);
WGI_LINE_NUMBER(mean, WG_OP_LINEAR, 0, 0, mean_vjp, mean_jvp, NULL, NULL, wgi_line_no_elements);
WGI_LINE_NUMBER(var, 0, 3, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, var_slope, var_adjoint,
                wgi_line_no_elements);
WGI_LINE_NUMBER(std, 0, 4, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, std_slope, std_adjoint,
                wgi_line_no_elements);
WGI_LINE_NUMBER(prod, 0, 0, 1, prod_vjp, prod_jvp, NULL, prod_adjoint, wgi_line_anything);
WGI_LINE_NUMBER(max, 0, 1, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, extremum_slope,
                extremum_adjoint, wgi_line_no_elements);
WGI_LINE_NUMBER(min, 0, 1, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, extremum_slope,
                extremum_adjoint, wgi_line_no_elements);
WGI_LINE_NUMBER(norm_entries, 0, 2, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, norm_slope,
                norm_adjoint, norm_order);
WGI_LINE_OP(layer_norm, 0, 1, 2, 1, 5, 0, layer_norm_vjp, layer_norm_jvp, NULL,
            layer_norm_adjoint, wgi_line_anything);

WGI_REDUCTION(sum)
WGI_REDUCTION(mean)
WGI_REDUCTION_WITH(var, ddof)
WGI_REDUCTION_WITH(std, ddof)
WGI_REDUCTION(prod)
WGI_REDUCTION(max)
WGI_REDUCTION(min)
WGI_REDUCTION_WITH(norm_entries, p)

/* The largest norm of a line: two records of one call. */
WGI_LINE_CALL(column_sum, "wg_mat_norm_column_sum", norm_entries, norm_adjoint, WG_OP_TRANS);
WGI_LINE_CALL(row_sum, "wg_mat_norm_row_sum", norm_entries, norm_adjoint, WG_OP_TRANS);
WGI_LINE_CALL(largest_column_sum, "wg_mat_norm_column_sum", max, extremum_adjoint, WG_OP_TRANS);
WGI_LINE_CALL(largest_row_sum, "wg_mat_norm_row_sum", max, extremum_adjoint, WG_OP_TRANS);

/* Of no elements the norm is 0, not an extremum of nothing. */
static wg_real largest_norm(wg_tape *t, const wg_block_op *norm, const wg_block_op *max,
                            wg_mat a, wg_axis axis) {
    const int none = a.rows == 0 || a.cols == 0;
    wg_mat n = wgi_line_apply(t, norm, none ? WG_ALL : axis, 1, NULL, 1, &a);
    if (!none) n = wgi_line_apply(t, max, WG_ALL, 0, NULL, 1, &n);
    return wg_mat_at(n, 0, 0);
}
wg_real wg_mat_norm_column_sum(wg_tape *t, wg_mat a) {
    return largest_norm(t, &op_column_sum, &op_largest_column_sum, a, WG_EACH_COL);
}
wg_real wg_mat_norm_row_sum(wg_tape *t, wg_mat a) {
    return largest_norm(t, &op_row_sum, &op_largest_row_sum, a, WG_EACH_ROW);
}

wg_mat wg_mat_layer_norm(wg_tape *t, wg_mat a, wg_mat gain, wg_mat bias, double eps,
                         wg_axis axis) {
    const wg_mat in[] = {a, gain, bias};
    return wgi_line_apply(t, &op_layer_norm, axis, eps, NULL, 3, in);
}

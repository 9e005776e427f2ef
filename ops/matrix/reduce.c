/* SPDX-License-Identifier: MIT */
/* Reductions along lines, to one number each, and layer norm, which is made of two of them.
 *
 * Letters: n elements x of a line, result y, w its adjoint or tangent, g the slope dy/dx, as in
 * lines.h. */
#include "lines.h"

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

/* ---- variance: saved k, m and e, the mean of k x is m + e; k is a power of two, 1 unless squares
 * leave the range of doubles ---- */

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

/* The sum of the squares of what k x is apart from its mean. */
static double squares(const wgi_line *l) {
    enum { MOST = 1000 }; /* of powers of two whose inverses are numbers */
    int e = 0;
    if (l->n == 0) return NAN;
    const double s = squares_of(l, 1);
    if (s > 1e-280 && s < 1e290) return s;
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
    const double s = squares(l), of = (double)l->n - l->p->p;
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
    if (!(m > 0 && m < INFINITY)) {
        l->saved[0] = 1;
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
    double v = squares(l) / (double)l->n, eps = l->p->p * l->saved[0] * l->saved[0];
    if (l->saved[0] > 1 && !(eps <= 1e30 * v)) { /* beside eps the variance is nothing */
        v = squares_of(l, 1) / (double)l->n;
        eps = l->p->p;
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

/* room = what x is apart from its mean. What is as large as the first element is taken off before,
 * so that equal elements leave exactly 0. */
static void centre(wg_tape *t, const wgi_written *l) {
    const wg_real first = wgi_expand_held(t, l->x[0][0]);
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_sub(l->x[0][i], first));
    const wg_real mean = wg_mean(t, l->n, l->room);
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_sub(l->room[i], mean));
}
/* What a variance is divided by; 0: the result is NaN, and so are its derivatives. */
static double divisor(wg_tape *t, const wgi_written *l) {
    const double of = (double)l->n - l->p->p;
    if (of > 0) centre(t, l);
    else *l->y = wg_let(t, wg_mul(NAN, wg_sum(t, l->n, l->x[0])));
    return of > 0 ? of : 0;
}
static void var_expand(wg_tape *t, const wgi_written *l) {
    const double of = divisor(t, l);
    if (of > 0) *l->y = wg_let(t, wg_div(wg_squared_norm(t, l->n, l->room), of));
}
static void std_expand(wg_tape *t, const wgi_written *l) {
    const double of = divisor(t, l);
    if (of > 0) *l->y = wg_let(t, wg_div(wg_norm2(t, l->n, l->room), sqrt(of)));
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
        for (size_t i = 0; i < l->n; i++) a[i] = wg_let(t, wg_pow(wg_div(a[i], unit), p));
        *l->y = wg_let(t, wg_mul(unit, wg_pow(wg_sum(t, l->n, a), 1 / p)));
    }
}

/* Where squares leave the range of doubles: of what is scaled by a power of two, a step, without
 * derivative. Small ones are nothing beside an eps that is not as small. */
static void layer_norm_expand(wg_tape *t, const wgi_written *l) {
    const double eps = l->p->p, n = (double)l->n;
    if (l->n == 0) return;
    centre(t, l);
    const wg_real s = wg_squared_norm(t, l->n, l->room);
    const wg_real small =
        eps < 1e-250 ? wg_let(t, wg_select_lt(s, 1e-280, 0x1p-600, 1)) : wg_constant(1);
    const wg_real unit = wg_let(t, wg_select_lt(s, 1e290, small, 0x1p600));
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_div(l->room[i], unit));
    const wg_real v = wg_let(t, wg_div(wg_squared_norm(t, l->n, l->room), n));
    const wg_real share =
        wg_let(t, wg_reciprocal(wg_sqrt(wg_add(v, wg_div(wg_div(eps, unit), unit)))));
    for (size_t i = 0; i < l->n; i++)
        l->y[i] = wg_let(
            t, wg_add(wg_mul(wg_mul(l->room[i], share), l->vector[0][i]), l->vector[1][i]));
}

/* ---- descriptors ---- */

static wg_status norm_order(wg_block *b) {
    const wgi_line_params *const p = b->params;
    if (p->p >= 1) return WG_OK;
    b->why = "a norm of order less than 1";
    return WG_EARG;
}

WGI_LINE_NUMBER(sum, WG_OP_LINEAR, 0, 0, sum_vjp, sum_jvp, NULL, wgi_line_anything);
WGI_LINE_NUMBER(mean, WG_OP_LINEAR, 0, 0, mean_vjp, mean_jvp, NULL, wgi_line_no_elements);
WGI_LINE_NUMBER(var, 0, 3, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, var_slope,
                wgi_line_no_elements);
WGI_LINE_NUMBER(std, 0, 4, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, std_slope,
                wgi_line_no_elements);
WGI_LINE_NUMBER(prod, 0, 0, 1, prod_vjp, prod_jvp, NULL, wgi_line_anything);
WGI_LINE_NUMBER(max, 0, 1, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, extremum_slope,
                wgi_line_no_elements);
WGI_LINE_NUMBER(min, 0, 1, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, extremum_slope,
                wgi_line_no_elements);
WGI_LINE_NUMBER(norm_entries, 0, 2, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, norm_slope,
                norm_order);
WGI_LINE_OP(layer_norm, 0, 1, 2, 1, 5, 0, layer_norm_vjp, layer_norm_jvp, NULL,
            wgi_line_anything);

WGI_REDUCTION(sum)
WGI_REDUCTION(mean)
WGI_REDUCTION_WITH(var, ddof)
WGI_REDUCTION_WITH(std, ddof)
WGI_REDUCTION(prod)
WGI_REDUCTION(max)
WGI_REDUCTION(min)
WGI_REDUCTION_WITH(norm_entries, p)

/* The largest norm of a line: two records of one call. */
WGI_LINE_CALL(column_sum, "wg_mat_norm_column_sum", norm_entries, WG_OP_TRANS);
WGI_LINE_CALL(row_sum, "wg_mat_norm_row_sum", norm_entries, WG_OP_TRANS);
WGI_LINE_CALL(largest_column_sum, "wg_mat_norm_column_sum", max, WG_OP_TRANS);
WGI_LINE_CALL(largest_row_sum, "wg_mat_norm_row_sum", max, WG_OP_TRANS);

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

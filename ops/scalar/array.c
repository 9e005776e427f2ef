/* SPDX-License-Identifier: MIT */
/* Reductions of n operands to one value: values, gradients, Hessian-vector products.
 *
 * Letters: n operands x, constants `number`, value v, gradient d, tangent xt, ht = H xt. */
#include "array.h"

#include <math.h>

#define UNUSED_NUMBER (void)number

/* The zero rule: d t is 0 when either is 0, whatever the other. */
static double times(double d, double t) {
    const double product = d * t;
    return product != product && (d == 0 || t == 0) ? 0 : product;
}
/* What a sum starts from: -0 + x is x, for every x. */
static double nothing(size_t n) { return n != 0 ? -0.0 : 0.0; }
static double inner(size_t n, const double *d, const double *t) {
    double s = 0;
    for (size_t i = 0; i < n; i++) s += times(d[i], t[i]);
    return s;
}

/* ---- sum, mean, linear combination ---- */

static double sum_value(size_t n, const double *x, const double *number) {
    UNUSED_NUMBER;
    double s = nothing(n);
    for (size_t i = 0; i < n; i++) s += x[i];
    return s;
}
static void sum_first(size_t n, const double *x, const double *number, double v, double *d) {
    (void)x, (void)v;
    UNUSED_NUMBER;
    for (size_t i = 0; i < n; i++) d[i] = 1;
}

static double mean_value(size_t n, const double *x, const double *number) {
    return sum_value(n, x, number) / (double)n;
}
static void mean_first(size_t n, const double *x, const double *number, double v, double *d) {
    (void)x, (void)v;
    UNUSED_NUMBER;
    for (size_t i = 0; i < n; i++) d[i] = 1 / (double)n;
}

static double linear_value(size_t n, const double *x, const double *number) {
    double s = nothing(n);
    for (size_t i = 0; i < n; i++) s += number[i] * x[i];
    return s;
}
static void linear_first(size_t n, const double *x, const double *number, double v, double *d) {
    (void)x, (void)v;
    for (size_t i = 0; i < n; i++) d[i] = number[i];
}

/* ---- product: prefix times suffix, no division, exact with zeros ---- */

static double product_value(size_t n, const double *x, const double *number) {
    UNUSED_NUMBER;
    double p = 1;
    for (size_t i = 0; i < n; i++) p *= x[i];
    return p;
}
static void product_first(size_t n, const double *x, const double *number, double v,
                          double *d) {
    (void)v;
    UNUSED_NUMBER;
    double prefix = 1, suffix = 1;
    for (size_t i = 0; i < n; i++) {
        d[i] = prefix;
        prefix *= x[i];
    }
    for (size_t i = n; i-- > 0;) {
        d[i] = times(d[i], suffix);
        suffix = times(suffix, x[i]);
    }
}
static void product_second(size_t n, const double *x, const double *number, double v,
                           const double *xt, double *ht, double *work) {
    (void)v;
    UNUSED_NUMBER;
    double prefix = 1, prefix_t = 0, suffix = 1, suffix_t = 0;
    for (size_t i = 0; i < n; i++) {
        work[i] = prefix;
        ht[i] = prefix_t;
        prefix_t = times(x[i], prefix_t) + times(prefix, xt[i]);
        prefix *= x[i];
    }
    for (size_t i = n; i-- > 0;) {
        ht[i] = times(suffix, ht[i]) + times(work[i], suffix_t);
        suffix_t = times(x[i], suffix_t) + times(suffix, xt[i]);
        suffix = times(suffix, x[i]);
    }
}

/* ---- dot, squared norm, norm ---- */

static double dot_value(size_t n, const double *x, const double *number) {
    UNUSED_NUMBER;
    double s = nothing(n);
    for (size_t i = 0; i < n; i += 2) s += x[i] * x[i + 1];
    return s;
}
static void dot_first(size_t n, const double *x, const double *number, double v, double *d) {
    (void)v;
    UNUSED_NUMBER;
    for (size_t i = 0; i < n; i += 2) {
        d[i] = x[i + 1];
        d[i + 1] = x[i];
    }
}
static void dot_second(size_t n, const double *x, const double *number, double v,
                       const double *xt, double *ht, double *work) {
    (void)x, (void)work;
    dot_first(n, xt, number, v, ht);
}

static double squared_norm_value(size_t n, const double *x, const double *number) {
    UNUSED_NUMBER;
    double s = nothing(n);
    for (size_t i = 0; i < n; i++) s += x[i] * x[i];
    return s;
}
static void squared_norm_first(size_t n, const double *x, const double *number, double v,
                               double *d) {
    (void)v;
    UNUSED_NUMBER;
    for (size_t i = 0; i < n; i++) d[i] = 2 * x[i];
}
static void squared_norm_second(size_t n, const double *x, const double *number, double v,
                                const double *xt, double *ht, double *work) {
    (void)x, (void)work;
    squared_norm_first(n, xt, number, v, ht);
}

/* The largest |x|; NaN when one is. */
static double largest(size_t n, const double *x) {
    double m = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= m)) {
            m = fabs(x[i]);
            if (m != m) return m;
        }
    return m;
}
/* The norm of x / 2^e, where 2^e brings the largest entry, not 0 and finite, to where squares
 * neither vanish nor overflow; e is 0 where they do not anyway. */
static double scaled_norm(size_t n, const double *x, const double *number, double m, int *e) {
    UNUSED_NUMBER;
    *e = 0;
    if (m > 1e-140 && m < 1e140) return sqrt(squared_norm_value(n, x, number));
    (void)frexp(m, e);
    double s = 0;
    for (size_t i = 0; i < n; i++) {
        const double y = ldexp(x[i], -*e);
        s += y * y;
    }
    return sqrt(s);
}
static double norm2_value(size_t n, const double *x, const double *number) {
    const double m = largest(n, x);
    int e = 0;
    if (m == 0 || !isfinite(m)) return m;
    const double r = scaled_norm(n, x, number, m, &e);
    return ldexp(r, e);
}
/* u = x / |x|, from scaled numbers: |x| may have overflowed, or lost its bits. */
static void norm2_first(size_t n, const double *x, const double *number, double v, double *d) {
    const double m = largest(n, x);
    size_t infinite = 0;
    int e = 0;
    if (v != 0 && isfinite(m)) {
        const double r = v > 1e-290 && isfinite(v) ? v : scaled_norm(n, x, number, m, &e);
        for (size_t i = 0; i < n; i++) d[i] = e == 0 ? x[i] / r : ldexp(x[i], -e) / r;
        return;
    }
    for (size_t i = 0; i < n; i++) infinite += isinf(x[i]) != 0;
    for (size_t i = 0; i < n; i++)
        d[i] = v != v ? v /* NaN */
               : isinf(x[i])
                   ? copysign(1 / sqrt((double)infinite), x[i])
                   : 0; /* beside an infinity; at 0 the subgradient of smallest norm */
}
/* H = (I - u u') / v with u = x / v */
static void norm2_second(size_t n, const double *x, const double *number, double v,
                         const double *xt, double *ht, double *work) {
    norm2_first(n, x, number, v, work);
    const double along = inner(n, work, xt);
    for (size_t i = 0; i < n; i++) {
        const double across = xt[i] - times(work[i], along);
        ht[i] = v == 0 || across == 0 ? 0 : across / v;
    }
}

/* ---- polynomial: Horner, coefficients x[0..n-2], argument z = x[n-1] ----
 * Its derivatives by Horner's rule, too: i x[i] may overflow where i x[i] z^(i-1) does not. */

static double polynomial_value(size_t n, const double *x, const double *number) {
    UNUSED_NUMBER;
    if (n < 2) return 0;
    double p = x[n - 2];
    for (size_t i = n - 2; i-- > 0;) p = p * x[n - 1] + x[i];
    return p;
}
static void polynomial_first(size_t n, const double *x, const double *number, double v,
                             double *d) {
    (void)v;
    UNUSED_NUMBER;
    const double z = x[n - 1];
    double power = 1, p = 0, slope = 0;
    for (size_t i = 0; i + 1 < n; i++, power *= z) d[i] = power;
    for (size_t i = n - 1; i-- > 0; p = p * z + x[i]) slope = times(z, slope) + p;
    d[n - 1] = slope;
}
static void polynomial_second(size_t n, const double *x, const double *number, double v,
                              const double *xt, double *ht, double *work) {
    (void)v, (void)work;
    UNUSED_NUMBER;
    const double z = x[n - 1], zt = xt[n - 1];
    double power = 1, mixed = 0, p = 0, slope = 0, bend = 0;
    for (size_t i = 0; i + 1 < n; i++) { /* power = z^(i-1) from i = 1 on */
        ht[i] = i == 0 ? 0 : times((double)i * power, zt);
        if (i != 0) {
            mixed += times((double)i * power, xt[i]);
            power *= z;
        }
    }
    for (size_t i = n - 1; i-- > 0; p = p * z + x[i]) {
        bend = times(z, bend) + slope;
        slope = times(z, slope) + p;
    }
    ht[n - 1] = mixed + times(2 * bend, zt);
}

/* ---- logsumexp: p = softmax(x) ---- */

static double top(size_t n, const double *x) {
    double m = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (x[i] != x[i]) return x[i];
        if (x[i] > m) m = x[i];
    }
    return m;
}
/* log of a sum that is at least 1: the largest term is left out of the sum for log1p. */
static double logsumexp_value(size_t n, const double *x, const double *number) {
    UNUSED_NUMBER;
    const double m = top(n, x);
    if (!isfinite(m)) return m;
    double rest = 0;
    int seen = 0;
    for (size_t i = 0; i < n; i++) {
        if (x[i] == m && !seen) seen = 1;
        else rest += exp(x[i] - m);
    }
    return m + log1p(rest);
}
static void logsumexp_first(size_t n, const double *x, const double *number, double v,
                            double *d) {
    (void)v;
    UNUSED_NUMBER;
    const double m = top(n, x);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        d[i] = x[i] == m ? 1 : exp(x[i] - m);
        sum += d[i];
    }
    for (size_t i = 0; i < n; i++) d[i] /= sum;
}
/* H = diag(p) - p p' */
static void logsumexp_second(size_t n, const double *x, const double *number, double v,
                             const double *xt, double *ht, double *work) {
    logsumexp_first(n, x, number, v, work);
    /* sum_j p_j (xt_i - xt_j) rather than xt_i - sum: no cancellation when one p is 1 */
    const double mean = inner(n, work, xt);
    double lead = 0;
    for (size_t i = 0; i < n; i++) lead = work[i] > lead ? work[i] : lead;
    for (size_t i = 0; i < n; i++) {
        if (work[i] < lead || lead < 0.5) {
            ht[i] = times(work[i], xt[i] - mean);
            continue;
        }
        double s = 0;
        for (size_t j = 0; j < n; j++) s += times(work[j], xt[i] - xt[j]);
        ht[i] = times(work[i], s);
    }
}

/* ---- maximum, minimum: split evenly over ties ---- */

static double maximum_value(size_t n, const double *x, const double *number) {
    UNUSED_NUMBER;
    return top(n, x);
}
static double minimum_value(size_t n, const double *x, const double *number) {
    UNUSED_NUMBER;
    double m = INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (x[i] != x[i]) return x[i];
        if (x[i] < m) m = x[i];
    }
    return m;
}
static void extremum_first(size_t n, const double *x, const double *number, double v,
                           double *d) {
    UNUSED_NUMBER;
    size_t ties = 0;
    for (size_t i = 0; i < n; i++) ties += x[i] == v;
    for (size_t i = 0; i < n; i++) d[i] = v != v ? v : x[i] == v ? 1 / (double)ties : 0;
}

/* ---- lookup: elements x[0..n-2], index x[n-1], by which it has no derivative ---- */

static double lookup_value(size_t n, const double *x, const double *number) {
    UNUSED_NUMBER;
    const size_t k = wgi_array_index(n - 1, x[n - 1]);
    return k < n - 1 ? x[k] : NAN;
}
static void lookup_first(size_t n, const double *x, const double *number, double v, double *d) {
    (void)v;
    UNUSED_NUMBER;
    const size_t k = wgi_array_index(n - 1, x[n - 1]);
    for (size_t i = 0; i < n; i++) d[i] = i == k && k < n - 1 ? 1 : 0;
}

/* ---- the table ---- */

#define ROW(name, near, indexed, value, first, second)                                         \
    [WGI_ARRAY_##name] = {#name, "wg_" #name, WGI_NEAR_##near, indexed, value, first, second}
const wgi_array_op wgi_array_ops[WGI_ARRAY_COUNT] = {
    ROW(sum, NONE, 0, sum_value, sum_first, NULL),
    ROW(product, ALL, 0, product_value, product_first, product_second),
    ROW(dot, PAIR, 0, dot_value, dot_first, dot_second),
    ROW(linear, NONE, 0, linear_value, linear_first, NULL),
    ROW(polynomial, LAST, 0, polynomial_value, polynomial_first, polynomial_second),
    ROW(norm2, ALL, 0, norm2_value, norm2_first, norm2_second),
    ROW(squared_norm, ITSELF, 0, squared_norm_value, squared_norm_first, squared_norm_second),
    ROW(logsumexp, ALL, 0, logsumexp_value, logsumexp_first, logsumexp_second),
    ROW(maximum, NONE, 0, maximum_value, extremum_first, NULL),
    ROW(minimum, NONE, 0, minimum_value, extremum_first, NULL),
    ROW(mean, NONE, 0, mean_value, mean_first, NULL),
    ROW(lookup, NONE, 1, lookup_value, lookup_first, NULL),
};

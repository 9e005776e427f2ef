/* SPDX-License-Identifier: MIT */
/* mixture - the log likelihood of a mixture of Gaussians with a Wishart prior, as in ADBench
 * (Srajer, Kukelova, Fitzgibbon 2018), or, with the other sign of the prior, as in GradBench.
 *
 * A component has a weight alpha, a mean, and the factor Q of its inverse covariance: the
 * logarithms of the diagonal, then the strict lower triangle by columns.
 *   sum_i log sum_k exp(alpha_k + log det Q_k - |Q_k (x_i - mean_k)|^2/2) - n log sum exp alpha
 *   + prior sum_k (gamma^2 |Q_k|^2/2 - m log det Q_k) + constants
 * Inputs: alphas, means (component after component), factors. */
#ifndef WENGERT_BENCH_MIXTURE_H
#define WENGERT_BENCH_MIXTURE_H
struct mixture_params {
    size_t d, k, n;       /* dimension, components, points */
    const double *points; /* n-by-d, point after point */
    const size_t *at;     /* at[d j + i]: where in a factor the entry (j, i), i < j, is */
    double gamma, constant, prior; /* prior: 1 or -1 */
    int m;
};
#endif

#ifndef BENCH_PEER
#include <wengert/generic.h>
#endif

/* *s += sum over i < n of l[at[i]] x[i] */
static inline void WG_NAME(mixture_dot)(wg_tape *t, wg_real *s, size_t n, const wg_real *l,
                                        const size_t *at, const wg_real *x) {
    (void)t;
    for (; n >= 3; n -= 3, at += 3, x += 3)
        *s = wg_let(t, wg_add(wg_add(*s, wg_mul(l[at[0]], x[0])),
                              wg_add(wg_mul(l[at[1]], x[1]), wg_mul(l[at[2]], x[2]))));
    if (n == 2)
        *s = wg_let(t, wg_add(wg_add(*s, wg_mul(l[at[0]], x[0])), wg_mul(l[at[1]], x[1])));
    else if (n == 1) *s = wg_let(t, wg_add(*s, wg_mul(l[at[0]], x[0])));
}

static inline wg_real WG_NAME(mixture_sum)(wg_tape *t, size_t n, const wg_real *x) {
    wg_real s = wg_constant(0.0);
    (void)t;
    for (; n >= 4; n -= 4, x += 4)
        s = wg_let(t, wg_add(s, wg_add(wg_add(x[0], x[1]), wg_add(x[2], x[3]))));
    for (; n > 0; n--, x++) s = wg_let(t, wg_add(s, x[0]));
    return s;
}

static inline wg_real WG_NAME(mixture_norm2)(wg_tape *t, size_t n, const wg_real *x) {
    wg_real s = wg_constant(0.0);
    (void)t;
    for (; n >= 4; n -= 4, x += 4)
        s = wg_let(t, wg_add(s, wg_add(wg_add(wg_square(x[0]), wg_square(x[1])),
                                       wg_add(wg_square(x[2]), wg_square(x[3])))));
    for (; n > 0; n--, x++) s = wg_let(t, wg_add(s, wg_square(x[0])));
    return s;
}

/* *f += weight log sum exp x. The largest x, taken as a number, cancels in the derivative. */
static inline void WG_NAME(mixture_lse)(wg_tape *t, wg_real *f, double weight, size_t n,
                                        const wg_real *x) {
    double top = wg_value(x[0]);
    (void)t;
    for (size_t i = 1; i < n; i++)
        if (wg_value(x[i]) > top) top = wg_value(x[i]);
    wg_real s = wg_constant(0.0);
    for (; n >= 4; n -= 4, x += 4)
        s = wg_let(
            t, wg_add(s, wg_add(wg_add(wg_exp(wg_sub(x[0], top)), wg_exp(wg_sub(x[1], top))),
                                wg_add(wg_exp(wg_sub(x[2], top)), wg_exp(wg_sub(x[3], top))))));
    for (; n > 0; n--, x++) s = wg_let(t, wg_add(s, wg_exp(wg_sub(x[0], top))));
    *f = wg_let(t, wg_add(*f, wg_mul(weight, wg_add(wg_log(s), top))));
}

static __attribute__((unused)) wg_real WG_NAME(mixture)(wg_tape *t, const void *params,
                                                        const wg_real *in, wg_real *work) {
    const struct mixture_params *p = (const struct mixture_params *)params;
    (void)t;
    const size_t d = p->d, k = p->k, size = d * (d + 1) / 2;
    const wg_real *alpha = in, *mean = in + k, *factor = mean + k * d;
    wg_real *diagonal = work, *logdet = diagonal + k * d, *term = logdet + k, *x = term + k;
    wg_real *qx = x + d;
    wg_real f = wg_constant(p->constant);
    for (size_t c = 0; c < k; c++) {
        const wg_real *q = factor + c * size;
        for (size_t j = 0; j < d; j++) diagonal[c * d + j] = wg_let(t, wg_exp(q[j]));
        logdet[c] = WG_NAME(mixture_sum)(t, d, q);
    }
    for (size_t i = 0; i < p->n; i++) {
        const double *point = p->points + i * d;
        for (size_t c = 0; c < k; c++) {
            for (size_t j = 0; j < d; j++) x[j] = wg_let(t, wg_sub(point[j], mean[c * d + j]));
            for (size_t j = 0; j < d; j++) {
                qx[j] = wg_let(t, wg_mul(diagonal[c * d + j], x[j]));
                WG_NAME(mixture_dot)(t, &qx[j], j, factor + c * size, p->at + d * j, x);
            }
            wg_real norm2 = WG_NAME(mixture_norm2)(t, d, qx);
            term[c] = wg_let(t, wg_sub(wg_add(alpha[c], logdet[c]), wg_mul(0.5, norm2)));
        }
        WG_NAME(mixture_lse)(t, &f, 1.0, k, term);
    }
    WG_NAME(mixture_lse)(t, &f, -(double)p->n, k, alpha);
    for (size_t c = 0; c < k; c++) {
        wg_real frobenius = WG_NAME(mixture_norm2)(t, d, diagonal + c * d);
        wg_real below = WG_NAME(mixture_norm2)(t, size - d, factor + c * size + d);
        f = wg_let(t, wg_add(f, wg_sub(wg_mul(0.5 * p->prior * p->gamma * p->gamma,
                                              wg_add(frobenius, below)),
                                       wg_mul(p->prior * p->m, logdet[c]))));
    }
    return f;
}

#ifdef BENCH_ONCE
/* A case whose x and points are still zero. */
int bench_mixture_case(struct bench_case *b, size_t d, size_t k, size_t n, double gamma, int m,
                       double prior, double **x, double **points) {
    const double pi = 3.14159265358979323846;
    const size_t size = d * (d + 1) / 2;
    struct mixture_params *p = bench_alloc(b, 1, sizeof *p);
    size_t *at = bench_alloc(b, d * d, sizeof *at);
    b->n = b->entries = k * (1 + d + size);
    b->m = 1;
    b->work = k * (d + 2) + 2 * d;
    b->scratch_len = 2 * k * d + k * (d + 2) + d;
    b->scratch = bench_doubles(b, b->scratch_len);
    *x = bench_doubles(b, b->n);
    *points = bench_doubles(b, n * d);
    if (!p || !at || !b->scratch || !*x || !*points) return -1;
    for (size_t i = 0, next = d; i < d; i++)
        for (size_t j = i + 1; j < d; j++) at[d * j + i] = next++;
    p->d = d;
    p->k = k;
    p->n = n;
    p->at = at;
    p->points = *points;
    p->gamma = gamma;
    p->m = m;
    p->prior = prior;
    /* of the Gaussians, and the normalisation of the Wishart distributions */
    const double dd = (double)d, dof = dd + m + 1;
    double log_gamma = 0.25 * dd * (dd - 1) * log(pi);
    for (size_t j = 0; j < d; j++) log_gamma += lgamma(0.5 * dof - 0.5 * (double)j);
    p->constant = -0.5 * (double)n * dd * log(2 * pi) -
                  prior * (double)k * (dof * dd * (log(gamma) - 0.5 * log(2.0)) - log_gamma);
    b->x = *x;
    b->params = p;
    return 0;
}

static int mixture_case(struct bench_case *b, size_t d, size_t k, size_t n) {
    double *x, *points;
    if (bench_mixture_case(b, d, k, n, 1.0, 0, 1, &x, &points)) return -1;
    uint64_t seed = 6;
    for (size_t i = 0; i < b->n; i++) x[i] = bench_uniform(&seed, -1, 1);
    for (size_t i = 0; i < n * d; i++) points[i] = bench_uniform(&seed, -2, 2);
    return 0;
}

static void mixture_handwritten(const struct bench_case *b, double *g) {
    const struct mixture_params *p = (const struct mixture_params *)b->params;
    const size_t d = p->d, k = p->k, size = d * (d + 1) / 2;
    const double *alpha = b->x, *mean = alpha + k, *factor = mean + k * d;
    double *alphab = g, *meanb = g + k, *factorb = meanb + k * d;
    double *x = b->scratch, *qx = x + k * d, *diagonal = qx + k * d, *logdet = diagonal + k * d;
    double *share = logdet + k, *xb = share + k;
    memset(g, 0, b->n * sizeof *g);
    for (size_t c = 0; c < k; c++) {
        logdet[c] = 0;
        for (size_t j = 0; j < d; j++) {
            logdet[c] += factor[c * size + j];
            diagonal[c * d + j] = exp(factor[c * size + j]);
        }
    }
    for (size_t i = 0; i < p->n; i++) {
        double top = -INFINITY, sum = 0;
        for (size_t c = 0; c < k; c++) {
            const double *l = factor + c * size + d;
            double *xc = x + c * d, *q = qx + c * d, norm2 = 0;
            for (size_t j = 0; j < d; j++) {
                xc[j] = p->points[i * d + j] - mean[c * d + j];
                q[j] = diagonal[c * d + j] * xc[j];
            }
            for (size_t col = 0; col < d; col++)
                for (size_t j = col + 1; j < d; j++) q[j] += *l++ * xc[col];
            for (size_t j = 0; j < d; j++) norm2 += q[j] * q[j];
            share[c] = alpha[c] + logdet[c] - 0.5 * norm2;
            top = (share[c] > top ? share[c] : top);
        }
        for (size_t c = 0; c < k; c++) sum += share[c] = exp(share[c] - top);
        for (size_t c = 0; c < k; c++) {
            const double w = share[c] / sum, *l = factor + c * size + d;
            const double *xc = x + c * d, *q = qx + c * d;
            double *fb = factorb + c * size, *lb = fb + d;
            alphab[c] += w;
            for (size_t j = 0; j < d; j++) {
                const double qb = -w * q[j] * diagonal[c * d + j];
                fb[j] += w + qb * xc[j];
                xb[j] = qb;
            }
            for (size_t col = 0; col < d; col++) {
                const double wx = w * xc[col];
                double sum_b = 0;
                for (size_t j = col + 1; j < d; j++) {
                    *lb++ -= wx * q[j];
                    sum_b += *l++ * q[j];
                }
                xb[col] -= w * sum_b;
            }
            for (size_t j = 0; j < d; j++) meanb[c * d + j] -= xb[j];
        }
    }
    double top = alpha[0], sum = 0;
    for (size_t c = 1; c < k; c++) top = (alpha[c] > top ? alpha[c] : top);
    for (size_t c = 0; c < k; c++) sum += share[c] = exp(alpha[c] - top);
    const double gamma2 = p->prior * p->gamma * p->gamma, m = p->prior * p->m;
    for (size_t c = 0; c < k; c++) {
        alphab[c] -= (double)p->n * share[c] / sum;
        for (size_t j = 0; j < d; j++)
            factorb[c * size + j] += gamma2 * diagonal[c * d + j] * diagonal[c * d + j] - m;
        for (size_t j = d; j < size; j++)
            factorb[c * size + j] += gamma2 * factor[c * size + j];
    }
}
#endif

/* SPDX-License-Identifier: MIT */
/* matrix_hand.c - the operations of matrix_case.h in plain C on BLAS and LAPACK, and their
 * adjoints written by hand: the best known formulas, workspaces made beforehand, nothing kept
 * that is not needed. Sources: Giles 2008; Walter and Lehmann 2010; Rasmussen and Williams
 * 2006, 5.9. */
#include "matrix.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* ---- pieces ------------------------------------------------------------------------------ */

enum { N = CblasNoTrans, T = CblasTrans, BLOCK = 64 };

static void gemm(int ta, int tb, size_t m, size_t n, size_t k, double alpha, const double *a,
                 const double *b, double beta, double *c) {
    cblas_dgemm(CblasColMajor, (CBLAS_TRANSPOSE)ta, (CBLAS_TRANSPOSE)tb, (int)m, (int)n, (int)k,
                alpha, a, (int)(ta == N ? m : k), b, (int)(tb == N ? k : n), beta, c, (int)m);
}

static void copy(size_t n, const double *from, double *to) { memcpy(to, from, n * sizeof *to); }

/* The lower triangle to the upper one, in tiles that fit the cache. */
static void mirror(size_t n, double *a) {
    enum { TILE = 16 };
    for (size_t jj = 0; jj < n; jj += TILE)
        for (size_t ii = jj; ii < n; ii += TILE) {
            const size_t je = (jj + TILE < n ? jj + TILE : n);
            const size_t ie = (ii + TILE < n ? ii + TILE : n);
            for (size_t j = jj; j < je; j++)
                for (size_t i = (ii > j ? ii : j + 1); i < ie; i++) a[j + i * n] = a[i + j * n];
        }
}

static void lower_copy(size_t n, const double *from, double *to) {
    for (size_t j = 0; j < n; j++) copy(n - j, from + j * (n + 1), to + j * (n + 1));
}

/* Functions over arrays, with the widest vectors this file is compiled for. */
#if defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#if defined(__AVX512F__)
#define WIDTH 8
#define VECTOR(f) _ZGVeN8v_##f
#elif defined(__AVX2__)
#define WIDTH 4
#define VECTOR(f) _ZGVdN4v_##f
#else
#define WIDTH 2
#define VECTOR(f) _ZGVbN2v_##f
#endif
#endif
#endif

#ifdef WIDTH
typedef double vector __attribute__((vector_size(8 * WIDTH)));
#define MAP(f)                                                                                 \
    extern vector VECTOR(f)(vector);                                                           \
    static void map_##f(size_t n, const double *x, double *y) {                                \
        vector v;                                                                              \
        size_t i = 0;                                                                          \
        for (; i + WIDTH <= n; i += WIDTH) {                                                   \
            vector a;                                                                          \
            memcpy(&a, x + i, sizeof a);                                                       \
            a = VECTOR(f)(a);                                                                  \
            memcpy(y + i, &a, sizeof a);                                                       \
        }                                                                                      \
        if (i == n) return;                                                                    \
        for (size_t k = 0; k < WIDTH; k++) v[k] = x[i + k < n ? i + k : i];                    \
        v = VECTOR(f)(v);                                                                      \
        for (size_t k = 0; i + k < n; k++) y[i + k] = v[k];                                    \
    }
#else
#define MAP(f)                                                                                 \
    static void map_##f(size_t n, const double *x, double *y) {                                \
        for (size_t i = 0; i < n; i++) y[i] = f(x[i]);                                         \
    }
#endif
MAP(exp)
MAP(tanh)
MAP(log)

static double sum(size_t n, const double *x) {
    double s[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) s[k] += x[i + k];
    for (; i < n; i++) s[0] += x[i];
    return s[0] + s[1] + (s[2] + s[3]);
}

static double sum_of_logs(size_t n, const double *a, size_t step) {
    double s = 0;
    for (size_t i = 0; i < n; i++) s += log(a[i * step]);
    return s;
}

/* ---- log-determinant --------------------------------------------------------------------- */

static int cholesky(size_t n, double *a) {
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, a, (int)n);
}

static int logdet(const struct matrix_case *c, double *y) {
    const size_t n = c->dim[0];
    copy(n * n, c->x, c->work);
    const int info = cholesky(n, c->work);
    *y = 2 * sum_of_logs(n, c->work, n + 1);
    return info;
}

static int logdet_adjoint(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0];
    const int info = logdet(c, y);
    if (info) return info;
    lower_copy(n, c->work, g);
    if (LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (int)n, g, (int)n)) return -1;
    mirror(n, g);
    return 0;
}

/* ---- linear systems ---------------------------------------------------------------------- */

static int solve_with(const struct matrix_case *c, char trans, double *b) {
    const int n = (int)c->dim[0];
    return LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, trans, n, (int)c->dim[1], c->work, n, c->pivot,
                               b, n);
}

static int solve(const struct matrix_case *c, double *y) {
    const size_t n = c->dim[0], k = c->dim[1];
    copy(n * n, c->x, c->work);
    copy(n * k, c->x + n * n, y);
    const int info =
        LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (int)n, (int)n, c->work, (int)n, c->pivot);
    return info ? info : solve_with(c, 'N', y);
}

/* B_ = A^-T X_;  A_ = -B_ X^T. */
static int solve_adjoint(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0], k = c->dim[1];
    double *b = g + n * n;
    const int info = solve(c, y);
    if (info) return info;
    copy(n * k, c->seed, b);
    if (solve_with(c, 'T', b)) return -1;
    if (k != 1) {
        gemm(N, T, n, n, k, -1, b, y, 0, g);
        return 0;
    }
    for (size_t j = 0; j < n; j++) {
        const double s = -y[j];
        for (size_t i = 0; i < n; i++) g[i + j * n] = b[i] * s;
    }
    return 0;
}

/* ---- sum of tanh(A B) C ------------------------------------------------------------------ */

static int products(const struct matrix_case *c, double *y) {
    const size_t n = c->dim[0];
    const double *a = c->x, *b = a + n * n, *d = b + n * n;
    double *t = c->work, *p = t + n * n;
    gemm(N, N, n, n, n, 1, a, b, 0, t);
    map_tanh(n * n, t, t);
    gemm(N, N, n, n, n, 1, t, d, 0, p);
    *y = sum(n * n, p);
    return 0;
}

/* From T_ in p to A_ and B_. */
static void products_back(const struct matrix_case *c, double *p, double *g) {
    const size_t n = c->dim[0];
    const double *a = c->x, *b = a + n * n, *t = c->work;
    for (size_t i = 0; i < n * n; i++) p[i] *= 1 - t[i] * t[i];
    gemm(N, T, n, n, n, 1, p, b, 0, g);
    gemm(T, N, n, n, n, 1, a, p, 0, g + n * n);
}

static int products_adjoint(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0];
    const double *d = c->x + 2 * n * n;
    double *t = c->work, *p = t + n * n;
    products(c, y);
    double *seed = p + n * n;
    for (size_t i = 0; i < n * n; i++) seed[i] = 1;
    gemm(N, T, n, n, n, 1, seed, d, 0, p);
    gemm(T, N, n, n, n, 1, t, seed, 0, g + 2 * n * n);
    products_back(c, p, g);
    return 0;
}

static int products_rank_one(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0];
    const double *d = c->x + 2 * n * n;
    double *t = c->work, *p = t + n * n, *row = p + n * n;
    products(c, y);
    memset(row, 0, n * sizeof *row);
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++) row[j] += d[j + k * n];
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) p[i + j * n] = row[j];
    for (size_t j = 0; j < n; j++) row[j] = sum(n, t + j * n);
    for (size_t k = 0; k < n; k++) copy(n, row, g + 2 * n * n + k * n);
    products_back(c, p, g);
    return 0;
}

/* ---- symmetric eigenvalues and vectors --------------------------------------------------- */

static int eigen(const struct matrix_case *c, double *y) {
    const size_t n = c->dim[0];
    copy(n * n, c->x, y + n);
    return LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', (int)n, y + n, (int)n, y, c->work,
                               (int)(1 + 6 * n + 2 * n * n), c->pivot, (int)(3 + 5 * n));
}

/* A_ = V (diag(w_) + E o skew(V^T V_)) V^T. The middle is symmetric. */
static int eigen_adjoint(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0];
    const int info = eigen(c, y);
    if (info) return info;
    const double *w = y, *v = y + n;
    double *m = c->work, *s = m + n * n;
    for (size_t i = 0; i < n * n; i++) s[i] = c->seed[n + i] * v[i];
    gemm(T, N, n, n, n, 1, v, s, 0, m);
    for (size_t j = 0; j < n; j++) {
        m[j * (n + 1)] = c->seed[j];
        for (size_t i = j + 1; i < n; i++)
            m[i + j * n] = 0.5 * (m[i + j * n] - m[j + i * n]) / (w[j] - w[i]);
    }
    mirror(n, m);
    gemm(N, N, n, n, n, 1, v, m, 0, s);
    gemm(N, T, n, n, n, 1, s, v, 0, g);
    return 0;
}

/* ---- singular values --------------------------------------------------------------------- */

static int gesdd(const struct matrix_case *c, char job, double *a, double *s, double *u,
                 double *vt, double *work, size_t len) {
    const int n = (int)c->dim[0];
    return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, n, n, a, n, s, u, n, vt, n, work,
                               (int)len, c->pivot);
}

static int singular(const struct matrix_case *c, double *y) {
    const size_t n = c->dim[0];
    double *a = c->work, *work = a + n * n;
    copy(n * n, c->x, a);
    return gesdd(c, 'N', a, y, NULL, NULL, work, c->work_len - n * n);
}

/* A_ = U diag(s_) V^T. */
static int singular_adjoint(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0];
    double *a = c->work, *u = a + n * n, *vt = u + n * n, *work = vt + n * n;
    copy(n * n, c->x, a);
    const int info = gesdd(c, 'S', a, y, u, vt, work, c->work_len - 3 * n * n);
    if (info) return info;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) u[i + j * n] *= c->seed[j];
    gemm(N, N, n, n, n, 1, u, vt, 0, g);
    return 0;
}

/* ---- QR ---------------------------------------------------------------------------------- */

static int qr(const struct matrix_case *c, double *y) {
    const size_t n = c->dim[0];
    double *q = y, *r = y + n * n, *tau = c->work, *work = tau + n;
    const int len = (int)(n * BLOCK);
    copy(n * n, c->x, q);
    const int info =
        LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, (int)n, (int)n, q, (int)n, tau, work, len);
    if (info) return info;
    for (size_t j = 0; j < n; j++) {
        copy(j + 1, q + j * n, r + j * n);
        memset(r + j * n + j + 1, 0, (n - j - 1) * sizeof *r);
    }
    return LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, (int)n, (int)n, (int)n, q, (int)n, tau, work,
                               len);
}

/* A_ = (Q_ + Q copyltu(M)) R^-T, M = R R_^T - Q_^T Q; here M^T, of which the upper triangle. */
static int qr_adjoint(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0];
    const int info = qr(c, y), o = (int)n;
    if (info) return info;
    const double *q = y, *r = y + n * n;
    double *m = c->work;
    copy(n * n, c->seed + n * n, m);
    cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasTrans, CblasNonUnit, o, o, 1, r, o,
                m, o);
    gemm(T, N, n, n, n, -1, q, c->seed, 1, m);
    copy(n * n, c->seed, g);
    cblas_dsymm(CblasColMajor, CblasRight, CblasUpper, o, o, 1, m, o, q, o, 1, g, o);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasTrans, CblasNonUnit, o, o, 1, r, o,
                g, o);
    return 0;
}

/* ---- Gaussian process -------------------------------------------------------------------- */

/* r^2 / length^2 of point j from those after it, to e of n - j - 1. */
static void distances(size_t n, size_t d, const double *x, double scale, size_t j, double *e) {
    memset(e, 0, (n - j - 1) * sizeof *e);
    for (size_t k = 0; k < d; k++) {
        const double *p = x + k * n, at = p[j];
        for (size_t i = j + 1; i < n; i++) e[i - j - 1] += (p[i] - at) * (p[i] - at);
    }
    for (size_t i = 0; i < n - j - 1; i++) e[i] *= scale;
}

/* kept: K below its diagonal stays there; NULL: it does not. */
static int gp_value(const struct matrix_case *c, double *y, double *kept) {
    const size_t n = c->dim[0], d = c->dim[1];
    const double sigma = c->x[0], length = c->x[1], noise = c->x[2], *obs = c->data + n * d;
    const double log_2pi = 1.83787706640934548356;
    double *l = c->work, *alpha = l + n * n, fit = 0;
    for (size_t j = 0; j < n; j++) {
        double *k = l + j * (n + 1);
        *k++ = sigma * sigma + noise * noise;
        distances(n, d, c->data, -0.5 / (length * length), j, k);
        map_exp(n - j - 1, k, k);
        for (size_t i = 0; i < n - j - 1; i++) k[i] *= sigma * sigma;
        if (kept) copy(n - j - 1, k, kept + j * (n + 1) + 1);
    }
    const int info = cholesky(n, l);
    if (info) return info;
    copy(n, obs, alpha);
    if (LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (int)n, 1, l, (int)n, alpha, (int)n))
        return -1;
    for (size_t i = 0; i < n; i++) fit += obs[i] * alpha[i];
    *y = -0.5 * (fit + (double)n * log_2pi) - sum_of_logs(n, l, n + 1);
    return 0;
}

static int gp(const struct matrix_case *c, double *y) { return gp_value(c, y, NULL); }

/* K_ = (a a^T - K^-1) / 2, met with the derivatives of K as it comes. */
static int gp_adjoint(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0], d = c->dim[1];
    const double sigma = c->x[0], length = c->x[1], noise = c->x[2];
    double *l = c->work, *alpha = l + n * n, *k = alpha + n, *e = k + n * n;
    double to_sigma = 0, to_length = 0, trace = 0;
    const int info = gp_value(c, y, k);
    if (info) return info;
    if (LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (int)n, l, (int)n)) return -1;
    for (size_t j = 0; j < n; j++) {
        const double *w = l + j * (n + 1), *kj = k + j * (n + 1), *a = alpha + j;
        double s[8] = {0}, t[8] = {0};
        const size_t m = n - j;
        trace += a[0] * a[0] - w[0];
        distances(n, d, c->data, 1 / (length * length), j, e + 1);
        size_t i = 1;
        for (; i + 8 <= m; i += 8)
            for (size_t b = 0; b < 8; b++) {
                const double f = (a[0] * a[i + b] - w[i + b]) * kj[i + b];
                s[b] += f;
                t[b] += f * e[i + b];
            }
        for (; i < m; i++) {
            const double f = (a[0] * a[i] - w[i]) * kj[i];
            s[0] += f;
            t[0] += f * e[i];
        }
        to_sigma += sum(8, s);
        to_length += sum(8, t);
    }
    g[0] = 2 * to_sigma / sigma + sigma * trace;
    g[1] = to_length / length;
    g[2] = noise * trace;
    return 0;
}

/* ---- two layers -------------------------------------------------------------------------- */

static void add_bias(size_t m, size_t n, const double *bias, double *a) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) a[i + j * m] += bias[i];
}

static void sum_columns(size_t m, size_t n, const double *a, double *s) {
    memset(s, 0, m * sizeof *s);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) s[i] += a[i + j * m];
}

/* Leaves tanh of the hidden layer and the softmax of the last one in work. */
static int mlp(const struct matrix_case *c, double *y) {
    const size_t n = c->dim[0], h = c->dim[1], m = c->dim[2], b = c->dim[3];
    const double *w = c->x, *w_bias = w + h * n, *v = w_bias + h, *v_bias = v + m * h;
    double *hidden = c->work, *p = hidden + h * b, loss = 0;
    gemm(N, N, h, b, n, 1, w, c->data, 0, hidden);
    add_bias(h, b, w_bias, hidden);
    map_tanh(h * b, hidden, hidden);
    gemm(N, N, m, b, h, 1, v, hidden, 0, p);
    add_bias(m, b, v_bias, p);
    for (size_t j = 0; j < b; j++) {
        double *z = p + j * m, most = z[0];
        for (size_t i = 1; i < m; i++) most = (z[i] > most ? z[i] : most);
        for (size_t i = 0; i < m; i++) z[i] -= most;
        loss -= z[c->label[j]];
    }
    map_exp(m * b, p, p);
    for (size_t j = 0; j < b; j++) {
        double *z = p + j * m, total = 0;
        for (size_t i = 0; i < m; i++) total += z[i];
        loss += log(total);
        for (size_t i = 0; i < m; i++) z[i] /= total;
    }
    *y = loss / (double)b;
    return 0;
}

static int mlp_adjoint(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0], h = c->dim[1], m = c->dim[2], b = c->dim[3];
    const double *v = c->x + h * n + h, scale = 1 / (double)b;
    double *hidden = c->work, *p = hidden + h * b, *back = p + m * b;
    double *w_ = g, *w_bias_ = w_ + h * n, *v_ = w_bias_ + h, *v_bias_ = v_ + m * h;
    mlp(c, y);
    for (size_t j = 0; j < b; j++) p[c->label[j] + j * m] -= 1;
    for (size_t i = 0; i < m * b; i++) p[i] *= scale;
    gemm(N, T, m, h, b, 1, p, hidden, 0, v_);
    sum_columns(m, b, p, v_bias_);
    gemm(T, N, h, b, m, 1, v, p, 0, back);
    for (size_t i = 0; i < h * b; i++) back[i] *= 1 - hidden[i] * hidden[i];
    gemm(N, T, h, n, b, 1, back, c->data, 0, w_);
    sum_columns(h, b, back, w_bias_);
    return 0;
}

/* ---- a chain of short vectors ------------------------------------------------------------ */

enum { SHORT = 4 };

static int vectors(const struct matrix_case *c, double *y) {
    const double *v = c->x + SHORT, *w = v + SHORT;
    double u[SHORT];
    memcpy(u, c->x, sizeof u);
    for (size_t k = 0; k < c->dim[1]; k += 2) {
        for (size_t i = 0; i < SHORT; i++) u[i] *= v[i];
        for (size_t i = 0; i < SHORT; i++) u[i] += w[i];
    }
    memcpy(y, u, sizeof u);
    return 0;
}

static int vectors_adjoint(const struct matrix_case *c, double *y, double *g) {
    const double *v = c->x + SHORT, *w = v + SHORT;
    double u[SHORT], v_[SHORT] = {0}, w_[SHORT] = {0}, *kept = c->work;
    memcpy(u, c->x, sizeof u);
    for (size_t k = 0; k < c->dim[1]; k += 2, kept += SHORT) {
        memcpy(kept, u, sizeof u);
        for (size_t i = 0; i < SHORT; i++) u[i] *= v[i];
        for (size_t i = 0; i < SHORT; i++) u[i] += w[i];
    }
    memcpy(y, u, sizeof u);
    memcpy(u, c->seed, sizeof u);
    for (size_t k = 0; k < c->dim[1]; k += 2) {
        kept -= SHORT;
        for (size_t i = 0; i < SHORT; i++) w_[i] += u[i];
        for (size_t i = 0; i < SHORT; i++) v_[i] += u[i] * kept[i];
        for (size_t i = 0; i < SHORT; i++) u[i] *= v[i];
    }
    memcpy(g, u, sizeof u);
    memcpy(g + SHORT, v_, sizeof v_);
    memcpy(g + 2 * SHORT, w_, sizeof w_);
    return 0;
}

/* ---- element by element ------------------------------------------------------------------ */

#define MAP_WITH_ADJOINT(f, slope)                                                             \
    static int all_##f(const struct matrix_case *c, double *y) {                               \
        map_##f(c->dim[0], c->x, y);                                                           \
        return 0;                                                                              \
    }                                                                                          \
    static int all_##f##_adjoint(const struct matrix_case *c, double *y, double *g) {          \
        const double *x = c->x, *w = c->seed;                                                  \
        map_##f(c->dim[0], x, y);                                                              \
        for (size_t i = 0; i < c->dim[0]; i++) g[i] = w[i] * (slope);                          \
        (void)x;                                                                               \
        return 0;                                                                              \
    }
MAP_WITH_ADJOINT(exp, y[i])
MAP_WITH_ADJOINT(tanh, 1 - y[i] * y[i])
MAP_WITH_ADJOINT(log, 1 / x[i])

int matrix_traffic(const struct matrix_case *c, double *y, double *g) {
    const size_t n = c->dim[0];
    double *x = c->work, *y_ = x + n;
    copy(n, c->x, x);
    memset(g, 0, n * sizeof *g);
    copy(n, c->seed, y_);
    for (size_t i = 0; i < n; i++) g[i] += y_[i] * y[i];
    return 0;
}

/* ---- all of them ------------------------------------------------------------------------- */

int matrix_forward(const struct matrix_case *c, double *y) {
    static int (*const forward[])(const struct matrix_case *, double *) = {
        logdet, solve, products, eigen,   singular, qr,
        gp,     mlp,   vectors,  all_exp, all_tanh, all_log};
    return forward[c->kind](c, y);
}

int matrix_handwritten(const struct matrix_case *c, double *y, double *g) {
    static int (*const adjoint[])(const struct matrix_case *, double *, double *) = {
        logdet_adjoint,   solve_adjoint,   products_adjoint, eigen_adjoint,
        singular_adjoint, qr_adjoint,      gp_adjoint,       mlp_adjoint,
        vectors_adjoint,  all_exp_adjoint, all_tanh_adjoint, all_log_adjoint};
    return adjoint[c->kind](c, y, g);
}

int matrix_handwritten_rank_one(const struct matrix_case *c, double *y, double *g) {
    return products_rank_one(c, y, g);
}

void matrix_work(const struct matrix_case *c, size_t *doubles, size_t *ints) {
    const size_t n = c->dim[0], s = n * n;
    const struct {
        size_t doubles, ints;
    } need[] = {{s, 0},
                {s, n},
                {3 * s, 0},
                {1 + 6 * n + 2 * s, 3 + 5 * n},
                {7 * s + (7 + BLOCK) * n, 8 * n},
                {s + n + n * BLOCK, 0},
                {2 * s + 2 * n, 0},
                {(2 * c->dim[1] + c->dim[2]) * c->dim[3], 0},
                {SHORT * c->dim[1], 0},
                {2 * n, 0},
                {2 * n, 0},
                {2 * n, 0}};
    *doubles = need[c->kind].doubles;
    *ints = need[c->kind].ints;
}

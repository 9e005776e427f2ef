/* SPDX-License-Identifier: MIT */
/* Least squares, pseudo-inverse.
 *
 * Least squares: solve.h.   tangents
 *     m >= n: Xt = P (Bt - At X) + (A'A)^-1 At' (B - A X)
 *     m < n:  Z = (AA')^-1 B;  Xt = A^+ (Bt - At X) + (I - A^+ A) At' Z
 *   by the factors and their Q: products of A with what (A'A)^-1 is in lose twice the digits;
 *   m = n: B - A X is 0, and its rounding, which is that of the largest entries, left out
 * Rows of very different size (m < n: columns) are factored with the large ones first, or what
 * is small would be lost below what is large: A = P Q R with a permutation P.
 * Pseudo-inverse, A = U S V' of numerical rank r, G = P_ (n by m), N = G' V, M = G U, K = V' M:
 *     A_ += U [-S^-1 K S^-1 - K' S^-2 - S^-2 K'] V' + N S^-2 V' + U S^-2 M'
 *   the tangent is the same map with U and V exchanged and At for G.
 * Sources: Golub and Pereyra 1973; Cox and Higham 1998 (order of rows). */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/solve.h>
#include "orthogonal.h"
#include "spectral.h"
#include "spread.h"
#include "traits.h"
#include "whole.h"

/* ---- least squares ---- */

static wg_status lstsq_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, k = b->in[1].cols, p = wgi_smaller(m, n);
    if (b->in[1].rows != m)
        return wgi_block_refuse(b, WG_ESHAPE,
                                "the right-hand side has not as many rows as the matrix");
    b->out[0].rows = n, b->out[0].cols = k;
    b->saved_bytes = wgi_room_of(m * n) + wgi_room_of(p) + wgi_room_of(wgi_larger(m, n));
    b->work_bytes = wgi_room_of(wgi_reflector_room(wgi_larger(wgi_larger(m, n), k))) +
                    wgi_larger(2 * wgi_room_of(m * k) + wgi_room_of(n * k), wgi_room_of(p * p));
    return WG_OK;
}

struct least {
    size_t m, n, k;
    double *a, *tau; /* dgeqrf's, or dgelqf's for m < n */
    int *order;      /* of rows: see order_rows; first a negative one: as they are */
    double *more, *mk, *mk2, *nk; /* workspace; from mk on also of min(m, n)^2 */
    int more_size;
};

static struct least least_of(const wg_block *b) {
    struct least s;
    char *saved = (char *)b->saved, *work = (char *)b->work;
    s.m = b->in[0].rows, s.n = b->in[0].cols, s.k = b->in[1].cols;
    s.a = wgi_take(&saved, s.m * s.n), s.tau = wgi_take(&saved, wgi_smaller(s.m, s.n));
    s.order = (int *)(void *)saved;
    const size_t size = wgi_reflector_room(wgi_larger(wgi_larger(s.m, s.n), s.k));
    s.more = wgi_take(&work, size), s.more_size = wgi_int(size);
    s.mk = wgi_take(&work, s.m * s.k), s.mk2 = wgi_take(&work, s.m * s.k);
    s.nk = wgi_take(&work, s.n * s.k);
    return s;
}

/* x = R^-1 x or R^-T x;  m < n: L^-1 x, L^-T x. */
static void triangle_solve(const struct least *s, int trans, double *x, size_t ldx) {
    const int tall = s->m >= s->n;
    cblas_dtrsm(CblasColMajor, CblasLeft, tall ? CblasUpper : CblasLower, wgi_op(trans),
                CblasNonUnit, wgi_int(wgi_smaller(s->m, s->n)), wgi_int(s->k), 1, s->a,
                wgi_int(s->m), x, wgi_int(ldx));
}

/* The bucket of a size, largest sizes first. */
enum { BUCKETS = DBL_MAX_EXP - DBL_MIN_EXP + DBL_MANT_DIG + 2 };
static size_t bucket_of(double size) {
    if (size == 0) return BUCKETS - 1;
    return size < INFINITY ? (size_t)(DBL_MAX_EXP - ilogb(size)) : 0;
}

/* size = the largest elements of the rows of A, or its columns for m < n. */
static void row_sizes(const wg_block_arg *a, double *restrict size) {
    const int tall = a->rows >= a->cols;
    memset(size, 0, wgi_larger(a->rows, a->cols) * sizeof *size);
    for (size_t j = 0; j < a->cols; j++) {
        const double *restrict const x = a->value + j * a->ld;
        double most = 0;
        for (size_t i = 0; i < a->rows && tall; i++)
            size[i] = fabs(x[i]) > size[i] ? fabs(x[i]) : size[i];
        for (size_t i = 0; i < a->rows && !tall; i++)
            most = fabs(x[i]) > most ? fabs(x[i]) : most;
        if (!tall) size[j] = most;
    }
}
/* Are some of these sizes far from others, but for zeros? Two chains, neither waiting for the
 * other. */
static int is_uneven(size_t n, const double *size) {
    enum { FAR = 64 };
    wgi_spread even = WGI_NO_SPREAD, odd = WGI_NO_SPREAD;
    for (size_t i = 0; i + 2 <= n; i += 2)
        wgi_spread_add(&even, size[i]), wgi_spread_add(&odd, size[i + 1]);
    if (n % 2) wgi_spread_add(&even, size[n - 1]);
    wgi_spread_add(&even, odd.low < INFINITY ? odd.low : 0), wgi_spread_add(&even, odd.high);
    return wgi_spread_beyond(even, FAR);
}

/* order = the rows of A, or columns for m < n, by the power of two of their largest elements, the
 * large ones first, where these are of different size. */
static void order_rows(const struct least *s, const wg_block_arg *a) {
    const size_t rows = wgi_larger(s->m, s->n);
    double *const size = s->more;
    s->order[0] = -1;
    if (wgi_smaller(s->m, s->n) < 2) return;
    row_sizes(a, size);
    if (!is_uneven(rows, size)) return;
    size_t start[BUCKETS + 1] = {0};
    for (size_t i = 0; i < rows; i++) start[bucket_of(size[i]) + 1]++;
    for (size_t k = 0; k < BUCKETS; k++) start[k + 1] += start[k];
    for (size_t i = 0; i < rows; i++) s->order[start[bucket_of(size[i])]++] = (int)i;
}

/* x, k columns, in the order of the rows, or back from it. */
static void reorder(const struct least *s, int back, double *x) {
    const size_t rows = wgi_larger(s->m, s->n);
    if (s->order[0] < 0) return;
    for (size_t j = 0; j < s->k; j++, x += rows) {
        const double *const from = memcpy(s->more, x, rows * sizeof *x);
        for (size_t i = 0; i < rows; i++)
            if (back) x[s->order[i]] = from[i];
            else x[i] = from[s->order[i]];
    }
}

/* x = Q x or Q' x, of rows in the order of A: Q m by m, or n by n for m < n. */
static void orthogonal_times(const struct least *s, int trans, double *x) {
    const int m = wgi_int(s->m), n = wgi_int(s->n), k = wgi_int(s->k);
    const int into = trans == (m >= n);
    const char t = trans ? 'T' : 'N';
    if (into) reorder(s, 0, x);
    if (s->m >= s->n)
        (void)LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', t, m, k, n, s->a, m, s->tau, x, m,
                                  s->more, s->more_size);
    else
        (void)LAPACKE_dormlq_work(LAPACK_COL_MAJOR, 'L', t, n, k, m, s->a, m, s->tau, x, n,
                                  s->more, s->more_size);
    if (!into) reorder(s, 1, x);
}

/* a = A, what is factored, in that order. */
static void copy_ordered(const struct least *s, const wg_block_arg *a) {
    const size_t m = s->m, n = s->n, ld = a->ld;
    const int *const order = s->order;
    if (order[0] < 0) wgi_copy(m, n, a->value, ld, s->a, m);
    for (size_t j = 0; j < n && order[0] >= 0; j++)
        for (size_t i = 0; i < m; i++)
            s->a[i + j * m] = m >= n ? a->value[(size_t)order[i] + j * ld]
                                     : a->value[i + (size_t)order[j] * ld];
}

/* to, `rows` tall = x, `kept` tall, above zeros. */
static void above_zeros(size_t kept, size_t k, const double *x, size_t rows, double *to) {
    for (size_t j = 0; j < k; j++) {
        memcpy(to + j * rows, x + j * kept, kept * sizeof *to);
        memset(to + j * rows + kept, 0, (rows - kept) * sizeof *to);
    }
}

static wg_status lstsq_value(wg_block *b) {
    const struct least s = least_of(b);
    const int m = wgi_int(s.m), n = wgi_int(s.n), tall = s.m >= s.n;
    const size_t p = wgi_smaller(s.m, s.n);
    double *const x = b->out[0].value;
    if (p == 0) {
        memset(x, 0, s.n * s.k * sizeof *x);
        return WG_OK;
    }
    order_rows(&s, &b->in[0]);
    copy_ordered(&s, &b->in[0]);
    if (tall)
        (void)LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, s.a, m, s.tau, s.more, s.more_size);
    else (void)LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, m, n, s.a, m, s.tau, s.more, s.more_size);
    if (!wgi_reflectors_hold(s.m, s.n, s.a, s.tau)) {
        for (size_t e = 0; e < s.n * s.k; e++) x[e] = NAN;
        return WG_OK;
    }
    b->info = wgi_dependent(tall, p, wgi_rounding(s.m, s.n), s.a, s.m, s.mk);
    if (b->info != 0) return wgi_block_refuse(b, WG_ESINGULAR, "the matrix has not full rank");
    if (s.k == 0) return WG_OK;
    wgi_copy(s.m, s.k, b->in[1].value, b->in[1].ld, s.mk, s.m);
    if (tall) {
        orthogonal_times(&s, 1, s.mk);
        wgi_copy(s.n, s.k, s.mk, s.m, x, s.n);
        triangle_solve(&s, 0, x, s.n);
    } else {
        triangle_solve(&s, 0, s.mk, s.m);
        above_zeros(s.m, s.k, s.mk, s.n, x);
        orthogonal_times(&s, 1, x);
    }
    return WG_OK;
}

/* y = f op(A) x + beta y, A or At as an operand stands; k columns. */
static void multiply(const struct least *s, double f, const double *a, size_t lda, int trans,
                     const double *x, double beta, double *y) {
    const size_t rows = trans ? s->n : s->m, inner = trans ? s->m : s->n;
    cblas_dgemm(CblasColMajor, wgi_op(trans), CblasNoTrans, wgi_int(rows), wgi_int(s->k),
                wgi_int(inner), f, a, wgi_int(lda), x, wgi_int(inner), beta, y, wgi_int(rows));
}

/* r = B - A X, m > n. Where rows are of different size, by Q: what the large ones leave of
 * their difference is their rounding, which may be more than all of the small ones. */
static void residual(const struct least *s, const wg_block_arg *a, const wg_block_arg *c,
                     const double *x, double *r) {
    wgi_copy(s->m, s->k, c->value, c->ld, r, s->m);
    if (s->order[0] < 0) {
        multiply(s, -1, a->value, a->ld, 0, x, 1, r);
        return;
    }
    orthogonal_times(s, 1, r);
    for (size_t j = 0; j < s->k; j++) memset(r + j * s->m, 0, s->n * sizeof *r);
    orthogonal_times(s, 0, r);
}

/* *e = the power of two of the largest of n numbers. Gives 0 where there is none, or it is not
 * finite. */
static int exponent_of(size_t n, const double *x, int *e) {
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs(x[i]) > most) most = fabs(x[i]); /* fmax would be a call */
    *e = most > 0 && most < INFINITY ? ilogb(most) : 0;
    return most > 0 && most < INFINITY;
}

/* Of the products of columns of x, which are to go through the triangle once more, and of y:
 * where x would leave the range there, though the product does not, a power of two is handed
 * over to y. power: of each column of x the exponent of that power; NULL: not wanted. */
static void even_out(const struct least *s, size_t n, double *x, size_t m, double *y,
                     double *power) {
    enum { FAR = 900, NEARER = 500 }; /* powers of two from 1 */
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < wgi_smaller(s->m, s->n); i++) {
        const double r = fabs(s->a[i * (s->m + 1)]);
        low = fmin(low, r), high = fmax(high, r);
    }
    for (size_t j = 0; j < s->k && power != NULL; j++) power[j] = 0;
    if (!(low > 0 && high < INFINITY)) return;
    for (size_t j = 0; j < s->k; j++) {
        int most;
        if (!exponent_of(n, x + j * n, &most)) continue;
        const int up = most - ilogb(low), down = most - ilogb(high);
        const int by = up > FAR ? NEARER - up : down < -FAR ? -NEARER - down : 0;
        if (power != NULL) power[j] = by;
        for (size_t i = 0; by != 0 && i < n; i++) x[i + j * n] = ldexp(x[i + j * n], by);
        for (size_t i = 0; by != 0 && i < m; i++) y[i + j * m] = ldexp(y[i + j * m], -by);
    }
}

static wg_status lstsq_vjp(wg_block *b) {
    const struct least s = least_of(b);
    const size_t m = s.m, n = s.n, k = s.k;
    const wg_block_arg *const a = &b->in[0], *const c = &b->in[1];
    const double *const x = b->out[0].value, *const w = b->out[0].bar;
    if (m == 0 || n == 0 || k == 0) return WG_OK;
    const wgi_dense aw = wgi_bar_of(a, n, 0), cw = wgi_bar_of(c, k, 0);
    memcpy(s.nk, w, n * k * sizeof *w);
    if (m >= n) {
        triangle_solve(&s, 1, s.nk, n);
        above_zeros(n, k, s.nk, m, s.mk2);
        orthogonal_times(&s, 0, s.mk2);
        if (cw.p != NULL) wgi_add(m, k, 1, s.mk2, cw);
        if (aw.p == NULL) return WG_OK;
        wgi_gemm_add(m, n, k, -1, 'N', s.mk2, m, 'T', x, n, aw);
        if (m == n) return WG_OK;
        residual(&s, a, c, x, s.mk);
        even_out(&s, n, s.nk, m, s.mk, NULL);
        triangle_solve(&s, 0, s.nk, n);
    } else {
        orthogonal_times(&s, 0, s.nk);
        wgi_copy(m, k, s.nk, n, s.mk2, m);
        triangle_solve(&s, 1, s.mk2, m);
        if (cw.p != NULL) wgi_add(m, k, 1, s.mk2, cw);
        if (aw.p == NULL) return WG_OK;
        wgi_gemm_add(m, n, k, -1, 'N', s.mk2, m, 'T', x, n, aw);
        for (size_t j = 0; j < k; j++) memset(s.nk + j * n, 0, m * sizeof *s.nk);
        orthogonal_times(&s, 1, s.nk);
        wgi_copy(m, k, c->value, c->ld, s.mk, m);
        triangle_solve(&s, 0, s.mk, m);
        even_out(&s, m, s.mk, n, s.nk, NULL);
        triangle_solve(&s, 1, s.mk, m);
    }
    wgi_gemm_add(m, n, k, 1, 'N', s.mk, m, 'T', s.nk, n, aw);
    return WG_OK;
}

/* The power of two of a column where it is far from 1, of which products may leave the range;
 * else 0. */
static int far_exponent(size_t n, const double *x) {
    enum { FAR = 300 };
    int e;
    return exponent_of(n, x, &e) && abs(e) > FAR ? e : 0;
}

/* Columns x, of which those that are far from the size of 1 are brought to it, and y, of which
 * the columns are linear in those, brought to what it is without. */
static void to_one(size_t k, size_t m, const double *x, double *to) {
    memcpy(to, x, m * k * sizeof *to);
    for (size_t j = 0; j < k; j++) {
        const int e = far_exponent(m, x + j * m);
        for (size_t i = 0; e != 0 && i < m; i++) to[i + j * m] = ldexp(x[i + j * m], -e);
    }
}
static void from_one(size_t k, size_t m, const double *x, size_t n, double *y) {
    for (size_t j = 0; j < k; j++) {
        const int e = far_exponent(m, x + j * m);
        for (size_t i = 0; e != 0 && i < n; i++) y[i + j * n] = ldexp(y[i + j * n], e);
    }
}

static wg_status lstsq_jvp(wg_block *b) {
    const struct least s = least_of(b);
    const size_t m = s.m, n = s.n, k = s.k;
    const wg_block_arg *const a = &b->in[0], *const c = &b->in[1];
    const double *const x = b->out[0].value;
    double *const xt = b->out[0].bar;
    int moves = 0; /* else (AA')^-1 B, which may be infinite, is not multiplied by 0 */
    for (size_t j = 0; j < n && a->bar != NULL; j++)
        moves |= wgi_any(a->bar + j * a->bar_ld, m);
    memset(xt, 0, n * k * sizeof *xt);
    if (m == 0 || n == 0 || k == 0) return WG_OK;
    if (c->bar != NULL) wgi_copy(m, k, c->bar, c->bar_ld, s.mk2, m);
    else memset(s.mk2, 0, m * k * sizeof *s.mk2);
    if (moves) multiply(&s, -1, a->bar, a->bar_ld, 0, x, 1, s.mk2);
    if (m >= n) {
        orthogonal_times(&s, 1, s.mk2);
        wgi_copy(n, k, s.mk2, m, xt, n);
        if (moves && m > n) {
            residual(&s, a, c, x, s.mk);
            to_one(k, m, s.mk, s.mk2);
            multiply(&s, 1, a->bar, a->bar_ld, 1, s.mk2, 0, s.nk);
            triangle_solve(&s, 1, s.nk, n);
            from_one(k, m, s.mk, n, s.nk);
            for (size_t i = 0; i < n * k; i++) xt[i] += s.nk[i];
        }
        triangle_solve(&s, 0, xt, n);
    } else {
        triangle_solve(&s, 0, s.mk2, m);
        above_zeros(m, k, s.mk2, n, xt);
        if (moves) {
            wgi_copy(m, k, c->value, c->ld, s.mk, m);
            triangle_solve(&s, 0, s.mk, m);
            to_one(k, m, s.mk, s.mk2);
            triangle_solve(&s, 1, s.mk2, m);
            multiply(&s, 1, a->bar, a->bar_ld, 1, s.mk2, 0, s.nk);
            from_one(k, m, s.mk, n, s.nk);
            orthogonal_times(&s, 0, s.nk);
            for (size_t j = 0; j < k; j++)
                for (size_t i = m; i < n; i++) xt[i + j * n] = s.nk[i + j * n];
        }
        orthogonal_times(&s, 1, xt);
    }
    return WG_OK;
}

/* y = A^+ C by A = Q R, or A' = Q R: R^-1 Q' C, or Q R'^-1 C. Gives whether the rank is full
 * (wgi_has_full_rank). */
static int write_least(wg_tape *t, wgi_reals a, wgi_reals c, double least, int each,
                       wg_real *y) {
    const int tall = a.rows >= a.cols;
    const wgi_reals turned = wgi_reals_turn(a, !tall);
    const size_t m = turned.rows, p = turned.cols, k = c.cols;
    wg_real *const q = wgi_expand_room(t, m * p), *const r = wgi_expand_room(t, p * p);
    wg_real *const z = tall ? y : wgi_expand_copied(t, c);
    const wgi_reals basis = wgi_reals_packed(q, m, p), triangle = wgi_reals_packed(r, p, p);
    if (q == NULL || r == NULL || z == NULL) return 1; /* the tape has failed */
    wgi_expand_qr(t, turned, NULL, q, r);
    const int full = wgi_has_full_rank(t, triangle, least, each);
    if (tall) wgi_expand_mul(t, wgi_reals_turn(basis, 1), c, z);
    wgi_expand_triangle(t, wgi_reals_turn(triangle, !tall), tall, 0, k, z, 1, p);
    if (!tall) wgi_expand_mul(t, basis, wgi_reals_packed(z, p, k), y);
    return full;
}

static wg_status lstsq_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    if (!write_least(t, a, wgi_reals_operand(b, x, 1), wgi_rounding(a.rows, a.cols), 1, y))
        return WG_ESINGULAR;
    return wg_tape_status(t);
}

/* ---- the adjoints of A and B as an operation on A, B, X and W, the adjoints of X ----
 * With P = A^+, Q and the triangle of A:
 *     B_ = U = P' W
 *     m >= n: A_ = R Y' - U X',  R = B - A X,   Y = P U,    Rt = Bt - At X - A Xt
 *             G = Wt - At' U,  H = R'^-1 G - (Q' At Y) above,  Yt = R^-1 H,
 *             Ut = Q (R'^-1 G above what is below in Q' At Y), and as R is found, by Q
 *             Rt = Q (-R'^-1 At' R above what is below in Q' (Bt - At X))
 *     m < n:  A_ = Z V' - U X',  V = W - A' U,  Z = P' X,   and, by Q,
 *             Vt = Q' (-L^-1 At V above what is below in Q (Wt - At' U))
 *             Ut = L'^-1 ((Q (Wt - At' U)) above + L^-1 At V)
 *             Zt = L'^-1 (L^-1 (Bt - At X) - (Q At' Z) above)
 * params: the factor that the value has left. saved: the first factors of A_. */

enum { OF_A, OF_B, OF_X, OF_W };

struct fitted {
    double *a, *tau;
    int *order;
    int matrix; /* is A_ wanted? */
};

/* Pairs of columns, of m or n numbers; the longer of both. Of Y and R, and of Z and V, which are
 * multiplied with each other, the first of both is times a power of two, and the other over it
 * (even_out), with their tangents. The power itself may be no number. */
struct adjoint_of_fit {
    struct least s;
    double *left, *right, *power; /* saved: R and Y, or Z and V; its exponent, by column */
    double *one, *two, *three, *m4, *n4;
};

static wg_status fit_shape(wg_block *b) {
    const size_t m = b->in[OF_A].rows, n = b->in[OF_A].cols, k = b->in[OF_B].cols;
    const size_t longest = wgi_larger(m, n);
    b->out[0].rows = m, b->out[0].cols = n;
    b->out[1].rows = m, b->out[1].cols = k;
    b->saved_bytes = wgi_room_of(m * k) + wgi_room_of(n * k) + wgi_room_of(k);
    b->work_bytes = wgi_room_of(wgi_reflector_room(wgi_larger(longest, k))) +
                    3 * wgi_room_of(longest * k) + wgi_room_of(4 * m * k) +
                    wgi_room_of(4 * n * k);
    return WG_OK;
}

static struct adjoint_of_fit fit_of(const wg_block *b) {
    const struct fitted *const p = b->params;
    char *saved = b->saved, *work = b->work;
    struct adjoint_of_fit f;
    memset(&f, 0, sizeof f);
    f.s.m = b->in[OF_A].rows, f.s.n = b->in[OF_A].cols, f.s.k = b->in[OF_B].cols;
    f.s.a = p->a, f.s.tau = p->tau, f.s.order = p->order;
    const size_t m = f.s.m, n = f.s.n, k = f.s.k, longest = wgi_larger(m, n);
    const size_t room = wgi_reflector_room(wgi_larger(longest, k));
    f.s.more = wgi_take(&work, room), f.s.more_size = wgi_int(room);
    f.left = wgi_take(&saved, m * k), f.right = wgi_take(&saved, n * k);
    f.power = wgi_take(&saved, k);
    f.one = wgi_take(&work, longest * k), f.two = wgi_take(&work, longest * k);
    f.three = wgi_take(&work, longest * k);
    f.m4 = wgi_take(&work, 4 * m * k), f.n4 = wgi_take(&work, 4 * n * k);
    return f;
}

/* y += f op(A) x */
static void add_multiple(const struct least *s, double f, const double *a, size_t lda,
                         int trans, const double *x, double *y) {
    multiply(s, f, a, lda, trans, x, 1, y);
}

static wg_status fit_value(wg_block *b) {
    const struct fitted *const p = b->params;
    const struct adjoint_of_fit f = fit_of(b);
    const struct least *const s = &f.s;
    const size_t m = s->m, n = s->n, k = s->k;
    const wg_block_arg *const a = &b->in[OF_A], *const c = &b->in[OF_B];
    double *const aw = memset(b->out[0].value, 0, m * n * sizeof *aw), *const u =
                                                                           b->out[1].value;
    const double *const x = b->in[OF_X].value;
    const wgi_dense to = {aw, m, 0};
    wgi_copy(n, k, b->in[OF_W].value, b->in[OF_W].ld, f.right, n);
    if (m >= n) {
        triangle_solve(s, 1, f.right, n);
        above_zeros(n, k, f.right, m, u);
        orthogonal_times(s, 0, u);
        if (m > n) residual(s, a, c, x, f.left);
        else memset(f.left, 0, m * k * sizeof *f.left);
        even_out(s, n, f.right, m, f.left, f.power);
        triangle_solve(s, 0, f.right, n);
        if (m == n) memset(f.right, 0, n * k * sizeof *f.right);
    } else {
        orthogonal_times(s, 0, f.right);
        wgi_copy(m, k, f.right, n, u, m);
        triangle_solve(s, 1, u, m);
        for (size_t j = 0; j < k; j++) memset(f.right + j * n, 0, m * sizeof *f.right);
        orthogonal_times(s, 1, f.right);
        wgi_copy(m, k, c->value, c->ld, f.left, m);
        triangle_solve(s, 0, f.left, m);
        even_out(s, m, f.left, n, f.right, f.power);
        triangle_solve(s, 1, f.left, m);
    }
    if (!p->matrix) return WG_OK;
    wgi_gemm_add(m, n, k, 1, 'N', f.left, m, 'T', f.right, n, to);
    wgi_gemm_add(m, n, k, -1, 'N', u, m, 'T', x, n, to);
    return WG_OK;
}

static void tangent_or_zero(const wg_block_arg *a, double *to) {
    if (a->bar != NULL) wgi_copy(a->rows, a->cols, a->bar, a->bar_ld, to, a->rows);
    else memset(to, 0, a->rows * a->cols * sizeof *to);
}

/* x, columns of n numbers, times or over the power of two. */
static void times_power(const struct adjoint_of_fit *f, int over, size_t n, double *x) {
    for (size_t j = 0; j < f->s.k; j++) {
        const int by = (int)(over ? -f->power[j] : f->power[j]);
        for (size_t i = 0; by != 0 && i < n; i++) x[i + j * n] = ldexp(x[i + j * n], by);
    }
}

/* m >= n: Rt, Yt, Ut. at: At, or NULL: it is 0. */
static void tall_tangents(const wg_block *b, const struct adjoint_of_fit *f, const double *at,
                          double *rt, double *yt, double *ut) {
    const struct least *const s = &f->s;
    const size_t m = s->m, n = s->n, k = s->k, ld = b->in[OF_A].bar_ld;
    const wg_block_arg *const x = &b->in[OF_X];
    tangent_or_zero(&b->in[OF_W], yt);
    if (at != NULL) add_multiple(s, -1, at, ld, 1, b->out[1].value, yt);
    triangle_solve(s, 1, yt, n);
    if (at != NULL) {
        multiply(s, 1, at, ld, 0, f->right, 0, f->one);
        times_power(f, 1, m, f->one);
        orthogonal_times(s, 1, f->one);
    }
    above_zeros(n, k, yt, m, ut);
    for (size_t j = 0; j < k && at != NULL; j++) {
        const double *const more = f->one + j * m;
        for (size_t i = 0; i < n; i++) yt[i + j * n] -= more[i];
        for (size_t i = n; i < m; i++) ut[i + j * m] = more[i];
    }
    orthogonal_times(s, 0, ut);
    times_power(f, 0, n, yt);
    triangle_solve(s, 0, yt, n);
    if (m == n) {
        memset(rt, 0, m * k * sizeof *rt);
        memset(yt, 0, n * k * sizeof *yt);
        return;
    }
    tangent_or_zero(&b->in[OF_B], rt);
    if (at != NULL) add_multiple(s, -1, at, ld, 0, x->value, rt);
    if (s->order[0] < 0 && x->bar != NULL)
        add_multiple(s, -1, b->in[OF_A].value, b->in[OF_A].ld, 0, x->bar, rt);
    times_power(f, 1, m, rt);
    if (s->order[0] < 0) return;
    if (at != NULL) multiply(s, -1, at, ld, 1, f->left, 0, f->two);
    else memset(f->two, 0, n * k * sizeof *f->two);
    triangle_solve(s, 1, f->two, n);
    orthogonal_times(s, 1, rt);
    for (size_t j = 0; j < k; j++) memcpy(rt + j * m, f->two + j * n, n * sizeof *rt);
    orthogonal_times(s, 0, rt);
}

/* m < n: Zt, Vt, Ut. */
static void wide_tangents(const wg_block *b, const struct adjoint_of_fit *f, const double *at,
                          double *zt, double *vt, double *ut) {
    const struct least *const s = &f->s;
    const size_t m = s->m, n = s->n, k = s->k, ld = b->in[OF_A].bar_ld;
    tangent_or_zero(&b->in[OF_W], vt);
    if (at != NULL) add_multiple(s, -1, at, ld, 1, b->out[1].value, vt);
    memcpy(f->one, vt, n * k * sizeof *f->one);
    orthogonal_times(s, 0, f->one);
    wgi_copy(m, k, f->one, n, ut, m);
    tangent_or_zero(&b->in[OF_B], zt);
    if (at != NULL) add_multiple(s, -1, at, ld, 0, b->in[OF_X].value, zt);
    triangle_solve(s, 0, zt, m);
    if (at != NULL) {
        multiply(s, 1, at, ld, 0, f->right, 0, f->two);
        times_power(f, 0, m, f->two);
        triangle_solve(s, 0, f->two, m);
        multiply(s, 1, at, ld, 1, f->left, 0, f->three);
        times_power(f, 1, n, f->three);
        orthogonal_times(s, 0, f->three);
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < m; i++) {
                ut[i + j * m] += f->two[i + j * m];
                zt[i + j * m] -= f->three[i + j * n];
            }
    }
    triangle_solve(s, 1, ut, m);
    times_power(f, 0, m, zt);
    triangle_solve(s, 1, zt, m);
    memcpy(vt, f->one, n * k * sizeof *vt);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < m; i++) vt[i + j * n] = at != NULL ? -f->two[i + j * m] : 0;
    orthogonal_times(s, 1, vt);
    times_power(f, 1, n, vt);
}

/* A_t is one product of what stands side by side: [left left_t U U_t] [right_t
 * right -X_t -X]'. */
static wg_status fit_jvp(wg_block *b) {
    const struct fitted *const p = b->params;
    const struct adjoint_of_fit f = fit_of(b);
    const size_t m = f.s.m, n = f.s.n, k = f.s.k, mk = m * k, nk = n * k;
    const wg_block_arg *const a = &b->in[OF_A], *const x = &b->in[OF_X];
    double *const ut = b->out[1].bar, *const lt = f.m4 + mk, *const rt = f.n4;
    int moves = 0; /* what may be infinite is not multiplied by 0 */
    for (size_t j = 0; j < n && a->bar != NULL; j++)
        moves |= wgi_any(a->bar + j * a->bar_ld, m);
    const double *const at = moves ? a->bar : NULL;
    if (m >= n) tall_tangents(b, &f, at, lt, rt, ut);
    else wide_tangents(b, &f, at, lt, rt, ut);
    memset(b->out[0].bar, 0, m * n * sizeof *ut);
    if (!p->matrix) return WG_OK;
    memcpy(f.m4, f.left, mk * sizeof *ut);
    memcpy(f.m4 + 2 * mk, b->out[1].value, mk * sizeof *ut);
    memcpy(f.m4 + 3 * mk, ut, mk * sizeof *ut);
    memcpy(f.n4 + nk, f.right, nk * sizeof *ut);
    tangent_or_zero(x, f.n4 + 2 * nk);
    memcpy(f.n4 + 3 * nk, x->value, nk * sizeof *ut);
    for (size_t i = 2 * nk; i < 4 * nk; i++) f.n4[i] = -f.n4[i];
    wgi_gemm_add(m, n, 4 * k, 1, 'N', f.m4, m, 'T', f.n4, n, (wgi_dense){b->out[0].bar, m, 0});
    return WG_OK;
}

static wg_status lstsq_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {
        "adjoint of wg_lstsq", 0, fit_shape, fit_value, NULL, fit_jvp, NULL, NULL, NULL};
    const struct least s = least_of(b);
    const struct fitted p = {s.a, s.tau, s.order, in[0].at.slot != 0};
    const wg_mat of[4] = {in[0], in[1], out[0], bar[0]};
    if (s.m == 0 || s.n == 0 || s.k == 0) return WG_OK;
    return wg_apply(t, &op, &p, sizeof p, 4, of, 2, back);
}

/* In functions, by least squares themselves: U = A'^+ X_, B_ = U,
 *     A_ = (B - A X) (A^+ U)' - U X', or for m < n (A'^+ X) (X_ - A' U)' - U X', or for m = n
 *     -U X'. */
static wg_status lstsq_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    const wg_mat a = in[0], turned = wg_mat_transpose(a), x = out[0];
    (void)b;
    if (a.rows == 0 || a.cols == 0 || x.cols == 0) return WG_OK;
    const wg_mat u = wg_lstsq(t, turned, bar[0]);
    const int tall = a.rows > a.cols;
    back[0] = wg_gemm(t, 'N', 'T', -1, u, x, 0, u);
    back[1] = u;
    if (a.rows == a.cols) return wg_tape_status(t);
    const wg_mat left =
        tall ? wg_gemm(t, 'N', 'N', -1, a, x, 1, in[1]) : wg_lstsq(t, turned, x);
    const wg_mat right =
        tall ? wg_lstsq(t, a, u) : wg_gemm(t, 'N', 'N', -1, turned, u, 1, bar[0]);
    back[0] = wg_gemm(t, 'N', 'T', 1, left, right, 1, back[0]);
    return wg_tape_status(t);
}

static const wgi_traits of_lstsq = {.whole = &wgi_whole_lstsq};
const wg_block_op wgi_op_lstsq = {"wg_lstsq",   WG_OP_EXPANDS, lstsq_shape,
                                  lstsq_value,  lstsq_vjp,     lstsq_jvp,
                                  lstsq_expand, lstsq_adjoint, &of_lstsq};
const wgi_whole wgi_whole_lstsq = {&wgi_op_lstsq, "mnmk", "nk", lstsq_rule, NULL, 0, 0, 6};

wg_mat wg_lstsq(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_mat in[2] = {a, b};
    return wgi_apply_one(t, &wgi_op_lstsq, NULL, 0, 2, in);
}

/* ---- pseudo-inverse ---- */

/* dgesdd, jobz 'S', at its least: 4 p^2 + 7 p, and a block of rows and columns. */
static size_t svd_room(size_t m, size_t n) {
    const size_t p = wgi_smaller(m, n);
    return 4 * p * p + 7 * p + 64 * (m + n) + 1;
}

static wg_status pinv_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = wgi_smaller(m, n);
    b->out[0].rows = n, b->out[0].cols = m;
    b->saved_bytes = wgi_room_of(m * p) + wgi_room_of(n * p) + wgi_room_of(p) + wgi_room_of(1);
    const size_t value = wgi_room_of(m * n) + wgi_room_of(p * n) + wgi_room_of(svd_room(m, n)) +
                         wgi_rounded(8 * p * sizeof(int));
    const size_t sweep = wgi_room_of(m * p) + wgi_room_of(n * p) + 2 * wgi_room_of(p * p);
    b->work_bytes = wgi_larger(value, sweep);
    if (!isnan(*(const double *)b->params)) return WG_OK;
    return wgi_block_refuse(b, WG_EARG, "rcond is not a number");
}

/* saved: U m by r, V n by r, s, r. */
struct svd {
    double *u, *v, *s, *rank;
};

static struct svd svd_of(const wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = wgi_smaller(m, n);
    char *saved = (char *)b->saved;
    struct svd d;
    d.u = wgi_take(&saved, m * p), d.v = wgi_take(&saved, n * p);
    d.s = wgi_take(&saved, p), d.rank = wgi_take(&saved, 1);
    return d;
}

static double threshold(const wg_block *b) {
    const double given = *(const double *)b->params;
    return given < 0 ? (double)wgi_larger(b->in[0].rows, b->in[0].cols) * DBL_EPSILON : given;
}

static wg_status pinv_value(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = wgi_smaller(m, n);
    const int mi = wgi_int(m), ni = wgi_int(n), pi = wgi_int(p);
    const double rcond = threshold(b);
    const struct svd d = svd_of(b);
    char *work = (char *)b->work;
    double *const a = wgi_take(&work, m * n), *const vt = wgi_take(&work, p * n);
    double *const more = wgi_take(&work, svd_room(m, n));
    int *const integers = wgi_take_int(&work, 8 * p);
    if (p == 0) return WG_OK;
    if (!wgi_spectral_finite(m, n, b->in[0].value, b->in[0].ld))
        return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
    wgi_copy(m, n, b->in[0].value, b->in[0].ld, a, m);
    b->info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', mi, ni, a, mi, d.s, d.u, mi, vt, pi,
                                  more, wgi_int(svd_room(m, n)), integers);
    if (b->info != 0) return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
    size_t r = 0;
    while (r < p && d.s[r] > rcond * d.s[0]) r++;
    *d.rank = (double)r;
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < n; i++) d.v[i + j * n] = vt[j + i * p];
    /* V S^-1 in the place of vt, then times U' */
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < n; i++) vt[i + j * n] = d.v[i + j * n] / d.s[j];
    if (r == 0) memset(b->out[0].value, 0, m * n * sizeof *a);
    else
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, ni, mi, wgi_int(r), 1, vt, ni, d.u,
                    mi, 0, b->out[0].value, ni);
    return WG_OK;
}

/* x over two singular values, of which a and c are the inverses: nothing on the way leaves the
 * range of numbers where the quotient does not. */
static double over_both(double x, double a, double c) {
    return (a < 1) == (c < 1) ? x * a * c : x * (a * c);
}

/* y += u [..] v' + ..., the map of the head of this file: u m by r, v n by r, g n by m, y m by
 * n. */
static void pinv_map(size_t r, size_t m, const double *u, size_t n, const double *v,
                     const double *s, const double *g, size_t ldg, double *y, size_t ldy,
                     char *work) {
    const int mi = wgi_int(m), ni = wgi_int(n), ri = wgi_int(r), gi = wgi_int(ldg);
    double *const gv = wgi_take(&work, m * r), *const gu = wgi_take(&work, n * r);
    double *const k = wgi_take(&work, r * r), *const e = wgi_take(&work, r * r);
    if (r == 0) return;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, mi, ri, ni, 1, g, gi, v, ni, 0, gv,
                mi);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ni, ri, mi, 1, g, gi, u, mi, 0, gu,
                ni);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, ri, ri, ni, 1, v, ni, gu, ni, 0, k,
                ri);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < r; i++) {
            const double a = 1 / s[i], c = 1 / s[j], turned = k[j + i * r];
            e[i + j * r] = -(over_both(k[i + j * r], a, c) + (turned * c * c + turned * a * a));
        }
    for (size_t j = 0; j < r; j++) {
        const double by = 1 / s[j];
        for (size_t i = 0; i < m; i++) gv[i + j * m] = gv[i + j * m] * by * by;
        for (size_t i = 0; i < n; i++) gu[i + j * n] = gu[i + j * n] * by * by;
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, mi, ri, ri, 1, u, mi, e, ri, 1, gv,
                mi);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, mi, ni, ri, 1, gv, mi, v, ni, 1, y,
                wgi_int(ldy));
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, mi, ni, ri, 1, u, mi, gu, ni, 1, y,
                wgi_int(ldy));
}

static wg_status pinv_vjp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const struct svd d = svd_of(b);
    if (a->bar == NULL || wgi_smaller(a->rows, a->cols) == 0) return WG_OK;
    pinv_map((size_t)*d.rank, a->rows, d.u, a->cols, d.v, d.s, b->out[0].bar, a->cols, a->bar,
             a->bar_ld, (char *)b->work);
    return WG_OK;
}

static wg_status pinv_jvp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const struct svd d = svd_of(b);
    memset(b->out[0].bar, 0, a->rows * a->cols * sizeof(double));
    if (a->bar == NULL || wgi_smaller(a->rows, a->cols) == 0) return WG_OK;
    pinv_map((size_t)*d.rank, a->cols, d.v, a->rows, d.u, d.s, a->bar, a->bar_ld, b->out[0].bar,
             a->cols, (char *)b->work);
    return WG_OK;
}

/* A matrix of full rank only. */
static wg_status pinv_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t m = b->in[0].rows, n = b->in[0].cols;
    const wg_real *const one = wgi_expand_identity(t, m);
    if (one == NULL) return wg_tape_status(t);
    if (m == 0 || n == 0) return WG_OK;
    if (!write_least(t, wgi_reals_operand(b, x, 0), wgi_reals_packed(one, m, m), threshold(b),
                     0, y))
        return WG_EDEGENERATE;
    return wg_tape_status(t);
}

/* With P = A^+:  - P' G P' + (G' - A P G') P P' + P' P (G' - G' P A)
 * Source: Golub and Pereyra 1973, 4.12. */
static wg_status pinv_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    const wg_mat a = in[0], p = out[0], g = wg_mat_transpose(bar[0]);
    (void)b;
    if (a.rows == 0 || a.cols == 0) return WG_OK;
    const wg_mat pg = wg_matmul(t, p, g), gp = wg_matmul(t, g, p);
    const wg_mat left = wg_gemm(t, 'N', 'N', -1, a, pg, 1, g);
    const wg_mat right = wg_gemm(t, 'N', 'N', -1, gp, a, 1, g);
    const wg_mat one = wg_gemm(t, 'N', 'T', 1, wg_matmul(t, left, p), p, 0, a);
    const wg_mat two = wg_gemm(t, 'T', 'N', 1, p, wg_matmul(t, p, right), 1, one);
    const wg_mat gt = wg_gemm(t, 'T', 'N', 1, p, bar[0], 0, p);
    back[0] = wg_gemm(t, 'N', 'T', -1, gt, p, 1, two);
    return wg_tape_status(t);
}

static const wgi_traits of_pinv = {.whole = &wgi_whole_pinv};
const wg_block_op wgi_op_pinv = {"wg_pinv", WG_OP_EXPANDS, pinv_shape,   pinv_value, pinv_vjp,
                                 pinv_jvp,  pinv_expand,   pinv_adjoint, &of_pinv};
const wgi_whole wgi_whole_pinv = {&wgi_op_pinv, "mn", "nm", NULL, NULL, 0, 1, 40};

wg_mat wg_pinv(wg_tape *t, wg_mat a, double rcond) {
    return wgi_apply_one(t, &wgi_op_pinv, &rcond, sizeof rcond, 1, &a);
}

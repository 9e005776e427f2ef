/* SPDX-License-Identifier: MIT */
/* Functions of a square matrix: exponential, integer power, square root, logarithm.
 *
 * Letters: n order, A operand, L(A, E) the Frechet derivative at A in direction E, a bar for
 * adjoints, a dot for tangents, op(X) either X or X'. A tangent is L(A, A.), an adjoint
 * L(A', F_) = L(A, .)' F_, and both come from one routine with op: it walks the same
 * approximant, squarings or roots, in ascending order, with what the value left behind.
 *
 *     exp: B = 2^-s A, r(B) = (V - U)^-1 (V + U), U = B P(B^2), squared s times; s by the 1-norm
 *          of B, or where that would be many squarings in vain by |B^6|^(1/6), |B^8|^(1/8), |B^10|^(1/10)
 *     sqrt: S S = A, S X + X S = E      log: 2^s r(A^(1/2^s) - I), r by Gauss's rule of 7
 * points
 *
 * Sources: Al-Mohy and Higham 2009, SIMAX 30 and 31 (exp: degrees and bounds; scaling by powers); Higham 1987, 2008, 6.2
 * (sqrt); Al-Mohy, Higham and Relton 2013, Higham 2008, 11.5 (log). */
#include "blas.h"
#include "expand.h"
#include "schur.h"
#include "spectral.h"

#include <wengert/spectral.h>

#include <limits.h>
#include <math.h>
#include <string.h>

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* c = alpha op(a) op(b) + beta c, order n; what has no leading dimension is packed. */
static void product(size_t n, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, double alpha,
                    const double *a, size_t lda, const double *b, size_t ldb, double beta,
                    double *c, size_t ldc) {
    const int k = wgi_int(n);
    cblas_dgemm(CblasColMajor, ta, tb, k, k, k, alpha, a, wgi_int(lda), b, wgi_int(ldb), beta,
                c, wgi_int(ldc));
}

/* y = alpha (op(a) x + x op(a)) + beta y. */
static void both_sides(size_t n, CBLAS_TRANSPOSE op, double alpha, const double *a, size_t lda,
                       const double *x, size_t ldx, double beta, double *y, size_t ldy) {
    product(n, op, CblasNoTrans, alpha, a, lda, x, ldx, beta, y, ldy);
    product(n, CblasNoTrans, op, alpha, x, ldx, a, lda, 1, y, ldy);
}

static void add(size_t n, const double *x, double *a, size_t ld) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + j * ld] += x[i + j * n];
}
static void set(size_t n, const double *x, double *a, size_t ld) {
    for (size_t j = 0; j < n; j++) memcpy(a + j * ld, x + j * n, n * sizeof *x);
}
static void set_zero(size_t n, double *a, size_t ld) {
    for (size_t j = 0; j < n; j++) memset(a + j * ld, 0, n * sizeof *a);
}
static void set_identity(size_t n, double *a) {
    memset(a, 0, n * n * sizeof *a);
    for (size_t i = 0; i < n; i++) a[i + i * n] = 1;
}

static double norm_1(size_t n, const double *a, size_t ld) {
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        double s = 0;
        for (size_t i = 0; i < n; i++) s += fabs(a[i + j * ld]);
        if (s > largest) largest = s;
    }
    return largest;
}

static wg_status square(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (b->in[0].cols != n) {
        b->why = "the matrix is not square";
        return WG_ESHAPE;
    }
    b->out[0].rows = b->out[0].cols = n;
    return WG_OK;
}

static wg_status finite(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    if (wgi_spectral_finite(a->rows, a->cols, a->value, a->ld)) return WG_OK;
    b->why = WGI_SPECTRAL_NOT_FINITE;
    return WG_ENONFINITE;
}

/* A Frechet derivative: of the operand of a call, at op(A), in direction e, into work[0..n^2).
 */
typedef wg_status derivative(wg_block *b, CBLAS_TRANSPOSE op, const double *e, size_t lde);

static wg_status vjp_by(wg_block *b, derivative *d) {
    const size_t n = b->in[0].rows;
    if (n == 0 || b->in[0].bar == NULL) return WG_OK;
    const wg_status s = d(b, CblasTrans, b->out[0].bar, b->out[0].bar_ld);
    if (s == WG_OK) add(n, b->work, b->in[0].bar, b->in[0].bar_ld);
    return s;
}
static wg_status jvp_by(wg_block *b, derivative *d) {
    const size_t n = b->in[0].rows;
    wg_status s = WG_OK;
    if (b->in[0].bar == NULL) set_zero(n, b->out[0].bar, b->out[0].bar_ld);
    else if (n != 0) {
        s = d(b, CblasNoTrans, b->in[0].bar, b->in[0].bar_ld);
        if (s == WG_OK) set(n, b->work, b->out[0].bar, b->out[0].bar_ld);
    }
    return s;
}

/* ---- exponential ---- */

/* Coefficients by degree; the 1-norm up to which a degree serves value and derivative. */
static const double pade3[] = {120, 60, 12, 1};
static const double pade5[] = {30240, 15120, 3360, 420, 30, 1};
static const double pade7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};
static const double pade9[] = {17643225600, 8821612800, 2075673600, 302702400, 30270240,
                               2162160,     110880,     3960,       90,        1};
static const double pade13[] = {64764752532480000.,
                                32382376266240000.,
                                7771770303897600.,
                                1187353796428800.,
                                129060195264000.,
                                10559470521600.,
                                670442572800.,
                                33522128640.,
                                1323241920.,
                                40840800.,
                                960960.,
                                16380.,
                                182.,
                                1.};
static const struct {
    int degree;
    double bound;
    const double *c;
} approximants[] = {{3, 1.08e-2, pade3},
                    {5, 2.00e-1, pade5},
                    {7, 7.83e-1, pade7},
                    {9, 1.78, pade9},
                    {13, 4.74, pade13}};
enum { APPROXIMANTS = sizeof approximants / sizeof *approximants };

/* saved, after this: B^2, B^4, B^6, P, LU of V - U, r(B), pivots. */
typedef struct scaling {
    int which, squarings;
    double scale; /* B = scale A */
} scaling;
enum { HEADER = 4 }; /* doubles that hold it */

typedef struct exponential {
    size_t n;
    scaling *head;
    double *b2, *b4, *b6, *p, *lu, *r;
    lapack_int *pivots;
} exponential;

static exponential exponential_of(const wg_block *b) {
    exponential e;
    const size_t n = b->in[0].rows, nn = n * n;
    double *const d = (double *)b->saved + HEADER;
    e.n = n;
    e.head = b->saved;
    e.b2 = d, e.b4 = d + nn, e.b6 = d + 2 * nn, e.p = d + 3 * nn, e.lu = d + 4 * nn;
    e.r = d + 5 * nn;
    e.pivots = (lapack_int *)(d + 6 * nn);
    return e;
}

static wg_status expm_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (!isfinite(*(const double *)b->params)) {
        b->why = "the exponent is not finite";
        return WG_EARG;
    }
    b->saved_bytes = (HEADER + 6 * n * n + n) * sizeof(double);
    b->work_bytes = 8 * n * n * sizeof(double);
    return square(b);
}

/* For a 1-norm of 2^spare times that of factor A, which may be beyond every number. */
static scaling scaling_for(size_t n, const double *a, size_t ld, double factor, int spare) {
    scaling s = {0, 0, factor};
    double norm = norm_1(n, a, ld);
    int e, of_norm, of_factor;
    if (isinf(norm)) {
        enum { LESS = 64 };
        norm = 0;
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += ldexp(fabs(a[i + j * ld]), -LESS);
            if (sum > norm) norm = sum;
        }
        spare += LESS;
    }
    norm = frexp(norm, &of_norm) * frexp(fabs(factor), &of_factor);
    e = of_norm + of_factor + spare;
    while (s.which < APPROXIMANTS - 1 && ldexp(norm, e) > approximants[s.which].bound)
        s.which++;
    if (ldexp(norm, e) > approximants[s.which].bound) {
        if (frexp(norm / approximants[s.which].bound, &s.squarings) == 0.5) s.squarings--;
        s.squarings += e;
        s.scale = ldexp(factor, -s.squarings);
    }
    return s;
}

/* B = scale A: products of A itself, scaled afterwards, may overflow. */
static void scale_operand(const wg_block *b, double scale, double *to) {
    const size_t n = b->in[0].rows;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            to[i + j * n] = scale * b->in[0].value[i + j * b->in[0].ld];
}

/* B and its powers, where the degree is 13; room of n^2. */
typedef struct scaled_powers {
    double *a, *b2, *b4, *b6, *room;
} scaled_powers;
static void set_powers(const wg_block *b, double scale, const scaled_powers *p) {
    const size_t n = b->in[0].rows;
    scale_operand(b, scale, p->a);
    product(n, CblasNoTrans, CblasNoTrans, 1, p->a, n, p->a, n, 0, p->b2, n);
    product(n, CblasNoTrans, CblasNoTrans, 1, p->b2, n, p->b2, n, 0, p->b4, n);
    product(n, CblasNoTrans, CblasNoTrans, 1, p->b4, n, p->b2, n, 0, p->b6, n);
}

/* As many squarings as this in vain cost some bits; where powers are small though the norm is large,
 * all of them. */
enum { IN_VAIN = 4 };

/* |X|^(1/k) in the 1-norm. */
static double root_of_norm(size_t n, const double *x, int k) {
    return pow(norm_1(n, x, n), 1.0 / k);
}

/* So many squarings more than there are take the powers of B below the bound of its norm; INT_MAX:
 * B or its powers are no numbers. */
static int squarings_of_powers(size_t n, const scaled_powers *p) {
    int more = 0;
    if (!wgi_spectral_finite(n, n, p->a, n) || !wgi_spectral_finite(n, n, p->b4, n) ||
        !wgi_spectral_finite(n, n, p->b6, n))
        return INT_MAX;
    const double of_6 = root_of_norm(n, p->b6, 6);
    product(n, CblasNoTrans, CblasNoTrans, 1, p->b4, n, p->b4, n, 0, p->room, n);
    const double of_8 = root_of_norm(n, p->room, 8);
    product(n, CblasNoTrans, CblasNoTrans, 1, p->b6, n, p->b4, n, 0, p->room, n);
    const double of_10 = root_of_norm(n, p->room, 10);
    const double size = fmin(fmax(of_6, of_8), fmax(of_8, of_10));
    if (size == 0) return -INT_MAX;
    if (!(size < INFINITY)) return INT_MAX;
    (void)frexp(size / approximants[APPROXIMANTS - 1].bound, &more);
    return more;
}

/* May powers save squarings? Not where a column of B^8 is as large as the norm of B says. */
static int powers_may_be_small(size_t n, const scaled_powers *p) {
    const int m = wgi_int(n);
    size_t at = 0;
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        const double size = cblas_dasum(m, p->b4 + j * n, 1);
        if (size > largest) largest = size, at = j;
    }
    cblas_dgemv(CblasColMajor, CblasNoTrans, m, m, 1, p->b4, m, p->b4 + at * n, 1, 0, p->room,
                1);
    return pow(cblas_dasum(m, p->room, 1), 1.0 / 8) <=
           ldexp(approximants[APPROXIMANTS - 1].bound, -IN_VAIN);
}

/* What is left out of the series of the approximant is small beside B, too: so many squarings more
 * for a |B|^27, element by element, that is large beside it. */
static int squarings_of_magnitudes(size_t n, const scaled_powers *p) {
    enum { ORDER = 27 };
    const double left_out = 1 / 113250775606021113483283660800000000.0;
    double *v = p->room, *u = v + n, largest = 0;
    for (size_t i = 0; i < n; i++) v[i] = 1;
    for (int k = 0; k < ORDER; k++) {
        for (size_t j = 0; j < n; j++) {
            u[j] = 0;
            for (size_t i = 0; i < n; i++) u[j] += fabs(p->a[i + j * n]) * v[i];
        }
        double *const swap = v;
        v = u, u = swap;
    }
    for (size_t i = 0; i < n; i++) largest = fmax(largest, v[i]);
    const double part = left_out * (largest / norm_1(n, p->a, n)) * 0x1p53;
    if (!(part < INFINITY)) return INT_MAX;
    return part <= 1 ? 0 : (int)ceil(log2(part) / (ORDER - 1));
}

/* From the choice by the norm, to that by the powers of B where it has so many squarings less; p
 * is set for it. At the choice by the norm nothing is beyond the range. */
static scaling fewer_squarings(const wg_block *b, scaling s, const scaled_powers *p) {
    const size_t n = b->in[0].rows;
    const int most = s.squarings;
    set_powers(b, s.scale, p);
    if (most < IN_VAIN || !powers_may_be_small(n, p)) return s;
    int more = squarings_of_powers(n, p);
    if (more > -IN_VAIN) return s;
    s.squarings = more < -most ? 0 : most + more;
    for (;;) {
        s.scale = ldexp(*(const double *)b->params, -s.squarings);
        set_powers(b, s.scale, p);
        if (s.squarings == most) return s;
        more = squarings_of_powers(n, p);
        if (more <= 0) more = squarings_of_magnitudes(n, p);
        if (more <= 0) return s;
        const int left = most - s.squarings;
        s.squarings += more == INT_MAX ? (left + 1) / 2 : more < left ? more : left;
    }
}

/* y = c[0] I + c[2] m[0] + c[4] m[1] + ..: `terms` of them. */
static void combine(size_t n, const double *c, int identity, size_t terms,
                    const double *const *m, double *y) {
    for (size_t i = 0; i < n * n; i++) {
        double s = 0;
        for (size_t k = 0; k < terms; k++) s += c[2 * k + 2] * m[k][i];
        y[i] = s;
    }
    if (identity)
        for (size_t i = 0; i < n; i++) y[i + i * n] += c[0];
}

static wg_status expm_value(wg_block *b) {
    const exponential e = exponential_of(b);
    const size_t n = e.n, nn = n * n;
    const int m = wgi_int(n);
    double *const u = b->work, *const v = u + nn, *const x = v + nn, *const a = x + nn;
    if (n == 0) return WG_OK;
    const wg_status s = finite(b);
    if (s != WG_OK) return s;
    *e.head = scaling_for(n, b->in[0].value, b->in[0].ld, *(const double *)b->params, 0);
    const scaled_powers p = {a, e.b2, e.b4, e.b6, x};
    if (e.head->which == APPROXIMANTS - 1) *e.head = fewer_squarings(b, *e.head, &p);
    else scale_operand(b, e.head->scale, a);
    const int degree = approximants[e.head->which].degree;
    const double *const c = approximants[e.head->which].c;
    const double *const powers[] = {e.b2, e.b4, e.b6, x};
    if (degree < 13) product(n, CblasNoTrans, CblasNoTrans, 1, a, n, a, n, 0, e.b2, n);
    if (degree == 5 || degree == 7 || degree == 9)
        product(n, CblasNoTrans, CblasNoTrans, 1, e.b2, n, e.b2, n, 0, e.b4, n);
    if (degree == 7 || degree == 9)
        product(n, CblasNoTrans, CblasNoTrans, 1, e.b4, n, e.b2, n, 0, e.b6, n);
    if (degree == 9) product(n, CblasNoTrans, CblasNoTrans, 1, e.b4, n, e.b4, n, 0, x, n);
    const size_t terms = degree == 13 ? 3 : (size_t)degree / 2;
    combine(n, c + 1, 1, terms, powers, e.p);
    combine(n, c, 1, terms, powers, v);
    if (degree == 13) {
        combine(n, c + 7, 0, 3, powers, x);
        product(n, CblasNoTrans, CblasNoTrans, 1, e.b6, n, x, n, 1, e.p, n);
        combine(n, c + 6, 0, 3, powers, x);
        product(n, CblasNoTrans, CblasNoTrans, 1, e.b6, n, x, n, 1, v, n);
    }
    product(n, CblasNoTrans, CblasNoTrans, 1, a, n, e.p, n, 0, u, n);
    for (size_t i = 0; i < nn; i++) e.lu[i] = v[i] - u[i], e.r[i] = v[i] + u[i];
    b->info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m, m, e.lu, m, e.pivots);
    if (b->info != 0) {
        b->why = "the denominator of the approximant is singular";
        return WG_ESINGULAR;
    }
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', m, m, e.lu, m, e.pivots, e.r, m);
    const double *from = e.r;
    for (int k = e.head->squarings; k > 0; k--) {
        double *const to = k == 1 ? b->out[0].value : k % 2 ? u : v;
        product(n, CblasNoTrans, CblasNoTrans, 1, from, n, from, n, 0, to, n);
        from = to;
    }
    if (e.head->squarings == 0) memcpy(b->out[0].value, e.r, nn * sizeof *e.r);
    return WG_OK;
}

static wg_status expm_derivative(wg_block *b, CBLAS_TRANSPOSE op, const double *direction,
                                 size_t ldd) {
    const exponential e = exponential_of(b);
    const size_t n = e.n, nn = n * n;
    const int m = wgi_int(n), degree = approximants[e.head->which].degree;
    const double scale = e.head->scale, *const c = approximants[e.head->which].c;
    double *l = b->work, *m2 = l + nn;
    double *const e0 = m2 + nn, *const m4 = e0 + nn, *const m6 = m4 + nn, *const pd = m6 + nn;
    double *const vd = pd + nn, *const a = vd + nn, *const x = l; /* l only at the end */
    const double *const powers[] = {e.b2, e.b4, e.b6}, *const moved[] = {m2, m4, m6, x};
    scale_operand(b, scale, a);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) e0[i + j * n] = scale * direction[i + j * ldd];
    both_sides(n, op, 1, a, n, e0, n, 0, m2, n);
    if (degree >= 5) both_sides(n, op, 1, e.b2, n, m2, n, 0, m4, n);
    if (degree >= 7) {
        product(n, op, CblasNoTrans, 1, e.b4, n, m2, n, 0, m6, n);
        product(n, CblasNoTrans, op, 1, m4, n, e.b2, n, 1, m6, n);
    }
    if (degree == 9) both_sides(n, op, 1, e.b4, n, m4, n, 0, x, n);
    const size_t terms = degree == 13 ? 3 : (size_t)degree / 2;
    combine(n, c + 1, 0, terms, moved, pd);
    combine(n, c, 0, terms, moved, vd);
    if (degree == 13)
        for (int even = 0; even < 2; even++) {
            double *const d = even ? vd : pd;
            const double *const high = even ? c + 6 : c + 7;
            combine(n, high, 0, 3, powers, x);
            product(n, CblasNoTrans, op, 1, m6, n, x, n, 1, d, n);
            combine(n, high, 0, 3, moved, x);
            product(n, op, CblasNoTrans, 1, e.b6, n, x, n, 1, d, n);
        }
    /* U. = op(B) P. + E op(P);  (V - U) L = U. + V. + (U. - V.) r */
    product(n, op, CblasNoTrans, 1, a, n, pd, n, 0, m2, n);
    product(n, CblasNoTrans, op, 1, e0, n, e.p, n, 1, m2, n);
    for (size_t i = 0; i < nn; i++) l[i] = m2[i] + vd[i], m6[i] = m2[i] - vd[i];
    product(n, CblasNoTrans, op, 1, m6, n, e.r, n, 1, l, n);
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, op == CblasTrans ? 'T' : 'N', m, m, e.lu, m,
                              e.pivots, l, m);
    /* L of X^2 is X L + L X */
    const double *power = e.r;
    for (int s = 0; s < e.head->squarings; s++) {
        both_sides(n, op, 1, power, n, l, n, 0, m2, n);
        double *const swap = l;
        l = m2, m2 = swap;
        if (s + 1 == e.head->squarings) break;
        double *const next = s % 2 ? pd : vd;
        product(n, CblasNoTrans, CblasNoTrans, 1, power, n, power, n, 0, next, n);
        power = next;
    }
    if (l != b->work) memcpy(b->work, l, nn * sizeof *l);
    return WG_OK;
}

static wg_status expm_vjp(wg_block *b) { return vjp_by(b, expm_derivative); }
static wg_status expm_jvp(wg_block *b) { return jvp_by(b, expm_derivative); }

/* y += sum of c[2 k + 2] m[k], and c[0] I. */
static void write_combination(wg_tape *t, size_t n, const double *c, int identity, size_t terms,
                              wg_real *const *m, wg_real *y) {
    for (size_t i = 0; i < n * n; i++) {
        for (size_t k = 0; k < terms; k++)
            y[i] = wgi_expand_plus(t, y[i], wg_let(t, wg_mul(c[2 * k + 2], m[k][i])));
        if (identity && i % (n + 1) == 0) y[i] = wg_let(t, wg_add(c[0], y[i]));
    }
}

/* The approximant and the squarings are those of the recording, for norms twice as large. They
 * serve up to their bound, and not far below where they would be in vain. */
enum { SPARE = 1 };

static wg_real write_norm(wg_tape *t, size_t n, const wg_real *a) {
    wg_real largest = wg_constant(0);
    for (size_t j = 0; j < n; j++) {
        wg_real sum = wg_constant(0);
        for (size_t i = 0; i < n; i++)
            sum = wgi_expand_plus(t, sum, wg_let(t, wg_fabs(a[i + j * n])));
        largest = j == 0 ? sum : wg_let(t, wg_fmax(largest, sum));
    }
    return largest;
}
static void guard_norm(wg_tape *t, size_t n, const scaling *s, const wg_real *a) {
    const double bound = approximants[s->which].bound;
    const wg_real norm = write_norm(t, n, a);
    (void)wg_le(t, norm, wg_constant(bound));
    if (s->squarings > IN_VAIN) (void)wg_ge(t, norm, wg_constant(ldexp(bound, -IN_VAIN)));
}
/* The same where powers choose: those norms that did are bounded, and that of B to twice what it
 * was. `room` of n^2. */
static void guard_powers(wg_tape *t, size_t n, const wg_real *a, wgi_reals a4, wgi_reals a6,
                         wg_real *room) {
    const double bound = approximants[APPROXIMANTS - 1].bound;
    const wg_real norm = write_norm(t, n, a), of_6 = write_norm(t, n, a6.p);
    (void)wg_le(t, norm, wg_constant(2 * wg_value(norm)));
    wgi_expand_mul(t, a4, a4, room);
    (void)wg_le(t, write_norm(t, n, room), wg_constant(pow(bound, 8)));
    if (wg_value(of_6) <= pow(bound, 6)) {
        (void)wg_le(t, of_6, wg_constant(pow(bound, 6)));
        return;
    }
    wgi_expand_mul(t, a6, a4, room);
    (void)wg_le(t, write_norm(t, n, room), wg_constant(pow(bound, 10)));
}

/* The scaling for a function; 1: chosen by powers. */
static int scaling_to_write(wg_tape *t, const wg_block *b, scaling *s) {
    const size_t n = b->in[0].rows, nn = n * n;
    const double factor = *(const double *)b->params;
    *s = scaling_for(n, b->in[0].value, n, factor, SPARE);
    if (s->squarings < IN_VAIN) return 0;
    double *const room = wg_tape_keep(t, 5 * nn * sizeof *room, NULL);
    if (room == NULL) return 0;
    const scaled_powers p = {room, room + nn, room + 2 * nn, room + 3 * nn, room + 4 * nn};
    scaling fewer = fewer_squarings(b, *s, &p);
    fewer.squarings += SPARE;
    if (fewer.squarings >= s->squarings) return 0;
    fewer.scale = ldexp(factor, -fewer.squarings);
    *s = fewer;
    return 1;
}

static wg_status expm_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows, nn = n * n;
    scaling s;
    const int by_powers = scaling_to_write(t, b, &s);
    const int degree = approximants[s.which].degree;
    const double *const c = approximants[s.which].c;
    enum { A, A2, A4, A6, A8, P, V, U, R, ARRAYS };
    wg_real *const all = wgi_expand_room(t, ARRAYS * nn), *m[ARRAYS];
    wgi_reals of[ARRAYS];
    if (all == NULL) return wg_tape_status(t);
    for (size_t k = 0; k < ARRAYS; k++) {
        m[k] = all + k * nn;
        of[k] = wgi_reals_packed(m[k], n, n);
        for (size_t i = 0; i < nn; i++) m[k][i] = wg_constant(0);
    }
    for (size_t i = 0; i < nn; i++) m[A][i] = wgi_expand_scaled(t, s.scale, x[i]);
    if (!by_powers) guard_norm(t, n, &s, m[A]);
    wgi_expand_mul(t, of[A], of[A], m[A2]);
    if (degree >= 5) wgi_expand_mul(t, of[A2], of[A2], m[A4]);
    if (degree >= 7) wgi_expand_mul(t, of[A4], of[A2], m[A6]);
    if (by_powers) guard_powers(t, n, m[A], of[A4], of[A6], m[R]);
    if (degree == 9) wgi_expand_mul(t, of[A4], of[A4], m[A8]);
    const size_t terms = degree == 13 ? 3 : (size_t)degree / 2;
    for (int even = 0; even < 2; even++) {
        wg_real *const to = m[even ? V : P];
        if (degree == 13) {
            for (size_t i = 0; i < nn; i++) m[R][i] = wg_constant(0);
            write_combination(t, n, c + (even ? 6 : 7), 0, 3, m + A2, m[R]);
            wgi_expand_mul(t, of[A6], of[R], to);
        }
        write_combination(t, n, c + (even ? 0 : 1), 1, terms, m + A2, to);
    }
    wgi_expand_mul(t, of[A], of[P], m[U]);
    for (size_t i = 0; i < nn; i++) {
        y[i] = wg_let(t, wg_add(m[V][i], m[U][i]));
        m[R][i] = wg_let(t, wg_sub(m[V][i], m[U][i]));
    }
    wgi_expand_solve(t, of[R], 0, n, y);
    for (int k = 0; k < s.squarings; k++) {
        wgi_expand_copy(wgi_reals_packed(y, n, n), m[R]);
        wgi_expand_mul(t, of[R], of[R], y);
    }
    return WG_OK;
}

/* params: a double, the factor of A. */
const wg_block_op wgi_op_expm = {"wg_expm", WG_OP_EXPANDS, expm_shape,  expm_value,
                                 expm_vjp,  expm_jvp,      expm_expand, NULL};

/* ---- integer power ---- */

/* X = base; for each bit of |p| below the highest one: X = X^2, and if it is set X = X base.
 * saved: the base (the inverse of A for p < 0), then every X but the first and the last. */
static unsigned magnitude(int p) { return p < 0 ? 0u - (unsigned)p : (unsigned)p; }
static int highest_bit(unsigned p) {
    int k = 0;
    while (p >> 1 >> k != 0) k++;
    return k;
}
static size_t count_steps(unsigned p) {
    size_t steps = 0;
    for (int k = highest_bit(p) - 1; k >= 0; k--) steps += 1 + (p >> k & 1);
    return steps;
}

static wg_status powm_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    const unsigned p = magnitude(*(const int *)b->params);
    const size_t steps = count_steps(p);
    b->saved_bytes = (1 + (steps != 0 ? steps - 1 : 0)) * n * n * sizeof(double);
    b->work_bytes = larger(3 * n * n, 70 * n) * sizeof(double);
    return square(b);
}

static wg_status powm_value(wg_block *b) {
    const size_t n = b->in[0].rows, nn = n * n;
    const int p = *(const int *)b->params, m = wgi_int(n);
    const unsigned q = magnitude(p);
    double *const base = b->saved, *const out = b->out[0].value;
    const wg_status s = finite(b);
    if (n == 0 || s != WG_OK) return s;
    if (p == 0) {
        set_identity(n, out);
        return WG_OK;
    }
    wgi_spectral_copy(n, n, b->in[0].value, b->in[0].ld, base);
    if (p < 0) {
        lapack_int *const pivots = (lapack_int *)((double *)b->work + 64 * n);
        b->info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m, m, base, m, pivots);
        if (b->info == 0)
            b->info = LAPACKE_dgetri_work(LAPACK_COL_MAJOR, m, base, m, pivots, b->work,
                                          wgi_int(64 * n));
        if (b->info != 0) {
            b->why = "the matrix is singular, and the power negative";
            return WG_ESINGULAR;
        }
    }
    const double *x = base;
    double *next = base + nn;
    size_t left = count_steps(q);
    for (int k = highest_bit(q) - 1; k >= 0; k--)
        for (int step = 0; step <= (int)(q >> k & 1); step++) {
            double *const to = --left == 0 ? out : next;
            product(n, CblasNoTrans, CblasNoTrans, 1, x, n, step == 0 ? x : base, n, 0, to, n);
            x = to;
            next += nn;
        }
    if (x == base) memcpy(out, base, nn * sizeof *base);
    return WG_OK;
}

static wg_status powm_vjp(wg_block *b) {
    const size_t n = b->in[0].rows, nn = n * n;
    const int p = *(const int *)b->params;
    const unsigned q = magnitude(p);
    const double *const base = b->saved;
    if (n == 0 || p == 0 || b->in[0].bar == NULL) return WG_OK;
    /* w: the adjoint of X; that of the base to A_, or to room for p < 0 */
    const double *w = b->out[0].bar;
    size_t ldw = b->out[0].bar_ld, ldr = b->in[0].bar_ld;
    double *free_one = b->work, *other = free_one + nn, *root = b->in[0].bar;
    if (p < 0) {
        root = other + nn, ldr = n;
        set_zero(n, root, n);
    }
    const double *x = base + count_steps(q) * nn; /* after the X of the last step */
    const int high = highest_bit(q);
    for (int k = 0; k < high; k++)
        for (int step = (int)(q >> k & 1); step >= 0; step--) {
            x -= nn;
            double *const to = free_one;
            const int first = x == base;
            if (step == 1) {
                product(n, CblasTrans, CblasNoTrans, 1, x, n, w, ldw, 1, root, ldr);
                product(n, CblasNoTrans, CblasTrans, 1, w, ldw, base, n, 0, to, n);
            } else {
                both_sides(n, CblasTrans, 1, x, n, w, ldw, first, first ? root : to,
                           first ? ldr : n);
                if (first) break;
            }
            free_one = other, other = to;
            w = to, ldw = n;
        }
    if (high == 0)
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++) root[i + j * ldr] += w[i + j * ldw];
    if (p > 0) return WG_OK;
    /* A_ -= base' root base' */
    product(n, CblasTrans, CblasNoTrans, 1, base, n, root, n, 0, b->work, n);
    product(n, CblasNoTrans, CblasTrans, -1, b->work, n, base, n, 1, b->in[0].bar,
            b->in[0].bar_ld);
    return WG_OK;
}

static wg_status powm_jvp(wg_block *b) {
    const size_t n = b->in[0].rows, nn = n * n, ld = b->out[0].bar_ld;
    const int p = *(const int *)b->params;
    const unsigned q = magnitude(p);
    const double *const base = b->saved;
    if (n == 0) return WG_OK;
    if (p == 0 || b->in[0].bar == NULL) {
        set_zero(n, b->out[0].bar, ld);
        return WG_OK;
    }
    double *xd = b->work, *other = xd + nn;
    double *const root = other + nn;
    wgi_spectral_copy(n, n, b->in[0].bar, b->in[0].bar_ld, root);
    if (p < 0) {
        product(n, CblasNoTrans, CblasNoTrans, 1, base, n, root, n, 0, xd, n);
        product(n, CblasNoTrans, CblasNoTrans, -1, xd, n, base, n, 0, root, n);
    }
    memcpy(xd, root, nn * sizeof *xd);
    const double *x = base;
    for (int k = highest_bit(q) - 1; k >= 0; k--)
        for (int step = 0; step <= (int)(q >> k & 1); step++) {
            if (step == 0) both_sides(n, CblasNoTrans, 1, x, n, xd, n, 0, other, n);
            else {
                product(n, CblasNoTrans, CblasNoTrans, 1, xd, n, base, n, 0, other, n);
                product(n, CblasNoTrans, CblasNoTrans, 1, x, n, root, n, 1, other, n);
            }
            double *const swap = xd;
            xd = other, other = swap;
            x += nn;
        }
    set(n, xd, b->out[0].bar, ld);
    return WG_OK;
}

static wg_status powm_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    const int p = *(const int *)b->params;
    const unsigned q = magnitude(p);
    wg_real *const copy = wgi_expand_room(t, n * n), *const one = wgi_expand_identity(t, n);
    wg_real *const base = p < 0 ? one : wgi_expand_copied(t, wgi_reals_operand(b, x, 0));
    if (copy == NULL || one == NULL || base == NULL) return wg_tape_status(t);
    if (p < 0) wgi_expand_inverse(t, wgi_reals_operand(b, x, 0), base);
    wgi_expand_copy(wgi_reals_packed(p == 0 ? one : base, n, n), y);
    for (int k = highest_bit(q) - 1; k >= 0; k--)
        for (int step = 0; step <= (int)(q >> k & 1); step++) {
            wgi_expand_copy(wgi_reals_packed(y, n, n), copy);
            wgi_expand_mul(t, wgi_reals_packed(copy, n, n),
                           wgi_reals_packed(step == 0 ? copy : base, n, n), y);
        }
    if (p != 0)
        wgi_expand_spoil(t, wgi_expand_finite(t, n * n, wgi_reals_operand(b, x, 0).p), n * n,
                         y);
    return WG_OK;
}

/* params: an int, p. */
const wg_block_op wgi_op_powm = {"wg_powm", WG_OP_EXPANDS, powm_shape,  powm_value,
                                 powm_vjp,  powm_jvp,      powm_expand, NULL};

/* ---- square root ---- */

static int is_pair(size_t n, const double *t, size_t i) {
    return i + 1 < n && t[i + 1 + i * n] != 0;
}

/* u = t^(1/2), both upper quasi-triangular, column by column of blocks of the diagonal. 0:
 * there is none. */
static int root_of(size_t n, const double *t, double *u) {
    memcpy(u, t, n * n * sizeof *u);
    for (size_t j = 0, wide; j < n; j += wide) {
        double *const d = u + j + j * n;
        wide = is_pair(n, t, j) ? 2 : 1;
        if (wide == 1) {
            if (!(d[0] >= 0)) return 0;
            d[0] = sqrt(d[0]);
        } else { /* eigenvalues a +- i r; the root is h I + (block - a I) / 2 h */
            const double a = 0.5 * d[0] + 0.5 * d[n + 1],
                         r = sqrt(fabs(d[1])) * sqrt(fabs(d[n]));
            const double size = hypot(a, r);
            const double h = a > 0 ? sqrt(0.5 * (a + size)) : r / sqrt(2 * (size - a));
            d[0] = d[n + 1] = h;
            d[1] /= 2 * h, d[n] /= 2 * h;
        }
        if (wgi_schur_sylvester('N', 'N', j, wide, u, n, d, n, u + j * n, n)) return 0;
    }
    return 1;
}

/* saved: Q, then what is quasi-triangular: the root, or for the logarithm T. */
static wg_status root_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->saved_bytes = 2 * n * n * sizeof(double);
    b->work_bytes = larger(2 * n * n, n * n + wgi_schur_doubles(n)) * sizeof(double);
    return square(b);
}

/* T of the operand to t, Q to q. */
static wg_status schur(wg_block *b, double *t, double *q, double *work) {
    const size_t n = b->in[0].rows;
    const wg_status s = finite(b);
    if (s != WG_OK) return s;
    wgi_spectral_copy(n, n, b->in[0].value, b->in[0].ld, t);
    b->info = wgi_schur(n, t, q, work);
    if (b->info == 0) return WG_OK;
    b->why = WGI_SPECTRAL_GAVE_UP;
    return WG_ECONVERGE;
}

static wg_status sqrtm_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const q = b->saved, *const u = q + n * n, *const t = b->work,
                  *const room = t + n * n;
    if (n == 0) return WG_OK;
    const wg_status s = schur(b, t, q, room);
    if (s != WG_OK) return s;
    if (!root_of(n, t, u)) {
        b->why = "an eigenvalue is negative, or several are 0";
        return WG_ESINGULAR;
    }
    wgi_schur_turn('N', 'T', n, n, q, q, u, n, b->out[0].value, t);
    return WG_OK;
}

static wg_status sqrtm_derivative(wg_block *b, CBLAS_TRANSPOSE op, const double *e,
                                  size_t lde) {
    const size_t n = b->in[0].rows;
    const char o = op == CblasTrans ? 'T' : 'N';
    const double *const q = b->saved, *const u = q + n * n;
    double *const x = b->work, *const room = x + n * n;
    wgi_schur_turn('T', 'N', n, n, q, q, e, lde, x, room);
    if (wgi_schur_sylvester(o, o, n, n, u, n, u, n, x, n)) {
        b->why = "the square root of a singular matrix has no derivative";
        return WG_EDEGENERATE;
    }
    wgi_schur_turn('N', 'T', n, n, q, q, x, n, x, room);
    return WG_OK;
}

static wg_status sqrtm_vjp(wg_block *b) { return vjp_by(b, sqrtm_derivative); }
static wg_status sqrtm_jvp(wg_block *b) { return jvp_by(b, sqrtm_derivative); }

const wg_block_op wgi_op_sqrtm = {"wg_sqrtm", 0,         root_shape, sqrtm_value,
                                  sqrtm_vjp,  sqrtm_jvp, NULL,       NULL};

/* ---- logarithm ---- */

/* log(I + X) is the integral of X (I + z X)^-1 over z in (0, 1), by Gauss's rule; with 7 points
 * it is the diagonal Pade approximant of degree 7, good to 1e-17 in value and derivative for
 * norms of X up to NEAR. */
static const double node[] = {0,
                              0.40584515137739716691,
                              -0.40584515137739716691,
                              0.74153118559939443986,
                              -0.74153118559939443986,
                              0.94910791234275852453,
                              -0.94910791234275852453};
static const double weight[] = {0.41795918367346938776, 0.38183005050511894495,
                                0.38183005050511894495, 0.27970539148927666790,
                                0.27970539148927666790, 0.12948496616886969327,
                                0.12948496616886969327};
enum { NODES = 7 };
#define NEAR 0.2
/* No matrix of moderate departure from normality needs as many roots. */
enum { ROOTS = 100 };

/* lu = the factors of I + z X without pivots: I + z X is near I, and quasi-triangular, so that
 * L differs from I by one number below the diagonal in each pair of rows, kept in low. */
static void factor(size_t n, double z, const double *x, double *lu, double *low) {
    for (size_t i = 0; i < n * n; i++) lu[i] = z * x[i];
    for (size_t i = 0; i < n; i++) lu[i + i * n] += 1, low[i] = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        if (lu[i + 1 + i * n] == 0) continue;
        low[i] = lu[i + 1 + i * n] / lu[i + i * n];
        lu[i + 1 + i * n] = 0;
        for (size_t j = i + 1; j < n; j++) lu[i + 1 + j * n] -= low[i] * lu[i + j * n];
    }
}

/* y = op(LU)^-1 y. */
static void solve_left(size_t n, CBLAS_TRANSPOSE op, const double *lu, const double *low,
                       double *y) {
    const int m = wgi_int(n);
    if (op == CblasTrans)
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, op, CblasNonUnit, m, m, 1, lu, m, y,
                    m);
    for (size_t i = 0; i + 1 < n; i++) {
        if (low[i] == 0) continue;
        const size_t to = op == CblasTrans ? i : i + 1, from = op == CblasTrans ? i + 1 : i;
        for (size_t j = 0; j < n; j++) y[to + j * n] -= low[i] * y[from + j * n];
    }
    if (op == CblasNoTrans)
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, op, CblasNonUnit, m, m, 1, lu, m, y,
                    m);
}

/* y = y op(LU)^-1. */
static void solve_right(size_t n, CBLAS_TRANSPOSE op, const double *lu, const double *low,
                        double *y) {
    const int m = wgi_int(n);
    if (op == CblasNoTrans)
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, op, CblasNonUnit, m, m, 1, lu, m, y,
                    m);
    for (size_t i = 0; i + 1 < n; i++) {
        if (low[i] == 0) continue;
        const size_t to = op == CblasTrans ? i + 1 : i, from = op == CblasTrans ? i : i + 1;
        for (size_t k = 0; k < n; k++) y[k + to * n] -= low[i] * y[k + from * n];
    }
    if (op == CblasTrans)
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, op, CblasNonUnit, m, m, 1, lu, m, y,
                    m);
}

static wg_status logm_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->saved_bytes = (1 + 2 * n * n) * sizeof(double); /* roots, Q, T */
    b->work_bytes = larger(5 * n * n + n, wgi_schur_doubles(n)) * sizeof(double);
    return square(b);
}

static void subtract_identity(size_t n, double *x) {
    for (size_t i = 0; i < n; i++) x[i + i * n] -= 1;
}

/* The diagonal blocks of log T as they are exactly: roots near I have lost digits. */
static void exact_blocks(size_t n, const double *t, double *l) {
    for (size_t i = 0; i < n; i++) {
        const double *const d = t + i + i * n;
        double *const e = l + i + i * n;
        if (!is_pair(n, t, i)) {
            e[0] = log(d[0]);
            continue;
        }
        const double r = sqrt(fabs(d[1])) * sqrt(fabs(d[n])), angle = atan2(r, d[0]) / r;
        e[0] = e[n + 1] = log(hypot(d[0], r));
        e[1] = d[1] * angle, e[n] = d[n] * angle;
        i++;
    }
}

static wg_status logm_value(wg_block *b) {
    const size_t n = b->in[0].rows, nn = n * n;
    double *const count = b->saved, *const q = count + 1, *const t = q + nn;
    double *x = b->work, *u = x + nn;
    double *const lu = u + nn, *const l = lu + nn, *const y = l + nn, *const low = y + nn;
    if (n == 0) return WG_OK;
    const wg_status s = schur(b, t, q, b->work);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < n; i += is_pair(n, t, i) ? 2 : 1)
        if (!is_pair(n, t, i) && !(t[i + i * n] > 0)) {
            b->why = "an eigenvalue is 0 or negative";
            return WG_ESINGULAR;
        }
    int roots = 0;
    memcpy(x, t, nn * sizeof *x);
    for (;; roots++) {
        memcpy(l, x, nn * sizeof *x);
        subtract_identity(n, l);
        if (norm_1(n, l, n) <= NEAR) break;
        if (roots == ROOTS || !root_of(n, x, u)) {
            b->why = "its square roots do not come near to the identity";
            return WG_ECONVERGE;
        }
        double *const swap = x;
        x = u, u = swap;
    }
    subtract_identity(n, x);
    memset(l, 0, nn * sizeof *l);
    for (int k = 0; k < NODES; k++) {
        factor(n, 0.5 + 0.5 * node[k], x, lu, low);
        memcpy(y, x, nn * sizeof *y);
        solve_left(n, CblasNoTrans, lu, low, y);
        for (size_t i = 0; i < nn; i++) l[i] += ldexp(0.5 * weight[k], roots) * y[i];
    }
    exact_blocks(n, t, l);
    *count = roots;
    wgi_schur_turn('N', 'T', n, n, q, q, l, n, b->out[0].value, y);
    return WG_OK;
}

/* l = the derivative along e, both in the basis of T; e is lost. 0: a number on the
 * way is beyond the range. Room: x, u, lu of n^2, low of n. */
static int along(const wg_block *b, CBLAS_TRANSPOSE op, double *e, double *l, double *x,
                 double *u, double *lu, double *low) {
    const size_t n = b->in[0].rows, nn = n * n;
    const double *const count = b->saved, *const t = count + 1 + nn;
    const char o = op == CblasTrans ? 'T' : 'N';
    const int roots = (int)*count;
    memcpy(x, t, nn * sizeof *x);
    for (int k = 0; k < roots; k++) {
        if (!root_of(n, x, u) || wgi_schur_sylvester(o, o, n, n, u, n, u, n, e, n)) return 0;
        double *const swap = x;
        x = u, u = swap;
    }
    subtract_identity(n, x);
    memset(l, 0, nn * sizeof *l);
    for (int k = 0; k < NODES; k++) {
        factor(n, 0.5 + 0.5 * node[k], x, lu, low);
        memcpy(u, e, nn * sizeof *u);
        solve_left(n, op, lu, low, u);
        solve_right(n, op, lu, low, u);
        for (size_t i = 0; i < nn; i++) l[i] += ldexp(0.5 * weight[k], roots) * u[i];
    }
    return 1;
}

static wg_status logm_derivative(wg_block *b, CBLAS_TRANSPOSE op, const double *direction,
                                 size_t ldd) {
    enum { LESS = 64 }; /* room below the largest number, of which LAPACK keeps away */
    const size_t n = b->in[0].rows, nn = n * n;
    const double *const q = (const double *)b->saved + 1;
    double *const l = b->work, *const x = l + nn, *const u = x + nn;
    double *const e = u + nn, *const lu = e + nn, *const low = lu + nn;
    for (int less = 0; less <= LESS; less += LESS) {
        wgi_schur_turn('T', 'N', n, n, q, q, direction, ldd, e, l);
        for (size_t i = 0; less != 0 && i < nn; i++) e[i] = ldexp(e[i], -less);
        if (!along(b, op, e, l, x, u, lu, low)) continue;
        wgi_schur_turn('N', 'T', n, n, q, q, l, n, l, u);
        for (size_t i = 0; less != 0 && i < nn; i++) l[i] = ldexp(l[i], less);
        return WG_OK;
    }
    b->why = "an eigenvalue of the operand, or of a root of it, is 0 beside another";
    return WG_EDEGENERATE;
}

static wg_status logm_vjp(wg_block *b) { return vjp_by(b, logm_derivative); }
static wg_status logm_jvp(wg_block *b) { return jvp_by(b, logm_derivative); }

const wg_block_op wgi_op_logm = {"wg_logm", 0,        logm_shape, logm_value,
                                 logm_vjp,  logm_jvp, NULL,       NULL};

/* ---- calls ---- */

static wg_mat function(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                       wg_mat a) {
    wg_mat f;
    (void)wg_apply(t, op, params, bytes, 1, &a, 1, &f);
    return f;
}

wg_mat wg_expm(wg_tape *t, wg_mat a) {
    const double factor_of_a = 1;
    return function(t, &wgi_op_expm, &factor_of_a, sizeof factor_of_a, a);
}
wg_mat wg_powm(wg_tape *t, wg_mat a, int p) {
    return function(t, &wgi_op_powm, &p, sizeof p, a);
}
/* A^p = exp(p log A): two records of one call. */
wg_mat wg_powm_real(wg_tape *t, wg_mat a, double p) {
    static const wg_block_op log_a = {"wg_powm_real", 0,        logm_shape, logm_value,
                                      logm_vjp,       logm_jvp, NULL,       NULL};
    static const wg_block_op exp_of = {"wg_powm_real", 0,        expm_shape, expm_value,
                                       expm_vjp,       expm_jvp, NULL,       NULL};
    return function(t, &exp_of, &p, sizeof p, function(t, &log_a, NULL, 0, a));
}
wg_mat wg_sqrtm(wg_tape *t, wg_mat a) { return function(t, &wgi_op_sqrtm, NULL, 0, a); }
wg_mat wg_logm(wg_tape *t, wg_mat a) { return function(t, &wgi_op_logm, NULL, 0, a); }

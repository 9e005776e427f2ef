/* SPDX-License-Identifier: MIT */
/* The exponential of a square matrix.
 *
 * Letters: n order, A operand, L(A, E) the Frechet derivative at A in direction E, op(X) either X or
 * X'. A tangent is L(A, A.), an adjoint L(A', F_) = L(A, .)' F_, and both come from one routine with
 * op: it walks the same approximant and squarings, in ascending order, with what the value left
 * behind.
 *
 *     B = 2^-s A, r(B) = (V - U)^-1 (V + U), U = B P(B^2), squared s times; s by the 1-norm of B, or
 *     where that would be many squarings in vain by |B^6|^(1/6), |B^8|^(1/8), |B^10|^(1/10)
 *
 * Sources: Al-Mohy and Higham 2009, SIMAX 30 and 31 (degrees and bounds; scaling by powers). */
#include "blas.h"
#include "expand.h"
#include "matrix_function.h"
#include "spectral.h"
#include "traits.h"
#include "whole.h"

#include <wengert/spectral.h>

#include <limits.h>
#include <math.h>
#include <string.h>

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
    return wgi_square_shape(b);
}

/* For a 1-norm of 2^spare times that of factor A, which may be beyond every number. */
static scaling scaling_for(size_t n, const double *a, size_t ld, double factor, int spare) {
    scaling s = {0, 0, factor};
    double norm = wgi_norm_1(n, a, ld);
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
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, p->a, n, p->a, n, 0, p->b2, n);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, p->b2, n, p->b2, n, 0, p->b4, n);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, p->b4, n, p->b2, n, 0, p->b6, n);
}

/* As many squarings as this in vain cost some bits; where powers are small though the norm is large,
 * all of them. */
enum { IN_VAIN = 4 };

/* |X|^(1/k) in the 1-norm. */
static double root_of_norm(size_t n, const double *x, int k) {
    return pow(wgi_norm_1(n, x, n), 1.0 / k);
}

/* So many squarings more than there are take the powers of B below the bound of its norm; INT_MAX:
 * B or its powers are no numbers. */
static int squarings_of_powers(size_t n, const scaled_powers *p) {
    int more = 0;
    if (!wgi_spectral_finite(n, n, p->a, n) || !wgi_spectral_finite(n, n, p->b4, n) ||
        !wgi_spectral_finite(n, n, p->b6, n))
        return INT_MAX;
    const double of_6 = root_of_norm(n, p->b6, 6);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, p->b4, n, p->b4, n, 0, p->room, n);
    const double of_8 = root_of_norm(n, p->room, 8);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, p->b6, n, p->b4, n, 0, p->room, n);
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
    const double part = left_out * (largest / wgi_norm_1(n, p->a, n)) * 0x1p53;
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
    const wg_status s = wgi_square_finite(b);
    if (s != WG_OK) return s;
    *e.head = scaling_for(n, b->in[0].value, b->in[0].ld, *(const double *)b->params, 0);
    const scaled_powers p = {a, e.b2, e.b4, e.b6, x};
    if (e.head->which == APPROXIMANTS - 1) *e.head = fewer_squarings(b, *e.head, &p);
    else scale_operand(b, e.head->scale, a);
    const int degree = approximants[e.head->which].degree;
    const double *const c = approximants[e.head->which].c;
    const double *const powers[] = {e.b2, e.b4, e.b6, x};
    if (degree < 13) wgi_product(n, CblasNoTrans, CblasNoTrans, 1, a, n, a, n, 0, e.b2, n);
    if (degree == 5 || degree == 7 || degree == 9)
        wgi_product(n, CblasNoTrans, CblasNoTrans, 1, e.b2, n, e.b2, n, 0, e.b4, n);
    if (degree == 7 || degree == 9)
        wgi_product(n, CblasNoTrans, CblasNoTrans, 1, e.b4, n, e.b2, n, 0, e.b6, n);
    if (degree == 9) wgi_product(n, CblasNoTrans, CblasNoTrans, 1, e.b4, n, e.b4, n, 0, x, n);
    const size_t terms = degree == 13 ? 3 : (size_t)degree / 2;
    combine(n, c + 1, 1, terms, powers, e.p);
    combine(n, c, 1, terms, powers, v);
    if (degree == 13) {
        combine(n, c + 7, 0, 3, powers, x);
        wgi_product(n, CblasNoTrans, CblasNoTrans, 1, e.b6, n, x, n, 1, e.p, n);
        combine(n, c + 6, 0, 3, powers, x);
        wgi_product(n, CblasNoTrans, CblasNoTrans, 1, e.b6, n, x, n, 1, v, n);
    }
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, a, n, e.p, n, 0, u, n);
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
        wgi_product(n, CblasNoTrans, CblasNoTrans, 1, from, n, from, n, 0, to, n);
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
    wgi_both_sides(n, op, 1, a, n, e0, n, 0, m2, n);
    if (degree >= 5) wgi_both_sides(n, op, 1, e.b2, n, m2, n, 0, m4, n);
    if (degree >= 7) {
        wgi_product(n, op, CblasNoTrans, 1, e.b4, n, m2, n, 0, m6, n);
        wgi_product(n, CblasNoTrans, op, 1, m4, n, e.b2, n, 1, m6, n);
    }
    if (degree == 9) wgi_both_sides(n, op, 1, e.b4, n, m4, n, 0, x, n);
    const size_t terms = degree == 13 ? 3 : (size_t)degree / 2;
    combine(n, c + 1, 0, terms, moved, pd);
    combine(n, c, 0, terms, moved, vd);
    if (degree == 13)
        for (int even = 0; even < 2; even++) {
            double *const d = even ? vd : pd;
            const double *const high = even ? c + 6 : c + 7;
            combine(n, high, 0, 3, powers, x);
            wgi_product(n, CblasNoTrans, op, 1, m6, n, x, n, 1, d, n);
            combine(n, high, 0, 3, moved, x);
            wgi_product(n, op, CblasNoTrans, 1, e.b6, n, x, n, 1, d, n);
        }
    /* U. = op(B) P. + E op(P);  (V - U) L = U. + V. + (U. - V.) r */
    wgi_product(n, op, CblasNoTrans, 1, a, n, pd, n, 0, m2, n);
    wgi_product(n, CblasNoTrans, op, 1, e0, n, e.p, n, 1, m2, n);
    for (size_t i = 0; i < nn; i++) l[i] = m2[i] + vd[i], m6[i] = m2[i] - vd[i];
    wgi_product(n, CblasNoTrans, op, 1, m6, n, e.r, n, 1, l, n);
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, op == CblasTrans ? 'T' : 'N', m, m, e.lu, m,
                              e.pivots, l, m);
    /* L of X^2 is X L + L X */
    const double *power = e.r;
    for (int s = 0; s < e.head->squarings; s++) {
        wgi_both_sides(n, op, 1, power, n, l, n, 0, m2, n);
        double *const swap = l;
        l = m2, m2 = swap;
        if (s + 1 == e.head->squarings) break;
        double *const next = s % 2 ? pd : vd;
        wgi_product(n, CblasNoTrans, CblasNoTrans, 1, power, n, power, n, 0, next, n);
        power = next;
    }
    if (l != b->work) memcpy(b->work, l, nn * sizeof *l);
    return WG_OK;
}

static wg_status expm_vjp(wg_block *b) { return wgi_frechet_vjp(b, expm_derivative); }
static wg_status expm_jvp(wg_block *b) { return wgi_frechet_jvp(b, expm_derivative); }

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

static wg_status expm_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    (void)out;
    return wgi_function_adjoint(t, &wgi_op_exp_of_log, b->params, sizeof(double), in[0], bar[0],
                                back);
}

static const wgi_traits of_expm = {.whole = &wgi_whole_expm};
/* params: a double, the factor of A. */
const wg_block_op wgi_op_expm = {"wg_expm", WG_OP_EXPANDS, expm_shape,   expm_value, expm_vjp,
                                 expm_jvp,  expm_expand,   expm_adjoint, &of_expm};
const wg_block_op wgi_op_exp_of_log = {"wg_powm_real", 0,    expm_shape,   expm_value, expm_vjp,
                                       expm_jvp,       NULL, expm_adjoint, &of_expm};
const wgi_whole wgi_whole_expm = {&wgi_op_exp_of_log, "nn", "nn", NULL, NULL, 0, 1, 30};

wg_mat wg_expm(wg_tape *t, wg_mat a) {
    const double factor_of_a = 1;
    wg_mat f;
    (void)wg_apply(t, &wgi_op_expm, &factor_of_a, sizeof factor_of_a, 1, &a, 1, &f);
    return f;
}

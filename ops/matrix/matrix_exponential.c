/* SPDX-License-Identifier: MIT */
/* The exponential of a square matrix.
 *
 * Letters: n order, A operand, L(A, E) the Frechet derivative at A in direction E, op(X) either
 * X or X'. A tangent is L(A, A.), an adjoint L(A', F_) = L(A, .)' F_, and both come from one
 * routine with op: it walks the same approximant and squarings, in ascending order, with what
 * the value left behind. In second order the tangent of L(A', W) is L(A', W.) and the mixed
 * derivative in the directions W and A.: once more the same walk, where each product X Y has
 * four terms.
 *
 *     B = 2^-s A, r(B) = (V - U)^-1 (V + U), U = B P(B^2), squared s times; s by the 1-norm of
 *     B, or where that would be many squarings in vain by |B^6|^(1/6), |B^8|^(1/8),
 *     |B^10|^(1/10)
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

static exponential exponential_of(size_t n, void *saved) {
    exponential e;
    const size_t nn = n * n;
    double *const d = (double *)saved + HEADER;
    e.n = n;
    e.head = saved;
    e.b2 = d, e.b4 = d + nn, e.b6 = d + 2 * nn, e.p = d + 3 * nn, e.lu = d + 4 * nn;
    e.r = d + 5 * nn;
    e.pivots = (lapack_int *)(d + 6 * nn);
    return e;
}

static wg_status expm_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (!isfinite(*(const double *)b->params))
        return wgi_block_refuse(b, WG_EARG, "the exponent is not finite");
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
static void scale_operand(const wg_block_arg *a, double scale, double *to) {
    const size_t n = a->rows;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) to[i + j * n] = scale * a->value[i + j * a->ld];
}

/* B and its powers, where the degree is 13; room of n^2. */
typedef struct scaled_powers {
    double *a, *b2, *b4, *b6, *room;
} scaled_powers;
static void set_powers(const wg_block *b, double scale, const scaled_powers *p) {
    const size_t n = b->in[0].rows;
    scale_operand(&b->in[0], scale, p->a);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, p->a, n, p->a, n, 0, p->b2, n);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, p->b2, n, p->b2, n, 0, p->b4, n);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, p->b4, n, p->b2, n, 0, p->b6, n);
}

/* As many squarings as this in vain cost some bits; where powers are small though the norm is
 * large, all of them. */
enum { IN_VAIN = 4 };

/* |X|^(1/k) in the 1-norm. */
static double root_of_norm(size_t n, const double *x, int k) {
    return pow(wgi_norm_1(n, x, n), 1.0 / k);
}

/* So many squarings more than there are take the powers of B below the bound of its norm;
 * INT_MAX: B or its powers are no numbers. */
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

/* What is left out of the series of the approximant is small beside B, too: so many squarings
 * more for a |B|^27, element by element, that is large beside it. */
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

/* From the choice by the norm, to that by the powers of B where it has so many squarings less;
 * p is set for it. At the choice by the norm nothing is beyond the range. */
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
    const exponential e = exponential_of(b->in[0].rows, b->saved);
    const size_t n = e.n, nn = n * n;
    const int m = wgi_int(n);
    double *const u = b->work, *const v = u + nn, *const x = v + nn, *const a = x + nn;
    if (n == 0) return WG_OK;
    const wg_status s = wgi_square_finite(b);
    if (s != WG_OK) return s;
    *e.head = scaling_for(n, b->in[0].value, b->in[0].ld, *(const double *)b->params, 0);
    const scaled_powers p = {a, e.b2, e.b4, e.b6, x};
    if (e.head->which == APPROXIMANTS - 1) *e.head = fewer_squarings(b, *e.head, &p);
    else scale_operand(&b->in[0], e.head->scale, a);
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
    if (b->info != 0)
        return wgi_block_refuse(b, WG_ESINGULAR,
                                "the denominator of the approximant is singular");
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

/* What a direction moves, by the step of the walk that has it: B, its powers, P, U, V, U - V, r
 * and its squares. r and the powers of r that are squared take turns in so many places; arrays
 * of what is not needed again may be one. powered: the powers of r are there. */
typedef struct moved {
    double *b, *b2, *b4, *b6, *b8, *p, *u, *v, *d, *r, *powers;
    size_t places;
    int powered;
} moved;

static double *square_at(const moved *m, size_t n, int k) {
    return m->r + (size_t)k % m->places * (n * n);
}
/* r(B) squared k times. */
static double *power_at(const moved *m, const exponential *e, int k) {
    return k == 0 ? e->r : m->powers + (size_t)(k - 1) % m->places * (e->n * e->n);
}

static void scale_direction(const exponential *e, const double *x, size_t ld, double *to) {
    const size_t n = e->n;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) to[i + j * n] = e->head->scale * x[i + j * ld];
}

/* The solution of (V - U) x = x. */
static void denominator_solve(const exponential *e, CBLAS_TRANSPOSE op, double *x) {
    const int n = wgi_int(e->n);
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, op == CblasTrans ? 'T' : 'N', n, n, e->lu, n,
                              e->pivots, x, n);
}

/* The walk in the direction m->b, at op(B) = op(a); x: room. L is the last square, which is
 * given. */
static double *walk(const exponential *e, CBLAS_TRANSPOSE op, const double *a, const moved *m,
                    double *x) {
    const size_t n = e->n, nn = n * n;
    const int degree = approximants[e->head->which].degree;
    const double *const c = approximants[e->head->which].c;
    const double *const powers[] = {e->b2, e->b4, e->b6};
    const double *const moves[] = {m->b2, m->b4, m->b6, m->b8};
    wgi_both_sides(n, op, 1, a, n, m->b, n, 0, m->b2, n);
    if (degree >= 5) wgi_both_sides(n, op, 1, e->b2, n, m->b2, n, 0, m->b4, n);
    if (degree >= 7) {
        wgi_product(n, op, CblasNoTrans, 1, e->b4, n, m->b2, n, 0, m->b6, n);
        wgi_product(n, CblasNoTrans, op, 1, m->b4, n, e->b2, n, 1, m->b6, n);
    }
    if (degree == 9) wgi_both_sides(n, op, 1, e->b4, n, m->b4, n, 0, m->b8, n);
    const size_t terms = degree == 13 ? 3 : (size_t)degree / 2;
    combine(n, c + 1, 0, terms, moves, m->p);
    combine(n, c, 0, terms, moves, m->v);
    if (degree == 13)
        for (int even = 0; even < 2; even++) {
            double *const d = even ? m->v : m->p;
            const double *const high = even ? c + 6 : c + 7;
            combine(n, high, 0, 3, powers, x);
            wgi_product(n, CblasNoTrans, op, 1, m->b6, n, x, n, 1, d, n);
            combine(n, high, 0, 3, moves, x);
            wgi_product(n, op, CblasNoTrans, 1, e->b6, n, x, n, 1, d, n);
        }
    /* U. = op(B) P. + E op(P);  (V - U) L = U. + V. + (U. - V.) r */
    wgi_product(n, op, CblasNoTrans, 1, a, n, m->p, n, 0, m->u, n);
    wgi_product(n, CblasNoTrans, op, 1, m->b, n, e->p, n, 1, m->u, n);
    for (size_t i = 0; i < nn; i++) {
        const double u = m->u[i], v = m->v[i];
        m->r[i] = u + v, m->d[i] = u - v;
    }
    wgi_product(n, CblasNoTrans, op, 1, m->d, n, e->r, n, 1, m->r, n);
    denominator_solve(e, op, m->r);
    /* L of X^2 is X L + L X */
    for (int s = 0; s < e->head->squarings; s++) {
        const double *const power = power_at(m, e, s);
        wgi_both_sides(n, op, 1, power, n, square_at(m, n, s), n, 0, square_at(m, n, s + 1), n);
        if (!m->powered && s + 1 < e->head->squarings)
            wgi_product(n, CblasNoTrans, CblasNoTrans, 1, power, n, power, n, 0,
                        power_at(m, e, s + 1), n);
    }
    return square_at(m, n, e->head->squarings);
}

/* In 8 n^2 of work, in which the result comes first. */
static void derivative(const exponential *e, const wg_block_arg *a, CBLAS_TRANSPOSE op,
                       const double *direction, size_t ldd, double *work) {
    const size_t nn = e->n * e->n;
    double *const l = work, *const m2 = l + nn, *const b = m2 + nn, *const m4 = b + nn;
    double *const m6 = m4 + nn, *const p = m6 + nn, *const v = p + nn, *const at = v + nn;
    const moved m = {b, m2, m4, m6, l, p, m2, v, m6, l, p, 2, 0};
    scale_operand(a, e->head->scale, at);
    scale_direction(e, direction, ldd, b);
    const double *const last = walk(e, op, at, &m, l);
    if (last != l) memcpy(l, last, nn * sizeof *l);
}

static wg_status expm_derivative(wg_block *b, CBLAS_TRANSPOSE op, const double *direction,
                                 size_t ldd) {
    const exponential e = exponential_of(b->in[0].rows, b->saved);
    derivative(&e, &b->in[0], op, direction, ldd, b->work);
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
/* The same where powers choose: those norms that did are bounded, and that of B to twice what
 * it was. Many squarings would be in vain where B^6 is far below its bound, or, recorded so,
 * where B is far below what it was. `room` of n^2. */
static void guard_powers(wg_tape *t, size_t n, const scaling *s, const wg_real *a, wgi_reals a4,
                         wgi_reals a6, wg_real *room) {
    const double bound = approximants[APPROXIMANTS - 1].bound;
    const double low = pow(ldexp(bound, -IN_VAIN), 6);
    const wg_real norm = write_norm(t, n, a), of_6 = write_norm(t, n, a6.p);
    (void)wg_le(t, norm, wg_constant(2 * wg_value(norm)));
    if (s->squarings > IN_VAIN) {
        if (wg_value(of_6) >= low) (void)wg_ge(t, of_6, wg_constant(low));
        else (void)wg_ge(t, norm, wg_constant(ldexp(wg_value(norm), -IN_VAIN)));
    }
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
    if (by_powers) guard_powers(t, n, &s, m[A], of[A4], of[A6], m[R]);
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

/* ---- L(A', W) as an operation on A and W; params: what the exponential has saved ----
 * Beside the products of the value, one of first order costs two of each, and the mixed
 * derivative four: with degree 9, 7 products and solves of order n in the value, 12 in L, of
 * which the walk along W is kept, and 12 + 24 in its tangent. */

/* The arrays of a walk that are looked at again, and places for r; the others are given. */
enum { KEPT = 7 };
static moved kept_moves(size_t n, double *at, size_t places, double *u, double *v) {
    const size_t nn = n * n;
    moved m = {.places = places, .u = u, .v = v};
    double **const kept[KEPT] = {&m.b, &m.b2, &m.b4, &m.b6, &m.b8, &m.p, &m.d};
    for (size_t i = 0; i < KEPT; i++) *kept[i] = at + i * nn;
    m.r = at + KEPT * nn;
    return m;
}

static exponential frechet_of(const wg_block *b) {
    void *saved;
    memcpy(&saved, b->params, sizeof saved);
    return exponential_of(b->in[0].rows, saved);
}
static size_t squares_of(const exponential *e) { return 1 + (size_t)e->head->squarings; }

/* saved: along W, with all squares of L and of r. work: A, room, U, V; then along A., with all
 * squares, and the mixed one, with two. */
static wg_status frechet_shape(wg_block *b) {
    const exponential e = frechet_of(b);
    const size_t nn = e.n * e.n, squares = squares_of(&e);
    b->saved_bytes = (KEPT + 2 * squares) * nn * sizeof(double);
    b->work_bytes = (4 + KEPT + squares + KEPT + 2) * nn * sizeof(double);
    return wgi_square_shape(b);
}

static moved along_w(const wg_block *b, const exponential *e) {
    const size_t nn = e->n * e->n, squares = squares_of(e);
    double *const work = b->work;
    moved m = kept_moves(e->n, b->saved, squares, work + 2 * nn, work + 3 * nn);
    m.powers = m.r + squares * nn;
    return m;
}

static wg_status frechet_value(wg_block *b) {
    const exponential e = frechet_of(b);
    const moved w = along_w(b, &e);
    double *const a = b->work, *const x = a + e.n * e.n;
    if (e.n == 0) return WG_OK;
    scale_operand(&b->in[0], e.head->scale, a);
    scale_direction(&e, b->in[1].value, b->in[1].ld, w.b);
    memcpy(b->out[0].value, walk(&e, CblasTrans, a, &w, x), e.n * e.n * sizeof *x);
    return WG_OK;
}

/* A matrix of the walk at B', whose transpose is x, and how W, A. and both together move it. */
typedef struct mixed {
    const double *x, *w, *t, *both;
} mixed;

/* to = beta to + how both move the product x y. */
static void mixed_product(size_t n, mixed x, mixed y, double beta, double *to) {
    wgi_product(n, CblasTrans, CblasNoTrans, 1, x.x, n, y.both, n, beta, to, n);
    wgi_product(n, CblasNoTrans, CblasTrans, 1, x.both, n, y.x, n, 1, to, n);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, x.w, n, y.t, n, 1, to, n);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, x.t, n, y.w, n, 1, to, n);
}

/* How both move the terms of the highest degrees, B^6 (c[2] B^2 + ...): added to `to`. */
static void mixed_high(const exponential *e, const double *c, const moved *w, const moved *t,
                       const moved *m, double *x, double *to) {
    const size_t n = e->n;
    const struct {
        const double *left, *powers[3];
        CBLAS_TRANSPOSE of_left, of_powers;
    } term[4] = {{m->b6, {e->b2, e->b4, e->b6}, CblasNoTrans, CblasTrans},
                 {e->b6, {m->b2, m->b4, m->b6}, CblasTrans, CblasNoTrans},
                 {w->b6, {t->b2, t->b4, t->b6}, CblasNoTrans, CblasNoTrans},
                 {t->b6, {w->b2, w->b4, w->b6}, CblasNoTrans, CblasNoTrans}};
    for (size_t k = 0; k < 4; k++) {
        combine(n, c, 0, 3, term[k].powers, x);
        wgi_product(n, term[k].of_left, term[k].of_powers, 1, term[k].left, n, x, n, 1, to, n);
    }
}

/* The walk of both: m->b is how they move B. Gives L(A', W.) and the mixed derivative, in
 * one. */
static double *mixed_walk(const exponential *e, const double *a, const moved *w, const moved *t,
                          const moved *m, double *x) {
    const size_t n = e->n, nn = n * n;
    const int degree = approximants[e->head->which].degree;
    const double *const c = approximants[e->head->which].c;
    const double *const moves[] = {m->b2, m->b4, m->b6, m->b8};
    const mixed of_b = {a, w->b, t->b, m->b}, of_b2 = {e->b2, w->b2, t->b2, m->b2};
    const mixed of_b4 = {e->b4, w->b4, t->b4, m->b4};
    mixed_product(n, of_b, of_b, 0, m->b2);
    if (degree >= 5) mixed_product(n, of_b2, of_b2, 0, m->b4);
    if (degree >= 7) mixed_product(n, of_b4, of_b2, 0, m->b6);
    if (degree == 9) mixed_product(n, of_b4, of_b4, 0, m->b8);
    const size_t terms = degree == 13 ? 3 : (size_t)degree / 2;
    combine(n, c + 1, 0, terms, moves, m->p);
    combine(n, c, 0, terms, moves, m->v);
    if (degree == 13) {
        mixed_high(e, c + 7, w, t, m, x, m->p);
        mixed_high(e, c + 6, w, t, m, x, m->v);
    }
    mixed_product(n, of_b, (mixed){e->p, w->p, t->p, m->p}, 0, m->u);
    for (size_t i = 0; i < nn; i++) m->r[i] = m->u[i] + m->v[i], m->d[i] = m->u[i] - m->v[i];
    wgi_product(n, CblasNoTrans, CblasTrans, 1, m->d, n, e->r, n, 1, m->r, n);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, w->d, n, t->r, n, 1, m->r, n);
    wgi_product(n, CblasNoTrans, CblasNoTrans, 1, t->d, n, w->r, n, 1, m->r, n);
    denominator_solve(e, CblasTrans, m->r);
    for (int s = 0; s < e->head->squarings; s++) {
        const mixed r = {power_at(w, e, s), square_at(w, n, s), square_at(t, n, s),
                         square_at(m, n, s)};
        mixed_product(n, r, r, 0, square_at(m, n, s + 1));
    }
    return square_at(m, n, e->head->squarings);
}

static wg_status frechet_jvp(wg_block *b) {
    const exponential e = frechet_of(b);
    const size_t n = e.n, nn = n * n, squares = squares_of(&e);
    const wg_block_arg *const a = &b->in[0], *const w = &b->in[1];
    double *const at = b->work, *const x = at + nn, *const u = x + nn, *const v = u + nn;
    const moved along = along_w(b, &e);
    moved t = kept_moves(n, v + nn, squares, u, v);
    const moved both = kept_moves(n, t.r + squares * nn, 2, u, v);
    if (n == 0) return WG_OK;
    scale_operand(a, e.head->scale, at);
    if (w->bar != NULL) scale_direction(&e, w->bar, w->bar_ld, both.b);
    else wgi_square_zero(n, both.b, n);
    if (a->bar == NULL) wgi_square_zero(n, t.b, n);
    for (size_t j = 0; j < n && a->bar != NULL; j++)
        for (size_t i = 0; i < n; i++)
            t.b[i + j * n] = e.head->scale * a->bar[j + i * a->bar_ld];
    t.powers = along.powers, t.powered = 1;
    (void)walk(&e, CblasTrans, at, &t, x);
    wgi_square_set(n, mixed_walk(&e, at, &along, &t, &both, x), b->out[0].bar,
                   b->out[0].bar_ld);
    return WG_OK;
}

/* L(A', W) */
static wg_status expm_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {
        "adjoint of wg_expm", 0,    frechet_shape, frechet_value, NULL,
        frechet_jvp,          NULL, NULL,          NULL};
    const wg_mat of[2] = {in[0], bar[0]};
    (void)out;
    return wg_apply(t, &op, &b->saved, sizeof b->saved, 2, of, 1, back);
}

/* In functions. */
static wg_status expm_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                           const wg_mat *bar, wg_mat *back) {
    (void)out;
    return wgi_function_rule(t, &wgi_op_exp_of_log, b->params, sizeof(double), in[0], bar[0],
                             back);
}

static const wgi_traits of_expm = {.whole = &wgi_whole_expm};
/* params: a double, the factor of A. */
const wg_block_op wgi_op_expm = {"wg_expm", WG_OP_EXPANDS, expm_shape,   expm_value, expm_vjp,
                                 expm_jvp,  expm_expand,   expm_adjoint, &of_expm};
const wg_block_op wgi_op_exp_of_log = {"wg_powm_real", 0,    expm_shape,   expm_value, expm_vjp,
                                       expm_jvp,       NULL, expm_adjoint, &of_expm};
const wgi_whole wgi_whole_expm = {&wgi_op_exp_of_log, "nn", "nn", expm_rule, NULL, 0, 1, 30};

wg_mat wg_expm(wg_tape *t, wg_mat a) {
    const double factor_of_a = 1;
    return wgi_apply_one(t, &wgi_op_expm, &factor_of_a, sizeof factor_of_a, 1, &a);
}

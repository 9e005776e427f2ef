/* SPDX-License-Identifier: MIT */
/* Is the rank of a triangle full? Told by its condition number in the norm of Frobenius,
 * |R| |R^-1|, which is not below the ratio of the largest to the smallest singular value, and
 * above it by half of its order at most. The diagonal does not tell where columns were not
 * pivoted: of [C C] it has rounding, as many times over as C is conditioned.
 *
 * The columns of R are divided by their largest elements first: units of columns are no matter
 * of rank, and no square leaves the range of numbers where the rank is full. The inverse of a
 * leading part of R is that part of the inverse.
 * Source: Higham 2002, 7.3, 8.3. */
#include "orthogonal.h"

static double sum_of_squares(size_t n, const double *x, size_t step) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i * step] * x[i * step];
    return sum;
}

/* Is the condition number surely below that whose square is `most`? |R^-1| is nowhere above the
 * inverse of R with minus the absolute values of what is beside its absolute diagonal: p^2
 * flops tell it of all but the ill-conditioned and the large. sum: p numbers.
 * Source: Higham 2002, 8.2. */
static int surely_full(int upper, size_t p, double most, const double *r, size_t ld,
                       double *sum) {
    const size_t step = upper ? 1 : ld;
    double inverse = 0;
    for (size_t i = 0; i < p; i++) sum[i] = 1;
    for (size_t i = p; i-- > 0;) {
        const double *const column = r + i * (upper ? ld : 1);
        double high = 0;
        for (size_t j = 0; j <= i; j++) {
            const double x = fabs(column[j * step]);
            if (x > high) high = x;
        }
        const double y = sum[i] / (fabs(column[i * step]) / high);
        for (size_t j = 0; j < i; j++) sum[j] += fabs(column[j * step]) / high * y;
        inverse += y * y;
    }
    return (double)p * (double)(p + 1) / 2 * inverse < most; /* no NaN is below */
}

int wgi_dependent(int upper, size_t p, double least, const double *r, size_t ld, double *work) {
    const double most = 1 / (least * least);
    double size = 0, inverse = 0;
    if (surely_full(upper, p, most, r, ld, work)) return 0;
    for (size_t i = 0; i < p; i++) { /* column i of R is row i of a lower triangle */
        double high = 0;
        for (size_t j = 0; j <= i; j++) {
            const double x = upper ? r[j + i * ld] : r[i + j * ld];
            if (isnan(x)) return 0;
            high = fmax(high, fabs(x));
            work[i + j * p] = x;
        }
        for (size_t j = 0; j <= i && high != 0; j++) work[i + j * p] /= high;
        size += sum_of_squares(i + 1, work + i, p);
    }
    size_t solid = 0;
    while (solid < p && work[solid * (p + 1)] != 0) solid++;
    if (solid != 0) wgi_invert_lower(solid, work, p);
    for (size_t j = 0; j < solid; j++)
        inverse += sum_of_squares(solid - j, work + j * (p + 1), 1);
    if (solid == p && size * inverse < most) return 0;
    inverse = 0;
    for (size_t i = 0; i < solid; i++) {
        inverse += sum_of_squares(i + 1, work + i, p);
        if (!(size * inverse < most)) return wgi_int(i + 1);
    }
    return wgi_int(solid + 1);
}

wg_real wgi_expand_condition(wg_tape *t, wgi_reals r, int each) {
    const size_t p = r.rows;
    wg_real size = wg_constant(0), inverse = wg_constant(0);
    wg_real *const s = wgi_expand_room(t, p * p), *const x = wgi_expand_room(t, p * p);
    wg_real *const high = wgi_expand_room(t, p);
    if (s == NULL || x == NULL || high == NULL) return wg_constant(NAN);
    for (size_t j = 0; j < p; j++) {
        high[j] = j == 0 || each ? wg_constant(0) : high[j - 1];
        for (size_t i = 0; i <= j; i++)
            high[j] = wg_let(t, wg_fmax(high[j], wg_fabs(wgi_reals_at(r, i, j))));
    }
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i <= j; i++) {
            s[i + j * p] = wg_let(t, wg_div(wgi_reals_at(r, i, j), high[each ? j : p - 1]));
            size = wg_let(t, wg_add(size, wg_square(s[i + j * p])));
        }
        x[j * (p + 1)] = wg_let(t, wg_div(1, s[j * (p + 1)]));
        for (size_t i = 0; i < j; i++) {
            const wg_real sum = wgi_expand_dot(t, j - i, x + i + i * p, p, s + i + j * p, 1);
            x[i + j * p] = wg_let(t, wg_neg(wg_mul(sum, x[j * (p + 1)])));
        }
        for (size_t i = 0; i <= j; i++)
            inverse = wg_let(t, wg_add(inverse, wg_square(x[i + j * p])));
    }
    return wg_let(t, wg_mul(size, inverse));
}

int wgi_has_full_rank(wg_tape *t, wgi_reals r, double least, int each) {
    return wg_lt(t, wgi_expand_condition(t, r, each), wg_constant(1 / (least * least)));
}

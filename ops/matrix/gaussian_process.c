/* SPDX-License-Identifier: MIT */
/* Marginal likelihoods of Gaussian processes: a normal density (normal_density.c) whose
 * covariance is that of pairs of points (covariance.c), letters as there. Where the squares of
 * sigma and noise might leave the range of numbers, these two and Y are taken in a `unit`, a
 * power of two, in which they do not: the density of Y is that of unit Y, times unit^(n k).
 * Source: Rasmussen and Williams 2006, 5.9. */
#include <float.h>
#include <math.h>
#include <wengert/elementwise.h>
#include <wengert/operation.h>
#include <wengert/statistics.h>
#include "covariance.h"
#include "normal_density.h"

/* Operands X, scale, (sigma, noise), Y.
 * Pairs of points (i, j), i > j, are met column by column, as the lower triangles of the
 * Cholesky factor and of H have them, and f, the covariances for sigma = 1, which are kept. */

struct process {
    wgi_normal normal;
    size_t d;
    double *u, *f;
    double *h, *q, *slope, *ut; /* workspace; h also for residuals */
    double sigma, noise, unit;  /* the first two in that unit */
};

/* Sizes of sigma and noise, the larger one of them, of which all squares are ordinary numbers. */
static const double small_size = 1e-30, large_size = 1e30;

static double unit_of(double sigma, double noise) {
    const double size = fmax(fabs(sigma), fabs(noise));
    int exponent;
    if (!(size > 0 && size <= DBL_MAX) || (size > small_size && size < large_size)) return 1;
    (void)frexp(size, &exponent);
    return ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

static size_t pairs_of(size_t n) { return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n; }
/* Column j of a triangle of pairs. */
static size_t pairs_before(size_t n, size_t j) { return pairs_of(n) - pairs_of(n - j); }

static struct process process_of(const wg_block *b) {
    struct process s;
    char *saved = (char *)b->saved, *work = (char *)b->work;
    const size_t n = b->in[WGI_PAIR_POINTS].rows, k = b->in[WGI_PAIR_OTHERS].cols;
    s.d = b->in[WGI_PAIR_POINTS].cols;
    s.normal.n = n, s.normal.k = k;
    s.normal.l = wgi_take(&saved, n * n), s.normal.a = wgi_take(&saved, n * k);
    s.u = wgi_take(&saved, n * s.d), s.f = wgi_take(&saved, pairs_of(n));
    s.normal.c = wgi_take(&saved, wgi_normal_inverse(n));
    s.h = wgi_take(&work, n * (n > k ? n : k));
    s.q = wgi_take(&work, n), s.slope = wgi_take(&work, n), s.ut = wgi_take(&work, n * s.d);
    const double *const amplitudes = b->in[WGI_PAIR_AMPLITUDES].value;
    s.unit = unit_of(amplitudes[0], amplitudes[1]);
    s.sigma = amplitudes[0] * s.unit, s.noise = amplitudes[1] * s.unit;
    return s;
}

static wg_status process_shape(wg_block *b) {
    const size_t n = b->in[WGI_PAIR_POINTS].rows, d = b->in[WGI_PAIR_POINTS].cols,
                 k = b->in[WGI_PAIR_OTHERS].cols;
    const wg_status s = wgi_pair_shape(b, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE]);
    if (s != WG_OK) return s;
    if (b->in[WGI_PAIR_OTHERS].rows != n)
        return wgi_block_refuse(b, WG_ESHAPE, "there is not one observation for each point");
    /* K is no operand: nobody has asked yet whether its size can be counted */
    if (n != 0 && n > SIZE_MAX / 64 / n)
        return wgi_block_refuse(b, WG_ESHAPE, "there are too many points");
    b->out[0].rows = b->out[0].cols = 1;
    b->saved_bytes = wgi_room_of(n * n) + wgi_room_of(n * k) + wgi_room_of(n * d) +
                     wgi_room_of(pairs_of(n)) + wgi_room_of(wgi_normal_inverse(n));
    b->work_bytes = wgi_room_of(n * (n > k ? n : k)) + 2 * wgi_room_of(n) + wgi_room_of(n * d);
    return WG_OK;
}

/* Distances q of point j from those after it. */
static size_t distances_after(const struct process *s, size_t j, double *q) {
    const size_t n = s->normal.n, m = n - j - 1;
    wgi_pair_distances(m, s->d, s->u + j + 1, n, s->u + j, n, q);
    return m;
}

static wg_status process_value(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const struct process s = process_of(b);
    const size_t n = s.normal.n;
    wgi_pair_scaled(n, s.d, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE], s.u);
    for (size_t j = 0; j < n; j++) {
        double *const k = s.normal.l + j * (n + 1), *const f = s.f + pairs_before(n, j);
        const double square = s.sigma * s.sigma;
        const size_t m = distances_after(&s, j, s.q);
        wgi_pair_covariances(kernel, m, 1, s.q, f);
        k[0] = square + s.noise * s.noise;
        for (size_t i = 0; i < m; i++) k[1 + i] = square * f[i];
    }
    wgi_get(n, s.normal.k, wgi_value_of(&b->in[WGI_PAIR_OTHERS], s.normal.k, 0), s.normal.a);
    if (s.unit != 1) cblas_dscal(wgi_int(n * s.normal.k), s.unit, s.normal.a, 1);
    b->out[0].value[0] = wgi_normal_density(&s.normal, s.h, &b->info);
    if (s.unit != 1) b->out[0].value[0] += (double)(n * s.normal.k) * log(s.unit);
    return b->info != 0 ? wgi_normal_indefinite(b) : WG_OK;
}

static wg_status process_vjp(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const struct process s = process_of(b);
    const size_t n = s.normal.n;
    const wg_block_arg *const x = &b->in[WGI_PAIR_POINTS], *const scale =
                                                               &b->in[WGI_PAIR_SCALE];
    const wg_block_arg *const amplitudes = &b->in[WGI_PAIR_AMPLITUDES],
                              *const y = &b->in[WGI_PAIR_OTHERS];
    const double w = b->out[0].bar[0], square = s.sigma * s.sigma;
    double sum = 0, diagonal = 0;
    if (y->bar != NULL)
        wgi_add(n, s.normal.k, -w * s.unit, s.normal.a, wgi_bar_of(y, s.normal.k, 0));
    if (x->bar == NULL && scale->bar == NULL && amplitudes->bar == NULL) return WG_OK;
    wgi_normal_curvature(&s.normal, s.h);
    for (size_t j = 0; j < n; j++) {
        double *const h = s.h + j * (n + 1) + 1;
        const double *const f = s.f + pairs_before(n, j);
        const size_t m = n - j - 1, i = j + 1;
        diagonal += h[-1];
        sum += wgi_pair_dot(m, h, f);
        if (x->bar == NULL && scale->bar == NULL) continue;
        (void)distances_after(&s, j, s.q);
        for (size_t e = 0; e < m; e++) h[e] *= w * square;
        wgi_pair_slopes(kernel, m, s.q, f, h, h);
        wgi_pair_column_adjoint(kernel, m, s.d, s.u + i, n, s.u + j, n, s.q, h, scale,
                                x->bar != NULL ? x->bar + i : NULL, x->bar_ld,
                                x->bar != NULL ? x->bar + j : NULL, x->bar_ld);
    }
    if (amplitudes->bar != NULL) {
        amplitudes->bar[0] += w * s.sigma * (2 * sum + diagonal) * s.unit;
        amplitudes->bar[1] += w * s.noise * diagonal * s.unit;
    }
    return WG_OK;
}

static wg_status process_jvp(wg_block *b) {
    const wg_kernel kernel = *(const wg_kernel *)b->params;
    const struct process s = process_of(b);
    const size_t n = s.normal.n;
    const wg_block_arg *const y = &b->in[WGI_PAIR_OTHERS];
    const double *const amplitudes = b->in[WGI_PAIR_AMPLITUDES].bar;
    const double st = amplitudes != NULL ? amplitudes[0] * s.unit : 0;
    const double noise_t = amplitudes != NULL ? amplitudes[1] * s.unit : 0;
    const double square = s.sigma * s.sigma;
    double sum = 0;
    for (size_t c = 0; c < s.normal.k && y->bar != NULL; c++)
        for (size_t i = 0; i < n; i++)
            sum -= s.normal.a[i + c * n] * (y->bar[i + c * y->bar_ld] * s.unit);
    wgi_pair_scaled_tangents(n, s.d, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE], s.u,
                             s.ut);
    wgi_normal_curvature(&s.normal, s.h);
    for (size_t j = 0; j < n; j++) {
        const double *const h = s.h + j * (n + 1) + 1, *const f = s.f + pairs_before(n, j);
        const size_t m = distances_after(&s, j, s.q), i = j + 1;
        for (size_t e = 0; e < m; e++) s.slope[e] = square;
        wgi_pair_slopes(kernel, m, s.q, f, s.slope, s.slope);
        wgi_pair_column_tangent(kernel, m, s.d, s.u + i, s.ut + i, n, s.u + j, s.ut + j, n, s.q,
                                s.slope, f, 2 * s.sigma * st, s.q);
        sum += wgi_pair_dot(m, h, s.q) + h[-1] * (s.sigma * st + s.noise * noise_t);
    }
    b->out[0].bar[0] = sum;
    return WG_OK;
}

static wg_status process_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals others = wgi_reals_operand(b, x, WGI_PAIR_OTHERS);
    const size_t n = others.rows, observations = n * others.cols;
    wg_real *const k = wgi_expand_room(t, n * n), *const a = wgi_expand_copied(t, others);
    const wg_real *const given = wgi_reals_operand(b, x, WGI_PAIR_AMPLITUDES).p;
    /* any size will do, so that the unit has no derivative */
    const wg_real size =
        wgi_expand_held(t, wg_let(t, wg_fmax(wg_fabs(given[0]), wg_fabs(given[1]))));
    const wg_real small = wg_let(t, wg_select_lt(small_size, size, 1, wg_div(1, size)));
    const wg_real unit = wg_let(t, wg_select_lt(size, large_size, small, wg_div(1, size)));
    const wg_real amplitudes[2] = {wg_let(t, wg_mul(given[0], unit)),
                                   wg_let(t, wg_mul(given[1], unit))};
    for (size_t e = 0; a != NULL && e < observations; e++) a[e] = wg_let(t, wg_mul(a[e], unit));
    wgi_pair_write(t, b, x, amplitudes, k);
    const wg_real density = wgi_normal_write(t, n, others.cols, k, a);
    *y = wg_let(t, wg_add(density, wg_mul((double)observations, wg_log(unit))));
    return WG_OK;
}

/* The covariances once more, as an operation, from those that the value has kept. */
struct known {
    wg_kernel kernel;
    const double *f;
};

static wg_status known_value(wg_block *b) {
    const wgi_pair_points s = wgi_pair_points_of(b);
    const double *f = ((const struct known *)b->params)->f;
    const double square = s.sigma * s.sigma;
    double *const k = b->out[0].value;
    wgi_pair_scaled(s.n, s.d, &b->in[WGI_PAIR_POINTS], &b->in[WGI_PAIR_SCALE], s.u);
    for (size_t j = 0; j < s.n; j++) {
        k[j * (s.n + 1)] = square + s.noise * s.noise;
        for (size_t i = j + 1; i < s.n; i++) k[i + j * s.n] = square * *f++;
    }
    wgi_mirror(s.n, k, s.n);
    return WG_OK;
}

/* Y_ = - w a; the others from those of the covariances, w/2 H; in the unit. */
static wg_status process_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"covariance of wg_gp_logml",
                                   0,
                                   wgi_pair_matrix_shape,
                                   known_value,
                                   NULL,
                                   wgi_pair_matrix_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const struct process s = process_of(b);
    const struct known p = {*(const wg_kernel *)b->params, s.f};
    wg_mat k, of[WGI_PAIR_OTHERS + 1];
    (void)out;
    if (s.normal.n == 0) return WG_OK;
    memcpy(of, in, sizeof of);
    for (size_t i = WGI_PAIR_AMPLITUDES; s.unit != 1 && i <= WGI_PAIR_OTHERS; i++)
        of[i] = wg_mat_scale(t, s.unit, in[i]);
    wg_status r = wg_apply(t, &op, &p, sizeof p, 3, of, 1, &k);
    if (r != WG_OK) return r;
    const wg_mat a = wgi_normal_solved(t, &s.normal, k, of[WGI_PAIR_OTHERS]);
    back[WGI_PAIR_OTHERS] = wg_mat_neg(t, wg_mat_mul(t, bar[0], a));
    const wg_mat h = wgi_normal_half_curvature(t, &s.normal, 1, k, a, bar[0]);
    r = wgi_pair_adjoints(t, p.kernel, 1, WGI_PAIR_OTHERS, of, k, h, back);
    for (size_t i = WGI_PAIR_AMPLITUDES; s.unit != 1 && i <= WGI_PAIR_OTHERS; i++)
        back[i] = wg_mat_scale(t, s.unit, back[i]);
    return r;
}

const wg_block_op wgi_op_process = {"wg_gp_logml",  WG_OP_EXPANDS,   process_shape,
                                    process_value,  process_vjp,     process_jvp,
                                    process_expand, process_adjoint, &wgi_normal_traits};

wg_real wg_gp_logml(wg_tape *t, wg_kernel kernel, wg_mat x, wg_mat y, wg_mat scale,
                    wg_real sigma, wg_real noise) {
    const wg_real amplitudes[2] = {sigma, noise};
    const wg_mat in[4] = {x, scale, wg_mat_gather(t, 2, 1, amplitudes), y};
    return wg_mat_at(wgi_apply_one(t, &wgi_op_process, &kernel, sizeof kernel, 4, in), 0, 0);
}

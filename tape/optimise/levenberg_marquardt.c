/* SPDX-License-Identifier: MIT */
/* Levenberg-Marquardt on the QR factorisation of the Jacobian.
 *
 * A step v solves  min |J v + r|^2 + lambda |D v|^2,  that is, least squares with the matrix
 * [J; sqrt(lambda) D]. J = Q R is factored once per point, [R; sqrt(lambda) D] (2n-by-n) once
 * per trial. Undamped, a step promises to reduce |r|^2 by |q|^2, where q is Q' (-r).
 *
 * What makes it reach the minimum from far away:
 * - D holds the norms of the columns of J, the largest seen so far but slowly forgotten. With
 *   no memory a parameter that has lost its influence runs away; with More's unfading maximum a
 *   start where the model is wildly too large cripples every later step.
 * - The second derivative of r along v (one more evaluation) bends the step along the valley.
 *   A step whose bend is not small against it is not trusted, whatever it gains.
 *
 * What makes it deliver all digits: near the minimum the gain of a step drowns in the rounding
 * of |r|^2, so gains carry an allowance for it, and the end is told by |q|, which has no
 * cancellation: Gauss-Newton steps let it fall until only rounding is left.
 *
 * Parameters that a bound holds have no column in J; the step of the others is moved into the
 * bounds. Where there are fewer residuals than parameters, rows of 0 stand below J.
 *
 * Letters: m residuals (rows of J), n parameters, k of them free, r, J, Q, R, D, q, v the step,
 * a its bend, lambda. */
#include "ops/matrix/blas.h"
#include "search.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Residuals are taken to be known to this many epsilons of what the parameters, one by one,
 * contribute to them. */
static const double rounding = 16 * DBL_EPSILON;
/* A diagonal element of R that is this small against its column, times m, is zero. */
static const double rank = 4 * DBL_EPSILON;
/* A gain ratio above it accepts the step. */
static const double accept = 1e-4;
/* Damping falls by at most this factor per step (Nielsen). */
static const double fall = 1.0 / 3;
/* What D keeps of its memory per step. */
static const double scale_kept = 0.7;
/* Where along the step, from 0 to 1, its curvature is probed: short against the step, so that
 * it is local; long enough for rounding not to matter. */
static const double probe_at = 0.02;
/* The largest trusted |D a| / |D v|: half of what its authors take, for which a far start leads
 * to the same minimum more often. */
static const double bend_limit = 0.4;

/* What a fit asks for beyond a search; the objective is the search's. */
typedef struct plan {
    wgi_objective of; /* the user's, under another name */
    wgi_objective *to;
    size_t m;
    double *deviation;
} plan;

typedef struct fit {
    wgi_search *s;
    wgi_objective *of;
    size_t m, rows, n, k;      /* rows: m, or n if that is more */
    size_t *at;                /* the parameters that are free */
    double *r, *jac;           /* jac is overwritten by Q and R */
    double *tau;               /* of Q */
    double *q;                 /* the first k of `rows` entries */
    double *scale;             /* D, of all parameters */
    double *damped, *tau2;     /* QR of [R; sqrt(lambda) D], 2k-by-k */
    double *v, *a;             /* step and bend, workspace of 2n each */
    double *trial_x, *trial_r; /* a point being tried */
    double *probe;
    double *work;
    lapack_int works;
    double q_norm, lambda; /* of the point; its sum of squares is s->value */
    double noise;          /* the part of the sum that may be rounding */
    int is_singular;       /* some parameters are not determined */
    int is_clipped;        /* the step was moved into the bounds */
} fit;

static double squared_norm(size_t n, const double *x) {
    return cblas_ddot(wgi_int(n), x, 1, x, 1);
}

/* ---- LAPACK ---- */

static void factor(const fit *f, size_t rows, size_t cols, double *a, double *tau) {
    (void)LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, wgi_int(rows), wgi_int(cols), a, wgi_int(rows),
                              tau, f->work, f->works);
}
/* c = Q' c. */
static void times_q(const fit *f, size_t rows, size_t cols, const double *a, const double *tau,
                    double *c) {
    (void)LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', wgi_int(rows), 1, wgi_int(cols), a,
                              wgi_int(rows), tau, c, wgi_int(rows), f->work, f->works);
}

/* The most workspace of these, asked of LAPACK. */
static size_t work_of(size_t rows, size_t n) {
    double most = 1, size = 0, none = 0;
    const lapack_int r[2] = {wgi_int(rows), wgi_int(2 * n)}, c = wgi_int(n);
    if (n == 0) return 1;
    for (int i = 0; i < 2; i++) {
        if (LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, r[i], c, &none, r[i], &none, &size, -1) == 0)
            most = fmax(most, size);
        if (LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', r[i], 1, c, &none, r[i], &none,
                                &none, r[i], &size, -1) == 0)
            most = fmax(most, size);
    }
    return (size_t)most;
}

/* ---- a point ---- */

/* Residuals, and the Jacobian if there is one, times 2^k. */
static void rescale(const fit *f, int k, double *r, double *jac) {
    for (size_t i = 0; k != 0 && i < f->m; i++) r[i] = ldexp(r[i], k);
    for (size_t j = 0; k != 0 && jac != NULL && j < f->n; j++)
        for (size_t i = 0; i < f->m; i++) jac[j * f->rows + i] = ldexp(jac[j * f->rows + i], k);
}

/* Where squares of residuals, or of what they are differences of, would vanish or overflow, all
 * are scaled from the start on. */
static void choose_scale(fit *f) {
    double length = cblas_dnrm2(wgi_int(f->m), f->r, 1);
    for (size_t j = 0; j < f->n; j++)
        length = fmax(length,
                      cblas_dnrm2(wgi_int(f->m), f->jac + j * f->rows, 1) * fabs(f->s->x[j]));
    if (!(length > 0) || !isfinite(length) || (length >= 0x1p-300 && length <= 0x1p300)) return;
    f->s->scale = -2 * ilogb(length);
    rescale(f, f->s->scale / 2, f->r, f->jac);
    f->s->o.gradient = ldexp(f->s->o.gradient, f->s->scale);
}

static wg_status residuals(fit *f, const double *x, double *r, double *jac) {
    wg_minimise_result *const result = f->s->result;
    if (jac != NULL) result->products++;
    else result->evaluations++;
    const wg_status status = f->of->residuals(f->of, x, r, jac, f->rows);
    if (status == WG_OK) rescale(f, f->s->scale / 2, r, jac);
    return status;
}

/* The gradient of the sum of squares, and which parameters are free; their columns move to the
 * front of the Jacobian. */
static void choose(fit *f) {
    wgi_search *const s = f->s;
    f->k = 0;
    for (size_t j = 0; j < f->n; j++) {
        double *const column = f->jac + j * f->rows;
        s->g[j] = 2 * wgi_search_dot(f->m, column, f->r);
        if (wgi_search_is_held(s, j, s->x[j], s->g[j])) continue;
        if (f->k != j) memcpy(f->jac + f->k * f->rows, column, f->rows * sizeof *column);
        f->at[f->k++] = j;
    }
    s->slope = wgi_search_slope(s, s->x, s->g);
}

/* Residuals and Jacobian at x; from them R, q, D, and what is known of the rounding. */
static wg_status linearise(fit *f) {
    wgi_search *const s = f->s;
    const wg_status status = residuals(f, s->x, f->r, f->jac);
    if (status != WG_OK) return status;
    for (size_t j = 0; j < f->n && f->rows > f->m; j++)
        memset(f->jac + j * f->rows + f->m, 0, (f->rows - f->m) * sizeof *f->jac);
    if (s->result->products == 1) choose_scale(f);
    s->value = squared_norm(f->m, f->r);
    if (!isfinite(ldexp(s->value, -s->scale)) || !wgi_all_finite(f->rows * f->n, f->jac))
        return wgi_fail(f->of->c, WG_ENONFINITE,
                        "%s: the residuals or the Jacobian are NaN or infinite", f->of->call);
    choose(f);
    double contributed = s->value;
    for (size_t j = 0; j < f->k; j++) {
        const size_t at = f->at[j];
        const double length = cblas_dnrm2(wgi_int(f->rows), f->jac + j * f->rows, 1);
        contributed += length * s->x[at] * length * s->x[at];
        f->scale[at] = fmax(length, scale_kept * f->scale[at]);
        if (f->scale[at] == 0) f->scale[at] = 1;
        f->a[j] = length; /* for the look at the rank */
    }
    /* Rounding e of r is 2 |r| e + e^2 of |r|^2; the probe of the bend magnifies e. */
    const double e = rounding * sqrt(contributed);
    f->noise = 2 * sqrt(s->value) * e + e / (probe_at * probe_at) * e / (probe_at * probe_at);

    for (size_t i = 0; i < f->m; i++) f->q[i] = -f->r[i];
    for (size_t i = f->m; i < f->rows; i++) f->q[i] = 0;
    f->is_singular = 0;
    f->q_norm = 0;
    if (f->k == 0) return WG_OK;
    factor(f, f->rows, f->k, f->jac, f->tau);
    times_q(f, f->rows, f->k, f->jac, f->tau, f->q);
    for (size_t j = 0; j < f->k; j++)
        if (fabs(f->jac[j + j * f->rows]) <= rank * (double)f->rows * f->a[j]) {
            f->is_singular = 1;
            f->q[j] = 0; /* its direction is all rounding */
        }
    f->q_norm = cblas_dnrm2(wgi_int(f->k), f->q, 1);
    if (isfinite(f->q_norm)) return WG_OK;
    return wgi_fail(f->of->c, WG_ENONFINITE, "%s: the Jacobian is too large", f->of->call);
}

/* Is all that a step promises within the rounding of |r|^2? */
static int is_settled(const fit *f) { return f->q_norm * f->q_norm <= f->noise; }

/* ---- a trial ---- */

/* The QR factorisation of [R; sqrt(lambda) D]. */
static void damp(fit *f) {
    const size_t k = f->k, rows = 2 * k;
    memset(f->damped, 0, rows * k * sizeof *f->damped);
    for (size_t j = 0; j < k; j++) {
        memcpy(f->damped + j * rows, f->jac + j * f->rows, (j + 1) * sizeof *f->damped);
        f->damped[j * rows + k + j] = sqrt(f->lambda) * f->scale[f->at[j]];
    }
    factor(f, rows, k, f->damped, f->tau2);
}

/* z that minimises |R z - c|^2 + lambda |D z|^2, where z holds c on entry. 0: there is none. */
static int solve_damped(const fit *f, double *z) {
    const size_t k = f->k, rows = 2 * k;
    memset(z + k, 0, k * sizeof *z);
    times_q(f, rows, k, f->damped, f->tau2, z);
    for (size_t j = 0; j < k; j++)
        if (f->damped[j + j * rows] == 0) return 0;
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, wgi_int(k), f->damped,
                wgi_int(rows), z, 1);
    return 1;
}

/* y = R z, k entries. */
static void times_r(const fit *f, const double *z, double *y) {
    memcpy(y, z, f->k * sizeof *y);
    cblas_dtrmv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, wgi_int(f->k), f->jac,
                wgi_int(f->rows), y, 1);
}

static double scaled_norm(const fit *f, const double *z) {
    double sum = 0;
    for (size_t j = 0; j < f->k; j++) {
        const double d = f->scale[f->at[j]];
        sum += d * z[j] * d * z[j];
    }
    return sqrt(sum);
}

/* The point x + h v, within the bounds; and the residuals there. */
static void go(fit *f, double h) {
    const wgi_search *const s = f->s;
    memcpy(f->trial_x, s->x, f->n * sizeof *s->x);
    for (size_t j = 0; j < f->k; j++)
        f->trial_x[f->at[j]] = wgi_search_inside(s, f->at[j], s->x[f->at[j]] + h * f->v[j]);
}
static wg_status residuals_along(fit *f, double h, double *r) {
    go(f, h);
    return residuals(f, f->trial_x, r, NULL);
}

/* Moves the end of the step into the bounds. */
static void clip(fit *f) {
    const wgi_search *const s = f->s;
    f->is_clipped = 0;
    for (size_t j = 0; j < f->k && wgi_search_is_bounded(s); j++) {
        const double x = s->x[f->at[j]], to = wgi_search_inside(s, f->at[j], x + f->v[j]);
        if (to == x + f->v[j]) continue;
        f->v[j] = to - x;
        f->is_clipped = 1;
    }
}

/* Adds to the step v half of the bend a = -(J'J + lambda D^2)^-1 J' r_vv, where r_vv is the
 * second derivative of r along v. *trusted 0: the step is not to be trusted. */
static wg_status bend(fit *f, int *trusted) {
    const wg_status status = residuals_along(f, probe_at, f->probe);
    *trusted = 0;
    if (status != WG_OK || !wgi_all_finite(f->m, f->probe)) return status;
    /* Q' r_vv = (2 / h) (Q' (r(x + h v) - r) / h - R v), and only its first entries matter. */
    for (size_t i = 0; i < f->m; i++) f->probe[i] = (f->probe[i] - f->r[i]) / probe_at;
    for (size_t i = f->m; i < f->rows; i++) f->probe[i] = 0;
    times_q(f, f->rows, f->k, f->jac, f->tau, f->probe);
    times_r(f, f->v, f->a);
    for (size_t j = 0; j < f->k; j++) f->a[j] = -2 / probe_at * (f->probe[j] - f->a[j]);
    if (!wgi_all_finite(f->k, f->a) || !solve_damped(f, f->a)) return WG_OK;
    if (!(scaled_norm(f, f->a) <= bend_limit * scaled_norm(f, f->v))) return WG_OK;
    for (size_t j = 0; j < f->k; j++) f->v[j] += 0.5 * f->a[j];
    *trusted = 1;
    return WG_OK;
}

/* What the linear model promises of the step v. */
static double promise(fit *f) {
    times_r(f, f->v, f->a);
    const double squared = squared_norm(f->k, f->a);
    if (f->is_clipped) return 2 * cblas_ddot(wgi_int(f->k), f->q, 1, f->a, 1) - squared;
    /* |r|^2 - |r + J v|^2 = |R v|^2 + 2 lambda |D v|^2: no difference of large numbers. */
    const double length = scaled_norm(f, f->v);
    return squared + 2 * f->lambda * length * length;
}

/* The gain ratio of a step with the present damping: reduction of |r|^2 over the reduction the
 * linear model promises, or -1 for a step that cannot be had. Sets v, trial_x and trial_r. */
static wg_status try_step(fit *f, double *gain) {
    int trusted = 1;
    *gain = -1;
    damp(f);
    memcpy(f->v, f->q, f->k * sizeof *f->v);
    if (!solve_damped(f, f->v)) return WG_OK;
    clip(f);
    const double promised = promise(f);
    if (!(promised > 0) && f->is_clipped) return WG_OK;
    /* so short by damping that what it gains is not told from rounding */
    if (!(promised > f->noise) && !is_settled(f)) return WG_OK;
    if (!is_settled(f) && !f->is_clipped) {
        const wg_status status = bend(f, &trusted);
        if (status != WG_OK || !trusted) return status;
    }
    const wg_status status = residuals_along(f, 1, f->trial_r);
    if (status != WG_OK) return status;
    double reduced = 0;
    for (size_t i = 0; i < f->m; i++)
        reduced += (f->r[i] - f->trial_r[i]) * (f->r[i] + f->trial_r[i]);
    if (isfinite(reduced)) *gain = (reduced + f->noise) / (promised + f->noise);
    return WG_OK;
}

/* ---- the fit ---- */

/* Steps at one point until one is accepted; *taken 0: there is none. */
static wg_status advance(fit *f, int *taken) {
    double gain, growth = 2;
    *taken = 0;
    for (;;) {
        const wg_status status = try_step(f, &gain);
        if (status != WG_OK) return status;
        if (gain > accept) break;
        f->lambda *= growth;
        growth *= 2;
        go(f, 1);
        if (memcmp(f->trial_x, f->s->x, f->n * sizeof *f->trial_x) == 0 || !isfinite(f->lambda))
            return WG_OK;
    }
    f->lambda *= fmax(fall, 1 - pow(2 * gain - 1, 3));
    *taken = 1;
    return WG_OK;
}

static wg_status iterate(fit *f) {
    wgi_search *const s = f->s;
    double before = INFINITY, value = 0;
    wg_status status = linearise(f);
    for (size_t k = 0; status == WG_OK; k++) {
        if (wgi_search_is_over(s, k, f->lambda)) return WG_OK;
        if (f->q_norm == 0) return wgi_search_end(s, WG_STOP_ROUNDING);
        if (s->o.value > 0 && f->q_norm * f->q_norm <= s->o.value * s->value)
            return wgi_search_end(s, WG_STOP_VALUE);
        if (is_settled(f) && f->q_norm >= before) return wgi_search_end(s, WG_STOP_ROUNDING);
        if (k != 0 && wgi_search_is_settled(s, f->trial_x, value)) return WG_OK;
        before = f->q_norm;
        int taken = 0;
        status = advance(f, &taken);
        if (status != WG_OK) return status;
        if (!taken)
            return wgi_search_end(s, is_settled(f) ? WG_STOP_ROUNDING : WG_STOP_STALLED);
        double *const x = s->x;
        s->x = f->trial_x;
        f->trial_x = x;
        value = s->value;
        status = linearise(f);
        if (status != WG_OK) s->x = x; /* the best point so far */
    }
    return status;
}

/* Standard deviations: row j of R^-1 has the squared norm (J'J)^-1 [j][j]. Overwrites R. */
static void deviations(fit *f, double *deviation) {
    const size_t k = f->k;
    for (size_t j = 0; j < f->n; j++) deviation[j] = (double)NAN;
    if (f->m <= k || f->is_singular || k == 0) return;
    (void)LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', wgi_int(k), f->jac, wgi_int(f->rows));
    for (size_t j = 0; j < k; j++)
        deviation[f->at[j]] =
            sqrt(f->s->value / (double)(f->m - k)) *
            cblas_dnrm2(wgi_int(k - j), f->jac + j + j * f->rows, wgi_int(f->rows));
}

static size_t numbers_of(size_t rows, size_t n) {
    return rows * n + 4 * rows + 2 * n * n + 9 * n + work_of(rows, n);
}

static wg_status method(wgi_search *s) {
    plan *const p = (plan *)s->of;
    const size_t n = s->n, m = p->m, rows = m > n ? m : n;
    s->of = p->to;
    if (s->o.step == 0) s->o.step = DBL_EPSILON;
    fit f = {.s = s, .of = p->to, .m = m, .rows = rows, .n = n};
    f.lambda = s->o.damping != 0 ? s->o.damping : 1e-3;
    f.jac = wgi_search_take(s, rows * n);
    f.r = wgi_search_take(s, rows);
    f.q = wgi_search_take(s, rows);
    f.trial_r = wgi_search_take(s, rows);
    f.probe = wgi_search_take(s, rows);
    f.damped = wgi_search_take(s, 2 * n * n);
    f.v = wgi_search_take(s, 2 * n);
    f.a = wgi_search_take(s, 2 * n);
    f.tau = wgi_search_take(s, n);
    f.tau2 = wgi_search_take(s, n);
    f.scale = wgi_search_take(s, n);
    f.trial_x = wgi_search_take(s, n);
    f.at = (size_t *)(void *)wgi_search_take(s, n);
    f.works = (lapack_int)work_of(rows, n);
    f.work = wgi_search_take(s, (size_t)f.works);
    const wg_status status = iterate(&f);
    if (status != WG_OK) return status;
    const wg_stop why = s->result->why;
    if (f.is_singular && why >= WG_STOP_GRADIENT && why <= WG_STOP_ROUNDING)
        s->result->why = WG_STOP_UNDETERMINED;
    if (p->deviation != NULL) deviations(&f, p->deviation);
    return WG_OK;
}

wg_status wgi_fit(wgi_objective *of, size_t m, size_t n, double *x,
                  const wg_minimise_options *o, wg_minimise_result *result, double *deviation) {
    const size_t rows = m > n ? m : n;
    plan p = {.of = *of, .to = of, .m = m, .deviation = deviation};
    const int fits = n == 0 ? rows <= INT_MAX / 2 : rows <= INT_MAX / 2 / n;
    if (!fits && p.of.refused == WG_OK) {
        p.of.refused = WG_ESHAPE;
        p.of.why = "more residuals times parameters than LAPACK counts";
    }
    return wgi_search_run(&p.of, n, x, o, 1, fits ? numbers_of(rows, n) : 0, method, result);
}

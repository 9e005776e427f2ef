/* SPDX-License-Identifier: MIT */
/* Levenberg-Marquardt on the QR factorisation of the Jacobian.
 *
 * A step v solves  min |J v + r|^2 + lambda |D v|^2,  that is, least squares with the matrix
 * [J; sqrt(lambda) D]. J = Q R is factored once per point, [R; sqrt(lambda) D] (2n-by-n) once
 * per trial. Undamped, a step promises to reduce |r|^2 by |q|^2, where q is Q' (-r).
 *
 * What makes it reach the minimum from far away:
 * - D holds the norms of the columns of J, the largest seen so far but slowly forgotten. With
 * no memory a parameter that has lost its influence runs away; with More's unfading maximum a
 *   start where the model is wildly too large cripples every later step.
 * - The second derivative of r along v (one more evaluation) bends the step along the valley.
 *   A step whose bend is not small against it is not trusted, whatever it gains.
 *
 * What makes it deliver all digits: near the minimum the gain of a step drowns in the rounding
 * of |r|^2, so gains carry an allowance for it, and the end is told by |q|, which has no
 * cancellation: Gauss-Newton steps let it fall until only rounding is left.
 *
 * Letters: m residuals, n parameters, r, J, Q, R, D, q, v the step, a its bend, lambda. */
#include "levenberg_marquardt.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Residuals are taken to be known to this many epsilons of what the parameters, one by one,
 * contribute to them. */
#define ROUNDING 16
/* A diagonal element of R that is this small against its column, times m, is zero. */
#define RANK (4 * DBL_EPSILON)
/* A gain ratio above it accepts the step. */
#define ACCEPT 1e-4
/* Damping falls by at most this factor per step (Nielsen). */
#define DAMPING_FALL (1.0 / 3)
/* What D keeps of its memory per step. */
#define SCALE_KEPT 0.7
/* Where along the step, from 0 to 1, its curvature is probed: short against the step, so that
 * it is local; long enough for rounding not to matter. */
#define PROBE 0.02
/* The largest trusted |D a| / |D v|: half of what its authors take, for which a far start leads
 * to the same minimum more often. */
#define BEND_LIMIT 0.4

struct fit {
    lm_function *f;
    void *ctx;
    size_t m, n;
    double *x, *r, *jac;        /* the point; jac is overwritten by Q and R */
    double *tau;                /* of Q */
    double *q;                  /* the first n of m entries */
    double *scale;              /* D */
    double *damped, *tau2;      /* QR of [R; sqrt(lambda) D], 2n-by-n */
    double *v, *a;              /* step and bend, workspace of 2n each */
    double *trial_x, *trial_r;  /* a point being tried */
    double *probe;              /* m */
    double rss, q_norm, lambda; /* of the point */
    double noise;               /* the part of rss that may be rounding */
    int is_singular;            /* some parameters are not determined */
    struct lm_result count;
};

static double squared_norm(size_t n, const double *x) { return cblas_ddot((int)n, x, 1, x, 1); }

static int all_finite(size_t n, const double *x) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* Residuals and Jacobian at x; from them R, q, D, and what is known of the rounding. */
static lm_status linearise(struct fit *s) {
    const lapack_int m = (lapack_int)s->m, n = (lapack_int)s->n;
    if (s->f(s->ctx, s->n, s->x, s->m, s->r, s->jac) != 0) return LM_ECALLBACK;
    s->rss = squared_norm(s->m, s->r);
    if (!isfinite(s->rss) || !all_finite(s->m * s->n, s->jac)) return LM_ENONFINITE;

    double contributed = s->rss;
    for (size_t j = 0; j < s->n; j++) {
        const double norm = cblas_dnrm2(m, s->jac + j * s->m, 1);
        contributed += norm * s->x[j] * norm * s->x[j];
        s->scale[j] = fmax(norm, SCALE_KEPT * s->scale[j]);
        if (s->scale[j] == 0) s->scale[j] = 1;
        s->a[j] = norm; /* for the look at the rank */
    }
    /* Rounding e of r is 2 |r| e + e^2 of |r|^2; the probe of the bend magnifies e. */
    const double e = ROUNDING * DBL_EPSILON * sqrt(contributed);
    s->noise = 2 * sqrt(s->rss) * e + e / (PROBE * PROBE) * e / (PROBE * PROBE);

    for (size_t i = 0; i < s->m; i++) s->q[i] = -s->r[i];
    if (LAPACKE_dgeqrf(LAPACK_COL_MAJOR, m, n, s->jac, m, s->tau) != 0 ||
        LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'T', m, 1, n, s->jac, m, s->tau, s->q, m) != 0)
        return LM_ENOMEM;
    s->is_singular = 0;
    for (size_t j = 0; j < s->n; j++)
        if (fabs(s->jac[j + j * s->m]) <= RANK * (double)s->m * s->a[j]) {
            s->is_singular = 1;
            s->q[j] = 0; /* its direction is all rounding */
        }
    s->q_norm = cblas_dnrm2(n, s->q, 1);
    return isfinite(s->q_norm) ? LM_CONVERGED : LM_ENONFINITE;
}

/* Is all that a step promises within the rounding of |r|^2? */
static int is_settled(const struct fit *s) { return s->q_norm * s->q_norm <= s->noise; }

/* The QR factorisation of [R; sqrt(lambda) D]. */
static lm_status damp(struct fit *s) {
    const size_t n = s->n, rows = 2 * n;
    memset(s->damped, 0, rows * n * sizeof *s->damped);
    for (size_t j = 0; j < n; j++) {
        memcpy(s->damped + j * rows, s->jac + j * s->m, (j + 1) * sizeof *s->damped);
        s->damped[j * rows + n + j] = sqrt(s->lambda) * s->scale[j];
    }
    return LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)rows, (lapack_int)n, s->damped,
                          (lapack_int)rows, s->tau2) == 0
               ? LM_CONVERGED
               : LM_ENOMEM;
}

/* z that minimises |R z - c|^2 + lambda |D z|^2, where z holds c on entry. */
static lm_status solve_damped(const struct fit *s, double *z) {
    const lapack_int n = (lapack_int)s->n, rows = 2 * n;
    memset(z + s->n, 0, s->n * sizeof *z);
    if (LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'T', rows, 1, n, s->damped, rows, s->tau2, z,
                       rows) != 0)
        return LM_ENOMEM;
    return LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'U', 'N', 'N', n, 1, s->damped, rows, z, rows) == 0
               ? LM_CONVERGED
               : LM_SINGULAR;
}

/* y = R z, n entries. */
static void times_r(const struct fit *s, const double *z, double *y) {
    memcpy(y, z, s->n * sizeof *y);
    cblas_dtrmv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)s->n, s->jac,
                (int)s->m, y, 1);
}

static double scaled_norm(const struct fit *s, const double *z) {
    double sum = 0;
    for (size_t j = 0; j < s->n; j++) sum += s->scale[j] * z[j] * s->scale[j] * z[j];
    return sqrt(sum);
}

/* Residuals at x + h v, into r. */
static lm_status residuals_along(struct fit *s, double h, double *r) {
    for (size_t j = 0; j < s->n; j++) s->trial_x[j] = s->x[j] + h * s->v[j];
    s->count.evaluations++;
    return s->f(s->ctx, s->n, s->trial_x, s->m, r, NULL) == 0 ? LM_CONVERGED : LM_ECALLBACK;
}

/* Adds to the step v half of the bend a = -(J'J + lambda D^2)^-1 J' r_vv, where r_vv is the
 * second derivative of r along v. LM_STALLED: the step is not to be trusted. */
static lm_status bend(struct fit *s) {
    const lapack_int m = (lapack_int)s->m, n = (lapack_int)s->n;
    lm_status status = residuals_along(s, PROBE, s->probe);
    if (status != LM_CONVERGED) return status;
    if (!all_finite(s->m, s->probe)) return LM_STALLED;
    /* Q' r_vv = (2 / h) (Q' (r(x + h v) - r) / h - R v), and only its first n entries matter.
     */
    for (size_t i = 0; i < s->m; i++) s->probe[i] = (s->probe[i] - s->r[i]) / PROBE;
    if (LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'T', m, 1, n, s->jac, m, s->tau, s->probe, m) !=
        0)
        return LM_ENOMEM;
    times_r(s, s->v, s->a);
    for (size_t j = 0; j < s->n; j++) s->a[j] = -2 / PROBE * (s->probe[j] - s->a[j]);
    if (!all_finite(s->n, s->a)) return LM_STALLED;
    status = solve_damped(s, s->a);
    if (status != LM_CONVERGED) return status;
    if (!(scaled_norm(s, s->a) <= BEND_LIMIT * scaled_norm(s, s->v))) return LM_STALLED;
    for (size_t j = 0; j < s->n; j++) s->v[j] += 0.5 * s->a[j];
    return LM_CONVERGED;
}

/* Does a step move no parameter by more than tol, relative? */
static int is_short(const struct fit *s, double tol) {
    for (size_t j = 0; j < s->n; j++)
        if (!(fabs(s->v[j]) <= tol * fabs(s->x[j]))) return 0;
    return 1;
}

/* The gain ratio of a step with the present damping: reduction of |r|^2 over the reduction the
 * linear model promises, or -1 for a step that cannot be had. Sets v, trial_x and trial_r. */
static lm_status try_step(struct fit *s, double *gain) {
    *gain = -1;
    lm_status status = damp(s);
    if (status != LM_CONVERGED) return status;
    memcpy(s->v, s->q, s->n * sizeof *s->v);
    status = solve_damped(s, s->v);
    if (status == LM_SINGULAR) return LM_CONVERGED;
    if (status != LM_CONVERGED) return status;

    /* |r|^2 - |r + J v|^2 = |R v|^2 + 2 lambda |D v|^2: no difference of large numbers. */
    const double length = scaled_norm(s, s->v);
    times_r(s, s->v, s->a);
    const double promised = squared_norm(s->n, s->a) + 2 * s->lambda * length * length;
    if (!is_settled(s)) {
        status = bend(s);
        if (status == LM_STALLED || status == LM_SINGULAR) return LM_CONVERGED;
        if (status != LM_CONVERGED) return status;
    }
    status = residuals_along(s, 1, s->trial_r);
    if (status != LM_CONVERGED) return status;
    double reduced = 0;
    for (size_t i = 0; i < s->m; i++)
        reduced += (s->r[i] - s->trial_r[i]) * (s->r[i] + s->trial_r[i]);
    if (isfinite(reduced)) *gain = (reduced + s->noise) / (promised + s->noise);
    return LM_CONVERGED;
}

static lm_status iterate(struct fit *s, const struct lm_options *opt) {
    double before = INFINITY;
    lm_status status = linearise(s);
    for (int is_last = 0; status == LM_CONVERGED && !is_last;) {
        if (s->q_norm * s->q_norm <= opt->reduction * s->rss) break;
        if (is_settled(s) && s->q_norm >= before) break;
        if (s->count.iterations == opt->iterations) return LM_LIMIT;
        before = s->q_norm;

        double gain, growth = 2;
        for (;;) {
            status = try_step(s, &gain);
            if (status != LM_CONVERGED) return status;
            if (gain > ACCEPT) break;
            s->lambda *= growth;
            growth *= 2;
            if (memcmp(s->trial_x, s->x, s->n * sizeof *s->x) == 0 || !isfinite(s->lambda))
                return is_settled(s) ? LM_CONVERGED : LM_STALLED;
        }
        s->lambda *= fmax(DAMPING_FALL, 1 - pow(2 * gain - 1, 3));
        is_last = is_short(s, opt->step);
        memcpy(s->x, s->trial_x, s->n * sizeof *s->x);
        s->count.iterations++;
        status = linearise(s);
    }
    return status;
}

/* Standard deviations: row j of R^-1 has the squared norm (J'J)^-1 [j][j]. Overwrites R. */
static lm_status deviations(struct fit *s, double *deviation) {
    const lapack_int m = (lapack_int)s->m, n = (lapack_int)s->n;
    const int is_known = s->m > s->n && !s->is_singular;
    if (is_known && LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'U', 'N', n, s->jac, m) != 0)
        return LM_ENOMEM;
    for (size_t j = 0; j < s->n; j++)
        deviation[j] = is_known ? sqrt(s->rss / (double)(s->m - s->n)) *
                                      cblas_dnrm2((int)(s->n - j), s->jac + j + j * s->m, m)
                                : (double)NAN;
    return LM_CONVERGED;
}

/* The next n numbers of the workspace. */
static double *take(double **top, size_t n) {
    double *p = *top;
    *top += n;
    return p;
}

lm_status lm_fit(lm_function *f, void *ctx, size_t m, size_t n, double *x,
                 const struct lm_options *opt, struct lm_result *result, double *deviation) {
    if (f == NULL || x == NULL || n == 0 || m < n || m > INT_MAX / 2 / n) return LM_EARG;
    struct lm_options o = {0};
    if (opt != NULL) o = *opt;
    if (o.iterations == 0) o.iterations = 1000;
    if (o.damping == 0) o.damping = 1e-3;
    if (o.step == 0) o.step = DBL_EPSILON;

    double *memory = calloc(m * n + 4 * m + 2 * n * n + 8 * n, sizeof *memory);
    if (memory == NULL) return LM_ENOMEM;
    double *top = memory;
    struct fit s = {.f = f, .ctx = ctx, .m = m, .n = n, .x = x, .lambda = o.damping};
    s.jac = take(&top, m * n);
    s.r = take(&top, m);
    s.q = take(&top, m);
    s.trial_r = take(&top, m);
    s.probe = take(&top, m);
    s.damped = take(&top, 2 * n * n);
    s.v = take(&top, 2 * n);
    s.a = take(&top, 2 * n);
    s.tau = take(&top, n);
    s.tau2 = take(&top, n);
    s.scale = take(&top, n);
    s.trial_x = take(&top, n);

    lm_status status = iterate(&s, &o);
    if (status <= LM_STALLED) {
        if (result != NULL) {
            *result = s.count;
            result->rss = s.rss;
            result->offset = s.rss > 0 ? s.q_norm / sqrt(s.rss) : 0;
        }
        if (status == LM_CONVERGED && s.is_singular) status = LM_SINGULAR;
        if (deviation != NULL && deviations(&s, deviation) != LM_CONVERGED) status = LM_ENOMEM;
    }
    free(memory);
    return status;
}

const char *lm_status_text(lm_status s) {
#define LM_STATUS_TEXT(name, text) text,
    static const char *const texts[] = {LM_STATUS_LIST(LM_STATUS_TEXT)};
#undef LM_STATUS_TEXT
    return (size_t)s < sizeof texts / sizeof texts[0] ? texts[s] : "unknown status";
}

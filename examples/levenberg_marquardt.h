/* SPDX-License-Identifier: MIT */
/* Levenberg-Marquardt: parameters x that make the sum of squares of m residuals smallest.
 *
 * Reusable: knows nothing of tapes or of problems. Needs LAPACKE and CBLAS.
 * Sources: More 1978 (scaling); Nielsen 1999 (damping); Transtrum, Sethna 2012 (geodesic
 * acceleration); Conn, Gould, Toint 2000, 17.4.2 (rounding); Bates, Watts 1981 (offset). */
#ifndef LEVENBERG_MARQUARDT_H
#define LEVENBERG_MARQUARDT_H

#include <stddef.h>

/* lm_function - the residuals r (m) at x (n), and, unless jac is NULL, their Jacobian, m-by-n
 * column-major without gaps. Residuals that are not finite make a trial step fail, no more.
 * Returns 0, or nonzero to give up. */
typedef int lm_function(void *ctx, size_t n, const double *x, size_t m, double *r, double *jac);

#define LM_STATUS_LIST(X)                                                                      \
    X(CONVERGED, "converged")                                                                  \
    X(LIMIT, "iteration limit")                                                                \
    X(STALLED, "stalled: no step makes the sum of squares smaller")                            \
    X(SINGULAR, "converged to a point where the parameters are not determined")                \
    X(EARG, "m < n, n = 0, or sizes beyond LAPACK's")                                          \
    X(ENOMEM, "out of memory")                                                                 \
    X(ECALLBACK, "the residual function gave up")                                              \
    X(ENONFINITE, "residuals or Jacobian are not finite")

#define LM_STATUS_ENUM(name, text) LM_##name,
typedef enum lm_status { LM_STATUS_LIST(LM_STATUS_ENUM) LM_STATUS_COUNT } lm_status;
#undef LM_STATUS_ENUM

/* lm_status_text - the text of a status; never NULL. */
const char *lm_status_text(lm_status s);

/* Zeros: the defaults. */
struct lm_options {
    size_t iterations; /* at most this many steps; 0: 1000 */
    double damping;    /* the first one, relative to the columns of the Jacobian; 0: 1e-3 */
    double reduction;  /* converged when a Gauss-Newton step promises to reduce the sum of
                          squares by less than this, relative; 0: go on until rounding ends it */
    double step;       /* converged when a step moves no parameter by more than this, relative;
                          0: the machine epsilon */
};

struct lm_result {
    size_t iterations;  /* accepted steps, a Jacobian each */
    size_t evaluations; /* residuals without Jacobian */
    double rss;         /* sum of squares */
    double offset;      /* cosine of the angle between the residual and the tangent plane */
};

/* lm_fit - a local minimum of |r(x)|^2 near x, which is overwritten.
 * Shapes: x n; deviation n, or NULL: standard deviations of the parameters,
 *         sqrt(rss / (m - n) diag((J'J)^-1)); NaN for m = n and where they are not determined.
 * Cost:   per step one Jacobian, one QR of m-by-n, a few of 2n-by-n; memory of two Jacobians.
 * Status: the first four leave a usable x, result and deviation; result may be NULL. */
lm_status lm_fit(lm_function *f, void *ctx, size_t m, size_t n, double *x,
                 const struct lm_options *opt, struct lm_result *result, double *deviation);

#endif

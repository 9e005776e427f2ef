/* SPDX-License-Identifier: MIT */
/* lbfgs.c - libLBFGS's callbacks over a problem. */
#include "wengert/lbfgs.h"
#include <math.h>

_Static_assert(sizeof(lbfgsfloatval_t) == sizeof(double), "a libLBFGS of doubles");

lbfgsfloatval_t wg_lbfgs_evaluate(void *problem, const lbfgsfloatval_t *x, lbfgsfloatval_t *g,
                                  const int n, const lbfgsfloatval_t step) {
    double value;
    (void)step;
    if (n < 0 || wg_problem_inputs(problem) != (size_t)n)
        (void)wg_problem_keep(problem, WG_ESHAPE,
                              "lbfgs: as many variables as the problem has inputs");
    else if (wg_problem_gradient(problem, x, &value, g) == WG_OK) return value;
    for (int i = 0; i < n; i++) g[i] = NAN;
    return HUGE_VAL;
}

int wg_lbfgs_progress(void *problem, const lbfgsfloatval_t *x, const lbfgsfloatval_t *g,
                      const lbfgsfloatval_t fx, const lbfgsfloatval_t xnorm,
                      const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n, int k,
                      int ls) {
    const wg_status s = wg_problem_status(problem);
    (void)x, (void)g, (void)fx, (void)xnorm, (void)gnorm, (void)step, (void)n, (void)k,
        (void)ls;
    return s == WG_OK || s == WG_ENONFINITE ? 0 : LBFGSERR_CANCELED;
}

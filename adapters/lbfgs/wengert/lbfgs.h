/* SPDX-License-Identifier: MIT */
/* libLBFGS: the callbacks of lbfgs(), with a wg_problem of one output as instance:
 *
 *     lbfgs(n, x, &value, wg_lbfgs_evaluate, wg_lbfgs_progress, p, NULL);
 *
 * At a point with a NaN or an infinity the value is +infinity and the gradient NaN: line
 * searches by backtracking (LBFGS_LINESEARCH_BACKTRACKING and its kin) step back from there,
 * that of More and Thuente gives up. */
#ifndef WENGERT_LBFGS_H
#define WENGERT_LBFGS_H

#include <lbfgs.h>
#include <wengert/problem.h>

WG_BEGIN_DECLS

/* wg_lbfgs_evaluate - lbfgs_evaluate_t: the value, and the gradient in g. */
WG_API lbfgsfloatval_t wg_lbfgs_evaluate(void *problem, const lbfgsfloatval_t *x,
                                         lbfgsfloatval_t *g, const int n,
                                         const lbfgsfloatval_t step);
/* wg_lbfgs_progress - lbfgs_progress_t: stops after a failure that no other point mends, with
 * LBFGSERR_CANCELED. */
WG_API int wg_lbfgs_progress(void *problem, const lbfgsfloatval_t *x, const lbfgsfloatval_t *g,
                             const lbfgsfloatval_t fx, const lbfgsfloatval_t xnorm,
                             const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n,
                             int k, int ls);

WG_END_DECLS

#endif

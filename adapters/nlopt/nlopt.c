/* SPDX-License-Identifier: MIT */
/* nlopt.c - NLopt's callbacks over a problem. The optimiser that a failure stops is attached
 * to it. */
#include "wengert/nlopt.h"
#include <math.h>

static void fill(double *to, size_t n, double value) {
    for (size_t i = 0; to != NULL && i < n; i++) to[i] = value;
}

/* The optimiser is its owner's to destroy. */
static void not_ours(void *optimiser) { (void)optimiser; }

/* After a failure: derivatives that nobody takes for some, and a stop, unless another point
 * may be better. */
static void failed(wg_problem *p, wg_status s, double *derivatives, size_t count) {
    const nlopt_opt o = wg_problem_attached(p, not_ours);
    fill(derivatives, count, NAN);
    if (s != WG_ENONFINITE && o != NULL) nlopt_force_stop(o);
}

/* Are these the sizes of the problem? The setters have seen to it; others may have put the
 * callbacks in place. */
static wg_status sizes(wg_problem *p, size_t m, size_t n) {
    return p == NULL ? WG_ENULL
           : wg_problem_inputs(p) == n && wg_problem_outputs(p) == m
               ? WG_OK
               : wg_problem_keep(p, WG_ESHAPE,
                                 "nlopt: a callback of other sizes than the problem's");
}

double wg_nlopt_function(unsigned n, const double *x, double *gradient, void *problem) {
    double value;
    wg_status s = sizes(problem, 1, n);
    if (s == WG_OK)
        s = gradient == NULL ? wg_problem_value(problem, x, &value)
                             : wg_problem_gradient(problem, x, &value, gradient);
    if (s == WG_OK) return value;
    failed(problem, s, gradient, n);
    return HUGE_VAL;
}

/* For a maximum. */
static double wanted_large(unsigned n, const double *x, double *gradient, void *problem) {
    const double value = wg_nlopt_function(n, x, gradient, problem);
    return value == HUGE_VAL ? -HUGE_VAL : value;
}

void wg_nlopt_functions(unsigned m, double *result, unsigned n, const double *x,
                        double *gradient, void *problem) {
    wg_status s = sizes(problem, m, n);
    if (s == WG_OK) s = wg_problem_value(problem, x, result);
    if (s == WG_OK && gradient != NULL)
        s = wg_problem_jacobian(problem, 0, x, WG_ROW_MAJOR, gradient, n);
    if (s == WG_OK) return;
    failed(problem, s, gradient, (size_t)m * n);
    fill(result, m, HUGE_VAL);
}

void wg_nlopt_hessian(unsigned n, const double *x, const double *v, double *hv, void *problem) {
    wg_status s = sizes(problem, 1, n);
    if (s == WG_OK) s = wg_problem_hvp(problem, x, v, hv);
    if (s != WG_OK) failed(problem, s, hv, n);
}

static int fits(nlopt_opt o, wg_problem *p, int objective) {
    return o != NULL && p != NULL && wg_problem_inputs(p) == nlopt_get_dimension(o) &&
           (!objective || wg_problem_outputs(p) == 1);
}

nlopt_result wg_nlopt_min_objective(nlopt_opt o, wg_problem *p) {
    if (!fits(o, p, 1)) return NLOPT_INVALID_ARGS;
    wg_problem_attach(p, o, not_ours);
    return nlopt_set_min_objective(o, wg_nlopt_function, p);
}
nlopt_result wg_nlopt_max_objective(nlopt_opt o, wg_problem *p) {
    if (!fits(o, p, 1)) return NLOPT_INVALID_ARGS;
    wg_problem_attach(p, o, not_ours);
    return nlopt_set_max_objective(o, wanted_large, p);
}
nlopt_result wg_nlopt_preconditioned(nlopt_opt o, wg_problem *p) {
    if (!fits(o, p, 1)) return NLOPT_INVALID_ARGS;
    wg_problem_attach(p, o, not_ours);
    return nlopt_set_precond_min_objective(o, wg_nlopt_function, wg_nlopt_hessian, p);
}
nlopt_result wg_nlopt_inequality(nlopt_opt o, wg_problem *p, const double *tol) {
    if (!fits(o, p, 0)) return NLOPT_INVALID_ARGS;
    wg_problem_attach(p, o, not_ours);
    return nlopt_add_inequality_mconstraint(o, (unsigned)wg_problem_outputs(p),
                                            wg_nlopt_functions, p, tol);
}
nlopt_result wg_nlopt_equality(nlopt_opt o, wg_problem *p, const double *tol) {
    if (!fits(o, p, 0)) return NLOPT_INVALID_ARGS;
    wg_problem_attach(p, o, not_ours);
    return nlopt_add_equality_mconstraint(o, (unsigned)wg_problem_outputs(p),
                                          wg_nlopt_functions, p, tol);
}

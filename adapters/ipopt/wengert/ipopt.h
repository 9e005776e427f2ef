/* SPDX-License-Identifier: MIT */
/* Ipopt: nonlinear programmes, min f(x) where xl <= x <= xu and gl <= g(x) <= gu, with sparse
 * exact first and second derivatives. For Ipopt's C interface of 3.11 to 3.14.
 *
 * The problem is Ipopt's own: options are set, and it can be solved, by Ipopt's calls. */
#ifndef WENGERT_IPOPT_H
#define WENGERT_IPOPT_H

#include <IpStdCInterface.h>
#include <wengert/problem.h>

WG_BEGIN_DECLS

typedef struct wg_ipopt wg_ipopt;

/* What is to be solved. Bounds are those of Ipopt, so that infinities are none; NULL: none at
 * all. Scalings are factors; NULL and 0: those that Ipopt finds. Arrays are copied, but for
 * parameters. */
typedef struct wg_ipopt_problem {
    size_t n, m;              /* variables, constraints */
    wg_callback *objective;   /* one output */
    wg_callback *constraints; /* m outputs; NULL where m is 0 */
    /* In place of both: 1 + m outputs, the objective and then the constraints. Each of the two
     * is then recorded with the other, but with WG_RECORD_ONCE. */
    wg_callback *callback;
    void *data; /* of callbacks */
    /* In place of callbacks: its inputs of n entries in all, and as outputs the objective, of
     * one entry, and the constraints. It outlives the problem. */
    const wg_function *function;
    const double
        *start; /* n: a point in the domain, where derivatives have their patterns found */
    const double *lower, *upper;                       /* of x, n */
    const double *constraint_lower, *constraint_upper; /* of g, m */
    double objective_scaling;
    const double *scaling, *constraint_scaling; /* n, m */
    unsigned flags;                             /* WG_RECORD_ONCE, WG_COMPILE */
    /* Numbers that may change between two solutions, and where they stand, as of a
     * wg_computation: callbacks see n + parameters inputs, of a function they are those that are
     * WG_PASSIVE. */
    size_t parameters;
    const double *parameter;
} wg_ipopt_problem;

/* wg_ipopt_new - patterns are found, and Ipopt's problem is made. NULL: out of memory;
 * otherwise its status says whether it can be solved: WG_ENULL, WG_EARG (sizes beyond those of
 * int; not one of function and callbacks; Ipopt refuses), WG_ESHAPE, what callbacks and
 * drivers return. */
WG_API wg_ipopt *wg_ipopt_new(const wg_ipopt_problem *p);
/* wg_ipopt_free - and Ipopt's problem with it. NULL is allowed. */
WG_API void wg_ipopt_free(wg_ipopt *s);

/* wg_ipopt_handle - Ipopt's problem, for its options: AddIpoptNumOption(wg_ipopt_handle(s),
 * "tol", 1e-9). Whoever calls IpoptSolve on it, to start warm say, gives s as user data. NULL:
 * s cannot be used. */
WG_API IpoptProblem wg_ipopt_handle(const wg_ipopt *s);

/* wg_ipopt_solve - from x (n) to a solution, which takes its place; *value: the objective
 * there. Where not NULL, multipliers: those of the constraints, m.
 * Result:  Ipopt's. Where a point cannot be evaluated, the callbacks give false, and Ipopt
 *          takes a shorter step, or ends with Invalid_Number_Detected. A problem whose
 *          wg_ipopt_new failed: Invalid_Problem_Definition. */
WG_API enum ApplicationReturnStatus wg_ipopt_solve(wg_ipopt *s, double *x, double *value,
                                                   double *multipliers);

/* wg_ipopt_status, wg_ipopt_message - what failed last since wg_ipopt_new or the last
 * wg_ipopt_solve began; WG_OK and "" when nothing did. A NaN does not take the place of
 * another failure. NULL: WG_ENOMEM. */
WG_API wg_status wg_ipopt_status(const wg_ipopt *s);
WG_API const char *wg_ipopt_message(const wg_ipopt *s);

/* wg_ipopt_data - the data of the problem, for callbacks of Ipopt's that get s
 * (SetIntermediateCallback). */
WG_API void *wg_ipopt_data(const wg_ipopt *s);

WG_END_DECLS

#endif

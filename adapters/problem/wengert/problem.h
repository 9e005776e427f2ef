/* SPDX-License-Identifier: MIT */
/* Problems: what solvers ask for, of a callback or a function, through one object.
 *
 * A wg_problem is a function of n inputs with m outputs, and all that its derivatives need:
 * tape, workspace, patterns. The adapters of solvers take one as their user data, and turn the
 * solver's callbacks into the calls below, which also serve whoever has a solver without an
 * adapter. It is used by one thread at a time; a function that it was made from may be used
 * by many. */
#ifndef WENGERT_PROBLEM_H
#define WENGERT_PROBLEM_H

#include <wengert/drivers.h>
#include <wengert/function.h>
#include <wengert/sparsity.h>

WG_BEGIN_DECLS

typedef struct wg_problem wg_problem;

enum {
    WG_RECORD_ONCE =
        1, /* the callback records the same at all points, up to recorded comparisons
                           (wg_check_branches): it is recorded once, as a function. Where a
                           comparison comes out differently it is recorded there, for that point */
    WG_COMPILE =
        2 /* the same, and functions, also a given one and its derivatives, are compiled where
                           there is a compiler (wengert/emit.h): by wg_function_compile_point, those of more
                           than 4000 operations, and sparse derivatives, by wg_function_compile. That takes
                           some 100 ms for each of them, when it is done for the first time */
};

/* What is to be differentiated: a callback with its data, or a function. */
typedef struct wg_computation {
    size_t n, m;
    wg_callback *callback; /* recorded at every point, unless the flags say otherwise */
    void *data;
    /* NULL, or what stands in place of a callback: its inputs and outputs, of n and m entries
     * in all, one after the other. It outlives the problem. Where a comparison comes out
     * differently: WG_EGUARD */
    const wg_function *function;
    /* The sizes of groups of inputs that derivatives are asked for by; they add up to n. 0: one
     * group of all. Those of a function are its inputs. */
    size_t groups;
    const size_t *group;
    /* n numbers: a point in the domain, where patterns are found and functions recorded. NULL:
     * the first point that a derivative is asked for. */
    const double *x;
    unsigned flags; /* WG_RECORD_ONCE | WG_COMPILE */
    /* Numbers by which nothing is differentiated, and where they stand: read at each call, so
     * that they may be changed between two solutions, also where the callback is recorded once.
     * A callback sees n + parameters inputs, these last; of a function they are the inputs that
     * are WG_PASSIVE, wherever these stand. */
    size_t parameters;
    const double *parameter;
} wg_computation;

/* wg_problem_new - what c points at is copied, but for data, function, parameters and what they
 * refer to. NULL: out of memory; otherwise its status says whether it can be used: WG_ENULL,
 * WG_EARG (flags, a passive input where there are no parameters), WG_ESHAPE (groups or a function
 * that do not fit n, m and parameters), or what recording returned. */
WG_API wg_problem *wg_problem_new(const wg_computation *c);
/* wg_problem_free - NULL is allowed. */
WG_API void wg_problem_free(wg_problem *p);

/* wg_problem_status, wg_problem_message - the last failure since wg_problem_new or
 * wg_problem_clear, and what it was; WG_OK and "" when there was none. Solvers go on after a
 * NaN (WG_ENONFINITE), by a shorter step: ask when the solver has failed. It does not take the
 * place of another failure. NULL: WG_ENOMEM. */
WG_API wg_status wg_problem_status(const wg_problem *p);
WG_API const char *wg_problem_message(const wg_problem *p);
/* wg_problem_clear - forgets the failure; that of wg_problem_new stays. */
WG_API void wg_problem_clear(wg_problem *p);

/* wg_problem_attach - what an adapter keeps with a problem. release (or NULL) is called with it
 * when something else is attached, and by wg_problem_free.
 * wg_problem_attached - that, for who attached it: NULL where it came with another release, so
 * that no adapter takes for its own what the one before has left. */
WG_API void wg_problem_attach(wg_problem *p, void *kept, void (*release)(void *kept));
WG_API void *wg_problem_attached(const wg_problem *p, void (*release)(void *kept));

/* wg_problem_room - the same, as room of so many bytes that the adapter keeps with the problem:
 * what is attached with that release, or else, attached by this call, all zeros, from calloc;
 * release frees it. NULL: p is, or out of memory, which the problem keeps. */
WG_API void *wg_problem_room(wg_problem *p, size_t bytes, void (*release)(void *kept));

/* wg_problem_keep - a failure of the adapter's own, kept like those of the problem. Result:
 * s. */
WG_API wg_status wg_problem_keep(wg_problem *p, wg_status s, const char *message);

/* The sizes: inputs, without parameters; outputs; inputs of a group. NULL, or no such group:
 * 0. */
WG_API size_t wg_problem_inputs(const wg_problem *p);
WG_API size_t wg_problem_outputs(const wg_problem *p);
WG_API size_t wg_problem_group(const wg_problem *p, size_t group);
/* wg_problem_parameters - where the parameters of the computation stand, and in *count how many
 * there are. NULL: none. */
WG_API const double *wg_problem_parameters(const wg_problem *p, size_t *count);

/* ---- values and derivatives at x ----------------------------------------------------------
 * Outputs that are NULL are not wanted; y has m entries. Failures are kept by the problem, and
 * leave what is in the outputs undefined.
 * Errors, of all: WG_ENULL; WG_ENONFINITE: a result is NaN or infinite, the message says which;
 * what the callback returned, and what the drivers or evaluation return. */

/* wg_problem_value - y = f(x). */
WG_API WG_MUST_CHECK wg_status wg_problem_value(wg_problem *p, const double *x, double *y);
/* wg_problem_gradient - the value and the gradient g (n), for m = 1 (else WG_ESHAPE). */
WG_API WG_MUST_CHECK wg_status wg_problem_gradient(wg_problem *p, const double *x,
                                                   double *value, double *g);
/* wg_problem_jacobian - dy/dx by the inputs of a group, in the layout and with the leading
 * dimension given as of wg_jacobian. */
WG_API WG_MUST_CHECK wg_status wg_problem_jacobian(wg_problem *p, size_t group, const double *x,
                                                   wg_layout layout, double *jac, size_t ld);
/* wg_problem_jvp - y, and J v for v of n;  wg_problem_vjp - y, and g = J' w of n, for w of m. */
WG_API WG_MUST_CHECK wg_status wg_problem_jvp(wg_problem *p, const double *x, const double *v,
                                              double *y, double *jv);
WG_API WG_MUST_CHECK wg_status wg_problem_vjp(wg_problem *p, const double *x, const double *w,
                                              double *y, double *g);
/* wg_problem_hvp - H v, for m = 1 (else WG_ESHAPE). */
WG_API WG_MUST_CHECK wg_status wg_problem_hvp(wg_problem *p, const double *x, const double *v,
                                              double *hv);
/* wg_problem_second - the second derivative of every output along v: a[j] = v' H_j v.
 * Cost:    of a callback m products with a Hessian on one recording; of a function one
 *          evaluation. */
WG_API WG_MUST_CHECK wg_status wg_problem_second(wg_problem *p, const double *x,
                                                 const double *v, double *a);

/* ---- sparse -------------------------------------------------------------------------------
 * The pattern first, found once; the values later, in its order. */

/* wg_problem_jacobian_pattern - of dy/dx by the inputs of a group; columns are counted from the
 * first of them. Rows first, or columns, as the layout has it. A problem has one pattern: that
 * of the first call.
 * x:       where it is found, unless the computation has said so. The pattern of a callback
 *          that has been recorded, once, is that of the recording, at its point and parameters.
 * Errors:  WG_EARG: another group or layout than before. *out is NULL. */
WG_API WG_MUST_CHECK wg_status wg_problem_jacobian_pattern(wg_problem *p, size_t group,
                                                           const double *x, wg_layout layout,
                                                           const wg_pattern **out);
/* wg_problem_hessian_pattern - of the Hessian of the sum of w y, lower triangle, by columns. */
WG_API WG_MUST_CHECK wg_status wg_problem_hessian_pattern(wg_problem *p, const double *x,
                                                          const wg_pattern **out);
/* wg_problem_sparse_jacobian, wg_problem_sparse_hessian - the entries of the patterns.
 * Errors:  WG_EMODE: no pattern was asked for; WG_EMISMATCH: an entry outside of it. */
WG_API WG_MUST_CHECK wg_status wg_problem_sparse_jacobian(wg_problem *p, const double *x,
                                                          double *y, double *values);
WG_API WG_MUST_CHECK wg_status wg_problem_sparse_hessian(wg_problem *p, const double *x,
                                                         const double *w, double *values);

WG_END_DECLS

#endif

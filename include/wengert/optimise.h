/* SPDX-License-Identifier: MIT */
/* Optimisers, for who has no solver: a local minimum of an objective, or of a sum of squares,
 * from the callbacks that drivers take; and steps of descent for loops of the user's own.
 *
 *     wg_minimise_result r;
 *     wg_minimise(t, f, data, n, x, NULL, &r);        L-BFGS from x, which becomes the minimum
 *     printf("%g: %s\n", r.value, wg_stop_text(r.why));
 *
 * The tape is workspace, left empty and in its mode, as by a driver. What a search needs beside
 * is obtained once, at its beginning, through the memory callbacks of the tape and of its
 * budget; after the first iteration nothing is allocated.
 *
 * WG_OK says that the search came to an end, not that there is a minimum: why it ended is in
 * the result, and `converged` is 1 where that means a minimum. A failure of the user's
 * statements is returned as from a driver; x is then the best point before that, and the result
 * says so. Where the value or a derivative is NaN or infinite, a line search, a trust region, a
 * damped step is made shorter; at the start, and in descent, that is WG_ENONFINITE.
 *
 * Errors, of all searches: those of the drivers; WG_ENULL; WG_EARG: an option out of its range,
 * x not within its bounds: the message says which; WG_ENOMEM, WG_EBUDGET. x is untouched if the
 * first evaluation failed. */
#ifndef WENGERT_OPTIMISE_H
#define WENGERT_OPTIMISE_H

#include <wengert/function.h>
#include <wengert/matrix_drivers.h>

WG_BEGIN_DECLS

/* ---- steps of descent -------------------------------------------------------------------- */

/* What a step does with the gradient g, at the rate r; v, m, s are the state, 0 at first:
 *   plain     x -= r g
 *   momentum  v = momentum v - r g;  x += v                          Polyak 1964
 *   Nesterov  the same, x += momentum v - r g: x is ahead by a step  Sutskever et al. 2013
 *   RMSProp   s = beta2 s + (1 - beta2) g^2;  x -= r g / (sqrt s + small)         Hinton 2012
 *   Adam      m = beta1 m + (1 - beta1) g, s as before, both divided by 1 - beta^(step + 1) where
 *             they are used;  x -= r m / (sqrt s + small)             Kingma, Ba 2015
 *   Adagrad   s += g^2;  x -= r g / (sqrt s + small)                  Duchi, Hazan, Singer 2011 */
#define WG_RULE_LIST(X)                                                                        \
    X(PLAIN, "gradient descent")                                                               \
    X(MOMENTUM, "momentum")                                                                    \
    X(NESTEROV, "Nesterov")                                                                    \
    X(RMSPROP, "RMSProp")                                                                      \
    X(ADAM, "Adam")                                                                            \
    X(ADAGRAD, "Adagrad")

/* The rate of step k, relative to the first one; j steps come after those of the warm-up, in
 * which it grows as (k + 1) / (warmup + 1):
 *   constant     1
 *   steps        decay^floor(j / period)
 *   exponential  decay^(j / period)
 *   cosine       (1 + cos(pi j / period)) / 2, then 0                 Loshchilov, Hutter 2017 */
#define WG_SCHEDULE_LIST(X) X(CONSTANT) X(STEPS) X(EXPONENTIAL) X(COSINE)

#define WGI_RULE_ENUM(name, text) WG_##name,
#define WGI_SCHEDULE_ENUM(name) WG_RATE_##name,
typedef enum wg_rule { WG_RULE_LIST(WGI_RULE_ENUM) WG_RULE_COUNT } wg_rule;
typedef enum wg_schedule { WG_SCHEDULE_LIST(WGI_SCHEDULE_ENUM) WG_SCHEDULE_COUNT } wg_schedule;
#undef WGI_RULE_ENUM
#undef WGI_SCHEDULE_ENUM

/* Zeros: the defaults. */
typedef struct wg_descent {
    wg_rule rule;
    double rate; /* 0: 0.01 */
    wg_schedule schedule;
    double decay;  /* 0: 0.5 */
    size_t period; /* steps; 0: in a search those up to its limit */
    size_t warmup; /* steps */
    double (*rate_of)(void *context, size_t step); /* or NULL: in the place of all these */
    void *context;
    double momentum;     /* below 1; 0: 0.9 */
    double beta1, beta2; /* below 1; 0: 0.9, and 0.999, of RMSProp 0.9 */
    double small;        /* 0: 1e-8 */
    double clip_value;   /* no entry of the gradient is taken for larger; 0: as it is */
    double clip_norm;    /* then the gradient is not taken for longer; 0: as it is */
} wg_descent;

/* wg_descent_rate - the rate of a step, the first one being 0. NaN: o is out of its range. */
WG_API double wg_descent_rate(const wg_descent *o, size_t step);
/* wg_descent_numbers - how many numbers of state a rule has for n variables: 0, n or 2 n. */
WG_API size_t wg_descent_numbers(const wg_descent *o, size_t n);
/* wg_descent_step - x is moved by step number `step`, against the gradient g, which the user
 * has from where he likes; the state is his, all 0 before step 0. o NULL: the defaults.
 * wg_mat_descent_step - the same of n matrices, whose gradients are one: for wg_mat_gradient.
 * Shapes:  x, g of n, state of wg_descent_numbers;  g[i] as x[i], state of wg_descent_numbers of
 *          all their elements. x, g and state do not overlap.
 * Errors:  WG_ENULL; WG_EARG: an option out of its range, or a schedule without a period;
 *          WG_ESHAPE; WG_ENONFINITE: the gradient or the rate is NaN or infinite. x and state
 *          are then as they were. */
WG_API WG_MUST_CHECK wg_status wg_descent_step(const wg_descent *o, size_t step, size_t n,
                                               double *x, const double *g, double *state);
WG_API WG_MUST_CHECK wg_status wg_mat_descent_step(const wg_descent *o, size_t step, size_t n,
                                                   const wg_mat_result *x,
                                                   const wg_mat_result *g, double *state);

/* ---- searches ---------------------------------------------------------------------------- */

/* How wg_minimise goes on:
 *   L-BFGS     quasi-Newton steps of the last `memory` pairs, a line search to the strong Wolfe
 *              conditions with cubic interpolation   Nocedal, Wright 2006, 7.5, 7.4, 3.5, 3.6
 *   Newton-CG  a trust region, its step by conjugate gradients on products with the Hessian, to its
 *              border where the curvature is not positive                     Steihaug 1983
 *   descent    a step of wg_descent for each gradient; the last point is the result */
#define WG_METHOD_LIST(X)                                                                      \
    X(LBFGS, "L-BFGS")                                                                         \
    X(NEWTON_CG, "Newton-CG")                                                                  \
    X(DESCENT, "descent")

/* Why a search ended. */
#define WG_STOP_LIST(X)                                                                        \
    X(FAILURE, "an evaluation failed, or nothing was evaluated")                               \
    X(GRADIENT, "the gradient is small enough")                                                \
    X(STEP, "a step was short enough")                                                         \
    X(VALUE, "a step lowered the value by little enough")                                      \
    X(ROUNDING, "what can still be gained is not told from rounding")                          \
    X(UNDETERMINED, "a minimum at which not all parameters are determined")                    \
    X(LIMIT, "the iteration limit")                                                            \
    X(PROGRESS, "the callback for progress stopped it")                                        \
    X(STALLED, "no lower value was found, although the gradient promises one")

#define WGI_METHOD_ENUM(name, text) WG_##name,
#define WGI_STOP_ENUM(name, text) WG_STOP_##name,
typedef enum wg_method { WG_METHOD_LIST(WGI_METHOD_ENUM) WG_METHOD_COUNT } wg_method;
typedef enum wg_stop { WG_STOP_LIST(WGI_STOP_ENUM) WG_STOP_COUNT } wg_stop;
#undef WGI_METHOD_ENUM
#undef WGI_STOP_ENUM

/* The texts of these lists; never NULL, also for values that are not in them. */
WG_API const char *wg_rule_text(wg_rule r);
WG_API const char *wg_method_text(wg_method m);
WG_API const char *wg_stop_text(wg_stop s);

/* One entry of the history: step 0 is the start. */
typedef struct wg_minimise_step {
    size_t step, evaluations; /* of the objective or the residuals, so far */
    double value;             /* of wg_fit: the sum of squares */
    double gradient;          /* the norm of the projected gradient, before clipping */
    double rate;              /* L-BFGS: the length factor that led here; Newton-CG: the radius;
                                 descent: the rate of the step that leads away; wg_fit: damping */
} wg_minimise_step;

/* Sees every step as it is taken, and may use the tape. Returns 0, or nonzero to stop. */
typedef int wg_minimise_progress(void *context, const wg_minimise_step *s, size_t n,
                                 const double *x);

/* Zeros: the defaults. With bounds the projected gradient is what is left of the gradient where
 * x - gradient is moved into them; a search never evaluates outside of them. */
typedef struct wg_minimise_options {
    wg_method method; /* not of wg_fit */
    size_t limit;     /* steps; 0: 1000 */
    double gradient;  /* converged where the norm of the projected gradient is at most this;
                                   0: 1e-8 of what it is at the start, wg_fit: not looked at;
                                   negative: not looked at */
    double step;      /* converged after a step that moves no variable by more than this times
                                   the variable; 0: not looked at, wg_fit: DBL_EPSILON */
    double value;     /* converged after a step that lowers the value by no more than this
                                   times the value, wg_fit: or where no more is promised; 0: not
                                   looked at */
    const double *lower, *upper; /* of n; NULL, or an infinity: no bound */
    size_t memory;               /* L-BFGS: pairs; 0: 10 */
    wg_descent descent;          /* descent */
    double damping; /* wg_fit: at first, relative to the columns of the Jacobian; 0: 1e-3 */
    wg_minimise_step *history; /* step k goes to history[k], for k < history_size; or NULL */
    size_t history_size;
    wg_minimise_progress *progress; /* or NULL */
    void *context;
} wg_minimise_options;

typedef struct wg_minimise_result {
    wg_stop why;
    int converged;          /* GRADIENT, STEP, VALUE, or ROUNDING */
    size_t steps;           /* entries of the history: steps + 1 */
    size_t evaluations;     /* of values with gradients; wg_fit: of residuals */
    size_t products;        /* Newton-CG: with the Hessian; wg_fit: Jacobians */
    double value, gradient; /* at x, as in wg_minimise_step */
} wg_minimise_result;

/* wg_minimise - a local minimum of f near x, which is overwritten, for m = 1.
 * Shapes:  x n.  o NULL: the defaults.
 * Cost:    L-BFGS: a gradient or two per step, memory of 2 memory + 8 vectors; Newton-CG: per
 *          step two recordings and at most 2 n products; descent: a gradient per step.
 * Errors:  also WG_EMODE: Newton-CG on a tape without WG_KEEP_CODE. */
WG_API WG_MUST_CHECK wg_status wg_minimise(wg_tape *t, wg_callback *f, void *data, size_t n,
                                           double *x, const wg_minimise_options *o,
                                           wg_minimise_result *result);

/* wg_mat_minimise - the same of a function of n matrices x with one output, 1x1. Bounds, and
 * what the callback for progress sees, are of all elements, matrix after matrix, column after
 * column. Newton-CG records for each product. */
WG_API WG_MUST_CHECK wg_status wg_mat_minimise(wg_tape *t, wg_mat_callback *f, void *data,
                                               size_t n, const wg_mat_result *x,
                                               const wg_minimise_options *o,
                                               wg_minimise_result *result);

/* wg_function_minimise - the same of a function that was recorded, its gradient derived once:
 * one output of one entry, summed over the points if there are several. x: the entries of all
 * inputs that are not WG_PASSIVE, one after the other; with several points these are shared.
 * in: one per input, of which those of WG_PASSIVE ones are read.
 * Errors:  also WG_ESHAPE: the inputs or the output are not so; WG_EGUARD. */
WG_API WG_MUST_CHECK wg_status wg_function_minimise(wg_tape *t, const wg_function *f,
                                                    size_t points, const wg_points *in,
                                                    wg_threads *threads, double *x,
                                                    const wg_minimise_options *o,
                                                    wg_minimise_result *result);

/* wg_fit - parameters x that make the sum of squares of the m residuals of f smallest, near x,
 * which is overwritten: Levenberg-Marquardt on the QR factorisation of the Jacobian.
 * Shapes:    x n; deviation n, or NULL: the standard deviations sqrt(rss / (m - n)
 *            diag((J'J)^-1)) of the parameters that are not held by a bound, n counting these.
 *            NaN: of those that are, and of all where m <= n or where they are not determined.
 * Cost:      per step one Jacobian, one QR of m-by-n, one or more of 2n-by-n and two
 *            evaluations for each; memory of two Jacobians.
 * Errors:    also WG_ESHAPE: sizes beyond LAPACK's.
 * Source:    More 1978 (scaling); Nielsen 1999 (damping); Transtrum, Sethna 2012 (geodesic
 *            acceleration); Conn, Gould, Toint 2000, 17.4.2 (rounding). */
WG_API WG_MUST_CHECK wg_status wg_fit(wg_tape *t, wg_callback *f, void *data, size_t m,
                                      size_t n, double *x, const wg_minimise_options *o,
                                      wg_minimise_result *result, double *deviation);

/* wg_function_fit - the same of a recorded function: the residuals are all entries of its
 * outputs, none of them summed, at all points. x and in as of wg_function_minimise. */
WG_API WG_MUST_CHECK wg_status wg_function_fit(wg_tape *t, const wg_function *f, size_t points,
                                               const wg_points *in, wg_threads *threads,
                                               double *x, const wg_minimise_options *o,
                                               wg_minimise_result *result, double *deviation);

WG_END_DECLS

#endif

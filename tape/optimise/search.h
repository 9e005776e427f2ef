/* SPDX-License-Identifier: MIT */
/* search.h - what the methods of minimisation have in common. Internal.
 *
 * Letters: n variables, x the point, g the gradient there; l, u the bounds. */
#ifndef WGI_TAPE_OPTIMISE_SEARCH_H
#define WGI_TAPE_OPTIMISE_SEARCH_H

#include "ops/scalar/elementwise.h"
#include "tape/engine/drive.h"

#include <wengert/optimise.h>

/* A reduction of this part of the value may be rounding: values are sums of terms that
 * cancel. */
#define WGI_NOISE (512 * 0x1p-52)

/* What is minimised; each kind of objective has this as its first member. */
typedef struct wgi_objective wgi_objective;
struct wgi_objective {
    wgi_core *c;
    const char *call;  /* for messages */
    wg_status refused; /* WG_OK, or what is said before the search begins, with the reason */
    const char *why;
    wg_status (*gradient)(wgi_objective *o, const double *x, double *value, double *g);
    /* Products with the Hessian at x, between `open` and `close`, which follows also a
     * failure; NULL: nothing is to be closed. */
    wg_status (*open)(wgi_objective *o, const double *x);
    wg_status (*product)(wgi_objective *o, const double *v, double *hv);
    wg_status (*close)(wgi_objective *o, wg_status s);
    /* jac NULL: not wanted; otherwise m-by-n with the leading dimension ld. */
    wg_status (*residuals)(wgi_objective *o, const double *x, double *r, double *jac,
                           size_t ld);
};

typedef struct wgi_search {
    wgi_objective *of;
    wg_minimise_options o; /* with the defaults filled in */
    size_t n;
    double *x, *g;
    double value, slope; /* at x; slope: the norm of the projected gradient */
    int scale; /* values and derivatives of the objective are multiplied by 2^scale, so that products of
                * gradients neither vanish nor overflow; mostly 0 */
    double *memory; /* what the method has asked for */
    wg_minimise_result *result;
} wgi_search;

/* ---- search.c ---- */

/* Checks the options, obtains memory for x, g and `numbers` more (all 0), and runs the method
 * from `start`, which becomes the end. method: gives the status; the reason is in the
 * result. */
wg_status wgi_search_run(wgi_objective *of, size_t n, double *start,
                         const wg_minimise_options *o, int fit, size_t numbers,
                         wg_status (*method)(wgi_search *s), wg_minimise_result *result);
/* The search by the method of the options. */
wg_status wgi_minimise(wgi_objective *of, size_t n, double *x, const wg_minimise_options *o,
                       wg_minimise_result *result);

/* The next n numbers of the memory. */
static inline double *wgi_search_take(wgi_search *s, size_t n) {
    double *const p = s->memory;
    s->memory += n;
    return p;
}
/* Multiplies a vector by 2^scale. */
void wgi_search_scale(const wgi_search *s, double *a);
/* Value and gradient at a point. NaN and infinities are no failure; *finite: there are none. */
wg_status wgi_search_evaluate(wgi_search *s, const double *x, double *value, double *g,
                              int *finite);
/* The same at s->x, at the start: must be finite. */
wg_status wgi_search_begin(wgi_search *s);
/* Step k is where s->x is now: history, progress, and whether the search is over by the
 * gradient, the callback or the limit. */
int wgi_search_is_over(wgi_search *s, size_t k, double rate);
/* Is it over by the step to s->x from `from`, which had this value? */
int wgi_search_is_settled(wgi_search *s, const double *from, double value);
/* Is all that a step promises within the rounding of the value? Of a NaN, as where squares of
 * the gradient overflow, that is not known. */
static inline int wgi_search_is_noise(const wgi_search *s, double promised) {
    return promised <= WGI_NOISE * (s->value < 0 ? -s->value : s->value);
}
static inline wg_status wgi_search_end(wgi_search *s, wg_stop why) {
    s->result->why = why;
    return WG_OK;
}

static inline int wgi_search_is_bounded(const wgi_search *s) {
    return s->o.lower != NULL || s->o.upper != NULL;
}
/* Moves a value of variable j into its bounds. */
double wgi_search_inside(const wgi_search *s, size_t j, double x);
/* Is variable j held by a bound: it is there, and the descent would leave it? */
int wgi_search_is_held(const wgi_search *s, size_t j, double x, double g);
/* The norm of the projected gradient. */
double wgi_search_slope(const wgi_search *s, const double *x, const double *g);

double wgi_search_norm(size_t n, const double *a);
double wgi_search_dot(size_t n, const double *a, const double *b);

/* ---- objective.c ---- */

/* The same status; a failure that a driver has named after itself gets the name of the call
 * before that. */
wg_status wgi_objective_failed(const wgi_objective *o, const char *driver, wg_status s);

/* ---- the methods ---- */

size_t wgi_lbfgs_numbers(size_t n, size_t memory);
wg_status wgi_lbfgs(wgi_search *s);
size_t wgi_newton_numbers(size_t n);
wg_status wgi_newton(wgi_search *s);
size_t wgi_descent_numbers(const wg_descent *o, size_t n);
wg_status wgi_descend(wgi_search *s);
/* Are the options in their ranges? Fills the defaults in. */
int wgi_descent_fill(const wg_descent *o, wg_descent *out);

/* levenberg_marquardt.c; deviation may be NULL. */
wg_status wgi_fit(wgi_objective *of, size_t m, size_t n, double *x,
                  const wg_minimise_options *o, wg_minimise_result *result, double *deviation);

#endif

/* SPDX-License-Identifier: MIT */
/* ode.h - initial value problems: what is integrated, by which method, and a solution under way.
 * Internal.
 *
 * Letters: N states (y, and behind it the integrals), s stages; g_i the increments of a step,
 * h f(T_i, Y_i, p); theta the part of a step at which it is interpolated. A bar is an adjoint.
 *
 *     Y_i = y + sum a_ij g_j      y(t + h) = y + sum b_i g_i      y(t + theta h) = y + sum w_i(theta) g_i
 */
#ifndef WGI_TAPE_SIMULATE_ODE_H
#define WGI_TAPE_SIMULATE_ODE_H

#include "tape/function/graph/arguments.h"
#include "tape/function/graph/pieces.h"
#include "tape/function/run/bytecode.h"

#include <wengert/ode.h>

/* ---- what is integrated: ode.c ----------------------------------------------------------- */

/* Inputs t, y, p, and tangents of y and p; outputs y', integrands, and their tangents. */
enum { WGI_ODE_INPUTS = 5, WGI_ODE_OUTPUTS = 4 };

/* Where an argument of f stands among the states, or the parameters. */
typedef enum { WGI_ODE_TIME, WGI_ODE_STATE, WGI_ODE_PARAM } wgi_ode_place;
typedef struct wgi_ode_part {
    wgi_ode_place place;
    size_t at, size;
} wgi_ode_part;

/* A system of first order. `f` has the inputs and outputs listed; `vjp` those of f, then an adjoint
 * for each output; its outputs are adjoints of the inputs. `jacobian` has the inputs of f, and an
 * output for each pair of output and input; NULL: it would be large, and adjoints go by vjp. */
typedef struct wgi_ode_flow {
    wg_function *f, *vjp, *jacobian;
    size_t states, params;
    size_t tested; /* the first so many states are y */
    size_t inputs, outputs;
    wgi_ode_part in[WGI_ODE_INPUTS], out[WGI_ODE_OUTPUTS];
    size_t gradient; /* numbers of a row of the Jacobian, entries of all inputs */
} wgi_ode_flow;

struct wg_ode {
    wgi_home home;
    size_t n, params, integrals;
    int separable; /* does each half of y' depend on the other half of y only? */
    wgi_ode_flow flow;
    wgi_ode_flow dual; /* the same with the tangents of everything behind it */
};

/* ---- methods: ode_methods.c --------------------------------------------------------------- */

enum { WGI_ODE_STAGES = 7 };

/* An explicit method. Where the states are halves (q, v), `a` and `b` are those of q, `a2` and `b2`
 * those of v. */
typedef struct wgi_ode_method {
    const char *name;
    size_t stages;
    int order;     /* of the error estimate, and one: h^order is what it is in proportion to */
    int adaptive;  /* is there an estimate? */
    int halves;    /* is it for separable systems? */
    int same_last; /* the last stage is the first one of the next step */
    double c[WGI_ODE_STAGES], b[WGI_ODE_STAGES], b2[WGI_ODE_STAGES];
    double a[WGI_ODE_STAGES][WGI_ODE_STAGES], a2[WGI_ODE_STAGES][WGI_ODE_STAGES];
    double e[WGI_ODE_STAGES];                      /* the estimated error is sum e_i g_i */
    void (*weights)(double theta, double *weight); /* of interpolation; NULL: there is none */
} wgi_ode_method;

/* NULL: there is no such method. */
const wgi_ode_method *wgi_ode_method_of(wg_ode_method m);

/* ---- a solution under way: ode_step.c ------------------------------------------------------ */

/* What is recorded of a call; it stands in the arena of its tape. */
typedef struct wgi_ode_call {
    const wg_ode *k;
    const wgi_ode_method *method;
    wg_ode_options o;
    const double *atols; /* n of them, or NULL */
    size_t times;
    const double *time;
    int fixed;      /* are all steps of one size? */
    int stops;      /* do steps end at all times? */
    size_t columns; /* of parameters: 1, or one for each interval between times */
    wgi_progress *progress;
    wg_ode_report report;
} wgi_ode_call;

/* Where a solution stands between two steps: with the states, all that the next steps depend on. */
typedef struct wgi_ode_position {
    double t, h, error; /* the step to be tried, and the error of the last one */
    size_t steps;       /* done so far */
    size_t next;        /* the first of the times that is not reached yet */
    size_t part;        /* of fixed size: steps done since the time before that */
    int rejected;       /* a step from here was */
} wgi_ode_position;

/* A step of size h from t to t1, as its adjoint needs it: stage i has the time T[i], and Y[i N] are the states. Times from
 * `first` on were reached, `count` of them. */
typedef struct wgi_ode_record {
    double t, h, t1;
    size_t first, count, column;
    double *T, *Y;
} wgi_ode_record;

/* A function that is evaluated again and again. */
enum { WGI_ODE_MOST = 2 * WGI_ODE_INPUTS * WGI_ODE_OUTPUTS };
typedef struct wgi_ode_evaluation {
    const wg_function *f;
    struct wgi_fn_steady *open;
    wg_points x[WGI_ODE_INPUTS + WGI_ODE_OUTPUTS];
    wg_results y[WGI_ODE_INPUTS * WGI_ODE_OUTPUTS];
    void *work;
} wgi_ode_evaluation;

typedef struct wgi_ode_run {
    wg_block *b;
    wgi_ode_call *call;
    const wgi_ode_flow *flow;
    wg_status (*reached)(struct wgi_ode_run *r, size_t k, const double *state);
    wgi_ode_evaluation f;
    double *param;         /* columns of flow->params */
    double *y, *next;      /* the states, and those after the step that is tried */
    double *first, *slope; /* f at the first stage, and at the one evaluated last */
    int has_first;         /* is `first` there already? */
    double *g;             /* increments, one stage after the other */
    double *between;       /* an interpolated state */
    wg_ode_report *report; /* what it takes is counted there; NULL: it is not */
    char *why;
} wgi_ode_run;

/* Cuts the workspace of a solution; with base NULL it only counts. */
void wgi_ode_run_cut(wgi_ode_run *r, wgi_pieces *p);
/* Opens functions that have been cut. */
void wgi_ode_evaluation_cut(wgi_ode_evaluation *e, const wg_function *f, wgi_pieces *p);
void wgi_ode_evaluation_open(wgi_ode_evaluation *e);

/* How many states belong together: of methods for halves those of q, then those of v, and so on. */
static inline size_t wgi_ode_stretch(const wgi_ode_run *r) {
    return r->call->method->halves ? r->call->k->n / 2 : r->flow->states;
}
/* to += sum of c_j x_j, x_j of N numbers each; coefficients d for every second stretch. */
void wgi_ode_combine(const wgi_ode_run *r, size_t count, const double *c, const double *d,
                     const double *x, double *to);

/* The first position, with r->y the states there; or any position and its states, from which it is
 * to go on. */
wg_status wgi_ode_begin(wgi_ode_run *r, wgi_ode_position *at);
void wgi_ode_resume(wgi_ode_run *r, const double *state);
/* Is there a step left? */
static inline int wgi_ode_more(const wgi_ode_run *r, const wgi_ode_position *at) {
    return at->next < r->call->times;
}
/* From a position, r->y, over one step to the next. Tells r->reached, if it is not NULL, the states
 * at the times that were reached. */
wg_status wgi_ode_step(wgi_ode_run *r, wgi_ode_position *at, wgi_ode_record *record);
/* How many steps of fixed size there are from time k - 1 to time k. */
double wgi_ode_steps_to(const wgi_ode_call *call, size_t k);
/* Explains a failure at that time. */
wg_status wgi_ode_failed(const wgi_ode_run *r, double t, wg_status s, const char *why);

/* ---- checkpoints: ode_checkpoints.c --------------------------------------------------------- */

/* Positions with their states, `stored` of them at most: every `stride` blocks of steps, where stride
 * doubles each time that they are full. */
typedef struct wgi_ode_checkpoints {
    size_t stored, states, block;
    size_t *used, *stride, *steps; /* kept from sweep to sweep, as are the following */
    wgi_ode_position *position;
    double *state;
} wgi_ode_checkpoints;

/* Cuts what is kept; with base NULL it only counts. */
void wgi_ode_checkpoints_keep(wgi_ode_checkpoints *c, wgi_pieces *p);
void wgi_ode_checkpoints_begin(wgi_ode_checkpoints *c);
/* Stores a position if it is to be. */
void wgi_ode_checkpoints_pass(wgi_ode_checkpoints *c, const wgi_ode_position *at,
                              const double *state);

/* Goes back through all steps, block after block. */
typedef struct wgi_ode_back {
    void *context;
    /* goes so many steps forward; with `keep` it keeps them, and `adjoint` is called next */
    wg_status (*advance)(void *context, wgi_ode_position *at, double *state, size_t steps,
                         int keep);
    /* the adjoints of the steps that were kept, so many */
    wg_status (*adjoint)(void *context, size_t steps);
    double *state; /* workspace for one state */
} wgi_ode_back;
wg_status wgi_ode_checkpoints_reverse(wgi_ode_checkpoints *c, const wgi_ode_back *back);

/* ---- adjoints of steps: ode_adjoint.c -------------------------------------------------------- */

typedef struct wgi_ode_adjoint {
    wgi_ode_run *r;
    wgi_ode_evaluation back; /* vjp, or the Jacobian */
    size_t block, kept;      /* steps kept at most, and now */
    wgi_ode_record *record;
    double *jacobian;                  /* of all stages kept */
    double *bar;                       /* of the states */
    double *gbar;                      /* of the increments */
    double *kbar, *ybar, *tbar, *pbar; /* of a stage */
    double *state;                     /* workspace of the way back */
    double *params;                    /* columns: adjoints of parameters */
    /* adds the adjoint of the states at time k to `bar` */
    void (*seed)(const struct wgi_ode_adjoint *a, size_t k, double *bar);
} wgi_ode_adjoint;

/* How many steps are kept. */
size_t wgi_ode_block(const wgi_ode_flow *f, const wgi_ode_method *m);
void wgi_ode_adjoint_cut(wgi_ode_adjoint *a, wgi_pieces *p);
/* a->bar becomes the adjoint of the first states, but for what is given them at the first time. */
wg_status wgi_ode_adjoint_sweep(wgi_ode_adjoint *a, wgi_ode_checkpoints *c);

#endif

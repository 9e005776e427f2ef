/* SPDX-License-Identifier: MIT */
/* ode.h - initial value problems: what is integrated, by which method, and a solution under
 * way. Internal.
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

#include <stdatomic.h>

/* ---- what is integrated: ode.c ----------------------------------------------------------- */

/* Inputs t, y, p, and tangents of y and p; outputs y', integrands, and their tangents. */
enum { WGI_ODE_INPUTS = 5, WGI_ODE_OUTPUTS = 4 };

/* Where an argument of f stands among the states, or the parameters. */
typedef enum { WGI_ODE_TIME, WGI_ODE_STATE, WGI_ODE_PARAM } wgi_ode_role;
typedef struct wgi_ode_part {
    wgi_ode_role role;
    size_t at, size;
} wgi_ode_part;

/* A system of first order. `f` has the inputs and outputs listed; `vjp` those of f, then an
 * adjoint for each output; its outputs are adjoints of the inputs. `jacobian` has the inputs of
 * f, and an output for each pair of output and input. `hvp`, of stiff systems, has those of
 * vjp, unless f gives one number, and a direction for each input of f. */
typedef struct wgi_ode_flow {
    wg_function *f, *vjp, *jacobian, *hvp;
    wg_function *event, *event_vjp, *jump,
        *jump_vjp;   /* of t, y, p; NULL: there are no events */
    int by_jacobian; /* do adjoints go by the Jacobian, or by vjp? */
    int weightless;  /* has hvp no weights, since f gives one number? */
    size_t states, params;
    size_t tested; /* the first so many states are y */
    size_t inputs, outputs;
    wgi_ode_part in[WGI_ODE_INPUTS], out[WGI_ODE_OUTPUTS];
    size_t gradient; /* numbers of a row of the Jacobian, entries of all inputs */
} wgi_ode_flow;

struct wg_ode {
    wgi_home home;
    size_t n, params, integrals;
    int stiff;     /* is there what Rosenbrock methods need? */
    int second;    /* and what second derivatives do? */
    int separable; /* does each half of y' depend on the other half of y only? */
    /* what nodes of functions were made with (ode_node.c); it changes while others read */
    _Atomic(struct wgi_ode_node_call *) node_calls;
    wgi_ode_flow flow;
    wgi_ode_flow dual; /* the same with the tangents of everything behind it */
};

/* ---- methods: ode_methods.c -------------------------------------------------------------- */

enum { WGI_ODE_STAGES = 7 };

/* An explicit method or, with a gamma, one of Rosenbrock's (ode_rosenbrock.c). Where the states
 * are halves (q, v), `a` and `b` are those of q, `a2` and `b2` those of v. */
typedef struct wgi_ode_method {
    const char *name;
    size_t stages;
    int order;     /* of the error estimate, and one: h^order is what it is in proportion to */
    int adaptive;  /* is there an estimate? */
    int halves;    /* is it for separable systems? */
    int same_last; /* the last stage is the first one of the next step */
    double c[WGI_ODE_STAGES], b[WGI_ODE_STAGES], b2[WGI_ODE_STAGES];
    double a[WGI_ODE_STAGES][WGI_ODE_STAGES], a2[WGI_ODE_STAGES][WGI_ODE_STAGES];
    double e[WGI_ODE_STAGES]; /* the estimated error is sum e_i g_i */
    /* of interpolation, and their slopes unless that is NULL; NULL: there is none */
    void (*weights)(double theta, double *weight, double *slope);
    double gamma, d[WGI_ODE_STAGES], cc[WGI_ODE_STAGES][WGI_ODE_STAGES]; /* c_ij */
} wgi_ode_method;

/* NULL: there is no such method. */
const wgi_ode_method *wgi_ode_method_of(wg_ode_method m);

/* ---- a solution under way: ode_step.c ---------------------------------------------------- */

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
    uint64_t key; /* of the file that it has opened; 0: of none */
} wgi_ode_call;

/* Where a solution stands between two steps: with the states, all that the next steps depend
 * on. */
typedef struct wgi_ode_position {
    double t, h, error; /* the step to be tried, and the error of the last one */
    size_t steps;       /* done so far */
    size_t next;        /* the first of the times that is not reached yet */
    size_t part;        /* of fixed size: steps done since the time before that */
    int rejected;       /* a step from here was */
    int after_event;    /* does an event end here? */
    double from;        /* of fixed size: where the steps began that lead to the next time */
} wgi_ode_position;

/* A step of size h from t to t1, as its adjoint needs it: stage i has the time T[i], the states
 * are those at Y[i N], the increments those at G[i N]. Times from `first` on were reached,
 * `count` of them. */
typedef struct wgi_ode_record {
    double t, h, t1;
    double until,
        theta;  /* where it ended, and which part of it that is: an event, or t1 and 1 */
    int event;  /* did it end by one? */
    int varies; /* did it begin at one? */
    size_t first, count, column;
    double *T, *Y, *G;
} wgi_ode_record;

/* A function that is evaluated again and again. */
enum {
    WGI_ODE_MOST_INPUTS = 2 * WGI_ODE_INPUTS + WGI_ODE_OUTPUTS,
    WGI_ODE_MOST_OUTPUTS = WGI_ODE_INPUTS * WGI_ODE_OUTPUTS
};
typedef struct wgi_ode_evaluation {
    const wg_function *f;
    struct wgi_fn_steady *open;
    wg_points x[WGI_ODE_MOST_INPUTS];
    wg_results y[WGI_ODE_MOST_OUTPUTS];
    void *work;
} wgi_ode_evaluation;

/* The matrix of a Rosenbrock method. */
typedef struct wgi_ode_matrix {
    wgi_ode_evaluation evaluation;
    double *jacobian, *slope; /* f_t */
    double *lu;               /* M by rows, and its factors */
    int *pivot;
    int ready; /* is the Jacobian that at the states? */
} wgi_ode_matrix;

/* The function whose zeros are events, and what happens there. */
typedef struct wgi_ode_event {
    wgi_ode_evaluation level, jump, slope;
    double before;  /* the former at the states */
    int has_before; /* is it? */
} wgi_ode_event;

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
    wgi_ode_matrix matrix;
    wgi_ode_event event;
    double *between;       /* an interpolated state */
    wg_ode_report *report; /* what it takes is counted there; NULL: it is not */
    char *why;
} wgi_ode_run;

/* Cuts the workspace of a solution; with base NULL it only counts. */
void wgi_ode_run_cut(wgi_ode_run *r, wgi_pieces *p);
/* Opens functions that have been cut. */
void wgi_ode_evaluation_cut(wgi_ode_evaluation *e, const wg_function *f, wgi_pieces *p);
void wgi_ode_evaluation_open(wgi_ode_evaluation *e);

/* How many states belong together: of methods for halves those of q, then those of v, and so
 * on. */
static inline size_t wgi_ode_stretch(const wgi_ode_run *r) {
    return r->call->method->halves ? r->call->k->n / 2 : r->flow->states;
}
/* to += sum of c_j x_j, x_j of N numbers each; coefficients d for every second stretch. */
void wgi_ode_combine(const wgi_ode_run *r, size_t count, const double *c, const double *d,
                     const double *x, double *to);

/* to_j += c_j x for all j < count. */
void wgi_ode_spread(const wgi_ode_run *r, size_t count, const double *c, const double *d,
                    const double *x, double *to);
/* k = f(T, Y, p) */
wg_status wgi_ode_slope(wgi_ode_run *r, const double *T, const double *Y, size_t column,
                        double *k);
/* Jacobians at so many points, with the same parameters. */
wg_status wgi_ode_jacobians(const wgi_ode_run *r, wgi_ode_evaluation *e, size_t points,
                            const double *T, const double *Y, const double *p, double *to);
void wgi_ode_matrix_cut(wgi_ode_matrix *m, const wgi_ode_flow *f, wgi_pieces *p);

/* The first position, with r->y the states there; or any position and its states, from which it
 * is to go on. */
wg_status wgi_ode_begin(wgi_ode_run *r, wgi_ode_position *at);
void wgi_ode_resume(wgi_ode_run *r, const double *state);
/* Is there a step left? */
static inline int wgi_ode_more(const wgi_ode_run *r, const wgi_ode_position *at) {
    return at->next < r->call->times;
}
/* From a position, r->y, over one step to the next. Tells r->reached, if it is not NULL, the
 * states at the times that were reached. */
wg_status wgi_ode_step(wgi_ode_run *r, wgi_ode_position *at, wgi_ode_record *record);
/* How many steps of fixed size there are between two times. */
double wgi_ode_steps_between(const wgi_ode_call *call, double from, double to);
/* Explains a failure at that time. */
wg_status wgi_ode_failed(const wgi_ode_run *r, double t, wg_status s, const char *why);

/* ---- checkpoints: ode_checkpoints.c ------------------------------------------------------ */

/* Positions with their states, `stored` of them at most: every `stride` blocks of steps, where
 * stride doubles each time that they are full. */
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
    /* that was a block; so many steps are left, and the last checkpoint is `top`. NULL:
     * nobody is told */
    wg_status (*passed)(void *context, size_t left, size_t top);
    double *state; /* workspace for one state */
} wgi_ode_back;
/* Where the way back begins: with all steps and the last checkpoint. */
void wgi_ode_checkpoints_turn(wgi_ode_checkpoints *c, size_t *left, size_t *top);
/* From there, or from where it was told to have come. */
wg_status wgi_ode_checkpoints_reverse(wgi_ode_checkpoints *c, const wgi_ode_back *back,
                                      size_t left, size_t top);

/* ---- adjoints of steps: ode_adjoint.c ---------------------------------------------------- */

/* Products with second derivatives, of all stages of a step of a Rosenbrock method. */
typedef struct wgi_ode_second {
    wgi_ode_evaluation evaluation;
    double *w, *time, *tbar, *ybar, *pbar;
} wgi_ode_second;

/* Adjoints of events. */
typedef struct wgi_ode_event_adjoint {
    wgi_ode_evaluation level, jump;
    double *ubar, *rate; /* of the states at the event; how these change along the step */
} wgi_ode_event_adjoint;

typedef struct wgi_ode_adjoint {
    wgi_ode_run *r;
    wgi_ode_evaluation back; /* vjp, or the Jacobian */
    wgi_ode_second second;
    wgi_ode_event_adjoint event;
    double start, begin;    /* of the time at which the step behind began, and this one */
    size_t block, recorded; /* steps recorded at most, and now */
    wgi_ode_record *record;
    double *jacobian;                  /* of all stages kept */
    double *bar;                       /* of the states */
    double *gbar;                      /* of the increments */
    double *kbar, *ybar, *tbar, *pbar; /* of a stage */
    double *state;                     /* workspace of the way back */
    double *params;                    /* columns: adjoints of parameters */
    struct wgi_ode_file *file;         /* that says how far it is; NULL: none */
    /* adds the adjoint of the states at time k to `bar` */
    void (*seed)(const struct wgi_ode_adjoint *a, size_t k, double *bar);
} wgi_ode_adjoint;

void wgi_ode_event_cut(wgi_ode_event *e, const wgi_ode_run *r, wgi_pieces *p);
void wgi_ode_event_open(wgi_ode_event *e);
void wgi_ode_event_adjoint_cut(wgi_ode_event_adjoint *e, const wgi_ode_run *r, wgi_pieces *p);
void wgi_ode_event_adjoint_open(wgi_ode_event_adjoint *e);

/* How many steps are kept. */
size_t wgi_ode_block(const wgi_ode_flow *f, const wgi_ode_method *m);
void wgi_ode_second_cut(wgi_ode_second *s, const wgi_ode_run *r, wgi_pieces *p);
void wgi_ode_adjoint_cut(wgi_ode_adjoint *a, wgi_pieces *p);
/* a->bar becomes the adjoint of the first states, but for what is given them at the first
 * time. */
wg_status wgi_ode_adjoint_sweep(wgi_ode_adjoint *a, wgi_ode_checkpoints *c);

#endif

/* SPDX-License-Identifier: MIT */
/* implicit.h - equations F(x, p) = 0, their Jacobians and their solution as an operation.
 * Internal. */
#ifndef WGI_TAPE_DRIVERS_IMPLICIT_H
#define WGI_TAPE_DRIVERS_IMPLICIT_H

#include "ops/matrix/implicit_system.h"
#include "tape/engine/tape.h"

/* n equations for n unknowns x, with np parameters p; or a fixed point, x = F(x, p). */
typedef struct wgi_equations {
    const char *call;
    wg_callback *f;
    void *data;
    size_t n, np;
    int fixed_point;
    /* where they are evaluated: n + np inputs, x and then p, and their values; n + 1 outputs,
     * the last of which no function should write */
    wg_real *in, *out;
    double *value;
    double *jac; /* n-by-(n + np), row by row */
    int theirs;  /* the function failed the tape by a call of its own */
} wgi_equations;

/* Takes room for an evaluation on the tape c. */
wg_status wgi_equations_room(wgi_core *c, wgi_equations *e);
/* Records the equations at e->value on c, as a function of inputs; those are before the
 * mark. */
wg_status wgi_equations_record(wgi_core *c, wgi_equations *e, wg_mark *inside);
/* The output that is NaN or infinite; e->n: there is none. */
size_t wgi_equations_infinite(const wgi_equations *e);
wg_status wgi_equations_refuse_infinite(wgi_core *c, const wgi_equations *e);
/* Evaluates the equations and their Jacobian at e->value: one recording, which is given back,
 * and several sweeps. Outputs keep their values. WG_OK also where an output is not finite:
 * there is no Jacobian then. */
wg_status wgi_equations_by_rows(wgi_core *c, wgi_equations *e);
/* Splits the Jacobian into F_x and F_p, and factors F_x. */
wg_status wgi_equations_factor(wgi_core *c, const wgi_equations *e, const wgi_implicit *f);

/* The parameters of the operation: of p, np-by-1, whose result is x, n-by-1. */
typedef struct wgi_solution {
    wgi_equations of;
    wgi_core *c;         /* the tape of the recording */
    const double *x, *p; /* of the recording */
    wgi_implicit at;     /* the Jacobians at the point of the last evaluation */
    struct wgi_solution_state *state;
} wgi_solution;

/* What changes after the recording. */
typedef struct wgi_solution_state {
    int solved; /* x and the Jacobians are those of the recording, as they were given */
    /* the equations at the point of the last evaluation, on a tape that keeps code, as long as
     * it has this identity and generation */
    uint64_t identity, generation;
    wg_real *in, *out;
    wg_mark end;
} wgi_solution_state;

/* The solution as a part of a function: traits.flatten. */
struct wgi_graph;
wg_status wgi_implicit_flatten(struct wgi_graph *g, const struct wgi_block *b,
                               const uint32_t *x, uint32_t *y);

extern const wg_block_op wgi_op_implicit, wgi_op_fixed_point;

#endif

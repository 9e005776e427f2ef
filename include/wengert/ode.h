/* SPDX-License-Identifier: MIT */
/* Simulation: initial value problems y' = f(t, y, p), solved in one record of a tape.
 *
 * The right-hand side is a function (function.h), recorded from a callback; what its
 * derivatives are needed for is made of it once. A solution costs the tape one record and a
 * fixed number of checkpoints, however many steps it takes.
 *
 * Derivatives are those of the numbers that were computed, exact to rounding: of the steps of
 * the method, with the sizes that they had (the discrete adjoint). How the size of a step is
 * chosen is not differentiated: at a given sequence of steps the result is differentiable, and
 * to the derivative of the exact solution what is lost is of the order of the tolerances. */
#ifndef WENGERT_ODE_H
#define WENGERT_ODE_H

#include <wengert/emit.h>
#include <wengert/function.h>
#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* What is integrated, with its derivatives. Immutable: any number of threads may use one. */
typedef struct wg_ode wg_ode;

typedef struct wg_ode_system {
    const wg_function *rhs; /* inputs: the time, one number; y, n numbers; p, m numbers, or no
                                   * such input. Output: y', n numbers */
    const wg_function *integrand; /* the same inputs; output: r numbers g(t, y, p), of which the
                                   * integral over time is wanted; NULL: none */
    const wg_function
        *event; /* the same inputs; output: one number: an event is where it falls through
                               * 0, from above to 0 or below; NULL: none */
    const wg_function *jump; /* the same inputs; output: y after an event at t, y, n numbers */
    int stiff;  /* 1: also for WG_RODAS4: with dense Jacobians and second derivatives of f */
    int second; /* 1: for second derivatives of solutions (wg_hvp and the like), too */
} wg_ode_system;

/* wg_ode_new - with copies of the functions. Flags of their inputs are not looked at, but that
 *          none may be WG_SHARED; names and shapes neither, only how many numbers there are.
 * t:       a tape, as workspace and for messages; left empty, as by a driver.
 * Events:  where `event` falls through 0 within a step the solution is interpolated, the step
 *          ends, and the next one begins with what `jump` gives; integrals go on. The time of
 *          an event depends on y0 and p, and is differentiated as the zero that it is (implicit
 *          function theorem); the ends of all other steps stay where they are. Falls and rises
 *          between two ends of steps are not seen: let max_step be short enough. Parameters
 *          that vary change at a time, between two steps: what falls by that is no event. A
 *          time that has an event has the states before it. To know when it was, let a state
 *          with derivative 0 be set to t by the jump.
 * Cost:    derivatives of f are made; of dense Jacobians only those of small systems.
 * Errors:  WG_ENULL; WG_ESHAPE, WG_EARG: the message says which; those of wg_function_vjp and
 *          wg_function_jvp. *out is NULL then.
 * wg_ode_compile - the same with all its functions compiled (wg_function_compile); of a few
 *          sums and products that is slower, a step being one point. compiled: may be NULL;
 *          native: all are that do something; why: why one is not.
 * wg_ode_free - not before the last use of the last recording that it is part of. */
WG_API WG_MUST_CHECK wg_status wg_ode_new(wg_tape *t, const wg_ode_system *system,
                                          wg_ode **out);
WG_API WG_MUST_CHECK wg_status wg_ode_compile(wg_tape *t, const wg_ode *k,
                                              const wg_compile_options *options, wg_ode **out,
                                              wg_compiled *compiled);
WG_API void wg_ode_free(wg_ode *k);

/* WG_DOPRI5    Dormand and Prince 1980, order 5, error estimate of order 4; interpolation of order 4.
 * WG_RK4       the classical method of Runge and Kutta, order 4; steps of fixed size.
 * WG_LEAPFROG  Stoermer and Verlet, order 2, symplectic: y is (q, v), halves of one size, q' depends
 *              on t, v, p and v' on t, q, p; steps of fixed size; no integrand.
 * WG_RODAS4    Hairer and Wanner 1996, for stiff systems (`stiff` of the system): a Rosenbrock method
 *              of order 4, L-stable; interpolation of order 3. A step takes a dense Jacobian,
 *              an LU factorisation and six solves; its adjoint those and products with second
 *              derivatives of f. There is no iteration. */
typedef enum wg_ode_method { WG_DOPRI5, WG_RK4, WG_LEAPFROG, WG_RODAS4 } wg_ode_method;

/* Steps have a fixed size if both tolerances are 0; otherwise the root of the mean square of
 * e / (atol + rtol |y|), e the estimated errors of the n components of y in a step, is held
 * below 1 (by a PI controller; Hairer, Norsett and Wanner 1993, II.4). Integrals are not
 * tested. */
typedef struct wg_ode_options {
    wg_ode_method method;
    double rtol, atol;
    const double *atols; /* n of them, in the place of atol; NULL: atol for all */
    double step; /* of fixed size: the largest, and the size is that or, so that steps end at
                          * the times, a little less. Otherwise the first; 0: it is found */
    double min_step;   /* smaller ones fail; 0: 16 units in the last place of the time */
    double max_step;   /* 0: no limit */
    size_t max_steps;  /* more fail; 0: 10^6, of fixed size: no limit */
    int stop_at_times; /* 1: steps end at all the times, and begin anew there, as they do anyway
                          * with fixed sizes and parameters that vary; 0: states at the times are
                          * interpolated. Where f jumps in time, let it be there */
    size_t stored;     /* checkpoints; 0: 256 */
    const char *file;  /* its path: where a run that was killed goes on; NULL: nowhere */
    const char
        *tag; /* what the numbers do not tell of the run that the file is of, as the version
                        * of a model; NULL: "" */
    double
        seconds; /* between two times that the file is written; 0: 10; negative: when there is a
                        * solution */
} wg_ode_options;

/* What a solution took. */
typedef struct wg_ode_report {
    size_t steps, rejected;
    size_t evaluations; /* of the right-hand side */
    double reached;     /* the time: after a failure not the last one */
    int resumed;        /* 1: from a file; the numbers above are those of the whole run */
} wg_ode_report;

/* wg_ode_solve - y at `times` times, from y0 at the first of them.
 *          The times grow or fall; they are data, without derivatives.
 * Shapes:  y0 any shape of n elements; p any shape of m elements, or m-by-(times-1): column i
 *          between times i and i+1 (controls, say); not looked at if m is 0.
 *          y: n-by-times, its first column y0. r: the integrals of g from the first time on,
 *          r-by-times; NULL where there is no integrand.
 * o:       NULL: WG_DOPRI5 with rtol 1e-6, atol 1e-9. They, and times, are copied.
 * report:  may be NULL.
 * Adjoint: the discrete adjoint, backward through the steps, which are computed again from
 *          checkpoints, some dozens at a time: with c checkpoints stored at most r times if
 *          there are C(c/2 + r, r) such dozens. The number of steps need not be known
 *          beforehand: checkpoints are thinned out on the way. Same bits whatever `stored` is.
 *          Tangent: y and its tangent solved together, with the same steps; with events by
 *          adjoints, one for each number of the result.
 * Cost:    one record; the tape keeps the results and `stored` states of n + r numbers. A
 *          gradient about as much as 2 to 4 solutions more, whatever the numbers of parameters
 *          and times.
 * Second:  of systems that were made with `second`: in each direction a solution with its
 *          adjoint, of twice the states.
 * Functions: steps of fixed size of explicit methods, without events, are written out, up to 4
 *          million operations, with the same bits. Everything else is one node: the steps are
 *          chosen anew at each point, as a tape has them there, with the bits of its values. Its
 *          adjoint solves forward and back, by `stored` checkpoints in the function's
 *          workspace; tangents, without events, and second derivatives, with `second`, are
 *          there, but no tangents of tangents. A point where there is no solution has NaN,
 *          which is no failure. k has to outlive the function, which goes into no file or text
 *          (WG_EMODE), and keeps the options and times of every such node, once of equal ones,
 *          in memory of its own.
 * Progress: wg_tape_progress is told after each step.
 * File:    made where there is none, with all the space it will take; open to nobody else; gone
 *          after the first sweep, or where there will be none: when y is a number, or its
 *          tangent is there. After a kill, a crash, a failure, a stop, the same program,
 *          calling with the same numbers, goes on from it: forward from the last state written,
 *          or, the solution being read, back from the last adjoint; with the bits of a run that
 *          was never interrupted. What was half written is not used. A file of another run
 *          (other numbers, options, tag), or that is no such file, is refused and left as it
 *          is; max_steps and `seconds` may be others. What f is, only the tag says. Each time
 *          it is written it is so in full: twice the checkpoints, results and adjoints; that
 *          takes a twentieth of the time at most, so that large ones are written more seldom
 *          than `seconds` says. A replay with other numbers begins it anew. Functions and the
 *          passes of second derivatives make no use of it.
 * Errors:  (y is NaN, the tape keeps the status; the message has the time that was reached)
 *          WG_ENULL; WG_ESHAPE; WG_EARG: times, options; WG_EGUARD: a comparison in f comes out
 *          differently from when it was recorded; WG_ENONFINITE: of f or a state; WG_ESINGULAR:
 *          the matrix of a step of fixed size; WG_ECONVERGE: a step would be too small, or one
 *          too many, or events without end; WG_EWRITE: the file cannot be made, written or
 *          read, is in use, or the disk is full; WG_EARG: it is of another run; WG_ESTOPPED. */
WG_API wg_status wg_ode_solve(wg_tape *t, const wg_ode *k, const wg_ode_options *o,
                              size_t times, const double *time, wg_mat y0, wg_mat p, wg_mat *y,
                              wg_mat *r, wg_ode_report *report);

WG_END_DECLS

#endif

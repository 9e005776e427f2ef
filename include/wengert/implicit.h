/* SPDX-License-Identifier: MIT */
/* Parts of a computation whose derivative is known better than by recording them: the solution
 * of a system of equations, a fixed point, a section of the tape of few inputs and outputs. */
#ifndef WENGERT_IMPLICIT_H
#define WENGERT_IMPLICIT_H

#include <wengert/drivers.h>
#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* wg_implicit - the solution x(p) of F(x, p) = 0 as variables: x was found by any method,
 * outside of the tape. F is called once, on t: its inputs are the n unknowns, then the np
 * parameters; its outputs the n residuals. What it records is given back.
 * wg_fixed_point - the same for x = G(x, p): the outputs of G are n.
 * Shapes:  x of n numbers, p of np, y of n: the variables, with the values x.
 * Adjoint: p_ -= F_p' F_x^-T x_, one transposed solve.  Tangent: xt = -F_x^-1 F_p pt. As exact
 *          as x is a solution.
 *          Source: implicit function theorem; Griewank and Walther 2008, chapter 15.
 * Second:  on a tape that keeps its code F is called again, on tapes of the library's, by
 *          second derivatives (once for a point, while no other call needs the room) and by
 *          replays: F and data live as long as the recording, and F gives the same each time. A
 *          product costs one with the Hessian of F, and a solve.
 * Replay:  at the recorded p x is as it was; elsewhere it is found by Newton's method, from the
 *          recorded x (steps are halved that lead to where F is not finite), to the last digits
 *          that F has: WG_ECONVERGE, WG_ESINGULAR, WG_ENONFINITE where that fails.
 * Functions: at each point 32 steps of Newton's method from the recorded x, whose last one is
 *          compared: WG_EGUARD where it is more than 2^-34 of x (wg_branches_new records there
 *          anew). Comparisons in F have to come out as recorded in every step. Derivatives of
 *          any order are those of the solution, and cost one step; F is differentiated once
 *          more than they are.
 * Cost:    ceil(n/8) sweeps over F with 8 adjoints each, one LU factorisation; the arena keeps
 *          8 (n + 1) (n + np) bytes.
 * Errors:  (y is NaN, the tape keeps the status)  WG_ENULL, WG_ESINGULAR: F_x is; WG_ENONFINITE:
 *          an output of F at x is, as where a solver has diverged; WG_ESHAPE: F writes more
 *          than n outputs; what F returned.
 *          Where nothing is recorded F is not called, and x is passed on as it is. */
WG_API wg_status wg_implicit(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                             size_t np, const wg_real *p, wg_real *y);
WG_API wg_status wg_fixed_point(wg_tape *t, wg_callback *g, void *data, size_t n,
                                const double *x, size_t np, const wg_real *p, wg_real *y);

/* wg_preaccumulate - replaces what was recorded since `start` by its local Jacobian: y becomes
 * m statements of the n variables x; no other variable from after `start` is there any more.
 * Pays off when the section has many statements for few x and y.
 * Shapes:  x of n variables from before `start`, y of m from after it (changed).
 * Cost:    ceil(m/8) sweeps over the section; m ceil(n/2) records remain.
 * Errors:  WG_ENULL, WG_EMARK, WG_ESTALE; WG_EARG: the section depends on a variable of before
 *          that is not among x (the message names it): nothing has changed; WG_EMODE: a
 *          code-keeping tape.
 * Forward: (wg_tape_forward) y takes its tangents along, everything else from after `start` is
 *          forgotten: a loop that calls it in every step, from one mark before the loop and
 *          with what the next step needs as y, takes no more memory the longer it runs. */
WG_API WG_MUST_CHECK wg_status wg_preaccumulate(wg_tape *t, wg_mark start, size_t n,
                                                const wg_real *x, size_t m, wg_real *y);

WG_END_DECLS

#endif

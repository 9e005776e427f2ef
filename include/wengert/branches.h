/* SPDX-License-Identifier: MIT */
/* Functions of a callback that branches: recorded again wherever a comparison comes out
 * differently.
 *
 * A function holds for the points at which wg_lt(t, x, y) and its kin come out as they did when
 * it was recorded. A wg_branches keeps a function for every way the callback has taken, finds
 * the one that holds, and records a further one at the first point where none does. */
#ifndef WENGERT_BRANCHES_H
#define WENGERT_BRANCHES_H

#include <wengert/function.h>

WG_BEGIN_DECLS

typedef struct wg_branches wg_branches;

/* Makes of a recording what is to be evaluated: wg_function_gradient, or a function of yours
 * that joins and selects. It must not keep `recorded`. */
typedef wg_status wg_derivation(wg_tape *t, const wg_function *recorded, wg_function **out);

/* wg_branches_new - of a callback; nothing is recorded yet.
 * t:       a tape with WG_KEEP_CODE, as workspace and for messages as long as the branches are
 *          used; data likewise.
 * input, output: as for wg_function_record; names are not copied.
 * derive:  NULL: the recording itself. It has to keep the guards of the recording, as
 *          all transforms do.
 * Errors:  WG_ENULL, WG_EMODE, WG_ENOMEM, WG_EBUDGET. *out is NULL then. */
WG_API WG_MUST_CHECK wg_status wg_branches_new(wg_tape *t, wg_callback *f, void *data,
                                               size_t inputs, const wg_argument *input,
                                               size_t outputs, const wg_argument *output,
                                               wg_derivation *derive, wg_branches **out);
/* wg_branches_free - NULL is allowed. */
WG_API void wg_branches_free(wg_branches *b);

/* wg_branches_evaluate - as wg_function_evaluate, at every point by a function that holds
 * there.
 * x, y:    of the derived function: inputs that a derivation added come behind those recorded.
 * Sums:    over the points of one branch after the other: their last bits depend on the order
 *          in which branches were recorded. Without a point, and before any is recorded,
 *          results are left alone.
 * Cost:    a point costs one evaluation, and one more for every branch that does not hold there
 *          and was tried; recordings as counted.
 * Errors:  what recording and deriving return: the message of the tape says more. WG_EGUARD: a
 *          function does not hold where it was just recorded (the callback compares what it
 *          was not given). Results are then in part the new ones. WG_EBRANCH: the tape has
 *          WG_CHECKED, and the callback branches on values (wg_check_branches). */
WG_API WG_MUST_CHECK wg_status wg_branches_evaluate(wg_branches *b, size_t points,
                                                    const wg_points *x, const wg_results *y);

/* How many functions have been recorded so far. */
WG_API size_t wg_branches_count(const wg_branches *b);

WG_END_DECLS

#endif

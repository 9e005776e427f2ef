/* SPDX-License-Identifier: MIT */
/* A name that is not there, deep in an expression.
 * both: wengert: there is no wg_min: wg_fmin(x, y); of arrays wg_minimum
 * errors: 1 */
#include <wengert.h>
wg_real guessed_min(wg_tape *t, wg_real x, wg_real y);
wg_real guessed_min(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_fmin(x, 2)), y), 1));
#else
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_min(x, 2)), y), 1));
#endif
}

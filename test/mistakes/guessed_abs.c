/* SPDX-License-Identifier: MIT */
/* A name that is not there, deep in an expression.
 * both: wengert: there is no wg_abs: wg_fabs(x)
 * errors: 1 */
#include <wengert.h>
wg_real guessed_abs(wg_tape *t, wg_real x, wg_real y);
wg_real guessed_abs(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_fabs(x)), y), 1));
#else
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_abs(x)), y), 1));
#endif
}

/* SPDX-License-Identifier: MIT */
/* A name that is not there, deep in an expression.
 * both: wengert: there is no wg_max: wg_fmax(x, y); of arrays wg_maximum
 * errors: 1 */
#include <wengert.h>
wg_real guessed_max(wg_tape *t, wg_real x, wg_real y);
wg_real guessed_max(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_fmax(x, 2)), y), 1));
#else
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_max(x, 2)), y), 1));
#endif
}

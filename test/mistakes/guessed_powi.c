/* SPDX-License-Identifier: MIT */
/* A name that is not there, deep in an expression.
 * both: wengert: there is no wg_powi: wg_pow(x, n) takes whole numbers, and wg_square(x), wg_cube(x)
 * errors: 1 */
#include <wengert.h>
wg_real guessed_powi(wg_tape *t, wg_real x, wg_real y);
wg_real guessed_powi(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_pow(x, 5)), y), 1));
#else
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_powi(x, 5)), y), 1));
#endif
}

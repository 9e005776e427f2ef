/* SPDX-License-Identifier: MIT */
/* A pointer deep in an expression.
 * both: wengert: an operand is a pointer: an index or a * is missing
 * errors: 1 */
#include <wengert.h>
wg_real nested_pointer(wg_tape *t, wg_real x, wg_real y);
wg_real nested_pointer(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_mul(x, x)), y), 1));
#else
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_mul(&x, x)), y), 1));
#endif
}

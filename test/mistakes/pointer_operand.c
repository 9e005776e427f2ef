/* SPDX-License-Identifier: MIT */
/* An operand is a pointer to a variable.
 * both: wengert: an operand is a pointer: an index or a * is missing */
#include <wengert.h>
wg_real pointer_operand(wg_tape *t, wg_real x, wg_real y);
wg_real pointer_operand(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    const wg_real v[2] = {x, y};
    const wg_real *p = v;
    return wg_let(t, wg_mul(x, *p));
#else
    const wg_real v[2] = {x, y};
    const wg_real *p = v;
    return wg_let(t, wg_mul(x, p));
#endif
}

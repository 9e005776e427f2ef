/* SPDX-License-Identifier: MIT */
/* An operand is an array of variables.
 * both: wengert: an operand is a pointer: an index or a * is missing */
#include <wengert.h>
wg_real array_operand(wg_tape *t, wg_real x, wg_real y);
wg_real array_operand(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    const wg_real v[2] = {x, y};
    return wg_let(t, wg_exp(v[1]));
#else
    const wg_real v[2] = {x, y};
    return wg_let(t, wg_exp(v));
#endif
}

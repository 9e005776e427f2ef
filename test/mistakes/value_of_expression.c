/* SPDX-License-Identifier: MIT */
/* The value of an expression is asked for; only what wg_let gave has one.
 * both: wg_expression_needs_wg_let */
#include <wengert.h>
wg_real value_of_expression(wg_tape *t, wg_real x, wg_real y);
wg_real value_of_expression(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    const wg_real sum = wg_let(t, wg_add(x, y));
    return wg_let(t, wg_mul(x, wg_value(sum)));
#else
    return wg_let(t, wg_mul(x, wg_value(wg_add(x, y))));
#endif
}

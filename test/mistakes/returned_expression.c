/* SPDX-License-Identifier: MIT */
/* An expression is returned without wg_let.
 * both: wg_expression_needs_wg_let */
#include <wengert.h>
wg_real returned_expression(wg_tape *t, wg_real x, wg_real y);
wg_real returned_expression(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_mul(x, y));
#else
    (void)t;
    return wg_mul(x, y);
#endif
}

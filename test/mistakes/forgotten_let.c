/* SPDX-License-Identifier: MIT */
/* An expression is kept without wg_let.
 * gcc: needs wg_let
 * clang: wg_expression_needs_wg_let */
#include <wengert.h>
wg_real forgotten_let(wg_tape *t, wg_real x, wg_real y);
wg_real forgotten_let(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    (void)y;
    wg_real z = wg_let(t, wg_mul(x, 2));
    return z;
#else
    (void)t, (void)y;
    wg_real z = wg_mul(x, 2);
    return z;
#endif
}

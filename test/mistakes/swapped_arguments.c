/* SPDX-License-Identifier: MIT */
/* The arguments of wg_let the other way round.
 * both: wg_expression_needs_wg_let */
#include <wengert.h>
wg_real swapped_arguments(wg_tape *t, wg_real x, wg_real y);
wg_real swapped_arguments(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_mul(x, y));
#else
    return wg_let(wg_mul(x, y), t);
#endif
}

/* SPDX-License-Identifier: MIT */
/* An expression is kept in a double.
 * both: wg_expression_needs_wg_let */
#include <wengert.h>
wg_real expression_in_double(wg_tape *t, wg_real x, wg_real y);
wg_real expression_in_double(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    double z = wg_value(x) * wg_value(y);
    return wg_let(t, wg_mul(x, wg_sin(z)));
#else
    double z = wg_mul(x, y);
    return wg_let(t, wg_sin(z));
#endif
}

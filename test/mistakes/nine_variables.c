/* SPDX-License-Identifier: MIT */
/* More than 8 variables in one statement.
 * both: wengert: more than 8 variables in one statement: split it with wg_let */
#include <wengert.h>
wg_real nine_variables(wg_tape *t, wg_real x, wg_real y);
wg_real nine_variables(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    const wg_real z = wg_let(t, wg_add(wg_add(wg_mul(x, y), wg_mul(x, y)), wg_add(wg_mul(x, y), wg_mul(x, y))));
    return wg_let(t, wg_add(z, x));
#else
    return wg_let(t, wg_add(wg_add(wg_add(wg_mul(x, y), wg_mul(x, y)), wg_add(wg_mul(x, y), wg_mul(x, y))), x));
#endif
}

/* SPDX-License-Identifier: MIT */
/* More than 24 variables in one statement, repeated ones counted each time.
 * both: wengert: a statement takes up to 24 variables, 24 numbers and about 60 operations: split it with wg_let */
#include <wengert.h>
wg_real too_many_variables(wg_tape *t, wg_real x, wg_real y);
wg_real too_many_variables(wg_tape *t, wg_real x, wg_real y) {
    (void)y;
#ifdef RIGHT
    const wg_real z = wg_let(t, wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(x, x), y), x), y), x), y), x), y), x), y), x), y), x), y), x), y), x), y), x), y), x), y), x));
    return wg_let(t, wg_add(z, x));
#else
    return wg_let(t, wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(wg_add(x, x), y), x), y), x), y), x), y), x), y), x), y), x), y), x), y), x), y), x), y), x), y), x), y));
#endif
}

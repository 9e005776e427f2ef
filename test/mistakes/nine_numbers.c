/* SPDX-License-Identifier: MIT */
/* More than 8 numbers in one statement.
 * both: wengert: more than 8 numbers in one statement: split it with wg_let */
#include <wengert.h>
wg_real nine_numbers(wg_tape *t, wg_real x, wg_real y);
wg_real nine_numbers(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    (void)y;
    const wg_real z = wg_let(t, wg_add(5, wg_add(4, wg_add(3, wg_add(2, wg_add(1, x))))));
    return wg_let(t, wg_add(9, wg_add(8, wg_add(7, wg_add(6, z)))));
#else
    (void)y;
    return wg_let(t, wg_add(9, wg_add(8, wg_add(7, wg_add(6, wg_add(5, wg_add(4, wg_add(3, wg_add(2, wg_add(1, x))))))))));
#endif
}

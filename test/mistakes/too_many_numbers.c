/* SPDX-License-Identifier: MIT */
/* More than 24 numbers in one statement.
 * both: wengert: a statement takes up to 24 variables, 24 numbers and about 60 operations: split it with wg_let */
#include <wengert.h>
wg_real too_many_numbers(wg_tape *t, wg_real x, wg_real y);
wg_real too_many_numbers(wg_tape *t, wg_real x, wg_real y) {
    (void)y;
#ifdef RIGHT
    const wg_real z = wg_let(t, wg_add(24, wg_add(23, wg_add(22, wg_add(21, wg_add(20, wg_add(19, wg_add(18, wg_add(17, wg_add(16, wg_add(15, wg_add(14, wg_add(13, wg_add(12, wg_add(11, wg_add(10, wg_add(9, wg_add(8, wg_add(7, wg_add(6, wg_add(5, wg_add(4, wg_add(3, wg_add(2, wg_add(1, x)))))))))))))))))))))))));
    return wg_let(t, wg_add(25, z));
#else
    return wg_let(t, wg_add(25, wg_add(24, wg_add(23, wg_add(22, wg_add(21, wg_add(20, wg_add(19, wg_add(18, wg_add(17, wg_add(16, wg_add(15, wg_add(14, wg_add(13, wg_add(12, wg_add(11, wg_add(10, wg_add(9, wg_add(8, wg_add(7, wg_add(6, wg_add(5, wg_add(4, wg_add(3, wg_add(2, wg_add(1, x))))))))))))))))))))))))));
#endif
}

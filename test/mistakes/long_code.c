/* SPDX-License-Identifier: MIT */
/* More operations in one statement than its code has room for.
 * both: wengert: a statement takes up to 24 variables, 24 numbers and about 60 operations: split it with wg_let */
#include <wengert.h>
wg_real long_code(wg_tape *t, wg_real x, wg_real y);
wg_real long_code(wg_tape *t, wg_real x, wg_real y) {
    (void)y;
#ifdef RIGHT
    const wg_real z = wg_let(t, wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(x)))))))))))))))))))))))))))))))))))))))))))))))))))))))));
    return wg_let(t, wg_sin(z));
#else
    return wg_let(t, wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))));
#endif
}

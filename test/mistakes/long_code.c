/* SPDX-License-Identifier: MIT */
/* More operations in one statement than its code has room for.
 * both: wengert: too many operations in one statement: split it with wg_let */
#include <wengert.h>
wg_real long_code(wg_tape *t, wg_real x, wg_real y);
wg_real long_code(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    (void)y;
    const wg_real z = wg_let(t, wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(x)))))))));
    return wg_let(t, wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(z))))))));
#else
    (void)y;
    return wg_let(t, wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(wg_sin(x))))))))))))))));
#endif
}

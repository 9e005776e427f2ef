/* SPDX-License-Identifier: MIT */
/* wg_let without its tape.
 * gcc: "wg_let" requires 2 arguments
 * clang: macro 'wg_let' defined here */
#include <wengert.h>
wg_real missing_tape(wg_tape *t, wg_real x, wg_real y);
wg_real missing_tape(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_mul(x, y));
#else
    (void)t;
    return wg_let(wg_mul(x, y));
#endif
}

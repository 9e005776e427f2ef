/* SPDX-License-Identifier: MIT */
/* A variable is compared; wg_lt(t, x, y), or its value, was meant.
 * gcc: invalid operands to binary >
 * clang: invalid operands to binary expression ('wg_real' */
#include <wengert.h>
wg_real variable_in_if(wg_tape *t, wg_real x, wg_real y);
wg_real variable_in_if(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    if (wg_gt(t, x, y)) return x;
    return wg_let(t, wg_mul(x, y));
#else
    if (x > y) return x;
    return wg_let(t, wg_mul(x, y));
#endif
}

/* SPDX-License-Identifier: MIT */
/* The operators of C on variables.
 * gcc: invalid operands to binary +
 * clang: invalid operands to binary expression ('wg_real' */
#include <wengert.h>
wg_real plus_operator(wg_tape *t, wg_real x, wg_real y);
wg_real plus_operator(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_add(x, y));
#else
    return wg_let(t, x + y);
#endif
}

/* SPDX-License-Identifier: MIT */
/* A number is kept as a variable.
 * gcc: invalid initializer
 * clang: initializing 'wg_real' */
#include <wengert.h>
wg_real number_as_variable(wg_tape *t, wg_real x, wg_real y);
wg_real number_as_variable(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    wg_real sum = wg_constant(0.0);
    return wg_let(t, wg_add(sum, wg_mul(x, y)));
#else
    wg_real sum = 0.0;
    return wg_let(t, wg_add(sum, wg_mul(x, y)));
#endif
}

/* SPDX-License-Identifier: MIT */
/* A variable is printed; its value was meant.
 * gcc: expects argument of type
 * clang: format specifies type 'double' but the argument has type 'wg_real' */
#include <wengert.h>
#include <stdio.h>
wg_real printed_variable(wg_tape *t, wg_real x, wg_real y);
wg_real printed_variable(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    printf("%g\n", wg_value(x));
    return wg_let(t, wg_mul(x, y));
#else
    printf("%g\n", x);
    return wg_let(t, wg_mul(x, y));
#endif
}

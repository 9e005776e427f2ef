/* SPDX-License-Identifier: MIT */
/* -fassociative-math by itself, of which gcc alone has a macro.
 * flags: -fassociative-math -fno-signed-zeros -fno-trapping-math
 * gcc: wengert: -fassociative-math reorders the sums and products */
#include <wengert.h>
wg_real associative_math(wg_tape *t, wg_real x, wg_real y);
wg_real associative_math(wg_tape *t, wg_real x, wg_real y) {
    return wg_let(t, wg_mul(x, y));
}

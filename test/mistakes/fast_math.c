/* SPDX-License-Identifier: MIT */
/* -ffast-math, under which there is no NaN to rely on.
 * flags: -ffast-math
 * both: wengert: -ffast-math removes the NaN and infinity rules */
#include <wengert.h>
wg_real fast_math(wg_tape *t, wg_real x, wg_real y);
wg_real fast_math(wg_tape *t, wg_real x, wg_real y) {
    return wg_let(t, wg_mul(x, y));
}

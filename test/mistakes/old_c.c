/* SPDX-License-Identifier: MIT */
/* A standard of C before C11.
 * flags: -std=c99
 * both: wengert: compile as C11 or later */
#include <wengert.h>
wg_real old_c(wg_tape *t, wg_real x, wg_real y);
wg_real old_c(wg_tape *t, wg_real x, wg_real y) {
    return wg_let(t, wg_mul(x, y));
}

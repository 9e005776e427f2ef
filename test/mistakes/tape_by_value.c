/* SPDX-License-Identifier: MIT */
/* The tape itself, not a pointer to it.
 * both: wg_tape */
#include <wengert.h>
wg_real tape_by_value(wg_tape *t, wg_real x, wg_real y);
wg_real tape_by_value(wg_tape *t, wg_real x, wg_real y) {
#ifdef RIGHT
    return wg_let(t, wg_mul(x, y));
#else
    return wg_let(*t, wg_mul(x, y));
#endif
}

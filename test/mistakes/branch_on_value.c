/* SPDX-License-Identifier: MIT */
/* A branch that the tape does not see, in a build that looks for such.
 * flags: -DWG_FIND_VALUES
 * both: what follows from this number is invisible to the tape
 * both: wg_lt(t, x, y) */
#include <wengert.h>

wg_real f(wg_tape *t, wg_real x);
wg_real f(wg_tape *t, wg_real x) {
#ifdef RIGHT
    return wg_let(t, wg_select_lt(x, 0, wg_neg(x), wg_square(x)));
#else
    return wg_value(x) < 0 ? wg_let(t, wg_neg(x)) : wg_let(t, wg_square(x));
#endif
}

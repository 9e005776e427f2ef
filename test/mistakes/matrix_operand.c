/* SPDX-License-Identifier: MIT */
/* A matrix where a variable is meant.
 * both: or a matrix: wg_mat_add and the like take it, wg_mat_at gives an element */
#include <wengert.h>

wg_real total(wg_tape *t, wg_mat a, wg_real b);
wg_real total(wg_tape *t, wg_mat a, wg_real b) {
#ifdef RIGHT
    return wg_let(t, wg_add(wg_mat_at(a, 0, 0), b));
#else
    return wg_let(t, wg_add(a, b));
#endif
}

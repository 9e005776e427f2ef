/* SPDX-License-Identifier: MIT */
/* A matrix deep in an expression of variables.
 * both: or a matrix: wg_mat_add and the like take it, wg_mat_at gives an element
 * errors: 1 */
#include <wengert.h>
wg_real nested_matrix(wg_tape *t, wg_real x, wg_mat a);
wg_real nested_matrix(wg_tape *t, wg_real x, wg_mat a) {
#ifdef RIGHT
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_mul(wg_mat_at(a, 0, 0), x)), x), 1));
#else
    return wg_let(t, wg_add(wg_mul(wg_sin(wg_mul(a, x)), x), 1));
#endif
}

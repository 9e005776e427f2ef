/* SPDX-License-Identifier: MIT */
/* An expression that is not recorded, where an operation on matrices takes a variable.
 * both: an operand is neither a wg_mat nor a wg_real nor a number: an expression goes through wg_let */
#include <wengert.h>

wg_mat scaled(wg_tape *t, wg_mat a, wg_real x);
wg_mat scaled(wg_tape *t, wg_mat a, wg_real x) {
#ifdef RIGHT
    return wg_mat_mul(t, a, wg_let(t, wg_exp(x)));
#else
    return wg_mat_mul(t, a, wg_exp(x));
#endif
}

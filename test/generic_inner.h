/* SPDX-License-Identifier: MIT */
/* generic_inner.h - a kernel that another kernel includes: it stays of the type of the outer.
 */
#include <wengert/generic.h>

static inline wg_real WG_NAME(inner)(wg_tape *t, wg_real x, wg_real y) {
    return wg_let(t, wg_div(wg_sub(wg_exp(wg_mul(x, -0.5)), y), wg_add(2, wg_square(y))));
}

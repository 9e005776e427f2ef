/* SPDX-License-Identifier: MIT */
/* residual.h - of llsq.c: how far the polynomial with coefficients x[0] ... x[m-1] misses the
 * sign of t, t = -1 + 2 i/(n - 1), squared. */
#include <wengert/generic.h>

static wg_real WG_NAME(residual)(wg_tape *tape, wg_real i, wg_real n, size_t m,
                                 const wg_real *x) {
    wg_real t = wg_let(tape, wg_sub(wg_div(wg_mul(2, i), wg_sub(n, 1)), 1));
    wg_real rest = wg_let(tape, wg_sign(t)), power = wg_constant(1);
    (void)tape;
    for (size_t j = 0; j < m; j++) {
        rest = wg_let(tape, wg_sub(rest, wg_mul(x[j], power)));
        power = wg_let(tape, wg_mul(power, t));
    }
    return wg_let(tape, wg_square(rest));
}

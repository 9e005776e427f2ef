/* SPDX-License-Identifier: MIT */
/* generic_kernel.c - the kernels of generic_kernel.h as C records them, for cxx_user.cpp. */
#include "generic_kernel_c.h"
#include "generic_kernel.h"

wg_real smooth_in_c(wg_tape *t, const wg_real *x) { return smooth_real(t, x); }
wg_real exact_in_c(wg_tape *t, const wg_real *x) { return exact_real(t, x); }
wg_real branches_in_c(wg_tape *t, const wg_real *x) { return branches_real(t, x); }
wg_real own_operations_in_c(wg_tape *t, const wg_real *x) { return own_operations_real(t, x); }
wg_real wide_in_c(wg_tape *t, const wg_real *x) {
    const wg_real a = x[0], b = x[1], c = x[2], d = x[3];
    const wg_real pairs = wg_let(
        t, wg_add(wg_mul(wg_mul(a, b), wg_mul(a, b)), wg_div(wg_mul(a, b), wg_hypot(a, b))));
    const wg_real five = wg_let(t, wg_fma(wg_mul(a, b), wg_sub(a, b), wg_sin(c)));
    const wg_real eight =
        wg_let(t, wg_sub(wg_mul(wg_mul(a, 2), wg_mul(b, c)),
                         wg_mul(wg_sqrt(d), wg_mul(wg_mul(d, c), wg_pow(wg_exp(b), a)))));
    const wg_real none = wg_let(t, wg_mul(wg_floor(2.5), 3));
    return wg_let(t, wg_add(wg_add(pairs, five), wg_mul(eight, none)));
}

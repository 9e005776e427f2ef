/* SPDX-License-Identifier: MIT */
/* A sweep whose status nobody looks at: its adjoints may be those of another one.
 * both: ignoring return value
 * both: warn_unused_result */
#include <stdio.h>
#include <wengert.h>

int unchecked_status(wg_tape *t, wg_real x);
int unchecked_status(wg_tape *t, wg_real x) {
    const wg_real y = wg_let(t, wg_sin(x));
#ifdef RIGHT
    if (wg_reverse(t, y) != WG_OK) return 1;
#else
    wg_reverse(t, y);
#endif
    return printf("%g\n", wg_adjoint(t, x)) < 0;
}

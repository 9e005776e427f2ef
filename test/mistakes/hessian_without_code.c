/* SPDX-License-Identifier: MIT */
/* Second derivatives of a tape that keeps no code.
 * run: WG_EMODE
 * run: not possible in this mode of the tape */
#include <stdio.h>
#include <wengert.h>

int main(void) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 1.0), y = wg_let(t, wg_mul(x, x));
    double h;
    printf("%s\n", wg_status_text(wg_tape_hessian(t, y, 1, &x, &h, 1)));
    wg_tape_free(t);
    return 0;
}

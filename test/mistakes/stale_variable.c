/* SPDX-License-Identifier: MIT */
/* A variable is used after the reset of its tape.
 * run: WG_ESTALE
 * run: stale_variable.c:13
 * run: from before a reset */
#include <stdio.h>
#include <wengert.h>

int main(void) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 1.0);
    wg_tape_reset(t);
    wg_real y = wg_let(t, wg_mul(x, x));
    const wg_status s = wg_reverse(t, y);
    printf("%s; %s\n", wg_status_text(s), wg_tape_message(t));
    wg_tape_free(t);
    return 0;
}

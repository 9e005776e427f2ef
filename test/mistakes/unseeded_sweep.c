/* SPDX-License-Identifier: MIT */
/* A sweep from a result that depends on no input of the tape.
 * run: WG_ESEED
 * run: no output depends on an input of this tape */
#include <stdio.h>
#include <wengert.h>

int main(void) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real x = wg_constant(1.0); /* wg_input was meant */
    wg_real y = wg_let(t, wg_mul(x, x));
    printf("%s\n", wg_status_text(wg_reverse(t, y)));
    wg_tape_free(t);
    return 0;
}

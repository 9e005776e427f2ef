/* SPDX-License-Identifier: MIT */
/* A variable that a rewind has forgotten is an operand; its slot has a new owner.
 * run: WG_ESTALE
 * run: rewound_variable.c:16
 * run: reset or rewind */
#include <stdio.h>
#include <wengert.h>

int main(void) {
    wg_options checked = {.flags = WG_CHECKED};
    wg_tape *t = wg_tape_new(&checked);
    wg_real x = wg_input(t, 1.0);
    wg_mark mark = wg_tape_mark(t);
    wg_real y = wg_let(t, wg_mul(x, x));
    if (wg_tape_rewind(t, mark) != WG_OK) return 1;
    (void)wg_let(t, wg_exp(x)), y = wg_let(t, wg_sin(y));
    printf("%s; %s\n", wg_status_text(wg_tape_status(t)), wg_tape_message(t));
    wg_tape_free(t);
    return 0;
}

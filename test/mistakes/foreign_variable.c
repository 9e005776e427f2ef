/* SPDX-License-Identifier: MIT */
/* A variable of another tape is an operand.
 * run: WG_ESTALE
 * run: foreign_variable.c:13
 * run: variable of another tape */
#include <stdio.h>
#include <wengert.h>

int main(void) {
    wg_tape *t = wg_tape_new(NULL), *u = wg_tape_new(NULL);
    wg_real x = wg_input(t, 1.0), z = wg_input(u, 2.0);
    wg_real y = wg_let(t, wg_mul(x, x));
    y = wg_let(t, wg_mul(y, wg_sin(z)));
    const wg_status s = wg_reverse(t, y);
    wg_tape_free(u);
    printf("%s; %s\n", wg_status_text(s), wg_tape_message(t));
    wg_tape_free(t);
    return 0;
}

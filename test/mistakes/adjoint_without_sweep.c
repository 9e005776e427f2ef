/* SPDX-License-Identifier: MIT */
/* Adjoints are read and nothing has been swept.
 * run: WG_ESEED
 * run: nan */
#include <stdio.h>
#include <wengert.h>

int main(void) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 1.0);
    double g = 0.0;
    printf("%s\n", wg_status_text(wg_adjoints(t, 1, &x, &g)));
    printf("%f\n", wg_adjoint(t, x));
    wg_tape_free(t);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* The smallest complete program: r = sqrt(x^2 + y^2) and both its derivatives at (3, 4). */
#include <stdio.h>

#include <wengert.h>

int main(void) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 3), y = wg_input(t, 4);
    wg_real r = wg_let(t, wg_sqrt(wg_add(wg_mul(x, x), wg_mul(y, y))));
    wg_status status = wg_reverse(t, r);
    if (status == WG_OK)
        printf("r = %g, dr/dx = %g, dr/dy = %g\n", wg_value(r), wg_adjoint(t, x),
               wg_adjoint(t, y));
    else fprintf(stderr, "hello: %s\n", wg_status_text(status));
    wg_tape_free(t);
    return status != WG_OK;
}

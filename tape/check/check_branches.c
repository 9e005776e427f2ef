/* SPDX-License-Identifier: MIT */
/* wg_check_branches: tape/engine/value_branches.c at points of the user's. */
#include "tape/engine/value_branches.h"

wg_status wg_check_branches(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                            size_t m, size_t points, const double *at) {
    static const char call[] = "wg_check_branches";
    wgi_drive d;
    wg_status s = wgi_drive_open(&d, t, call, f, data, n, m, 0);
    /* what is wrong at x is said as every driver says it */
    if (s == WG_OK) s = wgi_drive_run(&d, 0, x);
    if (s == WG_OK) {
        wgi_drive_begin(&d, 0, 0);
        s = wgi_value_branches(d.c, call, f, data, n, x, m, points, at);
    }
    return wgi_drive_close(&d, s);
}

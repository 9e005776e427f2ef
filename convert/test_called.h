/* SPDX-License-Identifier: MIT */
/* test_called.h - beneath a converted file, in a library that tests load: its derivatives by the driver
 * (wg_jacobian), by a reverse sweep for each output and by tangents for each input. */
#ifndef CONVERT_TEST_CALLED_H
#define CONVERT_TEST_CALLED_H

#include <stdio.h>
#include <wengert.h>

/* NULL, or what went wrong. Jacobians are by rows. */
__attribute__((unused)) static const char *wgt_derivatives(wg_callback *f, void *data, size_t n,
                                                           const double *x, size_t m, double *y,
                                                           double *jacobian, double *reverse,
                                                           double *forward) {
    static char said[256];
    enum { MOST = 16 };
    double again[MOST], row[MOST] = {0}, column[MOST] = {0}, tangent[MOST];
    wg_tape *const t = wg_tape_new(NULL);
    wg_status s = n <= MOST && m <= MOST ? WG_OK : WG_ESHAPE;
    if (s == WG_OK) s = wg_jacobian(t, f, data, n, x, m, y, WG_ROW_MAJOR, jacobian, n);
    for (size_t i = 0; s == WG_OK && i < m; i++) {
        row[i] = 1;
        s = wg_vjp(t, f, data, n, x, m, row, again, reverse + i * n);
        row[i] = 0;
    }
    for (size_t j = 0; s == WG_OK && j < n; j++) {
        column[j] = 1;
        s = wg_jvp(t, f, data, n, x, column, m, again, tangent);
        column[j] = 0;
        for (size_t i = 0; i < m; i++) forward[i * n + j] = tangent[i];
    }
    if (s != WG_OK)
        (void)snprintf(said, sizeof said, "%s: %s", wg_status_text(s), wg_tape_message(t));
    wg_tape_free(t);
    return s == WG_OK ? NULL : said;
}

#endif

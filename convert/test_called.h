/* SPDX-License-Identifier: MIT */
/* test_called.h - beneath a converted file, in a library that tests load: its derivatives by
 * the driver (wg_jacobian), by a reverse sweep for each output and by tangents for each
 * input. */
#ifndef CONVERT_TEST_CALLED_H
#define CONVERT_TEST_CALLED_H

#include <stdio.h>
#include <string.h>
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

#ifdef WENGERT_DUAL_H
typedef wg_status wgt_of_doubles(wg_tape *t, size_t n, const double *x, size_t m, double *y,
                                 void *data);
typedef wg_status wgt_of_duals(wg_tape *t, size_t n, const wg_dual *x, size_t m, wg_dual *y,
                               void *data);

/* The same of a kernel for three types: values of all are the same, and the forward sweep is
 * that of duals. */
__attribute__((unused)) static const char *
wgt_of_three_types(wg_callback *f, wgt_of_doubles *of_doubles, wgt_of_duals *of_duals,
                   void *data, size_t n, const double *x, size_t m, double *y, double *jacobian,
                   double *reverse, double *forward) {
    enum { MOST = 16 };
    double again[MOST];
    wg_dual at[MOST], out[MOST];
    const char *const said = wgt_derivatives(f, data, n, x, m, y, jacobian, reverse, forward);
    if (said != NULL) return said;
    if (of_doubles(NULL, n, x, m, again, data) != WG_OK) return "doubles: an error";
    if (memcmp(again, y, m * sizeof *y) != 0) return "doubles: another value";
    for (size_t first = 0; first < n; first += WG_DUAL_WIDTH) {
        const size_t end = first + WG_DUAL_WIDTH < n ? first + WG_DUAL_WIDTH : n;
        for (size_t k = 0; k < n; k++)
            at[k] =
                k >= first && k < end ? wg_dual_input(x[k], k - first) : wg_dual_constant(x[k]);
        if (of_duals(NULL, n, at, m, out, data) != WG_OK) return "duals: an error";
        for (size_t i = 0; i < m; i++) {
            const double v = wg_dual_value(out[i]);
            if (memcmp(&v, &y[i], sizeof v) != 0) return "duals: another value";
            for (size_t k = first; k < end; k++)
                forward[i * n + k] = wg_dual_tangent(out[i], k - first);
        }
    }
    return NULL;
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* second_order.h - second derivatives of a recording that keeps its code. Internal. */
#ifndef WGI_TAPE_DRIVERS_SECOND_ORDER_H
#define WGI_TAPE_DRIVERS_SECOND_ORDER_H

#include "tape/engine/drive.h"

/* The local second derivatives of the recording as records of c->second, in order of `out`: of
 * kind LOCAL, d2 out / d in0 d in1 = jac0; or an array operation, of kind WHOLE: jac0 is the
 * word of its code. Nothing is done where they are there already. */
enum { WGI_SECOND_LOCAL, WGI_SECOND_WHOLE };
wg_status wgi_second_prepare(wgi_core *c);

/* What the two passes of a Hessian times vectors work on. Rows of `lanes` (1, 2, 4, 8) doubles
 * per slot up to the root: tangents vt, and in wt what the passes give. */
typedef struct wgi_passes {
    wgi_core *c;
    uint32_t root;
    size_t lanes;
    uint64_t records, second;
    const double *w;
    double *vt, *wt;
    double *x, *xt, *ht, *work; /* one array operation */
} wgi_passes;

/* Prepares everything for sum_j w[j] y[j] (w NULL: all 1), of which one at least is a variable:
 * local second derivatives, adjoints (to be read afterwards), workspace. No blocks. */
wg_status wgi_second_open(wgi_core *c, const char *call, size_t m, const wg_real *y,
                          const double *w, size_t lanes, wgi_passes *p);
/* Before directions are put into vt; and the passes. */
void wgi_second_clear(const wgi_passes *p);
void wgi_second_run(const wgi_passes *p);

/* hv = H v, or where hv is NULL h = H, of output j, after wgi_drive_run. */
wg_status wgi_drive_second(wgi_drive *d, size_t j, const double *v, double *hv, double *h,
                           size_t ld);

#endif

/* SPDX-License-Identifier: MIT */
/* second_order.h - second derivatives of a recording that keeps its code. Internal. */
#ifndef WGI_TAPE_DRIVERS_SECOND_ORDER_H
#define WGI_TAPE_DRIVERS_SECOND_ORDER_H

#include "tape/engine/drive.h"

/* Makes the local second derivatives of the recording: records of c->second, in the order of
 * `out`. One of kind LOCAL says that jac0 is d2 out / d in0 d in1; one of kind WHOLE stands for
 * an array operation, and its jac0 is the word at which its code begins. If they are there
 * already nothing is done. */
enum { WGI_SECOND_LOCAL, WGI_SECOND_WHOLE };
wg_status wgi_second_prepare(wgi_core *c);

/* What the two passes of a Hessian times vectors work on: rows of `lanes` (1, 2, 4 or 8)
 * doubles for each slot up to the root. The tangents are in vt, and the passes leave their
 * result in wt. */
typedef struct wgi_passes {
    wgi_core *c;
    const char *call; /* for messages */
    wg_tape *beside;  /* for the adjoints of operations on matrices; NULL: not needed yet */
    uint32_t root;
    size_t lanes;
    uint64_t records, second;
    const double *w;
    double *vt, *wt;
    double *x, *xt, *ht, *work; /* workspace for one array operation */
    double *results;            /* room for what the caller stores when nothing can fail any more */
} wgi_passes;

/* Can that be done of the recording up to y? Of an operation on matrices that has only an
 * expansion in statements it cannot. */
int wgi_second_possible(const wgi_core *c, size_t m, const wg_real *y);

/* Prepares everything for the sum of w[j] y[j], where w NULL stands for ones, and one y at
 * least is a variable: local second derivatives, adjoints (which may be read afterwards),
 * workspace, and room for so many results. */
wg_status wgi_second_open(wgi_core *c, const char *call, size_t m, const wg_real *y,
                          const double *w, size_t lanes, size_t results, wgi_passes *p);
/* _clear, before directions are put into vt; then _run does the passes. _close, also after a
 * failure of _open or _run, which have refused then. */
void wgi_second_clear(const wgi_passes *p);
wg_status wgi_second_run(wgi_passes *p);
void wgi_second_close(wgi_passes *p);

/* Of one operation on matrices, in the last pass; and whether that is known of it. */
wg_status wgi_second_block(wgi_passes *p, const wgi_block *b);
int wgi_second_knows(const wgi_block *b);
/* The last slot whose tangent that reads; 0: none. */
uint32_t wgi_second_reads(const wgi_block *b);

/* After wgi_drive_run: hv = H v for output j; or, where hv is NULL, h = H. */
wg_status wgi_drive_second(wgi_drive *d, size_t j, const double *v, double *hv, double *h,
                           size_t ld);

#endif

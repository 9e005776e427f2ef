/* SPDX-License-Identifier: MIT */
/* krylov.h - iterations that solve A x = b by products with A. Internal. */
#ifndef WGI_TAPE_DRIVERS_KRYLOV_H
#define WGI_TAPE_DRIVERS_KRYLOV_H

#include <stddef.h>
#include <wengert/types.h>

/* y = A x */
typedef wg_status wgi_krylov_product(void *ctx, const double *x, double *y);

typedef struct wgi_krylov {
    wgi_krylov_product *product;
    void *ctx;
    size_t n, iterations, restart;
    double tolerance;
    const char *why; /* of a failure that is not the product's */
} wgi_krylov;

/* x = A^-1 b for b that is finite. room: wgi_..._doubles. */
size_t wgi_cg_doubles(size_t n);
size_t wgi_gmres_doubles(size_t n, size_t restart);
wg_status wgi_cg(wgi_krylov *k, const double *b, double *x, double *room);
wg_status wgi_gmres(wgi_krylov *k, const double *b, double *x, double *room);

#endif

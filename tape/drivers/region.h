/* SPDX-License-Identifier: MIT */
/* region.h - regions of a step of the user's: values, and products with their Jacobians.
 * Internal.
 *
 * Regions are numbered through: number i is region i % regions of step i / regions. x stands
 * for the state and the parameters behind it. */
#ifndef WGI_TAPE_DRIVERS_REGION_H
#define WGI_TAPE_DRIVERS_REGION_H

#include "tape/engine/tape.h"

#include <wengert/drivers.h>
#include <wengert/map.h>

enum { WGI_REGION_WHY = 256 };

typedef struct wgi_steps {
    wg_tape *work; /* that regions are recorded on; NULL: it was freed */
    const wg_region *region;
    size_t regions, n, np;
    int judged; /* are recordings looked at for branches on values (value_branches.h)? */
    double *x;  /* n + np: workspace, and the parameters */
    char *why;  /* room for the reason of a failure; "" before */
} wgi_steps;

/* next = g(state). */
wg_status wgi_steps_value(const wgi_steps *s, size_t number, const double *state, double *next);
/* g = J' w, of n + np. */
wg_status wgi_steps_vjp(const wgi_steps *s, size_t number, const double *state, const double *w,
                        double *g);
/* next and dnext from s->x and its tangent, for a region that is recorded. */
wg_status wgi_steps_jvp(const wgi_steps *s, size_t number, const double *dx, double *next,
                        double *dnext);
/* Is it recorded, or by hand? */
static inline int wgi_steps_is_recorded(const wgi_steps *s, size_t number) {
    return s->region[number % s->regions].record != NULL;
}

/* The first region that is neither recorded nor by hand; `regions`: there is none. */
size_t wgi_regions_undefined(size_t regions, const wg_region *region);

#endif

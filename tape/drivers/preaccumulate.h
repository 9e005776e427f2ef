/* SPDX-License-Identifier: MIT */
/* preaccumulate.h - the local Jacobian of a stretch of tape. Internal. */
#ifndef WGI_TAPE_DRIVERS_PREACCUMULATE_H
#define WGI_TAPE_DRIVERS_PREACCUMULATE_H

#include "tape/engine/tape.h"

/* jac[j n + i] = dy[j] / dx[i], over what was recorded since the mark. A variable that occurs
 * twice in x counts once, where it occurs first. WG_EARG: it depends on a variable of before
 * that is not among x. */
wg_status wgi_local_jacobian(wgi_core *c, const char *call, wg_mark start, size_t n,
                             const wg_real *x, size_t m, const wg_real *y, double *jac);

#endif

/* SPDX-License-Identifier: MIT */
/* jacobian.h - what dense Jacobians of scalars and of matrices have in common. Internal. */
#ifndef WGI_TAPE_DRIVERS_JACOBIAN_H
#define WGI_TAPE_DRIVERS_JACOBIAN_H

#include <stddef.h>

/* Columns or rows of a Jacobian that are computed at a time. */
enum { WGI_JACOBIAN_LANES = 8 };

/* Is a Jacobian of m rows and k columns cheaper forward, column by column? */
int wgi_jacobian_forward(size_t k, size_t m);

#endif

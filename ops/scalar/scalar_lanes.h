/* SPDX-License-Identifier: MIT */
/* Rows of the scalar table at several points at once. */
#ifndef WGI_OPS_SCALAR_SCALAR_LANES_H
#define WGI_OPS_SCALAR_SCALAR_LANES_H

enum { WGI_POINTS = 8 };
typedef double wgi_lane_row[WGI_POINTS];

/* v, first partials d and second partials h (packed as in wg_scalar_op) of an operation at
 * WGI_POINTS points; x[k] is operand k at all of them. The bits of the scalar functions. Those
 * of a row with no second partials leave h alone. */
typedef void wgi_second_lanes(const double *const *x, double *v, wgi_lane_row *d,
                              wgi_lane_row *h);

/* By position in wgi_scalar_ops. */
extern wgi_second_lanes *const wgi_scalar_second_lanes[];

/* The second partials alone, where the values v are known. */
typedef void wgi_curves_lanes(const double *const *x, const double *v, wgi_lane_row *h);
extern wgi_curves_lanes *const wgi_scalar_curves_lanes[];

#endif

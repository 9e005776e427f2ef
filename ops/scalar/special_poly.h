/* SPDX-License-Identifier: MIT */
/* special_poly.h - polynomial evaluation for the special_*.c files. Their fitted polynomials
 * are Chebyshev interpolants of the functions named beside them, computed from 60 digits and
 * converted to powers of the reduced argument. */
#ifndef WGI_OPS_SCALAR_SPECIAL_POLY_H
#define WGI_OPS_SCALAR_SPECIAL_POLY_H

#include <stddef.h>

static inline double horner(size_t n, const double *k, double t) {
    double s = k[n - 1];
    for (size_t i = n - 1; i-- > 0;) s = s * t + k[i];
    return s;
}

#define HORNER(k, t) horner(sizeof(k) / sizeof(k)[0], k, t)

#endif

/* SPDX-License-Identifier: MIT */
/* implicit_system.h - the Jacobians of a system F(x, p) = 0 at one point, factored.
 * Internal. */
#ifndef WGI_OPS_MATRIX_IMPLICIT_SYSTEM_H
#define WGI_OPS_MATRIX_IMPLICIT_SYSTEM_H

#include <stddef.h>

/* lu is F_x, then its LU factors; fp is F_p. Row-major, so that the factors are those of
 * F_x'. */
typedef struct wgi_implicit {
    size_t n, np;
    double *lu, *fp; /* n-by-n, n-by-np */
    int *pivot;
} wgi_implicit;

/* Factors lu in place. Gives LAPACK's info. */
int wgi_implicit_factor(const wgi_implicit *f);
/* w = F_x^-1 w, or F_x^-T w. */
void wgi_implicit_solve(const wgi_implicit *f, int transposed, double *w);
/* to -= F_p v, or F_p' v. */
void wgi_implicit_subtract(const wgi_implicit *f, int transposed, const double *v, double *to);

#endif

/* SPDX-License-Identifier: MIT */
/* Drivers: from a function of the user's to values and derivatives, in one call.
 *
 * The tape is reset by every driver and is workspace only; from the second call on a driver makes
 * no allocation. x has n entries, y has m. Outputs that are NULL are not wanted. */
#ifndef WENGERT_DRIVERS_H
#define WENGERT_DRIVERS_H

#include <wengert/tape.h>

WG_BEGIN_DECLS

/* The user's function: reads x[0..n), writes y[0..m), records on t. Returns WG_OK, or a failure
 * that the driver passes on (a status of the tape comes first). */
typedef wg_status wg_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data);

typedef enum wg_layout { WG_ROW_MAJOR, WG_COL_MAJOR } wg_layout;

/* wg_eval - y = f(x), nothing recorded. */
WG_API wg_status wg_eval(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                         size_t m, double *y);

/* wg_gradient - *value = f(x) and g = its gradient, for m = 1.  A constant f: g = 0. */
WG_API wg_status wg_gradient(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                             double *value, double *g);

/* wg_jacobian - y = f(x) and J = dy/dx, m-by-n, in the layout and with the leading dimension
 * given (ROW_MAJOR: ld >= n; COL_MAJOR: ld >= m). Forward or reverse, whichever is cheaper for
 * the shape, several columns or rows at once.
 * Errors: WG_ENULL, WG_ESHAPE (ld), WG_ECALLBACK, the tape's own. */
WG_API wg_status wg_jacobian(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                             size_t m, double *y, wg_layout layout, double *jac, size_t ld);

/* wg_jacobian_groups - the same with the inputs in named groups: group g has size[g] entries,
 * x[g] their values, jac[g] the m-by-size[g] block (NULL: not wanted), ld[g] its leading
 * dimension. The user's function sees all inputs in order of the groups. */
WG_API wg_status wg_jacobian_groups(wg_tape *t, wg_callback *f, void *data, size_t groups,
                                    const size_t *size, const double *const *x, size_t m,
                                    double *y, wg_layout layout, double *const *jac,
                                    const size_t *ld);

/* wg_jvp - y = f(x), jv = J v.   wg_vjp - y = f(x), g = J' w. */
WG_API wg_status wg_jvp(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                        const double *v, size_t m, double *y, double *jv);
WG_API wg_status wg_vjp(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                        size_t m, const double *w, double *y, double *g);

/* wg_hvp - value, gradient and H v for m = 1;  wg_hessian - value, gradient and H, n-by-n, both
 * triangles.  The tape must have been opened with WG_KEEP_CODE (else WG_EMODE). */
WG_API wg_status wg_hvp(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                        const double *v, double *value, double *g, double *hv);
WG_API wg_status wg_hessian(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                            double *value, double *g, double *h, size_t ld);

/* ---- trust ------------------------------------------------------------------------------ */

/* What wg_check_gradient found. */
typedef struct wg_check {
    double fd_error;     /* largest |J v - finite difference| over the directions tried */
    double fd_estimate;  /* the estimated error of that finite difference itself */
    double dot_error;    /* largest relative |<w, J v> - <J' w, v>| */
    size_t output;       /* where the largest disagreement was found */
    size_t direction;
} wg_check;

/* wg_check_gradient - compares tangents with finite differences (Ridders' extrapolation, which
 * estimates its own error) along every coordinate when n <= 32 and along 32 fixed random
 * directions otherwise, and tangents with adjoints: <w, J v> = <J' w, v>.
 * Errors: WG_EMISMATCH (the message of the tape says where), WG_ENONFINITE, as the drivers. */
WG_API wg_status wg_check_gradient(wg_tape *t, wg_callback *f, void *data, size_t n,
                                   const double *x, size_t m, wg_check *result);

WG_END_DECLS

#endif

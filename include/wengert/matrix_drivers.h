/* SPDX-License-Identifier: MIT */
/* Drivers for functions of matrices: from a callback on matrices to values and derivatives, in
 * one call. They are to wg_mat what those of drivers.h are to wg_real, and share what these say
 * of the tape: it is workspace only, left empty and in its mode; from the second call on there
 * is no allocation; outputs that are not wanted are NULL; a failure leaves all outputs as they
 * were.
 *
 * Letters: n inputs x and m outputs y of the function, each a matrix; a scalar is 1-by-1. v are
 * directions in the shapes of x, w weights in the shapes of y. Of derivatives by an input that
 * nobody wants the input is a constant, and costs nothing. Matrices may be empty, n and m 0.
 *
 * Errors, of all of them: those of drivers.h, where a message names the matrix, as g[1], and
 * its shapes; WG_ESHAPE: ld is less than the rows; what is given or wanted has not the shape of
 * its input or output; an output that the function has not set, or that failed. */
#ifndef WENGERT_MATRIX_DRIVERS_H
#define WENGERT_MATRIX_DRIVERS_H

#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* A matrix in the caller's memory, column-major: element (i, j) is value[i + j ld]. ld 0 stands
 * for rows: {a, 3, 2, 0} is a 3-by-2 matrix without gaps, {&a, 1, 1, 1} a number. */
typedef struct wg_mat_values {
    const double *value;
    size_t rows, cols, ld;
} wg_mat_values;

/* The same to be written to. value NULL: it is not wanted, and the other fields are not looked
 * at, but where a call says so. */
typedef struct wg_mat_result {
    double *value;
    size_t rows, cols, ld;
} wg_mat_result;

/* The user's function: reads x[0..n), sets y[0..m), records on t. Its outputs may be inputs,
 * views and constants; for a scalar variable see wg_mat_from_real. It returns, and is called,
 * as a wg_callback is. */
typedef wg_status wg_mat_callback(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                                  void *data);

/* wg_mat_eval - y = f(x), nothing recorded. */
WG_API WG_MUST_CHECK wg_status wg_mat_eval(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                                           const wg_mat_values *x, size_t m,
                                           const wg_mat_result *y);

/* wg_mat_gradient - *value = f(x) and g[i] = its gradient by x[i], for m = 1 and an output that
 * is 1-by-1.
 * Shapes:  g[i] as x[i]. */
WG_API WG_MUST_CHECK wg_status wg_mat_gradient(wg_tape *t, wg_mat_callback *f, void *data,
                                               size_t n, const wg_mat_values *x, double *value,
                                               const wg_mat_result *g);

/* wg_mat_vjp - y = f(x), g[i] = the gradient by x[i] of sum_j <w[j], y[j]>, all outputs seeded
 * in one sweep.
 * Shapes:  w[j] and y[j] as output j, g[i] as x[i]. w[j].value NULL: all 0.
 * Cost:    one recording, one sweep. */
WG_API WG_MUST_CHECK wg_status wg_mat_vjp(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                                          const wg_mat_values *x, size_t m,
                                          const wg_mat_values *w, const wg_mat_result *y,
                                          const wg_mat_result *g);

/* wg_mat_jvp - y = f(x), jv[j] = the derivative of y[j] along v, all inputs moved at once.
 * Shapes:  v[i] as x[i], y[j] and jv[j] as output j. v[i].value NULL: all 0.
 * Cost:    one evaluation with a tangent, nothing recorded. */
WG_API WG_MUST_CHECK wg_status wg_mat_jvp(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                                          const wg_mat_values *x, const wg_mat_values *v,
                                          size_t m, const wg_mat_result *y,
                                          const wg_mat_result *jv);

/* wg_mat_jacobian - y = f(x), and jac[j n + i] = dy[j]/dx[i], its rows the elements of y[j] and
 * its columns those of x[i], both column after column. Forward or reverse, whichever is cheaper
 * for the shape.
 * Shapes:  y[j] as output j: its rows and cols are read also where its value is NULL; jac of m
 *          n blocks, rows and columns as many as elements.
 * Cost:    as wg_jacobian, and room for all rows of the wanted inputs. */
WG_API WG_MUST_CHECK wg_status wg_mat_jacobian(wg_tape *t, wg_mat_callback *f, void *data,
                                               size_t n, const wg_mat_values *x, size_t m,
                                               const wg_mat_result *y,
                                               const wg_mat_result *jac);

/* wg_mat_hvp - y = f(x); of the sum s = sum_j <w[j], y[j]> the gradient g and hv, its Hessian
 * times v: hv[i] = the derivative of g[i] along v.   w NULL: for m = 1, s is the output,
 * 1-by-1. wg_mat_hessian - h[i n + k] = d2 s / dx[i] dx[k], its rows the elements of x[i] and
 * its columns those of x[k]; blocks that are not wanted are NULL, most of them where not all
 * inputs matter.
 * Shapes:  v[i], g[i], hv[i] as x[i], v[i].value NULL: all 0;  w[j], y[j] as output j, w[j].value
 *          NULL: all 0;  h of n n blocks.
 * Cost:    as wg_tape_hvp, wg_tape_hessian; room for the whole Hessian by the inputs that
 *          matter.
 * Errors:  WG_EMODE: the tape was not opened with WG_KEEP_CODE, or an operation has no second
 *          derivatives. */
WG_API WG_MUST_CHECK wg_status wg_mat_hvp(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                                          const wg_mat_values *x, const wg_mat_values *v,
                                          size_t m, const wg_mat_values *w,
                                          const wg_mat_result *y, const wg_mat_result *g,
                                          const wg_mat_result *hv);
WG_API WG_MUST_CHECK wg_status wg_mat_hessian(wg_tape *t, wg_mat_callback *f, void *data,
                                              size_t n, const wg_mat_values *x, size_t m,
                                              const wg_mat_values *w, const wg_mat_result *y,
                                              const wg_mat_result *g, const wg_mat_result *h);

WG_END_DECLS

#endif

/* SPDX-License-Identifier: MIT */
/* Drivers: from a function of the user's to values and derivatives, in one call.
 *
 * The tape is workspace only: a driver resets it at its start and leaves it empty, in the mode
 * it was in; from the second call on it makes no allocation. x has n entries, y has m; both may
 * be 0. Outputs that are NULL are not wanted. A failure leaves all outputs as they were; the
 * tape keeps its status and message until the next driver or reset.
 *
 * Errors, of all of them: WG_ENULL (the message names the argument); what the function
 * returned, WG_ECALLBACK when that is no status; WG_ESHAPE: it wrote more than m outputs;
 * WG_ESTALE: the function reset the tape, or an output is a variable of another recording;
 * WG_EMODE: a driver called by the function of a driver on the same tape; the tape's own
 * (WG_ENOMEM, WG_EBUDGET, WG_ESLOTS, WG_ENONFINITE on a traced tape). */
#ifndef WENGERT_DRIVERS_H
#define WENGERT_DRIVERS_H

#include <wengert/tape.h>

WG_BEGIN_DECLS

/* The user's function: reads x[0..n), writes y[0..m), records on t. Returns WG_OK, or a failure
 * that the driver passes on (a status of the tape comes first). It may be called several times
 * for one derivative. An output that does not depend on x has derivatives 0; one that is never
 * written is a NaN with derivatives NaN. */
typedef wg_status wg_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data);

typedef enum wg_layout { WG_ROW_MAJOR, WG_COL_MAJOR } wg_layout;

/* wg_eval - y = f(x), nothing recorded. */
WG_API WG_MUST_CHECK wg_status wg_eval(wg_tape *t, wg_callback *f, void *data, size_t n,
                                       const double *x, size_t m, double *y);

/* wg_gradient - *value = f(x) and g = its gradient, for m = 1.  A constant f: g = 0. */
WG_API WG_MUST_CHECK wg_status wg_gradient(wg_tape *t, wg_callback *f, void *data, size_t n,
                                           const double *x, double *value, double *g);

/* wg_jacobian - y = f(x) and J = dy/dx, m-by-n, in the layout and with the leading dimension
 * given (ROW_MAJOR: ld >= n; COL_MAJOR: ld >= m). Forward or reverse, whichever is cheaper for
 * the shape.
 * Cost:    reverse: one recording and ceil(m/8) sweeps with 8 adjoints each; forward: ceil(n/8)
 *          evaluations with 8 tangents each, and m n numbers of workspace when there are
 *          several.
 * Errors:  WG_ESHAPE: ld; WG_EARG: layout. */
WG_API WG_MUST_CHECK wg_status wg_jacobian(wg_tape *t, wg_callback *f, void *data, size_t n,
                                           const double *x, size_t m, double *y,
                                           wg_layout layout, double *jac, size_t ld);

/* wg_jacobian_groups - the same with the inputs in named groups: group g has size[g] entries,
 * x[g] their values, jac[g] the m-by-size[g] block (NULL: not wanted), ld[g] its leading
 * dimension. The user's function sees all inputs in order of the groups; those of groups that
 * are not wanted are constants, and cost nothing. */
WG_API WG_MUST_CHECK wg_status wg_jacobian_groups(wg_tape *t, wg_callback *f, void *data,
                                                  size_t groups, const size_t *size,
                                                  const double *const *x, size_t m, double *y,
                                                  wg_layout layout, double *const *jac,
                                                  const size_t *ld);

/* wg_jvp - y = f(x), jv = J v.   wg_vjp - y = f(x), g = J' w. */
WG_API WG_MUST_CHECK wg_status wg_jvp(wg_tape *t, wg_callback *f, void *data, size_t n,
                                      const double *x, const double *v, size_t m, double *y,
                                      double *jv);
WG_API WG_MUST_CHECK wg_status wg_vjp(wg_tape *t, wg_callback *f, void *data, size_t n,
                                      const double *x, size_t m, const double *w, double *y,
                                      double *g);

/* wg_hvp - value, gradient and H v for m = 1;  wg_hessian - value, gradient and H, n-by-n, both
 * triangles.  The tape must have been opened with WG_KEEP_CODE (else WG_EMODE). */
WG_API WG_MUST_CHECK wg_status wg_hvp(wg_tape *t, wg_callback *f, void *data, size_t n,
                                      const double *x, const double *v, double *value,
                                      double *g, double *hv);
WG_API WG_MUST_CHECK wg_status wg_hessian(wg_tape *t, wg_callback *f, void *data, size_t n,
                                          const double *x, double *value, double *g, double *h,
                                          size_t ld);

/* ---- vectors with a stride --------------------------------------------------------------- */

/* Where the entries of a vector stand: entry i at data[i stride], as in a column of a row-major
 * matrix, or in an array of structures; strides may be negative, and of what is read 0: the
 * same for all. data NULL: not given, or not wanted. (In functions: wg_points and wg_results;
 * in functions of matrices a vector is a row with a leading dimension.) */
typedef struct wg_strided {
    const double *data;
    ptrdiff_t stride;
} wg_strided;
typedef struct wg_strided_result {
    double *data;
    ptrdiff_t stride;
} wg_strided_result;

/* wg_eval_strided, wg_gradient_strided, wg_jvp_strided, wg_vjp_strided, wg_hvp_strided,
 * wg_hessian_strided - the drivers so named, for such vectors, with the same bits.
 * wg_jacobian_strided - entry (j, i) of the Jacobian at jac[j row + i col].
 * Results must not overlap what is read.
 * Errors:  WG_EARG: a stride of 0 in a result of several entries. */
WG_API WG_MUST_CHECK wg_status wg_eval_strided(wg_tape *t, wg_callback *f, void *data, size_t n,
                                               wg_strided x, size_t m, wg_strided_result y);
WG_API WG_MUST_CHECK wg_status wg_gradient_strided(wg_tape *t, wg_callback *f, void *data,
                                                   size_t n, wg_strided x, double *value,
                                                   wg_strided_result g);
WG_API WG_MUST_CHECK wg_status wg_jacobian_strided(wg_tape *t, wg_callback *f, void *data,
                                                   size_t n, wg_strided x, size_t m,
                                                   wg_strided_result y, double *jac,
                                                   ptrdiff_t row, ptrdiff_t col);
WG_API WG_MUST_CHECK wg_status wg_jvp_strided(wg_tape *t, wg_callback *f, void *data, size_t n,
                                              wg_strided x, wg_strided v, size_t m,
                                              wg_strided_result y, wg_strided_result jv);
WG_API WG_MUST_CHECK wg_status wg_vjp_strided(wg_tape *t, wg_callback *f, void *data, size_t n,
                                              wg_strided x, size_t m, wg_strided w,
                                              wg_strided_result y, wg_strided_result g);
WG_API WG_MUST_CHECK wg_status wg_hvp_strided(wg_tape *t, wg_callback *f, void *data, size_t n,
                                              wg_strided x, wg_strided v, double *value,
                                              wg_strided_result g, wg_strided_result hv);
WG_API WG_MUST_CHECK wg_status wg_hessian_strided(wg_tape *t, wg_callback *f, void *data,
                                                  size_t n, wg_strided x, double *value,
                                                  wg_strided_result g, double *h, size_t ld);

/* ---- Taylor coefficients ----------------------------------------------------------------- */

/* wg_taylor - the Taylor coefficients of y(s) = f(x(s)) at s = 0, where those of x(s) are
 * given: column k of x and c holds what stands with s^k. Along a line columns 2, 3, ... of x
 * are 0.
 * wg_taylor_vjp - also its adjoint: g = the derivatives by all entries of x of sum w c, over
 * all coefficients.
 * Shapes:  x, g n-by-(order + 1), c, w m-by-(order + 1), column-major without gaps; order < 64.
 * Cost:    one recording, each statement of which is taken apart once for all that are alike;
 *          where there are operations on matrices, or several hundred codes of statements, all
 *          of it, loops written out. Then the square of the order for each operation, by
 *          recurrences (Griewank, Walther 2008, ch. 13), and a row of order + 1 numbers of
 *          memory for each variable, rounded up to 17, 33, 49 or 65. Measured with callbacks of
 *          some thousand operations (bench/taylor): order 16 takes 35 to 95 times as long as
 *          the plain computation, 140 where that is products of vectors, order 32 80 to 230
 *          times; the adjoint takes 4 to 9 times that. At many points: wg_function_taylor, by
 *          far faster, which says more of powers.
 * Values:  NaN or infinite from order 1 on where an operation has no series: roots, logarithms,
 *          powers whose exponent varies, where what is raised falls, at 0; a power of 0 by e
 *          has one up to the order e, q e where what is raised begins with s^q. A 0 that does
 *          not move up to an order counts there as one that stays, by the zero rule: the roots
 *          of s^4 are 0 up to s^3. Where a power underflows, or it, wg_hypot or a norm is
 *          infinite, order 1 has the slopes of the tape, what comes behind is NaN, or 0 where it
 *          would underflow as well. At kinks those of one side or of slope 0, as first
 *          derivatives have it.
 * Errors:  WG_EARG: the order; WG_EMODE: the tape was not opened with WG_KEEP_CODE, or has an
 *          operation that has no such derivatives: a large one on whole matrices among them;
 *          the message names it. */
WG_API WG_MUST_CHECK wg_status wg_taylor(wg_tape *t, wg_callback *f, void *data, size_t n,
                                         size_t order, const double *x, size_t m, double *c);
WG_API WG_MUST_CHECK wg_status wg_taylor_vjp(wg_tape *t, wg_callback *f, void *data, size_t n,
                                             size_t order, const double *x, size_t m,
                                             const double *w, double *c, double *g);

/* ---- trust ------------------------------------------------------------------------------ */

/* What wg_check_gradient found, or in parentheses wg_check_hessian. */
typedef struct wg_check {
    double fd_error; /* |J v - finite difference| (|u' H v - ...|) where it is largest for its
                           estimate */
    double fd_estimate; /* the estimated error of that finite difference itself */
    size_t output;      /* where that is: y[output], along the input or direction */
    size_t direction;
    double dot_error; /* largest |<w, J v> - <J' w, v>| (|<u, H v> - <v, H u>|), relative to the
                         sum of its terms, or 1e-6 of that along all inputs if it is more */
} wg_check;

/* wg_check_gradient - compares tangents with finite differences (Ridders' extrapolation, which
 * estimates its own error) along every input when n <= 32 and along 32 fixed random directions
 * otherwise, all scaled by the size of the inputs, and tangents with adjoints: <w, J v> =
 * <J' w, v>. At a kink or a jump of f finite differences are no judge.
 * Cost:   28 to 76 evaluations, and 65 for each direction (along an input below 2^-6 another
 *         64).  result: also set when they differ; NaN, output and direction 0 where it has not
 *         come to a verdict.
 * Errors: WG_EMISMATCH (the message says where); WG_ENONFINITE: a value or derivative at x, or
 *         every value near x, is NaN or infinite. */
WG_API WG_MUST_CHECK wg_status wg_check_gradient(wg_tape *t, wg_callback *f, void *data,
                                                 size_t n, const double *x, size_t m,
                                                 wg_check *result);

/* wg_check_hessian - the same one order higher, for the Hessian H of every output: compares
 * u' H v with finite differences of the tangent along u, in the directions v of
 * wg_check_gradient and one fixed random direction u, and <u, H v> with <v, H u>. Tangents are
 * taken to be right: wg_check_gradient comes first. The tape must have been opened with
 * WG_KEEP_CODE.
 * Cost:   28 to 76 evaluations with a tangent, for each direction 64 (along an input below 2^-6
 *         another 64) and two Hessian-vector products for each output.  result: also set when
 *         they differ.
 * Errors: WG_EMODE: no kept code, or an operation without second derivatives; otherwise as
 *         wg_check_gradient. */
WG_API WG_MUST_CHECK wg_status wg_check_hessian(wg_tape *t, wg_callback *f, void *data,
                                                size_t n, const double *x, size_t m,
                                                wg_check *result);

/* Where f may be evaluated, and how large a change of each input is: arrays of n, or NULL. */
typedef struct wg_check_range {
    /* lower <= x <= upper: f is called nowhere else; an input between two equal bounds is not
     * moved. NULL, or an infinity: no bound */
    const double *lower, *upper;
    /* positive: steps begin at an eighth of it. NULL: the size of the input */
    const double *scale;
} wg_check_range;

/* wg_check_gradient_within, wg_check_hessian_within - the same without leaving the bounds: next
 * to one differences are taken to one side.
 * Errors: WG_EARG: x is not within its bounds, or a scale is not positive. */
WG_API WG_MUST_CHECK wg_status wg_check_gradient_within(wg_tape *t, wg_callback *f, void *data,
                                                        size_t n, const double *x, size_t m,
                                                        const wg_check_range *range,
                                                        wg_check *result);
WG_API WG_MUST_CHECK wg_status wg_check_hessian_within(wg_tape *t, wg_callback *f, void *data,
                                                       size_t n, const double *x, size_t m,
                                                       const wg_check_range *range,
                                                       wg_check *result);

/* wg_check_branches - does f record the same at other points? A C branch on wg_value(x), and a
 * constant that was computed from it, are in a recording for ever, and whatever is made of it,
 * a function, a pattern, is wrong where they would be others. f is recorded at x and again at
 * other points, and operations, operands, numbers, constants and outputs are compared; after a
 * recorded comparison (wg_lt and its kin) that comes out differently they may differ.
 * points, at: so many points of n entries, one after the other. at NULL: six of the
 *         library's: -x, x in reverse order, 2 x, x with 1 added and subtracted in turn, 100 x,
 *         x / 100.
 * A point at which f fails is no finding; nor is anything found where f records on another tape
 * than the one it gets, or what a tape that keeps its code refuses (wg_preaccumulate),
 * or where there is no memory for two further recordings. f has to come back wherever it is
 * called, and records the same each time it is called at one point: one that counts its calls,
 * or draws numbers, is refused. What it leaves in data is of the point it was called at last,
 * which here is not x.
 * With WG_CHECKED this is done, with the library's points, by wg_function_record, and by
 * wg_branches_evaluate where it records; of wg_checkpoint in f each region is recorded so.
 * Patterns (sparsity.h) are compared with every recording that they are used for.
 * Errors: WG_EBRANCH: the message has both recordings where they first differ, with their
 *         places (WG_KEEP_PLACES). */
WG_API WG_MUST_CHECK wg_status wg_check_branches(wg_tape *t, wg_callback *f, void *data,
                                                 size_t n, const double *x, size_t m,
                                                 size_t points, const double *at);

WG_END_DECLS

#endif

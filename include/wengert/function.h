/* SPDX-License-Identifier: MIT */
/* Functions: a recording as a value.
 *
 * A function is recorded once from a callback, with named inputs and outputs. It is immutable
 * and refers to no tape: any number of threads may use it. derive.h makes its derivatives,
 * which are functions again; map.h calls it in a recording; emit.h writes it as C.
 *
 * It is evaluated at many points at once, in SIMD lanes: where a computation repeats over data,
 * a derivative costs little more than its arithmetic. What depends on shared inputs only is
 * computed once for all points. */
#ifndef WENGERT_FUNCTION_H
#define WENGERT_FUNCTION_H

#include <stddef.h>
#include <wengert/drivers.h>
#include <wengert/sparsity.h>
#include <wengert/threads.h>

WG_BEGIN_DECLS

typedef struct wg_function wg_function;

/* Inputs:  WG_SHARED: one value for all points. WG_PASSIVE: data, or a parameter: not
 *          differentiated.
 * Outputs: WG_SUMMED: the sum over all points; otherwise each point has its own. */
enum { WG_SHARED = 1, WG_PASSIVE = 2, WG_SUMMED = 4 };

/* An input or output: rows by cols entries, column after column. */
typedef struct wg_argument {
    const char *name; /* one word: printable ASCII without blank, quotation mark and backslash;
                       * NULL: x0, x1, ... or y0, y1, ... by its place */
    size_t rows, cols;
    unsigned flags;
} wg_argument;

/* wg_function_record - calls f once at x and keeps what its outputs need.
 * t:       a tape with WG_KEEP_CODE, as workspace; left empty, as by a driver.
 * input:   `inputs` of them; x holds the values of all, one input after the other, and so does
 *          the callback see them. output: in the same way what the callback writes.
 * Values:  operations of constants are done, repeated ones shared, those without use dropped,
 *          x*1 and the like taken away where that is exact: values are those of the callback
 *          wherever its comparisons come out alike.
 * Matrices: products, triangular systems, Cholesky and LU factorisations, solves and
 *          log-determinants, and what is made of these, are each done as a whole, by BLAS and
 *          LAPACK, where they are more than 2048 scalar operations; so are their derivatives,
 *          of any order. At a point where a matrix is singular, or not positive definite, such
 *          results are NaN: there is no status for each point. At the recording there is.
 *          Eigenvalues, singular values, functions of matrices and matrix equations are one
 *          node each, at any size, as QR, least squares, pseudo-inverses and exponentials are
 *          from 65536 scalar operations on, with derivatives of any order (functions of
 *          symmetric matrices: two): NaN where the tape would refuse.
 * Loops:   maps and scans (map.h) are written out, operation by operation, and simplified with
 *          all else. Where that would be more than wg_options.loops_over operations, they stay
 *          loops: in the function, in all its derivatives, and in its text (emit.h). The states
 *          of all steps are kept while a derivative is evaluated. A loop is no part of what
 *          wg_function_is_zero sees, and evaluated at one point it takes some hundred
 *          nanoseconds per step beside its operations.
 * Branches: with WG_CHECKED f is called eight times, also at other points, and refused if it
 *          branches on values there (wg_check_branches): WG_EBRANCH.
 * Cost:    one recording; about 48 bytes per operation, from the memory callbacks of the tape;
 *          while it is made, some 200 bytes per operation in the arena of t.
 * Errors:  as the drivers; WG_EARG: flags, or a name twice; WG_EMODE: no kept code, or an
 *          operation that cannot be part of a function: the message names it. *out is NULL. */
WG_API WG_MUST_CHECK wg_status wg_function_record(wg_tape *t, wg_callback *f, void *data,
                                                  size_t inputs, const wg_argument *input,
                                                  const double *x, size_t outputs,
                                                  const wg_argument *output, wg_function **out);

/* wg_function_extract - the same from what is on a tape: the outputs y as a function of the
 * inputs x, which may be any variables of the recording; what they were computed from is left
 * out. Variables on which y depends beside x are constants. The recording stays as it is. What
 * it owes to values, as a C branch on one, cannot be found here, also not with WG_CHECKED.
 * x, y:    variables of all inputs, of all outputs, one after the other; y may be constants.
 * Errors:  WG_ENULL, WG_EARG (an input twice), WG_ESTALE, WG_EMODE, WG_ENOMEM; the recording is
 *          as good as before. */
WG_API WG_MUST_CHECK wg_status wg_function_extract(wg_tape *t, size_t inputs,
                                                   const wg_argument *input, const wg_real *x,
                                                   size_t outputs, const wg_argument *output,
                                                   const wg_real *y, wg_function **out);

/* wg_function_free - whatever was made of it, but for what says that it refers to it, goes on.
 * NULL is allowed. */
WG_API void wg_function_free(wg_function *f);

/* ---- what it is ---- */

WG_API size_t wg_function_inputs(const wg_function *f);
WG_API size_t wg_function_outputs(const wg_function *f);
/* The k-th; NULL: there is none. It lives as long as the function. */
WG_API const wg_argument *wg_function_input(const wg_function *f, size_t k);
WG_API const wg_argument *wg_function_output(const wg_function *f, size_t k);

/* Points of a map and steps of a scan that would be many operations are a loop: one
 * operation, and one for each of its results that is needed, whatever the number of its steps.
 * Operations and constants of what it does in a step are not among these; comparisons are, in
 * the order of guards: those of the function, then those in its loops. */
typedef struct wg_function_stats {
    size_t statements, operations;             /* recorded, or taken over and added */
    size_t folded, repeated, simplified, dead; /* of constants; done already; x*1; of no use */
    size_t once, each, after; /* operations left: for all points, for each one, on sums */
    size_t numbers, guards;   /* constants, comparisons */
    size_t columns;           /* numbers per point that are alive at a time, at most */
} wg_function_stats;
WG_API wg_status wg_function_statistics(const wg_function *f, wg_function_stats *out);

/* wg_function_is_zero - is entry `entry` of an output identically 0? What is not may be 0 all
 * the same, a result of a loop among them: this is the sparsity that a solver is told of.
 * No such entry: 0. */
WG_API int wg_function_is_zero(const wg_function *f, size_t output, size_t entry);
/* wg_function_sparsity - the entries of an output that are not identically 0, as a pattern: of
 * a function made by wg_function_jacobian or wg_function_hessian that of the Jacobian or
 * Hessian.
 * t: as workspace, left empty.  Errors: WG_ENULL, WG_EARG, WG_ENOMEM. *out is NULL. */
WG_API WG_MUST_CHECK wg_status wg_function_sparsity(wg_tape *t, const wg_function *f,
                                                    size_t output, wg_layout layout,
                                                    wg_sparsity **out);
/* wg_function_depends - which inputs an output depends on: depends[k] is 1 if it does on any
 * entry of input k, 0 if not. What a loop gives is taken to depend on all that it takes.
 * t: as workspace, left empty.  Errors: WG_ENULL, WG_EARG, WG_ENOMEM. */
WG_API WG_MUST_CHECK wg_status wg_function_depends(wg_tape *t, const wg_function *f,
                                                   size_t output, unsigned char *depends);

/* ---- evaluation ---- */

/* Where the numbers of an input or output stand: entry e of point p at
 * data[p * point + e * entry]. An array of structures of k numbers: point k, entry 1. A
 * structure of arrays over n points: point 1, entry n. Shared inputs and summed outputs have no
 * points: point is not looked at. Point 0 in results: one place for all points, which the last
 * one writes. Data NULL: an input that is all 0, an output that is not wanted. */
typedef struct wg_points {
    const double *data;
    ptrdiff_t point, entry;
} wg_points;
typedef struct wg_results {
    double *data;
    ptrdiff_t point, entry;
} wg_results;

/* Which comparison came out differently from the recording, and at which point first. */
typedef struct wg_function_guard {
    size_t point, guard; /* guard: in the order of the recording, in loops after that */
} wg_function_guard;

/* Bytes of workspace of a call with these threads; 64-byte aligned memory is best. */
WG_API size_t wg_function_work(const wg_function *f, const wg_threads *threads);

/* wg_function_evaluate - y = f(x) at `points` points. x: one per input, wg_function_inputs(f)
 * of them; y: one per output, wg_function_outputs(f). Derivatives have more inputs than the
 * function they are of, and no array of C knows how long it is: compare the numbers once.
 * Transcendental functions are those of elementwise.h: within 4 ulp of the callback's. The zero
 * rule holds for products with adjoints and tangents. Results must not overlap the inputs.
 * threads: may be NULL. The bits of all results are the same for any number of them.
 * work:    wg_function_work bytes.  guard: may be NULL.
 * Errors:  WG_ENULL; WG_EGUARD: *guard says where first; the results of such points are those
 *          of the recorded branch: record again there. */
WG_API WG_MUST_CHECK wg_status wg_function_evaluate(const wg_function *f, size_t points,
                                                    const wg_points *x, const wg_results *y,
                                                    wg_threads *threads, void *work,
                                                    wg_function_guard *guard);

/* wg_function_evaluate_progress - the same, telling somebody how far it is: after some hundred
 * points each time, also of compiled code, and after each step of a loop. NULL: nobody.
 * Errors:  WG_ESTOPPED: results of some points are the new ones, of the others what they were,
 *          or NaN where a loop was left; sums are not written. Function, threads and work are
 *          as good as before. */
WG_API WG_MUST_CHECK wg_status wg_function_evaluate_progress(
    const wg_function *f, size_t points, const wg_points *x, const wg_results *y,
    wg_threads *threads, void *work, wg_function_guard *guard, const wg_progress *progress);

/* ---- evaluation in parts ---- */

/* wg_function_block - sums over the points are those of blocks of so many points, added up from
 * the first block to the last one. The same for a function wherever it was made alike, on
 * machines with the same vectors. NULL: 0. */
WG_API size_t wg_function_block(const wg_function *f);

/* Makes total[k] of number k of all blocks, sum[n b + k] of block b of this part, and of those
 * of the other parts: with the bits of wg_function_evaluate, if blocks are added to 0 in the
 * order of the points. Called once, in the caller's thread, when all points of the part are
 * done. */
typedef wg_status wg_adding(void *ctx, size_t blocks, size_t n, const double *sum,
                            double *total);

/* wg_function_work_part - bytes of workspace of wg_function_evaluate_part: those of
 * wg_function_work, and the sums of all blocks.
 * wg_function_evaluate_part - wg_function_evaluate of some of all `all` points, the others
 * being evaluated elsewhere: by other processes (mpi.h), say. A part begins where a block does;
 * x and y are those of its points, and guard->point counts from its first one. Sums are those
 * that `add` makes; what depends on them is computed in every part. Where the function has no
 * sums, add is not called.
 * Errors:  as wg_function_evaluate; WG_ENULL: add; what add returned: sums are not written. */
WG_API size_t wg_function_work_part(const wg_function *f, size_t points,
                                    const wg_threads *threads);
WG_API WG_MUST_CHECK wg_status wg_function_evaluate_part(
    const wg_function *f, size_t all, size_t points, const wg_points *x, const wg_results *y,
    wg_threads *threads, void *work, wg_function_guard *guard, wg_adding *add, void *ctx);

WG_END_DECLS

#endif

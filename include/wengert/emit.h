/* SPDX-License-Identifier: MIT */
/* Functions as C, and functions that run as compiled code.
 *
 * Derivatives are functions: a gradient is written and compiled like any other. */
#ifndef WENGERT_EMIT_H
#define WENGERT_EMIT_H

#include <wengert/function.h>
#include <wengert/map.h>

WG_BEGIN_DECLS

/* What is written; NAME is the name given.
 *
 * WG_EMIT_POINT: one point.
 *     int NAME(const double *const *arg, double *const *res);
 * arg[k] and res[k] hold the entries of an input or output, column after column. NULL: an input
 * that is all 0, an output that is not wanted.
 *
 * WG_EMIT_BATCH: many points, eight at a time: arithmetic on vectors where the compiler has
 * those of GNU C and WG_NO_VECTORS is not defined, otherwise in loops.
 *     int NAME_batch(size_t points,
 *                    const double *const *arg, const ptrdiff_t *arg_step,
 *                    double *const *res, const ptrdiff_t *res_step, size_t *where);
 * Entry e of point p of input k is arg[k][p * arg_step[2 * k] + e * arg_step[2 * k + 1]], and
 * so with outputs. Shared inputs and summed outputs have no points.
 *
 * WG_EMIT_CASADI: one point, by the calling convention of CasADi, with its queries.
 *     int NAME(const double **arg, double **res, long long *iw, double *w, int mem);
 *     NAME_work, NAME_n_in, NAME_n_out, NAME_name_in, NAME_name_out,
 *     NAME_sparsity_in, NAME_sparsity_out, NAME_incref, NAME_decref
 * Entries of outputs that are always 0 are left out. What WG_EMIT_POINT writes is NAME_point
 * then.
 *
 * Loops (function.h) are loops of the text, their bodies functions of their own.
 *
 * They give 0, or 1 + the number of the first comparison that came out differently from the
 * recording; in a batch that of the first such point, *where, unless that is NULL: as
 * wg_function_evaluate. What is compared once for all points, or on sums, is of point 0. */
enum { WG_EMIT_POINT = 1, WG_EMIT_BATCH = 2, WG_EMIT_CASADI = 4 };

typedef struct wg_emit_options {
    const char *name; /* an identifier that C and its headers do not have; NULL: wg_f */
    unsigned entries; /* WG_EMIT_POINT | ...; 0: WG_EMIT_POINT */
    size_t unit;      /* operations in one C function, about; 0: 500 */
    int blas;         /* operations on whole matrices: 0: loops; 1: BLAS and LAPACK */
} wg_emit_options;

/* wg_function_emit  - C99 that needs <math.h>, <stddef.h> and <string.h>, and nothing of this
 *                     library, to wherever write puts it: wg_write_file for a FILE *.
 * wg_function_text  - the same into a buffer, with a 0 at its end. *needed: bytes of all of it
 *                     without the 0. A buffer that is too short holds its beginning; NULL with
 *                     0 bytes only asks.
 * t:       a tape, as workspace and for messages; left empty, as by a driver.
 * Bits:    compiled without contraction (-ffp-contract=off), values are those of the operations
 *          in double, one after the other; functions are libm's and those of special.h. (clang
 *          makes exp10(a) of pow(10, a), unless told -fno-builtin-pow; gcc 12 may contract an
 *          addition beside a subtraction all the same, unless told -fno-tree-slp-vectorize.)
 * Use:     no array of arg is one of res. Texts of different names may stand in one file, the
 *          one that defines _DEFAULT_SOURCE first.
 * Matrices: operations on whole matrices (function.h) are loops, written once into the text;
 *          their bits are not those of BLAS. At a point where a matrix is singular, or not
 *          positive definite, results are NaN in any text: there is no status.
 * BLAS:    with options.blas the text includes <cblas.h> and <lapacke.h>, whichever it needs,
 *          and makes the calls of wg_function_evaluate: for products, triangular systems,
 *          Cholesky and LU factorisations, solves, and the adjoint of Cholesky's. Linked to the
 *          same BLAS, which works with as many threads, and compiled by gcc or clang, which
 *          align the arrays, their results have the same bits. Matrices stand column after
 *          column, and of LAPACKE only functions that end in _work are called: the text
 *          allocates nothing, though BLAS may. Integers of BLAS may have 64 bits. The name is
 *          none that these headers have, and in a file of many texts such ones come last.
 *          Without operations on whole matrices the text needs neither header. Eigenvalues,
 *          singular values and what else a function keeps as one node that is none of these are
 *          calls of wg_block_value (block.h) in it: it is linked to this library, too.
 * Stack:   at one point 8 bytes for each number that is alive between two units; in a batch 64
 *          for each of these, for each entry of an input that is read and of an output, 72 for
 *          each sum, 8 for each number that is shared by all points or done once. In both, 8
 *          for each operand of the largest norm, maximum, ...; of a loop its results, with
 *          the states of all steps where a derivative takes them; of an operation on whole
 *          matrices its operands and its results, 8 each; with options.blas its results twice,
 *          8 n^2 for a triangle or Cholesky factor of order n, and 16 n^2 and 8 KB for the
 *          adjoint of the latter. Nothing else grows with the function: with 10^5 inputs at
 *          each point a batch needs 6.4 MB.
 * Errors:  WG_ENULL; WG_EARG: the name, the entries or blas; WG_EMODE: an operation of the
 *          user's whose text is more than an expression over <math.h>, or, without
 *          options.blas, one that would be a call of this library; wg_mat_map, wg_symmetric_apply: the message names it;
 *          WG_EWRITE; WG_ENOMEM, WG_EBUDGET. */
WG_API WG_MUST_CHECK wg_status wg_function_emit(wg_tape *t, const wg_function *f,
                                                const wg_emit_options *options, wg_write *write,
                                                void *ctx);
WG_API WG_MUST_CHECK wg_status wg_function_text(wg_tape *t, const wg_function *f,
                                                const wg_emit_options *options, char *buffer,
                                                size_t bytes, size_t *needed);

/* ---- compiled ---- */

typedef struct wg_compile_options {
    const char *compiler;     /* a program, searched for as by a shell; NULL: cc */
    const char *const *flags; /* up to a NULL, after those that make it correct and -O2 (-O1
                               * beyond 20000 operations); NULL: none */
    const char *directory;    /* of what was compiled; NULL: .cache/wengert of the user's home
                               * or, where that cannot be had, /tmp/wengert-UID */
} wg_compile_options;

/* How a function is evaluated. */
typedef struct wg_compiled {
    int native;    /* by compiled code? */
    int cached;    /* which was there before */
    char why[240]; /* if not: why not, in words */
} wg_compiled;

/* wg_function_compile - the same function, evaluated by code that the system's compiler made of
 *                       it: wg_function_evaluate is used as before. Sums may differ in their
 *                       last bits from those without.
 * t:       as above. options: NULL: the defaults.
 * Files:   the directory is made if it is not there. It and what is in it must be the user's,
 *          and nobody else's to write; otherwise nothing in it is used: of the user's home this
 *          is asked as well. Many threads and programs may share it. What is loaded is known by
 *          a hash of the text, the flags, what the compiler says of itself (--version), and the
 *          macros it has with these flags on this machine (which are those of -march=native;
 *          of a gcc that is no script and is given no flags the kind of machine instead).
 *          Not in it: what -mtune=native means, files that flags name, the environment
 *          (CPATH, ...), a library that changes. Files that a program left while it was
 *          compiling are removed after an hour.
 * Without: where there is no compiler, or it fails, *out is evaluated as f is: compiled.native
 *          is 0 then, compiled.why says why. compiled may be NULL. So it is, too, where nothing
 *          is done at each point, or BLAS and LAPACK do whole matrices there (those of shared
 *          inputs are no hindrance); where vectors of the numbers that are alive at a time,
 *          operands of one norm, maximum, ... among them, take more than 768 KB; and in a
 *          program with rights that its user does not have (set-user-ID).
 * Cost:    for the first time that of the compiler, seconds for 10^4 operations, an array of n
 *          operands being n of them; later that of asking it, one process or two. Evaluation
 *          keeps at most 1.5 MB on the stack of each thread.
 * Errors:  WG_ENULL; WG_ENOMEM, WG_EBUDGET. *out is NULL then. */
WG_API WG_MUST_CHECK wg_status wg_function_compile(wg_tape *t, const wg_function *f,
                                                   const wg_compile_options *options,
                                                   wg_function **out, wg_compiled *compiled);

/* wg_function_compile_point - the same function, with code for one point at a time, by the
 *                             convention of WG_EMIT_POINT; wg_function_evaluate is as before.
 * wg_function_point         - that code. It lives as long as the function, and any number of threads
 *                             may call it. NULL: there is none, or f is NULL.
 * Use:     for who asks at one point at a time, as solvers do: it costs the arithmetic and a
 *          call.
 * Bits:    as of wg_function_emit.
 * Files, Without, Cost, Errors: as above. There is no such code, too, of what wg_function_emit
 *          refuses without options.blas. */
typedef int wg_point_call(const double *const *arg, double *const *res);
WG_API WG_MUST_CHECK wg_status wg_function_compile_point(wg_tape *t, const wg_function *f,
                                                         const wg_compile_options *options,
                                                         wg_function **out,
                                                         wg_compiled *compiled);
WG_API wg_point_call *wg_function_point(const wg_function *f);

/* wg_callable_compile - the same callable, whose function, adjoint and tangent are compiled:
 *                       wg_call, wg_map and wg_scan are used as before. As above;
 *                       compiled.native: all of the three that do something at each point are
 *                       compiled; compiled.cached: all of those were there before;
 *                       compiled.why: why one is not.
 * Cost:    a scan by one thread on a grid of lines of 8 cells and more reads and writes its
 *          states in place. Where the adjoint needs values of functions such as exp, the
 *          function and the adjoint are compiled once more, for scans that keep them. */
WG_API WG_MUST_CHECK wg_status wg_callable_compile(wg_tape *t, const wg_callable *k,
                                                   const wg_compile_options *options,
                                                   wg_callable **out, wg_compiled *compiled);

WG_END_DECLS

#endif

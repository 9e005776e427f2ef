/* SPDX-License-Identifier: MIT */
/* Sparse Jacobians and Hessians: where the entries are, and their values in few sweeps.
 *
 *     wg_jacobian_sparsity(t, f, data, n, x, m, WG_ROW_MAJOR, &s);       once
 *     const wg_pattern *p = wg_sparsity_pattern(s);                      for the solver
 *     wg_sparse_jacobian(t, s, f, data, x, y, values);                   at every point
 *
 * The pattern is that of the recording: every entry that can be nonzero at some point at which
 * f records the same operations. A comparison inside of an operation (wg_select_lt, wg_fmax)
 * counts with both of its sides; a C `if` only with the one that was taken. Columns (or rows)
 * that have no row in common get the same colour and are computed together, 8 colours a sweep;
 * of a pattern with dense rows and dense columns, some entries along rows, the others along
 * columns.
 *
 * Operations on matrices count element by element where they work so or move elements; by rows
 * and columns in wg_gemm, wg_gemm_batch, wg_matmul, wg_gemv, wg_ger, wg_outer, sparse products,
 * solves with LU, Cholesky and triangles, and along the lines of reductions, softmax and their
 * kin; by members in batches; calls, maps and scans by the nodes of their functions. A result
 * of any other, and of scans with more than 4 million nodes in all (of every step; a loop in it
 * is one), depends on all operands. In Hessians all inputs of a point of a map, and all of a
 * scan, occur together.
 *
 * An evaluation compares what was recorded with what the pattern was found for. Where that
 * differs, the pattern of the new recording is found, too: it may have fewer entries (the
 * others are 0 then), and with an entry outside the call is refused: WG_EMISMATCH, the message
 * names the entry. Two recordings are told apart by a number of 64 bits, made from all their
 * operations and operands: that one passes for another has odds of 2^-64.
 *
 * The functions here are drivers (drivers.h says what that means), with the errors of drivers.
 * A wg_sparsity is immutable and refers to no tape: any number of threads may use it. */
#ifndef WENGERT_SPARSITY_H
#define WENGERT_SPARSITY_H

#include <wengert/drivers.h>

WG_BEGIN_DECLS

/* Where the entries are, each once: by rows, and by columns within a row (WG_ROW_MAJOR: what is
 * called CSR), or by columns, and by rows within a column (WG_COL_MAJOR: CSC). Entry k is at
 * row[k], col[k]; those of row (or column) i are k = start[i] .. start[i + 1] - 1. */
typedef struct wg_pattern {
    size_t rows, cols, entries;
    wg_layout layout;
    const size_t *start;
    const uint32_t *row, *col;
} wg_pattern;

/* A pattern, and the plan of its sweeps. */
typedef struct wg_sparsity wg_sparsity;

enum {
    WG_SPARSITY_TRUSTED = 1 /* of a given pattern: what is outside of it is taken to be 0, and
                               no evaluation looks whether it is */
};

/* ---- finding it -------------------------------------------------------------------------- */

/* wg_jacobian_sparsity - of dy/dx, m-by-n, from one recording at x.
 * Cost:    of the recording, and some 100 ns per statement (of a map or scan: per node, point
 *          and step) and entry; memory in proportion to both.
 * Errors:  WG_EARG: layout; WG_ENOMEM also from n or m of 2^32 - 1 on. *out is NULL. */
WG_API WG_MUST_CHECK wg_status wg_jacobian_sparsity(wg_tape *t, wg_callback *f, void *data,
                                                    size_t n, const double *x, size_t m,
                                                    wg_layout layout, wg_sparsity **out);

/* wg_hessian_sparsity - of the Hessian of sum_j w[j] y[j] by x, n-by-n, whatever w: of what is
 * not linear in the recording at x.
 * triangle: 'L': entries with row >= col; 'U': row <= col; 'F': both.
 * Cost:    as above; where two sums are multiplied by each other while both grow by an input
 *          (b += u[i]; c += v[i]; s += b * c) with the cube of n, for entries of n^2.
 * Errors:  also WG_EARG: triangle; WG_EMODE: t was opened without WG_KEEP_CODE. */
WG_API WG_MUST_CHECK wg_status wg_hessian_sparsity(wg_tape *t, wg_callback *f, void *data,
                                                   size_t n, const double *x, size_t m,
                                                   char triangle, wg_layout layout,
                                                   wg_sparsity **out);

/* wg_jacobian_sparsity_of, wg_hessian_sparsity_of - a pattern that is known already, `entries`
 * of them in any order. The first evaluation on a tape finds the pattern of the recording, as
 * if that had changed, and refuses what does not fit; unless flags are WG_SPARSITY_TRUSTED.
 * t:       as workspace.  m: the outputs of the function.
 * Errors:  WG_ENULL; WG_EARG: flags, layout, triangle, an entry out of range, twice, or not in
 *          the triangle: the message names it. */
WG_API WG_MUST_CHECK wg_status wg_jacobian_sparsity_of(wg_tape *t, size_t n, size_t m,
                                                       size_t entries, const uint32_t *row,
                                                       const uint32_t *col, wg_layout layout,
                                                       unsigned flags, wg_sparsity **out);
WG_API WG_MUST_CHECK wg_status wg_hessian_sparsity_of(wg_tape *t, size_t n, size_t m,
                                                      size_t entries, const uint32_t *row,
                                                      const uint32_t *col, char triangle,
                                                      wg_layout layout, unsigned flags,
                                                      wg_sparsity **out);

/* wg_sparsity_select - the same with these entries only: others are not computed. Where few are
 * wanted, fewer colours do.
 * Errors:  WG_ENULL; WG_EARG: an entry twice, or not in the pattern: the message names it. */
WG_API WG_MUST_CHECK wg_status wg_sparsity_select(wg_tape *t, const wg_sparsity *s,
                                                  size_t entries, const uint32_t *row,
                                                  const uint32_t *col, wg_sparsity **out);

/* Orders in which lines get colours, each the smallest that is free (Gebremedhin, Manne, Pothen
 * 2005): as they stand; most neighbours first; with fewest neighbours among those left last;
 * with most neighbours among the coloured ones first; with most among those left first.
 * Automatically: one after the other, until there are as few sweeps as can be, or the next
 * would take longer than the colouring. */
typedef enum wg_order {
    WG_ORDER_AUTO,
    WG_ORDER_NATURAL,
    WG_ORDER_LARGEST_FIRST,
    WG_ORDER_SMALLEST_LAST,
    WG_ORDER_INCIDENCE_DEGREE,
    WG_ORDER_DYNAMIC_LARGEST_FIRST,
    WG_ORDER_COUNT
} wg_order;

/* Of a Jacobian: along columns, along rows, or, where that takes fewer sweeps, some entries so
 * and some so: what is in a few dense rows (or columns) is read along these, all else across:
 * an arrow takes three colours, whatever its size (Coleman, Verma 1998). */
typedef enum wg_sweeps {
    WG_SWEEPS_AUTO,
    WG_SWEEPS_FORWARD,
    WG_SWEEPS_BACKWARD,
    WG_SWEEPS_COUNT
} wg_sweeps;

/* Zeros: what all other calls here do. */
typedef struct wg_colouring {
    wg_order order;
    wg_sweeps sweeps; /* not of a Hessian */
    /* of a Hessian: 1: an acyclic colouring, whose entries are found from each other by
     * substitution (Coleman, Cai 1986). It takes fewer colours (a band of k beside the diagonal
     * k + 1, where reading each entry alone takes about 2 k + 1), but an error, also a NaN or
     * an infinity, of one entry is in all that are found after it: small entries beside large
     * ones lose digits */
    int substitution;
} wg_colouring;

/* wg_sparsity_colour - the same entries, coloured in another way. o NULL: the automatic one.
 * Errors:  WG_ENULL; WG_EARG: no such order or sweeps. */
WG_API WG_MUST_CHECK wg_status wg_sparsity_colour(wg_tape *t, const wg_sparsity *s,
                                                  const wg_colouring *o, wg_sparsity **out);

/* wg_sparsity_free - and with it the arrays of its wg_pattern. NULL is allowed. */
WG_API void wg_sparsity_free(wg_sparsity *s);

/* wg_sparsity_pattern - lives as long as s. NULL: NULL. */
WG_API const wg_pattern *wg_sparsity_pattern(const wg_sparsity *s);
/* wg_sparsity_colours - how many, of forward and backward sweeps together; a sweep does up to 8
 * of them. */
WG_API size_t wg_sparsity_colours(const wg_sparsity *s);

/* ---- values ------------------------------------------------------------------------------ */

/* wg_sparse_jacobian - y = f(x), and the entries of dy/dx in the order of the pattern. y or
 * values NULL: not wanted.
 * Cost:    one recording, and a sweep for every 8 colours, forward or backward as the pattern
 *          has it; no allocation from the second time on.
 * Errors:  WG_EMISMATCH: an entry outside of the pattern; WG_EARG: s is one of a Hessian. */
WG_API WG_MUST_CHECK wg_status wg_sparse_jacobian(wg_tape *t, const wg_sparsity *s,
                                                  wg_callback *f, void *data, const double *x,
                                                  double *y, double *values);

/* wg_sparse_hessian - y = f(x), the gradient g of sum_j w[j] y[j], and the entries of its
 * Hessian in the order of the pattern. Any of them NULL: not wanted. w NULL: all 1.
 * Where f has operations on matrices that have only an expansion, or loops, that goes by way of
 * a function (as wg_tape_hvp: slower).
 * Cost:    one recording, and ceil(colours / 8) pairs of sweeps. */
WG_API WG_MUST_CHECK wg_status wg_sparse_hessian(wg_tape *t, const wg_sparsity *s,
                                                 wg_callback *f, void *data, const double *x,
                                                 const double *w, double *y, double *g,
                                                 double *values);

WG_END_DECLS

#endif

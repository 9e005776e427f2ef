/* SPDX-License-Identifier: MIT */
/* Reductions and what goes with them: sums, extrema, norms, cumulative sums, softmax, layer
 * norm.
 *
 * Along what: all elements together, each column, or each row. A reduction of an m-by-n matrix
 * is 1-by-n over each column, m-by-1 over each row; over all elements it is a number, and the
 * function without _axis. Cumulative sums, softmax and their like have the shape of their
 * operand.
 *
 * Adjoints keep the zero rule line by line: where the adjoint of a result is 0, or a partial
 * is, nothing is added. Of no elements: sum and norm 0, product 1, logsumexp -inf; an extremum,
 * a mean or a variance is refused (WG_ESHAPE). A NaN among the operands gives NaN. Sums,
 * means, variances and products are computed as they stand: they may overflow, and squares
 * underflow, where the result need not.
 * Cost:    one or two passes over the operand each way; the tape keeps a few numbers per line,
 *          unless said.
 * Errors:  WG_EARG: an axis that is none, and as said; those of wg_apply. The result is NaN
 *          then. */
#ifndef WENGERT_REDUCE_H
#define WENGERT_REDUCE_H

#include <wengert/matrix.h>

WG_BEGIN_DECLS

typedef enum wg_axis { WG_ALL, WG_EACH_COL, WG_EACH_ROW } wg_axis;

/* ---- sums, means, products -------------------------------------------------------------- */

/* wg_mat_sum   Adjoint: a_ += y_.      wg_mat_mean   Adjoint: a_ += y_ / n. */
WG_API wg_real wg_mat_sum(wg_tape *t, wg_mat a);
WG_API wg_mat wg_mat_sum_axis(wg_tape *t, wg_mat a, wg_axis axis);
WG_API wg_real wg_mat_mean(wg_tape *t, wg_mat a);
WG_API wg_mat wg_mat_mean_axis(wg_tape *t, wg_mat a, wg_axis axis);

/* wg_mat_var - sum of squared deviations from the mean m over n - ddof; wg_mat_std - its square
 * root.  ddof: 0 for a population, 1 for the unbiased estimate from a sample; n <= ddof: NaN.
 * Adjoint: a_ += 2 y_ (a - m) / (n - ddof);  of std: y_ (a - m) / ((n - ddof) y), and 0 where
 *          all elements are equal.   Source: Chan, Golub, LeVeque 1983, corrected two-pass. */
WG_API wg_real wg_mat_var(wg_tape *t, wg_mat a, double ddof);
WG_API wg_mat wg_mat_var_axis(wg_tape *t, wg_mat a, double ddof, wg_axis axis);
WG_API wg_real wg_mat_std(wg_tape *t, wg_mat a, double ddof);
WG_API wg_mat wg_mat_std_axis(wg_tape *t, wg_mat a, double ddof, wg_axis axis);

/* wg_mat_prod   Adjoint: a_i += y_ times the product of the others, without division: exact
 * with zeros.   Cost: the tape keeps n numbers. */
WG_API wg_real wg_mat_prod(wg_tape *t, wg_mat a);
WG_API wg_mat wg_mat_prod_axis(wg_tape *t, wg_mat a, wg_axis axis);

/* ---- extrema and norms ------------------------------------------------------------------ */

/* wg_mat_max, wg_mat_min   Adjoint: y_, split evenly over ties. */
WG_API wg_real wg_mat_max(wg_tape *t, wg_mat a);
WG_API wg_mat wg_mat_max_axis(wg_tape *t, wg_mat a, wg_axis axis);
WG_API wg_real wg_mat_min(wg_tape *t, wg_mat a);
WG_API wg_mat wg_mat_min_axis(wg_tape *t, wg_mat a, wg_axis axis);

/* wg_mat_norm_entries - (sum |a|^p)^(1/p) over the elements, 1 <= p <= INFINITY; p = 2 over all
 * elements is the Frobenius norm. Neither overflows nor underflows before its result does; in
 * the adjoint an |a| / y below DBL_MIN has few digits, or counts as 0.
 * Adjoint: a_ += y_ sign(a) (|a| / y)^(p-1), and 0 where the norm is 0; p = INFINITY: split
 * evenly over ties. By infinite elements as by equal ones, by others beside them 0 (in functions
 * NaN). In functions, of p other than 1, 2 and INFINITY, it has few digits where y_ y is below
 * DBL_MIN, as of the square of a norm of 1e-160.   Errors:  WG_EARG: another p. */
WG_API wg_real wg_mat_norm_entries(wg_tape *t, wg_mat a, double p);
WG_API wg_mat wg_mat_norm_entries_axis(wg_tape *t, wg_mat a, double p, wg_axis axis);

/* Norms of a linear map: wg_mat_norm_spectral and wg_mat_norm_nuclear (spectral.h), and
 *
 * wg_mat_norm_column_sum, wg_mat_norm_row_sum - the largest sum of |a| of a column, the 1-norm;
 * of a row, the infinity-norm.
 * Adjoint: y_ sign(a) in that column (row), split evenly over ties. Two records. */
WG_API wg_real wg_mat_norm_column_sum(wg_tape *t, wg_mat a);
WG_API wg_real wg_mat_norm_row_sum(wg_tape *t, wg_mat a);

/* ---- cumulative ------------------------------------------------------------------------- */

/* wg_mat_cumsum, wg_mat_cumprod - element k is the sum (product) of elements 0 .. k of its
 * line; over all elements in column-major order. Adjoint: a_i += s_i with s_i = y_i + s_(i+1);
 * a_i += y(i-1) s_i with s_i = y_i + a(i+1) s_(i+1), no division: exact with zeros. */
WG_API wg_mat wg_mat_cumsum(wg_tape *t, wg_mat a, wg_axis axis);
WG_API wg_mat wg_mat_cumprod(wg_tape *t, wg_mat a, wg_axis axis);

/* wg_mat_cummax - element k is the largest of elements 0 .. k of its line.
 * Adjoint: to the element that it is, half and half where the next one is equal to the largest
 *          so far, as wg_maximum. */
WG_API wg_mat wg_mat_cummax(wg_tape *t, wg_mat a, wg_axis axis);

/* ---- order ------------------------------------------------------------------------------ */

/* wg_mat_sort - every line in ascending order, stable; all elements in column-major order. A
 * line with a NaN becomes NaN.
 * Adjoint: y_ back to where the elements came from: of equal ones each to its own place.
 * Cost:    n log n comparisons; the tape keeps 16 bytes for each element.
 * Functions: the order is that of the recorded point; where it is another one: WG_EGUARD.
 * wg_mat_quantile - the number that a part p of the elements does not exceed, between two
 * elements in proportion: with k + f = p (n - 1), (1 - f) y_k + f y_(k+1) of the sorted line y.
 * wg_mat_median - that for p = 1/2.   Two records.
 * Source:  Hyndman and Fan 1996, type 7.   Errors: WG_EARG: p is not from 0 to 1; WG_ESHAPE: no
 *          elements. */
WG_API wg_mat wg_mat_sort(wg_tape *t, wg_mat a, wg_axis axis);
WG_API wg_real wg_mat_quantile(wg_tape *t, wg_mat a, double p);
WG_API wg_mat wg_mat_quantile_axis(wg_tape *t, wg_mat a, double p, wg_axis axis);
WG_API wg_real wg_mat_median(wg_tape *t, wg_mat a);
WG_API wg_mat wg_mat_median_axis(wg_tape *t, wg_mat a, wg_axis axis);

/* ---- softmax and its kin ---------------------------------------------------------------- */

/* wg_mat_logsumexp - log of the sum of exp a over the elements; neither overflows nor
 * underflows. (wg_mat_log_add_exp of two matrices is element by element.)
 * wg_mat_softmax - p = exp a over their sum.   wg_mat_log_softmax - its logarithm.
 * Adjoint: a_ += y_ p;  p (y_ - sum of p y_);  y_ - p (sum of y_).  Where the largest a are
 * infinite they share p evenly.   Source: Blanchard, Higham, Higham 2021. */
WG_API wg_real wg_mat_logsumexp(wg_tape *t, wg_mat a);
WG_API wg_mat wg_mat_logsumexp_axis(wg_tape *t, wg_mat a, wg_axis axis);
WG_API wg_mat wg_mat_softmax(wg_tape *t, wg_mat a, wg_axis axis);
WG_API wg_mat wg_mat_log_softmax(wg_tape *t, wg_mat a, wg_axis axis);

/* wg_mat_cross_entropy - per line, logsumexp(a) - a[label]: the loss of a classifier with
 * logits a.  wg_mat_cross_entropy_soft - with weights q for every class: sum of q (logsumexp(a)
 * - a); a q of 0 makes that term 0.
 * Shapes:  a line is a sample: WG_EACH_COL (one column each) or WG_EACH_ROW; WG_ALL: one
 *          sample. label: one per line, copied, less than the length of a line; q as a.
 * Adjoint: a_ += y_ (p - 1 at the label), y_ (p (sum of q) - q), p = softmax(a);
 *          q_ += y_ (logsumexp(a) - a).   Cost: the tape keeps as many numbers as a has.
 * Errors:  WG_EARG: a label out of range; WG_ENULL. */
WG_API wg_mat wg_mat_cross_entropy(wg_tape *t, wg_mat a, const size_t *label, wg_axis axis);
WG_API wg_mat wg_mat_cross_entropy_soft(wg_tape *t, wg_mat a, wg_mat q, wg_axis axis);

/* wg_mat_layer_norm - z gain + bias with z = (a - m) / sqrt(s + eps), m and s the mean and the
 * (population) variance of the line.
 * Shapes:  gain and bias vectors as long as a line, either way; result as a.
 * Adjoint: with u = y_ gain: a_ += (u - mean(u) - z mean(u z)) / sqrt(s + eps);
 *          gain_ += y_ z, bias_ += y_, summed over the lines.
 *          Source: Ba, Kiros, Hinton 2016. */
WG_API wg_mat wg_mat_layer_norm(wg_tape *t, wg_mat a, wg_mat gain, wg_mat bias, double eps,
                                wg_axis axis);

WG_END_DECLS

#endif

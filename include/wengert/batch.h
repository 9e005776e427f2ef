/* SPDX-License-Identifier: MIT */
/* Batches: one operation on `count` matrices that stand side by side in one, A = [A_0 A_1 ...],
 * as one record. Products and solves of batches are in products.h and solve.h.
 *
 * Every member is computed by the operation alone: what is said there of shapes, adjoints,
 * costs and errors holds for each. (BLAS may round otherwise where a matrix stands otherwise in
 * memory.) Results stand side by side, too: of scalars a row with one for each member. Stacks
 * that stand otherwise: wg_windows (data.h) for members with a stride, or one that is repeated;
 * [A_0; A_1; ...] is the transposed view of the batch of A_k'.
 *
 * A member with a NaN in an operand has results that are NaN, and adjoints that are NaN where
 * its results have one; where the operation refuses infinities, so has a member with an
 * infinity. The others are computed as if it were not there. Any other failure of a member is
 * that of the operation; info is LAPACK's.
 *
 * Shapes:  operands have as many columns as `count` members have, results likewise. count = 0:
 *          operands and results without columns.
 * Second derivatives: of each member by its own rule; in functions each member is a part of its
 * own.
 * Errors, of all: WG_ENULL, WG_ESHAPE (also columns that are no multiple of count), WG_ESTALE,
 * WG_ENOMEM, WG_EBUDGET, WG_ESLOTS, and those of the operation. */
#ifndef WENGERT_BATCH_H
#define WENGERT_BATCH_H

#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* wg_det_batch, wg_logabsdet_batch, wg_logdet_spd_batch - determinants and their logarithms
 * (solve.h).
 * Shapes:  A n-by-(n count); result 1-by-count; sign: `count` numbers 1 or -1, NaN of a failed
 *          call and of members that are NaN; NULL: not wanted. */
WG_API wg_mat wg_det_batch(wg_tape *t, size_t count, wg_mat a);
WG_API wg_mat wg_logabsdet_batch(wg_tape *t, size_t count, wg_mat a, double *sign);
WG_API wg_mat wg_logdet_spd_batch(wg_tape *t, size_t count, wg_mat a);

/* wg_inverse_batch, wg_inverse_spd_batch - inverses.   Shapes: A and result n-by-(n count). */
WG_API wg_mat wg_inverse_batch(wg_tape *t, size_t count, wg_mat a);
WG_API wg_mat wg_inverse_spd_batch(wg_tape *t, size_t count, wg_mat a);

/* wg_qr_batch - A_k = Q_k R_k.
 * Shapes:  A m-by-(n count), p = min(m, n): Q m-by-(p count), R p-by-(n count). Results that
 *          are NULL are not wanted. */
WG_API wg_status wg_qr_batch(wg_tape *t, size_t count, wg_mat a, wg_mat *q, wg_mat *r);

/* wg_lstsq_batch - X_k with |A_k X_k - B_k| smallest.   One A for all: wg_lstsq(t, A, [B_0 B_1 ...]).
 * Shapes:  A m-by-(n count), B m-by-(k count), X n-by-(k count). */
WG_API wg_mat wg_lstsq_batch(wg_tape *t, size_t count, wg_mat a, wg_mat b);

/* wg_eigvalsh_batch, wg_eigh_batch - eigenvalues and eigenvectors of symmetric matrices
 * (spectral.h).
 * Shapes:  A n-by-(n count); w n-by-count, V n-by-(n count). Results that are NULL are not
 *          wanted. */
WG_API wg_mat wg_eigvalsh_batch(wg_tape *t, size_t count, wg_mat a);
WG_API wg_status wg_eigh_batch(wg_tape *t, size_t count, wg_mat a, wg_mat *w, wg_mat *v);

/* wg_svdvals_batch, wg_svd_batch - A_k = U_k diag(s_k) V_k'.
 * Shapes:  A m-by-(n count), p = min(m, n): U m-by-(p count), s p-by-count, VT = [V_0' V_1'
 *          ...] p-by-(n count). Results that are NULL are not wanted. */
WG_API wg_mat wg_svdvals_batch(wg_tape *t, size_t count, wg_mat a);
WG_API wg_status wg_svd_batch(wg_tape *t, size_t count, wg_mat a, wg_mat *u, wg_mat *s,
                              wg_mat *vt);

/* wg_expm_batch - exponentials, each with a degree and squarings of its own.
 * Shapes:  A and result n-by-(n count). */
WG_API wg_mat wg_expm_batch(wg_tape *t, size_t count, wg_mat a);

/* wg_mvn_logpdf_batch - log-densities of normal distributions (statistics.h), each summed over
 * its k columns of Y.
 * Shapes:  Y n-by-(k count); mu n-by-count, or n-by-1: one for all; S n-by-(n count), or
 *          n-by-n: one for all, factored for each; result 1-by-count. */
WG_API wg_mat wg_mvn_logpdf_batch(wg_tape *t, size_t count, wg_mat y, wg_mat mu, wg_mat s);

WG_END_DECLS

#endif

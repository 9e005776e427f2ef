/* SPDX-License-Identifier: MIT */
/* Systems of equations whose matrix is a product with a vector: never formed, solved by Krylov
 * methods, differentiated by solves with the same product. */
#ifndef WENGERT_KRYLOV_H
#define WENGERT_KRYLOV_H

#include <wengert/matrix_drivers.h>

WG_BEGIN_DECLS

/* How a system is solved; a NULL pointer, or 0 in a field, stands for what is said there. */
typedef struct wg_krylov {
    double tolerance;  /* |b - A x| <= tolerance |b|, of residuals computed anew; 0: 1e-10 */
    size_t iterations; /* at most so many for each solve; 0: 10 n + 100 */
    size_t restart;    /* wg_gmres: after so many; 0: 50 */
} wg_krylov;

/* wg_cg - x with A(p) x = b for a symmetric positive definite A, by conjugate gradients.
 * wg_gmres - the same for any A that is not singular, by restarted generalised minimal
 * residuals.
 * product: y[0] = A(p) x[0], on the tape that it is given, with the parameters p as x[1], x[2],
 *          ... Linear in x[0], with nothing of y[0] from elsewhere than its inputs; data and
 *          itself as long as the recording. A preconditioner is a part of it: M^-1 A x.
 * Shapes:  b, x n-by-1; p of np matrices, at most 14.
 * Adjoint: A' w = x_, another solve; b_ += w, p_ -= d/dp <w, A(p) x>, one sweep over a product.
 *          Tangent: A xt = bt - At x.   As exact as these solves are; nothing of the iterations is
 *          recorded.   Source: implicit function theorem; Christianson 1998.
 * Second:  by products with the Hessian of <w, A(p) x> and two more solves: what the product
 *          records has to have second derivatives. Not in functions.
 * Cost:    a product for each iteration and two more, on a tape beside. The transposed solve of
 *          wg_gmres, and only that one, takes a recording of the product and a sweep in the
 *          place of each product. Workspace of 3 n numbers, wg_gmres n (restart + 3) and
 *          restart^2.
 * Errors:  (x is NaN)  WG_ECONVERGE: the iterations are not enough, or rounding leaves more than the tolerance;
 *          WG_ESINGULAR: wg_cg has met a direction d with d'A d <= 0, wg_gmres a singular A;
 *          WG_EARG: the product of 0 is not 0, more than 14 parameters, a tolerance that is not
 *          in [0, 1), or, in a sweep of wg_cg, A is not symmetric; WG_ENONFINITE: b or a product is not finite; WG_ENULL, WG_ESHAPE;
 *          what the product returned.   The same in sweeps.
 * Source:  Hestenes and Stiefel 1952; Saad and Schultz 1986. */
WG_API wg_mat wg_cg(wg_tape *t, wg_mat_callback *product, void *data, size_t np,
                    const wg_mat *p, wg_mat b, const wg_krylov *how);
WG_API wg_mat wg_gmres(wg_tape *t, wg_mat_callback *product, void *data, size_t np,
                       const wg_mat *p, wg_mat b, const wg_krylov *how);

WG_END_DECLS

#endif

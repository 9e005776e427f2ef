/* SPDX-License-Identifier: MIT */
/* cminpack: the callbacks of its solvers with derivatives, whose p is a wg_problem:
 *
 *     lmder1(wg_cminpack_lmder, p, m, n, x, fvec, fjac, m, tol, ipvt, wa, lwa);
 *
 * At a trial point with a NaN or an infinity the residuals are NaN, and the solver takes a
 * shorter step. Any other failure, and one at a point that it goes on from, ends the solver:
 * info is negative, of lmstr 0 where a row failed. */
#ifndef WENGERT_CMINPACK_H
#define WENGERT_CMINPACK_H

#include <cminpack.h>
#include <wengert/problem.h>

WG_BEGIN_DECLS

/* wg_cminpack_hybrj - cminpack_funcder_nn, for hybrj and hybrj1: as many outputs as inputs.
 * wg_cminpack_lmder - cminpack_funcder_mn, for lmder and lmder1. Jacobians are column by
 * column.
 * wg_cminpack_lmstr - cminpack_funcderstr_mn, for lmstr and lmstr1: a row at a time, each at
 *                     the cost of a sweep; of a callback of a recording, too: WG_RECORD_ONCE
 *                     is for them. */
WG_API int wg_cminpack_hybrj(void *problem, int n, const double *x, double *fvec, double *fjac,
                             int ldfjac, int iflag);
WG_API int wg_cminpack_lmder(void *problem, int m, int n, const double *x, double *fvec,
                             double *fjac, int ldfjac, int iflag);
WG_API int wg_cminpack_lmstr(void *problem, int m, int n, const double *x, double *fvec,
                             double *fjrow, int iflag);

WG_END_DECLS

#endif

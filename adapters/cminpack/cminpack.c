/* SPDX-License-Identifier: MIT */
/* cminpack.c - cminpack's callbacks over a problem. iflag: 0 to print, 1 for values, 2 and more
 * for derivatives. */
#include "wengert/cminpack.h"
#include <math.h>
#include <stdlib.h>

enum { STOP = -1 };

static int finite_all(int m, const double *f) {
    for (int j = 0; j < m; j++)
        if (!isfinite(f[j])) return 0;
    return 1;
}

/* NaN make a trial step one that gains nothing. */
static int values(wg_problem *p, int m, const double *x, double *f) {
    const wg_status s = wg_problem_value(p, x, f);
    if (s == WG_OK) return 0;
    for (int j = 0; j < m; j++) f[j] = NAN;
    return s == WG_ENONFINITE ? 0 : STOP;
}

static int fits(const wg_problem *p, int m, int n) {
    return p != NULL && wg_problem_outputs(p) == (size_t)m && wg_problem_inputs(p) == (size_t)n;
}

int wg_cminpack_lmder(void *problem, int m, int n, const double *x, double *fvec, double *fjac,
                      int ldfjac, int iflag) {
    if (iflag == 0) return 0;
    if (!fits(problem, m, n)) return STOP;
    if (iflag == 1) return values(problem, m, x, fvec);
    /* Derivatives are asked for where the solver goes on from, and fvec has its values. */
    if (!finite_all(m, fvec)) return STOP;
    return wg_problem_jacobian(problem, 0, x, WG_COL_MAJOR, fjac, (size_t)ldfjac) == WG_OK
               ? 0
               : STOP;
}

int wg_cminpack_hybrj(void *problem, int n, const double *x, double *fvec, double *fjac,
                      int ldfjac, int iflag) {
    return wg_cminpack_lmder(problem, n, n, x, fvec, fjac, ldfjac, iflag);
}

int wg_cminpack_lmstr(void *problem, int m, int n, const double *x, double *fvec, double *fjrow,
                      int iflag) {
    if (iflag == 0) return 0;
    if (!fits(problem, m, n)) return STOP;
    if (iflag == 1) return values(problem, m, x, fvec);
    double *const w = calloc((size_t)m + 1, sizeof *w);
    if (w == NULL || !finite_all(m, fvec)) {
        free(w);
        return STOP;
    }
    w[iflag - 2] = 1;
    const wg_status s = wg_problem_vjp(problem, x, w, NULL, fjrow);
    free(w);
    return s == WG_OK ? 0 : STOP;
}

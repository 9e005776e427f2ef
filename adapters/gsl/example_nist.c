/* SPDX-License-Identifier: MIT */
/* GSL: the NIST problem Misra1a, y = b1 (1 - exp(-b2 x)), fitted by a trust region method with
 * geodesic acceleration, whose second derivatives are exact. Certified: b1 = 238.94212918,
 * b2 = 5.5015643181e-4. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <wengert.h>
#include <wengert/gsl.h>

enum { M = 14, N = 2 };

static const double x[M] = {77.6,  114.9, 141.1, 190.8, 239.9, 289,   332.8,
                            378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760};
static const double y[M] = {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                            44.82, 50.76, 55.05, 61.01, 66.4,  75.47, 81.78};

static wg_status residuals(wg_tape *t, size_t n, const wg_real *b, size_t m, wg_real *r,
                           void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++)
        r[i] = wg_let(t, wg_sub(wg_mul(b[0], wg_sub(1, wg_exp(wg_mul(-x[i], b[1])))), y[i]));
    return WG_OK;
}

int main(void) {
    double start[N] = {500, 1e-4};
    gsl_vector_const_view b = gsl_vector_const_view_array(start, N);
    wg_problem *p = wg_problem_new(
        &(wg_computation){.n = N, .m = M, .callback = residuals, .flags = WG_RECORD_ONCE});
    gsl_multifit_nlinear_fdf fdf = wg_gsl_multifit(p);
    gsl_multifit_nlinear_parameters with = gsl_multifit_nlinear_default_parameters();
    int info, wrong = 1;

    gsl_set_error_handler_off();
    with.trs = gsl_multifit_nlinear_trs_lmaccel;
    gsl_multifit_nlinear_workspace *w =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &with, M, N);
    if (w != NULL && gsl_multifit_nlinear_init(&b.vector, &fdf, w) == GSL_SUCCESS &&
        gsl_multifit_nlinear_driver(200, 1e-12, 1e-12, 0, NULL, NULL, &info, w) ==
            GSL_SUCCESS) {
        const double b1 = gsl_vector_get(w->x, 0), b2 = gsl_vector_get(w->x, 1);
        printf("b1 = %.7f, b2 = %.9e\n", b1, b2);
        wrong = !(fabs(b1 / 238.94212918 - 1) < 1e-8 && fabs(b2 / 5.5015643181e-4 - 1) < 1e-8);
    } else fprintf(stderr, "%s\n", wg_problem_message(p));
    gsl_multifit_nlinear_free(w);
    wg_problem_free(p);
    return wrong;
}

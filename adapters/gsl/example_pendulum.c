/* SPDX-License-Identifier: MIT */
/* GSL: a pendulum that swings from 60 degrees, by the implicit method of Bader and Deuflhard.
 * After the period, 4 K(sin 30 degrees) with gravity and length 1, known as
 * 6.7430014192503841, it is back. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <wengert.h>
#include <wengert/gsl.h>

/* in: t, angle, speed */
static wg_status pendulum(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = x[2];
    y[1] = wg_let(t, wg_neg(wg_sin(x[1])));
    return WG_OK;
}

int main(void) {
    const double start = acos(0.5), period = 6.7430014192503841;
    double t = 0, y[] = {start, 0};
    wg_problem *p = wg_problem_new(&(wg_computation){.n = 3,
                                                     .m = 2,
                                                     .callback = pendulum,
                                                     .groups = 2,
                                                     .group = (size_t[]){1, 2},
                                                     .flags = WG_RECORD_ONCE});
    gsl_odeiv2_system system = wg_gsl_odeiv2(p);
    gsl_odeiv2_driver *d =
        gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_bsimp, 1e-3, 1e-11, 1e-11);
    if (d == NULL || gsl_odeiv2_driver_apply(d, &t, period, y) != GSL_SUCCESS)
        fprintf(stderr, "%s\n", wg_problem_message(p));
    printf("angle %.9f after %.9f\n", y[0], t);
    gsl_odeiv2_driver_free(d);
    wg_problem_free(p);
    return !(t == period && fabs(y[0] - start) < 1e-8 && fabs(y[1]) < 1e-8);
}

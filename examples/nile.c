/* SPDX-License-Identifier: MIT */
/* The flow of the Nile, 1871 to 1970, as a level that wanders and is seen through noise: the
 * two variances by maximum likelihood, compared with the published ones.
 *
 *     y_t = level_t + noise of variance p[0],  level_t+1 = level_t + noise of variance p[1]
 *
 * The likelihood is that of the Kalman filter; its gradient and Hessian in the logarithms of
 * the variances come from one tape, Newton's method does the rest, and the inverse of the
 * Hessian gives standard errors.
 *
 * Source: Durbin and Koopman 2012, Time Series Analysis by State Space Methods, chapter 2.
 *
 * Data: annual volume at Aswan in 10^8 m^3, Cobb 1978, table 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

enum { YEARS = 100, STEPS = 30 };

static const double flow[YEARS] = {
    1120, 1160, 963, 1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994,  1020,
    960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
    874,  694,  940, 833,  701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,
    1120, 1100, 832, 764,  821,  768,  845,  864,  862,  698,  845,  744,  796,  1040, 759,
    781,  865,  845, 944,  984,  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,
    1040, 860,  874, 848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,
    1020, 906,  901, 1170, 912,  746,  919,  718,  714,  740,
};

/* The published maximum, and a unit of its last digit. */
static const double published[2] = {15099, 1469.1}, unit[2] = {1, 0.1};

/* y[0]: minus the log-likelihood of all years after the first, which tells where the level
 * starts; x: logarithms of the variances. */
static wg_status minus_likelihood(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    (void)n, (void)m, (void)data;
    const wg_real noise = wg_let(t, wg_exp(x[0])), wander = wg_let(t, wg_exp(x[1]));
    wg_real level = wg_constant(flow[0]);         /* the level expected next year, */
    wg_real p = wg_let(t, wg_add(noise, wander)); /* and its variance */
    wg_real sum = wg_constant((YEARS - 1) * log(2 * 3.14159265358979323846));
    for (size_t k = 1; k < YEARS; k++) {
        const wg_real v = wg_let(t, wg_sub(flow[k], level)); /* surprise, its variance, gain */
        const wg_real f = wg_let(t, wg_add(p, noise));
        const wg_real gain = wg_let(t, wg_div(p, f));
        sum = wg_let(t, wg_add(sum, wg_add(wg_log(f), wg_div(wg_square(v), f))));
        level = wg_let(t, wg_fma(gain, v, level));
        p = wg_let(t, wg_fma(gain, noise, wander));
    }
    y[0] = wg_let(t, wg_mul(0.5, sum));
    return WG_OK;
}

int main(void) {
    const wg_options options = {.flags = WG_KEEP_CODE}; /* for the Hessian */
    wg_tape *t = wg_tape_new(&options);
    wg_status status = t == NULL ? WG_ENOMEM : WG_OK;
    double x[2] = {log(10000), log(10000)}, value = 0, g[2] = {1, 1}, h[4] = {1, 0, 0, 1};

    printf("step  log-likelihood  variance of noise  of level  |gradient|\n");
    int step = 0;
    for (; step < STEPS; step++) {
        status = wg_hessian(t, minus_likelihood, NULL, 2, x, &value, g, h, 2);
        if (status != WG_OK) break;
        printf("%4d  %14.6f  %17.3f  %8.3f  %10.1e\n", step, -value, exp(x[0]), exp(x[1]),
               hypot(g[0], g[1]));
        if (hypot(g[0], g[1]) < 1e-9) break;
        /* H d = g; where H is not positive definite, downhill; a step of length 1 at most */
        const double determinant = h[0] * h[3] - h[1] * h[2];
        double d[2] = {g[0], g[1]};
        if (h[0] > 0 && determinant > 0) {
            d[0] = (h[3] * g[0] - h[2] * g[1]) / determinant;
            d[1] = (h[0] * g[1] - h[1] * g[0]) / determinant;
        }
        const double damping = fmax(1, hypot(d[0], d[1]));
        for (int i = 0; i < 2; i++) x[i] -= d[i] / damping;
    }
    wg_tape_free(t);
    if (status != WG_OK || step == STEPS) {
        fprintf(stderr, "nile: %s\n", wg_status_text(status != WG_OK ? status : WG_ECONVERGE));
        return EXIT_FAILURE;
    }
    const double determinant = h[0] * h[3] - h[1] * h[2];
    int is_right = 1;
    for (int i = 0; i < 2; i++) {
        const double variance = exp(x[i]), error = variance * sqrt(h[3 - 3 * i] / determinant);
        const int agrees = fabs(variance - published[i]) <= unit[i];
        printf("variance of %-5s %8.1f +- %4.0f   published %7.1f   %s\n",
               i == 0 ? "noise" : "level", variance, error, published[i],
               agrees ? "agrees" : "DIFFERS");
        is_right &= agrees;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

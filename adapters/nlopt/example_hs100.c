/* SPDX-License-Identifier: MIT */
/* NLopt: problem 100 of Hock and Schittkowski, seven variables and four inequalities, by moving
 * asymptotes, which leave constraints to some 1e-5. Published: 680.6300573. */
#include <math.h>
#include <stdio.h>
#include <wengert.h>
#include <wengert/nlopt.h>

static wg_status objective(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    const wg_real a =
        wg_let(t, wg_add(wg_square(wg_sub(x[0], 10)), wg_mul(5, wg_square(wg_sub(x[1], 12)))));
    const wg_real b =
        wg_let(t, wg_add(wg_square(wg_square(x[2])), wg_mul(3, wg_square(wg_sub(x[3], 11)))));
    const wg_real c =
        wg_let(t, wg_add(wg_mul(10, wg_square(wg_cube(x[4]))), wg_mul(7, wg_square(x[5]))));
    const wg_real d =
        wg_let(t, wg_sub(wg_square(wg_square(x[6])), wg_mul(wg_mul(4, x[5]), x[6])));
    y[0] = wg_let(t, wg_sub(wg_add(wg_add(a, b), wg_add(c, d)),
                            wg_add(wg_mul(10, x[5]), wg_mul(8, x[6]))));
    return WG_OK;
}

/* Each at most 0. */
static wg_status constraints(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)n, (void)m, (void)data;
    const wg_real xx = wg_let(t, wg_square(x[0])), yy = wg_let(t, wg_square(x[1]));
    y[0] = wg_let(t, wg_add(wg_add(wg_mul(2, xx), wg_mul(3, wg_square(yy))),
                            wg_add(wg_add(x[2], wg_mul(4, wg_square(x[3]))),
                                   wg_sub(wg_mul(5, x[4]), 127))));
    y[1] =
        wg_let(t, wg_add(wg_add(wg_mul(7, x[0]), wg_mul(3, x[1])),
                         wg_add(wg_mul(10, wg_square(x[2])), wg_sub(wg_sub(x[3], x[4]), 282))));
    y[2] = wg_let(t, wg_add(wg_add(wg_mul(23, x[0]), yy),
                            wg_sub(wg_sub(wg_mul(6, wg_square(x[5])), wg_mul(8, x[6])), 196)));
    y[3] = wg_let(t, wg_add(wg_add(wg_mul(4, xx), wg_sub(yy, wg_mul(wg_mul(3, x[0]), x[1]))),
                            wg_add(wg_mul(2, wg_square(x[2])),
                                   wg_sub(wg_mul(5, x[5]), wg_mul(11, x[6])))));
    return WG_OK;
}

int main(void) {
    double x[] = {1, 2, 0, 4, 0, 1, 1}, value = NAN;
    wg_problem *f = wg_problem_new(&(wg_computation){.n = 7, .m = 1, .callback = objective});
    wg_problem *g = wg_problem_new(&(wg_computation){.n = 7, .m = 4, .callback = constraints});
    nlopt_opt o = nlopt_create(NLOPT_LD_MMA, 7);
    wg_nlopt_min_objective(o, f);
    wg_nlopt_inequality(o, g, NULL);
    nlopt_set_ftol_rel(o, 1e-10);
    if (nlopt_optimize(o, x, &value) > 0)
        printf("%.3f in %d evaluations\n", value, nlopt_get_numevals(o));
    else fprintf(stderr, "%s%s\n", wg_problem_message(f), wg_problem_message(g));
    nlopt_destroy(o);
    wg_problem_free(f), wg_problem_free(g);
    return !(fabs(value - 680.6300573) < 1e-4);
}

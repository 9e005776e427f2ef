/* SPDX-License-Identifier: MIT */
/* libLBFGS: Rosenbrock's function in 1000 variables, recorded once. Least, 0, where all are
 * 1. */
#include <math.h>
#include <stdio.h>
#include <wengert.h>
#include <wengert/lbfgs.h>

enum { N = 1000 };

static wg_status rosenbrock(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)m, (void)data;
    y[0] = wg_constant(0);
    for (size_t i = 0; i < n; i += 2)
        y[0] = wg_let(
            t, wg_add(y[0], wg_add(wg_mul(100, wg_square(wg_sub(x[i + 1], wg_square(x[i])))),
                                   wg_square(wg_sub(1, x[i])))));
    return WG_OK;
}

int main(void) {
    wg_problem *p = wg_problem_new(
        &(wg_computation){.n = N, .m = 1, .callback = rosenbrock, .flags = WG_RECORD_ONCE});
    lbfgsfloatval_t *x = lbfgs_malloc(N), value, furthest = NAN;
    if (x == NULL) return 1;
    for (int i = 0; i < N; i++) x[i] = i % 2 ? 1 : -1.2;
    const int got = lbfgs(N, x, &value, wg_lbfgs_evaluate, wg_lbfgs_progress, p, NULL);
    if (wg_problem_status(p) != WG_OK) fprintf(stderr, "%s\n", wg_problem_message(p));
    else if (got == LBFGS_SUCCESS) {
        furthest = 0;
        for (int i = 0; i < N; i++) furthest = fmax(furthest, fabs(x[i] - 1));
        printf("f = %.1e, all variables within %.1e of 1\n", value, furthest);
    }
    lbfgs_free(x);
    wg_problem_free(p);
    return !(furthest < 1e-4);
}

/* SPDX-License-Identifier: MIT */
/* cminpack: the enzyme reaction of Kowalik and Osborne, four parameters fitted to eleven
 * measurements. Published (More, Garbow, Hillstrom 1981): sum of squares 3.07505e-4. */
#include <math.h>
#include <stdio.h>
#include <wengert.h>
#include <wengert/cminpack.h>

enum { M = 11, N = 4 };

static const double rate[M] = {0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627,
                               0.0456, 0.0342, 0.0323, 0.0235, 0.0246};
static const double dose[M] = {4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625};

static wg_status residuals(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++) {
        const double u = dose[i];
        y[i] = wg_let(t, wg_sub(rate[i], wg_div(wg_mul(x[0], wg_add(u * u, wg_mul(u, x[1]))),
                                                wg_add(wg_add(u * u, wg_mul(u, x[2])), x[3]))));
    }
    return WG_OK;
}

int main(void) {
    wg_problem *p = wg_problem_new(&(wg_computation){.n = N, .m = M, .callback = residuals});
    double x[N] = {0.25, 0.39, 0.415, 0.39}, f[M], jac[M * N], work[5 * N + M], sum = NAN;
    int pivots[N];
    const int info =
        lmder1(wg_cminpack_lmder, p, M, N, x, f, jac, M, 1e-10, pivots, work, 5 * N + M);
    if (info >= 1 && info <= 4) {
        sum = enorm(M, f) * enorm(M, f);
        printf("(%.5f, %.5f, %.5f, %.5f): %.6e\n", x[0], x[1], x[2], x[3], sum);
    } else fprintf(stderr, "info %d: %s\n", info, wg_problem_message(p));
    wg_problem_free(p);
    return !(fabs(sum - 3.07505e-4) < 1e-9);
}

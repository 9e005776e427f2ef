/* SPDX-License-Identifier: MIT */
/* Ipopt: problem 71 of Hock and Schittkowski. Minimise a d (a + b + c) + c, where a b c
 * d >= 25, the squares add up to 40, and all variables are between 1 and 5. Published:
 * 17.0140173. */
#include <math.h>
#include <stdio.h>
#include <wengert.h>
#include <wengert/ipopt.h>

static wg_status hs071(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)m, (void)data;
    y[0] = wg_let(t, wg_add(wg_mul(wg_mul(x[0], x[3]), wg_sum(t, 3, x)), x[2]));
    y[1] = wg_product(t, n, x);
    y[2] = wg_squared_norm(t, n, x);
    return WG_OK;
}

int main(void) {
    double x[] = {1, 5, 5, 1}, value = NAN;
    const double lower[] = {1, 1, 1, 1}, upper[] = {5, 5, 5, 5};
    const double least[] = {25, 40}, most[] = {INFINITY, 40};
    wg_ipopt *s = wg_ipopt_new(&(wg_ipopt_problem){.n = 4,
                                                   .m = 2,
                                                   .callback = hs071,
                                                   .start = x,
                                                   .lower = lower,
                                                   .upper = upper,
                                                   .constraint_lower = least,
                                                   .constraint_upper = most});
    if (wg_ipopt_solve(s, x, &value, NULL) == Solve_Succeeded)
        printf("f(%.6f, %.6f, %.6f, %.6f) = %.7f\n", x[0], x[1], x[2], x[3], value);
    else fprintf(stderr, "%s\n", wg_ipopt_message(s));
    wg_ipopt_free(s);
    return !(fabs(value - 17.0140173) < 1e-6);
}

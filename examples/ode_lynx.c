/* SPDX-License-Identifier: MIT */
/* Hares and lynxes: pelts of the Hudson's Bay Company, in thousands, fitted by the model of
 * Lotka and Volterra: its four rates and both numbers in 1900, by least squares of logarithms.
 *
 * Data: Hewitt 1921, The conservation of the wild life of Canada, as in Howard 2009. The same
 * model, with priors, is fitted in Carpenter 2018, Predator-prey population dynamics, who finds
 * 0.55, 0.028, 0.80 and 0.024 per year. */
#include <math.h>
#include <stdio.h>
#include <wengert.h>

enum { YEARS = 21, FIRST = 1900, RATES = 4, UNKNOWNS = RATES + 2, SEEN = 2 * YEARS };

static const double pelts[YEARS][2] = {
    {30, 4},     {47.2, 6.1},  {70.2, 9.8},  {77.4, 35.2}, {36.3, 59.4}, {20.6, 41.7},
    {18.1, 19},  {21.4, 13},   {22, 8.3},    {25.4, 9.1},  {27.1, 7.4},  {40.3, 8},
    {57, 12.3},  {76.6, 19.5}, {52.3, 45.7}, {19.5, 51.1}, {11.2, 29.7}, {7.6, 15.8},
    {14.6, 9.7}, {16.2, 10.1}, {24.7, 8.6}};

/* hares' = (a - b lynxes) hares;  lynxes' = (d hares - c) lynxes.  x: the time, both, a, b, c, d. */
static wg_status hunt(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                      void *data) {
    const wg_real hares = x[1], lynxes = x[2], a = x[3], b = x[4], c = x[5], d = x[6];
    (void)n, (void)m, (void)data;
    dy[0] = wg_let(t, wg_mul(wg_sub(a, wg_mul(b, lynxes)), hares));
    dy[1] = wg_let(t, wg_mul(wg_sub(wg_mul(d, hares), c), lynxes));
    return WG_OK;
}

/* x: logarithms of the rates and of both numbers in 1900, since none of them is negative. */
static wg_status residuals(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                           void *data) {
    const wg_ode *const k = data;
    double year[YEARS];
    wg_mat y;
    (void)n, (void)m;
    for (size_t i = 0; i < YEARS; i++) year[i] = FIRST + (double)i;
    const wg_mat p = wg_mat_exp(t, wg_mat_gather(t, RATES, 1, x));
    const wg_mat start = wg_mat_exp(t, wg_mat_gather(t, 2, 1, x + RATES));
    const wg_status s = wg_ode_solve(t, k, NULL, YEARS, year, start, p, &y, NULL, NULL);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < YEARS; i++)
        for (size_t j = 0; j < 2; j++)
            r[2 * i + j] = wg_let(t, wg_sub(wg_log(wg_mat_at(y, j, i)), log(pelts[i][j])));
    return WG_OK;
}

int main(void) {
    static const char *const name[UNKNOWNS] = {"a, births of hares",  "b, hares caught",
                                               "c, deaths of lynxes", "d, lynxes fed",
                                               "hares in 1900",       "lynxes in 1900"};
    static const double found[RATES] = {0.55, 0.028, 0.80, 0.024};
    const wg_argument in[] = {{"t", 1, 1, 0}, {"y", 2, 1, 0}, {"p", RATES, 1, 0}};
    const wg_argument out = {"dy", 2, 1, 0};
    const double at[] = {FIRST, 30, 4, 0.5, 0.02, 1, 0.02};
    double x[UNKNOWNS], deviation[UNKNOWNS];
    wg_minimise_result result;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *rhs = NULL;
    wg_ode *k = NULL;

    if (t == NULL) return 1;
    if (wg_function_record(t, hunt, NULL, 3, in, at, 1, &out, &rhs) != WG_OK ||
        wg_ode_new(t, &(wg_ode_system){.rhs = rhs}, &k) != WG_OK) {
        fprintf(stderr, "%s\n", wg_tape_message(t));
        return 1;
    }
    for (size_t i = 0; i < UNKNOWNS; i++) x[i] = log(at[i < RATES ? 3 + i : i - RATES + 1]);
    if (wg_fit(t, residuals, k, SEEN, UNKNOWNS, x, NULL, &result, deviation) != WG_OK) {
        fprintf(stderr, "%s\n", wg_tape_message(t));
        return 1;
    }
    printf("%s, after %zu steps; the logarithms are off by %.3f\n", wg_stop_text(result.why),
           result.steps, sqrt(result.value / (SEEN - UNKNOWNS)));
    int bad = !result.converged;
    for (size_t i = 0; i < UNKNOWNS; i++) {
        printf("%-20s %8.4f  within %2.0f%%\n", name[i], exp(x[i]), 100 * deviation[i]);
        if (i < RATES) bad |= !(fabs(x[i] - log(found[i])) < 2 * deviation[i]);
    }
    wg_ode_free(k);
    wg_function_free(rhs);
    wg_tape_free(t);
    return bad;
}

/* SPDX-License-Identifier: MIT */
/* MPI: the price of a call in Heston's model, and what it owes to each parameter: a mean over
 * random paths that are shared out among ranks, and its pathwise derivatives.
 *
 *     dS = r S dt + sqrt(v) S (rho dW + sqrt(1 - rho^2) dB),   dv = kappa (theta - v) dt + sigma sqrt(v) dW
 *
 * Given the path of v, S at the end is lognormal, so each path has a price by Black and
 * Scholes, which is smooth in the parameters (Romano, Touzi 1997; Willard 1997). The steps of v
 * are those that keep it positive where 4 kappa theta > sigma^2 (Alfonsi 2005, E(0)): 2 kappa
 * theta > sigma^2 fails here. What is wrong is of the order of the step, and most of it is
 * extrapolated away.
 *
 * The case is the first one of Broadie and Kaya 2006, whose price is 6.8061; derivatives beside
 * ours are those of the price as an integral of the characteristic function (Heston 1993).
 *
 * Every bit is that of one process: the paths of the first batch are evaluated so as well,
 * and compared. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include <wengert/mpi.h>

enum { S0, RATE, V0, KAPPA, THETA, SIGMA, RHO, PARAMETERS };
static const char *const name[] = {"S", "r", "v", "kappa", "theta", "sigma", "rho"};
static const double at[] = {100, 0.0319, 0.010201, 6.21, 0.019, 0.61, -0.70};
static const double known[] = {0.695814,   62.775250, 22.084147, 0.073895,
                               118.606591, -0.543628, -0.005212};
static const double known_price = 6.806113, strike = 100, years = 1;

enum { STEPS = 256, BATCHES = 64, PATHS = 4096 /* of a batch */, RESULTS = 1 + PARAMETERS };

/* The price of one path in so many steps, from the parameters and a normal number for each
 * step. */
static wg_real price_in(wg_tape *t, const wg_real *x, int steps, const wg_real *z) {
    const double h = years / steps;
    const wg_real kappa = x[KAPPA], sigma = x[SIGMA], rho = x[RHO];
    const wg_real stays = wg_let(t, wg_sub(1, wg_mul(h / 2, kappa)));
    const wg_real swings = wg_let(t, wg_div(wg_mul(0.5 * sqrt(h), sigma), stays));
    const wg_real comes =
        wg_let(t, wg_mul(h, wg_sub(wg_mul(kappa, x[THETA]), wg_mul(0.25, wg_square(sigma)))));
    wg_real v = x[V0], root = wg_let(t, wg_sqrt(v));
    wg_real shocks = wg_constant(0), over = wg_constant(0); /* integrals of sqrt(v) dW, of v */
    for (int i = 0; i < steps; i++) {
        shocks = wg_let(t, wg_add(shocks, wg_mul(sqrt(h), wg_mul(root, z[i]))));
        over = wg_let(t, wg_add(over, wg_mul(h, v)));
        v = wg_let(t,
                   wg_add(wg_square(wg_add(wg_mul(stays, root), wg_mul(swings, z[i]))), comes));
        root = wg_let(t, wg_sqrt(v));
    }
    /* S at the end, without B: its mean; and the deviation that B gives its logarithm */
    const wg_real spot =
        wg_let(t, wg_mul(x[S0], wg_exp(wg_sub(wg_mul(rho, shocks),
                                              wg_mul(0.5, wg_mul(wg_square(rho), over))))));
    const wg_real deviation = wg_let(t, wg_sqrt(wg_mul(wg_sub(1, wg_square(rho)), over)));
    const wg_real due = wg_let(t, wg_mul(strike, wg_exp(wg_mul(-years, x[RATE]))));
    const wg_real d =
        wg_let(t, wg_add(wg_div(wg_log(wg_div(spot, due)), deviation), wg_mul(0.5, deviation)));
    const wg_real first = wg_let(t, wg_mul(0.5, wg_erfc(wg_mul(-sqrt(0.5), d))));
    const wg_real second =
        wg_let(t, wg_mul(0.5, wg_erfc(wg_mul(-sqrt(0.5), wg_sub(d, deviation)))));
    return wg_let(t, wg_sub(wg_mul(spot, first), wg_mul(due, second)));
}

/* What is wrong in proportion to the step falls away between two lengths of it. */
static wg_status path(wg_tape *t, size_t n, const wg_real *x, size_t k, wg_real *y,
                      void *data) {
    (void)n, (void)k, (void)data;
    const wg_real *const z = x + PARAMETERS;
    wg_real pairs[STEPS / 2];
    for (int i = 0; i < STEPS / 2; i++)
        pairs[i] = wg_let(t, wg_mul(sqrt(0.5), wg_add(z[2 * i], z[2 * i + 1])));
    const wg_real fine = price_in(t, x, STEPS, z), coarse = price_in(t, x, STEPS / 2, pairs);
    y[0] = wg_let(t, wg_sub(wg_mul(2, fine), coarse));
    return WG_OK;
}

/* Price and gradient, summed over paths. */
static wg_function *make(wg_tape *t) {
    const wg_argument in[] = {{"parameters", PARAMETERS, 1, WG_SHARED},
                              {"normal", STEPS, 1, WG_PASSIVE}};
    const wg_argument out = {"price", 1, 1, WG_SUMMED};
    double x[PARAMETERS + STEPS];
    wg_function *price = NULL, *gradient = NULL, *both = NULL;
    memcpy(x, at, sizeof at);
    for (int i = 0; i < STEPS; i++) x[PARAMETERS + i] = i % 2 ? 0.3 : -0.4;
    if (wg_function_record(t, path, NULL, 2, in, x, 1, &out, &price) == WG_OK &&
        wg_function_gradient(t, price, &gradient) == WG_OK)
        (void)(wg_function_join(t, 2, (const wg_function *[]){price, gradient}, &both) ==
               WG_OK);
    wg_function_free(price);
    wg_function_free(gradient);
    return both;
}

/* Numbers of a path depend on its number only, whoever has it. Source: Steele, Lea, Flood 2014
 * (splitmix64); Box, Muller 1958. */
static double uniform(uint64_t k) {
    uint64_t z = k * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return ((double)((z ^ z >> 31) >> 12) + 0.5) * 0x1p-52;
}
static void normal_numbers(size_t first, size_t count, double *z) {
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < STEPS; i += 2) {
            const uint64_t k = (first + p) * STEPS + i + 1;
            const double radius = sqrt(-2 * log(uniform(k)));
            const double angle = 6.283185307179586 * uniform(k + 1);
            z[p * STEPS + i] = radius * cos(angle);
            z[p * STEPS + i + 1] = radius * sin(angle);
        }
}

static void places(const double *z, double *y, wg_points *x, wg_results *to) {
    x[0] = (wg_points){at, 0, 1};
    x[1] = (wg_points){z, STEPS, 1};
    to[0] = (wg_results){y, 0, 1};
    to[1] = (wg_results){y + 1, 0, 1};
    to[2] = (wg_results){NULL, 0, 1}; /* of the passive input there is none */
}

/* The sums of a batch by all ranks; and by this one alone. */
static wg_status batch(const wg_function *f, size_t k, double *y, wg_mpi *m) {
    wg_points x[2];
    wg_results to[3];
    size_t first, count;
    wg_status s = wg_function_points_mpi(f, PATHS, m, &first, &count);
    if (s != WG_OK) return s;
    double *const z = malloc((count * STEPS + 1) * sizeof *z);
    void *const work = malloc(wg_function_work_mpi(f, PATHS, NULL, m));
    if (z != NULL) normal_numbers(k * PATHS + first, count, z);
    places(z, y, x, to);
    s = wg_function_evaluate_mpi(f, PATHS, x, to, 0, NULL, z != NULL ? work : NULL, NULL, m);
    free(z);
    free(work);
    return s;
}
static wg_status batch_alone(const wg_function *f, size_t k, double *y) {
    wg_points x[2];
    wg_results to[3];
    double *const z = malloc(PATHS * STEPS * sizeof *z);
    void *const work = malloc(wg_function_work(f, NULL));
    wg_status s = z != NULL && work != NULL ? WG_OK : WG_ENOMEM;
    if (s == WG_OK) {
        normal_numbers(k * PATHS, PATHS, z);
        places(z, y, x, to);
        s = wg_function_evaluate(f, PATHS, x, to, NULL, work, NULL);
    }
    free(z);
    free(work);
    return s;
}

int main(int argc, char **argv) {
    double mean[RESULTS] = {0}, square[RESULTS] = {0}, y[RESULTS], alone[RESULTS];
    int good = 0, same = 0;
    MPI_Init(&argc, &argv);
    wg_mpi *const m = wg_mpi_new(MPI_COMM_WORLD, 0);
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *const f = m != NULL && t != NULL ? make(t) : NULL;
    wg_status s = f != NULL ? WG_OK : WG_ENOMEM;
    if (f == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t k = 0; k < BATCHES && s == WG_OK; k++) {
        s = batch(f, k, y, m);
        if (k == 0 && s == WG_OK) s = batch_alone(f, k, alone);
        same |= k == 0 && memcmp(y, alone, sizeof y) == 0;
        for (int i = 0; i < RESULTS; i++) {
            const double x = y[i] / PATHS;
            mean[i] += x / BATCHES;
            square[i] += x * x / BATCHES;
        }
    }
    if (s == WG_OK && wg_mpi_rank(m) == 0) {
        printf("%d paths of %d steps\n", BATCHES * PATHS, STEPS);
        printf("            estimate  error      by integral  difference / error\n");
    }
    good = s == WG_OK && same;
    for (int i = 0; i < RESULTS && s == WG_OK; i++) {
        const double exact = i == 0 ? known_price : known[i - 1];
        const double error = sqrt(fmax(square[i] - mean[i] * mean[i], 0) / (BATCHES - 1));
        const double off = (mean[i] - exact) / error;
        good &= fabs(off) < 4;
        if (wg_mpi_rank(m) == 0)
            printf("%-10s %10.4f  %-9.4f  %10.4f   %6.1f\n", i == 0 ? "price" : name[i - 1],
                   mean[i], error, exact, off);
    }
    if (wg_mpi_rank(m) == 0)
        printf(same ? "bits of one process\n" : "other bits than one process\n");
    wg_function_free(f);
    wg_tape_free(t);
    (void)wg_mpi_free(m);
    MPI_Finalize();
    return !good;
}

/* SPDX-License-Identifier: MIT */
/* A curve through noisy measurements without a formula: the Gaussian process of the largest
 * marginal likelihood, its covariance matrix dealt out to all ranks block by block.
 *
 * Rank 0 has the logarithms of length scale, amplitude and noise, and their gradient. Each rank
 * fills its blocks of the matrix; ScaLAPACK factors it, and once more in the sweep. At every
 * step value and gradient are those of wg_gp_logml on one tape, to rounding: the exit status is
 * 0 only then, and when a maximum is found.
 *
 * Source: Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, 5.4. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <wengert.h>
#include <wengert/mpi.h>
#include <wengert/scalapack.h>

enum { N = 120, BLOCK = 16, PARAMETERS = 3, STEPS = 300 };

static const double SLOPE = 1e-3; /* of a maximum */

static int rank;
static wg_mpi *m;
static wg_scalapack *grid;
static double place[N], measured[N];

/* Of a part of the matrix: the places of its rows, or of its columns. */
static wg_mat places(wg_tape *t, size_t n,
                     size_t (*line)(const wg_scalapack *, size_t, size_t)) {
    double x[N];
    for (size_t i = 0; i < n; i++) x[i] = place[line(grid, i, BLOCK)];
    return wg_mat_constant(t, n, 1, x, n > 0 ? n : 1);
}

/* log p(y) = -1/2 (y' K^-1 y + log det K + n log 2 pi), on all ranks. */
static wg_real over_ranks(wg_tape *t, const wg_real *p) {
    const size_t rows = wg_scalapack_rows(grid, N, BLOCK);
    const size_t cols = wg_scalapack_cols(grid, N, BLOCK);
    const size_t has_y =
        wg_scalapack_cols(grid, 1, BLOCK); /* y is in the first column of the grid */
    const wg_mat x = places(t, rows, wg_scalapack_row), z = places(t, cols, wg_scalapack_col);
    double diagonal[N * N] = {0}, y[N];
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++)
            diagonal[i + j * rows] =
                wg_scalapack_row(grid, i, BLOCK) == wg_scalapack_col(grid, j, BLOCK);
    for (size_t i = 0; i < rows; i++) y[i] = measured[wg_scalapack_row(grid, i, BLOCK)];
    const wg_mat smooth = wg_covariance_between(t, WG_SQUARED_EXPONENTIAL, x, z, p[0], p[1]);
    const wg_mat noisy =
        wg_axpy_real(t, wg_let(t, wg_square(p[2])),
                     wg_mat_constant(t, rows, cols, diagonal, rows > 0 ? rows : 1), smooth);
    const wg_scalapack_mat k = wg_scalapack_local(t, grid, N, N, BLOCK, noisy);
    const wg_scalapack_mat b = wg_scalapack_local(
        t, grid, N, 1, BLOCK, wg_mat_constant(t, rows, has_y, y, rows > 0 ? rows : 1));
    wg_scalapack_mat a;
    wg_real logdet;
    (void)wg_scalapack_solve_spd(t, k, b, &a, &logdet);
    const wg_real fit = wg_scalapack_dot(t, a, b);
    return wg_let(
        t, wg_mul(-0.5, wg_add(wg_add(fit, logdet), N * log(2 * 3.14159265358979323846))));
}

static wg_real in_one(wg_tape *t, const wg_real *p) {
    return wg_gp_logml(t, WG_SQUARED_EXPONENTIAL, wg_mat_constant(t, N, 1, place, N),
                       wg_mat_constant(t, N, 1, measured, N), p[0], p[1], p[2]);
}

/* Value and gradient at the logarithms of rank 0; alone: without other ranks. */
static wg_status likelihood(wg_tape *t, const double *log_p, int alone, double *value,
                            double *g) {
    wg_real x[PARAMETERS], p[PARAMETERS];
    wg_tape_reset(t);
    if (wg_inputs(t, PARAMETERS, log_p, x) != WG_OK) return wg_tape_status(t);
    for (int i = 0; i < PARAMETERS; i++) p[i] = wg_let(t, wg_exp(x[i]));
    if (!alone) (void)wg_mpi_bcast(t, p, PARAMETERS, 0, m);
    const wg_real y = alone ? in_one(t, p) : over_ranks(t, p);
    *value = y.value;
    const wg_status s = alone ? wg_reverse(t, y) : wg_mpi_reverse(t, y, rank == 0, m);
    return s == WG_OK ? wg_adjoints(t, PARAMETERS, x, g) : s;
}

/* To rounding, which the condition of the matrix multiplies. */
static int agrees(const double *log_p, double value, const double *g, double v,
                  const double *h) {
    const double condition = N * exp(2 * (log_p[1] - log_p[2])) + 1;
    double error = fabs(value - v);
    for (int i = 0; i < PARAMETERS; i++) error = fmax(error, fabs(g[i] - h[i]));
    return error <= N * DBL_EPSILON * condition;
}

int main(int argc, char **argv) {
    double p[PARAMETERS] = {log(0.5), log(1), log(0.5)}, g[PARAMETERS], h[PARAMETERS], value, v;
    double speed[PARAMETERS] = {0};
    MPI_Init(&argc, &argv);
    m = wg_mpi_new(MPI_COMM_WORLD, 0);
    grid = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    wg_tape *const t = wg_tape_new(NULL);
    if (m == NULL || grid == NULL || t == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    rank = wg_mpi_rank(m);
    for (int i = 0; i < N; i++) { /* scattered by 0.2 */
        place[i] = 6.0 * i / (N - 1);
        measured[i] = sin(2 * place[i]) + 0.2 * 1.41421356237 * sin(12.9898 * i * i + 1);
    }
    int good = 1;
    double steepest = 1;
    if (rank == 0)
        printf("%4s %10s %8s %9s %8s\n", "step", "log p(y)", "length", "amplitude", "noise");
    for (int step = 0; step <= STEPS && good && steepest > SLOPE; step++) {
        if (likelihood(t, p, 0, &value, g) != WG_OK) {
            fprintf(stderr, "rank %d: %s\n", rank, wg_tape_message(t));
            good = 0;
        }
        MPI_Bcast(g, PARAMETERS, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* it is rank 0's */
        if (rank == 0 && good)
            good = likelihood(t, p, 1, &v, h) == WG_OK && agrees(p, value, g, v, h);
        MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (rank == 0 && step % 40 == 0)
            printf("%4d %10.4f %8.4f %9.4f %8.4f\n", step, value, exp(p[0]), exp(p[1]),
                   exp(p[2]));
        steepest = 0;
        for (int i = 0; i < PARAMETERS; i++) { /* uphill, with momentum */
            steepest = fmax(steepest, fabs(g[i]));
            speed[i] = 0.9 * speed[i] + fmin(fmax(0.002 * g[i], -0.02), 0.02);
            p[i] += speed[i];
        }
    }
    if (rank == 0)
        printf("%s, %s\n", steepest <= SLOPE ? "a maximum" : "NO MAXIMUM",
               good ? "and at every step what one tape gives" : "NOT WHAT ONE TAPE GIVES");
    wg_tape_free(t);
    wg_scalapack_free(grid);
    (void)wg_mpi_free(m);
    MPI_Finalize();
    return !good || steepest > SLOPE;
}

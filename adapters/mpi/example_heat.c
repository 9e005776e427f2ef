/* SPDX-License-Identifier: MIT */
/* MPI: where was it warm? The temperature of a square plate is known at its end, at every other
 * point, and looked for at the beginning. Each rank has a slab of its rows, and exchanges the
 * rows at the borders in every step; the gradient of the misfit comes back through the same
 * exchanges.
 *
 * It has the same bits on any number of ranks: what a neighbour needs of a point is a variable
 * of its own, `up`, which has two readers, the points above and below, so that its adjoint is a
 * sum of two numbers, in whatever order. All else is summed within a rank, in the order of the
 * statements.
 *
 *     mpirun -n 4 example_heat [FILE]      FILE: the three plates in numbers, for gnuplot */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include <wengert/mpi.h>

enum { N = 24, STEPS = 12, SEARCH = 60 };
static const double c = 0.2; /* conductivity, time step / mesh width squared */

static int rank, size, rows; /* of this rank */
static wg_mpi *m;
static FILE *picture; /* of rank 0, or NULL */

/* One step: u becomes the temperature after it. Around the plate it is 0. */
static void step(wg_tape *t, wg_real u[][N]) {
    static wg_real up[N + 2][N]; /* rows 0 and rows + 1: of the neighbours */
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int j = 0; j < N; j++) up[0][j] = up[rows + 1][j] = wg_constant(0);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < N; j++) up[i + 1][j] = wg_let(t, wg_mul(c, u[i][j]));
    wg_mpi_sendrecv(t, up[1], N, below, 0, up[rows + 1], N, above, 0, m);
    wg_mpi_sendrecv(t, up[rows], N, above, 1, up[0], N, below, 1, m);
    for (int i = 0; i < rows; i++) {
        wg_real old[N + 2] = {{0}};
        memcpy(old + 1, u[i], sizeof u[i]);
        for (int j = 0; j < N; j++)
            u[i][j] = wg_let(t, wg_add(wg_add(wg_mul(1 - 4 * c, old[j + 1]),
                                              wg_mul(c, wg_add(old[j], old[j + 2]))),
                                       wg_add(up[i][j], up[i + 2][j])));
    }
}

/* The misfit, summed row by row from the first to the last, whoever has it. */
static wg_real misfit(wg_tape *t, wg_real u[][N], const double *seen) {
    wg_real of_row[N], all[N], sum = wg_constant(0);
    for (int i = 0; i < rows; i++) {
        of_row[i] = wg_constant(0);
        for (int j = i % 2; j < N; j += 2)
            of_row[i] =
                wg_let(t, wg_add(of_row[i], wg_square(wg_sub(u[i][j], seen[i * N + j]))));
    }
    wg_mpi_allgather(t, of_row, (size_t)rows, all, NULL, m);
    for (int i = 0; i < N; i++) sum = wg_let(t, wg_add(sum, all[i]));
    return sum;
}

/* Value and gradient by the rows of this rank; NULL g: the temperature at the end, in end. */
static double run(wg_tape *t, const double *start, const double *seen, double *g, double *end) {
    static wg_real x[N * N], u[N][N];
    const size_t n = (size_t)rows * N;
    wg_tape_reset(t);
    if (wg_inputs(t, n, start, x) != WG_OK) return NAN;
    memcpy(u, x, n * sizeof *x);
    for (int k = 0; k < STEPS; k++) step(t, u);
    if (g == NULL) {
        for (size_t i = 0; i < n; i++) end[i] = u[i / N][i % N].value;
        return 0;
    }
    const wg_real y = misfit(t, u, seen);
    const wg_status s = wg_mpi_reverse(t, y, rank == 0, m);
    return s == WG_OK && wg_adjoints(t, n, x, g) == WG_OK ? y.value : NAN;
}

/* a . b over the whole plate, row by row. */
static double dot(const double *a, const double *b) {
    double of_row[N] = {0}, all[N], sum = 0;
    for (int i = 0; i < rows * N; i++) of_row[i / N] += a[i] * b[i];
    MPI_Allgather(of_row, rows, MPI_DOUBLE, all, rows, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) sum += all[i];
    return sum;
}

static void draw(const char *title, const double *mine) {
    static const char shade[] = " .:-=+*#%@";
    double u[N * N];
    MPI_Gather(mine, rows * N, MPI_DOUBLE, u, rows * N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    printf("%s\n", title);
    for (int i = 0; i < N; i += 2) {
        for (int j = 0; j < N; j++) {
            const double level =
                fmin(fmax(0.5 * (u[i * N + j] + u[(i + 1) * N + j]), 0), 0.999);
            putchar(shade[(int)(level * 10)]);
        }
        putchar('\n');
    }
    for (int i = 0; picture != NULL && i < N; i++) {
        for (int j = 0; j < N; j++) fprintf(picture, "%.6f ", u[i * N + j]);
        fputs(i + 1 < N ? "\n" : "\n\n\n", picture);
    }
}

int main(int argc, char **argv) {
    static double truth[N * N], seen[N * N], x[N * N], g[N * N], r[N * N], p[N * N];
    double first = 0, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rows = N / size;
    wg_tape *const t = wg_tape_new(NULL);
    m = wg_mpi_new(MPI_COMM_WORLD, 0);
    if (rank == 0 && argc > 1) picture = fopen(argv[1], "w");
    if (N % size != 0 || t == NULL || m == NULL || (rank == 0 && argc > 1 && picture == NULL))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int k = 0; k < rows * N; k++) {
        const int i = rank * rows + k / N, j = k % N;
        truth[k] = (i - 7) * (i - 7) + (j - 6) * (j - 6) <= 16 ||
                   (i > 13 && i < 21 && j > 14 && j < 18);
    }
    (void)run(t, truth, NULL, NULL, seen);

    /* Half the misfit's gradient is affine in x: conjugate gradients, from no warmth at all. */
    value = first = run(t, x, seen, g, NULL);
    for (int k = 0; k < rows * N; k++) p[k] = r[k] = -g[k];
    double rr = dot(r, r);
    for (int search = 0; search < SEARCH && value > 1e-12 * first; search++) {
        double ahead[N * N], hp[N * N];
        for (int k = 0; k < rows * N; k++) ahead[k] = x[k] + p[k];
        (void)run(t, ahead, seen, hp, NULL);
        for (int k = 0; k < rows * N; k++) hp[k] -= g[k];
        const double length = rr / dot(p, hp);
        for (int k = 0; k < rows * N; k++) x[k] += length * p[k];
        value = run(t, x, seen, g, NULL);
        for (int k = 0; k < rows * N; k++) r[k] = -g[k];
        const double before = rr;
        rr = dot(r, r);
        for (int k = 0; k < rows * N; k++) p[k] = r[k] + rr / before * p[k];
    }
    draw("at the beginning", truth);
    draw("at the end", seen);
    draw("found", x);
    double norm = dot(g, g);
    if (rank == 0) printf("misfit %.17g, then %.17g; gradient %.17g\n", first, value, norm);
    const int written = picture == NULL || fclose(picture) == 0;
    const int good = wg_tape_status(t) == WG_OK && value < 1e-4 * first && written;
    (void)wg_mpi_free(m);
    wg_tape_free(t);
    MPI_Finalize();
    return !good;
}

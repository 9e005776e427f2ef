/* SPDX-License-Identifier: MIT */
/* bench_mpi - what does the derivative of a halo exchange cost beside the exchange, and how
 * much faster is the heat equation with its adjoint on several ranks?
 *
 *     mpirun -n 2 bench_mpi [--small]         --small: few repetitions, of small sizes
 *
 * An exchange: each rank sends and receives as many numbers as are said, to and from either
 * side of a ring. Beside ours, per exchange: MPI_Irecv, MPI_Isend and MPI_Waitall on plain
 * arrays. Samples of all take turns; the fastest of each is told, and the median. Verified
 * before it is timed. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "plate.h"

enum { MOST_REPS = 201 };

static int reps = 201, small;

/* ---- times ------------------------------------------------------------------------------ */

typedef struct times {
    double sample[MOST_REPS];
} times;

static double begun;
static void begin(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    begun = MPI_Wtime();
}
/* The slowest rank's. */
static double end(void) {
    const double mine = MPI_Wtime() - begun;
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}
static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static void sort(times *t) { qsort(t->sample, (size_t)reps, sizeof *t->sample, ascending); }
static double fastest(const times *t) { return t->sample[0]; }
static double median(const times *t) { return t->sample[reps / 2]; }

/* ---- exchanges -------------------------------------------------------------------------- */

typedef struct ring {
    MPI_Comm comm;
    wg_mpi *m;
    wg_tape *t;
    int left, right;
    size_t n, times;
    double *out, *in, *all; /* two sides, n numbers each; of all exchanges */
} ring;

static void exchange_plain(const ring *r, const double *out, double *in) {
    MPI_Request q[4];
    MPI_Status got[4];
    const int n = (int)r->n;
    MPI_Irecv(in, n, MPI_DOUBLE, r->left, 1, r->comm, &q[0]);
    MPI_Irecv(in + n, n, MPI_DOUBLE, r->right, 0, r->comm, &q[1]);
    MPI_Isend(out, n, MPI_DOUBLE, r->left, 0, r->comm, &q[2]);
    MPI_Isend(out + n, n, MPI_DOUBLE, r->right, 1, r->comm, &q[3]);
    MPI_Waitall(4, q, got);
}

/* Repeated exchanges: from and to the same two arrays; from what came before to new arrays, as
 * a program does that keeps all that it has received. */
static void exchange_again(const ring *r) {
    for (size_t i = 0; i < r->times; i++) exchange_plain(r, r->out, r->in);
}
static void exchange_on(const ring *r) {
    for (size_t i = 0; i < r->times; i++)
        exchange_plain(r, r->all + 2 * r->n * i, r->all + 2 * r->n * (i + 1));
}

/* Records the exchanges, each of which passes on to one side what came from the other. */
static void record(const ring *r, wg_mat *x) {
    x[0] = wg_mat_input(r->t, r->n, 1, r->out, r->n);
    x[1] = wg_mat_input(r->t, r->n, 1, r->out + r->n, r->n);
    wg_mat a[2] = {x[0], x[1]}, b[2];
    for (size_t k = 0; k < r->times; k++) {
        (void)wg_mpi_halo(r->t, 1, a, b, r->m);
        a[0] = b[1], a[1] = b[0];
    }
    x[2] = a[0], x[3] = a[1];
}

/* After `times` exchanges x has travelled that many ranks to either side, and a sweep has to
 * bring the adjoints back to where x came from. */
static void verify(ring *r) {
    wg_mat x[4];
    double *const w = malloc(2 * r->n * sizeof *w), *const g = malloc(2 * r->n * sizeof *g);
    must(w != NULL && g != NULL, "no memory");
    record(r, x);
    for (size_t i = 0; i < 2 * r->n; i++) w[i] = (double)(i % 7 + 1) * (rank + 2);
    double one = 0, other = 0, sum[2];
    must(wg_tape_status(r->t) == WG_OK, wg_tape_message(r->t));
    must(wg_mat_reverse(r->t, x[2], w, r->n) == WG_OK, wg_tape_message(r->t));
    must(wg_mat_adjoint(r->t, x[0], g, r->n) == WG_OK &&
             wg_mat_adjoint(r->t, x[1], g + r->n, r->n) == WG_OK,
         "no adjoints");
    for (size_t i = 0; i < r->n; i++) {
        one += w[i] * x[2].value[i];
        other += g[i] * r->out[i] + g[r->n + i] * r->out[r->n + i];
    }
    double mine[2] = {one, other};
    MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, r->comm);
    must(fabs(sum[0] - sum[1]) <= 1e-12 * fabs(sum[0]),
         "adjoints are not those of the exchange");
    wg_tape_reset(r->t);
    free(w);
    free(g);
}

static void halo(ring *r, size_t n) {
    static times plain, kept, forward, backward;
    const size_t room = 1 << 16;
    wg_mat x[4];
    r->n = n;
    r->times = room / n < 8 ? 8 : room / n > 512 ? 512 : room / n;
    r->out = malloc(2 * n * sizeof *r->out);
    r->in = malloc(2 * n * sizeof *r->in);
    double *const w = malloc(n * sizeof *w);
    r->all = calloc(2 * n * (r->times + 1), sizeof *r->all);
    must(r->out != NULL && r->in != NULL && r->all != NULL && w != NULL, "no memory");
    for (size_t i = 0; i < 2 * n; i++) r->out[i] = (double)((i * 37 + (size_t)rank) % 101);
    for (size_t i = 0; i < n; i++) w[i] = 1;
    verify(r);
    for (int k = -1; k < reps; k++) { /* one that does not count */
        const int at = k < 0 ? 0 : k;
        begin();
        exchange_again(r);
        plain.sample[at] = end() / (double)r->times;
        begin();
        exchange_on(r);
        kept.sample[at] = end() / (double)r->times;
        wg_tape_reset(r->t);
        begin();
        record(r, x);
        forward.sample[at] = end() / (double)r->times;
        begin();
        must(wg_mat_reverse(r->t, x[2], w, n) == WG_OK, wg_tape_message(r->t));
        backward.sample[at] = end() / (double)r->times;
    }
    sort(&plain), sort(&kept), sort(&forward), sort(&backward);
    if (rank == 0)
        printf("%8zu %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", n, 1e6 * fastest(&plain),
               1e6 * fastest(&kept), 1e6 * fastest(&forward), 1e6 * fastest(&backward),
               fastest(&backward) / fastest(&plain), fastest(&backward) / fastest(&kept));
    wg_tape_reset(r->t);
    free(r->out);
    free(r->in);
    free(r->all);
    free(w);
}

static void halos(void) {
    static const size_t numbers[] = {16, 128, 1024, 8192};
    const int yes = 1;
    ring r = {.times = 0};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &yes, 0, &r.comm);
    MPI_Cart_shift(r.comm, 0, 1, &r.left, &r.right);
    r.m = wg_mpi_new(r.comm, 0);
    r.t = wg_tape_new(NULL);
    must(r.m != NULL && r.t != NULL, "no memory");
    if (rank == 0) {
        printf("a halo exchange on a ring of %d ranks, microseconds, fastest of %d\n", size,
               reps);
        printf(" numbers       MPI  MPI kept  recorded  backward     ratio ratio kept\n");
    }
    for (size_t k = 0; k < (small ? 3 : sizeof numbers / sizeof *numbers); k++)
        halo(&r, numbers[k]);
    wg_tape_free(r.t);
    (void)wg_mpi_free(r.m);
    MPI_Comm_free(&r.comm);
}

/* ---- the heat equation ------------------------------------------------------------------ */

static void heats(MPI_Comm comm, const char *who) {
    static times t;
    const size_t n = small ? 32 : 128, steps = small ? 4 : 16;
    plate p;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    must(n % (size_t)ranks == 0, "rows do not go into so many ranks");
    plate_open(&p, comm, n, n / (size_t)ranks, steps);
    double sums[2] = {0}, all[2];
    for (int k = -1; k < reps; k++) {
        MPI_Barrier(comm);
        const double from = MPI_Wtime();
        const wg_real sum = plate_record(&p);
        plate_sweep(&p, sum);
        const double mine = MPI_Wtime() - from;
        sums[0] = sum.value;
        MPI_Allreduce(&mine, &t.sample[k < 0 ? 0 : k], 1, MPI_DOUBLE, MPI_MAX, comm);
    }
    for (size_t i = 0; i < p.rows * n; i++) sums[1] += p.g[i];
    MPI_Allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, comm);
    /* quadratic in the start, which is 1: x . g = 2 f */
    must(fabs(all[1] - 2 * all[0]) <= 1e-10 * all[0], "the gradient is wrong");
    sort(&t);
    if (rank == 0)
        printf("%-10s %9.2f ms (median %.2f)\n", who, 1e3 * fastest(&t), 1e3 * median(&t));
    plate_close(&p);
}

/* A barrier that leaves the processors to others. */
static void wait_asleep(void) {
    const struct timespec rest = {0, 5000000};
    MPI_Request all;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int is = 0; !is;) {
        MPI_Test(&all, &is, MPI_STATUS_IGNORE);
        if (!is) (void)nanosleep(&rest, NULL);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    small = argc > 1 && strcmp(argv[1], "--small") == 0;
    if (small) reps = 3;
    halos();
    /* one rank works, the others sleep */
    const int world = rank, ranks = size;
    char who[32];
    if (world == 0) {
        printf("the heat equation and its adjoint, all of it each time\n");
        heats(MPI_COMM_SELF, "1 rank");
    }
    wait_asleep();
    (void)snprintf(who, sizeof who, "%d ranks", ranks);
    if (ranks > 1) heats(MPI_COMM_WORLD, who);
    MPI_Finalize();
    return 0;
}

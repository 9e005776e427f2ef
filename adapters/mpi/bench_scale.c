/* SPDX-License-Identifier: MIT */
/* bench_scale - what does each rank send, and keep, of the heat equation with its adjoint, when
 * there are more of them? Every rank has a slab of the same size. Calls of MPI are counted as
 * they are made, by its profiling interface.
 *
 *     mpirun -n 16 bench_scale
 *
 * Numbers are those of the rank that has most. */
#include "plate.h"
#include <unistd.h>

typedef struct tally {
    double messages, numbers, collective, agreed; /* agreed: numbers of collective calls */
} tally;
static tally now;

int MPI_Isend(const void *from, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request *request) {
    now.messages += dest != MPI_PROC_NULL;
    now.numbers += dest != MPI_PROC_NULL ? count : 0;
    return PMPI_Isend(from, count, type, dest, tag, comm, request);
}
int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    now.collective++;
    now.agreed += count;
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

/* The largest of all ranks'. */
static double most(double mine) {
    double all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void say(const char *what, tally a, double steps) {
    const double messages = most(a.messages), numbers = most(a.numbers);
    const double collective = most(a.collective), agreed = most(a.agreed);
    if (rank == 0)
        printf("%-10s %6.2f messages and %8.0f bytes per step, %g reductions of %g bytes\n",
               what, messages / steps, 8 * numbers / steps, collective, 8 * agreed);
}

static double resident(void) {
    long pages = 0, all = 0;
    FILE *const f = fopen("/proc/self/statm", "r");
    if (f == NULL) return 0;
    if (fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
    (void)fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv) {
    enum { N = 64, ROWS = 64, STEPS = 50 };
    plate p;
    MPI_Init(&argc, &argv);
    const double before = resident();
    plate_open(&p, MPI_COMM_WORLD, N, ROWS, STEPS);
    const double opened = resident();
    now = (tally){0};
    const wg_real sum = plate_record(&p);
    const tally recorded = now;
    now = (tally){0};
    plate_sweep(&p, sum);
    const tally swept = now;
    const double after = resident();
    if (rank == 0) printf("%d ranks, %d by %d points each, %d steps\n", size, ROWS, N, STEPS);
    say("forward", recorded, STEPS);
    say("backward", swept, STEPS);
    const double first = most(before), made = most(opened - before),
                 used = most(after - opened);
    if (rank == 0)
        printf(
            "resident   %.1f MB after MPI_Init, %.1f more when opened, %.1f more when swept\n",
            first / 1e6, made / 1e6, used / 1e6);
    plate_close(&p);
    MPI_Finalize();
    return 0;
}

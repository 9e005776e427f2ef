/* SPDX-License-Identifier: MIT */
/* plate.h - the heat equation on ranks, for benches: record it, sweep it, and nothing else. */
#ifndef WENGERT_MPI_PLATE_H
#define WENGERT_MPI_PLATE_H

#include "wengert/mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

static int rank, size; /* of the communicator in use */

static inline void must(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Explicit steps on a plate of n by n, a slab of rows on each rank; and the gradient of the sum
 * of squares at the end by the start. */
typedef struct plate {
    wg_tape *t;
    wg_mpi *m;
    size_t n, rows, steps;
    wg_real *u, *next; /* rows + 2 of n + 2 */
    wg_real *x;        /* the start */
    double *start, *g;
} plate;

/* By all ranks of comm, with so many rows each; from a start of ones. */
static inline void plate_open(plate *p, MPI_Comm comm, size_t n, size_t rows, size_t steps) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    *p = (plate){.n = n, .rows = rows, .steps = steps};
    p->t = wg_tape_new(NULL);
    p->m = wg_mpi_new(comm, 0);
    p->u = malloc((rows + 2) * (n + 2) * sizeof *p->u);
    p->next = malloc((rows + 2) * (n + 2) * sizeof *p->next);
    p->x = malloc(rows * n * sizeof *p->x);
    p->start = malloc(rows * n * sizeof *p->start);
    p->g = malloc(rows * n * sizeof *p->g);
    must(p->t && p->m && p->u && p->next && p->x && p->start && p->g, "no memory");
    for (size_t i = 0; i < rows * n; i++) p->start[i] = 1;
}

static inline void plate_close(plate *p) {
    wg_tape_free(p->t);
    (void)wg_mpi_free(p->m);
    free(p->u);
    free(p->next);
    free(p->x);
    free(p->start);
    free(p->g);
}

/* The sum of squares of this rank at the end. */
static inline wg_real plate_record(plate *p) {
    const size_t n = p->n, width = n + 2, rows = p->rows;
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    const double c = 0.2;
    wg_tape *const t = p->t;
    wg_real *u = p->u, *next = p->next, sum = wg_constant(0);
    wg_tape_reset(t);
    for (size_t i = 0; i < (rows + 2) * width; i++) u[i] = next[i] = wg_constant(0);
    must(wg_inputs(t, rows * n, p->start, p->x) == WG_OK, "no inputs");
    for (size_t i = 0; i < rows; i++)
        memcpy(u + (i + 1) * width + 1, p->x + i * n, n * sizeof *u);
    for (size_t k = 0; k < p->steps; k++) {
        wg_mpi_sendrecv(t, u + width + 1, n, below, 0, u + (rows + 1) * width + 1, n, above, 0,
                        p->m);
        wg_mpi_sendrecv(t, u + rows * width + 1, n, above, 1, u + 1, n, below, 1, p->m);
        for (size_t i = 1; i <= rows; i++)
            for (size_t j = 1; j <= n; j++) {
                const wg_real *const a = &u[i * width + j];
                next[i * width + j] =
                    wg_let(t, wg_add(wg_mul(1 - 4 * c, *a),
                                     wg_mul(c, wg_add(wg_add(a[-1], a[1]),
                                                      wg_add(*(a - width), a[width])))));
            }
        wg_real *const swap = u;
        u = next, next = swap;
    }
    for (size_t i = 1; i <= rows; i++)
        for (size_t j = 1; j <= n; j++)
            sum = wg_let(t, wg_add(sum, wg_square(u[i * width + j])));
    return sum;
}

/* The gradient of the sum over all ranks. */
static inline void plate_sweep(plate *p, wg_real sum) {
    must(wg_mpi_reverse(p->t, sum, 1, p->m) == WG_OK, wg_tape_message(p->t));
    must(wg_adjoints(p->t, p->rows * p->n, p->x, p->g) == WG_OK, "no adjoints");
}

#endif

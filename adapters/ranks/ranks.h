/* SPDX-License-Identifier: MIT */
/* ranks.h - tests of adapters that run on several ranks: all succeed or fail together, and the
 * first is heard. */
#ifndef WENGERT_RANKS_H
#define WENGERT_RANKS_H

#include <wengert/mpi.h>
#include <wengert.h>
#include <stdio.h>
#include <string.h>

static int rank, size;
static wg_mpi *m; /* on MPI_COMM_WORLD */
static uint64_t numbers_so_far, orders_so_far;

static inline void open_ranks(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != 0 && freopen("/dev/null", "w", stdout) == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    numbers_so_far = 77 * (uint64_t)rank;
}

/* A condition that has to hold on all ranks. */
#define all(condition)                                                                         \
    do {                                                                                       \
        const int all_mine = (condition) != 0;                                                 \
        int all_hold = 0;                                                                      \
        if (!all_mine)                                                                         \
            fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, #condition);     \
        MPI_Allreduce(&all_mine, &all_hold, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);              \
        assert_true(all_hold);                                                                 \
    } while (0)

#define assert_ok(t, call)                                                                     \
    do {                                                                                       \
        const wg_status ok_is = (call);                                                        \
        if (ok_is != WG_OK)                                                                    \
            fprintf(stderr, "rank %d: %d, %s; %s\n", rank, (int)ok_is, wg_tape_message(t),     \
                    wg_mpi_message(m));                                                        \
        all(ok_is == WG_OK);                                                                   \
    } while (0)

static inline uint64_t next_of(uint64_t *at) {
    uint64_t z = *at += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* In [1/2, 1). */
static inline double number_of(uint64_t *at) {
    return 0.5 + (double)(next_of(at) >> 12) * 0x1p-53;
}
/* Other ones on every rank. */
static inline double random_number(void) { return number_of(&numbers_so_far); }

/* Orders of their own on every rank, the same again after a restart. */
static inline void restart_shuffling(void) { orders_so_far = 1000 + (uint64_t)rank; }
static inline void shuffle(size_t n, void *what, size_t bytes) {
    char *const a = what, keep[256];
    for (size_t i = n; i > 1; i--) {
        const size_t k = next_of(&orders_so_far) % i;
        memcpy(keep, a + k * bytes, bytes);
        memcpy(a + k * bytes, a + (i - 1) * bytes, bytes);
        memcpy(a + (i - 1) * bytes, keep, bytes);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* test_mpi_neighbours.c - exchanges with all neighbours on graphs, on 1 to 4 ranks; and that no
 * message from rank to rank is taken for one of an exchange. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases.h"

/* Each rank has the right one, the left one, the right one again; with weights. */
static MPI_Comm ring_comm;
static wg_mpi *ring;
/* All others send to rank 0, which sends to nobody. */
static MPI_Comm star_comm;
static wg_mpi *star;
static MPI_Comm line_comm;
static wg_mpi *line;

static void open_graphs(unsigned flags) {
    const int to[] = {right(), left(), right()}, from[] = {left(), right(), left()};
    const int weight[] = {3, 2, 1}, zero = 0, no = 0;
    const int ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    int others[8] = {0};
    for (int q = 1; q < size; q++) others[q - 1] = q;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, weight, 3, to, weight,
                                   MPI_INFO_NULL, 0, &ring_comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0 ? size - 1 : 0, others, ones,
                                   rank == 0 ? 0 : 1, &zero, ones, MPI_INFO_NULL, 0,
                                   &star_comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &no, 0, &line_comm);
    ring = wg_mpi_new(ring_comm, flags);
    star = wg_mpi_new(star_comm, flags);
    line = wg_mpi_new(line_comm, flags);
}
static int close_graphs(void) {
    const int bad = (wg_mpi_free(ring) != WG_OK) + (wg_mpi_free(star) != WG_OK) +
                    (wg_mpi_free(line) != WG_OK);
    MPI_Comm_free(&ring_comm);
    MPI_Comm_free(&star_comm);
    MPI_Comm_free(&line_comm);
    return bad;
}

/* 1, 2 and 3 numbers. */
static const size_t few[] = {1, 2, 3};
static const int few_int[] = {1, 2, 3}, at_few[] = {0, 1, 3};

static size_t on_a_ring(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_neighbor_alltoall(t, x, few, y, few, 0, ring);
    wg_mpi_neighbor_alltoall(t, x, NULL, y + N, NULL, 2, ring);
    return 2 * N;
}
static void on_a_ring_plain(const double *x, double *y) {
    MPI_Neighbor_alltoallv(x, few_int, at_few, MPI_DOUBLE, y, few_int, at_few, MPI_DOUBLE,
                           ring_comm);
    /* without counts not every MPI keeps what goes to one rank in its order */
    const int two[] = {2, 2, 2}, at_two[] = {0, 2, 4};
    MPI_Neighbor_alltoallv(x, two, at_two, MPI_DOUBLE, y + N, two, at_two, MPI_DOUBLE,
                           ring_comm);
}

/* Rank r sends r numbers. */
static size_t to_a_star(wg_tape *t, const wg_real *x, wg_real *y) {
    const size_t to = (size_t)rank, from[] = {1, 2, 3, 4, 5, 6, 7};
    wg_mpi_neighbor_alltoall(t, x, &to, y, from, 0, star);
    return rank == 0 ? (size_t)(size * (size - 1) / 2) : 0;
}
static void to_a_star_plain(const double *x, double *y) {
    const int zero = 0, count[] = {1, 2, 3, 4, 5, 6, 7}, at[] = {0, 1, 3, 6, 10, 15, 21};
    MPI_Neighbor_alltoallv(x, &rank, &zero, MPI_DOUBLE, y, count, at, MPI_DOUBLE, star_comm);
}

/* Rows, columns and a part of 2-by-3 numbers. */
static size_t views(wg_tape *t, const wg_real *x, wg_real *y) {
    const wg_mat a = wg_mat_gather(t, 2, 3, x);
    const wg_mat out[] = {wg_mat_block(a, 1, 0, 1, 3), wg_mat_block(a, 0, 1, 2, 1),
                          wg_mat_transpose(wg_mat_block(a, 0, 0, 2, 2))};
    const size_t rows[] = {1, 2, 2}, cols[] = {3, 1, 2};
    wg_mat in[3];
    size_t n = 0;
    wg_mpi_graph_halo(t, out, rows, cols, in, ring);
    for (int k = 0; k < 3; k++) n += elements(in[k], y + n);
    return n;
}
static void views_plain(const double *x, double *y) {
    const double out[] = {x[1], x[3], x[5], x[2], x[3], x[0], x[2], x[1], x[3]};
    const int count[] = {3, 2, 4}, at[] = {0, 3, 5};
    MPI_Neighbor_alltoallv(out, count, at, MPI_DOUBLE, y, count, at, MPI_DOUBLE, ring_comm);
}

/* ---- exchanges among messages ----------------------------------------------------------- */

/* On a line: receives from anybody, under any tag, are begun before an exchange, and sends
 * after it; then numbers are on their way, under the tags of an exchange, while there is
 * one. */
static size_t among_messages(wg_tape *t, const wg_real *x, wg_real *y) {
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    const int one = below == MPI_PROC_NULL || above == MPI_PROC_NULL;
    wg_mpi_request r[4];
    wg_mat in[2];
    const wg_mat out[] = {wg_mat_gather(t, 1, 1, x + 2), wg_mat_gather(t, 1, 1, x + 3)};
    for (int k = 0; k < 6; k++) y[k] = wg_constant(0);
    for (int k = 0; k < 2; k++) {
        const int from = k == 0 ? below : above;
        wg_mpi_irecv(t, &y[k], 1, from != MPI_PROC_NULL && one ? MPI_ANY_SOURCE : from,
                     MPI_ANY_TAG, line, &r[k]);
    }
    wg_mpi_halo(t, 1, out, in, line);
    wg_mpi_isend(t, x, 1, below, 16, line, &r[2]);
    wg_mpi_isend(t, x + 1, 1, above, 17, line, &r[3]);
    wg_mpi_waitall(t, 4, r);
    wg_mpi_isend(t, x + 4, 1, below, 16, line, &r[2]);
    wg_mpi_isend(t, x + 5, 1, above, 17, line, &r[3]);
    wg_mpi_halo(t, 1, out, in, line);
    wg_mpi_recv(t, &y[4], 1, below, 17, line);
    wg_mpi_recv(t, &y[5], 1, above, 16, line);
    wg_mpi_halo(t, 1, out, in, line);
    wg_mpi_waitall(t, 2, r + 2);
    for (int k = 0; k < 2; k++) y[2 + k] = wg_mat_at(in[k], 0, 0);
    for (int k = 0; k < 6; k++) y[k] = wg_let(t, wg_mul(1, y[k]));
    return 6;
}
static void among_messages_plain(const double *x, double *y) {
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    memset(y, 0, 6 * sizeof *y);
    for (int k = 0; k < 6; k += 2) {
        MPI_Sendrecv(&x[k], 1, MPI_DOUBLE, below, 0, &y[k + 1], 1, MPI_DOUBLE, above, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&x[k + 1], 1, MPI_DOUBLE, above, 0, &y[k], 1, MPI_DOUBLE, below, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* ---- mistakes --------------------------------------------------------------------------- */

static void well_again(wg_tape *t) {
    wg_tape_reset(t);
    wg_mpi *const of_all[] = {m, ring, line};
    for (int k = 0; k < 3; k++)
        if (wg_mpi_clear(of_all[k]) != WG_OK) all(wg_mpi_message(of_all[k])[0] != 0);
}

static void other_communicators_are_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (int k = 0; k < 7; k++) {
        const wg_real x[] = {wg_input(t, 1), wg_input(t, 2)};
        const wg_mat a = wg_mat_gather(t, 1, 2, x), out[] = {a, a, a};
        const size_t one[] = {1, 1, 1}, two[] = {2, 2, 2}, large[] = {2, SIZE_MAX / 2, 2};
        wg_mat in[3];
        wg_real y[6];
        const wg_status s = k == 0   ? wg_mpi_graph_halo(t, out, one, two, in, m)
                            : k == 1 ? wg_mpi_neighbor_alltoall(t, x, NULL, y, NULL, 1, line)
                            : k == 2 ? wg_mpi_halo(t, 1, out, in, ring)
                            : k == 3 ? wg_mpi_graph_halo(t, out, one, NULL, in, ring)
                            : k == 4 ? wg_mpi_graph_halo(t, out, one, large, in, ring)
                            : k == 5 ? wg_mpi_neighbor_alltoall(t, x, NULL, NULL, NULL, 1, ring)
                                     : wg_mpi_graph_halo(t, out, one, two, in, NULL);
        all(s == (k < 3 ? WG_EARG : k == 4 ? WG_ESHAPE : WG_ENULL));
        all(s == wg_tape_status(t));
        well_again(t);
    }
    wg_tape_free(t);
}

/* What comes has another size than on the rank it comes from. */
static void other_sizes_are_found(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_real x[N] = {wg_input(t, 1), wg_input(t, 2), wg_input(t, 3),
                          wg_input(t, 4), wg_input(t, 5), wg_input(t, 6)};
    wg_real y[N + 3];
    const size_t more[] = {2, 3, 4};
    all(wg_mpi_neighbor_alltoall(t, x, few, y, more, 0, ring) == WG_ESHAPE);
    all(strstr(wg_tape_message(t), "numbers came from rank") != NULL);
    well_again(t);
    wg_tape_free(t);
}

CASE(graphs_exchange_arrays, on_a_ring, on_a_ring_plain, 1)
CASE(ranks_may_have_no_neighbours, to_a_star, to_a_star_plain, 1)
CASE(graphs_exchange_views, views, views_plain, 1)
CASE(exchanges_are_apart_from_messages, among_messages, among_messages_plain, 1)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_exchange_arrays),
        cmocka_unit_test(ranks_may_have_no_neighbours),
        cmocka_unit_test(graphs_exchange_views),
        cmocka_unit_test(exchanges_are_apart_from_messages),
        cmocka_unit_test(other_communicators_are_refused),
        cmocka_unit_test(other_sizes_are_found),
    };
    int failed = 0;
    open_ranks(&argc, &argv);
    for (unsigned flags = 0; flags <= WG_MPI_CHECKED && failed == 0; flags++) {
        m = wg_mpi_new(MPI_COMM_WORLD, flags);
        open_graphs(flags);
        failed =
            cmocka_run_group_tests_name(flags != 0 ? "checked" : "plain", tests, NULL, NULL);
        failed += close_graphs();
        failed += wg_mpi_free(m) != WG_OK;
    }
    MPI_Finalize();
    return failed;
}

/* SPDX-License-Identifier: MIT */
/* test_mpi.c - every call on 1 to 4 ranks: values against MPI's own call on numbers, tangents
 * against that of linear ones, adjoints against tangents by <w, J v> = <J' w, v>, summed
 * over all ranks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases.h"

/* ---- point to point --------------------------------------------------------------------- */

static size_t ring(wg_tape *t, const wg_real *x, wg_real *y) {
    if (size == 1) wg_mpi_sendrecv(t, x, N, 0, 3, y, N, 0, 3, m);
    else if (rank % 2 == 0)
        wg_mpi_send(t, x, N, right(), 3, m), wg_mpi_recv(t, y, N, left(), 3, m);
    else wg_mpi_recv(t, y, N, left(), 3, m), wg_mpi_send(t, x, N, right(), 3, m);
    return N;
}
static size_t shift(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_sendrecv(t, x, N, right(), 1, y, N, left(), MPI_ANY_TAG, m);
    return N;
}
static void ring_plain(const double *x, double *y) {
    MPI_Sendrecv(x, N, MPI_DOUBLE, right(), 1, y, N, MPI_DOUBLE, left(), 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static size_t in_place(wg_tape *t, const wg_real *x, wg_real *y) {
    memcpy(y, x, N * sizeof *y);
    wg_mpi_sendrecv(t, y, N, right(), 1, y, N, left(), 1, m);
    return N;
}

static size_t to_itself(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_request r[2];
    wg_mpi_isend(t, x, N, rank, 9, m, &r[0]);
    wg_mpi_irecv(t, y, N, rank, 9, m, &r[1]);
    wg_mpi_waitall(t, 2, r);
    return N;
}
static void same(const double *x, double *y) { memcpy(y, x, N * sizeof *y); }

/* At the ends nothing comes, and y is x. */
static size_t chain(wg_tape *t, const wg_real *x, wg_real *y) {
    memcpy(y, x, N * sizeof *y);
    wg_mpi_sendrecv(t, x, N, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 1, y, N,
                    rank > 0 ? rank - 1 : MPI_PROC_NULL, 1, m);
    return N;
}
static void chain_plain(const double *x, double *y) {
    memcpy(y, x, N * sizeof *y);
    MPI_Sendrecv(x, N, MPI_DOUBLE, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 1, y, N,
                 MPI_DOUBLE, rank > 0 ? rank - 1 : MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Numbers of each rank one by one to all, under two tags, waited for in an order of its own. */
static size_t in_any_order(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_request r[4 * 8];
    size_t n = 0;
    for (int k = 0; k < 2; k++)
        for (int q = 0; q < size; q++)
            wg_mpi_irecv(t, &y[k * size + q], 1, q, k % 2, m, &r[n++]);
    for (int k = 0; k < 2; k++)
        for (int q = 0; q < size; q++) wg_mpi_isend(t, &x[k], 1, q, k % 2, m, &r[n++]);
    shuffle(n, r, sizeof *r);
    wg_mpi_waitall(t, n, r);
    return 2 * (size_t)size;
}
/* The same under one tag, so that adjoints are begun in other orders than messages were
 * sent. */
static size_t under_one_tag(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_request r[2 * N];
    size_t n = 0;
    for (int k = 0; k < N; k++) wg_mpi_irecv(t, &y[k], 1, left(), 7, m, &r[n++]);
    for (int k = 0; k < N; k++) wg_mpi_isend(t, &x[k], 1, right(), 7, m, &r[n++]);
    shuffle(n, r, sizeof *r);
    for (size_t k = 0; k < n; k++) wg_mpi_wait(t, &r[k]);
    return N;
}
/* A collective call between begin and end. */
static size_t around_a_sum(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_request r[2];
    wg_mpi_irecv(t, y, N, left(), 7, m, &r[0]);
    wg_mpi_isend(t, x, N, right(), 7, m, &r[1]);
    wg_mpi_allreduce(t, x, y + N, N, WG_MPI_SUM, m);
    wg_mpi_waitall(t, 2, r);
    return 2 * N;
}
static void around_a_sum_plain(const double *x, double *y) {
    ring_plain(x, y);
    MPI_Allreduce(x, y + N, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void in_any_order_plain(const double *x, double *y) {
    for (int k = 0; k < 2; k++)
        MPI_Allgather(&x[k], 1, MPI_DOUBLE, y + k * size, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* Rank 0 adds up what comes in whatever order. */
static size_t from_anybody(wg_tape *t, const wg_real *x, wg_real *y) {
    y[0] = x[0];
    for (int q = 1; q < size && rank == 0; q++) {
        wg_real got;
        wg_mpi_recv(t, &got, 1, MPI_ANY_SOURCE, MPI_ANY_TAG, m);
        y[0] = wg_let(t, wg_add(y[0], got));
    }
    if (rank != 0) wg_mpi_send(t, x, 1, 0, rank, m);
    return rank == 0;
}

static size_t of_nothing(wg_tape *t, const wg_real *x, wg_real *y) {
    memcpy(y, x, N * sizeof *y);
    wg_mpi_sendrecv(t, NULL, 0, right(), 1, NULL, 0, left(), 1, m);
    wg_mpi_bcast(t, NULL, 0, 0, m);
    wg_mpi_allreduce(t, NULL, NULL, 0, WG_MPI_MAX, m);
    return N;
}

/* ---- matrices --------------------------------------------------------------------------- */

/* The lower row of x, 2-by-3, and its transpose without a column. */
static size_t views(wg_tape *t, const wg_real *x, wg_real *y) {
    const wg_mat a = wg_mat_gather(t, 2, 3, x), row = wg_mat_block(a, 1, 0, 1, 3);
    const wg_mat left_columns = wg_mat_transpose(wg_mat_block(a, 0, 0, 2, 2));
    const size_t n = elements(wg_mpi_mat_sendrecv(t, row, right(), 1, 1, 3, left(), 1, m), y);
    return n + elements(wg_mpi_mat_allreduce(t, left_columns, WG_MPI_SUM, m), y + n);
}
static void views_plain(const double *x, double *y) {
    const double row[] = {x[1], x[3], x[5]}, turned[] = {x[0], x[2], x[1], x[3]};
    MPI_Sendrecv(row, 3, MPI_DOUBLE, right(), 1, y, 3, MPI_DOUBLE, left(), 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(turned, y + 3, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static size_t matrices(wg_tape *t, const wg_real *x, wg_real *y) {
    const wg_mat a = wg_mat_gather(t, 2, 3, x);
    const wg_mat all = wg_mpi_mat_allgather(t, a, NULL, m);
    const size_t n = elements(wg_mpi_mat_scatter(t, all, NULL, 2, 3, size - 1, m), y);
    const wg_mat again = wg_mpi_mat_bcast(t, a, 2, 3, size - 1, m);
    return n + elements(wg_mpi_mat_exscan(t, again, m), y + n);
}
static void matrices_plain(const double *x, double *y) {
    double last[N];
    memcpy(y, x, N * sizeof *y);
    memcpy(last, x, sizeof last);
    MPI_Bcast(last, N, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    memset(y + N, 0, N * sizeof *y);
    for (int q = 0; q < rank; q++)
        for (int i = 0; i < N; i++) y[N + i] += last[i];
}

/* Columns and rows of x to four neighbours. */
static void halo_of(const wg_mat *a, wg_mat *out) {
    out[0] = wg_mat_block(*a, 0, 0, 1, 3), out[1] = wg_mat_block(*a, 1, 0, 1, 3);
    out[2] = wg_mat_block(*a, 0, 0, 2, 1), out[3] = wg_mat_block(*a, 0, 2, 2, 1);
}
static size_t halo_by(wg_tape *t, const wg_real *x, wg_real *y, wg_mpi *with) {
    const wg_mat a = wg_mat_gather(t, 2, 3, x);
    wg_mat out[4], in[4];
    size_t n = 0;
    halo_of(&a, out);
    wg_mpi_halo(t, 2, out, in, with);
    for (int k = 0; k < 4; k++) n += elements(in[k], y + n);
    return n;
}
static void halo_by_plain(const double *x, double *y, MPI_Comm comm) {
    const double out[4][3] = {
        {x[0], x[2], x[4]}, {x[1], x[3], x[5]}, {x[0], x[1]}, {x[4], x[5]}};
    const int length[] = {3, 3, 2, 2}, at[] = {0, 3, 6, 8};
    memset(y, 0, 10 * sizeof *y);
    for (int i = 0; i < 2; i++) {
        int below, above;
        MPI_Cart_shift(comm, i, 1, &below, &above);
        MPI_Sendrecv(out[2 * i], length[2 * i], MPI_DOUBLE, below, 0, y + at[2 * i + 1],
                     length[2 * i], MPI_DOUBLE, above, 0, comm, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out[2 * i + 1], length[2 * i], MPI_DOUBLE, above, 1, y + at[2 * i],
                     length[2 * i], MPI_DOUBLE, below, 1, comm, MPI_STATUS_IGNORE);
    }
}
static MPI_Comm grid_comm, torus_comm;
static wg_mpi *grid, *torus;
static size_t halo(wg_tape *t, const wg_real *x, wg_real *y) { return halo_by(t, x, y, grid); }
static void halo_plain(const double *x, double *y) { halo_by_plain(x, y, grid_comm); }
static size_t round_halo(wg_tape *t, const wg_real *x, wg_real *y) {
    return halo_by(t, x, y, torus);
}
static void round_halo_plain(const double *x, double *y) { halo_by_plain(x, y, torus_comm); }

/* ---- collective calls ------------------------------------------------------------------- */

static size_t bcast(wg_tape *t, const wg_real *x, wg_real *y) {
    memcpy(y, x, N * sizeof *y);
    wg_mpi_bcast(t, y, N, size - 1, m);
    return N;
}
static void bcast_plain(const double *x, double *y) {
    memcpy(y, x, N * sizeof *y);
    MPI_Bcast(y, N, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
}

/* Rank r has r numbers, rank 0 none. */
static size_t *growing(void) {
    static size_t count[8];
    for (size_t r = 0; r < 8; r++) count[r] = r;
    return count;
}
static void growing_int(int *count, int *at) {
    for (int r = 0, sum = 0; r < size; sum += r++) count[r] = r, at[r] = sum;
}
static size_t growing_sum(void) { return (size_t)(size * (size - 1) / 2); }

static size_t gather(wg_tape *t, const wg_real *x, wg_real *y) {
    const size_t all = rank == 0 ? (size_t)size * 2 : 0;
    wg_mpi_gather(t, x, 2, y, NULL, 0, m);
    wg_mpi_gather(t, x, (size_t)rank, y + all, growing(), 0, m);
    return rank == 0 ? all + growing_sum() : 0;
}
static void gather_plain(const double *x, double *y) {
    int count[8], at[8];
    growing_int(count, at);
    MPI_Gather(x, 2, MPI_DOUBLE, y, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Gatherv(x, rank, MPI_DOUBLE, y + 2 * size, count, at, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static size_t allgather(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_allgather(t, x, 2, y, NULL, m);
    wg_mpi_allgather(t, x, (size_t)rank, y + 2 * size, growing(), m);
    return (size_t)size * 2 + growing_sum();
}
static void allgather_plain(const double *x, double *y) {
    int count[8], at[8];
    growing_int(count, at);
    MPI_Allgather(x, 2, MPI_DOUBLE, y, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Allgatherv(x, rank, MPI_DOUBLE, y + 2 * size, count, at, MPI_DOUBLE, MPI_COMM_WORLD);
}
static size_t scatter(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_scatter(t, x, NULL, y, 1, size - 1, m);
    wg_mpi_scatter(t, x, growing(), y + 1, (size_t)rank, size - 1, m);
    return 1 + (size_t)rank;
}
static void scatter_plain(const double *x, double *y) {
    int count[8], at[8];
    growing_int(count, at);
    MPI_Scatter(x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    MPI_Scatterv(x, count, at, MPI_DOUBLE, y + 1, rank, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
}
/* From each r numbers to rank r. */
static size_t alltoall(wg_tape *t, const wg_real *x, wg_real *y) {
    size_t mine[8];
    for (int r = 0; r < 8; r++) mine[r] = (size_t)rank;
    wg_mpi_alltoall(t, x, NULL, y, NULL, 1, m);
    wg_mpi_alltoall(t, x, growing(), y + size, mine, 0, m);
    return (size_t)(size + size * rank);
}
static void alltoall_plain(const double *x, double *y) {
    int count[8], at[8], mine[8], from[8];
    growing_int(count, at);
    for (int r = 0; r < size; r++) mine[r] = rank, from[r] = r * rank;
    MPI_Alltoall(x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoallv(x, count, at, MPI_DOUBLE, y + size, mine, from, MPI_DOUBLE, MPI_COMM_WORLD);
}

#define REDUCTION(NAME, OP, MINE)                                                              \
    static size_t NAME(wg_tape *t, const wg_real *x, wg_real *y) {                             \
        wg_mpi_allreduce(t, x, y, N, OP, m);                                                   \
        wg_mpi_reduce(t, x, y + N, N, OP, size / 2, m);                                        \
        return rank == size / 2 ? 2 * N : N;                                                   \
    }                                                                                          \
    static void NAME##_plain(const double *x, double *y) {                                     \
        MPI_Allreduce(x, y, N, MPI_DOUBLE, MINE, MPI_COMM_WORLD);                              \
        MPI_Reduce(x, y + N, N, MPI_DOUBLE, MINE, size / 2, MPI_COMM_WORLD);                   \
    }
REDUCTION(sum_of, WG_MPI_SUM, MPI_SUM)
REDUCTION(product_of, WG_MPI_PROD, MPI_PROD)
REDUCTION(least_of, WG_MPI_MIN, MPI_MIN)
REDUCTION(largest_of, WG_MPI_MAX, MPI_MAX)

static size_t reduce_scatter(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_reduce_scatter(t, x, y, growing(), m);
    return (size_t)rank;
}
static void reduce_scatter_plain(const double *x, double *y) {
    int count[8], at[8];
    growing_int(count, at);
    MPI_Reduce_scatter(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static size_t scans(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_scan(t, x, y, N, m);
    wg_mpi_exscan(t, x, y + N, N, m);
    return 2 * N;
}
static void scans_plain(const double *x, double *y) {
    MPI_Scan(x, y, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(x, y + N, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N && rank == 0; i++) y[N + i] = 0;
}

/* ---- the checks ------------------------------------------------------------------------- */

CASE(send_and_recv_give_adjoints_back, ring, ring_plain, 1)
CASE(sendrecv_gives_adjoints_back, shift, ring_plain, 1)
CASE(what_is_sent_may_be_overwritten, in_place, ring_plain, 1)
CASE(a_rank_may_send_to_itself, to_itself, same, 1)
CASE(nothing_comes_from_no_rank, chain, chain_plain, 1)
CASE(requests_end_in_any_order, in_any_order, in_any_order_plain, 1)
CASE(adjoints_of_one_tag_are_not_mixed_up, under_one_tag, ring_plain, 1)
CASE(a_collective_call_may_come_before_the_end, around_a_sum, around_a_sum_plain, 1)
CASE(messages_come_from_anybody, from_anybody, NULL, 1)
CASE(messages_may_be_empty, of_nothing, same, 1)
CASE(views_are_sent_as_their_elements, views, views_plain, 1)
CASE(matrices_are_sent_by_columns, matrices, matrices_plain, 1)
CASE(halos_end_at_a_border, halo, halo_plain, 1)
CASE(halos_go_round_a_torus, round_halo, round_halo_plain, 1)
CASE(bcast_sums_adjoints, bcast, bcast_plain, 1)
CASE(gather_gives_adjoints_back, gather, gather_plain, 1)
CASE(allgather_sums_adjoints, allgather, allgather_plain, 1)
CASE(scatter_gives_adjoints_back, scatter, scatter_plain, 1)
CASE(alltoall_gives_adjoints_back, alltoall, alltoall_plain, 1)
CASE(sums_are_differentiated, sum_of, sum_of_plain, 1)
CASE(products_are_differentiated, product_of, product_of_plain, 0)
CASE(the_least_is_differentiated, least_of, least_of_plain, 0)
CASE(the_largest_is_differentiated, largest_of, largest_of_plain, 0)
CASE(reduce_scatter_gathers_adjoints, reduce_scatter, reduce_scatter_plain, 1)
CASE(scans_go_the_other_way, scans, scans_plain, 1)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(send_and_recv_give_adjoints_back),
        cmocka_unit_test(sendrecv_gives_adjoints_back),
        cmocka_unit_test(what_is_sent_may_be_overwritten),
        cmocka_unit_test(a_rank_may_send_to_itself),
        cmocka_unit_test(nothing_comes_from_no_rank),
        cmocka_unit_test(requests_end_in_any_order),
        cmocka_unit_test(adjoints_of_one_tag_are_not_mixed_up),
        cmocka_unit_test(a_collective_call_may_come_before_the_end),
        cmocka_unit_test(messages_come_from_anybody),
        cmocka_unit_test(messages_may_be_empty),
        cmocka_unit_test(views_are_sent_as_their_elements),
        cmocka_unit_test(matrices_are_sent_by_columns),
        cmocka_unit_test(halos_end_at_a_border),
        cmocka_unit_test(halos_go_round_a_torus),
        cmocka_unit_test(bcast_sums_adjoints),
        cmocka_unit_test(gather_gives_adjoints_back),
        cmocka_unit_test(allgather_sums_adjoints),
        cmocka_unit_test(scatter_gives_adjoints_back),
        cmocka_unit_test(alltoall_gives_adjoints_back),
        cmocka_unit_test(sums_are_differentiated),
        cmocka_unit_test(products_are_differentiated),
        cmocka_unit_test(the_least_is_differentiated),
        cmocka_unit_test(the_largest_is_differentiated),
        cmocka_unit_test(reduce_scatter_gathers_adjoints),
        cmocka_unit_test(scans_go_the_other_way),
    };
    int failed = 0;
    open_ranks(&argc, &argv);
    for (unsigned flags = 0; flags <= WG_MPI_CHECKED && failed == 0; flags++) {
        int dims[] = {0, 0}, no[] = {0, 0}, yes[] = {1, 1};
        MPI_Dims_create(size, 2, dims);
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, no, 0, &grid_comm);
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, yes, 0, &torus_comm);
        grid = wg_mpi_new(grid_comm, flags);
        torus = wg_mpi_new(torus_comm, flags);
        m = wg_mpi_new(MPI_COMM_WORLD, flags);
        failed =
            cmocka_run_group_tests_name(flags != 0 ? "checked" : "plain", tests, NULL, NULL);
        failed += wg_mpi_free(m) != WG_OK;
        failed += wg_mpi_free(grid) != WG_OK;
        failed += wg_mpi_free(torus) != WG_OK;
        MPI_Comm_free(&grid_comm);
        MPI_Comm_free(&torus_comm);
    }
    MPI_Finalize();
    return failed;
}

/* SPDX-License-Identifier: MIT */
/* test_mpi_requests.c - requests that end in whatever order, persistent ones, synchronous
 * sends, probes, and extremes with where they are, on 1 to 4 ranks. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>
#include "cases.h"

/* ---- synchronous ------------------------------------------------------------------------ */

static void ring_plain(const double *x, double *y) {
    MPI_Sendrecv(x, N, MPI_DOUBLE, right(), 1, y, N, MPI_DOUBLE, left(), 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static size_t synchronous_ring(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_request r[2];
    if (size == 1) {
        wg_mpi_irecv(t, y, N, 0, 3, m, &r[0]);
        wg_mpi_ssend(t, x, N, 0, 3, m);
        wg_mpi_wait(t, &r[0]);
    } else if (rank % 2 == 0)
        wg_mpi_ssend(t, x, N, right(), 3, m), wg_mpi_recv(t, y, N, left(), 3, m);
    else if (size % 2 == 0) {
        const wg_mat row = wg_mat_gather(t, 1, N, x);
        wg_mpi_recv(t, y, N, left(), 3, m), wg_mpi_mat_ssend(t, row, right(), 3, m);
    } else {
        wg_mpi_irecv(t, y, N, left(), 3, m, &r[0]),
            wg_mpi_issend(t, x, N, right(), 3, m, &r[1]);
        wg_mpi_waitall(t, 2, r);
    }
    return N;
}

/* It has not gone before somebody receives it. */
static void a_synchronous_send_waits_for_its_receive(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 1), y;
    wg_mpi_request r[2];
    int flag = 1;
    wg_mpi_issend(t, &x, 1, right(), 0, m, &r[0]);
    assert_ok(t, wg_mpi_test(t, &r[0], &flag));
    all(!flag && r[0].m == m);
    wg_mpi_irecv(t, &y, 1, left(), 0, m, &r[1]);
    assert_ok(t, wg_mpi_waitall(t, 2, r));
    assert_ok(t, wg_mpi_test(t, &r[0], &flag));
    all(flag && y.value == 1);
    assert_ok(t, wg_mpi_reverse(t, y, 1, m));
    all(wg_adjoint(t, x) == 1);
    wg_tape_free(t);
}

/* More than MPI keeps of what nobody receives yet: the send is waited for before the
 * receive. */
static void large_tangents_do_not_wait_for_each_other(void **state) {
    (void)state;
    enum { LARGE = 40000 };
    wg_tape *const t = wg_tape_new(NULL);
    static wg_real x[LARGE], y[LARGE];
    wg_mpi_request r[2];
    assert_ok(t, wg_tape_forward(t, 2));
    for (int i = 0; i < LARGE; i++) {
        x[i] = wg_input(t, i);
        assert_true(wg_tangent_seed(t, x[i], 0, rank) == WG_OK &&
                    wg_tangent_seed(t, x[i], 1, i) == WG_OK);
    }
    wg_mpi_irecv(t, y, LARGE, left(), 0, m, &r[1]);
    wg_mpi_isend(t, x, LARGE, right(), 0, m, &r[0]);
    assert_ok(t, wg_mpi_waitall(t, 2, r));
    int good = 1;
    for (int i = 0; i < LARGE; i++)
        good &=
            y[i].value == i && wg_tangent(t, y[i], 0) == left() && wg_tangent(t, y[i], 1) == i;
    all(good);
    wg_tape_free(t);
}

/* ---- in whatever order ------------------------------------------------------------------ */

/* A number of each rank to all, each begun somewhat later: other orders in each run. */
static size_t begin_all(wg_tape *t, const wg_real *x, wg_real *y, wg_mpi_request *r) {
    int order[8];
    size_t n = 0;
    for (int q = 0; q < size; q++) {
        order[q] = q;
        wg_mpi_irecv(t, &y[q], 1, q, 5, m, &r[n++]);
    }
    shuffle((size_t)size, order, sizeof *order);
    for (int q = 0; q < size; q++) {
        const struct timespec rest = {0, (long)(next_of(&orders_so_far) % 300000)};
        (void)nanosleep(&rest, NULL);
        wg_mpi_isend(t, &x[0], 1, order[q], 5, m, &r[n++]);
    }
    shuffle(n, r, sizeof *r);
    return n;
}
static void begin_all_plain(const double *x, double *y) {
    MPI_Allgather(x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

static size_t any(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_request r[16];
    const size_t n = begin_all(t, x, y, r);
    size_t ended = 0;
    int index, before = -1;
    while (wg_mpi_waitany(t, n, r, &index) == WG_OK && index != MPI_UNDEFINED) {
        ended += index >= 0 && (size_t)index < n && r[index].m == NULL && index != before;
        before = index;
    }
    all(ended == n);
    return (size_t)size;
}
static size_t some(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_request r[16];
    const size_t n = begin_all(t, x, y, r);
    size_t ended = 0;
    int index[16], count;
    while (wg_mpi_waitsome(t, n, r, &count, index) == WG_OK && count != MPI_UNDEFINED) {
        assert_true(count > 0);
        for (int i = 0; i < count; i++) ended += r[index[i]].m == NULL;
        if (ended == n) break;
    }
    all(ended == n);
    return (size_t)size;
}
static size_t tested(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_request r[16];
    const size_t n = begin_all(t, x, y, r);
    int index[16], flag = 0, count = 0, left_over = (int)n;
    /* one by test, one by testany, what is there by testsome, the others by testall */
    while (!flag) (void)wg_mpi_test(t, &r[n - 1], &flag);
    all(r[n - 1].m == NULL);
    for (flag = 0; !flag;) (void)wg_mpi_testany(t, n - 1, r, index, &flag);
    all(r[index[0]].m == NULL);
    left_over -= 2;
    while (left_over > 2 && count == 0) (void)wg_mpi_testsome(t, n, r, &count, index);
    for (flag = 0; !flag;) (void)wg_mpi_testall(t, n, r, &flag);
    for (size_t i = 0; i < n; i++) flag &= r[i].m == NULL;
    all(flag);
    return (size_t)size;
}

/* ---- persistent ------------------------------------------------------------------------- */

/* Round and round: after `size` rounds x has come home, doubled each time. */
static size_t persistent(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_real out[N], in[N];
    wg_mpi_request r[2];
    wg_mpi_recv_init(t, in, N, left(), 2, m, &r[0]);
    wg_mpi_send_init(t, out, N, right(), 2, m, &r[1]);
    memcpy(out, x, sizeof out);
    for (int k = 0; k < size; k++) {
        wg_mpi_startall(t, 2, r);
        wg_mpi_waitall(t, 2, r);
        for (int i = 0; i < N; i++) out[i] = wg_let(t, wg_mul(2, in[i]));
    }
    memcpy(y, out, sizeof out);
    wg_mpi_request_free(t, &r[0]), wg_mpi_request_free(t, &r[1]);
    all(r[0].kept == NULL && r[1].kept == NULL);
    return N;
}
static void persistent_plain(const double *x, double *y) {
    for (int i = 0; i < N; i++) y[i] = x[i] * (double)(1 << size);
}

/* ---- probes ----------------------------------------------------------------------------- */

/* Rank r sends r + 1 numbers to the right under the tag r. */
static size_t probed(wg_tape *t, const wg_real *x, wg_real *y) {
    wg_mpi_request r;
    MPI_Status status;
    size_t n = 0;
    int flag = 0;
    wg_mpi_isend(t, x, (size_t)rank + 1, right(), rank, m, &r);
    if (rank % 2 == 0)
        assert_true(wg_mpi_probe(MPI_ANY_SOURCE, MPI_ANY_TAG, m, &status, &n) == WG_OK);
    else
        while (!flag)
            assert_true(wg_mpi_iprobe(left(), left(), m, &flag, &status, &n) == WG_OK);
    assert_true(n == (size_t)left() + 1 && status.MPI_SOURCE == left() &&
                status.MPI_TAG == left());
    wg_mpi_recv(t, y, n, status.MPI_SOURCE, status.MPI_TAG, m);
    wg_mpi_wait(t, &r);
    return n;
}
static void probed_plain(const double *x, double *y) {
    MPI_Sendrecv(x, rank + 1, MPI_DOUBLE, right(), 1, y, left() + 1, MPI_DOUBLE, left(), 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void probes_find_nothing_where_nothing_is(void **state) {
    (void)state;
    size_t n = 7;
    int flag = 1;
    MPI_Status status;
    all(wg_mpi_iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, m, &flag, &status, &n) == WG_OK && !flag);
    all(wg_mpi_probe(MPI_PROC_NULL, 0, m, &status, &n) == WG_OK && n == 0 &&
        status.MPI_SOURCE == MPI_PROC_NULL);
    all(wg_mpi_iprobe(0, 0, NULL, &flag, &status, &n) == WG_ENULL);
    all(wg_mpi_iprobe(0, 0, m, NULL, &status, &n) == WG_ENULL);
    all(wg_mpi_probe(0, 0, m, MPI_STATUS_IGNORE, NULL) == WG_ENULL);
    all(wg_mpi_iprobe(size + 7, 0, m, &flag, &status, &n) == WG_EARG);
    if (wg_mpi_clear(m) != WG_OK) all(wg_mpi_message(m)[0] != 0);
}

/* ---- extremes and where they are -------------------------------------------------------- */

static int where[2 * N];
static size_t located(wg_tape *t, const wg_real *x, wg_real *y) {
    int index[N];
    for (int i = 0; i < N; i++) index[i] = 100 * rank + i;
    wg_mpi_allreduce_loc(t, x, index, y, where, N, WG_MPI_MAX, m);
    wg_mpi_reduce_loc(t, x, index, y + N, where + N, N, WG_MPI_MIN, size / 2, m);
    return rank == size / 2 ? 2 * N : N;
}
static void located_plain(const double *x, double *y) {
    struct pair {
        double value;
        int at;
    } mine[N], best[N];
    int good = 1;
    for (int i = 0; i < N; i++) mine[i] = (struct pair){x[i], 100 * rank + i};
    MPI_Allreduce(mine, best, N, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) y[i] = best[i].value, good &= where[i] == best[i].at;
    MPI_Reduce(mine, best, N, MPI_DOUBLE_INT, MPI_MINLOC, size / 2, MPI_COMM_WORLD);
    for (int i = 0; rank == size / 2 && i < N; i++)
        y[N + i] = best[i].value, good &= where[N + i] == best[i].at;
    all(good);
}

static void equal_extremes_are_those_of_the_least_index(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    /* equal on all ranks; the least index on the last; two with the same index; NaN on the
     * last */
    wg_real x[3] = {wg_input(t, 2), wg_input(t, 2), wg_input(t, rank == size - 1 ? NAN : 1)};
    const int index[3] = {size - rank, 5, rank};
    wg_real y[3];
    int at[3] = {0};
    wg_mpi_allreduce_loc(t, x, index, y, at, 3, WG_MPI_MIN, m);
    assert_ok(t, wg_tape_status(t));
    all(y[0].value == 2 && at[0] == 1 && at[1] == 5 && isnan(y[2].value) && at[2] == size - 1);
    const double w[2] = {rank == 0, rank == 0};
    assert_ok(t, wg_reverse_seeds(t, 2, y, w));
    all(wg_adjoint(t, x[0]) == (rank == size - 1) && wg_adjoint(t, x[1]) == 1.0 / size);
    all(wg_mpi_allreduce_loc(t, x, index, y, at, 3, WG_MPI_SUM, m) == WG_EARG);
    wg_tape_free(t);
    if (wg_mpi_clear(m) != WG_OK) all(wg_mpi_message(m)[0] != 0);
}

/* ---- mistakes --------------------------------------------------------------------------- */

static void requests_are_started_and_ended_in_turn(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 1), y;
    wg_mpi_request r[2], none = {0};
    for (int k = 0; k < 5; k++) {
        wg_status s;
        wg_tape_reset(t);
        x = wg_input(t, 1);
        if (k == 0) s = wg_mpi_start(t, &none);
        else if (k == 1) s = wg_mpi_send_init(t, NULL, 1, 0, 0, m, r);
        else if (k == 2) s = wg_mpi_recv_init(t, &y, 1, 0, 0, NULL, r);
        else {
            assert_ok(t, wg_mpi_recv_init(t, &y, 1, left(), 0, m, &r[0]));
            assert_ok(t, wg_mpi_send_init(t, &x, 1, right(), 0, m, &r[1]));
            assert_ok(t, wg_mpi_startall(t, 2, r));
            s = k == 3 ? wg_mpi_start(t, &r[1]) : wg_mpi_request_free(t, &r[1]);
            wg_tape_reset(t);
            if (wg_mpi_clear(m) == WG_EMODE) { /* a plain one goes on */
                assert_ok(t, wg_mpi_waitall(t, 2, r));
                all(y.value == 1);
            }
        }
        all(s == (k == 1 || k == 2 ? WG_ENULL : WG_EMODE));
        (void)(wg_mpi_clear(m) == WG_OK);
    }
    int index = 7, flag = 7, count = 7;
    wg_tape_reset(t);
    assert_ok(t, wg_mpi_waitany(t, 1, &none, &index));
    all(index == MPI_UNDEFINED);
    assert_ok(t, wg_mpi_testany(t, 0, NULL, &index, &flag));
    all(index == MPI_UNDEFINED && flag == 1);
    assert_ok(t, wg_mpi_testsome(t, 1, &none, &count, &index));
    all(count == MPI_UNDEFINED);
    assert_ok(t, wg_mpi_testall(t, 1, &none, &flag));
    all(flag == 1);
    wg_mpi_request *const no = NULL;
    for (int k = 0; k < 8; k++) {
        wg_tape_reset(t);
        const wg_status s = k == 0   ? wg_mpi_waitany(t, 1, no, &index)
                            : k == 1 ? wg_mpi_waitsome(t, 1, &none, NULL, &index)
                            : k == 2 ? wg_mpi_test(t, no, &flag)
                            : k == 3 ? wg_mpi_test(t, &none, NULL)
                            : k == 4 ? wg_mpi_testany(t, 1, &none, &index, NULL)
                            : k == 5 ? wg_mpi_start(t, no)
                            : k == 6 ? wg_mpi_request_free(t, no)
                                     : wg_mpi_startall(t, 1, no);
        all(s == WG_ENULL && wg_tape_status(t) == WG_ENULL);
    }
    wg_tape_free(t);
}

CASE(synchronous_sends_give_adjoints_back, synchronous_ring, ring_plain, 1)
CASE(waitany_ends_what_comes_first, any, begin_all_plain, 1)
CASE(waitsome_ends_what_has_come, some, begin_all_plain, 1)
CASE(tests_end_what_has_come, tested, begin_all_plain, 1)
CASE(persistent_requests_go_round, persistent, persistent_plain, 1)
CASE(probes_say_how_much_comes, probed, probed_plain, 1)
CASE(extremes_are_differentiated_where_they_are, located, located_plain, 0)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synchronous_sends_give_adjoints_back),
        cmocka_unit_test(a_synchronous_send_waits_for_its_receive),
        cmocka_unit_test(large_tangents_do_not_wait_for_each_other),
        cmocka_unit_test(waitany_ends_what_comes_first),
        cmocka_unit_test(waitsome_ends_what_has_come),
        cmocka_unit_test(tests_end_what_has_come),
        cmocka_unit_test(persistent_requests_go_round),
        cmocka_unit_test(probes_say_how_much_comes),
        cmocka_unit_test(probes_find_nothing_where_nothing_is),
        cmocka_unit_test(extremes_are_differentiated_where_they_are),
        cmocka_unit_test(equal_extremes_are_those_of_the_least_index),
        cmocka_unit_test(requests_are_started_and_ended_in_turn),
    };
    int failed = 0;
    open_ranks(&argc, &argv);
    for (unsigned flags = 0; flags <= WG_MPI_CHECKED && failed == 0; flags++) {
        m = wg_mpi_new(MPI_COMM_WORLD, flags);
        failed =
            cmocka_run_group_tests_name(flags != 0 ? "checked" : "plain", tests, NULL, NULL);
        failed += wg_mpi_free(m) != WG_OK;
    }
    MPI_Finalize();
    return failed;
}

/* SPDX-License-Identifier: MIT */
/* test_mpi_hostile.c - programs that misuse the adapter: communicators that are none, ranks
 * that wait for others which have gone on, sweeps that some ranks are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ranks.h"

static wg_tape *t;
static wg_mpi *plain; /* without WG_MPI_CHECKED */

static int right(void) { return (rank + 1) % size; }
static int left(void) { return (rank + size - 1) % size; }

static int opens(void **state) {
    (void)state;
    t = wg_tape_new(NULL);
    return t == NULL;
}
/* After each test all is well again. */
static int closes(void **state) {
    (void)state;
    wg_tape_reset(t);
    assert_ok(t, wg_mpi_clear(m));
    for (int k = 0; k < 2; k++) {
        wg_mpi *const on = k == 0 ? m : plain;
        wg_real x = wg_input(t, 1 + rank), y, z;
        wg_mpi_sendrecv(t, &x, 1, right(), 0, &y, 1, left(), 0, on);
        wg_mpi_allreduce(t, &y, &z, 1, WG_MPI_SUM, on);
        assert_ok(t, wg_mpi_reverse(t, z, rank == 0, on));
        all(wg_adjoint(t, x) == 1 && z.value == size * (size + 1) / 2);
    }
    wg_tape_free(t);
    return 0;
}

/* ---- communicators ---------------------------------------------------------------------- */

static void what_is_no_communicator_gives_none(void **state) {
    (void)state;
    MPI_Comm half, inter = MPI_COMM_NULL;
    all(wg_mpi_new(MPI_COMM_NULL, 0) == NULL);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    if (size > 1) {
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
        all(wg_mpi_new(inter, 0) == NULL);
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&half);
}

static void a_communicator_may_be_freed_before_its_own(void **state) {
    (void)state;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    wg_mpi *const other = wg_mpi_new(comm, 0);
    all(other != NULL);
    MPI_Comm_free(&comm);
    wg_real x = wg_input(t, 1), y;
    assert_ok(t, wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, other));
    assert_ok(t, wg_mpi_reverse(t, y, rank == 0, other));
    all(wg_adjoint(t, x) == 1);
    all(wg_mpi_free(other) == WG_OK);
}

/* ---- waits for nothing ------------------------------------------------------------------ */

/* Rank 0 waits, the others go on to a barrier, where they learn of it when it comes to a
 * call of all. */
static void is_told(wg_status mine) {
    const int says =
        rank != 0 || strstr(wg_mpi_message(m), "in wg_mpi_barrier and waits there") != NULL;
    assert_ok(t, wg_mpi_clear(m));
    all(mine == WG_EMISMATCH && says);
    wg_tape_reset(t);
}

static void who_sweeps_alone_is_told(void **state) {
    (void)state;
    if (size == 1) return;
    wg_real x = wg_input(t, 1), y;
    wg_mpi_sendrecv(t, &x, 1, right(), 0, &y, 1, left(), 0, m);
    is_told(rank == 0 ? wg_reverse(t, y) : wg_mpi_barrier(m));
}

static void who_has_rewound_alone_is_told(void **state) {
    (void)state;
    if (size == 1) return;
    wg_real x = wg_input(t, 1), y;
    const wg_mark before = wg_tape_mark(t);
    wg_mpi_sendrecv(t, &x, 1, right(), 0, &y, 1, left(), 0, m);
    if (rank == 0) assert_true(wg_tape_rewind(t, before) == WG_OK);
    const wg_status s = wg_mpi_reverse(t, rank == 0 ? x : y, 1, m);
    assert_ok(t, wg_mpi_clear(m));
    all(s == WG_EMISMATCH);
}

static void who_waits_for_a_rank_that_has_gone_on_is_told(void **state) {
    (void)state;
    enum { LARGE = 200000 };
    static wg_real large[LARGE];
    if (size == 1) return;
    for (int k = 0; k < 6; k++) {
        wg_real x = wg_input(t, 1), y;
        wg_mpi_request r[2];
        MPI_Status got;
        size_t n;
        int index;
        if (rank != 0) {
            is_told(wg_mpi_barrier(m));
            continue;
        }
        for (int i = 0; i < LARGE; i++) large[i] = x;
        (void)wg_mpi_irecv(t, &y, 1, 1, 7, m, &r[0]);
        (void)wg_mpi_irecv(t, &y, 1, size - 1, 8, m, &r[1]);
        is_told(k == 0   ? wg_mpi_recv(t, &y, 1, size - 1, 0, m)
                : k == 1 ? wg_mpi_recv(t, &y, 1, MPI_ANY_SOURCE, MPI_ANY_TAG, m)
                : k == 2 ? wg_mpi_ssend(t, &x, 1, size - 1, 0, m)
                : k == 3 ? wg_mpi_send(t, large, LARGE, size - 1, 0, m)
                : k == 4 ? wg_mpi_waitany(t, 2, r, &index)
                         : wg_mpi_probe(size - 1, 0, m, &got, &n));
    }
}

static void who_waits_for_itself_is_told(void **state) {
    (void)state;
    wg_real x = wg_input(t, 1), y;
    all(wg_mpi_recv(t, &y, 1, rank, 0, m) == WG_EMISMATCH);
    all(strstr(wg_mpi_message(m), "waits for itself") != NULL || size > 1);
    wg_tape_reset(t);
    assert_ok(t, wg_mpi_clear(m));
    x = wg_input(t, 1);
    all(wg_mpi_ssend(t, &x, 1, rank, 0, m) == WG_EMISMATCH);
}

/* What was sent before the sender went on comes, whenever it is received; a receive that was
 * begun before is none that was forgotten. */
static void what_was_sent_before_is_waited_for(void **state) {
    (void)state;
    enum { TIMES = 50, LARGE = 20000 };
    static wg_real x[LARGE], y[LARGE];
    for (int k = 0; k < TIMES; k++) {
        wg_mpi_request r[2];
        wg_real sum;
        const size_t n = k % 10 == 0 ? LARGE : 3;
        wg_tape_reset(t);
        for (size_t i = 0; i < n; i++) x[i] = wg_input(t, (double)(rank + k));
        /* from the left one, which is in the sum by then, or is not */
        assert_int_equal(wg_mpi_irecv(t, y, n, left(), k, m, &r[0]), WG_OK);
        assert_int_equal(wg_mpi_isend(t, x, n, right(), k, m, &r[1]), WG_OK);
        if (rank % 2 == k % 2) assert_int_equal(wg_mpi_waitall(t, 2, r), WG_OK);
        assert_int_equal(wg_mpi_allreduce(t, x, &sum, 1, WG_MPI_SUM, m), WG_OK);
        if (rank % 2 != k % 2) assert_int_equal(wg_mpi_waitall(t, 2, r), WG_OK);
        assert_int_equal(wg_mpi_reverse(t, y[n - 1], 1, m), WG_OK);
        assert_true(y[n - 1].value == left() + k && wg_adjoint(t, x[n - 1]) == 1);
    }
}

/* What has gone may say so late: the next wait is told once that it has not, and meanwhile all
 * that the others do is done. */
static int is_late;
int MPI_Test(MPI_Request *r, int *is, MPI_Status *got) {
    int any;
    if (!is_late) return PMPI_Test(r, is, got);
    for (const double until = MPI_Wtime() + 0.2; MPI_Wtime() < until;)
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
    return is_late = *is = 0, MPI_SUCCESS;
}

/* Rank 1 has received the first message, and will receive the second one behind the barrier. */
static void what_has_gone_is_not_waited_for_in_vain(void **state) {
    (void)state;
    enum { LARGE = 200000 };
    static wg_real x[LARGE], y[LARGE];
    wg_mpi_request r[2];
    wg_status s[4] = {WG_OK, WG_OK, WG_OK, WG_OK};
    if (size == 1) return;
    for (int i = 0; i < LARGE; i++) x[i] = wg_input(t, i);
    if (rank == 0) {
        s[0] = wg_mpi_isend(t, x, LARGE, 1, 0, m, &r[0]);
        s[1] = wg_mpi_isend(t, x, 1, 1, 1, m, &r[1]);
        is_late = 1;
        s[2] = wg_mpi_wait(t, &r[0]);
    } else if (rank == 1) s[0] = wg_mpi_recv(t, y, LARGE, 0, 0, m);
    s[3] = wg_mpi_barrier(m);
    for (int k = 0; k < 4; k++) assert_ok(t, s[k]);
    if (rank == 0) s[0] = wg_mpi_wait(t, &r[1]);
    else if (rank == 1) s[0] = wg_mpi_recv(t, y, 1, 0, 1, m);
    assert_ok(t, s[0]);
}

/* ---- sweeps ----------------------------------------------------------------------------- */

/* On the last rank the root is of another tape, the seeds are nowhere, there is no room for
 * adjoints: all are told before anybody sweeps, whatever the flags. */
static void a_sweep_that_one_rank_is_refused_begins_on_none(void **state) {
    (void)state;
    const int odd = rank == size - 1;
    const double w[2] = {1, 1};
    for (int k = 0; k < 3; k++) {
        wg_tape *const other = wg_tape_new(NULL);
        wg_real x = wg_input(t, 1), y, stale = wg_input(other, 1);
        assert_ok(t, wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, plain));
        const wg_status s = k == 0 ? wg_mpi_reverse(t, odd ? stale : y, 1, plain)
                            : k == 1
                                ? wg_mpi_reverse_lanes(t, 2, 1, odd ? &stale : &y, w, plain)
                                : wg_mpi_reverse_lanes(t, 2, 1, &y, odd ? NULL : w, plain);
        all(s == (k == 2 ? WG_ENULL : WG_ESTALE) && wg_tape_status(t) == WG_OK);
        wg_tape_reset(t);
        wg_tape_free(other);
    }
}

static void a_sweep_without_room_on_one_rank_begins_on_none(void **state) {
    (void)state;
    enum { MANY = 100000 };
    const int odd = rank == size - 1;
    wg_tape *const small = wg_tape_new(&(wg_options){.budget = odd ? 4000000 : 0});
    wg_real x = wg_input(small, 1), y, z;
    assert_ok(small, wg_mpi_allreduce(small, &x, &y, 1, WG_MPI_SUM, plain));
    z = y;
    for (int i = 0; i < MANY; i++) z = wg_let(small, wg_mul(z, 2.0));
    all(wg_tape_status(small) == WG_OK);
    all(wg_mpi_reverse(small, z, 1, plain) == WG_EBUDGET);
    wg_tape_free(small);
}

/* ---- arguments -------------------------------------------------------------------------- */

static void a_probe_need_not_say_whence(void **state) {
    (void)state;
    size_t n = 0;
    int is = 1;
    all(wg_mpi_iprobe(MPI_ANY_SOURCE, 3, m, &is, NULL, &n) == WG_OK && !is);
    wg_real x[2] = {wg_input(t, 1), wg_input(t, 2)}, y[2];
    wg_mpi_request r;
    assert_ok(t, wg_mpi_isend(t, x, 2, right(), 3, m, &r));
    all(wg_mpi_probe(left(), 3, m, NULL, &n) == WG_OK && n == 2);
    assert_ok(t, wg_mpi_recv(t, y, n, left(), 3, m));
    assert_ok(t, wg_mpi_wait(t, &r));
}

/* What is freed behind MPI_Finalize takes its memory along, and no call of MPI. */
static int freed_late(void) {
    wg_tape *const tape = wg_tape_new(NULL);
    wg_mpi *const late = wg_mpi_new(MPI_COMM_WORLD, WG_MPI_CHECKED);
    wg_real x = wg_input(tape, 1), y;
    (void)wg_mpi_allreduce(tape, &x, &y, 1, WG_MPI_SUM, late);
    wg_tape_free(tape);
    MPI_Finalize();
    return wg_mpi_free(late) != WG_EMODE || wg_mpi_new(MPI_COMM_WORLD, 0) != NULL;
}

int main(int argc, char **argv) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, opens, closes)
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_communicator_gives_none),
        TEST(a_communicator_may_be_freed_before_its_own),
        TEST(who_sweeps_alone_is_told),
        TEST(who_has_rewound_alone_is_told),
        TEST(who_waits_for_a_rank_that_has_gone_on_is_told),
        TEST(who_waits_for_itself_is_told),
        TEST(what_was_sent_before_is_waited_for),
        TEST(what_has_gone_is_not_waited_for_in_vain),
        TEST(a_sweep_that_one_rank_is_refused_begins_on_none),
        TEST(a_sweep_without_room_on_one_rank_begins_on_none),
        TEST(a_probe_need_not_say_whence),
    };
    int failed = wg_mpi_new(MPI_COMM_WORLD, 0) != NULL; /* before MPI_Init */
    open_ranks(&argc, &argv);
    m = wg_mpi_new(MPI_COMM_WORLD, WG_MPI_CHECKED);
    plain = wg_mpi_new(MPI_COMM_WORLD, 0);
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    failed += wg_mpi_free(m) != WG_OK;
    failed += wg_mpi_free(plain) != WG_OK;
    return failed + freed_late();
}

/* SPDX-License-Identifier: MIT */
/* test_mpi_checked.c - with WG_MPI_CHECKED a failure on one rank reaches all, mistakes that
 * would be a deadlock are failures, and all can go on after wg_mpi_clear. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ranks.h"

static wg_tape *t;

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
    wg_real x = wg_input(t, 1 + rank), y, z;
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    wg_mpi_sendrecv(t, &x, 1, to, 0, &y, 1, from, 0, m);
    wg_mpi_allreduce(t, &y, &z, 1, WG_MPI_SUM, m);
    assert_ok(t, wg_mpi_reverse(t, z, rank == 0, m));
    all(wg_adjoint(t, x) == 1 && z.value == size * (size + 1) / 2);
    wg_tape_free(t);
    return 0;
}

/* On the last rank alone the tape fails. */
static void fail_here(void) {
    if (rank == size - 1)
        (void)wg_mat_block(wg_mat_input(t, 2, 2, (double[4]){0}, 1), 0, 0, 1, 1);
}

static void a_failure_reaches_a_collective_call(void **state) {
    (void)state;
    wg_real x = wg_input(t, 1), y;
    fail_here();
    const wg_status s = wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, m);
    all(s == WG_ESHAPE && isnan(y.value) && wg_tape_status(t) == WG_ESHAPE);
    all(wg_mpi_bcast(t, &x, 1, 0, m) == WG_ESHAPE);
}

static void a_failure_reaches_who_waits_for_a_message(void **state) {
    (void)state;
    wg_real x = wg_input(t, 1), y;
    fail_here();
    wg_status s = WG_OK;
    if (rank == size - 1) s = wg_mpi_send(t, &x, 1, 0, 0, m);
    else if (rank == 0) s = wg_mpi_recv(t, &y, 1, size - 1, 0, m);
    all(s == (rank == 0 || rank == size - 1 ? WG_ESHAPE : WG_OK));
    all(wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, m) == WG_ESHAPE);
}

/* The first waits for a message, the others sweep. */
static void a_failure_reaches_all_wherever_they_are(void **state) {
    (void)state;
    wg_real x = wg_input(t, 1), y;
    fail_here();
    const wg_status s = rank == 0 && size > 1 ? wg_mpi_recv(t, &y, 1, size - 1, 0, m)
                                              : wg_mpi_reverse(t, x, 1, m);
    const wg_status then = rank == 0 && size > 1 ? wg_mpi_reverse(t, x, 1, m) : s;
    all(s == WG_ESHAPE && then == WG_ESHAPE);
}

static void a_failed_sweep_reaches_all(void **state) {
    (void)state;
    wg_tape *const traced = wg_tape_new(&(wg_options){.flags = WG_TRACE});
    wg_real x = wg_input(traced, 1), y;
    wg_mpi_allreduce(traced, &x, &y, 1, WG_MPI_SUM, m);
    /* on the last rank an adjoint becomes NaN before the record of the call */
    wg_real z = wg_let(traced, wg_mul(y, 2));
    const double w = rank == size - 1 ? NAN : 1;
    all(wg_mpi_reverse(traced, z, w, m) == WG_ENONFINITE);
    wg_tape_free(traced);
}

static void other_calls_are_found(void **state) {
    (void)state;
    wg_real x = wg_input(t, 1), y;
    if (size == 1) return;
    const wg_status s = rank == 0 ? wg_mpi_bcast(t, &x, 1, 0, m)
                                  : wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, m);
    all(s == WG_EMISMATCH);
    all(strstr(wg_tape_message(t), "wg_mpi_bcast") != NULL &&
        strstr(wg_tape_message(t), "some ranks are in") != NULL);
}

static void other_sizes_roots_and_operations_are_found(void **state) {
    (void)state;
    wg_real x[2] = {wg_input(t, 1), wg_input(t, 2)}, y[2];
    if (size == 1) return;
    for (int k = 0; k < 4; k++) {
        const int odd = rank == size - 1;
        wg_tape_reset(t);
        x[0] = wg_input(t, 1), x[1] = wg_input(t, 2);
        const wg_status s =
            k == 0   ? wg_mpi_bcast(t, x, odd ? 2 : 1, 0, m)
            : k == 1 ? wg_mpi_bcast(t, x, 1, odd ? 1 : 0, m)
            : k == 2 ? wg_mpi_allreduce(t, x, y, 1, odd ? WG_MPI_PROD : WG_MPI_SUM, m)
                     : wg_mpi_gather(t, x, odd ? 2 : 1, rank == 0 ? (wg_real[8]){0} : NULL,
                                     rank == 0 ? (size_t[4]){1, 1, 1, 1} : NULL, 0, m);
        all(s == WG_ESHAPE && wg_tape_message(t)[0] != 0);
        assert_ok(t, wg_mpi_clear(m));
    }
}

static void a_sweep_on_some_ranks_is_found(void **state) {
    (void)state;
    wg_real x = wg_input(t, 1), y;
    wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, m);
    if (size == 1) return;
    const wg_status s =
        rank == 0 ? wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, m) : wg_mpi_reverse(t, y, 1, m);
    all(s == WG_EMISMATCH);
}

static void a_sweep_against_a_recording_is_found(void **state) {
    (void)state;
    wg_real x = wg_input(t, 1), y, z;
    wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, m);
    if (size == 1) return;
    const wg_status s =
        rank == 0 ? wg_mpi_allreduce(t, &x, &z, 1, WG_MPI_SUM, m) : wg_reverse(t, y);
    all(s == WG_ESHAPE);
}

static void sweeps_of_other_lanes_are_found(void **state) {
    (void)state;
    const double w[] = {1, 1, 1, 1};
    wg_real x = wg_input(t, 1), y;
    wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, m);
    if (size == 1) return;
    all(wg_mpi_reverse_lanes(t, rank == 0 ? 2 : 4, 1, &y, w, m) == WG_ESHAPE);
}

static void messages_of_before_are_forgotten(void **state) {
    (void)state;
    enum { LARGE = 20000 };
    static wg_real x[LARGE];
    wg_mpi_request r;
    for (int i = 0; i < LARGE; i++) x[i] = wg_input(t, 1);
    /* never received, and never sent */
    (void)wg_mpi_isend(t, x, LARGE, (rank + 1) % size, 5, m, &r);
    (void)wg_mpi_irecv(t, x, LARGE, (rank + 1) % size, 6, m, &r);
    fail_here();
    all(wg_mpi_bcast(t, x, 1, 0, m) == WG_ESHAPE);
}

static void who_frees_while_others_communicate_is_told(void **state) {
    (void)state;
    wg_mpi *const other = wg_mpi_new(MPI_COMM_WORLD, WG_MPI_CHECKED);
    wg_real x = wg_input(t, 1);
    all(other != NULL);
    if (rank == 0 && size > 1) {
        const wg_status s = wg_mpi_bcast(t, &x, 1, 0, other);
        assert_true(s == WG_EMISMATCH);
        assert_true(wg_mpi_free(other) == WG_EMISMATCH);
    } else assert_true(wg_mpi_free(other) == (size > 1 ? WG_EMISMATCH : WG_OK));
}

int main(int argc, char **argv) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, opens, closes)
    const struct CMUnitTest tests[] = {
        TEST(a_failure_reaches_a_collective_call),
        TEST(a_failure_reaches_who_waits_for_a_message),
        TEST(a_failure_reaches_all_wherever_they_are),
        TEST(a_failed_sweep_reaches_all),
        TEST(other_calls_are_found),
        TEST(other_sizes_roots_and_operations_are_found),
        TEST(a_sweep_on_some_ranks_is_found),
        TEST(a_sweep_against_a_recording_is_found),
        TEST(sweeps_of_other_lanes_are_found),
        TEST(messages_of_before_are_forgotten),
        TEST(who_frees_while_others_communicate_is_told),
    };
    open_ranks(&argc, &argv);
    m = wg_mpi_new(MPI_COMM_WORLD, WG_MPI_CHECKED);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    failed += wg_mpi_free(m) != WG_OK;
    MPI_Finalize();
    return failed;
}

/* SPDX-License-Identifier: MIT */
/* test_mpi_sweeps.c - what is special: points where reductions are not smooth, sweeps that
 * begin where no root is, drivers, what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ranks.h"

static int right(void) { return (rank + 1) % size; }
static int left(void) { return (rank + size - 1) % size; }

/* ---- special points --------------------------------------------------------------------- */

static void largest_and_least_are_shared_by_equals(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    /* on ranks 0 and 2 the largest, on all others the least */
    const int large = rank % 2 == 0, many = (size + 1) / 2;
    wg_real x = wg_input(t, large ? 2 : 1), y[2];
    wg_mpi_allreduce(t, &x, &y[0], 1, WG_MPI_MAX, m);
    wg_mpi_allreduce(t, &x, &y[1], 1, WG_MPI_MIN, m);
    all(y[0].value == 2 && y[1].value == (size > 1 ? 1 : 2));
    assert_ok(t, wg_mpi_reverse(t, y[0], rank == 0, m));
    all(wg_adjoint(t, x) == (large ? 1.0 / many : 0));
    assert_ok(t, wg_mpi_reverse(t, y[1], rank == 0, m));
    all(wg_adjoint(t, x) == (size == 1 ? 1 : large ? 0 : 1.0 / (size - many)));
    wg_tape_free(t);
}

static void a_nan_is_the_largest_and_the_least(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    wg_real x = wg_input(t, rank == size - 1 ? (double)NAN : rank), y[2];
    wg_mpi_allreduce(t, &x, &y[0], 1, WG_MPI_MAX, m);
    wg_mpi_allreduce(t, &x, &y[1], 1, WG_MPI_MIN, m);
    all(isnan(y[0].value) && isnan(y[1].value));
    wg_tape_free(t);
}

static void a_factor_of_zero_has_the_product_of_the_others(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    double others = 1;
    for (int r = 1; r < size; r++) others *= r + 1;
    wg_real x = wg_input(t, rank == 0 ? 0 : rank + 1), y;
    wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_PROD, m);
    assert_ok(t, wg_mpi_reverse(t, y, rank == 0, m));
    all(y.value == 0 && wg_adjoint(t, x) == (rank == 0 ? others : 0));
    wg_tape_free(t);
}

/* ---- sweeps ----------------------------------------------------------------------------- */

static void constants_are_received_as_variables(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 3), c = wg_constant(5), y;
    wg_mpi_sendrecv(t, rank == 0 ? &x : &c, 1, right(), 0, &y, 1, left(), 0, m);
    all(y.value == (left() == 0 ? 3 : 5) && y.at.slot != 0);
    wg_real z = wg_let(t, wg_mul(y, 7));
    assert_ok(t, wg_mpi_reverse(t, z, 1, m));
    all(wg_adjoint(t, x) == (rank == 0 ? 7 : 0));
    wg_tape_free(t);
}

/* The root is on rank 0; what it depends on, on all: partial sweeps leave nothing out. */
static void ranks_without_a_root_take_part(void **state) {
    (void)state;
    enum { LONG = 20000 };
    wg_tape *const t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 1 + rank), y = wg_let(t, wg_mul(x, x)), sum;
    wg_mpi_allreduce(t, &y, &sum, 1, WG_MPI_SUM, m);
    wg_real z = wg_let(t, wg_mul(sum, 2)), other = wg_input(t, 1);
    for (int i = 0; i < LONG; i++) other = wg_let(t, wg_mul(other, 1.0 / 2));
    wg_mpi_bcast(t, &other, 1, size - 1, m);
    for (int again = 0; again < 3; again++) {
        assert_ok(t, wg_mpi_reverse(t, rank == 0 ? z : wg_constant(0), rank == 0, m));
        all(wg_adjoint(t, x) == 4 * (1 + rank));
        all(wg_adjoint(t, other) == 0);
    }
    assert_ok(t, wg_mpi_reverse(t, wg_constant(0), 0, m));
    all(wg_adjoint(t, x) == 0);
    const double w[3] = {1, 2, 3};
    const wg_real constant = wg_constant(1);
    assert_ok(t, wg_mpi_reverse_lanes(t, 3, 1, &constant, w, m));
    all(wg_adjoint_lane(t, x, 0) == 0 && wg_adjoint_lane(t, x, 2) == 0);
    wg_tape_free(t);
}

static void a_tape_without_communication_takes_part(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 2);
    assert_ok(t, wg_mpi_reverse(t, wg_constant(1), 1, m));
    all(wg_adjoint(t, x) == 0);
    wg_tape_free(t);
}

static void a_thousand_exchanges_are_swept_back(void **state) {
    (void)state;
    enum { TIMES = 1000 };
    wg_tape *const t = wg_tape_new(NULL);
    wg_stats before, after;
    for (int again = 0; again < 3; again++) {
        wg_tape_reset(t);
        wg_real x = wg_input(t, 1 + rank), y = x;
        for (int i = 0; i < TIMES; i++) {
            wg_mpi_sendrecv(t, &y, 1, right(), 0, &y, 1, left(), 0, m);
            y = wg_let(t, wg_mul(y, -1));
        }
        const int from = (rank + TIMES * (size - 1)) % size, to = (rank + TIMES) % size;
        all(y.value == 1 + from);
        assert_ok(t, wg_mpi_reverse(t, y, 1 + rank, m));
        all(wg_adjoint(t, x) == 1 + to);
        assert_ok(t, wg_tape_stats(t, again == 1 ? &before : &after));
    }
    all(before.memory_calls == after.memory_calls);
    wg_tape_free(t);
}

/* f = the sum over all ranks of the product over a half, and of the squares of what came
 * around in it. */
static void a_tape_communicates_in_parts_of_a_communicator_too(void **state) {
    (void)state;
    MPI_Comm half, twice;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_dup(half, &twice);
    for (unsigned flags = 0; flags <= WG_MPI_CHECKED; flags++) {
        wg_tape *const t = wg_tape_new(NULL);
        wg_mpi *const part = wg_mpi_new(half, flags), *const other = wg_mpi_new(twice, flags);
        all(part != NULL && other != NULL);
        const int own = wg_mpi_rank(part), n = wg_mpi_size(part);
        const int up = (own + 1) % n, down = (own + n - 1) % n;
        wg_real x = wg_input(t, 1 + rank), y[2], sum[2];
        wg_mpi_request r[2];
        wg_mpi_allreduce(t, &x, &y[0], 1, WG_MPI_PROD, part);
        wg_mpi_irecv(t, &y[1], 1, down, 0, other, &r[0]);
        wg_mpi_isend(t, &x, 1, up, 0, other, &r[1]);
        wg_mpi_waitall(t, 2, r);
        y[1] = wg_let(t, wg_square(y[1]));
        wg_mpi_allreduce(t, y, sum, 2, WG_MPI_SUM, m);
        const wg_real f = wg_let(t, wg_add(sum[0], sum[1]));
        assert_ok(t, wg_mpi_reverse(t, f, rank == 0, m));
        double others = 1, squares = 0;
        for (int q = 0; q < size; q++) squares += (1 + q) * (1 + q);
        for (int q = rank % 2; q < size; q += 2) others *= q != rank ? 1 + q : 1;
        all(sum[1].value == squares && y[0].value == others * (1 + rank));
        all(wg_adjoint(t, x) == n * others + 2 * (1 + rank));
        wg_tape_free(t);
        all(wg_mpi_free(part) == WG_OK && wg_mpi_free(other) == WG_OK);
    }
    MPI_Comm_free(&twice);
    MPI_Comm_free(&half);
}

static void a_paused_tape_communicates_numbers(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    wg_real x = wg_input(t, rank), y;
    assert_ok(t, wg_tape_pause(t));
    wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, m);
    assert_ok(t, wg_tape_resume(t));
    all(y.value == size * (size - 1) / 2 && y.at.slot == 0);
    wg_tape_free(t);
}

static void a_recording_is_replayed_on_all_ranks(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_real x = wg_input(t, 1), y;
    wg_mpi_request r[2];
    wg_real square = wg_let(t, wg_square(x));
    wg_mpi_irecv(t, &y, 1, left(), 0, m, &r[0]);
    wg_mpi_isend(t, &square, 1, right(), 0, m, &r[1]);
    wg_mpi_waitall(t, 2, r);
    wg_real z = wg_let(t, wg_mul(y, 3));
    const double a = 2 + rank;
    assert_ok(t, wg_tape_replay(t, 1, &x, &a));
    all(wg_tape_value(t, z) == 3.0 * (2 + left()) * (2 + left()));
    assert_ok(t, wg_mpi_reverse(t, z, 1, m));
    all(wg_adjoint(t, x) == 6 * a);
    wg_tape_free(t);
}

static wg_status squares(wg_tape *t, size_t n, const wg_real *x, size_t k, wg_real *y,
                         void *data) {
    (void)n, (void)k, (void)data;
    wg_real part = wg_let(t, wg_mul(x[0], x[0]));
    return wg_mpi_allreduce(t, &part, y, 1, WG_MPI_SUM, m);
}
/* Seeded on all ranks: size times the derivative of one sum. */
static void drivers_communicate(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double a = 1 + rank, v = 1;
    double value, g, yt, jac;
    assert_ok(t, wg_gradient(t, squares, NULL, 1, &a, &value, &g));
    assert_ok(t, wg_jvp(t, squares, NULL, 1, &a, &v, 1, &value, &yt));
    assert_ok(t, wg_jacobian(t, squares, NULL, 1, &a, 1, &value, WG_COL_MAJOR, &jac, 1));
    double sum = 0, both = 0;
    for (int r = 0; r < size; r++) sum += (1.0 + r) * (1 + r), both += 2 * (1.0 + r);
    all(value == sum && g == 2 * a * size && yt == both);
    wg_tape_free(t);
}

static void what_sees_one_tape_is_refused_by_name(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    const double a = 1 + rank, v = 1;
    double value, g, hv;
    const wg_argument one = {.name = "a", .rows = 1, .cols = 1};
    wg_function *f = NULL;
    wg_sparsity *s = NULL;
    all(wg_hvp(t, squares, NULL, 1, &a, &v, &value, &g, &hv) == WG_EMODE);
    all(strstr(wg_tape_message(t), "wg_mpi_allreduce") != NULL);
    all(wg_function_record(t, squares, NULL, 1, &one, &a, 1, &one, &f) == WG_EMODE &&
        f == NULL);
    all(strstr(wg_tape_message(t), "wg_mpi_allreduce") != NULL);
    all(wg_jacobian_sparsity(t, squares, NULL, 1, &a, 1, WG_ROW_MAJOR, &s) == WG_EMODE &&
        s == NULL);
    all(strstr(wg_tape_message(t), "wg_mpi_allreduce") != NULL);
    wg_tape_free(t);
}

/* ---- failures --------------------------------------------------------------------------- */

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 1), y;
    all(wg_mpi_send(t, &x, 1, size, 0, m) == WG_EARG && wg_tape_message(t)[0] != 0);
    wg_tape_reset(t);
    all(wg_mpi_recv(t, &y, 1, 0, -77, m) == WG_EARG && isnan(y.value));
    wg_tape_reset(t);
    x = wg_input(t, 1);
    all(wg_mpi_bcast(t, &x, 1, size, m) == WG_EARG);
    wg_tape_reset(t);
    x = wg_input(t, 1);
    all(wg_mpi_allreduce(t, &x, &y, 1, (wg_mpi_op)9, m) == WG_EARG);
    wg_tape_reset(t);
    all(wg_mpi_halo(t, 1, (wg_mat[2]){{0}}, (wg_mat[2]){{0}}, m) == WG_EARG);
    all(wg_mpi_send(NULL, &x, 1, 0, 0, m) == WG_ENULL);
    wg_tape_reset(t);
    x = wg_input(t, 1);
    all(wg_mpi_send(t, &x, 1, 0, 0, NULL) == WG_ENULL);
    all(wg_mpi_new(MPI_COMM_WORLD, 1u << 7) == NULL);
    wg_tape_free(t);
}

/* What one has communicated the others have, too, so that nobody waits. */
static void results_that_have_no_place_are_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    wg_real x[4], own[4];
    const double a[] = {1, 2, 3, 4};
    const size_t count[] = {1, 1, 1, 1};
    wg_mpi_request r, s;
    for (int k = 0; k < 13; k++) {
        wg_status got = WG_OK;
        wg_tape_reset(t);
        assert_ok(t, wg_inputs(t, 4, a, x));
        memcpy(own, x, sizeof own);
        if (k == 0) got = wg_mpi_sendrecv(t, x, 1, right(), 0, NULL, 1, left(), 0, m);
        if (k == 1) got = wg_mpi_bcast(t, rank == 0 ? own : NULL, 1, 0, m);
        if (k == 2) got = wg_mpi_gather(t, x, 1, NULL, NULL, size - 1, m);
        if (k == 3) got = wg_mpi_allgather(t, x, 1, NULL, NULL, m);
        if (k == 4) got = wg_mpi_scatter(t, x, NULL, NULL, 1, 0, m);
        if (k == 5) got = wg_mpi_alltoall(t, x, NULL, NULL, NULL, 1, m);
        if (k == 6) got = wg_mpi_reduce(t, x, NULL, 1, WG_MPI_SUM, 0, m);
        if (k == 7) got = wg_mpi_allreduce(t, x, NULL, 1, WG_MPI_PROD, m);
        if (k == 8) got = wg_mpi_scan(t, x, NULL, 1, m);
        if (k == 9) got = wg_mpi_exscan(t, x, NULL, 1, m);
        if (k == 10) got = wg_mpi_reduce_scatter(t, x, NULL, count, m);
        if (k == 11) got = wg_mpi_irecv(t, NULL, 1, left(), 0, m, &r);
        if (k == 12) {
            wg_mpi_isend(t, x, 1, right(), 0, m, &s);
            got = wg_mpi_recv(t, NULL, 1, left(), 0, m);
        }
        const int stays =
            (k == 1 && rank == 0) || (k == 2 && rank != size - 1) || (k == 6 && rank != 0);
        if (got != (stays ? WG_OK : WG_ENULL)) fprintf(stderr, "call %d\n", k);
        all(got == (stays ? WG_OK : WG_ENULL));
        all(stays || strstr(wg_tape_message(t), "no array") != NULL);
        if (k == 12) wg_mpi_wait(t, &s);
    }
    wg_tape_free(t);
}

static void messages_of_another_size_are_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double a[] = {1, 2, 3};
    wg_real x[3], y[3];
    for (size_t k = 1; k <= 3; k += 2) { /* too few, too many */
        wg_tape_reset(t);
        assert_ok(t, wg_inputs(t, 3, a, x));
        all(wg_mpi_sendrecv(t, x, k, right(), 0, y, 2, left(), 0, m) == WG_ESHAPE &&
            isnan(y[1].value));
    }
    wg_tape_free(t);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_and_least_are_shared_by_equals),
        cmocka_unit_test(a_nan_is_the_largest_and_the_least),
        cmocka_unit_test(a_factor_of_zero_has_the_product_of_the_others),
        cmocka_unit_test(constants_are_received_as_variables),
        cmocka_unit_test(ranks_without_a_root_take_part),
        cmocka_unit_test(a_tape_without_communication_takes_part),
        cmocka_unit_test(a_thousand_exchanges_are_swept_back),
        cmocka_unit_test(a_tape_communicates_in_parts_of_a_communicator_too),
        cmocka_unit_test(a_paused_tape_communicates_numbers),
        cmocka_unit_test(a_recording_is_replayed_on_all_ranks),
        cmocka_unit_test(drivers_communicate),
        cmocka_unit_test(what_sees_one_tape_is_refused_by_name),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(results_that_have_no_place_are_refused),
        cmocka_unit_test(messages_of_another_size_are_refused),
    };
    int failed = 0;
    open_ranks(&argc, &argv);
    for (unsigned flags = 0; flags <= WG_MPI_CHECKED && failed == 0; flags++) {
        /* the last three fail on purpose, and what follows in test_mpi_checked.c */
        const size_t most = sizeof tests / sizeof *tests - (flags != 0 ? 3 : 0);
        m = wg_mpi_new(MPI_COMM_WORLD, flags);
        failed =
            _cmocka_run_group_tests(flags != 0 ? "checked" : "plain", tests, most, NULL, NULL);
        failed += wg_mpi_free(m) != WG_OK;
    }
    MPI_Finalize();
    return failed;
}

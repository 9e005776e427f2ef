/* SPDX-License-Identifier: MIT */
/* test_scalapack.c - distributed matrices on 1 to 4 ranks, on every grid of them and in several
 * blocks: values, tangents and adjoints against the same computation on one tape that has
 * the matrices whole. */
#include "matrices.h"

static void products_are_those_of_one_tape(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        const operands o = a_product("NTNT"[k], "NNTT"[k], 7, 5, 11);
        everywhere(&o);
    }
}

static void products_may_be_empty(void **state) {
    (void)state;
    operands o = a_product('N', 'T', 6, 4, 0);
    everywhere(&o);
    o = a_product('T', 'N', 0, 4, 3);
    everywhere(&o);
}

static void operands_may_be_constants(void **state) {
    (void)state;
    operands o = a_product('T', 'N', 6, 4, 3);
    o.a.varies = 0;
    everywhere(&o);
    o.a.varies = 1, o.b.varies = 0;
    everywhere(&o);
    o = a_system(7, 2);
    o.a.varies = 0;
    everywhere(&o);
}

static void systems_are_those_of_one_tape(void **state) {
    (void)state;
    operands o = a_system(13, 3);
    everywhere(&o);
    o = a_system(1, 1);
    everywhere(&o);
}

static void systems_may_have_no_right_hand_side(void **state) {
    (void)state;
    const operands o = a_system(6, 0);
    everywhere(&o);
}

/* A number that one rank has is a variable of another's, and constants stand beside
 * variables. */
static void ranks_may_have_constants_where_others_have_variables(void **state) {
    (void)state;
    enum { ORDER = 6 };
    wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    operands o = a_system(ORDER, 1), one = o;
    const place p = {g, 2};
    one.a.varies = one.b.varies = 1;
    o.a.varies = rank % 2 == 0, o.b.varies = rank % 2 != 0;
    const results whole_ones = run((place){NULL, 0}, &one), these = run(p, &o);
    all(!o.a.varies || same_part(p, &o.a, these.a_bar[0], whole_ones.a_bar[0]));
    all(!o.b.varies || same_part(p, &o.b, these.b_bar[0], whole_ones.b_bar[0]));
    wg_scalapack_free(g);
}

/* The adjoint of a symmetric matrix has the same bits in both triangles. */
static void adjoints_of_symmetric_matrices_are_symmetric(void **state) {
    (void)state;
    wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    const operands o = a_system(9, 2);
    const place p = {g, 2};
    const results r = run(p, &o);
    double mine[81] = {0}, sum[81];
    const size_t rows = rows_here(p, 9), cols = cols_here(p, 9);
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) mine[number(p, 9, i, j)] = r.a_bar[0][i + j * rows];
    MPI_Allreduce(mine, sum, 81, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (size_t j = 0; j < 9; j++)
        for (size_t i = 0; i < 9; i++) all(sum[i + j * 9] == sum[j + i * 9]);
    wg_scalapack_free(g);
}

static void results_that_are_null_are_not_wanted(void **state) {
    (void)state;
    wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    wg_tape *const t = wg_tape_new(NULL);
    const operands o = a_system(9, 2);
    const place p = {g, 2};
    double with[MOST], without[MOST], sum[MOST];
    wg_scalapack_mat x, again;
    wg_real log, alone;
    const wg_mat a = bring(t, p, &o.a, 0);
    const wg_scalapack_mat d = wg_scalapack_local(t, g, 9, 9, 2, a), e = some(t, p, &o.b);
    const size_t n = a.rows * a.cols, ld = a.rows > 0 ? a.rows : 1;
    assert_ok(t, wg_scalapack_solve_spd(t, d, e, &x, &log));
    assert_ok(t, wg_scalapack_solve_spd(t, d, (wg_scalapack_mat){0}, NULL, &alone));
    assert_ok(t, wg_scalapack_solve_spd(t, d, e, &again, NULL));
    all(log.value == alone.value);
    const wg_real y = wg_scalapack_dot(t, x, e), y_again = wg_scalapack_dot(t, again, e);
    all(y.value == y_again.value);
    assert_ok(t, wg_mpi_reverse(t, wg_let(t, wg_add(log, y)), rank == 0, m));
    assert_ok(t, wg_mat_adjoint(t, a, with, ld));
    assert_ok(t, wg_mpi_reverse(t, alone, rank == 0, m));
    assert_ok(t, wg_mat_adjoint(t, a, without, ld));
    assert_ok(t, wg_mpi_reverse(t, y_again, rank == 0, m));
    assert_ok(t, wg_mat_adjoint(t, a, sum, ld));
    int good = 1;
    for (size_t i = 0; i < n; i++) good &= close(without[i] + sum[i], with[i], 1);
    all(good);
    wg_scalapack_free(g);
    wg_tape_free(t);
}

static void a_replay_computes_anew(void **state) {
    (void)state;
    enum { ORDER = 5 };
    const wg_options keeps = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&keeps);
    wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    operands o = a_system(ORDER, 1);
    const place p = {g, 1};
    double r[MOST], here[MOST], bar[MOST];
    wg_real y[OUTPUTS];
    wg_mat a = bring(t, p, &o.a, 0), b = bring(t, p, &o.b, 0);
    const size_t n = a.rows * a.cols;
    compute(t, p, &o, a, b, y, r);
    assert_ok(t, wg_tape_status(t));
    for (size_t i = 0; i < ORDER; i++) o.a.x[i * (ORDER + 1)] *= 2;
    take(p, &o.a, o.a.x, here);
    wg_real x[MOST];
    for (size_t i = 0; i < n; i++) x[i] = wg_mat_at(a, i % a.rows, i / a.rows);
    take(p, &o.a, o.a.x, here);
    assert_ok(t, wg_tape_replay(t, n, x, here));
    assert_ok(t, wg_mpi_reverse(t, y[1], rank == 0, m));
    assert_ok(t, wg_mat_adjoint(t, a, bar, a.rows > 0 ? a.rows : 1));
    wg_tape_reset(t);
    a = bring(t, p, &o.a, 0), b = bring(t, p, &o.b, 0);
    compute(t, p, &o, a, b, y, r);
    assert_ok(t, wg_mpi_reverse(t, y[1], rank == 0, m));
    assert_ok(t, wg_mat_adjoint(t, a, here, a.rows > 0 ? a.rows : 1));
    all(memcmp(here, bar, n * sizeof *bar) == 0);
    wg_scalapack_free(g);
    wg_tape_free(t);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_one_tape),
        cmocka_unit_test(products_may_be_empty),
        cmocka_unit_test(operands_may_be_constants),
        cmocka_unit_test(systems_are_those_of_one_tape),
        cmocka_unit_test(systems_may_have_no_right_hand_side),
        cmocka_unit_test(ranks_may_have_constants_where_others_have_variables),
        cmocka_unit_test(adjoints_of_symmetric_matrices_are_symmetric),
        cmocka_unit_test(results_that_are_null_are_not_wanted),
        cmocka_unit_test(a_replay_computes_anew),
    };
    open_ranks(&argc, &argv);
    m = wg_mpi_new(MPI_COMM_WORLD, 0);
    return close_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}

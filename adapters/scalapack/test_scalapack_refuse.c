/* SPDX-License-Identifier: MIT */
/* test_scalapack_refuse.c - distributed matrices: failures and mistakes are those of all
 * ranks, by name. */
#include "matrices.h"

static void what_is_not_definite_fails_on_all_ranks(void **state) {
    (void)state;
    wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    wg_tape *const t = wg_tape_new(NULL);
    const place p = {g, 2};
    const double bad[] = {-1, 0, NAN, INFINITY};
    for (size_t i = 0; i < 9; i++)
        for (size_t k = 0; k < 4; k++) {
            operands o = a_system(9, 1);
            wg_scalapack_mat x;
            wg_real log;
            char word[24];
            o.a.x[i * 10] = bad[k];
            wg_tape_reset(t);
            all(wg_scalapack_solve_spd(t, some(t, p, &o.a), some(t, p, &o.b), &x, &log) ==
                WG_ESINGULAR);
            snprintf(word, sizeof word, "info %zu", i + 1);
            all(strstr(wg_tape_message(t), "not positive definite") != NULL);
            all(bad[k] > 0 || strstr(wg_tape_message(t), word) != NULL);
            all(log.value != log.value && x.local.value == NULL);
        }
    wg_scalapack_free(g);
    wg_tape_free(t);
}

static void other_calls_fail_on_all_ranks(void **state) {
    (void)state;
    if (size == 1) return;
    wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    wg_tape *const t = wg_tape_new(NULL);
    const place p = {g, 2};
    const operands o = a_system(6, 2), wider = a_product('N', 'N', 6, 4, 6);
    const int odd = rank == size - 1;
    wg_scalapack_mat a = some(t, p, &o.a), b = some(t, p, &o.b), wide = some(t, p, &wider.b), x;

    x = wg_scalapack_gemm(t, 'N', 'N', 1, a, odd ? wide : b); /* another shape */
    all(wg_tape_status(t) == WG_EMISMATCH && x.local.value == NULL);
    all(strstr(wg_tape_message(t), "other shapes") != NULL);

    wg_tape_reset(t); /* another call */
    a = some(t, p, &o.a), b = some(t, p, &o.b);
    if (odd) (void)wg_scalapack_dot(t, b, b);
    else (void)wg_scalapack_gemm(t, 'N', 'N', 1, a, b);
    all(wg_tape_status(t) == WG_EMISMATCH);
    all(strstr(wg_tape_message(t), "some ranks are in wg_scalapack_gemm") != NULL);

    wg_tape_reset(t); /* shapes that do not fit, on one rank */
    a = some(t, p, &o.a), b = some(t, p, &o.b);
    x = wg_scalapack_gemm(t, 'N', odd ? 'T' : 'N', 1, a, b);
    all(wg_tape_status(t) == WG_ESHAPE);
    all(odd || strstr(wg_tape_message(t), "on another rank") != NULL);

    wg_tape_reset(t); /* a tape that has failed before, on one rank */
    a = some(t, p, &o.a), b = some(t, p, &o.b);
    if (odd) (void)wg_mat_add(t, a.local, wg_mat_fill(t, 50, 50, 0));
    all((wg_tape_status(t) != WG_OK) == odd);
    (void)wg_scalapack_dot(t, b, b);
    all(wg_tape_status(t) == WG_ESHAPE);

    wg_tape_reset(t); /* a part that is none, on one rank */
    b = some(t, p, &o.b);
    if (odd) b = wg_scalapack_local(t, g, 6, 2, 2, wg_mat_fill(t, 50, 50, 0));
    (void)wg_scalapack_dot(t, b, b);
    all(wg_tape_status(t) == WG_ESHAPE);

    wg_tape_reset(t); /* lanes */
    b = some(t, p, &o.b);
    const wg_real y = wg_scalapack_dot(t, b, b);
    const double seeds[2] = {1, 1};
    all(wg_reverse_lanes(t, odd ? 1 : 2, 1, &y, seeds) == WG_EMISMATCH);
    assert_ok(t, wg_mpi_reverse(t, y, 1, m));
    wg_scalapack_free(g);
    wg_tape_free(t);
}

static void mistakes_have_a_message(void **state) {
    (void)state;
    wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    wg_tape *const t = wg_tape_new(NULL);
    const operands o = a_system(6, 2);
    const place p = {g, 2}, q = {g, 3};
    wg_scalapack_mat a = some(t, p, &o.a), b = some(t, p, &o.b), x;
#define refused(STATUS, TEXT)                                                                  \
    do {                                                                                       \
        all(wg_tape_status(t) == (STATUS));                                                    \
        all(strstr(wg_tape_message(t), TEXT) != NULL);                                         \
        wg_tape_reset(t);                                                                      \
        a = some(t, p, &o.a), b = some(t, p, &o.b);                                            \
    } while (0)
    (void)wg_scalapack_gemm(t, 'N', 'X', 1, a, b);
    refused(WG_EARG, "'N' or 'T'");
    (void)wg_scalapack_gemm(t, 'N', 'N', 1, a, some(t, q, &o.b));
    refused(WG_EARG, "other blocks");
    (void)wg_scalapack_gemm(t, 'N', 'N', 1, b, a);
    refused(WG_ESHAPE, "do not fit");
    (void)wg_scalapack_dot(t, a, b);
    refused(WG_ESHAPE, "not equal");
    (void)wg_scalapack_solve_spd(t, b, a, &x, NULL);
    refused(WG_ESHAPE, "not square");
    (void)wg_scalapack_local(t, g, 6, 6, 0, a.local);
    refused(WG_EARG, "blocks of 0");
    (void)wg_scalapack_local(t, NULL, 6, 6, 2, a.local);
    refused(WG_ENULL, "no grid");
    (void)wg_scalapack_gemm(t, 'N', 'N', 1, (wg_scalapack_mat){0}, b);
    refused(WG_ENULL, "no grid");
    all(wg_scalapack_solve_spd(NULL, a, b, &x, NULL) == WG_ENULL);
    all(wg_scalapack_new(MPI_COMM_WORLD, size + 1, 1) == NULL);
    all(wg_scalapack_new(MPI_COMM_NULL, 0, 0) == NULL);
    all(wg_scalapack_rows(NULL, 5, 1) == 0 && wg_scalapack_col(g, 5, 0) == 0);
    wg_scalapack_free(NULL);
    wg_scalapack_free(g);
    wg_tape_free(t);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_definite_fails_on_all_ranks),
        cmocka_unit_test(other_calls_fail_on_all_ranks),
        cmocka_unit_test(mistakes_have_a_message),
    };
    open_ranks(&argc, &argv);
    m = wg_mpi_new(MPI_COMM_WORLD, 0);
    return close_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}

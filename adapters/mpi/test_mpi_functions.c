/* SPDX-License-Identifier: MIT */
/* test_mpi_functions.c - functions and their derivatives at points of all ranks: the bits of
 * one process, and failures that reach all. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "ranks.h"

enum { PARAMETERS = 3, DATA = 2, MOST = 40000, ENTRIES = 16, ARGUMENTS = 6 };

static wg_tape *t;
static wg_function *fit, *loss, *of_fit[4]; /* gradient, vjp, jvp, Hessian */
static wg_threads *pool[3];
static double x[MOST * 4], y[MOST * ENTRIES], z[MOST * ENTRIES];

/* A residual for each point, and the sum of their squares; or that only. */
static wg_status residual(wg_tape *r, size_t n, const wg_real *in, size_t k, wg_real *out,
                          void *data) {
    (void)n, (void)data;
    const wg_real *const p = in, *const d = in + PARAMETERS;
    const wg_real model =
        wg_let(r, wg_mul(p[0], wg_exp(wg_mul(wg_neg(p[1]), wg_add(d[0], wg_square(p[2]))))));
    out[0] = wg_let(r, wg_sub(model, d[1]));
    out[k - 1] = wg_let(r, wg_square(out[0]));
    return WG_OK;
}

static int make(void **state) {
    (void)state;
    wg_argument in[] = {{"p", PARAMETERS, 1, WG_SHARED}, {"d", DATA, 1, 0}};
    const wg_argument out[] = {{"r", 1, 1, 0}, {"loss", 1, 1, WG_SUMMED}};
    const double at[] = {1, 0.5, 0.2, 0.3, 0.7};
    t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    assert_ok(t, wg_function_record(t, residual, NULL, 2, in, at, 2, out, &fit));
    in[1].flags = WG_PASSIVE;
    assert_ok(t, wg_function_record(t, residual, NULL, 2, in, at, 1, out + 1, &loss));
    assert_ok(t, wg_function_gradient(t, loss, &of_fit[0]));
    assert_ok(t, wg_function_vjp(t, fit, &of_fit[1]));
    assert_ok(t, wg_function_jvp(t, fit, &of_fit[2]));
    assert_ok(t, wg_function_hessian(t, loss, &of_fit[3]));
    for (size_t k = 0; k < 3; k++)
        if (wg_threads_new(k + 1, NULL, &pool[k]) != WG_OK) return 1;
    return 0;
}
static int unmake(void **state) {
    (void)state;
    for (size_t k = 0; k < 3; k++) wg_threads_free(pool[k]);
    for (int k = 0; k < 4; k++) wg_function_free(of_fit[k]);
    wg_function_free(loss);
    wg_function_free(fit);
    wg_tape_free(t);
    return 0;
}

/* The same numbers on all ranks, those of every point one after the other. */
static size_t places(const wg_function *f, size_t all, size_t first, size_t at_result,
                     wg_points *in, wg_results *out, double *result) {
    uint64_t numbers = 5;
    size_t from = 0, to = 0;
    for (size_t k = 0; k < wg_function_inputs(f); k++) {
        const wg_argument *const a = wg_function_input(f, k);
        const size_t n = a->rows * a->cols, shared = a->flags & WG_SHARED;
        const size_t many = n * (shared ? 1 : all);
        for (size_t i = 0; i < many; i++)
            x[from + i] = (double)(next_of(&numbers) >> 12) * 0x1p-52;
        in[k] = (wg_points){x + from + (shared ? 0 : first * n), (ptrdiff_t)n, 1};
        from += many;
    }
    for (size_t k = 0; k < wg_function_outputs(f); k++) {
        const wg_argument *const a = wg_function_output(f, k);
        const size_t n = a->rows * a->cols, summed = a->flags & WG_SUMMED;
        out[k] = (wg_results){result + to + (summed ? 0 : at_result * n), (ptrdiff_t)n, 1};
        to += n * (summed ? 1 : all);
    }
    assert_true(from <= sizeof x / sizeof *x && to <= sizeof y / sizeof *y);
    return to;
}

static void check(const wg_function *f, size_t points, wg_threads *threads, int root) {
    wg_points in[ARGUMENTS], mine[ARGUMENTS];
    wg_results out[ARGUMENTS], into[ARGUMENTS];
    size_t first, count;
    all(wg_function_points_mpi(f, points, m, &first, &count) == WG_OK);
    void *const work = malloc(wg_function_work(f, NULL));
    void *const own = malloc(wg_function_work_mpi(f, points, threads, m));
    assert_true(work != NULL && own != NULL);
    (void)places(f, points, 0, 0, in, out, y);
    all(wg_function_evaluate(f, points, in, out, NULL, work, NULL) == WG_OK);
    (void)places(f, points, first, 0, mine, into, z);
    for (size_t k = 0; k < wg_function_inputs(f); k++)
        if (rank != root && wg_function_input(f, k)->flags & WG_SHARED) mine[k].data = NULL;
    memset(z, 0, sizeof z);
    all(wg_function_evaluate_mpi(f, points, mine, into, root, threads, own, NULL, m) == WG_OK);
    int good = 1;
    size_t to = 0;
    for (size_t k = 0; k < wg_function_outputs(f); k++) {
        const wg_argument *const a = wg_function_output(f, k);
        const size_t n = a->rows * a->cols, summed = a->flags & WG_SUMMED;
        good &= memcmp(y + to + (summed ? 0 : first * n), z + to,
                       n * (summed ? 1 : count) * sizeof *y) == 0;
        to += n * (summed ? 1 : points);
    }
    all(good);
    free(work);
    free(own);
}

static void bits_are_those_of_one_process(void **state) {
    (void)state;
    const size_t block = wg_function_block(of_fit[0]);
    const size_t points[] = {0, 1, block - 1, block, 2 * block + 1, 5 * block + 17};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        for (size_t k = 0; k < 3; k++) {
            check(fit, points[i], pool[k], 0);
            check(of_fit[0], points[i], pool[k], size - 1);
        }
}

static void derivatives_have_the_bits_of_one_process(void **state) {
    (void)state;
    for (int k = 1; k < 4; k++) {
        const size_t block = wg_function_block(of_fit[k]);
        const size_t points = 4 * block + 3 < MOST / 8 ? 4 * block + 3 : MOST / 8;
        check(of_fit[k], points, pool[1], 0);
    }
}

static void all_points_are_shared_out(void **state) {
    (void)state;
    const size_t block = wg_function_block(fit);
    for (size_t blocks = 0; blocks < 9; blocks++)
        for (size_t more = 0; more < 2; more++) {
            const size_t points = blocks * block + more;
            size_t first, count, sum = 0, before = 0;
            all(wg_function_points_mpi(fit, points, m, &first, &count) == WG_OK);
            MPI_Allreduce(&count, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            MPI_Exscan(&count, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            all(sum == points && (count == 0 || first == (rank == 0 ? 0 : before)));
            all(count == 0 || first % block == 0);
        }
}

/* More numbers than a piece of the chain has. */
static wg_status wide(wg_tape *r, size_t n, const wg_real *in, size_t k, wg_real *out,
                      void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i < k; i++) out[i] = wg_let(r, wg_sin(wg_mul((double)(i + 1), in[0])));
    return WG_OK;
}
static void many_sums_go_in_pieces(void **state) {
    (void)state;
    enum { WIDE = 9000, POINTS = 700 };
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", WIDE, 1, WG_SUMMED};
    static double at[POINTS], whole[WIDE], parts[WIDE];
    wg_function *f;
    all(wg_function_record(t, wide, NULL, 1, &in, (double[]){1}, 1, &out, &f) == WG_OK);
    for (int p = 0; p < POINTS; p++) at[p] = p * 0.01;
    size_t first, count;
    all(wg_function_points_mpi(f, POINTS, m, &first, &count) == WG_OK);
    void *const work = malloc(wg_function_work(f, NULL));
    void *const own = malloc(wg_function_work_mpi(f, POINTS, NULL, m));
    all(wg_function_evaluate(f, POINTS, &(wg_points){at, 1, 1}, &(wg_results){whole, 0, 1},
                             NULL, work, NULL) == WG_OK);
    all(wg_function_evaluate_mpi(f, POINTS, &(wg_points){at + first, 1, 1},
                                 &(wg_results){parts, 0, 1}, 0, NULL, own, NULL, m) == WG_OK);
    all(memcmp(whole, parts, sizeof whole) == 0);
    free(work);
    free(own);
    wg_function_free(f);
}

/* ---- failures --------------------------------------------------------------------------- */

/* x < 10 at the recording. */
static wg_status compares(wg_tape *r, size_t n, const wg_real *in, size_t k, wg_real *out,
                          void *data) {
    (void)n, (void)k, (void)data;
    out[0] = wg_lt(r, in[0], wg_constant(10)) ? in[0] : wg_constant(10);
    return WG_OK;
}
static void the_first_comparison_of_all_is_told_to_all(void **state) {
    (void)state;
    for (unsigned flags = 0; flags < 2; flags++) {
        const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, flags ? WG_SUMMED : 0};
        wg_function *f;
        all(wg_function_record(t, compares, NULL, 1, &in, (double[]){1}, 1, &out, &f) == WG_OK);
        const size_t block = wg_function_block(f), points = 4 * block;
        size_t first, count;
        all(points <= MOST && wg_function_points_mpi(f, points, m, &first, &count) == WG_OK);
        void *const own = malloc(wg_function_work_mpi(f, points, NULL, m));
        for (size_t p = 0; p < points; p++)
            x[p] = p == 3 * block + 5 || p == points - 1 ? 11 : 1;
        wg_function_guard guard = {0, 99};
        const wg_points from = {x + first, 1, 1};
        const wg_results to = {y, 1, 1};
        all(wg_function_evaluate_mpi(f, points, &from, &to, 0, NULL, own, &guard, m) ==
            WG_EGUARD);
        all(guard.point == 3 * block + 5 && guard.guard == 0);
        x[3 * block + 5] = x[points - 1] = 1;
        all(wg_function_evaluate_mpi(f, points, &from, &to, 0, NULL, own, &guard, m) == WG_OK);
        free(own);
        wg_function_free(f);
    }
}

static void a_failure_on_one_rank_is_one_on_all(void **state) {
    (void)state;
    const size_t points = 2 * wg_function_block(fit) + 3;
    const int odd = rank == size - 1;
    wg_points in[ARGUMENTS];
    wg_results out[ARGUMENTS];
    size_t first, count;
    all(wg_function_points_mpi(fit, points, m, &first, &count) == WG_OK);
    (void)places(fit, points, first, 0, in, out, z);
    void *const own = malloc(wg_function_work_mpi(fit, points, NULL, m));
    for (int k = 0; k < 5; k++) {
        const wg_status s = wg_function_evaluate_mpi(
            odd && k == 0 ? NULL : fit, points + (odd && k == 1), odd && k == 2 ? NULL : in,
            odd && k == 3 ? NULL : out, odd && k == 4 ? size : 0, NULL, own, NULL, m);
        all(s == (k == 1 ? size > 1 ? WG_ESHAPE : WG_OK : k == 4 ? WG_EARG : WG_ENULL));
        if (wg_mpi_clear(m) != WG_OK) assert_true(wg_mpi_message(m)[0] != 0);
    }
    all(wg_function_evaluate_mpi(fit, points, in, out, 0, NULL, own, NULL, m) == WG_OK);
    free(own);
    assert_true(wg_function_work_mpi(NULL, 1, NULL, m) == 0);
    assert_true(wg_function_work_mpi(fit, 1, NULL, NULL) == 0);
    assert_true(wg_function_evaluate_mpi(fit, 1, in, out, 0, NULL, z, NULL, NULL) == WG_ENULL);
    assert_true(wg_function_points_mpi(fit, 1, NULL, &first, &count) == WG_ENULL);
    assert_true(wg_function_points_mpi(fit, 1, m, NULL, &count) == WG_ENULL);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_one_process),
        cmocka_unit_test(derivatives_have_the_bits_of_one_process),
        cmocka_unit_test(all_points_are_shared_out),
        cmocka_unit_test(many_sums_go_in_pieces),
        cmocka_unit_test(the_first_comparison_of_all_is_told_to_all),
        cmocka_unit_test(a_failure_on_one_rank_is_one_on_all),
    };
    int failed = 0;
    open_ranks(&argc, &argv);
    for (unsigned flags = 0; flags <= WG_MPI_CHECKED && failed == 0; flags++) {
        m = wg_mpi_new(MPI_COMM_WORLD, flags);
        failed =
            cmocka_run_group_tests_name(flags != 0 ? "checked" : "plain", tests, make, unmake);
        failed += wg_mpi_free(m) != WG_OK;
    }
    MPI_Finalize();
    return failed;
}

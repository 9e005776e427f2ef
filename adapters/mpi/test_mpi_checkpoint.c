/* SPDX-License-Identifier: MIT */
/* test_mpi_checkpoint.c - steps of wg_checkpoint that communicate: against the same steps
 * recorded one after the other, with few stored states and with all, in lanes and forward. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases.h"

enum { STEPS = 9, PARAMETERS = 2 };

/* Each rank has other numbers of them: rank 0 has none, where there are others. */
static size_t numbers(void) { return size > 1 ? (size_t)(2 * rank) : 3; }

static size_t recorded; /* steps, so far */

/* Diffusion on a ring, with a sum of all ranks. Rank 0 passes on what comes. */
static wg_status diffuse(wg_tape *t, size_t step, size_t n, const wg_real *u, size_t np,
                         const wg_real *p, wg_real *next, void *data) {
    wg_real below = p[0], above = p[1], from_below, from_above, part = p[0], sum;
    wg_mpi_request r[4];
    (void)np, (void)data;
    recorded++;
    if (n != 0) below = u[n - 1], above = u[0];
    wg_mpi_irecv(t, &from_below, 1, left(), 1, m, &r[0]);
    wg_mpi_irecv(t, &from_above, 1, right(), 2, m, &r[1]);
    wg_mpi_isend(t, &below, 1, right(), 1, m, &r[2]);
    wg_mpi_isend(t, &above, 1, left(), 2, m, &r[3]);
    wg_mpi_waitall(t, 4, r);
    for (size_t i = 0; i < n; i++) part = wg_let(t, wg_add(part, wg_mul(u[i], u[i])));
    wg_mpi_allreduce(t, &part, &sum, 1, WG_MPI_SUM, m);
    for (size_t i = 0; i < n; i++) {
        const wg_real a = i > 0 ? u[i - 1] : from_below, b = i + 1 < n ? u[i + 1] : from_above;
        next[i] =
            wg_let(t, wg_add(wg_add(wg_mul(p[0], wg_sub(wg_add(a, b), wg_mul(2, u[i]))), u[i]),
                             wg_mul(0.01 / (1 + (double)step), wg_mul(p[1], wg_sin(sum)))));
    }
    return wg_tape_status(t);
}

/* y of n: the state after all steps, by wg_checkpoint or (stored < 0) one after the other. */
static void go(wg_tape *t, wg_tape *work, int stored, const wg_real *u, const wg_real *p,
               wg_real *y) {
    const size_t n = numbers();
    const wg_region region = {.record = diffuse, .flags = WG_REGION_ALWAYS};
    if (stored < 0) {
        wg_real now[N];
        memcpy(now, u, n * sizeof *u);
        for (size_t k = 0; k < STEPS; k++) {
            (void)diffuse(t, k, n, now, PARAMETERS, p, y, NULL);
            memcpy(now, y, n * sizeof *y);
        }
        return;
    }
    const wg_mat state = n != 0 ? wg_mat_gather(t, n, 1, u) : wg_mat_fill(t, 0, 1, 0);
    wg_mat out;
    (void)wg_checkpoint(t, work, STEPS, 1, &region, (size_t)stored, state,
                        wg_mat_gather(t, PARAMETERS, 1, p), &out);
    for (size_t i = 0; i < n; i++) y[i] = wg_mat_at(out, i, 0);
}

typedef struct result {
    double y[N], tangent[LANES][N], u[LANES][N], p[LANES][PARAMETERS], one[N + PARAMETERS];
} result;

static result run(int stored) {
    const size_t n = numbers();
    double a[N], v[LANES][N], w[LANES * N], seed[N];
    wg_real u[N], p[PARAMETERS], y[N];
    static const double at[PARAMETERS] = {0.2, 0.7};
    result r = {0};
    wg_tape *const t = wg_tape_new(NULL), *const work = wg_tape_new(NULL);
    numbers_so_far = 77 * (uint64_t)rank;
    fill(N, a), fill(LANES * N, v[0]), fill(LANES * N, w);
    for (size_t i = 0; i < LANES * N; i++) w[i] = rank == size - 1 ? w[i] : 0;

    assert_ok(t, wg_tape_forward(t, LANES));
    assert_ok(t, wg_inputs(t, n, a, u));
    assert_ok(t, wg_inputs(t, PARAMETERS, at, p));
    for (size_t l = 0; l < LANES; l++)
        for (size_t i = 0; i < n; i++)
            assert_true(wg_tangent_seed(t, u[i], l, v[l][i]) == WG_OK);
    go(t, work, stored, u, p, y);
    assert_ok(t, wg_tape_status(t));
    for (size_t l = 0; l < LANES; l++)
        for (size_t i = 0; i < n; i++) r.tangent[l][i] = wg_tangent(t, y[i], l);

    wg_tape_reset(t);
    assert_ok(t, wg_tape_forward(t, 0));
    assert_ok(t, wg_inputs(t, n, a, u));
    assert_ok(t, wg_inputs(t, PARAMETERS, at, p));
    go(t, work, stored, u, p, y);
    assert_ok(t, wg_tape_status(t));
    for (size_t i = 0; i < n; i++) r.y[i] = y[i].value, seed[i] = w[i * LANES];
    assert_ok(t, wg_mpi_reverse_lanes(t, LANES, n, y, w, m));
    assert_ok(t, wg_adjoints_lanes(t, n, u, LANES, r.u[0], N));
    assert_ok(t, wg_adjoints_lanes(t, PARAMETERS, p, LANES, r.p[0], PARAMETERS));
    const wg_status s = n != 0 ? wg_reverse_seeds(t, n, y, seed)
                               : wg_reverse_seeds(t, 1, (wg_real[]){wg_constant(1)}, seed);
    assert_ok(t, s);
    assert_ok(t, wg_adjoints(t, n, u, r.one));
    assert_ok(t, wg_adjoints(t, PARAMETERS, p, r.one + N));
    wg_tape_free(t);
    wg_tape_free(work);
    return r;
}

static int near(size_t n, const double *a, const double *b) {
    double scale = 1;
    int good = 1;
    for (size_t i = 0; i < n; i++) scale = fmax(scale, fabs(b[i]));
    for (size_t i = 0; i < n; i++)
        good &= fabs(a[i] - b[i]) <= TOL_STEP_ULP * STEPS * DBL_EPSILON * scale;
    return good;
}

static void steps_that_communicate_are_repeated_in_their_order(void **state) {
    (void)state;
    const result plain = run(-1);
    for (int stored = 0; stored <= 4; stored++) {
        const result r = run(stored);
        all(memcmp(r.y, plain.y, sizeof r.y) == 0);
        all(near(LANES * N, r.tangent[0], plain.tangent[0]));
        all(near(LANES * N, r.u[0], plain.u[0]));
        all(near(LANES * PARAMETERS, r.p[0], plain.p[0]));
        all(near(N, r.one, plain.one) && near(PARAMETERS, r.one + N, plain.one + N));
    }
}

/* As many steps on every rank, though rank 0 has no state and others have no adjoint. */
static void all_ranks_go_through_as_many_steps(void **state) {
    (void)state;
    size_t least = 0, most = 0;
    recorded = 0;
    (void)run(2);
    MPI_Allreduce(&recorded, &least, 1, MPI_UNSIGNED_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&recorded, &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
    all(least == most && least > (LANES + 1) * 2 * STEPS);
}

static void a_replay_goes_through_the_steps(void **state) {
    (void)state;
    const wg_options keeps = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&keeps), *const work = wg_tape_new(NULL);
    const size_t n = numbers();
    const double at[PARAMETERS] = {0.2, 0.7}, then[PARAMETERS] = {0.1, 0.4};
    double a[N], replayed[N] = {0}, again[N] = {0};
    wg_real u[N], p[PARAMETERS], y[N];
    fill(N, a);
    assert_ok(t, wg_inputs(t, n, a, u));
    assert_ok(t, wg_inputs(t, PARAMETERS, at, p));
    go(t, work, 2, u, p, y);
    assert_ok(t, wg_tape_replay(t, PARAMETERS, p, then));
    for (size_t i = 0; i < n; i++) replayed[i] = wg_tape_value(t, y[i]);
    wg_tape_reset(t);
    assert_ok(t, wg_inputs(t, n, a, u));
    assert_ok(t, wg_inputs(t, PARAMETERS, then, p));
    go(t, work, 2, u, p, y);
    for (size_t i = 0; i < n; i++) again[i] = y[i].value;
    all(memcmp(replayed, again, n * sizeof *again) == 0);
    wg_tape_free(t);
    wg_tape_free(work);
}

/* Without the flag, on all ranks; the steps would be swept where there is an adjoint only. */
static void a_region_that_does_not_say_so_is_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL), *const work = wg_tape_new(NULL);
    const wg_region region = {.record = diffuse};
    const wg_real p[PARAMETERS] = {wg_input(t, 0.1), wg_input(t, 0.2)};
    wg_mat out;
    all(wg_checkpoint(t, work, STEPS, 1, &region, 1, wg_mat_gather(t, 1, 1, p),
                      wg_mat_gather(t, PARAMETERS, 1, p), &out) == WG_EMODE);
    all(strstr(wg_tape_message(t), "WG_REGION_ALWAYS") != NULL);
    wg_tape_free(t);
    wg_tape_free(work);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_communicate_are_repeated_in_their_order),
        cmocka_unit_test(all_ranks_go_through_as_many_steps),
        cmocka_unit_test(a_replay_goes_through_the_steps),
        cmocka_unit_test(a_region_that_does_not_say_so_is_refused),
    };
    int failed = 0;
    open_ranks(&argc, &argv);
    for (unsigned flags = 0; flags <= WG_MPI_CHECKED && failed == 0; flags++) {
        m = wg_mpi_new(MPI_COMM_WORLD, flags);
        const size_t most = sizeof tests / sizeof *tests;
        failed =
            _cmocka_run_group_tests(flags != 0 ? "checked" : "plain", tests, most, NULL, NULL);
        (void)wg_mpi_free(m); /* the last one has failed on purpose */
    }
    MPI_Finalize();
    return failed;
}

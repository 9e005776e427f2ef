/* SPDX-License-Identifier: MIT */
/* test_mpi_second.c - a Hessian times a vector, over ranks: against the same computation on one
 * tape that has the inputs of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases.h"

enum { EACH = 3, RANKS = 8 };

static const wg_options keeps = {.flags = WG_KEEP_CODE};
static wg_mpi *line;

/* What a rank makes of its own three numbers; and of those that have come to it. */
static wg_real product(wg_tape *t, const wg_real *x) {
    return wg_let(t, wg_mul(wg_sin(x[0]), wg_mul(x[1], x[1])));
}
static wg_real bent(wg_tape *t, wg_real a, wg_real b) {
    return wg_let(t, wg_mul(wg_exp(wg_mul(0.3, a)), wg_mul(b, b)));
}
static wg_real flat(wg_tape *t, wg_real a, wg_real b) {
    return wg_let(t, wg_mul(wg_exp(wg_mul(0.01, a)), wg_mul(0.01, wg_mul(b, b))));
}

/* Numbers go through all kinds of calls, the results to two ranks; their sum is what counts. */
static wg_real over_ranks(wg_tape *t, const wg_real *x) {
    const wg_real own = product(t, x);
    wg_real from_left, sum, first = x[2], largest, above[2], all_of[RANKS], part, total;
    wg_mpi_request r[2];
    wg_mat in[2];
    wg_mpi_sendrecv(t, &own, 1, right(), 0, &from_left, 1, left(), 0, m);
    const wg_real mixed = bent(t, from_left, x[2]);
    wg_mpi_allreduce(t, &mixed, &sum, 1, WG_MPI_SUM, m);
    wg_mpi_bcast(t, &first, 1, 0, m);
    wg_mpi_allreduce(t, &own, &largest, 1, WG_MPI_MAX, m);
    const wg_real squared = bent(t, sum, x[0]);
    wg_mpi_irecv(t, &above[0], 1, left(), 1, m, &r[0]);
    wg_mpi_isend(t, &squared, 1, right(), 1, m, &r[1]);
    wg_mpi_waitall(t, 2, r);
    const wg_mat out[2] = {wg_mat_gather(t, 1, 1, &mixed), wg_mat_gather(t, 1, 1, &squared)};
    wg_mpi_halo(t, 1, out, in, line);
    above[1] = wg_let(t, wg_mul(wg_mat_at(in[0], 0, 0), wg_add(1, wg_mat_at(in[1], 0, 0))));
    wg_mpi_allgather(t, &above[1], 1, all_of, NULL, m);
    part = flat(t, above[0], all_of[size - 1]);
    part = wg_let(t, wg_add(part, wg_mul(first, largest)));
    wg_mpi_reduce(t, &part, &total, 1, WG_MPI_SUM, size - 1, m);
    if (rank == size - 1) return wg_let(t, wg_add(wg_mul(total, wg_log(total)), own));
    return rank == 0 ? wg_let(t, wg_mul(sum, squared)) : wg_constant(0);
}

/* The same of all numbers. */
static wg_real in_one(wg_tape *t, const wg_real *x) {
    wg_real own[RANKS], mixed[RANKS], squared[RANKS], near[RANKS], sum = wg_constant(0);
    wg_real total = wg_constant(0);
    int most = 0;
    for (int q = 0; q < size; q++) own[q] = product(t, x + EACH * q);
    for (int q = 0; q < size; q++) {
        mixed[q] = bent(t, own[(q + size - 1) % size], x[EACH * q + 2]);
        sum = wg_let(t, wg_add(sum, mixed[q]));
        if (own[q].value > own[most].value) most = q;
    }
    for (int q = 0; q < size; q++) squared[q] = bent(t, sum, x[EACH * q]);
    for (int q = 0; q < size; q++) {
        const wg_real below = q > 0 ? squared[q - 1] : wg_constant(0);
        const wg_real over = q + 1 < size ? mixed[q + 1] : wg_constant(0);
        near[q] = wg_let(t, wg_mul(below, wg_add(1, over)));
    }
    for (int q = 0; q < size; q++) {
        const wg_real part = flat(t, squared[(q + size - 1) % size], near[size - 1]);
        total = wg_let(t, wg_add(total, wg_add(part, wg_mul(x[2], own[most]))));
    }
    const wg_real last = wg_let(t, wg_add(wg_mul(total, wg_log(total)), own[size - 1]));
    return size == 1 ? last : wg_let(t, wg_add(last, wg_mul(sum, squared[0])));
}

static void a_hessian_over_ranks_is_that_of_one_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&keeps), *const one = wg_tape_new(&keeps);
    double a[EACH * RANKS], v[EACH * RANKS], h[EACH * RANKS], g[EACH * RANKS];
    double mine[EACH], w[EACH], hv[EACH], own[EACH];
    wg_real x[EACH], of_all[EACH * RANKS];
    fill(EACH, mine), fill(EACH, w);
    MPI_Allgather(mine, EACH, MPI_DOUBLE, a, EACH, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Allgather(w, EACH, MPI_DOUBLE, v, EACH, MPI_DOUBLE, MPI_COMM_WORLD);
    const size_t n = EACH * (size_t)size;
    assert_ok(one, wg_inputs(one, n, a, of_all));
    const wg_real expected = in_one(one, of_all);
    assert_ok(one, wg_tape_hvp(one, expected, n, of_all, v, h));
    assert_ok(one, wg_adjoints(one, n, of_all, g));
    assert_ok(t, wg_inputs(t, EACH, mine, x));
    const wg_real y = over_ranks(t, x);
    assert_ok(t, wg_tape_status(t));
    double scale = 0, slope = 0;
    for (size_t i = 0; i < n; i++) {
        scale = fmax(scale, fabs(h[i]));
        slope = fmax(slope, fabs(g[i]));
    }
    for (int again = 0; again < 2; again++) {
        assert_ok(t, wg_mpi_hvp(t, y, EACH, x, w, hv, m));
        assert_ok(t, wg_adjoints(t, EACH, x, own));
        int good = 1;
        for (size_t i = 0; i < EACH; i++) {
            const size_t at = EACH * (size_t)rank + i;
            good &= fabs(hv[i] - h[at]) <= TOL_ORDER_ULP * 8 * DBL_EPSILON * scale;
            good &= fabs(own[i] - g[at]) <= TOL_ORDER_ULP * 8 * DBL_EPSILON * slope;
        }
        all(good);
        assert_ok(t, wg_mpi_reverse(t, y, 1, m)); /* a sweep between changes nothing */
    }
    wg_tape_free(one);
    wg_tape_free(t);
}

static void all_rows_over_ranks_are_those_of_one_tape(void **state) {
    (void)state;
    enum { ALL = EACH * RANKS, LD = ALL + 1 };
    wg_tape *const t = wg_tape_new(&keeps), *const one = wg_tape_new(&keeps);
    static double a[ALL], h[ALL * ALL], rows[EACH * LD];
    double mine[EACH];
    wg_real x[EACH], of_all[ALL];
    fill(EACH, mine);
    MPI_Allgather(mine, EACH, MPI_DOUBLE, a, EACH, MPI_DOUBLE, MPI_COMM_WORLD);
    const size_t n = EACH * (size_t)size;
    assert_ok(one, wg_inputs(one, n, a, of_all));
    assert_ok(one, wg_tape_hessian(one, in_one(one, of_all), n, of_all, h, ALL));
    assert_ok(t, wg_inputs(t, EACH, mine, x));
    const wg_real y = over_ranks(t, x);
    for (size_t i = 0; i < EACH * LD; i++) rows[i] = 7;
    assert_ok(t, wg_mpi_hessian(t, y, EACH, x, rows, LD, m));
    double scale = 0;
    int good = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) scale = fmax(scale, fabs(h[i * ALL + k]));
    for (size_t i = 0; i < EACH; i++) {
        for (size_t k = 0; k < n; k++)
            good &= fabs(rows[i * LD + k] - h[(EACH * (size_t)rank + i) * ALL + k]) <=
                    TOL_ORDER_ULP * 8 * DBL_EPSILON * scale;
        good &= rows[i * LD + n] == 7; /* behind them nothing is written */
    }
    all(good);
    const size_t narrow = rank == size - 1 ? n - 1 : LD; /* on one rank */
    for (size_t i = 0; i < EACH * LD; i++) rows[i] = 7;
    all(wg_mpi_hessian(t, y, EACH, x, rows, narrow, m) == WG_ESHAPE && rows[0] == 7);
    if (wg_mpi_clear(m) != WG_OK) all(wg_mpi_message(m)[0] != 0);
    wg_tape_free(one);
    wg_tape_free(t);
}

/* ---- products --------------------------------------------------------------------------- */

static void factors(wg_tape *t, const wg_real *x, wg_real *y) {
    y[0] = wg_let(t, wg_mul(x[0], x[0])); /* 0 with a second derivative */
    y[1] = wg_let(t, wg_mul(x[0], wg_exp(x[1])));
    y[2] = wg_let(t, wg_mul(2, wg_sin(x[2])));
}

/* What rank 0 makes of all products, and what the last one makes of them. */
static wg_real at_first(wg_tape *t, const wg_real *y, const wg_real *x) {
    return wg_let(t,
                  wg_add(wg_add(bent(t, y[0], x[0]), bent(t, y[1], x[1])), wg_mul(y[2], x[2])));
}
static wg_real at_last(wg_tape *t, const wg_real *y, const wg_real *z) {
    return wg_let(t, wg_add(wg_mul(z[0], y[1]), wg_add(wg_square(z[1]), wg_mul(z[2], y[0]))));
}

static wg_real products_over_ranks(wg_tape *t, const wg_real *x) {
    wg_real f[EACH], y[EACH], z[EACH], sum = wg_constant(0);
    factors(t, x, f);
    wg_mpi_allreduce(t, f, y, EACH, WG_MPI_PROD, m);
    wg_mpi_reduce(t, f, z, EACH, WG_MPI_PROD, size - 1, m);
    if (rank == 0) sum = at_first(t, y, x);
    return rank == size - 1 ? wg_let(t, wg_add(sum, at_last(t, y, z))) : sum;
}

static wg_real products_in_one(wg_tape *t, const wg_real *x) {
    wg_real f[EACH], y[EACH];
    for (int i = 0; i < EACH; i++) y[i] = wg_constant(1);
    for (int q = 0; q < size; q++) {
        factors(t, x + EACH * q, f);
        for (int i = 0; i < EACH; i++) y[i] = wg_let(t, wg_mul(y[i], f[i]));
    }
    return wg_let(t, wg_add(at_first(t, y, x), at_last(t, y, y)));
}

/* Whichever factors are 0: none, that of one rank, of two, of all. */
static void a_hessian_through_products_is_that_of_one_tape(void **state) {
    (void)state;
    enum { ALL = EACH * RANKS };
    static double a[ALL], h[ALL * ALL], rows[EACH * ALL];
    wg_tape *const t = wg_tape_new(&keeps), *const one = wg_tape_new(&keeps);
    const size_t n = EACH * (size_t)size;
    double scale = 0;
    for (int zeros = 0; zeros < 4; zeros++) {
        double mine[EACH], own[EACH], g[ALL];
        wg_real x[EACH], of_all[ALL];
        const int is_zero =
            zeros == 3 || (zeros >= 1 && rank == 0) || (zeros == 2 && rank == 1);
        wg_tape_reset(t);
        wg_tape_reset(one);
        fill(EACH, mine);
        if (is_zero) mine[0] = 0;
        MPI_Allgather(mine, EACH, MPI_DOUBLE, a, EACH, MPI_DOUBLE, MPI_COMM_WORLD);
        assert_ok(one, wg_inputs(one, n, a, of_all));
        const wg_real expected = products_in_one(one, of_all);
        assert_ok(one, wg_tape_hessian(one, expected, n, of_all, h, ALL));
        assert_ok(one, wg_adjoints(one, n, of_all, g));
        assert_ok(t, wg_inputs(t, EACH, mine, x));
        const wg_real y = products_over_ranks(t, x);
        assert_ok(t, wg_mpi_hessian(t, y, EACH, x, rows, n, m));
        assert_ok(t, wg_adjoints(t, EACH, x, own));
        for (size_t i = 0; i < n; i++) /* the first one has no zeros */
            for (size_t k = 0; k < n; k++) scale = fmax(scale, fabs(h[i * ALL + k]));
        int good = 1;
        for (size_t i = 0; i < EACH; i++) {
            const size_t at = EACH * (size_t)rank + i;
            good &= fabs(own[i] - g[at]) <= TOL_ORDER_ULP * 8 * DBL_EPSILON * scale;
            for (size_t k = 0; k < n; k++)
                good &= fabs(rows[i * n + k] - h[at * ALL + k]) <=
                        TOL_ORDER_ULP * 8 * DBL_EPSILON * scale;
        }
        all(good);
    }
    wg_tape_free(one);
    wg_tape_free(t);
}

/* A factor that is a constant takes part, and an infinite one has no effect where it is
 * multiplied by what does not change. */
static void a_factor_may_be_a_constant(void **state) {
    (void)state;
    if (size == 1) return;
    wg_tape *const t = wg_tape_new(&keeps);
    const double v[2] = {1, 0};
    double hv[2];
    wg_real x[2] = {wg_input(t, 3), wg_input(t, INFINITY)}, f[2] = {x[0], wg_constant(2)}, y[2];
    if (rank == size - 1) f[0] = wg_constant(0.5);
    if (rank == 0) f[1] = x[1];
    wg_mpi_allreduce(t, f, y, 2, WG_MPI_PROD, m);
    wg_mpi_allreduce(t, NULL, NULL, 0, WG_MPI_PROD, m); /* and there may be none */
    const wg_real out = rank == 0 ? y[0] : wg_constant(0);
    assert_ok(t, wg_mpi_hvp(t, out, 2, x, v, hv, m));
    /* y[0] is 0.5 x^(size - 1), if all x move alike */
    const int others = size - 2;
    const double expected =
        others == 0 || rank == size - 1 ? 0 : 0.5 * others * pow(3, others - 1);
    all(hv[0] == expected && hv[1] == 0);
    wg_tape_free(t);
}

static void a_rank_may_have_nothing(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&keeps);
    double hv[2] = {7, 7};
    const double v[2] = {1, 2};
    wg_real x[2] = {wg_constant(3), wg_constant(4)}, y = wg_constant(1);
    if (rank == 0) {
        x[0] = wg_input(t, 3), x[1] = wg_input(t, 4);
        y = wg_let(t, wg_mul(x[0], wg_mul(x[0], x[1])));
    }
    assert_ok(t, wg_mpi_hvp(t, y, 2, x, v, hv, m));
    /* H = [2 x1, 2 x0; 2 x0, 0] */
    all(rank == 0 ? hv[0] == 8 + 12 && hv[1] == 6 : hv[0] == 0 && hv[1] == 0);
    double h[2 * 2 * RANKS];
    const size_t ld = 2 * (size_t)size;
    assert_ok(t, wg_mpi_hessian(t, y, 2, x, h, ld, m));
    for (size_t k = 0; k < 2 * ld; k++) {
        const size_t row = k / ld, col = k % ld;
        const double here = col > 1 || (row == 1 && col == 1) ? 0 : row == col ? 8 : 6;
        all(h[k] == (rank == 0 ? here : 0));
    }
    wg_tape_free(t);
}

/* A cube, of which nothing is known but this. */
static wg_status cube_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}
static wg_status cube_value(wg_block *b) {
    const double x = b->in[0].value[0];
    b->out[0].value[0] = x * x * x;
    return WG_OK;
}
static wg_status cube_vjp(wg_block *b) {
    const double x = b->in[0].value[0];
    b->in[0].bar[0] += 3 * x * x * b->out[0].bar[0];
    return WG_OK;
}
static const wg_block_op cube_op = {
    .name = "cube", .shape = cube_shape, .value = cube_value, .vjp = cube_vjp};
static wg_real cube(wg_tape *t, wg_real x) {
    const wg_mat in = wg_mat_from_real(t, x);
    wg_mat y = wg_mat_failed(1, 1);
    (void)wg_apply(t, &cube_op, NULL, 0, 1, &in, 1, &y);
    return wg_mat_at(y, 0, 0);
}

static void what_is_not_known_is_refused_on_all(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&keeps), *const plain = wg_tape_new(NULL);
    const double one = 1;
    double hv = 7, h = 7;
    wg_real x = wg_input(t, 2), y;
    const wg_real z = rank == 0 ? cube(t, x) : x;
    wg_mpi_allreduce(t, &z, &y, 1, WG_MPI_PROD, m);
    all(wg_mpi_hvp(t, y, 1, &x, &one, &hv, m) == WG_EMODE);
    all((rank != 0 || strstr(wg_tape_message(t), "cube") != NULL) && hv == 7);
    if (wg_mpi_clear(m) != WG_OK) all(wg_mpi_message(m)[0] != 0);
    wg_tape_reset(t);
    x = wg_input(t, 2);
    wg_mpi_allreduce(t, &x, &y, 1, WG_MPI_SUM, m);
    all(wg_tape_hessian(t, y, 1, &x, &h, 1) == WG_EMODE && h == 7);
    all(wg_mpi_hvp(t, y, 1, rank == size - 1 ? NULL : &x, &one, &hv, m) == WG_ENULL);
    if (wg_mpi_clear(m) != WG_OK) all(wg_mpi_message(m)[0] != 0);
    x = wg_input(plain, 2);
    all(wg_mpi_hvp(plain, x, 1, &x, &one, &hv, m) == WG_EMODE);
    if (wg_mpi_clear(m) != WG_OK) all(wg_mpi_message(m)[0] != 0);
    all(wg_mpi_hvp(t, y, 0, NULL, NULL, NULL, NULL) == WG_ENULL);
    all(wg_mpi_hessian(plain, x, 1, &x, &h, 8, m) == WG_EMODE && h == 7);
    if (wg_mpi_clear(m) != WG_OK) all(wg_mpi_message(m)[0] != 0);
    all(wg_mpi_hessian(t, y, 0, NULL, NULL, 0, NULL) == WG_ENULL);
    wg_tape_free(plain);
    wg_tape_free(t);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hessian_over_ranks_is_that_of_one_tape),
        cmocka_unit_test(all_rows_over_ranks_are_those_of_one_tape),
        cmocka_unit_test(a_hessian_through_products_is_that_of_one_tape),
        cmocka_unit_test(a_factor_may_be_a_constant),
        cmocka_unit_test(a_rank_may_have_nothing),
        cmocka_unit_test(what_is_not_known_is_refused_on_all),
    };
    int failed = 0;
    open_ranks(&argc, &argv);
    for (unsigned flags = 0; flags <= WG_MPI_CHECKED && failed == 0; flags++) {
        MPI_Comm comm;
        const int no = 0;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &no, 0, &comm);
        m = wg_mpi_new(MPI_COMM_WORLD, flags);
        line = wg_mpi_new(comm, flags);
        failed =
            cmocka_run_group_tests_name(flags != 0 ? "checked" : "plain", tests, NULL, NULL);
        failed += wg_mpi_free(line) != WG_OK;
        failed += wg_mpi_free(m) != WG_OK;
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return failed;
}

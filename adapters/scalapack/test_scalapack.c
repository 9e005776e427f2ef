/* SPDX-License-Identifier: MIT */
/* test_scalapack.c - distributed matrices on 1 to 4 ranks, on every grid of them and in several blocks:
 * values, tangents and adjoints against the same computation on one tape that has the matrices whole. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <wengert.h>
#include <wengert/mpi.h>
#include <wengert/scalapack.h>
#include "test/tolerance.h"

enum { LANES = 2, OUTPUTS = 2, MOST = 13 * 13 };

static int rank, size;
static wg_mpi *m;

/* A condition that has to hold on all ranks. */
#define all(condition)                                                                         \
    do {                                                                                       \
        const int all_mine = (condition) != 0;                                                 \
        int all_hold = 0;                                                                      \
        if (!all_mine)                                                                         \
            fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, #condition);     \
        MPI_Allreduce(&all_mine, &all_hold, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);              \
        assert_true(all_hold);                                                                 \
    } while (0)

#define all_ok(t, call)                                                                        \
    do {                                                                                       \
        const wg_status ok_is = (call);                                                        \
        if (ok_is != WG_OK)                                                                    \
            fprintf(stderr, "rank %d: %d, %s\n", rank, (int)ok_is, wg_tape_message(t));        \
        all(ok_is == WG_OK);                                                                   \
    } while (0)

/* Numbers in [1/2, 1), the same on all ranks. */
static uint64_t at;
static void fill(size_t n, double *x) {
    for (size_t i = 0; i < n; i++) {
        uint64_t z = at += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        x[i] = 0.5 + (double)((z ^ z >> 31) >> 12) * 0x1p-53;
    }
}

/* ---- a matrix, whole or in parts ----------------------------------------------------------- */

typedef struct whole {
    size_t rows, cols;
    double x[MOST], tangent[LANES][MOST];
    int varies;
} whole;

/* Where it is: on a grid in blocks, or (NULL) on one tape. */
typedef struct place {
    wg_scalapack *g;
    size_t block;
} place;

static size_t rows_here(place p, size_t n) {
    return p.g == NULL ? n : wg_scalapack_rows(p.g, n, p.block);
}
static size_t cols_here(place p, size_t n) {
    return p.g == NULL ? n : wg_scalapack_cols(p.g, n, p.block);
}
static size_t number(place p, size_t rows, size_t i, size_t j) {
    if (p.g == NULL) return i + j * rows;
    return wg_scalapack_row(p.g, i, p.block) + wg_scalapack_col(p.g, j, p.block) * rows;
}

static void take(place p, const whole *a, const double *from, double *to) {
    const size_t rows = rows_here(p, a->rows), cols = cols_here(p, a->cols);
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) to[i + j * rows] = from[number(p, a->rows, i, j)];
}

/* With tangents on a forward tape. */
static wg_mat bring(wg_tape *t, place p, const whole *a, int forward) {
    double here[MOST];
    const size_t rows = rows_here(p, a->rows), cols = cols_here(p, a->cols);
    take(p, a, a->x, here);
    if (!a->varies) return wg_mat_constant(t, rows, cols, here, rows);
    const wg_mat x = wg_mat_input(t, rows, cols, here, rows);
    for (size_t l = 0; forward && l < LANES && rows * cols != 0; l++) {
        take(p, a, a->tangent[l], here);
        if (wg_mat_tangent_seed(t, x, l, here, rows) != WG_OK) return wg_mat_failed(rows, cols);
    }
    return x;
}

/* ---- a computation, in one place or the other ---------------------------------------------- */

typedef struct operands {
    whole a, b, w; /* w: weights */
    char ta, tb;
    int solves;
} operands;

typedef struct results {
    double y[OUTPUTS], tangent[OUTPUTS][LANES], a_bar[LANES][MOST], b_bar[LANES][MOST], r[MOST];
} results;

static void compute(wg_tape *t, place p, const operands *o, wg_mat a, wg_mat b, wg_real *y,
                    double *r) {
    const size_t n = o->w.rows, k = o->w.cols;
    const wg_mat w = bring(t, p, &o->w, 0);
    wg_mat part;
    wg_real log = wg_constant(0);
    if (p.g == NULL) {
        if (o->solves) part = wg_solve_spd(t, a, b), log = wg_logdet_spd(t, a);
        else part = wg_gemm(t, o->ta, o->tb, 1.5, a, b, 0, w);
        y[0] = wg_mat_dot(t, part, w), y[1] = wg_mat_dot(t, part, part);
    } else {
        const wg_scalapack_mat d = wg_scalapack_local(t, p.g, o->a.rows, o->a.cols, p.block, a);
        const wg_scalapack_mat e = wg_scalapack_local(t, p.g, o->b.rows, o->b.cols, p.block, b);
        const wg_scalapack_mat weights = wg_scalapack_local(t, p.g, n, k, p.block, w);
        wg_scalapack_mat x;
        if (o->solves) wg_scalapack_solve_spd(t, d, e, &x, &log);
        else x = wg_scalapack_gemm(t, o->ta, o->tb, 1.5, d, e);
        part = x.local;
        y[0] = wg_scalapack_dot(t, x, weights), y[1] = wg_scalapack_dot(t, x, x);
    }
    y[1] = wg_let(t, wg_add(wg_mul(0.5, y[1]), wg_mul(2, log)));
    if (part.rows * part.cols != 0 && wg_mat_value(t, part, r, part.rows) != WG_OK) *r = NAN;
}

/* A number that all ranks have is seeded on the last one. */
static results run(place p, const operands *o) {
    static const double seeds[OUTPUTS * LANES] = {1, 0.3, -0.7, 2}, none[OUTPUTS * LANES] = {0};
    results r = {0};
    wg_real y[OUTPUTS];
    wg_tape *const t = wg_tape_new(NULL);
    all_ok(t, wg_tape_forward(t, LANES));
    wg_mat a = bring(t, p, &o->a, 1), b = bring(t, p, &o->b, 1);
    compute(t, p, o, a, b, y, r.r);
    all_ok(t, wg_tape_status(t));
    for (size_t k = 0; k < OUTPUTS; k++)
        for (size_t l = 0; l < LANES; l++) r.tangent[k][l] = wg_tangent(t, y[k], l);

    wg_tape_reset(t);
    all_ok(t, wg_tape_forward(t, 0));
    a = bring(t, p, &o->a, 0), b = bring(t, p, &o->b, 0);
    compute(t, p, o, a, b, y, r.r);
    all_ok(t, wg_tape_status(t));
    for (size_t k = 0; k < OUTPUTS; k++) r.y[k] = y[k].value;
    const double *const w = p.g == NULL || rank == size - 1 ? seeds : none;
    const wg_status swept = p.g == NULL ? wg_reverse_lanes(t, LANES, OUTPUTS, y, w)
                                        : wg_mpi_reverse_lanes(t, LANES, OUTPUTS, y, w, m);
    if (swept == WG_ESEED && p.g == NULL) { /* of empty matrices: nothing depends on anything */
        wg_tape_free(t);
        return r;
    }
    all_ok(t, swept);
    for (size_t l = 0; l < LANES; l++) {
        const size_t lda = a.rows > 0 ? a.rows : 1, ldb = b.rows > 0 ? b.rows : 1;
        all_ok(t, wg_mat_adjoint_lane(t, a, l, r.a_bar[l], lda));
        all_ok(t, wg_mat_adjoint_lane(t, b, l, r.b_bar[l], ldb));
    }
    if (p.g != NULL) { /* one lane is a sweep of its own */
        double one[OUTPUTS] = {w[0], w[LANES]}, bar[MOST];
        all_ok(t, wg_reverse_seeds(t, OUTPUTS, y, one));
        all_ok(t, wg_mat_adjoint(t, b, bar, b.rows > 0 ? b.rows : 1));
        int good = 1;
        for (size_t i = 0; i < b.rows * b.cols; i++)
            good &= close_ulp(bar[i], r.b_bar[0][i], TOL_PROGRAM_ULP);
        all(good);
    }
    wg_tape_free(t);
    return r;
}

/* Sums of some thirty products; of systems times their condition, which is below 100. */
static int close(double got, double wanted, double scale) {
    return fabs(got - wanted) <= 30 * 100 * TOL_ORDER_ULP * DBL_EPSILON * scale;
}
static double largest(size_t n, const double *x) {
    double a = 1;
    for (size_t i = 0; i < n; i++) a = fmax(a, fabs(x[i]));
    return a;
}
static int same_part(place p, const whole *shape, const double *got, const double *wanted) {
    double here[MOST];
    const double scale = largest(shape->rows * shape->cols, wanted);
    int good = 1;
    take(p, shape, wanted, here);
    for (size_t i = 0; i < rows_here(p, shape->rows) * cols_here(p, shape->cols); i++)
        good &= close(got[i], here[i], scale);
    return good;
}

static void compare(place p, const operands *o) {
    const results one = run((place){NULL, 0}, o), these = run(p, o);
    for (size_t k = 0; k < OUTPUTS; k++) {
        all(close(these.y[k], one.y[k], fmax(1, fabs(one.y[k]))));
        for (size_t l = 0; l < LANES; l++)
            all(close(these.tangent[k][l], one.tangent[k][l], largest(1, &one.tangent[k][l])));
    }
    all(same_part(p, &o->w, these.r, one.r));
    for (size_t l = 0; l < LANES; l++) {
        all(!o->a.varies || same_part(p, &o->a, these.a_bar[l], one.a_bar[l]));
        all(!o->b.varies || same_part(p, &o->b, these.b_bar[l], one.b_bar[l]));
    }
    double same[2] = {these.y[0], these.y[1]}; /* bits, on all ranks */
    MPI_Bcast(same, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    all(memcmp(same, these.y, sizeof same) == 0);
}

static void shape(whole *a, size_t rows, size_t cols) {
    a->rows = rows, a->cols = cols, a->varies = 1;
    fill(rows * cols, a->x);
    for (size_t l = 0; l < LANES; l++) fill(rows * cols, a->tangent[l]);
}
/* Positive definite, with a condition below 100. */
static void make_definite(whole *a) {
    const size_t n = a->rows;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            a->x[i + j * n] =
                i == j ? (double)n + (double)j : a->x[i > j ? i + j * n : j + i * n];
}

/* On all grids of these ranks, in small blocks and large ones. */
static void everywhere(const operands *o) {
    static const size_t blocks[] = {1, 2, 5, 64};
    for (int rows = 1; rows <= size; rows++) {
        if (size % rows != 0) continue;
        wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, rows, size / rows);
        all(g != NULL);
        for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
            compare((place){g, blocks[k]}, o);
        wg_scalapack_free(g);
    }
}

static operands a_product(char ta, char tb, size_t rows, size_t cols, size_t inner) {
    operands o = {.ta = ta, .tb = tb};
    o.w.varies = 0;
    shape(&o.a, ta == 'N' ? rows : inner, ta == 'N' ? inner : rows);
    shape(&o.b, tb == 'N' ? inner : cols, tb == 'N' ? cols : inner);
    shape(&o.w, rows, cols);
    o.w.varies = 0;
    return o;
}
static operands a_system(size_t n, size_t k) {
    operands o = a_product('N', 'N', n, k, n);
    make_definite(&o.a);
    o.solves = 1;
    return o;
}

static wg_scalapack_mat some(wg_tape *t, place p, const whole *a) {
    return wg_scalapack_local(t, p.g, a->rows, a->cols, p.block, bring(t, p, a, 0));
}

/* ---- tests --------------------------------------------------------------------------------- */

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

/* A number that one rank has is a variable of another's, and constants stand beside variables. */
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
    all_ok(t, wg_scalapack_solve_spd(t, d, e, &x, &log));
    all_ok(t, wg_scalapack_solve_spd(t, d, (wg_scalapack_mat){0}, NULL, &alone));
    all_ok(t, wg_scalapack_solve_spd(t, d, e, &again, NULL));
    all(log.value == alone.value);
    const wg_real y = wg_scalapack_dot(t, x, e), y_again = wg_scalapack_dot(t, again, e);
    all(y.value == y_again.value);
    all_ok(t, wg_mpi_reverse(t, wg_let(t, wg_add(log, y)), rank == 0, m));
    all_ok(t, wg_mat_adjoint(t, a, with, ld));
    all_ok(t, wg_mpi_reverse(t, alone, rank == 0, m));
    all_ok(t, wg_mat_adjoint(t, a, without, ld));
    all_ok(t, wg_mpi_reverse(t, y_again, rank == 0, m));
    all_ok(t, wg_mat_adjoint(t, a, sum, ld));
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
    all_ok(t, wg_tape_status(t));
    for (size_t i = 0; i < ORDER; i++) o.a.x[i * (ORDER + 1)] *= 2;
    take(p, &o.a, o.a.x, here);
    wg_real x[MOST];
    for (size_t i = 0; i < n; i++) x[i] = wg_mat_at(a, i % a.rows, i / a.rows);
    take(p, &o.a, o.a.x, here);
    all_ok(t, wg_tape_replay(t, n, x, here));
    all_ok(t, wg_mpi_reverse(t, y[1], rank == 0, m));
    all_ok(t, wg_mat_adjoint(t, a, bar, a.rows > 0 ? a.rows : 1));
    wg_tape_reset(t);
    a = bring(t, p, &o.a, 0), b = bring(t, p, &o.b, 0);
    compute(t, p, &o, a, b, y, r);
    all_ok(t, wg_mpi_reverse(t, y[1], rank == 0, m));
    all_ok(t, wg_mat_adjoint(t, a, here, a.rows > 0 ? a.rows : 1));
    all(memcmp(here, bar, n * sizeof *bar) == 0);
    wg_scalapack_free(g);
    wg_tape_free(t);
}

/* ---- failures ------------------------------------------------------------------------------ */

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
    all_ok(t, wg_mpi_reverse(t, y, 1, m));
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
    all(wg_scalapack_rows(NULL, 5, 1) == 0 && wg_scalapack_col(g, 5, 0) == 0);
    wg_scalapack_free(NULL);
    wg_scalapack_free(g);
    wg_tape_free(t);
}

static void second_derivatives_are_refused_by_name(void **state) {
    (void)state;
    wg_scalapack *const g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
    const wg_options keeps = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&keeps);
    const operands o = a_system(4, 1);
    const wg_real x = wg_input(t, 1);
    wg_scalapack_mat a = some(t, (place){g, 1}, &o.a);
    const wg_real y = wg_let(t, wg_mul(x, wg_scalapack_dot(t, a, a)));
    const double v = 1;
    double hv = 0;
    all(wg_mpi_hvp(t, y, 1, &x, &v, &hv, m) == WG_EMODE);
    all(strstr(wg_tape_message(t), "wg_scalapack_dot") != NULL);
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
        cmocka_unit_test(what_is_not_definite_fails_on_all_ranks),
        cmocka_unit_test(other_calls_fail_on_all_ranks),
        cmocka_unit_test(mistakes_have_a_message),
        cmocka_unit_test(second_derivatives_are_refused_by_name),
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != 0 && freopen("/dev/null", "w", stdout) == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    m = wg_mpi_new(MPI_COMM_WORLD, 0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)wg_mpi_free(m);
    MPI_Finalize();
    return failed;
}

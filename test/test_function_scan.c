/* SPDX-License-Identifier: MIT */
/* Loops of functions: against the same steps written out, with every number of states stored.
 */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "counted.h"
#include "driver_cases.h"
#include "pools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where functions are compiled; NULL: they are not. */
static const char *compile_to;

static double number(size_t i) { return 0.1 * (double)(i % 23) - 1 + 0.013 * (double)(i % 7); }

static wg_callable *make(wg_callback *f, size_t inputs, const wg_argument *in, const double *x,
                         size_t outputs, const wg_argument *out) {
    wg_function *g = NULL;
    wg_callable *k = NULL;
    if (wg_function_record(coded, f, NULL, inputs, in, x, outputs, out, &g) != WG_OK ||
        wg_callable_new(coded, g, &k) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
    wg_function_free(g);
    if (compile_to == NULL) return k;
    const wg_compile_options o = {.directory = compile_to};
    wg_callable *compiled = NULL;
    if (wg_callable_compile(coded, k, &o, &compiled, NULL) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
    wg_callable_free(k);
    return compiled;
}

static void assert_near(double got, double expected) {
    if (!(fabs(got - expected) <= TOL_PROGRAM_ULP * DBL_EPSILON * (1 + fabs(expected))))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

/* ---- a recurrence ------------------------------------------------------------------------ */

enum { STEPS = 12, PARAMS = 3 };

/* q, r: states; p: shared; u: active, another one in each step; d: data of each step. Outputs:
 * the states, z kept in each step, s summed. */
static const wg_argument in[] = {{"q", 2, 1, 0},
                                 {"p", 3, 1, WG_SHARED},
                                 {"u", 1, 1, 0},
                                 {"r", 1, 1, WG_SHARED},
                                 {"d", 2, 1, WG_PASSIVE}};
static const wg_argument out[] = {
    {"z", 2, 1, 0}, {"q", 2, 1, 0}, {"s", 1, 1, WG_SUMMED}, {"r", 1, 1, 0}};
static const double at[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

/* x: q, p, u, r, d; y: z, q, s, r. */
static wg_status recur(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    const wg_real *const q = x, *const p = x + 2, *const d = x + 7;
    const wg_real u = x[5], r = x[6];
    y[0] = wg_let(t, wg_mul(q[0], u));
    y[1] = wg_let(t, wg_sub(wg_mul(q[1], d[0]), r));
    y[2] = wg_let(t, wg_add(wg_mul(p[0], q[0]), wg_mul(q[1], u)));
    y[3] = wg_let(t, wg_sub(wg_mul(p[1], q[1]), wg_mul(wg_mul(q[0], q[0]), d[1])));
    y[4] = wg_let(t, wg_mul(wg_add(q[0], r), p[2]));
    y[5] = wg_let(t, wg_add(wg_mul(r, 0.5), wg_mul(y[0], 0.25)));
    return WG_OK;
}

static wg_status fill_step(size_t first, size_t count, double *to, void *user) {
    if (user != NULL) *(size_t *)user += count;
    for (size_t i = 0; i < 2 * count; i++) to[i] = number(2 * first + i);
    return WG_OK;
}

typedef struct loop {
    const wg_callable *k;
    size_t steps, stored;
    size_t calls; /* of the function, in whatever form */
} loop;

/* x: q, r, p, u of every step; y: q, r, s, z of every step. */
enum { MOST = 60 };
static wg_status scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    loop *const l = user;
    (void)n, (void)m;
    const wg_state states[] = {{"q", wg_mat_gather(t, 2, 1, x)},
                               {"r", wg_mat_gather(t, 1, 1, x + 2)}};
    const wg_source s[] = {wg_from_state("q"), wg_from_matrix(wg_mat_gather(t, 3, 1, x + 3)),
                           wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, l->steps, x + 6))),
                           wg_from_state("r"),
                           wg_each_step(wg_from_fill(fill_step, &l->calls))};
    const wg_stage stage = {l->k, s};
    const wg_scan_options o = {.stored = l->stored};
    wg_mat r[4];
    const wg_status status = wg_scan(t, l->steps, 1, &stage, 2, states, &o, r);
    if (status != WG_OK) return status;
    for (size_t i = 0; i < 2; i++) y[i] = wg_mat_at(r[0], i, 0);
    y[2] = wg_mat_at(r[1], 0, 0);
    y[3] = wg_mat_at(r[3], 0, 0);
    for (size_t i = 0; i < 2 * l->steps; i++) y[4 + i] = wg_mat_at(r[2], i % 2, i / 2);
    return WG_OK;
}

static wg_status unrolled(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    const loop *const l = user;
    wg_real a[9] = {x[0], x[1], x[3], x[4], x[5], x[0], x[2], x[0], x[0]}, b[6];
    (void)n, (void)m;
    y[3] = wg_constant(0);
    for (size_t i = 0; i < l->steps; i++) {
        a[5] = x[6 + i];
        a[7] = wg_constant(number(2 * i)), a[8] = wg_constant(number(2 * i + 1));
        const wg_status s = recur(t, 9, a, 6, b, NULL);
        if (s != WG_OK) return s;
        y[4 + 2 * i] = b[0], y[5 + 2 * i] = b[1];
        a[0] = b[2], a[1] = b[3], a[6] = b[5];
        y[3] = wg_let(t, wg_add(y[3], b[4]));
    }
    y[0] = a[0], y[1] = a[1], y[2] = a[6];
    return WG_OK;
}

static void a_scan_is_the_same_as_its_steps_written_out_whatever_is_stored(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + MOST], y[2][4 + 2 * MOST], g[2][6 + MOST], first[6 + MOST], w[4 + 2 * MOST];
    for (size_t i = 0; i < 6 + MOST; i++) x[i] = number(3 * i + 2);
    for (size_t i = 0; i < 4 + 2 * MOST; i++) w[i] = number(7 * i);
    const size_t lengths[] = {0, 1, 2, 3, STEPS, MOST};
    for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
        for (size_t stored = 0; stored <= lengths[j] + 1; stored++) {
            loop l = {k, lengths[j], stored, 0};
            const size_t n = 6 + l.steps, m = 4 + 2 * l.steps;
            assert_int_equal(wg_vjp(tape, scan, &l, n, x, m, w, y[0], g[0]), WG_OK);
            assert_int_equal(wg_vjp(tape, unrolled, &l, n, x, m, w, y[1], g[1]), WG_OK);
            for (size_t i = 0; i < m; i++)
                if (i != 3) assert_true(y[0][i] == y[1][i]);
            assert_near(y[0][3], y[1][3]);
            for (size_t i = 0; i < n; i++) assert_near(g[0][i], g[1][i]);
            if (stored == 0) memcpy(first, g[0], sizeof first);
            assert_memory_equal(first, g[0], n * sizeof *first);
        }
    wg_callable_free(k);
}

/* The fewest evaluations beside the adjoint steps, by looking at all ways. */
static size_t fewest[MOST + 1][MOST + 1];
static void find_fewest(void) {
    for (size_t l = 1; l <= MOST; l++)
        for (size_t c = 1; c <= MOST; c++) {
            fewest[l][c] = l * (l - 1) / 2;
            for (size_t i = 1; c > 1 && i < l; i++) {
                const size_t n = i + fewest[l - i][c - 1] + fewest[i][c];
                if (n < fewest[l][c]) fewest[l][c] = n;
            }
        }
}

static void steps_are_evaluated_again_as_seldom_as_can_be(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + MOST], g[6 + MOST], w[4 + 2 * MOST];
    for (size_t i = 0; i < 6 + MOST; i++) x[i] = number(3 * i + 2);
    for (size_t i = 0; i < 4 + 2 * MOST; i++) w[i] = 1;
    find_fewest();
    for (size_t steps = 1; steps <= MOST; steps += steps < 12 ? 1 : 6)
        for (size_t stored = 1; stored <= steps; stored++) {
            loop l = {k, steps, stored, 0};
            assert_int_equal(wg_vjp(tape, scan, &l, 6 + steps, x, 4 + 2 * steps, w, NULL, g),
                             WG_OK);
            /* the recording itself goes to the end, one step further than the adjoint needs */
            const size_t expected = fewest[steps][stored] + 1 + steps;
            if (l.calls != expected)
                fail_msg("%zu steps, %zu states: %zu evaluations, not %zu", steps, stored,
                         l.calls, expected);
        }
    wg_callable_free(k);
}

static void sweeps_can_be_repeated(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + STEPS], g[3][6 + STEPS];
    wg_real v[6 + STEPS], y[4 + 2 * STEPS];
    for (size_t i = 0; i < 6 + STEPS; i++) x[i] = number(3 * i + 2);
    for (size_t stored = 1; stored <= STEPS; stored++) {
        loop l = {k, STEPS, stored, 0};
        wg_tape_reset(coded);
        assert_int_equal(wg_inputs(coded, 6 + STEPS, x, v), WG_OK);
        assert_int_equal(scan(coded, 6 + STEPS, v, 4 + 2 * STEPS, y, &l), WG_OK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(wg_reverse(coded, y[3]), WG_OK);
            assert_int_equal(wg_adjoints(coded, 6 + STEPS, v, g[again]), WG_OK);
        }
        assert_memory_equal(g[0], g[1], sizeof g[0]);
        for (size_t i = 0; i < 6 + STEPS; i++) x[i] = -x[i];
        assert_int_equal(wg_tape_replay(coded, 6 + STEPS, v, x), WG_OK);
        assert_int_equal(wg_reverse(coded, y[3]), WG_OK);
        assert_int_equal(wg_adjoints(coded, 6 + STEPS, v, g[0]), WG_OK);
        const double value = wg_tape_value(coded, y[3]);
        double again[4 + 2 * STEPS], seed[4 + 2 * STEPS] = {0};
        seed[3] = 1;
        assert_int_equal(wg_vjp(tape, scan, &l, 6 + STEPS, x, 4 + 2 * STEPS, seed, again, g[1]),
                         WG_OK);
        assert_true(value == again[3]);
        assert_memory_equal(g[0], g[1], sizeof g[0]);
    }
    wg_callable_free(k);
}

static void scans_have_tangents_and_lanes(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    enum { N = 6 + STEPS, M = 4 + 2 * STEPS };
    double x[N], y[M], jv[M];
    static double jac[2][M * N];
    wg_check found;
    for (size_t i = 0; i < N; i++) x[i] = number(3 * i + 2);
    for (size_t stored = 2; stored <= STEPS; stored += 5) {
        loop l = {k, STEPS, stored, 0};
        if (wg_check_gradient(tape, scan, &l, N, x, M, &found) != WG_OK)
            fail_msg("%s", wg_tape_message(tape));
        for (int which = 0; which < 2; which++)
            assert_int_equal(wg_jacobian(tape, which ? unrolled : scan, &l, N, x, M, y,
                                         WG_ROW_MAJOR, jac[which], N),
                             WG_OK);
        for (size_t i = 0; i < M * N; i++) assert_near(jac[0][i], jac[1][i]);
        assert_int_equal(wg_jvp(tape, scan, &l, N, x, x, M, y, jv), WG_OK);
        for (size_t j = 0; j < M; j++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++) sum += jac[1][j * N + i] * x[i];
            assert_near(jv[j], sum);
        }
    }
    wg_callable_free(k);
}

/* ---- grids ------------------------------------------------------------------------------- */

/* Neighbours of a point, weights of a shared parameter, data per cell, and a norm. */
enum { NEIGHBOURS = 7 };
static const ptrdiff_t offset[NEIGHBOURS][3] = {{0, 0, 0},  {-1, 0, 0}, {2, 0, 0},  {0, 1, 0},
                                                {1, -2, 0}, {0, 0, 1},  {-3, 1, -1}};
static const char *const name[NEIGHBOURS] = {"a", "b", "c", "d", "e", "f", "g"};

/* x: two entries of every neighbour, w (3x1), k, f; y: v (2x1), s, kept. */
static wg_status cell(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    const wg_real *const w = x + 2 * NEIGHBOURS;
    wg_real u = x[0], v = x[1];
    for (size_t i = 1; i < NEIGHBOURS; i++) {
        u = wg_let(t, wg_add(u, wg_mul(wg_mul(w[i % 3], x[2 * i]), 0.125)));
        v = wg_let(t, wg_sub(v, wg_mul(wg_mul(x[2 * i + 1], x[0]), w[(i + 1) % 3])));
    }
    y[0] = wg_let(t, wg_mul(u, wg_mul(x[2 * NEIGHBOURS + 3], 0.5)));
    y[1] = wg_let(t, wg_add(wg_mul(v, 0.25), x[2 * NEIGHBOURS + 4]));
    y[2] = wg_let(t, wg_mul(y[0], y[0]));
    y[3] = wg_let(t, wg_sub(y[1], y[0]));
    return WG_OK;
}

static wg_callable *cell_callable(void) {
    wg_argument a[NEIGHBOURS + 3];
    double x[2 * NEIGHBOURS + 5];
    for (size_t i = 0; i < NEIGHBOURS; i++) a[i] = (wg_argument){name[i], 2, 1, 0};
    a[NEIGHBOURS] = (wg_argument){"w", 3, 1, WG_SHARED};
    a[NEIGHBOURS + 1] = (wg_argument){"k", 1, 1, 0};
    a[NEIGHBOURS + 2] = (wg_argument){"force", 1, 1, WG_PASSIVE};
    const wg_argument y[] = {{"v", 2, 1, 0}, {"s", 1, 1, WG_SUMMED}, {"kept", 1, 1, 0}};
    for (size_t i = 0; i < 2 * NEIGHBOURS + 5; i++) x[i] = number(i);
    return make(cell, NEIGHBOURS + 3, a, x, 3, y);
}

typedef struct grid {
    const wg_callable *k;
    size_t steps;
    wg_scan_options o;
} grid;

static size_t cells_of(const grid *g) { return g->o.cells[0] * g->o.cells[1] * g->o.cells[2]; }

static double force[20000];

/* x: v, w, k of every cell; y: v, sums, kept. */
static wg_status grid_scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    const grid *const g = user;
    const size_t cells = cells_of(g);
    wg_source s[NEIGHBOURS + 3];
    (void)n, (void)m;
    for (size_t i = 0; i < NEIGHBOURS; i++)
        s[i] = wg_from_neighbour("v", offset[i][0], offset[i][1], offset[i][2]);
    const wg_state start = {"v", wg_mat_gather(t, 2, cells, x)};
    s[NEIGHBOURS] = wg_from_matrix(wg_mat_gather(t, 3, 1, x + 2 * cells));
    s[NEIGHBOURS + 1] = wg_from_matrix(wg_mat_gather(t, 1, cells, x + 2 * cells + 3));
    s[NEIGHBOURS + 2] = wg_each_step(wg_from_data(force, 1, 1));
    const wg_stage stage = {g->k, s};
    wg_mat r[3];
    const wg_status status = wg_scan(t, g->steps, 1, &stage, 1, &start, &g->o, r);
    if (status != WG_OK) return status;
    for (size_t i = 0; i < 2 * cells; i++) *y++ = wg_mat_at(r[0], i % 2, i / 2);
    for (size_t i = 0; i < r[1].cols; i++) *y++ = wg_mat_at(r[1], 0, i);
    for (size_t i = 0; i < cells * g->steps; i++) *y++ = wg_mat_at(r[2], 0, i);
    return WG_OK;
}

/* The place that stands at i of n; n: outside of it there are zeros. */
static size_t beyond(wg_boundary b, size_t n, ptrdiff_t i) {
    if (i >= 0 && i < (ptrdiff_t)n) return (size_t)i;
    if (b == WG_ZERO_OUTSIDE) return n;
    if (b == WG_CLAMPED) return i < 0 ? 0 : n - 1;
    while (i < 0) i += (ptrdiff_t)n;
    return (size_t)i % n;
}

static wg_status grid_unrolled(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *user) {
    const grid *const g = user;
    const size_t cells = cells_of(g), *const size = g->o.cells;
    wg_real *const v = wg_tape_keep(t, 4 * (cells + 1) * sizeof *v, NULL),
                   a[2 * NEIGHBOURS + 5], b[4];
    (void)n, (void)m;
    if (v == NULL) return wg_tape_status(t);
    wg_real *old = v, *next = v + 2 * cells;
    memcpy(old, x, 2 * cells * sizeof *v);
    wg_real *const sums = y + 2 * cells, *kept = sums + (g->o.sums_by_step ? g->steps : 1);
    sums[0] = wg_constant(0);
    for (size_t s = 0; s < g->steps; s++) {
        wg_real *const sum = g->o.sums_by_step ? sums + s : sums;
        if (g->o.sums_by_step) *sum = wg_constant(0);
        for (size_t c = 0; c < cells; c++) {
            const size_t place[3] = {c % size[0], c / size[0] % size[1], c / size[0] / size[1]};
            for (size_t i = 0; i < NEIGHBOURS; i++) {
                size_t from = 0, inside = 1;
                for (int d = 3; d-- > 0;) {
                    const size_t p =
                        beyond(g->o.boundary[d], size[d], (ptrdiff_t)place[d] + offset[i][d]);
                    if (p == size[d]) inside = 0;
                    from = from * size[d] + p;
                }
                a[2 * i] = inside ? old[2 * from] : wg_constant(0);
                a[2 * i + 1] = inside ? old[2 * from + 1] : wg_constant(0);
            }
            for (size_t i = 0; i < 3; i++) a[2 * NEIGHBOURS + i] = x[2 * cells + i];
            a[2 * NEIGHBOURS + 3] = x[2 * cells + 3 + c];
            a[2 * NEIGHBOURS + 4] = wg_constant(force[s * cells + c]);
            const wg_status status = cell(t, 0, a, 0, b, NULL);
            if (status != WG_OK) return status;
            next[2 * c] = b[0], next[2 * c + 1] = b[1];
            *sum = wg_let(t, wg_add(*sum, b[2]));
            *kept++ = b[3];
        }
        wg_real *const swap = old;
        old = next;
        next = swap;
    }
    memcpy(y, old, 2 * cells * sizeof *y);
    return WG_OK;
}

static void stencils_on_grids_are_the_same_as_cell_by_cell(void **state) {
    (void)state;
    static double x[9000], y[2][20000], g[2][9000], w[20000], first[9000];
    wg_callable *const k = cell_callable();
    for (size_t i = 0; i < 20000; i++) force[i] = 0.1 * number(i), w[i] = number(3 * i);
    for (size_t i = 0; i < 9000; i++) x[i] = 0.5 * number(i + 4);
    static const size_t shapes[][3] = {{7, 1, 1},   {1, 1, 1},   {260, 1, 1}, {5, 4, 3},
                                       {200, 3, 2}, {1, 6, 2},   {30, 90, 1}, {13, 1, 1},
                                       {8, 4, 2},   {2600, 1, 1}};
    for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++)
        for (int b = 0; b < 4; b++)
            for (size_t stored = 1; stored < 4; stored++) {
                grid q = {.k = k, .steps = 3};
                memcpy(q.o.cells, shapes[j], sizeof q.o.cells);
                for (int d = 0; d < 3; d++)
                    q.o.boundary[d] = (wg_boundary)((b + d * (b == 3)) % 3);
                q.o.stored = stored;
                q.o.sums_by_step = b & 1;
                q.o.threads = pool_of(stored == 3 ? 2 : 0);
                const size_t c = cells_of(&q), n = 3 * c + 3,
                             m = 2 * c + (b & 1 ? q.steps : 1) + c * q.steps;
                assert_true(n <= 9000 && m <= 20000);
                if (wg_vjp(tape, grid_scan, &q, n, x, m, w, y[0], g[0]) != WG_OK)
                    fail_msg("%s", wg_tape_message(tape));
                if (stored > 1) {
                    assert_memory_equal(first, g[0], (2 * c) * sizeof *first);
                    continue;
                }
                memcpy(first, g[0], sizeof first);
                assert_int_equal(wg_vjp(tape, grid_unrolled, &q, n, x, m, w, y[1], g[1]),
                                 WG_OK);
                for (size_t i = 0; i < 2 * c; i++) assert_true(y[0][i] == y[1][i]);
                for (size_t i = 2 * c; i < m; i++) {
                    if (i < m - c * q.steps)
                        assert_true(fabs(y[0][i] - y[1][i]) <=
                                    TOL_ORDER_ULP * DBL_EPSILON * 100 * (double)c);
                    else assert_true(y[0][i] == y[1][i]);
                }
                double most = 0;
                for (size_t i = 0; i < n; i++) most = fmax(most, fabs(g[1][i]));
                for (size_t i = 0; i < n; i++)
                    if (!(fabs(g[0][i] - g[1][i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * most))
                        fail_msg("%zux%zux%zu, boundary %d, entry %zu: %.17g and %.17g",
                                 shapes[j][0], shapes[j][1], shapes[j][2], b, i, g[0][i],
                                 g[1][i]);
            }
    wg_callable_free(k);
}

static void grids_have_tangents_and_lanes(void **state) {
    (void)state;
    wg_callable *const k = cell_callable();
    enum { C = 12, N = 3 * C + 3, M = 2 * C + 1 + 2 * C };
    static double x[N], y[M], jac[2][M * N];
    wg_check found;
    grid q = {.k = k, .steps = 2};
    q.o = (wg_scan_options){{4, 3, 1}, {WG_PERIODIC, WG_CLAMPED, WG_ZERO_OUTSIDE}, 1, NULL, 0};
    for (size_t i = 0; i < N; i++) x[i] = 0.5 * number(i + 4);
    if (wg_check_gradient(tape, grid_scan, &q, N, x, M, &found) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    for (int which = 0; which < 2; which++)
        assert_int_equal(wg_jacobian(tape, which ? grid_unrolled : grid_scan, &q, N, x, M, y,
                                     WG_COL_MAJOR, jac[which], M),
                         WG_OK);
    for (size_t i = 0; i < M * N; i++) assert_near(jac[0][i], jac[1][i]);
    wg_callable_free(k);
}

/* ---- grids of fields and shared parameters only -------------------------------------------
 */

static const ptrdiff_t beside[5][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 2, 1}};

/* x: the cell and its neighbours, w (2x1); y: u. */
static wg_status diffuse(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    wg_real sum = x[0];
    (void)n, (void)m, (void)user;
    for (size_t i = 1; i < 5; i++) sum = wg_let(t, wg_add(sum, wg_mul(x[i], x[5 + i % 2])));
    y[0] = wg_let(t, wg_mul(wg_sqrt(wg_add(wg_mul(sum, sum), 1)), wg_add(x[0], x[6])));
    return WG_OK;
}

/* x: u, w; y: u. */
static wg_status fields_scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *user) {
    const grid *const g = user;
    wg_source s[6];
    (void)n;
    for (size_t i = 0; i < 5; i++)
        s[i] = wg_from_neighbour("a", beside[i][0], beside[i][1], beside[i][2]);
    s[5] = wg_from_matrix(wg_mat_gather(t, 2, 1, x + m));
    const wg_state start = {"a", wg_mat_gather(t, m, 1, x)};
    const wg_stage stage = {g->k, s};
    wg_mat r;
    const wg_status status = wg_scan(t, g->steps, 1, &stage, 1, &start, &g->o, &r);
    for (size_t i = 0; status == WG_OK && i < m; i++) y[i] = wg_mat_at(r, i, 0);
    return status;
}

static wg_status fields_unrolled(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *user) {
    const grid *const g = user;
    const size_t *const size = g->o.cells;
    wg_real *const old = wg_tape_keep(t, m * sizeof *old, NULL), a[7];
    (void)n;
    if (old == NULL) return wg_tape_status(t);
    memcpy(y, x, m * sizeof *y);
    a[5] = x[m], a[6] = x[m + 1];
    for (size_t s = 0; s < g->steps; s++) {
        memcpy(old, y, m * sizeof *y);
        for (size_t c = 0; c < m; c++) {
            const size_t place[3] = {c % size[0], c / size[0] % size[1], c / size[0] / size[1]};
            for (size_t i = 0; i < 5; i++) {
                size_t from = 0, inside = 1;
                for (int d = 3; d-- > 0;) {
                    const size_t p =
                        beyond(g->o.boundary[d], size[d], (ptrdiff_t)place[d] + beside[i][d]);
                    if (p == size[d]) inside = 0;
                    from = from * size[d] + p;
                }
                a[i] = inside ? old[from] : wg_constant(0);
            }
            const wg_status status = diffuse(t, 7, a, 1, &y[c], NULL);
            if (status != WG_OK) return status;
        }
    }
    return WG_OK;
}

static void lines_are_done_with_the_rim_between_them(void **state) {
    (void)state;
    static double x[9000], y[2][9000], g[2][9000], w[9000];
    wg_argument a[6];
    for (size_t i = 0; i < 5; i++) a[i] = (wg_argument){name[i], 1, 1, 0};
    a[5] = (wg_argument){"w", 2, 1, WG_SHARED};
    wg_callable *const k = make(diffuse, 6, a, at, 1, (wg_argument[]){{"a", 1, 1, 0}});
    for (size_t i = 0; i < 9000; i++) x[i] = 0.25 * number(i + 4), w[i] = number(3 * i);
    static const size_t shapes[][3] = {{20, 7, 1}, {16, 5, 4}, {40, 210, 1}, {17, 1, 6},
                                       {8, 9, 1},  {98, 1, 1}, {4100, 1, 1}};
    for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++)
        for (int b = 0; b < 3; b++)
            for (size_t stored = 1; stored < 4; stored++) {
                grid q = {.k = k, .steps = 3};
                memcpy(q.o.cells, shapes[j], sizeof q.o.cells);
                for (int d = 0; d < 3; d++) q.o.boundary[d] = (wg_boundary)((b + d) % 3);
                q.o.stored = stored;
                const size_t m = cells_of(&q), n = m + 2;
                if (wg_vjp(tape, fields_scan, &q, n, x, m, w, y[0], g[0]) != WG_OK)
                    fail_msg("%s", wg_tape_message(tape));
                if (stored == 1)
                    assert_int_equal(wg_vjp(tape, fields_unrolled, &q, n, x, m, w, y[1], g[1]),
                                     WG_OK);
                for (size_t i = 0; i < m; i++) assert_true(y[0][i] == y[1][i]);
                for (size_t i = 0; i < m; i++) assert_near(g[0][i] / 8, g[1][i] / 8);
                for (size_t i = m; i < n; i++)
                    if (!(fabs(g[0][i] - g[1][i]) <=
                          TOL_ORDER_ULP * DBL_EPSILON * 3 * (double)m * (1 + fabs(g[1][i]))))
                        fail_msg("%zu cells: %.17g and %.17g", m, g[0][i], g[1][i]);
            }
    enum { N = 2 * 16 * 3 + 2, M = N - 2 };
    wg_check found;
    grid q = {.k = k, .steps = 2};
    q.o = (wg_scan_options){{16, 3, 2}, {WG_PERIODIC, WG_ZERO_OUTSIDE, WG_CLAMPED}, 0, NULL, 0};
    if (wg_check_gradient(tape, fields_scan, &q, N, x, M, &found) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    wg_callable_free(k);
}

/* ---- stages ------------------------------------------------------------------------------ */

/* A flux between cells, the update of u by it, of v by the new u, and the mean of both. */
static wg_status flux(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(wg_mul(wg_add(x[0], x[1]), wg_sub(x[0], x[1])), x[2]));
    return WG_OK;
}
static wg_status update_u(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(x[0], wg_mul(wg_sub(x[1], x[2]), x[3])));
    return WG_OK;
}
static wg_status update_v(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_sub(wg_mul(x[0], x[1]), wg_mul(x[2], 0.125)));
    y[1] = wg_let(t, wg_mul(wg_mul(y[0], x[1]), 0.0625));
    return WG_OK;
}

typedef struct staged {
    const wg_callable *flux, *u, *v;
    size_t cells, steps, stored;
} staged;

/* x: u, v, the mean, c; y: u, v, the mean. */
static wg_status stages_scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *user) {
    const staged *const q = user;
    const size_t c = q->cells;
    (void)n, (void)m;
    const wg_state states[] = {{"u", wg_mat_gather(t, c, 1, x)},
                               {"v", wg_mat_gather(t, 1, c, x + c)},
                               {"mean", wg_mat_gather(t, 1, 1, x + 2 * c)}};
    const wg_mat k = wg_mat_gather(t, 1, 1, x + 2 * c + 1);
    const wg_source a[] = {wg_from_state("u"), wg_from_neighbour("u", 1, 0, 0),
                           wg_from_state("mean")};
    const wg_source b[] = {wg_from_state("u"), wg_from_neighbour("flux", -1, 0, 0),
                           wg_from_state("flux"), wg_from_matrix(k)};
    const wg_source d[] = {wg_from_state("v"), wg_from_next("u", 1, 0, 0),
                           wg_from_next("u", -2, 0, 0)};
    const wg_stage stage[] = {{q->flux, a}, {q->u, b}, {q->v, d}};
    const wg_scan_options o = {.cells = {c}, .stored = q->stored};
    wg_mat r[3];
    const wg_status status = wg_scan(t, q->steps, 3, stage, 3, states, &o, r);
    if (status != WG_OK) return status;
    for (size_t i = 0; i < c; i++)
        y[i] = wg_mat_at(r[0], i, 0), y[c + i] = wg_mat_at(r[1], 0, i);
    y[2 * c] = wg_mat_at(r[2], 0, 0);
    return WG_OK;
}

enum { MOST_CELLS = 300 };
static wg_status stages_unrolled(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *user) {
    const staged *const q = user;
    const size_t c = q->cells;
    static wg_real u[2][MOST_CELLS], v[2][MOST_CELLS], f[MOST_CELLS];
    wg_real mean = x[2 * c];
    (void)n, (void)m;
    for (size_t i = 0; i < c; i++) u[0][i] = x[i], v[0][i] = x[c + i];
    for (size_t s = 0; s < q->steps; s++) {
        const size_t a = s % 2, b = 1 - a;
        for (size_t i = 0; i < c; i++)
            (void)flux(t, 3, (wg_real[]){u[a][i], u[a][(i + 1) % c], mean}, 1, &f[i], NULL);
        for (size_t i = 0; i < c; i++)
            (void)update_u(t, 4, (wg_real[]){u[a][i], f[(i + c - 1) % c], f[i], x[2 * c + 1]},
                           1, &u[b][i], NULL);
        mean = wg_constant(0);
        for (size_t i = 0; i < c; i++) {
            wg_real r[2];
            (void)update_v(t, 3,
                           (wg_real[]){v[a][i], u[b][(i + 1) % c], u[b][(i + 2 * c - 2) % c]},
                           2, r, NULL);
            v[b][i] = r[0];
            mean = wg_let(t, wg_add(mean, r[1]));
        }
    }
    for (size_t i = 0; i < c; i++) y[i] = u[q->steps % 2][i], y[c + i] = v[q->steps % 2][i];
    y[2 * c] = mean;
    return WG_OK;
}

static void stages_read_what_earlier_stages_leave(void **state) {
    (void)state;
    const wg_argument a[] = {{"l", 1, 1, 0}, {"r", 1, 1, 0}, {"mean", 1, 1, WG_SHARED}};
    const wg_argument b[] = {
        {"u", 1, 1, 0}, {"in", 1, 1, 0}, {"out", 1, 1, 0}, {"k", 1, 1, WG_SHARED}};
    const wg_argument d[] = {{"v", 1, 1, 0}, {"right", 1, 1, 0}, {"left", 1, 1, 0}};
    const wg_argument fy = {"flux", 1, 1, 0}, uy = {"u", 1, 1, 0},
                      vy[] = {{"v", 1, 1, 0}, {"mean", 1, 1, WG_SUMMED}};
    staged q = {make(flux, 3, a, at, 1, &fy),
                make(update_u, 4, b, at, 1, &uy),
                make(update_v, 3, d, at, 2, vy),
                0,
                0,
                0};
    enum { N = 2 * MOST_CELLS + 2 };
    static double x[N], y[2][N], g[2][N], first[N], w[N];
    wg_check found;
    for (size_t i = 0; i < N; i++) x[i] = 0.5 * number(5 * i + 1), w[i] = number(i);
    const size_t sizes[] = {1, 2, 9, 300};
    for (size_t j = 0; j < 4; j++)
        for (size_t stored = 0; stored <= 5; stored++) {
            q.cells = sizes[j], q.steps = 5, q.stored = stored;
            const size_t n = 2 * q.cells + 2, m = n - 1;
            if (wg_vjp(tape, stages_scan, &q, n, x, m, w, y[0], g[0]) != WG_OK)
                fail_msg("%s", wg_tape_message(tape));
            assert_int_equal(wg_vjp(tape, stages_unrolled, &q, n, x, m, w, y[1], g[1]), WG_OK);
            for (size_t i = 0; i < m; i++) assert_near(y[0][i], y[1][i]);
            for (size_t i = 0; i < n; i++) assert_near(g[0][i] / 64, g[1][i] / 64);
            if (stored == 0) memcpy(first, g[0], sizeof first);
            assert_memory_equal(first, g[0], n * sizeof *first);
            if (stored == 2 && j == 2 &&
                wg_check_gradient(tape, stages_scan, &q, n, x, m, &found) != WG_OK)
                fail_msg("%s", wg_tape_message(tape));
        }
    wg_callable_free((wg_callable *)(uintptr_t)q.flux);
    wg_callable_free((wg_callable *)(uintptr_t)q.u);
    wg_callable_free((wg_callable *)(uintptr_t)q.v);
}

/* ---- a long loop ------------------------------------------------------------------------- */

static wg_status logistic(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(wg_mul(x[0], x[1]), wg_mul(x[2], 1e-3)));
    return WG_OK;
}

static wg_status count_step(size_t first, size_t count, double *to, void *user) {
    ++*(size_t *)user;
    (void)count;
    to[0] = (double)(first % 5);
    return WG_OK;
}

static void a_million_steps_go_into_the_memory_of_three_hundred_states(void **state) {
    (void)state;
    enum { LONG = 1000000, STORED = 300, SIZE = 64 };
    const wg_argument a[] = {
        {"q", 1, 1, 0}, {"p", 1, 1, WG_SHARED}, {"d", 1, 1, WG_PASSIVE | WG_SHARED}};
    const wg_argument y = {"q", 1, 1, 0};
    wg_callable *const k = make(logistic, 3, a, at, 1, &y);
    wg_tape *const t = wg_tape_new(NULL);
    size_t calls = 0;
    double q[SIZE], p = 0.999999, g = 0, expected = 0, value = 0;
    for (size_t i = 0; i < SIZE; i++) q[i] = 1;
    const wg_mat mp = wg_mat_input(t, 1, 1, &p, 1);
    const wg_state s = {"q", wg_mat_input(t, 1, SIZE, q, 1)};
    const wg_source x[] = {wg_from_state("q"), wg_from_matrix(mp),
                           wg_each_step(wg_from_fill(count_step, &calls))};
    const wg_stage stage = {k, x};
    const wg_scan_options o = {.cells = {SIZE}, .stored = STORED};
    wg_mat r;
    wg_stats before, after;
    assert_int_equal(wg_tape_stats(t, &before), WG_OK);
    assert_int_equal(wg_scan(t, LONG, 1, &stage, 1, &s, &o, &r), WG_OK);
    assert_int_equal(wg_mat_reverse(t, r, NULL, 1), WG_OK);
    assert_int_equal(wg_tape_stats(t, &after), WG_OK);
    assert_true(after.payload_bytes - before.payload_bytes < (STORED + 20) * SIZE * 8);
    assert_true(after.committed_bytes < before.committed_bytes + (1 << 20));
    assert_int_equal(after.records, before.records + 1);
    /* r = 3: C(302, 2) < 10^6 <= C(303, 3); t = r l - C(c + r, r - 1) */
    const size_t again = 3 * (size_t)LONG - 303 * 302 / 2;
    assert_int_equal(calls, again + 1 + LONG);
    assert_int_equal(wg_mat_adjoint(t, mp, &g, 1), WG_OK);
    value = 1;
    for (size_t i = 0; i < LONG; i++) {
        expected = expected * p + value;
        value = value * p + (double)(i % 5) * 1e-3;
    }
    assert_true(r.value[7] == value);
    assert_true(fabs(g - SIZE * expected) < 1e-9 * g);
    wg_tape_free(t);
    wg_callable_free(k);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static wg_status guarded(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_lt(t, x[0], wg_constant(5)) ? wg_let(t, wg_add(x[0], 1)) : x[0];
    return WG_OK;
}

static void a_guard_is_named_with_step_and_cell(void **state) {
    (void)state;
    const wg_argument q = {"q", 1, 1, 0};
    wg_callable *const k = make(guarded, 1, &q, at, 1, &q);
    const double x[3] = {0, 2.5, 1};
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 3, 1, x, 3);
    const wg_mark before = wg_tape_mark(tape);
    const wg_state s = {"q", a};
    const wg_source from = wg_from_state("q");
    const wg_stage stage = {k, &from};
    const wg_scan_options o = {.cells = {3}};
    wg_mat r;
    assert_int_equal(wg_scan(tape, 10, 1, &stage, 1, &s, &o, &r), WG_EGUARD);
    assert_message(tape, "wg_scan");
    assert_message(tape, "guard 0 of stage 0 came out differently in step 3, cell 1");
    assert_true(r.value == NULL);
    assert_int_equal(wg_tape_rewind(tape, before), WG_OK);
    assert_int_equal(wg_scan(tape, 3, 1, &stage, 1, &s, &o, &r), WG_OK);
    assert_true(r.value[1] == 5.5);
    wg_callable_free(k);
}

/* Of a cell and its neighbour: three terms, in a loop that compares. */
enum { ALONG = 16, DOWN = 4, ALL = ALONG * DOWN };
static wg_status compared(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_gt(t, x[0], wg_constant(0.5)) ? wg_let(t, wg_mul(x[0], x[1])) : wg_constant(0);
    return WG_OK;
}
static wg_status three_terms(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *user) {
    const wg_real own[3] = {x[0], x[0], x[0]};
    const wg_source from[] = {wg_from_matrix(wg_mat_gather(t, 1, 3, own)),
                              wg_from_matrix(wg_mat_gather(t, 1, 1, x + 1))};
    wg_mat sum;
    (void)n, (void)m;
    const wg_status s = wg_map(t, user, 3, from, NULL, &sum);
    if (s == WG_OK) y[0] = wg_let(t, wg_add(1, wg_mul(0.1, wg_mat_at(sum, 0, 0))));
    return s;
}

static const wg_source ahead[] = {{.kind = WGI_FROM_STATE, .name = "u"},
                                  {.kind = WGI_FROM_STATE, .name = "u", .offset = {1, 0, 0}}};
static wg_status march(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    const wg_stage stage = {user, ahead};
    const wg_state state = {"u", wg_mat_gather(t, 1, ALL, x)};
    const wg_scan_options o = {.cells = {ALONG, DOWN}, .boundary = {WG_ZERO_OUTSIDE}};
    wg_mat r;
    (void)n;
    const wg_status s = wg_scan(t, 3, 1, &stage, 1, &state, &o, &r);
    for (size_t j = 0; s == WG_OK && j < m; j++) y[j] = wg_mat_at(r, 0, j);
    return s;
}

/* Beyond the cells a comparison may come out as it likes. */
static void comparisons_in_loops_of_a_stage_are_those_of_its_cells(void **state) {
    const wg_options looping = {.flags = WG_KEEP_CODE, .loops_over = 1};
    wg_tape *const t = wg_tape_new(&looping);
    wg_argument a[] = {{"a", 1, 1, 0}, {"b", 1, 1, WG_SHARED}};
    const wg_argument sum = {"sum", 1, 1, WG_SUMMED}, u = {"u", 1, 1, 0};
    wg_function *f = NULL, *g[2] = {NULL, NULL};
    wg_callable *term = NULL, *k[3] = {NULL, NULL, NULL};
    double x[ALL], y[ALL], w[ALL], got[3][ALL];
    (void)state;
    assert_non_null(t);
    assert_int_equal(wg_function_record(t, compared, NULL, 2, a, at, 1, &sum, &f), WG_OK);
    assert_int_equal(wg_callable_new(t, f, &term), WG_OK);
    wg_function_free(f);
    a[0].flags = WG_PASSIVE, a[1].flags = 0;
    for (size_t i = 0; i < 2; i++) { /* with the loop, and written out */
        assert_int_equal(
            wg_function_record(i == 0 ? t : coded, three_terms, term, 2, a, at, 1, &u, &g[i]),
            WG_OK);
        assert_int_equal(wg_callable_new(t, g[i], &k[i]), WG_OK);
        wg_function_free(g[i]);
    }
    assert_int_equal(wg_callable_stencil(t, k[0], ahead, &k[2]), WG_OK);
    for (size_t i = 0; i < ALL; i++) x[i] = 0.8 + 0.01 * (double)i, w[i] = number(i);
    for (size_t i = 0; i < 3; i++)
        if (wg_vjp(tape, march, k[i], ALL, x, ALL, w, y, got[i]) != WG_OK)
            fail_msg("%zu: %s", i, wg_tape_message(tape));
    for (size_t i = 0; i < ALL; i++) {
        assert_near(got[0][i], got[1][i]);
        assert_near(got[2][i], got[1][i]);
    }
    for (size_t i = 0; i < 3; i++) wg_callable_free(k[i]);
    wg_callable_free(term);
    wg_tape_free(t);
}

static void refusals_name_the_call_the_argument_and_both_shapes(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    static const double numbers[40];
    wg_mat y[8];
#define REFUSED(expected, part, ...)                                                           \
    do {                                                                                       \
        wg_tape_reset(tape);                                                                   \
        const wg_mat q = wg_mat_input(tape, 2, 1, numbers, 2);                                 \
        const wg_mat p = wg_mat_input(tape, 3, 1, numbers, 3);                                 \
        const wg_mat u = wg_mat_fill(tape, 1, 4, 0), one = wg_mat_fill(tape, 1, 1, 0);         \
        wg_state z[] = {{"q", q}, {"r", one}, {"s", one}};                                     \
        wg_source s[] = {wg_from_state("q"), wg_from_matrix(p),                                \
                         wg_each_step(wg_from_matrix(u)), wg_from_state("r"),                  \
                         wg_from_data(numbers, 0, 1)};                                         \
        wg_stage g[] = {{k, s}, {k, s}};                                                       \
        wg_scan_options o = {.stored = 1};                                                     \
        (void)z, (void)g, (void)o;                                                             \
        assert_int_equal((__VA_ARGS__), expected);                                             \
        assert_message(tape, part);                                                            \
        assert_true(y[0].value == NULL && y[1].value == NULL);                                 \
    } while (0)
    REFUSED(WG_OK, "",
            (wg_scan(tape, 4, 1, g, 2, z, &o, y), y[0].value = y[1].value = NULL, WG_OK));
    REFUSED(WG_ESHAPE, "input u of stage 0 is 1x4, not 1x1 for 5 points",
            wg_scan(tape, 5, 1, g, 2, z, &o, y));
    REFUSED(WG_ESHAPE, "state q is 3x1, an output of 2x1 at 1 cells",
            (z[0].start = p, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ESHAPE, "input p of stage 0 is 2x1, not 3x1",
            (s[1] = wg_from_matrix(q), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ESHAPE, "input p of stage 0 is 3x1, q has 2 entries",
            (s[1] = wg_from_state("q"), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "has the name nobody",
            (s[1] = wg_from_state("nobody"), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "no new state and no output",
            (s[0] = wg_from_next("q", 0, 0, 0), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "state t is an output of no stage",
            (z[1].name = "t", wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "state q is an output of two stages", wg_scan(tape, 4, 2, g, 2, z, &o, y));
    REFUSED(WG_EARG, "two states have the name q",
            (z[1].name = "q", wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "the name of state 1",
            (z[1].name = NULL, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "input q of stage 0: a name is NULL",
            (s[0].name = NULL, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "input d of stage 0: the data are NULL",
            (s[4] = wg_from_data(NULL, 0, 0), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "input d of stage 0: the callback is NULL",
            (s[4] = wg_from_fill(NULL, NULL), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "the callable of stage 0 is NULL",
            (g[0].f = NULL, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "the 5 inputs of stage 0 are NULL",
            (g[0].x = NULL, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "stages or 2 states are NULL", wg_scan(tape, 4, 1, NULL, 2, z, &o, y));
    REFUSED(WG_ENULL, "the 4 results are NULL", wg_scan(tape, 4, 1, g, 2, z, &o, NULL));
    REFUSED(WG_EARG, "input r of stage 0 is shared, r has one value per cell",
            (o.cells[0] = 3, z[0].start = wg_mat_fill(tape, 2, 3, 0),
             z[1].start = wg_mat_fill(tape, 1, 3, 0), s[2] = wg_from_data(numbers, 0, 0),
             wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "cells are too many",
            (o.cells[0] = o.cells[1] = 1 << 20, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "is no boundary",
            (o.boundary[1] = (wg_boundary)7, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "s has no neighbour at 1",
            (s[3] = wg_from_neighbour("s", 1, 0, 0), wg_scan(tape, 4, 1, g, 3, z, &o, y)));
#undef REFUSED
    assert_int_equal(wg_scan(NULL, 1, 0, NULL, 0, NULL, NULL, y), WG_ENULL);
    /* no states, no stages: nothing */
    wg_tape_reset(tape);
    assert_int_equal(wg_scan(tape, 3, 0, NULL, 0, NULL, NULL, NULL), WG_OK);
    wg_callable_free(k);
}

/* ---- memory ------------------------------------------------------------------------------ */

static void repeated_recordings_do_not_grow(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + STEPS], g[6 + STEPS], w[4 + 2 * STEPS];
    uint64_t calls = 0;
    for (size_t i = 0; i < 6 + STEPS; i++) x[i] = number(3 * i + 2);
    for (size_t i = 0; i < 4 + 2 * STEPS; i++) w[i] = 1;
    for (int again = 0; again < 20; again++) {
        loop l = {k, STEPS, 4, 0};
        wg_stats s;
        assert_int_equal(wg_vjp(tape, scan, &l, 6 + STEPS, x, 4 + 2 * STEPS, w, NULL, g),
                         WG_OK);
        assert_int_equal(wg_tape_stats(tape, &s), WG_OK);
        if (again == 0) calls = s.memory_calls;
        assert_int_equal(s.memory_calls, calls);
    }
    wg_callable_free(k);
}

static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + STEPS], g[6 + STEPS], w[4 + 2 * STEPS];
    for (size_t i = 0; i < 6 + STEPS; i++) x[i] = number(3 * i + 2);
    for (size_t i = 0; i < 4 + 2 * STEPS; i++) w[i] = 1;
    wg_status got = WG_ENOMEM;
    for (size_t fail_at = 2; got != WG_OK; fail_at++) {
        struct counted memory = counted_start();
        const wg_options opt = {.memory = counted_memory(&memory), .reserve = 1 << 16};
        loop l = {k, STEPS, 4, 0};
        assert_true(fail_at < 1000);
        memory.fail_at = fail_at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&opt);
        assert_non_null(t);
        g[0] = -77;
        got = wg_vjp(t, scan, &l, 6 + STEPS, x, 4 + 2 * STEPS, w, NULL, g);
        if (got != WG_OK) {
            assert_int_equal(got, WG_ENOMEM);
            assert_true(g[0] == -77 && wg_tape_message(t)[0] != 0);
            memory.fail_at = SIZE_MAX;
            memory.fail_on = 0;
            assert_int_equal(wg_vjp(t, scan, &l, 6 + STEPS, x, 4 + 2 * STEPS, w, NULL, g),
                             WG_OK);
        }
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
    wg_callable_free(k);
}

/* ---- compiled functions ------------------------------------------------------------------ */

static wg_status roots(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    const wg_real once = wg_let(t, wg_div(wg_square(x[4]), 3)); /* for all cells */
    y[0] = wg_let(t, wg_add(wg_sqrt(x[0]), wg_mul(wg_add(x[1], x[2]), wg_mul(x[3], once))));
    return WG_OK;
}

/* x: u, k of each step; y: u. */
static wg_status roots_scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    static const double share = 1.3;
    const grid *const g = user;
    const wg_source s[] = {
        wg_from_state("u"), wg_from_neighbour("u", -1, 0, 0), wg_from_neighbour("u", 1, 0, 0),
        wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, m * g->steps, x + m))),
        wg_from_data(&share, 0, 1)};
    const wg_state start = {"u", wg_mat_gather(t, m, 1, x)};
    const wg_stage stage = {g->k, s};
    wg_mat r;
    (void)n;
    const wg_status status = wg_scan(t, g->steps, 1, &stage, 1, &start, &g->o, &r);
    for (size_t i = 0; status == WG_OK && i < m; i++) y[i] = wg_mat_at(r, i, 0);
    return status;
}

/* Slopes are infinite where roots are 0; where such a root weighs nothing that is nothing. */
static void compiled_adjoints_of_zero_meet_infinite_slopes(void) {
    enum { CELLS = 43, LOOPS = 3, N = CELLS * (LOOPS + 1) };
    const wg_argument a[] = {{"u", 1, 1, 0},
                             {"l", 1, 1, 0},
                             {"r", 1, 1, 0},
                             {"k", 1, 1, 0},
                             {"d", 1, 1, WG_SHARED | WG_PASSIVE}};
    const char *const where = compile_to;
    double x[N], w[CELLS], y[2][CELLS], g[2][N];
    for (size_t i = 0; i < N; i++) x[i] = i % 5 == 0 ? 0 : fabs(number(i));
    for (size_t i = 0; i < CELLS; i++) w[i] = i % 5 == 0 || i < 9 ? 0 : number(i);
    for (int b = 0; b < 3; b++) {
        for (int which = 0; which < 2; which++) {
            compile_to = which ? where : NULL;
            grid q = {.k = make(roots, 5, a, at, 1, (wg_argument[]){{"u", 1, 1, 0}}),
                      .steps = LOOPS};
            q.o = (wg_scan_options){{CELLS}, {(wg_boundary)b}, 0, NULL, 0};
            if (wg_vjp(tape, roots_scan, &q, N, x, CELLS, w, y[which], g[which]) != WG_OK)
                fail_msg("%s", wg_tape_message(tape));
            wg_callable_free((wg_callable *)(uintptr_t)q.k);
        }
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        for (size_t i = 0; i < N; i++) assert_true(!isnan(g[0][i]) && g[0][i] == g[1][i]);
    }
}

/* x: q, p (shared, active; one of them not used); y: q, s. Derivatives by p, and of s, are 0.
 */
static wg_status steps_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(wg_sin(x[0]), wg_floor(x[1])));
    y[1] = wg_let(t, wg_floor(x[0]));
    return WG_OK;
}

static wg_status steps_scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    const grid *const g = user;
    const size_t cells = cells_of(g);
    const wg_state start = {"q", wg_mat_gather(t, 1, cells, x + 2)};
    const wg_source s[] = {wg_from_state("q"), wg_from_matrix(wg_mat_gather(t, 2, 1, x))};
    const wg_stage stage = {g->k, s};
    wg_mat r[2];
    (void)n, (void)m;
    const wg_status status = wg_scan(t, g->steps, 1, &stage, 1, &start, &g->o, r);
    for (size_t i = 0; status == WG_OK && i < cells; i++) y[i] = wg_mat_at(r[0], 0, i);
    if (status == WG_OK) y[cells] = wg_mat_at(r[1], 0, 0);
    return status;
}

static void compiled_sums_that_are_numbers_are_given(void) {
    enum { CELLS = 43, N = CELLS + 2, M = CELLS + 1 };
    static const size_t sizes[] = {1, 5, 12, CELLS};
    const wg_argument a[] = {{"q", 1, 1, 0}, {"p", 2, 1, WG_SHARED}},
                      b[] = {{"q", 1, 1, 0}, {"s", 1, 1, WG_SUMMED}};
    grid q = {.k = make(steps_of, 2, a, at, 2, b), .steps = 3};
    double x[N], w[M], ones[N], y[M], g[N], jv[M];
    for (size_t i = 0; i < N; i++) x[i] = 3.25 + (double)i, ones[i] = 1;
    for (size_t i = 0; i < M; i++) w[i] = 1 + (double)i;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t cells = sizes[k];
        q.o = (wg_scan_options){.cells = {cells, 1, 1}};
        for (int again = 0; again < 2; again++) {
            assert_int_equal(wg_vjp(tape, steps_scan, &q, cells + 2, x, cells + 1, w, y, g),
                             WG_OK);
            assert_true(g[0] == 0 && g[1] == 0 && g[2] != 0);
            assert_int_equal(wg_jvp(tape, steps_scan, &q, cells + 2, x, ones, cells + 1, y, jv),
                             WG_OK);
            assert_true(jv[cells] == 0 && jv[0] != 0);
        }
    }
    wg_callable_free((wg_callable *)(uintptr_t)q.k);
}

/* Rims of 2^26 and more places: no size of theirs, nor all of them, is counted modulo 2^64. */
static wg_status spread(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *user) {
    (void)n, (void)user;
    for (size_t i = 0; i < m; i++) y[i] = wg_let(t, wg_mul(x[0], (double)i + 1));
    return WG_OK;
}
static wg_status collect(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    (void)m, (void)user;
    y[0] = wg_let(t, wg_add(x[0], x[1]));
    for (size_t i = 2; i < n; i++) y[0] = wg_let(t, wg_add(y[0], x[i]));
    return WG_OK;
}

static void sizes_beyond_all_memory_are_refused(void **state) {
    (void)state;
    enum { MANY = 128 };
    static char names[MANY][8];
    static wg_argument between[MANY];
    static double x[MANY];
    static wg_source to[MANY];
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "p%d", i);
        between[i] = (wg_argument){names[i], 1, 1, 0};
        to[i] = wg_from_neighbour(names[i], (1 << 26) - 1, i == 0 ? (1 << 28) - 1 : 0, 0);
    }
    const wg_argument q = {"q", 1, 1, 0}, sum = {"s", 1, 1, WG_SUMMED};
    const wg_argument two[] = {{"q", 1, 1, 0}, {"n", 1, 1, 0}};
    wg_callable *const first = make(spread, 1, &q, at, MANY, between),
                       *const last = make(collect, MANY, between, x, 1, &sum),
                       *const alone = make(collect, 2, two, at, 1, &q);
    wg_mat y;
    wg_tape_reset(tape);
    const wg_source from = wg_from_matrix(wg_mat_input(tape, 1, 1, x, 1));
    const wg_stage stages[] = {{first, &from}, {last, to}};
    assert_int_equal(wg_scan(tape, 1, 2, stages, 0, NULL, NULL, &y), WG_ENOMEM);
    assert_non_null(strstr(wg_tape_message(tape), "wg_scan: "));
    assert_non_null(strstr(wg_tape_message(tape), "too large"));
    assert_null(y.value);
    /* one is small enough to be counted, but not as many as are stored */
    wg_tape_reset(tape);
    const wg_source far[] = {wg_from_state("q"), wg_from_neighbour("q", 1 << 26, 1 << 26, 0)};
    const wg_stage stage = {alone, far};
    const wg_state start = {"q", wg_mat_input(tape, 1, 4, at, 1)};
    const wg_scan_options o = {.cells = {4, 1, 1}};
    assert_int_equal(wg_scan(tape, 512, 1, &stage, 1, &start, &o, &y), WG_ENOMEM);
    assert_non_null(strstr(wg_tape_message(tape), "512 states"));
    wg_tape_reset(tape);
    wg_callable_free(first);
    wg_callable_free(last);
    wg_callable_free(alone);
}

/* x = f(x): results may stand where states and matrices are given. */
static void results_may_take_the_place_of_operands(void **state) {
    (void)state;
    const wg_argument q = {"q", 1, 1, 0}, two[] = {{"q", 1, 1, 0}, {"n", 1, 1, 0}};
    wg_callable *const k = make(collect, 2, two, at, 1, &q);
    double x = 3, y = 0, g[2] = {0, 0};
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 1, 1, &x, 1);
    wg_state start = {"q", a};
    wg_source s[] = {wg_from_state("q"), wg_from_matrix(a)};
    const wg_stage stage = {k, s};
    assert_int_equal(wg_scan(tape, 2, 1, &stage, 1, &start, NULL, &start.start), WG_OK);
    assert_int_equal(wg_mat_value(tape, start.start, &y, 1), WG_OK);
    assert_true(y == 9);
    start.start = a;
    assert_int_equal(wg_scan(tape, 2, 1, &stage, 1, &start, NULL, &s[1].matrix), WG_OK);
    assert_int_equal(wg_mat_reverse(tape, s[1].matrix, NULL, 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, a, g, 1), WG_OK);
    assert_true(g[0] == 3);
    /* what fails still gives failed results */
    start.start = wg_mat_fill(tape, 2, 1, 0);
    assert_int_equal(wg_scan(tape, 2, 1, &stage, 1, &start, NULL, &start.start), WG_ESHAPE);
    assert_null(start.start.value);
    wg_tape_reset(tape);
    wg_callable_free(k);
}

/* x: u, k (of all steps), f (of each), d; y: u, and what is summed over the cells. */
static wg_status alone(wg_tape *t, size_t n, const wg_real *a, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(wg_tanh(wg_add(a[0], a[3])), wg_mul(a[1], a[2])));
    y[1] = wg_let(t, wg_mul(y[0], a[1]));
    return WG_OK;
}

static wg_status alone_scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    const grid *const g = user;
    const size_t cells = m - 1;
    const wg_source s[] = {
        wg_from_state("u"), wg_from_matrix(wg_mat_gather(t, 1, cells, x + cells)),
        wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, cells * g->steps, x + 2 * cells))),
        wg_each_step(wg_from_data(force, 1, 1))};
    const wg_state start = {"u", wg_mat_gather(t, cells, 1, x)};
    const wg_stage stage = {g->k, s};
    wg_mat r[2];
    (void)n;
    const wg_status status = wg_scan(t, g->steps, 1, &stage, 1, &start, &g->o, r);
    for (size_t i = 0; status == WG_OK && i < cells; i++) y[i] = wg_mat_at(r[0], i, 0);
    if (status == WG_OK) y[cells] = wg_mat_at(r[1], 0, 0);
    return status;
}

/* Recurrences side by side: lanes beyond the last one leave nothing anywhere. */
static void compiled_cells_without_neighbours(void) {
    enum { LOOPS = 5, MOST_ALONE = 60, MOST_X = MOST_ALONE * (LOOPS + 2) };
    const wg_argument a[] = {
        {"u", 1, 1, 0}, {"k", 1, 1, 0}, {"f", 1, 1, 0}, {"d", 1, 1, WG_PASSIVE}};
    const wg_argument b[] = {{"u", 1, 1, 0}, {"sum", 1, 1, WG_SUMMED}};
    const char *const where = compile_to;
    static double x[MOST_X], w[MOST_ALONE + 1], y[2][MOST_ALONE + 1], g[2][MOST_X];
    for (size_t i = 0; i < MOST_X; i++) x[i] = 1 + number(i), force[i] = number(2 * i);
    for (size_t i = 0; i <= MOST_ALONE; i++) w[i] = number(3 * i);
    wg_callable *k[2];
    for (int which = 0; which < 2; which++) {
        compile_to = which ? where : NULL;
        k[which] = make(alone, 4, a, at, 2, b);
    }
    static const size_t sizes[] = {1, 7, 8, 9, 14, 16, 60};
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
        for (int boundary = 0; boundary < 3; boundary++) {
            const size_t c = sizes[j], n = c * (LOOPS + 2), m = c + 1;
            for (int which = 0; which < 2; which++) {
                grid q = {.k = k[which], .steps = LOOPS};
                q.o = (wg_scan_options){{c}, {(wg_boundary)boundary}, 0, NULL, 0};
                if (wg_vjp(tape, alone_scan, &q, n, x, m, w, y[which], g[which]) != WG_OK)
                    fail_msg("%s", wg_tape_message(tape));
            }
            assert_memory_equal(y[0], y[1], c * sizeof(double));
            assert_near(y[0][c], y[1][c]);
            assert_memory_equal(g[0], g[1], n * sizeof(double));
        }
    wg_callable_free(k[0]);
    wg_callable_free(k[1]);
}

static void compiled_functions_do_the_same(void **state) {
    char directory[64] = "/tmp/wengert-test-XXXXXX", line[128];
    assert_non_null(mkdtemp(directory));
    compile_to = directory;
    a_scan_is_the_same_as_its_steps_written_out_whatever_is_stored(state);
    sweeps_can_be_repeated(state);
    scans_have_tangents_and_lanes(state);
    stencils_on_grids_are_the_same_as_cell_by_cell(state);
    grids_have_tangents_and_lanes(state);
    lines_are_done_with_the_rim_between_them(state);
    stages_read_what_earlier_stages_leave(state);
    a_guard_is_named_with_step_and_cell(state);
    compiled_adjoints_of_zero_meet_infinite_slopes();
    compiled_sums_that_are_numbers_are_given();
    compiled_cells_without_neighbours();
    compile_to = NULL;
    (void)snprintf(line, sizeof line, "rm -rf %s", directory);
    assert_int_equal(system(line), 0);
}

static void a_callable_is_compiled_completely_or_not_at_all(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out), *made = NULL;
    const wg_compile_options none = {.compiler = "no-such-compiler"};
    wg_compiled how;
    assert_int_equal(wg_callable_compile(NULL, k, NULL, &made, NULL), WG_ENULL);
    assert_int_equal(wg_callable_compile(coded, NULL, NULL, &made, NULL), WG_ENULL);
    assert_int_equal(wg_callable_compile(coded, k, NULL, NULL, NULL), WG_ENULL);
    wg_tape_reset(coded);
    assert_int_equal(wg_callable_compile(coded, k, &none, &made, &how), WG_OK);
    assert_true(made != NULL && !how.native && how.why[0] != 0);
    wg_callable_free(made);
    wg_callable_free(k);
}

static int close_all(void **state) {
    (void)free_pools(state);
    return close_tapes(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_is_the_same_as_its_steps_written_out_whatever_is_stored),
        cmocka_unit_test(steps_are_evaluated_again_as_seldom_as_can_be),
        cmocka_unit_test(sweeps_can_be_repeated),
        cmocka_unit_test(scans_have_tangents_and_lanes),
        cmocka_unit_test(stencils_on_grids_are_the_same_as_cell_by_cell),
        cmocka_unit_test(grids_have_tangents_and_lanes),
        cmocka_unit_test(lines_are_done_with_the_rim_between_them),
        cmocka_unit_test(stages_read_what_earlier_stages_leave),
        cmocka_unit_test(a_million_steps_go_into_the_memory_of_three_hundred_states),
        cmocka_unit_test(a_guard_is_named_with_step_and_cell),
        cmocka_unit_test(comparisons_in_loops_of_a_stage_are_those_of_its_cells),
        cmocka_unit_test(refusals_name_the_call_the_argument_and_both_shapes),
        cmocka_unit_test(sizes_beyond_all_memory_are_refused),
        cmocka_unit_test(results_may_take_the_place_of_operands),
        cmocka_unit_test(compiled_functions_do_the_same),
        cmocka_unit_test(a_callable_is_compiled_completely_or_not_at_all),
        cmocka_unit_test(repeated_recordings_do_not_grow),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}

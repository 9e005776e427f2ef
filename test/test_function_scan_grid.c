/* SPDX-License-Identifier: MIT */
/* Loops of functions on grids: neighbours, boundaries, fields, against cell by cell. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "scan_case.h"

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
    start_compiling();
    stencils_on_grids_are_the_same_as_cell_by_cell(state);
    grids_have_tangents_and_lanes(state);
    lines_are_done_with_the_rim_between_them(state);
    compiled_adjoints_of_zero_meet_infinite_slopes();
    compiled_sums_that_are_numbers_are_given();
    compiled_cells_without_neighbours();
    stop_compiling();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stencils_on_grids_are_the_same_as_cell_by_cell),
        cmocka_unit_test(grids_have_tangents_and_lanes),
        cmocka_unit_test(lines_are_done_with_the_rim_between_them),
        cmocka_unit_test(compiled_functions_do_the_same),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}

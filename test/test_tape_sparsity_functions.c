/* SPDX-License-Identifier: MIT */
/* test_tape_sparsity_functions.c - sparse derivatives through calls, maps and scans: as the
 * dense drivers have them, and with the entries that the nodes of their functions have. */
#include "sparse_case.h"

enum { CELLS = 12, N = 36 };

static double x[N], other[N];

static wg_callable *recorded(wg_callback *f, size_t inputs, const wg_argument *in,
                             size_t outputs, const wg_argument *out) {
    wg_function *g = NULL;
    wg_callable *k = NULL;
    ok(tape, wg_function_record(tape, f, NULL, inputs, in, x, outputs, out, &g));
    ok(tape, wg_callable_new(tape, g, &k));
    wg_function_free(g);
    return k;
}

/* y = (a[i] a[i + 1] + floor(a[0]), a[5] + passive p): 6 results of 6 inputs */
static wg_status neighbours(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i + 1 < m; i++)
        y[i] = wg_let(t, wg_add(wg_mul(in[i], in[i + 1]), wg_floor(in[0])));
    y[m - 1] = wg_let(t, wg_add(in[5], wg_mul(in[6], in[6])));
    return WG_OK;
}

/* Two calls, one of the results of the other; what is passive stays so. */
static wg_status called(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                        void *data) {
    const wg_mat p = wg_mat_gather(t, 1, 1, in + 6);
    wg_mat a[2] = {wg_mat_gather(t, 6, 1, in), p}, b[2] = {wg_mat_failed(6, 1), p}, c;
    (void)n, (void)m;
    ok(t, wg_call(t, data, a, b));
    ok(t, wg_call(t, data, b, &c));
    for (size_t i = 0; i < 6; i++) y[i] = wg_mat_at(c, i, 0);
    return WG_OK;
}
static wg_status called_sum(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                            void *data) {
    wg_real r[6];
    const wg_status s = called(t, n, in, 6, r, data);
    (void)m;
    *y = wg_sum(t, 6, r);
    return s;
}

static size_t nonzeros(wg_callback *f, void *data, size_t n, size_t m) {
    double *const dense = numbers(n * m);
    size_t entries = 0;
    ok(tape, wg_jacobian(tape, f, data, n, x, m, NULL, WG_ROW_MAJOR, dense, n));
    for (size_t i = 0; i < n * m; i++) entries += dense[i] != 0;
    free(dense);
    return entries;
}

static void check_sharp(wg_callback *f, void *data, size_t n, size_t m, size_t known) {
    wg_sparsity *const s = check_jacobian(f, data, n, x, other, m, WG_ROW_MAJOR);
    const size_t entries = wg_sparsity_pattern(s)->entries;
    wg_sparsity_free(s);
    assert_int_equal(entries, nonzeros(f, data, n, m));
    if (known != 0) assert_int_equal(entries, known);
}

static const wg_argument six[] = {{"a", 6, 1, 0}, {"p", 1, 1, WG_PASSIVE}},
                         six_out[] = {{"y", 6, 1, 0}};

static void calls_are_as_sharp_as_their_function(void **state) {
    wg_callable *const k = recorded(neighbours, 2, six, 1, six_out);
    (void)state;
    /* result i depends on i .. i + 2, the last but one on 4, 5, the last on 5 */
    check_sharp(called, k, 7, 6, 3 * 4 + 2 + 1);
    wg_sparsity *const s =
        check_hessian(called_sum, k, 7, x, other, 1, NULL, 'F', WG_ROW_MAJOR, called_sum, k);
    double dense[49];
    size_t entries = 0;
    ok(tape, wg_hessian(tape, called_sum, k, 7, x, NULL, NULL, dense, 7));
    for (size_t i = 0; i < 49; i++) entries += dense[i] != 0;
    assert_int_equal(wg_sparsity_pattern(s)->entries, entries);
    wg_sparsity_free(s);
    wg_callable_free(k);
}

/* y0 = a sin u0, y1 = u0 u1, s = u1^2 summed; data only scales */
static wg_status at_point(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(in[0], wg_mul(in[3], wg_sin(in[1]))));
    y[1] = wg_let(t, wg_mul(in[1], in[2]));
    y[2] = wg_let(t, wg_mul(in[3], wg_square(in[2])));
    return WG_OK;
}
static wg_status mapped(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                        void *data) {
    static const double scale[CELLS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6};
    const wg_source from[] = {wg_from_matrix(wg_mat_gather(t, 1, 1, in)),
                              wg_from_matrix(wg_mat_gather(t, 2, CELLS, in + 1)),
                              wg_from_data(scale, 1, 1)};
    wg_mat r[2];
    (void)n, (void)m;
    ok(t, wg_map(t, data, CELLS, from, NULL, r));
    for (size_t e = 0; e < 2 * CELLS; e++) y[e] = wg_mat_at(r[0], e % 2, e / 2);
    y[2 * CELLS] = wg_mat_at(r[1], 0, 0);
    return WG_OK;
}
static void maps_are_as_sharp_as_their_function(void **state) {
    const wg_argument in[] = {{"a", 1, 1, WG_SHARED}, {"u", 2, 1, 0}, {"d", 1, 1, WG_PASSIVE}};
    const wg_argument out[] = {{"y", 2, 1, 0}, {"s", 1, 1, WG_SUMMED}};
    wg_callable *const k = recorded(at_point, 3, in, 2, out);
    (void)state;
    check_sharp(mapped, k, 1 + 2 * CELLS, 2 * CELLS + 1, 5 * CELLS);
    wg_callable_free(k);
}

/* A step of a line of cells: u from its left neighbour and itself, beside it a sum and a
 * control */
static wg_status cell_step(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(in[1], wg_mul(0.25, wg_sub(wg_square(in[1]), wg_square(in[0])))));
    y[1] = wg_let(t, wg_mul(in[2], in[1]));
    return WG_OK;
}
typedef struct line {
    const wg_callable *k;
    size_t steps;
    wg_boundary boundary;
    ptrdiff_t left;
} line;
/* inputs: the cells, a control for every step; results: the cells, a sum for every step */
static wg_status advected(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                          void *data) {
    const line *const l = data;
    const wg_scan_options o = {.cells = {CELLS}, .boundary = {l->boundary}, .sums_by_step = 1};
    const wg_state start = {"u", wg_mat_gather(t, 1, CELLS, in)};
    const wg_source from[] = {
        wg_from_neighbour("u", l->left, 0, 0), wg_from_state("u"),
        wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, l->steps, in + CELLS)))};
    const wg_stage stage = {l->k, from};
    wg_mat r[2];
    (void)n, (void)m;
    ok(t, wg_scan(t, l->steps, 1, &stage, 1, &start, &o, r));
    for (size_t i = 0; i < CELLS; i++) y[i] = wg_mat_at(r[0], 0, i);
    for (size_t i = 0; i < l->steps; i++) y[CELLS + i] = wg_mat_at(r[1], 0, i);
    return WG_OK;
}
static const wg_argument cell_in[] = {{"l", 1, 1, 0}, {"c", 1, 1, 0}, {"w", 1, 1, WG_SHARED}},
                         cell_out[] = {{"u", 1, 1, 0}, {"s", 1, 1, WG_SUMMED}};

static void scans_are_as_sharp_as_their_steps(void **state) {
    wg_callable *const k = recorded(cell_step, 3, cell_in, 2, cell_out);
    line l = {k, 3, WG_PERIODIC, -1};
    (void)state;
    /* four cells behind each; every sum of all cells and of one control */
    check_sharp(advected, &l, CELLS + 3, CELLS + 3, 4 * CELLS + 3 * (CELLS + 1));
    l.boundary = WG_ZERO_OUTSIDE;
    check_sharp(advected, &l, CELLS + 3, CELLS + 3, 0);
    l.boundary = WG_CLAMPED, l.left = 2, l.steps = 4;
    check_sharp(advected, &l, CELLS + 4, CELLS + 4, 0);
    l.steps = 1;
    check_sharp(advected, &l, CELLS + 1, CELLS + 1, 0);
    wg_callable_free(k);
}

/* Of so many steps that nothing is won by going through them. */
static wg_status relaxed(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                         void *data) {
    const wg_scan_options o = {.cells = {n}, .boundary = {WG_PERIODIC}, .stored = 20};
    const wg_state start = {"u", wg_mat_gather(t, 1, n, in)};
    const wg_source from[] = {wg_from_neighbour("u", -1, 0, 0), wg_from_state("u"),
                              wg_from_matrix(wg_mat_fill(t, 1, 1, 1))};
    const wg_stage stage = {data, from};
    wg_mat r[2];
    ok(t, wg_scan(t, 20000, 1, &stage, 1, &start, &o, r));
    for (size_t i = 0; i < m; i++) y[i] = wg_mat_at(r[0], 0, i);
    return WG_OK;
}

/* The same as one point of shared inputs: all nodes are done once. */
enum { MANY = 100 };
static wg_status ring(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                      void *data) {
    (void)m, (void)data;
    for (size_t i = 0; i < n; i++)
        y[i] = wg_let(t, wg_add(wg_mul(0.5, in[i]), wg_mul(0.5, in[(i + 1) % n])));
    return WG_OK;
}
static wg_status scanned(wg_tape *t, size_t n, size_t steps, const wg_callable *k,
                         const wg_real *in, wg_real *y) {
    const wg_state start = {"u", wg_mat_gather(t, n, 1, in)};
    const wg_source from[] = {wg_from_state("u")};
    const wg_stage stage = {k, from};
    wg_mat r;
    ok(t, wg_scan(t, steps, 1, &stage, 1, &start, &(wg_scan_options){.stored = 20}, &r));
    for (size_t i = 0; i < n; i++) y[i] = wg_mat_at(r, i, 0);
    return WG_OK;
}
static wg_status shared(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                        void *data) {
    (void)m;
    return scanned(t, n, 100000, data, in, y);
}

static void long_scans_cost_no_memory_by_step(void **state) {
    static double u[MANY] = {0.5};
    const wg_argument all = {"u", MANY, 1, WG_SHARED}, to = {"u", MANY, 1, 0};
    wg_callback *const f[] = {relaxed, shared};
    wg_callable *k[] = {recorded(cell_step, 3, cell_in, 2, cell_out), NULL};
    wg_function *g = NULL;
    const wg_options o = {.budget = 64 << 20};
    (void)state;
    ok(tape, wg_function_record(tape, ring, NULL, 1, &all, u, 1, &to, &g));
    ok(tape, wg_callable_new(tape, g, &k[1]));
    wg_function_free(g);
    for (int i = 0; i < 2; i++) {
        wg_tape *const t = wg_tape_new(&o);
        wg_sparsity *s = NULL;
        ok(t, wg_jacobian_sparsity(t, f[i], k[i], MANY, u, MANY, WG_ROW_MAJOR, &s));
        assert_int_equal(wg_sparsity_pattern(s)->entries, MANY * MANY);
        wg_sparsity_free(s);
        wg_tape_free(t);
        wg_callable_free(k[i]);
    }
}

/* A loop in a step is one node, however long it is. */
static wg_status damped(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(0.5, wg_sin(in[0])));
    for (int i = 1; i < 100; i++) y[0] = wg_let(t, wg_mul(0.5, wg_sin(y[0])));
    return WG_OK;
}
static wg_status with_a_loop(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                             void *data) {
    (void)m;
    ok(t, scanned(t, 1, 50000, data, in, y));
    for (size_t i = 1; i < n; i++) y[i] = wg_let(t, wg_square(in[i]));
    return WG_OK;
}
static wg_status one_step(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                          void *data) {
    (void)m;
    return scanned(t, n, 1, data, in, y);
}

static void loops_in_a_step_do_not_make_it_long(void **state) {
    const wg_argument one = {"u", 1, 1, 0}, four = {"u", 4, 1, 0};
    wg_callable *const loop = recorded(damped, 1, &one, 1, &one);
    wg_function *g = NULL;
    wg_callable *k = NULL;
    wg_sparsity *s = NULL;
    (void)state;
    ok(tape, wg_function_record(tape, with_a_loop, loop, 1, &four, x, 1, &four, &g));
    ok(tape, wg_callable_new(tape, g, &k));
    ok(tape, wg_jacobian_sparsity(tape, one_step, k, 4, x, 4, WG_ROW_MAJOR, &s));
    assert_int_equal(wg_sparsity_pattern(s)->entries, 4);
    wg_sparsity_free(s);
    wg_function_free(g);
    wg_callable_free(k);
    wg_callable_free(loop);
}

static wg_status two_stages(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                            void *data) {
    wg_callable *const *const k = data;
    const wg_scan_options o = {.cells = {4, 3}, .boundary = {WG_PERIODIC, WG_CLAMPED}};
    const wg_state state[] = {{"p", wg_mat_gather(t, 1, CELLS, in)},
                              {"q", wg_mat_gather(t, 1, CELLS, in + CELLS)}};
    const wg_source first[] = {wg_from_neighbour("p", 0, -1, 0), wg_from_state("q")};
    const wg_source second[] = {wg_from_neighbour("v", 1, 0, 0), wg_from_state("q")};
    const wg_stage stage[] = {{k[0], first}, {k[1], second}};
    wg_mat r[3];
    (void)n;
    ok(t, wg_scan(t, 2, 2, stage, 2, state, &o, r));
    for (size_t e = 0; e < m; e++) y[e] = wg_mat_at(r[e / CELLS], 0, e % CELLS);
    return WG_OK;
}
static wg_status upward(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(in[0], wg_sin(in[1])));
    y[1] = wg_let(t, wg_exp(wg_mul(0.1, in[1])));
    return WG_OK;
}
static wg_status sideways(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(wg_square(in[0]), in[1]));
    return WG_OK;
}
static void stages_hand_on_what_they_depend_on(void **state) {
    const wg_argument in[] = {{"a", 1, 1, 0}, {"b", 1, 1, 0}};
    const wg_argument first[] = {{"p", 1, 1, 0}, {"v", 1, 1, 0}}, second[] = {{"q", 1, 1, 0}};
    wg_callable *k[] = {recorded(upward, 2, in, 2, first),
                        recorded(sideways, 2, in, 1, second)};
    (void)state;
    check_sharp(two_stages, k, 2 * CELLS, 2 * CELLS, 0);
    wg_callable_free(k[0]), wg_callable_free(k[1]);
}

/* The same shapes with another function, or another neighbour, are another recording. */
static wg_status shifted(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++) y[i] = wg_let(t, wg_square(in[(i + 2) % m]));
    return WG_OK;
}
static void other_functions_are_another_recording(void **state) {
    wg_callable *const k = recorded(neighbours, 2, six, 1, six_out);
    wg_callable *const l = recorded(shifted, 2, six, 1, six_out);
    wg_callable *const step = recorded(cell_step, 3, cell_in, 2, cell_out);
    double values[N * N];
    wg_sparsity *s;
    (void)state;
    ok(tape, wg_jacobian_sparsity(tape, called, k, 7, x, 6, WG_ROW_MAJOR, &s));
    ok(tape, wg_sparse_jacobian(tape, s, called, k, other, NULL, values));
    assert_int_equal(wg_sparse_jacobian(tape, s, called, l, x, NULL, values), WG_EMISMATCH);
    wg_sparsity_free(s);
    line left = {step, 2, WG_PERIODIC, -1}, right = {step, 2, WG_PERIODIC, 1};
    line clamped = {step, 2, WG_CLAMPED, -1};
    ok(tape,
       wg_jacobian_sparsity(tape, advected, &left, CELLS + 2, x, CELLS + 2, WG_ROW_MAJOR, &s));
    assert_int_equal(wg_sparse_jacobian(tape, s, advected, &right, x, NULL, values),
                     WG_EMISMATCH);
    ok(tape, wg_sparse_jacobian(tape, s, advected, &left, x, NULL, values));
    ok(tape,
       wg_sparse_jacobian(tape, s, advected, &clamped, x, NULL, values)); /* fewer entries */
    wg_sparsity_free(s);
    wg_callable_free(k), wg_callable_free(l), wg_callable_free(step);
}

/* Neighbours whose places in memory are those of others, on grids with other rims. */
enum { AROUND = 5 };
typedef struct around {
    const wg_callable *k;
    size_t neighbours, cells[3];
    ptrdiff_t offset[AROUND][3];
} around;
static wg_status sines(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                       void *data) {
    wg_real sum = wg_constant(0);
    (void)m, (void)data;
    for (size_t i = 0; i < n; i++)
        sum = wg_let(t, wg_add(sum, wg_sin(wg_mul(1 + (double)i, in[i]))));
    *y = sum;
    return WG_OK;
}
static wg_status stepped(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                         void *data) {
    const around *const a = data;
    wg_scan_options o = {.boundary = {WG_PERIODIC, WG_ZERO_OUTSIDE, WG_PERIODIC}};
    const wg_state start = {"u", wg_mat_gather(t, 1, n, in)};
    wg_source from[AROUND];
    memcpy(o.cells, a->cells, sizeof o.cells);
    for (size_t i = 0; i < a->neighbours; i++)
        from[i] = wg_from_neighbour("u", a->offset[i][0], a->offset[i][1], a->offset[i][2]);
    const wg_stage stage = {a->k, from};
    wg_mat r;
    ok(t, wg_scan(t, 1, 1, &stage, 1, &start, &o, &r));
    for (size_t i = 0; i < m; i++) y[i] = wg_mat_at(r, 0, i);
    return WG_OK;
}
static void other_neighbours_are_another_recording(void **state) {
    static const wg_argument in[] = {
        {"a", 1, 1, 0}, {"b", 1, 1, 0}, {"c", 1, 1, 0}, {"d", 1, 1, 0}, {"e", 1, 1, 0}};
    const wg_argument out[] = {{"u", 1, 1, 0}};
    wg_callable *const five = recorded(sines, 5, in, 1, out), *const two = recorded(sines, 2,
                                                                                    in, 1, out);
    const around pairs[][2] = {
        {{five, 5, {2, 2, 2}, {{0, 0, 2}, {0, 1, 0}, {0, 1, 1}, {0, 2, 0}, {0, 2, 1}}},
         {five, 5, {2, 2, 2}, {{0, 3, 1}, {0, 1, 0}, {0, 0, 1}, {0, 2, 0}, {0, 1, 1}}}},
        {{two, 2, {4, 1, 1}, {{0, 1, 0}, {0, 2, 0}}},
         {two, 2, {4, 1, 1}, {{0, 1, 0}, {0, 0, 1}}}},
    };
    double values[64];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const size_t n = pairs[i][0].cells[0] * pairs[i][0].cells[1] * pairs[i][0].cells[2];
        wg_sparsity *s;
        ok(tape, wg_jacobian_sparsity(tape, stepped, (void *)&pairs[i][0], n, x, n,
                                      WG_ROW_MAJOR, &s));
        ok(tape, wg_sparse_jacobian(tape, s, stepped, (void *)&pairs[i][0], x, NULL, values));
        assert_int_equal(
            wg_sparse_jacobian(tape, s, stepped, (void *)&pairs[i][1], x, NULL, values),
            WG_EMISMATCH);
        wg_sparsity_free(s);
        wg_sparsity_free(
            check_jacobian(stepped, (void *)&pairs[i][1], n, x, other, n, WG_ROW_MAJOR));
    }
    wg_callable_free(five), wg_callable_free(two);
}

static int open_all(void **state) {
    for (size_t i = 0; i < N; i++) {
        x[i] = 0.4 + 0.05 * (double)(i * 7 % N);
        other[i] = 1.3 - 0.02 * (double)(i * 5 % N);
    }
    return open_tape(state);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_tape)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(calls_are_as_sharp_as_their_function),
        TEST(maps_are_as_sharp_as_their_function),
        TEST(scans_are_as_sharp_as_their_steps),
        TEST(long_scans_cost_no_memory_by_step),
        TEST(loops_in_a_step_do_not_make_it_long),
        TEST(stages_hand_on_what_they_depend_on),
        TEST(other_functions_are_another_recording),
        TEST(other_neighbours_are_another_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

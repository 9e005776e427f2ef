/* SPDX-License-Identifier: MIT */
/* Steps of a single cell, which are prepared once, beside the same steps done as those of
 * cells are, with the same bits: shared states, numbers of each step, callbacks, sums,
 * comparisons, NaN, stages, steps with loops and matrices. Second derivatives of loops. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "scan_case.h"

enum { STEPS = 9 };

/* q, g: states, of the cell and shared; a: shared; b, c: of each step, c shared; d: data of
 * each step, shared, from a callback; e: data; far: the state once more, or its neighbour,
 * which is the same in a single cell and goes another way. Outputs: the states, z of each step,
 * s summed. */
static const wg_argument in[] = {{"q", 2, 1, 0},          {"g", 1, 1, WG_SHARED},
                                 {"a", 2, 2, WG_SHARED},  {"b", 2, 1, 0},
                                 {"c", 1, 1, WG_SHARED},  {"d", 1, 1, WG_SHARED | WG_PASSIVE},
                                 {"e", 1, 1, WG_PASSIVE}, {"far", 2, 1, 0}};
static const wg_argument out[] = {
    {"z", 2, 1, 0}, {"q", 2, 1, 0}, {"s", 2, 1, WG_SUMMED}, {"g", 1, 1, WG_SUMMED}};

static wg_status mixed(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    const wg_real *const q = x, *const a = x + 3, *const b = x + 7;
    const wg_real g = x[2], c = x[9], d = x[10], e = x[11];
    const wg_real once = wg_let(t, wg_exp(wg_mul(wg_mul(a[0], g), 0.125)));
    y[0] = wg_let(t, wg_mul(wg_mul(q[0], b[1]), once));
    y[1] = wg_let(t, wg_sub(wg_mul(q[1], d), wg_mul(g, e)));
    y[2] = wg_let(t, wg_add(wg_mul(a[0], wg_sin(q[0])), wg_mul(a[2], wg_mul(q[1], b[0]))));
    y[3] = wg_let(t, wg_sub(wg_mul(a[1], q[1]), wg_mul(wg_mul(a[3], q[0]), wg_mul(c, once))));
    y[4] = wg_let(t, wg_mul(wg_mul(q[0], g), c));
    y[5] = wg_let(t, wg_div(q[1], wg_add(2, wg_mul(e, e))));
    y[6] = wg_let(t, wg_add(wg_mul(g, 0.5), wg_mul(wg_mul(q[0], d), 0.25)));
    return WG_OK;
}

static wg_status fill_d(size_t first, size_t count, double *to, void *user) {
    const size_t fails = *(const size_t *)user;
    for (size_t i = 0; i < count; i++) to[i] = number(5 * (first + i) + 1);
    return first == fails ? WG_EARG : WG_OK;
}

typedef struct loop {
    const wg_callable *k, *late;
    size_t steps, stored, fails;
    int by_step, far, turned;
} loop;

/* x: q, g, a, b and c of every step; y: q, g, z and s, perhaps of every step, and zeros. */
enum { N = 7 + 3 * STEPS, M = 5 + 4 * STEPS, SOURCES = 8 };
static void read_from(wg_tape *t, loop *l, const wg_real *x, wg_source *s) {
    static double e[2 * STEPS];
    for (size_t i = 0; i < 2 * STEPS; i++) e[i] = number(3 * i);
    const wg_mat a = wg_mat_gather(t, 2, 2, x + 3);
    const wg_mat b = l->turned ? wg_mat_transpose(wg_mat_gather(t, l->steps, 2, x + 7))
                               : wg_mat_gather(t, 2, l->steps, x + 7);
    const wg_source from[SOURCES] = {
        wg_from_state("q"),
        wg_from_state("g"),
        wg_from_matrix(l->turned ? wg_mat_transpose(a) : a),
        wg_each_step(wg_from_matrix(b)),
        wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, l->steps, x + 7 + 2 * l->steps))),
        wg_each_step(wg_from_fill(fill_d, &l->fails)),
        wg_each_step(wg_from_data(e, 2, 1)),
        wg_from_neighbour("q", l->far, 0, 0)};
    memcpy(s, from, sizeof from);
}

static wg_status scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    loop *const l = user;
    (void)n;
    const wg_state states[] = {{"q", wg_mat_gather(t, 2, 1, x)},
                               {"g", wg_mat_gather(t, 1, 1, x + 2)}};
    wg_source s[SOURCES];
    read_from(t, l, x, s);
    const wg_stage stage = {l->k, s};
    const wg_scan_options o = {.stored = l->stored, .sums_by_step = l->by_step};
    wg_mat r[4];
    const wg_status status = wg_scan(t, l->steps, 1, &stage, 2, states, &o, r);
    if (status != WG_OK) return status;
    size_t j = 0;
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < r[k].rows * r[k].cols; i++)
            y[j++] = wg_mat_at(r[k], i % r[k].rows, i / r[k].rows);
    while (j < m) y[j++] = wg_constant(0);
    return WG_OK;
}

/* Another state, and sums, of what the first stage leaves in the step: its states, and z, which
 * is read three times: adjoints that come of sums are added before the others. */
static const wg_argument late_in[] = {{"z", 2, 1, 0},         {"new", 2, 1, 0},
                                      {"g", 1, 1, WG_SHARED}, {"v", 1, 1, 0},
                                      {"z2", 2, 1, 0},        {"z3", 2, 1, WG_SHARED}};
static const wg_argument late_out[] = {{"v", 1, 1, 0}, {"r", 2, 1, WG_SUMMED}};

static wg_status late(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    const wg_real once = wg_let(t, wg_sin(x[4]));
    y[0] = wg_let(t, wg_add(wg_mul(0.5, x[5]), wg_mul(x[0], x[3])));
    y[1] = wg_let(t, wg_mul(wg_mul(x[1], x[2]), wg_add(once, wg_mul(x[7], x[9]))));
    y[2] = wg_let(t, wg_mul(wg_exp(wg_mul(0.25, x[6])), wg_mul(x[5], wg_sin(x[8]))));
    return WG_OK;
}

/* The same steps with that stage behind; y: q, g, v, s and r, perhaps of every step. */
static wg_status scan_of_two(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *user) {
    loop *const l = user;
    (void)n;
    const wg_state states[] = {{"q", wg_mat_gather(t, 2, 1, x)},
                               {"g", wg_mat_gather(t, 1, 1, x + 2)},
                               {"v", wg_mat_gather(t, 1, 1, x + 3)}};
    wg_source first[SOURCES];
    read_from(t, l, x, first);
    const wg_source second[] = {wg_from_state("z"),         wg_from_next("q", 0, 0, 0),
                                wg_from_next("g", 0, 0, 0), wg_from_state("v"),
                                wg_from_state("z"),         wg_from_state("z")};
    const wg_stage stages[] = {{l->k, first}, {l->late, second}};
    const wg_scan_options o = {.stored = l->stored, .sums_by_step = l->by_step};
    wg_mat r[5];
    const wg_status status = wg_scan(t, l->steps, 2, stages, 3, states, &o, r);
    if (status != WG_OK) return status;
    size_t j = 0;
    for (size_t k = 0; k < 5; k++)
        for (size_t i = 0; i < r[k].rows * r[k].cols; i++)
            y[j++] = wg_mat_at(r[k], i % r[k].rows, i / r[k].rows);
    while (j < m) y[j++] = wg_constant(0);
    return WG_OK;
}

static void assert_same(const double *got, const double *expected, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (got[i] == got[i] || expected[i] == expected[i])
            assert_memory_equal(&got[i], &expected[i], sizeof *got);
}

/* Values, adjoints, tangents, of several lanes, both ways. */
static void compare(wg_callback *f, loop *l, size_t n, const double *x, size_t m) {
    static double y[2][M], g[2][N], jv[2][M], jac[2][M * N];
    double w[M], v[N];
    assert_true(n <= N && m <= M);
    for (size_t i = 0; i < M; i++) w[i] = number(7 * i);
    for (size_t i = 0; i < N; i++) v[i] = number(4 * i + 1);
    for (l->far = 0; l->far < 2; l->far++) {
        if (wg_vjp(tape, f, l, n, x, m, w, y[l->far], g[l->far]) != WG_OK)
            fail_msg("%s", wg_tape_message(tape));
        assert_int_equal(wg_jvp(tape, f, l, n, x, v, m, y[l->far], jv[l->far]), WG_OK);
        assert_int_equal(
            wg_jacobian(tape, f, l, n, x, m, y[l->far], WG_ROW_MAJOR, jac[l->far], n), WG_OK);
    }
    assert_same(y[0], y[1], m);
    assert_same(g[0], g[1], n);
    assert_same(jv[0], jv[1], m);
    assert_same(jac[0], jac[1], m * n);
}

static const double point[] = {1, 2, 1, 1, 2, 3, 4, 1, 2, 1, 1, 1, 1, 2};

static void steps_of_one_cell_have_the_bits_of_steps_of_cells(void **state) {
    (void)state;
    wg_callable *const k = make(mixed, 8, in, point, 4, out);
    double x[N];
    for (size_t i = 0; i < N; i++) x[i] = number(3 * i + 2);
    const size_t lengths[] = {0, 1, 2, STEPS};
    for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
        for (size_t stored = 0; stored <= lengths[j]; stored += 1 + stored)
            for (int which = 0; which < 4; which++) {
                loop l = {k, NULL, lengths[j], stored, SIZE_MAX, which & 1, 0, which >> 1};
                compare(scan, &l, 7 + 3 * l.steps, x, 5 + 4 * l.steps);
            }
    wg_callable_free(k);
}

static void stages_of_one_cell_have_the_bits_of_stages_of_cells(void **state) {
    (void)state;
    wg_callable *const k = make(mixed, 8, in, point, 4, out);
    wg_callable *const behind = make(late, 6, late_in, point, 2, late_out);
    double x[N];
    for (size_t i = 0; i < N; i++) x[i] = number(3 * i + 2);
    for (size_t steps = 0; steps <= STEPS; steps += 3)
        for (size_t stored = 0; stored <= steps; stored += 1 + stored)
            for (int by_step = 0; by_step < 2; by_step++) {
                loop l = {.k = k, .late = behind, .steps = steps, .stored = stored};
                l.fails = SIZE_MAX, l.by_step = by_step;
                compare(scan_of_two, &l, 7 + 3 * steps, x, M);
            }
    wg_callable_free(behind);
    wg_callable_free(k);
}

/* A NaN of a step, an infinity that meets a 0: what the zero rule decides. */
static void steps_that_give_nan_are_done_as_those_of_cells(void **state) {
    (void)state;
    wg_callable *const k = make(mixed, 8, in, point, 4, out);
    const double odd[] = {NAN, INFINITY, -INFINITY, 0};
    for (size_t at_step = 0; at_step < STEPS; at_step += 4)
        for (size_t o = 0; o < sizeof odd / sizeof *odd; o++) {
            double x[N];
            for (size_t i = 0; i < N; i++) x[i] = i % 5 == 0 ? 0 : number(3 * i + 2);
            x[7 + 2 * at_step] = odd[o];
            x[7 + 2 * STEPS + at_step] = odd[(o + 1) % 4];
            loop l = {k, NULL, STEPS, 3, SIZE_MAX, 1, 0, 0};
            compare(scan, &l, N, x, M);
        }
    wg_callable_free(k);
}

static void a_callback_that_fails_names_its_step(void **state) {
    (void)state;
    wg_callable *const k = make(mixed, 8, in, point, 4, out);
    double x[N], y[M], g[N], w[M] = {1};
    for (size_t i = 0; i < N; i++) x[i] = number(3 * i + 2);
    for (int far = 0; far < 2; far++) {
        loop l = {k, NULL, STEPS, 0, 4, 0, far, 0};
        assert_int_equal(wg_vjp(tape, scan, &l, N, x, M, w, y, g), WG_EARG);
        assert_message(tape, "the callback of input d, in step 4, returned");
    }
    wg_callable_free(k);
}

/* ---- comparisons ------------------------------------------------------------------------- */

/* p: shared, so that what is compared is known before the cell is looked at; q: of the cell. */
static wg_status guarded(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    (void)n, (void)m, (void)user;
    const int low = wg_lt(t, wg_mul(x[1], 2), wg_constant(9));
    y[0] = wg_lt(t, x[0], wg_constant(5)) ? wg_let(t, wg_add(x[0], x[1])) : x[0];
    y[0] = low ? y[0] : x[1];
    return WG_OK;
}

static void a_guard_is_named_with_its_step(void **state) {
    (void)state;
    const wg_argument x[] = {{"q", 1, 1, 0}, {"p", 1, 1, WG_SHARED}};
    const wg_argument y = {"q", 1, 1, 0};
    const double start[] = {0}, p[] = {1, 1, 1, 1, 4.5, 1, 4, 1}, low[] = {1, 1, 1, 1, 1, 1};
    wg_callable *const k = make(guarded, 2, x, at, 1, &y);
    wg_tape_reset(tape);
    const wg_state s = {"q", wg_mat_input(tape, 1, 1, start, 1)};
    const wg_mark before = wg_tape_mark(tape);
    wg_mat r;
    for (int which = 0; which < 3; which++) {
        const wg_source from[] = {wg_from_state("q"),
                                  wg_each_step(wg_from_data(which == 0 ? p : low, 1, 1))};
        const wg_stage stage = {k, from};
        const wg_status got = wg_scan(tape, which == 2 ? 5 : 6, 1, &stage, 1, &s, NULL, &r);
        if (which == 2) {
            assert_int_equal(got, WG_OK);
            assert_true(r.value[0] == 5);
            continue;
        }
        assert_int_equal(got, WG_EGUARD);
        assert_message(tape, which == 0
                                 ? "guard 0 of stage 0 came out differently in step 4, cell 0"
                                 : "guard 1 of stage 0 came out differently in step 5, cell 0");
        assert_int_equal(wg_tape_rewind(tape, before), WG_OK);
    }
    wg_callable_free(k);
}

/* ---- loops and matrices in a step -------------------------------------------------------- */

enum { ORDER = 4 };

static wg_status inner(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(wg_mul(x[0], x[1]), wg_mul(0.125, wg_mul(x[1], x[1]))));
    return WG_OK;
}

/* x: h, far, a; y: the solution of (2 + a a') r = h, and something of a loop added to it. */
static wg_status solved(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *user) {
    (void)n, (void)m;
    const wg_mat h = wg_mat_gather(t, ORDER, 1, x);
    const wg_mat a = wg_mat_gather(t, ORDER, ORDER, x + 2 * ORDER);
    const wg_mat b = wg_gemm(t, 'N', 'T', 1, a, a, 2, wg_mat_identity(t, ORDER));
    const wg_mat r = wg_solve(t, b, h);
    const wg_state s = {"u", wg_mat_gather(t, 1, 1, x)};
    const wg_source from[] = {wg_from_state("u"),
                              wg_from_matrix(wg_mat_gather(t, 1, 1, x + 1))};
    const wg_stage stage = {user, from};
    wg_mat u;
    const wg_status status = wg_scan(t, 5, 1, &stage, 1, &s, NULL, &u);
    for (size_t i = 0; status == WG_OK && i < ORDER; i++)
        y[i] = wg_let(t, wg_add(wg_mat_at(r, i, 0), wg_mul(0.25, wg_mat_at(u, 0, 0))));
    return status;
}

/* x: h, a; y: h. */
static wg_status solves(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *user) {
    const loop *const l = user;
    const wg_state state = {"h", wg_mat_gather(t, ORDER, 1, x)};
    const wg_source s[] = {wg_from_state("h"), wg_from_neighbour("h", l->far, 0, 0),
                           wg_from_matrix(wg_mat_gather(t, ORDER, ORDER, x + ORDER))};
    const wg_stage stage = {l->k, s};
    const wg_scan_options o = {.stored = l->stored};
    wg_mat r;
    (void)n;
    const wg_status status = wg_scan(t, l->steps, 1, &stage, 1, &state, &o, &r);
    for (size_t i = 0; status == WG_OK && i < m; i++) y[i] = wg_mat_at(r, i, 0);
    return status;
}

/* The functions are freed once the callables are made. */
static void steps_with_loops_and_matrices_are_done_as_those_of_cells(void **state) {
    (void)state;
    const wg_options looping = {.flags = WG_KEEP_CODE, .loops_over = 1};
    const wg_argument a[] = {{"u", 1, 1, 0}, {"by", 1, 1, WG_SHARED}}, u = {"u", 1, 1, 0};
    const wg_argument x[] = {
        {"h", ORDER, 1, 0}, {"far", ORDER, 1, 0}, {"a", ORDER, ORDER, WG_SHARED}};
    const wg_argument y = {"h", ORDER, 1, 0};
    double point_of[2 * ORDER + ORDER * ORDER], start[ORDER + ORDER * ORDER];
    for (size_t i = 0; i < sizeof point_of / sizeof *point_of; i++) point_of[i] = number(i);
    for (size_t i = 0; i < sizeof start / sizeof *start; i++) start[i] = number(2 * i + 3);
    wg_tape *const own = coded;
    coded = wg_tape_new(&looping);
    assert_non_null(coded);
    wg_callable *const within = make(inner, 2, a, at, 1, &u);
    wg_function *f = function_of(solved, within, 3, x, point_of, 1, &y);
    wg_callable *const k = callable_of(f);
    wg_callable_free(within);
    for (size_t stored = 0; stored < 3; stored++) {
        loop l = {.k = k, .steps = STEPS, .stored = stored};
        compare(solves, &l, ORDER + ORDER * ORDER, start, ORDER);
    }
    wg_callable_free(k);
    wg_tape_free(coded);
    coded = own;
}

/* ---- second derivatives ------------------------------------------------------------------ */

static const wg_argument of_pair[] = {{"q", 1, 1, 0}, {"p", 2, 1, WG_SHARED}};
static const wg_argument by_pair[] = {{"q", 1, 1, 0}, {"s", 1, 1, WG_SUMMED}};

static wg_status pair(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(wg_mul(x[1], wg_sin(x[0])), x[2]));
    y[1] = wg_let(t, wg_log(wg_add(1, wg_mul(x[0], x[0]))));
    return WG_OK;
}

typedef struct sum_of {
    const wg_callable *k; /* NULL: steps are recorded as they stand */
    size_t steps;
} sum_of;

/* x: q, p; y: the sum. */
static wg_status sum_of_steps(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *user) {
    const sum_of *const l = user;
    wg_real a[3] = {x[0], x[1], x[2]}, b[2], sum = wg_constant(0);
    (void)n, (void)m;
    for (size_t i = 0; l->k == NULL && i < l->steps; i++) {
        const wg_status s = pair(t, 3, a, 2, b, NULL);
        if (s != WG_OK) return s;
        sum = wg_let(t, wg_add(sum, b[1]));
        a[0] = b[0];
    }
    y[0] = sum;
    if (l->k == NULL) return WG_OK;
    const wg_state state = {"q", wg_mat_gather(t, 1, 1, x)};
    const wg_source s[] = {wg_from_state("q"), wg_from_matrix(wg_mat_gather(t, 2, 1, x + 1))};
    const wg_stage stage = {l->k, s};
    wg_mat r[2];
    const wg_status status = wg_scan(t, l->steps, 1, &stage, 1, &state, NULL, r);
    if (status == WG_OK) y[0] = wg_mat_at(r[1], 0, 0);
    return status;
}

/* A sum of so many terms, in another order. */
static void assert_sum(double got, double expected, double terms) {
    if (!(fabs(got - expected) <= TOL_ORDER_ULP * DBL_EPSILON * terms * (1 + fabs(expected))))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

/* Written out, as many steps would not fit. */
static void second_derivatives_of_a_long_loop_need_little_memory(void **state) {
    (void)state;
    enum { LONG = 8000, BUDGET = 16 << 20 };
    const double x[3] = {0.5, 0.75, 0.1};
    const wg_options o = {.flags = WG_KEEP_CODE, .budget = BUDGET};
    wg_callable *const k = make(pair, 2, of_pair, at, 2, by_pair);
    wg_tape *const t = wg_tape_new(&o);
    const size_t lengths[] = {0, 1, 3, 200, LONG};
    for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++) {
        double value[2], g[2][3], h[2][9], hv[3];
        sum_of steps = {k, lengths[j]}, statements = {NULL, lengths[j]};
        if (wg_hessian(t, sum_of_steps, &steps, 3, x, &value[0], g[0], h[0], 3) != WG_OK)
            fail_msg("%zu steps: %s", lengths[j], wg_tape_message(t));
        assert_int_equal(wg_hvp(t, sum_of_steps, &steps, 3, x, x, &value[0], g[0], hv), WG_OK);
        assert_int_equal(
            wg_hessian(coded, sum_of_steps, &statements, 3, x, &value[1], g[1], h[1], 3),
            WG_OK);
        const double terms = 8 + (double)lengths[j];
        assert_sum(value[0], value[1], terms);
        for (size_t i = 0; i < 3; i++) assert_sum(g[0][i], g[1][i], terms);
        for (size_t i = 0; i < 9; i++) assert_sum(h[0][i], h[1][i], terms);
        for (size_t i = 0; i < 3; i++) {
            double expected = 0;
            for (size_t l = 0; l < 3; l++) expected += h[1][3 * i + l] * x[l];
            assert_sum(hv[i], expected, terms);
        }
    }
    wg_tape_free(t);
    wg_callable_free(k);
}

/* ---- compiled functions ------------------------------------------------------------------ */

static void compiled_functions_do_the_same(void **state) {
    start_compiling();
    steps_of_one_cell_have_the_bits_of_steps_of_cells(state);
    stages_of_one_cell_have_the_bits_of_stages_of_cells(state);
    steps_that_give_nan_are_done_as_those_of_cells(state);
    a_callback_that_fails_names_its_step(state);
    a_guard_is_named_with_its_step(state);
    stop_compiling();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_one_cell_have_the_bits_of_steps_of_cells),
        cmocka_unit_test(stages_of_one_cell_have_the_bits_of_stages_of_cells),
        cmocka_unit_test(steps_that_give_nan_are_done_as_those_of_cells),
        cmocka_unit_test(a_callback_that_fails_names_its_step),
        cmocka_unit_test(a_guard_is_named_with_its_step),
        cmocka_unit_test(steps_with_loops_and_matrices_are_done_as_those_of_cells),
        cmocka_unit_test(second_derivatives_of_a_long_loop_need_little_memory),
        cmocka_unit_test(compiled_functions_do_the_same),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}

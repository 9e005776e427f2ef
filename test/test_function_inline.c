/* SPDX-License-Identifier: MIT */
/* Calls, maps and scans inside of functions, which take them apart: against the tape, whose
 * record of each is one; and the second derivatives that they then have. */
#include "driver_cases.h"
#include "graph_walk.h"

#include <math.h>
#include <string.h>

/* Everything that is repeated stays a loop. */
static int open_looping(void **state) {
    const wg_options keep = {.flags = WG_KEEP_CODE | WG_KEEP_PLACES, .loops_over = 1};
    (void)state;
    tape = wg_tape_new(NULL);
    coded = wg_tape_new(&keep);
    return tape == NULL || coded == NULL;
}

typedef wg_status transform(wg_tape *t, const wg_function *f, wg_function **out);
static wg_function *made(transform *by, const wg_function *f) {
    wg_function *g = NULL;
    if (by(coded, f, &g) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    return g;
}

static void assert_near(double got, double expected, double size) {
    if (!(fabs(got - expected) <= TOL_PROGRAM_ULP * DBL_EPSILON * (size + fabs(expected))))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

static void assert_all_near(size_t n, const double *got, const double *expected) {
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(expected[i]));
    for (size_t i = 0; i < n; i++) assert_near(got[i], expected[i], size);
}

/* ---- gradients that are called ----------------------------------------------------------- */

/* The partials of these are more than their texts: nodes of their own. */
static wg_status careful(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    const wg_real a = wg_let(t, wg_mul(wg_asin(x[0]), wg_lgamma(x[1])));
    const wg_real b = wg_let(t, wg_mul(wg_atanh(wg_mul(x[0], x[2])), wg_cbrt(x[1])));
    y[0] = wg_let(t, wg_add(a, wg_mul(b, wg_erf(x[2]))));
    return WG_OK;
}

/* |x - g(x)|^2, g that gradient. */
static wg_status distance(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)m;
    const wg_mat point = wg_mat_gather(t, n, 1, x);
    wg_mat g;
    const wg_status s = wg_call(t, data, &point, &g);
    if (s != WG_OK) return s;
    y[0] = wg_constant(0);
    for (size_t i = 0; i < n; i++)
        y[0] = wg_let(t, wg_add(y[0], wg_square(wg_sub(x[i], wg_mat_at(g, i, 0)))));
    return WG_OK;
}

static void a_gradient_that_is_called_is_differentiated_again(void **state) {
    (void)state;
    enum { N = 3 };
    static const double x[N] = {0.4, 1.7, -0.6};
    static const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = function_of(careful, NULL, 1, &in, x, 1, &out), *g, *h;
    g = made(wg_function_gradient, f);
    h = made(wg_function_hessian, f);
    double gradient[N], hessian[N * N], want[N], got[N], value, second[N * N], again[N * N];
    assert_int_equal(graph_walk(g, x, gradient), 0);
    assert_int_equal(graph_walk(h, x, hessian), 0);
    wg_callable *const k = callable_of(g);
    /* d/dx |x - g|^2 = 2 (I - H)(x - g) */
    for (size_t i = 0; i < N; i++) {
        want[i] = 0;
        for (size_t j = 0; j < N; j++)
            want[i] += 2 * ((i == j) - hessian[i + j * N]) * (x[j] - gradient[j]);
    }
    wg_function *const d = function_of(distance, k, 1, &in, x, 1, &out);
    wg_function *dg, *dh;
    dg = made(wg_function_gradient, d);
    assert_int_equal(graph_walk(dg, x, got), 0);
    assert_all_near(N, got, want);
    /* the second derivatives of the driver are those of the function */
    dh = made(wg_function_hessian, d);
    assert_int_equal(graph_walk(dh, x, second), 0);
    assert_int_equal(wg_hessian(coded, distance, k, N, x, &value, got, again, N), WG_OK);
    assert_all_near(N, got, want);
    assert_all_near(N * N, again, second);
    wg_function_free(dh);
    wg_function_free(dg);
    wg_function_free(d);
    wg_function_free(h);
    wg_function_free(f);
    wg_callable_free(k);
}

/* ---- scans ------------------------------------------------------------------------------- */

/* Cells of a state q of two entries and one number r for all of them. A step: what flows
 * between neighbours, into `flow`; the new states; a look at the new q of a neighbour. */
enum { COLS = 4, ROWS = 3, CELLS = COLS * ROWS, STEPS = 3 };
enum { Q = 0, R = Q + 2 * CELLS, P = R + 1, U = P + 2, A = U + STEPS, INPUTS = A + CELLS };

static const wg_argument flow_in[] = {{"q", 2, 1, 0},         {"left", 2, 1, 0},
                                      {"below", 2, 1, 0},     {"p", 2, 1, WG_SHARED},
                                      {"u", 1, 1, WG_SHARED}, {"c", 1, 1, WG_PASSIVE},
                                      {"a", 1, 1, 0},         {"held", 1, 1, WG_PASSIVE}};
static const wg_argument flow_out[] = {{"flow", 1, 1, 0}, {"total", 1, 1, WG_SUMMED}};
static wg_status flow(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const wg_real *const q = x, *const left = x + 2, *const below = x + 4, *const p = x + 6;
    (void)n, (void)m, (void)data;
    const wg_real slope = wg_let(t, wg_sub(wg_mul(p[0], wg_sub(q[0], left[1])), x[9]));
    y[0] = wg_let(t, wg_add(wg_tanh(wg_mul(slope, x[8])), wg_mul(x[10], below[0])));
    y[1] = wg_let(t, wg_mul(wg_mul(y[0], p[1]), x[11]));
    return WG_OK;
}

static const wg_argument move_in[] = {
    {"q", 2, 1, 0}, {"flow", 1, 1, 0}, {"beyond", 1, 1, 0}, {"r", 1, 1, WG_SHARED}};
static const wg_argument move_out[] = {
    {"q", 2, 1, 0}, {"r", 1, 1, WG_SUMMED}, {"kept", 1, 1, 0}};
static wg_status move(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(x[0], wg_mul(0.3, wg_sub(x[2], x[3]))));
    y[1] = wg_let(t, wg_add(wg_mul(x[1], 0.9), wg_mul(x[4], x[0])));
    y[2] = wg_let(t, wg_mul(0.1, wg_mul(x[0], x[1])));
    y[3] = wg_let(t, wg_square(x[2]));
    return WG_OK;
}

static const wg_argument look_in[] = {{"next", 2, 1, 0}};
static const wg_argument look_out[] = {{"seen", 1, 1, WG_SUMMED}};
static wg_status look(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], wg_sin(x[1])));
    return WG_OK;
}

static double datum(size_t i) { return 0.2 * (double)(i % 5) - 0.3; }
static wg_status fill_cell(size_t first, size_t count, double *to, void *user) {
    (void)user;
    for (size_t i = 0; i < count; i++) to[i] = datum(first + i);
    return WG_OK;
}

typedef struct flows {
    wg_callable *flow, *move, *look;
    wg_boundary boundary;
    int sums_by_step, filled;
    double data[CELLS * STEPS];
} flows;

/* y: q, r, total, kept of all steps, seen. */
static wg_status run_flows(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    flows *const l = user;
    (void)n;
    const wg_mat a = wg_mat_gather(t, 1, CELLS, x + A);
    const wg_state states[] = {{"q", wg_mat_gather(t, 2, CELLS, x + Q)},
                               {"r", wg_mat_gather(t, 1, 1, x + R)}};
    const wg_source s0[] = {
        wg_from_state("q"),
        wg_from_neighbour("q", -1, 0, 0),
        wg_from_neighbour("q", 0, 1, 0),
        wg_from_matrix(wg_mat_gather(t, 2, 1, x + P)),
        wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, STEPS, x + U))),
        wg_each_step(l->filled ? wg_from_fill(fill_cell, NULL) : wg_from_data(l->data, 1, 1)),
        wg_from_matrix(a),
        wg_from_matrix(a)};
    const wg_source s1[] = {wg_from_state("q"), wg_from_state("flow"),
                            wg_from_neighbour("flow", 1, -1, 0), wg_from_state("r")};
    const wg_source s2[] = {wg_from_next("q", 2, 0, 0)};
    const wg_stage stages[] = {{l->flow, s0}, {l->move, s1}, {l->look, s2}};
    const wg_scan_options o = {.cells = {COLS, ROWS},
                               .boundary = {l->boundary, l->boundary},
                               .sums_by_step = l->sums_by_step};
    wg_mat r[5];
    const wg_status status = wg_scan(t, STEPS, 3, stages, 2, states, &o, r);
    if (status != WG_OK) return status;
    size_t j = 0;
    for (size_t k = 0; k < 5; k++)
        for (size_t e = 0; e < r[k].rows * r[k].cols; e++)
            y[j++] = wg_mat_at(r[k], e % r[k].rows, e / r[k].rows);
    assert_int_equal(j, m);
    return WG_OK;
}

/* A number of all outputs, for second derivatives. */
enum { RESULTS_MOST = 2 * CELLS + 1 + STEPS + CELLS * STEPS + STEPS };
static wg_status weighed(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    const flows *const l = user;
    wg_real r[RESULTS_MOST];
    (void)m;
    const size_t results = 2 * CELLS + 1 + CELLS * STEPS + (l->sums_by_step ? 2 * STEPS : 2);
    const wg_status s = run_flows(t, n, x, results, r, user);
    y[0] = wg_constant(0);
    for (size_t j = 0; j < results && s == WG_OK; j++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(datum(3 * j + 1), wg_square(r[j]))));
    return s;
}

static void scans_in_functions_are_those_of_the_tape(void **state) {
    (void)state;
    static const double zero[16] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2};
    flows l = {callable_of(function_of(flow, NULL, 8, flow_in, zero, 2, flow_out)),
               callable_of(function_of(move, NULL, 4, move_in, zero, 3, move_out)),
               callable_of(function_of(look, NULL, 1, look_in, zero, 1, look_out)),
               WG_PERIODIC,
               0,
               0,
               {0}};
    double x[INPUTS], y[2][RESULTS_MOST], jac[2][INPUTS * RESULTS_MOST];
    double g[2][INPUTS], v[INPUTS], hv[2][INPUTS], value;
    static double h[INPUTS * INPUTS];
    for (size_t i = 0; i < INPUTS; i++) {
        x[i] = 0.1 * (double)(i % 11) - 0.4;
        v[i] = 0.3 - 0.1 * (double)(i % 6);
    }
    for (size_t i = 0; i < CELLS * STEPS; i++) l.data[i] = datum(i);
    static const wg_boundary boundaries[] = {WG_PERIODIC, WG_CLAMPED, WG_ZERO_OUTSIDE};
    for (size_t way = 0; way < 6; way++) {
        l.boundary = boundaries[way / 2];
        l.sums_by_step = l.filled = way % 2 == 1;
        const size_t m = 2 * CELLS + 1 + CELLS * STEPS + (l.sums_by_step ? 2 * STEPS : 2);
        const wg_argument in = {"x", INPUTS, 1, 0}, out = {"y", m, 1, 0}, one = {"z", 1, 1, 0};
        wg_function *const f = function_of(run_flows, &l, 1, &in, x, 1, &out);
        wg_function *j, *s;
        j = made(wg_function_jacobian, f);
        assert_int_equal(graph_walk(f, x, y[0]), 0);
        assert_int_equal(graph_walk(j, x, jac[0]), 0);
        assert_int_equal(
            wg_jacobian(tape, run_flows, &l, INPUTS, x, m, y[1], WG_ROW_MAJOR, jac[1], INPUTS),
            WG_OK);
        assert_all_near(m, y[0], y[1]);
        assert_all_near(m * INPUTS, jac[0], jac[1]);
        /* second derivatives: those of the driver go through a function, too; both against
         * the symmetry that they have and the gradient of the tape */
        wg_function *const w = function_of(weighed, &l, 1, &in, x, 1, &one);
        s = made(wg_function_gradient, w);
        assert_int_equal(graph_walk(s, x, g[0]), 0);
        assert_int_equal(wg_gradient(tape, weighed, &l, INPUTS, x, &value, g[1]), WG_OK);
        assert_all_near(INPUTS, g[0], g[1]);
        assert_int_equal(wg_hvp(coded, weighed, &l, INPUTS, x, v, &value, g[0], hv[0]), WG_OK);
        assert_all_near(INPUTS, g[0], g[1]);
        assert_int_equal(wg_hessian(coded, weighed, &l, INPUTS, x, &value, g[0], h, INPUTS),
                         WG_OK);
        for (size_t i = 0; i < INPUTS; i++) {
            hv[1][i] = 0;
            for (size_t k = 0; k < INPUTS; k++) hv[1][i] += h[i * INPUTS + k] * v[k];
        }
        assert_all_near(INPUTS, hv[0], hv[1]);
        /* along v the gradient of the tape has these differences, of the fourth order */
        double d[INPUTS], size = 0;
        memset(d, 0, sizeof d);
        static const double step[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
        const double e = 0x1p-10;
        for (size_t k = 0; k < 4; k++) {
            double near[INPUTS];
            for (size_t i = 0; i < INPUTS; i++) near[i] = x[i] + step[k] * e * v[i];
            assert_int_equal(wg_gradient(tape, weighed, &l, INPUTS, near, &value, g[0]), WG_OK);
            for (size_t i = 0; i < INPUTS; i++) d[i] += weight[k] * g[0][i] / (12 * e);
        }
        for (size_t i = 0; i < INPUTS; i++) size = fmax(size, fabs(g[1][i]));
        for (size_t i = 0; i < INPUTS; i++)
            if (!(fabs(hv[0][i] - d[i]) <= TOL_DIFFERENCE_ULP * DBL_EPSILON * size / e))
                fail_msg("entry %zu of H v: %.17g, by differences %.17g", i, hv[0][i], d[i]);
        wg_function_free(s);
        wg_function_free(w);
        wg_function_free(j);
        wg_function_free(f);
    }
    wg_callable_free(l.flow);
    wg_callable_free(l.move);
    wg_callable_free(l.look);
}

static wg_status fails(size_t first, size_t count, double *to, void *user) {
    (void)first, (void)user;
    for (size_t i = 0; i < count; i++) to[i] = 1;
    return ++*(int *)user > 1 ? WG_EARG : WG_OK;
}

static wg_status doubled(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], x[1]));
    return WG_OK;
}

typedef struct refusing {
    wg_callable *k;
    int calls;
} refusing;
static wg_status map_of_fill(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *user) {
    refusing *const r = user;
    (void)n, (void)m;
    const wg_source s[] = {wg_from_matrix(wg_mat_gather(t, 1, 1, x)),
                           wg_from_fill(fails, &r->calls)};
    wg_mat z;
    const wg_status status = wg_map(t, r->k, 1, s, NULL, &z);
    if (status == WG_OK) y[0] = wg_mat_at(z, 0, 0);
    return status;
}

/* A callback that fails when the map is taken apart. */
static void a_callback_that_fails_is_named(void **state) {
    (void)state;
    static const double x[2] = {3, 4};
    static const wg_argument in[] = {{"a", 1, 1, 0}, {"b", 1, 1, WG_PASSIVE}},
                             out = {"y", 1, 1, 0};
    refusing r = {callable_of(function_of(doubled, NULL, 2, in, x, 1, &out)), 0};
    wg_function *f;
    assert_int_equal(wg_function_record(coded, map_of_fill, &r, 1, in, x, 1, &out, &f),
                     WG_EARG);
    assert_null(f);
    assert_non_null(strstr(wg_tape_message(coded), "wg_map: the callback of input b"));
    wg_callable_free(r.k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gradient_that_is_called_is_differentiated_again),
        cmocka_unit_test(scans_in_functions_are_those_of_the_tape),
        cmocka_unit_test(a_callback_that_fails_is_named),
    };
    return cmocka_run_group_tests_name("written out", tests, open_tapes, close_tapes) +
           cmocka_run_group_tests_name("as loops", tests, open_looping, close_tapes);
}

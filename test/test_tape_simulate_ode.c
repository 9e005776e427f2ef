/* SPDX-License-Identifier: MIT */
/* Solutions in time and their adjoints: against exact solutions, against the same methods in
 * complex arithmetic of plain C, steps and all, and against each other. */
#include "ode_case.h"
#include "sanitized.h"

#include "tape/simulate/ode.h"

/* ---- what is solved ---------------------------------------------------------------------- */

enum { TIMES = 4, MOST_STEPS = 4000 };
static const double times[TIMES] = {0, 0.5, 0.8125, 1};

/* One call, with weights for all results: their sum is what is differentiated. */
typedef struct problem {
    const char *name;
    wg_ode_options o;
    size_t n, r;
    plain *f, *g;
    int columns; /* of parameters, one for each interval */
} problem;

static const problem problems[] = {
    {"RK4", {.method = WG_RK4, .step = 0.03}, 2, 0, hunt, NULL, 0},
    {"RK4, integrals", {.method = WG_RK4, .step = 0.03}, 2, 3, hunt, prey, 0},
    {"RK4, columns", {.method = WG_RK4, .step = 0.03}, 2, 3, hunt, prey, 1},
    {"DOPRI5, fixed", {.method = WG_DOPRI5, .step = 0.1}, 2, 3, hunt, prey, 0},
    {"DOPRI5, fixed, columns", {.method = WG_DOPRI5, .step = 0.1}, 4, 0, swing, NULL, 1},
    {"DOPRI5", {.method = WG_DOPRI5, .rtol = 1e-7, .atol = 1e-8}, 2, 3, hunt, prey, 0},
    {"DOPRI5, stops", {.rtol = 1e-7, .atol = 1e-8, .stop_at_times = 1}, 2, 3, hunt, prey, 0},
    {"DOPRI5, columns", {.rtol = 1e-9, .atol = 1e-9}, 4, 0, swing, NULL, 1},
    {"leapfrog", {.method = WG_LEAPFROG, .step = 0.01}, 4, 0, swing, NULL, 0},
    {"leapfrog, columns", {.method = WG_LEAPFROG, .step = 0.01}, 4, 0, swing, NULL, 1}};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static wg_ode *ode_for(const problem *c) { return c->n == 4 ? swinging() : hunting(c->r != 0); }

/* Entries of the operands, then weights of the results. */
enum { MOST = 4 + PARAMS * (TIMES - 1), RESULTS = 5 * TIMES };
static size_t operands(const problem *c) {
    return c->n + (size_t)PARAMS * (c->columns ? TIMES - 1 : 1);
}
static void operand_values(const problem *c, double *x) {
    for (size_t i = 0; i < operands(c); i++)
        x[i] = i < c->n
                   ? starts[i]
                   : params[(i - c->n) % PARAMS] * (1 + 0.1 * (double)((i - c->n) / PARAMS));
}
static double weight(size_t row, size_t col) {
    return 0.5 + 0.25 * (double)row - 0.375 * (double)col;
}

/* Ends of the steps, as wg_tape_progress is told of them: of times from 0 to 1 they are
 * these. */
typedef struct ends {
    size_t count;
    double t[MOST_STEPS];
} ends;
static int note(void *context, double done) {
    ends *const e = context;
    assert_true(e->count < MOST_STEPS);
    e->t[e->count++] = done;
    return 0;
}

static wg_status solve(wg_tape *t, const problem *c, const wg_ode *k, const wg_real *x,
                       const wg_ode_options *o, wg_mat *y, wg_mat *r, wg_ode_report *report) {
    const size_t columns = c->columns ? TIMES - 1 : 1;
    return wg_ode_solve(t, k, o, TIMES, times, wg_mat_gather(t, c->n, 1, x),
                        wg_mat_gather(t, PARAMS, columns, x + c->n), y, c->r ? r : NULL,
                        report);
}

/* The callback of drivers: the weighted sum. */
typedef struct asked {
    const problem *c;
    const wg_ode *k;
    wg_ode_options o;
    wg_ode_report report;
} asked;
static wg_status weighted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *out,
                          void *data) {
    asked *const a = data;
    wg_mat y, r;
    (void)n, (void)m;
    const wg_status s = solve(t, a->c, a->k, x, &a->o, &y, &r, &a->report);
    if (s != WG_OK) return s;
    wg_real sum = wg_constant(0);
    for (size_t j = 0; j < TIMES; j++)
        for (size_t i = 0; i < a->c->n + a->c->r; i++)
            sum = wg_let(t, wg_add(sum, wg_mul(weight(i, j),
                                               i < a->c->n ? wg_mat_at(y, i, j)
                                                           : wg_mat_at(r, i - a->c->n, j))));
    out[0] = sum;
    return WG_OK;
}

/* The same in complex arithmetic, with steps that end there. */
static double complex reference(const problem *c, const double complex *x, const ends *e) {
    double complex y[MOST_STATES] = {0}, sum = 0;
    double t = 0;
    size_t step = 0;
    memcpy(y, x, c->n * sizeof *y);
    for (size_t j = 0; j < TIMES; j++) {
        const double complex *const p =
            x + c->n + (c->columns && j != 0 ? (j - 1) * PARAMS : 0);
        while (t < times[j]) {
            const double h = e->t[step] - t;
            if (c->o.method == WG_LEAPFROG) plain_leap(c->f, c->n, t, h, p, y);
            else
                plain_step(c->o.method == WG_RK4 ? &classical : &dormand_prince, c->f, c->g,
                           c->n, c->r, t, h, p, y);
            t = e->t[step++];
        }
        for (size_t i = 0; i < c->n + c->r; i++) sum += weight(i, j) * y[i];
    }
    return sum;
}

static void gradients_are_those_of_a_complex_step(void **state) {
    (void)state;
    for (size_t q = 0; q < PROBLEMS; q++) {
        const problem *const c = &problems[q];
        asked a = {c, ode_for(c), c->o, {0}};
        ends e = {.count = 0};
        double x[MOST], g[MOST], f, size = 0;
        double complex z[MOST];
        const size_t n = operands(c);
        /* interpolated states are not steps of the reference */
        if (c->o.rtol != 0) a.o.stop_at_times = 1;
        operand_values(c, x);
        const wg_progress told = {note, &e, 0};
        assert_int_equal(wg_tape_progress(tape, &told), WG_OK);
        assert_int_equal(wg_eval(tape, weighted, &a, n, x, 1, &f), WG_OK);
        assert_int_equal(e.count, a.report.steps);
        assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
        assert_int_equal(wg_gradient(tape, weighted, &a, n, x, &f, g), WG_OK);
        for (size_t i = 0; i < n; i++) size = fmax(size, fabs(g[i]));
        for (size_t i = 0; i < n; i++) {
            for (size_t l = 0; l < n; l++) z[l] = x[l];
            z[i] += 1e-100 * I;
            const double complex w = reference(c, z, &e);
            assert_steps(f, creal(w), fabs(f) + 1, e.count);
            assert_steps(g[i], cimag(w) / 1e-100, size, e.count);
        }
        wg_ode_free(a.k == NULL ? NULL : (wg_ode *)(uintptr_t)a.k);
    }
}

static void tangents_and_adjoints_agree(void **state) {
    (void)state;
    for (size_t q = 0; q < PROBLEMS; q++) {
        const problem *const c = &problems[q];
        wg_ode *const k = ode_for(c);
        asked a = {c, k, c->o, {0}};
        double x[MOST], v[MOST], g[MOST], f, ft, fg;
        const size_t n = operands(c);
        operand_values(c, x);
        for (size_t i = 0; i < n; i++) v[i] = 0.3 - 0.07 * (double)(i % 5);
        assert_int_equal(wg_jvp(tape, weighted, &a, n, x, v, 1, &f, &ft), WG_OK);
        assert_int_equal(wg_gradient(tape, weighted, &a, n, x, &fg, g), WG_OK);
        assert_true(f == fg);
        double sum = 0, size = 0;
        for (size_t i = 0; i < n; i++) sum += g[i] * v[i], size += fabs(g[i] * v[i]);
        assert_steps(ft, sum, size, a.report.steps);
        wg_ode_free(k);
    }
}

/* ---- in functions ------------------------------------------------------------------------ */

static void steps_of_fixed_size_are_part_of_functions(void **state) {
    (void)state;
    for (size_t q = 0; q < PROBLEMS; q++) {
        const problem *const c = &problems[q];
        if (c->o.rtol != 0) continue;
        wg_ode *const k = ode_for(c);
        asked a = {c, k, c->o, {0}};
        const size_t n = operands(c);
        const wg_argument in = {"x", n, 1, 0}, out = {"f", 1, 1, 0};
        double x[MOST], g[MOST], df[MOST], f, y, size = 0;
        operand_values(c, x);
        wg_function *const of = function_of(weighted, &a, 1, &in, x, 1, &out), *grad = NULL;
        wg_ode_free(k); /* the function has taken what it needs */
        if (wg_function_gradient(coded, of, &grad) != WG_OK)
            fail_msg("%s", wg_tape_message(coded));
        for (size_t i = 0; i < n; i++) x[i] *= 1.125; /* elsewhere */
        evaluate_once(of, x, &y);
        evaluate_once(grad, x, df);
        wg_ode *const again = ode_for(c);
        a.k = again;
        assert_int_equal(wg_gradient(tape, weighted, &a, n, x, &f, g), WG_OK);
        for (size_t i = 0; i < n; i++) size = fmax(size, fabs(g[i]));
        assert_steps(y, f, fabs(f), a.report.steps);
        for (size_t i = 0; i < n; i++) assert_steps(df[i], g[i], size, a.report.steps);
        wg_function_free(of);
        wg_function_free(grad);
        wg_ode_free(again);
    }
}

/* Steps by tolerances are chosen anew where the function is evaluated, and more steps than are
 * written out are done there. */
static void all_other_solutions_are_nodes_of_functions(void **state) {
    (void)state;
    for (size_t q = 0; q < PROBLEMS; q++) {
        problem c = problems[q];
        if (c.o.rtol == 0 && c.o.method != WG_RK4) continue;
        if (c.o.rtol == 0) c.o.step = SANITIZED ? 3e-4 : 3e-5;
        wg_ode *const k = ode_for(&c);
        asked a = {&c, k, c.o, {0}};
        double x[MOST];
        operand_values(&c, x);
        assert_in_function(weighted, &a, operands(&c), x, 1, &a.report.steps);
        wg_ode_free(k);
    }
}

/* A point where there is no solution has NaN, and the next one has its own. */
static void points_without_a_solution_are_nan(void **state) {
    enum { POINTS = 3 };
    (void)state;
    const problem *const c = &problems[5];
    wg_ode *const k = ode_for(c);
    asked a = {c, k, c->o, {0}};
    const size_t n = operands(c);
    const wg_argument in = {"x", n, 1, 0}, out = {"f", 1, 1, 0};
    double x[POINTS * MOST], y[POINTS], alone;
    operand_values(c, x);
    wg_function *const f = function_of(weighted, &a, 1, &in, x, 1, &out);
    for (size_t i = n; i < POINTS * n; i++) x[i] = x[i - n];
    x[n] = 1e300; /* of the second point */
    void *const work = malloc(wg_function_work(f, NULL));
    const wg_points from = {x, (ptrdiff_t)n, 1};
    const wg_results to = {y, 1, 1};
    assert_int_equal(wg_function_evaluate(f, POINTS, &from, &to, NULL, work, NULL), WG_OK);
    free(work);
    assert_int_equal(wg_eval(tape, weighted, &a, n, x, 1, &alone), WG_OK);
    assert_true(y[0] == alone && y[1] != y[1] && y[2] == alone);
    size_t bytes;
    assert_int_equal(wg_function_save(f, NULL, 0, &bytes), WG_EMODE);
    wg_function_free(f);
    wg_ode_free(k);
}

/* ---- exact solutions --------------------------------------------------------------------- */

static wg_status turn(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                      void *data) {
    (void)n, (void)m, (void)data;
    dy[0] = x[2];
    dy[1] = wg_let(t, wg_neg(x[1]));
    return WG_OK;
}

/* The largest error of cos and -sin at some times. */
static double error_of(const wg_ode *k, const wg_ode_options *o, size_t count) {
    const double one[2] = {1, 0};
    double at[64], most = 0;
    wg_mat y;
    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++) at[i] = 2 * (double)i / (double)(count - 1);
    wg_tape_reset(tape);
    assert_int_equal(wg_ode_solve(tape, k, o, count, at, wg_mat_constant(tape, 2, 1, one, 2),
                                  wg_mat_failed(0, 0), &y, NULL, NULL),
                     WG_OK);
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(wg_value(wg_mat_at(y, 0, i)) - cos(at[i])));
        most = fmax(most, fabs(wg_value(wg_mat_at(y, 1, i)) + sin(at[i])));
    }
    return most;
}

static void every_method_has_its_order(void **state) {
    (void)state;
    wg_ode *const k = ode_of(rhs_of(turn, 2, 0, 2), NULL);
    const struct {
        wg_ode_method method;
        double order;
    } row[] = {{WG_DOPRI5, 5}, {WG_RK4, 4}, {WG_LEAPFROG, 2}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        wg_ode_options o = {.method = row[i].method, .step = 0.1};
        const double coarse = error_of(k, &o, 2);
        o.step /= 2;
        const double order = log2(coarse / error_of(k, &o, 2));
        if (!(order > row[i].order - 0.2 && order < row[i].order + 0.6))
            fail_msg("method %d has order %g", (int)row[i].method, order);
    }
    wg_ode_free(k);
}

/* Interpolation is of order 4 between steps of order 5. */
static void errors_follow_the_tolerances(void **state) {
    (void)state;
    wg_ode *const k = ode_of(rhs_of(turn, 2, 0, 2), NULL);
    for (int way = 0; way < 2; way++)
        for (double tolerance = 1e-4; tolerance > 1e-12; tolerance /= 10) {
            const wg_ode_options o = {
                .rtol = tolerance, .atol = tolerance, .stop_at_times = way};
            const double error = error_of(k, &o, 50);
            if (!(error < 10 * tolerance)) fail_msg("error %g of %g", error, tolerance);
        }
    wg_ode_free(k);
}

static void no_step_is_longer_than_it_may_be(void **state) {
    (void)state;
    wg_ode *const k = hunting(0);
    for (int way = 0; way < 4; way++) {
        const double at[] = {0, way % 2 != 0 ? 1 : -1}, first = way < 2 ? 0 : 0.5;
        const wg_ode_options o = {.rtol = 1, .atol = 1, .step = first, .max_step = 0.1};
        wg_ode_report report;
        wg_mat y;
        wg_tape_reset(tape);
        assert_int_equal(
            wg_ode_solve(tape, k, &o, 2, at, wg_mat_constant(tape, 2, 1, starts, 2),
                         wg_mat_constant(tape, PARAMS, 1, params, PARAMS), &y, NULL, &report),
            WG_OK);
        assert_true(report.steps >= 10);
    }
    wg_tape_reset(tape);
    wg_ode_free(k);
}

static void time_may_run_backwards(void **state) {
    (void)state;
    wg_ode *const k = hunting(1);
    const double forth[2] = {0, 1}, back[2] = {1, 0};
    const wg_ode_options o = {.rtol = 1e-12, .atol = 1e-12};
    wg_mat y, r, z, s;
    wg_tape_reset(tape);
    const wg_mat y0 = wg_mat_input(tape, 2, 1, starts, 2);
    const wg_mat p = wg_mat_input(tape, PARAMS, 1, params, PARAMS);
    assert_int_equal(wg_ode_solve(tape, k, &o, 2, forth, y0, p, &y, &r, NULL), WG_OK);
    assert_int_equal(wg_ode_solve(tape, k, &o, 2, back, wg_mat_col(y, 1), p, &z, &s, NULL),
                     WG_OK);
    double g[2], gp[PARAMS];
    for (size_t i = 0; i < 2; i++)
        assert_true(fabs(wg_value(wg_mat_at(z, i, 1)) - starts[i]) < TOL_SOLVED_TWICE);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(wg_value(wg_mat_at(s, i, 1)) + wg_value(wg_mat_at(r, i, 1))) <
                    TOL_SOLVED_TWICE);
    assert_int_equal(wg_reverse(tape, wg_mat_at(z, 0, 1)), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, y0, g, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, p, gp, PARAMS), WG_OK);
    assert_true(fabs(g[0] - 1) < TOL_SOLVED_TWICE && fabs(g[1]) < TOL_SOLVED_TWICE);
    for (size_t i = 0; i < PARAMS; i++) assert_true(fabs(gp[i]) < TOL_SOLVED_TWICE);
    wg_ode_free(k);
}

/* The energy of a symplectic method stays where it is, that of another one drifts away. */
static void leapfrog_keeps_energy(void **state) {
    (void)state;
    wg_ode *const k = swinging();
    const double at[2] = {0, 500}, still[PARAMS] = {1.1, 0.4, 1, 1, 0};
    double drift[2];
    for (int way = 0; way < 2; way++) {
        const wg_ode_options o = {.method = way ? WG_RK4 : WG_LEAPFROG, .step = 0.2};
        double energy[2];
        wg_mat y;
        wg_tape_reset(tape);
        assert_int_equal(
            wg_ode_solve(tape, k, &o, 2, at, wg_mat_constant(tape, 4, 1, starts, 4),
                         wg_mat_constant(tape, PARAMS, 1, still, PARAMS), &y, NULL, NULL),
            WG_OK);
        for (size_t j = 0; j < 2; j++) {
            const double *const s = y.value + 4 * j;
            energy[j] = (s[2] * s[2] + s[3] * s[3]) / 2 - 1.1 * (cos(s[0]) + cos(s[1])) +
                        0.2 * (s[0] - s[1]) * (s[0] - s[1]);
        }
        drift[way] = fabs(energy[1] - energy[0]);
    }
    assert_true(drift[0] < drift[1] / 4);
    wg_ode_free(k);
}

/* ---- large systems: adjoints by vjp ------------------------------------------------------ */

enum { CELLS = 50 };
static wg_status heat(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                      void *data) {
    const wg_real *const u = x + 1;
    (void)n, (void)m, (void)data;
    for (size_t i = 0; i < CELLS; i++) {
        const wg_real left = i != 0 ? u[i - 1] : wg_constant(0);
        const wg_real right = i + 1 < CELLS ? u[i + 1] : wg_constant(0);
        dy[i] = wg_let(t, wg_mul(256, wg_add(wg_sub(left, wg_mul(2, u[i])), right)));
    }
    return WG_OK;
}

/* w' = (I + z + z^2/2 + z^3/6 + z^4/24)' applied so many times, z = h L, which is symmetric. */
static void transposed_steps(size_t steps, double h, double *w) {
    double z[CELLS], next[CELLS];
    for (size_t s = 0; s < steps; s++) {
        memcpy(z, w, sizeof z);
        for (int power = 1; power <= 4; power++) {
            for (size_t i = 0; i < CELLS; i++)
                next[i] = 256 * h / power *
                          ((i != 0 ? z[i - 1] : 0) - 2 * z[i] + (i + 1 < CELLS ? z[i + 1] : 0));
            for (size_t i = 0; i < CELLS; i++) w[i] += z[i] = next[i];
        }
    }
}

static void adjoint_of_heat_is_that_of_the_transposed_matrices(void **state) {
    (void)state;
    wg_ode *const k = ode_of(rhs_of(heat, CELLS, 0, CELLS), NULL);
    const wg_ode_options o = {.method = WG_RK4, .step = 0.001953125};
    const double at[2] = {0, 0.25};
    double u[CELLS], w[CELLS], g[CELLS];
    wg_mat y;
    for (size_t i = 0; i < CELLS; i++) {
        u[i] = sin(0.3 * (double)i);
        w[i] = 1 / (1 + (double)i);
    }
    wg_tape_reset(tape);
    const wg_mat u0 = wg_mat_input(tape, CELLS, 1, u, CELLS);
    assert_int_equal(wg_ode_solve(tape, k, &o, 2, at, u0, wg_mat_failed(0, 0), &y, NULL, NULL),
                     WG_OK);
    assert_int_equal(wg_reverse(tape, wg_mat_dot(tape, wg_mat_col(y, 1),
                                                 wg_mat_constant(tape, CELLS, 1, w, CELLS))),
                     WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, u0, g, CELLS), WG_OK);
    transposed_steps(128, 0.25 / 128, w);
    for (size_t i = 0; i < CELLS; i++) assert_steps(g[i], w[i], 1, 128);
    /* y and w' y0 are the same number */
    double sum = 0, last = 0;
    for (size_t i = 0; i < CELLS; i++) {
        sum += w[i] * u[i];
        last += y.value[CELLS + i] / (1 + (double)i);
    }
    assert_steps(last, sum, 1, 128);
    wg_ode_free(k);
}

/* ---- which way adjoints go --------------------------------------------------------------- */

/* Each state has to do with three others in a ring, or with all. */
static wg_status ring(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                      void *data) {
    const wg_real *const y = x + 1;
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++)
        dy[i] = wg_let(
            t, wg_sub(wg_mul(wg_sub(y[(i + 1) % m], y[(i + m - 2) % m]), y[(i + m - 1) % m]),
                      y[i]));
    return WG_OK;
}
static wg_status everybody(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                           void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++) {
        wg_real sum = wg_constant(0);
        for (size_t j = 0; j < m; j++)
            sum = wg_let(t, wg_add(sum, wg_mul(sin(1 + (double)(i * j)), wg_sin(x[1 + j]))));
        dy[i] = wg_let(t, wg_tanh(sum));
    }
    return WG_OK;
}

static void dense_jacobians_are_not_evaluated_for_their_zeros(void **state) {
    const struct {
        wg_callback *f;
        size_t n;
        int by_jacobian;
    } want[] = {{ring, 4, 1}, {ring, 8, 1}, {ring, 24, 0}, {ring, 40, 0}, {everybody, 24, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        wg_ode *const k = ode_of(rhs_of(want[i].f, want[i].n, 0, want[i].n), NULL);
        assert_int_equal(k->flow.by_jacobian, want[i].by_jacobian);
        wg_ode_free(k);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_a_complex_step),
        cmocka_unit_test(tangents_and_adjoints_agree),
        cmocka_unit_test(steps_of_fixed_size_are_part_of_functions),
        cmocka_unit_test(all_other_solutions_are_nodes_of_functions),
        cmocka_unit_test(points_without_a_solution_are_nan),
        cmocka_unit_test(every_method_has_its_order),
        cmocka_unit_test(errors_follow_the_tolerances),
        cmocka_unit_test(no_step_is_longer_than_it_may_be),
        cmocka_unit_test(time_may_run_backwards),
        cmocka_unit_test(leapfrog_keeps_energy),
        cmocka_unit_test(adjoint_of_heat_is_that_of_the_transposed_matrices),
        cmocka_unit_test(dense_jacobians_are_not_evaluated_for_their_zeros),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

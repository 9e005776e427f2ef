/* SPDX-License-Identifier: MIT */
/* Stiff systems: the Rosenbrock method against itself in complex arithmetic of plain C, against
 * published solutions (the test set for initial value problems of Mazzia and Magherini, release
 * 2.4; sensitivities: SUNDIALS, the output of its example cvsRoberts_FSA_dns), and against an
 * explicit one. */
#include "ode_case.h"

static wg_ode *stiff(wg_function *rhs, wg_function *integrand) {
    const wg_ode_system system = {.rhs = rhs, .integrand = integrand, .stiff = 1};
    wg_ode *k = NULL;
    if (wg_ode_new(coded, &system, &k) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    wg_function_free(rhs);
    wg_function_free(integrand);
    return k;
}
static wg_ode *hunting_stiff(int with_integrals) {
    return stiff(rhs_of(hunt_recorded, 2, PARAMS, 2),
                 with_integrals ? rhs_of(prey_recorded, 2, PARAMS, 3) : NULL);
}

/* y' = -p0 (y - cos t) - sin t, whose solution from 1 is cos t: one state. */
static wg_status follow(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                        void *data) {
    (void)n, (void)m, (void)data;
    const wg_real off = wg_let(t, wg_sub(x[1], wg_cos(x[0])));
    dy[0] = wg_let(t, wg_sub(wg_mul(wg_neg(x[2]), wg_add(off, wg_square(off))), wg_sin(x[0])));
    return WG_OK;
}

static double follow_error(const wg_ode *k, double stiffness, double step) {
    const wg_ode_options o = {.method = WG_RODAS4, .step = step};
    const double at[] = {0, 0.7, 2}, one = 1;
    wg_mat y;
    wg_tape_reset(tape);
    assert_int_equal(wg_ode_solve(tape, k, &o, 3, at, wg_mat_constant(tape, 1, 1, &one, 1),
                                  wg_mat_constant(tape, 1, 1, &stiffness, 1), &y, NULL, NULL),
                     WG_OK);
    return fmax(fabs(y.value[1] - cos(0.7)), fabs(y.value[2] - cos(2)));
}

static void rosenbrock_method_is_of_order_4(void **state) {
    (void)state;
    wg_ode *const k = stiff(rhs_of(follow, 1, 1, 1), NULL);
    const double order = log2(follow_error(k, 2, 0.05) / follow_error(k, 2, 0.025));
    if (!(order > 3.7 && order < 4.6)) fail_msg("order %g", order);
    /* an explicit method would take steps of 3e-6 */
    assert_true(follow_error(k, 1e6, 0.1) < 1e-4);
    wg_ode_free(k);
}

/* ---- the method in complex arithmetic ---------------------------------------------------- */

/* The coefficients once more: that they are right, order and published solutions say. */
static const double A[6][6] = {
    {0},
    {1.544},
    {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1}};
static const double C[6][6] = {
    {0},
    {-5.6688},
    {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
     -6.058818238834054}};
static const double AT[6] = {0, 0.386, 0.21, 0.63, 1, 1},
                    D[6] = {0.25, -0.1043, 0.1035, -0.03620000000000023, 0, 0};

/* f of hunt and prey, its Jacobian by y, its slope in time. */
enum { ALL = 5 };
static void slopes(double t, const double complex *y, const double complex *p,
                   double complex j[ALL][ALL], double complex *ft) {
    memset(j, 0, ALL * sizeof *j);
    j[0][0] = p[0] - p[1] * y[1], j[0][1] = -p[1] * y[0];
    j[1][0] = p[2] * y[1], j[1][1] = p[2] * y[0] - p[3];
    j[2][0] = 2 * y[0] * p[1];
    j[3][1] = cos(t);
    ft[0] = 3 * p[4] * cos(3 * t);
    ft[1] = ft[2] = ft[4] = 0;
    ft[3] = -sin(t) * y[1];
}

static void eliminate(double complex m[ALL][ALL], double complex *x) {
    for (int k = 0; k < ALL; k++)
        for (int i = k + 1; i < ALL; i++) {
            const double complex by = m[i][k] / m[k][k];
            for (int j = k; j < ALL; j++) m[i][j] -= by * m[k][j];
            x[i] -= by * x[k];
        }
    for (int k = ALL; k-- > 0;) {
        for (int j = k + 1; j < ALL; j++) x[k] -= m[k][j] * x[j];
        x[k] /= m[k][k];
    }
}

static void plain_rosenbrock(double t, double h, const double complex *p, double complex *y) {
    double complex u[6][ALL], at[ALL], j[ALL][ALL], ft[ALL], m[ALL][ALL];
    slopes(t, y, p, j, ft);
    for (int i = 0; i < 6; i++) {
        for (int l = 0; l < ALL; l++) {
            at[l] = y[l];
            for (int k = 0; k < i; k++) at[l] += A[i][k] * u[k][l];
        }
        hunt(t + AT[i] * h, at, p, u[i]);
        prey(t + AT[i] * h, at, p, u[i] + 2);
        for (int l = 0; l < ALL; l++) {
            for (int k = 0; k < i; k++) u[i][l] += C[i][k] / h * u[k][l];
            u[i][l] += D[i] * h * ft[l];
            for (int k = 0; k < ALL; k++) m[l][k] = (l == k ? 4 / h : 0) - j[l][k];
        }
        eliminate(m, u[i]);
    }
    for (int l = 0; l < ALL; l++) y[l] = at[l] + u[5][l];
}

enum { ENTRIES = 2 + PARAMS };

static wg_status last(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *out,
                      void *data) {
    const double at[2] = {0, 1};
    const wg_ode_options o = {.method = WG_RODAS4, .step = 0.05};
    wg_mat y, r;
    (void)n, (void)m;
    const wg_status s = wg_ode_solve(t, data, &o, 2, at, wg_mat_gather(t, 2, 1, x),
                                     wg_mat_gather(t, PARAMS, 1, x + 2), &y, &r, NULL);
    if (s != WG_OK) return s;
    out[0] = wg_let(t, wg_add(wg_add(wg_mat_at(y, 0, 1), wg_mul(0.5, wg_mat_at(y, 1, 1))),
                              wg_sub(wg_mat_at(r, 0, 1), wg_mul(2, wg_mat_at(r, 1, 1)))));
    return WG_OK;
}

static void gradient_is_that_of_a_complex_step(void **state) {
    (void)state;
    wg_ode *const k = hunting_stiff(1);
    double x[ENTRIES], g[ENTRIES], f, size = 0;
    memcpy(x, starts, 2 * sizeof *x);
    memcpy(x + 2, params, sizeof params);
    assert_int_equal(wg_gradient(tape, last, k, ENTRIES, x, &f, g), WG_OK);
    for (size_t i = 0; i < ENTRIES; i++) size = fmax(size, fabs(g[i]));
    for (size_t i = 0; i < ENTRIES; i++) {
        double complex p[PARAMS], y[ALL] = {x[0], x[1]};
        for (size_t l = 0; l < PARAMS; l++) p[l] = x[2 + l];
        if (i < 2) y[i] += 1e-100 * I;
        else p[i - 2] += 1e-100 * I;
        for (int step = 0; step < 20; step++) plain_rosenbrock(0.05 * step, 0.05, p, y);
        const double complex w = y[0] + 0.5 * y[1] + y[2] - 2 * y[3];
        assert_steps(f, creal(w), fabs(f) + 1, 20);
        assert_steps(g[i], cimag(w) / 1e-100, size, 20);
    }
    wg_ode_free(k);
}

/* ---- tangents and adjoints --------------------------------------------------------------- */

enum { CELLS = 40, TIMES = 3 };

/* Heat that is given off: a system too large for a dense Jacobian of every stage. */
static wg_status warm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                      void *data) {
    const wg_real *const u = x + 1, *const p = x + 1 + CELLS;
    (void)n, (void)m, (void)data;
    for (size_t i = 0; i < CELLS; i++) {
        const wg_real left = i != 0 ? u[i - 1] : wg_constant(0);
        const wg_real right = i + 1 < CELLS ? u[i + 1] : wg_constant(0);
        const wg_real flow = wg_let(t, wg_add(wg_sub(left, wg_mul(2, u[i])), right));
        dy[i] = wg_let(t, wg_sub(wg_mul(wg_mul(p[0], 1600), flow),
                                 wg_mul(p[1], wg_mul(wg_square(u[i]), wg_cos(x[0])))));
    }
    return WG_OK;
}

typedef struct way {
    const char *name;
    wg_callback *f;
    size_t n, m, r;
    size_t columns;
    wg_ode_options o;
} way;
static const way ways[] = {
    {"one state", follow, 1, 1, 0, 1, {.method = WG_RODAS4, .rtol = 1e-6, .atol = 1e-6}},
    {"hunt", hunt_recorded, 2, PARAMS, 3, 1, {.method = WG_RODAS4, .rtol = 1e-6, .atol = 1e-6}},
    {"hunt, columns",
     hunt_recorded,
     2,
     PARAMS,
     3,
     2,
     {.method = WG_RODAS4, .rtol = 1e-6, .atol = 1e-6}},
    {"hunt, fixed", hunt_recorded, 2, PARAMS, 3, 1, {.method = WG_RODAS4, .step = 0.05}},
    {"heat", warm, CELLS, 2, 0, 1, {.method = WG_RODAS4, .rtol = 1e-4, .atol = 1e-4}}};

typedef struct asked {
    const way *w;
    const wg_ode *k;
    size_t stored;
    wg_ode_report report;
} asked;

static wg_status weighted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *out,
                          void *data) {
    asked *const a = data;
    const way *const w = a->w;
    const double at[TIMES] = {0, 0.3, 1};
    wg_ode_options o = w->o;
    wg_mat y, r;
    (void)n, (void)m;
    o.stored = a->stored;
    const wg_status s = wg_ode_solve(t, a->k, &o, TIMES, at, wg_mat_gather(t, w->n, 1, x),
                                     wg_mat_gather(t, w->m, w->columns, x + w->n), &y,
                                     w->r ? &r : NULL, &a->report);
    if (s != WG_OK) return s;
    wg_real sum = wg_constant(0);
    for (size_t j = 0; j < TIMES; j++)
        for (size_t i = 0; i < w->n + w->r; i++)
            sum = wg_let(t, wg_add(sum, wg_mul(1 / (1.0 + (double)(i + j)),
                                               i < w->n ? wg_mat_at(y, i, j)
                                                        : wg_mat_at(r, i - w->n, j))));
    out[0] = sum;
    return WG_OK;
}

static void tangents_and_adjoints_agree(void **state) {
    (void)state;
    enum { MOST = CELLS + 2 * PARAMS };
    for (size_t q = 0; q < sizeof ways / sizeof *ways; q++) {
        const way *const w = &ways[q];
        wg_ode *const k = stiff(rhs_of(w->f, w->n, w->m, w->n),
                                w->r ? rhs_of(prey_recorded, w->n, w->m, w->r) : NULL);
        asked a = {w, k, 0, {0}};
        double x[MOST], v[MOST], g[MOST], h[MOST], f, ft;
        const size_t n = w->n + w->m * w->columns;
        for (size_t i = 0; i < n; i++) {
            x[i] = 0.4 + 0.3 * sin((double)i);
            v[i] = 0.3 - 0.07 * (double)(i % 5);
        }
        assert_int_equal(wg_jvp(tape, weighted, &a, n, x, v, 1, &f, &ft), WG_OK);
        assert_int_equal(wg_gradient(tape, weighted, &a, n, x, &f, g), WG_OK);
        double sum = 0, size = 0;
        for (size_t i = 0; i < n; i++) sum += g[i] * v[i], size += fabs(g[i] * v[i]);
        assert_steps(ft, sum, size, a.report.steps);
        a.stored = 1;
        assert_int_equal(wg_gradient(tape, weighted, &a, n, x, &f, h), WG_OK);
        assert_memory_equal(g, h, n * sizeof *g);
        wg_ode_free(k);
    }
}

/* The systems of each step are those of the point at which the function is evaluated. */
static void solutions_are_nodes_of_functions(void **state) {
    (void)state;
    enum { MOST = CELLS + 2 * PARAMS };
    for (size_t q = 0; q < sizeof ways / sizeof *ways; q++) {
        const way *const w = &ways[q];
        wg_ode *const k = stiff(rhs_of(w->f, w->n, w->m, w->n),
                                w->r ? rhs_of(prey_recorded, w->n, w->m, w->r) : NULL);
        asked a = {w, k, 0, {0}};
        double x[MOST];
        const size_t n = w->n + w->m * w->columns;
        for (size_t i = 0; i < n; i++) x[i] = 0.4 + 0.3 * sin((double)i);
        assert_in_function(weighted, &a, n, x, 1, &a.report.steps);
        wg_ode_free(k);
    }
}

static void explicit_method_has_the_same_gradient(void **state) {
    (void)state;
    double x[ENTRIES], g[2][ENTRIES], f;
    memcpy(x, starts, 2 * sizeof *x);
    memcpy(x + 2, params, sizeof params);
    for (int i = 0; i < 2; i++) {
        const way w = {"",
                       hunt_recorded,
                       2,
                       PARAMS,
                       3,
                       1,
                       {.method = i ? WG_RODAS4 : WG_DOPRI5,
                        .rtol = 1e-9,
                        .atol = 1e-9,
                        .stop_at_times = 1}};
        wg_ode *const k = hunting_stiff(1);
        asked a = {&w, k, 0, {0}};
        assert_int_equal(wg_gradient(tape, weighted, &a, ENTRIES, x, &f, g[i]), WG_OK);
        wg_ode_free(k);
    }
    for (size_t i = 0; i < ENTRIES; i++) assert_true(fabs(g[0][i] - g[1][i]) < TOL_TWO_METHODS);
}

/* ---- published solutions ----------------------------------------------------------------- */

static wg_status roberts(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                         void *data) {
    const wg_real *const y = x + 1, *const p = x + 4;
    (void)n, (void)m, (void)data;
    const wg_real slow = wg_let(t, wg_mul(p[0], y[0]));
    const wg_real fast = wg_let(t, wg_mul(p[1], wg_mul(y[1], y[2])));
    dy[2] = wg_let(t, wg_mul(p[2], wg_square(y[1])));
    dy[0] = wg_let(t, wg_sub(fast, slow));
    dy[1] = wg_let(t, wg_sub(wg_sub(slow, fast), dy[2]));
    return WG_OK;
}

static void kinetics_of_roberts_are_as_published(void **state) {
    (void)state;
    static const double at[] = {0, 0.4, 1e11}, start[] = {1, 0, 0}, rate[] = {0.04, 1e4, 3e7};
    static const double end[] = {0.2083340149701255e-07, 0.8333360770334713e-13,
                                 0.9999999791665050};
    static const double by[3][3] = {{-3.5595e-01, 9.5431e-08, -1.5833e-11},
                                    {3.9025e-04, -2.1309e-10, -5.2900e-13},
                                    {3.5556e-01, -9.5218e-08, 1.6362e-11}};
    const double atols[] = {1e-12, 1e-16, 1e-12};
    const wg_ode_options o = {.method = WG_RODAS4, .rtol = 1e-7, .atols = atols};
    wg_ode *const k = stiff(rhs_of(roberts, 3, 3, 3), NULL);
    wg_mat y;
    wg_tape_reset(tape);
    const wg_mat p = wg_mat_input(tape, 3, 1, rate, 3);
    assert_int_equal(wg_ode_solve(tape, k, &o, 3, at, wg_mat_constant(tape, 3, 1, start, 3), p,
                                  &y, NULL, NULL),
                     WG_OK);
    for (size_t i = 0; i < 3; i++) {
        double g[3];
        assert_true(fabs(y.value[6 + i] / end[i] - 1) < TOL_PUBLISHED);
        assert_int_equal(wg_reverse(tape, wg_mat_at(y, i, 1)), WG_OK);
        assert_int_equal(wg_mat_adjoint(tape, p, g, 3), WG_OK);
        for (size_t j = 0; j < 3; j++)
            assert_true(fabs(g[j] / by[i][j] - 1) < TOL_PUBLISHED_SENSITIVITY);
    }
    wg_ode_free(k);
}

static wg_status hires(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                       void *data) {
    const wg_real *const y = x + 1;
    (void)n, (void)m, (void)data;
    const wg_real meet = wg_let(t, wg_mul(280, wg_mul(y[5], y[7])));
    dy[0] = wg_let(t, wg_add(wg_add(wg_mul(-1.71, y[0]), wg_mul(0.43, y[1])),
                             wg_add(wg_mul(8.32, y[2]), 0.0007)));
    dy[1] = wg_let(t, wg_sub(wg_mul(1.71, y[0]), wg_mul(8.75, y[1])));
    dy[2] = wg_let(
        t, wg_add(wg_add(wg_mul(-10.03, y[2]), wg_mul(0.43, y[3])), wg_mul(0.035, y[4])));
    dy[3] =
        wg_let(t, wg_sub(wg_add(wg_mul(8.32, y[1]), wg_mul(1.71, y[2])), wg_mul(1.12, y[3])));
    dy[4] = wg_let(t, wg_add(wg_mul(-1.745, y[4]), wg_mul(0.43, wg_add(y[5], y[6]))));
    dy[5] = wg_let(t, wg_add(wg_sub(wg_mul(0.69, wg_add(y[3], y[6])), meet),
                             wg_sub(wg_mul(1.71, y[4]), wg_mul(0.43, y[5]))));
    dy[6] = wg_let(t, wg_sub(meet, wg_mul(1.81, y[6])));
    dy[7] = wg_let(t, wg_neg(dy[6]));
    return WG_OK;
}

static wg_status van_der_pol(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                             void *data) {
    (void)n, (void)m, (void)data;
    dy[0] = x[2];
    dy[1] = wg_let(t, wg_sub(wg_mul(1000, wg_mul(wg_sub(1, wg_square(x[1])), x[2])), x[1]));
    return WG_OK;
}

static void assert_published(wg_callback *f, size_t n, double end, const double *start,
                             const double *expected) {
    const double at[2] = {0, end};
    const wg_ode_options o = {.method = WG_RODAS4, .rtol = 1e-9, .atol = 1e-11};
    wg_ode *const k = stiff(rhs_of(f, n, 0, n), NULL);
    wg_mat y;
    wg_tape_reset(tape);
    assert_int_equal(wg_ode_solve(tape, k, &o, 2, at, wg_mat_constant(tape, n, 1, start, n),
                                  wg_mat_failed(0, 0), &y, NULL, NULL),
                     WG_OK);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(y.value[n + i] / expected[i] - 1) < TOL_PUBLISHED))
            fail_msg("%.17g, not %.17g", y.value[n + i], expected[i]);
    wg_ode_free(k);
}

static void test_set_is_solved_as_published(void **state) {
    (void)state;
    const double light[8] = {1, 0, 0, 0, 0, 0, 0, 0.0057}, swing[2] = {2, 0};
    const double after[8] = {0.7371312573325668e-3, 0.1442485726316185e-3,
                             0.5888729740967575e-4, 0.1175651343283149e-2,
                             0.2386356198831331e-2, 0.6238968252742796e-2,
                             0.2849998395185769e-2, 0.2850001604814231e-2};
    const double pol[2] = {0.1706167732170469e1, -0.8928097010248125e-3};
    assert_published(hires, 8, 321.8122, light, after);
    assert_published(van_der_pol, 2, 2000, swing, pol);
}

/* ---- refused ----------------------------------------------------------------------------- */

/* y' = 4 y: the matrix of a step of 1 is 4 - 4. */
static wg_status quarter(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                         void *data) {
    (void)n, (void)m, (void)data;
    dy[0] = wg_let(t, wg_mul(4, x[1]));
    return WG_OK;
}

static void singular_steps_are_refused_or_shorter(void **state) {
    (void)state;
    wg_ode *const k = stiff(rhs_of(quarter, 1, 0, 1), NULL);
    const double at[2] = {0, 1}, one = 1;
    for (int by_error = 0; by_error < 2; by_error++) {
        const wg_ode_options o = {.method = WG_RODAS4, .step = 1, .rtol = by_error ? 1e-8 : 0};
        wg_mat y;
        wg_ode_report report;
        wg_tape_reset(tape);
        const wg_status s =
            wg_ode_solve(tape, k, &o, 2, at, wg_mat_constant(tape, 1, 1, &one, 1),
                         wg_mat_failed(0, 0), &y, NULL, &report);
        assert_int_equal(s, by_error ? WG_OK : WG_ESINGULAR);
        if (by_error) assert_true(report.rejected > 0 && fabs(y.value[1] / exp(4) - 1) < 1e-6);
        else assert_message(tape, "at time 0: the matrix of the next step is singular");
    }
    wg_tape_reset(tape);
    wg_ode_free(k);
}

static void systems_that_were_not_made_stiff_are_refused(void **state) {
    (void)state;
    wg_ode *const k = hunting(0);
    const wg_ode_options o = {.method = WG_RODAS4, .step = 0.1};
    const double at[2] = {0, 1};
    wg_mat y;
    wg_tape_reset(tape);
    assert_int_equal(wg_ode_solve(tape, k, &o, 2, at, wg_mat_constant(tape, 2, 1, starts, 2),
                                  wg_mat_constant(tape, PARAMS, 1, params, PARAMS), &y, NULL,
                                  NULL),
                     WG_EARG);
    assert_message(tape, "WG_RODAS4 is for systems that were made stiff");
    wg_tape_reset(tape);
    wg_ode_free(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rosenbrock_method_is_of_order_4),
        cmocka_unit_test(gradient_is_that_of_a_complex_step),
        cmocka_unit_test(tangents_and_adjoints_agree),
        cmocka_unit_test(solutions_are_nodes_of_functions),
        cmocka_unit_test(explicit_method_has_the_same_gradient),
        cmocka_unit_test(kinetics_of_roberts_are_as_published),
        cmocka_unit_test(test_set_is_solved_as_published),
        cmocka_unit_test(singular_steps_are_refused_or_shorter),
        cmocka_unit_test(systems_that_were_not_made_stiff_are_refused),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

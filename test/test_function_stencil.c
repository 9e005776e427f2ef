/* SPDX-License-Identifier: MIT */
/* Adjoints of stencils as stencils: against the same loops by other callables. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "counted.h"
#include "driver_cases.h"
#include "pools.h"
#include "scratch.h"

#include "tape/function/loops/stencil.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number(size_t i) { return 0.1 * (double)(i % 23) - 1 + 0.013 * (double)(i % 7); }

static wg_callable *plain_of(wg_callback *f, size_t inputs, const wg_argument *in,
                             size_t outputs, const wg_argument *out) {
    double x[32];
    for (size_t i = 0; i < 32; i++) x[i] = 1 + 0.25 * (double)i;
    return callable(f, inputs, in, x, outputs, out);
}

static wg_callable *stencil_of(const wg_callable *plain, const wg_source *from) {
    wg_callable *k = NULL;
    if (wg_callable_stencil(coded, plain, from, &k) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
    return k;
}

static wg_callable *compiled_of(const wg_callable *k) {
    const wg_compile_options o = {.directory = COMPILED_BEFORE};
    wg_callable *compiled = NULL;
    if (wg_callable_compile(coded, k, &o, &compiled, NULL) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
    return compiled;
}

/* ---- three stages ------------------------------------------------------------------------ */

/* States u (2x1), v, z; h (2x1) passes on. k is of all steps, m of each, both active; d data.
 */
enum { STAGES = 3, STEPS = 3, CLAMPED = 4 };

/* x: u at four places, k, d; y: h. */
static wg_status first(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    wg_real a = x[0], b = wg_let(t, wg_mul(x[1], x[8]));
    for (size_t i = 1; i < 4; i++) {
        a = wg_let(t, wg_add(a, wg_mul(0.125, wg_mul(x[2 * i], x[9]))));
        b = wg_let(t, wg_sub(b, wg_mul(wg_mul(x[2 * i + 1], x[0]), 0.25)));
    }
    y[0] = wg_let(t, wg_mul(a, 0.5));
    y[1] = wg_let(t, wg_mul(b, x[8]));
    return WG_OK;
}
/* x: h at three places, u, s (shared, passive); y: u, z. */
static wg_status second(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(x[6], wg_mul(x[8], wg_sub(x[2], x[4]))));
    y[1] = wg_let(t, wg_sub(wg_mul(x[7], 0.5), wg_mul(wg_mul(x[3], x[0]), 0.125)));
    y[2] = wg_let(t, wg_mul(y[0], x[1]));
    return WG_OK;
}
/* x: v, the new u at two places, m, z beside it (passive); y: v. */
static wg_status third(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(wg_mul(wg_mul(x[0], 0.5), x[5]),
                            wg_mul(0.0625, wg_sub(wg_mul(x[1], x[4]), wg_mul(x[2], x[6])))));
    return WG_OK;
}

static const wg_argument in0[] = {{"a", 2, 1, 0}, {"b", 2, 1, 0}, {"c", 2, 1, 0},
                                  {"d", 2, 1, 0}, {"k", 1, 1, 0}, {"data", 1, 1, WG_PASSIVE}};
static const wg_argument in1[] = {{"a", 2, 1, 0},
                                  {"b", 2, 1, 0},
                                  {"c", 2, 1, 0},
                                  {"u", 2, 1, 0},
                                  {"s", 1, 1, WG_SHARED | WG_PASSIVE}};
static const wg_argument in2[] = {
    {"v", 1, 1, 0}, {"a", 2, 1, 0}, {"b", 2, 1, 0}, {"m", 1, 1, 0}, {"z", 1, 1, WG_PASSIVE}};
static const wg_argument out0[] = {{"h", 2, 1, 0}};
static const wg_argument out1[] = {{"u", 2, 1, 0}, {"z", 1, 1, 0}};
static const wg_argument out2[] = {{"v", 1, 1, 0}};

static double data[20000];
static const double scale = 0.375;

static void sources(wg_source from[STAGES][6], wg_mat k, wg_mat m) {
    from[0][0] = wg_from_state("u");
    from[0][1] = wg_from_neighbour("u", 1, 0, 0);
    from[0][2] = wg_from_neighbour("u", -2, 1, 0);
    from[0][3] = wg_from_neighbour("u", 0, -1, 1);
    from[0][4] = wg_from_matrix(k);
    from[0][5] = wg_each_step(wg_from_data(data, 1, 1));
    from[1][0] = wg_from_state("h");
    from[1][1] = wg_from_neighbour("h", -1, 0, 0);
    from[1][2] = wg_from_neighbour("h", 0, 1, -1);
    from[1][3] = wg_from_state("u");
    from[1][4] = wg_from_data(&scale, 0, 1);
    from[2][0] = wg_from_state("v");
    from[2][1] = wg_from_next("u", 1, 0, 0);
    from[2][2] = wg_from_next("u", 0, -1, 0);
    from[2][3] = wg_each_step(wg_from_matrix(m));
    from[2][4] = wg_from_neighbour("z", 1, 0, 0);
}

typedef struct loop {
    const wg_callable *k[STAGES];
    wg_scan_options o;
} loop;

static size_t cells_of(const loop *l) { return l->o.cells[0] * l->o.cells[1] * l->o.cells[2]; }

/* x: u, v, z, k, m of every step; y: u, v, z. */
static wg_status run(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y, void *user) {
    const loop *const l = user;
    const size_t c = cells_of(l);
    (void)n, (void)m;
    const wg_state state[] = {{"u", wg_mat_gather(t, 2, c, x)},
                              {"v", wg_mat_gather(t, 1, c, x + 2 * c)},
                              {"z", wg_mat_gather(t, 1, c, x + 3 * c)}};
    wg_source from[STAGES][6];
    sources(from, wg_mat_gather(t, 1, c, x + 4 * c), wg_mat_gather(t, 1, c * STEPS, x + 5 * c));
    wg_stage stage[STAGES];
    for (size_t k = 0; k < STAGES; k++) stage[k] = (wg_stage){l->k[k], from[k]};
    wg_mat r[3];
    const wg_status status = wg_scan(t, STEPS, STAGES, stage, 3, state, &l->o, r);
    for (size_t i = 0; status == WG_OK && i < 2 * c; i++) *y++ = wg_mat_at(r[0], i % 2, i / 2);
    for (size_t k = 1; status == WG_OK && k < 3; k++)
        for (size_t i = 0; i < c; i++) *y++ = wg_mat_at(r[k], 0, i);
    return status;
}

enum { CELLS = 2600, N = (5 + STEPS) * CELLS, M = 4 * CELLS };
static double x[N], w[M], y[3][M], g[3][N];

static void sweep(loop *l, size_t which) {
    const size_t c = cells_of(l);
    if (wg_vjp(tape, run, l, (5 + STEPS) * c, x, 4 * c, w, y[which], g[which]) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
}

static void assert_alike(size_t n, const double *got, const double *expected) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - expected[i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * most))
            fail_msg("entry %zu: %.17g and %.17g", i, got[i], expected[i]);
}

static void a_stencil_has_the_adjoint_of_any_other_callable(void **state) {
    (void)state;
    wg_callable *const plain[] = {plain_of(first, 6, in0, 1, out0),
                                  plain_of(second, 5, in1, 2, out1),
                                  plain_of(third, 5, in2, 1, out2)};
    loop by[3];
    memset(by, 0, sizeof by);
    memcpy(by[0].k, plain, sizeof plain);
    wg_source from[STAGES][6];
    sources(from, wg_mat_failed(0, 0), wg_mat_failed(0, 0));
    for (size_t k = 0; k < STAGES; k++) {
        by[1].k[k] = stencil_of(plain[k], from[k]);
        by[2].k[k] = compiled_of(by[1].k[k]);
        assert_non_null(by[1].k[k]->stencil);
        assert_non_null(by[2].k[k]->stencil);
        assert_true(by[1].k[k]->stencil->gather->native == NULL);
    }
    for (size_t i = 0; i < 20000; i++) data[i] = 0.1 * number(i + 2);
    for (size_t i = 0; i < N; i++) x[i] = 0.5 * number(i + 4);
    for (size_t i = 0; i < M; i++) w[i] = number(3 * i);
    static const size_t shapes[][3] = {
        {1, 1, 1},  {7, 1, 1},   {8, 1, 1},  {9, 1, 1}, {98, 1, 1},  {5, 4, 3}, {2600, 1, 1},
        {20, 7, 1}, {40, 60, 1}, {17, 1, 6}, {8, 9, 1}, {200, 3, 2}, {3, 2, 2}, {16, 5, 4}};
    for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++)
        for (int b = 0; b <= CLAMPED; b++) {
            static const wg_boundary boundary[][3] = {
                {WG_PERIODIC, WG_PERIODIC, WG_PERIODIC},
                {WG_ZERO_OUTSIDE, WG_ZERO_OUTSIDE, WG_ZERO_OUTSIDE},
                {WG_PERIODIC, WG_ZERO_OUTSIDE, WG_PERIODIC},
                {WG_ZERO_OUTSIDE, WG_PERIODIC, WG_ZERO_OUTSIDE},
                {WG_PERIODIC, WG_CLAMPED, WG_PERIODIC}};
            for (size_t k = 0; k < 3; k++) {
                memcpy(by[k].o.cells, shapes[j], sizeof shapes[j]);
                memcpy(by[k].o.boundary, boundary[b], sizeof boundary[b]);
                by[k].o.stored = j % 4;
                sweep(&by[k], k);
            }
            const size_t c = cells_of(&by[0]);
            assert_alike(4 * c, y[1], y[0]);
            assert_alike((5 + STEPS) * c, g[1], g[0]);
            assert_memory_equal(y[2], y[1], 4 * c * sizeof(double));
            assert_alike((5 + STEPS) * c, g[2], g[0]);
            if (b == CLAMPED) continue;
            assert_memory_equal(g[2], g[1], (5 + STEPS) * c * sizeof(double));
            for (size_t k = 1; k < 3; k++) { /* again, with threads */
                by[k].o.threads = pool_of(2);
                sweep(&by[k], 0);
                by[k].o.threads = NULL;
                assert_memory_equal(g[0], g[1], (5 + STEPS) * c * sizeof(double));
            }
        }
    for (size_t k = 0; k < 3; k++)
        for (size_t l = 0; l < STAGES; l++)
            wg_callable_free((wg_callable *)(uintptr_t)by[k].k[l]);
}

/* ---- the zero rule ----------------------------------------------------------------------- */

/* x: u at three places; y: u. */
static wg_status roots(wg_tape *t, size_t n, const wg_real *a, size_t m, wg_real *r,
                       void *user) {
    (void)n, (void)m, (void)user;
    r[0] = wg_let(t, wg_add(wg_sqrt(a[0]), wg_mul(wg_sqrt(a[1]), a[2])));
    return WG_OK;
}

static const wg_source beside[] = {{.kind = WGI_FROM_STATE, .name = "u"},
                                   {.kind = WGI_FROM_STATE, .name = "u", .offset = {-1, 0, 0}},
                                   {.kind = WGI_FROM_STATE, .name = "u", .offset = {1, 0, 0}}};
static const wg_argument three[] = {{"u", 1, 1, 0}, {"l", 1, 1, 0}, {"r", 1, 1, 0}};

static wg_status run_roots(wg_tape *t, size_t n, const wg_real *a, size_t m, wg_real *r,
                           void *user) {
    const loop *const l = user;
    const wg_state state = {"u", wg_mat_gather(t, n, 1, a)};
    const wg_stage stage = {l->k[0], beside};
    wg_mat to;
    (void)m;
    const wg_status status = wg_scan(t, 1, 1, &stage, 1, &state, &l->o, &to);
    for (size_t i = 0; status == WG_OK && i < n; i++) r[i] = wg_mat_at(to, i, 0);
    return status;
}

static void adjoints_of_zero_meet_infinite_slopes(void **state) {
    (void)state;
    enum { C = 43 };
    loop by[3];
    memset(by, 0, sizeof by);
    by[0].k[0] = plain_of(roots, 3, three, 1, &three[0]);
    by[0].o.cells[0] = C;
    by[1] = by[2] = by[0];
    by[1].k[0] = stencil_of(by[0].k[0], beside);
    assert_non_null(by[1].k[0]->stencil);
    by[2].k[0] = compiled_of(by[1].k[0]);
    for (size_t i = 0; i < C; i++) x[i] = i % 5 == 0 ? 0 : 1 + fabs(number(i));
    for (size_t i = 0; i < C; i++) w[i] = i % 5 < 2 || i < 9 ? 0 : number(i);
    for (int b = 0; b < 3; b++) {
        for (size_t k = 0; k < 3; k++) {
            by[k].o.boundary[0] = (wg_boundary)b;
            if (wg_vjp(tape, run_roots, &by[k], C, x, C, w, y[k], g[k]) != WG_OK)
                fail_msg("%s", wg_tape_message(tape));
            for (size_t i = 0; i < C; i++) assert_true(isfinite(g[k][i]));
        }
        assert_alike(C, g[1], g[0]);
        assert_memory_equal(g[2], g[1], C * sizeof(double));
    }
    for (size_t k = 0; k < 3; k++) wg_callable_free((wg_callable *)(uintptr_t)by[k].k[0]);
}

/* ---- what is left as it is --------------------------------------------------------------- */

static wg_status costly(wg_tape *t, size_t n, const wg_real *a, size_t m, wg_real *r,
                        void *user) {
    (void)n, (void)m, (void)user;
    r[0] = wg_let(t, wg_exp(wg_mul(a[0], wg_log(wg_div(a[1], a[2])))));
    return WG_OK;
}
static wg_status branching(wg_tape *t, size_t n, const wg_real *a, size_t m, wg_real *r,
                           void *user) {
    (void)n, (void)m, (void)user;
    r[0] = wg_lt(t, a[0], a[1]) ? a[2] : wg_let(t, wg_mul(a[2], a[0]));
    return WG_OK;
}
static wg_status blend(wg_tape *t, size_t n, const wg_real *a, size_t m, wg_real *r,
                       void *user) {
    (void)n, (void)m, (void)user;
    r[0] = wg_let(t, wg_add(a[0], wg_mul(a[1], a[2])));
    return WG_OK;
}

static void assert_left(wg_callback *f, const wg_argument *in, const wg_source *from,
                        unsigned flags) {
    const wg_argument out = {"u", 1, 1, flags};
    wg_callable *const plain = plain_of(f, 3, in, 1, &out), *const k = stencil_of(plain, from);
    assert_true(k != plain && k->stencil == NULL);
    wg_callable_free(plain);
    wg_callable_free(k);
}

static void functions_that_gain_nothing_are_left_as_they_are(void **state) {
    (void)state;
    const wg_argument shared[] = {three[0], three[1], {"r", 1, 1, WG_SHARED}};
    const wg_source here[] = {beside[0], beside[0], beside[0]};
    assert_left(costly, three, beside, 0);
    assert_left(branching, three, beside, 0);
    assert_left(blend, shared, beside, 0);
    assert_left(blend, three, beside, WG_SUMMED);
    assert_left(blend, three, here, 0);
    wg_callable *const plain = plain_of(blend, 3, three, 1, &three[0]), *const k = stencil_of(
                                                                            plain, beside);
    assert_non_null(k->stencil);
    assert_int_equal(k->stencil->gather->outputs, 1);
    /* other neighbours than it was made for */
    const wg_source other[] = {beside[0], beside[2], beside[1]};
    enum { C = 30 };
    for (size_t i = 0; i < C; i++) x[i] = number(i), w[i] = number(2 * i + 1);
    for (int which = 0; which < 2; which++) {
        wg_tape_reset(tape);
        const wg_stage stage = {which ? k : plain, other};
        wg_mat a = wg_mat_input(tape, C, 1, x, C), r;
        const wg_state start = {"u", a};
        const wg_scan_options o = {.cells = {C}};
        assert_int_equal(wg_scan(tape, 3, 1, &stage, 1, &start, &o, &r), WG_OK);
        const wg_real sum =
            wg_mat_sum(tape, wg_mat_mul(tape, r, wg_mat_constant(tape, C, 1, w, C)));
        assert_int_equal(wg_reverse(tape, sum), WG_OK);
        assert_int_equal(wg_mat_adjoint(tape, a, g[which], C), WG_OK);
    }
    assert_memory_equal(g[0], g[1], C * sizeof(double));
    wg_callable_free(plain);
    wg_callable_free(k);
}

/* Its adjoint reads nothing. */
static wg_status level(wg_tape *t, size_t n, const wg_real *a, size_t m, wg_real *r,
                       void *user) {
    (void)t, (void)n, (void)a, (void)m, (void)user;
    r[0] = wg_constant(2);
    return WG_OK;
}

static void what_depends_on_no_neighbour_has_no_adjoint(void **state) {
    (void)state;
    enum { C = 19 };
    loop by = {.k = {NULL}};
    wg_callable *const plain = plain_of(level, 3, three, 1, &three[0]), *const k = stencil_of(
                                                                            plain, beside);
    assert_non_null(k->stencil);
    assert_int_equal(k->stencil->gather->inputs, 0);
    by.k[0] = k;
    by.o.cells[0] = C;
    for (size_t i = 0; i < C; i++) x[i] = number(i), w[i] = 1 + number(i), g[0][i] = 1;
    if (wg_vjp(tape, run_roots, &by, C, x, C, w, y[0], g[0]) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    for (size_t i = 0; i < C; i++) assert_true(y[0][i] == 2 && g[0][i] == 0);
    wg_callable_free(plain);
    wg_callable_free(k);
}

static void refusals_name_the_call(void **state) {
    (void)state;
    wg_callable *const k = plain_of(blend, 3, three, 1, &three[0]);
    wg_callable *out = (wg_callable *)(uintptr_t)1;
    const wg_source nameless[] = {beside[0], beside[1], {.kind = WGI_FROM_NEXT}};
    assert_int_equal(wg_callable_stencil(NULL, k, beside, &out), WG_ENULL);
    assert_null(out);
    assert_int_equal(wg_callable_stencil(coded, NULL, beside, &out), WG_ENULL);
    assert_int_equal(wg_callable_stencil(coded, k, NULL, &out), WG_ENULL);
    assert_int_equal(wg_callable_stencil(coded, k, beside, NULL), WG_ENULL);
    assert_int_equal(wg_callable_stencil(coded, k, nameless, &out), WG_ENULL);
    assert_null(out);
    assert_non_null(
        strstr(wg_tape_message(coded), "wg_callable_stencil: the name of source 2"));
    wg_tape_reset(coded);
    wg_callable_free(k);
}

/* Of the callable, and of a sweep with it. */
static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    enum { C = 20 };
    double v[C];
    for (size_t i = 0; i < C; i++) x[i] = number(i), w[i] = number(2 * i + 1);
    wg_status got = WG_ENOMEM;
    for (size_t fail_at = 2; got != WG_OK; fail_at++) {
        struct counted memory = counted_start();
        const wg_options opt = {
            .memory = counted_memory(&memory), .reserve = 1 << 16, .flags = WG_KEEP_CODE};
        assert_true(fail_at < 1000);
        memory.fail_at = fail_at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&opt);
        assert_non_null(t);
        wg_function *f = NULL;
        wg_callable *k = NULL, *made = NULL;
        got = wg_function_record(t, blend, NULL, 3, three, x, 1, &three[0], &f);
        if (got == WG_OK) got = wg_callable_new(t, f, &k);
        if (got == WG_OK) got = wg_callable_stencil(t, k, beside, &made);
        assert_true((got == WG_OK) == (made != NULL));
        if (made != NULL) {
            loop l;
            memset(&l, 0, sizeof l);
            l.k[0] = made;
            l.o.cells[0] = C;
            got = wg_vjp(t, run_roots, &l, C, x, C, w, v, g[0]);
        }
        if (got != WG_OK) assert_int_equal(got, WG_ENOMEM);
        wg_callable_free(made);
        wg_callable_free(k);
        wg_function_free(f);
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
}

static int close_all(void **state) {
    (void)free_pools(state);
    return close_tapes(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stencil_has_the_adjoint_of_any_other_callable),
        cmocka_unit_test(adjoints_of_zero_meet_infinite_slopes),
        cmocka_unit_test(functions_that_gain_nothing_are_left_as_they_are),
        cmocka_unit_test(what_depends_on_no_neighbour_has_no_adjoint),
        cmocka_unit_test(refusals_name_the_call),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}

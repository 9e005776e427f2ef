/* SPDX-License-Identifier: MIT */
/* Operations on whole matrices in one node where they end: singular matrices, infinities,
 * products with 0, compiled functions, a lack of memory. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "counted.h"
#include "dense_case.h"

/* ---- what cannot be done ----------------------------------------------------------------- */

/* A of order n, entry by entry, and b; y: x with A x = b, and log |det A|. kind by what. */
enum { ORDER = 47 };
static wg_status system_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    const kind what = *(const kind *)user;
    (void)n, (void)m;
    const wg_mat a = wg_mat_gather(t, ORDER, ORDER, x),
                 b = wg_mat_gather(t, ORDER, 1, x + ORDER * ORDER);
    const wg_mat r = what == SOLVE  ? wg_solve(t, a, b)
                     : what == SPD  ? wg_solve_spd(t, a, b)
                     : what == TRSM ? wg_trsv(t, 'L', 'N', 'N', a, b)
                                    : wg_matmul(t, wg_mat_block(a, 0, 0, ORDER, ORDER),
                                                wg_mat_block(a, 0, 0, ORDER, 9));
    for (size_t i = 0; i < ORDER; i++) y[i] = wg_mat_at(r, i, 0);
    y[ORDER] = what == SOLVE ? wg_logabsdet(t, a, NULL)
               : what == SPD ? wg_logdet_spd(t, a)
                             : wg_mat_at(b, 0, 0);
    return WG_OK;
}

enum { ENTRIES = ORDER * ORDER + ORDER, RESULTS = ORDER + 1 };
static void fill_system(double *x) {
    for (size_t e = 0; e < ORDER * ORDER; e++)
        x[e] = (e % ORDER == e / ORDER ? 60 : 0) + sin((double)(e % ORDER * (e / ORDER)));
    for (size_t i = 0; i < ORDER; i++) x[ORDER * ORDER + i] = (double)i - 4;
}

static wg_function *system_function(kind what, const double *x) {
    static const wg_argument entries[] = {{"x", ENTRIES, 1, 0}}, all[] = {{"y", RESULTS, 1, 0}};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(coded, system_of, &what, 1, entries, x, 1, all, &f),
                     WG_OK);
    assert_true(dense_is_in(f));
    return f;
}

static void singular_matrices_give_nan(void **state) {
    (void)state;
    static const kind kinds[] = {SOLVE, SPD, TRSM};
    double x[ENTRIES], y[RESULTS], g[ENTRIES], w[RESULTS];
    for (size_t k = 0; k < 3; k++) {
        fill_system(x);
        wg_function *const f = system_function(kinds[k], x), *vjp = NULL;
        assert_int_equal(wg_function_vjp(tape, f, &vjp), WG_OK);
        for (size_t i = 0; i < ORDER; i++) x[3 + i * ORDER] = x[3 * ORDER + i] = 0;
        run(f, x, NULL, y);
        for (size_t i = 0; i < ORDER; i++) assert_nan(y[i]);
        if (kinds[k] != TRSM) assert_nan(y[ORDER]);
        for (size_t i = 0; i < RESULTS; i++) w[i] = 1;
        run(vjp, x, w, g);
        assert_nan(g[0]);
        /* nobody asks: the rule */
        for (size_t i = 0; i < RESULTS; i++) w[i] = 0;
        run(vjp, x, w, g);
        for (size_t i = 0; i < ENTRIES; i++) assert_true(g[i] == 0);
        wg_function_free(vjp);
        wg_function_free(f);
        /* at the recording the tape says so */
        static const wg_argument entries[] = {{"x", ENTRIES, 1, 0}},
                                 all[] = {{"y", RESULTS, 1, 0}};
        wg_function *none = NULL;
        kind what = kinds[k];
        assert_int_equal(
            wg_function_record(coded, system_of, &what, 1, entries, x, 1, all, &none),
            WG_ESINGULAR);
        assert_null(none);
    }
}

static void infinities_and_nan_stay_where_they_are(void **state) {
    (void)state;
    double x[ENTRIES], y[RESULTS], g[ENTRIES], w[RESULTS] = {0};
    static const kind kinds[] = {GEMM, SOLVE, SPD, TRSM};
    const double bad[] = {INFINITY, -INFINITY, NAN};
    for (size_t k = 0; k < 4; k++) {
        fill_system(x);
        wg_function *const f = system_function(kinds[k], x), *vjp = NULL;
        assert_int_equal(wg_function_vjp(tape, f, &vjp), WG_OK);
        for (size_t b = 0; b < 3; b++) {
            fill_system(x);
            x[5 * ORDER + 4] = x[4 * ORDER + 5] = bad[b];
            run(f, x, NULL, y);
            if (kinds[k] != TRSM && kinds[k] != GEMM) assert_nan(y[0]);
            if (kinds[k] == GEMM) assert_true(!isfinite(y[5]) && isfinite(y[0]));
            run(vjp, x, w, g);
            for (size_t i = 0; i < ENTRIES; i++) assert_true(g[i] == 0);
        }
        wg_function_free(vjp);
        wg_function_free(f);
    }
}

/* An adjoint that only the rule makes a number: sqrt at 0, not asked for. */
static wg_status rescued(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    wg_real a[144];
    (void)n, (void)m, (void)user;
    for (size_t e = 0; e < 144; e++)
        a[e] = wg_let(t, wg_sqrt(wg_mul(x[0], wg_add(x[1], 0.1 * (double)e))));
    const wg_mat ma = wg_mat_gather(t, 12, 12, a), r = wg_matmul(t, ma, ma);
    y[0] = wg_constant(0);
    for (size_t e = 0; e < 144; e++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(x[1], wg_mat_at(r, e % 12, e / 12))));
    return WG_OK;
}

static void the_zero_rule_holds_on_both_sides_of_a_product(void **state) {
    (void)state;
    static const wg_argument entries[] = {{"x", 2, 1, 0}}, all[] = {{"y", 1, 1, 0}};
    const double start[2] = {1, 1}, x[2] = {0, 1};
    double g[2];
    wg_function *f = NULL, *gradient = NULL;
    assert_int_equal(wg_function_record(coded, rescued, NULL, 1, entries, start, 1, all, &f),
                     WG_OK);
    assert_true(dense_is_in(f));
    assert_int_equal(wg_function_gradient(tape, f, &gradient), WG_OK);
    run(gradient, x, NULL, g); /* A is 0, and so are its adjoint and that times infinity */
    assert_true(g[0] == 0 && g[1] == 0);
    wg_function_free(gradient);
    wg_function_free(f);
}

/* ---- compiled ---------------------------------------------------------------------------- */

static void they_are_not_compiled_where_each_point_has_one(void **state) {
    (void)state;
    double x[ENTRIES];
    fill_system(x);
    wg_function *const f = system_function(SOLVE, x);
    wg_function *same = NULL;
    wg_compiled said;
    assert_int_equal(wg_function_compile(tape, f, NULL, &same, &said), WG_OK);
    assert_int_equal(said.native, 0);
    assert_non_null(strstr(said.why, "whole matrices"));
    wg_function_free(same);
    wg_function_free(f);
}

/* A and b are shared; of each point: a number to be multiplied with x and log |det A|. */
static wg_status scaled_system(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *user) {
    const wg_status s = system_of(t, n, x, m, y, user);
    for (size_t i = 0; s == WG_OK && i < m; i++) y[i] = wg_let(t, wg_mul(y[i], x[ENTRIES]));
    return s;
}

static void what_is_done_with_their_results_is_compiled(void **state) {
    (void)state;
    enum { MANY = 21 };
    static const wg_argument from[] = {{"x", ENTRIES, 1, WG_SHARED}, {"z", 1, 1, 0}};
    static const wg_argument all = {"y", RESULTS, 1, 0};
    static double x[ENTRIES + MANY], y[2][MANY * RESULTS];
    char directory[SCRATCH_BYTES];
    kind what = SOLVE;
    wg_function *f[2] = {NULL, NULL};
    wg_compiled said;
    const char *const given = getenv("CC");
    const int usable = given != NULL && *given != 0 && strchr(given, ' ') == NULL;
    assert_int_equal(scratch_make(directory), 0);
    const wg_compile_options o = {.compiler = usable ? given : NULL, .directory = directory};
    fill_system(x);
    for (size_t p = 0; p < MANY; p++) x[ENTRIES + p] = uniform(-1, 1);
    assert_int_equal(
        wg_function_record(coded, scaled_system, &what, 2, from, x, 1, &all, &f[0]), WG_OK);
    assert_true(dense_nodes(f[0], WGI_ONCE) > 0 && dense_nodes(f[0], WGI_EACH) == 0);
    assert_int_equal(wg_function_compile(tape, f[0], &o, &f[1], &said), WG_OK);
    if (!said.native) fail_msg("%s", said.why);
    for (int k = 0; k < 2; k++) {
        void *const work = malloc(wg_function_work(f[k], NULL) + 64);
        const wg_points points[] = {{x, 0, 1}, {x + ENTRIES, 1, 1}};
        const wg_results to = {y[k], RESULTS, 1};
        assert_non_null(work);
        assert_int_equal(wg_function_evaluate(f[k], MANY, points, &to, NULL, work, NULL),
                         WG_OK);
        free(work);
        wg_function_free(f[k]);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_int_equal(scratch_remove(directory), 0);
}

static void a_failure_of_memory_leaves_nothing(void **state) {
    (void)state;
    static const kind kinds[] = {GEMM, TRSM, CHOLESKY, SOLVE, LOGDET};
    for (size_t k = 0; k < 5; k++) {
        const spec s = plain(kinds[k], 19, 4, 5);
        wg_status got = WG_ENOMEM;
        for (size_t fail_at = 2; got != WG_OK; fail_at++) {
            struct counted memory = counted_start();
            const wg_options opt = {
                .memory = counted_memory(&memory), .reserve = 1 << 18, .flags = WG_KEEP_CODE};
            assert_true(fail_at < 1000);
            memory.fail_at = fail_at;
            memory.fail_on = 1;
            wg_tape *const t = wg_tape_new(&opt);
            wg_function *f = NULL, *g = NULL;
            assert_non_null(t);
            got = wg_function_record(t, call, (void *)(uintptr_t)&s, 2, in, at, 1, out, &f);
            if (got == WG_OK) got = wg_function_hessian(t, f, &g);
            if (got != WG_OK) assert_int_equal(got, WG_ENOMEM);
            assert_true((got == WG_OK) == (g != NULL));
            memory.fail_at = SIZE_MAX;
            memory.fail_on = 0;
            wg_function_free(f);
            wg_function_free(g);
            wg_tape_free(t);
            assert_true(memory.ranges == 0 && memory.wrong == 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singular_matrices_give_nan),
        cmocka_unit_test(infinities_and_nan_stay_where_they_are),
        cmocka_unit_test(the_zero_rule_holds_on_both_sides_of_a_product),
        cmocka_unit_test(they_are_not_compiled_where_each_point_has_one),
        cmocka_unit_test(what_is_done_with_their_results_is_compiled),
        cmocka_unit_test(a_failure_of_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

/* SPDX-License-Identifier: MIT */
/* Operations on whole matrices in one node: against the same function written out in scalar
 * statements, against the tape's own operations, and node by node in plain loops (graph_walk);
 * at many points, from files, in the steps of loops. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "dense_case.h"

#include <wengert/file.h>

#include "tape/function/graph/repeat.h"

/* ---- cases ------------------------------------------------------------------------------- */

static void small_ones_are_written_out_and_large_ones_are_not(void **state) {
    (void)state;
    const struct {
        spec s;
        int dense;
    } cases[] = {{plain(GEMM, 16, 8, 8), 0},     {plain(GEMM, 16, 13, 5), 1},
                 {plain(GEMM, 35, 1, 30), 1},    {plain(GEMM, 1, 1, 40), 0},
                 {plain(TRSM, 16, 8, 0), 0},     {plain(TRSM, 17, 8, 0), 1},
                 {plain(CHOLESKY, 18, 0, 0), 0}, {plain(CHOLESKY, 19, 0, 0), 1},
                 {plain(SOLVE, 12, 2, 0), 0},    {plain(SOLVE, 14, 2, 0), 1},
                 {plain(LOGDET, 14, 0, 0), 0},   {plain(LOGDET, 15, 0, 0), 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i].s, 0, cases[i].dense);
}

static void products_of_all_transposes_agree(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        spec s = plain(GEMM, 13, 11, 9);
        s.ta = "NT"[i & 1], s.tb = "NT"[i >> 1 & 1];
        s.alpha = 0.75, s.beta = i & 4 ? -0.5 : 0;
        s.shared = i % 4;
        check(&s, 1, 1);
        if (i > 1) continue;
        s = plain(SYRK, 13, 13, 9);
        s.ta = "NT"[i], s.alpha = 0.5;
        check(&s, 1, 1);
        s = plain(SYMM, 13, 9, 0);
        s.uplo = "LU"[i], s.shared = 1 + i, s.beta = 0.5;
        check(&s, 1, 1);
    }
}

static void triangular_systems_of_all_kinds_agree(void **state) {
    (void)state;
    for (int i = 0; i < 16; i++) {
        spec s = plain(TRSM, i & 1 ? 7 : 19, i & 1 ? 19 : 7, 0);
        s.side = "LR"[i & 1], s.uplo = "LU"[i >> 1 & 1];
        s.ta = "NT"[i >> 2 & 1], s.diag = "NU"[i >> 3 & 1];
        s.alpha = 0.5, s.shared = i % 4;
        if (s.diag == 'U') s.m /= 2, s.n /= 2, s.m += 12, s.n = s.m; /* mild growth */
        check(&s, i % 3 == 0 && s.diag == 'N', 1);
    }
}

static void factorisations_agree_to_second_order(void **state) {
    (void)state;
    for (int transposed = 0; transposed < 2; transposed++)
        for (kind what = CHOLESKY; what <= INVERSE; what++) {
            spec s = plain(what, 19, 3, 0);
            s.shared = 2 * transposed + ((int)what + transposed) % 2;
            s.ta = "NT"[transposed];
            check(&s, (int)what % 2 == transposed, 1);
        }
}

static void shapes_of_all_sizes_agree(void **state) {
    (void)state;
    for (int i = 0; i < 30; i++) {
        const kind what = (kind)(i % 10);
        spec s = plain(what, 1 + below(LARGEST), 1 + below(LARGEST), 1 + below(LARGEST));
        s.ta = "NT"[i / 10 & 1], s.tb = "NT"[i & 1];
        s.shared = i % 4;
        if (what == SYRK) s.n = s.m;
        const wg_function *const f = record(&s, out);
        const int dense = dense_is_in(f);
        wg_function_free((wg_function *)(uintptr_t)f);
        check(&s, 0, dense);
    }
}

static void empty_ones_and_ones_of_order_one_agree(void **state) {
    (void)state;
    for (kind what = GEMM; what <= INVERSE; what++)
        for (size_t n = 0; n < 2; n++) {
            const spec s = plain(what, n, what == SYRK ? n : 2, n);
            check(&s, 0, 0);
        }
    const spec none = plain(GEMM, 40, 40, 0);
    check(&none, 0, 0);
}

static void aliased_and_constant_operands_agree(void **state) {
    (void)state;
    spec s = plain(GEMM, 12, 12, 12);
    s.aliased = 1;
    check(&s, 1, 1);
    s.tb = 'T';
    check(&s, 1, 1);
    s.aliased = 0, s.numbers = 1;
    check(&s, 1, 1);
    for (kind what = TRSM; what <= SPD; what++) {
        if (what == CHOLESKY) continue;
        s = plain(what, 20, 6, 0);
        s.numbers = 1;
        check(&s, 1, 1);
    }
}

/* ---- at many points ---------------------------------------------------------------------- */

static void what_is_shared_is_factored_once(void **state) {
    (void)state;
    spec s = plain(SOLVE, 20, 2, 0);
    s.shared = 1;
    wg_function *const f = record(&s, out), *g = NULL;
    assert_int_equal(dense_nodes(f, WGI_ONCE), 1);
    assert_int_equal(dense_nodes(f, WGI_EACH), 1);
    assert_int_equal(wg_function_gradient(tape, f, &g), WG_OK);
    assert_int_equal(dense_nodes(g, WGI_ONCE), 1); /* the very same factors */
    wg_function_free(g);
    wg_function_free(f);
    s = plain(SPD, 20, 2, 0);
    wg_function *const spd = record(&s, out);
    assert_int_equal(wg_function_gradient(tape, spd, &g), WG_OK);
    size_t factored = 0;
    for (size_t i = 0; i < g->nodes; i++)
        factored += g->node[i].kind == WGI_NODE_DENSE &&
                    wgi_dense_of(&g->node[i]).kind == WGI_DENSE_CHOLESKY;
    assert_int_equal(factored, 1);
    wg_function_free(g);
    wg_function_free(spd);
}

enum { POINTS = 83 };
static void bits_are_those_of_one_point_whatever_the_threads(void **state) {
    (void)state;
    static const spec cases[] = {
        {GEMM, 13, 12, 11, 'N', 'N', 'L', 'L', 'N', 1, 0, 1, 0, 0, 0},
        {GEMM, 40, 1, 33, 'T', 'N', 'L', 'L', 'N', 1, 0, 0, 0, 0, 0},
        {SOLVE, 16, 3, 0, 'T', 'N', 'L', 'L', 'N', 1, 0, 0, 0, 0, 0},
        {CHOLESKY, 21, 0, 0, 'N', 'N', 'L', 'L', 'N', 1, 0, 0, 0, 0, 0},
        {TRSM, 17, 9, 0, 'N', 'N', 'L', 'U', 'N', 1, 0, 2, 0, 0, 0}};
    static double x[POINTS * X], y[3][POINTS * (X + Q)];
    for (size_t i = 0; i < POINTS * X; i++) x[i] = uniform(-1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wg_function *const f = record(&cases[i], out), *g = NULL;
        must(tape, &cases[i], wg_function_gradient(tape, f, &g));
        const size_t m = graph_entries_out(g);
        for (size_t p = 0; p < POINTS; p++)
            evaluate(g, 1, x + p * X, at + X, 0, NULL, y[0] + p * m, 0);
        for (size_t threads = 1; threads <= 4; threads += 3) {
            evaluate(g, POINTS, x, at + X, 0, NULL, y[1], threads);
            assert_memory_equal(y[0], y[1], POINTS * m * sizeof **y);
        }
        wg_function_free(g);
        wg_function_free(f);
    }
}

static void gradients_of_sums_over_points_agree(void **state) {
    (void)state;
    double x[POINTS * X], y[2][POINTS * X + Q + 1];
    for (size_t i = 0; i < POINTS * X; i++) x[i] = uniform(-1, 1);
    for (kind what = GEMM; what <= INVERSE; what++)
        for (int shared = 0; shared < 4; shared++) {
            spec s[2] = {plain(what, 19, 4, 5), plain(what, 19, 4, 5)};
            if (what == SYRK) s[0].n = s[1].n = 19;
            s[0].shared = s[1].shared = shared;
            s[1].written = 1;
            for (int w = 0; w < 2; w++) {
                wg_function *const f = record(&s[w], summed), *g = NULL;
                must(tape, s, wg_function_gradient(tape, f, &g));
                void *const work = malloc(wg_function_work(g, pool_of(2)) + 64);
                const wg_points from[] = {{x, X, 1}, {at + X, 0, 1}};
                const wg_results to[] = {{y[w], X, 1}, {y[w] + POINTS * X, 0, 1}};
                assert_int_equal(wg_function_outputs(g), 2);
                assert_int_equal(
                    wg_function_evaluate(g, POINTS, from, to, pool_of(2), work, NULL), WG_OK);
                free(work);
                wg_function_free(g);
                wg_function_free(f);
            }
            compare(s, "gradient of a sum", POINTS * X + Q, y[0], y[1]);
        }
}

/* ---- as files ---------------------------------------------------------------------------- */

static char *bytes_of(const wg_function *f, size_t *n) {
    assert_int_equal(wg_function_save(f, NULL, 0, n), WG_OK);
    char *const bytes = malloc(*n);
    assert_non_null(bytes);
    assert_int_equal(wg_function_save(f, bytes, *n, n), WG_OK);
    return bytes;
}

/* What is loaded; it is saved as the same bytes. */
static wg_function *there_and_back(const wg_function *f) {
    size_t n, m;
    char *const bytes = bytes_of(f, &n);
    wg_function *g = NULL;
    assert_int_equal(bytes[8], 2);
    if (wg_function_load(tape, bytes, n, NULL, 0, &g) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    char *const again = bytes_of(g, &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    free(bytes), free(again);
    assert_int_equal(f->nodes, g->nodes);
    assert_int_equal(f->work, g->work);
    assert_true(dense_is_in(g));
    return g;
}

static void assert_same_bits(const wg_function *f, const wg_function *g) {
    enum { FEW = 11 };
    double x[FEW * X], y[2][FEW * (X + Q) * (X + Q)];
    const size_t m = graph_entries_out(f);
    assert_int_equal(m, graph_entries_out(g));
    assert_true(m <= (X + Q) * (X + Q));
    for (size_t i = 0; i < FEW * X; i++) x[i] = uniform(-1, 1);
    evaluate(f, FEW, x, at + X, 0, NULL, y[0], 0);
    evaluate(g, FEW, x, at + X, 0, NULL, y[1], 0);
    assert_memory_equal(y[0], y[1], FEW * m * sizeof **y);
}

static void they_are_loaded_from_files_as_they_were(void **state) {
    (void)state;
    static const kind kinds[] = {GEMM, TRSM, CHOLESKY, SOLVE, SPD, LOGDET, LOGDET_SPD};
    wg_status (*const by[])(wg_tape *, const wg_function *,
                            wg_function **) = {wg_function_gradient, wg_function_hessian};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        spec s = plain(kinds[i], 19, 7, 14);
        s.ta = "NT"[i % 2], s.shared = (int)(i % 3);
        wg_function *const f = record(&s, out), *const g = there_and_back(f);
        assert_same_bits(f, g);
        for (size_t k = 0; k < 2; k++) {
            wg_function *df = NULL, *dg = NULL;
            must(tape, &s, by[k](tape, f, &df));
            must(tape, &s, by[k](tape, g, &dg));
            wg_function *const same = there_and_back(df);
            assert_same_bits(df, same);
            assert_same_bits(df, dg);
            wg_function_free(same);
            wg_function_free(df);
            wg_function_free(dg);
        }
        wg_function_free(f);
        wg_function_free(g);
    }
}

/* ---- in the steps of a scan -------------------------------------------------------------- */

enum { SIDE = 11, STATE = SIDE * SIDE, STEPS = 4 };

/* x: a matrix, and one that all steps share; y: the next one. */
static void next_of(wg_tape *t, const wg_real *x, const wg_real *w, wg_real *y, int written) {
    const spec s = plain(GEMM, SIDE, SIDE, SIDE);
    if (written) loop_product(t, &s, x, w, x, y);
    else (void)by_operation(t, &s, x, w, x, y);
    for (size_t e = 0; e < STATE; e++) y[e] = wg_let(t, wg_mul(0.4, wg_sin(y[e])));
}

static wg_status next(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    next_of(t, x, x + STATE, y, 0);
    return WG_OK;
}

static wg_status steps(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    wg_real state[STATE], to[STATE];
    (void)n, (void)m;
    memcpy(state, x, sizeof state);
    if (user != NULL) {
        const wg_source from[] = {wg_from_state("s"),
                                  wg_from_matrix(wg_mat_gather(t, STATE, 1, x + STATE))};
        const wg_stage stage = {user, from};
        const wg_state start = {"s", wg_mat_gather(t, STATE, 1, x)};
        wg_mat end;
        const wg_status s = wg_scan(t, STEPS, 1, &stage, 1, &start, NULL, &end);
        if (s != WG_OK) return s;
        for (size_t e = 0; e < STATE; e++) state[e] = wg_mat_at(end, e, 0);
    }
    for (size_t i = 0; user == NULL && i < STEPS; i++) {
        next_of(t, state, x + STATE, to, 1);
        memcpy(state, to, sizeof state);
    }
    y[0] = wg_constant(0);
    for (size_t e = 0; e < STATE; e++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(1 + 0.1 * (double)e, wg_square(state[e]))));
    return WG_OK;
}

static void they_stand_in_the_steps_of_loops(void **state) {
    (void)state;
    static const wg_argument of_step[] = {{"s", STATE, 1, 0}, {"w", STATE, 1, WG_SHARED}};
    static const wg_argument after[] = {{"s", STATE, 1, 0}}, all[] = {{"x", 2 * STATE, 1, 0}};
    static double x[2 * STATE], v[2 * STATE], y[2][2 * STATE];
    const wg_options looping = {.flags = WG_KEEP_CODE, .loops_over = 1};
    wg_tape *const t = wg_tape_new(&looping);
    wg_function *one = NULL, *f[2] = {NULL, NULL};
    wg_callable *k = NULL;
    for (size_t e = 0; e < 2 * STATE; e++)
        x[e] = sin(1.3 * (double)e), v[e] = cos(0.7 * (double)e);
    assert_int_equal(wg_function_record(t, next, NULL, 2, of_step, x, 1, after, &one), WG_OK);
    assert_int_equal(wg_callable_new(t, one, &k), WG_OK);
    for (int w = 0; w < 2; w++) {
        wg_function *g = NULL;
        if (wg_function_record(t, steps, w ? NULL : k, 1, all, x, 1, out, &f[w]) != WG_OK)
            fail_msg("%s", wg_tape_message(t));
        assert_int_equal(f[w]->repeats, !w);
        assert_int_equal(dense_is_in(f[w]), !w);
        assert_int_equal(wg_function_gradient(t, f[w], &g), WG_OK);
        run(g, x, NULL, y[w]);
        if (w == 0) { /* in the body of a file */
            double again[2 * STATE];
            wg_function *const same = there_and_back(g);
            run(same, x, NULL, again);
            assert_memory_equal(y[0], again, sizeof again);
            wg_function_free(same);
        }
        wg_function_free(g);
    }
    const spec named = plain(GEMM, SIDE, SIDE, SIDE);
    compare(&named, "gradient through steps", 2 * STATE, y[0], y[1]);
    for (int w = 0; w < 2; w++) {
        wg_function *h = NULL;
        assert_int_equal(wg_function_hvp(t, f[w], &h), WG_OK);
        run(h, x, v, y[w]);
        wg_function_free(h);
        wg_function_free(f[w]);
    }
    compare(&named, "Hessian times v through steps", 2 * STATE, y[0], y[1]);
    wg_callable_free(k);
    wg_function_free(one);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones_are_written_out_and_large_ones_are_not),
        cmocka_unit_test(products_of_all_transposes_agree),
        cmocka_unit_test(triangular_systems_of_all_kinds_agree),
        cmocka_unit_test(factorisations_agree_to_second_order),
        cmocka_unit_test(shapes_of_all_sizes_agree),
        cmocka_unit_test(empty_ones_and_ones_of_order_one_agree),
        cmocka_unit_test(aliased_and_constant_operands_agree),
        cmocka_unit_test(what_is_shared_is_factored_once),
        cmocka_unit_test(bits_are_those_of_one_point_whatever_the_threads),
        cmocka_unit_test(gradients_of_sums_over_points_agree),
        cmocka_unit_test(they_stand_in_the_steps_of_loops),
        cmocka_unit_test(they_are_loaded_from_files_as_they_were),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

/* SPDX-License-Identifier: MIT */
/* Functions with loops as C text, and compiled. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "repeat_case.h"

enum { ALL = WG_EMIT_POINT | WG_EMIT_BATCH | WG_EMIT_CASADI };
typedef int point_fn(const double *const *arg, double *const *res);
typedef int batch_fn(size_t points, const double *const *arg, const ptrdiff_t *arg_step,
                     double *const *res, const ptrdiff_t *res_step, size_t *where);

static void write_all(FILE *to, const wg_function *f, const char *name) {
    const wg_emit_options o = {name, ALL, 0, 0};
    if (wg_function_emit(coded, f, &o, wg_write_file, to) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
}

/* The point, and the batch at five points, all the same. */
static void check_text(const emitted *e, const char *name, const wg_function *f,
                       const double *x) {
    enum { POINTS = 5 };
    const size_t n = graph_entries_in(f), m = graph_entries_out(f);
    double *const y = malloc((POINTS + 1) * m * sizeof *y), *const expected = y + POINTS * m;
    const double *arg[8];
    double *res[8];
    ptrdiff_t arg_step[16], res_step[16];
    point_fn *point;
    batch_fn *batch;
    EMITTED(e, name, "_point", point);
    EMITTED(e, name, "_batch", batch);
    size_t at = 0;
    for (size_t k = 0; k < wg_function_inputs(f); at += entries(wg_function_input(f, k++)))
        arg[k] = x + at, arg_step[2 * k] = 0, arg_step[2 * k + 1] = 1;
    assert_int_equal(at, n);
    at = 0;
    for (size_t k = 0; k < wg_function_outputs(f); at += entries(wg_function_output(f, k++)))
        res[k] = y + at, res_step[2 * k] = (ptrdiff_t)m, res_step[2 * k + 1] = 1;
    assert_int_equal(graph_walk(f, x, expected), 0);
    assert_int_equal(point(arg, res), 0);
    assert_all_near(name, m, y, expected);
    memset(y, 0x7f, POINTS * m * sizeof *y);
    assert_int_equal(batch(POINTS, arg, arg_step, res, res_step, NULL), 0);
    for (size_t p = 0; p < POINTS; p++) assert_all_near(name, m, y + p * m, expected);
    free(y);
}

static size_t text_bytes(const wg_function *f) {
    size_t needed = 0;
    const wg_emit_options o = {"f", WG_EMIT_POINT, 0, 0};
    assert_int_equal(wg_function_text(coded, f, &o, NULL, 0, &needed), WG_OK);
    return needed;
}

static void texts_are_loops(void **state) {
    (void)state;
    models *const l = models_new(STEPS, PATHS), *const half = models_new(STEPS - 50, PATHS);
    static const double at[] = {0.1, 0.2, 0.3, 0.5};
    wg_callable *const cell = callable(heat_of_cell, 4, heat_in, at, 2, heat_out);
    static double x[2 * LIKELY_IN + 8];
    fill(x, sizeof x / sizeof *x);
    x[2] = 1.5, x[3] = 0.2;
    wg_function *const source[] = {recorded(rollout, l, ROLL_IN, x, ROLL_OUT),
                                   recorded(likelihood, l, LIKELY_IN, x, LIKELY_OUT),
                                   recorded(heat, cell, HEAT_IN, x, 1)};
    wg_function *f[9];
    static const char *const name[] = {"roll",  "likely", "heat",    "droll", "dlikely",
                                       "dheat", "hroll",  "hlikely", "hheat"};
    for (size_t k = 0; k < 3; k++) {
        f[k] = source[k];
        f[3 + k] = made(wg_function_vjp, source[k]);
        f[6 + k] = made(wg_function_hvp, source[k]);
    }
    emitted e;
    FILE *const text = emitted_text(&e);
    for (size_t k = 0; k < 9; k++) write_all(text, f[k], name[k]);
    (void)fclose(text);
    for (size_t c = 0; c < 2; c++) {
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], emitted_level(emitted_compilers[c]));
        for (size_t k = 0; k < 9; k++) check_text(&e, name[k], f[k], x);
        emitted_close(&e);
    }
    emitted_remove(&e);
    /* twice the steps are hardly more text: controls and data are tables and arguments */
    wg_function *const shorter = recorded(rollout, half, ROLL_IN - 50, x, ROLL_OUT);
    wg_function *const small = recorded(few_repeated, l, FEW, x, 1);
    wg_function *const gradient = made(wg_function_gradient, small);
    const size_t most_of_a_datum = sizeof "-0.000000000000000000e-00,";
    assert_int_equal(shorter->repeats, 1);
    assert_true(text_bytes(source[0]) < 16384 + STEPS * most_of_a_datum);
    assert_true(text_bytes(source[0]) - text_bytes(shorter) < 50 * most_of_a_datum + 256);
    assert_true(text_bytes(gradient) < 32768 + 4 * STEPS * most_of_a_datum);
    wg_function_free(shorter);
    wg_function_free(gradient);
    wg_function_free(small);
    for (size_t k = 0; k < 9; k++) wg_function_free(f[k]);
    wg_callable_free(cell);
    models_free(half);
    models_free(l);
}

static void compiled_bodies_give_the_same(void **state) {
    (void)state;
    models *const l = models_new(STEPS, PATHS);
    static double x[2 * LIKELY_IN + 8];
    const wg_compile_options o = {.directory = COMPILED_BEFORE};
    fill(x, sizeof x / sizeof *x);
    x[2] = 1.5, x[3] = 0.2;
    wg_function *const source[] = {recorded(rollout, l, ROLL_IN, x, ROLL_OUT),
                                   recorded(likelihood, l, LIKELY_IN, x, LIKELY_OUT)};
    for (size_t k = 0; k < 2; k++) {
        wg_function *const g = made(wg_function_vjp, source[k]);
        wg_function *compiled = NULL;
        wg_compiled how;
        assert_int_equal(wg_function_compile(coded, g, &o, &compiled, &how), WG_OK);
        if (!how.native) print_message("not compiled: %s\n", how.why);
        const size_t m = graph_entries_out(g);
        double *const got = malloc(2 * m * sizeof *got), *const expected = got + m;
        assert_non_null(got);
        assert_int_equal(evaluated(compiled, 1, x, got, NULL, NULL), WG_OK);
        assert_int_equal(evaluated(g, 1, x, expected, NULL, NULL), WG_OK);
        assert_all_near("compiled", m, got, expected);
        free(got);
        wg_function_free(compiled);
        wg_function_free(g);
        wg_function_free(source[k]);
    }
    models_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_loops),
        cmocka_unit_test(compiled_bodies_give_the_same),
    };
    return cmocka_run_group_tests(tests, open_looping, close_tapes);
}

/* SPDX-License-Identifier: MIT */
/* test_function_compile.c - compiled functions against interpreted ones, to the last bit where
 * nothing is summed. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "compile_case.h"

#include <time.h>
#include <wengert/derive.h>
#include <wengert/operation.h>
#include "tape/function/native/native.h"

static void rows_and_partials_have_the_bits_of_the_interpreter(void **state) {
    enum { APIECE = 24 };
    (void)state;
    for (size_t k = 0; k < wgi_scalar_op_count; k += APIECE) {
        hand h;
        hand_open(&h);
        hand_every_row(&h, k,
                       k + APIECE < wgi_scalar_op_count ? k + APIECE : wgi_scalar_op_count);
        wg_function *const g = must_compile(h.t, h.f);
        compare(h.f, g, POINTS, 1, 0);
        compare(h.f, g, POINTS, 1, 1);
        wg_function_free(g);
        hand_close(&h);
    }
}

static void drawn_functions_have_the_bits_of_the_interpreter(void **state) {
    (void)state;
    for (size_t k = 0; k < 8; k++) {
        hand h;
        hand_open(&h);
        hand_draw(&h, 100 + k, k == 7 ? 2000 : 30 + 40 * k, k % 2 == 1, k % 4 >= 2);
        wg_function *const g = must_compile(h.t, h.f);
        compare(h.f, g, POINTS, 1, 0);
        for (size_t points = 0; points < 70; points += k == 0 ? 1 : 23)
            compare(h.f, g, points, 1 + points % 3, 1);
        wg_function_free(g);
        hand_close(&h);
    }
}

/* ---- where arguments stand ---- */

enum { FIELDS_IN = 5, FIELDS_OUT = 4, STRUCTURE = 32 };
static const wg_argument fields_in[FIELDS_IN] = {
    {"a", 3, 1, 0}, {"b", 1, 1, 0}, {"c", 5, 1, 0}, {"d", 1, 1, 0}, {"e", 11, 1, 0}};
static const wg_argument fields_out[FIELDS_OUT] = {
    {"u", 1, 1, 0}, {"v", 9, 1, 0}, {"w", 2, 1, 0}, {"z", 1, 1, 0}};

/* Entry i of an output is of inputs i and i + 3 and, past some, one of the inputs itself. */
static wg_status fields(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)data;
    for (size_t i = 0; i < m; i++)
        y[i] = i % 5 == 4 ? x[n - i]
                          : wg_let(t, wg_sub(wg_mul(x[i], x[i + 3]), wg_div(x[i], 3.0)));
    return WG_OK;
}

/* Where arguments begin in a structure, the size of which is `point`, or, where that is 1, in
 * arrays of POINTS; step: from entry to entry. */
typedef struct layout {
    size_t in[FIELDS_IN], out[FIELDS_OUT], point, step;
} layout;

static void evaluate_fields(const wg_function *f, const layout *l, size_t points,
                            const double *x, double *y) {
    wg_points in[FIELDS_IN];
    wg_results out[FIELDS_OUT];
    const size_t scale = l->point == 1 ? POINTS : 1;
    for (size_t k = 0; k < FIELDS_IN; k++)
        in[k] = (wg_points){x + l->in[k] * scale, (ptrdiff_t)l->point, (ptrdiff_t)l->step};
    for (size_t k = 0; k < FIELDS_OUT; k++)
        out[k] = (wg_results){y + l->out[k] * scale, (ptrdiff_t)l->point, (ptrdiff_t)l->step};
    void *const work = malloc(wg_function_work(f, NULL) + 1);
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, points, in, out, NULL, work, NULL), WG_OK);
    free(work);
}

/* Next to each other, with gaps, in another order, entries apart, arrays. What lies between is
 * left alone. */
static void arguments_may_stand_anywhere(void **state) {
    (void)state;
    static const layout layouts[] = {
        {{0, 3, 4, 9, 10}, {0, 1, 10, 12}, 21, 1},
        {{0, 3, 4, 9, 10}, {0, 1, 10, 12}, STRUCTURE, 1},
        {{2, 6, 9, 15, 17}, {3, 5, 16, 20}, STRUCTURE, 1},
        {{18, 17, 12, 11, 0}, {12, 3, 1, 0}, 21, 1},
        {{0, 6, 8, 18, 20}, {0, 2, 20, 24}, 2 * STRUCTURE, 2},
        {{0, 3, 4, 9, 10}, {0, 1, 10, 12}, 1, POINTS},
    };
    static double x[2 * STRUCTURE * POINTS], y[2 * STRUCTURE * POINTS],
        z[2 * STRUCTURE * POINTS];
    double at[21];
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f;
    for (size_t i = 0; i < 21; i++) at[i] = 1 + 0.1 * (double)i;
    assert_int_equal(wg_function_record(t, fields, NULL, FIELDS_IN, fields_in, at, FIELDS_OUT,
                                        fields_out, &f),
                     WG_OK);
    wg_function *const g = must_compile(t, f);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = uniform(-2, 2);
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++)
        for (size_t points = 1; points <= POINTS; points += points < 20 ? 1 : 13) {
            for (size_t i = 0; i < sizeof y / sizeof *y; i++) y[i] = z[i] = -7;
            evaluate_fields(f, &layouts[k], points, x, y);
            evaluate_fields(g, &layouts[k], points, x, z);
            assert_memory_equal(y, z, sizeof y);
            assert_true(y[layouts[k].out[0]] != -7);
        }
    wg_function_free(g);
    wg_function_free(f);
    wg_tape_free(t);
}

#if defined(__x86_64__)
/* For a machine with shorter vectors than this one has. */
static void narrow(hand *h, const wgi_fn_machine *machine, const wgi_simd *simd,
                   const char *flags) {
    const wgi_native_form form = {(unsigned)machine->width, 50, 192 << 10};
    emitted e;
    wgi_writer s;
    char line[512];
    wgi_bytecode_free(h->f);
    assert_int_equal(wgi_bytecode_make(wgi_core_of(h->t), h->f, machine, simd), WG_OK);
    wg_function copy = *h->f;
    wgi_bytecode bytecode = *h->f->bytecode;
    copy.bytecode = &bytecode;
    FILE *const f = emitted_text(&e);
    assert_int_equal(wgi_writer_open(&s, wgi_core_of(h->t), "test", h->f, "wgi"), WG_OK);
    assert_int_equal(wgi_native_plan(&s, &form), WG_OK);
    wgi_text_open(&s.o, NULL, wg_write_file, f);
    wgi_native_write(&s, &form, "key");
    assert_int_equal(wgi_text_close(&s.o), WG_OK);
    assert_int_equal(fclose(f), 0);
    (void)snprintf(line, sizeof line, "-std=gnu11 -w -O1 %s", flags);
    emitted_load(&e, compiler, line);
    EMITTED(&e, "wengert_each", "", bytecode.native);
    assert_string_equal(emitted_symbol(&e, "wengert_key", ""), "key");
    compare(h->f, &copy, POINTS, 1, 0);
    compare(h->f, &copy, POINTS - 3, 1, 1);
    emitted_close(&e);
    emitted_remove(&e);
}

static void shorter_vectors_have_the_bits_of_their_interpreter(void **state) {
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        hand h;
        hand_open(&h);
        if (k == 0) hand_every_row(&h, 0, 30);
        else hand_draw(&h, 200 + k, 150, k == 2, k == 2);
        narrow(&h, wgi_fn_base, wgi_simd_base, "");
        if (wgi_fn_avx2 != NULL && __builtin_cpu_supports("avx2") &&
            __builtin_cpu_supports("fma"))
            narrow(&h, wgi_fn_avx2, wgi_simd_avx2, "-mavx2 -mfma");
        hand_close(&h);
    }
}

/* Vector functions that a compiler does not have are done lane by lane. */
static void a_compiler_without_vector_functions_of_its_own_gives_the_same_bits(void **state) {
    (void)state;
    static const char none[] = "-D__has_builtin(f)=0";
    char line[128];
    for (size_t k = 0; k < 3; k++) {
        hand h;
        hand_open(&h);
        if (k == 0) hand_every_row(&h, WGI_ROW_fma, WGI_ROW_sqrt + 1);
        else if (k == 1) hand_every_row(&h, WGI_ROW_floor, WGI_ROW_rint + 1);
        else hand_draw(&h, 300, 150, 1, 1);
        narrow(&h, wgi_fn_base, wgi_simd_base, none);
        (void)snprintf(line, sizeof line, "-mavx2 -mfma %s", none);
        if (wgi_fn_avx2 != NULL && __builtin_cpu_supports("avx2") &&
            __builtin_cpu_supports("fma"))
            narrow(&h, wgi_fn_avx2, wgi_simd_avx2, line);
        (void)snprintf(line, sizeof line, "-mavx512f -mavx512dq -mavx512vl %s", none);
        if (wgi_fn_avx512 != NULL && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
            narrow(&h, wgi_fn_avx512, wgi_simd_avx512, line);
        hand_close(&h);
    }
}
#endif

/* Sums of every point, of whole numbers: exact in any order. */
static void each_point_is_summed_once(void **state) {
    hand h;
    static double x[POINTS * 2];
    (void)state;
    hand_open(&h);
    const uint32_t a = hand_input(&h, "x", 2, 1, 0);
    uint32_t out[3] = {a, WGI_GRAPH2(&h.g, mul, a, a + 1), WGI_GRAPH2(&h.g, sub, a + 1, a)};
    hand_output(&h, "s", 3, 1, WG_SUMMED, out);
    hand_finish(&h);
    wg_function *const g = must_compile(h.t, h.f);
    for (size_t i = 0; i < 2 * POINTS; i++) x[i] = (double)below(100) - 40;
    for (size_t points = 0; points <= POINTS; points++) {
        double want[3] = {0, 0, 0}, got[3];
        for (size_t p = 0; p < points; p++) {
            want[0] += x[2 * p];
            want[1] += x[2 * p] * x[2 * p + 1];
            want[2] += x[2 * p + 1] - x[2 * p];
        }
        assert_int_equal(evaluate(g, points, x, got, 1 + points % 2, NULL), WG_OK);
        for (int k = 0; k < 3; k++) assert_true(got[k] == want[k]);
    }
    wg_function_free(g);
    hand_close(&h);
}

static void zero_times_infinity_is_zero_by_the_rule(void **state) {
    hand h;
    double x[POINTS * 2], y[POINTS * 2];
    (void)state;
    hand_open(&h);
    const uint32_t c = hand_input(&h, "c", 1, 1, 0), z = hand_input(&h, "x", 1, 1, 0);
    const uint32_t d = hand_partial(&h, op_named("sqrt"), WGI_NODE_FIRST, 0, &z);
    uint32_t out[2] = {wgi_graph_times(&h.g, c, d), 0};
    out[1] = WGI_GRAPH4(&h.g, select_lt, out[0], c, z, d); /* hides a NaN */
    hand_output(&h, "y", 2, 1, 0, out);
    hand_output(&h, "s", 2, 1, WG_SUMMED, out);
    hand_finish(&h);
    wg_function *const g = must_compile(h.t, h.f);
    compare(h.f, g, POINTS, 1, 0);
    wg_function_free(g);
    hand_close(&h);

    hand_open(&h);
    const uint32_t v = hand_input(&h, "c", 1, 1, 0), u = hand_input(&h, "x", 1, 1, 0);
    const uint32_t e = hand_partial(&h, op_named("sqrt"), WGI_NODE_FIRST, 0, &u);
    const uint32_t hidden = wgi_graph_times(&h.g, v, e);
    out[0] = WGI_GRAPH4(&h.g, select_le, hidden, v, u, e);
    hand_output(&h, "y", 1, 1, 0, out);
    hand_finish(&h);
    wg_function *const k = must_compile(h.t, h.f);
    for (size_t p = 0; p < POINTS; p++) x[2 * p] = 0, x[2 * p + 1] = 0;
    assert_int_equal(evaluate(k, POINTS, x, y, 1, NULL), WG_OK);
    for (size_t p = 0; p < POINTS; p++) assert_true(y[p] == 0);
    wg_function_free(k);
    hand_close(&h);
}

WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
              -2 * copysign(1, a) / pow(1 + fabs(a), 3), GUARD, "an expression")

static void operations_of_the_user_are_compiled_or_interpreted(void **state) {
    const wg_scalar_op *const op[] = {&wgi_user_softsign, &wgi_user_looked_up};
    (void)state;
    for (int k = 0; k < 2; k++) {
        hand h;
        wg_compiled how;
        hand_open(&h);
        const uint32_t x = hand_input(&h, "x", 1, 1, 0);
        const uint32_t y = hand_partial(&h, op[k], WGI_NODE_OP, 0, &x);
        hand_output(&h, "y", 1, 1, 0, &y);
        hand_finish(&h);
        wg_function *const g = compiled(h.t, h.f, compiler, NULL, directory, &how);
        assert_int_equal(how.native, k == 0);
        if (k == 1) assert_non_null(strstr(how.why, "looked_up"));
        assert_int_equal(wg_tape_status(h.t), WG_OK);
        compare(h.f, g, 40, 1, 1);
        wg_function_free(g);
        hand_close(&h);
    }
}

/* Arrays of n operands: inputs, and products of them. */
static void open_arrays(hand *h, size_t n, int arrays) {
    enum { ROOM = 20000 };
    static uint32_t node[ROOM];
    uint32_t y[2 * WGI_ARRAY_COUNT];
    int results = 0;
    assert_true(n <= ROOM);
    hand_open(h);
    const uint32_t x = hand_input(h, "x", n, 1, 0);
    static const unsigned array[] = {WGI_ARRAY_norm2, WGI_ARRAY_logsumexp, WGI_ARRAY_maximum,
                                     WGI_ARRAY_minimum};
    for (int k = 0; k < arrays; k++) {
        for (uint32_t i = 0; i < n; i++) node[i] = x + i;
        y[results++] = wgi_graph_array(&h->g, array[k], n, node);
        for (uint32_t i = 0; i < n; i++)
            node[i] = WGI_GRAPH2(&h->g, mul, x + i, x + (i + 1) % (uint32_t)n);
        y[results++] = wgi_graph_array(&h->g, array[k], n, node);
    }
    hand_output(h, "y", (size_t)results, 1, 0, y);
    hand_finish(h);
}

static void long_arrays_take_little_of_stack_and_compiler(void **state) {
    hand h;
    wg_compiled how;
    (void)state;
    open_arrays(&h, 600, 4);
    const time_t start = time(NULL);
    wg_function *const g = must_compile_to(h.t, h.f, directory);
    assert_true(time(NULL) - start < 60);
    compare(h.f, g, 70, 1, 0);
    compare(h.f, g, 70, 1, 1);
    wg_function_free(g);
    hand_close(&h);

    open_arrays(&h, 20000, 1);
    wg_function *const k = compiled(h.t, h.f, compiler, NULL, directory, &how);
    assert_int_equal(how.native, 0);
    assert_non_null(strstr(how.why, "alive"));
    wg_function_free(k);
    hand_close(&h);
}

/* Derivatives of a compiled function, and a function of nothing at the points. */
static void compiled_functions_are_functions(void **state) {
    hand h;
    wg_compiled how;
    (void)state;
    open_small(&h, 5.25);
    wg_function *const g = must_compile(h.t, h.f);
    wg_function *const again = must_compile(h.t, g);
    compare(h.f, again, 33, 1, 1);
    wg_function_free(g);
    compare(h.f, again, 33, 1, 1);
    wg_function_free(again);
    hand_close(&h);
    hand_open(&h);
    const uint32_t x = hand_input(&h, "x", 1, 1, WG_SHARED);
    const uint32_t y = WGI_GRAPH1(&h.g, exp, x);
    hand_output(&h, "y", 1, 1, 0, &y);
    hand_finish(&h);
    wg_function *const k = compiled(h.t, h.f, compiler, NULL, directory, &how);
    assert_int_equal(how.native, 0);
    wg_function_free(k);
    hand_close(&h);
}

/* ---- for one point ---- */

static wg_function *for_a_point(hand *h, const char *with, const char *where,
                                wg_compiled *how) {
    const wg_compile_options o = {with, NULL, where};
    wg_function *out = NULL;
    assert_int_equal(wg_function_compile_point(h->t, h->f, &o, &out, how), WG_OK);
    assert_non_null(out);
    return out;
}

/* Inputs and outputs of the call, at numbers in a row. */
static void places(const wg_function *f, const double *x, double *y, const double **arg,
                   double **res) {
    for (size_t k = 0, at = 0; k < f->inputs; at += wgi_argument_size(&f->input[k++]))
        arg[k] = x + at;
    for (size_t k = 0, at = 0; k < f->outputs; at += wgi_argument_size(&f->output[k++]))
        res[k] = y + at;
}

/* Without calls of <math.h> results have the bits of the interpreter. */
static void code_for_one_point_gives_what_an_evaluation_gives(void **state) {
    static double x[MOST], y[MOST], want[MOST];
    const double *arg[16];
    double *res[16];
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        hand h;
        wg_compiled how;
        hand_open(&h);
        const uint32_t a = hand_input(&h, "a", 2, 1, 0), b = hand_input(&h, "b", 1, 1, 0);
        uint32_t out[3] = {WGI_GRAPH2(&h.g, mul, a, b), 0, 0};
        out[1] = WGI_GRAPH2(&h.g, div, WGI_GRAPH2(&h.g, sub, out[0], a + 1), b);
        out[2] = WGI_GRAPH1(&h.g, sqrt, wgi_graph_number(&h.g, 2.5 + (double)k));
        hand_output(&h, "y", 2, 1, 0, out);
        hand_output(&h, "z", 1, 1, 0, out + 2);
        hand_finish(&h);
        wg_function *const g = for_a_point(&h, compiler, directory, &how);
        if (!how.native) fail_msg("%s", how.why);
        assert_string_equal(how.why, "");
        assert_int_equal(how.cached, 0);
        wg_point_call *const call = wg_function_point(g);
        assert_non_null(call);
        assert_null(wg_function_point(h.f));
        places(h.f, x, y, arg, res);
        for (size_t p = 0; p < POINTS; p++) {
            draw_points(x, 3, 1, 0);
            assert_int_equal(evaluate(h.f, 1, x, want, 1, NULL), WG_OK);
            assert_int_equal(call(arg, res), 0);
            for (size_t i = 0; i < 3; i++) assert_true(same_bits(y[i], want[i]));
        }
        /* inputs that are all 0, outputs that are not wanted */
        x[0] = x[1] = 3, x[2] = 0;
        assert_int_equal(evaluate(h.f, 1, x, want, 1, NULL), WG_OK);
        arg[1] = NULL, res[1] = NULL, y[2] = -7;
        assert_int_equal(call(arg, res), 0);
        assert_true(same_bits(y[0], want[0]) && same_bits(y[1], want[1]) && y[2] == -7);
        /* what was compiled is found again, and many points are evaluated as before */
        compare(h.f, g, 33, 1, 1);
        wg_function *const again = for_a_point(&h, compiler, directory, &how);
        assert_int_equal(how.native && how.cached, 1);
        wg_function_free(g);
        res[1] = y + 2;
        assert_int_equal(wg_function_point(again)(arg, res), 0);
        assert_true(same_bits(y[2], want[2]));
        wg_function_free(again);
        hand_close(&h);
    }
}

static void code_for_one_point_names_the_comparison_that_differs(void **state) {
    const double *arg[16];
    double x[2] = {1, 2}, y[1], *res[16];
    hand h;
    wg_compiled how;
    (void)state;
    hand_open(&h);
    const uint32_t a = hand_input(&h, "a", 2, 1, 0);
    const uint32_t out = WGI_GRAPH2(&h.g, mul, a, a + 1);
    wgi_graph_guard_add(&h.g, a, a + 1, 0, 1);
    wgi_graph_guard_add(&h.g, a, wgi_graph_number(&h.g, 5), 0, 1);
    hand_output(&h, "y", 1, 1, 0, &out);
    hand_finish(&h);
    wg_function *const g = for_a_point(&h, compiler, directory, &how);
    if (!how.native) fail_msg("%s", how.why);
    places(h.f, x, y, arg, res);
    assert_int_equal(wg_function_point(g)(arg, res), 0);
    x[0] = 3;
    assert_int_equal(wg_function_point(g)(arg, res), 1);
    x[0] = 6, x[1] = 7;
    assert_int_equal(wg_function_point(g)(arg, res), 2);
    wg_function_free(g);
    hand_close(&h);
}

static void without_code_for_one_point_the_reason_is_said(void **state) {
    hand h;
    wg_compiled how;
    (void)state;
    open_small(&h, 6.75);
    wg_function *g = for_a_point(&h, "wengert-no-such-compiler", directory, &how);
    assert_int_equal(how.native, 0);
    assert_non_null(strstr(how.why, "no compiler"));
    assert_null(wg_function_point(g));
    compare(h.f, g, 9, 1, 1);
    wg_function_free(g);
    assert_null(wg_function_point(NULL));
    assert_int_equal(wg_function_compile_point(NULL, h.f, NULL, &g, NULL), WG_ENULL);
    assert_null(g);
    assert_int_equal(wg_function_compile_point(h.t, NULL, NULL, &g, NULL), WG_ENULL);
    assert_null(g);
    assert_int_equal(wg_function_compile_point(h.t, h.f, NULL, NULL, NULL), WG_ENULL);
    hand_close(&h);
    /* an operation whose text is a function of the program */
    hand_open(&h);
    const uint32_t x = hand_input(&h, "x", 1, 1, 0);
    const uint32_t y = hand_partial(&h, &wgi_user_looked_up, WGI_NODE_OP, 0, &x);
    hand_output(&h, "y", 1, 1, 0, &y);
    hand_finish(&h);
    g = for_a_point(&h, compiler, directory, &how);
    assert_int_equal(how.native, 0);
    assert_non_null(strstr(how.why, "looked_up"));
    assert_int_equal(wg_tape_status(h.t), WG_OK);
    wg_function_free(g);
    hand_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_partials_have_the_bits_of_the_interpreter),
        cmocka_unit_test(drawn_functions_have_the_bits_of_the_interpreter),
        cmocka_unit_test(arguments_may_stand_anywhere),
#if defined(__x86_64__)
        cmocka_unit_test(shorter_vectors_have_the_bits_of_their_interpreter),
        cmocka_unit_test(a_compiler_without_vector_functions_of_its_own_gives_the_same_bits),
#endif
        cmocka_unit_test(each_point_is_summed_once),
        cmocka_unit_test(zero_times_infinity_is_zero_by_the_rule),
        cmocka_unit_test(operations_of_the_user_are_compiled_or_interpreted),
        cmocka_unit_test(long_arrays_take_little_of_stack_and_compiler),
        cmocka_unit_test(compiled_functions_are_functions),
        cmocka_unit_test(code_for_one_point_gives_what_an_evaluation_gives),
        cmocka_unit_test(code_for_one_point_names_the_comparison_that_differs),
        cmocka_unit_test(without_code_for_one_point_the_reason_is_said),
    };
    return cmocka_run_group_tests(tests, open_directory, close_directory);
}

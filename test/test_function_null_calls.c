/* SPDX-License-Identifier: MIT */
/* test_function_null_calls.c - functions as texts, compiled, called in recordings, and models:
 * NULL for every pointer, as in test_function_null.c. */
#include "null_function.h"

#include <wengert/model.h>

/* ---- emit.h ---- */

static void writing_c_answers(void **state) {
    (void)state;
    int calls = 0;
    char text[8];
    size_t needed = 42;
    const wg_emit_options nothing = {NULL, 0, 0, 0};
    STATUS(WG_ENULL, wg_function_emit, NULL, fn, NULL, count_calls, &calls);
    DRIVEN(wg_function_emit, tape, NULL, NULL, count_calls, &calls);
    DRIVEN(wg_function_emit, tape, fn, NULL, NULL, &calls);
    assert_int_equal(calls, 0);
    STATUS(WG_OK, wg_function_emit, tape, fn, NULL, count_calls, &calls);
    STATUS(WG_OK, wg_function_emit, tape, fn, &nothing, count_calls, &calls);
    assert_true(calls > 0);
    memset(text, 42, sizeof text);
    STATUS(WG_ENULL, wg_function_text, NULL, fn, NULL, text, sizeof text, &needed);
    STATUS(WG_ENULL, wg_function_text, tape, NULL, NULL, text, sizeof text, &needed);
    assert_named("wg_function_text");
    assert_usable();
    STATUS(WG_ENULL, wg_function_text, tape, fn, NULL, NULL, sizeof text, &needed);
    assert_usable();
    STATUS(WG_ENULL, wg_function_text, tape, fn, NULL, text, sizeof text, NULL);
    assert_usable();
    for (size_t i = 1; i < sizeof text; i++) assert_int_equal(text[i], 42);
    STATUS(WG_OK, wg_function_text, tape, fn, NULL, NULL, 0, &needed);
    assert_true(needed > sizeof text);
}

static void compiling_answers(void **state) {
    (void)state;
    wg_compiled compiled;
    /* of a function without work at the points: no compiler is called */
    wg_function *plain = NULL;
    const wg_argument p = {"p", 1, 1, WG_SHARED};
    assert_int_equal(wg_function_record(tape, square, NULL, 1, &p, numbers, 1, outputs, &plain),
                     WG_OK);
    made = poison();
    STATUS(WG_ENULL, wg_function_compile, NULL, plain, NULL, &made, &compiled);
    assert_null(made);
    STATUS(WG_ENULL, wg_function_compile, NULL, plain, NULL, NULL, &compiled);
    DRIVEN(wg_function_compile, tape, plain, NULL, NULL, &compiled);
    made = poison();
    DRIVEN(wg_function_compile, tape, NULL, NULL, &made, &compiled);
    assert_null(made);
    STATUS(WG_OK, wg_function_compile, tape, plain, NULL, &made, NULL);
    assert_non_null(made);
    wg_function_free(made);
    const wg_compile_options defaults = {NULL, NULL, NULL};
    STATUS(WG_OK, wg_function_compile, tape, plain, &defaults, &made, &compiled);
    assert_true(made != NULL && !compiled.native && compiled.why[0] != 0);
    wg_function_free(made);
    STATUS(WG_ENULL, wg_function_compile_point, NULL, plain, NULL, &made, &compiled);
    assert_null(made);
    DRIVEN(wg_function_compile_point, tape, plain, NULL, NULL, &compiled);
    made = poison();
    DRIVEN(wg_function_compile_point, tape, NULL, NULL, &made, &compiled);
    assert_null(made);
    HAPPENS(wg_function_point, NULL);
    assert_null(wg_function_point(NULL));
    assert_null(wg_function_point(plain));
    wg_function_free(plain);
}

/* ---- map.h ---- */

static wg_callable *callable_of(wg_callback *f, size_t count, const wg_argument *in,
                                const wg_argument *out) {
    wg_function *of = NULL;
    wg_callable *k = NULL;
    assert_int_equal(wg_function_record(tape, f, NULL, count, in, numbers, 1, out, &of), WG_OK);
    assert_int_equal(wg_callable_new(tape, of, &k), WG_OK);
    wg_function_free(of);
    return k;
}

static void callables_answer(void **state) {
    (void)state;
    wg_callable *const none = (wg_callable *)(uintptr_t)numbers, *k = none;
    STATUS(WG_ENULL, wg_callable_new, NULL, fn, &k);
    assert_null(k);
    k = none;
    STATUS(WG_ENULL, wg_callable_new, tape, NULL, &k);
    assert_null(k);
    assert_named("wg_callable_new");
    assert_usable();
    STATUS(WG_ENULL, wg_callable_new, tape, fn, NULL);
    assert_named("wg_callable_new");
    assert_usable();
    HAPPENS(wg_callable_free, NULL);
    assert_null((try("wg_callable_function"), wg_callable_function(NULL)));
    STATUS(WG_OK, wg_callable_new, tape, fn, &k);
    assert_true(wg_callable_function(k) != fn &&
                wg_function_inputs(wg_callable_function(k)) == 2);
    const wg_source from[2] = {wg_from_state("x"), wg_from_neighbour("x", 1, 0, 0)};
    wg_callable *stencil = none;
    STATUS(WG_ENULL, wg_callable_stencil, NULL, k, from, &stencil);
    assert_null(stencil);
    STATUS(WG_ENULL, wg_callable_stencil, tape, k, from, NULL);
    assert_named("wg_callable_stencil");
    assert_usable();
    stencil = none;
    STATUS(WG_ENULL, wg_callable_stencil, tape, NULL, from, &stencil);
    assert_null(stencil);
    assert_named("wg_callable_stencil");
    assert_usable();
    STATUS(WG_ENULL, wg_callable_stencil, tape, k, NULL, &stencil);
    assert_named("wg_callable_stencil");
    assert_usable();
    STATUS(WG_OK, wg_callable_stencil, tape, k, from, &stencil);
    wg_callable_free(stencil);
    wg_callable *compiled = none;
    wg_compiled how;
    const wg_compile_options nowhere = {"no-such-compiler", NULL, NULL};
    STATUS(WG_ENULL, wg_callable_compile, NULL, k, NULL, &compiled, &how);
    assert_null(compiled);
    STATUS(WG_ENULL, wg_callable_compile, tape, k, NULL, NULL, &how);
    assert_named("wg_callable_compile");
    assert_usable();
    compiled = none;
    STATUS(WG_ENULL, wg_callable_compile, tape, NULL, NULL, &compiled, &how);
    assert_null(compiled);
    assert_named("wg_callable_compile");
    assert_usable();
    STATUS(WG_OK, wg_callable_compile, tape, k, &nowhere, &compiled, &how);
    assert_true(compiled != NULL && !how.native && how.why[0] != 0);
    wg_callable_free(compiled);
    STATUS(WG_OK, wg_callable_compile, tape, k, &nowhere, &compiled, NULL);
    wg_callable_free(compiled);
    wg_callable_free(k);
}

/* Results that stand for values. */
static wg_mat results[2];
static void set_results(void) {
    for (size_t k = 0; k < 2; k++) {
        results[k] = wg_mat_failed(9, 9);
        results[k].value = numbers;
    }
}

/* A call that records: results have failed, the tape has, and is as before after a rewind. */
#define LOSES(expected, f, ...)                                                                \
    do {                                                                                       \
        const wg_mark before = wg_tape_mark(tape);                                             \
        set_results();                                                                         \
        STATUS(expected, f, __VA_ARGS__);                                                      \
        assert_int_equal(wg_tape_status(tape), expected);                                      \
        assert_says(#f);                                                                       \
        assert_int_equal(wg_tape_rewind(tape, before), WG_OK);                                 \
        assert_int_equal(wg_tape_status(tape), WG_OK);                                         \
    } while (0)
#define LOSES_RESULT(expected, f, ...)                                                         \
    do {                                                                                       \
        LOSES(expected, f, __VA_ARGS__);                                                       \
        assert_null(results[0].value);                                                         \
    } while (0)
/* No tape, or one in failure. */
#define LOST(f, ...)                                                                           \
    do {                                                                                       \
        set_results();                                                                         \
        STATUS(WG_ENULL, f, NULL, __VA_ARGS__);                                                \
        assert_null(results[0].value);                                                         \
        STATUS(WG_ENULL, f, NULL, __VA_ARGS__);                                                \
        const wg_mark before = wg_tape_mark(tape);                                             \
        (void)wg_mat_fill(tape, SIZE_MAX, 2, 0);                                               \
        set_results();                                                                         \
        STATUS(WG_ESHAPE, f, tape, __VA_ARGS__);                                               \
        assert_null(results[0].value);                                                         \
        assert_non_null(strstr(wg_tape_message(tape), "wg_mat_fill"));                         \
        assert_int_equal(wg_tape_rewind(tape, before), WG_OK);                                 \
    } while (0)

static void calling_a_function_answers(void **state) {
    (void)state;
    wg_callable *k = NULL;
    assert_int_equal(wg_callable_new(tape, fn, &k), WG_OK);
    const wg_mat x[] = {wg_mat_input(tape, 1, 1, numbers, 1),
                        wg_mat_input(tape, 2, 1, numbers + 1, 2)};
    const wg_mat no_x[] = {x[0], wg_mat_failed(2, 1)};
    LOST(wg_call, k, x, results);
    LOSES(WG_ENULL, wg_call, tape, NULL, x, results);
    LOSES_RESULT(WG_ENULL, wg_call, tape, k, NULL, results);
    LOSES_RESULT(WG_ESHAPE, wg_call, tape, k, no_x, results);
    LOSES(WG_ENULL, wg_call, tape, k, x, NULL);
    assert_true(results[0].value == numbers);
    STATUS(WG_OK, wg_call, tape, k, x, results);
    assert_int_equal(wg_mat_reverse(tape, results[0], NULL, 0), WG_OK);
    assert_true(wg_adjoint(tape, wg_mat_at(x[0], 0, 0)) == 3);
    wg_callable_free(k);
}

static wg_status fill_ones(size_t first, size_t count, double *data, void *user) {
    (void)first, (void)user;
    for (size_t i = 0; i < 2 * count; i++) data[i] = 1;
    return WG_OK;
}

static void mapping_a_function_answers(void **state) {
    (void)state;
    enum { POINTS = 3 };
    wg_callable *k = NULL;
    assert_int_equal(wg_callable_new(tape, fn, &k), WG_OK);
    const wg_mat a = wg_mat_input(tape, 1, 1, numbers, 1);
    const wg_source x[] = {wg_from_matrix(a), wg_from_fill(fill_ones, NULL)},
                    no_data[] = {x[0], wg_from_data(NULL, 2, 1)},
                    no_fill[] = {x[0], wg_from_fill(NULL, NULL)},
                    lost[] = {wg_from_matrix(wg_mat_failed(1, 1)), x[1]};
    LOST(wg_map, k, POINTS, x, NULL, results);
    LOSES(WG_ENULL, wg_map, tape, NULL, POINTS, x, NULL, results);
    LOSES_RESULT(WG_ENULL, wg_map, tape, k, POINTS, NULL, NULL, results);
    LOSES_RESULT(WG_ENULL, wg_map, tape, k, POINTS, no_data, NULL, results);
    LOSES_RESULT(WG_ENULL, wg_map, tape, k, POINTS, no_fill, NULL, results);
    LOSES_RESULT(WG_ESHAPE, wg_map, tape, k, POINTS, lost, NULL, results);
    LOSES(WG_ENULL, wg_map, tape, k, POINTS, x, NULL, NULL);
    assert_true(results[0].value == numbers);
    STATUS(WG_OK, wg_map, tape, k, POINTS, x, NULL, results);
    assert_int_equal(wg_mat_reverse(tape, results[0], NULL, 0), WG_OK);
    assert_true(wg_adjoint(tape, wg_mat_at(a, 0, 0)) == POINTS);
    wg_callable_free(k);
}

static wg_status times(wg_tape *on, size_t n, const wg_real *in, size_t m, wg_real *res,
                       void *data) {
    (void)data;
    assert_true(n == 2 && m == 1);
    res[0] = wg_let(on, wg_mul(in[0], in[1]));
    return WG_OK;
}

static void scans_answer(void **state) {
    (void)state;
    static const wg_argument in[] = {{"p", 1, 1, WG_SHARED}, {"s", 1, 1, 0}},
                             out[] = {{"s", 1, 1, 0}};
    enum { STEPS = 3 };
    wg_callable *const k = callable_of(times, 2, in, out);
    const wg_mat p = wg_mat_input(tape, 1, 1, numbers, 1), s = wg_mat_fill(tape, 1, 1, 1),
                 none = wg_mat_failed(1, 1);
    const wg_source x[] = {wg_from_matrix(p), wg_from_state("s")},
                    no_data[] = {wg_from_data(NULL, 0, 1), x[1]},
                    no_step[] = {wg_each_step(no_data[0]), x[1]},
                    no_fill[] = {wg_from_fill(NULL, NULL), x[1]},
                    lost[] = {wg_from_matrix(none), x[1]},
                    no_name[] = {x[0], wg_from_state(NULL)},
                    no_next[] = {x[0], wg_from_next(NULL, 0, 0, 0)},
                    no_neighbour[] = {x[0], wg_from_neighbour(NULL, 1, 0, 0)};
    const wg_state from = {"s", s}, nameless = {NULL, s}, failed = {"s", none};
    const wg_stage stage = {k, x}, no_callable = {NULL, x}, no_sources = {k, NULL};
    const wg_source *const bad[] = {no_data, no_step, no_fill, no_name, no_next, no_neighbour};
    LOST(wg_scan, STEPS, 1, &stage, 1, &from, NULL, results);
    LOSES_RESULT(WG_ENULL, wg_scan, tape, STEPS, 1, NULL, 1, &from, NULL, results);
    LOSES_RESULT(WG_ENULL, wg_scan, tape, STEPS, 1, &no_callable, 1, &from, NULL, results);
    LOSES_RESULT(WG_ENULL, wg_scan, tape, STEPS, 1, &no_sources, 1, &from, NULL, results);
    LOSES_RESULT(WG_ENULL, wg_scan, tape, STEPS, 1, &stage, 1, NULL, NULL, results);
    LOSES_RESULT(WG_ENULL, wg_scan, tape, STEPS, 1, &stage, 1, &nameless, NULL, results);
    LOSES_RESULT(WG_ESHAPE, wg_scan, tape, STEPS, 1, &stage, 1, &failed, NULL, results);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const wg_stage of = {k, bad[i]};
        LOSES_RESULT(WG_ENULL, wg_scan, tape, STEPS, 1, &of, 1, &from, NULL, results);
    }
    const wg_stage of_lost = {k, lost};
    LOSES_RESULT(WG_ESHAPE, wg_scan, tape, STEPS, 1, &of_lost, 1, &from, NULL, results);
    LOSES(WG_ENULL, wg_scan, tape, STEPS, 1, &stage, 1, &from, NULL, NULL);
    assert_true(results[0].value == numbers);
    STATUS(WG_OK, wg_scan, tape, STEPS, 1, &stage, 1, &from, NULL, results);
    assert_int_equal(wg_mat_reverse(tape, results[0], NULL, 0), WG_OK);
    assert_true(wg_adjoint(tape, wg_mat_at(p, 0, 0)) == 12); /* 3 p^2 */
    wg_callable_free(k);
}

static wg_status region_times(wg_tape *on, size_t step, size_t n, const wg_real *s, size_t np,
                              const wg_real *param, wg_real *next, void *data) {
    (void)step, (void)data;
    assert_true(n == 1 && np == 1);
    next[0] = wg_let(on, wg_mul(s[0], param[0]));
    return WG_OK;
}
static wg_status hand_value(size_t step, size_t n, const double *s, size_t np,
                            const double *param, double *next, void *data) {
    (void)step, (void)n, (void)np, (void)data;
    next[0] = s[0] * param[0];
    return WG_OK;
}
static wg_status hand_vjp(size_t step, size_t n, const double *s, size_t np,
                          const double *param, const double *w, double *ds, double *dparam,
                          void *data) {
    (void)step, (void)n, (void)np, (void)data;
    ds[0] = param[0] * w[0];
    if (dparam != NULL) dparam[0] += s[0] * w[0];
    return WG_OK;
}

static void checkpointing_answers(void **state) {
    (void)state;
    enum { STEPS = 3 };
    wg_tape *const work = wg_tape_new(NULL);
    assert_non_null(work);
    const wg_mat p = wg_mat_input(tape, 1, 1, numbers, 1), s = wg_mat_fill(tape, 1, 1, 1),
                 none = wg_mat_failed(1, 1);
    const wg_region recorded = {.record = region_times},
                    by_hand = {.value = hand_value, .vjp = hand_vjp}, nothing = {.data = NULL},
                    no_vjp = {.value = hand_value}, no_value = {.vjp = hand_vjp};
    LOST(wg_checkpoint, work, STEPS, 1, &recorded, 0, s, p, results);
    LOSES_RESULT(WG_ENULL, wg_checkpoint, tape, NULL, STEPS, 1, &recorded, 0, s, p, results);
    LOSES_RESULT(WG_ENULL, wg_checkpoint, tape, work, STEPS, 1, NULL, 0, s, p, results);
    LOSES_RESULT(WG_ENULL, wg_checkpoint, tape, work, STEPS, 1, &nothing, 0, s, p, results);
    LOSES_RESULT(WG_ENULL, wg_checkpoint, tape, NULL, STEPS, 1, &no_vjp, 0, s, p, results);
    LOSES_RESULT(WG_ENULL, wg_checkpoint, tape, NULL, STEPS, 1, &no_value, 0, s, p, results);
    LOSES_RESULT(WG_ESHAPE, wg_checkpoint, tape, work, STEPS, 1, &recorded, 0, none, p,
                 results);
    LOSES_RESULT(WG_ESHAPE, wg_checkpoint, tape, work, STEPS, 1, &recorded, 0, s, none,
                 results);
    LOSES(WG_ENULL, wg_checkpoint, tape, work, STEPS, 1, &recorded, 0, s, p, NULL);
    assert_true(results[0].value == numbers);
    STATUS(WG_OK, wg_checkpoint, tape, work, STEPS, 1, &recorded, 0, s, p, &results[0]);
    STATUS(WG_OK, wg_checkpoint, tape, NULL, STEPS, 1, &by_hand, 0, s, p, &results[1]);
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(wg_mat_reverse(tape, results[k], NULL, 0), WG_OK);
        assert_true(wg_adjoint(tape, wg_mat_at(p, 0, 0)) == 12);
        assert_int_equal(wg_adjoints_clear(tape), WG_OK);
    }
    wg_tape_free(work);
}

/* ---- ode.h ---- */

/* y' = t y */
static wg_status growth(wg_tape *on, size_t n, const wg_real *in, size_t m, wg_real *res,
                        void *data) {
    (void)data;
    assert_true(n == 2 && m == 1);
    res[0] = wg_let(on, wg_mul(in[0], in[1]));
    return WG_OK;
}

static void solving_in_time_answers(void **state) {
    (void)state;
    const wg_argument in[] = {{"t", 1, 1, 0}, {"y", 1, 1, 0}}, out = {"f", 1, 1, 0};
    const double at[2] = {0, 1};
    wg_function *f = NULL;
    wg_ode *const no = (wg_ode *)(uintptr_t)numbers, *k = no;
    wg_compiled how;
    assert_int_equal(wg_function_record(tape, growth, NULL, 2, in, numbers, 1, &out, &f),
                     WG_OK);
    const wg_ode_system system = {.rhs = f}, nothing = {.rhs = NULL};
    STATUS(WG_ENULL, wg_ode_new, NULL, &system, &k);
    assert_null(k);
    REFUSES(WG_ENULL, wg_ode_new, tape, NULL, &k);
    REFUSES(WG_ENULL, wg_ode_new, tape, &nothing, &k);
    REFUSES(WG_ENULL, wg_ode_new, tape, &system, NULL);
    STATUS(WG_OK, wg_ode_new, tape, &system, &k);
    wg_function_free(f);
    wg_ode *compiled = no;
    const wg_compile_options nowhere = {"no-such-compiler", NULL, NULL};
    STATUS(WG_ENULL, wg_ode_compile, NULL, k, NULL, &compiled, &how);
    assert_null(compiled);
    REFUSES(WG_ENULL, wg_ode_compile, tape, NULL, NULL, &compiled, &how);
    REFUSES(WG_ENULL, wg_ode_compile, tape, k, NULL, NULL, &how);
    STATUS(WG_OK, wg_ode_compile, tape, k, &nowhere, &compiled, &how);
    assert_true(compiled != NULL && !how.native && how.why[0] != 0);
    HAPPENS(wg_ode_free, compiled);
    STATUS(WG_OK, wg_ode_compile, tape, k, &nowhere, &compiled, NULL);
    wg_ode_free(compiled);
    const wg_mat y0 = wg_mat_input(tape, 1, 1, numbers, 1), p = wg_mat_failed(0, 0);
    LOST(wg_ode_solve, k, NULL, 2, at, y0, p, results, NULL, NULL);
    LOSES_RESULT(WG_ENULL, wg_ode_solve, tape, NULL, NULL, 2, at, y0, p, results, NULL, NULL);
    LOSES_RESULT(WG_ENULL, wg_ode_solve, tape, k, NULL, 2, NULL, y0, p, results, NULL, NULL);
    LOSES(WG_ENULL, wg_ode_solve, tape, k, NULL, 2, at, y0, p, NULL, NULL, NULL);
    LOSES_RESULT(WG_EARG, wg_ode_solve, tape, k, NULL, 2, at, y0, p, results, results + 1,
                 NULL);
    LOSES_RESULT(WG_ESHAPE, wg_ode_solve, tape, k, NULL, 2, at, p, p, results, NULL, NULL);
    STATUS(WG_OK, wg_ode_solve, tape, k, NULL, 2, at, y0, p, results, NULL, NULL);
    wg_ode_free(NULL);
    wg_ode_free(k);
}

/* ---- model.h ---- */

static wg_model *model;
static const wg_dim one = {NULL, 1}, two = {NULL, 2};

static int open_model(void **state) {
    return open_tape(state) != 0 || wg_model_new(tape, &model) != WG_OK;
}
static int close_model(void **state) {
    wg_model_free(model);
    return close_tape(state);
}
#define WITH_MODEL(name) cmocka_unit_test_setup_teardown(name, open_model, close_model)

static void models_answer(void **state) {
    (void)state;
    wg_model *m = (wg_model *)(uintptr_t)numbers;
    STATUS(WG_ENULL, wg_model_new, NULL, &m);
    assert_null(m);
    STATUS(WG_ENULL, wg_model_new, NULL, NULL);
    REFUSES(WG_ENULL, wg_model_new, tape, NULL);
    HAPPENS(wg_model_free, NULL);
    STATUS(WG_OK, wg_model_new, tape, &m);
    wg_model_free(m);
}

/* f gives a matrix: a failed one without a model; and one that is lost, with the tape. */
#define GIVES_NONE(f, ...) assert_null((try(#f), f(__VA_ARGS__)).value)
#define GIVES_LOST(f, ...)                                                                     \
    do {                                                                                       \
        const wg_mark before = wg_tape_mark(tape);                                             \
        GIVES_NONE(f, __VA_ARGS__);                                                            \
        assert_int_equal(wg_tape_status(tape), WG_ENULL);                                      \
        assert_named(#f);                                                                      \
        assert_int_equal(wg_tape_rewind(tape, before), WG_OK);                                 \
    } while (0)

static void making_nodes_answers(void **state) {
    (void)state;
    GIVES_NONE(wg_model_placeholder, NULL, "x", two, one, 0, numbers);
    GIVES_LOST(wg_model_placeholder, model, NULL, two, one, 0, numbers);
    const wg_mat x = wg_model_placeholder(model, "x", two, one, 0, NULL);
    assert_true(x.value != NULL && x.value[0] == 0 && x.value[1] == 0);
    GIVES_NONE(wg_model_variable, NULL, "w", two, one, wg_initial_fill(1));
    GIVES_LOST(wg_model_variable, model, NULL, two, one, wg_initial_fill(1));
    GIVES_LOST(wg_model_variable, model, "w", two, one, wg_initial_values(NULL));
    const wg_mat w = wg_model_variable(model, "w", two, one, wg_initial_values(numbers));
    assert_true(w.value != NULL && w.value[1] == numbers[1]);
    try("wgi_model_op1_at"), try("wgi_model_op2_at"), try("wgi_model_op3_at");
    GIVES_NONE(wg_model_op, NULL, wg_mat_tanh, x);
    GIVES_NONE(wg_model_op, NULL, wg_mat_add, x, w);
    GIVES_NONE(wg_model_op, NULL, wg_mat_clamp, x, w, w);
    GIVES_LOST(wg_model_op, model, NULL, x);
    GIVES_LOST(wg_model_op, model, NULL, x, w);
    GIVES_LOST(wg_model_op, model, NULL, x, w, w);
    GIVES_NONE(wgi_model_op1_at, __FILE__, __LINE__, NULL, NULL, wg_mat_tanh, x);
    assert_non_null(wg_model_op(model, wg_mat_tanh, x).value);
    const wg_mat y = wg_mat_add(tape, x, w);
    GIVES_NONE(wg_model_name, NULL, y, "y", NULL, NULL);
    assert_non_null(wg_model_name(model, y, NULL, NULL, NULL).value);
    assert_non_null(wg_model_name(model, y, "y", "rows", NULL).value);
    STATUS(WG_ENULL, wg_model_tag, NULL, y, "layer");
    REFUSES(WG_ENULL, wg_model_tag, model, y, NULL);
    STATUS(WG_OK, wg_model_tag, model, y, "layer");
    GIVES_NONE(wg_model_sum, NULL, y);
    assert_non_null(wg_model_sum(model, y).value);
    /* places that are NULL are left out */
    assert_non_null(wgi_model_placeholder_at(NULL, 0, model, "z", two, one, 0, NULL).value);
}

static void gradients_of_nodes_answer(void **state) {
    (void)state;
    const wg_mat x = wg_model_variable(model, "x", one, one, wg_initial_fill(3)),
                 y = wg_model_op(model, wg_mat_mul, x, x);
    set_results();
    STATUS(WG_ENULL, wg_model_gradient, NULL, y, 1, &x, results);
    assert_null(results[0].value);
    STATUS(WG_ENULL, wg_model_gradient, NULL, y, 1, NULL, NULL);
    LOSES_RESULT(WG_ENULL, wg_model_gradient, model, y, 1, NULL, results);
    LOSES(WG_ENULL, wg_model_gradient, model, y, 1, &x, NULL);
    assert_true(results[0].value == numbers);
    STATUS(WG_OK, wg_model_gradient, model, y, 1, &x, results);
    assert_true(results[0].value != NULL && results[0].value[0] == 6);
}

static void asking_a_model_answers(void **state) {
    (void)state;
    int calls = 0;
    const wg_mat x = wg_model_placeholder(model, "x", one, one, 0, numbers),
                 w = wg_model_variable(model, "w", one, one, wg_initial_fill(3)),
                 y = wg_model_op(model, wg_mat_mul, w, x);
    wg_node node;
    memset(&node, 0, sizeof node);
    STATUS(WG_ENULL, wg_model_node, NULL, y, &node);
    REFUSES(WG_ENULL, wg_model_node, model, y, NULL);
    assert_null(node.name);
    STATUS(WG_OK, wg_model_node, model, y, &node);
    STATUS(0, wg_model_find, NULL, WG_VARIABLE, NULL, NULL, NULL, 0, NULL);
    REFUSES(0, wg_model_find, model, WG_VARIABLE, NULL, NULL, NULL, 1, NULL);
    assert_named("wg_model_find");
    STATUS(1, wg_model_find, model, WG_VARIABLE, NULL, NULL, NULL, 0, NULL);
    STATUS(1, wg_model_find, model, WG_VARIABLE, "w", NULL, &y, 1, results);
    assert_true(results[0].value == w.value);
#define DRAWS(f)                                                                               \
    do {                                                                                       \
        calls = 0;                                                                             \
        STATUS(WG_ENULL, f, NULL, count_calls, &calls);                                        \
        REFUSES(WG_ENULL, f, model, NULL, &calls);                                             \
        assert_int_equal(calls, 0);                                                            \
        STATUS(WG_OK, f, model, count_calls, &calls);                                          \
        assert_true(calls > 0);                                                                \
    } while (0)
    DRAWS(wg_model_print);
    DRAWS(wg_model_dot);
}

static void computations_answer(void **state) {
    (void)state;
    wg_function *f = NULL;
    double value = 42;
    const wg_results to = {&value, 1, 1};
    const wg_mat x = wg_model_placeholder(model, "x", one, one, 0, numbers),
                 w = wg_model_variable(model, "w", one, one, wg_initial_fill(3)),
                 y = wg_model_op(model, wg_mat_mul, w, x);
    STATUS(WG_ENULL, wg_model_update, NULL, w, w);
    made = poison();
    STATUS(WG_ENULL, wg_model_function, NULL, 1, &y, &made);
    assert_null(made);
    STATUS(WG_ENULL, wg_model_function, NULL, 1, &y, NULL);
    REFUSES(WG_ENULL, wg_model_function, model, 1, &y, NULL);
    made = poison();
    REFUSES(WG_ENULL, wg_model_function, model, 1, NULL, &made);
    assert_null(made);
    STATUS(WG_OK, wg_model_function, model, 1, &y, &f);
    STATUS(WG_ENULL, wg_model_feed, NULL, x, numbers, 1, 1);
    REFUSES(WG_ENULL, wg_model_feed, model, x, NULL, 1, 1);
    STATUS(WG_OK, wg_model_feed, model, x, numbers + 1, 1, 1);
    STATUS(WG_ENULL, wg_model_run, NULL, f, 1, &to, NULL);
    REFUSES(WG_ENULL, wg_model_run, model, NULL, 1, &to, NULL);
    STATUS(WG_OK, wg_model_run, model, f, 1, NULL, NULL);
    assert_true(value == 42);
    STATUS(WG_OK, wg_model_run, model, f, 1, &to, NULL);
    assert_true(value == 9);
    wg_function_free(f);
}

static void variables_answer(void **state) {
    (void)state;
    int calls = 0;
    const wg_mat w = wg_model_variable(model, "w", one, one, wg_initial_fill(3));
    assert_null((try("wg_model_values"), wg_model_values(NULL, w)));
    double *const values = wg_model_values(model, w);
    assert_true(values != NULL && values[0] == 3);
    values[0] = 42;
    STATUS(WG_ENULL, wg_model_save, NULL, count_calls, &calls);
    REFUSES(WG_ENULL, wg_model_save, model, NULL, &calls);
    STATUS(WG_ENULL, wg_model_restore, NULL, read_nothing, &calls);
    REFUSES(WG_ENULL, wg_model_restore, model, NULL, &calls);
    assert_int_equal(calls, 0);
    assert_true(values[0] == 42);
    STATUS(WG_ENULL, wg_model_initialise, NULL);
    STATUS(WG_OK, wg_model_initialise, model);
    assert_true(values[0] == 3);
}

static void every_function_of_these_headers_was_tried(void **state) {
    (void)state;
    assert_all_tried(__FILE__);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FUNCTION(writing_c_answers),
        TEST(compiling_answers),
        WITH_FUNCTION(callables_answer),
        WITH_FUNCTION(calling_a_function_answers),
        WITH_FUNCTION(mapping_a_function_answers),
        TEST(scans_answer),
        TEST(checkpointing_answers),
        TEST(solving_in_time_answers),
        TEST(models_answer),
        WITH_MODEL(making_nodes_answers),
        WITH_MODEL(gradients_of_nodes_answer),
        WITH_MODEL(asking_a_model_answers),
        WITH_MODEL(computations_answer),
        WITH_MODEL(variables_answer),
        cmocka_unit_test(every_function_of_these_headers_was_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_function_null.c - functions, their derivatives and files: NULL for every pointer.
 * The status says so, nothing is made, what the caller owns is as it was, the message of the
 * tape names the call, and the tape can be used as before. */
#include "null_function.h"

/* ---- function.h ---- */

static void recording_a_function_answers(void **state) {
    (void)state;
    MAKES(wg_function_record, sine, NULL, 2, inputs, numbers, 1, outputs);
    MAKES_NONE(wg_function_record, NULL, NULL, 2, inputs, numbers, 1, outputs);
    MAKES_NONE(wg_function_record, sine, NULL, 2, NULL, numbers, 1, outputs);
    MAKES_NONE(wg_function_record, sine, NULL, 2, inputs, NULL, 1, outputs);
    MAKES_NONE(wg_function_record, sine, NULL, 2, inputs, numbers, 1, NULL);
    /* names that are NULL are made up */
    const wg_argument in = {NULL, 3, 1, 0}, out = {NULL, 1, 1, 0};
    STATUS(WG_OK, wg_function_record, tape, sine, NULL, 1, &in, numbers, 1, &out, &made);
    assert_string_equal(wg_function_input(made, 0)->name, "x0");
    assert_string_equal(wg_function_output(made, 0)->name, "y0");
    wg_function_free(made);
}

#define EXTRACTS_NONE(...)                                                                     \
    do {                                                                                       \
        made = poison();                                                                       \
        REFUSES(WG_ENULL, wg_function_extract, tape, __VA_ARGS__, &made);                      \
        assert_named("wg_function_extract");                                                   \
        assert_null(made);                                                                     \
    } while (0)

static void extracting_a_function_answers(void **state) {
    (void)state;
    wg_real x[3], y;
    assert_int_equal(wg_inputs(tape, 3, numbers, x), WG_OK);
    y = wg_let(tape, wg_add(wg_mul(x[0], x[1]), wg_sin(x[2])));
    made = poison();
    STATUS(WG_ENULL, wg_function_extract, NULL, 2, inputs, x, 1, outputs, &y, &made);
    assert_null(made);
    STATUS(WG_ENULL, wg_function_extract, NULL, 2, inputs, x, 1, outputs, &y, NULL);
    REFUSES(WG_ENULL, wg_function_extract, tape, 2, inputs, x, 1, outputs, &y, NULL);
    assert_named("wg_function_extract");
    EXTRACTS_NONE(2, NULL, x, 1, outputs, &y);
    EXTRACTS_NONE(2, inputs, NULL, 1, outputs, &y);
    EXTRACTS_NONE(2, inputs, x, 1, NULL, &y);
    EXTRACTS_NONE(2, inputs, x, 1, outputs, NULL);
    STATUS(WG_OK, wg_function_extract, tape, 2, inputs, x, 1, outputs, &y, &made);
    wg_function_free(made);
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    assert_true(wg_adjoint(tape, x[0]) == 3);
}

static void asking_a_function_answers(void **state) {
    (void)state;
    wg_function_stats stats;
    unsigned char depends[2] = {42, 42};
    memset(&stats, 42, sizeof stats);
    const wg_function_stats before = stats;
    HAPPENS(wg_function_free, NULL);
    STATUS(0, wg_function_inputs, NULL);
    STATUS(0, wg_function_outputs, NULL);
    assert_null((try("wg_function_input"), wg_function_input(NULL, 0)));
    assert_null((try("wg_function_output"), wg_function_output(NULL, 0)));
    assert_null(wg_function_input(fn, 2));
    assert_null(wg_function_output(fn, 1));
    STATUS(WG_ENULL, wg_function_statistics, NULL, &stats);
    STATUS(WG_ENULL, wg_function_statistics, fn, NULL);
    assert_memory_equal(&stats, &before, sizeof stats);
    STATUS(0, wg_function_is_zero, NULL, 0, 0);
    STATUS(0, wg_function_work, NULL, NULL);
    STATUS(0, wg_function_block, NULL);
    STATUS(0, wg_function_work_part, NULL, 1, NULL);
    wg_sparsity *entries = NULL;
    STATUS(WG_ENULL, wg_function_sparsity, NULL, fn, 0, WG_ROW_MAJOR, &entries);
    DRIVEN(wg_function_sparsity, tape, NULL, 0, WG_ROW_MAJOR, &entries);
    DRIVEN(wg_function_sparsity, tape, fn, 0, WG_ROW_MAJOR, NULL);
    assert_null(entries);
    STATUS(WG_ENULL, wg_function_depends, NULL, fn, 0, depends);
    DRIVEN(wg_function_depends, tape, NULL, 0, depends);
    DRIVEN(wg_function_depends, tape, fn, 0, NULL);
    assert_true(depends[0] == 42 && depends[1] == 42);
    STATUS(WG_OK, wg_function_depends, tape, fn, 0, depends);
    assert_true(depends[0] == 1 && depends[1] == 1);
}

static void evaluating_a_function_answers(void **state) {
    (void)state;
    double value = 42;
    wg_function_guard guard = {42, 43};
    const wg_points at[] = {{numbers, 0, 1}, {numbers + 1, 2, 1}}, zeros[2] = {{NULL, 0, 0}};
    const wg_results to = {&value, 1, 1}, nowhere = {NULL, 0, 0};
    void *const work = wg_tape_keep(tape, wg_function_work(fn, NULL), NULL);
    assert_non_null(work);
    STATUS(WG_ENULL, wg_function_evaluate, NULL, 1, at, &to, NULL, work, &guard);
    STATUS(WG_ENULL, wg_function_evaluate, fn, 1, NULL, &to, NULL, work, &guard);
    STATUS(WG_ENULL, wg_function_evaluate, fn, 1, at, NULL, NULL, work, &guard);
    STATUS(WG_ENULL, wg_function_evaluate, fn, 1, at, &to, NULL, NULL, &guard);
    STATUS(WG_ENULL, wg_function_evaluate_progress, NULL, 1, at, &to, NULL, work, &guard, NULL);
    STATUS(WG_ENULL, wg_function_evaluate_progress, fn, 1, NULL, &to, NULL, work, &guard, NULL);
    STATUS(WG_ENULL, wg_function_evaluate_part, fn, 1, 1, at, &to, NULL, work, &guard, NULL,
           NULL);
    assert_true(value == 42 && guard.point == 42 && guard.guard == 43);
    STATUS(WG_OK, wg_function_evaluate, fn, 1, at, &nowhere, NULL, work, NULL);
    assert_true(value == 42);
    STATUS(WG_OK, wg_function_evaluate, fn, 1, at, &to, NULL, work, NULL);
    assert_true(value > 5 && value < 7);
    STATUS(WG_OK, wg_function_evaluate, fn, 1, zeros, &to, NULL, work, NULL);
    assert_true(value == 0);
}

/* ---- branches.h ---- */

static wg_status nothing(void *ctx, size_t k) {
    (void)ctx, (void)k;
    return WG_OK;
}

static void threads_answer(void **state) {
    (void)state;
    wg_threads *pool = (wg_threads *)1;
    STATUS(WG_ENULL, wg_threads_new, 2, NULL, NULL);
    STATUS(WG_EARG, wg_threads_new, 0, NULL, &pool);
    assert_null(pool);
    STATUS(WG_OK, wg_threads_new, 2, NULL, &pool);
    STATUS(1, wg_threads_count, NULL);
    STATUS(2, wg_threads_count, pool);
    STATUS(WG_ENULL, wg_threads_run, pool, 3, NULL, NULL);
    STATUS(WG_OK, wg_threads_run, NULL, 3, nothing, NULL);
    STATUS(WG_OK, wg_threads_run, pool, 0, nothing, NULL);
    HAPPENS(wg_threads_free, NULL);
    wg_threads_free(pool);
}

static void branches_answer(void **state) {
    (void)state;
    wg_branches *const none = (wg_branches *)(uintptr_t)numbers, *b = none;
    double value = 42;
    const wg_points at[] = {{numbers, 0, 1}, {numbers + 1, 2, 1}}, zeros[2] = {{NULL, 0, 0}};
    const wg_results to = {&value, 1, 1}, nowhere = {NULL, 0, 0};
    STATUS(WG_ENULL, wg_branches_new, NULL, sine, NULL, 2, inputs, 1, outputs, NULL, &b);
    assert_null(b);
#define NO_BRANCHES(...)                                                                       \
    do {                                                                                       \
        b = none;                                                                              \
        REFUSES(WG_ENULL, wg_branches_new, tape, __VA_ARGS__, NULL, &b);                       \
        assert_named("wg_branches_new");                                                       \
        assert_null(b);                                                                        \
    } while (0)
    NO_BRANCHES(NULL, NULL, 2, inputs, 1, outputs);
    NO_BRANCHES(sine, NULL, 2, NULL, 1, outputs);
    NO_BRANCHES(sine, NULL, 2, inputs, 1, NULL);
    STATUS(WG_ENULL, wg_branches_new, tape, sine, NULL, 2, inputs, 1, outputs, NULL, NULL);
    STATUS(WG_OK, wg_branches_new, tape, sine, NULL, 2, inputs, 1, outputs, NULL, &b);
    HAPPENS(wg_branches_free, NULL);
    STATUS(0, wg_branches_count, NULL);
    STATUS(WG_ENULL, wg_branches_evaluate, NULL, 1, at, &to);
    STATUS(WG_ENULL, wg_branches_evaluate, b, 1, NULL, &to);
    STATUS(WG_ENULL, wg_branches_evaluate, b, 1, at, NULL);
    assert_true(value == 42 && wg_branches_count(b) == 0);
    STATUS(WG_OK, wg_branches_evaluate, b, 1, at, &nowhere);
    assert_true(value == 42);
    STATUS(WG_OK, wg_branches_evaluate, b, 1, zeros, &to);
    assert_true(value == 0);
    wg_branches_free(b);
    assert_usable();
}

/* ---- derive.h ---- */

static void differentiating_a_function_answers(void **state) {
    (void)state;
#define DERIVES(f, ...)                                                                        \
    do {                                                                                       \
        MAKES(f, fn __VA_ARGS__);                                                              \
        MAKES_NONE(f, NULL __VA_ARGS__);                                                       \
    } while (0)
    DERIVES(wg_function_gradient, );
    DERIVES(wg_function_jacobian, );
    DERIVES(wg_function_jvp, );
    DERIVES(wg_function_vjp, );
    DERIVES(wg_function_hvp, );
    DERIVES(wg_function_hessian, );
    DERIVES(wg_function_taylor, , 2);
}

static void putting_functions_together_answers(void **state) {
    (void)state;
    wg_function *outer = NULL;
    const wg_argument y = {"y", 1, 1, 0}, z = {"z", 1, 1, 0};
    assert_int_equal(wg_function_record(tape, square, NULL, 1, &y, numbers, 1, &z, &outer),
                     WG_OK);
    const wg_function *const both[] = {fn, outer}, *const first[] = {fn, NULL},
                             *const second[] = {NULL, outer};
    const char *const name[] = {"y"}, *const no_name[] = {NULL}, *const some[] = {"y", NULL};
    MAKES(wg_function_join, 2, both);
    MAKES_NONE(wg_function_join, 2, NULL);
    MAKES_NONE(wg_function_join, 2, first);
    MAKES_NONE(wg_function_join, 2, second);
    MAKES(wg_function_compose, outer, fn);
    MAKES_NONE(wg_function_compose, NULL, fn);
    MAKES_NONE(wg_function_compose, outer, NULL);
    MAKES(wg_function_select, fn, 1, name);
    MAKES_NONE(wg_function_select, NULL, 1, name);
    MAKES_NONE(wg_function_select, fn, 1, NULL);
    MAKES_NONE(wg_function_select, fn, 1, no_name);
    MAKES_NONE(wg_function_select, fn, 2, some);
    MAKES(wg_function_flag, fn, "y", WG_SUMMED);
    MAKES_NONE(wg_function_flag, NULL, "y", WG_SUMMED);
    MAKES_NONE(wg_function_flag, fn, NULL, WG_SUMMED);
    wg_function_free(outer);
}

/* ---- file.h ---- */

typedef struct bytes_left {
    const char *at;
    size_t bytes;
} bytes_left;
static size_t read_memory(void *ctx, void *data, size_t bytes) {
    bytes_left *const left = ctx;
    const size_t got = bytes < left->bytes ? bytes : left->bytes;
    memcpy(data, left->at, got);
    left->at += got, left->bytes -= got;
    return got;
}

static void saving_a_function_answers(void **state) {
    (void)state;
    int calls = 0;
    size_t needed = 42;
    char byte = 42;
    STATUS(WG_ENULL, wg_function_save, NULL, &byte, 1, &needed);
    assert_true(byte == 42 && needed == 0);
    STATUS(WG_ESHAPE, wg_function_save, fn, &byte, 1, NULL);
    assert_int_equal(byte, 42);
    STATUS(WG_OK, wg_function_save, fn, NULL, 0, NULL);
    STATUS(WG_OK, wg_function_save, fn, NULL, 0, &needed);
    assert_true(needed > 1);
#define WRITES(f)                                                                              \
    do {                                                                                       \
        calls = 0;                                                                             \
        STATUS(WG_ENULL, f, NULL, count_calls, &calls);                                        \
        STATUS(WG_ENULL, f, fn, NULL, &calls);                                                 \
        assert_int_equal(calls, 0);                                                            \
        STATUS(WG_OK, f, fn, count_calls, &calls);                                             \
        assert_true(calls > 0);                                                                \
    } while (0)
    WRITES(wg_function_write);
    WRITES(wg_function_dump);
    WRITES(wg_function_dot);
}

static void loading_a_function_answers(void **state) {
    (void)state;
    char file[4096], byte = 42;
    size_t bytes = 0;
    int calls = 0;
    assert_int_equal(wg_function_save(fn, file, sizeof file, &bytes), WG_OK);
    wg_scalar_op nameless = wgi_scalar_ops[0], worthless = wgi_scalar_ops[0];
    nameless.name = NULL, worthless.value = NULL;
    const wg_scalar_op *const user[] = {&wgi_scalar_ops[0], NULL}, *const no_name = &nameless,
                              *const no_value = &worthless;
    MAKES(wg_function_load, file, bytes, NULL, 0);
    MAKES_NONE(wg_function_load, NULL, bytes, NULL, 0);
    MAKES_NONE(wg_function_load, file, bytes, NULL, 1);
    MAKES_NONE(wg_function_load, file, bytes, user, 2);
    MAKES_NONE(wg_function_load, file, bytes, &no_name, 1);
    MAKES_NONE(wg_function_load, file, bytes, &no_value, 1);
    made = poison();
    STATUS(WG_ENULL, wg_function_read, NULL, read_nothing, &calls, NULL, 0, &made);
    assert_null(made);
    DRIVEN(wg_function_read, tape, read_nothing, &calls, NULL, 0, NULL);
    MAKES_NONE(wg_function_read, NULL, &calls, NULL, 0);
    MAKES_NONE(wg_function_read, read_nothing, &calls, NULL, 1);
    MAKES_NONE(wg_function_read, read_nothing, &calls, user, 2);
    assert_int_equal(calls, 0);
    bytes_left left = {file, bytes};
    STATUS(WG_OK, wg_function_read, tape, read_memory, &left, NULL, 0, &made);
    assert_non_null(made);
    wg_function_free(made);
    STATUS(0, wg_read_file, NULL, &byte, 1);
    STATUS(0, wg_read_file, stdin, NULL, 1);
    assert_int_equal(byte, 42);
}

static void every_function_of_these_headers_was_tried(void **state) {
    (void)state;
    assert_all_tried(__FILE__);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(recording_a_function_answers),
        TEST(extracting_a_function_answers),
        WITH_FUNCTION(asking_a_function_answers),
        WITH_FUNCTION(evaluating_a_function_answers),
        TEST(threads_answer),
        TEST(branches_answer),
        WITH_FUNCTION(differentiating_a_function_answers),
        WITH_FUNCTION(putting_functions_together_answers),
        WITH_FUNCTION(saving_a_function_answers),
        WITH_FUNCTION(loading_a_function_answers),
        cmocka_unit_test(every_function_of_these_headers_was_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

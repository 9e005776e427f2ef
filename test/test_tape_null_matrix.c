/* SPDX-License-Identifier: MIT */
/* test_tape_null_matrix.c - matrices themselves, blocks and implicit functions: without a tape,
 * on a tape in failure, with arrays that are NULL and matrices that have failed. */
#include "null_matrix.h"

static const double numbers[] = {1, 2, 3, 4, 5, 6};

static int open_plain(void **state) {
    (void)state;
    tape = wg_tape_new(NULL);
    return tape == NULL;
}
#define PLAIN(name) cmocka_unit_test_setup_teardown(name, open_plain, close_tape)

static void put_in_failure(wg_tape *of) {
    (void)wg_mat_fill(of, SIZE_MAX, 2, 0);
    assert_int_equal(wg_tape_status(of), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(of), FIRST_FAILURE));
}
static int still_failed(const wg_tape *of) {
    return wg_tape_status(of) == WG_ESHAPE && strstr(wg_tape_message(of), FIRST_FAILURE);
}

/* ---- matrix.h ---- */

static void making_a_matrix_answers(void **state) {
    (void)state;
    MAT(wg_mat_input, 2, 3, numbers, 2);
    MAT(wg_mat_constant, 2, 3, numbers, 2);
    MAT(wg_mat_input_strided, 2, 3, numbers, 3, 1);
    MAT(wg_mat_constant_strided, 2, 3, numbers, 3, 1);
    MAT(wg_mat_input_borrowed, 2, 3, numbers, 2);
    MAT(wg_mat_constant_borrowed, 2, 3, numbers, 2);
    MAT(wg_mat_fill, 2, 3, 4);
    MAT(wg_mat_identity, 3);
    MAT(wg_mat_from_real, wg_constant(1));
    MAT(wg_mat_gather, 1, 2, (const wg_real[]){p, q});
    MAT_NULL(wg_mat_input, 2, 3, NULL, 2);
    MAT_NULL(wg_mat_constant, 2, 3, NULL, 2);
    MAT_NULL(wg_mat_input_strided, 2, 3, NULL, 3, 1);
    MAT_NULL(wg_mat_constant_strided, 2, 3, NULL, 3, 1);
    MAT_NULL(wg_mat_constant_borrowed, 2, 3, NULL, 2);
    MAT_NULL(wg_mat_input_borrowed, 2, 3, NULL, 2);
    MAT_NULL(wg_mat_gather, 1, 2, NULL);
    MAT(wg_mat_reshape, wg_mat_transpose(a), 1, 4); /* a copy */
}

static void views_of_a_failed_matrix_have_failed(void **state) {
    (void)state;
    const wg_mat lost = wg_mat_failed(2, 3), row = wg_mat_row(lost, 1),
                 col = wg_mat_col(lost, 2), block = wg_mat_block(lost, 0, 1, 2, 2),
                 turned = wg_mat_transpose(lost), diagonal = wg_mat_diagonal(lost);
    try("wg_mat_row"), try("wg_mat_col"), try("wg_mat_block"), try("wg_mat_transpose");
    assert_true(row.value == NULL && row.rows == 1 && row.cols == 3);
    assert_true(col.value == NULL && col.rows == 2 && col.cols == 1);
    assert_true(block.value == NULL && block.rows == 2 && block.cols == 2);
    assert_true(turned.value == NULL && turned.rows == 3 && turned.cols == 2);
    assert_true(diagonal.value == NULL && diagonal.rows == 2 && diagonal.cols == 1);
    assert_passive(wg_mat_at(lost, 0, 0));
    assert_passive(wg_mat_at(lost, 9, 9));
}

/* Of a good tape: NaN for a failed matrix, and nothing else is touched. */
#define READS(reader, matrix, ...)                                                             \
    do {                                                                                       \
        double read[] = {42, 42, 42, 42};                                                      \
        STATUS(WG_ENULL, reader, NULL, matrix, __VA_ARGS__ read, 2);                           \
        STATUS(WG_ENULL, reader, tape, matrix, __VA_ARGS__ NULL, 2);                           \
        assert_true(read[0] == 42);                                                            \
        STATUS(WG_ESHAPE, reader, tape, wg_mat_failed(1, 2), __VA_ARGS__ read, 2);             \
        assert_true(isnan(read[0]) && read[1] == 42 && isnan(read[2]) && read[3] == 42);       \
        assert_int_equal(wg_tape_status(tape), WG_OK);                                         \
        STATUS(WG_OK, reader, tape, matrix, __VA_ARGS__ read, 2);                              \
        assert_true(!isnan(read[0]));                                                          \
    } while (0)

static void reading_a_matrix_answers(void **state) {
    (void)state;
    operands_set();
    assert_int_equal(wg_mat_reverse(tape, a, NULL, 0), WG_OK);
    READS(wg_mat_value, a, );
    READS(wg_mat_adjoint, a, );
    READS(wg_mat_adjoint_lane, a, 0, );
    const wg_mat of_before = a;
    double got[] = {42, 42, 42, 42};
    put_in_failure(tape);
    STATUS(WG_ESHAPE, wg_mat_adjoint, tape, of_before, got, 2);
    assert_true(isnan(got[0]) && isnan(got[3]));
    got[0] = 42;
    STATUS(WG_ESHAPE, wg_mat_value, tape, wg_mat_failed(2, 2), got, 2);
    assert_true(isnan(got[0]) && still_failed(tape));
    wg_tape_free(tape);
    tape = wg_tape_new(NULL);
    assert_int_equal(wg_tape_forward(tape, 2), WG_OK);
    const wg_mat in = wg_mat_input(tape, 2, 2, numbers, 2);
    READS(wg_mat_tangent, in, 1, );
    REFUSES(WG_ESHAPE, wg_mat_tangent_seed, tape, wg_mat_failed(2, 2), 0, numbers, 2);
    STATUS(WG_ENULL, wg_mat_tangent_seed, NULL, in, 0, numbers, 2);
    STATUS(WG_OK, wg_mat_tangent_seed, tape, in, 0, NULL, 2); /* all ones */
    put_in_failure(tape);
    got[0] = 42;
    STATUS(WG_ESHAPE, wg_mat_tangent, tape, in, 0, got, 2);
    STATUS(WG_ESHAPE, wg_mat_tangent_seed, tape, in, 0, numbers, 2);
    assert_true(isnan(got[0]) && still_failed(tape));
}

static void seeding_a_matrix_answers(void **state) {
    (void)state;
    const wg_mat lost = wg_mat_failed(2, 2);
    operands_set();
    STATUS(WG_ENULL, wg_mat_reverse, NULL, a, numbers, 2);
    STATUS(WG_ENULL, wg_mat_adjoint_seed, NULL, a, numbers, 2);
    REFUSES(WG_ESHAPE, wg_mat_reverse, tape, lost, numbers, 2);
    REFUSES(WG_ESHAPE, wg_mat_reverse, tape, lost, NULL, 0);
    assert_int_equal(wg_adjoints_clear(tape), WG_OK);
    REFUSES(WG_ESHAPE, wg_mat_adjoint_seed, tape, lost, numbers, 2);
    STATUS(WG_OK, wg_mat_adjoint_seed, tape, a, NULL, 2);
    STATUS(WG_OK, wg_mat_reverse, tape, a, NULL, 0);
    const wg_mat of_before = a;
    put_in_failure(tape);
    STATUS(WG_ESHAPE, wg_mat_reverse, tape, of_before, numbers, 2);
    STATUS(WG_ESHAPE, wg_mat_adjoint_seed, tape, lost, numbers, 2);
    assert_true(still_failed(tape));
}

/* ---- block.h ---- */

static wg_status twice_shape(wg_block *of) {
    of->out[0].rows = of->in[0].rows, of->out[0].cols = of->in[0].cols;
    return WG_OK;
}
static wg_status twice_value(wg_block *of) {
    for (size_t j = 0; j < of->out[0].cols; j++)
        for (size_t i = 0; i < of->out[0].rows; i++)
            of->out[0].value[i + j * of->out[0].ld] = 2 * of->in[0].value[i + j * of->in[0].ld];
    return WG_OK;
}
static wg_status twice_vjp(wg_block *of) {
    for (size_t j = 0; j < of->out[0].cols; j++)
        for (size_t i = 0; i < of->out[0].rows; i++)
            of->in[0].bar[i + j * of->in[0].bar_ld] +=
                2 * of->out[0].bar[i + j * of->out[0].bar_ld];
    return WG_OK;
}
static const wg_block_op twice = {"twice", 0,    twice_shape, twice_value, twice_vjp,
                                  NULL,    NULL, NULL,        NULL};

static void applying_an_operation_answers(void **state) {
    (void)state;
    ROUNDS_OF(wg_apply, "twice", WG_OK, a)
    take_status(1, wg_apply(t, &twice, NULL, 0, 1, &a, 1, out));
    ROUNDS_OF(wg_apply, "twice", WG_ENULL, NULL)
    take_status(1, wg_apply(t, &twice, NULL, 0, 1, NULL, 1, out));
    operands_set();
    STATUS(WG_ENULL, wg_apply, tape, NULL, NULL, 0, 1, &a, 1, out);
    assert_null(out[0].value);
    assert_int_equal(wg_tape_status(tape), WG_ENULL); /* kept */
    operands_set();
    STATUS(WG_ENULL, wg_apply, tape, &twice, NULL, 0, 1, &a, 1, NULL);
    wg_block_op part = twice; /* an operation still being written */
    part.vjp = NULL;
    operands_set();
    STATUS(WG_ENULL, wg_apply, tape, &part, NULL, 0, 1, &a, 1, out);
    assert_string_equal(wg_tape_message(tape), "twice: its vjp is NULL");
    operands_set();
    const wg_mat constant = wg_mat_fill(tape, a.rows, a.cols, 1); /* no vjp is needed */
    STATUS(WG_OK, wg_apply, tape, &part, NULL, 0, 1, &constant, 1, out);
    part.value = NULL;
    operands_set();
    STATUS(WG_ENULL, wg_apply, tape, &part, NULL, 0, 1, &a, 1, out);
    assert_string_equal(wg_tape_message(tape), "twice: its value is NULL");
    part.shape = NULL;
    operands_set();
    STATUS(WG_ENULL, wg_apply, tape, &part, NULL, 0, 1, &a, 1, out);
    assert_string_equal(wg_tape_message(tape), "twice: its shape is NULL");
    part.name = NULL;
    operands_set();
    STATUS(WG_ENULL, wg_apply, tape, &part, NULL, 0, 1, &a, 1, out);
    assert_string_equal(wg_tape_message(tape), "wg_apply: the name of the operation is NULL");
    STATUS(WG_ENULL, wg_apply, tape, &part, NULL, 0, 1, &a, 1, out); /* of a failed tape */
    assert_int_equal(wg_tape_status(tape), WG_ENULL);
    STATUS(0, wg_jacobian_work, NULL);
    STATUS(WG_ENULL, wg_vjp_by_jacobian, NULL, NULL);
    STATUS(WG_ENULL, wg_jvp_by_jacobian, NULL, NULL);
    STATUS(WG_ENULL, wg_apply, NULL, NULL, NULL, 0, 1, &a, 1, out);
    STATUS(WG_ENULL, wg_apply, NULL, &twice, NULL, 0, 1, NULL, 1, NULL);
}

static void a_value_by_name_needs_all_it_is_given(void **state) {
    (void)state;
    static double given[4] = {2, 0, 0, 3}, got[6] = {7, 7, 7, 7, 7, 7}, work[8192];
    HAPPENS(wg_block_value, NULL, 0, 2, 0, given, got, work);
    HAPPENS(wg_block_value, "wg_eigh", 0, 2, 0, NULL, got, work);
    HAPPENS(wg_block_value, "wg_eigh", 0, 2, 0, given, NULL, work);
    HAPPENS(wg_block_value, "wg_eigh", 0, 2, 0, given, got, NULL);
    for (size_t i = 0; i < 6; i++) assert_true(got[i] == 7);
}

static void memory_on_no_tape_or_a_failed_one_is_null(void **state) {
    (void)state;
    try("wg_tape_keep");
    assert_null(wg_tape_keep(NULL, sizeof numbers, numbers));
    assert_non_null(wg_tape_keep(tape, sizeof numbers, NULL));
    put_in_failure(tape);
    assert_null(wg_tape_keep(tape, sizeof numbers, numbers));
    assert_true(still_failed(tape));
    wg_tape_reset(tape);
    const double *const kept = wg_tape_keep(tape, sizeof numbers, numbers);
    assert_true(kept != NULL && memcmp(kept, numbers, sizeof numbers) == 0);
}

static void checking_an_operation_answers(void **state) {
    (void)state;
    const wg_mat lost = wg_mat_failed(2, 2);
    operands_set();
    STATUS(WG_ENULL, wg_check_op, NULL, &twice, NULL, 0, 1, &a, 1);
    STATUS(WG_ENULL, wg_check_op, tape, NULL, NULL, 0, 1, &a, 1);
    STATUS(WG_ENULL, wg_check_op, tape, &twice, NULL, 0, 1, NULL, 1);
    REFUSES(WG_ESHAPE, wg_check_op, tape, &twice, NULL, 0, 1, &lost, 1);
    STATUS(WG_OK, wg_check_op, tape, &twice, NULL, 0, 1, &a, 1);
    const wg_mat of_before = a;
    put_in_failure(tape);
    STATUS(WG_ESHAPE, wg_check_op, tape, &twice, NULL, 0, 1, &of_before, 1);
    assert_true(still_failed(tape));
}

/* ---- implicit.h ---- */

static const double found = 2, found_half = 1;

/* x^2 - p, and the fixed point of x p / 4 + 1/2 */
static wg_status residual(wg_tape *on, size_t n, const wg_real *in, size_t m, wg_real *res,
                          void *data) {
    (void)data;
    assert_true(n == 2 && m == 1);
    res[0] = wg_let(on, wg_sub(wg_square(in[0]), in[1]));
    return WG_OK;
}
static wg_status step(wg_tape *on, size_t n, const wg_real *in, size_t m, wg_real *next,
                      void *data) {
    (void)data;
    assert_true(n == 2 && m == 1);
    next[0] = wg_let(on, wg_add(wg_div(wg_mul(in[0], in[1]), 4), 0.5));
    return WG_OK;
}

/* y is NaN and the tape has failed, by this call. */
#define LOSES(f, result, ...)                                                                  \
    do {                                                                                       \
        parameter = wg_input(tape, 4);                                                         \
        (result) = wg_constant(42);                                                            \
        STATUS(WG_ENULL, f, tape, __VA_ARGS__);                                                \
        assert_int_equal(wg_tape_status(tape), WG_ENULL);                                      \
        assert_says(#f);                                                                       \
        assert_non_null(strstr(wg_tape_message(tape), "NULL"));                                \
        assert_passive(result);                                                                \
        wg_tape_reset(tape);                                                                   \
    } while (0)

static void implicit_functions_answer(void **state) {
    (void)state;
    wg_real parameter = wg_input(tape, 4), root = wg_constant(42);
    STATUS(WG_ENULL, wg_implicit, NULL, residual, NULL, 1, &found, 1, &parameter, &root);
    assert_passive(root);
    root = wg_constant(42);
    STATUS(WG_ENULL, wg_fixed_point, NULL, step, NULL, 1, &found, 1, &parameter, &root);
    assert_passive(root);
    LOSES(wg_implicit, root, NULL, NULL, 1, &found, 1, &parameter, &root);
    LOSES(wg_implicit, root, residual, NULL, 1, NULL, 1, &parameter, &root);
    LOSES(wg_implicit, root, residual, NULL, 1, &found, 1, NULL, &root);
    KEEPS(WG_ENULL, wg_implicit, tape, residual, NULL, 1, &found, 1, &parameter, NULL);
    LOSES(wg_fixed_point, root, NULL, NULL, 1, &found, 1, &parameter, &root);
    LOSES(wg_fixed_point, root, step, NULL, 1, NULL, 1, &parameter, &root);
    LOSES(wg_fixed_point, root, step, NULL, 1, &found, 1, NULL, &root);
    KEEPS(WG_ENULL, wg_fixed_point, tape, step, NULL, 1, &found, 1, &parameter, NULL);
    parameter = wg_input(tape, 4);
    put_in_failure(tape);
    root = wg_constant(42);
    STATUS(WG_ESHAPE, wg_implicit, tape, residual, NULL, 1, &found, 1, &parameter, &root);
    assert_passive(root);
    root = wg_constant(42);
    STATUS(WG_ESHAPE, wg_fixed_point, tape, step, NULL, 1, &found, 1, &parameter, &root);
    assert_passive(root);
    assert_true(still_failed(tape));
    wg_tape_reset(tape);
    parameter = wg_input(tape, 4);
    STATUS(WG_OK, wg_implicit, tape, residual, NULL, 1, &found, 1, &parameter, &root);
    assert_int_equal(wg_reverse(tape, root), WG_OK);
    assert_true(wg_adjoint(tape, parameter) == 0.25);
    parameter = wg_input(tape, 2);
    STATUS(WG_OK, wg_fixed_point, tape, step, NULL, 1, &found_half, 1, &parameter, &root);
    assert_int_equal(wg_reverse(tape, root), WG_OK);
    assert_true(wg_adjoint(tape, parameter) == 0.5);
}

static void preaccumulation_answers(void **state) {
    (void)state;
    wg_real in = wg_input(tape, 2);
    const wg_mark start = wg_tape_mark(tape);
    wg_real square = wg_let(tape, wg_square(in)), result = wg_let(tape, wg_square(square));
    STATUS(WG_ENULL, wg_preaccumulate, NULL, start, 1, &in, 1, &result);
    REFUSES(WG_ENULL, wg_preaccumulate, tape, start, 1, NULL, 1, &result);
    REFUSES(WG_ENULL, wg_preaccumulate, tape, start, 1, &in, 1, NULL);
    STATUS(WG_OK, wg_preaccumulate, tape, start, 1, &in, 1, &result);
    assert_int_equal(wg_reverse(tape, result), WG_OK);
    assert_true(wg_adjoint(tape, in) == 32);
    put_in_failure(tape);
    STATUS(WG_ESHAPE, wg_preaccumulate, tape, start, 1, &in, 1, &result);
    assert_true(still_failed(tape));
}

static void every_function_of_these_headers_was_tried(void **state) {
    (void)state;
    assert_all_tried(__FILE__);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(making_a_matrix_answers),
        TEST(views_of_a_failed_matrix_have_failed),
        TEST(reading_a_matrix_answers),
        TEST(seeding_a_matrix_answers),
        TEST(applying_an_operation_answers),
        TEST(memory_on_no_tape_or_a_failed_one_is_null),
        TEST(a_value_by_name_needs_all_it_is_given),
        TEST(checking_an_operation_answers),
        PLAIN(implicit_functions_answer),
        PLAIN(preaccumulation_answers),
        cmocka_unit_test(every_function_of_these_headers_was_tried), /* the last one */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

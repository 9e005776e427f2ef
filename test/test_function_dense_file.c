/* SPDX-License-Identifier: MIT */
/* test_function_dense_file.c - functions with operations on whole matrices as files, which may
 * be hostile. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "counted.h"
#include "file_case.h"
#include "tape/function/make/finish.h"
#include "tape/function/graph/dense_node.h"

/* ---- operations on whole matrices -------------------------------------------------------- */

/* y = A b: A is x[4], two by two, b its first column; x[0] < y[0] was true. */
enum { WHOLE = 285, FIRST_OF = ARGUMENTS_AT + 50 + 4 };
static const uint8_t whole[WHOLE] = {START(WHOLE),
                                     WORD(1),
                                     WORD(1),
                                     WORD(2),
                                     WORD(7),
                                     WORD(8),
                                     WORD(2),
                                     WORD(1),
                                     WORD(1),
                                     WORD(2),
                                     WORD(3),
                                     WORD(4),
                                     WORD(5),
                                     WORD(6),
                                     WORD(0),
                                     NAMED(4, 0, 'x'),
                                     NAMED(2, 0, 'y'),
                                     1,
                                     1,
                                     1,
                                     1, /* product of 2 by 1, 2 between */
                                     11,
                                     0,
                                     0,
                                     NODE(2),
                                     NODE(1),
                                     NODE(2),
                                     NODE(6),
                                     NODE(0),
                                     NODE(1),
                                     NODE(2),
                                     NODE(3),
                                     NODE(0),
                                     NODE(1), /**/
                                     10,
                                     NODE(0),
                                     NODE(1),
                                     NODE(4), /**/
                                     10,
                                     NODE(1),
                                     NODE(1),
                                     NODE(4), /* entries, a comparison */
                                     NODE(5),
                                     NODE(6),
                                     NODE(0),
                                     NODE(5),
                                     0,
                                     1};

static void evaluate_whole(const wg_function *f, const double *x, double *y) {
    void *const work = malloc(wg_function_work(f, NULL));
    assert_int_equal(wg_function_evaluate(f, 1, (wg_points[]){{x, 4, 1}},
                                          (wg_results[]){{y, 2, 1}}, NULL, work, NULL),
                     WG_OK);
    free(work);
}

static void files_with_operations_on_matrices_are_read(void **state) {
    (void)state;
    const double x[] = {2, 3, 5, 7};
    double y[2];
    uint8_t bytes[WHOLE];
    size_t n;
    memcpy(bytes, whole, WHOLE);
    seal(bytes, WHOLE);
    wg_function *const f = loaded(bytes, WHOLE);
    evaluate_whole(f, x, y);
    assert_float_equal(y[0], 2 * 2 + 5 * 3, 0);
    assert_float_equal(y[1], 3 * 2 + 7 * 3, 0);
    uint8_t *const again = bytes_of(f, &n);
    assert_int_equal(n, WHOLE);
    assert_memory_equal(again, bytes, n);
    free(again);
    wg_function_free(f);
}

static void every_rule_of_operations_on_matrices_is_checked(void **state) {
    (void)state;
    enum { KIND = FIRST_OF + 1, FLAGS, M, N = M + 4, K = N + 4, COUNT = K + 4 };
    enum { OPERAND = COUNT + 4, PART0 = OPERAND + 24, PART1 = PART0 + 13 };
    enum { ENTRY = PART1 + 13, COMPARED = ENTRY + 8, VERSION_AT = 8, REPEATS_AT = 128 };
    static const edit edits[] = {
        {VERSION_AT, 4, 1, "the name of input 0 is no word"},
        {REPEATS_AT, 8, 1, "at byte 128: a count of 1 does not fit"},
        /* kinds and flags */
        {KIND, 1, 10, "node 4 is the operation on matrices 10 with flags 0"},
        {KIND, 1, 255, "node 4 is the operation on matrices 255 with flags 0"},
        {KIND, 1, 16, "node 4 is the operation on matrices 16 with flags 0"},
        {FLAGS, 1, 2, "node 4 is the operation on matrices 0 with flags 2"},
        {FLAGS, 1, 16, "node 4 is the operation on matrices 0 with flags 16"},
        {KIND, 2, 2 + (1 << 8), "node 4 is the operation on matrices 2 with flags 1"},
        {KIND, 2, 1 + (2 << 8), "node 4 is the operation on matrices 1 with flags 2"},
        {KIND, 2, 5 + (4 << 8), "node 4 is the operation on matrices 5 with flags 4"},
        {KIND, 2, 6 + (1 << 8), "node 4 is the operation on matrices 6 with flags 1"},
        /* sizes */
        {M, 4, 0, "node 4: matrices of sizes 0, 1 and 2"},
        {N, 4, 0, "node 4: matrices of sizes 2, 0 and 2"},
        {K, 4, 0, "node 4: matrices of sizes 2, 1 and 0"},
        {M, 4, UINT32_MAX, "node 4: matrices of sizes 4294967295, 1 and 2"},
        {M, 8, UINT64_MAX, "node 4: matrices of sizes 4294967295, 4294967295 and 2"},
        {M, 4, UINT32_MAX / 16, "node 4: matrices of sizes 268435455, 1 and 2"},
        {M, 8, 30000 + ((uint64_t)30000 << 32), "node 4: matrices of sizes 30000, 30000 and 2"},
        {K, 4, 1 << 30, "node 4: matrices of sizes 2, 1 and 1073741824"},
        {KIND, 1, 1, "node 4: matrices of sizes 2, 1 and 2"},
        {KIND, 1, 2, "node 4: matrices of sizes 2, 1 and 2"},
        {KIND, 1, 5, "node 4: matrices of sizes 2, 1 and 2"},
        {KIND, 1, 2, NULL},
        {M, 4, 1 << 16, NULL},
        {N, 8, 0, "node 4: matrices of sizes 65536, 0 and 0"},
        {KIND, 1, 3, NULL},
        {M, 4, UINT32_MAX, NULL},
        {N, 8, 0, "node 4: matrices of sizes 4294967295, 0 and 0"},
        {KIND, 1, 4, NULL},
        {M, 4, 40000, NULL},
        {N, 8, 0, "node 4: matrices of sizes 40000, 0 and 0"},
        {KIND, 1, 5, NULL},
        {M, 8, 60000 + ((uint64_t)1 << 32), NULL},
        {K, 4, 0, "node 4: matrices of sizes 60000, 1 and 0"},
        {KIND, 1, 6, NULL},
        {M, 4, 50000, NULL},
        {N, 8, 0, "node 4: matrices of sizes 50000, 0 and 0"},
        /* operands */
        {M, 4, 3, "node 4 has 6 operands, and its operation 8"},
        {COUNT, 4, 5, "node 4 has 5 operands, and its operation 6"},
        {COUNT, 4, UINT32_MAX, "node 4 has 4294967295 operands"},
        {KIND, 1, 1, NULL},
        {K, 4, 0, "node 4 has 6 operands, and its operation 5"},
        {KIND, 1, 4, NULL},
        {N, 8, 0, "node 4 has 6 operands, and its operation 4"},
        {OPERAND, 4, 4, "operand 0 of node 4 is node 4, which is not before it"},
        {M, 4, 1000, NULL},
        {COUNT, 4, 2002, "node 4 does not fit"},
        /* parts */
        {FIRST_OF, 1, 0x8b, "node 4 has the code 139, which is unknown"},
        {PART0, 1, 12, "node 5 has the code 12, which is unknown"},
        {PART0 + 1, 4, 2, "node 5 is result 2 of 2"},
        {PART1 + 1, 4, 0, "node 6 is result 0, after result 0"},
        {PART1 + 1, 4, UINT32_MAX, "node 6 is result 4294967295 of 2"},
        {PART0 + 5, 4, 2, "node 5 has 2 operands, and its operation 1"},
        {PART0 + 9, 4, 3, "operand 0 of node 5 is node 3, which is a number"},
        {PART1 + 9, 4, 5, "operand 0 of node 6 is node 5, which is a number"},
        {KIND, 1, 3, NULL}, /* 3 by 3 elements of two triangles: 3 results */
        {N, 8, 0, NULL},
        {PART1 + 1, 4, 3, "node 6 is result 3 of 3"},
        /* what is no number */
        {PART1, 1, 8, NULL},
        {PART1 + 5, 4, 4, "operand 0 of node 6 is node 4, which is an operation on matrices"},
        {ENTRY, 4, 4, "entry 0 of output 0 is an operation on matrices"},
        {COMPARED, 4, 4, "comparison 0: of an operation on matrices"},
        {COMPARED + 4, 4, 4, "comparison 0: of an operation on matrices"},
    };
    REFUSE_ALL(whole, edits);
    /* a file of the first version, called one of the second */
    enum { NEW = 8 };
    size_t n;
    wg_function *const f = sample(tape, 0);
    uint8_t *const old = bytes_of(f, &n), *const called = malloc(n + NEW);
    memcpy(called, old, REPEATS_AT);
    memset(called + REPEATS_AT, 0, NEW);
    memcpy(called + REPEATS_AT + NEW, old + REPEATS_AT, n - REPEATS_AT);
    assert_int_equal(old[VERSION_AT], 1);
    called[VERSION_AT] = 2;
    seal(called, n + NEW);
    wg_function *none = NULL;
    assert_int_equal(
        wg_function_load(tape, called, n + NEW, user_operations, USER_OPERATIONS, &none),
        WG_EARG);
    assert_null(none);
    assert_has(wg_tape_message(tape),
               "version 2, and nothing in it that needs that");
    free(old), free(called);
    wg_function_free(f);
}

/* Refused, or a function that can be evaluated, drawn and saved as it was. */
static void load_and_use(const uint8_t *bytes, size_t n) {
    wg_function *f = NULL;
    const wg_status s = wg_function_load(tape, bytes, n, NULL, 0, &f);
    assert_true((s == WG_OK) == (f != NULL));
    if (f == NULL) return;
    size_t m;
    wg_status got;
    uint8_t *const again = bytes_of(f, &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    free(again);
    free(values(f, &got));
    assert_true(got == WG_OK || got == WG_EGUARD);
    wg_function *df = NULL;
    if (wg_function_jvp(tape, f, &df) == WG_OK) free(values(df, &got));
    wg_function_free(df);
    wg_function_free(f);
}

static void damaged_operations_on_matrices_do_no_harm(void **state) {
    (void)state;
    for (size_t n = 0; n <= WHOLE; n++) {
        uint8_t *const bytes = malloc(n + 1); /* of its own, so that what is behind is seen */
        memcpy(bytes, whole, n);
        load_and_use(bytes, n);
        seal(bytes, n);
        load_and_use(bytes, n);
        free(bytes);
    }
    uint8_t bytes[WHOLE];
    for (size_t at = 0; at < WHOLE - 8; at++)
        for (unsigned change = 1; change < 256; change++) {
            memcpy(bytes, whole, WHOLE);
            bytes[at] = (uint8_t)(bytes[at] ^ change);
            if (at % 16 == 0) load_and_use(bytes, WHOLE); /* the checksum is wrong */
            seal(bytes, WHOLE);
            load_and_use(bytes, WHOLE);
        }
}

/* Many results of few operands, one of which is there. */
static void a_file_of_a_large_product_takes_little_memory(void **state) {
    (void)state;
    enum { ROWS = 2000 };
    wgi_core *const c = wgi_core_of(tape);
    const wg_argument x = {"x", 2 * ROWS, 1, 0}, y = {"y", 1, 1, 0};
    wgi_graph g;
    wg_function *f = NULL;
    uint32_t list[2 * ROWS];
    size_t n;
    wgi_graph_open(&g, c, "function");
    for (size_t k = 0; k < 2 * ROWS; k++) list[k] = wgi_graph_input(&g, WGI_EACH);
    const wgi_dense_op op = {WGI_DENSE_PRODUCT, 0, {2, 2, ROWS / 2}};
    const uint32_t part = wgi_graph_dense(&g, &op, list) + 1 + 3;
    assert_int_equal(wgi_function_finish(&g, 1, &x, 1, &y, &part, &f), WG_OK);
    uint8_t *const bytes = bytes_of(f, &n);
    wg_function_free(f);
    const size_t at = 136 + 25 + 25 + 2 * ROWS; /* the operation */
    assert_int_equal(bytes[at], 11);
    put(bytes + at + 3, 4, ROWS);
    put(bytes + at + 7, 4, ROWS);
    put(bytes + at + 11, 4, 1);
    seal(bytes, n);
    struct counted m = counted_start();
    const wg_options opt = {.memory = counted_memory(&m)};
    wg_tape *const t = wg_tape_new(&opt);
    const size_t before = m.committed;
    assert_int_equal(wg_function_load(t, bytes, n, NULL, 0, &f), WG_OK);
    assert_true(m.committed - before < 1 << 20);
    assert_true(wg_function_work(f, NULL) > ROWS * ROWS * sizeof(double));
    wg_function_free(f);
    wg_tape_free(t);
    assert_int_equal(m.wrong + m.ranges, 0);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(files_with_operations_on_matrices_are_read),
        TEST(every_rule_of_operations_on_matrices_is_checked),
        TEST(damaged_operations_on_matrices_do_no_harm),
        TEST(a_file_of_a_large_product_takes_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

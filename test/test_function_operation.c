/* SPDX-License-Identifier: MIT */
/* test_function_operation.c - operations of a user's own that have the names of others: of
 * every built-in one, which could have come with a later version, and of those that the library
 * makes for itself. Both kinds are told apart in statements, functions, derivatives and files.
 *
 * own_NAME and library_NAME record one statement each, on x[0], x[1], .. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "tolerance.h"

/* Values that no operation of the library has; every partial is a small whole number. */
#define OP1(name, ...) WG_OPERATION1(name, 5 - 2 * a, -2, 0, ARITH, "test")
#define OP2(name, ...) WG_OPERATION2(name, 7 + 3 * a - b, 3, -1, 0, 0, 0, ARITH, "test")
#define OP3(name, ...)                                                                         \
    WG_OPERATION3(name, 9 + a - 2 * b + 4 * c, 1, -2, 4, 0, 0, 0, 0, 0, 0, ARITH, "test")
#define OP4(name, ...)                                                                         \
    WG_OPERATION4(name, 11 + a + 2 * b + 3 * c + 4 * d, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
                  0, ARITH, "test")
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

#define BOTH(name, own, library)                                                               \
    static wg_real own_##name(wg_tape *t, const wg_real *x) { return wg_let(t, own); }         \
    static wg_real library_##name(wg_tape *t, const wg_real *x) { return wg_let(t, library); }
#define OP1(name, ...) BOTH(name, WG_CALL1(name, x[0]), wg_##name(x[0]))
#define OP2(name, ...) BOTH(name, WG_CALL2(name, x[0], x[1]), wg_##name(x[0], x[1]))
#define OP3(name, ...) BOTH(name, WG_CALL3(name, x[0], x[1], x[2]), wg_##name(x[0], x[1], x[2]))
#define OP4(name, ...)                                                                         \
    BOTH(name, WG_CALL4(name, x[0], x[1], x[2], x[3]), wg_##name(x[0], x[1], x[2], x[3]))
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

typedef wg_real recorder(wg_tape *t, const wg_real *x);
static const struct {
    recorder *own, *library;
    const wg_scalar_op *op;
} rows[] = {
#define OP1(name, ...) {own_##name, library_##name, &wgi_user_##name},
#define OP2 OP1
#define OP3 OP1
#define OP4 OP1
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
};
enum { ROWS = sizeof rows / sizeof *rows, INPUTS = 4 };
static const double point[INPUTS] = {0.25, 0.125, 0.5, 0.75};
static const double constant[] = {0, 5, 7, 9, 11},
                    slope[][4] = {{0}, {-2}, {3, -1}, {1, -2, 4}, {1, 2, 3, 4}};

static wg_tape *tape;

static int open_tape(void **state) {
    (void)state;
    const wg_options with = {.flags = WG_KEEP_CODE};
    tape = wg_tape_new(&with);
    return tape == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

static double own_value(unsigned arity) {
    double v = constant[arity];
    for (unsigned i = 0; i < arity; i++) v += slope[arity][i] * point[i];
    return v;
}

static void every_name_of_the_library_may_be_a_users_too(void **state) {
    (void)state;
    assert_int_equal(ROWS, wgi_scalar_op_count);
    for (size_t k = 0; k < ROWS; k++) {
        const wg_scalar_op *const theirs = &wgi_scalar_ops[k];
        wg_real x[INPUTS];
        double d[INPUTS];
        assert_string_equal(rows[k].op->name, theirs->name);
        wg_tape_reset(tape);
        assert_int_equal(wg_inputs(tape, INPUTS, point, x), WG_OK);
        const wg_real y = rows[k].own(tape, x), z = rows[k].library(tape, x);
        const double v = theirs->value(point);
        assert_true(wg_value(y) == own_value(theirs->arity));
        assert_memory_equal(&z.value, &v, isnan(v) ? 0 : sizeof v);
        assert_int_equal(wg_reverse(tape, y), WG_OK);
        for (unsigned i = 0; i < theirs->arity; i++)
            assert_true(wg_adjoint(tape, x[i]) == slope[theirs->arity][i]);
        assert_int_equal(wg_reverse(tape, z), WG_OK);
        theirs->first(point, v, d);
        for (unsigned i = 0; i < theirs->arity; i++)
            assert_true(isnan(d[i]) || wg_adjoint(tape, x[i]) == d[i]);
    }
}

/* All of the user's, and all of the library's behind them. */
static wg_status all_of_both(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)data, (void)n, (void)m;
    for (size_t k = 0; k < ROWS; k++) {
        y[k] = rows[k].own(t, x);
        y[ROWS + k] = rows[k].library(t, x);
    }
    return WG_OK;
}

static void evaluate(const wg_function *f, double *y) {
    void *const work = malloc(wg_function_work(f, NULL));
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, &(wg_points){point, 0, 1},
                                          &(wg_results){y, 0, 1}, NULL, work, NULL),
                     WG_OK);
    free(work);
}

/* To be freed. */
static void *file_of(const wg_function *f, size_t *bytes) {
    assert_int_equal(wg_function_save(f, NULL, 0, bytes), WG_OK);
    void *const file = malloc(*bytes);
    assert_non_null(file);
    assert_int_equal(wg_function_save(f, file, *bytes, NULL), WG_OK);
    return file;
}

static wg_function *there_and_back(const wg_function *f, size_t count,
                                   const wg_scalar_op *const *given) {
    size_t bytes = 0;
    wg_function *g = NULL;
    void *const file = file_of(f, &bytes);
    if (wg_function_load(tape, file, bytes, given, count, &g) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    free(file);
    return g;
}

/* Is an operation that is not given taken for another one? */
static void refused_without(const wg_function *f, size_t count,
                            const wg_scalar_op *const *given, const char *message) {
    size_t bytes = 0;
    wg_function *g = NULL;
    void *const file = file_of(f, &bytes);
    assert_int_equal(wg_function_load(tape, file, bytes, given, count, &g), WG_EMODE);
    if (strstr(wg_tape_message(tape), message) == NULL) fail_msg("%s", wg_tape_message(tape));
    free(file);
}

static void functions_and_their_files_keep_them_apart(void **state) {
    (void)state;
    static double y[2 * ROWS], z[2 * ROWS];
    const wg_argument in = {"x", INPUTS, 1, 0}, out = {"y", 2 * ROWS, 1, 0};
    const wg_scalar_op *given[ROWS];
    wg_function *f = NULL;
    for (size_t k = 0; k < ROWS; k++) given[k] = rows[k].op;
    assert_int_equal(wg_function_record(tape, all_of_both, NULL, 1, &in, point, 1, &out, &f),
                     WG_OK);
    wg_function *const g = there_and_back(f, ROWS, given);
    evaluate(f, y);
    evaluate(g, z);
    assert_memory_equal(y, z, sizeof y);
    for (size_t k = 0; k < ROWS; k++) {
        const double v = wgi_scalar_ops[k].value(point);
        assert_true(y[k] == own_value(wgi_scalar_ops[k].arity));
        if (!isnan(v) && !close_ulp(y[ROWS + k], v, TOL_VALUE_ULP))
            fail_msg("%s: %.17g, not %.17g", rows[k].op->name, y[ROWS + k], v);
    }
    wg_function_free(f);
    wg_function_free(g);
}

/* Names that the library gives to operations of its own, where matrices are written out. */
WG_OPERATION1(held, 3 * a, 3, 0, ARITH, "test")
WG_OPERATION2(half_of_each, 2 * a - b, 2, -1, 0, 0, 0, ARITH, "test")
static wg_status beside_matrices(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    (void)data, (void)n, (void)m;
    const wg_mat a = wg_mat_gather(t, 2, 2, x);
    const wg_mat b = wg_mat_softmax(t, a, WG_ALL),
                 c = wg_symv(t, 'L', 1, a, wg_mat_col(b, 0), 0, wg_mat_col(b, 0));
    y[0] = wg_let(t, WG_CALL1(held, x[0]));
    y[1] = wg_let(t, WG_CALL2(half_of_each, x[0], x[1]));
    for (size_t i = 0; i < 2; i++) y[2 + i] = wg_mat_at(b, i, 1), y[4 + i] = wg_mat_at(c, i, 0);
    return WG_OK;
}

static void operations_of_matrices_are_told_apart_too(void **state) {
    (void)state;
    enum { OUTPUTS = 6 };
    const wg_scalar_op *const given[] = {&wgi_user_held, &wgi_user_half_of_each};
    const wg_argument in = {"x", INPUTS, 1, 0}, out = {"y", OUTPUTS, 1, 0};
    double y[OUTPUTS], z[OUTPUTS], dy[OUTPUTS * INPUTS], dz[OUTPUTS * INPUTS];
    wg_function *f = NULL, *df = NULL, *dg = NULL;
    assert_int_equal(
        wg_function_record(tape, beside_matrices, NULL, 1, &in, point, 1, &out, &f), WG_OK);
    wg_function *const g = there_and_back(f, 2, given);
    evaluate(f, y);
    evaluate(g, z);
    assert_memory_equal(y, z, sizeof y);
    assert_true(y[0] == 3 * point[0]);
    assert_true(y[1] == 2 * point[0] - point[1]);
    assert_int_equal(wg_function_jacobian(tape, f, &df), WG_OK);
    assert_int_equal(wg_function_jacobian(tape, g, &dg), WG_OK);
    evaluate(df, dy);
    evaluate(dg, dz);
    assert_memory_equal(dy, dz, sizeof dy);
    refused_without(f, 1, given, "the user's operation half_of_each, which is not given");
    refused_without(f, 1, given + 1, "the user's operation held, which is not given");
    wg_function_free(f), wg_function_free(df);
    wg_function_free(g), wg_function_free(dg);
}

/* A function of C that this file has, under the name of an operation: not that operation. */
static double softplus(double a) { return a * a; }
WG_OPERATION1(of_mine, a *a *a *a / 12, a *a *a / 3, softplus(a), ARITH, "test")
static wg_status mine(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)data, (void)n, (void)m;
    y[0] = wg_let(t, WG_CALL1(of_mine, x[0]));
    return WG_OK;
}

static void texts_call_functions_of_the_users(void **state) {
    (void)state;
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f[4] = {NULL};
    double y = 0;
    assert_int_equal(wg_function_record(tape, mine, NULL, 1, &in, point, 1, &out, &f[0]),
                     WG_OK);
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(wg_function_gradient(tape, f[k], &f[k + 1]), WG_OK);
    evaluate(f[2], &y);
    assert_true(y == point[0] * point[0]);
    assert_int_equal(wg_function_gradient(tape, f[2], &f[3]), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(tape), "of_mine cannot be differentiated"));
    for (size_t k = 0; k < 3; k++) wg_function_free(f[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_of_the_library_may_be_a_users_too),
        cmocka_unit_test(functions_and_their_files_keep_them_apart),
        cmocka_unit_test(operations_of_matrices_are_told_apart_too),
        cmocka_unit_test(texts_call_functions_of_the_users),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}

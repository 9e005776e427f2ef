/* SPDX-License-Identifier: MIT */
/* test_tape_branches.c - functions that branch on a value, or make a constant of one, are found
 * by WG_CHECKED and wg_check_branches; those that do not are not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <wengert.h>

enum { N = 3 };
static const double at[N] = {0.75, 1.5, -0.5};

#define CALLBACK(name)                                                                         \
    static wg_status name(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,        \
                          void *data)
#define UNUSED (void)t, (void)n, (void)m, (void)data

/* ---- functions that are wrong elsewhere ---- */

CALLBACK(branches) {
    UNUSED;
    y[0] = wg_value(x[0]) > 0 ? wg_let(t, wg_sin(x[0])) : wg_let(t, wg_mul(x[0], x[1]));
    return WG_OK;
}
CALLBACK(branches_on_a_result) {
    UNUSED;
    const wg_real z = wg_let(t, wg_mul(x[0], x[1]));
    y[0] = z;
    if (z.value > 1) y[0] = wg_let(t, wg_exp(z));
    return WG_OK;
}
CALLBACK(chooses_an_operand) {
    UNUSED;
    y[0] = wg_let(t, wg_exp(x[x[0].value > x[1].value]));
    return WG_OK;
}
CALLBACK(chooses_an_output) {
    UNUSED;
    y[0] = x[0].value < x[1].value ? x[0] : x[1];
    return WG_OK;
}
CALLBACK(makes_a_constant) {
    UNUSED;
    y[0] = wg_let(t, wg_mul(x[0], wg_value(x[1])));
    return WG_OK;
}
CALLBACK(returns_a_constant) {
    UNUSED;
    y[0] = wg_constant(3 * x[1].value);
    return WG_OK;
}
CALLBACK(makes_an_input) {
    UNUSED;
    const wg_real z = wg_input(t, x[1].value);
    y[0] = wg_let(t, wg_mul(x[0], z));
    return WG_OK;
}
CALLBACK(pauses) {
    UNUSED;
    (void)wg_tape_pause(t);
    const wg_real z = wg_let(t, wg_mul(x[0], x[1]));
    (void)wg_tape_resume(t);
    y[0] = wg_let(t, wg_mul(z, x[0]));
    return WG_OK;
}
CALLBACK(loops_until_it_is_enough) {
    UNUSED;
    y[0] = wg_let(t, wg_square(x[0]));
    for (int k = 0; k < 50 && y[0].value < 4; k++) y[0] = wg_let(t, wg_add(y[0], 1));
    return WG_OK;
}
CALLBACK(sums_what_is_positive) {
    wg_real part[N];
    size_t k = 0;
    UNUSED;
    for (size_t i = 0; i < n; i++)
        if (x[i].value > 0) part[k++] = x[i];
    y[0] = wg_sum(t, k, part);
    return WG_OK;
}
CALLBACK(gathers_the_largest) {
    UNUSED;
    const wg_real two[] = {x[0], x[x[1].value > 1 ? 1 : 2]};
    const wg_mat a = wg_mat_gather(t, 2, 1, two);
    y[0] = wg_mat_dot(t, a, a);
    return WG_OK;
}
CALLBACK(has_a_constant_matrix) {
    UNUSED;
    const double c[] = {1, x[2].value};
    const wg_mat a = wg_mat_gather(t, 2, 1, x), b = wg_mat_constant(t, 2, 1, c, 2);
    y[0] = wg_mat_dot(t, wg_mat_exp(t, a), b);
    return WG_OK;
}
CALLBACK(has_a_matrix_input) {
    UNUSED;
    const double c[] = {1, x[2].value};
    const wg_mat a = wg_mat_gather(t, 2, 1, x), b = wg_mat_input(t, 2, 1, c, 2);
    y[0] = wg_mat_dot(t, wg_mat_exp(t, a), b);
    return WG_OK;
}
CALLBACK(scales_a_matrix) {
    UNUSED;
    const wg_mat a = wg_mat_gather(t, 2, 1, x);
    y[0] = wg_mat_dot(t, a, wg_mat_scale(t, x[2].value, a));
    return WG_OK;
}
CALLBACK(chooses_an_operation) {
    UNUSED;
    const wg_mat a = wg_mat_gather(t, 3, 1, x);
    y[0] = wg_mat_sum(t, x[0].value > 0 ? wg_mat_exp(t, a) : wg_mat_sin(t, a));
    return WG_OK;
}
static wg_status region(wg_tape *t, size_t step, size_t n, const wg_real *state, size_t np,
                        const wg_real *param, wg_real *next, void *data) {
    (void)n, (void)np, (void)data;
    next[0] = step == 2 && state[0].value > 0 ? wg_let(t, wg_sin(state[0]))
                                              : wg_let(t, wg_mul(state[0], param[0]));
    return WG_OK;
}
static wg_tape *work;
static int open_work(void **state) {
    (void)state;
    work = wg_tape_new(NULL);
    return work == NULL;
}
static int close_work(void **state) {
    (void)state;
    wg_tape_free(work);
    return 0;
}
CALLBACK(has_a_region_that_branches) {
    UNUSED;
    const wg_mat s = wg_mat_gather(t, 1, 1, x), p = wg_mat_gather(t, 1, 1, x + 1);
    wg_mat out = s;
    (void)wg_checkpoint(t, work, 4, 1, &(wg_region){.record = region}, 2, s, p, &out);
    y[0] = wg_mat_at(out, 0, 0);
    return wg_tape_status(t);
}
/* A recorded comparison, but after the branch. */
CALLBACK(compares_too_late) {
    UNUSED;
    const wg_real z = x[0].value > 0 ? wg_let(t, wg_sin(x[0])) : wg_let(t, wg_cos(x[0]));
    y[0] = wg_lt(t, x[0], wg_constant(0)) ? z : wg_let(t, wg_mul(z, x[1]));
    return WG_OK;
}

typedef struct wrong {
    wg_callback *f;
    const char *first, *second; /* in the message */
} wrong;
static const wrong all_wrong[] = {
    {branches, "sin(s1)", "mul(s1, s2)"},
    {branches_on_a_result, "exp(s4)", "nothing more"},
    {chooses_an_operand, "exp(s1)", "exp(s2)"},
    {chooses_an_output, "output 0 is s1", "output 0 is s2"},
    {makes_a_constant, "mul(s1, 1.5)", "mul(s1, -1.5)"},
    {returns_a_constant, "the constant 4.5", "the constant -4.5"},
    {makes_an_input, "an input of value 1.5", "an input of value -1.5"},
    {pauses, "mul(1.125, s1)", "at x in reverse order"},
    {loops_until_it_is_enough, "add(s", "at 2 x"},
    {sums_what_is_positive, "sum(s1, s2)", "sum(s3)"},
    {gathers_the_largest, "wg_mat_gather", "wg_mat_gather"},
    {has_a_constant_matrix, "wg_mat_dot", "wg_mat_dot"},
    {has_a_matrix_input, "an input of value -0.5", "an input of value 0.5"},
    {scales_a_matrix, "wg_mat_scale", "with other parameters"},
    {chooses_an_operation, "wg_mat_exp", "wg_mat_sin"},
    {has_a_region_that_branches, "region 0 of step 2", "mul(s1, s2)"},
    {compares_too_late, "sin(s1)", "cos(s1)"},
};
enum { ALL_WRONG = sizeof all_wrong / sizeof *all_wrong };

static void expect_message(const wg_tape *t, const char *text) {
    if (strstr(wg_tape_message(t), text) == NULL)
        fail_msg("'%s' is not in: %s", text, wg_tape_message(t));
}

static const wg_argument input = {"x", N, 1, 0}, output = {"y", 1, 1, 0};

static wg_status function_of(wg_tape *t, wg_callback *f, void *data) {
    wg_function *out = NULL;
    const wg_status s = wg_function_record(t, f, data, 1, &input, at, 1, &output, &out);
    assert_true((out == NULL) == (s != WG_OK));
    wg_function_free(out);
    return s;
}

static void branches_on_values_are_found_by_checked_tapes(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE | WG_CHECKED});
    wg_tape *const plain = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (size_t k = 0; k < ALL_WRONG; k++) {
        assert_int_equal(function_of(t, all_wrong[k].f, NULL), WG_EBRANCH);
        assert_int_equal(wg_tape_status(t), WG_EBRANCH);
        expect_message(t, "wg_function_record: ");
        expect_message(t, "at x the function records ");
        expect_message(t, all_wrong[k].first);
        expect_message(t, all_wrong[k].second);
        assert_int_equal(function_of(plain, all_wrong[k].f, NULL), WG_OK);
        wg_tape_reset(t);
        assert_int_equal(wg_reverse(t, wg_let(t, wg_sin(wg_input(t, 1)))), WG_OK);
    }
    wg_tape_free(plain);
    wg_tape_free(t);
}

static void what_branches_records_is_looked_at_and_patterns_are_not(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE | WG_CHECKED});
    wg_sparsity *s;
    wg_branches *b;
    double y;
    /* every evaluation compares its recording with the pattern */
    assert_int_equal(wg_jacobian_sparsity(t, branches, NULL, N, at, 1, WG_ROW_MAJOR, &s),
                     WG_OK);
    wg_sparsity_free(s);
    assert_int_equal(wg_branches_new(t, branches, NULL, 1, &input, 1, &output, NULL, &b),
                     WG_OK);
    assert_int_equal(
        wg_branches_evaluate(b, 1, &(wg_points){at, N, 1}, &(wg_results){&y, 1, 1}),
        WG_EBRANCH);
    wg_branches_free(b);
    wg_tape_free(t);
}

static void the_message_has_both_places(void **state) {
    (void)state;
    wg_tape *const t =
        wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE | WG_CHECKED | WG_KEEP_PLACES});
    assert_int_equal(function_of(t, branches, NULL), WG_EBRANCH);
    const char *const first = strstr(wg_tape_message(t), "test_tape_branches.c:");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "test_tape_branches.c:"));
    wg_tape_free(t);
}

/* ---- points of the user's ---- */

CALLBACK(far_branch) {
    UNUSED;
    y[0] = x[0].value > 1e6 ? wg_let(t, wg_sin(x[0])) : x[0];
    return WG_OK;
}

/* A matrix times f(x[2]). */
typedef double factor(double);
CALLBACK(scaled_by_a_value) {
    (void)n, (void)m;
    factor *const *const f = data;
    const wg_mat a = wg_mat_gather(t, N, 1, x);
    y[0] = wg_mat_sum(t, wg_mat_scale(t, (*f)(wg_value(x[2])), a));
    return WG_OK;
}

static double reciprocal(double x) { return 1 / x; }

static void a_parameter_that_is_no_number_elsewhere_is_found(void **state) {
    (void)state;
    static const struct {
        factor *f;
        double one, other;
    } pairs[] = {{sqrt, -1, 3}, {exp, 3, 800}, {reciprocal, 0.0, -0.0}};
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t k = 0; k < 2 * sizeof pairs / sizeof *pairs; k++) {
        const double ends[] = {pairs[k / 2].one, pairs[k / 2].other};
        const double here[N] = {1, 2, ends[k % 2]}, there[N] = {1, 2, ends[1 - k % 2]};
        factor *f = pairs[k / 2].f;
        assert_int_equal(wg_check_branches(t, scaled_by_a_value, &f, N, here, 1, 1, there),
                         WG_EBRANCH);
        expect_message(t, "other parameters");
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

static void points_of_the_users_find_what_ours_do_not(void **state) {
    (void)state;
    const double points[2][N] = {{1, 2, 3}, {1e7, 2, 3}};
    wg_tape *const t = wg_tape_new(NULL);
    assert_int_equal(wg_check_branches(t, far_branch, NULL, N, at, 1, 0, NULL), WG_OK);
    assert_int_equal(wg_check_branches(t, far_branch, NULL, N, at, 1, 1, points[0]), WG_OK);
    assert_int_equal(wg_check_branches(t, far_branch, NULL, N, at, 1, 0, points[0]), WG_OK);
    assert_int_equal(wg_check_branches(t, far_branch, NULL, N, at, 1, 2, points[0]),
                     WG_EBRANCH);
    expect_message(t, "at point 1 sin(s1)");
    for (size_t k = 0; k < ALL_WRONG; k++)
        assert_int_equal(wg_check_branches(t, all_wrong[k].f, NULL, N, at, 1, 0, NULL),
                         WG_EBRANCH);
    assert_int_equal(wg_check_branches(t, NULL, NULL, N, at, 1, 0, NULL), WG_ENULL);
    assert_int_equal(wg_check_branches(t, branches, NULL, N, NULL, 1, 0, NULL), WG_ENULL);
    assert_int_equal(wg_check_branches(NULL, branches, NULL, N, at, 1, 0, NULL), WG_ENULL);
    wg_tape_free(t);
}

/* ---- functions that are right ---- */

CALLBACK(compares) {
    UNUSED;
    y[0] = wg_lt(t, x[0], x[1]) ? wg_let(t, wg_sin(x[0])) : wg_let(t, wg_mul(x[0], 3));
    return WG_OK;
}
CALLBACK(compares_with_a_number) {
    UNUSED;
    y[0] = x[0];
    for (int k = 0; k < 50 && wg_lt(t, y[0], wg_constant(4)); k++)
        y[0] = wg_let(t, wg_add(y[0], 1));
    return WG_OK;
}
/* What follows a comparison that came out differently is not looked at. */
CALLBACK(compares_then_uses_values) {
    UNUSED;
    if (wg_lt(t, x[0], wg_constant(0.5))) y[0] = wg_let(t, wg_sin(x[2]));
    else if (wg_gt(t, x[0], wg_constant(1))) y[0] = wg_let(t, wg_cos(x[2]));
    else y[0] = wg_let(t, wg_mul(x[1], x[2]));
    return WG_OK;
}
CALLBACK(selects) {
    UNUSED;
    y[0] = wg_let(t, wg_select_lt(x[0], x[1], wg_sin(x[0]), wg_exp(x[1])));
    y[0] = wg_let(t, wg_add(wg_fabs(y[0]), wg_fmax(x[0], x[2])));
    y[0] = wg_let(t, wg_add(y[0], wg_maximum(t, n, x)));
    return WG_OK;
}
CALLBACK(has_domain_errors) {
    UNUSED;
    y[0] = wg_let(t, wg_add(wg_log(x[0]), wg_sqrt(x[1])));
    return WG_OK;
}
CALLBACK(refuses_other_points) {
    UNUSED;
    if (x[0].value <= 0 || x[0].value > 1) return WG_EARG;
    y[0] = wg_let(t, wg_sin(x[0]));
    return WG_OK;
}
CALLBACK(is_singular_elsewhere) {
    UNUSED;
    const double c[] = {2, 0, 0, 2};
    const wg_real four[] = {x[0], wg_constant(0), wg_constant(0), x[0]};
    const wg_mat a = wg_mat_gather(t, 2, 2, four), b = wg_mat_constant(t, 2, 2, c, 2);
    y[0] = wg_mat_sum(t, wg_solve_spd(t, a, b));
    return wg_tape_status(t);
}
CALLBACK(counts) {
    UNUSED;
    y[0] = x[0];
    for (size_t k = 0; k < 20; k++) y[0] = wg_let(t, wg_sin(wg_mul(y[0], x[k % n])));
    ++*(size_t *)data;
    return WG_OK;
}
typedef struct cache {
    double table[4];
    int made;
} cache;
CALLBACK(caches) {
    cache *const c = data;
    (void)m;
    if (!c->made)
        for (int k = 0; k < 4; k++) c->table[k] = sin(k);
    c->made = 1;
    y[0] = wg_linear(t, n, c->table, x);
    return WG_OK;
}
CALLBACK(does_matrices) {
    UNUSED;
    wg_real e[9];
    for (size_t k = 0; k < 9; k++)
        e[k] = wg_let(t, wg_add(wg_mul(x[k % 3], 0.3), k % 4 == 0 ? 4 : 0));
    const wg_mat a = wg_mat_gather(t, 3, 3, e), b = wg_mat_gather(t, 3, 1, x);
    const wg_mat s = wg_solve(t, a, b), p = wg_matmul(t, a, a);
    y[0] = wg_let(t, wg_add(wg_mat_dot(t, s, b), wg_mat_sum(t, wg_mat_scale(t, 0.5, p))));
    y[0] = wg_let(t, wg_add(y[0], wg_logdet_spd(t, wg_matmul(t, wg_mat_transpose(a), a))));
    return WG_OK;
}
CALLBACK(rewinds) {
    UNUSED;
    const wg_mark mark = wg_tape_mark(t);
    for (int k = 0; k < 1000; k++) y[0] = wg_let(t, wg_mul(x[0], x[1]));
    if (wg_tape_status(t) != WG_OK) return wg_tape_status(t);
    if (wg_tape_rewind(t, mark) != WG_OK) return WG_EMARK;
    y[0] = wg_let(t, wg_mul(x[0], x[1]));
    return WG_OK;
}
/* On a tape that it was not given: no verdict. */
CALLBACK(records_elsewhere) {
    UNUSED;
    wg_tape *const own = data;
    y[0] = own == t ? wg_let(t, wg_sin(x[0])) : wg_let(own, wg_sin(wg_input(own, 1)));
    return WG_OK;
}

static void functions_without_such_branches_give_no_alarm(void **state) {
    (void)state;
    wg_callback *const right[] = {compares,
                                  compares_with_a_number,
                                  compares_then_uses_values,
                                  selects,
                                  has_domain_errors,
                                  refuses_other_points,
                                  is_singular_elsewhere,
                                  does_matrices,
                                  rewinds};
    for (unsigned trace = 0; trace <= WG_TRACE; trace += WG_TRACE) {
        wg_tape *const t = wg_tape_new(
            &(wg_options){.flags = WG_KEEP_CODE | WG_CHECKED | WG_KEEP_PLACES | trace});
        for (size_t k = 0; k < sizeof right / sizeof *right; k++) {
            const double *const x = right[k] == has_domain_errors ? (double[]){1, 2, 3} : at;
            wg_function *f;
            const wg_status s =
                wg_function_record(t, right[k], NULL, 1, &input, x, 1, &output, &f);
            if (s != WG_OK) fail_msg("%zu: %s", k, wg_tape_message(t));
            wg_function_free(f);
        }
        size_t count = 0;
        cache c = {{0}, 0};
        assert_int_equal(function_of(t, counts, &count), WG_OK);
        assert_int_equal(count, 8); /* at x, at six other points, and at x again */
        assert_int_equal(function_of(t, caches, &c), WG_OK);
        assert_int_equal(function_of(t, records_elsewhere, t), WG_OK);
        wg_tape_free(t);
    }
    wg_tape *const plain = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    size_t count = 0;
    assert_int_equal(function_of(plain, counts, &count), WG_OK);
    assert_int_equal(count, 1);
    wg_tape_free(plain);
}

/* ---- memory ---- */

static void without_memory_for_other_recordings_there_is_no_verdict(void **state) {
    (void)state;
    for (size_t budget = 100000; budget < 4000000; budget += 50000) {
        wg_tape *const t =
            wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE | WG_CHECKED, .budget = budget});
        const wg_status s = function_of(t, branches, NULL);
        assert_true(s == WG_OK || s == WG_EBRANCH || s == WG_EBUDGET || s == WG_ENOMEM);
        wg_tape_reset(t);
        const wg_status right = function_of(t, selects, NULL);
        assert_true(right == WG_OK || right == WG_EBUDGET || right == WG_ENOMEM);
        wg_tape_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_on_values_are_found_by_checked_tapes),
        cmocka_unit_test(what_branches_records_is_looked_at_and_patterns_are_not),
        cmocka_unit_test(the_message_has_both_places),
        cmocka_unit_test(points_of_the_users_find_what_ours_do_not),
        cmocka_unit_test(a_parameter_that_is_no_number_elsewhere_is_found),
        cmocka_unit_test(functions_without_such_branches_give_no_alarm),
        cmocka_unit_test(without_memory_for_other_recordings_there_is_no_verdict),
    };
    return cmocka_run_group_tests(tests, open_work, close_work);
}

/* SPDX-License-Identifier: MIT */
/* Functions of many operations: their lists are long enough to stand in extents of their
 * own. */
#include "counted.h"
#include "derive_case.h"

#include <float.h>
#include <math.h>

enum { STATEMENTS = 20000 };
#define STEP 1e-4 /* the chain is a step after step of x' = sin x */

static wg_status chain(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    wg_real v = x[0];
    for (int i = 0; i < STATEMENTS; i++) v = wg_let(t, wg_add(v, wg_mul(STEP, wg_sin(v))));
    y[0] = v;
    return WG_OK;
}

/* The derivative and the second one of the chain, by hand. */
static void by_hand(double x, double *d, double *dd) {
    *d = 1, *dd = 0;
    for (int i = 0; i < STATEMENTS; i++) {
        const double s = 1 + STEP * cos(x);
        *dd = *dd * s - *d * *d * STEP * sin(x);
        *d *= s;
        x += STEP * sin(x);
    }
}

static wg_status record(wg_tape *t, wg_function **f) {
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    const double at = 0.25;
    return wg_function_record(t, chain, NULL, 1, &in, &at, 1, &out, f);
}

/* The chain recorded and its Hessian-vector product made; a failure is given. */
static wg_status make(wg_tape *t, wg_function **h) {
    wg_function *f = NULL;
    wg_status s = record(t, &f);
    if (s == WG_OK) s = wg_function_hvp(t, f, h);
    wg_function_free(f);
    return s;
}

static double second_at(const wg_function *h, double x) {
    const double direction = 1;
    double y = NAN;
    void *const work = aligned_alloc(64, (wg_function_work(h, NULL) + 63) / 64 * 64);
    assert_non_null(work);
    const wg_points in[] = {{&x, 1, 1}, {&direction, 1, 1}};
    const wg_status s =
        wg_function_evaluate(h, 1, in, &(wg_results){&y, 1, 1}, NULL, work, NULL);
    free(work);
    assert_int_equal(s, WG_OK);
    return y;
}

static void a_second_derivative_of_many_operations_is_that_by_hand(void **state) {
    (void)state;
    wg_tape *const t = code_tape();
    wg_function *h = NULL;
    double d, dd;
    must(t, make(t, &h), &h);
    by_hand(0.3, &d, &dd);
    assert_true(fabs(dd) > 0.1);
    assert_true(fabs(second_at(h, 0.3) - dd) <= STATEMENTS * DBL_EPSILON * fabs(dd));
    wg_function_free(h);
    wg_tape_free(t);
}

/* Lists that were copied to twice their size, and what bytecode is made with kept until the
 * end, took 370 bytes of the arena for each operation of the result. */
static void the_arena_holds_few_bytes_for_each_operation(void **state) {
    (void)state;
    enum { BYTES = 110 };
    wg_tape *const t = code_tape();
    wg_function *h = NULL;
    wg_function_stats made;
    wg_stats used;
    must(t, make(t, &h), &h);
    assert_int_equal(wg_function_statistics(h, &made), WG_OK);
    assert_true(made.each > STATEMENTS);
    wg_function_free(h);
    /* what is left is the arena, of which nothing has been given back */
    assert_int_equal(wg_tape_stats(t, &used), WG_OK);
    assert_true(used.committed_bytes < BYTES * made.each);
    wg_tape_free(t);
}

/* Lists that stand idle are given back before what is made of them is kept: with them it took
 * 224 bytes for each operation of the result. */
static void a_function_is_made_in_few_bytes_for_each_operation(void **state) {
    (void)state;
    enum { BYTES = 200 };
    struct counted m = counted_start();
    wg_tape *const t =
        wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .memory = counted_memory(&m)});
    wg_function *h = NULL;
    wg_function_stats made;
    must(t, make(t, &h), &h);
    assert_int_equal(wg_function_statistics(h, &made), WG_OK);
    assert_true(m.most < BYTES * made.each);
    wg_function_free(h);
    wg_tape_free(t);
}

/* Each call for memory but the first ones, which the other tests of memory see, is refused
 * once: nothing is leaked or touched beyond what there is, and the next time it is made all
 * the same. */
static void lists_in_extents_survive_that_memory_is_refused(void **state) {
    (void)state;
    wg_tape *const plain = code_tape();
    wg_function *h = NULL;
    must(plain, make(plain, &h), &h);
    const double right = second_at(h, 0.3);
    wg_function_free(h);
    wg_tape_free(plain);
    int done = 0;
    size_t refusals = 0;
    for (size_t k = 8; !done; k += 5) {
        struct counted m = counted_start();
        wg_tape *const t =
            wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .memory = counted_memory(&m)});
        assert_non_null(t);
        m.fail_at = k;
        h = NULL;
        const wg_status s = make(t, &h);
        done = m.refused == 0;
        refusals += !done;
        if (s != WG_OK) {
            assert_int_equal(s, WG_ENOMEM);
            assert_null(h);
            m.fail_at = SIZE_MAX;
            must(t, make(t, &h), &h);
        }
        assert_true(second_at(h, 0.3) == right);
        wg_function_free(h);
        wg_tape_free(t);
        assert_int_equal(m.wrong, 0);
        assert_int_equal(m.ranges, 0);
    }
    assert_true(refusals > 10);
}

/* In a caller's buffer, where ranges move: as large as it needs to be, and too small. */
static void lists_in_a_callers_buffer_move(void **state) {
    (void)state;
    double d, dd;
    by_hand(0.3, &d, &dd);
    int made = 0;
    for (size_t bytes = (size_t)1 << 22; !made; bytes += bytes / 2) {
        assert_true(bytes < (size_t)1 << 28);
        void *const buffer = malloc(bytes);
        assert_non_null(buffer);
        wg_tape *const t = wg_tape_new(
            &(wg_options){.flags = WG_KEEP_CODE, .buffer = buffer, .buffer_bytes = bytes});
        wg_function *h = NULL;
        const wg_status s = make(t, &h);
        made = s == WG_OK;
        if (!made) assert_int_equal(s, WG_EBUDGET);
        else assert_true(fabs(second_at(h, 0.3) - dd) <= STATEMENTS * DBL_EPSILON * fabs(dd));
        wg_function_free(h);
        wg_tape_free(t);
        free(buffer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_derivative_of_many_operations_is_that_by_hand),
        cmocka_unit_test(the_arena_holds_few_bytes_for_each_operation),
        cmocka_unit_test(a_function_is_made_in_few_bytes_for_each_operation),
        cmocka_unit_test(lists_in_extents_survive_that_memory_is_refused),
        cmocka_unit_test(lists_in_a_callers_buffer_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_tape_sparsity_sums.c - Hessians of sums that grow and are multiplied all the while: the
 * pattern is the one that numbers have, and finding it takes memory in proportion to it. */
#include "counted.h"
#include "sparse_case.h"

static uint64_t random_state;
static size_t any_of(size_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(random_state >> 33) % n;
}

enum { SUMS = 3 };

/* Something that is not linear in a sum and inputs. All partials are positive, of first and
 * second order: no entry of the pattern is 0. */
static wg_real one_term(wg_tape *t, wg_real a, wg_real b, wg_real p, wg_real q) {
    const wg_real pair[] = {a, q}, other[] = {p, p};
    switch (any_of(16)) {
    case 0:
        return wg_let(t, wg_mul(p, a));
    case 1:
        return wg_let(t, wg_mul(wg_mul(q, a), p));
    case 2:
        return wg_let(t, wg_mul(p, wg_add(a, q)));
    case 3:
        return wg_let(t, wg_fma(a, q, b));
    case 4:
        return wg_dot(t, 2, pair, other);
    case 5:
        return wg_dot(t, 2, other, pair);
    case 6: /* linear in p */
        return wg_polynomial(t, 3, (const wg_real[]){p, a, q}, p);
    case 7:
        return wg_polynomial(t, 3, (const wg_real[]){b, p, a}, q);
    case 8: {
        const wg_mat m = wg_mat_gather(t, 2, 1, pair), n = wg_mat_gather(t, 2, 1, other);
        return wg_mat_sum(t, wg_mat_mul(t, m, n));
    }
    case 9: {
        const wg_mat m = wg_mat_gather(t, 2, 1, pair), n = wg_mat_gather(t, 2, 1, other);
        return wg_mat_sum(t, (wg_mat_mul)(t, n, m));
    }
    case 10: {
        const wg_mat m = wg_mat_gather(t, 2, 1, pair), n = wg_mat_gather(t, 2, 1, other);
        return wg_mat_dot(t, n, m);
    }
    case 11:
        return any_of(6) == 0 ? wg_let(t, wg_mul(a, b)) : wg_let(t, wg_mul(p, q));
    case 12:
        return any_of(6) == 0 ? wg_let(t, wg_square(a)) : wg_let(t, wg_square(p));
    default:
        return wg_let(t, wg_mul(q, b));
    }
}

/* data: the seed. The sums have inputs of their own; what they are multiplied by is any
 * input. */
static wg_status growing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    wg_real sum[SUMS];
    (void)m;
    random_state = *(const uint64_t *)data;
    y[0] = wg_constant(0);
    for (size_t k = 0; k < SUMS; k++) sum[k] = x[k];
    const size_t few = 1 + any_of(6);
    for (size_t i = 0; i < n; i++) {
        const size_t k = any_of(SUMS), times = any_of(3);
        sum[k] = wg_let(t, wg_add(sum[k], x[i]));
        for (size_t j = 0; j < times; j++) {
            const wg_real p = x[any_of(few)], q = x[any_of(8) == 0 ? any_of(n) : any_of(few)];
            const wg_real term = one_term(t, sum[any_of(SUMS)], sum[any_of(SUMS)], p, q);
            y[0] = wg_let(t, wg_add(y[0], term));
        }
    }
    return WG_OK;
}

static void patterns_are_those_of_the_dense_hessian(void **state) {
    enum { N = 120 };
    double x[N], other[N], g[N], *const dense = numbers(N * N);
    size_t sparse = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) x[i] = 0.5 + 0.001 * (double)i, other[i] = 1.5 - x[i];
    for (uint64_t seed = 1; seed <= 30; seed++) {
        uint64_t s = seed * 1009;
        wg_sparsity *const found =
            check_hessian(growing, &s, N, x, other, 1, NULL, 'F', WG_ROW_MAJOR, growing, &s);
        ok(tape, wg_hessian(tape, growing, &s, N, x, NULL, g, dense, N));
        size_t entries = 0;
        for (size_t k = 0; k < (size_t)N * N; k++) entries += dense[k] != 0;
        assert_int_equal(wg_sparsity_pattern(found)->entries, entries);
        sparse += entries < (size_t)N * N / 2;
        wg_sparsity_free(found);
    }
    assert_true(sparse > 10); /* the test is about those */
    free(dense);
}

/* ---- memory ------------------------------------------------------------------------------ */

struct many {
    size_t inputs; /* of which each multiplies every sum */
    size_t stride; /* sums are taken in this order */
};

static wg_status multiplied(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const struct many *const p = data;
    const size_t sums = n - p->inputs;
    wg_real *const sum = malloc(sums * sizeof *sum);
    assert_non_null(sum);
    (void)m;
    for (size_t i = 0; i < sums; i++)
        sum[i] = i == 0 ? x[p->inputs] : wg_let(t, wg_add(sum[i - 1], x[p->inputs + i]));
    y[0] = wg_constant(0);
    for (size_t i = 0; i < sums; i++)
        for (size_t k = 0; k < p->inputs; k++)
            y[0] = wg_let(t, wg_add(y[0], wg_mul(sum[i * p->stride % sums], x[k])));
    free(sum);
    return WG_OK;
}

/* Bytes at most at a time while the pattern is found. */
static size_t most_memory(struct many *p, size_t sums) {
    const size_t n = sums + p->inputs;
    struct counted memory = counted_start();
    const wg_options opt = {.flags = WG_KEEP_CODE, .memory = counted_memory(&memory)};
    double *const x = numbers(n);
    wg_tape *const t = wg_tape_new(&opt);
    wg_sparsity *s;
    for (size_t i = 0; i < n; i++) x[i] = 1;
    ok(t, wg_hessian_sparsity(t, multiplied, p, n, x, 1, 'L', WG_ROW_MAJOR, &s));
    assert_int_equal(wg_sparsity_pattern(s)->entries, sums * p->inputs);
    wg_sparsity_free(s);
    wg_tape_free(t);
    free(x);
    assert_int_equal(memory.committed, 0);
    return memory.most;
}

/* Four times as much for twice the size is quadratic, twice as much is not. */
static void memory_is_no_square(void **state) {
    enum { N = 2503 }; /* prime: every stride goes through all sums */
    (void)state;
    for (size_t inputs = 1; inputs <= 3; inputs++) {
        const size_t strides[] = {1, 17, 2 * N - 1}; /* the last: backwards */
        for (size_t k = 0; k < 3; k++) {
            struct many p = {inputs, strides[k]};
            const size_t once = most_memory(&p, N), twice = most_memory(&p, 2 * N);
            if (!(twice < 3 * once)) fail_msg("%zu inputs: %zu, %zu", inputs, once, twice);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(patterns_are_those_of_the_dense_hessian),
        cmocka_unit_test(memory_is_no_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_function_parts.c - functions evaluated in parts: results and sums of whole evaluations,
 * to the last bit, however the points are cut. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "evaluate_case.h"

/* Sums of the blocks of all parts, in their order; given back when all are there. */
struct adding {
    double *sum;
    size_t blocks, n, calls;
    int all; /* are they there? */
};
static wg_status add(void *ctx, size_t blocks, size_t n, const double *sum, double *total) {
    struct adding *const a = ctx;
    a->calls++;
    a->n = n;
    if (!a->all) {
        memcpy(a->sum + a->blocks * n, sum, blocks * n * sizeof *sum);
        a->blocks += blocks;
        return WG_ESTOPPED;
    }
    for (size_t k = 0; k < n; k++) total[k] = 0;
    for (size_t b = 0; b < a->blocks; b++)
        for (size_t k = 0; k < n; k++) total[k] += a->sum[b * n + k];
    return WG_OK;
}

enum { PARTS = 4 };

/* Points from[i] to from[i + 1] of all, as part i. */
static wg_status evaluate_a_part(const wg_function *f, size_t all, size_t first, size_t points,
                                 const double *x, double *y, size_t threads,
                                 wg_function_guard *guard, struct adding *a) {
    wg_points in[8];
    wg_results out[8];
    size_t at = 0;
    for (size_t k = 0; k < f->inputs; k++) {
        const int shared = (f->input[k].flags & WG_SHARED) != 0;
        in[k] = (wg_points){x + at + (shared ? 0 : first * f->n), (ptrdiff_t)f->n, 1};
        at += entries_of(&f->input[k]);
    }
    at = 0;
    for (size_t k = 0; k < f->outputs; k++) {
        const int summed = (f->output[k].flags & WG_SUMMED) != 0;
        out[k] = (wg_results){y + at + (summed ? 0 : first * f->m), (ptrdiff_t)f->m, 1};
        at += entries_of(&f->output[k]);
    }
    wg_threads *const pool = pool_of(threads);
    const size_t bytes = wg_function_work_part(f, points, pool);
    char *const work = malloc(bytes + 1);
    assert_non_null(work);
    memset(work, 0x7f, bytes + 1);
    const wg_status s =
        wg_function_evaluate_part(f, all, points, in, out, pool, work, guard, add, a);
    assert_int_equal(work[bytes], 0x7f);
    free(work);
    return s;
}

static void parts_have_the_bits_of_the_whole(void **state) {
    (void)state;
    struct machine m[MACHINES];
    const size_t machines = machines_here(m);
    for (uint64_t seed = 0; seed < 12; seed++)
        for (size_t i = 0; i < machines; i++) {
            struct drawn d;
            draw_function(&d, 700 + seed, 60 + 100 * (size_t)seed, seed % 4 != 0);
            use_machine(d.h.t, d.h.f, &m[i]);
            const size_t points = MOST_POINTS - (size_t)seed;
            const size_t block = wg_function_block(d.h.f);
            const size_t blocks = (points + block - 1) / block;
            draw_points(d.h.f, points, (int)(seed % 2));
            memset(ys, 0, sizeof ys);
            memset(zs, 0, sizeof zs);
            assert_int_equal(evaluate(d.h.f, points, xs, ys, 1, NULL), WG_OK);
            struct adding a = {.sum = malloc((blocks * d.h.f->nodes + 1) * sizeof(double))};
            assert_non_null(a.sum);
            size_t calls = 0;
            for (a.all = 0; a.all < 2; a.all++)
                for (size_t k = 0; k < PARTS; k++) {
                    const size_t first = k * blocks / PARTS * block;
                    size_t end = (k + 1) * blocks / PARTS * block;
                    if (end > points) end = points;
                    const wg_status s =
                        evaluate_a_part(d.h.f, points, first, end - first, xs, zs, k, NULL, &a);
                    calls += a.n != 0;
                    assert_int_equal(s, a.n != 0 && !a.all ? WG_ESTOPPED : WG_OK);
                    assert_int_equal(a.calls, calls);
                }
            assert_int_equal(a.blocks, a.n != 0 ? blocks : 0);
            for (size_t k = 0; k < points * d.h.f->m; k++) assert_true(same_bits(ys[k], zs[k]));
            free(a.sum);
            hand_close(&d.h);
        }
}

/* Sums of what is the same at all points know how many points there are. */
static void sums_of_constants_are_of_all_points(void **state) {
    (void)state;
    struct hand h;
    hand_open(&h);
    const uint32_t s = hand_input(&h, 1, WG_SHARED), x = hand_input(&h, 1, 0);
    const uint32_t node[2] = {s, x};
    hand_output(&h, 2, WG_SUMMED, node);
    hand_finish(&h);
    double numbers[8], out[2] = {7, 8};
    struct adding a = {.sum = numbers};
    const double in[4] = {0.25, 1, 0.25, 2};
    assert_int_equal(evaluate_a_part(h.f, 1000, 0, 2, in, out, 0, NULL, &a), WG_ESTOPPED);
    assert_true(out[0] == 7 && out[1] == 8 && a.blocks == 1 && a.n == 1);
    a.all = 1;
    assert_int_equal(evaluate_a_part(h.f, 1000, 0, 0, in, out, 0, NULL, &a), WG_OK);
    assert_true(out[0] == 250 && out[1] == 3);
    hand_close(&h);
}

static void comparisons_count_from_the_first_point_of_a_part(void **state) {
    (void)state;
    struct hand h;
    hand_open(&h);
    const uint32_t a = hand_input(&h, 1, 0), ten = wgi_graph_number(&h.g, 10);
    wgi_graph_guard_add(&h.g, a, ten, 0, 1);
    hand_output(&h, 1, 0, &a);
    hand_finish(&h);
    const size_t first = wg_function_block(h.f), points = first + 20;
    struct adding none = {0};
    assert_true(points <= MOST_POINTS);
    for (size_t p = 0; p < points; p++) xs[p] = p == first + 13 ? 11 : 1;
    wg_function_guard g = {99, 99};
    assert_int_equal(evaluate_a_part(h.f, points, 0, first, xs, ys, 0, &g, &none), WG_OK);
    assert_true(g.point == 99);
    assert_int_equal(evaluate_a_part(h.f, points, first, 20, xs, ys, 0, &g, &none), WG_EGUARD);
    assert_true(g.point == 13 && g.guard == 0 && none.calls == 0);
    hand_close(&h);
}

static void what_is_missing_is_refused(void **state) {
    (void)state;
    struct hand h;
    hand_open(&h);
    const uint32_t a = hand_input(&h, 1, 0);
    hand_output(&h, 1, 0, &a);
    hand_finish(&h);
    struct adding none = {0};
    const double x = 3;
    double y = 42;
    const wg_points in = {&x, 1, 1};
    const wg_results out = {&y, 1, 1};
    void *const work = malloc(wg_function_work_part(h.f, 1, NULL));
    assert_non_null(work);
#define PART(f, x, y, work, call)                                                              \
    wg_function_evaluate_part(f, 1, 1, x, y, NULL, work, NULL, call, &none)
    assert_int_equal(PART(NULL, &in, &out, work, add), WG_ENULL);
    assert_int_equal(PART(h.f, NULL, &out, work, add), WG_ENULL);
    assert_int_equal(PART(h.f, &in, NULL, work, add), WG_ENULL);
    assert_int_equal(PART(h.f, &in, &out, NULL, add), WG_ENULL);
    assert_int_equal(PART(h.f, &in, &out, work, NULL), WG_ENULL);
    assert_true(y == 42);
    assert_int_equal(PART(h.f, &in, &out, work, add), WG_OK);
    assert_true(y == 3);
    assert_true(wg_function_block(NULL) == 0 && wg_function_work_part(NULL, 1, NULL) == 0);
    free(work);
    hand_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_the_bits_of_the_whole),
        cmocka_unit_test(sums_of_constants_are_of_all_points),
        cmocka_unit_test(comparisons_count_from_the_first_point_of_a_part),
        cmocka_unit_test(what_is_missing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}

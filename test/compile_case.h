/* SPDX-License-Identifier: MIT */
/* compile_case.h - functions that are compiled and compared with interpreted ones; into a
 * directory of the test's own where files are looked at or time is taken. A file that includes
 * it defines _DEFAULT_SOURCE first. */
#ifndef WENGERT_TEST_COMPILE_CASE_H
#define WENGERT_TEST_COMPILE_CASE_H

#include "emitted.h"

#include <math.h>
#include <wengert/operation.h>
#include "pools.h"
#include "tolerance.h"

enum { MOST = 2048, POINTS = 150, PATH_BYTES = 4080 };

static char directory[SCRATCH_BYTES];
static const char *compiler;

static inline int open_directory(void **state) {
    (void)state;
    compiler = getenv("CC");
    /* a wrapper with arguments is no program */
    if (compiler == NULL || *compiler == 0 || strchr(compiler, ' ') != NULL) compiler = "cc";
    return scratch_make(directory);
}
static inline int close_directory(void **state) {
    (void)free_pools(state);
    return scratch_remove(directory);
}

static inline wg_function *compiled(wg_tape *t, const wg_function *f, const char *with,
                                    const char *const *flags, const char *where,
                                    wg_compiled *how) {
    const wg_compile_options o = {with, flags, where};
    wg_function *out = NULL;
    assert_int_equal(wg_function_compile(t, f, &o, &out, how), WG_OK);
    assert_non_null(out);
    return out;
}
static inline wg_function *must_compile_to(wg_tape *t, const wg_function *f,
                                           const char *where) {
    static const char *const quick[] = {"-O1", NULL};
    wg_compiled how;
    wg_function *const out = compiled(t, f, compiler, quick, where, &how);
    if (!how.native) fail_msg("%s", how.why);
    assert_string_equal(how.why, "");
    return out;
}
/* Where it is of no account whether this is compiled now, or was before. */
static inline wg_function *must_compile(wg_tape *t, const wg_function *f) {
    return must_compile_to(t, f, COMPILED_BEFORE);
}

/* Arrays of structures of all inputs and of all outputs; sums at the first point. */
static inline wg_status evaluate(const wg_function *f, size_t points, const double *x,
                                 double *y, size_t threads, wg_function_guard *guard) {
    wg_points in[16];
    wg_results out[16];
    size_t at = 0;
    for (size_t k = 0; k < f->inputs; at += wgi_argument_size(&f->input[k++]))
        in[k] = (wg_points){x + at, (ptrdiff_t)f->n, 1};
    at = 0;
    for (size_t k = 0; k < f->outputs; at += wgi_argument_size(&f->output[k++]))
        out[k] = (wg_results){y + at, (ptrdiff_t)f->m, 1};
    void *const work = malloc(wg_function_work(f, pool_of(threads)) + 1);
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, points, in, out, pool_of(threads), work, guard);
    free(work);
    return s;
}

static inline void draw_points(double *x, size_t n, size_t points, int plain) {
    for (size_t i = 0; i < n * points; i++)
        x[i] = !plain && (i / n) % 3 == 0 ? special[below(SPECIALS)] : uniform(-2, 2);
}

/* The same status and guard, results with the same bits, sums to the order of their terms. */
static inline void compare(const wg_function *f, const wg_function *g, size_t points,
                           size_t threads, int plain) {
    static double x[MOST * POINTS], y[MOST * POINTS], z[MOST * POINTS];
    wg_function_guard a = {0, 0}, b = {0, 0};
    draw_points(x, f->n, points, plain);
    memset(y, 0, f->m * (points + 1) * sizeof *y);
    memset(z, 0, f->m * (points + 1) * sizeof *z);
    assert_int_equal(evaluate(f, points, x, y, 1, &a), evaluate(g, points, x, z, threads, &b));
    assert_int_equal(a.point, b.point);
    assert_int_equal(a.guard, b.guard);
    for (size_t p = 0; p < points; p++)
        for (size_t k = 0, j = 0; k < f->outputs; k++)
            for (size_t l = 0; l < wgi_argument_size(&f->output[k]); l++, j++) {
                const double want = y[p * f->m + j], got = z[p * f->m + j];
                const double size = (double)points * DBL_EPSILON * (1 + fabs(want));
                if (same_bits(want, got)) continue;
                if (f->output[k].flags & WG_SUMMED &&
                    fabs(got - want) <= 64 * TOL_ORDER_ULP * size)
                    continue;
                print_error("point %zu of %zu, entry %zu: %.17g, not %.17g\n", p, points, j,
                            got, want);
                fail();
            }
}

static inline void open_small(hand *h, double number) {
    hand_open(h);
    const uint32_t x = hand_input(h, "x", 1, 1, 0), c = wgi_graph_number(&h->g, number);
    const uint32_t y = WGI_GRAPH2(&h->g, mul, x, c);
    hand_output(h, "y", 1, 1, 0, &y);
    hand_finish(h);
}

/* It cannot be written as C. */
static inline double table(double a) { return a * 2; }
WG_OPERATION1(looked_up, table(a), 2.0, 0, ARITH, "a call of something else")

#endif

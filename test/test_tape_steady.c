/* SPDX-License-Identifier: MIT */
/* test_tape_steady.c - an iteration that repeats obtains no memory: not from the callbacks, not
 * by malloc, not from the system. The program's own malloc and mmap come before those of libc,
 * and count. (Not under a sanitizer or valgrind, which have theirs: there only the callbacks
 * count.) */
#define _GNU_SOURCE /* MAP_ANONYMOUS, syscall */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "counted.h"
#include "sanitized.h"
#include "walk.h"

static volatile size_t obtained; /* calls of malloc and its kin, and of the system */

#if defined(__GLIBC__) && defined(__x86_64__) && !SANITIZED
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t n) { return obtained++, __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return obtained++, __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return obtained++, __libc_realloc(p, n); }
void *aligned_alloc(size_t a, size_t n) { return obtained++, __libc_memalign(a, n); }
int posix_memalign(void **p, size_t a, size_t n) {
    obtained++;
    *p = __libc_memalign(a, n);
    return *p == NULL;
}
void *mmap(void *p, size_t n, int protection, int flags, int file, off_t offset) {
    obtained++;
    return (void *)syscall(SYS_mmap, p, n, protection, flags, file, offset);
}
int mprotect(void *p, size_t n, int protection) {
    obtained++;
    return (int)syscall(SYS_mprotect, p, n, protection);
}
int munmap(void *p, size_t n) { return obtained++, (int)syscall(SYS_munmap, p, n); }
int madvise(void *p, size_t n, int advice) {
    obtained++;
    return (int)syscall(SYS_madvise, p, n, advice);
}
#endif

enum { INPUTS = 8, LENGTH = 3000 };
static wg_real x[LENGTH];

/* One iteration of somebody's program. */
typedef void iteration(wg_tape *t);

static void ok(wg_status s) { assert_int_equal(s, WG_OK); }

static void gradient(wg_tape *t) {
    double g[INPUTS];
    wg_tape_reset(t);
    walk(t, 1, INPUTS, 0, LENGTH, x);
    ok(wg_reverse(t, x[LENGTH - 1]));
    ok(wg_adjoints(t, INPUTS, x, g));
}

static void lanes_and_parts(wg_tape *t) {
    double w[16] = {1, 2, 3};
    wg_tape_reset(t);
    const wg_mark low = wg_tape_mark(t);
    walk(t, 2, INPUTS, 0, LENGTH, x);
    ok(wg_reverse_lanes(t, 16, 1, &x[LENGTH - 1], w));
    ok(wg_adjoints_clear(t));
    ok(wg_adjoint_seed(t, x[LENGTH - 1], 1));
    ok(wg_sweep(t, wg_tape_mark(t), low));
}

static void time_steps(wg_tape *t) {
    wg_tape_reset(t);
    for (size_t step = 0; step < 200; step++) { /* a trial before every step */
        const wg_mark m = wg_tape_mark(t);
        walk(t, 3, INPUTS, step * 10, step * 10 + 10, x);
        ok(wg_tape_rewind(t, m));
        walk(t, 4, INPUTS, step * 10, step * 10 + 10, x);
    }
    ok(wg_reverse(t, x[1999]));
}

static void failures(wg_tape *t) {
    wg_tape_reset(t);
    walk(t, 5, INPUTS, 0, 100, x);
    const wg_mark m = wg_tape_mark(t);
    (void)wg_let(t, wg_sin(walk_stranger(t)));
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    ok(wg_tape_rewind(t, m));
    ok(wg_reverse(t, x[99]));
}

static void arrays_and_labels(wg_tape *t) {
    wg_tape_reset(t);
    walk(t, 6, INPUTS, 0, 500, x);
    for (int i = 0; i < INPUTS; i++) ok(wg_label(t, x[i], "input"));
    const wg_real s = wg_let(t, wg_mul(wg_sum(t, 500, x), wg_dot(t, 100, x, x + 100)));
    ok(wg_reverse(t, s));
}

static void second_order(wg_tape *t) {
    double v[INPUTS] = {1, 2}, hv[INPUTS], h[INPUTS * INPUTS];
    arrays_and_labels(t);
    const wg_real y = wg_let(t, wg_exp(x[499]));
    ok(wg_tape_hvp(t, y, INPUTS, x, v, hv));
    ok(wg_tape_hessian(t, y, INPUTS, x, h, INPUTS));
    ok(wg_tape_verify(t));
    ok(wg_tape_replay(t, INPUTS, x, v));
}

static void forward(wg_tape *t) {
    wg_tape_reset(t);
    ok(wg_tape_forward(t, 4));
    walk(t, 7, INPUTS, 0, LENGTH, x);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_reset(t);
    ok(wg_tape_forward(t, 0));
    gradient(t);
}

static wg_status user(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                      void *data) {
    (void)data;
    wg_real a = in[0];
    for (size_t k = 0; k < 500; k++) a = wg_let(t, wg_sin(wg_mul(a, in[k % n])));
    for (size_t j = 0; j < m; j++) out[j] = wg_let(t, wg_mul(a, in[j % n]));
    return WG_OK;
}

static void drivers(wg_tape *t) {
    const double at[] = {1, 2, 3}, v[] = {1, 0, 2};
    double value, g[3], y[9], j[27], h[9];
    wg_check found;
    ok(wg_eval(t, user, NULL, 3, at, 9, y));
    ok(wg_gradient(t, user, NULL, 3, at, &value, g));
    ok(wg_jacobian(t, user, NULL, 3, at, 9, y, WG_ROW_MAJOR, j, 3));
    ok(wg_jacobian(t, user, NULL, 3, at, 2, y, WG_ROW_MAJOR, j, 3));
    ok(wg_jvp(t, user, NULL, 3, at, v, 3, y, j));
    ok(wg_vjp(t, user, NULL, 3, at, 3, v, y, g));
    ok(wg_hvp(t, user, NULL, 3, at, v, &value, g, h));
    ok(wg_hessian(t, user, NULL, 3, at, &value, g, h, 3));
    ok(wg_check_gradient(t, user, NULL, 3, at, 2, &found));
    ok(wg_check_hessian(t, user, NULL, 3, at, 2, &found));
}

/* From the second time on nothing is obtained and nothing given back. */
static void assert_steady(iteration *run, unsigned flags) {
    for (int own = 0; own < 2; own++) {
        struct counted m = counted_start();
        wg_options opt = {.flags = flags};
        if (own) opt.memory = counted_memory(&m); /* else the library's own */
        wg_tape *t = wg_tape_new(&opt);
        wg_stats before, after;
        run(t);
        ok(wg_tape_stats(t, &before));
        const size_t calls = m.calls, others = obtained;
        for (int i = 0; i < 20; i++) run(t);
        const size_t now = obtained;
        ok(wg_tape_stats(t, &after));
        assert_int_equal(now, others);
        assert_int_equal(m.calls, calls);
        assert_int_equal(after.memory_calls, before.memory_calls);
        assert_int_equal(after.committed_bytes, before.committed_bytes);
        assert_int_equal(after.records, before.records);
        wg_tape_free(t);
    }
}

static void gradients_are_steady(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_KEEP_PLACES, WG_TRACE, WG_CHECKED};
    for (int f = 0; f < 5; f++) {
        assert_steady(gradient, flags[f]);
        assert_steady(lanes_and_parts, flags[f]);
    }
}
static void rewinds_and_failures_are_steady(void **state) {
    (void)state;
    assert_steady(time_steps, 0);
    assert_steady(time_steps, WG_CHECKED);
    assert_steady(failures, 0);
    assert_steady(failures, WG_KEEP_CODE | WG_KEEP_PLACES);
}
static void arrays_are_steady(void **state) {
    (void)state;
    assert_steady(arrays_and_labels, 0);
    assert_steady(second_order, WG_KEEP_CODE);
}
static void forward_tapes_are_steady(void **state) {
    (void)state;
    assert_steady(forward, 0);
}
static void drivers_are_steady(void **state) {
    (void)state;
    assert_steady(drivers, WG_KEEP_CODE);
}

/* That the counter counts. */
static void an_allocation_is_noticed(void **state) {
    (void)state;
    const size_t before = obtained;
    char *volatile p = malloc(100);
    free(p);
    if (obtained == before) skip(); /* somebody else's malloc is in use */
    wg_tape *t = wg_tape_new(NULL);
    assert_true(obtained >= before + 3);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_is_noticed),
        cmocka_unit_test(gradients_are_steady),
        cmocka_unit_test(rewinds_and_failures_are_steady),
        cmocka_unit_test(arrays_are_steady),
        cmocka_unit_test(forward_tapes_are_steady),
        cmocka_unit_test(drivers_are_steady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

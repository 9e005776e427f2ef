/* SPDX-License-Identifier: MIT */
/* test_tape_spill.c - tapes whose memory goes on in a file: the same bits, room that comes
 * back, a file that is full, a disk that is, threads. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <wengert.h>

enum { MB = 1 << 20, N = 4, STATEMENTS = 400000 };

static wg_spill *spill(size_t resident, size_t bytes) {
    const char *why = NULL;
    wg_spill *s = NULL;
    if (wg_spill_new("/tmp", resident, bytes, &s, &why) != WG_OK) fail_msg("%s", why);
    assert_string_equal(why, "");
    assert_int_equal(wg_spill_used(s), 0);
    return s;
}

/* A long recording, and its gradient. */
static wg_status recorded(wg_tape *t, size_t statements, double *g) {
    const double at[N] = {0.5, 1.25, -0.75, 2};
    wg_real x[N], y = wg_constant(0);
    wg_status s = wg_inputs(t, N, at, x);
    for (size_t k = 0; k < statements; k++)
        y = wg_let(
            t, wg_add(wg_mul(0.999, y), wg_sin(wg_mul(x[k % N], wg_add(y, x[(k + 1) % N])))));
    if (s == WG_OK) s = wg_tape_status(t);
    if (s == WG_OK) s = wg_reverse(t, y);
    return s == WG_OK ? wg_adjoints(t, N, x, g) : s;
}

static void gradients_of_spilled_tapes_have_the_same_bits(void **state) {
    const size_t resident[] = {0, MB, 64 * MB};
    double ref[N], g[N];
    wg_tape *t = wg_tape_new(NULL);
    (void)state;
    assert_int_equal(recorded(t, STATEMENTS, ref), WG_OK);
    wg_tape_free(t);
    for (size_t k = 0; k < 3; k++) {
        wg_spill *const s = spill(resident[k], 128 * MB);
        t = wg_tape_new(
            &(wg_options){.memory = wg_spill_memory(s), .flags = k == 1 ? WG_KEEP_CODE : 0});
        assert_non_null(t);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(recorded(t, STATEMENTS, g), WG_OK);
            assert_memory_equal(g, ref, sizeof g);
            if (resident[k] < 10 * MB) assert_true(wg_spill_used(s) > 8 * MB);
            else assert_int_equal(wg_spill_used(s), 0);
            wg_tape_reset(t);
        }
        wg_tape_free(t);
        assert_int_equal(wg_spill_used(s), 0);
        wg_spill_free(s);
    }
}

static void a_file_that_is_full_is_a_status(void **state) {
    double g[N];
    wg_spill *const s = spill(MB, 4 * MB);
    wg_tape *const t = wg_tape_new(&(wg_options){.memory = wg_spill_memory(s)});
    (void)state;
    assert_int_equal(recorded(t, STATEMENTS, g), WG_ENOMEM);
    assert_true(wg_spill_used(s) <= 4 * MB);
    wg_tape_reset(t);
    assert_int_equal(recorded(t, 100, g), WG_OK);
    wg_tape_free(t);
    wg_spill_free(s);
}

static wg_status square(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_square(x[0]));
    return WG_OK;
}

/* Objects of a tape come and go, in another order: what they had is given out again. */
static void room_in_the_file_comes_back(void **state) {
    enum { OBJECTS = 8, ROUNDS = 200 };
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    const double at = 3;
    wg_function *f[OBJECTS] = {NULL};
    wg_spill *const s = spill(0, 16 * MB);
    wg_tape *const t =
        wg_tape_new(&(wg_options){.memory = wg_spill_memory(s), .flags = WG_KEEP_CODE});
    size_t most = 0;
    (void)state;
    for (size_t k = 0; k < ROUNDS * OBJECTS; k++) {
        wg_function_free(f[k * 5 % OBJECTS]);
        assert_int_equal(
            wg_function_record(t, square, NULL, 1, &in, &at, 1, &out, &f[k * 5 % OBJECTS]),
            WG_OK);
        if (k == 2 * OBJECTS) most = wg_spill_used(s);
        if (k > 2 * OBJECTS) assert_true(wg_spill_used(s) <= most + MB);
    }
    wg_tape_free(t);
    for (size_t k = 0; k < OBJECTS; k++) wg_function_free(f[k]);
    assert_int_equal(wg_spill_used(s), 0);
    wg_spill_free(s);
}

/* Ranges that stand side by side, in addresses and in the file, and are given back one by one:
 * of what the others hold nothing is given to anybody else. */
static void ranges_that_meet_are_kept_apart(void **state) {
    enum { RANGES = 12, ROUNDS = 400 };
    const size_t bytes = 65536;
    for (size_t resident = 0; resident <= 4 * bytes; resident += 4 * bytes) {
        unsigned char *range[RANGES] = {0};
        wg_spill *const s = spill(resident, RANGES * bytes);
        const wg_memory m = wg_spill_memory(s);
        size_t used = 0;
        uint32_t chance = 1;
        (void)state;
        for (size_t round = 0; round < ROUNDS + RANGES; round++) {
            chance = chance * 1664525 + 1013904223;
            const size_t k = round < ROUNDS ? (chance >> 16) % RANGES : round - ROUNDS;
            if (range[k] != NULL) {
                m.release(m.ctx, range[k], bytes);
                range[k] = NULL;
                used -= bytes;
            } else if (round < ROUNDS) {
                range[k] = m.reserve(m.ctx, bytes);
                assert_non_null(range[k]);
                assert_int_equal(m.commit(m.ctx, range[k], bytes), 0);
                memset(range[k], (int)k + 1, bytes);
                used += bytes;
            }
            if (resident == 0) assert_int_equal(wg_spill_used(s), used);
            for (size_t i = 0; i < RANGES; i++)
                assert_true(range[i] == NULL ||
                            (range[i][0] == i + 1 && range[i][bytes - 1] == i + 1));
        }
        assert_int_equal(wg_spill_used(s), 0);
        wg_spill_free(s);
    }
}

static void pieces_are_so_many_and_come_back(void **state) {
    enum { MOST = 1 << 14 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    static void *range[MOST];
    wg_spill *const s = spill(0, (MOST + 1) * page);
    const wg_memory m = wg_spill_memory(s);
    (void)state;
    for (size_t k = 0; k < MOST; k++) {
        range[k] = m.reserve(m.ctx, page);
        assert_int_equal(m.commit(m.ctx, range[k], page), 0);
    }
    void *const other = m.reserve(m.ctx, page);
    assert_int_not_equal(m.commit(m.ctx, other, page), 0);
    m.release(m.ctx, range[MOST / 2], page);
    assert_int_equal(m.commit(m.ctx, other, page), 0);
    range[MOST / 2] = other;
    for (size_t k = 0; k < MOST; k++) m.release(m.ctx, range[k], page);
    assert_int_equal(wg_spill_used(s), 0);
    wg_spill_free(s);
}

/* ---- a solution with its checkpoints there ---- */

static wg_status swing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = x[2];
    y[1] = wg_let(t, wg_neg(wg_mul(x[3], wg_sin(x[1]))));
    return WG_OK;
}

static void solve(const wg_options *o, double *g) {
    const wg_argument in[] = {{"t", 1, 1, 0}, {"y", 2, 1, 0}, {"p", 1, 1, 0}},
                      out = {"f", 2, 1, 0};
    const double at[] = {0, 1, 0, 2}, times[] = {0, 200};
    wg_tape *const t = wg_tape_new(o);
    wg_function *f;
    wg_ode *k;
    wg_mat y;
    assert_int_equal(wg_function_record(t, swing, NULL, 3, in, at, 1, &out, &f), WG_OK);
    assert_int_equal(wg_ode_new(t, &(wg_ode_system){.rhs = f}, &k), WG_OK);
    const wg_mat y0 = wg_mat_input(t, 2, 1, at + 1, 2), p = wg_mat_input(t, 1, 1, at + 3, 1);
    assert_int_equal(
        wg_ode_solve(t, k, &(wg_ode_options){.method = WG_RK4, .step = 1e-3, .stored = 100000},
                     2, times, y0, p, &y, NULL, NULL),
        WG_OK);
    assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 1)), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, y0, g, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, p, g + 2, 1), WG_OK);
    wg_tape_free(t);
    wg_ode_free(k);
    wg_function_free(f);
}

static void checkpoints_of_solutions_are_spilled_with_their_tape(void **state) {
    double ref[3], g[3];
    wg_spill *const s = spill(0, 64 * MB);
    (void)state;
    solve(&(wg_options){.flags = WG_KEEP_CODE}, ref);
    solve(&(wg_options){.flags = WG_KEEP_CODE, .memory = wg_spill_memory(s)}, g);
    assert_memory_equal(g, ref, sizeof g);
    wg_spill_free(s);
}

/* ---- threads ---- */

struct work {
    wg_spill *s;
    double g[N];
    wg_status status;
};
static void *record_there(void *context) {
    struct work *const w = context;
    for (int k = 0; k < 5; k++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.memory = wg_spill_memory(w->s)});
        w->status = t == NULL ? WG_ENOMEM : recorded(t, STATEMENTS / 10, w->g);
        wg_tape_free(t);
        if (w->status != WG_OK) break;
    }
    return NULL;
}

static void tapes_of_several_threads_share_a_file(void **state) {
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    struct work w[THREADS];
    double ref[N];
    wg_spill *const s = spill(MB, 128 * MB);
    wg_tape *const t = wg_tape_new(NULL);
    (void)state;
    assert_int_equal(recorded(t, STATEMENTS / 10, ref), WG_OK);
    wg_tape_free(t);
    for (int k = 0; k < THREADS; k++) {
        w[k] = (struct work){.s = s};
        assert_int_equal(pthread_create(&thread[k], NULL, record_there, &w[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(w[k].status, WG_OK);
        assert_memory_equal(w[k].g, ref, sizeof ref);
    }
    assert_int_equal(wg_spill_used(s), 0);
    wg_spill_free(s);
}

/* ---- files that cannot be made ---- */

static void files_that_cannot_be_made_are_refused(void **state) {
    const char *why = NULL;
    wg_spill *s = (wg_spill *)&why;
    (void)state;
    assert_int_equal(wg_spill_new(NULL, 0, MB, &s, NULL), WG_ENULL);
    assert_null(s);
    assert_int_equal(wg_spill_new("/tmp", 0, MB, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_spill_new("/tmp", 0, 0, &s, &why), WG_EARG);
    assert_int_equal(wg_spill_new("/tmp", 0, SIZE_MAX, &s, &why), WG_EARG);
    assert_int_equal(wg_spill_new("/tmp/there/is/no/such", 0, MB, &s, &why), WG_EWRITE);
    assert_non_null(strstr(why, "no such directory"));

    /* as where the disk is full: no more than so much can be written */
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = MB;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const wg_status status = wg_spill_new("/tmp", 0, 2 * MB, &s, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, WG_EWRITE);
    assert_non_null(strstr(why, "too large"));
    assert_null(s);

    wg_spill_free(NULL);
    assert_int_equal(wg_spill_used(NULL), 0);
    assert_null(wg_spill_memory(NULL).reserve);
    wg_tape *const t = wg_tape_new(&(wg_options){.memory = wg_spill_memory(NULL)});
    assert_non_null(t);
    wg_tape_free(t);
}

static size_t entries(const char *directory) {
    size_t n = 0;
    DIR *const d = opendir(directory);
    assert_non_null(d);
    while (readdir(d) != NULL) n++;
    (void)closedir(d);
    return n;
}
static void the_file_has_no_name(void **state) {
    char directory[] = "/tmp/wengert-spill-test-XXXXXX";
    const char *why;
    wg_spill *s;
    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(wg_spill_new(directory, 0, MB, &s, &why), WG_OK);
    assert_int_equal(entries(directory), 2); /* itself, and the one above */
    wg_spill_free(s);
    assert_int_equal(rmdir(directory), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_spilled_tapes_have_the_same_bits),
        cmocka_unit_test(a_file_that_is_full_is_a_status),
        cmocka_unit_test(room_in_the_file_comes_back),
        cmocka_unit_test(ranges_that_meet_are_kept_apart),
        cmocka_unit_test(pieces_are_so_many_and_come_back),
        cmocka_unit_test(checkpoints_of_solutions_are_spilled_with_their_tape),
        cmocka_unit_test(tapes_of_several_threads_share_a_file),
        cmocka_unit_test(files_that_cannot_be_made_are_refused),
        cmocka_unit_test(the_file_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

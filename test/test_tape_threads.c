/* SPDX-License-Identifier: MIT */
/* test_tape_threads.c - one tape per thread: made, used and freed in it, the same bits as one
 * after another; a failure in one thread is nobody else's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include "walk.h"

enum { THREADS = 8, ROUNDS = 12, INPUTS = 10, LENGTH = 2000 };

struct job {
    uint64_t seed;
    int fails;     /* breaks its tape in every round */
    wg_tape *tape; /* NULL: makes its own */
    wg_real x[LENGTH];
    double gradient[ROUNDS][INPUTS], lanes[ROUNDS][8 * INPUTS], hv[ROUNDS][INPUTS];
    int wrong; /* assertions are for the main thread */
};

static void round_of(struct job *j, wg_tape *t, int round) {
    const uint64_t seed = j->seed + (uint64_t)round;
    double w[8], v[INPUTS];
    for (int l = 0; l < 8; l++) w[l] = l + 1;
    for (int i = 0; i < INPUTS; i++) v[i] = i - 3;
    wg_tape_reset(t);
    walk(t, seed, INPUTS, 0, LENGTH, j->x);
    const wg_real y = j->x[LENGTH - 1];
    j->wrong += wg_reverse_lanes(t, 8, 1, &y, w) != WG_OK;
    for (size_t i = 0; i < INPUTS; i++)
        for (size_t l = 0; l < 8; l++)
            j->lanes[round][8 * i + l] = wg_adjoint_lane(t, j->x[i], l);
    j->wrong += wg_tape_hvp(t, y, INPUTS, j->x, v, j->hv[round]) != WG_OK;
    j->wrong += wg_reverse(t, y) != WG_OK;
    j->wrong += wg_adjoints(t, INPUTS, j->x, j->gradient[round]) != WG_OK;
    if (!j->fails) return;
    const wg_mark m = wg_tape_mark(t);
    (void)wg_let(t, wg_sin(walk_stranger(t))); /* a stranger */
    j->wrong += wg_tape_status(t) != WG_ESTALE || wg_reverse(t, y) != WG_ESTALE;
    j->wrong += wg_tape_rewind(t, m) != WG_OK;
}

/* Ranges of addresses that many tapes at once find room for under a thread sanitizer. */
static const wg_options opt = {.flags = WG_KEEP_CODE, .reserve = 1 << 24};

static void *work(void *data) {
    struct job *const j = data;
    for (int round = 0; round < ROUNDS; round++) {
        wg_tape *t = j->tape != NULL ? j->tape : wg_tape_new(&opt);
        if (t == NULL) {
            j->wrong++;
            break;
        }
        round_of(j, t, round);
        if (t != j->tape) wg_tape_free(t);
    }
    return NULL;
}

static struct job serial[THREADS], parallel[THREADS];

static void run_threads(struct job *jobs, int n) {
    pthread_t thread[THREADS];
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, &jobs[i]), 0);
    for (int i = 0; i < n; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static void assert_same_jobs(const struct job *a, const struct job *b) {
    assert_int_equal(a->wrong, 0);
    assert_int_equal(b->wrong, 0);
    assert_memory_equal(a->gradient, b->gradient, sizeof a->gradient);
    assert_memory_equal(a->lanes, b->lanes, sizeof a->lanes);
    assert_memory_equal(a->hv, b->hv, sizeof a->hv);
}

static void prepare(struct job *jobs, uint64_t seed, int fails) {
    memset(jobs, 0, THREADS * sizeof *jobs);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].seed = seed + 100 * (uint64_t)i;
        jobs[i].fails = fails && i % 2 == 0;
    }
}

static void threads_with_their_own_tapes_give_the_bits_of_serial_runs(void **state) {
    (void)state;
    prepare(serial, 1, 0);
    prepare(parallel, 1, 0);
    for (int i = 0; i < THREADS; i++) (void)work(&serial[i]);
    run_threads(parallel, THREADS);
    for (int i = 0; i < THREADS; i++) assert_same_jobs(&serial[i], &parallel[i]);
}

static void a_failure_in_one_thread_disturbs_no_other(void **state) {
    (void)state;
    prepare(serial, 5, 0);
    prepare(parallel, 5, 1);
    for (int i = 0; i < THREADS; i++) (void)work(&serial[i]);
    run_threads(parallel, THREADS);
    for (int i = 0; i < THREADS; i++) assert_same_jobs(&serial[i], &parallel[i]);
}

/* A tape is used by one thread at a time, not always by the same one. */
static void a_tape_may_be_handed_from_thread_to_thread(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(&opt);
    prepare(serial, 9, 0);
    prepare(parallel, 9, 0);
    for (int i = 0; i < 4; i++) {
        (void)work(&serial[i]);
        parallel[i].tape = t;
        run_threads(&parallel[i], 1);
        assert_same_jobs(&serial[i], &parallel[i]);
    }
    wg_tape_free(t);
}

/* What a thread does to a tape that is another's. */
struct intruder {
    wg_tape *t;
    wg_real x;
    int what, owns;
    wg_status s;
};

static void *intrude(void *data) {
    struct intruder *const k = data;
    double y;
    const wg_mat a = {NULL, 0, 0, 1, {0, 0}, 0};
    if (k->owns) k->s = wg_tape_own(k->t);
    switch (k->what) {
    case 0:
        (void)wg_let(k->t, wg_sin(k->x));
        break;
    case 1:
        (void)wg_input(k->t, 1);
        break;
    case 2:
        k->s = wg_reverse(k->t, k->x);
        return NULL;
    case 3:
        wg_tape_reset(k->t);
        break;
    case 4:
        k->s = wg_tape_rewind(k->t, wg_tape_mark(k->t));
        return NULL;
    case 5:
        k->s = wg_eval(k->t, NULL, NULL, 0, NULL, 0, &y);
        return NULL;
    case 6:
        k->s = wg_adjoints_clear(k->t);
        return NULL;
    case 7:
        k->s = wg_sweep(k->t, wg_tape_mark(k->t), wg_tape_mark(k->t));
        return NULL;
    default:
        (void)wg_mat_exp(k->t, a);
        break;
    }
    k->s = wg_tape_status(k->t);
    return NULL;
}

static void a_checked_tape_knows_its_thread(void **state) {
    (void)state;
    static const char *const call[] = {
        "wg_let:",  "wg_input:",          "wg_reverse:", "wg_tape_reset:", "wg_tape_rewind:",
        "wg_eval:", "wg_adjoints_clear:", "wg_sweep:",   "wg_mat_exp:"};
    for (int what = 0; what < 9; what++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_CHECKED});
        wg_real x = wg_input(t, 0.5);
        assert_int_equal(wg_adjoints_clear(t), WG_OK); /* so that there are some to sweep */
        struct intruder k = {t, x, what, 0, WG_OK};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, intrude, &k), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(k.s, WG_ETHREAD);
        /* its owner learns of it, */
        assert_int_equal(wg_tape_status(t), WG_ETHREAD);
        assert_non_null(strstr(wg_tape_message(t), "wg_tape_own"));
        assert_ptr_equal(strstr(wg_tape_message(t), call[what]), wg_tape_message(t));
        assert_true(isnan(wg_value(wg_let(t, wg_sin(x)))));
        assert_int_equal(wg_reverse(t, x), WG_ETHREAD);
        /* and makes it whole again */
        wg_tape_reset(t);
        x = wg_input(t, 3);
        wg_real y = wg_let(t, wg_mul(x, x));
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_true(wg_adjoint(t, x) == 6);
        wg_tape_free(t);
    }
}

static void a_checked_tape_is_handed_over_by_a_call(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_CHECKED});
    const wg_real x = wg_input(t, 0.5);
    struct intruder k = {t, x, 0, 1, WG_EMODE};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, intrude, &k), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(k.s, WG_OK);
    (void)wg_let(t, wg_sin(x)); /* it is not ours any more */
    assert_int_equal(wg_tape_status(t), WG_ETHREAD);
    assert_int_equal(wg_tape_own(t), WG_OK);
    wg_tape_reset(t);
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(wg_tape_own(NULL), WG_ENULL);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_with_their_own_tapes_give_the_bits_of_serial_runs),
        cmocka_unit_test(a_failure_in_one_thread_disturbs_no_other),
        cmocka_unit_test(a_tape_may_be_handed_from_thread_to_thread),
        cmocka_unit_test(a_checked_tape_knows_its_thread),
        cmocka_unit_test(a_checked_tape_is_handed_over_by_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

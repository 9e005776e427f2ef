/* SPDX-License-Identifier: MIT */
/* Pools of threads: tasks by themselves, and evaluations that are made with pools in all ways
 * in which two can meet. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wengert.h>

#include <cmocka.h>

#include "counted.h"
#include "pools.h"

#define assert_ok(s) assert_int_equal(s, WG_OK)

static void rest(long nanoseconds) {
    const struct timespec t = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    (void)nanosleep(&t, NULL);
}
/* Longer than a pool looks for work before it sleeps. */
enum { LONG_REST = 3000000 };

/* ---- tasks ---- */

enum { TASKS = 1000 };

struct tally {
    atomic_int done[TASKS];
    size_t count; /* of tasks, as the test has it */
    atomic_size_t begun;
    wg_threads *pool;
};

static wg_status count_task(void *ctx, size_t k) {
    struct tally *const t = ctx;
    (void)atomic_fetch_add(&t->done[k], 1);
    return WG_OK;
}

static void assert_done(struct tally *t, size_t tasks, int times) {
    for (size_t k = 0; k < TASKS; k++) {
        assert_int_equal(atomic_load(&t->done[k]), k < tasks ? times : 0);
        atomic_store(&t->done[k], 0);
    }
}

static void every_task_is_done_once(void **state) {
    (void)state;
    static struct tally t;
    static const size_t tasks[] = {0, 1, 2, 3, 7, 64, TASKS};
    for (size_t count = 0; count < POOLS; count++)
        for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
            for (int again = 0; again < 20; again++) {
                if (again % 8 == 7) rest(LONG_REST / 8); /* some sleep, some do not */
                assert_ok(wg_threads_run(pool_of(count), tasks[i], count_task, &t));
                assert_done(&t, tasks[i], 1);
            }
    assert_int_equal(wg_threads_count(pool_of(0)), 1);
    assert_int_equal(wg_threads_count(pool_of(5)), 5);
}

/* Comes back when all tasks have begun: each then has a thread of its own. */
static wg_status meet(void *ctx, size_t k) {
    struct tally *const t = ctx;
    (void)k;
    (void)atomic_fetch_add(&t->begun, 1);
    while (atomic_load(&t->begun) < t->count) rest(1000);
    return WG_OK;
}

static void all_threads_of_a_pool_work_at_once(void **state) {
    (void)state;
    for (int again = 0; again < 40; again++)
        for (size_t count = 2; count <= 4; count++) {
            static struct tally t;
            t.count = count;
            atomic_store(&t.begun, 0);
            if (again % 4 == 3) rest(LONG_REST);
            assert_ok(wg_threads_run(pool_of(count), count, meet, &t));
        }
}

/* The lowest one that fails is FIRST; those above fail in another way. */
enum { FIRST = 41 };
static wg_status fail_from_first(void *ctx, size_t k) {
    struct tally *const t = ctx;
    (void)atomic_fetch_add(&t->done[k], 1);
    /* both under way, if there is a thread for that; either is the first to say so */
    for (int i = 0; i < 20 && k == FIRST && !atomic_load(&t->done[k + 1]); i++) rest(10000);
    if (k == FIRST + t->count) rest(200000);
    return k < FIRST ? WG_OK : k == FIRST ? WG_ESINGULAR : WG_ECALLBACK;
}

static void the_first_failure_counts_and_is_the_end(void **state) {
    (void)state;
    for (size_t count = 0; count < 5; count++)
        for (int again = 0; again < 50; again++) {
            static struct tally t;
            t.count = (size_t)again % 2;
            assert_int_equal(wg_threads_run(pool_of(count), TASKS, fail_from_first, &t),
                             WG_ESINGULAR);
            size_t begun = 0;
            for (size_t k = 0; k < TASKS; k++) {
                const int times = atomic_exchange(&t.done[k], 0);
                assert_true(times == (k <= FIRST) || (times <= 1 && k > FIRST));
                begun += (size_t)times;
            }
            assert_true(begun < TASKS);
            if (count < 2) assert_int_equal(begun, FIRST + 1);
            /* forgotten the next time */
            assert_ok(wg_threads_run(pool_of(count), TASKS, count_task, &t));
            assert_done(&t, TASKS, 1);
        }
}

/* ---- a pool that is at work ---- */

struct inner {
    struct tally *t;
    pthread_t thread;
    size_t next;
};
static wg_status in_order(void *ctx, size_t k) {
    struct inner *const i = ctx;
    if (!pthread_equal(i->thread, pthread_self()) || i->next++ != k) return WG_EARG;
    return count_task(i->t, k);
}
static wg_status call_again(void *ctx, size_t k) {
    struct tally *const t = ctx;
    struct inner i = {t, pthread_self(), 0};
    (void)k;
    return wg_threads_run(t->pool, TASKS, in_order, &i);
}

static void a_call_inside_a_call_stays_in_its_thread(void **state) {
    (void)state;
    for (size_t count = 2; count < 5; count++) {
        static struct tally t;
        t.pool = pool_of(count);
        assert_ok(wg_threads_run(t.pool, 2 * count, call_again, &t));
        assert_done(&t, TASKS, 2 * (int)count);
    }
}

enum { ROUNDS = 300 };
static void *use_the_pool(void *data) {
    struct tally *const t = data;
    for (int i = 0; i < ROUNDS; i++)
        if (wg_threads_run(t->pool, t->count, count_task, t) != WG_OK) return NULL;
    return t;
}

static void two_threads_may_use_a_pool_at_once(void **state) {
    (void)state;
    static struct tally mine, others;
    mine.pool = others.pool = pool_of(3);
    mine.count = 50, others.count = 70;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, use_the_pool, &others), 0);
    assert_non_null(use_the_pool(&mine));
    void *said;
    assert_int_equal(pthread_join(other, &said), 0);
    assert_non_null(said);
    assert_done(&mine, mine.count, ROUNDS);
    assert_done(&others, others.count, ROUNDS);
}

/* ---- making and freeing ---- */

struct starter {
    size_t fail_at, made, living;
    pthread_t thread[POOLS];
};
static int start(void *ctx, size_t k, void *(*run)(void *), void *arg) {
    struct starter *const s = ctx;
    if (k != s->made + 1 || k == s->fail_at) return 1;
    if (pthread_create(&s->thread[k], NULL, run, arg) != 0) return 1;
    s->made++;
    s->living++;
    return 0;
}
static void join(void *ctx, size_t k) {
    struct starter *const s = ctx;
    if (pthread_join(s->thread[k], NULL) == 0) s->living--;
}

static void threads_that_cannot_be_made_leave_nothing(void **state) {
    (void)state;
    for (size_t fail_at = 1; fail_at <= 5; fail_at++) {
        struct starter s = {.fail_at = fail_at};
        struct counted m = counted_start();
        const wg_threads_options o = {.memory = counted_memory(&m),
                                      .calls = {.start = start, .join = join, .ctx = &s}};
        wg_threads *pool = (wg_threads *)&s;
        const wg_status status = wg_threads_new(5, &o, &pool);
        if (fail_at < 5) {
            assert_int_equal(status, WG_ENOMEM);
            assert_null(pool);
            assert_int_equal(s.made, fail_at - 1);
        } else {
            static struct tally t;
            assert_ok(status);
            assert_int_equal(s.living, 4);
            assert_ok(wg_threads_run(pool, TASKS, count_task, &t));
            assert_done(&t, TASKS, 1);
            wg_threads_free(pool);
        }
        assert_true(s.living == 0 && m.ranges == 0 && m.wrong == 0);
    }
}

static void memory_that_is_refused_leaves_nothing(void **state) {
    (void)state;
    for (size_t fail_at = 0; fail_at < 3; fail_at++) {
        struct counted m = counted_start();
        m.fail_at = fail_at;
        const wg_threads_options o = {.memory = counted_memory(&m)};
        wg_threads *pool = NULL;
        assert_int_equal(wg_threads_new(3, &o, &pool), fail_at < 2 ? WG_ENOMEM : WG_OK);
        wg_threads_free(pool);
        assert_true(m.asked == (fail_at < 2 ? fail_at + 1 : 2));
        assert_true(m.ranges == 0 && m.wrong == 0);
    }
}

static void a_number_of_threads_that_makes_no_sense_is_refused(void **state) {
    (void)state;
    wg_threads *pool = NULL;
    assert_int_equal(wg_threads_new(0, NULL, &pool), WG_EARG);
    assert_int_equal(wg_threads_new(65537, NULL, &pool), WG_EARG);
    assert_int_equal(wg_threads_new(SIZE_MAX, NULL, &pool), WG_EARG);
    assert_null(pool);
}

static void pools_come_and_go(void **state) {
    (void)state;
    static struct tally t;
    for (int i = 0; i < 200; i++) {
        wg_threads *pool = NULL;
        assert_ok(wg_threads_new(1 + (size_t)i % 4, NULL, &pool));
        if (i % 3 != 0) {
            assert_ok(wg_threads_run(pool, 10, count_task, &t));
            assert_done(&t, 10, 1);
        }
        if (i % 50 == 49) rest(LONG_REST);
        wg_threads_free(pool);
    }
}

static double processor_time(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void an_idle_pool_costs_no_time(void **state) {
    (void)state;
    static struct tally t;
    for (size_t count = 2; count < POOLS; count += 6) { /* with and without a processor each */
        assert_ok(wg_threads_run(pool_of(count), TASKS, count_task, &t));
        assert_done(&t, TASKS, 1);
    }
    const double before = processor_time();
    rest(300000000);
    /* the threads that looked on for a while, not those that never stop */
    assert_true(processor_time() - before < 0.02);
}

/* ---- evaluations ---- */

/* Sums, results of each point, a comparison, and blocks of a few thousand points at most. */
enum { POINTS = 20000, LATE = 17000 };
static double xs[POINTS];

static wg_status kernel(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    (void)wg_lt(t, x[1], wg_constant(3));
    y[0] = wg_let(t, wg_mul(wg_sin(wg_mul(x[0], x[1])), wg_exp(wg_neg(x[1]))));
    y[1] = y[0];
    return WG_OK;
}

static wg_function *a_function(wg_tape *t) {
    const wg_argument in[] = {{"a", 1, 1, WG_SHARED}, {"x", 1, 1, 0}},
                      out[] = {{"y", 1, 1, 0}, {"sum", 1, 1, WG_SUMMED}};
    wg_function *f = NULL;
    const double x[] = {0.75, 0.5};
    if (wg_function_record(t, kernel, NULL, 2, in, x, 2, out, &f) != WG_OK)
        fail_msg("%s", wg_tape_message(t));
    for (size_t p = 0; p < POINTS; p++) xs[p] = (double)(p * 7919 % 20011) / 10000;
    return f;
}

typedef struct evaluation {
    const wg_function *f;
    wg_threads *pool;
    size_t points;
    double a, y[POINTS], sum;
    wg_status status; /* of `times` evaluations, the same each time */
    wg_function_guard guard;
    int times, wrong;
} evaluation;

static wg_status evaluate(evaluation *e) {
    const wg_points x[] = {{&e->a, 0, 1}, {xs, 1, 1}};
    const wg_results y[] = {{e->y, 1, 1}, {&e->sum, 0, 1}};
    const size_t bytes = wg_function_work(e->f, e->pool);
    void *const work = malloc(bytes);
    if (work == NULL) return WG_ENOMEM;
    memset(work, 0x7f, bytes);
    const wg_status s = wg_function_evaluate(e->f, e->points, x, y, e->pool, work, &e->guard);
    free(work);
    return s;
}

static void compare(const evaluation *a, const evaluation *b) {
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->guard.point, b->guard.point);
    assert_memory_equal(a->y, b->y, a->points * sizeof *a->y);
    assert_memory_equal(&a->sum, &b->sum, sizeof a->sum);
}

static void *evaluate_often(void *data) {
    evaluation *const e = data;
    double y = 0, sum = 0;
    e->status = evaluate(e);
    y = e->y[e->points - 1], sum = e->sum;
    for (int i = 1; i < e->times; i++) {
        memset(e->y, 0, sizeof e->y);
        if (evaluate(e) != e->status) e->wrong = 1;
        if (memcmp(&y, &e->y[e->points - 1], sizeof y) || memcmp(&sum, &e->sum, sizeof sum))
            e->wrong = 1;
    }
    return NULL;
}

static evaluation reference, first, second;

static void set(evaluation *e, const wg_function *f, wg_threads *pool, size_t points, double a,
                int times) {
    memset(e, 0, sizeof *e);
    *e = (evaluation){.f = f, .pool = pool, .points = points, .a = a, .times = times};
    e->guard.point = 99;
}

static void many_evaluations_have_the_bits_of_one_thread(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *const f = a_function(t);
    static const size_t points[] = {1, 100, 4096, 4097, 9000, POINTS};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        set(&reference, f, NULL, points[i], 0.5, 1);
        (void)evaluate_often(&reference);
        assert_ok(reference.status);
        for (size_t count = 1; count<POOLS; count += count> 4 ? 2 : 1) {
            set(&first, f, pool_of(count), points[i], 0.5, 40);
            (void)evaluate_often(&first);
            assert_int_equal(first.wrong, 0);
            compare(&first, &reference);
        }
    }
    /* the first comparison that fails, of two blocks */
    xs[LATE] = 4, xs[LATE - 9000] = 5;
    set(&reference, f, NULL, POINTS, 0.5, 1);
    set(&first, f, pool_of(4), POINTS, 0.5, 20);
    (void)evaluate_often(&reference);
    (void)evaluate_often(&first);
    assert_true(reference.status == WG_EGUARD && reference.guard.point == LATE - 9000);
    compare(&first, &reference);
    wg_function_free(f);
    wg_tape_free(t);
}

static void two_at_once(const wg_function *f, wg_threads *one, wg_threads *other) {
    pthread_t thread;
    set(&first, f, one, POINTS, 0.5, 60);
    set(&second, f, other, POINTS, 0.75, 60);
    assert_int_equal(pthread_create(&thread, NULL, evaluate_often, &second), 0);
    (void)evaluate_often(&first);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(first.wrong == 0 && second.wrong == 0);
    set(&reference, f, NULL, POINTS, 0.5, 1);
    (void)evaluate_often(&reference);
    compare(&first, &reference);
    set(&reference, f, NULL, POINTS, 0.75, 1);
    (void)evaluate_often(&reference);
    compare(&second, &reference);
}

static void two_threads_evaluate_with_pools_of_their_own_and_with_one(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *const f = a_function(t);
    two_at_once(f, pool_of(2), pool_of(3));
    two_at_once(f, pool_of(3), pool_of(3));
    wg_function_free(f);
    wg_tape_free(t);
}

/* Tasks of a pool that evaluate with it. */
static evaluation inside[4];
static wg_status evaluate_inside(void *ctx, size_t k) {
    (void)ctx;
    inside[k].status = evaluate(&inside[k]);
    return inside[k].status;
}

static void tasks_may_evaluate_with_the_pool_they_are_of(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *const f = a_function(t);
    set(&reference, f, NULL, POINTS, 0.5, 1);
    (void)evaluate_often(&reference);
    for (size_t k = 0; k < 4; k++) set(&inside[k], f, pool_of(2), POINTS, 0.5, 1);
    assert_ok(wg_threads_run(pool_of(2), 4, evaluate_inside, NULL));
    for (size_t k = 0; k < 4; k++) compare(&inside[k], &reference);
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- recordings ---- */

/* Two threads, each with a tape, and one callable and one pool. */
struct recording {
    const wg_callable *k;
    wg_threads *pool;
    double a, gradient[2], value;
    int wrong;
};

static wg_status mapped(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const struct recording *const r = data;
    wg_mat out[2];
    (void)n, (void)m;
    const wg_source s[] = {wg_from_matrix(wg_mat_gather(t, 1, 1, x)), wg_from_data(xs, 1, 1)};
    const wg_status status = wg_map(t, r->k, LATE, s, r->pool, out);
    if (status != WG_OK) return status;
    y[0] = wg_let(t, wg_mul(wg_mat_at(out[1], 0, 0), x[1]));
    return WG_OK;
}

static void *differentiate(void *data) {
    struct recording *const r = data;
    wg_tape *const t = wg_tape_new(NULL);
    for (int i = 0; i < 30 && !r->wrong; i++) {
        const double x[] = {r->a, 2};
        double g[2], y;
        if (t == NULL || wg_gradient(t, mapped, r, 2, x, &y, g) != WG_OK) r->wrong = 1;
        else if (i != 0 &&
                 (memcmp(g, r->gradient, sizeof g) || memcmp(&y, &r->value, sizeof y)))
            r->wrong = 1;
        else memcpy(r->gradient, g, sizeof g), r->value = y;
    }
    wg_tape_free(t);
    return NULL;
}

static void two_recordings_share_a_callable_and_a_pool(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *const f = a_function(t);
    wg_callable *k = NULL;
    assert_ok(wg_callable_new(t, f, &k));
    struct recording alone[2] = {{.k = k, .a = 0.5}, {.k = k, .a = -0.25}}, both[2];
    for (int i = 0; i < 2; i++) {
        (void)differentiate(&alone[i]);
        both[i] = (struct recording){.k = k, .pool = pool_of(2), .a = alone[i].a};
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, differentiate, &both[1]), 0);
    (void)differentiate(&both[0]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_true(!alone[i].wrong && !both[i].wrong && alone[i].gradient[0] != 0);
        assert_memory_equal(alone[i].gradient, both[i].gradient, sizeof both[i].gradient);
        assert_memory_equal(&alone[i].value, &both[i].value, sizeof both[i].value);
    }
    wg_callable_free(k);
    wg_function_free(f);
    wg_tape_free(t);
}

/* A child of fork has none of the threads: it says by its status how far it came. */
static int in_a_child(wg_threads *pool, struct tally *t) {
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(20);
        if (wg_threads_run(pool, TASKS, count_task, t) != WG_OK) _exit(1);
        for (size_t k = 0; k < TASKS; k++)
            if (atomic_load(&t->done[k]) != 1) _exit(2);
        wg_threads_free(pool);
        _exit(0);
    }
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

struct fork_inside {
    struct tally t;
    atomic_int others, status;
};

/* Forks while another thread is inside the job. */
static wg_status fork_in_a_task(void *ctx, size_t k) {
    struct fork_inside *const f = ctx;
    if (k != 0) {
        (void)atomic_fetch_add(&f->others, 1);
        while (atomic_load(&f->status) < 0) rest(100000);
        return WG_OK;
    }
    while (atomic_load(&f->others) == 0) rest(100000);
    atomic_store(&f->status, in_a_child(f->t.pool, &f->t));
    return WG_OK;
}

static void a_child_of_fork_works_alone_and_frees_the_pool(void **state) {
    (void)state;
    static struct tally t;
    static struct fork_inside f;
    wg_threads *pool = NULL;
    assert_ok(wg_threads_new(3, NULL, &pool));
    assert_int_equal(in_a_child(pool, &t), 0);
    rest(LONG_REST); /* asleep, holding what sleepers hold */
    assert_int_equal(in_a_child(pool, &t), 0);
    f.t.pool = pool;
    atomic_store(&f.status, -1);
    assert_ok(wg_threads_run(pool, 2, fork_in_a_task, &f));
    assert_int_equal(atomic_load(&f.status), 0);
    /* nothing of it is lost to the parent */
    t.pool = pool;
    assert_ok(wg_threads_run(pool, TASKS, count_task, &t));
    assert_done(&t, TASKS, 1);
    wg_threads_free(pool);
}

/* ---- threads of somebody else ---- */

/* Calls the work in so many threads of its own, or in none, or in the caller's. */
struct team {
    size_t threads, calls;
    void (*work)(void *, size_t);
    void *arg;
};
struct mate {
    struct team *team;
    size_t k;
};

static void *mate_works(void *data) {
    const struct mate *const m = data;
    m->team->work(m->team->arg, m->k);
    return NULL;
}

static void team_works(void *ctx, size_t count, void (*work)(void *, size_t), void *arg) {
    struct team *const t = ctx;
    pthread_t thread[POOLS];
    struct mate mate[POOLS];
    t->work = work;
    t->arg = arg;
    t->calls++;
    assert_true(count < POOLS);
    const size_t n = t->threads < count ? t->threads : count;
    for (size_t k = 0; k < n; k++) {
        mate[k] = (struct mate){t, k};
        assert_int_equal(pthread_create(&thread[k], NULL, mate_works, &mate[k]), 0);
    }
    for (size_t k = 0; k < n; k++) (void)pthread_join(thread[k], NULL);
}

static wg_status call_inside(void *ctx, size_t k) {
    struct tally *const t = ctx;
    (void)atomic_fetch_add(&t->done[k], 1);
    return wg_threads_run(t->pool, 0, count_task, t);
}

static void a_team_of_somebody_else_does_every_task_once(void **state) {
    (void)state;
    static struct tally t;
    for (size_t threads = 0; threads < 4; threads++) {
        struct team team = {.threads = threads};
        const wg_threads_options o = {.calls = {.team = team_works, .ctx = &team}};
        wg_threads *pool;
        assert_ok(wg_threads_new(4, &o, &pool));
        assert_int_equal(wg_threads_count(pool), 4);
        t.pool = pool;
        for (size_t tasks = 2; tasks <= TASKS; tasks = tasks * 3 + 1) {
            const size_t calls = team.calls;
            assert_ok(wg_threads_run(pool, tasks, call_inside, &t));
            assert_int_equal(team.calls, calls + 1); /* not by the calls inside */
            assert_done(&t, tasks, 1);
        }
        t.count = 0;
        assert_int_equal(wg_threads_run(pool, TASKS, fail_from_first, &t), WG_ESINGULAR);
        for (size_t k = 0; k < TASKS; k++) atomic_store(&t.done[k], 0);
        wg_threads_free(pool);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_done_once),
        cmocka_unit_test(all_threads_of_a_pool_work_at_once),
        cmocka_unit_test(the_first_failure_counts_and_is_the_end),
        cmocka_unit_test(a_call_inside_a_call_stays_in_its_thread),
        cmocka_unit_test(two_threads_may_use_a_pool_at_once),
        cmocka_unit_test(threads_that_cannot_be_made_leave_nothing),
        cmocka_unit_test(memory_that_is_refused_leaves_nothing),
        cmocka_unit_test(a_number_of_threads_that_makes_no_sense_is_refused),
        cmocka_unit_test(pools_come_and_go),
        cmocka_unit_test(an_idle_pool_costs_no_time),
        cmocka_unit_test(a_child_of_fork_works_alone_and_frees_the_pool),
        cmocka_unit_test(many_evaluations_have_the_bits_of_one_thread),
        cmocka_unit_test(two_threads_evaluate_with_pools_of_their_own_and_with_one),
        cmocka_unit_test(tasks_may_evaluate_with_the_pool_they_are_of),
        cmocka_unit_test(two_recordings_share_a_callable_and_a_pool),
        cmocka_unit_test(a_team_of_somebody_else_does_every_task_once),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}

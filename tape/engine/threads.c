/* SPDX-License-Identifier: MIT */
/* A pool of threads. The caller of a job works on its tasks, too, and the threads join when
 * they can: once all tasks are taken the caller does not wait for threads that have not begun.
 *
 * They enter by a gate, which is one word: the number of the job, how many threads are inside,
 * and whether it is open. What describes a job is written while the gate is closed and nobody
 * inside. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "tape.h"

#include <wengert/threads.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, MOST = 1 << 16 };
/* How often, and for how long, threads look for work before they sleep, if each of them has a
 * processor. */
enum { LOOKS = 64, NANOSECONDS = 100000 };

/* The gate. */
#define OPEN ((uint64_t)1)
#define INSIDE ((uint64_t)2)
#define JOB ((uint64_t)1 << 32)
static int is_open(uint64_t gate) { return (gate & OPEN) != 0; }
static uint64_t inside(uint64_t gate) { return gate % JOB / INSIDE; }
static uint64_t job_of(uint64_t gate) { return gate / JOB; }

typedef struct worker {
    wg_threads *pool;
    pthread_t thread;
} worker;

/* Of a job by shares: what is left of one, which begins with the thread of its number. */
typedef struct share {
    _Alignas(LINE) atomic_size_t next;
    size_t end;
} share;

struct wg_threads {
    wg_memory memory;
    wg_thread_calls calls;
    size_t bytes, count, made;
    pid_t process; /* the one that has the threads: a child of it has the memory only */
    int looks;
    worker *worker; /* worker[k - 1] is thread k */
    share *share;   /* one for each thread */
    /* the job: */
    wg_task *task;
    void *ctx;
    size_t tasks;
    int near;         /* by shares? */
    wg_status status; /* that of task `failed`; both under the lock */
    size_t failed;
    /* for threads that sleep: */
    pthread_mutex_t lock;
    pthread_cond_t begun, ended;
    atomic_size_t sleepers;
    atomic_int caller_sleeps, at_work, over;
    _Alignas(LINE) atomic_uint_fast64_t gate;
    _Alignas(LINE) atomic_size_t next;
};

/* ---- waiting ---- */

static uint64_t now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void pause_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

typedef int condition(wg_threads *p, uint64_t last);

/* Waits a while for a condition; 0: it has not come true. */
static int soon(wg_threads *p, condition *holds, uint64_t last) {
    if (!p->looks) return holds(p, last);
    const uint64_t begin = now();
    do
        for (int i = 0; i < LOOKS; i++, pause_a_little())
            if (holds(p, last)) return 1;
    while (now() - begin < NANOSECONDS);
    return 0;
}

/* Is there a job, or an end, to attend to? Whoever is going to sleep says so, and asks again
 * under the lock; whoever brings the job looks for sleepers afterwards. */
static int called(wg_threads *p, uint64_t last) {
    const uint64_t gate = atomic_load(&p->gate);
    return (is_open(gate) && job_of(gate) != last) || atomic_load(&p->over);
}

static int alone(wg_threads *p, uint64_t last) {
    (void)last;
    return inside(atomic_load(&p->gate)) == 0;
}

static void wait_for_a_call(wg_threads *p, uint64_t last) {
    if (soon(p, called, last)) return;
    (void)pthread_mutex_lock(&p->lock);
    (void)atomic_fetch_add(&p->sleepers, 1);
    while (!called(p, last)) (void)pthread_cond_wait(&p->begun, &p->lock);
    (void)atomic_fetch_sub(&p->sleepers, 1);
    (void)pthread_mutex_unlock(&p->lock);
}

static void wait_for_the_others(wg_threads *p) {
    if (soon(p, alone, 0)) return;
    (void)pthread_mutex_lock(&p->lock);
    atomic_store(&p->caller_sleeps, 1);
    while (!alone(p, 0)) (void)pthread_cond_wait(&p->ended, &p->lock);
    atomic_store(&p->caller_sleeps, 0);
    (void)pthread_mutex_unlock(&p->lock);
}

/* ---- tasks ---- */

static void note_failure(wg_threads *p, size_t k, wg_status s) {
    (void)pthread_mutex_lock(&p->lock);
    if (p->status == WG_OK || k < p->failed) {
        p->status = s;
        p->failed = k;
    }
    (void)pthread_mutex_unlock(&p->lock);
    atomic_store(&p->next, p->tasks);
    for (size_t i = 0; p->near && i < p->count; i++)
        atomic_store(&p->share[i].next, p->share[i].end);
}

static void do_task(wg_threads *p, size_t k) {
    const wg_status s = p->task(p->ctx, k);
    if (s != WG_OK) note_failure(p, k, s);
}

/* Thread `me` takes tasks until none is left. */
static void take_tasks(wg_threads *p, size_t me) {
    for (size_t k; !p->near && (k = atomic_fetch_add(&p->next, 1)) < p->tasks;) do_task(p, k);
    for (size_t i = 0; p->near && i < p->count; i++) {
        share *const from = &p->share[(me + i) % p->count];
        for (size_t k; (k = atomic_fetch_add(&from->next, 1)) < from->end;) do_task(p, k);
    }
}

/* Enters the gate, once for each job at most; 0: it is closed. */
static int enter(wg_threads *p, uint64_t *last) {
    uint64_t gate = atomic_load(&p->gate);
    do
        if (!is_open(gate) || job_of(gate) == *last) return 0;
    while (!atomic_compare_exchange_weak(&p->gate, &gate, gate + INSIDE));
    *last = job_of(gate);
    return 1;
}

static void leave(wg_threads *p) {
    const uint64_t gate = atomic_fetch_sub(&p->gate, INSIDE);
    if (inside(gate) != 1 || is_open(gate) || !atomic_load(&p->caller_sleeps)) return;
    (void)pthread_mutex_lock(&p->lock);
    (void)pthread_cond_signal(&p->ended);
    (void)pthread_mutex_unlock(&p->lock);
}

static void *work(void *data) {
    worker *const me = data;
    wg_threads *const p = me->pool;
    for (uint64_t last = 0; !atomic_load(&p->over);) {
        wait_for_a_call(p, last);
        if (!enter(p, &last)) continue;
        take_tasks(p, (size_t)(me - p->worker) + 1);
        leave(p);
    }
    return NULL;
}

/* Not in a child of the process that made them, where the locks may also be held by a thread
 * that is not there. */
static int has_threads(const wg_threads *p) { return p->process == getpid(); }

static wg_status by_the_caller(size_t tasks, wg_task *f, void *ctx) {
    wg_status s = WG_OK;
    for (size_t k = 0; k < tasks && s == WG_OK; k++) s = f(ctx, k);
    return s;
}

static void open_gate(wg_threads *p) {
    const uint64_t gate = atomic_load(&p->gate);
    /* number 0 stands for no job */
    const uint64_t job = job_of(gate) + 1 == JOB ? 1 : job_of(gate) + 1;
    atomic_store(&p->gate, job * JOB + OPEN);
    if (atomic_load(&p->sleepers) == 0) return;
    (void)pthread_mutex_lock(&p->lock);
    const size_t sleepers = atomic_load(&p->sleepers);
    for (size_t k = 1; k < p->tasks && k <= sleepers; k++) (void)pthread_cond_signal(&p->begun);
    (void)pthread_mutex_unlock(&p->lock);
}

/* What each of somebody else's threads does. */
static void take_tasks_of(void *data, size_t k) { take_tasks(data, k); }

/* The first task of a share, which is the end of the one before. */
static size_t first_of(const wg_threads *p, size_t i) {
    const size_t more = p->tasks % p->count;
    return p->tasks / p->count * i + (i < more ? i : more);
}

static wg_status work_on(wg_threads *p, size_t tasks, wg_task *f, void *ctx, int near) {
    if (f == NULL) return WG_ENULL;
    if (p == NULL || p->count == 1 || tasks < 2) return by_the_caller(tasks, f, ctx);
    if (!has_threads(p) || atomic_exchange(&p->at_work, 1)) return by_the_caller(tasks, f, ctx);
    p->task = f;
    p->ctx = ctx;
    p->tasks = tasks;
    p->near = near;
    p->status = WG_OK;
    atomic_store(&p->next, 0);
    for (size_t i = 0; near && i < p->count; i++) {
        p->share[i].end = first_of(p, i + 1);
        atomic_store(&p->share[i].next, first_of(p, i));
    }
    if (p->calls.team != NULL) {
        p->calls.team(p->calls.ctx, tasks < p->count ? tasks : p->count, take_tasks_of, p);
        take_tasks(p, 0); /* what it has left, if it had no thread */
    } else {
        open_gate(p);
        take_tasks(p, 0);
        (void)atomic_fetch_and(&p->gate, ~OPEN);
        wait_for_the_others(p);
    }
    const wg_status s = p->status;
    atomic_store(&p->at_work, 0);
    return s;
}

wg_status wg_threads_run(wg_threads *p, size_t tasks, wg_task *f, void *ctx) {
    return work_on(p, tasks, f, ctx, 0);
}

wg_status wgi_threads_run_near(wg_threads *p, size_t tasks, wg_task *f, void *ctx) {
    return work_on(p, tasks, f, ctx, 1);
}

size_t wg_threads_count(const wg_threads *p) { return p == NULL ? 1 : p->count; }

/* ---- a pool ---- */

static int system_start(void *ctx, size_t k, void *(*run)(void *), void *arg) {
    const wg_threads *const p = ctx;
    return pthread_create(&p->worker[k - 1].thread, NULL, run, arg);
}

static void system_join(void *ctx, size_t k) {
    const wg_threads *const p = ctx;
    (void)pthread_join(p->worker[k - 1].thread, NULL);
}

static wg_threads *obtain(size_t count, const wg_memory *memory) {
    const size_t shares = sizeof(wg_threads) + count * sizeof(share);
    size_t bytes = shares + (count - 1) * sizeof(worker);
    wg_threads *const p = wgi_memory_obtain(memory, NULL, &bytes);
    if (p == NULL) return NULL;
    memset(p, 0, sizeof *p);
    p->memory = *memory;
    p->bytes = bytes;
    p->count = count;
    p->process = getpid();
    p->looks = (long)count <= sysconf(_SC_NPROCESSORS_ONLN);
    p->share = (share *)(void *)(p + 1);
    p->worker = (worker *)(void *)((char *)p + shares);
    return p;
}

static void give_back(wg_threads *p) {
    const wg_memory memory = p->memory;
    memory.release(memory.ctx, p, p->bytes);
}

/* Gives 0; or nonzero, and then nothing is left of the locks. */
static int open_locks(wg_threads *p) {
    if (pthread_mutex_init(&p->lock, NULL) != 0) return 1;
    if (pthread_cond_init(&p->begun, NULL) == 0) {
        if (pthread_cond_init(&p->ended, NULL) == 0) return 0;
        (void)pthread_cond_destroy(&p->begun);
    }
    (void)pthread_mutex_destroy(&p->lock);
    return 1;
}

wg_status wg_threads_new(size_t count, const wg_threads_options *o, wg_threads **out) {
    if (out == NULL) return WG_ENULL;
    *out = NULL;
    if (count == 0 || count > MOST) return WG_EARG;
    const wg_memory memory = wgi_memory_of(o == NULL ? NULL : &o->memory);
    wg_threads *const p = obtain(count, &memory);
    if (p == NULL) return WG_ENOMEM;
    if (open_locks(p) != 0) {
        give_back(p);
        return WG_ENOMEM;
    }
    p->calls = o != NULL && (o->calls.team != NULL ||
                             (o->calls.start != NULL && o->calls.join != NULL))
                   ? o->calls
                   : (wg_thread_calls){system_start, system_join, p, NULL};
    for (size_t k = 1; k < count && p->calls.team == NULL; k++, p->made++) {
        p->worker[k - 1].pool = p;
        if (p->calls.start(p->calls.ctx, k, work, &p->worker[k - 1]) == 0) continue;
        wg_threads_free(p);
        return WG_ENOMEM;
    }
    *out = p;
    return WG_OK;
}

void wg_threads_free(wg_threads *p) {
    if (p == NULL) return;
    if (!has_threads(p)) { /* nobody to wait for, and no lock that could be looked at */
        give_back(p);
        return;
    }
    atomic_store(&p->over, 1);
    (void)pthread_mutex_lock(&p->lock);
    (void)pthread_cond_broadcast(&p->begun);
    (void)pthread_mutex_unlock(&p->lock);
    for (size_t k = 1; k <= p->made; k++) p->calls.join(p->calls.ctx, k);
    (void)pthread_cond_destroy(&p->ended);
    (void)pthread_cond_destroy(&p->begun);
    (void)pthread_mutex_destroy(&p->lock);
    give_back(p);
}

/* SPDX-License-Identifier: MIT */
/* Threads that stay: made once, used by many calls, one after the other.
 *
 * To make a thread takes longer than many an evaluation, to wake one does not. The threads of a
 * pool wait for the next call, at first looking again and again, then asleep.
 *
 * A pool works for one call at a time. A call that finds it at work - of another thread, or one
 * that is made inside the first - does not wait: it does everything in the thread it came from.
 * No bit of any result of the library depends on the number of threads.
 *
 * A child of fork has the memory of a pool, and none of its threads: there the pool works with
 * the caller's thread only, and may be freed. */
#ifndef WENGERT_THREADS_H
#define WENGERT_THREADS_H

#include <wengert/types.h>

WG_BEGIN_DECLS

/* NULL, wherever one is asked for: the caller's thread only. */
typedef struct wg_threads wg_threads;

/* How threads are had. `start` makes the k-th, k = 1, 2, ...: it calls run(arg) and ends; gives
 * 0, or nonzero: there is none. `join` waits for its end. Both or none: with a NULL among them,
 * pthread_create and pthread_join are used.
 * team:    threads that somebody else has, as those of OpenMP (openmp.h): calls work(arg, k), k
 *          below `count`, in up to so many threads at once, each with a number that is best the
 *          same every time, and comes back when all have come back. It is called for every job;
 *          start and join are not looked at, and no thread is made. */
typedef struct wg_thread_calls {
    int (*start)(void *ctx, size_t k, void *(*run)(void *), void *arg);
    void (*join)(void *ctx, size_t k);
    void *ctx;
    void (*team)(void *ctx, size_t count, void (*work)(void *arg, size_t k), void *arg);
} wg_thread_calls;

typedef struct wg_threads_options {
    wg_memory memory;      /* zeros: the defaults */
    wg_thread_calls calls; /* zeros: the defaults */
} wg_threads_options;

/* wg_threads_new - a pool of `count` threads, the caller's among them: one less is made. o may
 * be NULL.
 * Cost:    one block of memory; an idle pool none.
 * Errors:  WG_ENULL; WG_EARG: no thread, or more than 65536; WG_ENOMEM: no memory, or not so
 *          many threads. *out is NULL then, and all that was made is gone again.
 * wg_threads_free - not while it is at work, and not before the last use of the last recording
 *          that it is part of. */
WG_API WG_MUST_CHECK wg_status wg_threads_new(size_t count, const wg_threads_options *o,
                                              wg_threads **out);
WG_API void wg_threads_free(wg_threads *threads);
/* How many; NULL: 1. */
WG_API size_t wg_threads_count(const wg_threads *threads);

/* Task k of a call. */
typedef wg_status wg_task(void *ctx, size_t k);

/* wg_threads_run - calls f(ctx, k) for every k < tasks once, begun in this order, by all
 * threads; comes back when all are done. After a failure no further ones are begun.
 * Errors:  WG_ENULL; what f returned: the failure of the lowest k. */
WG_API WG_MUST_CHECK wg_status wg_threads_run(wg_threads *threads, size_t tasks, wg_task *f,
                                              void *ctx);

WG_END_DECLS

#endif

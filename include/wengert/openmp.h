/* SPDX-License-Identifier: MIT */
/* Parallel loops (parallel.h) in the threads of OpenMP. To be compiled with -fopenmp; without,
 * the same loops run in one thread, with the same bits. The library itself knows nothing of
 * OpenMP.
 *
 *     wg_parallel_begin(p, t);
 *     WG_OPENMP_FOR(p, s, i, n) v[i] = wg_let(s, wg_mul(c, u[i]));
 *     wg_parallel_join(p);
 *     wg_parallel_adopt(p, n, v);
 */
#ifndef WENGERT_OPENMP_H
#define WENGERT_OPENMP_H

#include <wengert/parallel.h>

#ifdef _OPENMP
#include <omp.h>
#define WGI_OPENMP _Pragma("omp parallel for schedule(static)")
#else
#define WGI_OPENMP
#endif

WG_BEGIN_DECLS

/* WG_OPENMP_SEGMENTS - what follows, one statement or a block, for each segment k of p (a
 * size_t), in all threads of OpenMP. `break` and `return` are not for it. Variables from
 * outside are shared, those from inside a thread's own, as in any `parallel for`. Each thread
 * has its share of segments, the same in every loop, and in joins and sweeps by
 * wg_openmp_threads: what it needs is in its cache. Where iterations take very different
 * times, write `#pragma omp parallel for schedule(dynamic)` before such a loop by hand. */
#define WG_OPENMP_SEGMENTS(p, k)                                                               \
    WGI_OPENMP for (size_t k = 0; k < wg_parallel_segments(p);                                 \
                    k++) for (int wgi_open = 1; wgi_open != 0;                                 \
                              wgi_open = wgi_parallel_recorded(p, k))

/* WG_OPENMP_FOR - what follows for every i < n (a size_t), shared out over the segments of p; s
 * is the tape of the segment that i belongs to. `continue` goes on with the next i, `break`
 * ends the segment. */
#define WG_OPENMP_FOR(p, s, i, n)                                                              \
    WG_OPENMP_SEGMENTS(p, wgi_segment)                                                         \
    for (wg_tape *s = wg_parallel_tape(p, wgi_segment), *wgi_once = s; wgi_once != WGI_NULL;   \
         wgi_once = WGI_NULL)                                                                  \
        for (size_t i = wg_parallel_from(p, wgi_segment, n),                                   \
                    wgi_end = wg_parallel_from(p, wgi_segment + 1, n);                         \
             i < wgi_end; i++)

#ifdef _OPENMP
#ifdef __cplusplus
#define WGI_OPENMP_AS(type, x) static_cast<type>(x)
#else
#define WGI_OPENMP_AS(type, x) ((type)(x))
#endif
static inline void wgi_openmp_team(void *ctx, size_t count, void (*work)(void *, size_t),
                                   void *arg) {
    (void)ctx;
#pragma omp parallel num_threads(WGI_OPENMP_AS(int, count))
    work(arg, WGI_OPENMP_AS(size_t, omp_get_thread_num()));
}
#endif

/* wg_openmp_threads - the threads of OpenMP as a pool: maps, functions, joins and sweeps then
 * run in the threads that record the loops, and no others are made. As many as OpenMP has by
 * itself (OMP_NUM_THREADS, omp_set_num_threads) when this is called; without OpenMP, one.
 * Errors:  those of wg_threads_new. Freed by wg_threads_free. */
static inline wg_status wg_openmp_threads(wg_threads **out) {
#ifdef _OPENMP
    wg_threads_options o;
    __builtin_memset(&o, 0, sizeof o);
    o.calls.team = wgi_openmp_team;
    return wg_threads_new(WGI_OPENMP_AS(size_t, omp_get_max_threads()), &o, out);
#else
    return wg_threads_new(1, WGI_NULL, out);
#endif
}

WG_END_DECLS

#endif

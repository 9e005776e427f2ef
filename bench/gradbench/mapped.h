/* SPDX-License-Identifier: MIT */
/* mapped.h - functions that a module maps over its data. */
#ifndef WENGERT_BENCH_GRADBENCH_MAPPED_H
#define WENGERT_BENCH_GRADBENCH_MAPPED_H

#include "gradbench.h"

struct gb_mapped {
    wg_function *f;
    void *work; /* for these threads; `bytes` for each part, where those call f apart */
    wg_threads *threads;
    size_t bytes;
};

/* Takes the function over, whatever comes of it; NULL: it could not be made, and t says why.
 * With at most GB_COMPILED operations it is compiled, if there is a compiler. 0 or -1. */
enum { GB_COMPILED = 2000 };
int gb_mapped_open(struct gb_mapped *m, wg_tape *t, wg_function *f, wg_threads *threads,
                   struct gb_error *e);
int gb_mapped_run(const struct gb_mapped *m, size_t points, const wg_points *x,
                  const wg_results *y, struct gb_error *e);
/* Nothing to do for one that was never opened: all zeros. */
void gb_mapped_close(struct gb_mapped *m);

/* What a recording calls or scans, compiled if there is a compiler. Takes the function over;
 * NULL: it could not be made. NULL with the error of t. */
wg_callable *gb_callable(wg_tape *t, wg_function *f, struct gb_error *e);

/* Does [0, count) in as many parts as there are threads, each from a multiple of `grain`. Gives
 * the first failure in their order. */
typedef wg_status gb_part(void *ctx, size_t part, size_t first, size_t end);
wg_status gb_split(wg_threads *threads, size_t count, size_t grain, gb_part *f, void *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* mapped.c - functions that a module maps over its data. */
#include "mapped.h"

#include <stdlib.h>

static void compile(struct gb_mapped *m, wg_tape *t) {
    wg_function_stats s;
    wg_function *native = NULL;
    if (wg_function_statistics(m->f, &s) != WG_OK) return;
    if (s.once + s.each + s.after > GB_COMPILED) return;
    if (wg_function_compile(t, m->f, NULL, &native, NULL) != WG_OK) {
        wg_tape_reset(t); /* as it is will do */
        return;
    }
    wg_function_free(m->f);
    m->f = native;
}

int gb_mapped_open(struct gb_mapped *m, wg_tape *t, wg_function *f, wg_threads *threads,
                   struct gb_error *e) {
    *m = (struct gb_mapped){.f = f, .threads = threads};
    if (!f) return gb_status(e, wg_tape_status(t) ? wg_tape_status(t) : WG_ENOMEM, t);
    compile(m, t);
    m->bytes = (wg_function_work(m->f, NULL) / 64 + 1) * 64;
    size_t bytes = (wg_function_work(m->f, threads) / 64 + 1) * 64;
    if (bytes < wg_threads_count(threads) * m->bytes)
        bytes = wg_threads_count(threads) * m->bytes;
    m->work = aligned_alloc(64, bytes);
    return m->work ? 0 : gb_fail(e, "no memory for %zu bytes of workspace", bytes);
}

int gb_mapped_run(const struct gb_mapped *m, size_t points, const wg_points *x,
                  const wg_results *y, struct gb_error *e) {
    return gb_status(e, wg_function_evaluate(m->f, points, x, y, m->threads, m->work, NULL),
                     NULL);
}

void gb_mapped_close(struct gb_mapped *m) {
    wg_function_free(m->f);
    free(m->work);
    *m = (struct gb_mapped){0};
}

wg_callable *gb_callable(wg_tape *t, wg_function *f, struct gb_error *e) {
    wg_callable *plain = NULL, *native = NULL;
    const wg_status s = f ? wg_callable_new(t, f, &plain) : wg_tape_status(t);
    wg_function_free(f);
    if (!plain) {
        gb_status(e, s ? s : WG_ENOMEM, t);
        return NULL;
    }
    if (wg_callable_compile(t, plain, NULL, &native, NULL) != WG_OK) {
        wg_tape_reset(t); /* as it is will do */
        return plain;
    }
    wg_callable_free(plain);
    return native;
}

/* ---- parts ---- */

struct split {
    gb_part *f;
    void *ctx;
    size_t parts, grains, grain, count;
};

static size_t begin_of(const struct split *s, size_t k) {
    return (s->grains / s->parts * k + s->grains % s->parts * k / s->parts) * s->grain;
}

static wg_status do_part(void *ctx, size_t k) {
    const struct split *const s = ctx;
    const size_t end = k + 1 == s->parts ? s->count : begin_of(s, k + 1);
    return s->f(s->ctx, k, begin_of(s, k), end);
}

wg_status gb_split(wg_threads *threads, size_t count, size_t grain, gb_part *f, void *ctx) {
    struct split s = {
        f, ctx, wg_threads_count(threads), count / grain + (count % grain > 0), grain, count};
    if (s.parts > s.grains) s.parts = s.grains;
    if (s.parts == 0) s.parts = 1;
    return wg_threads_run(threads, s.parts, do_part, &s);
}

/* SPDX-License-Identifier: MIT */
/* mapped.c - functions that a module maps over its data. */
#include "mapped.h"

#include <pthread.h>
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

int gb_mapped_open(struct gb_mapped *m, wg_tape *t, wg_function *f, size_t threads,
                   struct gb_error *e) {
    *m = (struct gb_mapped){.f = f, .threads = threads};
    if (!f) return gb_status(e, wg_tape_status(t) ? wg_tape_status(t) : WG_ENOMEM, t);
    compile(m, t);
    m->bytes = (wg_function_work(m->f, 1) / 64 + 1) * 64;
    size_t bytes = (wg_function_work(m->f, threads) / 64 + 1) * 64;
    if (bytes < threads * m->bytes) bytes = threads * m->bytes;
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

/* ---- pieces ---- */

struct piece {
    pthread_t thread;
    int started;
    gb_part *part;
    void *ctx;
    size_t number, first, end;
    wg_status status;
};

static void *do_piece(void *arg) {
    struct piece *p = arg;
    p->status = p->part(p->ctx, p->number, p->first, p->end);
    return NULL;
}

wg_status gb_split(size_t threads, size_t count, size_t grain, gb_part *part, void *ctx) {
    const size_t grains = count / grain + (count % grain > 0);
    if (threads > grains) threads = grains;
    if (threads < 2) return part(ctx, 0, 0, count);
    struct piece *const p = calloc(threads, sizeof *p);
    if (!p) return WG_ENOMEM;
    for (size_t k = threads; k-- > 0;) { /* the first one is the caller's */
        const size_t end = (grains / threads * (k + 1) + grains % threads * (k + 1) / threads);
        const size_t first = (grains / threads * k + grains % threads * k / threads);
        p[k].part = part;
        p[k].ctx = ctx;
        p[k].number = k;
        p[k].first = first * grain;
        p[k].end = k + 1 == threads ? count : end * grain;
        p[k].started = k > 0 && pthread_create(&p[k].thread, NULL, do_piece, &p[k]) == 0;
    }
    wg_status s = WG_OK;
    for (size_t k = 0; k < threads; k++) {
        if (!p[k].started) do_piece(&p[k]);
        else (void)pthread_join(p[k].thread, NULL);
        if (s == WG_OK) s = p[k].status;
    }
    free(p);
    return s;
}

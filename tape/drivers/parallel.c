/* SPDX-License-Identifier: MIT */
/* Parallel loops: the calls. What they leave on the tape is written by parallel_join.c. */
#include "parallel.h"

#include <wengert/array.h>

enum { MOST_SEGMENTS = 1024 };

/* ---- segments ---- */

wg_status wg_parallel_new(wg_tape *t, size_t segments, wg_threads *threads, wg_parallel **out) {
    const char *const call = "wg_parallel_new";
    if (out == NULL) return WG_ENULL;
    *out = NULL;
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (segments == 0 || segments > MOST_SEGMENTS)
        return wgi_refuse(c, WG_EARG, "%s: %zu segments, not 1 to %d", call, segments,
                          MOST_SEGMENTS);
    if (wgi_refuse_segment(c, call) != WG_OK) return WG_EMODE;
    const size_t self = sizeof(wg_parallel) + segments * sizeof(wgi_segment);
    wgi_home home;
    void *room;
    wg_status s = wgi_home_obtain(c, self + segments * sizeof(wg_real), &home, &room);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no room for %zu segments", call, segments);
    wg_parallel *const p = room;
    memset(p, 0, self);
    p->home = home;
    p->threads = threads;
    p->segments = segments;
    p->stride = (WGI_SEGMENT_SLOTS - 2) / (uint32_t)segments;
    p->part = (wg_real *)(void *)((char *)room + self);
    for (size_t k = 0; k < segments && s == WG_OK; k++) {
        s = wgi_segment_new(c, &p->segment[k].c);
        if (s == WG_OK) wgi_segment_close(p->segment[k].c);
    }
    if (s != WG_OK) {
        wg_parallel_free(p);
        return wgi_refuse(c, s, "%s: no room for %zu segments", call, segments);
    }
    *out = p;
    return WG_OK;
}

void wg_parallel_free(wg_parallel *p) {
    if (p == NULL) return;
    if (p->of.c != NULL && p->state == WGI_LOOP_OPEN) wgi_segments_revoke(p->of.c);
    wgi_link_to(&p->of, NULL);
    for (size_t k = 0; k < p->segments; k++) wgi_segment_free(p->segment[k].c);
    wgi_home_release(&p->home, p);
}

size_t wg_parallel_segments(const wg_parallel *p) { return p != NULL ? p->segments : 0; }

size_t wg_parallel_from(const wg_parallel *p, size_t k, size_t n) {
    if (p == NULL || k >= p->segments) return n;
    const size_t more = n % p->segments;
    return n / p->segments * k + (k < more ? k : more);
}

wg_tape *wg_parallel_tape(wg_parallel *p, size_t k) {
    if (p == NULL || k >= p->segments) return NULL;
    wgi_core *const c = p->segment[k].c;
    c->owner = pthread_self();
    return &c->head;
}

/* Is a loop open? Not one of a tape that was freed. */
static int is_open(const wg_parallel *p) {
    return p->of.c != NULL && p->state == WGI_LOOP_OPEN;
}

int wgi_parallel_recorded(wg_parallel *p, size_t k) {
    if (p == NULL || k >= p->segments || !is_open(p) || p->of.c->width != 0) return 0;
    wgi_parallel_look(p, &p->segment[k]); /* the join says what has failed */
    return 0;
}

typedef struct loop {
    wg_parallel *p;
    wg_task *f;
    void *ctx;
} loop;

static wg_status run_segment(void *context, size_t k) {
    const loop *const l = context;
    const wg_status s = l->f(l->ctx, k);
    (void)wgi_parallel_recorded(l->p, k);
    return s;
}

wg_status wg_parallel_run(wg_parallel *p, wg_task *f, void *ctx) {
    if (p == NULL || f == NULL) return WG_ENULL;
    loop l = {p, f, ctx};
    return wgi_threads_run_near(p->threads, p->segments, run_segment, &l);
}

/* ---- a loop ---- */

static wg_status check_begin(const wg_parallel *p, wgi_core *c) {
    const char *const call = "wg_parallel_begin";
    if (c->status != WG_OK) return c->status;
    if (wgi_check_thread(c, call) != WG_OK) return WG_ETHREAD;
    if (p == NULL) return wgi_fail(c, WG_ENULL, "%s: the segments are NULL", call);
    if (c->outer != NULL)
        return wgi_fail(c, WG_EMODE, "%s: the tape is a segment of a loop", call);
    if (is_open(p)) return wgi_fail(c, WG_EMODE, "%s: a loop is open on these segments", call);
    if (c->head.slots >= WGI_SEGMENT_SLOTS)
        return wgi_fail(c, WG_ESLOTS, "%s: the tape has %u variables already", call,
                        c->head.slots - 1);
    if (wgi_records_own(c) != WG_OK) wgi_fail_as(c, call);
    return c->status;
}

wg_status wg_parallel_begin(wg_parallel *p, wg_tape *t) {
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    const wg_status s = check_begin(p, c);
    if (p == NULL || is_open(p) || c->outer != NULL) return s;
    wgi_link_to(&p->of, c);
    p->state = s == WG_OK ? WGI_LOOP_OPEN : WGI_LOOP_FAILED;
    p->before = c->head.slots;
    /* not where an earlier loop had its slots, as long as there are others */
    const uint32_t past = c->loop_slots % (p->stride / 2);
    for (size_t k = 0; k < p->segments; k++) {
        const uint32_t start = WGI_SEGMENT_SLOTS + (uint32_t)k * p->stride;
        p->segment[k].first = start + past;
        wgi_segment_open(p->segment[k].c, c, start + past, start + p->stride - 1);
    }
    wgi_parallel_open(p);
    if (s != WG_OK) return s;
    wgi_parallel_lay_out(p);
    p->stamps = wgi_tape_close(c);
    return s;
}

/* What has failed in a segment fails the tape. */
static wg_status fail_segments(wg_parallel *p) {
    for (size_t k = 0; k < p->segments; k++) {
        const wgi_core *const segment = p->segment[k].c;
        if (segment->status != WG_OK)
            return wgi_fail(p->of.c, segment->status, "wg_parallel_join: segment %zu: %s", k,
                            segment->message);
        if (segment->pauses != p->of.c->pauses)
            return wgi_fail(p->of.c, WG_EMODE, "wg_parallel_join: segment %zu was left paused",
                            k);
    }
    return WG_OK;
}

wg_status wg_parallel_join(wg_parallel *p) {
    if (p == NULL) return WG_ENULL;
    wgi_core *const c = p->of.c;
    wg_status s;
    if (c != NULL && p->state == WGI_LOOP_OPEN) c->first_placed = NULL;
    if (c == NULL) {
        s = WG_EMODE;
    } else if (p->state == WGI_LOOP_OPEN) {
        p->state = WGI_LOOP_FAILED;
        if (!wgi_tape_open_again(c, p->stamps))
            s = wgi_refuse(c, WG_EMODE,
                           "wg_parallel_join: the tape was reset or rewound in the loop");
        else {
            s = fail_segments(p);
            if (s == WG_OK) s = wgi_parallel_join(p);
            if (s == WG_OK) p->state = WGI_LOOP_JOINED;
            p->stamps = c->stamps;
        }
    } else {
        const int joined = p->state == WGI_LOOP_JOINED;
        s = c->status != WG_OK ? c->status : WG_EMODE;
        if (joined || c->status == WG_OK)
            s = wgi_fail(c, WG_EMODE, "wg_parallel_join: wg_parallel_begin comes first");
    }
    for (size_t k = 0; k < p->segments; k++) wgi_segment_close(p->segment[k].c);
    return s;
}

/* ---- what is used after it ---- */

enum { ADOPTED_AT_ONCE = 8192 };

typedef struct adoption {
    const wg_parallel *p;
    size_t n;
    wg_real *v;
} adoption;

/* The segment of a slot; NULL: there is none. `like`: that of the one before, mostly. */
static const wgi_segment *segment_of(const wg_parallel *p, uint32_t slot,
                                     const wgi_segment *like) {
    if (slot - like->first < like->count) return like;
    const size_t k = (slot - WGI_SEGMENT_SLOTS) / p->stride;
    const wgi_segment *const s = &p->segment[k < p->segments ? k : 0];
    return k < p->segments && slot - s->first < s->count ? s : NULL;
}

static wg_status adopt(void *context, size_t part) {
    const adoption *const a = context;
    const size_t from = part * ADOPTED_AT_ONCE,
                 to = a->n - from < ADOPTED_AT_ONCE ? a->n : from + ADOPTED_AT_ONCE;
    const wgi_segment *s = a->p->segment;
    const uint32_t stamp = a->p->of.c->head.stamp;
    for (size_t i = from; i < to; i++) {
        const wg_handle h = a->v[i].at;
        if (h.slot < WGI_SEGMENT_SLOTS) {
            if (h.slot != 0 && !wgi_alive(a->p->of.c, h)) return WG_ESTALE;
            continue;
        }
        s = segment_of(a->p, h.slot, s);
        if (s == NULL || h.stamp != s->c->head.stamp) return WG_ESTALE;
        a->v[i].at = (wg_handle){h.slot - s->first + s->to, stamp};
    }
    return WG_OK;
}

wg_status wg_parallel_adopt(wg_parallel *p, size_t n, wg_real *v) {
    const char *const call = "wg_parallel_adopt";
    if (p == NULL || (n != 0 && v == NULL)) return WG_ENULL;
    wgi_core *const c = p->of.c;
    if (c == NULL) return WG_EMODE;
    if (c->status != WG_OK) {
        for (size_t i = 0; i < n; i++) v[i] = wgi_nan();
        return c->status;
    }
    if (p->state != WGI_LOOP_JOINED)
        return wgi_refuse(c, WG_EMODE, "%s: wg_parallel_join comes first", call);
    if (p->stamps != c->stamps)
        return wgi_refuse(c, WG_ESTALE, "%s: the tape was reset or rewound after the loop",
                          call);
    adoption a = {p, n, v};
    const wg_status s =
        wg_threads_run(p->threads, (n + ADOPTED_AT_ONCE - 1) / ADOPTED_AT_ONCE, adopt, &a);
    if (s != WG_OK)
        return wgi_refuse(c, s, "%s: a variable that is neither of the loop nor of the tape",
                          call);
    return s;
}

static wg_real reduced(wg_tape *t, wg_reduction how, size_t n, const wg_real *x) {
    switch (how) {
    case WG_REDUCE_PRODUCT:
        return wgi_product_at(NULL, 0, t, n, x);
    case WG_REDUCE_MINIMUM:
        return wgi_minimum_at(NULL, 0, t, n, x);
    case WG_REDUCE_MAXIMUM:
        return wgi_maximum_at(NULL, 0, t, n, x);
    default:
        return wgi_sum_at(NULL, 0, t, n, x);
    }
}

wg_status wg_parallel_reduce(wg_parallel *p, wg_reduction how, size_t n, wg_real *part,
                             wg_real *y) {
    const char *const call = "wg_parallel_reduce";
    for (size_t j = 0; y != NULL && j < n; j++) y[j] = wgi_nan();
    if (p == NULL || (n != 0 && (part == NULL || y == NULL))) return WG_ENULL;
    wgi_core *const c = p->of.c;
    if (c == NULL) return WG_EMODE;
    if ((unsigned)how > WG_REDUCE_MAXIMUM && c->status == WG_OK)
        return wgi_fail(c, WG_EARG, "%s: no reduction has number %d", call, (int)how);
    if (n > SIZE_MAX / sizeof *part / p->segments && c->status == WG_OK)
        return wgi_fail(c, WG_EARG, "%s: %zu variables", call, n);
    const wg_status s = wg_parallel_adopt(p, c->status == WG_OK ? n * p->segments : 0, part);
    if (s != WG_OK && c->status == WG_OK)
        return wgi_fail(c, s, "%s: a part is a variable of no segment of the last loop", call);
    for (size_t j = 0; j < n && c->status == WG_OK; j++) {
        for (size_t k = 0; k < p->segments; k++) p->part[k] = part[k * n + j];
        y[j] = reduced(&c->head, how, p->segments, p->part);
    }
    return c->status;
}

/* SPDX-License-Identifier: MIT */
/* Parallel loops in a sweep: the runs of a stretch, round after round, those of a round side by
 * side.
 *
 * A run writes to adjoints of its own slots, and to those of slots from before the loop, as on
 * one tape: others that use a slot near it have another round. So each adjoint is added to by
 * one run after the other, in the order of rounds. Of groups that are shared by too many for
 * that it has private rows, which go on from what stands among the adjoints, and which it finds
 * by their offsets. When all runs are done, these rows are put together. Where one run has
 * changed an adjoint, what it has made of it is the adjoint, with the bits of one run after the
 * other. Where several have, it is what the first of them has made of it, plus what the others
 * have added to it, from the last one on. Nothing of that depends on threads. */
#include "stretch.h"
#include "private_rows.h"

#include <wengert/threads.h>

#include <string.h>

struct side_by_side {
    wgi_core *c;
    wgi_private_rows *rows;
    const wgi_stretch *stretch;
    uint64_t high, low, top; /* top: there are no rows of slots from there on */
    size_t round;
    atomic_uint_fast64_t runs, left_out;
    atomic_uint_fast32_t odd; /* a slot with an adjoint that is NaN */
};

/* ---- runs ---- */

/* How many of the slots of a group are from before. */
static size_t rows_before(const struct side_by_side *all, uint32_t group) {
    const uint64_t n = all->stretch->before - (uint64_t)group * WGI_GROUP_SLOTS;
    return n < WGI_GROUP_SLOTS ? (size_t)n : WGI_GROUP_SLOTS;
}

static double *own_rows(const struct side_by_side *all, size_t number) {
    return all->rows->rows + number * WGI_GROUP_SLOTS * all->c->lanes;
}

static double *rows_among(const wgi_core *c, uint32_t group) {
    return wgi_adjoints(c) + (size_t)group * WGI_GROUP_SLOTS * c->lanes;
}

static size_t take_offsets(wgi_private_rows *all) {
    for (size_t k = 0;; k = k + 1 < all->count ? k + 1 : 0)
        if (!atomic_flag_test_and_set_explicit(&all->busy[k], memory_order_acquire)) return k;
}

static size_t first_shared(const wgi_stretch *s, size_t run) {
    return run == 0 ? 0 : s->run[run - 1].shared;
}

/* Copies the rows of the run's own slots in a group, which is that where these begin. */
static void copy_results(const struct side_by_side *all, size_t run, uint32_t group, double *to,
                         const double *from) {
    const wgi_stretch *const s = all->stretch;
    const uint64_t start = (uint64_t)group * WGI_GROUP_SLOTS, end = start + WGI_GROUP_SLOTS;
    const uint64_t first = run == 0 ? s->before : s->run[run - 1].slots;
    uint64_t last = s->run[run].slots;
    if (last > end) last = end;
    if (last > all->top) last = all->top;
    if (first >= last) return;
    const size_t lanes = all->c->lanes, at = (size_t)(first - start) * lanes;
    memcpy(to + at, from + at, (size_t)(last - first) * lanes * sizeof *to);
}

static void open_rows(const struct side_by_side *all, size_t run, wgi_offset *w) {
    const wgi_stretch *const stretch = all->stretch;
    for (size_t i = first_shared(stretch, run); i < stretch->run[run].shared; i++) {
        const uint32_t group = stretch->shared[i].group;
        const size_t rows = rows_before(all, group);
        double *const own = own_rows(all, i), *const there = rows_among(all->c, group);
        memcpy(own, there, rows * all->c->lanes * sizeof *own);
        if (rows < WGI_GROUP_SLOTS) copy_results(all, run, group, own, there);
        w[group] = (uintptr_t)own - (uintptr_t)there;
    }
}

static void close_rows(const struct side_by_side *all, size_t run, wgi_offset *w) {
    const wgi_stretch *const stretch = all->stretch;
    for (size_t i = first_shared(stretch, run); i < stretch->run[run].shared; i++) {
        const uint32_t group = stretch->shared[i].group;
        if (rows_before(all, group) < WGI_GROUP_SLOTS)
            copy_results(all, run, group, rows_among(all->c, group), own_rows(all, i));
        w[group] = 0;
    }
}

static wg_status sweep_run(struct side_by_side *all, size_t k) {
    wgi_core *const c = all->c;
    const wgi_stretch *const stretch = all->stretch;
    uint64_t low = k == 0 ? stretch->first : stretch->run[k - 1].end,
             high = stretch->run[k].end;
    if (low < all->low) low = all->low;
    if (high > all->high) high = all->high;
    all->rows->swept[k] = 0;
    if (low >= high) return WG_OK;
    const uint64_t from = wgi_record_at(c, low)->out, to = wgi_record_at(c, high - 1)->out + 1;
    if (wgi_adjoints_zero(wgi_adjoints(c) + from * c->lanes, (size_t)(to - from) * c->lanes))
        return WG_OK;
    wgi_counts n = {0, 0};
    const int any = stretch->run[k].shared > first_shared(stretch, k);
    const size_t number = any ? take_offsets(all->rows) : 0;
    wgi_offset *const w = any ? all->rows->offset + number * all->rows->groups : NULL;
    if (any) open_rows(all, k, w);
    const wg_status s = wgi_sweep_records(c, high, low, w, &n);
    if (any) {
        close_rows(all, k, w);
        atomic_flag_clear_explicit(&all->rows->busy[number], memory_order_release);
    }
    all->rows->swept[k] = 1;
    (void)atomic_fetch_add_explicit(&all->runs, n.runs, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&all->left_out, n.left_out, memory_order_relaxed);
    return s;
}

static size_t runs_of_round(const struct side_by_side *all) {
    const wgi_stretch *const s = all->stretch;
    return (s->runs - all->round + s->rounds - 1) / s->rounds;
}

/* Number i of the runs of the round. */
static wg_status sweep_in_round(void *context, size_t i) {
    struct side_by_side *const all = context;
    return sweep_run(all, all->round + i * all->stretch->rounds);
}

/* What is traced stops at the first adjoint of the round. */
static wg_status last_run_first(struct side_by_side *all) {
    wg_status s = WG_OK;
    for (size_t i = runs_of_round(all); i-- > 0 && s == WG_OK;) s = sweep_in_round(all, i);
    return s;
}

static wg_status sweep_rounds(struct side_by_side *all, wg_threads *threads) {
    wg_status s = WG_OK;
    for (all->round = 0; all->round < all->stretch->rounds && s == WG_OK; all->round++)
        s = all->c->traced
                ? last_run_first(all)
                : wgi_threads_run_near(threads, runs_of_round(all), sweep_in_round, all);
    return s;
}

/* ---- what is shared ---- */

/* The one before it of the same group whose run was swept; or NULL. */
static const wgi_shared *before_it(const struct side_by_side *all, const wgi_shared *s) {
    do s = s->other != 0 ? &all->stretch->shared[s->other - 1] : NULL;
    while (s != NULL && !all->rows->swept[s->run]);
    return s;
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Adjoints [from, from + n) of a group, n at most WGI_GROUP_SLOTS, which is what all runs began
 * with; from the last run that has rows of it. */
static void put_together(struct side_by_side *all, const wgi_shared *last, size_t from,
                         size_t n, double *adjoint) {
    const wgi_shared *const shared = all->stretch->shared;
    double sum[WGI_GROUP_SLOTS];
    uint64_t first[WGI_GROUP_SLOTS]; /* the first that has changed it, plus one; or 0 */
    memcpy(sum, adjoint, n * sizeof *sum);
    memset(first, 0, n * sizeof *first);
    for (const wgi_shared *s = last; s != NULL; s = before_it(all, s)) {
        const uint64_t number = (uint64_t)(s - shared) + 1;
        const double *const own = own_rows(all, (size_t)(s - shared)) + from;
        for (size_t i = 0; i < n; i++) {
            const int changed = bits_of(own[i]) != bits_of(adjoint[i]);
            sum[i] = changed ? own[i] : sum[i];
            first[i] = changed ? number : first[i];
        }
    }
    for (const wgi_shared *s = last; s != NULL; s = before_it(all, s)) {
        const uint64_t number = (uint64_t)(s - shared) + 1;
        const double *const own = own_rows(all, (size_t)(s - shared)) + from;
        for (size_t i = 0; i < n; i++) {
            const int more = bits_of(own[i]) != bits_of(adjoint[i]) && first[i] != number;
            const double with = sum[i] + (own[i] - adjoint[i]);
            sum[i] = more ? with : sum[i];
        }
    }
    for (size_t i = 0; all->c->traced && i < n; i++)
        if (__builtin_isnan(sum[i]) && !__builtin_isnan(adjoint[i]))
            atomic_store(&all->odd, last->group * WGI_GROUP_SLOTS + (unsigned)i);
    memcpy(adjoint, sum, n * sizeof *sum);
}

/* The groups of which that run has the last rows. */
static wg_status put_run(void *context, size_t k) {
    struct side_by_side *const all = context;
    const wgi_stretch *const stretch = all->stretch;
    for (size_t i = first_shared(stretch, k); i < stretch->run[k].shared; i++) {
        const wgi_shared *s = &stretch->shared[i];
        if (!s->last) continue;
        double *const there = rows_among(all->c, s->group);
        const size_t n = rows_before(all, s->group) * all->c->lanes;
        if (!all->rows->swept[s->run]) s = before_it(all, s);
        for (size_t from = 0; s != NULL && from < n; from += WGI_GROUP_SLOTS)
            put_together(all, s, from, n - from < WGI_GROUP_SLOTS ? n - from : WGI_GROUP_SLOTS,
                         there + from);
    }
    return WG_OK;
}

/* ---- a stretch ---- */

/* A status that nobody has a message for yet. */
static wg_status fail_stretch(struct side_by_side *all, wg_status s) {
    wgi_core *const c = all->c;
    if (s == WG_ENOMEM || s == WG_EBUDGET) {
        c->swept = 0;
        return wgi_refuse(c, s, "a sweep: no memory for adjoints of %zu segments",
                          all->stretch->runs);
    }
    if (s == WG_ESTALE) return wgi_fail_disordered_in(c, all->high, all->low);
    if (s == WG_OK && c->traced && all->odd != 0) {
        c->swept = 0;
        return wgi_refuse(c, WG_ENONFINITE,
                          "a sweep: the adjoint of slot %u became NaN where those of segments "
                          "of a parallel loop are added up",
                          (unsigned)all->odd);
    }
    return s;
}

wg_status wgi_sweep_stretch(wgi_core *c, const wgi_stretch *stretch, uint64_t high,
                            uint64_t low) {
    enum { LEAST_RECORDS = 8192, LEAST_SHARED = 256 };
    if (high <= low) return WG_OK;
    struct side_by_side all = {.c = c, .stretch = stretch, .high = high, .low = low};
    all.top = (uint64_t)wgi_record_at(c, high - 1)->out + 1;
    const size_t threads = wg_threads_count(stretch->threads), runs = stretch->runs,
                 shared = stretch->run[runs - 1].shared;
    wg_status s = wgi_private_rows_need(c, threads < runs ? threads : runs, runs);
    if (s == WG_OK)
        s = wgi_private_rows_need_room(
            c->private_rows, shared != 0 ? (size_t)(all.top / WGI_GROUP_SLOTS + 1) : 0, shared,
            c->lanes);
    if (s != WG_OK) return fail_stretch(&all, s);
    all.rows = c->private_rows;
    all.rows->at_work = 1;
    /* waking threads for less takes longer */
    s = sweep_rounds(&all, high - low < LEAST_RECORDS ? NULL : stretch->threads);
    wg_threads *const many = shared < LEAST_SHARED || c->traced ? NULL : stretch->threads;
    if (s == WG_OK && shared != 0) s = wgi_threads_run_near(many, runs, put_run, &all);
    all.rows->at_work = 0;
    c->marks.runs += all.runs;
    c->marks.left_out += all.left_out;
    return fail_stretch(&all, s);
}

/* SPDX-License-Identifier: MIT */
/* Parallel loops in a sweep: the runs of a stretch, side by side.
 *
 * A run writes to adjoints of its own slots, and to those of slots from before the loop, where
 * others write, too. So it sees adjoints through a window: groups of slots that are all its own
 * are where they are; of any other group it has a copy, made when it comes there, which goes on
 * from what stands among the adjoints. When all runs are done, copies are put together. Where
 * one run has changed an adjoint, what it has made of it is the adjoint, with the bits of one
 * sweep after the other. Where several have, it is what the first of them has made of it, plus
 * what the others have added to it, from the last one on. Nothing of that depends on threads. */
#include "stretch.h"
#include "arena.h"

#include <wengert/threads.h>

#include <string.h>

/* What came of a run. */
typedef struct outcome {
    const wgi_window *window; /* NULL: it was left out */
    size_t from, copies;      /* which of the window's are its copies */
} outcome;

struct wgi_windows {
    wgi_home home;
    size_t count, runs; /* how many windows there are; outcomes */
    int at_work;
    wgi_copy **last; /* of each group: the copy of the last run that has one */
    size_t groups;   /* so many are there, and NULL between sweeps */
    outcome *outcome;
    wgi_window window[];
};

struct side_by_side {
    wgi_core *c;
    wgi_windows *windows;
    const wgi_stretch *stretch;
    uint64_t high, low, top;
    int marks; /* are they kept, and to be set? */
    atomic_uint_fast64_t runs, left_out;
    atomic_uint_fast32_t strange, odd; /* slots: of another run; with an adjoint that is NaN */
};

/* ---- memory ---- */

int wgi_windows_free(wgi_core *c) {
    wgi_windows *const all = c->windows;
    if (all == NULL || all->at_work) return 0;
    c->windows = NULL;
    for (size_t k = 0; k < all->count; k++)
        if (all->window[k].c != NULL) wg_tape_free(&all->window[k].c->head);
    wgi_home_release(&all->home, all);
    return 1;
}

static wg_status open_memory(wgi_core *c, wgi_window *w) {
    wg_options o;
    wg_tape *t = NULL;
    memset(&o, 0, sizeof o);
    o.reserve = c->reserve / 1024;
    const wg_status s = wgi_tape_beside(c, &o, &t);
    if (s != WG_OK) return s;
    w->c = wgi_core_of(t);
    w->c->lender = NULL; /* it works while others do: it leaves alone what they hold */
    w->of = c;
    atomic_flag_clear(&w->busy);
    return WG_OK;
}

static wg_status need_windows(wgi_core *c, size_t count, size_t runs) {
    if (c->windows != NULL && c->windows->count >= count && c->windows->runs >= runs)
        return WG_OK;
    (void)wgi_windows_free(c);
    const size_t self = sizeof(wgi_windows) + count * sizeof(wgi_window);
    wgi_home home;
    void *room;
    wg_status s = wgi_home_obtain(c, self + runs * sizeof(outcome), &home, &room);
    if (s != WG_OK) return s;
    wgi_windows *const all = room;
    memset(all, 0, self);
    all->home = home;
    all->count = count;
    all->runs = runs;
    all->outcome = (outcome *)(void *)((char *)room + self);
    all->at_work = 1;
    c->windows = all;
    for (size_t k = 0; k < count && s == WG_OK; k++) s = open_memory(c, &all->window[k]);
    all->at_work = 0;
    if (s != WG_OK) (void)wgi_windows_free(c);
    return s;
}

/* A table of so many entries, those from *known on 0. */
static wg_status need_table(wgi_core *c, wgi_region *r, size_t *known, size_t entries,
                            size_t each, void *table) {
    if (entries > *known) {
        const wg_status s = wgi_region_need(c, r, entries * each, *known * each);
        if (s != WG_OK) return s;
        memset(r->base + *known * each, 0, (entries - *known) * each);
        *known = entries;
    }
    memcpy(table, &r->base, sizeof r->base);
    return WG_OK;
}

/* ---- windows ---- */

static wgi_copy *copies_of(const wgi_window *w) {
    return (wgi_copy *)(void *)w->c->index[1].base;
}

static wg_status take_rows(wgi_window *w, double **rows) {
    const size_t bytes = WGI_GROUP_SLOTS * w->of->lanes * sizeof(double);
    const wg_status s = wgi_payload_need(w->c, bytes);
    if (s == WG_OK) *rows = wgi_payload_take(w->c, bytes);
    return s;
}

/* How far rows are from where those of a group are among the adjoints, and one more. */
static uintptr_t distance(const wgi_window *w, const double *rows, uint64_t group) {
    const size_t before = (size_t)group * WGI_GROUP_SLOTS * w->of->lanes * sizeof(double);
    return (uintptr_t)rows - ((uintptr_t)wgi_adjoints(w->of) + before) + 1;
}

uintptr_t wgi_window_group(wgi_window *w, uint32_t slot) {
    const uint64_t group = slot / WGI_GROUP_SLOTS, from = group * WGI_GROUP_SLOTS,
                   behind = from + WGI_GROUP_SLOTS, to = behind < w->top ? behind : w->top;
    if (from >= w->stretch->before && (from >= w->end || behind <= w->first)) {
        w->strange = slot;
        return distance(w, w->nowhere, group);
    }
    double *rows = NULL;
    wg_status s = wgi_region_need(w->c, &w->c->index[1], (w->copies + 1) * sizeof(wgi_copy),
                                  w->copies * sizeof(wgi_copy));
    if (s == WG_OK) s = take_rows(w, &rows);
    if (s != WG_OK) {
        w->status = s;
        return distance(w, w->nowhere, group);
    }
    const size_t lanes = w->of->lanes;
    memcpy(rows, wgi_adjoints(w->of) + (size_t)from * lanes,
           (size_t)(to - from) * lanes * sizeof(double));
    copies_of(w)[w->copies++] = (wgi_copy){(uint32_t)group, w->run, rows, NULL, 0};
    return w->group[group] = distance(w, rows, group);
}

static uint64_t first_slot(const wgi_stretch *s, size_t run) {
    return run == 0 ? s->before : s->run[run - 1].slots;
}

/* Says where the groups are that are all of the run: where they are; or forgets that. */
static void own_groups(const wgi_window *w, uintptr_t where) {
    for (uint64_t g = (w->first + WGI_GROUP_SLOTS - 1) / WGI_GROUP_SLOTS;
         g < w->end / WGI_GROUP_SLOTS; g++)
        w->group[g] = where;
}

static wgi_window *take_window(const wgi_windows *all) {
    for (size_t k = 0;; k = k + 1 < all->count ? k + 1 : 0) {
        wgi_window *const w = (wgi_window *)(uintptr_t)&all->window[k];
        if (!atomic_flag_test_and_set_explicit(&w->busy, memory_order_acquire)) return w;
    }
}

static wg_status open_window(const struct side_by_side *all, wgi_window *w, size_t run) {
    w->run = (uint32_t)run;
    w->first = first_slot(all->stretch, run);
    w->end = all->stretch->run[run].slots;
    if (w->end > all->top) w->end = all->top;
    own_groups(w, 1);
    if (w->nowhere != NULL) return WG_OK;
    wg_status s = need_table(w->c, &w->c->index[0], &w->groups,
                             all->c->head.slots / WGI_GROUP_SLOTS + 1, sizeof *w->group,
                             &w->group);
    if (s == WG_OK) s = take_rows(w, &w->nowhere);
    return s;
}

/* ---- runs ---- */

/* Are adjoints of all results in slots [from, to) 0? */
static int is_untouched(const struct side_by_side *all, uint64_t from, uint64_t to) {
    const wgi_core *const c = all->c;
    if (all->marks && wgi_adjoints_unmarked(c) <= from)
        return wgi_adjoints_last(c, to - 1) < from;
    return wgi_adjoints_zero(wgi_adjoints(c) + from * c->lanes, (size_t)(to - from) * c->lanes);
}

static wg_status sweep_run(void *context, size_t k) {
    struct side_by_side *const all = context;
    wgi_core *const c = all->c;
    const wgi_stretch *const stretch = all->stretch;
    outcome *const o = &all->windows->outcome[k];
    uint64_t low = k == 0 ? stretch->first : stretch->run[k - 1].end,
             high = stretch->run[k].end;
    if (low < all->low) low = all->low;
    if (high > all->high) high = all->high;
    *o = (outcome){NULL, 0, 0};
    if (low >= high) return WG_OK;
    const uint64_t from = wgi_record_at(c, low)->out, to = wgi_record_at(c, high - 1)->out + 1;
    if (is_untouched(all, from, to)) return WG_OK;
    wgi_window *const w = take_window(all->windows);
    wgi_counts n = {0, 0};
    wg_status s = open_window(all, w, k);
    *o = (outcome){w, w->copies, 0};
    if (s == WG_OK) s = wgi_sweep_records(c, high, low, w, &n);
    o->copies = w->copies - o->from;
    if (w->nowhere != NULL) own_groups(w, 0);
    for (size_t i = o->from; i < w->copies; i++) w->group[copies_of(w)[i].group] = 0;
    if (s == WG_OK) s = w->status;
    if (w->strange != 0) atomic_store(&all->strange, w->strange);
    atomic_flag_clear_explicit(&w->busy, memory_order_release);
    (void)atomic_fetch_add_explicit(&all->runs, n.runs, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&all->left_out, n.left_out, memory_order_relaxed);
    return s;
}

/* What is traced stops at the first adjoint of all. */
static wg_status last_run_first(struct side_by_side *all) {
    wg_status s = WG_OK;
    for (size_t k = all->stretch->runs; k-- > 0 && s == WG_OK;) s = sweep_run(all, k);
    return s;
}

/* ---- copies ---- */

static wgi_copy *copy_of(const outcome *o, size_t i) { return copies_of(o->window) + o->from + i; }

/* Of each group a list of its copies, from the last run to the first; gives how many there
 * are. */
static size_t link_copies(const struct side_by_side *all) {
    wgi_copy **const last = all->windows->last;
    size_t copies = 0;
    for (size_t k = 0; k < all->stretch->runs; k++) {
        const outcome *const o = &all->windows->outcome[k];
        copies += o->copies;
        for (size_t i = 0; i < o->copies; i++) {
            wgi_copy *const copy = copy_of(o, i);
            copy->next = last[copy->group];
            copy->is_last = 1;
            if (copy->next != NULL) copy->next->is_last = 0;
            last[copy->group] = copy;
        }
    }
    return copies;
}

static int differs(const double *a, const double *b) { return memcmp(a, b, sizeof *a) != 0; }

/* Has a run changed the adjoint of another one's slot? */
static int is_strange(const wgi_stretch *s, const wgi_copy *copy, uint64_t slot) {
    return slot >= s->before &&
           (slot < first_slot(s, copy->run) || slot >= s->run[copy->run].slots);
}

/* Number i of the rows of a group, of which adjoint is what all copies began with. */
static void put_together(struct side_by_side *all, const wgi_copy *copies, size_t i,
                         double *adjoint) {
    const uint32_t slot =
        copies->group * WGI_GROUP_SLOTS + (uint32_t)(i / all->c->lanes);
    const double begun = *adjoint;
    const wgi_copy *first = NULL; /* that has changed it */
    int many = 0;
    for (const wgi_copy *copy = copies; copy != NULL; copy = copy->next)
        if (differs(&copy->rows[i], &begun)) {
            if (is_strange(all->stretch, copy, slot)) atomic_store(&all->strange, slot);
            many = first != NULL;
            first = copy;
        }
    if (first == NULL) return;
    double sum = first->rows[i];
    for (const wgi_copy *copy = copies; many && copy != first; copy = copy->next)
        if (differs(&copy->rows[i], &begun)) sum += copy->rows[i] - begun;
    if (many && __builtin_isnan(sum) && !__builtin_isnan(begun)) atomic_store(&all->odd, slot);
    *adjoint = sum;
}

static void put_group(struct side_by_side *all, const wgi_copy *copies) {
    const size_t lanes = all->c->lanes;
    const uint64_t from = (uint64_t)copies->group * WGI_GROUP_SLOTS,
                   behind = from + WGI_GROUP_SLOTS, to = behind < all->top ? behind : all->top;
    double *const adjoint = wgi_adjoints(all->c) + (size_t)from * lanes;
    const size_t n = (size_t)(to - from) * lanes;
    if (copies->next == NULL && behind <= all->stretch->before)
        memcpy(adjoint, copies->rows, n * sizeof *adjoint);
    else
        for (size_t i = 0; i < n; i++) put_together(all, copies, i, &adjoint[i]);
}

/* The groups of which that run has the last copy. */
static wg_status put_run(void *context, size_t k) {
    struct side_by_side *const all = context;
    const outcome *const o = &all->windows->outcome[k];
    for (size_t i = 0; i < o->copies; i++) {
        const wgi_copy *const copy = copy_of(o, i);
        if (!copy->is_last) continue;
        put_group(all, copy);
        all->windows->last[copy->group] = NULL;
    }
    return WG_OK;
}

static void mark_all(const struct side_by_side *all) {
    for (size_t k = 0; k < all->stretch->runs; k++) {
        const outcome *const o = &all->windows->outcome[k];
        if (o->window == NULL) continue;
        const uint64_t from = first_slot(all->stretch, k), end = all->stretch->run[k].slots,
                       to = end < all->top ? end : all->top;
        if (from < to) wgi_adjoints_mark(all->c, (uint32_t)from, to - from);
        for (size_t i = 0; i < o->copies; i++) {
            const uint64_t slot = (uint64_t)copy_of(o, i)->group * WGI_GROUP_SLOTS;
            const uint64_t left = all->top - slot;
            wgi_adjoints_mark(all->c, (uint32_t)slot,
                              left < WGI_GROUP_SLOTS ? left : WGI_GROUP_SLOTS);
        }
    }
}

/* ---- a stretch ---- */

/* The threads for it: waking them for less takes longer. */
static wg_threads *threads_for(const wgi_stretch *s, uint64_t work, uint64_t least) {
    return work < least ? NULL : s->threads;
}

static wg_status open_all(const struct side_by_side *all) {
    wgi_windows *const windows = all->windows;
    wgi_core *const holder = windows->window[0].c;
    for (size_t k = 0; k < windows->count; k++) {
        wgi_window *const w = &windows->window[k];
        if (w->c->payloads != 0) wgi_payload_at(w->c, 0, w->c->payload[0].base);
        w->stretch = all->stretch;
        w->top = all->top;
        w->copies = 0;
        w->nowhere = NULL;
        w->status = WG_OK;
        w->strange = 0;
    }
    return need_table(holder, &holder->index[2], &windows->groups,
                      all->c->head.slots / WGI_GROUP_SLOTS + 1, sizeof *windows->last,
                      &windows->last);
}

/* A status that nobody has a message for yet. */
static wg_status fail_stretch(struct side_by_side *all, wg_status s) {
    wgi_core *const c = all->c;
    if (s == WG_ENOMEM || s == WG_EBUDGET) {
        c->swept = 0;
        return wgi_refuse(c, s, "a sweep: no memory for adjoints of %zu segments",
                          all->stretch->runs);
    }
    if (s == WG_ESTALE) return wgi_fail_disordered_in(c, all->high, all->low);
    if (s == WG_OK && all->strange != 0) {
        c->swept = 0;
        return wgi_fail(c, WG_ESTALE,
                        "a sweep: a segment of a parallel loop has used slot %u, a variable of "
                        "another one",
                        (unsigned)all->strange);
    }
    if (s == WG_OK && c->traced && all->odd != 0) {
        c->swept = 0;
        return wgi_refuse(c, WG_ENONFINITE,
                          "a sweep: the adjoint of slot %u became NaN where that of several "
                          "segments of a parallel loop is added up",
                          (unsigned)all->odd);
    }
    return s;
}

wg_status wgi_sweep_stretch(wgi_core *c, const wgi_stretch *stretch, uint64_t high,
                            uint64_t low, int marks) {
    enum { LEAST_RECORDS = 8192, LEAST_COPIES = 256 };
    if (high <= low) return WG_OK;
    struct side_by_side all = {
        .c = c, .stretch = stretch, .high = high, .low = low, .marks = marks};
    all.top = (uint64_t)wgi_record_at(c, high - 1)->out + 1;
    wg_threads *const threads = threads_for(stretch, high - low, LEAST_RECORDS);
    const size_t at_once = wg_threads_count(stretch->threads);
    wg_status s =
        need_windows(c, at_once < stretch->runs ? at_once : stretch->runs, stretch->runs);
    if (s != WG_OK) return fail_stretch(&all, s);
    all.windows = c->windows;
    all.windows->at_work = 1;
    s = open_all(&all);
    if (s == WG_OK)
        s = c->traced ? last_run_first(&all)
                      : wgi_threads_run_near(threads, stretch->runs, sweep_run, &all);
    if (s == WG_OK) {
        const size_t copies = link_copies(&all);
        if (marks) mark_all(&all);
        s = wgi_threads_run_near(threads_for(stretch, copies, LEAST_COPIES), stretch->runs,
                                 put_run, &all);
    }
    all.windows->at_work = 0;
    c->marks.runs += all.runs;
    c->marks.left_out += all.left_out;
    return fail_stretch(&all, s);
}

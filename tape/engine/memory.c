/* SPDX-License-Identifier: MIT */
/* Memory: the only file that obtains any, and the one that counts of which budget it is. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MADV_HUGEPAGE */
#include "arena.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#define DEFAULT_RESERVE ((size_t)1 << 37)
/* Larger pieces are not touched before they are used: that would take seconds, and what the
 * machine has not would be found out by being killed. */
#define LARGE ((size_t)1 << 28)
/* For objects of that size lists that stand idle are given back first, and for a function what
 * the tape holds of former recordings. */
#define LARGE_OBJECT ((size_t)1 << 22)

/* ---- the default callbacks ---- */

static void *system_reserve(void *ctx, size_t bytes) {
    (void)ctx;
    /* not MAP_NORESERVE: the system then refuses to commit more than it has */
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static int system_commit(void *ctx, void *p, size_t bytes) {
    (void)ctx;
    if (mprotect(p, bytes, PROT_READ | PROT_WRITE) != 0) return 1;
    /* both may fail; they save a page fault for every page */
    if (bytes >= WGI_HUGE_PAGE) {
        (void)madvise(p, bytes, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
        if (bytes <= LARGE) (void)madvise(p, bytes, MADV_POPULATE_WRITE);
#endif
    }
    return 0;
}

static void system_release(void *ctx, void *p, size_t bytes) {
    (void)ctx;
    (void)munmap(p, bytes);
}

/* Where the address space is limited (ulimit -v) the tape must not take all of it: a BLAS that
 * finds no room for its buffers tries for ever. */
size_t wgi_memory_range(void) {
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY ||
        space.rlim_cur / 64 > DEFAULT_RESERVE)
        return DEFAULT_RESERVE;
    return (size_t)(space.rlim_cur / 64);
}

/* ---- ranges that go on in a file (spill.c) ---- */

void *wgi_range_reserve(size_t bytes) { return system_reserve(NULL, bytes); }

int wgi_range_open(void *p, size_t bytes) { return system_commit(NULL, p, bytes) == 0; }

int wgi_range_map(void *p, size_t bytes, int file, size_t at) {
    /* without a file behind it the range is what it was: not accessible */
    if (mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)at) ==
        MAP_FAILED)
        return 0;
    /* what a child of fork writes there would be the parent's */
    return madvise(p, bytes, MADV_DONTFORK) == 0;
}

void wgi_range_release(void *p, size_t bytes) { system_release(NULL, p, bytes); }

wg_memory wgi_memory_of(const wg_memory *wanted) {
    if (wanted == NULL || wanted->reserve == NULL || wanted->commit == NULL ||
        wanted->release == NULL)
        return (wg_memory){system_reserve, system_commit, system_release, NULL};
    return *wanted;
}

static size_t whole_pages(size_t bytes) { return (bytes + WGI_PAGE - 1) / WGI_PAGE * WGI_PAGE; }

int wgi_memory_is_zero(const wg_memory *m) { return m->commit == system_commit; }

int wgi_memory_shorten(const wg_memory *m, void *p, size_t bytes) {
    return m->release == system_release &&
           mmap(p, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
               MAP_FAILED;
}

/* Has the machine so much, all in all, of which `bytes` are in the account already? What was
 * promised beyond is missing when it is touched. */
static int is_there(const wg_memory *m, const wgi_account *a, size_t bytes) {
    struct sysinfo all;
    if (bytes <= LARGE || m->release != system_release || sysinfo(&all) != 0) return 1;
    const uint64_t has = ((uint64_t)all.totalram + all.totalswap) * all.mem_unit;
    return (a != NULL ? wgi_account_committed(a) : bytes) <= has;
}

int wgi_memory_commit(const wg_memory *m, const wgi_account *a, void *p, size_t bytes) {
    return is_there(m, a, bytes) && m->commit(m->ctx, p, bytes) == 0;
}

void *wgi_memory_obtain(const wg_memory *m, const wgi_account *a, size_t *bytes) {
    if (*bytes > SIZE_MAX / 2) return NULL;
    *bytes = whole_pages(*bytes);
    void *const p = m->reserve(m->ctx, *bytes);
    if (p == NULL || wgi_memory_commit(m, a, p, *bytes)) return p;
    m->release(m->ctx, p, *bytes);
    return NULL;
}

/* ---- accounts ---- */

void wgi_account_open(wgi_account *a, const wg_memory *m, void *range, size_t bytes) {
    a->memory = *m;
    a->range = range;
    a->bytes = bytes;
    atomic_store_explicit(&a->holders, 1, memory_order_relaxed);
}

void wgi_account_join(wgi_account *a) {
    (void)atomic_fetch_add_explicit(&a->holders, 1, memory_order_relaxed);
}

void wgi_account_leave(wgi_account *a) {
    if (atomic_fetch_sub_explicit(&a->holders, 1, memory_order_acq_rel) != 1) return;
    const wg_memory m = a->memory;
    m.release(m.ctx, a->range, a->bytes);
}

size_t wgi_account_committed(const wgi_account *a) {
    return atomic_load_explicit(&a->committed, memory_order_relaxed);
}

size_t wgi_account_most(const wgi_account *a) {
    return atomic_load_explicit(&a->most, memory_order_relaxed);
}

size_t wgi_account_left(const wgi_account *a) {
    return a->budget == 0 ? SIZE_MAX : a->budget - wgi_account_committed(a);
}

int wgi_account_take(wgi_account *a, size_t bytes) {
    size_t held = wgi_account_committed(a), most = wgi_account_most(a);
    do
        if (a->budget != 0 && bytes > a->budget - held) return 0;
    while (!atomic_compare_exchange_weak_explicit(&a->committed, &held, held + bytes,
                                                  memory_order_relaxed, memory_order_relaxed));
    while (held + bytes > most &&
           !atomic_compare_exchange_weak_explicit(&a->most, &most, held + bytes,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
    return 1;
}

void wgi_account_give(wgi_account *a, size_t bytes) {
    (void)atomic_fetch_sub_explicit(&a->committed, bytes, memory_order_relaxed);
}

/* ---- objects ---- */

/* Of home->bytes, which the account has. */
static wg_status obtain(wgi_home *home, void **out) {
    *out = wgi_memory_obtain(&home->memory, home->account, &home->bytes);
    if (*out == NULL) {
        if (home->account != NULL) wgi_account_give(home->account, home->bytes);
        return WG_ENOMEM;
    }
    if (home->account != NULL) wgi_account_join(home->account);
    return WG_OK;
}

wg_status wgi_home_obtain(wgi_core *c, size_t bytes, wgi_home *home, void **out) {
    wgi_account *const account = c->buffer == NULL ? c->account : NULL;
    *out = NULL;
    if (bytes > SIZE_MAX / 2) return WG_ENOMEM;
    *home = (wgi_home){c->memory, account, whole_pages(bytes)};
    if (home->bytes >= LARGE_OBJECT) (void)wgi_give_up_lists(c, NULL);
    do
        if (account != NULL && wgi_budget_need(c, home->bytes, NULL) != WG_OK)
            return WG_EBUDGET;
    while (account != NULL && !wgi_account_take(account, home->bytes));
    return obtain(home, out);
}

wg_status wgi_home_obtain_function(wgi_core *c, size_t bytes, wgi_home *home, void **out) {
    if (bytes >= LARGE_OBJECT && c->buffer == NULL) (void)wgi_give_up_forgotten(c, NULL);
    return wgi_home_obtain(c, bytes, home, out);
}

wg_status wgi_home_obtain_beside(const wgi_home *of, size_t bytes, wgi_home *home, void **out) {
    *out = NULL;
    if (bytes > SIZE_MAX / 2) return WG_ENOMEM;
    *home = (wgi_home){of->memory, of->account, whole_pages(bytes)};
    if (home->account != NULL && !wgi_account_take(home->account, home->bytes))
        return WG_EBUDGET;
    return obtain(home, out);
}

void wgi_home_release(const wgi_home *home, void *object) {
    const wgi_home here = *home;
    here.memory.release(here.memory.ctx, object, here.bytes);
    if (here.account == NULL) return;
    wgi_account_give(here.account, here.bytes);
    wgi_account_leave(here.account);
}

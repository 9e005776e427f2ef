/* SPDX-License-Identifier: MIT */
/* counted.c - see counted.h. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "counted.h"
#include "depth.h"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, FILLED = 8 * PAGE };

struct counted counted_start(void) {
    struct counted m = {.fail_at = SIZE_MAX, .largest = SIZE_MAX};
    return m;
}

/* Released ranges. */
static struct counted_range spare[COUNTED_RANGES];
static size_t spares, releases;

/* The last released one of this size, or a new one; NULL: there is none. */
static struct counted_range *obtain(struct counted_range *to, size_t bytes) {
    for (size_t i = spares; i-- > 0;) {
        if (spare[i].bytes != bytes) continue;
        *to = spare[i];
        to->committed = 0;
        spare[i] = spare[--spares];
        return to;
    }
    void *const p =
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *to = (struct counted_range){.base = p, .bytes = bytes};
    return p == MAP_FAILED ? NULL : to;
}

/* Of released ranges one in so many is made inaccessible: a prime number, so that of calls that are
 * repeated each is met. */
enum { SELDOM = 7 };

static void put_aside(struct counted_range r) {
    const int closes = is_deep() || ++releases % SELDOM == 0;
    if (spares == COUNTED_RANGES ||
        (closes && r.open != 0 && mprotect(r.base, r.open, PROT_NONE) != 0)) {
        (void)munmap(r.base, r.bytes);
        return;
    }
    if (closes) r.open = 0;
    spare[spares++] = r;
}

static int refuses(struct counted *m) {
    const size_t number = m->asked++;
    m->calls++;
    if (number != m->fail_at && !(m->fail_on && number > m->fail_at)) return 0;
    m->refused++;
    return 1;
}

static void *reserve(void *ctx, size_t bytes) {
    struct counted *const m = ctx;
    if (bytes == 0 || bytes % PAGE != 0) m->wrong++;
    if (refuses(m) || bytes > m->largest || m->ranges == COUNTED_RANGES) return NULL;
    return obtain(&m->range[m->ranges], bytes) != NULL ? m->range[m->ranges++].base : NULL;
}

static int commit(void *ctx, void *p, size_t bytes) {
    struct counted *const m = ctx;
    char *const from = p;
    size_t i = 0;
    while (i < m->ranges &&
           (from < m->range[i].base || from >= m->range[i].base + m->range[i].bytes))
        i++;
    if (i == m->ranges || bytes == 0 || bytes % PAGE != 0 ||
        from != m->range[i].base + m->range[i].committed ||
        bytes > m->range[i].bytes - m->range[i].committed) {
        m->wrong++;
        return 1;
    }
    if (refuses(m)) return 1;
    const size_t end = m->range[i].committed + bytes;
    if (end > m->range[i].open) {
        if (mprotect(p, bytes, PROT_READ | PROT_WRITE) != 0) return 1;
        m->range[i].open = end;
    }
    m->range[i].committed = end;
    /* nobody may count on zeros; pieces are far larger than what tests put into them */
    if (m->range[i].committed > m->range[i].used) {
        memset(p, 0x5a, bytes < FILLED ? bytes : FILLED);
        memset(from + bytes - PAGE, 0x5a, PAGE);
        m->range[i].used = m->range[i].committed;
    }
    m->committed += bytes;
    if (m->committed > m->most) m->most = m->committed;
    return 0;
}

static void release(void *ctx, void *p, size_t bytes) {
    struct counted *const m = ctx;
    m->calls++;
    for (size_t i = 0; i < m->ranges; i++) {
        if (m->range[i].base != (char *)p || m->range[i].bytes != bytes) continue;
        m->committed -= m->range[i].committed;
        put_aside(m->range[i]);
        /* the order stays: the first range is the tape itself */
        for (m->ranges--; i < m->ranges; i++) m->range[i] = m->range[i + 1];
        return;
    }
    m->wrong++;
}

wg_memory counted_memory(struct counted *m) { return (wg_memory){reserve, commit, release, m}; }

void counted_seal(struct counted *m, int sealed) {
    for (size_t i = 1; i < m->ranges; i++) {
        if (m->range[i].committed == 0) continue;
        (void)mprotect(m->range[i].base, m->range[i].committed,
                       sealed ? PROT_NONE : PROT_READ | PROT_WRITE);
        m->range[i].open = sealed ? 0 : m->range[i].committed;
    }
}

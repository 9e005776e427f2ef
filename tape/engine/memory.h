/* SPDX-License-Identifier: MIT */
/* memory.h - obtaining memory, and counting it. Internal. */
#ifndef WGI_TAPE_ENGINE_MEMORY_H
#define WGI_TAPE_ENGINE_MEMORY_H

#include <wengert/types.h>

#include <stdatomic.h>
#include <stdint.h>

enum { WGI_PAGE = 4096, WGI_HUGE_PAGE = 2 << 20 };

/* The callbacks of m, and the defaults for those that are NULL, or all where m is NULL. */
wg_memory wgi_memory_of(const wg_memory *m);
/* How much address space an extent asks for at first. */
size_t wgi_memory_range(void);
/* Is what has just become usable 0? */
int wgi_memory_is_zero(const wg_memory *m);
/* Makes the end of a range unusable, and gives its pages back; 0: it cannot be done. */
int wgi_memory_shorten(const wg_memory *m, void *p, size_t bytes);

/* ---- ranges, of the system's memory or of a file: for spill.c ----
 * Reserved, made usable piece by piece, and given back whole. NULL, 0: it cannot be done. A
 * piece of a file is not there in a child of fork. */
void *wgi_range_reserve(size_t bytes);
int wgi_range_open(void *p, size_t bytes);
int wgi_range_map(void *p, size_t bytes, int file, size_t at);
void wgi_range_release(void *p, size_t bytes);

/* ---- accounts ----
 * Everything that is of one budget: the tape that has it, tapes beside it, and objects made on
 * them. The account stands in that tape, whose own pages stay until the last of them is freed.
 * The thread of the tape takes, and those that record segments of a parallel loop; objects are
 * freed in any thread. */
typedef struct wgi_account {
    size_t budget; /* bytes; 0: no limit */
    atomic_size_t committed, most;
    atomic_size_t holders; /* the tape, tapes beside it, objects */
    wg_memory memory;
    void *range; /* in which it stands; NULL: in a caller's buffer */
    size_t bytes;
} wgi_account;

/* The account of a tape alone, which stands at `range`, or, NULL, in a buffer. */
void wgi_account_open(wgi_account *a, const wg_memory *m, void *range, size_t bytes);
void wgi_account_join(wgi_account *a);
/* The last to leave releases the range. */
void wgi_account_leave(wgi_account *a);
/* 0: there is not so much left. */
int wgi_account_take(wgi_account *a, size_t bytes);
void wgi_account_give(wgi_account *a, size_t bytes);
size_t wgi_account_committed(const wgi_account *a);
size_t wgi_account_most(const wgi_account *a);
/* What is left of the budget; SIZE_MAX: there is none. */
size_t wgi_account_left(const wgi_account *a);
static inline int wgi_account_has(const wgi_account *a, size_t bytes) {
    return bytes <= wgi_account_left(a);
}
/* Makes bytes of a range usable, which that account has taken; 0: there is no memory, or the
 * machine has less than the account has. */
int wgi_memory_commit(const wg_memory *m, const wgi_account *a, void *p, size_t bytes);
/* Memory at once: *bytes, which are rounded up to what has to be released; they are not taken
 * into the account, which may be NULL. NULL: there is none. */
void *wgi_memory_obtain(const wg_memory *m, const wgi_account *a, size_t *bytes);

/* ---- objects ---- */

/* Where an object stands that is no part of a tape, and of which account it is. */
typedef struct wgi_home {
    wg_memory memory;
    wgi_account *account; /* NULL: none, since it was made on a tape in a caller's buffer */
    size_t bytes;
} wgi_home;

/* Memory for what belongs to an object and may come later, from where that has its own; *home
 * becomes a part of it. WG_OK, WG_EBUDGET or WG_ENOMEM. */
wg_status wgi_home_obtain_beside(const wgi_home *of, size_t bytes, wgi_home *home, void **out);
/* Gives back what wgi_home_obtain gave, or that; `home` may be a part of it. */
void wgi_home_release(const wgi_home *home, void *object);

#endif

/* SPDX-License-Identifier: MIT */
/* Memory that goes on in a file: ranges are reserved as ever, and what is committed of them is
 * memory at first, and then mapped from the file, where there is a gap. Pieces are listed in
 * the order of their places in the file, those of memory last; a piece that goes on where
 * another one ends, in both, is made one with it. That it is of the same
 * range: behind each of these a page is left out, so that no other begins where it ends. */
#define _GNU_SOURCE /* O_TMPFILE */
#include <wengert/spill.h>

#include "tape.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct piece {
    char *base;
    size_t bytes, at; /* IN_MEMORY, or where in the file */
} piece;
enum { MOST_PIECES = 1 << 14 };
static const size_t IN_MEMORY = SIZE_MAX;

struct wg_spill {
    pthread_mutex_t lock;
    int file;
    size_t resident, bytes; /* at most */
    size_t in_memory, used; /* now */
    size_t pieces;
    piece piece[];
};
static const size_t WHOLE = sizeof(wg_spill) + MOST_PIECES * sizeof(piece);

/* ---- the file ---- */

static const char *reason_of(int error) {
    return error == ENOSPC   ? "the disk is full"
           : error == EDQUOT ? "the quota is used up"
           : error == EFBIG  ? "the file would be too large"
           : error == EACCES || error == EPERM || error == EROFS
               ? "it is not allowed to write there"
           : error == ENOENT || error == ENOTDIR ? "there is no such directory"
                                                 : "no file can be made there";
}

/* A file without a name; where the file system has no such, one that loses it. */
static int open_file(const char *directory) {
    const int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/wengert-spill-XXXXXX", directory);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENOENT;
        return -1;
    }
    const int named = mkostemp(path, O_CLOEXEC);
    if (named >= 0) (void)unlink(path);
    return named;
}

static int take_space(int file, size_t bytes) {
    struct rlimit most; /* beyond it the system would send a signal */
    int error;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
        most.rlim_cur < bytes)
        return EFBIG;
    do error = posix_fallocate(file, 0, (off_t)bytes);
    while (error == EINTR);
    return error;
}

wg_status wg_spill_new(const char *directory, size_t resident, size_t bytes, wg_spill **out,
                       const char **why) {
    const char *unwanted;
    if (why == NULL) why = &unwanted;
    *why = "";
    if (out != NULL) *out = NULL;
    if (directory == NULL || out == NULL) return WG_ENULL;
    if (bytes == 0 || bytes > INT64_MAX - WGI_PAGE) {
        *why = "a file of no bytes, or of more than a file can have";
        return WG_EARG;
    }
    bytes = (bytes + WGI_PAGE - 1) / WGI_PAGE * WGI_PAGE;
    const int file = open_file(directory);
    const int error = file < 0 ? errno : take_space(file, bytes);
    if (error != 0) {
        *why = reason_of(error);
        if (file >= 0) (void)close(file);
        return WG_EWRITE;
    }
    wg_spill *const s = wgi_range_reserve(WHOLE);
    if (s == NULL || !wgi_range_open(s, WHOLE)) {
        *why = "out of memory";
        if (s != NULL) wgi_range_release(s, WHOLE);
        (void)close(file);
        return WG_ENOMEM;
    }
    (void)pthread_mutex_init(&s->lock, NULL);
    s->file = file;
    s->resident = resident, s->bytes = bytes;
    *out = s;
    return WG_OK;
}

void wg_spill_free(wg_spill *s) {
    if (s == NULL) return;
    (void)close(s->file);
    (void)pthread_mutex_destroy(&s->lock);
    wgi_range_release(s, WHOLE);
}

size_t wg_spill_used(wg_spill *s) {
    if (s == NULL) return 0;
    (void)pthread_mutex_lock(&s->lock);
    const size_t used = s->used;
    (void)pthread_mutex_unlock(&s->lock);
    return used;
}

/* ---- pieces ---- */

static char *end_of(const piece *p) { return p->base + p->bytes; }

/* Where a piece would stand in the list: in the first gap of the file, best behind the one that
 * ends at `base`, so that the two become one. *at: the place; IN_MEMORY: there is none. */
static size_t find_gap(const wg_spill *s, const char *base, size_t bytes, size_t *at) {
    size_t end = 0, best = s->pieces;
    *at = IN_MEMORY;
    for (size_t k = 0; k <= s->pieces; k++) {
        const int last = k == s->pieces || s->piece[k].at == IN_MEMORY;
        const size_t until = last ? s->bytes : s->piece[k].at;
        const int follows = k != 0 && end_of(&s->piece[k - 1]) == base;
        if (until - end >= bytes && (*at == IN_MEMORY || follows)) *at = end, best = k;
        if (last || (follows && *at == end)) break;
        end = s->piece[k].at + s->piece[k].bytes;
    }
    return best;
}

/* The piece that goes on at `base`, in the file at `at`; NULL: none does. */
static piece *find_before(wg_spill *s, size_t where, const char *base, size_t at) {
    if (at != IN_MEMORY) {
        piece *const p = where == 0 ? NULL : &s->piece[where - 1];
        return p != NULL && end_of(p) == base && p->at + p->bytes == at ? p : NULL;
    }
    for (size_t k = s->pieces; k > 0 && s->piece[k - 1].at == IN_MEMORY; k--)
        if (end_of(&s->piece[k - 1]) == base) return &s->piece[k - 1];
    return NULL;
}

static void list(wg_spill *s, size_t where, char *base, size_t bytes, size_t at) {
    piece *const before = find_before(s, where, base, at);
    if (before != NULL) {
        before->bytes += bytes;
        return;
    }
    memmove(&s->piece[where + 1], &s->piece[where], (s->pieces - where) * sizeof *s->piece);
    s->piece[where] = (piece){base, bytes, at};
    s->pieces++;
}

static int commit_locked(wg_spill *s, char *base, size_t bytes) {
    size_t at = IN_MEMORY, where = s->pieces;
    const int in_memory = bytes <= s->resident - s->in_memory;
    if (s->pieces == MOST_PIECES) return 1;
    if (!in_memory) where = find_gap(s, base, bytes, &at);
    if (!in_memory && at == IN_MEMORY) return 1;
    if (in_memory ? !wgi_range_open(base, bytes) : !wgi_range_map(base, bytes, s->file, at))
        return 1;
    list(s, where, base, bytes, at);
    *(in_memory ? &s->in_memory : &s->used) += bytes;
    return 0;
}

/* ---- the callbacks ---- */

static void *reserve(void *ctx, size_t bytes) {
    (void)ctx;
    return bytes <= SIZE_MAX - WGI_PAGE ? wgi_range_reserve(bytes + WGI_PAGE) : NULL;
}

static int commit(void *ctx, void *p, size_t bytes) {
    wg_spill *const s = ctx;
    (void)pthread_mutex_lock(&s->lock);
    const int failed = commit_locked(s, p, bytes);
    (void)pthread_mutex_unlock(&s->lock);
    return failed;
}

static void release(void *ctx, void *p, size_t bytes) {
    wg_spill *const s = ctx;
    const char *const base = p;
    size_t left = 0;
    (void)pthread_mutex_lock(&s->lock);
    for (size_t k = 0; k < s->pieces; k++) {
        const piece *const of = &s->piece[k];
        if (of->base < base || of->base >= base + bytes) s->piece[left++] = *of;
        else *(of->at == IN_MEMORY ? &s->in_memory : &s->used) -= of->bytes;
    }
    s->pieces = left;
    (void)pthread_mutex_unlock(&s->lock);
    wgi_range_release(
        p, bytes + WGI_PAGE); /* last: only then may the same addresses be another range */
}

wg_memory wg_spill_memory(wg_spill *s) {
    return s == NULL ? (wg_memory){NULL, NULL, NULL, NULL}
                     : (wg_memory){reserve, commit, release, s};
}

/* SPDX-License-Identifier: MIT */
/* States of a loop, kept equally spaced while their number is not known beforehand: whenever there is no
 * room, every second one is given up (Stumm and Walther 2010, SIAM J. Sci. Comput. 32(2)). */
#define _DEFAULT_SOURCE /* flock */
#include "loop_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, HEAD_WORDS = 7, VERSION = 1 };
static const char magic[8] = "wg loop\n";

/* ---- places ---- */

static size_t slot_bytes(const wgi_loop_store *s) { return (s->n + 2) * 8; }
static size_t journal_bytes(const wgi_loop_store *s) { return (s->n + s->np + 5) * 8; }
static size_t in_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }
static size_t journal_at(const wgi_loop_store *s, uint64_t sequence) {
    return PAGE + (sequence % 2) * in_pages(journal_bytes(s));
}
static size_t slot_at(const wgi_loop_store *s, size_t k) {
    return PAGE + 2 * in_pages(journal_bytes(s)) + k * slot_bytes(s);
}

void wgi_loop_store_lay_out(wgi_loop_store *s, wgi_pieces *p) {
    const size_t slot = slot_bytes(s), journal = journal_bytes(s);
    s->step = wgi_pieces_take(p, s->states * sizeof *s->step);
    s->kept = s->path == NULL ? wgi_pieces_doubles(p, s->states * s->n) : NULL;
    s->piece = s->path != NULL ? wgi_pieces_take(p, slot > journal ? slot : journal) : NULL;
}

/* ---- words ---- */

static uint64_t check_of(const void *data, size_t bytes) {
    const unsigned char *const p = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static void put_check(void *data, size_t bytes) {
    const uint64_t h = check_of(data, bytes - 8);
    memcpy((char *)data + bytes - 8, &h, 8);
}
static int is_whole(const void *data, size_t bytes) {
    const uint64_t h = check_of(data, bytes - 8);
    return memcmp((const char *)data + bytes - 8, &h, 8) == 0;
}

static void copy(void *to, const void *from, size_t bytes) {
    if (bytes != 0) memcpy(to, from, bytes);
}

/* ---- the file ---- */

static wg_status fail(wgi_loop_store *s, wg_status status, const char *what, int error) {
    const char *const reason = error == ENOSPC   ? ": the disk is full"
                               : error == EDQUOT ? ": the quota is used up"
                               : error == EACCES || error == EPERM || error == EROFS
                                   ? ": it is not allowed"
                               : error == ENOENT      ? ": there is no such directory"
                               : error == EWOULDBLOCK ? ": another run uses it"
                                                      : "";
    if (error != 0 && *reason == 0)
        (void)snprintf(s->why, sizeof s->why, "%s: error %d of the system", what, error);
    else (void)snprintf(s->why, sizeof s->why, "%s%s", what, reason);
    return status;
}

static wg_status put(wgi_loop_store *s, const void *data, size_t bytes, size_t at) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t n =
            pwrite(s->file, (const char *)data + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return fail(s, WG_EWRITE, "the file cannot be written", n < 0 ? errno : ENOSPC);
        done += (size_t)n;
    }
    return WG_OK;
}
/* What is written goes to the disk, once a second: it is worth no more than that when the power fails, and
 * needs no order, as what did not get there has no check. */
static wg_status flush(wgi_loop_store *s) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec == s->flushed) return WG_OK;
    s->flushed = now.tv_sec;
    while (fdatasync(s->file) != 0) {
        if (errno == EINTR) continue;
        if (errno == EINVAL || errno == ENOSYS) return WG_OK; /* it cannot be told to */
        return fail(s, WG_EWRITE, "the file cannot be written", errno);
    }
    return WG_OK;
}
/* What is behind the end of the file is 0. */
static wg_status get(wgi_loop_store *s, void *data, size_t bytes, size_t at) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(s->file, (char *)data + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(s, WG_EWRITE, "the file cannot be read", errno);
        if (n == 0) {
            memset((char *)data + done, 0, bytes - done);
            return WG_OK;
        }
        done += (size_t)n;
    }
    return WG_OK;
}

static void head_of(const wgi_loop_store *s, uint64_t head[HEAD_WORDS]) {
    memcpy(&head[0], magic, 8);
    head[1] = VERSION;
    head[2] = s->key;
    head[3] = s->n;
    head[4] = s->np;
    head[5] = s->states;
    put_check(head, HEAD_WORDS * 8);
}

/* Takes all the space first: a disk that is full says so now, and not after hours. */
static wg_status make(wgi_loop_store *s) {
    uint64_t head[HEAD_WORDS];
    const int error = posix_fallocate(s->file, 0, (off_t)slot_at(s, s->states));
    if (error != 0) return fail(s, WG_EWRITE, "the file cannot be made", error);
    head_of(s, head);
    const wg_status status = put(s, head, sizeof head, 0);
    return status == WG_OK ? flush(s) : status;
}

/* What could not be made leaves nothing behind. */
static wg_status make_or_remove(wgi_loop_store *s) {
    const wg_status status = make(s);
    if (status != WG_OK) (void)unlink(s->path);
    return status;
}

static wg_status read_journal(wgi_loop_store *s, wgi_loop_journal *journal) {
    for (uint64_t half = 0; half < 2; half++) {
        uint64_t word[3];
        const wg_status status = get(s, s->piece, journal_bytes(s), journal_at(s, half));
        if (status != WG_OK) return status;
        memcpy(word, s->piece, sizeof word);
        if (!is_whole(s->piece, journal_bytes(s)) || word[0] <= journal->sequence ||
            word[0] % 2 != half || word[2] > word[1])
            continue;
        journal->sequence = word[0];
        journal->steps = word[1];
        journal->left = word[2];
        memcpy(&journal->value, s->piece + 24, 8);
        copy(journal->adjoint, s->piece + 32, (s->n + s->np) * 8);
    }
    return WG_OK;
}

static wg_status read_slots(wgi_loop_store *s) {
    for (size_t k = 0; k < s->states; k++) {
        uint64_t step;
        const wg_status status = get(s, s->piece, slot_bytes(s), slot_at(s, k));
        if (status != WG_OK) return status;
        memcpy(&step, s->piece, 8);
        s->step[k] = is_whole(s->piece, slot_bytes(s)) ? (size_t)step : 0;
        /* each that is there is a multiple of the stride at the time, or is given up by it */
        while (s->step[k] / s->stride > s->states) s->stride *= 2;
    }
    for (size_t k = 0; k < s->states; k++)
        if (s->step[k] % s->stride != 0) s->step[k] = 0;
    return WG_OK;
}

/* Is there nothing but 0, and no more of it than we had made? */
static wg_status find_blank(wgi_loop_store *s, size_t size, int *blank) {
    static const char none[PAGE] = {0};
    char page[PAGE];
    *blank = size <= slot_at(s, s->states);
    for (size_t at = 0; at < size && *blank; at += sizeof page) {
        const wg_status status = get(s, page, sizeof page, at);
        if (status != WG_OK) return status;
        *blank = memcmp(page, none, sizeof page) == 0;
    }
    return WG_OK;
}

static wg_status open_file(wgi_loop_store *s, wgi_loop_journal *journal) {
    uint64_t head[HEAD_WORDS], wanted[HEAD_WORDS];
    int blank;
    s->file = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (s->file < 0) return fail(s, WG_EWRITE, "the file cannot be opened", errno);
    if (flock(s->file, LOCK_EX | LOCK_NB) != 0)
        return fail(s, WG_EWRITE, "the file cannot be locked", errno);
    struct stat about;
    if (fstat(s->file, &about) != 0 || !S_ISREG(about.st_mode))
        return fail(s, WG_EWRITE, "this is no file", 0);
    wg_status status = find_blank(s, (size_t)about.st_size, &blank);
    if (status != WG_OK) return status;
    if (blank) return make_or_remove(s); /* new, or not finished by then */
    status = get(s, head, sizeof head, 0);
    if (status != WG_OK) return status;
    head_of(s, wanted);
    if (memcmp(&head[0], magic, 8) != 0)
        return fail(s, WG_EARG, "the file is none of wg_loop_gradient", 0);
    if (memcmp(head, wanted, sizeof head) != 0)
        return fail(s, WG_EARG, "the file is of another run, or of another number of states",
                    0);
    status = read_journal(s, journal);
    return status == WG_OK ? read_slots(s) : status;
}

wg_status wgi_loop_store_open(wgi_loop_store *s, wgi_loop_journal *journal) {
    s->stride = 1;
    s->file = -1;
    memset(s->step, 0, s->states * sizeof *s->step);
    return s->path != NULL ? open_file(s, journal) : WG_OK;
}

void wgi_loop_store_close(wgi_loop_store *s, int done) {
    if (s->path == NULL || s->file < 0) return;
    if (done) (void)unlink(s->path);
    (void)close(s->file);
}

/* ---- states ---- */

static size_t find_free(const wgi_loop_store *s) {
    size_t k = 0;
    while (k < s->states && s->step[k] != 0) k++;
    return k;
}

wg_status wgi_loop_store_pass(wgi_loop_store *s, size_t step, const double *state, int *kept) {
    *kept = 0;
    if (step % s->stride != 0) return WG_OK;
    size_t k = find_free(s);
    if (k == s->states) {
        s->stride *= 2;
        for (size_t i = 0; i < s->states; i++)
            if (s->step[i] % s->stride != 0) s->step[i] = 0;
        k = find_free(s);
        if (step % s->stride != 0 || k == s->states) return WG_OK;
    }
    *kept = 1;
    if (s->path != NULL) {
        const uint64_t number = step;
        memcpy(s->piece, &number, 8);
        copy(s->piece + 8, state, s->n * 8);
        put_check(s->piece, slot_bytes(s));
        wg_status status = put(s, s->piece, slot_bytes(s), slot_at(s, k));
        if (status == WG_OK) status = flush(s);
        if (status != WG_OK) return status;
    } else {
        copy(s->kept + k * s->n, state, s->n * 8);
    }
    s->step[k] = step;
    return WG_OK;
}

wg_status wgi_loop_store_before(wgi_loop_store *s, size_t end, double *state, size_t *step) {
    for (;;) {
        size_t best = s->states;
        for (size_t k = 0; k < s->states; k++)
            if (s->step[k] != 0 && s->step[k] < end &&
                (best == s->states || s->step[k] > s->step[best]))
                best = k;
        *step = best != s->states ? s->step[best] : 0;
        if (best == s->states) return WG_OK;
        if (s->path == NULL) {
            copy(state, s->kept + best * s->n, s->n * 8);
            return WG_OK;
        }
        uint64_t number;
        const wg_status status = get(s, s->piece, slot_bytes(s), slot_at(s, best));
        if (status != WG_OK) return status;
        memcpy(&number, s->piece, 8);
        if (is_whole(s->piece, slot_bytes(s)) && number == *step) {
            copy(state, s->piece + 8, s->n * 8);
            return WG_OK;
        }
        s->step[best] = 0;
    }
}

wg_status wgi_loop_store_save(wgi_loop_store *s, wgi_loop_journal *journal) {
    if (s->path == NULL) return WG_OK;
    const uint64_t word[3] = {++journal->sequence, journal->steps, journal->left};
    memcpy(s->piece, word, sizeof word);
    memcpy(s->piece + 24, &journal->value, 8);
    copy(s->piece + 32, journal->adjoint, (s->n + s->np) * 8);
    put_check(s->piece, journal_bytes(s));
    const wg_status status =
        put(s, s->piece, journal_bytes(s), journal_at(s, journal->sequence));
    return status == WG_OK ? flush(s) : status;
}

/* SPDX-License-Identifier: MIT */
/* Files of runs that go on after a kill: opened, locked, made, written. */
#define _DEFAULT_SOURCE /* flock */
#include "run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_WORDS = 7, VERSION = 1 };

/* ---- checks ---- */

void wgi_run_put_check(void *data, size_t bytes) {
    const uint64_t h = wgi_checksum(WGI_CHECKSUM_START, data, bytes - 8);
    memcpy((char *)data + bytes - 8, &h, 8);
}
int wgi_run_is_whole(const void *data, size_t bytes) {
    const uint64_t h = wgi_checksum(WGI_CHECKSUM_START, data, bytes - 8);
    return memcmp((const char *)data + bytes - 8, &h, 8) == 0;
}

/* ---- bytes ---- */

static wg_status fail(wgi_run_file *f, wg_status status, const char *what, int error) {
    const char *const reason = error == ENOSPC   ? ": the disk is full"
                               : error == EDQUOT ? ": the quota is used up"
                               : error == EACCES || error == EPERM || error == EROFS
                                   ? ": it is not allowed"
                               : error == ENOENT      ? ": there is no such directory"
                               : error == EWOULDBLOCK ? ": another run uses it"
                                                      : "";
    if (error != 0 && *reason == 0)
        (void)snprintf(f->why, sizeof f->why, "%s: error %d of the system", what, error);
    else (void)snprintf(f->why, sizeof f->why, "%s%s", what, reason);
    return status;
}

wg_status wgi_run_file_put(wgi_run_file *f, const void *data, size_t bytes, size_t at) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t n =
            pwrite(f->file, (const char *)data + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return fail(f, WG_EWRITE, "the file cannot be written", n < 0 ? errno : ENOSPC);
        done += (size_t)n;
    }
    return WG_OK;
}
wg_status wgi_run_file_flush(wgi_run_file *f) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec == f->flushed) return WG_OK;
    f->flushed = now.tv_sec;
    while (fdatasync(f->file) != 0) {
        if (errno == EINTR) continue;
        if (errno == EINVAL || errno == ENOSYS) return WG_OK; /* a file that has no sync */
        return fail(f, WG_EWRITE, "the file cannot be written", errno);
    }
    return WG_OK;
}
wg_status wgi_run_file_get(wgi_run_file *f, void *data, size_t bytes, size_t at) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(f->file, (char *)data + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(f, WG_EWRITE, "the file cannot be read", errno);
        if (n == 0) {
            memset((char *)data + done, 0, bytes - done);
            return WG_OK;
        }
        done += (size_t)n;
    }
    return WG_OK;
}

/* ---- the file ---- */

static void head_of(const wgi_run_file *f, uint64_t head[HEAD_WORDS]) {
    memcpy(&head[0], f->kind, 8);
    head[1] = VERSION;
    head[2] = f->key;
    memcpy(&head[3], f->size, sizeof f->size);
    wgi_run_put_check(head, HEAD_WORDS * 8);
}

/* Takes all the space first: a disk that is full says so now, and not after hours. */
static wg_status make(wgi_run_file *f) {
    uint64_t head[HEAD_WORDS];
    const int error = posix_fallocate(f->file, 0, (off_t)f->bytes);
    if (error != 0) return fail(f, WG_EWRITE, "the file cannot be made", error);
    head_of(f, head);
    const wg_status status = wgi_run_file_put(f, head, sizeof head, 0);
    return status == WG_OK ? wgi_run_file_flush(f) : status;
}

/* What could not be made leaves nothing behind. */
static wg_status make_or_remove(wgi_run_file *f) {
    const wg_status status = make(f);
    if (status != WG_OK) (void)unlink(f->path);
    return status;
}

/* Is there nothing but 0, and no more of it than we had made? */
static wg_status find_blank(wgi_run_file *f, size_t size, int *blank) {
    static const char none[WGI_RUN_PAGE] = {0};
    char page[WGI_RUN_PAGE];
    *blank = size <= f->bytes;
    for (size_t at = 0; at < size && *blank; at += sizeof page) {
        const wg_status status = wgi_run_file_get(f, page, sizeof page, at);
        if (status != WG_OK) return status;
        *blank = memcmp(page, none, sizeof page) == 0;
    }
    return WG_OK;
}

wg_status wgi_run_file_open(wgi_run_file *f) {
    uint64_t head[HEAD_WORDS], wanted[HEAD_WORDS];
    int blank;
    f->file = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (f->file < 0) return fail(f, WG_EWRITE, "the file cannot be opened", errno);
    if (flock(f->file, LOCK_EX | LOCK_NB) != 0)
        return fail(f, WG_EWRITE, "the file cannot be locked", errno);
    struct stat about;
    if (fstat(f->file, &about) != 0 || !S_ISREG(about.st_mode))
        return fail(f, WG_EWRITE, "this is no file", 0);
    wg_status status = find_blank(f, (size_t)about.st_size, &blank);
    if (status != WG_OK) return status;
    if (blank) return make_or_remove(f); /* new, or not finished by then */
    status = wgi_run_file_get(f, head, sizeof head, 0);
    if (status != WG_OK) return status;
    head_of(f, wanted);
    if (memcmp(&head[0], f->kind, 8) != 0) {
        (void)snprintf(f->why, sizeof f->why, "the file is none of %s", f->call);
        return WG_EARG;
    }
    if (memcmp(head, wanted, sizeof head) != 0)
        return fail(f, WG_EARG, "the file is of another run, or of another number of states",
                    0);
    return WG_OK;
}

void wgi_run_file_close(wgi_run_file *f, int done) {
    if (f->path == NULL || f->file < 0) return;
    if (done) (void)unlink(f->path);
    (void)close(f->file);
    f->file = -1;
}

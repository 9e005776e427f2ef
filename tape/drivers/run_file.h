/* SPDX-License-Identifier: MIT */
/* run_file.h - a file from which a run that was killed goes on: it says which run it is of, is
 * used by one process at a time, and has all its space from the beginning. Internal.
 *
 * Its first page is the head: eight characters, version, key of the run, three sizes, and a
 * check of these. What stands behind it, and how it is seen that something was half written,
 * is its users'. */
#ifndef WGI_TAPE_DRIVERS_RUN_FILE_H
#define WGI_TAPE_DRIVERS_RUN_FILE_H

#include "tape/engine/text.h"

enum { WGI_RUN_PAGE = 4096 };

typedef struct wgi_run_file {
    const char *path;
    const char *call; /* who makes it, for messages */
    const char *kind; /* eight characters */
    uint64_t key, size[3];
    size_t bytes;  /* all of them */
    int file;      /* descriptor, or -1 */
    long flushed;  /* in which second of the clock */
    char why[160]; /* the reason of a failure */
} wgi_run_file;

static inline size_t wgi_run_pages(size_t bytes) {
    return (bytes + WGI_RUN_PAGE - 1) / WGI_RUN_PAGE * WGI_RUN_PAGE;
}

/* Opens and locks it; makes it with all its space where there is none, or nothing but zeros.
 * WG_EARG: it is something else, or of another run, and is left as it is; WG_EWRITE. After a
 * failure: close. */
wg_status wgi_run_file_open(wgi_run_file *f);
/* Ends the use of it; done: and removes it. */
void wgi_run_file_close(wgi_run_file *f, int done);

wg_status wgi_run_file_put(wgi_run_file *f, const void *data, size_t bytes, size_t at);
/* What is behind its end is 0. */
wg_status wgi_run_file_get(wgi_run_file *f, void *data, size_t bytes, size_t at);
/* What is written goes to the disk, once a second: it is worth no more than that when the power
 * fails, and needs no order, as what did not get there has no check. */
wg_status wgi_run_file_flush(wgi_run_file *f);

/* The last 8 bytes are a hash of those before. */
void wgi_run_put_check(void *data, size_t bytes);
int wgi_run_is_whole(const void *data, size_t bytes);

#endif

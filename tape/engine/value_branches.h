/* SPDX-License-Identifier: MIT */
/* value_branches.h - does a function of the user's record the same everywhere, but for recorded
 * comparisons? Internal. */
#ifndef WGI_TAPE_ENGINE_VALUE_BRANCHES_H
#define WGI_TAPE_ENGINE_VALUE_BRANCHES_H

#include "drive.h"

/* Records f at x, and again at other points, each time on a tape beside c, and compares what
 * was recorded. `at`: `points` of them, one after the other; NULL: points of the library's
 * choice. A point at which f fails is not judged, nor is anything if f fails at x, if there is
 * no memory for a second recording, or if f records on c itself.
 * Gives WG_OK; or WG_EBRANCH, and c has failed with a message that names what differs. */
wg_status wgi_value_branches(wgi_core *c, const char *call, wg_callback *f, void *data,
                             size_t n, const double *x, size_t m, size_t points,
                             const double *at);

/* As wgi_drive_run, of a driver that makes something of the recording that is used at other
 * points: with WG_CHECKED it is compared with recordings there before. */
static inline wg_status wgi_drive_record(wgi_drive *d, const double *a) {
    const wg_status s =
        (d->c->flags & WG_CHECKED) == 0
            ? WG_OK
            : wgi_value_branches(d->c, d->call, d->f, d->data, d->n, a, d->m, 0, NULL);
    return s != WG_OK ? s : wgi_drive_run(d, 0, a);
}

#endif

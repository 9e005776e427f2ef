/* SPDX-License-Identifier: MIT */
/* Long calls tell the user how far they have come, and stop if told to. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "tape.h"

#include <time.h>

wg_status wg_tape_progress(wg_tape *t, const wg_progress *progress) {
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    memset(&c->progress, 0, sizeof c->progress);
    if (progress != NULL) c->progress.to = *progress;
    c->progress.c = c;
    return WG_OK;
}

double wgi_seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

wgi_silence wgi_tape_silence(wgi_core *c) {
    wgi_core *const root = wgi_root_of(c);
    const wgi_silence before = {c->status, c->closed, root->telling};
    c->status = WG_EMODE;
    c->closed = root->telling = 1;
    wgi_limit_set(c);
    return before;
}

void wgi_tape_speak(wgi_core *c, wgi_silence before) {
    c->status = before.status;
    c->closed = before.closed;
    wgi_root_of(c)->telling = before.telling;
    wgi_limit_set(c);
}

static int tell_closed(wgi_core *c, const wg_progress *to, double done) {
    const wgi_silence before = wgi_tape_silence(c);
    const int stop = to->call(to->context, done) != 0;
    wgi_tape_speak(c, before);
    return stop;
}

int wgi_progress_tell(wgi_progress *p, double done) {
    if (p->stopped || (p->c != NULL && p->c->telling)) return p->stopped;
    if (done > p->done) p->done = done < 1 ? done : 1;
    if (p->to.seconds > 0) {
        const double time = wgi_seconds();
        if (time < p->next) return 0;
        p->next = time + p->to.seconds;
    }
    /* it may itself set whom to tell */
    const wg_progress to = p->to;
    p->stopped =
        p->c != NULL ? tell_closed(p->c, &to, p->done) : to.call(to.context, p->done) != 0;
    return p->stopped;
}

wg_status wgi_progress_go_on(wgi_core *c, const char *call) {
    if (!wgi_progress_stops(wgi_progress_of(c), 0)) return c->status;
    return wgi_fail(c, WG_ESTOPPED, "%s: stopped by the callback for progress", call);
}

/* SPDX-License-Identifier: MIT */
/* One run of a driver: a callback is evaluated on an emptied tape, which is swept as the wanted
 * derivative needs it. The inputs of the callback are the first variables of the tape: number i
 * has slot i + 1. */
#include "drive.h"

#include <string.h>

wg_status wgi_drive_open(wgi_drive *d, wg_tape *t, const char *call, wg_callback *f, void *data,
                         size_t n, size_t m, size_t doubles) {
    memset(d, 0, sizeof *d);
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (wgi_check_thread(c, call) != WG_OK) return WG_ETHREAD;
    if (c->driving) {
        (void)wgi_fail(c, WG_EMODE, "%s: called by the function of a driver, on its own tape",
                       call);
        return WG_EMODE;
    }
    /* called by a vjp: the sweep that it belongs to will report it */
    if (c->closed) return WG_EMODE;
    if (c->held != 0) { /* as will the call that holds it */
        c->held = 2;
        return WG_EMODE;
    }
    *d = (wgi_drive){.c = c, .call = call, .f = f, .data = data, .n = n, .m = m};
    d->width = c->width;
    c->driving = 1;
    wgi_progress_begin(wgi_progress_of(c));
    wgi_drive_begin(d, 0, 0);
    if (f == NULL) {
        (void)wgi_fail(c, WG_ENULL, "%s: the function is NULL", call);
        return WG_ENULL;
    }
    const size_t most = SIZE_MAX / 128;
    wg_status s = n > most || m > most || doubles > most ? WG_ENOMEM : WG_OK;
    if (s == WG_OK)
        s = wgi_extent_need(c, &c->drive,
                            (n + m + 1) * sizeof(wg_real) + doubles * sizeof(double), 0);
    if (s != WG_OK) {
        (void)wgi_fail(c, s, "%s: no room for %zu inputs and %zu outputs", call, n, m);
        return s;
    }
    d->x = (wg_real *)(void *)c->drive.base;
    d->y = d->x + n;
    /* one more behind the outputs, which no function should write */
    d->used = (n + m + 1) * sizeof(wg_real);
    return WG_OK;
}

static wg_status no_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_OK;
}

wg_status wgi_drive_open_alone(wgi_drive *d, wg_tape *t, const char *call) {
    return wgi_drive_open(d, t, call, no_callback, NULL, 0, 0, 0);
}

double *wgi_drive_room(wgi_drive *d, size_t doubles) {
    double *const p = (double *)(void *)(d->c->drive.base + d->used);
    d->used += doubles * sizeof(double);
    WG_ASSERT(d->used <= d->c->drive.committed);
    return p;
}

double *wgi_drive_late_room(wgi_drive *d, size_t doubles) {
    wgi_core *const c = d->c;
    if (doubles > SIZE_MAX / 16) return NULL;
    const wg_status s =
        wgi_extent_need(c, &c->drive, d->used + doubles * sizeof(double), d->used);
    if (s != WG_OK) {
        (void)wgi_fail(c, s, "%s: no room for %zu derivatives", d->call, doubles);
        return NULL;
    }
    d->x = (wg_real *)(void *)c->drive.base;
    d->y = d->x + d->n;
    return wgi_drive_room(d, doubles);
}

void wgi_drive_begin(wgi_drive *d, int passive, size_t width) {
    wg_tape_reset(&d->c->head);
    d->c->passive = passive;
    d->c->width = width;
    wgi_limit_set(d->c);
}

wg_status wgi_drive_call(wgi_drive *d) {
    wgi_core *const c = d->c;
    const uint64_t generation = c->generation;
    const size_t width = c->width;
    d->theirs = 0;
    if (c->status != WG_OK) return c->status;
    /* outputs that are not set stay NaN */
    for (size_t j = 0; j < d->m; j++) d->y[j] = wgi_nan();
    d->y[d->m] = wgi_beyond();
    const wg_status s = d->f(&c->head, d->n, d->x, d->m, d->y, d->data);
    if (c->generation != generation)
        return wgi_fail(c, WG_ESTALE, "%s: the function has reset the tape", d->call);
    d->theirs = c->status != WG_OK;
    if (d->theirs) return c->status;
    if (c->width != width)
        return wgi_fail(c, WG_EMODE, "%s: the function has changed the mode of the tape",
                        d->call);
    if (s != WG_OK) return wgi_fail_returned(c, s, "%s: the function", d->call);
    if (c->pauses != 0) /* a sweep of what it would have recorded is not what it asks for */
        return wgi_fail(c, WG_EMODE, "%s: the function has left the tape paused", d->call);
    if (!wgi_is_beyond(d->y[d->m]))
        return wgi_fail(c, WG_ESHAPE, "%s: the function has written more than %zu output%s",
                        d->call, d->m, d->m == 1 ? "" : "s");
    /* the message of a call that was refused, which did not matter to the function */
    c->message[0] = 0;
    if (wgi_records_own(c) != WG_OK) {
        wgi_fail_as(c, d->call);
        return c->status;
    }
    return wgi_check_handles(c, d->call, d->m, d->y);
}

wg_status wgi_drive_null_argument(const wgi_drive *d, const char *name, size_t n) {
    (void)wgi_fail(d->c, WG_ENULL, "%s: %s is NULL, with %zu entries", d->call, name, n);
    return WG_ENULL;
}

wg_status wgi_drive_run(wgi_drive *d, int passive, const double *a) {
    wgi_drive_begin(d, passive, 0);
    if (a == NULL && d->n != 0) return wgi_drive_null_argument(d, "x", d->n);
    const wg_status s = wg_inputs(&d->c->head, d->n, a, d->x);
    return s != WG_OK ? s : wgi_drive_call(d);
}

wg_status wgi_drive_close(wgi_drive *d, wg_status s) {
    wgi_core *const c = d->c;
    char message[sizeof c->message];
    if (c == NULL) return s;                /* it was not opened */
    if (s != WG_OK && c->status == WG_OK) { /* a sweep that refused has left its message */
        memcpy(message, c->message, sizeof message);
        (void)wgi_fail(c, s, "%s: %s", d->call, message[0] != 0 ? message : wg_status_text(s));
    }
    if (!d->theirs) wgi_fail_as(c, d->call);
    memcpy(message, c->message, sizeof message);
    c->driving = 0;
    wgi_drive_begin(d, 0, d->width);
    return s != WG_OK ? wgi_fail(c, s, "%s", message) : WG_OK;
}

wg_status wgi_drive_reverse(wgi_drive *d, const double *w, double *g) {
    const wg_status s = wg_reverse_seeds(&d->c->head, d->m, d->y, w);
    double nan = 0;
    /* WG_ESEED: the outputs are constants, and the gradient 0 */
    if (s != WG_OK && s != WG_ESEED) return s;
    for (size_t j = 0; j < d->m; j++)
        if (d->y[j].at.slot == 0) nan += wgi_product(w[j], wgi_of_constant(d->y[j]));
    for (size_t i = 0; i < d->n; i++)
        g[i] = nan != nan ? nan : wgi_drive_input_adjoint(d->c, i, 0);
    return WG_OK;
}

wg_status wgi_drive_tangent(wgi_drive *d, const double *a, const double *v) {
    wgi_drive_begin(d, 0, 1);
    if (v == NULL && d->n != 0) return wgi_drive_null_argument(d, "v", d->n);
    if (a == NULL && d->n != 0) return wgi_drive_null_argument(d, "x", d->n);
    const wg_status s = wg_inputs(&d->c->head, d->n, a, d->x);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < d->n; i++) wgi_drive_seed_input(d->c, i, 0, v[i]);
    return wgi_drive_call(d);
}

wg_status wgi_drive_needs_code(wgi_drive *d) {
    if (d->c->flags & WG_KEEP_CODE) return WG_OK;
    return wgi_fail(d->c, WG_EMODE, "%s: the tape was not opened with WG_KEEP_CODE", d->call);
}

/* SPDX-License-Identifier: MIT */
/* Regions of a step: recorded on a tape of their own when a value or derivative is needed, and
 * forgotten again; or by hand. */
#include "region.h"

#include "tape/engine/numbers.h"
#include "tape/engine/value_branches.h"

#include <stdio.h>
#include <string.h>

typedef struct position {
    const wgi_steps *s;
    const wg_region *region;
    size_t step;
} position;

static position position_of(const wgi_steps *s, size_t number) {
    return (position){s, &s->region[number % s->regions], number / s->regions};
}

/* The callback of a driver: records a region. */
static wg_status record(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const position *const at = data;
    (void)n;
    return at->region->record(t, at->step, m, x, at->s->np, x + m, y, at->region->data);
}

static wg_status without_work(const wgi_steps *s) {
    (void)snprintf(s->why, WGI_REGION_WHY, "its work tape was freed before the recording");
    return WG_ESTALE;
}

static wg_status explain(const position *at, wg_status s) {
    const size_t number = (size_t)(at->region - at->s->region);
    if (s == WG_OK) return s;
    (void)snprintf(at->s->why, WGI_REGION_WHY, "region %zu of step %zu%s %s", number, at->step,
                   at->region->record != NULL ? ":" : " returned",
                   at->region->record != NULL ? wg_tape_message(at->s->work)
                                              : wg_status_text(s));
    return s;
}

/* A region that records something else at other states is wrong in a function. */
static wg_status judge(const position *at) {
    const wgi_steps *const s = at->s;
    wg_tape_reset(s->work);
    position judged = *at;
    return explain(at, wgi_value_branches(wgi_core_of(s->work), "wg_checkpoint", record,
                                          &judged, s->n + s->np, s->x, s->n, 0, NULL));
}

wg_status wgi_steps_value(const wgi_steps *s, size_t number, const double *state,
                          double *next) {
    position at = position_of(s, number);
    if (at.region->record == NULL)
        return explain(&at, at.region->value(at.step, s->n, state, s->np, s->x + s->n, next,
                                             at.region->data));
    if (s->work == NULL) return without_work(s);
    wgi_copy_numbers(s->x, state, s->n);
    const wg_status judged = s->judged ? judge(&at) : WG_OK;
    if (judged != WG_OK) return judged;
    return explain(&at, wg_eval(s->work, record, &at, s->n + s->np, s->x, s->n, next));
}

wg_status wgi_steps_vjp(const wgi_steps *s, size_t number, const double *state, const double *w,
                        double *g) {
    const size_t n = s->n, np = s->np;
    position at = position_of(s, number);
    if (at.region->record == NULL) {
        for (size_t i = 0; i < n + np; i++) g[i] = 0;
        return explain(&at, at.region->vjp(at.step, n, state, np, s->x + n, w, g,
                                           np != 0 ? g + n : NULL, at.region->data));
    }
    if (s->work == NULL) return without_work(s);
    wgi_copy_numbers(s->x, state, n);
    return explain(&at, wg_vjp(s->work, record, &at, n + np, s->x, n, w, NULL, g));
}

wg_status wgi_steps_jvp(const wgi_steps *s, size_t number, const double *dx, double *next,
                        double *dnext) {
    position at = position_of(s, number);
    if (s->work == NULL) return without_work(s);
    return explain(&at,
                   wg_jvp(s->work, record, &at, s->n + s->np, s->x, dx, s->n, next, dnext));
}

size_t wgi_regions_undefined(size_t regions, const wg_region *region) {
    size_t k = 0;
    while (k < regions &&
           (region[k].record != NULL || (region[k].value != NULL && region[k].vjp != NULL)))
        k++;
    return k;
}

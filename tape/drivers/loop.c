/* SPDX-License-Identifier: MIT */
/* wg_loop_gradient: forward once, keeping states equally spaced (loop_store.h); then stretch
 * after stretch between two of them back, each forward once more with binomial checkpoints in
 * memory.
 *
 * Letters: n and np as in wg_loop; w the adjoint of the state, in front of that of the
 * parameters. */
#define _POSIX_C_SOURCE 200809L
#include "loop_store.h"
#include "region.h"

#include "tape/engine/numbers.h"
#include "tape/engine/drive.h"
#include "tape/function/loops/checkpoints.h"

#include <wengert/loop.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char call[] = "wg_loop_gradient";

typedef struct run {
    wgi_core *c;
    const wg_loop *l;
    wg_loop_options o; /* with the defaults filled in */
    wg_loop_report report;
    wgi_steps steps;
    wgi_loop_store store;
    wgi_loop_journal journal;
    wgi_checkpoints stretch;
    wgi_progress nobody;
    size_t first;         /* step of the stretch */
    double *state, *next; /* forward */
    double *w;            /* n + np: adjoints, and those of one region */
    double *g;
    double saved; /* when, in seconds */
    char why[WGI_REGION_WHY];
} run;

/* ---- failures ---- */

static wg_status fail_region(const run *r, wg_status s) {
    /* a driver has failed the tape in its own name */
    r->c->status = WG_OK;
    return wgi_fail(r->c, s, "%s: %s", call, r->why[0] != 0 ? r->why : wg_status_text(s));
}

static wg_status fail_store(const run *r, wg_status s) {
    return wgi_fail(r->c, s, "%s: %s: %s", call, r->o.file, r->store.file.why);
}

static wg_status tell(run *r) {
    if (r->o.progress == NULL || r->o.progress(r->o.context, &r->report) == 0) return WG_OK;
    return wgi_fail(r->c, WG_ESTOPPED, "%s: stopped, %zu steps forward, %zu left to go back",
                    call, r->report.steps, r->report.left);
}

/* ---- forward ---- */

/* One step on, from r->state. */
static wg_status step_forward(run *r, size_t step) {
    const size_t regions = r->l->regions;
    for (size_t k = 0; k < regions; k++) {
        const wg_status s = wgi_steps_value(&r->steps, step * regions + k, r->state, r->next);
        if (s != WG_OK) return fail_region(r, s);
        double *const was = r->state;
        r->state = r->next;
        r->next = was;
        r->report.evaluations++;
    }
    return WG_OK;
}

static int is_last(const run *r, size_t step) {
    const wg_loop *const l = r->l;
    if (l->ends == NULL) return step == l->steps;
    return l->ends(step, l->n, r->state, l->np, r->steps.x + l->n, l->data) != 0;
}

static wg_status save(run *r) {
    const wg_status s = wgi_loop_store_save(&r->store, &r->journal);
    if (s != WG_OK) return fail_store(r, s);
    r->report.saved += r->o.file != NULL;
    r->saved = wgi_seconds();
    return WG_OK;
}

/* The objective of the last state, whose gradient the way back begins with. */
static wg_status finish(run *r, size_t steps) {
    const wg_loop *const l = r->l;
    wgi_copy_numbers(r->steps.x, r->state, l->n);
    const wg_status s = wg_gradient(&r->c->head, l->objective, l->data, l->n + l->np,
                                    r->steps.x, &r->journal.value, r->w);
    if (s != WG_OK) {
        (void)snprintf(r->why, sizeof r->why, "the objective: %s",
                       wg_tape_message(&r->c->head));
        return fail_region(r, s);
    }
    r->journal.steps = r->journal.left = r->report.left = steps;
    return save(r);
}

static wg_status go_forward(run *r) {
    size_t step = 0;
    wg_status s = wgi_loop_store_before(&r->store, SIZE_MAX, r->state, &step);
    if (s != WG_OK) return fail_store(r, s);
    r->report.steps = step;
    r->report.resumed = step != 0;
    while (!is_last(r, step)) {
        int stored = 0;
        if (step == r->l->steps)
            return wgi_fail(r->c, WG_ECONVERGE, "%s: the loop has not ended after %zu steps",
                            call, step);
        s = step_forward(r, step);
        if (s != WG_OK) return s;
        r->report.steps = ++step;
        s = wgi_loop_store_pass(&r->store, step, r->state, &stored);
        if (s != WG_OK) return fail_store(r, s);
        r->report.saved += stored && r->o.file != NULL;
        s = tell(r);
        if (s != WG_OK) return s;
    }
    return finish(r, step);
}

/* ---- back ---- */

static wg_status advance(void *context, size_t number, const double *from, double *to) {
    run *const r = context;
    r->report.evaluations++;
    return wgi_steps_value(&r->steps, r->first * r->l->regions + number, from, to);
}

static wg_status adjoint(void *context, size_t number, const double *state) {
    run *const r = context;
    const size_t n = r->l->n, regions = r->l->regions, all = r->first * regions + number;
    const wg_status s = wgi_steps_vjp(&r->steps, all, state, r->w, r->g);
    if (s != WG_OK) return s;
    wgi_copy_numbers(r->w, r->g, n);
    for (size_t i = n; i < n + r->l->np; i++) r->w[i] += r->g[i];
    r->report.adjoints++;
    if (all % regions != 0) return WG_OK;
    r->journal.left = r->report.left = all / regions;
    const int due =
        r->o.file != NULL && r->o.seconds > 0 && wgi_seconds() - r->saved >= r->o.seconds;
    const wg_status saved = due ? save(r) : WG_OK;
    return saved == WG_OK ? tell(r) : saved;
}

/* The stretch from the last state before what is left. */
static wg_status go_back(run *r, const double *start) {
    wgi_checkpoints *const c = &r->stretch;
    wg_status s = wgi_loop_store_before(&r->store, r->journal.left, c->state, &r->first);
    if (s != WG_OK) return fail_store(r, s);
    if (r->first == 0) wgi_copy_numbers(c->state, start, r->l->n);
    c->steps = (r->journal.left - r->first) * r->l->regions;
    c->stored = wgi_checkpoints_stored(c->steps, r->o.memory);
    const double *last = NULL;
    s = wgi_checkpoints_forward(c, &last);
    if (s == WG_OK) s = wgi_checkpoints_reverse(c);
    /* what failed the tape in the name of this call has said so */
    if (s != WG_OK) return r->why[0] != 0 ? fail_region(r, s) : s;
    return save(r);
}

/* ---- the call ---- */

static size_t lay_out(run *r, void *base) {
    wgi_pieces p = {(char *)base, 0};
    const size_t n = r->l->n, all = n + r->l->np;
    r->stretch.size = n;
    r->stretch.stored = r->o.memory;
    r->stretch.steps = SIZE_MAX; /* more than are stored */
    wgi_checkpoints_keep(&r->stretch, &p);
    wgi_checkpoints_work(&r->stretch, &p);
    wgi_loop_store_lay_out(&r->store, &p);
    r->steps.x = wgi_pieces_doubles(&p, all);
    r->state = wgi_pieces_doubles(&p, n);
    r->next = wgi_pieces_doubles(&p, n);
    r->w = wgi_pieces_doubles(&p, all);
    r->g = wgi_pieces_doubles(&p, all);
    return p.used;
}

static uint64_t key_of(const run *r, const double *state, const double *param) {
    const wg_loop *const l = r->l;
    const uint64_t sizes[] = {l->n, l->np, l->regions, l->steps, l->ends != NULL};
    uint64_t h = wgi_checksum(WGI_CHECKSUM_START, sizes, sizeof sizes);
    h = wgi_checksum(h, state, l->n * sizeof *state);
    h = wgi_checksum(h, param, l->np * sizeof *param);
    return r->o.tag != NULL ? wgi_checksum(h, r->o.tag, strlen(r->o.tag)) : h;
}

static wg_status check(run *r, const wg_loop_options *o, const double *state,
                       const double *param) {
    wgi_core *const c = r->c;
    const wg_loop *const l = r->l;
    const size_t most = UINT32_MAX / 2;
    if (l == NULL) return wgi_fail(c, WG_ENULL, "%s: the loop is NULL", call);
    if (l->objective == NULL) return wgi_fail(c, WG_ENULL, "%s: the objective is NULL", call);
    if ((l->region == NULL && l->regions != 0) || (state == NULL && l->n != 0) ||
        (param == NULL && l->np != 0))
        return wgi_fail(c, WG_ENULL, "%s: the %s are NULL", call,
                        l->region == NULL && l->regions != 0 ? "regions"
                        : state == NULL && l->n != 0         ? "numbers of the state"
                                                             : "parameters");
    const size_t undefined = wgi_regions_undefined(l->regions, l->region);
    if (undefined != l->regions)
        return wgi_fail(c, WG_ENULL, "%s: region %zu is neither recorded nor by hand", call,
                        undefined);
    if (l->regions == 0 || l->n > most || l->np > most || l->steps > SIZE_MAX / 4 / l->regions)
        return wgi_fail(c, WG_EARG,
                        "%s: %zu steps of %zu regions, a state of %zu and %zu parameters", call,
                        l->steps, l->regions, l->n, l->np);
    r->o = o != NULL ? *o : (wg_loop_options){0};
    if (r->o.memory == 0) r->o.memory = 256;
    if (r->o.states == 0) r->o.states = 64;
    if (r->o.seconds == 0) r->o.seconds = 10;
    const size_t room = SIZE_MAX / 64 / (l->n + l->np + 2);
    if (r->o.memory < 4 || r->o.states < 2 || r->o.memory > room || r->o.states > room ||
        r->o.seconds != r->o.seconds)
        return wgi_fail(c, WG_EARG,
                        "%s: %zu states in memory, %zu in the file, saved every %g s", call,
                        r->o.memory, r->o.states, r->o.seconds);
    return WG_OK;
}

/* From the arguments to the gradient, which is left in r->w. */
static wg_status gradient(run *r, const double *start, const double *param) {
    const wg_loop *const l = r->l;
    r->steps.work = &r->c->head;
    r->steps.region = l->region;
    r->steps.regions = l->regions;
    r->steps.n = l->n;
    r->steps.np = l->np;
    r->steps.why = r->why;
    r->stretch.context = r;
    r->stretch.advance = advance;
    r->stretch.adjoint = adjoint;
    r->stretch.progress = &r->nobody; /* the loop tells of itself */
    r->journal.adjoint = r->w;
    wgi_copy_numbers(r->steps.x + l->n, param, l->np);
    wgi_copy_numbers(r->state, start, l->n);
    wg_status s = wgi_loop_store_open(&r->store, &r->journal);
    if (s != WG_OK) return fail_store(r, s);
    r->saved = wgi_seconds();
    if (r->journal.sequence == 0) {
        s = go_forward(r);
    } else {
        r->report.resumed = 1;
        r->report.steps = (size_t)r->journal.steps;
        r->report.left = (size_t)r->journal.left;
    }
    while (s == WG_OK && r->journal.left != 0) s = go_back(r, start);
    return s;
}

/* NaN for all results of a call that has failed. */
static wg_status give_none(const wg_loop *l, double *value, double *dstate, double *dparam,
                           wg_status s) {
    if (value != NULL) *value = (double)NAN;
    for (size_t i = 0; l != NULL && dstate != NULL && i < l->n; i++) dstate[i] = (double)NAN;
    for (size_t i = 0; l != NULL && dparam != NULL && i < l->np; i++) dparam[i] = (double)NAN;
    return s;
}

wg_status wg_loop_gradient(wg_tape *t, const wg_loop *l, const wg_loop_options *o,
                           const double *state, const double *param, double *value,
                           double *dstate, double *dparam, wg_loop_report *report) {
    run r;
    wgi_home home;
    wgi_drive d; /* the tape is looked at as a driver does it */
    void *base = NULL;
    memset(&r, 0, sizeof r);
    if (report != NULL) *report = r.report;
    r.l = l;
    if (t == NULL) return give_none(l, value, dstate, dparam, WG_ENULL);
    r.c = wgi_core_of(t);
    wg_status s = wgi_drive_open_alone(&d, t, call);
    if (s == WG_OK) s = check(&r, o, state, param);
    if (s == WG_OK) {
        r.store.n = l->n;
        r.store.np = l->np;
        r.store.file.path = r.o.file;
        r.store.states = r.o.states;
        if (r.o.file == NULL) r.store.states = r.o.memory / 2, r.o.memory -= r.store.states;
        r.store.file.key = key_of(&r, state, param);
        s = wgi_home_obtain(r.c, lay_out(&r, NULL), &home, &base);
        if (s != WG_OK)
            (void)wgi_fail(r.c, s, "%s: no room for %zu states of %zu numbers", call,
                           r.o.memory, l->n);
    }
    s = wgi_drive_close(&d, s);
    if (s != WG_OK) return give_none(l, value, dstate, dparam, s);
    (void)lay_out(&r, base);
    s = gradient(&r, state, param);
    wgi_loop_store_close(&r.store, s == WG_OK);
    if (report != NULL) *report = r.report;
    if (s == WG_OK) {
        if (value != NULL) *value = r.journal.value;
        if (dstate != NULL) wgi_copy_numbers(dstate, r.w, l->n);
        if (dparam != NULL) wgi_copy_numbers(dparam, r.w + l->n, l->np);
    } else {
        (void)give_none(l, value, dstate, dparam, s);
    }
    wgi_home_release(&home, base);
    return s;
}

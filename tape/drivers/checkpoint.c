/* SPDX-License-Identifier: MIT */
/* wg_checkpoint: a loop over steps that are no function objects. A step is recorded on a tape
 * of its own when its derivative is needed, and forgotten again; or its adjoint is written by
 * hand.
 *
 * x stands for the state and the parameters behind it. */
#include "tape/engine/numbers.h"
#include "tape/function/loops/checkpoints.h"

#include "ops/matrix/call.h"
#include "ops/matrix/expand.h"
#include "region.h"

#include <string.h>

/* The parameters of a recorded call. */
typedef struct checkpoint {
    wg_tape *work;
    wgi_core *c; /* the tape of the block, and which of its guests work is, or -1 */
    int guest;
    const wg_region *region;
    size_t steps, regions, stored, n, np;
    int reaches; /* has a region WG_REGION_ALWAYS? */
} checkpoint;

typedef struct run {
    wg_block *b;
    const checkpoint *k;
    wgi_steps steps;
    double *dx, *g; /* tangents and adjoints of x */
    double *next, *dnext, *w, *dparam;
    wgi_checkpoints loop;
} run;

static size_t lay_out(run *r, const checkpoint *k, void *saved, void *work) {
    wgi_pieces p = {(char *)work, 0}, keep = {(char *)saved, 0};
    r->k = k;
    r->loop.steps = k->steps * k->regions;
    r->loop.stored = k->stored;
    r->loop.size = k->n;
    wgi_checkpoints_keep(&r->loop, &keep);
    wgi_checkpoints_work(&r->loop, &p);
    r->steps.why = wgi_pieces_take(&p, WGI_REGION_WHY);
    r->steps.x = wgi_pieces_doubles(&p, k->n + k->np);
    r->dx = wgi_pieces_doubles(&p, k->n + k->np);
    r->g = wgi_pieces_doubles(&p, k->n + k->np);
    r->next = wgi_pieces_doubles(&p, k->n);
    r->dnext = wgi_pieces_doubles(&p, k->n);
    r->w = wgi_pieces_doubles(&p, k->n);
    r->dparam = wgi_pieces_doubles(&p, k->np);
    if (saved == NULL) r->b->saved_bytes = keep.used;
    return p.used;
}

/* The tape that steps are recorded on; NULL: it was freed, or there is none. */
static wg_tape *work_of(const checkpoint *k) {
    if (k->guest < 0) return k->work;
    return k->c->guest[k->guest] != NULL ? k->work : NULL;
}

/* Computes next and dnext from x and dx; where the region has no tangent, by rows of its
 * Jacobian. */
static wg_status jvp_of(run *r, size_t number) {
    const size_t n = r->k->n, np = r->k->np;
    if (wgi_steps_is_recorded(&r->steps, number))
        return wgi_steps_jvp(&r->steps, number, r->dx, r->next, r->dnext);
    wg_status s = wgi_steps_value(&r->steps, number, r->steps.x, r->next);
    wgi_clear(r->w, n);
    for (size_t i = 0; i < n && s == WG_OK; i++) {
        r->w[i] = 1;
        s = wgi_steps_vjp(&r->steps, number, r->steps.x, r->w, r->g);
        r->w[i] = 0;
        r->dnext[i] = 0;
        for (size_t j = 0; j < n + np; j++) r->dnext[i] += wgi_product(r->g[j], r->dx[j]);
    }
    return s;
}

/* ---- the operation ---------------------------------------------------------------------- */

static wg_status advance(void *context, size_t number, const double *from, double *to) {
    const run *const r = context;
    return wgi_steps_value(&r->steps, number, from, to);
}

static wg_status adjoint(void *context, size_t number, const double *state) {
    const run *const r = context;
    const wg_status s = wgi_steps_vjp(&r->steps, number, state, r->w, r->g);
    if (s != WG_OK) return s;
    wgi_copy_numbers(r->w, r->g, r->k->n);
    for (size_t i = 0; i < r->k->np; i++) r->dparam[i] += r->g[r->k->n + i];
    return WG_OK;
}

static void open(run *r, wg_block *b) {
    memset(r, 0, sizeof *r);
    r->b = b;
    (void)lay_out(r, b->params, b->saved, b->work);
    r->loop.context = r;
    r->loop.advance = advance;
    r->loop.adjoint = adjoint;
    r->loop.progress = wgi_progress_of(r->k->c);
    r->steps.work = work_of(r->k);
    r->steps.region = r->k->region;
    r->steps.regions = r->k->regions;
    r->steps.n = r->k->n;
    r->steps.np = r->k->np;
    r->steps.judged = r->k->c->judged;
    r->steps.why[0] = 0;
    if (r->steps.work != NULL) wgi_core_of(r->steps.work)->reaches = r->k->reaches;
    if (b->inputs > 1)
        wgi_points_copy(&b->in[1], b->in[1].value, b->in[1].ld, r->steps.x + r->k->n);
}

/* A failure, with its reason if a region has given one. */
static wg_status failed(const run *r, wg_status s) {
    if (r->steps.why[0] != 0) r->b->why = r->steps.why;
    return s;
}

/* Regions are called while the call, and the states that it keeps, stand on the tape. */
static wg_status held(wg_block *b, wg_status (*work)(run *)) {
    run r;
    open(&r, b);
    const wgi_hold before = wgi_tape_hold(r.k->c);
    const wg_status s = work(&r);
    if (wgi_tape_release(r.k->c, before))
        return wgi_block_refuse(
            b, WG_EMODE, "a region has recorded on the tape, or would reset or rewind it");
    return s != WG_OK ? failed(&r, s) : s;
}

static wg_status find_value(run *r) {
    wg_block *const b = r->b;
    wgi_points_copy(&b->in[0], b->in[0].value, b->in[0].ld, r->loop.state);
    const double *last = NULL;
    const wg_status s = wgi_checkpoints_forward(&r->loop, &last);
    if (s != WG_OK) return s;
    wgi_copy_numbers(b->out[0].value, last, r->k->n);
    if (b->outputs > 1) b->out[1].value[0] = 0;
    return WG_OK;
}
static wg_status value(wg_block *b) { return held(b, find_value); }

/* Lane l of derivatives of an operand or a result, and the same the other way. Where there are
 * several, nothing is transposed (WG_OP_ALWAYS). */
static void take_lane(const wg_block *b, const wg_block_arg *a, size_t l, double *to) {
    if (a->bar == NULL) wgi_clear(to, a->rows * a->cols);
    else if (b->lanes == 1) wgi_points_copy(a, a->bar, a->bar_ld, to);
    else
        for (size_t j = 0; j < a->cols; j++)
            for (size_t i = 0; i < a->rows; i++)
                *to++ = a->bar[(i + j * a->bar_ld) * b->lanes + l];
}
static void add_lane(const wg_block *b, const wg_block_arg *a, size_t l, const double *from) {
    if (a->bar == NULL) return;
    if (b->lanes == 1) {
        wgi_points_add(a, from, a->bar, a->bar_ld);
        return;
    }
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            a->bar[(i + j * a->bar_ld) * b->lanes + l] += *from++;
}
static void put_lane(const wg_block *b, const wg_block_arg *a, size_t l, const double *from) {
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            a->bar[(i + j * a->bar_ld) * b->lanes + l] = *from++;
}

static wg_status find_vjp(run *r) {
    const wg_block *const b = r->b;
    for (size_t l = 0; l < b->lanes; l++) {
        take_lane(b, &b->out[0], l, r->w);
        wgi_clear(r->dparam, r->k->np);
        const wg_status s = wgi_checkpoints_reverse(&r->loop);
        if (s != WG_OK) return s;
        add_lane(b, &b->in[0], l, r->w);
        if (b->inputs > 1) add_lane(b, &b->in[1], l, r->dparam);
    }
    return WG_OK;
}
static wg_status vjp(wg_block *b) { return held(b, find_vjp); }

static wg_status jvp_lane(run *r, size_t l) {
    const wg_block *const b = r->b;
    const size_t n = r->k->n;
    wgi_points_copy(&b->in[0], b->in[0].value, b->in[0].ld, r->steps.x);
    take_lane(b, &b->in[0], l, r->dx);
    if (b->inputs > 1) take_lane(b, &b->in[1], l, r->dx + n);
    wgi_progress_begin(r->loop.progress);
    for (size_t number = 0; number < r->loop.steps; number++) {
        const wg_status s = jvp_of(r, number);
        if (s != WG_OK) return s;
        if (wgi_progress_stops(r->loop.progress, (double)(number + 1) / (double)r->loop.steps))
            return WG_ESTOPPED;
        wgi_copy_numbers(r->steps.x, r->next, n);
        wgi_copy_numbers(r->dx, r->dnext, n);
    }
    put_lane(b, &b->out[0], l, r->dx);
    return WG_OK;
}

static wg_status find_jvp(run *r) {
    const wg_block *const b = r->b;
    wg_status s = WG_OK;
    for (size_t l = 0; s == WG_OK && l < b->lanes; l++) s = jvp_lane(r, l);
    for (size_t l = 0; b->outputs > 1 && l < b->lanes; l++) b->out[1].bar[l] = 0;
    return s;
}
static wg_status jvp(wg_block *b) { return held(b, find_jvp); }

static wg_status shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    if (b->outputs > 1) b->out[1].rows = b->out[1].cols = 1;
    run r;
    memset(&r, 0, sizeof r);
    r.b = b;
    b->work_bytes = lay_out(&r, b->params, NULL, NULL);
    return WG_OK;
}

/* Writes out all steps, one after the other. */
static wg_status expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const checkpoint *const k = b->params;
    const size_t n = k->n, all = k->steps * k->regions;
    wgi_core *const c = wgi_core_of(t);
    for (size_t i = 0; i < k->regions && all != 0; i++)
        if (k->region[i].record == NULL)
            return wgi_fail(c, WG_EMODE, "region %zu is by hand: there is nothing to record",
                            i);
    wg_real *now = wgi_expand_room(t, n), *next = wgi_expand_room(t, n);
    if (next == NULL) return c->status;
    memcpy(now, x, n * sizeof *now);
    for (size_t number = 0; number < all; number++) {
        const wg_region *const r = &k->region[number % k->regions];
        const size_t step = number / k->regions;
        for (size_t i = 0; i < n; i++) next[i] = wgi_nan();
        c->message[0] = 0; /* that of a call before */
        const wg_status s = r->record(t, step, n, now, k->np, x + n, next, r->data);
        if (s != WG_OK)
            return wgi_fail_returned(c, s, "region %zu of step %zu", number % k->regions, step);
        if (c->status != WG_OK) return c->status;
        if (c->pauses != 0)
            return wgi_fail(c, WG_EMODE, "region %zu of step %zu has left the tape paused",
                            number % k->regions, step);
        wg_real *const was = now;
        now = next;
        next = was;
    }
    memcpy(y, now, n * sizeof *y);
    return WG_OK;
}

static const wg_block_op checkpoint_op = {.name = "wg_checkpoint",
                                          .flags = WG_OP_TRANS | WG_OP_EXPANDS,
                                          .shape = shape,
                                          .value = value,
                                          .vjp = vjp,
                                          .jvp = jvp,
                                          .expand = expand};
/* Of steps that reach beyond the tape. It has one more result, a 0: the state may be empty
 * here. */
static const wg_block_op reaching_op = {.name = "wg_checkpoint",
                                        .flags = WG_OP_ALWAYS,
                                        .shape = shape,
                                        .value = value,
                                        .vjp = vjp,
                                        .jvp = jvp};

/* ---- the call --------------------------------------------------------------------------- */

static wg_status check(wgi_core *c, const wg_tape *work, size_t regions,
                       const wg_region *region, const wg_mat *y) {
    const char *const call = "wg_checkpoint";
    if (y == NULL) return wgi_fail(c, WG_ENULL, "%s: the result is NULL", call);
    if (region == NULL && regions != 0)
        return wgi_fail(c, WG_ENULL, "%s: the %zu regions are NULL", call, regions);
    const size_t undefined = wgi_regions_undefined(regions, region);
    if (undefined != regions)
        return wgi_fail(c, WG_ENULL, "%s: region %zu is neither recorded nor by hand", call,
                        undefined);
    for (size_t k = 0; k < regions; k++)
        if (region[k].record != NULL && work == NULL)
            return wgi_fail(c, WG_ENULL, "%s: region %zu is recorded, and work is NULL", call,
                            k);
    if (work == &c->head)
        return wgi_fail(c, WG_EARG, "%s: work is the tape that is recorded on", call);
    return WG_OK;
}

wg_status wg_checkpoint(wg_tape *t, wg_tape *work, size_t steps, size_t regions,
                        const wg_region *region, size_t stored, wg_mat state, wg_mat param,
                        wg_mat *y) {
    if (y != NULL) *y = wg_mat_failed(state.rows, state.cols);
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    wg_status s = check(c, work, regions, region, y);
    if (s != WG_OK) return s;
    const size_t most = UINT32_MAX / 2, n = state.rows * state.cols;
    if ((regions != 0 && steps > most / regions) || n > most || param.rows * param.cols > most)
        return wgi_fail(c, WG_EARG, "wg_checkpoint: %zu steps of %zu regions, a state of %zu",
                        steps, regions, n);
    checkpoint k = {work, c, -1, NULL, steps, regions, 0, n, param.rows * param.cols, 0};
    for (size_t i = 0; i < regions; i++) k.reaches |= (region[i].flags & WG_REGION_ALWAYS) != 0;
    if (work != NULL) k.guest = wgi_guest(c, wgi_core_of(work));
    if (work != NULL && wgi_core_of(work)->host == NULL)
        return wgi_fail(
            c, WG_EARG,
            "wg_checkpoint: the recording has %d work tapes already: use one of them again",
            WGI_GUESTS);
    k.stored = wgi_checkpoints_stored(steps * regions, stored);
    if (regions != 0) {
        k.region = wg_tape_keep(t, regions * sizeof *region, region);
        if (k.region == NULL) return c->status;
    }
    const wg_mat in[2] = {state, param};
    wg_mat out[2];
    s = wg_apply(t, k.reaches ? &reaching_op : &checkpoint_op, &k, sizeof k, k.np != 0 ? 2 : 1,
                 in, k.reaches ? 2 : 1, out);
    *y = out[0];
    return s;
}

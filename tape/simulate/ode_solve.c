/* SPDX-License-Identifier: MIT */
/* wg_ode_solve: a solution as one record. Operands are y0 and, if there are parameters, p;
 * results y and, if there are integrals, r. */
#include "ode_solve.h"

#include "ops/matrix/traits.h"
#include "tape/engine/numbers.h"
#include "tape/engine/tape.h"
#include "tape/function/loops/callable.h"
#include "tape/function/loops/feed.h"

#include <math.h>
#include <string.h>

/* ---- operands ---------------------------------------------------------------------------- */

/* The elements of an operand in columns of `each` numbers, `apart` from each other; from
 * NULL: 0. */
static void load(const wg_block_arg *a, const double *from, size_t ld, size_t each, double *to,
                 size_t apart) {
    size_t e = 0;
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++, e++)
            to[e / each * apart + e % each] =
                from == NULL ? 0 : from[a->trans ? j + i * ld : i + j * ld];
}

void wgi_ode_load_operands(wgi_ode_run *r) {
    const wg_block *const b = r->b;
    const wg_ode *const k = r->call->k;
    const wg_block_arg *const y = &b->in[0];
    const size_t apart = r->flow->params;
    wgi_clear(r->y, r->flow->states);
    load(y, y->value, y->ld, k->n, r->y, k->n);
    if (k->params != 0)
        load(&b->in[1], b->in[1].value, b->in[1].ld, k->params, r->param, apart);
    if (r->flow != &k->dual) return;
    load(y, y->bar, y->bar_ld, k->n, r->y + k->flow.states, k->n);
    if (k->params != 0)
        load(&b->in[1], b->in[1].bar, b->in[1].bar_ld, k->params, r->param + k->params, apart);
}

/* ---- forward ----------------------------------------------------------------------------- */

static void store(double *to, size_t ld, size_t k, const double *from, size_t n) {
    if (n != 0) memcpy(to + k * ld, from, n * sizeof *to);
}

static wg_status store_values(wgi_ode_run *r, size_t k, const double *state) {
    const wg_block *const b = r->b;
    const wg_ode *const of = r->call->k;
    store(b->out[0].value, b->out[0].ld, k, state, of->n);
    if (b->outputs > 1) store(b->out[1].value, b->out[1].ld, k, state + of->n, of->integrals);
    return WG_OK;
}

static wg_status store_tangents(wgi_ode_run *r, size_t k, const double *state) {
    const wg_block *const b = r->b;
    const wg_ode *const of = r->call->k;
    state += of->flow.states;
    store(b->out[0].bar, b->out[0].bar_ld, k, state, of->n);
    if (b->outputs > 1) store(b->out[1].bar, b->out[1].bar_ld, k, state + of->n, of->integrals);
    return WG_OK;
}

static wg_status refuse_nonfinite(const wgi_ode_run *r) {
    double sum = 0;
    for (size_t i = 0; i < r->flow->states; i++) sum += r->y[i] - r->y[i];
    for (size_t i = 0; i < r->call->columns * r->flow->params; i++)
        sum += r->param[i] - r->param[i];
    if (sum == 0 || r->report == NULL) return WG_OK;
    return wgi_ode_failed(r, r->call->time[0], WG_ENONFINITE,
                          "a NaN or an infinity among states or parameters");
}

static size_t lay_out(wgi_ode_run *r, wgi_ode_record *record, wg_block *b,
                      const wgi_ode_flow *flow, void *work) {
    wgi_pieces p = {work, 0};
    memset(r, 0, sizeof *r);
    r->b = b;
    r->call = wgi_ode_call_of(b);
    r->flow = flow;
    wgi_ode_run_cut(r, &p);
    record->T = wgi_pieces_doubles(&p, r->call->method->stages);
    record->Y = wgi_pieces_doubles(&p, r->call->method->stages * flow->states);
    record->G = wgi_pieces_doubles(&p, r->call->method->stages * flow->states);
    return p.used;
}

void wgi_ode_lay_out_checkpoints(wgi_ode_checkpoints *c, const wgi_ode_call *call,
                                 const wgi_ode_flow *flow, wgi_pieces *p) {
    memset(c, 0, sizeof *c);
    c->stored = call->o.stored;
    c->states = flow->states;
    c->block = wgi_ode_block(flow, call->method);
    wgi_ode_checkpoints_keep(c, p);
}

void wgi_ode_open(wgi_ode_run *r) {
    wgi_ode_evaluation_open(&r->f);
    if (r->call->method->gamma != 0) wgi_ode_evaluation_open(&r->matrix.evaluation);
    if (r->flow->event != NULL) wgi_ode_event_open(&r->event);
}

void wgi_ode_open_adjoint(wgi_ode_adjoint *a) {
    wgi_ode_evaluation_open(&a->back);
    if (a->r->call->method->gamma != 0) wgi_ode_evaluation_open(&a->second.evaluation);
    if (a->r->flow->event != NULL) wgi_ode_event_adjoint_open(&a->event);
}

/* The first position, or that of the file. */
static wg_status begin(wgi_ode_run *r, wgi_ode_checkpoints *c, wgi_ode_file *file,
                       wgi_ode_position *at) {
    if (file != NULL && file->stage != WGI_ODE_BLANK) {
        const wg_status s = wgi_ode_file_read(file, at, NULL);
        wgi_ode_resume(r, r->y);
        r->report->resumed = 1;
        return s;
    }
    const wg_status s = wgi_ode_begin(r, at);
    if (s != WG_OK || c == NULL) return s;
    wgi_ode_checkpoints_begin(c);
    wgi_ode_checkpoints_pass(c, at, r->y);
    return WG_OK;
}

wg_status wgi_ode_forward(wgi_ode_run *r, wgi_ode_record *record, wgi_ode_checkpoints *c,
                          wgi_ode_file *file) {
    wgi_ode_position at;
    wgi_ode_load_operands(r);
    wgi_ode_open(r);
    wgi_progress_begin(r->call->progress);
    wg_status s = refuse_nonfinite(r);
    if (s == WG_OK && file != NULL) s = wgi_ode_file_open(file, r, c);
    if (s == WG_OK) s = begin(r, c, file, &at);
    while (s == WG_OK && wgi_ode_more(r, &at)) {
        s = wgi_ode_step(r, &at, record);
        const int done = s == WG_OK || s == WG_ESTOPPED;
        if (done && c != NULL) wgi_ode_checkpoints_pass(c, &at, r->y);
        if (file == NULL || !done) continue;
        if (s == WG_ESTOPPED || !wgi_ode_more(r, &at) || wgi_ode_file_due(file)) {
            const wg_status saved = wgi_ode_file_write(file, &at, NULL);
            if (saved != WG_OK) s = saved;
        }
    }
    return s;
}

/* Ends the use of a file, which may have been the reason of the failure s. */
static wg_status leave_file(wgi_ode_run *r, wgi_ode_file *file, wg_status s) {
    if (file->file.why[0] != 0)
        wgi_why(r->b, r->why, "%s: %s", r->call->o.file, file->file.why);
    wgi_ode_file_close(file);
    return s;
}

static wg_status value(wg_block *b) {
    wgi_ode_run r;
    wgi_ode_record record;
    wgi_ode_checkpoints c;
    wgi_ode_file file;
    wgi_ode_call *const call = wgi_ode_call_of(b);
    wgi_pieces keep = {b->saved, 0};
    (void)lay_out(&r, &record, b, &call->k->flow, b->work);
    wgi_ode_lay_out_checkpoints(&c, call, &call->k->flow, &keep);
    r.reached = store_values;
    r.report = &call->report;
    if (call->o.file == NULL) return wgi_ode_forward(&r, &record, &c, NULL);
    memset(&file, 0, sizeof file);
    return leave_file(&r, &file, wgi_ode_forward(&r, &record, &c, &file));
}

static wg_status jvp(wg_block *b) {
    wgi_ode_run r;
    wgi_ode_record record;
    (void)lay_out(&r, &record, b, &wgi_ode_call_of(b)->k->dual, b->work);
    r.reached = store_tangents;
    return wgi_ode_forward(&r, &record, NULL, NULL);
}

size_t wgi_ode_alone_room(wg_block *b, int tangents) {
    const wg_ode *const k = wgi_ode_call_of(b)->k;
    wgi_ode_run r;
    wgi_ode_record record;
    return lay_out(&r, &record, b, tangents ? &k->dual : &k->flow, NULL);
}

wg_status wgi_ode_alone(wg_block *b, int tangents, wg_ode_report *report) {
    const wg_ode *const k = wgi_ode_call_of(b)->k;
    wgi_ode_run r;
    wgi_ode_record record;
    (void)lay_out(&r, &record, b, tangents ? &k->dual : &k->flow, b->work);
    r.reached = tangents ? store_tangents : store_values;
    r.report = report;
    return wgi_ode_forward(&r, &record, NULL, NULL);
}

/* ---- backward ---------------------------------------------------------------------------- */

static void add(size_t n, const double *x, double *to) {
    for (size_t i = 0; i < n; i++) to[i] += x[i];
}

static void seed(const wgi_ode_adjoint *a, size_t k, double *bar) {
    const wg_block *const b = a->r->b;
    const wg_ode *const of = a->r->call->k;
    add(of->n, b->out[0].bar + k * b->out[0].bar_ld, bar);
    if (b->outputs > 1) add(of->integrals, b->out[1].bar + k * b->out[1].bar_ld, bar + of->n);
}

void wgi_ode_lay_out_adjoint(wgi_ode_adjoint *a, wgi_ode_run *r, wg_block *b,
                             const wgi_ode_flow *flow, wgi_pieces *p) {
    memset(a, 0, sizeof *a);
    memset(r, 0, sizeof *r);
    r->b = b;
    r->call = wgi_ode_call_of(b);
    r->flow = flow;
    a->r = r;
    wgi_ode_adjoint_cut(a, p);
}

/* A hash of the adjoints of the results. */
static uint64_t seeds_of(const wg_block *b) {
    uint64_t h = WGI_CHECKSUM_START;
    for (size_t i = 0; i < b->outputs; i++)
        for (size_t k = 0; k < b->out[i].cols; k++)
            h = wgi_checksum(h, b->out[i].bar + k * b->out[i].bar_ld,
                             b->out[i].rows * sizeof *b->out[i].bar);
    return h;
}

/* The sweep, from its file if that has one of the same adjoints. */
static wg_status sweep(wgi_ode_adjoint *a, wgi_ode_checkpoints *c) {
    wgi_ode_run *const r = a->r;
    wgi_ode_file file;
    if (r->call->o.file == NULL) return wgi_ode_adjoint_sweep(a, c);
    wg_status s = wgi_ode_file_open(&file, r, c);
    if (s == WG_OK) {
        const uint64_t seeds = seeds_of(r->b);
        if (file.stage == WGI_ODE_BACK && file.seeds != seeds) file.stage = WGI_ODE_SOLVED;
        file.seeds = seeds;
        a->file = &file;
        s = wgi_ode_adjoint_sweep(a, c);
    }
    s = leave_file(r, &file, s);
    if (s == WG_OK) wgi_ode_file_drop(r->call);
    return s;
}

static wg_status vjp(wg_block *b) {
    wgi_ode_run r;
    wgi_ode_adjoint a;
    wgi_ode_checkpoints c;
    wgi_pieces keep = {b->saved, 0};
    wgi_pieces work = {b->work, 0};
    wgi_ode_lay_out_adjoint(&a, &r, b, &wgi_ode_call_of(b)->k->flow, &work);
    a.seed = seed;
    wgi_ode_lay_out_checkpoints(&c, r.call, r.flow, &keep);
    wgi_ode_load_operands(&r);
    wgi_ode_open(&r);
    wgi_ode_open_adjoint(&a);
    wgi_progress_begin(r.call->progress);
    const wg_status s = sweep(&a, &c);
    if (s != WG_OK) return s;
    a.seed(&a, 0, a.bar);
    if (b->in[0].bar != NULL) wgi_points_add(&b->in[0], a.bar, b->in[0].bar, b->in[0].bar_ld);
    if (b->inputs > 1 && b->in[1].bar != NULL)
        wgi_points_add(&b->in[1], a.params, b->in[1].bar, b->in[1].bar_ld);
    return WG_OK;
}

/* ---- the operation ----------------------------------------------------------------------- */

static wg_status shape(wg_block *b) {
    const wgi_ode_call *const call = wgi_ode_call_of(b);
    const wg_ode *const k = call->k;
    wgi_ode_run r;
    wgi_ode_record record;
    wgi_ode_adjoint a;
    wgi_ode_checkpoints c;
    wgi_pieces keep = {NULL, 0};
    b->out[0].rows = k->n, b->out[0].cols = call->times;
    if (b->outputs > 1) b->out[1].rows = k->integrals, b->out[1].cols = call->times;
    wgi_ode_lay_out_checkpoints(&c, call, &call->k->flow, &keep);
    b->saved_bytes = keep.used;
    wgi_pieces work = {NULL, 0};
    wgi_ode_lay_out_adjoint(&a, &r, b, &k->flow, &work);
    const size_t need[] = {lay_out(&r, &record, b, &k->flow, NULL),
                           k->flow.event == NULL ? lay_out(&r, &record, b, &k->dual, NULL) : 0,
                           work.used};
    b->work_bytes = need[0];
    for (size_t i = 1; i < 3; i++)
        if (need[i] > b->work_bytes) b->work_bytes = need[i];
    return WG_OK;
}

/* A part of functions: written out, or a node. */
static const wgi_traits in_functions = {.flatten = wgi_ode_flatten};
static const wg_block_op ode_op = {.name = "wg_ode_solve",
                                   .flags = WG_OP_TRANS,
                                   .shape = shape,
                                   .value = value,
                                   .vjp = vjp,
                                   .jvp = jvp,
                                   .adjoint = wgi_ode_rule,
                                   .traits = &in_functions};
/* With events, whose tangents come of adjoints. */
static const wg_block_op event_op = {.name = "wg_ode_solve",
                                     .flags = WG_OP_TRANS,
                                     .shape = shape,
                                     .value = value,
                                     .vjp = vjp,
                                     .traits = &in_functions};

/* ---- the call ---------------------------------------------------------------------------- */

static const char name[] = "wg_ode_solve";

static wg_status check_times(wgi_core *c, size_t times, const double *time) {
    if (times == 0) return wgi_fail(c, WG_EARG, "%s: no times", name);
    if (time == NULL) return wgi_fail(c, WG_ENULL, "%s: the times are NULL", name);
    for (size_t k = 0; k < times; k++)
        if (!isfinite(time[k]) ||
            (k != 0 && !(time[1] > time[0] ? time[k] > time[k - 1] : time[k] < time[k - 1])))
            return wgi_fail(c, WG_EARG,
                            "%s: time %zu is %g: they are to be finite, and to grow or fall",
                            name, k, time[k]);
    return WG_OK;
}

static int tolerable(double x) { return x >= 0 && isfinite(x); }

static wg_status check_options(wgi_core *c, const wg_ode *k, const wg_ode_options *o) {
    const wgi_ode_method *const m = wgi_ode_method_of(o->method);
    if (m == NULL)
        return wgi_fail(c, WG_EARG, "%s: there is no method %d", name, (int)o->method);
    int tested = o->rtol != 0 || o->atol != 0 || o->atols != NULL, bad = 0;
    for (size_t i = 0; i < k->n && o->atols != NULL; i++) bad |= !tolerable(o->atols[i]);
    if (bad || !tolerable(o->rtol) || !tolerable(o->atol) || !tolerable(o->step) ||
        !tolerable(o->min_step) || !tolerable(o->max_step))
        return wgi_fail(c, WG_EARG, "%s: a tolerance or step is negative, or not finite", name);
    if (tested && !m->adaptive)
        return wgi_fail(c, WG_EARG, "%s: %s has steps of fixed size, and no tolerances", name,
                        m->name);
    if (!tested && o->step == 0)
        return wgi_fail(c, WG_EARG, "%s: neither tolerances nor the size of steps", name);
    if (m->gamma != 0 && !k->stiff)
        return wgi_fail(c, WG_EARG, "%s: %s is for systems that were made stiff", name,
                        m->name);
    if (k->flow.event != NULL && m->weights == NULL)
        return wgi_fail(c, WG_EARG, "%s: %s does not interpolate, and finds no events", name,
                        m->name);
    if (m->halves && !k->separable)
        return wgi_fail(
            c, WG_EARG,
            "%s: %s is for states (q, v) where q' does not depend on q, nor v' on v", name,
            m->name);
    if (m->halves && k->integrals != 0)
        return wgi_fail(c, WG_EARG, "%s: %s takes no integrand", name, m->name);
    if (o->seconds != o->seconds)
        return wgi_fail(c, WG_EARG, "%s: a file that is written every nan s", name);
    return WG_OK;
}

static wg_status check_shapes(wgi_core *c, const wg_ode *k, size_t times, const wg_mat *y0,
                              const wg_mat *p, size_t *columns) {
    *columns = 1;
    if (y0->rows * y0->cols != k->n)
        return wgi_fail(c, WG_ESHAPE, "%s: y0 is %zux%zu, not %zu states", name, y0->rows,
                        y0->cols, k->n);
    if (k->params == 0 || p->rows * p->cols == k->params) return WG_OK;
    if (p->rows != k->params || p->cols + 1 != times)
        return wgi_fail(
            c, WG_ESHAPE,
            "%s: p is %zux%zu, neither %zu numbers nor a column of them for each of "
            "the intervals between %zu times",
            name, p->rows, p->cols, k->params, times);
    *columns = p->cols;
    return WG_OK;
}

/* Checkpoints that can be used; of steps of fixed size it is known how many there are. */
static wg_status count_checkpoints(wgi_core *c, wgi_ode_call *call) {
    enum { STORED = 256 };
    size_t *const stored = &call->o.stored;
    if (*stored == 0) *stored = STORED;
    if (*stored > SIZE_MAX / 64 / (call->k->flow.states + 16))
        return wgi_fail(c, WG_EARG, "%s: %zu checkpoints", name, *stored);
    if (!call->fixed) return WG_OK;
    double steps = 0;
    for (size_t k = 1; k < call->times; k++)
        steps += wgi_ode_steps_between(call, call->time[k - 1], call->time[k]);
    if (!(steps < 0x1p52))
        return wgi_fail(c, WG_EARG, "%s: %g steps of size %g", name, steps, call->o.step);
    if (call->k->flow.event != NULL) return WG_OK;
    const size_t blocks = (size_t)steps / wgi_ode_block(&call->k->flow, call->method) + 1;
    if (blocks < *stored) *stored = blocks;
    return WG_OK;
}

/* Copies what is to live as long as the recording. */
static wgi_ode_call *keep_call(wg_tape *t, const wgi_ode_call *call) {
    wgi_ode_call *const copy = wg_tape_keep(t, sizeof *copy, call);
    if (copy == NULL) return NULL;
    copy->time = wg_tape_keep(t, call->times * sizeof *call->time, call->time);
    if (call->atols != NULL && call->k->n != 0)
        copy->atols = wg_tape_keep(t, call->k->n * sizeof *call->atols, call->atols);
    if (call->o.file != NULL)
        copy->o.file = wg_tape_keep(t, strlen(call->o.file) + 1, call->o.file);
    if (call->o.tag != NULL)
        copy->o.tag = wg_tape_keep(t, strlen(call->o.tag) + 1, call->o.tag);
    return wg_tape_status(t) == WG_OK ? copy : NULL;
}

static wg_status solve(wg_tape *t, wgi_ode_call *call, const wg_mat *in, wg_mat *out,
                       wg_ode_report *report) {
    static const size_t most_steps = 1000000;
    static const double usual_seconds = 10;
    wgi_core *const c = wgi_core_of(t);
    const wg_ode *const k = call->k;
    wg_status s = check_times(c, call->times, call->time);
    if (s == WG_OK) s = check_options(c, k, &call->o);
    if (s == WG_OK) s = check_shapes(c, k, call->times, &in[0], &in[1], &call->columns);
    if (s != WG_OK) return s;
    call->method = wgi_ode_method_of(call->o.method);
    call->fixed = call->o.rtol == 0 && call->o.atol == 0 && call->o.atols == NULL;
    call->stops = call->fixed || call->columns > 1 || call->o.stop_at_times;
    call->atols = call->o.atols;
    call->progress = wgi_progress_of(c);
    if (!call->fixed && call->o.max_steps == 0) call->o.max_steps = most_steps;
    if (call->o.seconds == 0) call->o.seconds = usual_seconds;
    s = count_checkpoints(c, call);
    if (s != WG_OK) return s;
    wgi_ode_call *const own = keep_call(t, call);
    if (own == NULL) return c->status;
    const wg_block_op *const op = k->flow.event != NULL ? &event_op : &ode_op;
    s = wg_apply(t, op, &own, sizeof own, k->params != 0 ? 2 : 1, in, k->integrals != 0 ? 2 : 1,
                 out);
    if (report != NULL) *report = own->report;
    /* nobody will sweep through numbers, or where there are tangents */
    if (s == WG_OK && (out[0].at.slot == 0 || c->width != 0)) wgi_ode_file_drop(own);
    return s;
}

static wg_status check(wgi_core *c, const wg_ode *k, const wg_mat *y, const wg_mat *r) {
    if (k == NULL) return wgi_fail(c, WG_ENULL, "%s: the system is NULL", name);
    if (y == NULL) return wgi_fail(c, WG_ENULL, "%s: the result is NULL", name);
    if (r == NULL && k->integrals != 0)
        return wgi_fail(c, WG_ENULL, "%s: the integrals are NULL", name);
    if (r != NULL && k->integrals == 0)
        return wgi_fail(c, WG_EARG, "%s: a place for integrals, and no integrand", name);
    return WG_OK;
}

wg_status wg_ode_solve(wg_tape *t, const wg_ode *k, const wg_ode_options *o, size_t times,
                       const double *time, wg_mat y0, wg_mat p, wg_mat *y, wg_mat *r,
                       wg_ode_report *report) {
    const wg_ode_options usual = {.method = WG_DOPRI5, .rtol = 1e-6, .atol = 1e-9};
    const wg_mat in[2] = {y0, p};
    wg_mat out[2];
    if (y != NULL) *y = wg_mat_failed(k != NULL ? k->n : 0, times);
    if (r != NULL) *r = wg_mat_failed(k != NULL ? k->integrals : 0, times);
    if (report != NULL) memset(report, 0, sizeof *report);
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    wg_status s = check(c, k, y, r);
    if (s != WG_OK) return s;
    wgi_ode_call call;
    memset(&call, 0, sizeof call);
    call.k = k;
    call.o = o != NULL ? *o : usual;
    call.times = times, call.time = time;
    out[0] = *y;
    s = solve(t, &call, in, out, report);
    if (s != WG_OK) return s;
    *y = out[0];
    if (r != NULL) *r = out[1];
    return WG_OK;
}

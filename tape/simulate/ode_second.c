/* SPDX-License-Identifier: MIT */
/* The adjoint of a solution as an operation of its own, that knows its tangent: for second
 * derivatives.
 *
 *     (y0_, p_) = J' (y_, r_)      of the flow
 *     its tangent is the adjoint of the dual flow, (y0, p) alone, with y_ given to the tangents
 *     of y, and the tangents of y_ to y
 *
 * since the sum of y_ yt and y_t y is the tangent of the sum of y_ y. Operands: y0, p, y_,
 * r_. */
#include "ode_solve.h"

#include "tape/engine/tape.h"

#include <string.h>

typedef struct sweep {
    wgi_ode_run r;
    wgi_ode_adjoint a;
    wgi_ode_checkpoints c;
} sweep;

static size_t lay_out(sweep *s, wg_block *b, const wgi_ode_flow *flow, void *work) {
    wgi_pieces p = {work, 0};
    wgi_ode_lay_out_adjoint(&s->a, &s->r, b, flow, &p);
    wgi_ode_lay_out_checkpoints(&s->c, s->r.call, flow, &p);
    return p.used;
}

/* Column k of operand y_, and of r_ if there are integrals, as values or tangents. */
static void add_column(const wgi_ode_adjoint *a, size_t k, int tangents, double *bar) {
    const wg_ode *const of = a->r->call->k;
    const wg_block_arg *x = &a->r->b->in[of->params != 0 ? 2 : 1];
    const size_t sizes[] = {of->n, of->integrals}, count = of->integrals != 0 ? 2 : 1;
    for (size_t i = 0; i < count; bar += sizes[i++], x++) {
        const double *const from = tangents ? x->bar : x->value;
        const size_t ld = tangents ? x->bar_ld : x->ld;
        for (size_t l = 0; l < sizes[i] && from != NULL; l++) bar[l] += from[k * ld + l];
    }
}

static void seed(const wgi_ode_adjoint *a, size_t k, double *bar) { add_column(a, k, 0, bar); }
static void seed_dual(const wgi_ode_adjoint *a, size_t k, double *bar) {
    add_column(a, k, 1, bar);
    add_column(a, k, 0, bar + a->r->call->k->flow.states);
}

/* Forward and back again: the adjoints of y0 and p, one column after the other. */
static wg_status solve_back(sweep *s, double *y0, double *p) {
    const wg_ode *const k = s->r.call->k;
    wg_status status = wgi_ode_forward(&s->r, &s->a.record[0], &s->c, NULL);
    if (status != WG_OK) return status;
    wgi_ode_open_adjoint(&s->a);
    status = wgi_ode_adjoint_sweep(&s->a, &s->c);
    if (status != WG_OK) return status;
    s->a.seed(&s->a, 0, s->a.bar);
    memcpy(y0, s->a.bar, k->n * sizeof *y0);
    for (size_t j = 0; j < s->r.call->columns && p != NULL; j++)
        memcpy(p + j * k->params, s->a.params + j * s->r.flow->params, k->params * sizeof *p);
    return WG_OK;
}

wg_status wgi_ode_swept(wg_block *b, int tangents) {
    const wg_ode *const k = wgi_ode_call_of(b)->k;
    sweep s;
    (void)lay_out(&s, b, tangents ? &k->dual : &k->flow, b->work);
    s.a.seed = tangents ? seed_dual : seed;
    double *const y0 = tangents ? b->out[0].bar : b->out[0].value;
    double *const p = b->outputs < 2 ? NULL : tangents ? b->out[1].bar : b->out[1].value;
    return solve_back(&s, y0, p);
}

size_t wgi_ode_swept_room(wg_block *b, int tangents) {
    const wg_ode *const k = wgi_ode_call_of(b)->k;
    sweep s;
    return lay_out(&s, b, tangents ? &k->dual : &k->flow, NULL);
}

static wg_status value(wg_block *b) { return wgi_ode_swept(b, 0); }
static wg_status jvp(wg_block *b) { return wgi_ode_swept(b, 1); }

static wg_status shape(wg_block *b) {
    for (size_t i = 0; i < b->outputs; i++)
        b->out[i].rows = b->in[i].rows, b->out[i].cols = b->in[i].cols;
    const size_t first = wgi_ode_swept_room(b, 0), second = wgi_ode_swept_room(b, 1);
    b->work_bytes = first > second ? first : second;
    return WG_OK;
}

wg_status wgi_ode_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                       const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {
        .name = "adjoint of wg_ode_solve", .shape = shape, .value = value, .jvp = jvp};
    wg_mat of[4];
    size_t n = 0;
    (void)out;
    if (!wgi_ode_call_of(b)->k->second) {
        b->why = "the system was not made for second derivatives";
        return WG_EMODE;
    }
    for (size_t i = 0; i < b->inputs; i++) of[n++] = in[i];
    for (size_t i = 0; i < b->outputs; i++) of[n++] = bar[i];
    return wg_apply(t, &op, b->params, sizeof(wgi_ode_call *), n, of, b->inputs, back);
}

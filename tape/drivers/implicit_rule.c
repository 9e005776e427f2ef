/* SPDX-License-Identifier: MIT */
/* The solution x(p) of F(x, p) = 0 as an operation.
 *
 * xt = -F_x^-1 F_p pt.   p_ -= F_p' l,  F_x' l = x_.   Source: implicit function theorem; Griewank
 * and Walther 2008, chapter 15.
 * Second order: the adjoint is an operation itself, of p, x and x_. With h = H (xt, pt), H the
 * Hessian of l' F by x and p,
 *     F_x' lt = x_t - h_x,    p_t = -F_p' lt - h_p,
 * so that all that is asked of F is a product with its Hessian, by wg_tape_hvp on a recording
 * of F: that of the last point is kept.
 * A replay solves anew, by Newton's method from the solution of the recording, whatever was
 * replayed before.
 * F is called while the tape of the recording is closed. It is also held, by whoever calls the
 * operation: F neither resets nor rewinds it. */
#include "implicit.h"
#include "ops/matrix/traits.h"
#include "tape/engine/numbers.h"

#include <wengert/array.h>

#include <math.h>
#include <string.h>

/* ---- Newton's method ---- */

/* A step of size CLOSE ends the search. So does one below NEAR that is no smaller than the step
 * before, if the step by the Jacobian of the point before differs from it by less than the part
 * ALIKE: then it is rounding. STEPS: how many steps are made. HALVINGS: how often one is halved
 * that leads to where the equations are not finite. */
#define CLOSE 0x1p-50
#define NEAR 0x1p-26
#define ALIKE 0x1p-2
enum { STEPS = 100, HALVINGS = 60 };

typedef struct newton {
    wgi_equations e;
    const wgi_solution *k;
    double *step, *simple; /* by the Jacobian there, and by the one before */
} newton;

/* The size of the step relative to the unknowns, or to others where these are larger; those of
 * a size that is nothing beside that of the rest count as such. */
static double size_of(const newton *w, const double *step, const double *others) {
    const size_t n = w->e.n;
    double largest = 0, size = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fmax(fabs(w->e.value[i]), fabs(others[i])));
    for (size_t i = 0; i < n; i++) {
        const double scale = fmax(fmax(fabs(w->e.value[i]), fabs(others[i])), NEAR * largest);
        const double part = step[i] == 0 ? 0 : fabs(step[i]) / scale;
        if (!(part <= size)) size = part; /* also where part is NaN */
        if (size != size) return size;
    }
    return size;
}

/* The step from the values in w->e by the Jacobian that is factored. */
static void step_by(const newton *w, double *step) {
    for (size_t i = 0; i < w->e.n; i++)
        step[i] = (w->e.fixed_point ? w->e.value[i] : 0) - w->e.out[i].value;
    wgi_implicit_solve(&w->k->at, 0, step);
}

/* Is a step, which is of this size and no smaller than the last one, what rounding leaves? Then
 * the Jacobian is the same in both places. Where there is no solution steps wander about, and
 * beside a recorded one that is much larger they may be small. */
static int is_rounding(const newton *w, double size) {
    for (size_t i = 0; i < w->e.n; i++) w->simple[i] -= w->step[i];
    return size_of(w, w->simple, w->k->x) <= ALIKE * size;
}

/* From the values in w->e on: their Jacobian is factored at the end. */
static wg_status iterate(wgi_core *c, newton *w) {
    const size_t n = w->e.n;
    double last = INFINITY;
    for (int made = 0, halved = 0; made < STEPS;) {
        wg_status s = wgi_equations_by_rows(c, &w->e);
        if (s != WG_OK) return s;
        if (wgi_equations_infinite(&w->e) != n) {
            if (made == 0 || halved++ == HALVINGS)
                return wgi_equations_refuse_infinite(c, &w->e);
            for (size_t i = 0; i < n; i++) w->e.value[i] -= w->step[i] *= 0.5;
            continue;
        }
        if (made != 0) step_by(w, w->simple);
        s = wgi_equations_factor(c, &w->e, &w->k->at);
        if (s != WG_OK) return s;
        step_by(w, w->step);
        /* beside a recorded solution that is much larger, a step may be nothing that is all
         * of x */
        const double size = size_of(w, w->step, w->k->x);
        if (size_of(w, w->step, w->e.value) <= CLOSE) return WG_OK;
        if (size <= NEAR && size >= last && is_rounding(w, size)) return WG_OK;
        for (size_t i = 0; i < n; i++) w->e.value[i] += w->step[i];
        last = size;
        made++, halved = 0;
    }
    return wgi_fail(
        c, WG_ECONVERGE,
        "%s: Newton's method for %zu equations, from the recorded solution, has not "
        "converged in %d steps",
        w->e.call, n, STEPS);
}

/* Solves for parameters p on the tape c, or takes the recorded solution for those of the
 * recording; with the Jacobians there. */
static wg_status solve(wgi_core *c, const wgi_solution *k, const double *p, double *x) {
    const size_t n = k->of.n, np = k->of.np;
    newton w = {.e = k->of, .k = k};
    w.step = wg_tape_keep(&c->head, 2 * n * sizeof(double), NULL);
    w.simple = w.step + n;
    wg_status s = wgi_equations_room(c, &w.e);
    if (s != WG_OK) return s;
    memcpy(w.e.value, k->x, n * sizeof *x);
    memcpy(w.e.value + n, p, np * sizeof *p);
    if (memcmp(p, k->p, np * sizeof *p) != 0) s = iterate(c, &w);
    else {
        s = wgi_equations_by_rows(c, &w.e);
        if (s == WG_OK) s = wgi_equations_refuse_infinite(c, &w.e);
        if (s == WG_OK) s = wgi_equations_factor(c, &w.e, &k->at);
    }
    if (s == WG_OK) memcpy(x, w.e.value, n * sizeof *x);
    return s;
}

/* What a tape beside says of a failure, without the name of the call: the caller puts it
 * before. */
static const char *said(const wgi_core *c, const char *call) {
    const size_t n = strlen(call);
    const char *const text = c->message;
    return strncmp(text, call, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

/* ---- the operation ---- */

static wg_status shape(wg_block *b) {
    const wgi_solution *const k = b->params;
    if (b->in[0].rows != k->of.np || b->in[0].cols != 1) return WG_ESHAPE;
    b->out[0].rows = k->of.n;
    b->out[0].cols = 1;
    b->work_bytes = k->of.n * sizeof(double);
    return WG_OK;
}

static wg_status value(wg_block *b) {
    const wgi_solution *const k = b->params;
    if (k->of.n == 0) return WG_OK;
    k->state->identity = 0;
    if (k->state->solved) { /* by the caller, before the recording */
        k->state->solved = 0;
        memcpy(b->out[0].value, k->x, k->of.n * sizeof(double));
        return WG_OK;
    }
    wg_tape *t;
    wgi_core *const c = k->c;
    const char *const call = k->of.call;
    wg_status s = wgi_beside_open(c, 0, &t);
    if (s != WG_OK) return s;
    const uint64_t stamps = wgi_tape_close(c);
    s = solve(wgi_core_of(t), k, b->in[0].value, b->out[0].value);
    wgi_beside_close(c);
    (void)wgi_tape_open_again(c, stamps);
    if (s != WG_OK) b->why = said(wgi_core_of(t), call);
    return s;
}

static wg_status vjp(wg_block *b) {
    const wgi_solution *const k = b->params;
    double *const w = b->work;
    if (k->of.n == 0 || k->of.np == 0) return WG_OK;
    memcpy(w, b->out[0].bar, k->of.n * sizeof(double));
    wgi_implicit_solve(&k->at, 1, w);
    wgi_implicit_subtract(&k->at, 1, w, b->in[0].bar);
    return WG_OK;
}

static wg_status jvp(wg_block *b) {
    const wgi_solution *const k = b->params;
    double *const xt = b->out[0].bar;
    if (k->of.n == 0) return WG_OK;
    memset(xt, 0, k->of.n * sizeof(double));
    wgi_implicit_subtract(&k->at, 0, b->in[0].bar, xt);
    wgi_implicit_solve(&k->at, 0, xt);
    return WG_OK;
}

/* ---- its adjoint, of p, x and x_: on forward tapes ---- */

typedef struct adjoint {
    const wgi_solution *of;
    wgi_core *c; /* the tape of this operation: F is recorded beside it */
} adjoint;

static wg_status adjoint_shape(wg_block *b) {
    const adjoint *const a = b->params;
    const size_t n = a->of->of.n, np = a->of->of.np;
    b->out[0].rows = np;
    b->out[0].cols = 1;
    b->saved_bytes = n * sizeof(double);
    b->work_bytes = 2 * (n + np) * sizeof(double) + n * sizeof(double);
    return WG_OK;
}

static wg_status adjoint_value(wg_block *b) {
    const adjoint *const a = b->params;
    const wgi_implicit *const f = &a->of->at;
    double *const l = b->saved;
    memcpy(l, b->in[2].value, f->n * sizeof *l);
    wgi_implicit_solve(f, 1, l);
    memset(b->out[0].value, 0, f->np * sizeof *l);
    wgi_implicit_subtract(f, 1, l, b->out[0].value);
    return WG_OK;
}

/* The equations at x and p on a tape that keeps code, if they are not there yet; it is at work
 * until it is closed. */
static wg_status recorded(const adjoint *a, const double *x, const double *p, wgi_core **out) {
    wgi_solution_state *const state = a->of->state;
    wgi_core *const there = a->c->beside;
    if (there != NULL && !a->c->beside_works && state->identity == there->identity &&
        state->generation == there->generation && there->status == WG_OK) {
        a->c->beside_works = 1;
        *out = there;
        return WG_OK;
    }
    wg_tape *t;
    wg_status s = wgi_beside_open(a->c, WG_KEEP_CODE, &t);
    if (s != WG_OK) return s;
    wgi_core *const c = *out = wgi_core_of(t);
    wgi_equations e = a->of->of;
    wg_mark inside;
    s = wgi_equations_room(c, &e);
    if (s != WG_OK) return s;
    memcpy(e.value, x, e.n * sizeof *x);
    memcpy(e.value + e.n, p, e.np * sizeof *p);
    s = wgi_equations_record(c, &e, &inside);
    if (s == WG_OK) s = wgi_equations_refuse_infinite(c, &e);
    if (s != WG_OK) return s;
    *state = (wgi_solution_state){0, c->identity, c->generation, e.in, e.out, wg_tape_mark(t)};
    return WG_OK;
}

/* h = H v, H the Hessian of l' F by x and p at this point. */
static wg_status hessian_product(wg_block *b, const double *l, const double *v, double *h) {
    const adjoint *const a = b->params;
    const size_t n = a->of->of.n, all = n + a->of->of.np;
    wgi_solution_state *const state = a->of->state;
    memset(h, 0, all * sizeof *h);
    if (wgi_all_zero(l, n) || wgi_all_zero(v, all)) return WG_OK;
    wgi_core *c = NULL;
    wg_status s = recorded(a, b->in[1].value, b->in[0].value, &c);
    if (s == WG_OK) {
        const wg_real y = wg_linear(&c->head, n, l, state->out);
        s = c->status;
        if (s == WG_OK && y.at.slot != 0) s = wg_tape_hvp(&c->head, y, all, state->in, v, h);
        if (s != WG_OK) b->why = c->message; /* a rewind clears it */
        else s = wg_tape_rewind(&c->head, state->end);
    } else if (c != NULL) b->why = c->message;
    wgi_beside_close(a->c);
    if (s != WG_OK) state->identity = 0;
    return s;
}

static void copy_or_clear(const double *from, size_t n, double *to) {
    if (from != NULL) memcpy(to, from, n * sizeof *to);
    else memset(to, 0, n * sizeof *to);
}

static wg_status adjoint_jvp(wg_block *b) {
    const adjoint *const a = b->params;
    const wgi_implicit *const f = &a->of->at;
    const size_t n = f->n, np = f->np;
    double *const v = b->work, *const h = v + n + np, *const lt = h + n + np;
    double *const out = b->out[0].bar;
    copy_or_clear(b->in[1].bar, n, v);
    copy_or_clear(b->in[0].bar, np, v + n);
    copy_or_clear(b->in[2].bar, n, lt);
    const wg_status s = hessian_product(b, b->saved, v, h);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < n; i++) lt[i] -= h[i];
    wgi_implicit_solve(f, 1, lt);
    for (size_t i = 0; i < np; i++) out[i] = -h[n + i];
    wgi_implicit_subtract(f, 1, lt, out);
    return WG_OK;
}

static wg_status adjoint_of(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {.name = "derivative of an implicit function",
                                   .shape = adjoint_shape,
                                   .value = adjoint_value,
                                   .jvp = adjoint_jvp};
    const adjoint a = {b->params, wgi_core_of(t)};
    const wg_mat of[3] = {in[0], out[0], bar[0]};
    return wg_apply(t, &op, &a, sizeof a, 3, of, 1, back);
}

static const wgi_traits traits = {.flatten = wgi_implicit_flatten};

const wg_block_op wgi_op_implicit = {.name = "wg_implicit",
                                     .shape = shape,
                                     .value = value,
                                     .vjp = vjp,
                                     .jvp = jvp,
                                     .adjoint = adjoint_of,
                                     .traits = &traits};
const wg_block_op wgi_op_fixed_point = {.name = "wg_fixed_point",
                                        .shape = shape,
                                        .value = value,
                                        .vjp = vjp,
                                        .jvp = jvp,
                                        .adjoint = adjoint_of,
                                        .traits = &traits};

/* SPDX-License-Identifier: MIT */
/* Implicit functions and fixed points: the call, and the Jacobian of the equations. What
 * becomes of these in derivatives is in implicit_rule.c. */
#include "implicit.h"
#include "preaccumulate.h"

#include <wengert/implicit.h>

#include <string.h>

/* ---- equations ---- */

static void *keep(wgi_core *c, size_t bytes) {
    return wg_tape_keep(&c->head, bytes != 0 ? bytes : 1, NULL);
}

wg_status wgi_equations_room(wgi_core *c, wgi_equations *e) {
    const size_t n = e->n, all = n + e->np;
    e->in = keep(c, all * sizeof(wg_real));
    e->out = keep(c, (n + 1) * sizeof(wg_real));
    e->value = keep(c, all * sizeof(double));
    e->jac = keep(c, n * all * sizeof(double));
    return c->status;
}

/* Is the tape not what F was called with? e->in and e->out, which are on it, may then be
 * gone. */
static wg_status changed(wgi_core *c, const wgi_equations *e, wg_mark inside,
                         uint64_t generation, unsigned pauses) {
    if (c->generation != generation)
        return wgi_fail(c, WG_ESTALE, "%s: the function has reset the tape", e->call);
    if (!wgi_mark_alive(c, inside))
        return wgi_fail(c, WG_EMARK, "%s: the function has rewound the tape to before its call",
                        e->call);
    if (c->pauses == pauses) return WG_OK;
    c->pauses = pauses;
    return wgi_fail(c, WG_EMODE, "%s: the function has left the tape paused", e->call);
}

/* Calls F with the variables in e->in. */
static wg_status call_f(wgi_core *c, wgi_equations *e) {
    const wg_mark inside = wg_tape_mark(&c->head);
    const uint64_t generation = c->generation;
    const unsigned pauses = c->pauses;
    for (size_t j = 0; j < e->n; j++) e->out[j] = wgi_nan();
    e->out[e->n] = wgi_beyond();
    /* a driver would empty the tape, and with it what F has been given */
    const int driving = c->driving;
    c->driving = 1;
    c->message[0] = 0; /* that of a call before */
    const wg_status r = e->f(&c->head, e->n + e->np, e->in, e->n, e->out, e->data);
    c->driving = driving;
    e->theirs = c->status != WG_OK;
    if (e->theirs) return c->status;
    const wg_status s = changed(c, e, inside, generation, pauses);
    if (s != WG_OK) return s;
    if (r != WG_OK) return wgi_fail_returned(c, r, "%s: the function", e->call);
    if (!wgi_is_beyond(e->out[e->n]))
        return wgi_fail(c, WG_ESHAPE, "%s: the function has written more than %zu output%s",
                        e->call, e->n, e->n == 1 ? "" : "s");
    return WG_OK;
}

size_t wgi_equations_infinite(const wgi_equations *e) {
    size_t j = 0;
    while (j < e->n && e->out[j].value - e->out[j].value == 0) j++;
    return j;
}

wg_status wgi_equations_refuse_infinite(wgi_core *c, const wgi_equations *e) {
    const size_t j = wgi_equations_infinite(e);
    char value[WGI_NUMBER_TEXT], at[WGI_NUMBER_TEXT];
    if (j == e->n) return WG_OK;
    return wgi_fail(c, WG_ENONFINITE, "%s: output %zu is %s where x[%zu] is %s", e->call, j,
                    wgi_number_text(value, e->out[j].value), j,
                    wgi_number_text(at, e->value[j]));
}

wg_status wgi_equations_record(wgi_core *c, wgi_equations *e, wg_mark *inside) {
    wg_status s = wg_inputs(&c->head, e->n + e->np, e->value, e->in);
    *inside = wg_tape_mark(&c->head);
    if (s == WG_OK) s = call_f(c, e);
    if (s == WG_OK && wgi_equations_infinite(e) == e->n)
        s = wgi_check_handles(c, e->call, e->n, e->out);
    return s;
}

wg_status wgi_equations_by_rows(wgi_core *c, wgi_equations *e) {
    const size_t all = e->n + e->np;
    const wg_mark start = wg_tape_mark(&c->head);
    wg_mark inside;
    wg_status s = wgi_equations_record(c, e, &inside);
    if (s != WG_OK) return s;
    if (wgi_equations_infinite(e) != e->n) return wg_tape_rewind(&c->head, start);
    s = wgi_local_jacobian(c, e->call, inside, all, e->in, e->n, e->out, e->jac);
    c->swept = 0;
    if (s != WG_OK) {
        char why[sizeof c->message];
        memcpy(why, c->message, sizeof why);
        return wgi_fail(c, s, "%s", why);
    }
    for (size_t j = 0; j < e->n; j++) /* an equation may be an input itself */
        for (size_t i = 0; i < all; i++)
            if (e->out[j].at.slot != 0 && e->out[j].at.slot == e->in[i].at.slot)
                e->jac[j * all + i] = 1;
    return wg_tape_rewind(&c->head, start);
}

/* The same by columns, on a forward tape, with as many evaluations as that takes. */
static wg_status by_columns(wgi_core *c, wgi_equations *e) {
    const size_t all = e->n + e->np;
    for (size_t first = 0; first < all; first += c->width) {
        const wg_mark start = wg_tape_mark(&c->head);
        const size_t lanes = all - first < c->width ? all - first : c->width;
        wg_status s = wg_inputs(&c->head, all, e->value, e->in);
        for (size_t l = 0; l < lanes && s == WG_OK; l++)
            s = wg_tangent_seed(&c->head, e->in[first + l], l, 1);
        const uint32_t outer = c->inside;
        c->inside = start.slot, c->foreign = 0;
        if (s == WG_OK) s = call_f(c, e);
        c->inside = outer;
        for (size_t j = 0; j < e->n && c->foreign == 0; j++)
            if (e->out[j].at.slot < start.slot) c->foreign = e->out[j].at.slot;
        if (s == WG_OK && c->foreign != 0)
            s = wgi_fail(c, WG_EARG,
                         "%s: depends on slot %u, which is not among the %zu inputs given",
                         e->call, c->foreign, all);
        for (size_t j = 0; j < e->n && s == WG_OK; j++)
            for (size_t l = 0; l < lanes; l++)
                e->jac[j * all + first + l] = wg_tangent(&c->head, e->out[j], l);
        if (s == WG_OK) s = wg_tape_rewind(&c->head, start);
        if (s != WG_OK) return s;
    }
    return WG_OK;
}

wg_status wgi_equations_factor(wgi_core *c, const wgi_equations *e, const wgi_implicit *f) {
    const size_t n = e->n, all = n + e->np;
    for (size_t j = 0; j < n; j++) {
        const double *const row = e->jac + j * all;
        for (size_t i = 0; i < n; i++)
            f->lu[j * n + i] = row[i] - (e->fixed_point && i == j ? 1 : 0);
        for (size_t i = 0; i < e->np; i++) f->fp[j * e->np + i] = row[n + i];
    }
    const int info = wgi_implicit_factor(f);
    if (info == 0) return WG_OK;
    return wgi_fail(c, WG_ESINGULAR, "%s: the Jacobian of %zu equations is singular (info %d)",
                    e->call, n, info);
}

/* ---- the call ---- */

static wg_status attach(wgi_core *c, wgi_equations *e, const double *x, const wg_real *p,
                        wg_real *y) {
    const size_t n = e->n, np = e->np, all = n + np;
    if (all > UINT32_MAX / 2 || n > SIZE_MAX / 64 / (all + 1))
        return wgi_fail(c, WG_ENOMEM, "%s: %zu equations, %zu parameters", e->call, n, np);
    wgi_solution k = {.of = *e, .c = c, .at = {.n = n, .np = np}};
    double *const point = keep(c, all * sizeof(double));
    k.at.lu = keep(c, n * n * sizeof(double));
    k.at.fp = keep(c, n * np * sizeof(double));
    k.at.pivot = keep(c, n * sizeof(int));
    k.state = keep(c, sizeof *k.state);
    if (c->status != WG_OK) return c->status;
    for (size_t i = 0; i < n; i++) point[i] = x[i];
    for (size_t i = 0; i < np; i++) point[n + i] = p[i].value;
    k.x = point, k.p = point + n;
    *k.state = (wgi_solution_state){.solved = 1};
    char *const temporary = c->head.payload_top;
    const int chunk = c->payload_current;
    wg_status s = wgi_equations_room(c, e);
    if (s != WG_OK) return s;
    memcpy(e->value, point, all * sizeof *point);
    s = c->width != 0 ? by_columns(c, e) : wgi_equations_by_rows(c, e);
    if (s == WG_OK) s = wgi_equations_refuse_infinite(c, e);
    if (s == WG_OK) s = wgi_equations_factor(c, e, &k.at);
    if (s != WG_OK) return s;
    if (chunk == c->payload_current) c->head.payload_top = temporary;
    const wg_mat in = wg_mat_gather(&c->head, np, 1, p);
    wg_mat out;
    s = wg_apply(&c->head, e->fixed_point ? &wgi_op_fixed_point : &wgi_op_implicit, &k,
                 sizeof k, 1, &in, 1, &out);
    for (size_t i = 0; i < n; i++) y[i] = wg_mat_at(out, i, 0);
    return s;
}

static wg_status solution(wg_tape *t, wgi_equations *e, const double *x, const wg_real *p,
                          wg_real *y) {
    if (t == NULL) {
        for (size_t i = 0; y != NULL && i < e->n; i++) y[i] = wgi_nan();
        return WG_ENULL;
    }
    wgi_core *const c = wgi_core_of(t);
    wg_status s = c->status;
    if (s == WG_OK &&
        (e->f == NULL || (e->n != 0 && (x == NULL || y == NULL)) || (e->np != 0 && p == NULL)))
        s = wgi_fail(c, WG_ENULL, "%s: the function, or an array of %zu or %zu entries is NULL",
                     e->call, e->n, e->np);
    if (s == WG_OK) s = wgi_check_handles(c, e->call, e->np, p);
    uint32_t any = 0;
    for (size_t i = 0; s == WG_OK && i < e->np; i++) any |= p[i].at.slot;
    const int constant = any == 0 || c->pauses != 0 || c->passive;
    if (s == WG_OK && !constant) {
        s = attach(c, e, x, p, y);
        if (s != WG_OK && c->status == WG_OK) { /* that call has only refused */
            char why[sizeof c->message];
            memcpy(why, c->message, sizeof why);
            (void)wgi_fail(c, s, "%s: %s", e->call, why);
        }
        if (!e->theirs) wgi_fail_as(c, e->call);
    }
    for (size_t i = 0; y != NULL && i < e->n && (s != WG_OK || constant); i++)
        y[i] = s == WG_OK ? wg_constant(x[i]) : wgi_nan();
    return s;
}

wg_status wg_implicit(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                      size_t np, const wg_real *p, wg_real *y) {
    wgi_equations e = {.call = "wg_implicit", .f = f, .data = data, .n = n, .np = np};
    return solution(t, &e, x, p, y);
}

wg_status wg_fixed_point(wg_tape *t, wg_callback *g, void *data, size_t n, const double *x,
                         size_t np, const wg_real *p, wg_real *y) {
    wgi_equations e = {
        .call = "wg_fixed_point", .f = g, .data = data, .n = n, .np = np, .fixed_point = 1};
    return solution(t, &e, x, p, y);
}

/* SPDX-License-Identifier: MIT */
/* problem.c - the life of a problem, its failures, and its dense derivatives: by functions
 * where it has one, by drivers on its tape where it has none, or where a comparison comes
 * out differently. */
#include "internal.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- failures ---------------------------------------------------------------------------- */

wg_status wgi_problem_refuse(wg_problem *p, wg_status s, const char *format, ...) {
    va_list list;
    if (s == WG_ENONFINITE && p->status != WG_OK && p->status != s) return s;
    va_start(list, format);
    p->status = s;
    vsnprintf(p->message, sizeof p->message, format, list);
    va_end(list);
    return s;
}

wg_status wgi_problem_fail(wg_problem *p, wg_status s) {
    const char *const said = wg_tape_message(p->tape);
    return wgi_problem_refuse(p, s, "%s", said[0] != 0 ? said : wg_status_text(s));
}

wg_status wgi_problem_finite(wg_problem *p, const char *what, size_t n, const double *v) {
    if (v == NULL) return WG_OK;
    size_t i = 0;
    while (i < n && fabs(v[i]) <= DBL_MAX) i++;
    return i == n ? WG_OK
                  : wgi_problem_refuse(p, WG_ENONFINITE, "%s: entry %zu is %g", what, i, v[i]);
}

double *wgi_problem_scratch_made(wg_problem *p, size_t numbers) {
    free(p->scratch);
    p->scratch = malloc((numbers + 1) * sizeof *p->scratch);
    p->scratch_size = p->scratch == NULL ? 0 : numbers;
    if (p->scratch == NULL) wgi_problem_refuse(p, WG_ENOMEM, "out of memory");
    return p->scratch;
}

/* ---- life -------------------------------------------------------------------------------- */

/* Inputs and outputs of a given function as groups; they must fit n, m and parameters. */
static wg_status take_function(wg_problem *p, const wg_function *f) {
    size_t n = 0, m = 0, parameters = 0;
    const size_t inputs = wg_function_inputs(f), outputs = wg_function_outputs(f);
    if (inputs > WGI_MOST || outputs > WGI_MOST)
        return wgi_problem_refuse(p, WG_EARG,
                                  "wg_problem_new: a function of more than %d inputs "
                                  "or outputs",
                                  WGI_MOST);
    for (size_t k = 0; k < inputs; k++) {
        const wg_argument *const a = wg_function_input(f, k);
        if (a->flags & WG_PASSIVE) {
            if (p->parameters == 0)
                return wgi_problem_refuse(p, WG_EARG,
                                          "wg_problem_new: input %s is passive, and there are "
                                          "no parameters",
                                          a->name);
            parameters += a->rows * a->cols;
            continue;
        }
        p->group[p->groups] = a->rows * a->cols;
        n += p->group[p->groups++];
    }
    if (parameters != p->parameters)
        return wgi_problem_refuse(p, WG_ESHAPE,
                                  "wg_problem_new: a function of %zu parameters, not of %zu",
                                  parameters, p->parameters);
    for (size_t k = 0; k < outputs; k++) {
        const wg_argument *const a = wg_function_output(f, k);
        if (a->flags & WG_SUMMED)
            return wgi_problem_refuse(
                p, WG_EARG, "wg_problem_new: output %s is a sum over points", a->name);
        m += a->rows * a->cols;
    }
    if (n != p->n || m != p->m)
        return wgi_problem_refuse(p, WG_ESHAPE,
                                  "wg_problem_new: a function of %zu numbers with %zu "
                                  "results, not of %zu with %zu",
                                  n, m, p->n, p->m);
    p->function = f;
    wgi_problem_measure(p);
    return WG_OK;
}

static wg_status take_groups(wg_problem *p, const wg_computation *c) {
    size_t n = 0;
    const size_t most = WGI_MOST - (p->parameters != 0);
    if (c->groups > most)
        return wgi_problem_refuse(p, WG_EARG, "wg_problem_new: more than %zu groups", most);
    if (c->groups != 0 && c->group == NULL)
        return wgi_problem_refuse(p, WG_ENULL, "wg_problem_new: group is NULL");
    p->groups = c->groups != 0 ? c->groups : 1;
    for (size_t k = 0; k < p->groups; k++) {
        p->group[k] = c->groups != 0 ? c->group[k] : c->n;
        n += p->group[k];
    }
    if (n != p->n)
        return wgi_problem_refuse(
            p, WG_ESHAPE, "wg_problem_new: groups of %zu inputs in all, not %zu", n, p->n);
    return WG_OK;
}

wg_status wgi_problem_keep_point(wg_problem *p, size_t n, const double *x, double **to) {
    *to = malloc((n + 1) * sizeof **to);
    if (*to == NULL) return wgi_problem_refuse(p, WG_ENOMEM, "out of memory");
    if (n != 0) memcpy(*to, x, n * sizeof **to);
    return WG_OK;
}

/* The user's callback as one of the n inputs that are differentiated. */
static wg_status with_parameters(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    const wg_problem *const p = data;
    wg_real *const all = p->arguments;
    if (n != 0) memcpy(all, x, n * sizeof *all);
    for (size_t k = 0; k < p->parameters; k++) all[n + k] = wg_constant(p->parameter[k]);
    return p->users_callback(t, n + p->parameters, all, m, y, p->users_data);
}

static wg_status take_callback(wg_problem *p, const wg_computation *c) {
    p->callback = p->users_callback = c->callback;
    p->data = p->users_data = c->data;
    if (p->parameters == 0 || c->callback == NULL) return WG_OK;
    const size_t most = SIZE_MAX / sizeof *p->arguments;
    if (p->n <= most && p->parameters <= most - p->n)
        p->arguments = malloc((p->n + p->parameters) * sizeof *p->arguments);
    if (p->arguments == NULL) return wgi_problem_refuse(p, WG_ENOMEM, "out of memory");
    p->callback = with_parameters, p->data = p;
    return WG_OK;
}

static wg_status begin(wg_problem *p, const wg_computation *c) {
    if ((c->callback == NULL) == (c->function == NULL))
        return wgi_problem_refuse(p, c->callback == NULL ? WG_ENULL : WG_EARG,
                                  "wg_problem_new: %s of callback and function has to be there",
                                  c->callback == NULL ? "one" : "only one");
    if (c->flags & ~(unsigned)(WG_RECORD_ONCE | WG_COMPILE))
        return wgi_problem_refuse(p, WG_EARG, "wg_problem_new: flags %u", c->flags);
    if (c->parameters != 0 && c->parameter == NULL)
        return wgi_problem_refuse(p, WG_ENULL, "wg_problem_new: parameter is NULL");
    p->parameters = c->parameters, p->parameter = c->parameter;
    wg_status s = c->function != NULL ? take_function(p, c->function) : take_groups(p, c);
    if (s == WG_OK) s = take_callback(p, c);
    return s != WG_OK || c->x == NULL ? s : wgi_problem_keep_point(p, p->n, c->x, &p->x);
}

wg_problem *wg_problem_new(const wg_computation *c) {
    wg_problem *const p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    p->tape = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    if (p->tape == NULL) {
        free(p);
        return NULL;
    }
    if (c == NULL) {
        p->broken = wgi_problem_refuse(p, WG_ENULL, "wg_problem_new: no computation");
        return p;
    }
    p->n = c->n, p->m = c->m;
    p->flags = c->flags;
    p->broken = begin(p, c);
    return p;
}

void wg_problem_free(wg_problem *p) {
    if (p == NULL) return;
    wg_problem_attach(p, NULL, NULL);
    wgi_problem_forget(p);
    wg_sparsity_free(p->jacobian.sparsity), wg_sparsity_free(p->hessian.sparsity);
    free(p->jacobian.plan.colour), free(p->hessian.plan.colour);
    free(p->pattern_col);
    wg_callable_free(p->called);
    wg_function_free(p->own);
    wg_tape_free(p->tape);
    free(p->x), free(p->recorded), free(p->arguments);
    free(p->scratch);
    free(p);
}

wg_status wg_problem_status(const wg_problem *p) { return p == NULL ? WG_ENOMEM : p->status; }
const char *wg_problem_message(const wg_problem *p) {
    return p == NULL ? "out of memory" : p->message;
}
void wg_problem_clear(wg_problem *p) {
    if (p == NULL || p->broken != WG_OK) return;
    p->status = WG_OK;
    p->message[0] = 0;
}
void wg_problem_attach(wg_problem *p, void *kept, void (*release)(void *kept)) {
    if (p == NULL) return;
    if (p->release != NULL) p->release(p->attached);
    p->attached = kept, p->release = release;
}
void *wg_problem_attached(const wg_problem *p, void (*release)(void *kept)) {
    return p == NULL || p->release != release ? NULL : p->attached;
}
size_t wg_problem_inputs(const wg_problem *p) { return p == NULL ? 0 : p->n; }
size_t wg_problem_group(const wg_problem *p, size_t group) {
    return p == NULL || group >= p->groups ? 0 : p->group[group];
}
const double *wg_problem_parameters(const wg_problem *p, size_t *count) {
    *count = p == NULL ? 0 : p->parameters;
    return *count == 0 ? NULL : p->parameter;
}
void *wg_problem_room(wg_problem *p, size_t bytes, void (*release)(void *kept)) {
    void *room = wg_problem_attached(p, release);
    if (room != NULL || p == NULL) return room;
    room = calloc(1, bytes);
    if (room == NULL) (void)wg_problem_keep(p, WG_ENOMEM, "out of memory");
    else wg_problem_attach(p, room, release);
    return room;
}

wg_status wg_problem_keep(wg_problem *p, wg_status s, const char *message) {
    return p == NULL ? s : wgi_problem_refuse(p, s, "%s", message);
}
size_t wg_problem_outputs(const wg_problem *p) { return p == NULL ? 0 : p->m; }

/* ---- dense derivatives ------------------------------------------------------------------- */

wg_status wgi_problem_begin(wg_problem *p, const char *call, const double *x) {
    if (p == NULL) return WG_ENULL;
    if (p->broken != WG_OK) return p->broken;
    if (x == NULL && p->n != 0) return wgi_problem_refuse(p, WG_ENULL, "%s: x is NULL", call);
    return p->function != NULL || !(p->flags & (WG_RECORD_ONCE | WG_COMPILE))
               ? WG_OK
               : wgi_problem_record(p, x);
}

/* Does a question go to the tape: is there no function, or does it not hold at this point? */
static int by_tape(wg_problem *p, wg_status *s, const wgi_question *q) {
    if (p->function == NULL) return 1;
    *s = wgi_problem_ask(p, q);
    return *s == WG_EGUARD && p->callback != NULL;
}

/* Ends a question: the failure of a driver is kept, and a result that is not finite is one. */
static wg_status end(wg_problem *p, wg_status s, int driven, const char *call, size_t m,
                     const double *y, size_t n, const double *to) {
    if (s != WG_OK) return driven ? wgi_problem_fail(p, s) : s;
    s = wgi_problem_finite(p, call, m, y);
    return s == WG_OK ? wgi_problem_finite(p, call, n, to) : s;
}

wg_status wg_problem_value(wg_problem *p, const double *x, double *y) {
    wg_status s = wgi_problem_begin(p, "wg_problem_value", x);
    if (s != WG_OK) return s;
    const int driven = by_tape(p, &s, &(wgi_question){.kind = WGI_VALUE, .x = x, .y = y});
    if (driven) s = wg_eval(p->tape, p->callback, p->data, p->n, x, p->m, y);
    return end(p, s, driven, "value", p->m, y, 0, NULL);
}

static wg_status one_output(wg_problem *p, const char *call) {
    return p->m == 1 ? WG_OK
                     : wgi_problem_refuse(p, WG_ESHAPE, "%s: %zu outputs, not 1", call, p->m);
}

wg_status wg_problem_gradient(wg_problem *p, const double *x, double *value, double *g) {
    wg_status s = wgi_problem_begin(p, "wg_problem_gradient", x);
    if (s == WG_OK) s = one_output(p, "wg_problem_gradient");
    if (s != WG_OK) return s;
    const int driven =
        by_tape(p, &s, &(wgi_question){.kind = WGI_GRADIENT, .x = x, .y = value, .to = g});
    if (driven) s = wg_gradient(p->tape, p->callback, p->data, p->n, x, value, g);
    return end(p, s, driven, "value or gradient", 1, value, p->n, g);
}

/* The Jacobian by one group, on the tape. */
static wg_status driven_jacobian(wg_problem *p, size_t group, const double *x, wg_layout layout,
                                 double *jac, size_t ld) {
    const double *at[WGI_MOST];
    double *to[WGI_MOST] = {NULL};
    size_t lds[WGI_MOST];
    for (size_t k = 0, first = 0; k < p->groups; first += p->group[k++]) {
        at[k] = x + first;
        lds[k] = layout == WG_ROW_MAJOR ? p->group[k] : p->m;
    }
    to[group] = jac, lds[group] = ld;
    return wg_jacobian_groups(p->tape, p->callback, p->data, p->groups, p->group, at, p->m,
                              NULL, layout, to, lds);
}

/* Copies m rows of n to where neighbours of a column are `down` apart, those of a row `right`;
 * is one of them not finite? */
static int spread(const double *rows, size_t m, size_t n, double *to, size_t down,
                  size_t right) {
    /* Bits of a number without its sign, plus one in the exponent: a sign comes of them where
     * the exponent was the last one. */
    const uint64_t sign = UINT64_C(1) << 63, one = UINT64_C(1) << (DBL_MANT_DIG - 1);
    uint64_t seen = 0;
    for (size_t j = 0; j < m; j++, to += down) {
        double *at = to;
        for (const double *const end = rows + n; rows != end; rows++, at += right) {
            uint64_t bits;
            memcpy(&bits, rows, sizeof bits);
            *at = *rows;
            seen |= (bits & ~sign) + one;
        }
    }
    return seen >= sign;
}

/* The Jacobian row by row once more from where it was asked last, by code for one point. */
static int once_more(const wg_problem *p, size_t group, const double *x, const double *rows) {
    const wgi_derived *const d = &p->derived[WGI_JACOBIAN + group];
    return d->point != NULL && d->asked.x == x && d->asked.to == rows && d->asked.lanes == 0 &&
           d->point(d->at.x, d->at.y) == 0;
}

/* By the tape. Not inlined, as the refusals are not: the frame of what is short stays small. */
__attribute__((noinline)) static wg_status finite_jacobian(wg_problem *p, size_t group,
                                                           const double *x, wg_layout layout,
                                                           double *jac, size_t ld) {
    const size_t n = p->group[group], m = p->m;
    const size_t lines = layout == WG_ROW_MAJOR ? m : n,
                 length = layout == WG_ROW_MAJOR ? n : m;
    wg_status s = driven_jacobian(p, group, x, layout, jac, ld);
    if (s != WG_OK) return wgi_problem_fail(p, s);
    for (size_t k = 0; k < lines && s == WG_OK; k++)
        s = wgi_problem_finite(p, "Jacobian", length, jac + k * ld);
    return s;
}

__attribute__((noinline)) static wg_status
check_matrix(wg_problem *p, size_t group, wg_layout layout, const double *jac, size_t ld) {
    if (group >= p->groups || (layout != WG_ROW_MAJOR && layout != WG_COL_MAJOR))
        return wgi_problem_refuse(p, WG_EARG,
                                  "wg_problem_jacobian: group %zu of %zu, layout %d", group,
                                  p->groups, (int)layout);
    const size_t n = p->group[group], m = p->m;
    if (jac == NULL && n * m != 0)
        return wgi_problem_refuse(p, WG_ENULL, "wg_problem_jacobian: jac is NULL");
    if (ld < (layout == WG_ROW_MAJOR ? n : m))
        return wgi_problem_refuse(p, WG_ESHAPE,
                                  "wg_problem_jacobian: leading dimension %zu of a "
                                  "%zu-by-%zu matrix",
                                  ld, m, n);
    return WG_OK;
}

/* Solvers ask for small ones again and again: everything but the code of the function itself is
 * to take no longer than that. */
wg_status wg_problem_jacobian(wg_problem *p, size_t group, const double *x, wg_layout layout,
                              double *jac, size_t ld) {
    const int ready = p != NULL && p->broken == WG_OK && p->function != NULL && x != NULL;
    wg_status s = ready ? WG_OK : wgi_problem_begin(p, "wg_problem_jacobian", x);
    if (s != WG_OK) return s;
    if (group >= p->groups || (layout != WG_ROW_MAJOR && layout != WG_COL_MAJOR) ||
        jac == NULL || ld < (layout == WG_ROW_MAJOR ? p->group[group] : p->m)) {
        s = check_matrix(p, group, layout, jac, ld);
        if (s != WG_OK) return s;
    }
    const size_t n = p->group[group], m = p->m;
    if (p->function == NULL) return finite_jacobian(p, group, x, layout, jac, ld);
    /* Functions have it row by row, without gaps. */
    const int in_place = layout == WG_ROW_MAJOR && ld == n;
    double *rows = in_place ? jac : wgi_problem_scratch(p, m * n);
    if (rows == NULL) return n * m == 0 ? WG_OK : p->status;
    if (!once_more(p, group, x, rows)) {
        if (by_tape(
                p, &s,
                &(wgi_question){.kind = WGI_JACOBIAN + (unsigned)group, .x = x, .to = rows}))
            return finite_jacobian(p, group, x, layout, jac, ld);
        if (s != WG_OK) return s;
    }
    if (in_place || spread(rows, m, n, jac, layout == WG_ROW_MAJOR ? ld : 1,
                           layout == WG_ROW_MAJOR ? 1 : ld))
        return wgi_problem_finite(p, "Jacobian, row by row", m * n, rows);
    return WG_OK;
}

wg_status wg_problem_jvp(wg_problem *p, const double *x, const double *v, double *y,
                         double *jv) {
    wg_status s = wgi_problem_begin(p, "wg_problem_jvp", x);
    if (s == WG_OK && v == NULL && p->n != 0)
        s = wgi_problem_refuse(p, WG_ENULL, "wg_problem_jvp: v is NULL");
    if (s == WG_OK && y != NULL && p->function != NULL) s = wg_problem_value(p, x, y);
    if (s != WG_OK) return s;
    const int driven =
        by_tape(p, &s, &(wgi_question){.kind = WGI_JVP, .x = x, .v = v, .to = jv});
    if (driven) s = wg_jvp(p->tape, p->callback, p->data, p->n, x, v, p->m, y, jv);
    return end(p, s, driven, "J v", driven ? p->m : 0, y, p->m, jv);
}

wg_status wg_problem_vjp(wg_problem *p, const double *x, const double *w, double *y,
                         double *g) {
    wg_status s = wgi_problem_begin(p, "wg_problem_vjp", x);
    if (s == WG_OK && w == NULL && p->m != 0)
        s = wgi_problem_refuse(p, WG_ENULL, "wg_problem_vjp: w is NULL");
    if (s == WG_OK && y != NULL && p->function != NULL) s = wg_problem_value(p, x, y);
    if (s != WG_OK) return s;
    const int driven =
        by_tape(p, &s, &(wgi_question){.kind = WGI_VJP, .x = x, .w = w, .to = g});
    if (driven) s = wg_vjp(p->tape, p->callback, p->data, p->n, x, p->m, w, y, g);
    return end(p, s, driven, "J' w", driven ? p->m : 0, y, p->n, g);
}

wg_status wg_problem_hvp(wg_problem *p, const double *x, const double *v, double *hv) {
    wg_status s = wgi_problem_begin(p, "wg_problem_hvp", x);
    if (s == WG_OK) s = one_output(p, "wg_problem_hvp");
    if (s == WG_OK && v == NULL && p->n != 0)
        s = wgi_problem_refuse(p, WG_ENULL, "wg_problem_hvp: v is NULL");
    if (s != WG_OK) return s;
    static const double one = 1;
    const int driven =
        by_tape(p, &s, &(wgi_question){.kind = WGI_HVP, .x = x, .w = &one, .v = v, .to = hv});
    if (driven) s = wg_hvp(p->tape, p->callback, p->data, p->n, x, v, NULL, NULL, hv);
    return end(p, s, driven, "H v", 0, NULL, p->n, hv);
}

/* ---- second derivatives along a direction ------------------------------------------------ */

/* On the tape: one recording, and for each output a product with its Hessian. */
static wg_status driven_second(wg_problem *p, wg_real *at, wg_real *y, const double *x,
                               const double *v, double *hv, double *a) {
    wg_tape *const t = p->tape;
    wg_tape_reset(t);
    wg_status s = wg_inputs(t, p->n, x, at);
    for (size_t j = 0; j < p->m; j++) y[j] = wg_constant(NAN);
    if (s == WG_OK) s = p->callback(t, p->n, at, p->m, y, p->data);
    if (s == WG_OK) s = wg_tape_status(t);
    for (size_t j = 0; j < p->m && s == WG_OK; j++) {
        a[j] = isnan(wg_value(y[j])) ? NAN : 0;
        if (y[j].at.slot == 0) continue;
        s = wg_tape_hvp(t, y[j], p->n, at, v, hv);
        for (size_t i = 0; i < p->n && s == WG_OK; i++) a[j] += v[i] * hv[i];
    }
    return s;
}

wg_status wg_problem_second(wg_problem *p, const double *x, const double *v, double *a) {
    wg_status s = wgi_problem_begin(p, "wg_problem_second", x);
    if (s == WG_OK && ((v == NULL && p->n != 0) || (a == NULL && p->m != 0)))
        s = wgi_problem_refuse(p, WG_ENULL, "wg_problem_second: v or a is NULL");
    if (s != WG_OK) return s;
    const size_t numbers = p->n + 3 * p->m;
    double *const scratch = wgi_problem_scratch(p, numbers);
    if (scratch == NULL) return p->status;
    if (by_tape(p, &s, &(wgi_question){.kind = WGI_TAYLOR, .x = x, .v = v, .to = scratch})) {
        wg_real *const at = malloc((p->n + p->m + 1) * sizeof *at);
        if (at == NULL) return wgi_problem_refuse(p, WG_ENOMEM, "out of memory");
        s = driven_second(p, at, at + p->n, x, v, scratch, a);
        free(at);
        if (s != WG_OK) s = wgi_problem_fail(p, s);
        wg_tape_reset(p->tape);
    } else if (
        s == WG_OK) { /* coefficients of an output of k entries: k values, k slopes, k halves */
        for (size_t o = 0, first = 0; o < wg_function_outputs(p->function); o++) {
            const wg_argument *const y = wg_function_output(p->function, o);
            const size_t k = y->rows * y->cols;
            for (size_t j = 0; j < k; j++) a[first + j] = 2 * scratch[3 * first + 2 * k + j];
            first += k;
        }
    }
    return s == WG_OK ? wgi_problem_finite(p, "second derivative", p->m, a) : s;
}

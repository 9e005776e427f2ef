/* SPDX-License-Identifier: MIT */
/* Drivers: the user's function is evaluated on an emptied tape, and swept as the wanted
 * derivative needs it. Letters: n inputs, m outputs, k columns of the Jacobian that are wanted.
 *
 * The inputs of a driver are the first variables of the tape: number i has slot i + 1. Outputs
 * are written when nothing can fail any more. */
#include "jacobian.h"
#include "second_order.h"

#include <stdio.h>
#include <string.h>

enum { LANES = WGI_JACOBIAN_LANES };

/* ---- vectors ---- */

static wg_strided vector(const double *x) { return (wg_strided){x, 1}; }
static wg_strided_result result(double *y) { return (wg_strided_result){y, 1}; }

/* How many numbers of room a vector takes: n for a copy where its elements are not side by
 * side. Where n would overflow sums of these, more than there can be. */
static size_t room_of(size_t n, ptrdiff_t stride) {
    return stride == 1 ? 0 : n < SIZE_MAX / 512 ? n : SIZE_MAX / 8;
}
/* The numbers side by side. */
static const double *gathered(wgi_drive *d, size_t n, wg_strided x) {
    if (x.data == NULL || x.stride == 1) return x.data;
    double *const to = wgi_drive_room(d, n);
    for (size_t i = 0; i < n; i++) to[i] = x.data[(ptrdiff_t)i * x.stride];
    return to;
}
/* Where numbers are written side by side first. */
static double *room_for(wgi_drive *d, size_t n, wg_strided_result y) {
    return y.data == NULL || y.stride == 1 ? y.data : wgi_drive_room(d, n);
}
static void scatter(size_t n, const double *from, wg_strided_result y) {
    for (size_t i = 0; y.data != NULL && from != y.data && i < n; i++)
        y.data[(ptrdiff_t)i * y.stride] = from[i];
}

static wg_status check_result(const wgi_drive *d, const char *name, size_t n,
                              wg_strided_result y) {
    if (y.data == NULL || y.stride != 0 || n < 2) return WG_OK;
    return wgi_fail(d->c, WG_EARG, "%s: %zu entries of %s have a stride of 0", d->call, n,
                    name);
}

static void values(const wgi_drive *d, wg_strided_result y) {
    for (size_t j = 0; y.data != NULL && j < d->m; j++)
        y.data[(ptrdiff_t)j * y.stride] = d->y[j].value;
}

/* ---- values, gradients, products ---- */

static wg_status eval(wg_tape *t, const char *call, wg_callback *f, void *data, size_t n,
                      wg_strided x, size_t m, wg_strided_result y) {
    wgi_drive d;
    wg_status s = wgi_drive_open(&d, t, call, f, data, n, m, room_of(n, x.stride));
    if (s == WG_OK) s = check_result(&d, "y", m, y);
    if (s == WG_OK) s = wgi_drive_run(&d, 1, gathered(&d, n, x));
    if (s == WG_OK) values(&d, y);
    return wgi_drive_close(&d, s);
}

wg_status wg_eval(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x, size_t m,
                  double *y) {
    return eval(t, "wg_eval", f, data, n, vector(x), m, result(y));
}
wg_status wg_eval_strided(wg_tape *t, wg_callback *f, void *data, size_t n, wg_strided x,
                          size_t m, wg_strided_result y) {
    return eval(t, "wg_eval_strided", f, data, n, x, m, y);
}

static wg_status vjp(wg_tape *t, const char *call, wg_callback *f, void *data, size_t n,
                     wg_strided x, size_t m, wg_strided w, wg_strided_result y,
                     wg_strided_result g) {
    const size_t room = room_of(n, x.stride) + room_of(n, g.stride) + room_of(m, w.stride);
    wgi_drive d;
    wg_status s = wgi_drive_open(&d, t, call, f, data, n, m, room);
    if (s == WG_OK && w.data == NULL && m != 0 && g.data != NULL)
        s = wgi_drive_null_argument(&d, "w", m);
    if (s == WG_OK) s = check_result(&d, "y", m, y);
    if (s == WG_OK) s = check_result(&d, "g", n, g);
    if (s == WG_OK) s = wgi_drive_run(&d, g.data == NULL, gathered(&d, n, x));
    if (s == WG_OK && g.data != NULL) {
        double *const to = room_for(&d, n, g);
        s = wgi_drive_reverse(&d, gathered(&d, m, w), to);
        if (s == WG_OK) scatter(n, to, g);
    }
    if (s == WG_OK) values(&d, y);
    return wgi_drive_close(&d, s);
}

wg_status wg_gradient(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                      double *value, double *g) {
    const double one = 1;
    return vjp(t, "wg_gradient", f, data, n, vector(x), 1, vector(&one), result(value),
               result(g));
}
wg_status wg_gradient_strided(wg_tape *t, wg_callback *f, void *data, size_t n, wg_strided x,
                              double *value, wg_strided_result g) {
    const double one = 1;
    return vjp(t, "wg_gradient_strided", f, data, n, x, 1, vector(&one), result(value), g);
}
wg_status wg_vjp(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x, size_t m,
                 const double *w, double *y, double *g) {
    return vjp(t, "wg_vjp", f, data, n, vector(x), m, vector(w), result(y), result(g));
}
wg_status wg_vjp_strided(wg_tape *t, wg_callback *f, void *data, size_t n, wg_strided x,
                         size_t m, wg_strided w, wg_strided_result y, wg_strided_result g) {
    return vjp(t, "wg_vjp_strided", f, data, n, x, m, w, y, g);
}

static wg_status jvp(wg_tape *t, const char *call, wg_callback *f, void *data, size_t n,
                     wg_strided x, wg_strided v, size_t m, wg_strided_result y,
                     wg_strided_result jv) {
    wgi_drive d;
    wg_status s =
        wgi_drive_open(&d, t, call, f, data, n, m, room_of(n, x.stride) + room_of(n, v.stride));
    if (s == WG_OK) s = check_result(&d, "y", m, y);
    if (s == WG_OK) s = check_result(&d, "jv", m, jv);
    if (s == WG_OK) {
        const double *const at = gathered(&d, n, x);
        s = jv.data == NULL ? wgi_drive_run(&d, 1, at)
                            : wgi_drive_tangent(&d, at, gathered(&d, n, v));
    }
    if (s == WG_OK) {
        for (size_t j = 0; jv.data != NULL && j < m; j++)
            jv.data[(ptrdiff_t)j * jv.stride] = wg_tangent(t, d.y[j], 0);
        values(&d, y);
    }
    return wgi_drive_close(&d, s);
}

wg_status wg_jvp(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                 const double *v, size_t m, double *y, double *jv) {
    return jvp(t, "wg_jvp", f, data, n, vector(x), vector(v), m, result(y), result(jv));
}
wg_status wg_jvp_strided(wg_tape *t, wg_callback *f, void *data, size_t n, wg_strided x,
                         wg_strided v, size_t m, wg_strided_result y, wg_strided_result jv) {
    return jvp(t, "wg_jvp_strided", f, data, n, x, v, m, y, jv);
}

/* ---- Jacobians ---- */

/* The inputs in groups, and where the columns of each group go. */
typedef struct blocks {
    size_t groups;
    const size_t *size;
    const double *const *x;
    wg_layout layout;
    double *const *jac;
    const size_t *ld;
    int named; /* messages name the group: the caller has several */
    const ptrdiff_t
        *strides; /* of the rows and columns of the one group; NULL: by layout and ld */
} blocks;

static int wanted(const blocks *b, size_t g) { return b->jac != NULL && b->jac[g] != NULL; }

/* A column of the Jacobian, whose entry j goes to to[j * stride]. */
typedef struct column {
    const blocks *b;
    size_t group, i;
    double *to;
    ptrdiff_t stride;
} column;

/* Goes on to the next column that is wanted; there has to be one. */
static void next_column(column *c) {
    const blocks *const b = c->b;
    while (!wanted(b, c->group) || c->i == b->size[c->group]) {
        c->group++;
        c->i = 0;
    }
    const ptrdiff_t ld = b->strides == NULL ? (ptrdiff_t)b->ld[c->group] : 0,
                    of[2] = {b->layout == WG_ROW_MAJOR ? ld : 1,
                             b->layout == WG_ROW_MAJOR ? 1 : ld},
                    *const strides = b->strides != NULL ? b->strides : of;
    c->to = b->jac[c->group] + (ptrdiff_t)c->i * strides[1];
    c->stride = strides[0];
    c->i++;
}

static wg_status check_blocks(const wgi_drive *d, const blocks *b) {
    wgi_core *const c = d->c;
    if (b->layout != WG_ROW_MAJOR && b->layout != WG_COL_MAJOR)
        return wgi_fail(c, WG_EARG, "%s: %d is no layout", d->call, (int)b->layout);
    for (size_t g = 0; g < b->groups; g++) {
        char group[40] = "";
        if (b->named) (void)snprintf(group, sizeof group, " of group %zu", g);
        if (b->size[g] != 0 && (b->x == NULL || b->x[g] == NULL))
            return wgi_fail(c, WG_ENULL, "%s: x%s is NULL, with %zu inputs", d->call,
                            b->x != NULL ? group : "", b->size[g]);
        if (!wanted(b, g)) continue;
        if (b->strides != NULL) {
            if ((d->m > 1 && b->strides[0] == 0) || (b->size[g] > 1 && b->strides[1] == 0))
                return wgi_fail(c, WG_EARG,
                                "%s: the Jacobian is %zu-by-%zu, its strides %td, %td", d->call,
                                d->m, b->size[g], b->strides[0], b->strides[1]);
            continue;
        }
        if (b->ld == NULL)
            return wgi_fail(c, WG_ENULL, "%s: the leading dimensions are NULL", d->call);
        const size_t least = b->layout == WG_ROW_MAJOR ? b->size[g] : d->m;
        if (b->ld[g] < least)
            return wgi_fail(c, WG_ESHAPE,
                            "%s: the Jacobian%s is %zu-by-%zu, %s, its leading dimension %zu "
                            "is less than %zu",
                            d->call, group, d->m, b->size[g],
                            b->layout == WG_ROW_MAJOR ? "row-major" : "column-major", b->ld[g],
                            least);
    }
    return WG_OK;
}

/* Evaluates the function with the inputs of wanted columns as variables, and all others as
 * constants. */
static wg_status run_blocks(wgi_drive *d, const blocks *b, int passive, size_t width,
                            size_t first) {
    wg_real *x = d->x;
    wg_status s = WG_OK;
    wgi_drive_begin(d, passive, width);
    for (size_t g = 0; g < b->groups && s == WG_OK; x += b->size[g++]) {
        if (b->size[g] == 0) continue; /* b->x[g] may be NULL then */
        if (wanted(b, g)) s = wg_inputs(&d->c->head, b->size[g], b->x[g], x);
        else
            for (size_t i = 0; i < b->size[g]; i++) x[i] = wg_constant(b->x[g][i]);
    }
    if (s != WG_OK) return s;
    for (size_t l = 0; l < width; l++) wgi_drive_seed_input(d->c, first + l, l, 1);
    return wgi_drive_call(d);
}

/* Copies staged columns, m-by-k, to where they are wanted. */
static void put_columns(const blocks *b, size_t m, size_t k, const double *stage) {
    column c = {b, 0, 0, NULL, 0};
    for (size_t i = 0; i < k; i++) {
        next_column(&c);
        for (size_t j = 0; j < m; j++) c.to[(ptrdiff_t)j * c.stride] = stage[i * m + j];
    }
}

/* Columns, 8 by each evaluation. They are staged, m-by-k, if a later evaluation could still
 * fail. */
static wg_status forward_columns(wgi_drive *d, const blocks *b, size_t k, double *stage) {
    column c = {b, 0, 0, NULL, 0};
    const size_t m = d->m;
    for (size_t first = 0; first < k; first += LANES) {
        const size_t width = k - first < LANES ? k - first : LANES;
        const wg_status s = run_blocks(d, b, 0, width, first);
        if (s != WG_OK) return s;
        for (size_t l = 0; l < width; l++) {
            if (stage == NULL) next_column(&c);
            double *const to = stage == NULL ? c.to : stage + (first + l) * m;
            const ptrdiff_t stride = stage == NULL ? c.stride : 1;
            for (size_t j = 0; j < m; j++)
                to[(ptrdiff_t)j * stride] = wg_tangent(&d->c->head, d->y[j], l);
        }
    }
    if (stage != NULL) put_columns(b, m, k, stage);
    return WG_OK;
}

/* A constant has no derivatives, unless what a tape that reaches beyond itself got back from
 * there. */
static int is_apart(const wgi_core *c, wg_real y) {
    return y.at.slot == 0 && (c->always == 0 || y.value != y.value);
}

/* Rows, 8 by each sweep over one recording. They are staged if a later sweep could be refused.
 */
static wg_status reverse_rows(wgi_drive *d, const blocks *b, size_t k) {
    wgi_core *const c = d->c;
    const size_t m = d->m;
    wg_status s = run_blocks(d, b, 0, 0, 0);
    if (s != WG_OK) return s;
    /* room for the largest sweep, before anything is written */
    s = wgi_adjoints_need(c, c->head.slots, m < LANES ? m : LANES);
    if (s != WG_OK) return wgi_fail(c, s, "%s: no memory for adjoints", d->call);
    double *const stage = m > LANES && wgi_may_refuse(c) ? wgi_drive_late_room(d, m * k) : NULL;
    if (c->status != WG_OK) return c->status;
    for (size_t first = 0; first < m; first += LANES) {
        const size_t rows = m - first < LANES ? m - first : LANES;
        double w[LANES * LANES] = {0};
        for (size_t l = 0; l < rows; l++) w[l * rows + l] = 1;
        s = wg_reverse_lanes(&c->head, rows, rows, d->y + first, w);
        if (s != WG_OK && s != WG_ESEED) return s; /* WG_ESEED: these outputs are constants */
        column at = {b, 0, 0, NULL, 0};
        for (size_t i = 0; i < k; i++) {
            if (stage == NULL) next_column(&at);
            double *const to = stage == NULL ? at.to : stage + i * m;
            const ptrdiff_t stride = stage == NULL ? at.stride : 1;
            for (size_t l = 0; l < rows; l++) {
                const wg_real y = d->y[first + l];
                to[(ptrdiff_t)(first + l) * stride] =
                    is_apart(c, y) ? wgi_of_constant(y) : wgi_drive_input_adjoint(c, i, l);
            }
        }
    }
    if (stage != NULL) put_columns(b, m, k, stage);
    return WG_OK;
}

/* An evaluation with 8 tangents takes about as long as FORWARD sweeps with 8 adjoints, and a
 * recording as long as RECORDING of them; measured on chains of sums, products and sines. */
enum { FORWARD = 3, RECORDING = 1 };

int wgi_jacobian_forward(size_t k, size_t m) {
    return (k + LANES - 1) / LANES * FORWARD < (m + LANES - 1) / LANES + RECORDING;
}

static wg_status jacobian(wg_tape *t, const char *call, wg_callback *f, void *data,
                          const blocks *b, ptrdiff_t stride, size_t m, wg_strided_result y) {
    size_t n = 0, k = 0;
    int fits = 1;
    for (size_t g = 0; g < b->groups; g++) {
        fits = fits && b->size[g] <= SIZE_MAX / 2 - n;
        n += b->size[g];
        if (wanted(b, g)) k += b->size[g];
    }
    if (m == 0) k = 0;
    const int forward = wgi_jacobian_forward(k, m);
    const size_t staged = forward && k > LANES ? k : 0;
    fits = fits && (m == 0 || k <= SIZE_MAX / 512 / m);
    wgi_drive d;
    blocks all = *b;
    const double *x = NULL;
    wg_status s = wgi_drive_open(&d, t, call, f, data, fits ? n : SIZE_MAX, m,
                                 fits ? staged * m + room_of(n, stride) : 0);
    if (s == WG_OK) s = check_result(&d, "y", m, y);
    if (s == WG_OK) s = check_blocks(&d, b);
    if (s == WG_OK && stride != 1) {
        x = gathered(&d, n, (wg_strided){b->x[0], stride});
        all.x = &x;
    }
    if (s == WG_OK) {
        if (k == 0) s = run_blocks(&d, &all, 1, 0, 0);
        else if (forward)
            s = forward_columns(&d, &all, k, staged ? wgi_drive_room(&d, staged * m) : NULL);
        else s = reverse_rows(&d, &all, k);
    }
    if (s == WG_OK) values(&d, y);
    return wgi_drive_close(&d, s);
}

wg_status wg_jacobian(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                      size_t m, double *y, wg_layout layout, double *jac, size_t ld) {
    const blocks b = {1, &n, &x, layout, &jac, &ld, 0, NULL};
    return jacobian(t, "wg_jacobian", f, data, &b, 1, m, result(y));
}

wg_status wg_jacobian_strided(wg_tape *t, wg_callback *f, void *data, size_t n, wg_strided x,
                              size_t m, wg_strided_result y, double *jac, ptrdiff_t row,
                              ptrdiff_t col) {
    const ptrdiff_t strides[2] = {row, col};
    const blocks b = {1, &n, &x.data, WG_ROW_MAJOR, &jac, NULL, 0, strides};
    return jacobian(t, "wg_jacobian_strided", f, data, &b, x.stride, m, y);
}

wg_status wg_jacobian_groups(wg_tape *t, wg_callback *f, void *data, size_t groups,
                             const size_t *size, const double *const *x, size_t m, double *y,
                             wg_layout layout, double *const *jac, const size_t *ld) {
    const char *const call = "wg_jacobian_groups";
    const blocks b = {size != NULL ? groups : 0, size, x, layout, jac, ld, 1, NULL};
    if (groups != 0 && size == NULL) {
        wgi_drive d;
        wg_status s = wgi_drive_open(&d, t, call, f, data, 0, 0, 0);
        if (s == WG_OK) s = wgi_drive_null_argument(&d, "size", groups);
        return wgi_drive_close(&d, s);
    }
    return jacobian(t, call, f, data, &b, 1, m, result(y));
}

/* ---- second order ---- */

wg_status wgi_drive_second(wgi_drive *d, size_t j, const double *v, double *hv, double *h,
                           size_t ld) {
    wgi_core *const c = d->c;
    const wg_real y = d->y[j];
    if (wgi_refuse_always(c, d->call, 0) != WG_OK) return WG_EMODE;
    if (y.at.slot == 0) {
        for (size_t i = 0; i < d->n; i++) {
            if (hv != NULL) hv[i] = wgi_of_constant(y);
            for (size_t k = 0; h != NULL && k < d->n; k++) h[i * ld + k] = wgi_of_constant(y);
        }
        return WG_OK;
    }
    const wg_status s = hv != NULL ? wg_tape_hvp(&c->head, y, d->n, d->x, v, hv)
                                   : wg_tape_hessian(&c->head, y, d->n, d->x, h, ld);
    if (s != WG_OK && c->status == WG_OK) { /* a refusal has left its message */
        char why[sizeof c->message];
        memcpy(why, c->message, sizeof why);
        (void)wgi_fail(c, s, "%s: %s", d->call, why);
    }
    return s;
}

/* Value, gradient, and H v; or all of H, where v is NULL. */
static wg_status second(wg_tape *t, const char *call, wg_callback *f, void *data, size_t n,
                        wg_strided x, wg_strided v, double *value, wg_strided_result g,
                        wg_strided_result hv, double *h, size_t ld) {
    const double one = 1;
    wgi_drive d;
    const size_t room =
        room_of(n, 2) + room_of(n, x.stride) + room_of(n, v.stride) + room_of(n, hv.stride);
    wg_status s = wgi_drive_open(&d, t, call, f, data, n, 1, room);
    if (s == WG_OK) s = wgi_drive_needs_code(&d);
    if (s == WG_OK && hv.data != NULL && v.data == NULL && n != 0)
        s = wgi_drive_null_argument(&d, "v", n);
    if (s == WG_OK && h != NULL && ld < n)
        s = wgi_fail(d.c, WG_ESHAPE,
                     "%s: the Hessian is %zu-by-%zu, its leading dimension %zu is less", call,
                     n, n, ld);
    if (s == WG_OK) s = check_result(&d, "g", n, g);
    if (s == WG_OK) s = check_result(&d, "hv", n, hv);
    const int order = hv.data != NULL || h != NULL ? 2 : g.data != NULL;
    if (s == WG_OK) s = wgi_drive_run(&d, order == 0, gathered(&d, n, x));
    double *const gradient = s == WG_OK ? wgi_drive_room(&d, n) : NULL;
    if (s == WG_OK && order > 0) s = wgi_drive_reverse(&d, &one, gradient);
    if (s == WG_OK && order == 2) {
        double *const to = room_for(&d, n, hv);
        s = wgi_drive_second(&d, 0, gathered(&d, n, v), to, h, ld);
        if (s == WG_OK) scatter(n, to, hv);
    }
    if (s == WG_OK) {
        values(&d, result(value));
        scatter(n, gradient, g);
    }
    return wgi_drive_close(&d, s);
}

wg_status wg_hvp(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                 const double *v, double *value, double *g, double *hv) {
    return second(t, "wg_hvp", f, data, n, vector(x), vector(v), value, result(g), result(hv),
                  NULL, n);
}
wg_status wg_hvp_strided(wg_tape *t, wg_callback *f, void *data, size_t n, wg_strided x,
                         wg_strided v, double *value, wg_strided_result g,
                         wg_strided_result hv) {
    return second(t, "wg_hvp_strided", f, data, n, x, v, value, g, hv, NULL, n);
}

wg_status wg_hessian(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                     double *value, double *g, double *h, size_t ld) {
    return second(t, "wg_hessian", f, data, n, vector(x), vector(NULL), value, result(g),
                  result(NULL), h, ld);
}
wg_status wg_hessian_strided(wg_tape *t, wg_callback *f, void *data, size_t n, wg_strided x,
                             double *value, wg_strided_result g, double *h, size_t ld) {
    return second(t, "wg_hessian_strided", f, data, n, x, vector(NULL), value, g, result(NULL),
                  h, ld);
}

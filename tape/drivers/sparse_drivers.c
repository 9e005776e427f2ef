/* SPDX-License-Identifier: MIT */
/* Values of sparse Jacobians and Hessians. The lines of one colour share a lane of a sweep; in
 * the row where an entry is read, it is the only one of its colour. */
#include "tape/function/flatten/second_order_blocks.h"
#include "second_order.h"
#include "tape/sparsity/sparsity.h"

#include <string.h>
#include <wengert/array.h>

enum { LANES = WGI_SWEEP_LANES };

/* Sweep k of those that have the colours of a side: how many lanes are stored, of the colours
 * that are left. */
static size_t lanes_of(const wgi_side *a, size_t k) {
    const size_t left = a->colours - k * LANES;
    return left <= 2 ? left : left <= 4 ? 4 : LANES;
}

/* The lane of line i in it; LANES or more: it belongs to another sweep. */
static size_t lane_in(const wgi_side *a, size_t k, size_t i) {
    return (size_t)a->colour[i] - k * LANES;
}

/* How many entries a sweep gives. */
static size_t entries_of(const wg_sparsity *s, size_t sweep) {
    return s->sweep_start == NULL ? s->pattern.entries
                                  : s->sweep_start[sweep + 1] - s->sweep_start[sweep];
}
static size_t entry(const wg_sparsity *s, size_t sweep, size_t k) {
    return s->sweep_start == NULL ? k : s->sweep_entry[s->sweep_start[sweep] + k];
}

static wg_status open(wgi_drive *d, wg_tape *t, const char *call, const wg_sparsity *s,
                      int hessian, wg_callback *f, void *data) {
    const wg_status r =
        wgi_drive_open(d, t, call, f, data, s != NULL ? s->n : 0, s != NULL ? s->m : 0, 0);
    if (r != WG_OK) return r;
    if (s == NULL) return wgi_fail(d->c, WG_ENULL, "%s: s is NULL", call);
    if (s->hessian != hessian)
        return wgi_fail(d->c, WG_EARG, "%s: the pattern is one of a %s", call,
                        s->hessian ? "Hessian" : "Jacobian");
    return WG_OK;
}

static void put_outputs(const wgi_drive *d, double *y) {
    for (size_t j = 0; y != NULL && j < d->m; j++) y[j] = d->y[j].value;
}

/* A call that was refused has left the reason. */
static wg_status fail_with_reason(wgi_drive *d, wg_status r) {
    wgi_core *const c = d->c;
    if (r == WG_OK || c->status != WG_OK) return r;
    char why[sizeof c->message];
    memcpy(why, c->message, sizeof why);
    return wgi_fail(c, r, "%s", why);
}

/* ---- Jacobians ---- */

/* sweep: the number among all sweeps; k0: that among those of its direction. */
static void put_backward(const wgi_drive *d, const wg_sparsity *s, size_t sweep, size_t k0,
                         double *to) {
    const wgi_core *const c = d->c;
    const double *const adjoint = wgi_adjoints(c);
    const size_t n = entries_of(s, sweep), first = k0 * LANES;
    for (size_t k = 0; k < n; k++) {
        const size_t e = entry(s, sweep, k), slot = (size_t)s->pattern.col[e] + 1;
        const uint32_t row = s->pattern.row[e];
        if (d->y[row].at.slot == 0) to[e] = wgi_of_constant(d->y[row]);
        else
            to[e] =
                slot < c->swept ? adjoint[slot * c->lanes + s->side[1].colour[row] - first] : 0;
    }
}

static void put_forward(const wgi_drive *d, const wg_sparsity *s, size_t sweep, double *to) {
    const double *const tangent = wgi_tangents(d->c);
    const size_t n = entries_of(s, sweep), first = sweep * LANES;
    const size_t lanes = lanes_of(&s->side[0], sweep);
    for (size_t k = 0; k < n; k++) {
        const size_t e = entry(s, sweep, k);
        const wg_real *const y = &d->y[s->pattern.row[e]];
        to[e] =
            y->at.slot == 0
                ? wgi_of_constant(*y)
                : tangent[y->at.slot * lanes + s->side[0].colour[s->pattern.col[e]] - first];
    }
}

static wg_status backward(wgi_drive *d, const wgi_side *a, size_t k) {
    wgi_core *const c = d->c;
    const size_t lanes = lanes_of(a, k);
    uint32_t root = 0;
    for (size_t j = 0; j < d->m; j++)
        if (d->y[j].at.slot > root && lane_in(a, k, j) < LANES) root = d->y[j].at.slot;
    c->swept = 0;
    if (root == 0) return WG_OK; /* all outputs are constants */
    wg_status r = wgi_adjoints_open(c, wgi_reach(c, root) + 1, lanes, 1);
    if (r != WG_OK)
        return wgi_fail(c, r, "%s: no memory for %zu adjoints of %u slots", d->call, lanes,
                        root);
    for (size_t j = 0; j < d->m; j++)
        if (lane_in(a, k, j) < LANES && d->y[j].at.slot != 0) {
            wgi_adjoints_mark(c, d->y[j].at.slot, 1);
            wgi_adjoints(c)[d->y[j].at.slot * lanes + lane_in(a, k, j)] += 1;
        }
    r = wgi_sweep(c, wgi_record_after(c, root), 0);
    return r;
}

static wg_status forward(wgi_drive *d, const wgi_side *a, size_t k) {
    const size_t lanes = lanes_of(a, k);
    const wg_status r = wgi_tangents_open(d->c, d->call, lanes);
    if (r != WG_OK) return r;
    for (size_t i = 0; i < d->n; i++)
        if (lane_in(a, k, i) < LANES)
            wgi_tangents(d->c)[(i + 1) * lanes + lane_in(a, k, i)] = 1;
    return wgi_forward_sweep(d->c, lanes);
}

/* All sweeps. Their results are staged if a later sweep could be refused. */
static wg_status all_sweeps(wgi_drive *d, const wg_sparsity *s, double *values) {
    wgi_core *const c = d->c;
    const size_t ahead = wgi_sweeps(s->side[0].colours), count = wgi_sparsity_sweeps(s);
    const size_t entries = s->pattern.entries;
    const int staged = count > 1 && wgi_may_refuse(c);
    double *const to = staged ? wgi_drive_late_room(d, entries) : values;
    /* room for the largest sweep, before anything is written */
    if (c->status == WG_OK && count > 1) {
        wg_status m = WG_OK;
        if (count > ahead) m = wgi_adjoints_need(c, c->head.slots, LANES);
        if (m == WG_OK && ahead > 0)
            m = wgi_extent_need(c, &c->tangents, (size_t)c->head.slots * LANES * sizeof(double),
                                0);
        if (m != WG_OK)
            return wgi_fail(c, m, "%s: no memory for %d lanes of %u slots", d->call, LANES,
                            c->head.slots);
    }
    if (c->status != WG_OK) return c->status;
    for (size_t sweep = 0; sweep < ahead; sweep++) {
        const wg_status r = forward(d, &s->side[0], sweep);
        if (r != WG_OK) return fail_with_reason(d, r);
        put_forward(d, s, sweep, to);
    }
    for (size_t sweep = ahead; sweep < count; sweep++) {
        const wg_status r = backward(d, &s->side[1], sweep - ahead);
        if (r != WG_OK) return fail_with_reason(d, r);
        put_backward(d, s, sweep, sweep - ahead, to);
    }
    if (staged) memcpy(values, to, entries * sizeof *values);
    return WG_OK;
}

wg_status wg_sparse_jacobian(wg_tape *t, const wg_sparsity *s, wg_callback *f, void *data,
                             const double *x, double *y, double *values) {
    wgi_drive d;
    wg_status r = open(&d, t, "wg_sparse_jacobian", s, 0, f, data);
    if (r == WG_OK) r = wgi_drive_run(&d, values == NULL, x);
    if (r == WG_OK && values != NULL) r = wgi_refuse_always(d.c, d.call, 0);
    if (r == WG_OK && values != NULL) r = wgi_sparsity_fits(&d, s);
    if (r == WG_OK && values != NULL) r = all_sweeps(&d, s, values);
    if (r == WG_OK) put_outputs(&d, y);
    return wgi_drive_close(&d, r);
}

/* ---- Hessians ---- */

/* The line along which an entry of a Hessian is read; the row in which it is read. */
static size_t along(const wg_sparsity *s, size_t e) {
    return s->swapped[e] ? s->pattern.row[e] : s->pattern.col[e];
}
static size_t read_at(const wg_sparsity *s, size_t e) {
    return s->swapped[e] ? s->pattern.col[e] : s->pattern.row[e];
}

static wg_status sweeps(wgi_passes *p, const wgi_drive *d, const wg_sparsity *s,
                        double *values) {
    for (size_t sweep = 0; sweep < wgi_sparsity_sweeps(s); sweep++) {
        const size_t n = entries_of(s, sweep), first = sweep * LANES;
        wgi_second_clear(p);
        for (size_t i = 0; i < d->n && i < p->root; i++)
            if (lane_in(&s->side[0], sweep, i) < LANES)
                p->vt[(i + 1) * p->lanes + lane_in(&s->side[0], sweep, i)] = 1;
        const wg_status r = wgi_second_run(p);
        if (r != WG_OK) return r;
        for (size_t k = 0; k < n; k++) {
            const size_t e = entry(s, sweep, k), i = read_at(s, e);
            values[e] = i < p->root
                            ? p->wt[(i + 1) * p->lanes + s->side[0].colour[along(s, e)] - first]
                            : 0;
        }
    }
    return WG_OK;
}

/* Entries by substitution. b: products with the colours, colour after colour, which are used
 * up; h: room for an entry of each step. */
static void substitute(const wg_sparsity *s, double *b, double *h, double *values) {
    const wg_pattern *const p = &s->pattern;
    const uint32_t *const colour = s->side[0].colour;
    const size_t n = s->n;
    for (size_t k = 0; k < s->steps; k++) {
        const size_t child = s->child[k], parent = s->parent[k];
        h[k] = b[colour[parent] * n + child];
        b[colour[child] * n + parent] -= h[k];
    }
    for (size_t e = 0; e < p->entries; e++) {
        const size_t i = p->row[e];
        values[e] = i == p->col[e] ? b[colour[i] * n + i] : h[s->step[e]];
    }
}

/* How many numbers that takes beside the entries. */
static size_t substituted(const wg_sparsity *s) {
    return s->step == NULL ? 0 : s->n * s->side[0].colours + s->steps;
}

/* Products with all colours, and substitution; results: the entries, and room behind them. */
static wg_status sweeps_substituted(wgi_passes *p, const wgi_drive *d, const wg_sparsity *s,
                                    double *results) {
    double *const b = results + s->pattern.entries;
    const wgi_side *const a = &s->side[0];
    for (size_t sweep = 0; sweep < wgi_sparsity_sweeps(s); sweep++) {
        wgi_second_clear(p);
        for (size_t i = 0; i < d->n && i < p->root; i++)
            if (lane_in(a, sweep, i) < LANES)
                p->vt[(i + 1) * p->lanes + lane_in(a, sweep, i)] = 1;
        const wg_status r = wgi_second_run(p);
        if (r != WG_OK) return r;
        for (size_t k = sweep * LANES; k < a->colours && k < (sweep + 1) * LANES; k++)
            for (size_t i = 0; i < d->n; i++)
                b[k * d->n + i] =
                    i < p->root ? p->wt[(i + 1) * p->lanes + k - sweep * LANES] : 0;
    }
    substitute(s, b, b + s->n * a->colours, results);
    return WG_OK;
}

static void put_gradient(const wgi_drive *d, double *g) {
    const wgi_core *const c = d->c;
    for (size_t i = 0; g != NULL && i < d->n; i++)
        g[i] = i + 1 < c->swept ? wgi_adjoints(c)[i + 1] : 0;
}

/* With loops, or operations on matrices that only expand: as a function, along all colours
 * at once. */
static wg_status block_products(wgi_drive *d, const wg_sparsity *s, const double *w, double *g,
                                double *values) {
    wgi_core *const c = d->c;
    wg_tape *const t = &c->head;
    const size_t n = d->n;
    double *const v = wg_tape_keep(t, (n * s->side[0].colours + 1) * sizeof *v, NULL);
    double *const hv = wg_tape_keep(t, (n * s->side[0].colours + 1) * sizeof *hv, NULL);
    c->pauses = 0; /* the function may have left some open */
    const wg_real y = w != NULL ? wg_linear(t, d->m, w, d->y) : wg_sum(t, d->m, d->y);
    if (c->status != WG_OK) return c->status;
    memset(v, 0, n * s->side[0].colours * sizeof *v);
    for (size_t i = 0; i < n; i++)
        if (s->side[0].colour[i] != WGI_NO_COLOUR) v[s->side[0].colour[i] * n + i] = 1;
    wg_status r = wg_reverse(t, y);
    if (r == WG_OK && s->side[0].colours != 0)
        r = wgi_second_of_blocks(c, d->call, y, n, d->x, s->side[0].colours, v, hv, n);
    if (r != WG_OK) return fail_with_reason(d, r);
    if (s->step != NULL) {
        double *const h = wg_tape_keep(t, (s->steps + 1) * sizeof *h, NULL);
        if (h == NULL) return c->status;
        substitute(s, hv, h, values);
    } else
        for (size_t e = 0; e < s->pattern.entries; e++)
            values[e] = hv[s->side[0].colour[along(s, e)] * n + read_at(s, e)];
    put_gradient(d, g);
    return WG_OK;
}

/* The derivatives of outputs that are constants, summed: 0, or NaN if an output was never set.
 */
static double constants(const wgi_drive *d, const double *w, int *variables) {
    double sum = 0;
    *variables = 0;
    for (size_t j = 0; j < d->m; j++) {
        if (d->y[j].at.slot == 0)
            sum += wgi_product(w != NULL ? w[j] : 1, wgi_of_constant(d->y[j]));
        else *variables = 1;
    }
    return sum;
}

static wg_status second(wgi_drive *d, const wg_sparsity *s, const double *w, double *g,
                        double *values) {
    wgi_core *const c = d->c;
    wgi_passes p;
    int variables;
    const double nan = constants(d, w, &variables);
    if (nan != nan || !variables) {
        for (size_t i = 0; g != NULL && i < d->n; i++) g[i] = nan;
        for (size_t e = 0; values != NULL && e < s->pattern.entries; e++) values[e] = nan;
        return WG_OK;
    }
    if (values == NULL) {
        const wg_status r = wgi_adjoints_open(c, c->head.slots, 1, 0);
        if (r != WG_OK) return wgi_fail(c, r, "%s: no memory for adjoints", d->call);
        for (size_t j = 0; j < d->m; j++)
            if (d->y[j].at.slot != 0) {
                wgi_adjoints_mark(c, d->y[j].at.slot, 1);
                wgi_adjoints(c)[d->y[j].at.slot] += w != NULL ? w[j] : 1;
            }
        const wg_status swept = wgi_sweep(c, c->chunks == 0 ? 0 : wgi_record_count(c), 0);
        if (swept == WG_OK) put_gradient(d, g);
        return fail_with_reason(d, swept);
    }
    if (!wgi_second_possible(c, d->m, d->y)) return block_products(d, s, w, g, values);
    const size_t lanes = s->side[0].colours != 0 ? lanes_of(&s->side[0], 0) : 1;
    /* statements cannot fail once the passes are open; operations on matrices may */
    const int direct = c->head.last_block == NULL && s->step == NULL;
    const size_t entries = s->pattern.entries;
    wg_status r = wgi_second_open(c, d->call, d->m, d->y, w, lanes,
                                  direct ? 0 : entries + substituted(s), &p);
    if (r == WG_OK)
        r = s->step != NULL ? sweeps_substituted(&p, d, s, p.results)
                            : sweeps(&p, d, s, direct ? values : p.results);
    if (r == WG_OK && !direct && entries != 0)
        memcpy(values, p.results, entries * sizeof *values);
    wgi_second_close(&p);
    if (r != WG_OK) return fail_with_reason(d, r);
    put_gradient(d, g);
    return WG_OK;
}

wg_status wg_sparse_hessian(wg_tape *t, const wg_sparsity *s, wg_callback *f, void *data,
                            const double *x, const double *w, double *y, double *g,
                            double *values) {
    wgi_drive d;
    wg_status r = open(&d, t, "wg_sparse_hessian", s, 1, f, data);
    if (r == WG_OK && values != NULL && !(d.c->flags & WG_KEEP_CODE))
        r = wgi_fail(d.c, WG_EMODE, "%s: the tape was not opened with WG_KEEP_CODE", d.call);
    const int order = values != NULL ? 2 : g != NULL;
    if (r == WG_OK) r = wgi_drive_run(&d, order == 0, x);
    if (r == WG_OK && order == 2) r = wgi_refuse_always(d.c, d.call, 0);
    if (r == WG_OK && order == 2) r = wgi_sparsity_fits(&d, s);
    if (r == WG_OK && order > 0) r = second(&d, s, w, g, values);
    if (r == WG_OK) put_outputs(&d, y);
    return wgi_drive_close(&d, r);
}

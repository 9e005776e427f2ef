/* SPDX-License-Identifier: MIT */
/* Functions evaluated and differentiated at many points: WGI_RUN points at a time, every node a
 * column of as many numbers, every operation one call of its kernel on columns.
 *
 * Workspace of a call: columns of values and of bars (adjoints or tangents) of all nodes, what
 * operations save, and where the operands of each operation stand. */
#include "function.h"

#include <string.h>

typedef struct run {
    const wg_function *f;
    double *value, *bar, *saved;
    wg_block_arg *arg; /* operands and result of every operation */
    size_t points;     /* of this run */
} run;

static size_t nodes_of(const wg_function *f) { return f->n + f->constants + f->operations; }

size_t wg_function_work(const wg_function *f) {
    if (f == NULL) return 0;
    return (2 * nodes_of(f) * WGI_RUN + f->saved) * sizeof(double) +
           f->args * sizeof(wg_block_arg) + 64;
}

/* Where operands and results stand is the same for all points. Bars of constants are missing.
 */
static void arguments(const run *r) {
    const wg_function *const f = r->f;
    wg_block_arg *a = r->arg;
    for (size_t k = 0; k < f->operations; k++) {
        const wgi_fn_node *const n = &f->node[k];
        for (uint32_t i = 0; i <= n->count; i++, a++) {
            const size_t node =
                i < n->count ? f->operand[n->first + i] : f->n + f->constants + k;
            const int constant = node >= f->n && node < f->n + f->constants;
            *a = (wg_block_arg){WGI_RUN,
                                1,
                                WGI_RUN,
                                WGI_RUN,
                                0,
                                r->value + node * WGI_RUN,
                                constant ? NULL : r->bar + node * WGI_RUN};
        }
    }
    for (size_t k = 0; k < f->constants; k++)
        for (size_t p = 0; p < WGI_RUN; p++)
            r->value[(f->n + k) * WGI_RUN + p] = f->constant[k];
}

static run open(const wg_function *f, void *work) {
    const size_t nodes = nodes_of(f);
    char *const base = (char *)work + (-(uintptr_t)work & 63);
    run r;
    r.f = f;
    r.value = (double *)(void *)base;
    r.bar = r.value + nodes * WGI_RUN;
    r.saved = r.bar + nodes * WGI_RUN;
    r.arg = (wg_block_arg *)(void *)(r.saved + f->saved);
    r.points = 0;
    arguments(&r);
    return r;
}

/* ---- columns and points ---- */

static void load(const run *r, wg_points x, size_t first, size_t entries, double *column) {
    for (size_t e = 0; e < entries; e++) {
        double *const to = column + e * WGI_RUN;
        if (x.data == NULL) {
            memset(to, 0, r->points * sizeof *to);
            continue;
        }
        const double *const from = x.data + (ptrdiff_t)first * x.point + (ptrdiff_t)e * x.entry;
        if (x.point == 1) memcpy(to, from, r->points * sizeof *to);
        else
            for (size_t p = 0; p < r->points; p++) to[p] = from[(ptrdiff_t)p * x.point];
    }
}

static void store(const run *r, const double *column, size_t entry, size_t first,
                  wg_results y) {
    if (y.data == NULL) return;
    double *const to = y.data + (ptrdiff_t)first * y.point + (ptrdiff_t)entry * y.entry;
    if (y.point == 1) memcpy(to, column, r->points * sizeof *to);
    else
        for (size_t p = 0; p < r->points; p++) to[(ptrdiff_t)p * y.point] = column[p];
}

/* ---- walks ---- */

static void forward(const run *r) {
    const wg_block_arg *a = r->arg;
    for (const wgi_fn_node *n = r->f->node, *end = n + r->f->operations; n < end; n++) {
        n->kernel.value(r->points, a, a + n->count, r->saved + n->saved, n->params);
        a += n->count + 1;
    }
}

/* Leaves the bars of operations at 0, for the next sweep: while they are in the cache. */
static void backward(const run *r) {
    const wg_block_arg *a = r->arg + r->f->args;
    for (const wgi_fn_node *n = r->f->node + r->f->operations; n-- > r->f->node;) {
        a -= n->count + 1;
        n->kernel.vjp(r->points, a, a + n->count, r->saved + n->saved, n->params);
        memset(a[n->count].bar, 0, r->points * sizeof(double));
    }
}

static void tangents(const run *r) {
    const wg_block_arg *a = r->arg;
    for (const wgi_fn_node *n = r->f->node, *end = n + r->f->operations; n < end; n++) {
        n->kernel.jvp(r->points, a, a + n->count, r->saved + n->saved, n->params);
        a += n->count + 1;
    }
}

static int compare(unsigned which, double a, double b) {
    switch (which) {
    case 0:
        return a < b;
    case 1:
        return a <= b;
    case 2:
        return a > b;
    case 3:
        return a >= b;
    case 4:
        return a == b;
    default:
        return a != b;
    }
}

/* The first comparison, at the first point, that came out differently. */
static int guards_hold(const run *r, size_t first, wg_function_guard *out) {
    for (size_t p = 0; r->f->guards != 0 && p < r->points; p++)
        for (size_t k = 0; k < r->f->guards; k++) {
            const wgi_fn_guard *const g = &r->f->guard[k];
            const double a = r->value[(size_t)g->a * WGI_RUN + p];
            const double b = r->value[(size_t)g->b * WGI_RUN + p];
            if (compare(g->comparison, a, b) == g->outcome) continue;
            if (out != NULL) *out = (wg_function_guard){first + p, k};
            return 0;
        }
    return 1;
}

/* ---- one run of points ---- */

static void values(const run *r, size_t first, wg_points x, wg_results y) {
    load(r, x, first, r->f->n, r->value);
    forward(r);
    for (size_t j = 0; j < r->f->m; j++)
        store(r, r->value + (size_t)r->f->output[j] * WGI_RUN, j, first, y);
}

/* Before a sweep the bars of all nodes are 0; those of operations it leaves so. */
static void clear_bars(const run *r, size_t nodes) {
    memset(r->bar, 0, nodes * WGI_RUN * sizeof(double));
}

static void adjoints(const run *r, size_t first, wg_points w, wg_results g) {
    const wg_function *const f = r->f;
    for (size_t j = 0; w.data != NULL && j < f->m; j++) {
        double *const to = r->bar + (size_t)f->output[j] * WGI_RUN;
        const double *const from = w.data + (ptrdiff_t)first * w.point + (ptrdiff_t)j * w.entry;
        for (size_t p = 0; p < r->points; p++) to[p] += from[(ptrdiff_t)p * w.point];
    }
    backward(r);
    for (size_t i = 0; i < f->n; i++) store(r, r->bar + i * WGI_RUN, i, first, g);
    clear_bars(r, f->n);
}

static void products(const run *r, size_t first, wg_points v, wg_results jv) {
    const wg_function *const f = r->f;
    load(r, v, first, f->n, r->bar);
    tangents(r);
    for (size_t j = 0; j < f->m; j++)
        store(r, r->bar + (size_t)f->output[j] * WGI_RUN, j, first, jv);
}

/* J by rows where there are fewer outputs than inputs, else by columns. */
static void jacobian(const run *r, size_t first, wg_results jac) {
    const wg_function *const f = r->f;
    for (size_t j = 0; f->m <= f->n && j < f->m; j++) {
        for (size_t p = 0; p < r->points; p++) r->bar[(size_t)f->output[j] * WGI_RUN + p] = 1;
        backward(r);
        for (size_t i = 0; i < f->n; i++)
            store(r, r->bar + i * WGI_RUN, j * f->n + i, first, jac);
        clear_bars(r, f->n);
    }
    for (size_t i = 0; f->m > f->n && i < f->n; i++) {
        for (size_t p = 0; p < r->points; p++) r->bar[i * WGI_RUN + p] = 1;
        tangents(r);
        for (size_t j = 0; j < f->m; j++)
            store(r, r->bar + (size_t)f->output[j] * WGI_RUN, j * f->n + i, first, jac);
        memset(r->bar + i * WGI_RUN, 0, WGI_RUN * sizeof(double));
    }
}

/* ---- all points ---- */

typedef enum { VALUES, VJP, JVP, JACOBIAN } what;

static wg_status evaluate(const wg_function *f, what which, size_t points, wg_points x,
                          wg_points seed, wg_results y, wg_results d, void *work,
                          wg_function_guard *guard) {
    if (f == NULL || work == NULL || (f->n != 0 && points != 0 && x.data == NULL))
        return WG_ENULL;
    run r = open(f, work);
    int held = 1;
    if (d.data != NULL) clear_bars(&r, nodes_of(f));
    for (size_t first = 0; first < points; first += WGI_RUN) {
        r.points = points - first < WGI_RUN ? points - first : WGI_RUN;
        values(&r, first, x, y);
        if (held) held = guards_hold(&r, first, guard);
        if (d.data == NULL) continue;
        if (which == VJP) adjoints(&r, first, seed, d);
        if (which == JVP) products(&r, first, seed, d);
        if (which == JACOBIAN) jacobian(&r, first, d);
    }
    return held ? WG_OK : WG_EGUARD;
}

wg_status wg_function_values(const wg_function *f, size_t points, wg_points x, wg_results y,
                             void *work, wg_function_guard *guard) {
    const wg_points no_seed = {NULL, 0, 0};
    const wg_results nothing = {NULL, 0, 0};
    return evaluate(f, VALUES, points, x, no_seed, y, nothing, work, guard);
}

wg_status wg_function_vjp(const wg_function *f, size_t points, wg_points x, wg_points w,
                          wg_results y, wg_results g, void *work, wg_function_guard *guard) {
    return evaluate(f, VJP, points, x, w, y, g, work, guard);
}

wg_status wg_function_jvp(const wg_function *f, size_t points, wg_points x, wg_points v,
                          wg_results y, wg_results jv, void *work, wg_function_guard *guard) {
    return evaluate(f, JVP, points, x, v, y, jv, work, guard);
}

wg_status wg_function_jacobian(const wg_function *f, size_t points, wg_points x, wg_results y,
                               wg_results jac, void *work, wg_function_guard *guard) {
    const wg_points no_seed = {NULL, 0, 0};
    return evaluate(f, JACOBIAN, points, x, no_seed, y, jac, work, guard);
}

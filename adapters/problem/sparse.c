/* SPDX-License-Identifier: MIT */
/* sparse.c - patterns of a problem, found once, and their values: by the sparse drivers, or of
 * a function by products with seeds, in lanes. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_LANES = 64 };

/* ---- a given function as a callback ------------------------------------------------------ */

/* Calls the callable of the problem, of a function or of its vjp, whose weights are numbers. */
static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const wg_problem *const p = data;
    const wg_function *const f = wg_callable_function(p->called);
    const size_t inputs = wg_function_inputs(f), outputs = wg_function_outputs(f);
    wg_mat in[2 * WGI_MOST], out[WGI_MOST];
    size_t at = 0;
    (void)n;
    for (size_t k = 0; k < inputs; k++) {
        const wg_argument *const a = wg_function_input(f, k);
        if (k >= p->all) in[k] = wg_mat_fill(t, a->rows, a->cols, 1);
        else if (p->passive[k])
            in[k] =
                wg_mat_constant(t, a->rows, a->cols, wgi_problem_input(p, k, NULL), a->rows);
        else {
            in[k] = wg_mat_gather(t, a->rows, a->cols, x + at);
            at += a->rows * a->cols;
        }
    }
    const wg_status s = wg_call(t, p->called, in, out);
    at = 0;
    for (size_t k = 0; k < outputs && s == WG_OK; k++)
        for (size_t c = 0; c < out[k].cols; c++)
            for (size_t r = 0; r < out[k].rows && at < m; r++)
                y[at++] = wg_mat_at(out[k], r, c);
    return s;
}

/* The pattern of the Jacobian of a given function, or (second) of its gradient. */
static wg_status pattern_of_function(wg_problem *p, int second, const double *x,
                                     wg_layout layout, wg_sparsity **out) {
    wg_function *g = NULL;
    wg_status s = second ? wg_function_vjp(p->tape, p->function, &g) : WG_OK;
    if (s == WG_OK) s = wg_callable_new(p->tape, second ? g : p->function, &p->called);
    wg_function_free(g);
    if (s == WG_OK)
        s = wg_jacobian_sparsity(p->tape, call, p, p->n, x, second ? p->n : p->m, layout, out);
    wg_callable_free(p->called);
    p->called = NULL;
    return s;
}

/* ---- patterns ---------------------------------------------------------------------------- */

/* The pattern of the Jacobian of the callback, or (second) of the Hessian, for the parameters
 * that the function was recorded with, if there is one. */
static wg_status pattern_of_callback(wg_problem *p, int second, const double *x,
                                     wg_layout layout, wg_sparsity **out) {
    const double *const now = p->parameter;
    if (p->recorded != NULL) p->parameter = p->recorded + p->n;
    const wg_status s = second ? wg_hessian_sparsity(p->tape, p->callback, p->data, p->n, x,
                                                     p->m, 'L', layout, out)
                               : wg_jacobian_sparsity(p->tape, p->callback, p->data, p->n, x,
                                                      p->m, layout, out);
    p->parameter = now;
    return s;
}

/* Keeps of *s the columns of a group, and the pattern with columns counted from there. */
static wg_status keep_group(wg_problem *p, size_t group, wg_sparsity **s) {
    const size_t first = wgi_problem_first(p, group), end = first + p->group[group];
    const wg_pattern *const all = wg_sparsity_pattern(*s);
    size_t count = 0;
    uint32_t *const row = malloc((2 * all->entries + 1) * sizeof *row), *const col =
                                                                            row + all->entries;
    wg_sparsity *chosen = NULL;
    if (row == NULL) return wgi_problem_refuse(p, WG_ENOMEM, "out of memory");
    for (size_t k = 0; k < all->entries; k++)
        if (all->col[k] >= first && all->col[k] < end)
            row[count] = all->row[k], col[count++] = all->col[k];
    const wg_status status = wg_sparsity_select(p->tape, *s, count, row, col, &chosen);
    free(row);
    if (status != WG_OK) return wgi_problem_fail(p, status);
    wg_sparsity_free(*s);
    *s = chosen;
    const wg_pattern *const at = wg_sparsity_pattern(chosen);
    p->pattern_col = malloc((at->entries + 1) * sizeof *p->pattern_col);
    if (p->pattern_col == NULL) return wgi_problem_refuse(p, WG_ENOMEM, "out of memory");
    for (size_t k = 0; k < at->entries; k++) p->pattern_col[k] = at->col[k] - (uint32_t)first;
    p->pattern = *at;
    p->pattern.cols = p->group[group];
    p->pattern.col = p->pattern_col;
    if (at->layout == WG_COL_MAJOR) p->pattern.start += first;
    p->pattern_group = group;
    return WG_OK;
}

/* Where the pattern is found: where the function was recorded, for elsewhere the callback may
 * have another one. */
static wg_status begin(wg_problem *p, const char *call, const double **x) {
    if (p != NULL && p->x != NULL) *x = p->x;
    const wg_status s = wgi_problem_begin(p, call, *x);
    if (s == WG_OK && p->recorded != NULL) *x = p->recorded;
    return s;
}

wg_status wg_problem_jacobian_pattern(wg_problem *p, size_t group, const double *x,
                                      wg_layout layout, const wg_pattern **out) {
    if (out != NULL) *out = NULL;
    wg_status s = begin(p, "wg_problem_jacobian_pattern", &x);
    if (s != WG_OK) return s;
    if (out == NULL)
        return wgi_problem_refuse(p, WG_ENULL, "wg_problem_jacobian_pattern: out is NULL");
    wg_sparsity **const to = &p->jacobian.sparsity;
    if (group >= p->groups ||
        (*to != NULL && (group != p->pattern_group || layout != p->pattern.layout)))
        return wgi_problem_refuse(p, WG_EARG,
                                  "wg_problem_jacobian_pattern: group %zu, or a layout "
                                  "that is not that of the call before",
                                  group);
    if (*to == NULL) {
        s = p->callback != NULL ? pattern_of_callback(p, 0, x, layout, to)
                                : pattern_of_function(p, 0, x, layout, to);
        if (s != WG_OK) return wgi_problem_fail(p, s);
        s = keep_group(p, group, to);
        if (s == WG_OK && p->function != NULL)
            s = wgi_compress(wg_sparsity_pattern(*to), 0, &p->jacobian.plan);
        if (s != WG_OK) {
            wg_sparsity_free(*to);
            *to = NULL;
            free(p->pattern_col);
            p->pattern_col = NULL;
            return wgi_problem_refuse(p, s, "out of memory");
        }
    }
    *out = &p->pattern;
    return WG_OK;
}

/* The lower triangle of the pattern of a gradient's Jacobian, whose entries may be known on one
 * side only. */
static wg_status lower_triangle(wg_problem *p, wg_sparsity *full, wg_sparsity **out) {
    const wg_pattern *const at = wg_sparsity_pattern(full);
    unsigned char *const there = calloc(p->n + 1, 1);
    size_t *const start = calloc(p->n + 2, sizeof *start), count = 0;
    uint32_t *const row = malloc((4 * at->entries + 1) * sizeof *row), *const col =
                                                                           row + at->entries;
    uint32_t *const sorted = col + at->entries;
    wg_status s = WG_ENOMEM;
    if (there == NULL || start == NULL || row == NULL) goto done;
    /* by columns of the triangle */
    for (size_t k = 0; k < at->entries; k++)
        start[(at->row[k] < at->col[k] ? at->row[k] : at->col[k]) + 1]++;
    for (size_t i = 0; i < p->n; i++) start[i + 1] += start[i];
    for (size_t k = at->entries; k-- > 0;) {
        const uint32_t a = at->row[k], b = at->col[k], low = a < b ? a : b;
        sorted[--start[low + 1]] = a < b ? b : a;
    }
    for (size_t i = 0; i < p->n; i++) {
        const size_t from = start[i + 1], to = i + 2 <= p->n ? start[i + 2] : at->entries;
        for (size_t k = from; k < to; k++) {
            if (there[sorted[k]]) continue;
            there[sorted[k]] = 1;
            row[count] = sorted[k], col[count++] = (uint32_t)i;
        }
        for (size_t k = from; k < to; k++) there[sorted[k]] = 0;
    }
    s = wg_hessian_sparsity_of(p->tape, p->n, p->m, count, row, col, 'L', WG_COL_MAJOR,
                               WG_SPARSITY_TRUSTED, out);
done:
    free(there), free(start), free(row);
    return s;
}

static wg_status hessian_of_function(wg_problem *p, const double *x, wg_sparsity **out) {
    wg_sparsity *full = NULL;
    wg_status s = pattern_of_function(p, 1, x, WG_COL_MAJOR, &full);
    if (s == WG_OK) s = lower_triangle(p, full, out);
    wg_sparsity_free(full);
    return s;
}

wg_status wg_problem_hessian_pattern(wg_problem *p, const double *x, const wg_pattern **out) {
    if (out != NULL) *out = NULL;
    wg_status s = begin(p, "wg_problem_hessian_pattern", &x);
    if (s != WG_OK) return s;
    if (out == NULL)
        return wgi_problem_refuse(p, WG_ENULL, "wg_problem_hessian_pattern: out is NULL");
    wg_sparsity **const to = &p->hessian.sparsity;
    if (*to == NULL) {
        s = p->callback != NULL ? pattern_of_callback(p, 1, x, WG_COL_MAJOR, to)
                                : hessian_of_function(p, x, to);
        if (s != WG_OK) return wgi_problem_fail(p, s);
        if (p->function != NULL)
            s = wgi_compress(wg_sparsity_pattern(*to), 1, &p->hessian.plan);
        if (s != WG_OK) {
            wg_sparsity_free(*to);
            *to = NULL;
            return wgi_problem_refuse(p, s, "out of memory");
        }
    }
    *out = wg_sparsity_pattern(*to);
    return WG_OK;
}

/* ---- values ------------------------------------------------------------------------------ */

/* The products of colours `first` .. `first + lanes - 1`, and the entries that they hold. */
static wg_status some_colours(wg_problem *p, wgi_question *q, const wg_pattern *at,
                              const wgi_compression *plan, size_t first, double *seeds,
                              double *values) {
    const size_t lines = plan->rows ? at->rows : at->cols;
    const uint32_t *const line = plan->rows ? at->row : at->col, *const across = plan->rows
                                                                                     ? at->col
                                                                                     : at->row;
    memset(seeds, 0, lines * q->lanes * sizeof *seeds);
    for (size_t k = 0; k < at->entries; k++) {
        const size_t c = plan->colour[line[k]] - first;
        if (c < q->lanes) seeds[line[k] * q->lanes + c] = 1;
    }
    const wg_status s = wgi_problem_ask(p, q);
    for (size_t k = 0; k < at->entries && s == WG_OK; k++) {
        const size_t c = plan->colour[line[k]] - first;
        if (c < q->lanes) values[k] = q->to[across[k] * q->lanes + c];
    }
    return s;
}

/* A line without entries has a colour, too; its seeds stay 0. Entries of a triangle are read
 * off the columns of the whole: those above the diagonal are of other lines, which share no
 * colour. */
static wg_status by_colours(wg_problem *p, wgi_kind kind, const double *x, const double *w,
                            const wgi_sparse *sparse, double *values) {
    const wg_pattern *const at = wg_sparsity_pattern(sparse->sparsity);
    const size_t most = sparse->plan.colours < MOST_LANES ? sparse->plan.colours : MOST_LANES;
    const int rows = sparse->plan.rows;
    double *const seeds = wgi_problem_scratch(p, (at->rows + at->cols) * most);
    wg_status s = seeds == NULL ? WG_ENOMEM : WG_OK;
    for (size_t first = 0; first < sparse->plan.colours && s == WG_OK; first += most) {
        const size_t left = sparse->plan.colours - first;
        wgi_question q = {
            .kind = rows ? WGI_LANES_VJP : kind, .x = x, .lanes = left < most ? left : most};
        q.to = seeds + (rows ? at->rows : at->cols) * q.lanes;
        q.w = rows ? seeds : w;
        q.v = seeds;
        s = some_colours(p, &q, at, &sparse->plan, first, seeds, values);
    }
    return s;
}

wg_status wg_problem_sparse_jacobian(wg_problem *p, const double *x, double *y,
                                     double *values) {
    wg_status s = wgi_problem_begin(p, "wg_problem_sparse_jacobian", x);
    if (s != WG_OK) return s;
    const wg_sparsity *const at = p->jacobian.sparsity;
    if (at == NULL)
        return wgi_problem_refuse(p, WG_EMODE,
                                  "wg_problem_sparse_jacobian: no pattern was asked for");
    const size_t entries = wg_sparsity_pattern(at)->entries;
    if (p->function != NULL) {
        s = y == NULL ? WG_OK : wg_problem_value(p, x, y);
        if (s == WG_OK && values != NULL)
            s = by_colours(p, WGI_LANES_JVP, x, NULL, &p->jacobian, values);
    }
    if (p->function == NULL || (s == WG_EGUARD && p->callback != NULL)) {
        s = wg_sparse_jacobian(p->tape, at, p->callback, p->data, x, y, values);
        if (s != WG_OK) return wgi_problem_fail(p, s);
        s = wgi_problem_finite(p, "value", p->m, y);
    }
    return s == WG_OK ? wgi_problem_finite(p, "sparse Jacobian", entries, values) : s;
}

wg_status wg_problem_sparse_hessian(wg_problem *p, const double *x, const double *w,
                                    double *values) {
    wg_status s = wgi_problem_begin(p, "wg_problem_sparse_hessian", x);
    if (s != WG_OK) return s;
    const wg_sparsity *const at = p->hessian.sparsity;
    if (at == NULL)
        return wgi_problem_refuse(p, WG_EMODE,
                                  "wg_problem_sparse_hessian: no pattern was asked for");
    if (w == NULL && p->m != 0)
        return wgi_problem_refuse(p, WG_ENULL, "wg_problem_sparse_hessian: w is NULL");
    if (p->function != NULL) s = by_colours(p, WGI_LANES_HVP, x, w, &p->hessian, values);
    if (p->function == NULL || (s == WG_EGUARD && p->callback != NULL)) {
        s = wg_sparse_hessian(p->tape, at, p->callback, p->data, x, w, NULL, NULL, values);
        if (s != WG_OK) return wgi_problem_fail(p, s);
    }
    return s == WG_OK ? wgi_problem_finite(p, "sparse Hessian",
                                           wg_sparsity_pattern(at)->entries, values)
                      : s;
}

/* SPDX-License-Identifier: MIT */
/* emit_case.h - the entry points of emitted text against a walk through the nodes. A file that
 * includes it defines _DEFAULT_SOURCE first. */
#ifndef WENGERT_TEST_EMIT_CASE_H
#define WENGERT_TEST_EMIT_CASE_H

#include "emitted.h"

#include <math.h>

typedef int point_fn(const double *const *arg, double *const *res);
typedef int batch_fn(size_t points, const double *const *arg, const ptrdiff_t *arg_step,
                     double *const *res, const ptrdiff_t *res_step, size_t *where);
typedef int casadi_fn(const double **arg, double **res, long long *iw, double *w, int mem);

enum { ALL = WG_EMIT_POINT | WG_EMIT_BATCH | WG_EMIT_CASADI, MOST = 4096, POINTS = 29 };

static inline void emit(FILE *f, hand *h, const char *name, unsigned entries, size_t unit) {
    const wg_emit_options o = {name, entries, unit, 0};
    assert_int_equal(wg_function_emit(h->t, h->f, &o, wg_write_file, f), WG_OK);
}

/* Pointers to the arguments that stand one after the other. */
static inline void pointers(const wg_function *f, const double *x, const double **arg,
                            double *y, double **res) {
    for (size_t k = 0; k < f->inputs; x += wgi_argument_size(&f->input[k++])) arg[k] = x;
    for (size_t k = 0; k < f->outputs; y += wgi_argument_size(&f->output[k++])) res[k] = y;
}

/* The first comparison that comes out differently at a point, + 1; or 0. */
static inline int guard_at(const wg_function *f, const double *x) {
    double *const v = malloc((f->nodes + 1) * sizeof *v), operand[8];
    int first = 0;
    assert_non_null(v);
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        for (uint32_t k = 0; k < n->count; k++) operand[k] = v[f->operand[n->first + k]];
        v[i] = n->kind == WGI_NODE_INPUT ? x[i]
               : n->kind == WGI_NODE_SUM ? operand[0]
                                         : wgi_node_value(n, operand);
    }
    for (size_t k = f->guards; k-- > 0;)
        if (wgi_compare(f->guard[k].comparison, v[f->guard[k].a], v[f->guard[k].b]) !=
            f->guard[k].outcome)
            first = (int)k + 1;
    free(v);
    return first;
}

static inline void draw_point(double *x, size_t n, size_t p) {
    for (size_t i = 0; i < n; i++)
        x[i] = p % 3 == 0 ? special[below(SPECIALS)] : uniform(-2, 2);
}

static inline void same(const char *what, size_t entry, double got, double want) {
    if (same_bits(got, want)) return;
    print_error("%s, entry %zu: %.17g, not %.17g\n", what, entry, got, want);
    fail();
}

/* ---- entry points against the walk ---- */

static inline void check_point(const emitted *e, const hand *h, const char *name,
                               const char *suffix) {
    static double x[MOST], y[MOST], want[MOST];
    const double *arg[16];
    double *res[16];
    point_fn *f;
    EMITTED(e, name, suffix, f);
    pointers(h->f, x, arg, y, res);
    for (size_t p = 0; p < POINTS; p++) {
        draw_point(x, h->n, p);
        memset(y, 0x7f, h->m * sizeof *y);
        assert_int_equal(f(arg, res), guard_at(h->f, x));
        assert_int_equal(graph_walk(h->f, x, want), 0);
        for (size_t j = 0; j < h->m; j++) same(name, j, y[j], want[j]);
    }
}

static inline void nothing_given_is_zero(const emitted *e, const hand *h, const char *name,
                                         const char *suffix) {
    static double x[MOST], y[MOST], want[MOST];
    const double *arg[16];
    double *res[16];
    point_fn *f;
    EMITTED(e, name, suffix, f);
    pointers(h->f, x, arg, y, res);
    memset(x, 0, sizeof x);
    memset(y, 0x7f, sizeof y);
    assert_int_equal(graph_walk(h->f, x, want), 0);
    memset(arg, 0, sizeof arg);
    res[0] = NULL;
    (void)f(arg, res);
    for (size_t j = 0; j < h->m; j++)
        if (j >= wgi_argument_size(&h->f->output[0])) same(name, j, y[j], want[j]);
        else assert_memory_equal(&y[j], "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", sizeof *y);
}

/* At one point for each, so that sums are of one point. */
static inline void check_batch_of_one(const emitted *e, const hand *h, const char *name) {
    static double x[MOST], y[MOST], want[MOST];
    const double *arg[16];
    double *res[16];
    ptrdiff_t xs[32], ys[32];
    size_t where;
    batch_fn *f;
    EMITTED(e, name, "_batch", f);
    pointers(h->f, x, arg, y, res);
    for (size_t k = 0; k < 16; k++)
        xs[2 * k] = ys[2 * k] = 0, xs[2 * k + 1] = ys[2 * k + 1] = 1;
    for (size_t p = 0; p < POINTS; p++) {
        draw_point(x, h->n, p);
        where = 77;
        const int first = guard_at(h->f, x);
        assert_int_equal(f(1, arg, xs, res, ys, &where), first);
        assert_int_equal(where, first != 0 ? 0 : 77);
        assert_int_equal(graph_walk(h->f, x, want), 0);
        for (size_t j = 0; j < h->m; j++)
            if (want[j] != 0 || y[j] != 0) same("batch of one", j, y[j], want[j]);
    }
}

/* Arrays of structures in, structures of arrays out. */
static inline void check_batch(const emitted *e, const hand *h, const char *name,
                               size_t points) {
    static double x[MOST * POINTS], y[MOST * POINTS], want[MOST];
    const double *arg[16];
    double *res[16];
    ptrdiff_t xs[32], ys[32];
    size_t where = 0, at = 0;
    int first = 0;
    batch_fn *f;
    const wg_function *const g = h->f;
    EMITTED(e, name, "_batch", f);
    for (size_t p = 0; p < points; p++) draw_point(x + p * h->n, h->n, p);
    for (size_t k = 0; k < g->inputs; at += wgi_argument_size(&g->input[k++])) {
        arg[k] = x + at;
        xs[2 * k] = (ptrdiff_t)h->n, xs[2 * k + 1] = 1;
        if (!(g->input[k].flags & WG_SHARED)) continue;
        for (size_t p = 1; p < points; p++)
            memcpy(x + p * h->n + at, x + at, wgi_argument_size(&g->input[k]) * sizeof *x);
    }
    at = 0;
    for (size_t k = 0; k < g->outputs; at += wgi_argument_size(&g->output[k++])) {
        res[k] = y + at * points;
        ys[2 * k] = 1, ys[2 * k + 1] = (ptrdiff_t)points;
    }
    const int said = f(points, arg, xs, res, ys, &where);
    for (size_t p = 0; p < points; p++) {
        if (first == 0 && (first = guard_at(g, x + p * h->n)) != 0) assert_int_equal(where, p);
        assert_int_equal(graph_walk(g, x + p * h->n, want), 0);
        for (size_t k = 0, j = 0; k < g->outputs; k++)
            for (size_t l = 0; l < wgi_argument_size(&g->output[k]); l++, j++)
                if (!(g->output[k].flags & WG_SUMMED))
                    same(name, j, y[j * points + p], want[j]);
    }
    assert_int_equal(said, first);
}

static inline void check_casadi(const emitted *e, const hand *h, const char *name) {
    static double x[MOST], y[MOST], want[MOST], w[MOST];
    const wg_function *const g = h->f;
    const double *arg[16];
    double *res[16], dense[MOST];
    long long sizes[4];
    casadi_fn *f;
    int (*work)(long long *, long long *, long long *, long long *);
    long long (*n_in)(void), (*n_out)(void);
    const char *(*name_in)(long long), *(*name_out)(long long);
    const long long *(*sparsity_in)(long long), *(*sparsity_out)(long long);
    EMITTED(e, name, "", f);
    EMITTED(e, name, "_work", work);
    EMITTED(e, name, "_n_in", n_in);
    EMITTED(e, name, "_n_out", n_out);
    EMITTED(e, name, "_name_in", name_in);
    EMITTED(e, name, "_name_out", name_out);
    EMITTED(e, name, "_sparsity_in", sparsity_in);
    EMITTED(e, name, "_sparsity_out", sparsity_out);
    assert_int_equal(work(&sizes[0], &sizes[1], &sizes[2], &sizes[3]), 0);
    assert_int_equal(n_in(), g->inputs);
    assert_int_equal(n_out(), g->outputs);
    assert_int_equal(sizes[0], g->inputs);
    assert_int_equal(sizes[1], g->outputs);
    assert_true(sizes[3] <= MOST);
    assert_null(name_in(n_in()));
    assert_null(sparsity_out(-1));
    pointers(g, x, arg, y, res);
    for (size_t k = 0; k < g->inputs; k++) {
        const long long *const s = sparsity_in((long long)k);
        assert_string_equal(name_in((long long)k), g->input[k].name);
        assert_int_equal(s[0], g->input[k].rows);
        assert_int_equal(s[1], g->input[k].cols);
        assert_int_equal(s[2 + s[1]], s[0] * s[1]);
    }
    for (size_t p = 0; p < POINTS; p++) {
        draw_point(x, h->n, p);
        assert_int_equal(f(arg, res, NULL, w, 0), guard_at(g, x));
        assert_int_equal(graph_walk(g, x, want), 0);
        for (size_t k = 0, j = 0; k < g->outputs; k++) {
            const long long *const s = sparsity_out((long long)k), *const row = s + 3 + s[1];
            const size_t size = wgi_argument_size(&g->output[k]);
            assert_string_equal(name_out((long long)k), g->output[k].name);
            memset(dense, 0, size * sizeof *dense);
            for (long long c = 0; c < s[1]; c++)
                for (long long i = s[2 + c]; i < s[3 + c]; i++)
                    dense[row[i] + c * s[0]] = res[k][i];
            for (size_t l = 0; l < size; l++, j++) same("casadi", j, dense[l], want[j]);
        }
    }
}

#endif

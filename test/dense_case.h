/* SPDX-License-Identifier: MIT */
/* dense_case.h - a function of one operation on whole matrices, in statements and by the
 * operation, and what its derivatives are compared with.
 *
 * A function has parameters x of each point and q that all points share; its matrices are made
 * of these. The result is a sum of what differs in each element of the operation's.
 * A file that includes it defines _DEFAULT_SOURCE first. */
#ifndef WENGERT_TEST_DENSE_CASE_H
#define WENGERT_TEST_DENSE_CASE_H

#include "dense_walk.h"
#include "driver_cases.h"
#include "emitted.h"
#include "pools.h"

#include <math.h>
#include <stdio.h>

#include "tape/function/graph/dense_node.h"

/* Sums of up to 40 terms in another order and systems of condition 10 or so, twice
 * differentiated: in units of DBL_EPSILON times the largest entry. */
#define TOL_DENSE 4096.0

enum { X = 4, Q = 3, LARGEST = 40, ELEMENTS = LARGEST * LARGEST };

typedef enum { GEMM, SYRK, SYMM, TRSM, CHOLESKY, SOLVE, SPD, LOGDET, LOGDET_SPD, INVERSE } kind;
static const char *const name_of[] = {"gemm",  "syrk", "symm",   "trsm",       "cholesky",
                                      "solve", "spd",  "logdet", "logdet_spd", "inverse"};

typedef struct spec {
    kind what;
    size_t m, n, k; /* of the result, and between */
    char ta, tb, side, uplo, diag;
    double alpha, beta;
    int shared;  /* bit 0: A comes of q, bit 1: B does; else of x */
    int aliased; /* B is A */
    int numbers; /* A is constant */
    int written; /* in loops */
} spec;

/* ---- the callback ------------------------------------------------------------------------ */

/* Elements in [-1, 1], `heavy` more on the diagonal. */
static inline void make(wg_tape *t, const wg_real *p, size_t count, size_t rows, size_t cols,
                        double heavy, int numbers, wg_real *a) {
    for (size_t e = 0; e < rows * cols; e++) {
        const double shift = 0.37 * (double)(e % 97) + 0.011 * (double)e;
        a[e] = numbers ? wg_constant(sin(shift))
                       : wg_let(t, wg_sin(wg_add(p[(5 * e + e / 7) % count], shift)));
        if (e % rows == e / rows) a[e] = wg_let(t, wg_add(a[e], heavy));
    }
}

static inline void symmetrise(wg_tape *t, size_t n, wg_real *a) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++)
            a[i + j * n] = a[j + i * n] =
                wg_let(t, wg_mul(0.5, wg_add(a[i + j * n], a[j + i * n])));
}

/* a op(b): element (i, j) of op(a). */
static inline wg_real el(const wg_real *a, size_t rows, int turned, size_t i, size_t j) {
    return turned ? a[j + i * rows] : a[i + j * rows];
}

static inline void loop_product(wg_tape *t, const spec *s, const wg_real *a, const wg_real *b,
                                const wg_real *c, wg_real *y) {
    const int ta = s->ta == 'T', tb = s->tb == 'T';
    const size_t ra = ta ? s->k : s->m, rb = tb ? s->n : s->k;
    for (size_t j = 0; j < s->n; j++)
        for (size_t i = 0; i < s->m; i++) {
            wg_real sum = wg_constant(0);
            for (size_t l = 0; l < s->k; l++)
                sum = wg_let(t, wg_add(sum, wg_mul(el(a, ra, ta, i, l), el(b, rb, tb, l, j))));
            sum = wg_let(t, wg_mul(s->alpha, sum));
            if (s->beta != 0) sum = wg_let(t, wg_add(sum, wg_mul(s->beta, c[i + j * s->m])));
            y[i + j * s->m] = sum;
        }
}

/* x = op(a)^-1 x for a triangle, k columns. */
static inline void loop_triangle(wg_tape *t, size_t n, const wg_real *a, int upper, int turned,
                                 int unit, size_t k, wg_real *x, size_t down, size_t across) {
    const int up = upper != turned;
    for (size_t j = 0; j < k; j++)
        for (size_t step = 0; step < n; step++) {
            const size_t i = up ? n - 1 - step : step;
            wg_real *const to = &x[i * down + j * across];
            for (size_t c = up ? i + 1 : 0; c < (up ? n : i); c++)
                *to = wg_let(
                    t, wg_sub(*to, wg_mul(el(a, n, turned, i, c), x[c * down + j * across])));
            if (!unit) *to = wg_let(t, wg_div(*to, a[i + i * n]));
        }
}

static inline void loop_cholesky(wg_tape *t, size_t n, const wg_real *a, wg_real *l) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            wg_real s = i < j ? wg_constant(0) : a[i + j * n];
            for (size_t c = 0; c < j && i >= j; c++)
                s = wg_let(t, wg_sub(s, wg_mul(l[i + c * n], l[j + c * n])));
            l[i + j * n] = i < j    ? s
                           : i == j ? wg_let(t, wg_sqrt(s))
                                    : wg_let(t, wg_div(s, l[j + j * n]));
        }
}

/* The diagonal is heavy: no pivots. a becomes U; gives what is on its diagonal. */
static inline void loop_solve(wg_tape *t, size_t n, wg_real *a, size_t k, wg_real *b) {
    for (size_t c = 0; c < n; c++)
        for (size_t i = c + 1; i < n; i++) {
            const wg_real f = wg_let(t, wg_div(a[i + c * n], a[c + c * n]));
            for (size_t j = c + 1; j < n; j++)
                a[i + j * n] = wg_let(t, wg_sub(a[i + j * n], wg_mul(f, a[c + j * n])));
            for (size_t j = 0; j < k; j++)
                b[i + j * n] = wg_let(t, wg_sub(b[i + j * n], wg_mul(f, b[c + j * n])));
        }
    loop_triangle(t, n, a, 1, 0, 0, k, b, 1, n);
}

/* Sizes of the operands as they are stored. */
static inline void sizes(const spec *s, size_t a[2], size_t b[2]) {
    const size_t order = s->what == TRSM && s->side == 'R' ? s->n : s->m;
    a[0] = a[1] = order;
    b[0] = s->m, b[1] = s->n;
    if (s->what == GEMM || s->what == SYRK) {
        a[0] = s->ta == 'T' ? s->k : s->m, a[1] = s->ta == 'T' ? s->m : s->k;
        b[0] = s->tb == 'T' ? s->n : s->k, b[1] = s->tb == 'T' ? s->k : s->n;
    }
}

/* The result, written out; gives how many elements. */
static inline size_t by_loops(wg_tape *t, const spec *s, wg_real *a, wg_real *b,
                              const wg_real *c, wg_real *y) {
    const size_t m = s->m, n = s->n;
    static wg_real l[ELEMENTS];
    wg_real sum = wg_constant(0);
    spec like = *s;
    switch (s->what) {
    case GEMM:
        loop_product(t, s, a, b, c, y);
        return m * n;
    case SYRK:
        like.n = m, like.tb = s->ta == 'T' ? 'N' : 'T', like.beta = 0;
        loop_product(t, &like, a, a, c, y);
        return m * m;
    case SYMM:
        like.ta = like.tb = 'N', like.k = m;
        loop_product(t, &like, a, b, c, y);
        return m * n;
    case TRSM:
        for (size_t e = 0; e < m * n; e++) y[e] = wg_let(t, wg_mul(s->alpha, b[e]));
        if (s->side == 'L')
            loop_triangle(t, m, a, s->uplo == 'U', s->ta == 'T', s->diag == 'U', n, y, 1, m);
        else loop_triangle(t, n, a, s->uplo == 'U', s->ta != 'T', s->diag == 'U', m, y, m, 1);
        return m * n;
    case CHOLESKY:
        loop_cholesky(t, m, a, y);
        return m * m;
    case SPD:
    case LOGDET_SPD:
        loop_cholesky(t, m, a, l);
        for (size_t i = 0; i < m; i++) sum = wg_let(t, wg_add(sum, wg_log(l[i * (m + 1)])));
        *y = wg_let(t, wg_mul(2, sum));
        if (s->what == LOGDET_SPD) return 1;
        memcpy(y, b, m * n * sizeof *y);
        loop_triangle(t, m, l, 0, 0, 0, n, y, 1, m);
        loop_triangle(t, m, l, 0, 1, 0, n, y, 1, m);
        return m * n;
    default:
        for (size_t e = 0; e < m * m; e++)
            l[e] = s->what == SOLVE && s->ta == 'T' ? a[e / m + e % m * m] : a[e];
        if (s->what == SOLVE) memcpy(y, b, m * n * sizeof *y);
        for (size_t e = 0; s->what == INVERSE && e < m * m; e++)
            y[e] = wg_constant(e % m == e / m);
        loop_solve(t, m, l, s->what == SOLVE ? n : s->what == INVERSE ? m : 0, y);
        for (size_t i = 0; i < m; i++)
            sum = wg_let(t, wg_add(sum, wg_log(wg_fabs(l[i * (m + 1)]))));
        if (s->what != LOGDET) return m * (s->what == SOLVE ? n : m);
        *y = sum;
        return 1;
    }
}

static inline size_t by_operation(wg_tape *t, const spec *s, const wg_real *a, const wg_real *b,
                                  const wg_real *c, wg_real *y) {
    size_t sa[2], sb[2];
    sizes(s, sa, sb);
    const wg_mat ma = wg_mat_gather(t, sa[0], sa[1], a), mb = wg_mat_gather(t, sb[0], sb[1], b);
    const wg_mat mc = wg_mat_gather(t, s->m, s->n, c);
    wg_mat r = ma;
    double sign;
    switch (s->what) {
    case GEMM:
        r = wg_gemm(t, s->ta, s->tb, s->alpha, ma, mb, s->beta, mc);
        break;
    case SYRK:
        r = wg_syrk(t, s->ta, s->alpha, ma, 0, ma);
        break;
    case SYMM:
        r = wg_symm(t, 'L', s->uplo, s->alpha, ma, mb, s->beta, mc);
        break;
    case TRSM:
        r = wg_trsm(t, s->side, s->uplo, s->ta, s->diag, s->alpha, ma, mb);
        break;
    case CHOLESKY:
        r = wg_cholesky(t, ma);
        break;
    case SOLVE:
        r = wg_factor_solve(t, wg_lu(t, ma), s->ta, mb);
        break;
    case SPD:
        r = wg_solve_spd(t, ma, mb);
        break;
    case LOGDET:
        *y = wg_logabsdet(t, ma, &sign);
        return 1;
    case LOGDET_SPD:
        *y = wg_logdet_spd(t, ma);
        return 1;
    default:
        r = wg_inverse(t, ma);
    }
    for (size_t e = 0; e < r.rows * r.cols; e++) y[e] = wg_mat_at(r, e % r.rows, e / r.rows);
    return r.rows * r.cols;
}

/* x: X of the point, Q shared; y: one number. */
static inline wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *user) {
    static wg_real a[ELEMENTS], b[ELEMENTS], c[ELEMENTS], r[ELEMENTS];
    const spec *const s = user;
    (void)n, (void)m;
    size_t sa[2], sb[2];
    sizes(s, sa, sb);
    const wg_real *const pa = s->shared & 1 ? x + X : x, *const pb = s->shared & 2 ? x + X : x;
    const int square = s->what >= TRSM;
    make(t, pa, s->shared & 1 ? Q : X, sa[0], sa[1], square ? 2 * (double)sa[0] : 0, s->numbers,
         a);
    const int symmetric = s->what == CHOLESKY || s->what == SPD || s->what == LOGDET_SPD;
    if (symmetric || s->what == SYMM) symmetrise(t, sa[0], a);
    make(t, pb, s->shared & 2 ? Q : X, sb[0], sb[1], 0, 0, b);
    if (s->aliased) memcpy(b, a, sb[0] * sb[1] * sizeof *b);
    for (size_t e = 0; e < s->m * s->n; e++) c[e] = wg_let(t, wg_mul(0.1, x[e % X]));
    const size_t count =
        s->written ? by_loops(t, s, a, b, c, r) : by_operation(t, s, a, b, c, r);
    *y = wg_let(t, wg_mul(0.5, x[0]));
    for (size_t e = 0; e < count; e++)
        *y = wg_let(t, wg_add(*y, wg_mul(0.3 + 0.1 * (double)(e % 11), wg_sin(r[e]))));
    return WG_OK;
}

/* ---- comparisons ------------------------------------------------------------------------- */

static inline void must(const wg_tape *t, const spec *s, wg_status got) {
    if (got != WG_OK)
        fail_msg("%s %zu %zu %zu: %s", name_of[s->what], s->m, s->n, s->k, wg_tape_message(t));
}

static inline double largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static inline void compare(const spec *s, const char *what, size_t n, const double *got,
                           const double *want) {
    const double bound = TOL_DENSE * DBL_EPSILON * fmax(1, largest(n, want));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= bound))
            fail_msg("%s %zu %zu %zu %c%c%c%c%c shared %d, %s %zu: %.17g, not %.17g",
                     name_of[s->what], s->m, s->n, s->k, s->ta, s->tb, s->side, s->uplo,
                     s->diag, s->shared, what, i, got[i], want[i]);
}

static const double at[X + Q] = {0.3, -0.7, 1.1, 0.2, -0.4, 0.9, 0.6};
static const wg_argument in[] = {{"x", X, 1, 0}, {"q", Q, 1, WG_SHARED}};
static const wg_argument out[] = {{"s", 1, 1, 0}}, summed[] = {{"s", 1, 1, WG_SUMMED}};

static inline wg_function *record(const spec *s, const wg_argument *result) {
    wg_function *f = NULL;
    must(coded, s,
         wg_function_record(coded, call, (void *)(uintptr_t)s, 2, in, at, 1, result, &f));
    return f;
}

/* At one point, or at many; inputs and results each one after the other. */
static inline void evaluate(const wg_function *f, size_t points, const double *x,
                            const double *q, size_t more, const double *extra, double *y,
                            size_t threads) {
    const size_t m = graph_entries_out(f);
    wg_threads *const pool = pool_of(threads);
    void *const work = malloc(wg_function_work(f, pool) + 64);
    assert_non_null(work);
    wg_points from[8] = {{x, X, 1}, {q, 0, 1}};
    wg_results to[8];
    for (size_t k = 0; k < more; k++) from[2 + k] = (wg_points){extra, 0, 1};
    size_t entry = 0;
    for (size_t k = 0; k < wg_function_outputs(f); k++) {
        const wg_argument *const a = wg_function_output(f, k);
        to[k] = (wg_results){y + entry, (ptrdiff_t)m, 1};
        entry += a->rows * a->cols;
    }
    assert_int_equal(wg_function_evaluate(f, points, from, to, pool, work, NULL), WG_OK);
    free(work);
}

/* f by its program and node by node: want. */
static inline void check_function(const spec *s, const char *what, const wg_function *f,
                                  const double *want) {
    const size_t m = graph_entries_out(f);
    double got[(X + Q) * (X + Q)];
    assert_true(m <= sizeof got / sizeof *got);
    evaluate(f, 1, at, at + X, 0, NULL, got, 0);
    compare(s, what, m, got, want);
    assert_int_equal(graph_walk(f, at, got), 0);
    compare(s, what, m, got, want);
}

static inline void run(const wg_function *f, const double *x, const double *w, double *y) {
    void *const work = malloc(wg_function_work(f, NULL) + 64);
    const wg_points from[] = {{x, 0, 1}, {w, 0, 1}};
    const wg_results to[] = {{y, 0, 1}};
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, from, to, NULL, work, NULL), WG_OK);
    free(work);
}

static inline size_t dense_nodes(const wg_function *f, unsigned char when) {
    size_t count = 0;
    for (size_t i = 0; i < f->nodes; i++)
        count += f->node[i].kind == WGI_NODE_DENSE && f->node[i].when == when;
    return count;
}

/* Value and gradient; with curvature the Hessian. dense: does it have such nodes? */
static inline void check(const spec *s, int curvature, int dense) {
    spec loops = *s;
    loops.written = 1;
    double value, g[X + Q], h[(X + Q) * (X + Q)], value2, g2[X + Q];
    must(tape, s, wg_gradient(tape, call, &loops, X + Q, at, &value, g));
    must(tape, s, wg_gradient(tape, call, (void *)(uintptr_t)s, X + Q, at, &value2, g2));
    compare(s, "own value", 1, &value2, &value);
    compare(s, "own gradient", X + Q, g2, g);
    wg_function *const f = record(s, out), *gradient = NULL;
    if ((dense_is_in(f) != 0) != dense)
        fail_msg("%s %zu %zu %zu has %s", name_of[s->what], s->m, s->n, s->k,
                 dense ? "no node of its own" : "one");
    check_function(s, "value", f, &value);
    must(tape, s, wg_function_gradient(tape, f, &gradient));
    check_function(s, "gradient", gradient, g);
    wg_function_free(gradient);
    if (curvature) {
        wg_function *hessian = NULL, *written = record(&loops, out), *other = NULL;
        must(tape, s, wg_function_hessian(tape, f, &hessian));
        must(tape, s, wg_function_hessian(tape, written, &other));
        assert_false(dense_is_in(other));
        assert_int_equal(graph_walk(other, at, h), 0);
        check_function(s, "Hessian", hessian, h);
        wg_function_free(hessian);
        wg_function_free(other);
        wg_function_free(written);
    }
    wg_function_free(f);
}

static inline spec plain(kind what, size_t m, size_t n, size_t k) {
    return (spec){what, m, n, k, 'N', 'N', 'L', 'L', 'N', 1, 0, 0, 0, 0, 0};
}

#endif

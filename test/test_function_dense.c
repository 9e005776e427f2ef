/* SPDX-License-Identifier: MIT */
/* Operations on whole matrices in one node: against the same function written out in scalar
 * statements, against the tape's own operations, and node by node in plain loops (graph_walk).
 *
 * A function has parameters x of each point and q that all points share; its matrices are made
 * of these. The result is a sum of what differs in each element of the operation's. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "counted.h"
#include "driver_cases.h"
#include "emitted.h"
#include "pools.h"

#include <math.h>
#include <stdio.h>

#include <wengert/file.h>

#include "../tape/function/dense_node.h"
#include "../tape/function/repeat.h"

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
static void make(wg_tape *t, const wg_real *p, size_t count, size_t rows, size_t cols,
                 double heavy, int numbers, wg_real *a) {
    for (size_t e = 0; e < rows * cols; e++) {
        const double shift = 0.37 * (double)(e % 97) + 0.011 * (double)e;
        a[e] = numbers ? wg_constant(sin(shift))
                       : wg_let(t, wg_sin(wg_add(p[(5 * e + e / 7) % count], shift)));
        if (e % rows == e / rows) a[e] = wg_let(t, wg_add(a[e], heavy));
    }
}

static void symmetrise(wg_tape *t, size_t n, wg_real *a) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++)
            a[i + j * n] = a[j + i * n] =
                wg_let(t, wg_mul(0.5, wg_add(a[i + j * n], a[j + i * n])));
}

/* a op(b): element (i, j) of op(a). */
static wg_real el(const wg_real *a, size_t rows, int turned, size_t i, size_t j) {
    return turned ? a[j + i * rows] : a[i + j * rows];
}

static void loop_product(wg_tape *t, const spec *s, const wg_real *a, const wg_real *b,
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
static void loop_triangle(wg_tape *t, size_t n, const wg_real *a, int upper, int turned,
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

static void loop_cholesky(wg_tape *t, size_t n, const wg_real *a, wg_real *l) {
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
static void loop_solve(wg_tape *t, size_t n, wg_real *a, size_t k, wg_real *b) {
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
static void sizes(const spec *s, size_t a[2], size_t b[2]) {
    const size_t order = s->what == TRSM && s->side == 'R' ? s->n : s->m;
    a[0] = a[1] = order;
    b[0] = s->m, b[1] = s->n;
    if (s->what == GEMM || s->what == SYRK) {
        a[0] = s->ta == 'T' ? s->k : s->m, a[1] = s->ta == 'T' ? s->m : s->k;
        b[0] = s->tb == 'T' ? s->n : s->k, b[1] = s->tb == 'T' ? s->k : s->n;
    }
}

/* The result, written out; gives how many elements. */
static size_t by_loops(wg_tape *t, const spec *s, wg_real *a, wg_real *b, const wg_real *c,
                       wg_real *y) {
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

static size_t by_operation(wg_tape *t, const spec *s, const wg_real *a, const wg_real *b,
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
static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
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

static void must(const wg_tape *t, const spec *s, wg_status got) {
    if (got != WG_OK)
        fail_msg("%s %zu %zu %zu: %s", name_of[s->what], s->m, s->n, s->k, wg_tape_message(t));
}

static double largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void compare(const spec *s, const char *what, size_t n, const double *got,
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

static wg_function *record(const spec *s, const wg_argument *result) {
    wg_function *f = NULL;
    must(coded, s,
         wg_function_record(coded, call, (void *)(uintptr_t)s, 2, in, at, 1, result, &f));
    return f;
}

/* At one point, or at many; inputs and results each one after the other. */
static void evaluate(const wg_function *f, size_t points, const double *x, const double *q,
                     size_t more, const double *extra, double *y, size_t threads) {
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
static void check_function(const spec *s, const char *what, const wg_function *f,
                           const double *want) {
    const size_t m = graph_entries_out(f);
    double got[(X + Q) * (X + Q)];
    assert_true(m <= sizeof got / sizeof *got);
    evaluate(f, 1, at, at + X, 0, NULL, got, 0);
    compare(s, what, m, got, want);
    assert_int_equal(graph_walk(f, at, got), 0);
    compare(s, what, m, got, want);
}

static void run(const wg_function *f, const double *x, const double *w, double *y) {
    void *const work = malloc(wg_function_work(f, NULL) + 64);
    const wg_points from[] = {{x, 0, 1}, {w, 0, 1}};
    const wg_results to[] = {{y, 0, 1}};
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, from, to, NULL, work, NULL), WG_OK);
    free(work);
}

static size_t dense_nodes(const wg_function *f, unsigned char when) {
    size_t count = 0;
    for (size_t i = 0; i < f->nodes; i++)
        count += f->node[i].kind == WGI_NODE_DENSE && f->node[i].when == when;
    return count;
}

/* Value and gradient; with curvature the Hessian. dense: does it have such nodes? */
static void check(const spec *s, int curvature, int dense) {
    spec loops = *s;
    loops.written = 1;
    double value, g[X + Q], h[(X + Q) * (X + Q)], value2, g2[X + Q];
    must(tape, s, wg_gradient(tape, call, &loops, X + Q, at, &value, g));
    must(tape, s, wg_gradient(tape, call, (void *)(uintptr_t)s, X + Q, at, &value2, g2));
    compare(s, "own value", 1, &value2, &value);
    compare(s, "own gradient", X + Q, g2, g);
    wg_function *const f = record(s, out), *gradient = NULL;
    if ((wgi_dense_is_in(f) != 0) != dense)
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
        assert_false(wgi_dense_is_in(other));
        assert_int_equal(graph_walk(other, at, h), 0);
        check_function(s, "Hessian", hessian, h);
        wg_function_free(hessian);
        wg_function_free(other);
        wg_function_free(written);
    }
    wg_function_free(f);
}

/* ---- cases ------------------------------------------------------------------------------- */

static spec plain(kind what, size_t m, size_t n, size_t k) {
    return (spec){what, m, n, k, 'N', 'N', 'L', 'L', 'N', 1, 0, 0, 0, 0, 0};
}

static void small_ones_are_written_out_and_large_ones_are_not(void **state) {
    (void)state;
    const struct {
        spec s;
        int dense;
    } cases[] = {{plain(GEMM, 16, 8, 8), 0},     {plain(GEMM, 16, 13, 5), 1},
                 {plain(GEMM, 35, 1, 30), 1},    {plain(GEMM, 1, 1, 40), 0},
                 {plain(TRSM, 16, 8, 0), 0},     {plain(TRSM, 17, 8, 0), 1},
                 {plain(CHOLESKY, 18, 0, 0), 0}, {plain(CHOLESKY, 19, 0, 0), 1},
                 {plain(SOLVE, 12, 2, 0), 0},    {plain(SOLVE, 14, 2, 0), 1},
                 {plain(LOGDET, 14, 0, 0), 0},   {plain(LOGDET, 15, 0, 0), 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i].s, 0, cases[i].dense);
}

static void products_of_all_transposes_agree(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        spec s = plain(GEMM, 13, 11, 9);
        s.ta = "NT"[i & 1], s.tb = "NT"[i >> 1 & 1];
        s.alpha = 0.75, s.beta = i & 4 ? -0.5 : 0;
        s.shared = i % 4;
        check(&s, 1, 1);
        if (i > 1) continue;
        s = plain(SYRK, 13, 13, 9);
        s.ta = "NT"[i], s.alpha = 0.5;
        check(&s, 1, 1);
        s = plain(SYMM, 13, 9, 0);
        s.uplo = "LU"[i], s.shared = 1 + i, s.beta = 0.5;
        check(&s, 1, 1);
    }
}

static void triangular_systems_of_all_kinds_agree(void **state) {
    (void)state;
    for (int i = 0; i < 16; i++) {
        spec s = plain(TRSM, i & 1 ? 7 : 19, i & 1 ? 19 : 7, 0);
        s.side = "LR"[i & 1], s.uplo = "LU"[i >> 1 & 1];
        s.ta = "NT"[i >> 2 & 1], s.diag = "NU"[i >> 3 & 1];
        s.alpha = 0.5, s.shared = i % 4;
        if (s.diag == 'U') s.m /= 2, s.n /= 2, s.m += 12, s.n = s.m; /* mild growth */
        check(&s, i % 3 == 0 && s.diag == 'N', 1);
    }
}

static void factorisations_agree_to_second_order(void **state) {
    (void)state;
    for (int shared = 0; shared < 4; shared++)
        for (kind what = CHOLESKY; what <= INVERSE; what++) {
            spec s = plain(what, 19, 3, 0);
            s.shared = shared;
            s.ta = "NT"[shared >> 1];
            check(&s, 1, 1);
        }
}

static void shapes_of_all_sizes_agree(void **state) {
    (void)state;
    for (int i = 0; i < 30; i++) {
        const kind what = (kind)(i % 10);
        spec s = plain(what, 1 + below(LARGEST), 1 + below(LARGEST), 1 + below(LARGEST));
        s.ta = "NT"[i / 10 & 1], s.tb = "NT"[i & 1];
        s.shared = i % 4;
        if (what == SYRK) s.n = s.m;
        const wg_function *const f = record(&s, out);
        const int dense = wgi_dense_is_in(f);
        wg_function_free((wg_function *)(uintptr_t)f);
        check(&s, 0, dense);
    }
}

static void empty_ones_and_ones_of_order_one_agree(void **state) {
    (void)state;
    for (kind what = GEMM; what <= INVERSE; what++)
        for (size_t n = 0; n < 2; n++) {
            const spec s = plain(what, n, what == SYRK ? n : 2, n);
            check(&s, 0, 0);
        }
    const spec none = plain(GEMM, 40, 40, 0);
    check(&none, 0, 0);
}

static void aliased_and_constant_operands_agree(void **state) {
    (void)state;
    spec s = plain(GEMM, 12, 12, 12);
    s.aliased = 1;
    check(&s, 1, 1);
    s.tb = 'T';
    check(&s, 1, 1);
    s.aliased = 0, s.numbers = 1;
    check(&s, 1, 1);
    for (kind what = TRSM; what <= SPD; what++) {
        if (what == CHOLESKY) continue;
        s = plain(what, 20, 6, 0);
        s.numbers = 1;
        check(&s, 1, 1);
    }
}

/* ---- at many points ---------------------------------------------------------------------- */

static void what_is_shared_is_factored_once(void **state) {
    (void)state;
    spec s = plain(SOLVE, 20, 2, 0);
    s.shared = 1;
    wg_function *const f = record(&s, out), *g = NULL;
    assert_int_equal(dense_nodes(f, WGI_ONCE), 1);
    assert_int_equal(dense_nodes(f, WGI_EACH), 1);
    assert_int_equal(wg_function_gradient(tape, f, &g), WG_OK);
    assert_int_equal(dense_nodes(g, WGI_ONCE), 1); /* the very same factors */
    wg_function_free(g);
    wg_function_free(f);
    s = plain(SPD, 20, 2, 0);
    wg_function *const spd = record(&s, out);
    assert_int_equal(wg_function_gradient(tape, spd, &g), WG_OK);
    size_t factored = 0;
    for (size_t i = 0; i < g->nodes; i++)
        factored += g->node[i].kind == WGI_NODE_DENSE &&
                    wgi_dense_of(&g->node[i]).kind == WGI_DENSE_CHOLESKY;
    assert_int_equal(factored, 1);
    wg_function_free(g);
    wg_function_free(spd);
}

enum { POINTS = 83 };
static void bits_are_those_of_one_point_whatever_the_threads(void **state) {
    (void)state;
    static const spec cases[] = {
        {GEMM, 13, 12, 11, 'N', 'N', 'L', 'L', 'N', 1, 0, 1, 0, 0, 0},
        {GEMM, 40, 1, 33, 'T', 'N', 'L', 'L', 'N', 1, 0, 0, 0, 0, 0},
        {SOLVE, 16, 3, 0, 'T', 'N', 'L', 'L', 'N', 1, 0, 0, 0, 0, 0},
        {CHOLESKY, 21, 0, 0, 'N', 'N', 'L', 'L', 'N', 1, 0, 0, 0, 0, 0},
        {TRSM, 17, 9, 0, 'N', 'N', 'L', 'U', 'N', 1, 0, 2, 0, 0, 0}};
    static double x[POINTS * X], y[3][POINTS * (X + Q)];
    for (size_t i = 0; i < POINTS * X; i++) x[i] = uniform(-1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wg_function *const f = record(&cases[i], out), *g = NULL;
        must(tape, &cases[i], wg_function_gradient(tape, f, &g));
        const size_t m = graph_entries_out(g);
        for (size_t p = 0; p < POINTS; p++)
            evaluate(g, 1, x + p * X, at + X, 0, NULL, y[0] + p * m, 0);
        for (size_t threads = 1; threads <= 4; threads += 3) {
            evaluate(g, POINTS, x, at + X, 0, NULL, y[1], threads);
            assert_memory_equal(y[0], y[1], POINTS * m * sizeof **y);
        }
        wg_function_free(g);
        wg_function_free(f);
    }
}

static void gradients_of_sums_over_points_agree(void **state) {
    (void)state;
    double x[POINTS * X], y[2][POINTS * X + Q + 1];
    for (size_t i = 0; i < POINTS * X; i++) x[i] = uniform(-1, 1);
    for (kind what = GEMM; what <= INVERSE; what++)
        for (int shared = 0; shared < 4; shared++) {
            spec s[2] = {plain(what, 19, 4, 5), plain(what, 19, 4, 5)};
            if (what == SYRK) s[0].n = s[1].n = 19;
            s[0].shared = s[1].shared = shared;
            s[1].written = 1;
            for (int w = 0; w < 2; w++) {
                wg_function *const f = record(&s[w], summed), *g = NULL;
                must(tape, s, wg_function_gradient(tape, f, &g));
                void *const work = malloc(wg_function_work(g, pool_of(2)) + 64);
                const wg_points from[] = {{x, X, 1}, {at + X, 0, 1}};
                const wg_results to[] = {{y[w], X, 1}, {y[w] + POINTS * X, 0, 1}};
                assert_int_equal(wg_function_outputs(g), 2);
                assert_int_equal(
                    wg_function_evaluate(g, POINTS, from, to, pool_of(2), work, NULL), WG_OK);
                free(work);
                wg_function_free(g);
                wg_function_free(f);
            }
            compare(s, "gradient of a sum", POINTS * X + Q, y[0], y[1]);
        }
}

/* ---- as files ---------------------------------------------------------------------------- */

static char *bytes_of(const wg_function *f, size_t *n) {
    assert_int_equal(wg_function_save(f, NULL, 0, n), WG_OK);
    char *const bytes = malloc(*n);
    assert_non_null(bytes);
    assert_int_equal(wg_function_save(f, bytes, *n, n), WG_OK);
    return bytes;
}

/* What is loaded; it is saved as the same bytes. */
static wg_function *there_and_back(const wg_function *f) {
    size_t n, m;
    char *const bytes = bytes_of(f, &n);
    wg_function *g = NULL;
    assert_int_equal(bytes[8], 2);
    if (wg_function_load(tape, bytes, n, NULL, 0, &g) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    char *const again = bytes_of(g, &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    free(bytes), free(again);
    assert_int_equal(f->nodes, g->nodes);
    assert_int_equal(f->work, g->work);
    assert_true(wgi_dense_is_in(g));
    return g;
}

static void assert_same_bits(const wg_function *f, const wg_function *g) {
    enum { FEW = 11 };
    double x[FEW * X], y[2][FEW * (X + Q) * (X + Q)];
    const size_t m = graph_entries_out(f);
    assert_int_equal(m, graph_entries_out(g));
    assert_true(m <= (X + Q) * (X + Q));
    for (size_t i = 0; i < FEW * X; i++) x[i] = uniform(-1, 1);
    evaluate(f, FEW, x, at + X, 0, NULL, y[0], 0);
    evaluate(g, FEW, x, at + X, 0, NULL, y[1], 0);
    assert_memory_equal(y[0], y[1], FEW * m * sizeof **y);
}

static void they_are_loaded_from_files_as_they_were(void **state) {
    (void)state;
    static const kind kinds[] = {GEMM, TRSM, CHOLESKY, SOLVE, SPD, LOGDET, LOGDET_SPD};
    wg_status (*const by[])(wg_tape *, const wg_function *,
                            wg_function **) = {wg_function_gradient, wg_function_hessian};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        spec s = plain(kinds[i], 19, 7, 14);
        s.ta = "NT"[i % 2], s.shared = (int)(i % 3);
        wg_function *const f = record(&s, out), *const g = there_and_back(f);
        assert_same_bits(f, g);
        for (size_t k = 0; k < 2; k++) {
            wg_function *df = NULL, *dg = NULL;
            must(tape, &s, by[k](tape, f, &df));
            must(tape, &s, by[k](tape, g, &dg));
            wg_function *const same = there_and_back(df);
            assert_same_bits(df, same);
            assert_same_bits(df, dg);
            wg_function_free(same);
            wg_function_free(df);
            wg_function_free(dg);
        }
        wg_function_free(f);
        wg_function_free(g);
    }
}

/* ---- in the steps of a scan -------------------------------------------------------------- */

enum { SIDE = 11, STATE = SIDE * SIDE, STEPS = 4 };

/* x: a matrix, and one that all steps share; y: the next one. */
static void next_of(wg_tape *t, const wg_real *x, const wg_real *w, wg_real *y, int written) {
    const spec s = plain(GEMM, SIDE, SIDE, SIDE);
    if (written) loop_product(t, &s, x, w, x, y);
    else (void)by_operation(t, &s, x, w, x, y);
    for (size_t e = 0; e < STATE; e++) y[e] = wg_let(t, wg_mul(0.4, wg_sin(y[e])));
}

static wg_status next(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    next_of(t, x, x + STATE, y, 0);
    return WG_OK;
}

static wg_status steps(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    wg_real state[STATE], to[STATE];
    (void)n, (void)m;
    memcpy(state, x, sizeof state);
    if (user != NULL) {
        const wg_source from[] = {wg_from_state("s"),
                                  wg_from_matrix(wg_mat_gather(t, STATE, 1, x + STATE))};
        const wg_stage stage = {user, from};
        const wg_state start = {"s", wg_mat_gather(t, STATE, 1, x)};
        wg_mat end;
        const wg_status s = wg_scan(t, STEPS, 1, &stage, 1, &start, NULL, &end);
        if (s != WG_OK) return s;
        for (size_t e = 0; e < STATE; e++) state[e] = wg_mat_at(end, e, 0);
    }
    for (size_t i = 0; user == NULL && i < STEPS; i++) {
        next_of(t, state, x + STATE, to, 1);
        memcpy(state, to, sizeof state);
    }
    y[0] = wg_constant(0);
    for (size_t e = 0; e < STATE; e++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(1 + 0.1 * (double)e, wg_square(state[e]))));
    return WG_OK;
}

static void they_stand_in_the_steps_of_loops(void **state) {
    (void)state;
    static const wg_argument of_step[] = {{"s", STATE, 1, 0}, {"w", STATE, 1, WG_SHARED}};
    static const wg_argument after[] = {{"s", STATE, 1, 0}}, all[] = {{"x", 2 * STATE, 1, 0}};
    static double x[2 * STATE], v[2 * STATE], y[2][2 * STATE];
    const wg_options looping = {.flags = WG_KEEP_CODE, .loops_over = 1};
    wg_tape *const t = wg_tape_new(&looping);
    wg_function *one = NULL, *f[2] = {NULL, NULL};
    wg_callable *k = NULL;
    for (size_t e = 0; e < 2 * STATE; e++)
        x[e] = sin(1.3 * (double)e), v[e] = cos(0.7 * (double)e);
    assert_int_equal(wg_function_record(t, next, NULL, 2, of_step, x, 1, after, &one), WG_OK);
    assert_int_equal(wg_callable_new(t, one, &k), WG_OK);
    for (int w = 0; w < 2; w++) {
        wg_function *g = NULL;
        if (wg_function_record(t, steps, w ? NULL : k, 1, all, x, 1, out, &f[w]) != WG_OK)
            fail_msg("%s", wg_tape_message(t));
        assert_int_equal(f[w]->repeats, !w);
        assert_int_equal(wgi_dense_is_in(f[w]), !w);
        assert_int_equal(wg_function_gradient(t, f[w], &g), WG_OK);
        run(g, x, NULL, y[w]);
        if (w == 0) { /* in the body of a file */
            double again[2 * STATE];
            wg_function *const same = there_and_back(g);
            run(same, x, NULL, again);
            assert_memory_equal(y[0], again, sizeof again);
            wg_function_free(same);
        }
        wg_function_free(g);
    }
    const spec named = plain(GEMM, SIDE, SIDE, SIDE);
    compare(&named, "gradient through steps", 2 * STATE, y[0], y[1]);
    for (int w = 0; w < 2; w++) {
        wg_function *h = NULL;
        assert_int_equal(wg_function_hvp(t, f[w], &h), WG_OK);
        run(h, x, v, y[w]);
        wg_function_free(h);
        wg_function_free(f[w]);
    }
    compare(&named, "Hessian times v through steps", 2 * STATE, y[0], y[1]);
    wg_callable_free(k);
    wg_function_free(one);
    wg_tape_free(t);
}

/* ---- what cannot be done ----------------------------------------------------------------- */

/* A of order n, entry by entry, and b; y: x with A x = b, and log |det A|. kind by what. */
enum { ORDER = 47 };
static wg_status system_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    const kind what = *(const kind *)user;
    (void)n, (void)m;
    const wg_mat a = wg_mat_gather(t, ORDER, ORDER, x),
                 b = wg_mat_gather(t, ORDER, 1, x + ORDER * ORDER);
    const wg_mat r = what == SOLVE  ? wg_solve(t, a, b)
                     : what == SPD  ? wg_solve_spd(t, a, b)
                     : what == TRSM ? wg_trsv(t, 'L', 'N', 'N', a, b)
                                    : wg_matmul(t, wg_mat_block(a, 0, 0, ORDER, ORDER),
                                                wg_mat_block(a, 0, 0, ORDER, 9));
    for (size_t i = 0; i < ORDER; i++) y[i] = wg_mat_at(r, i, 0);
    y[ORDER] = what == SOLVE ? wg_logabsdet(t, a, NULL)
               : what == SPD ? wg_logdet_spd(t, a)
                             : wg_mat_at(b, 0, 0);
    return WG_OK;
}

enum { ENTRIES = ORDER * ORDER + ORDER, RESULTS = ORDER + 1 };
static void fill_system(double *x) {
    for (size_t e = 0; e < ORDER * ORDER; e++)
        x[e] = (e % ORDER == e / ORDER ? 60 : 0) + sin((double)(e % ORDER * (e / ORDER)));
    for (size_t i = 0; i < ORDER; i++) x[ORDER * ORDER + i] = (double)i - 4;
}

static wg_function *system_function(kind what, const double *x) {
    static const wg_argument entries[] = {{"x", ENTRIES, 1, 0}}, all[] = {{"y", RESULTS, 1, 0}};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(coded, system_of, &what, 1, entries, x, 1, all, &f),
                     WG_OK);
    assert_true(wgi_dense_is_in(f));
    return f;
}

static void singular_matrices_give_nan(void **state) {
    (void)state;
    static const kind kinds[] = {SOLVE, SPD, TRSM};
    double x[ENTRIES], y[RESULTS], g[ENTRIES], w[RESULTS];
    for (size_t k = 0; k < 3; k++) {
        fill_system(x);
        wg_function *const f = system_function(kinds[k], x), *vjp = NULL;
        assert_int_equal(wg_function_vjp(tape, f, &vjp), WG_OK);
        for (size_t i = 0; i < ORDER; i++) x[3 + i * ORDER] = x[3 * ORDER + i] = 0;
        run(f, x, NULL, y);
        for (size_t i = 0; i < ORDER; i++) assert_nan(y[i]);
        if (kinds[k] != TRSM) assert_nan(y[ORDER]);
        for (size_t i = 0; i < RESULTS; i++) w[i] = 1;
        run(vjp, x, w, g);
        assert_nan(g[0]);
        /* nobody asks: the rule */
        for (size_t i = 0; i < RESULTS; i++) w[i] = 0;
        run(vjp, x, w, g);
        for (size_t i = 0; i < ENTRIES; i++) assert_true(g[i] == 0);
        wg_function_free(vjp);
        wg_function_free(f);
        /* at the recording the tape says so */
        static const wg_argument entries[] = {{"x", ENTRIES, 1, 0}},
                                 all[] = {{"y", RESULTS, 1, 0}};
        wg_function *none = NULL;
        kind what = kinds[k];
        assert_int_equal(
            wg_function_record(coded, system_of, &what, 1, entries, x, 1, all, &none),
            WG_ESINGULAR);
        assert_null(none);
    }
}

static void infinities_and_nan_stay_where_they_are(void **state) {
    (void)state;
    double x[ENTRIES], y[RESULTS], g[ENTRIES], w[RESULTS] = {0};
    static const kind kinds[] = {GEMM, SOLVE, SPD, TRSM};
    const double bad[] = {INFINITY, -INFINITY, NAN};
    for (size_t k = 0; k < 4; k++) {
        fill_system(x);
        wg_function *const f = system_function(kinds[k], x), *vjp = NULL;
        assert_int_equal(wg_function_vjp(tape, f, &vjp), WG_OK);
        for (size_t b = 0; b < 3; b++) {
            fill_system(x);
            x[5 * ORDER + 4] = x[4 * ORDER + 5] = bad[b];
            run(f, x, NULL, y);
            if (kinds[k] != TRSM && kinds[k] != GEMM) assert_nan(y[0]);
            if (kinds[k] == GEMM) assert_true(!isfinite(y[5]) && isfinite(y[0]));
            run(vjp, x, w, g);
            for (size_t i = 0; i < ENTRIES; i++) assert_true(g[i] == 0);
        }
        wg_function_free(vjp);
        wg_function_free(f);
    }
}

/* An adjoint that only the rule makes a number: sqrt at 0, not asked for. */
static wg_status rescued(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    wg_real a[144];
    (void)n, (void)m, (void)user;
    for (size_t e = 0; e < 144; e++)
        a[e] = wg_let(t, wg_sqrt(wg_mul(x[0], wg_add(x[1], 0.1 * (double)e))));
    const wg_mat ma = wg_mat_gather(t, 12, 12, a), r = wg_matmul(t, ma, ma);
    y[0] = wg_constant(0);
    for (size_t e = 0; e < 144; e++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(x[1], wg_mat_at(r, e % 12, e / 12))));
    return WG_OK;
}

static void the_zero_rule_holds_on_both_sides_of_a_product(void **state) {
    (void)state;
    static const wg_argument entries[] = {{"x", 2, 1, 0}}, all[] = {{"y", 1, 1, 0}};
    const double start[2] = {1, 1}, x[2] = {0, 1};
    double g[2];
    wg_function *f = NULL, *gradient = NULL;
    assert_int_equal(wg_function_record(coded, rescued, NULL, 1, entries, start, 1, all, &f),
                     WG_OK);
    assert_true(wgi_dense_is_in(f));
    assert_int_equal(wg_function_gradient(tape, f, &gradient), WG_OK);
    run(gradient, x, NULL, g); /* A is 0, and so are its adjoint and that times infinity */
    assert_true(g[0] == 0 && g[1] == 0);
    wg_function_free(gradient);
    wg_function_free(f);
}

/* ---- compiled ---------------------------------------------------------------------------- */

static void they_are_not_compiled_where_each_point_has_one(void **state) {
    (void)state;
    double x[ENTRIES];
    fill_system(x);
    wg_function *const f = system_function(SOLVE, x);
    wg_function *same = NULL;
    wg_compiled said;
    assert_int_equal(wg_function_compile(tape, f, NULL, &same, &said), WG_OK);
    assert_int_equal(said.native, 0);
    assert_non_null(strstr(said.why, "whole matrices"));
    wg_function_free(same);
    wg_function_free(f);
}

/* A and b are shared; of each point: a number to be multiplied with x and log |det A|. */
static wg_status scaled_system(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *user) {
    const wg_status s = system_of(t, n, x, m, y, user);
    for (size_t i = 0; s == WG_OK && i < m; i++) y[i] = wg_let(t, wg_mul(y[i], x[ENTRIES]));
    return s;
}

static void what_is_done_with_their_results_is_compiled(void **state) {
    (void)state;
    enum { MANY = 21 };
    static const wg_argument from[] = {{"x", ENTRIES, 1, WG_SHARED}, {"z", 1, 1, 0}};
    static const wg_argument all = {"y", RESULTS, 1, 0};
    static double x[ENTRIES + MANY], y[2][MANY * RESULTS];
    char directory[] = "/tmp/wengert-test-XXXXXX", line[64];
    kind what = SOLVE;
    wg_function *f[2] = {NULL, NULL};
    wg_compiled said;
    const char *const given = getenv("CC");
    const int usable = given != NULL && *given != 0 && strchr(given, ' ') == NULL;
    assert_non_null(mkdtemp(directory));
    const wg_compile_options o = {.compiler = usable ? given : NULL, .directory = directory};
    fill_system(x);
    for (size_t p = 0; p < MANY; p++) x[ENTRIES + p] = uniform(-1, 1);
    assert_int_equal(
        wg_function_record(coded, scaled_system, &what, 2, from, x, 1, &all, &f[0]), WG_OK);
    assert_true(dense_nodes(f[0], WGI_ONCE) > 0 && dense_nodes(f[0], WGI_EACH) == 0);
    assert_int_equal(wg_function_compile(tape, f[0], &o, &f[1], &said), WG_OK);
    if (!said.native) fail_msg("%s", said.why);
    for (int k = 0; k < 2; k++) {
        void *const work = malloc(wg_function_work(f[k], NULL) + 64);
        const wg_points points[] = {{x, 0, 1}, {x + ENTRIES, 1, 1}};
        const wg_results to = {y[k], RESULTS, 1};
        assert_non_null(work);
        assert_int_equal(wg_function_evaluate(f[k], MANY, points, &to, NULL, work, NULL),
                         WG_OK);
        free(work);
        wg_function_free(f[k]);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    (void)snprintf(line, sizeof line, "rm -rf %s", directory);
    assert_int_equal(system(line), 0);
}

static void a_failure_of_memory_leaves_nothing(void **state) {
    (void)state;
    static const kind kinds[] = {GEMM, TRSM, CHOLESKY, SOLVE, LOGDET};
    for (size_t k = 0; k < 5; k++) {
        const spec s = plain(kinds[k], 19, 4, 5);
        wg_status got = WG_ENOMEM;
        for (size_t fail_at = 2; got != WG_OK; fail_at++) {
            struct counted memory = counted_start();
            const wg_options opt = {
                .memory = counted_memory(&memory), .reserve = 1 << 18, .flags = WG_KEEP_CODE};
            assert_true(fail_at < 1000);
            memory.fail_at = fail_at;
            memory.fail_on = 1;
            wg_tape *const t = wg_tape_new(&opt);
            wg_function *f = NULL, *g = NULL;
            assert_non_null(t);
            got = wg_function_record(t, call, (void *)(uintptr_t)&s, 2, in, at, 1, out, &f);
            if (got == WG_OK) got = wg_function_hessian(t, f, &g);
            if (got != WG_OK) assert_int_equal(got, WG_ENOMEM);
            assert_true((got == WG_OK) == (g != NULL));
            memory.fail_at = SIZE_MAX;
            memory.fail_on = 0;
            wg_function_free(f);
            wg_function_free(g);
            wg_tape_free(t);
            assert_true(memory.ranges == 0 && memory.wrong == 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones_are_written_out_and_large_ones_are_not),
        cmocka_unit_test(products_of_all_transposes_agree),
        cmocka_unit_test(triangular_systems_of_all_kinds_agree),
        cmocka_unit_test(factorisations_agree_to_second_order),
        cmocka_unit_test(shapes_of_all_sizes_agree),
        cmocka_unit_test(empty_ones_and_ones_of_order_one_agree),
        cmocka_unit_test(aliased_and_constant_operands_agree),
        cmocka_unit_test(what_is_shared_is_factored_once),
        cmocka_unit_test(bits_are_those_of_one_point_whatever_the_threads),
        cmocka_unit_test(gradients_of_sums_over_points_agree),
        cmocka_unit_test(they_stand_in_the_steps_of_loops),
        cmocka_unit_test(singular_matrices_give_nan),
        cmocka_unit_test(infinities_and_nan_stay_where_they_are),
        cmocka_unit_test(the_zero_rule_holds_on_both_sides_of_a_product),
        cmocka_unit_test(they_are_loaded_from_files_as_they_were),
        cmocka_unit_test(they_are_not_compiled_where_each_point_has_one),
        cmocka_unit_test(what_is_done_with_their_results_is_compiled),
        cmocka_unit_test(a_failure_of_memory_leaves_nothing),
    };
    const int failed = cmocka_run_group_tests(tests, open_tapes, close_tapes);
    (void)free_pools(NULL);
    return failed;
}

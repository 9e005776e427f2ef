/* SPDX-License-Identifier: MIT */
/* Operations on matrices as parts of functions, where they are written out in scalar statements
 * or their elements are followed: against the same operations on a tape, by their own value,
 * vjp and jvp. Both are independent of each other.
 *
 * Each case is recorded once, and compared at that point and at another one: values; the
 * Jacobian function with wg_jacobian; the Hessian function, in a random direction, with
 * differences of wg_vjp. Functions are evaluated by graph_walk. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include <wengert/operation.h>

#include <cmocka.h>

#include "../ops/elementwise.h"
#include "graph_walk.h"
#include "tolerance.h"
#include "walk.h"

/* A value or Jacobian against that of the block, in units of DBL_EPSILON times the largest
 * entry: sums of some ten terms in another order, systems of condition 10 or so. */
#define TOL_WRITTEN_OUT 1024.0
/* A Hessian along a direction against extrapolated differences of a gradient: the estimate that
 * the extrapolation has of its own error, times this; and the rounding of a gradient good to
 * TOL_WRITTEN_OUT over a step of 2^-6, in units of the largest entry. */
#define TOL_ESTIMATES 8.0
#define TOL_DIFFERENCED (32 * TOL_WRITTEN_OUT)

enum { INS = 5, OUTS = 4, MOST = 512 };

/* How an operand is filled: numbers in [-1, 1]; in [0.5, 1.5]; a symmetric positive definite
 * matrix; [-1, 1] and 3 on the diagonal; members of a batch of two such. */
enum fill { PLAIN, POSITIVE, SPD, HEAVY, SPD2, HEAVY2 };

struct shape {
    size_t rows, cols;
    enum fill fill;
};

struct results {
    size_t count;
    wg_mat mat[OUTS];
};
static void put(struct results *r, wg_mat a) { r->mat[r->count++] = a; }
static void put_number(struct results *r, wg_tape *t, wg_real x) {
    put(r, wg_mat_gather(t, 1, 1, &x));
}

typedef void record_fn(wg_tape *t, const wg_mat *in, struct results *r, const void *data);

struct op_case {
    const char *name;
    record_fn *record;
    const void *data;
    struct shape in[INS];
    int symmetrise; /* operands that are symmetric are made so of what is given */
};

/* ---- the callback ---- */

static int is_symmetric(const struct shape *s) { return s->fill == SPD || s->fill == SPD2; }

static size_t entries(const struct op_case *c) {
    size_t n = 0;
    for (size_t k = 0; k < INS; k++) n += c->in[k].rows * c->in[k].cols;
    return n;
}

static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const struct op_case *const c = data;
    struct results r = {0, {{NULL, 0, 0, 0, {0, 0}, 0}}};
    wg_mat in[INS];
    wg_real made[MOST];
    if (n != entries(c)) return WG_EARG;
    for (size_t k = 0; k < INS; k++) {
        const size_t rows = c->in[k].rows, cols = c->in[k].cols;
        for (size_t j = 0; j < cols; j++)
            for (size_t i = 0; i < rows; i++) {
                const size_t base = j / (rows != 0 ? rows : 1) * rows * rows;
                const size_t turned = base + j % rows + i * rows;
                made[i + j * rows] = x[i + j * rows];
                if (c->symmetrise && is_symmetric(&c->in[k]))
                    made[i + j * rows] =
                        wg_let(t, wg_mul(0.5, wg_add(x[i + j * rows], x[turned])));
            }
        in[k] = wg_mat_gather(t, rows, cols, made);
        x += rows * cols;
    }
    c->record(t, in, &r, c->data);
    for (size_t k = 0; k < r.count; k++)
        for (size_t j = 0; j < r.mat[k].cols; j++)
            for (size_t i = 0; i < r.mat[k].rows; i++, m--) {
                if (m == 0) return WG_ESHAPE;
                *y++ = wg_mat_at(r.mat[k], i, j);
            }
    return m == 0 ? WG_OK : WG_ESHAPE;
}

/* ---- points ---- */

static uint64_t seed;

static void fill(const struct op_case *c, double *x) {
    for (size_t k = 0; k < INS; k++) {
        const struct shape *const s = &c->in[k];
        const size_t rows = s->rows, n = rows * s->cols;
        for (size_t e = 0; e < n; e++) x[e] = walk_number(&seed);
        for (size_t e = 0; e < n; e++) {
            const size_t i = e % rows, j = e / rows % rows, base = e / (rows * rows);
            if (s->fill == POSITIVE) x[e] = 1 + 0.5 * x[e];
            if (is_symmetric(s) && i > j) x[e] = x[base * rows * rows + j + i * rows];
            if (s->fill >= SPD && i == j) x[e] += (double)rows;
        }
        x += n;
    }
}

/* Near x, and symmetric where it is. */
static void move(const struct op_case *c, const double *x, double *to) {
    for (size_t k = 0; k < INS; k++) {
        const struct shape *const s = &c->in[k];
        const size_t rows = s->rows, n = rows * s->cols;
        for (size_t e = 0; e < n; e++) to[e] = x[e] * (1 + 0.03 * walk_number(&seed));
        for (size_t e = 0; e < n && is_symmetric(s); e++) {
            const size_t i = e % rows, j = e / rows % rows, base = e / (rows * rows);
            if (i > j) to[e] = to[base * rows * rows + j + i * rows];
        }
        x += n, to += n;
    }
}

/* ---- comparing ---- */

static wg_tape *tape; /* keeps code */
static double *room(size_t n) {
    double *const a = calloc(n + 1, sizeof *a);
    assert_non_null(a);
    return a;
}
static void must(const char *name, wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s (%s)", name, wg_status_text(s), wg_tape_message(tape));
}
static double largest(size_t n, const double *a) {
    double m = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs(a[i]) < INFINITY) m = fmax(m, fabs(a[i]));
    return m;
}
static void compare(const char *name, const char *what, size_t n, const double *got,
                    const double *ref, double units) {
    const double bound = units * DBL_EPSILON * largest(n, ref);
    for (size_t i = 0; i < n; i++) {
        if (got[i] == ref[i] || (got[i] != got[i] && ref[i] != ref[i]) ||
            fabs(got[i] - ref[i]) <= bound)
            continue;
        fail_msg("%s: %s %zu is %.17g, not %.17g", name, what, i, got[i], ref[i]);
    }
}

static wg_function *recorded(const struct op_case *c, const double *x, size_t m) {
    const wg_argument in = {"x", entries(c), 1, 0}, out = {"y", m, 1, 0};
    wg_function *f = NULL;
    must(c->name, wg_function_record(tape, call, (void *)(uintptr_t)c, 1, &in, x, 1, &out, &f));
    return f;
}

/* How many numbers the operation gives. */
static size_t count_results(const struct op_case *c, const double *x) {
    double y[MOST];
    for (size_t m = 0; m < MOST; m++) {
        const wg_status s = wg_eval(tape, call, (void *)(uintptr_t)c, entries(c), x, m, y);
        if (s != WG_ESHAPE) {
            must(c->name, s);
            return m;
        }
    }
    fail_msg("%s gives too much", c->name);
    return 0;
}

static void check_at(const struct op_case *c, size_t m, const wg_function *f,
                     const wg_function *jacobian, const double *x, const char *where) {
    const size_t n = entries(c);
    double *const y = room(m), *const got = room(m), *const jac = room(m * n),
                  *const slopes = room(m * n);
    char name[160];
    (void)snprintf(name, sizeof name, "%s, %s", c->name, where);
    must(name, wg_jacobian(tape, call, (void *)(uintptr_t)c, n, x, m, y, WG_ROW_MAJOR, jac, n));
    assert_int_equal(graph_walk(f, x, got), 0);
    compare(name, "value", m, got, y, TOL_WRITTEN_OUT);
    /* column j of the function's is the gradient of y[j]: the rows of the other */
    assert_int_equal(graph_walk(jacobian, x, slopes), 0);
    compare(name, "slope", m * n, slopes, jac, TOL_WRITTEN_OUT);
    free(y);
    free(got);
    free(jac);
    free(slopes);
}

/* d/ds of the gradient of w y at x + s v, s = 0, by central differences, extrapolated
 * (Ridders); error: what that seems to be good to. */
static void differences(const struct op_case *c, size_t m, const double *x, const double *w,
                        const double *v, double *d, double *error) {
    enum { STEPS = 7 };
    const size_t n = entries(c);
    double *const at = room(n), *const y = room(m), *const g = room(2 * n);
    double *const table = room(STEPS * n), *const before = room(STEPS * n);
    double h = 0x1p-5;
    for (size_t i = 0; i < n; i++) error[i] = INFINITY;
    for (size_t k = 0; k < STEPS; k++, h /= 2) {
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < n; i++) at[i] = x[i] + (side ? -h : h) * v[i];
            must(c->name, wg_vjp(tape, call, (void *)(uintptr_t)c, n, at, m, w, y,
                                 g + (size_t)side * n));
        }
        memcpy(before, table, STEPS * n * sizeof *table);
        for (size_t i = 0; i < n; i++) {
            double *const row = table + STEPS * i, *const old = before + STEPS * i;
            double f = 1;
            row[0] = (g[i] - g[n + i]) / (2 * h);
            for (size_t j = 1; j <= k; j++) {
                f *= 4;
                row[j] = (f * row[j - 1] - old[j - 1]) / (f - 1);
                const double e = fmax(fabs(row[j] - row[j - 1]), fabs(row[j] - old[j - 1]));
                if (e <= error[i]) error[i] = e, d[i] = row[j];
            }
        }
    }
    free(at);
    free(y);
    free(g);
    free(table);
    free(before);
}

/* The Hessian function of w y. */
static void check_curvature(const struct op_case *plain, size_t m, const double *x) {
    struct op_case c = *plain;
    c.symmetrise = 1;
    const size_t n = entries(&c);
    double *const w = room(m), *const v = room(n), *const both = room(n + m);
    double *const h = room(n * n), *const hv = room(n), *const d = room(n);
    double *const error = room(n), *const g = room(n), *const y = room(m);
    wg_function *const f = recorded(&c, x, m), *hessian = NULL;
    must(c.name, wg_function_hessian(tape, f, &hessian));
    for (size_t j = 0; j < m; j++) w[j] = m == 1 ? 1 : walk_number(&seed);
    for (size_t i = 0; i < n; i++) v[i] = walk_number(&seed);
    memcpy(both, x, n * sizeof *x);
    memcpy(both + n, w, m * sizeof *w);
    assert_int_equal(graph_entries_in(hessian), m == 1 ? n : n + m);
    assert_int_equal(graph_walk(hessian, both, h), 0);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) hv[i] += h[i + j * n] * v[j];
    differences(&c, m, x, w, v, d, error);
    must(c.name, wg_vjp(tape, call, &c, n, x, m, w, y, g));
    const double scale = fmax(largest(n * n, h), largest(n, g)) * DBL_EPSILON;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < j; i++)
            if (!(fabs(h[i + j * n] - h[j + i * n]) <= TOL_WRITTEN_OUT * scale))
                fail_msg("%s: H(%zu, %zu) is %.17g, and %.17g the other way", c.name, i, j,
                         h[i + j * n], h[j + i * n]);
        if (!(fabs(hv[j] - d[j]) <= TOL_ESTIMATES * error[j] + TOL_DIFFERENCED * scale))
            fail_msg("%s: H v (%zu) is %.17g, not %.17g (within %g)", c.name, j, hv[j], d[j],
                     error[j]);
        if (!(TOL_ESTIMATES * error[j] <= 0x1p20 * TOL_DIFFERENCED * scale))
            fail_msg("%s: differences are no judge (%g)", c.name, error[j]);
    }
    wg_function_free(f);
    wg_function_free(hessian);
    double *const all[] = {w, v, both, h, hv, d, error, g, y};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static void check_near(const struct op_case *c, const double *x, int curvature) {
    double other[MOST];
    const size_t m = count_results(c, x);
    wg_function *const f = recorded(c, x, m), *jacobian = NULL;
    must(c->name, wg_function_jacobian(tape, f, &jacobian));
    check_at(c, m, f, jacobian, x, "where it was recorded");
    move(c, x, other);
    check_at(c, m, f, jacobian, other, "elsewhere");
    wg_function_free(jacobian);
    wg_function_free(f);
    if (curvature) check_curvature(c, m, x);
}

static void check(const struct op_case *c) {
    double x[MOST];
    seed = 17;
    for (const char *p = c->name; *p != 0; p++) seed = 31 * seed + (unsigned char)*p;
    fill(c, x);
    check_near(c, x, 1);
}

/* ---- cases: MAT gives a matrix, NUM a number, of operands a, b, c, d, e on t ---- */

static size_t index_list[] = {3, 0, 5, 3}, few[] = {1, 0, 1}, labels[] = {2, 0, 1, 2};
static const size_t dims[3] = {2, 3, 2}, perm[3] = {2, 0, 1};
static const wg_conv picture = {2, 4, 3, 2, 2, 2, {1, 1}, {1, 1}, {1, 0}};
static const wg_conv strided = {1, 5, 5, 1, 2, 2, {2, 2}, {2, 1}, {1, 1}};

static wg_mat joined(wg_tape *t, int beside, wg_mat a, wg_mat b) {
    const wg_mat in[3] = {a, b, a};
    return beside ? wg_concat_cols(t, 3, in) : wg_concat_rows(t, 3, in);
}
static wg_real entry(wg_mat a) { return wg_mat_at(a, 0, 0); }

/*  X 1 2 .
 *  . 3 . 4
 *  5 . 6 .
 *  7 . . 8   and one element twice; structurally symmetric with `both` */
static wg_csr pattern(wg_tape *t) {
    static const size_t start[] = {0, 3, 5, 7, 9}, col[] = {0, 1, 2, 1, 3, 0, 2, 0, 3};
    return wg_csr_pattern(t, 4, 4, start, col);
}
static wg_csr both_triangles(wg_tape *t) {
    static const size_t start[] = {0, 3, 5, 7, 9}, col[] = {0, 2, 3, 1, 3, 0, 2, 3, 1};
    return wg_csr_pattern(t, 4, 4, start, col);
}
static wg_mat sparse(wg_tape *t, char what, char trans, wg_mat a, wg_mat b) {
    const wg_csr s = what == 's' ? both_triangles(t) : pattern(t);
    if (what == 'v') return wg_spmv(t, trans, &s, a, b);
    if (what == 'm') return wg_spmm(t, trans, &s, a, b);
    if (what == 's') return wg_sparse_spd_solve(t, &s, a, b);
    return wg_sparse_solve(t, trans, &s, a, b);
}
/* Values of the patterns, with a heavy diagonal; values of the second one, symmetric: an entry
 * (3, 0) is not there, so that (0, 3) is to be half of what it is. */
static wg_mat diagonal_of(wg_tape *t, wg_mat a) {
    static const double more[9] = {4, 0, 0, 4, 0, 0, 4, 0, 4};
    return wg_mat_add(t, a, wg_mat_constant(t, 9, 1, more, 9));
}
static wg_mat spd_values(wg_tape *t, wg_mat a) {
    static const size_t pick[9] = {0, 1, 2, 3, 4, 1, 5, 6, 4};
    static const double f[9] = {1, 1, 0.25, 1, 1, 1, 1, 1, 1},
                        more[9] = {4, 0, 0, 4, 0, 0, 4, 4, 0};
    const wg_mat v = wg_mat_mul(t, wg_gather(t, a, 9, 1, pick), wg_mat_constant(t, 9, 1, f, 9));
    return wg_mat_add(t, v, wg_mat_constant(t, 9, 1, more, 9));
}
static wg_mat factored(wg_tape *t, int spd, char what, wg_mat a, wg_mat b) {
    const wg_factor f = spd ? wg_potrf(t, a) : wg_lu(t, a);
    wg_real x;
    if (what == 'N' || what == 'T') return wg_factor_solve(t, f, what, b);
    if (what == 'i') return wg_factor_inverse(t, f);
    if (what == 's') return wg_mat_mul(t, f.sign, b);
    x = what == 'd' ? wg_factor_det(t, f) : wg_factor_logdet(t, f);
    return wg_mat_gather(t, 1, 1, &x);
}
static wg_mat orthogonal(wg_tape *t, wg_mat a) {
    wg_mat q, r;
    (void)wg_qr(t, a, &q, &r);
    return wg_concat_cols(t, 2, (wg_mat[]){q, r});
}
static wg_real logabsdet(wg_tape *t, wg_mat a) {
    double sign;
    return wg_logabsdet(t, a, &sign);
}
static wg_mat nothing_known(wg_tape *t, wg_mat a) { /* constants among the elements */
    const wg_real x[4] = {wg_mat_at(a, 0, 0), wg_constant(0), wg_constant(2),
                          wg_mat_at(a, 1, 0)};
    return wg_mat_gather(t, 2, 2, x);
}

#define CASES(MAT, NUM)                                                                        \
    /* moves */                                                                                \
    MAT(copy, wg_mat_copy(t, wg_mat_transpose(a)), {2, 3, PLAIN})                              \
    MAT(reshape, wg_mat_reshape(t, wg_mat_transpose(a), 6, 1), {2, 3, PLAIN})                  \
    MAT(gather, wg_gather(t, a, 2, 2, index_list), {2, 3, PLAIN})                              \
    MAT(scatter_set, wg_scatter_set(t, a, b, few), {2, 2, PLAIN}, {3, 1, PLAIN})               \
    MAT(scatter_add, wg_scatter_add(t, a, b, few), {2, 2, PLAIN}, {3, 1, PLAIN})               \
    MAT(take_rows, wg_take_rows(t, a, 3, few), {2, 3, PLAIN})                                  \
    MAT(take_cols, wg_take_cols(t, a, 3, few), {2, 3, PLAIN})                                  \
    MAT(embedding, wg_embedding(t, a, 3, few), {2, 3, PLAIN})                                  \
    MAT(slice, wg_slice(t, a, 2, -2, 2, 0, 1, 2), {3, 2, PLAIN})                               \
    MAT(flip_rows, wg_flip_rows(t, a), {3, 2, PLAIN})                                          \
    MAT(flip_cols, wg_flip_cols(t, wg_mat_transpose(a)), {3, 2, PLAIN})                        \
    MAT(tile, wg_tile(t, a, 2, 2), {2, 1, PLAIN})                                              \
    MAT(repeat, wg_repeat(t, a, 2, 2), {2, 1, PLAIN})                                          \
    MAT(broadcast, wg_broadcast_to(t, a, 2, 3), {1, 3, PLAIN})                                 \
    MAT(permute, wg_permute(t, a, 3, dims, perm, 1), {2, 6, PLAIN})                            \
    MAT(concat_rows, joined(t, 0, a, b), {1, 2, PLAIN}, {2, 2, PLAIN})                         \
    MAT(concat_cols, joined(t, 1, a, b), {2, 1, PLAIN}, {2, 2, PLAIN})                         \
    MAT(pad, wg_pad(t, a, 1, 0, 2, 1, 1), {2, 2, PLAIN})                                       \
    MAT(diag, wg_diag(t, a), {3, 1, PLAIN})                                                    \
    MAT(tril, wg_tril(t, a, 0), {3, 3, PLAIN})                                                 \
    MAT(triu, wg_triu(t, a, 1), {3, 3, PLAIN})                                                 \
    /* elementwise */                                                                          \
    MAT(scale, wg_mat_scale(t, -2.5, a), {2, 3, PLAIN})                                        \
    MAT(axpby, wg_mat_axpby(t, 2, a, -3, b), {2, 3, PLAIN}, {2, 1, PLAIN})                     \
    MAT(select, wg_mat_select(t, wg_mat_floor(t, a), b, c), {2, 3, PLAIN}, {2, 3, PLAIN},      \
        {1, 3, PLAIN})                                                                         \
    MAT(stretched, wg_mat_mul(t, wg_mat_div(t, a, b), wg_mat_transpose(c)), {3, 1, PLAIN},     \
        {1, 2, POSITIVE}, {2, 3, PLAIN})                                                       \
    /* products */                                                                             \
    MAT(gemm, wg_gemm(t, 'N', 'T', 1.5, a, b, -0.5, c), {3, 2, PLAIN}, {2, 2, PLAIN},          \
        {3, 2, PLAIN})                                                                         \
    MAT(gemm_turned, wg_gemm(t, 'T', 'N', 1, wg_mat_transpose(a), b, 1, c), {3, 2, PLAIN},     \
        {2, 3, PLAIN}, {3, 3, PLAIN})                                                          \
    MAT(gemm_nothing, wg_gemm(t, 'N', 'N', 0, a, b, 2, c), {2, 2, PLAIN}, {2, 1, PLAIN},       \
        {2, 1, PLAIN})                                                                         \
    MAT(gemm_self, wg_matmul(t, a, a), {3, 3, PLAIN})                                          \
    MAT(gemm_sparse, wg_matmul(t, nothing_known(t, a), b), {2, 1, PLAIN}, {2, 2, PLAIN})       \
    MAT(matmul, wg_matmul(t, a, b), {2, 3, PLAIN}, {3, 2, PLAIN})                              \
    MAT(gemv, wg_gemv(t, 'T', 2, a, b, 3, c), {3, 2, PLAIN}, {1, 3, PLAIN}, {2, 1, PLAIN})     \
    MAT(ger, wg_ger(t, -2, a, b, c), {2, 1, PLAIN}, {1, 3, PLAIN}, {2, 3, PLAIN})              \
    MAT(outer, wg_outer(t, a, b), {2, 1, PLAIN}, {1, 3, PLAIN})                                \
    MAT(gemm_real, wg_gemm_real(t, 'T', 'N', entry(d), a, b, entry(e), c), {2, 2, PLAIN},      \
        {2, 1, PLAIN}, {2, 1, PLAIN}, {1, 1, PLAIN}, {1, 1, PLAIN})                            \
    MAT(gemm_batch, wg_gemm_batch(t, 2, 'T', 'N', 1.5, a, b), {2, 4, PLAIN}, {2, 6, PLAIN})    \
    MAT(symv, wg_symv(t, 'L', 2, a, b, 3, c), {3, 3, SPD}, {1, 3, PLAIN}, {3, 1, PLAIN})       \
    MAT(symm, wg_symm(t, 'L', 'U', 2, a, b, 0, b), {2, 2, SPD}, {2, 3, PLAIN})                 \
    MAT(symm_right, wg_symm(t, 'R', 'L', 1, a, b, -1, c), {2, 2, SPD}, {3, 2, PLAIN},          \
        {3, 2, PLAIN})                                                                         \
    MAT(syrk, wg_syrk(t, 'N', 2, a, 0, a), {3, 2, PLAIN})                                      \
    MAT(syrk_turned, wg_syrk(t, 'T', 2, a, 3, b), {3, 2, PLAIN}, {2, 2, PLAIN})                \
    MAT(trmv, wg_trmv(t, 'L', 'T', 'N', a, b), {3, 3, PLAIN}, {1, 3, PLAIN})                   \
    MAT(trmm, wg_trmm(t, 'L', 'U', 'N', 'U', 2, a, b), {3, 3, PLAIN}, {3, 2, PLAIN})           \
    MAT(trmm_right, wg_trmm(t, 'R', 'L', 'N', 'N', -1, a, b), {2, 2, PLAIN}, {3, 2, PLAIN})    \
    MAT(trmm_turned, wg_trmm(t, 'R', 'U', 'T', 'U', 1, a, b), {3, 3, PLAIN}, {2, 3, PLAIN})    \
    MAT(axpy, wg_axpy(t, 2, a, b), {2, 2, PLAIN}, {2, 2, PLAIN})                               \
    MAT(scal, wg_scal(t, 2, a), {2, 2, PLAIN})                                                 \
    MAT(axpy_real, wg_axpy_real(t, entry(c), a, b), {2, 2, PLAIN}, {2, 2, PLAIN},              \
        {1, 1, PLAIN})                                                                         \
    MAT(scal_real, wg_scal_real(t, entry(b), a), {2, 2, PLAIN}, {1, 1, PLAIN})                 \
    NUM(dot, wg_mat_dot(t, a, b), {3, 1, PLAIN}, {1, 3, PLAIN})                                \
    NUM(dot_matrices, wg_mat_dot(t, a, wg_mat_transpose(b)), {3, 2, PLAIN}, {2, 3, PLAIN})     \
    NUM(trace_product, wg_trace_product(t, a, b), {3, 2, PLAIN}, {2, 3, PLAIN})                \
    NUM(trace, wg_trace(t, a), {3, 3, PLAIN})                                                  \
    NUM(quadform, wg_quadform(t, a, b), {3, 3, PLAIN}, {1, 3, PLAIN})                          \
    MAT(kron, wg_kron(t, a, b), {2, 3, PLAIN}, {2, 1, PLAIN})                                  \
    MAT(conv1d, wg_conv1d(t, 2, 2, 1, 1, a, b, &c), {2, 10, PLAIN}, {2, 6, PLAIN},             \
        {1, 2, PLAIN})                                                                         \
    MAT(conv2d, wg_conv2d(t, &picture, a, b, NULL), {1, 24, PLAIN}, {1, 8, PLAIN})             \
    MAT(conv2d_strided, wg_conv2d(t, &strided, a, b, &c), {2, 25, PLAIN}, {2, 4, PLAIN},       \
        {1, 1, PLAIN})                                                                         \
    MAT(spmv, sparse(t, 'v', 'N', a, b), {9, 1, PLAIN}, {1, 4, PLAIN})                         \
    MAT(spmm, sparse(t, 'm', 'T', a, b), {1, 9, PLAIN}, {4, 2, PLAIN})                         \
    /* reductions */                                                                           \
    NUM(sum, wg_mat_sum(t, a), {2, 3, PLAIN})                                                  \
    MAT(sum_rows, wg_mat_sum_axis(t, wg_mat_transpose(a), WG_EACH_ROW), {2, 3, PLAIN})         \
    MAT(mean_cols, wg_mat_mean_axis(t, a, WG_EACH_COL), {2, 3, PLAIN})                         \
    NUM(var, wg_mat_var(t, a, 1), {2, 3, PLAIN})                                               \
    MAT(var_cols, wg_mat_var_axis(t, a, 0, WG_EACH_COL), {3, 2, PLAIN})                        \
    NUM(std, wg_mat_std(t, a, 1), {2, 3, PLAIN})                                               \
    MAT(std_rows, wg_mat_std_axis(t, a, 0, WG_EACH_ROW), {2, 3, PLAIN})                        \
    NUM(prod, wg_mat_prod(t, a), {2, 2, PLAIN})                                                \
    MAT(prod_rows, wg_mat_prod_axis(t, a, WG_EACH_ROW), {2, 3, PLAIN})                         \
    NUM(max, wg_mat_max(t, a), {2, 3, PLAIN})                                                  \
    MAT(min_cols, wg_mat_min_axis(t, a, WG_EACH_COL), {3, 2, PLAIN})                           \
    NUM(norm_1, wg_mat_norm(t, a, 1), {2, 3, PLAIN})                                           \
    NUM(norm_2, wg_mat_norm(t, a, 2), {2, 3, PLAIN})                                           \
    MAT(norm_3, wg_mat_norm_axis(t, a, 3, WG_EACH_COL), {2, 3, PLAIN})                         \
    NUM(norm_most, wg_mat_norm(t, a, INFINITY), {2, 3, PLAIN})                                 \
    NUM(norm_one, wg_mat_norm_one(t, a), {2, 3, PLAIN})                                        \
    NUM(norm_inf, wg_mat_norm_inf(t, a), {2, 3, PLAIN})                                        \
    MAT(cumsum, wg_mat_cumsum(t, wg_mat_transpose(a), WG_ALL), {2, 3, PLAIN})                  \
    MAT(cumprod, wg_mat_cumprod(t, a, WG_EACH_ROW), {2, 3, PLAIN})                             \
    NUM(logsumexp, wg_mat_logsumexp(t, a), {2, 3, PLAIN})                                      \
    MAT(logsumexp_rows, wg_mat_logsumexp_axis(t, a, WG_EACH_ROW), {2, 3, PLAIN})               \
    MAT(softmax, wg_mat_softmax(t, a, WG_EACH_COL), {3, 2, PLAIN})                             \
    MAT(softmax_all, wg_mat_softmax(t, a, WG_ALL), {2, 2, PLAIN})                              \
    MAT(log_softmax, wg_mat_log_softmax(t, a, WG_EACH_ROW), {2, 3, PLAIN})                     \
    MAT(cross_entropy, wg_mat_cross_entropy(t, a, labels, WG_EACH_COL), {3, 4, PLAIN})         \
    MAT(cross_entropy_all, wg_mat_cross_entropy(t, a, labels, WG_ALL), {2, 2, PLAIN})          \
    MAT(cross_entropy_soft, wg_mat_cross_entropy_soft(t, a, b, WG_EACH_ROW), {2, 3, PLAIN},    \
        {2, 3, POSITIVE})                                                                      \
    MAT(layer_norm, wg_mat_layer_norm(t, a, b, c, 1e-3, WG_EACH_COL), {3, 2, PLAIN},           \
        {3, 1, PLAIN}, {1, 3, PLAIN})                                                          \
    MAT(layer_norm_rows, wg_mat_layer_norm(t, a, b, c, 1e-3, WG_EACH_ROW), {2, 3, PLAIN},      \
        {3, 1, PLAIN}, {1, 3, PLAIN})                                                          \
    /* systems */                                                                              \
    MAT(solve, wg_solve(t, a, b), {3, 3, PLAIN}, {3, 2, PLAIN})                                \
    MAT(solve_turned, wg_solve(t, wg_mat_transpose(a), b), {3, 3, PLAIN}, {3, 2, PLAIN})       \
    MAT(solve_spd, wg_solve_spd(t, a, b), {3, 3, SPD}, {3, 2, PLAIN})                          \
    MAT(solve_batch, wg_solve_batch(t, 2, a, b), {2, 4, HEAVY2}, {2, 2, PLAIN})                \
    MAT(solve_spd_batch, wg_solve_spd_batch(t, 2, a, b), {2, 4, SPD2}, {2, 2, PLAIN})          \
    MAT(factor_solve, factored(t, 0, 'N', a, b), {3, 3, PLAIN}, {3, 1, PLAIN})                 \
    MAT(factor_solve_turned, factored(t, 0, 'T', wg_mat_transpose(a), b), {3, 3, PLAIN},       \
        {3, 1, PLAIN})                                                                         \
    MAT(factor_solve_back, factored(t, 0, 'T', a, b), {3, 3, PLAIN}, {3, 1, PLAIN})            \
    MAT(factor_solve_spd, factored(t, 1, 'N', a, b), {3, 3, SPD}, {3, 1, PLAIN})               \
    MAT(factor_logdet, factored(t, 0, 'l', a, a), {3, 3, PLAIN})                               \
    MAT(factor_logdet_spd, factored(t, 1, 'l', a, a), {3, 3, SPD})                             \
    MAT(factor_det, factored(t, 0, 'd', a, a), {3, 3, PLAIN})                                  \
    MAT(factor_det_spd, factored(t, 1, 'd', a, a), {3, 3, SPD})                                \
    MAT(factor_inverse, factored(t, 0, 'i', a, a), {3, 3, PLAIN})                              \
    MAT(factor_inverse_spd, factored(t, 1, 'i', a, a), {3, 3, SPD})                            \
    MAT(factor_sign,                                                                           \
        joined(t, 1, factored(t, 0, 's', a, b), /* of one the order is odd */                  \
               factored(t, 0, 's', wg_flip_rows(t, a), b)),                                    \
        {3, 3, PLAIN}, {2, 2, PLAIN})                                                          \
    MAT(factor_sign_spd, factored(t, 1, 's', a, b), {3, 3, SPD}, {2, 2, PLAIN})                \
    NUM(logabsdet, logabsdet(t, a), {3, 3, PLAIN})                                             \
    NUM(logdet_spd, wg_logdet_spd(t, a), {3, 3, SPD})                                          \
    NUM(det, wg_det(t, a), {4, 4, PLAIN})                                                      \
    MAT(inverse, wg_inverse(t, a), {3, 3, PLAIN})                                              \
    MAT(inverse_spd, wg_inverse_spd(t, a), {3, 3, SPD})                                        \
    MAT(cholesky, wg_cholesky(t, a), {4, 4, SPD})                                              \
    MAT(cholesky_batch, wg_cholesky_batch(t, 2, a), {2, 4, SPD2})                              \
    MAT(trsm, wg_trsm(t, 'L', 'L', 'N', 'N', 2, a, b), {3, 3, HEAVY}, {3, 2, PLAIN})           \
    MAT(trsm_unit, wg_trsm(t, 'L', 'U', 'T', 'U', 1, a, b), {3, 3, PLAIN}, {3, 2, PLAIN})      \
    MAT(trsm_right, wg_trsm(t, 'R', 'U', 'N', 'N', -1, a, b), {3, 3, HEAVY}, {2, 3, PLAIN})    \
    MAT(trsm_right_turned, wg_trsm(t, 'R', 'U', 'T', 'N', 1, a, b), {3, 3, HEAVY},             \
        {2, 3, PLAIN})                                                                         \
    MAT(trsv, wg_trsv(t, 'L', 'T', 'N', wg_mat_transpose(a), b), {3, 3, HEAVY}, {3, 1, PLAIN}) \
    MAT(trsm_batch, wg_trsm_batch(t, 2, 'L', 'L', 'N', 'N', 1, a, b), {2, 4, HEAVY2},          \
        {2, 4, PLAIN})                                                                         \
    MAT(solve_banded, wg_solve_banded(t, 1, 2, a, b), {4, 5, PLAIN}, {5, 2, PLAIN})            \
    MAT(solve_banded_below, wg_solve_banded(t, 2, 0, a, b), {3, 4, POSITIVE}, {4, 1, PLAIN})   \
    MAT(solve_tridiagonal, wg_solve_tridiagonal(t, a, b, c, d), {4, 1, PLAIN}, {5, 1, PLAIN},  \
        {4, 1, PLAIN}, {5, 2, PLAIN})                                                          \
    MAT(sparse_solve, sparse(t, 'l', 'N', diagonal_of(t, a), b), {9, 1, PLAIN}, {4, 2, PLAIN}) \
    MAT(sparse_solve_turned, sparse(t, 'l', 'T', diagonal_of(t, a), b), {9, 1, PLAIN},         \
        {4, 1, PLAIN})                                                                         \
    MAT(sparse_spd_solve, sparse(t, 's', 'N', spd_values(t, a), b), {7, 1, PLAIN},             \
        {4, 2, PLAIN})                                                                         \
    MAT(qr, orthogonal(t, a), {3, 3, PLAIN})                                                   \
    MAT(qr_tall, wg_qr_q(t, a), {4, 2, PLAIN})                                                 \
    MAT(qr_wide, orthogonal(t, a), {2, 3, PLAIN})                                              \
    MAT(qr_r, wg_qr_r(t, a), {4, 3, PLAIN})                                                    \
    MAT(qr_triangle, orthogonal(t, wg_triu(t, a, 0)), {3, 3, HEAVY})                           \
    MAT(lstsq, wg_lstsq(t, a, b), {4, 2, PLAIN}, {4, 2, PLAIN})                                \
    MAT(lstsq_wide, wg_lstsq(t, a, b), {2, 4, PLAIN}, {2, 2, PLAIN})                           \
    MAT(pinv, wg_pinv(t, a, -1), {3, 2, PLAIN})                                                \
    MAT(pinv_wide, wg_pinv(t, a, -1), {2, 3, PLAIN})                                           \
    /* statistics */                                                                           \
    NUM(mvn, wg_mvn_logpdf(t, a, b, c), {3, 2, PLAIN}, {3, 1, PLAIN}, {3, 3, SPD})             \
    MAT(covariance, wg_covariance(t, WG_SQUARED_EXPONENTIAL, a, b, entry(c), entry(d)),        \
        {3, 2, PLAIN}, {2, 1, POSITIVE}, {1, 1, POSITIVE}, {1, 1, POSITIVE})                   \
    MAT(covariance_12, wg_covariance(t, WG_MATERN_12, a, b, entry(c), entry(d)),               \
        {3, 2, PLAIN}, {1, 1, POSITIVE}, {1, 1, POSITIVE}, {1, 1, POSITIVE})                   \
    MAT(covariance_32, wg_covariance(t, WG_MATERN_32, a, b, entry(c), entry(d)),               \
        {3, 2, PLAIN}, {2, 1, POSITIVE}, {1, 1, POSITIVE}, {1, 1, POSITIVE})                   \
    MAT(covariance_between, wg_covariance_between(t, WG_MATERN_52, a, b, c, entry(d)),         \
        {3, 2, PLAIN}, {2, 2, PLAIN}, {2, 1, POSITIVE}, {1, 1, POSITIVE})                      \
    NUM(gp_logml, wg_gp_logml(t, WG_MATERN_52, a, b, c, entry(d), entry(e)), {4, 2, PLAIN},    \
        {4, 2, PLAIN}, {2, 1, POSITIVE}, {1, 1, POSITIVE}, {1, 1, POSITIVE})                   \
    /* functions of a matrix */                                                                \
    MAT(expm, wg_expm(t, a), {3, 3, HEAVY})                                                    \
    MAT(expm_tiny, wg_expm(t, wg_mat_scale(t, 1e-3, a)), {3, 3, PLAIN})                        \
    MAT(expm_small, wg_expm(t, wg_mat_scale(t, 0.05, a)), {3, 3, PLAIN})                       \
    MAT(expm_less, wg_expm(t, wg_mat_scale(t, 0.25, a)), {3, 3, PLAIN})                        \
    MAT(expm_some, wg_expm(t, wg_mat_scale(t, 0.7, a)), {3, 3, PLAIN})                         \
    MAT(powm, wg_powm(t, a, 5), {3, 3, PLAIN})                                                 \
    MAT(powm_inverse, wg_powm(t, a, -3), {3, 3, HEAVY})                                        \
    MAT(powm_nothing, wg_mat_mul(t, wg_powm(t, a, 0), a), {2, 2, PLAIN})

#define LETTERS const wg_mat a = in[0], b = in[1], c = in[2], d = in[3], e = in[4]
#define MAT(name, value, ...)                                                                  \
    static void name##_of(wg_tape *t, const wg_mat *in, struct results *r, const void *data) { \
        LETTERS;                                                                               \
        (void)data, (void)a, (void)b, (void)c, (void)d, (void)e;                               \
        put(r, value);                                                                         \
    }
#define NUM(name, value, ...)                                                                  \
    static void name##_of(wg_tape *t, const wg_mat *in, struct results *r, const void *data) { \
        LETTERS;                                                                               \
        (void)data, (void)a, (void)b, (void)c, (void)d, (void)e;                               \
        put_number(r, t, value);                                                               \
    }
CASES(MAT, NUM)
#undef MAT
#undef NUM

#define MAT(name, value, ...) {#name, name##_of, NULL, {__VA_ARGS__}, 0},
#define NUM MAT
static const struct op_case cases[] = {CASES(MAT, NUM)};
#undef MAT
#undef NUM

static const struct op_case *find(const char *name) {
    const struct op_case *c = cases;
    while (strcmp(c->name, name) != 0) c++;
    return c;
}

/* Was the library built with it? */
static int has_suitesparse(void) {
    const struct op_case *const c = find("sparse_solve");
    double x[MOST], y[MOST];
    fill(c, x);
    return wg_eval(tape, call, (void *)(uintptr_t)c, entries(c), x, 8, y) != WG_EMODE;
}

static void operations_on_matrices_are_parts_of_functions(void **state) {
    (void)state;
    const int all = has_suitesparse();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (all || strncmp(cases[k].name, "sparse_", 7) != 0) check(&cases[k]);
}

/* ---- every row of the table of scalar operations ---- */

static void row_of(wg_tape *t, const wg_mat *in, struct results *r, const void *data) {
    const wg_scalar_op *const op = data;
    wg_mat y;
    (void)wg_apply(t, &wgi_elementwise_ops[op - wgi_scalar_ops], NULL, 0, op->arity, in, 1, &y);
    put(r, y);
}

/* Are value and derivatives finite at the operands k apart, and in between kinks? */
static int is_inside(const wg_scalar_op *op, const double *x) {
    double d[4], h[10];
    const double v = op->value(x);
    int good = isfinite(v);
    op->first(x, v, d);
    for (unsigned k = 0; k < op->arity; k++) good &= isfinite(d[k]) != 0;
    if (op->second != NULL) {
        (void)op->second(x, d, h);
        for (unsigned k = 0; k < op->arity * (op->arity + 1) / 2; k++)
            good &= isfinite(h[k]) != 0;
    }
    return good;
}

static void every_row_is_a_part_of_functions(void **state) {
    (void)state;
    static const double start[] = {0.3, 1.6, -0.2, -1.6};
    /* operand after operand: a column of 3 numbers, then numbers that are stretched */
    static const double apart[4] = {0, -0.17, 0.31, 0.45};
    for (size_t row = 0; row < wgi_scalar_op_count; row++) {
        const wg_scalar_op *const op = &wgi_scalar_ops[row];
        struct op_case c = {op->name, row_of, op, {{3, 1, PLAIN}}, 0};
        double x[6];
        size_t at = 0;
        for (int found = 0; !found && at < sizeof start / sizeof *start; at += !found) {
            found = 1;
            for (int e = 0; e < 3; e++) {
                double of[4];
                for (int k = 0; k < 4; k++)
                    of[k] = start[at] * (k == 0 ? 1 + 0.1 * e : 1 + apart[k]);
                found &= is_inside(op, of);
                x[e] = of[0];
                for (int k = 1; k < 4; k++) x[2 + k] = of[k];
            }
        }
        if (at == sizeof start / sizeof *start) fail_msg("%s: where?", op->name);
        for (unsigned k = 1; k < op->arity; k++) c.in[k] = (struct shape){1, 1, PLAIN};
        check_near(&c, x, 1);
    }
}

/* ---- where values and slopes are hard to get ---- */

/* The values of a function recorded at an ordinary point, at x, each within `units`. */
static void check_values(const char *name, const double *at, const double *x, size_t m,
                         double units) {
    const struct op_case *const c = find(name);
    double y[MOST], got[MOST];
    wg_function *const f = recorded(c, at, m);
    must(name, wg_eval(tape, call, (void *)(uintptr_t)c, entries(c), x, m, y));
    assert_int_equal(graph_walk(f, x, got), 0);
    for (size_t j = 0; j < m; j++)
        if (!(got[j] == y[j] || fabs(got[j] - y[j]) <= units * DBL_EPSILON * fabs(y[j])))
            fail_msg("%s at %g, %g, ..: %.17g, not %.17g", name, x[0], x[1], got[j], y[j]);
    wg_function_free(f);
}

/* Relative to each number itself: eps for each of a few operations, and for exponentials of
 * differences of some hundreds as many. */
#define TOL_CAREFUL 8.0
#define TOL_EXPONENTIAL 1024.0

static void written_out_forms_are_as_careful_as_the_operations(void **state) {
    (void)state;
    const double at[12] = {0.1, 0.5, -0.3, 0.2, 0.7, -0.6, 0.4, 0.9, 0.8, 0.3, 0.2, 0.6};
    const double inf = INFINITY;
    const double far[6] = {1000, 960, 200, -1000, -1030, -2000};
    const double masked[6] = {1, -inf, 2, -inf, -inf, 3}, none[6] = {-inf, -inf, -inf, 0, 1, 2};
    const double top[6] = {inf, 1, inf, 2, inf, -inf};
    const double huge[6] = {1e200, -3e200, 2e200, 1e180, 1e-200, 0};
    const double tiny[6] = {1e-200, -3e-200, 2e-200, 1e-180, 1e-300, 0};
    const double nothing[6] = {0, 0, 0, 0, 0, 0};
    const double shifted[6] = {1e16 + 2, 1e16 + 4, 1e16 - 6, 1e16, 1e16 + 10, 1e16 - 2};
    const double sure[12] = {0, -50, 40, 700, 0, -3, -400, 40, 0, 1, 2, -800};
    const double *const hard[] = {far, masked, none, top, sure};
    for (size_t k = 0; k < sizeof hard / sizeof *hard; k++) {
        check_values("softmax", at, hard[k], 6, TOL_EXPONENTIAL);
        check_values("log_softmax", at, hard[k], 6, TOL_CAREFUL);
        check_values("logsumexp", at, hard[k], 1, TOL_CAREFUL);
    }
    const double *const sizes[] = {huge, tiny, nothing};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check_values("norm_2", at, sizes[k], 1, TOL_CAREFUL);
        check_values("norm_3", at, sizes[k], 3, TOL_CAREFUL);
        check_values("norm_most", at, sizes[k], 1, TOL_CAREFUL);
    }
    check_values("var", at, shifted, 1, TOL_CAREFUL);
    check_values("std_rows", at, shifted, 2, TOL_CAREFUL);
    /* a loss that is next to nothing, and one that is far from it */
    check_values("cross_entropy", at, sure, 4, TOL_CAREFUL);
    const double soft[12] = {-inf, 1, 2, 40, 3, -inf, 0, 1, 0, 0, 2, 0};
    const double same[12] = {0.1, 0.5, -0.3, 0.2, 0.7, -0.6, 0.5, 1, 0.8, 1.1, 1.2, 0.7};
    check_values("cross_entropy_soft", same, soft, 2, TOL_CAREFUL);
    const double clear[12] = {50, 1, 3, 40, 12, 0, 1, 0, 0, 1, 0, 0};
    check_values("cross_entropy_soft", same, clear, 2, TOL_CAREFUL);
}

/* Columns that are nearly the same. */
static void orthogonal_columns_are_orthogonal(void **state) {
    (void)state;
    const struct op_case *const c = find("qr_tall");
    const double x[8] = {1, 0.5, -0.25, 0.75, 1, 0.5 + 0x1p-40, -0.25, 0.75};
    double q[8], along[3] = {0, 0, 0};
    wg_function *const f = recorded(c, x, 8);
    assert_int_equal(graph_walk(f, x, q), 0);
    for (size_t i = 0; i < 4; i++) {
        along[0] += q[i] * q[i];
        along[1] += q[4 + i] * q[4 + i];
        along[2] += q[i] * q[4 + i];
    }
    assert_true(fabs(along[0] - 1) <= TOL_CAREFUL * DBL_EPSILON);
    assert_true(fabs(along[1] - 1) <= TOL_CAREFUL * DBL_EPSILON);
    assert_true(fabs(along[2]) <= TOL_CAREFUL * DBL_EPSILON);
    wg_function_free(f);
}

static void slopes_at_kinks_are_those_of_the_operations(void **state) {
    (void)state;
    const double tied[6] = {2, -1, 2, -2, 0, 2}, nothing[6] = {0, 0, 0, 0, 0, 0};
    static const char *const kinked[] = {"max",      "norm_most", "norm_1", "prod",
                                         "norm_2",   "norm_3",    "std",    "std_rows",
                                         "min_cols", "prod_rows"};
    for (size_t k = 0; k < sizeof kinked / sizeof *kinked; k++) {
        const struct op_case *const c = find(kinked[k]);
        const double *const points[2] = {tied, nothing};
        for (size_t p = 0; p < 2; p++) {
            const size_t m = count_results(c, points[p]);
            wg_function *const f = recorded(c, points[p], m), *jacobian = NULL;
            must(c->name, wg_function_jacobian(tape, f, &jacobian));
            check_at(c, m, f, jacobian, points[p], "at a kink");
            wg_function_free(jacobian);
            wg_function_free(f);
        }
    }
}

/* Products and a determinant of singular matrices have derivatives, of any order. */
static void singular_matrices_have_determinants(void **state) {
    (void)state;
    const struct op_case *const c = find("det");
    for (size_t rank = 0; rank < 4; rank++) {
        double u[16], v[16], x[16];
        seed = 5;
        for (size_t e = 0; e < 16; e++) u[e] = walk_number(&seed), v[e] = walk_number(&seed);
        for (size_t e = 0; e < 16; e++) {
            x[e] = 0;
            for (size_t k = 0; k < rank; k++) x[e] += u[e % 4 + 4 * k] * v[e / 4 + 4 * k];
        }
        const size_t n = 16;
        wg_function *const f = recorded(c, x, 1), *jacobian = NULL;
        must(c->name, wg_function_jacobian(tape, f, &jacobian));
        double y, jac[16], got[16];
        must(c->name,
             wg_jacobian(tape, call, (void *)(uintptr_t)c, n, x, 1, &y, WG_ROW_MAJOR, jac, n));
        assert_int_equal(graph_walk(jacobian, x, got), 0);
        for (size_t e = 0; e < n; e++)
            if (!(fabs(jac[e] - got[e]) <= TOL_WRITTEN_OUT * DBL_EPSILON))
                fail_msg("rank %zu: slope %zu is %g, not %g", rank, e, got[e], jac[e]);
        wg_function_free(jacobian);
        wg_function_free(f);
        if (rank >= 2) check_curvature(c, 1, x);
    }
}

/* Points that coincide: Matern covariances have second derivatives, from nu = 3/2 on. */
static void coinciding_points_have_smooth_covariances(void **state) {
    (void)state;
    static const char *const names[] = {"covariance_32", "covariance_between"};
    for (size_t k = 0; k < 2; k++) {
        const struct op_case *const c = find(names[k]);
        double x[MOST];
        fill(c, x);
        x[1] = x[0], x[4] = x[3]; /* points 0 and 1 of three, in two coordinates */
        if (k == 1) x[6] = x[0], x[8] = x[3];
        check_near(c, x, k == 1);
        if (k == 1) continue;
        /* of nu = 3/2 the curvature has a kink there: -3 sigma^2 / scale^2 itself */
        const size_t n = entries(c), m = 9;
        wg_function *const f = recorded(c, x, m), *hessian = NULL;
        must(c->name, wg_function_hessian(tape, f, &hessian));
        double *const both = room(n + m), *const h = room(n * n);
        memcpy(both, x, n * sizeof *x);
        both[n + 1] = 1;
        assert_int_equal(graph_walk(hessian, both, h), 0);
        const double expected = -3 * x[8] * x[8] / (x[6] * x[6]);
        assert_true(fabs(h[0] - expected) <= TOL_CAREFUL * DBL_EPSILON * fabs(expected));
        assert_true(fabs(h[1] + expected) <= TOL_CAREFUL * DBL_EPSILON * fabs(expected));
        wg_function_free(f);
        wg_function_free(hessian);
        free(both);
        free(h);
    }
}

/* ---- exponentials elsewhere ---- */

static void exponential(wg_tape *t, const wg_mat *in, struct results *r, const void *data) {
    (void)data;
    put(r, wg_expm(t, in[0]));
}

static wg_status evaluated(const wg_function *f, const double *x, double *y) {
    void *const work = malloc(wg_function_work(f, NULL));
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, 1, &(wg_points){x, 0, 1},
                                             &(wg_results){y, 0, 1}, NULL, work, NULL);
    free(work);
    return s;
}

/* Degree and squarings are those of the recorded point: where they do not serve that is said.
 */
static void an_exponential_elsewhere_is_right_or_refused(void **state) {
    (void)state;
    static const double sizes[] = {0, 1e-3, 0.05, 0.3, 0.9, 1.7, 4, 9, 40, 300, 650};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const struct op_case c = {"expm", exponential, NULL, {{2, 2, PLAIN}}, 0};
    size_t refused = 0, near = 0;
    for (size_t k = 0; k < SIZES; k++) {
        const double at[4] = {sizes[k], 0, 0, -0.5 * sizes[k]};
        wg_function *const f = recorded(&c, at, 4), *jacobian = NULL;
        must(c.name, wg_function_jacobian(tape, f, &jacobian));
        for (size_t j = 0; j < SIZES; j++) {
            const double x[4] = {sizes[j], 0, 0, -0.5 * sizes[j]};
            double y[4], slopes[16];
            const wg_status s = evaluated(f, x, y);
            assert_int_equal(evaluated(jacobian, x, slopes), s);
            refused += s == WG_EGUARD;
            if (s == WG_EGUARD) continue;
            must(c.name, s);
            const double units = 64 * (1 + sizes[j]) * DBL_EPSILON;
            assert_true(fabs(y[0] / exp(x[0]) - 1) <= units);
            assert_true(fabs(y[3] / exp(x[3]) - 1) <= units * exp(fmin(sizes[j], 50)) ||
                        y[3] < DBL_EPSILON);
            assert_true(fabs(slopes[0] / exp(x[0]) - 1) <= 4 * units);
        }
        /* twice as far, and a quarter of it, are near */
        for (int side = 0; side < 2; side++) {
            double x[4], y[4];
            for (size_t i = 0; i < 4; i++) x[i] = at[i] * (side ? 1.99 : 0.26);
            near += evaluated(f, x, y) == WG_OK;
        }
        wg_function_free(jacobian);
        wg_function_free(f);
    }
    assert_int_equal(near, 2 * SIZES);
    assert_true(refused >= SIZES);
}

/* ---- what cannot be written out ---- */

static double cubed(void *ctx, double x) {
    (void)ctx;
    return x * x * x;
}
static double slope(void *ctx, double x) {
    (void)ctx;
    return 3 * x * x;
}
static void eigenvalues(wg_tape *t, const wg_mat *in, struct results *r, const void *data) {
    (void)data;
    put(r, wg_eigvalsh(t, in[0]));
}
static void mapped(wg_tape *t, const wg_mat *in, struct results *r, const void *data) {
    (void)data;
    put(r, wg_mat_map(t, cubed, slope, NULL, in[0]));
}
static void deficient(wg_tape *t, const wg_mat *in, struct results *r, const void *data) {
    (void)data;
    put(r, wg_pinv(t, wg_outer(t, in[0], in[0]), -1));
}

static void others_are_refused_by_name(void **state) {
    (void)state;
    const struct {
        struct op_case c;
        size_t m;
        wg_status status;
        const char *name;
    } refused[] = {
        {{"", eigenvalues, NULL, {{2, 2, PLAIN}}, 0}, 2, WG_EMODE, "wg_eigvalsh"},
        {{"", mapped, NULL, {{2, 1, PLAIN}}, 0}, 2, WG_EMODE, "wg_mat_map"},
        {{"", deficient, NULL, {{2, 1, PLAIN}}, 0}, 4, WG_EDEGENERATE, "wg_pinv"},
    };
    const double x[4] = {1, 0.5, 0.5, 2};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        const wg_argument in = {"x", entries(&refused[k].c), 1, 0},
                          out = {"y", refused[k].m, 1, 0};
        wg_function *f = NULL;
        assert_int_equal(wg_function_record(tape, call, (void *)(uintptr_t)&refused[k].c, 1,
                                            &in, x, 1, &out, &f),
                         refused[k].status);
        assert_null(f);
        assert_non_null(strstr(wg_tape_message(tape), refused[k].name));
    }
}

/* ---- an operation of the user's ---- */

/* r = x^2 y, element by element, and the sum of x. */
static wg_status own_shape(wg_block *b) {
    if (b->in[0].rows != b->in[1].rows || b->in[0].cols != 1 || b->in[1].cols != 1)
        return WG_ESHAPE;
    b->out[0].rows = b->in[0].rows, b->out[0].cols = 1;
    b->out[1].rows = b->out[1].cols = 1;
    return WG_OK;
}
static wg_status own_value(wg_block *b) {
    const double *const x = b->in[0].value, *const y = b->in[1].value;
    b->out[1].value[0] = 0;
    for (size_t i = 0; i < b->in[0].rows; i++) {
        b->out[0].value[i] = x[i] * x[i] * y[i];
        b->out[1].value[0] += x[i];
    }
    return WG_OK;
}
static wg_status own_vjp(wg_block *b) {
    const double *const x = b->in[0].value, *const y = b->in[1].value;
    for (size_t i = 0; i < b->in[0].rows; i++) {
        const double w = b->out[0].bar[i];
        if (b->in[0].bar != NULL) b->in[0].bar[i] += 2 * x[i] * y[i] * w + b->out[1].bar[0];
        if (b->in[1].bar != NULL) b->in[1].bar[i] += x[i] * x[i] * w;
    }
    return WG_OK;
}
static wg_status own_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    for (size_t i = 0; i < n; i++) y[i] = wg_let(t, wg_mul(wg_square(x[i]), x[n + i]));
    y[n] = wg_sum(t, n, x);
    return WG_OK;
}
static const wg_block_op own = {"own", 0, own_shape, own_value, own_vjp, NULL, own_expand};

/* Several times with the same operands, and with one of its own results. */
static void own_calls(wg_tape *t, const wg_mat *in, struct results *r, const void *data) {
    wg_mat first[2], again[2], last[2];
    (void)data;
    (void)wg_apply(t, &own, NULL, 0, 2, in, 2, first);
    (void)wg_apply(t, &own, NULL, 0, 2, in, 2, again);
    (void)wg_apply(t, &own, NULL, 0, 2, (wg_mat[]){again[0], in[0]}, 2, last);
    put(r, wg_mat_mul(t, first[0], last[0]));
    put(r, wg_mat_mul(t, again[1], last[1]));
}

static void an_operation_of_the_users_works_in_a_hessian(void **state) {
    (void)state;
    const struct op_case c = {"own", own_calls, NULL, {{3, 1, PLAIN}, {3, 1, PLAIN}}, 0};
    check(&c);
}

/* What is done twice is there once. */
static void repeated_operations_are_shared(void **state) {
    (void)state;
    const struct op_case c = {"own", own_calls, NULL, {{3, 1, PLAIN}, {3, 1, PLAIN}}, 0};
    const double x[6] = {1, 2, 3, 4, 5, 6};
    wg_function_stats s;
    wg_function *const f = recorded(&c, x, 4);
    must(c.name, wg_function_statistics(f, &s));
    assert_true(s.repeated >= 8); /* 3 times square and product, and a sum of two additions */
    wg_function_free(f);
}

/* ---- triangles --------------------------------------------------------------------------- */

/* Operations on a symmetric A, of 3 by 3 or two of them side by side: the value is that of one
 * triangle, and the derivatives those of (A + A')/2, whatever stands in the other one. */
enum { ORDER = 3, ELEMENTS = ORDER * ORDER };
typedef struct triangle_case {
    int op, turned;
} triangle_case;
enum { TRIANGLES = 13 };

static wg_status triangles(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const triangle_case *const c = data;
    (void)n;
    wg_mat a = wg_mat_gather(t, ORDER, ORDER, x);
    if (c->turned) a = wg_mat_transpose(a);
    const wg_mat b = wg_mat_gather(t, ORDER, 2, x + 2 * ELEMENTS);
    const wg_mat wide = wg_mat_gather(t, 2, ORDER, x + 2 * ELEMENTS);
    const wg_mat column = wg_mat_gather(t, ORDER, 1, x + 2 * ELEMENTS);
    const wg_mat both = wg_mat_gather(t, ORDER, 2 * ORDER, x);
    wg_mat r = a;
    switch (c->op) {
    case 0: r = wg_cholesky(t, a); break;
    case 1: r = wg_cholesky_batch(t, 2, both); break;
    case 2: r = wg_solve_spd(t, a, b); break;
    case 3: r = wg_solve_spd_batch(t, 2, both, wg_mat_gather(t, ORDER, 2, x + 2 * ELEMENTS));
        break;
    case 4: r = wg_inverse_spd(t, a); break;
    case 5: r = wg_symm(t, 'L', 'L', 2, a, b, 0, b); break;
    case 6: r = wg_symm(t, 'L', 'U', 2, a, b, 0, b); break;
    case 7: r = wg_symm(t, 'R', 'L', 1, a, wide, 0, wide); break;
    case 8: r = wg_symm(t, 'R', 'U', 1, a, wide, 0, wide); break;
    case 9: r = wg_symv(t, 'L', 1, a, column, 0, column); break;
    case 10: r = wg_symv(t, 'U', 1, a, column, 0, column); break;
    case 11: r = wg_syrk(t, 'N', 1, b, 0.5, a); break;
    default: break;
    }
    for (size_t e = 0; e < m; e++) y[e] = wg_constant(0);
    if (c->op == 12) y[0] = wg_logdet_spd(t, a);
    for (size_t e = 0; c->op != 12 && e < r.rows * r.cols && e < m; e++)
        y[e] = wg_mat_at(r, e % r.rows, e / r.rows);
    return wg_tape_status(t);
}

static void symmetric_operands_have_the_values_of_one_triangle(void **state) {
    (void)state;
    enum { N = 2 * ELEMENTS + 6, M = 2 * ELEMENTS };
    double x[N], value[M], jac[N * M], got[M], got_jac[N * M];
    for (size_t e = 0; e < N; e++) x[e] = 0.3 * (double)(e * e % 7) - 0.7;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < ORDER; i++) x[k * ELEMENTS + i * (ORDER + 1)] = 4 + (double)i;
    for (int op = 0; op < TRIANGLES; op++)
        for (int turned = 0; turned < 2; turned++) {
            triangle_case c = {op, turned};
            const wg_argument in = {"x", N, 1, 0}, out = {"y", M, 1, 0};
            wg_function *f, *j;
            must("record", wg_function_record(tape, triangles, &c, 1, &in, x, 1, &out, &f));
            must("jacobian", wg_function_jacobian(tape, f, &j));
            assert_int_equal(graph_walk(f, x, got), 0);
            assert_int_equal(graph_walk(j, x, got_jac), 0);
            must("tape", wg_jacobian(tape, triangles, &c, N, x, M, value, WG_COL_MAJOR, jac, M));
            double size = 1;
            for (size_t e = 0; e < M; e++) size = fmax(size, fabs(value[e]));
            for (size_t e = 0; e < M; e++)
                if (!(fabs(got[e] - value[e]) <= TOL_WRITTEN_OUT * DBL_EPSILON * size))
                    fail_msg("operation %d%s: %.17g, not %.17g", op, turned ? " turned" : "",
                             got[e], value[e]);
            for (size_t e = 0; e < N * M; e++) { /* by columns: entry e % M by input e / M */
                const double slope = got_jac[e / M + e % M * N];
                if (!(fabs(slope - jac[e]) <= TOL_WRITTEN_OUT * DBL_EPSILON * (size + fabs(jac[e]))))
                    fail_msg("operation %d%s, result %zu by input %zu: %.17g, not %.17g", op,
                             turned ? " turned" : "", e % M, e / M, slope, jac[e]);
            }
            wg_function_free(j);
            wg_function_free(f);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_on_matrices_are_parts_of_functions),
        cmocka_unit_test(every_row_is_a_part_of_functions),
        cmocka_unit_test(written_out_forms_are_as_careful_as_the_operations),
        cmocka_unit_test(orthogonal_columns_are_orthogonal),
        cmocka_unit_test(slopes_at_kinks_are_those_of_the_operations),
        cmocka_unit_test(singular_matrices_have_determinants),
        cmocka_unit_test(coinciding_points_have_smooth_covariances),
        cmocka_unit_test(an_exponential_elsewhere_is_right_or_refused),
        cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(an_operation_of_the_users_works_in_a_hessian),
        cmocka_unit_test(repeated_operations_are_shared),
        cmocka_unit_test(symmetric_operands_have_the_values_of_one_triangle),
    };
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    tape = wg_tape_new(&o);
    if (tape == NULL) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    wg_tape_free(tape);
    return failed;
}

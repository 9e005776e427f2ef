/* SPDX-License-Identifier: MIT */
/* written_out.c - see written_out.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph_walk.h"
#include "tolerance.h"
#include "walk.h"
#include "written_out.h"

/* A Hessian along a direction against extrapolated differences of a gradient: the estimate that
 * the extrapolation has of its own error, times this; and the rounding of a gradient good to
 * TOL_WRITTEN_OUT over a step of 2^-6, in units of the largest entry. */
#define TOL_ESTIMATES 8.0
#define TOL_DIFFERENCED (32 * TOL_WRITTEN_OUT)

/* ---- the callback ---- */

static int is_symmetric(const struct shape *s) { return s->fill == SPD || s->fill == SPD2; }

size_t written_out_entries(const struct written_out *c) {
    size_t n = 0;
    for (size_t k = 0; k < INS; k++) n += c->in[k].rows * c->in[k].cols;
    return n;
}

wg_status written_out_call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const struct written_out *const c = data;
    struct written_out_results r = {0, {{NULL, 0, 0, 0, {0, 0}, 0}}};
    wg_mat in[INS];
    wg_real made[WRITTEN_OUT_MOST];
    if (n != written_out_entries(c)) return WG_EARG;
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

uint64_t written_out_seed;

void written_out_fill(const struct written_out *c, double *x) {
    for (size_t k = 0; k < INS; k++) {
        const struct shape *const s = &c->in[k];
        const size_t rows = s->rows, n = rows * s->cols;
        for (size_t e = 0; e < n; e++) x[e] = walk_number(&written_out_seed);
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
static void move(const struct written_out *c, const double *x, double *to) {
    for (size_t k = 0; k < INS; k++) {
        const struct shape *const s = &c->in[k];
        const size_t rows = s->rows, n = rows * s->cols;
        for (size_t e = 0; e < n; e++)
            to[e] = x[e] * (1 + 0.03 * walk_number(&written_out_seed));
        for (size_t e = 0; e < n && is_symmetric(s); e++) {
            const size_t i = e % rows, j = e / rows % rows, base = e / (rows * rows);
            if (i > j) to[e] = to[base * rows * rows + j + i * rows];
        }
        x += n, to += n;
    }
}

/* ---- comparing ---- */

wg_tape *written_out_tape;

int written_out_open(void **state) {
    const wg_options o = {.flags = WG_KEEP_CODE};
    (void)state;
    written_out_tape = wg_tape_new(&o);
    return written_out_tape == NULL;
}
int written_out_close(void **state) {
    (void)state;
    wg_tape_free(written_out_tape);
    return 0;
}

double *written_out_room(size_t n) {
    double *const a = calloc(n + 1, sizeof *a);
    assert_non_null(a);
    return a;
}
void written_out_must(const char *name, wg_status s) {
    if (s != WG_OK)
        fail_msg("%s: %s (%s)", name, wg_status_text(s), wg_tape_message(written_out_tape));
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

wg_function *written_out_recorded(const struct written_out *c, const double *x, size_t m) {
    const wg_argument in = {"x", written_out_entries(c), 1, 0}, out = {"y", m, 1, 0};
    wg_function *f = NULL;
    written_out_must(c->name, wg_function_record(written_out_tape, written_out_call,
                                                 (void *)(uintptr_t)c, 1, &in, x, 1, &out, &f));
    return f;
}

/* How many numbers the operation gives. */
size_t written_out_results_of(const struct written_out *c, const double *x) {
    double y[WRITTEN_OUT_MOST];
    for (size_t m = 0; m < WRITTEN_OUT_MOST; m++) {
        const wg_status s = wg_eval(written_out_tape, written_out_call, (void *)(uintptr_t)c,
                                    written_out_entries(c), x, m, y);
        if (s != WG_ESHAPE) {
            written_out_must(c->name, s);
            return m;
        }
    }
    fail_msg("%s gives too much", c->name);
    return 0;
}

void written_out_check_at(const struct written_out *c, size_t m, const wg_function *f,
                          const wg_function *jacobian, const double *x, const char *where) {
    const size_t n = written_out_entries(c);
    double *const y = written_out_room(m), *const got = written_out_room(m),
                  *const jac = written_out_room(m * n), *const slopes = written_out_room(m * n);
    char name[160];
    (void)snprintf(name, sizeof name, "%s, %s", c->name, where);
    written_out_must(name, wg_jacobian(written_out_tape, written_out_call, (void *)(uintptr_t)c,
                                       n, x, m, y, WG_ROW_MAJOR, jac, n));
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
static void differences(const struct written_out *c, size_t m, const double *x, const double *w,
                        const double *v, double *d, double *error) {
    enum { STEPS = 7 };
    const size_t n = written_out_entries(c);
    double *const at = written_out_room(n), *const y = written_out_room(m),
                  *const g = written_out_room(2 * n);
    double *const table = written_out_room(STEPS * n), *const before =
                                                           written_out_room(STEPS * n);
    double h = 0x1p-5;
    for (size_t i = 0; i < n; i++) error[i] = INFINITY;
    for (size_t k = 0; k < STEPS; k++, h /= 2) {
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < n; i++) at[i] = x[i] + (side ? -h : h) * v[i];
            written_out_must(c->name,
                             wg_vjp(written_out_tape, written_out_call, (void *)(uintptr_t)c, n,
                                    at, m, w, y, g + (size_t)side * n));
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
void written_out_check_curvature(const struct written_out *plain, size_t m, const double *x) {
    struct written_out c = *plain;
    c.symmetrise = 1;
    const size_t n = written_out_entries(&c);
    double *const w = written_out_room(m), *const v = written_out_room(n),
                  *const both = written_out_room(n + m);
    double *const h = written_out_room(n * n), *const hv = written_out_room(n),
                  *const d = written_out_room(n);
    double *const error = written_out_room(n), *const g = written_out_room(n),
                  *const y = written_out_room(m);
    wg_function *const f = written_out_recorded(&c, x, m), *hessian = NULL;
    written_out_must(c.name, wg_function_hessian(written_out_tape, f, &hessian));
    for (size_t j = 0; j < m; j++) w[j] = m == 1 ? 1 : walk_number(&written_out_seed);
    for (size_t i = 0; i < n; i++) v[i] = walk_number(&written_out_seed);
    memcpy(both, x, n * sizeof *x);
    memcpy(both + n, w, m * sizeof *w);
    assert_int_equal(graph_entries_in(hessian), m == 1 ? n : n + m);
    assert_int_equal(graph_walk(hessian, both, h), 0);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) hv[i] += h[i + j * n] * v[j];
    differences(&c, m, x, w, v, d, error);
    written_out_must(c.name, wg_vjp(written_out_tape, written_out_call, &c, n, x, m, w, y, g));
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

void written_out_check_near(const struct written_out *c, const double *x, int curvature) {
    double other[WRITTEN_OUT_MOST];
    const size_t m = written_out_results_of(c, x);
    wg_function *const f = written_out_recorded(c, x, m), *jacobian = NULL;
    written_out_must(c->name, wg_function_jacobian(written_out_tape, f, &jacobian));
    written_out_check_at(c, m, f, jacobian, x, "where it was recorded");
    move(c, x, other);
    written_out_check_at(c, m, f, jacobian, other, "elsewhere");
    wg_function_free(jacobian);
    wg_function_free(f);
    if (curvature) written_out_check_curvature(c, m, x);
}

void written_out_check(const struct written_out *c) {
    double x[WRITTEN_OUT_MOST];
    written_out_seed = 17;
    for (const char *p = c->name; *p != 0; p++)
        written_out_seed = 31 * written_out_seed + (unsigned char)*p;
    written_out_fill(c, x);
    written_out_check_near(c, x, 1);
}

/* ---- cases: MAT gives a matrix, NUM a number, of operands a, b, c, d, e on t ---- */

static size_t index_list[] = {3, 0, 5, 3}, few[] = {1, 0, 1}, labels[] = {2, 0, 1, 2};
static const size_t dims[3] = {2, 3, 2}, perm[3] = {2, 0, 1};
static const wg_conv picture = {2, 4, 3, 2, 2, 2, {1, 1}, {1, 1}, {1, 0}, 1};
static const wg_conv strided = {1, 5, 5, 1, 2, 2, {2, 2}, {2, 1}, {1, 1}, 1};

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
static wg_mat heavy_first(wg_tape *t, wg_mat a) {
    static const double more[] = {4, 0, 0, 0, 0};
    return wg_mat_add(t, a, wg_mat_constant(t, a.rows, 1, more, a.rows));
}
static wg_real sparse_logdet(wg_tape *t, wg_mat a) {
    const wg_csr s = both_triangles(t);
    return wg_sparse_spd_logdet(t, &s, a);
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
    MAT(axpy_real, wg_axpy_real(t, entry(c), a, b), {2, 2, PLAIN}, {2, 2, PLAIN},              \
        {1, 1, PLAIN})                                                                         \
    MAT(scale_real, wg_mat_scale_real(t, entry(b), a), {2, 2, PLAIN}, {1, 1, PLAIN})           \
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
    NUM(norm_1, wg_mat_norm_entries(t, a, 1), {2, 3, PLAIN})                                   \
    NUM(norm_2, wg_mat_norm_entries(t, a, 2), {2, 3, PLAIN})                                   \
    MAT(norm_3, wg_mat_norm_entries_axis(t, a, 3, WG_EACH_COL), {2, 3, PLAIN})                 \
    NUM(norm_most, wg_mat_norm_entries(t, a, INFINITY), {2, 3, PLAIN})                         \
    NUM(column_sum, wg_mat_norm_column_sum(t, a), {2, 3, PLAIN})                               \
    NUM(row_sum, wg_mat_norm_row_sum(t, a), {2, 3, PLAIN})                                     \
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
    MAT(solve_toeplitz, wg_solve_toeplitz(t, heavy_first(t, a), b, c), {4, 1, PLAIN},          \
        {4, 1, PLAIN}, {4, 2, PLAIN})                                                          \
    MAT(solve_circulant, wg_solve_circulant(t, heavy_first(t, a), b), {5, 1, PLAIN},           \
        {5, 2, PLAIN})                                                                         \
    MAT(sparse_solve, sparse(t, 'l', 'N', diagonal_of(t, a), b), {9, 1, PLAIN}, {4, 2, PLAIN}) \
    MAT(sparse_solve_turned, sparse(t, 'l', 'T', diagonal_of(t, a), b), {9, 1, PLAIN},         \
        {4, 1, PLAIN})                                                                         \
    MAT(sparse_spd_solve, sparse(t, 's', 'N', spd_values(t, a), b), {7, 1, PLAIN},             \
        {4, 2, PLAIN})                                                                         \
    NUM(sparse_spd_logdet, sparse_logdet(t, spd_values(t, a)), {7, 1, PLAIN})                  \
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
    static void name##_of(wg_tape *t, const wg_mat *in, struct written_out_results *r,         \
                          const void *data) {                                                  \
        LETTERS;                                                                               \
        (void)data, (void)a, (void)b, (void)c, (void)d, (void)e;                               \
        written_out_put(r, value);                                                             \
    }
#define NUM(name, value, ...)                                                                  \
    static void name##_of(wg_tape *t, const wg_mat *in, struct written_out_results *r,         \
                          const void *data) {                                                  \
        LETTERS;                                                                               \
        (void)data, (void)a, (void)b, (void)c, (void)d, (void)e;                               \
        written_out_put_number(r, t, value);                                                   \
    }
CASES(MAT, NUM)
#undef MAT
#undef NUM

#define MAT(name, value, ...) {#name, name##_of, NULL, {__VA_ARGS__}, 0},
#define NUM MAT
static const struct written_out cases[] = {CASES(MAT, NUM)};
#undef MAT
#undef NUM

const struct written_out *written_out_find(const char *name) {
    const struct written_out *c = cases;
    while (strcmp(c->name, name) != 0) c++;
    return c;
}

/* Was the library built with it? */
static int has_suitesparse(void) {
    const struct written_out *const c = written_out_find("sparse_solve");
    double x[WRITTEN_OUT_MOST], y[WRITTEN_OUT_MOST];
    written_out_fill(c, x);
    return wg_eval(written_out_tape, written_out_call, (void *)(uintptr_t)c,
                   written_out_entries(c), x, 8, y) != WG_EMODE;
}

const struct written_out *written_out_case(size_t k) {
    static int all = -1;
    if (all < 0) all = has_suitesparse();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if ((all || strncmp(cases[i].name, "sparse_", 7) != 0) && k-- == 0) return &cases[i];
    return NULL;
}

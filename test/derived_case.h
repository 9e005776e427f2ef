/* SPDX-License-Identifier: MIT */
/* derived_case.h - an operation on matrices in every mode of derivative: its gradient against
 * differences of its value, its tangents against its gradient, its Hessian against differences
 * of its gradient; each operand alone a variable, operands as transposed views. The function is
 * a sum of the results and their squares with weights, so that every entry counts, and
 * second derivatives too. */
#ifndef WENGERT_TEST_DERIVED_CASE_H
#define WENGERT_TEST_DERIVED_CASE_H

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <wengert.h>
#include "walk.h"

enum { DERIVED_OPERANDS = 7, DERIVED_MOST = 160, DERIVED_STEPS = 6 };

/* What extrapolated differences may be wrong by counts so often (two estimates may agree by
 * chance), and so many ulps of the largest entry: the rounding of a value over the smallest
 * step, 2^-11. */
#define TOL_DERIVED_ESTIMATES 64
#define TOL_DERIVED_DIFFERENCED 0x1p18
/* Two orders of summation of the same products, of operations of condition up to a hundred. */
#define TOL_DERIVED_ORDER 0x1p14
/* Differences that are not better than this are no judge. */
#define DERIVED_JUDGE 1e-6

/* ---- matrices of tests ---- */

enum { DERIVED_SIDE = 40 };

static inline double derived_at(wg_mat a, size_t i, size_t j) {
    return wg_value(wg_mat_at(a, i, j));
}
/* Variables from -size to size. */
static inline wg_mat derived_random(wg_tape *t, size_t rows, size_t cols, double size,
                                    uint64_t *seed) {
    double x[DERIVED_SIDE * DERIVED_SIDE];
    assert_true(rows * cols <= sizeof x / sizeof *x);
    for (size_t i = 0; i < rows * cols; i++) x[i] = size * walk_number(seed);
    return wg_mat_input(t, rows, cols, x, rows != 0 ? rows : 1);
}
/* The largest entry. */
static inline double derived_size(wg_mat a) {
    double most = 0;
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) most = fmax(most, fabs(derived_at(a, i, j)));
    return most;
}
/* No entry more than `bound` from what it should be. */
static inline void derived_close(const char *what, wg_mat got, wg_mat want, double bound) {
    assert_true(got.rows == want.rows && got.cols == want.cols);
    for (size_t j = 0; j < want.cols; j++)
        for (size_t i = 0; i < want.rows; i++)
            if (!(fabs(derived_at(got, i, j) - derived_at(want, i, j)) <= bound))
                fail_msg("%s of %zux%zu: (%zu, %zu) is %.17g, not %.17g", what, want.rows,
                         want.cols, i, j, derived_at(got, i, j), derived_at(want, i, j));
}

/* ---- derivatives ---- */

/* Where results go. */
typedef struct derived_sum {
    wg_tape *t;
    wg_real to;
    double next; /* of the weights */
} derived_sum;

static inline void derived_number(derived_sum *s, wg_real y) {
    const double w = sin(s->next += 1.7);
    s->to = wg_let(s->t, wg_add(s->to, wg_mul(w, wg_add(y, wg_mul(0.25, wg_mul(y, y))))));
}
static inline void derived_matrix(derived_sum *s, wg_mat y) {
    for (size_t j = 0; j < y.cols; j++)
        for (size_t i = 0; i < y.rows; i++) derived_number(s, wg_mat_at(y, i, j));
}

typedef void derived_record(wg_tape *t, const wg_mat *in, derived_sum *s);
/* Entries: from -1 to 1; the same and the order on the diagonal; from 0.5 to 1.5; no two near
 * to each other, for up to 20 of them but 7 and 14. */
enum { DERIVED_ANY, DERIVED_HEAVY, DERIVED_POSITIVE, DERIVED_APART };
typedef struct derived_case {
    const char *name;
    derived_record *record;
    size_t rows[DERIVED_OPERANDS], cols[DERIVED_OPERANDS];
    int fill[DERIVED_OPERANDS];
} derived_case;

/* How the operands of a case are given. */
typedef struct derived_call {
    const derived_case *c;
    const double *at; /* of all operands; NULL: all of them are variables */
    size_t alone;     /* with `at`: the operand that is a variable */
    int turned;       /* they are transposed views */
} derived_call;

static inline size_t derived_entries(const derived_case *c, size_t k) {
    return c->rows[k] * c->cols[k];
}
static inline size_t derived_all(const derived_case *c) {
    size_t n = 0;
    for (size_t k = 0; k < DERIVED_OPERANDS; k++) n += derived_entries(c, k);
    return n;
}

static inline wg_mat derived_operand(wg_tape *t, size_t rows, size_t cols, const wg_real *x,
                                     int turned) {
    wg_real other[DERIVED_MOST];
    if (!turned) return wg_mat_gather(t, rows, cols, x);
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) other[j + i * cols] = x[i + j * rows];
    return wg_mat_transpose(wg_mat_gather(t, cols, rows, other));
}

static inline wg_status derived_callback(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                         wg_real *y, void *data) {
    const derived_call *const k = data;
    derived_sum s = {t, wg_constant(0), 0};
    wg_mat in[DERIVED_OPERANDS];
    (void)n, (void)m;
    const double *at = k->at;
    for (size_t o = 0; o < DERIVED_OPERANDS; o++) {
        const size_t rows = k->c->rows[o], cols = k->c->cols[o], size = rows * cols;
        if (k->at != NULL && k->alone != o)
            in[o] = wg_mat_constant(t, rows, cols, at, rows != 0 ? rows : 1);
        else {
            in[o] = derived_operand(t, rows, cols, x, k->turned);
            x += size;
        }
        if (at != NULL) at += size;
    }
    k->c->record(t, in, &s);
    y[0] = s.to;
    return wg_tape_status(t);
}

static inline void derived_fill(const derived_case *c, double *x, uint64_t *seed) {
    for (size_t k = 0; k < DERIVED_OPERANDS; k++)
        for (size_t j = 0; j < c->cols[k]; j++)
            for (size_t i = 0; i < c->rows[k]; i++) {
                *x = walk_number(seed);
                if (c->fill[k] == DERIVED_POSITIVE) *x = 1 + 0.5 * *x;
                if (c->fill[k] == DERIVED_HEAVY && i == j) *x += (double)c->rows[k];
                if (c->fill[k] == DERIVED_APART)
                    *x = 0.05 * *x +
                         0.2 * (double)(7 * (i + j * c->rows[k]) % (c->rows[k] * c->cols[k]));
                x++;
            }
}

static inline double derived_largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static inline void derived_must(wg_tape *t, const char *name, wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s (%s)", name, wg_status_text(s), wg_tape_message(t));
}

/* d/ds of a function of x + s v at s = 0, by central differences, extrapolated (Ridders 1982):
 * of the value, d of one number; of the gradient, d of n. error: what that seems to be good
 * to. */
static inline void derived_differences(wg_tape *t, derived_call *k, size_t n, const double *x,
                                       const double *v, int of_gradient, double *d,
                                       double *error) {
    static double table[DERIVED_MOST][DERIVED_STEPS], before[DERIVED_MOST][DERIVED_STEPS];
    const size_t m = of_gradient ? n : 1;
    double at[DERIVED_MOST], g[2][DERIVED_MOST], value, h = 0x1p-6;
    for (size_t i = 0; i < m; i++) error[i] = INFINITY;
    for (size_t s = 0; s < DERIVED_STEPS; s++, h /= 2) {
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < n; i++) at[i] = x[i] + (side ? -h : h) * v[i];
            derived_must(t, k->c->name,
                         wg_gradient(t, derived_callback, k, n, at, &value, g[side]));
            if (!of_gradient) g[side][0] = value;
        }
        memcpy(before, table, sizeof table);
        for (size_t i = 0; i < m; i++) {
            double f = 1;
            table[i][0] = (g[0][i] - g[1][i]) / (2 * h);
            for (size_t j = 1; j <= s; j++) {
                f *= 4;
                table[i][j] = (f * table[i][j - 1] - before[i][j - 1]) / (f - 1);
                const double e = fmax(fabs(table[i][j] - table[i][j - 1]),
                                      fabs(table[i][j] - before[i][j - 1]));
                if (e <= error[i]) error[i] = e, d[i] = table[i][j];
            }
        }
    }
}

static inline void derived_near(const char *name, const char *what, size_t n, const double *got,
                                const double *want, const double *error, double size) {
    for (size_t i = 0; i < n; i++) {
        const double bound = error != NULL ? TOL_DERIVED_ESTIMATES * error[i] +
                                                 TOL_DERIVED_DIFFERENCED * DBL_EPSILON * size
                                           : TOL_DERIVED_ORDER * DBL_EPSILON * size;
        if (!(fabs(got[i] - want[i]) <= bound))
            fail_msg("%s: %s (%zu) is %.17g, not %.17g, more than %g apart", name, what, i,
                     got[i], want[i], bound);
        if (error != NULL && !(error[i] <= DERIVED_JUDGE * size))
            fail_msg("%s: differences are no judge of %s (%g)", name, what, error[i]);
    }
}

/* Each operand alone a variable, and all of them transposed views: parts of the same
 * gradient. */
static inline void derived_check_operands(wg_tape *t, const derived_case *c, const double *x,
                                          const double *g) {
    const size_t n = derived_all(c);
    double value, other[DERIVED_MOST];
    size_t at = 0;
    for (size_t o = 0; o < DERIVED_OPERANDS; at += derived_entries(c, o), o++) {
        derived_call k = {c, x, o, 0};
        if (derived_entries(c, o) == 0) continue;
        derived_must(
            t, c->name,
            wg_gradient(t, derived_callback, &k, derived_entries(c, o), x + at, &value, other));
        derived_near(c->name, "gradient by one operand", derived_entries(c, o), other, g + at,
                     NULL, fmax(1, derived_largest(n, g)));
    }
    derived_call k = {c, NULL, 0, 1};
    derived_must(t, c->name, wg_gradient(t, derived_callback, &k, n, x, &value, other));
    derived_near(c->name, "gradient of transposed operands", n, other, g, NULL,
                 fmax(1, derived_largest(n, g)));
}

static inline void derived_check_at(wg_tape *t, const derived_case *c, const double *x,
                                    uint64_t *seed) {
    const size_t n = derived_all(c);
    static double h[DERIVED_MOST * DERIVED_MOST];
    double g[DERIVED_MOST], v[DERIVED_MOST], hv[DERIVED_MOST], d[DERIVED_MOST],
        error[DERIVED_MOST], product[DERIVED_MOST], value, along, tangent = 0;
    derived_call k = {c, NULL, 0, 0};
    assert_true(n <= DERIVED_MOST);
    for (size_t i = 0; i < n; i++) v[i] = walk_number(seed);
    derived_must(t, c->name, wg_gradient(t, derived_callback, &k, n, x, &value, g));
    const double size = fmax(1, fmax(fabs(value), derived_largest(n, g)));
    derived_differences(t, &k, n, x, v, 0, d, error);
    for (size_t i = 0; i < n; i++) tangent += g[i] * v[i];
    derived_near(c->name, "slope", 1, &tangent, d, error, size);
    derived_must(t, c->name, wg_jvp(t, derived_callback, &k, n, x, v, 1, &value, &along));
    derived_near(c->name, "tangent", 1, &along, &tangent, NULL, size);
    derived_check_operands(t, c, x, g);
    derived_must(t, c->name, wg_hvp(t, derived_callback, &k, n, x, v, NULL, NULL, hv));
    derived_differences(t, &k, n, x, v, 1, d, error);
    derived_near(c->name, "Hessian along v", n, hv, d, error,
                 fmax(size, derived_largest(n, d)));
    derived_must(t, c->name, wg_hessian(t, derived_callback, &k, n, x, NULL, NULL, h, n));
    const double most = fmax(size, derived_largest(n * n, h));
    for (size_t i = 0; i < n; i++) {
        product[i] = 0;
        for (size_t j = 0; j < n; j++) {
            product[i] += h[i + j * n] * v[j];
            derived_near(c->name, "Hessian and its transpose", 1, &h[i + j * n], &h[j + i * n],
                         NULL, most);
        }
    }
    derived_near(c->name, "Hessian times v", n, product, hv, NULL, most);
}

/* A tape for all of it: with kept code, which second derivatives need. */
static inline wg_tape *derived_tape(void) {
    const wg_options o = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&o);
    assert_non_null(t);
    return t;
}

static inline void derived_check(const derived_case *c) {
    double x[DERIVED_MOST];
    uint64_t seed = 17;
    wg_tape *const t = derived_tape();
    for (const char *p = c->name; *p != 0; p++) seed = 31 * seed + (unsigned char)*p;
    derived_fill(c, x, &seed);
    derived_check_at(t, c, x, &seed);
    wg_tape_free(t);
}

/* A function that is the same for operands in another unit: its derivatives are those by the
 * unit, and its second ones along v in that unit, too. *unit, where it is wanted, is what
 * operands are multiplied by. */
static inline void derived_check_units(const derived_case *c, double *unit) {
    static const int exponents[] = {0, -560, 560};
    double x[DERIVED_MOST], v[DERIVED_MOST], g[2][DERIVED_MOST], h[2][DERIVED_MOST], value,
        along[2];
    uint64_t seed = 23;
    wg_tape *const t = derived_tape();
    const size_t n = derived_all(c);
    derived_call k = {c, NULL, 0, 0};
    derived_fill(c, x, &seed);
    for (size_t i = 0; i < n; i++) v[i] = walk_number(&seed);
    for (size_t e = 0; e < 3; e++) {
        const size_t to = e != 0;
        const double by = ldexp(1, exponents[e]);
        double xs[DERIVED_MOST], vs[DERIVED_MOST];
        for (size_t i = 0; i < n; i++) xs[i] = by * x[i], vs[i] = by * v[i];
        if (unit != NULL) *unit = by;
        derived_must(t, c->name, wg_gradient(t, derived_callback, &k, n, xs, &value, g[to]));
        derived_must(t, c->name,
                     wg_jvp(t, derived_callback, &k, n, xs, vs, 1, &value, &along[to]));
        derived_must(t, c->name, wg_hvp(t, derived_callback, &k, n, xs, vs, NULL, NULL, h[to]));
        for (size_t i = 0; i < n; i++) g[to][i] *= by, h[to][i] *= by;
        if (e == 0) continue;
        derived_near(c->name, "gradient in another unit", n, g[1], g[0], NULL,
                     derived_largest(n, g[0]));
        derived_near(c->name, "tangent in another unit", 1, &along[1], &along[0], NULL,
                     derived_largest(n, g[0]));
        derived_near(c->name, "Hessian along v in another unit", n, h[1], h[0], NULL,
                     derived_largest(n, h[0]));
    }
    if (unit != NULL) *unit = 1;
    wg_tape_free(t);
}

/* A NaN or an infinity in an operand: a status, or results that are none. Never a finite number
 * that does not depend on it. */
static inline void derived_check_not_finite(const derived_case *c) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    double x[DERIVED_MOST];
    uint64_t seed = 5;
    wg_tape *const t = derived_tape();
    const size_t n = derived_all(c);
    derived_fill(c, x, &seed);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++) {
            derived_call call = {c, NULL, 0, 0};
            double value = 0, g[DERIVED_MOST];
            const double kept = x[i];
            x[i] = bad[k];
            const wg_status s = wg_gradient(t, derived_callback, &call, n, x, &value, g);
            x[i] = kept;
            if (s != WG_OK && s != WG_ENONFINITE)
                fail_msg("%s: %g in entry %zu is %s", c->name, bad[k], i, wg_tape_message(t));
            if (s == WG_OK && isfinite(value))
                fail_msg("%s: %g in entry %zu gives %g", c->name, bad[k], i, value);
        }
    wg_tape_free(t);
}

#endif

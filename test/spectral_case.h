/* SPDX-License-Identifier: MIT */
/* spectral_case.h - matrices for the tests of spectral.h, and checks that every operation of it
 * gets. Matrices are packed, column-major. */
#ifndef WENGERT_TEST_SPECTRAL_CASE_H
#define WENGERT_TEST_SPECTRAL_CASE_H

#include <stdlib.h>
#include <string.h>
#include <wengert/spectral.h>
#include "matrix_case.h"
#include "tolerance.h"
#include "walk.h"

/* An eigenvalue, a singular value or a matrix function of order n against an identity, in units
 * of n DBL_EPSILON times the largest entry: backward stable, of matrices of condition up to ten
 * or so. */
#define TOL_SPECTRAL_ULP 64.0

enum { SPECTRAL_MATRICES = 4 };

/* An operation with its operands: rows, cols and values of each. */
struct spectral_case {
    const char *name;
    const wg_block_op *op;
    const void *params;
    size_t bytes, inputs, outputs;
    size_t rows[SPECTRAL_MATRICES], cols[SPECTRAL_MATRICES];
    const double *v[SPECTRAL_MATRICES];
};

static inline double *spectral_room(size_t count) {
    double *x = calloc(count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline double *spectral_random(size_t rows, size_t cols, uint64_t *seed) {
    double *x = spectral_room(rows * cols);
    for (size_t i = 0; i < rows * cols; i++) x[i] = walk_number(seed);
    return x;
}

/* c = a b, all of order n; turn_b: a b'. */
static inline void spectral_product(size_t n, const double *a, const double *b, int turn_b,
                                    double *c) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double s = 0;
            for (size_t k = 0; k < n; k++)
                s += a[i + k * n] * (turn_b ? b[j + k * n] : b[k + j * n]);
            c[i + j * n] = s;
        }
}

/* An orthogonal matrix: a product of n reflections. */
static inline double *spectral_orthogonal(size_t n, uint64_t *seed) {
    double *q = spectral_room(n * n), *w = spectral_room(n);
    for (size_t i = 0; i < n; i++) q[i + i * n] = 1;
    for (size_t k = 0; k < n; k++) {
        double size = 0;
        for (size_t i = 0; i < n; i++) w[i] = walk_number(seed), size += w[i] * w[i];
        for (size_t j = 0; j < n; j++) {
            double s = 0;
            for (size_t i = 0; i < n; i++) s += w[i] * q[i + j * n];
            for (size_t i = 0; i < n; i++) q[i + j * n] -= 2 * s / size * w[i];
        }
    }
    free(w);
    return q;
}

/* Q diag(w) Q', symmetric to the last bit. */
static inline double *spectral_symmetric(size_t n, const double *w, uint64_t *seed) {
    double *q = spectral_orthogonal(n, seed), *a = spectral_room(n * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double s = 0;
            for (size_t k = 0; k < n; k++) s += q[i + k * n] * w[k] * q[j + k * n];
            a[i + j * n] = a[j + i * n] = s;
        }
    free(q);
    return a;
}

/* The same with eigenvalues 1, 2, .., n over `scale`: far enough apart for differences. */
static inline double *spectral_ladder(size_t n, double scale, uint64_t *seed) {
    double *w = spectral_room(n);
    for (size_t i = 0; i < n; i++) w[i] = (double)(i + 1) / scale;
    double *a = spectral_symmetric(n, w, seed);
    free(w);
    return a;
}

static inline double spectral_size(size_t count, const double *x) {
    double m = 0;
    for (size_t i = 0; i < count; i++) m = fmax(m, fabs(x[i]));
    return m;
}

static inline void spectral_near(const char *what, size_t count, const double *got,
                                 const double *want, double bound) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - want[i]) <= bound))
            fail_msg("%s: element %zu is %.17g, not %.17g, %.2g apart, more than %.2g", what, i,
                     got[i], want[i], fabs(got[i] - want[i]), bound);
}

/* Bound of an identity of order n. */
static inline double spectral_bound(size_t n, double size) {
    return TOL_SPECTRAL_ULP * (double)n * DBL_EPSILON * size;
}

static inline wg_mat spectral_input(wg_tape *t, size_t rows, size_t cols, const double *v) {
    return wg_mat_input(t, rows, cols, v, rows != 0 ? rows : 1);
}
static inline double *spectral_value(wg_tape *t, wg_mat a) {
    double *x = spectral_room(a.rows * a.cols);
    assert_int_equal(wg_mat_value(t, a, x, a.rows != 0 ? a.rows : 1), WG_OK);
    return x;
}
static inline double *spectral_adjoint(wg_tape *t, wg_mat a) {
    double *x = spectral_room(a.rows * a.cols);
    assert_int_equal(wg_mat_adjoint(t, a, x, a.rows != 0 ? a.rows : 1), WG_OK);
    return x;
}

static inline void spectral_apply(const struct spectral_case *c, wg_tape *t, wg_mat *in,
                                  wg_mat *out) {
    for (size_t i = 0; i < c->inputs; i++)
        in[i] = spectral_input(t, c->rows[i], c->cols[i], c->v[i]);
    (void)wg_apply(t, c->op, c->params, c->bytes, c->inputs, in, c->outputs, out);
    if (wg_tape_status(t) != WG_OK) fail_msg("%s: %s", c->name, wg_tape_message(t));
}

/* <w, J x> on a forward tape = <J'w, x> of a sweep, and each operand alone; w, x random. */
static inline void spectral_check_adjoint(const struct spectral_case *c) {
    wg_tape *f = wg_tape_new(NULL), *t = wg_tape_new(NULL);
    wg_mat in[SPECTRAL_MATRICES], out[SPECTRAL_MATRICES];
    double *x[SPECTRAL_MATRICES], *w[SPECTRAL_MATRICES];
    uint64_t seed = 99;
    const wg_mark start = wg_tape_mark(t);
    spectral_apply(c, t, in, out);
    const wg_mark end = wg_tape_mark(t);
    for (size_t i = 0; i < c->inputs; i++)
        x[i] = spectral_random(c->rows[i], c->cols[i], &seed);
    assert_int_equal(wg_adjoints_clear(t), WG_OK);
    for (size_t k = 0; k < c->outputs; k++) {
        w[k] = spectral_random(out[k].rows, out[k].cols, &seed);
        assert_int_equal(wg_mat_adjoint_seed(t, out[k], w[k], out[k].rows), WG_OK);
    }
    if (wg_sweep(t, end, start) != WG_OK) fail_msg("%s: %s", c->name, wg_tape_message(t));
    for (size_t alone = 0; alone <= c->inputs; alone++) { /* c->inputs: all of them */
        double lhs = 0, rhs = 0, size = 0;
        wg_tape_reset(f);
        assert_int_equal(wg_tape_forward(f, 1), WG_OK);
        wg_mat fin[SPECTRAL_MATRICES], fout[SPECTRAL_MATRICES];
        for (size_t i = 0; i < c->inputs; i++) {
            const int variable = alone == i || alone == c->inputs;
            fin[i] = (variable ? wg_mat_input : wg_mat_constant)(f, c->rows[i], c->cols[i],
                                                                 c->v[i], c->rows[i]);
            if (!variable) continue;
            assert_int_equal(wg_mat_tangent_seed(f, fin[i], 0, x[i], c->rows[i]), WG_OK);
            double *g = spectral_adjoint(t, in[i]);
            for (size_t e = 0; e < c->rows[i] * c->cols[i]; e++)
                rhs += g[e] * x[i][e], size += fabs(g[e] * x[i][e]);
            free(g);
        }
        if (wg_apply(f, c->op, c->params, c->bytes, c->inputs, fin, c->outputs, fout) != WG_OK)
            fail_msg("%s: %s", c->name, wg_tape_message(f));
        for (size_t k = 0; k < c->outputs; k++) {
            double *y = spectral_room(out[k].rows * out[k].cols);
            assert_int_equal(wg_mat_tangent(f, fout[k], 0, y, out[k].rows), WG_OK);
            for (size_t e = 0; e < out[k].rows * out[k].cols; e++)
                lhs += w[k][e] * y[e], size += fabs(w[k][e] * y[e]);
            free(y);
        }
        if (!(fabs(lhs - rhs) <= TOL_SPECTRAL_ULP * (double)c->rows[0] * DBL_EPSILON * size))
            fail_msg("%s of order %zu, operand %zu: <w, J x> = %.17g, <J'w, x> = %.17g",
                     c->name, c->rows[0], alone, lhs, rhs);
    }
    for (size_t i = 0; i < c->inputs; i++) free(x[i]);
    for (size_t k = 0; k < c->outputs; k++) free(w[k]);
    wg_tape_free(f);
    wg_tape_free(t);
}

/* Against differences, and each operand alone a variable. */
static inline void spectral_check_differences(const struct spectral_case *c) {
    wg_tape *t = wg_tape_new(NULL);
    for (size_t alone = 0; alone <= c->inputs; alone++) {
        wg_mat in[SPECTRAL_MATRICES];
        wg_tape_reset(t);
        for (size_t i = 0; i < c->inputs; i++)
            in[i] = (alone == i || alone == c->inputs ? wg_mat_input : wg_mat_constant)(
                t, c->rows[i], c->cols[i], c->v[i], c->rows[i]);
        if (wg_check_op(t, c->op, c->params, c->bytes, c->inputs, in, c->outputs) != WG_OK)
            fail_msg("%s of %zux%zu: %s", c->name, c->rows[0], c->cols[0], wg_tape_message(t));
    }
    wg_tape_free(t);
}

/* A NaN or an infinity anywhere in an operand is a status, and the tape lives on. */
static inline void spectral_check_not_finite(const struct spectral_case *c) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    wg_tape *t = wg_tape_new(NULL);
    for (size_t i = 0; i < c->inputs; i++)
        for (size_t e = 0; e < c->rows[i] * c->cols[i]; e += 1 + c->rows[i] / 3)
            for (size_t k = 0; k < 3; k++) {
                struct spectral_case d = *c;
                wg_mat in[SPECTRAL_MATRICES], out[SPECTRAL_MATRICES];
                double *v = spectral_room(c->rows[i] * c->cols[i]);
                memcpy(v, c->v[i], c->rows[i] * c->cols[i] * sizeof *v);
                v[e] = bad[k];
                d.v[i] = v;
                const wg_mark m = wg_tape_mark(t);
                for (size_t o = 0; o < d.inputs; o++)
                    in[o] = spectral_input(t, d.rows[o], d.cols[o], d.v[o]);
                const wg_status s =
                    wg_apply(t, d.op, d.params, d.bytes, d.inputs, in, d.outputs, out);
                if (s != WG_ENONFINITE)
                    fail_msg("%s, operand %zu, element %zu is %g: %s", d.name, i, e, bad[k],
                             wg_status_text(s));
                assert_true(isnan(wg_value(wg_mat_at(out[0], 0, 0))));
                assert_int_equal(wg_tape_rewind(t, m), WG_OK);
                assert_int_equal(wg_tape_status(t), WG_OK);
                free(v);
            }
    wg_tape_free(t);
}

/* Operands without elements: everything works, nothing is there. */
static inline void spectral_check_empty(const struct spectral_case *c) {
    const double none = 0;
    struct spectral_case d = *c;
    wg_tape *t = wg_tape_new(NULL);
    wg_mat in[SPECTRAL_MATRICES], out[SPECTRAL_MATRICES];
    for (size_t i = 0; i < d.inputs; i++) d.rows[i] = d.cols[i] = 0, d.v[i] = &none;
    spectral_apply(&d, t, in, out);
    for (size_t k = 0; k < d.outputs; k++) assert_true(out[k].rows * out[k].cols <= 1);
    wg_tape_reset(t);
    assert_int_equal(wg_tape_forward(t, 1), WG_OK);
    spectral_apply(&d, t, in, out);
    wg_tape_free(t);
}

/* Shapes that do not fit: the message names the operation and the shapes, and says why. */
static inline void spectral_check_shapes(const struct spectral_case *c) {
    wg_tape *t = wg_tape_new(NULL);
    wg_mat in[SPECTRAL_MATRICES], out[SPECTRAL_MATRICES];
    for (size_t i = 0; i < c->inputs; i++) {
        for (size_t o = 0; o < c->inputs; o++)
            in[o] = wg_mat_fill(t, c->rows[o] + (o == i), c->cols[o], 1);
        char shape[40];
        (void)snprintf(shape, sizeof shape, "%zux%zu", in[i].rows, in[i].cols);
        assert_int_equal(
            wg_apply(t, c->op, c->params, c->bytes, c->inputs, in, c->outputs, out), WG_ESHAPE);
        assert_non_null(strstr(wg_tape_message(t), c->name));
        if (strstr(wg_tape_message(t), shape) == NULL)
            fail_msg("no %s in: %s", shape, wg_tape_message(t));
        if (strstr(wg_tape_message(t), "WG_ESHAPE") != NULL)
            fail_msg("no reason: %s", wg_tape_message(t));
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

/* A matrix whose eigenvalues, some of them complex, are near 1 or further right. */
static inline double *spectral_right_of_zero(size_t n, uint64_t *seed) {
    double *a = spectral_random(n, n, seed);
    for (size_t i = 0; i < n * n; i++) a[i] /= sqrt((double)n);
    for (size_t i = 0; i < n; i++) a[i + i * n] += 2;
    return a;
}
static inline double *spectral_scaled(size_t n, double *a, double factor) {
    for (size_t i = 0; i < n * n; i++) a[i] *= factor;
    return a;
}

#endif

/* SPDX-License-Identifier: MIT */
/* matrix_tape.c - the operations of matrix_case.h on a tape, as a user writes them. */
#include "matrix.h"

#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/reduce.h>
#include <wengert/solve.h>
#include <wengert/spectral.h>
#include <wengert/statistics.h>

enum { MOST = 4 };

/* The inputs in the order of c->x, and what is to be seeded. */
struct recording {
    wg_mat x[MOST], y[2];
    size_t inputs, outputs;
    wg_real total; /* outputs = 0: this is seeded, with 1 */
};

static wg_mat input(wg_tape *t, struct recording *r, size_t rows, size_t cols,
                    const double **x) {
    const wg_mat a = wg_mat_input_borrowed(t, rows, cols, *x, rows);
    r->x[r->inputs++] = a;
    *x += rows * cols;
    return a;
}

static wg_real layers(wg_tape *t, const struct matrix_case *c, const wg_mat *x) {
    const wg_mat samples =
        wg_mat_constant_borrowed(t, c->dim[0], c->dim[3], c->data, c->dim[0]);
    const wg_mat hidden = wg_mat_tanh(t, wg_mat_add(t, wg_matmul(t, x[0], samples), x[1]));
    const wg_mat logits = wg_mat_add(t, wg_matmul(t, x[2], hidden), x[3]);
    return wg_mat_mean(t, wg_mat_cross_entropy(t, logits, c->label, WG_EACH_COL));
}

static wg_real process(wg_tape *t, const struct matrix_case *c, const wg_mat *x) {
    const size_t n = c->dim[0], d = c->dim[1];
    const wg_mat points = wg_mat_constant_borrowed(t, n, d, c->data, n);
    const wg_mat seen = wg_mat_constant_borrowed(t, n, 1, c->data + n * d, n);
    return wg_gp_logml(t, WG_SQUARED_EXPONENTIAL, points, seen, x[1], wg_mat_at(x[0], 0, 0),
                       wg_mat_at(x[2], 0, 0));
}

static wg_mat chain(wg_tape *t, size_t k, wg_mat u, wg_mat v, wg_mat w) {
    for (size_t i = 0; i < k; i += 2) {
        u = wg_mat_mul(t, u, v);
        u = wg_mat_add(t, u, w);
    }
    return u;
}

static void record(wg_tape *t, const struct matrix_case *c, struct recording *r) {
    const size_t n = c->dim[0], k = c->dim[1];
    const double *at = c->x;
    wg_mat *const x = r->x;
    r->inputs = r->outputs = 0;
    switch (c->kind) {
    case MATRIX_logdet:
        r->total = wg_logdet_spd(t, input(t, r, n, n, &at));
        break;
    case MATRIX_solve:
        input(t, r, n, n, &at);
        input(t, r, n, k, &at);
        r->y[r->outputs++] = wg_solve(t, x[0], x[1]);
        break;
    case MATRIX_products:
        for (size_t i = 0; i < 3; i++) input(t, r, n, n, &at);
        r->total = wg_mat_sum(t, wg_matmul(t, wg_mat_tanh(t, wg_matmul(t, x[0], x[1])), x[2]));
        break;
    case MATRIX_eigen:
        r->outputs = 2;
        (void)wg_eigh(t, input(t, r, n, n, &at), &r->y[0], &r->y[1]);
        break;
    case MATRIX_singular:
        r->y[r->outputs++] = wg_svdvals(t, input(t, r, n, n, &at));
        break;
    case MATRIX_qr:
        r->outputs = 2;
        (void)wg_qr(t, input(t, r, n, n, &at), &r->y[0], &r->y[1]);
        break;
    case MATRIX_gp:
        for (size_t i = 0; i < 3; i++) input(t, r, 1, 1, &at);
        r->total = process(t, c, x);
        break;
    case MATRIX_mlp:
        input(t, r, k, n, &at);
        input(t, r, k, 1, &at);
        input(t, r, c->dim[2], k, &at);
        input(t, r, c->dim[2], 1, &at);
        r->total = layers(t, c, x);
        break;
    case MATRIX_vectors:
        for (size_t i = 0; i < 3; i++) input(t, r, n, 1, &at);
        r->y[r->outputs++] = chain(t, k, x[0], x[1], x[2]);
        break;
    case MATRIX_map_exp:
        r->y[r->outputs++] = wg_mat_exp(t, input(t, r, n, 1, &at));
        break;
    case MATRIX_map_tanh:
        r->y[r->outputs++] = wg_mat_tanh(t, input(t, r, n, 1, &at));
        break;
    case MATRIX_map_log:
        r->y[r->outputs++] = wg_mat_log(t, input(t, r, n, 1, &at));
        break;
    case MATRIX_KINDS:
        break;
    }
}

/* Adjoints of two outputs: those of eigenvectors are as matrix_case.h says. */
static wg_status seed_two(wg_tape *t, const struct matrix_case *c, const struct recording *r) {
    const size_t n = c->dim[0];
    const wg_mat *y = r->y;
    const double *second = c->seed + y[0].rows * y[0].cols;
    wg_status s = wg_adjoints_clear(t);
    if (c->kind == MATRIX_eigen && y[1].value != NULL) {
        for (size_t i = 0; i < n * n; i++) c->work[i] = second[i] * y[1].value[i];
        second = c->work;
    }
    if (s == WG_OK) s = wg_mat_adjoint_seed(t, y[0], c->seed, y[0].rows);
    if (s == WG_OK) s = wg_mat_adjoint_seed(t, y[1], second, y[1].rows);
    return s;
}

wg_status matrix_tape(wg_tape *t, const struct matrix_case *c, enum matrix_extent extent,
                      double *g) {
    struct recording r;
    wg_tape_reset(t);
    const wg_mark low = wg_tape_mark(t);
    record(t, c, &r);
    wg_status s = wg_tape_status(t);
    if (extent == MATRIX_RECORD || s != WG_OK) return s;
    switch (r.outputs) {
    case 0:
        s = wg_reverse(t, r.total);
        break;
    case 1:
        s = wg_mat_reverse(t, r.y[0], c->seed, r.y[0].rows);
        break;
    default:
        s = seed_two(t, c, &r);
        if (s == WG_OK) s = wg_sweep(t, wg_tape_mark(t), low);
        break;
    }
    for (size_t i = 0; i < r.inputs && extent == MATRIX_GRADIENT && s == WG_OK; i++) {
        s = wg_mat_adjoint(t, r.x[i], g, r.x[i].rows);
        g += r.x[i].rows * r.x[i].cols;
    }
    return s;
}

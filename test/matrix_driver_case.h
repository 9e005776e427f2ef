/* SPDX-License-Identifier: MIT */
/* matrix_driver_case.h - a function of matrices for drivers, with derivatives written by hand:
 * of numbers that are whole, so that they are equal to the last bit. */
#ifndef WENGERT_TEST_MATRIX_DRIVER_CASE_H
#define WENGERT_TEST_MATRIX_DRIVER_CASE_H

#include "driver_cases.h"

/* y0 = s A B, y1 = |A|^2, for A 2-by-3, B 3-by-2, s 1-by-1. Arrays stand with gaps: A 4
 * apart. */
enum { N = 13, M = 5, GAP = -77 };
static const double a_[] = {1, -2, GAP, GAP, 3, 4, GAP, GAP, -5, 6};
static const double b_[] = {2, 1, -3, 4, 0, 5}, s_ = 3;
static const double va_[] = {0, 2, GAP, GAP, -1, 1, GAP, GAP, 3, -4},
                    vb_[] = {1, 0, 2, -2, 3, -1}, vs_ = 2;
static const double w0_[] = {1, 2, -3, 4}, w1_ = -2;
static const wg_mat_values x_[] = {{a_, 2, 3, 4}, {b_, 3, 2, 0}, {&s_, 1, 1, 1}};
static const wg_mat_values v_[] = {{va_, 2, 3, 4}, {vb_, 3, 2, 3}, {&vs_, 1, 1, 0}};
static const wg_mat_values w_[] = {{w0_, 2, 2, 2}, {&w1_, 1, 1, 1}};

static inline wg_status model(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                              void *data) {
    (void)n;
    if (data != NULL) ++*(int *)data;
    y[0] = wg_mat_mul(t, wg_matmul(t, x[0], x[1]), x[2]);
    if (m > 1) y[1] = wg_mat_from_real(t, wg_mat_sum(t, wg_mat_square(t, x[0])));
    return WG_OK;
}
/* sum_j <w_j, y_j> of it. */
static inline wg_status weighted(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                                 void *data) {
    wg_mat parts[2];
    (void)m;
    (void)model(t, n, x, 2, parts, data);
    const wg_real sum = wg_mat_dot(t, parts[0], wg_mat_constant(t, 2, 2, w0_, 2));
    y[0] = wg_mat_from_real(t, wg_let(t, wg_add(sum, wg_mul(w1_, wg_mat_at(parts[1], 0, 0)))));
    return WG_OK;
}

/* ---- by hand ---- */

static inline double A(size_t i, size_t j) { return a_[i + 4 * j]; }
static inline double B(size_t i, size_t j) { return b_[i + 3 * j]; }
static inline double W(size_t i, size_t j) { return w0_[i + 2 * j]; }
static inline double product_at(size_t i, size_t j) {
    return A(i, 0) * B(0, j) + A(i, 1) * B(1, j) + A(i, 2) * B(2, j);
}

/* A direction, or a gradient, of all inputs side by side. */
typedef struct point {
    double a[2][3], b[3][2], s;
} point;
static inline point direction(void) {
    point p = {.s = vs_};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 3; j++) p.a[i][j] = va_[i + 4 * j], p.b[j][i] = vb_[j + 3 * i];
    return p;
}
/* Element k of it, in the order of a driver. */
static inline double *part(point *p, size_t k) {
    return k < 6 ? &p->a[k % 2][k / 2] : k < 12 ? &p->b[(k - 6) % 3][(k - 6) / 3] : &p->s;
}

static inline point gradient(void) {
    point g;
    memset(&g, 0, sizeof g);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) {
            g.a[i][k] = 2 * w1_ * A(i, k);
            for (size_t j = 0; j < 2; j++) {
                g.a[i][k] += s_ * W(i, j) * B(k, j);
                g.b[k][j] += s_ * A(i, k) * W(i, j);
            }
        }
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) g.s += W(i, j) * product_at(i, j);
    return g;
}
/* The derivative of the gradient along v. */
static inline point hessian_times(const point *v) {
    point h;
    memset(&h, 0, sizeof h);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) {
            h.a[i][k] = 2 * w1_ * v->a[i][k];
            for (size_t j = 0; j < 2; j++) {
                h.a[i][k] += W(i, j) * (v->s * B(k, j) + s_ * v->b[k][j]);
                h.b[k][j] += W(i, j) * (v->s * A(i, k) + s_ * v->a[i][k]);
                h.s += W(i, j) * (v->a[i][k] * B(k, j) + A(i, k) * v->b[k][j]);
            }
        }
    return h;
}
static inline double value_of(size_t j) {
    if (j < 4) return s_ * product_at(j % 2, j / 2);
    return 1 + 4 + 9 + 16 + 25 + 36;
}
/* d of output element j by element k of the inputs. */
static inline double slope(size_t j, size_t k) {
    if (j == 4) return k < 6 ? 2 * A(k % 2, k / 2) : 0;
    if (k < 6) return k % 2 == j % 2 ? s_ * B(k / 2, j / 2) : 0;
    if (k < 12) return (k - 6) / 3 == j / 2 ? s_ * A(j % 2, (k - 6) % 3) : 0;
    return product_at(j % 2, j / 2);
}

/* ---- places for results, with gaps ---- */

typedef struct places {
    double a[5 * 3], b[3 * 2], s, y0[3 * 2], y1;
    wg_mat_result in[3], out[2];
} places;
static inline void clear(places *p) {
    double *const from[] = {p->a, p->b, &p->s, p->y0, &p->y1};
    const size_t length[] = {15, 6, 1, 6, 1};
    for (size_t k = 0; k < 5; k++)
        for (size_t i = 0; i < length[k]; i++) from[k][i] = GAP;
    p->in[0] = (wg_mat_result){p->a, 2, 3, 5};
    p->in[1] = (wg_mat_result){p->b, 3, 2, 0};
    p->in[2] = (wg_mat_result){&p->s, 1, 1, 1};
    p->out[0] = (wg_mat_result){p->y0, 2, 2, 3};
    p->out[1] = (wg_mat_result){&p->y1, 1, 1, 0};
}
static inline void assert_point(const places *p, point expected) {
    for (size_t k = 0; k < 6; k++)
        assert_true(p->a[k % 2 + 5 * (k / 2)] == *part(&expected, k));
    for (size_t k = 0; k < 6; k++) assert_true(p->b[k] == *part(&expected, 6 + k));
    assert_true(p->s == expected.s);
    for (size_t k = 0; k < 15; k++) assert_true(k % 5 < 2 || p->a[k] == GAP);
}
static inline void assert_values(const places *p) {
    for (size_t j = 0; j < 4; j++) assert_true(p->y0[j % 2 + 3 * (j / 2)] == value_of(j));
    assert_true(p->y0[2] == GAP && p->y0[5] == GAP && p->y1 == value_of(4));
}
static inline void assert_untouched(const places *p) {
    for (size_t k = 0; k < 15; k++) assert_true(p->a[k] == GAP);
    for (size_t k = 0; k < 6; k++) assert_true(p->b[k] == GAP && p->y0[k] == GAP);
    assert_true(p->s == GAP && p->y1 == GAP);
}
static inline void assert_ok(const wg_tape *t, wg_status s) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
}

/* Its inputs as its outputs. */
static inline wg_status passes(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                               void *data) {
    (void)t, (void)n, (void)data;
    for (size_t j = 0; j < m; j++) y[j] = x[j];
    return WG_OK;
}

#endif

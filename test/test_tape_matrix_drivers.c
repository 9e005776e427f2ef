/* SPDX-License-Identifier: MIT */
/* test_tape_matrix_drivers.c - drivers for functions of matrices: derivatives that were written by
 * hand, of numbers that are whole, so that they are equal to the last bit. */
#include "counted.h"
#include "driver_cases.h"

/* y0 = s A B, y1 = |A|^2, for A 2-by-3, B 3-by-2, s 1-by-1. Arrays stand with gaps: A 4 apart. */
enum { N = 13, M = 5, GAP = -77 };
static const double a_[] = {1, -2, GAP, GAP, 3, 4, GAP, GAP, -5, 6};
static const double b_[] = {2, 1, -3, 4, 0, 5}, s_ = 3;
static const double va_[] = {0, 2, GAP, GAP, -1, 1, GAP, GAP, 3, -4},
                    vb_[] = {1, 0, 2, -2, 3, -1}, vs_ = 2;
static const double w0_[] = {1, 2, -3, 4}, w1_ = -2;
static const wg_mat_values x_[] = {{a_, 2, 3, 4}, {b_, 3, 2, 0}, {&s_, 1, 1, 1}};
static const wg_mat_values v_[] = {{va_, 2, 3, 4}, {vb_, 3, 2, 3}, {&vs_, 1, 1, 0}};
static const wg_mat_values w_[] = {{w0_, 2, 2, 2}, {&w1_, 1, 1, 1}};

static wg_status model(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y, void *data) {
    (void)n;
    if (data != NULL) ++*(int *)data;
    y[0] = wg_mat_mul(t, wg_matmul(t, x[0], x[1]), x[2]);
    if (m > 1) y[1] = wg_mat_from_real(t, wg_mat_sum(t, wg_mat_square(t, x[0])));
    return WG_OK;
}
/* sum_j <w_j, y_j> of it. */
static wg_status weighted(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                          void *data) {
    wg_mat parts[2];
    (void)m;
    (void)model(t, n, x, 2, parts, data);
    const wg_real sum = wg_mat_dot(t, parts[0], wg_mat_constant(t, 2, 2, w0_, 2));
    y[0] = wg_mat_from_real(t, wg_let(t, wg_add(sum, wg_mul(w1_, wg_mat_at(parts[1], 0, 0)))));
    return WG_OK;
}

/* ---- by hand ---- */

static double A(size_t i, size_t j) { return a_[i + 4 * j]; }
static double B(size_t i, size_t j) { return b_[i + 3 * j]; }
static double W(size_t i, size_t j) { return w0_[i + 2 * j]; }
static double product_at(size_t i, size_t j) {
    return A(i, 0) * B(0, j) + A(i, 1) * B(1, j) + A(i, 2) * B(2, j);
}

/* A direction, or a gradient, of all inputs side by side. */
typedef struct point {
    double a[2][3], b[3][2], s;
} point;
static point direction(void) {
    point p = {.s = vs_};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 3; j++) p.a[i][j] = va_[i + 4 * j], p.b[j][i] = vb_[j + 3 * i];
    return p;
}
/* Element k of it, in the order of a driver. */
static double *part(point *p, size_t k) {
    return k < 6 ? &p->a[k % 2][k / 2] : k < 12 ? &p->b[(k - 6) % 3][(k - 6) / 3] : &p->s;
}

static point gradient(void) {
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
static point hessian_times(const point *v) {
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
static double value_of(size_t j) {
    if (j < 4) return s_ * product_at(j % 2, j / 2);
    return 1 + 4 + 9 + 16 + 25 + 36;
}
/* d of output element j by element k of the inputs. */
static double slope(size_t j, size_t k) {
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
static void clear(places *p) {
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
static void assert_point(const places *p, point expected) {
    for (size_t k = 0; k < 6; k++)
        assert_true(p->a[k % 2 + 5 * (k / 2)] == *part(&expected, k));
    for (size_t k = 0; k < 6; k++) assert_true(p->b[k] == *part(&expected, 6 + k));
    assert_true(p->s == expected.s);
    for (size_t k = 0; k < 15; k++) assert_true(k % 5 < 2 || p->a[k] == GAP);
}
static void assert_values(const places *p) {
    for (size_t j = 0; j < 4; j++) assert_true(p->y0[j % 2 + 3 * (j / 2)] == value_of(j));
    assert_true(p->y0[2] == GAP && p->y0[5] == GAP && p->y1 == value_of(4));
}
static void assert_untouched(const places *p) {
    for (size_t k = 0; k < 15; k++) assert_true(p->a[k] == GAP);
    for (size_t k = 0; k < 6; k++) assert_true(p->b[k] == GAP && p->y0[k] == GAP);
    assert_true(p->s == GAP && p->y1 == GAP);
}
static void assert_ok(const wg_tape *t, wg_status s) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
}

/* ---- right ---- */

static void values_and_gradients_are_those_written_by_hand(void **state) {
    (void)state;
    places p, q;
    double value = GAP, other = GAP;
    clear(&p), clear(&q);
    assert_ok(tape, wg_mat_eval(tape, model, NULL, 3, x_, 2, p.out));
    assert_values(&p);
    clear(&p);
    assert_ok(tape, wg_mat_gradient(tape, weighted, NULL, 3, x_, &value, p.in));
    assert_point(&p, gradient());
    assert_ok(tape, wg_mat_gradient(tape, weighted, NULL, 3, x_, &other, NULL));
    assert_true(value == other);
    q.in[0].value = NULL, q.in[0].rows = 99; /* not looked at */
    assert_ok(tape, wg_mat_gradient(tape, weighted, NULL, 3, x_, NULL, q.in));
    assert_true(q.s == p.s && memcmp(q.b, p.b, sizeof p.b) == 0 && q.a[0] == GAP);
}

static void several_outputs_are_seeded_at_once(void **state) {
    (void)state;
    places p;
    int calls = 0;
    clear(&p);
    assert_ok(tape, wg_mat_vjp(tape, model, &calls, 3, x_, 2, w_, p.out, p.in));
    assert_point(&p, gradient());
    assert_values(&p);
    assert_int_equal(calls, 1);
    /* an output that nobody seeds */
    const wg_mat_values second[] = {{NULL, 9, 9, 9}, w_[1]};
    clear(&p);
    assert_ok(tape, wg_mat_vjp(tape, model, NULL, 3, x_, 2, second, NULL, p.in));
    assert_true(p.a[0] == 2 * w1_ * A(0, 0) && p.b[0] == 0 && p.s == 0);
    const wg_mat_values none[] = {{NULL, 0, 0, 0}, {NULL, 0, 0, 0}};
    assert_ok(tape, wg_mat_vjp(tape, model, NULL, 3, x_, 2, none, NULL, p.in));
    assert_true(p.a[0] == 0 && p.a[2] == GAP && p.b[5] == 0 && p.s == 0);
    clear(&p);
    assert_ok(tape, wg_mat_vjp(tape, model, NULL, 3, x_, 2, NULL, p.out, NULL));
    assert_values(&p);
}

static void tangents_are_those_written_by_hand(void **state) {
    (void)state;
    places p, y;
    point v = direction();
    clear(&p), clear(&y);
    assert_ok(tape, wg_mat_jvp(tape, model, NULL, 3, x_, v_, 2, y.out, p.out));
    for (size_t j = 0; j < M; j++) {
        double sum = 0;
        for (size_t k = 0; k < N; k++) sum += slope(j, k) * *part(&v, k);
        assert_true((j == 4 ? p.y1 : p.y0[j % 2 + 3 * (j / 2)]) == sum);
    }
    assert_values(&y);
    const wg_mat_values only[] = {{NULL, 7, 7, 7}, {NULL, 0, 0, 0}, v_[2]};
    assert_ok(tape, wg_mat_jvp(tape, model, NULL, 3, x_, only, 2, NULL, p.out));
    assert_true(p.y0[0] == vs_ * product_at(0, 0) && p.y1 == 0);
    const wg_mat_values none[3] = {{NULL, 0, 0, 0}};
    assert_ok(tape, wg_mat_jvp(tape, model, NULL, 3, x_, none, 2, NULL, p.out));
    assert_true(p.y0[0] == 0 && p.y1 == 0);
    clear(&y);
    assert_ok(tape, wg_mat_jvp(tape, model, NULL, 3, x_, NULL, 2, y.out, NULL));
    assert_values(&y);
}

static void hessian_products_are_those_written_by_hand(void **state) {
    (void)state;
    places g, h;
    const point v = direction();
    clear(&g), clear(&h);
    assert_ok(coded, wg_mat_hvp(coded, model, NULL, 3, x_, v_, 2, w_, g.out, g.in, h.in));
    assert_point(&g, gradient());
    assert_point(&h, hessian_times(&v));
    assert_values(&g);
    /* the same of an output that is the sum */
    double value;
    const wg_mat_result y = {&value, 1, 1, 1};
    clear(&g), clear(&h);
    assert_ok(coded, wg_mat_hvp(coded, weighted, NULL, 3, x_, v_, 1, NULL, &y, g.in, h.in));
    assert_point(&g, gradient());
    assert_point(&h, hessian_times(&v));
    /* along s alone, and by B alone */
    const wg_mat_values only[] = {{NULL, 0, 0, 0}, {NULL, 0, 0, 0}, v_[2]};
    const point along = {.s = vs_};
    const point by = hessian_times(&along);
    clear(&h);
    h.in[0].value = h.in[2].value = NULL;
    assert_ok(coded, wg_mat_hvp(coded, model, NULL, 3, x_, only, 2, w_, NULL, NULL, h.in));
    for (size_t k = 0; k < 6; k++) assert_true(h.b[k] == by.b[k % 3][k / 3]);
    assert_true(h.a[0] == GAP && h.s == GAP);
    /* no product: a gradient */
    clear(&g);
    assert_ok(coded, wg_mat_hvp(coded, model, NULL, 3, x_, NULL, 2, w_, NULL, g.in, NULL));
    assert_point(&g, gradient());
}

/* Blocks of 6, 6 and 1 rows and columns, the first 7 apart. */
static void hessians_have_a_block_for_each_pair(void **state) {
    (void)state;
    static const size_t size[] = {6, 6, 1};
    double room[9][42], value;
    places g;
    const wg_mat_result y = {&value, 1, 1, 1};
    wg_mat_result h[9];
    clear(&g);
    for (size_t b = 0; b < 9; b++) {
        for (size_t i = 0; i < 42; i++) room[b][i] = GAP;
        h[b] = (wg_mat_result){room[b], size[b / 3], size[b % 3], size[b / 3] + 1};
    }
    h[1].value = NULL;
    assert_ok(coded, wg_mat_hessian(coded, weighted, NULL, 3, x_, 1, NULL, &y, g.in, h));
    assert_point(&g, gradient());
    for (size_t k = 0; k < N; k++) {
        point unit, column;
        memset(&unit, 0, sizeof unit);
        *part(&unit, k) = 1;
        column = hessian_times(&unit);
        for (size_t i = 0; i < N; i++) {
            const size_t to = i < 6 ? 0 : i < 12 ? 1 : 2, from = k < 6 ? 0 : k < 12 ? 1 : 2;
            const double got =
                room[to * 3 + from][i - 6 * to + (size[to] + 1) * (k - 6 * from)];
            assert_true(got == (to == 0 && from == 1 ? GAP : *part(&column, i)));
        }
    }
    assert_true(room[0][6] == GAP && room[2][6] == GAP && room[6][1] == GAP);
    /* the block of s alone: of what does not matter nothing is a variable */
    for (size_t b = 0; b < 8; b++) h[b].value = NULL;
    room[8][0] = GAP;
    assert_ok(coded, wg_mat_hessian(coded, model, NULL, 3, x_, 2, w_, NULL, NULL, h));
    assert_true(room[8][0] == 0);
}

static void jacobians_have_a_block_for_each_output_and_input(void **state) {
    (void)state;
    static const size_t in[] = {6, 6, 1}, out[] = {4, 1};
    double room[6][30];
    places y;
    wg_mat_result jac[6];
    clear(&y);
    for (size_t b = 0; b < 6; b++) {
        for (size_t i = 0; i < 30; i++) room[b][i] = GAP;
        jac[b] = (wg_mat_result){room[b], out[b / 3], in[b % 3], out[b / 3] + 1};
    }
    jac[4].value = NULL;
    assert_ok(tape, wg_mat_jacobian(tape, model, NULL, 3, x_, 2, y.out, jac));
    assert_values(&y);
    for (size_t j = 0; j < M; j++)
        for (size_t k = 0; k < N; k++) {
            const size_t row = j / 4, col = k < 6 ? 0 : k < 12 ? 1 : 2;
            const double got =
                room[row * 3 + col][j - 4 * row + (out[row] + 1) * (k - 6 * col)];
            assert_true(got == (row == 1 && col == 1 ? GAP : slope(j, k)));
        }
}

/* x x' of 5, which is done forward; with 40 inputs more on which it does not depend, backwards. */
static wg_status outer(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y, void *data) {
    (void)n, (void)m;
    if (data != NULL) ++*(int *)data;
    y[0] = wg_outer(t, x[0], x[0]);
    y[1] = wg_mat_fill(t, 2, 0, 1);
    y[2] = wg_mat_transpose(x[0]);
    return WG_OK;
}
static void jacobians_agree_forward_and_backward(void **state) {
    (void)state;
    static double more[40], forward[25 * 5], backward[25 * 5], unused[25 * 40], own[25], y0[25];
    const double x0[] = {1, -2, 3, -4, 5};
    const wg_mat_values x[] = {{x0, 5, 1, 5}, {more, 40, 1, 40}};
    const wg_mat_result y[] = {{y0, 5, 5, 5}, {NULL, 2, 0, 2}, {NULL, 1, 5, 1}};
    int calls = 0;
    wg_mat_result jac[] = {{forward, 25, 5, 25}, {NULL, 0, 0, 0}, {NULL, 0, 0, 0},
                           {NULL, 0, 0, 0},      {own, 5, 5, 5},  {NULL, 0, 0, 0}};
    assert_ok(tape, wg_mat_jacobian(tape, outer, &calls, 2, x, 3, y, jac));
    for (size_t i = 0; i < 25; i++)
        assert_true(own[i] == (i % 6 == 0) && y0[i] == x0[i % 5] * x0[i / 5]);
    jac[0].value = backward;
    jac[1] = (wg_mat_result){unused, 25, 40, 25};
    assert_ok(tape, wg_mat_jacobian(tape, outer, &calls, 2, x, 3, y, jac));
    for (size_t j = 0; j < 25; j++)
        for (size_t k = 0; k < 5; k++) {
            const double d = (j % 5 == k ? x0[j / 5] : 0) + (j / 5 == k ? x0[j % 5] : 0);
            assert_true(forward[j + 25 * k] == d && backward[j + 25 * k] == d);
        }
    for (size_t i = 0; i < 1000; i++) assert_true(unused[i] == 0);
    assert_int_equal(calls, 2);
}

/* ---- edges ---- */

static wg_status passes(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                        void *data) {
    (void)t, (void)n, (void)data;
    for (size_t j = 0; j < m; j++) y[j] = x[j];
    return WG_OK;
}

static void empty_matrices_and_none_at_all_go_through(void **state) {
    (void)state;
    const double one = 2;
    double y = GAP, g = GAP;
    const wg_mat_values x[] = {{NULL, 0, 3, 0}, {&one, 1, 1, 1}, {NULL, 2, 0, 2}};
    const wg_mat_values w[] = {{NULL, 0, 3, 0}, {&one, 1, 1, 1}, {&one, 2, 0, 2}};
    const wg_mat_result out[] = {{NULL, 0, 3, 0}, {&y, 1, 1, 1}, {&g, 2, 0, 2}};
    const wg_mat_result in[] = {{&y, 0, 3, 0}, {&g, 1, 1, 1}, {NULL, 2, 0, 2}};
    assert_ok(tape, wg_mat_vjp(tape, passes, NULL, 3, x, 3, w, out, in));
    assert_true(y == 2 && g == 2);
    assert_ok(tape, wg_mat_jvp(tape, passes, NULL, 3, x, w, 3, NULL, out));
    assert_true(y == 2);
    assert_ok(coded, wg_mat_hvp(coded, passes, NULL, 3, x, w, 3, w, NULL, NULL, in));
    assert_true(g == 0);
    wg_mat_result block[9] = {{NULL, 0, 0, 0}};
    block[4] = (wg_mat_result){&g, 1, 1, 1}, block[0] = (wg_mat_result){&y, 0, 0, 0};
    assert_ok(tape, wg_mat_jacobian(tape, passes, NULL, 3, x, 3, out, block));
    assert_true(g == 1);
    assert_ok(coded, wg_mat_hessian(coded, passes, NULL, 3, x, 3, w, NULL, NULL, block));
    assert_true(g == 0);
    assert_ok(tape, wg_mat_eval(tape, passes, NULL, 0, NULL, 0, NULL));
    assert_ok(tape, wg_mat_vjp(tape, passes, NULL, 0, NULL, 0, NULL, NULL, NULL));
    assert_ok(tape, wg_mat_jvp(tape, passes, NULL, 0, NULL, NULL, 0, NULL, NULL));
    assert_ok(tape, wg_mat_jacobian(tape, passes, NULL, 0, NULL, 0, NULL, NULL));
    assert_ok(coded, wg_mat_hvp(coded, passes, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    assert_ok(coded, wg_mat_hessian(coded, passes, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL));
}

/* Inputs as outputs, one of them as a view, and twice. */
static wg_status views(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y, void *data) {
    (void)t, (void)n, (void)m, (void)data;
    y[0] = wg_mat_transpose(x[0]);
    y[1] = wg_mat_row(x[0], 1);
    return WG_OK;
}
static void outputs_may_be_views_of_inputs(void **state) {
    (void)state;
    const double w0[] = {1, 2, 3, 4, 5, 6}, w1[] = {10, 20, 30};
    double g[6], y[6];
    const wg_mat_values w[] = {{w0, 3, 2, 3}, {w1, 1, 3, 1}};
    const wg_mat_result in = {g, 2, 3, 2}, out[] = {{y, 3, 2, 3}, {NULL, 0, 0, 0}};
    assert_ok(tape, wg_mat_vjp(tape, views, NULL, 1, x_, 2, w, out, &in));
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 3; j++) {
            assert_true(y[j + 3 * i] == A(i, j));
            assert_true(g[i + 2 * j] == w0[j + 3 * i] + (i == 1 ? w1[j] : 0));
        }
}

static wg_status constants(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                           void *data) {
    (void)n, (void)m;
    y[0] = wg_mat_fill(t, 1, 1, *(const double *)data);
    y[1] = wg_mat_mul(t, x[0], 2);
    return WG_OK;
}
static void constants_have_derivatives_0_and_nan_where_they_are_nan(void **state) {
    (void)state;
    double number = 7, one = 1, y[2], g, hv, jac[2], h;
    const wg_mat_values x = {&one, 1, 1, 1}, w[] = {{&one, 1, 1, 1}, {&one, 1, 1, 1}};
    const wg_mat_values second[] = {{NULL, 0, 0, 0}, {&one, 1, 1, 1}};
    const wg_mat_result in = {&g, 1, 1, 1}, out[] = {{y, 1, 1, 1}, {y + 1, 1, 1, 1}};
    const wg_mat_result v = {&hv, 1, 1, 1}, j[] = {{jac, 1, 1, 1}, {jac + 1, 1, 1, 1}};
    const wg_mat_result whole = {&h, 1, 1, 1};
    for (int nan = 0; nan < 2; nan++) {
        if (nan) number = NAN;
        assert_ok(tape, wg_mat_vjp(tape, constants, &number, 1, &x, 2, w, out, &in));
        assert_true(nan ? g != g && y[0] != y[0] : g == 2 && y[0] == 7);
        assert_ok(tape, wg_mat_vjp(tape, constants, &number, 1, &x, 2, second, NULL, &in));
        assert_true(g == 2);
        assert_ok(tape, wg_mat_jvp(tape, constants, &number, 1, &x, w, 2, NULL, out));
        assert_true(nan ? y[0] != y[0] : y[0] == 0);
        assert_true(y[1] == 2);
        assert_ok(tape, wg_mat_jacobian(tape, constants, &number, 1, &x, 2, out, j));
        assert_true((nan ? jac[0] != jac[0] : jac[0] == 0) && jac[1] == 2);
        assert_ok(coded, wg_mat_hvp(coded, constants, &number, 1, &x, w, 2, w, NULL, &in, &v));
        assert_true(nan ? g != g && hv != hv : g == 2 && hv == 0);
        assert_ok(coded,
                  wg_mat_hessian(coded, constants, &number, 1, &x, 2, w, NULL, &in, &whole));
        assert_true(nan ? g != g && h != h : g == 2 && h == 0);
    }
}

/* ---- mistakes ---- */

#define REFUSED(t, e, s, words)                                                                \
    do {                                                                                       \
        const wg_status got_ = (e);                                                            \
        if (got_ != (s)) fail_msg("status %d: %s", (int)got_, wg_tape_message(t));             \
        assert_message(t, words);                                                              \
        assert_int_equal(wg_tape_status(t), s);                                                \
    } while (0)

static void what_the_caller_gives_wrong_is_named_with_its_shapes(void **state) {
    (void)state;
    places p;
    wg_mat_values x[3], w[2];
    clear(&p);
    memcpy(x, x_, sizeof x), memcpy(w, w_, sizeof w);
    assert_int_equal(wg_mat_eval(NULL, model, NULL, 3, x, 2, p.out), WG_ENULL);
    REFUSED(tape, wg_mat_eval(tape, NULL, NULL, 3, x, 2, p.out), WG_ENULL,
            "wg_mat_eval: the function is NULL");
    REFUSED(tape, wg_mat_eval(tape, model, NULL, 3, NULL, 2, p.out), WG_ENULL,
            "wg_mat_eval: x is NULL, with 3 entries");
    x[1].value = NULL;
    REFUSED(tape, wg_mat_eval(tape, model, NULL, 3, x, 2, p.out), WG_ENULL,
            "wg_mat_eval: x[1] is NULL, with 3x2 elements");
    x[1] = x_[1], x[0].ld = 1;
    REFUSED(tape, wg_mat_vjp(tape, model, NULL, 3, x, 2, w, p.out, p.in), WG_ESHAPE,
            "wg_mat_vjp: x[0] is 2x3, its leading dimension 1 is less than 2");
    x[0] = x_[0], p.in[1].rows = 2, p.in[1].cols = 3;
    REFUSED(tape, wg_mat_vjp(tape, model, NULL, 3, x, 2, w, p.out, p.in), WG_ESHAPE,
            "wg_mat_vjp: g[1] is 2x3, input 1 is 3x2");
    REFUSED(tape, wg_mat_gradient(tape, weighted, NULL, 3, x, NULL, p.in), WG_ESHAPE,
            "wg_mat_gradient: g[1] is 2x3, input 1 is 3x2");
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, v_, 2, w, p.out, NULL, p.in), WG_ESHAPE,
            "wg_mat_hvp: hv[1] is 2x3, input 1 is 3x2");
    clear(&p);
    REFUSED(tape, wg_mat_vjp(tape, model, NULL, 3, x, 2, NULL, p.out, p.in), WG_ENULL,
            "wg_mat_vjp: w is NULL, with 2 entries");
    w[0].rows = 4, w[0].cols = 1;
    REFUSED(tape, wg_mat_vjp(tape, model, NULL, 3, x, 2, w, p.out, p.in), WG_ESHAPE,
            "wg_mat_vjp: w[0] is 4x1, output 0 is 2x2");
    w[0] = w_[0], w[0].ld = 1;
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, v_, 2, w, p.out, p.in, NULL), WG_ESHAPE,
            "wg_mat_hvp: w[0] is 2x2, its leading dimension 1 is less than 2");
    p.out[1].cols = 2;
    REFUSED(tape, wg_mat_eval(tape, model, NULL, 3, x, 2, p.out), WG_ESHAPE,
            "wg_mat_eval: y[1] is 1x2, output 1 is 1x1");
    REFUSED(tape, wg_mat_jvp(tape, model, NULL, 3, x, v_, 2, NULL, p.out), WG_ESHAPE,
            "wg_mat_jvp: jv[1] is 1x2, output 1 is 1x1");
    clear(&p);
    REFUSED(tape, wg_mat_jvp(tape, model, NULL, 3, x, NULL, 2, NULL, p.out), WG_ENULL,
            "wg_mat_jvp: v is NULL, with 3 entries");
    REFUSED(tape, wg_mat_jvp(tape, model, NULL, 3, x, x_ + 1, 2, NULL, p.out), WG_ESHAPE,
            "wg_mat_jvp: v[0] is 3x2, input 0 is 2x3");
    REFUSED(tape, wg_mat_gradient(tape, model, NULL, 3, x, NULL, p.in), WG_ESHAPE,
            "wg_mat_gradient: the output is 2x2, not 1x1");
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, v_, 1, NULL, NULL, p.in, p.in),
            WG_ESHAPE, "wg_mat_hvp: the output is 2x2, not 1x1");
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, v_, 2, NULL, NULL, p.in, p.in),
            WG_ENULL, "wg_mat_hvp: w is NULL, with 2 entries");
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, NULL, 2, w, NULL, p.in, p.in), WG_ENULL,
            "wg_mat_hvp: v is NULL, with 3 entries");
    REFUSED(tape, wg_mat_hvp(tape, model, NULL, 3, x, v_, 2, w_, NULL, p.in, p.in), WG_EMODE,
            "wg_mat_hvp: the tape was not opened with WG_KEEP_CODE");
    REFUSED(tape, wg_mat_jacobian(tape, model, NULL, 3, x, 2, NULL, NULL), WG_ENULL,
            "wg_mat_jacobian: y is NULL, with 2 entries");
    wg_mat_result block[9] = {{p.a, 4, 6, 4}};
    block[1] = (wg_mat_result){p.b, 4, 5, 4};
    REFUSED(tape, wg_mat_jacobian(tape, model, NULL, 3, x, 2, p.out, block), WG_ESHAPE,
            "wg_mat_jacobian: jac[1] is 4x5, of 4 by 6 elements");
    block[1] = (wg_mat_result){NULL, 0, 0, 0}, block[0].ld = 3;
    REFUSED(tape, wg_mat_jacobian(tape, model, NULL, 3, x, 2, p.out, block), WG_ESHAPE,
            "wg_mat_jacobian: jac[0] is 4x6, its leading dimension 3 is less than 4");
    wg_mat_result shapes[] = {{NULL, 2, 3, 2}, {NULL, 1, 1, 1}};
    block[0] = (wg_mat_result){NULL, 0, 0, 0};
    REFUSED(tape, wg_mat_jacobian(tape, model, NULL, 3, x, 2, shapes, block), WG_ESHAPE,
            "wg_mat_jacobian: y[0] is 2x3, output 0 is 2x2");
    block[5] = (wg_mat_result){p.b, 6, 2, 6};
    REFUSED(coded, wg_mat_hessian(coded, model, NULL, 3, x, 2, w_, NULL, NULL, block),
            WG_ESHAPE, "wg_mat_hessian: h[5] is 6x2, of 6 by 1 elements");
    assert_untouched(&p);
    assert_ok(tape, wg_mat_eval(tape, model, NULL, 3, x, 2, p.out)); /* usable all the while */
    assert_values(&p);
}

/* A function that does one of several things. */
enum {
    FAILS,
    WRITES_MORE,
    WRITES_LESS,
    RESETS,
    FOREIGN,
    SHAPES,
    NESTED,
    PAUSES,
    FORWARD,
    VIEW
};
typedef struct deed {
    int what;
    wg_tape *other;
    wg_status said;
} deed;
static wg_status does(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y, void *data) {
    deed *const d = data;
    wg_status s = WG_OK;
    double one = 1;
    for (size_t j = 0; j < m; j++) y[j] = wg_mat_mul(t, x[2], 2);
    switch (d->what) {
    case FAILS:
        return WG_ECONVERGE;
    case WRITES_MORE:
        y[m] = y[0];
        break;
    case WRITES_LESS:
        y[m - 1] = wg_mat_failed(1, 1);
        break;
    case RESETS:
        wg_tape_reset(t);
        break;
    case FOREIGN:
        y[0] = wg_mat_input(d->other, 1, 1, &one, 1);
        break;
    case SHAPES:
        y[0] = wg_mat_add(t, x[0], x[1]);
        break;
    case NESTED:
        d->said = wg_mat_gradient(t, model, NULL, 3, x_, NULL, NULL);
        break;
    case PAUSES:
        (void)wg_tape_pause(t);
        break;
    case FORWARD:
        s = wg_tape_forward(t, 2);
        break;
    default:
        y[0] = wg_mat_block(x[0], 1, 1, 5, 5);
    }
    (void)n;
    return s;
}
static void what_the_function_does_wrong_is_named(void **state) {
    (void)state;
    static const struct {
        wg_status status;
        const char *words;
    } answer[] = {
        [FAILS] = {WG_ECONVERGE, "wg_mat_vjp: the function returned WG_ECONVERGE"},
        [WRITES_MORE] = {WG_ESHAPE, "wg_mat_vjp: the function has written more than 2 outputs"},
        [WRITES_LESS] = {WG_ESHAPE,
                         "wg_mat_vjp: output 1 was not set by the function, or is a"},
        [RESETS] = {WG_ESTALE, "wg_mat_vjp: the function has reset the tape"},
        [FOREIGN] = {WG_ESTALE, "wg_mat_vjp: output 0 is a matrix of another tape"},
        [SHAPES] = {WG_ESHAPE, "of 2x3, 3x2"},
        [NESTED] = {WG_EMODE,
                    "wg_mat_gradient: called by the function of a driver, on its own"},
        [PAUSES] = {WG_EMODE, "wg_mat_vjp: the function has left the tape paused"},
        [FORWARD] = {WG_EMODE, "wg_tape_forward"},
        [VIEW] = {WG_ESHAPE,
                  "wg_mat_vjp: output 0 was not set by the function, or is a failed"},
    };
    const double one = 1;
    const wg_mat_values w[] = {{&one, 1, 1, 1}, {&one, 1, 1, 1}};
    deed d = {.other = wg_tape_new(NULL)};
    places p;
    clear(&p);
    for (d.what = FAILS; d.what <= VIEW; d.what++)
        REFUSED(tape, wg_mat_vjp(tape, does, &d, 3, x_, 2, w, NULL, p.in),
                answer[d.what].status, answer[d.what].words);
    assert_int_equal(d.said, WG_EMODE);
    assert_untouched(&p);
    wg_tape_free(d.other);
}

/* ---- memory ---- */

/* Driver `which`, of the six with results in p. */
static wg_status driver(wg_tape *t, int which, places *p, double *value) {
    const wg_mat_result block = {p->y0, 1, 1, 1}, y = {value, 1, 1, 1};
    wg_mat_result blocks[9] = {{NULL, 0, 0, 0}};
    blocks[8] = blocks[5] = block;
    switch (which) {
    case 0:
        return wg_mat_gradient(t, weighted, NULL, 3, x_, value, p->in);
    case 1:
        return wg_mat_vjp(t, model, NULL, 3, x_, 2, w_, p->out, p->in);
    case 2:
        return wg_mat_jvp(t, model, NULL, 3, x_, v_, 2, NULL, p->out);
    case 3:
        return wg_mat_hvp(t, model, NULL, 3, x_, v_, 2, w_, p->out, NULL, p->in);
    case 4:
        blocks[5].value = NULL;
        return wg_mat_hessian(t, weighted, NULL, 3, x_, 1, NULL, &y, p->in, blocks);
    case 5:
        blocks[8].value = blocks[5].value = NULL;
        blocks[2] = (wg_mat_result){p->b, 1, 1, 1};
        return wg_mat_jacobian(t, weighted, NULL, 3, x_, 1, &y, blocks);
    default:
        return wg_mat_eval(t, model, NULL, 3, x_, 2, p->out);
    }
}
enum { DRIVERS = 7 };

static void repeated_drivers_give_the_same_bits_and_obtain_no_memory(void **state) {
    (void)state;
    places first[DRIVERS], again;
    double value[DRIVERS], other;
    uint64_t calls = 0;
    wg_stats s;
    memset(&again, 0, sizeof again);
    for (int k = 0; k < 50; k++) {
        for (int which = 0; which < DRIVERS; which++) {
            places *const p = k == 0 ? &first[which] : &again;
            if (k == 0) memset(p, 0, sizeof *p);
            clear(p);
            value[which] = k == 0 ? GAP : value[which], other = GAP;
            assert_ok(coded, driver(coded, which, p, k == 0 ? &value[which] : &other));
            assert_true(k == 0 || memcmp(p->a, first[which].a, offsetof(places, in)) == 0);
            assert_true(k == 0 || other == value[which]);
        }
        assert_int_equal(wg_tape_stats(coded, &s), WG_OK);
        assert_true(s.slots == 0 && s.records == 0);
        if (k == 1) calls = s.memory_calls;
        assert_true(k < 2 || s.memory_calls == calls);
    }
}

static void a_driver_leaves_the_tape_in_its_mode(void **state) {
    (void)state;
    places p;
    double value;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    assert_int_equal(wg_tape_forward(t, 2), WG_OK);
    for (int which = 0; which < DRIVERS; which++) {
        clear(&p);
        assert_ok(t, driver(t, which, &p, &value));
        const wg_real x = wg_input(t, 4);
        assert_int_equal(wg_tangent_seed(t, x, 1, 1), WG_OK);
        assert_true(wg_tangent(t, wg_let(t, wg_mul(x, x)), 1) == 8);
    }
    wg_tape_free(t);
}

static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    for (int which = 0; which < DRIVERS; which++) {
        int done = 0;
        for (size_t fail_at = 2; !done; fail_at++) { /* 0, 1: the tape itself */
            struct counted memory = counted_start();
            places p;
            double value = GAP;
            const wg_options opt = {
                .flags = WG_KEEP_CODE, .memory = counted_memory(&memory), .reserve = 1 << 16};
            memory.fail_at = fail_at;
            memory.fail_on = 1;
            wg_tape *const t = wg_tape_new(&opt);
            assert_non_null(t);
            assert_true(fail_at < 500);
            clear(&p);
            const wg_status s = driver(t, which, &p, &value);
            done = memory.refused == 0;
            assert_int_equal(s, done ? WG_OK : WG_ENOMEM);
            if (!done) {
                assert_int_equal(wg_tape_status(t), WG_ENOMEM);
                assert_message(t, "wg_"); /* the call, or what its function has called */
                assert_untouched(&p);
                assert_true(value == GAP);
            }
            memory.fail_at = SIZE_MAX, memory.fail_on = 0;
            assert_ok(t, driver(t, which, &p, &value));
            wg_tape_free(t);
            assert_true(memory.ranges == 0 && memory.wrong == 0);
        }
    }
}

static void a_budget_is_kept(void **state) {
    (void)state;
    enum { LARGE = 400 };
    static double x0[LARGE * LARGE], g0[LARGE * LARGE];
    const wg_mat_values x = {x0, LARGE, LARGE, LARGE};
    const wg_mat_result g = {g0, LARGE, LARGE, LARGE};
    const size_t all = (size_t)LARGE * LARGE;
    wg_mat_result h = {g0, all, all, all}; /* 200 GB, which nobody writes to */
    const double one = 1;
    const wg_mat_values w = {&one, 1, 1, 1};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .budget = 1 << 20});
    places p;
    double value;
    REFUSED(t, wg_mat_gradient(t, passes, NULL, 1, &x, NULL, &g), WG_EBUDGET,
            "wg_mat_gradient");
    REFUSED(t, wg_mat_hessian(t, passes, NULL, 1, &x, 1, &w, NULL, NULL, &h), WG_EBUDGET,
            "wg_mat_hessian: no room for");
    const wg_mat_values huge = {x0, SIZE_MAX / 2, 3, SIZE_MAX / 2};
    h = (wg_mat_result){g0, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    REFUSED(t, wg_mat_hessian(t, passes, NULL, 1, &huge, 1, &w, NULL, NULL, &h), WG_ENOMEM,
            "wg_mat_hessian: no room for");
    REFUSED(t, wg_mat_eval(t, passes, NULL, 1, &huge, 1, NULL), WG_ESHAPE,
            "wg_mat_eval: wg_mat_constant: ");
    for (int which = 0; which < DRIVERS; which++) {
        clear(&p);
        assert_ok(t, driver(t, which, &p, &value));
    }
    wg_tape_free(t);
}

static void a_traced_tape_tells_where_a_nan_came_from(void **state) {
    (void)state;
    const double one = 1;
    double g = GAP;
    const wg_mat_values x[] = {{&one, 1, 1, 1}, {&one, 1, 1, 1}, {&one, 1, 1, 1}};
    const wg_mat_result in[] = {{&g, 1, 1, 1}, {NULL, 0, 0, 0}, {NULL, 0, 0, 0}};
    const double bad = NAN;
    const wg_mat_values w[] = {{&bad, 1, 1, 1}, {NULL, 0, 0, 0}};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_TRACE});
    REFUSED(t, wg_mat_vjp(t, model, NULL, 3, x, 2, w, NULL, in), WG_ENONFINITE,
            "wg_mat_vjp: a sweep");
    assert_true(g == GAP);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_gradients_are_those_written_by_hand),
        cmocka_unit_test(several_outputs_are_seeded_at_once),
        cmocka_unit_test(tangents_are_those_written_by_hand),
        cmocka_unit_test(hessian_products_are_those_written_by_hand),
        cmocka_unit_test(hessians_have_a_block_for_each_pair),
        cmocka_unit_test(jacobians_have_a_block_for_each_output_and_input),
        cmocka_unit_test(jacobians_agree_forward_and_backward),
        cmocka_unit_test(empty_matrices_and_none_at_all_go_through),
        cmocka_unit_test(outputs_may_be_views_of_inputs),
        cmocka_unit_test(constants_have_derivatives_0_and_nan_where_they_are_nan),
        cmocka_unit_test(what_the_caller_gives_wrong_is_named_with_its_shapes),
        cmocka_unit_test(what_the_function_does_wrong_is_named),
        cmocka_unit_test(repeated_drivers_give_the_same_bits_and_obtain_no_memory),
        cmocka_unit_test(a_driver_leaves_the_tape_in_its_mode),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
        cmocka_unit_test(a_budget_is_kept),
        cmocka_unit_test(a_traced_tape_tells_where_a_nan_came_from),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}

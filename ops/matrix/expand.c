/* SPDX-License-Identifier: MIT */
/* expand.c - see expand.h. */
#include "expand.h"

#include "dense_values.h"
#include "ops/scalar/elementwise.h"

#include <wengert/matrix.h>

#include <math.h>

wgi_reals wgi_reals_operand(const wg_block *b, const wg_real *x, size_t k) {
    for (size_t i = 0; i < k; i++) x += b->in[i].rows * b->in[i].cols;
    return wgi_reals_packed(x, b->in[k].rows, b->in[k].cols);
}

wg_real *wgi_reals_result(const wg_block *b, wg_real *y, size_t k) {
    for (size_t i = 0; i < k; i++) y += b->out[i].rows * b->out[i].cols;
    return y;
}

/* ---- operations that are no rows ---- */

/* Files name them beside operations of users: hence the prefix, which those do not have. */
WG_OPERATION2(wgi_times, wgi_times(a, b), b, a, 0, 1, 0, GUARD, "product rule")
WG_OPERATION1(wgi_held, a, 0, 0, ARITH, "a number without its derivative")
WG_OPERATION2(wgi_half_of_each, a, 0.5, 0.5, 0, 0, 0, ARITH, "a, which is to equal b")
const wg_scalar_op *const wgi_expand_times = &wgi_user_wgi_times;
const wg_scalar_op *const wgi_expand_hold = &wgi_user_wgi_held;

const wg_scalar_op *wgi_expand_row(size_t i) {
    const wg_scalar_op *const all[] = {wgi_expand_times, wgi_expand_hold,
                                       &wgi_user_wgi_half_of_each, wgi_expand_matern_32,
                                       wgi_expand_matern_52};
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

/* ---- pieces ---- */

wg_real *wgi_expand_room(wg_tape *t, size_t n) {
    if (n >= SIZE_MAX / sizeof(wg_real)) n = SIZE_MAX / sizeof(wg_real) - 1; /* refused */
    return (wg_real *)wg_tape_keep(t, (n + 1) * sizeof(wg_real), NULL);
}

wg_real wgi_expand_scaled(wg_tape *t, double f, wg_real x) {
    return f == 1 ? x : wg_let(t, wg_mul(f, x));
}

wg_real wgi_expand_plus(wg_tape *t, wg_real s, wg_real x) {
    return wgi_expand_is_nothing(s) ? x : wg_let(t, wg_add(s, x));
}

wg_real wgi_expand_less(wg_tape *t, wg_real a, wg_real x, wg_real y) {
    if (wgi_expand_is_nothing(x) || wgi_expand_is_nothing(y)) return a;
    return wg_let(t, wg_sub(a, wg_mul(x, y)));
}

wg_real wgi_expand_held(wg_tape *t, wg_real x) {
    return wg_apply_scalar(t, wgi_expand_hold, &x);
}

wg_real wgi_expand_dot(wg_tape *t, size_t n, const wg_real *x, size_t dx, const wg_real *y,
                       size_t dy) {
    if (n == 0) return wg_constant(0);
    wg_real s = wg_let(t, wg_mul(*x, *y));
    for (size_t i = 1; i < n; i++) s = wg_let(t, wg_add(s, wg_mul(x[i * dx], y[i * dy])));
    return s;
}

/* ---- whole matrices in one node ---- */

static int is_whole(const wgi_dense_op *op) { return wgi_dense_flops(op) > WGI_DENSE_LEAST; }

/* Its results, of these operands. */
static wg_real *whole(wg_tape *t, const wgi_dense_op *op, const wg_real *x) {
    wg_real *const y = wgi_expand_room(t, wgi_dense_results(op));
    if (x == NULL || y == NULL) return NULL;
    const wg_mat in = wg_mat_gather(t, wgi_dense_operands(op), 1, x);
    wg_mat out;
    if (wg_apply(t, &wgi_op_dense, op, sizeof *op, 1, &in, 1, &out) != WG_OK) return NULL;
    for (size_t i = 0; i < out.rows; i++) y[i] = wg_mat_at(out, i, 0);
    return y;
}

static wg_real *copied_to(wg_real *to, wgi_reals a) {
    wgi_expand_copy(a, to);
    return to == NULL ? NULL : to + a.rows * a.cols;
}

/* The lower triangle of a. */
static wg_real *lower_to(wg_real *to, wgi_reals a) {
    for (size_t j = 0; to != NULL && j < a.rows; j++)
        for (size_t i = j; i < a.rows; i++) *to++ = wgi_reals_at(a, i, j);
    return to;
}

/* ---- */

void wgi_expand_copy(wgi_reals a, wg_real *y) {
    if (y == NULL) return;
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) *y++ = wgi_reals_at(a, i, j);
}

void wgi_expand_mul(wg_tape *t, wgi_reals a, wgi_reals b, wg_real *y) {
    if (a.p == NULL || b.p == NULL || y == NULL) return;
    const wgi_dense_op op = {WGI_DENSE_PRODUCT, 0, {a.rows, b.cols, a.cols}};
    if (is_whole(&op)) {
        wg_real *const x = wgi_expand_room(t, wgi_dense_operands(&op));
        (void)copied_to(copied_to(x, a), b);
        const wg_real *const c = whole(t, &op, x);
        if (c != NULL) wgi_expand_copy(wgi_reals_packed(c, a.rows, b.cols), y);
        return;
    }
    for (size_t j = 0; j < b.cols; j++)
        for (size_t i = 0; i < a.rows; i++)
            *y++ = wgi_expand_dot(t, a.cols, a.p + i * a.down, a.across, b.p + j * b.across,
                                  b.down);
}

/* ---- arrays of their own ---- */

wg_real *wgi_expand_copied(wg_tape *t, wgi_reals a) {
    wg_real *const y = wgi_expand_room(t, a.rows * a.cols);
    wgi_expand_copy(a, y);
    return y;
}

wg_real *wgi_expand_symmetric(wg_tape *t, wgi_reals a, int upper) {
    const size_t n = a.rows;
    const wgi_reals b = wgi_reals_turn(a, upper); /* whose lower triangle it is */
    wg_real *const s = wgi_expand_room(t, n * n);
    if (s == NULL) return NULL;
    for (size_t j = 0; j < n; j++) {
        s[j + j * n] = wgi_reals_at(a, j, j);
        for (size_t i = j + 1; i < n; i++)
            s[i + j * n] = s[j + i * n] = wg_let(
                t, WG_CALL2(wgi_half_of_each, wgi_reals_at(b, i, j), wgi_reals_at(b, j, i)));
    }
    return s;
}

wg_real *wgi_expand_identity(wg_tape *t, size_t n) {
    wg_real *const y = wgi_expand_room(t, n * n);
    for (size_t i = 0; y != NULL && i < n * n; i++) y[i] = wg_constant(i % (n + 1) == 0);
    return y;
}

wg_real *wgi_expand_cholesky(wg_tape *t, size_t n, const wg_real *s) {
    if (s == NULL) return NULL;
    wg_real *const l = wgi_expand_room(t, n * n);
    const wgi_dense_op op = {WGI_DENSE_CHOLESKY, 0, {n, 0, 0}};
    if (l != NULL && is_whole(&op)) {
        wg_real *const x = wgi_expand_room(t, wgi_dense_operands(&op));
        (void)lower_to(x, wgi_reals_packed(s, n, n));
        const wg_real *from = whole(t, &op, x);
        for (size_t j = 0; from != NULL && j < n; j++)
            for (size_t i = 0; i < n; i++) l[i + j * n] = i < j ? wg_constant(0) : *from++;
        return l;
    }
    for (size_t j = 0; l != NULL && j < n; j++) {
        for (size_t i = 0; i < j; i++) l[i + j * n] = wg_constant(0);
        for (size_t i = j; i < n; i++) {
            wg_real a = s[i + j * n];
            for (size_t k = 0; k < j; k++)
                a = wgi_expand_less(t, a, l[i + k * n], l[j + k * n]);
            l[i + j * n] = i == j ? wg_let(t, wg_sqrt(a)) : wg_let(t, wg_div(a, l[j + j * n]));
        }
    }
    return l;
}

/* ---- systems of equations ---- */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void exchange(wg_real *x, wg_real *y) {
    const wg_real z = *x;
    *x = *y;
    *y = z;
}

double wgi_expand_eliminate(wg_tape *t, size_t n, size_t below, size_t above, wg_real *a,
                            size_t ld, size_t k, wg_real *b) {
    double sign = 1;
    if (a == NULL || b == NULL) return sign;
    for (size_t c = 0; c < n; c++) {
        const size_t rows = least(n, c + below + 1), cols = least(n, c + below + above + 1);
        size_t pivot = c;
        for (size_t i = c + 1; i < rows; i++)
            if (fabs(a[i + c * ld].value) > fabs(a[pivot + c * ld].value)) pivot = i;
        if (pivot != c) {
            sign = -sign;
            for (size_t j = c; j < cols; j++) exchange(&a[c + j * ld], &a[pivot + j * ld]);
            for (size_t j = 0; j < k; j++) exchange(&b[c + j * n], &b[pivot + j * n]);
        }
        for (size_t i = c + 1; i < rows; i++) {
            if (wgi_expand_is_nothing(a[i + c * ld])) continue;
            const wg_real l = wg_let(t, wg_div(a[i + c * ld], a[c + c * ld]));
            for (size_t j = c + 1; j < cols; j++)
                a[i + j * ld] = wgi_expand_less(t, a[i + j * ld], l, a[c + j * ld]);
            for (size_t j = 0; j < k; j++)
                b[i + j * n] = wgi_expand_less(t, b[i + j * n], l, b[c + j * n]);
        }
    }
    return sign;
}

void wgi_expand_solve_band(wg_tape *t, size_t n, size_t below, size_t above, wg_real *a,
                           size_t ld, size_t k, wg_real *b) {
    if (a == NULL || b == NULL) return;
    (void)wgi_expand_eliminate(t, n, below, above, a, ld, k, b);
    for (size_t j = 0; j < k; j++)
        for (size_t i = n; i-- > 0;) {
            wg_real x = b[i + j * n];
            for (size_t c = i + 1; c < least(n, i + below + above + 1); c++)
                x = wgi_expand_less(t, x, a[i + c * ld], b[c + j * n]);
            b[i + j * n] = wg_let(t, wg_div(x, a[i + i * ld]));
        }
}

/* A's packed factors, then pivots and their sign. */
static wg_real *lu_of(wg_tape *t, wgi_reals a) {
    const wgi_dense_op op = {WGI_DENSE_LU, 0, {a.rows, 0, 0}};
    return whole(t, &op, wgi_expand_copied(t, a));
}

/* Factors and pivots, then A; there is room for more. */
static wg_real *factored_to(wg_tape *t, wg_real *to, wgi_reals a) {
    const wg_real *const lu = lu_of(t, a);
    if (lu == NULL || to == NULL) return NULL;
    return copied_to(copied_to(to, wgi_reals_packed(lu, a.rows * (a.rows + 1), 1)), a);
}

void wgi_expand_solve(wg_tape *t, wgi_reals a, int trans, size_t k, wg_real *b) {
    const size_t n = a.rows;
    const wgi_dense_op op = {WGI_DENSE_SOLVE, trans ? WGI_DENSE_TURNED : 0, {n, k, 0}};
    const wgi_dense_op factor = {WGI_DENSE_LU, 0, {n, 0, 0}};
    if (a.p == NULL || b == NULL) return;
    if (wgi_dense_flops(&op) + wgi_dense_flops(&factor) <= WGI_DENSE_LEAST) {
        wgi_expand_solve_band(t, n, n, n, wgi_expand_copied(t, wgi_reals_turn(a, trans)), n, k,
                              b);
        return;
    }
    wg_real *const x = wgi_expand_room(t, wgi_dense_operands(&op));
    wg_real *const right = factored_to(t, x, a);
    if (right == NULL) return;
    wgi_expand_copy(wgi_reals_packed(b, n, k), right);
    const wg_real *const y = whole(t, &op, x);
    if (y != NULL) wgi_expand_copy(wgi_reals_packed(y, n, k), b);
}

void wgi_expand_logdet(wg_tape *t, wgi_reals a, wg_real *log, wg_real *sign) {
    const size_t n = a.rows;
    const wgi_dense_op op = {WGI_DENSE_LOGDET, 0, {n, 0, 0}};
    const wgi_dense_op factor = {WGI_DENSE_LU, 0, {n, 0, 0}};
    const int one_node = is_whole(&factor);
    wg_real s = wg_constant(1), *u = NULL;
    if (one_node) {
        u = lu_of(t, a);
        if (u != NULL) s = u[n * (n + 1)];
    } else {
        u = wgi_expand_copied(t, a);
        s = wg_constant(wgi_expand_eliminate(t, n, n, n, u, n, 0, u));
    }
    if (u == NULL) return;
    for (size_t i = 0; sign != NULL && i < n; i++)
        s = wg_let(t, wg_mul(s, wg_sign(u[i * (n + 1)])));
    if (sign != NULL) *sign = s;
    if (log == NULL) return;
    if (one_node) {
        wg_real *const x = wgi_expand_room(t, wgi_dense_operands(&op));
        if (factored_to(t, x, a) == NULL) return;
        const wg_real *const y = whole(t, &op, x);
        if (y != NULL) *log = *y;
        return;
    }
    *log = wg_constant(0);
    for (size_t i = 0; i < n; i++)
        *log = wgi_expand_plus(t, *log, wg_let(t, wg_log(wg_fabs(u[i * (n + 1)]))));
}

/* An upper triangle is a lower one from the other end. */
static void whole_triangle(wg_tape *t, const wgi_dense_op *op, wgi_reals a, int upper, int unit,
                           wg_real *x, size_t down, size_t across) {
    const size_t n = op->size[0], k = op->size[1];
    wg_real *const room = wgi_expand_room(t, wgi_dense_operands(op)), *to = room;
    if (room == NULL) return;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            const size_t r = upper ? n - 1 - i : i, c = upper ? n - 1 - j : j;
            *to++ = unit && i == j ? wg_constant(1) : wgi_reals_at(a, r, c);
        }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < n; i++) *to++ = x[(upper ? n - 1 - i : i) * down + j * across];
    const wg_real *y = whole(t, op, room);
    if (y == NULL) return;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < n; i++) x[(upper ? n - 1 - i : i) * down + j * across] = *y++;
}

void wgi_expand_triangle(wg_tape *t, wgi_reals a, int upper, int unit, size_t k, wg_real *x,
                         size_t down, size_t across) {
    const size_t n = a.rows;
    if (a.p == NULL || x == NULL) return;
    const wgi_dense_op op = {WGI_DENSE_TRIANGLE, 0, {n, k, 0}};
    if (is_whole(&op)) {
        whole_triangle(t, &op, a, upper, unit, x, down, across);
        return;
    }
    for (size_t j = 0; j < k; j++, x += across)
        for (size_t step = 0; step < n; step++) {
            const size_t i = upper ? n - 1 - step : step;
            const size_t from = upper ? i + 1 : 0, to = upper ? n : i;
            wg_real s = x[i * down];
            for (size_t c = from; c < to; c++)
                s = wgi_expand_less(t, s, wgi_reals_at(a, i, c), x[c * down]);
            x[i * down] = unit ? s : wg_let(t, wg_div(s, wgi_reals_at(a, i, i)));
        }
}

void wgi_expand_cholesky_solve(wg_tape *t, size_t n, const wg_real *l, size_t k, wg_real *b) {
    const wgi_reals a = wgi_reals_packed(l, n, n);
    wgi_expand_triangle(t, a, 0, 0, k, b, 1, n);
    wgi_expand_triangle(t, wgi_reals_turn(a, 1), 1, 0, k, b, 1, n);
}

void wgi_expand_qr(wg_tape *t, wgi_reals a, const double *sign, wg_real *q, wg_real *r) {
    const size_t m = a.rows, n = a.cols;
    if (q == NULL || r == NULL) return;
    wgi_expand_copy(a, q);
    for (size_t j = 0; j < n; j++) {
        wg_real *const v = q + j * m;
        for (size_t i = 0; i < n; i++) r[i + j * n] = wg_constant(0);
        for (int again = 0; again < 2; again++)
            for (size_t k = 0; k < j; k++) {
                const wg_real *const u = q + k * m;
                const wg_real along = wgi_expand_dot(t, m, u, 1, v, 1);
                for (size_t i = 0; i < m; i++) v[i] = wgi_expand_less(t, v[i], along, u[i]);
                r[k + j * n] = again ? wg_let(t, wg_add(r[k + j * n], along)) : along;
            }
        r[j + j * n] = wgi_expand_scaled(t, sign != NULL ? sign[j] : 1, wg_norm2(t, m, v));
        for (size_t i = 0; i < m; i++) v[i] = wg_let(t, wg_div(v[i], r[j + j * n]));
    }
}

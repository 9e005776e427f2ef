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

wg_real wgi_expand_good(wg_tape *t, wg_real a) { return wg_let(t, wg_select_gt(a, 0, 1, NAN)); }

wg_real wgi_expand_finite(wg_tape *t, size_t n, const wg_real *x) {
    /* of finite ones the sum has to be finite, too */
    wg_real sum = wg_constant(0);
    for (size_t i = 0; i < n; i++) sum = wg_let(t, wg_add(sum, wg_mul(0x1p-60, wg_fabs(x[i]))));
    return wg_let(t, wg_select_lt(sum, INFINITY, 1, NAN));
}

void wgi_expand_spoil(wg_tape *t, wg_real good, size_t n, wg_real *y) {
    if (good.at.slot == 0 && good.value == 1) return;
    for (size_t i = 0; i < n; i++)
        if (!wgi_expand_is_nothing(y[i])) y[i] = wg_let(t, wg_mul(y[i], good));
}

wg_real wgi_expand_pivot(wg_tape *t, wg_real a) {
    return wg_let(t, wg_add(a, wg_select_eq(a, 0, NAN, 0)));
}

/* Without a root there is no factor: NaN, for 0 as well. The factor is in its derivatives, too,
 * where that of an alternative would be 0. */
static wg_real root_of(wg_tape *t, wg_real a) {
    return wg_let(t, wg_mul(wg_sqrt(a), wg_select_gt(a, 0, 1, NAN)));
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
            l[i + j * n] = i == j ? root_of(t, a) : wg_let(t, wg_div(a, l[j + j * n]));
        }
    }
    return l;
}

/* ---- systems of equations ---- */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Which of two rows has the larger element in the column of a pivot: |x| > |y|. */
typedef struct larger {
    wg_real x, y;
    size_t row, other;
} larger;

/* y where the other row is the pivot's, else x. */
static wg_real larger_of(wg_tape *t, const larger *of, wg_real x, wg_real y) {
    if (wgi_expand_is_nothing(x) && wgi_expand_is_nothing(y)) return x;
    return wg_let(t, wg_select_gt(of->x, of->y, y, x));
}

static void exchange(wg_tape *t, const larger *of, wg_real *x, wg_real *y) {
    const wg_real z = *x;
    *x = larger_of(t, of, z, *y);
    *y = larger_of(t, of, *y, z);
}

/* The permutation of the rows, one exchange after the other. */
typedef struct order {
    larger *exchange;
    size_t count;
    wg_real sign;
} order;

static int order_open(wg_tape *t, size_t n, order *o) {
    const size_t most = n < 2 ? 1 : n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
    o->count = 0;
    o->sign = wg_constant(1);
    if (most >= SIZE_MAX / sizeof *o->exchange) return 0;
    o->exchange = (larger *)wg_tape_keep(t, most * sizeof *o->exchange, NULL);
    return o->exchange != NULL;
}

/* A with element (i, j) at a[i + j ld]: those more than `below` below the diagonal or `above`
 * above it are 0. b: k right-hand sides. */
typedef struct band {
    size_t n, below, above, ld, k;
    wg_real *a, *b;
} band;

static size_t rows_of(const band *s, size_t c) { return least(s->n, c + s->below + 1); }
static size_t cols_of(const band *s, size_t c) {
    return least(s->n, c + s->below + s->above + 1);
}

/* The largest element of column c comes to the diagonal, at every point: by exchanges of
 * rows. */
static void bring_pivot(wg_tape *t, const band *s, size_t c, order *o) {
    for (size_t i = c + 1; i < rows_of(s, c); i++) {
        const wg_real x = s->a[i + c * s->ld], y = s->a[c + c * s->ld];
        if (wgi_expand_is_nothing(x)) continue;
        larger of = {wg_constant(1), wg_constant(0), c, i}; /* than what is always 0 */
        if (!wgi_expand_is_nothing(y))
            of.x = wg_let(t, wg_fabs(x)), of.y = wg_let(t, wg_fabs(y));
        for (size_t j = c; j < cols_of(s, c); j++)
            exchange(t, &of, &s->a[c + j * s->ld], &s->a[i + j * s->ld]);
        for (size_t j = 0; j < (o == NULL ? s->k : least(c, s->k)); j++)
            exchange(t, &of, &s->b[c + j * s->n], &s->b[i + j * s->n]);
        if (o == NULL) continue;
        o->sign = larger_of(t, &of, o->sign, wg_let(t, wg_neg(o->sign)));
        o->exchange[o->count++] = of;
    }
}

/* A pivot of 0 makes all results NaN: by itself where it divides 0, and all rows depend on
 * that; else it is replaced. */
static void refuse_nothing(wg_tape *t, const band *s, size_t c) {
    const size_t rows = rows_of(s, c), cols = cols_of(s, c);
    int all = c + 1 < s->n && rows == s->n, any = 0;
    for (size_t i = c + 1; i < rows; i++) all &= !wgi_expand_is_nothing(s->a[i + c * s->ld]);
    for (size_t j = c + 1; j < cols; j++) any |= !wgi_expand_is_nothing(s->a[c + j * s->ld]);
    wg_real *const pivot = &s->a[c + c * s->ld];
    if (!all || !any) *pivot = wgi_expand_pivot(t, *pivot);
}

static void eliminate_below(wg_tape *t, const band *s, size_t c) {
    for (size_t i = c + 1; i < rows_of(s, c); i++) {
        wg_real *const a = s->a + i;
        if (wgi_expand_is_nothing(a[c * s->ld])) continue;
        const wg_real l = wg_let(t, wg_div(a[c * s->ld], s->a[c + c * s->ld]));
        for (size_t j = c + 1; j < cols_of(s, c); j++)
            a[j * s->ld] = wgi_expand_less(t, a[j * s->ld], l, s->a[c + j * s->ld]);
        for (size_t j = 0; j < s->k; j++)
            s->b[i + j * s->n] = wgi_expand_less(t, s->b[i + j * s->n], l, s->b[c + j * s->n]);
    }
}

/* A becomes its U, b what U X = b belongs to: there is room for `below` more elements above the
 * diagonal. o: NULL, or becomes the order of the rows, and b, of the identity, has it already:
 * of that only columns before c have been changed in more than their diagonal element. */
static void eliminate(wg_tape *t, const band *s, order *o) {
    for (size_t c = 0; c < s->n; c++) {
        bring_pivot(t, s, c, o);
        refuse_nothing(t, s, c);
        eliminate_below(t, s, c);
    }
}

/* b = U^-1 b */
static void substitute(wg_tape *t, const band *s) {
    for (size_t j = 0; j < s->k; j++)
        for (size_t i = s->n; i-- > 0;) {
            wg_real x = s->b[i + j * s->n];
            for (size_t c = i + 1; c < cols_of(s, i); c++)
                x = wgi_expand_less(t, x, s->a[i + c * s->ld], s->b[c + j * s->n]);
            s->b[i + j * s->n] = wg_let(t, wg_div(x, s->a[i + i * s->ld]));
        }
}

void wgi_expand_solve_band(wg_tape *t, size_t n, size_t below, size_t above, wg_real *a,
                           size_t ld, size_t k, wg_real *b) {
    const band s = {n, below, above, ld, k, a, b};
    if (a == NULL || b == NULL) return;
    eliminate(t, &s, NULL);
    substitute(t, &s);
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

static int solve_is_whole(size_t n, size_t k) {
    const wgi_dense_op op = {WGI_DENSE_SOLVE, 0, {n, k, 0}}, lu = {WGI_DENSE_LU, 0, {n, 0, 0}};
    return wgi_dense_flops(&op) + wgi_dense_flops(&lu) > WGI_DENSE_LEAST;
}

void wgi_expand_solve(wg_tape *t, wgi_reals a, int trans, size_t k, wg_real *b) {
    const size_t n = a.rows;
    const wgi_dense_op op = {WGI_DENSE_SOLVE, trans ? WGI_DENSE_TURNED : 0, {n, k, 0}};
    if (a.p == NULL || b == NULL) return;
    if (!solve_is_whole(n, k)) {
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

/* From (P A)^-1, which has zeros that the columns of P do not have: (P A)^-1 P. */
void wgi_expand_inverse(wg_tape *t, wgi_reals a, wg_real *y) {
    const size_t n = a.rows;
    order o;
    if (a.p == NULL || y == NULL) return;
    for (size_t e = 0; e < n * n; e++) y[e] = wg_constant(e % (n + 1) == 0);
    if (solve_is_whole(n, n)) {
        wgi_expand_solve(t, a, 0, n, y);
        return;
    }
    const band s = {n, n, n, n, n, wgi_expand_copied(t, a), y};
    if (s.a == NULL || !order_open(t, n, &o)) return;
    eliminate(t, &s, &o);
    substitute(t, &s);
    for (size_t k = o.count; k-- > 0;)
        for (size_t i = 0; i < n; i++)
            exchange(t, &o.exchange[k], &y[i + o.exchange[k].row * n],
                     &y[i + o.exchange[k].other * n]);
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
        const band all = {n, n, n, n, 0, wgi_expand_copied(t, a), NULL};
        order o;
        u = all.a;
        if (u == NULL || !order_open(t, n, &o)) return;
        eliminate(t, &all, &o);
        s = o.sign;
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

/* ---- determinants ---- */

/* Up to this order they are written out. */
enum { DET_WRITTEN = 4 };

/* Whether the determinant d of a, of order 3 or 4, can be written out, which is compared at
 * every point: no product overflows, and what is lost below the normal numbers, multiplied by
 * up to n - 1 entries, is nothing beside d. Where that is 0 it has to be no normal number, and
 * no pivot may be so small that dividing by it brings it back into derivatives. NaN stays
 * NaN. */
static int det_in_range(wg_tape *t, size_t n, const wg_real *a, wg_real pivots, wg_real d) {
    const double large = n == 3 ? 0x1p660 : 0x1p500;
    wg_real sum = wg_constant(0); /* of squares */
    for (size_t e = 0; e < n * n; e++)
        if (!wgi_expand_is_nothing(a[e])) sum = wg_let(t, wg_add(sum, wg_mul(a[e], a[e])));
    const wg_real power = n == 3 ? sum : wg_let(t, wg_mul(sum, wg_sqrt(sum)));
    const wg_real least = wg_let(t, wg_add(0x1p-960, wg_mul(0x1p-1000, power)));
    const wg_real nothing =
        wg_let(t, wg_mul(0x1p-703, wg_fabs(wg_select_eq(pivots, 0, 1, pivots))));
    const wg_real size = wg_let(t, wg_select_eq(d, 0, nothing, wg_fabs(d)));
    if (sum.value >= large || size.value < least.value) return 0;
    return !wg_ge(t, sum, wg_constant(large)) && !wg_lt(t, size, least);
}

/* The same of order 2, whose derivatives are its entries: infinities are not subtracted. */
static int minor_in_range(wg_tape *t, const wg_real *a) {
    if (wgi_expand_is_nothing(a[0]) || wgi_expand_is_nothing(a[1]) ||
        wgi_expand_is_nothing(a[2]) || wgi_expand_is_nothing(a[3]))
        return 1;
    const wg_real size =
        wg_let(t, wg_fmin(wg_fabs(wg_mul(a[0], a[3])), wg_fabs(wg_mul(a[2], a[1]))));
    return !(size.value >= INFINITY) && !wg_ge(t, size, wg_constant(INFINITY));
}

/* a d - b c */
static wg_real minor_of(wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d) {
    const int nothing = wgi_expand_is_nothing(a) || wgi_expand_is_nothing(d);
    return wgi_expand_less(t, nothing ? wg_constant(0) : wg_let(t, wg_mul(a, d)), b, c);
}

/* Without a division, of order 3 or 4: minors of the first two columns times those of the
 * others. */
static wg_real write_undivided(wg_tape *t, size_t n, const wg_real *a) {
    wg_real d = wg_constant(0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            const wg_real m = minor_of(t, a[i], a[i + n], a[j], a[j + n]);
            const size_t k = i > 0 ? 0 : j > 1 ? 1 : 2, l = 6 - i - j - k; /* the other rows */
            const wg_real *const c = a + 2 * n;
            const wg_real rest = n == 3 ? c[k] : minor_of(t, c[k], c[k + n], c[l], c[l + n]);
            const wg_real x = (i + j) % 2 == 1 ? m : wg_let(t, wg_neg(m));
            d = wgi_expand_plus(t, d, wg_let(t, wg_mul(x, rest)));
        }
    return d;
}

/* Elimination until two rows are left, whose determinant needs no division: that has
 * derivatives at singular matrices, too, and where no pivot is left before there is the other
 * way. *pivots: the product of those, from order 3 on. */
static wg_real write_det(wg_tape *t, size_t n, wg_real *a, wg_real *pivots) {
    const band s = {n, n, n, n, 0, a, NULL};
    wg_real pivot[DET_WRITTEN];
    order o;
    if (n == 0) return wg_constant(1);
    if (n == 1) return a[0];
    if (!order_open(t, n, &o)) return wg_constant(NAN);
    const wg_real other = n > 2 ? write_undivided(t, n, a) : wg_constant(0);
    for (size_t c = 0; c + 2 < n; c++) {
        bring_pivot(t, &s, c, &o);
        pivot[c] = a[c * (n + 1)];
        eliminate_below(t, &s, c);
    }
    const wg_real *const rest = a + (n - 2) * (n + 1);
    wg_real d = minor_of(t, rest[0], rest[n], rest[1], rest[n + 1]);
    if (n == 2) return d;
    for (size_t c = 0; c + 2 < n; c++) d = wg_let(t, wg_mul(d, pivot[c]));
    *pivots = n == 3 ? pivot[0] : wg_let(t, wg_mul(pivot[0], pivot[1]));
    d = wg_let(t, wg_mul(o.sign, d));
    for (size_t c = 0; c + 2 < n; c++) d = wg_let(t, wg_select_eq(pivot[c], 0, other, d));
    return d;
}

/* Squares of a diagonal, and how their product grows. */
typedef struct squares {
    wg_real least, largest, product, low, high;
} squares;

static squares squares_of(wg_tape *t, size_t n, const wg_real *l) {
    const wg_real one = wg_constant(1);
    squares s = {wg_constant(INFINITY), wg_constant(0), one, one, one};
    for (size_t i = 0; i < n; i++) {
        const wg_real square = wg_let(t, wg_square(l[i * (n + 1)]));
        s.least = wg_let(t, wg_fmin(s.least, square));
        s.largest = wg_let(t, wg_fmax(s.largest, square));
        s.product = wg_let(t, wg_mul(s.product, square));
        s.low = wg_let(t, wg_fmin(s.low, s.product));
        s.high = wg_let(t, wg_fmax(s.high, s.product));
    }
    return s;
}

/* Whether the products of the first squares and of the last ones, and what is left of all
 * without two, for derivatives, are normal numbers, which is compared at every point. NaN
 * stays NaN. */
static int squares_in_range(wg_tape *t, const squares *s) {
    const double top = 0x1p1000, bottom = 0x1p-960;
    const wg_real small = wg_let(t, wg_fmin(1, s->least)),
                  large = wg_let(t, wg_fmax(1, s->largest));
    const wg_real up = wg_let(t, wg_div(wg_div(s->product, small), small));
    const wg_real down = wg_let(t, wg_div(wg_div(s->product, large), large));
    const wg_real last_up = wg_let(t, wg_div(s->product, s->low));
    const wg_real last_down = wg_let(t, wg_div(s->product, s->high));
    const wg_real most = wg_let(t, wg_fmax(s->high, wg_fmax(up, last_up)));
    const wg_real least = wg_let(t, wg_fmin(s->low, wg_fmin(down, last_down)));
    if (most.value > top || least.value < bottom) return 0;
    return !wg_gt(t, most, wg_constant(top)) && !wg_lt(t, least, wg_constant(bottom));
}

wg_real wgi_expand_det_spd(wg_tape *t, size_t n, const wg_real *s) {
    const wgi_dense_op op = {WGI_DENSE_DET, 0, {n, 0, 0}};
    const wg_real *const l = wgi_expand_cholesky(t, n, s);
    if (l == NULL || n == 0) return wg_constant(1);
    const squares of = squares_of(t, n, l);
    if (squares_in_range(t, &of)) return of.product;
    const wg_real *const det = whole(t, &op, s);
    if (det == NULL) return of.product;
    return wg_let(t, wg_mul(*det, wgi_expand_good(t, l[n * n - 1])));
}

wg_real wgi_expand_det(wg_tape *t, wgi_reals a) {
    const wgi_dense_op op = {WGI_DENSE_DET, 0, {a.rows, 0, 0}};
    wg_real *const copy = wgi_expand_copied(t, a);
    if (copy == NULL) return wg_constant(NAN);
    if (a.rows <= DET_WRITTEN) {
        const size_t n = a.rows;
        wg_real pivots = wg_constant(1);
        const wg_real d = write_det(t, n, wgi_expand_copied(t, a), &pivots);
        if (n < 2 || (n == 2 ? minor_in_range(t, copy) : det_in_range(t, n, copy, pivots, d)))
            return d;
    }
    const wg_real *const d = whole(t, &op, copy);
    return d != NULL ? *d : wg_constant(NAN);
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

/* 1, or NaN where an element of the diagonal is 0. */
static wg_real good_diagonal(wg_tape *t, wgi_reals a) {
    wg_real good = wg_constant(1);
    for (size_t i = 0; i < a.rows; i++)
        good = wg_let(t, wg_select_ne(wgi_reals_at(a, i, i), 0, good, NAN));
    return good;
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

void wgi_expand_trsm(wg_tape *t, wgi_reals a, int upper, int unit, size_t k, wg_real *x,
                     size_t down, size_t across) {
    const wgi_dense_op op = {WGI_DENSE_TRIANGLE, 0, {a.rows, k, 0}};
    wgi_expand_triangle(t, a, upper, unit, k, x, down, across);
    if (unit || a.p == NULL || x == NULL || is_whole(&op)) return;
    wgi_expand_spoil(t, good_diagonal(t, a), a.rows * k, x);
}

void wgi_expand_cholesky_solve(wg_tape *t, size_t n, const wg_real *l, size_t k, wg_real *b) {
    const wgi_reals a = wgi_reals_packed(l, n, n);
    wgi_expand_triangle(t, a, 0, 0, k, b, 1, n);
    wgi_expand_triangle(t, wgi_reals_turn(a, 1), 1, 0, k, b, 1, n);
}

/* x / y, or x where y is 0. */
static wg_real over(wg_tape *t, wg_real x, wg_real y) {
    return wg_let(t, wg_div(x, wg_select_eq(y, 0, 1, y)));
}

/* c, below row j, is reflected as column v is, of which `length` becomes minus the sign of its
 * element j times its norm. */
static void reflect(wg_tape *t, size_t m, size_t j, const wg_real *v, wg_real length,
                    wg_real *c) {
    const wg_real head = wg_let(t, wg_sub(v[j], length));
    wg_real along = c[j];
    for (size_t i = j + 1; i < m; i++)
        if (!wgi_expand_is_nothing(v[i]) && !wgi_expand_is_nothing(c[i]))
            along = wg_let(t, wg_add(along, wg_mul(over(t, v[i], head), c[i])));
    along = wg_let(t, wg_mul(over(t, head, length), along));
    for (size_t i = j + 1; i < m; i++)
        if (!wgi_expand_is_nothing(v[i]))
            c[i] = wg_let(t, wg_add(c[i], wg_mul(along, over(t, v[i], head))));
}

/* By reflections, as dgeqrf goes: the numbers, without derivatives. A column that is 0 below
 * its diagonal is not reflected, and keeps its sign. */
void wgi_expand_qr_signs(wg_tape *t, wgi_reals a, wg_real *sign) {
    const size_t m = a.rows, n = a.cols;
    wg_real *const h = wgi_expand_copied(t, a);
    if (h == NULL || sign == NULL) return;
    for (size_t e = 0; e < m * n; e++)
        if (!wgi_expand_is_nothing(h[e])) h[e] = wgi_expand_held(t, h[e]);
    for (size_t j = 0; j < n; j++) {
        wg_real *const v = h + j * m;
        size_t below = 0;
        for (size_t i = j + 1; i < m; i++) below += !wgi_expand_is_nothing(v[i]);
        const wg_real of_head = wg_let(t, wg_copysign(1, v[j]));
        sign[j] = of_head;
        if (below == 0) continue;
        const wg_real rest = wg_norm2(t, m - j - 1, v + j + 1);
        sign[j] = wg_let(t, wg_select_eq(rest, 0, of_head, wg_neg(of_head)));
        const wg_real length = wg_let(t, wg_neg(wg_mul(of_head, wg_norm2(t, m - j, v + j))));
        for (size_t k = j + 1; k < n; k++) reflect(t, m, j, v, length, h + k * m);
    }
}

void wgi_expand_qr(wg_tape *t, wgi_reals a, const wg_real *sign, wg_real *q, wg_real *r) {
    const size_t m = a.rows, n = a.cols;
    if (q == NULL || r == NULL) return;
    wgi_expand_copy(a, q);
    if (m == 1 && n == 1) { /* Q has no derivative: none is made of quotients that cancel */
        const wg_real x = *q, one = sign != NULL ? *sign : wg_constant(1);
        *q = wg_let(t, wg_mul(one, wg_select_lt(x, 0, -1, 1)));
        *r = wg_let(t, wg_mul(*q, x));
        return;
    }
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
        r[j + j * n] = wg_norm2(t, m, v);
        if (sign != NULL) r[j + j * n] = wg_let(t, wg_mul(sign[j], r[j + j * n]));
        for (size_t i = 0; i < m; i++) v[i] = wg_let(t, wg_div(v[i], r[j + j * n]));
    }
}

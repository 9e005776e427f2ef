/* SPDX-License-Identifier: MIT */
/* Elementwise operations: every row of scalar.def over matrices, and a few beside them.
 *
 *   y = f(a, b, ...) element by element;  a_ += y_ df/da, summed over what a was stretched
 * along
 *
 * Letters: w the adjoint of the result. A product of an adjoint or tangent with a partial is 0
 * when either is 0. Operands without gaps and of one shape go to a kernel as they are; all
 * others piece by piece, through copies where their elements do not lie next to each other. */
#include "elementwise.h"
#include "expand.h"
#include "tape/engine/code.h"
#include "traits.h"

#include <string.h>
#include <wengert/elementwise.h>
#include <wengert/operation.h>

enum { ARITY = 4, PIECE = 256, LONG = 32 };
enum { GIVEN = WGI_ROWS }; /* in the place of a row: an operation whose address is the params */

static const wg_scalar_op *given(const wg_block *b) {
    return *(const wg_scalar_op *const *)b->params;
}

enum { VALUE = WGI_WAY_VALUE, VJP = WGI_WAY_VJP, JVP = WGI_WAY_JVP };

/* ---- rows without a vector kernel: the scalar table, element by element ---- */

static void by_row_value(size_t n, const wg_block_arg *in, const wg_block_arg *out,
                         double *saved, const void *params) {
    const wg_scalar_op *const op = params;
    (void)saved;
    for (size_t i = 0; i < n; i++) {
        double x[ARITY];
        for (unsigned k = 0; k < op->arity; k++) x[k] = in[k].value[i];
        out->value[i] = op->value(x);
    }
}

static void by_row_vjp(size_t n, const wg_block_arg *in, const wg_block_arg *out, double *saved,
                       const void *params) {
    const wg_scalar_op *const op = params;
    (void)saved;
    for (size_t i = 0; i < n; i++) {
        double x[ARITY], d[ARITY];
        if (out->bar[i] == 0) continue;
        for (unsigned k = 0; k < op->arity; k++) x[k] = in[k].value[i];
        op->first(x, out->value[i], d);
        for (unsigned k = 0; k < op->arity; k++)
            if (in[k].bar != NULL && (op->zero_first >> k & 1) == 0)
                in[k].bar[i] += wgi_times(out->bar[i], d[k]);
    }
}

static void by_row_jvp(size_t n, const wg_block_arg *in, const wg_block_arg *out, double *saved,
                       const void *params) {
    const wg_scalar_op *const op = params;
    (void)saved;
    for (size_t i = 0; i < n; i++) {
        double x[ARITY], d[ARITY], t = 0;
        for (unsigned k = 0; k < op->arity; k++) x[k] = in[k].value[i];
        op->first(x, out->value[i], d);
        for (unsigned k = 0; k < op->arity; k++)
            if (in[k].bar != NULL && (op->zero_first >> k & 1) == 0)
                t += wgi_times(in[k].bar[i], d[k]);
        out->bar[i] = t;
    }
}

const wgi_kernels wgi_by_row = {by_row_value, by_row_vjp, by_row_jvp};

/* ---- operands with gaps, transposed, or stretched ---- */

/* From one row, and from one column of the result to the next; 0 where the operand is
 * stretched.
 */
struct strides {
    size_t down, across;
};

static struct strides strides_of(const wg_block_arg *a, size_t ld) {
    const struct strides s = {a->rows == 1 ? 0
                              : a->trans   ? ld
                                           : 1,
                              a->cols == 1 ? 0
                              : a->trans   ? 1
                                           : ld};
    return s;
}

/* Are n elements from number e on, or all, as far apart as those of a column? */
static int is_line(struct strides s, size_t rows, size_t e, size_t n) {
    return s.across == rows * s.down || e % rows + n <= rows;
}

/* The elements from number e on: where they lie, or if they do not lie together copied to room.
 */
static double *fetch(double *base, struct strides s, size_t rows, size_t e, size_t n,
                     double *room) {
    size_t i = e % rows, j = e / rows;
    if (s.down == 1 && is_line(s, rows, e, n)) return base + i + j * s.across;
    for (size_t k = 0; k < n; i = 0, j++) {
        const double *const from = base + j * s.across;
        const size_t m = rows - i < n - k ? rows - i : n - k;
        if (s.down == 1) memcpy(room + k, from + i, m * sizeof(double));
        else
            for (size_t l = 0; l < m; l++) room[k + l] = from[(i + l) * s.down];
        k += m;
    }
    return room;
}

/* The reverse of it: adds what is in room. */
static void give(double *base, struct strides s, size_t rows, size_t e, size_t n,
                 const double *room) {
    size_t i = e % rows, j = e / rows;
    if (i + n <= rows && s.down == 0) {
        base[j * s.across] += wgi_simd_best()->sum(n, room);
        return;
    }
    for (size_t k = 0; k < n; i = 0, j++) {
        double *const to = base + j * s.across;
        const size_t m = rows - i < n - k ? rows - i : n - k;
        if (s.down == 1) wgi_simd_best()->axpy(m, 1, room + k, to + i);
        else
            for (size_t l = 0; l < m; l++) to[(i + l) * s.down] += room[k + l];
        k += m;
    }
}

/* Pieces of short columns begin with a column: what of a stretched operand goes with the first
 * one goes with all, and its adjoints are summed up in its room. */
static void by_pieces(const wg_block *b, wgi_kernel *f, const void *params, int what) {
    const size_t inputs = b->inputs;
    double room[2 * ARITY][PIECE];
    struct strides value[ARITY], bar[ARITY];
    wg_block_arg in[ARITY], out = b->out[0];
    size_t rows = out.rows, cols = out.cols;
    int together = 1, gaps = 0; /* all that lies in one line or is one number; what does not */
    for (size_t k = 0; k < inputs; k++) {
        in[k] = b->in[k];
        value[k] = strides_of(&in[k], in[k].ld);
        bar[k] = strides_of(&in[k], in[k].bar_ld);
        if (rows == 1) value[k].down = value[k].across, bar[k].down = bar[k].across;
        else {
            const int line =
                value[k].across == rows * value[k].down && bar[k].across == rows * bar[k].down;
            together &= line;
            gaps |= !line && value[k].across != 0;
        }
    }
    if (rows == 1 || together) rows *= cols, cols = 1;
    const size_t all = rows * cols;
    const int aligned = cols > 1 && rows != 0 && rows <= (gaps ? LONG : PIECE / 2);
    const size_t piece = aligned ? PIECE / rows * rows : PIECE,
                 most = all < piece ? all : piece;
    int once[ARITY];
    for (size_t k = 0; k < inputs; k++) once[k] = aligned && value[k].across == 0;
    for (size_t e = 0, n; e < all; e += n) {
        n = all - e < piece ? all - e : piece;
        if (!aligned && n > rows - e % rows) n = rows - e % rows;
        for (size_t k = 0; k < inputs; k++) {
            double *const from = b->in[k].bar;
            if (once[k] && e != 0) continue;
            in[k].value = fetch(b->in[k].value, value[k], rows, e, n, room[2 * k]);
            if (what == VALUE || from == NULL) continue;
            in[k].bar = room[2 * k + 1];
            if (what == JVP || (bar[k].down == 1 && is_line(bar[k], rows, e, n)))
                in[k].bar = fetch(from, bar[k], rows, e, n, in[k].bar);
            else memset(in[k].bar, 0, n * sizeof(double));
        }
        out.value = b->out[0].value + e;
        if (what != VALUE) out.bar = b->out[0].bar + e;
        f(n, in, &out, b->saved != NULL ? (double *)b->saved + e : NULL, params);
        for (size_t k = 0; what == VJP && k < inputs; k++)
            if (in[k].bar == room[2 * k + 1] && !once[k])
                give(b->in[k].bar, bar[k], rows, e, n, in[k].bar);
    }
    for (size_t k = 0; what == VJP && k < inputs; k++)
        if (in[k].bar == room[2 * k + 1] && once[k])
            give(b->in[k].bar, bar[k], rows, 0, most, in[k].bar);
}

/* ---- one call ---- */

static inline int plain(const wg_block_arg *a, size_t rows, size_t cols) {
    return ((a->rows ^ rows) | (a->cols ^ cols) | a->trans) == 0 &&
           (cols <= 1 || ((a->ld ^ rows) | (a->bar_ld ^ rows)) == 0);
}

static inline wg_status run(wg_block *b, wgi_kernel *f, const void *params, int what,
                            size_t arity) {
    const size_t rows = b->out->rows, cols = b->out->cols;
    const wg_block_arg *const in = b->in;
    if (WGI_LIKELY(plain(in, rows, cols) && (arity < 2 || plain(in + 1, rows, cols)) &&
                   (arity < 3 || plain(in + 2, rows, cols)) &&
                   (arity < 4 || plain(in + 3, rows, cols))))
        f(rows * cols, in, b->out, b->saved, params);
    else by_pieces(b, f, params, what);
    return WG_OK;
}

wg_status wgi_elementwise_run(wg_block *b, wgi_kernel *f, wgi_way way) {
    return run(b, f, b->params, (int)way, b->inputs);
}

/* Compiled once per number of operands, which is known there: short vectors are to cost little.
 */
#define CALL(what, WHAT, arity)                                                                \
    static wg_status what##arity(wg_block *b, unsigned row) {                                  \
        wgi_kernel *const f = wgi_simd_best()->row[row].what;                                  \
        if (WGI_LIKELY(f != NULL)) return run(b, f, b->params, WHAT, arity);                   \
        return run(b, wgi_by_row.what, &wgi_scalar_ops[row], WHAT, arity);                     \
    }
#define CALLS(arity) CALL(value, VALUE, arity) CALL(vjp, VJP, arity) CALL(jvp, JVP, arity)
CALLS(1)
CALLS(2)
CALLS(3)
CALLS(4)

const unsigned char wgi_elementwise_keeps[WGI_ROWS] = {
#define V1(...)
#define V2(...)
#define V3(...)
#define V4(...)
#define V1K(name, function) [WGI_ROW_##name] = 1,
#include "ops/scalar/elementwise_simd.def"
#undef V1
#undef V2
#undef V3
#undef V4
#undef V1K
};

/* Dimensions are equal, or 1 and stretched. */
static wg_status stretched(wg_block *b) {
    size_t rows = b->in->rows, cols = b->in->cols;
    for (size_t k = 1; k < b->inputs; k++) {
        const size_t r = b->in[k].rows, c = b->in[k].cols;
        if (rows == 1) rows = r;
        if (cols == 1) cols = c;
        if ((r != rows && r != 1) || (c != cols && c != 1))
            return wgi_block_refuse(b, WG_ESHAPE, "dimensions are neither equal nor 1");
    }
    b->out->rows = rows;
    b->out->cols = cols;
    return WG_OK;
}

static wg_status shape1(wg_block *b, unsigned row) {
    const size_t rows = b->in->rows, cols = b->in->cols;
    b->out->rows = rows;
    b->out->cols = cols;
    if (wgi_elementwise_keeps[row]) {
        if (rows != 0 && cols > SIZE_MAX / 16 / rows) return WG_ENOMEM;
        b->saved_bytes = rows * cols * sizeof(double);
    }
    return WG_OK;
}

/* ---- written out, as a part of a function ---- */

/* A mask has no derivative: neither has the one of select_ne. */
static wg_real written(wg_tape *t, unsigned row, const wg_block *b, const wg_real *x) {
    const double *const p = b->params;
    switch (row) {
    case WGI_ROW_scale:
        return wgi_expand_scaled(t, p[0], x[0]);
    case WGI_ROW_axpby:
        return wg_let(t, wg_add(wg_mul(p[0], x[0]), wg_mul(p[1], x[1])));
    case WGI_ROW_select:
        return wg_let(t, wg_select_ne(x[0], 0, x[1], x[2]));
    case GIVEN:
        return wg_apply_scalar(t, given(b), x);
    default:
        return wg_apply_scalar(t, &wgi_scalar_ops[row], x);
    }
}

static wg_status expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y,
                        unsigned row) {
    wgi_reals a[ARITY];
    wg_real of[ARITY];
    for (size_t k = 0; k < b->inputs; k++) {
        a[k] = wgi_reals_operand(b, x, k);
        if (a[k].rows == 1) a[k].down = 0;
        if (a[k].cols == 1) a[k].across = 0;
    }
    for (size_t j = 0; j < b->out->cols; j++)
        for (size_t i = 0; i < b->out->rows; i++) {
            for (size_t k = 0; k < b->inputs; k++) of[k] = wgi_reals_at(a[k], i, j);
            *y++ = written(t, row, b, of);
        }
    return WG_OK;
}

/* ---- the table ---- */

#define ROW(name, arity, shape_of)                                                             \
    static wg_status name##_shape(wg_block *b) { return shape_of; }                            \
    static wg_status name##_value(wg_block *b) { return value##arity(b, WGI_ROW_##name); }     \
    static wg_status name##_vjp(wg_block *b) { return vjp##arity(b, WGI_ROW_##name); }         \
    static wg_status name##_jvp(wg_block *b) { return jvp##arity(b, WGI_ROW_##name); }         \
    static wg_status name##_expand(wg_tape *t, const wg_block *b, const wg_real *x,            \
                                   wg_real *y) {                                               \
        return expand(t, b, x, y, WGI_ROW_##name);                                             \
    }
#define OP1(name, ...) ROW(name, 1, shape1(b, WGI_ROW_##name))
#define OP2(name, ...) ROW(name, 2, stretched(b))
#define OP3(name, ...) ROW(name, 3, stretched(b))
#define OP4(name, ...) ROW(name, 4, stretched(b))
#include "ops/scalar/scalar.def"
OP1(scale, "p0 a")
OP2(axpby, "p0 a + p1 b")
OP3(select, "by mask")
#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef ROW

static const wgi_traits row_traits[WGI_ROWS] = {
#define OP1(name, ...)                                                                         \
    [WGI_ROW_##name] = {.row = &wgi_scalar_ops[WGI_ROW_##name],                                \
                        .bilinear = WGI_ROW_##name == WGI_ROW_mul ? 3 : 0},
#define OP2 OP1
#define OP3 OP1
#define OP4 OP1
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
};

#define ROW(name, more)                                                                        \
    {"wg_mat_" #name,                                                                          \
     WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_EACH | WG_OP_EXPANDS | (more),                      \
     name##_shape,                                                                             \
     name##_value,                                                                             \
     name##_vjp,                                                                               \
     name##_jvp,                                                                               \
     name##_expand,                                                                            \
     NULL,                                                                                     \
     &row_traits[WGI_ROW_##name]},
#define OP1(name, ...) ROW(name, 0)
#define OP2 OP1
#define OP3 OP1
#define OP4 OP1
const wg_block_op wgi_elementwise_ops[WGI_ROWS] = {
#include "ops/scalar/scalar.def"
    ROW(scale, WG_OP_LINEAR) ROW(axpby, WG_OP_LINEAR) ROW(select, WG_OP_LINEAR)};
#undef ROW
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* ---- wrappers ---- */

static wg_mat apply(wg_tape *t, unsigned row, const void *params, size_t bytes, size_t inputs,
                    const wg_mat *in) {
    return wgi_apply_one(t, &wgi_elementwise_ops[row], params, bytes, inputs, in);
}

/* In parentheses: some of the names are macros of elementwise.h, too. */
#define OP1(name, ...)                                                                         \
    wg_mat(wg_mat_##name)(wg_tape * t, wg_mat a) {                                             \
        return apply(t, WGI_ROW_##name, NULL, 0, 1, &a);                                       \
    }
#define OP2(name, ...)                                                                         \
    wg_mat(wg_mat_##name)(wg_tape * t, wg_mat a, wg_mat b) {                                   \
        const wg_mat in[] = {a, b};                                                            \
        return apply(t, WGI_ROW_##name, NULL, 0, 2, in);                                       \
    }
#define OP3(name, ...)                                                                         \
    wg_mat(wg_mat_##name)(wg_tape * t, wg_mat a, wg_mat b, wg_mat c) {                         \
        const wg_mat in[] = {a, b, c};                                                         \
        return apply(t, WGI_ROW_##name, NULL, 0, 3, in);                                       \
    }
#define OP4(name, ...)                                                                         \
    wg_mat(wg_mat_##name)(wg_tape * t, wg_mat a, wg_mat b, wg_mat c, wg_mat d) {               \
        const wg_mat in[] = {a, b, c, d};                                                      \
        return apply(t, WGI_ROW_##name, NULL, 0, 4, in);                                       \
    }
#include "ops/scalar/scalar.def"
OP3(select, "by mask")

wg_mat wg_mat_scale(wg_tape *t, double c, wg_mat a) {
    return apply(t, WGI_ROW_scale, &c, sizeof c, 1, &a);
}

wg_mat wg_mat_axpby(wg_tape *t, double c, wg_mat a, double d, wg_mat b) {
    const double params[] = {c, d};
    const wg_mat in[] = {a, b};
    return apply(t, WGI_ROW_axpby, params, sizeof params, 2, in);
}

/* ---- an operation of the user's ---- */

static wg_status given_value(wg_block *b) {
    return run(b, by_row_value, given(b), VALUE, b->inputs);
}
static wg_status given_vjp(wg_block *b) { return run(b, by_row_vjp, given(b), VJP, b->inputs); }
static wg_status given_jvp(wg_block *b) { return run(b, by_row_jvp, given(b), JVP, b->inputs); }
static wg_status given_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    return expand(t, b, x, y, GIVEN);
}

/* What is missing of an operation; NULL: nothing. */
static const char *missing(const wg_scalar_op *op, const wg_mat *in) {
    if (op == NULL || in == NULL) return "operation, or array of operands,";
    if (op->name == NULL) return "name of the operation";
    return op->value == NULL   ? "value of the operation"
           : op->first == NULL ? "first of the operation"
                               : NULL;
}

wg_mat wg_mat_apply_scalar(wg_tape *t, const wg_scalar_op *op, const wg_mat *in) {
    static const wgi_traits traits = {.row_given = 1};
    static const wg_block_op own = {"wg_mat_apply_scalar",
                                    WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_EACH | WG_OP_EXPANDS,
                                    stretched,
                                    given_value,
                                    given_vjp,
                                    given_jvp,
                                    given_expand,
                                    NULL,
                                    &traits};
    wg_mat y = wg_mat_failed(0, 0);
    const char *const lacks = missing(op, in);
    if (lacks != NULL || op->arity - 1 >= ARITY) {
        if (t == NULL) return y;
        wgi_core *const c = wgi_core_of(t);
        (void)(lacks != NULL
                   ? wgi_fail(c, WG_ENULL, "wg_mat_apply_scalar: the %s is NULL", lacks)
                   : wgi_fail(c, WG_EARG, "wg_mat_apply_scalar: %s has %u operands, not 1 to 4",
                              op->name, op->arity));
        return y;
    }
    if (!wgi_is_users(op))
        return apply(t, (unsigned)(op - wgi_scalar_ops), NULL, 0, op->arity, in);
    return wgi_apply_one(t, &own, &op, sizeof op, op->arity, in);
}

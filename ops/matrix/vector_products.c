/* SPDX-License-Identifier: MIT */
/* Vectors scaled and added, and products whose result is a number: inner products, traces,
 * quadratic forms.
 *
 * Letters: x, y operands, A a square matrix, alpha a number; w adjoint of the result; at, xt
 * tangents, ab, xb adjoints. */
#include <wengert/elementwise.h>
#include "products.h"
#include "traits.h"

#include <wengert/elementwise.h>

/* ---- axpy, scaling by a variable ---- */

/* alpha x + y. In: x, y where `plus`, alpha where `real`. */
struct scaling {
    double alpha;
    int plus, real;
};
static const struct scaling *scaling_of(const wg_block *b) {
    return (const struct scaling *)b->params;
}
static const wg_block_arg *scaling_alpha(const wg_block *b) {
    return scaling_of(b)->real ? &b->in[b->inputs - 1] : NULL;
}
static double scaling_number(const wg_block *b) {
    return scaling_of(b)->real ? scaling_alpha(b)->value[0] : scaling_of(b)->alpha;
}

static wg_status scaling_shape(wg_block *b) {
    if (scaling_of(b)->plus &&
        (b->in[0].rows != b->in[1].rows || b->in[0].cols != b->in[1].cols))
        return wgi_block_refuse(b, WG_ESHAPE, "unequal shapes");
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = b->in[0].cols;
    return WG_OK;
}

static wg_status scaling_value(wg_block *b) {
    const struct scaling *const p = scaling_of(b);
    const wgi_view to = wgi_products_result(b);
    if (p->plus && !p->real && p->alpha == 0) { /* as it is, with the signs of its zeros */
        wgi_view_set(1, wgi_view_value(&b->in[1]), to);
        return WG_OK;
    }
    wgi_view_set(scaling_number(b), wgi_view_value(&b->in[0]), to);
    if (p->plus) wgi_view_add(1, wgi_view_value(&b->in[1]), to);
    return WG_OK;
}

static wg_status scaling_vjp(wg_block *b) {
    const wgi_view w = wgi_products_bar(b);
    if (b->in[0].bar != NULL) wgi_view_add(scaling_number(b), w, wgi_view_bar(&b->in[0]));
    if (scaling_of(b)->plus && b->in[1].bar != NULL)
        wgi_view_add(1, w, wgi_view_bar(&b->in[1]));
    if (scaling_of(b)->real && scaling_alpha(b)->bar != NULL)
        scaling_alpha(b)->bar[0] += wgi_view_inner(w, wgi_view_value(&b->in[0]));
    return WG_OK;
}

static wg_status scaling_jvp(wg_block *b) {
    const wgi_view y = wgi_products_bar(b);
    if (b->in[0].bar != NULL) wgi_view_set(scaling_number(b), wgi_view_bar(&b->in[0]), y);
    else wgi_view_clear(y);
    if (scaling_of(b)->plus && b->in[1].bar != NULL)
        wgi_view_add(1, wgi_view_bar(&b->in[1]), y);
    if (scaling_of(b)->real && scaling_alpha(b)->bar != NULL)
        wgi_view_add(scaling_alpha(b)->bar[0], wgi_view_value(&b->in[0]), y);
    return WG_OK;
}

static wg_status scaling_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct scaling *const p = scaling_of(b);
    const wg_real alpha =
        p->real ? *wgi_reals_operand(b, x, b->inputs - 1).p : wg_constant(p->alpha);
    const int product = !wgi_expand_is_nothing(alpha); /* 0 times infinity is 0, as in BLAS */
    for (size_t e = 0, n = wgi_length(&b->in[0]); e < n; e++) {
        y[e] = product ? wg_let(t, wg_mul(alpha, x[e])) : wg_constant(0);
        if (p->plus) y[e] = wgi_expand_plus(t, y[e], x[n + e]);
    }
    return WG_OK;
}

/* Those of a variable are products. */
static const wgi_traits axpy_real_traits = {.bilinear = 5}, scale_real_traits = {.bilinear = 3};

#define SCALING(name, more, traits)                                                            \
    const wg_block_op wgi_op_##name = {"wg_" #name,    WG_OP_TRANS | WG_OP_EXPANDS | (more),   \
                                       scaling_shape,  scaling_value,                          \
                                       scaling_vjp,    scaling_jvp,                            \
                                       scaling_expand, NULL,                                   \
                                       traits}
SCALING(axpy, WG_OP_LINEAR, NULL);
SCALING(axpy_real, 0, &axpy_real_traits);
SCALING(mat_scale_real, 0, &scale_real_traits);

wg_mat wg_axpy(wg_tape *t, double alpha, wg_mat x, wg_mat y) {
    const struct scaling p = {alpha, 1, 0};
    const wg_mat in[2] = {x, y};
    return wgi_apply_one(t, &wgi_op_axpy, &p, sizeof p, 2, in);
}
wg_mat wg_axpy_real(wg_tape *t, wg_real alpha, wg_mat x, wg_mat y) {
    const struct scaling p = {0, 1, 1};
    const wg_mat in[3] = {x, y, wg_mat_gather(t, 1, 1, &alpha)};
    return wgi_apply_one(t, &wgi_op_axpy_real, &p, sizeof p, 3, in);
}
wg_mat wg_mat_scale_real(wg_tape *t, wg_real alpha, wg_mat x) {
    const struct scaling p = {0, 0, 1};
    const wg_mat in[2] = {x, wg_mat_gather(t, 1, 1, &alpha)};
    return wgi_apply_one(t, &wgi_op_mat_scale_real, &p, sizeof p, 2, in);
}

/* ---- scalar results ---- */

/* The only element of a 1 x 1 result. */
static wg_real scalar(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                      size_t inputs, const wg_mat *in) {
    return wg_mat_at(wgi_apply_one(t, op, params, bytes, inputs, in), 0, 0);
}

/* sum x y; the second operand transposed where params (an int) say so, vectors lying either
 * way. */
static wgi_view dot_side(const wg_block *b, unsigned i, wgi_view a) {
    const int turn = *(const int *)b->params;
    if (!turn && wgi_is_vector(&b->in[0]) && wgi_is_vector(&b->in[1]))
        return wgi_view_column(a);
    return wgi_view_turn(a, turn && i == 1);
}

static wg_status dot_shape(wg_block *b) {
    const wgi_view x = dot_side(b, 0, wgi_view_value(&b->in[0]));
    const wgi_view y = dot_side(b, 1, wgi_view_value(&b->in[1]));
    if (x.rows != y.rows || x.cols != y.cols) return wgi_block_refuse(b, WG_ESHAPE, NULL);
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}

static wg_status dot_value(wg_block *b) {
    b->out[0].value[0] = wgi_view_inner(dot_side(b, 0, wgi_view_value(&b->in[0])),
                                        dot_side(b, 1, wgi_view_value(&b->in[1])));
    return WG_OK;
}

static wg_status dot_vjp(wg_block *b) {
    const double w = b->out[0].bar[0];
    for (unsigned i = 0; i < 2; i++)
        if (b->in[i].bar != NULL)
            wgi_view_add(w, dot_side(b, 1 - i, wgi_view_value(&b->in[1 - i])),
                         dot_side(b, i, wgi_view_bar(&b->in[i])));
    return WG_OK;
}

static wg_status dot_jvp(wg_block *b) {
    double sum = 0;
    for (unsigned i = 0; i < 2; i++)
        if (b->in[i].bar != NULL)
            sum += wgi_view_inner(dot_side(b, i, wgi_view_bar(&b->in[i])),
                                  dot_side(b, 1 - i, wgi_view_value(&b->in[1 - i])));
    b->out[0].bar[0] = sum;
    return WG_OK;
}

/* Vectors lie in one way only when taken element after element. */
static wg_status dot_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals u = wgi_reals_operand(b, x, 0);
    const wgi_reals v = wgi_reals_turn(wgi_reals_operand(b, x, 1), *(const int *)b->params);
    *y = wg_constant(0);
    if (*(const int *)b->params == 0) *y = wgi_expand_dot(t, u.rows * u.cols, u.p, 1, v.p, 1);
    for (size_t j = 0; j < u.cols && *(const int *)b->params != 0; j++)
        *y = wgi_expand_plus(
            t, *y,
            wgi_expand_dot(t, u.rows, u.p + j * u.across, u.down, v.p + j * v.across, v.down));
    return WG_OK;
}

static const wgi_traits dot_traits = {.inner = 1, .bilinear = 3},
                        trace_traits = {.bilinear = 3};

const wg_block_op wgi_op_dot = {"wg_mat_dot", WG_OP_TRANS | WG_OP_EXPANDS,
                                dot_shape,    dot_value,
                                dot_vjp,      dot_jvp,
                                dot_expand,   NULL,
                                &dot_traits};
const wg_block_op wgi_op_trace_product = {"wg_trace_product",
                                          WG_OP_TRANS | WG_OP_EXPANDS,
                                          dot_shape,
                                          dot_value,
                                          dot_vjp,
                                          dot_jvp,
                                          dot_expand,
                                          NULL,
                                          &trace_traits};

wg_real wg_mat_dot(wg_tape *t, wg_mat x, wg_mat y) {
    const wg_mat in[2] = {x, y};
    const int turn = 0;
    return scalar(t, &wgi_op_dot, &turn, sizeof turn, 2, in);
}
wg_real wg_trace_product(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_mat in[2] = {a, b};
    const int turn = 1;
    return scalar(t, &wgi_op_trace_product, &turn, sizeof turn, 2, in);
}

static wg_status trace_shape(wg_block *b) {
    if (b->in[0].rows != b->in[0].cols) return wgi_block_refuse(b, WG_ESHAPE, "not square");
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}

static double trace(wgi_view a) {
    double sum = 0;
    for (size_t i = 0; i < a.rows; i++) sum += a.p[i * (a.ld + 1)];
    return sum;
}

static wg_status trace_value(wg_block *b) {
    b->out[0].value[0] = trace(wgi_view_value(&b->in[0]));
    return WG_OK;
}
static wg_status trace_vjp(wg_block *b) {
    const wgi_view a = wgi_view_bar(&b->in[0]);
    for (size_t i = 0; i < a.rows; i++) a.p[i * (a.ld + 1)] += b->out[0].bar[0];
    return WG_OK;
}
static wg_status trace_jvp(wg_block *b) {
    b->out[0].bar[0] = trace(wgi_view_bar(&b->in[0]));
    return WG_OK;
}

static wg_status trace_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    *y = wg_constant(0);
    for (size_t i = 0; i < n; i++) *y = wgi_expand_plus(t, *y, x[i * (n + 1)]);
    return WG_OK;
}

const wg_block_op wgi_op_trace = {"wg_trace",   WG_OP_TRANS | WG_OP_LINEAR | WG_OP_EXPANDS,
                                  trace_shape,  trace_value,
                                  trace_vjp,    trace_jvp,
                                  trace_expand, NULL,
                                  NULL};

wg_real wg_trace(wg_tape *t, wg_mat a) { return scalar(t, &wgi_op_trace, NULL, 0, 1, &a); }

/* In: A, x. */
static wg_status quadform_shape(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    if (a->rows != a->cols) return wgi_block_refuse(b, WG_ESHAPE, "not square");
    if (!wgi_is_vector(&b->in[1]))
        return wgi_block_refuse(b, WG_ESHAPE, "a vector is one row or one column");
    if (wgi_length(&b->in[1]) != a->rows)
        return wgi_block_refuse(b, WG_ESHAPE, "inner dimensions differ");
    b->out[0].rows = b->out[0].cols = 1;
    b->work_bytes = a->rows * sizeof(double);
    return WG_OK;
}

static wgi_view quadform_x(const wg_block *b) {
    return wgi_view_column(wgi_view_value(&b->in[1]));
}

/* A x in the workspace. */
static wgi_view quadform_ax(const wg_block *b, wgi_view a) {
    const wgi_view r = wgi_view_packed((double *)b->work, a.rows, 1);
    wgi_view_clear(r);
    wgi_view_mul(1, a, quadform_x(b), r);
    return r;
}

static wg_status quadform_value(wg_block *b) {
    b->out[0].value[0] =
        wgi_view_inner(quadform_ax(b, wgi_view_value(&b->in[0])), quadform_x(b));
    return WG_OK;
}

static wg_status quadform_vjp(wg_block *b) {
    const double w = b->out[0].bar[0];
    const wgi_view a = wgi_view_value(&b->in[0]), x = quadform_x(b);
    if (b->in[0].bar != NULL)
        wgi_view_mul(w, x, wgi_view_transposed(x), wgi_view_bar(&b->in[0]));
    if (b->in[1].bar != NULL) {
        const wgi_view xb = wgi_view_column(wgi_view_bar(&b->in[1]));
        wgi_view_mul(w, a, x, xb);
        wgi_view_mul(w, wgi_view_transposed(a), x, xb);
    }
    return WG_OK;
}

static wg_status quadform_jvp(wg_block *b) {
    const wgi_view a = wgi_view_value(&b->in[0]), x = quadform_x(b);
    double sum = 0;
    if (b->in[0].bar != NULL) sum += wgi_view_inner(quadform_ax(b, wgi_view_bar(&b->in[0])), x);
    if (b->in[1].bar != NULL) {
        const wgi_view xt = wgi_view_column(wgi_view_bar(&b->in[1]));
        sum += wgi_view_inner(quadform_ax(b, a), xt);
        sum += wgi_view_inner(quadform_ax(b, wgi_view_transposed(a)), xt);
    }
    b->out[0].bar[0] = sum;
    return WG_OK;
}

static wg_status quadform_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals a = wgi_reals_operand(b, x, 0),
                    v = wgi_reals_column(wgi_reals_operand(b, x, 1));
    wg_real *const r = wgi_expand_room(t, a.rows);
    if (r == NULL) return wg_tape_status(t);
    wgi_expand_mul(t, a, v, r);
    *y = wgi_expand_dot(t, a.rows, r, 1, v.p, v.down);
    return WG_OK;
}

/* A_ = w x x',  x_ = w (A + A') x */
static wg_status quadform_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    const int turned = in[1].cols != 1;
    const wg_mat x = turned ? wg_mat_transpose(in[1]) : in[1], wx = wg_mat_mul(t, bar[0], x);
    (void)b, (void)out;
    back[0] = wg_gemm(t, 'N', 'T', 1, wx, x, 0, x);
    const wg_mat xw = wg_gemm(t, 'T', 'N', 1, in[0], wx, 1, wg_matmul(t, in[0], wx));
    back[1] = turned ? wg_mat_transpose(xw) : xw;
    return wg_tape_status(t);
}

const wg_block_op wgi_op_quadform = {"wg_quadform",
                                     WG_OP_TRANS | WG_OP_EXPANDS,
                                     quadform_shape,
                                     quadform_value,
                                     quadform_vjp,
                                     quadform_jvp,
                                     quadform_expand,
                                     quadform_adjoint,
                                     NULL};

wg_real wg_quadform(wg_tape *t, wg_mat a, wg_mat x) {
    const wg_mat in[2] = {a, x};
    return scalar(t, &wgi_op_quadform, NULL, 0, 2, in);
}

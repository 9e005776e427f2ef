/* SPDX-License-Identifier: MIT */
/* What derivatives of eigenvalues and singular values are made of in functions, where whether
 * two of them are one is asked at each point: quotients by their differences, and first
 * derivatives that have no second ones there. */
#include "call.h"
#include "expand.h"
#include "spectral.h"

#include <math.h>
#include <stdlib.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/reduce.h>

/* ---- quotients by differences of eigenvalues, or singular values ---- */

static wg_status over_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}
static wg_status over_value(wg_block *b) {
    const wg_block_arg *const top = &b->in[0], *const by = &b->in[1];
    for (size_t j = 0; j < top->cols; j++)
        for (size_t i = 0; i < top->rows; i++)
            b->out[0].value[i + j * top->rows] =
                top->value[i + j * top->ld] /
                by->value[(by->rows == 1 ? 0 : i) + (by->cols == 1 ? 0 : j) * by->ld];
    return WG_OK;
}
/* It is never swept: in a function it is taken apart. */
static wg_status over_vjp(wg_block *b) {
    return wgi_block_refuse(b, WG_EMODE, "quotients of functions");
}
static wg_status over_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals top = wgi_reals_operand(b, x, 0), by = wgi_reals_operand(b, x, 1);
    const wgi_reals w = wgi_reals_operand(b, x, 2);
    wg_real *const to = wgi_reals_result(b, y, 0);
    const int differences = *(const int *)b->params;
    if (w.rows == 0) return WG_OK;
    const wg_real ends = wg_let(
        t, wg_fmax(wg_fabs(wgi_reals_at(w, 0, 0)), wg_fabs(wgi_reals_at(w, w.rows - 1, 0))));
    const wg_real near = wg_let(t, wg_mul(WGI_SPECTRAL_NEAR, ends));
    for (size_t j = 0; j < top.cols; j++)
        for (size_t i = 0; i < top.rows; i++) {
            if (differences && i == j) {
                to[i + j * top.rows] = wg_constant(0);
                continue;
            }
            const wg_real d = wgi_reals_at(by, by.rows == 1 ? 0 : i, by.cols == 1 ? 0 : j);
            const wg_real over = wg_let(t, wg_sub(wg_fabs(d), near));
            const wg_real factor = wg_let(t, wg_div(wgi_expand_good(t, over), d));
            const wg_real of[2] = {wgi_reals_at(top, i, j), factor};
            to[i + j * top.rows] = wg_apply_scalar(t, wgi_expand_times, of);
        }
    return WG_OK;
}

wg_mat wgi_spectral_over(wg_tape *t, wg_mat top, wg_mat by, wg_mat w, int differences) {
    static const wg_block_op op = {"quotients by differences",
                                   WG_OP_EXPANDS,
                                   over_shape,
                                   over_value,
                                   over_vjp,
                                   NULL,
                                   over_expand,
                                   NULL,
                                   NULL};
    const wg_mat in[3] = {top, by, w};
    return wgi_apply_one(t, &op, &differences, sizeof differences, 3, in);
}

wg_mat wgi_spectral_quotient(wg_tape *t, wg_mat top, wg_mat by, wg_mat w) {
    enum { FAR = 300, LEAST = -1000 };
    const double largest = fmax(fabs(w.value[0]), fabs(w.value[w.rows - 1]));
    const int e = largest > 0 && largest < INFINITY ? ilogb(largest) : 0;
    if (abs(e) > FAR) {
        const double unit = ldexp(1, e < LEAST ? -LEAST : -e);
        top = wg_mat_scale(t, unit, top), by = wg_mat_scale(t, unit, by);
    }
    return wg_mat_div(t, top, by);
}

/* ---- first derivatives that have no second ones ---- */

static wg_status once_value(wg_block *b) {
    wgi_spectral_copy(b->in[0].rows, b->in[0].cols, b->in[0].value, b->in[0].ld,
                      b->out[0].value);
    return WG_OK;
}
static wg_status once_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals to = wgi_reals_operand(b, x, 0), a = wgi_reals_operand(b, x, 1);
    const wg_real q = wgi_reals_at(wgi_reals_operand(b, x, 2), 0, 0);
    wg_real nothing = wg_constant(0); /* it moves with every element of a */
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) {
            const wg_real e = wgi_reals_at(a, i, j);
            const wg_real of[2] = {wg_let(t, wg_sub(e, wgi_expand_held(t, e))), q};
            nothing = wgi_expand_plus(t, nothing, wg_apply_scalar(t, wgi_expand_times, of));
        }
    for (size_t j = 0; j < to.cols; j++)
        for (size_t i = 0; i < to.rows; i++)
            *y++ = wg_let(t, wg_add(wgi_reals_at(to, i, j), nothing));
    return WG_OK;
}

wg_mat wgi_spectral_once(wg_tape *t, wg_mat y, wg_mat a, wg_mat q) {
    static const wg_block_op op = {.name = "first derivatives of values",
                                   .flags = WG_OP_EXPANDS,
                                   .shape = over_shape,
                                   .value = once_value,
                                   .vjp = over_vjp,
                                   .expand = once_expand};
    const wg_mat in[3] = {y, a, q};
    return wgi_apply_one(t, &op, NULL, 0, 3, in);
}

wg_mat wgi_spectral_unit(wg_tape *t, wg_mat a) {
    const wg_real most = wg_mat_max(t, a);
    return wg_mat_from_real(
        t, wg_let(t, wg_exp2(wg_floor(wg_log2(wg_clamp(most, DBL_MIN, 0x1p1023))))));
}

wg_mat wgi_spectral_apart(wg_tape *t, wg_mat w, int zero) {
    const size_t n = w.rows;
    const wg_real first = wg_mat_at(w, 0, 0), last = wg_mat_at(w, n - 1, 0);
    const wg_real near =
        wg_let(t, wg_mul(WGI_SPECTRAL_NEAR, wg_fmax(wg_fabs(first), wg_fabs(last))));
    wg_real q = wg_constant(0);
    if (zero) q = wg_let(t, wg_sub(wgi_expand_good(t, wg_let(t, wg_sub(last, near))), 1));
    for (size_t i = 1; i < n; i++) {
        const wg_real gap = wg_let(
            t, wg_sub(wg_fabs(wg_sub(wg_mat_at(w, i, 0), wg_mat_at(w, i - 1, 0))), near));
        q = wg_let(t, wg_add(q, wg_sub(wgi_expand_good(t, gap), 1)));
    }
    return wg_mat_from_real(t, q);
}

/* SPDX-License-Identifier: MIT */
/* Functions of the user's own of one number: wg_mat_map, and the operation on one element, which
 * functions keep as a node (whole.h). The numbers of that are the members of `mapped`, and those
 * of its slope are the same, one place further. */
#include "elementwise.h"
#include "traits.h"
#include "whole.h"

#include <string.h>
#include <wengert/elementwise.h>

/* params of wg_mat_map: f, its slope, that of the slope or NULL, and what goes to all of
 * them. */
typedef struct mapped {
    wg_map_fn *f, *d, *dd;
    void *ctx;
} mapped;

static mapped mapped_of(const void *params) {
    mapped m;
    memcpy(&m, params, sizeof m);
    return m;
}

static wg_status shape(wg_block *b) {
    b->out->rows = b->in->rows, b->out->cols = b->in->cols;
    return WG_OK;
}

static wg_status value(wg_block *b) {
    const mapped m = mapped_of(b->params);
    b->out->value[0] = m.f(m.ctx, b->in->value[0]);
    return WG_OK;
}

/* It is never swept: in a function it has a rule of its own. */
static wg_status vjp(wg_block *b) {
    return wgi_block_refuse(b, WG_EMODE, "an element of a map is swept on no tape");
}

static int slope(const double *number, double *to) {
    const mapped m = mapped_of(number), of = {m.d, m.dd, NULL, m.ctx};
    memcpy(to, &of, sizeof of);
    return m.d != NULL;
}

enum { NUMBERS = sizeof(mapped) / sizeof(double) };
_Static_assert(sizeof(mapped) == NUMBERS * sizeof(double), "addresses are as long as numbers");

static const wg_block_op element;
const wgi_whole wgi_whole_mapped = {&element, "11", "11", NULL, NULL, 0, NUMBERS, 0};
static const wgi_traits traits = {.whole = &wgi_whole_mapped, .own = 1, .slope = slope};
static const wg_block_op element = {
    .name = "wg_mat_map", .shape = shape, .value = value, .vjp = vjp, .traits = &traits};

/* As many operations on one element. */
static wg_status map_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    for (size_t e = 0; e < b->in->rows * b->in->cols; e++) {
        const wg_mat a = wg_mat_from_real(t, x[e]);
        wg_mat out;
        const wg_status s = wg_apply(t, &element, b->params, sizeof(mapped), 1, &a, 1, &out);
        if (s != WG_OK) return s;
        y[e] = wg_mat_at(out, 0, 0);
    }
    return WG_OK;
}

/* ---- on tapes, element by element ---- */

static void map_value(size_t n, const wg_block_arg *in, const wg_block_arg *out, double *saved,
                      const void *params) {
    const mapped *const m = params;
    (void)saved;
    for (size_t i = 0; i < n; i++) out->value[i] = m->f(m->ctx, in->value[i]);
}

static void map_vjp(size_t n, const wg_block_arg *in, const wg_block_arg *out, double *saved,
                    const void *params) {
    const mapped *const m = params;
    (void)saved;
    for (size_t i = 0; i < n; i++)
        if (out->bar[i] != 0) in->bar[i] += wgi_times(out->bar[i], m->d(m->ctx, in->value[i]));
}

static void map_jvp(size_t n, const wg_block_arg *in, const wg_block_arg *out, double *saved,
                    const void *params) {
    const mapped *const m = params;
    (void)saved;
    for (size_t i = 0; i < n; i++)
        out->bar[i] = in->bar[i] != 0 ? wgi_times(in->bar[i], m->d(m->ctx, in->value[i])) : 0.0;
}

static wg_status map_shape(wg_block *b) {
    const mapped *const m = b->params;
    b->out->rows = b->in->rows;
    b->out->cols = b->in->cols;
    return m->f != NULL && m->d != NULL ? WG_OK : WG_ENULL;
}
static wg_status map_run_value(wg_block *b) {
    return wgi_elementwise_run(b, map_value, WGI_WAY_VALUE);
}
static wg_status map_run_vjp(wg_block *b) {
    return wgi_elementwise_run(b, map_vjp, WGI_WAY_VJP);
}
static wg_status map_run_jvp(wg_block *b) {
    return wgi_elementwise_run(b, map_jvp, WGI_WAY_JVP);
}

/* a_ += d(a) o y_ */
static wg_status map_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    const mapped *const m = b->params;
    (void)out;
    back[0] = wg_mat_mul(t, wg_mat_map(t, m->d, m->dd, m->ctx, in[0]), bar[0]);
    return wg_tape_status(t);
}

#define MAP(call, adjoint)                                                                     \
    {                                                                                          \
        call, WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_EACH | WG_OP_EXPANDS, map_shape,           \
            map_run_value, map_run_vjp, map_run_jvp, map_expand, adjoint, NULL                 \
    }

wg_mat wg_mat_map(wg_tape *t, wg_map_fn *f, wg_map_fn *d, void *ctx, wg_mat a) {
    static const wg_block_op op = MAP("wg_mat_map", NULL);
    const mapped params = {f, d, NULL, ctx};
    return wgi_apply_one(t, &op, &params, sizeof params, 1, &a);
}

wg_mat wg_mat_map_twice(wg_tape *t, wg_map_fn *f, wg_map_fn *d, wg_map_fn *dd, void *ctx,
                        wg_mat a) {
    static const wg_block_op op = MAP("wg_mat_map_twice", map_adjoint);
    const mapped params = {f, dd != NULL ? d : NULL, dd, ctx};
    return wgi_apply_one(t, &op, &params, sizeof params, 1, &a);
}

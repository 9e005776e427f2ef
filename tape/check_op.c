/* SPDX-License-Identifier: MIT */
/* The check of a block operation: its operands become the inputs of a function, its results the
 * outputs, and that function goes through wg_check_gradient on a tape of its own; then through a
 * look at what the flags of the operation say of its Jacobian. */
#include "tape.h"

#include <math.h>
#include <string.h>
#include <wengert/sparsity.h>

typedef struct checked_op {
    const wg_block_op *op;
    const void *params;
    size_t bytes, inputs, outputs;
    const wg_mat *in;
    int all; /* every operand is a variable, since none was */
} checked_op;

static size_t length_of(const wg_mat *a) { return a->trans ? a->cols : a->rows; }
static size_t columns_of(const wg_mat *a) { return a->trans ? a->rows : a->cols; }
static int is_variable(const checked_op *k, size_t i) {
    return k->all || k->in[i].at.slot != 0;
}

/* y = op(x), elements column after column; operands that are constants are not in x. */
static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const checked_op *const k = data;
    wg_mat in[WGI_MAX_ARGS], out[WGI_MAX_ARGS];
    const wg_real *const end = x + n;
    for (size_t i = 0; i < k->inputs; i++) {
        const wg_mat *const a = &k->in[i];
        const size_t length = length_of(a), columns = columns_of(a);
        if (is_variable(k, i)) {
            if ((size_t)(end - x) < length * columns) return WG_ESHAPE;
            in[i] = wg_mat_gather(t, length, columns, x);
            x += length * columns;
        } else {
            in[i] = wg_mat_constant(t, length, columns, a->value, a->ld);
        }
        if (a->trans) in[i] = wg_mat_transpose(in[i]);
    }
    const wg_status s = wg_apply(t, k->op, k->params, k->bytes, k->inputs, in, k->outputs, out);
    if (s != WG_OK) return s;
    size_t e = 0;
    for (size_t o = 0; o < k->outputs; o++)
        for (size_t j = 0; j < out[o].cols; j++)
            for (size_t i = 0; i < out[o].rows && e < m; i++) y[e++] = wg_mat_at(out[o], i, j);
    return WG_OK;
}

/* Are two products of Jacobians with a direction the same but for rounding? */
#define ROUNDING 0x1p-26
static int same(size_t m, const double *a, const double *b) {
    double largest = 0;
    for (size_t i = 0; i < m; i++) largest = fmax(largest, fabs(a[i]));
    for (size_t i = 0; i < m; i++)
        if (!(fabs(a[i] - b[i]) <= ROUNDING * largest)) return 0;
    return 1;
}

static wg_status not_as_said(wgi_core *c, const checked_op *k, const char *what) {
    return wgi_refuse(c, WG_EMISMATCH, "wg_check_op: %s: its flags (0x%x) say that %s",
                      k->op->name, k->op->flags, what);
}

/* jw = the Jacobian that patterns are made from, times v. */
static wg_status sparse_product(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                                const double *x, size_t m, const double *v, double *jw) {
    wg_sparsity *s;
    wg_status r = wg_jacobian_sparsity(own, call, k, n, x, m, WG_ROW_MAJOR, &s);
    if (r != WG_OK) return r;
    const wg_pattern *const p = wg_sparsity_pattern(s);
    double *const values = wg_tape_keep(&c->head, (p->entries + 1) * sizeof *values, NULL);
    r = values == NULL ? c->status : wg_sparse_jacobian(own, s, call, k, x, NULL, values);
    for (size_t j = 0; r == WG_OK && j < m; j++) {
        jw[j] = 0;
        for (size_t e = p->start[j]; e < p->start[j + 1]; e++)
            jw[j] += values[e] * v[p->col[e]];
    }
    wg_sparsity_free(s);
    return r;
}

/* Along one direction: the derivative at x against that at another point, and against that of
 * the pattern. */
static wg_status check_flags(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                             const double *x, size_t m) {
    const unsigned linear = WG_OP_LINEAR | WG_OP_MOVES, sparse = WG_OP_EACH | WG_OP_MOVES;
    double *const v = wg_tape_keep(&c->head, (2 * n + 2 * m + 1) * sizeof *v, NULL);
    if (v == NULL) return c->status;
    double *const other = v + n, *const jv = other + n, *const jw = jv + m;
    for (size_t i = 0; i < n; i++) {
        v[i] = 0.5 + (double)(i * 7919 % 1009) / 1009;
        other[i] = 1.25 * x[i] + 0.125 * v[i];
    }
    wg_status s = wg_jvp(own, call, k, n, x, v, m, NULL, jv);
    if (s == WG_OK && (k->op->flags & linear) != 0) {
        s = wg_jvp(own, call, k, n, other, v, m, NULL, jw);
        if (s == WG_OK && !same(m, jv, jw))
            return not_as_said(c, k, "results are linear, and derivatives are not constant");
    }
    if (s == WG_OK && (k->op->flags & sparse) != 0) {
        s = sparse_product(c, own, k, n, x, m, v, jw);
        if (s == WG_OK && !same(m, jv, jw))
            return not_as_said(c, k, "results depend on fewer elements than they do");
    }
    return s == WG_OK || c->status != WG_OK
               ? s
               : wgi_refuse(c, s, "wg_check_op: %s: %s", k->op->name, wg_tape_message(own));
}

static wg_status check(wgi_core *c, wg_tape *own, checked_op *k) {
    size_t n = 0, m = 0;
    for (size_t i = 0; i < k->inputs; i++)
        if (is_variable(k, i)) n += k->in[i].rows * k->in[i].cols;
    double *const x = wg_tape_keep(&c->head, (n + 1) * sizeof(double), NULL);
    if (x == NULL) return c->status;
    size_t e = 0;
    for (size_t i = 0; i < k->inputs; i++)
        for (size_t j = 0; is_variable(k, i) && j < columns_of(&k->in[i]); j++)
            for (size_t l = 0; l < length_of(&k->in[i]); l++)
                x[e++] = k->in[i].value[l + j * k->in[i].ld];
    /* the shapes of the results */
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wg_block b;
    memset(arg, 0, sizeof arg);
    memset(&b, 0, sizeof b);
    for (size_t i = 0; i < k->inputs; i++)
        arg[i].rows = k->in[i].rows, arg[i].cols = k->in[i].cols, arg[i].ld = 1;
    b.params = k->params;
    b.inputs = k->inputs, b.outputs = k->outputs;
    b.in = arg, b.out = arg + k->inputs;
    wg_status s = k->op->shape(&b);
    if (s != WG_OK) return wgi_refuse(c, s, "wg_check_op: %s: shapes do not fit", k->op->name);
    for (size_t o = 0; o < k->outputs; o++) m += b.out[o].rows * b.out[o].cols;
    wg_check found;
    s = wg_check_gradient(own, call, k, n, x, m, &found);
    if (s != WG_OK)
        return wgi_refuse(c, s, "wg_check_op: %s: %s", k->op->name, wg_tape_message(own));
    const unsigned says = WG_OP_LINEAR | WG_OP_EACH | WG_OP_MOVES;
    return (k->op->flags & says) != 0 ? check_flags(c, own, k, n, x, m) : WG_OK;
}

wg_status wg_check_op(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                      size_t inputs, const wg_mat *in, size_t outputs) {
    if (t == NULL || op == NULL || (inputs != 0 && in == NULL)) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (inputs > WGI_MAX_ARGS || outputs > WGI_MAX_ARGS)
        return wgi_refuse(c, WG_EARG, "wg_check_op: %zu operands and %zu results, not up to %d",
                          inputs, outputs, WGI_MAX_ARGS);
    checked_op k = {op, params, bytes, inputs, outputs, in, 1};
    for (size_t i = 0; i < inputs; i++) {
        if (in[i].value == NULL)
            return wgi_refuse(c, WG_ESHAPE, "wg_check_op: operand %zu is a failed matrix", i);
        if (wgi_mat_stale(c, &in[i]))
            return wgi_refuse(c, WG_ESTALE,
                              "wg_check_op: operand %zu is of another tape, or old", i);
        if (in[i].at.slot != 0) k.all = 0;
    }
    const wg_options o = {.memory = c->memory};
    wg_tape *const own = wg_tape_new(&o);
    if (own == NULL) return wgi_refuse(c, WG_ENOMEM, "wg_check_op: no memory for a tape");
    char *const top = c->head.payload_top;
    const int chunk = c->payload_current;
    const wg_status s = check(c, own, &k);
    if (top != NULL && chunk == c->payload_current) c->head.payload_top = top;
    wg_tape_free(own);
    return s;
}

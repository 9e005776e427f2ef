/* SPDX-License-Identifier: MIT */
/* Batches: an operation on one matrix, applied to `count` of them that stand side by side.
 * There is no mathematics here: every function calls that of the operation with a wg_block that
 * shows it one member. Operands of one member that all share get the sum of what each member
 * adds.
 *
 * saved: for each member a number that says whether it is NaN, then what each has saved.
 *
 * A member that is NaN (batch.h) is not handed to the operation, which may refuse it. */
#include <limits.h>
#include <math.h>
#include <wengert/batch.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/reduce.h>
#include "expand.h"
#include "factor.h"
#include "spectral.h"
#include "traits.h"
#include "whole.h"

enum { ARGS = 4, PARAMS = sizeof(wgi_factored) };

struct batch {
    size_t count;
    const wg_block_op *one;
    unsigned shared; /* bit i: operand i is one for all members */
    const char
        *none; /* of operands without members, how wide one would be: 0, 1, n: as it is high */
    size_t bytes; /* of params, those of the operation */
    char params[PARAMS] __attribute__((aligned(8)));
};

static const struct batch *batch_of(const wg_block *b) { return b->params; }

static int is_shared(const struct batch *p, size_t i) { return p->shared >> i & 1; }

/* Columns of a member of operand i. */
static size_t width(const wg_block *b, size_t i) {
    const struct batch *const p = batch_of(b);
    if (is_shared(p, i)) return b->in[i].cols;
    return p->count != 0       ? b->in[i].cols / p->count
           : p->none[i] == 'n' ? b->in[i].rows
                               : (size_t)(p->none[i] - '0');
}

/* ---- one member ---- */

typedef struct member {
    wg_block call;
    wg_block_arg arg[2 * ARGS];
    size_t saved; /* bytes, rounded */
} member;

static size_t marks(size_t count) { return (count * sizeof(double) + 63) / 64 * 64; }

/* Shapes of every member. */
static wg_status open_member(const wg_block *b, member *m) {
    const struct batch *const p = batch_of(b);
    memset(m, 0, sizeof *m);
    m->call.params = p->params;
    m->call.inputs = b->inputs, m->call.outputs = b->outputs;
    m->call.in = m->arg, m->call.out = m->arg + ARGS;
    m->call.lanes = 1;
    for (size_t i = 0; i < b->inputs; i++) {
        m->arg[i] = b->in[i];
        m->arg[i].cols = width(b, i);
    }
    const wg_status s = p->one->shape(&m->call);
    m->saved = (m->call.saved_bytes + 63) / 64 * 64;
    for (size_t k = 0; k < b->outputs; k++)
        m->call.out[k].ld = m->call.out[k].bar_ld = wgi_ld(m->call.out[k].rows);
    m->call.work = b->work;
    return s;
}

/* The k-th, where the operands, results and what is saved of it are. */
static void show_member(const wg_block *b, size_t k, member *m) {
    const struct batch *const p = batch_of(b);
    for (size_t i = 0; i < b->inputs; i++) {
        const size_t at = is_shared(p, i) ? 0 : k;
        m->arg[i].value = wgi_value_of(&b->in[i], m->arg[i].cols, at).p;
        m->arg[i].bar = wgi_bar_of(&b->in[i], m->arg[i].cols, at).p;
        m->arg[i].bar_ld = b->in[i].bar_ld;
    }
    for (size_t i = 0; i < b->outputs; i++) {
        wg_block_arg *const y = &m->call.out[i];
        const size_t at = k * y->rows * y->cols;
        y->value = b->out[i].value != NULL ? b->out[i].value + at : NULL;
        y->bar = b->out[i].bar != NULL ? b->out[i].bar + at : NULL;
    }
    if (b->saved != NULL) m->call.saved = (char *)b->saved + marks(p->count) + k * m->saved;
}

static double *mark_of(const wg_block *b, size_t k) { return (double *)b->saved + k; }

/* What went wrong in a member. */
static wg_status failed(wg_block *b, const member *m, wg_status s) {
    b->info = m->call.info;
    return wgi_block_refuse(b, s, m->call.why);
}

/* ---- what is NaN ---- */

static wgi_dense bar_of(const wg_block_arg *a) {
    return (wgi_dense){a->bar, a->bar_ld, a->trans};
}

static int has_nan(const wg_block_arg *a) {
    const size_t rows = a->trans ? a->cols : a->rows, cols = a->trans ? a->rows : a->cols;
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++)
            if (isnan(a->value[i + j * a->ld])) return 1;
    return 0;
}

static int is_nan(const member *m) {
    for (size_t i = 0; i < m->call.inputs; i++)
        if (has_nan(&m->call.in[i])) return 1;
    return 0;
}

static void fill(const wg_block_arg *a, double *x, double value) {
    for (size_t e = 0; e < a->rows * a->cols; e++) x[e] = value;
}

/* Have all n of them no adjoint, no tangent? */
static int nothing(size_t n, const wg_block_arg *a) {
    for (size_t i = 0; i < n; i++)
        if (!wgi_nothing(a[i].rows, a[i].cols, bar_of(&a[i]))) return 0;
    return 1;
}

static void spoil_bar(const wg_block_arg *a) {
    const size_t rows = a->trans ? a->cols : a->rows, cols = a->trans ? a->rows : a->cols;
    for (size_t j = 0; a->bar != NULL && j < cols; j++)
        for (size_t i = 0; i < rows; i++) a->bar[i + j * a->bar_ld] = NAN;
}

/* ---- the operation ---- */

static wg_status batch_shape(wg_block *b) {
    const struct batch *const p = batch_of(b);
    member m;
    size_t all;
    for (size_t i = 0; i < b->inputs; i++)
        if (!is_shared(p, i) && b->in[i].cols != (p->count != 0 ? width(b, i) * p->count : 0))
            return wgi_block_refuse(
                b, WG_ESHAPE, "columns that the members of the batch do not divide among them");
    const wg_status s = open_member(b, &m);
    if (s != WG_OK) return failed(b, &m, s);
    for (size_t k = 0; k < b->outputs; k++) {
        b->out[k].rows = m.call.out[k].rows;
        if (__builtin_mul_overflow(m.call.out[k].cols, p->count, &b->out[k].cols) ||
            b->out[k].cols > INT_MAX)
            return wgi_block_refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
    }
    if (p->count > SIZE_MAX / 128 || __builtin_mul_overflow(m.saved, p->count, &all) ||
        __builtin_add_overflow(all, marks(p->count), &all))
        return wgi_block_refuse(b, WG_ESHAPE, "more than memory can hold");
    b->saved_bytes = all;
    b->work_bytes = m.call.work_bytes;
    return WG_OK;
}

static wg_status batch_value(wg_block *b) {
    const struct batch *const p = batch_of(b);
    member m;
    wg_status s = open_member(b, &m);
    for (size_t k = 0; k < p->count && s == WG_OK; k++) {
        show_member(b, k, &m);
        int bad = is_nan(&m);
        if (!bad) s = p->one->value(&m.call);
        if (s == WG_ENONFINITE) bad = 1, s = WG_OK, m.call.why = NULL;
        *mark_of(b, k) = bad;
        for (size_t i = 0; bad && i < b->outputs; i++)
            fill(&m.call.out[i], m.call.out[i].value, NAN);
    }
    return s != WG_OK ? failed(b, &m, s) : s;
}

static wg_status batch_vjp(wg_block *b) {
    const struct batch *const p = batch_of(b);
    member m;
    wg_status s = open_member(b, &m);
    for (size_t k = 0; k < p->count && s == WG_OK; k++) {
        show_member(b, k, &m);
        if (nothing(b->outputs, m.call.out)) continue;
        if (*mark_of(b, k) == 0) s = p->one->vjp(&m.call);
        else
            for (size_t i = 0; i < b->inputs; i++) spoil_bar(&m.call.in[i]);
    }
    return s != WG_OK ? failed(b, &m, s) : s;
}

static wg_status batch_jvp(wg_block *b) {
    const struct batch *const p = batch_of(b);
    member m;
    wg_status s = open_member(b, &m);
    for (size_t k = 0; k < p->count && s == WG_OK; k++) {
        show_member(b, k, &m);
        const int none = nothing(b->inputs, m.call.in), bad = *mark_of(b, k) != 0;
        if (!none && !bad) s = p->one->jvp(&m.call);
        for (size_t i = 0; (none || bad) && i < b->outputs; i++)
            fill(&m.call.out[i], m.call.out[i].bar, none ? 0 : NAN);
    }
    return s != WG_OK ? failed(b, &m, s) : s;
}

/* ---- beyond the tape ---- */

/* Members as operations of their own. */
static wg_status batch_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct batch *const p = batch_of(b);
    member m;
    wg_status s = open_member(b, &m);
    for (size_t k = 0; k < p->count && s == WG_OK; k++) {
        wg_mat in[ARGS], out[ARGS];
        for (size_t i = 0; i < b->inputs; i++) {
            const size_t cols = m.arg[i].cols;
            const wgi_reals a = wgi_reals_cols(wgi_reals_operand(b, x, i),
                                               is_shared(p, i) ? 0 : k * cols, cols);
            in[i] = wg_mat_gather(t, a.rows, a.cols, a.p);
        }
        s = wg_apply(t, p->one, p->params, p->bytes, b->inputs, in, b->outputs, out);
        for (size_t i = 0; s == WG_OK && i < b->outputs; i++) {
            const size_t rows = out[i].rows, cols = out[i].cols;
            wg_real *const to = wgi_reals_result(b, y, i) + k * rows * cols;
            for (size_t e = 0; e < rows * cols; e++)
                to[e] = wg_mat_at(out[i], e % rows, e / rows);
        }
    }
    return s;
}

/* A member of a matrix of members. */
static wg_mat part_of(wg_mat a, size_t k, size_t cols) {
    return wg_mat_block(a, 0, k * cols, a.rows, cols);
}

/* NaN that has tangents where the operands or the adjoints have. */
static void nan_back(wg_tape *t, const member *m, const wg_mat *in, const wg_mat *bar,
                     wg_mat *back) {
    wg_real sum = wg_constant(0);
    for (size_t k = 0; k < m->call.outputs; k++)
        sum = wg_let(t, wg_add(sum, wg_mat_sum(t, bar[k])));
    for (size_t i = 0; i < m->call.inputs; i++)
        sum = wg_let(t, wg_add(sum, wg_mat_sum(t, in[i])));
    for (size_t i = 0; i < m->call.inputs; i++)
        back[i] = (wg_mat_mul)(t, wg_mat_fill(t, in[i].rows, in[i].cols, NAN),
                               wg_mat_from_real(t, sum));
}

/* The rule of the operation for member k: part[i] is what it gives operand i. Of a member that
 * nothing depends on it is not asked, as in sweeps: it may be NaN, or refused. */
static wg_status member_adjoint(wg_tape *t, wg_block *b, member *m, size_t k, const wg_mat *in,
                                const wg_mat *out, const wg_mat *bar, wg_mat *part) {
    const struct batch *const p = batch_of(b);
    wg_mat of[ARGS], y[ARGS], w[ARGS];
    int untouched = 1;
    show_member(b, k, m);
    for (size_t i = 0; i < b->inputs; i++) {
        of[i] = is_shared(p, i) ? in[i] : part_of(in[i], k, m->arg[i].cols);
        part[i] = (wg_mat){.at = {0, 0}};
    }
    for (size_t i = 0; i < b->outputs; i++) {
        y[i] = part_of(out[i], k, m->call.out[i].cols);
        w[i] = part_of(bar[i], k, m->call.out[i].cols);
        untouched &= wgi_spectral_untouched(t, w[i]);
    }
    if (untouched) return WG_OK;
    if (*mark_of(b, k) != 0) nan_back(t, m, of, w, part);
    else {
        const wg_status s = p->one->adjoint(t, &m->call, of, y, w, part);
        if (s != WG_OK) return s;
    }
    return wg_tape_status(t);
}

static wg_status batch_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const struct batch *const p = batch_of(b);
    wg_mat part[ARGS], *all[ARGS] = {NULL};
    member m;
    wg_status s = open_member(b, &m);
    if (p->count == 0) return s;
    for (size_t i = 0; i < b->inputs; i++)
        all[i] = wg_tape_keep(t, p->count * sizeof *all[i], NULL);
    if (wg_tape_status(t) != WG_OK) return wg_tape_status(t);
    for (size_t k = 0; k < p->count && s == WG_OK; k++) {
        s = member_adjoint(t, b, &m, k, in, out, bar, part);
        for (size_t i = 0; s == WG_OK && i < b->inputs; i++) {
            const size_t rows = in[i].rows, cols = m.arg[i].cols;
            all[i][k] = part[i];
            if (part[i].value == NULL && part[i].rows == 0)
                all[i][k] = wg_mat_fill(t, rows, cols, 0);
        }
    }
    if (s != WG_OK) return failed(b, &m, s);
    for (size_t i = 0; i < b->inputs; i++) {
        if (in[i].at.slot == 0) continue;
        back[i] = all[i][0];
        for (size_t k = 0; k < p->count; k++)
            if (all[i][k].value == NULL && all[i][k].rows != 0) {
                back[i] = wg_mat_failed(in[i].rows, in[i].cols);
                b->why = m.call.why;
                return wg_tape_status(t);
            }
        if (is_shared(p, i))
            for (size_t k = 1; k < p->count; k++) back[i] = (wg_mat_add)(t, back[i], all[i][k]);
        else back[i] = wg_concat_cols(t, p->count, all[i]);
    }
    return wg_tape_status(t);
}

static void batch_parts(const void *params, wgi_parts *p) {
    p->count = ((const struct batch *)params)->count;
}

static const wgi_traits of_members = {.parts = batch_parts};

/* more: how the operation takes its operands. */
#define BATCH(name, more, traits)                                                              \
    extern const wg_block_op wgi_op_##name;                                                    \
    static const wg_block_op op_##name##_batch = {"wg_" #name "_batch",                        \
                                                  (more) | WG_OP_EXPANDS,                      \
                                                  batch_shape,                                 \
                                                  batch_value,                                 \
                                                  batch_vjp,                                   \
                                                  batch_jvp,                                   \
                                                  batch_expand,                                \
                                                  batch_adjoint,                               \
                                                  traits}
BATCH(det, WG_OP_TRANS, &of_members);
BATCH(logabsdet, WG_OP_TRANS, NULL);
BATCH(logdet_spd, WG_OP_TRANS, &of_members);
BATCH(inverse, WG_OP_TRANS, &of_members);
BATCH(inverse_spd, WG_OP_TRANS, &of_members);
BATCH(qr, 0, NULL);
BATCH(lstsq, 0, &of_members);
BATCH(eigvalsh, WG_OP_TRANS, &of_members);
BATCH(eigh, WG_OP_TRANS, NULL);
BATCH(svdvals, 0, &of_members);
BATCH(svd, 0, NULL);
BATCH(expm, 0, &of_members);
extern const wg_block_op wgi_op_normal;
static const wg_block_op op_normal_batch = {"wg_mvn_logpdf_batch", WG_OP_EXPANDS, batch_shape,
                                            batch_value,           batch_vjp,     batch_jvp,
                                            batch_expand,          batch_adjoint, NULL};

/* ---- calls ---- */

static wg_status apply(wg_tape *t, const wg_block_op *op, struct batch p, const void *params,
                       size_t inputs, const wg_mat *in, size_t outputs, wg_mat *out) {
    memset(p.params, 0, PARAMS);
    if (p.bytes != 0) memcpy(p.params, params, p.bytes);
    return wg_apply(t, op, &p, sizeof p, inputs, in, outputs, out);
}

/* With one operand and one result. */
static wg_mat of_one(wg_tape *t, const wg_block_op *op, struct batch p, const void *params,
                     wg_mat a) {
    wg_mat y;
    (void)apply(t, op, p, params, 1, &a, 1, &y);
    return y;
}

/* Square matrices with a factor. */
static wg_mat factored(wg_tape *t, const wg_block_op *op, const wg_block_op *one,
                       wg_factor_kind kind, size_t count, wg_mat a) {
    const wgi_factored factor = {kind, 0, 1, NULL, NULL};
    return of_one(t, op, (struct batch){count, one, 0, "n", sizeof factor, {0}}, &factor, a);
}

wg_mat wg_det_batch(wg_tape *t, size_t count, wg_mat a) {
    return factored(t, &op_det_batch, &wgi_op_det, WG_LU, count, a);
}
wg_mat wg_logdet_spd_batch(wg_tape *t, size_t count, wg_mat a) {
    return factored(t, &op_logdet_spd_batch, &wgi_op_logdet_spd, WG_CHOLESKY, count, a);
}
wg_mat wg_inverse_batch(wg_tape *t, size_t count, wg_mat a) {
    return factored(t, &op_inverse_batch, &wgi_op_inverse, WG_LU, count, a);
}
wg_mat wg_inverse_spd_batch(wg_tape *t, size_t count, wg_mat a) {
    return factored(t, &op_inverse_spd_batch, &wgi_op_inverse_spd, WG_CHOLESKY, count, a);
}

wg_mat wg_logabsdet_batch(wg_tape *t, size_t count, wg_mat a, double *sign) {
    const wgi_factored factor = {WG_LU, 0, 1, NULL, NULL};
    const struct batch p = {count, &wgi_op_logabsdet, 0, "n", sizeof factor, {0}};
    wg_mat out[2];
    (void)apply(t, &op_logabsdet_batch, p, &factor, 1, &a, 2, out);
    for (size_t k = 0; sign != NULL && k < count; k++) sign[k] = wg_mat_at(out[1], 0, k).value;
    return out[0];
}

wg_status wg_qr_batch(wg_tape *t, size_t count, wg_mat a, wg_mat *q, wg_mat *r) {
    const struct batch p = {count, &wgi_op_qr, 0, "0", wgi_whole_qr.bytes, {0}};
    wg_mat out[2];
    const wg_status s = apply(t, &op_qr_batch, p, wgi_whole_qr.params, 1, &a, 2, out);
    if (q != NULL) *q = out[0];
    if (r != NULL) *r = out[1];
    return s;
}

wg_mat wg_lstsq_batch(wg_tape *t, size_t count, wg_mat a, wg_mat b) {
    const struct batch p = {count, &wgi_op_lstsq, 0, "00", 0, {0}};
    const wg_mat in[2] = {a, b};
    wg_mat x;
    (void)apply(t, &op_lstsq_batch, p, NULL, 2, in, 1, &x);
    return x;
}

wg_mat wg_eigvalsh_batch(wg_tape *t, size_t count, wg_mat a) {
    const struct batch p = {count, &wgi_op_eigvalsh, 0, "n", 0, {0}};
    return of_one(t, &op_eigvalsh_batch, p, NULL, a);
}

wg_status wg_eigh_batch(wg_tape *t, size_t count, wg_mat a, wg_mat *w, wg_mat *v) {
    const struct batch p = {count, &wgi_op_eigh, 0, "n", 0, {0}};
    wg_mat out[2];
    const wg_status s = apply(t, &op_eigh_batch, p, NULL, 1, &a, 2, out);
    if (w != NULL) *w = out[0];
    if (v != NULL) *v = out[1];
    return s;
}

wg_mat wg_svdvals_batch(wg_tape *t, size_t count, wg_mat a) {
    const struct batch p = {count, &wgi_op_svdvals, 0, "0", 0, {0}};
    return of_one(t, &op_svdvals_batch, p, NULL, a);
}

wg_status wg_svd_batch(wg_tape *t, size_t count, wg_mat a, wg_mat *u, wg_mat *s, wg_mat *vt) {
    const struct batch p = {count, &wgi_op_svd, 0, "0", 0, {0}};
    wg_mat out[3];
    const wg_status status = apply(t, &op_svd_batch, p, NULL, 1, &a, 3, out);
    if (u != NULL) *u = out[0];
    if (s != NULL) *s = out[1];
    if (vt != NULL) *vt = out[2];
    return status;
}

wg_mat wg_expm_batch(wg_tape *t, size_t count, wg_mat a) {
    const double factor_of_a = 1;
    const struct batch p = {count, &wgi_op_expm, 0, "n", sizeof factor_of_a, {0}};
    return of_one(t, &op_expm_batch, p, &factor_of_a, a);
}

wg_mat wg_mvn_logpdf_batch(wg_tape *t, size_t count, wg_mat y, wg_mat mu, wg_mat s) {
    const unsigned shared =
        (mu.cols == 1 && count != 1 ? 2u : 0) | (s.cols == s.rows && count != 1 ? 4u : 0);
    const struct batch p = {count, &wgi_op_normal, shared, "01n", 0, {0}};
    const wg_mat in[3] = {y, mu, s};
    wg_mat r;
    (void)apply(t, &op_normal_batch, p, NULL, 3, in, 1, &r);
    return r;
}

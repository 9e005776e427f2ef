/* SPDX-License-Identifier: MIT */
/* products.c - products of distributed matrices.
 *
 * R = alpha op(A) op(B). Adjoints: op(A)_ += alpha R_ op(B)', op(B)_ += alpha op(A)' R_.
 * r = sum(x o y). Adjoints: x_ += r_ y, y_ += r_ x. Source: Giles 2008, 2.2. */
#include "internal.h"
#include <wengert/elementwise.h>
#include <string.h>

typedef struct params {
    wg_scalapack *g;
    char ta, tb;
    double alpha;
    size_t m, n, k, block;
} params;

static const int one = 1;

static size_t rows_of(char t, size_t m, size_t k) { return t == 'N' ? m : k; }
static wgi_desc desc_a(const params *p, size_t ld) {
    return wgi_scalapack_desc(p->g, rows_of(p->ta, p->m, p->k), rows_of(p->ta, p->k, p->m),
                              p->block, ld);
}
static wgi_desc desc_b(const params *p, size_t ld) {
    return wgi_scalapack_desc(p->g, rows_of(p->tb, p->k, p->n), rows_of(p->tb, p->n, p->k),
                              p->block, ld);
}
static wgi_desc desc_r(const params *p, size_t ld) {
    return wgi_scalapack_desc(p->g, p->m, p->n, p->block, ld);
}
static char other(char t) { return t == 'N' ? 'T' : 'N'; }

static void product(char ta, char tb, size_t m, size_t n, size_t k, double alpha,
                    const double *a, wgi_desc da, const double *b, wgi_desc db, double beta,
                    double *c, wgi_desc dc) {
    const int im = (int)m, in = (int)n, ik = (int)k;
    pdgemm_(&ta, &tb, &im, &in, &ik, &alpha, a, &one, &one, da.d, b, &one, &one, db.d, &beta, c,
            &one, &one, dc.d);
}

static wg_status enter(const params *p, const wg_block *b, wgi_scalapack_call call,
                       uint64_t phase, unsigned *bits) {
    uint64_t alpha;
    memcpy(&alpha, &p->alpha, sizeof alpha);
    const uint64_t words[] = {phase,           b->lanes,        p->m, p->n, p->k, p->block,
                              (uint64_t)p->ta, (uint64_t)p->tb, alpha};
    uint64_t detail = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        detail = wgi_scalapack_mix(detail, words[i]);
    return wgi_scalapack_agree(p->g, WG_OK, call, detail, bits);
}

/* Which operands are variables on this rank. */
static unsigned wanted(const wg_block *b) {
    return (b->in[0].bar != NULL ? WGI_FIRST : 0) | (b->in[1].bar != NULL ? WGI_SECOND : 0);
}

/* The last result is a 0, so that a rank whose part is empty has a record, too. */
static wg_status gemm_shape(wg_block *b) {
    const params *const p = b->params;
    b->out[0].rows = wg_scalapack_rows(p->g, p->m, p->block);
    b->out[0].cols = wg_scalapack_cols(p->g, p->n, p->block);
    b->out[1].rows = b->out[1].cols = 1;
    b->work_bytes = (2 * wgi_scalapack_size(&b->out[0]) + wgi_scalapack_size(&b->in[0]) +
                     wgi_scalapack_size(&b->in[1]) + 1) *
                    sizeof(double);
    return WG_OK;
}

static wg_status gemm_value(wg_block *b) {
    const params *const p = b->params;
    const wg_block_arg *const r = &b->out[0];
    b->out[1].value[0] = 0;
    const wg_status s = enter(p, b, WGI_SCALAPACK_GEMM, 0, NULL);
    if (s != WG_OK) return wgi_scalapack_done(p->g, b, s);
    for (size_t j = 0; j < r->cols; j++) /* where k is 0 nothing is written */
        memset(r->value + j * r->ld, 0, r->rows * sizeof(double));
    if (p->m != 0 && p->n != 0 && p->k != 0)
        product(p->ta, p->tb, p->m, p->n, p->k, p->alpha, b->in[0].value,
                desc_a(p, b->in[0].ld), b->in[1].value, desc_b(p, b->in[1].ld), 0, r->value,
                desc_r(p, r->ld));
    return WG_OK;
}

static wg_status gemm_vjp(wg_block *b) {
    const params *const p = b->params;
    const wg_block_arg *const x = &b->in[0], *const y = &b->in[1], *const r = &b->out[0];
    unsigned bits = wanted(b) | (wgi_scalapack_any(r, b->lanes) ? WGI_ANY : 0);
    const wg_status s = enter(p, b, WGI_SCALAPACK_GEMM, 1, &bits);
    if (s != WG_OK) return wgi_scalapack_done(p->g, b, s);
    if (!(bits & WGI_ANY) || p->m == 0 || p->n == 0 || p->k == 0) return WG_OK;
    double *const w = b->work, *const to = w + wgi_scalapack_size(r);
    const wgi_desc dw = desc_r(p, r->rows), da = desc_a(p, x->ld), db = desc_b(p, y->ld);
    for (size_t l = 0; l < b->lanes; l++) {
        wgi_scalapack_take(r, b->lanes, l, w);
        if (bits & WGI_FIRST) {
            const wgi_desc dt = desc_a(p, x->rows);
            if (p->ta == 'N')
                product('N', other(p->tb), p->m, p->k, p->n, p->alpha, w, dw, y->value, db, 0,
                        to, dt);
            else
                product(p->tb, 'T', p->k, p->m, p->n, p->alpha, y->value, db, w, dw, 0, to, dt);
            wgi_scalapack_add(x, b->lanes, l, to);
        }
        if (bits & WGI_SECOND) {
            const wgi_desc dt = desc_b(p, y->rows);
            if (p->tb == 'N')
                product(other(p->ta), 'N', p->k, p->n, p->m, p->alpha, x->value, da, w, dw, 0,
                        to, dt);
            else
                product('T', p->ta, p->n, p->k, p->m, p->alpha, w, dw, x->value, da, 0, to, dt);
            wgi_scalapack_add(y, b->lanes, l, to);
        }
    }
    return WG_OK;
}

static wg_status gemm_jvp(wg_block *b) {
    const params *const p = b->params;
    const wg_block_arg *const x = &b->in[0], *const y = &b->in[1], *const r = &b->out[0];
    unsigned bits = wanted(b);
    for (size_t l = 0; l < b->lanes; l++) b->out[1].bar[l] = 0;
    const wg_status s = enter(p, b, WGI_SCALAPACK_GEMM, 2, &bits);
    if (s != WG_OK) return wgi_scalapack_done(p->g, b, s);
    double *const rt = b->work, *const vt = rt + wgi_scalapack_size(r);
    const int any = p->m != 0 && p->n != 0 && p->k != 0;
    const wgi_desc dr = desc_r(p, r->rows);
    for (size_t l = 0; l < b->lanes; l++) {
        memset(rt, 0, wgi_scalapack_size(r) * sizeof *rt);
        if (any && bits & WGI_FIRST) {
            wgi_scalapack_take(x, b->lanes, l, vt);
            product(p->ta, p->tb, p->m, p->n, p->k, p->alpha, vt, desc_a(p, x->rows), y->value,
                    desc_b(p, y->ld), 1, rt, dr);
        }
        if (any && bits & WGI_SECOND) {
            wgi_scalapack_take(y, b->lanes, l, vt);
            product(p->ta, p->tb, p->m, p->n, p->k, p->alpha, x->value, desc_a(p, x->ld), vt,
                    desc_b(p, y->rows), 1, rt, dr);
        }
        wgi_scalapack_put(r, b->lanes, l, rt);
    }
    return WG_OK;
}

/* The products of gemm_vjp, which know their own derivatives. */
static wg_status gemm_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    const params *const p = b->params;
    const size_t m = p->m, n = p->n, k = p->k;
    const wg_scalapack_mat x = {p->g, rows_of(p->ta, m, k), rows_of(p->ta, k, m), p->block,
                                in[0]};
    const wg_scalapack_mat y = {p->g, rows_of(p->tb, k, n), rows_of(p->tb, n, k), p->block,
                                in[1]};
    const wg_scalapack_mat w = {p->g, m, n, p->block, bar[0]};
    (void)out;
    back[0] = (p->ta == 'N' ? wg_scalapack_gemm(t, 'N', other(p->tb), p->alpha, w, y)
                            : wg_scalapack_gemm(t, p->tb, 'T', p->alpha, y, w))
                  .local;
    back[1] = (p->tb == 'N' ? wg_scalapack_gemm(t, other(p->ta), 'N', p->alpha, x, w)
                            : wg_scalapack_gemm(t, 'T', p->ta, p->alpha, w, x))
                  .local;
    return wg_tape_status(t);
}

static const wg_block_op gemm_op = {.name = "wg_scalapack_gemm",
                                    .flags = WG_OP_ALWAYS,
                                    .shape = gemm_shape,
                                    .value = gemm_value,
                                    .vjp = gemm_vjp,
                                    .jvp = gemm_jvp,
                                    .adjoint = gemm_adjoint};

wg_scalapack_mat wg_scalapack_gemm(wg_tape *t, char ta, char tb, double alpha,
                                   wg_scalapack_mat a, wg_scalapack_mat b) {
    wg_scalapack *const g = a.grid;
    const size_t m = ta == 'N' ? a.rows : a.cols, k = ta == 'N' ? a.cols : a.rows;
    const size_t n = tb == 'N' ? b.cols : b.rows, inner = tb == 'N' ? b.rows : b.cols;
    wg_scalapack_mat r = wgi_scalapack_failed(g, m, n, a.block);
    wg_status s;
    const char *why = wgi_scalapack_odd(a, b, &s);
    if (g == NULL) why = "no grid", s = WG_ENULL;
    else if ((ta != 'N' && ta != 'T') || (tb != 'N' && tb != 'T'))
        why = "ta and tb are 'N' or 'T'", s = WG_EARG;
    else if (why == NULL && k != inner) why = "the shapes do not fit", s = WG_ESHAPE;
    if (why != NULL) {
        (void)wgi_scalapack_refuse(t, g, s, gemm_op.name, why, WGI_SCALAPACK_GEMM);
        return r;
    }
    const params p = {g, ta, tb, alpha, m, n, k, a.block};
    const wg_mat in[2] = {a.local, b.local};
    wg_mat out[2] = {r.local, wg_mat_failed(1, 1)};
    (void)wgi_scalapack_apply(t, g, &gemm_op, &p, sizeof p, WGI_SCALAPACK_GEMM, 2, in, 2, out);
    r.local = out[0];
    return r;
}

/* ---- the sum of the products of all elements --------------------------------------------- */

static wg_status dot_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    b->work_bytes = (b->lanes > 1 ? b->lanes : 1) * sizeof(double);
    return WG_OK;
}

static wg_status dot_value(wg_block *b) {
    const params *const p = b->params;
    const wg_block_arg *const x = &b->in[0], *const y = &b->in[1];
    double sum = 0;
    const wg_status s = enter(p, b, WGI_SCALAPACK_DOT, 0, NULL);
    if (s != WG_OK) return wgi_scalapack_done(p->g, b, s);
    for (size_t j = 0; j < x->cols; j++)
        for (size_t i = 0; i < x->rows; i++)
            sum += x->value[i + j * x->ld] * y->value[i + j * y->ld];
    b->out[0].value[0] = sum;
    return wgi_scalapack_done(p->g, b, wgi_scalapack_sum(p->g, b->out[0].value, 1));
}

/* a_ += w c, in lane l. */
static void add_scaled(const wg_block_arg *a, const wg_block_arg *c, double w, size_t lanes,
                       size_t l) {
    for (size_t j = 0; a->bar != NULL && j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            a->bar[(i + j * a->bar_ld) * lanes + l] += w * c->value[i + j * c->ld];
}

static wg_status dot_vjp(wg_block *b) {
    const params *const p = b->params;
    wg_status s = enter(p, b, WGI_SCALAPACK_DOT, 1, NULL);
    for (size_t l = 0; s == WG_OK && l < b->lanes; l++) {
        double w = b->out[0].bar[l];
        s = wgi_scalapack_sum(p->g, &w, 1);
        if (s != WG_OK || w == 0) continue;
        add_scaled(&b->in[0], &b->in[1], w, b->lanes, l);
        add_scaled(&b->in[1], &b->in[0], w, b->lanes, l);
    }
    return wgi_scalapack_done(p->g, b, s);
}

/* c . at in lane l; 0 where a is no variable. */
static double tangent(const wg_block_arg *a, const wg_block_arg *c, size_t lanes, size_t l) {
    double sum = 0;
    for (size_t j = 0; a->bar != NULL && j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            sum += a->bar[(i + j * a->bar_ld) * lanes + l] * c->value[i + j * c->ld];
    return sum;
}

static wg_status dot_jvp(wg_block *b) {
    const params *const p = b->params;
    wg_status s = enter(p, b, WGI_SCALAPACK_DOT, 2, NULL);
    for (size_t l = 0; s == WG_OK && l < b->lanes; l++)
        b->out[0].bar[l] = tangent(&b->in[0], &b->in[1], b->lanes, l) +
                           tangent(&b->in[1], &b->in[0], b->lanes, l);
    if (s == WG_OK) s = wgi_scalapack_sum(p->g, b->out[0].bar, (int)b->lanes);
    return wgi_scalapack_done(p->g, b, s);
}

static wg_status dot_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    const params *const p = b->params;
    const wg_real w = wgi_scalapack_total(t, p->g, bar[0]);
    (void)out;
    back[0] = wg_mat_scale_real(t, w, in[1]);
    back[1] = wg_mat_scale_real(t, w, in[0]);
    return wg_tape_status(t);
}

static const wg_block_op dot_op = {.name = "wg_scalapack_dot",
                                   .flags = WG_OP_ALWAYS,
                                   .shape = dot_shape,
                                   .value = dot_value,
                                   .vjp = dot_vjp,
                                   .jvp = dot_jvp,
                                   .adjoint = dot_adjoint};

wg_real wg_scalapack_dot(wg_tape *t, wg_scalapack_mat x, wg_scalapack_mat y) {
    wg_scalapack *const g = x.grid;
    wg_mat out = wg_mat_failed(1, 1);
    wg_status s;
    const char *why = wgi_scalapack_odd(x, y, &s);
    if (g == NULL) why = "no grid", s = WG_ENULL;
    else if (why == NULL && (x.rows != y.rows || x.cols != y.cols))
        why = "the shapes are not equal", s = WG_ESHAPE;
    if (why != NULL) (void)wgi_scalapack_refuse(t, g, s, dot_op.name, why, WGI_SCALAPACK_DOT);
    else {
        const params p = {.g = g, .m = x.rows, .n = x.cols, .block = x.block};
        const wg_mat in[2] = {x.local, y.local};
        (void)wgi_scalapack_apply(t, g, &dot_op, &p, sizeof p, WGI_SCALAPACK_DOT, 2, in, 1,
                                  &out);
    }
    return wg_mat_at(out, 0, 0);
}

/* ---- the sum of a number of each rank ---------------------------------------------------- */

/* The adjoint of a number that all ranks are given, on forward tapes: y = sum of x. */

static wg_status total_value(wg_block *b) {
    const params *const p = b->params;
    const wg_status s = enter(p, b, WGI_SCALAPACK_DOT, 3, NULL);
    b->out[0].value[0] = b->in[0].value[0];
    return wgi_scalapack_done(p->g, b,
                              s != WG_OK ? s : wgi_scalapack_sum(p->g, b->out[0].value, 1));
}

static wg_status total_jvp(wg_block *b) {
    const params *const p = b->params;
    const wg_status s = enter(p, b, WGI_SCALAPACK_DOT, 4, NULL);
    for (size_t l = 0; l < b->lanes; l++)
        b->out[0].bar[l] = b->in[0].bar != NULL ? b->in[0].bar[l] : 0;
    return wgi_scalapack_done(
        p->g, b, s != WG_OK ? s : wgi_scalapack_sum(p->g, b->out[0].bar, (int)b->lanes));
}

static const wg_block_op total_op = {.name = "wg_scalapack_dot",
                                     .flags = WG_OP_ALWAYS,
                                     .shape = dot_shape,
                                     .value = total_value,
                                     .jvp = total_jvp};

wg_real wgi_scalapack_total(wg_tape *t, wg_scalapack *g, wg_mat x) {
    const params p = {.g = g};
    wg_mat out = wg_mat_failed(1, 1);
    (void)wgi_scalapack_apply(t, g, &total_op, &p, sizeof p, WGI_SCALAPACK_DOT, 1, &x, 1, &out);
    return wg_mat_at(out, 0, 0);
}

/* SPDX-License-Identifier: MIT */
/* The solution x of A(p) x = b, A given by its products, as an operation of b and p.
 *
 *     A xt = bt - At x;   A' w = x_,  b_ += w,  p_ -= d/dp <w, A(p) x>
 * Second order: the adjoint is two operations. w is the solution of the transposed system,
 * whose tangent is A' wt = x_t - At' w; what p_ gets is one of w, x and p, whose tangent is a
 * product with the Hessian of <w, A(p) x>. At' w is in such a product, too.
 *
 * All that is asked of the user's product goes by the drivers of functions of matrices, on a
 * tape beside that of the recording, which is closed meanwhile. It is also held, by whoever
 * calls the operation: the product neither resets nor rewinds it. */
#include <wengert/krylov.h>
#include <wengert/products.h>

#include "krylov.h"
#include "ops/matrix/dense.h"
#include "ops/scalar/elementwise.h"
#include "tape/engine/tape.h"

#include <math.h>
#include <string.h>

enum { MOST_PARAMETERS = 14 };

/* The parameters of the operations. */
typedef struct linear {
    wgi_core *c; /* the tape of the operation */
    wg_mat_callback *f;
    void *data;
    size_t np, iterations, restart; /* iterations 0: by n */
    double tolerance;
    int gmres, turned;
    unsigned wanted; /* of the derivative by p: bit i: by p[i] */
} linear;

/* A call of the user's product, or several. x[0] is the vector, the others are the
 * parameters. */
typedef struct run {
    linear k;
    size_t n;
    wg_block *b;
    wg_tape *t;
    wg_mat_values x[2 + MOST_PARAMETERS];
    uint64_t stamps;
    int was_closed;
} run;

static wg_mat_values values_of(const wg_block_arg *a, const double *p, size_t ld) {
    return (wg_mat_values){p, a->rows, a->cols, ld};
}

/* first: the first parameter among the operands. */
static wg_status open(run *r, wg_block *b, size_t n, size_t first, unsigned flags) {
    *r = (run){.k = *(const linear *)b->params, .n = n, .b = b};
    for (size_t i = 0; i < r->k.np; i++)
        r->x[1 + i] = values_of(&b->in[first + i], b->in[first + i].value, b->in[first + i].ld);
    r->x[0] = (wg_mat_values){NULL, n, 1, wgi_ld(n)};
    const wg_status s = wgi_beside_open(r->k.c, flags, &r->t);
    if (s != WG_OK) return s;
    r->was_closed = r->k.c->closed;
    if (!r->was_closed) r->stamps = wgi_tape_close(r->k.c);
    return WG_OK;
}

/* What the tape beside says of a failure, without the name of the driver. */
static const char *said(const wg_tape *t) {
    const char *const text = wg_tape_message(t), *const colon = strstr(text, ": ");
    return strncmp(text, "wg_mat_", 7) == 0 && colon != NULL ? colon + 2 : text;
}

static wg_status told(const run *r, wg_status s) {
    if (s != WG_OK && r->b->why == NULL) r->b->why = said(r->t);
    return s;
}

static wg_status close_run(run *r, wg_status s) {
    wgi_core *const c = r->k.c;
    wgi_beside_close(c);
    if (!r->was_closed) (void)wgi_tape_open_again(c, r->stamps);
    return s;
}

/* ---- products ---- */

static wg_status product(void *ctx, const double *x, double *y) {
    run *const r = ctx;
    const wg_mat_result out = {y, r->n, 1, wgi_ld(r->n)};
    r->x[0].value = x;
    return told(r, wg_mat_eval(r->t, r->k.f, r->k.data, 1 + r->k.np, r->x, 1, &out));
}

/* y = A' x; the derivative of a linear function is the same everywhere. */
static wg_status turned(void *ctx, const double *x, double *y) {
    run *const r = ctx;
    const wg_mat_values w = {x, r->n, 1, wgi_ld(r->n)};
    wg_mat_result g[1 + MOST_PARAMETERS] = {{y, r->n, 1, wgi_ld(r->n)}};
    r->x[0].value = x;
    return told(r, wg_mat_vjp(r->t, r->k.f, r->k.data, 1 + r->k.np, r->x, 1, &w, NULL, g));
}

/* <w, A(p) x> as a function of x, w and p. */
static wg_status pairing(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                         void *data) {
    const linear *const k = data;
    wg_mat in[1 + MOST_PARAMETERS], out[1];
    (void)m;
    in[0] = x[0];
    for (size_t i = 2; i < n; i++) in[i - 1] = x[i];
    out[0] = wg_mat_failed(0, 0);
    const wg_status s = k->f(t, n - 1, in, 1, out, k->data);
    if (s == WG_OK) y[0] = wg_mat_from_real(t, wg_mat_dot(t, x[1], out[0]));
    return s;
}

/* hv = the Hessian of that times v, both in the order x, w, p. */
static wg_status curve(run *r, const double *x, const double *w, const wg_mat_values *v,
                       const wg_mat_result *hv) {
    wg_mat_values at[2 + MOST_PARAMETERS];
    at[0] = (wg_mat_values){x, r->n, 1, wgi_ld(r->n)};
    at[1] = (wg_mat_values){w, r->n, 1, wgi_ld(r->n)};
    for (size_t i = 0; i < r->k.np; i++) at[2 + i] = r->x[1 + i];
    return told(r,
                wg_mat_hvp(r->t, pairing, &r->k, 2 + r->k.np, at, v, 1, NULL, NULL, NULL, hv));
}

static void spoil(size_t n, double *x) {
    for (size_t i = 0; i < n; i++) x[i] = NAN;
}

/* x = A^-1 y, or A'^-1 y. Only A itself is asked of a symmetric matrix. */
static wg_status solve(run *r, int transposed, const double *y, double *x, double *room) {
    const int gmres = r->k.gmres;
    wgi_krylov k = {.product = transposed && gmres ? turned : product, .ctx = r, .n = r->n};
    k.iterations = r->k.iterations != 0 ? r->k.iterations : 10 * r->n + 100;
    k.restart = r->k.restart, k.tolerance = r->k.tolerance;
    const wg_status s = (gmres ? wgi_gmres : wgi_cg)(&k, y, x, room);
    if (s != WG_OK && k.why != NULL) r->b->why = k.why;
    return s;
}

/* ---- the operation: operands b and p ---- */

static size_t room_doubles(const linear *k, size_t n) {
    return k->gmres ? wgi_gmres_doubles(n, k->restart) : wgi_cg_doubles(n);
}

static wg_status shape(wg_block *b) {
    const linear *const k = b->params;
    const size_t n = b->in[0].rows;
    size_t most = 0;
    b->out[0].rows = n, b->out[0].cols = b->in[0].cols;
    if (b->in[0].cols != 1)
        return wgi_block_refuse(b, WG_ESHAPE, "the right side is not a column");
    if (k->f == NULL) return wgi_block_refuse(b, WG_ENULL, "the product is NULL");
    if (!(k->tolerance > 0 && k->tolerance < 1))
        return wgi_block_refuse(b, WG_EARG, "the tolerance is not between 0 and 1");
    for (size_t i = 0; i < k->np; i++) most += b->in[1 + i].rows * b->in[1 + i].cols;
    b->work_bytes = (room_doubles(k, n) + 3 * n + most) * sizeof(double);
    return WG_OK;
}

/* The product of 0. */
static wg_status all_zero(wg_block *b, size_t n, const double *y) {
    for (size_t i = 0; i < n; i++) {
        if (y[i] == 0) continue;
        return wgi_block_refuse(b, y[i] - y[i] != 0 ? WG_ENONFINITE : WG_EARG,
                                y[i] - y[i] != 0
                                    ? "the product of 0 is not finite"
                                    : "the product is not linear: that of 0 is not 0");
    }
    return WG_OK;
}

static wg_status value(wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const zero = b->work, *const y = zero + n, *const room = y + n;
    run r;
    if (n == 0) return WG_OK;
    if (!wgi_all_finite(n, b->in[0].value))
        return wgi_block_refuse(b, WG_ENONFINITE, "the right side is not finite");
    wg_status s = open(&r, b, n, 1, 0);
    if (s != WG_OK) return s;
    memset(zero, 0, n * sizeof *zero);
    if (!r.k.turned) s = product(&r, zero, y);
    if (s == WG_OK && !r.k.turned) s = all_zero(b, n, y);
    if (s == WG_OK) s = solve(&r, r.k.turned, b->in[0].value, b->out[0].value, room);
    return close_run(&r, s);
}

/* Of the transposed system: At' w, from a product with the Hessian of the pairing along pt. */
static wg_status moved_turned(run *r, const double *w, double *y) {
    wg_mat_values v[2 + MOST_PARAMETERS] = {{NULL, 0, 0, 0}};
    wg_mat_result hv[2 + MOST_PARAMETERS] = {{y, r->n, 1, wgi_ld(r->n)}};
    for (size_t i = 0; i < r->k.np; i++)
        v[2 + i] = values_of(&r->b->in[1 + i], r->b->in[1 + i].bar, r->b->in[1 + i].bar_ld);
    return curve(r, w, w, v, hv);
}
/* At x */
static wg_status moved(run *r, const double *x, double *y) {
    wg_mat_values v[1 + MOST_PARAMETERS] = {{NULL, 0, 0, 0}};
    const wg_mat_result out = {y, r->n, 1, wgi_ld(r->n)};
    for (size_t i = 0; i < r->k.np; i++)
        v[1 + i] = values_of(&r->b->in[1 + i], r->b->in[1 + i].bar, r->b->in[1 + i].bar_ld);
    r->x[0].value = x;
    return told(r, wg_mat_jvp(r->t, r->k.f, r->k.data, 1 + r->k.np, r->x, v, 1, NULL, &out));
}

static wg_status jvp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const linear *const k = b->params;
    double *const y = b->work, *const room = y + n, *const xt = b->out[0].bar;
    int any = 0;
    run r;
    if (n == 0) return WG_OK;
    for (size_t i = 0; i < k->np; i++) any |= b->in[1 + i].bar != NULL;
    wg_status s = open(&r, b, n, 1, k->turned ? WG_KEEP_CODE : 0);
    if (s != WG_OK) return s;
    memset(y, 0, n * sizeof *y);
    if (any) s = (k->turned ? moved_turned : moved)(&r, b->out[0].value, y);
    for (size_t i = 0; s == WG_OK && i < n; i++)
        y[i] = (b->in[0].bar != NULL ? b->in[0].bar[i] : 0) - y[i];
    if (s == WG_OK) {
        if (!wgi_all_finite(n, y)) spoil(n, xt);
        else s = solve(&r, r.k.turned, y, xt, room);
    }
    return close_run(&r, s);
}

/* g[0] = A' w, g[1 + i] = d/dp_i <w, A(p) x> where it is wanted. */
static wg_status derivative(run *r, const double *x, const double *w, const wg_mat_result *g) {
    const wg_mat_values seed = {w, r->n, 1, wgi_ld(r->n)};
    r->x[0].value = x;
    return told(r, wg_mat_vjp(r->t, r->k.f, r->k.data, 1 + r->k.np, r->x, 1, &seed, NULL, g));
}

/* A is symmetric if what was solved with it is a solution for its transpose. */
static wg_status symmetric(wg_block *b, size_t n, double tolerance, const double *bar,
                           double *residual) {
    const double size = cblas_dnrm2(wgi_int(n), bar, 1);
    for (size_t i = 0; i < n; i++) residual[i] -= bar[i];
    if (cblas_dnrm2(wgi_int(n), residual, 1) <= 1e3 * tolerance * size) return WG_OK;
    return wgi_block_refuse(b, WG_EARG, "the matrix is not symmetric");
}

static wg_status vjp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const linear *const k = b->params;
    double *const w = b->work, *const back = w + n, *const room = back + n;
    double *at = room + room_doubles(k, n);
    wg_mat_result g[1 + MOST_PARAMETERS] = {{back, n, 1, wgi_ld(n)}};
    run r;
    if (n == 0) return WG_OK;
    for (size_t i = 0; i < k->np; i++) {
        const wg_block_arg *const p = &b->in[1 + i];
        if (p->bar == NULL) continue;
        g[1 + i] = (wg_mat_result){at, p->rows, p->cols, wgi_ld(p->rows)};
        at += p->rows * p->cols;
    }
    wg_status s = open(&r, b, n, 1, 0);
    if (s != WG_OK) return s;
    if (wgi_all_finite(n, b->out[0].bar)) {
        s = solve(&r, 1, b->out[0].bar, w, room);
        if (s == WG_OK) s = derivative(&r, b->out[0].value, w, g);
        if (s == WG_OK && !r.k.gmres) s = symmetric(b, n, r.k.tolerance, b->out[0].bar, back);
    } else {
        spoil(n, w);
        for (size_t i = 0; i < r.k.np; i++)
            if (g[1 + i].value != NULL) spoil(g[1 + i].rows * g[1 + i].cols, g[1 + i].value);
    }
    s = close_run(&r, s);
    if (s != WG_OK) return s;
    if (b->in[0].bar != NULL) wgi_add(n, 1, 1, w, wgi_bar_of(&b->in[0], 1, 0));
    for (size_t i = 0; i < r.k.np; i++)
        if (g[1 + i].value != NULL)
            wgi_add(g[1 + i].rows, g[1 + i].cols, -1, g[1 + i].value,
                    wgi_bar_of(&b->in[1 + i], g[1 + i].cols, 0));
    return WG_OK;
}

/* ---- what p gets, of w, x and p: on forward tapes ---- */

static wg_status pullback_shape(wg_block *b) {
    const linear *const k = b->params;
    for (size_t i = 0; i < k->np; i++)
        b->out[i].rows = b->in[2 + i].rows, b->out[i].cols = b->in[2 + i].cols;
    return WG_OK;
}

static void negate(const wg_block_arg *a, double *x) {
    for (size_t i = 0; i < a->rows * a->cols; i++) x[i] = -x[i];
}

static wg_status pullback_value(wg_block *b) {
    wg_mat_result g[1 + MOST_PARAMETERS] = {{NULL, 0, 0, 0}};
    run r;
    wg_status s = open(&r, b, b->in[0].rows, 2, 0);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < r.k.np; i++) {
        const wg_block_arg *const y = &b->out[i];
        memset(y->value, 0, y->rows * y->cols * sizeof(double));
        if (r.k.wanted >> i & 1)
            g[1 + i] = (wg_mat_result){y->value, y->rows, y->cols, wgi_ld(y->rows)};
    }
    s = derivative(&r, b->in[1].value, b->in[0].value, g);
    for (size_t i = 0; s == WG_OK && i < r.k.np; i++) negate(&b->out[i], b->out[i].value);
    return close_run(&r, s);
}

static wg_status pullback_jvp(wg_block *b) {
    wg_mat_values v[2 + MOST_PARAMETERS];
    wg_mat_result hv[2 + MOST_PARAMETERS] = {{NULL, 0, 0, 0}};
    run r;
    wg_status s = open(&r, b, b->in[0].rows, 2, WG_KEEP_CODE);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < 2 + r.k.np; i++) { /* the pairing has x before w */
        const wg_block_arg *const a = &b->in[i < 2 ? 1 - i : i];
        v[i] = values_of(a, a->bar, a->bar_ld);
    }
    for (size_t i = 0; i < r.k.np; i++) {
        const wg_block_arg *const y = &b->out[i];
        memset(y->bar, 0, y->rows * y->cols * sizeof(double));
        if (r.k.wanted >> i & 1)
            hv[2 + i] = (wg_mat_result){y->bar, y->rows, y->cols, wgi_ld(y->rows)};
    }
    s = curve(&r, b->in[1].value, b->in[0].value, v, hv);
    for (size_t i = 0; s == WG_OK && i < r.k.np; i++) negate(&b->out[i], b->out[i].bar);
    return close_run(&r, s);
}

static wg_status adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                         const wg_mat *bar, wg_mat *back);

static const wg_block_op systems[2] = {{.name = "wg_cg",
                                        .shape = shape,
                                        .value = value,
                                        .vjp = vjp,
                                        .jvp = jvp,
                                        .adjoint = adjoint},
                                       {.name = "wg_gmres",
                                        .shape = shape,
                                        .value = value,
                                        .vjp = vjp,
                                        .jvp = jvp,
                                        .adjoint = adjoint}};
static const wg_block_op pullback = {.name = "derivative of a system by its parameters",
                                     .shape = pullback_shape,
                                     .value = pullback_value,
                                     .jvp = pullback_jvp};

static wg_status adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                         const wg_mat *bar, wg_mat *back) {
    linear k = *(const linear *)b->params;
    wg_mat of[2 + MOST_PARAMETERS];
    if (in[0].rows == 0) return WG_OK;
    k.c = wgi_core_of(t), k.turned = 1, k.wanted = 0;
    of[0] = bar[0];
    for (size_t i = 0; i < k.np; i++) {
        of[1 + i] = in[1 + i];
        if (in[1 + i].at.slot != 0) k.wanted |= 1u << i;
    }
    wg_status s = wg_apply(t, &systems[k.gmres], &k, sizeof k, 1 + k.np, of, 1, &back[0]);
    if (s != WG_OK || k.wanted == 0) return s;
    of[0] = back[0], of[1] = out[0];
    for (size_t i = 0; i < k.np; i++) of[2 + i] = in[1 + i];
    return wg_apply(t, &pullback, &k, sizeof k, 2 + k.np, of, k.np, back + 1);
}

/* ---- the calls ---- */

static wg_status too_many(wg_block *b) {
    return wgi_block_refuse(b, WG_EARG, "more than 14 parameters");
}
static wg_status no_parameters(wg_block *b) {
    return wgi_block_refuse(b, WG_ENULL, "the parameters are NULL");
}

static wg_mat solution(wg_tape *t, int gmres, wg_mat_callback *f, void *data, size_t np,
                       const wg_mat *p, wg_mat b, const wg_krylov *how) {
    const wg_krylov of = how != NULL ? *how : (wg_krylov){0, 0, 0};
    const linear k = {.c = t != NULL ? wgi_core_of(t) : NULL,
                      .f = f,
                      .data = data,
                      .np = np,
                      .gmres = gmres,
                      .iterations = of.iterations,
                      .restart = of.restart != 0 ? of.restart : 50,
                      .tolerance = of.tolerance != 0 ? of.tolerance : 1e-10};
    wg_mat in[1 + MOST_PARAMETERS] = {b}, x = wg_mat_failed(b.rows, 1);
    if (np > MOST_PARAMETERS || (np != 0 && p == NULL)) {
        wg_status (*const why)(wg_block *) = np > MOST_PARAMETERS ? too_many : no_parameters;
        const wg_block_op refused = {.name = systems[gmres].name, .shape = why, .value = why};
        (void)wg_apply(t, &refused, NULL, 0, 1, in, 1, &x);
        return wg_mat_failed(b.rows, 1);
    }
    for (size_t i = 0; i < np; i++) in[1 + i] = p[i];
    const wg_status s = wg_apply(t, &systems[gmres], &k, sizeof k, 1 + np, in, 1, &x);
    return s == WG_OK ? x : wg_mat_failed(b.rows, 1);
}

wg_mat wg_cg(wg_tape *t, wg_mat_callback *f, void *data, size_t np, const wg_mat *p, wg_mat b,
             const wg_krylov *how) {
    return solution(t, 0, f, data, np, p, b, how);
}
wg_mat wg_gmres(wg_tape *t, wg_mat_callback *f, void *data, size_t np, const wg_mat *p,
                wg_mat b, const wg_krylov *how) {
    return solution(t, 1, f, data, np, p, b, how);
}

/* SPDX-License-Identifier: MIT */
/* A step of the Kalman filter: prediction, observation, log-density of what was observed.
 *
 * Operands F, H, Q, R, y, x, P, of which Q, R, P are (Q + Q')/2 and so on; results x+, P+, l.
 *
 *     A = F P,  M = A F' + Q,  xm = F x,  B = H M,  S = B H' + R = L L',  v = y - H xm
 *     G = S^-1 B,  z = S^-1 v
 *     x+ = xm + B'z,  P+ = M - B'G,  l = -(m log 2 pi + log det S + v'z)/2
 *
 * Adjoint, of X, W = sym P+_ and w, the adjoints of x+, P+ and l, with u = G X:
 *     S_ = G W G' - sym(u z') + w/2 (z z' - S^-1),  B_ = z X' - 2 G W + S_ H,  v_ = u - w z
 *     M_ = W + sym(H' B_),  xm_ = X - H' v_
 *     y_ += v_,  R_ += S_,  H_ += S_ B + B_ M - v_ xm',  Q_ += M_
 *     F_ += 2 M_ A + xm_ x',  P_ += F' M_ F,  x_ += F' xm_
 * and tangent
 *     Mt = sym(2 Ft A') + F sym(Pt) F' + sym Qt,  xmt = Ft x + F xt,  Bt = Ht M + H Mt
 *     St = sym(Bt H' + B Ht' + Rt),  vt = yt - Ht xm - H xmt
 *     x+t = xmt + Bt'z + G'(vt - St z),  P+t = Mt - 2 sym(Bt'G) + G' St G
 *     lt = z'St z/2 - tr(S^-1 St)/2 - z'vt
 *
 * Products of order up to 16 are loops over vectors: a call of BLAS for each would cost more
 * than what it does. Source: Kalman 1960; Giles 2008, 2.2 and 2.3, for each line. */
#include <math.h>
#include <wengert/elementwise.h>
#include <wengert/reduce.h>
#include <wengert/solve.h>
#include <wengert/statistics.h>
#include "dense.h"
#include "expand.h"
#include "factor.h"
#include "products.h"
#include "tiny.h"
#include "traits.h"
#include "whole.h"

#define LOG_2_PI 1.8378770664093454836

enum { OF_F, OF_H, OF_Q, OF_R, OF_Y, OF_X, OF_P, OPERANDS };
enum { NEXT_X, NEXT_P, DENSITY, RESULTS };

extern const wg_block_op wgi_op_kalman;

/* saved: what the sweeps want of the head, all packed. */
typedef struct residuals {
    size_t n, m;
    wgi_view a, m_, xm, b, g, z, l;
} residuals;

static wgi_view taken(char **at, size_t rows, size_t cols) {
    return wgi_view_packed(wgi_take(at, rows * cols), rows, cols);
}
static residuals residuals_of(const wg_block *b) {
    const size_t n = b->in[OF_F].rows, m = b->in[OF_H].rows;
    char *at = b->saved;
    residuals k = {.n = n, .m = m};
    k.a = taken(&at, n, n), k.m_ = taken(&at, n, n), k.xm = taken(&at, n, 1);
    k.b = taken(&at, m, n), k.g = taken(&at, m, n), k.z = taken(&at, m, 1);
    k.l = taken(&at, m, m);
    return k;
}

static wg_status shape(wg_block *b) {
    const wg_block_arg *const in = b->in;
    const size_t n = in[OF_F].rows, m = in[OF_H].rows;
    static const char *const why[OPERANDS] = {
        "F is not square",
        "H has not a column for each state",
        "Q is not of the order of F",
        "R has not a row and a column for each observation",
        "y has not a row for each observation",
        "x has not a row for each state",
        "P is not of the order of F"};
    const size_t rows[OPERANDS] = {n, m, n, m, m, n, n}, cols[OPERANDS] = {n, n, n, m, 1, 1, n};
    for (size_t i = 0; i < OPERANDS; i++)
        if (in[i].rows != rows[i] || in[i].cols != cols[i])
            return wgi_block_refuse(b, WG_ESHAPE, why[i]);
    b->out[NEXT_X].rows = n, b->out[NEXT_X].cols = 1;
    b->out[NEXT_P].rows = b->out[NEXT_P].cols = n;
    b->out[DENSITY].rows = b->out[DENSITY].cols = 1;
    b->saved_bytes = 2 * wgi_room_of(n * n) + wgi_room_of(n) + 2 * wgi_room_of(m * n) +
                     wgi_room_of(m) + wgi_room_of(m * m);
    b->work_bytes = 3 * wgi_room_of(n * n) + 2 * wgi_room_of(m * n) + 3 * wgi_room_of(m * m) +
                    2 * wgi_room_of(n) + 2 * wgi_room_of(m);
    return WG_OK;
}

/* ---- pieces ---- */

/* c = alpha a b */
static void set(double alpha, wgi_view a, wgi_view b, wgi_view c) {
    wgi_view_clear(c);
    wgi_view_mul(alpha, a, b, c);
}
static wgi_view turned(wgi_view a) { return wgi_view_turn(a, 1); }
static void copy(wgi_view x, wgi_view y) { wgi_view_set(1, x, y); }
/* x = (x + x')/2, packed */
static void average(wgi_view x) {
    for (size_t j = 0; j < x.cols; j++)
        for (size_t i = 0; i < j; i++) {
            double *const upper = &x.p[i + j * x.ld], *const lower = &x.p[j + i * x.ld];
            *upper = *lower = 0.5 * *upper + 0.5 * *lower;
        }
}
static void average_of(wgi_view x, wgi_view y) {
    copy(x, y);
    average(y);
}

/* LAPACK's info */
static int factor(wgi_view s) {
    const int m = wgi_int(s.rows);
    if (s.rows <= WGI_TINY) return wgi_tiny_cholesky(s.rows, s.p);
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', m, s.p, m);
}
/* x = S^-1 x */
static void solve(wgi_view l, wgi_view x) {
    const int m = wgi_int(l.rows);
    if (l.rows == 0 || x.cols == 0) return;
    if (l.rows <= WGI_TINY) wgi_tiny_cholesky_solve(l.rows, l.p, x.cols, x.p);
    else (void)LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', m, wgi_int(x.cols), l.p, m, x.p, m);
}
/* s = S^-1, both triangles */
static void inverse(wgi_view l, wgi_view s) {
    copy(l, s);
    if (l.rows <= WGI_TINY) wgi_tiny_cholesky_inverse(l.rows, s.p);
    else wgi_cholesky_inverse(l.rows, l.p, s.p);
    wgi_mirror(l.rows, s.p, wgi_ld(l.rows));
}

/* ---- value ---- */

static wg_status value(wg_block *b) {
    const residuals k = residuals_of(b);
    const wgi_view f = wgi_view_value(&b->in[OF_F]), h = wgi_view_value(&b->in[OF_H]);
    const wgi_view x = wgi_view_value(&b->out[NEXT_X]), p = wgi_view_value(&b->out[NEXT_P]);
    const size_t m = k.m;
    double sum = 0;
    average_of(wgi_view_value(&b->in[OF_P]), p);
    set(1, f, p, k.a);
    copy(wgi_view_value(&b->in[OF_Q]), k.m_);
    wgi_view_mul(1, k.a, turned(f), k.m_);
    average(k.m_);
    set(1, f, wgi_view_value(&b->in[OF_X]), k.xm);
    set(1, h, k.m_, k.b);
    copy(wgi_view_value(&b->in[OF_R]), k.l);
    wgi_view_mul(1, k.b, turned(h), k.l);
    average(k.l);
    b->info = factor(k.l);
    if (b->info != 0)
        return wgi_block_refuse(
            b, WG_ESINGULAR,
            "the covariance of the observation, H (F P F' + Q) H' + R, is not positive definite");
    copy(k.b, k.g);
    solve(k.l, k.g);
    char *work = b->work;
    const wgi_view v = taken(&work, m, 1);
    copy(wgi_view_value(&b->in[OF_Y]), v);
    wgi_view_mul(-1, h, k.xm, v);
    copy(v, k.z);
    solve(k.l, k.z);
    for (size_t i = 0; i < m; i++) sum += 2 * log(k.l.p[i * (m + 1)]) + LOG_2_PI;
    b->out[DENSITY].value[0] = -0.5 * (sum + wgi_view_inner(v, k.z));
    copy(k.xm, x);
    wgi_view_mul(1, turned(k.b), k.z, x);
    copy(k.m_, p);
    wgi_view_mul(-1, turned(k.b), k.g, p);
    average(p);
    return WG_OK;
}

/* ---- derivatives ---- */

static int wanted(const wg_block *b, size_t i) { return b->in[i].bar != NULL; }
static wgi_view bar_of(const wg_block *b, size_t i) { return wgi_view_bar(&b->in[i]); }

/* s = S_, cotangent of the covariance of the observation. */
static void of_covariance(const residuals *k, double w, wgi_view gw, wgi_view u, wgi_view s) {
    const size_t m = k->m;
    if (w == 0) wgi_view_clear(s);
    else {
        inverse(k->l, s);
        wgi_view_set(-0.5 * w, s, s);
    }
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < m; i++)
            s.p[i + j * m] +=
                0.5 * (w * k->z.p[i] * k->z.p[j] - u.p[i] * k->z.p[j] - k->z.p[i] * u.p[j]);
    wgi_view_mul(1, gw, turned(k->g), s);
    average(s);
}

static wg_status vjp(wg_block *b) {
    const residuals k = residuals_of(b);
    const size_t n = k.n, m = k.m;
    const wgi_view f = wgi_view_value(&b->in[OF_F]), h = wgi_view_value(&b->in[OF_H]);
    const double w = b->out[DENSITY].bar[0];
    char *work = b->work;
    const wgi_view mb = taken(&work, n, n), room = taken(&work, n, n);
    const wgi_view bb = taken(&work, m, n), gw = taken(&work, m, n), s = taken(&work, m, m);
    const wgi_view u = taken(&work, m, 1), vb = taken(&work, m, 1), xb = taken(&work, n, 1);
    copy(wgi_view_bar(&b->out[NEXT_X]), xb);
    average_of(wgi_view_bar(&b->out[NEXT_P]), mb);
    set(1, k.g, xb, u);
    set(1, k.g, mb, gw);
    of_covariance(&k, w, gw, u, s);
    wgi_view_set(-2, gw, bb);
    wgi_view_mul(1, k.z, turned(xb), bb);
    wgi_view_mul(1, s, h, bb);
    for (size_t i = 0; i < m; i++) vb.p[i] = u.p[i] - w * k.z.p[i];
    if (wanted(b, OF_Y)) wgi_view_add(1, vb, bar_of(b, OF_Y));
    if (wanted(b, OF_R)) wgi_view_add(1, s, bar_of(b, OF_R));
    if (wanted(b, OF_H)) {
        wgi_view_mul(1, s, k.b, bar_of(b, OF_H));
        wgi_view_mul(1, bb, k.m_, bar_of(b, OF_H));
        wgi_view_mul(-1, vb, turned(k.xm), bar_of(b, OF_H));
    }
    wgi_view_mul(1, turned(h), bb, mb);
    average(mb);
    wgi_view_mul(-1, turned(h), vb, xb);
    if (wanted(b, OF_Q)) wgi_view_add(1, mb, bar_of(b, OF_Q));
    if (wanted(b, OF_F)) {
        wgi_view_mul(2, mb, k.a, bar_of(b, OF_F));
        wgi_view_mul(1, xb, turned(wgi_view_value(&b->in[OF_X])), bar_of(b, OF_F));
    }
    if (wanted(b, OF_X)) wgi_view_mul(1, turned(f), xb, bar_of(b, OF_X));
    if (!wanted(b, OF_P)) return WG_OK;
    const wgi_view pb = taken(&work, n, n);
    set(1, mb, f, room);
    set(1, turned(f), room, pb);
    average(pb);
    wgi_view_add(1, pb, bar_of(b, OF_P));
    return WG_OK;
}

static wg_status jvp(wg_block *b) {
    const residuals k = residuals_of(b);
    const size_t n = k.n, m = k.m;
    const wgi_view f = wgi_view_value(&b->in[OF_F]), h = wgi_view_value(&b->in[OF_H]);
    const wgi_view xt = wgi_view_bar(&b->out[NEXT_X]), pt = wgi_view_bar(&b->out[NEXT_P]);
    char *work = b->work;
    const wgi_view mt = taken(&work, n, n), room = taken(&work, n, n);
    const wgi_view bt = taken(&work, m, n), sg = taken(&work, m, n), st = taken(&work, m, m);
    const wgi_view vt = taken(&work, m, 1), inv = taken(&work, m, m);
    /* M and x of the prediction */
    wgi_view_clear(mt), wgi_view_clear(xt);
    if (wanted(b, OF_P)) {
        average_of(bar_of(b, OF_P), pt);
        set(1, f, pt, room);
        wgi_view_mul(1, room, turned(f), mt);
    }
    if (wanted(b, OF_F)) {
        wgi_view_mul(2, bar_of(b, OF_F), turned(k.a), mt);
        wgi_view_mul(1, bar_of(b, OF_F), wgi_view_value(&b->in[OF_X]), xt);
    }
    if (wanted(b, OF_Q)) wgi_view_add(1, bar_of(b, OF_Q), mt);
    average(mt);
    if (wanted(b, OF_X)) wgi_view_mul(1, f, bar_of(b, OF_X), xt);
    /* B, S, v */
    set(1, h, mt, bt), wgi_view_clear(st), wgi_view_clear(vt);
    if (wanted(b, OF_H)) {
        wgi_view_mul(1, bar_of(b, OF_H), k.m_, bt);
        wgi_view_mul(1, k.b, turned(bar_of(b, OF_H)), st);
        wgi_view_mul(-1, bar_of(b, OF_H), k.xm, vt);
    }
    wgi_view_mul(1, bt, turned(h), st);
    if (wanted(b, OF_R)) wgi_view_add(1, bar_of(b, OF_R), st);
    average(st);
    if (wanted(b, OF_Y)) wgi_view_add(1, bar_of(b, OF_Y), vt);
    wgi_view_mul(-1, h, xt, vt);
    /* results */
    double lt = -wgi_view_inner(k.z, vt);
    wgi_view_mul(-1, st, k.z, vt); /* vt - St z: z'St z comes once too often */
    inverse(k.l, inv);
    lt -= 0.5 * wgi_view_inner(inv, st);
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < m; i++) lt += 0.5 * k.z.p[i] * st.p[i + j * m] * k.z.p[j];
    b->out[DENSITY].bar[0] = lt;
    wgi_view_mul(1, turned(bt), k.z, xt);
    wgi_view_mul(1, turned(k.g), vt, xt);
    copy(mt, pt);
    wgi_view_mul(-2, turned(bt), k.g, pt);
    set(1, st, k.g, sg);
    wgi_view_mul(1, turned(k.g), sg, pt);
    average(pt);
    return WG_OK;
}

/* ---- in scalar statements ---- */

/* x = (x + x')/2 of order n */
static wg_real *write_average(wg_tape *t, size_t n, wg_real *x) {
    for (size_t j = 0; x != NULL && j < n; j++)
        for (size_t i = 0; i < j; i++)
            x[i + j * n] = x[j + i * n] =
                wg_let(t, wg_mul(0.5, wg_add(x[i + j * n], x[j + i * n])));
    return x;
}
/* a b + c; c.p NULL: nothing */
static wg_real *write_product(wg_tape *t, double alpha, wgi_reals a, wgi_reals b, wgi_reals c) {
    wg_real *const y = wgi_expand_room(t, a.rows * b.cols);
    if (y != NULL) wgi_products_write(t, wg_constant(alpha), a, b, wg_constant(1), c, y);
    return y;
}

static wg_status expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[OF_F].rows, m = b->in[OF_H].rows;
    const wgi_reals none = {NULL, 0, 0, 0, 0};
    wgi_reals in[OPERANDS];
    for (size_t i = 0; i < OPERANDS; i++) in[i] = wgi_reals_operand(b, x, i);
    const wgi_reals f = in[OF_F], h = in[OF_H];
    wg_real *const p = write_average(t, n, wgi_expand_copied(t, in[OF_P]));
    if (p == NULL) return wg_tape_status(t);
    wg_real *const a = write_product(t, 1, f, wgi_reals_packed(p, n, n), none);
    wg_real *const xm = write_product(t, 1, f, in[OF_X], none);
    if (a == NULL || xm == NULL) return wg_tape_status(t);
    wg_real *const mean = write_average(
        t, n, write_product(t, 1, wgi_reals_packed(a, n, n), wgi_reals_turn(f, 1), in[OF_Q]));
    if (mean == NULL) return wg_tape_status(t);
    wg_real *const hm = write_product(t, 1, h, wgi_reals_packed(mean, n, n), none);
    wg_real *const z = write_product(t, -1, h, wgi_reals_packed(xm, n, 1), in[OF_Y]);
    if (hm == NULL || z == NULL) return wg_tape_status(t);
    wg_real *const s = write_average(
        t, m, write_product(t, 1, wgi_reals_packed(hm, m, n), wgi_reals_turn(h, 1), in[OF_R]));
    wg_real *const l = s != NULL ? wgi_expand_cholesky(t, m, s) : NULL;
    wg_real *const g = wgi_expand_copied(t, wgi_reals_packed(hm, m, n));
    wg_real *const v = wgi_expand_copied(t, wgi_reals_packed(z, m, 1));
    if (l == NULL || g == NULL || v == NULL) return wg_tape_status(t);
    wgi_expand_cholesky_solve(t, m, l, n, g);
    wgi_expand_cholesky_solve(t, m, l, 1, z);
    wg_real sum = wgi_expand_dot(t, m, v, 1, z, 1);
    for (size_t i = 0; i < m; i++)
        sum = wgi_expand_plus(t, sum,
                              wg_let(t, wg_add(wg_mul(2, wg_log(l[i * (m + 1)])), LOG_2_PI)));
    const wgi_reals back = wgi_reals_turn(wgi_reals_packed(hm, m, n), 1);
    wgi_products_write(t, wg_constant(1), back, wgi_reals_packed(z, m, 1), wg_constant(1),
                       wgi_reals_packed(xm, n, 1), wgi_reals_result(b, y, NEXT_X));
    wg_real *const next = wgi_reals_result(b, y, NEXT_P);
    wgi_products_write(t, wg_constant(-1), back, wgi_reals_packed(g, m, n), wg_constant(1),
                       wgi_reals_packed(mean, n, n), next);
    (void)write_average(t, n, next);
    *wgi_reals_result(b, y, DENSITY) = wg_let(t, wg_mul(-0.5, sum));
    return WG_OK;
}

/* ---- the adjoint once more, in operations on matrices ---- */

static wg_mat symmetric_of(wg_tape *t, wg_mat x) {
    return wg_mat_axpby(t, 0.5, x, 0.5, wg_mat_transpose(x));
}
/* alpha op(a) op(b) + c */
static wg_mat product(wg_tape *t, char ta, char tb, double alpha, wg_mat a, wg_mat b,
                      const wg_mat *c) {
    return wg_gemm(t, ta, tb, alpha, a, b, c != NULL ? 1 : 0, c != NULL ? *c : a);
}

/* What an observation adds to the adjoints, and leaves in those of its prediction, X and W. */
static void adjoint_of_observation(wg_tape *t, const wg_mat *in, wg_mat mean, wg_mat w_density,
                                   wg_mat *x, wg_mat *w, wg_mat *back) {
    const wg_mat h = in[OF_H], xm = wg_matmul(t, in[OF_F], in[OF_X]),
                 hm = wg_matmul(t, h, mean);
    const wg_factor l = wg_potrf(t, symmetric_of(t, product(t, 'N', 'T', 1, hm, h, &in[OF_R])));
    const wg_mat g = wg_factor_solve(t, l, 'N', hm);
    const wg_mat z = wg_factor_solve(t, l, 'N', product(t, 'N', 'N', -1, h, xm, &in[OF_Y]));
    const wg_mat u = wg_matmul(t, g, *x), gw = wg_matmul(t, g, *w);
    const wg_mat wz = wg_mat_mul(t, w_density, z);
    const wg_mat half =
        wg_mat_mul(t, wg_mat_scale(t, -0.5, w_density), wg_factor_inverse(t, l));
    const wg_mat inner = product(t, 'N', 'T', 1, gw, g, &half);
    const wg_mat s =
        symmetric_of(t, product(t, 'N', 'T', 1, wg_mat_axpby(t, 0.5, wz, -1, u), z, &inner));
    const wg_mat zx = product(t, 'N', 'T', 1, z, *x, NULL);
    const wg_mat rest = wg_mat_axpby(t, 1, zx, -2, gw);
    const wg_mat bb = product(t, 'N', 'N', 1, s, h, &rest);
    const wg_mat vb = wg_mat_sub(t, u, wz);
    back[OF_R] = s, back[OF_Y] = vb;
    if (h.at.slot != 0) {
        const wg_mat first = wg_matmul(t, s, hm);
        const wg_mat both = product(t, 'N', 'N', 1, bb, mean, &first);
        back[OF_H] = product(t, 'N', 'T', -1, vb, xm, &both);
    }
    *w = wg_mat_add(t, *w, symmetric_of(t, product(t, 'T', 'N', 1, h, bb, NULL)));
    *x = product(t, 'T', 'N', -1, h, vb, x);
}

static wg_status adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                         const wg_mat *bar, wg_mat *back) {
    const size_t n = in[OF_F].rows, m = in[OF_H].rows;
    const wg_mat f = in[OF_F];
    (void)b, (void)out;
    const wg_mat a = wg_matmul(t, f, symmetric_of(t, in[OF_P]));
    wg_mat w = symmetric_of(t, bar[NEXT_P]), x = bar[NEXT_X];
    if (m != 0) {
        const wg_mat mean = symmetric_of(t, product(t, 'N', 'T', 1, a, f, &in[OF_Q]));
        adjoint_of_observation(t, in, mean, bar[DENSITY], &x, &w, back);
    }
    if (n == 0) return wg_tape_status(t);
    back[OF_Q] = w;
    if (f.at.slot != 0) {
        const wg_mat side = product(t, 'N', 'T', 1, x, in[OF_X], NULL);
        back[OF_F] = product(t, 'N', 'N', 2, w, a, &side);
    }
    if (in[OF_X].at.slot != 0) back[OF_X] = product(t, 'T', 'N', 1, f, x, NULL);
    if (in[OF_P].at.slot != 0)
        back[OF_P] = symmetric_of(t, wg_matmul(t, wg_mat_transpose(f), wg_matmul(t, w, f)));
    return wg_tape_status(t);
}

const wgi_whole wgi_whole_kalman = {
    &wgi_op_kalman, "nnmnnnmmm1n1nn", "n1nn11", NULL, NULL, 0, 0, 40};
static const wgi_traits traits = {.apart = 1, .whole = &wgi_whole_kalman};
const wg_block_op wgi_op_kalman = {
    "wg_kalman_step", WG_OP_TRANS | WG_OP_EXPANDS, shape, value, vjp, jvp, expand, adjoint,
    &traits};

/* What a call without a place for the state is. */
static wg_status without(wg_block *b) {
    return wgi_block_refuse(b, WG_ENULL, "the state, or its covariance, is NULL");
}
static const wg_block_op refused = {
    .name = "wg_kalman_step", .shape = without, .value = without};

wg_real wg_kalman_step(wg_tape *t, wg_mat f, wg_mat h, wg_mat q, wg_mat r, wg_mat y, wg_mat *x,
                       wg_mat *p) {
    const int all = x != NULL && p != NULL;
    const wg_mat in[OPERANDS] = {f, h, q, r, y, all ? *x : f, all ? *p : f};
    wg_mat out[RESULTS];
    (void)wg_apply(t, all ? &wgi_op_kalman : &refused, NULL, 0, OPERANDS, in, RESULTS, out);
    if (x != NULL) *x = all ? out[NEXT_X] : wg_mat_failed(f.rows, 1);
    if (p != NULL) *p = all ? out[NEXT_P] : wg_mat_failed(f.rows, f.rows);
    return all ? wg_mat_at(out[DENSITY], 0, 0) : wg_constant(NAN);
}

/* SPDX-License-Identifier: MIT */
/* solve.c - a distributed symmetric positive definite system, and the logarithm of its
 * determinant.
 *
 * A = L L' of the lower triangle, kept. A X = B. With W = A^-1 X_:
 *     B_ += W,  A_ += w A^-1 - (W X' + X W') / 2
 *     Xt = A^-1 (Bt - S X),  logdett = sum(A^-1 o S),  S = (At + At') / 2
 * Of symmetric matrices the lower triangle is computed, and copied by a transposition.
 * Source: Giles 2008, 2.3. */
#include "internal.h"
#include <wengert/elementwise.h>
#include <math.h>
#include <string.h>

typedef struct params {
    wg_scalapack *g;
    size_t n, k, block;
    int logdet; /* is it wanted? */
} params;

static const int one = 1;

static wgi_desc desc(const params *p, size_t cols, size_t ld) {
    return wgi_scalapack_desc(p->g, p->n, cols, p->block, ld);
}

/* The numbers, among all, of a row and a column of the part. */
static size_t row(const params *p, size_t i) { return wg_scalapack_row(p->g, i, p->block); }
static size_t col(const params *p, size_t j) { return wg_scalapack_col(p->g, j, p->block); }

static wg_status shape(wg_block *b) {
    const size_t a = wgi_scalapack_size(&b->in[0]), x = wgi_scalapack_size(&b->in[1]);
    b->out[0].rows = b->in[1].rows, b->out[0].cols = b->in[1].cols;
    b->out[1].rows = b->out[1].cols = 1;
    b->saved_bytes = (a + 1) * sizeof(double);
    b->work_bytes = (3 * a + x + 1) * sizeof(double);
    return WG_OK;
}

static wg_status enter(const params *p, const wg_block *b, uint64_t phase, unsigned *bits) {
    uint64_t detail = wgi_scalapack_mix(phase * 2 + (uint64_t)p->logdet, b->lanes);
    detail =
        wgi_scalapack_mix(wgi_scalapack_mix(wgi_scalapack_mix(detail, p->n), p->k), p->block);
    return wgi_scalapack_agree(p->g, WG_OK, WGI_SCALAPACK_SOLVE, detail, bits);
}

/* y = A^-1 y. */
static void solve(const params *p, const wg_block *b, double *y, size_t ld) {
    const wgi_desc dl = desc(p, p->n, b->in[0].rows), dy = desc(p, p->k, ld);
    const int n = (int)p->n, k = (int)p->k;
    int info = 0;
    if (n != 0 && k != 0)
        pdpotrs_("L", &n, &k, b->saved, &one, &one, dl.d, y, &one, &one, dy.d, &info, 1);
}

/* The lower triangle of A^-1; the other one is not to be looked at. */
static void invert(const params *p, const wg_block *b, double *to) {
    const wg_block_arg *const a = &b->in[0];
    const wgi_desc d = desc(p, p->n, a->rows);
    const int n = (int)p->n;
    int info = 0;
    memcpy(to, b->saved, wgi_scalapack_size(a) * sizeof *to);
    if (n != 0) pdpotri_("L", &n, to, &one, &one, d.d, &info, 1);
}

static void transpose(const params *p, const wg_block_arg *a, const double *from, double *to) {
    const wgi_desc d = desc(p, p->n, a->rows);
    const int n = (int)p->n;
    const double alpha = 1, beta = 0;
    if (n != 0) pdtran_(&n, &n, &alpha, from, &one, &one, d.d, &beta, to, &one, &one, d.d);
}

/* The factor, in saved; *sum: this rank's part of the log-determinant. Gives the order of the
 * first minor that is not positive, or 0. */
static int factor(const params *p, wg_block *b, double *sum) {
    const wg_block_arg *const a = &b->in[0];
    const wgi_desc d = desc(p, p->n, a->rows);
    double *const l = b->saved;
    const int n = (int)p->n;
    int info = 0;
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            l[i + j * a->rows] = row(p, i) >= col(p, j) ? a->value[i + j * a->ld] : 0;
    if (n != 0) pdpotrf_("L", &n, l, &one, &one, d.d, &info, 1);
    *sum = 0;
    for (size_t j = 0; j < a->cols && info == 0; j++)
        for (size_t i = 0; i < a->rows; i++)
            if (row(p, i) == col(p, j)) {
                const double x = l[i + j * a->rows];
                if (!(x > 0 && x < INFINITY) && info == 0) info = (int)(row(p, i) + 1);
                *sum += 2 * log(x);
            }
    return info;
}

static wg_status value(wg_block *b) {
    const params *const p = b->params;
    wg_scalapack *const g = p->g;
    const wg_block_arg *const y = &b->in[1], *const x = &b->out[0];
    wg_status s = enter(p, b, 0, NULL);
    if (s != WG_OK) return wgi_scalapack_done(g, b, s);
    double *const sum = b->out[1].value;
    const int mine = factor(p, b, sum), none = (int)p->n + 1;
    int first = mine > 0 ? mine : none, least = none; /* of all minors that are not */
    if (MPI_Allreduce(&first, &least, 1, MPI_INT, MPI_MIN, g->comm) != MPI_SUCCESS)
        return WG_ECALLBACK;
    if (least != none) {
        b->info = least;
        b->why = "the matrix is not positive definite";
        return WG_ESINGULAR;
    }
    if (p->logdet) s = wgi_scalapack_sum(g, sum, 1);
    else *sum = 0;
    for (size_t j = 0; j < x->cols; j++)
        memcpy(x->value + j * x->ld, y->value + j * y->ld, x->rows * sizeof(double));
    solve(p, b, x->value, x->ld);
    return wgi_scalapack_done(g, b, s);
}

/* a_ += G in lane l, by its lower triangle t; u: room. */
static void add_symmetric(const params *p, const wg_block_arg *a, size_t lanes, size_t l,
                          double *t, double *u) {
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            if (row(p, i) < col(p, j)) t[i + j * a->rows] = 0;
    transpose(p, a, t, u);
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            if (row(p, i) < col(p, j)) t[i + j * a->rows] = u[i + j * a->rows];
    wgi_scalapack_add(a, lanes, l, t);
}

static wg_status vjp(wg_block *b) {
    const params *const p = b->params;
    const wg_block_arg *const a = &b->in[0], *const y = &b->in[1], *const x = &b->out[0];
    const size_t square = wgi_scalapack_size(a);
    unsigned bits = (a->bar != NULL ? WGI_FIRST : 0) | (y->bar != NULL ? WGI_SECOND : 0) |
                    (wgi_scalapack_any(x, b->lanes) ? WGI_ANY : 0);
    wg_status s = enter(p, b, 1, &bits);
    double *const t = b->work, *const u = t + square, *const inverse = u + square;
    double *const w = inverse + square;
    const wgi_desc dt = desc(p, p->n, a->rows), dw = desc(p, p->k, x->rows);
    const wgi_desc dx = desc(p, p->k, x->ld);
    const int n = (int)p->n, k = (int)p->k, solves = (bits & WGI_ANY) != 0 && n != 0 && k != 0;
    const double half = -0.5, nothing = 0;
    int inverted = 0;
    for (size_t l = 0; s == WG_OK && l < b->lanes; l++) {
        double of_log = b->out[1].bar[l];
        if (p->logdet) s = wgi_scalapack_sum(p->g, &of_log, 1);
        else of_log = 0;
        if (s != WG_OK) break;
        if (solves) {
            wgi_scalapack_take(x, b->lanes, l, w);
            solve(p, b, w, x->rows);
            wgi_scalapack_add(y, b->lanes, l, w);
        }
        if (!(bits & WGI_FIRST) || (!solves && of_log == 0)) continue;
        memset(t, 0, square * sizeof *t);
        if (solves)
            pdsyr2k_("L", "N", &n, &k, &half, w, &one, &one, dw.d, x->value, &one, &one, dx.d,
                     &nothing, t, &one, &one, dt.d);
        if (of_log != 0) {
            if (!inverted) invert(p, b, inverse), inverted = 1;
            for (size_t i = 0; i < square; i++) t[i] += of_log * inverse[i];
        }
        add_symmetric(p, a, b->lanes, l, t, u);
    }
    return wgi_scalapack_done(p->g, b, s);
}

/* S in lane l; u: room. */
static void symmetric_tangent(const params *p, const wg_block_arg *a, size_t lanes, size_t l,
                              double *t, double *u) {
    wgi_scalapack_take(a, lanes, l, t);
    transpose(p, a, t, u);
    for (size_t i = 0; i < wgi_scalapack_size(a); i++) t[i] = 0.5 * (t[i] + u[i]);
}

/* sum(A^-1 o S) over this rank's part of the lower triangle. */
static double trace(const params *p, const wg_block_arg *a, const double *inverse,
                    const double *t) {
    double sum = 0;
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) {
            const size_t r = row(p, i), c = col(p, j), at = i + j * a->rows;
            if (r >= c) sum += (r == c ? 1 : 2) * inverse[at] * t[at];
        }
    return sum;
}

static wg_status jvp(wg_block *b) {
    const params *const p = b->params;
    const wg_block_arg *const a = &b->in[0], *const y = &b->in[1], *const x = &b->out[0];
    const size_t square = wgi_scalapack_size(a);
    unsigned bits = (a->bar != NULL ? WGI_FIRST : 0) | (y->bar != NULL ? WGI_SECOND : 0);
    wg_status s = enter(p, b, 2, &bits);
    double *const t = b->work, *const u = t + square, *const inverse = u + square;
    double *const w = inverse + square, *const of_log = b->out[1].bar;
    const wgi_desc dt = desc(p, p->n, a->rows), dw = desc(p, p->k, x->rows);
    const wgi_desc dx = desc(p, p->k, x->ld);
    const int n = (int)p->n, k = (int)p->k, varies = (bits & WGI_FIRST) != 0 && n != 0;
    const double minus = -1, plus = 1;
    if (s != WG_OK) return wgi_scalapack_done(p->g, b, s);
    if (varies && p->logdet) invert(p, b, inverse);
    for (size_t l = 0; l < b->lanes; l++) {
        of_log[l] = 0;
        wgi_scalapack_take(y, b->lanes, l, w);
        if (varies) symmetric_tangent(p, a, b->lanes, l, t, u);
        if (varies && p->logdet) of_log[l] = trace(p, a, inverse, t);
        if (varies && k != 0)
            pdgemm_("N", "N", &n, &k, &n, &minus, t, &one, &one, dt.d, x->value, &one, &one,
                    dx.d, &plus, w, &one, &one, dw.d);
        solve(p, b, w, x->rows);
        wgi_scalapack_put(x, b->lanes, l, w);
    }
    if (p->logdet) s = wgi_scalapack_sum(p->g, of_log, (int)b->lanes);
    return wgi_scalapack_done(p->g, b, s);
}

/* This rank's part of the identity, by the workspace. */
static wg_mat identity(wg_tape *t, const params *p, const wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    double *const e = b->work;
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            e[i + j * a->rows] = row(p, i) == col(p, j) ? 1 : 0;
    return wg_mat_constant(t, a->rows, a->cols, e, a->rows > 0 ? a->rows : 1);
}

/* vjp in operations that know their own derivatives; A^-1 as the solution of a system. */
static wg_status adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                         const wg_mat *bar, wg_mat *back) {
    const params *const p = b->params;
    const wg_scalapack_mat a = {p->g, p->n, p->n, p->block, in[0]};
    const wg_scalapack_mat x = {p->g, p->n, p->k, p->block, out[0]};
    wg_scalapack_mat w = {p->g, p->n, p->k, p->block, bar[0]}, inverse = a;
    const int solves = p->k != 0;
    if (solves) {
        (void)wg_scalapack_solve_spd(t, a, w, &w, NULL);
        back[1] = w.local;
        const wg_mat first = wg_scalapack_gemm(t, 'N', 'T', -0.5, w, x).local;
        back[0] = wg_mat_add(t, first, wg_scalapack_gemm(t, 'N', 'T', -0.5, x, w).local);
    }
    if (p->logdet) {
        const wg_real of_log = wgi_scalapack_total(t, p->g, bar[1]);
        inverse.local = identity(t, p, b);
        (void)wg_scalapack_solve_spd(t, a, inverse, &inverse, NULL);
        const wg_mat more = wg_mat_scale_real(t, of_log, inverse.local);
        back[0] = solves ? wg_mat_add(t, back[0], more) : more;
    }
    return wg_tape_status(t);
}

static const wg_block_op solve_op = {.name = "wg_scalapack_solve_spd",
                                     .flags = WG_OP_ALWAYS,
                                     .shape = shape,
                                     .value = value,
                                     .vjp = vjp,
                                     .jvp = jvp,
                                     .adjoint = adjoint};

wg_status wg_scalapack_solve_spd(wg_tape *t, wg_scalapack_mat a, wg_scalapack_mat b,
                                 wg_scalapack_mat *x, wg_real *logdet) {
    wg_scalapack *const g = a.grid;
    wg_mat out[2] = {wg_mat_failed(0, 0), wg_mat_failed(1, 1)};
    if (x == NULL)
        b = (wg_scalapack_mat){g, a.rows, 0, a.block, wg_mat_fill(t, a.local.rows, 0, 0)};
    wg_status s;
    const char *why = wgi_scalapack_odd(a, b, &s);
    if (g == NULL) why = "no grid", s = WG_ENULL;
    else if (why == NULL && (a.rows != a.cols || a.rows != b.rows))
        why = a.rows != a.cols ? "the matrix is not square" : "the shapes do not fit",
        s = WG_ESHAPE;
    if (x != NULL) *x = wgi_scalapack_failed(g, a.rows, b.cols, a.block);
    if (why != NULL) s = wgi_scalapack_refuse(t, g, s, solve_op.name, why, WGI_SCALAPACK_SOLVE);
    else {
        const params p = {g, a.rows, b.cols, a.block, logdet != NULL};
        const wg_mat in[2] = {a.local, b.local};
        s = wgi_scalapack_apply(t, g, &solve_op, &p, sizeof p, WGI_SCALAPACK_SOLVE, 2, in, 2,
                                out);
        if (x != NULL && s == WG_OK) x->local = out[0];
    }
    if (logdet != NULL) *logdet = wg_mat_at(out[1], 0, 0);
    return s;
}

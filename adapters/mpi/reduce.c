/* SPDX-License-Identifier: MIT */
/* reduce.c - numbers of all ranks that become one: reductions, and sums up to a rank.
 *
 * Of each rank's own number x the result y has the partial p: 1 of a sum; the product of the
 * others, from those of lower and of higher ranks, of a product; an equal share where x = y, of
 * the largest and the least. Tangents p xt are summed, adjoints of y are summed and multiplied
 * by p. p of a product has tangents itself, on which second derivatives stand: those of a
 * product of numbers with tangents. */
#include "internal.h"
#include <wengert/elementwise.h>
#include <limits.h>
#include <stdlib.h>

enum { LARGEST = INT_MAX / 64 };

static int to_root(const wgi_mpi_params *p) { return p->source == (int)WGI_MPI_reduce; }

static wg_status shape(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    const wg_block_arg *const x = &b->in[0];
    if (b->outputs > 1) b->out[0].rows = x->rows, b->out[0].cols = x->cols;
    wgi_mpi_token_shape(b);
    if (x->cols != 0 && x->rows > LARGEST / x->cols) {
        b->why = "more numbers than a message may have";
        return WG_ESHAPE;
    }
    if (p->op != WG_MPI_SUM) b->saved_bytes = x->rows * x->cols * sizeof(double);
    return WG_OK;
}

static wg_status enter(const wgi_mpi_params *p, const wg_block *b, wgi_phase phase) {
    const uint64_t root = (uint64_t)p->peer * 16 + (uint64_t)p->counted * 8 + (uint64_t)p->op;
    return wgi_mpi_enter(p->m, (wgi_mpi_call)p->source, phase,
                         wgi_mpi_mix(wgi_mpi_mix(root, wgi_mpi_size(&b->in[0])), b->lanes));
}

static int reduce(const wgi_mpi_params *p, wgi_phase phase, const double *from, double *to,
                  size_t n, MPI_Op op) {
    const MPI_Comm comm = p->m->comm[phase];
    return to_root(p) ? MPI_Reduce(from, to, (int)n, MPI_DOUBLE, op, p->peer, comm)
                      : MPI_Allreduce(from, to, (int)n, MPI_DOUBLE, op, comm);
}

static int product_of_others(wg_mpi *m, const double *x, size_t n, double *right, double *p) {
    for (size_t i = 0; i < n; i++) p[i] = right[i] = 1; /* of the first rank, and of the last */
    const int error = MPI_Exscan(x, p, (int)n, MPI_DOUBLE, MPI_PROD, m->comm[WGI_VALUES]);
    if (error != MPI_SUCCESS) return error;
    const int again = MPI_Exscan(x, right, (int)n, MPI_DOUBLE, MPI_PROD, m->reversed);
    for (size_t i = 0; m->rank == 0 && i < n; i++) p[i] = 1;
    for (size_t i = 0; m->rank == m->size - 1 && i < n; i++) right[i] = 1;
    for (size_t i = 0; i < n; i++) p[i] *= right[i];
    return again;
}

/* y: the largest or the least, on all ranks. */
static int shares(wg_mpi *m, const double *x, size_t n, MPI_Op op, double *y, double *p) {
    const MPI_Comm comm = m->comm[WGI_VALUES];
    int error = MPI_Allreduce(x, y, (int)n, MPI_DOUBLE, op, comm);
    for (size_t i = 0; i < n; i++) p[i] = x[i] == y[i] || (x[i] != x[i] && y[i] != y[i]);
    double *const equal = wgi_mpi_room(m, 2, n);
    if (equal == NULL) return MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS)
        error = MPI_Allreduce(p, equal, (int)n, MPI_DOUBLE, MPI_SUM, comm);
    for (size_t i = 0; error == MPI_SUCCESS && i < n; i++) p[i] /= equal[i];
    return error;
}

/* The same of x[i] with the number index[i]. What is found stays in the last room. */
static int located_shares(wg_mpi *m, const double *x, const int *index, size_t n, MPI_Op op,
                          double *y, double *p) {
    const MPI_Comm comm = m->comm[WGI_VALUES];
    wgi_located *const mine = (wgi_located *)(void *)wgi_mpi_room(m, 1, 2 * n);
    wgi_located *const best = (wgi_located *)(void *)wgi_mpi_room(m, 2, 2 * n);
    if (mine == NULL || best == NULL) return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < n; i++) mine[i] = (wgi_located){x[i], index[i]};
    int error = MPI_Allreduce(mine, best, (int)n, MPI_DOUBLE_INT, op, comm);
    for (size_t i = 0; i < n; i++) {
        const double a = best[i].value;
        p[i] = (x[i] == a || (x[i] != x[i] && a != a)) && index[i] == best[i].at;
        if (y != NULL) y[i] = a;
    }
    double *const equal = (double *)mine;
    if (error == MPI_SUCCESS)
        error = MPI_Allreduce(p, equal, (int)n, MPI_DOUBLE, MPI_SUM, comm);
    for (size_t i = 0; error == MPI_SUCCESS && i < n; i++) p[i] /= equal[i];
    return error;
}

static int is_located(const wgi_mpi_params *p) { return p->counted; }

static wg_status value(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const size_t n = wgi_mpi_size(&b->in[0]);
    wgi_mpi_token_value(b);
    /* room before the others are met: who has none tells them there */
    const int pairs = p->op == WG_MPI_MIN || p->op == WG_MPI_MAX;
    const double *const x = wgi_mpi_flat(m, &b->in[0], 0, 1, 0);
    double *const room = wgi_mpi_room(m, 1, pairs ? 2 * n : n);
    const int none = x == NULL || room == NULL || (pairs && wgi_mpi_room(m, 2, 2 * n) == NULL);
    const wg_status s = enter(p, b, WGI_VALUES);
    if (s != WG_OK || none) return wgi_mpi_done(m, b, s != WG_OK ? s : WG_ENOMEM);
    double *const y = b->outputs > 1 ? b->out[0].value : room;
    int error;
    if (is_located(p))
        error =
            located_shares(m, x, p->count, n, p->op == WG_MPI_MIN ? m->least_at : m->largest_at,
                           b->outputs > 1 ? y : NULL, b->saved);
    else if (p->op == WG_MPI_MIN || p->op == WG_MPI_MAX)
        error = shares(m, x, n, p->op == WG_MPI_MIN ? m->least : m->largest, y, b->saved);
    else {
        error = reduce(p, WGI_VALUES, x, y, n, p->op == WG_MPI_SUM ? MPI_SUM : MPI_PROD);
        if (error == MPI_SUCCESS && p->op == WG_MPI_PROD)
            error = product_of_others(m, x, n, room, b->saved);
    }
    return wgi_mpi_done(m, b, wgi_mpi_error(m, error));
}

static wg_status jvp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const size_t n = wgi_mpi_size(&b->in[0]) * b->lanes;
    const double *const xt = wgi_mpi_flat(m, &b->in[0], 1, b->lanes, 0), *from = xt;
    double *const room = wgi_mpi_room(m, 1, n);
    const wg_status s = enter(p, b, WGI_TANGENTS);
    if (s != WG_OK || xt == NULL || room == NULL)
        return wgi_mpi_done(m, b, s != WG_OK ? s : WG_ENOMEM);
    const double *const partial = b->saved;
    for (size_t i = 0; p->op != WG_MPI_SUM && i < n; i++) {
        const double d = partial[i / b->lanes];
        room[i] = d == 0 || xt[i] == 0 ? 0 : d * xt[i];
        from = room;
    }
    double *const to = b->outputs > 1 ? b->out[0].bar : NULL;
    return wgi_mpi_done(m, b, wgi_mpi_error(m, reduce(p, WGI_TANGENTS, from, to, n, MPI_SUM)));
}

static wg_status vjp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const size_t n = wgi_mpi_size(&b->in[0]) * b->lanes;
    double *const w = wgi_mpi_room(m, 1, n);
    wg_status s = enter(p, b, WGI_ADJOINTS);
    if (s != WG_OK || w == NULL) return wgi_mpi_done(m, b, s != WG_OK ? s : WG_ENOMEM);
    const MPI_Comm comm = m->comm[WGI_ADJOINTS];
    if (to_root(p)) {
        for (size_t i = 0; b->outputs > 1 && i < n; i++) w[i] = b->out[0].bar[i];
        s = wgi_mpi_error(m, MPI_Bcast(w, (int)n, MPI_DOUBLE, p->peer, comm));
    } else
        s = wgi_mpi_error(m,
                          MPI_Allreduce(b->out[0].bar, w, (int)n, MPI_DOUBLE, MPI_SUM, comm));
    if (s == WG_OK && p->op == WG_MPI_SUM) wgi_mpi_add(&b->in[0], w, b->lanes);
    else if (s == WG_OK) wgi_mpi_add_product(&b->in[0], b->saved, w, b->lanes);
    return wgi_mpi_done(m, b, s);
}

/* ---- second derivatives of products ----------------------------------------------------- */

enum { OTHERS = WG_MPI_MAX + 1 }; /* beside wg_mpi_op: the product of the others */

static wg_status others_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}

static wg_status others_value(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const size_t n = wgi_mpi_size(&b->in[0]);
    const double *const x = wgi_mpi_flat(m, &b->in[0], 0, 1, 0);
    double *const right = wgi_mpi_room(m, 1, n);
    const wg_status s = enter(p, b, WGI_VALUES);
    if (s != WG_OK || x == NULL || right == NULL)
        return wgi_mpi_done(m, b, s != WG_OK ? s : WG_ENOMEM);
    return wgi_mpi_done(m, b,
                        wgi_mpi_error(m, product_of_others(m, x, n, right, b->out[0].value)));
}

/* Each number, and behind it its tangents. */
static void pack(const wg_block_arg *x, size_t lanes, double *to) {
    for (size_t j = 0; j < x->cols; j++)
        for (size_t i = 0; i < x->rows; i++) {
            const size_t at = (i + j * x->bar_ld) * lanes;
            *to++ = x->value[i + j * x->ld];
            for (size_t l = 0; l < lanes; l++) *to++ = x->bar != NULL ? x->bar[at + l] : 0;
        }
}

static void pack_ones(size_t n, size_t lanes, double *to) {
    for (size_t i = 0; i < n; i++) {
        *to++ = 1;
        for (size_t l = 0; l < lanes; l++) *to++ = 0;
    }
}

/* Products of those of lower ranks, and of higher ones. */
static int products(wg_mpi *m, size_t n, size_t lanes, const double *own, double *left,
                    double *right) {
    MPI_Datatype dual;
    int error = MPI_Type_contiguous((int)lanes + 1, MPI_DOUBLE, &dual);
    if (error != MPI_SUCCESS) return error;
    error = MPI_Type_commit(&dual);
    if (error == MPI_SUCCESS)
        error = MPI_Exscan(own, left, (int)n, dual, m->products, m->comm[WGI_TANGENTS]);
    if (error == MPI_SUCCESS)
        error = MPI_Exscan(own, right, (int)n, dual, m->products, m->reversed);
    (void)MPI_Type_free(&dual);
    /* there nothing is written */
    if (m->rank == 0) pack_ones(n, lanes, left);
    if (m->rank == m->size - 1) pack_ones(n, lanes, right);
    return error;
}

static wg_status others_jvp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const size_t n = wgi_mpi_size(&b->in[0]), each = b->lanes + 1;
    double *room[WGI_ROOMS];
    int none = 0;
    for (int k = 0; k < WGI_ROOMS; k++)
        none |= (room[k] = wgi_mpi_room(m, k, n * each)) == NULL;
    wg_status s = enter(p, b, WGI_TANGENTS);
    if (s != WG_OK || none) return wgi_mpi_done(m, b, s != WG_OK ? s : WG_ENOMEM);
    double *const own = room[0], *const left = room[1], *const right = room[2];
    pack(&b->in[0], b->lanes, own);
    s = wgi_mpi_error(m, products(m, n, b->lanes, own, left, right));
    if (s == WG_OK) wgi_mpi_multiply(left, right, n, each);
    for (size_t i = 0; s == WG_OK && i < n; i++)
        for (size_t l = 0; l < b->lanes; l++)
            b->out[0].bar[i * b->lanes + l] = right[i * each + 1 + l];
    return wgi_mpi_done(m, b, s);
}

/* On the tape of product_adjoint, which is a forward one. */
static const wg_block_op others_op = {.name = "WG_MPI_PROD",
                                      .flags = WG_OP_ALWAYS,
                                      .shape = others_shape,
                                      .value = others_value,
                                      .jvp = others_jvp};

static wg_status product_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const wgi_mpi_params of_others = {
        .m = m, .peer = p->peer, .op = OTHERS, .source = p->source};
    wg_mat others = wg_mat_failed(in[0].rows, in[0].cols);
    (void)out;
    if (in[0].rows * in[0].cols == 0) return wg_tape_status(t); /* on all ranks */
    const wg_mat w = to_root(p)
                         ? wg_mpi_mat_bcast(t, bar[0], in[0].rows, in[0].cols, p->peer, m)
                         : wg_mpi_mat_allreduce(t, bar[0], WG_MPI_SUM, m);
    (void)wgi_mpi_apply(t, &others_op, &of_others, sizeof of_others, (wgi_mpi_call)p->source, 1,
                        in, 1, &others);
    back[0] = wg_mat_mul(t, others, w);
    return wg_tape_status(t);
}

#define REDUCTION(NAME)                                                                        \
    {                                                                                          \
        .name = NAME, .flags = WGI_MPI_LINEAR, .shape = shape, .value = value, .vjp = vjp,     \
        .jvp = jvp                                                                             \
    }
#define PRODUCT(NAME)                                                                          \
    {                                                                                          \
        .name = NAME, .flags = WG_OP_ALWAYS, .shape = shape, .value = value, .vjp = vjp,       \
        .jvp = jvp, .adjoint = product_adjoint                                                 \
    }
static const wg_block_op product_op = PRODUCT("wg_mpi_reduce"),
                         all_product_op = PRODUCT("wg_mpi_allreduce"),
                         reduce_op = REDUCTION("wg_mpi_reduce"),
                         allreduce_op = REDUCTION("wg_mpi_allreduce"),
                         reduce_loc_op = REDUCTION("wg_mpi_reduce_loc"),
                         allreduce_loc_op = REDUCTION("wg_mpi_allreduce_loc");

static wg_status reduction(wg_tape *t, const wg_block_op *op, wgi_mpi_call call, wg_mat x,
                           int with, int root, wg_mpi *m, wg_mat *y) {
    wg_mat out[2] = {wg_mat_failed(x.rows, x.cols), wg_mat_failed(1, 1)};
    *y = out[0];
    if (m == NULL) return wgi_mpi_refuse(t, m, WG_ENULL, op->name, "no communicator", call);
    if (with < WG_MPI_SUM || with > WG_MPI_MAX)
        return wgi_mpi_refuse(t, m, WG_EARG, op->name, "no wg_mpi_op", call);
    if (root < 0 || root >= m->size)
        return wgi_mpi_refuse(t, m, WG_EARG, op->name, "no rank is the root", call);
    const int here = call != WGI_MPI_reduce || m->rank == root;
    if (with == WG_MPI_PROD) op = call == WGI_MPI_reduce ? &product_op : &all_product_op;
    const wgi_mpi_params p = {.m = m, .peer = root, .op = with, .source = (int)call};
    const wg_status s = wgi_mpi_apply(t, op, &p, sizeof p, call, 1, &x, here ? 2 : 1, out);
    *y = out[0];
    return s;
}

wg_mat wg_mpi_mat_reduce(wg_tape *t, wg_mat x, wg_mpi_op op, int root, wg_mpi *m) {
    wg_mat y;
    const wg_status s = reduction(t, &reduce_op, WGI_MPI_reduce, x, (int)op, root, m, &y);
    return s == WG_OK && m->rank != root ? wg_mat_fill(t, 0, 0, 0) : y;
}

wg_mat wg_mpi_mat_allreduce(wg_tape *t, wg_mat x, wg_mpi_op op, wg_mpi *m) {
    wg_mat y;
    (void)reduction(t, &allreduce_op, WGI_MPI_allreduce, x, (int)op, 0, m, &y);
    return y;
}

wg_status wg_mpi_reduce(wg_tape *t, const wg_real *x, wg_real *y, size_t n, wg_mpi_op op,
                        int root, wg_mpi *m) {
    wg_mat got;
    const wg_status s =
        reduction(t, &reduce_op, WGI_MPI_reduce, wgi_mpi_row(t, n, x), (int)op, root, m, &got);
    return wgi_mpi_write(t, m, reduce_op.name, s, got, m != NULL && m->rank == root ? n : 0, y);
}

wg_status wg_mpi_allreduce(wg_tape *t, const wg_real *x, wg_real *y, size_t n, wg_mpi_op op,
                           wg_mpi *m) {
    wg_mat got;
    const wg_status s = reduction(t, &allreduce_op, WGI_MPI_allreduce, wgi_mpi_row(t, n, x),
                                  (int)op, 0, m, &got);
    return wgi_mpi_write(t, m, allreduce_op.name, s, got, n, y);
}

/* ---- with an index ---------------------------------------------------------------------- */

static wg_status located(wg_tape *t, const wg_block_op *op, wgi_mpi_call call, const wg_real *x,
                         const int *index, wg_real *y, int *at, size_t n, wg_mpi_op with,
                         int root, wg_mpi *m) {
    const char *why = NULL;
    wg_status bad = WG_EARG;
    if (m == NULL) return wgi_mpi_refuse(t, m, WG_ENULL, op->name, "no communicator", call);
    const int here = call != WGI_MPI_reduce || m->rank == root;
    if (with != WG_MPI_MIN && with != WG_MPI_MAX) why = "neither WG_MPI_MIN nor WG_MPI_MAX";
    else if (root < 0 || root >= m->size) why = "no rank is the root";
    else if (n > LARGEST) why = "more numbers than a message may have", bad = WG_ESHAPE;
    else if (n != 0 && (x == NULL || index == NULL || (here && (y == NULL || at == NULL))))
        why = "no array", bad = WG_ENULL;
    if (why != NULL) return wgi_mpi_refuse(t, m, bad, op->name, why, call);
    const size_t bytes = sizeof(wgi_mpi_params) + n * sizeof(int);
    wgi_mpi_params *const p = malloc(bytes);
    if (p == NULL) return wgi_mpi_refuse(t, m, WG_ENOMEM, op->name, "no memory", call);
    *p = (wgi_mpi_params){
        .m = m, .peer = root, .op = (int)with, .source = (int)call, .counted = 1};
    for (size_t i = 0; i < n; i++) p->count[i] = index[i];
    const wg_mat row = wgi_mpi_row(t, n, x);
    wg_mat out[2] = {wg_mat_failed(1, n), wg_mat_failed(1, 1)};
    const wg_status s = wgi_mpi_apply(t, op, p, bytes, call, 1, &row, here ? 2 : 1, out);
    free(p);
    const wgi_located *const best = (const wgi_located *)(const void *)m->room[2];
    for (size_t i = 0; s == WG_OK && here && i < n; i++) at[i] = best[i].at;
    return wgi_mpi_write(t, m, op->name, s, out[0], here ? n : 0, y);
}

wg_status wg_mpi_reduce_loc(wg_tape *t, const wg_real *x, const int *index, wg_real *y, int *at,
                            size_t n, wg_mpi_op op, int root, wg_mpi *m) {
    return located(t, &reduce_loc_op, WGI_MPI_reduce, x, index, y, at, n, op, root, m);
}

wg_status wg_mpi_allreduce_loc(wg_tape *t, const wg_real *x, const int *index, wg_real *y,
                               int *at, size_t n, wg_mpi_op op, wg_mpi *m) {
    return located(t, &allreduce_loc_op, WGI_MPI_allreduce, x, index, y, at, n, op, 0, m);
}

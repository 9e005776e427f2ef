/* SPDX-License-Identifier: MIT */
/* collective.c - numbers that go from rank to rank as they are: broadcast, gather, scatter, all
 * to all. Each has the adjoint that takes them back; where one has gone to several, the sum. */
#include "internal.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = INT_MAX / 64 };

static int collects(wgi_mpi_call call, int back) {
    return call == (back ? WGI_MPI_scatter : WGI_MPI_gather);
}
static int scatters(wgi_mpi_call call, int back) {
    return call == (back ? WGI_MPI_gather : WGI_MPI_scatter);
}

/* The counts of list k in lanes, and where each begins. */
static void lists(const wgi_mpi_params *p, int k, size_t lanes, int **count, int **at) {
    wg_mpi *const m = p->m;
    int sum = 0;
    *count = m->count + 2 * k * m->size;
    *at = *count + m->size;
    for (int r = 0; r < m->size && k < p->counted; r++) {
        (*count)[r] = p->count[k * m->size + r] * (int)lanes;
        (*at)[r] = sum;
        sum += (*count)[r];
    }
}

/* The root's numbers, or each one's own, are `from`; back: those of the results. */
static int move(const wgi_mpi_params *p, wgi_phase phase, size_t lanes, const double *from,
                double *to) {
    const int back = phase == WGI_ADJOINTS, n = (int)(p->rows * p->cols * lanes);
    const MPI_Comm comm = p->m->comm[phase];
    const wgi_mpi_call call = (wgi_mpi_call)p->op;
    int *c0, *a0, *c1, *a1;
    lists(p, 0, lanes, &c0, &a0);
    lists(p, 1, lanes, &c1, &a1);
    if (collects(call, back))
        return MPI_Gatherv(from, n, MPI_DOUBLE, to, c0, a0, MPI_DOUBLE, p->peer, comm);
    if (scatters(call, back))
        return MPI_Scatterv(from, c0, a0, MPI_DOUBLE, to, n, MPI_DOUBLE, p->peer, comm);
    if (call == WGI_MPI_allgather)
        return back ? MPI_Reduce_scatter(from, to, c0, MPI_DOUBLE, MPI_SUM, comm)
                    : MPI_Allgatherv(from, n, MPI_DOUBLE, to, c0, a0, MPI_DOUBLE, comm);
    if (call == WGI_MPI_alltoall)
        return back ? MPI_Alltoallv(from, c1, a1, MPI_DOUBLE, to, c0, a0, MPI_DOUBLE, comm)
                    : MPI_Alltoallv(from, c0, a0, MPI_DOUBLE, to, c1, a1, MPI_DOUBLE, comm);
    if (back) return MPI_Reduce(from, to, n, MPI_DOUBLE, MPI_SUM, p->peer, comm);
    if (p->m->rank == p->peer && n != 0) memcpy(to, from, (size_t)n * sizeof *to);
    return MPI_Bcast(to, n, MPI_DOUBLE, p->peer, comm);
}

/* ---- agreement -------------------------------------------------------------------------- */

/* Does each rank expect from each what that sends? sent, expected: a number for each rank. */
static wg_status match(const wgi_mpi_params *p) {
    wg_mpi *const m = p->m;
    const wgi_mpi_call call = (wgi_mpi_call)p->op;
    const int n = (int)(p->rows * p->cols), root = p->peer;
    int *const sent = m->count, *const expected = sent + m->size,
               *const got = expected + m->size;
    wg_status s = WG_OK;
    memset(sent, 0, 2 * (size_t)m->size * sizeof *sent);
    if (call == WGI_MPI_alltoall) memcpy(sent, p->count, 2 * (size_t)m->size * sizeof *sent);
    if (call == WGI_MPI_gather) sent[root] = n;
    if (call == WGI_MPI_scatter) expected[root] = n;
    if (call != WGI_MPI_alltoall && m->rank == root)
        memcpy(call == WGI_MPI_gather ? expected : sent, p->count,
               (size_t)m->size * sizeof *sent);
    const int error = MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, m->comm[WGI_CONTROL]);
    if (error != MPI_SUCCESS) s = wgi_mpi_error(m, error);
    for (int r = 0; r < m->size && s == WG_OK; r++)
        if (got[r] != expected[r])
            s = wgi_mpi_fail(m, WG_ESHAPE, "rank %d has %d numbers for this one, not %d", r,
                             got[r], expected[r]);
    return wgi_mpi_agree(m, s, call, 1);
}

static wg_status enter(const wgi_mpi_params *p, wgi_phase phase, size_t lanes) {
    const wgi_mpi_call call = (wgi_mpi_call)p->op;
    uint64_t detail = wgi_mpi_mix((uint64_t)p->peer, lanes);
    if (call == WGI_MPI_bcast) detail = wgi_mpi_mix(detail, p->rows * p->cols);
    for (int r = 0; r < p->m->size && call == WGI_MPI_allgather; r++)
        detail = wgi_mpi_mix(detail, (uint64_t)p->count[r]);
    const wg_status s = wgi_mpi_enter(p->m, call, phase, detail);
    const int each = collects(call, 0) || scatters(call, 0) || call == WGI_MPI_alltoall;
    return s == WG_OK && each && p->m->checked && phase == WGI_VALUES ? match(p) : s;
}

/* ---- the operation ---------------------------------------------------------------------- */

static size_t total(const wgi_mpi_params *p, int list) {
    size_t sum = 0;
    for (int r = 0; r < p->m->size; r++) sum += (size_t)p->count[list * p->m->size + r];
    return sum;
}

static wg_status shape(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    const wgi_mpi_call call = (wgi_mpi_call)p->op;
    const int mine = p->m->rank == p->peer;
    size_t n = p->rows * p->cols;
    wg_block_arg *const y = b->out;
    if (b->outputs > 1) {
        y->rows = p->rows, y->cols = p->cols;
        if (call == WGI_MPI_gather || call == WGI_MPI_allgather || call == WGI_MPI_alltoall) {
            n = total(p, call == WGI_MPI_alltoall ? 1 : 0);
            if (call == WGI_MPI_alltoall) y->rows = 1, y->cols = n;
            else y->cols = p->rows != 0 ? n / p->rows : 0;
        }
    }
    wgi_mpi_token_shape(b);
    if (n > LARGEST || (b->inputs != 0 && wgi_mpi_size(&b->in[0]) > LARGEST))
        b->why = "more numbers than a message may have";
    else if ((call == WGI_MPI_scatter && mine && wgi_mpi_size(&b->in[0]) != total(p, 0)) ||
             (call == WGI_MPI_alltoall && wgi_mpi_size(&b->in[0]) != total(p, 0)))
        b->why = "the counts have another sum than there are numbers";
    else if ((call == WGI_MPI_allgather || (call == WGI_MPI_gather && mine) ||
              (call == WGI_MPI_scatter && mine)) &&
             (size_t)p->count[p->m->rank] != p->rows * p->cols)
        b->why = "there are not as many numbers here as counted for this rank";
    else if (call == WGI_MPI_bcast && mine && wgi_mpi_size(&b->in[0]) != p->rows * p->cols)
        b->why = "what is sent has another size";
    else return WG_OK;
    return WG_ESHAPE;
}

static wg_status forward(wg_block *b, wgi_phase phase) {
    const wgi_mpi_params *const p = b->params;
    const int bar = phase == WGI_TANGENTS;
    const double *const from =
        b->inputs != 0 ? wgi_mpi_flat(p->m, &b->in[0], bar, b->lanes, 0) : NULL;
    wg_status s = enter(p, phase, b->lanes);
    if (s == WG_OK && b->inputs != 0 && from == NULL) s = WG_ENOMEM;
    double *const to = b->outputs < 2 ? NULL : bar ? b->out[0].bar : b->out[0].value;
    /* what does not come, although it was counted, is not a number */
    for (size_t i = 0; to != NULL && i < wgi_mpi_size(&b->out[0]) * b->lanes; i++)
        to[i] = WGI_NAN;
    if (s == WG_OK) s = wgi_mpi_error(p->m, move(p, phase, b->lanes, from, to));
    return wgi_mpi_done(p->m, b, s);
}

static wg_status value(wg_block *b) {
    wgi_mpi_token_value(b);
    return forward(b, WGI_VALUES);
}
static wg_status jvp(wg_block *b) { return forward(b, WGI_TANGENTS); }

static wg_status vjp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    double *const to =
        b->inputs != 0 ? wgi_mpi_room(p->m, 0, wgi_mpi_size(&b->in[0]) * b->lanes) : NULL;
    wg_status s = enter(p, WGI_ADJOINTS, b->lanes);
    if (s == WG_OK && b->inputs != 0 && to == NULL) s = WG_ENOMEM;
    const double *const from = b->outputs > 1 ? b->out[0].bar : NULL;
    if (s == WG_OK) s = wgi_mpi_error(p->m, move(p, WGI_ADJOINTS, b->lanes, from, to));
    if (s == WG_OK && to != NULL) wgi_mpi_add(&b->in[0], to, b->lanes);
    return wgi_mpi_done(p->m, b, s);
}

#define MOVE(NAME)                                                                             \
    {                                                                                          \
        .name = NAME, .flags = WGI_MPI_LINEAR, .shape = shape, .value = value, .vjp = vjp,     \
        .jvp = jvp                                                                             \
    }
static const wg_block_op bcast_op = MOVE("wg_mpi_bcast"), gather_op = MOVE("wg_mpi_gather"),
                         allgather_op = MOVE("wg_mpi_allgather"),
                         scatter_op = MOVE("wg_mpi_scatter"),
                         alltoall_op = MOVE("wg_mpi_alltoall");

/* ---- calls ------------------------------------------------------------------------------ */

/* What a call is given. count: of columns of so many rows; NULL: as many as here, of all. */
typedef struct given {
    const wg_block_op *op;
    wgi_mpi_call call;
    const wg_mat *x; /* NULL: none on this rank */
    size_t rows, cols;
    int root, receives;
    int lists;
    const size_t *count[2];
} given;

static wg_status apply(wg_tape *t, wg_mpi *m, const given *g, wg_mat *y) {
    wg_mat out[2] = {wg_mat_failed(g->rows, g->cols), wg_mat_failed(1, 1)};
    *y = out[0];
    if (m == NULL)
        return wgi_mpi_refuse(t, m, WG_ENULL, g->op->name, "no communicator", g->call);
    if (g->root < 0 || g->root >= m->size)
        return wgi_mpi_refuse(t, m, WG_EARG, g->op->name, "no rank is the root", g->call);
    const size_t size = (size_t)m->size;
    const size_t bytes = sizeof(wgi_mpi_params) + (size_t)g->lists * size * sizeof(int);
    wgi_mpi_params *const p = malloc(bytes);
    if (p == NULL) return wgi_mpi_refuse(t, m, WG_ENOMEM, g->op->name, "counts", g->call);
    *p = (wgi_mpi_params){.m = m,
                          .peer = g->root,
                          .op = (int)g->call,
                          .counted = g->lists,
                          .rows = g->rows,
                          .cols = g->cols};
    int fits = 1;
    for (size_t r = 0; r < (size_t)g->lists * size; r++) {
        const size_t *const count = g->count[r / size];
        const size_t cols = count != NULL ? count[r % size] : g->cols;
        fits = fits && (g->rows == 0 || cols <= LARGEST / g->rows);
        p->count[r] = fits ? (int)(cols * g->rows) : 0;
    }
    const wg_status s =
        !fits ? wgi_mpi_refuse(t, m, WG_ESHAPE, g->op->name, "a count is too large", g->call)
              : wgi_mpi_apply(t, g->op, p, bytes, g->call, g->x != NULL, g->x,
                              g->receives ? 2 : 1, out);
    free(p);
    *y = g->receives ? out[0] : wg_mat_failed(0, 0);
    return s;
}

static int is_root(const wg_mpi *m, int root) { return m != NULL && m->rank == root; }

wg_mat wg_mpi_mat_bcast(wg_tape *t, wg_mat x, size_t rows, size_t cols, int root, wg_mpi *m) {
    wg_mat y;
    (void)apply(t, m,
                &(given){.op = &bcast_op,
                         .call = WGI_MPI_bcast,
                         .x = is_root(m, root) ? &x : NULL,
                         .rows = rows,
                         .cols = cols,
                         .root = root,
                         .receives = 1},
                &y);
    return y;
}

static wg_status gather(wg_tape *t, wg_mat x, const size_t *count, int root, int all, wg_mpi *m,
                        wg_mat *y) {
    const int here = all || is_root(m, root);
    const wg_status s = apply(t, m,
                              &(given){.op = all ? &allgather_op : &gather_op,
                                       .call = all ? WGI_MPI_allgather : WGI_MPI_gather,
                                       .x = &x,
                                       .rows = x.rows,
                                       .cols = x.cols,
                                       .root = root,
                                       .receives = here,
                                       .lists = here,
                                       .count = {count}},
                              y);
    return s;
}

wg_mat wg_mpi_mat_gather(wg_tape *t, wg_mat x, const size_t *count, int root, wg_mpi *m) {
    wg_mat y;
    const wg_status s = gather(t, x, count, root, 0, m, &y);
    return s == WG_OK && !is_root(m, root) ? wg_mat_fill(t, 0, 0, 0) : y;
}

wg_mat wg_mpi_mat_allgather(wg_tape *t, wg_mat x, const size_t *count, wg_mpi *m) {
    wg_mat y;
    (void)gather(t, x, count, 0, 1, m, &y);
    return y;
}

static wg_status scatter(wg_tape *t, const wg_mat *x, const size_t *count, size_t rows,
                         size_t cols, int root, wg_mpi *m, wg_mat *y) {
    const int here = is_root(m, root);
    return apply(t, m,
                 &(given){.op = &scatter_op,
                          .call = WGI_MPI_scatter,
                          .x = here ? x : NULL,
                          .rows = rows,
                          .cols = cols,
                          .root = root,
                          .receives = 1,
                          .lists = here,
                          .count = {count}},
                 y);
}

wg_mat wg_mpi_mat_scatter(wg_tape *t, wg_mat x, const size_t *count, size_t rows, size_t cols,
                          int root, wg_mpi *m) {
    wg_mat y;
    (void)scatter(t, &x, count, rows, cols, root, m, &y);
    return y;
}

/* ---- arrays ----------------------------------------------------------------------------- */

static size_t sum(const wg_mpi *m, const size_t *count, size_t n) {
    size_t all = 0;
    for (int r = 0; m != NULL && r < m->size; r++) all += count != NULL ? count[r] : n;
    return all;
}

wg_status wg_mpi_bcast(wg_tape *t, wg_real *x, size_t n, int root, wg_mpi *m) {
    const wg_mat none = wg_mat_failed(1, n);
    const wg_mat y =
        wg_mpi_mat_bcast(t, is_root(m, root) ? wgi_mpi_row(t, n, x) : none, 1, n, root, m);
    return wgi_mpi_write(t, m, bcast_op.name, t != NULL ? wg_tape_status(t) : WG_ENULL, y, n,
                         x);
}

wg_status wg_mpi_gather(wg_tape *t, const wg_real *x, size_t n, wg_real *y, const size_t *count,
                        int root, wg_mpi *m) {
    wg_mat got;
    const wg_status s = gather(t, wgi_mpi_row(t, n, x), count, root, 0, m, &got);
    return wgi_mpi_write(t, m, gather_op.name, s, got, is_root(m, root) ? sum(m, count, n) : 0,
                         y);
}

wg_status wg_mpi_allgather(wg_tape *t, const wg_real *x, size_t n, wg_real *y,
                           const size_t *count, wg_mpi *m) {
    wg_mat got;
    const wg_status s = gather(t, wgi_mpi_row(t, n, x), count, 0, 1, m, &got);
    return wgi_mpi_write(t, m, allgather_op.name, s, got, sum(m, count, n), y);
}

wg_status wg_mpi_scatter(wg_tape *t, const wg_real *x, const size_t *count, wg_real *y,
                         size_t n, int root, wg_mpi *m) {
    wg_mat got, all = wg_mat_failed(0, 0);
    if (is_root(m, root)) all = wgi_mpi_row(t, sum(m, count, n), x);
    const wg_status s = scatter(t, &all, count, 1, n, root, m, &got);
    return wgi_mpi_write(t, m, scatter_op.name, s, got, n, y);
}

wg_status wg_mpi_alltoall(wg_tape *t, const wg_real *x, const size_t *to, wg_real *y,
                          const size_t *from, size_t n, wg_mpi *m) {
    const wg_mat row = wgi_mpi_row(t, sum(m, to, n), x);
    wg_mat got;
    const wg_status s = apply(t, m,
                              &(given){.op = &alltoall_op,
                                       .call = WGI_MPI_alltoall,
                                       .x = &row,
                                       .rows = 1,
                                       .cols = n,
                                       .receives = 1,
                                       .lists = 2,
                                       .count = {to, from}},
                              &got);
    return wgi_mpi_write(t, m, alltoall_op.name, s, got, sum(m, from, n), y);
}

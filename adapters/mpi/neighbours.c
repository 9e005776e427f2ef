/* SPDX-License-Identifier: MIT */
/* neighbours.c - exchanges with all neighbours at once: on a Cartesian communicator, on a
 * graph.
 *
 * Messages travel on a communicator of their own, on which nobody receives whatever comes; each
 * exchange is over when it comes back, so one tag is enough for what travels one way. */
#include "internal.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HALO_TAG = 16, LARGEST = INT_MAX / 64 };

/* ---- who is near ------------------------------------------------------------------------ */

/* Number 2 i of what goes out travels to the lower neighbour of dimension i, and so does what
 * comes in from the upper one, as number 2 i + 1: what travels one way has one tag. */
static size_t opposite(size_t k) { return k ^ 1; }

static int allocate(wgi_neighbours *a) {
    const size_t n = a->ins + a->outs + 1;
    a->from = calloc(3 * n, sizeof *a->from);
    a->to = calloc(3 * n, sizeof *a->to);
    a->in_at = calloc(n, sizeof *a->in_at);
    a->out_at = calloc(n, sizeof *a->out_at);
    a->request = calloc(n, sizeof *a->request);
    a->got = calloc(n, sizeof *a->got);
    a->in_mat = calloc(2 * n, sizeof *a->in_mat);
    a->params = calloc(1, sizeof *a->params + 2 * n * sizeof *a->params->count);
    if (a->from == NULL || a->to == NULL || a->in_at == NULL || a->out_at == NULL ||
        a->request == NULL || a->got == NULL || a->in_mat == NULL || a->params == NULL)
        return 0;
    a->from_tag = a->from + n, a->in = a->from_tag + n;
    a->out_mat = a->in_mat + n;
    a->to_tag = a->to + n, a->out = a->to_tag + n;
    return 1;
}

static int cartesian(wgi_neighbours *a, MPI_Comm comm) {
    int d = 0;
    if (MPI_Cartdim_get(comm, &d) != MPI_SUCCESS) return 0;
    a->ins = a->outs = 2 * (size_t)d;
    if (!allocate(a)) return 0;
    for (int i = 0; i < d; i++)
        if (MPI_Cart_shift(comm, i, 1, &a->to[2 * i], &a->to[2 * i + 1]) != MPI_SUCCESS)
            return 0;
    for (size_t k = 0; k < a->ins; k++) {
        a->from[k] = a->to[k];
        a->to_tag[k] = HALO_TAG + (int)k;
        a->from_tag[k] = HALO_TAG + (int)opposite(k);
    }
    return 1;
}

static int graph(wgi_neighbours *a, MPI_Comm comm) {
    int ins = 0, outs = 0, weighted = 0;
    if (MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted) != MPI_SUCCESS) return 0;
    a->ins = (size_t)ins, a->outs = (size_t)outs;
    if (!allocate(a)) return 0;
    /* weights go where counts will stand */
    if (MPI_Dist_graph_neighbors(comm, ins, a->from, weighted ? a->in : MPI_UNWEIGHTED, outs,
                                 a->to, weighted ? a->out : MPI_UNWEIGHTED) != MPI_SUCCESS)
        return 0;
    for (size_t k = 0; k < a->ins; k++) a->from_tag[k] = HALO_TAG;
    for (size_t k = 0; k < a->outs; k++) a->to_tag[k] = HALO_TAG;
    return 1;
}

int wgi_mpi_neighbours_find(wg_mpi *m) {
    wgi_neighbours *const a = &m->near;
    const MPI_Comm comm = m->comm[WGI_CONTROL];
    if (MPI_Topo_test(comm, &a->kind) != MPI_SUCCESS) return 0;
    return a->kind == MPI_CART         ? cartesian(a, comm)
           : a->kind == MPI_DIST_GRAPH ? graph(a, comm)
                                       : 1;
}

void wgi_mpi_neighbours_forget(wg_mpi *m) {
    wgi_neighbours *const a = &m->near;
    free(a->from);
    free(a->to);
    free(a->in_at);
    free(a->out_at);
    free(a->request);
    free(a->got);
    free(a->in_mat);
    free(a->params);
}

/* ---- an exchange ------------------------------------------------------------------------ */

/* Of results, which stand side by side. Numbers of operands may have to be copied, below. */
static void results(wgi_neighbours *a, const wg_block *b) {
    for (size_t k = 0; k < a->ins; k++) a->in[k] = (int)(wgi_mpi_size(&b->out[k]) * b->lanes);
    for (size_t k = 0; k < a->outs; k++) a->out[k] = (int)(wgi_mpi_size(&b->in[k]) * b->lanes);
}

/* Receives `ins` arrays and sends `outs`: forward as they are, backward the other way round. */
static wg_status run(wg_mpi *m, size_t ins, double *const *in_at, const int *in,
                     const int *from, const int *from_tag, size_t outs,
                     const double *const *out_at, const int *out, const int *to,
                     const int *to_tag) {
    wgi_neighbours *const a = &m->near;
    const MPI_Comm comm = m->comm[WGI_CONTROL];
    int error = MPI_SUCCESS;
    size_t begun = 0;
    for (size_t k = 0; k < ins && error == MPI_SUCCESS; k++)
        error = MPI_Irecv(in_at[k], in[k], MPI_DOUBLE, from[k], from_tag[k], comm,
                          &a->request[begun++]);
    for (size_t k = 0; k < outs && error == MPI_SUCCESS; k++)
        error = MPI_Isend(out_at[k], out[k], MPI_DOUBLE, to[k], to_tag[k], comm,
                          &a->request[begun++]);
    if (error == MPI_SUCCESS) error = MPI_Waitall((int)begun, a->request, a->got);
    for (size_t k = 0; error == MPI_ERR_IN_STATUS && k < begun; k++)
        if (a->got[k].MPI_ERROR != MPI_SUCCESS && a->got[k].MPI_ERROR != MPI_ERR_PENDING)
            error = a->got[k].MPI_ERROR;
    if (error != MPI_SUCCESS) return wgi_mpi_error(m, error);
    for (size_t k = 0; k < ins; k++) {
        int count = 0;
        for (int i = 0; from[k] == MPI_PROC_NULL && i < in[k]; i++) in_at[k][i] = 0;
        if (from[k] == MPI_PROC_NULL) continue;
        (void)MPI_Get_count(&a->got[k], MPI_DOUBLE, &count);
        if (count != in[k])
            return wgi_mpi_fail(m, WG_ESHAPE, "%d numbers came from rank %d, not %d", count,
                                from[k], in[k]);
    }
    return WG_OK;
}

/* Numbers that do not stand side by side are copied, one operand after the other. */
static wg_status flatten(wg_mpi *m, const wg_block *b, int bar) {
    wgi_neighbours *const a = &m->near;
    size_t all = 0;
    for (size_t k = 0; k < a->outs; k++) all += (size_t)a->out[k];
    double *to = wgi_mpi_room(m, 1, all);
    if (to == NULL) return WG_ENOMEM;
    for (size_t k = 0; k < a->outs; k++) {
        const double *const from = wgi_mpi_flat(m, &b->in[k], bar, b->lanes, 0);
        if (from == NULL) return WG_ENOMEM;
        a->out_at[k] = from;
        if (from != m->room[0]) continue;
        a->out_at[k] = to;
        for (int i = 0; i < a->out[k]; i++) *to++ = from[i];
    }
    return WG_OK;
}

/* ---- the operation ---------------------------------------------------------------------- */

static wg_status enter(const wg_block *b, wgi_phase phase) {
    const wgi_mpi_params *const p = b->params;
    return wgi_mpi_enter(p->m, (wgi_mpi_call)p->op, phase, b->lanes);
}

/* Shapes of results are the parameters. */
static wg_status shape(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    size_t in = 0, out = 0;
    for (size_t k = 0; k + 1 < b->outputs; k++) {
        b->out[k].rows = (size_t)p->count[2 * k], b->out[k].cols = (size_t)p->count[2 * k + 1];
        in += wgi_mpi_size(&b->out[k]);
    }
    for (size_t k = 0; k < b->inputs; k++) out += wgi_mpi_size(&b->in[k]);
    wgi_mpi_token_shape(b);
    if (in <= LARGEST && out <= LARGEST) return WG_OK;
    b->why = "more numbers than messages may have";
    return WG_ESHAPE;
}

static wg_status forward(wg_block *b, wgi_phase phase) {
    wg_mpi *const m = ((const wgi_mpi_params *)b->params)->m;
    wgi_neighbours *const a = &m->near;
    const int bar = phase == WGI_TANGENTS;
    results(a, b);
    for (size_t k = 0; k < a->ins; k++) a->in_at[k] = bar ? b->out[k].bar : b->out[k].value;
    const wg_status here = flatten(m, b, bar);
    wg_status s = enter(b, phase);
    if (s == WG_OK) s = here;
    if (s == WG_OK)
        s = run(m, a->ins, a->in_at, a->in, a->from, a->from_tag, a->outs, a->out_at, a->out,
                a->to, a->to_tag);
    return wgi_mpi_done(m, b, s);
}

static wg_status value(wg_block *b) {
    wgi_mpi_token_value(b);
    return forward(b, WGI_VALUES);
}
static wg_status jvp(wg_block *b) { return forward(b, WGI_TANGENTS); }

/* Where adjoints of the operands come: into their places, as they stand, where they are side by
 * side and nothing is there yet to be added to, no two into one; or into a room. */
static wg_status places(wg_mpi *m, const wg_block *b) {
    wgi_neighbours *const a = &m->near;
    size_t all = 0;
    for (size_t k = 0; k < a->outs; k++) {
        const wg_block_arg *const x = &b->in[k];
        double *const at = x->bar_ld == x->rows || x->cols == 1 ? x->bar : NULL;
        a->in_at[k] = b->untouched >> k & 1 ? at : NULL;
        for (size_t j = 0; a->in_at[k] != NULL && j < k; j++)
            if (a->in_at[j] != NULL && a->in_at[j] < at + a->out[k] &&
                at < a->in_at[j] + a->out[j])
                a->in_at[k] = NULL;
        if (a->in_at[k] == NULL) all += (size_t)a->out[k];
    }
    double *room = wgi_mpi_room(m, 0, all);
    if (room == NULL) return WG_ENOMEM;
    for (size_t k = 0; k < a->outs; k++)
        if (a->in_at[k] == NULL) a->in_at[k] = room, room += a->out[k];
    return WG_OK;
}

/* What came from a neighbour goes there, under the tag it came with. */
static wg_status vjp(wg_block *b) {
    wg_mpi *const m = ((const wgi_mpi_params *)b->params)->m;
    wgi_neighbours *const a = &m->near;
    results(a, b);
    for (size_t k = 0; k < a->ins; k++) a->out_at[k] = b->out[k].bar;
    const wg_status here = places(m, b);
    wg_status s = enter(b, WGI_ADJOINTS);
    if (s == WG_OK) s = here;
    if (s == WG_OK)
        s = run(m, a->outs, a->in_at, a->out, a->to, a->to_tag, a->ins, a->out_at, a->in,
                a->from, a->from_tag);
    for (size_t k = 0; s == WG_OK && k < a->outs; k++)
        if (a->in_at[k] != b->in[k].bar) wgi_mpi_add(&b->in[k], a->in_at[k], b->lanes);
    return wgi_mpi_done(m, b, s);
}

#define EXCHANGE(NAME)                                                                         \
    {                                                                                          \
        .name = NAME, .flags = WGI_MPI_LINEAR, .shape = shape, .value = value, .vjp = vjp,     \
        .jvp = jvp                                                                             \
    }
static const wg_block_op halo_op = EXCHANGE("wg_mpi_halo"),
                         graph_op = EXCHANGE("wg_mpi_graph_halo"),
                         alltoall_op = EXCHANGE("wg_mpi_neighbor_alltoall");

/* ---- calls ------------------------------------------------------------------------------ */

static int is_large(size_t rows, size_t cols) {
    return rows > LARGEST || cols > LARGEST || (cols != 0 && rows > LARGEST / cols);
}

/* Shapes stand in the parameters. */
static wg_status exchange(wg_tape *t, const wg_block_op *op, wgi_mpi_call call,
                          const wg_mat *out, wg_mat *in, wg_mpi *m) {
    wgi_neighbours *const a = &m->near;
    wgi_mpi_params *const p = a->params;
    p->m = m;
    p->op = (int)call;
    for (size_t k = 0; k < a->ins; k++)
        a->in_mat[k] = wg_mat_failed((size_t)p->count[2 * k], (size_t)p->count[2 * k + 1]);
    const size_t bytes = sizeof *p + 2 * a->ins * sizeof *p->count;
    const wg_status s =
        wgi_mpi_apply(t, op, p, bytes, call, a->outs, out, a->ins + 1, a->in_mat);
    for (size_t k = 0; k < a->ins; k++) in[k] = a->in_mat[k];
    return s;
}

static void fail_all(size_t n, wg_mat *in) {
    for (size_t k = 0; in != NULL && k < n; k++) in[k] = wg_mat_failed(0, 0);
}

wg_status wg_mpi_halo(wg_tape *t, size_t d, const wg_mat *out, wg_mat *in, wg_mpi *m) {
    const char *why = NULL;
    wg_status bad = WG_ENULL;
    if (m == NULL || (d != 0 && (out == NULL || in == NULL)))
        why = "no communicator or no matrices";
    else if (m->near.kind != MPI_CART || m->near.ins != 2 * d)
        why = "the communicator is not Cartesian, of as many dimensions", bad = WG_EARG;
    for (size_t k = 0; why == NULL && k < 2 * d; k++) {
        const wg_mat *const like = &out[opposite(k)];
        if (is_large(like->rows, like->cols))
            why = "more numbers than messages may have", bad = WG_ESHAPE;
        m->near.params->count[2 * k] = (int)like->rows;
        m->near.params->count[2 * k + 1] = (int)like->cols;
    }
    if (why == NULL) return exchange(t, &halo_op, WGI_MPI_halo, out, in, m);
    for (size_t k = 0; in != NULL && k < 2 * d; k++)
        in[k] = out != NULL ? wg_mat_failed(out[opposite(k)].rows, out[opposite(k)].cols)
                            : wg_mat_failed(0, 0);
    return wgi_mpi_refuse(t, m, bad, halo_op.name, why, WGI_MPI_halo);
}

static const char *no_graph = "the communicator is no distributed graph";

wg_status wg_mpi_graph_halo(wg_tape *t, const wg_mat *out, const size_t *rows,
                            const size_t *cols, wg_mat *in, wg_mpi *m) {
    const char *why = NULL;
    wg_status bad = WG_ENULL;
    const size_t ins = m != NULL && m->near.kind == MPI_DIST_GRAPH ? m->near.ins : 0;
    if (m == NULL) why = "no communicator";
    else if (m->near.kind != MPI_DIST_GRAPH) why = no_graph, bad = WG_EARG;
    else if ((m->near.outs != 0 && out == NULL) ||
             (ins != 0 && (rows == NULL || cols == NULL || in == NULL)))
        why = "no matrices or no shapes";
    for (size_t k = 0; why == NULL && k < ins; k++) {
        if (is_large(rows[k], cols[k]))
            why = "more numbers than messages may have", bad = WG_ESHAPE;
        m->near.params->count[2 * k] = (int)rows[k];
        m->near.params->count[2 * k + 1] = (int)cols[k];
    }
    if (why == NULL) return exchange(t, &graph_op, WGI_MPI_graph_halo, out, in, m);
    fail_all(ins, in);
    return wgi_mpi_refuse(t, m, bad, graph_op.name, why, WGI_MPI_graph_halo);
}

/* Numbers of all that goes one way; LARGEST and more: too many. */
static size_t total(size_t near, const size_t *count, size_t n) {
    size_t sum = 0;
    for (size_t k = 0; k < near && sum < LARGEST; k++) {
        const size_t one = count != NULL ? count[k] : n;
        sum += one < LARGEST ? one : LARGEST;
    }
    return sum;
}

wg_status wg_mpi_neighbor_alltoall(wg_tape *t, const wg_real *x, const size_t *to, wg_real *y,
                                   const size_t *from, size_t n, wg_mpi *m) {
    const char *const name = alltoall_op.name, *why = NULL;
    const wgi_mpi_call call = WGI_MPI_neighbor_alltoall;
    if (m == NULL) return wgi_mpi_refuse(t, m, WG_ENULL, name, "no communicator", call);
    wgi_neighbours *const a = &m->near;
    wg_status bad = WG_ENULL;
    const int is = a->kind == MPI_DIST_GRAPH;
    const size_t sent = is ? total(a->outs, to, n) : 0, got = is ? total(a->ins, from, n) : 0;
    if (!is) why = no_graph, bad = WG_EARG;
    else if (sent >= LARGEST || got >= LARGEST)
        why = "more numbers than messages may have", bad = WG_ESHAPE;
    else if ((sent != 0 && x == NULL) || (got != 0 && y == NULL)) why = "no array";
    if (why != NULL) return wgi_mpi_refuse(t, m, bad, name, why, call);
    const wg_mat row = wgi_mpi_row(t, sent, x);
    for (size_t k = 0, at = 0; k < a->outs; at += a->out_mat[k].cols, k++)
        a->out_mat[k] = wg_mat_block(row, 0, at, 1, to != NULL ? to[k] : n);
    for (size_t k = 0; k < a->ins; k++) {
        a->params->count[2 * k] = 1;
        a->params->count[2 * k + 1] = (int)(from != NULL ? from[k] : n);
    }
    const wg_status s = exchange(t, &alltoall_op, call, a->out_mat, a->in_mat, m);
    for (size_t k = 0, at = 0; k < a->ins; at += a->in_mat[k].cols, k++)
        for (size_t i = 0; i < a->in_mat[k].cols; i++)
            y[at + i] = wg_mat_at(a->in_mat[k], 0, i);
    return s;
}

/* SPDX-License-Identifier: MIT */
/* halo.c - exchanges with all neighbours of a Cartesian communicator at once. */
#include "internal.h"

enum { MOST = 7 };

/* Number 2 i of what goes out travels to the lower neighbour of dimension i, and so does what comes
 * in from the upper one, as number 2 i + 1: what travels one way has one tag. */
static size_t opposite(size_t k) { return k ^ 1; }

static wg_status shape(wg_block *b) {
    size_t all = 0;
    for (size_t k = 0; k < b->inputs; k++) {
        const wg_block_arg *const x = &b->in[opposite(k)];
        b->out[k].rows = x->rows, b->out[k].cols = x->cols;
        if (x->cols != 0 && x->rows > (size_t)INT32_MAX / 64 / x->cols) all = SIZE_MAX / 4;
        all += wgi_mpi_size(x) + 1;
    }
    wgi_mpi_token_shape(b);
    if (all <= (size_t)INT32_MAX / 64) return WG_OK;
    b->why = "more numbers than messages may have";
    return WG_ESHAPE;
}

/* The messages of an exchange: to[k] to neighbour k, of so many numbers; from[k] from it. */
typedef struct exchange {
    wg_mpi *m;
    wgi_phase phase;
    size_t n;
    int lower[MOST], upper[MOST];
    int out[2 * MOST], in[2 * MOST];
    const double *to[2 * MOST];
    double *from[2 * MOST];
} exchange;

static int neighbour(const exchange *e, size_t k) {
    return k % 2 == 0 ? e->lower[k / 2] : e->upper[k / 2];
}

static wg_status neighbours(exchange *e) {
    for (size_t i = 0; i < e->n / 2; i++) {
        const wg_status s = wgi_mpi_error(
            e->m, MPI_Cart_shift(e->m->comm[e->phase], (int)i, 1, &e->lower[i], &e->upper[i]));
        if (s != WG_OK) return s;
    }
    return WG_OK;
}

/* back: what came from a neighbour goes there, under the tag it came with. */
static wg_status run(exchange *e, int back) {
    MPI_Request request[4 * MOST];
    MPI_Status got[4 * MOST];
    const MPI_Comm comm = e->m->comm[e->phase];
    int error = MPI_SUCCESS;
    size_t begun = 0;
    for (size_t k = 0; k < e->n && error == MPI_SUCCESS; k++)
        error = MPI_Irecv(e->from[k], e->in[k], MPI_DOUBLE, neighbour(e, k),
                          (int)(back ? k : opposite(k)), comm, &request[begun++]);
    for (size_t k = 0; k < e->n && error == MPI_SUCCESS; k++)
        error = MPI_Isend(e->to[k], e->out[k], MPI_DOUBLE, neighbour(e, k),
                          (int)(back ? opposite(k) : k), comm, &request[begun++]);
    if (error == MPI_SUCCESS) error = MPI_Waitall((int)begun, request, got);
    for (size_t k = 0; error == MPI_ERR_IN_STATUS && k < begun; k++)
        if (got[k].MPI_ERROR != MPI_SUCCESS && got[k].MPI_ERROR != MPI_ERR_PENDING)
            error = got[k].MPI_ERROR;
    if (error != MPI_SUCCESS) return wgi_mpi_error(e->m, error);
    for (size_t k = 0; k < e->n; k++) {
        int count = 0;
        if (neighbour(e, k) == MPI_PROC_NULL) continue;
        (void)MPI_Get_count(&got[k], MPI_DOUBLE, &count);
        if (count != e->in[k])
            return wgi_mpi_fail(e->m, WG_ESHAPE, "%d numbers came from rank %d, not %d", count,
                                neighbour(e, k), e->in[k]);
    }
    return WG_OK;
}

static wg_status open(exchange *e, const wg_block *b, wgi_phase phase) {
    const wgi_mpi_params *const p = b->params;
    e->m = p->m;
    e->phase = phase;
    e->n = b->inputs;
    const wg_status s = wgi_mpi_enter(p->m, WGI_MPI_halo, phase, e->n * 64 + b->lanes);
    return s == WG_OK ? neighbours(e) : s;
}

/* Numbers that do not stand side by side are copied, one operand after the other. */
static wg_status flatten(exchange *e, const wg_block *b, int bar, size_t lanes) {
    size_t all = 0;
    for (size_t k = 0; k < b->inputs; k++) all += wgi_mpi_size(&b->in[k]) * lanes;
    double *to = wgi_mpi_room(e->m, 1, all);
    if (to == NULL) return WG_ENOMEM;
    for (size_t k = 0; k < b->inputs; k++) {
        const wg_block_arg *const x = &b->in[k];
        const double *const from = wgi_mpi_flat(e->m, x, bar, lanes, 0);
        if (from == NULL) return WG_ENOMEM;
        e->out[k] = (int)(wgi_mpi_size(x) * lanes);
        e->to[k] = from;
        if (from != e->m->room[0]) continue;
        e->to[k] = to;
        for (int i = 0; i < e->out[k]; i++) *to++ = from[i];
    }
    return WG_OK;
}

static void no_neighbour(const exchange *e) {
    for (size_t k = 0; k < e->n; k++)
        for (int i = 0; neighbour(e, k) == MPI_PROC_NULL && i < e->in[k]; i++)
            e->from[k][i] = 0;
}

static wg_status forward(wg_block *b, wgi_phase phase) {
    exchange e;
    const int bar = phase == WGI_TANGENTS;
    wg_status s = open(&e, b, phase);
    if (s == WG_OK) s = flatten(&e, b, bar, b->lanes);
    for (size_t k = 0; k < b->inputs; k++) {
        e.from[k] = bar ? b->out[k].bar : b->out[k].value;
        e.in[k] = (int)(wgi_mpi_size(&b->out[k]) * b->lanes);
    }
    if (s == WG_OK) s = run(&e, 0);
    if (s == WG_OK) no_neighbour(&e);
    return wgi_mpi_done(((const wgi_mpi_params *)b->params)->m, b, s);
}

static wg_status value(wg_block *b) {
    wgi_mpi_token_value(b);
    return forward(b, WGI_VALUES);
}
static wg_status jvp(wg_block *b) { return forward(b, WGI_TANGENTS); }

static wg_status vjp(wg_block *b) {
    exchange e;
    size_t all = 0;
    wg_status s = open(&e, b, WGI_ADJOINTS);
    for (size_t k = 0; k < b->inputs; k++) all += wgi_mpi_size(&b->in[k]) * b->lanes;
    double *room = s == WG_OK ? wgi_mpi_room(e.m, 0, all) : NULL;
    if (s == WG_OK && room == NULL) s = WG_ENOMEM;
    for (size_t k = 0; s == WG_OK && k < b->inputs; k++) {
        e.to[k] = b->out[k].bar;
        e.out[k] = (int)(wgi_mpi_size(&b->out[k]) * b->lanes);
        e.from[k] = room;
        e.in[k] = (int)(wgi_mpi_size(&b->in[k]) * b->lanes);
        room += e.in[k];
    }
    if (s == WG_OK) s = run(&e, 1);
    if (s == WG_OK) no_neighbour(&e);
    for (size_t k = 0; s == WG_OK && k < b->inputs; k++)
        wgi_mpi_add(&b->in[k], e.from[k], b->lanes);
    return wgi_mpi_done(((const wgi_mpi_params *)b->params)->m, b, s);
}

static const wg_block_op halo_op = {.name = "wg_mpi_halo",
                                    .flags = WG_OP_ALWAYS,
                                    .shape = shape,
                                    .value = value,
                                    .vjp = vjp,
                                    .jvp = jvp};

static int dimensions(const wg_mpi *m) {
    int kind = MPI_UNDEFINED, d = -1;
    if (MPI_Topo_test(m->comm[WGI_VALUES], &kind) != MPI_SUCCESS || kind != MPI_CART ||
        MPI_Cartdim_get(m->comm[WGI_VALUES], &d) != MPI_SUCCESS)
        return -1;
    return d;
}

wg_status wg_mpi_halo(wg_tape *t, size_t d, const wg_mat *out, wg_mat *in, wg_mpi *m) {
    const char *const name = halo_op.name;
    wg_mat got[2 * MOST + 1];
    const char *why = NULL;
    wg_status bad = WG_ENULL;
    if (m == NULL || (d != 0 && (out == NULL || in == NULL)))
        why = "no communicator or no matrices";
    else if (d > MOST || dimensions(m) != (int)d)
        why = "the communicator is not Cartesian, of as many dimensions", bad = WG_EARG;
    wg_status s;
    for (size_t k = 0; k < 2 * d && k < 2 * MOST; k++)
        got[k] = out != NULL ? wg_mat_failed(out[opposite(k)].rows, out[opposite(k)].cols)
                             : wg_mat_failed(0, 0);
    if (why != NULL) s = wgi_mpi_refuse(t, m, bad, name, why, WGI_MPI_halo);
    else {
        const wgi_mpi_params p = {.m = m};
        s = wgi_mpi_apply(t, &halo_op, &p, sizeof p, WGI_MPI_halo, 2 * d, out, 2 * d + 1, got);
    }
    for (size_t k = 0; in != NULL && k < 2 * d && k < 2 * MOST; k++) in[k] = got[k];
    return s;
}

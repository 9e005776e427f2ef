/* SPDX-License-Identifier: MIT */
/* scan.c - sums that differ from rank to rank: over the ranks up to this one, or before it, and
 * parts of the sum over all. The adjoint of a scan is the scan from the other end. */
#include "internal.h"
#include <limits.h>
#include <stdlib.h>

enum { LARGEST = INT_MAX / 64 };

static wg_status shape(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    const wg_block_arg *const x = &b->in[0];
    b->out[0].rows = p->counted ? 1 : x->rows;
    b->out[0].cols = p->counted ? (size_t)p->count[p->m->rank] : x->cols;
    wgi_mpi_token_shape(b);
    if (x->cols == 0 || x->rows <= LARGEST / x->cols) return WG_OK;
    b->why = "more numbers than a message may have";
    return WG_ESHAPE;
}

static wg_status enter(const wgi_mpi_params *p, const wg_block *b, wgi_phase phase) {
    uint64_t detail = wgi_mpi_mix(wgi_mpi_size(&b->in[0]), b->lanes);
    for (int r = 0; r < p->m->size && p->counted; r++)
        detail = wgi_mpi_mix(detail, (uint64_t)p->count[r]);
    return wgi_mpi_enter(p->m, (wgi_mpi_call)p->op, phase, detail);
}

/* Sums over ranks in the order of comm. */
static int sums(const wgi_mpi_params *p, MPI_Comm comm, int first, const double *from,
                double *to, size_t n) {
    if (p->op == (int)WGI_MPI_scan)
        return MPI_Scan(from, to, (int)n, MPI_DOUBLE, MPI_SUM, comm);
    const int error = MPI_Exscan(from, to, (int)n, MPI_DOUBLE, MPI_SUM, comm);
    for (size_t i = 0; first && i < n; i++) to[i] = 0;
    return error;
}

/* Its counts in lanes, and where the parts begin. */
static int *lists(const wgi_mpi_params *p, size_t lanes) {
    wg_mpi *const m = p->m;
    for (int r = 0, at = 0; r < m->size; r++) {
        m->count[r] = p->count[r] * (int)lanes;
        m->count[m->size + r] = at;
        at += m->count[r];
    }
    return m->count;
}

static wg_status forward(wg_block *b, wgi_phase phase) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const int bar = phase == WGI_TANGENTS;
    const double *const from = wgi_mpi_flat(m, &b->in[0], bar, b->lanes, 0);
    const wg_status s = enter(p, b, phase);
    if (s != WG_OK || from == NULL) return wgi_mpi_done(m, b, s != WG_OK ? s : WG_ENOMEM);
    double *const to = bar ? b->out[0].bar : b->out[0].value;
    const int error = p->counted ? MPI_Reduce_scatter(from, to, lists(p, b->lanes), MPI_DOUBLE,
                                                      MPI_SUM, m->comm[phase])
                                 : sums(p, m->comm[phase], m->rank == 0, from, to,
                                        wgi_mpi_size(&b->in[0]) * b->lanes);
    return wgi_mpi_done(m, b, wgi_mpi_error(m, error));
}

static wg_status value(wg_block *b) {
    wgi_mpi_token_value(b);
    return forward(b, WGI_VALUES);
}
static wg_status jvp(wg_block *b) { return forward(b, WGI_TANGENTS); }

static wg_status vjp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const size_t n = wgi_mpi_size(&b->in[0]) * b->lanes;
    double *const w = wgi_mpi_room(m, 1, n);
    wg_status s = enter(p, b, WGI_ADJOINTS);
    if (s != WG_OK || w == NULL) return wgi_mpi_done(m, b, s != WG_OK ? s : WG_ENOMEM);
    const double *const from = b->out[0].bar;
    int error;
    if (p->counted) {
        int *const count = lists(p, b->lanes);
        error = MPI_Allgatherv(from, count[m->rank], MPI_DOUBLE, w, count, count + m->size,
                               MPI_DOUBLE, m->comm[WGI_ADJOINTS]);
    } else error = sums(p, m->reversed, m->rank == m->size - 1, from, w, n);
    s = wgi_mpi_error(m, error);
    if (s == WG_OK) wgi_mpi_add(&b->in[0], w, b->lanes);
    return wgi_mpi_done(m, b, s);
}

#define SUMS(NAME)                                                                             \
    {                                                                                          \
        .name = NAME, .flags = WGI_MPI_LINEAR, .shape = shape, .value = value, .vjp = vjp,     \
        .jvp = jvp                                                                             \
    }
static const wg_block_op scan_op = SUMS("wg_mpi_scan"), exscan_op = SUMS("wg_mpi_exscan"),
                         reduce_scatter_op = SUMS("wg_mpi_reduce_scatter");

static wg_status scan(wg_tape *t, const wg_block_op *op, wgi_mpi_call call, wg_mat x, wg_mpi *m,
                      wg_mat *y) {
    wg_mat out[2] = {wg_mat_failed(x.rows, x.cols), wg_mat_failed(1, 1)};
    *y = out[0];
    if (m == NULL) return wgi_mpi_refuse(t, m, WG_ENULL, op->name, "no communicator", call);
    const wgi_mpi_params p = {.m = m, .op = (int)call};
    const wg_status s = wgi_mpi_apply(t, op, &p, sizeof p, call, 1, &x, 2, out);
    *y = out[0];
    return s;
}

wg_mat wg_mpi_mat_scan(wg_tape *t, wg_mat x, wg_mpi *m) {
    wg_mat y;
    (void)scan(t, &scan_op, WGI_MPI_scan, x, m, &y);
    return y;
}

wg_mat wg_mpi_mat_exscan(wg_tape *t, wg_mat x, wg_mpi *m) {
    wg_mat y;
    (void)scan(t, &exscan_op, WGI_MPI_exscan, x, m, &y);
    return y;
}

wg_status wg_mpi_scan(wg_tape *t, const wg_real *x, wg_real *y, size_t n, wg_mpi *m) {
    wg_mat got;
    const wg_status s = scan(t, &scan_op, WGI_MPI_scan, wgi_mpi_row(t, n, x), m, &got);
    return wgi_mpi_write(t, m, scan_op.name, s, got, n, y);
}

wg_status wg_mpi_exscan(wg_tape *t, const wg_real *x, wg_real *y, size_t n, wg_mpi *m) {
    wg_mat got;
    const wg_status s = scan(t, &exscan_op, WGI_MPI_exscan, wgi_mpi_row(t, n, x), m, &got);
    return wgi_mpi_write(t, m, exscan_op.name, s, got, n, y);
}

wg_status wg_mpi_reduce_scatter(wg_tape *t, const wg_real *x, wg_real *y, const size_t *count,
                                wg_mpi *m) {
    const char *const name = reduce_scatter_op.name;
    const wgi_mpi_call call = WGI_MPI_reduce_scatter;
    if (m == NULL || count == NULL)
        return wgi_mpi_refuse(t, m, WG_ENULL, name, "no communicator or no counts", call);
    const size_t size = (size_t)m->size, bytes = sizeof(wgi_mpi_params) + size * sizeof(int);
    wgi_mpi_params *const p = malloc(bytes);
    if (p == NULL) return wgi_mpi_refuse(t, m, WG_ENOMEM, name, "counts", call);
    *p = (wgi_mpi_params){.m = m, .op = (int)call, .counted = 1};
    size_t all = 0;
    for (size_t r = 0; r < size && all <= LARGEST; r++) {
        all = count[r] <= LARGEST ? all + count[r] : SIZE_MAX;
        p->count[r] = (int)count[r];
    }
    wg_mat out[2] = {wg_mat_failed(0, 0), wg_mat_failed(1, 1)};
    wg_status s = WG_ESHAPE;
    if (all > LARGEST)
        s = wgi_mpi_refuse(t, m, s, name, "more numbers than a message may have", call);
    else {
        const wg_mat row = wgi_mpi_row(t, all, x);
        s = wgi_mpi_apply(t, &reduce_scatter_op, p, bytes, call, 1, &row, 2, out);
    }
    free(p);
    return wgi_mpi_write(t, m, name, s, out[0], count[m->rank] <= LARGEST ? count[m->rank] : 0,
                         y);
}

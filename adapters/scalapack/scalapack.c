/* SPDX-License-Identifier: MIT */
/* scalapack.c - grids of ranks, agreements, and the parts of matrices that ranks have. */
#include "internal.h"
#include "refuse.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- agreements -------------------------------------------------------------------------- */

static const char *name_of(long long call) {
    static const char *const names[] = {"wg_scalapack_gemm", "wg_scalapack_dot",
                                        "wg_scalapack_solve_spd"};
    return call >= 0 && call < WGI_SCALAPACK_CALLS ? names[call] : "another call";
}

static wg_status mpi_error(wg_scalapack *g, int error) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (error == MPI_SUCCESS) return WG_OK;
    if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) length = 0;
    (void)snprintf(g->message, sizeof g->message, "%.*s", length, text);
    return WG_ECALLBACK;
}

wg_status wgi_scalapack_agree(wg_scalapack *g, wg_status s, wgi_scalapack_call call,
                              uint64_t detail, unsigned *bits) {
    enum { STATUS, CALL, NOT_CALL, DETAIL, NOT_DETAIL, BITS, NUMBERS = BITS + WGI_BITS };
    long long mine[NUMBERS], all[NUMBERS];
    g->inside = 1;
    mine[STATUS] = (long long)s;
    mine[CALL] = (long long)call, mine[NOT_CALL] = -mine[CALL];
    mine[DETAIL] = (long long)(detail >> 2), mine[NOT_DETAIL] = -mine[DETAIL];
    for (int i = 0; i < WGI_BITS; i++) mine[BITS + i] = bits != NULL && (*bits >> i & 1);
    const int error = MPI_Allreduce(mine, all, NUMBERS, MPI_LONG_LONG, MPI_MAX, g->comm);
    if (error != MPI_SUCCESS) return mpi_error(g, error);
    for (unsigned i = 0; bits != NULL && i < WGI_BITS; i++)
        *bits |= (unsigned)all[BITS + i] << i;
    if (all[STATUS] != WG_OK) {
        (void)snprintf(g->message, sizeof g->message, "%s on %s",
                       wg_status_text((wg_status)all[STATUS]),
                       s == WG_OK ? "another rank" : "this rank and others");
        return s != WG_OK ? s : (wg_status)all[STATUS];
    }
    if (all[CALL] != -all[NOT_CALL]) {
        (void)snprintf(g->message, sizeof g->message, "some ranks are in %s, others in %s",
                       name_of(-all[NOT_CALL]), name_of(all[CALL]));
        return WG_EMISMATCH;
    }
    if (all[DETAIL] == -all[NOT_DETAIL]) return WG_OK;
    (void)snprintf(
        g->message, sizeof g->message,
        "all ranks are in %s, but with other shapes, blocks, flags or lanes, or some "
        "in a sweep",
        name_of(call));
    return WG_EMISMATCH;
}

wg_status wgi_scalapack_apply(wg_tape *t, wg_scalapack *g, const wg_block_op *op,
                              const void *params, size_t bytes, wgi_scalapack_call call,
                              size_t inputs, const wg_mat *in, size_t outputs, wg_mat *out) {
    g->inside = 0;
    const wg_status s = wg_apply(t, op, params, bytes, inputs, in, outputs, out);
    if (!g->inside) (void)wgi_scalapack_agree(g, s, call, 0, NULL);
    return s;
}

wg_status wgi_scalapack_refuse(wg_tape *t, wg_scalapack *g, wg_status s, const char *name,
                               const char *why, wgi_scalapack_call call) {
    const wg_status got = wgi_refuse_call(t, s, name, why);
    if (g == NULL) return got;
    (void)wgi_scalapack_agree(g, got, call, 0, NULL);
    (void)snprintf(g->message, sizeof g->message, "%s: %s", name, why);
    return got;
}

const char *wgi_scalapack_odd(wg_scalapack_mat a, wg_scalapack_mat b, wg_status *s) {
    *s = WG_EARG;
    if (a.grid != b.grid) return "operands are on other grids";
    if (a.block != b.block) return "operands have other blocks";
    *s = WG_ESHAPE;
    if (a.local.value == NULL || b.local.value == NULL) return "an operand has failed";
    return NULL;
}

wg_status wgi_scalapack_sum(wg_scalapack *g, double *x, int n) {
    const int error = MPI_Reduce(g->row == 0 && g->col == 0 ? MPI_IN_PLACE : x, x, n,
                                 MPI_DOUBLE, MPI_SUM, 0, g->comm);
    if (error != MPI_SUCCESS) return mpi_error(g, error);
    return mpi_error(g, MPI_Bcast(x, n, MPI_DOUBLE, 0, g->comm));
}

/* ---- life -------------------------------------------------------------------------------- */

/* Between MPI_Init and MPI_Finalize. */
static int is_running(void) {
    int begun = 0, over = 1;
    return MPI_Initialized(&begun) == MPI_SUCCESS && begun &&
           MPI_Finalized(&over) == MPI_SUCCESS && !over;
}

static void release(wg_scalapack *g) {
    if (g->context >= 0) Cblacs_gridexit(g->context);
    if (g->handle >= 0) Cfree_blacs_system_handle(g->handle);
    if (g->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&g->comm);
    free(g);
}

wg_scalapack *wg_scalapack_new(MPI_Comm comm, int rows, int cols) {
    int size = 0, is = 1, dims[2] = {rows, cols};
    if (!is_running() || comm == MPI_COMM_NULL ||
        MPI_Comm_test_inter(comm, &is) != MPI_SUCCESS || is)
        return NULL;
    wg_scalapack *const g = calloc(1, sizeof *g);
    if (MPI_Comm_size(comm, &size) != MPI_SUCCESS) size = 0;
    if (rows == 0 && cols == 0) (void)MPI_Dims_create(size, 2, dims);
    const int fits =
        dims[0] > 0 && dims[1] > 0 && size % dims[0] == 0 && size / dims[0] == dims[1];
    int mine[3] = {g == NULL || !fits, dims[0], -dims[0]}, all[3];
    if (MPI_Allreduce(mine, all, 3, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS || all[0] != 0 ||
        all[1] != -all[2] || MPI_Comm_dup(comm, &g->comm) != MPI_SUCCESS) {
        free(g);
        return NULL;
    }
    (void)MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN);
    g->handle = Csys2blacs_handle(g->comm);
    g->context = g->handle;
    Cblacs_gridinit(&g->context, "Row", dims[0], dims[1]);
    if (g->context >= 0) Cblacs_gridinfo(g->context, &g->rows, &g->cols, &g->row, &g->col);
    int bad = g->context < 0 || g->row < 0, any = 1;
    if (MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, g->comm) == MPI_SUCCESS && !any)
        return g;
    release(g);
    return NULL;
}

void wg_scalapack_free(wg_scalapack *g) {
    if (g != NULL && is_running()) release(g);
    else free(g); /* MPI has ended the rest */
}

const char *wg_scalapack_message(const wg_scalapack *g) { return g != NULL ? g->message : ""; }

/* ---- parts ------------------------------------------------------------------------------- */

/* Of n lines in blocks, those of number `mine` among so many. */
static size_t part(size_t n, size_t block, int mine, int of) {
    const size_t round = block * (size_t)of, before = block * (size_t)mine;
    const size_t rest = n % round;
    const size_t last = rest <= before ? 0 : rest - before < block ? rest - before : block;
    return n / round * block + last;
}
static size_t line(size_t i, size_t block, int mine, int of) {
    return (i / block * (size_t)of + (size_t)mine) * block + i % block;
}

size_t wg_scalapack_rows(const wg_scalapack *g, size_t n, size_t block) {
    return g != NULL && block != 0 ? part(n, block, g->row, g->rows) : 0;
}
size_t wg_scalapack_cols(const wg_scalapack *g, size_t n, size_t block) {
    return g != NULL && block != 0 ? part(n, block, g->col, g->cols) : 0;
}
size_t wg_scalapack_row(const wg_scalapack *g, size_t i, size_t block) {
    return g != NULL && block != 0 ? line(i, block, g->row, g->rows) : 0;
}
size_t wg_scalapack_col(const wg_scalapack *g, size_t i, size_t block) {
    return g != NULL && block != 0 ? line(i, block, g->col, g->cols) : 0;
}

wg_scalapack_mat wgi_scalapack_failed(wg_scalapack *g, size_t rows, size_t cols, size_t block) {
    return (wg_scalapack_mat){
        g, rows, cols, block,
        wg_mat_failed(wg_scalapack_rows(g, rows, block), wg_scalapack_cols(g, cols, block))};
}

wg_scalapack_mat wg_scalapack_local(wg_tape *t, wg_scalapack *g, size_t rows, size_t cols,
                                    size_t block, wg_mat local) {
    static const char name[] = "wg_scalapack_local";
    wg_scalapack_mat a = {g, rows, cols, block, local};
    const char *why = NULL;
    wg_status s = WG_ESHAPE;
    if (g == NULL) why = "no grid", s = WG_ENULL;
    else if (block == 0 || block > INT_MAX / 2)
        why = "blocks of 0, or of more than INT_MAX / 2", s = WG_EARG;
    else if (rows > INT_MAX || cols > INT_MAX) why = "more than INT_MAX rows or columns";
    else if (local.rows != wg_scalapack_rows(g, rows, block) ||
             local.cols != wg_scalapack_cols(g, cols, block))
        why = "another shape than that of this rank's part";
    if (why == NULL) return a;
    (void)wgi_refuse_call(t, s, name, why);
    if (g != NULL) (void)snprintf(g->message, sizeof g->message, "%s: %s", name, why);
    a.local = wg_mat_failed(local.rows, local.cols);
    return a;
}

wgi_desc wgi_scalapack_desc(const wg_scalapack *g, size_t rows, size_t cols, size_t block,
                            size_t ld) {
    enum { DENSE = 1 };
    const int b = (int)block;
    return (wgi_desc){
        {DENSE, g->context, (int)rows, (int)cols, b, b, 0, 0, (int)(ld > 0 ? ld : 1)}};
}

void wgi_scalapack_take(const wg_block_arg *a, size_t lanes, size_t l, double *to) {
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            *to++ = a->bar != NULL ? a->bar[(i + j * a->bar_ld) * lanes + l] : 0;
}
void wgi_scalapack_add(const wg_block_arg *a, size_t lanes, size_t l, const double *from) {
    for (size_t j = 0; a->bar != NULL && j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) a->bar[(i + j * a->bar_ld) * lanes + l] += *from++;
}
void wgi_scalapack_put(const wg_block_arg *a, size_t lanes, size_t l, const double *from) {
    for (size_t j = 0; a->bar != NULL && j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) a->bar[(i + j * a->bar_ld) * lanes + l] = *from++;
}
int wgi_scalapack_any(const wg_block_arg *a, size_t lanes) {
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows * lanes; i++)
            if (a->bar[j * a->bar_ld * lanes + i] != 0) return 1;
    return 0;
}

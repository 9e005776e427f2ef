/* SPDX-License-Identifier: MIT */
/* function.c - functions at points that are shared out among ranks.
 *
 * A rank has whole blocks, and blocks are added up in their order, as in one process: the sums
 * of all before go from rank to rank, each adds those of its own blocks, and the last one has
 * the total. They go in pieces, so that a rank adds one while the next one adds the piece
 * before. */
#include "internal.h"
#include <limits.h>
#include <string.h>

enum { CHAIN_TAG = 2, PIECE = 4096 };

static size_t blocks_before(size_t blocks, int rank, int size) {
    const size_t each = blocks / (size_t)size, more = blocks % (size_t)size, r = (size_t)rank;
    return each * r + (r < more ? r : more);
}

wg_status wg_function_points_mpi(const wg_function *f, size_t points, const wg_mpi *m,
                                 size_t *first, size_t *count) {
    if (f == NULL || m == NULL || first == NULL || count == NULL) return WG_ENULL;
    const size_t block = wg_function_block(f);
    const size_t blocks = points / block + (points % block != 0);
    const size_t to = blocks_before(blocks, m->rank + 1, m->size);
    *first = blocks_before(blocks, m->rank, m->size) * block;
    if (*first > points) *first = points;
    *count = (to == blocks ? points : to * block) - *first;
    return WG_OK;
}

/* ---- shared inputs ---------------------------------------------------------------------- */

static size_t shared_entries(const wg_function *f) {
    size_t n = 0;
    for (size_t k = 0; k < wg_function_inputs(f); k++) {
        const wg_argument *const a = wg_function_input(f, k);
        if (a->flags & WG_SHARED) n += a->rows * a->cols;
    }
    return n;
}

/* Behind the workspace of the points: inputs, and numbers of the shared ones. */
static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }
static size_t inputs_bytes(const wg_function *f) {
    return aligned(wg_function_inputs(f) * sizeof(wg_points));
}

size_t wg_function_work_mpi(const wg_function *f, size_t points, const wg_threads *threads,
                            const wg_mpi *m) {
    size_t first, count;
    if (wg_function_points_mpi(f, points, m, &first, &count) != WG_OK) return 0;
    return 64 + inputs_bytes(f) + aligned(shared_entries(f) * sizeof(double)) +
           wg_function_work_part(f, count, threads);
}

/* What was given, with the root's shared inputs. */
static wg_status share(const wg_function *f, const wg_points *x, int root, wg_mpi *m,
                       wg_points *in, double *number) {
    double *to = number;
    for (size_t k = 0; k < wg_function_inputs(f); k++) {
        const wg_argument *const a = wg_function_input(f, k);
        const size_t entries = a->rows * a->cols;
        in[k] = x[k];
        if (!(a->flags & WG_SHARED)) continue;
        for (size_t e = 0; m->rank == root && e < entries; e++)
            to[e] = x[k].data != NULL ? x[k].data[(ptrdiff_t)e * x[k].entry] : 0;
        in[k] = (wg_points){to, 0, 1};
        to += entries;
    }
    return wgi_mpi_error(
        m, MPI_Bcast(number, (int)(to - number), MPI_DOUBLE, root, m->comm[WGI_CONTROL]));
}

/* ---- sums ------------------------------------------------------------------------------- */

struct adding {
    wg_mpi *m;
    int met; /* have all agreed after their points? */
};

static wg_status chain(wg_mpi *m, size_t blocks, size_t n, const double *sum, double *total) {
    const MPI_Comm comm = m->comm[WGI_CONTROL];
    const int last = m->size - 1;
    int error = MPI_SUCCESS;
    for (size_t at = 0; at < n && error == MPI_SUCCESS; at += PIECE) {
        const size_t piece = n - at < PIECE ? n - at : PIECE;
        if (m->rank == 0) memset(total + at, 0, piece * sizeof *total);
        else
            error = MPI_Recv(total + at, (int)piece, MPI_DOUBLE, m->rank - 1, CHAIN_TAG, comm,
                             MPI_STATUS_IGNORE);
        for (size_t b = 0; b < blocks; b++)
            for (size_t k = at; k < at + piece; k++) total[k] += sum[b * n + k];
        if (m->rank != last && error == MPI_SUCCESS)
            error = MPI_Send(total + at, (int)piece, MPI_DOUBLE, m->rank + 1, CHAIN_TAG, comm);
    }
    if (error == MPI_SUCCESS) error = MPI_Bcast(total, (int)n, MPI_DOUBLE, last, comm);
    return wgi_mpi_error(m, error);
}

static wg_status add(void *ctx, size_t blocks, size_t n, const double *sum, double *total) {
    struct adding *const a = ctx;
    wg_status s = n <= INT_MAX ? WG_OK : WG_ESHAPE;
    if (s != WG_OK) (void)wgi_mpi_fail(a->m, s, "wg_function_evaluate_mpi: too many sums");
    a->met = 1;
    const wg_status all = wgi_mpi_agree(a->m, s, WGI_MPI_evaluate, wgi_mpi_mix(n, 2));
    if (s != WG_OK || all != WG_OK) return s != WG_OK ? s : all;
    return chain(a->m, blocks, n, sum, total);
}

/* ---- a call ----------------------------------------------------------------------------- */

static wg_status begin(const wg_function *f, size_t points, const wg_points *x,
                       const wg_results *y, int root, const void *work, wg_mpi *m) {
    const char *why = NULL;
    wg_status s = WG_ENULL;
    uint64_t detail = wgi_mpi_mix(points, (uint64_t)root);
    if (f == NULL) why = "no function";
    else if (work == NULL) why = "no workspace";
    else if (x == NULL && wg_function_inputs(f) != 0) why = "no inputs";
    else if (y == NULL && wg_function_outputs(f) != 0) why = "no outputs";
    else if (s = WG_EARG, root < 0 || root >= m->size) why = "no rank is the root";
    else if (s = WG_ESHAPE, shared_entries(f) > INT_MAX) why = "too many shared inputs";
    if (why != NULL) (void)wgi_mpi_fail(m, s, "wg_function_evaluate_mpi: %s", why);
    else {
        s = WG_OK;
        detail = wgi_mpi_mix(wgi_mpi_mix(detail, shared_entries(f)), wg_function_block(f));
    }
    const wg_status all = wgi_mpi_agree(m, s, WGI_MPI_evaluate, detail);
    return s != WG_OK ? s : all;
}

/* The first comparison that came out differently, among all ranks'. */
static wg_status first_of_all(wg_mpi *m, wg_status s, wg_function_guard mine, size_t first,
                              wg_function_guard *guard) {
    /* signed: some MPI takes unsigned numbers for these */
    const long long none = LLONG_MAX;
    const long long point = s == WG_EGUARD ? (long long)(mine.point + first) : none;
    long long at = none, which = none;
    int error = MPI_Allreduce(&point, &at, 1, MPI_LONG_LONG, MPI_MIN, m->comm[WGI_CONTROL]);
    if (error != MPI_SUCCESS || at == none) return wgi_mpi_error(m, error);
    const long long here = at == point ? (long long)mine.guard : none;
    error = MPI_Allreduce(&here, &which, 1, MPI_LONG_LONG, MPI_MIN, m->comm[WGI_CONTROL]);
    if (error != MPI_SUCCESS) return wgi_mpi_error(m, error);
    if (guard != NULL) *guard = (wg_function_guard){(size_t)at, (size_t)which};
    return WG_EGUARD;
}

wg_status wg_function_evaluate_mpi(const wg_function *f, size_t points, const wg_points *x,
                                   const wg_results *y, int root, wg_threads *threads,
                                   void *work, wg_function_guard *guard, wg_mpi *m) {
    if (m == NULL) return WG_ENULL;
    wg_status s = begin(f, points, x, y, root, work, m);
    if (s != WG_OK) return s;
    char *const at = (char *)work + (-(uintptr_t)work & 63);
    wg_points *const in = (wg_points *)(void *)at;
    double *const number = (double *)(void *)(at + inputs_bytes(f));
    char *const rest = (char *)number + aligned(shared_entries(f) * sizeof *number);
    size_t first = 0, count = 0;
    struct adding a = {m, 0};
    wg_function_guard mine = {0, 0};
    s = share(f, x, root, m, in, number);
    if (s == WG_OK) s = wg_function_points_mpi(f, points, m, &first, &count);
    if (s == WG_OK)
        s = wg_function_evaluate_part(f, points, count, in, y, threads, rest, &mine, add, &a);
    if (!a.met) {
        const wg_status own = s == WG_EGUARD ? WG_OK : s;
        if (own != WG_OK)
            (void)wgi_mpi_fail(m, own, "wg_function_evaluate_mpi: %s", wg_status_text(own));
        const wg_status all = wgi_mpi_agree(m, own, WGI_MPI_evaluate, 4);
        if (own == WG_OK && all != WG_OK) s = all;
    }
    return s == WG_OK || s == WG_EGUARD ? first_of_all(m, s, mine, first, guard) : s;
}

/* SPDX-License-Identifier: MIT */
/* sweep.c - sweeps by all ranks, and second derivatives by them. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* What a sweep gave on this rank is told, and on a checked communicator waited for. */
static wg_status swept(wg_tape *t, wg_mpi *m, wg_status s, wgi_mpi_call call, size_t k) {
    if (s != WG_OK) (void)wgi_mpi_fail(m, s, "%s", wg_tape_message(t));
    if (!m->checked) return s;
    const wg_status all = wgi_mpi_agree(m, s, call, wgi_mpi_mix(k, 2));
    return s != WG_OK ? s : all;
}

static wg_status begin(wg_tape *t, wg_mpi *m, wg_status s, wgi_mpi_call call, size_t k) {
    if (s == WG_OK) s = t == NULL ? WG_ENULL : wg_tape_status(t);
    if (s != WG_OK)
        (void)wgi_mpi_fail(m, s, "%s", t != NULL ? wg_tape_message(t) : "the tape is NULL");
    const wg_status all = wgi_mpi_agree(m, s, call, wgi_mpi_mix(k, 1));
    m->sweeps += all == WG_OK;
    return s != WG_OK ? s : all;
}

/* What would be refused before anything is swept, so that nobody begins: room, and outputs that
 * are no variables any more. That there is nothing on it which depends on others is no
 * failure. */
static wg_status prepare(wg_tape *t, size_t k, size_t outputs, const wg_real *y) {
    const wg_status s = wg_reverse_check(t, k, outputs, y);
    return s == WG_ESEED ? WG_OK : s;
}

wg_status wg_mpi_reverse(wg_tape *t, wg_real y, double w, wg_mpi *m) {
    if (m == NULL) return WG_ENULL;
    wg_status s = begin(t, m, prepare(t, 1, 1, &y), WGI_MPI_reverse, 1);
    if (s != WG_OK) return s;
    s = wg_reverse_seeds(t, 1, &y, &w);
    if (s == WG_ESEED)
        s = wg_adjoints_clear(t); /* there is nothing on it that depends on others */
    return swept(t, m, s, WGI_MPI_reverse, 1);
}

wg_status wg_mpi_reverse_lanes(wg_tape *t, size_t k, size_t outputs, const wg_real *y,
                               const double *w, wg_mpi *m) {
    if (m == NULL) return WG_ENULL;
    const int no_seeds = outputs != 0 && w == NULL;
    wg_status s = no_seeds ? wg_reverse_lanes(t, k, outputs, y, w) : prepare(t, k, outputs, y);
    s = begin(t, m, s, WGI_MPI_reverse_lanes, k);
    if (s != WG_OK) return s;
    s = wg_reverse_lanes(t, k, outputs, y, w);
    if (s == WG_ESEED) s = prepare(t, k, outputs, y); /* as above, in k lanes */
    return swept(t, m, s, WGI_MPI_reverse_lanes, k);
}

wg_status wg_mpi_hvp(wg_tape *t, wg_real y, size_t n, const wg_real *x, const double *v,
                     double *hv, wg_mpi *m) {
    if (m == NULL) return WG_ENULL;
    wg_status s = n != 0 && (v == NULL || hv == NULL) ? WG_ENULL
                  : t == NULL                         ? WG_ENULL
                                                      : wg_tape_hvp_check(t, y, n, x);
    const int nothing = s == WG_ESEED; /* there is nothing on it that depends on others */
    s = begin(t, m, nothing ? WG_OK : s, WGI_MPI_hvp, 1);
    if (s != WG_OK) return s;
    if (!nothing) s = wg_tape_hvp(t, y, n, x, v, hv);
    for (size_t i = 0; nothing && i < n; i++) hv[i] = 0;
    return swept(t, m, s, WGI_MPI_hvp, 1);
}

/* Column after column of h, rows of `all`. */
static wg_status columns(wg_tape *t, wg_real y, size_t n, const wg_real *x, int nothing,
                         size_t first, size_t all, double *h, wg_mpi *m) {
    double *const v = h + n * all, *const hv = v + n;
    wg_status s = WG_OK;
    memset(h, 0, (n * all + 2 * n) * sizeof *h);
    for (size_t k = 0; k < all && s == WG_OK; k++) {
        const int mine = k >= first && k - first < n;
        if (mine) v[k - first] = 1;
        if (!nothing) s = wg_tape_hvp(t, y, n, x, v, hv);
        if (s != WG_OK) (void)wgi_mpi_fail(m, s, "%s", wg_tape_message(t));
        const wg_status others = wgi_mpi_agree(m, s, WGI_MPI_hessian, wgi_mpi_mix(k, 2));
        if (s == WG_OK) s = others;
        if (mine) v[k - first] = 0;
        for (size_t i = 0; i < n; i++) h[i * all + k] = hv[i];
    }
    return s;
}

wg_status wg_mpi_hessian(wg_tape *t, wg_real y, size_t n, const wg_real *x, double *h,
                         size_t ld, wg_mpi *m) {
    if (m == NULL) return WG_ENULL;
    wg_status s = n != 0 && h == NULL ? WG_ENULL
                  : t == NULL         ? WG_ENULL
                                      : wg_tape_hvp_check(t, y, n, x);
    const int nothing = s == WG_ESEED; /* there is nothing on it that depends on others */
    s = begin(t, m, nothing ? WG_OK : s, WGI_MPI_hessian, 1);
    if (s != WG_OK) return s;
    uint64_t mine = n, before = 0, all = 0;
    const MPI_Comm comm = m->comm[WGI_CONTROL];
    s = wgi_mpi_error(m, MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, comm));
    if (s == WG_OK)
        s = wgi_mpi_error(m, MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, comm));
    if (m->rank == 0) before = 0; /* there it is not written */
    double *room = NULL;
    if (s == WG_OK && n != 0 && ld < all)
        s = wgi_mpi_fail(m, WG_ESHAPE, "wg_mpi_hessian: rows of %zu, not of %llu", ld,
                         (unsigned long long)all);
    else if (s == WG_OK &&
             (all > SIZE_MAX / 32 / (n + 1) ||
              (room = malloc((n * (size_t)all + 2 * n + 1) * sizeof *room)) == NULL))
        s = wgi_mpi_fail(m, WG_ENOMEM, "wg_mpi_hessian: no memory for %zu rows", n);
    const wg_status others = wgi_mpi_agree(m, s, WGI_MPI_hessian, 0);
    if (s == WG_OK) s = others;
    if (s == WG_OK) s = columns(t, y, n, x, nothing, (size_t)before, (size_t)all, room, m);
    for (size_t i = 0; s == WG_OK && i < n; i++)
        memcpy(h + i * ld, room + i * (size_t)all, (size_t)all * sizeof *h);
    free(room);
    return s;
}

/* SPDX-License-Identifier: MIT */
/* request.c - requests that end in the order in which messages come; persistent ones; probes.
 *
 * What is recorded is the end of one request after another, as by wg_mpi_wait: which one came
 * first is known then, and sweeps need not find it out again. */
#include "internal.h"
#include <limits.h>

/* ---- which has ended? ------------------------------------------------------------------- */

static wg_status status_of(const wg_tape *t) {
    return t != NULL ? wg_tape_status(t) : WG_ENULL;
}

static int is_active(const wg_mpi_request *r) { return r->m != NULL; }

/* Nothing ends on a tape that has failed: nobody waits for that. */
static int is_done(const wg_tape *t, const wg_mpi_request *r) {
    return !is_active(r) || status_of(t) != WG_OK ||
           wgi_mpi_is_done(r->m, wgi_mpi_message_find(r->m, WGI_VALUES, r->id));
}

static size_t count_active(size_t n, const wg_mpi_request *r) {
    size_t active = 0;
    for (size_t i = 0; i < n; i++) active += (size_t)is_active(&r[i]);
    return active;
}

static wg_status refuse(wg_tape *t, wg_status s, const char *name, const char *why) {
    return wgi_mpi_refuse(t, NULL, s, name, why, WGI_MPI_NONE);
}

/* Ends those that have come or gone, at most `most`; index: which. */
static wg_status end(wg_tape *t, size_t n, wg_mpi_request *r, size_t most, int *count,
                     int *index) {
    wg_status s = status_of(t);
    *count = 0;
    for (size_t i = 0; i < n && (size_t)*count < most; i++) {
        if (!is_active(&r[i]) || !is_done(t, &r[i])) continue;
        const wg_status one = wg_mpi_wait(t, &r[i]);
        if (s == WG_OK) s = one;
        index[(*count)++] = (int)i;
    }
    return s;
}

/* Would all of them be waited for in vain? */
static int all_stuck(size_t n, const wg_mpi_request *r) {
    for (size_t i = 0; i < n; i++)
        if (is_active(&r[i]) &&
            !wgi_mpi_is_stuck(r[i].m, wgi_mpi_message_find(r[i].m, WGI_VALUES, r[i].id)))
            return 0;
    return 1;
}

/* Waits for one, which says what is the matter. */
static wg_status end_first(wg_tape *t, size_t n, wg_mpi_request *r, int *count, int *index) {
    size_t i = 0;
    while (i + 1 < n && !is_active(&r[i])) i++;
    *count = 1;
    index[0] = (int)i;
    return wg_mpi_wait(t, &r[i]);
}

static wg_status some(wg_tape *t, const char *name, size_t n, wg_mpi_request *r, size_t most,
                      int waits, int *count, int *index) {
    if (count == NULL || index == NULL || (n != 0 && r == NULL))
        return refuse(t, WG_ENULL, name, "no requests, or nowhere to say which have ended");
    if (n > INT_MAX) return refuse(t, WG_EARG, name, "too many requests");
    *count = MPI_UNDEFINED;
    if (count_active(n, r) == 0) return status_of(t);
    wg_status s;
    do {
        s = end(t, n, r, most, count, index);
        if (waits && *count == 0 && all_stuck(n, r)) s = end_first(t, n, r, count, index);
    } while (waits && *count == 0);
    return s;
}

wg_status wg_mpi_waitsome(wg_tape *t, size_t n, wg_mpi_request *r, int *count, int *index) {
    return some(t, "wg_mpi_waitsome", n, r, n, 1, count, index);
}
wg_status wg_mpi_testsome(wg_tape *t, size_t n, wg_mpi_request *r, int *count, int *index) {
    return some(t, "wg_mpi_testsome", n, r, n, 0, count, index);
}
wg_status wg_mpi_waitany(wg_tape *t, size_t n, wg_mpi_request *r, int *index) {
    int count = 0;
    if (index != NULL) *index = MPI_UNDEFINED;
    return some(t, "wg_mpi_waitany", n, r, 1, 1, &count, index);
}
wg_status wg_mpi_testany(wg_tape *t, size_t n, wg_mpi_request *r, int *index, int *flag) {
    int count = 0;
    if (index != NULL) *index = MPI_UNDEFINED;
    const wg_status s =
        some(t, "wg_mpi_testany", n, r, 1, 0, &count, flag != NULL ? index : NULL);
    if (flag != NULL) *flag = count != 0;
    return s;
}

wg_status wg_mpi_testall(wg_tape *t, size_t n, wg_mpi_request *r, int *flag) {
    if (flag == NULL || (n != 0 && r == NULL))
        return refuse(t, WG_ENULL, "wg_mpi_testall", "no requests or no flag");
    *flag = 0;
    for (size_t i = 0; i < n; i++)
        if (!is_done(t, &r[i])) return status_of(t);
    *flag = 1;
    return wg_mpi_waitall(t, n, r);
}
wg_status wg_mpi_test(wg_tape *t, wg_mpi_request *r, int *flag) {
    if (flag == NULL || r == NULL)
        return refuse(t, WG_ENULL, "wg_mpi_test", "no request or no flag");
    return wg_mpi_testall(t, 1, r, flag);
}

/* ---- persistent ones -------------------------------------------------------------------- */

static wg_status keep(wg_tape *t, const char *name, wg_mpi_request like, const void *numbers,
                      wg_mpi_request *r) {
    if (r != NULL) *r = (wg_mpi_request){0};
    if (r == NULL || like.kept == NULL || (like.cols != 0 && numbers == NULL))
        return wgi_mpi_refuse(t, like.kept, WG_ENULL, name,
                              "no communicator, no array or no request", WGI_MPI_NONE);
    like.rows = 1;
    like.result = wg_mat_failed(1, like.cols);
    *r = like;
    return status_of(t);
}

wg_status wg_mpi_send_init(wg_tape *t, const wg_real *x, size_t n, int dest, int tag, wg_mpi *m,
                           wg_mpi_request *r) {
    const wg_mpi_request like = {.kept = m, .cols = n, .peer = dest, .tag = tag, .x = x};
    return keep(t, "wg_mpi_send_init", like, x, r);
}

wg_status wg_mpi_recv_init(wg_tape *t, wg_real *y, size_t n, int source, int tag, wg_mpi *m,
                           wg_mpi_request *r) {
    const wg_mpi_request like = {
        .kept = m, .cols = n, .peer = source, .tag = tag, .y = y, .receives = 1};
    return keep(t, "wg_mpi_recv_init", like, y, r);
}

wg_status wg_mpi_start(wg_tape *t, wg_mpi_request *r) {
    const char *const name = "wg_mpi_start";
    if (r == NULL) return refuse(t, WG_ENULL, name, "no request");
    if (r->kept == NULL || is_active(r))
        return wgi_mpi_refuse(t, r->kept, WG_EMODE, name,
                              r->kept == NULL ? "this request is not persistent"
                                              : "it was begun, and not ended",
                              WGI_MPI_NONE);
    const wg_mpi_request was = *r;
    const wg_status s = was.receives
                            ? wg_mpi_irecv(t, was.y, was.cols, was.peer, was.tag, was.kept, r)
                            : wg_mpi_isend(t, was.x, was.cols, was.peer, was.tag, was.kept, r);
    r->kept = was.kept;
    r->x = was.x;
    return s;
}

wg_status wg_mpi_startall(wg_tape *t, size_t n, wg_mpi_request *r) {
    wg_status s = status_of(t);
    for (size_t i = 0; i < n; i++) {
        const wg_status one = wg_mpi_start(t, r != NULL ? &r[i] : NULL);
        if (s == WG_OK) s = one;
    }
    return s;
}

wg_status wg_mpi_request_free(wg_tape *t, wg_mpi_request *r) {
    if (r == NULL) return refuse(t, WG_ENULL, "wg_mpi_request_free", "no request");
    if (is_active(r))
        return wgi_mpi_refuse(t, r->m, WG_EMODE, "wg_mpi_request_free",
                              "it was begun, and not ended", WGI_MPI_NONE);
    r->kept = NULL;
    return status_of(t);
}

/* ---- probes ----------------------------------------------------------------------------- */

wg_status wg_mpi_iprobe(int source, int tag, wg_mpi *m, int *flag, MPI_Status *status,
                        size_t *n) {
    MPI_Status found;
    int is = 0, count = 0;
    if (m == NULL || flag == NULL || n == NULL) return WG_ENULL;
    if (m->checked && m->failed != WG_OK) return m->failed;
    wg_status s = wgi_mpi_error(m, MPI_Iprobe(source, tag, m->comm[WGI_VALUES], &is, &found));
    if (s == WG_OK && !is && m->checked) s = wgi_mpi_listen(m);
    if (s != WG_OK) return s;
    *flag = is;
    if (!is) return WG_OK;
    (void)MPI_Get_count(&found, MPI_DOUBLE, &count);
    *n = count > 0 ? (size_t)count - 1 : 0; /* its key is no number of the sender's */
    if (status != MPI_STATUS_IGNORE && status != NULL) *status = found;
    return WG_OK;
}

wg_status wg_mpi_probe(int source, int tag, wg_mpi *m, MPI_Status *status, size_t *n) {
    int flag = 0;
    wg_status s = WG_OK;
    while (s == WG_OK && !flag) {
        s = wg_mpi_iprobe(source, tag, m, &flag, status, n);
        if (s == WG_OK && !flag && m->checked && wgi_mpi_is_vain(m, source, MPI_PROC_NULL))
            s = wgi_mpi_vain(m, source);
    }
    return s;
}

/* SPDX-License-Identifier: MIT */
/* numbers.c - the numbers of matrices side by side, as MPI takes them, and messages of them. */
#include "internal.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

double *wgi_mpi_room(wg_mpi *m, int which, size_t n) {
    if (n == 0) n = 1;
    if (n > m->room_size[which]) {
        double *const more = realloc(m->room[which], n * sizeof *more);
        if (more == NULL) {
            (void)wgi_mpi_fail(m, WG_ENOMEM, "no memory for %zu numbers", n);
            return NULL;
        }
        m->room[which] = more;
        m->room_size[which] = n;
    }
    return m->room[which];
}

const double *wgi_mpi_flat(wg_mpi *m, const wg_block_arg *a, int bar, size_t lanes, int which) {
    const double *const from = bar ? a->bar : a->value;
    const size_t ld = bar ? a->bar_ld : a->ld, n = wgi_mpi_size(a) * lanes;
    if (from != NULL && n != 0 && (ld == a->rows || a->cols == 1)) return from;
    double *const to = wgi_mpi_room(m, which, n);
    if (to == NULL || n == 0) return to;
    if (from == NULL) return memset(to, 0, n * sizeof *to);
    for (size_t j = 0; j < a->cols; j++)
        memcpy(to + j * a->rows * lanes, from + j * ld * lanes, a->rows * lanes * sizeof *to);
    return to;
}

/* Several at once, where the compiler would take one after the other. */
typedef double numbers __attribute__((vector_size(64)));

static void add(double *to, const double *x, size_t n) {
    enum { AT_ONCE = sizeof(numbers) / sizeof(double) };
    size_t i = 0;
    for (; n - i >= AT_ONCE; i += AT_ONCE) {
        numbers a, b;
        memcpy(&a, to + i, sizeof a);
        memcpy(&b, x + i, sizeof b);
        a += b;
        memcpy(to + i, &a, sizeof a);
    }
    for (; i < n; i++) to[i] += x[i];
}

void wgi_mpi_add(const wg_block_arg *a, const double *x, size_t lanes) {
    if (a->bar == NULL) return;
    if (a->bar_ld == a->rows || a->cols == 1) {
        add(a->bar, x, wgi_mpi_size(a) * lanes);
        return;
    }
    const size_t column = a->rows * lanes;
    for (size_t j = 0; j < a->cols; j++, x += column)
        add(a->bar + j * a->bar_ld * lanes, x, column);
}

void wgi_mpi_add_product(const wg_block_arg *a, const double *p, const double *x,
                         size_t lanes) {
    if (a->bar == NULL) return;
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++, p++)
            for (size_t l = 0; l < lanes; l++, x++)
                if (*p != 0 && *x != 0) a->bar[(j * a->bar_ld + i) * lanes + l] += *p * *x;
}

static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

void wgi_mpi_multiply(const double *x, double *y, size_t n, size_t each) {
    for (; n > 0; n--, x += each, y += each) {
        for (size_t l = 1; l < each; l++) y[l] = times(x[0], y[l]) + times(x[l], y[0]);
        y[0] *= x[0];
    }
}

wg_mat wgi_mpi_row(wg_tape *t, size_t n, const wg_real *x) {
    return n == 0 ? wg_mat_fill(t, 1, 0, 0) : wg_mat_gather(t, 1, n, x);
}

wg_status wgi_mpi_write(wg_tape *t, wg_mpi *m, const char *name, wg_status s, wg_mat a,
                        size_t n, wg_real *y) {
    if (n != 0 && y == NULL)
        return s != WG_OK ? s : wgi_mpi_refuse(t, m, WG_ENULL, name, "no array to write to", 0);
    for (size_t i = 0; i < n; i++) y[i] = wg_mat_at(a, 0, i);
    return s;
}

/* ---- messages --------------------------------------------------------------------------- */

wgi_message *wgi_mpi_message_find(wg_mpi *m, wgi_phase phase, uint64_t id) {
    wgi_message *a = m->messages;
    while (a != NULL && !(a->busy && !a->left && a->phase == phase && a->id == id)) a = a->next;
    return a;
}

wgi_message *wgi_mpi_message_of(wg_mpi *m, wgi_phase phase, uint64_t id) {
    wgi_message *const a = wgi_mpi_message_find(m, phase, id);
    if (a == NULL)
        (void)wgi_mpi_fail(m, WG_EMODE, "what was begun has not been waited for, or twice");
    return a;
}

static wgi_message *a_free_one(wg_mpi *m, size_t n) {
    wgi_message *any = NULL;
    for (wgi_message *a = m->messages; a != NULL; a = a->next) {
        if (a->busy && a->left) {
            int gone = 0;
            (void)MPI_Test(&a->request, &gone, MPI_STATUS_IGNORE);
            a->busy = !gone;
        }
        if (a->busy) continue;
        if (a->room >= n) return a;
        any = a;
    }
    if (any == NULL) {
        any = calloc(1, sizeof *any);
        if (any == NULL) return NULL;
        any->next = m->messages;
        m->messages = any;
    }
    double *const data = realloc(any->data, n * sizeof *data);
    if (data == NULL) return NULL;
    any->data = data;
    any->room = n;
    return any;
}

wgi_message *wgi_mpi_message_new(wg_mpi *m, wgi_phase phase, uint64_t id, size_t n) {
    wgi_message *const a = a_free_one(m, n != 0 ? n : 1);
    if (a == NULL) {
        (void)wgi_mpi_fail(m, WG_ENOMEM, "no memory for a message of %zu numbers", n);
        return NULL;
    }
    a->busy = 1;
    a->synchronous = a->left = 0;
    a->request = MPI_REQUEST_NULL;
    a->phase = phase;
    a->id = id;
    return a;
}

/* Whether it was begun or not, the failure of before is that of now. */
static wg_status failed(const wg_mpi *m) { return m->failed != WG_OK ? m->failed : WG_ENOMEM; }

wg_status wgi_mpi_begin_send(wg_mpi *m, wgi_message *a, size_t n, int dest, int tag) {
    if (a == NULL) return failed(m);
    a->receives = 0;
    a->source = MPI_PROC_NULL, a->dest = dest;
    const MPI_Comm comm = m->comm[a->phase];
    const wg_status s = wgi_mpi_error(
        m, a->synchronous
               ? MPI_Issend(a->data, (int)n, MPI_DOUBLE, dest, tag, comm, &a->request)
               : MPI_Isend(a->data, (int)n, MPI_DOUBLE, dest, tag, comm, &a->request));
    if (s != WG_OK) wgi_mpi_message_done(a);
    else if (dest != MPI_PROC_NULL) m->traffic[dest]++;
    return s;
}

wg_status wgi_mpi_begin_receive(wg_mpi *m, wgi_message *a, size_t n, int source, int tag) {
    if (a == NULL) return failed(m);
    a->receives = 1;
    a->source = source, a->dest = MPI_PROC_NULL;
    /* not every MPI gives the status of no rank */
    a->got.MPI_SOURCE = source;
    if (source == MPI_PROC_NULL) return WG_OK;
    const wg_status s = wgi_mpi_error(
        m, MPI_Irecv(a->data, (int)n, MPI_DOUBLE, source, tag, m->comm[a->phase], &a->request));
    if (s != WG_OK) wgi_mpi_message_done(a);
    return s;
}

int wgi_mpi_is_stuck(wg_mpi *m, const wgi_message *a) {
    return a != NULL && m->checked && m->failed == WG_OK && a->request != MPI_REQUEST_NULL &&
           wgi_mpi_is_vain(m, a->source, a->dest);
}

int wgi_mpi_is_done(wg_mpi *m, const wgi_message *a) {
    int is = 0;
    if (a == NULL || (m->checked && m->failed != WG_OK)) return 1;
    if (MPI_Request_get_status(a->request, &is, MPI_STATUS_IGNORE) != MPI_SUCCESS || is)
        return 1;
    return m->checked && wgi_mpi_listen(m) != WG_OK;
}

/* What seems to be waited for in vain may have gone between the test and the look. */
static wg_status wait_listening(wg_mpi *m, wgi_message *a, int *error) {
    for (int is = 0, vain = 0;;) {
        *error = MPI_Test(&a->request, &is, &a->got);
        if (is || *error != MPI_SUCCESS) return WG_OK;
        if (vain) return wgi_mpi_vain(m, a->receives ? a->source : a->dest);
        const wg_status s = wgi_mpi_listen(m);
        if (s != WG_OK) return s; /* it stays under way: wg_mpi_clear */
        vain = wgi_mpi_is_vain(m, a->source, a->dest);
    }
}

wg_status wgi_mpi_finish(wg_mpi *m, wgi_message *a, size_t n) {
    int error = MPI_SUCCESS, count = 0;
    if (a == NULL) return failed(m);
    if (a->receives && a->request == MPI_REQUEST_NULL) return WG_OK; /* of no rank */
    if (m->checked) {
        const wg_status s = m->failed != WG_OK ? m->failed : wait_listening(m, a, &error);
        if (s != WG_OK) return s;
    } else error = MPI_Wait(&a->request, &a->got);
    if (a->receives && a->got.MPI_SOURCE >= 0) m->traffic[m->size + a->got.MPI_SOURCE]++;
    if (error == MPI_SUCCESS && a->receives && a->got.MPI_SOURCE != MPI_PROC_NULL) {
        (void)MPI_Get_count(&a->got, MPI_DOUBLE, &count);
        const int key = a->phase == WGI_VALUES;
        if (count != (int)n) {
            wgi_mpi_message_done(a);
            return wgi_mpi_fail(m, WG_ESHAPE, "%d numbers came from rank %d, not %d",
                                count - key, a->got.MPI_SOURCE, (int)n - key);
        }
    }
    if (error != MPI_SUCCESS) {
        wgi_mpi_message_done(a);
        return wgi_mpi_error(m, error);
    }
    return WG_OK;
}

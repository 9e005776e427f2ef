/* SPDX-License-Identifier: MIT */
/* communicator.c - communicators: made and freed; failures, and how all ranks learn of them: by
 * the next agreement (agree.c), or, who waits for a message, by a notice, for which it looks
 * while it waits. */
#include "internal.h"
#include "refuse.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOTICE_TAG = 1 };

/* ---- failures --------------------------------------------------------------------------- */

static void tell(wg_mpi *m) {
    if (!m->checked || m->told || m->agreed) return;
    m->told = 1;
    m->code = (int)m->failed;
    for (int r = 0; r < m->size; r++)
        if (r != m->rank && MPI_Isend(&m->code, 1, MPI_INT, r, NOTICE_TAG, m->comm[WGI_CONTROL],
                                      &m->notice[r]) == MPI_SUCCESS)
            m->traffic[r]++;
}

static wg_status keep(wg_mpi *m, wg_status s, const char *format, va_list args) {
    if (m->failed != WG_OK) return m->failed;
    (void)vsnprintf(m->message, sizeof m->message, format, args);
    return m->failed = s;
}

wg_status wgi_mpi_know(wg_mpi *m, wg_status s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    s = keep(m, s, format, args);
    va_end(args);
    return s;
}

wg_status wgi_mpi_fail(wg_mpi *m, wg_status s, const char *format, ...) {
    va_list args;
    if (!m->checked) m->failed = WG_OK; /* it is said, and no more */
    va_start(args, format);
    s = keep(m, s, format, args);
    va_end(args);
    tell(m);
    return s;
}

wg_status wgi_mpi_error(wg_mpi *m, int error) {
    char text[MPI_MAX_ERROR_STRING];
    int class = MPI_ERR_OTHER, length = 0;
    if (error == MPI_SUCCESS) return WG_OK;
    (void)MPI_Error_class(error, &class);
    if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) length = 0;
    const wg_status s = class == MPI_ERR_TRUNCATE ? WG_ESHAPE
                        : class == MPI_ERR_RANK || class == MPI_ERR_ROOT ||
                                class == MPI_ERR_TAG || class == MPI_ERR_COUNT
                            ? WG_EARG
                            : WG_ECALLBACK;
    return wgi_mpi_fail(m, s, "%.*s", length, text);
}

/* Has another rank failed? Then its notice is received. */
wg_status wgi_mpi_listen(wg_mpi *m) {
    MPI_Status got;
    int is = 0, code = 0;
    int error = MPI_Iprobe(MPI_ANY_SOURCE, NOTICE_TAG, m->comm[WGI_CONTROL], &is, &got);
    if (error != MPI_SUCCESS || !is) return wgi_mpi_error(m, error);
    error = MPI_Recv(&code, 1, MPI_INT, got.MPI_SOURCE, NOTICE_TAG, m->comm[WGI_CONTROL],
                     MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return wgi_mpi_error(m, error);
    m->traffic[m->size + got.MPI_SOURCE]++;
    m->told = 1; /* who has failed first tells all */
    return wgi_mpi_know(m, (wg_status)code, "%s on rank %d", wg_status_text((wg_status)code),
                        got.MPI_SOURCE);
}

/* ---- failures of calls ------------------------------------------------------------------- */

wg_status wgi_mpi_apply(wg_tape *t, const wg_block_op *op, const wgi_mpi_params *p,
                        size_t bytes, wgi_mpi_call call, size_t inputs, const wg_mat *in,
                        size_t outputs, wg_mat *out) {
    wg_mpi *const m = p->m;
    m->inside = 0;
    const wg_status s = wg_apply(t, op, p, bytes, inputs, in, outputs, out);
    if (s == WG_OK || !m->checked) return s;
    (void)wgi_mpi_fail(m, s, "%s", t != NULL ? wg_tape_message(t) : wg_status_text(s));
    if (call != WGI_MPI_NONE && !m->inside) (void)wgi_mpi_agree(m, s, call, 0);
    return s;
}

wg_status wgi_mpi_refuse(wg_tape *t, wg_mpi *m, wg_status s, const char *name, const char *why,
                         wgi_mpi_call call) {
    const wg_status got = wgi_refuse_call(t, s, name, why);
    if (m == NULL || !m->checked) return got;
    (void)wgi_mpi_fail(m, got, "%s: %s", name, why);
    if (call != WGI_MPI_NONE) (void)wgi_mpi_agree(m, got, call, 0);
    return got;
}

/* ---- life ------------------------------------------------------------------------------- */

/* NaN is the largest and the least. */
static void largest(void *from, void *to, int *n, MPI_Datatype *type) {
    const double *const x = from;
    double *const y = to;
    (void)type;
    for (int i = 0; i < *n; i++)
        if (x[i] > y[i] || x[i] != x[i]) y[i] = x[i];
}
static void least(void *from, void *to, int *n, MPI_Datatype *type) {
    const double *const x = from;
    double *const y = to;
    (void)type;
    for (int i = 0; i < *n; i++)
        if (x[i] < y[i] || x[i] != x[i]) y[i] = x[i];
}

/* With the least index of equal ones. */
static void take_located(const wgi_located *x, wgi_located *y, int n, int largest) {
    for (int i = 0; i < n; i++) {
        const double a = largest ? x[i].value : -x[i].value;
        const double b = largest ? y[i].value : -y[i].value;
        const int equal = a == b || (a != a && b != b);
        if (!(equal ? x[i].at < y[i].at : b == b && (a > b || a != a))) continue;
        /* behind the last one MPI has no room for what fills up the structure */
        y[i].value = x[i].value;
        y[i].at = x[i].at;
    }
}
static void largest_at(void *from, void *to, int *n, MPI_Datatype *type) {
    (void)type;
    take_located(from, to, *n, 1);
}
static void least_at(void *from, void *to, int *n, MPI_Datatype *type) {
    (void)type;
    take_located(from, to, *n, 0);
}

static void multiply(void *from, void *to, int *n, MPI_Datatype *type) {
    int bytes = 0;
    (void)MPI_Type_size(*type, &bytes);
    wgi_mpi_multiply(from, to, (size_t)*n, (size_t)bytes / sizeof(double));
}

static int none(MPI_Comm comm) { return comm == MPI_COMM_NULL; }

/* Between MPI_Init and MPI_Finalize. */
static int is_running(void) {
    int begun = 0, over = 1;
    return MPI_Initialized(&begun) == MPI_SUCCESS && begun &&
           MPI_Finalized(&over) == MPI_SUCCESS && !over;
}

static int make(wg_mpi *m, MPI_Comm comm, unsigned flags) {
    void *tags = NULL;
    int is = 0;
    for (int k = 0; k < WGI_COMMS; k++)
        if (MPI_Comm_dup(comm, &m->comm[k]) != MPI_SUCCESS) return 0;
    for (int k = 0; k < WGI_COMMS; k++)
        if (MPI_Comm_set_errhandler(m->comm[k], MPI_ERRORS_RETURN) != MPI_SUCCESS) return 0;
    (void)MPI_Comm_rank(comm, &m->rank);
    (void)MPI_Comm_size(comm, &m->size);
    if (MPI_Comm_split(m->comm[WGI_CONTROL], 0, -m->rank, &m->reversed) != MPI_SUCCESS ||
        MPI_Comm_set_errhandler(m->reversed, MPI_ERRORS_RETURN) != MPI_SUCCESS)
        return 0;
    (void)MPI_Comm_get_attr(comm, MPI_TAG_UB, &tags, &is);
    m->tags = is ? *(int *)tags : 32767;
    m->checked = (flags & WG_MPI_CHECKED) != 0;
    const size_t n = (size_t)m->size;
    m->count = calloc(4 * n, sizeof *m->count);
    m->traffic = calloc(3 * n, sizeof *m->traffic);
    m->notice = malloc(n * sizeof(MPI_Request));
    for (size_t r = 0; m->notice != NULL && r < n; r++) m->notice[r] = MPI_REQUEST_NULL;
    return wgi_mpi_neighbours_find(m) && wgi_mpi_entries_make(m) && m->count != NULL &&
           m->traffic != NULL && m->notice != NULL && flags <= WG_MPI_CHECKED &&
           MPI_Op_create(largest, 1, &m->largest) == MPI_SUCCESS &&
           MPI_Op_create(least, 1, &m->least) == MPI_SUCCESS &&
           MPI_Op_create(largest_at, 1, &m->largest_at) == MPI_SUCCESS &&
           MPI_Op_create(least_at, 1, &m->least_at) == MPI_SUCCESS &&
           MPI_Op_create(multiply, 1, &m->products) == MPI_SUCCESS;
}

/* Is it, or can it be ended? What was sent and is not received by anybody cannot. */
static int is_over(wgi_message *a) {
    int is = 1;
    if (!a->busy || a->request == MPI_REQUEST_NULL) return 1;
    if (a->receives) {
        (void)MPI_Cancel(&a->request);
        (void)MPI_Wait(&a->request, MPI_STATUS_IGNORE);
    } else if (MPI_Test(&a->request, &is, MPI_STATUS_IGNORE) != MPI_SUCCESS || !is) {
        (void)MPI_Request_free(&a->request);
        return 0;
    }
    return 1;
}

/* The memory. */
static void forget(wg_mpi *m) {
    for (int k = 0; k < WGI_ROOMS; k++) free(m->room[k]);
    wgi_mpi_neighbours_forget(m);
    wgi_mpi_entries_forget(m);
    free(m->count);
    free(m->traffic);
    free(m->notice);
    free(m);
}

static void release(wg_mpi *m) {
    for (wgi_message *a = m->messages, *next; a != NULL; a = next) {
        next = a->next;
        if (is_over(a)) free(a->data); /* otherwise MPI still has it */
        free(a);
    }
    for (int k = 0; k < WGI_COMMS; k++)
        if (!none(m->comm[k])) (void)MPI_Comm_free(&m->comm[k]);
    if (!none(m->reversed)) (void)MPI_Comm_free(&m->reversed);
    MPI_Op *const made[] = {&m->largest, &m->least, &m->largest_at, &m->least_at, &m->products};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++)
        if (*made[k] != MPI_OP_NULL) (void)MPI_Op_free(made[k]);
    forget(m);
}

static wg_mpi *open_on(MPI_Comm comm, unsigned flags) {
    wg_mpi *m = calloc(1, sizeof *m);
    int mine[3] = {m == NULL, (int)flags, -(int)flags}, all[3];
    if (MPI_Allreduce(mine, all, 3, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS || all[0] != 0 ||
        all[1] != -all[2]) {
        free(m);
        return NULL;
    }
    for (int k = 0; k < WGI_COMMS; k++) m->comm[k] = MPI_COMM_NULL;
    m->reversed = MPI_COMM_NULL;
    m->largest = m->least = m->largest_at = m->least_at = m->products = MPI_OP_NULL;
    int bad = !make(m, comm, flags), any = 1;
    if (MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS && !any) return m;
    release(m);
    return NULL;
}

wg_mpi *wg_mpi_new(MPI_Comm comm, unsigned flags) {
    MPI_Errhandler theirs;
    int is = 1;
    if (!is_running() || none(comm)) return NULL;
    if (MPI_Comm_test_inter(comm, &is) != MPI_SUCCESS || is) return NULL;
    /* what fails is told by NULL, whatever the communicator's own way */
    if (MPI_Comm_get_errhandler(comm, &theirs) != MPI_SUCCESS ||
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) != MPI_SUCCESS)
        return NULL;
    wg_mpi *const m = open_on(comm, flags);
    (void)MPI_Comm_set_errhandler(comm, theirs);
    (void)MPI_Errhandler_free(&theirs);
    return m;
}

/* ---- after a failure -------------------------------------------------------------------- */

/* A message of any kind that nobody will ask for. */
static int receive_any(wg_mpi *m) {
    for (int k = 0; k < WGI_COMMS; k++) {
        MPI_Status got;
        int is = 0, bytes = 0;
        if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, m->comm[k], &is, &got) != MPI_SUCCESS)
            return 0;
        if (!is) continue;
        (void)MPI_Get_count(&got, MPI_BYTE, &bytes);
        double *const to = wgi_mpi_room(m, 0, (size_t)bytes / sizeof(double) + 1);
        if (to == NULL || MPI_Recv(to, bytes, MPI_BYTE, got.MPI_SOURCE, got.MPI_TAG, m->comm[k],
                                   MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 0;
        m->traffic[m->size + got.MPI_SOURCE]++;
    }
    return 1;
}

static void cancel(wg_mpi *m) {
    for (wgi_message *a = m->messages; a != NULL; a = a->next) {
        if (!a->busy || !a->receives || a->request == MPI_REQUEST_NULL) continue;
        int cancelled = 0;
        (void)MPI_Cancel(&a->request);
        (void)MPI_Wait(&a->request, &a->got);
        (void)MPI_Test_cancelled(&a->got, &cancelled);
        if (!cancelled && a->got.MPI_SOURCE >= 0) m->traffic[m->size + a->got.MPI_SOURCE]++;
    }
}

/* Receives all that was ever sent to this rank. */
static int drain(wg_mpi *m) {
    uint64_t *const to = m->traffic, *const from = to + m->size, *const sent = from + m->size;
    cancel(m);
    if (MPI_Alltoall(to, 1, MPI_UINT64_T, sent, 1, MPI_UINT64_T, m->comm[WGI_CONTROL]) !=
        MPI_SUCCESS)
        return 0;
    for (int r = 0; r < m->size; r++)
        while (from[r] < sent[r])
            if (!receive_any(m)) return 0;
    for (wgi_message *a = m->messages; a != NULL; a = a->next) {
        if (a->busy && MPI_Wait(&a->request, MPI_STATUS_IGNORE) != MPI_SUCCESS) return 0;
        a->busy = 0;
    }
    for (int r = 0; r < m->size; r++)
        if (MPI_Wait(&m->notice[r], MPI_STATUS_IGNORE) != MPI_SUCCESS) return 0;
    /* what others send from here on is for their next calls */
    return MPI_Barrier(m->comm[WGI_CONTROL]) == MPI_SUCCESS;
}

static wg_status clear(wg_mpi *m, wgi_mpi_call call) {
    const wg_status s = wgi_mpi_agree(m, WG_OK, call, 0);
    if (s == WG_OK) return s;
    if (!drain(m)) return wgi_mpi_fail(m, WG_ECALLBACK, "messages could not be received");
    m->failed = WG_OK;
    m->told = m->agreed = 0;
    return s;
}

wg_status wg_mpi_clear(wg_mpi *m) {
    if (m == NULL) return WG_ENULL;
    if (!m->checked) return wgi_mpi_fail(m, WG_EMODE, "wg_mpi_clear: not with WG_MPI_CHECKED");
    const wg_status s = clear(m, WGI_MPI_clear);
    if (s != WG_OK && m->failed != WG_OK) return s;
    m->message[0] = 0;
    return WG_OK;
}

wg_status wg_mpi_free(wg_mpi *m) {
    if (m == NULL) return WG_OK;
    if (!is_running()) { /* MPI has ended what it had */
        for (wgi_message *a = m->messages, *next; a != NULL; a = next) {
            next = a->next;
            free(a->data);
            free(a);
        }
        forget(m);
        return WG_EMODE;
    }
    const wg_status s = m->checked ? clear(m, WGI_MPI_free) : WG_OK;
    release(m);
    return s;
}

const char *wg_mpi_message(const wg_mpi *m) { return m != NULL ? m->message : ""; }
int wg_mpi_rank(const wg_mpi *m) { return m != NULL ? m->rank : MPI_PROC_NULL; }
int wg_mpi_size(const wg_mpi *m) { return m != NULL ? m->size : 0; }

wg_status wg_mpi_barrier(wg_mpi *m) {
    if (m == NULL) return WG_ENULL;
    const wg_status s = wgi_mpi_enter(m, WGI_MPI_barrier, WGI_VALUES, 0);
    return s != WG_OK ? s : wgi_mpi_error(m, MPI_Barrier(m->comm[WGI_CONTROL]));
}

/* SPDX-License-Identifier: MIT */
/* agree.c - agreements: all ranks say what they are about to do, and whether they have failed.
 *
 * Before a collective call of a checked communicator each rank sends that to each. A rank that
 * has failed joins the next agreement, at whatever call it comes to, so that nobody waits in
 * one for ever; after that all have failed, and nothing is communicated until wg_mpi_clear.
 * Without WG_MPI_CHECKED there are agreements before sweeps only, by one reduction.
 *
 * What a rank says is there to be read before the others come: who waits for a message from a
 * rank that is in an agreement, and has been sent nothing that was not received, waits for
 * nothing, for that rank waits for this one. */
#include "internal.h"
#include <stdlib.h>

enum { ENTRY_TAG = 3 };

/* What one rank tells another one. */
typedef struct wgi_entry {
    long long status, call, what;
    long long sent, received,
        expects;  /* messages to it and from it so far, and receives begun */
    long long is; /* here: it has been told, and not been used */
} wgi_entry;
enum { WORDS = 6 };

static const char *name_of(wgi_mpi_call call) {
#define NAME(name) "wg_mpi_" #name,
    static const char *const names[] = {"nothing",
                                        WGI_MPI_CALLS(NAME) "wg_function_evaluate_mpi"};
#undef NAME
    return call > WGI_MPI_NONE && call < WGI_MPI_CALL_COUNT ? names[call] : names[0];
}

static const char *text_of(long long status) {
    return status == WG_EMISMATCH ? "WG_EMISMATCH: calls that do not go together"
                                  : wg_status_text((wg_status)status);
}

int wgi_mpi_entries_make(wg_mpi *m) {
    if (!m->checked) return 1;
    const size_t n = (size_t)m->size;
    m->entry = calloc(2 * n, sizeof *m->entry);
    m->entered = malloc(n * sizeof(MPI_Request));
    if (m->entry == NULL || m->entered == NULL) return 0;
    m->entering = m->entry + n;
    for (size_t r = 0; r < n; r++) m->entered[r] = MPI_REQUEST_NULL;
    return 1;
}

void wgi_mpi_entries_forget(wg_mpi *m) {
    free(m->entry);
    free(m->entered);
}

/* ---- agreements ------------------------------------------------------------------------- */

/* The gravest failure, and whether calls and details differ: mine[0], ..., as by MPI_MAX. */
static int by_reduction(wg_mpi *m, const long long *mine, long long *all) {
    return MPI_Allreduce(mine, all, 5, MPI_LONG_LONG, MPI_MAX, m->comm[WGI_CONTROL]);
}

static long long expected(const wg_mpi *m, int from) {
    long long n = 0;
    for (const wgi_message *a = m->messages; a != NULL; a = a->next)
        n += a->busy && a->receives && a->request != MPI_REQUEST_NULL &&
             (a->source == from || a->source == MPI_ANY_SOURCE);
    return n;
}

static void take_in(long long *all, const wgi_entry *e) {
    const long long word[] = {e->status, e->call, -e->call, e->what, -e->what};
    for (size_t k = 0; k < sizeof word / sizeof *word; k++)
        if (word[k] > all[k]) all[k] = word[k];
}

static int by_entries(wg_mpi *m, const long long *mine, long long *all) {
    const MPI_Comm comm = m->comm[WGI_CONTROL];
    int error = MPI_SUCCESS;
    for (int k = 0; k < 5; k++) all[k] = mine[k];
    for (int r = 0; r < m->size && error == MPI_SUCCESS; r++) {
        wgi_entry *const e = &m->entering[r];
        if (r == m->rank) continue;
        *e = (wgi_entry){.status = mine[0],
                         .call = mine[1],
                         .what = mine[3],
                         .sent = (long long)m->traffic[r],
                         .received = (long long)m->traffic[m->size + r],
                         .expects = expected(m, r)};
        error = MPI_Isend(e, WORDS, MPI_LONG_LONG, r, ENTRY_TAG, comm, &m->entered[r]);
    }
    for (int r = 0; r < m->size && error == MPI_SUCCESS; r++) {
        wgi_entry *const e = &m->entry[r];
        if (r == m->rank) continue;
        if (!e->is)
            error = MPI_Recv(e, WORDS, MPI_LONG_LONG, r, ENTRY_TAG, comm, MPI_STATUS_IGNORE);
        e->is = 0;
        take_in(all, e);
    }
    for (int r = 0; r < m->size && error == MPI_SUCCESS; r++)
        error = MPI_Wait(&m->entered[r], MPI_STATUS_IGNORE);
    return error;
}

wg_status wgi_mpi_agree(wg_mpi *m, wg_status s, wgi_mpi_call call, uint64_t detail) {
    if (m->agreed) return m->failed;
    if (m->checked && m->failed != WG_OK) s = m->failed;
    const long long what = (long long)(detail >> 2);
    const long long mine[5] = {(long long)s, (long long)call, -(long long)call, what, -what};
    long long all[5];
    const int error = m->checked ? by_entries(m, mine, all) : by_reduction(m, mine, all);
    if (error != MPI_SUCCESS) return wgi_mpi_error(m, error);
    const int other = all[1] != -all[2], differs = all[3] != -all[4];
    if (all[0] == WG_OK && !other && !differs) return WG_OK;
    m->agreed = m->checked;
    if (!m->checked && s != WG_OK) return s; /* it is said already */
    if (!m->checked) m->failed = WG_OK;
    if (all[0] != WG_OK)
        return wgi_mpi_know(m, (wg_status)all[0], "%s on another rank", text_of(all[0]));
    if (other)
        return wgi_mpi_know(m, WG_EMISMATCH, "some ranks are in %s, others in %s",
                            name_of((wgi_mpi_call)-all[2]), name_of((wgi_mpi_call)all[1]));
    return wgi_mpi_know(m, WG_ESHAPE,
                        "all ranks are in %s, but with other sizes, roots, operations or "
                        "lanes, or some in a sweep",
                        name_of(call));
}

wg_status wgi_mpi_enter(wg_mpi *m, wgi_mpi_call call, wgi_phase phase, uint64_t detail) {
    m->inside = 1;
    if (!m->checked) return WG_OK;
    return wgi_mpi_agree(m, WG_OK, call, wgi_mpi_mix(detail, (uint64_t)phase + 1));
}

/* ---- waits ------------------------------------------------------------------------------ */

/* Who is in an agreement by now. */
static void look(wg_mpi *m) {
    const MPI_Comm comm = m->comm[WGI_CONTROL];
    for (MPI_Status got;;) {
        int is = 0;
        if (MPI_Iprobe(MPI_ANY_SOURCE, ENTRY_TAG, comm, &is, &got) != MPI_SUCCESS || !is)
            return;
        wgi_entry *const e = &m->entry[got.MPI_SOURCE];
        if (MPI_Recv(e, WORDS, MPI_LONG_LONG, got.MPI_SOURCE, ENTRY_TAG, comm,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return;
        e->is = 1;
    }
}

static int is_rank(const wg_mpi *m, int r) { return r >= 0 && r < m->size; }

/* All that it has sent here was received. A rank that waits sends itself nothing. */
static int sends_no_more(const wg_mpi *m, int r) {
    const uint64_t received = m->traffic[m->size + r];
    return r == m->rank ? m->traffic[r] == received
                        : m->entry[r].is && (uint64_t)m->entry[r].sent == received;
}

/* Something that was sent to it was not received, nor was a receive begun for it. */
static int receives_no_more(const wg_mpi *m, int r) {
    const wgi_entry *const e = &m->entry[r];
    return r == m->rank ? m->traffic[m->size + r] < m->traffic[r] && expected(m, r) == 0
                        : e->is && (uint64_t)e->received < m->traffic[r] && e->expects == 0;
}

int wgi_mpi_is_vain(wg_mpi *m, int source, int dest) {
    look(m);
    if (is_rank(m, dest)) return receives_no_more(m, dest);
    if (is_rank(m, source)) return sends_no_more(m, source);
    for (int r = 0; r < m->size; r++)
        if (source != MPI_ANY_SOURCE || !sends_no_more(m, r)) return 0;
    return 1;
}

wg_status wgi_mpi_vain(wg_mpi *m, int peer) {
    /* who has failed is there for that reason, and what it says here may come before its
     * notice */
    for (int r = 0; r < m->size; r++)
        if (r != m->rank && m->entry[r].is && m->entry[r].status != WG_OK) {
            m->told = 1; /* by whoever has failed first */
            return wgi_mpi_know(m, (wg_status)m->entry[r].status, "%s on another rank",
                                text_of(m->entry[r].status));
        }
    for (int r = 0; !is_rank(m, peer) && r < m->size; r++)
        if (r != m->rank || m->size == 1) peer = r;
    if (peer == m->rank) return wgi_mpi_fail(m, WG_EMISMATCH, "rank %d waits for itself", peer);
    return wgi_mpi_fail(m, WG_EMISMATCH,
                        "rank %d waits for messages of rank %d, which is in %s and waits there",
                        m->rank, peer, name_of((wgi_mpi_call)m->entry[peer].call));
}

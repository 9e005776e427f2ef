/* SPDX-License-Identifier: MIT */
/* States of a loop, kept equally spaced while their number is not known beforehand: whenever
 * there is no room, every second one is given up (Stumm and Walther 2010, SIAM J. Sci.
 * Comput. 32(2)). */
#include "loop_store.h"

#include <string.h>

/* ---- places ---- */

static size_t slot_bytes(const wgi_loop_store *s) { return (s->n + 2) * 8; }
static size_t journal_bytes(const wgi_loop_store *s) { return (s->n + s->np + 5) * 8; }
static size_t journal_at(const wgi_loop_store *s, uint64_t sequence) {
    return WGI_RUN_PAGE + (sequence % 2) * wgi_run_pages(journal_bytes(s));
}
static size_t slot_at(const wgi_loop_store *s, size_t k) {
    return WGI_RUN_PAGE + 2 * wgi_run_pages(journal_bytes(s)) + k * slot_bytes(s);
}

void wgi_loop_store_lay_out(wgi_loop_store *s, wgi_pieces *p) {
    const size_t slot = slot_bytes(s), journal = journal_bytes(s);
    s->step = wgi_pieces_take(p, s->states * sizeof *s->step);
    s->state = s->file.path == NULL ? wgi_pieces_doubles(p, s->states * s->n) : NULL;
    s->piece =
        s->file.path != NULL ? wgi_pieces_take(p, slot > journal ? slot : journal) : NULL;
}

static void copy(void *to, const void *from, size_t bytes) {
    if (bytes != 0) memcpy(to, from, bytes);
}

/* ---- the file ---- */

static wg_status read_journal(wgi_loop_store *s, wgi_loop_journal *journal) {
    for (uint64_t half = 0; half < 2; half++) {
        uint64_t word[3];
        const wg_status status =
            wgi_run_file_get(&s->file, s->piece, journal_bytes(s), journal_at(s, half));
        if (status != WG_OK) return status;
        memcpy(word, s->piece, sizeof word);
        if (!wgi_run_is_whole(s->piece, journal_bytes(s)) || word[0] <= journal->sequence ||
            word[0] % 2 != half || word[2] > word[1])
            continue;
        journal->sequence = word[0];
        journal->steps = word[1];
        journal->left = word[2];
        memcpy(&journal->value, s->piece + 24, 8);
        copy(journal->adjoint, s->piece + 32, (s->n + s->np) * 8);
    }
    return WG_OK;
}

static wg_status read_slots(wgi_loop_store *s) {
    for (size_t k = 0; k < s->states; k++) {
        uint64_t step;
        const wg_status status =
            wgi_run_file_get(&s->file, s->piece, slot_bytes(s), slot_at(s, k));
        if (status != WG_OK) return status;
        memcpy(&step, s->piece, 8);
        s->step[k] = wgi_run_is_whole(s->piece, slot_bytes(s)) ? (size_t)step : 0;
        /* a stored step is a multiple of the stride of that time; others were given up by it */
        while (s->step[k] / s->stride > s->states) s->stride *= 2;
    }
    for (size_t k = 0; k < s->states; k++)
        if (s->step[k] % s->stride != 0) s->step[k] = 0;
    return WG_OK;
}

wg_status wgi_loop_store_open(wgi_loop_store *s, wgi_loop_journal *journal) {
    s->stride = 1;
    memset(s->step, 0, s->states * sizeof *s->step);
    if (s->file.path == NULL) return WG_OK;
    s->file.call = "wg_loop_gradient";
    s->file.kind = "wg loop\n";
    s->file.size[0] = s->n, s->file.size[1] = s->np, s->file.size[2] = s->states;
    s->file.bytes = slot_at(s, s->states);
    wg_status status = wgi_run_file_open(&s->file);
    if (status == WG_OK) status = read_journal(s, journal);
    return status == WG_OK ? read_slots(s) : status;
}

void wgi_loop_store_close(wgi_loop_store *s, int done) { wgi_run_file_close(&s->file, done); }

/* ---- states ---- */

static size_t find_free(const wgi_loop_store *s) {
    size_t k = 0;
    while (k < s->states && s->step[k] != 0) k++;
    return k;
}

wg_status wgi_loop_store_pass(wgi_loop_store *s, size_t step, const double *state,
                              int *stored) {
    *stored = 0;
    if (step % s->stride != 0) return WG_OK;
    size_t k = find_free(s);
    if (k == s->states) {
        s->stride *= 2;
        for (size_t i = 0; i < s->states; i++)
            if (s->step[i] % s->stride != 0) s->step[i] = 0;
        k = find_free(s);
        if (step % s->stride != 0 || k == s->states) return WG_OK;
    }
    *stored = 1;
    if (s->file.path != NULL) {
        const uint64_t number = step;
        memcpy(s->piece, &number, 8);
        copy(s->piece + 8, state, s->n * 8);
        wgi_run_put_check(s->piece, slot_bytes(s));
        wg_status status = wgi_run_file_put(&s->file, s->piece, slot_bytes(s), slot_at(s, k));
        if (status == WG_OK) status = wgi_run_file_flush(&s->file);
        if (status != WG_OK) return status;
    } else {
        copy(s->state + k * s->n, state, s->n * 8);
    }
    s->step[k] = step;
    return WG_OK;
}

wg_status wgi_loop_store_before(wgi_loop_store *s, size_t end, double *state, size_t *step) {
    for (;;) {
        size_t best = s->states;
        for (size_t k = 0; k < s->states; k++)
            if (s->step[k] != 0 && s->step[k] < end &&
                (best == s->states || s->step[k] > s->step[best]))
                best = k;
        *step = best != s->states ? s->step[best] : 0;
        if (best == s->states) return WG_OK;
        if (s->file.path == NULL) {
            copy(state, s->state + best * s->n, s->n * 8);
            return WG_OK;
        }
        uint64_t number;
        const wg_status status =
            wgi_run_file_get(&s->file, s->piece, slot_bytes(s), slot_at(s, best));
        if (status != WG_OK) return status;
        memcpy(&number, s->piece, 8);
        if (wgi_run_is_whole(s->piece, slot_bytes(s)) && number == *step) {
            copy(state, s->piece + 8, s->n * 8);
            return WG_OK;
        }
        s->step[best] = 0;
    }
}

wg_status wgi_loop_store_save(wgi_loop_store *s, wgi_loop_journal *journal) {
    if (s->file.path == NULL) return WG_OK;
    const uint64_t word[3] = {++journal->sequence, journal->steps, journal->left};
    memcpy(s->piece, word, sizeof word);
    memcpy(s->piece + 24, &journal->value, 8);
    copy(s->piece + 32, journal->adjoint, (s->n + s->np) * 8);
    wgi_run_put_check(s->piece, journal_bytes(s));
    const wg_status status = wgi_run_file_put(&s->file, s->piece, journal_bytes(s),
                                              journal_at(s, journal->sequence));
    return status == WG_OK ? wgi_run_file_flush(&s->file) : status;
}

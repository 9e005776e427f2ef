/* SPDX-License-Identifier: MIT */
/* Segments: tapes that record parts of a parallel loop, each in a thread of its own.
 *
 * A segment has the stamp of the tape of the loop, so that variables of that are its operands
 * as they are; its own slots begin above all of these. What is recorded goes into the tape at
 * the end of the loop (tape/drivers/parallel.c), where each operand is looked at: it is of the
 * tape, or of the segment. With WG_CHECKED each segment has its own stamp, and every operand
 * is looked at at once. */
#include "tape.h"

wg_status wgi_segment_new(wgi_core *c, wgi_core **out) {
    wg_options o;
    wg_tape *t = NULL;
    memset(&o, 0, sizeof o);
    /* there are many of them, and they go on in further ranges */
    o.reserve = c->reserve / 1024;
    const wg_status s = wgi_tape_beside(c, &o, &t);
    *out = t != NULL ? wgi_core_of(t) : NULL;
    if (s != WG_OK) return s;
    /* it works while other threads do: it leaves alone what others hold, and tells nobody */
    (*out)->lender = NULL;
    (*out)->driving = 1; /* no driver starts on it */
    return WG_OK;
}

void wgi_segment_free(wgi_core *segment) {
    if (segment == NULL) return;
    segment->outer = NULL;
    wg_tape_free(&segment->head);
}

/* It has chunks of its own only. */
static void leave_place(wgi_core *segment) {
    if (segment->placed == 0) return;
    segment->placed = 0;
    segment->chunks--;
    memmove(&segment->chunk[0], &segment->chunk[1],
            (size_t)segment->chunks * sizeof *segment->chunk);
    memset(&segment->chunk[segment->chunks], 0, sizeof *segment->chunk);
    segment->chunk[0].first = 0;
    segment->current = 0;
    segment->head.top = segment->chunk[0].base;
}

void wgi_segment_lay_out(wgi_core *segment, wgi_record *at, uint64_t records) {
    if (records == 0 || segment->chunks == WGI_MAX_CHUNKS) return;
    memmove(&segment->chunk[1], &segment->chunk[0],
            (size_t)segment->chunks * sizeof *segment->chunk);
    memset(&segment->chunk[0], 0, sizeof *segment->chunk);
    segment->chunk[0].base = segment->chunk[0].top = segment->head.top = at;
    segment->chunks++;
    segment->current = 0;
    segment->placed = records;
    segment->next_placed = segment->outer->first_placed;
    segment->outer->first_placed = segment;
    wgi_limit_set(segment);
}

void wgi_segment_open(wgi_core *segment, wgi_core *outer, uint32_t first, uint32_t last) {
    segment->outer = NULL;
    leave_place(segment);
    segment->origin = 0;
    segment->owner = pthread_self();
    wg_tape_reset(&segment->head);
    segment->outer = outer;
    segment->flags = outer->flags;
    segment->width = outer->width;
    segment->pauses = outer->pauses;
    segment->passive = outer->passive;
    segment->inside = outer->inside;
    segment->foreign = 0;
    segment->origin = segment->head.slots = first;
    segment->max_slots = last;
    if ((outer->flags & WG_CHECKED) == 0)
        segment->head.stamp = segment->few[0].stamp = outer->head.stamp;
    wgi_limit_set(segment);
    if (outer->status != WG_OK) (void)wgi_fail(segment, outer->status, "%s", outer->message);
}

void wgi_segment_close(wgi_core *segment) {
    (void)wgi_tape_close(segment);
    leave_place(segment);
    segment->outer = segment; /* that of the loop may be gone */
    segment->flags = 0;
}

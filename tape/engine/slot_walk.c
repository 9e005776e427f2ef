/* SPDX-License-Identifier: MIT */
/* A walk through a recording; slot_walk.h says how. */
#include "slot_walk.h"

wgi_slot_walk wgi_slot_walk_of(const wgi_core *c) {
    wgi_slot_walk w;
    memset(&w, 0, sizeof w);
    w.c = c;
    w.next = 1;
    w.count = c->chunks == 0 ? 0 : wgi_record_count(c);
    return w;
}

int wgi_slot_step(wgi_slot_walk *w) {
    w->record = w->last;
    w->coded = 0;
    w->block = NULL;
    if (w->word < w->c->head.code_words) {
        const uint64_t after = wgi_code_read(w->c, w->word, &w->entry);
        w->coded = w->entry.out == w->next;
        if (w->coded) w->word = after;
        if (w->coded && w->entry.type == WGI_ENTRY_GUARD) {
            w->slot = 0;
            return 1;
        }
    }
    if (w->next >= w->c->head.slots) return 0;
    w->slot = w->next++;
    /* a gather that has no slots of its own stands in those of a block before it */
    for (; w->last < w->count && wgi_record_at(w->c, w->last)->out <= w->slot; w->last++) {
        const wgi_block *const b = wgi_block_at(w->c, w->last);
        /* a block without results belongs to an input */
        if (b != NULL && b->outs != 0) w->block = b;
        if (b != NULL && w->record == w->last) w->record++;
    }
    if (w->block != NULL) w->next += w->block->outs - 1;
    return 1;
}

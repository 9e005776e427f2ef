/* SPDX-License-Identifier: MIT */
/* slot_walk.h - a walk through a recording, slot after slot. Internal.
 *
 * Slots, their records and their code are walked side by side: all three are in order of the
 * slots. A slot that has neither records nor code is an input. */
#ifndef WGI_TAPE_ENGINE_SLOT_WALK_H
#define WGI_TAPE_ENGINE_SLOT_WALK_H

#include "tape.h"

typedef struct wgi_slot_walk {
    const wgi_core *c;
    uint32_t slot;          /* the slot that the walk has come to; 0: a guard */
    uint32_t next;          /* the slot after it */
    uint64_t record, last;  /* records [record, last) are those of the slot */
    uint64_t count, word;   /* how many records there are; the next word of code */
    int coded;              /* `entry` is the code of this slot, or a guard */
    const wgi_block *block; /* whose results stand in [slot, next), or NULL */
    wgi_entry entry;
} wgi_slot_walk;

/* Before the first slot. */
wgi_slot_walk wgi_slot_walk_of(const wgi_core *c);
/* Goes on to the next slot, or to a comparison between two slots. 0: the end. */
int wgi_slot_step(wgi_slot_walk *w);

#endif

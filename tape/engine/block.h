/* SPDX-License-Identifier: MIT */
/* block.h - what block.c, which records blocks, and block_sweep.c share, beside what tape.h
 * declares of them. Internal. */
#ifndef WGI_TAPE_ENGINE_BLOCK_H
#define WGI_TAPE_ENGINE_BLOCK_H

#include "tape.h"

/* Columns as they are stored, and the length of one. */
static inline size_t wgi_column_length(const wgi_operand *o) {
    return o->trans ? o->cols : o->rows;
}
static inline size_t wgi_columns(const wgi_operand *o) { return o->trans ? o->rows : o->cols; }
/* Is it a variable with at least one element? */
static inline int wgi_is_active(const wgi_operand *o) {
    return o->slot != 0 && o->rows != 0 && o->cols != 0;
}

/* Takes the value of an operand of one element from its slot, on a tape that keeps code: the
 * operand may be a scalar variable (wg_mat_from_real), and a replay changes only the value of
 * the slot. The slots of all other variables have the values that the operand has. */
static inline void wgi_take_scalar(const wgi_core *c, const wgi_operand *o) {
    if (o->slot != 0 && o->rows == 1 && o->cols == 1) *o->value = wgi_values(c)[o->slot];
}

typedef wg_status wgi_report(wgi_core *c, wg_status s, const char *format, ...);
/* Describes the failure that an operation has returned, or that what it returned is no
 * status. */
wg_status wgi_block_explain(wgi_core *c, wgi_report *to, const char *call, const char *name,
                            wg_status s, const wg_block *b);

/* Copies the results to the values that replays and dumps read. */
void wgi_block_keep_values(wgi_core *c, const wgi_block *b);
/* What a sweep of several lanes, or a forward tape, needs beside the workspace of the
 * operation: one lane of all operands and results. */
size_t wgi_block_lane_bytes(const wgi_block *b);
/* Notes the workspace that sweeps need for it. */
void wgi_block_note_room(wgi_core *c, const wgi_block *b);
/* Tangents of the results on a forward tape, lane by lane. */
wg_status wgi_block_first_tangents(wgi_core *c, const wgi_block *b);

#endif

/* SPDX-License-Identifier: MIT */
/* stretch.h - sweeps through the runs of a stretch side by side, with private rows of
 * adjoints. Internal. */
#ifndef WGI_TAPE_ENGINE_STRETCH_H
#define WGI_TAPE_ENGINE_STRETCH_H

#include "private_rows.h"

/* How many runs of records were come to, and left out. */
typedef struct wgi_counts {
    uint64_t runs, left_out;
} wgi_counts;

/* The row of a slot; w NULL: there are no private rows. */
static inline __attribute__((always_inline)) double *
wgi_row(const wgi_offset *w, double *adjoint, size_t lanes, uint32_t slot) {
    if (w == NULL) return adjoint + (size_t)slot * lanes;
    return (double *)((uintptr_t)adjoint + (size_t)slot * lanes * sizeof(double) +
                      w[slot / WGI_GROUP_SLOTS]);
}

/* Sweeps a run of records backwards over `lanes` interleaved adjoints per slot: 2, 4, 8 or
 * more; w: offsets of private rows, or NULL. alone: no thread sweeps beside this one. */
void wgi_sweep_lanes(const wgi_record *low, const wgi_record *high, double *adjoint,
                     size_t lanes, const wgi_offset *w, int alone);
/* Sweeps records [low, high), none of them a block's; w: as above. */
wg_status wgi_sweep_records(wgi_core *c, uint64_t high, uint64_t low, const wgi_offset *w,
                            wgi_counts *n);
/* Sweeps records [low, high) of a stretch, in its threads. */
wg_status wgi_sweep_stretch(wgi_core *c, const wgi_stretch *s, uint64_t high, uint64_t low);

#endif
